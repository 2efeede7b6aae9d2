/* JSON of gbt's own, docs/json-format.md: everything that prediction needs and what the trees show, as text that any
 * language reads. Numbers are the shortest decimals that are read as the same double. */
#include <string.h>

#include "formats.h"
#include "own_json.h"

/* ---- values ---- */

static void put_key(gbti_file *out, const char *before, const char *key) {
  gbti_put(out, before);
  gbti_put_json(out, key);
  gbti_put(out, ": ");
}

/* JSON has no infinities: texts. */
static void put_number(gbti_file *out, double x) {
  if (x - x == 0.0)
    gbti_put_double(out, x);
  else
    gbti_put(out, x > 0.0 ? "\"Infinity\"" : "\"-Infinity\"");
}

static void put_texts(gbti_file *out, const char *const *text, int64_t n) {
  gbti_put(out, "[");
  for (int64_t i = 0; i < n; i++) {
    if (i > 0) gbti_put(out, ", ");
    gbti_put_json(out, text[i]);
  }
  gbti_put(out, "]");
}

static void put_numbers(gbti_file *out, const double *number, size_t n) {
  gbti_put(out, "[");
  for (size_t i = 0; i < n; i++) {
    if (i > 0) gbti_put(out, ", ");
    put_number(out, number[i]);
  }
  gbti_put(out, "]");
}

/* ---- columns and trees ---- */

static void put_column(const gbti_outgoing *x, gbti_file *out, int32_t c) {
  const gbt_schema_column *col = &x->schema->col[c];
  const gbti_codes *codes = &x->codes[c];
  put_key(out, c == 0 ? "\n    {" : ",\n    {", "name");
  gbti_put_json(out, col->name);
  put_key(out, ", ", "type");
  gbti_put_json(out, gbti_json_type[col->type]);
  put_key(out, ", ", "tag");
  gbti_put_json(out, col->tag);
  if (codes->n > 0 || codes->has_range) {
    put_key(out, ", ", "missing");
    gbti_put(out, "[");
    for (int32_t i = 0; i < codes->n; i++) {
      if (i > 0) gbti_put(out, ", ");
      put_number(out, codes->value[i]);
    }
    if (codes->has_range) {
      gbti_put(out, codes->n > 0 ? ", [" : "[");
      put_number(out, codes->low);
      gbti_put(out, ", ");
      put_number(out, codes->high);
      gbti_put(out, "]");
    }
    gbti_put(out, "]");
  }
  if (col->type != GBT_NUMERIC) {
    put_key(out, ", ", "levels");
    put_texts(out, col->levels, col->n_levels);
  }
  gbti_put(out, "}");
}

static void put_set(gbti_file *out, const gbti_out_node *node) {
  gbti_put(out, "[");
  for (uint32_t w = 0; w < node->n_words; w++) {
    if (w > 0) gbti_put(out, ", ");
    gbti_put_whole(out, (int64_t)node->set[w]);
  }
  gbti_put(out, "]");
}

static void put_value(const gbti_outgoing *x, gbti_file *out, const gbti_out_node *node) {
  if (x->width == 1) {
    put_number(out, node->number);
    return;
  }
  put_numbers(out, node->values, (size_t)x->width);
}

static void put_field(const gbti_outgoing *x, gbti_file *out, int key, const gbti_out_node *node) {
  const int split = node->left > 0;
  switch (key) {
  case GBTI_JSON_LEFT:
    gbti_put_whole(out, node->left);
    break;
  case GBTI_JSON_COLUMN:
    gbti_put_whole(out, split ? node->column : -1);
    break;
  case GBTI_JSON_SPLIT:
    if (!split)
      gbti_put(out, "null");
    else if (node->by_set)
      put_set(out, node);
    else
      put_number(out, node->number);
    break;
  case GBTI_JSON_MISSING:
    gbti_put_whole(out, split && node->missing_left);
    break;
  case GBTI_JSON_UNSEEN:
    gbti_put_whole(out, split && node->unseen_left);
    break;
  case GBTI_JSON_VALUE:
    if (split)
      gbti_put(out, "null");
    else
      put_value(x, out, node);
    break;
  case GBTI_JSON_GAIN:
    put_number(out, node->gain);
    break;
  case GBTI_JSON_COVER:
    put_number(out, node->cover);
    break;
  default:
    gbti_put_whole(out, (int64_t)node->count);
  }
}

