/* The CUDA backend's state, and what its files give each other. See backend/backend.h for the contract.
 *
 *   cu_api.cu         the door: one exported function; devices and what is wrong with them
 *   cu_mem.cu         device memory, counted
 *   cu_set.cu         a data set's pages as tiles on the device; cu_tiles.cu: which columns stand together
 *   cu_columns.cu     the train set's codes by column
 *   cu_sizes.cu       how large everything must be
 *   cu_state.cu       where the state of a tree that grows stands
 *   cu_backend.cu     open, close, table of ops, the way of a batch of trees
 *   cu_graph.cu       the steps of a batch, recorded and replayed
 *   cu_rows.cu        the rows of a tree, sampled and in order
 *   cu_gradient.cu    scores -> fixed-point gradients
 *   cu_hist.cu        histograms of fresh nodes
 *   cu_split.cu       best splits; cu_split_cat.cu: by sets of levels; cu_level*.cu: symmetric growth
 *   cu_frontier.cu    the tree being grown: choosing, children, plans of the next step
 *   cu_partition.cu   rows into children
 *   cu_leaf.cu        leaf values, scores; cu_route.cu: rows that were not partitioned
 *   cu_metric.cu      metrics, by exact sums; cu_auc.cu: the one that needs a sort
 *   cu_block.cuh      sums and scans over a warp or a block; cu_exact.cuh: of doubles, exactly
 *   cu_search.cuh     what the searches share; cu_sets.cuh: levels in order; cu_level.cuh: a level's gains
 *   cu_clear.cuh      slots of histograms that are built next
 *   cu_predict*.cu    prediction: cu_predict.cuh
 *   cu_cuts.cu        cuts; cu_bin.cu: pages: cu_data.cuh; cu_stage.cu: the way up of large things: cu_stage.cuh
 *   cu_sort.cu        device-wide sorts and scans: CUB, or a plain twin under tests/simt
 *
 * The host issues the steps of a tree without looking at it and waits once, at its end ("blind"). It looks after every
 * step ("looking") when it cannot know the number of steps or has to give nodes their features: see cu_backend.waits.
 * Everything a kernel needs to know of the tree's state stands in device memory, in cu_tree.
 *
 * Batches. Trees of a round, of all classes if memory allows, grow beside each other: a step is one set of launches for
 * all of them. Everything that a tree has to itself (marked * in cu_view) stands in one piece of memory, `stride` bytes
 * behind that of the tree before it; blockIdx.y says which tree a block works for, and cu_mine gives it the view that
 * the tree would have alone:
 *
 *   state   | tree 0: cu_tree, nodes, lists, histograms, order .. | tree 1: the same |  ..
 *
 * Trees that the host looks at grow alone.
 *
 * Rows. A node's rows are a run of positions [row_beg, row_beg + n_rows) in `order[depth & 1]`: a step reads the chosen
 * nodes' runs from one of the two and writes their children's to the other. Rows that stop early stay where they are,
 * and nobody writes there again. Behind the n_in sampled rows stand the others (in order[0]), ascending.
 *
 * Histograms have the CPU's slots (data/page.h): sum[n_slots], all of them gbt_sum, and count[n_slots] where wanted.
 * Sums are made by integer additions in any order, so they are the CPU's to the bit.
 *
 * All kernels take what they need as pointers; nothing is kept in static device variables. */
#pragma once

#include "cu_port.cuh"

extern "C" {
#include "../gbt/backend/backend.h"
#include "../gbt/backend/device.h"
#include "../gbt/backend/export.h"
#include "../gbt/base/rng.h"
#include "../gbt/math/fixed.h"
#include "../gbt/math/gain.h"
#include "../gbt/math/loss.h"
#include "../gbt/tree/grow_node.h"
}

/* ---- errors ---- */

/* What always helps: how messages end. R/cuda.R knows it by heart. */
#define CU_ELSE "use `device = \"cpu\"` (the model is the same)"

/* A CUDA call's error as ours. Memory: GBT_E_MEM with the bytes asked for; else GBT_E_DEVICE. */
gbt_status cu_failed(cudaError_t code, const char *what, gbt_error *err);

