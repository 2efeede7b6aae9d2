/* How the trees of a round are made: by a chain of stages, each with a backend of its own.
 *
 *   one order                      grow
 *   shared splits                  structure -> fit; where trees grow together: grow
 *   two orders                     grow by the bins of order 0 -> fit by those of order 1
 *   linear leaves on a device      grow on the device -> fit on the CPU; two orders: likewise
 *   shared splits in two orders    structure -> fit by order 0 -> fit by order 1; together: as two orders
 *   ordered boosting               two orders; the first stage has its scores from supporting models
 *
 * The first stage searches for splits. Every other one makes trees with the splits of the stage before it, by its own
 * rows, bins and scores. The trees of the last stage are those of the forest; its backend has the scores of all data
 * sets, the trainer's `be`. Earlier backends have only the training set. Where leaves of the forest hold a value for
 * every output, the trees of a round become one when all of them are there (tree/vectors.h).
 *
 * A kind of stage is a table of operations in a file of its own: round_plain.c, round_growing.c, round_shared.c,
 * round_ordered.c. */
#ifndef GBT_BOOST_ROUND_H
#define GBT_BOOST_ROUND_H

#include "../backend/backend.h"
#include "../backend/device.h"
#include "../data/dataset_impl.h"
#include "../joint/joint.h"
#include "together.h"

typedef struct gbti_stage gbti_stage;

/* Trees whose splits a stage follows: that of task[0] is number `first` of `trees`. Borrowed. */
typedef struct gbti_splits {
  gbt_forest_view trees;
  uint64_t first;
} gbti_splits;

/* The scores of one of a backend's data sets. */
typedef struct gbti_scores {
  gbt_backend *be;
  int32_t which;
  int64_t n_rows;
} gbti_scores;

typedef struct gbti_stage_ops {
  /* Gives the backend the scores that the gradients of the round are taken at. NULL: it has them. */
  gbt_status (*set_scores)(gbt_ctx *ctx, gbti_stage *stage, uint64_t round, gbt_error *err);

  /* Gradients of the round. next: the stage that follows its splits, whose scores are set; NULL: none. */
  gbt_status (*gradients)(gbt_ctx *ctx, gbti_stage *stage, gbti_stage *next, uint64_t round, gbt_error *err);

  /* The round's trees begin; first: the task of its first tree, whose gradients have been computed. NULL: nothing to
   * do. */
  gbt_status (*begin)(gbt_ctx *ctx, gbti_stage *stage, const gbt_tree_task *first, gbt_error *err);

  /* Trees of a batch. *splits: those that the stage follows, and then its own. forest: where the trees go to; NULL: to
   * the stage's drafts, where they are settled. first: there is nothing to follow. */
  gbt_status (*trees)(gbt_ctx *ctx, gbti_stage *stage, gbt_tree_task *task, int32_t n, int first, gbti_splits *splits,
                      gbt_forest *forest, gbt_error *err);

  /* Scores number i that its trees change, the backend's apart; returns 0 where there are no more. NULL: none. */
  int (*more_scores)(const gbti_stage *stage, int32_t i, gbti_scores *out);

  /* Whether its trees add to the outputs of the objective, so that it can say how many make a batch. */
  int has_outputs;

  void (*close)(gbti_stage *stage); /* also after a failed opening */
} gbti_stage_ops;

struct gbti_stage {
  const gbti_stage_ops *ops;
  gbt_mem mem;
  gbt_backend *be;    /* owned */
  gbt_forest *drafts; /* trees of a batch that the next stage follows; owned; NULL: the last stage */
  void *own;          /* of its kind; owned */
  int32_t variant;    /* of the training set's bins */
  gbt_joint *joint;   /* computes the gradients that its backend is given; borrowed; NULL: the backend does */
  int rates;          /* whether its trees need gains: those that it follows have none of its gradients */
};

enum { GBTI_MOST_STAGES = 3 };

