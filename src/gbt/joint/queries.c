#include "queries.h"

#include <string.h>

#include "../base/bits.h"
#include "../base/comm.h"
#include "../base/parallel.h"
#include "../base/sort.h"

/* Places where a run of equal keys begins. start: room for them, or NULL to count. */
static uint32_t find_starts(const uint64_t *key, int64_t n, uint32_t *start, uint32_t *longest) {
  uint32_t count = 0;
  int64_t last = 0;
  *longest = 0;
  for (int64_t i = 0; i < n; i++) {
    if (i > 0 && key[i] == key[i - 1]) continue;
    if (i - last > *longest) *longest = (uint32_t)(i - last);
    if (start != NULL) start[count] = (uint32_t)i;
    count++;
    last = i;
  }
  if (n - last > *longest) *longest = (uint32_t)(n - last);
  if (start != NULL) start[count] = (uint32_t)n;
  return count;
}

/* Ranks: no number of a query may be on two ranks. own: this rank's numbers, n of them, ascending. */
static gbt_status check_ranks(gbt_ctx *ctx, const uint64_t *own, uint32_t n, gbt_error *err) {
  const int size = gbt_comm_size(ctx);
  gbt_status status = GBT_OK;
  uint64_t *all = NULL, *tmp = NULL;
  uint32_t *rank = NULL, *tmp_rank = NULL;
  size_t *bytes = NULL, total = 0;
  int64_t *count = NULL;
  const int64_t mine = n;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)size, sizeof *bytes, &bytes, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)size, sizeof *count, &count, err), done);
  GBT_TRY_GOTO(gbt_comm_gather_i64(ctx, &mine, 1, count, err), done);
  for (int r = 0; r < size; r++) total += bytes[r] = (size_t)count[r] * sizeof *own;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, total, 1, &all, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, total, 1, &tmp, err), done);
  GBT_TRY_GOTO(gbt_comm_gather(ctx, own, bytes, all, err), done);
  total /= sizeof *own;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, total, sizeof *rank, &rank, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, total, sizeof *tmp_rank, &tmp_rank, err), done);
  size_t at = 0;
  for (int r = 0; r < size; r++)
    for (int64_t i = 0; i < count[r]; i++) rank[at++] = (uint32_t)r;
  GBT_TRY_GOTO(gbt_sort_u64_parallel(ctx, all, rank, total, tmp, tmp_rank, err), done);
  for (size_t i = 1; i < total; i++)
    if (all[i] == all[i - 1]) {
      status = gbt_fail_on(err, GBT_E_DATA, "group",
                           "the rows of query number %.15g (`group`) are on ranks %u and %u; give all rows of a query "
                           "to one rank",
                           gbt_order_value(all[i]), (unsigned)rank[i - 1], (unsigned)rank[i]);
      break;
    }
done:
  gbt_mem_free(&ctx->mem, tmp_rank);
  gbt_mem_free(&ctx->mem, rank);
  gbt_mem_free(&ctx->mem, tmp);
  gbt_mem_free(&ctx->mem, all);
  gbt_mem_free(&ctx->mem, count);
  gbt_mem_free(&ctx->mem, bytes);
  return status;
}

/* Sorts the rows by their queries. key, tmp, tmp_row: scratch of n; key keeps the sorted numbers. */
static gbt_status sort_rows(gbt_ctx *ctx, const double *group, gbt_queries *q, uint64_t *key, uint64_t *tmp,
                            uint32_t *tmp_row, gbt_error *err) {
  for (int64_t i = 0; i < q->n_rows; i++) {
    key[i] = gbt_order_key(group[i]);
    q->row[i] = (uint32_t)i;
  }
  GBT_TRY(gbt_sort_u64_parallel(ctx, key, q->row, (size_t)q->n_rows, tmp, tmp_row, err));
  q->n = find_starts(key, q->n_rows, NULL, &q->longest);
  GBT_TRY(gbt_mem_array(&q->mem, (size_t)q->n + 1, sizeof *q->start, &q->start, err));
  (void)find_starts(key, q->n_rows, q->start, &q->longest);
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  for (uint32_t i = 0; i < q->n; i++) tmp[i] = key[q->start[i]];
  return check_ranks(ctx, tmp, q->n, err);
}

gbt_status gbt_queries_make(gbt_ctx *ctx, const gbt_rows *rows, gbt_queries *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  const size_t n = (size_t)rows->n;
  uint64_t *key = NULL, *tmp = NULL;
  uint32_t *tmp_row = NULL;
  *out = (gbt_queries){.mem = ctx->mem, .n_rows = rows->n};
  GBT_ASSERT(rows->n >= 0 && rows->n <= UINT32_MAX);
  GBT_TRY_GOTO(gbt_mem_array(&out->mem, n, sizeof *out->row, &out->row, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *key, &key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *tmp, &tmp, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *tmp_row, &tmp_row, err), done);
  GBT_TRY_GOTO(sort_rows(ctx, rows->field[GBT_GROUP], out, key, tmp, tmp_row, err), done);
done:
  gbt_mem_free(&ctx->mem, tmp_row);
  gbt_mem_free(&ctx->mem, tmp);
  gbt_mem_free(&ctx->mem, key);
  return status;
}

void gbt_queries_free(gbt_queries *q) {
  gbt_mem_free(&q->mem, q->start);
  gbt_mem_free(&q->mem, q->row);
  q->start = q->row = NULL;
}

gbt_status gbt_queries_check_weights(const gbt_queries *q, const gbt_rows *rows, const char *objective,
                                     gbt_error *err) {
  const double *weight = rows->field[GBT_WEIGHT];
  if (weight == NULL) return GBT_OK;
  for (uint32_t k = 0; k < q->n; k++) {
    const uint32_t first = q->row[q->start[k]];
    for (uint32_t i = q->start[k] + 1; i < q->start[k + 1]; i++) {
      if (weight[q->row[i]] == weight[first]) continue;
      return gbt_fail_on(err, GBT_E_DATA, "weights",
                         "rows %lld and %lld belong to one query and have the weights %g and %g; with the objective "
                         "\"%s\" all rows of a query have the same weight",
                         (long long)gbt_row_number(rows, first), (long long)gbt_row_number(rows, q->row[i]),
                         weight[first], weight[q->row[i]], objective);
    }
  }
  return GBT_OK;
}
