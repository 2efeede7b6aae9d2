/* Trees as tables. Whatever trees a run mixes, the leaves and scores are the bits of the twin (naive_predict.h), and
 * codes are counts of cuts. What no machine without look-ups of bytes can run is skipped there, the rest is not. */
#include "../../src/gbt/model/predict_answers.h"
#include "../../src/gbt/model/predict_tops.h"

#include <math.h>

#include "fault.h"
#include "forests.h"
#include "naive_predict.h"
#include "numbers.h"

typedef struct stage {
  gbt_schema *schema;
  gbt_forest *forest;
  gbt_forest_view view;
  gbt_table table;
  gbt_column *cols;
  int64_t n_tables; /* trees that should become tables */
} stage;

typedef struct stage_spec {
  int32_t n_features, n_outputs, n_rounds, n_splits, max_depth;
  int same_layer;    /* a layer's nodes are all alike */
  int32_t with_sets; /* levels of the first feature, by which some nodes split; 0: all are numbers */
  int64_t n_rows;
  int leaves_in_16;  /* how often a node is not split; 0 for 4. With 8 and more trees are long and thin */
  int32_t more_sets; /* further features with as many levels */
  int vectors;       /* a round has one tree, whose leaves hold a value for every output */
} stage_spec;

enum { LEAST_FILLED = 16 }; /* of so many places one is a leaf's, where leaves hold vectors */

static void make_columns(stage *s, test_rng *rng, const stage_spec *spec) {
  gbt_schema_column *feat = test_alloc((size_t)spec->n_features * sizeof *feat);
  char(*name)[16] = test_alloc((size_t)spec->n_features * sizeof *name);
  gbt_mem mem = gbt_mem_default();
  char(*text)[16] = test_alloc((size_t)(spec->with_sets + 1) * sizeof *text);
  const char **letters = test_alloc((size_t)(spec->with_sets + 1) * sizeof *letters);
  for (int32_t i = 0; i < spec->with_sets; i++) {
    snprintf(text[i], sizeof text[i], "L%d", (int)i);
    letters[i] = text[i];
  }
  for (int32_t f = 0; f < spec->n_features; f++) {
    int levels = f <= spec->more_sets && spec->with_sets;
    snprintf(name[f], sizeof name[f], "x%d", (int)f);
    gbt_schema_column one = {name[f], "", levels ? GBT_CATEGORICAL : GBT_NUMERIC, levels ? spec->with_sets : 0,
                             levels ? letters : NULL};
    feat[f] = one;
  }
  CHECK_OK(gbt_schema_new(&mem, spec->n_features, feat, &s->schema, test_err));
  s->cols = test_alloc((size_t)spec->n_features * sizeof *s->cols);
  for (int32_t f = 0; f < spec->n_features; f++) {
    const gbt_schema_column *to = &s->schema->col[f];
    int levels = to->type == GBT_CATEGORICAL;
    double *x = test_alloc((size_t)(spec->n_rows + 1) * sizeof *x);
    int32_t *code = (int32_t *)(void *)x;
    for (int64_t r = 0; r < spec->n_rows; r++) {
      if (levels)
        code[r] = (int32_t)test_below(rng, (test_below(rng, 2) && spec->with_sets > 8 ? 8 : spec->with_sets) + 1);
      else
        x[r] = test_below(rng, 9) == 0 ? (double)NAN : near(rng, draw(rng, (spread)(f % N_SPREADS)));
      if (!levels && x[r] != x[r] && test_below(rng, 2)) x[r] = -x[r]; /* a NaN with its sign set */
    }
    gbt_column col = {to->name, "", to->type, levels ? GBT_CODES : GBT_F64, x, NULL, 0, to->n_levels, to->levels, 0};
    s->cols[f] = col;
  }
  gbt_table table = {.n_rows = spec->n_rows, .n_cols = spec->n_features, .cols = s->cols};
  s->table = table;
  free(feat);
  free(name);
  free(text);
  free(letters);
}

enum { MOST_WORDS = 8000 };

