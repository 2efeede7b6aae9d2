/* Adds the leaves that rows have reached, for both ways through the trees. */
#include "predict_job.h"

int32_t gbti_predict_output(const gbt_forest_view *forest, uint64_t t) {
  uint64_t n_parallel = (uint64_t)forest->n_parallel, n_outputs = (uint64_t)forest->n_outputs;
  GBT_ASSERT(forest->n_leaf_outputs == 1);
  return n_outputs == 1 ? 0 : (int32_t)(t % (n_outputs * n_parallel) / n_parallel);
}

/* Adds the vectors of the leaves nodes[pos[r]] to all outputs of n rows. */
static void add_vectors(const gbti_predict_job *job, const gbt_node *nodes, int64_t row, int32_t n,
                        const uint32_t *pos) {
  const gbt_forest_view *forest = job->forest;
  uint64_t width = (uint64_t)forest->n_leaf_outputs;
  for (int32_t k = 0; k < forest->n_leaf_outputs; k++) {
    const double *values = forest->leaf_values + k;
    double *restrict out = job->scores + k * job->n_rows + row;
    for (int32_t r = 0; r < n; r++) out[r] += values[nodes[pos[r]].arg.vector * width];
  }
}

void gbti_predict_emit(const gbti_predict_job *job, uint64_t t, int64_t row, int32_t n, const uint32_t *pos) {
  const gbt_forest_view *forest = job->forest;
  if (job->leaves != NULL) {
    int32_t *out = job->leaves + (int64_t)(t - job->first_tree) * job->n_rows + row;
    for (int32_t r = 0; r < n; r++) out[r] = (int32_t)pos[r];
    return;
  }
  const gbt_node *nodes = forest->nodes + forest->trees[t].node_beg;
  if (forest->n_leaf_outputs > 1) {
    add_vectors(job, nodes, row, n, pos);
    return;
  }
  double *restrict out = job->scores + gbti_predict_output(forest, t) * job->n_rows + row;
  for (int32_t r = 0; r < n; r++) out[r] += nodes[pos[r]].arg.value;
}
