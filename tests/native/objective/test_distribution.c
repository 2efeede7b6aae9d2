/* Distributions: their formulas against numeric derivatives, sums and integrals of densities that are written here once
 * more, base scores and answers. */
#include <math.h>

#include "../../src/gbt/base/exact_sum.h"
#include "../../src/gbt/boost/metric.h"
#include "../../src/gbt/joint/joint.h"
#include "../../src/gbt/objective/base_score.h"
#include "../../src/gbt/objective/distribution.h"
#include "../../src/gbt/objective/distribution_answers.h"
#include "fault.h"
#include "made.h"
#include "test.h"

typedef long double real;

/* ---- the books: minus the logarithm of density or probability ---- */

static real book_normal(real a, real b, real y, const double *param) {
  const real z = (y - a) / expl(b);
  (void)param;
  return b + z * z / 2 + logl(2 * acosl(-1.0L)) / 2;
}

static real book_student(real a, real b, real y, const double *param) {
  const real df = param[0], z = (y - a) / expl(b);
  return b + (df + 1) / 2 * log1pl(z * z / df) + logl(df * acosl(-1.0L)) / 2 + lgammal(df / 2) - lgammal((df + 1) / 2);
}

static real book_gamma(real a, real b, real y, const double *param) {
  const real k = expl(b);
  (void)param;
  return lgammal(k) - k * b + k * a - (k - 1) * logl(y) + k * y / expl(a);
}

static real book_negative_binomial(real a, real b, real y, const double *param) {
  const real m = expl(a), t = expl(b);
  (void)param;
  return lgammal(t) + lgammal(y + 1) - lgammal(y + t) + t * log1pl(m / t) + y * (logl(t + m) - a);
}

static real book_zip(real a, real b, real y, const double *param) {
  const real m = expl(a), p = 1 / (1 + expl(-b));
  (void)param;
  return y > 0 ? m - y * a + lgammal(y + 1) - logl(1 - p) : -logl(p + (1 - p) * expl(-m));
}

typedef struct book {
  gbt_objective_kind kind;
  real (*loss)(real a, real b, real y, const double *param);
  int counts;             /* sums in place of integrals */
  int bound;              /* hessians of the first and second score (bits) are bounds, not expectations */
  double low, high, most; /* of the scores b that are tried; of the score a */
} book;

static const book books[] = {
    {GBT_OBJ_DIST_NORMAL, book_normal, 0, 0, -3, 3, 3},
    {GBT_OBJ_DIST_STUDENT, book_student, 0, 0, -3, 3, 3},
    {GBT_OBJ_DIST_GAMMA, book_gamma, 0, 0, -2, 4, 3},
    {GBT_OBJ_DIST_NEGATIVE_BINOMIAL, book_negative_binomial, 1, 2, -1.5, 4, 3},
    {GBT_OBJ_DIST_ZIP, book_zip, 1, 3, -3, 3, 3},
};
enum { N_BOOKS = sizeof books / sizeof *books };

static int is_distribution(int kind) { return gbt_objective_info_of(kind)->response == GBT_RESPONSE_DISTRIBUTION; }

static void every_distribution_has_a_book(void) {
  int n = 0;
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++) n += is_distribution(kind);
  CHECK_EQ_I64(n, N_BOOKS);
}

typedef struct point {
  gbt_objective o;
  double a, b, y;
} point;

static double drawn_label(test_rng *rng, const gbt_objective *o, double a, double b) {
  return gbt_distribution_quantile(o, a, b, 0.001 + 0.998 * test_unit(rng));
}

static point point_draw(test_rng *rng, const book *its) {
  point p = {.o = made_objective(its->kind, 2, test_u(rng))};
  p.a = its->most * (2.0 * test_unit(rng) - 1.0);
  p.b = its->low + (its->high - its->low) * test_unit(rng);
  p.y = drawn_label(rng, &p.o, p.a, p.b);
  return p;
}

static const gbt_distribution_range everywhere = {-700.0, 700.0};

static void gradient_at(const point *p, double unit, gbt_gh gh[1][2]) {
  gbt_distribution_gradients(&p->o, everywhere, unit, &p->a, &p->b, &p->y, NULL, 1, gh);
}

/* ---- formulas ---- */