typedef struct gbti_round {
  gbti_stage stage[GBTI_MOST_STAGES];
  int32_t n;
  int64_t n_rows;   /* of the training set */
  gbt_joint *joint; /* owned; NULL: gradients of the objective need no other rows */
  int shares;       /* the trees of a round have the same splits, and so the same draws of rows */
  gbti_together together; /* what its trees are weighed by where they grow together; all 0 elsewhere */
  gbt_forest *parts; /* those of a round, which become one tree; owned; NULL: they go to the forest as they are */
} gbti_round;

/* The input of stages when they are opened. */
typedef struct gbti_round_spec {
  gbt_backend_spec backend; /* of the last stage; n_backends is set by gbti_round_open() */
  const gbt_device_api *device;
  int32_t device_number;
  const gbt_forest *forest; /* that of the trainer: the shape of drafts */
} gbti_round_spec;

/* The stages that parameters and data require. round: all 0 before; to be closed also after a failure. */
gbt_status gbti_round_open(gbt_ctx *ctx, const gbti_round_spec *spec, gbti_round *round, gbt_error *err) GBT_MUST_CHECK;
void gbti_round_close(gbti_round *round);

/* The backend that has the scores of all data sets. */
static inline gbt_backend *gbti_round_last(const gbti_round *round) { return round->stage[round->n - 1].be; }

/* The first backend whose trees add to the outputs of the objective: it determines how many trees make a batch. */
gbt_backend *gbti_round_grower(const gbti_round *round);

/* Gradients of all stages, at the scores they have now. number: of the round in the run. */
gbt_status gbti_round_gradients(gbt_ctx *ctx, gbti_round *round, uint64_t number, gbt_error *err) GBT_MUST_CHECK;

/* The same from the host's g and h, see set_gradients of gbt_backend. */
gbt_status gbti_round_set_gradients(gbt_ctx *ctx, gbti_round *round, uint64_t number, const double *g, const double *h,
                                    gbt_error *err) GBT_MUST_CHECK;

/* The settings of a round of trees. */
typedef struct gbti_round_task {
  uint64_t number, first_tree; /* of the round in the run, of its first tree if each output has trees of its own */
  int64_t n_outputs, n_parallel;
  int alike; /* trees of all outputs draw the same rows and features: those of columns of a response */
  double shrinkage; /* of a tree */
  double eta_scale; /* the factor of it for trees of other outputs than the first */
  double contest_noise;
} gbti_round_task;

/* Grows all trees of a round and appends them to the forest. Gradients have been computed. */
gbt_status gbti_round_grow(gbt_ctx *ctx, gbti_round *round, const gbti_round_task *what, gbt_forest *forest,
                           gbt_error *err) GBT_MUST_CHECK;

/* Scores number i that rounds change, those of the last backend apart; returns 0 where there are no more. */
int gbti_round_scores(const gbti_round *round, int32_t i, gbti_scores *out);

/* ---- for the kinds of stages ---- */

extern const gbti_stage_ops gbti_plain_stage, gbti_growing_stage, gbti_ordered_stage, gbti_shared_stage;

/* A backend's trees for a batch: with the given splits, or its own. */
gbt_status gbti_plain_trees(gbt_ctx *ctx, gbti_stage *stage, gbt_tree_task *task, int32_t n, int first,
                            gbti_splits *splits, gbt_forest *forest, gbt_error *err) GBT_MUST_CHECK;
gbt_status gbti_plain_gradients(gbt_ctx *ctx, gbti_stage *stage, gbti_stage *next, uint64_t round,
                                gbt_error *err) GBT_MUST_CHECK;
void gbti_plain_close(gbti_stage *stage);

/* stage->be is open: its supporting models. */
gbt_status gbti_ordered_open(gbt_ctx *ctx, const gbti_round_spec *spec, gbti_stage *stage,
                             gbt_error *err) GBT_MUST_CHECK;
gbt_status gbti_shared_open(gbt_ctx *ctx, const gbti_round_spec *spec, gbti_stage *stage,
                            gbt_error *err) GBT_MUST_CHECK;

#endif
