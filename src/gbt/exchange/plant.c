/* Trees in gbt's order, sets by levels, and the model of them: plant.h. */
#include "plant.h"

#include <stdio.h>
#include <string.h>

#include "../base/sort.h"
#include "../bytes/utf8.h"
#include "../model/model.h"

/* ---- columns ---- */

gbt_status gbti_not_offered(const gbti_plant *plant, const char *what) {
  return gbt_fail(plant->err, GBT_E_UNSUPPORTED, "the %s model cannot be imported: %s", plant->program, what);
}

gbt_status gbti_tree_fault(const gbti_plant *plant, const char *what) {
  return gbt_fail(plant->err, GBT_E_FORMAT, "the %s file is damaged: tree %llu: %s", plant->program,
                  (unsigned long long)plant->n_trees + 1, what);
}

gbt_status gbti_plant_columns(gbti_plant *plant, int64_t n) {
  if (n < 0 || n > (int64_t)GBT_NODE_FEATURE) return gbti_not_offered(plant, "it has too many features");
  GBT_TRY(gbt_mem_zeros(&plant->mem, (size_t)n, sizeof *plant->column, &plant->column, plant->err));
  plant->n_columns = (int32_t)n;
  return GBT_OK;
}

static gbt_status copy_text(gbti_plant *plant, const char *text, char **out) {
  const size_t n = strlen(text) + 1;
  GBT_TRY(gbt_mem_array(&plant->mem, n, 1, out, plant->err));
  memcpy(*out, text, n);
  return GBT_OK;
}

gbt_status gbti_name_column(gbti_plant *plant, int32_t column, const char *name) {
  gbt_mem_free(&plant->mem, plant->column[column].name);
  return copy_text(plant, name, &plant->column[column].name);
}

/* A text, whose bytes that are not ASCII become their numbers where it is not UTF-8. */
static gbt_status copy_bytes(gbti_plant *plant, const char *text, char **out) {
  static const char digit[] = "0123456789abcdef";
  char *to;
  if (gbt_utf8_ok(text, strlen(text))) return copy_text(plant, text, out);
  GBT_TRY(gbt_mem_array(&plant->mem, strlen(text) + 1, 4, out, plant->err));
  to = *out;
  for (; *text != 0; text++) {
    const uint8_t b = (uint8_t)*text;
    if (b < 0x80) {
      *to++ = *text;
      continue;
    }
    const char number[4] = {'<', digit[b >> 4], digit[b & 15u], '>'};
    memcpy(to, number, sizeof number);
    to += sizeof number;
  }
  *to = 0;
  return GBT_OK;
}

gbt_status gbti_add_level(gbti_plant *plant, int32_t column, const char *level) {
  gbti_new_column *c = &plant->column[column];
  if (c->n_levels == GBT_MAX_LEVELS) return gbti_not_offered(plant, "a column has more than 65,534 levels");
  GBT_TRY(gbt_mem_grow(&plant->mem, &c->level, &c->cap_levels, (size_t)c->n_levels + 1, sizeof *c->level, plant->err));
  GBT_TRY(copy_bytes(plant, level, &c->level[c->n_levels]));
  c->n_levels++;
  return GBT_OK;
}

void gbti_set_parameter(gbti_plant *plant, int at, const char *key, double x, gbt_import_facts *facts) {
  const gbt_objective_param *p = &gbt_objective_info_of(plant->objective.kind)->param[at];
  if (x >= p->low && x <= p->high && !(p->open_low && x == p->low) && !(p->open_high && x == p->high))
    plant->objective.param[at] = x;
  else
    snprintf(facts->odd_parameter, sizeof facts->odd_parameter, "%s = %.15g", key, x);
}

gbt_status gbti_add_class(gbti_plant *plant, const char *name) {
  const size_t n = (size_t)plant->n_classes;
  GBT_TRY(gbt_mem_grow(&plant->mem, &plant->classes, &plant->cap_classes, n + 1, sizeof *plant->classes, plant->err));
  GBT_TRY(copy_bytes(plant, name, &plant->classes[n]));
  plant->n_classes++;
  return GBT_OK;
}

/* ---- trees ---- */