static void gradients_are_derivatives(void) {
  test_rng rng = {21};
  const real d = 1e-4L;
  for (int k = 0; k < N_BOOKS; k++)
    for (uint64_t i = 0; i < test_cases(2000); i++) {
      const book *its = &books[k];
      const point p = point_draw(&rng, its);
      const real a = p.a, b = p.b, y = p.y;
      const double *param = p.o.param;
      gbt_gh gh[1][2];
      double loss;
      gradient_at(&p, 1.0, gh);
      gbt_distribution_nloglik(&p.o, &p.a, &p.b, &p.y, 1, &loss);
      const real by_a = (its->loss(a + d, b, y, param) - its->loss(a - d, b, y, param)) / (2 * d);
      const real by_b = (its->loss(a, b + d, y, param) - its->loss(a, b - d, y, param)) / (2 * d);
      int ok = CHECK_NEAR(loss, (double)its->loss(a, b, y, param), 1e-11 * (1.0 + fabs(loss)));
      ok &= CHECK_NEAR(gh[0][0].g, (double)by_a, 1e-6 * (1.0 + fabs(gh[0][0].g)));
      ok &= CHECK_NEAR(gh[0][1].g, (double)by_b, 1e-6 * (1.0 + fabs(gh[0][1].g)));
      ok &= CHECK(gh[0][0].h > 0.0 && gh[0][1].h > 0.0);
      if (!ok) {
        test_note("%s at %g %g, y %g", gbt_objective_info_of(its->kind)->name, p.a, p.b, p.y);
        return;
      }
    }
}

/* Integrals go over both sides of a middle by y = middle +- spread u / (1 - u), those of amounts over their logarithm;
 * both by the rule of midpoints. */
typedef struct places {
  real y, width;
} places;

enum { STEPS = 20000 };

/* from, to: of the logarithm of amounts; else the middle and the spread. */
typedef struct ends {
  int amounts;
  real from, to;
} ends;

static ends ends_of(const point *p) {
  const double at = gbt_distribution_quantile(&p->o, p->a, p->b, 0.5);
  if (gbt_objective_info_of(p->o.kind)->labels != GBT_LABELS_POSITIVE)
    return (ends){0, at, (real)gbt_distribution_quantile(&p->o, p->a, p->b, 0.75) - at};
  return (ends){1, logl(gbt_distribution_quantile(&p->o, p->a, p->b, 1e-14)),
                logl(gbt_distribution_quantile(&p->o, p->a, p->b, 1.0 - 1e-14))};
}

static places place_of(const ends *its, int step) {
  if (its->amounts) {
    const real y = expl(its->from + (its->to - its->from) * (step + 0.5L) / STEPS);
    return (places){y, y * (its->to - its->from) / STEPS};
  }
  const real u = ((step / 2) + 0.5L) / (STEPS / 2), far = its->to * u / (1 - u);
  return (places){step % 2 ? its->from + far : its->from - far, its->to / ((1 - u) * (1 - u)) / (STEPS / 2)};
}

/* The mean of f over the distribution. */
static real expected(const point *p, const book *its, real (*f)(const point *p, const book *its, real y)) {
  real sum = 0;
  if (its->counts) {
    const real last = gbt_distribution_quantile(&p->o, p->a, p->b, 1.0 - 1e-13) + 1;
    for (real y = 0; y <= last; y++) sum += expl(-its->loss(p->a, p->b, y, p->o.param)) * f(p, its, y);
    return sum;
  }
  const ends both = ends_of(p);
  for (int i = 0; i < STEPS; i++) {
    const places at = place_of(&both, i);
    sum += at.width * expl(-its->loss(p->a, p->b, at.y, p->o.param)) * f(p, its, at.y);
  }
  return sum;
}

static real squared_by_a(const point *p, const book *its, real y) {
  const real d = 1e-4L;
  const real g = (its->loss(p->a + d, p->b, y, p->o.param) - its->loss(p->a - d, p->b, y, p->o.param)) / (2 * d);
  return g * g;
}

static real squared_by_b(const point *p, const book *its, real y) {
  const real d = 1e-4L;
  const real g = (its->loss(p->a, p->b + d, y, p->o.param) - its->loss(p->a, p->b - d, y, p->o.param)) / (2 * d);
  return g * g;
}

static real one(const point *p, const book *its, real y) {
  (void)p;
  (void)its;
  (void)y;
  return 1;
}

static real itself(const point *p, const book *its, real y) {
  (void)p;
  (void)its;
  return y;
}

