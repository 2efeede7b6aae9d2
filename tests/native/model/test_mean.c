/* One model of several: its scores against the trees of the members, added up one by one. */
#include "fault.h"
#include "forests.h"
#include "maps.h"
#include "other_floats.h"

#include "../../src/gbt/model/mean.h"
#include "../../src/gbt/model/model_impl.h"
#include "../../src/gbt/model/predict.h"
#include "../../src/gbt/schema/schema_impl.h"
#include "../../src/gbt/tree/mean.h"

enum { MOST_MEMBERS = 5, N_ROWS = 60 };

typedef struct member {
  gbt_schema *schema;
  gbt_forest *forest;
  uint8_t *bytes;
  gbt_model *model;
} member;

typedef struct scene {
  gbt_schema *base;
  int n;
  member member[MOST_MEMBERS];
  const gbt_model *model[MOST_MEMBERS];
  made_table *table;
} scene;

/* Thresholds that part the bins of features with tables. */
static void part_bins(test_rng *rng, const gbt_schema *schema, gbt_forest *forest) {
  for (size_t i = 0; i < forest->n_nodes; i++) {
    gbt_node *node = &forest->nodes[i];
    const gbt_feature *feat = &schema->feat[node->feat & GBT_NODE_FEATURE];
    if (node->left != 0 && gbt_feature_has_table(feat->kind)) node->arg.value = (double)test_below(rng, feat->n_bins);
  }
}

static gbt_objective objective_of(int32_t n_outputs) {
  return gbt_objective_make(n_outputs > 1 ? GBT_OBJ_SOFTMAX : GBT_OBJ_LOGISTIC, n_outputs);
}

static void model_of(member *m, int32_t n_outputs) {
  gbt_mem mem = gbt_mem_default();
  const gbt_forest_view view = gbt_forest_view_of(m->forest);
  const gbt_model_spec spec = {
      .forest = &view, .trees = {0, view.n_trees}, .objective = objective_of(n_outputs), .schema = m->schema};
  size_t n_bytes;
  if (!CHECK_OK(gbt_model_make(&mem, &spec, &m->bytes, &n_bytes, test_err))) return;
  CHECK_OK(gbt_model_open(&mem, m->bytes, n_bytes, &m->model, test_err));
}

/* Members of different numbers of rounds and parallel trees; tables: 0 for none, else all but one member have some, and
 * the last one those of the first. */
static void scene_open(scene *s, uint64_t seed, int n, int32_t n_outputs, int vectors, int tables) {
  test_rng rng = {seed};
  memset(s, 0, sizeof *s);
  s->base = make_schema(&rng, 4 + (int32_t)test_below(&rng, 6), 12);
  s->n = n;
  for (int i = 0; i < n; i++) {
    member *m = &s->member[i];
    const forest_spec spec = {n_outputs, 1 + (int32_t)test_below(&rng, 3), (int32_t)test_below(&rng, 6), 9,
                              SHAPE_BUSHY, 0};
    if (tables && i > 0 && i == n - 1)
      m->schema = gbt_schema_ref(s->member[0].schema);
    else
      m->schema = tables && i != 1 ? maps_extend(&rng, s->base, 3, 200) : gbt_schema_ref(s->base);
    m->forest = vectors ? make_vector_forest(&rng, m->schema, &spec) : make_forest(&rng, m->schema, &spec);
    part_bins(&rng, m->schema, m->forest);
    model_of(m, n_outputs);
    s->model[i] = m->model;
  }
  s->table = make_table(&rng, s->base, N_ROWS);
}

static void scene_close(scene *s) {
  gbt_mem mem = gbt_mem_default();
  for (int i = 0; i < s->n; i++) {
    gbt_model_close(s->member[i].model);
    gbt_mem_free(&mem, s->member[i].bytes);
    gbt_forest_free(s->member[i].forest);
    gbt_schema_unref(s->member[i].schema);
  }
  free_table(s->table);
  gbt_schema_unref(s->base);
}

