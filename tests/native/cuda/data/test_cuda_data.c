/* Cuts and pages made on the device: the bytes that the CPU makes. */
#include "../../src/gbt/backend/device_api.h"
#include "chunks.h"
#include "clock.h"
#include "datasets.h"
#include "fault.h"
#include "naive_cuts.h"
#include "pages.h"
#include "schedules.h"

/* ---- both ---- */

typedef struct counts {
  int64_t cuts, cells, pages, bundles, sparse, unseen, wide;
} counts;

const gbt_device_api *gbt_cuda_api(void);

/* What is left to the CPU, and how much goes at once: see gbt_offload. */
typedef struct sizes {
  int64_t least, chunk;
} sizes;

static gbt_status open_with(gbt_ctx *ctx, sizes how, gbt_offload **out, gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->data(ctx, 0, out, err));
  (*out)->least_entries = (*out)->least_cells = how.least;
  (*out)->chunk = how.chunk;
  return GBT_OK;
}

static void close_help(gbt_offload *help) {
  if (help != NULL) help->close(help);
}

static gbt_status cuts_with(gbt_ctx *ctx, sizes how, const gbt_table *table, const double *w, int32_t max_bin,
                            gbt_cuts **out, gbt_error *err) {
  gbt_offload *help = NULL;
  gbti_feed feed;
  GBT_TRY(open_with(ctx, how, &help, err));
  gbt_status status = gbti_feed_open(ctx, table, NULL, GBTI_FETCH_BYTES, &feed, err);
  if (status == GBT_OK) status = gbti_cuts_build(ctx, &feed, w, max_bin, help, out, err);
  gbti_feed_close(&feed);
  close_help(help);
  return status;
}

static gbt_status pages_with(gbt_ctx *ctx, sizes how, const gbt_binding *binding, const gbt_cuts *cuts,
                             int32_t page_rows, int own, gbt_page_store **out, gbt_error *err) {
  gbti_page_how made = {.own_cuts = own};
  GBT_TRY(open_with(ctx, how, &made.offload, err));
  gbti_feed feed = gbti_feed_of(ctx, binding);
  gbt_status status = gbti_pages_build(ctx, &feed, cuts, page_rows, made, out, err);
  close_help(made.offload);
  return status;
}

static gbt_cuts *same_cuts_of(const tables *t, const double *w, int32_t max_bin, sizes how, int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  gbt_cuts *cpu = NULL, *device = NULL;
  CHECK_OK(gbt_cuts_build(&ctx, &t->table, w, max_bin, &cpu, test_err));
  CHECK_OK(cuts_with(&ctx, how, &t->table, w, max_bin, &device, test_err));
  gbt_ctx_close(&ctx);
  same_all_cuts(cpu, device);
  gbt_cuts_unref(device);
  return cpu;
}

static void same_pages_of(const tables *t, const gbt_cuts *cuts, gbt_unseen unseen, int own, int32_t page_rows,
                          sizes how, int n_threads, counts *seen) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  gbt_binding *binding = NULL;
  gbt_page_store *cpu = NULL, *device = NULL;
  CHECK_OK(gbt_binding_new(&ctx, &t->table, cuts->schema, unseen, &binding, test_err));
  if (binding != NULL) {
    const gbti_page_how here = {.own_cuts = own};
    gbti_feed feed = gbti_feed_of(&ctx, binding);
    CHECK_OK(gbti_pages_build(&ctx, &feed, cuts, page_rows, here, &cpu, test_err));
    CHECK_OK(pages_with(&ctx, how, binding, cuts, page_rows, own, &device, test_err));
  }
  same_stores(cpu, device);
  if (cpu != NULL) {
    seen->pages += cpu->info.n_pages;
    seen->cells += cpu->info.n_rows * cpu->info.layout.n_features;
    seen->bundles += cpu->info.layout.n_bundles;
    seen->sparse += cpu->info.layout.n_sparse;
    seen->unseen += cpu->info.unseen_beg != NULL;
    for (int32_t g = 0; g < cpu->info.layout.n_groups; g++) seen->wide += cpu->info.layout.group[g].wide;
  }
  gbt_page_store_unref(cpu);
  gbt_page_store_unref(device);
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
}

