#include "positions.h"

#include "../base/bits.h"
#include "../base/comm.h"
#include "../base/parallel.h"
#include "../math/elementary.h"
#include "../math/fixed.h"

enum { TASK_ROWS = 1 << 16, MOST_RATIO_BITS = 10 }; /* t+ and t- are within 2^-10 and 2^10 */

/* ---- life ---- */

/* One more than the largest position of this rank's rows. */
static gbt_status count_positions(const gbt_rows *rows, const double *of, int64_t *out, gbt_error *err) {
  *out = 0;
  for (int64_t i = 0; of != NULL && i < rows->n; i++) {
    if (!(of[i] >= 0.0 && of[i] < (double)GBT_MOST_POSITIONS && of[i] == (double)(int32_t)of[i]))
      return gbt_fail_on(err, GBT_E_DATA, "position",
                         "`position` of row %lld is %g; positions must be whole numbers from 0 to %d",
                         (long long)gbt_row_number(rows, i), of[i], (int)GBT_MOST_POSITIONS - 1);
    if ((int64_t)of[i] >= *out) *out = (int64_t)of[i] + 1;
  }
  return GBT_OK;
}

gbt_status joint_positions_open(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, joint_positions *p,
                                gbt_error *err) {
  int64_t n;
  p->of = rows->field[GBT_POSITION];
  GBT_TRY(count_positions(rows, p->of, &n, err));
  GBT_TRY(gbt_comm_max_i64(ctx, &n, 1, err));
  p->n = (uint32_t)n;
  if (n == 0) return GBT_OK;
  p->ratio = gbt_objective_param_of(objective, "position_bias", 0.0) > 0.0;
  p->reg = gbt_objective_param_of(objective, "position_reg", 0.0);
  p->norm = gbt_objective_param_of(objective, "bias_norm", 1.0);
  GBT_TRY(gbt_mem_zeros(&p->mem, joint_positions_state(p), sizeof *p->bias, &p->bias, err));
  for (uint32_t i = 0; p->ratio && i < 2 * p->n; i++) p->bias[i] = 1.0;
  if (p->ratio && gbt_objective_param_of(objective, "rank_pairs", 0.0) > 0.0)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "position_bias",
                       "`position_bias = \"ratio\"` cannot be combined with `rank_pairs`; use `rank_top`");
  if (p->ratio) return GBT_OK;
  return gbt_mem_array(&p->mem, (size_t)rows->n, sizeof *p->shifted, &p->shifted, err);
}

void joint_positions_free(joint_positions *p) {
  gbt_mem_free(&p->mem, p->bias);
  gbt_mem_free(&p->mem, p->shifted);
  gbt_mem_free(&p->mem, p->cost);
}

/* ---- a round ---- */

typedef struct shift_job {
  const joint_positions *p;
  const double *score;
  int64_t n_rows;
} shift_job;

static void shift_task(void *arg, int64_t task, int thread) {
  const shift_job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = j->n_rows - beg < TASK_ROWS ? j->n_rows : beg + TASK_ROWS;
  (void)thread;
  for (int64_t i = beg; i < end; i++) j->p->shifted[i] = j->score[i] + j->p->bias[(uint32_t)j->p->of[i]];
}

static int64_t n_tasks(int64_t n_rows) { return (n_rows + TASK_ROWS - 1) / TASK_ROWS; }

gbt_status joint_positions_begin(gbt_ctx *ctx, joint_positions *p, const gbt_rows *rows, const double *score,
                                 const double **out, gbt_error *err) {
  const shift_job j = {p, score, rows->n};
  *out = score;
  if (p->n == 0) return GBT_OK;
  if (p->ratio) {
    const size_t all = (size_t)ctx->n_threads * 2 * p->n;
    if (ctx->n_threads > p->n_threads) {
      gbt_mem_free(&p->mem, p->cost);
      p->cost = NULL;
      GBT_TRY(gbt_mem_array(&p->mem, all, sizeof *p->cost, &p->cost, err));
      p->n_threads = ctx->n_threads;
    }
    for (size_t i = 0; i < (size_t)p->n_threads * 2 * p->n; i++) gbt_exact_zero(&p->cost[i]);
    return GBT_OK;
  }
  *out = p->shifted;
  return gbt_parallel(ctx, n_tasks(rows->n), shift_task, (void *)&j, err);
}

/* ---- additive ---- */

