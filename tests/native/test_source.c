/* Data sets made from chunks: the bytes that a table in memory gives, however it is cut. */
#include "../../src/gbt/data/feed.h"
#include "chunks.h"
#include "clock.h"
#include "datasets.h"
#include "fault.h"
#include "naive_cuts.h"
#include "pages.h"
#include "ranks.h"
#include "tables.h"

/* ---- both ways ---- */

/* How a data set is made; from the table itself when rows < 0. */
typedef struct how {
  int64_t rows; /* of a chunk; 0: of any number */
  int unknown;  /* the source does not know its rows */
  size_t bytes; /* for columns that are fetched; 0: the default */
  int threads;
  uint64_t seed;
} how;

typedef struct work {
  const tables *table;
  const double *weight;
  const gbt_dataset *reference;
  int32_t max_bin, page_rows;
  gbt_unseen unseen;
} work;

static gbt_dataset_spec spec_of(const work *w) {
  return (gbt_dataset_spec){.table = &w->table->table,
                            .reference = w->reference,
                            .weight = w->weight,
                            .max_bin = w->max_bin,
                            .page_rows = w->page_rows,
                            .unseen = w->unseen};
}

static gbt_dataset *make_whole(const work *w) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_dataset_spec spec = spec_of(w);
  gbt_dataset *ds = NULL;
  CHECK_OK(gbt_dataset_make(&ctx, &spec, &ds, test_err));
  gbt_ctx_close(&ctx);
  return ds;
}

static gbt_status make_cut(gbt_ctx *ctx, const work *w, chunks *c, size_t bytes, gbt_dataset **out, gbt_error *err) {
  gbt_dataset_spec spec = spec_of(w);
  spec.table = NULL;
  spec.source = &c->source;
  spec.source_bytes = bytes;
  return gbt_dataset_make(ctx, &spec, out, err);
}

static void same_dataset(const gbt_dataset *a, const gbt_dataset *b) {
  REQUIRE(a != NULL && b != NULL);
  CHECK(a->rows.n == b->rows.n && a->all_rows == b->all_rows && a->rows.before == b->rows.before);
  same_all_cuts(a->cuts, b->cuts);
  same_stores(a->pages, b->pages);
  CHECK_EQ_I64(a->pages->info.n_entries, b->pages->info.n_entries);
}

/* Returns the number of passes. */
static int64_t same_in_chunks(const work *w, const gbt_dataset *want, how h) {
  gbt_ctx ctx = test_ctx(NULL, h.threads);
  gbt_dataset *ds = NULL;
  chunks *c = chunks_new(&w->table->table, h.rows, h.seed);
  if (h.unknown) c->source.n_rows = -1;
  if (CHECK_OK(make_cut(&ctx, w, c, h.bytes, &ds, test_err))) same_dataset(ds, want);
  const int64_t n = c->n_passes;
  gbt_dataset_unref(ds);
  chunks_free(c);
  gbt_ctx_close(&ctx);
  return n;
}

/* ---- what comes out ---- */

/* Chunks of every size up to the number of rows and beyond, columns of all kinds. */
static void chunks_of_every_size(void) {
  enum { ROWS = 61 };
  test_rng rng = {1};
  tables *t = tables_of_all(&rng, (tables_shape){ROWS, N_DRAWS, 5, 6, 0}, TABLES_LEVELS);
  const work w = {t, NULL, NULL, 9, 10, GBT_UNSEEN_MISSING};
  gbt_dataset *want = make_whole(&w);
  for (int64_t rows = 1; rows <= ROWS + 2; rows++)
    same_in_chunks(&w, want, (how){rows, (int)(rows % 2), 0, 1 + (int)(rows % 2), (uint64_t)rows % 3});
  gbt_dataset_unref(want);
  tables_free(t);
}

/* Sizes at which columns are sorted, sampled, read, binned and sparse lists filled in another way, and their
 * neighbours, as the rows of a chunk and of the table. */
static void around_every_constant(void) {
  static const int64_t at[] = {1000, 1024, 4096, 8192, 16384, 32768};
  test_rng rng = {2};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (int64_t rows = at[i] - 1; rows <= at[i] + 1; rows++) {
      tables *t = tables_of_all(&rng, (tables_shape){rows + test_below(&rng, rows), 5, 2, 3, 0}, TABLES_LEVELS);
      const work w = {t, tables_weights(t, &rng, (int)(rows % 3)), NULL, 64, i % 2 ? 0 : (int32_t)rows + 5,
                      GBT_UNSEEN_MISSING};
      gbt_dataset *want = make_whole(&w);
      same_in_chunks(&w, want, (how){rows, 0, 0, 2, 1});
      gbt_dataset_unref(want);
      tables_free(t);
    }
}

/* Everything by chance: columns, sizes, weights, pages, budgets, threads, validation data with levels of their own. */
static void any_tables(void) {
  int64_t n_bundles = 0, n_sparse = 0, n_unseen = 0, n_passes = 0;
  for (uint64_t seed = 0; seed < 120; seed++) {
    test_rng rng = {1000 * seed};
    tables_shape s = {test_below(&rng, seed % 3 ? 400 : 3000), (int)test_below(&rng, N_DRAWS), (int)test_below(&rng, 7),
                      (int)test_below(&rng, 9), seed % 5 == 0};
    if (s.n_numbers + s.n_codes + s.n_sparse == 0) s.n_numbers = 1;
    tables *t = tables_of_all(&rng, s, TABLES_LEVELS - 1), *other = tables_of_all(&rng, s, TABLES_LEVELS);
    for (int32_t c = 0; c < t->table.n_cols; c++)
      if (t->cols[c].type == GBT_CATEGORICAL && test_below(&rng, 2))
        t->cols[c].derive = other->cols[c].derive = 1u << GBT_FEATURE_LEVEL_COUNT;
    work w = {t, tables_weights(t, &rng, (int)test_below(&rng, 5)), NULL, 2 + (int32_t)test_below(&rng, 100),
              (int32_t)test_below(&rng, 300), GBT_UNSEEN_MISSING};
    how h = {test_below(&rng, 2) ? 0 : 1 + test_below(&rng, 500), w.weight == NULL && test_below(&rng, 2),
             (size_t)test_below(&rng, 3) * 5000, 1 + (int)test_below(&rng, 2), seed};
    gbt_dataset *train = make_whole(&w), *valid;
    n_passes += same_in_chunks(&w, train, h);
    w.table = other;
    w.weight = NULL;
    w.reference = train;
    w.unseen = seed % 2 ? GBT_UNSEEN_PRIOR : GBT_UNSEEN_MISSING;
    valid = make_whole(&w);
    n_passes += same_in_chunks(&w, valid, h);
    n_bundles += train->pages->info.layout.n_bundles + valid->pages->info.layout.n_bundles;
    n_sparse += train->pages->info.layout.n_sparse;
    n_unseen += valid->pages->info.unseen_beg != NULL;
    gbt_dataset_unref(train);
    gbt_dataset_unref(valid);
    tables_free(t);
    tables_free(other);
  }
  test_note("%" PRId64 " bundles, %" PRId64 " sparse features, %" PRId64 " tables with unknown levels, %" PRId64
            " passes",
            n_bundles, n_sparse, n_unseen, n_passes);
  CHECK(n_bundles > 20 && n_sparse > 20 && n_unseen > 20);
}

void suite_source(void) {
  RUN(chunks_of_every_size);
  RUN(around_every_constant);
  RUN(any_tables);
}
