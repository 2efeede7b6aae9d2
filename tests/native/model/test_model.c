/* Model bytes: what is written is what is read, in one form only; whatever is wrong is refused. */
#include "../../src/gbt/model/model_impl.h"

#include "../../src/gbt/bytes/format.h"
#include "../../src/gbt/model/predict.h"
#include "../../src/gbt/bytes/utf8.h"
#include "../../src/gbt/tree/check.h"
#include "fault.h"
#include "forests.h"

static const char *const some_texts[] = {"yes", NULL, "", "no \xe2\x82\xac", "a longer text, longer than one word"};
static const double some_numbers[] = {0.5, -0.0, INFINITY, 1e-310};
static const int32_t some_ints[] = {1, INT32_MIN, 3};
static const gbt_meta some_meta[] = {
    {"classes", GBT_META_TEXT, 5, some_texts, NULL, NULL},
    {"log", GBT_META_DOUBLE, 4, NULL, some_numbers, NULL},
    {"ints", GBT_META_INT, 3, NULL, NULL, some_ints},
    {"no texts", GBT_META_TEXT, 0, some_texts, NULL, NULL},
    {"no numbers", GBT_META_DOUBLE, 0, NULL, NULL, NULL},
    {"no ints", GBT_META_INT, 0, NULL, NULL, NULL},
    {"\xc3\xa9t\xc3\xa9", GBT_META_INT, 2, NULL, NULL, some_ints},
};
enum { N_META = sizeof some_meta / sizeof some_meta[0] };

typedef struct sample {
  gbt_schema *schema;
  gbt_forest *forest;
  gbt_model_parts parts;
  uint8_t *bytes;
  size_t n_bytes;
} sample;

static gbt_mem plain_mem(void) { return gbt_mem_default(); }

/* vectors: leaves hold a value for every output. */
static int sample_of(sample *s, uint64_t seed, int32_t n_features, const forest_spec *spec, int vectors,
                     int32_t n_meta) {
  test_rng rng = {seed};
  gbt_mem mem = plain_mem();
  s->schema = make_schema(&rng, n_features, 40);
  s->forest = vectors ? make_vector_forest(&rng, s->schema, spec) : make_forest(&rng, s->schema, spec);
  gbt_objective_kind kind = spec->n_outputs > 1 ? GBT_OBJ_SOFTMAX : GBT_OBJ_LOGISTIC;
  gbt_model_parts parts = {gbt_forest_view_of(s->forest), gbt_objective_make(kind, spec->n_outputs), s->schema,
                           some_meta, n_meta};
  s->parts = parts;
  return CHECK_OK(gbt_model_write(&mem, &s->parts, &s->bytes, &s->n_bytes, test_err));
}

static int sample_open(sample *s, uint64_t seed, int32_t n_features, const forest_spec *spec, int32_t n_meta) {
  return sample_of(s, seed, n_features, spec, 0, n_meta);
}

static void sample_close(sample *s) {
  gbt_mem mem = plain_mem();
  gbt_mem_free(&mem, s->bytes);
  gbt_forest_free(s->forest);
  gbt_schema_unref(s->schema);
}

static const forest_spec small = {2, 2, 3, 12, SHAPE_BUSHY, 0};

/* ---- what is read is what was written ---- */

static void check_nodes(const gbt_forest_view *got, uint64_t a, const gbt_forest_view *want, uint64_t b, uint32_t n) {
  uint64_t width = (uint64_t)want->n_leaf_outputs;
  for (uint32_t i = 0; i < n; i++) {
    const gbt_node *x = &got->nodes[a + i], *y = &want->nodes[b + i];
    if (y->left == 0 && width > 1)
      CHECK_EQ_BYTES(got->leaf_values + x->arg.vector * width, want->leaf_values + y->arg.vector * width, width * 8);
    else
      CHECK_EQ_BYTES(x, y, sizeof *x);
  }
}

