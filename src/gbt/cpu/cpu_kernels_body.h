/* Included by cpu_kernels.c once per instruction set, with TARGET, KERNEL(name), KERNEL_NAME and LAYER_GAINS and
 * LIST_CUTS defined, which are versions of cpu_layer_gains() and cpu_list_cuts(). No include guard. */

TARGET static void KERNEL(gradients)(const gbt_objective *objective, int32_t n, const double *score,
                                     const double *label, double *g, double *h) {
  const gbt_objective o = *objective; /* a copy that nothing else writes to, so that parameters stay in registers */
  switch ((gbt_objective_kind)o.kind) {
#define GRADIENTS_ROW(name)                                        \
  for (int32_t i = 0; i < n; i++) {                                \
    gbt_gh r = gbt_##name##_gradient(score[i], label[i], o.param); \
    g[i] = r.g;                                                    \
    h[i] = r.h;                                                    \
  }
#define GRADIENTS_CLASSES(name) GBT_ASSERT(0); /* softmax_gradients */
#define GRADIENTS_GIVEN(name) GBT_ASSERT(0);   /* the host's */
#define GRADIENTS_ORDERED(name) GBT_ASSERT(0); /* joint/ */
#define GRADIENTS_QUERY(name) GBT_ASSERT(0);   /* joint/ */
#define GRADIENTS_TIME(name) GBT_ASSERT(0);    /* joint/ */
#define GRADIENTS_INTERVALS(name) GBT_ASSERT(0); /* joint/ */
#define GRADIENTS_DISTRIBUTION(name) GBT_ASSERT(0); /* joint/ */
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    GRADIENTS_##gradient(name) break;
#include "../objective/objectives.def"
#undef GRADIENTS_ROW
#undef GRADIENTS_CLASSES
#undef GRADIENTS_GIVEN
#undef GRADIENTS_ORDERED
#undef GRADIENTS_QUERY
#undef GRADIENTS_TIME
#undef GRADIENTS_INTERVALS
#undef GRADIENTS_DISTRIBUTION
  case GBT_N_OBJECTIVES:
    break;
  }
}

TARGET static void KERNEL(softmax)(int32_t n, int32_t K, const double *score, size_t stride, double *p, double *top,
                                   double *sum) {
  gbt_softmax_rows(n, K, score, stride, p, CPU_BLOCK, top, sum);
}

TARGET static void KERNEL(softmax_class)(int32_t n, const double *score, const double *top, const double *sum,
                                         double *p) {
  for (int32_t i = 0; i < n; i++) p[i] = gbt_softmax_probability(score[i], top[i], sum[i]);
}

TARGET static void KERNEL(softmax_stepped)(int32_t n, double by, double bound, const double *score, const double *top,
                                           const double *sum, double *p) {
  for (int32_t i = 0; i < n; i++) p[i] = gbt_softmax_stepped(score[i], top[i], sum[i], by, bound);
}

TARGET static void KERNEL(softmax_gradients)(int32_t n, int32_t klass, double bound, const double *p,
                                             const double *label, double *g, double *h) {
  double mine = (double)klass;
  for (int32_t i = 0; i < n; i++) {
    gbt_gh r = gbt_softmax_gradient(p[i], label[i] == mine ? 1.0 : 0.0, bound);
    g[i] = r.g;
    h[i] = r.h;
  }
}

TARGET static void KERNEL(weigh)(int32_t n, const double *weight, double *g, double *h) {
  for (int32_t i = 0; i < n; i++) {
    g[i] = g[i] * weight[i];
    h[i] = h[i] * weight[i];
  }
}

TARGET static void KERNEL(maxima)(int32_t n, const double *g, const double *h, double *max_g, double *max_h) {
  /* as bits: magnitudes of finite doubles order like unsigned integers, and integer maxima vectorise */
  uint64_t top_g = gbt_bits(*max_g), top_h = gbt_bits(*max_h);
  for (int32_t i = 0; i < n; i++) {
    uint64_t a = gbt_bits(g[i]) & 0x7fffffffffffffffu, b = gbt_bits(h[i]) & 0x7fffffffffffffffu; /* h may be -0 */
    top_g = a > top_g ? a : top_g;
    top_h = b > top_h ? b : top_h;
  }
  *max_g = gbt_from_bits(top_g);
  *max_h = gbt_from_bits(top_h);
}

TARGET static void KERNEL(squares)(int32_t n, const gbt_size_scale *scale, const double *g, const double *h,
                                   double *square) {
  const gbt_size_scale s = *scale;
  for (int32_t i = 0; i < n; i++) square[i] += gbt_size_square(&s, g[i], h[i]);
}