static void set_split(test_rng *rng, const stage_spec *spec, gbt_node *node) {
  int32_t first = spec->with_sets > 0 ? 1 + spec->more_sets : 0,
          f = first + (int32_t)test_below(rng, spec->n_features - first);
  node->feat = (uint32_t)f | (uint32_t)(test_u(rng) & GBT_NODE_MISSING_LEFT);
  node->arg.value = draw(rng, (spread)(f % N_SPREADS));
  if (spec->with_sets == 0 || test_below(rng, 3) > 0) return;
  uint32_t most = (uint32_t)(spec->with_sets + 31) / 32;
  node->feat = GBT_NODE_CATEGORICAL | (uint32_t)(test_u(rng) & (GBT_NODE_MISSING_LEFT | GBT_NODE_BULK_LEFT));
  node->feat |= (uint32_t)test_below(rng, 1 + spec->more_sets);
  node->arg.set.n_words = (uint32_t)test_below(rng, (int64_t)most + 1);
  node->arg.set.beg = (uint32_t)test_below(rng, MOST_WORDS - (int64_t)node->arg.set.n_words);
}

/* Splits the nodes in order, some of them not, down to max_depth. Returns the number of nodes. */
static uint32_t grow(test_rng *rng, const stage_spec *spec, gbt_node *nodes, uint32_t *depth) {
  uint32_t n = 1, layer[4096] = {0};
  gbt_node alike = {.left = 0};
  memset(nodes, 0, 4096 * sizeof *nodes);
  *depth = 0;
  for (uint32_t i = 0; i < n; i++) {
    int fresh = i == 0 || layer[i] != layer[i - 1];
    if (fresh) set_split(rng, spec, &alike);
    nodes[i].arg.value = test_bell(rng);
    if (layer[i] == (uint32_t)spec->max_depth || (int32_t)(n / 2) >= spec->n_splits) continue;
    int is_last = i + 1 == n; /* of a thin tree's nodes */
    if (!spec->same_layer && !is_last && test_below(rng, 16) < (spec->leaves_in_16 > 0 ? spec->leaves_in_16 : 4))
      continue;
    nodes[i] = alike;
    if (!spec->same_layer) set_split(rng, spec, &nodes[i]);
    nodes[i].left = n;
    layer[n] = layer[n + 1] = layer[i] + 1;
    if (layer[n] > *depth) *depth = layer[n];
    n += 2;
  }
  return n;
}

static void make_trees(stage *s, test_rng *rng, const stage_spec *spec) {
  gbt_mem mem = gbt_mem_default();
  const int32_t width = spec->vectors ? spec->n_outputs : 1;
  const gbt_forest_view shape = {
      .n_features = spec->n_features, .n_outputs = spec->n_outputs, .n_leaf_outputs = width, .n_parallel = 1};
  CHECK_OK(gbt_forest_new_like(&mem, &shape, &s->forest, test_err));
  double *values = test_alloc(4096 * (size_t)width * sizeof *values);
  gbt_node *nodes = test_alloc(4096 * sizeof *nodes);
  double *zeros = test_alloc(4096 * sizeof *zeros);
  uint32_t *counts = test_alloc(4096 * sizeof *counts);
  memset(zeros, 0, 4096 * sizeof *zeros);
  memset(counts, 0, 4096 * sizeof *counts);
  uint32_t *words = test_alloc(MOST_WORDS * sizeof *words);
  for (int32_t t = 0; t < spec->n_rounds * spec->n_outputs / width; t++) {
    uint32_t depth, n = grow(rng, spec, nodes, &depth), n_words = spec->with_sets ? MOST_WORDS : 0;
    for (int i = 0; i < MOST_WORDS; i++) words[i] = (uint32_t)test_u(rng);
    const uint32_t places = depth < 6 ? 64 : depth > 8 ? 256 : 1u << depth;
    const int fits = depth <= GBTI_TABLE_DEPTH || (depth <= GBTI_TABLE_LAYERS && n <= 511);
    s->n_tables += fits && (width == 1 || places <= LEAST_FILLED * (n / 2 + 1));
    for (uint32_t i = 0; i < n * (uint32_t)width && width > 1; i++) values[i] = test_bell(rng);
    for (uint32_t i = 0; i < n && width > 1; i++)
      if (nodes[i].left == 0) nodes[i].arg.vector = i;
    gbt_tree_parts tree = {n, n_words, nodes, zeros, zeros, counts, words, values, {0}};
    CHECK_OK(gbt_forest_add(s->forest, &tree, test_err));
  }
  free(words);
  free(values);
  s->view = gbt_forest_view_of(s->forest);
  free(nodes);
  free(zeros);
  free(counts);
}

