/* Answers for rows that are binned: values that stand for the bins are predicted like any others, block by block. See
 * answer.h, and data/values.h for why that is exact. */
#include <string.h>

#include "../base/parallel.h"
#include "../data/binding.h"
#include "../data/values.h"
#include "../schema/dictionary.h"
#include "answer.h"
#include "model_impl.h"

/* ---- whether the bins say enough ---- */

/* Where a column of the model is among those of the data set. */
typedef struct where {
  int32_t col;     /* -1: nowhere */
  int same_levels; /* so ranks refer to the same order of levels; only set for ordinal columns */
} where;

static int same_levels(const gbt_schema_column *a, const gbt_schema_column *b) {
  if (a->n_levels != b->n_levels) return 0;
  for (int32_t i = 0; i < a->n_levels; i++)
    if (strcmp(a->levels[i], b->levels[i]) != 0) return 0;
  return 1;
}

static gbt_status match_columns(const gbt_mem *mem, const gbt_schema *model, const gbt_schema *data, where **out,
                                gbt_error *err) {
  gbt_dictionary *names;
  int32_t number;
  GBT_TRY(gbt_mem_array(mem, (size_t)model->n_columns, sizeof **out, out, err));
  gbt_status status = gbt_dictionary_new(mem, &names, err);
  if (status != GBT_OK) return status;
  for (int32_t c = 0; c < data->n_columns && status == GBT_OK; c++) /* names are unique, so numbers are columns */
    status = gbt_dictionary_add(names, data->col[c].name, &number, err);
  for (int32_t c = 0; c < model->n_columns; c++) {
    number = gbt_dictionary_find(names, model->col[c].name);
    (*out)[c] = (where){number, 0};
    if (number >= 0 && model->col[c].type == GBT_ORDINAL)
      (*out)[c].same_levels = same_levels(&model->col[c], &data->col[number]);
  }
  gbt_dictionary_free(names);
  return status;
}

static gbt_status check_split(const gbt_dataset *ds, const gbt_schema *model, const where *at, int32_t feature,
                              double threshold, gbt_error *err) {
  const gbt_feature *feat = &model->feat[feature];
  if (feat->kind != GBT_FEATURE_COLUMN || feat->type == GBT_CATEGORICAL || at[feat->col].col < 0) return GBT_OK;
  const int32_t col = at[feat->col].col;
  const gbt_schema_column *was = &model->col[feat->col], *now = &gbt_dataset_schema(ds)->col[col];
  if ((was->type == GBT_NUMERIC) != (now->type == GBT_NUMERIC)) return GBT_OK; /* binding has words for it */
  if (was->type == GBT_ORDINAL && !at[feat->col].same_levels)
    return gbt_fail_on(err, GBT_E_DATA, was->name,
                       "column `%s` has other levels, or another order of them, than in the model's training data; the "
                       "model cannot predict from its bins: give the rows themselves",
                       was->name);
  if (gbt_dataset_has_cut(ds, col, threshold)) return GBT_OK;
  return gbt_fail_on(
      err, GBT_E_DATA, was->name,
      "the model splits column `%s` at %.15g, which is not a cut of these data, so it cannot predict from their bins; "
      "give the rows themselves, or bin them with the cuts of the model's training data (`reference`)",
      was->name, threshold);
}

/* Looks at every split of the trees, and at the cuts that linear leaves read. */
static gbt_status check_splits(gbt_ctx *ctx, const gbt_model *model, const gbt_dataset *ds, gbt_tree_range trees,
                               gbt_error *err) {
  const gbt_forest_view *forest = &model->parts.forest;
  const gbt_schema *schema = model->parts.schema;
  where *at = NULL;
  gbt_status status;
  if (gbt_linear_of_numbers(&forest->linear))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "leaf_model",
                       "the model has linear leaves of another program, which read numbers that bins do not have; give "
                       "the rows themselves");
  GBT_TRY_GOTO(match_columns(&ctx->mem, schema, gbt_dataset_schema(ds), &at, err), done);
  for (uint64_t t = trees.beg; t < trees.end; t++) {
    GBT_TRY_GOTO(gbt_ctx_poll(ctx, err), done);
    const gbt_tree *tree = &forest->trees[t];
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
      const gbt_node *node = &forest->nodes[tree->node_beg + i];
      if (node->left == 0 || node->feat & GBT_NODE_CATEGORICAL) continue;
      GBT_TRY_GOTO(check_split(ds, schema, at, (int32_t)(node->feat & GBT_NODE_FEATURE), node->arg.value, err), done);
    }
  }
  for (uint32_t g = 0; g < forest->linear.n_grids; g++) {
    const gbt_linear_grid *grid = &forest->linear.grid[g];
    for (int32_t b = 0; b + 1 < grid->n_bins; b++)
      GBT_TRY_GOTO(check_split(ds, schema, at, grid->feat, forest->linear.cut[grid->beg + (uint64_t)b], err), done);
  }
