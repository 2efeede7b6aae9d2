/* Levels of the rows of data sets. */
#include "../base/parallel.h"
#include "../data/level_ids.h"
#include "encode_impl.h"

typedef struct pick_job {
  const uint32_t *from;
  const uint32_t *table_row, *row; /* by row: its place in `from`; by place of `to`: the row. NULL: the same number */
  uint32_t *to;
  int64_t n;
} pick_job;

static void pick_task(void *arg, int64_t task, int thread) {
  const pick_job *job = arg;
  const int64_t beg = task * GBTI_ENCODE_ROWS, end = job->n - beg < GBTI_ENCODE_ROWS ? job->n : beg + GBTI_ENCODE_ROWS;
  (void)thread;
  for (int64_t i = beg; i < end; i++) {
    const uint32_t row = job->row != NULL ? job->row[i] : (uint32_t)i;
    job->to[i] = job->from[job->table_row != NULL ? job->table_row[row] : row];
  }
}

/* Levels of a column in the rows of a data set; order: which row comes at each place, or NULL. *out: owned. */
static gbt_status levels_of(gbt_ctx *ctx, const gbt_dataset *ds, int32_t col, const uint32_t *order, uint32_t **out,
                            gbt_error *err) {
  gbt_status status = GBT_OK;
  uint32_t *all = NULL, *to = NULL;
  const size_t n_table = (size_t)gbt_pages_n_rows(ds->pages);
  *out = NULL;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n_table, sizeof *all, &all, err), done);
  GBT_TRY_GOTO(gbti_level_ids(ctx, ds, col, all, err), done);
  if (order == NULL && ds->rows.table_row == NULL) {
    *out = all;
    return GBT_OK;
  }
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)ds->rows.n, sizeof *to, &to, err), done);
  pick_job job = {all, ds->rows.table_row, order, to, ds->rows.n};
  GBT_TRY_GOTO(gbt_parallel(ctx, gbti_row_tasks(job.n), pick_task, &job, err), done);
done:
  gbt_mem_free(&ctx->mem, all);
  if (status == GBT_OK)
    *out = to;
  else
    gbt_mem_free(&ctx->mem, to);
  return status;
}

void gbti_drop_columns(const gbt_mem *mem, gbti_key_columns *cols) {
  for (int32_t i = 0; i < GBTI_MOST_COMBINED; i++) gbt_mem_free(mem, cols->level[i]);
}

/* Levels of a column in the training rows of all ranks, in base order. *out: owned. */
static gbt_status levels_of_all(gbt_ctx *ctx, const gbti_encoding *e, int32_t col, uint32_t **out, gbt_error *err) {
  const size_t n = (size_t)e->visit.n;
  gbt_status status = GBT_OK;
  uint32_t *own = NULL, *all = NULL;
  *out = NULL;
  if (gbt_comm_is_single(ctx)) return levels_of(ctx, e->data[0], col, e->visit.row, out, err);
  GBT_TRY_GOTO(levels_of(ctx, e->data[0], col, NULL, &own, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *all, &all, err), done);
  GBT_TRY_GOTO(gbti_gather_u32(ctx, &e->all, own, all, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof **out, out, err), done);
  pick_job job = {all, NULL, e->visit.row, *out, e->visit.n};
  GBT_TRY_GOTO(gbt_parallel(ctx, gbti_row_tasks(job.n), pick_task, &job, err), done);
done:
  gbt_mem_free(&ctx->mem, own);
  gbt_mem_free(&ctx->mem, all);
  if (status == GBT_OK) return status;
  gbt_mem_free(&ctx->mem, *out);
  *out = NULL;
  return status;
}

gbt_status gbti_take_columns(gbt_ctx *ctx, const gbti_encoding *e, int32_t s, const gbti_planned *plan,
                             gbti_key_columns *out, gbt_error *err) {
  const gbt_dataset *ds = e->data[s];
  *out = (gbti_key_columns){.level = {NULL}};
  for (int32_t i = 0; i < plan->n_cols; i++) {
    if (s == 0)
      GBT_TRY(levels_of_all(ctx, e, plan->col[i], &out->level[i], err));
    else
      GBT_TRY(levels_of(ctx, ds, plan->col[i], NULL, &out->level[i], err));
    out->col[i] = (gbti_key_column){out->level[i], ds->cuts->schema->col[plan->col[i]].n_levels};
  }
  return GBT_OK;
}
