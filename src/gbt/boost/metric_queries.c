/* Metrics of ranking: a mean over queries (metric/query_metrics.h), weighted by the largest weight of a row in each.
 *
 *   rows by query -> rows of a query by score, then label -> blocks of equal scores -> the query's value -> exact sums
 *
 * A task takes some queries. Queries for which the metric is not defined are left out; NaN when none is left. */
#include "../base/bits.h"
#include "../base/comm.h"
#include "../base/exact_sum.h"
#include "../base/parallel.h"
#include "../base/sort.h"
#include "../joint/pairs.h"
#include "../joint/queries.h"
#include "../metric/query_metrics.h"
#include "metric_rows.h"

enum {
  TASK_ROWS = 1 << 14,
  LONG_ROWS = 1 << 17 /* queries of more come one by one, before the tasks, and are sorted by all threads */
};

/* A thread's scratch, for the rows of one query, and its sums. */
typedef struct part {
  gbt_exact_sum values, weights;
  uint64_t *key, *tmp_key, *count;
  uint32_t *row, *tmp_row, *end;
  double *label, *ideal, *gain, *ideal_gain, *chance;
} part;

typedef struct job {
  gbt_ctx *ctx;
  const gbt_metric_rows *rows;
  const gbt_queries *queries;
  double *discount; /* of the places of the longest query */
  double top_label;
  int linear;     /* gains are labels */
  uint32_t *task; /* n_tasks + 1: the first query of each */
  uint32_t n_tasks;
  part *part; /* n_threads */
} job;

/* Queries to tasks of about TASK_ROWS rows; start: room, or NULL to count. */
static uint32_t cut_tasks(const gbt_queries *queries, uint32_t *start) {
  uint32_t n = 0, rows = TASK_ROWS;
  for (uint32_t q = 0; q < queries->n; q++) {
    if (rows >= TASK_ROWS) {
      if (start != NULL) start[n] = q;
      n++;
      rows = 0;
    }
    rows += gbt_rows_of_query(queries, q);
  }
  if (start != NULL) start[n] = queries->n;
  return n;
}

static gbt_status open_part(const gbt_mem *mem, size_t n, part *p, gbt_error *err) {
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->key, &p->key, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->tmp_key, &p->tmp_key, err));
  GBT_TRY(gbt_mem_array(mem, n + 1, sizeof *p->count, &p->count, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->row, &p->row, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->tmp_row, &p->tmp_row, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->end, &p->end, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->label, &p->label, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->ideal, &p->ideal, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->gain, &p->gain, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->ideal_gain, &p->ideal_gain, err));
  return gbt_mem_array(mem, n + 1, sizeof *p->chance, &p->chance, err);
}

static void close_part(const gbt_mem *mem, part *p) {
  void *blocks[] = {p->key,   p->tmp_key, p->count, p->row,        p->tmp_row, p->end,
                    p->label, p->ideal,   p->gain,  p->ideal_gain, p->chance};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(mem, blocks[i]);
}

/* The gain of a row for DCG: given, or the label where the objective has such gains, or 2^label - 1. */
static double gain_of(const job *j, uint32_t row) {
  const gbt_rows *of = &j->rows->of;
  if (of->field[GBT_GAIN] != NULL) return of->field[GBT_GAIN][row];
  return j->linear ? gbt_label_of(of, row) : gbt_query_gain(gbt_label_of(of, row));
}

static gbt_status sort_rows(gbt_ctx *ctx, part *p, uint32_t n, gbt_error *err) {
  if (ctx != NULL) return gbt_sort_u64_parallel(ctx, p->key, p->row, n, p->tmp_key, p->tmp_row, err);
  gbt_sort_u64(p->key, p->row, n, p->tmp_key, p->tmp_row);
  return GBT_OK;
}

/* The rows of a query by falling score, those of equal score by label; the blocks; the labels falling. ctx: sorts with
 * all its threads; NULL: on the calling thread, which cannot fail. */
static gbt_status order_query(gbt_ctx *ctx, const job *j, uint32_t query, part *p, gbt_query_rows *out,
                              gbt_error *err) {
  const gbt_rows *of = &j->rows->of;
  const uint32_t n = gbt_rows_of_query(j->queries, query), *row = j->queries->row + j->queries->start[query];
  uint32_t n_blocks = 0;
  for (uint32_t i = 0; i < n; i++) {
    p->row[i] = row[i];
    p->key[i] = gbt_order_key(gbt_label_of(of, row[i]));
  }
  GBT_TRY(sort_rows(ctx, p, n, err));
  for (uint32_t i = 0; i < n; i++) {
    p->ideal[n - 1 - i] = gbt_label_of(of, p->row[i]);
    p->ideal_gain[n - 1 - i] = gain_of(j, p->row[i]);
    p->key[i] = ~gbt_order_key(j->rows->score[p->row[i]]);
  }
  GBT_TRY(sort_rows(ctx, p, n, err)); /* stable: labels ascend where scores are equal */
  for (uint32_t i = 0; i < n; i++) {
    p->label[i] = gbt_label_of(of, p->row[i]);
    p->gain[i] = gain_of(j, p->row[i]);
    if (i + 1 == n || p->key[i + 1] != p->key[i]) p->end[n_blocks++] = i + 1;
  }
  *out = (gbt_query_rows){n,       n_blocks,      p->label,     p->end,   j->discount, p->ideal,
                          p->gain, p->ideal_gain, j->top_label, p->count, p->chance,   j->ctx, 0};
  return GBT_OK;
}

