/* Shared by the files of an encoding: levels of rows (levels.c), statistics of one projection (statistics.c), which
 * combinations are made (combine.c), data sets of them (encode.c). */
#ifndef GBT_ENCODE_ENCODE_IMPL_H
#define GBT_ENCODE_ENCODE_IMPL_H

#include "../schema/schema.h"
#include "encode.h"
#include "gather.h"
#include "keys.h"
#include "ordered.h"
#include "plan.h"
#include "statistics_help.h"

enum {
  GBTI_ORDERS = 2,         /* most variants of a training set */
  GBTI_ENCODE_ROWS = 65536 /* of a task */
};

static inline int64_t gbti_row_tasks(int64_t n) { return (n + GBTI_ENCODE_ROWS - 1) / GBTI_ENCODE_ROWS; }

/* One derived feature. */
typedef struct gbti_derived {
  gbt_feature_kind kind;
  int32_t part;        /* of the target; KEY_COUNT: -1 */
  double prior_weight; /* in rows */
  int32_t n_bins;      /* 1: it says nothing, and is left out */
  uint8_t unknown;
  uint8_t *table;              /* by key */
  double *shown;               /* n_bins - 1 */
  uint8_t *train[GBTI_ORDERS]; /* by variant: n bins in base order */
  uint8_t **valid;             /* n_data - 1: bins by row */
} gbti_derived;

/* A projection and its features. */
typedef struct gbti_made {
  gbti_planned plan;
  gbti_keys keys; /* its ids are gone when the bins are there */
  gbti_derived *feat;
  int32_t n_feats;
} gbti_made;

typedef struct gbti_encoding {
  gbt_mem mem;
  const gbt_params *params;
  const gbti_wish *wish;
  gbt_dataset **data;
  int32_t n_data;
  gbti_plan plan;
  gbti_gathered all; /* training rows of all ranks: statistics are made of them, on every rank */
  gbti_visit visit;
  gbti_target target;
  gbti_statistics_help *help; /* begun; NULL: none */
  gbti_made *proj;            /* n_proj: those of the plan, then combinations that are worth it, by number of columns */
  int32_t n_proj;
  size_t cap_proj;
  gbt_schema *schema;
  gbt_cuts *cuts;
} gbti_encoding;

/* The columns of a projection in the rows of a data set. */
typedef struct gbti_key_columns {
  gbti_key_column col[GBTI_MOST_COMBINED];
  uint32_t *level[GBTI_MOST_COMBINED]; /* owned */
} gbti_key_columns;

/* Of data set s: the training rows in base order, those of validation sets in their order. Free with gbti_drop_columns,
 * also after a failure. */
gbt_status gbti_take_columns(gbt_ctx *ctx, const gbti_encoding *e, int32_t s, const gbti_planned *plan,
                             gbti_key_columns *out, gbt_error *err) GBT_MUST_CHECK;
void gbti_drop_columns(const gbt_mem *mem, gbti_key_columns *cols);

/* Makes one more projection, the last of e->proj, with the bins of the training rows; on failure there is none. */
gbt_status gbti_make_projection(gbt_ctx *ctx, gbti_encoding *e, const gbti_planned *plan,
                                gbt_error *err) GBT_MUST_CHECK;
void gbti_drop_projection(const gbti_encoding *e, gbti_made *p);

/* Bins of validation set s, 1 .. n_data - 1, by the tables. */
gbt_status gbti_make_valid(gbt_ctx *ctx, const gbti_encoding *e, gbti_made *p, int32_t s,
                           gbt_error *err) GBT_MUST_CHECK;

/* Combinations of the columns whose statistics are made, up to max_cat_combine of them. They grow column by column:
 * pairs, then what can be made of those that are worth it. Of each number of columns at most 256 are looked at, those
 * first whose parts say the most; the 64 with the largest gain over their columns are kept, and as many of these as
 * have max_cat_keys keys together. */
gbt_status gbti_combine(gbt_ctx *ctx, gbti_encoding *e, gbt_error *err) GBT_MUST_CHECK;

#endif
