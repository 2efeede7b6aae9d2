/* Symmetric growth: what the nodes of a layer gain together; see cpu_split_layer.c, and cpu_layer_decide.c for the
 * choice. */
#ifndef GBT_CPU_CPU_LAYER_H
#define GBT_CPU_CPU_LAYER_H

#include "../base/ctx.h"
#include "../tree/contest.h"

struct cpu_backend;

typedef struct cpu_layer { /* empty unless growth is symmetric */
  int32_t depth;           /* of the layer that is searched */
  int32_t n_feats, *feats; /* which it may use, ascending */
  int32_t *by_group;       /* the same, group by group: group_beg[g] .. */
  int32_t *group_beg;      /* n_groups + 1, of a layer with nodes that have no histogram */
  size_t *beg;             /* n_features + 1: a feature's place in the arrays by code; none where it is unused */
  double *gain;            /* by code, twice: sums over the nodes with missing values right, then left */
  uint32_t *order;         /* by code, where sets are: levels in order of gradient, for the whole tree */
  uint8_t *tried;          /* by code, where sets are: whether the set is a candidate, see CPU_TRY_ */
  int32_t *n_placed;       /* n_features: how many levels are in order */
  uint32_t most_words;     /* of a set of levels */
  int8_t *missing;         /* n_features: the layer has missing values */
  double scored;           /* by the tree so far: the root's score and what the layers above gained */
  gbt_contest contest;     /* of the layer that is decided */
  gbt_key32 cut_key;       /* of that layer: tree/random_cut.h */
  int64_t *left_rows;      /* by open node, when a split has been decided */
  int64_t *by_rows;        /* by open node: g, h and rows that go left, of nodes without a histogram */
  uint8_t *lut;            /* by code of the layer's feature: 1 where it goes left; where nodes have no histogram */
  size_t cap_left_rows, cap_by_rows, cap_lut;
  char *offers;            /* several ranks: what each would split the layer by, and what that means for its nodes */
  size_t cap_offers;
} cpu_layer;

/* Room for the gains of all candidates of a layer; nothing where trees are not symmetric. After cpu_split_open. */
gbt_status cpu_layer_open(struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_layer_close(struct cpu_backend *be);

/* find_splits of symmetric growth. */
gbt_status cpu_layer_search(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Once all nodes of a layer are open, gives them their split. */
gbt_status cpu_layer_decide(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

#endif
