/* Forests in terms of other levels: every node must send every level, the missing value and unseen levels where it did.
 * */
#include "fault.h"
#include "test.h"

#include "../../src/gbt/tree/relevel.h"

enum { N_FEATURES = 5, MOST_LEVELS = 70, N_TREES = 12, MOST_NODES = 20 };

static char name_of[2 * MOST_LEVELS][16];

/* Features: numeric, ordinal, three categorical of which the last has the same levels in both schemas. */
typedef struct schema_plan {
  const char *levels[N_FEATURES][MOST_LEVELS];
  int32_t n[N_FEATURES];
} schema_plan;

static void draw_levels(test_rng *rng, schema_plan *plan, int feature, int32_t most) {
  int64_t *order = test_permutation(rng, 2 * MOST_LEVELS);
  plan->n[feature] = (int32_t)test_below(rng, most) + 1;
  for (int32_t i = 0; i < plan->n[feature]; i++) plan->levels[feature][i] = name_of[order[i]];
  free(order);
}

static gbt_status make_schema(const gbt_mem *mem, const schema_plan *plan, gbt_schema **out, gbt_error *err) {
  static const char *const names[N_FEATURES] = {"number", "rank", "a", "b", "same"};
  gbt_schema_column feat[N_FEATURES];
  for (int f = 0; f < N_FEATURES; f++) {
    feat[f].name = names[f];
    feat[f].tag = "";
    feat[f].type = f == 0 ? GBT_NUMERIC : f == 1 ? GBT_ORDINAL : GBT_CATEGORICAL;
    feat[f].n_levels = plan->n[f];
    feat[f].levels = plan->levels[f];
  }
  return gbt_schema_new(mem, N_FEATURES, feat, out, err);
}

static void draw_plans(test_rng *rng, schema_plan *old, schema_plan *now) {
  for (int i = 0; i < 2 * MOST_LEVELS; i++) snprintf(name_of[i], sizeof name_of[i], "l%d", i);
  memset(old, 0, sizeof *old);
  memset(now, 0, sizeof *now);
  draw_levels(rng, old, 1, 5);
  draw_levels(rng, old, 2, MOST_LEVELS);
  draw_levels(rng, old, 3, 3);
  draw_levels(rng, old, 4, MOST_LEVELS);
  *now = *old;
  draw_levels(rng, now, 2, MOST_LEVELS);
  draw_levels(rng, now, 3, 6);
}

static gbt_status draw_tree(test_rng *rng, const schema_plan *plan, gbt_forest *forest, gbt_error *err) {
  gbt_node nodes[MOST_NODES];
  double gain[MOST_NODES], cover[MOST_NODES];
  uint32_t count[MOST_NODES], sets[MOST_NODES * 3], n_words = 0;
  uint32_t n = 1 + (uint32_t)test_below(rng, MOST_NODES);
  memset(nodes, 0, sizeof nodes);
  for (uint32_t i = 0; i < n; i++) {
    gain[i] = test_unit(rng);
    cover[i] = test_unit(rng);
    count[i] = (uint32_t)test_below(rng, 100);
    nodes[i].arg.value = test_bell(rng);
    if (test_below(rng, 3) == 0) continue; /* a leaf */
    if (i > 0 && (nodes[i - 1].feat & GBT_NODE_CATEGORICAL) && test_below(rng, 2)) {
      nodes[i] = nodes[i - 1]; /* one set for both, as in a symmetric tree */
      continue;
    }
    uint32_t f = (uint32_t)test_below(rng, N_FEATURES);
    nodes[i].left = 1 + (uint32_t)test_below(rng, 1000);
    nodes[i].feat =
        f | (test_below(rng, 2) ? GBT_NODE_MISSING_LEFT : 0) | (test_below(rng, 2) ? GBT_NODE_BULK_LEFT : 0);
    if (f < 2) continue;
    nodes[i].feat |= GBT_NODE_CATEGORICAL;
    nodes[i].arg.set.beg = n_words;
    nodes[i].arg.set.n_words = (uint32_t)test_below(rng, (plan->n[f] + 31) / 32 + 1);
    for (uint32_t w = 0; w < nodes[i].arg.set.n_words; w++) sets[n_words++] = (uint32_t)test_u(rng);
  }
  gbt_tree_parts tree = {n, n_words, nodes, gain, cover, count, sets, NULL, {0}};
  return gbt_forest_add(forest, &tree, err);
}

