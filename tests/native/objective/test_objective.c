/* Objectives: formulas against their losses in long double, base scores against plain loops, the table. A new objective
 * gets a row in `losses`; everything else goes over the table. */
#include "test.h"

#include "../../src/gbt/base/exact_sum.h"
#include "../../src/gbt/objective/base_score.h"
#include "../../src/gbt/objective/formulas.h"
#include "../../src/gbt/objective/levels.h"
#include "../../src/gbt/objective/response.h"
#include "fault.h"
#include "made.h"

/* ---- losses and responses as they are written in books ---- */

static long double loss_squared(long double s, long double y, const double *p) {
  return (void)p, (s - y) * (s - y) / 2;
}
static long double loss_logistic(long double s, long double y, const double *p) {
  return (void)p, log1pl(expl(s)) - y * s;
}
static long double loss_poisson(long double s, long double y, const double *p) { return (void)p, expl(s) - y * s; }
static long double loss_gamma(long double s, long double y, const double *p) { return (void)p, y * expl(-s) + s; }
static long double loss_tweedie(long double s, long double y, const double *p) {
  return expl((2 - p[0]) * s) / (2 - p[0]) - y * expl((1 - p[0]) * s) / (1 - p[0]);
}
static long double loss_negative_binomial(long double s, long double y, const double *p) {
  return (y + 1 / p[0]) * log1pl(p[0] * expl(s)) - y * s;
}
static long double loss_huber(long double s, long double y, const double *p) {
  long double r = fabsl(s - y);
  return r <= p[0] ? r * r / 2 : p[0] * (r - p[0] / 2);
}
static long double loss_pseudo_huber(long double s, long double y, const double *p) {
  long double z = (s - y) / p[0];
  return p[0] * p[0] * (sqrtl(1 + z * z) - 1);
}
static long double loss_log_cosh(long double s, long double y, const double *p) { return (void)p, logl(coshl(s - y)); }
static long double loss_expectile(long double s, long double y, const double *p) {
  return (s < y ? p[0] : 1 - p[0]) * (s - y) * (s - y);
}

static long double loss_squared_log(long double s, long double y, const double *p) {
  return loss_squared(s, log1pl(y), p);
}

static long double loss_quantile(long double s, long double y, const double *p) {
  return s < y ? p[0] * (y - s) : (1 - p[0]) * (s - y);
}
static long double loss_absolute(long double s, long double y, const double *p) { return (void)p, fabsl(s - y); }
static long double loss_mape(long double s, long double y, const double *p) {
  return (void)p, fabsl(s - y) / fmaxl(1, fabsl(y));
}

static long double as_is(long double s) { return s; }
static long double as_share(long double s) { return 1 / (1 + expl(-s)); }

/* bound: h is that of a quadratic which touches the loss at s and lies nowhere below it; else the second derivative */
static const struct book {
  long double (*loss)(long double s, long double y, const double *param);
  long double (*response)(long double s);
  int bound;
} books[GBT_N_OBJECTIVES] = {
    [GBT_OBJ_SQUARED_ERROR] = {loss_squared, as_is, 0},
    [GBT_OBJ_LOGISTIC] = {loss_logistic, as_share, 0},
    [GBT_OBJ_POISSON] = {loss_poisson, expl, 0},
    [GBT_OBJ_GAMMA] = {loss_gamma, expl, 0},
    [GBT_OBJ_TWEEDIE] = {loss_tweedie, expl, 0},
    [GBT_OBJ_NEGATIVE_BINOMIAL] = {loss_negative_binomial, expl, 0},
    [GBT_OBJ_HUBER] = {loss_huber, as_is, 1},
    [GBT_OBJ_PSEUDO_HUBER] = {loss_pseudo_huber, as_is, 1},
    [GBT_OBJ_LOG_COSH] = {loss_log_cosh, as_is, 1},
    [GBT_OBJ_EXPECTILE] = {loss_expectile, as_is, 0},
    [GBT_OBJ_CROSS_ENTROPY] = {loss_logistic, as_share, 0},
    [GBT_OBJ_SQUARED_LOG_ERROR] = {loss_squared_log, expm1l, 0},
    [GBT_OBJ_QUANTILE] = {loss_quantile, as_is, 0},
    [GBT_OBJ_ABSOLUTE_ERROR] = {loss_absolute, as_is, 0},
    [GBT_OBJ_MAPE] = {loss_mape, as_is, 0},
};

static int by_row(int kind) { return gbt_objective_info_of(kind)->gradient == GBT_GRADIENT_ROW; }

