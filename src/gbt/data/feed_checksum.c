/* Whether a source yields the same values in every pass. A value's part in its column's checksum is a hash of its bits
 * (of a level: of its text) and its row; parts are added, so that neither the order nor the cut into chunks matters. A
 * difference goes unseen with probability 2^-64. Rows without an entry of a sparse column add nothing. */
#include "../base/rng.h"
#include "../schema/schema_impl.h"
#include "feed.h"

typedef struct checksum_job {
  gbti_job job;
  const gbt_table *chunk;
  int64_t beg;
  const int32_t *cols;
  int32_t n, per_task;
  uint64_t *sum;
} checksum_job;

static uint64_t part(uint64_t bits, uint64_t row) { return gbt_mix64(bits + row * 0x9e3779b97f4a7c15u); }

static uint64_t bits_of_level(const gbt_column *col, int32_t code) {
  const char *text = code > 0 ? col->levels[code - 1] : NULL;
  return text != NULL ? gbt_text_hash(1, text) : 0;
}

/* known: NULL, or a hash of every level. */
static uint64_t value_bits(const gbt_column *col, const uint64_t *known, int64_t e) {
  if (col->values == NULL) return gbt_bits(1.0);
  switch (col->storage) {
  case GBT_F64: {
    double x = ((const double *)col->values)[e];
    return x == x ? gbt_bits(x) : gbt_bits(gbti_missing());
  }
  case GBT_I32:
    return (uint64_t)(uint32_t)((const int32_t *)col->values)[e];
  case GBT_I64:
    return (uint64_t)((const int64_t *)col->values)[e];
  case GBT_CODES: {
    int32_t code = ((const int32_t *)col->values)[e];
    return known != NULL ? known[code > 0 ? code : 0] : bits_of_level(col, code);
  }
  }
  return 0;
}

static gbt_status hash_levels(const gbt_mem *mem, const gbt_column *col, int64_t n, uint64_t **out, gbt_error *err) {
  *out = NULL;
  if (col->storage != GBT_CODES || col->n_levels > n) return GBT_OK; /* then row by row */
  GBT_TRY(gbt_mem_array(mem, (size_t)col->n_levels + 1, sizeof **out, out, err));
  for (int32_t c = 0; c <= col->n_levels; c++) (*out)[c] = bits_of_level(col, c);
  return GBT_OK;
}

static gbt_status add_column(checksum_job *job, int32_t i, int thread, gbt_error *err) {
  enum { BLOCK = 16384 };
  const gbt_mem *mem = &job->job.ctx->mem;
  const gbt_column *col = &job->chunk->cols[job->cols != NULL ? job->cols[i] : i];
  int64_t n = col->rows != NULL ? col->n_entries : job->chunk->n_rows;
  uint64_t *known, sum = 0;
  GBT_TRY(hash_levels(mem, col, n, &known, err));
  for (int64_t beg = 0; beg < n && !gbti_job_stopped(&job->job, thread); beg += BLOCK) {
    int64_t end = n - beg < BLOCK ? n : beg + BLOCK;
    for (int64_t e = beg; e < end; e++)
      sum += part(value_bits(col, known, e), (uint64_t)(job->beg + (col->rows != NULL ? col->rows[e] : e)));
  }
  job->sum[i] += sum;
  gbt_mem_free(mem, known);
  return GBT_OK;
}

static void add_task(void *arg, int64_t task, int thread) {
  checksum_job *job = arg;
  int64_t beg = task * job->per_task, end = beg + job->per_task;
  for (int64_t i = beg; i < end && i < job->n; i++) {
    gbt_error err;
    if (add_column(job, (int32_t)i, thread, &err) != GBT_OK) gbti_job_fail(&job->job, &err);
  }
}

gbt_status gbti_checksum_add(gbti_feed *feed, const gbt_table *chunk, int64_t beg, const int32_t *cols, int32_t n,
                             uint64_t *sum, gbt_error *err) {
  checksum_job job = {.chunk = chunk, .beg = beg, .cols = cols, .n = n, .sum = sum};
  job.per_task = gbti_cols_per_task(chunk->n_rows);
  GBT_ASSERT(job.per_task > 0);
  gbti_job_start(&job.job, feed->ctx);
  return gbti_job_run(&job.job, (n + job.per_task - 1) / job.per_task, add_task, &job, err);
}

gbt_status gbti_checksum_match(const gbti_feed *feed, const int32_t *cols, int32_t n, const uint64_t *sum,
                               gbt_error *err) {
  for (int32_t i = 0; i < n; i++) {
    int32_t c = cols != NULL ? cols[i] : i;
    if (sum[i] != feed->checksum[c])
      return gbt_fail_on(err, GBT_E_DATA, feed->table.cols[c].name,
                         "column `%s`: the source yields other values than in its first pass; every pass must yield "
                         "the same rows in the same order",
                         feed->table.cols[c].name);
  }
  return GBT_OK;
}