static void stage_open(stage *s, test_rng *rng, const stage_spec *spec) {
  memset(s, 0, sizeof *s);
  make_columns(s, rng, spec);
  make_trees(s, rng, spec);
}

static void stage_close(stage *s) {
  for (int32_t f = 0; f < s->table.n_cols; f++) free((void *)(uintptr_t)s->cols[f].values);
  free(s->cols);
  gbt_forest_free(s->forest);
  gbt_schema_unref(s->schema);
}

static void check_n_tables(gbt_ctx *ctx, const stage *s, gbt_tree_range trees) {
  gbti_pack *pack;
  REQUIRE_OK(gbti_pack_new(ctx, &s->view, trees, &pack, test_err));
  CHECK_EQ_I64((int64_t)(pack->trees.end - pack->trees.beg), (int64_t)(trees.end - trees.beg));
  CHECK_EQ_I64((int64_t)pack->tables.n, gbti_tables_run(ctx) ? s->n_tables : 0);
  CHECK_EQ_I64((int64_t)pack->tops.n, gbti_walk_here(ctx) == GBTI_WALK_TOPS ? (int64_t)s->view.n_trees : 0);
  gbti_pack_free(pack);
}

/* Scores and leaves with every instruction set and some numbers of threads. */
static void check_stage(stage *s, test_rng *rng) {
  gbt_tree_range trees = {0, s->view.n_trees}, some = {s->view.n_trees / 3, s->view.n_trees - s->view.n_trees / 4};
  int64_t n_rows = s->table.n_rows, n = n_rows * s->view.n_outputs;
  double *got = test_alloc((size_t)n * sizeof *got), *offset = test_alloc((size_t)n * sizeof *offset);
  for (int64_t i = 0; i < n; i++) offset[i] = test_bell(rng);
  for (int i = 0; i < 4; i++) {
    static const int threads[] = {1, 2, 3, 1};
    static const gbt_simd simds[] = {GBT_SIMD_AUTO, GBT_SIMD_AUTO, GBT_SIMD_SCALAR, GBT_SIMD_AVX2};
    gbt_ctx ctx;
    gbt_binding *binding;
    REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), threads[i], simds[i], NULL, NULL, test_err));
    REQUIRE_OK(gbt_binding_new(&ctx, &s->table, s->schema, GBT_UNSEEN_PRIOR, &binding, test_err));
    int32_t *leaves = twin_leaves(&s->view, binding, trees), *part = twin_leaves(&s->view, binding, some);
    double *want = twin_scores(&s->view, n_rows, trees, offset, leaves);
    double *want_part = twin_scores(&s->view, n_rows, some, NULL, part);
    check_n_tables(&ctx, s, trees);
    check_both_ways(&ctx, &s->view, binding, trees, leaves);
    check_both_ways(&ctx, &s->view, binding, some, part);
    CHECK_OK(gbt_predict_scores(&ctx, &s->view, binding, trees, offset, got, test_err));
    CHECK_EQ_BYTES(got, want, (size_t)n * sizeof *got);
    CHECK_OK(gbt_predict_scores(&ctx, &s->view, binding, some, NULL, got, test_err));
    CHECK_EQ_BYTES(got, want_part, (size_t)n * sizeof *got);
    check_scores_packed(&ctx, &s->view, binding, trees, offset, want);
    free(leaves);
    free(part);
    free(want);
    free(want_part);
    gbt_binding_free(binding);
    gbt_ctx_close(&ctx);
  }
  free(got);
  free(offset);
}

static const int64_t row_counts[] = {1, 63, 64, 65, 191, 192, 255, 256, 257, 320, 511, 512, 513, 1300};

static void random_trees(void) {
  test_rng rng = {31};
  for (int i = 0; i < 60; i++) {
    stage s;
    stage_spec spec = {1 + (int32_t)test_below(&rng, 30),
                       1 + (int32_t)test_below(&rng, 4),
                       1 + (int32_t)test_below(&rng, 12),
                       1 + (int32_t)test_below(&rng, 300),
                       i % 10,
                       0,
                       0,
                       row_counts[test_below(&rng, 14)],
                       0,
                       0,
                       i % 3 == 2 && i % 4 > 0};
    stage_open(&s, &rng, &spec);
    check_stage(&s, &rng);
    stage_close(&s);
  }
}

