/* The CUDA backend's state. See backend/backend.h for the contract.
 *
 *   view.cuh     what kernels see: the trees that grow, and where each has its memory
 *   batch.cuh    backend.cu: open, close, table of ops, a batch of trees; graph.cu: its steps, recorded and replayed;
 *                sizes.cu: how large everything must be; refit.cu: existing trees, fitted once more
 *   state/       memory of a tree that grows (state.cu); finished trees to the host (down.cu); other ranks (ranks.cu),
 *                which divide the search (share.cu; search/offers.cu)
 *   gradients/   scores -> fixed-point gradients; rows drawn by them (sample.cu), in order (rows.cu)
 *   rows/        codes of drawn rows together (gather.cu); which rows a block takes (pieces.cuh, leaf_plan.cuh); sums
 *                of the blocks before (look_back.cuh)
 *   search/      best splits: cuts and one-hot levels (split.cu), sets of levels (split_cat.cu), symmetric growth
 *                (layer.cu, layer_decide.cu), by the sum of the gains of all outputs (together.cu; node by node:
 *                team_search.cu, team_open.cu)
 *   steps/       a step: histograms (hist.cu), features (features.cu), the choice (frontier.cu; ahead.cuh: best-first
 *                growth that splits leaves early), rows to children (partition.cu)
 *   leaves/      leaf values (leaf.cu; renew.cu: quantiles; step.cu: several Newton steps), scores (scores.cu;
 *                route.cu: rows that were not partitioned)
 *   metrics/     metrics that are means (metric.cu), of several sums (metric_cells.cu), that need a sort (ranking.cu)
 *   small/       all steps of a tree in one kernel, where data are small; small_gradient.cu: their gradients
 *
 * Each folder's ops.cuh (rows: gather.cuh, small: small.cuh) declares what other folders may call;
 * tools/check-arrows.sh says which folders these are.
 *
 * The other wings: base (memory, sums and scans, exact sums, sorts, the way up of large things), data (cuts and pages;
 * a data set as tiles), predict, door (the one exported function).
 *
 * The host issues the steps of a tree without looking at it and waits once, at its end ("blind"). Where it cannot know
 * the number of steps it looks every few of them whether anything is left to be split: see cu_bounds.looks. Steps
 * issued after the end find nothing to do. All that a kernel needs of a tree is in device memory: cu_tree.
 *
 * All kernels take what they need as pointers; nothing is kept in static device variables. */
#pragma once

#include "view.cuh"

#include "../base/nccl.cuh"
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

/* The data sets whose codes must be on the device. Others are as far as memory is left when all else is allocated; the
 * rest is in page-locked memory of the host, where kernels read it, or is streamed (data/dataset.cuh). */
enum cu_resides {
  CU_ALL_CODES = 0,
  CU_TRAIN_CODES, /* not those of validation sets */
  CU_DRAWN_CODES, /* of rows that are drawn for the trees that grow: gather.cu */
  CU_SOME_CODES,
  CU_N_CODES
};

/* Switches of tests and benchmarks only: all 0 in a training. The first four are known when the backend opens
 * (cu_open_with), the others may be set between trees. */
struct cu_hooks {
  /* Percent of what codes and gathered rows may take where there is room for it: so much they do without. */
  int less_device;   /* of a data set's codes, on the device */
  int less_host;     /* of a data set's codes, in page-locked memory of the host */
  int less_gathered; /* of the rows that have room to be gathered */
  size_t most_bytes; /* of the device's memory; 0: as the parameters say */
  int no_small;      /* trees of small data grow step by step, too, not in one kernel */
  int no_recording;  /* launches are issued one by one, so that a test may look into a tree between them */
  size_t most_nodes; /* of all recordings; 0: CU_MOST_NODES */
  uint32_t narrow_rows; /* of a node, for ranks to exchange its sums in 32 bits: at most; 0: 65,535 */
};

