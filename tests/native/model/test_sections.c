/* The sections of a model's bytes: where they lie, sections of later versions, and the objective, by name. */
#include "../../src/gbt/model/answer.h"
#include "../../src/gbt/model/model_impl.h"
#include "../../src/gbt/objective/response.h"
#include "fault.h"
#include "forests.h"
#include "made.h"
#include "mutate.h"
#include "naive_predict.h"

typedef struct sample {
  gbt_schema *schema;
  gbt_forest *forest;
  gbt_model_parts parts;
  uint8_t *bytes;
  size_t n_bytes;
} sample;

static const int32_t some_ints[] = {1, INT32_MIN, 3};
static const gbt_meta some_meta[] = {{"ints", GBT_META_INT, 3, NULL, NULL, some_ints}};

static int sample_open(sample *s, uint64_t seed, int32_t n_features, const forest_spec *spec, gbt_objective objective) {
  test_rng rng = {seed};
  gbt_mem mem = gbt_mem_default();
  s->schema = make_schema(&rng, n_features, 40);
  s->forest = make_forest(&rng, s->schema, spec);
  gbt_model_parts parts = {gbt_forest_view_of(s->forest), objective, s->schema, some_meta, 1};
  s->parts = parts;
  return CHECK_OK(gbt_model_write(&mem, &s->parts, &s->bytes, &s->n_bytes, test_err));
}

static void sample_close(sample *s) {
  gbt_mem mem = gbt_mem_default();
  gbt_mem_free(&mem, s->bytes);
  gbt_forest_free(s->forest);
  gbt_schema_unref(s->schema);
}

static const forest_spec small = {2, 2, 3, 12, SHAPE_BUSHY, 0};

static void layout(void) {
  sample s;
  gbti_model_head head;
  REQUIRE(sample_open(&s, 2, 9, &small, gbt_objective_make(GBT_OBJ_SOFTMAX, 2)));
  const gbt_forest_view *forest = &s.parts.forest;
  memcpy(&head, s.bytes, sizeof head);
  CHECK_EQ_BYTES(s.bytes, "gbtmodel\2\0\0\0", 12);
  CHECK_EQ_U64(head.n_bytes, s.n_bytes);
  CHECK_EQ_U64(s.n_bytes % 8, 0);
  for (uint32_t i = 0; i < head.n_sections; i++) {
    gbti_section row;
    memcpy(&row, s.bytes + sizeof head + i * sizeof row, sizeof row);
    CHECK_EQ_U64(row.beg % 8, 0);
    CHECK(row.bytes > 0);
  }
  gbti_section nodes = section_of(s.bytes, GBTI_SEC_NODES), objective = section_of(s.bytes, GBTI_SEC_OBJECTIVE);
  gbti_section texts = section_of(s.bytes, GBTI_SEC_TEXTS);
  CHECK_EQ_U64(nodes.bytes, forest->n_nodes * 16);
  CHECK_EQ_BYTES(s.bytes + nodes.beg, forest->nodes, forest->n_nodes * 16);
  CHECK_EQ_U64(section_of(s.bytes, GBTI_SEC_LEAF_VALUES).bytes, 0);
  CHECK_EQ_U64(section_of(s.bytes, GBTI_SEC_PARAMETERS).bytes, 0);
  uint64_t name;
  memcpy(&name, s.bytes + objective.beg, 8);
  CHECK_EQ_TEXT((const char *)s.bytes + texts.beg + name, "softmax");
  sample_close(&s);
}

