/* The backend contract: one table of functions with coarse operations over the rows.
 *
 * A backend owns everything that is per row (scores, gradients, the rows' order by node) and the tables of the trees
 * being grown. The host issues steps; it never looks at a node before the trees are finished:
 *
 *   gradients | set_gradients           once per round, for all outputs
 *   begin_trees  build_hist  find_splits                the roots
 *   repeat   select  partition  build_hist  find_splits     until select has chosen nothing
 *   finish_trees                        leaf values, scores, valid scores, the trees into the forest
 *
 * Trees of a round are independent, so a backend may grow several of them at once, a batch: every step is one
 * of all its trees. most_trees says how many suit it best. Trees that grow together (gbt_together), all of a round, are
 * a batch and have the same splits.
 *
 * Results are exact: every backend gives the same bytes (math/ and tree/frontier.h hold the shared arithmetic).
 * Every op: (ctx, backend, in..., out..., err). "Waits" = needs results from a device before it returns. */
#ifndef GBT_BACKEND_BACKEND_H
#define GBT_BACKEND_BACKEND_H

#include "../base/ctx.h"
#include "../data/dataset_impl.h"
#include "../metric/metric.h"
#include "../objective/objective.h"
#include "../objective/renewal.h"
#include "../params.h"
#include "../tree/contest.h"
#include "../tree/features.h"
#include "../tree/forest.h"
#include "phases.h"

typedef struct gbt_backend gbt_backend;

/* The trees of a round that share their splits: these are found from the sum of the gains of all outputs. */
typedef struct gbt_together {
  const double *weight;    /* n_outputs, powers of two: factors of gains before they are added up */
  const double *direction; /* n_outputs: of the scores; levels are put in order by the gradients along it. May change
                              between rounds */
} gbt_together;

/* The input of a backend when it is opened. Pointers are borrowed for the backend's life; `data`, `base` and `init` are
 * read while it opens (the data sets themselves are shared). */
typedef struct gbt_backend_spec {
  const gbt_params *params;
  gbt_objective objective;
  gbt_dataset *const *data; /* [0] train, then n_valid validation sets, all with the same cuts */
  int32_t n_valid;
  const double *base;             /* n_outputs */
  const double *const *init;      /* per data set: scores to start with (rows x outputs), or NULL for base + offset */
  const int8_t *monotone;         /* n_features, or NULL */
  const gbt_feature_rules *rules; /* which features a node may use */
  const double *handicap;   /* n_features, or NULL; may change between rounds */
  const double *class_rate;       /* by class, 0 to 1: probability of its rows to be drawn; or NULL: subsample of all */
  int32_t n_class_rates;
  const gbt_together *together; /* the trees of all outputs are a batch and have the same splits; on a device:
                                   symmetric ones. NULL: each has its own */
  const int32_t *devices; /* n_devices numbers of devices that share the rows (boost/devices.c); read while it opens */
  int32_t n_devices;  /* 0 or 1: one, and `devices` is not looked at */
  int32_t n_backends; /* that a training has, this one among them, which share a device's memory; 0: one */
} gbt_backend_spec;

/* One tree to grow. */
typedef struct gbt_tree_task {
  uint64_t tree;   /* number of the tree in the run, for sampling */
  uint64_t round;  /* number of the round in the run */
  int32_t output;  /* whose gradients */
  double shrinkage; /* leaf values are weight * shrinkage */
  int32_t variant;  /* of the training set's bins (data/extend.h), the same for all trees of a batch: what nodes are
                       split by, and rows that are not sampled go by */
  double contest_noise; /* see gbt_contest_noise; 0: none */
  int32_t rates; /* refit_trees: gains, and which nodes are kept, are computed again from these rows and gradients;
                    devices: symmetric trees only */
  int32_t shares; /* the trees of all outputs of the round have the same splits and rows: that of output 0 comes first,
                     and the backend may keep where it has led the rows */
} gbt_tree_task;

enum { GBT_MOST_TREES = 32 }; /* of a batch, on any backend */