static void one_table(uint64_t seed, tables_shape s, int32_t max_bin, counts *seen) {
  test_rng rng = {seed * 1000};
  tables *t = tables_of_all(&rng, s, TABLES_LEVELS - 1), *other = tables_of_all(&rng, s, TABLES_LEVELS);
  const double *w = tables_weights(t, &rng, (int)test_below(&rng, 5));
  sizes how = {0, 1 + test_below(&rng, 3) * 700};
  int32_t page_rows = test_below(&rng, 2) ? 0 : 1 + (int32_t)test_below(&rng, 700);
  int n_threads = 1 + (int)test_below(&rng, 2);
  if (page_rows > 0 && s.n_rows / page_rows > 20) page_rows = 200; /* every step is a launch */
  if (how.chunk < 50) how.chunk = s.n_rows < 100 ? 7 : 150;
  gbt_cuts *cuts = same_cuts_of(t, w, max_bin, how, n_threads);
  if (cuts != NULL) {
    for (int32_t f = 0; f < cuts->n_features; f++) seen->cuts += cuts->feat[f].n_bins;
    same_pages_of(t, cuts, GBT_UNSEEN_MISSING, 1, page_rows, how, n_threads, seen);
    same_pages_of(other, cuts, seed % 2 ? GBT_UNSEEN_PRIOR : GBT_UNSEEN_MISSING, 0, page_rows, how, n_threads, seen);
  }
  gbt_cuts_unref(cuts);
  tables_free(t);
  tables_free(other);
}

static void tell(const counts *seen) {
  test_note("%" PRId64 " bins, %" PRId64 " cells on %" PRId64 " pages, %" PRId64 " bundles, %" PRId64
            " sparse features, %" PRId64 " wide groups, %" PRId64 " tables with unknown levels",
            seen->cuts, seen->cells, seen->pages, seen->bundles, seen->sparse, seen->wide, seen->unseen);
}

static const int32_t bins[] = {2, 3, 4, 5, 8, 17, 64, 255, 256, 300, 4096, 65535};
enum { N_BINS = 12 };

static void short_tables(void) {
  static const int64_t rows[] = {0, 1, 2, 3, 17, 33, 64, 100, 257};
  counts seen = {0};
  for (int i = 0; i < 36; i += test_few() ? 5 : 1) {
    tables_shape s = {rows[i % 9], N_DRAWS, 3, i % 4 == 1 ? 3 : 0, i % 5 == 4};
    one_table((uint64_t)i + 1, s, bins[i % N_BINS], &seen);
  }
  tell(&seen);
  CHECK_SEEN(seen.cuts > 0 && seen.unseen > 0);
}

static void longer_tables(void) {
  counts seen = {0};
  for (int i = 0; i < 12; i += test_few() ? 3 : 1) {
    tables_shape s = {1500 + 277 * i, N_DRAWS, 5, i % 2 ? 0 : 9, i % 5 == 4};
    one_table((uint64_t)i + 100, s, bins[i], &seen);
  }
  tell(&seen);
  CHECK_SEEN(seen.bundles > 0 && seen.sparse > 0 && seen.wide > 0 && seen.unseen > 0);
}

/* Few values, and a few bins less: every rank shows. Absent entries weigh much, or next to nothing. */
static void exact_ranks(void) {
  test_rng rng = {5};
  sizes how = {0, 20};
  for (int rep = 0; rep < 160; rep++) {
    int64_t n = 4 + test_below(&rng, 40);
    tables *t = tables_new(n);
    double x[44];
    t->table.absent_missing = rep % 8 == 7;
    for (int c = 0; c < 4; c++) {
      char name[24];
      snprintf(name, sizeof name, "x%d", c);
      int64_t zeros = test_below(&rng, 4), spread = 2 + test_below(&rng, 60);
      for (int64_t i = 0; i < n; i++)
        x[i] = test_below(&rng, 4) < zeros ? 0.0 : (double)(test_below(&rng, spread) - spread / 3);
      if (c % 2)
        tables_sparse(t, name, x, GBT_F64, (int32_t)test_below(&rng, 3));
      else
        tables_f64(t, name, x);
    }
    const double *w = rep % 3 ? NULL : tables_weights(t, &rng, 1 + rep % 2);
    gbt_cuts_unref(same_cuts_of(t, w, 2 + (int32_t)test_below(&rng, 12), how, 1));
    tables_free(t);
  }
}

