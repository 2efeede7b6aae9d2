/* Vector kernels of the CPU backend against the formulas of math/ row by row, on every instruction set of this machine.
 * Histograms: test_cpu_hist.c. */
#include "test.h"

#include "../../src/gbt/cpu/cpu_kernels.h"
#include "../../src/gbt/objective/formulas.h"
#include "made.h"

enum { MARK = 3 }; /* places after the last one that must stay as they are */

static const int32_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 31, 64, 511, CPU_BLOCK};
enum { N_LENGTHS = sizeof lengths / sizeof lengths[0] };

static const cpu_kernels *table_at(int simd) { return gbt_cpu_kernels((gbt_simd)simd); }
static int last_table(void) { return (int)gbt_simd_best(); }

static int same_bits(const double *a, const double *b, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (gbt_bits(a[i]) != gbt_bits(b[i]) && !(a[i] != a[i] && b[i] != b[i])) return 0;
  return 1;
}

static void fill(double *x, int32_t n, double value) {
  for (int32_t i = 0; i < n; i++) x[i] = value;
}

/* Scores: usual ones and the odd ones that a kernel might treat differently. */
static double any_score(test_rng *rng) {
  static const double odd[] = {0.0,   -0.0,   1.0,    -1.0,  36.0, -36.0, 37.5,   -37.5,     707.9,   -707.9,  708.0,
                               708.1, -708.0, -708.1, 745.0, 1e10, -1e10, 1e-310, -4.9e-324, 1.7e308, -1.7e308};
  uint64_t u = test_u(rng);
  if (u % 4 == 0) return odd[(u >> 8) % (sizeof odd / sizeof odd[0])];
  if (u % 64 == 1) return INFINITY;
  if (u % 64 == 2) return -INFINITY;
  if (u % 64 == 3) return NAN;
  return test_bell(rng) * (u % 4 == 1 ? 3.0 : 100.0);
}

static void gradients_equal_formulas(void) {
  test_rng rng = {2};
  static double score[CPU_BLOCK], label[CPU_BLOCK], want[2][CPU_BLOCK + MARK], got[2][CPU_BLOCK + MARK];
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++) {
    if (gbt_objective_info_of(kind)->gradient != GBT_GRADIENT_ROW) continue;
    for (int c = 0; c < 3 * N_LENGTHS; c++) {
      int32_t n = lengths[c % N_LENGTHS];
      const gbt_objective objective = made_objective((gbt_objective_kind)kind, 1, test_u(&rng));
      for (int k = 0; k < 2; k++) fill(want[k], CPU_BLOCK + MARK, 77.0);
      for (int32_t i = 0; i < n; i++) {
        score[i] = any_score(&rng);
        label[i] = test_below(&rng, 3) ? (double)test_below(&rng, 2) : test_unit(&rng);
        gbt_gh r = test_gradient(&objective, score[i], label[i]);
        want[0][i] = r.g;
        want[1][i] = r.h;
      }
      for (int s = 0; s <= last_table(); s++) {
        for (int k = 0; k < 2; k++) fill(got[k], CPU_BLOCK + MARK, 77.0);
        table_at(s)->gradients(&objective, n, score, label, got[0], got[1]);
        CHECK(same_bits(got[0], want[0], n + MARK));
        CHECK(same_bits(got[1], want[1], n + MARK));
      }
    }
  }
}

