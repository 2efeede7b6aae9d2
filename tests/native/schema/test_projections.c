/* Features that are read from tables by the key of a projection: the map that they are in. */
#include "forests.h"
#include "maps.h"
#include "tables.h"
#include "test.h"

#include "../../src/gbt/data/binding.h"
#include "../../src/gbt/bytes/format.h"
#include "../../src/gbt/model/model_impl.h"
#include "../../src/gbt/schema/key_index.h"
#include "../../src/gbt/schema/schema_impl.h"
#include "../../src/gbt/tree/relevel.h"

static const char *const letters[3] = {"a", "b", "c"};
static const char *const places[2] = {"EWR", "JFK"};
static const gbt_schema_column columns[4] = {{"x", "", GBT_NUMERIC, 0, NULL},
                                             {"carrier", "", GBT_CATEGORICAL, 3, letters},
                                             {"order", "", GBT_ORDINAL, 3, letters},
                                             {"origin", "", GBT_CATEGORICAL, 2, places}};

/* Two projections: the carrier alone, and carriers x origins with 3 of their 4 * 3 keys. */
typedef struct small_map {
  int32_t col[2][2];
  uint64_t key[3];
  uint8_t bin[3][4];
  double shown[2];
  gbt_projection proj[2];
  gbt_feature feat[3];
} small_map;

static void fill_map(small_map *m) {
  *m = (small_map){
      .col = {{1}, {1, 3}}, .key = {0, 5, 11}, .bin = {{2, 0, 1, 0}, {1, 1, 0}, {0, 2, 1}}, .shown = {0.25, 0.5}};
  m->proj[0] = (gbt_projection){.n_cols = 1, .col = m->col[0], .n_keys = 4};
  m->proj[1] = (gbt_projection){.n_cols = 2, .col = m->col[1], .n_keys = 3, .key = m->key};
  const gbt_feature_kind kind[3] = {GBT_FEATURE_TARGET_MEAN, GBT_FEATURE_KEY_COUNT, GBT_FEATURE_TARGET_CLASS};
  for (int f = 0; f < 3; f++)
    m->feat[f] = (gbt_feature){.kind = kind[f],
                               .projection = f > 0,
                               .part = f,
                               .prior_weight = 10.0,
                               .n_bins = f == 1 ? 2 : 3,
                               .unknown = 1,
                               .bin = m->bin[f],
                               .shown = m->shown};
}

static gbt_schema *small_base(void) {
  const gbt_mem mem = gbt_mem_default();
  gbt_schema *base = NULL;
  CHECK_OK(gbt_schema_new(&mem, 4, columns, &base, test_err));
  return base;
}

