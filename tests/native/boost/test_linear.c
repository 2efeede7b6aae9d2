/* Linear leaves: slopes against a dense solution, trainings whose circumstances must not show, models as bytes. */
#include "mutate.h"
#include "odd_job.h"
#include "ranks_job.h"

#include "../../src/gbt/data/binding.h"
#include "../../src/gbt/model/model_impl.h"
#include "../../src/gbt/model/predict.h"
#include "../../src/gbt/tree/linear_fit.h"

/* ---- sums ---- */

/* An 80-bit twin: a sum of numbers in four parts of 20 bits each, carried when it is read. */
static void wide_sums_have_no_order(void) {
  test_rng rng = {7};
  for (int run = 0; run < 50; run++) {
    const int n = 1 + (int)test_below(&rng, 200);
    gbt_linear_wide up = {0, 0}, down = {0, 0}, parts[3] = {{0, 0}, {0, 0}, {0, 0}}, joined = {0, 0};
    int64_t x[200];
    long double want = 0.0L;
    for (int i = 0; i < n; i++) {
      x[i] = (int64_t)(gbt_mix64((uint64_t)(run * 1000 + i)) >> test_below(&rng, 40));
      if (test_below(&rng, 2)) x[i] = -x[i] - 1;
      want += (long double)x[i];
    }
    for (int i = 0; i < n; i++) {
      gbt_linear_add(&up, x[i]);
      gbt_linear_add(&down, x[n - 1 - i]);
      gbt_linear_add(&parts[test_below(&rng, 3)], x[i]);
    }
    for (int p = 0; p < 3; p++) {
      gbt_linear_settle(&parts[p]);
      joined.high += parts[p].high;
      joined.low += parts[p].low;
    }
    gbt_linear_settle(&up);
    gbt_linear_settle(&down);
    gbt_linear_settle(&joined);
    CHECK_EQ_BYTES(&up, &down, sizeof up);
    CHECK_EQ_BYTES(&up, &joined, sizeof up);
    CHECK_NEAR(gbt_linear_real(up), (double)want, 1e-15);
  }
}

/* ---- slopes ---- */

enum { MOST_ROWS = 2000, /* of a leaf */ N_ROWS = 6000 };

typedef struct rows {
  int n, p;
  int64_t g[MOST_ROWS], h[MOST_ROWS], x[GBT_LINEAR_MOST][MOST_ROWS];
} rows;

static void sums_of(const rows *r, gbt_linear_wide *sum) {
  memset(sum, 0, GBT_LINEAR_SUMS * sizeof *sum);
  for (int i = 0; i < r->n; i++) {
    gbt_linear_add(&sum[GBT_LINEAR_G], r->g[i]);
    gbt_linear_add(&sum[GBT_LINEAR_H], r->h[i]);
    for (int a = 0; a < r->p; a++) {
      gbt_linear_add(&sum[GBT_LINEAR_GX + a], r->g[i] * r->x[a][i]);
      gbt_linear_add(&sum[GBT_LINEAR_HX + a], r->h[i] * r->x[a][i]);
      for (int b = 0; b <= a; b++) gbt_linear_add(&sum[gbt_linear_pair(a, b)], r->h[i] * r->x[a][i] * r->x[b][i]);
    }
  }
  for (int i = 0; i < GBT_LINEAR_SUMS; i++) gbt_linear_settle(&sum[i]);
}

/* x -2 -1 0 1 3 in thousandths, gradients in tenths. */
static void a_leaf_by_hand(void) {
  const rows r = {
      .n = 5, .p = 1, .g = {-19, -11, 1, 8, 32}, .h = {1, 1, 2, 1, 1}, .x = {{-2000, -1000, 0, 1000, 3000}}};
  gbt_linear_wide sum[GBT_LINEAR_SUMS];
  double slope[GBT_LINEAR_MOST], mean[GBT_LINEAR_MOST];
  const gbt_linear_rule rule = {.units = {0.1, 1.0}};
  sums_of(&r, sum);
  const double gain = gbt_linear_fit(sum, 1, rule, slope, mean);
  const double constant = -1.1 / 6.0;
  CHECK_NEAR(gain / 2.0 + 0.5 * 1.1 * 1.1 / 6.0, 7.803539325843, 1e-12);
  CHECK_NEAR(slope[0] * 1000.0, -1.019101123596, 1e-12);
  CHECK_NEAR(constant - slope[0] * mean[0], -0.013483146067, 1e-10);
}