static void softmax_equals_formulas(void) {
  test_rng rng = {3};
  enum { K = 7 };
  static double score[K][CPU_BLOCK], label[CPU_BLOCK], p[K * CPU_BLOCK], g[CPU_BLOCK], h[CPU_BLOCK];
  static double want[3][K][CPU_BLOCK], want_top[CPU_BLOCK], want_sum[CPU_BLOCK], top[CPU_BLOCK], sum[CPU_BLOCK];
  for (int c = 0; c < 2 * N_LENGTHS; c++) {
    int32_t n = lengths[c % N_LENGTHS], n_classes = 2 + (int32_t)test_below(&rng, K - 1);
    for (int32_t i = 0; i < n; i++) {
      label[i] = (double)test_below(&rng, n_classes);
      want_top[i] = -INFINITY;
      want_sum[i] = 0.0;
      for (int32_t k = 0; k < n_classes; k++) {
        do score[k][i] = any_score(&rng);
        while (!isfinite(score[k][i]));
        if (score[k][i] > want_top[i]) want_top[i] = score[k][i];
      }
      for (int32_t k = 0; k < n_classes; k++) want_sum[i] += want[0][k][i] = gbt_exp(score[k][i] - want_top[i]);
      for (int32_t k = 0; k < n_classes; k++) {
        want[0][k][i] /= want_sum[i];
        gbt_gh r = gbt_softmax_gradient(want[0][k][i], label[i] == k ? 1.0 : 0.0, 1.25);
        want[1][k][i] = r.g;
        want[2][k][i] = r.h;
      }
    }
    for (int s = 0; s <= last_table(); s++) {
      table_at(s)->softmax(n, n_classes, score[0], CPU_BLOCK, p, top, sum);
      CHECK(same_bits(top, want_top, n) && same_bits(sum, want_sum, n));
      for (int32_t k = 0; k < n_classes; k++) {
        CHECK(same_bits(p + (size_t)k * CPU_BLOCK, want[0][k], n));
        table_at(s)->softmax_class(n, score[k], top, sum, p + (size_t)k * CPU_BLOCK);
        CHECK(same_bits(p + (size_t)k * CPU_BLOCK, want[0][k], n));
        table_at(s)->softmax_gradients(n, k, 1.25, p + (size_t)k * CPU_BLOCK, label, g, h);
        CHECK(same_bits(g, want[1][k], n) && same_bits(h, want[2][k], n));
        table_at(s)->softmax_stepped(n, 0.75, 1.25, score[k], top, sum, g);
        for (int32_t i = 0; i < n; i++) h[i] = gbt_softmax_stepped(score[k][i], top[i], sum[i], 0.75, 1.25);
        CHECK(same_bits(g, h, n));
      }
    }
  }
}

static void weigh_and_maxima_equal_loops(void) {
  test_rng rng = {4};
  static const double odd[] = {0.0, -0.0, 4.9e-324, 2.2e-308, 1e-300, 1e290, 0.5, 1.0};
  static double w[CPU_BLOCK], g[CPU_BLOCK], h[CPU_BLOCK], got[2][CPU_BLOCK + MARK], want[2][CPU_BLOCK + MARK];
  for (int c = 0; c < 20 * N_LENGTHS; c++) {
    int32_t n = lengths[c % N_LENGTHS];
    double scale = ldexp(1.0, (int)test_below(&rng, 600) - 300), top_g = 0.0, top_h = 0.0;
    if (c % 3 == 0) top_g = scale * test_unit(&rng), top_h = scale * test_unit(&rng);
    double got_g = top_g, got_h = top_h, start_g = top_g, start_h = top_h;
    for (int k = 0; k < 2; k++) fill(want[k], CPU_BLOCK + MARK, 77.0);
    for (int32_t i = 0; i < n; i++) {
      g[i] = test_bell(&rng) * scale;
      h[i] = test_unit(&rng) * scale;
      w[i] = test_unit(&rng) * 10.0;
      if (test_below(&rng, 9) == 0) g[i] = odd[test_below(&rng, 8)] * (test_below(&rng, 2) ? -1.0 : 1.0);
      if (test_below(&rng, 9) == 0) h[i] = odd[test_below(&rng, 8)];
      if (test_below(&rng, 9) == 0) w[i] = odd[test_below(&rng, 5)];
      if (c % 7 == 0) h[i] = -0.0; /* a hessian of 0 may have a sign */
      want[0][i] = g[i] * w[i];
      want[1][i] = h[i] * w[i];
      top_g = fabs(g[i]) > top_g ? fabs(g[i]) : top_g;
      top_h = h[i] > top_h ? h[i] : top_h;
    }
    for (int s = 0; s <= last_table(); s++) {
      got_g = start_g, got_h = start_h;
      table_at(s)->maxima(n, g, h, &got_g, &got_h);
      CHECK_EQ_BITS(got_g, top_g);
      CHECK_EQ_BITS(got_h, top_h);
      for (int k = 0; k < 2; k++) fill(got[k], CPU_BLOCK + MARK, 77.0);
      memcpy(got[0], g, (size_t)n * sizeof *g);
      memcpy(got[1], h, (size_t)n * sizeof *h);
      table_at(s)->weigh(n, w, got[0], got[1]);
      CHECK(same_bits(got[0], want[0], n + MARK) && same_bits(got[1], want[1], n + MARK));
    }
  }
}