/* The naive twin: texts are compared one by one. */
static int32_t place(const schema_plan *plan, int f, const char *text) {
  for (int32_t i = 0; i < plan->n[f]; i++)
    if (strcmp(plan->levels[f][i], text) == 0) return i;
  return -1;
}

static void check_node(const gbt_node *a, const uint32_t *a_sets, const schema_plan *old, const gbt_node *b,
                       const uint32_t *b_sets, const schema_plan *now) {
  int f = (int)(a->feat & GBT_NODE_FEATURE);
  CHECK_EQ_I64(a->feat, b->feat);
  CHECK_EQ_I64(a->left, b->left);
  if (a->left == 0 || f < 2) {
    CHECK_EQ_BITS(a->arg.value, b->arg.value);
    return;
  }
  int wrong = 0;
  for (int32_t i = 0; i < now->n[f]; i++) {
    int32_t was = place(old, f, now->levels[f][i]);
    wrong += gbt_goes_left(a, was, a_sets) != gbt_goes_left(b, i, b_sets); /* was = -1: unseen */
  }
  wrong += gbt_goes_left(a, NAN, a_sets) != gbt_goes_left(b, NAN, b_sets);
  wrong += gbt_goes_left(a, -1.0, a_sets) != gbt_goes_left(b, -1.0, b_sets);
  CHECK_EQ_I64(wrong, 0);
}

typedef struct relevel_job {
  gbt_forest *from;
  gbt_schema *old_schema, *schema;
} relevel_job;

static gbt_status relevel_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  relevel_job *job = arg;
  gbt_forest *out;
  gbt_forest_view view = gbt_forest_view_of(job->from);
  gbt_status status = gbt_forest_relevel(mem, &view, job->old_schema, job->schema, &out, err);
  if (status == GBT_OK)
    gbt_forest_free(out);
  else
    CHECK(out == NULL);
  return status;
}

static void levels_keep_their_way(void) {
  gbt_mem mem = gbt_mem_default();
  int64_t shared = 0;
  for (uint64_t seed = 0; seed < 30; seed++) {
    test_rng rng = {seed * 1000};
    schema_plan old, now;
    relevel_job job;
    draw_plans(&rng, &old, &now);
    REQUIRE_OK(make_schema(&mem, &old, &job.old_schema, test_err));
    REQUIRE_OK(make_schema(&mem, &now, &job.schema, test_err));
    REQUIRE_OK(gbt_forest_new(&mem, N_FEATURES, 2, 3, &job.from, test_err));
    job.from->base[1] = 0.25;
    for (int t = 0; t < N_TREES; t++) REQUIRE_OK(draw_tree(&rng, &old, job.from, test_err));
    gbt_forest_view a = gbt_forest_view_of(job.from);
    gbt_forest *out;
    REQUIRE_OK(gbt_forest_relevel(&mem, &a, job.old_schema, job.schema, &out, test_err));
    gbt_forest_view b = gbt_forest_view_of(out);
    CHECK(b.n_trees == a.n_trees && b.n_nodes == a.n_nodes && b.n_outputs == 2 && b.n_parallel == 3);
    CHECK_EQ_BYTES(b.base, a.base, 2 * sizeof *a.base);
    CHECK_EQ_BYTES(b.gain, a.gain, a.n_nodes * sizeof *a.gain);
    CHECK_EQ_BYTES(b.cover, a.cover, a.n_nodes * sizeof *a.cover);
    CHECK_EQ_BYTES(b.count, a.count, a.n_nodes * sizeof *a.count);
    for (uint64_t t = 0; t < a.n_trees; t++)
      for (uint64_t i = a.trees[t].node_beg; i < a.trees[t].node_beg + a.trees[t].n_nodes; i++)
        check_node(&a.nodes[i], a.sets + a.trees[t].set_beg, &old, &b.nodes[i], b.sets + b.trees[t].set_beg, &now);
    for (uint64_t t = 0; t < a.n_trees; t++)
      for (uint64_t i = a.trees[t].node_beg + 1; i < a.trees[t].node_beg + a.trees[t].n_nodes; i++) {
        if (!gbt_same_set(&a.nodes[i - 1], &a.nodes[i])) continue;
        CHECK(gbt_same_set(&b.nodes[i - 1], &b.nodes[i]));
        shared++;
      }
    gbt_forest_free(out);
    if (seed == 0) CHECK(fault_sweep(relevel_once, &job) > 5);
    gbt_forest_free(job.from);
    gbt_schema_unref(job.old_schema);
    gbt_schema_unref(job.schema);
  }
  CHECK(shared > 100);
}

