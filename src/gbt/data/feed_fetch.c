/* Whole columns of a source: a pass concatenates their chunks.
 *
 *   dense    values at their rows                          codes of unordered levels become those of all levels
 *   sparse   entries are appended to those of earlier chunks, rows counted from the first chunk's */
#include <string.h>

#include "feed.h"

typedef struct fetch_job {
  gbti_job job;
  gbti_feed *feed;
  const int32_t *cols;
  int32_t n, per_task;
  int64_t *n_entries; /* n: of the chunks before */
  uint64_t *sum;      /* n */
  const gbt_table *chunk;
  int64_t beg;
} fetch_job;

static size_t value_bytes(gbt_storage storage) {
  switch (storage) {
  case GBT_F64:
  case GBT_I64:
    return 8;
  case GBT_I32:
  case GBT_CODES:
    return 4;
  }
  return 8;
}

static int64_t n_values(const gbti_feed *feed, int32_t c) {
  const gbt_column *col = &feed->table.cols[c];
  return col->rows != NULL ? col->n_entries : feed->table.n_rows;
}

size_t gbti_feed_column_bytes(const gbti_feed *feed, int32_t c) {
  const gbt_column *col = &feed->table.cols[c];
  if (feed->in_memory) return 0;
  return (size_t)n_values(feed, c) * (value_bytes(col->storage) + (col->rows != NULL ? sizeof *col->rows : 0));
}

/* ---- one column of one chunk ---- */

static void copy_values(const gbt_column *from, int64_t n, void *to) {
  if (n == 0) return;
  if (from->values != NULL) {
    memcpy(to, from->values, (size_t)n * value_bytes(from->storage));
    return;
  }
  for (int64_t e = 0; e < n; e++) ((double *)to)[e] = 1.0;
}

/* Codes of the chunk's levels become those of all levels; of one that the first pass did not meet: missing, and the
 * checksum tells. */
static gbt_status copy_codes(fetch_job *f, const gbt_column *from, const gbti_found *found, int64_t n, int32_t *to,
                             int thread, gbt_error *err) {
  enum { ASK_EVERY = 8192 };
  const gbt_mem *mem = &f->feed->ctx->mem;
  const int32_t *code = from->values;
  int32_t *known = NULL;
  if (from->n_levels <= n) GBT_TRY(gbt_mem_zeros(mem, (size_t)from->n_levels + 1, sizeof *known, &known, err));
  for (int64_t e = 0; e < n; e++) {
    if (e % ASK_EVERY == 0 && gbti_job_stopped(&f->job, thread)) break;
    const char *text = code[e] > 0 ? from->levels[code[e] - 1] : NULL;
    to[e] = INT32_MIN;
    if (text == NULL) continue;
    int32_t of = known != NULL ? known[code[e]] : 0;
    if (of == 0) of = gbt_dictionary_find(found->levels, text) + 1;
    if (known != NULL) known[code[e]] = of;
    if (of != 0) to[e] = of;
  }
  gbt_mem_free(mem, known);
  return GBT_OK;
}

static gbt_status other_entries(const gbt_column *col, gbt_error *err) {
  return gbt_fail_on(err, GBT_E_DATA, col->name,
                     "column `%s`: the source yields another number of entries than in its first pass; every pass must "
                     "yield the same rows in the same order",
                     col->name);
}

static gbt_status fetch_column(fetch_job *f, int32_t i, int thread, gbt_error *err) {
  const int32_t c = f->cols[i];
  const gbt_column *from = &f->chunk->cols[c], *col = &f->feed->table.cols[c];
  int64_t n = from->rows != NULL ? from->n_entries : f->chunk->n_rows;
  int64_t at = from->rows != NULL ? f->n_entries[i] : f->beg;
  if (n > n_values(f->feed, c) - at) return other_entries(col, err);
  char *to = (char *)f->feed->fetched[2 * c] + (size_t)at * value_bytes(col->storage);
  if (from->rows != NULL) {
    int32_t *row = (int32_t *)f->feed->fetched[2 * c + 1] + at;
    for (int64_t e = 0; e < n; e++) row[e] = (int32_t)(f->beg + from->rows[e]);
    f->n_entries[i] += n;
  }
  if (col->type == GBT_CATEGORICAL)
    return copy_codes(f, from, &f->feed->found[c], n, (int32_t *)(void *)to, thread, err);
  copy_values(from, n, to);
  return GBT_OK;
}

