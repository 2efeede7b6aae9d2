/* Checks of tables, bindings, and reading rows through them. */
#include "../../src/gbt/data/binding.h"
#include "../../src/gbt/data/cuts.h"
#include "../../src/gbt/data/job.h"
#include "../../src/gbt/schema/schema_impl.h"
#include "fault.h"
#include "tables.h"

static const double five[] = {1, 2, 3, 4, 5};
static const char *const abc[] = {"a", "b", "c"};

/* ---- checks ---- */

static gbt_status check(const tables *t, gbt_error *err) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_status status = gbt_table_check(&ctx, &t->table, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void wrong_shapes(void) {
  static const int32_t code[] = {1, 2, 3, 0, INT32_MIN};
  tables *t = tables_new(5);
  tables_f64(t, "x", five);
  tables_codes(t, "f", GBT_CATEGORICAL, code, abc, 3);
  tables_sparse(t, "s", five, GBT_F64, 0);
  CHECK_OK(check(t, test_err));
  gbt_column x = t->cols[0], f = t->cols[1], s = t->cols[2];
  t->table.n_rows = -1;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "-1 rows");
  t->table.n_rows = (int64_t)UINT32_MAX;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "up to 4294967294");
  t->table.n_rows = 5;
  t->cols[0].name = NULL;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "column 1 has no name");
  t->cols[0] = x;
  t->cols[0].values = NULL;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`x` has no values");
  t->cols[0] = x;
  t->cols[0].type = GBT_ORDINAL;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`x`: factors and texts must be level codes");
  t->cols[0].type = (gbt_feature_type)7;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`x` has an unknown type or storage");
  t->cols[0] = x;
  t->cols[0].storage = (gbt_storage)9;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`x` has an unknown type or storage");
  t->cols[0] = x;
  t->cols[1].type = GBT_NUMERIC;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`f`: factors and texts must be level codes");
  t->cols[1] = f;
  t->cols[1].levels = NULL;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`f` has codes but no levels");
  t->cols[1] = f;
  t->cols[2].n_entries = 6;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`s` has 6 entries for 5 rows");
  t->cols[2] = s;
  t->cols[2].values = NULL; /* all ones: allowed */
  CHECK_OK(check(t, test_err));
  t->cols[2].storage = GBT_I32;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`s` has no values");
  t->cols[2] = s;
  t->table.n_rows = 0;
  t->cols[0].values = NULL;
  t->cols[2].n_entries = 0;
  CHECK_OK(check(t, test_err));
  t->table.n_cols = 0;
  CHECK_OK(check(t, test_err));
  tables_free(t);
}

static void wrong_values(void) {
  enum { N = 200000 };
  tables *t = tables_new(N);
  int32_t *code = test_alloc(N * sizeof *code);
  double *x = test_alloc(N * sizeof *x);
  for (int i = 0; i < N; i++) {
    code[i] = i % 5 == 4 ? INT32_MIN : i % 5;
    x[i] = i % 3;
  }
  tables_codes(t, "f", GBT_CATEGORICAL, code, abc, 3);
  tables_sparse(t, "s", x, GBT_F64, 0);
  int32_t *codes = tables_keep(t, code, N * sizeof *code), *rows = tables_keep(t, t->cols[1].rows, 4 * N);
  t->cols[0].values = codes;
  t->cols[1].rows = rows;
  CHECK_OK(check(t, test_err));
  t->table.no_code_zero = 1;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`f`, row 1: there is no level 0, only 3");
  t->table.no_code_zero = 0;
  codes[123456] = 4;
  codes[150000] = -7; /* the first one is reported */
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`f`, row 123457: there is no level 4, only 3");
  gbt_error err;
  CHECK_EQ_I64(check(t, &err), GBT_E_DATA);
  CHECK_EQ_TEXT(err.subject, "f");
  codes[123456] = 1;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`f`, row 150001: there is no level -7");
  codes[150000] = 1;
  int32_t keep = rows[1000];
  rows[1000] = rows[999];
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`s`: the entry for row 1500 comes after the one for row 1500");
  rows[1000] = -1;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`s` has an entry for row 0");
  rows[1000] = N;
  CHECK_FAILS(check(t, test_err), GBT_E_DATA, "`s` has an entry for row 200001, but there are 200000 rows");
  rows[1000] = keep;
  CHECK_OK(check(t, test_err));
  free(code);
  free(x);
  tables_free(t);
}

