/* Numeric splits of one node.
 *
 * A feature: its bins that hold something become a list, with prefix sums in integers, turned to real numbers; one
 * vector loop computes the gains of the cuts after them; the first of the largest wins. A cut after an empty bin has
 * the sums, and so the gain, of the cut before it, and the lower bin wins: empty bins are skipped. Bin 0 is always
 * listed: the cut after it separates missing values from all others. With missing values in the node it is done twice,
 * missing right and left.
 *
 * Features of two bins have one cut: the cuts of many of them go through the vector loop together. */
#include "cpu.h"

/* ---- one feature ---- */

/* Bins of the node, in scratch->level (codes), sum and rows; sums and rows of all of them. */
typedef struct bins {
  int32_t n, n_filled; /* n_filled: without those that are listed although they are empty */
  gbt_sum total;
  int64_t rows;
} bins;

GBT_FN void list_slots(const cpu_search *in, uint32_t beg, uint32_t end, int32_t shift, int packed, int counts,
                       cpu_scratch *s, bins *b) {
  int32_t n = b->n;
  gbt_sum total = b->total;
  for (uint32_t i = beg; i < end; i++) {
    gbt_sum v;
    if (packed)
      v = cpu_unpack(in->both[i]);
    else
      v = in->sum[i];
    int filled = (v.g != 0) | (v.h != 0);
    if (counts) {
      filled |= in->count[i] != 0;
      s->rows[n] = in->count[i];
      b->rows += in->count[i];
    }
    s->level[n] = i + (uint32_t)shift;
    s->sum[n] = v;
    total.g += v.g;
    total.h += v.h;
    b->n_filled += filled;
    n += filled | (i + (uint32_t)shift == 0);
  }
  b->n = n;
  b->total = total;
}

static void list_run(const cpu_search *in, uint32_t beg, uint32_t end, int32_t shift, cpu_scratch *s, bins *b) {
  if (in->both && in->count)
    list_slots(in, beg, end, shift, 1, 1, s, b);
  else if (in->both)
    list_slots(in, beg, end, shift, 1, 0, s, b);
  else if (in->count)
    list_slots(in, beg, end, shift, 0, 1, s, b);
  else
    list_slots(in, beg, end, shift, 0, 0, s, b);
}

/* cpu_search_singles takes features of two bins by the sums of one bin, so missing values that the cuts do not know
 * count for the other bin. The same must hold here, for nodes without histograms. */
static int trusts_cuts(const cpu_backend *be, const cpu_search *in) {
  const cpu_single *one = &be->split.single[in->feat];
  return one->kind != 0 && one->missing == 0 && !be->split.constrained;
}

/* Lists the value bins; the sums of missing values go to *miss and *miss_rows. */
static bins list_bins(const cpu_backend *be, const cpu_search *in, cpu_scratch *s, gbt_sum *miss, int64_t *miss_rows) {
  bins b = {0, 0, {0, 0}, 0};
  int zero_listed = in->zero_bin >= 0 && in->zero_bin < in->n_bins;
  uint32_t n_value = (uint32_t)(in->n_bins - zero_listed);
  uint32_t below = zero_listed ? (uint32_t)in->zero_bin : n_value;
  *miss = (gbt_sum){0, 0};
  *miss_rows = 0;
  list_run(in, 0, below, 0, s, &b);
  int32_t zero_at = b.n;
  b.n += zero_listed; /* a place for it; its sums follow */
  list_run(in, below, n_value, zero_listed, s, &b);
  if (in->n_slots > n_value && !trusts_cuts(be, in)) {
    *miss = cpu_search_sum(in, n_value);
    if (in->count) *miss_rows = in->count[n_value];
  }
  if (in->zero_bin < 0) return b;
  gbt_sum zero = {in->node->sum.g - b.total.g - miss->g, in->node->sum.h - b.total.h - miss->h};
  int64_t zero_rows = in->count ? gbt_grow_rows(in->node) - b.rows - *miss_rows : 0;
  if (zero_listed) {
    s->level[zero_at] = (uint32_t)in->zero_bin;
    s->sum[zero_at] = zero;
    s->rows[zero_at] = zero_rows;
  } else {
    *miss = zero;
    *miss_rows = zero_rows;
  }
  return b;
}