/* A count is a number per row of a factor, which may be the longest column, or the only one. */
static void counts_of_levels(void) {
  static const char *const levels[] = {"a", "b", "c", "d", "e"};
  test_rng rng = {8};
  int32_t code[300];
  double few[300];
  counts seen = {0};
  for (int i = 0; i < 12; i++) {
    const int64_t n = i < 4 ? i : 300;
    const sizes how = {0, i % 2 ? 40 : 4000};
    tables *t = tables_new(n);
    for (int64_t r = 0; r < n; r++) code[r] = (int32_t)test_below(&rng, 6), few[r] = r % 50 == 0 ? 1.0 : 0.0;
    if (i % 3 == 1) tables_sparse(t, "few", few, GBT_F64, 0);
    tables_codes(t, "f", GBT_CATEGORICAL, code, levels, 5)->derive = 1u << GBT_FEATURE_LEVEL_COUNT;
    gbt_cuts *cuts = same_cuts_of(t, tables_weights(t, &rng, i % 2), 255, how, 1);
    if (cuts != NULL) same_pages_of(t, cuts, GBT_UNSEEN_MISSING, 1, 0, how, 1, &seen);
    gbt_cuts_unref(cuts);
    tables_free(t);
  }
}

/* Around the number of cuts that fit into shared memory. */
static void many_bins(void) {
  enum { N = 2200 };
  test_rng rng = {6};
  counts seen = {0};
  double *x = test_alloc(N * sizeof *x);
  sizes how = {0, 4000};
  for (int32_t max_bin = 1023; max_bin <= 1026; max_bin++) {
    tables *t = tables_new(N);
    for (int i = 0; i < N; i++) x[i] = test_unit(&rng);
    tables_f64(t, "x", x);
    gbt_cuts *cuts = same_cuts_of(t, NULL, max_bin, how, 1);
    if (cuts != NULL) same_pages_of(t, cuts, GBT_UNSEEN_MISSING, 1, 0, how, 1, &seen);
    if (cuts != NULL) CHECK_EQ_I64(cuts->feat[0].n_bins, max_bin);
    gbt_cuts_unref(cuts);
    tables_free(t);
  }
  free(x);
}

/* More columns than a strip has; bundles and columns in one group. */
static void wide_tables(void) {
  counts seen = {0};
  for (int i = 0; i < 4; i++) {
    tables_shape s = {300, 70 + 23 * i, 7, 6 * i, 0};
    one_table((uint64_t)i + 200, s, i % 2 ? 300 : 16, &seen);
  }
  tell(&seen);
  CHECK(seen.bundles > 0);
}

/* Weights alone decide what is heavy, and which values count at all. */
static void heavy_and_weightless(void) {
  enum { N = 2600 };
  test_rng rng = {7};
  sizes how = {0, 1000};
  for (int rep = 0; rep < 8; rep++) {
    tables *t = tables_new(N);
    double *x = test_alloc(N * sizeof *x), *w = test_alloc(N * sizeof *w);
    for (int i = 0; i < N; i++) {
      x[i] = rep % 2 ? (double)test_below(&rng, 40) - 20.0 : test_bell(&rng);
      w[i] = x[i] > 0.5 && x[i] < 9.0 ? 0.0 : test_below(&rng, 100) ? 1.0 : 1000.0;
      if (rep >= 6) w[i] = rep == 6 ? 0.0 : i == 1700 ? 3.0 : 0.0; /* no value counts; one does */
    }
    tables_f64(t, "dense", x);
    tables_sparse(t, "sparse", x, GBT_F64, 3);
    for (int b = 0; b < 8; b += 2) gbt_cuts_unref(same_cuts_of(t, w, bins[b], how, 1));
    free(x);
    free(w);
    tables_free(t);
  }
}

/* Columns that are too short for the device, and pages that are too small, are made here: nothing shows. */
static void left_to_the_cpu(void) {
  test_rng rng = {9};
  counts seen = {0};
  tables_shape s = {400, N_DRAWS, 3, 3, 0};
  tables *t = tables_of_all(&rng, s, TABLES_LEVELS);
  static const int64_t least[] = {1, 100, 401, INT64_MAX};
  for (int i = 0; i < 4; i++) {
    sizes how = {least[i], 64};
    gbt_cuts *cuts = same_cuts_of(t, NULL, 32, how, 2);
    how.least *= i == 3 ? 1 : 20;
    if (cuts != NULL) same_pages_of(t, cuts, GBT_UNSEEN_MISSING, 1, 150, how, 2, &seen);
    gbt_cuts_unref(cuts);
  }
  tables_free(t);
}

