/* Metrics from exact sums over groups of rows (metric/cells.h): rows -> sums by thread -> sums -> numbers -> the
 * metric. As many cells are looked at in one walk over the rows as CELLS_MEMORY has room for. */
#include "../base/comm.h"
#include "../base/parallel.h"
#include "../metric/cells.h"
#include "metric_rows.h"

enum { CELLS_MEMORY = 64 << 20, MERGE_CELLS = 64, RANK_THREADS = 64 };

typedef struct job {
  const gbt_metric_rows *rows;
  gbt_cells cells;
  int32_t beg, end; /* cells of this walk */
  int64_t task_rows;
  int n_threads;
  gbt_exact_sum *sum; /* n_threads x (end - beg) */
  int64_t *bad_row;   /* n_threads: the first row whose label is no class; n: none */
} job;

static void rows_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_metric_rows *r = j->rows;
  gbt_exact_sum *sum = j->sum + (int64_t)thread * (j->end - j->beg);
  int64_t beg = task * j->task_rows, end = r->of.n - beg < j->task_rows ? r->of.n : beg + j->task_rows;
  for (int64_t i = beg; i < end; i++) {
    const gbt_cell_row row = {r->score + i, (uint64_t)r->of.n, gbt_label_of(&r->of, i), gbt_weight_of(&r->of, i)};
    gbt_cell_adds adds;
    gbt_cells_row(&j->cells, &row, &adds);
    if (adds.n == 0 && i < j->bad_row[thread]) j->bad_row[thread] = i;
    for (int32_t k = 0; k < adds.n; k++)
      if (adds.cell[k] >= j->beg && adds.cell[k] < j->end) gbt_exact_add(&sum[adds.cell[k] - j->beg], adds.value[k]);
  }
}

/* The other threads' sums go to the first one's. */
static void merge_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  int64_t n = j->end - j->beg, beg = task * MERGE_CELLS, end = n - beg < MERGE_CELLS ? n : beg + MERGE_CELLS;
  (void)thread;
  for (int t = 1; t < j->n_threads; t++)
    for (int64_t c = beg; c < end; c++) gbt_exact_merge(&j->sum[c], &j->sum[t * n + c]);
}

/* The sums of cells beg .. end, in j->sum. */
static gbt_status sum_rows(gbt_ctx *ctx, job *j, gbt_error *err) {
  const int64_t n = j->end - j->beg;
  for (int64_t i = 0; i < n * j->n_threads; i++) gbt_exact_zero(&j->sum[i]);
  GBT_ASSERT(j->task_rows > 0);
  GBT_TRY(gbt_parallel(ctx, (j->rows->of.n + j->task_rows - 1) / j->task_rows, rows_task, j, err));
  int64_t bad = j->rows->of.n;
  for (int t = 0; t < j->n_threads; t++) bad = j->bad_row[t] < bad ? j->bad_row[t] : bad;
  if (bad < j->rows->of.n) return gbt_metric_no_class(j->rows, bad, err);
  GBT_TRY(gbt_parallel(ctx, (n + MERGE_CELLS - 1) / MERGE_CELLS, merge_task, j, err));
  return gbt_comm_sum_exact(ctx, j->sum, (size_t)n, err);
}

/* All cells of a stage as numbers, by as many walks as needed. */
static gbt_status stage(gbt_ctx *ctx, job *j, int32_t most, double *cell, gbt_error *err) {
  const int32_t n = gbt_cells_count(&j->cells);
  for (j->beg = 0; j->beg < n; j->beg = j->end) {
    j->end = n - j->beg < most ? n : j->beg + most;
    GBT_TRY(sum_rows(ctx, j, err));
    for (int32_t c = j->beg; c < j->end; c++) cell[c] = gbt_exact_value(&j->sum[c - j->beg]);
  }
  return GBT_OK;
}

gbt_status gbt_metric_of_cells(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  job j = {rows,
           {rows->metric, rows->objective, 0, 0.0, 0.0},
           0,
           0,
           gbt_metric_task_rows(rows->objective.n_outputs),
           ctx->n_threads,
           NULL,
           NULL};
  const int32_t n_cells = gbt_cells_count(&j.cells), n_stages = gbt_cells_stages(&j.cells);
  const int n_shares = gbt_comm_is_single(ctx) ? j.n_threads : RANK_THREADS; /* all ranks take the same walks */
  const int64_t room = CELLS_MEMORY / (int64_t)sizeof *j.sum / n_shares;
  const int32_t most = room < MERGE_CELLS ? MERGE_CELLS : room < n_cells ? (int32_t)room : n_cells;
  double *cell = NULL;
  GBT_ASSERT(n_cells > 0 && j.n_threads > 0);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)most * (size_t)j.n_threads, sizeof *j.sum, &j.sum, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)j.n_threads, sizeof *j.bad_row, &j.bad_row, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_cells, sizeof *cell, &cell, err), done);
  for (int t = 0; t < j.n_threads; t++) j.bad_row[t] = rows->of.n;
  for (int32_t s = 0; s < n_stages; s++) {
    if (s > 0) gbt_cells_next(&j.cells, cell);
    GBT_TRY_GOTO(stage(ctx, &j, most, cell, err), done);
  }
  *out = gbt_cells_value(&j.cells, cell);
done:
  gbt_mem_free(&ctx->mem, cell);
  gbt_mem_free(&ctx->mem, j.bad_row);
  gbt_mem_free(&ctx->mem, j.sum);
  return status;
}