/* Every depth that is a table and one that is none, with all the nodes of a complete tree or nearly; of few columns, of
 * more than a layer has nodes, and of two. */
static void full_trees(void) {
  test_rng rng = {32};
  static const int32_t n_features[] = {6, 6, 300, 2};
  for (int32_t depth = 0; depth <= GBTI_TABLE_DEPTH + 1; depth++) {
    for (int i = 0; i < 4; i++) {
      stage s;
      stage_spec spec = {n_features[i], 2, 4, 2000, depth, i == 1, 0, 600, 0, 0, (depth + i) % 2};
      stage_open(&s, &rng, &spec);
      check_stage(&s, &rng);
      stage_close(&s);
    }
  }
}

/* Trees that split by level, deep ones and tables in one run; sets of all widths. */
static void mixed_runs(void) {
  test_rng rng = {33};
  static const int32_t levels[] = {3, 29, 30, 31, 250, 500, 1000, 2010, 2020, 5000};
  for (int i = 0; i < 40; i++) {
    stage s;
    stage_spec spec = {5, 1 + i % 3, 9, 400, 4 + i % 7, i % 4 == 0, levels[i % 10], row_counts[i % 14], 0, 0, i % 2};
    stage_open(&s, &rng, &spec);
    check_stage(&s, &rng);
    stage_close(&s);
  }
}

/* Long sets, whose answers are read from memory: numbers of them around those of a word, several columns, codes around
 * the ends of words. Sets are left out from the last one on. */
static void long_sets(void) {
  test_rng rng = {38};
  static const int32_t levels[] = {2017, 2018, 2048, 2049, 2081, 4096, 5000, 8191, 6000, 7000, 9000, 10000, 12000};
  int64_t n_masks = 0, few = 0, many = 0;
  for (int i = 0; i < 39; i++) {
    stage s;
    stage_spec spec = {5, 1 + i % 2, 1 + i % 13, 400, 3 + i % 9, i % 4 == 0, levels[i % 13], row_counts[i % 14],
                       0, i % 3,     i % 7 == 3};
    stage_open(&s, &rng, &spec);
    gbt_ctx ctx;
    gbti_pack *pack;
    REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
    gbt_tree_range trees = {0, s.view.n_trees};
    REQUIRE_OK(gbti_pack_new(&ctx, &s.view, trees, &pack, test_err));
    n_masks += pack->tables.n_masks;
    few += pack->tables.n_masks > 0 && pack->tables.n_masks < 64;
    many += pack->tables.n_masks > 128;
    int run = gbti_tables_run(&ctx);
    gbti_pack_free(pack);
    gbt_ctx_close(&ctx);
    if (i == 38 && run) CHECK(n_masks > 1000 && few > 3 && many > 3);
    check_stage(&s, &rng);
    stage_close(&s);
  }
}

/* One set of all levels among many shorter ones: answers would take too much room, rows are asked one by one. */
static void sets_without_room(void) {
  test_rng rng = {39};
  stage s;
  stage_spec spec = {3, 1, 30, 255, 7, 0, 65000, 200, 0, 0, 0};
  stage_open(&s, &rng, &spec);
  for (uint64_t t = 0; t < s.view.n_trees; t++) {
    const gbt_tree *tree = &s.view.trees[t];
    gbt_node *nodes = (gbt_node *)(uintptr_t)(s.view.nodes + tree->node_beg);
    for (uint32_t i = 0, n_long = 0; i < tree->n_nodes; i++) {
      if (nodes[i].left == 0 || !(nodes[i].feat & GBT_NODE_CATEGORICAL) || nodes[i].arg.set.n_words < 80) continue;
      nodes[i].arg.set.n_words = t > 0 || n_long++ > 0 ? 80 : 2031;
      if (nodes[i].arg.set.n_words > 80) nodes[i].arg.set.beg = 0;
    }
  }
  gbt_ctx ctx;
  gbti_pack *pack;
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  gbt_tree_range trees = {0, s.view.n_trees};
  REQUIRE_OK(gbti_pack_new(&ctx, &s.view, trees, &pack, test_err));
  if (gbti_tables_run(&ctx)) CHECK(pack->tables.n_answers == 1 && pack->tables.n_masks == 0);
  gbti_pack_free(pack);
  gbt_ctx_close(&ctx);
  check_stage(&s, &rng);
  stage_close(&s);
}