static void gradients_are_derivatives(void) {
  test_rng rng = {11};
  const long double d = 1e-4L;
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++) {
    if (!by_row(kind)) continue;
    const struct book *book = &books[kind];
    REQUIRE(book->loss != NULL);
    for (int i = 0; i < 2000; i++) {
      gbt_objective o = made_objective((gbt_objective_kind)kind, 1, test_u(&rng));
      double s = test_bell(&rng) * 2.0, y = made_label(&o, test_bell(&rng), test_unit(&rng));
      gbt_gh got = test_gradient(&o, s, y);
      long double up = book->loss(s + d, y, o.param), mid = book->loss(s, y, o.param),
                  down = book->loss(s - d, y, o.param);
      long double kink = fabsl(fabsl((long double)s - y) - (kind == GBT_OBJ_HUBER ? o.param[0] : 0)) / d;
      if (kink < 2) continue; /* the second difference is that of both sides */
      int ok = CHECK_NEAR(got.g, (double)((up - down) / (2 * d)), 2e-6);
      const int straight = gbt_objective_info_of(kind)->leaves == GBT_LEAVES_QUANTILE; /* has no curvature */
      if (!book->bound && !straight) ok &= CHECK_NEAR(got.h, (double)((up - 2 * mid + down) / (d * d)), 2e-6);
      for (int k = 0; book->bound && k < 5; k++) {
        long double t = (long double)test_bell(&rng) * 3;
        ok &= CHECK(book->loss(s + t, y, o.param) <= mid + got.g * t + got.h * t * t / 2 + 1e-12L);
      }
      CHECK(got.h >= 0.0);
      if (!ok) return;
    }
  }
}

/* Far out, too, numbers are numbers, and h is never below 0. */
static void gradients_are_finite(void) {
  static const double scores[] = {-1e300, -800, -709, -40, -1, -1e-300, 0, 1e-300, 1, 40, 350, 700, 1e300};
  test_rng rng = {12};
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++)
    for (int i = 0; by_row(kind) && i < 200; i++)
      for (size_t j = 0; j < sizeof scores / sizeof *scores; j++) {
        gbt_objective o = made_objective((gbt_objective_kind)kind, 1, test_u(&rng));
        gbt_gh r = test_gradient(&o, scores[j], made_label(&o, test_bell(&rng), test_unit(&rng)));
        if (!CHECK(r.g == r.g && r.h >= 0.0)) test_note("%s at %g", gbt_objective_info_of(kind)->name, scores[j]);
      }
}

static void responses_are_those_of_books(void) {
  test_rng rng = {13};
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++)
    for (int i = 0; by_row(kind) && i < 500; i++) {
      gbt_objective o = made_objective((gbt_objective_kind)kind, 1, test_u(&rng));
      double s[3] = {test_bell(&rng) * 5.0, test_bell(&rng), test_bell(&rng) * 1e-8}, many[3];
      gbt_responses(&o, s, 3, many);
      for (int k = 0; k < 3; k++) {
        CHECK_EQ_BITS(many[k], gbt_response(&o, s[k]));
        CHECK_NEAR(many[k], (double)books[kind].response(s[k]), 1e-14);
      }
    }
}

/* ---- base scores ---- */

typedef struct base_case {
  gbt_objective objective;
  gbt_rows rows;
  double *label, *weight, *offset, *event;
} base_case;

static base_case base_make(test_rng *rng, int kind, int64_t n, int weighted, int moved) {
  static const double breaks[] = {0.25, 1.0, 2.0};
  const int several = kind == GBT_OBJ_SOFTMAX || kind == GBT_OBJ_HAZARD;
  const int pair = gbt_objective_info_of(kind)->outputs == GBT_OUTPUTS_TWO;
  base_case c = {.objective = made_objective((gbt_objective_kind)kind, several ? 3 : pair ? 2 : 1, test_u(rng))};
  if (kind == GBT_OBJ_HAZARD) c.objective.breaks = breaks;
  size_t cells = (size_t)(n * c.objective.n_outputs);
  c.label = test_alloc((size_t)n * sizeof *c.label);
  c.weight = test_alloc((size_t)n * sizeof *c.weight);
  c.offset = test_alloc(cells * sizeof *c.offset);
  c.event = test_alloc((size_t)n * sizeof *c.event);
  for (int64_t i = 0; i < n; i++) {
    c.label[i] = made_label(&c.objective, test_bell(rng) * 2.0, test_unit(rng));
    c.event[i] = (double)(i % 3 != 1);
    c.weight[i] = i > 0 && test_below(rng, 9) == 0 ? 0.0 : 0.25 + test_unit(rng);
  }
  if (kind == GBT_OBJ_HAZARD) c.label[0] = breaks[0]; /* an interval needs an event */
  for (size_t i = 0; i < cells; i++) c.offset[i] = test_bell(rng) * 0.5;
  c.rows = test_rows(n, c.label, weighted ? c.weight : NULL, moved ? c.offset : NULL);
  c.rows.field[GBT_EVENT] = c.event;
  return c;
}

