/* The input of a search: a node, and a feature in it. */
#include "cpu.h"

#include <string.h>

#include "cpu_hist_kernels.h"

/* Packed sums, see cpu_hist_kernels.h. */
static const gbt_sum *unpack(const cpu_search *in, gbt_sum *to) {
  for (uint32_t s = 0; s < in->n_slots; s++) to[s] = cpu_unpack(in->both[s]);
  return to;
}

gbt_contest cpu_contest(const cpu_backend *be, uint64_t of, double before) {
  return gbt_contest_of(be->params, be->handicap, be->task.contest_noise, cpu_noise(be), be->task.tree, of, before);
}

gbt_key32 cpu_cut_key(const cpu_backend *be, uint64_t of) {
  return gbt_cut_key((uint64_t)be->params->seed, be->task.tree, of);
}

void cpu_search_node(const cpu_backend *be, const gbt_grow_node *node, cpu_search *in) {
  memset(in, 0, sizeof *in);
  in->node = node;
  in->packed = be->pool.packed;
  in->unit = cpu_units(be);
  in->reg = be->fr.policy.reg;
  in->rated = gbt_rated_of(node, in->unit, in->reg, be->params->min_child_weight, be->split.constrained);
  in->min_rows = be->params->min_data_in_leaf;
  in->min_gain = gbt_least_gain(be->params->gamma, gbt_noise_floor(in->unit, gbt_grow_rows(node), in->rated.H));
  in->params = be->params;
  in->noise = be->grad.noise[be->task.output];
  in->contest = be->split.contests ? cpu_contest(be, gbt_node_identity(node), in->rated.parent) : gbt_contest_plain();
  in->one_cut = be->params->extra_trees != 0;
  if (in->one_cut) in->cut_key = cpu_cut_key(be, gbt_node_identity(node));
  GBT_ASSERT(node->splittable && node->sum.h >= 0 && in->noise >= 0.0);
}

/* The feature's sums in the node's histogram. */
static void find_in_hist(const cpu_backend *be, const gbt_place *place, int counts, cpu_search *in) {
  GBT_ASSERT((size_t)in->node->hist < be->pool.n);
  const cpu_hist *hist = &be->pool.hist[in->node->hist];
  const uint32_t base = be->layout->sparse_slot;
  in->count = counts ? hist->count + place->slot_beg : NULL;
  in->sum = hist->sum + place->slot_beg;
  in->both = NULL;
  if (in->packed && place->group < 0)
    in->both = (const int64_t *)(const void *)(hist->sum + base) + (place->slot_beg - base);
}

/* The same in the thread's accumulators: cpu_hist_group. */
static void find_in_scratch(const cpu_backend *be, const gbt_place *place, int counts, const cpu_scratch *scratch,
                            cpu_search *in) {
  const gbt_group *group = &be->layout->group[place->group];
  const int wide = be->view.wide;
  const size_t column = cpu_hist_strided(group, wide) ? (size_t)place->pos * CPU_STRIDE : group->offset[place->pos];
  const size_t at = column + place->first;
  in->count = counts ? scratch->count + at : NULL;
  in->sum = scratch->acc + at;
  in->both = wide ? NULL : (const int64_t *)(const void *)scratch->acc + at;
}

void cpu_search_feature(const cpu_backend *be, int32_t feat, cpu_scratch *scratch, cpu_search *in) {
  const gbt_place *place = &be->layout->place[feat];
  const gbt_feature_cuts *cuts = &be->cuts->feat[feat];
  GBT_ASSERT(in->node->hist >= 0 || place->group >= 0);
  if (in->node->hist >= 0)
    find_in_hist(be, place, be->split.plan[feat].counts, in);
  else
    find_in_scratch(be, place, be->split.plan[feat].counts, scratch, in);
  in->feat = feat;
  in->n_bins = cuts->n_bins;
  in->n_slots = place->n_slots;
  in->zero_bin = place->zero_bin;
  in->has_missing = cuts->has_missing && gbt_place_has_missing(place, cuts->n_bins);
  in->sign = be->fr.policy.monotone ? be->fr.policy.monotone[feat] : 0;
  if (in->both == NULL) return;
  in->sum = NULL;
  const int by_layer = place->group >= 0 && gbt_policy_one_split(be->fr.policy.kind); /* reads packed sums */
  if (!by_layer && be->cuts->schema->feat[feat].type == GBT_CATEGORICAL) in->sum = unpack(in, scratch->sum);
}
