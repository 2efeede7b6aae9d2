/* The rows of all ranks on every rank, for metrics that need an order of the rows. */
#include "../base/comm.h"
#include "metric_rows.h"

/* bytes: by rank, of a column of doubles. */
static gbt_status sizes_of_ranks(gbt_ctx *ctx, int64_t n, size_t *bytes, int64_t *all, gbt_error *err) {
  const size_t size = (size_t)gbt_comm_size(ctx);
  int64_t *rows;
  GBT_TRY(gbt_mem_array(&ctx->mem, size, sizeof *rows, &rows, err));
  gbt_status status = gbt_comm_gather_i64(ctx, &n, 1, rows, err);
  *all = 0;
  for (size_t r = 0; r < size && status == GBT_OK; r++) {
    bytes[r] = (size_t)rows[r] * sizeof(double);
    *all += rows[r];
  }
  gbt_mem_free(&ctx->mem, rows);
  return status;
}

/* One column of doubles after the other. */
static gbt_status gather_columns(gbt_ctx *ctx, const double *own, size_t n, size_t n_columns, const size_t *bytes,
                                 size_t n_all, double **out, gbt_error *err) {
  GBT_TRY(gbt_mem_array(&ctx->mem, n_all * n_columns, sizeof **out, out, err));
  for (size_t k = 0; k < n_columns; k++) GBT_TRY(gbt_comm_gather(ctx, own + k * n, bytes, *out + k * n_all, err));
  return GBT_OK;
}

/* Weights of all ranks, or NULL when no rank has any; rows without weigh 1. */
static gbt_status gather_weights(gbt_ctx *ctx, const gbt_metric_rows *own, const size_t *bytes, size_t n_all,
                                 double **out, gbt_error *err) {
  const size_t n = (size_t)own->of.n;
  const double *weight = own->of.field[GBT_WEIGHT];
  int64_t weighted = own->of.n > 0 && weight != NULL;
  double *ones;
  GBT_TRY(gbt_comm_max_i64(ctx, &weighted, 1, err));
  if (!weighted) return GBT_OK;
  if (weight != NULL) return gather_columns(ctx, weight, n, 1, bytes, n_all, out, err);
  GBT_TRY(gbt_mem_array(&ctx->mem, n, sizeof *ones, &ones, err));
  for (size_t i = 0; i < n; i++) ones[i] = 1.0;
  gbt_status status = gather_columns(ctx, ones, n, 1, bytes, n_all, out, err);
  gbt_mem_free(&ctx->mem, ones);
  return status;
}

gbt_status gbt_metric_gather(gbt_ctx *ctx, const gbt_metric_rows *own, gbt_metric_rows *all, gbt_error *err) {
  const size_t n = (size_t)own->of.n;
  gbt_status status = GBT_OK;
  double *score = NULL, *label = NULL, *weight = NULL;
  size_t *bytes = NULL;
  *all = *own;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)gbt_comm_size(ctx), sizeof *bytes, &bytes, err), done);
  GBT_TRY_GOTO(sizes_of_ranks(ctx, own->of.n, bytes, &all->of.n, err), done);
  const size_t n_all = (size_t)all->of.n, n_outputs = (size_t)own->objective.n_outputs;
  GBT_TRY_GOTO(gather_columns(ctx, own->score, n, n_outputs, bytes, n_all, &score, err), done);
  GBT_TRY_GOTO(gather_columns(ctx, own->of.field[GBT_LABEL], n, 1, bytes, n_all, &label, err), done);
  GBT_TRY_GOTO(gather_weights(ctx, own, bytes, n_all, &weight, err), done);
done:
  gbt_mem_free(&ctx->mem, bytes);
  all->score = score;
  all->of.field[GBT_LABEL] = label;
  all->of.field[GBT_WEIGHT] = weight;
  if (status != GBT_OK) gbt_metric_ungather(ctx, all);
  return status;
}

void gbt_metric_ungather(gbt_ctx *ctx, gbt_metric_rows *all) {
  gbt_mem_free(&ctx->mem, (void *)all->score);
  gbt_mem_free(&ctx->mem, (void *)all->of.field[GBT_LABEL]);
  gbt_mem_free(&ctx->mem, (void *)all->of.field[GBT_WEIGHT]);
  all->score = all->of.field[GBT_LABEL] = all->of.field[GBT_WEIGHT] = NULL;
}
