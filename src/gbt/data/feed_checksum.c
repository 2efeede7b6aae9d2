/* Checksums of columns: whether a source yields the same values in every pass, and what a data set's fingerprint is
 * made of (fingerprint.h). A value's part in its column's checksum is a hash of its bits (of a level: of its text) and
 * its row; parts are added, so that neither the order nor the cut into chunks matters. A difference goes unseen with
 * probability 2^-64.
 *
 * The sum depends on the numbers, not on how they are stored: integers count as the doubles that they are read as. The
 * part of 0 is 0, so absent rows of a sparse column add nothing. Where absent rows are missing, their parts are those
 * of all rows less those of the entries. */
#include "../base/rng.h"
#include "../schema/schema_impl.h"
#include "column.h"
#include "feed.h"

#define ROW_STEP 0x9e3779b97f4a7c15u
enum { BLOCK = 16384 }; /* between two polls */

typedef struct checksum_job {
  gbti_job job;
  const gbt_table *chunk;
  int64_t beg;
  const int32_t *cols;
  int32_t n, per_task;
  uint64_t all_missing; /* sum of the parts of missing values of all rows, where an absent row is one */
  uint64_t *sum;
} checksum_job;

static uint64_t part(uint64_t bits, uint64_t row) { return gbt_mix64(bits + row * ROW_STEP); }

static uint64_t part_of_number(double x, uint64_t row) {
  return x == 0.0 ? 0 : part(gbt_bits(x == x ? x : gbti_missing()), row);
}

static uint64_t part_of_missing(uint64_t row) { return part(gbt_bits(gbti_missing()), row); }

static uint64_t bits_of_level(const gbt_column *col, int32_t code) {
  const char *text = code > 0 ? col->levels[code - 1] : NULL;
  return text != NULL ? gbt_text_hash(1, text) : gbt_bits(gbti_missing());
}

/* Sums of n dense values. Vectorise where they are compiled for vectors: a double takes 10 instructions by AVX2 in
 * place of 23. */
#define DEFINE_SUMS(NAME, TARGET)                                                                                      \
  TARGET static uint64_t NAME##_of_doubles(const double *x, int64_t n, uint64_t row) {                                 \
    uint64_t sum = 0;                                                                                                  \
    for (int64_t i = 0; i < n; i++) sum += part_of_number(x[i], row + (uint64_t)i);                                    \
    return sum;                                                                                                        \
  }                                                                                                                    \
  TARGET static uint64_t NAME##_of_integers(const int32_t *x, int64_t n, uint64_t row) {                               \
    uint64_t sum = 0;                                                                                                  \
    for (int64_t i = 0; i < n; i++) sum += part_of_number(gbti_of_i32(x[i]), row + (uint64_t)i);                       \
    return sum;                                                                                                        \
  }                                                                                                                    \
  TARGET static uint64_t NAME##_of_levels(const int32_t *x, const uint64_t *known, int64_t n, uint64_t row) {          \
    uint64_t sum = 0;                                                                                                  \
    for (int64_t i = 0; i < n; i++) sum += part(known[x[i] > 0 ? x[i] : 0], row + (uint64_t)i);                        \
    return sum;                                                                                                        \
  }