static void fixed_point_equals_formulas(void) {
  test_rng rng = {5};
  static double g[CPU_BLOCK], h[CPU_BLOCK];
  static gbt_gh32 want32[CPU_BLOCK + MARK], got32[CPU_BLOCK + MARK];
  static gbt_gh16 want16[CPU_BLOCK + MARK], got16[CPU_BLOCK + MARK];
  static uint32_t low[CPU_BLOCK + MARK], rows[CPU_BLOCK];
  for (int c = 0; c < 20 * N_LENGTHS; c++) {
    int32_t n = lengths[c % N_LENGTHS];
    double top_g = ldexp(test_unit(&rng) + 0.01, (int)test_below(&rng, 400) - 200);
    double top_h = ldexp(test_unit(&rng) + 0.01, (int)test_below(&rng, 400) - 200);
    gbt_scale scale = gbt_scale_from(top_g, top_h);
    gbt_key32 key = gbt_key(test_u(&rng), GBT_FOR_ROUNDING, (uint64_t)c, 1);
    uint64_t first = c % 2 ? test_u(&rng) >> 30 : test_u(&rng) >> 40; /* ids beyond 2^32 as well */
    gbt_fixed_sums want = {0, 0, 0};
    memset(want32, 0x5a, sizeof want32);
    memset(want16, 0x5a, sizeof want16);
    for (int32_t i = 0; i < n; i++) {
      g[i] = i % 7 == 0 ? top_g : i % 7 == 1 ? -top_g : (2.0 * test_unit(&rng) - 1.0) * top_g;
      h[i] = i % 5 == 0 ? top_h : i % 5 == 1 ? 0.0 : test_unit(&rng) * top_h;
      want32[i] = gbt_fix32(g[i], h[i], scale.up_g, scale.up_h);
      want16[i] = gbt_fix16(want32[i], gbt_hash32(key, first + (uint64_t)i));
      want.size += abs(want16[i].g);
      want.square += want16[i].g * want16[i].g;
      want.h += want16[i].h;
    }
    const uint64_t beg = c % 3 == 0 ? 0 : first;
    gbt_sum rest = {0, 0}; /* over some of the rows, the first one being row beg */
    uint32_t n_some = 0;
    for (int32_t i = 0; i < n; i++) {
      if (test_below(&rng, 3) == 0) continue;
      gbt_gh16 r = gbt_fix16(want32[i], gbt_hash32(key, beg + (uint64_t)i));
      rest.g += want32[i].g - r.g * INT64_C(65536);
      rest.h += want32[i].h - r.h * INT64_C(65536);
      rows[n_some++] = (uint32_t)i;
    }
    for (int s = 0; s <= last_table(); s++) {
      memset(got32, 0x5a, sizeof got32);
      memset(got16, 0x5a, sizeof got16);
      memset(low, 0x5a, sizeof low);
      gbt_fixed_sums got = {0, 0, 0};
      table_at(s)->fix(n, first, key, scale.up_g, scale.up_h, g, h, got16, low, &got);
      table_at(s)->fix_wide(n, scale.up_g, scale.up_h, g, h, got32);
      gbt_sum got_rest = table_at(s)->rest(n_some, beg, rows, key, low);
      CHECK(got_rest.g == rest.g && got_rest.h == rest.h);
      CHECK_EQ_BYTES(&got, &want, sizeof want);
      for (int32_t i = 0; i < n; i++) CHECK(low[i] == gbt_fix_low(want32[i]));
      CHECK(low[n] == 0x5a5a5a5au);
      CHECK_EQ_BYTES(got32, want32, sizeof want32);
      CHECK_EQ_BYTES(got16, want16, sizeof want16);
    }
  }
}

