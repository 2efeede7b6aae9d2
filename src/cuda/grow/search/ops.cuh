/* The best splits of searched nodes, node by node or by layer. */
#pragma once

#include "../backend.cuh"

/* Subtractions of the plan, fused with the search; every searched node's best of each run into found. A run is some of
 * the tree's features, or one feature that is split by sets (split_cat.cu); the latter runs come last. */
gbt_status cu_search(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_search_sets(cu_backend *be, gbt_error *err) GBT_MUST_CHECK; /* by cu_search */

/* Whether the search returns a split of every feature: they compete by more than gains, or have one cut each. */
static inline int cu_searches_each(const cu_backend *be) {
  return gbt_contests(be->params, be->handicap) || be->params->extra_trees != 0;
}

/* Where ranks divide the search: the best splits of the searched nodes, of this rank's features, become those of all
 * features (offers.cu). Else nothing. Waits. Collective. */
gbt_status cu_share_splits(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The same of a layer of each tree, by cu_layer_decide (layer_offers.cu). */
gbt_status cu_share_layer(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* n words of every rank, in their order, to `all`, by NCCL or through the host. Waits. Collective. */
gbt_status cu_gather_words(gbt_ctx *ctx, cu_backend *be, const uint32_t *own, size_t n, uint32_t *all,
                           gbt_error *err) GBT_MUST_CHECK;

/* Which features are split by sets, and how much scratch ordering their levels takes: before other sizes. */
gbt_status cu_set_feats_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_set_feats_close(cu_backend *be);

/* Symmetric growth: made (all but what a tree has to itself), freed; instead of cu_search; before cu_select. */
gbt_status cu_layer_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_layer_close(cu_backend *be);
gbt_status cu_layer_search(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_layer_decide(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Trees that grow together, all of a batch (together.cu): made before layers. The host's directions go up when trees
 * begin. Symmetric growth: by cu_layer_search; by cu_layer_decide. */
gbt_status cu_together_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_together_close(cu_backend *be);
gbt_status cu_together_send(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_together_join(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_together_settle(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The same node by node, called in place of cu_search and of what opens nodes in cu_select. cu_team_search: the best
 * split of every fresh node by the sum of gains (team_search.cu). cu_team_share: that of all ranks. All trees get it
 * (team_open.cu). Once trees are complete, their nodes have their own gains. */
gbt_status cu_team_search(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_team_choose(cu_backend *be, gbt_error *err) GBT_MUST_CHECK; /* by cu_team_search */
gbt_status cu_team_share(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_team_open_nodes(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_team_gains(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
