/* Making a data set: a table or the chunks of a source, to cuts, to pages. */
#include "dataset_impl.h"
#include "fingerprint.h"
#include "page_impl.h"

static gbt_status check_spec(const gbt_dataset_spec *spec, gbt_error *err) {
  if (spec->help != NULL && spec->sink != NULL)
    return gbt_fail(err, GBT_E_INTERNAL, "a device does not help with bins that go to a sink");
  if (spec->source != NULL && spec->source->n_rows < 0 && spec->weight != NULL)
    return gbt_fail_on(err, GBT_E_ARG, "weights",
                       "weights: the source does not give its number of rows, which is needed with weights");
  return GBT_OK;
}

/* The help of a device; ranks cut and bin their shares on the host. */
static gbt_offload *help_of(const gbt_ctx *ctx, const gbt_dataset_spec *spec) {
  return gbt_comm_is_single(ctx) ? spec->help : NULL;
}

static gbt_status make_pages(gbt_ctx *ctx, const gbt_dataset_spec *spec, gbti_feed *feed, const gbt_cuts *cuts,
                             uint64_t *checksum, gbt_page_store **out, gbt_error *err) {
  int one_rank = gbt_comm_is_single(ctx); /* bundles depend on the rows, and histograms of all ranks need one layout */
  gbti_page_how how = {.own_cuts = spec->reference == NULL && one_rank,
                       .unbundled = !one_rank,
                       .offload = help_of(ctx, spec),
                       .sink = spec->sink,
                       .checksum = checksum};
  return gbti_pages_build(ctx, feed, cuts, spec->page_rows, how, out, err);
}

static gbt_status make_parts(gbt_ctx *ctx, const gbt_dataset_spec *spec, gbti_feed *feed, gbt_dataset *ds,
                             gbt_error *err) {
  gbt_unseen unseen = spec->unseen;
  ds->rows.n = feed->table.n_rows;
  ds->rows.before = ds->rows.table_before = feed->share.beg;
  ds->all_rows = feed->share.all;
  if (spec->reference != NULL) {
    ds->cuts = gbt_cuts_ref(spec->reference->cuts);
  } else {
    GBT_TRY(gbti_cuts_build(ctx, feed, spec->weight, spec->max_bin, help_of(ctx, spec), &ds->cuts, err));
    unseen = GBT_UNSEEN_MISSING; /* none is: a source with other levels in a later pass fails by its checksum */
  }
  GBT_TRY(gbti_feed_bind(feed, ds->cuts->schema, unseen, err));
  const gbt_schema *schema = ds->cuts->schema;
  gbt_page_store *pages;
  uint64_t *checksum;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)schema->n_columns, sizeof *checksum, &checksum, err));
  gbt_status status = make_pages(ctx, spec, feed, ds->cuts, checksum, &pages, err);
  if (status == GBT_OK) {
    gbti_dataset_put_pages(ds, pages);
    status = gbti_table_fingerprint(ctx, schema, ds->all_rows, checksum, &ds->fingerprint, err);
  }
  gbt_mem_free(&ctx->mem, checksum);
  return status == GBT_OK ? gbti_feed_finish(feed, err) : status;
}

static gbt_status make_dataset(gbt_ctx *ctx, const gbt_dataset_spec *spec, gbt_dataset **out, gbt_error *err) {
  const size_t most = spec->source_bytes > 0 ? spec->source_bytes : GBTI_FETCH_BYTES;
  gbti_feed feed;
  gbt_dataset *ds = NULL;
  GBT_TRY(check_spec(spec, err));
  gbt_status status = gbti_feed_open(ctx, spec->table, spec->source, most, &feed, err);
  if (status == GBT_OK) status = gbt_mem_zeros(&ctx->mem, 1, sizeof *ds, &ds, err);
  if (status == GBT_OK) {
    ds->refs = 1;
    ds->mem = ctx->mem;
    status = make_parts(ctx, spec, &feed, ds, err);
  }
  gbti_feed_close(&feed);
  if (status == GBT_OK)
    *out = ds;
  else
    gbt_dataset_unref(ds);
  return status;
}

gbt_status gbt_dataset_make(gbt_ctx *ctx, const gbt_dataset_spec *spec, gbt_dataset **out, gbt_error *err) {
  *out = NULL;
  gbt_status status = gbt_comm_agree(ctx, make_dataset(ctx, spec, out, err), err);
  if (status == GBT_OK) return GBT_OK;
  gbt_dataset_unref(*out); /* another rank failed */
  *out = NULL;
  return status;
}
