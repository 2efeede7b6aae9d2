/* Data sets made from chunks: the bytes that a table in memory gives, however it is cut. Sources that are wrong or
 * fail: test_source_faults.c. */
#include "chunks.h"
#include "datasets.h"
#include "fault.h"
#include "naive_cuts.h"
#include "pages.h"
#include "ranks.h"
#include "sweep.h"
#include "tables.h"

/* ---- both ways ---- */

/* How a data set is made of chunks. */
typedef struct how {
  int64_t rows; /* of a chunk; 0: of any number */
  int unknown;  /* the source does not know its rows */
  size_t bytes; /* for columns that are fetched; 0: the default */
  int threads;
  uint64_t seed;
} how;

/* Returns the number of passes. */
static int64_t same_in_chunks(const dataset_work *w, const gbt_dataset *want, how h) {
  gbt_ctx ctx = test_ctx(NULL, h.threads);
  gbt_dataset *ds = NULL;
  chunks *c = chunks_new(&w->table->table, h.rows, h.seed);
  if (h.unknown) c->source.n_rows = -1;
  if (CHECK_OK(dataset_in_chunks(&ctx, w, c, h.bytes, &ds, test_err))) same_datasets(ds, want);
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
  const dataset_work w = {t, NULL, NULL, 9, 10, GBT_UNSEEN_MISSING};
  gbt_dataset *want = dataset_whole(&w);
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
      const dataset_work w = {
          t, tables_weights(t, &rng, (int)(rows % 3)), NULL, 64, i % 2 ? 0 : (int32_t)rows + 5, GBT_UNSEEN_MISSING};
      gbt_dataset *want = dataset_whole(&w);
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
    dataset_work w = {t,
                      tables_weights(t, &rng, (int)test_below(&rng, 5)),
                      NULL,
                      2 + (int32_t)test_below(&rng, 100),
                      (int32_t)test_below(&rng, 300),
                      GBT_UNSEEN_MISSING};
    how h = {test_below(&rng, 2) ? 0 : 1 + test_below(&rng, 500), w.weight == NULL && test_below(&rng, 2),
             (size_t)test_below(&rng, 3) * 5000, 1 + (int)test_below(&rng, 2), seed};
    gbt_dataset *train = dataset_whole(&w), *valid;
    n_passes += same_in_chunks(&w, train, h);
    w.table = other;
    w.weight = NULL;
    w.reference = train;
    w.unseen = seed % 2 ? GBT_UNSEEN_PRIOR : GBT_UNSEEN_MISSING;
    valid = dataset_whole(&w);
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

/* Codes of 16 bits, of columns and of bundles. */
static void many_bins(void) {
  test_rng rng = {9};
  tables *t = tables_of_all(&rng, (tables_shape){3000, N_DRAWS, 2, 8, 0}, TABLES_LEVELS);
  const dataset_work w = {t, tables_weights(t, &rng, 2), NULL, 1000, 777, GBT_UNSEEN_MISSING};
  gbt_dataset *want = dataset_whole(&w);
  int32_t n_wide = 0;
  for (int32_t g = 0; g < want->pages->info.layout.n_groups; g++) n_wide += want->pages->info.layout.group[g].wide;
  CHECK(n_wide > 0);
  for (uint64_t k = 1; k < 5; k++) same_in_chunks(&w, want, (how){k == 1 ? 123 : 0, 0, 0, 2, k});
  gbt_dataset_unref(want);
  tables_free(t);
}

static void rows_of_a_chunk(int64_t rows) {
  test_rng rng = {(uint64_t)rows};
  tables *t = tables_of_all(&rng, (tables_shape){3 * rows + 1, 3, 1, 2, 0}, TABLES_LEVELS);
  const dataset_work w = {t, NULL, NULL, 30, 0, GBT_UNSEEN_MISSING};
  gbt_dataset *want = dataset_whole(&w);
  same_in_chunks(&w, want, (how){rows, 1, 0, 1, 0});
  gbt_dataset_unref(want);
  tables_free(t);
}

static void chunks_of_any_number_of_rows(void) {
  const sweep_range range = {.low = 1, .high = 20000, .dense = 40, .high_long = 200000, .all_long = 1100};
  sweep(rows_of_a_chunk, &range);
}

/* Around what one, two and three columns take: fewer columns at a time cost more passes, and always at least one is
 * fetched. */
static void budgets_of_any_size(void) {
  enum { ROWS = 500, COLS = 7 };
  test_rng rng = {6};
  tables *t = tables_of_all(&rng, (tables_shape){ROWS, COLS, 0, 0, 0}, TABLES_LEVELS);
  const dataset_work w = {t, NULL, NULL, 30, 0, GBT_UNSEEN_MISSING};
  gbt_dataset *want = dataset_whole(&w);
  int64_t before = INT64_MAX;
  for (size_t bytes = 1; bytes < 10 * ROWS * 8; bytes = bytes < ROWS * 2 ? bytes * 3 : bytes + ROWS * 2)
    for (size_t off = 0; off < 3; off++) {
      int64_t n = same_in_chunks(&w, want, (how){77, 0, bytes + off, 1, 0});
      CHECK(n <= before && n <= COLS + 3);
      before = n;
    }
  CHECK_EQ_I64(before, 3);
  gbt_dataset_unref(want);
  tables_free(t);
}

/* Dense columns of which each row has one, so many rows that they are tried on samples first. */
static void dense_columns_share_columns(void) {
  enum { ROWS = 21000, COLS = 12 };
  test_rng rng = {4};
  tables *t = tables_new(ROWS);
  double *x = test_alloc((size_t)ROWS * COLS * sizeof *x);
  memset(x, 0, (size_t)ROWS * COLS * sizeof *x);
  for (int64_t r = 0; r < ROWS; r++) x[test_below(&rng, COLS) * ROWS + r] = (double)(1 + test_below(&rng, 3));
  for (int c = 0; c < COLS; c++) tables_f64(t, (char[3]){'x', (char)('a' + c), 0}, x + (size_t)c * ROWS);
  free(x);
  dataset_work w = {t, NULL, NULL, 9, 0, GBT_UNSEEN_MISSING};
  gbt_dataset *want = dataset_whole(&w);
  CHECK(want->pages->info.layout.n_bundles > 0);
  for (uint64_t k = 1; k < 4; k++) same_in_chunks(&w, want, (how){k == 1 ? 700 : 0, 0, k * 20000, 2, k});
  w.reference = want;
  same_in_chunks(&w, want, (how){700, 0, 0, 2, 1});
  gbt_dataset_unref(want);
  tables_free(t);
}

/* Entries that are zeros: in the first chunk as many entries as there are other ones in the whole column. */
static void entries_that_are_zeros(void) {
  enum { ROWS = 400, CHUNK = 100, COLS = 4 };
  tables *t = tables_new(ROWS);
  for (int c = 0; c < COLS; c++) {
    gbt_column *col = tables_sparse(t, (char[3]){'x', (char)('a' + c), 0}, (double[ROWS]){0}, GBT_F64, 0);
    int32_t *row = tables_keep(t, NULL, ROWS * sizeof *row);
    double *value = tables_keep(t, NULL, ROWS * sizeof *value);
    for (int r = 0; r < ROWS; r++) {
      int zero = r < CHUNK && r % 8 == 2 * c, one = r % 8 == 2 * c + 1 && (r < CHUNK || r >= ROWS - CHUNK);
      if (!zero && !one) continue;
      row[col->n_entries] = r;
      value[col->n_entries++] = one;
    }
    col->rows = row;
    col->values = value;
  }
  const dataset_work w = {t, NULL, NULL, 9, 0, GBT_UNSEEN_MISSING};
  gbt_dataset *want = dataset_whole(&w);
  CHECK_EQ_I64(want->pages->info.layout.n_bundles, 1);
  for (int64_t rows = 90; rows < 110; rows++) same_in_chunks(&w, want, (how){rows, 0, 0, 1, 0});
  gbt_dataset_unref(want);
  tables_free(t);
}

/* ---- one chunk ---- */

/* A first chunk of all rows is read as a table is: one pass, nothing copied. */
static void one_chunk_is_a_table(void) {
  test_rng rng = {3};
  tables *t = tables_of_all(&rng, (tables_shape){300, 5, 3, 2, 0}, TABLES_LEVELS);
  const dataset_work w = {t, NULL, NULL, 20, 50, GBT_UNSEEN_MISSING};
  gbt_dataset *want = dataset_whole(&w);
  CHECK_EQ_I64(same_in_chunks(&w, want, (how){300, 0, 0, 2, 0}), 1);
  CHECK_EQ_I64(same_in_chunks(&w, want, (how){1000, 0, 0, 2, 0}), 1);
  CHECK(same_in_chunks(&w, want, (how){300, 1, 0, 2, 0}) > 1);
  gbt_dataset_unref(want);
  tables_free(t);
}

/* The engine never holds the table: no more than the pages, the columns that are fetched with what their cuts need, the
 * grid of one column and what rows of bundles take. */
static void memory_is_bounded(void) {
  enum { ROWS = 60000, COLS = 40, FETCH = 1 << 20 };
  test_rng rng = {7};
  tables *t = tables_new(ROWS);
  double *x = test_alloc(ROWS * sizeof *x);
  for (int c = 0; c < COLS; c++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", c);
    for (int r = 0; r < ROWS; r++) x[r] = tables_draw(&rng, c % 2 ? DRAW_ZEROS : DRAW_BELL);
    tables_f64(t, name, x);
  }
  fault f;
  gbt_ctx ctx;
  gbt_dataset *ds = NULL;
  fault_start(&f, 0, 0);
  REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  chunks *c = chunks_new(&t->table, 1000, 0);
  const dataset_work w = {t, NULL, NULL, 255, 0, GBT_UNSEEN_MISSING};
  CHECK_OK(dataset_in_chunks(&ctx, &w, c, FETCH, &ds, test_err));
  const int64_t raw = (int64_t)ROWS * COLS * 8, pages = ds != NULL ? (int64_t)gbt_pages_bytes(ds->pages) : 0;
  const int64_t most = pages + FETCH + (1 << 20) + ROWS / 8 * 64;
  test_note("%" PRId64 " KB of values, %" PRId64 " KB of pages, at most %" PRId64 " KB held, chunks of %zu KB, %" PRId64
            " passes",
            raw >> 10, pages >> 10, (int64_t)f.bytes_peak >> 10, c->most_bytes >> 10, c->n_passes);
  CHECK(f.bytes_peak <= most && most < raw / 3);
  gbt_dataset_unref(ds);
  chunks_free(c);
  gbt_ctx_close(&ctx);
  CHECK_EQ_I64(f.n_live, 0);
  free(x);
  tables_free(t);
}

/* ---- ranks ---- */

typedef struct shared_job {
  const tables *whole;
  const double *weight;
  int64_t beg[RANKS_MOST + 1];
  gbt_dataset *ds[RANKS_MOST];
  gbt_status status[RANKS_MOST];
  uint64_t seed;
} shared_job;

/* Rows [beg, end) of a table, as the chunk source cuts them. */
typedef struct rank_table {
  chunks *c;
  const gbt_table *table;
} rank_table;

static rank_table rows_of(gbt_ctx *ctx, const gbt_table *whole, int64_t beg, int64_t end) {
  rank_table t = {chunks_new(whole, end - beg > 0 ? end - beg : 1, 0), NULL};
  t.c->at = beg;
  t.c->rows = end - beg;
  if (t.c->source.next(t.c, ctx, &t.table, NULL) != GBT_OK) exit(2);
  return t;
}

/* Ranks in turn: a table, chunks that know their rows, chunks that do not. */
static void one_rank(void *arg, const gbt_comm *comm) {
  shared_job *job = arg;
  const int r = comm->rank;
  gbt_ctx ctx = test_ctx(NULL, 1);
  ctx.comm = comm;
  gbt_error err;
  rank_table mine = rows_of(&ctx, &job->whole->table, job->beg[r], job->beg[r + 1]);
  const uint64_t way = ((uint64_t)r + job->seed) % 3;
  chunks *c = chunks_new(mine.table, way == 1 ? 11 : 0, job->seed);
  if (way == 2 && job->weight == NULL) c->source.n_rows = -1;
  const gbt_dataset_spec spec = {.table = way == 0 ? mine.table : NULL,
                                 .source = way == 0 ? NULL : &c->source,
                                 .source_bytes = 500,
                                 .weight = job->weight != NULL ? job->weight + job->beg[r] : NULL,
                                 .max_bin = 13,
                                 .page_rows = 17};
  job->status[r] = gbt_dataset_make(&ctx, &spec, &job->ds[r], &err);
  chunks_free(c);
  chunks_free(mine.c);
  gbt_ctx_close(&ctx);
}

/* Shares in chunks have the cuts of all rows. */
static void ranks_with_chunks(void) {
  for (uint64_t seed = 1; seed < 10; seed++) {
    test_rng rng = {seed};
    const int size = 2 + (int)test_below(&rng, 3);
    tables *t = tables_of_all(&rng, (tables_shape){test_below(&rng, 200), 6, 5, 3, 0}, TABLES_LEVELS);
    for (int32_t c = 0; c < t->table.n_cols; c++)
      if (t->cols[c].type == GBT_CATEGORICAL) t->cols[c].derive = 1u << GBT_FEATURE_LEVEL_COUNT;
    shared_job job = {.whole = t, .weight = tables_weights(t, &rng, (int)seed % 3), .seed = seed};
    for (int r = 1; r <= size; r++)
      job.beg[r] =
          r == size ? t->table.n_rows : job.beg[r - 1] + test_below(&rng, (t->table.n_rows - job.beg[r - 1]) / 2 + 1);
    const dataset_work w = {t, job.weight, NULL, 13, 17, GBT_UNSEEN_MISSING};
    gbt_dataset *want = dataset_whole(&w);
    ranks_run(size, one_rank, &job);
    for (int r = 0; r < size; r++) {
      CHECK_EQ_I64(job.status[r], GBT_OK);
      if (job.ds[r] == NULL || want == NULL) continue;
      same_all_cuts(job.ds[r]->cuts, want->cuts);
      CHECK_EQ_I64(job.ds[r]->rows.n, job.beg[r + 1] - job.beg[r]);
      CHECK_EQ_I64(job.ds[r]->rows.before, job.beg[r]);
      CHECK_EQ_I64(job.ds[r]->all_rows, t->table.n_rows);
      gbt_dataset_unref(job.ds[r]);
    }
    gbt_dataset_unref(want);
    tables_free(t);
  }
}

void suite_source(void) {
  RUN(chunks_of_every_size);
  RUN(around_every_constant);
  RUN(any_tables);
  RUN(many_bins);
  RUN(chunks_of_any_number_of_rows);
  RUN(budgets_of_any_size);
  RUN(dense_columns_share_columns);
  RUN(entries_that_are_zeros);
  RUN(one_chunk_is_a_table);
  RUN(memory_is_bounded);
  RUN(ranks_with_chunks);
}