/* ---- data sets ---- */

static const sizes all = {0, 500};

/* A data set with all of the work on the device. */
static gbt_status make_there(gbt_ctx *ctx, const tables *t, gbt_cuts *cuts, const double *w, int32_t max_bin,
                             int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err) {
  gbt_offload *help = NULL;
  *out = NULL;
  GBT_TRY(open_with(ctx, all, &help, err));
  gbt_status status = dataset_helped(ctx, help, &t->table, cuts, w, max_bin, page_rows, unseen, out, err);
  close_help(help);
  return status;
}

static gbt_status make_here(gbt_ctx *ctx, const tables *t, gbt_cuts *cuts, const double *w, int32_t max_bin,
                            int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err) {
  return dataset_from(ctx, &t->table, cuts, w, max_bin, page_rows, unseen, out, err);
}

static void data_sets(void) {
  test_rng rng = {11};
  tables_shape s = {700, N_DRAWS, 5, 4, 0};
  tables *t = tables_of_all(&rng, s, TABLES_LEVELS - 1), *u = tables_of_all(&rng, s, TABLES_LEVELS);
  const double *w = tables_weights(t, &rng, 2);
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_dataset *ds[4] = {NULL, NULL, NULL, NULL}; /* of t, of u; here, there */
  for (int k = 0; k < 2; k++) {
    gbt_status (*make)(gbt_ctx *, const tables *, gbt_cuts *, const double *, int32_t, int32_t, gbt_unseen,
                       gbt_dataset **, gbt_error *) = k ? make_there : make_here;
    CHECK_OK(make(&ctx, t, NULL, w, 40, 300, GBT_UNSEEN_PRIOR, &ds[k], test_err));
    if (ds[k] != NULL) CHECK_OK(make(&ctx, u, ds[k]->cuts, NULL, 40, 300, GBT_UNSEEN_PRIOR, &ds[2 + k], test_err));
  }
  gbt_ctx_close(&ctx);
  for (int k = 0; k < 4; k += 2) {
    REQUIRE(ds[k] != NULL && ds[k + 1] != NULL);
    same_all_cuts(ds[k]->cuts, ds[k + 1]->cuts);
    same_stores(ds[k]->pages, ds[k + 1]->pages);
  }
  CHECK(ds[2]->pages->info.unseen_beg != NULL);
  for (int k = 0; k < 4; k++) gbt_dataset_unref(ds[k]);
  tables_free(t);
  tables_free(u);
}

/* Chunks: the device cuts fetched columns and bins the chunks that are large enough, together with those that are not.
 * */
/* Levels that have no bin, with their counts; the validation data have levels that are unknown besides. */
static void levels_beyond_the_bins(void) {
  enum { LEVELS = GBT_MAX_LEVELS + 6, N = LEVELS + 100 };
  char(*text)[16] = test_alloc(sizeof(char[N][16]));
  const char **level = test_alloc(N * sizeof *level);
  int32_t *code = test_alloc(N * sizeof *code);
  for (int i = 0; i < N; i++) {
    snprintf(text[i], sizeof text[i], "v%d", i);
    level[i] = text[i];
    code[i] = i % LEVELS + 1;
  }
  tables *t = tables_new(N), *u = tables_new(N);
  tables_codes(t, "f", GBT_CATEGORICAL, code, level, LEVELS)->derive = 1u << GBT_FEATURE_LEVEL_COUNT;
  tables_codes(u, "f", GBT_CATEGORICAL, code, level + (N - LEVELS), LEVELS)->derive = 1u << GBT_FEATURE_LEVEL_COUNT;
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_dataset *here = NULL, *there = NULL, *valid_here = NULL, *valid_there = NULL;
  REQUIRE_OK(make_here(&ctx, t, NULL, NULL, 40, 0, GBT_UNSEEN_PRIOR, &here, test_err));
  REQUIRE_OK(make_there(&ctx, t, NULL, NULL, 40, 0, GBT_UNSEEN_PRIOR, &there, test_err));
  REQUIRE_OK(make_here(&ctx, u, here->cuts, NULL, 40, 0, GBT_UNSEEN_PRIOR, &valid_here, test_err));
  REQUIRE_OK(make_there(&ctx, u, there->cuts, NULL, 40, 0, GBT_UNSEEN_PRIOR, &valid_there, test_err));
  gbt_ctx_close(&ctx);
  same_datasets(here, there);
  same_datasets(valid_here, valid_there);
  CHECK(gbt_pages_level_ids(there->pages, 0) != NULL && gbt_dataset_unseen(there, 0) == 0);
  CHECK_EQ_I64(gbt_dataset_unseen(valid_there, 0), N - LEVELS);
  gbt_dataset_unref(valid_here);
  gbt_dataset_unref(valid_there);
  gbt_dataset_unref(here);
  gbt_dataset_unref(there);
  tables_free(t);
  tables_free(u);
  free(text);
  free(level);
  free(code);
}