static void check_forest(const gbt_forest_view *got, const gbt_forest_view *want) {
  CHECK_EQ_I64(got->n_features, want->n_features);
  CHECK_EQ_I64(got->n_outputs, want->n_outputs);
  CHECK_EQ_I64(got->n_leaf_outputs, want->n_leaf_outputs);
  CHECK_EQ_I64(got->n_parallel, want->n_parallel);
  CHECK_EQ_U64(got->n_trees, want->n_trees);
  CHECK_EQ_BYTES(got->base, want->base, (size_t)want->n_outputs * 8);
  for (uint64_t t = 0; t < want->n_trees; t++) {
    const gbt_tree *a = &got->trees[t], *b = &want->trees[t];
    CHECK_EQ_U64(a->n_nodes, b->n_nodes);
    CHECK_EQ_U64(a->n_words, b->n_words);
    check_nodes(got, a->node_beg, want, b->node_beg, b->n_nodes);
    CHECK_EQ_BYTES(got->gain + a->node_beg, want->gain + b->node_beg, b->n_nodes * 8);
    CHECK_EQ_BYTES(got->cover + a->node_beg, want->cover + b->node_beg, b->n_nodes * 8);
    CHECK_EQ_BYTES(got->count + a->node_beg, want->count + b->node_beg, b->n_nodes * 4);
    if (b->n_words > 0) CHECK_EQ_BYTES(got->sets + a->set_beg, want->sets + b->set_beg, b->n_words * 4);
  }
}

static void check_schema(const gbt_schema *got, const gbt_schema *want) {
  CHECK_EQ_I64(got->n_features, want->n_features);
  for (int32_t f = 0; f < want->n_features; f++) {
    CHECK_EQ_TEXT(got->col[f].name, want->col[f].name);
    CHECK_EQ_TEXT(got->col[f].tag, want->col[f].tag);
    CHECK_EQ_I64(got->col[f].type, want->col[f].type);
    CHECK_EQ_I64(got->col[f].n_levels, want->col[f].n_levels);
    for (int32_t i = 0; i < want->col[f].n_levels; i++) CHECK_EQ_TEXT(got->col[f].levels[i], want->col[f].levels[i]);
  }
}

static void check_meta(const gbt_model *model, const gbt_meta *want, int32_t n) {
  CHECK_EQ_I64(model->parts.n_meta, n);
  for (int32_t m = 0; m < n; m++) {
    const gbt_meta *got = gbt_model_meta(model, want[m].name);
    if (!CHECK(got == &model->meta[m])) continue;
    CHECK_EQ_TEXT(got->name, want[m].name);
    CHECK_EQ_I64(got->kind, want[m].kind);
    CHECK_EQ_I64(got->n, want[m].n);
    for (int64_t i = 0; i < got->n; i++) {
      if (got->kind == GBT_META_TEXT) CHECK_EQ_TEXT(got->text[i], want[m].text[i]);
      if (got->kind == GBT_META_DOUBLE) CHECK_EQ_BITS(got->num[i], want[m].num[i]);
      if (got->kind == GBT_META_INT) CHECK_EQ_I64(got->ints[i], want[m].ints[i]);
    }
  }
  CHECK(gbt_model_meta(model, "no such entry") == NULL);
}