static real hessian_of_a(const point *p, const book *its, real y) {
  point other = *p;
  gbt_gh gh[1][2];
  (void)its;
  other.y = (double)y;
  gradient_at(&other, 1.0, gh);
  return gh[0][0].h;
}

/* Hessians are means of squared gradients, the Fisher information, or bounds of them. */
static void hessians_are_the_information(void) {
  test_rng rng = {22};
  for (int k = 0; k < N_BOOKS; k++)
    for (uint64_t i = 0; i < test_cases(30); i++) {
      const book *its = &books[k];
      const point p = point_draw(&rng, its);
      gbt_gh gh[1][2];
      double mean;
      gradient_at(&p, 1.0, gh);
      gbt_distribution_means(&p.o, &p.a, &p.b, 1, &mean);
      const double by_a = (double)expected(&p, its, squared_by_a), by_b = (double)expected(&p, its, squared_by_b);
      const double first = (double)expected(&p, its, itself);
      int ok = CHECK_NEAR((double)expected(&p, its, one), 1.0, 1e-6);
      const double h = (double)expected(&p, its, hessian_of_a);
      ok &= its->bound & 1 ? CHECK(h >= by_a * (1 - 1e-6)) : CHECK_NEAR(h, by_a, 1e-4 * by_a);
      ok &= its->bound & 2 ? CHECK(gh[0][1].h >= by_b * (1 - 1e-4)) : CHECK_NEAR(gh[0][1].h, by_b, 1e-4 * by_b);
      if (its->kind == GBT_OBJ_DIST_NEGATIVE_BINOMIAL) ok &= CHECK(gh[0][1].h <= by_b * 1.1);
      if (its->kind != GBT_OBJ_DIST_STUDENT) ok &= CHECK_NEAR(mean, first, 1e-5 * (1.0 + fabs(first)));
      if (!ok) {
        test_note("%s at %g %g", gbt_objective_info_of(its->kind)->name, p.a, p.b);
        return;
      }
    }
}

/* A unit multiplies g and h of a location, so that steps stay the same, and nothing else. */
static void units_keep_steps(void) {
  test_rng rng = {23};
  for (int k = 0; k < N_BOOKS; k++)
    for (int i = 0; i < 200; i++) {
      const point p = point_draw(&rng, &books[k]);
      gbt_gh plain[1][2], other[1][2];
      gradient_at(&p, 1.0, plain);
      gradient_at(&p, 0.125, other);
      const double factor = gbt_objective_info_of(books[k].kind)->labels == GBT_LABELS_NUMBER ? 0.015625 : 1.0;
      CHECK_EQ_BITS(other[0][0].g, factor * plain[0][0].g);
      CHECK_EQ_BITS(other[0][0].h, factor * plain[0][0].h);
      CHECK_EQ_BITS(other[0][1].g, plain[0][1].g);
      CHECK_EQ_BITS(other[0][1].h, plain[0][1].h);
    }
}

/* Beyond the range gradients outwards are 0, and those inwards are those at its end. */
static void scales_have_a_range(void) {
  const gbt_objective o = gbt_objective_make(GBT_OBJ_DIST_NORMAL, 2);
  const double base[2] = {0.0, 1.0}, a[3] = {0.0, 0.0, 0.0}, b[3] = {-8.0, -7.0, 3.0}, y[3] = {0.0, 0.0, 0.0};
  const double offset[3] = {0.0, 0.0, 11.0}, far[1] = {1.0};
  gbt_gh gh[3][2];
  const gbt_distribution_range range = gbt_distribution_range_of(&o, base);
  CHECK_EQ_BITS(range.low, -7.0);
  gbt_distribution_gradients(&o, range, 1.0, a, b, y, offset, 3, gh);
  CHECK_EQ_BITS(gh[0][1].g, 0.0);
  CHECK_EQ_BITS(gh[1][1].g, 0.0);
  CHECK_EQ_BITS(gh[2][1].g, 0.0); /* 4 is the least score of this row */
  gbt_distribution_gradients(&o, range, 1.0, a, b, far, NULL, 1, gh);
  CHECK_NEAR(gh[0][1].g, 1.0 - exp(14.0), 1e-6);
  CHECK_EQ_BITS(gbt_distribution_unit(&o, base), 2.0); /* e is nearer to 2 than to 4 by its logarithm */
}

