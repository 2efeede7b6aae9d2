/* The first pass over the chunks of a source: how many rows and entries there are, which levels
 * occur, how often and in which row first; and checksums that later passes are compared with.
 *
 *   chunk 1   levels "b" "a"        all levels   0 "a"  1 "b"  2 "c"     in the order of their first rows
 *   chunk 2   levels "c" "a" "x"                 "x" does not occur and is none */
#include <string.h>

#include "feed.h"

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