static void scores_of(scene *s, const gbt_schema *schema, const gbt_forest_view *view, gbt_tree_range trees,
                      double *out) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_binding *binding;
  if (CHECK_OK(gbt_binding_new(&ctx, &s->table->table, schema, GBT_UNSEEN_PRIOR, &binding, test_err))) {
    CHECK_OK(gbt_predict_scores(&ctx, view, binding, trees, NULL, out, test_err));
    gbt_binding_free(binding);
  }
  gbt_ctx_close(&ctx);
}

/* Adds what one tree of a member gives, divided by the number of members. */
static void add_tree(scene *s, const member *m, uint64_t t, double *sum, double *one) {
  static const double zero[8];
  gbt_forest_view view = gbt_forest_view_of(m->forest);
  view.base = zero;
  const gbt_tree_range tree = {t, t + 1};
  scores_of(s, m->schema, &view, tree, one);
  for (int32_t i = 0; i < N_ROWS * view.n_outputs; i++) sum[i] += one[i] / s->n;
}

/* Round by round, output by output, member by member. rounds: the first ones. */
static void twin(scene *s, uint64_t rounds, int32_t n_outputs, int vectors, double *sum) {
  double *one = test_alloc((size_t)(N_ROWS * n_outputs) * sizeof *one);
  for (int32_t k = 0; k < n_outputs; k++) {
    double base = 0.0;
    for (int i = 0; i < s->n; i++) base += s->member[i].forest->base[k];
    for (int64_t r = 0; r < N_ROWS; r++) sum[k * N_ROWS + r] = base / s->n;
  }
  for (uint64_t r = 0; r < rounds; r++) {
    for (int32_t k = 0; k < (vectors ? 1 : n_outputs); k++) {
      for (int i = 0; i < s->n; i++) {
        const gbt_forest_view view = gbt_forest_view_of(s->member[i].forest);
        const uint64_t width = (uint64_t)view.n_parallel, per_round = gbt_trees_per_round(&view);
        if (r >= view.n_trees / per_round) continue;
        for (uint64_t j = 0; j < width; j++)
          add_tree(s, &s->member[i], r * per_round + (uint64_t)k * width + j, sum, one);
      }
    }
  }
  free(one);
}

static void check_mean(scene *s, int32_t n_outputs, int vectors) {
  gbt_mem mem = gbt_mem_default();
  uint8_t *bytes;
  size_t n_bytes;
  gbt_model *mean;
  const uint32_t other = other_floats[s->n % N_OTHER_FLOATS]; /* does not show */
  gbti_float_end(other);
  const gbt_status status = gbt_model_make_mean(&mem, s->model, s->n, NULL, 0, &bytes, &n_bytes, test_err);
  CHECK_EQ_U64(gbti_float_begin(), other);
  if (!CHECK_OK(status)) return;
  if (CHECK_OK(gbt_model_open(&mem, bytes, n_bytes, &mean, test_err))) {
    double *got = test_alloc((size_t)(N_ROWS * n_outputs) * sizeof *got);
    double *want = test_alloc((size_t)(N_ROWS * n_outputs) * sizeof *want);
    const gbt_forest_view *view = &mean->parts.forest;
    const uint64_t per_round = gbt_trees_per_round(view), n_rounds = view->n_trees / per_round;
    uint64_t most = 0;
    for (int i = 0; i < s->n; i++) {
      const gbt_forest_view own = gbt_forest_view_of(s->member[i].forest);
      if (own.n_trees / gbt_trees_per_round(&own) > most) most = own.n_trees / gbt_trees_per_round(&own);
    }
    CHECK_EQ_U64(n_rounds, most);
    for (uint64_t r = 0; r <= n_rounds; r++) {
      const gbt_tree_range first = {0, r * per_round};
      scores_of(s, mean->schema, view, first, got);
      twin(s, r, n_outputs, vectors, want);
      CHECK_EQ_BYTES(got, want, (size_t)(N_ROWS * n_outputs) * sizeof *got);
    }
    free(got);
    free(want);
    gbt_model_close(mean);
  }
  gbt_mem_free(&mem, bytes);
}

