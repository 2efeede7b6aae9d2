/* The CUDA backend's state, and what its files give each other. See backend/backend.h for the contract.
 *
 *   view.cuh        what kernels see: trees that grow, and how these stand beside each other
 *   sizes.cu        how large everything must be
 *   state.cu        where the state of a tree that grows stands
 *   down.cu         finished trees to the host
 *   backend.cu      open, close, table of ops, the way of a batch of trees
 *   graph.cu        the steps of a batch, recorded and replayed
 *   rows.cu         the rows of a tree, sampled and in order
 *   gather.cu       codes of drawn rows side by side, where codes do not all stand on the device
 *   gradient.cu     scores -> fixed-point gradients
 *   hist.cu         histograms of fresh nodes; byte_lanes.cuh: who takes which byte; clear.cuh: clears those built next
 *   features.cu     which features they may use
 *   split.cu        best splits; split_cat.cu: by sets of levels; layer*.cu: symmetric growth
 *   search.cuh      what the searches share; level_order.cuh: levels in order; layer.cuh: a layer's gains
 *   frontier.cu     the tree being grown: choosing; children.cuh: children, and the plan of the next step
 *   ahead.cuh       best-first growth that splits leaves ahead of its choices
 *   partition.cu    rows into children; look_back.cuh: sums of the blocks before; pieces.cuh: which rows a block takes
 *   refit.cu        trees that are there, once more: rows by given splits; add.cu: their values to scores once more
 *   leaf.cu         leaf values, scores; renew.cu: values that are quantiles; step.cu: values that take several steps;
 *                   route.cu: rows that were not partitioned
 *   small.cu        all of this but gradients and validation sets in one kernel, where data are small;
 *                   small_gradient.cu: their gradients
 *   metric.cu       metrics that are means; metric_cells.cu: of several sums; ranking.cu: those that need a sort
 *
 * The other wings: base (memory, sums and scans, exact sums, sorts, the way up of large things), data (cuts and pages;
 * a data set as tiles), predict, door (the one exported function).
 *
 * The host issues the steps of a tree without looking at it and waits once, at its end ("blind"). Where it cannot know
 * the number of steps it looks every few of them whether anything is left to be split: see cu_bounds.looks. What is
 * issued behind the end finds nothing to do. All that a kernel has to know of a tree stands in device memory: cu_tree.
 *
 * All kernels take what they need as pointers; nothing is kept in static device variables. */
#pragma once

#include "view.cuh"

#include "../base/stage.cuh"
#include "../data/tiles.cuh"

extern "C" {
#include "../../gbt/backend/device_api.h"
#include "../../gbt/backend/export.h"
#include "../../gbt/base/clock.h"
}

/* ---- the backend ---- */

/* Each of these belongs to a file, which opens and closes it. Closing takes what opening has left, also after a
 * failure; the device has nothing under way then. */

/* Whose codes are sure to stand on the device. Others do as far as there is room when all else is there; what is left
 * stands in page-locked memory of the host, where kernels read it, or is streamed (data/dataset.cuh). */
enum cu_resides {
  CU_ALL_CODES = 0,
  CU_TRAIN_CODES, /* not those of validation sets */
  CU_DRAWN_CODES, /* of rows that are drawn for the trees that grow: gather.cu */
  CU_SOME_CODES,
  CU_N_CODES
};

/* And, for tests, what other codes may take at most where there is more room: percent of a data set's codes, there and
 * on the host; percent of the rows that have room to be gathered. */
struct cu_places {
  cu_resides codes;
  int percent_device, percent_host, percent_gathered;
};

/* How large everything must be, and how many steps go by: sizes.cu. */
struct cu_bounds {
  int8_t *counts;      /* n_features, on the host: slots are counted */
  int32_t tile_cols;   /* most columns of a tile, 0: 32 */
  int looks;           /* after so many steps the host looks whether the trees are complete; 0: never */
  int keeps;           /* histograms of all nodes have room: siblings by subtraction */
  int64_t max_steps;   /* of a tree, when the host does not look */
  int64_t batch_limit; /* trees of a batch at most, for want of memory */
  cu_places places;      /* for want of memory, too */
  int by_hand;           /* the host takes part in steps, which cannot be recorded */
  uint32_t max_split_blocks, max_hist_blocks, max_leaf_blocks;
};