/* No row count leaves a task without a column, or makes one that takes longer than 32,768 steps. */
static void every_task_has_columns(void) {
  int32_t before = INT32_MAX;
  for (int64_t rows = 0; rows <= 70000; rows++) {
    int32_t cols = gbti_cols_per_task(rows);
    if (cols < 1 || cols > before || (cols > 1 && cols * rows > 32768)) {
      CHECK_EQ_I64(rows, -1);
      break;
    }
    before = cols;
  }
  CHECK_EQ_I64(gbti_cols_per_task(0), 256);
  CHECK_EQ_I64(gbti_cols_per_task(16256), 2);
  CHECK_EQ_I64(gbti_cols_per_task(16257), 1);
  CHECK_EQ_I64(gbti_cols_per_task(UINT32_MAX), 1);
}

/* ---- bindings ---- */

static gbt_schema *schema_of(int32_t n, const gbt_schema_column *feat) {
  gbt_mem mem = gbt_mem_default();
  gbt_schema *schema = NULL;
  CHECK_OK(gbt_schema_new(&mem, n, feat, &schema, test_err));
  return schema;
}

static const gbt_schema_column three[] = {
    {"x", "", GBT_NUMERIC, 0, NULL}, {"f", "", GBT_CATEGORICAL, 3, abc}, {"o", "", GBT_ORDINAL, 3, abc}};

static gbt_status bind(const tables *t, const gbt_schema *schema, gbt_unseen unseen, gbt_binding **out,
                       gbt_error *err) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_status status = gbt_binding_new(&ctx, &t->table, schema, unseen, out, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void matching(void) {
  static const char *const levels[] = {"c", "z", NULL, "a", "c"};
  static const int32_t code[] = {1, 2, 3, 4, 5};
  gbt_schema *schema = schema_of(3, three);
  tables *t = tables_new(5);
  gbt_binding *b;
  tables_f64(t, "more", five);
  tables_codes(t, "o", GBT_CATEGORICAL, code, levels, 5); /* either kind of factor stands for either */
  tables_codes(t, "f", GBT_ORDINAL, code, levels, 5);
  tables_dense(t, "x", five, GBT_I32);
  tables_f64(t, "more", five); /* nobody asks for it */
  REQUIRE_OK(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err));
  static const int32_t col[] = {3, 2, 1}, map[] = {-2, 2, -1, -2, 0, 2};
  CHECK_EQ_BYTES(b->col, col, sizeof col);
  CHECK(b->code_map[0] == NULL);
  CHECK_EQ_BYTES(b->code_map[1], map, sizeof map);
  CHECK_EQ_BYTES(b->code_map[2], map, sizeof map);
  gbt_binding_free(b);
  gbt_binding_free(NULL);
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_ERROR, &b, test_err), GBT_E_DATA, "`f`, row 2: the level \"z\"");
  CHECK(b == NULL);
  int32_t *other = tables_keep(t, code, sizeof code);
  other[1] = 1; /* the level does not occur any more */
  t->cols[2].values = other;
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_ERROR, &b, test_err), GBT_E_DATA, "`o`, row 2: the level \"z\"");
  t->cols[1].values = other;
  REQUIRE_OK(bind(t, schema, GBT_UNSEEN_ERROR, &b, test_err));
  gbt_binding_free(b);
  gbt_schema_unref(schema);
  tables_free(t);
}

/* Checks, cuts and bindings of tables whose columns are about as long as a task. */
static void columns_as_long_as_a_task(void) {
  static const int64_t rows[] = {16255, 16256, 16257, 32639, 32640, 32641, 32700, 32767, 32768, 32769};
  gbt_schema *schema = schema_of(3, three);
  double *x = test_alloc(40000 * sizeof *x);
  int32_t *code = test_alloc(40000 * sizeof *code);
  for (int i = 0; i < 40000; i++) {
    x[i] = i % 7;
    code[i] = 1 + i % 3;
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tables *t = tables_new(rows[i]);
    tables_sparse(t, "x", x, GBT_F64, 0);
    tables_codes(t, "f", GBT_CATEGORICAL, code, abc, 3);
    tables_codes(t, "o", GBT_ORDINAL, code, abc, 3);
    CHECK_OK(check(t, test_err));
    gbt_ctx ctx = test_ctx(NULL, 2);
    gbt_cuts *cuts;
    if (CHECK_OK(gbt_cuts_build(&ctx, &t->table, NULL, 255, &cuts, test_err))) gbt_cuts_unref(cuts);
    gbt_ctx_close(&ctx);
    gbt_binding *b;
    if (CHECK_OK(bind(t, schema, GBT_UNSEEN_ERROR, &b, test_err))) gbt_binding_free(b);
    tables_free(t);
  }
  free(x);
  free(code);
  gbt_schema_unref(schema);
}