/* Gauss with pivots on the regression with an intercept, the ridge on centred variances. Returns the gain. */
static double solve_densely(const rows *r, double ridge, double *slope) {
  long double m[GBT_LINEAR_MOST][GBT_LINEAR_MOST + 1], mean[GBT_LINEAR_MOST], right[GBT_LINEAR_MOST];
  long double H = 0.0L, gain = 0.0L;
  for (int i = 0; i < r->n; i++) H += (long double)r->h[i];
  for (int a = 0; a < r->p; a++) {
    mean[a] = 0.0L;
    for (int i = 0; i < r->n; i++) mean[a] += (long double)r->h[i] * (long double)r->x[a][i] / H;
  }
  for (int a = 0; a < r->p; a++) {
    for (int b = 0; b <= r->p; b++) m[a][b] = 0.0L;
    for (int i = 0; i < r->n; i++) {
      const long double off = (long double)r->x[a][i] - mean[a];
      for (int b = 0; b < r->p; b++) m[a][b] += (long double)r->h[i] * off * ((long double)r->x[b][i] - mean[b]);
      m[a][r->p] -= (long double)r->g[i] * off;
    }
    m[a][a] *= 1.0L + (long double)ridge;
    right[a] = m[a][r->p];
  }
  for (int k = 0; k < r->p; k++) {
    int top = k;
    for (int a = k + 1; a < r->p; a++) top = fabsl(m[a][k]) > fabsl(m[top][k]) ? a : top;
    for (int b = 0; b <= r->p; b++) {
      const long double held = m[k][b];
      m[k][b] = m[top][b];
      m[top][b] = held;
    }
    for (int a = 0; a < r->p; a++) {
      const long double by = a == k ? 0.0L : m[a][k] / m[k][k];
      for (int b = k; b <= r->p && a != k; b++) m[a][b] -= by * m[k][b];
    }
  }
  for (int a = 0; a < r->p; a++) {
    slope[a] = (double)(m[a][r->p] / m[a][a]);
    gain += right[a] * (m[a][r->p] / m[a][a]);
  }
  return (double)gain;
}

static rows random_rows(test_rng *rng) {
  rows r = {.n = 20 + (int)test_below(rng, 41), .p = 1 + (int)test_below(rng, GBT_LINEAR_MOST)};
  for (int i = 0; i < r.n; i++) {
    r.g[i] = test_below(rng, 65536) - 32768;
    r.h[i] = 1 + test_below(rng, 65535);
    for (int a = 0; a < r.p; a++)
      r.x[a][i] = test_below(rng, 2 * GBT_LINEAR_HALF + 1) - GBT_LINEAR_HALF + (a > 0 ? r.x[a - 1][i] / 2 : 0);
  }
  return r;
}

static void slopes_are_those_of_a_dense_solution(void) {
  test_rng rng = {11};
  for (uint64_t run = 0; run < test_cases(300); run++) {
    const rows r = random_rows(&rng);
    const double ridge = test_below(&rng, 2) ? 0.0 : 0.01 * (double)test_below(&rng, 100);
    const gbt_linear_rule rule = {.ridge = ridge, .units = {1.0, 1.0}};
    gbt_linear_wide sum[GBT_LINEAR_SUMS];
    double slope[GBT_LINEAR_MOST], mean[GBT_LINEAR_MOST], want[GBT_LINEAR_MOST];
    sums_of(&r, sum);
    CHECK(gbt_linear_fit(sum, r.p, rule, slope, mean) > 0.0);
    solve_densely(&r, ridge, want);
    for (int a = 0; a < r.p; a++) CHECK_NEAR(slope[a] * GBT_LINEAR_HALF, want[a] * GBT_LINEAR_HALF, 1e-9);
  }
}