static void base_free(base_case *c) {
  free(c->label);
  free(c->weight);
  free(c->offset);
  free(c->event);
}

/* sum of w g at the base score, over sum of w |g| */
static double slope_at(const base_case *c, double base) {
  long double sum = 0, size = 0;
  for (int64_t i = 0; i < c->rows.n; i++) {
    double w = gbt_weight_of(&c->rows, i), o = gbt_offset_of(&c->rows, i);
    double g = w * test_gradient(&c->objective, base + o, gbt_label_of(&c->rows, i)).g;
    sum += g;
    size += fabs(g);
  }
  return size > 0 ? (double)(sum / size) : 0.0;
}

/* Where the rule gives the minimiser the gradients add up to 0 there. The log odds of the mean, and the mean of a
 * negative binomial, are the minimiser without offsets alone. */
static void base_scores_are_minima(void) {
  test_rng rng = {14};
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++)
    for (int i = 0; by_row(kind) && i < 40; i++) {
      gbt_ctx ctx = test_ctx(NULL, 1 + i % 3);
      int moved = i & 1;
      if (gbt_objective_info_of(kind)->response == GBT_RESPONSE_PROBABILITY || kind == GBT_OBJ_NEGATIVE_BINOMIAL)
        moved = 0;
      base_case c = base_make(&rng, kind, 20 + test_below(&rng, 300), i & 2, moved);
      double base;
      int found = CHECK_OK(gbt_base_scores(&ctx, &c.objective, &c.rows, &base, test_err));
      int corner = gbt_objective_info_of(kind)->leaves == GBT_LEAVES_QUANTILE;
      if (corner && found) CHECK(slope_at(&c, base - 1e-9) <= 1e-12 && slope_at(&c, base + 1e-9) >= -1e-12);
      if (!corner && found && fabs(slope_at(&c, base)) > 1e-6) {
        test_note("%s: %g at %g", gbt_objective_info_of(kind)->name, slope_at(&c, base), base);
        CHECK(0);
      }
      base_free(&c);
      gbt_ctx_close(&ctx);
    }
}

/* Threads and tasks do not show; a constant label is its own base score for losses of residuals. */
static void base_scores_have_no_order(void) {
  static const int64_t sizes[] = {1, 2, 3, 65535, 65536, 65537, 131073};
  test_rng rng = {15};
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++)
    for (int i = test_few() ? kind % 3 : 0; i < 7; i += test_few() ? 3 : 1) {
      base_case c = base_make(&rng, kind, sizes[i], 1, i & 1);
      double want[3], got[3];
      for (int threads = 1; threads <= 3; threads += test_few() ? 2 : 1) {
        gbt_ctx ctx = test_ctx(NULL, threads);
        CHECK_OK(gbt_base_scores(&ctx, &c.objective, &c.rows, threads == 1 ? want : got, test_err));
        for (int32_t k = 0; threads > 1 && k < c.objective.n_outputs; k++) CHECK_EQ_BITS(got[k], want[k]);
        gbt_ctx_close(&ctx);
      }
      gbt_base_rule rule = gbt_objective_info_of(kind)->base;
      if (rule == GBT_BASE_RESIDUAL_MEAN || rule == GBT_BASE_RESIDUAL_ROOT ||
          rule == GBT_BASE_RESIDUAL_QUANTILE) {
        gbt_ctx ctx = test_ctx(NULL, 2);
        for (int64_t r = 0; r < sizes[i]; r++) c.label[r] = 0.1;
        c.rows.field[GBT_OFFSET] = NULL;
        CHECK_OK(gbt_base_scores(&ctx, &c.objective, &c.rows, got, test_err));
        CHECK_EQ_BITS(got[0], 0.1);
        gbt_ctx_close(&ctx);
      }
      base_free(&c);
    }
}

/* ---- the table ---- */