/* Sums so far, in scratch->sum (for rows: scratch->rows) and as real numbers in g and h. */
static void add_up(const cpu_search *in, int32_t n, cpu_scratch *s) {
  gbt_sum run = {0, 0};
  int64_t rows = 0;
  for (int32_t i = 0; i < n; i++) {
    run.g += s->sum[i].g;
    run.h += s->sum[i].h;
    s->sum[i] = run;
    s->g[i] = (double)run.g * in->unit.g;
    s->h[i] = (double)run.h * in->unit.h;
    if (in->count) s->rows[i] = rows += s->rows[i];
  }
}

/* list_bins and add_up in one pass for the usual case: all bins have slots, and rows are not counted. */
static bins list_dense(const cpu_backend *be, const cpu_search *in, cpu_scratch *s, gbt_sum *miss) {
  const cpu_cut_list to = {in->sum, in->both, in->unit, s->level, s->sum, s->g, s->h, s->rows, s->part};
  const int32_t n = be->kernels->list_cuts(in->n_bins, &to);
  const int empty = s->sum[0].g == 0 && s->sum[0].h == 0;
  const gbt_sum total = s->sum[n - 1];
  *miss = in->n_slots > (uint32_t)in->n_bins ? cpu_search_sum(in, (uint32_t)in->n_bins) : (gbt_sum){0, 0};
  GBT_ASSERT(total.g + miss->g == in->node->sum.g && total.h + miss->h == in->node->sum.h); /* every row is in a bin */
  if (trusts_cuts(be, in)) *miss = (gbt_sum){0, 0};
  return (bins){.n = n, .n_filled = n - empty, .total = total};
}

/* Gains of the n cuts in scratch->g, h; -1 where a child has too few rows. */
static void all_gains(const cpu_backend *be, const cpu_search *in, cpu_scratch *scratch, int32_t n, int64_t more_left) {
  if (in->rated.constrained)
    for (int32_t i = 0; i < n; i++) scratch->gain[i] = cpu_gain(in, scratch->g[i], scratch->h[i], in->reg);
  else
    be->kernels->gains(n, scratch->g, scratch->h, &in->rated, in->reg, scratch->gain);
  if (!in->count) return;
  for (int32_t i = 0; i < n; i++) {
    int64_t left = scratch->rows[i] + more_left, right = gbt_grow_rows(in->node) - left;
    if (left < in->min_rows || right < in->min_rows) scratch->gain[i] = -1.0;
  }
}

/* The first largest gain that is worth it; -1: none. */
static int32_t first_largest(const cpu_backend *be, const cpu_search *in, const double *gain, int32_t n) {
  const int32_t at = be->kernels->first_largest(n, gain);
  return at >= 0 && gain[at] > in->min_gain ? at : -1;
}

static void take_best(const cpu_backend *be, const cpu_search *in, const cpu_scratch *scratch, int32_t n, int missing,
                      const gbt_sum *left, gbt_split *best) {
  int32_t at = first_largest(be, in, scratch->gain, n);
  if (at < 0) return;
  gbt_split s = {.gain = scratch->gain[at],
                 .kind = GBT_SPLIT_NUMERIC,
                 .feat = in->feat,
                 .bin = (int32_t)scratch->level[at],
                 .missing_left = left != NULL,
                 .has_missing = (int8_t)missing,
                 .left = scratch->sum[at]};
  if (left) {
    s.left.g += left->g;
    s.left.h += left->h;
  }
  GBT_ASSERT(s.left.h >= 0 && s.left.h <= in->node->sum.h);
  if (gbt_split_beats(&s, best)) *best = s;
}