/* Sections that this version does not know are skipped, or the model says which one it needs. */
static void sections_of_later_versions(void) {
  gbt_mem mem = gbt_mem_default();
  sample s;
  gbt_model *model;
  REQUIRE(sample_open(&s, 13, 5, &small, gbt_objective_make(GBT_OBJ_SOFTMAX, 2)));
  size_t most = s.n_bytes + 1000;
  uint8_t *bytes = test_alloc(most), *again;
  for (uint32_t place = 0; place <= 15; place++)
    for (int needed = 0; needed < 2; needed++) {
      gbti_section fresh = {.name = "a_later_section_", .flags = (uint32_t)needed, .bytes = 1 + place};
      memcpy(bytes, s.bytes, s.n_bytes);
      size_t n = mutate_add_section(bytes, s.n_bytes, most, &fresh, place), n_again;
      if (n == s.n_bytes) { /* there are not so many sections */
        CHECK(place > 12);
        continue;
      }
      mutate_seal(bytes, n);
      if (needed) {
        CHECK_FAILS(gbt_model_open(&mem, bytes, n, &model, test_err), GBT_E_FORMAT, "\"a_later_section_\"");
        CHECK_FAILS(gbt_model_open(&mem, bytes, n, &model, test_err), GBT_E_FORMAT, "use a newer gbt");
        continue;
      }
      if (!CHECK_OK(gbt_model_open(&mem, bytes, n, &model, test_err))) continue;
      CHECK_EQ_I64(model->n_skipped, 1);
      CHECK_EQ_U64(model->parts.forest.n_nodes, s.parts.forest.n_nodes);
      CHECK_EQ_I64(model->schema->n_features, 5);
      CHECK(gbt_model_meta(model, "ints") != NULL);
      if (CHECK_OK(gbt_model_write(&mem, &model->parts, &again, &n_again, test_err)) &&
          CHECK_EQ_U64(n_again, s.n_bytes))
        CHECK_EQ_BYTES(again, s.bytes, s.n_bytes); /* without it */
      gbt_mem_free(&mem, again);
      gbt_model_close(model);
      n = mutate_add_section(bytes, n, most, &fresh, place / 2);
      mutate_seal(bytes, n);
      CHECK_FAILS(gbt_model_open(&mem, bytes, n, &model, test_err), GBT_E_FORMAT, "the same name");
    }
  free(bytes);
  sample_close(&s);
}

/* Every objective comes back with its parameters; a name that nobody knows is reported. */
static void objectives_by_name(void) {
  gbt_mem mem = gbt_mem_default();
  sample s;
  gbt_model *model;
  const forest_spec one = {1, 1, 1, 2, SHAPE_BUSHY, 0}, two = {2, 1, 1, 2, SHAPE_BUSHY, 0};
  const forest_spec three = {3, 1, 1, 2, SHAPE_BUSHY, 0};
  for (int32_t kind = 0; kind < GBT_N_OBJECTIVES; kind++) {
    const gbt_objective_info *info = gbt_objective_info_of(kind);
    const int pair = info->outputs == GBT_OUTPUTS_TWO;
    const forest_spec *spec = info->outputs == GBT_OUTPUTS_CLASSES ? &three : pair ? &two : &one;
    gbt_objective objective = gbt_objective_make((gbt_objective_kind)kind, spec->n_outputs);
    REQUIRE(sample_open(&s, 14, 2, spec, objective));
    REQUIRE_OK(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err));
    CHECK_EQ_BYTES(&model->parts.objective, &objective, sizeof objective);
    gbt_model_close(model);
    uint8_t *name = s.bytes + section_of(s.bytes, GBTI_SEC_TEXTS).beg; /* the first text */
    CHECK_EQ_TEXT((const char *)name, info->name);
    name[0] = 'Q';
    mutate_seal(s.bytes, s.n_bytes);
    CHECK_FAILS(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err), GBT_E_FORMAT, (const char *)name);
    CHECK_FAILS(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err), GBT_E_FORMAT, "use a newer gbt");
    sample_close(&s);
  }
}

/* A model of the objective whose parameters are these, by names and values. */
static size_t with_parameters(const sample *s, const char *const *name, const double *value, size_t n, uint8_t *out,
                              size_t most) {
  draft *d = test_alloc(sizeof *d);
  size_t size = 0;
  if (CHECK(draft_read(d, s->bytes, s->n_bytes))) {
    gbti_model_parameter *param = (gbti_model_parameter *)d->section[GBTI_SEC_PARAMETERS];
    d->n[GBTI_SEC_PARAMETERS] = n * sizeof *param;
    for (size_t i = 0; i < n; i++) param[i] = (gbti_model_parameter){draft_add_text(d, name[i]), value[i]};
    draft_relay(d);
    size = draft_write(d, out, most);
  }
  free(d);
  return size;
}

