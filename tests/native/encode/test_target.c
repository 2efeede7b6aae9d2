/* Labels as whole numbers: by every rule, against quantiles and means that are counted one by one. */
#include <float.h>

#include "../../src/gbt/encode/target.h"
#include "../../src/gbt/math/elementary.h"
#include "clock.h"
#include "fault.h"
#include "sweep.h"

enum { ONE_Y = GBTI_N_VALUES - 1 };

typedef struct labels {
  gbt_rows rows;
  double *x[GBT_N_FIELDS];
} labels;

typedef double (*draw_fn)(test_rng *rng);

static double coin(test_rng *rng) { return (double)test_below(rng, 2); }
static double share(test_rng *rng) { return test_unit(rng); }
static double bell(test_rng *rng) { return 100.0 * test_bell(rng) - 30.0; }
static double counts(test_rng *rng) { return test_below(rng, 4) == 0 ? (double)test_below(rng, 9) : 0.0; }
static double weights(test_rng *rng) { return test_below(rng, 9) == 0 ? 0.0 : 0.01 + 3.0 * test_unit(rng); }
static double classes(test_rng *rng) {
  const double a = (double)test_below(rng, 11), b = (double)test_below(rng, 11);
  return a < b ? a : b;
}

static void fill(labels *l, gbt_field field, draw_fn draw, uint64_t seed) {
  test_rng rng = {seed * 100 + (uint64_t)field};
  l->x[field] = test_alloc((size_t)(l->rows.n + 1) * sizeof(double));
  for (int64_t i = 0; i < l->rows.n; i++) l->x[field][i] = draw(&rng);
  if (field == GBT_WEIGHT && l->rows.n > 0) l->x[field][0] = 1.5;
  l->rows.field[field] = l->x[field];
}

static void labels_free(labels *l) {
  for (int f = 0; f < GBT_N_FIELDS; f++) free(l->x[f]);
}

/* ---- the twin ---- */

typedef struct weighed {
  double x;
  int64_t w;
} weighed;

static int ascending(const void *a, const void *b) {
  const weighed *x = a, *y = b;
  return x->x < y->x ? -1 : x->x > y->x;
}

/* The least x of those above `above` up to which they have num / den of their weight; 0 when there is none. */
static double quantile_by_twin(const weighed *all, int64_t n, double above, int64_t num, int64_t den) {
  weighed *x = test_alloc((size_t)(n + 1) * sizeof *x);
  int64_t kept = 0, sum = 0, upto = 0;
  double at = 0.0;
  for (int64_t i = 0; i < n; i++) {
    if (!(all[i].x > above) || all[i].w == 0) continue;
    x[kept++] = all[i];
    sum += all[i].w;
  }
  qsort(x, (size_t)kept, sizeof *x, ascending);
  const int64_t want = sum / den * num + (sum % den * num + den - 1) / den;
  for (int64_t i = 0; i < kept && upto < (want < 1 ? 1 : want); i++) {
    upto += x[i].w;
    at = x[i].x;
  }
  free(x);
  return at;
}

static uint32_t y_by_twin(double low, double high, double x) {
  const double unit = (high - low) / ONE_Y;
  if (x <= low || unit == 0.0) return 0;
  if (x >= high) return ONE_Y;
  return (uint32_t)((x - low) / unit + 0.5);
}

/* Weights are round(w 2^k), k the largest or one less. */
static void check_weights(const gbti_target *t, const gbti_visit *visit, const double *w, int64_t n) {
  double max = 0.0, sum = 0.0;
  int64_t bad = 0, whole = 0, positive = 0;
  for (int64_t i = 0; i < n; i++) {
    max = w[i] > max ? w[i] : max;
    sum += w[i];
    positive += w[i] > 0.0;
    whole += t->weight[i];
  }
  int k = 1000;
  while (ldexp(max, k) >= 0x1p31 || ldexp(sum, k) >= 0x1p41) k--;
  const int off = ldexp(sum, k) > 0x1p40 - 1.0 || ldexp(max, k) > 0x1p30 - 1.0;
  CHECK(off);
  for (int64_t i = 0; i < n; i++) {
    const double want = ldexp(w[visit->row[i]], k);
    bad += fabs((double)t->weight[i] - (want > 0.0 && want < 1.0 ? 1.0 : want)) > 0.5;
  }
  CHECK_EQ_I64(bad, 0);
  CHECK(whole <= (int64_t)1 << 42);
  CHECK_EQ_I64(t->one, whole / positive);
}

