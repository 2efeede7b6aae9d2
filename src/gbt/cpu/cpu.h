/* The CPU backend's state, and what its files give each other. See backend/backend.h for the contract.
 *
 *   cpu_backend.c    open, close, table of ops
 *   cpu_rows.c       the rows of a tree, sampled and in order
 *   cpu_gradient.c   scores -> fixed-point gradients
 *   cpu_hist.c       histograms of fresh nodes; slots; cpu_hist_sparse.c: their sparse part
 *   cpu_split.c      best splits; cpu_split_num.c: of numeric features; cpu_split_cat.c: of categorical ones;
 *                    cpu_split_level.c, cpu_level_decide.c: of whole levels
 *   cpu_partition.c  rows into children; cpu_columns.c: the codes that it reads; cpu_sparse.c: those of sparse features
 *   cpu_leaf.c       leaf values, scores, export; cpu_route.c: rows that were not partitioned
 *   cpu_kernels.c    inner loops that exist once per instruction set
 *
 * Rows. `rows` holds all train rows: first the n_in sampled ones in node order (ascending within a node), then the
 * rest, ascending. A row's gradients stand at its own index. They are those of one output, made when its first tree of
 * the round begins (a tree changes the scores of its own output alone); only a host's own gradients stand there for all
 * outputs. An output's gradients take 8 bytes a row, at be->gradients + cpu_gradients_at(be):
 *
 *   not wide   gh16 of all rows, then low of all rows: what 16 bits leave out (gbt_fix_low)
 *   wide       gh32 of all rows
 *
 * Histogram slot: sum[n_slots], and count[n_slots] where counts are wanted. Zero bins that the layout leaves out are
 * made up from the node's total by the search. The sparse part, at the end, is packed where `packed` says so: int64_t
 * instead of gbt_sum, see cpu_hist_sparse.c. */
#ifndef GBT_CPU_CPU_H
#define GBT_CPU_CPU_H

#include "../backend/backend.h"
#include "../backend/export.h"
#include "../base/lock.h"
#include "../tree/frontier.h"
#include "../tree/search.h"
#include "cpu_kernels.h"

/* Rows of a task. 65,536 is the limit of a packed histogram (two sums in 64 bits). */
#define CPU_HIST_ROWS 32768u
#define CPU_PACKED_ROWS 65536u
#define CPU_SPLIT_FEATS 512 /* features that are searched in one go, at most */
#define CPU_TASK_ROWS 16384u
#define CPU_HIST_BLOCK 4096u /* rows that stay in the second-level cache from one group of a strip to the next */
#define CPU_GROUP_ACC 4128   /* accumulators of a byte group: at most 16 x 257 and a dummy */
#define CPU_HIST_LOCKS 64
#define CPU_AHEAD_SLOTS 262144 /* histogram slots of all nodes that one best-first step makes ahead */
#define CPU_LAST_STEP 16       /* nodes split at once above the last level with histograms */

/* Work that takes less than this stays on the entering thread. Waking the others costs ten microseconds at best; beside
 * other busy processes every hand-over waits until the slowest of them has had its time slice, several milliseconds. */
#define CPU_WORTH_THREADS_NS 150e3

typedef struct cpu_hist {
  gbt_sum *sum;
  uint32_t *count; /* NULL when no feature wants counts */
} cpu_hist;

/* One thread's working memory. */
typedef struct cpu_scratch {
  gbt_sum *acc;           /* accumulators of one strip, CPU_GROUP_ACC apart, or of the sparse part */
  uint32_t *count;        /* the same */
  double *g, *h, *gain;   /* max_codes each: prefix sums and gains of one feature */
  uint32_t *level;        /* max_codes: categories in order */
  double *ratio;          /* max_codes */
  gbt_sum *sum;           /* max_codes: sums of one feature */
  int32_t *rest;          /* CPU_SPLIT_FEATS: features that are not searched together with others */
  int64_t *rows;          /* max_codes: prefix counts */
  double *block;          /* g, h and the probabilities of a block of rows: (2 + n_outputs) x CPU_BLOCK */
  const double **pointer; /* n_outputs */
  gbt_gh32 *gh;           /* CPU_HIST_BLOCK: gradients of rows that are not neighbours, of either size */
  uint8_t *mark, *side;   /* cpu_sparse_sides: tile_rows, all 0; CPU_TASK_ROWS */
} cpu_scratch;

