/* Categorical splits.
 *
 * One-hot: each level against the rest. Set: levels ordered by G / (H + cat_smooth), the smoothed mean gradient (0 when
 * nothing weighs: 0 / 0), and split into a first and a last part; for a convex loss the best set of all is among these
 * (Fisher 1958; Breiman et al. 1984, theorem 4.5). Ordering by gradients and then choosing by the same gradients
 * favours rare levels, so:
 *   - levels with fewer than cat_smooth rows in the node are not placed; they stay right
 *   - what pure noise would gain on average by such an order (gbt_set_noise) times cat_noise is taken off a set's gain;
 *     without this a factor of thousands of levels wins nearly every split and does not generalise to new rows
 *   - lambda grows by cat_l2 on both sides
 *   - a set holds at most max_cat_threshold levels, taken from either end
 *   - both sides need min_data_per_group rows, and a new candidate that many more than the last one tried */
#include "cpu.h"

#include <string.h>

/* Missing sums of the node; 0 when there are none. */
static int missing_sums(const cpu_search *in, gbt_sum *miss) {
  miss->g = miss->h = 0;
  if (!in->has_missing) return 0;
  *miss = in->sum[in->n_bins];
  return miss->g != 0 || miss->h != 0 || (in->count && in->count[in->n_bins] > 0);
}

static void try_split(const cpu_search *in, gbt_reg reg, gbt_split s, int64_t rows_left, int64_t least, double noise,
                      gbt_split *best) {
  if (in->count && (rows_left < least || gbt_grow_rows(in->node) - rows_left < least)) return;
  s.feat = in->feat;
  s.gain = cpu_gain(in, (double)s.left.g * in->unit.g, (double)s.left.h * in->unit.h, reg) - noise;
  GBT_ASSERT(s.left.h >= 0 && s.left.h <= in->node->sum.h);
  if (s.gain > in->min_gain && gbt_split_beats(&s, best)) *best = s;
}

void cpu_search_onehot(const cpu_search *in, cpu_scratch *scratch, gbt_split *best) {
  gbt_sum miss;
  int missing = missing_sums(in, &miss);
  const int32_t only = in->one_cut ? gbt_random_place(in->cut_key, in->feat, in->n_bins) : -1;
  (void)scratch;
  for (int32_t c = 0; c < in->n_bins; c++) {
    if (only >= 0 && c != only) continue;
    gbt_split s = {.kind = GBT_SPLIT_ONEHOT, .bin = c, .has_missing = (int8_t)missing, .left = in->sum[c]};
    int64_t rows = in->count ? in->count[c] : 0;
    try_split(in, in->reg, s, rows, in->min_rows, 0.0, best);
    if (!missing) continue;
    s.missing_left = 1;
    s.left.g += miss.g;
    s.left.h += miss.h;
    try_split(in, in->reg, s, rows + (in->count ? in->count[in->n_bins] : 0), in->min_rows, 0.0, best);
  }
}

/* Levels by ascending smoothed mean gradient, ties by bin. Heap sort: no recursion, no extra memory, n log n whatever
 * the order; and it may end early. */
static int goes_after(const cpu_scratch *s, uint32_t a, uint32_t b) {
  return s->ratio[a] > s->ratio[b] || (s->ratio[a] == s->ratio[b] && a > b);
}

/* Heaps have the last of all at the top, or (first) the first. */
static int goes_up(const cpu_scratch *s, int first, uint32_t a, uint32_t b) {
  return first ? goes_after(s, b, a) : goes_after(s, a, b);
}

static void sift_down(cpu_scratch *s, int32_t at, int32_t n, int first) {
  uint32_t v = s->level[at];
  for (int32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && goes_up(s, first, s->level[child + 1], s->level[child])) child++;
    if (!goes_up(s, first, s->level[child], v)) break;
    s->level[at] = s->level[child];
    at = child;
  }
  s->level[at] = v;
}

/* Heap sort that stops early: moves the last (first) `most` of level[0 .. n) after the others, the very last (first)
 * one to the end. */
static void heap_out(cpu_scratch *s, int32_t n, int32_t most, int first) {
  for (int32_t i = n / 2 - 1; i >= 0; i--) sift_down(s, i, n, first);
  for (int32_t end = n - 1; end > 0 && end >= n - most; end--) {
    uint32_t top = s->level[0];
    s->level[0] = s->level[end];
    s->level[end] = top;
    sift_down(s, 0, end, first);
  }
}

int32_t cpu_order_levels(const cpu_search *in, cpu_scratch *s, int32_t ends) {
  int32_t n = 0;
  for (int32_t c = 0; c < in->n_bins; c++) {
    if (!gbt_level_is_ordered(in->count[c], in->params->cat_smooth)) continue;
    s->ratio[c] = in->ratio ? in->ratio[c] : gbt_level_ratio(in->sum[c], in->unit, in->params->cat_smooth);
    s->level[n++] = (uint32_t)c;
  }
  if (n / 2 <= ends) {
    heap_out(s, n, n, 0);
    return n;
  }
  heap_out(s, n, ends, 0);
  int32_t rest = n - ends;
  heap_out(s, rest, ends, 1); /* the first ones now follow the middle, in reverse */
  for (int32_t i = 0, j = rest - 1; i < j; i++, j--) {
    uint32_t level = s->level[i];
    s->level[i] = s->level[j];
    s->level[j] = level;
  }
  return n;
}

void cpu_search_set(const cpu_search *in, cpu_scratch *scratch, gbt_split *best) {
  gbt_sum miss;
  int missing = missing_sums(in, &miss);
  int64_t miss_rows = missing ? in->count[in->n_bins] : 0;
  int32_t n = cpu_order_levels(in, scratch, (int32_t)in->params->max_cat_threshold);
  int32_t most = gbt_set_most(in->params, n);
  int64_t least = gbt_set_least(in->params, gbt_grow_rows(in->node));
  gbt_reg reg = gbt_set_reg(in->reg, in->params);
  const int32_t from = in->one_cut && most > 0 ? gbt_random_place(in->cut_key, in->feat, 2 * most) : -1;
  for (int top = 0; top < 2; top++) {
    gbt_sum left = {0, 0};
    int64_t rows = 0, since = 0;
    if (from >= 0 && top != (from >= most)) continue;
    for (int32_t k = 0, tried = 0; k < most && !tried; k++) {
      uint32_t c = scratch->level[top ? n - 1 - k : k];
      left.g += in->sum[c].g;
      left.h += in->sum[c].h;
      rows += in->count[c];
      since += in->count[c];
      if (since < least) continue;
      since = 0;
      if (top * most + k < from) continue;
      tried = from >= 0;
      double noise = gbt_set_cost(in->params, in->noise, k + 1, n);
      gbt_split s = {
          .kind = GBT_SPLIT_SET, .bin = k + 1, .from_top = (int8_t)top, .has_missing = (int8_t)missing, .left = left};
      try_split(in, reg, s, rows, least, noise, best);
      if (!missing) continue;
      s.missing_left = 1;
      s.left.g += miss.g;
      s.left.h += miss.h;
      try_split(in, reg, s, rows + miss_rows, least, noise, best);
    }
  }
}

void cpu_set_bits(const cpu_search *in, cpu_scratch *scratch, const gbt_split *split, uint32_t *words) {
  int32_t n = cpu_order_levels(in, scratch, split->bin);
  for (int32_t k = 0; k < split->bin; k++) {
    uint32_t c = scratch->level[split->from_top ? n - 1 - k : k];
    GBT_ASSERT(c < (uint32_t)in->n_bins);
    words[c >> 5] |= 1u << (c & 31);
  }
}