/* Features that are split by sets: split_cat.cu. */
struct cu_set_feats {
  cu_array<uint32_t> at;
  cu_array<int32_t> feat;
};

/* What nodes may use of the features: features.cu. */
struct cu_draw {
  cu_rules rules; /* unless all nodes of a tree may use the same features */
  cu_array<double> weight;
  cu_array<int32_t> group_beg, group_feat, of_beg, of_group;
  uint64_t *drawn; /* n_features, on the host */
  int32_t *up;    /* page-locked, of every tree n_features + 1: how many, and the features of the tree */
  int32_t n_told; /* trees that were told all features */
  int told;       /* those of the batch were, before */
};

/* Gradients: gradient.cu. */
struct cu_grad {
  cu_array<uint32_t> gradients;
  cu_array<cu_output> output;
  cu_array<double> aside; /* 2 x n_rows. Softmax: largest score of a row, sum of exp(score - largest); custom objective:
                             g and h of one output as the host gave them; others: none */
  cu_stage stage;         /* custom objective: the way up, in the device's stream */
  cu_array<double> direction; /* of a contrast: a number for each class */
  int32_t fixed_output;   /* whose gradients stand in array 0, all others' in none; -1: not known */
  int told;               /* and the trees of the round know all that cu_gradients_of_trees tells them */
};

/* Rows that are not drawn with the same chance: sample.cu. */
struct cu_sample {
  double share; /* of the rows, that a tree is expected to draw at most */
  cu_array<gbt_sampled> row;
  cu_array<cu_sampler> sampler;
  cu_array<double> square; /* sums of squares so far, of a custom objective with several outputs */
  cu_array<uint64_t> class_limit;
};

/* Drawn rows side by side: gather.cu. */
struct cu_gathered {
  cu_plan plan;           /* of their tiles */
  cu_array<cu_tile> tile; /* n_tiles of each variant, all alike: of the place in a tree's `codes` */
  int offered;            /* there is room for them, and they would stand elsewhere */
  int64_t n_batches;      /* that grew of them */
};

/* Residuals of the round: renew.cu. */
struct cu_renewal {
  cu_array<uint64_t> whole, residual;
};

/* The way down of finished trees: down.cu. */
struct cu_down {
  cu_tree *tree;  /* page-locked; the first tree's, the others' behind it, `bytes` apart */
  uint32_t *sets; /* page-locked; of every tree cap_words */
  int place;      /* 0 or 1: which half of both the batch comes to */
  int left_at;    /* and which holds n_left trees that are not in the forest yet */
  int32_t n_left;
  int ahead;          /* these were not waited for: `come` says when they are there */
  cudaEvent_t come;
  gbt_forest *forest; /* that they are for */
  size_t bytes, cap_node, cap_words;
  /* the same for a tree that needs more room, pageable */
  gbt_grow_node *node_copy;
  gbt_sum *fine_copy;
  double *value_copy;
  uint32_t *sets_copy;
  size_t cap_copy[4];
  gbt_export out;
};

/* The way up of trees whose values are added once more: add.cu. On the host, tree by tree `room` apart. */
struct cu_added {
  gbt_grow_node *node;
  double *value;
  int32_t *n_nodes;
  size_t cap[3];
};

/* The launches of a batch, recorded: all in CU_BEGIN where the number of steps is known. Otherwise each part ends where
 * the host looks at the trees, behind a choice: CU_BEGIN has the roots and the first steps, CU_MORE as many steps, from
 * the partition on, CU_END the leaves. */
enum cu_part { CU_BEGIN = 0, CU_MORE, CU_END, CU_PARTS };
enum : size_t { CU_MOST_NODES = 8192 };
enum cu_recorded { CU_NEVER_GROWN = 0, CU_GROWN_ONCE, CU_TRIED };
struct cu_recording {
  cudaGraphExec_t exec[CU_PARTS]; /* NULL: none yet, or (CU_TRIED) it could not be made, or there is no such part */
  cu_recorded state;
  size_t n_nodes;
};

/* How steps are issued: graph.cu. */
struct cu_graph {
  cu_recording recording[GBT_MOST_TREES + 1][2]; /* by trees of the batch, and whether their gradients stand there */
  size_t n_nodes, most_nodes; /* launches and copies of all recordings; batches that need more are not recorded */
  cu_recording *replays;      /* what the batch is grown by; NULL: it is issued step by step */
  int step_by_step;           /* nothing is recorded, so that tests may look into a tree */
};

