/* Cells of a feature that are outside its zero bin: what sparse lists and bundles hold.
 *
 *   column    0 0 7 0 0 2 0 ..      (2, 7) (5, 2) ..  in batches, rows ascending, with their bins where wanted
 *
 * The test for the zero bin is on the values: most cells need no bin. */
#include <math.h>

#include "page_impl.h"

/* Whether a value is in the zero bin, without looking for its bin. */
typedef struct zero_test {
  double low, high; /* low < x <= high; NaN: no bound, or no number at all */
  int missing;      /* the zero bin is the missing code */
} zero_test;

static zero_test zero_test_of(const gbt_feature_cuts *f) {
  zero_test z = {(double)NAN, (double)NAN, f->zero_bin == f->n_bins};
  if (z.missing) return z;
  z.high = f->cut[f->zero_bin];
  if (f->zero_bin > 0) z.low = f->cut[f->zero_bin - 1];
  return z;
}

static int in_zero(const zero_test *z, double x) { return z->missing ? x != x : (x <= z->high) & !(x <= z->low); }

int gbti_absent_is_zero(const gbt_binding *binding, const gbt_cuts *cuts, int32_t feat) {
  gbti_column_reader in = gbti_column_reader_of(binding, feat);
  zero_test z = zero_test_of(&cuts->feat[feat]);
  return in.col->rows != NULL && in_zero(&z, in.absent);
}

typedef struct cells {
  int32_t n;
  int32_t row[GBTI_BATCH];
  double x[GBTI_BATCH];
} cells;

/* n values of rows row[0], row[1], ... (row NULL: beg, beg + 1, ...), less `base`. */
static void keep_filled(const zero_test *z, const double *x, const int32_t *row, int32_t beg, int64_t base, int32_t n,
                        cells *c) {
  int32_t m = 0;
  for (int32_t i = 0; i < n; i++) {
    c->x[m] = x[i];
    c->row[m] = row != NULL ? (int32_t)(row[i] - base) : beg + i;
    m += !in_zero(z, x[i]);
  }
  c->n = m;
}

static void give(const gbti_binner *binner, const cells *c, gbti_filled_fn fn, void *arg) {
  int32_t code[GBTI_BATCH];
  if (binner != NULL) gbti_bin_values(binner, c->x, c->n, code);
  if (c->n > 0) fn(arg, c->row, binner != NULL ? code : NULL, c->n);
}

void gbti_each_filled(const gbt_binding *binding, const gbt_cuts *cuts, int32_t feat, int64_t beg, int32_t n,
                      int with_codes, gbti_filled_fn fn, void *arg) {
  gbti_column_reader in = gbti_column_reader_of(binding, feat);
  zero_test z = zero_test_of(&cuts->feat[feat]);
  gbti_binner binner;
  const gbti_binner *use = with_codes ? &binner : NULL;
  cells c;
  double buf[GBTI_BATCH];
  int64_t cursor = 0;
  if (in.col->rows != NULL && in_zero(&z, in.absent)) { /* only entries count: absent rows are in the zero bin */
    int64_t e = gbti_find_entry(&in, beg, -1), end = gbti_find_entry(&in, beg + n, -1);
    if (with_codes) gbti_binner_make(&binner, &cuts->feat[feat], end - e);
    for (int32_t m; e < end; e += m) {
      m = end - e < GBTI_BATCH ? (int32_t)(end - e) : GBTI_BATCH;
      keep_filled(&z, gbti_read_entries(&in, e, m, buf), in.col->rows + e, 0, beg, m, &c);
      give(use, &c, fn, arg);
    }
    return;
  }
  if (with_codes) gbti_binner_make(&binner, &cuts->feat[feat], n / 8);
  for (int32_t at = 0, m; at < n; at += m) {
    m = n - at < GBTI_BATCH ? n - at : GBTI_BATCH;
    keep_filled(&z, gbti_read_rows(&in, beg + at, m, &cursor, buf), NULL, at, 0, m, &c);
    give(use, &c, fn, arg);
  }
}