static void round_trips(void) {
  static const forest_spec specs[] = {
      {1, 1, 0, 0, SHAPE_BUSHY, 0},   {1, 1, 1, 0, SHAPE_BUSHY, 0},        {3, 2, 4, 40, SHAPE_BUSHY, 0},
      {1, 1, 2, 100, SHAPE_CHAIN, 1}, {2, 1, 10, 2000, SHAPE_COMPLETE, 0},
  };
  gbt_mem mem = plain_mem();
  for (int i = 0; i < 15; i++) {
    sample s;
    gbt_model *model;
    int32_t n_meta = i % 3 == 0 ? 0 : N_META;
    const forest_spec *spec = &specs[i % 5 == 0 && i > 0 ? 2 : i % 5];
    if (sample_of(&s, (uint64_t)i, i == 0 ? 0 : 1 + i, spec, i % 2, n_meta) &&
        CHECK_OK(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err))) {
      check_forest(&model->parts.forest, &s.parts.forest);
      check_schema(model->schema, s.schema);
      check_meta(model, some_meta, n_meta);
      CHECK_EQ_BYTES(&model->parts.objective, &s.parts.objective, sizeof s.parts.objective);
      uint8_t *again;
      size_t n_again;
      if (CHECK_OK(gbt_model_write(&mem, &model->parts, &again, &n_again, test_err))) {
        CHECK_EQ_U64(n_again, s.n_bytes);
        CHECK_EQ_BYTES(again, s.bytes, s.n_bytes < n_again ? s.n_bytes : n_again);
        gbt_mem_free(&mem, again);
      }
      gbt_model_close(model);
    }
    sample_close(&s);
  }
}

/* An allocator that hands out junk must not show. */
static void bytes_depend_on_the_model_alone(void) {
  sample s;
  fault f;
  uint8_t *again = NULL;
  size_t n_again = 0;
  fault_start(&f, 0, 0);
  gbt_mem mem = fault_mem(&f);
  REQUIRE(sample_open(&s, 1, 9, &small, N_META));
  REQUIRE_OK(gbt_model_write(&mem, &s.parts, &again, &n_again, test_err));
  CHECK_EQ_U64(n_again, s.n_bytes);
  CHECK_EQ_BYTES(again, s.bytes, s.n_bytes);
  gbt_mem_free(&mem, again);
  CHECK_EQ_I64(f.n_live, 0);
  sample_close(&s);
}

/* The model of some of a forest's rounds. */
static void part_of_a_forest(void) {
  gbt_mem mem = plain_mem();
  sample s;
  gbt_model *model;
  uint8_t *bytes;
  size_t n_bytes;
  const forest_spec spec = {2, 2, 6, 20, SHAPE_BUSHY, 0};
  for (int vectors = 0; vectors < 2; vectors++) {
    REQUIRE(sample_of(&s, 3, 9, &spec, vectors, 0));
    gbt_model_parts part = s.parts;
    part.forest.trees += vectors ? 4 : 8;
    part.forest.n_trees = vectors ? 6 : 12;
    REQUIRE_OK(gbt_model_write(&mem, &part, &bytes, &n_bytes, test_err));
    REQUIRE_OK(gbt_model_open(&mem, bytes, n_bytes, &model, test_err));
    CHECK_EQ_U64(model->parts.forest.trees[0].node_beg, 0);
    check_forest(&model->parts.forest, &part.forest);
    gbt_model_close(model);
    gbt_mem_free(&mem, bytes);
    sample_close(&s);
  }
}

static void bytes_are_used_in_place(void) {
  gbt_mem mem = plain_mem();
  sample s;
  gbt_model *model;
  REQUIRE(sample_open(&s, 4, 9, &small, N_META));
  REQUIRE_OK(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err));
  const uint8_t *nodes = (const uint8_t *)model->parts.forest.nodes;
  const uint8_t *name = (const uint8_t *)model->schema->col[0].name;
  CHECK(model->own_bytes == NULL);
  CHECK(nodes > s.bytes && nodes < s.bytes + s.n_bytes);
  CHECK(name > s.bytes && name < s.bytes + s.n_bytes);
  gbt_model_close(model);
  for (size_t shift = 1; shift < 8; shift++) {
    uint8_t *moved = test_alloc(s.n_bytes + 8);
    memcpy(moved + shift, s.bytes, s.n_bytes);
    if (CHECK_OK(gbt_model_open(&mem, moved + shift, s.n_bytes, &model, test_err))) {
      free(moved); /* a copy was taken */
      CHECK(model->own_bytes != NULL);
      check_forest(&model->parts.forest, &s.parts.forest);
      check_schema(model->schema, s.schema);
      check_meta(model, some_meta, N_META);
      gbt_model_close(model);
    } else {
      free(moved);
    }
  }
  gbt_model_close(NULL);
  sample_close(&s);
}

