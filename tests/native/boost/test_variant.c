/* Extended data sets: layouts and codes against the definitions; trees grown on their variants against those of
 * ordinary data sets with the same bins as columns. */
#include "datasets.h"
#include "fault.h"
#include "stores.h"
#include "variant_job.h"

enum { JOBS = 240 };

/* ---- layouts and codes ---- */

/* Every feature that is used has slots of its own, in its group or among the sparse ones. */
static void good_slots(const gbt_layout *l) {
  int32_t *owner = test_alloc((size_t)l->n_slots * sizeof *owner);
  int n_wrong = 0;
  for (uint32_t s = 0; s < l->n_slots; s++) owner[s] = -1;
  for (int32_t f = 0; f < l->n_features; f++) {
    const gbt_place *place = &l->place[f];
    if (!gbt_layout_uses(l, f)) continue;
    uint32_t beg = l->sparse_slot, end = l->n_slots;
    if (place->group >= 0) {
      const gbt_group *group = &l->group[place->group];
      beg = group->slot_beg + group->offset[place->pos];
      end = beg + group->n_codes[place->pos];
      n_wrong += place->pos >= group->n_feats || end >= group->slot_beg + group->n_slots;
      n_wrong += place->slot_beg != beg + place->first || end > l->sparse_slot;
    }
    n_wrong += place->slot_beg < beg || place->slot_beg + place->n_slots > end;
    for (uint32_t s = place->slot_beg; s < place->slot_beg + place->n_slots; s++) {
      n_wrong += owner[s] >= 0;
      owner[s] = f;
    }
  }
  for (int32_t s = 0; s < l->n_strips; s++) {
    const int32_t n = l->strip_beg[s + 1] - l->strip_beg[s];
    n_wrong += n < 1 || n > (l->group[l->strip_beg[s]].wide ? 1 : GBT_STRIP_MAX);
  }
  CHECK_EQ_I64(n_wrong, 0);
  free(owner);
}

/* Codes of the base are in every variant; those of derived features are what was put, in the rows of a mask. */
static void good_codes(const variant_job *j, const gbt_dataset *ext, int32_t v, int32_t **base) {
  const gbt_layout *l = gbt_pages_layout(ext->pages);
  const int32_t n_base = ext->base->cuts->n_features;
  int32_t **code = codes_of(ext->variant[v], ext->cuts);
  int64_t n_wrong = 0;
  for (int32_t f = 0; f < ext->cuts->n_features; f++)
    for (int64_t r = 0; r < ext->rows.n && gbt_layout_uses(l, f); r++) {
      const int64_t row = ext->rows.table_row ? (int64_t)ext->rows.table_row[r] : r;
      n_wrong += code[f][row] != (f < n_base ? base[f][row] : j->bin[0][v][f - n_base][row]);
    }
  CHECK_EQ_I64(n_wrong, 0);
  codes_free(code, ext->cuts);
}

static void one_layout(uint64_t seed, int64_t *n_unused, int64_t *n_bundles, int64_t *n_sparse) {
  random_job r = random_job_make(seed, 200);
  variant_job j = variant_job_make(&r, seed);
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_cuts *cuts = NULL;
  gbt_dataset *ext = variant_extend(&ctx, &j, 0, r.how.page_rows, NULL, &cuts), *view = NULL;
  REQUIRE(ext != NULL);
  const gbt_layout *l = gbt_pages_layout(ext->pages);
  CHECK(ext->n_variants == j.n_variants && ext->pages == ext->variant[0] && ext->rows.n == ext->base->rows.n);
  for (int32_t f = 0; f < l->n_features; f++) {
    const int drop = f < ext->base->cuts->n_features && variant_drops(&j, f);
    CHECK_EQ_I64(gbt_layout_uses(l, f), !drop);
    *n_unused += drop;
  }
  good_slots(l);
  int32_t **base = codes_of(ext->base->pages, ext->base->cuts);
  for (int32_t v = 0; v < ext->n_variants; v++) good_codes(&j, ext, v, base);
  codes_free(base, ext->base->cuts);
  CHECK(gbt_pages_bytes(ext->pages) >= gbt_pages_bytes(ext->base->pages) + (size_t)ext->base->pages->info.n_rows);
  REQUIRE_OK(gbt_dataset_view(ext, &view, test_err));
  CHECK(view->n_variants == ext->n_variants && view->variant[view->n_variants - 1] == ext->variant[j.n_variants - 1]);
  CHECK_EQ_I64(view->rows.table_row != NULL, ext->rows.table_row != NULL);
  *n_bundles += l->n_bundles;
  *n_sparse += l->n_sparse;
  const int32_t n_base = ext->base->cuts->n_features;
  const int64_t row = ext->rows.table_row ? (int64_t)ext->rows.table_row[0] : 0;
  gbt_dataset_unref(ext);
  int32_t **code = codes_of(view->pages, cuts); /* the view keeps all that it needs */
  CHECK_EQ_I64(code[n_base][row], j.bin[0][0][0][row]);
  codes_free(code, cuts);
  gbt_dataset_unref(view);
  gbt_cuts_unref(cuts);
  gbt_ctx_close(&ctx);
  variant_job_free(&j);
  random_job_free(&r);
}

