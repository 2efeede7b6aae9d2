/* Data sets: what is known of them, and the numbers that belong to their rows. */
#include "dataset_impl.h"

#include <math.h>
#include <string.h>

#include "../base/comm.h"
#include "../base/find.h"
#include "../base/parallel.h"
#include "page_impl.h"

gbt_dataset_info gbt_dataset_about(const gbt_dataset *ds) {
  return (gbt_dataset_info){.n_rows = ds->rows.n,
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

int64_t gbt_dataset_unseen(const gbt_dataset *ds, int32_t col) {
  GBT_ASSERT(col >= 0 && col < ds->cuts->schema->n_columns);
  return gbt_pages_n_unseen(ds->pages, col);
}

/* The same cuts and pages, no rows yet. */
static gbt_status new_view(const gbt_dataset *ds, gbt_dataset **out, gbt_error *err) {
  gbt_dataset *view;
  GBT_TRY(gbt_mem_zeros(&ds->mem, 1, sizeof *view, &view, err));
  view->refs = 1;
  view->mem = ds->mem;
  view->cuts = gbt_cuts_ref(ds->cuts);
  view->pages = ds->pages;
  view->n_variants = ds->n_variants;
  view->fingerprint = ds->fingerprint;
  for (int32_t v = 0; v < ds->n_variants; v++) view->variant[v] = gbt_page_store_ref(ds->variant[v]);
  *out = view;
  return GBT_OK;
}

/* Room for the numbers of n rows of the table. */
static gbt_status new_rows(gbt_dataset *view, int64_t n, gbt_error *err) {
  GBT_TRY(gbt_mem_array(&view->mem, (size_t)n, sizeof *view->table_row, &view->table_row, err));
  view->rows.n = n;
  view->rows.table_row = view->table_row;
  return GBT_OK;
}

gbt_status gbt_dataset_view(const gbt_dataset *ds, gbt_dataset **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_dataset *view;
  *out = NULL;
  GBT_TRY(new_view(ds, &view, err));
  view->rows.n = ds->rows.n;
  view->rows.before = ds->rows.before;
  view->rows.table_before = ds->rows.table_before;
  view->all_rows = ds->all_rows;
  if (ds->rows.table_row != NULL) {
    GBT_TRY_GOTO(new_rows(view, ds->rows.n, err), done);
    memcpy(view->table_row, ds->rows.table_row, (size_t)ds->rows.n * sizeof *view->table_row);
  }
done:
  if (status == GBT_OK)
    *out = view;
  else
    gbt_dataset_unref(view);
  return status;
}

enum { MASK_ROWS = 65536 }; /* between two polls */

/* The rows of ds where the mask is `taken`, to a view that has none yet. */
static gbt_status take_rows(gbt_ctx *ctx, const gbt_dataset *ds, const int *mask, int taken, gbt_dataset *view,
                            gbt_error *err) {
  const uint32_t *row_of = ds->rows.table_row;
  int64_t n = 0;
  for (int64_t i = 0; i < ds->rows.n; i++) {
    if (i % MASK_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    n += !mask[i] == !taken;
  }
  GBT_TRY(new_rows(view, n, err));
  n = 0;
  for (int64_t i = 0; i < ds->rows.n; i++) {
    if (i % MASK_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    if (!mask[i] == !taken) view->table_row[n++] = row_of != NULL ? row_of[i] : (uint32_t)i;
  }
  return GBT_OK;
}

static gbt_status make_masked(gbt_ctx *ctx, const gbt_dataset *ds, const int *mask, int taken, gbt_dataset **out,
                              gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_dataset *view;
  gbt_share share;
  if (ds->rows.n > INT32_MAX)
    return gbt_fail(err, GBT_E_UNSUPPORTED, "a mask of more than 2,147,483,647 rows is not supported");
  GBT_TRY(new_view(ds, &view, err));
  GBT_TRY_GOTO(take_rows(ctx, ds, mask, taken, view, err), done);
  GBT_TRY_GOTO(gbt_comm_share(ctx, view->rows.n, &share, err), done);
  view->rows.before = share.beg;
  view->rows.table_before = ds->rows.table_before;
  view->all_rows = share.all;
done:
  if (status == GBT_OK)
    *out = view;
  else
    gbt_dataset_unref(view);
  return status;
}

gbt_status gbt_dataset_mask(gbt_ctx *ctx, const gbt_dataset *ds, const int *mask, int taken, gbt_dataset **out,
                            gbt_error *err) {
  *out = NULL;
  gbt_status status = gbt_comm_agree(ctx, make_masked(ctx, ds, mask, taken, out, err), err);
  if (status == GBT_OK) return GBT_OK;
  gbt_dataset_unref(*out); /* another rank failed */
  *out = NULL;
  return status;
}

static gbt_status make_gathered(gbt_ctx *ctx, const gbt_dataset *ds, gbt_dataset **out, gbt_error *err) {
  gbt_dataset *copy;
  gbt_page_store *pages;
  GBT_ASSERT(ds->base == NULL && ds->n_variants == 1);
  GBT_TRY(gbti_pages_gather(ctx, ds->pages, ds->cuts->schema, &ds->rows, &pages, err));
  gbt_status status = gbt_mem_zeros(&ds->mem, 1, sizeof *copy, &copy, err);
  if (status != GBT_OK) {
    gbt_page_store_unref(pages);
    return status;
  }
  copy->refs = 1;
  copy->mem = ds->mem;
  copy->cuts = gbt_cuts_ref(ds->cuts);
  gbti_dataset_put_pages(copy, pages);
  copy->rows.n = ds->rows.n;
  copy->rows.before = copy->rows.table_before = ds->rows.before;
  copy->all_rows = ds->all_rows;
  *out = copy;
  return GBT_OK;
}

gbt_status gbt_dataset_gather(gbt_ctx *ctx, const gbt_dataset *ds, gbt_dataset **out, gbt_error *err) {
  *out = NULL;
  gbt_status status = gbt_comm_agree(ctx, make_gathered(ctx, ds, out, err), err);
  if (status == GBT_OK) return GBT_OK;
  gbt_dataset_unref(*out); /* another rank failed */
  *out = NULL;
  return status;
}

/* The fault of a number, for a sentence; NULL: none. */
static const char *fault_of(gbt_field_rule rule, double x) {
  if (x != x) return "missing";
  switch (rule) {
  case GBT_NUMBERS_FINITE:
    return isfinite(x) ? NULL : "infinite";
  case GBT_NUMBERS_WEIGHT:
    return !isfinite(x) ? "infinite" : x < 0.0 ? "negative" : NULL;
  case GBT_NUMBERS_BOUND:
    return x < 0.0 ? "negative" : NULL;
  }
  return NULL;
}

static gbt_status refuse_number(const gbt_rows *rows, const gbt_field_info *field, int64_t row, const char *fault,
                                gbt_error *err) {
  const long long number = (long long)gbt_row_number(rows, row);
  switch (field->rule) {
  case GBT_NUMBERS_FINITE:
    break;
  case GBT_NUMBERS_WEIGHT:
    return gbt_fail_on(err, GBT_E_DATA, field->name, "%s: row %lld is %s; %s must be finite numbers of 0 or more",
                       field->name, number, fault, field->name);
  case GBT_NUMBERS_BOUND:
    return gbt_fail_on(err, GBT_E_DATA, field->name, "%s: row %lld is %s; %s must be numbers of 0 or more, or Inf",
                       field->name, number, fault, field->name);
  }
  return gbt_fail_on(err, GBT_E_DATA, field->name, "%s: row %lld is %s; every row needs a finite number", field->name,
                     number, fault);
}

/* How many numbers of a field a row has when there are n of them; 0: n does not suit the rows. */
static int32_t outputs_of(const gbt_rows *rows, gbt_field_width width, int64_t n) {
  switch (width) {
  case GBT_WIDTH_ROW:
    return n == rows->n;
  case GBT_WIDTH_OUTPUT:
    return rows->n > 0 && n % rows->n == 0 && n / rows->n <= INT32_MAX ? (int32_t)(n / rows->n) : 0;
  }
  return 0;
}

typedef struct fault_search {
  gbt_field_rule rule;
  const double *x;
} fault_search;

static int64_t find_fault(const void *arg, int64_t beg, int64_t end) {
  const fault_search *s = arg;
  while (beg < end && fault_of(s->rule, s->x[beg]) == NULL) beg++;
  return beg;
}

static gbt_status check_field(gbt_ctx *ctx, const gbt_dataset *ds, gbt_field field, const double *x, int64_t n,
                              gbt_error *err) {
  if ((unsigned)field >= (unsigned)GBT_N_FIELDS)
    return gbt_fail(err, GBT_E_ARG, "there is no field number %d", (int)field);
  if (n == 0) return GBT_OK;
  const gbt_field_info *about = gbt_field_about(field);
  const gbt_rows *rows = &ds->rows;
  if (n < 0 || outputs_of(rows, about->width, n) == 0)
    return gbt_fail_on(err, GBT_E_DATA, about->name, "%s: %lld numbers for %lld rows; give one for every row%s",
                       about->name, (long long)n, (long long)rows->n,
                       about->width == GBT_WIDTH_OUTPUT ? " (and output)" : "");
  const fault_search search = {about->rule, x};
  int64_t at, any;
  GBT_TRY(gbt_find_first(ctx, n, find_fault, &search, &at, err));
  if (at < n) return refuse_number(rows, about, at % rows->n, fault_of(about->rule, x[at]), err);
  if (about->rule != GBT_NUMBERS_WEIGHT || rows->n < ds->all_rows) return GBT_OK; /* the trainer looks at all shares */
  GBT_TRY(gbt_any_positive(ctx, x, n, &any, err));
  if (!any) return gbt_fail_on(err, GBT_E_DATA, about->name, "%s: all are 0; at least one must be larger", about->name);
  return GBT_OK;
}

/* Puts n checked numbers in place of what the field had; own is their copy, or NULL when they are borrowed. */
static void put_field(gbt_dataset *ds, gbt_field field, const double *x, double *own, int64_t n) {
  gbt_mem_free(&ds->mem, ds->own[field]);
  ds->own[field] = own;
  ds->rows.field[field] = n != 0 ? x : NULL;
  ds->rows.n_outputs[field] = n != 0 ? outputs_of(&ds->rows, gbt_field_about(field)->width, n) : 0;
}

gbt_status gbt_dataset_set(gbt_ctx *ctx, gbt_dataset *ds, gbt_field field, const double *x, int64_t n, gbt_error *err) {
  double *copy = NULL;
  GBT_TRY(check_field(ctx, ds, field, x, n, err));
  if (n != 0) {
    GBT_TRY(gbt_mem_array(&ds->mem, (size_t)n, sizeof *copy, &copy, err));
    memcpy(copy, x, (size_t)n * sizeof *copy);
  }
  put_field(ds, field, copy, copy, n);
  return GBT_OK;
}

gbt_status gbt_dataset_lend(gbt_ctx *ctx, gbt_dataset *ds, gbt_field field, const double *x, int64_t n,
                            gbt_error *err) {
  GBT_TRY(check_field(ctx, ds, field, x, n, err));
  put_field(ds, field, x, NULL, n);
  return GBT_OK;
}

/* The numbers of a field that ds has, of the rows where the mask is set, to `part`, whose rows these are. */
static gbt_status copy_field(gbt_ctx *ctx, const gbt_dataset *ds, const int *mask, gbt_field field, gbt_dataset *part,
                             gbt_error *err) {
  const int64_t n = part->rows.n * ds->rows.n_outputs[field];
  double *copy;
  int64_t at = 0;
  GBT_TRY(gbt_mem_array(&part->mem, (size_t)n, sizeof *copy, &copy, err));
  put_field(part, field, copy, copy, n);
  for (int32_t k = 0; k < ds->rows.n_outputs[field]; k++) {
    const double *from = ds->rows.field[field] + (size_t)k * (size_t)ds->rows.n;
    for (int64_t i = 0; i < ds->rows.n; i++) {
      if (i % MASK_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
      if (mask[i]) copy[at++] = from[i];
    }
  }
  GBT_ASSERT(at == n);
  return GBT_OK;
}

gbt_status gbti_dataset_part(gbt_ctx *ctx, const gbt_dataset *ds, const int *mask, gbt_dataset **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  GBT_TRY(gbt_dataset_mask(ctx, ds, mask, 1, out, err));
  for (int f = 0; f < GBT_N_FIELDS; f++)
    if (ds->rows.n_outputs[f] > 0) GBT_TRY_GOTO(copy_field(ctx, ds, mask, (gbt_field)f, *out, err), done);
done:
  if (status == GBT_OK) return GBT_OK;
  gbt_dataset_unref(*out);
  *out = NULL;
  return status;
}

gbt_dataset *gbt_dataset_ref(gbt_dataset *ds) {
  ds->refs++;
  return ds;
}

void gbt_dataset_unref(gbt_dataset *ds) {
  if (ds == NULL || --ds->refs > 0) return;
  gbt_mem mem = ds->mem;
  gbt_cuts_unref(ds->cuts);
  for (int32_t v = 0; v < ds->n_variants; v++) gbt_page_store_unref(ds->variant[v]);
  gbt_dataset_unref(ds->base);
  gbt_mem_free(&mem, ds->table_row);
  for (int f = 0; f < GBT_N_FIELDS; f++) gbt_mem_free(&mem, ds->own[f]);
  gbt_mem_free(&mem, ds);
}
