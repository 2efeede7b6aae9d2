/* The partial likelihoods of Cox, and of Fine and Gray: reference numbers of R's survival, a plain twin, and the same
 * bytes whatever the threads and the order of the rows. */
#include "fault.h"
#include "test.h"

#include "../../src/gbt/joint/cox.h"
#include "../../src/gbt/math/elementary.h"

enum { A_ROWS = 8 };
static const double a_time[] = {2, 3, 3, 3, 5, 6, 6, 8}, a_event[] = {1, 1, 1, 0, 1, 1, 0, 1};
static const double a_score[] = {.5, -.2, .3, 0, 1, -.7, .1, -1.2}, a_weight[] = {1, 2, 1, .5, 1, 3, 1, 1};
static const double a_entry[] = {0, 0, 1, 0, 2.5, 3, 0, 5}, a_stratum[] = {1, 1, 1, 1, 2, 2, 2, 2};

static gbt_status make(gbt_ctx *ctx, const gbt_rows *rows, int fine_gray, int breslow, gbt_cox *out, gbt_error *err) {
  return fine_gray ? gbt_fine_gray_make(ctx, rows, breslow, out, err) : gbt_cox_make(ctx, rows, 0.0, breslow, out, err);
}

/* g and h before weights, the loss. */
static int cox(gbt_ctx *ctx, const gbt_rows *rows, int fine_gray, int breslow, const double *score, double *g,
               double *h, double *loss) {
  gbt_cox cox_;
  int ok = CHECK_OK(make(ctx, rows, fine_gray, breslow, &cox_, test_err));
  ok = ok && CHECK_OK(gbt_cox_hazards(ctx, &cox_, score, test_err));
  ok = ok && CHECK_OK(gbt_cox_gradients(ctx, &cox_, score, g, h, test_err));
  ok = ok && CHECK_OK(gbt_cox_loss(ctx, &cox_, score, loss, test_err));
  gbt_cox_free(&cox_);
  return ok;
}

static gbt_rows a_rows(int weights, int entry_and_strata) {
  gbt_rows rows = {.n = A_ROWS, .field = {[GBT_LABEL] = a_time, [GBT_EVENT] = a_event}};
  if (weights) rows.field[GBT_WEIGHT] = a_weight;
  if (entry_and_strata) {
    rows.field[GBT_ENTRY] = a_entry;
    rows.field[GBT_STRATUM] = a_stratum;
  }
  return rows;
}

/* ../shared/reference/survival.md, section 9, A. */
static void gradients_have_the_reference_numbers(void) {
  static const struct {
    int breslow, weights, entry;
    double loss, g[A_ROWS];
  } all[] = {{1,
              0,
              0,
              7.624504543671,
              {-.825320364133, -.703051401944, -.510414530081, .362693836697, .574119864797, -.451478776875,
               1.220756432211, .332694939328}},
             {0,
              0,
              0,
              7.474618674647,
              {-.825320364133, -.747105082234, -.583046769827, .383451904429, .630546143106, -.441170625504,
               1.243697644984, .338947149180}},
             {0,
              1,
              0,
              14.346907693250,
              {-.846636920202, -1.416403819320, -.518906281707, .227491308674, .720933213653, -.513650633844,
               1.844490758970, .502682373777}},
             {0,
              1,
              1,
              10.105254162432,
              {-.678989890639, -.360860648352, .351241957352, .688608581639, -.488391666227, -1.176421826188,
               1.352815954042, .311997538374}}};
  gbt_ctx ctx = test_ctx(NULL, 1);
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    const gbt_rows rows = a_rows(all[k].weights, all[k].entry);
    double g[A_ROWS], h[A_ROWS], loss;
    if (!cox(&ctx, &rows, 0, all[k].breslow, a_score, g, h, &loss)) continue;
    CHECK_NEAR(loss, all[k].loss, 1e-12);
    for (int i = 0; i < A_ROWS; i++) {
      const double w = all[k].weights ? a_weight[i] : 1.0;
      CHECK_NEAR(g[i] * w, all[k].g[i], 1e-11);
      CHECK_NEAR(h[i] * w, all[k].g[i] + w * a_event[i], 1e-11);
    }
  }
  gbt_ctx_close(&ctx);
}