/* ---- a cut drawn at random ---- */

/* Whether the i-th listed bin holds nothing: sums and rows are those so far. */
static int holds_nothing(const cpu_search *in, const cpu_scratch *s, int32_t i) {
  const gbt_sum before = i > 0 ? s->sum[i - 1] : (gbt_sum){0, 0};
  if (s->sum[i].g != before.g || s->sum[i].h != before.h) return 0;
  return !in->count || s->rows[i] == (i > 0 ? s->rows[i - 1] : 0);
}

/* Of n listed bins, with sums so far in scratch. */
static void search_one_cut(const cpu_search *in, const cpu_scratch *scratch, int32_t n, int missing, gbt_sum miss,
                           int64_t miss_rows, gbt_split *best) {
  int32_t first = 0;
  while (n > 0 && holds_nothing(in, scratch, n - 1)) n--;
  while (first < n && holds_nothing(in, scratch, first)) first++;
  if (n == 0) return;
  const int32_t low = (int32_t)scratch->level[first], high = (int32_t)scratch->level[n - 1];
  const int32_t cut = gbt_random_cut(in->cut_key, in->feat, low, high, missing);
  if (cut < 0) return;
  int32_t at = n - 1;
  while ((int32_t)scratch->level[at] > cut) at--;
  gbt_split s = {.kind = GBT_SPLIT_NUMERIC, .feat = in->feat, .bin = cut, .has_missing = (int8_t)missing};
  double g = scratch->g[at], h = scratch->h[at];
  int64_t rows = in->count ? scratch->rows[at] : 0;
  s.left = scratch->sum[at];
  for (int left = 0; left <= missing && !(left && cut == in->n_bins - 1); left++) {
    if (left) {
      g += (double)miss.g * in->unit.g;
      h += (double)miss.h * in->unit.h;
      s.left.g += miss.g;
      s.left.h += miss.h;
      rows += miss_rows;
    }
    s.missing_left = (int8_t)left;
    s.gain = cpu_gain(in, g, h, in->reg);
    if (in->count && (rows < in->min_rows || gbt_grow_rows(in->node) - rows < in->min_rows)) continue;
    if (s.gain > in->min_gain && gbt_split_beats(&s, best)) *best = s;
  }
}

/* ---- all cuts ---- */

void cpu_search_numeric(const cpu_backend *be, const cpu_search *in, cpu_scratch *scratch, gbt_split *best) {
  gbt_sum miss;
  int64_t miss_rows = 0;
  int usual = in->zero_bin < 0 && !in->count;
  bins b = usual ? list_dense(be, in, scratch, &miss) : list_bins(be, in, scratch, &miss, &miss_rows);
  int missing = miss.g != 0 || miss.h != 0 || miss_rows > 0;
  if (b.n_filled == 0 && !missing) return; /* all rows are in the zero bin */
  if (!usual) add_up(in, b.n, scratch);
  if (in->one_cut) {
    search_one_cut(in, scratch, b.n, missing, miss, miss_rows, best);
    return;
  }
  /* missing right; only then may all numbers go left */
  int32_t n_left = b.n - (b.n > 0 && (int32_t)scratch->level[b.n - 1] == in->n_bins - 1);
  int32_t n_right = missing ? b.n : n_left;
  all_gains(be, in, scratch, n_right, 0);
  take_best(be, in, scratch, n_right, missing, NULL, best);
  if (!missing) return;
  double mg = (double)miss.g * in->unit.g, mh = (double)miss.h * in->unit.h;
  for (int32_t c = 0; c < n_left; c++) {
    scratch->g[c] += mg;
    scratch->h[c] += mh;
  }
  all_gains(be, in, scratch, n_left, miss_rows);
  take_best(be, in, scratch, n_left, missing, &miss, best);
}

/* ---- features of two bins ---- */

enum { SINGLE = 1, SINGLE_REST = 2, SINGLE_SPARSE = 4 };