/* Slopes lose the share of their gain that chance gives. */
static void slopes_are_shrunk_by_what_chance_gives(void) {
  test_rng rng = {29};
  for (uint64_t run = 0; run < test_cases(200); run++) {
    const rows r = random_rows(&rng);
    const gbt_units units = {0.3, 7.0};
    gbt_linear_rule rule = {.ridge = 0.01 * (double)test_below(&rng, 3), .units = units};
    gbt_linear_wide sum[GBT_LINEAR_SUMS];
    double slope[GBT_LINEAR_MOST], mean[GBT_LINEAR_MOST], dense[GBT_LINEAR_MOST];
    sums_of(&r, sum);
    const double gain = solve_densely(&r, rule.ridge, dense) * units.g * units.g / units.h;
    rule.noise = gain / r.p * 0.49 * test_unit(&rng);
    CHECK_NEAR(gbt_linear_fit(sum, r.p, rule, slope, mean) / gain, 1.0, 1e-9);
    for (int a = 0; a < r.p; a++) {
      const double want = dense[a] * units.g / units.h * (1.0 - r.p * rule.noise / gain);
      CHECK_NEAR((slope[a] - want) * GBT_LINEAR_HALF / (fabs(want * GBT_LINEAR_HALF) + 0.3 / 7.0), 0.0, 1e-9);
    }
  }
}

static void features_that_say_nothing_new_are_dropped(void) {
  test_rng rng = {13};
  for (uint64_t run = 0; run < test_cases(100); run++) {
    rows r = random_rows(&rng), alone = r;
    const gbt_linear_rule rule = {.units = {1.0, 1.0}};
    gbt_linear_wide sum[GBT_LINEAR_SUMS];
    double slope[GBT_LINEAR_MOST], mean[GBT_LINEAR_MOST], first[GBT_LINEAR_MOST];
    r.p = 3;
    alone.p = 1;
    for (int i = 0; i < r.n; i++) {
      r.x[1][i] = r.x[0][i];
      r.x[2][i] = 5;
    }
    sums_of(&alone, sum);
    gbt_linear_fit(sum, 1, rule, first, mean);
    sums_of(&r, sum);
    gbt_linear_fit(sum, 3, rule, slope, mean);
    CHECK_EQ_BITS(slope[0], first[0]);
    CHECK_EQ_BITS(slope[1], 0.0);
    CHECK_EQ_BITS(slope[2], 0.0);
  }
}

static void slopes_of_noise_are_dropped(void) {
  test_rng rng = {17};
  const rows r = random_rows(&rng);
  gbt_linear_wide sum[GBT_LINEAR_SUMS];
  double slope[GBT_LINEAR_MOST], mean[GBT_LINEAR_MOST];
  gbt_linear_rule rule = {.units = {1.0, 1.0}};
  sums_of(&r, sum);
  const double gain = gbt_linear_fit(sum, r.p, rule, slope, mean);
  rule.noise = gain / (2.0 * r.p) * (1.0 + 1e-9);
  CHECK_EQ_BITS(gbt_linear_fit(sum, r.p, rule, slope, mean), 0.0);
  for (int a = 0; a < r.p; a++) CHECK_EQ_BITS(slope[a], 0.0);
  rule.noise = gain / (2.0 * r.p) * (1.0 - 1e-9);
  CHECK_EQ_BITS(gbt_linear_fit(sum, r.p, rule, slope, mean), gain);
}

/* ---- positions ---- */

static void positions_are_middles_of_bins(void) {
  const double even[] = {0.0, 1.0, 2.0, 3.0, INFINITY}, one[] = {5.0, INFINITY}, none[] = {INFINITY};
  const double open[] = {1.0, INFINITY, INFINITY}, wide[] = {-1.7e308, 0.0, 1.7e308, INFINITY};
  int16_t x[5];
  CHECK(gbt_linear_positions(even, 5, x));
  for (int b = 0; b < 5; b++) CHECK_EQ_I64(x[b], (b - 2) * (GBT_LINEAR_HALF / 4)); /* -0.5, 0.5, ... by 2^-2 */
  CHECK(gbt_linear_positions(one, 2, x));
  CHECK(x[0] < x[1]);
  CHECK(!gbt_linear_positions(none, 1, x));
  CHECK(!gbt_linear_positions(open, 3, x));
  (void)gbt_linear_positions(wide, 4, x); /* whatever it says, without overflow */
  double cut[40];
  int16_t far[40];
  test_rng rng = {19};
  for (int run = 0; run < 200; run++) {
    const int n = 2 + (int)test_below(&rng, 39);
    cut[0] = 100.0 * test_bell(&rng);
    for (int b = 1; b < n - 1; b++) cut[b] = cut[b - 1] + exp(3.0 * test_bell(&rng));
    cut[n - 1] = INFINITY;
    if (!CHECK(gbt_linear_positions(cut, n, far))) continue;
    for (int b = 1; b < n; b++) CHECK(far[b] >= far[b - 1]);
    CHECK(far[0] < far[n - 1]);
    for (int b = 0; b < n - 1; b++) CHECK_EQ_I64(gbt_linear_bin(cut, n, cut[b]), b);
  }
}