/* The schema is counted by references like any other: it may outlive the model, its texts may not outlive the bytes. */
static void schema_may_outlive_the_model(void) {
  gbt_mem mem = plain_mem();
  sample s;
  gbt_model *model;
  REQUIRE(sample_open(&s, 5, 9, &small, 0));
  REQUIRE_OK(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err));
  gbt_schema *schema = gbt_schema_ref(model->schema);
  gbt_model_close(model);
  check_schema(schema, s.schema);
  gbt_schema_unref(schema);
  sample_close(&s);
}

static void model_predicts_as_the_forest(void) {
  test_rng rng = {6};
  gbt_mem mem = plain_mem();
  sample s;
  gbt_model *model;
  gbt_ctx ctx;
  enum { N = 300 };
  double a[2 * N], b[2 * N];
  REQUIRE(sample_open(&s, 6, 9, &small, 0));
  REQUIRE_OK(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err));
  REQUIRE_OK(gbt_ctx_open(&ctx, mem, 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  made_table *table = make_table(&rng, s.schema, N);
  gbt_tree_range all = {0, s.parts.forest.n_trees};
  for (int i = 0; i < 2; i++) {
    gbt_binding *binding;
    REQUIRE_OK(
        gbt_binding_new(&ctx, &table->table, i ? model->schema : s.schema, GBT_UNSEEN_PRIOR, &binding, test_err));
    CHECK_OK(
        gbt_predict_scores(&ctx, i ? &model->parts.forest : &s.parts.forest, binding, all, NULL, i ? b : a, test_err));
    gbt_binding_free(binding);
  }
  CHECK_EQ_BYTES(a, b, sizeof a);
  free_table(table);
  gbt_ctx_close(&ctx);
  gbt_model_close(model);
  sample_close(&s);
}

/* ---- what is refused ---- */

static void every_changed_byte_is_noticed(void) {
  gbt_mem mem = plain_mem();
  sample s;
  gbt_model *model;
  const forest_spec tiny = {1, 1, 1, 2, SHAPE_BUSHY, 1};
  REQUIRE(sample_open(&s, 7, 3, &tiny, N_META));
  for (size_t i = 0; i < s.n_bytes; i++)
    for (int bit = 0; bit < 8; bit++) {
      s.bytes[i] ^= (uint8_t)(1 << bit);
      CHECK_FAILS(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err), GBT_E_FORMAT, "");
      CHECK(model == NULL);
      s.bytes[i] ^= (uint8_t)(1 << bit);
    }
  for (size_t n = 0; n < s.n_bytes; n++)
    CHECK_FAILS(gbt_model_open(&mem, s.bytes, n, &model, test_err), GBT_E_FORMAT,
                n < 8 ? "not a gbt model" : "cut short");
  CHECK_OK(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err));
  gbt_model_close(model);
  sample_close(&s);
}