static void scores_are_means(void) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    const int n = 1 + (int)(seed % MOST_MEMBERS), vectors = seed % 3 == 0;
    const int32_t n_outputs = vectors || seed % 2 ? 3 : 1;
    scene s;
    scene_open(&s, seed, n, n_outputs, vectors, seed % 4 > 0);
    check_mean(&s, n_outputs, vectors);
    scene_close(&s);
  }
}

/* A model whose members are the same has the features of one. */
static void equal_tables_are_kept_once(void) {
  gbt_mem mem = gbt_mem_default();
  int n_with_tables = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    scene s;
    scene_open(&s, seed, 1, 1, 0, 1);
    const gbt_model *twice[3] = {s.model[0], s.model[0], s.model[0]};
    uint8_t *bytes;
    size_t n_bytes;
    gbt_model *mean;
    REQUIRE_OK(gbt_model_make_mean(&mem, twice, 3, NULL, 0, &bytes, &n_bytes, test_err));
    REQUIRE_OK(gbt_model_open(&mem, bytes, n_bytes, &mean, test_err));
    CHECK_EQ_I64(gbt_schema_n_tables(mean->schema), gbt_schema_n_tables(s.model[0]->schema));
    n_with_tables += gbt_schema_n_tables(mean->schema) > 0;
    CHECK_EQ_U64(mean->parts.forest.n_trees, 3 * s.model[0]->parts.forest.n_trees);
    gbt_model_close(mean);
    gbt_mem_free(&mem, bytes);
    scene_close(&s);
  }
  CHECK(n_with_tables > 5);
}

static void what_does_not_fit_is_refused(void) {
  gbt_mem mem = gbt_mem_default();
  scene a, b, c;
  uint8_t *bytes;
  size_t n_bytes;
  scene_open(&a, 3, 2, 1, 0, 0);
  scene_open(&b, 4, 2, 1, 0, 0);
  scene_open(&c, 3, 2, 2, 0, 0);
  const gbt_model *columns[2] = {a.model[0], b.model[0]}, *objectives[2] = {a.model[0], c.model[0]};
  CHECK_FAILS(gbt_model_make_mean(&mem, columns, 2, NULL, 0, &bytes, &n_bytes, test_err), GBT_E_ARG, "the same data");
  CHECK(bytes == NULL && n_bytes == 0);
  CHECK_FAILS(gbt_model_make_mean(&mem, objectives, 2, NULL, 0, &bytes, &n_bytes, test_err), GBT_E_ARG, "objectives");
  gbt_forest *out;
  gbt_forest_view wide = gbt_forest_view_of(a.member[0].forest), views[2] = {wide, wide};
  views[1].n_outputs = 2;
  CHECK_FAILS(gbt_forest_mean(&mem, views, 2, &out, test_err), GBT_E_ARG, "model 2 has other features or outputs");
  CHECK(out == NULL);
  views[1] = wide;
  views[0].n_parallel = views[1].n_parallel = INT32_MAX / 2 + 1;
  views[0].n_trees = views[1].n_trees = 0;
  CHECK_FAILS(gbt_forest_mean(&mem, views, 2, &out, test_err), GBT_E_ARG, "too many");
  scene_close(&a);
  scene_close(&b);
  scene_close(&c);
}

static gbt_status mean_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  const scene *s = arg;
  uint8_t *bytes;
  size_t n_bytes;
  gbt_status status = gbt_model_make_mean(mem, s->model, s->n, NULL, 0, &bytes, &n_bytes, err);
  CHECK((bytes != NULL) == (status == GBT_OK));
  gbt_mem_free(mem, bytes);
  return status;
}

static void allocations_fail(void) {
  scene s;
  scene_open(&s, 15, 4, 3, 1, 1);
  CHECK(fault_sweep(mean_once, &s) > 20);
  scene_close(&s);
}

void suite_mean(void) {
  RUN(scores_are_means);
  RUN(equal_tables_are_kept_once);
  RUN(what_does_not_fit_is_refused);
  RUN(allocations_fail);
}
