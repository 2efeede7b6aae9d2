#include "naive_cuts.h"

__extension__ typedef unsigned __int128 u128;

typedef struct value {
  double x;
  uint64_t w;
} value;

static int by_value(const void *a, const void *b) {
  double x = ((const value *)a)->x, y = ((const value *)b)->x;
  return x < y ? -1 : x > y;
}

static int naive_scale(const double *weight, int64_t n) {
  double max = 0.0;
  int e, bits = 0;
  for (int64_t i = 0; i < n; i++) max = weight[i] > max ? weight[i] : max;
  if (!(max > 0.0)) return 0;
  frexp(max, &e);
  while (pow(2.0, bits) < (double)n) bits++;
  return 62 - bits - e;
}

static uint64_t naive_weight(double w, int k) {
  if (w == 0.0) return 0;
  double x = rint(ldexp(w, k));
  return x < 1.0 ? 1 : (uint64_t)x;
}

static double naive_mid(double a, double b) {
  double mid = a + (b - a) / 2;
  return isfinite(mid) && mid < b ? mid : a;
}

/* behind[i]: a cut lies after v[i]. */
static void naive_quantiles(const value *v, int64_t m, int32_t max_bin, char *behind) {
  u128 W = 0, L = 0, B = (u128)max_bin, cum = 0;
  int64_t H = 0;
  for (int64_t i = 0; i < m; i++) W += v[i].w;
  for (int64_t i = 0; i < m; i++) {
    if ((u128)v[i].w * B < 2 * W) {
      L += v[i].w;
      continue;
    }
    H++;
    behind[i] = 1;
    if (i > 0) behind[i - 1] = 1;
  }
  u128 M = (u128)(max_bin - 2 * H);
  int64_t i = -1;
  for (u128 k = 1; k < M; k++) {
    while (cum * M < k * L) {
      i++;
      if ((u128)v[i].w * B < 2 * W) cum += v[i].w;
    }
    behind[i] = 1;
  }
}

gbt_feature_cuts naive_cuts(const double *x, const double *weight, int64_t n, int32_t max_bin, int absent_missing) {
  gbt_feature_cuts out = {0};
  double *cut;
  value *v = test_alloc(((size_t)n + 1) * sizeof *v);
  char *behind = test_alloc((size_t)n + 1);
  int64_t m = 0, d = 0;
  int k = weight != NULL ? naive_scale(weight, n) : 0;
  memset(behind, 0, (size_t)n + 1);
  for (int64_t i = 0; i < n; i++) {
    out.has_missing |= x[i] != x[i];
    value one = {x[i] == 0.0 ? 0.0 : x[i], weight != NULL ? naive_weight(weight[i], k) : 1};
    if (x[i] == x[i] && one.w > 0) v[m++] = one;
  }
  qsort(v, (size_t)m, sizeof *v, by_value);
  for (int64_t i = 0; i < m; i++) {
    if (d > 0 && v[d - 1].x == v[i].x)
      v[d - 1].w += v[i].w;
    else
      v[d++] = v[i];
  }
  if (d <= max_bin)
    memset(behind, 1, (size_t)d);
  else
    naive_quantiles(v, d, max_bin, behind);
  out.cut = cut = test_alloc(((size_t)d + 1) * sizeof *cut);
  for (int64_t i = 0; i + 1 < d; i++)
    if (behind[i]) cut[out.n_bins++] = naive_mid(v[i].x, v[i + 1].x);
  cut[out.n_bins++] = (double)INFINITY;
  if (absent_missing) out.zero_bin = out.n_bins;
  while (!absent_missing && !(0.0 <= cut[out.zero_bin])) out.zero_bin++;
  for (int64_t i = 0; i < n; i++) {
    double low = out.zero_bin > 0 ? cut[out.zero_bin - 1] : 0.0;
    int in = absent_missing ? x[i] != x[i] : x[i] <= cut[out.zero_bin] && !(out.zero_bin > 0 && x[i] <= low);
    out.n_filled += !in;
  }
  free(v);
  free(behind);
  return out;
}

void naive_cuts_free(gbt_feature_cuts *cuts) { free((void *)cuts->cut); }

void same_cuts(const gbt_feature_cuts *a, const gbt_feature_cuts *b) {
  CHECK_EQ_I64(a->n_bins, b->n_bins);
  CHECK_EQ_I64(a->has_missing, b->has_missing);
  CHECK_EQ_I64(a->zero_bin, b->zero_bin);
  CHECK_EQ_I64(a->n_filled, b->n_filled);
  CHECK_EQ_I64(a->cut == NULL, b->cut == NULL);
  if (a->n_bins == b->n_bins && a->cut != NULL) CHECK_EQ_BYTES(a->cut, b->cut, (size_t)a->n_bins * sizeof(double));
}

void same_as_naive(const gbt_feature_cuts *f, const double *x, const double *weight, int64_t n, int32_t max_bin,
                   int absent_missing) {
  gbt_feature_cuts want = naive_cuts(x, weight, n, max_bin, absent_missing);
  same_cuts(f, &want);
  naive_cuts_free(&want);
}

gbt_cuts *test_cuts_of(const tables *t, const double *weight, int32_t max_bin, int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  gbt_cuts *cuts = NULL;
  CHECK_OK(gbt_cuts_build(&ctx, &t->table, weight, max_bin, &cuts, test_err));
  gbt_ctx_close(&ctx);
  return cuts;
}

static void same_schema(const gbt_schema *a, const gbt_schema *b) {
  REQUIRE(a->n_columns == b->n_columns && a->n_features == b->n_features);
  for (int32_t f = 0; f < a->n_features; f++) {
    const gbt_feature *x = &a->feat[f], *y = &b->feat[f];
    REQUIRE(x->kind == y->kind && x->col == y->col && x->type == y->type && !x->value == !y->value);
    if (x->value != NULL) CHECK_EQ_BYTES(x->value, y->value, (size_t)a->col[x->col].n_levels * sizeof *x->value);
  }
  for (int32_t f = 0; f < a->n_columns; f++) {
    const gbt_schema_column *x = &a->col[f], *y = &b->col[f];
    CHECK_EQ_TEXT(x->name, y->name);
    CHECK(x->type == y->type && x->n_levels == y->n_levels);
    for (int32_t i = 0; i < x->n_levels && i < y->n_levels; i++) CHECK_EQ_TEXT(x->levels[i], y->levels[i]);
  }
}

void same_all_cuts(const gbt_cuts *a, const gbt_cuts *b) {
  REQUIRE(a != NULL && b != NULL);
  same_schema(a->schema, b->schema);
  CHECK(a->n_features == b->n_features && a->n_rows == b->n_rows && a->absent_missing == b->absent_missing);
  for (int32_t f = 0; f < a->n_features; f++) {
    const gbt_feature_cuts *x = &a->feat[f], *y = &b->feat[f];
    if (x->cut == NULL || y->cut == NULL)
      CHECK(x->cut == y->cut && x->n_bins == y->n_bins && x->n_filled == y->n_filled && x->zero_bin == y->zero_bin &&
            x->has_missing == y->has_missing);
    else
      same_cuts(x, y);
  }
}
