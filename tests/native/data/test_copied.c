/* Rows that are copied to memory (gbt_dataset_gather): every code, list, level id and unknown level is that of the row
 * in the pages it comes from, whatever their store; trainings on the copy are those on the mask. */
#include "../../src/gbt/data/level_ids.h"
#include "datasets.h"
#include "fault.h"
#include "made.h"
#include "mask_job.h"
#include "pages.h"
#include "random_job.h"

enum { CASES = 120, JOBS = 80 };

typedef struct seen {
  int64_t sparse, bundles, unseen, ids, kinds[MASK_KINDS], stores[STORE_FILE_2Z + 1];
} seen;

/* The naive way: cell by cell. */
static void check_copy(gbt_ctx *ctx, const gbt_dataset *all, const int *mask, seen *s) {
  gbt_dataset *part = NULL, *copy = NULL;
  const uint32_t *unseen;
  int64_t wrong = 0, at = 0;
  REQUIRE_OK(gbt_dataset_mask(ctx, all, mask, 1, &part, test_err));
  REQUIRE_OK(gbt_dataset_gather(ctx, part, &copy, test_err));
  int32_t **from = codes_of(all->pages, all->cuts), **to = codes_of(copy->pages, copy->cuts);
  for (int64_t i = 0; i < all->rows.n; i++) {
    if (!mask[i]) continue;
    for (int32_t f = 0; f < all->cuts->n_features; f++) {
      const uint32_t *a = gbt_pages_level_ids(all->pages, f), *b = gbt_pages_level_ids(copy->pages, f);
      wrong += from[f][i] != to[f][at] || from[f][i] != code_at(copy->pages, copy->cuts, at, f);
      wrong += gbt_page_unseen(all->pages, f, i) != gbt_page_unseen(copy->pages, f, at);
      wrong += (a == NULL) != (b == NULL) || (a != NULL && a[i] != b[at]);
      s->unseen += gbt_page_unseen(copy->pages, f, at);
      s->ids += a != NULL;
    }
    at++;
  }
  CHECK_EQ_I64(wrong, 0);
  CHECK_EQ_I64(copy->rows.n, at);
  CHECK_EQ_I64(copy->all_rows, part->all_rows);
  CHECK(copy->rows.table_row == NULL && copy->cuts == all->cuts && gbt_pages_stay(copy->pages));
  if (gbt_pages_unseen(copy->pages, &unseen) == NULL && s->ids == 0) good_pages(copy->pages, copy->cuts);
  for (int32_t c = 0; c < all->cuts->schema->n_columns; c++)
    CHECK_EQ_I64(gbt_dataset_unseen(copy, c), gbt_dataset_unseen(all, c));
  s->sparse += gbt_pages_layout(copy->pages)->n_sparse;
  s->bundles += gbt_pages_layout(copy->pages)->n_bundles;
  codes_free(from, all->cuts);
  codes_free(to, all->cuts);
  gbt_dataset_unref(part);
  gbt_dataset_unref(copy);
}

static made *case_table(uint64_t seed, int64_t n, int32_t n_cols, const made_kind *kinds) {
  made *m = made_new(seed, n, n_cols, kinds);
  if (kinds != NULL && seed % 2) made_fields(m, 3, 6, 0, seed);
  return m;
}

static void one_case(uint64_t seed, seen *s) {
  made_kind wide[40];
  for (int c = 0; c < 40; c++) wide[c] = c < 18 || c % 3 == 0 ? MADE_ZEROS : (made_kind)(c % MADE_KINDS);
  test_rng rng = {seed};
  const int64_t n = 1 + test_below(&rng, 900);
  const int is_wide = seed % 3 == 0;
  const int32_t n_cols = is_wide ? 40 : 5, page_rows = 1 + (int32_t)test_below(&rng, 200);
  made *m = case_table(seed, n, n_cols, is_wide ? wide : NULL), *other = made_new(seed + 1, 30, n_cols, m->kind);
  const store_kind kind = (store_kind)(seed % (STORE_FILE_2Z + 1)), before = stores_use(kind);
  const mask_kind which = (mask_kind)(seed / 7 % MASK_KINDS);
  int *mask = mask_make(which, n, seed);
  gbt_ctx ctx = test_ctx(NULL, 1 + (int)(seed % 2));
  gbt_dataset *train = made_dataset(&ctx, other, NULL, 16, 0), *own = NULL, *valid = NULL;
  REQUIRE(train != NULL);
  REQUIRE_OK(dataset_from(&ctx, &m->table, NULL, NULL, 16, page_rows, GBT_UNSEEN_MISSING, &own, test_err));
  REQUIRE_OK(dataset_from(&ctx, &m->table, train->cuts, NULL, 16, page_rows, GBT_UNSEEN_PRIOR, &valid, test_err));
  check_copy(&ctx, own, mask, s);
  check_copy(&ctx, valid, mask, s);
  s->kinds[which]++;
  s->stores[kind]++;
  gbt_dataset *sets[] = {train, own, valid};
  for (int i = 0; i < 3; i++) gbt_dataset_unref(sets[i]);
  stores_use(before);
  gbt_ctx_close(&ctx);
  free(mask);
  made_free(m);
  made_free(other);
}