static void chunks_of_a_source(void) {
  test_rng rng = {37};
  for (int k = 0; k < 8; k++) {
    tables_shape s = {400 + 100 * k, N_DRAWS, 5, 4, k == 3};
    tables *t = tables_of_all(&rng, s, TABLES_LEVELS);
    gbt_ctx ctx = test_ctx(NULL, 2);
    gbt_offload *help = NULL;
    gbt_dataset *ds[2] = {NULL, NULL};
    chunks *c = chunks_new(&t->table, k % 2 ? 0 : 90 + k, (uint64_t)k);
    gbt_dataset_spec spec = {.table = &t->table,
                             .weight = tables_weights(t, &rng, k % 3),
                             .max_bin = 40,
                             .page_rows = 130 + k};
    CHECK_OK(gbt_dataset_make(&ctx, &spec, &ds[0], test_err));
    spec.table = NULL;
    spec.source = &c->source;
    spec.source_bytes = 20000;
    REQUIRE_OK(open_with(&ctx, (sizes){k < 4 ? 0 : 100 * N_DRAWS, 500}, &help, test_err));
    spec.help = help;
    CHECK_OK(gbt_dataset_make(&ctx, &spec, &ds[1], test_err));
    close_help(help);
    if (ds[0] != NULL && ds[1] != NULL) {
      same_all_cuts(ds[0]->cuts, ds[1]->cuts);
      same_stores(ds[0]->pages, ds[1]->pages);
    }
    for (int i = 0; i < 2; i++) gbt_dataset_unref(ds[i]);
    chunks_free(c);
    gbt_ctx_close(&ctx);
    tables_free(t);
  }
}

/* However threads and blocks take turns. */
static void in_any_order(void) {
  test_rng rng = {19};
  tables_shape s = {2500, 8, 3, 3, 0};
  counts seen = {0};
  tables *t = tables_of_all(&rng, s, TABLES_LEVELS);
  const double *w = tables_weights(t, &rng, 1);
  for (int k = 0; test_schedule(k); k++) {
    gbt_cuts *cuts = same_cuts_of(t, k % 2 ? w : NULL, 30 + 100 * k, all, 1);
    if (cuts != NULL) same_pages_of(t, cuts, GBT_UNSEEN_MISSING, 1, 0, all, 1, &seen);
    gbt_cuts_unref(cuts);
  }
  tables_free(t);
}

/* Several blocks in every kernel, side by side in dense and sparse columns: small enough for the thread sanitizer,
 * which alone finds what blocks do to each other. */
static void several_blocks(void) {
  enum { ROWS = 9000 };
  test_rng rng = {27};
  tables_shape s = {ROWS, 3, 2, 0, 0};
  tables *t = tables_of_all(&rng, s, TABLES_LEVELS);
  const double *w = tables_weights(t, &rng, 2);
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_offload *help = NULL;
  gbt_dataset *ds[2] = {NULL, NULL};
  int n_sparse = 0;
  for (int32_t c = 0; c < t->table.n_cols; c++) n_sparse += t->table.cols[c].rows != NULL;
  CHECK(n_sparse > 0 && n_sparse < t->table.n_cols);
  CHECK_OK(dataset_from(&ctx, &t->table, NULL, w, 255, 4000, GBT_UNSEEN_MISSING, &ds[0], test_err));
  REQUIRE_OK(open_with(&ctx, (sizes){0, 8000}, &help, test_err));
  CHECK_OK(dataset_helped(&ctx, help, &t->table, NULL, w, 255, 4000, GBT_UNSEEN_MISSING, &ds[1], test_err));
  close_help(help);
  if (ds[0] != NULL && ds[1] != NULL) {
    same_all_cuts(ds[0]->cuts, ds[1]->cuts);
    same_stores(ds[0]->pages, ds[1]->pages);
  }
  for (int k = 0; k < 2; k++) gbt_dataset_unref(ds[k]);
  gbt_ctx_close(&ctx);
  tables_free(t);
}