static void gains_equal_formulas(void) {
  test_rng rng = {6};
  static double gl[CPU_BLOCK], hl[CPU_BLOCK], want[CPU_BLOCK + MARK], got[CPU_BLOCK + MARK];
  for (int c = 0; c < 20 * N_LENGTHS; c++) {
    int32_t n = lengths[c % N_LENGTHS];
    gbt_rated a = {.G = test_bell(&rng) * 100.0, .H = test_unit(&rng) * 1000.0, .parent = test_unit(&rng) * 50.0};
    gbt_reg reg = {0.0, 0.0, 0.0};
    if (c % 2) reg.lambda = test_unit(&rng) * 3.0;
    if (c % 3 == 0) reg.alpha = test_unit(&rng) * 20.0;
    if (c % 5) a.min_weight = test_unit(&rng) * 100.0;
    fill(want, CPU_BLOCK + MARK, 77.0);
    for (int32_t i = 0; i < n; i++) {
      gl[i] = test_bell(&rng) * 60.0;
      hl[i] = test_unit(&rng) * a.H;
      switch (test_below(&rng, 12)) {
      case 0:
        hl[i] = 0.0;
        break;
      case 1:
        hl[i] = a.H;
        break;
      case 2:
        hl[i] = a.min_weight;
        break;
      case 3:
        hl[i] = a.H - a.min_weight;
        break;
      case 4:
        gl[i] = 0.0;
        break;
      case 5:
        gl[i] = reg.alpha;
        break;
      default:
        break;
      }
      double gr = a.G - gl[i], hr = a.H - hl[i];
      int light = hl[i] < a.min_weight || hr < a.min_weight || hl[i] <= 0.0 || hr <= 0.0;
      want[i] = gbt_score(gl[i], hl[i], reg.lambda, reg.alpha) + gbt_score(gr, hr, reg.lambda, reg.alpha) - a.parent;
      if (light) want[i] = -1.0;
    }
    for (int s = 0; s <= last_table(); s++) {
      fill(got, CPU_BLOCK + MARK, 77.0);
      table_at(s)->gains(n, gl, hl, &a, reg, got);
      CHECK(same_bits(got, want, n + MARK));
    }
  }
}

/* A node's codes: many, some or none hold something. Packed sums are those of at most 65,536 rows. */
static void draw_codes(test_rng *rng, int32_t n, gbt_sum *sum, int64_t *both) {
  const int kind = (int)test_below(rng, 5);
  for (int32_t i = 0; i < n; i++) {
    const int holds = kind == 0 ? 1 : kind == 1 ? 0 : test_below(rng, kind == 2 ? 2 : kind == 3 ? 12 : 90) == 0;
    sum[i].g = holds ? (int64_t)test_below(rng, 60000) - 30000 : 0;
    sum[i].h = holds ? (int64_t)test_below(rng, 60000) : 0;
    if (test_below(rng, 8) == 0) sum[i].h = 0;
    if (test_below(rng, 8) == 0) sum[i].g = 0;
    both[i] = (int64_t)((uint64_t)sum[i].g << 32) + sum[i].h;
  }
}

enum { MOST_CODES = 66000 };

/* Every length up to 600, those around powers of two, and the most codes that a feature has. */
static int32_t next_length(int32_t n) {
  if (n < 600) return n + 1;
  if (n == MOST_CODES) return -1;
  for (int32_t p = 1024; p <= 65536; p *= 2)
    for (int32_t at = p - 2; at <= p + 2; at++)
      if (at > n) return at;
  return MOST_CODES;
}