/* ---- linear leaves: version 2, and 3 of leaves of numbers ---- */

/* Numbers the grids that linear leaves of the trees use. */
static gbt_status number_grids(gbti_outgoing *x) {
  const gbt_linear_view *linear = x->linear;
  GBT_TRY(gbt_mem_zeros(&x->mem, linear->n_grids, sizeof *x->grid, &x->grid, x->err));
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) {
      const uint32_t of = x->tree[t].node[i].linear;
      for (uint32_t k = 0; of > 0 && k < linear->leaf[of - 1].n_terms; k++)
        x->grid[linear->term[linear->leaf[of - 1].term_beg + k].grid] = 1;
    }
  for (uint32_t g = 0; g < linear->n_grids; g++)
    if (x->grid[g] > 0) x->grid[g] = ++x->n_grids;
  return GBT_OK;
}

static void put_grid(const gbti_outgoing *x, gbti_file *out, uint32_t g) {
  const gbt_linear_grid *grid = &x->linear->grid[g];
  put_key(out, x->grid[g] == 1 ? "\n    {" : ",\n    {", "column");
  gbti_put_whole(out, gbti_grid_column(x, g));
  put_key(out, ", ", "cuts");
  put_numbers(out, x->linear->cut + grid->beg, (size_t)grid->n_bins - 1);
  put_key(out, ", ", "positions");
  gbti_put(out, "[");
  for (int32_t b = 0; b < grid->n_bins; b++) {
    if (b > 0) gbti_put(out, ", ");
    gbti_put_whole(out, x->linear->x[grid->beg + (uint64_t)b]);
  }
  gbti_put(out, "]}");
}

/* [start, low, high, grid, slope, grid, slope, ..] of a linear leaf; of numbers [start, column, slope, ..]. */
static void put_slopes(const gbti_outgoing *x, gbti_file *out, const gbti_out_node *node) {
  const gbt_linear_leaf *leaf = &x->linear->leaf[node->linear - 1];
  const double ends[] = {leaf->start, leaf->low, leaf->high};
  const int numbers = gbt_linear_of_numbers(x->linear);
  gbti_put(out, "[");
  for (int i = 0; i < (numbers ? 1 : 3); i++) {
    if (i > 0) gbti_put(out, ", ");
    put_number(out, ends[i]);
  }
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    const gbt_linear_term *term = &x->linear->term[leaf->term_beg + k];
    gbti_put(out, ", ");
    gbti_put_whole(out, numbers ? gbti_grid_column(x, term->grid) : (int64_t)x->grid[term->grid] - 1);
    gbti_put(out, ", ");
    put_number(out, term->slope);
  }
  gbti_put(out, "]");
}

/* Means of the same columns, in positions. */
static void put_means(const gbti_outgoing *x, gbti_file *out, const gbti_out_node *node) {
  double mean[GBT_LINEAR_MOST];
  const gbt_linear_leaf *leaf = &x->linear->leaf[node->linear - 1];
  for (uint32_t k = 0; k < leaf->n_terms; k++) mean[k] = gbt_linear_mean(&x->linear->term[leaf->term_beg + k]);
  put_numbers(out, mean, leaf->n_terms);
}

static void put_tree(const gbti_outgoing *x, gbti_file *out, uint64_t t) {
  const gbti_out_tree *tree = &x->tree[t];
  put_key(out, t == 0 ? "\n    {" : ",\n    {", "output");
  gbti_put_whole(out, tree->output);
  for (int key = 0; key < GBTI_JSON_KEYS; key++) {
    put_key(out, ",\n     ", gbti_json_key[key]);
    gbti_put(out, "[");
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
      if (i > 0) gbti_put(out, ", ");
      put_field(x, out, key, &tree->node[i]);
    }
    gbti_put(out, "]");
  }
  const int lists = x->n_grids == 0 ? 0 : gbt_linear_of_numbers(x->linear) ? 1 : 2;
  for (int means = 0; means < lists; means++) {
    put_key(out, ",\n     ", means ? "means" : "linear");
    gbti_put(out, "[");
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
      if (i > 0) gbti_put(out, ", ");
      if (tree->node[i].linear == 0) gbti_put(out, "null");
      else if (means) put_means(x, out, &tree->node[i]);
      else put_slopes(x, out, &tree->node[i]);
    }
    gbti_put(out, "]");
  }
  gbti_put(out, "}");
}