static void check_priors(const gbti_target *t) {
  for (int32_t p = 0; p < t->n_parts; p++) {
    int64_t sum = 0, all = 0, bad = 0;
    for (int64_t i = 0; i < t->n; i++) {
      const int64_t w = t->weight != NULL ? (int64_t)t->weight[i] : t->one;
      sum += w * t->part[p].scale * gbti_part_code(&t->part[p], t->label[i]);
      all += w;
      bad += gbti_part_code(&t->part[p], t->label[i]) > t->part[p].most;
    }
    CHECK_EQ_I64(bad, 0);
    CHECK_EQ_I64(t->part[p].prior, sum / all);
  }
}

typedef struct checked {
  gbti_visit visit;
  gbti_target target;
} checked;

static checked make_with_prior(const labels *l, const gbt_objective *objective, int borders, double prior,
                               int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  checked c;
  CHECK_OK(gbti_visit_make(&ctx, &l->rows, 5, 1, &c.visit, test_err));
  CHECK_OK(gbti_target_make(&ctx, objective, &l->rows, &c.visit, borders, prior, &c.target, test_err));
  CHECK_EQ_I64(c.target.n, l->rows.n);
  if (c.target.n > 0) check_priors(&c.target);
  gbt_ctx_close(&ctx);
  return c;
}

static checked make_checked(const labels *l, const gbt_objective *objective, int borders, int n_threads) {
  return make_with_prior(l, objective, borders, 10.0, n_threads);
}

static void checked_free(checked *c) {
  gbti_visit_free(&c->visit);
  gbti_target_free(&c->target);
}

/* ---- numbers ---- */

/* x: the numbers by row; rates are cut above only. */
static void check_numbers(const checked *c, const double *x, int rates, int borders) {
  const gbti_target *t = &c->target;
  const int64_t n = t->n;
  weighed *all = test_alloc((size_t)(n + 1) * sizeof *all);
  int64_t bad = 0;
  for (int64_t i = 0; i < n; i++)
    all[i] = (weighed){x[c->visit.row[i]], t->weight != NULL ? (int64_t)t->weight[i] : t->one};
  double low = rates ? 0.0 : quantile_by_twin(all, n, -DBL_MAX, 1, 1000);
  double high = quantile_by_twin(all, n, rates ? 0.0 : -DBL_MAX, 999, 1000);
  if (!rates && low == high) {
    low = quantile_by_twin(all, n, -DBL_MAX, 0, 1);
    high = quantile_by_twin(all, n, -DBL_MAX, 1, 1);
  }
  CHECK(t->n_parts >= 1 && t->part[0].kind == GBTI_PART_NUMBER);
  CHECK_EQ_BITS(t->part[0].low, low);
  CHECK_EQ_BITS(t->part[0].unit, (high - low) / ONE_Y);
  for (int64_t i = 0; i < n; i++) bad += t->label[i] != y_by_twin(low, high, all[i].x);
  int32_t part = 1;
  uint32_t last = ONE_Y;
  for (int32_t b = 0; b < 3 && borders; b++) {
    const uint32_t y = y_by_twin(low, high, quantile_by_twin(all, n, -DBL_MAX, b + 1, 4));
    int64_t above = 0;
    for (int64_t i = 0; i < n; i++) above += t->label[i] > y ? all[i].w : 0;
    if (above == 0 || y == last) continue;
    last = y;
    if (!CHECK(part < t->n_parts)) break;
    CHECK_EQ_I64(t->part[part].kind, GBTI_PART_ABOVE);
    CHECK_EQ_I64(t->part[part].number, b);
    for (int64_t i = 0; i < n; i++) bad += gbti_part_code(&t->part[part], t->label[i]) != (t->label[i] > y);
    part++;
  }
  CHECK_EQ_I64(t->n_parts, part);
  CHECK_EQ_I64(bad, 0);
  free(all);
}

