/* The columns of a source: those of its first chunk are kept, and every other chunk must have them. */
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
                       "%s: column `%s` has a different description than in the first chunk: \"%s\" instead of \"%s\"",
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
    return gbt_fail(err, GBT_E_DATA,
                    "%s: entries that are not stored, or codes of 0, mean something else than in the "
                    "first chunk; they must mean the same in every chunk",
                    where);
  for (int32_t c = 0; c < first->n_cols; c++) GBT_TRY(match_column(&first->cols[c], &chunk->cols[c], c, where, err));
  return GBT_OK;
}