/* ---- trainings ---- */

/* A random job with linear leaves; 0: the loss has none. */
static int linear_job(uint64_t seed, random_job *r) {
  *r = random_job_make(seed, 400);
  r->how.device = NULL;
  if (random_job_linear(r, seed)) return 1;
  random_job_free(r);
  return 0;
}

static void circumstances_do_not_show(void) {
  size_t n_leaves = 0;
  for (uint64_t seed = 1; seed <= test_cases(500); seed++) {
    random_job r;
    if (!linear_job(seed, &r)) continue;
    const train_how hows[] = {{1, 0, GBT_SIMD_SCALAR, NULL}, {3, 7, GBT_SIMD_AVX2, NULL}};
    trained *first = train(&r.job, &r.how);
    int ok = first != NULL;
    for (size_t i = 0; ok && i < 2; i++) {
      trained *other = train(&r.job, &hows[i]);
      ok = same_trained(first, other);
      trained_free(other);
    }
    made *sparse = made_sparse(r.data, 50);
    train_job job = r.job;
    job.data = sparse;
    trained *other = ok ? train(&job, &r.how) : NULL;
    ok = ok && same_trained(first, other);
    trained_free(other);
    made_free(sparse);
    for (int size = 2; ok && size <= 3; size++) ok = job_by_ranks(&r.job, first, size, seed, seed % 4 == 0);
    if (!ok) random_job_tell(&r, seed);
    if (first != NULL && first->forest->linear != NULL) n_leaves += first->forest->linear->n_leaves;
    trained_free(first);
    random_job_free(&r);
  }
  test_note("%zu linear leaves", n_leaves);
  CHECK_SEEN(n_leaves > 100);
}

/* A job of numbers with a slope in them, and missing cells. */
static train_job sloped_job(made **data, uint64_t seed) {
  const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_HOLES};
  *data = made_new(seed, 600, 3, kinds);
  made_response(*data, GBT_OBJ_SQUARED_ERROR, 1, seed);
  for (int64_t r = 0; r < 600; r++)
    (*data)->label[r] = 0.3 * (*data)->label[r] + 4.0 * ((const double *)(*data)->table.cols[0].values)[r];
  train_job job = job_make(*data, GBT_OBJ_SQUARED_ERROR, 1, 8);
  job.spec.params.leaf_model = GBT_LEAF_LINEAR;
  job.spec.params.max_depth = 3;
  return job;
}

/* The integer gradients of a squared error's first round, and how their leaves are fitted. */
typedef struct fixed_round {
  int64_t g[N_ROWS], h[N_ROWS];
  gbt_linear_rule rule;
} fixed_round;

static void first_gradients(const gbt_params *params, double base, const double *label, fixed_round *out) {
  const gbt_key32 key = gbt_key((uint64_t)params->seed, GBT_FOR_ROUNDING, 0, 0);
  const int wide = params->grad_bits == GBT_GRAD_32;
  gbt_fixed_sums sums = {0, 0, 0};
  double most = 0.0;
  for (int r = 0; r < N_ROWS; r++) most = fmax(most, fabs(base - label[r]));
  const gbt_scale scale = gbt_scale_from(most, 1.0);
  for (int r = 0; r < N_ROWS; r++) {
    const gbt_gh32 q = gbt_fix32(base - label[r], 1.0, scale.up_g, scale.up_h);
    const gbt_gh16 narrow = gbt_fix16(q, gbt_hash32(key, (uint64_t)r));
    sums.square += (int64_t)narrow.g * narrow.g;
    sums.h += narrow.h;
    out->g[r] = wide ? q.g : narrow.g;
    out->h[r] = wide ? q.h : narrow.h;
  }
  const double unit = wide ? 1.0 : 65536.0;
  out->rule = (gbt_linear_rule){params->linear_lambda, gbt_noise(sums, &scale),
                                {scale.down_g * unit, scale.down_h * unit}};
}

