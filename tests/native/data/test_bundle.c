/* Bundles: which features share a column, and that all codes can be read back from it. */
#include "clock.h"
#include "fault.h"
#include "pages.h"

static gbt_cuts *cuts_of(const tables *t, int32_t max_bin) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_cuts *cuts = NULL;
  CHECK_OK(gbt_cuts_build(&ctx, &t->table, NULL, max_bin, &cuts, test_err));
  gbt_ctx_close(&ctx);
  return cuts;
}

static const gbti_page_how own = {.own_cuts = 1}, foreign = {0}, unbundled = {.unbundled = 1};

/* Members of a bundle are never filled in the same row: found by looking at all values. */
static void good_bundles(const gbt_page_store *s, const gbt_cuts *cuts, double *const *x) {
  const gbt_layout *l = &s->info.layout;
  int64_t n_wrong = 0;
  for (int32_t b = 0; b < l->n_bundles; b++)
    for (int64_t r = 0; r < s->info.n_rows; r++) {
      int n = 0;
      for (int32_t i = l->bundle_beg[b]; i < l->bundle_beg[b + 1]; i++) {
        const gbt_feature_cuts *f = &cuts->feat[l->bundle_feat[i]];
        n += gbt_cuts_bin(f, x[l->bundle_feat[i]][r]) != f->zero_bin;
      }
      n_wrong += n > 1;
    }
  CHECK_EQ_I64(n_wrong, 0);
}

static int32_t bundle_of(const gbt_layout *l, int32_t feat) {
  for (int32_t b = 0; b < l->n_bundles; b++)
    for (int32_t i = l->bundle_beg[b]; i < l->bundle_beg[b + 1]; i++)
      if (l->bundle_feat[i] == feat) return b;
  return -1;
}

enum { FIELDS = 4, LEVELS = 6, LOOSE = 8, PLANTED = FIELDS * LEVELS + LOOSE };

typedef struct planted {
  tables *t;
  double *x[PLANTED];
  int64_t n;
} planted;

/* Fields of columns, one of them filled in most rows: columns 0, 4, 8, .. are field 0. Then loose columns that meet. In
 * field f the members have f + 1 values, in field 2 some are missing. every: storage sparse for one column in so many;
 * spoilt: the fields' columns meet as well. */
static planted make_planted(uint64_t seed, int64_t n, int every, int absent_missing, int spoilt) {
  test_rng rng = {seed};
  planted m = {.t = tables_new(n), .n = n};
  double none = absent_missing ? (double)NAN : 0.0;
  m.t->table.absent_missing = absent_missing;
  for (int c = 0; c < PLANTED; c++) m.x[c] = tables_keep(m.t, NULL, (size_t)n * sizeof(double));
  for (int64_t r = 0; r < n; r++) {
    for (int c = 0; c < PLANTED; c++) m.x[c][r] = none;
    for (int f = 0; f < FIELDS; f++)
      for (int k = 0; k <= spoilt; k++) {
        int level = (int)(test_unit(&rng) * test_unit(&rng) * (LEVELS + 1));
        double value = 1.0 + (double)test_below(&rng, f + 1);
        if (f == 2 && !absent_missing && test_below(&rng, 9) == 0) value = (double)NAN;
        if (level < LEVELS) m.x[level * FIELDS + f][r] = value;
      }
    for (int c = PLANTED - LOOSE; c < PLANTED; c++)
      if (test_below(&rng, 12) == 0) m.x[c][r] = tables_draw(&rng, DRAW_FEW);
  }
  for (int c = 0; c < PLANTED; c++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", c);
    if (c % every == 0)
      tables_sparse(m.t, name, m.x[c], GBT_F64, 0);
    else
      tables_f64(m.t, name, m.x[c]);
  }
  return m;
}

static void planted_fields_are_found(void) {
  static const int64_t n_rows[] = {300, 3000, 20000};
  for (int k = 0; k < 12; k++) {
    planted m = make_planted((uint64_t)k, n_rows[k % 3], 1 + k / 3 % 3, k % 2, 0);
    gbt_cuts *cuts = cuts_of(m.t, 40);
    gbt_page_store *s = pages_how(m.t, cuts, k % 4 < 2 ? 0 : 700, own, 1 + k % 3);
    gbt_page_store *twin = pages_how(m.t, cuts, 0, unbundled, 1);
    good_layout(&s->info.layout, cuts);
    good_pages(s, cuts);
    good_bundles(s, cuts, m.x);
    all_codes(s, cuts, m.x, m.n);
    CHECK_EQ_I64(twin->info.layout.n_bundles, 0);
    all_codes(twin, cuts, m.x, m.n);
    CHECK(s->info.bytes < twin->info.bytes);
    for (int32_t c = FIELDS; c < FIELDS * LEVELS; c++) { /* the first level is too frequent for a member */
      int32_t b = bundle_of(&s->info.layout, c);
      if (!CHECK(b >= 0)) test_note("case %d column %d filled %d", k, c, (int)cuts->feat[c].n_filled);
      if (c >= 2 * FIELDS && n_rows[k % 3] >= 3000) CHECK_EQ_I64(b, bundle_of(&s->info.layout, c - FIELDS));
    }
    gbt_page_store_unref(s);
    gbt_page_store_unref(twin);
    gbt_cuts_unref(cuts);
    tables_free(m.t);
  }
}

