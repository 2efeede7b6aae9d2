/* The first pass over the chunks of a source: what the columns are, how many rows and entries there are, which levels
 * occur, how often and in which row first; and checksums that later passes are compared with.
 *
 *   chunk 1   levels "b" "a"        all levels   0 "a"  1 "b"  2 "c"     in the order of their first rows
 *   chunk 2   levels "c" "a" "x"                 "x" does not occur and is none */
#include <stdio.h>
#include <string.h>

#include "feed.h"

/* ---- the columns of the first chunk ---- */

const int32_t gbti_no_rows[1] = {0};

static gbt_status keep_text(gbti_feed *feed, const char *text, const char **out, gbt_error *err) {
  int32_t number;
  *out = NULL;
  if (text == NULL) return GBT_OK;
  GBT_TRY(gbt_dictionary_add(feed->texts, text, &number, err));
  *out = gbt_dictionary_texts(feed->texts)[number];
  return GBT_OK;
}

static gbt_status keep_levels(gbti_feed *feed, const gbt_column *from, gbt_column *to, gbt_error *err) {
  const char **level;
  GBT_TRY(gbt_mem_array(&feed->ctx->mem, (size_t)from->n_levels, sizeof *level, &level, err));
  to->levels = level;
  to->n_levels = from->n_levels;
  for (int32_t i = 0; i < from->n_levels; i++) GBT_TRY(keep_text(feed, from->levels[i], &level[i], err));
  return GBT_OK;
}

static gbt_status keep_column(gbti_feed *feed, const gbt_column *from, int32_t c, gbt_error *err) {
  gbt_column *to = &feed->col[c];
  to->type = from->type;
  to->storage = from->storage;
  to->derive = from->derive;
  to->rows = from->rows != NULL ? gbti_no_rows : NULL;
  GBT_TRY(keep_text(feed, from->name, &to->name, err));
  GBT_TRY(keep_text(feed, from->tag, &to->tag, err));
  if (from->type == GBT_CATEGORICAL) return gbt_dictionary_new(&feed->ctx->mem, &feed->found[c].levels, err);
  return from->type == GBT_ORDINAL ? keep_levels(feed, from, to, err) : GBT_OK;
}

static gbt_status keep_columns(gbti_feed *feed, const gbt_table *chunk, gbt_error *err) {
  const gbt_mem *mem = &feed->ctx->mem;
  const size_t n = (size_t)chunk->n_cols;
  GBT_TRY(gbt_dictionary_new(mem, &feed->texts, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *feed->col, &feed->col, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *feed->found, &feed->found, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *feed->checksum, &feed->checksum, err));
  feed->table.n_cols = chunk->n_cols;
  feed->table.cols = feed->col;
  feed->table.absent_missing = chunk->absent_missing;
  feed->table.no_code_zero = chunk->no_code_zero;
  feed->table.statistics = chunk->statistics;
  for (int32_t c = 0; c < chunk->n_cols; c++) GBT_TRY(keep_column(feed, &chunk->cols[c], c, err));
  return GBT_OK;
}

/* ---- the columns of the other chunks ---- */

/* "double", "sparse double", "codes of ordered levels" */
static void kind_text(const gbt_column *col, char *out, size_t size) {
  snprintf(out, size, "%s%s%s", col->rows != NULL ? "sparse " : "", gbt_storage_name((int)col->storage),
           col->type == GBT_ORDINAL       ? " of ordered levels"
           : col->type == GBT_CATEGORICAL ? " of unordered levels"
                                          : "");
}