static void messages_say_what_is_wrong(void) {
  gbt_mem mem = plain_mem();
  sample s;
  gbt_model *model;
  REQUIRE(sample_open(&s, 8, 3, &small, 0));
  uint8_t *longer = test_alloc(s.n_bytes + 8);
  memcpy(longer, s.bytes, s.n_bytes);
  memset(longer + s.n_bytes, 0, 8);
  CHECK_FAILS(gbt_model_open(&mem, NULL, 0, &model, test_err), GBT_E_FORMAT, "not a gbt model");
  CHECK_FAILS(gbt_model_open(&mem, "RDX3 and so on", 14, &model, test_err), GBT_E_FORMAT, "not a gbt model");
  CHECK_FAILS(gbt_model_open(&mem, longer, s.n_bytes + 8, &model, test_err), GBT_E_FORMAT, "other bytes");
  CHECK_FAILS(gbt_model_open(&mem, longer, s.n_bytes + 1, &model, test_err), GBT_E_FORMAT, "other bytes");
  longer[8] = 3;
  CHECK_FAILS(gbt_model_open(&mem, longer, s.n_bytes, &model, test_err), GBT_E_FORMAT, "version 3");
  CHECK_FAILS(gbt_model_open(&mem, longer, s.n_bytes, &model, test_err), GBT_E_FORMAT, "a newer one");
  longer[8] = 1;
  CHECK_FAILS(gbt_model_open(&mem, longer, s.n_bytes, &model, test_err), GBT_E_FORMAT, "version 1");
  CHECK_FAILS(gbt_model_open(&mem, longer, s.n_bytes, &model, test_err), GBT_E_FORMAT, "train the model again");
  longer[8] = 2;
  longer[s.n_bytes / 2] ^= 1;
  CHECK_FAILS(gbt_model_open(&mem, longer, s.n_bytes, &model, test_err), GBT_E_FORMAT, "checksum");
  free(longer);
  sample_close(&s);
}

static gbt_status try_write(sample *s, const gbt_meta *meta, int32_t n_meta) {
  gbt_mem mem = plain_mem();
  uint8_t *bytes = NULL;
  size_t n_bytes = 1;
  s->parts.meta = meta;
  s->parts.n_meta = n_meta;
  gbt_status status = gbt_model_write(&mem, &s->parts, &bytes, &n_bytes, test_err);
  CHECK(status == GBT_OK ? n_bytes > 0 : bytes == NULL && n_bytes == 0);
  gbt_mem_free(&mem, bytes);
  return status;
}

static void writer_refuses_what_the_reader_would(void) {
  sample s;
  const char *bad = "\xff";
  const gbt_meta twice[] = {{"a", GBT_META_INT, 0, NULL, NULL, NULL}, {"a", GBT_META_INT, 0, NULL, NULL, NULL}};
  const gbt_meta no_name = {"", GBT_META_INT, 0, NULL, NULL, NULL};
  const gbt_meta negative = {"a", GBT_META_INT, -1, NULL, NULL, NULL};
  const gbt_meta no_kind = {"a", (gbt_meta_kind)3, 0, NULL, NULL, NULL};
  const gbt_meta bad_text = {"a", GBT_META_TEXT, 1, &bad, NULL, NULL},
                 bad_name = {bad, GBT_META_INT, 0, NULL, NULL, NULL};
  const forest_spec spec = {1, 2, 2, 9, SHAPE_BUSHY, 1};
  REQUIRE(sample_open(&s, 9, 5, &spec, 0));
  CHECK_FAILS(try_write(&s, twice, 2), GBT_E_ARG, "`a`");
  CHECK_FAILS(try_write(&s, &no_name, 1), GBT_E_ARG, "no name");
  CHECK_FAILS(try_write(&s, &negative, 1), GBT_E_ARG, "`a`");
  CHECK_FAILS(try_write(&s, &no_kind, 1), GBT_E_ARG, "`a`");
  CHECK_FAILS(try_write(&s, &bad_text, 1), GBT_E_ARG, "UTF-8");
  CHECK_FAILS(try_write(&s, &bad_name, 1), GBT_E_ARG, "UTF-8");
  const char *name = s.schema->col[2].name, *tag = s.schema->col[2].tag;
  s.schema->col[2].name = bad;
  CHECK_FAILS(try_write(&s, NULL, 0), GBT_E_DATA, "UTF-8");
  s.schema->col[2].name = name;
  s.schema->col[2].tag = bad;
  CHECK_FAILS(try_write(&s, NULL, 0), GBT_E_DATA, name);
  s.schema->col[2].tag = tag;
  s.parts.forest.n_features = 4;
  CHECK_FAILS(try_write(&s, NULL, 0), GBT_E_INTERNAL, "4");
  s.parts.forest.n_features = 5;
  s.parts.objective.n_outputs = 2;
  CHECK(try_write(&s, NULL, 0) != GBT_OK);
  s.parts.objective = gbt_objective_make(GBT_OBJ_CUSTOM, 2);
  CHECK_FAILS(try_write(&s, NULL, 0), GBT_E_INTERNAL, "the objective has 2 outputs and the forest has 1");
  s.parts.objective = gbt_objective_make(GBT_OBJ_LOGISTIC, 1);
  s.parts.objective.kind = GBT_N_OBJECTIVES;
  CHECK(try_write(&s, NULL, 0) != GBT_OK);
  s.parts.objective.kind = GBT_OBJ_LOGISTIC;
  s.parts.forest.n_trees = 3;
  CHECK_FAILS(try_write(&s, NULL, 0), GBT_E_INTERNAL, "rounds");
  s.parts.forest.n_trees = 4;
  s.forest->base[0] = (double)NAN;
  CHECK_FAILS(try_write(&s, NULL, 0), GBT_E_INTERNAL, "base");
  s.forest->base[0] = 0.0;
  s.forest->gain[3] = (double)NAN;
  CHECK_FAILS(try_write(&s, NULL, 0), GBT_E_INTERNAL, "tree 1: a gain");
  s.forest->gain[3] = INFINITY;
  s.forest->nodes[20].feat = 1u << 20; /* 19 nodes a tree */
  CHECK_FAILS(try_write(&s, NULL, 0), GBT_E_INTERNAL, "tree 2");
  s.forest->nodes[20].feat = 0;
  sample_close(&s);
}