static void a_schema_can_be_extended(void) {
  const gbt_mem mem = gbt_mem_default();
  static const char *const labels[7] = {
      "x", "carrier", "order", "origin", "mean(carrier)", "rows(carrier x origin)", "share(carrier x origin, 3)"};
  small_map m;
  gbt_schema *base = small_base(), *once = NULL, *twice = NULL;
  REQUIRE(base != NULL);
  fill_map(&m);
  REQUIRE_OK(gbt_schema_extend(&mem, base, 2, m.proj, 3, m.feat, &once, test_err));
  REQUIRE_OK(gbt_schema_extend(&mem, once, 2, m.proj, 3, m.feat, &twice, test_err));
  memset(&m, 255, sizeof m); /* all is copied */
  fill_map(&m);
  gbt_schema_unref(base);
  gbt_schema_unref(once);
  CHECK(!gbt_feature_map_is_identity(twice));
  CHECK_EQ_I64(twice->n_features, 10);
  CHECK_EQ_I64(twice->n_projections, 4);
  CHECK_EQ_TEXT(twice->col[3].levels[1], "JFK");
  static const char *const jfk = "JFK";
  int32_t place;
  gbt_schema_levels(twice, 3, &jfk, 1, &place);
  CHECK_EQ_I64(place, 1);
  for (int32_t f = 0; f < 10; f++) {
    const gbt_feature *feat = &twice->feat[f], *from = &m.feat[(f + 2) % 3]; /* that of f - 4 */
    char text[40];
    const char *label = labels[f < 7 ? f : f - 3];
    CHECK_EQ_I64((int64_t)gbt_feature_label(twice, f, text, sizeof text), (int64_t)strlen(label));
    CHECK_EQ_TEXT(text, label);
    CHECK(gbt_feature_has_table(feat->kind) == (f >= 4));
    if (f < 4) {
      CHECK(feat->projection == -1 && feat->col == f);
      continue;
    }
    const gbt_projection *proj = &twice->proj[feat->projection];
    CHECK_EQ_I64(feat->projection, 2 * (f >= 7) + ((f - 4) % 3 > 0));
    CHECK(feat->type == GBT_NUMERIC && feat->col == 1 && feat->part == from->part && feat->unknown == 1);
    CHECK_EQ_BYTES(feat->bin, from->bin, (size_t)proj->n_keys);
    CHECK_EQ_BYTES(feat->shown, from->shown, (size_t)(from->n_bins - 1) * sizeof *from->shown);
    if (proj->n_cols > 1) CHECK_EQ_BYTES(proj->key, m.key, sizeof m.key);
  }
  CHECK_EQ_I64((int64_t)gbt_projection_space(twice, &twice->proj[0]), 4);
  CHECK_EQ_I64((int64_t)gbt_projection_space(twice, &twice->proj[1]), 12);
  gbt_schema_unref(twice);
}

/* How one part of the map can be wrong. */
typedef void (*spoil_fn)(small_map *m);

static void wrong_column(small_map *m) { m->col[1][1] = 4; }
static void columns_fall(small_map *m) { m->col[1][0] = 3, m->col[1][1] = 1; }
static void no_levels(small_map *m) { m->col[1][1] = 2; }
static void too_few_keys(small_map *m) { m->proj[0].n_keys = 3; }
static void keys_of_a_column(small_map *m) { m->proj[0].key = m->key, m->proj[0].n_keys = 3; }
static void no_keys(small_map *m) { m->proj[1].key = NULL; }
static void keys_fall(small_map *m) { m->key[1] = 0; }
static void key_too_large(small_map *m) { m->key[2] = 12; }
static void part_below_0(small_map *m) { m->feat[1].part = -1; }
static void prior_below_0(small_map *m) { m->feat[1].prior_weight = -1.0; }
static void prior_nan(small_map *m) { m->feat[1].prior_weight = (double)NAN; }
static void bin_too_large(small_map *m) { m->bin[0][3] = 3; }
static void unknown_too_large(small_map *m) { m->feat[2].unknown = 3; }
static void too_many_bins(small_map *m) { m->feat[2].n_bins = GBT_DERIVED_BINS + 1; }
static void shown_falls(small_map *m) { m->shown[1] = 0.0; }
static void shown_infinite(small_map *m) { m->shown[0] = -(double)INFINITY; }

static void wrong_maps_are_refused(void) {
  static const spoil_fn spoils[] = {wrong_column,  columns_fall, no_levels,      too_few_keys,
                                    no_keys,       keys_fall,    key_too_large,  part_below_0,
                                    prior_below_0, prior_nan,    bin_too_large,  unknown_too_large,
                                    too_many_bins, shown_falls,  shown_infinite, keys_of_a_column};
  const gbt_mem mem = gbt_mem_default();
  gbt_schema *base = small_base();
  REQUIRE(base != NULL);
  for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
    double room[GBT_DERIVED_BINS] = {0};
    small_map m;
    gbt_schema *out = NULL;
    fill_map(&m);
    spoils[i](&m);
    if (spoils[i] == too_many_bins) m.feat[2].shown = room;
    CHECK_FAILS(gbt_schema_extend(&mem, base, 2, m.proj, 3, m.feat, &out, test_err), GBT_E_INTERNAL, "wrong:");
    CHECK(out == NULL && base->refs == 1);
  }
  small_map m;
  gbt_schema *out;
  fill_map(&m);
  REQUIRE_OK(gbt_schema_extend(&mem, base, 2, m.proj, 3, m.feat, &out, test_err));
  CHECK(gbt_feature_map_fault(out) == NULL);
  for (int32_t n = 0; n < 8; n++) {
    out->proj[1].n_cols = n;
    CHECK((gbt_feature_map_fault(out) == NULL) == (n == 2));
  }
  out->proj[1].n_cols = 2;
  out->feat[2].projection = 0;
  CHECK(gbt_feature_map_fault(out) != NULL);
  gbt_schema_unref(out);
  gbt_schema_unref(base);
}