TARGET static void KERNEL(sizes)(int32_t n, const gbt_size_scale *scale, const double *square, gbt_sampled *row) {
  const gbt_size_scale s = *scale;
  for (int32_t i = 0; i < n; i++) row[i].size = gbt_size_of(&s, square[i]);
}

TARGET static int64_t KERNEL(factors)(int32_t n, const gbt_sample_rule *rule, gbt_key32 draw, gbt_key32 tie,
                                      uint64_t first_row, gbt_sampled *row) {
  const gbt_sample_rule r = *rule;
  int32_t n_in = 0;
  uint32_t size[CPU_BLOCK]; /* separate arrays, so that one loop computes all ratios: otherwise */
  float ratio[CPU_BLOCK];   /* rows are drawn one by one, with an unpredictable branch */
  if (r.kind == GBT_SAMPLE_MVS) {
    for (int32_t i = 0; i < n; i++) size[i] = row[i].size;
    for (int32_t i = 0; i < n; i++) ratio[i] = gbt_mvs_ratio(r.mu, size[i]);
    for (int32_t i = 0; i < n; i++) {
      const uint32_t hash = gbt_hash32(draw, first_row + (uint64_t)i);
      ratio[i] = gbt_mvs_choose(r.mu, r.mu_unit, hash, size[i], ratio[i]);
    }
    for (int32_t i = 0; i < n; i++) row[i].factor = ratio[i];
  } else if (r.kind == GBT_SAMPLE_GOSS) {
    for (int32_t i = 0; i < n; i++) size[i] = row[i].size;
    for (int32_t i = 0; i < n; i++) size[i] = gbt_size_bucket(size[i]);
    for (int32_t i = 0; i < n; i++) {
      const uint64_t its = first_row + (uint64_t)i;
      ratio[i] = gbt_goss_choose(&r, gbt_hash32(draw, its), gbt_hash32(tie, its), size[i]);
    }
    for (int32_t i = 0; i < n; i++) row[i].factor = ratio[i];
  } else
    for (int32_t i = 0; i < n; i++)
      row[i].factor = gbt_sample_factor(&r, draw, tie, first_row + (uint64_t)i, row[i].size);
  for (int32_t i = 0; i < n; i++) n_in += row[i].factor != 0.0f;
  return n_in;
}

TARGET static void KERNEL(draws)(int32_t n, gbt_key32 key, uint64_t first_row, uint64_t limit, uint8_t *drawn) {
  for (int32_t i = 0; i < n; i++) drawn[i] = gbt_hash32(key, first_row + (uint64_t)i) < limit;
}

TARGET static void KERNEL(multiply)(int32_t n, const gbt_sampled *row, double *g, double *h) {
  for (int32_t i = 0; i < n; i++) {
    const double factor = (double)row[i].factor;
    g[i] = g[i] * factor;
    h[i] = h[i] * factor;
  }
}

TARGET static void KERNEL(fix)(int32_t n, uint64_t first_row, gbt_key32 key, double up_g, double up_h, const double *g,
                               const double *h, gbt_gh16 *gh16, uint32_t *low, gbt_fixed_sums *sums) {
  int64_t size = 0, square = 0, sum_h = 0;
  for (int32_t i = 0; i < n; i++) {
    gbt_gh32 q = gbt_fix32(g[i], h[i], up_g, up_h);
    gbt_gh16 r = gbt_fix16(q, gbt_hash32(key, first_row + (uint64_t)i));
    int32_t g16 = r.g;
    low[i] = gbt_fix_low(q);
    gh16[i] = r;
    size += g16 < 0 ? -g16 : g16;
    square += g16 * g16;
    sum_h += r.h;
  }
  sums->size += size;
  sums->square += square;
  sums->h += sum_h;
}

TARGET static void KERNEL(fix_wide)(int32_t n, double up_g, double up_h, const double *g, const double *h,
                                    gbt_gh32 *gh32) {
  for (int32_t i = 0; i < n; i++) gh32[i] = gbt_fix32(g[i], h[i], up_g, up_h);
}