/* B: causes a and b are 1 and 2. */
static void fine_gray_has_the_reference_numbers(void) {
  static const double event[] = {1, 2, 1, 0, 2, 1, 0, 1};
  static const double expected[] = {-.825320364133, .480733888492,  -.683699470130, .234321195739,
                                    1.835878136043, -.789521855307, .468427725568,  -.720819256272};
  const gbt_rows rows = {.n = A_ROWS, .field = {[GBT_LABEL] = a_time, [GBT_EVENT] = event}};
  gbt_ctx ctx = test_ctx(NULL, 1);
  double g[A_ROWS], h[A_ROWS], loss;
  gbt_censor censor;
  REQUIRE(cox(&ctx, &rows, 1, 0, a_score, g, h, &loss));
  CHECK_NEAR(loss, 7.747871257339, 1e-12);
  for (int i = 0; i < A_ROWS; i++) CHECK_NEAR(g[i], expected[i], 1e-11);
  if (CHECK_OK(gbt_censor_make(&ctx, &rows, &censor, test_err))) {
    CHECK_NEAR(gbt_censor_before(&censor, 0, 3.0), 1.0, 0.0);
    CHECK_NEAR(gbt_censor_before(&censor, 0, 6.0), 0.8, 1e-15);
    CHECK_NEAR(gbt_censor_before(&censor, 0, 8.0), 0.4, 1e-15);
  }
  gbt_censor_free(&censor);
  gbt_ctx_close(&ctx);
}

static void hazards_have_the_reference_numbers(void) {
  static const double want[] = {.105948554781, .362693836697, .579086336198, 1.104586098173, 4.424703020909};
  static const double times[] = {2, 3, 5, 6, 8};
  const gbt_rows rows = a_rows(0, 0);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_cox cox_;
  double sum = 0.0;
  REQUIRE_OK(gbt_cox_make(&ctx, &rows, 0.0, 1, &cox_, test_err));
  REQUIRE_OK(gbt_cox_hazards(&ctx, &cox_, a_score, test_err));
  REQUIRE(cox_.risk.n_points == 5);
  for (int p = 0; p < 5; p++) { /* a is of u = exp(s - top) */
    sum += cox_.a[p] * gbt_exp(-cox_.top[0]);
    CHECK_EQ_BITS(cox_.risk.time[p], times[p]);
    CHECK_NEAR(sum, want[p], 1e-12);
  }
  gbt_cox_free(&cox_);
  gbt_ctx_close(&ctx);
}

/* ---- the twin ---- */

typedef struct scene {
  gbt_rows rows;
  int fine_gray; /* flag FINE_GRAY; without entry times */
  double *label, *event, *weight, *entry, *stratum, *score;
} scene;

enum { WEIGHTS = 1, ENTRY = 2, STRATA = 4, TIES = 8, FINE_GRAY = 16, ALL = 32 };

static scene make_scene(test_rng *rng, int64_t n, int with) {
  scene s = {.rows = {.n = n}, .fine_gray = (with & FINE_GRAY) != 0};
  double **blocks[] = {&s.label, &s.event, &s.weight, &s.entry, &s.stratum, &s.score};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) *blocks[i] = test_alloc((size_t)n * sizeof(double) + 8);
  for (int64_t i = 0; i < n; i++) {
    s.label[i] = with & TIES ? 1.0 + (double)test_below(rng, 8) : 1.0 + 10.0 * test_unit(rng);
    s.event[i] = (double)test_below(rng, s.fine_gray ? 3 : 2);
    s.weight[i] = (double)test_below(rng, 4) * 0.5;
    s.entry[i] = s.label[i] * test_unit(rng) - 0.5;
    if (with & TIES) s.entry[i] = floor(s.entry[i] * 0.99);
    s.stratum[i] = 5.0 - (double)test_below(rng, 3);
    s.score[i] = 3.0 * test_bell(rng);
  }
  s.event[0] = 1.0;
  s.rows.field[GBT_LABEL] = s.label;
  s.rows.field[GBT_EVENT] = s.event;
  if (with & WEIGHTS) s.rows.field[GBT_WEIGHT] = s.weight;
  if (with & ENTRY && !s.fine_gray) s.rows.field[GBT_ENTRY] = s.entry;
  if (with & STRATA) s.rows.field[GBT_STRATUM] = s.stratum;
  return s;
}