/* The place of a text among the known ones, text by text. */
static int32_t place_of(const char *text, const char *const *known, int32_t n) {
  for (int32_t i = 0; text != NULL && i < n; i++)
    if (strcmp(text, known[i]) == 0) return i;
  return text == NULL ? GBTI_CODE_MISSING : GBTI_CODE_UNSEEN;
}

/* Of few rows only their own levels are looked up, of many all levels. */
static void rows_of_many_levels(void) {
  enum { LEVELS = 400, ROWS_MANY = 150, ROWS_FEW = 9 };
  char text[LEVELS][16];
  const char *known[LEVELS], *given[LEVELS];
  test_rng rng = {5};
  for (int i = 0; i < LEVELS; i++) {
    snprintf(text[i], sizeof text[i], "v%d", i);
    known[i] = text[i];
    given[i] = text[LEVELS - 1 - i] + (i % 5 == 0); /* some unknown: without the v */
    if (i % 7 == 0) given[i] = NULL;
  }
  const gbt_schema_column feat = {"f", "", GBT_CATEGORICAL, LEVELS, known};
  gbt_schema *schema = schema_of(1, &feat);
  int n_seen[3] = {0, 0, 0};
  for (int rep = 0; rep < 60; rep++) {
    int32_t code[ROWS_MANY], first_unseen = -1;
    int64_t n_unseen = 0, counted = 0;
    const int n = rep % 10 == 9 ? ROWS_MANY : 1 + rep % ROWS_FEW;
    for (int r = 0; r < n; r++) code[r] = (int32_t)test_below(&rng, LEVELS + 1);
    if (rep % 3 == 0) code[rep % n] = INT32_MIN;
    tables *t = tables_new(n);
    tables_codes(t, "f", GBT_CATEGORICAL, code, given, LEVELS);
    gbt_binding *b;
    REQUIRE_OK(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err));
    for (int r = 0; r < n; r++) {
      const int32_t c = code[r] < 0 ? 0 : code[r], level = b->code_map[0][c];
      CHECK_EQ_I64(level, c == 0 ? GBTI_CODE_MISSING : place_of(given[c - 1], known, LEVELS));
      n_seen[level >= 0 ? 0 : -level]++;
      n_unseen += level == GBTI_CODE_UNSEEN;
      if (level == GBTI_CODE_UNSEEN && first_unseen < 0) first_unseen = r;
    }
    gbt_ctx ctx = test_ctx(NULL, 2);
    CHECK_OK(gbt_binding_unseen(&ctx, b, &counted, test_err));
    CHECK_EQ_I64(counted, n_unseen);
    gbt_ctx_close(&ctx);
    gbt_binding_free(b);
    char words[64];
    snprintf(words, sizeof words, "column `f`, row %d: the level", (int)first_unseen + 1);
    if (n_unseen > 0)
      CHECK_FAILS(bind(t, schema, GBT_UNSEEN_ERROR, &b, test_err), GBT_E_DATA, words);
    else if (CHECK_OK(bind(t, schema, GBT_UNSEEN_ERROR, &b, test_err)))
      gbt_binding_free(b);
    tables_free(t);
  }
  CHECK(n_seen[0] > 20 && n_seen[1] > 5 && n_seen[2] > 5);
  gbt_schema_unref(schema);
}