static void layer_gains_equal_formulas(void) {
  test_rng rng = {61};
  gbt_sum *sum = calloc(MOST_CODES, sizeof *sum);
  int64_t *both = calloc(MOST_CODES, sizeof *both);
  double *want[2], *got[2], *start = calloc(MOST_CODES + MARK, sizeof *start);
  for (int k = 0; k < 2; k++) {
    want[k] = calloc(MOST_CODES + MARK, sizeof *want[k]);
    got[k] = calloc(MOST_CODES + MARK, sizeof *got[k]);
  }
  for (int32_t n = 0; n >= 0; n = next_length(n)) {
    for (int c = 0; c < 6; c++) {
      draw_codes(&rng, n, sum, both);
      const gbt_units unit = {0.001 + test_unit(&rng), 0.001 + test_unit(&rng)};
      cpu_layer_codes codes = {.unit = unit};
      gbt_sum all = {(int64_t)test_below(&rng, 9) - 4, (int64_t)test_below(&rng, 3)};
      gbt_reg reg = {c % 2 ? test_unit(&rng) * 3.0 : 0.0, c % 3 == 0 ? test_unit(&rng) * 20.0 : 0.0, 0.0};
      if (c >= 3) codes.more = (gbt_units){test_bell(&rng), test_unit(&rng)};
      for (int32_t i = 0; i < n; i++) all.g += sum[i].g, all.h += sum[i].h;
      gbt_rated a = {.G = (double)all.g * unit.g + codes.more.g, .H = (double)all.h * unit.h + codes.more.h};
      a.parent = gbt_score(a.G, a.H, reg.lambda, reg.alpha);
      a.min_weight = c == 1 ? a.H * 0.1 : 0.0;
      const double floor = c == 2 ? a.parent * 0.01 : 0.0;
      for (int32_t i = 0; i < n + MARK; i++) start[i] = test_below(&rng, 3) ? test_unit(&rng) : 0.0;
      for (int k = 0; k < 2; k++) memcpy(want[k], start, (size_t)(n + MARK) * sizeof *start);
      gbt_sum run = {0, 0};
      for (int32_t i = 0; i < n; i++) {
        run.g += sum[i].g, run.h += sum[i].h;
        const double gl = (double)run.g * unit.g + codes.more.g, hl = (double)run.h * unit.h + codes.more.h;
        const double gain = gbt_rate_free(&a, gl, hl, reg);
        want[0][i] += gain > floor ? gain : 0.0;
        if (c % 2) want[1][i] += gain > floor ? gain : 0.0;
      }
      for (int s = 0; s <= last_table(); s++)
        for (int packed = 0; packed < 2; packed++) {
          codes.sum = packed ? NULL : sum;
          codes.both = packed ? both : NULL;
          for (int k = 0; k < 2; k++) memcpy(got[k], start, (size_t)(n + MARK) * sizeof *start);
          table_at(s)->layer_gains(n, &codes, &a, reg, floor, got[0], c % 2 ? got[1] : NULL);
          CHECK_EQ_BYTES(got[0], want[0], (size_t)(n + MARK) * sizeof *start);
          CHECK_EQ_BYTES(got[1], want[1], (size_t)(n + MARK) * sizeof *start);
        }
    }
  }
  for (int k = 0; k < 2; k++) free(want[k]), free(got[k]);
  free(sum), free(both), free(start);
}

/* Places behind the list that may be written: CPU_LIST_SLACK. */
static void list_cuts_equals_a_loop(void) {
  test_rng rng = {64};
  const size_t most = MOST_CODES + CPU_LIST_SLACK;
  gbt_sum *sum = calloc(MOST_CODES, sizeof *sum), *want_run = calloc(most, sizeof *want_run);
  gbt_sum *run = calloc(most, sizeof *run);
  int64_t *both = calloc(MOST_CODES, sizeof *both), *part[2] = {calloc(most, 8), calloc(most, 8)};
  uint32_t *want_level = calloc(most, sizeof *want_level), *level = calloc(most, sizeof *level);
  double *want[2] = {calloc(most, 8), calloc(most, 8)}, *got[2] = {calloc(most, 8), calloc(most, 8)};
  for (int32_t n = 0; n >= 0; n = next_length(n)) {
    for (int c = 0; c < 6 && n > 0; c++) {
      draw_codes(&rng, n, sum, both);
      for (int32_t i = 0; i < n && c == 5; i++) sum[i] = (gbt_sum){0, 0}, both[i] = 0;
      const gbt_units unit = {0.001 + test_unit(&rng), 0.001 + test_unit(&rng)};
      size_t m = 0;
      gbt_sum all = {0, 0};
      for (int32_t i = 0; i < n; i++) {
        all.g += sum[i].g, all.h += sum[i].h;
        if (i > 0 && sum[i].g == 0 && sum[i].h == 0) continue;
        want_level[m] = (uint32_t)i;
        want_run[m] = all;
        want[0][m] = (double)all.g * unit.g;
        want[1][m++] = (double)all.h * unit.h;
      }
      for (int s = 0; s <= last_table(); s++)
        for (int packed = 0; packed < 2; packed++) {
          const cpu_cut_list to = {packed ? NULL : sum, packed ? both : NULL, unit, level, run, got[0], got[1], part[0],
                                   packed ? NULL : part[1]};
          CHECK_EQ_I64(table_at(s)->list_cuts(n, &to), (int64_t)m);
          CHECK_EQ_BYTES(level, want_level, m * sizeof *level);
          CHECK_EQ_BYTES(run, want_run, m * sizeof *run);
          for (int k = 0; k < 2; k++) CHECK_EQ_BYTES(got[k], want[k], m * sizeof *got[k]);
        }
    }
  }
  for (int k = 0; k < 2; k++) free(want[k]), free(got[k]), free(part[k]);
  free(sum), free(both), free(want_run), free(run), free(want_level), free(level);
}

