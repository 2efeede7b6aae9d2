/* Data sets: a table once binned, and the numbers that belong to its rows. */
#include "dataset_impl.h"

#include <math.h>
#include <string.h>

#include "../base/comm.h"
#include "page_impl.h"

gbt_status gbt_dataset_new(gbt_ctx *ctx, const gbt_table *table, gbt_cuts *cuts, const double *weight, int32_t max_bin,
                           int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err) {
  return gbt_dataset_new_on(ctx, NULL, table, cuts, weight, max_bin, page_rows, unseen, out, err);
}

static gbt_status make_pages(gbt_ctx *ctx, gbt_offload *help, const gbt_binding *binding, const gbt_cuts *cuts,
                             int32_t page_rows, int own_cuts, gbt_page_store **out, gbt_error *err) {
  int alone = gbt_comm_alone(ctx); /* bundles depend on the rows, and histograms of all ranks need one layout */
  gbti_page_how how = {.own_cuts = own_cuts && alone, .unbundled = !alone, .offload = help};
  return gbti_pages_build(ctx, binding, cuts, page_rows, how, out, err);
}

static gbt_status make_set(gbt_ctx *ctx, gbt_offload *help, const gbt_table *host_table, gbt_cuts *cuts,
                           const double *weight, int32_t max_bin, int32_t page_rows, gbt_unseen unseen,
                           gbt_dataset **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_dataset *ds;
  gbt_binding *binding = NULL;
  gbt_table own = *host_table;
  const gbt_table *table = &own;
  gbt_share share;
  int own_cuts = cuts == NULL;
  if (help != NULL && !gbt_comm_alone(ctx)) return gbt_refuse_ranks(err);
  GBT_TRY(gbt_comm_share(ctx, table->n_rows, &share, err));
  if (!gbt_comm_alone(ctx)) own.row_beg = share.beg;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *ds, &ds, err));
  ds->refs = 1;
  ds->mem = ctx->mem;
  ds->n_rows = table->n_rows;
  ds->row_beg = share.beg;
  ds->all_rows = share.all;
  if (cuts != NULL) {
    ds->cuts = gbt_cuts_ref(cuts);
    GBT_TRY_GOTO(gbt_table_check(ctx, table, err), done);
  } else {
    GBT_TRY_GOTO(gbti_cuts_build(ctx, table, weight, max_bin, help, &ds->cuts, err), done);
    unseen = GBT_UNSEEN_MISSING; /* levels too rare for a bin, in the very table the bins are made from */
  }
  GBT_TRY_GOTO(gbti_binding_new(ctx, table, ds->cuts->schema, unseen, &binding, err), done);
  GBT_TRY_GOTO(make_pages(ctx, help, binding, ds->cuts, page_rows, own_cuts, &ds->pages, err), done);
done:
  gbt_binding_free(binding);
  if (status == GBT_OK)
    *out = ds;
  else
    gbt_dataset_unref(ds);
  return status;
}

gbt_status gbt_dataset_new_on(gbt_ctx *ctx, gbt_offload *help, const gbt_table *table, gbt_cuts *cuts,
                              const double *weight, int32_t max_bin, int32_t page_rows, gbt_unseen unseen,
                              gbt_dataset **out, gbt_error *err) {
  *out = NULL;
  gbt_status status = make_set(ctx, help, table, cuts, weight, max_bin, page_rows, unseen, out, err);
  status = gbt_comm_agree(ctx, status, err);
  if (status == GBT_OK) return GBT_OK;
  gbt_dataset_unref(*out); /* another rank failed */
  *out = NULL;
  return status;
}

gbt_status gbt_dataset_make(gbt_ctx *ctx, const gbt_dataset_spec *spec, gbt_dataset **out, gbt_error *err) {
  gbt_cuts *cuts = spec->reference != NULL ? spec->reference->cuts : NULL;
  return gbt_dataset_new(ctx, spec->table, cuts, spec->weight, spec->max_bin, spec->page_rows, spec->unseen, out, err);
}

gbt_dataset_info gbt_dataset_about(const gbt_dataset *ds) {
  return (gbt_dataset_info){.n_rows = ds->n_rows,
                            .n_features = ds->cuts->n_features,
                            .bytes = gbt_pages_bytes(ds->pages),
                            .n_pages = gbt_pages_n_pages(ds->pages),
                            .page_rows = gbt_pages_page_rows(ds->pages)};
}

const gbt_schema *gbt_dataset_schema(const gbt_dataset *ds) { return ds->cuts->schema; }

gbt_binned_info gbt_dataset_feature(const gbt_dataset *ds, int32_t feature) {
  GBT_ASSERT(feature >= 0 && feature < ds->cuts->n_features);
  const gbt_feature_cuts *cuts = &ds->cuts->feat[feature];
  return (gbt_binned_info){cuts->n_bins, cuts->has_missing != 0, gbt_pages_is_sparse(ds->pages, feature)};
}

