/* Which combinations of columns a training makes, and within which bounds. */
#include "../../src/gbt/schema/schema_impl.h"
#include "random_job.h"

static int32_t code_of(const made *m, int32_t col, int64_t row) {
  return ((const int32_t *)m->table.cols[col].values)[row];
}

/* Six columns, of which the pairs of neighbours (1, 2), (3, 4) and (5, 6) decide about the label, the first the most:
 * the labels of the combinations that are made of them, comma by comma. */
static void pairs_of_six(const gbt_trainer_spec *asked, char *text, size_t size) {
  static const made_kind kinds[] = {MADE_FACTOR, MADE_FACTOR, MADE_FACTOR, MADE_FACTOR, MADE_FACTOR, MADE_FACTOR};
  static const uint8_t method[] = {GBT_CAT_TARGET, GBT_CAT_TARGET, GBT_CAT_TARGET,
                                   GBT_CAT_TARGET, GBT_CAT_TARGET, GBT_CAT_TARGET};
  made *data = made_new(21, 6000, 6, kinds);
  test_rng rng = {4};
  made_response(data, GBT_OBJ_LOGISTIC, 1, 3);
  for (int64_t i = 0; i < 6000; i++) {
    double chance = 0.5;
    for (int32_t k = 0; k < 3; k++)
      chance += (code_of(data, 2 * k, i) + code_of(data, 2 * k + 1, i)) % 2 ? 0.2 - 0.04 * k : 0.04 * k - 0.2;
    data->label[i] = test_unit(&rng) < chance;
  }
  train_job job = job_make(data, GBT_OBJ_LOGISTIC, 1, 1);
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_trainer_spec spec;
  gbt_trainer *trainer;
  job.spec.cat_method = method;
  job.spec.params.max_cat_combine = 2;
  job.spec.params.max_cat_keys = asked->params.max_cat_keys;
  job.spec.interact_beg = asked->interact_beg;
  job.spec.interact_col = asked->interact_col;
  job.spec.n_interact = asked->n_interact;
  text[0] = 0;
  REQUIRE(job_open(&ctx, &job, 500, &spec));
  REQUIRE_OK(gbt_trainer_new(&ctx, &spec, &trainer, test_err));
  const gbt_schema *schema = gbt_trainer_schema(trainer);
  int64_t n_keys = 0;
  for (int32_t f = 0; f < schema->n_features; f++) {
    if (!gbt_feature_has_table(schema->feat[f].kind)) continue;
    const gbt_projection *proj = &schema->proj[schema->feat[f].projection];
    if (proj->n_cols < 2) continue;
    n_keys += proj->n_keys;
    const size_t n = strlen(text);
    (void)gbt_feature_label(schema, f, text + n, size - n);
    strcat(text, ",");
  }
  CHECK(n_keys <= asked->params.max_cat_keys);
  gbt_trainer_free(trainer);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  made_free(data);
}

/* Keys are those of three levels each and a missing one: 9 a pair. */
static void combinations_are_bounded(void) {
  static const int32_t beg[] = {0, 3, 6}, col[] = {0, 1, 2, 4, 5, 3};
  gbt_trainer_spec asked = {.params = {.max_cat_keys = 1000}};
  char text[400];
  pairs_of_six(&asked, text, sizeof text);
  CHECK_EQ_TEXT(text, "mean(x1 x x2),mean(x3 x x4),mean(x5 x x6),");
  asked.interact_beg = beg;
  asked.interact_col = col;
  asked.n_interact = 2;
  pairs_of_six(&asked, text, sizeof text);
  CHECK_EQ_TEXT(text, "mean(x1 x x2),mean(x5 x x6),");
  asked.n_interact = 0;
  asked.params.max_cat_keys = 26;
  pairs_of_six(&asked, text, sizeof text);
  CHECK_EQ_TEXT(text, "mean(x1 x x2),mean(x3 x x4),");
  asked.params.max_cat_keys = 17;
  pairs_of_six(&asked, text, sizeof text);
  CHECK_EQ_TEXT(text, "mean(x1 x x2),");
  asked.params.max_cat_keys = 9;
  pairs_of_six(&asked, text, sizeof text);
  CHECK_EQ_TEXT(text, "mean(x1 x x2),");
}

void suite_combine(void) { RUN(combinations_are_bounded); }