static void labels_follow_their_rules(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  static const double tries[] = {-2, -1, -0.5, 0, 0.5, 1, 1.5, 3};
  static const char *const fits[] = {
      [GBT_LABELS_NUMBER] = "11111111", [GBT_LABELS_BINARY] = "00011100",       [GBT_LABELS_SHARE] = "00011100",
      [GBT_LABELS_CLASS] = "00010101",  [GBT_LABELS_NOT_NEGATIVE] = "00011111", [GBT_LABELS_POSITIVE] = "00001111",
      [GBT_LABELS_ABOVE_MINUS_ONE] = "00111111", [GBT_LABELS_COUNT] = "00010101",
  };
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++) {
    gbt_objective o = gbt_objective_make((gbt_objective_kind)kind, kind == GBT_OBJ_SOFTMAX ? 4 : 1);
    for (int i = 0; i < 8; i++) {
      double label[2] = {1.0, tries[i]};
      gbt_status want = fits[gbt_objective_info_of(kind)->labels][i] == '1' ? GBT_OK : GBT_E_DATA;
      const gbt_rows rows = test_rows(2, label, NULL, NULL);
      CHECK_FAILS(gbt_labels_check(&ctx, &o, &rows, "train", test_err), want, want == GBT_OK ? NULL : "label of row 2");
    }
  }
  gbt_ctx_close(&ctx);
}

/* Whether a text is one of those between the bars of a list. */
static int is_listed(const char *list, const char *text) {
  size_t n = strlen(text);
  for (const char *at = list; at != NULL; at = strchr(at, '|')) {
    at += *at == '|';
    if (strncmp(at, text, n) == 0 && (at[n] == '|' || at[n] == 0)) return 1;
  }
  return 0;
}

static void names_are_of_one_objective(void) {
  for (int a = 0; a < GBT_N_OBJECTIVES; a++) {
    const gbt_objective_info *one = gbt_objective_info_of(a);
    CHECK(strlen(one->text) > 10);
    for (int b = 0; b < GBT_N_OBJECTIVES; b++) {
      const gbt_objective_info *other = gbt_objective_info_of(b);
      CHECK(a == b || strcmp(one->name, other->name) != 0);
      CHECK(!is_listed(other->aliases, one->name));
      char alias[64];
      for (const char *at = one->aliases; a != b && *at; at += strcspn(at, "|"), at += *at == '|') {
        size_t n = strcspn(at, "|");
        REQUIRE(n > 0 && n < sizeof alias);
        memcpy(alias, at, n);
        alias[n] = 0;
        CHECK(!is_listed(other->aliases, alias));
      }
    }
  }
}

static int32_t fewest_outputs(int kind) {
  const gbt_outputs_rule rule = gbt_objective_info_of(kind)->outputs;
  return rule == GBT_OUTPUTS_CLASSES || rule == GBT_OUTPUTS_TWO ? 2 : 1;
}

static void parameters_have_ranges(void) {
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++) {
    const gbt_objective_info *info = gbt_objective_info_of(kind);
    gbt_objective o = gbt_objective_make((gbt_objective_kind)kind, fewest_outputs(kind));
    CHECK_OK(gbt_objective_check(&o, test_err));
    for (int i = 0; i < GBT_OBJECTIVE_PARAMS; i++) {
      const gbt_objective_param *p = &info->param[i];
      gbt_objective bad = o;
      bad.param[i] = NAN;
      CHECK_FAILS(gbt_objective_check(&bad, test_err), GBT_E_ARG, p->name ? p->name : "parameters");
      bad.param[i] = p->name ? p->low - 1.0 : 1.0;
      CHECK_FAILS(gbt_objective_check(&bad, test_err), GBT_E_ARG, p->name ? p->name : "parameters");
      if (!p->name) continue;
      bad.param[i] = p->low;
      CHECK_FAILS(gbt_objective_check(&bad, test_err), p->open_low ? GBT_E_ARG : GBT_OK, NULL);
      bad.param[i] = p->high;
      CHECK_FAILS(gbt_objective_check(&bad, test_err), p->open_high ? GBT_E_ARG : GBT_OK, NULL);
    }
    o.n_outputs = 0;
    CHECK_FAILS(gbt_objective_check(&o, test_err), GBT_E_ARG, "0 outputs");
    o.n_outputs = fewest_outputs(kind) == 2 ? 1 : 2;
    const int fits = info->outputs != GBT_OUTPUTS_ONE && fewest_outputs(kind) == 1;
    CHECK_FAILS(gbt_objective_check(&o, test_err), fits ? GBT_OK : GBT_E_ARG, NULL);
  }
  gbt_objective unknown = {GBT_N_OBJECTIVES, 1, {0.0}, NULL, NULL};
  CHECK_FAILS(gbt_objective_check(&unknown, test_err), GBT_E_ARG, "no objective");
}