/* As users get it: large enough to be worth the way, in columns and in cells. */
static void through_the_door(void) {
  enum { ROWS = 33000 };
  test_rng rng = {23};
  tables_shape s = {ROWS, 8, 1, 0, 0};
  tables *t = tables_of_all(&rng, s, TABLES_LEVELS);
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_dataset *ds[2] = {NULL, NULL};
  const gbt_dataset_spec spec = {.table = &t->table, .max_bin = 255, .unseen = GBT_UNSEEN_PRIOR};
  CHECK_OK(gbt_dataset_make(&ctx, &spec, &ds[0], test_err));
  CHECK_OK(dataset_by_device(&ctx, gbt_cuda_api(), 0, &spec, &ds[1], test_err));
  gbt_ctx_close(&ctx);
  if (ds[0] != NULL && ds[1] != NULL) {
    same_all_cuts(ds[0]->cuts, ds[1]->cuts);
    same_stores(ds[0]->pages, ds[1]->pages);
  }
  for (int k = 0; k < 2; k++) gbt_dataset_unref(ds[k]);
  tables_free(t);
}

#if defined(GBT_TEST_SIMT)
/* From a source in chunks of 40 rows. */
static gbt_status make_from_chunks(gbt_ctx *ctx, const tables *t, gbt_cuts *cuts, const double *w, int32_t max_bin,
                                   int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err) {
  chunks *c = chunks_new(&t->table, 40, 0);
  gbt_offload *help = NULL;
  gbt_dataset_spec spec = {.source = &c->source,
                           .weight = w,
                           .max_bin = max_bin,
                           .page_rows = page_rows,
                           .unseen = unseen};
  *out = NULL;
  CHECK(cuts == NULL); /* its own */
  gbt_status status = open_with(ctx, all, &help, err);
  spec.help = help;
  if (status == GBT_OK) status = gbt_dataset_make(ctx, &spec, out, err);
  close_help(help);
  chunks_free(c);
  return status;
}

typedef gbt_status (*make_fn)(gbt_ctx *ctx, const tables *t, gbt_cuts *cuts, const double *w, int32_t max_bin,
                              int32_t page_rows, gbt_unseen unseen, gbt_dataset **out, gbt_error *err);

/* Every call to CUDA fails once, alone and with all later ones: an error, or the right bytes; nothing is left there.
 * Returns how many have failed. */
static int64_t fail_in(gbt_ctx *ctx, make_fn make, const tables *t, const double *w, const gbt_dataset *twin) {
  const int64_t live = simt_live();
  int64_t n_failed = 0;
  for (int and_later = 0; and_later < 2; and_later++) {
    for (int64_t n = 1;; n += test_few() ? 5 : 1) {
      gbt_dataset *ds = NULL;
      gbt_error err = {0};
      simt_fail_at(n, and_later);
      gbt_status status = make(ctx, t, NULL, w, 16, 50, GBT_UNSEEN_MISSING, &ds, &err);
      int64_t failed = simt_failed();
      simt_fail_at(0, 0);
      CHECK((status == GBT_OK) == (ds != NULL));
      if (status == GBT_OK) {
        same_all_cuts(twin->cuts, ds->cuts);
        same_stores(twin->pages, ds->pages);
      } else {
        CHECK((status == GBT_E_MEM || status == GBT_E_DEVICE) && err.msg[0] != '\0');
      }
      gbt_dataset_unref(ds); /* what stays on the device goes with it */
      CHECK_EQ_I64(simt_live(), live);
      if (failed == 0) break;
      n_failed++;
    }
  }
  return n_failed;
}

