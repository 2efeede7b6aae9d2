#include "sampling.h"

#include "../objective/class_weight.h"
#include "../objective/renewal.h"

gbt_status gbt_sampling_check(const gbt_trainer_spec *spec, gbt_error *err) {
  const int method = (int)spec->params.sampling_method;
  if ((method == GBT_SAMPLE_MVS || method == GBT_SAMPLE_GOSS) && gbt_renews(&spec->objective))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "sampling_method",
                       "leaves of objective \"%s\" are quantiles, which rows drawn by their gradients would distort; "
                       "use `sampling_method = \"uniform\"`",
                       gbt_objective_info_of(spec->objective.kind)->name);
  if (method != GBT_SAMPLE_UNIFORM && spec->params.boosting == GBT_BOOSTING_ORDERED)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "sampling_method",
                       "`boosting = \"ordered\"` has scores of its own for every row, so rows are drawn with the same "
                       "chance; use `sampling_method = \"uniform\"`");
  if (spec->class_rate == NULL) return GBT_OK;
  if (method != GBT_SAMPLE_UNIFORM || spec->params.subsample < 1.0)
    return gbt_fail_on(err, GBT_E_ARG, "subsample", "`subsample` by class needs `sampling_method = \"uniform\"`");
  return gbt_class_rates_check(&spec->objective, spec->class_rate, spec->n_class_rates, err);
}

double gbt_sampling_reg(const gbt_params *params, double eta, const gbt_forest_view *trees) {
  const uint64_t per_round = gbt_trees_per_round(trees);
  double squares = 0.0, rows = 0.0;
  if (params->mvs_reg >= 0.0) return params->mvs_reg;
  GBT_ASSERT(trees->n_leaf_outputs == 1 && params->num_parallel_tree == 1);
  for (uint64_t t = trees->n_trees < per_round ? trees->n_trees : trees->n_trees - per_round; t < trees->n_trees; t++) {
    const gbt_tree *tree = &trees->trees[t];
    for (uint64_t i = tree->node_beg; i < tree->node_beg + tree->n_nodes; i++) {
      const double n = (double)trees->count[i], weight = trees->nodes[i].arg.value / eta;
      if (trees->nodes[i].left > 0) continue;
      squares += n * (weight * weight);
      rows += n;
    }
  }
  return rows > 0.0 ? squares / rows : -1.0;
}