/* The numbers of the specification. */
static void known_numbers(void) {
  static const struct {
    gbt_objective_kind kind;
    double a, b, y, g[2], h[2], loss;
  } known[] = {
      {GBT_OBJ_DIST_NORMAL, .5, .2, 1.3, {-.536256036829, .570995170537}, {.670320046036, 2}, 1.333440947936},
      {GBT_OBJ_DIST_STUDENT, .5, .2, 1.3, {-.605391117731, .515687105816}, {.478800032883, 1.142857142857},
       1.435530638609},
      {GBT_OBJ_DIST_GAMMA, .3, .4, 2, {-.718517138510, -.421725238629}, {1.491824697641, .603800881997},
       1.599203224439},
      {GBT_OBJ_DIST_NEGATIVE_BINOMIAL, .5, .2, 3, {-.575046775127, -.310427823237}, {.701625674438, .122762701295},
       2.330381281421},
      {GBT_OBJ_DIST_ZIP, .4, -.3, 0, {.347494827702, -.341509767909}, {.347494827702, .244458311691}, .589174443711},
      {GBT_OBJ_DIST_ZIP, .4, -.3, 2, {-.508175302359, .425557483188}, {1.491824697641, .244458311691}, 1.939327122670},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const gbt_objective o = gbt_objective_make(known[i].kind, 2);
    gbt_gh gh[1][2];
    double loss;
    gbt_distribution_gradients(&o, everywhere, 1.0, &known[i].a, &known[i].b, &known[i].y, NULL, 1, gh);
    gbt_distribution_nloglik(&o, &known[i].a, &known[i].b, &known[i].y, 1, &loss);
    for (int k = 0; k < 2; k++) {
      CHECK_NEAR(gh[0][k].g, known[i].g[k], 6e-13);
      CHECK_NEAR(gh[0][k].h, known[i].h[k], 6e-13);
    }
    CHECK_NEAR(loss, known[i].loss, 6e-13);
  }
  const gbt_objective o = gbt_objective_make(GBT_OBJ_DIST_NORMAL, 2);
  const double a = 0.5, b = 0.2, y = 1.3;
  double crps;
  gbt_distribution_crps(&o, &a, &b, &y, 1, &crps);
  CHECK_NEAR(crps, .487311961796, 6e-13);
}

/* ---- chances ---- */

static real span_of(const point *p) {
  return gbt_distribution_quantile(&p->o, p->a, p->b, 0.9) - gbt_distribution_quantile(&p->o, p->a, p->b, 0.1);
}

/* Chances are sums or integrals of the density; quantiles turn them round; the CRPS is its integral. */
static void chances_are_sums_of_densities(void) {
  test_rng rng = {24};
  for (int k = 0; k < N_BOOKS; k++)
    for (uint64_t i = 0; i < test_cases(60); i++) {
      const book *its = &books[k];
      const point p = point_draw(&rng, its);
      const real high = gbt_distribution_quantile(&p.o, p.a, p.b, 1.0 - 1e-14);
      real sum = 0, crps = 0;
      double got;
      if (its->counts) {
        const real last = (high > p.y ? high : (real)p.y) + 1;
        for (real y = 0; y <= last; y++) {
          sum += expl(-its->loss(p.a, p.b, y, p.o.param));
          const real off = sum - (p.y <= (double)y);
          crps += off * off;
          if (p.y == (double)y) CHECK_NEAR(gbt_distribution_below(&p.o, p.a, p.b, p.y), (double)sum, 1e-11);
        }
      } else {
        const real spread = span_of(&p);
        const int amounts = gbt_objective_info_of(its->kind)->labels == GBT_LABELS_POSITIVE;
        for (int t = 0; t < 2 * STEPS; t++) {
          const int above = t >= STEPS; /* of y */
          const real u = ((t % STEPS) + 0.5L) / STEPS, far = spread * u / (1 - u);
          const real y = above ? p.y + far : amounts ? p.y * u : p.y - far;
          const real width = !above && amounts ? (real)p.y : spread / ((1 - u) * (1 - u));
          const real off = gbt_distribution_below(&p.o, p.a, p.b, (double)y) - above;
          crps += off * off * width / STEPS;
        }
        const real d = (amounts ? (real)p.y : spread) * 1e-5L;
        const real up = gbt_distribution_below(&p.o, p.a, p.b, (double)(p.y + d));
        const real down = gbt_distribution_below(&p.o, p.a, p.b, (double)(p.y - d));
        const double density = (double)expl(-its->loss(p.a, p.b, p.y, p.o.param));
        CHECK_NEAR((double)((up - down) / (2 * d)), density, 1e-3 * density);
      }
      gbt_distribution_crps(&p.o, &p.a, &p.b, &p.y, 1, &got);
      if (!CHECK_NEAR(got, (double)crps, 2e-4 * (1e-6 + (double)crps))) {
        test_note("%s at %g %g, y %g", gbt_objective_info_of(its->kind)->name, p.a, p.b, p.y);
        return;
      }
    }
}