/* All keys of four columns with 2^21 - 2 levels and more would not fit into 63 bits. */
static void too_many_keys_have_no_space(void) {
  gbt_schema_column col[4] = {{"a", "", GBT_CATEGORICAL, 2097150, NULL},
                              {"b", "", GBT_CATEGORICAL, 2097150, NULL},
                              {"c", "", GBT_CATEGORICAL, 2097150, NULL},
                              {"d", "", GBT_CATEGORICAL, 0, NULL}};
  const int32_t all[4] = {0, 1, 2, 3};
  const gbt_schema schema = {.n_columns = 4, .col = col};
  const gbt_projection proj = {.n_cols = 4, .col = all};
  CHECK(gbt_projection_space(&schema, &proj) == UINT64_C(2097151) * 2097151 * 2097151);
  col[3].n_levels = 1;
  CHECK_EQ_I64((int64_t)gbt_projection_space(&schema, &proj), 0);
  for (int i = 0; i < 3; i++) col[i].n_levels = 2097151; /* exactly 2^63 */
  col[3].n_levels = 0;
  CHECK_EQ_I64((int64_t)gbt_projection_space(&schema, &proj), 0);
}

/* ---- reading ---- */

enum { READ_LEVELS = 30, READ_ROWS = 400 };

/* Factors with texts "0", "1", ..: more of them than the schema has, doubles and missing ones; the last is sparse. */
static tables *draw_table(test_rng *rng, int64_t n_rows, int32_t n_factors) {
  static const char *const names[] = {"f0", "f1", "f2", "f3", "f4"};
  char *text = test_alloc((size_t)READ_LEVELS * 4);
  const char *level[READ_LEVELS];
  tables *t = tables_new(n_rows);
  double *x = test_alloc((size_t)n_rows * sizeof *x);
  for (int64_t r = 0; r < n_rows; r++) x[r] = test_bell(rng);
  tables_f64(t, "x", x);
  for (int i = 0; i < READ_LEVELS; i++) level[i] = tables_keep(t, text + 4 * i, 4);
  for (int i = 0; i < READ_LEVELS; i++) snprintf((char *)(uintptr_t)level[i], 4, "%d", i % (READ_LEVELS - 3));
  level[READ_LEVELS / 2] = NULL;
  int32_t *code = test_alloc((size_t)n_rows * sizeof *code);
  for (int32_t k = 0; k < n_factors; k++) {
    for (int64_t r = 0; r < n_rows; r++) {
      const int64_t a = test_below(rng, READ_LEVELS + 1), b = test_below(rng, READ_LEVELS + 1);
      code[r] = test_below(rng, 30) == 0 ? INT32_MIN : (int32_t)(a < b ? a : b);
    }
    gbt_column *col = tables_codes(t, names[k], GBT_CATEGORICAL, code, level, READ_LEVELS);
    if (k != n_factors - 1) continue;
    int32_t *rows = test_alloc((size_t)n_rows * sizeof *rows), n = 0;
    for (int32_t r = 0; r < n_rows; r++) {
      if (code[r] <= 0 && r % 3 > 0) continue;
      code[n] = code[r];
      rows[n++] = r;
    }
    col->values = tables_keep(t, code, (size_t)n * sizeof *code);
    col->rows = tables_keep(t, rows, (size_t)n * sizeof *rows);
    col->n_entries = n;
    free(rows);
  }
  free(code);
  free(text);
  free(x);
  return t;
}

