/* Shared by the searches of nodes: of a single tree (cpu_split.c), and of trees that grow together
 * (cpu_split_together.c). */
#ifndef GBT_CPU_CPU_SPLIT_IMPL_H
#define GBT_CPU_CPU_SPLIT_IMPL_H

#include "cpu.h"

/* The fresh nodes that are searched, and their features. Tasks are (node, run of features), node by node. */
typedef struct cpu_split_job {
  cpu_backend *be;
  int32_t *node;
  const int32_t *feats; /* node i: feats[i * stride ..], n_feats[i] of them */
  size_t stride;
  const int32_t *n_feats;
  int32_t most_feats;        /* of a node: those of the tree, or of them those of this rank */
  int32_t n_runs, run_feats; /* features of a run */
  cpu_span span;             /* of a pass that looks at nodes without histograms */
} cpu_split_job;

/* A pass begins that reads rows of nodes without histograms: its pages are all there are. */
static inline void cpu_split_span(cpu_split_job *job, const gbt_page_span *pages) {
  job->span = cpu_span_of(job->be, pages);
  GBT_ASSERT(job->span.row_beg == 0 && job->span.row_end == job->be->n_rows);
}

/* Whether a fresh node is searched: it could be split, in one of the trees that grow together at least. */
static inline int cpu_is_searched(const cpu_backend *be, int32_t id) {
  return be->together.n > 0 ? cpu_together_splits(be, id) : be->fr.node[id].splittable != 0;
}

/* *n: nodes. Their features are one list for all, or one each. split.found has room for the tasks. */
gbt_status cpu_list_features(gbt_ctx *ctx, cpu_backend *be, cpu_split_job *job, size_t *n,
                             gbt_error *err) GBT_MUST_CHECK;

/* Searches n features of a node, each by all its bins: *best becomes the best of them if that beats it. */
void cpu_search_features(cpu_backend *be, cpu_search *in, const int32_t *feats, int32_t n, cpu_scratch *scratch,
                         gbt_split *best);

/* Features group by group, ascending in each: those of group g are by_group[group_beg[g] .. group_beg[g + 1]). */
void cpu_features_by_group(const cpu_backend *be, const int32_t *feats, int32_t n, int32_t *group_beg,
                           int32_t *by_group);

/* Fills split.found for those of the job's n nodes that have no histogram: one at least. */
gbt_status cpu_search_by_rows(gbt_ctx *ctx, cpu_backend *be, cpu_split_job *job, size_t n,
                              gbt_error *err) GBT_MUST_CHECK;

/* Categorical winners keep their levels as bits: the histogram may be gone when the node is split. First all get their
 * room, then it is filled: a set's levels have to be put in order again. */
gbt_status cpu_room_for_set(cpu_backend *be, gbt_grow_node *node, gbt_error *err) GBT_MUST_CHECK;

#endif