/* ---- what the checks are made of ---- */

/* Trees of three nodes, one fault each. */
static void faults_of_trees(void) {
  const gbt_feature feat[2] = {{.kind = GBT_FEATURE_COLUMN, .col = 0, .type = GBT_NUMERIC},
                               {.kind = GBT_FEATURE_COLUMN, .col = 1, .type = GBT_CATEGORICAL}};
  const gbt_tree tree = {0, 0, 5, 4};
  gbt_node good[5];
  uint64_t seen[1];
  memset(good, 0, sizeof good);
  good[0].left = 1;
  good[0].feat = 0x7ffffffe & (GBT_NODE_MISSING_LEFT | GBT_NODE_BULK_LEFT);
  good[0].arg.value = INFINITY;
  good[1].left = 3;
  good[1].feat = 1 | GBT_NODE_CATEGORICAL;
  good[1].arg.set.beg = 1;
  good[1].arg.set.n_words = 3;
  CHECK(gbt_tree_fault(&tree, good, feat, 2, NULL, seen) == NULL);
  const uint64_t n_vectors = 7;
  good[2].arg.vector = 6;
  CHECK(gbt_tree_fault(&tree, good, feat, 2, &n_vectors, seen) == NULL);
  good[2].arg.vector = 7;
  CHECK_EQ_TEXT(gbt_tree_fault(&tree, good, feat, 2, &n_vectors, seen), "a leaf's values do not exist");
  good[2].arg.value = 0.0;
  static const struct {
    int node, field; /* field: 0 left, 1 feat, 2 value, 3 set.beg, 4 set.n_words */
    double x;
    const char *say;
  } bad[] = {
      {0, 0, 0, "has a feature"},
      {0, 0, 2, "parent"},
      {0, 0, 4, "outside"},
      {0, 0, 5, "outside"},
      {0, 0, 3, "two parents"},
      {1, 0, 1, "before"},
      {1, 0, 4294967295.0, "outside"},
      {1, 0, 2, "two parents"},
      {0, 1, 2, "not exist"},
      {0, 1, 536870911, "not exist"},
      {0, 1, 2147483648.0, "without levels"},
      {2, 1, 1, "leaf has"},
      {2, 2, INFINITY, "finite"},
      {2, 2, NAN, "finite"},
      {0, 2, NAN, "NaN"},
      {1, 3, 2, "set"},
      {1, 4, 4, "set"},
      {1, 3, 5, "set"},
      {1, 3, 4294967295.0, "set"},
      {1, 4, 4294967295.0, "set"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    gbt_node nodes[5];
    memcpy(nodes, good, sizeof nodes);
    gbt_node *node = &nodes[bad[i].node];
    if (bad[i].field == 0) node->left = (uint32_t)bad[i].x;
    if (bad[i].field == 1) node->feat = (uint32_t)bad[i].x;
    if (bad[i].field == 2) node->arg.value = bad[i].x;
    if (bad[i].field == 3) node->arg.set.beg = (uint32_t)bad[i].x;
    if (bad[i].field == 4) node->arg.set.n_words = (uint32_t)bad[i].x;
    const char *say = gbt_tree_fault(&tree, nodes, feat, 2, NULL, seen);
    if (!CHECK(say != NULL && strstr(say, bad[i].say) != NULL)) test_note("%d: %s", (int)i, say ? say : "none");
  }
  gbt_node sharing[5];
  memcpy(sharing, good, sizeof sharing);
  sharing[0].feat = sharing[1].feat;
  sharing[0].arg = sharing[1].arg;
  CHECK(gbt_tree_fault(&tree, sharing, feat, 2, NULL, seen) == NULL); /* as in a symmetric tree */
  sharing[0].arg.set.beg = 0;
  CHECK_EQ_TEXT(gbt_tree_fault(&tree, sharing, feat, 2, NULL, seen), "sets of levels overlap");
  sharing[0].arg.set.n_words = 1;
  CHECK(gbt_tree_fault(&tree, sharing, feat, 2, NULL, seen) == NULL);
  const gbt_tree empty = {0, 0, 0, 0}, huge = {0, 0, 1u << 31, 0}, two = {0, 0, 2, 0};
  CHECK_EQ_TEXT(gbt_tree_fault(&empty, good, feat, 2, NULL, seen), "it has no nodes");
  CHECK(gbt_tree_fault(&huge, good, feat, 2, NULL, seen) != NULL);
  CHECK(gbt_tree_fault(&two, good + 3, feat, 2, NULL, seen) != NULL);
}

static void faults_of_forests(void) {
  const double base[2] = {0.0, NAN};
  const gbt_forest_view good = {
      .n_features = 3, .n_outputs = 1, .n_leaf_outputs = 1, .n_parallel = 2, .n_trees = 4, .base = base};
  for (int i = 0; i <= 7; i++) {
    gbt_forest_view view = good;
    if (i == 1) view.n_features = -1;
    if (i == 2) view.n_features = 1 << 29;
    if (i == 3) view.n_outputs = 0;
    if (i == 4) view.n_parallel = 0;
    if (i == 5) view.n_outputs = 2; /* the second base score is NaN */
    if (i == 6) view.n_trees = 5;
    if (i == 7) view.n_leaf_outputs = 2;
    CHECK((gbt_forest_fault(&view) == NULL) == (i == 0));
  }
}

/* The twin decodes and encodes again: only the shortest form comes back as it was. */
static int twin_utf8_ok(const uint8_t *s, size_t n) {
  while (n > 0) {
    size_t len = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    if (len == 0 || len > n) return 0;
    uint32_t c = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
      if (s[i] >> 6 != 2) return 0;
      c = c << 6 | (s[i] & 63u);
    }
    if (len != (c < 0x80 ? 1u : c < 0x800 ? 2u : c < 0x10000 ? 3u : 4u)) return 0;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    s += len;
    n -= len;
  }
  return 1;
}

