/* Shared by the two ways of predicting. Private to model/.
 *
 *   direct   few rows: trees are walked as they lie in the model, nothing is prepared       predict_direct.c
 *   packed   many rows: a run of trees is packed first, its thresholds become orders,       predict_pack.c
 *            rows become codes, and small integers are compared: node by node,              predict_block.c
 *            or layer by layer, where the machine looks bytes up in registers               predict_table.h, _tops.h
 *
 * Both give the number of the leaf that a row reaches in a tree, tree after tree in order; gbti_predict_emit adds the
 * leaf's value or writes its number. So a row's additions have one order, whatever the way, the blocks and the threads.
 */
#ifndef GBT_MODEL_PREDICT_JOB_H
#define GBT_MODEL_PREDICT_JOB_H

#include "../data/binding.h"
#include "../tree/forest.h"
#include "predict.h"

typedef struct gbti_predict_job {
  const gbt_forest_view *forest;
  const gbt_binding *binding;
  int64_t n_rows;
  uint64_t first_tree; /* leaves of tree t go to column t - first_tree */
  double *scores;      /* n_rows x n_outputs, or NULL */
  int32_t *leaves;     /* n_rows x trees, or NULL */
} gbti_predict_job;

/* Rows [row, row + n) reach the leaves pos[0 .. n) of tree t. */
void gbti_predict_emit(const gbti_predict_job *job, uint64_t t, int64_t row, int32_t n, const uint32_t *pos);

/* The same where leaves may be linear, of scores. x: by row, by grid of the forest: the row's X (tree/linear.h). */
void gbti_predict_emit_linear(const gbti_predict_job *job, uint64_t t, int64_t row, int32_t n, const uint32_t *pos,
                              const int32_t *x);
/* Of linear leaves of numbers. x[r * width + feature]: of these rows. */
void gbti_predict_emit_numbers(const gbti_predict_job *job, uint64_t t, int64_t row, int32_t n, const uint32_t *pos,
                               const double *x, int32_t width);

/* The output that tree t adds to, where leaves hold one value. */
int32_t gbti_predict_output(const gbt_forest_view *forest, uint64_t t);

/* Whether the table and the trees are the forest's. */
gbt_status gbti_predict_check(const gbti_predict_job *job, gbt_tree_range trees, gbt_error *err) GBT_MUST_CHECK;

/* Scores before the first tree, and what a forest that is not plain (gbt_sums) does after the last of `trees`. offset:
 * NULL, or as in gbt_predict_scores. */
gbt_status gbti_predict_start(gbt_ctx *ctx, const gbti_predict_job *job, const double *offset,
                              gbt_error *err) GBT_MUST_CHECK;
gbt_status gbti_predict_finish(gbt_ctx *ctx, const gbti_predict_job *job, gbt_tree_range trees, const double *offset,
                               gbt_error *err) GBT_MUST_CHECK;

/* trees: not empty; rows: at least one. */
gbt_status gbti_predict_direct(gbt_ctx *ctx, const gbti_predict_job *job, gbt_tree_range trees,
                               gbt_error *err) GBT_MUST_CHECK;

#define GBTI_PACK_LANES 12         /* rows that walk a tree together */
#define GBTI_PACK_LEAF 0xffffu     /* order of leaves: no code is above */
#define GBTI_PACK_BY_LEVEL 0xfffeu /* order of splits by level, and the highest code */

/* A node in 8 bytes. A row goes to child, or to child + 1 when its code is above the order. A leaf is its own child. */
typedef struct gbti_pack_node {
  uint16_t col, order; /* col: column of codes, times GBTI_PACK_LANES */
  uint32_t child;
} gbti_pack_node;

/* The same for trees that split by level somewhere: bit `code` of these words is set for levels that go right; codes
 * beyond the last word use the last one, which is all ones or all zeros. Other nodes have beg = last = 0: a word of
 * zeros. */
typedef struct gbti_pack_wide {
  uint16_t col, order;
  uint32_t child;
  uint32_t beg, last; /* the word `beg + min(code / 32, last)` */
} gbti_pack_wide;

typedef struct gbti_pack_tree {
  size_t node_beg;
  uint32_t depth; /* at least that of the deepest leaf, or GBTI_PACK_DEEP when that is deeper */
  int has_sets;
} gbti_pack_tree;

#define GBTI_PACK_DEEP 0xfffeu

/* A column of codes. Numbers: how many of the feature's cuts (all thresholds in the run) are below x, so that
 * x <= cut[order] <=> code <= order; missing is above all orders or below all. Levels: 0 missing, 1 unseen, 2 + level.
 */
enum { GBTI_PACK_HIGH, GBTI_PACK_LOW, GBTI_PACK_LEVEL, GBTI_PACK_KINDS };

/* Cuts lie as a complete binary search tree, filled up with +Inf: the root at 1, children of i at 2 i and 2 i + 1. */
typedef struct gbti_pack_feature {
  int32_t feat;
  int32_t code_col[GBTI_PACK_KINDS]; /* the number of its column of codes, or -1 */
  size_t cut_beg;                    /* its 2^n_steps cuts; the first is not used */
  uint32_t n_cuts, n_steps;
} gbti_pack_feature;