static void free_scene(scene *s) {
  void *blocks[] = {s->label, s->event, s->weight, s->entry, s->stratum, s->score};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

static double field_of(const scene *s, gbt_field f, int64_t i, double absent) {
  return s->rows.field[f] != NULL ? s->rows.field[f][i] : absent;
}

/* Those of weight 0 count for nothing. */
static int is_event(const scene *s, int64_t i) {
  const int counts = s->fine_gray ? s->event[i] == 1.0 : s->event[i] != 0.0;
  return counts && field_of(s, GBT_WEIGHT, i, 1.0) > 0.0;
}

static int same_stratum(const scene *s, int64_t i, int64_t j) {
  return field_of(s, GBT_STRATUM, i, 0) == field_of(s, GBT_STRATUM, j, 0);
}

/* The chance of a row of the stratum of i not to be censored before t. */
static double uncensored(const scene *s, int64_t i, double t) {
  double g = 1.0;
  for (int64_t k = 0; k < s->rows.n; k++) {
    double open = 0.0, censored = 0.0;
    int is_first = s->event[k] == 0.0 && s->label[k] < t && same_stratum(s, i, k);
    for (int64_t j = 0; j < s->rows.n && is_first; j++) {
      const double w = field_of(s, GBT_WEIGHT, j, 1.0);
      if (!same_stratum(s, i, j)) continue;
      if (s->label[j] == s->label[k] && s->event[j] == 0.0) {
        censored += w;
        if (j < k) is_first = 0;
      }
      if (s->label[j] > s->label[k] || (s->label[j] == s->label[k] && s->event[j] == 0.0)) open += w;
    }
    if (is_first && censored > 0.0) g *= 1.0 - censored / open;
  }
  return g;
}

/* How much of row j is at risk at the time of event i. */
static double at_risk(const scene *s, int64_t i, int64_t j) {
  if (!same_stratum(s, i, j) || !(field_of(s, GBT_ENTRY, j, -1e300) < s->label[i])) return 0.0;
  if (s->label[j] >= s->label[i]) return 1.0;
  if (!s->fine_gray || s->event[j] != 2.0) return 0.0;
  const double before = uncensored(s, i, s->label[j]);
  return before > 0.0 ? uncensored(s, i, s->label[i]) / before : 0.0;
}

/* Weighted g, h and the loss, event by event: of d events at a time each takes its turn l (Efron). */
static void twin(const scene *s, int breslow, double *g, double *h, double *loss) {
  const int64_t n = s->rows.n;
  *loss = 0.0;
  for (int64_t i = 0; i < n; i++) g[i] = h[i] = 0.0;
  for (int64_t i = 0; i < n; i++) {
    if (!is_event(s, i)) continue;
    const double w = field_of(s, GBT_WEIGHT, i, 1.0);
    *loss -= w * s->score[i];
    g[i] -= w;
    int64_t d = 0, turn = 0;
    double S = 0.0, S_E = 0.0, D = 0.0;
    for (int64_t j = 0; j < n; j++) {
      const double u = at_risk(s, i, j) * field_of(s, GBT_WEIGHT, j, 1.0) * exp(s->score[j]);
      S += u;
      if (!is_event(s, j) || s->label[j] != s->label[i] || !same_stratum(s, i, j)) continue;
      S_E += u;
      D += field_of(s, GBT_WEIGHT, j, 1.0);
      d++;
      turn += j < i;
    }
    const double share = breslow ? 0.0 : (double)turn / (double)d, left = S - share * S_E;
    const double each = breslow ? w : D / (double)d;
    if (!(left > 0.0)) continue;
    *loss += each * log(left);
    for (int64_t j = 0; j < n; j++) {
      const double u = at_risk(s, i, j) * field_of(s, GBT_WEIGHT, j, 1.0) * exp(s->score[j]);
      const int tied = is_event(s, j) && s->label[j] == s->label[i];
      g[j] += u * (1.0 - (tied ? share : 0.0)) * each / left;
      h[j] += u * (1.0 - (tied ? share : 0.0)) * each / left;
    }
  }
}

static void gradients_equal_the_twin(void) {
  static const int64_t sizes[] = {1, 2, 3, 5, 31, 32, 33, 64, 100};
  test_rng rng = {21};
  gbt_ctx ctx = test_ctx(NULL, 2);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int with = 0; with < ALL; with++)
      for (int breslow = 0; breslow < 2; breslow++) {
        if (with & FINE_GRAY && (with & ENTRY || sizes[k] > 33)) continue; /* the twin is slow */
        scene s = make_scene(&rng, sizes[k], with);
        double g[100], h[100], g2[100], h2[100], loss, loss2;
        twin(&s, breslow, g2, h2, &loss2);
        if (cox(&ctx, &s.rows, s.fine_gray, breslow, s.score, g, h, &loss)) {
          if (loss2 == loss2) CHECK_NEAR(loss, loss2, 1e-9);
          for (int64_t i = 0; i < sizes[k]; i++) {
            const double w = field_of(&s, GBT_WEIGHT, i, 1.0);
            CHECK_NEAR(g[i] * w, g2[i], 1e-9);
            CHECK_NEAR(h[i] * w, h2[i], 1e-9);
          }
        }
        free_scene(&s);
      }
  gbt_ctx_close(&ctx);
}

