/* The trainer: owns a backend and grows a forest round by round. Used by one thread at a time.
 *
 *   new -> (run)* -> forest, scores, log -> free
 *
 * It shares the data sets it is given. The forest grows by whole rounds only: whatever stops a run, the forest holds
 * the rounds finished so far.
 *
 * Ranks (base/comm.h). All ranks call new, run and set_gradients, with data sets and gradients of their own rows and
 * equal other arguments; the calls succeed on all ranks or on none. All ranks have the same forest, log and rounds; a
 * rank has the scores of its own rows only. */
#ifndef GBT_BOOST_TRAINER_H
#define GBT_BOOST_TRAINER_H

#include "../backend/phases.h"
#include "../encode/cat_method.h"
#include "../objective/objective.h"
#include "../params.h"
#include "../schema/schema.h"
#include "../tree/view.h"
#include "metric.h"

typedef struct gbt_trainer gbt_trainer;
typedef struct gbt_dataset gbt_dataset;       /* data/dataset.h */
typedef struct gbt_device_api gbt_device_api; /* backend/device.h */

#define GBT_MAX_VALID 16
#define GBT_MAX_METRICS 16

typedef struct gbt_trainer_spec {
  gbt_params params;
  gbt_objective objective;
  gbt_dataset *train;                /* label set; offset set for objective.n_outputs outputs, or not set */
  gbt_dataset *valid[GBT_MAX_VALID]; /* made with train's cuts; label set */
  int32_t n_valid;
  gbt_metric metric[GBT_MAX_METRICS];
  int32_t n_metrics;
  int eval_train; /* evaluate the metrics on train as well; it comes first in the log */
  /* constraints: borrowed for the call of gbt_trainer_new */
  const int8_t *monotone;      /* n_columns of -1 (scores never rise with the column), 0, 1 (never fall); or NULL.
                                  Only 0 for categorical columns */
  const int32_t *interact_beg; /* n_interact + 1 positions in interact_col; or NULL */
  const int32_t *interact_col; /* columns that may be on one path together, group by group; a column in no group is on
                                  a path without others */
  int32_t n_interact;
  const double *feature_weight; /* n_columns numbers >= 0, some > 0: weights of the draws by colsample; or NULL */
  const double *first_use_penalty; /* n_columns numbers >= 0, subtracted from gains until a column is used: penalties.h;
                                    or NULL */
  const uint8_t *cat_method;    /* n_columns sets of gbt_cat_method, GBT_CAT_AUTO for columns that are not categorical;
                                   or NULL: GBT_CAT_SETS for all that are */
  const double *class_rate; /* by class, 0 to 1, some above 0: probability of its rows to be drawn for a tree; or NULL.
                               Labels are classes then, and params.subsample is 1 */
  int32_t n_class_rates;
  /* shrinkage by round, from 0 to 1: the first value is for the first round of this training; rounds after the last
   * value use the last. NULL: params.eta; otherwise the host sets params.eta to the first value. Copied */
  const double *eta;
  int64_t n_eta;
  /* continuing another model */
  const gbt_forest_view *init;             /* trees to start with, same features and outputs; or NULL */
  double init_eta;                         /* the shrinkage of its last round; 0: that of the next round */
  double init_scale;                       /* the scale of times of init; 0: estimated from its scores */
  const double *init_bias;                 /* the n_init_bias biases of positions of init. Borrowed; or NULL */
  int64_t n_init_bias;
  const gbt_schema *init_schema;           /* what init was trained on: same columns, levels by text. NULL: as train */
  const double *init_score;                /* train rows x n_outputs, offset included: the scores of init on train */
  const double *init_valid[GBT_MAX_VALID]; /* the same for every validation set; needed with init */
  /* base scores; NULL: from the labels (0 with init_score or a custom objective) */
  const double *base; /* n_outputs */
  int checkpoints; /* gbt_trainer_save and gbt_trainer_resume may be called */
  /* a device's functions (backend/device.h), borrowed until the trainer is freed; NULL: the CPU */
  const gbt_device_api *device;
  int32_t device_number;
  const int32_t *devices; /* the numbers of n_devices different devices that share the rows, in this order; borrowed
                             for the call. Used instead of device_number if n_devices > 1 */
  int32_t n_devices;
  /* stopping */
  int64_t stop_rounds; /* 0: never. Uses the last metric of the last validation set (of train without one); a metric
                        * without a direction is minimised */
  double stop_min_delta;
  int32_t keep_best;  /* a validation set's number, from 1: its scores at the best round are kept (or, where later
                         rounds rescale earlier ones, computed by the model); 0: none */
  double max_seconds; /* 0: no limit; checked after every round, for all runs together */
} gbt_trainer_spec;