/* Scratch of ranking.cu. */
struct cu_ranking {
  cu_array<unsigned char> block;
  cu_array<uint64_t> gain; /* for pr_auc alone */
  uint64_t n;              /* rows that they are enough for */
  uint64_t *key[2];
  uint32_t *value[2];
  void *part, *totals, *room;
  size_t bytes; /* of room */
};

/* Scratch of metrics, made when first asked for: metric.cu, metric_cells.cu, ranking.cu. */
struct cu_metrics {
  cu_array<struct cu_sums> sums;
  cu_array<struct cu_cells> cells;
  cu_ranking ranking;
  int refused; /* there was no room for rankings: the host does the work */
};

/* Scratch of a metric. *refused: there is no room for it. */
template <class T> gbt_status cu_metric_room(cu_memory *memory, cu_array<T> *room, size_t n, int *refused,
                                             gbt_error *err) {
  gbt_error no_room;
  *refused = 0;
  if (room->at && room->n >= n) return GBT_OK;
  cu_drop(memory, room);
  gbt_status status = cu_new(memory, room, n, &no_room);
  *refused = status == GBT_E_MEM;
  if (status != GBT_OK && !*refused && err) *err = no_room;
  return *refused ? GBT_OK : status;
}

struct cu_layer; /* symmetric growth: layer.cuh */
struct cu_refit; /* trees once more: refit.cu */
struct cu_small; /* trees of small data: small.cuh */

struct cu_backend {
  gbt_backend base;
  gbt_mem mem;
  const gbt_params *params;
  const gbt_feature_rules *rules;
  const gbt_handicap *handicap; /* the host's, which go up when trees begin; NULL: none */
  gbt_objective objective;
  const gbt_cuts *cuts; /* of the train set */
  const gbt_layout *layout;
  int32_t n_backends; /* see gbt_backend_spec; 1 or more */
  int32_t n_outputs, n_valid, n_features;
  int64_t n_rows;
  cu_device device;
  cu_dataset *data; /* 1 + n_valid */
  cu_view view;
  cu_bounds bounds;
  cu_set_feats set_feats;
  cu_draw draw;
  cu_grad grad;
  cu_sample sample;
  cu_gathered gather;
  cu_renewal renew;
  cu_array<double> start; /* step.cu: scores when the round began */
  cu_down down;
  cu_added added;
  cu_graph graph;
  cu_metrics metrics;
  cu_layer *layer;                 /* NULL unless trees are symmetric */
  cu_small *small;                 /* NULL unless the data are small */
  cu_refit *refit;                 /* NULL until trees are fitted once more */
  int takes_steps;                 /* though they are: a launch was refused, or a test asks for it */
  cu_array<unsigned char> state;   /* of most_trees trees: state.cu */
  cu_array<int8_t> monotone;
  cu_array<gbt_handicap> handicaps;
  /* the batch that grows */
  cu_task *task;    /* page-locked */
  int32_t depth;    /* steps issued */
  int64_t begun_ns;
};

/* What its data sets are made for. */
static inline cu_dataset_spec cu_dataset_spec_of(const cu_backend *be) {
  const cu_dataset_spec spec = {be->bounds.counts, be->n_outputs, be->params->max_cat_onehot, be->bounds.tile_cols,
                                be->device.shared_limit};
  return spec;
}

/* Sizes of everything, before anything but the features' places is allocated. */
gbt_status cu_sizes_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_sizes_close(cu_backend *be);

/* Bytes of a tree's state; makes the states of most_trees trees and lets the view point to them. */
size_t cu_state_bytes(const cu_backend *be);
gbt_status cu_state_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Where the parts CU_DOWN of a tree with so many nodes stand from `base` on, on the host as on the device, and how many
 * bytes they are. */
cu_tree_state cu_tree_down(const cu_backend *be, const void *base, size_t nodes, size_t *bytes);

/* The same part of every tree's state, `bytes` of each: from the host, where they stand one behind the other; to the
 * host, where they stand `pitch` bytes apart. Issues work. */