/* How large everything must be, and after how many steps the host looks: sizes.cu. */
struct cu_bounds {
  int8_t *counts;      /* n_features, on the host: slots are counted */
  int32_t tile_cols;   /* most columns of a tile, 0: 32 */
  int looks;           /* after so many steps the host looks whether the trees are complete; 0: never */
  int keeps;           /* histograms of all nodes have room: siblings by subtraction */
  int64_t max_steps;   /* of a tree, when the host does not look */
  int64_t batch_limit; /* trees of a batch at most, limited by memory */
  cu_resides codes;    /* limited by memory, too */
  int by_hand;           /* the host takes part in steps, which cannot be recorded */
  int lists;             /* rows of the training set are streamed, on any rank */
  uint32_t max_split_blocks, max_hist_blocks, max_leaf_blocks;
};

/* Features that are split by sets: split_cat.cu. */
struct cu_set_feats {
  cu_array<uint32_t> at;
  cu_array<int32_t> feat;
};

/* The features that nodes may use: features.cu. */
struct cu_draw {
  cu_rules rules; /* unless all nodes of a tree may use the same features */
  cu_array<double> weight;
  cu_array<int32_t> group_beg, group_feat, of_beg, of_group;
  uint64_t *drawn; /* n_features, on the host */
  int32_t *up;    /* page-locked, of every tree n_features + 1: how many, and the features of the tree */
  int32_t *own_up; /* the same of those that this rank searches; NULL: all of them */
  int32_t n_sent; /* trees of a batch whose features, all of them, are on the device */
  int sent;       /* the features of the batch's trees are, from an earlier batch */
};

/* Gradients: gradient.cu. */
struct cu_grad {
  cu_array<uint32_t> gradients;
  cu_array<cu_output> output;
  cu_array<double> aside; /* 2 x n_rows. Softmax: largest score of a row, sum of exp(score - largest); custom objective:
                             g and h of one output as the host gave them; others: none */
  cu_stage stage;         /* custom objective: the way up, in the device's stream */
  cu_array<double> direction; /* of a projection: a number for each output */
  int32_t fixed_output;   /* array 0 has the gradients of this output, no array those of others; -1: not known */
  int trees_set;          /* whether the trees of the round have all that cu_gradients_of_trees sets */
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
  int offered;            /* there is room for them, and they would be elsewhere */
  int64_t n_batches;      /* that grew of them */
};

/* Residuals of the round: renew.cu. */
struct cu_renewal {
  cu_array<uint64_t> whole, residual;
  cu_array<double> levels; /* of an objective with several */
};

