/* Searching one feature of one node: what is known of it, and the searches by kind of feature. */
#ifndef GBT_CPU_CPU_SEARCH_H
#define GBT_CPU_CPU_SEARCH_H

#include "../tree/contest.h"
#include "../tree/random_cut.h"
#include "../tree/search.h"
#include "cpu_layer_gains.h"
#include "cpu_scratch.h"

/* One feature of one node, with everything the search needs. */
typedef struct cpu_search {
  const gbt_sum *sum;    /* n_slots: value bins without zero_bin, then missing */
  const int64_t *both;   /* packed sums, instead of `sum`: numeric features of a packed sparse part, accumulators */
  const uint32_t *count; /* the same, or NULL */
  const double *ratio;   /* by code: what levels are put in order by; NULL: their own sums */
  uint32_t n_slots;
  int32_t feat, n_bins,
      zero_bin;        /* zero_bin >= 0: this code is not in the histogram; it follows from the node's total */
  int32_t has_missing; /* the missing code may hold something */
  int packed;          /* 1: the sparse part of the node's histogram is packed */
  const gbt_grow_node *node;
  gbt_rated rated; /* the node's */
  gbt_units unit;
  gbt_reg reg;
  int32_t sign; /* monotone constraint */
  double min_gain;
  double noise; /* of the gradients, see gbt_noise */
  int64_t min_rows;
  const gbt_params *params;
  gbt_contest contest; /* the node's */
  int one_cut;         /* a feature has one cut drawn at random: tree/random_cut.h */
  gbt_key32 cut_key;
} cpu_search;

/* How splits compete for a node or layer where more than gains decides. See gbt_contest_of. */
gbt_contest cpu_contest(const struct cpu_backend *be, uint64_t of, double before);

/* The key by which cuts are drawn in a node or layer. */
gbt_key32 cpu_cut_key(const struct cpu_backend *be, uint64_t of);

/* Fills `in` for a node, and then for a feature of it; the sums of a categorical one may lie in the scratch. */
void cpu_search_node(const struct cpu_backend *be, const gbt_grow_node *node, cpu_search *in);
void cpu_search_feature(const struct cpu_backend *be, int32_t feat, cpu_scratch *scratch, cpu_search *in);

/* Sums of a slot of the feature. */
static inline gbt_sum cpu_search_sum(const cpu_search *in, uint32_t slot) {
  return in->both ? cpu_unpack(in->both[slot]) : in->sum[slot];
}

/* Gain of a split with left sums gl, hl (real), or -1 when it is not allowed. */
static inline double cpu_gain(const cpu_search *in, double gl, double hl, gbt_reg reg) {
  return gbt_rate_split(&in->rated, gl, hl, reg, in->sign);
}

/* The best split of the feature, where it beats *best. */
void cpu_search_numeric(const struct cpu_backend *be, const cpu_search *in, cpu_scratch *scratch, gbt_split *best);
void cpu_search_onehot(const cpu_search *in, cpu_scratch *scratch, gbt_split *best);
void cpu_search_set(const cpu_search *in, cpu_scratch *scratch, gbt_split *best);

/* Which features have a single cut, and where its sums are: be->split.single. */
gbt_status cpu_singles_make(struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Searches those of n <= CPU_SPLIT_FEATS features that have a single cut in the node; the others come back in
 * scratch->rest, their number is returned. */
int32_t cpu_search_singles(const struct cpu_backend *be, cpu_search *in, const int32_t *feats, int32_t n,
                           cpu_scratch *scratch, gbt_split *best);

/* The levels that a SET split sends left, as bits. */
void cpu_set_bits(const cpu_search *in, cpu_scratch *scratch, const gbt_split *split, uint32_t *words);

/* Levels into scratch->level in order of gradient, those with fewer than cat_smooth rows left out. The first and the
 * last `ends` are in place, between them is any order. Returns their number. */
int32_t cpu_order_levels(const cpu_search *in, cpu_scratch *scratch, int32_t ends);

#endif