typedef struct sum_job {
  const joint_positions *p;
  const gbt_rows *rows;
  const double *g, *h;
  double *most; /* by thread: the largest sizes of g, h and the weight */
  int64_t *sum; /* by thread: of each position G, H and W */
  double up[3];
} sum_job;

static void row_terms(const sum_job *j, int64_t i, double *x) {
  x[2] = gbt_weight_of(j->rows, i);
  x[0] = j->g[i] * x[2];
  x[1] = j->h[i] * x[2];
}

static void most_task(void *arg, int64_t task, int thread) {
  const sum_job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = j->rows->n - beg < TASK_ROWS ? j->rows->n : beg + TASK_ROWS;
  double *most = j->most + 3 * thread;
  for (int64_t i = beg; i < end; i++) {
    double x[3];
    row_terms(j, i, x);
    for (int k = 0; k < 3; k++) {
      const double size = x[k] < 0.0 ? -x[k] : x[k];
      most[k] = size > most[k] ? size : most[k];
    }
  }
}

static void sum_task(void *arg, int64_t task, int thread) {
  const sum_job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = j->rows->n - beg < TASK_ROWS ? j->rows->n : beg + TASK_ROWS;
  int64_t *sum = j->sum + (size_t)thread * 3 * j->p->n;
  for (int64_t i = beg; i < end; i++) {
    double x[3];
    row_terms(j, i, x);
    for (int k = 0; k < 3; k++) sum[3 * (size_t)j->p->of[i] + (size_t)k] += gbt_round_i64(x[k] * j->up[k]);
  }
}

static gbt_status sum_rows(gbt_ctx *ctx, sum_job *j, double *down, gbt_error *err) {
  const int threads = ctx->n_threads;
  const size_t n = 3 * (size_t)j->p->n;
  gbt_share share;
  GBT_TRY(gbt_comm_share(ctx, j->rows->n, &share, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 3 * (size_t)threads, sizeof *j->most, &j->most, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, n * (size_t)threads, sizeof *j->sum, &j->sum, err));
  GBT_TRY(gbt_parallel(ctx, n_tasks(j->rows->n), most_task, j, err));
  for (int t = 1; t < threads; t++)
    for (int k = 0; k < 3; k++) j->most[k] = j->most[3 * t + k] > j->most[k] ? j->most[3 * t + k] : j->most[k];
  GBT_TRY(gbt_comm_max_f64(ctx, j->most, 3, err));
  const int spare = 61 - gbt_bit_length((uint64_t)share.all);
  for (int k = 0; k < 3; k++) {
    const int e = gbt_scale_exp(j->most[k], spare < 50 ? spare : 50);
    j->up[k] = gbt_pow2(e);
    down[k] = gbt_pow2(-e);
  }
  GBT_TRY(gbt_parallel(ctx, n_tasks(j->rows->n), sum_task, j, err));
  for (int t = 1; t < threads; t++)
    for (size_t i = 0; i < n; i++) j->sum[i] += j->sum[(size_t)t * n + i];
  return gbt_comm_sum_i64(ctx, j->sum, n, err);
}

static gbt_status move_additive(gbt_ctx *ctx, joint_positions *p, const gbt_rows *rows, const double *g,
                                const double *h, double eta, gbt_error *err) {
  sum_job j = {.p = p, .rows = rows, .g = g, .h = h};
  double down[3];
  const gbt_status status = sum_rows(ctx, &j, down, err);
  for (uint32_t i = 0; status == GBT_OK && i < p->n; i++) {
    const int64_t *sum = j.sum + 3 * (size_t)i;
    const double G = (double)sum[0] * down[0], H = (double)sum[1] * down[1], W = (double)sum[2] * down[2];
    p->bias[i] += eta * (-G - p->reg * W * p->bias[i]) / (H + p->reg * W + 0.001);
  }
  gbt_mem_free(&ctx->mem, j.most);
  gbt_mem_free(&ctx->mem, j.sum);
  return status;
}

/* ---- ratio ---- */

/* L+ or L- of the positions -> t+ or t-. What is 0 says nothing, and leaves them as they are. Where that is so of the
 * first position, as where a training goes on with others, the next one takes its part, with the ratio that it has. */
