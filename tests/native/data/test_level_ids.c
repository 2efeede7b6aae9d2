/* Level ids of rows: from pages of every store, from tables and chunks, against the texts of the rows' levels. */
#include <stdlib.h>

#include "chunks.h"
#include "datasets.h"
#include "ranks.h"
#include "stores.h"
#include "tables.h"

#include "../../src/gbt/data/level_ids.h"

/* Level i has the text of the number i. */
static const char **number_texts(tables *t, int32_t n) {
  char(*text)[16] = tables_keep(t, NULL, ((size_t)n + 1) * sizeof *text);
  const char **levels = tables_keep(t, NULL, ((size_t)n + 1) * sizeof *levels);
  for (int32_t i = 0; i < n; i++) {
    snprintf(text[i], sizeof text[i], "%d", (int)i);
    levels[i] = text[i];
  }
  return levels;
}

/* A table whose column 1 is a factor: its code of a row is below n_codes or missing, level `from + code` its text.
 * every: each code occurs. */
static tables *factor_table(test_rng *rng, int64_t n_rows, int32_t n_codes, int32_t from, int every) {
  tables *t = tables_new(n_rows);
  const char **levels = number_texts(t, from + n_codes);
  double *x = tables_keep(t, NULL, (size_t)n_rows * sizeof *x);
  int32_t *code = tables_keep(t, NULL, (size_t)n_rows * sizeof *code);
  for (int64_t r = 0; r < n_rows; r++) {
    const int64_t a = test_below(rng, n_codes + 1), b = test_below(rng, n_codes + 1);
    x[r] = test_bell(rng);
    code[r] = (int32_t)(every && r < n_codes ? r + 1 : a < b ? a : b);
    if (code[r] == 0 && test_below(rng, 2)) code[r] = INT32_MIN;
  }
  tables_f64(t, "x", x);
  tables_codes(t, "f", GBT_CATEGORICAL, code, levels + from, n_codes);
  return t;
}

/* The twin: by the texts of the schema's levels. */
static void check_ids(const gbt_dataset *ds, const tables *t, int threads, gbt_unseen unseen) {
  const gbt_column *col = &t->cols[1];
  const gbt_schema_column *known = &ds->cuts->schema->col[1];
  const int64_t n = t->table.n_rows;
  int32_t n_numbers = 1;
  for (int32_t i = 0; i < known->n_levels; i++)
    if (atoi(known->levels[i]) >= n_numbers) n_numbers = atoi(known->levels[i]) + 1;
  int32_t *place = test_alloc((size_t)n_numbers * sizeof *place);
  uint32_t *id = test_alloc((size_t)n * sizeof *id);
  for (int32_t i = 0; i < n_numbers; i++) place[i] = -1;
  for (int32_t i = 0; i < known->n_levels; i++) place[atoi(known->levels[i])] = i;
  gbt_ctx ctx = test_ctx(NULL, threads);
  CHECK_OK(gbti_level_ids(&ctx, ds, 1, id, test_err));
  int64_t n_wrong = 0, n_unseen = 0;
  for (int64_t r = 0; r < n; r++) {
    const int32_t code = ((const int32_t *)col->values)[r];
    const int32_t number = code > 0 ? atoi(col->levels[code - 1]) : -1;
    int32_t want = known->n_levels;
    const int is_known = number >= 0 && number < n_numbers && place[number] >= 0;
    if (is_known)
      want = place[number];
    else if (number >= 0 && unseen == GBT_UNSEEN_PRIOR)
      want = known->n_levels + 1;
    n_unseen += number >= 0 && !is_known;
    n_wrong += id[r] != (uint32_t)want;
  }
  CHECK_EQ_I64(n_wrong, 0);
  CHECK_EQ_I64(gbt_dataset_unseen(ds, 1), n_unseen);
  gbt_ctx_close(&ctx);
  free(place);
  free(id);
}

/* As a whole and in chunks, in pages of several sizes. */
static void check_all_ways(const tables *t, const gbt_dataset *reference, int32_t page_rows, gbt_unseen unseen) {
  const dataset_work work = {
      .table = t, .reference = reference, .max_bin = 16, .page_rows = page_rows, .unseen = unseen};
  gbt_dataset *ds = dataset_whole(&work), *chunked = NULL;
  REQUIRE(ds != NULL);
  check_ids(ds, t, 1, unseen);
  check_ids(ds, t, 3, unseen);
  gbt_ctx ctx = test_ctx(NULL, 2);
  chunks *c = chunks_new(&t->table, t->cols[1].n_levels < 2000 ? 0 : 30000, 5);
  REQUIRE_OK(dataset_in_chunks(&ctx, &work, c, 1, &chunked, test_err));
  check_ids(chunked, t, 2, unseen);
  chunks_free(c);
  gbt_ctx_close(&ctx);
  gbt_dataset_unref(chunked);
  gbt_dataset_unref(ds);
}

