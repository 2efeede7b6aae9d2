/* Whole weights of rows, and the base score of objectives whose leaves are quantiles. */
#include "renewal.h"

#include "../base/comm.h"
#include "../base/parallel.h"
#include "../base/sort.h"
#include "formulas.h"

enum { RENEWAL_ROWS = 65536 };

double gbt_renewal_level(const gbt_objective *o) {
  switch ((gbt_objective_kind)o->kind) {
#define LEVEL_NEWTON(name) 0.5
#define LEVEL_QUANTILE(name) gbt_##name##_level(o->param)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, hessian, size, leaves, ...) \
  case GBT_OBJ_##ID:                                                                                            \
    return LEVEL_##leaves(name);
#include "objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return 0.5;
}

static double factor_of(int32_t kind, double y) {
  switch ((gbt_objective_kind)kind) {
#define FACTOR_NEWTON(name) 1.0
#define FACTOR_QUANTILE(name) gbt_##name##_row_weight(y)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, hessian, size, leaves, ...) \
  case GBT_OBJ_##ID:                                                                                            \
    return FACTOR_##leaves(name);
#include "objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return 1.0;
}

static double weight_of(const gbt_objective *o, const gbt_label_rows *rows, int64_t i) {
  const double factor = factor_of(o->kind, rows->label[i]);
  return rows->weight ? rows->weight[i] * factor : factor;
}

gbt_status gbt_renewal_weights(gbt_ctx *ctx, const gbt_objective *o, const gbt_label_rows *rows, uint64_t **out,
                               gbt_error *err) {
  gbt_status status = GBT_OK;
  uint64_t *whole = NULL;
  double max = 0.0;
  int same = 1;
  *out = NULL;
  for (int64_t i = 0; i < rows->n_rows; i++) {
    if (i % RENEWAL_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    const double w = weight_of(o, rows, i);
    same &= w == 1.0;
    if (w > max) max = w;
  }
  if (same) return GBT_OK;
  const gbt_whole_scale scale = gbt_whole_scale_of(max, rows->n_rows);
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)rows->n_rows, sizeof *whole, &whole, err));
  for (int64_t i = 0; i < rows->n_rows; i++) {
    if (i % RENEWAL_ROWS == 0) GBT_TRY_GOTO(gbt_ctx_poll(ctx, err), done);
    whole[i] = gbt_whole_weight(weight_of(o, rows, i), scale);
  }
done:
  if (status == GBT_OK)
    *out = whole;
  else
    gbt_mem_free(&ctx->mem, whole);
  return status;
}

/* Sorted keys and the rows that they are of -> the quantile. */
static gbt_status quantile_of(gbt_ctx *ctx, const uint64_t *key, const uint32_t *row, const uint64_t *whole, size_t n,
                              double level, double *out, gbt_error *err) {
  uint64_t total = 0, below = 0;
  size_t at = 0;
  for (size_t i = 0; i < n; i++) {
    if (i % RENEWAL_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    total += whole ? whole[i] : 1;
  }
  if (total == 0) return GBT_OK;
  const uint64_t goal = gbt_renewal_goal(level, total);
  while ((below += whole ? whole[row[at]] : 1) < goal) {
    if (at % RENEWAL_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    at++;
  }
  *out = gbt_order_value(key[at]);
  return GBT_OK;
}

gbt_status gbt_renewal_base(gbt_ctx *ctx, const gbt_objective *o, const gbt_label_rows *rows, double *out,
                            gbt_error *err) {
  gbt_status status = GBT_OK;
  const size_t n = (size_t)rows->n_rows;
  uint64_t *whole = NULL, *key = NULL, *spare_key = NULL;
  uint32_t *row = NULL, *spare_row = NULL;
  GBT_ASSERT(gbt_comm_alone(ctx));
  GBT_TRY_GOTO(gbt_renewal_weights(ctx, o, rows, &whole, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *key, &key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *spare_key, &spare_key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *row, &row, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *spare_row, &spare_row, err), done);
  for (size_t i = 0; i < n; i++) {
    if (i % RENEWAL_ROWS == 0) GBT_TRY_GOTO(gbt_ctx_poll(ctx, err), done);
    key[i] = gbt_order_key(rows->offset ? rows->label[i] - rows->offset[i] : rows->label[i]);
    row[i] = (uint32_t)i;
  }
  GBT_TRY_GOTO(gbt_sort_u64_parallel(ctx, key, row, n, spare_key, spare_row, err), done);
  GBT_TRY_GOTO(quantile_of(ctx, key, row, whole, n, gbt_renewal_level(o), out, err), done);
done:
  gbt_mem_free(&ctx->mem, whole);
  gbt_mem_free(&ctx->mem, key);
  gbt_mem_free(&ctx->mem, spare_key);
  gbt_mem_free(&ctx->mem, row);
  gbt_mem_free(&ctx->mem, spare_row);
  return status;
}