static void fetch_task(void *arg, int64_t task, int thread) {
  fetch_job *f = arg;
  int64_t beg = task * f->per_task, end = beg + f->per_task;
  for (int64_t i = beg; i < end && i < f->n; i++) {
    gbt_error err;
    if (gbti_job_stopped(&f->job, thread)) return;
    if (fetch_column(f, (int32_t)i, thread, &err) != GBT_OK) gbti_job_fail(&f->job, &err);
  }
}

static gbt_status fetch_chunk(void *arg, gbti_feed *feed, const gbt_table *chunk, int64_t beg, gbt_error *err) {
  fetch_job *f = arg;
  f->chunk = chunk;
  f->beg = beg;
  f->per_task = gbti_cols_per_task(chunk->n_rows);
  GBT_ASSERT(f->per_task > 0);
  GBT_TRY(gbti_job_run(&f->job, (f->n + f->per_task - 1) / f->per_task, fetch_task, f, err));
  return gbti_checksum_add(feed, chunk, beg, f->cols, f->n, f->sum, err);
}

/* ---- all of it ---- */

static gbt_status make_room(gbti_feed *feed, const int32_t *cols, int32_t n, gbt_error *err) {
  const gbt_mem *mem = &feed->ctx->mem;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)feed->table.n_cols, 2 * sizeof *feed->fetched, &feed->fetched, err));
  for (int32_t i = 0; i < n; i++) {
    gbt_column *col = &feed->col[cols[i]];
    void **to = &feed->fetched[2 * cols[i]];
    size_t most = (size_t)n_values(feed, cols[i]);
    GBT_TRY(gbt_mem_array(mem, most, value_bytes(col->storage), &to[0], err));
    col->values = to[0];
    if (col->rows == NULL) continue;
    GBT_TRY(gbt_mem_array(mem, most, sizeof *col->rows, &to[1], err));
    col->rows = to[1];
  }
  return GBT_OK;
}

gbt_status gbti_feed_fetch(gbti_feed *feed, const int32_t *cols, int32_t n, gbt_error *err) {
  gbt_status status = GBT_OK;
  fetch_job f = {.feed = feed, .cols = cols, .n = n};
  gbti_feed_drop(feed);
  if (feed->in_memory || n == 0) return GBT_OK;
  const gbt_mem *mem = &feed->ctx->mem;
  gbti_job_start(&f.job, feed->ctx);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)n, sizeof *f.n_entries, &f.n_entries, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)n, sizeof *f.sum, &f.sum, err), done);
  GBT_TRY_GOTO(make_room(feed, cols, n, err), done);
  if (feed->source.want != NULL) feed->source.want(feed->source.state, cols, n);
  status = gbti_feed_pass(feed, fetch_chunk, &f, err);
  if (feed->source.want != NULL) feed->source.want(feed->source.state, NULL, 0);
  gbti_ctx_usual_float(feed->ctx); /* a pass does so after `want` */
  GBT_TRY_GOTO(status, done);
  for (int32_t i = 0; i < n; i++)
    if (feed->table.cols[cols[i]].rows != NULL && f.n_entries[i] != n_values(feed, cols[i]))
      GBT_TRY_GOTO(other_entries(&feed->table.cols[cols[i]], err), done);
  GBT_TRY_GOTO(gbti_checksum_match(feed, cols, n, f.sum, err), done);
done:
  gbt_mem_free(mem, f.n_entries);
  gbt_mem_free(mem, f.sum);
  if (status != GBT_OK) gbti_feed_drop(feed);
  return status;
}

void gbti_feed_drop(gbti_feed *feed) {
  if (feed->fetched == NULL) return;
  for (int32_t c = 0; c < feed->table.n_cols; c++) {
    gbt_column *col = &feed->col[c];
    gbt_mem_free(&feed->ctx->mem, feed->fetched[2 * c]);
    gbt_mem_free(&feed->ctx->mem, feed->fetched[2 * c + 1]);
    col->values = NULL;
    if (col->rows != NULL) col->rows = gbti_no_rows;
  }
  gbt_mem_free(&feed->ctx->mem, feed->fetched);
  feed->fetched = NULL;
}