/* Parameters that a model lacks have their defaults, whichever they are; one that nobody knows is reported. */
static void parameters_by_name(void) {
  enum { MOST = 65536 };
  gbt_mem mem = gbt_mem_default();
  const forest_spec one = {1, 1, 1, 2, SHAPE_BUSHY, 0}, two = {2, 1, 1, 2, SHAPE_BUSHY, 0};
  uint8_t *bytes = test_alloc(MOST);
  gbt_model *model;
  int n_lacking = 0;
  for (int32_t kind = 0; kind < GBT_N_OBJECTIVES; kind++) {
    const gbt_objective_info *info = gbt_objective_info_of(kind);
    if (info->outputs == GBT_OUTPUTS_CLASSES) continue;
    sample s;
    const forest_spec *spec = info->outputs == GBT_OUTPUTS_TWO ? &two : &one;
    const gbt_objective drawn = made_objective((gbt_objective_kind)kind, spec->n_outputs, 5);
    int n_params = 0;
    while (n_params < GBT_OBJECTIVE_PARAMS && info->param[n_params].name != NULL) n_params++;
    REQUIRE(sample_open(&s, 14, 2, spec, drawn));
    for (int kept = 0; kept < 1 << n_params; kept++) {
      gbt_objective want = gbt_objective_make((gbt_objective_kind)kind, spec->n_outputs);
      const char *name[GBT_OBJECTIVE_PARAMS];
      double value[GBT_OBJECTIVE_PARAMS];
      size_t n = 0;
      for (int p = 0; p < n_params; p++) {
        size_t i = n;
        if (!(kept & 1 << p)) continue;
        want.param[p] = drawn.param[p];
        for (; i > 0 && strcmp(name[i - 1], info->param[p].name) > 0; i--) {
          name[i] = name[i - 1];
          value[i] = value[i - 1];
        }
        name[i] = info->param[p].name;
        value[i] = drawn.param[p];
        n++;
      }
      size_t size = with_parameters(&s, name, value, n, bytes, MOST);
      if (!CHECK_OK(gbt_model_open(&mem, bytes, size, &model, test_err))) continue;
      CHECK_EQ_BYTES(gbt_model_objective(model), &want, sizeof want);
      CHECK_EQ_I64(model->n_defaults, n_params - (int)n);
      n_lacking += model->n_defaults > 0;
      gbt_model_close(model);
    }
    sample_close(&s);
  }
  CHECK(n_lacking >= 5);
  free(bytes);
}

static void parameters_that_nobody_knows(void) {
  enum { MOST = 65536 };
  static const struct {
    const char *name[3];
    size_t n;
    const char *message;
  } cases[] = {
      {{"bend"}, 1, "\"huber\" has the parameter `bend`, which this version of gbt does not know; use a newer"},
      {{"huber_delta", "zeal"}, 2, "`zeal`"},
      {{"bend", "huber_delta"}, 2, "`bend`"},
      {{"huber_delta", "huber_delta"}, 2, "not in order"},
      {{"huber_delta", "bend"}, 2, "not in order"},
      {{""}, 1, "not in order"}};
  static const double values[] = {2.0, 2.0, 2.0};
  gbt_mem mem = gbt_mem_default();
  const forest_spec one = {1, 1, 1, 2, SHAPE_BUSHY, 0};
  uint8_t *bytes = test_alloc(MOST);
  gbt_model *model;
  sample s;
  REQUIRE(sample_open(&s, 14, 2, &one, gbt_objective_make(GBT_OBJ_HUBER, 1)));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    size_t size = with_parameters(&s, cases[i].name, values, cases[i].n, bytes, MOST);
    CHECK_FAILS(gbt_model_open(&mem, bytes, size, &model, test_err), GBT_E_FORMAT, cases[i].message);
  }
  free(bytes);
  sample_close(&s);
}