/* A histogram to be built from rows, and one to be got by subtraction. */
typedef struct cpu_build {
  int32_t node, slot;
  int32_t from;    /* the slot that it will be taken off, -1: none */
  int32_t wanted;  /* not only to be taken off */
  int32_t at_once; /* the sparse part is taken off while it is added up */
} cpu_build;

typedef struct cpu_subtract {
  int32_t from, what; /* slots: from -= what */
  int32_t free_what;  /* nobody wants `what` afterwards */
  int32_t build;      /* of `what` */
} cpu_subtract;

typedef struct cpu_unit { /* rows [beg, end) of the row order into the groups of a strip of one histogram */
  int32_t build, strip;   /* n_strips: rows into the sparse part; n_strips + 1: all rows, sparse features [beg, end) */
  uint32_t beg, end;
  int32_t shared; /* others add to the same place: merge under the lock */
} cpu_unit;

typedef struct cpu_single { /* a numeric feature of two bins, see cpu_split_num.c */
  uint32_t slot;            /* that holds the left side, or the right one */
  int8_t kind;              /* 0: some other feature */
  uint8_t missing;          /* the missing slot behind `slot`, 0: none */
} cpu_single;

typedef struct cpu_chunk { /* partition and leaf work: rows [beg, end) of a node */
  int32_t node, item;
  uint32_t beg, end, n_left, left_before;
  int32_t whole; /* all rows of the node */
  gbt_sum fine;
} cpu_chunk;

typedef struct cpu_sparse { /* see cpu_sparse.c; empty without sparse features */
  uint32_t tile_rows;
  int64_t n_tiles;
  size_t *beg;   /* n_tiles x n_sparse + 1 */
  uint16_t *row; /* within the tile */
  void *slot;    /* uint8_t or, wide, uint16_t */
  int wide;
  uint32_t most; /* rows that one slot is met by */
} cpu_sparse;

/* Symmetric growth: what the nodes of a level gain together. See cpu_split_level.c. */
typedef struct cpu_level {
  int32_t depth;           /* of the level that is searched */
  int32_t n_feats, *feats; /* which it may use, ascending */
  size_t *beg;             /* n_features + 1: a feature's place in the arrays by code, n_bins + 1 long */
  double *gain;            /* by code, twice: sums over the nodes, missing right and, behind them, left */
  uint32_t *order;         /* by code, where sets are: levels in order of gradient, for the whole tree */
  uint8_t *tried;          /* by code, where sets are: whether the set is a candidate, see CPU_TRY_ */
  int32_t *n_placed;       /* n_features: how many levels are in order */
  int8_t *missing;         /* n_features: the level has missing values */
  int64_t *left_rows;      /* by open node, when a split has been decided */
  size_t cap_left_rows;
} cpu_level;