/* Columns that meet in other rows than those of the cuts; in every row, and in the last one only. */
static void other_tables_have_other_bundles(void) {
  for (int k = 0; k < 8; k++) {
    planted a = make_planted(3, 3000, 1, 0, 0), b = make_planted(4, 2000, 1 + k % 2, 0, k < 4);
    gbt_cuts *cuts = cuts_of(a.t, 40);
    gbt_page_store *s = pages_how(a.t, cuts, 0, own, 2), *u = pages_how(b.t, cuts, 300, foreign, 2);
    CHECK(s->info.layout.n_bundles >= FIELDS);
    good_layout(&u->info.layout, cuts);
    good_pages(u, cuts);
    good_bundles(u, cuts, b.x);
    all_codes(u, cuts, b.x, b.n);
    CHECK(k < 4 ? u->info.layout.n_bundles < s->info.layout.n_bundles : u->info.layout.n_bundles >= FIELDS);
    gbt_page_store_unref(s);
    gbt_page_store_unref(u);
    gbt_cuts_unref(cuts);
    tables_free(a.t);
    tables_free(b.t);
  }
  planted m = make_planted(5, 9000, 3, 0, 0);
  for (int c = 0; c < FIELDS * LEVELS; c++) m.x[c][8999] = 0.0;
  m.x[2 * FIELDS][8999] = m.x[4 * FIELDS][8999] = 1.0; /* field 0 */
  tables *t = tables_new(m.n);
  for (int c = 0; c < PLANTED; c++) tables_f64(t, m.t->cols[c].name, m.x[c]);
  gbt_cuts *cuts = cuts_of(t, 40);
  gbt_page_store *s = pages_how(t, cuts, 0, own, 1);
  CHECK(s->info.layout.n_bundles >= FIELDS);
  CHECK(bundle_of(&s->info.layout, 2 * FIELDS) != bundle_of(&s->info.layout, 4 * FIELDS));
  CHECK_EQ_I64(bundle_of(&s->info.layout, 2 * FIELDS + 1), bundle_of(&s->info.layout, 4 * FIELDS + 1));
  good_bundles(s, cuts, m.x);
  all_codes(s, cuts, m.x, m.n);
  gbt_page_store_unref(s);
  gbt_cuts_unref(cuts);
  tables_free(t);
  tables_free(m.t);
}

/* n columns of one value each, every one filled in `rows` rows of its own. */
static tables *make_levels(int n_cols, int64_t n_rows, int rows, double **x) {
  tables *t = tables_new(n_rows);
  for (int c = 0; c < n_cols; c++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", c);
    x[c] = tables_keep(t, NULL, (size_t)n_rows * sizeof(double));
    for (int64_t r = 0; r < n_rows; r++) x[c][r] = r / rows == c;
    tables_sparse(t, name, x[c], GBT_F64, 0);
  }
  return t;
}

/* A byte holds 255 members in addition to "none of them"; bundles too empty for a column are put together in 16 bits.
 * */
static void widths_of_bundles(void) {
  static const struct {
    int n_cols, rows, n_bundles, n_codes, wide;
  } cases[] = {{254, 10, 1, 255, 0}, {255, 10, 1, 256, 0}, {256, 10, 1, 256, 0}, {400, 6, 1, 401, 1}};
  double *x[400];
  for (int k = 0; k < 4; k++) {
    tables *t = make_levels(cases[k].n_cols, k == 3 ? 6000 : 2700, cases[k].rows, x);
    gbt_cuts *cuts = cuts_of(t, 255);
    gbt_page_store *s = pages_how(t, cuts, 1000, own, 2);
    const gbt_group *group = &s->info.layout.group[0];
    good_layout(&s->info.layout, cuts);
    good_pages(s, cuts);
    all_codes(s, cuts, x, t->table.n_rows);
    CHECK_EQ_I64(s->info.layout.n_bundles, cases[k].n_bundles);
    CHECK_EQ_I64(s->info.layout.bundle_beg[1], cases[k].n_codes - 1);
    CHECK_EQ_I64(group->wide, cases[k].wide);
    CHECK_EQ_I64(group->n_codes[group->n_feats - 1], cases[k].n_codes);
    gbt_page_store_unref(s);
    gbt_cuts_unref(cuts);
    tables_free(t);
  }
}