static void numbers_by_size(int64_t n) {
  labels l = {.rows = {.n = n}};
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
  double *x = test_alloc((size_t)(n + 1) * sizeof *x);
  fill(&l, GBT_LABEL, n % 3 == 0 ? counts : bell, (uint64_t)n);
  if (n % 2) fill(&l, GBT_WEIGHT, weights, (uint64_t)n);
  if (n % 5 == 0) fill(&l, GBT_OFFSET, bell, (uint64_t)n);
  for (int64_t i = 0; i < n; i++) x[i] = l.x[GBT_LABEL][i] - gbt_offset_of(&l.rows, i);
  checked c = make_checked(&l, &objective, n % 4 != 0, 1 + (int)(n % 5));
  check_numbers(&c, x, 0, n % 4 != 0);
  if (n % 2 && n > 0) check_weights(&c.target, &c.visit, l.x[GBT_WEIGHT], n);
  CHECK((n % 2 && n > 0) == (c.target.weight != NULL));
  checked_free(&c);
  labels_free(&l);
  free(x);
}

static void rates_by_size(int64_t n) {
  labels l = {.rows = {.n = n}};
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_POISSON, 1);
  double *x = test_alloc((size_t)(n + 1) * sizeof *x), *w = test_alloc((size_t)(n + 1) * sizeof *w);
  fill(&l, GBT_LABEL, counts, (uint64_t)n);
  if (n % 2) fill(&l, GBT_WEIGHT, weights, (uint64_t)n);
  if (n % 3) fill(&l, GBT_OFFSET, share, (uint64_t)n);
  for (int64_t i = 0; i < n; i++) {
    x[i] = l.x[GBT_LABEL][i] * gbt_exp(-gbt_offset_of(&l.rows, i));
    w[i] = gbt_weight_of(&l.rows, i) * gbt_exp(gbt_offset_of(&l.rows, i));
  }
  checked c = make_checked(&l, &objective, n % 4 == 0, 1 + (int)(n % 5));
  check_numbers(&c, x, 1, n % 4 == 0);
  if (c.target.weight != NULL) check_weights(&c.target, &c.visit, w, n);
  CHECK((n > 0 && (n % 2 || n % 3)) == (c.target.weight != NULL));
  checked_free(&c);
  labels_free(&l);
  free(x);
  free(w);
}

static void sizes(void) {
  const sweep_range range = {.low = 0, .high = 600, .dense = 70};
  sweep(numbers_by_size, &range);
  sweep(rates_by_size, &range);
}

/* More rows than a task has. */
static void many_rows(void) {
  numbers_by_size(100003);
  rates_by_size(100003);
}

static void shares(void) {
  for (int binary = 0; binary < 2; binary++) {
    labels l = {.rows = {.n = 300}};
    const gbt_objective objective = gbt_objective_make(GBT_OBJ_LOGISTIC, 1);
    int64_t bad = 0;
    fill(&l, GBT_LABEL, binary ? coin : share, 1);
    fill(&l, GBT_OFFSET, bell, 1); /* says nothing of a share */
    checked c = make_checked(&l, &objective, 1, 2);
    CHECK_EQ_I64(c.target.n_parts, 1);
    CHECK_EQ_I64(c.target.part[0].most, binary ? 1 : ONE_Y);
    CHECK(c.target.weight == NULL);
    for (int i = 0; i < 300; i++) {
      const double y = l.x[GBT_LABEL][c.visit.row[i]] * ONE_Y;
      bad += fabs((double)(c.target.label[i] * c.target.part[0].scale) - y) > 0.5;
    }
    CHECK_EQ_I64(bad, 0);
    CHECK_NEAR(gbti_part_threshold(&c.target.part[0], ONE_Y - 1), 1.0, 1e-12);
    checked_free(&c);
    labels_free(&l);
  }
}