static double weight_of(const job *j, uint32_t query) {
  const uint32_t *row = j->queries->row;
  double most = 0.0;
  for (uint32_t i = j->queries->start[query]; i < j->queries->start[query + 1]; i++) {
    const double w = gbt_weight_of(&j->rows->of, row[i]);
    most = w > most ? w : most;
  }
  return most;
}

static int is_long(const job *j, uint32_t query) { return gbt_rows_of_query(j->queries, query) > LONG_ROWS; }

static void add_query(const job *j, uint32_t query, const gbt_query_rows *rows, part *p) {
  const double value = gbt_query_metric(&j->rows->metric, rows), weight = weight_of(j, query);
  if (value != value) return;
  gbt_exact_add(&p->values, value * weight);
  gbt_exact_add(&p->weights, weight);
}

static void queries_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  part *p = &j->part[thread];
  for (uint32_t q = j->task[task]; q < j->task[task + 1]; q++) {
    gbt_query_rows rows;
    if (is_long(j, q)) continue; /* done before */
    (void)order_query(NULL, j, q, p, &rows, NULL);
    rows.thread = thread;
    add_query(j, q, &rows, p);
  }
}

/* Queries whose sort is shared by all threads. */
static gbt_status add_long(gbt_ctx *ctx, const job *j, gbt_error *err) {
  if (j->queries->longest <= LONG_ROWS) return GBT_OK;
  for (uint32_t q = 0; q < j->queries->n; q++) {
    gbt_query_rows rows;
    if (!is_long(j, q)) continue;
    GBT_TRY(order_query(ctx, j, q, &j->part[0], &rows, err));
    GBT_TRY(gbt_ctx_poll(ctx, err));
    add_query(j, q, &rows, &j->part[0]);
  }
  return GBT_OK;
}

/* The largest label of the data set, of all ranks. */
static gbt_status find_top_label(gbt_ctx *ctx, job *j, gbt_error *err) {
  double top = 0.0;
  for (int64_t i = 0; i < j->rows->of.n; i++) {
    const double y = gbt_label_of(&j->rows->of, i);
    top = y > top ? y : top;
  }
  GBT_TRY(gbt_comm_max_f64(ctx, &top, 1, err));
  j->top_label = top;
  return GBT_OK;
}

static gbt_status finish(gbt_ctx *ctx, job *j, double *out, gbt_error *err) {
  part *all = &j->part[0];
  for (int t = 1; t < ctx->n_threads; t++) {
    gbt_exact_merge(&all->values, &j->part[t].values);
    gbt_exact_merge(&all->weights, &j->part[t].weights);
  }
  GBT_TRY(gbt_comm_sum_exact(ctx, &all->values, 1, err));
  GBT_TRY(gbt_comm_sum_exact(ctx, &all->weights, 1, err));
  const double weight = gbt_exact_value(&all->weights);
  *out = weight > 0.0 ? gbt_exact_value(&all->values) / weight : gbt_nan();
  return GBT_OK;
}

static gbt_status run(gbt_ctx *ctx, job *j, double *out, gbt_error *err) {
  const uint32_t longest = j->queries->longest;
  GBT_TRY(find_top_label(ctx, j, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, longest, sizeof *j->discount, &j->discount, err));
  for (uint32_t place = 0; place < longest; place++) j->discount[place] = gbt_rank_discount(place);
  j->n_tasks = cut_tasks(j->queries, NULL);
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)j->n_tasks + 1, sizeof *j->task, &j->task, err));
  (void)cut_tasks(j->queries, j->task);
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)ctx->n_threads, sizeof *j->part, &j->part, err));
  for (int t = 0; t < ctx->n_threads; t++) GBT_TRY(open_part(&ctx->mem, longest, &j->part[t], err));
  GBT_TRY(add_long(ctx, j, err));
  GBT_TRY(gbt_parallel(ctx, j->n_tasks, queries_task, j, err));
  return finish(ctx, j, out, err);
}

gbt_status gbt_metric_of_queries(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  gbt_queries own = {.mem = ctx->mem};
  job j = {.ctx = ctx,
           .rows = rows,
           .queries = rows->aids->queries,
           .linear = gbt_objective_param_of(&rows->objective, "rank_linear_gain", 0.0) > 0.0};
  gbt_status status = GBT_OK;
  if (rows->of.field[GBT_GROUP] == NULL && rows->of.n > 0)
    return gbt_fail_on(err, GBT_E_DATA, "group", "metric \"%s\" needs `group`: the query of every row",
                       gbt_metric_about(rows->metric.kind)->name);
  if (j.queries == NULL) {
    status = gbt_queries_make(ctx, &rows->of, &own, err);
    j.queries = &own;
  }
  if (status == GBT_OK) status = run(ctx, &j, out, err);
  for (int t = 0; t < ctx->n_threads && j.part != NULL; t++) close_part(&ctx->mem, &j.part[t]);
  gbt_mem_free(&ctx->mem, j.part);
  gbt_mem_free(&ctx->mem, j.task);
  gbt_mem_free(&ctx->mem, j.discount);
  gbt_queries_free(&own);
  return status;
}