/* A leaf of tree 0, from the rows that reach it; node: of each row. */
static void check_leaf(const gbt_forest_view *view, const gbt_binding *binding, uint32_t i, const int32_t *node,
                       const fixed_round *round) {
  const gbt_linear_view *linear = &view->linear;
  const gbt_linear_leaf *leaf = &linear->leaf[linear->of[i] - 1];
  const gbt_linear_term *term = &linear->term[leaf->term_beg];
  rows *r = test_alloc(sizeof *r);
  double dense[GBT_LINEAR_MOST], low = INFINITY, high = -INFINITY, H = 0.0, hx[GBT_LINEAR_MOST] = {0.0};
  r->n = 0;
  r->p = (int)leaf->n_terms;
  for (int64_t row = 0; row < N_ROWS; row++) {
    double number, value = leaf->start;
    int missing = 0;
    for (int k = 0; k < r->p && node[row] == (int32_t)i; k++) {
      int64_t cursor = 0;
      gbt_binding_read(binding, row, 1, &linear->grid[term[k].grid].feat, 1, &cursor, &number, 1);
      r->x[k][r->n] = gbt_linear_x(linear, term[k].grid, number);
      missing |= r->x[k][r->n] == GBT_LINEAR_MISSING;
      value += term[k].slope * (double)r->x[k][r->n];
    }
    if (missing || node[row] != (int32_t)i || !CHECK(r->n < MOST_ROWS - 1)) continue;
    r->g[r->n] = round->g[row];
    r->h[r->n] = round->h[row];
    H += (double)round->h[row];
    for (int k = 0; k < r->p; k++) hx[k] += (double)round->h[row] * (double)r->x[k][r->n];
    low = fmin(low, value), high = fmax(high, value);
    r->n++;
  }
  const gbt_units units = round->rule.units;
  const double gain = solve_densely(r, round->rule.ridge, dense) * units.g * units.g / units.h;
  const double kept = 1.0 - r->p * round->rule.noise / gain;
  double at_means = leaf->start;
  for (int k = 0; k < r->p; k++) {
    CHECK_NEAR(term[k].slope / (dense[k] * units.g / units.h * kept), 1.0, 1e-9);
    at_means += term[k].slope * hx[k] / H;
  }
  CHECK(kept > 0.5 && kept < 1.0);
  CHECK_EQ_BITS(leaf->low, low);
  CHECK_EQ_BITS(leaf->high, high);
  CHECK_NEAR(at_means, view->nodes[i].arg.value, 1e-9);
  free(r);
}

/* Each leaf of one round, by the gradients of its rows themselves. n_of: leaves by their numbers of terms. */
static void check_leaves(int bits, double lambda, int depth, int *n_of) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL, MADE_HOLES, MADE_BELL, MADE_BELL, MADE_BELL};
  made *data = made_new(3, N_ROWS, 6, kinds);
  fixed_round *round = test_alloc(sizeof *round);
  int32_t *node = test_alloc(N_ROWS * sizeof *node);
  made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 3);
  for (int64_t r = 0; r < N_ROWS; r++) {
    data->label[r] *= 0.1;
    for (int c = 0; c < 6; c++) {
      const double x = ((const double *)data->table.cols[c].values)[r];
      if (!isnan(x)) data->label[r] += (1.0 + 0.1 * c) * x;
    }
  }
  train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 1);
  job.spec.params.leaf_model = GBT_LEAF_LINEAR;
  job.spec.params.max_depth = depth;
  job.spec.params.min_data_in_leaf = 20;
  job.spec.params.eta = 1.0;
  job.spec.params.grad_bits = bits;
  job.spec.params.linear_lambda = lambda;
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  trained *t = train(&job, &how);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_cuts *cuts = NULL;
  gbt_binding *binding = NULL;
  if (t != NULL && CHECK_OK(gbt_cuts_build(&ctx, &data->table, NULL, job.max_bin, &cuts, test_err)) &&
      CHECK_OK(gbt_binding_new(&ctx, &data->table, cuts->schema, GBT_UNSEEN_PRIOR, &binding, test_err))) {
    const gbt_forest_view view = gbt_forest_view_of(t->forest);
    const gbt_tree_range all = {0, 1};
    CHECK_OK(gbt_predict_leaves(&ctx, &view, binding, all, node, test_err));
    first_gradients(&job.spec.params, view.base[0], data->label, round);
    for (uint32_t i = 0; i < view.n_nodes; i++) {
      if (view.linear.of[i] == 0) continue;
      n_of[view.linear.leaf[view.linear.of[i] - 1].n_terms]++;
      check_leaf(&view, binding, i, node, round);
    }
  }
  free(node);
  free(round);
  gbt_binding_free(binding);
  gbt_cuts_unref(cuts);
  gbt_ctx_close(&ctx);
  trained_free(t);
  made_free(data);
}