/* Trees of the next batch of a round, of whose trees so many are grown; every output has per_output of them. Several
 * whole outputs, about as many in every batch, or some trees of one. */
static inline int32_t gbt_batch_trees(int32_t most, int64_t n_outputs, int64_t per_output, int64_t grown) {
  GBT_ASSERT(most > 0 && n_outputs > 0 && per_output > 0 && grown < n_outputs * per_output);
  const int64_t whole = most / per_output, left = per_output - grown % per_output;
  if (whole == 0) return (int32_t)(left < most ? left : most);
  const int64_t batches = (n_outputs + whole - 1) / whole, outputs = (n_outputs + batches - 1) / batches;
  const int64_t rest = n_outputs - grown / per_output;
  return (int32_t)((rest < outputs ? rest : outputs) * per_output);
}

/* The value of hist_memory for main memory, in bytes. */
static inline size_t gbt_hist_bytes(const gbt_params *params) {
  return (size_t)(params->hist_memory > 0 ? params->hist_memory : 1024) << 20;
}

typedef struct gbt_backend_ops {
  const char *name;

  /* Frees all; accepts a half-open backend. */
  void (*destroy)(gbt_backend *be);

  /* Scores and labels -> the scale of the fixed-point gradients of every output. The gradients themselves may be made
   * when the first tree of an output begins, as a tree changes only the scores of its own output. May allocate in the
   * first round only. O(rows x outputs). */
  gbt_status (*gradients)(gbt_ctx *ctx, gbt_backend *be, uint64_t round, gbt_error *err);

  /* The same from the host's g and h (rows x outputs, column by column, row weights not yet applied). */
  gbt_status (*set_gradients)(gbt_ctx *ctx, gbt_backend *be, uint64_t round, const double *g, const double *h,
                              gbt_error *err);

  /* As set_gradients of one output: the gradients of `from` along u, a number for each of its outputs (borrowed for the
   * call), at its scores; of classes as gbt_softmax_along (objective/softmax.h), of columns and levels as
   * boost/projection.h says, weights in. `from` is a backend of the same kind, device and rows. NULL: not offered. */
  gbt_status (*set_projection)(gbt_ctx *ctx, gbt_backend *be, gbt_backend *from, const double *u, uint64_t round,
                               gbt_error *err);

  /* Scores of a data set (0 = train) from now on: rows x outputs, column by column, borrowed for the call. Between
   * rounds, before `gradients`. Waits. */
  gbt_status (*set_scores)(gbt_ctx *ctx, gbt_backend *be, int32_t which, const double *score, gbt_error *err);

  /* A batch of 1 .. most_trees trees of the round, numbers and outputs ascending: trees of one output, or all trees of
   * each of several (gbt_batch_trees). Gradients of the trees' outputs; draws rows and features. The node tables hold
   * only the roots, whose histograms are not built yet. */
  gbt_status (*begin_trees)(gbt_ctx *ctx, gbt_backend *be, const gbt_tree_task *task, int32_t n_trees, gbt_error *err);

  /* Histograms of the nodes made by the last step: the child with fewer rows by adding rows, its sibling by
   * subtraction from the parent. Nodes that cannot be split any more get none. */
  gbt_status (*build_hist)(gbt_ctx *ctx, gbt_backend *be, gbt_error *err);

  /* The best split of each of these nodes (symmetric growth: what every candidate gains in each; select decides for the
   * layer). Ties: larger gain, lower feature, lower bin, missing right. */
  gbt_status (*find_splits)(gbt_ctx *ctx, gbt_backend *be, gbt_error *err);

  /* Chooses the leaves to split now by the growth policy; best-first also some that the policy is likely to come to.
   * *n: how many, or, where that would mean to wait for a device, how many at most; 0 when the trees are complete,
   * nodes are then indexed by their numbers. */
  gbt_status (*select)(gbt_ctx *ctx, gbt_backend *be, int32_t *n, gbt_error *err);

  /* Splits the chosen leaves: children into the node table, rows into the children, order within a node kept. */
  gbt_status (*partition)(gbt_ctx *ctx, gbt_backend *be, gbt_error *err);

  /* Leaf values from the fine sums; adds them to the scores of all train rows (sampled or not) and of the validation
   * sets, tree after tree where an output has several; appends the trees to the forest. On failure the forest may hold
   * some of them and scores the values of some: the trainer cuts the forest and closes the backend. Waits.
   * A backend with a `settle` may leave appending to the next begin_trees, so that a device does not wait for it; and
   * waiting too, so that the host does not wait for a device. settle or begin_trees returns the errors of these trees
   * then. */
  gbt_status (*finish_trees)(gbt_ctx *ctx, gbt_backend *be, gbt_forest *forest, gbt_error *err);

  /* Appends the trees that finish_trees has not appended yet, or fails as it would have. The caller reads the forest
   * only after this. NULL: finish_trees always appends everything. On failure these trees are dropped. */
  gbt_status (*settle)(gbt_ctx *ctx, gbt_backend *be, gbt_error *err);

  /* Trees [first, first + n_trees) of `like` once more, with what this backend's rows say: rows go down by the splits
   * that are there, and values, covers and counts are those of these rows and of the gradients of this round. Like
   * begin_trees to finish_trees otherwise; nothing is left to settle. On the rows, bins and gradients that a tree was
   * grown with it comes out to the byte. Gradients that the host gave: on the CPU only. NULL: not offered. Waits. */
  gbt_status (*refit_trees)(gbt_ctx *ctx, gbt_backend *be, const gbt_tree_task *task, int32_t n_trees,
                            const gbt_forest_view *like, uint64_t first, gbt_forest *forest, gbt_error *err);

  /* Scores of a data set (0 = train), rows x outputs column by column, borrowed until the next op. Waits. */
  gbt_status (*scores)(gbt_ctx *ctx, gbt_backend *be, int32_t which, const double **out, gbt_error *err);

  /* A metric that suits the loss, of a data set by its scores. *done = 0: not offered, the host computes it. NULL: none
   * is. Waits. */
  gbt_status (*metric)(gbt_ctx *ctx, gbt_backend *be, int32_t which, const gbt_metric *metric, double *out, int *done,
                       gbt_error *err);
} gbt_backend_ops;

