/* The CPU backend's state. See backend/backend.h for the contract.
 *
 *   cpu_backend.c    open, close, table of ops, the steps of a tree
 *   cpu_score.c      scores of the data sets
 *   cpu_gradient.c   scores -> fixed-point gradients
 *   cpu_sample.c     rows drawn by their gradients, or weighed
 *   cpu_rows.c       the rows of a tree, sampled and in order
 *   cpu_hist_pool.c  memory of histograms; cpu_hist.c: those of fresh nodes; cpu_hist_sparse.c: their sparse part
 *   cpu_split.c      best splits; cpu_search.c: one feature of one node; cpu_split_num.c: numeric features;
 *                    cpu_split_cat.c: categorical ones; cpu_split_layer.c, cpu_layer_decide.c: whole layers;
 *                    cpu_split_together.c: nodes of trees that grow together; cpu_candidates.c: gains that these add
 *                    up, cpu_layer_gains.h: the inner loop
 *   cpu_partition.c  rows into children; cpu_columns.c: the codes that it reads; cpu_sparse.c: those of sparse features
 *   cpu_ranks.c      several ranks: the search divided among them
 *   cpu_stream.c     both in one pass, where pages are not all in memory
 *   cpu_gather.c     drawn rows of such pages, in memory
 *   cpu_leaf.c       leaf values, scores, export; cpu_renew.c: values that are quantiles; cpu_step.c: further
 *                    steps; cpu_linear.c: linear leaves; cpu_route.c: rows that were not partitioned; cpu_refit.c: a
 *                    tree that is there on other rows; cpu_walk.c, cpu_walk_tables.c: rows down it
 *   cpu_together.c   trees of several outputs that grow together, with the same splits
 *   cpu_scratch.c    working memory of threads; cpu_parallel.c: tasks on threads
 *   cpu_kernels.c    inner loops that exist once per instruction set
 *
 * A file's part of the state is a struct in the header of its name. That file opens it, changes it and frees it; other
 * files read it. The pieces of rows (cpu_rows.h) are the one part that several files fill. */
#ifndef GBT_CPU_CPU_H
#define GBT_CPU_CPU_H

#include "cpu_columns.h"
#include "cpu_gather.h"
#include "cpu_gradient.h"
#include "cpu_hist.h"
#include "cpu_hist_pool.h"
#include "cpu_kernels.h"
#include "cpu_layer.h"
#include "cpu_leaf.h"
#include "cpu_linear.h"
#include "cpu_open.h"
#include "cpu_parallel.h"
#include "cpu_partition.h"
#include "cpu_ranks.h"
#include "cpu_refit.h"
#include "cpu_renew.h"
#include "cpu_rows.h"
#include "cpu_sample.h"
#include "cpu_score.h"
#include "cpu_scratch.h"
#include "cpu_search.h"
#include "cpu_sparse.h"
#include "cpu_split.h"
#include "cpu_step.h"
#include "cpu_stream.h"
#include "cpu_together.h"
#include "cpu_walk.h"

typedef struct cpu_backend {
  gbt_backend base;
  gbt_mem mem;

  /* what is asked for */
  const gbt_params *params;
  gbt_objective objective;
  const gbt_feature_rules *rules;
  const double *handicap; /* borrowed; NULL: none */

  /* the data */
  gbt_dataset **data; /* 1 + n_valid, shared */
  const gbt_cuts *cuts;
  const gbt_layout *layout;
  int32_t n_outputs, n_features, n_valid;
  int64_t n_rows; /* train rows of this rank */
  double **score; /* per data set: n_rows x n_outputs */

  /* the tree that grows */
  gbt_tree_task task;
  gbt_frontier fr;
  cpu_rows_view view;

  /* by file */
  const cpu_kernels *kernels;
  cpu_gradient grad;
  cpu_sample sample;
  cpu_rows rows;
  cpu_columns columns;
  cpu_sparse sparse;
  cpu_hist_pool pool;
  cpu_hist_plan hist;
  cpu_splits split;
  cpu_layer layer;
  cpu_part part;
  cpu_ranks ranks;
  cpu_stream stream;
  cpu_gather gather;
  cpu_leaves leaf;
  cpu_linear linear;
  cpu_renewal renew;
  cpu_steps steps;
  cpu_refit refit;
  cpu_walk walk;
  cpu_together together;
  cpu_scratches scratch;
} cpu_backend;

/* The first train row from a row of the pages on. */
static inline int64_t cpu_row_from(const cpu_backend *be, int64_t page_row) {
  return be->view.page_row ? gbt_row_from(&be->data[0]->rows, page_row) : page_row;
}

/* Rows of the ranks before, and of all ranks. */
static inline uint64_t cpu_rows_before(const cpu_backend *be) { return (uint64_t)be->data[0]->rows.before; }
static inline int64_t cpu_all_rows(const cpu_backend *be) { return be->data[0]->all_rows; }

/* Where the gradients of an output begin. */
static inline size_t cpu_gradients_at(const cpu_backend *be, int32_t output) {
  const int all = gbt_gradients_are_kept(&be->objective) || be->together.n > 0;
  return all ? (size_t)output * (size_t)be->n_rows : 0;
}

/* Whether the codes of a feature are kept as a column of all train rows. */
static inline int cpu_has_column(const cpu_backend *be, int32_t feat) {
  return be->columns.of != NULL && be->layout->place[feat].group >= 0;
}

/* The key of the hash that rounds an output's gradients. */
static inline gbt_key32 cpu_rounding_key(const cpu_backend *be, int32_t output) {
  const uint64_t draws = gbt_draws_of_output(&be->objective, output);
  return gbt_key((uint64_t)be->params->seed, GBT_FOR_ROUNDING, be->grad.round, draws);
}

/* Whether children (grandchildren) of a node may be split as far as max_depth goes. */
static inline int cpu_children_split(const cpu_backend *be, const gbt_grow_node *node) {
  return be->fr.policy.max_depth == 0 || node->depth + 1 < be->fr.policy.max_depth;
}

static inline int cpu_grandchildren_split(const cpu_backend *be, const gbt_grow_node *node) {
  return be->fr.policy.max_depth == 0 || node->depth + 2 < be->fr.policy.max_depth;
}

/* Whether all nodes of a grown tree know the sums of their rows: below a node that the tree itself could not split they
 * do not. */
static inline int cpu_sums_are_known(const cpu_backend *be) {
  return !gbt_policy_one_split(be->fr.policy.kind) && be->together.n == 0;
}

/* Which way a code of the split's feature goes. */
static inline int cpu_goes_left(const cpu_backend *be, const gbt_grow_node *node, int32_t code) {
  return gbt_grow_goes_left(node, be->fr.sets, be->cuts->feat[node->split.feat].n_bins, code);
}

#endif