/* What a row reads as: a level that has a bin, one that has none, one that is unknown. */
static void levels_without_a_bin(void) {
  enum { LEVELS = GBT_MAX_LEVELS + 2, N = 6 };
  char(*text)[16] = test_alloc(sizeof(char[LEVELS + 1][16]));
  const char **level = test_alloc((LEVELS + 1) * sizeof *level);
  for (int i = 0; i <= LEVELS; i++) {
    snprintf(text[i], sizeof text[i], "v%d", i);
    level[i] = text[i];
  }
  const gbt_schema_column feats[2] = {{"f", "", GBT_CATEGORICAL, LEVELS, level}, {"o", "", GBT_ORDINAL, LEVELS, level}};
  const int32_t code[N] = {1, GBT_MAX_LEVELS, GBT_MAX_LEVELS + 1, LEVELS, LEVELS + 1, 0};
  const double want[N] = {0, GBT_MAX_LEVELS - 1, NAN, NAN, -1, NAN};
  const double rank[N] = {0, GBT_MAX_LEVELS - 1, GBT_MAX_LEVELS, LEVELS - 1, NAN, NAN};
  const int32_t both[2] = {0, 1};
  gbt_schema *schema = schema_of(2, feats);
  tables *t = tables_new(N);
  tables_codes(t, "f", GBT_CATEGORICAL, code, level, LEVELS + 1);
  tables_codes(t, "o", GBT_ORDINAL, code, level, LEVELS + 1);
  for (int missing = 0; missing < 2; missing++) {
    gbt_binding *b;
    REQUIRE_OK(bind(t, schema, missing ? GBT_UNSEEN_MISSING : GBT_UNSEEN_PRIOR, &b, test_err));
    int64_t cursor[2] = {0, 0}, unseen[2] = {0, 0};
    double got[2 * N];
    gbt_binding_read(b, 0, N, both, 2, cursor, got, 2);
    for (int r = 0; r < N; r++) {
      const double x = missing && want[r] < 0.0 ? (double)NAN : want[r];
      CHECK(got[2 * r] == x || (got[2 * r] != got[2 * r] && x != x));
      CHECK(got[2 * r + 1] == rank[r] || (got[2 * r + 1] != got[2 * r + 1] && rank[r] != rank[r]));
    }
    gbt_ctx ctx = test_ctx(NULL, 1);
    CHECK_OK(gbt_binding_unseen(&ctx, b, unseen, test_err));
    CHECK(unseen[0] == 1 && unseen[1] == 1);
    gbt_ctx_close(&ctx);
    gbt_binding_free(b);
  }
  tables_free(t);
  gbt_schema_unref(schema);
  free(text);
  free(level);
}

static void wrong_bindings(void) {
  static const int32_t code[] = {1, 2, 3, 1, 2};
  gbt_schema *schema = schema_of(3, three);
  tables *t = tables_new(5);
  gbt_binding *b;
  tables_codes(t, "f", GBT_CATEGORICAL, code, abc, 3);
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err), GBT_E_DATA,
              "columns are missing from the data: `x`, `o`; columns are matched by name");
  CHECK(b == NULL);
  tables_codes(t, "o", GBT_ORDINAL, code, abc, 3);
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err), GBT_E_DATA, "a column is missing from the data: `x`;");
  gbt_error err;
  CHECK_EQ_I64(bind(t, schema, GBT_UNSEEN_PRIOR, &b, &err), GBT_E_DATA);
  CHECK_EQ_TEXT(err.subject, "x");
  tables_codes(t, "x", GBT_CATEGORICAL, code, abc, 3);
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err), GBT_E_DATA,
              "`x` is a factor or text here and was a number");
  tables_f64(t, "x", five);
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err), GBT_E_DATA, "columns 3 and 4 of the data are both");
  t->cols[2] = t->cols[3];
  t->table.n_cols = 3;
  t->cols[1].name = "p";
  tables_f64(t, "o", five);
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err), GBT_E_DATA,
              "`o` is a number here and was a factor or text");
  t->cols[0].n_levels = 2;
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err), GBT_E_DATA, "there is no level 3, only 2");
  gbt_schema_unref(schema);
  tables_free(t);
}

