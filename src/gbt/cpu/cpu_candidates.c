/* The gain of every candidate of a feature in a node, for sums over the nodes of a layer or over trees; and the best
 * candidate by such a sum.
 *
 * A candidate that the node could not be split by on its own (a child too light or with too few rows, the wrong way
 * round for a monotone constraint), or that would not gain, adds nothing. */
#include "cpu_layer_impl.h"

/* A level of the order, from its first or its last one on. */
static int32_t level_of(const cpu_candidates *c, int from_top, int32_t k) {
  return (int32_t)c->order[from_top ? c->n_placed - 1 - k : k];
}

/* Left sums of n candidates with missing values right into g, h, rows of scratch. from_top: sets only. */
static int32_t left_sums(const node_codes *codes, const cpu_candidates *of, int from_top, cpu_scratch *scratch) {
  const cpu_search *in = codes->in;
  const gbt_split_kind kind = of->kind;
  int32_t n = kind == GBT_SPLIT_SET ? of->most : in->n_bins;
  gbt_sum run = {0, 0};
  int64_t rows = 0;
  if (kind == GBT_SPLIT_NUMERIC && !in->has_missing) n--; /* all left is no split */
  for (int32_t k = 0; k < n; k++) {
    int32_t c = kind == GBT_SPLIT_SET ? level_of(of, from_top, k) : k;
    gbt_sum add = sum_at(codes, c);
    if (kind == GBT_SPLIT_ONEHOT) run.g = run.h = rows = 0;
    run.g += add.g;
    run.h += add.h;
    scratch->g[k] = (double)run.g * in->unit.g;
    scratch->h[k] = (double)run.h * in->unit.h;
    if (in->count) scratch->rows[k] = rows += rows_at(codes, c);
  }
  return n;
}

/* Gains of n candidates; at most 0 where a node is kept. */
static void node_gains(const cpu_backend *be, const cpu_search *in, gbt_reg reg, int32_t n, int64_t more_left,
                       cpu_scratch *scratch) {
  if (in->rated.constrained)
    for (int32_t i = 0; i < n; i++) scratch->gain[i] = cpu_gain(in, scratch->g[i], scratch->h[i], reg);
  else
    be->kernels->gains(n, scratch->g, scratch->h, &in->rated, reg, scratch->gain);
  if (in->min_rows <= 1) return;
  for (int32_t i = 0; i < n; i++) {
    int64_t left = scratch->rows[i] + more_left, right = gbt_grow_rows(in->node) - left;
    if (left < in->min_rows || right < in->min_rows) scratch->gain[i] = -1.0;
  }
}

static void add_gains(const double *gain, int32_t n, double floor, double *sum) {
  for (int32_t i = 0; i < n; i++) sum[i] += gain[i] > floor ? gain[i] : 0.0;
}

/* Slots [beg, end) to `to`. Returns what they hold together; *any gets a bit where one of them holds something. */
GBT_FN gbt_sum copy_slots(const cpu_search *in, uint32_t beg, uint32_t end, gbt_sum *to, int64_t *any, int packed) {
  gbt_sum total = {0, 0};
  for (uint32_t i = beg; i < end; i++) {
    const gbt_sum v = packed ? cpu_unpack(in->both[i]) : in->sum[i];
    to[i - beg] = v;
    total.g += v.g;
    total.h += v.h;
    *any |= v.g | v.h;
  }
  return total;
}

/* The sums of all codes, missing among them, of a feature whose zero bin is not in the histogram. Returns 0 where no
 * slot holds anything: the zero bin has all that the node has. */
static int by_code(const cpu_search *in, gbt_sum *to) {
  const uint32_t zero = (uint32_t)in->zero_bin;
  int64_t any = 0;
  gbt_sum below, above;
  GBT_ASSERT(in->zero_bin >= 0 && zero <= in->n_slots);
  to[in->n_bins] = (gbt_sum){0, 0};
  if (in->both) {
    below = copy_slots(in, 0, zero, to, &any, 1);
    above = copy_slots(in, zero, in->n_slots, to + zero + 1, &any, 1);
  } else {
    below = copy_slots(in, 0, zero, to, &any, 0);
    above = copy_slots(in, zero, in->n_slots, to + zero + 1, &any, 0);
  }
  to[zero] = (gbt_sum){in->node->sum.g - below.g - above.g, in->node->sum.h - below.h - above.h};
  return any != 0;
}

