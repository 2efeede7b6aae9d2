/* What the engine sees of a data set. */
#ifndef GBT_DATA_DATASET_IMPL_H
#define GBT_DATA_DATASET_IMPL_H

#include "dataset.h"
#include "page_store.h"

struct gbt_dataset {
  int refs;
  gbt_mem mem;
  gbt_cuts *cuts;        /* shared */
  gbt_page_store *pages; /* shared */
  gbt_rows rows;         /* the number of rows, and their fields as far as they are set */
  int64_t all_rows;      /* ranks: rows of all ranks; else rows.n */
  int32_t n_outputs[GBT_N_FIELDS]; /* numbers a row has of a field; 0: the field is not set */
  double *own[GBT_N_FIELDS];       /* the copy that the field points to; NULL when it is lent */
};

/* cuts: shared (a reference is taken); NULL makes them from this table with max_bin (weights matter there: weight may
 * be NULL; it is only read for the cuts, gbt_dataset_set keeps one). With cuts given (validation data) columns and
 * levels are matched to them by text; unseen as stated.
 *
 * Ranks: table and weight are this rank's share of the rows, which may have none; the cuts are those of all shares. */
gbt_status gbt_dataset_new(gbt_ctx *ctx, const gbt_table *table, gbt_cuts *cuts, const double *weight, int32_t max_bin,
                           int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err) GBT_MUST_CHECK;

/* The same data set to the byte, made with what a device has open for it (offload.h); NULL: without. */
struct gbt_offload;
gbt_status gbt_dataset_new_on(gbt_ctx *ctx, struct gbt_offload *help, const gbt_table *table, gbt_cuts *cuts,
                              const double *weight, int32_t max_bin, int32_t page_rows, gbt_unseen unseen,
                              gbt_dataset **out, gbt_error *err) GBT_MUST_CHECK;

#endif
