/* Shared by what searches for the splits of layers, or of trees that grow together: see cpu_split_layer.c,
 * cpu_layer_decide.c, cpu_candidates.c, cpu_split_together.c. */
#ifndef GBT_CPU_CPU_LAYER_IMPL_H
#define GBT_CPU_CPU_LAYER_IMPL_H

#include "cpu.h"

enum { LAYER_SLOTS = 1024, LAYER_FEATS = 64 };
enum { CPU_TRY_RIGHT = 1, CPU_TRY_LEFT = 2 }; /* a set is a candidate with missing values right, left */

/* The candidates of a feature. */
typedef struct cpu_candidates {
  gbt_split_kind kind;
  double *right, *left;  /* gains are added here, by candidate: missing values right, left. Sets of the last levels
                            follow those of the first ones. left: only where the feature may have missing values */
  int8_t *missing;       /* becomes 1 where the node has missing values */
  const uint32_t *order; /* SET: levels in order, n_placed of them; sets of up to `most` from either end */
  int32_t n_placed, most;
} cpu_candidates;

/* The gains in a node; in->feat is the feature. */
void cpu_add_gains(const cpu_backend *be, const cpu_search *in, const cpu_candidates *to, cpu_scratch *scratch);

/* Which candidates of a feature compete, and how. */
typedef struct cpu_terms {
  double least;               /* a gain must exceed it */
  const gbt_contest *contest; /* noisy: a candidate's standing decides (gbt_layer_standing), else the larger gain */
  gbt_key32 cut_key;          /* extra_trees: which candidates are drawn by */
  int32_t only;               /* the same: the only one of a feature that is not split by sets; -1: all of them */
  const uint8_t *tried;       /* SET: by candidate, see CPU_TRY_ */
} cpu_terms;

/* The best candidate of a feature, whose gains are in *of, becomes *best if it beats that, which is of this feature or
 * none. */
void cpu_best_candidate(const cpu_backend *be, int32_t feat, const cpu_candidates *of, const cpu_terms *terms,
                        cpu_scratch *scratch, gbt_split *best);

/* Of the rows of a node, in the histogram of one of its trees: the sum of those that its split sends left, and how many
 * they are, 0 where they are not counted. */
gbt_sum cpu_left_of(const cpu_backend *be, const gbt_grow_node *node, const cpu_search *in, int64_t *rows);

/* By candidate, which sets have enough rows, and enough more than the last one that was tried (as cpu_search_set). */
void cpu_mark_sets(const cpu_search *in, const cpu_candidates *of, uint8_t *tried);

/* The candidates of a feature, with what all nodes of the layer gain. */
cpu_candidates cpu_layer_candidates(const cpu_backend *be, int32_t feat);

/* Whether this rank puts the levels of a feature in order, by the root's histogram, which is in *in then. */
int cpu_layer_orders(const cpu_backend *be, int32_t feat, cpu_scratch *scratch, cpu_search *in);
/* The levels of in->feat into the order that the whole tree has, and which sets of them are tried. */
void cpu_layer_order(cpu_backend *be, const cpu_search *in, cpu_scratch *scratch);

static inline gbt_split_kind kind_of(const cpu_backend *be, int32_t feat) {
  if (be->split.plan[feat].by_sets) return GBT_SPLIT_SET;
  return be->cuts->schema->feat[feat].type == GBT_CATEGORICAL ? GBT_SPLIT_ONEHOT : GBT_SPLIT_NUMERIC;
}

static inline gbt_reg reg_of(const cpu_backend *be, gbt_split_kind kind) {
  gbt_reg reg = be->fr.policy.reg;
  return kind == GBT_SPLIT_SET ? gbt_set_reg(reg, be->params) : reg;
}

/* Sets that are tried of either end of the order. */
static inline int32_t set_most(const cpu_backend *be, int32_t feat) {
  return gbt_set_most(be->params, be->layer.n_placed[feat]);
}

static inline uint32_t level_at(const cpu_backend *be, int32_t feat, int from_top, int32_t k) {
  const uint32_t *order = be->layer.order + be->layer.beg[feat];
  return order[from_top ? be->layer.n_placed[feat] - 1 - k : k];
}

/* A code's sums and rows, the zero bin of a sparse feature included. */
typedef struct node_codes {
  const cpu_search *in;
  gbt_sum zero;
  int64_t zero_rows;
} node_codes;

static inline node_codes codes_of(const cpu_search *in) {
  node_codes n = {in, in->node->sum, gbt_grow_rows(in->node)};
  for (int32_t s = 0; in->zero_bin >= 0 && s < (int32_t)in->n_slots; s++) {
    gbt_sum less = cpu_search_sum(in, (uint32_t)s);
    n.zero.g -= less.g;
    n.zero.h -= less.h;
    if (in->count) n.zero_rows -= in->count[s];
  }
  return n;
}

static inline int32_t slot_at(const cpu_search *in, int32_t c) { return c - (in->zero_bin >= 0 && c > in->zero_bin); }

static inline gbt_sum sum_at(const node_codes *n, int32_t c) {
  return c == n->in->zero_bin ? n->zero : cpu_search_sum(n->in, (uint32_t)slot_at(n->in, c));
}

static inline int64_t rows_at(const node_codes *n, int32_t c) {
  if (!n->in->count) return 0;
  return c == n->in->zero_bin ? n->zero_rows : n->in->count[slot_at(n->in, c)];
}

/* Gains up to this bound may be rounding, and count as 0. */
static inline double floor_of(const cpu_search *in) {
  return gbt_noise_floor(in->unit, gbt_grow_rows(in->node), in->rated.H);
}

/* Features of a task: about LAYER_SLOTS slots; and tasks. */
static inline int32_t feats_of_task(const cpu_backend *be) {
  double feats = (double)LAYER_SLOTS * be->n_features / (1.0 + be->layout->n_slots);
  return feats < 1.0 ? 1 : feats > LAYER_FEATS ? LAYER_FEATS : (int32_t)feats;
}

static inline int64_t n_tasks_of(const cpu_backend *be) {
  return (be->layer.n_feats + feats_of_task(be) - 1) / feats_of_task(be);
}

#endif