static void equal_levels_change_nothing(void) {
  gbt_mem mem = gbt_mem_default();
  test_rng rng = {7};
  schema_plan old, now;
  gbt_schema *schema;
  gbt_forest *from, *out;
  draw_plans(&rng, &old, &now);
  REQUIRE_OK(make_schema(&mem, &old, &schema, test_err));
  REQUIRE_OK(gbt_forest_new(&mem, N_FEATURES, 1, 1, &from, test_err));
  for (int t = 0; t < N_TREES; t++) REQUIRE_OK(draw_tree(&rng, &old, from, test_err));
  gbt_forest_view a = gbt_forest_view_of(from);
  REQUIRE_OK(gbt_forest_relevel(&mem, &a, schema, schema, &out, test_err));
  gbt_forest_view b = gbt_forest_view_of(out);
  CHECK(a.n_nodes == b.n_nodes && a.n_words == b.n_words);
  CHECK_EQ_BYTES(b.nodes, a.nodes, a.n_nodes * sizeof *a.nodes);
  CHECK_EQ_BYTES(b.sets, a.sets, a.n_words * sizeof *a.sets);
  CHECK_EQ_BYTES(b.trees, a.trees, a.n_trees * sizeof *a.trees);
  gbt_forest_free(out);
  gbt_forest_free(from);
  gbt_schema_unref(schema);
}

/* Levels beyond GBT_MAX_LEVELS are missing where a set asks. The old levels are 0, 1, ...; the new ones begin in the
 * middle, so that each goes from one side of that border to the other. */