/* The usual case: numbers, nothing clips values and no rows are counted. */
static void add_cuts(const cpu_backend *be, const cpu_search *in, const cpu_candidates *to, cpu_scratch *scratch) {
  cpu_layer_codes c = {.sum = in->sum, .both = in->both, .unit = in->unit};
  const int32_t n = in->n_bins - !in->has_missing; /* all left is no split */
  const double floor = floor_of(in);
  if (in->zero_bin >= 0) {
    const int any = by_code(in, scratch->sum);
    if (!any && in->zero_bin < in->n_bins) return; /* every cut has all rows on one side, and none is missing */
    c.sum = scratch->sum;
    c.both = NULL;
  }
  gbt_sum miss = {0, 0};
  if (in->has_missing) miss = c.both ? cpu_unpack(c.both[in->n_bins]) : c.sum[in->n_bins];
  const int missing = miss.g != 0 || miss.h != 0;
  be->kernels->layer_gains(n, &c, &in->rated, in->reg, floor, to->right,
                           in->has_missing && !missing ? to->left : NULL);
  if (!missing) return;
  c.more = (gbt_units){(double)miss.g * in->unit.g, (double)miss.h * in->unit.h};
  *to->missing = 1;
  be->kernels->layer_gains(n, &c, &in->rated, in->reg, floor, to->left, NULL);
}

/* One end of the order, or all candidates of another kind. */
static void add_candidates(const cpu_backend *be, const node_codes *codes, const cpu_candidates *to, int from_top,
                           cpu_scratch *scratch) {
  const cpu_search *in = codes->in;
  double *right = to->right + (from_top ? to->most : 0), *left = to->left + (from_top ? to->most : 0);
  gbt_reg reg = reg_of(be, to->kind);
  double floor = floor_of(in);
  int32_t n = left_sums(codes, to, from_top, scratch);
  node_gains(be, in, reg, n, 0, scratch);
  add_gains(scratch->gain, n, floor, right);
  if (!in->has_missing) return;
  gbt_sum miss = sum_at(codes, in->n_bins);
  int64_t miss_rows = in->count ? rows_at(codes, in->n_bins) : 0;
  if (miss.g != 0 || miss.h != 0 || miss_rows > 0) {
    double g = (double)miss.g * in->unit.g, h = (double)miss.h * in->unit.h;
    *to->missing = 1;
    for (int32_t i = 0; i < n; i++) {
      scratch->g[i] += g;
      scratch->h[i] += h;
    }
    node_gains(be, in, reg, n, miss_rows, scratch);
  }
  add_gains(scratch->gain, n, floor, left);
}

void cpu_add_gains(const cpu_backend *be, const cpu_search *in, const cpu_candidates *to, cpu_scratch *scratch) {
  if (to->kind == GBT_SPLIT_NUMERIC && !in->rated.constrained && !in->count) {
    add_cuts(be, in, to, scratch);
    return;
  }
  const node_codes codes = codes_of(in);
  add_candidates(be, &codes, to, 0, scratch);
  if (to->kind == GBT_SPLIT_SET) add_candidates(be, &codes, to, 1, scratch);
}

void cpu_mark_sets(const cpu_search *in, const cpu_candidates *of, uint8_t *tried) {
  const int64_t all = gbt_grow_rows(in->node), least = gbt_set_least(in->params, all);
  const int64_t missing = in->has_missing ? in->count[in->n_bins] : 0;
  for (int top = 0; top < 2; top++) {
    int64_t rows = 0, since = 0;
    for (int32_t k = 0; k < of->most; k++) {
      const uint32_t count = in->count[level_of(of, top, k)];
      rows += count;
      since += count;
      tried[top * of->most + k] = 0;
      if (since < least) continue;
      since = 0;
      const int right = rows >= least && all - rows >= least;
      const int left = rows + missing >= least && all - rows - missing >= least;
      tried[top * of->most + k] = (uint8_t)((right ? CPU_TRY_RIGHT : 0) | (left ? CPU_TRY_LEFT : 0));
    }
  }
}