static void codes_are_those_of_the_base_and_those_put(void) {
  int64_t n_unused = 0, n_bundles = 0, n_sparse = 0;
  for (uint64_t seed = 1; seed <= test_cases(120); seed++) {
    const store_kind before = stores_use(seed % 3 == 0 ? STORE_POISON : STORE_MEMORY);
    one_layout(seed, &n_unused, &n_bundles, &n_sparse);
    stores_use(before);
  }
  CHECK_SEEN(n_unused > 100 && n_bundles > 10 && n_sparse > 30);
}

/* ---- memory ---- */

typedef struct extension {
  const made *m;
  const variant_job *j;
} extension;

static gbt_status look(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  (void)ctx;
  (void)err;
  *(int64_t *)arg += span->row_end - span->row_beg;
  return GBT_OK;
}

static gbt_status extend_and_look(const gbt_mem *mem, void *arg, gbt_error *err) {
  const extension *e = arg;
  gbt_dataset *ds = NULL, *ext = NULL;
  gbt_cuts *cuts = NULL;
  gbt_ctx ctx;
  int64_t n = 0;
  uint8_t drop[8] = {0, 1, 0, 0, 1};
  gbt_status status = gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status != GBT_OK) return status;
  status = dataset_from(&ctx, &e->m->table, NULL, NULL, 64, 30, GBT_UNSEEN_MISSING, &ds, err);
  if (status == GBT_OK) cuts = variant_cuts(e->j, ds->cuts);
  if (status == GBT_OK) status = gbti_dataset_extend(&ctx, ds, cuts, drop, 3, &ext, err);
  if (status == GBT_OK) status = gbt_pages_pass(&ctx, ext->variant[2], look, &n, err);
  if (status == GBT_OK) CHECK_EQ_I64(n, e->m->table.n_rows);
  gbt_dataset_unref(ext);
  gbt_dataset_unref(ds);
  gbt_cuts_unref(cuts);
  gbt_ctx_close(&ctx);
  return status;
}

static void memory_may_run_out(void) {
  static const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_FACTOR, MADE_HOLES, MADE_LEVELS};
  made *m = made_new(7, 100, 5, kinds);
  random_job r = {.data = m, .job = {.data = m}};
  variant_job j = variant_job_make(&r, 11);
  extension e = {m, &j};
  CHECK(fault_sweep(extend_and_look, &e) > 20);
  variant_job_free(&j);
  made_free(m);
}

/* ---- trees ---- */

typedef struct jobs_seen {
  int64_t policies[3], derived, splits, masked, dropped, several, sparse, sampled;
} jobs_seen;