/* The way down of finished trees: down.cu. */
struct cu_down {
  cu_tree *tree;  /* page-locked; the first tree's, then the others', `bytes` apart */
  uint32_t *sets; /* page-locked; of every tree cap_words */
  int place;      /* 0 or 1: which half of both the batch comes to */
  int left_at;    /* and which holds n_left trees that are not in the forest yet */
  int32_t n_left;
  int ahead;          /* these were not waited for: `come` is the event when they have arrived */
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

/* The launches of a batch, recorded: all in CU_BEGIN where the number of steps is known. Otherwise each part ends where
 * the host looks at the trees, after a choice: CU_BEGIN has the roots and the first steps, CU_MORE as many steps, from
 * the partition on, CU_END the leaves. */
enum cu_part { CU_BEGIN = 0, CU_MORE, CU_END, CU_PARTS };
enum : size_t { CU_MOST_NODES = 8192 }; /* of all recordings; batches that need more are not recorded */
enum cu_recorded { CU_NEVER_GROWN = 0, CU_GROWN_ONCE, CU_TRIED };
struct cu_recording {
  cudaGraphExec_t exec[CU_PARTS]; /* NULL: none yet, or (CU_TRIED) it could not be made, or there is no such part */
  cu_recorded state;
  size_t n_nodes;
};

/* How steps are issued: graph.cu. */
struct cu_graph {
  cu_recording recording[GBT_MOST_TREES + 1][2]; /* by trees of the batch, and whether their gradients exist */
  size_t n_nodes;             /* launches and copies of all recordings */
  cu_recording *replays;      /* what the batch is grown by; NULL: it is issued step by step */
};

/* Scratch of ranking.cu. */
struct cu_ranking {
  cu_array<unsigned char> block;
  cu_array<uint64_t> gain; /* only for pr_auc */
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

/* Facts that are found before a backend takes memory: state/ranks.cu. */
struct cu_start {
  cu_ranks_view ranks;
  int64_t free_bytes; /* of the device's memory, on the rank that has least; alone: not known */
  uint64_t *whole; /* of each column of a response where there are several */
};

/* The way to other ranks: state/ranks.cu. */
struct cu_ranks {
  char *host;              /* page-locked; NULL until it is needed */
  size_t bytes;            /* of it */
  cu_array<int64_t> packed; /* numbers of outputs side by side */
  /* the search divided: share.cu */
  int size;
  uint32_t *slot_beg;      /* on the host, as gbt_share_features */
  int8_t *owns;
  size_t *number;          /* 3 x size: numbers or bytes of each rank, of the parts of one operation */
  cu_array<uint32_t> slots; /* slot_beg */
  cu_array<unsigned char> parcel, offers;
  size_t parcel_bytes;
  int32_t offered;         /* nodes, or trees of symmetric growth, that have room in `offers` */
  size_t offer_words;      /* 32-bit words of an offer, of a tree: at most */
  uint32_t set_words;      /* of the widest set of levels */
  cu_nccl nccl;
  cu_nccl_comm comm; /* NULL: numbers go through the host */
  int under_way;     /* its operations may be */
};

struct cu_layer; /* symmetric growth: layer.cuh */
struct cu_team;  /* trees that grow together: team.cuh */
struct cu_refit; /* trees once more: refit.cu */
struct cu_small; /* trees of small data: small.cuh */

struct cu_backend {
  gbt_backend base;
  gbt_mem mem;
  const gbt_params *params;
  const gbt_feature_rules *rules;
  const double *handicap; /* the host's, which go up when trees begin; NULL: none */
  const gbt_together *together; /* NULL: trees grow one by one */
  gbt_objective objective;
  const gbt_cuts *cuts; /* of the train set */
  const gbt_layout *layout;
  int32_t n_backends; /* see gbt_backend_spec; 1 or more */
  int32_t n_outputs, n_valid, n_features;
  int64_t n_rows;
  cu_device device;
  cu_dataset *data; /* 1 + n_valid */
  cu_view view;
  cu_hooks hooks;
  cu_bounds bounds;
  cu_set_feats set_feats;
  cu_draw draw;
  cu_grad grad;
  cu_sample sample;
  cu_gathered gather;
  cu_renewal renew;
  cu_array<double> start; /* step.cu: scores when the round began */
  cu_down down;
  cu_graph graph;
  cu_metrics metrics;
  const cu_start *start_with; /* while it opens */
  cu_ranks ranks;
  cu_layer *layer;                 /* NULL unless trees are symmetric */
  cu_team *team;                   /* NULL unless trees grow together */
  cu_small *small;                 /* NULL unless the data are small */
  cu_refit *refit;                 /* NULL until trees are fitted once more */
  int takes_steps;                 /* though they are: a launch was refused, or trees are fitted once more */
  cu_array<unsigned char> state;   /* of most_trees trees: state.cu */
  cu_array<int8_t> monotone;
  cu_array<double> handicaps;
  /* the batch that grows */
  cu_task *task;    /* page-locked */
  int32_t depth;    /* steps issued */
  int64_t begun_ns;
};

/* The purpose of its data sets. */
static inline cu_dataset_spec cu_dataset_spec_of(const cu_backend *be) {
  const cu_dataset_spec spec = {be->bounds.counts, be->n_outputs, be->params->max_cat_onehot, be->bounds.tile_cols,
                                be->device.shared_limit};
  return spec;
}

/* Whether one kernel grows a tree. */
static inline int cu_grows_in_one_kernel(const cu_backend *be) {
  return be->small && !be->takes_steps && !be->hooks.no_small;
}
/* Whether also all inputs of the kernel are its arguments: such batches need no copies and are not recorded. */
static inline int cu_inputs_are_args(const cu_backend *be) { return cu_grows_in_one_kernel(be) && be->grad.trees_set; }

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

/* How many arrays of gradients there are, and of residuals: of the outputs of a batch, or of all. */
static inline int32_t cu_gradient_arrays(const cu_backend *be) {
  const int64_t per_output = be->params->num_parallel_tree, whole = be->base.most_trees / per_output;
  if (gbt_gradients_are_kept(&be->objective) || whole > be->n_outputs) return be->n_outputs;
  return whole > 1 ? (int32_t)whole : 1;
}
