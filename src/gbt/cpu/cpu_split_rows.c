/* Nodes of few rows, which have no histograms (cpu_hist_skipped), are searched by their rows: a task adds up the rows
 * of a node, one group of columns after the other, in the thread's accumulators, and searches the group there. */
#include "cpu_split_impl.h"

#include <string.h>

typedef struct rows_job {
  cpu_split_job *job;
  size_t n_lists; /* of features: one for all nodes, or one each */
  int32_t n_parts; /* tasks of a node, each some of the groups */
  int32_t *node;   /* which ones of the job's nodes */
  int32_t n_nodes;
  int32_t *group_beg, *feats; /* by list: where the features of groups begin, n_groups + 1; the features */
} rows_job;

void cpu_features_by_group(const cpu_backend *be, const int32_t *feats, int32_t n, int32_t *group_beg,
                           int32_t *by_group) {
  const gbt_place *place = be->layout->place;
  int32_t *end = group_beg + 1; /* of the group before, until it has been filled */
  memset(group_beg, 0, ((size_t)be->layout->n_groups + 1) * sizeof *group_beg);
  for (int32_t k = 0; k < n; k++) {
    GBT_ASSERT(place[feats[k]].group >= 0);
    if (place[feats[k]].group + 1 < be->layout->n_groups) end[place[feats[k]].group + 1]++;
  }
  for (int32_t g = 1; g < be->layout->n_groups; g++) end[g] += end[g - 1];
  for (int32_t k = 0; k < n; k++) by_group[end[place[feats[k]].group]++] = feats[k];
}

/* Groups [beg, end) in the node, with the features that it has of them. */
static gbt_split search_groups(const rows_job *rows, const gbt_grow_node *node, size_t list, int32_t beg, int32_t end,
                               cpu_scratch *scratch) {
  cpu_backend *be = rows->job->be;
  const int32_t *group_beg = rows->group_beg + list * ((size_t)be->layout->n_groups + 1);
  const int32_t *feats = rows->feats + list * (size_t)rows->job->most_feats;
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  cpu_search in;
  cpu_search_node(be, node, &in);
  for (int32_t g = beg; g < end; g++) {
    const int32_t n = group_beg[g + 1] - group_beg[g];
    if (n == 0) continue;
    cpu_hist_group(&rows->job->span, node, g, scratch);
    cpu_search_features(be, &in, feats + group_beg[g], n, scratch, &best);
  }
  return best;
}

static void rows_task(void *arg, int64_t task, int thread) {
  const rows_job *rows = arg;
  cpu_backend *be = rows->job->be;
  const int32_t i = (int32_t)(task / rows->n_parts), part = (int32_t)(task % rows->n_parts);
  const int32_t n_groups = be->layout->n_groups, at = rows->node[i];
  const int32_t beg = (int32_t)((int64_t)n_groups * part / rows->n_parts);
  const int32_t end = (int32_t)((int64_t)n_groups * (part + 1) / rows->n_parts);
  be->split.found[(size_t)at * (size_t)rows->job->n_runs + (size_t)part] =
      search_groups(rows, &be->fr.node[rows->job->node[at]], rows->n_lists == 1 ? 0 : (size_t)i, beg, end,
                    &be->scratch.of[thread]);
}

/* See gbt_pages_fn. */
static gbt_status rows_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  rows_job *rows = arg;
  cpu_backend *be = rows->job->be;
  double cells = 0.0;
  cpu_split_span(rows->job, pages);
  for (int32_t i = 0; i < rows->n_nodes; i++)
    cells += be->fr.node[rows->job->node[rows->node[i]]].own_rows * (double)be->pool.n_columns;
  const double ns = 0.5 * cells + 1.5 * (double)rows->n_nodes * be->layout->n_slots;
  return cpu_parallel(ctx, (int64_t)rows->n_nodes * rows->n_parts, ns, rows_task, rows, err);
}

/* Lists of features by group. */
static gbt_status make_lists(cpu_backend *be, rows_job *rows, size_t n, gbt_error *err) {
  const cpu_split_job *job = rows->job;
  const size_t n_begs = (size_t)be->layout->n_groups + 1, most = (size_t)job->most_feats;
  const size_t n_by_rows = (size_t)rows->n_nodes;
  rows->n_lists = job->stride == 0 ? 1 : n_by_rows;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->split.by_rows, &be->split.cap_by_rows,
                       n_by_rows + rows->n_lists * (n_begs + most), sizeof *be->split.by_rows, err));
  rows->node = be->split.by_rows;
  rows->group_beg = rows->node + n_by_rows;
  rows->feats = rows->group_beg + rows->n_lists * n_begs;
  for (size_t i = 0, k = 0; i < n; i++) {
    if (be->fr.node[job->node[i]].hist >= 0) continue;
    if (k < rows->n_lists)
      cpu_features_by_group(be, job->feats + i * job->stride, job->n_feats[i], rows->group_beg + k * n_begs,
                            rows->feats + k * most);
    rows->node[k++] = (int32_t)i;
    for (int32_t run = 0; run < job->n_runs; run++)
      be->split.found[i * (size_t)job->n_runs + (size_t)run] = (gbt_split){.kind = GBT_SPLIT_NONE};
  }
  return GBT_OK;
}

gbt_status cpu_search_by_rows(gbt_ctx *ctx, cpu_backend *be, cpu_split_job *job, size_t n, gbt_error *err) {
  const int32_t n_groups = be->layout->n_groups;
  rows_job rows = {.job = job, .n_parts = n_groups < job->n_runs ? n_groups : job->n_runs};
  for (size_t i = 0; i < n; i++) rows.n_nodes += be->fr.node[job->node[i]].hist < 0;
  GBT_ASSERT(be->pool.skips && rows.n_nodes > 0);
  GBT_TRY(make_lists(be, &rows, n, err));
  return cpu_train_pass(ctx, be, rows_span, &rows, err);
}