/* Those of the objective, by name; and the levels that its outputs are for. */
static void put_parameters(const gbti_outgoing *x, gbti_file *out) {
  const gbt_objective_info *info = gbt_objective_info_of(x->objective->kind);
  put_key(out, ",\n  ", "parameters");
  gbti_put(out, "{");
  for (int i = 0; i < GBT_OBJECTIVE_PARAMS && info->param[i].name != NULL; i++) {
    put_key(out, i == 0 ? "" : ", ", info->param[i].name);
    put_number(out, x->objective->param[i]);
  }
  gbti_put(out, "}");
  if (x->objective->levels == NULL || !gbt_has_levels(x->objective)) return;
  put_key(out, ",\n  ", "levels");
  put_numbers(out, x->objective->levels, (size_t)x->n_outputs);
}

gbt_status gbti_write_json(gbti_outgoing *x, gbti_file *out) {
  GBT_TRY(number_grids(x));
  const int numbers = gbt_linear_of_numbers(x->linear);
  put_key(out, "{\n  ", "format");
  gbti_put(out, "\"gbt\"");
  put_key(out, ",\n  ", "version");
  gbti_put(out, x->n_grids == 0 ? "1" : numbers ? "3" : "2");
  put_key(out, ",\n  ", "name");
  gbti_put_json(out, x->name);
  put_key(out, ",\n  ", "objective");
  gbti_put_json(out, gbt_objective_info_of(x->objective->kind)->name);
  put_parameters(x, out);
  put_key(out, ",\n  ", "response");
  gbti_put_json(out, gbti_json_link[x->link]);
  put_key(out, ",\n  ", "classes");
  put_texts(out, x->classes, x->n_classes);
  if (x->class_type != NULL && gbti_class_type_fault(x->class_type, x->objective, x->classes, x->n_classes) == NULL) {
    put_key(out, ",\n  ", "class_type");
    gbti_put_json(out, x->class_type);
  }
  put_key(out, ",\n  ", "outputs");
  gbti_put_whole(out, x->n_outputs);
  put_key(out, ",\n  ", "output_names");
  put_texts(out, x->outputs, x->outputs != NULL ? x->n_outputs : 0);
  put_key(out, ",\n  ", "rounds");
  gbti_put_whole(out, (int64_t)x->n_rounds);
  put_key(out, ",\n  ", "base");
  put_numbers(out, x->base, (size_t)x->n_outputs);
  put_key(out, ",\n  ", "offset");
  gbti_put(out, x->has_offset ? "true" : "false");
  put_key(out, ",\n  ", "sum");
  gbti_put_json(out, gbti_json_rule[x->sums.rule]);
  put_key(out, ",\n  ", "scale");
  put_number(out, x->sums.rule == GBT_SUM_SCALED ? x->sums.scale : 1.0);
  put_key(out, ",\n  ", "columns");
  gbti_put(out, "[");
  for (int32_t c = 0; c < x->schema->n_columns; c++) put_column(x, out, c);
  if (x->n_grids > 0 && !numbers) {
    put_key(out, "],\n  ", "grids");
    gbti_put(out, "[");
    for (uint32_t g = 0; g < x->linear->n_grids; g++)
      if (x->grid[g] > 0) put_grid(x, out, g);
  }
  put_key(out, "],\n  ", "trees");
  gbti_put(out, "[");
  for (uint64_t t = 0; t < x->n_trees; t++) put_tree(x, out, t);
  gbti_put(out, "]\n}\n");
  return GBT_OK;
}