gbt_status cpu_singles_make(cpu_backend *be, gbt_error *err) {
  const gbt_layout *layout = be->layout;
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)layout->n_features, sizeof *be->split.single, &be->split.single, err));
  for (int32_t f = 0; f < layout->n_features; f++) {
    const gbt_place *place = &layout->place[f];
    const gbt_feature_cuts *cuts = &be->cuts->feat[f];
    cpu_single *one = &be->split.single[f];
    if (!gbt_layout_uses(layout, f) || cuts->n_bins != 2 || be->cuts->schema->feat[f].type == GBT_CATEGORICAL ||
        place->zero_bin > 1)
      continue;
    one->kind = SINGLE;
    if (place->zero_bin == 0) one->kind |= SINGLE_REST;
    if (place->group < 0) one->kind |= SINGLE_SPARSE;
    one->slot = place->slot_beg;
    if (cuts->has_missing && gbt_place_has_missing(place, 2)) one->missing = (uint8_t)(place->n_slots - 1);
  }
  return GBT_OK;
}

static gbt_sum slot_sum(const cpu_backend *be, const cpu_hist *hist, int packed, uint32_t slot) {
  uint32_t base = be->layout->sparse_slot;
  if (!packed) return hist->sum[slot];
  return cpu_unpack(((const int64_t *)(const void *)(hist->sum + base))[slot - base]);
}

/* The cut of the feature at place i, where it is worth it and wins. */
static void take_single(const cpu_search *in, const cpu_scratch *scratch, int32_t i, gbt_split *best) {
  gbt_split s = {.gain = scratch->gain[i], .kind = GBT_SPLIT_NUMERIC, .feat = (int32_t)scratch->level[i]};
  s.left = scratch->sum[i];
  if (!(s.gain > in->min_gain) || !gbt_contest_admits(&in->contest, &s, in->min_gain)) return;
  if (gbt_contest_beats(&in->contest, &s, best)) *best = s;
}

int32_t cpu_search_singles(const cpu_backend *be, cpu_search *in, const int32_t *feats, int32_t n, cpu_scratch *scratch,
                           gbt_split *best) {
  const cpu_hist *hist = &be->pool.hist[in->node->hist];
  int32_t m = 0, n_rest = 0;
  in->count = in->min_rows > 1 ? hist->count : NULL; /* for all_gains: any but NULL */
  for (int32_t k = 0; k < n; k++) {
    const cpu_single *one = &be->split.single[feats[k]];
    int packed = be->pool.packed && one->kind & SINGLE_SPARSE, general = !one->kind || be->split.constrained;
    if (!general && one->missing) {
      gbt_sum miss = slot_sum(be, hist, packed, one->slot + one->missing);
      general = miss.g != 0 || miss.h != 0 || (in->count && in->count[one->slot + one->missing]);
    }
    if (general) {
      scratch->rest[n_rest++] = feats[k];
      continue;
    }
    gbt_sum left = slot_sum(be, hist, packed, one->slot);
    int64_t rows = in->count ? in->count[one->slot] : 0;
    if (one->kind & SINGLE_REST) {
      left = (gbt_sum){in->node->sum.g - left.g, in->node->sum.h - left.h};
      rows = gbt_grow_rows(in->node) - rows;
    }
    scratch->level[m] = (uint32_t)feats[k];
    scratch->sum[m] = left;
    scratch->rows[m] = rows;
    scratch->g[m] = (double)left.g * in->unit.g;
    scratch->h[m++] = (double)left.h * in->unit.h;
  }
  all_gains(be, in, scratch, m, 0);
  if (in->contest.on) {
    for (int32_t i = 0; i < m; i++) take_single(in, scratch, i, best);
  } else {
    int32_t at = first_largest(be, in, scratch->gain, m);
    if (at >= 0) take_single(in, scratch, at, best);
  }
  return n_rest;
}