gbt_status gbti_clear_nodes(gbti_plant *plant, size_t n) {
  GBT_TRY(gbt_mem_grow(&plant->mem, &plant->node, &plant->cap_nodes, n, sizeof *plant->node, plant->err));
  memset(plant->node, 0, n * sizeof *plant->node);
  plant->n_nodes = n;
  plant->n_slopes = 0;
  return GBT_OK;
}

gbt_status gbti_add_slope(gbti_plant *plant, gbti_new_slope slope) {
  GBT_TRY(gbt_mem_grow(&plant->mem, &plant->slopes, &plant->cap_slopes, plant->n_slopes + 1, sizeof *plant->slopes,
                       plant->err));
  plant->slopes[plant->n_slopes++] = slope;
  return GBT_OK;
}

gbt_status gbti_add_code(gbti_plant *plant, int64_t code) {
  if (code < 0 || code > INT32_MAX) return gbti_tree_fault(plant, "a category is out of range");
  GBT_TRY(gbt_mem_grow(&plant->mem, &plant->codes, &plant->cap_codes, plant->n_codes + 1, sizeof *plant->codes,
                       plant->err));
  plant->codes[plant->n_codes++] = (int32_t)code;
  return GBT_OK;
}

static int is_finite(double x) { return x - x == 0.0; }

static const char *slopes_fault(const gbti_plant *plant, const gbti_new_node *node) {
  if (!is_finite(node->start)) return "the constant of a linear leaf is not finite";
  for (uint32_t k = 0; k < node->n_slopes; k++) {
    const gbti_new_slope *its = &plant->slopes[node->slope_beg + k];
    if (its->feature < 0 || its->feature >= plant->n_columns) return "a leaf uses a feature that does not exist";
    if (plant->column[its->feature].categorical) return "a leaf is linear in a column of categories";
    if (!(its->slope < 1e300 && its->slope > -1e300)) return "the slope of a linear leaf is not finite";
  }
  return NULL;
}

/* checked: a split by a set without fault, or NULL. Splits of a layer may share theirs, which is not checked again. */
static const char *node_fault(const gbti_plant *plant, const gbti_new_node *node, const gbti_new_node *checked) {
  if (!is_finite(node->gain) || !is_finite(node->cover)) return "a gain or a sum of hessians is not finite";
  if (node->left < 0) {
    for (int32_t k = 0; plant->n_leaf_outputs > 1 && k < plant->n_leaf_outputs; k++)
      if (!is_finite(plant->values[node->vector + (size_t)k])) return "the value of a leaf is not finite";
    if (plant->n_leaf_outputs == 1 && !is_finite(node->value)) return "the value of a leaf is not finite";
    return node->n_slopes > 0 ? slopes_fault(plant, node) : NULL;
  }
  if (node->feature < 0 || node->feature >= plant->n_columns) return "a split uses a feature that does not exist";
  const gbti_new_column *column = &plant->column[node->feature];
  if (!(node->flags & GBT_NODE_CATEGORICAL)) {
    if (column->categorical) return "a column of categories is split as a number";
    return node->value == node->value ? NULL : "a threshold is not a number";
  }
  if (!column->categorical) return "a column of numbers is split by categories";
  if (checked != NULL && checked->feature == node->feature && checked->set_beg == node->set_beg &&
      checked->set_n == node->set_n)
    return NULL;
  for (size_t i = 0; !column->by_code && i < node->set_n; i++)
    if (plant->codes[node->set_beg + i] >= column->n_levels) return "a split uses a category that does not exist";
  return NULL;
}

static gbt_status room_for(gbti_plant *p, size_t more) {
  const size_t n = p->n_planted + more;
  GBT_TRY(gbt_mem_grow(&p->mem, &p->nodes, &p->cap[0], n, sizeof *p->nodes, p->err));
  GBT_TRY(gbt_mem_grow(&p->mem, &p->gain, &p->cap[1], n, sizeof *p->gain, p->err));
  GBT_TRY(gbt_mem_grow(&p->mem, &p->cover, &p->cap[2], n, sizeof *p->cover, p->err));
  GBT_TRY(gbt_mem_grow(&p->mem, &p->count, &p->cap[3], n, sizeof *p->count, p->err));
  GBT_TRY(gbt_mem_grow(&p->mem, &p->set_n, &p->cap[4], n, sizeof *p->set_n, p->err));
  GBT_TRY(gbt_mem_grow(&p->mem, &p->linear, &p->cap[5], n, sizeof *p->linear, p->err));
  return gbt_mem_grow(&p->mem, &p->trees, &p->cap_trees, p->n_trees + 1, sizeof *p->trees, p->err);
}