/* In stores of these kinds, from memory to `last`. */
static void check_levels(test_rng *rng, int32_t n_levels, store_kind last) {
  const int64_t n = n_levels < 2000 ? 700 : n_levels + 500;
  tables *t = factor_table(rng, n, n_levels, 0, 1);
  tables *valid = factor_table(rng, 900, n_levels + 2, n_levels / 2, 0); /* half of its levels are known */
  for (int kind = STORE_MEMORY; kind <= (int)last; kind++) {
    const store_kind before = stores_use((store_kind)kind);
    const dataset_work work = {.table = t, .max_bin = 16};
    gbt_dataset *train = dataset_whole(&work);
    REQUIRE(train != NULL);
    check_ids(train, t, 2, GBT_UNSEEN_PRIOR);
    check_all_ways(t, NULL, n_levels < 2000 ? 60 : 9000, GBT_UNSEEN_MISSING);
    check_all_ways(valid, train, 0, GBT_UNSEEN_PRIOR);
    check_all_ways(valid, train, 200, GBT_UNSEEN_MISSING);
    gbt_dataset_unref(train);
    stores_use(before);
  }
  tables_free(t);
  tables_free(valid);
}

static void ids_of_rows(void) {
  static const int32_t n_levels[] = {0, 1, 2, 3, 17, 254, 255, 256, 257, 1000};
  test_rng rng = {23};
  for (size_t i = 0; i < sizeof n_levels / sizeof *n_levels; i++) check_levels(&rng, n_levels[i], STORE_POISON_3);
}

/* Around the number of levels that have a bin. */
static void ids_beyond_the_bins(void) {
  static const int32_t n_levels[] = {GBT_MAX_LEVELS - 1, GBT_MAX_LEVELS, GBT_MAX_LEVELS + 1, 70001};
  test_rng rng = {31};
  for (size_t i = 0; i < sizeof n_levels / sizeof *n_levels; i++)
    check_levels(&rng, n_levels[i], n_levels[i] > GBT_MAX_LEVELS + 1 ? STORE_POISON : STORE_MEMORY);
}

/* Rows shared out among ranks: the levels, and the ids of each row, are those of all rows on one rank. */
typedef struct shared_rows {
  const tables *t;
  const uint32_t *want; /* by row of t */
  const gbt_schema *schema;
  int64_t beg[RANKS_MOST + 1];
  int64_t n_wrong[RANKS_MOST];
  gbt_status status[RANKS_MOST];
} shared_rows;

static int same_schemas(const gbt_schema_column *a, const gbt_schema_column *b) {
  int same = a->n_levels == b->n_levels;
  for (int32_t i = 0; same && i < a->n_levels; i++) same = strcmp(a->levels[i], b->levels[i]) == 0;
  return same;
}

static gbt_status ids_of_share(shared_rows *s, gbt_ctx *ctx, int rank, gbt_error *err) {
  const int64_t beg = s->beg[rank], n = s->beg[rank + 1] - beg;
  gbt_column cols[2] = {s->t->cols[0], s->t->cols[1]};
  cols[0].values = (const double *)cols[0].values + beg;
  cols[1].values = (const int32_t *)cols[1].values + beg;
  const gbt_table share = {.n_rows = n, .n_cols = 2, .cols = cols};
  const gbt_dataset_spec spec = {.table = &share, .max_bin = 16};
  gbt_dataset *ds = NULL;
  GBT_TRY(gbt_dataset_make(ctx, &spec, &ds, err));
  uint32_t *id = malloc(((size_t)n + 1) * sizeof *id);
  gbt_status status = id != NULL ? gbti_level_ids(ctx, ds, 1, id, err) : gbt_fail(err, GBT_E_MEM, "no memory");
  for (int64_t r = 0; status == GBT_OK && r < n; r++) s->n_wrong[rank] += id[r] != s->want[beg + r];
  s->n_wrong[rank] += !same_schemas(&ds->cuts->schema->col[1], &s->schema->col[1]);
  free(id);
  gbt_dataset_unref(ds);
  return status;
}