static int same_text(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

static int same_levels(const gbt_column *a, const gbt_column *b) {
  int same = a->n_levels == b->n_levels;
  for (int32_t i = 0; same && i < a->n_levels; i++) same = same_text(a->levels[i], b->levels[i]);
  return same;
}

static gbt_status match_column(const gbt_column *want, const gbt_column *have, int32_t c, const char *where,
                               gbt_error *err) {
  char a[64], b[64];
  if (strcmp(want->name, have->name) != 0)
    return gbt_fail_on(err, GBT_E_DATA, want->name,
                       "%s: column %d is `%s`, in the first chunk it is `%s`; every chunk must have the same columns "
                       "in the same order",
                       where, (int)c + 1, have->name, want->name);
  kind_text(want, a, sizeof a);
  kind_text(have, b, sizeof b);
  if (strcmp(a, b) != 0)
    return gbt_fail_on(
        err, GBT_E_DATA, want->name,
        "%s: column `%s` comes as %s, in the first chunk as %s; convert it to one of them in every chunk", where,
        want->name, b, a);
  if (!same_text(want->tag, have->tag) || want->derive != have->derive)
    return gbt_fail_on(err, GBT_E_DATA, want->name,
                       "%s: column `%s` is described in another way than in the first chunk: \"%s\" instead of \"%s\"",
                       where, want->name, have->tag != NULL ? have->tag : "", want->tag != NULL ? want->tag : "");
  if (want->type == GBT_ORDINAL && !same_levels(want, have))
    return gbt_fail_on(err, GBT_E_DATA, want->name,
                       "%s: the ordered factor `%s` has other levels than in the first chunk; give it all levels in "
                       "the same order in every chunk",
                       where, want->name);
  return GBT_OK;
}

gbt_status gbti_feed_match(gbti_feed *feed, const gbt_table *chunk, int64_t number, gbt_error *err) {
  const gbt_table *first = &feed->table;
  char where[80];
  if (feed->found == NULL) return keep_columns(feed, chunk, err);
  snprintf(where, sizeof where, "chunk %lld, from row %lld on", (long long)number, (long long)chunk->rows_before + 1);
  if (chunk->n_cols != first->n_cols)
    return gbt_fail(err, GBT_E_DATA,
                    "%s: there are %d columns, in the first chunk there are %d; every chunk must have the same columns "
                    "in the same order",
                    where, (int)chunk->n_cols, (int)first->n_cols);
  if ((chunk->absent_missing != 0) != (first->absent_missing != 0) ||
      (chunk->no_code_zero != 0) != (first->no_code_zero != 0))
    return gbt_fail(err, GBT_E_DATA, "%s: absent entries or codes of 0 mean something else than in the first chunk",
                    where);
  for (int32_t c = 0; c < first->n_cols; c++) GBT_TRY(match_column(&first->cols[c], &chunk->cols[c], c, where, err));
  return GBT_OK;
}

/* ---- levels ---- */

typedef struct tally_job {
  gbti_job job;
  gbti_feed *feed;
  const gbt_table *chunk;
  int64_t beg;
  int32_t per_task;
} tally_job;

/* Room in the tally for all levels known by now. */
static gbt_status grow_tally(const gbt_mem *mem, gbti_found *found, gbt_error *err) {
  size_t need = (size_t)gbt_dictionary_n(found->levels) + 1, had = found->cap_count;
  GBT_TRY(gbt_mem_grow(mem, &found->tally.count, &found->cap_count, need, sizeof *found->tally.count, err));
  for (size_t i = had; i < found->cap_count; i++) found->tally.count[i] = 0;
  return gbt_mem_grow(mem, &found->tally.first, &found->cap_first, need, sizeof *found->tally.first, err);
}

static gbt_status tally_level(const gbt_mem *mem, gbti_found *found, const char *text, int32_t *code, gbt_error *err) {
  int32_t number;
  GBT_TRY(gbt_dictionary_add(found->levels, text, &number, err));
  *code = number + 1;
  return grow_tally(mem, found, err);
}

/* A level's text is looked up once a chunk where a chunk has more rows than levels, else in every row. */
static gbt_status tally_column(tally_job *t, int32_t c, int thread, gbt_error *err) {
  enum { ASK_EVERY = 8192 };
  const gbt_mem *mem = &t->feed->ctx->mem;
  const gbt_column *col = &t->chunk->cols[c];
  const int32_t *code = col->values;
  gbti_found *found = &t->feed->found[c];
  int64_t n = col->rows != NULL ? col->n_entries : t->chunk->n_rows;
  int32_t *known = NULL; /* by code: the number of its level, + 1; 0: not looked up */
  gbt_status status = GBT_OK;
  if (col->n_levels <= n) GBT_TRY(gbt_mem_zeros(mem, (size_t)col->n_levels + 1, sizeof *known, &known, err));
  for (int64_t e = 0; e < n && status == GBT_OK; e++) {
    if (e % ASK_EVERY == 0 && gbti_job_stopped(&t->job, thread)) status = GBT_CANCELLED;
    if (status != GBT_OK || code[e] <= 0 || col->levels[code[e] - 1] == NULL) continue;
    int32_t of = known != NULL ? known[code[e]] : 0;
    if (of == 0) status = tally_level(mem, found, col->levels[code[e] - 1], &of, err);
    if (status != GBT_OK) continue;
    if (known != NULL) known[code[e]] = of;
    if (found->tally.count[of]++ == 0)
      found->tally.first[of] = (uint32_t)(t->beg + (col->rows != NULL ? col->rows[e] : e));
    found->tally.n_given++;
  }
  gbt_mem_free(mem, known);
  return status;
}

static void tally_task(void *arg, int64_t task, int thread) {
  tally_job *t = arg;
  int64_t beg = task * t->per_task, end = beg + t->per_task;
  for (int64_t c = beg; c < end && c < t->chunk->n_cols; c++) {
    gbt_error err;
    if (t->chunk->cols[c].type != GBT_CATEGORICAL) continue;
    gbt_status status = tally_column(t, (int32_t)c, thread, &err);
    if (status != GBT_OK && status != GBT_CANCELLED) gbti_job_fail(&t->job, &err);
  }
}

/* ---- all of it ---- */

/* Rows of entries are 32-bit numbers when a column is fetched, as in a table in memory. */
static gbt_status check_sparse(const gbt_table *chunk, int64_t beg, gbt_error *err) {
  const int64_t most = (int64_t)INT32_MAX + 1;
  for (int32_t c = 0; c < chunk->n_cols && beg + chunk->n_rows > most; c++)
    if (chunk->cols[c].rows != NULL)
      return gbt_fail_on(err, GBT_E_UNSUPPORTED, chunk->cols[c].name,
                         "column `%s` is sparse, and the data have more than %lld rows; give it as a dense column",
                         chunk->cols[c].name, (long long)most);
  return GBT_OK;
}

static gbt_status survey_chunk(void *arg, gbti_feed *feed, const gbt_table *chunk, int64_t beg, gbt_error *err) {
  int64_t *n_rows = arg;
  tally_job t = {.feed = feed, .chunk = chunk, .beg = beg, .per_task = gbti_cols_per_task(chunk->n_rows)};
  GBT_ASSERT(t.per_task > 0);
  GBT_TRY(check_sparse(chunk, beg, err));
  gbti_job_start(&t.job, feed->ctx);
  GBT_TRY(gbti_job_run(&t.job, (chunk->n_cols + t.per_task - 1) / t.per_task, tally_task, &t, err));
  for (int32_t c = 0; c < chunk->n_cols; c++)
    if (chunk->cols[c].rows != NULL) feed->col[c].n_entries += chunk->cols[c].n_entries;
  *n_rows = beg + chunk->n_rows;
  return gbti_checksum_add(feed, chunk, beg, NULL, chunk->n_cols, feed->checksum, err);
}

/* The levels that were found are those of the column. */
static gbt_status take_levels(gbti_feed *feed, int32_t c, gbt_error *err) {
  gbti_found *found = &feed->found[c];
  gbt_column *col = &feed->col[c];
  if (col->type != GBT_CATEGORICAL) return GBT_OK;
  GBT_TRY(grow_tally(&feed->ctx->mem, found, err));
  col->n_levels = gbt_dictionary_n(found->levels);
  col->levels = gbt_dictionary_texts(found->levels);
  GBT_TRY(gbt_mem_array(&feed->ctx->mem, (size_t)col->n_levels, sizeof *found->tally.twin, &found->tally.twin, err));
  for (int32_t i = 0; i < col->n_levels; i++) found->tally.twin[i] = i;
  return GBT_OK;
}

gbt_status gbti_feed_survey(gbti_feed *feed, gbt_error *err) {
  int64_t n_rows = 0;
  GBT_TRY(gbti_feed_pass(feed, survey_chunk, &n_rows, err));
  if (feed->table.n_rows < 0) feed->counted = 1;
  feed->table.n_rows = n_rows;
  for (int32_t c = 0; c < feed->table.n_cols; c++) GBT_TRY(take_levels(feed, c, err));
  return GBT_OK;
}