static void ratios_of(const gbt_exact_sum *sum, uint32_t n, double norm, double *t) {
  const double least = gbt_pow2(-MOST_RATIO_BITS), most = gbt_pow2(MOST_RATIO_BITS);
  uint32_t base = 0;
  while (base < n && !(gbt_exact_value(&sum[base]) > 0.0)) base++;
  if (base == n) return;
  const double first = gbt_log(gbt_exact_value(&sum[base])), at = t[base];
  for (uint32_t i = base; i < n; i++) {
    const double value = gbt_exact_value(&sum[i]);
    if (!(value > 0.0)) continue;
    const double x = gbt_exp((gbt_log(value) - first) / (1.0 + norm)) * at;
    t[i] = x < least ? least : x > most ? most : x;
  }
}

static gbt_status move_ratio(gbt_ctx *ctx, joint_positions *p, gbt_error *err) {
  const size_t n = 2 * (size_t)p->n;
  for (int32_t t = 1; t < p->n_threads; t++)
    for (size_t i = 0; i < n; i++) gbt_exact_merge(&p->cost[i], &p->cost[(size_t)t * n + i]);
  GBT_TRY(gbt_comm_sum_exact(ctx, p->cost, n, err));
  ratios_of(p->cost, p->n, p->norm, p->bias);
  ratios_of(p->cost + p->n, p->n, p->norm, p->bias + p->n);
  return GBT_OK;
}

gbt_status joint_positions_move(gbt_ctx *ctx, joint_positions *p, const gbt_rows *rows, const double *g,
                                const double *h, double eta, gbt_error *err) {
  if (p->n == 0) return GBT_OK;
  return p->ratio ? move_ratio(ctx, p, err) : move_additive(ctx, p, rows, g, h, eta, err);
}

int joint_ratio_bits(const joint_positions *p) { return p->ratio ? 2 * MOST_RATIO_BITS : 0; }

/* The integers of places a < b. first: whether the pair is counted here. */
static gbt_pair_term ratio_term(const joint_positions *p, gbt_pair_target target, int by_distance,
                                const gbt_pair_rows *rows, const gbt_pair_query *query, const uint32_t *pos, double up,
                                uint32_t a, uint32_t b, double weight, gbt_exact_sum *cost) {
  const gbt_pair_row row_a = gbt_pair_row_at(rows, a), row_b = gbt_pair_row_at(rows, b);
  const double inverse_a = 1.0 / ((double)a + 1.0);
  if (row_a.label == row_b.label) return (gbt_pair_term){0, 0};
  const uint32_t i = row_a.label > row_b.label ? pos[a] : pos[b], j = row_a.label > row_b.label ? pos[b] : pos[a];
  const double t_i = p->bias[i], t_j = p->bias[p->n + j];
  if (cost != NULL) {
    const double x = row_a.label > row_b.label ? row_a.s - row_b.s : row_b.s - row_a.s;
    double D = gbt_pair_weight(target, query, row_a, inverse_a, row_b) * weight;
    if (by_distance) D = D / (0.01 + (x > 0.0 ? x : -x));
    const double loss = gbt_softplus(-x) * D;
    gbt_exact_add(&cost[i], loss / t_j);
    gbt_exact_add(&cost[p->n + j], loss / t_i);
  }
  return gbt_pair_of(target, by_distance, query, up / (t_i * t_j), row_a, inverse_a, row_b);
}

gbt_pair_sum joint_ratio_around(const joint_positions *p, gbt_pair_target target, int by_distance,
                                const gbt_pair_rows *rows, const gbt_pair_query *query, const uint32_t *pos, double up,
                                double weight, uint32_t i, gbt_exact_sum *cost) {
  gbt_pair_sum sum = {0, 0, 0};
  const uint32_t before = i < rows->top ? i : rows->top;
  for (uint32_t a = 0; a < before; a++) {
    const gbt_pair_term term = ratio_term(p, target, by_distance, rows, query, pos, up, a, i, weight, NULL);
    sum.g += rows->label[a] > rows->label[i] ? term.g : -term.g;
    sum.h += term.h;
  }
  if (i >= rows->top) return sum;
  for (uint32_t b = i + 1; b < rows->n; b++) {
    const gbt_pair_term term = ratio_term(p, target, by_distance, rows, query, pos, up, i, b, weight, cost);
    sum.g -= rows->label[i] > rows->label[b] ? term.g : -term.g;
    sum.h += term.h;
    sum.wrong += term.g;
  }
  return sum;
}