/* Every backend's struct begins with this. */
struct gbt_backend {
  const gbt_backend_ops *ops;
  int32_t most_trees;    /* of a batch, 1 .. GBT_MOST_TREES; trees that grow together: exactly so many */
  uint64_t device_bytes; /* of a device's memory, the most that were taken so far */
  uint64_t host_bytes;   /* of the host's memory, codes that a device reads there */
  double size_reg; /* weight of squared hessians in sizes of gradients (math/sampling.h), for `gradients` and
                      `set_gradients`; below 0: from their maxima */
  double seconds[GBT_N_PHASES]; /* the trainer counts those of its own work here, too */
};

/* Leaf steps after the first one. One step is enough for losses that it minimises (the hessian is always 1), and for
 * leaves that are no Newton steps. */
static inline int32_t gbt_leaf_steps(const gbt_objective *objective, const gbt_params *params) {
  if (gbt_gradients_are_kept(objective) || gbt_renews(objective)) return 0;
  switch (gbt_objective_info_of(objective->kind)->hessian) {
  case GBT_HESSIAN_UNIT:
    return 0;
  case GBT_HESSIAN_BOUNDED:
  case GBT_HESSIAN_FREE:
    break;
  }
  return (int32_t)params->leaf_iterations - 1;
}

/* The error of every backend when numbers grow too large; round: from 0. */
static inline gbt_status gbt_gradients_overflow(uint64_t round, gbt_error *err) {
  return gbt_fail(err, GBT_E_DATA,
                  "the gradients overflow in round %lld; scale the response, lower `eta` or set `max_delta_step`",
                  (long long)round + 1);
}
static inline gbt_status gbt_leaf_overflows(uint64_t round, gbt_error *err) {
  return gbt_fail(err, GBT_E_DATA, "a leaf value overflows in round %lld; set `lambda` or `max_delta_step` above 0",
                  (long long)round + 1);
}

#endif
