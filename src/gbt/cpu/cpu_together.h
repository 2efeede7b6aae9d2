/* Trees of several outputs that grow together, with the same splits; see cpu_together.c. */
#ifndef GBT_CPU_CPU_TOGETHER_H
#define GBT_CPU_CPU_TOGETHER_H

#include "../backend/backend.h"
#include "../tree/frontier.h"
#include "cpu_search.h"

struct cpu_backend;

/* The state of one of the trees, while it is another one's turn. */
typedef struct cpu_together_tree {
  gbt_frontier fr;
  gbt_tree_task task;
  double *gain;  /* of its layer's candidates, as be->layer.gain */
  int32_t depth; /* of its layer, as be->layer.depth */
} cpu_together_tree;

/* Growth node by node: a fresh node that is searched, in all trees. */
typedef struct cpu_together_node {
  gbt_contest contest;
  gbt_key32 cut_key;
  double min_gain;
  gbt_split best;
} cpu_together_node;

typedef struct cpu_together {
  int32_t n;               /* trees, one of each output; 0: trees grow one by one, and the rest is unused */
  int32_t at;              /* whose turn it is: that tree's state is in the backend, not in `tree` */
  cpu_together_tree *tree; /* n */
  const gbt_together *by;  /* borrowed */
  double *g, *h;           /* symmetric: by code, where sets of levels are: sums along the direction, and of hessians */
  /* node by node: cpu_split_together.c */
  cpu_together_node *node; /* by node that is searched */
  cpu_search *in;          /* by such node and tree; `node` is NULL where the tree could not be split there */
  int64_t *left;           /* by such node: g and h that go left, tree by tree, and rows */
  double *gain;            /* by node of the tables and tree: what the split gains in this tree */
  size_t cap_node, cap_in, cap_left, cap_gain;
} cpu_together;

/* be->fr is open. Before memory is made that depends on how many trees there are. */
gbt_status cpu_together_open(struct cpu_backend *be, const gbt_backend_spec *spec, gbt_error *err) GBT_MUST_CHECK;
/* Room for the gains of all trees. After cpu_layer_open. */
gbt_status cpu_together_room(struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_together_close(struct cpu_backend *be);

/* Trees that the backend grows at once. */
static inline int32_t cpu_n_trees(const cpu_together *t) { return t->n > 0 ? t->n : 1; }

/* Whether a node could be split in one of the trees at least. */
int cpu_together_splits(const struct cpu_backend *be, int32_t id);

/* It is the turn of tree k: be->fr, task, view and the gains of the layer are its own. */
void cpu_turn_to(struct cpu_backend *be, int32_t k);

/* Begins all trees, whose tasks are given: gradients of all outputs. It is the turn of the first. */
gbt_status cpu_together_begin(gbt_ctx *ctx, struct cpu_backend *be, const gbt_tree_task *task,
                              gbt_error *err) GBT_MUST_CHECK;

/* By what the gains of the tree whose turn it is are multiplied. */
double cpu_gain_weight(const struct cpu_backend *be);

/* Noise of the gradients (gbt_noise): of the sum of gains, and of a set of levels, which follows one direction. */
double cpu_noise(const struct cpu_backend *be);
double cpu_set_noise(const struct cpu_backend *be);

/* The gains of a feature's candidates in all trees, added up in those of the first tree, whose turn it is. */
void cpu_together_join(const struct cpu_backend *be, int32_t feat);

/* Histograms of all roots are there: levels of sets in order of the gradients along the direction. */
gbt_status cpu_together_order(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Adds the sums of the codes of in->feat, of tree k, to g along the direction and to h. */
void cpu_together_add(const struct cpu_backend *be, int32_t k, const cpu_search *in, double *g, double *h);

/* g, h: sums of n codes over all trees, along the direction and of hessians. To g: by what levels are put in order. */
void cpu_together_ratios(const struct cpu_backend *be, int32_t n, double *g, const double *h);

/* find_splits of growth node by node; see cpu_split_together.c. */
gbt_status cpu_together_search(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Then, once the trees are complete and before nodes get their numbers: the nodes of the tree whose turn it is have
 * gains of their own, where all trees had the sum. */
void cpu_together_own_gains(struct cpu_backend *be);

#endif