cudaError_t cu_state_tell(const cu_backend *be, void *to, const void *from, size_t bytes);
cudaError_t cu_state_fetch(const cu_backend *be, void *to, size_t pitch, const void *from, size_t bytes);

/* Finished trees to the host. A batch begins, and comes to the other place. Issues the batch's copies, those of small
 * trees unasked, so that there is one wait. What has come of tree y of the batch. Once that was waited for: the forest
 * gets the trees now, or, where all of them have come whole, is left to cu_down_settle, so that the host makes them
 * while the device grows others. */
gbt_status cu_down_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_down_close(cu_backend *be);
void cu_down_turn(cu_backend *be);
gbt_status cu_down_send(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
const cu_tree *cu_down_of(const cu_backend *be, int32_t y);
gbt_status cu_down_take(cu_backend *be, gbt_forest *forest, gbt_error *err) GBT_MUST_CHECK;
/* In place of waiting and cu_down_take, where cu_down_may_leave: cu_down_settle waits, and tells faults. */
int cu_down_may_leave(const cu_backend *be);
gbt_status cu_down_leave(cu_backend *be, gbt_forest *forest, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_down_settle(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Tree y of the batch that has come, all of it. */
gbt_status cu_down_whole(cu_backend *be, int32_t y, gbt_grown *grown, gbt_error *err) GBT_MUST_CHECK;

/* Tasks of a batch: outputs ascend without gaps, and each has as many trees. */
void cu_take_tasks(cu_backend *be, const gbt_tree_task *task, int32_t n_trees);

/* What went wrong in a tree that has come to the host. */
gbt_status cu_faults_of(const cu_backend *be, const cu_tree *tree, gbt_error *err) GBT_MUST_CHECK;

/* Opens the backend on a device; see backend.h. With codes in these places: cu_open tries one after the other. */
gbt_status cu_open_with(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, cu_places places,
                        gbt_backend **out, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_open(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                   gbt_error *err) GBT_MUST_CHECK;

/* A batch begins: launches the recording of such batches, or makes it before. Whatever is refused, be->graph.replays
 * is NULL then, and the batch is to be issued step by step. Another part of what the batch is grown by: the same. */
void cu_replay(gbt_ctx *ctx, cu_backend *be);
void cu_replay_part(cu_backend *be, cu_part part);
void cu_graph_close(cu_backend *be);

/* A part of a batch, for who records it. Neither polls nor waits. */
gbt_status cu_issue_part(gbt_ctx *ctx, cu_backend *be, cu_part part, gbt_error *err) GBT_MUST_CHECK;

/* Room for gradients, before the data sets are made: their scores, when they are, are cu_init_scores'. */
gbt_status cu_gradients_open(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_gradients_close(cu_backend *be);
/* Gradients of all outputs: the scales. Issues work, does not wait. */
gbt_status cu_gradients(gbt_ctx *ctx, cu_backend *be, uint64_t round, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_set_gradients(gbt_ctx *ctx, cu_backend *be, uint64_t round, const double *g, const double *h,
                            gbt_error *err) GBT_MUST_CHECK;
/* See set_contrast of gbt_backend_ops. */
gbt_status cu_set_contrast(gbt_ctx *ctx, cu_backend *be, const cu_backend *from, const double *u, uint64_t round,
                           gbt_error *err) GBT_MUST_CHECK;
/* Fixed point for the trees' outputs, unless it stands there already. Sets tree->unit, noise, wide,
 * whole; root and n_in: all rows, or none where rows are sampled. */
gbt_status cu_gradients_of_trees(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
/* The same where the gradients of the trees' outputs stand there. */
gbt_status cu_tell_trees(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
/* Whether the gradients of the batch stand there from an earlier one, or from the host. */
static inline int cu_are_fixed(const cu_backend *be) {
  return gbt_gradients_are_kept(&be->objective) || be->grad.fixed_output == be->task[0].output;
}
/* Scores before the first tree. */
gbt_status cu_init_scores(gbt_ctx *ctx, cu_backend *be, const gbt_backend_spec *spec, gbt_error *err) GBT_MUST_CHECK;
/* The op shrink_scores. */
gbt_status cu_shrink_scores(gbt_ctx *ctx, gbt_backend *self, int32_t which, const double *base, double factor,
                            gbt_error *err) GBT_MUST_CHECK;

/* Where rows are sampled. The even order: the drawn rows with their gradients, then the others; tree->n_in and root. */
gbt_status cu_rows_begin(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* A pass over the codes of the training set, of the batch's variant; fn gets the backend. See cu_extents_pass. */
static inline gbt_status cu_train_pass(gbt_ctx *ctx, cu_backend *be, cu_extent_fn fn, gbt_error *err) {
  return cu_extents_pass(ctx, &be->device, &be->data[0], be->task[0].variant, fn, be, err);
}

/* Codes are read as the training set's extents have them, not those of gathered rows. */
static inline void cu_look_at_extents(cu_backend *be) {
  const cu_dataset *train = &be->data[0];
  be->view.train = train->view;
  be->view.gathered = 0;
  be->view.by_sides = !cu_is_whole(train);
  be->view.listing = train->stream_end > 0 && be->bounds.keeps;
}

/* The states of the batch's trees to where cu_down_of has them. Waits. */
gbt_status cu_look(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Before such a pass: whether any tree has something to be built, or split, so that it is worth it. Waits where rows
 * are streamed; elsewhere it says yes. */
enum cu_wanted { CU_BUILDS, CU_SPLITS };
gbt_status cu_is_any(gbt_ctx *ctx, cu_backend *be, cu_wanted wanted, int *is_any, gbt_error *err) GBT_MUST_CHECK;

/* The root node, and the plan of its histogram. */
gbt_status cu_root(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Once, when the data sets are there: lets kernels have the shared memory that the tiles want. */
gbt_status cu_hist_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The rules of features onto the device. The features of a batch's trees: drawn on the host when it begins, told to the
 * device. What every searched node may use, before the search: nothing where all may use the same. */
gbt_status cu_features_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_features_close(cu_backend *be);
void cu_features_draw(cu_backend *be);
gbt_status cu_features_tell(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_features(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* All builds of the plan. Their histograms are cleared: the root's by cu_root, others' by cu_partition. */
gbt_status cu_build_hist(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* By cu_partition, where it lists rows: builds of an extent's rows. */
gbt_status cu_build_listed(cu_backend *be, const cu_rows_view *extent, gbt_error *err) GBT_MUST_CHECK;

/* Subtractions of the plan, fused with the search; every searched node's best of each run into found. A run is some
 * of the tree's features, or (behind those, see split_cat.cu) one feature that is split by sets. */
gbt_status cu_search(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_search_sets(cu_backend *be, gbt_error *err) GBT_MUST_CHECK; /* by cu_search */

/* Whether the search wants a split of every feature: they do not compete by gains alone, or have one cut each. */
static inline int cu_searches_each(const cu_backend *be) {
  return gbt_contests(be->params, be->handicap) || be->params->extra_trees != 0;
}

/* Which features are split by sets, and how much scratch ordering their levels takes: before other sizes. */
gbt_status cu_set_feats_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_set_feats_close(cu_backend *be);

/* Fresh nodes get their splits and open; the policy chooses; pieces of the partition are planned. */
gbt_status cu_select(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Moves rows, clears what may be built next, makes children. The last step whose number is known has nothing to be
 * built next, but plans the leaves. */
gbt_status cu_partition(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Whether the step that has been issued last is the last one, and k_partition knows it. */
static inline int cu_ends_blind(const cu_backend *be) {
  return be->bounds.looks == 0 && be->view.ahead == 0 && be->depth > 0 && be->depth >= be->bounds.max_steps;
}

/* Fine sums, values, scores of all data sets. */
gbt_status cu_leaves(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
/* By cu_leaves: values to the scores of the rows of leaves, of the trees of a turn. */
gbt_status cu_add_scores(cu_backend *be, int32_t turn, gbt_error *err) GBT_MUST_CHECK;
/* By cu_leaves: rows that were not partitioned, of the trees of a turn. */
gbt_status cu_route(gbt_ctx *ctx, cu_backend *be, int32_t turn, gbt_error *err) GBT_MUST_CHECK;
/* All rows of a data set, of the trees of a turn. */
gbt_status cu_route_set(gbt_ctx *ctx, cu_backend *be, int32_t which, int32_t turn, gbt_error *err) GBT_MUST_CHECK;

/* Objectives whose leaves are quantiles; others have nothing of it. A round begins: its residuals. By cu_leaves: what
 * the values of leaves and kept nodes are made of. They issue work. */
gbt_status cu_renew_open(gbt_ctx *ctx, cu_backend *be, const gbt_dataset *train, gbt_error *err) GBT_MUST_CHECK;
void cu_renew_close(cu_backend *be);
gbt_status cu_renew_round(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_renew_leaves(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The op add_trees; what it has made is freed. */
gbt_status cu_add_trees(gbt_ctx *ctx, gbt_backend *self, int32_t which, const gbt_tree_task *task, int32_t n_trees,
                        const gbt_forest_view *from, gbt_error *err) GBT_MUST_CHECK;
void cu_add_close(cu_backend *be);

/* Leaves that take further steps: nothing where there is one. Scores are kept where a round has several trees of an
 * output. A round begins. By cu_leaves: what the values of leaves and kept nodes are made of. They issue work. */
gbt_status cu_step_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_step_close(cu_backend *be);
gbt_status cu_step_round(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_step_leaves(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The op refit_trees; what it has made is freed. */
gbt_status cu_refit_trees(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                          const gbt_forest_view *like, uint64_t first, gbt_forest *forest,
                          gbt_error *err) GBT_MUST_CHECK;
void cu_refit_close(cu_backend *be);

/* Symmetric growth: made (all but what a tree has to itself), freed; instead of cu_search; before cu_select. */
gbt_status cu_layer_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_layer_close(cu_backend *be);
gbt_status cu_layer_search(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_layer_decide(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Trees of small data, each grown by one kernel: made where data and device suit, when the data sets are there; freed;
 * instead of cu_rows_begin and all steps, where cu_takes_small says so before and after; instead of cu_leaves. */
gbt_status cu_small_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_small_close(cu_backend *be);
gbt_status cu_small_grow(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_small_end(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
/* Gradients of the round and of all its trees by one kernel: small_gradient.cu. 0: it is not for this training, or was
 * refused. */
int cu_small_gradients(cu_backend *be, uint64_t round);
/* Tests that look into a tree while it grows want its steps, too. */
static inline int cu_takes_small(const cu_backend *be) {
  return be->small && !be->takes_steps && !be->graph.step_by_step;
}
/* And the host has nothing to tell the device but by arguments: such batches are neither copied for nor recorded. */
static inline int cu_is_told(const cu_backend *be) { return cu_takes_small(be) && be->grad.told; }

/* The `metric` op of backend.h. */
gbt_status cu_metric(gbt_ctx *ctx, gbt_backend *self, int32_t which, const gbt_metric *metric, double *out, int *done,
                     gbt_error *err) GBT_MUST_CHECK;

void cu_metrics_close(cu_backend *be);
/* By it. GBT_OK with *done = 0: there is no room, or a label is no class. */
gbt_status cu_metric_of_cells(gbt_ctx *ctx, cu_backend *be, int32_t which, const gbt_metric *metric, double *out,
                              int *done, gbt_error *err) GBT_MUST_CHECK;
void cu_metric_cells_close(cu_backend *be);
gbt_status cu_metric_of_ranking(cu_backend *be, int32_t which, const gbt_metric *metric, double *out, int *done,
                                gbt_error *err) GBT_MUST_CHECK;

/* ---- grids ---- */

/* A grid as cu_grid makes for each of n trees. Oversubscribes the device 4 times, so that it stays busy while most
 * trees have finished; not more, as blocks without work take time to start. */
static inline dim3 cu_grids_for(const cu_backend *be, unsigned n, uint64_t blocks, unsigned per_unit) {
  const unsigned x = cu_grid(&be->device, blocks, per_unit);
  const unsigned share = ((unsigned)be->device.n_units * per_unit * 4u + n - 1u) / n;
  return dim3(x < share ? x : share, n);
}

/* For every tree of the batch, or for one of every output. */
static inline dim3 cu_grids(const cu_backend *be, uint64_t blocks, unsigned per_unit) {
  return cu_grids_for(be, (unsigned)be->view.n_trees, blocks, per_unit);
}
static inline dim3 cu_grids_of_turn(const cu_backend *be, uint64_t blocks, unsigned per_unit) {
  return cu_grids_for(be, (unsigned)(be->view.n_trees / be->view.n_turns), blocks, per_unit);
}