static void quantiles_turn_chances_round(void) {
  static const double chances[] = {1e-12, 1e-5, 0.01, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9, 0.99, 0.99999, 1.0 - 1e-12};
  test_rng rng = {25};
  for (int k = 0; k < N_BOOKS; k++)
    for (uint64_t i = 0; i < test_cases(100); i++) {
      const point p = point_draw(&rng, &books[k]);
      double before = -INFINITY;
      for (size_t c = 0; c < sizeof chances / sizeof *chances; c++) {
        const double q = gbt_distribution_quantile(&p.o, p.a, p.b, chances[c]);
        const double at = gbt_distribution_below(&p.o, p.a, p.b, q);
        int ok = CHECK(q >= before);
        if (books[k].counts) {
          ok &= CHECK(q == floor(q) && q >= 0.0 && at >= chances[c] * (1 - 1e-12));
          if (q > 0.0) ok &= CHECK(gbt_distribution_below(&p.o, p.a, p.b, q - 1.0) < chances[c] * (1 + 1e-12));
        } else {
          ok &= CHECK_NEAR(at, chances[c], 1e-11 * chances[c] + 1e-13);
        }
        if (!ok) {
          test_note("%s at %g %g, chance %g", gbt_objective_info_of(books[k].kind)->name, p.a, p.b, chances[c]);
          return;
        }
        before = q;
      }
    }
}

/* Draws are quantiles of chances that are even; other seeds give others; threads do not show. */
static void draws_are_even(void) {
  enum { N = 20000 };
  double *score = test_alloc(2 * N * sizeof *score), *draw = test_alloc(2 * N * sizeof *draw);
  double *again = test_alloc(2 * N * sizeof *again), *below = test_alloc(N * sizeof *below);
  for (int i = 0; i < N; i++) score[i] = 0.25, score[N + i] = 0.5;
  const gbt_objective o = gbt_objective_make(GBT_OBJ_DIST_NORMAL, 2);
  gbt_ctx one_thread = test_ctx(NULL, 1), ctx = test_ctx(NULL, 3);
  CHECK_OK(gbt_distribution_answers(&one_thread, &o, GBT_ASK_DRAW, N, score, 2, NULL, 7, draw, test_err));
  CHECK_OK(gbt_distribution_answers(&ctx, &o, GBT_ASK_DRAW, N, score, 2, NULL, 7, again, test_err));
  CHECK_EQ_BYTES(draw, again, 2 * N * sizeof *draw);
  CHECK_OK(gbt_distribution_answers(&ctx, &o, GBT_ASK_BELOW, N, score, 1, draw, 0, below, test_err));
  int64_t count[10] = {0}, equal = 0;
  for (int i = 0; i < N; i++) {
    count[(int)(below[i] * 10.0)]++;
    equal += draw[i] == draw[N + i];
  }
  for (int k = 0; k < 10; k++) CHECK(count[k] > N / 10 - 200 && count[k] < N / 10 + 200); /* over four deviations */
  CHECK_EQ_I64(equal, 0);
  CHECK_OK(gbt_distribution_answers(&ctx, &o, GBT_ASK_DRAW, N, score, 1, NULL, 8, again, test_err));
  equal = 0;
  for (int i = 0; i < N; i++) equal += draw[i] == again[i];
  CHECK_EQ_I64(equal, 0);
  gbt_ctx_close(&one_thread);
  gbt_ctx_close(&ctx);
  free(score), free(draw), free(again), free(below);
}

/* ---- rows ---- */

typedef struct rows_case {
  gbt_objective o;
  gbt_rows rows;
  double *label, *weight, *offset, *score;
} rows_case;