static void leaves_are_those_of_a_dense_solution(void) {
  int n_of[GBT_LINEAR_MOST + 1] = {0};
  for (int depth = 2; depth <= GBT_LINEAR_MOST; depth++) {
    check_leaves(GBT_GRAD_32, depth % 2 ? 0.0 : 0.02, depth, n_of);
    check_leaves(GBT_GRAD_16, depth % 2 ? 0.02 : 0.0, depth, n_of);
  }
  test_note("leaves of 1, 2, .. terms: %d, %d, %d, %d, %d, %d", n_of[1], n_of[2], n_of[3], n_of[4], n_of[5], n_of[6]);
  for (int n = 2; n <= GBT_LINEAR_MOST; n++) CHECK(n_of[n] > 0);
}

static void without_numbers_leaves_are_constant(void) {
  const made_kind kinds[] = {MADE_FACTOR, MADE_FACTOR};
  made *data = made_new(5, 200, 2, kinds);
  made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 5);
  train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 5);
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  trained *constant = train(&job, &how);
  job.spec.params.leaf_model = GBT_LEAF_LINEAR;
  trained *linear = train(&job, &how);
  if (CHECK(constant != NULL && linear != NULL)) {
    CHECK(linear->forest->linear == NULL || linear->forest->linear->n_leaves == 0);
    CHECK_EQ_BYTES(linear->score[0], constant->score[0], 200 * sizeof(double));
  }
  trained_free(constant);
  trained_free(linear);
  made_free(data);
}

/* ---- models ---- */

/* Of rounds [beg, end): written, opened, predicted as the forest predicts them, and written again to the same bytes. */
static void check_model(gbt_ctx *ctx, const train_job *job, const trained *t, const gbt_schema *schema,
                        gbt_tree_range trees) {
  const gbt_forest_view view = gbt_forest_view_of(t->forest);
  const gbt_model_spec spec = {.forest = &view, .trees = trees, .objective = job->spec.objective, .schema = schema};
  uint8_t *bytes = NULL, *again = NULL;
  size_t n_bytes, n_again;
  gbt_model *model = NULL;
  gbt_binding *binding = NULL;
  const size_t n = (size_t)job->data->table.n_rows;
  double *want = test_alloc(n * sizeof *want), *got = test_alloc(n * sizeof *got);
  if (CHECK_OK(gbt_model_make(&ctx->mem, &spec, &bytes, &n_bytes, test_err)) &&
      CHECK_OK(gbt_model_open(&ctx->mem, bytes, n_bytes, &model, test_err)) &&
      CHECK_OK(gbt_binding_new(ctx, &job->data->table, schema, GBT_UNSEEN_PRIOR, &binding, test_err))) {
    const gbt_forest_view *its = gbt_model_forest(model);
    const gbt_tree_range all = {0, its->n_trees};
    CHECK_OK(gbt_predict_scores(ctx, &view, binding, trees, NULL, want, test_err));
    CHECK_OK(gbt_predict_scores(ctx, its, binding, all, NULL, got, test_err));
    CHECK_EQ_BYTES(got, want, n * sizeof *got);
    const gbt_model_spec copy = {.forest = its, .trees = all, .objective = job->spec.objective, .schema = schema};
    CHECK_OK(gbt_model_make(&ctx->mem, &copy, &again, &n_again, test_err));
    CHECK(n_again == n_bytes && memcmp(again, bytes, n_bytes) == 0);
  }
  free(want);
  free(got);
  gbt_binding_free(binding);
  gbt_model_close(model);
  gbt_mem_free(&ctx->mem, bytes);
  gbt_mem_free(&ctx->mem, again);
}

