/* Columns with levels: dictionaries, ranks, the schema of a table. */
#include "naive_cuts.h"

/* ---- levels ---- */

static const char *const fruit[] = {"apple", "pear", "fig", "apple", NULL, "plum", "kiwi"};

static void factors(void) {
  /* fig 3x (row 1), apple by two codes 3x (row 0), kiwi 1x; plum and pear do not occur */
  static const int32_t code[] = {4, 3, 1, 3, 7, INT32_MIN, 0, 5, 1, 3};
  static const double w[] = {0, 1, 0, 1, 9, 1, 1, 1, 0, 1};
  tables *t = tables_new(10);
  tables_codes(t, "f", GBT_CATEGORICAL, code, fruit, 7);
  tables_codes(t, "o", GBT_ORDINAL, code, fruit, 7);
  for (int weighted = 0; weighted < 2; weighted++) {
    gbt_cuts *cuts = test_cuts_of(t, weighted ? w : NULL, 2, 1);
    const gbt_schema_column *f = &cuts->schema->col[0], *o = &cuts->schema->col[1];
    CHECK_EQ_I64(f->n_levels, 3);
    CHECK_EQ_TEXT(f->levels[0], "apple");
    CHECK_EQ_TEXT(f->levels[1], "fig");
    CHECK_EQ_TEXT(f->levels[2], "kiwi");
    CHECK_EQ_I64(cuts->feat[0].n_bins, 3);
    CHECK_EQ_I64(cuts->feat[0].has_missing, 1);
    CHECK_EQ_I64(cuts->feat[0].zero_bin, -1);
    CHECK_EQ_I64(cuts->feat[0].n_filled, 10);
    CHECK(cuts->feat[0].cut == NULL);
    CHECK_EQ_I64(gbt_cuts_bin(&cuts->feat[0], 2.0), 2);
    CHECK_EQ_I64(gbt_cuts_bin(&cuts->feat[0], 3.0), 3);
    CHECK_EQ_I64(gbt_cuts_bin(&cuts->feat[0], -1.0), 3);
    CHECK_EQ_I64(gbt_cuts_bin(&cuts->feat[0], (double)NAN), 3);
    CHECK_EQ_I64(o->n_levels, 5);
    static const char *const ranks[] = {"apple", "pear", "fig", "plum", "kiwi"};
    for (int i = 0; i < 5; i++) CHECK_EQ_TEXT(o->levels[i], ranks[i]);
    double rank[10];
    for (int i = 0; i < 10; i++) {
      static const double of_code[] = {NAN, 0, 1, 2, 0, NAN, 3, 4};
      rank[i] = of_code[code[i] < 0 ? 0 : code[i]];
    }
    same_as_naive(&cuts->feat[1], rank, weighted ? w : NULL, 10, 2, 0);
    gbt_cuts_unref(cuts);
  }
  t->cols[0].n_levels = t->cols[1].n_levels = 0;
  int32_t *none = tables_keep(t, NULL, 10 * sizeof *none);
  for (int i = 0; i < 10; i++) none[i] = i % 2 ? 0 : INT32_MIN;
  t->cols[0].values = t->cols[1].values = none;
  gbt_cuts *cuts = test_cuts_of(t, NULL, 255, 1); /* no level at all */
  for (int c = 0; c < 2; c++) {
    CHECK_EQ_I64(cuts->feat[c].n_bins, 1);
    CHECK_EQ_I64(cuts->feat[c].has_missing, 1);
    CHECK_EQ_I64(cuts->schema->col[c].n_levels, 0);
  }
  gbt_cuts_unref(cuts);
  tables_free(t);
}

