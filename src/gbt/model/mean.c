/* The members' schemas are joined, one after the other, so that each member's tables follow those of earlier members;
 * its trees get the numbers that its features have there. Then equal tables get one number, that of the first one, and
 * the writer leaves out those that no tree has. */
#include "mean.h"

#include <string.h>

#include "../base/float_mode.h"
#include "../objective/aft.h"
#include "../schema/schema_impl.h"
#include "../tree/mean.h"
#include "../tree/relevel.h"
#include "model_impl.h"

static gbt_status same_columns(const gbt_schema *a, const gbt_schema *b, gbt_error *err) {
  if (a->n_columns != b->n_columns)
    return gbt_fail(err, GBT_E_ARG, "the models have %d and %d columns; only models of the same data can be combined",
                    (int)a->n_columns, (int)b->n_columns);
  for (int32_t c = 0; c < a->n_columns; c++) {
    const gbt_schema_column *x = &a->col[c], *y = &b->col[c];
    int same = strcmp(x->name, y->name) == 0 && strcmp(x->tag, y->tag) == 0 && x->type == y->type &&
               x->n_levels == y->n_levels;
    for (int32_t i = 0; same && i < x->n_levels; i++) same = strcmp(x->levels[i], y->levels[i]) == 0;
    if (!same)
      return gbt_fail_on(
          err, GBT_E_ARG, x->name,
          "column `%s` differs, or its levels do, in one of the models; only models of the same data can "
          "be combined",
          x->name);
  }
  return GBT_OK;
}

/* Whether every model has its own value of a parameter: the scale of times, which may be estimated. */
static int is_own(const gbt_objective *objective, int param) {
  return gbt_gradients_by_scale(objective) && param == GBT_AFT_PARAM_SCALE;
}

/* The objective of the mean: its scale is the geometric mean. */
static gbt_objective mean_objective(const gbt_model *const *members, int32_t n) {
  gbt_objective objective = members[0]->parts.objective;
  double sum = 0.0;
  int equal = 1;
  if (!gbt_gradients_by_scale(&objective)) return objective;
  double *scale = &objective.param[GBT_AFT_PARAM_SCALE];
  for (int32_t m = 0; m < n; m++) {
    const double its = members[m]->parts.objective.param[GBT_AFT_PARAM_SCALE];
    equal = equal && !(its < *scale) && !(its > *scale);
    sum += gbt_log(its);
  }
  if (!equal) *scale = gbt_exp(sum / (double)n);
  return objective;
}

static gbt_status check_members(const gbt_model *const *members, int32_t n, gbt_error *err) {
  const gbt_objective *first = &members[0]->parts.objective;
  for (int32_t m = 1; m < n; m++) {
    const gbt_objective *one = &members[m]->parts.objective;
    int same = one->kind == first->kind && one->n_outputs == first->n_outputs;
    for (int i = 0; i < GBT_OBJECTIVE_PARAMS; i++)
      same = same && (is_own(first, i) || (!(one->param[i] < first->param[i]) && !(one->param[i] > first->param[i])));
    if (!same)
      return gbt_fail(err, GBT_E_ARG,
                      "the models have different objectives; only models of one objective can be combined");
    GBT_TRY(same_columns(members[0]->schema, members[m]->schema, err));
  }
  return GBT_OK;
}

/* ---- tables that several members have ---- */

static int same_bytes(const void *a, const void *b, uint64_t n) { return n == 0 || memcmp(a, b, (size_t)n) == 0; }

static int same_projection(const gbt_projection *a, const gbt_projection *b) {
  return a->n_cols == b->n_cols && a->n_keys == b->n_keys && (a->key == NULL) == (b->key == NULL) &&
         same_bytes(a->col, b->col, (uint64_t)a->n_cols * sizeof *a->col) &&
         (a->key == NULL || same_bytes(a->key, b->key, (uint64_t)a->n_keys * sizeof *a->key));
}

static int same_table(const gbt_schema *schema, int32_t f, int32_t g) {
  const gbt_feature *a = &schema->feat[f], *b = &schema->feat[g];
  const gbt_projection *p = &schema->proj[a->projection], *q = &schema->proj[b->projection];
  return a->kind == b->kind && a->part == b->part && a->n_bins == b->n_bins && a->unknown == b->unknown &&
         same_bytes(&a->prior_weight, &b->prior_weight, sizeof a->prior_weight) &&
         same_bytes(a->shown, b->shown, (uint64_t)(a->n_bins - 1) * sizeof *a->shown) && same_projection(p, q) &&
         same_bytes(a->bin, b->bin, (uint64_t)p->n_keys);
}