static void levels_are_checked(void) {
  static const double same[] = {0.1, 0.1, 0.9}, down[] = {0.1, 0.9, 0.5}, high[] = {0.1, 0.5, 1.0};
  static const double good[] = {0.1, 0.5, 0.9}, many[GBT_MOST_LEVELS + 1] = {0.1};
  static const double *const wrong[] = {NULL, same, down, high};
  static const char *const words[] = {"needs a number of `quantile_alpha`", "ascending order, and number 2 is 0.1",
                                      "ascending order, and number 3 is 0.5", "below 1"};
  gbt_objective o = gbt_objective_make(GBT_OBJ_QUANTILE, 3);
  o.param[0] = 0.1;
  for (int i = 0; i < 4; i++) {
    o.levels = wrong[i];
    CHECK_FAILS(gbt_levels_check(&o, test_err), GBT_E_ARG, words[i]);
  }
  o.levels = good;
  CHECK_OK(gbt_levels_check(&o, test_err));
  for (int32_t k = 0; k < 3; k++) CHECK_EQ_BITS(gbt_objective_of_output(&o, k).param[0], good[k]);
  o.param[0] = 0.5;
  CHECK_FAILS(gbt_levels_check(&o, test_err), GBT_E_ARG, "first number");
  o.levels = many, o.n_outputs = GBT_MOST_LEVELS;
  CHECK_OK(gbt_objective_check(&o, test_err));
  o.n_outputs++;
  CHECK_FAILS(gbt_objective_check(&o, test_err), GBT_E_ARG, "100 outputs");
  o = gbt_objective_make(GBT_OBJ_QUANTILE, 1); /* one level is a parameter */
  CHECK_OK(gbt_levels_check(&o, test_err));
  CHECK(!gbt_has_levels(&o));
}

/* Each level's base score is that of an objective with this level alone. */
static void base_scores_of_levels(void) {
  test_rng rng = {77};
  gbt_ctx ctx = test_ctx(NULL, 2);
  for (int64_t n = 1; n < 200; n += 33) {
    base_case c = base_make(&rng, GBT_OBJ_QUANTILE, n, n % 2 == 0, 1);
    double *offset = test_alloc((size_t)(3 * n) * sizeof *offset), got[3];
    for (int64_t i = 0; i < 3 * n; i++) offset[i] = test_bell(&rng);
    gbt_objective all = made_objective(GBT_OBJ_QUANTILE, 3, (uint64_t)n);
    c.rows.field[GBT_OFFSET] = offset;
    CHECK_OK(gbt_base_scores(&ctx, &all, &c.rows, got, test_err));
    for (int32_t k = 0; k < 3; k++) {
      gbt_objective one = gbt_objective_make(GBT_OBJ_QUANTILE, 1);
      double want;
      one.param[0] = all.levels[k];
      c.rows.field[GBT_OFFSET] = offset + k * n;
      CHECK_OK(gbt_base_scores(&ctx, &one, &c.rows, &want, test_err));
      CHECK_EQ_BITS(got[k], want);
    }
    free(offset);
    base_free(&c);
  }
  gbt_ctx_close(&ctx);
}

static void levels_are_sorted(void) {
  test_rng rng = {5};
  for (int32_t n = 1; n <= GBT_MOST_LEVELS; n += n < 9 ? 1 : 30) {
    double x[2 * GBT_MOST_LEVELS], y[GBT_MOST_LEVELS];
    for (int32_t k = 0; k < n; k++) x[2 * k] = y[k] = floor(test_bell(&rng) * 4.0), x[2 * k + 1] = 7.0;
    gbt_sort_levels(x, 2, n);
    for (int32_t k = 0; k < n; k++) {
      int32_t before = 0, place = 0;
      for (int32_t j = 0; j < n; j++) before += x[2 * j] < x[2 * k], place += y[j] < x[2 * k];
      CHECK(k == 0 || x[2 * (k - 1)] <= x[2 * k]);
      CHECK_EQ_I64(before, place);
      CHECK_EQ_BITS(x[2 * k + 1], 7.0);
    }
  }
}

void suite_objective(void) {
  RUN(gradients_are_derivatives);
  RUN(gradients_are_finite);
  RUN(responses_are_those_of_books);
  RUN(base_scores_are_minima);
  RUN(base_scores_have_no_order);
  RUN(labels_follow_their_rules);
  RUN(names_are_of_one_objective);
  RUN(parameters_have_ranges);
  RUN(levels_are_checked);
  RUN(base_scores_of_levels);
  RUN(levels_are_sorted);
}