static void turned_bits(void) {
  test_rng rng = {40};
  gbt_ctx ctx;
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  for (int i = 0; gbti_tables_run(&ctx) && i < 200; i++) {
    uint64_t from[64], to[64 * 3], want[64] = {0};
    size_t stride = 1 + (size_t)i % 3;
    for (int r = 0; r < 64; r++) {
      from[r] = i % 5 == 0 ? (uint64_t)(r == i % 64) << (i % 63) : (uint64_t)test_u(&rng);
      for (int b = 0; b < 64; b++) want[b] |= (from[r] >> b & 1) << r;
    }
    gbti_turn_bits(from, to, stride);
    for (size_t b = 0; b < 64; b++) CHECK(to[b * stride] == want[b]);
  }
  gbt_ctx_close(&ctx);
}

/* Tops whose places are numbers on some layers. */
typedef struct numbered {
  int64_t n, whole, walked, with_sets, widest, most_layers;
} numbered;

static void count_numbered(const stage *s, numbered *seen) {
  gbt_ctx ctx;
  gbti_pack *pack;
  gbt_tree_range trees = {0, s->view.n_trees};
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AVX2, NULL, NULL, test_err));
  REQUIRE_OK(gbti_pack_new(&ctx, &s->view, trees, &pack, test_err));
  for (uint64_t t = 0; pack->tops.n > 0 && t < trees.end; t++) {
    const gbti_top *top = &pack->tops.at[t];
    if (!top->is_top || top->n_ways == top->n_layers) continue;
    seen->n++;
    seen->whole += top->is_whole;
    seen->walked += !top->is_whole;
    for (uint32_t d = top->n_ways; d < top->n_layers; d++) {
      seen->with_sets += top->n_sets[d] > 0;
      if (top->width[d] > seen->widest) seen->widest = top->width[d];
    }
    if (top->n_layers > seen->most_layers) seen->most_layers = top->n_layers;
  }
  gbti_pack_free(pack);
  gbt_ctx_close(&ctx);
}

/* Below the layers whose places follow from the way; up to the limits of layers and leaves, and over them. */
static void long_trees(void) {
  numbered seen = {0};
  test_rng rng = {37};
  static const int32_t splits[] = {30, 100, 254, 255, 256};
  int64_t n_tables = 0, deepest = 0;
  for (int i = 0; i < 50; i++) {
    stage s;
    stage_spec spec = {1 + i % 9,          1 + i % 2, 4, splits[i % 5], 9 + (i % 7) * 10, 0, i % 3 == 1 ? 100 : 0,
                       row_counts[i % 14], 4 + i % 8, 0, i % 3 == 1};
    if (spec.with_sets) spec.n_features++;
    stage_open(&s, &rng, &spec);
    gbt_ctx ctx;
    gbti_pack *pack;
    REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
    gbt_tree_range trees = {0, s.view.n_trees};
    REQUIRE_OK(gbti_pack_new(&ctx, &s.view, trees, &pack, test_err));
    for (uint64_t t = 0; pack->tables.at != NULL && t < trees.end; t++)
      if (pack->tables.at[t].is_table && pack->tables.at[t].depth > GBTI_TABLE_DEPTH) {
        n_tables++;
        if (pack->tables.at[t].depth > deepest) deepest = pack->tables.at[t].depth;
      }
    int run = gbti_tables_run(&ctx);
    gbti_pack_free(pack);
    gbt_ctx_close(&ctx);
    if (i == 49 && run) CHECK(n_tables > 50 && deepest > 40);
    count_numbered(&s, &seen);
    if (i == 49 && seen.n > 0) {
      CHECK(seen.whole > 50 && seen.walked > 20 && seen.with_sets > 50);
      CHECK(seen.widest == 64 && seen.most_layers >= 25);
    }
    check_stage(&s, &rng);
    stage_close(&s);
  }
}