/* The missing code has a slot where the table has such a value, whatever that of the cuts had. */
static void missing_members(void) {
  double *x[8], *y[8];
  tables *t = make_levels(8, 800, 80, x), *u = make_levels(8, 800, 80, y);
  for (int c = 0; c < 8; c++) { /* entries of the first table are changed under its columns' values, too */
    double *v = (double *)t->cols[c].values, *w = (double *)u->cols[c].values;
    if (c % 2) v[0] = x[c][c * 80] = (double)NAN;
    if (c % 3 == 0) w[79] = y[c][c * 80 + 79] = (double)NAN;
  }
  gbt_cuts *cuts = cuts_of(t, 255);
  const tables *table[] = {t, t, u};
  double **values[] = {x, x, y};
  for (int k = 0; k < 3; k++) {
    gbt_page_store *s = pages_how(table[k], cuts, 0, k == 0 ? own : foreign, 1);
    good_layout(&s->info.layout, cuts);
    all_codes(s, cuts, values[k], 800);
    CHECK_EQ_I64(s->info.layout.n_bundles, 1);
    for (int c = 0; c < 8; c++) CHECK_EQ_I64(s->info.layout.place[c].n_slots, 1 + (k < 2 ? c % 2 : c % 3 == 0));
    gbt_page_store_unref(s);
  }
  gbt_cuts_unref(cuts);
  tables_free(t);
  tables_free(u);
}

/* ---- failures ---- */

typedef struct sweep {
  const tables *t;
  const gbt_cuts *cuts;
} sweep;

static gbt_status pages_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const sweep *in = arg;
  gbt_ctx sound = test_ctx(NULL, 1), ctx = test_ctx(mem, 1);
  gbt_binding *binding = NULL;
  gbt_page_store *s = NULL;
  CHECK_OK(gbt_binding_new(&sound, &in->t->table, in->cuts->schema, GBT_UNSEEN_MISSING, &binding, test_err));
  gbt_status status = gbt_pages_build(&ctx, binding, in->cuts, 0, &s, err);
  CHECK_EQ_I64(s != NULL, status == GBT_OK);
  CHECK(s == NULL || s->info.layout.n_bundles > 0);
  gbt_page_store_unref(s);
  gbt_binding_free(binding);
  gbt_ctx_close(&sound);
  gbt_ctx_close(&ctx);
  return status;
}

/* With samples of dense columns, and without. */
static void failing_memory(void) {
  for (int k = 0; k < 2; k++) {
    planted m = make_planted(6, k ? 10000 : 600, 2, 0, 0);
    gbt_cuts *cuts = cuts_of(m.t, 40);
    sweep in = {m.t, cuts};
    CHECK(fault_sweep(pages_op, &in) > 20);
    gbt_cuts_unref(cuts);
    tables_free(m.t);
  }
}

static int stop_at(void *user) {
  int *left = user;
  return --*left <= 0;
}

/* Asked to stop at any poll: nothing is left behind. */
static void stopping(void) {
  planted m = make_planted(7, 60000, 2, 0, 0);
  gbt_cuts *cuts = cuts_of(m.t, 40);
  gbt_ctx sound = test_ctx(NULL, 1);
  gbt_binding *binding = NULL;
  int n_stopped = 0;
  CHECK_OK(gbt_binding_new(&sound, &m.t->table, cuts->schema, GBT_UNSEEN_MISSING, &binding, test_err));
  for (int polls = 1; polls < 200; polls++) {
    fault f;
    gbt_ctx ctx;
    gbt_page_store *s = NULL;
    int left = polls;
    fault_start(&f, 0, 0);
    CHECK_OK(gbt_ctx_open(&ctx, fault_mem(&f), 1, GBT_SIMD_AUTO, stop_at, &left, test_err));
    clock_jump(20000000);
    gbt_status status = gbt_pages_build(&ctx, binding, cuts, 0, &s, test_err);
    clock_jump(0);
    CHECK(status == GBT_OK || (status == GBT_CANCELLED && s == NULL));
    n_stopped += status == GBT_CANCELLED;
    gbt_page_store_unref(s);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(f.n_live, 0);
  }
  CHECK(n_stopped > 20);
  gbt_binding_free(binding);
  gbt_ctx_close(&sound);
  gbt_cuts_unref(cuts);
  tables_free(m.t);
}

void suite_bundle(void) {
  RUN(planted_fields_are_found);
  RUN(other_tables_have_other_bundles);
  RUN(widths_of_bundles);
  RUN(missing_members);
  RUN(failing_memory);
  RUN(stopping);
}