static void utf8(void) {
  test_rng rng = {10};
  static const uint8_t heads[] = {0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
                                  0xed, 0xee, 0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0xff};
  int64_t n_good = 0, n_wrong = 0;
  for (int i = 0; i < 400000; i++) {
    uint8_t text[24];
    size_t n = (size_t)test_below(&rng, 5) + (i % 7 == 0 ? 12 : 0);
    for (size_t j = 0; j < n; j++)
      text[j] = j < n - n % 12             ? 'a'
                : test_below(&rng, 3) == 0 ? heads[test_below(&rng, 16)]
                                           : (uint8_t)(0x80 + test_below(&rng, 64));
    int want = twin_utf8_ok(text, n);
    n_good += want;
    n_wrong += gbt_utf8_ok((const char *)text, n) != want;
  }
  CHECK_EQ_I64(n_wrong, 0);
  CHECK(n_good > 10000 && n_good < 390000);
}

/* The checksum of every single word differs from the others', and so do sums of words that trade places. */
static void checksum(void) {
  test_rng rng = {11};
  for (uint64_t n = 0; n <= 160; n += 8) {
    uint8_t a[160], b[160];
    for (int i = 0; i < 160; i++) a[i] = (uint8_t)test_u(&rng);
    memcpy(b, a, sizeof a);
    uint64_t sum = gbt_checksum(a, n);
    CHECK_EQ_U64(gbt_checksum(b, n), sum);
    CHECK(gbt_checksum(a, n + 8 <= 160 ? n + 8 : 0) != sum);
    for (uint64_t i = 0; i < n; i++) {
      b[i] ^= (uint8_t)(1 + test_below(&rng, 255));
      CHECK(gbt_checksum(b, n) != sum);
      b[i] = a[i];
    }
    for (uint64_t i = 0; i + 40 <= n; i += 8) { /* neighbours in one lane and in two */
      memcpy(b + i, a + i + 32, 8);
      memcpy(b + i + 32, a + i, 8);
      CHECK(gbt_checksum(b, n) != sum);
      memcpy(b, a, sizeof a);
      memcpy(b + i, a + i + 8, 8);
      memcpy(b + i + 8, a + i, 8);
      CHECK(gbt_checksum(b, n) != sum);
      memcpy(b, a, sizeof a);
    }
  }
}