gbt_status gbt_dataset_view(const gbt_dataset *ds, gbt_dataset **out, gbt_error *err) {
  gbt_dataset *view;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&ds->mem, 1, sizeof *view, &view, err));
  view->refs = 1;
  view->mem = ds->mem;
  view->cuts = gbt_cuts_ref(ds->cuts);
  view->pages = gbt_page_store_ref(ds->pages);
  view->n_rows = ds->n_rows;
  view->row_beg = ds->row_beg;
  view->all_rows = ds->all_rows;
  *out = view;
  return GBT_OK;
}

const char *gbt_field_name(int field) {
  switch ((gbt_field)field) {
  case GBT_LABEL:
    return "label";
  case GBT_WEIGHT:
    return "weights";
  case GBT_OFFSET:
    return "offset";
  }
  return NULL;
}

/* What is wrong with the numbers, if anything. */
static gbt_status check_numbers(const gbt_dataset *ds, gbt_field field, const double *x, int64_t n, gbt_error *err) {
  const char *name = gbt_field_name((int)field);
  int whole =
      field == GBT_OFFSET ? ds->n_rows > 0 && n % ds->n_rows == 0 && n / ds->n_rows <= INT32_MAX : n == ds->n_rows;
  if (n < 0 || !whole)
    return gbt_fail_on(err, GBT_E_DATA, name, "%s: %lld numbers for %lld rows; give one for every row%s", name,
                       (long long)n, (long long)ds->n_rows, field == GBT_OFFSET ? " (and output)" : "");
  int any = 0;
  for (int64_t i = 0; i < n; i++) {
    any |= x[i] > 0.0;
    if (isfinite(x[i]) && (field != GBT_WEIGHT || x[i] >= 0.0)) continue;
    return gbt_fail_on(
        err, GBT_E_DATA, name, "%s: row %lld is %s; %s", name, (long long)(ds->row_beg + i % ds->n_rows) + 1,
        x[i] != x[i]     ? "missing"
        : isfinite(x[i]) ? "negative"
                         : "infinite",
        field == GBT_WEIGHT ? "weights must be finite numbers of 0 or more" : "every row needs a finite number");
  }
  if (field == GBT_WEIGHT && !any && ds->n_rows == ds->all_rows) /* else the trainer looks at all shares */
    return gbt_fail_on(err, GBT_E_DATA, name, "weights: all are 0; at least one must be larger");
  return GBT_OK;
}

/* Puts n checked numbers in place of what the field had; own is their copy, or NULL when they are borrowed. */
static void put_field(gbt_dataset *ds, gbt_field field, const double *x, double *own, int64_t n) {
  const double **to = field == GBT_LABEL ? &ds->label : field == GBT_WEIGHT ? &ds->weight : &ds->offset;
  gbt_mem_free(&ds->mem, ds->own[field]);
  ds->own[field] = own;
  *to = n != 0 ? x : NULL;
  if (field == GBT_OFFSET) ds->n_offset = n != 0 ? (int32_t)(n / ds->n_rows) : 0;
}

static gbt_status check_field(const gbt_dataset *ds, gbt_field field, const double *x, int64_t n, gbt_error *err) {
  if ((unsigned)field > (unsigned)GBT_OFFSET)
    return gbt_fail(err, GBT_E_ARG, "there is no field number %d", (int)field);
  return n != 0 ? check_numbers(ds, field, x, n, err) : GBT_OK;
}

gbt_status gbt_dataset_set(gbt_dataset *ds, gbt_field field, const double *x, int64_t n, gbt_error *err) {
  double *copy = NULL;
  GBT_TRY(check_field(ds, field, x, n, err));
  if (n != 0) {
    GBT_TRY(gbt_mem_array(&ds->mem, (size_t)n, sizeof *copy, &copy, err));
    memcpy(copy, x, (size_t)n * sizeof *copy);
  }
  put_field(ds, field, copy, copy, n);
  return GBT_OK;
}

gbt_status gbt_dataset_lend(gbt_dataset *ds, gbt_field field, const double *x, int64_t n, gbt_error *err) {
  GBT_TRY(check_field(ds, field, x, n, err));
  put_field(ds, field, x, NULL, n);
  return GBT_OK;
}

gbt_dataset *gbt_dataset_ref(gbt_dataset *ds) {
  ds->refs++;
  return ds;
}

void gbt_dataset_unref(gbt_dataset *ds) {
  if (ds == NULL || --ds->refs > 0) return;
  gbt_mem mem = ds->mem;
  gbt_cuts_unref(ds->cuts);
  gbt_page_store_unref(ds->pages);
  for (int f = 0; f <= GBT_OFFSET; f++) gbt_mem_free(&mem, ds->own[f]);
  gbt_mem_free(&mem, ds);
}