/* Trees around the largest whose nodes tops number. */
static void large_trees(void) {
  test_rng rng = {41};
  for (uint32_t n = GBTI_TOP_NODES - 1; n <= GBTI_TOP_NODES + 1; n += 2) {
    stage s;
    stage_spec spec = {3, 1, 1, 1, 1, 0, 0, 300, 0, 0, 0};
    stage_open(&s, &rng, &spec);
    gbt_node *nodes = test_alloc(n * sizeof *nodes);
    double *zeros = test_alloc(n * sizeof *zeros);
    uint32_t *counts = test_alloc(n * sizeof *counts);
    memset(nodes, 0, n * sizeof *nodes);
    memset(zeros, 0, n * sizeof *zeros);
    memset(counts, 0, n * sizeof *counts);
    for (uint32_t i = 0; i < n; i++) {
      if (i < n / 2) {
        nodes[i].left = 2 * i + 1;
        nodes[i].feat = i % 3;
        nodes[i].arg.value = (double)test_below(&rng, 80) / 7.0;
      } else {
        nodes[i].arg.value = test_bell(&rng);
      }
    }
    gbt_tree_parts tree = {n, 0, nodes, zeros, zeros, counts, NULL, NULL, {0}};
    CHECK_OK(gbt_forest_add(s.forest, &tree, test_err));
    s.view = gbt_forest_view_of(s.forest);
    for (int simd = GBT_SIMD_SCALAR; simd <= (int)gbt_simd_best(); simd++) {
      gbt_ctx ctx;
      gbt_binding *binding;
      gbti_pack *pack;
      gbt_tree_range trees = {0, s.view.n_trees};
      REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, (gbt_simd)simd, NULL, NULL, test_err));
      REQUIRE_OK(gbt_binding_new(&ctx, &s.table, s.schema, GBT_UNSEEN_PRIOR, &binding, test_err));
      REQUIRE_OK(gbti_pack_new(&ctx, &s.view, trees, &pack, test_err));
      if (gbti_walk_here(&ctx) == GBTI_WALK_TOPS) CHECK_EQ_I64(pack->tops.at[1].is_top, n <= GBTI_TOP_NODES);
      gbti_pack_free(pack);
      int32_t *leaves = twin_leaves(&s.view, binding, trees);
      check_both_ways(&ctx, &s.view, binding, trees, leaves);
      free(leaves);
      gbt_binding_free(binding);
      gbt_ctx_close(&ctx);
    }
    free(nodes);
    free(zeros);
    free(counts);
    stage_close(&s);
  }
}

/* Tables of every few rows: blocks whose last group is not full. */
static void every_few_rows(void) {
  test_rng rng = {38};
  for (int i = 0; i < 4; i++) {
    stage s;
    stage_spec spec = {9, 1, 3, 30, 6 + i / 2 * 3, 0, 12 * (i % 2), 1100, 0, 0, 0};
    stage_open(&s, &rng, &spec);
    gbt_tree_range trees = {0, s.view.n_trees};
    for (int64_t n = 1; n <= 1100; n += n < 200 ? 1 : 37) {
      gbt_ctx ctx;
      gbt_binding *binding;
      s.table.n_rows = n;
      const gbt_simd simd = n % 2 ? GBT_SIMD_AVX2 : GBT_SIMD_AUTO;
      REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, simd, NULL, NULL, test_err));
      REQUIRE_OK(gbt_binding_new(&ctx, &s.table, s.schema, GBT_UNSEEN_PRIOR, &binding, test_err));
      int32_t *leaves = twin_leaves(&s.view, binding, trees);
      double *want = twin_scores(&s.view, n, trees, NULL, leaves);
      check_both_ways(&ctx, &s.view, binding, trees, leaves);
      check_scores_packed(&ctx, &s.view, binding, trees, NULL, want);
      free(leaves);
      free(want);
      gbt_binding_free(binding);
      gbt_ctx_close(&ctx);
    }
    stage_close(&s);
  }
}