static void calls_to_cuda_fail(void) {
  test_rng rng = {29};
  tables_shape s = {90, 3, 2, 0, 0};
  tables *t = tables_of_all(&rng, s, TABLES_LEVELS);
  const double *w = tables_weights(t, &rng, 2);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_dataset *twin = NULL;
  REQUIRE_OK(dataset_from(&ctx, &t->table, NULL, w, 16, 50, GBT_UNSEEN_MISSING, &twin, test_err));
  const int64_t of_table = fail_in(&ctx, make_there, t, w, twin);
  const int64_t of_chunks = fail_in(&ctx, make_from_chunks, t, w, twin);
  test_note("%" PRId64 " failing calls of a table, %" PRId64 " of chunks", of_table, of_chunks);
  CHECK_SEEN(of_table > 150 && of_chunks > of_table);
  gbt_dataset_unref(twin);
  gbt_ctx_close(&ctx);
  tables_free(t);
}
#endif

/* What the data or the caller did wrong is reported in the CPU's words. */
static void refusals(void) {
  tables *t = tables_new(3);
  double x[3] = {1.0, 2.0, 3.0}, w[3] = {1.0, -1.0, 2.0};
  gbt_cuts *cuts = NULL;
  gbt_ctx ctx = test_ctx(NULL, 1);
  tables_f64(t, "x", x);
  CHECK_FAILS(cuts_with(&ctx, all, &t->table, NULL, 1, &cuts, test_err), GBT_E_ARG, "`max_bin` is 1");
  CHECK_FAILS(cuts_with(&ctx, all, &t->table, w, 255, &cuts, test_err), GBT_E_DATA, "row 2 is -1");
  gbt_ctx_close(&ctx);
  tables_free(t);
}

/* ---- memory, and being stopped ---- */

static gbt_status make_all(const gbt_mem *mem, void *arg, gbt_error *err) {
  tables *t = arg;
  gbt_ctx ctx = test_ctx(mem, 1);
  gbt_dataset *ds = NULL;
  gbt_status status = make_there(&ctx, t, NULL, NULL, 16, 100, GBT_UNSEEN_MISSING, &ds, err);
  gbt_dataset_unref(ds);
  gbt_ctx_close(&ctx);
  return status;
}

static void every_allocation_may_fail(void) {
  test_rng rng = {13};
  tables_shape s = {120, 4, 3, 2, 0};
  tables *t = tables_of_all(&rng, s, TABLES_LEVELS);
  test_note("%" PRId64 " allocations", fault_sweep(make_all, t));
  tables_free(t);
}

static int n_polls, stop_at;
static int poll_stops(void *user) {
  (void)user;
  return ++n_polls >= stop_at;
}

/* Stopped at the first, second, ... time of asking. */
static void may_be_stopped(void) {
  test_rng rng = {17};
  tables_shape s = {300, 6, 3, 2, 0};
  tables *t = tables_of_all(&rng, s, TABLES_LEVELS);
  int n_stopped = 0;
  clock_jump(30000000);
  for (stop_at = 1; stop_at < 500; stop_at += 1 + stop_at / 4) {
    gbt_ctx ctx;
    gbt_dataset *ds = NULL;
    gbt_error err;
    fault f;
    n_polls = 0;
    fault_start(&f, 0, 0);
    REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 1, GBT_SIMD_AUTO, poll_stops, NULL, test_err));
    gbt_status status = make_there(&ctx, t, NULL, NULL, 16, 100, GBT_UNSEEN_MISSING, &ds, &err);
    n_stopped += status == GBT_CANCELLED;
    CHECK(status == GBT_CANCELLED || status == GBT_OK);
    CHECK((status == GBT_OK) == (ds != NULL));
    gbt_dataset_unref(ds);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(f.n_live, 0);
  }
  clock_jump(0);
  test_note("%d times stopped", n_stopped);
  CHECK(n_stopped > 0);
  tables_free(t);
}

void suite_cuda_data(void) {
  RUN(short_tables);
  RUN(longer_tables);
  RUN(exact_ranks);
  RUN(counts_of_levels);
  RUN(levels_beyond_the_bins);
  RUN(many_bins);
  RUN(wide_tables);
  RUN(heavy_and_weightless);
  RUN(left_to_the_cpu);
  RUN(data_sets);
  RUN(chunks_of_a_source);
  RUN(in_any_order);
  RUN(several_blocks);
  RUN(through_the_door);
#if defined(GBT_TEST_SIMT)
  RUN(calls_to_cuda_fail);
#endif
  RUN(refusals);
  RUN(every_allocation_may_fail);
  RUN(may_be_stopped);
}
