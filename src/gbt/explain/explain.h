/* Contributions of features to the scores of a forest: Shapley values, and their interactions.
 *
 * The players are features, or groups of features, such as all features of one column. The value of a tree when the
 * players S are known is
 *
 *   by cover          the mean of its leaves where splits by others send a row both ways, in shares of the cover
 *   by a background   the mean over the background's rows b of the tree's value for the row with b's values for others
 *
 * Contributions are exact for both (step.h). Those of a row do not depend on threads, blocks or other rows, to the last
 * bit: players of a tree are added in the order of its nodes, trees in the order of training, and after all of them, in
 * that order again, what the slopes of linear leaves add (slopes.h). */
#ifndef GBT_EXPLAIN_EXPLAIN_H
#define GBT_EXPLAIN_EXPLAIN_H

#include "../backend/device.h"
#include "../data/table.h"
#include "../tree/view.h"

/* Borrowed for the call. */
typedef struct gbt_explain_spec {
  gbt_tree_range trees;
  const int32_t *player; /* by feature of the forest, 0 .. n_players - 1 */
  int32_t n_players;
  const gbt_binding *background; /* NULL: by cover; else bound to the same schema, with at least one row */
  int interactions;              /* 1: compute interactions of pairs of players; 0: contributions */
  const gbt_device_api *api;     /* a device to use if its library offers this work; NULL: the CPU */
  int32_t device;                /* its number */
} gbt_explain_spec;

/* With P players and n rows, column by column, for each of the forest's outputs in turn:
 *   contributions   n x (P + 1): the players, then the score with none of them known: base score,
 *                   offset and means of the trees. A row's numbers add up to its score, but for rounding (gbt_sums)
 *   interactions    n x (P + 1) x (P + 1), symmetric: half of what two players do together in the cell of either order,
 *                   and on the diagonal what is left of the player's contribution, so that rows of it add up to the
 *                   contributions. The last row and column have the base in their common cell and 0 elsewhere.
 * out: the caller's, of this size times n_outputs. offset: n x n_outputs, or NULL. binding: to the forest's schema.
 * GBT_E_ARG: no such trees, another schema, or a feature without a player. GBT_E_DATA: a background without rows. */
gbt_status gbt_explain(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                       const gbt_explain_spec *spec, const double *offset, double *out, gbt_error *err) GBT_MUST_CHECK;

#endif