static int grown_as_ordinary(uint64_t seed, int64_t rows, jobs_seen *seen) {
  random_job r = random_job_make(seed, rows);
  variant_job j = variant_job_make(&r, seed);
  const train_how plain = {1, 0, GBT_SIMD_AUTO, NULL};
  variant_end a = variant_grow(&j, &r.how), b = variant_twin(&j, &plain);
  const int ok = CHECK(same_ends(&a, &b)) && CHECK_EQ_I64(a.n_derived, b.n_derived);
  if (!ok) random_job_tell(&r, seed);
  seen->policies[r.job.spec.params.grow_policy]++;
  seen->derived += a.n_derived;
  seen->splits += ok ? (int64_t)(a.forest->n_nodes - a.forest->n_trees) / 2 : 0;
  seen->masked += j.mask != NULL;
  seen->dropped += j.with_drop;
  seen->several += j.n_variants > 1;
  seen->sampled += r.job.spec.params.subsample < 1.0;
  variant_end_free(&a);
  variant_end_free(&b);
  variant_job_free(&j);
  random_job_free(&r);
  return ok;
}

/* On the bins that it was grown with a tree comes out as it was, values, scores and all. */
static int refitted_as_grown(uint64_t seed, int64_t rows, int64_t *n_splits) {
  random_job r = random_job_make(seed, rows);
  variant_job j = variant_job_make(&r, seed);
  int ok = 1;
  if (r.job.custom == NULL) {
    variant_end a = variant_grow(&j, &r.how), b = variant_refit(&j, &r.how);
    ok = CHECK(same_ends(&a, &b));
    if (ok) *n_splits += (int64_t)(a.forest->n_nodes - a.forest->n_trees) / 2;
    if (!ok) random_job_tell(&r, seed);
    variant_end_free(&a);
    variant_end_free(&b);
  }
  variant_job_free(&j);
  random_job_free(&r);
  return ok;
}

static void refitted_trees_are_those_that_were_grown(void) {
  int64_t n_splits = 0;
  int bad = 0;
  for (uint64_t seed = 1; seed <= test_cases(JOBS) && bad < 3; seed++) bad += !refitted_as_grown(seed, 600, &n_splits);
  CHECK_SEEN(n_splits > 3000);
}

/* Several tasks of rows. */
static void refitted_trees_of_many_rows(void) {
  int64_t n_splits = 0;
  int bad = 0;
  for (uint64_t seed = 301; seed <= 300 + test_cases(72) && bad < 3; seed++)
    bad += !refitted_as_grown(seed, 50000, &n_splits);
  CHECK_SEEN(n_splits > 300);
}

static void trees_of_a_variant_are_those_of_its_table(void) {
  jobs_seen seen = {.derived = 0};
  int bad = 0;
  for (uint64_t seed = 1; seed <= test_cases(JOBS) && bad < 3; seed++) bad += !grown_as_ordinary(seed, 600, &seen);
  test_note("%" PRId64 " splits, %" PRId64 " by derived features, %" PRId64 " masked, %" PRId64 " with unused features",
            seen.splits, seen.derived, seen.masked, seen.dropped);
  for (int p = 0; p < 3; p++) CHECK_SEEN(seen.policies[p] > 40);
  CHECK_SEEN(seen.derived > 1000 && seen.splits > seen.derived + 300 && seen.masked > 40 && seen.dropped > 60);
  CHECK_SEEN(seen.several > 100 && seen.sampled > 50);
}

static void larger_ones(void) {
  jobs_seen seen = {.derived = 0};
  for (uint64_t seed = 500; seed < 506; seed++)
    if (!grown_as_ordinary(seed, 40000, &seen)) return;
}

static void stores_that_forget(void) {
  jobs_seen seen = {.derived = 0};
  for (int kind = STORE_POISON; kind <= STORE_POISON_3; kind++) {
    const store_kind before = stores_use((store_kind)kind);
    for (uint64_t seed = 600; seed < 600 + test_cases(25); seed++) grown_as_ordinary(seed, 600, &seen);
    stores_use(before);
  }
  CHECK_SEEN(seen.derived > 100);
}

void suite_variant(void) {
  RUN(codes_are_those_of_the_base_and_those_put);
  RUN(memory_may_run_out);
  RUN(trees_of_a_variant_are_those_of_its_table);
  RUN(refitted_trees_are_those_that_were_grown);
  RUN(refitted_trees_of_many_rows);
  RUN(larger_ones);
  RUN(stores_that_forget);
}