done:
  gbt_mem_free(&ctx->mem, at);
  return status;
}

/* ---- answers ---- */

typedef struct bins_job {
  const gbt_model *model;
  gbt_predictor *keep;
  gbt_unseen unseen;
  gbt_answer what;
  gbt_tree_range trees;
  const double *offset;
  int64_t n_rows; /* of the data set */
  int32_t n_columns, n_offsets; /* of the answer; of the offset */
  size_t size;                  /* bytes of a number of the answer */
  uint8_t *out;
} bins_job;

/* An answer of some rows to its place among all. */
static void put_columns(const bins_job *job, const void *part, int64_t row_beg, int64_t n) {
  for (int32_t k = 0; k < job->n_columns; k++)
    memcpy(job->out + (size_t)(k * job->n_rows + row_beg) * job->size,
           (const uint8_t *)part + (size_t)(k * n) * job->size, (size_t)n * job->size);
}

static gbt_status answer_part(const bins_job *job, gbt_ctx *ctx, const gbt_table *table, int64_t row_beg, void *part,
                              double *offset, gbt_error *err) {
  const int64_t n = table->n_rows;
  gbt_binding *binding;
  for (int32_t k = 0; k < job->n_offsets; k++)
    memcpy(offset + k * n, job->offset + k * job->n_rows + row_beg, (size_t)n * sizeof *offset);
  GBT_TRY(gbti_binding_new(ctx, table, job->model->parts.schema, job->unseen, &binding, err));
  const gbt_answer_place at = {.keep = job->keep};
  gbt_status status = gbt_model_answer(ctx, job->model, &at, binding, job->what, job->trees,
                                       job->n_offsets > 0 ? offset : NULL, part, err);
  gbt_binding_free(binding);
  if (status == GBT_OK) put_columns(job, part, row_beg, n);
  return status;
}

static gbt_status answer_rows(void *arg, gbt_ctx *ctx, const gbt_table *table, int64_t row_beg, gbt_error *err) {
  const bins_job *job = arg;
  const size_t n = (size_t)table->n_rows;
  void *part = NULL;
  double *offset = NULL;
  gbt_table own = *table;
  gbt_status status;
  own.rows_before = row_beg;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n * (size_t)job->n_columns, job->size, &part, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n * (size_t)job->n_offsets, sizeof *offset, &offset, err), done);
  status = answer_part(job, ctx, &own, row_beg, part, offset, err);
done:
  gbt_mem_free(&ctx->mem, part);
  gbt_mem_free(&ctx->mem, offset);
  return status;
}

gbt_status gbt_model_answer_bins(gbt_ctx *ctx, const gbt_model *model, gbt_predictor *keep, const gbt_dataset *ds,
                                 gbt_unseen unseen, gbt_answer what, gbt_tree_range trees, const double *offset,
                                 void *out, gbt_error *err) {
  const gbt_forest_view *forest = &model->parts.forest;
  if (trees.beg > trees.end || trees.end > forest->n_trees)
    return gbt_fail(err, GBT_E_ARG, "there are no trees %llu to %llu; the model has %llu",
                    (unsigned long long)trees.beg + 1, (unsigned long long)trees.end,
                    (unsigned long long)forest->n_trees);
  bins_job job = {.model = model,
                  .keep = keep,
                  .unseen = unseen,
                  .what = what,
                  .trees = trees,
                  .offset = offset,
                  .n_rows = gbt_dataset_about(ds).n_rows,
                  .n_columns = forest->n_outputs,
                  .n_offsets = offset != NULL ? forest->n_outputs : 0,
                  .size = sizeof(double),
                  .out = out};
  if (what == GBT_ANSWER_CLASS || what == GBT_ANSWER_LEAF) job.size = sizeof(int32_t);
  if (what == GBT_ANSWER_CLASS) job.n_columns = 1;
  if (what == GBT_ANSWER_LEAF) job.n_columns = (int32_t)(trees.end - trees.beg);
  GBT_TRY(check_splits(ctx, model, ds, trees, err));
  return gbt_dataset_values(ctx, ds, model->parts.schema, answer_rows, &job, err);
}
