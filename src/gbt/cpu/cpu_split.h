/* The search for the fresh nodes' best splits: which features it looks at, and what it found; see cpu_split.c. */
#ifndef GBT_CPU_CPU_SPLIT_H
#define GBT_CPU_CPU_SPLIT_H

#include "../backend/backend.h"
#include "../backend/feature_plan.h"
#include "../tree/split.h"

struct cpu_backend;

typedef struct cpu_single { /* a numeric feature of two bins, see cpu_split_num.c */
  uint32_t slot;            /* that holds the left side, or the right one */
  int8_t kind;              /* 0: some other feature */
  uint8_t missing;          /* how far the missing slot is after `slot`, 0: none */
} cpu_single;

typedef struct cpu_splits {
  int32_t *tree_feats, n_tree_feats; /* ascending */
  int32_t *node_feats;               /* scratch for find_splits: per node its features */
  size_t cap_node_feats;
  uint64_t *drawn;                   /* n_features: scratch for draws */
  gbt_split *found;                  /* find_splits: nodes x runs of features */
  size_t cap_found;
  int32_t *by_rows; /* find_splits: nodes without histograms; by list, where groups begin; by list, features by group */
  size_t cap_by_rows;
  gbt_feature_plan *plan; /* n_features */
  cpu_single *single;     /* n_features */
  int constrained;        /* weights are clipped: monotone constraints or max_delta_step */
  int contests;           /* more than gains decides between features: tree/contest.h */
} cpu_splits;

/* How each feature is searched, and room for the features of trees and nodes. */
gbt_status cpu_split_open(struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_split_close(struct cpu_backend *be);

/* Draws the tree's features. */
void cpu_split_begin(struct cpu_backend *be);

/* See find_splits of gbt_backend. */
gbt_status cpu_find_splits(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) GBT_MUST_CHECK;

#endif