static void put_node(gbti_plant *p, size_t at, const gbti_new_node *node, uint32_t left) {
  gbt_node *to = &p->nodes[at];
  memset(to, 0, sizeof *to);
  p->gain[at] = left > 0 ? node->gain : 0.0;
  p->cover[at] = node->cover;
  p->count[at] = node->count;
  p->set_n[at] = 0;
  p->linear[at] = 0;
  to->left = left;
  if (left == 0) {
    if (p->n_leaf_outputs > 1)
      to->arg.vector = node->vector;
    else
      to->arg.value = node->value;
    return;
  }
  to->feat = (uint32_t)node->feature | node->flags;
  if (node->flags & GBT_NODE_CATEGORICAL) {
    to->arg.vector = node->set_beg; /* of codes, until gbti_harvest() */
    p->set_n[at] = node->set_n;
  } else {
    to->arg.value = node->value;
  }
}

/* The slopes of a leaf, whose node is put. */
static gbt_status put_slopes(gbti_plant *p, size_t at, const gbti_new_node *node) {
  const size_t n_terms = p->n_terms + node->n_slopes;
  if (node->n_slopes == 0) return GBT_OK;
  if (p->n_leaves == UINT32_MAX) return gbti_not_offered(p, "it has too many linear leaves");
  GBT_TRY(gbt_mem_grow(&p->mem, &p->leaves, &p->cap_leaves, p->n_leaves + 1, sizeof *p->leaves, p->err));
  GBT_TRY(gbt_mem_grow(&p->mem, &p->terms, &p->cap_terms, n_terms, sizeof *p->terms, p->err));
  p->leaves[p->n_leaves++] =
      (gbt_linear_leaf){.start = node->start, .term_beg = p->n_terms, .n_terms = node->n_slopes};
  p->linear[at] = (uint32_t)p->n_leaves;
  for (uint32_t k = 0; k < node->n_slopes; k++) {
    const gbti_new_slope *its = &p->slopes[node->slope_beg + k];
    p->terms[p->n_terms++] = (gbt_linear_term){.slope = its->slope, .grid = (uint32_t)its->feature};
  }
  return GBT_OK;
}

/* order[i]: the node that is number i of the tree; seen: whether it has one. */
static gbt_status lay_out(gbti_plant *p, size_t *order, uint8_t *seen) {
  const size_t n = p->n_nodes, beg = p->n_planted;
  const gbti_new_node *checked = NULL;
  size_t n_known = 1;
  order[0] = 0;
  seen[0] = 1;
  for (size_t i = 0; i < n_known; i++) {
    const gbti_new_node *node = &p->node[order[i]];
    const char *fault = node_fault(p, node, checked);
    if (fault != NULL) return gbti_tree_fault(p, fault);
    if (node->left >= 0 && (node->flags & GBT_NODE_CATEGORICAL)) checked = node;
    if (node->left < 0) {
      put_node(p, beg + i, node, 0);
      GBT_TRY(put_slopes(p, beg + i, node));
      continue;
    }
    const int64_t child[2] = {node->left, node->right};
    put_node(p, beg + i, node, (uint32_t)n_known);
    for (int k = 0; k < 2; k++) {
      if (child[k] < 0 || (uint64_t)child[k] >= n) return gbti_tree_fault(p, "a child does not exist");
      if (seen[child[k]]) return gbti_tree_fault(p, "a node has two parents");
      seen[child[k]] = 1;
      order[n_known++] = (size_t)child[k];
    }
  }
  p->trees[p->n_trees++] = (gbt_tree){.node_beg = beg, .n_nodes = (uint32_t)n_known};
  p->n_planted += n_known;
  return GBT_OK;
}

gbt_status gbti_plant_tree(gbti_plant *p) {
  size_t *order = NULL;
  uint8_t *seen = NULL;
  gbt_status status;
  if (p->n_nodes > INT32_MAX) return gbti_tree_fault(p, "it has too many nodes");
  GBT_TRY_GOTO(gbt_mem_array(&p->mem, p->n_nodes, sizeof *order, &order, p->err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&p->mem, p->n_nodes, 1, &seen, p->err), done);
  GBT_TRY_GOTO(room_for(p, p->n_nodes), done);
  GBT_TRY_GOTO(lay_out(p, order, seen), done);
done:
  gbt_mem_free(&p->mem, order);
  gbt_mem_free(&p->mem, seen);
  return status;
}