/* ---- failing ---- */

static gbt_status write_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  const sample *s = arg;
  uint8_t *bytes;
  size_t n_bytes;
  gbt_status status = gbt_model_write(mem, &s->parts, &bytes, &n_bytes, err);
  gbt_mem_free(mem, bytes);
  return status;
}

static gbt_status open_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  const sample *s = arg;
  gbt_model *model;
  gbt_status status = gbt_model_open(mem, s->bytes, s->n_bytes, &model, err);
  gbt_model_close(model);
  return status;
}

static void allocations_fail(void) {
  sample s;
  REQUIRE(sample_open(&s, 12, 9, &small, N_META));
  CHECK(fault_sweep(write_once, &s) >= 5);
  CHECK(fault_sweep(open_once, &s) >= 8);
  uint8_t *bytes = s.bytes, *moved = test_alloc(s.n_bytes + 1);
  memcpy(moved + 1, bytes, s.n_bytes);
  s.bytes = moved + 1;
  CHECK(fault_sweep(open_once, &s) >= 9);
  s.bytes = bytes;
  free(moved);
  sample_close(&s);
}

void suite_model(void) {
  RUN(round_trips);
  RUN(bytes_depend_on_the_model_alone);
  RUN(part_of_a_forest);
  RUN(bytes_are_used_in_place);
  RUN(schema_may_outlive_the_model);
  RUN(model_predicts_as_the_forest);
  RUN(every_changed_byte_is_noticed);
  RUN(messages_say_what_is_wrong);
  RUN(writer_refuses_what_the_reader_would);
  RUN(faults_of_trees);
  RUN(faults_of_forests);
  RUN(utf8);
  RUN(checksum);
  RUN(allocations_fail);
}
