/* A data set as the engine sees it. */
#ifndef GBT_DATA_DATASET_IMPL_H
#define GBT_DATA_DATASET_IMPL_H

#include "dataset.h"
#include "page_store.h"

/* Variants of a data set's bins, see extend.h. */
enum { GBT_MOST_VARIANTS = 8 };

struct gbt_dataset {
  int refs;
  gbt_mem mem;
  gbt_cuts *cuts;                             /* shared */
  gbt_page_store *pages;                      /* variant[0]; shared with it */
  int32_t n_variants;                         /* 1 unless it is extended */
  gbt_page_store *variant[GBT_MOST_VARIANTS]; /* n_variants, shared; all have one layout */
  gbt_dataset *base;                          /* an extended one's, whose fields it has (shared); else NULL */
  gbt_rows rows;                              /* the number of rows, and their fields as far as they are set */
  int64_t all_rows;                           /* ranks: rows of all ranks; else rows.n */
  uint64_t fingerprint; /* of the table that the pages were made of; 0: not known (a folder of an earlier version) */
  uint32_t *table_row; /* a mask's: what rows.table_row points to; NULL: the rows are all those of the pages */
  double *own[GBT_N_FIELDS];       /* the copy that the field points to; NULL when it is lent */
};

/* Gives a data set that has none these pages, the only variant. Takes over the reference. */
static inline void gbti_dataset_put_pages(gbt_dataset *ds, gbt_page_store *pages) {
  ds->pages = ds->variant[0] = pages;
  ds->n_variants = 1;
}

/* The rows of ds where mask[i] is not 0, as gbt_dataset_mask gives them, with copies of the fields that ds has. Weights
 * may all be 0. */
gbt_status gbti_dataset_part(gbt_ctx *ctx, const gbt_dataset *ds, const int *mask, gbt_dataset **out,
                             gbt_error *err) GBT_MUST_CHECK;

#endif