typedef struct cpu_backend {
  gbt_backend base;
  gbt_mem mem;
  const gbt_params *params;
  gbt_loss loss;
  int32_t n_outputs, n_features, n_valid;
  int64_t n_rows;
  gbt_dataset **sets; /* 1 + n_valid, shared */
  const gbt_cuts *cuts;
  const gbt_layout *layout;
  const gbt_feature_rules *rules;
  const cpu_kernels *kernels;

  double **score;                    /* per set: n_rows x n_outputs */
  gbt_gh32 *gradients;               /* n_rows; custom loss: n_outputs x n_rows */
  double *softmax_top, *softmax_sum; /* n_rows each, see cpu_kernels.h; NULL for other losses */
  uint64_t grad_round;               /* of the gradients */
  int32_t fixed_output;              /* whose gradients stand there; -1: nobody's yet */
  gbt_scale *scale;                  /* per output */
  double *noise;                     /* per output, see gbt_noise */
  int8_t *wide;                      /* per output: histograms take the 32-bit gradients this round */

  double *pass_max; /* gradients: what each task found */
  gbt_fixed_sums *pass_sums;
  size_t cap_pass[2];

  void **column; /* [group * GBT_GROUP_MAX + pos]: codes of all train rows in one piece; NULL: none are kept */
  size_t n_columns;
  cpu_sparse sparse;

  uint32_t *rows, *rows_tmp; /* n_rows each */
  uint32_t n_in;             /* sampled rows */

  gbt_frontier fr;
  gbt_tree_task task;
  int32_t *tree_feats, n_tree_feats; /* ascending */
  int32_t *node_feats;               /* scratch for find_splits: per node its features */
  size_t cap_node_feats;
  uint64_t *rank; /* n_features: scratch for draws */

  int count_all;        /* min_data_in_leaf > 1: counts everywhere */
  int8_t *group_counts; /* n_groups + 1: the group wants counts */
  int8_t *set_feature;  /* n_features: split by sets of levels */
  cpu_single *single;   /* n_features */
  int constrained;      /* weights are clipped: monotone constraints or max_delta_step */
  int any_counts;
  cpu_hist *slot;
  int32_t *free_slot;
  size_t n_slots, n_free, max_slots, cap_slot, cap_free;
  int8_t *group_started; /* builds x (n_groups + 1): a shared histogram group has been written to */
  size_t cap_started;

  cpu_build *build;
  size_t n_build, cap_build;
  cpu_subtract *subtract;
  size_t n_subtract, cap_subtract;
  cpu_unit *unit;
  size_t n_unit, cap_unit;
  cpu_chunk *chunk;
  size_t n_chunk, cap_chunk;
  uint8_t *lut; /* partition: per chosen node a byte per code, 1 = left */
  size_t *lut_beg;
  size_t cap_lut, cap_lut_beg;
  gbt_split *found; /* find_splits: nodes x feature blocks */
  size_t cap_found;
  cpu_level level; /* empty unless growth is symmetric */
  gbt_sum *fine; /* per node: sums of 32-bit gradients */
  size_t cap_fine;
  double *value; /* per node: leaf values */
  size_t cap_value;

  gbt_export out;

  cpu_scratch *scratch;
  int32_t n_scratch;
  uint32_t acc_slots, max_codes; /* acc_slots: of the largest strip's accumulators */
  int packed;                    /* this tree: the sparse part of histograms */
  int roomy;                     /* slots have room for a sparse part that is not packed */
  gbt_lock lock[CPU_HIST_LOCKS];
  int n_locks;
} cpu_backend;

gbt_status gbt_cpu_open(gbt_ctx *ctx, const gbt_backend_spec *spec, gbt_backend **out, gbt_error *err) GBT_MUST_CHECK;

/* Scratch for every thread of this call. */
gbt_status cpu_scratch_ready(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

gbt_status cpu_gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, gbt_error *err) GBT_MUST_CHECK;
gbt_status cpu_set_gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, const double *g, const double *h,
                             gbt_error *err) GBT_MUST_CHECK;