static void on_a_rank(void *arg, const gbt_comm *comm) {
  shared_rows *s = arg;
  gbt_ctx ctx;
  gbt_error err;
  s->status[comm->rank] = gbt_ctx_open(&ctx, gbt_mem_default(), 1 + comm->rank % 2, GBT_SIMD_AUTO, NULL, NULL, &err);
  if (s->status[comm->rank] != GBT_OK) return;
  ctx.comm = comm;
  s->status[comm->rank] = ids_of_share(s, &ctx, comm->rank, &err);
  gbt_ctx_close(&ctx);
}

static void ids_of_ranks(void) {
  static const int32_t n_levels[] = {3, 300, GBT_MAX_LEVELS + 7};
  test_rng rng = {37};
  for (int i = 0; i < 3; i++) {
    const int64_t n = 2 * n_levels[i] + 50;
    const int size = 2 + i;
    tables *t = factor_table(&rng, n, n_levels[i], 0, 1);
    const dataset_work work = {.table = t, .max_bin = 16};
    gbt_dataset *whole = dataset_whole(&work);
    uint32_t *want = test_alloc((size_t)n * sizeof *want);
    REQUIRE(whole != NULL);
    gbt_ctx ctx = test_ctx(NULL, 2);
    CHECK_OK(gbti_level_ids(&ctx, whole, 1, want, test_err));
    gbt_ctx_close(&ctx);
    shared_rows s = {.t = t, .want = want, .schema = whole->cuts->schema};
    for (int r = 1; r <= size; r++) s.beg[r] = r == size ? n : s.beg[r - 1] + test_below(&rng, n - s.beg[r - 1] + 1);
    ranks_run(size, on_a_rank, &s);
    for (int r = 0; r < size; r++) {
      CHECK_EQ_I64(s.status[r], GBT_OK);
      CHECK_EQ_I64(s.n_wrong[r], 0);
    }
    gbt_dataset_unref(whole);
    free(want);
    tables_free(t);
  }
}

/* A mask's rows are looked up by their place in the table. */
static void ids_of_masks(void) {
  enum { N = 500 };
  test_rng rng = {41};
  tables *t = factor_table(&rng, N, 20, 0, 1);
  const dataset_work work = {.table = t, .max_bin = 16, .page_rows = 70};
  gbt_dataset *whole = dataset_whole(&work), *some = NULL;
  int mask[N];
  uint32_t all[N], of_mask[N];
  REQUIRE(whole != NULL);
  for (int r = 0; r < N; r++) mask[r] = test_below(&rng, 3) == 0;
  gbt_ctx ctx = test_ctx(NULL, 2);
  REQUIRE_OK(gbt_dataset_mask(&ctx, whole, mask, 1, &some, test_err));
  CHECK_OK(gbti_level_ids(&ctx, whole, 1, all, test_err));
  CHECK_OK(gbti_level_ids(&ctx, some, 1, of_mask, test_err));
  CHECK_EQ_BYTES(of_mask, all, sizeof all);
  for (int64_t i = 0; i < some->rows.n; i++) CHECK(mask[some->rows.table_row[i]]);
  gbt_ctx_close(&ctx);
  gbt_dataset_unref(some);
  gbt_dataset_unref(whole);
  tables_free(t);
}

/* No rows, all of them missing, all of them unseen. */
static void odd_columns(void) {
  test_rng rng = {29};
  tables *t = factor_table(&rng, 300, 9, 0, 1), *none = factor_table(&rng, 0, 9, 0, 0);
  tables *other = factor_table(&rng, 50, 5, 100, 0), *missing = factor_table(&rng, 64, 4, 0, 0);
  memset((void *)missing->cols[1].values, 0, 64 * sizeof(int32_t));
  const dataset_work work = {.table = t, .max_bin = 16};
  gbt_dataset *train = dataset_whole(&work);
  REQUIRE(train != NULL);
  check_all_ways(none, train, 0, GBT_UNSEEN_PRIOR);
  check_all_ways(none, NULL, 0, GBT_UNSEEN_PRIOR);
  check_all_ways(other, train, 7, GBT_UNSEEN_PRIOR);
  check_all_ways(missing, train, 0, GBT_UNSEEN_PRIOR);
  check_all_ways(missing, NULL, 10, GBT_UNSEEN_PRIOR);
  gbt_dataset_unref(train);
  tables_free(t);
  tables_free(none);
  tables_free(other);
  tables_free(missing);
}

void suite_level_ids(void) {
  RUN(ids_of_rows);
  RUN(ids_beyond_the_bins);
  RUN(ids_of_ranks);
  RUN(ids_of_masks);
  RUN(odd_columns);
}