/* The classes with the most weight, the lower ones of equals. */
static void check_classes(int32_t n_classes, int weighted) {
  labels l = {.rows = {.n = 500}};
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_SOFTMAX, n_classes);
  double weight[11] = {0};
  fill(&l, GBT_LABEL, classes, 3);
  if (weighted) fill(&l, GBT_WEIGHT, weights, 3);
  for (int i = 0; i < 500; i++) {
    if (l.x[GBT_LABEL][i] >= n_classes) l.x[GBT_LABEL][i] = 0.0;
    weight[(int)l.x[GBT_LABEL][i]] += gbt_weight_of(&l.rows, i);
  }
  checked c = make_checked(&l, &objective, 0, 3);
  const int32_t n = n_classes == 2 ? 1 : n_classes < 8 ? n_classes : 8;
  CHECK_EQ_I64(c.target.n_parts, n);
  for (int32_t p = 0; p < c.target.n_parts; p++) {
    const gbti_part *part = &c.target.part[p];
    int32_t better = 0;
    CHECK(part->kind == GBTI_PART_CLASS && (p == 0 || part->number > part[-1].number));
    for (int32_t k = 0; k < n_classes; k++)
      better += weight[k] > weight[part->number] || (weight[k] == weight[part->number] && k < part->number);
    CHECK(n_classes == 2 ? part->number == 1 : better < 8);
    for (int i = 0; i < 500; i++)
      CHECK_EQ_I64(gbti_part_code(part, c.target.label[i]), l.x[GBT_LABEL][c.visit.row[i]] == part->number);
  }
  checked_free(&c);
  labels_free(&l);
}

static void by_class(void) {
  for (int32_t n_classes = 2; n_classes <= 11; n_classes++) check_classes(n_classes, n_classes % 2);
}

static void custom(void) {
  labels l = {.rows = {.n = 100}};
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_CUSTOM, 1);
  checked none = make_checked(&l, &objective, 1, 1);
  CHECK_EQ_I64(none.target.n_parts, 0);
  fill(&l, GBT_LABEL, bell, 1);
  checked some = make_checked(&l, &objective, 1, 1);
  check_numbers(&some, l.x[GBT_LABEL], 0, 1);
  checked_free(&none);
  checked_free(&some);
  labels_free(&l);
}

/* The largest and smallest doubles, and labels that are all the same. */
static void extremes(void) {
  const double label[][4] = {{-DBL_MAX, DBL_MAX, 0.0, 1.0}, {5e-324, 0.0, 5e-324, 0.0}, {3.5, 3.5, 3.5, 3.5}};
  const double weight[][4] = {{DBL_MAX, DBL_MAX, DBL_MAX, 1.0}, {5e-324, 0, 0, 5e-324}, {1e-300, 1e300, 1.0, 0.0}};
  const double offset[4] = {-1e9, 1e9, 0.0, 700.0};
  const gbt_objective_kind kind[] = {GBT_OBJ_SQUARED_ERROR, GBT_OBJ_GAMMA, GBT_OBJ_MAPE};
  for (int k = 0; k < 27; k++) {
    labels l = {.rows = {.n = 4}};
    const gbt_objective objective = gbt_objective_make(kind[k % 3], 1);
    int64_t whole = 0;
    l.rows.field[GBT_LABEL] = label[k / 3 % 3];
    l.rows.field[GBT_WEIGHT] = weight[k / 9];
    l.rows.field[GBT_OFFSET] = k % 2 ? offset : NULL;
    checked c = make_checked(&l, &objective, 1, 1);
    CHECK(c.target.one >= 1 && c.target.part[0].unit <= DBL_MAX && c.target.part[0].unit >= 0.0);
    for (int i = 0; i < 4; i++) {
      CHECK(c.target.label[i] < GBTI_N_VALUES);
      /* a rate's weight is a product, which may be too small for a double */
      CHECK(kind[k % 3] == GBT_OBJ_GAMMA || weight[k / 9][c.visit.row[i]] == 0.0 || c.target.weight[i] >= 1);
      whole += c.target.weight[i];
    }
    CHECK(whole <= (int64_t)1 << 42);
    const int64_t one = c.target.one, most = (int64_t)1 << 42;
    CHECK_EQ_I64(gbti_prior_weight(&c.target, 1e300), one < 256 ? most / 256 * one : most);
    CHECK_EQ_I64(gbti_prior_weight(&c.target, 0.0), one < 256 ? 1 : one / 256);
    checked_free(&c);
  }
}