/* Gradients of the task's output, unless they stand there already. Sets its `wide` and `noise`. */
gbt_status cpu_gradients_of_tree(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Where those of an output begin. */
static inline size_t cpu_gradients_at(const cpu_backend *be, int32_t output) {
  return be->loss == GBT_LOSS_CUSTOM ? (size_t)output * (size_t)be->n_rows : 0;
}

/* Those of the task's output, when it is wide; else these two. */
static inline const gbt_gh32 *cpu_gh32(const cpu_backend *be) {
  return be->gradients + cpu_gradients_at(be, be->task.output);
}
static inline const gbt_gh16 *cpu_gh16(const cpu_backend *be) { return (const gbt_gh16 *)(const void *)cpu_gh32(be); }
static inline const uint32_t *cpu_low(const cpu_backend *be) {
  return (const uint32_t *)(const void *)(cpu_gh16(be) + be->n_rows);
}

/* Sum over rows[beg .. end) of the gradients that histograms take. */
gbt_sum cpu_sum_rows(const cpu_backend *be, uint32_t beg, uint32_t end);

/* The key of the hash that rounds an output's gradients. */
static inline gbt_key32 cpu_rounding_key(const cpu_backend *be, int32_t output) {
  return gbt_key((uint64_t)be->params->seed, GBT_FOR_ROUNDING, be->grad_round, (uint64_t)output);
}

gbt_status cpu_build_hist(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) GBT_MUST_CHECK;
gbt_status cpu_find_splits(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) GBT_MUST_CHECK;
gbt_status cpu_partition(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) GBT_MUST_CHECK;
gbt_status cpu_finish_tree(gbt_ctx *ctx, gbt_backend *self, gbt_forest *forest, gbt_error *err) GBT_MUST_CHECK;

/* Draws the tree's rows and puts them in order; *sum: of their gradients, in units of the histograms. */
gbt_status cpu_rows_begin(gbt_ctx *ctx, cpu_backend *be, gbt_sum *sum, gbt_error *err) GBT_MUST_CHECK;

/* The columns for the partition, where they pay. */
gbt_status cpu_columns_make(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_columns_free(cpu_backend *be);

/* The sparse features' columns. */
gbt_status cpu_sparse_make(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_sparse_free(cpu_backend *be);

/* scratch->side[i] = left[slot], or zero_left where the feature is in its zero bin, for n ascending rows of the train
 * set, at most CPU_TASK_ROWS. Slots are relative to the feature's first. */
void cpu_sparse_sides(const cpu_backend *be, const gbt_place *place, const uint8_t *left, uint8_t zero_left,
                      const uint32_t *rows, uint32_t n, cpu_scratch *scratch);

/* For the tree that begins: whether the sparse part is packed; slots that have no room for it are made anew. */
gbt_status cpu_hist_fit(cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Accumulators of one thread. */
gbt_status cpu_hist_scratch(cpu_backend *be, cpu_scratch *scratch, gbt_error *err) GBT_MUST_CHECK;

/* Gradients of the task's output, gbt_gh32 where `wide`, else gbt_gh16. */
const void *cpu_hist_gradients(const cpu_backend *be, int wide);

/* Of ascending rows [beg, end), where those of one page end: the first row at or behind row_end. */
uint32_t cpu_page_end(const uint32_t *rows, uint32_t beg, uint32_t end, int64_t row_end);

/* Units for the sparse part of all builds, appended to be->unit; running one; slots [beg, end) of a subtraction. */
gbt_status cpu_hist_plan_sparse(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_hist_sparse_unit(cpu_backend *be, const cpu_unit *unit, cpu_scratch *scratch);
void cpu_hist_sparse_subtract(const cpu_backend *be, const cpu_subtract *s, uint32_t beg, uint32_t end);

/* gbt_parallel for tasks that take about `ns` nanoseconds in all. */
gbt_status cpu_parallel(gbt_ctx *ctx, int64_t n_tasks, double ns, gbt_task_fn fn, void *arg,
                        gbt_error *err) GBT_MUST_CHECK;

/* Zeros, on all threads where it is much. */
gbt_status cpu_zero(gbt_ctx *ctx, void *at, size_t bytes, gbt_error *err) GBT_MUST_CHECK;

/* Gives a node's histogram slot back. */
void cpu_hist_release(cpu_backend *be, gbt_grow_node *node);

/* Whether children (grandchildren) of a node may be split as far as max_depth goes. */
static inline int cpu_children_split(const cpu_backend *be, const gbt_grow_node *node) {
  return be->fr.policy.max_depth == 0 || node->depth + 1 < be->fr.policy.max_depth;
}

static inline int cpu_grandchildren_split(const cpu_backend *be, const gbt_grow_node *node) {
  return be->fr.policy.max_depth == 0 || node->depth + 2 < be->fr.policy.max_depth;
}

/* Which way a code of the split's feature goes. */
static inline int cpu_goes_left(const cpu_backend *be, const gbt_grow_node *node, int32_t code) {
  const gbt_split *s = &node->split;
  if (code == be->cuts->feat[s->feat].n_bins) return s->missing_left;
  if (s->kind == GBT_SPLIT_NUMERIC) return code <= s->bin;
  return gbt_bit(be->fr.sets + node->set_beg, node->set_words, (uint32_t)code);
}

/* Real numbers of one unit in the histograms of the current tree. */
gbt_units cpu_units(const cpu_backend *be);

/* The two sums of a packed slot: h never goes below 0, so the arithmetic shift leaves g. */
static inline gbt_sum cpu_unpack(int64_t both) { return (gbt_sum){both >> 32, (int64_t)(uint32_t)both}; }

/* One feature of one node, with everything the search needs. */
typedef struct cpu_search {
  const gbt_sum *sum;    /* n_slots: value bins without zero_bin, then missing */
  const int64_t *both;   /* numeric features of a packed sparse part: these instead of `sum` */
  const uint32_t *count; /* the same, or NULL */
  uint32_t n_slots;
  int32_t feat, n_bins, zero_bin; /* zero_bin >= 0: this code is not in the histogram; the node's total tells it */
  int32_t has_missing;            /* the missing code may hold something */
  const gbt_grow_node *node;
  gbt_rated rated; /* the node's */
  gbt_units unit;
  gbt_reg reg;
  int32_t sign; /* monotone constraint */
  double min_gain;
  double noise; /* of the gradients, see gbt_noise */
  int64_t min_rows;
  const gbt_params *params;
} cpu_search;

void cpu_search_numeric(const cpu_backend *be, const cpu_search *in, cpu_scratch *scratch, gbt_split *best);
void cpu_search_onehot(const cpu_search *in, cpu_scratch *scratch, gbt_split *best);
void cpu_search_set(const cpu_search *in, cpu_scratch *scratch, gbt_split *best);

/* The levels that a SET split sends left, as bits. */
void cpu_set_bits(const cpu_search *in, cpu_scratch *scratch, const gbt_split *split, uint32_t *words);

/* Levels into scratch->level in order of gradient, those with fewer than cat_smooth rows left out. The first and the
 * last `ends` are in place, between them is any order. Returns their number. */
int32_t cpu_order_levels(const cpu_search *in, cpu_scratch *scratch, int32_t ends);

/* Symmetric growth. search: find_splits. decide: once all nodes of a level are open, gives them their split. */
gbt_status cpu_level_open(cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_level_close(cpu_backend *be);
gbt_status cpu_level_search(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cpu_level_decide(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Whether the histograms of a level's nodes are kept until its split is decided, although nobody wants them after. */
int cpu_level_keeps(const cpu_backend *be, int32_t depth);

/* Sums of a slot of the feature. */
static inline gbt_sum cpu_search_sum(const cpu_search *in, uint32_t slot) {
  return in->both ? cpu_unpack(in->both[slot]) : in->sum[slot];
}

/* Gain of a split with left sums gl, hl (real), or -1 when it is not allowed. */
static inline double cpu_gain(const cpu_search *in, double gl, double hl, gbt_reg reg) {
  return gbt_rate_split(&in->rated, gl, hl, reg, in->sign);
}

/* Fills `in` for a node, and then for a feature of it; the sums of a categorical one may lie in the scratch. */
void cpu_search_node(const cpu_backend *be, const gbt_grow_node *node, cpu_search *in);
void cpu_search_feature(const cpu_backend *be, int32_t feat, cpu_scratch *scratch, cpu_search *in);

/* Searches those of n <= CPU_SPLIT_FEATS features that have a single cut in the node; the others come back in
 * scratch->rest, their number is returned. */
gbt_status cpu_singles_make(cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
int32_t cpu_search_singles(const cpu_backend *be, cpu_search *in, const int32_t *feats, int32_t n, cpu_scratch *scratch,
                           gbt_split *best);

/* Adds the finished tree's values to scores of rows that were not partitioned: rows (ascending indices into set
 * `which`, or NULL for all of it). values: per node. */
gbt_status cpu_route(gbt_ctx *ctx, cpu_backend *be, int32_t which, const uint32_t *rows, int64_t n, const double *value,
                     gbt_error *err) GBT_MUST_CHECK;

/* Chunks of at most `rows` rows for a node's rows, appended to be->chunk */
gbt_status cpu_add_chunks(cpu_backend *be, int32_t node, int32_t item, uint32_t beg, uint32_t n, uint32_t rows,
                          gbt_error *err) GBT_MUST_CHECK;

#endif