/* Free by gbt_trainer_free. GBT_E_ARG, GBT_E_DATA and GBT_E_UNSUPPORTED name the parameter, column or data that do not
 * fit; GBT_E_INTERNAL: `init` comes without its scores. */
gbt_status gbt_trainer_new(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_trainer **out,
                           gbt_error *err) GBT_MUST_CHECK;
void gbt_trainer_free(gbt_trainer *trainer); /* NULL allowed */

typedef enum gbt_stop_reason {
  GBT_RUN_DONE = 0, /* all rounds asked for */
  GBT_RUN_EARLY,    /* early stopping */
  GBT_RUN_TIME      /* max_seconds */
} gbt_stop_reason;

const char *gbt_stop_reason_name(int reason); /* "done", "early", "time"; see gbt_status_name */

/* Up to n_rounds more rounds. On GBT_CANCELLED and errors the rounds finished so far stay; the trainer may refuse to
 * run further ones (GBT_E_ARG), and a new one continues its trees by `init`. *why: the reason of a run that
 * succeeds. With a custom objective gbt_trainer_set_gradients must come before every run, and n_rounds must be 1
 * (GBT_E_INTERNAL). */
gbt_status gbt_trainer_run(gbt_ctx *ctx, gbt_trainer *trainer, int64_t n_rounds, gbt_stop_reason *why,
                           gbt_error *err) GBT_MUST_CHECK;

/* Custom objective: g and h of the next round, train rows x n_outputs column by column, row weights NOT yet applied
 * (the trainer multiplies them in). Below 1e290 in size; h >= 0. Copied. GBT_E_DATA names the row and output of a
 * number that is not valid. */
gbt_status gbt_trainer_set_gradients(gbt_ctx *ctx, gbt_trainer *trainer, const double *g, const double *h,
                                     gbt_error *err) GBT_MUST_CHECK;

/* Raw scores of a data set, offset included: which = 0 is train, 1 + i valid i; rows x n_outputs column by column,
 * borrowed until the next call of run, scores or free. */
gbt_status gbt_trainer_scores(gbt_ctx *ctx, const gbt_trainer *trainer, int32_t which, const double **out,
                              gbt_error *err) GBT_MUST_CHECK;

/* The same at the best round, for the data set of keep_best. For other data sets, without early stopping, and before
 * the first best round: the current scores. */
gbt_status gbt_trainer_best_scores(gbt_ctx *ctx, gbt_trainer *trainer, int32_t which, const double **out,
                                   gbt_error *err) GBT_MUST_CHECK;

/* The objective's default metric (objectives.def) on the training rows, for the current scores. Between runs. Ranks:
 * over the rows of all ranks; collective. */
gbt_status gbt_trainer_loss(gbt_ctx *ctx, gbt_trainer *trainer, double *out, gbt_error *err) GBT_MUST_CHECK;

/* The baseline hazard of objectives of hazards, for the scores of the model (with early stopping: of the best round),
 * or for `score`, one for each training row, if it is not NULL. Borrowed until the next call. It has no strata for
 * another objective, and if the best round is before a checkpoint from which the training continued. Between runs.
 * Collective. */
gbt_status gbt_trainer_hazards(gbt_ctx *ctx, gbt_trainer *trainer, const double *score, gbt_hazards *out,
                               gbt_error *err) GBT_MUST_CHECK;