static void check_answers(const gbt_model *model, const gbt_binding *binding, gbt_ctx *ctx) {
  const gbt_objective *objective = &model->parts.objective;
  const gbt_forest_view *forest = &model->parts.forest;
  gbt_tree_range all = {0, forest->n_trees};
  int64_t n_rows = binding->table->n_rows;
  size_t n = (size_t)(n_rows * forest->n_outputs);
  double *want = test_alloc(n * sizeof *want), *got = test_alloc(n * sizeof *got),
         *offset = test_alloc(n * sizeof *got);
  int32_t *classes = test_alloc((size_t)n_rows * sizeof *classes);
  int32_t *nodes = test_alloc((size_t)n_rows * forest->n_trees * sizeof *nodes);
  for (size_t i = 0; i < n; i++) offset[i] = (double)(i % 7) - 3.0;
  int32_t *leaves = twin_leaves(forest, binding, all);
  double *scores = twin_scores(forest, n_rows, all, offset, leaves);
  memcpy(want, scores, n * sizeof *want);
  CHECK_OK(gbt_model_answer(ctx, model, NULL, binding, GBT_ANSWER_LINK, all, offset, got, test_err));
  CHECK_EQ_BYTES(got, scores, n * sizeof *got);
  twin_responses(objective, n_rows, want);
  CHECK_OK(gbt_model_answer(ctx, model, NULL, binding, GBT_ANSWER_RESPONSE, all, offset, got, test_err));
  CHECK_EQ_BYTES(got, want, n * sizeof *got);
  CHECK_OK(gbt_model_answer(ctx, model, NULL, binding, GBT_ANSWER_LEAF, all, NULL, nodes, test_err));
  CHECK_EQ_BYTES(nodes, leaves, (size_t)n_rows * forest->n_trees * sizeof *leaves);
  int has_classes = objective->kind == GBT_OBJ_LOGISTIC || objective->kind == GBT_OBJ_SOFTMAX;
  gbt_status status = gbt_model_answer(ctx, model, NULL, binding, GBT_ANSWER_CLASS, all, offset, classes, test_err);
  CHECK_EQ_I64(status, has_classes ? GBT_OK : GBT_E_UNSUPPORTED);
  for (int64_t r = 0; r < n_rows && has_classes; r++) CHECK_EQ_I64(classes[r], twin_class(objective, n_rows, want, r));
  free(want);
  free(got);
  free(offset);
  free(classes);
  free(nodes);
  free(leaves);
  free(scores);
}

/* Bytes and a bound table are all that answers need; numbers of rows and outputs around the sizes of tasks. */
static void answers_come_from_the_bytes(void) {
  static const int64_t rows[] = {0, 1, 31, 4095, 4096, 4097};
  static const int32_t outputs[] = {2, 3, 300};
  gbt_mem mem = gbt_mem_default();
  gbt_ctx ctx;
  REQUIRE_OK(gbt_ctx_open(&ctx, mem, 2, GBT_SIMD_AUTO, NULL, NULL, test_err));
  for (int32_t kind = 0; kind < GBT_N_OBJECTIVES; kind++) {
    const gbt_objective_info *info = gbt_objective_info_of(kind);
    for (int i = 0; i < 6; i++) {
      test_rng rng = {(uint64_t)i};
      sample s;
      gbt_model *model = NULL;
      gbt_binding *binding = NULL;
      int32_t n_outputs = info->outputs == GBT_OUTPUTS_ONE ? 1 : outputs[i % 3];
      if (info->outputs == GBT_OUTPUTS_LEVELS && n_outputs > GBT_MOST_LEVELS) n_outputs = GBT_MOST_LEVELS;
      if (info->outputs == GBT_OUTPUTS_TWO) n_outputs = 2;
      const forest_spec spec = {n_outputs, 1, 1, 5, SHAPE_BUSHY, 0};
      int ok = sample_open(&s, 20 + (uint64_t)i, 4, &spec, gbt_objective_make((gbt_objective_kind)kind, n_outputs));
      made_table *table = make_table(&rng, s.schema, n_outputs > 100 ? rows[i] % 64 + 5 * (rows[i] > 64) : rows[i]);
      if (ok && CHECK_OK(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err)) &&
          CHECK_OK(gbt_binding_new(&ctx, &table->table, model->schema, GBT_UNSEEN_PRIOR, &binding, test_err)))
        check_answers(model, binding, &ctx);
      gbt_binding_free(binding);
      gbt_model_close(model);
      free_table(table);
      sample_close(&s);
    }
  }
  gbt_ctx_close(&ctx);
}

/* Every kind of answer of a model, anew and by what is kept of it; all of one answer's numbers are in `out`. */
typedef struct asked {
  const gbt_model *model;
  const made_table *table;
  gbt_answer what;
  int keeps;
  const void *want;
  size_t n_bytes;
} asked;