/* A list of missing columns that is longer than a message. */
static void very_many_missing(void) {
  enum { N = 100000 };
  char(*name)[16] = test_alloc(N * sizeof *name);
  gbt_schema_column *feat = test_alloc(N * sizeof *feat);
  char long_name[1000];
  memset(long_name, 'y', sizeof long_name);
  long_name[999] = 0;
  for (int i = 0; i < N; i++) {
    gbt_schema_column f = {name[i], "", GBT_NUMERIC, 0, NULL};
    snprintf(name[i], sizeof name[i], "x%d", i);
    feat[i] = f;
  }
  gbt_schema *schema = schema_of(N, feat);
  tables *t = tables_new(5);
  gbt_binding *b;
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err), GBT_E_DATA, "`x0`, `x1`, `x2`, ");
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err), GBT_E_DATA, " more; columns are matched by name");
  for (int i = N - 1; i >= 0; i--) tables_f64(t, name[i], five);
  CHECK_OK(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err));
  for (int i = 0; i < N; i += 999) CHECK_EQ_I64(b->col[i], N - 1 - i);
  gbt_binding_free(b);
  gbt_schema_unref(schema);
  feat[0].name = long_name;
  schema = schema_of(1, feat);
  CHECK_FAILS(bind(t, schema, GBT_UNSEEN_PRIOR, &b, test_err), GBT_E_DATA, "a column is missing from the data: `");
  gbt_schema_unref(schema);
  free(name);
  free(feat);
  tables_free(t);
}

/* ---- reading ---- */

enum { ROWS = 700, FEATS = 9 };

typedef struct reading {
  tables *t;
  gbt_schema *schema;
  double x[FEATS][ROWS]; /* what should be read; levels: 'unseen' as -1 */
} reading;

static void make_reading(reading *in, test_rng *rng, int absent_missing) {
  static const char *const levels[] = {"b", "new", "a", NULL, "c", "a"};
  static const double index[] = {NAN, 1, -1, 0, NAN, 2, 0};
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  gbt_schema_column feat[FEATS];
  tables *t = in->t = tables_new(ROWS);
  t->table.absent_missing = absent_missing;
  int32_t code[2][ROWS];
  double absent = absent_missing ? (double)NAN : 0.0;
  for (int r = 0; r < ROWS; r++) {
    for (int k = 0; k < 7; k++) {
      double whole = (double)(test_below(rng, 2000) - 1000), wild = tables_draw(rng, DRAW_WILD);
      in->x[k][r] = k < 3 ? (k == 0 ? wild : whole) : test_below(rng, 4) ? absent : k == 3 ? wild : whole;
      if (test_below(rng, 10) == 0) in->x[k][r] = (double)NAN;
      if (k == 6) in->x[k][r] = test_below(rng, 4) ? absent : 1.0;
    }
    for (int k = 0; k < 2; k++) {
      code[k][r] = (int32_t)test_below(rng, 7);
      in->x[7 + k][r] = index[code[k][r]];
      if (code[k][r] == 0 && r % 2) code[k][r] = INT32_MIN;
    }
  }
  for (int k = 0; k < FEATS; k++) {
    gbt_schema_column f = {names[k], "",
                     k == 7   ? GBT_CATEGORICAL
                     : k == 8 ? GBT_ORDINAL
                              : GBT_NUMERIC,
                     k < 7 ? 0 : 3, k < 7 ? NULL : abc};
    feat[k] = f;
  }
  in->schema = schema_of(FEATS, feat);
  tables_codes(t, "i", GBT_ORDINAL, code[1], levels, 6);
  tables_codes(t, "h", GBT_CATEGORICAL, code[0], levels, 6);
  tables_sparse(t, "g", in->x[6], GBT_F64, 0)->values = NULL;
  tables_sparse(t, "f", in->x[5], GBT_I64, 3);
  tables_sparse(t, "e", in->x[4], GBT_I32, 0);
  tables_sparse(t, "d", in->x[3], GBT_F64, 5);
  tables_dense(t, "c", in->x[2], GBT_I64);
  tables_dense(t, "b", in->x[1], GBT_I32);
  tables_f64(t, "a", in->x[0]);
}

static double expected(const reading *in, gbt_unseen unseen, int32_t feat, int64_t row) {
  double x = in->x[feat][row];
  if (feat < 7 || x != -1.0) return x;
  return feat == 7 && unseen == GBT_UNSEEN_PRIOR ? -1.0 : (double)NAN;
}