/* Rows of a data set, of this rank; which as above. */
int64_t gbt_trainer_n_rows(const gbt_trainer *trainer, int32_t which);

/* Columns and features of the trees, in this order: those of the training data, those derived for this training, those
 * derived for the model that it continues. Borrowed until free. */
const gbt_schema *gbt_trainer_schema(const gbt_trainer *trainer);

/* The methods of the columns of the data: n_columns sets of gbt_cat_method, GBT_CAT_AUTO resolved, 0 for columns that
 * are not categorical. Borrowed. */
const uint8_t *gbt_trainer_cat_methods(const gbt_trainer *trainer);
/* The objective of the model: with the scale of times of the best round, or of the last one without early stopping. */
gbt_objective gbt_trainer_objective(const gbt_trainer *trainer);

/* The biases of positions (joint/positions.h) after the rounds of the model: *n numbers, 0 without positions. Borrowed
 * until the next run. */
const double *gbt_trainer_biases(const gbt_trainer *trainer, int64_t *n);

/* The trees (borrowed until free or the next run), those of `init` first, and the rounds without them. */
const gbt_forest_view *gbt_trainer_trees(gbt_trainer *trainer);
int64_t gbt_trainer_rounds(const gbt_trainer *trainer);

/* The best round by early stopping, from 1 and without those of `init`; 0 without early stopping. */
int64_t gbt_trainer_best_round(const gbt_trainer *trainer);

/* The log: rounds x width doubles, row by row. Columns are the metrics of each data set (train first if it is
 * evaluated). Borrowed. */
const double *gbt_trainer_log(const gbt_trainer *trainer, int32_t *width);

/* Early stopping by a metric of the host. gbt_trainer_watch, before the first run: early stopping uses the host's
 * values, which are maximised or minimised. gbt_trainer_put_value, after each run of one round: the value, computed
 * from gbt_trainer_scores; *stop: 1 if training should end. GBT_E_INTERNAL without watch or round. Ranks: the same
 * value on all of them; collective. */
void gbt_trainer_watch(gbt_trainer *trainer, int maximise);
gbt_status gbt_trainer_put_value(gbt_ctx *ctx, gbt_trainer *trainer, double value, int *stop,
                                 gbt_error *err) GBT_MUST_CHECK;

/* Writes the state of the training to a file, which is replaced in one step; see checkpoint.h. Between runs, for a
 * trainer with spec.checkpoints. path: in the system's encoding. note: n_note bytes of the host's own; borrowed.
 * GBT_E_IO. Ranks: collective; the first rank writes the file. */
gbt_status gbt_trainer_save(gbt_ctx *ctx, const gbt_trainer *trainer, const char *path, const void *note, size_t n_note,
                            gbt_error *err) GBT_MUST_CHECK;

/* Gives a trainer that has run no round the saved state of another one, made from the same specification and data.
 * Threads, ranks, device, pages and histograms' memory may differ, and max_seconds. note: the host's bytes, from
 * ctx->mem: free with gbt_mem_free. GBT_E_ARG on `checkpoint` if the file belongs to another training, GBT_E_IO and
 * GBT_E_FORMAT if it cannot be read. The trainer is then unchanged, or, if reading failed in the middle, runs no
 * further round. Ranks: collective; the first rank reads the file, which may come from another number of ranks. */
gbt_status gbt_trainer_resume(gbt_ctx *ctx, gbt_trainer *trainer, const char *path, uint8_t **note, size_t *n_note,
                              gbt_error *err) GBT_MUST_CHECK;

/* For measuring: the backend's name ("cpu"), bytes of memory, and seconds since new by phase (backend/phases.h). */
const char *gbt_trainer_backend(const gbt_trainer *trainer);
uint64_t gbt_trainer_device_bytes(const gbt_trainer *trainer); /* peak of a device's memory so far; 0 on the CPU */
uint64_t gbt_trainer_host_bytes(const gbt_trainer *trainer); /* of bins in the host's memory that the device reads */
void gbt_trainer_seconds(const gbt_trainer *trainer, double out[GBT_N_PHASES]);

#endif