/* ---- the same bytes ---- */

/* Breslow's g and h, point by point: rows of a time follow each other in no order, so a point is looked up. */
static void twin_of_many(const scene *s, double *g, double *h) {
  const int64_t n = s->rows.n;
  double point[64][2];
  int n_points = 0;
  for (int64_t i = 0; i < n; i++) {
    h[i] = 0.0;
    g[i] = exp(s->score[i]);
  }
  for (int64_t i = 0; i < n; i++) {
    const double t = s->label[i], stratum = field_of(s, GBT_STRATUM, i, 0);
    double S = 0.0, D = 0.0;
    int known = 0;
    for (int k = 0; k < n_points; k++) known |= point[k][0] == stratum && point[k][1] == t;
    if (!is_event(s, i) || known) continue;
    if (n_points < 64) point[n_points][0] = stratum, point[n_points++][1] = t;
    for (int64_t j = 0; j < n; j++) {
      const double w = field_of(s, GBT_WEIGHT, j, 1.0);
      if (!same_stratum(s, i, j) || s->label[j] < t || field_of(s, GBT_ENTRY, j, -1e300) >= t) continue;
      S += w * g[j];
      if (is_event(s, j) && s->label[j] == t) D += w;
    }
    for (int64_t j = 0; j < n && S > 0.0; j++)
      if (same_stratum(s, i, j) && s->label[j] >= t && field_of(s, GBT_ENTRY, j, -1e300) < t)
        h[j] += D / S * g[j];
  }
  for (int64_t i = 0; i < n; i++) g[i] = h[i] - (s->event[i] != 0.0); /* before weights */
}

/* Rows and points of several tasks. */
static void tasks_do_not_show(void) {
  static const int64_t sizes[] = {4095, 4096, 8200, 16384, 16385, 33000};
  test_rng rng = {23};
  gbt_ctx ctx = test_ctx(NULL, 2);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int with = 0; with < 2; with++) {
      const int64_t n = sizes[k];
      scene s = make_scene(&rng, n, (with ? WEIGHTS | ENTRY | STRATA : 0) | (n > 10000 ? TIES : 0));
      double *x = test_alloc(4 * (size_t)n * sizeof *x), loss;
      for (int64_t i = 0; i < n && n <= 10000; i++) s.event[i] = 1.0; /* as many points as rows */
      twin_of_many(&s, x, x + n);
      if (cox(&ctx, &s.rows, 0, 1, s.score, x + 2 * n, x + 3 * n, &loss)) {
        double worst = 0.0;
        for (int64_t i = 0; i < 2 * n; i++) {
          const double off = fabs(x[i] - x[i + 2 * n]) / (1.0 + fabs(x[i]));
          worst = off > worst ? off : worst;
        }
        CHECK_NEAR(worst, 0.0, 1e-9);
      }
      free(x);
      free_scene(&s);
    }
  gbt_ctx_close(&ctx);
}

static void bytes_depend_on_neither_threads_nor_order(void) {
  test_rng rng = {22};
  for (int with = 0; with < ALL; with++) {
    if (with & FINE_GRAY && with & ENTRY) continue;
    const int64_t n = 40000;
    scene s = make_scene(&rng, n, with), t = make_scene(&rng, n, with);
    int64_t *to = test_permutation(&rng, n);
    double *block = test_alloc(4 * (size_t)n * sizeof *block), *g = block, *h = g + n, *g2 = h + n, *h2 = g2 + n;
    double loss, loss2;
    for (int64_t i = 0; i < n; i++) {
      t.label[to[i]] = s.label[i];
      t.event[to[i]] = s.event[i];
      t.weight[to[i]] = s.weight[i];
      t.entry[to[i]] = s.entry[i];
      t.stratum[to[i]] = s.stratum[i];
      t.score[to[i]] = s.score[i];
    }
    gbt_ctx one = test_ctx(NULL, 1), more = test_ctx(NULL, 3);
    if (cox(&one, &s.rows, s.fine_gray, 0, s.score, g, h, &loss) &&
        cox(&more, &t.rows, t.fine_gray, 0, t.score, g2, h2, &loss2)) {
      CHECK_EQ_BITS(loss2, loss);
      int64_t same = 0;
      for (int64_t i = 0; i < n; i++)
        same += gbt_bits(g2[to[i]]) == gbt_bits(g[i]) && gbt_bits(h2[to[i]]) == gbt_bits(h[i]);
      CHECK_EQ_I64(same, n);
    }
    gbt_ctx_close(&one);
    gbt_ctx_close(&more);
    free(to);
    free(block);
    free_scene(&s);
    free_scene(&t);
  }
}