#define CU_TRY(call)                                                          \
  do {                                                                        \
    cudaError_t cu_code_ = (call);                                            \
    if (cu_code_ != cudaSuccess) return cu_failed(cu_code_, #call, err);      \
  } while (0)

/* After launches: what the driver refused at once. */
#define CU_LAUNCHED() CU_TRY(cudaGetLastError())

/* ---- device memory ---- */

/* Counts what it gave; `most` is the greatest sum so far. limit: bytes that may be taken, 0 for all there is. */
struct cu_memory {
  size_t bytes, most, limit;
};

/* n * size bytes on the device, not cleared; *out is NULL on failure. Never freed but by cu_free. */
gbt_status cu_alloc(cu_memory *memory, size_t n, size_t size, void *out, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_alloc_zeros(cu_memory *memory, size_t n, size_t size, void *out, gbt_error *err) GBT_MUST_CHECK;
void cu_free(cu_memory *memory, void *block, size_t bytes); /* NULL allowed */

/* An array that remembers its size, so that closing needs none. */
template <class T> struct cu_array {
  T *at = nullptr;
  size_t n = 0;
};
template <class T> gbt_status cu_new(cu_memory *memory, cu_array<T> *a, size_t n, gbt_error *err) {
  GBT_TRY(cu_alloc(memory, n, sizeof(T), &a->at, err));
  a->n = n;
  return GBT_OK;
}
template <class T> gbt_status cu_new_zeros(cu_memory *memory, cu_array<T> *a, size_t n, gbt_error *err) {
  GBT_TRY(cu_alloc_zeros(memory, n, sizeof(T), &a->at, err));
  a->n = n;
  return GBT_OK;
}
template <class T> void cu_drop(cu_memory *memory, cu_array<T> *a) {
  cu_free(memory, a->at, a->n * sizeof(T));
  a->at = nullptr;
  a->n = 0;
}

/* ---- a data set on the device ---- */

/* Columns of codes side by side, at most 32: lane l of a warp takes column l. The codes of a row are `words` 32-bit
 * words, 1, 2, 4 or 8; column l's code lies in bits [l * bits, (l + 1) * bits) of them, lowest first. Rows begin at
 * `at` in the set's words, a multiple of 8, so that a row never straddles two sectors of memory.
 *
 * `lanes` is the power of two not below n_cols: a warp takes 32 / lanes rows at a time. A histogram of a tile in shared
 * memory has its cells at [code * pitch + lane % pitch]: with pitch 32 every lane has a bank of its own. */
struct cu_tile {
  uint64_t at;
  int32_t first_col, n_cols, lanes, bits, words;
  uint32_t n_codes; /* of its widest column */
  int32_t pitch;    /* 32, or lanes; 0: too large for shared memory, sums go to global memory at once */
  int32_t counts;   /* rows are counted */
};

/* A column of codes: of one feature, or of a bundle. */
struct cu_column {
  int32_t tile, lane;
  uint32_t slot, n_codes; /* slots of its codes: slot .. slot + n_codes */
};

enum { CU_NUMERIC = 0, CU_ONEHOT, CU_SET };

/* A feature of the training set's cuts: as gbt_place and gbt_feature_cuts. */
struct cu_feature {
  int32_t column;                   /* -1: sparse */
  uint32_t slot, n_slots, first;    /* as gbt_place */
  int32_t zero_bin, n_bins;
  int8_t kind, has_missing, counts; /* has_missing: the missing code may hold something; counts: slots are counted */
};

/* What kernels see of a data set; pointers on the device. */
struct cu_rows_view {
  int64_t n_rows;
  const uint32_t *words;
  const cu_tile *tile;
  const cu_column *column;
  const cu_feature *feat;
  int32_t n_tiles, n_columns, n_features;
  const uint64_t *sparse_beg;   /* n_rows + 1; NULL without sparse features */
  const uint32_t *sparse_slot;  /* ascending within a row */
  const uint64_t *unseen_beg;   /* n_features + 1; NULL when there are none */
  const uint32_t *unseen_row;
  const uint8_t *copy;          /* codes column by column, of the train set where it pays; or NULL */
  const uint64_t *copy_beg;     /* n_columns: the first byte of a column in the copy, or CU_NO_COPY */
};

#define CU_NO_COPY UINT64_MAX

struct cu_set {
  const gbt_dataset *from; /* shared */
  cu_rows_view view;
  cu_array<uint32_t> words, sparse_slot, unseen_row;
  cu_array<uint64_t> sparse_beg, unseen_beg;
  cu_array<cu_tile> tile;
  cu_array<cu_column> column;
  cu_array<cu_feature> feat;
  cu_array<double> label, weight; /* empty: none */
  cu_array<double> score;         /* n_rows x n_outputs */
  double *host_score;             /* n_rows x n_outputs, page-locked, made when first asked for */
  cu_tile *host_tile;             /* n_tiles */
};

struct cu_backend;

/* How many columns a tile should have at most, so that the device is busy. */
int32_t cu_tile_columns(const cu_backend *be);

/* Tiles of a data set's pages, its labels and weights. Rows are counted for features of be->counts, at least. */
gbt_status cu_set_make(gbt_ctx *ctx, cu_backend *be, gbt_dataset *ds, cu_set *set, gbt_error *err) GBT_MUST_CHECK;
void cu_set_free(cu_backend *be, cu_set *set);

/* The code of a tile's column in a row. */
__device__ static __forceinline__ uint32_t cu_tile_code(const uint32_t *words, const cu_tile &t, int32_t lane,
                                                        uint32_t row) {
  const uint32_t bits = (uint32_t)t.bits, bit = (uint32_t)lane * bits, shift = bit & 31u;
  const uint32_t *w = words + t.at + (uint64_t)row * (uint32_t)t.words + (bit >> 5);
  uint32_t code = w[0] >> shift;
  if (shift + bits > 32u) code |= w[1] << (32u - shift);
  return code & ((1u << bits) - 1u);
}

/* The code of a column in a row. */
__device__ static __forceinline__ uint32_t cu_column_code(const cu_rows_view &set, int32_t column, uint32_t row) {
  const cu_column c = set.column[column];
  return cu_tile_code(set.words, set.tile[c.tile], c.lane, row);
}

/* A column's code as a code (bin, or n_bins for missing) of one of its features. Other features' codes of a bundle say
 * that this one is in its zero bin. */
__device__ static __forceinline__ int32_t cu_code_of(const cu_feature &f, uint32_t column_code) {
  if (f.zero_bin < 0) return (int32_t)column_code;
  uint32_t slot = column_code - f.first;
  if (column_code < f.first || slot >= f.n_slots) return f.zero_bin;
  return (int32_t)slot + ((int32_t)slot >= f.zero_bin);
}

/* The first place in x[lo .. hi), ascending, that is not below `value`; hi when there is none. */
template <class T, class I> __device__ static __forceinline__ I cu_lower_bound(const T *x, I lo, I hi, T value) {
  while (lo < hi) {
    const I mid = lo + (hi - lo) / 2;
    if (x[mid] < value) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* The code of a feature in a row. Sparse: the row's slots are searched. */
__device__ static __forceinline__ int32_t cu_code(const cu_rows_view &set, int32_t feat, uint32_t row) {
  const cu_feature f = set.feat[feat];
  if (f.column >= 0) return cu_code_of(f, cu_column_code(set, f.column, row));
  const uint64_t end = set.sparse_beg[row + 1], lo = cu_lower_bound(set.sparse_slot, set.sparse_beg[row], end, f.slot);
  if (lo == end || set.sparse_slot[lo] >= f.slot + f.n_slots) return f.zero_bin;
  int32_t slot = (int32_t)(set.sparse_slot[lo] - f.slot);
  return slot + (slot >= f.zero_bin);
}

/* ---- the tree being grown, in device memory ---- */

enum { CU_FAULT_GRADIENT = 1, CU_FAULT_VALUE = 2, CU_FAULT_ROOM = 4 }; /* overflow of gradients, of a leaf; a bug */

/* A histogram to be built from rows. */
struct cu_build {
  int32_t node, slot;
};

/* A node to be searched. minus >= 0: its slot holds its parent's histogram; that of its sibling, in slot `minus`, is
 * taken off while it is searched, of all features of the tree, whether they are allowed or not. */
struct cu_searched {
  int32_t node, minus;
};

/* What a tree is to be; slot: where its output's gradients stand. */
struct cu_task : gbt_tree_task {
  int32_t slot;
};

/* An output's gradients of the round. */
struct cu_output {
  unsigned long long max_g, max_h; /* bits of the largest |g| and h */
  long long size, square, h;       /* gbt_fixed_sums */
  gbt_scale scale;
  double noise;
  int32_t wide; /* histograms take the 32-bit gradients */
};

enum : uint32_t { CU_MOST_WORDS = 1u << 26 }; /* of all sets of a tree */

/* State of the tree. Written by kernels alone; the host writes `task` into it when a tree begins. */
struct cu_tree {
  cu_task task;
  uint64_t round;   /* that the gradients are of */
  gbt_units unit;   /* of the histograms of this tree */
  double down_h;    /* of the fine sums of hessians, to real numbers */
  double noise;
  int32_t wide;
  uint32_t fault;   /* bits CU_FAULT_ */
  uint64_t fault_round;
  gbt_sum root;     /* sums of the drawn rows */
  uint32_t n_in;    /* drawn rows */
  int32_t n_nodes, fresh_beg; /* nodes [fresh_beg, n_nodes) are fresh */
  int32_t open_beg;           /* no node before it is open */
  int32_t n_chosen;           /* chosen[0 .. n_chosen) */
  int64_t n_leaves;
  int32_t n_search;           /* search[0 .. n_search): fresh nodes that have a histogram */
  int32_t n_build;            /* build[0 .. n_build) */
  uint32_t n_hist_blocks;     /* of all builds: hist_block[n_build] */
  uint32_t n_split_blocks;    /* of all chosen nodes: split_block[n_chosen] */
  uint32_t n_leaf_blocks;     /* of all leaves: leaf_block[n_nodes] */
  int32_t n_hists;            /* histogram slots taken */
  uint32_t n_words;           /* of sets */
};

/* A run of rows in order, and their 16-bit gradients beside them. */
struct cu_order {
  uint32_t *row;
  gbt_gh16 *gh;
};

/* What all kernels of the backend see, passed by value. Pointers on the device. Those of parts marked * are the first
 * tree's: see cu_mine. */
struct cu_view {
  cu_rows_view train;
  int32_t n_trees;           /* of the batch */
  int32_t n_turns;           /* trees of each output in the batch: they stand one behind the other, see cu_of_turn */
  uint64_t stride;           /* bytes from a tree's state to that of the next one */
  cu_tree *tree;             /* * */
  cu_output *output;         /* n_outputs */
  gbt_params params;
  gbt_grow_policy policy;    /* unit: not here but in tree */
  int32_t loss, n_outputs, n_features, constrained, any_counts;
  uint32_t n_slots;          /* of a histogram */
  double *score;             /* of the train set */
  const double *label, *weight; /* weight may be NULL */
  /* gradients of the batch's outputs, or (custom loss) of all: see cpu.h. gh16 and low, or gh32, from 2 * n_rows * slot
   * on */
  uint32_t *gradients;
  /* * rows */
  cu_order order[2];
  uint32_t *mask;            /* partition: a bit per position of a block, 1 = left */
  uint32_t *block_left;      /* partition: by block, rows that go left; then those before it in its node */
  /* * nodes, by number */
  gbt_grow_node *node;       /* max_nodes */
  gbt_sum *fine;             /* max_nodes */
  double *value;             /* max_nodes */
  /* * lists */
  int32_t *chosen;           /* max_step */
  cu_searched *search;       /* 2 * max_step */
  cu_build *build;           /* 2 * max_step */
  uint32_t *hist_block;      /* 2 * max_step + 1: first block of a build */
  uint32_t *split_block;     /* max_step + 1: first block of a chosen node */
  uint32_t *leaf_block;      /* max_nodes + 1 */
  uint32_t hist_rows, split_rows, leaf_rows; /* rows of a block */
  /* * histograms */
  gbt_sum *sum;              /* max_hists x n_slots */
  uint32_t *count;           /* the same; NULL when nobody counts */
  /* * search */
  const int32_t *tree_feats; /* n_tree_feats, ascending */
  const int32_t *n_tree_feats;
  const uint8_t *allowed;    /* n_features, for all nodes of the step; or, with `by_node`, of every searched node */
  gbt_split *found;          /* 2 * max_step x n_units: the best of a unit's features */
  uint32_t *set_bits;        /* 2 * max_step x set_words: the best set of every set feature, see cu_split_cat.cu */
  uint32_t *sets;            /* max_words: bitsets of the tree's splits */
  int32_t by_node;
  int32_t n_units, unit_feats; /* a unit searches unit_feats of the tree's features */
  const uint32_t *set_at;    /* n_features: first word of a feature in set_bits */
  uint32_t set_words;
  int32_t max_nodes, max_step, max_hists;
  uint32_t max_words;
  /* by cu_sets_open */
  const int32_t *set_feat; /* n_set_feats: features split by sets, ascending; NULL for none */
  int32_t n_set_feats, sort_blocks;
  uint32_t sort_room;   /* levels of a block's scratch, 0: shared memory is enough */
  /* * */
  uint64_t *sort_key;   /* sort_blocks x sort_room */
  uint16_t *sort_level; /* the same */
};

/* ---- the backend ---- */

struct cu_level; /* symmetric growth: cu_level.cu */
struct cu_level_view;

/* Scratch of cu_auc.cu, one block, made when first asked for. */
struct cu_auc {
  uint64_t n;        /* rows that it is enough for */
  int refused;       /* there is no room for it: the host does the work */
  uint64_t *key[2];
  uint32_t *value[2];
  uint64_t *part;
  void *totals, *room;
  size_t bytes;      /* of room */
};

/* The launches of a batch, recorded. */
struct cu_recording {
  cudaGraphExec_t exec; /* NULL: none yet */
  int32_t n_uses;
};
enum { CU_ISSUING = 0, CU_RECORDING, CU_REPLAYING };

struct cu_backend {
  gbt_backend base;
  gbt_mem mem;
  const gbt_params *params;
  const gbt_feature_rules *rules;
  gbt_loss loss;
  int32_t n_outputs, n_valid, n_features, device;
  int64_t n_rows;
  int32_t n_units;          /* multiprocessors */
  int32_t tile_cols;        /* most columns of a tile, 0: 32 */
  size_t shared_limit;      /* bytes of shared memory that a block may have */
  size_t most_pitch;        /* bytes from row to row of a copy of several */
  cudaStream_t stream;
  cu_memory memory;
  cu_set *set;              /* 1 + n_valid */
  const gbt_cuts *cuts;     /* of the train set */
  const gbt_layout *layout;
  cu_view view;
  int8_t *counts;           /* n_features, on the host: slots are counted */
  int any_sets;             /* features split by sets */
  int waits;                /* the host looks after every step */
  int keeps;                /* histograms of all nodes have room: siblings by subtraction */
  int32_t depth;            /* steps issued for this batch */
  int64_t max_steps;        /* of a tree, when the host does not look */
  int32_t fixed_output;     /* whose gradients stand in slot 0, all others' in none; -1: not known */
  uint64_t grad_round;
  uint32_t max_split_blocks, max_hist_blocks, max_leaf_blocks;
  uint64_t *rank;
  /* page-locked, for copies that do not wait; of every tree of the batch */
  cu_task *task;
  int32_t *feats_up;        /* n_features + 1: how many, and the features of the tree */
  int64_t batch_limit;      /* trees of a batch at most, for want of memory */
  int32_t n_told;           /* trees that were told all features */
  uint8_t *allowed_up;      /* allowed_cap */
  uint8_t *allowed;         /* on the device: of the step, or (by_level) of all levels, one after the other */
  int by_level;             /* features are drawn by level, and told for all levels when a tree begins */
  int32_t *level_feats;     /* host: n_features */
  cu_tree *tree_down;       /* the first tree's; others' behind it, down_bytes apart */
  uint32_t *sets_down;      /* cap_words */
  size_t allowed_cap, down_bytes, cap_node, cap_words;
  /* the same for trees that need more room, and what looking needs */
  gbt_grow_node *node_copy;
  gbt_sum *fine_copy;
  double *value_copy;
  uint32_t *sets_copy;
  cu_searched *searched;
  int32_t *feats_scratch;
  size_t cap_copy[4], cap_searched, cap_scratch;
  int64_t begun_ns; /* of the tree */
  cu_recording recording[GBT_MOST_TREES + 1][2]; /* by trees of the batch, see cu_graph.cu */
  cu_recording *current;
  int mode;
  int step_by_step; /* nothing is recorded, so that tests may look into a tree */
  gbt_export out;
  cu_level *level;          /* symmetric growth, else NULL */
  double *softmax;          /* 2 x n_rows: largest score of a row, sum of exp(score - largest); other losses: NULL */
  double *given;            /* 2 x n_rows: g and h of one output as the host gave them; custom loss alone */
  struct cu_sums *sums;     /* of a metric, made when first asked for: cu_metric.cu */
  cu_auc auc;
  /* arrays behind the view */
  cu_array<unsigned char> block[48];
  int32_t n_blocks;
};

/* An array that lives as long as the backend. */
template <class T> gbt_status cu_keep(cu_backend *be, T **out, size_t n, gbt_error *err) {
  void *at;
  *out = NULL;
  if ((size_t)be->n_blocks == sizeof be->block / sizeof *be->block)
    return gbt_fail(err, GBT_E_INTERNAL, "the CUDA backend keeps more arrays than it has places for");
  GBT_TRY(cu_alloc(&be->memory, n, sizeof(T), &at, err));
  be->block[be->n_blocks].at = (unsigned char *)at;
  be->block[be->n_blocks++].n = n * sizeof(T);
  *out = (T *)at;
  return GBT_OK;
}

/* Sizes of everything, before anything but the features' places is allocated. */
gbt_status cu_sizes(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Hands out a tree's memory from `base` on; with base 0 it only counts. */
struct cu_places {
  uintptr_t base;
  size_t bytes;
};
template <class T> void cu_place(cu_places *at, T **out, size_t n) {
  *out = (T *)(at->base + at->bytes);
  at->bytes += (n * sizeof(T) + 255u) / 256u * 256u;
}

/* Bytes of a tree's state; makes it, for most_trees trees; what other files put into it. */
size_t cu_state_bytes(const cu_backend *be);
gbt_status cu_state_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_sets_place(cu_view *v, cu_places *at);
void cu_level_place(const cu_backend *be, cu_level_view *l, cu_places *at);

/* A tree's state and its first `nodes` nodes, sums and values, behind each other: how they stand on the host. On the
 * device likewise, with the most nodes that there can be. */
struct cu_tree_block {
  size_t node, fine, value, bytes;
};
cu_tree_block cu_tree_block_of(size_t nodes);

/* Opens the backend on a device; see backend.h. */
gbt_status cu_open(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                   gbt_error *err) GBT_MUST_CHECK;

/* A batch begins: be->mode. The launches of one that was recorded. Frees all recordings. */
gbt_status cu_choose_mode(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_launch_recording(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_drop_recordings(cu_backend *be);

/* Around every step of a tree; gives back its status. A recording that a step has failed in ends at once: while it is
 * open this thread can allocate nothing, for other trainings neither. */
gbt_status cu_or_stop_recording(cu_backend *be, gbt_status status) GBT_MUST_CHECK;

/* Gradients of all outputs: the scales. Issues work, does not wait. */
gbt_status cu_gradients(gbt_ctx *ctx, cu_backend *be, uint64_t round, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_set_gradients(gbt_ctx *ctx, cu_backend *be, uint64_t round, const double *g, const double *h,
                            gbt_error *err) GBT_MUST_CHECK;
/* Fixed point for the trees' outputs, unless it stands there already. Sets tree->unit, noise, wide; root is 0. */
gbt_status cu_gradients_of_trees(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
/* Whether the gradients of the batch stand there from an earlier one, or from the host. */
static inline int cu_are_fixed(const cu_backend *be) {
  return be->loss == GBT_LOSS_CUSTOM || be->fixed_output == be->task[0].output;
}
/* Slots that gradients have. */
int32_t cu_gradient_slots(const cu_backend *be);
/* Scores before the first tree, and what gradients need room for. */
gbt_status cu_init_scores(cu_backend *be, const gbt_backend_spec *spec, gbt_error *err) GBT_MUST_CHECK;

/* order[0]: the drawn rows with their gradients, then the others; tree->n_in and root. */
gbt_status cu_rows_begin(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The root node, and the plan of its histogram. */
gbt_status cu_root(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The train set's codes by column, where they pay and memory allows. The last that is allocated. */
gbt_status cu_columns_make(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Once, when the sets are there: lets kernels have the shared memory that the tiles want. */
gbt_status cu_hist_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* All builds of the plan. Their slots are cleared: the root's here, others' by cu_partition. */
gbt_status cu_build_hist(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Subtractions of the plan, fused with the search; every searched node's best of each unit into found. A unit is a run
 * of the tree's features, or (behind those, see cu_split_cat.cu) one feature that is split by sets. */
gbt_status cu_search(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_search_sets(cu_backend *be, gbt_error *err) GBT_MUST_CHECK; /* by cu_search */

/* Which features are split by sets, and how much scratch ordering their levels takes: once, when view and cuts stand and
 * before cu_level_open. */
gbt_status cu_sets_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Fresh nodes get their splits and open; the policy chooses; blocks of the partition are planned. */
gbt_status cu_select(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Marks rows, makes children (cu_make_children), moves rows, clears what is built next. */
gbt_status cu_partition(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_make_children(cu_backend *be, gbt_error *err) GBT_MUST_CHECK; /* by cu_partition: block_left is counted */

/* Fine sums, values, scores of all sets. */
gbt_status cu_leaves(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
/* By cu_leaves: rows that were not partitioned, of the trees of a turn. */
gbt_status cu_route(cu_backend *be, int32_t turn, gbt_error *err) GBT_MUST_CHECK;

/* Symmetric growth: made (all but what a tree has to itself), freed; instead of cu_search; before cu_select. */
gbt_status cu_level_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_level_close(cu_backend *be);
gbt_status cu_level_search(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_level_decide(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The `metric` op of backend.h. */
gbt_status cu_metric(gbt_ctx *ctx, gbt_backend *self, int32_t which, int32_t metric, double *out, int *done,
                     gbt_error *err) GBT_MUST_CHECK;

gbt_status cu_auc_of(cu_backend *be, int32_t which, double *out, int *done, gbt_error *err) GBT_MUST_CHECK; /* by it */

/* ---- what kernels share ---- */

enum { CU_BLOCK = 256, CU_CONTROL = 256, CU_FULL = 32 }; /* threads of a usual block, of a single one; of a warp */

/* Which of n runs, first[0] <= ... <= first[n], block b belongs to: the last i with first[i] <= b. */
__device__ static __forceinline__ int32_t cu_run_of(const uint32_t *first, int32_t n, uint32_t b) {
  int32_t lo = 0, hi = n;
  while (hi - lo > 1) {
    int32_t mid = lo + (hi - lo) / 2;
    if (first[mid] <= b) lo = mid;
    else hi = mid;
  }
  return lo;
}

/* Which way a code of the split's feature goes. */
__device__ static __forceinline__ int cu_goes_left(const cu_view &v, const gbt_grow_node *node, int32_t code) {
  const gbt_split *s = &node->split;
  if (code == v.train.feat[s->feat].n_bins) return s->missing_left;
  if (s->kind == GBT_SPLIT_NUMERIC) return code <= s->bin;
  return gbt_bit(v.sets + node->set_beg, node->set_words, (uint32_t)code);
}

__device__ static __forceinline__ void cu_add64(int64_t *to, int64_t x) {
  atomicAdd((unsigned long long *)to, (unsigned long long)x);
}

/* A row's 16-bit gradients as one word, g in the lower half: one access instead of two. Arrays of them are aligned. */
typedef uint32_t __attribute__((may_alias)) cu_both;
__device__ static __forceinline__ uint32_t cu_gh_bits(const gbt_gh16 *gh) { return *(const cu_both *)(const void *)gh; }
__device__ static __forceinline__ void cu_gh_put(gbt_gh16 *gh, uint32_t bits) { *(cu_both *)(void *)gh = bits; }
__device__ static __forceinline__ gbt_sum cu_gh_sum(uint32_t bits) {
  gbt_sum s = {(int16_t)(bits & 0xffffu), bits >> 16};
  return s;
}
__device__ static __forceinline__ uint32_t cu_gh_pack(gbt_gh16 gh) { return (uint16_t)gh.g | (uint32_t)gh.h << 16; }

/* Gradients in a slot. */
__device__ static __forceinline__ gbt_gh16 *cu_gh16(const cu_view &v, int32_t slot) {
  return (gbt_gh16 *)(v.gradients + 2 * (uint64_t)v.train.n_rows * (uint32_t)slot);
}
__device__ static __forceinline__ uint32_t *cu_low(const cu_view &v, int32_t slot) {
  return (uint32_t *)(cu_gh16(v, slot) + v.train.n_rows);
}
__device__ static __forceinline__ gbt_gh32 *cu_gh32(const cu_view &v, int32_t slot) {
  return (gbt_gh32 *)cu_gh16(v, slot);
}

/* ---- the tree that a block works for ---- */

/* The same place in the state of a tree that stands so many bytes behind. */
template <class T> __device__ static __forceinline__ T *cu_beside(T *at, uint64_t bytes) {
  return (T *)((uintptr_t)at + bytes);
}

/* The view of tree y of the batch, as if it grew alone. */
__device__ static __forceinline__ cu_view cu_view_of(const cu_view &all, uint32_t y) {
  const uint64_t by = all.stride * y;
  cu_view v = all;
  v.tree = cu_beside(all.tree, by);
  v.order[0].row = cu_beside(all.order[0].row, by);
  v.order[0].gh = cu_beside(all.order[0].gh, by);
  v.order[1].row = cu_beside(all.order[1].row, by);
  v.order[1].gh = cu_beside(all.order[1].gh, by);
  v.mask = cu_beside(all.mask, by);
  v.block_left = cu_beside(all.block_left, by);
  v.node = cu_beside(all.node, by);
  v.fine = cu_beside(all.fine, by);
  v.value = cu_beside(all.value, by);
  v.chosen = cu_beside(all.chosen, by);
  v.search = cu_beside(all.search, by);
  v.build = cu_beside(all.build, by);
  v.hist_block = cu_beside(all.hist_block, by);
  v.split_block = cu_beside(all.split_block, by);
  v.leaf_block = cu_beside(all.leaf_block, by);
  v.sum = cu_beside(all.sum, by);
  v.count = cu_beside(all.count, by);
  v.tree_feats = cu_beside(all.tree_feats, by);
  v.n_tree_feats = cu_beside(all.n_tree_feats, by);
  v.allowed = cu_beside(all.allowed, by);
  v.found = cu_beside(all.found, by);
  v.set_bits = cu_beside(all.set_bits, by);
  v.sets = cu_beside(all.sets, by);
  v.sort_key = cu_beside(all.sort_key, by);
  v.sort_level = cu_beside(all.sort_level, by);
  return v;
}
__device__ static __forceinline__ cu_view cu_mine(const cu_view &all) { return cu_view_of(all, blockIdx.y); }

/* Trees of one output share its gradients, and add to its scores one after the other, each in its turn. In a grid of
 * cu_grids_of_turn a block works for such a tree of the output that blockIdx.y says. */
__device__ static __forceinline__ cu_view cu_of_turn(const cu_view &all, int32_t turn) {
  return cu_view_of(all, blockIdx.y * (uint32_t)all.n_turns + (uint32_t)turn);
}

/* The rows of nodes of a depth. Chosen, not indexed: views that were made by cu_view_of stay in registers. */
__device__ static __forceinline__ cu_order cu_order_of(const cu_view &v, int32_t depth) {
  return depth & 1 ? v.order[1] : v.order[0];
}

/* What a grid should have at least to keep the device busy, and at most what there is to do. */
static inline unsigned cu_grid(const cu_backend *be, uint64_t blocks, unsigned per_unit) {
  uint64_t most = (uint64_t)be->n_units * per_unit;
  if (blocks < 1) blocks = 1;
  return (unsigned)(blocks < most ? blocks : most);
}

/* Such a grid for every tree of the batch, or for one of every output. */
static inline dim3 cu_grids(const cu_backend *be, uint64_t blocks, unsigned per_unit) {
  return dim3(cu_grid(be, blocks, per_unit), (unsigned)be->view.n_trees);
}
static inline dim3 cu_grids_of_turn(const cu_backend *be, uint64_t blocks, unsigned per_unit) {
  return dim3(cu_grid(be, blocks, per_unit), (unsigned)(be->view.n_trees / be->view.n_turns));
}