/* A prior has the weight of as many rows of mean weight, and weights that are all the same change nothing. */
static void heavy_priors(void) {
  enum { ROWS = 300 };
  const double prior[] = {0.0,    1e-3,   0.5,    1.0,    10.0,   1023.0,  1024.0,
                          2047.0, 2048.0, 2049.0, 4095.0, 4096.0, 65535.0, 1e6};
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
  static double label[ROWS], weight[ROWS];
  for (int i = 0; i < ROWS; i++) label[i] = (double)(i * 37 % 101);
  for (int way = 0; way < 5; way++) {
    for (int i = 0; i < ROWS; i++)
      weight[i] = way == 0 ? 1.0 : way == 1 ? 0.3 : way == 2 ? 1e300 : way == 3 ? exp(i % 20 - 10.0) : i % 3 == 0;
    for (size_t k = 0; k < sizeof prior / sizeof *prior; k++) {
      labels l = {.rows = {.n = ROWS}};
      l.rows.field[GBT_LABEL] = label;
      checked none = make_with_prior(&l, &objective, 0, prior[k], 2);
      l.rows.field[GBT_WEIGHT] = weight;
      checked some = make_with_prior(&l, &objective, 0, prior[k], 2);
      const int64_t a = gbti_prior_weight(&some.target, prior[k]), one = some.target.one;
      CHECK(a < (int64_t)1 << 42 && one >= (int64_t)1 << 20);
      const double rows = prior[k] < 1.0 / 256 ? 1.0 / 256 : prior[k];
      CHECK(fabs((double)a - rows * (double)one) <= 1.0);
      int64_t bad = 0, s = 0, n = 0, s_none = 0;
      for (int64_t i = 0; i < ROWS && way < 3; i++) { /* the means of the first rows, as a key's */
        s += (int64_t)some.target.weight[i] * some.target.label[i];
        n += some.target.weight[i];
        s_none += none.target.one * none.target.label[i];
        const int64_t b = gbti_prior_weight(&none.target, prior[k]);
        const double with = (double)(s + a * some.target.part[0].prior) / (double)(n + a);
        const double without =
            (double)(s_none + b * none.target.part[0].prior) / (double)((i + 1) * none.target.one + b);
        bad += fabs(with - without) > 0.5;
      }
      CHECK_EQ_I64(bad, 0);
      checked_free(&none);
      checked_free(&some);
    }
  }
}

/* ---- memory that runs out, and being asked to stop ---- */

static gbt_status make_all(gbt_ctx *ctx, const labels *l, gbt_error *err) {
  const gbt_objective number = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
  const gbt_objective class = gbt_objective_make(GBT_OBJ_SOFTMAX, 30);
  gbti_visit visit = {0};
  gbti_target a = {0}, b = {0};
  gbt_status status = gbti_visit_make(ctx, &l->rows, 5, 1, &visit, err);
  if (status == GBT_OK) status = gbti_target_make(ctx, &number, &l->rows, &visit, 1, 10.0, &a, err);
  if (status == GBT_OK) status = gbti_target_make(ctx, &class, &l->rows, &visit, 1, 10.0, &b, err);
  gbti_visit_free(&visit);
  gbti_target_free(&a);
  gbti_target_free(&b);
  return status;
}

static gbt_status make_with(const gbt_mem *mem, void *arg, gbt_error *err) {
  gbt_ctx ctx;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = make_all(&ctx, arg, err);
  gbt_ctx_close(&ctx);
  return status;
}

static int count_down(void *user) {
  int *left = user;
  return --*left < 0;
}

static void gives_up(void) {
  labels l = {.rows = {.n = 200}};
  gbt_status status = GBT_CANCELLED;
  fill(&l, GBT_LABEL, counts, 1);
  fill(&l, GBT_WEIGHT, weights, 1);
  fill(&l, GBT_GROUP, classes, 1);
  CHECK(fault_sweep(make_with, &l) >= 12);
  clock_jump(20000000);
  for (int asks = 0; status == GBT_CANCELLED && asks < 1000; asks++) {
    gbt_ctx ctx;
    int left = asks;
    CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, count_down, &left, test_err));
    status = make_all(&ctx, &l, NULL);
    CHECK_EQ_I64(status, left < 0 ? GBT_CANCELLED : GBT_OK);
    gbt_ctx_close(&ctx);
  }
  clock_jump(0);
  CHECK_EQ_I64(status, GBT_OK);
  labels_free(&l);
}

void suite_target(void) {
  RUN(sizes);
  RUN(many_rows);
  RUN(shares);
  RUN(by_class);
  RUN(custom);
  RUN(extremes);
  RUN(heavy_priors);
  RUN(gives_up);
}
