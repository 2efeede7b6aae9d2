/* Features that are read from tables by the key of a projection: the map that they stand in. */
#include "test.h"

#include "../../src/gbt/base/schema_impl.h"

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
  CHECK_EQ_I64(gbt_schema_level(twice, 3, "JFK"), 1);
  for (int32_t f = 0; f < 10; f++) {
    const gbt_feature *feat = &twice->feat[f], *from = &m.feat[(f - 4) % 3];
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

void suite_projections(void) {
  RUN(a_schema_can_be_extended);
  RUN(wrong_maps_are_refused);
  RUN(too_many_keys_have_no_space);
}