static void models_keep_linear_leaves(void) {
  made *data;
  const train_job job = sloped_job(&data, 9);
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  trained *t = train(&job, &how);
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_cuts *cuts = NULL;
  if (t != NULL && CHECK_OK(gbt_cuts_build(&ctx, &data->table, NULL, job.max_bin, &cuts, test_err))) {
    CHECK(t->forest->linear->n_leaves > 8);
    for (uint64_t beg = 0; beg < 3; beg++)
      for (uint64_t end = beg; end <= 8; end += 2)
        check_model(&ctx, &job, t, cuts->schema, (gbt_tree_range){beg, end});
  }
  gbt_cuts_unref(cuts);
  gbt_ctx_close(&ctx);
  trained_free(t);
  made_free(data);
}

/* Opened without trust: refused, or a model that predicts numbers and is written again as it was. */
static int use_model(gbt_ctx *ctx, const made *data, const uint8_t *bytes, size_t n_bytes) {
  gbt_model *model = NULL;
  gbt_binding *binding = NULL;
  gbt_error err;
  uint8_t *again = NULL;
  size_t n_again;
  const size_t n = (size_t)data->table.n_rows;
  if (gbt_model_open(&ctx->mem, bytes, n_bytes, &model, &err) != GBT_OK) return 0;
  const gbt_forest_view *forest = gbt_model_forest(model);
  const gbt_tree_range all = {0, forest->n_trees};
  double *out = test_alloc(n * (size_t)forest->n_outputs * sizeof *out);
  if (gbt_binding_new(ctx, &data->table, model->schema, GBT_UNSEEN_PRIOR, &binding, &err) == GBT_OK &&
      CHECK_OK(gbt_predict_scores(ctx, forest, binding, all, NULL, out, test_err)))
    for (size_t i = 0; i < n; i++) CHECK(out[i] == out[i]);
  if (model->n_skipped == 0 && model->n_defaults == 0 &&
      CHECK_OK(gbt_model_write(&ctx->mem, &model->parts, &again, &n_again, test_err)))
    CHECK(n_again == n_bytes && memcmp(again, bytes, n_bytes) == 0);
  free(out);
  gbt_mem_free(&ctx->mem, again);
  gbt_binding_free(binding);
  gbt_model_close(model);
  return 1;
}

static void crafted_models_are_refused_or_work(void) {
  enum { MOST = 1 << 16 };
  made *data;
  train_job job = sloped_job(&data, 21);
  job.max_bin = 8;
  job.rounds = 2;
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  trained *t = train(&job, &how);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_cuts *cuts = NULL;
  uint8_t *bytes = NULL, *some = test_alloc(MOST);
  size_t n_bytes = 0;
  test_rng rng = {23};
  int n_good = 0, n_bad = 0;
  if (t != NULL && CHECK_OK(gbt_cuts_build(&ctx, &data->table, NULL, job.max_bin, &cuts, test_err))) {
    const gbt_forest_view view = gbt_forest_view_of(t->forest);
    const gbt_model_spec spec = {
        .forest = &view, .trees = {0, 2}, .objective = job.spec.objective, .schema = cuts->schema};
    CHECK_OK(gbt_model_make(&ctx.mem, &spec, &bytes, &n_bytes, test_err));
    CHECK(view.linear.n_leaves > 2 && n_bytes < MOST / 2);
  }
  for (uint64_t i = 0; bytes != NULL && i < test_cases(8000); i++) {
    memcpy(some, bytes, n_bytes);
    const size_t n = mutate_model(&rng, some, n_bytes, MOST);
    if (use_model(&ctx, data, some, n)) n_good++;
    else n_bad++;
  }
  CHECK_SEEN(n_good > 100 && n_bad > 100);
  free(some);
  gbt_mem_free(&ctx.mem, bytes);
  gbt_cuts_unref(cuts);
  gbt_ctx_close(&ctx);
  trained_free(t);
  made_free(data);
}

void suite_linear(void) {
  RUN(wide_sums_have_no_order);
  RUN(a_leaf_by_hand);
  RUN(slopes_are_those_of_a_dense_solution);
  RUN(slopes_are_shrunk_by_what_chance_gives);
  RUN(features_that_say_nothing_new_are_dropped);
  RUN(slopes_of_noise_are_dropped);
  RUN(positions_are_middles_of_bins);
  RUN(circumstances_do_not_show);
  RUN(leaves_are_those_of_a_dense_solution);
  RUN(without_numbers_leaves_are_constant);
  RUN(models_keep_linear_leaves);
  RUN(crafted_models_are_refused_or_work);
}