static rows_case rows_draw(test_rng *rng, const book *its, int64_t n, int weighted, int moved) {
  rows_case c = {.o = made_objective(its->kind, 2, test_u(rng))};
  const size_t cells = (size_t)n;
  c.label = test_alloc(cells * sizeof *c.label);
  c.weight = test_alloc(cells * sizeof *c.weight);
  c.offset = test_alloc(2 * cells * sizeof *c.offset);
  c.score = test_alloc(2 * cells * sizeof *c.score);
  for (int64_t i = 0; i < n; i++) {
    c.offset[i] = moved ? 0.3 * test_bell(rng) : 0.0;
    c.offset[n + i] = moved ? 0.2 * test_bell(rng) : 0.0;
    c.label[i] = drawn_label(rng, &c.o, 0.6 + c.offset[i], 0.3 + c.offset[n + i]);
    c.weight[i] = i > 0 && test_below(rng, 9) == 0 ? 0.0 : 0.25 + test_unit(rng);
    c.score[i] = 0.4 + 0.5 * test_bell(rng);
    c.score[n + i] = 0.2 + 0.4 * test_bell(rng);
  }
  c.rows = test_rows(n, c.label, weighted ? c.weight : NULL, moved ? c.offset : NULL);
  return c;
}

static void rows_free(rows_case *c) { free(c->label), free(c->weight), free(c->offset), free(c->score); }

static double likelihood(const rows_case *c, const book *its, const double *score) {
  real sum = 0;
  for (int64_t i = 0; i < c->rows.n; i++)
    sum += gbt_weight_of(&c->rows, i) * its->loss(score[0] + c->offset[i], score[1] + c->offset[c->rows.n + i],
                                                  c->label[i], c->o.param);
  return (double)sum;
}

static void base_scores_are_maxima(void) {
  test_rng rng = {26};
  for (int k = 0; k < N_BOOKS; k++)
    for (int i = 0; i < 12; i++) {
      rows_case c = rows_draw(&rng, &books[k], 400, i & 1, i & 2);
      gbt_ctx ctx = test_ctx(NULL, 1 + i % 3);
      double base[2] = {NAN, NAN};
      CHECK_OK(gbt_base_scores(&ctx, &c.o, &c.rows, base, test_err));
      const double at = likelihood(&c, &books[k], base);
      int ok = 1;
      for (int side = 0; side < 8; side++) {
        const double d = 1e-3, moves[8][2] = {{d, 0}, {-d, 0}, {0, d}, {0, -d}, {d, d}, {-d, d}, {d, -d}, {-d, -d}};
        const double other[2] = {base[0] + moves[side][0], base[1] + moves[side][1]};
        ok &= CHECK(at <= likelihood(&c, &books[k], other) + 1e-9);
      }
      if (!ok) test_note("%s: %g %g", gbt_objective_info_of(books[k].kind)->name, base[0], base[1]);
      rows_free(&c);
      gbt_ctx_close(&ctx);
    }
}

/* Labels that are all alike, or of wild sizes, have base scores that are numbers. */
static void odd_labels_have_base_scores(void) {
  static const double sizes[] = {1e-290, 1e-9, 1.0, 1e9, 1e140};
  const gbt_objective o = gbt_objective_make(GBT_OBJ_DIST_NORMAL, 2);
  gbt_ctx ctx = test_ctx(NULL, 1);
  for (int i = 0; i < 5; i++) {
    const double label[3] = {sizes[i], 2 * sizes[i], 4 * sizes[i]}, alike[3] = {sizes[i], sizes[i], sizes[i]};
    const gbt_rows rows = test_rows(3, label, NULL, NULL), same = test_rows(3, alike, NULL, NULL);
    double base[2];
    CHECK_OK(gbt_base_scores(&ctx, &o, &rows, base, test_err));
    CHECK_NEAR(base[0] / sizes[i], 7.0 / 3.0, 1e-12);
    if (sizes[i] > 1e-100) CHECK_NEAR(exp(base[1]) / sizes[i], sqrt(14.0) / 3.0, 1e-8);
    CHECK_OK(gbt_base_scores(&ctx, &o, &same, base, test_err));
    CHECK_EQ_BITS(base[0], sizes[i]);
    CHECK(base[1] < log(sizes[i]) - 20.0 || sizes[i] < 1e-200);
  }
  const double zeros[2] = {0.0, 0.0}, far[2] = {-1e200, 1e200};
  const gbt_rows none = test_rows(2, zeros, NULL, NULL), wild = test_rows(2, far, NULL, NULL);
  double base[2];
  CHECK_OK(gbt_base_scores(&ctx, &o, &none, base, test_err));
  CHECK(base[0] == 0.0 && base[1] < -10.0);
  CHECK_FAILS(gbt_base_scores(&ctx, &o, &wild, base, test_err), GBT_E_DATA, "needs their squares");
  gbt_ctx_close(&ctx);
}

