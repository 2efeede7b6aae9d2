/* Rows ready for training or validation: cuts and pages (shared), and what belongs to each row. */
#ifndef GBT_DATA_DATASET_H
#define GBT_DATA_DATASET_H

#include "../base/rows.h"
#include "source.h"
#include "table.h"

/* Reference counted; only the thread that enters the engine changes the count. */
typedef struct gbt_dataset gbt_dataset;

typedef struct gbt_page_sink gbt_page_sink; /* where pages go: gbt_disk_writer_sink (disk/disk.h) */
typedef struct gbt_offload gbt_offload; /* help by a device: gbt_device_help (backend/device.h) */

/* The input of a data set. Everything is borrowed for the call, except the reference's cuts, which are shared. */
typedef struct gbt_dataset_spec {
  const gbt_table *table;       /* the whole table in memory; or NULL: */
  const gbt_source *source;     /* yields the table in chunks */
  size_t source_bytes;          /* limit for the columns of a source that are in memory at once; one column always is.
                                   0: 256 MB. A lower limit costs more passes. Does not change a model */
  const gbt_dataset *reference; /* its cuts and levels are used (validation data); NULL: cuts are made of this table */
  const double *weight;         /* n_rows finite numbers of 0 or more, used for the cuts; or NULL. A source must then
                                   have n_rows */
  gbt_page_sink *sink;          /* takes the bins; NULL: they are kept in memory. Not with help */
  gbt_offload *help;            /* of a device, with cuts and bins; NULL: none. Not used where there are other ranks */
  int32_t max_bin;              /* maximum number of bins of a numeric column, 2 to 65535, or GBT_EXACT_BINS; only
                                   without a reference */
  int32_t page_rows;            /* rows of a page of bins; 0: the default. Does not change a model */
  gbt_unseen unseen;            /* with a reference: how to treat levels that it does not have */
} gbt_dataset_spec;

/* Cuts and bins of a table; weight is not kept. Columns and levels are matched to those of the reference by text. The
 * data set is the same to the byte whether the rows come as a table or in chunks, with the help of a device or without.
 * GBT_E_DATA names column and row (from 1), and the chunk where chunks differ; GBT_E_ARG a number out of range;
 * failures of a source are passed on. Free by gbt_dataset_unref.
 *
 * Ranks: table, source and weight are this rank's share of the rows, which may have none; cuts are those of all shares.
 * Collective. */
gbt_status gbt_dataset_make(gbt_ctx *ctx, const gbt_dataset_spec *spec, gbt_dataset **out,
                            gbt_error *err) GBT_MUST_CHECK;

typedef struct gbt_dataset_info {
  int64_t n_rows; /* of a mask: the selected ones; with ranks: of this rank */
  int32_t n_features;
  uint64_t bytes;             /* of its bins, in memory or on disk */
  int32_t n_pages, page_rows; /* pages of bins, and rows of a page */
} gbt_dataset_info;

/* Sizes, for hosts to show. */
gbt_dataset_info gbt_dataset_about(const gbt_dataset *ds);

/* The columns and features, categorical levels in the order of their bins; borrowed, as long as the data set is. */
const gbt_schema *gbt_dataset_schema(const gbt_dataset *ds);

typedef struct gbt_binned_info {
  int32_t n_bins;  /* without the one of missing values */
  int has_missing; /* the data that the cuts were made of have missing values in this feature */
  int sparse;      /* only the rows outside of its most frequent value are stored */
} gbt_binned_info;

/* How a feature (from 0) was binned. */
gbt_binned_info gbt_dataset_feature(const gbt_dataset *ds, int32_t feature);

/* The number of rows with a level of a categorical or ordinal column (from 0) that the reference does not have, however
 * they were treated; of a mask: among all rows. */
int64_t gbt_dataset_unseen(const gbt_dataset *ds, int32_t col);

/* A second data set of the same rows, with no field set: cuts and pages are shared. So each training can have fields of
 * its own. Free by gbt_dataset_unref, as the result of gbt_dataset_mask. */
gbt_status gbt_dataset_view(const gbt_dataset *ds, gbt_dataset **out, gbt_error *err) GBT_MUST_CHECK;

/* Some of the rows, with no field set: those where mask[i] is not 0 or, with taken = 0, those where it is 0. mask: one
 * for every row, borrowed for the call. Cuts and pages are shared; the rows are numbered again, from 0 in their order,
 * and a field has one number for each of them. Training on them gives the trees of the same rows made into a data set
 * of their own with ds as reference. Ranks: collective; a rank may have no such row. */
gbt_status gbt_dataset_mask(gbt_ctx *ctx, const gbt_dataset *ds, const int *mask, int taken, gbt_dataset **out,
                            gbt_error *err) GBT_MUST_CHECK;

/* A copy of the same rows in memory, with no field set, independent of the pages of ds, which may be on disk. Training
 * on them gives the same trees. Messages count the rows of the copy, and it has no fingerprint. Ranks: collective. Free
 * by gbt_dataset_unref. */
gbt_status gbt_dataset_gather(gbt_ctx *ctx, const gbt_dataset *ds, gbt_dataset **out, gbt_error *err) GBT_MUST_CHECK;

/* Sets a field to a copy of n numbers: one for every row or, where the field is by output, a matrix of rows x outputs.
 * base/row_fields.def says which numbers are valid. n = 0 clears the field. GBT_E_DATA names field and 1-based row;
 * GBT_CANCELLED leaves the field as it was. */
gbt_status gbt_dataset_set(gbt_ctx *ctx, gbt_dataset *ds, gbt_field field, const double *x, int64_t n,
                           gbt_error *err) GBT_MUST_CHECK;

/* The same without a copy: x is borrowed, and must not move or change until the field is set again or the data set is
 * freed. */
gbt_status gbt_dataset_lend(gbt_ctx *ctx, gbt_dataset *ds, gbt_field field, const double *x, int64_t n,
                            gbt_error *err) GBT_MUST_CHECK;

/* A number that shows whether two trainings had the same data; 0: not known. It covers the names, types and order of
 * the columns and every value of the table that the data set was made of; which rows of it the data set has; the fields
 * that are set; and label_text, n_texts names of the classes that labels count (n_texts may be 0). It depends on the
 * order of the rows, but not on how the table was stored or divided into chunks, pages or ranks, nor on the order of
 * levels of categorical columns. It does not protect against data that were changed on purpose. Collective. */
gbt_status gbt_dataset_fingerprint(gbt_ctx *ctx, const gbt_dataset *ds, const char *const *label_text, int32_t n_texts,
                                   uint64_t *out, gbt_error *err) GBT_MUST_CHECK;

/* One more reference to the data set, which is returned; one less, and the last one frees it. */
gbt_dataset *gbt_dataset_ref(gbt_dataset *ds);
void gbt_dataset_unref(gbt_dataset *ds); /* NULL allowed */

#endif