/* Which of the cuts in ascending order step number `step` compares with at its place i; places after the last cut hold
 * +Inf. */
GBT_FN uint32_t gbti_cut_order(uint32_t n_steps, uint32_t step, uint32_t i) {
  GBT_ASSERT(step < n_steps);
  return ((2 * i + 1) << (n_steps - 1 - step)) - 1;
}

/* A step down the cuts: from 1 on, n_steps steps lead to 2^n_steps + the number of cuts below x (NaN: 2^n_steps). */
GBT_FN uint32_t gbti_cut_step(const double *cuts, uint32_t at, double x) { return at + at + (uint32_t)(cuts[at] < x); }

/* The code of a level, or of none. */
GBT_FN uint16_t gbti_level_code(double x) {
  if (x != x) return 0;
  if (x < 0.0) return 1;
  return (uint16_t)(x < GBTI_PACK_BY_LEVEL - 2 ? (uint32_t)x + 2 : (uint32_t)GBTI_PACK_BY_LEVEL);
}

/* Whether a code goes right by the set words[beg .. beg + last]. */
GBT_FN uint32_t gbti_goes_right_by_set(const uint32_t *words, uint32_t beg, uint32_t last, uint32_t code) {
  uint32_t word = code >> 5;
  word = beg + (word < last ? word : last);
  return words[word] >> (code & 31u) & 1u;
}

typedef struct gbti_table gbti_table;
typedef struct gbti_table_set gbti_table_set;
typedef struct gbti_answers gbti_answers;
typedef struct gbti_coder gbti_coder;
typedef struct gbti_top gbti_top;
typedef struct gbti_top_set gbti_top_set;
typedef struct gbti_top_node gbti_top_node;
typedef struct gbti_top_wide gbti_top_wide;

/* Trees as tables: predict_table.h. All 0 where there are none. */
typedef struct gbti_tables {
  uint64_t n;     /* trees that are tables */
  gbti_table *at; /* by tree */
  uint8_t *bytes;
  uint32_t n_cols;    /* columns of bytes */
  uint32_t *byte_col; /* by column of codes: its first column of bytes */
  uint32_t *cols;
  gbti_table_set *sets;
  size_t n_sets;
  uint16_t *leaf;
  gbti_answers *answers; /* by column with long sets: predict_answers.h */
  uint32_t n_answers, n_masks;
  uint64_t *answer_bits;
} gbti_tables;

/* Trees whose first layers are tables: predict_tops.h. All 0 where there are none; byte columns are those of tables. */
typedef struct gbti_tops {
  uint64_t n;   /* trees that are tops */
  gbti_top *at; /* by tree */
  uint8_t *bytes;
  uint32_t *cols;
  gbti_top_set *sets;
  uint16_t *start;
  double *values;
  gbti_top_node *nodes;
  gbti_top_wide *wide;
} gbti_tops;

/* From numbers to codes of tables and tops: predict_coder.h. All 0 where there are none. */
typedef struct gbti_coders {
  gbti_coder *at; /* by feature */
  double *cuts;
  uint16_t *cells;
  uint8_t *firsts;
} gbti_coders;

typedef struct gbti_pack {
  gbt_mem mem;
  gbt_tree_range trees; /* those packed; empty when the first tree cannot be: walk it directly */
  uint32_t n_code_cols, n_feats;
  int32_t n_values;         /* of a leaf */
  gbti_pack_feature *feats; /* n_feats: features that the trees use */
  double *cuts;             /* ascending by feature */
  gbti_pack_tree *tree;     /* one for each of trees */
  gbti_pack_node *nodes;    /* numbered within their tree as in the forest */
  gbti_pack_wide *wide;     /* by node; NULL when no tree splits by level */
  uint32_t *words;
  size_t n_bytes;   /* of all that it points to */
  uint64_t n_steps; /* steps that a row takes through all the trees, about */
  gbti_tables tables;
  gbti_tops tops;
  gbti_coders coders;
} gbti_pack;

/* Trees of a pack whose rows have codes of a byte. */
GBT_FN uint64_t gbti_pack_in_bytes(const gbti_pack *pack) { return pack->tables.n + pack->tops.n; }

/* Packs trees from trees.beg on, as many as fit. */
gbt_status gbti_pack_new(gbt_ctx *ctx, const gbt_forest_view *forest, gbt_tree_range trees, gbti_pack **out,
                         gbt_error *err) GBT_MUST_CHECK;
void gbti_pack_free(gbti_pack *pack); /* NULL allowed */

/* trees: some of the pack's. */
gbt_status gbti_predict_packed(gbt_ctx *ctx, const gbti_predict_job *job, const gbti_pack *pack, gbt_tree_range trees,
                               gbt_error *err) GBT_MUST_CHECK;

#endif