static void levels_beyond_the_sets(void) {
  enum { OLD = GBT_MAX_LEVELS + 40, NOW = OLD + 100, SHIFT = 70, WORDS = (GBT_MAX_LEVELS + 31) / 32 };
  gbt_mem mem = gbt_mem_default();
  test_rng rng = {17};
  char(*text)[16] = test_alloc(sizeof(char[NOW + SHIFT][16]));
  const char **level = test_alloc((NOW + SHIFT) * sizeof *level);
  uint32_t *set = test_alloc(WORDS * sizeof *set);
  for (int i = 0; i < NOW + SHIFT; i++) {
    snprintf(text[i], sizeof text[i], "%d", i);
    level[i] = text[i];
  }
  for (int i = 0; i < WORDS; i++) set[i] = (uint32_t)test_u(&rng);
  for (uint32_t flags = 0; flags < 4; flags++) {
    for (int down = 0; down < 2; down++) { /* new level i is old level i + SHIFT, or i - SHIFT */
      const gbt_schema_column was = {"f", "", GBT_CATEGORICAL, OLD, down ? level + SHIFT : level};
      const gbt_schema_column is = {"f", "", GBT_CATEGORICAL, NOW, down ? level : level + SHIFT};
      gbt_schema *old_schema, *schema;
      gbt_forest *from, *out;
      gbt_node nodes[3] = {{.feat = GBT_NODE_CATEGORICAL, .left = 1, .arg.set = {0, WORDS}}};
      nodes[0].feat |= (flags & 1 ? GBT_NODE_MISSING_LEFT : 0) | (flags & 2 ? GBT_NODE_BULK_LEFT : 0);
      const double zeros[3] = {0.0};
      const uint32_t counts[3] = {0};
      const gbt_tree_parts tree = {3, WORDS, nodes, zeros, zeros, counts, set, NULL, {0}};
      REQUIRE_OK(gbt_schema_new(&mem, 1, &was, &old_schema, test_err));
      REQUIRE_OK(gbt_schema_new(&mem, 1, &is, &schema, test_err));
      REQUIRE_OK(gbt_forest_new(&mem, 1, 1, 1, &from, test_err));
      REQUIRE_OK(gbt_forest_add(from, &tree, test_err));
      const gbt_forest_view a = gbt_forest_view_of(from);
      REQUIRE_OK(gbt_forest_relevel(&mem, &a, old_schema, schema, &out, test_err));
      const gbt_forest_view b = gbt_forest_view_of(out);
      int64_t n_wrong = 0;
      CHECK(b.nodes[0].arg.set.n_words <= WORDS);
      for (int32_t i = 0; i < GBT_MAX_LEVELS; i++) {
        const int32_t k = down ? i - SHIFT : i + SHIFT;
        const double x = k < 0 || k >= OLD ? -1.0 : k >= GBT_MAX_LEVELS ? (double)NAN : k;
        n_wrong += gbt_goes_left(&a.nodes[0], x, a.sets) != gbt_goes_left(&b.nodes[0], i, b.sets);
      }
      CHECK_EQ_I64(n_wrong, 0);
      gbt_forest_free(out);
      gbt_forest_free(from);
      gbt_schema_unref(old_schema);
      gbt_schema_unref(schema);
    }
  }
  free(text);
  free(level);
  free(set);
}

static void what_does_not_fit_is_refused(void) {
  gbt_mem mem = gbt_mem_default();
  test_rng rng = {8};
  schema_plan old, now;
  gbt_schema *old_schema, *schema;
  gbt_forest *from, *out;
  draw_plans(&rng, &old, &now);
  now.n[1] = old.n[1] > 1 ? old.n[1] - 1 : 0;
  REQUIRE_OK(make_schema(&mem, &old, &old_schema, test_err));
  REQUIRE_OK(make_schema(&mem, &now, &schema, test_err));
  REQUIRE_OK(gbt_forest_new(&mem, N_FEATURES, 1, 1, &from, test_err));
  gbt_forest_view view = gbt_forest_view_of(from);
  CHECK_FAILS(gbt_forest_relevel(&mem, &view, old_schema, schema, &out, test_err), GBT_E_ARG, "`rank`");
  CHECK(out == NULL);
  schema->col[2].type = schema->feat[2].type = GBT_NUMERIC;
  schema->col[1] = old_schema->col[1];
  REQUIRE_OK(gbt_forest_relevel(&mem, &view, old_schema, schema, &out, test_err)); /* nothing splits on it */
  gbt_forest_free(out);
  for (int t = 0; t < N_TREES; t++) REQUIRE_OK(draw_tree(&rng, &old, from, test_err));
  view = gbt_forest_view_of(from);
  CHECK_FAILS(gbt_forest_relevel(&mem, &view, old_schema, schema, &out, test_err), GBT_E_ARG, "`a` has a different");
  schema->n_features = 4;
  CHECK_FAILS(gbt_forest_relevel(&mem, &view, old_schema, schema, &out, test_err), GBT_E_ARG, "5 features");
  schema->n_features = 5;
  gbt_forest_free(from);
  gbt_schema_unref(old_schema);
  gbt_schema_unref(schema);
}

void suite_relevel(void) {
  RUN(levels_keep_their_way);
  RUN(equal_levels_change_nothing);
  RUN(levels_beyond_the_sets);
  RUN(what_does_not_fit_is_refused);
}