/* The text of a cell: NULL when it is missing. */
static const char *text_at(const gbt_column *col, int64_t r) {
  const int32_t *code = col->values;
  int64_t e = r;
  if (col->rows != NULL)
    for (e = 0; e < col->n_entries && col->rows[e] != r;) e++;
  if (col->rows != NULL && e == col->n_entries) return NULL;
  return code[e] <= 0 ? NULL : col->levels[code[e] - 1];
}

/* What a feature with a table must read as, by the texts of the row and a search through all keys. */
static double read_naively(const gbt_schema *schema, const gbt_table *table, int32_t f, int64_t r, int unseen_missing) {
  const gbt_feature *feat = &schema->feat[f];
  const gbt_projection *proj = &schema->proj[feat->projection];
  uint64_t key = 0;
  for (int32_t i = 0; i < proj->n_cols; i++) {
    const gbt_schema_column *col = &schema->col[proj->col[i]];
    const char *text = text_at(&table->cols[proj->col[i]], r);
    int32_t level = 0;
    while (level < col->n_levels && (text == NULL || strcmp(col->levels[level], text) != 0)) level++;
    if (level == col->n_levels && text != NULL && !unseen_missing) return feat->unknown;
    key = key * ((uint64_t)col->n_levels + 1) + (uint64_t)level;
  }
  for (int64_t i = 0; i < proj->n_keys; i++)
    if ((proj->key != NULL ? proj->key[i] : (uint64_t)i) == key) return feat->bin[i];
  return feat->unknown;
}

static void check_reading(const gbt_schema *schema, const gbt_table *table, gbt_unseen unseen, test_rng *rng) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_binding *binding = NULL;
  REQUIRE_OK(gbt_binding_new(&ctx, table, schema, unseen, &binding, test_err));
  double *x = test_alloc((size_t)table->n_rows * sizeof *x);
  for (int32_t f = schema->n_features - 1; f >= 0; f--) {
    int64_t cursor = 0;
    if (!gbt_feature_has_table(schema->feat[f].kind)) continue;
    for (int64_t beg = 0, n; beg < table->n_rows; beg += n) {
      n = 1 + test_below(rng, table->n_rows - beg);
      gbt_binding_read(binding, beg, (int32_t)n, &f, 1, &cursor, x + beg, 1);
    }
    for (int64_t r = 0; r < table->n_rows; r++)
      CHECK(x[r] == read_naively(schema, table, f, r, unseen == GBT_UNSEEN_MISSING));
  }
  free(x);
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
}

static void tables_are_read_by_key(void) {
  for (uint64_t seed = 0; seed < 24; seed++) {
    test_rng rng = {seed};
    tables *t = draw_table(&rng, seed % 5 == 0 ? 3 : READ_ROWS, 2 + (int32_t)test_below(&rng, 4));
    gbt_schema *base = maps_base(&rng, &t->table), *schema = NULL;
    REQUIRE(base != NULL);
    schema = maps_extend(&rng, base, 6, 3000);
    REQUIRE(schema != NULL);
    for (int indexed = 0; indexed < 2; indexed++) {
      if (indexed) REQUIRE_OK(gbt_schema_index_keys(schema, test_err));
      check_reading(schema, &t->table, GBT_UNSEEN_PRIOR, &rng);
      check_reading(schema, &t->table, GBT_UNSEEN_MISSING, &rng);
    }
    gbt_schema_unref(schema);
    gbt_schema_unref(base);
    tables_free(t);
  }
}