TARGET static gbt_sum KERNEL(rest)(uint32_t n, uint64_t rows_before, const uint32_t *rows, gbt_key32 key,
                                   const uint32_t *low) {
  const int narrow = rows_before == 0; /* of 32 bits */
  int32_t g = 0, h = 0;                /* 2^14 rows of less than 2^16 */
  for (uint32_t i = 0; i < n && !narrow; i++) {
    uint32_t row = rows[i], part = low[row], bits = gbt_hash32(key, rows_before + row);
    g += gbt_fix_rest_g(part, bits);
    h += gbt_fix_rest_h(part, bits);
  }
  for (uint32_t i = 0; i < n && narrow; i++) {
    uint32_t row = rows[i], part = low[row], bits = gbt_hash32(key, row);
    g += gbt_fix_rest_g(part, bits);
    h += gbt_fix_rest_h(part, bits);
  }
  gbt_sum sum = {g, h};
  return sum;
}

TARGET static void KERNEL(unfix)(int32_t n, uint64_t first_row, gbt_key32 key, const gbt_gh16 *gh16,
                                 const uint32_t *low, gbt_gh32 *gh32) {
  for (int32_t i = 0; i < n; i++) {
    uint32_t bits = gbt_hash32(key, first_row + (uint64_t)i);
    gh32[i].g = 65536 * gh16[i].g + gbt_fix_rest_g(low[i], bits);
    gh32[i].h = 65536u * gh16[i].h + (uint32_t)gbt_fix_rest_h(low[i], bits);
  }
}

TARGET static void KERNEL(gains)(int32_t n, const double *gl, const double *hl, const gbt_rated *rated, gbt_reg reg,
                                 double *gain) {
  const gbt_rated node = *rated; /* of its own: `gain` might point into it as far as the compiler knows */
  for (int32_t i = 0; i < n; i++) gain[i] = gbt_rate_free(&node, gl[i], hl[i], reg);
}

TARGET static int32_t KERNEL(list_cuts)(int32_t n_bins, const cpu_cut_list *to) {
  const cpu_cut_list list = *to;
  return list.both ? LIST_CUTS(n_bins, &list, 1) : LIST_CUTS(n_bins, &list, 0);
}

TARGET static void KERNEL(layer_gains)(int32_t n, const cpu_layer_codes *codes, const gbt_rated *rated, gbt_reg reg,
                                       double floor, double *right, double *left) {
  const gbt_rated node = *rated;
  const cpu_layer_codes c = *codes;
  if (c.both)
    LAYER_GAINS(n, &c, &node, reg, floor, right, left, 1);
  else
    LAYER_GAINS(n, &c, &node, reg, floor, right, left, 0);
}

TARGET static void KERNEL(standings)(int32_t n, const double *gain, const gbt_contest *contest, double handicap,
                                     uint64_t first, double least, double *standing) {
  const gbt_contest c = *contest;
  for (int32_t i = 0; i < n; i++) {
    const double count = gain[i] - handicap;
    const double its = gbt_candidate_standing(&c, count, first + (uint32_t)i);
    standing[i] = count > least ? its : 0.0;
  }
}

TARGET static int32_t KERNEL(first_largest)(int32_t n, const double *gain) {
  const int64_t infinity = INT64_C(0x7ff0000000000000); /* bits of NaN are above it, or below 0 */
  int64_t top = 0; /* bits of positive numbers order like whole ones; those of negative ones are below 0 */
  for (int32_t i = 0; i < n; i++) {
    const int64_t bits = (int64_t)gbt_bits(gain[i]);
    const int larger = (bits > top) & (bits <= infinity);
    top = larger ? bits : top;
  }
  if (top == 0) return -1;
  int32_t at = 0;
  while ((int64_t)gbt_bits(gain[at]) != top) at++;
  return at;
}

static const cpu_kernels KERNEL(table) = {.name = KERNEL_NAME,
                                          .gradients = KERNEL(gradients),
                                          .softmax = KERNEL(softmax),
                                          .softmax_class = KERNEL(softmax_class),
                                          .softmax_gradients = KERNEL(softmax_gradients),
                                          .softmax_stepped = KERNEL(softmax_stepped),
                                          .weigh = KERNEL(weigh),
                                          .maxima = KERNEL(maxima),
                                          .squares = KERNEL(squares),
                                          .sizes = KERNEL(sizes),
                                          .factors = KERNEL(factors),
                                          .draws = KERNEL(draws),
                                          .multiply = KERNEL(multiply),
                                          .fix = KERNEL(fix),
                                          .fix_wide = KERNEL(fix_wide),
                                          .rest = KERNEL(rest),
                                          .unfix = KERNEL(unfix),
                                          .gains = KERNEL(gains),
                                          .list_cuts = KERNEL(list_cuts),
                                          .layer_gains = KERNEL(layer_gains),
                                          .standings = KERNEL(standings),
                                          .first_largest = KERNEL(first_largest)};
