/* The parts of the naive training: naive.c grows, naive_split.c searches. */
#ifndef GBT_TEST_NAIVE_IMPL_H
#define GBT_TEST_NAIVE_IMPL_H

#include "../../src/gbt/math/sampling.h"
#include "../../src/gbt/tree/features.h"
#include "../../src/gbt/tree/split.h"
#include "naive.h"
#include "test.h"

typedef struct naive_node {
  int32_t parent, left, depth; /* left: 0 for a leaf */
  int64_t n_rows;
  int64_t *rows;
  gbt_sum sum;
  gbt_bounds bounds;
  gbt_split split; /* kind NONE: not worth a split */
  uint8_t *goes;   /* of the split's feature: per code, 1 = left */
  uint8_t *used;   /* per feature: split on above */
  int bulk_left;
  int kept;      /* symmetric, and trees that grow together: children take the value */
  double weight; /* the same: the value so far, in histogram units */
  double own;    /* trees that grow together, node by node: what the split gains in this one; split.gain: in all */
} naive_node;

typedef struct naive {
  const gbt_trainer_spec *spec;
  const gbt_params *p;
  const gbt_cuts *cuts;
  int64_t n;
  int32_t n_feats, n_outputs;
  int32_t **code[1 + GBT_MAX_VALID]; /* per data set, per feature: codes of all rows */
  double *const *score;
  gbt_gh32 *gh32; /* n_outputs x n */
  gbt_gh16 *gh16;
  gbt_scale *scale; /* per output */
  double *noise;
  int *wide;
  float *factor;    /* of rows: 0 for those not drawn; NULL: rows are drawn with the same chance */
  double size_reg;  /* mvs */
  double eta;       /* of the round whose gradients were made last */
  uint64_t round;   /* that round */
  double *residual; /* n_outputs x n: label - score when the round began; of objectives whose leaves are quantiles */
  double *start;    /* n_outputs x n: scores when the round began */
  gbt_feature_rules *rules;
  /* the tree being grown */
  uint64_t tree;
  int32_t output;
  gbt_units unit;
  gbt_reg reg;
  int32_t *tree_feats, n_tree_feats;
  naive_node *node;
  int32_t n_nodes, n_leaves;
  double *cost; /* by feature, of gains: see boost/penalties.h */
  double scored; /* symmetric: the root's score and what the layers so far gained */
  double noise_of_gains; /* of the output's gradients; of trees that grow together, all outputs' */
} naive;

/* Trees with the same splits, one of each output; or a single one. */
typedef struct naive_team {
  naive *tree;
  int32_t n;
  const double *weight;    /* n: of gains */
  const double *direction; /* n: by which levels are put in order; NULL: a single tree */
} naive_team;

/* The monotone sign of a feature: that of the column it is, 0 for a statistic of one. */
static inline int naive_sign(const naive *nv, int32_t feat) {
  const gbt_feature *f = &nv->cuts->schema->feat[feat];
  return nv->spec->monotone != NULL && f->kind == GBT_FEATURE_COLUMN ? nv->spec->monotone[f->col] : 0;
}

naive naive_open(const gbt_trainer_spec *spec, double *const *scores);
void naive_close(naive *nv);

/* The scores before the first tree: those of the outputs, and those of the rows of a data set. */
void naive_base_scores(const gbt_trainer_spec *spec, double *base);
void naive_start_scores(const naive *nv, int32_t which, const double *base);

/* What features cost that the forest does not use. Before every round. */
void naive_handicaps(naive *nv, const gbt_forest *forest);

/* Gradients of all outputs at the scores of the training set. custom: NULL where the objective has them. */
void naive_gradients(naive *nv, uint64_t round, naive_custom custom);

/* Factors of all rows, by gradients with weights in; see naive_sample.c. */
void naive_factors(naive *nv, uint64_t round, const double *g, const double *h);

/* mvs: the weight of squared hessians in the round after those of the forest. eta: of its last round. */
double naive_size_reg(const gbt_params *p, double eta, const gbt_forest *forest, int32_t n_outputs);

/* Whether a row is drawn for the tree. */
int naive_draws(const naive *nv, int64_t row);

/* Grows a tree, which stays in nv->node until naive_free_nodes. */
void naive_grow(naive *nv, int32_t output, uint64_t tree);
void naive_grow_together(naive_team *team, uint64_t tree); /* each stays in team->tree[k] */
void naive_free_nodes(naive *nv);

/* The tree in like->node once more, by the rows and gradients of nv. rates: with gains, and nodes that are kept, by
 * these as well. plant: it stays in nv->node. refit: as the tree and output of `like`, into the forest and the
 * scores. */
void naive_plant(naive *nv, const naive *like, int32_t output, uint64_t tree, int rates);
void naive_refit(naive *nv, const naive *like, gbt_forest *forest);

/* Trees that share their splits; see naive_shared.c. Those of a round, by the scores of nv, are made by `grow`; `plant`
 * gives nv the one of an output. */
typedef struct naive_shared naive_shared;
naive_shared *naive_shared_new(const gbt_trainer_spec *spec); /* NULL: no trees share them */
void naive_shared_free(naive_shared *s);
void naive_shared_grow(naive_shared *s, const naive *nv, uint64_t round, uint64_t tree);
void naive_shared_plant(naive_shared *s, naive *nv, int32_t output, uint64_t tree);
void naive_shared_done(naive_shared *s); /* the trees are not needed any more */

/* What the split of the node, whose `goes` says where codes go, gains by the node's own rows; 0 where it is kept. */
double naive_own_gain(const naive *nv, const naive_node *node, gbt_sum *left);

/* Ordered boosting; see naive_ordered.c. */
void naive_train_ordered(const gbt_trainer_spec *spec, int64_t n_rounds, gbt_forest *forest, double *const *scores);

double naive_eta_of(const gbt_trainer_spec *spec, uint64_t round);
int32_t naive_leaf_of(const naive *nv, int32_t which, int64_t row);

/* Sums of the node's rows: of all in histogram units. */
gbt_sum naive_sum(const naive *nv, const int64_t *rows, int64_t n);

/* Finds the node's best split, with `goes`. */
void naive_search(const naive *nv, int32_t id);

/* The same of a node that is in all trees of a team, where it could be split in one of them. */
void naive_search_together(naive_team *team, int32_t id);

/* Whether depth, leaves, rows and hessian leave room for a split. */
int naive_could_split(const naive *nv, const naive_node *node);

/* With leaf_iterations, where the steps of a node's value lead from the first one on; see naive_steps.c. */
double naive_steps(const naive *nv, const naive_node *node, double first);

/* With path_smooth, the value of a node's own rows as if so many more asked for the parent's. */
double naive_smoothed(const naive *nv, const naive_node *node, double own, double above);

/* Values of all nodes before shrinkage, of objectives whose leaves are quantiles: from the root down within bounds that
 * a constrained split halves between what its children would have. */
void naive_quantile_values(const naive *nv, double *weight);

/* The weighted quantile of x by the objective's level and weights, over n rows of the training set: by sorting. */
double naive_quantile(const gbt_trainer_spec *spec, int32_t output, const double *x, const int64_t *rows, int64_t n);

/* Symmetric growth: the split of the layer of nodes first .. n_nodes - 1, into all of them; 0 when there is none. */
int naive_search_layer(naive_team *team, int32_t first);

#endif