/* Every key is found and no other, whether places are keys or hashes. */
static void keys_are_found(void) {
  const gbt_mem mem = gbt_mem_default();
  for (uint64_t seed = 0; seed < 60; seed++) {
    test_rng rng = {seed};
    const int32_t n_levels = 1 + (int32_t)test_below(&rng, seed % 3 == 0 ? 3 : 2000), col[2] = {0, 1};
    const uint64_t space = ((uint64_t)n_levels + 1) * ((uint64_t)n_levels + 1);
    gbt_schema_column column[2] = {{"a", "", GBT_CATEGORICAL, n_levels, NULL},
                                   {"b", "", GBT_CATEGORICAL, n_levels, NULL}};
    uint64_t *key = test_alloc(4000 * sizeof *key), *ask = test_alloc(4000 * sizeof *ask);
    uint32_t *row = test_alloc(4000 * sizeof *row);
    gbt_projection proj = {.n_cols = 2, .col = col, .key = key};
    for (uint64_t k = 0; k < space && proj.n_keys < 2000;
         k += 1 + (uint64_t)test_below(&rng, 1 + (int64_t)(space / 1500)))
      key[proj.n_keys++] = k;
    gbt_schema schema = {.mem = mem, .n_columns = 2, .n_projections = 1, .col = column, .proj = &proj};
    for (int i = 0; i < 4000; i++)
      ask[i] = i % 2    ? key[test_below(&rng, proj.n_keys)]
               : i % 64 ? (uint64_t)test_below(&rng, (int64_t)space)
                        : GBT_NO_KEY;
    for (int indexed = 0; indexed < 2; indexed++) {
      if (indexed) REQUIRE_OK(gbt_schema_index_keys(&schema, test_err));
      for (int32_t beg = 0, n; beg < 4000; beg += n) {
        n = 1 + (int32_t)test_below(&rng, 4000 - beg);
        gbt_find_keys(&schema, 0, ask + beg, n, row + beg);
      }
      for (int i = 0; i < 4000; i++) {
        int64_t at = 0;
        while (at < proj.n_keys && key[at] < ask[i]) at++;
        CHECK_EQ_I64(row[i], at < proj.n_keys && key[at] == ask[i] ? (uint32_t)at : GBT_NO_ROW);
      }
    }
    gbt_mem_free(&mem, schema.key_index[0].place);
    gbt_mem_free(&mem, schema.key_index);
    free(key);
    free(ask);
    free(row);
  }
}

/* ---- in a model's bytes ---- */

static uint8_t *bytes_of(const gbt_model_parts *parts, size_t *n) {
  const gbt_mem mem = gbt_mem_default();
  uint8_t *bytes = NULL;
  CHECK_OK(gbt_model_write(&mem, parts, &bytes, n, test_err));
  return bytes;
}

static void same_tables(const gbt_schema *a, const gbt_schema *b) {
  REQUIRE(a->n_features == b->n_features && a->n_projections == b->n_projections);
  for (int32_t p = 0; p < a->n_projections; p++) {
    const gbt_projection *x = &a->proj[p], *y = &b->proj[p];
    REQUIRE(x->n_cols == y->n_cols && x->n_keys == y->n_keys && (x->n_cols > 1 || y->key == NULL));
    CHECK_EQ_BYTES(x->col, y->col, (size_t)x->n_cols * sizeof *x->col);
    if (x->n_cols > 1) CHECK_EQ_BYTES(x->key, y->key, (size_t)x->n_keys * sizeof *x->key);
  }
  for (int32_t f = 0; f < a->n_features; f++) {
    const gbt_feature *x = &a->feat[f], *y = &b->feat[f];
    REQUIRE(x->kind == y->kind && x->col == y->col && x->projection == y->projection);
    if (!gbt_feature_has_table(x->kind)) continue;
    CHECK(x->part == y->part && x->n_bins == y->n_bins && x->unknown == y->unknown);
    CHECK_EQ_BITS(x->prior_weight, y->prior_weight);
    CHECK_EQ_BYTES(x->bin, y->bin, (size_t)a->proj[x->projection].n_keys);
    CHECK_EQ_BYTES(x->shown, y->shown, (size_t)(x->n_bins - 1) * sizeof *x->shown);
  }
}

/* A schema of the table with tables, and trees that split by its features. */
typedef struct mapped {
  tables *t;
  gbt_schema *base, *schema;
  gbt_forest *forest;
  gbt_model_parts parts;
} mapped;