/* ---- levels of columns whose categories are codes ---- */

/* The codes of a column's sets, ascending, each once. */
typedef struct code_list {
  uint64_t *code;
  size_t n;
} code_list;

/* Whether the codes of a node's set are levels only by their digits. */
static int is_by_code(const gbti_plant *p, size_t i) {
  return p->set_n[i] > 0 && p->column[p->nodes[i].feat & GBT_NODE_FEATURE].by_code;
}

/* Collects the codes of every column by code: counts, places, then sorts each column's. all: and as much for sorting.
 */
static gbt_status list_codes(gbti_plant *p, code_list *list, uint64_t **all) {
  size_t n = 0;
  for (size_t i = 0; i < p->n_planted; i++)
    if (is_by_code(p, i)) list[p->nodes[i].feat & GBT_NODE_FEATURE].n += p->set_n[i];
  for (int32_t c = 0; c < p->n_columns; c++) n += list[c].n;
  if (n > UINT32_MAX) return gbti_not_offered(p, "its sets of categories are too large");
  GBT_TRY(gbt_mem_array(&p->mem, n, 2 * sizeof **all, all, p->err));
  uint64_t *scratch = *all + n;
  n = 0;
  for (int32_t c = 0; c < p->n_columns; c++) {
    list[c].code = *all + n;
    n += list[c].n;
    list[c].n = 0;
  }
  for (size_t i = 0; i < p->n_planted; i++) {
    code_list *to = &list[p->nodes[i].feat & GBT_NODE_FEATURE];
    for (size_t k = 0; is_by_code(p, i) && k < p->set_n[i]; k++)
      to->code[to->n++] = (uint64_t)p->codes[p->nodes[i].arg.vector + k];
  }
  for (int32_t c = 0; c < p->n_columns; c++) {
    size_t m = 0;
    gbt_sort_u64(list[c].code, NULL, list[c].n, scratch, NULL);
    for (size_t i = 0; i < list[c].n; i++)
      if (m == 0 || list[c].code[m - 1] != list[c].code[i]) list[c].code[m++] = list[c].code[i];
    list[c].n = m;
  }
  return GBT_OK;
}

/* The level of a code: its place in the list, which has it. */
static uint32_t level_of(const code_list *list, uint32_t code) {
  size_t beg = 0, end = list->n;
  while (end - beg > 1) {
    const size_t middle = beg + (end - beg) / 2;
    if (list->code[middle] <= code)
      beg = middle;
    else
      end = middle;
  }
  return (uint32_t)beg;
}

static gbt_status name_levels(gbti_plant *p, const code_list *list) {
  char text[16];
  for (int32_t c = 0; c < p->n_columns; c++) {
    if (!p->column[c].by_code) continue;
    for (size_t i = 0; i < list[c].n; i++) {
      snprintf(text, sizeof text, "%lu", (unsigned long)list[c].code[i]);
      GBT_TRY(gbti_add_level(p, c, text));
    }
  }
  return GBT_OK;
}