/* Random factors: the order of levels by counting again, slowly. */
static void order_of_levels(void) {
  enum { N = 400, LEVELS = 30 };
  test_rng rng = {9};
  char text[LEVELS][16];
  const char *levels[LEVELS];
  for (int rep = 0; rep < 50; rep++) {
    int32_t code[N];
    for (int i = 0; i < LEVELS; i++) {
      snprintf(text[i], sizeof text[i], "l%d", (int)test_below(&rng, 40)); /* some texts twice */
      levels[i] = text[i];
    }
    for (int i = 0; i < N; i++) code[i] = (int32_t)(test_below(&rng, LEVELS + 1) * test_below(&rng, 2));
    tables *t = tables_new(N);
    tables_codes(t, "f", GBT_CATEGORICAL, code, levels, LEVELS);
    gbt_cuts *cuts = test_cuts_of(t, NULL, 255, 1);
    const gbt_schema_column *f = &cuts->schema->col[0];
    int last_count = N + 1, last_first = -1, n_seen = 0;
    for (int32_t b = 0; b < f->n_levels; b++) {
      int count = 0, first = -1;
      for (int i = 0; i < N; i++) {
        if (code[i] == 0 || strcmp(levels[code[i] - 1], f->levels[b]) != 0) continue;
        if (count++ == 0) first = i;
      }
      CHECK(count > 0);
      CHECK(count < last_count || (count == last_count && first > last_first));
      last_count = count;
      last_first = first;
      n_seen += count;
    }
    int n_missing = 0;
    for (int i = 0; i < N; i++) n_missing += code[i] == 0;
    CHECK_EQ_I64(n_seen, N - n_missing);
    CHECK_EQ_I64(cuts->feat[0].has_missing, n_missing > 0);
    gbt_cuts_unref(cuts);
    tables_free(t);
  }
}

static void too_many_levels(void) {
  enum { LEVELS = 65540, N = 2 * LEVELS };
  tables *t = tables_new(N);
  char(*text)[16] = tables_keep(t, NULL, LEVELS * sizeof *text);
  const char **levels = tables_keep(t, NULL, LEVELS * sizeof *levels);
  int32_t *code = tables_keep(t, NULL, N * sizeof *code);
  for (int i = 0; i < LEVELS; i++) {
    snprintf(text[i], sizeof text[i], "%d", i);
    levels[i] = text[i];
  }
  for (int i = 0; i < N; i++) code[i] = 1 + (i < LEVELS ? LEVELS - 1 - i : i - LEVELS < 10 ? 5 : i - LEVELS);
  tables_codes(t, "f", GBT_CATEGORICAL, code, levels, LEVELS);
  gbt_cuts *cuts = test_cuts_of(t, NULL, 255, 1);
  CHECK_EQ_I64(cuts->feat[0].n_bins, GBT_MAX_LEVELS);
  CHECK_EQ_I64(cuts->schema->col[0].n_levels, LEVELS);
  CHECK_EQ_I64(cuts->feat[0].has_missing, 1);
  CHECK_EQ_TEXT(cuts->schema->col[0].levels[0], "5");     /* 11 rows */
  CHECK_EQ_TEXT(cuts->schema->col[0].levels[1], "65539"); /* 2 rows, the first of all */
  /* once each: codes 0 .. 4, 6 .. 9, the last of the first half; 9 comes first, then 8, 7, 6: those have a bin */
  CHECK_EQ_TEXT(cuts->schema->col[0].levels[GBT_MAX_LEVELS - 1], "7");
  CHECK_EQ_TEXT(cuts->schema->col[0].levels[GBT_MAX_LEVELS], "6"); /* without a bin, but a level */
  CHECK_EQ_TEXT(cuts->schema->col[0].levels[LEVELS - 1], "0");
  CHECK_EQ_I64(gbt_cuts_bin(&cuts->feat[0], GBT_MAX_LEVELS), GBT_MAX_LEVELS);
  gbt_cuts_unref(cuts);
  tables_free(t);
}

static void schema_of_table(void) {
  static const double x[] = {1, 2};
  tables *t = tables_new(2);
  tables_f64(t, "time", x)->tag = "POSIXct";
  tables_f64(t, "plain", x)->tag = NULL;
  gbt_cuts *cuts = test_cuts_of(t, NULL, 255, 1);
  CHECK_EQ_TEXT(cuts->schema->col[0].name, "time");
  CHECK_EQ_TEXT(cuts->schema->col[0].tag, "POSIXct");
  CHECK_EQ_TEXT(cuts->schema->col[1].tag, "");
  CHECK_EQ_I64(cuts->schema->feat[1].type, GBT_NUMERIC);
  gbt_cuts *again = gbt_cuts_ref(cuts);
  gbt_cuts_unref(cuts);
  CHECK_EQ_I64(again->feat[0].n_bins, 2);
  gbt_cuts_unref(again);
  gbt_cuts_unref(NULL);
  tables_free(t);
}

void suite_levels(void) {
  RUN(factors);
  RUN(order_of_levels);
  RUN(too_many_levels);
  RUN(schema_of_table);
}