static int mapped_make(mapped *m, uint64_t seed) {
  const forest_spec spec = {1, 1, 4, 12, SHAPE_BUSHY, 0};
  test_rng rng = {seed};
  *m = (mapped){.t = draw_table(&rng, 100, 2 + (int32_t)test_below(&rng, 4))};
  m->base = maps_base(&rng, &m->t->table);
  m->schema = maps_extend(&rng, m->base, 5, 3000);
  if (m->schema == NULL) return 0;
  m->forest = make_forest(&rng, m->schema, &spec);
  m->parts = (gbt_model_parts){.forest = gbt_forest_view_of(m->forest),
                               .objective = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1),
                               .schema = m->schema};
  return 1;
}

static void mapped_free(mapped *m) {
  gbt_forest_free(m->forest);
  gbt_schema_unref(m->schema);
  gbt_schema_unref(m->base);
  tables_free(m->t);
}

static void models_keep_tables(void) {
  const gbt_mem mem = gbt_mem_default();
  for (uint64_t seed = 0; seed < 20; seed++) {
    mapped m;
    gbt_model *model = NULL;
    size_t n = 0, n_again = 0;
    REQUIRE(mapped_make(&m, seed));
    uint8_t *bytes = bytes_of(&m.parts, &n), *again;
    REQUIRE(bytes != NULL);
    REQUIRE_OK(gbt_model_open(&mem, bytes, n, &model, test_err));
    same_tables(m.schema, model->schema);
    again = bytes_of(&model->parts, &n_again);
    if (CHECK_EQ_U64(n, n_again)) CHECK_EQ_BYTES(again, bytes, n);
    gbt_mem_free(&mem, again);
    gbt_model_close(model);
    gbt_mem_free(&mem, bytes);
    mapped_free(&m);
  }
}

/* Every byte of these sections wrong, one at a time: the model is refused, or it has one form still. */
static void damaged_tables_are_refused(void) {
  static const char *const names[] = {"projections", "combined", "keys", "tables", "shown", "bins"};
  const gbt_mem mem = gbt_mem_default();
  int64_t n_refused = 0, n_taken = 0;
  for (uint64_t seed = 0; seed < 12; seed++) {
    test_rng rng = {seed};
    mapped m;
    size_t n = 0;
    REQUIRE(mapped_make(&m, seed));
    uint8_t *bytes = bytes_of(&m.parts, &n);
    gbti_model_head head;
    REQUIRE(bytes != NULL);
    memcpy(&head, bytes, sizeof head);
    for (uint32_t i = 0; i < head.n_sections; i++) {
      gbti_section at;
      int mine = 0;
      memcpy(&at, bytes + sizeof head + i * sizeof at, sizeof at);
      for (size_t k = 0; k < sizeof names / sizeof *names; k++) mine |= strncmp(at.name, names[k], 16) == 0;
      const uint64_t step = at.bytes / 150 + 1;
      for (uint64_t b = 0; mine && b < at.bytes; b += step) {
        gbt_model *model = NULL;
        const uint8_t was = bytes[at.beg + b];
        bytes[at.beg + b] ^= (uint8_t)(1 << test_below(&rng, 8));
        uint64_t sum = gbt_checksum(bytes + sizeof head, n - sizeof head);
        memcpy(bytes + offsetof(gbti_model_head, checksum), &sum, sizeof sum);
        if (gbt_model_open(&mem, bytes, n, &model, test_err) == GBT_OK) {
          size_t n_again = 0;
          uint8_t *again = bytes_of(&model->parts, &n_again);
          if (CHECK_EQ_U64(n, n_again)) CHECK_EQ_BYTES(again, bytes, n);
          gbt_mem_free(&mem, again);
          n_taken++;
        } else {
          n_refused++;
        }
        gbt_model_close(model);
        bytes[at.beg + b] = was;
      }
    }
    gbt_mem_free(&mem, bytes);
    mapped_free(&m);
  }
  CHECK(n_refused > 500 && n_taken > 500);
  test_note("%lld damaged models refused, %lld read", (long long)n_refused, (long long)n_taken);
}