static double metric_of(const rows_case *c, gbt_metric metric, int threads) {
  gbt_ctx ctx = test_ctx(NULL, threads);
  double out = NAN;
  CHECK_OK(gbt_metric_eval(&ctx, &metric, &c->o, &c->rows, NULL, c->score, &out, test_err));
  gbt_ctx_close(&ctx);
  return out;
}

static void metrics_are_means(void) {
  test_rng rng = {27};
  for (int k = 0; k < N_BOOKS; k++)
    for (int64_t n = 1; n < 3000; n = 3 * n + 7) {
      rows_case c = rows_draw(&rng, &books[k], n, n % 2 == 0, 0);
      real loss = 0, crps = 0, within = 0, squares = 0, sizes = 0, weights = 0;
      for (int64_t i = 0; i < n; i++) {
        const real w = gbt_weight_of(&c.rows, i);
        const double *a = &c.score[i], *b = &c.score[n + i], *y = &c.label[i];
        double one_crps, mean;
        gbt_distribution_crps(&c.o, a, b, y, 1, &one_crps);
        gbt_distribution_means(&c.o, a, b, 1, &mean);
        loss += w * books[k].loss(*a, *b, *y, c.o.param);
        crps += w * one_crps;
        within += w * (*y >= gbt_distribution_quantile(&c.o, *a, *b, 0.1) &&
                       *y <= gbt_distribution_quantile(&c.o, *a, *b, 0.9));
        squares += w * (mean - *y) * (mean - *y);
        sizes += w * fabs(mean - *y);
        weights += w;
      }
      for (int threads = 1; threads <= 3; threads += 2) {
        const gbt_metric coverage = {.kind = GBT_METRIC_INTERVAL_COVERAGE, .param = 0.8};
        CHECK_NEAR(metric_of(&c, gbt_metric_usual(&c.o), threads), (double)(loss / weights), 1e-9);
        CHECK_NEAR(metric_of(&c, gbt_metric_plain(GBT_METRIC_CRPS), threads), (double)(crps / weights), 1e-9);
        CHECK_NEAR(metric_of(&c, coverage, threads), (double)(within / weights), 1e-9);
        CHECK_NEAR(metric_of(&c, gbt_metric_plain(GBT_METRIC_RMSE), threads), (double)sqrtl(squares / weights), 1e-9);
        CHECK_NEAR(metric_of(&c, gbt_metric_plain(GBT_METRIC_MAE), threads), (double)(sizes / weights), 1e-9);
      }
      rows_free(&c);
    }
}

/* ---- faults ---- */

static gbt_status base_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const rows_case *c = arg;
  gbt_ctx ctx;
  double base[2];
  gbt_joint *joint = NULL;
  const double *g, *h;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = gbt_base_scores(&ctx, &c->o, &c->rows, base, err);
  if (status == GBT_OK) status = gbt_joint_new(&ctx, &c->o, &c->rows, 1, &joint, err);
  if (status == GBT_OK) status = gbt_joint_gradients(&ctx, joint, 0, c->score, &g, &h, err);
  gbt_joint_free(joint);
  gbt_ctx_close(&ctx);
  return status;
}

static void failures_are_clean(void) {
  test_rng rng = {28};
  rows_case c = rows_draw(&rng, &books[0], 30, 1, 1);
  CHECK(fault_sweep(base_op, &c) > 3);
  rows_free(&c);
}

void suite_distribution(void) {
  RUN(every_distribution_has_a_book);
  RUN(gradients_are_derivatives);
  RUN(hessians_are_the_information);
  RUN(units_keep_steps);
  RUN(scales_have_a_range);
  RUN(known_numbers);
  RUN(chances_are_sums_of_densities);
  RUN(quantiles_turn_chances_round);
  RUN(draws_are_even);
  RUN(base_scores_are_maxima);
  RUN(odd_labels_have_base_scores);
  RUN(metrics_are_means);
  RUN(failures_are_clean);
}