DEFINE_SUMS(plain, )
#if defined(__x86_64__) && defined(__GNUC__)
DEFINE_SUMS(avx2, __attribute__((target("avx2"))))
DEFINE_SUMS(avx512, __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))))
#define CHOOSE(SIMD, KIND, ...)                                                                                        \
  ((SIMD) >= GBT_SIMD_AVX512 ? avx512_of_##KIND(__VA_ARGS__)                                                           \
   : (SIMD) >= GBT_SIMD_AVX2 ? avx2_of_##KIND(__VA_ARGS__)                                                             \
                             : plain_of_##KIND(__VA_ARGS__))
#else
#define CHOOSE(SIMD, KIND, ...) ((void)(SIMD), plain_of_##KIND(__VA_ARGS__))
#endif

/* Entries [beg, end) of a column; row: of entry 0 of a dense column, or of row 0. known: NULL, or a hash of every
 * level. */
static uint64_t sum_entries(gbt_simd simd, const gbt_column *col, const uint64_t *known, uint64_t row, int64_t beg,
                            int64_t end) {
  uint64_t sum = 0;
  const uint64_t first = row + (uint64_t)beg;
#define ROW (row + (uint64_t)(col->rows != NULL ? col->rows[e] : e))
  for (int64_t e = beg; e < end && col->values == NULL; e++) sum += part_of_number(1.0, ROW);
  if (col->values == NULL) return sum;
  switch (col->storage) {
  case GBT_F64: {
    const double *x = col->values;
    if (col->rows == NULL) return CHOOSE(simd, doubles, x + beg, end - beg, first);
    for (int64_t e = beg; e < end; e++) sum += part_of_number(x[e], ROW);
    break;
  }
  case GBT_I32: {
    const int32_t *x = col->values;
    if (col->rows == NULL) return CHOOSE(simd, integers, x + beg, end - beg, first);
    for (int64_t e = beg; e < end; e++) sum += part_of_number(gbti_of_i32(x[e]), ROW);
    break;
  }
  case GBT_I64: {
    const int64_t *x = col->values;
    for (int64_t e = beg; e < end; e++) sum += part_of_number(gbti_of_i64(x[e]), ROW);
    break;
  }
  case GBT_CODES: {
    const int32_t *x = col->values;
    if (col->rows == NULL && known != NULL) return CHOOSE(simd, levels, x + beg, known, end - beg, first);
    for (int64_t e = beg; e < end; e++)
      sum += part(known != NULL ? known[x[e] > 0 ? x[e] : 0] : bits_of_level(col, x[e]), ROW);
    break;
  }
  }
#undef ROW
  return sum;
}

static gbt_status hash_levels(const gbt_mem *mem, const gbt_column *col, int64_t n, uint64_t **out, gbt_error *err) {
  *out = NULL;
  if (col->storage != GBT_CODES || col->n_levels > n) return GBT_OK; /* then row by row */
  GBT_TRY(gbt_mem_array(mem, (size_t)col->n_levels + 1, sizeof **out, out, err));
  for (int32_t c = 0; c <= col->n_levels; c++) (*out)[c] = bits_of_level(col, c);
  return GBT_OK;
}

static int absent_is_missing(const gbt_table *chunk, const gbt_column *col) {
  return col->rows != NULL && (chunk->absent_missing || col->storage == GBT_CODES);
}

static gbt_status add_column(checksum_job *job, int32_t i, int thread, gbt_error *err) {
  const gbt_mem *mem = &job->job.ctx->mem;
  const gbt_column *col = &job->chunk->cols[job->cols != NULL ? job->cols[i] : i];
  int64_t n = col->rows != NULL ? col->n_entries : job->chunk->n_rows;
  uint64_t *known, sum = 0;
  const int less = absent_is_missing(job->chunk, col);
  if (less) sum = job->all_missing;
  GBT_TRY(hash_levels(mem, col, n, &known, err));
  for (int64_t beg = 0; beg < n && !gbti_job_stopped(&job->job, thread); beg += BLOCK) {
    int64_t end = n - beg < BLOCK ? n : beg + BLOCK;
    sum += sum_entries(job->job.ctx->simd, col, known, (uint64_t)job->beg, beg, end);
    for (int64_t e = beg; less && e < end; e++) sum -= part_of_missing((uint64_t)(job->beg + col->rows[e]));
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

/* all_missing, where a column needs it. */
static gbt_status sum_missing(gbt_ctx *ctx, checksum_job *job, gbt_error *err) {
  int32_t i = 0;
  while (i < job->n && !absent_is_missing(job->chunk, &job->chunk->cols[job->cols != NULL ? job->cols[i] : i])) i++;
  for (int64_t r = 0; i < job->n && r < job->chunk->n_rows; r++) {
    if (r % BLOCK == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    job->all_missing += part_of_missing((uint64_t)(job->beg + r));
  }
  return GBT_OK;
}

gbt_status gbti_checksum_add(gbti_feed *feed, const gbt_table *chunk, int64_t beg, const int32_t *cols, int32_t n,
                             uint64_t *sum, gbt_error *err) {
  checksum_job job = {.chunk = chunk, .beg = feed->share.beg + beg, .cols = cols, .n = n, .sum = sum};
  job.per_task = gbti_cols_per_task(chunk->n_rows);
  GBT_ASSERT(job.per_task > 0);
  GBT_TRY(sum_missing(feed->ctx, &job, err));
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