/* ---- made of other schemas ---- */

/* Whether the schema has the levels of the row in all columns of a projection. */
static int knows_row(const gbt_schema *schema, const gbt_projection *proj, const gbt_table *table, int64_t r) {
  for (int32_t i = 0; i < proj->n_cols; i++) {
    const gbt_schema_column *col = &schema->col[proj->col[i]];
    const char *text = text_at(&table->cols[proj->col[i]], r);
    int known = text == NULL;
    for (int32_t k = 0; k < col->n_levels && !known; k++) known = strcmp(col->levels[k], text) == 0;
    if (!known) return 0;
  }
  return 1;
}

/* Tables of a model mean the same with the levels of other data; levels that are no more make a key unknown. */
static void tables_are_told_in_other_levels(void) {
  const gbt_mem mem = gbt_mem_default();
  int64_t n_known = 0, n_unknown = 0;
  for (uint64_t seed = 0; seed < 20; seed++) {
    test_rng rng = {seed + 1000};
    mapped m;
    REQUIRE(mapped_make(&m, seed));
    gbt_schema *base = maps_base(&rng, &m.t->table), *now = NULL, *both = NULL;
    REQUIRE(base != NULL);
    now = maps_extend(&rng, base, 3, 200);
    REQUIRE(now != NULL);
    REQUIRE_OK(gbt_schema_join(&mem, now, m.schema, &both, test_err));
    const int32_t n_tables = gbt_schema_n_tables(m.schema), first = m.schema->n_features - n_tables;
    CHECK_EQ_I64(both->n_features, now->n_features + n_tables);
    CHECK(gbt_feature_map_fault(both) == NULL && (n_tables > 0 || both == now));
    for (int32_t f = 0; f < n_tables; f++)
      for (int64_t r = 0; r < m.t->table.n_rows; r++) {
        const gbt_feature *feat = &m.schema->feat[first + f];
        const int known = knows_row(now, &m.schema->proj[feat->projection], &m.t->table, r);
        CHECK(read_naively(both, &m.t->table, now->n_features + f, r, 0) ==
              (known ? read_naively(m.schema, &m.t->table, first + f, r, 0) : feat->unknown));
        n_known += known;
        n_unknown += !known;
      }
    gbt_schema_unref(both);
    gbt_schema_unref(now);
    gbt_schema_unref(base);
    mapped_free(&m);
  }
  CHECK(n_known > 1000 && n_unknown > 1000);
}

/* Trees go on with the numbers that their features have after those of the new data. */
static void trees_follow_their_tables(void) {
  const gbt_mem mem = gbt_mem_default();
  for (uint64_t seed = 0; seed < 20; seed++) {
    test_rng rng = {seed};
    mapped m;
    gbt_schema *now = NULL, *both = NULL;
    gbt_forest *forest = NULL;
    REQUIRE(mapped_make(&m, seed));
    now = maps_extend(&rng, m.base, seed % 4 == 0 ? 0 : 3, 50); /* the same levels */
    REQUIRE(now != NULL);
    REQUIRE_OK(gbt_schema_join(&mem, now, m.schema, &both, test_err));
    REQUIRE_OK(gbt_forest_relevel(&mem, &m.parts.forest, m.schema, both, &forest, test_err));
    const gbt_forest_view view = gbt_forest_view_of(forest);
    const int32_t n_plain = m.base->n_features;
    CHECK_EQ_I64(view.n_features, both->n_features);
    for (uint64_t i = 0; i < view.n_nodes; i++) {
      gbt_node node = m.parts.forest.nodes[i];
      if (node.left != 0 && (int32_t)(node.feat & GBT_NODE_FEATURE) >= n_plain)
        node.feat += (uint32_t)(now->n_features - n_plain);
      if ((node.feat & GBT_NODE_CATEGORICAL) != 0) node.arg = view.nodes[i].arg; /* sets may lie elsewhere */
      CHECK_EQ_BYTES(&view.nodes[i], &node, sizeof node);
    }
    gbt_forest_free(forest);
    gbt_schema_unref(both);
    gbt_schema_unref(now);
    mapped_free(&m);
  }
}