/* Splits by a table get the number of the first one that equals it. */
static gbt_status share_tables(const gbt_mem *mem, const gbt_schema *schema, gbt_forest *forest, gbt_error *err) {
  uint32_t *first;
  GBT_TRY(gbt_mem_array(mem, (size_t)schema->n_features, sizeof *first, &first, err));
  for (int32_t f = 0; f < schema->n_features; f++) {
    first[f] = (uint32_t)f;
    if (!gbt_feature_has_table(schema->feat[f].kind)) continue;
    for (int32_t g = 0; g < f && first[f] == (uint32_t)f; g++)
      if (first[g] == (uint32_t)g && gbt_feature_has_table(schema->feat[g].kind) && same_table(schema, g, f))
        first[f] = (uint32_t)g;
  }
  for (size_t i = 0; i < forest->n_nodes; i++) {
    gbt_node *node = &forest->nodes[i];
    if (node->left == 0) continue;
    node->feat = (node->feat & ~(uint32_t)GBT_NODE_FEATURE) | first[node->feat & GBT_NODE_FEATURE];
  }
  gbt_mem_free(mem, first);
  return GBT_OK;
}

/* ---- the model ---- */

/* Intermediate results; owned. */
typedef struct joining {
  const gbt_mem *mem;
  gbt_schema *schema;     /* of the members so far */
  gbt_forest **forest;    /* n: from the second one on, with the numbers that their features have in `schema` */
  gbt_forest_view *views; /* n, of these forests; the first one is the model's */
  gbt_forest *mean;
} joining;

static gbt_status join_member(joining *j, const gbt_model *member, int32_t m, gbt_error *err) {
  gbt_schema *joined;
  GBT_TRY(gbt_schema_join(j->mem, j->schema, member->schema, &joined, err));
  gbt_schema_unref(j->schema);
  j->schema = joined;
  GBT_TRY(gbt_forest_relevel(j->mem, &member->parts.forest, member->schema, joined, &j->forest[m], err));
  j->views[m] = gbt_forest_view_of(j->forest[m]);
  return GBT_OK;
}

static gbt_status join_all(joining *j, const gbt_model *const *members, int32_t n, gbt_error *err) {
  GBT_TRY(gbt_mem_zeros(j->mem, (size_t)n, sizeof *j->forest, &j->forest, err));
  GBT_TRY(gbt_mem_array(j->mem, (size_t)n, sizeof *j->views, &j->views, err));
  j->views[0] = members[0]->parts.forest;
  for (int32_t m = 1; m < n; m++) GBT_TRY(join_member(j, members[m], m, err));
  for (int32_t m = 0; m < n; m++) j->views[m].n_features = j->schema->n_features;
  GBT_TRY(gbt_forest_mean(j->mem, j->views, n, &j->mean, err));
  return share_tables(j->mem, j->schema, j->mean, err);
}

gbt_status gbt_model_make_mean(const gbt_mem *mem, const gbt_model *const *members, int32_t n, const gbt_meta *meta,
                               int32_t n_meta, uint8_t **out, size_t *n_bytes, gbt_error *err) {
  gbt_status status = GBT_OK;
  *out = NULL;
  *n_bytes = 0;
  GBT_TRY(check_members(members, n, err));
  const uint32_t other_float = gbti_float_begin();
  joining j = {.mem = mem, .schema = gbt_schema_ref(members[0]->schema)};
  GBT_TRY_GOTO(join_all(&j, members, n, err), done);
  const gbt_forest_view forest = gbt_forest_view_of(j.mean);
  const gbt_model_spec spec = {.forest = &forest,
                               .trees = {0, forest.n_trees},
                               .objective = mean_objective(members, n),
                               .schema = j.schema,
                               .meta = meta,
                               .n_meta = n_meta};
  GBT_TRY_GOTO(gbt_model_make(mem, &spec, out, n_bytes, err), done);
done:
  for (int32_t m = 1; j.forest != NULL && m < n; m++) gbt_forest_free(j.forest[m]);
  gbt_mem_free(mem, j.forest);
  gbt_mem_free(mem, j.views);
  gbt_forest_free(j.mean);
  gbt_schema_unref(j.schema);
  gbti_float_end(other_float);
  return status;
}