static void first_largest_equals_a_loop(void) {
  test_rng rng = {62};
  double *gain = calloc(MOST_CODES, sizeof *gain);
  for (int32_t n = 0; n >= 0; n = next_length(n)) {
    for (int c = 0; c < 6; c++) {
      int32_t want = -1;
      for (int32_t i = 0; i < n; i++) { /* some of the same size; none above 0 */
        gain[i] = c == 0 ? -test_unit(&rng) : c == 1 ? (double)test_below(&rng, 4) : test_bell(&rng);
        if (c == 2) gain[i] = test_below(&rng, 2) ? 0.0 : -0.0;
        if (c == 3 && test_below(&rng, 4)) gain[i] = -1.0;
        if (c == 4 && test_below(&rng, 3)) gain[i] = test_below(&rng, 2) ? NAN : -NAN;
        if (c == 5 && test_below(&rng, 40) == 0) gain[i] = INFINITY;
        if (gain[i] > (want < 0 ? 0.0 : gain[want])) want = i;
      }
      for (int s = 0; s <= last_table(); s++) CHECK_EQ_I64(table_at(s)->first_largest(n, gain), want);
    }
  }
  free(gain);
}

static void standings_equal_formulas(void) {
  test_rng rng = {63};
  gbt_params params = gbt_params_default();
  const double handicap[] = {0.0, 0.3};
  double *gain = calloc(MOST_CODES, sizeof *gain), *want = calloc(MOST_CODES, sizeof *want);
  double *got = calloc(MOST_CODES, sizeof *got);
  params.random_strength = 1.0;
  for (int32_t n = 0; n >= 0; n = next_length(n)) {
    for (int c = 0; c < 4; c++) {
      const double before = c == 3 ? -1.0 : 2.0, least = c % 2 ? 0.5 : 0.0;
      const gbt_contest contest = gbt_contest_of(&params, c < 2 ? NULL : handicap, 0.4, 2.0, 7, 3, before);
      gbt_split s = {.kind = GBT_SPLIT_NUMERIC, .feat = c == 2, .missing_left = (int8_t)(c > 0)};
      for (s.bin = 0; s.bin < n; s.bin++) {
        s.gain = gain[s.bin] = test_below(&rng, 9) == 0 ? -1.0 : test_unit(&rng) * 2.0;
        want[s.bin] = gbt_layer_standing(&contest, &s, least);
      }
      const uint64_t first = gbt_candidate(s.feat, s.missing_left, 0, 0);
      for (int t = 0; t <= last_table(); t++) {
        memset(got, 0xff, (size_t)n * sizeof *got);
        table_at(t)->standings(n, gain, &contest, handicap[c == 2], first, least, got);
        CHECK_EQ_BYTES(got, want, (size_t)n * sizeof *got);
      }
    }
  }
  free(gain), free(want), free(got);
}

static void tables_are_those_of_their_sets(void) {
  CHECK_EQ_TEXT(gbt_cpu_kernels(GBT_SIMD_SCALAR)->name, "scalar");
  if (gbt_simd_best() >= GBT_SIMD_AVX2) CHECK_EQ_TEXT(gbt_cpu_kernels(GBT_SIMD_AVX2)->name, "avx2");
  if (gbt_simd_best() >= GBT_SIMD_AVX512) CHECK_EQ_TEXT(gbt_cpu_kernels(GBT_SIMD_AVX512)->name, "avx512");
  test_note("kernels up to %s", gbt_cpu_kernels(gbt_simd_best())->name);
}

void suite_cpu(void) {
  RUN(tables_are_those_of_their_sets);
  RUN(gradients_equal_formulas);
  RUN(softmax_equals_formulas);
  RUN(weigh_and_maxima_equal_loops);
  RUN(fixed_point_equals_formulas);
  RUN(gains_equal_formulas);
  RUN(layer_gains_equal_formulas);
  RUN(list_cuts_equals_a_loop);
  RUN(first_largest_equals_a_loop);
  RUN(standings_equal_formulas);
}