/* A model has the tables that its trees use, and predicts what the forest with all of them does. */
static void unused_tables_are_left_out(void) {
  const gbt_mem mem = gbt_mem_default();
  int64_t n_left_out = 0;
  for (uint64_t seed = 0; seed < 20; seed++) {
    mapped m;
    gbt_model *model = NULL;
    uint8_t *bytes = NULL;
    size_t n = 0;
    REQUIRE(mapped_make(&m, seed));
    const gbt_model_spec spec = {.forest = &m.parts.forest,
                                 .trees = {seed % 3, m.parts.forest.n_trees},
                                 .objective = m.parts.objective,
                                 .schema = m.schema};
    REQUIRE_OK(gbt_model_make(&mem, &spec, &bytes, &n, test_err));
    REQUIRE_OK(gbt_model_open(&mem, bytes, n, &model, test_err));
    const gbt_forest_view *view = gbt_model_forest(model);
    int32_t *old = test_alloc((size_t)view->n_features * sizeof *old), at = 0;
    for (int32_t f = 0; f < m.schema->n_features; f++) {
      int used = 0;
      for (uint64_t t = spec.trees.beg; t < spec.trees.end; t++)
        for (uint32_t i = 0; i < m.parts.forest.trees[t].n_nodes; i++) {
          const gbt_node *node = &m.parts.forest.nodes[m.parts.forest.trees[t].node_beg + i];
          used |= node->left != 0 && (int32_t)(node->feat & GBT_NODE_FEATURE) == f;
        }
      if (gbt_feature_has_table(m.schema->feat[f].kind) && !used) {
        n_left_out++;
        continue;
      }
      REQUIRE(at < view->n_features);
      old[at++] = f;
    }
    CHECK_EQ_I64(at, view->n_features);
    const uint64_t beg = m.parts.forest.trees[spec.trees.beg].node_beg;
    for (uint64_t i = 0; i < view->n_nodes; i++) {
      gbt_node node = view->nodes[i];
      if (node.left != 0)
        node.feat = (node.feat & ~(uint32_t)GBT_NODE_FEATURE) | (uint32_t)old[node.feat & GBT_NODE_FEATURE];
      CHECK_EQ_BYTES(&node, &m.parts.forest.nodes[beg + i], sizeof node);
    }
    for (int32_t f = 0; f < at; f++) {
      const gbt_feature *a = &m.schema->feat[old[f]], *b = &model->schema->feat[f];
      REQUIRE(a->kind == b->kind && a->col == b->col);
      if (!gbt_feature_has_table(a->kind)) continue;
      const gbt_projection *p = &m.schema->proj[a->projection], *q = &model->schema->proj[b->projection];
      REQUIRE(p->n_keys == q->n_keys && p->n_cols == q->n_cols);
      CHECK_EQ_BYTES(a->bin, b->bin, (size_t)p->n_keys);
      if (p->n_cols > 1) CHECK_EQ_BYTES(p->key, q->key, (size_t)p->n_keys * sizeof *p->key);
    }
    free(old);
    gbt_model_close(model);
    gbt_mem_free(&mem, bytes);
    mapped_free(&m);
  }
  CHECK(n_left_out > 20);
}

void suite_projections(void) {
  RUN(tables_are_told_in_other_levels);
  RUN(trees_follow_their_tables);
  RUN(unused_tables_are_left_out);
  RUN(models_keep_tables);
  RUN(damaged_tables_are_refused);
  RUN(keys_are_found);
  RUN(tables_are_read_by_key);
  RUN(a_schema_can_be_extended);
  RUN(wrong_maps_are_refused);
  RUN(too_many_keys_have_no_space);
}
