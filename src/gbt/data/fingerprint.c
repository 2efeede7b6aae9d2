/* Fingerprints: numbers that show whether two trainings had the same data. That of a table is made of the
 * checksums of its columns, that of a data set also of which rows of the table it has and of the fields of these. All
 * are sums of hashes of a value and its row, so they do not depend on threads, chunks, storage, pages or ranks. */
#include "../base/bits.h"
#include "../base/comm.h"
#include "../base/parallel.h"
#include "../base/rng.h"
#include "../schema/schema_impl.h"
#include "dataset_impl.h"
#include "fingerprint.h"

#define ROW_STEP 0x9e3779b97f4a7c15u

/* Sums of all ranks, modulo 2^64. */
static gbt_status sum_ranks(gbt_ctx *ctx, uint64_t *x, int32_t n, gbt_error *err) {
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  int64_t *half;
  GBT_TRY(gbt_mem_array(&ctx->mem, 2 * (size_t)n, sizeof *half, &half, err));
  for (int32_t i = 0; i < n; i++) {
    half[2 * i] = (int64_t)(x[i] & UINT32_MAX);
    half[2 * i + 1] = (int64_t)(x[i] >> 32);
  }
  const gbt_status status = gbt_comm_sum_i64(ctx, half, 2 * (size_t)n, err);
  for (int32_t i = 0; i < n; i++) x[i] = (uint64_t)half[2 * i] + ((uint64_t)half[2 * i + 1] << 32);
  gbt_mem_free(&ctx->mem, half);
  return status;
}

static uint64_t mix_text(uint64_t h, const char *text) { return gbt_mix64(h ^ gbt_text_hash(1, text)); }

gbt_status gbti_table_fingerprint(gbt_ctx *ctx, const gbt_schema *schema, int64_t n_rows, uint64_t *checksum,
                                  uint64_t *out, gbt_error *err) {
  GBT_TRY(sum_ranks(ctx, checksum, schema->n_columns, err));
  uint64_t h = gbt_mix64(gbt_mix64((uint64_t)n_rows) ^ (uint64_t)schema->n_columns);
  for (int32_t c = 0; c < schema->n_columns; c++) {
    const gbt_schema_column *col = &schema->col[c];
    h = gbt_mix64(mix_text(h, col->name) ^ (uint64_t)col->type);
    for (int32_t l = 0; col->type == GBT_ORDINAL && l < col->n_levels; l++) h = mix_text(h, col->levels[l]);
    h = gbt_mix64(h ^ checksum[c]);
  }
  *out = h != 0 ? h : 1;
  return GBT_OK;
}

/* Of the rows of a mask: 0 where row i is row i of the table. */
static uint64_t row_part(const gbt_rows *rows, int64_t i) {
  const uint64_t row = (uint64_t)(rows->before + i), of_table = (uint64_t)gbt_row_number(rows, i) - 1;
  return row == of_table ? 0 : gbt_mix64(of_table + row * ROW_STEP);
}

static uint64_t field_part(double x, int64_t row) { return gbt_mix64(gbt_bits(x + 0.0) + (uint64_t)row * ROW_STEP); }

enum { ROW_SUM = GBT_N_FIELDS, SCORE_SUM, N_SUMS, POLL_ROWS = 65536 };

/* The part of row i in the sum of a matrix of n_outputs columns. */
static uint64_t matrix_part(const gbt_rows *rows, const double *x, int32_t n_outputs, int64_t i) {
  uint64_t sum = 0;
  for (int32_t k = 0; k < n_outputs; k++)
    sum += gbt_mix64((uint64_t)k) * field_part(x[(size_t)k * (size_t)rows->n + (size_t)i], rows->before + i);
  return sum;
}

/* Sums over this rank's rows: of every field, of which rows they are, and of scores where there are any. */
static gbt_status sum_rows(gbt_ctx *ctx, const gbt_dataset *ds, const double *score, int32_t n_outputs, uint64_t *sum,
                           gbt_error *err) {
  const gbt_rows *rows = &ds->rows;
  for (int64_t i = 0; i < rows->n; i++) {
    if (i % POLL_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    sum[ROW_SUM] += row_part(rows, i);
    for (int f = 0; f < GBT_N_FIELDS; f++)
      if (rows->field[f] != NULL) sum[f] += matrix_part(rows, rows->field[f], rows->n_outputs[f], i);
    if (score != NULL) sum[SCORE_SUM] += matrix_part(rows, score, n_outputs, i);
  }
  return GBT_OK;
}

gbt_status gbti_rows_fingerprint(gbt_ctx *ctx, const gbt_dataset *ds, const double *score, int32_t n_outputs,
                                 uint64_t *out, gbt_error *err) {
  uint64_t sum[N_SUMS] = {0};
  gbt_share share;
  GBT_TRY(sum_rows(ctx, ds, score, n_outputs, sum, err));
  GBT_TRY(sum_ranks(ctx, sum, N_SUMS, err));
  GBT_TRY(gbt_comm_share(ctx, ds->rows.n, &share, err));
  uint64_t h = gbt_mix64(ds->fingerprint ^ gbt_mix64((uint64_t)share.all));
  for (int f = 0; f <= GBT_GROUP; f++) h = gbt_mix64(h ^ sum[f]);
  h = gbt_mix64(h ^ sum[ROW_SUM]);
  for (int f = GBT_GROUP + 1; f < GBT_N_FIELDS; f++) /* fields that few data have: no part in the numbers of others */
    if (sum[f] != 0) h = gbt_mix64(h ^ sum[f] ^ gbt_mix64((uint64_t)f));
  *out = sum[SCORE_SUM] != 0 ? gbt_mix64(h ^ sum[SCORE_SUM]) : h;
  return GBT_OK;
}

static gbt_status fingerprint(gbt_ctx *ctx, const gbt_dataset *ds, const char *const *label_text, int32_t n_texts,
                              uint64_t *out, gbt_error *err) {
  uint64_t h;
  if (ds->fingerprint == 0) return GBT_OK;
  GBT_TRY(gbti_rows_fingerprint(ctx, ds, NULL, 0, &h, err));
  for (int32_t i = 0; i < n_texts; i++) h = mix_text(h, label_text[i]);
  *out = h != 0 ? h : 1;
  return GBT_OK;
}

gbt_status gbt_dataset_fingerprint(gbt_ctx *ctx, const gbt_dataset *ds, const char *const *label_text, int32_t n_texts,
                                   uint64_t *out, gbt_error *err) {
  *out = 0;
  return gbt_comm_agree(ctx, fingerprint(ctx, ds, label_text, n_texts, out, err), err);
}
