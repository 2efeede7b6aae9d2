#include "datasets.h"

#include "../../src/gbt/backend/device.h"
#include "chunks.h"
#include "naive_cuts.h"
#include "pages.h"
#include "tables.h"

gbt_status dataset_helped(gbt_ctx *ctx, gbt_offload *help, const gbt_table *table, gbt_cuts *cuts, const double *weight,
                          int32_t max_bin, int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err) {
  const gbt_dataset reference = {.refs = 1, .cuts = cuts};
  const gbt_dataset_spec spec = {.table = table,
                                 .reference = cuts != NULL ? &reference : NULL,
                                 .weight = weight,
                                 .help = help,
                                 .max_bin = max_bin,
                                 .page_rows = page_rows,
                                 .unseen = unseen};
  return gbt_dataset_make(ctx, &spec, out, err);
}

gbt_status dataset_from(gbt_ctx *ctx, const gbt_table *table, gbt_cuts *cuts, const double *weight, int32_t max_bin,
                        int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err) {
  return dataset_helped(ctx, NULL, table, cuts, weight, max_bin, page_rows, unseen, out, err);
}

gbt_status dataset_by_device(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, const gbt_dataset_spec *spec,
                             gbt_dataset **out, gbt_error *err) {
  gbt_dataset_spec helped = *spec;
  *out = NULL;
  GBT_TRY(gbt_device_help(ctx, api, number, &helped.help, err));
  gbt_status status = gbt_dataset_make(ctx, &helped, out, err);
  gbt_device_help_close(helped.help);
  return status;
}

static gbt_dataset_spec spec_of(const dataset_work *w) {
  return (gbt_dataset_spec){.table = &w->table->table,
                            .reference = w->reference,
                            .weight = w->weight,
                            .max_bin = w->max_bin,
                            .page_rows = w->page_rows,
                            .unseen = w->unseen};
}

gbt_dataset *dataset_whole(const dataset_work *w) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_dataset_spec spec = spec_of(w);
  gbt_dataset *ds = NULL;
  CHECK_OK(gbt_dataset_make(&ctx, &spec, &ds, test_err));
  gbt_ctx_close(&ctx);
  return ds;
}

gbt_status dataset_in_chunks(gbt_ctx *ctx, const dataset_work *w, chunks *c, size_t source_bytes, gbt_dataset **out,
                             gbt_error *err) {
  gbt_dataset_spec spec = spec_of(w);
  spec.table = NULL;
  spec.source = &c->source;
  spec.source_bytes = source_bytes;
  return gbt_dataset_make(ctx, &spec, out, err);
}

void same_datasets(const gbt_dataset *a, const gbt_dataset *b) {
  REQUIRE(a != NULL && b != NULL);
  CHECK(a->rows.n == b->rows.n && a->all_rows == b->all_rows && a->rows.before == b->rows.before);
  CHECK(a->fingerprint != 0 && a->fingerprint == b->fingerprint);
  same_all_cuts(a->cuts, b->cuts);
  same_stores(a->pages, b->pages);
  CHECK_EQ_I64(a->pages->info.n_entries, b->pages->info.n_entries);
  for (int32_t c = 0; c < a->cuts->schema->n_columns; c++)
    CHECK_EQ_I64(gbt_dataset_unseen(a, c), gbt_dataset_unseen(b, c));
}