/* Sets of codes to bit sets of levels. Splits of a layer may share theirs. */
static gbt_status make_sets(gbti_plant *p, const code_list *list, uint32_t **sets, size_t *n_sets) {
  size_t cap = 0;
  for (size_t t = 0; t < p->n_trees; t++) {
    gbt_tree *tree = &p->trees[t];
    const gbt_node *last = NULL; /* the split by a set before this one, and the codes of its set */
    uint64_t last_beg = 0;
    size_t last_n = 0;
    tree->set_beg = *n_sets;
    for (size_t i = tree->node_beg; i < tree->node_beg + tree->n_nodes; i++) {
      gbt_node *node = &p->nodes[i];
      if (node->left == 0 || !(node->feat & GBT_NODE_CATEGORICAL)) continue;
      const int32_t c = (int32_t)(node->feat & GBT_NODE_FEATURE);
      const int32_t *code = p->set_n[i] > 0 ? p->codes + node->arg.vector : NULL;
      const int shared =
          last != NULL && last->feat == node->feat && last_beg == node->arg.vector && last_n == p->set_n[i];
      uint32_t most = 0;
      last_beg = node->arg.vector;
      last_n = p->set_n[i];
      if (shared) node->arg.set = last->arg.set;
      last = node;
      if (shared) continue;
      for (size_t k = 0; k < p->set_n[i]; k++) {
        const uint32_t level = p->column[c].by_code ? level_of(&list[c], (uint32_t)code[k]) : (uint32_t)code[k];
        if (level > most) most = level;
      }
      const size_t n_words = p->set_n[i] > 0 ? most / 32 + 1 : 0;
      if (*n_sets - tree->set_beg + n_words > UINT32_MAX)
        return gbti_not_offered(p, "the sets of a tree are too large");
      GBT_TRY(gbt_mem_grow(&p->mem, sets, &cap, *n_sets + n_words, sizeof **sets, p->err));
      uint32_t *words = n_words > 0 ? *sets + *n_sets : NULL;
      for (size_t w = 0; w < n_words; w++) words[w] = 0;
      for (size_t k = 0; k < p->set_n[i]; k++) {
        const uint32_t level = p->column[c].by_code ? level_of(&list[c], (uint32_t)code[k]) : (uint32_t)code[k];
        words[level / 32] |= 1u << (level % 32);
      }
      node->arg.set.beg = (uint32_t)(*n_sets - tree->set_beg);
      node->arg.set.n_words = (uint32_t)n_words;
      *n_sets += n_words;
    }
    tree->n_words = (uint32_t)(*n_sets - tree->set_beg);
  }
  return GBT_OK;
}

/* ---- the model ---- */

/* The tag of a column whose zeros are missing: of the numbers from -1e-35f to 1e-35f, which LightGBM takes for zero. */
#define ZERO_MISSING "coded:-1.0000000180025095e-35..1.0000000180025095e-35"

static gbt_status make_schema(gbti_plant *p, gbt_schema **out) {
  const size_t n = (size_t)p->n_columns;
  gbt_schema_column *col = NULL;
  char(*name)[24] = NULL;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_zeros(&p->mem, n, sizeof *col, &col, p->err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&p->mem, n, sizeof *name, &name, p->err), done);
  for (size_t c = 0; c < n; c++) {
    const gbti_new_column *from = &p->column[c];
    snprintf(name[c], sizeof name[c], "f%lu", (unsigned long)c);
    col[c].name = from->name != NULL ? from->name : name[c];
    col[c].tag = from->zero_missing               ? ZERO_MISSING
                 : !from->categorical             ? "double"
                 : from->by_code || from->numbers ? "category"
                                                  : "factor";
    col[c].type = from->categorical ? GBT_CATEGORICAL : GBT_NUMERIC;
    col[c].n_levels = from->n_levels;
    col[c].levels = (const char *const *)from->level;
  }
  GBT_TRY_GOTO(gbt_schema_new(&p->mem, p->n_columns, col, out, p->err), done);
done:
  gbt_mem_free(&p->mem, col);
  gbt_mem_free(&p->mem, name);
  return status;
}

/* Values of leaves in the order of the nodes. */
static gbt_status make_vectors(gbti_plant *p, double **out, uint64_t *n) {
  const size_t width = (size_t)p->n_leaf_outputs;
  *n = 0;
  if (width < 2) return GBT_OK;
  for (size_t i = 0; i < p->n_planted; i++) *n += p->nodes[i].left == 0;
  GBT_TRY(gbt_mem_array(&p->mem, (size_t)*n, width * sizeof **out, out, p->err));
  uint64_t next = 0;
  for (size_t i = 0; i < p->n_planted; i++) {
    if (p->nodes[i].left != 0) continue;
    memcpy(*out + next * width, p->values + p->nodes[i].arg.vector, width * sizeof **out);
    p->nodes[i].arg.vector = next++;
  }
  return GBT_OK;
}

gbt_status gbti_grids_of_columns(const gbt_mem *mem, gbt_linear_term *term, size_t n_terms, int32_t n_columns,
                                 gbt_linear_grid **grids, uint32_t *n_grids, gbt_error *err) {
  uint32_t *number;
  GBT_TRY(gbt_mem_array(mem, (size_t)n_columns, sizeof **grids, grids, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_columns, sizeof *number, &number, err));
  for (size_t i = 0; i < n_terms; i++) number[term[i].grid] = 1;
  *n_grids = 0;
  for (int32_t c = 0; c < n_columns; c++) {
    if (number[c] == 0) continue;
    (*grids)[*n_grids] = (gbt_linear_grid){.feat = c};
    number[c] = (*n_grids)++;
  }
  for (size_t i = 0; i < n_terms; i++) term[i].grid = number[term[i].grid];
  gbt_mem_free(mem, number);
  return GBT_OK;
}

