/* The trainer's state: trainer.c makes and changes it, checkpoint.c keeps and restores it. */
#ifndef GBT_BOOST_TRAINER_STATE_H
#define GBT_BOOST_TRAINER_STATE_H

#include "../joint/cox.h"
#include "../joint/queries.h"
#include "../joint/timeline.h"
#include "../objective/aft.h"
#include "constraints.h"
#include "penalties.h"
#include "round.h"
#include "stopper.h"
#include "trainer_impl.h"

/* The order of a data set's times. */
typedef struct gbti_risk_aids {
  int has_timeline, has_cox; /* whether they are there */
  gbt_timeline timeline;
  gbt_cox cox;
} gbti_risk_aids;

struct gbt_trainer {
  gbt_mem mem;
  gbt_params params;
  double *eta; /* n_eta values by round, see gbt_trainer_spec; NULL: params.eta */
  int64_t n_eta;
  double init_eta;
  gbt_objective objective;
  double *breaks, *levels; /* of the objective; NULL: it has none */
  int32_t n_valid, n_metrics;
  gbt_dataset *data[1 + GBT_MAX_VALID]; /* shared; train first */
  gbt_metric metric[GBT_MAX_METRICS];
  gbt_queries queries[1 + GBT_MAX_VALID]; /* of the data sets on which a metric of queries is evaluated; else empty */
  gbti_risk_aids risk[1 + GBT_MAX_VALID]; /* the same of metrics of times with events */
  gbt_hazards hazards;                    /* of the round that is evaluated, where a metric needs them */
  uint8_t *cat_method; /* n_columns: what was made of each, see encode/encode.h */
  int eval_train;
  gbt_feature_rules *rules;
  gbt_constraints constraints;
  gbt_penalties penalties;
  gbti_round round; /* how the trees of a round are made */
  gbt_backend *be;  /* of its last stage, which has the scores of all data sets; borrowed; NULL while it opens */
  gbt_forest *forest;
  gbt_schema *schema;    /* of its features: those of the data, then the tables of the initial model */
  size_t n_trees;        /* of the forest when it is settled: the backend may append the last ones later */
  gbt_forest_view trees; /* as last asked for */
  int64_t n_rounds;
  int has_gradients; /* custom objective: the host gave those of the next round */
  int broken;        /* a round failed half way: scores are no longer those of the forest */
  double *log;       /* n_rounds x width */
  size_t cap_log;
  double *scale;     /* n_rounds + 1: that of times before the first round and after each; NULL: there is none */
  size_t cap_scale;
  double *bias;      /* (n_rounds + 1) x n_bias: those of positions before the first round and after each */
  size_t cap_bias;
  size_t n_bias;     /* 0: there are none */
  int32_t width;
  int watching; /* early stopping looks at the log's last column; 2: at a metric of the host */
  gbt_stopper stopper;
  int32_t keep_best; /* 0: none; else the data set whose scores at the best round are in `kept` */
  double *kept;
  double *at_best;    /* scores of the training set at the best round, for objectives of hazards; NULL: none yet */
  double *hazard;     /* the baseline as last asked for, or as of `hazards` */
  int64_t kept_round; /* whose scores these are */
  double max_seconds, seconds;
  void *spare; /* ranks: see gbt_comm_enter; NULL in a single process */
  uint64_t identity; /* of the training, for checkpoints: checkpoint.h */
};

/* The shrinkage of a round of this training, from 0. */
static inline double gbti_eta_of(const gbt_trainer *tr, int64_t round) {
  if (tr->eta == NULL) return tr->params.eta;
  return tr->eta[round < tr->n_eta ? round : tr->n_eta - 1];
}

/* The scale after so many rounds: metrics and gradients take it from now on. */
static inline void gbti_put_scale(gbt_trainer *tr, int64_t n_rounds, double scale) {
  tr->scale[n_rounds] = scale;
  tr->objective.param[GBT_AFT_PARAM_SCALE] = scale;
}

/* The baseline at these scores of the training set; borrowed until the next call. Collective: hazards.c. */
gbt_status gbti_find_hazards(gbt_ctx *ctx, gbt_trainer *trainer, const double *score, gbt_hazards *out,
                             gbt_error *err) GBT_MUST_CHECK;

/* Keeps the scores of the training set, for objectives whose models have a baseline hazard: hazards.c. */
gbt_status gbti_keep_hazards(gbt_ctx *ctx, gbt_trainer *trainer, gbt_error *err) GBT_MUST_CHECK;

/* Things that metrics need besides the rows, of each data set that is evaluated: metric_aids.c. */
gbt_status gbti_make_aids(gbt_ctx *ctx, gbt_trainer *trainer, gbt_error *err) GBT_MUST_CHECK;
void gbti_free_aids(gbt_trainer *trainer);

/* Before a round is evaluated: at the scores of now. Collective. */
gbt_status gbti_update_aids(gbt_ctx *ctx, gbt_trainer *trainer, gbt_error *err) GBT_MUST_CHECK;
gbt_metric_aids gbti_aids_of(gbt_trainer *trainer, int32_t which);

/* Scores of the data set whose best ones are kept. */
static inline size_t gbti_n_kept_scores(const gbt_trainer *tr) {
  return (size_t)(tr->data[tr->keep_best]->rows.n * tr->objective.n_outputs);
}

#endif