/* T6: rows that are censored before the first event have no gradient and change nothing. T7: nor does a number that is
 * added to all scores. T8: entry times before all events change nothing. */
static void what_plays_no_part_changes_nothing(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  double time[10], event[10], score[10], entry[10], g[10], h[10], g0[8], h0[8], loss, loss0;
  const gbt_rows plain = a_rows(0, 0);
  for (int i = 0; i < 10; i++) {
    time[i] = i < 8 ? a_time[i] : 1.0 + 0.5 * (i - 8);
    event[i] = i < 8 ? a_event[i] : 0.0;
    score[i] = i < 8 ? a_score[i] : 20.0;
    entry[i] = 0.0;
  }
  gbt_rows rows = {.n = 10, .field = {[GBT_LABEL] = time, [GBT_EVENT] = event}};
  REQUIRE(cox(&ctx, &plain, 0, 0, a_score, g0, h0, &loss0));
  REQUIRE(cox(&ctx, &rows, 0, 0, score, g, h, &loss));
  for (int i = 0; i < 8; i++) CHECK_NEAR(g[i], g0[i], 1e-14);
  for (int i = 8; i < 10; i++) CHECK(g[i] == 0.0 && h[i] == 0.0);
  rows.n = 8;
  rows.field[GBT_ENTRY] = entry;
  for (int i = 0; i < 8; i++) score[i] = a_score[i] + 512.0;
  REQUIRE(cox(&ctx, &rows, 0, 0, score, g, h, &loss));
  for (int i = 0; i < 8; i++) CHECK_NEAR(g[i], g0[i], 1e-12);
  rows.n = 8;
  REQUIRE(cox(&ctx, &rows, 0, 0, a_score, g, h, &loss));
  CHECK_EQ_BYTES(g, g0, sizeof g0);
  CHECK_EQ_BITS(loss, loss0);
  gbt_ctx_close(&ctx);
}

static gbt_status cox_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const scene *s = arg;
  double g[64], h[64], loss;
  gbt_cox c = {.top = NULL};
  gbt_ctx ctx;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) {
    status = make(&ctx, &s->rows, s->fine_gray, 0, &c, err);
    if (status == GBT_OK) status = gbt_cox_hazards(&ctx, &c, s->score, err);
    if (status == GBT_OK) status = gbt_cox_gradients(&ctx, &c, s->score, g, h, err);
    if (status == GBT_OK) status = gbt_cox_loss(&ctx, &c, s->score, &loss, err);
    gbt_cox_free(&c);
  }
  gbt_ctx_close(&ctx);
  return status;
}

static void failures_are_clean(void) {
  test_rng rng = {23};
  scene s = make_scene(&rng, 64, WEIGHTS | ENTRY | STRATA), f = make_scene(&rng, 64, WEIGHTS | STRATA | FINE_GRAY);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_cox c;
  CHECK(fault_sweep(cox_op, &s) > 30);
  CHECK(fault_sweep(cox_op, &f) > 50);
  for (int i = 0; i < 64; i++) s.event[i] = 0.0;
  CHECK_FAILS(gbt_cox_make(&ctx, &s.rows, 0.0, 0, &c, test_err), GBT_E_DATA, "no row has an event");
  gbt_cox_free(&c);
  s.event[0] = 1.0;
  CHECK_FAILS(make(&ctx, &s.rows, 1, 0, &c, test_err), GBT_E_UNSUPPORTED, "does not support entry times");
  gbt_cox_free(&c);
  s.entry[3] = s.label[3];
  CHECK_FAILS(gbt_cox_make(&ctx, &s.rows, 0.0, 0, &c, test_err), GBT_E_DATA, "row 4 enters at");
  gbt_cox_free(&c);
  gbt_ctx_close(&ctx);
  free_scene(&s);
  free_scene(&f);
}

void suite_cox(void) {
  RUN(gradients_have_the_reference_numbers);
  RUN(fine_gray_has_the_reference_numbers);
  RUN(hazards_have_the_reference_numbers);
  RUN(gradients_equal_the_twin);
  RUN(tasks_do_not_show);
  RUN(bytes_depend_on_neither_threads_nor_order);
  RUN(what_plays_no_part_changes_nothing);
  RUN(failures_are_clean);
}