static gbt_status answer_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  const asked *a = arg;
  const gbt_forest_view *forest = gbt_model_forest(a->model);
  const gbt_tree_range all = {0, forest->n_trees};
  gbt_binding *binding = NULL;
  gbt_predictor *predictor = NULL;
  gbt_ctx ctx;
  void *out = test_alloc(a->n_bytes);
  gbt_status status = gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK)
    status = gbt_binding_new(&ctx, &a->table->table, gbt_model_schema(a->model), GBT_UNSEEN_PRIOR, &binding, err);
  if (status == GBT_OK && a->keeps) status = gbt_predictor_new(mem, forest, &predictor, err);
  const gbt_answer_place at = {.keep = predictor};
  if (status == GBT_OK) status = gbt_model_answer(&ctx, a->model, &at, binding, a->what, all, NULL, out, err);
  if (status == GBT_OK) CHECK_EQ_BYTES(out, a->want, a->n_bytes);
  gbt_predictor_free(predictor);
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
  free(out);
  return status;
}

static void answers_without_memory(void) {
  enum { ROWS = 700, CLASSES = 3 };
  test_rng rng = {4};
  gbt_mem mem = gbt_mem_default();
  const forest_spec spec = {CLASSES, 1, 2, 9, SHAPE_BUSHY, 0};
  sample s;
  gbt_model *model = NULL;
  REQUIRE(sample_open(&s, 33, 5, &spec, gbt_objective_make(GBT_OBJ_SOFTMAX, CLASSES)));
  REQUIRE_OK(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err));
  made_table *table = make_table(&rng, s.schema, ROWS);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_binding *binding = NULL;
  const gbt_forest_view *forest = gbt_model_forest(model);
  const gbt_tree_range all = {0, forest->n_trees};
  const size_t widths[] = {[GBT_ANSWER_LINK] = CLASSES * sizeof(double),
                           [GBT_ANSWER_RESPONSE] = CLASSES * sizeof(double),
                           [GBT_ANSWER_CLASS] = sizeof(int32_t),
                           [GBT_ANSWER_LEAF] = forest->n_trees * sizeof(int32_t)};
  REQUIRE_OK(gbt_binding_new(&ctx, &table->table, model->schema, GBT_UNSEEN_PRIOR, &binding, test_err));
  for (int what = 0; what < 4; what++) {
    const size_t n_bytes = ROWS * widths[what];
    void *want = test_alloc(n_bytes);
    CHECK_OK(gbt_model_answer(&ctx, model, NULL, binding, (gbt_answer)what, all, NULL, want, test_err));
    for (int keeps = 0; keeps < 2; keeps++) {
      asked a = {model, table, (gbt_answer)what, keeps, want, n_bytes};
      CHECK(fault_sweep(answer_once, &a) > 3);
    }
    free(want);
  }
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
  free_table(table);
  gbt_model_close(model);
  sample_close(&s);
}

static void meta_entries_in_the_order_written(void) {
  sample s;
  gbt_model *model = NULL;
  gbt_mem mem = gbt_mem_default();
  int32_t n = 0;
  REQUIRE(sample_open(&s, 3, 4, &small, gbt_objective_make(GBT_OBJ_SOFTMAX, 2)));
  REQUIRE_OK(gbt_model_open(&mem, s.bytes, s.n_bytes, &model, test_err));
  const gbt_meta *metas = gbt_model_metas(model, &n);
  REQUIRE(n == 1);
  CHECK_EQ_TEXT(metas[0].name, "ints");
  CHECK_EQ_I64(metas[0].n, 3);
  CHECK(metas == gbt_model_meta(model, "ints") && gbt_model_meta(model, "int") == NULL);
  gbt_model_close(model);
  sample_close(&s);
}

void suite_sections(void) {
  RUN(layout);
  RUN(sections_of_later_versions);
  RUN(objectives_by_name);
  RUN(parameters_by_name);
  RUN(parameters_that_nobody_knows);
  RUN(answers_come_from_the_bytes);
  RUN(answers_without_memory);
  RUN(meta_entries_in_the_order_written);
}