/* ---- the best ---- */

static void take(const cpu_terms *terms, gbt_split s, double gain, gbt_split *best) {
  gbt_split x, y = *best;
  s.gain = gain;
  if (!(gain > terms->least)) return;
  x = s;
  if (terms->contest->noisy) {
    x.gain = gbt_layer_standing(terms->contest, &s, terms->least);
    if (!(x.gain > 0.0)) return;
    if (best->kind != GBT_SPLIT_NONE) y.gain = gbt_layer_standing(terms->contest, best, terms->least);
  }
  if (gbt_split_beats(&x, &y)) *best = s;
}

static void best_set(const cpu_backend *be, const cpu_candidates *of, const cpu_terms *terms, gbt_split s,
                     gbt_split *best) {
  const double *gain = s.missing_left ? of->left : of->right;
  int32_t only = -1;
  if (be->params->extra_trees && of->most > 0)
    only = gbt_first_tried(terms->tried, of->most, gbt_random_place(terms->cut_key, s.feat, 2 * of->most));
  if (be->params->extra_trees && only < 0) return;
  for (int32_t i = 0; i < 2 * of->most; i++) {
    if (only >= 0 && i != only) continue;
    if (!(terms->tried[i] & (s.missing_left ? CPU_TRY_LEFT : CPU_TRY_RIGHT))) continue;
    s.bin = i % of->most + 1;
    s.from_top = i >= of->most;
    take(terms, s, gain[i] - gbt_set_cost(be->params, cpu_set_noise(be), s.bin, of->n_placed), best);
  }
}

/* Of n candidates from `first` on, which lie side by side: the place of the best one, or -1. */
static int32_t best_place(const cpu_backend *be, int32_t n, const double *gain, const gbt_split *first,
                          const cpu_terms *terms, cpu_scratch *scratch) {
  const gbt_contest *contest = terms->contest;
  if (!contest->noisy) return be->kernels->first_largest(n, gain);
  const double handicap = contest->handicap ? contest->handicap[first->feat] : 0.0;
  const uint64_t number = gbt_candidate(first->feat, first->missing_left, first->from_top, first->bin);
  be->kernels->standings(n, gain, contest, handicap, number, terms->least, scratch->gain);
  return be->kernels->first_largest(n, scratch->gain);
}

void cpu_best_candidate(const cpu_backend *be, int32_t feat, const cpu_candidates *of, const cpu_terms *terms,
                        cpu_scratch *scratch, gbt_split *best) {
  const int32_t n_bins = be->cuts->feat[feat].n_bins, only = terms->only;
  const int missing = *of->missing;
  for (int left = 0; left <= missing; left++) {
    const double *gain = left ? of->left : of->right;
    gbt_split s = {.kind = (int32_t)of->kind, .feat = feat, .missing_left = (int8_t)left,
                   .has_missing = (int8_t)missing};
    if (of->kind == GBT_SPLIT_SET) {
      best_set(be, of, terms, s, best);
      continue;
    }
    /* all numbers go left only when missing values go right */
    const int32_t n = of->kind == GBT_SPLIT_ONEHOT || (missing && !left) ? n_bins : n_bins - 1;
    s.bin = only < 0 ? best_place(be, n, gain, &s, terms, scratch) : only < n && gain[only] > 0.0 ? only : -1;
    if (s.bin >= 0) take(terms, s, gain[s.bin], best);
  }
}

gbt_sum cpu_left_of(const cpu_backend *be, const gbt_grow_node *node, const cpu_search *in, int64_t *rows) {
  const node_codes codes = codes_of(in);
  gbt_sum left = {0, 0};
  *rows = 0;
  for (int32_t c = 0; c < in->n_bins + in->has_missing; c++) {
    if (!cpu_goes_left(be, node, c)) continue;
    const gbt_sum add = sum_at(&codes, c);
    left.g += add.g;
    left.h += add.h;
    *rows += rows_at(&codes, c);
  }
  return left;
}