/* Calls of all sizes, ranges of trees and instruction sets, one after the other: what is kept must never show. */
static void predictors_keep_packs(void) {
  test_rng rng = {36};
  for (int i = 0; i < 6; i++) {
    stage s;
    stage_spec spec = {7, 1 + i % 2, 30, 40, 7 + i % 3, 0, i % 3 == 2 ? 40 : 0, 400, 0, 0, i % 4 == 3};
    stage_open(&s, &rng, &spec);
    gbt_mem mem = gbt_mem_default();
    gbt_predictor *predictor;
    REQUIRE_OK(gbt_predictor_new(&mem, &s.view, &predictor, test_err));
    for (int call = 0; call < 40; call++) {
      uint64_t n_trees = s.view.n_trees;
      gbt_tree_range trees = {0, n_trees};
      if (call % 3 == 1) trees.beg = (uint64_t)test_below(&rng, (int64_t)n_trees);
      if (call % 3 != 0) trees.end = trees.beg + (uint64_t)test_below(&rng, (int64_t)(n_trees - trees.beg) + 1);
      s.table.n_rows = call % 5 == 4 ? 400 : 1 + test_below(&rng, 60);
      const gbt_simd simd = call % 8 == 7 ? GBT_SIMD_SCALAR : call % 8 == 3 ? GBT_SIMD_AVX2 : GBT_SIMD_AUTO;
      gbt_ctx ctx;
      gbt_binding *binding;
      REQUIRE_OK(gbt_ctx_open(&ctx, mem, 1, simd, NULL, NULL, test_err));
      REQUIRE_OK(gbt_binding_new(&ctx, &s.table, s.schema, GBT_UNSEEN_PRIOR, &binding, test_err));
      size_t n = (size_t)s.table.n_rows, n_scores = n * (size_t)s.view.n_outputs * sizeof(double);
      size_t n_leaves = n * (size_t)(trees.end - trees.beg) * sizeof(int32_t);
      int32_t *leaves = twin_leaves(&s.view, binding, trees), *got_leaves = test_alloc(n_leaves);
      double *want = twin_scores(&s.view, s.table.n_rows, trees, NULL, leaves), *got = test_alloc(n_scores);
      CHECK_OK(gbt_predictor_scores(&ctx, predictor, binding, trees, NULL, got, test_err));
      CHECK_EQ_BYTES(got, want, n_scores);
      CHECK_OK(gbt_predictor_leaves(&ctx, predictor, binding, trees, got_leaves, test_err));
      CHECK_EQ_BYTES(got_leaves, leaves, n_leaves);
      free(leaves);
      free(got_leaves);
      free(want);
      free(got);
      gbt_binding_free(binding);
      gbt_ctx_close(&ctx);
    }
    gbt_predictor_free(predictor);
    stage_close(&s);
  }
}

typedef struct sweep {
  stage *s;
  double *out;
  gbt_simd simd;
} sweep;

static gbt_status predict_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  sweep *w = arg;
  gbt_ctx ctx;
  gbt_binding *binding = NULL;
  gbt_predictor *predictor;
  gbt_tree_range trees = {0, w->s->view.n_trees};
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 2, w->simd, NULL, NULL, err));
  gbt_status status = gbt_predictor_new(mem, &w->s->view, &predictor, err);
  if (status == GBT_OK) status = gbt_binding_new(&ctx, &w->s->table, w->s->schema, GBT_UNSEEN_PRIOR, &binding, err);
  for (int i = 0; status == GBT_OK && i < 2; i++)
    status = gbt_predictor_scores(&ctx, predictor, binding, trees, NULL, w->out, err);
  gbt_binding_free(binding);
  gbt_predictor_free(predictor);
  gbt_ctx_close(&ctx);
  return status;
}

static void allocations_fail(void) {
  test_rng rng = {35};
  static const int32_t levels[] = {0, 20, 3000};
  for (int i = 0; i < 3; i++) {
    stage s;
    stage_spec spec = {6, 2, 4, 60, 6, 0, levels[i], 2000, 0, 0, i % 2};
    stage_open(&s, &rng, &spec);
    sweep w = {&s, test_alloc(4000 * sizeof(double)), GBT_SIMD_AUTO};
    CHECK(fault_sweep(predict_once, &w) >= 20);
    w.simd = GBT_SIMD_AVX2;
    CHECK(fault_sweep(predict_once, &w) >= 20);
    free(w.out);
    stage_close(&s);
  }
}

void suite_predict_tables(void) {
  RUN(random_trees);
  RUN(full_trees);
  RUN(mixed_runs);
  RUN(long_sets);
  RUN(sets_without_room);
  RUN(turned_bits);
  RUN(long_trees);
  RUN(large_trees);
  RUN(every_few_rows);
  RUN(predictors_keep_packs);
  RUN(allocations_fail);
}