static gbt_status make_grids(gbti_plant *p, gbt_linear_grid **grids, gbt_linear_view *linear) {
  uint32_t n_grids;
  if (p->n_leaves == 0) return GBT_OK;
  GBT_TRY(gbti_grids_of_columns(&p->mem, p->terms, p->n_terms, p->n_columns, grids, &n_grids, p->err));
  *linear = (gbt_linear_view){.n_leaves = p->n_leaves,
                              .n_terms = p->n_terms,
                              .n_grids = n_grids,
                              .of = p->linear,
                              .leaf = p->leaves,
                              .term = p->terms,
                              .grid = *grids};
  return GBT_OK;
}

gbt_status gbti_harvest(gbti_plant *p, uint8_t **out, size_t *n_out) {
  gbt_forest_view forest = {.n_features = p->n_columns,
                            .n_outputs = p->objective.n_outputs,
                            .n_leaf_outputs = p->n_leaf_outputs,
                            .n_parallel = p->n_parallel,
                            .sums = p->sums};
  code_list *list = NULL;
  uint64_t *codes = NULL;
  uint32_t *sets = NULL;
  double *vectors = NULL;
  gbt_linear_grid *grids = NULL;
  gbt_schema *schema = NULL;
  size_t n_sets = 0;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_zeros(&p->mem, (size_t)p->n_columns, sizeof *list, &list, p->err), done);
  GBT_TRY_GOTO(list_codes(p, list, &codes), done);
  GBT_TRY_GOTO(name_levels(p, list), done);
  GBT_TRY_GOTO(make_sets(p, list, &sets, &n_sets), done);
  GBT_TRY_GOTO(make_vectors(p, &vectors, &forest.n_vectors), done);
  GBT_TRY_GOTO(make_grids(p, &grids, &forest.linear), done);
  GBT_TRY_GOTO(make_schema(p, &schema), done);
  forest.n_trees = p->n_trees;
  forest.n_nodes = p->n_planted;
  forest.n_words = n_sets;
  forest.base = p->base;
  forest.trees = p->trees;
  forest.nodes = p->nodes;
  forest.sets = sets;
  forest.gain = p->gain;
  forest.cover = p->cover;
  forest.count = p->count;
  forest.leaf_values = vectors;
  const gbt_meta classes = {
      .name = "classes", .kind = GBT_META_TEXT, .n = p->n_classes, .text = (const char *const *)p->classes};
  const gbt_model_spec spec = {.forest = &forest,
                               .trees = {0, p->n_trees},
                               .objective = p->objective,
                               .schema = schema,
                               .meta = &classes,
                               .n_meta = p->n_classes > 0};
  GBT_TRY_GOTO(gbt_model_make(&p->mem, &spec, out, n_out, p->err), done);
done:
  gbt_schema_unref(schema);
  gbt_mem_free(&p->mem, grids);
  gbt_mem_free(&p->mem, vectors);
  gbt_mem_free(&p->mem, sets);
  gbt_mem_free(&p->mem, codes);
  gbt_mem_free(&p->mem, list);
  return status;
}

void gbti_plant_drop(gbti_plant *p) {
  for (int32_t c = 0; p->column != NULL && c < p->n_columns; c++) {
    for (int32_t i = 0; i < p->column[c].n_levels; i++) gbt_mem_free(&p->mem, p->column[c].level[i]);
    gbt_mem_free(&p->mem, p->column[c].level);
    gbt_mem_free(&p->mem, p->column[c].name);
  }
  for (int64_t i = 0; i < p->n_classes; i++) gbt_mem_free(&p->mem, p->classes[i]);
  void *blocks[] = {p->classes, p->column, p->base,  p->node,  p->codes, p->values,
                    p->nodes,   p->gain,   p->cover, p->count, p->set_n, p->trees,
                    p->slopes,  p->linear, p->leaves, p->terms};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&p->mem, blocks[i]);
}
