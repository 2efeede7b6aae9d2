#include "sampling.h"

#include "../objective/class_weight.h"
#include "../objective/renewal.h"

gbt_status gbt_sampling_check(const gbt_trainer_spec *spec, gbt_error *err) {
  const int method = (int)spec->params.sampling_method;
  if ((method == GBT_SAMPLE_MVS || method == GBT_SAMPLE_GOSS) && gbt_renews(&spec->objective))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "sampling_method",
                       "the leaves of the objective \"%s\" are quantiles, which sampling by gradients would bias; use "
                       "`sampling_method = \"uniform\"`",
                       gbt_objective_info_of(spec->objective.kind)->name);
  if (method != GBT_SAMPLE_UNIFORM && spec->params.boosting == GBT_BOOSTING_ORDERED)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "sampling_method",
                       "`boosting = \"ordered\"` needs `sampling_method = \"uniform\"`; give it, or use "
                       "`boosting = \"plain\"`");
  if (spec->class_rate == NULL) return GBT_OK;
  if (gbt_has_columns(&spec->objective))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "subsample",
                       "`subsample` by class needs a response of one column; give one number");
  if (method != GBT_SAMPLE_UNIFORM || spec->params.subsample < 1.0)
    return gbt_fail_on(err, GBT_E_ARG, "subsample", "`subsample` by class needs `sampling_method = \"uniform\"`");
  return gbt_class_rates_check(&spec->objective, spec->class_rate, spec->n_class_rates, err);
}

/* Squared weights of the leaves of tree t, of value k each, and their rows. A linear leaf counts with its constant
 * value, without what its slopes add to the values of single rows. */
static void add_leaves(const gbt_forest_view *trees, uint64_t t, int32_t k, double eta, double *squares, double *rows) {
  const uint64_t width = (uint64_t)trees->n_leaf_outputs;
  for (uint64_t i = trees->trees[t].node_beg, end = i + trees->trees[t].n_nodes; i < end; i++) {
    const gbt_node *leaf = &trees->nodes[i];
    if (leaf->left > 0) continue;
    const double value = width > 1 ? trees->leaf_values[leaf->arg.vector * width + (uint64_t)k] : leaf->arg.value;
    const double n = (double)trees->count[i], weight = value / eta;
    *squares += n * (weight * weight);
    *rows += n;
  }
}

double gbt_sampling_reg(const gbt_params *params, double eta, const gbt_forest_view *trees) {
  const uint64_t per_round = gbt_trees_per_round(trees);
  double squares = 0.0, rows = 0.0;
  if (params->mvs_reg >= 0.0) return params->mvs_reg;
  GBT_ASSERT(params->num_parallel_tree == 1);
  for (uint64_t t = trees->n_trees < per_round ? trees->n_trees : trees->n_trees - per_round; t < trees->n_trees; t++)
    for (int32_t k = 0; k < trees->n_leaf_outputs; k++) add_leaves(trees, t, k, eta, &squares, &rows);
  return rows > 0.0 ? squares / rows : -1.0;
}