/* Random blocks of rows of random features; ascending now and then, as a predictor does, anywhere otherwise. */
static void read_blocks(const reading *in, test_rng *rng, gbt_unseen unseen) {
  enum { STRIDE = 13 };
  gbt_binding *b;
  REQUIRE_OK(bind(in->t, in->schema, unseen, &b, test_err));
  double *out = test_alloc(ROWS * STRIDE * sizeof *out);
  for (int rep = 0; rep < 60; rep++) {
    int32_t feats[STRIDE], n_feats = (int32_t)test_below(rng, STRIDE + 1);
    int64_t cursor[STRIDE] = {0}, beg = 0;
    for (int k = 0; k < n_feats; k++) feats[k] = (int32_t)test_below(rng, FEATS);
    for (int block = 0; block < 6; block++) {
      if (rep % 2) beg = test_below(rng, ROWS);
      int32_t n = (int32_t)test_below(rng, ROWS - beg + 1);
      int n_wrong = 0;
      for (int i = 0; i < ROWS * STRIDE; i++) out[i] = 99.5;
      gbt_binding_read(b, beg, n, feats, n_feats, cursor, out, STRIDE);
      for (int32_t r = 0; r < ROWS; r++) {
        for (int32_t k = 0; k < STRIDE; k++) {
          double want = r < n && k < n_feats ? expected(in, unseen, feats[k], beg + r) : 99.5,
                 got = out[r * STRIDE + k];
          n_wrong += !(got == want || (got != got && want != want));
        }
      }
      CHECK_EQ_I64(n_wrong, 0);
      beg += n;
    }
  }
  free(out);
  gbt_binding_free(b);
}

static void reading_rows(void) {
  test_rng rng = {1};
  for (int k = 0; k < 4; k++) {
    reading *in = test_alloc(sizeof *in);
    make_reading(in, &rng, k / 2);
    read_blocks(in, &rng, k % 2 ? GBT_UNSEEN_MISSING : GBT_UNSEEN_PRIOR);
    gbt_schema_unref(in->schema);
    tables_free(in->t);
    free(in);
  }
}

/* ---- memory and stops ---- */

static gbt_status check_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const reading *in = arg;
  gbt_ctx ctx = test_ctx(mem, 1);
  gbt_status status = gbt_table_check(&ctx, &in->t->table, err);
  gbt_ctx_close(&ctx);
  return status;
}

static gbt_status bind_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const reading *in = arg;
  gbt_binding *b;
  gbt_ctx ctx = test_ctx(mem, 1);
  gbt_status status = gbt_binding_new(&ctx, &in->t->table, in->schema, GBT_UNSEEN_PRIOR, &b, err);
  CHECK_EQ_I64(b != NULL, status == GBT_OK);
  gbt_binding_free(b);
  gbt_ctx_close(&ctx);
  return status;
}

static void failing_memory(void) {
  test_rng rng = {2};
  reading *in = test_alloc(sizeof *in);
  make_reading(in, &rng, 0);
  CHECK(fault_sweep(check_op, in) >= 2);
  CHECK(fault_sweep(bind_op, in) >= 8);
  gbt_schema_unref(in->schema);
  tables_free(in->t);
  free(in);
}

static int always(void *user) {
  (void)user;
  return 1;
}

static void stopping(void) {
  test_rng rng = {3};
  reading *in = test_alloc(sizeof *in);
  gbt_ctx ctx;
  gbt_binding *b;
  make_reading(in, &rng, 0);
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, always, NULL, test_err));
  ctx.next_poll_ns = 0;
  CHECK_FAILS(gbt_table_check(&ctx, &in->t->table, test_err), GBT_CANCELLED, "stopped");
  CHECK_FAILS(gbt_binding_new(&ctx, &in->t->table, in->schema, GBT_UNSEEN_PRIOR, &b, test_err), GBT_CANCELLED, "stop");
  CHECK(b == NULL);
  gbt_ctx_close(&ctx);
  gbt_schema_unref(in->schema);
  tables_free(in->t);
  free(in);
}

void suite_table(void) {
  RUN(wrong_shapes);
  RUN(wrong_values);
  RUN(every_task_has_columns);
  RUN(columns_as_long_as_a_task);
  RUN(matching);
  RUN(rows_of_many_levels);
  RUN(levels_without_a_bin);
  RUN(wrong_bindings);
  RUN(very_many_missing);
  RUN(reading_rows);
  RUN(failing_memory);
  RUN(stopping);
}