static void codes_lists_and_levels(void) {
  seen s;
  memset(&s, 0, sizeof s);
  for (uint64_t seed = 1; seed <= test_cases(CASES); seed++) one_case(seed, &s);
  test_note("%" PRId64 " sparse features, %" PRId64 " bundles, %" PRId64 " unknown levels", s.sparse, s.bundles,
            s.unseen);
  CHECK_SEEN(s.sparse > 50 && s.bundles > 10 && s.unseen > 20);
  for (int k = 0; k < MASK_KINDS; k++) CHECK_SEEN(s.kinds[k] > 3);
  for (int k = 0; k <= STORE_FILE_2Z; k++) CHECK_SEEN(s.stores[k] > 3);
}

/* More levels than bins; more rows than a page of the copy has. */
static void many_levels_and_rows(void) {
  seen s;
  memset(&s, 0, sizeof s);
  gbt_ctx ctx = test_ctx(NULL, 2);
  made_kind wide[20];
  for (int c = 0; c < 20; c++) wide[c] = MADE_ZEROS;
  made *list[] = {made_levels(3, 120000, GBT_MAX_LEVELS + 200), made_new(4, 140000, 20, wide)};
  for (int t = 0; t < 2; t++) {
    gbt_dataset *all = NULL;
    int *mask = mask_make(MASK_ALL_BUT_ONE, list[t]->table.n_rows, 5);
    REQUIRE_OK(dataset_from(&ctx, &list[t]->table, NULL, NULL, 16, 30000, GBT_UNSEEN_MISSING, &all, test_err));
    check_copy(&ctx, all, mask, &s);
    gbt_dataset_unref(all);
    free(mask);
    made_free(list[t]);
  }
  CHECK(s.ids > 100000 && s.sparse + s.bundles > 0);
  gbt_ctx_close(&ctx);
}

/* Data sets without a mask are copied as a whole, and none of the rows of a mask is fine as well. */
static void all_rows_and_none(void) {
  made *m = made_new(6, 300, 6, NULL);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_dataset *all = made_dataset(&ctx, m, NULL, 32, 70), *copy = NULL, *part = NULL;
  int mask[300];
  seen s;
  memset(&s, 0, sizeof s);
  for (int i = 0; i < 300; i++) mask[i] = 1;
  REQUIRE(all != NULL);
  check_copy(&ctx, all, mask, &s);
  if (CHECK_OK(gbt_dataset_gather(&ctx, all, &copy, test_err))) {
    int32_t **from = codes_of(all->pages, all->cuts), **to = codes_of(copy->pages, copy->cuts);
    for (int32_t f = 0; f < all->cuts->n_features; f++) CHECK_EQ_BYTES(from[f], to[f], 300 * sizeof *to[f]);
    codes_free(from, all->cuts);
    codes_free(to, all->cuts);
  }
  gbt_dataset_unref(copy);
  memset(mask, 0, sizeof mask);
  REQUIRE_OK(gbt_dataset_mask(&ctx, all, mask, 1, &part, test_err));
  if (CHECK_OK(gbt_dataset_gather(&ctx, part, &copy, test_err))) CHECK_EQ_I64(copy->rows.n, 0);
  gbt_dataset_unref(copy);
  gbt_dataset_unref(part);
  gbt_dataset_unref(all);
  gbt_ctx_close(&ctx);
  made_free(m);
}

static void trainings(void) {
  int64_t splits = 0;
  for (uint64_t seed = 1; seed <= test_cases(JOBS); seed++) {
    random_job r = random_job_make(seed + 900, 500);
    int *mask = mask_make((mask_kind)(seed % MASK_KINDS), r.data->table.n_rows, seed);
    if (r.data->weight) /* not all of a set's weights may be 0 */
      for (int64_t i = 0; i < r.data->table.n_rows; i++) r.data->weight[i] += 0.5;
    masked_job j = masked_job_make(&r.job, mask);
    trained *a = train_masked(&j, &r.how), *b = train_copied(&j, &r.how);
    if (!CHECK(a != NULL && b != NULL && same_trained(a, b))) random_job_tell(&r, seed);
    if (a != NULL) splits += (int64_t)a->forest->n_nodes / 2;
    trained_free(a);
    trained_free(b);
    masked_job_free(&j);
    free(mask);
    random_job_free(&r);
  }
  CHECK_SEEN(splits > 500);
}

static gbt_status mask_and_gather(const gbt_mem *mem, void *arg, gbt_error *err) {
  made *m = arg;
  gbt_dataset *all = NULL, *part = NULL, *copy = NULL;
  gbt_ctx ctx;
  int *mask = mask_make(MASK_HALF, m->table.n_rows, 4);
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = dataset_from(&ctx, &m->table, NULL, NULL, 16, 100, GBT_UNSEEN_MISSING, &all, err);
  if (status == GBT_OK) status = gbt_dataset_mask(&ctx, all, mask, 1, &part, err);
  if (status == GBT_OK) status = gbt_dataset_gather(&ctx, part, &copy, err);
  gbt_dataset_unref(all);
  gbt_dataset_unref(part);
  gbt_dataset_unref(copy);
  gbt_ctx_close(&ctx);
  free(mask);
  return status;
}

static void no_memory(void) {
  made_kind wide[20];
  for (int c = 0; c < 20; c++) wide[c] = c < 18 ? MADE_ZEROS : MADE_LEVELS;
  made *m = case_table(3, 300, 20, wide);
  CHECK(fault_sweep(mask_and_gather, m) > 20);
  made_free(m);
}

void suite_copied(void) {
  RUN(codes_lists_and_levels);
  RUN(many_levels_and_rows);
  RUN(all_rows_and_none);
  RUN(trainings);
  RUN(no_memory);
}
