/* Data sets by their cuts: the arguments of gbt_dataset_make one by one, for tests that have cuts and no data set that
 * they belong to. cuts: NULL makes new ones. */
#ifndef GBT_TEST_DATASETS_H
#define GBT_TEST_DATASETS_H

#include "../../src/gbt/data/dataset_impl.h"

gbt_status dataset_from(gbt_ctx *ctx, const gbt_table *table, gbt_cuts *cuts, const double *weight, int32_t max_bin,
                        int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err) GBT_MUST_CHECK;

/* help: NULL allowed. */
gbt_status dataset_helped(gbt_ctx *ctx, gbt_offload *help, const gbt_table *table, gbt_cuts *cuts, const double *weight,
                          int32_t max_bin, int32_t page_rows, gbt_unseen unseen, gbt_dataset **out,
                          gbt_error *err) GBT_MUST_CHECK;

/* With all that the device offers. */
struct gbt_device_api;
gbt_status dataset_by_device(gbt_ctx *ctx, const struct gbt_device_api *api, int32_t number,
                             const gbt_dataset_spec *spec, gbt_dataset **out, gbt_error *err) GBT_MUST_CHECK;

/* A table, and the same in chunks. */
struct tables;
struct chunks;
typedef struct dataset_work {
  const struct tables *table;
  const double *weight;
  const gbt_dataset *reference;
  int32_t max_bin, page_rows;
  gbt_unseen unseen;
} dataset_work;

gbt_dataset *dataset_whole(const dataset_work *w); /* NULL after a failure, which is a failed check */
gbt_status dataset_in_chunks(gbt_ctx *ctx, const dataset_work *w, struct chunks *c, size_t source_bytes,
                             gbt_dataset **out, gbt_error *err) GBT_MUST_CHECK;

/* Byte by byte: cuts, schemas, pages. */
void same_datasets(const gbt_dataset *a, const gbt_dataset *b);

#endif
