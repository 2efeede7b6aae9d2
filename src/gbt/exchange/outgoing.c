/* Trees of features -> trees of columns, and what formats cannot say taken out of them: outgoing.h. */
#include "outgoing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/bits.h"
#include "../base/parallel.h"
#include "../base/sort.h"
#include "decimal.h"
#include "formats.h"

/* ---- messages ---- */

static gbt_status refuse(const gbti_outgoing *x, const char *about, const char *clause, const char *names) {
  const char *between = *names == 0 ? "" : "; use ", *after = *names == 0 ? "" : " instead";
  if (about == NULL)
    return gbt_fail(x->err, GBT_E_UNSUPPORTED, "the model cannot be written as \"%s\": %s%s%s%s", x->format->name,
                    clause, between, names, after);
  return gbt_fail_on(x->err, GBT_E_UNSUPPORTED, about, "the model cannot be written as \"%s\": %s%s%s%s",
                     x->format->name, clause, between, names, after);
}

enum { CLAUSE_LENGTH = 480 };

gbt_status gbti_refuse(const gbti_outgoing *x, const char *about, const char *fmt, ...) {
  char clause[CLAUSE_LENGTH];
  va_list args;
  va_start(args, fmt);
  vsnprintf(clause, sizeof clause, fmt, args);
  va_end(args);
  return refuse(x, about, clause, "");
}

gbt_status gbti_refuse_for(const gbti_outgoing *x, const char *about, uint32_t can, const char *fmt, ...) {
  char clause[CLAUSE_LENGTH], names[GBTI_NAMES_LENGTH];
  va_list args;
  va_start(args, fmt);
  vsnprintf(clause, sizeof clause, fmt, args);
  va_end(args);
  gbti_formats_with(can, names);
  return refuse(x, about, clause, names);
}

void gbti_tell(gbti_outgoing *x, const char *text) {
  for (int32_t i = 0; i < x->facts->n_notes; i++)
    if (strcmp(x->facts->note[i], text) == 0) return;
  if (x->facts->n_notes < GBT_EXPORT_NOTES) x->facts->note[x->facts->n_notes++] = text;
}

/* ---- units ---- */

const char *gbti_unit_of(const gbt_schema_column *col) {
  static const char *const prefix[] = {"difftime:", "units:"};
  if (strcmp(col->tag, "Date") == 0) return "days since 1970-01-01";
  if (strcmp(col->tag, "POSIXct") == 0) return "seconds since 1970-01-01";
  for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
    if (strncmp(col->tag, prefix[i], strlen(prefix[i])) == 0) return col->tag + strlen(prefix[i]);
  return NULL;
}

/* ---- numbers that are missing values ---- */

static int is_number_end(char c) { return c == ',' || c == '.' || c == 0; }

/* One number of "98,99,-9..-1", and where it ends; 0 where there is none. */
static size_t take_number(const char *text, double *out) {
  if (strncmp(text, "-Inf", 4) == 0 || strncmp(text, "Inf", 3) == 0) {
    *out = gbt_from_bits((uint64_t)(*text == '-' ? 0xfff : 0x7ff) << 52);
    return *text == '-' ? 4 : 3;
  }
  size_t n = 0; /* of a number, but not the points between two */
  while (!is_number_end(text[n]) || (text[n] == '.' && text[n + 1] != '.')) n++;
  const gbti_decimal d = gbti_read_decimal(text, n);
  *out = d.nearest;
  return d.n == n ? n : 0;
}

/* Codes of a tag "coded:98,99,-9..-1" (R/data_meaning.R); room: for all values of the tag. */
static void read_codes(const char *tag, double *room, gbti_codes *codes) {
  const char *at = tag + strlen("coded:");
  codes->value = room;
  while (*at != 0) {
    double low, high;
    size_t n = take_number(at, &low);
    if (n > 0 && strncmp(at + n, "..", 2) == 0) {
      const size_t m = take_number(at + n + 2, &high);
      if (m > 0 && !codes->has_range) {
        codes->has_range = 1;
        codes->low = low;
        codes->high = high;
      }
      n += 2 + m;
    } else if (n > 0) {
      room[codes->n++] = low;
    }
    at += n;
    while (*at != 0 && *at != ',') at++;
    at += *at == ',';
  }
}

static int is_coded(const gbt_schema_column *col) { return strncmp(col->tag, "coded:", strlen("coded:")) == 0; }

void gbti_codes_of(const gbt_schema_column *col, double *room, gbti_codes *codes) {
  if (is_coded(col)) read_codes(col->tag, room, codes);
}

static gbt_status make_codes(gbti_outgoing *x) {
  size_t room = 0;
  const int32_t n = x->schema->n_columns;
  for (int32_t c = 0; c < n; c++)
    if (is_coded(&x->schema->col[c])) room += strlen(x->schema->col[c].tag);
  GBT_TRY(gbt_mem_zeros(&x->mem, (size_t)n, sizeof *x->codes, &x->codes, x->err));
  GBT_TRY(gbt_mem_zeros(&x->mem, room, sizeof *x->code_values, &x->code_values, x->err));
  room = 0;
  for (int32_t c = 0; c < n; c++) {
    if (!is_coded(&x->schema->col[c])) continue;
    read_codes(x->schema->col[c].tag, x->code_values + room, &x->codes[c]);
    room += strlen(x->schema->col[c].tag);
  }
  return GBT_OK;
}

int gbti_is_code(const gbti_outgoing *x, int32_t column, double number) {
  const gbti_codes *codes = &x->codes[column];
  for (int32_t i = 0; i < codes->n; i++)
    if (codes->value[i] == number) return 1;
  return codes->has_range && number >= codes->low && number <= codes->high;
}

/* ---- nodes ---- */

/* Rows for which a split by a derived feature goes left, as a set of levels. */
typedef struct level_split {
  const gbt_schema *schema;
  const gbt_node *node;
  const gbt_feature *feature;
  const uint32_t *words; /* of the tree */
} level_split;

/* level: a position, or n_levels of a missing value, or -1. */
static int level_goes_left(const level_split *s, int32_t level) {
  const gbt_feature *f = s->feature;
  const int32_t n = s->schema->col[f->col].n_levels;
  const double missing = gbt_nan();
  switch (f->kind) {
  case GBT_FEATURE_COLUMN:
    return gbt_goes_left(s->node, level == n || level >= GBT_MAX_LEVELS ? missing : (double)level, s->words);
  case GBT_FEATURE_LEVEL_COUNT:
    return gbt_goes_left(s->node, level == n ? missing : level < 0 ? 0.0 : f->value[level], s->words);
  case GBT_FEATURE_TARGET_MEAN:
  case GBT_FEATURE_TARGET_CLASS:
  case GBT_FEATURE_KEY_COUNT:
    return gbt_goes_left(s->node, level < 0 ? (double)f->unknown : (double)f->bin[level], s->words);
  case GBT_N_FEATURE_KINDS:
    break;
  }
  return 0;
}

/* Whether the set of a node is not the one of its words: of statistics, of levels that are split by their position, and
 * of levels too many to be told apart. */
static int needs_own_set(const gbti_outgoing *x, const gbt_node *node) {
  const gbt_feature *f = &x->schema->feat[node->feat & GBT_NODE_FEATURE];
  const gbt_schema_column *col = &x->schema->col[f->col];
  if (f->kind != GBT_FEATURE_COLUMN) return 1;
  if (col->type != GBT_CATEGORICAL) return 0;
  return !(node->feat & GBT_NODE_CATEGORICAL) || col->n_levels > GBT_MAX_LEVELS;
}

static gbt_status check_feature(const gbti_outgoing *x, int32_t feature) {
  const gbt_feature *f = &x->schema->feat[feature];
  if (!gbt_feature_has_table(f->kind)) return GBT_OK;
  const gbt_projection *p = &x->schema->proj[f->projection];
  if (p->n_cols == 1 && p->key == NULL && p->n_keys == (int64_t)x->schema->col[f->col].n_levels + 1) return GBT_OK;
  char label[160];
  gbt_feature_label(x->schema, feature, label, sizeof label);
  return gbti_refuse(x, label,
                     "trees split by \"%s\", a statistic of several columns; gbt_save() keeps the model, and "
                     "one that is trained with `max_cat_combine = 1` has no such statistics",
                     label);
}

/* words: room for the set, if it needs one. */
static void fill_node(const gbti_outgoing *x, const gbt_forest_view *model, uint64_t tree, uint32_t i, uint32_t *words,
                      gbti_out_node *to) {
  const gbt_tree *t = &model->trees[tree];
  const gbt_node *node = &model->nodes[t->node_beg + i];
  const gbt_node_info info = gbt_tree_node(model, tree, i);
  memset(to, 0, sizeof *to);
  to->left = info.left;
  to->gain = info.gain;
  to->cover = info.cover;
  to->count = info.count;
  if (info.feature < 0) {
    to->column = -1;
    to->linear = model->linear.n_leaves > 0 ? model->linear.of[t->node_beg + i] : 0;
    to->values = info.value;
    to->number = info.value[0];
    return;
  }
  const gbt_feature *f = &x->schema->feat[info.feature];
  to->column = f->col;
  to->missing_left = info.missing_left;
  to->unseen_left = info.bulk_left;
  to->number = info.threshold;
  to->by_set = info.by_set;
  to->set = info.set;
  to->n_words = info.n_words;
  if (!needs_own_set(x, node)) return;
  const level_split split = {x->schema, node, f, model->sets + t->set_beg};
  const int32_t n = x->schema->col[f->col].n_levels;
  to->by_set = 1;
  to->missing_left = level_goes_left(&split, n);
  to->unseen_left = level_goes_left(&split, -1);
  to->set = words;
  to->n_words = (uint32_t)(n + 31) / 32;
  memset(words, 0, to->n_words * sizeof *words);
  for (int32_t level = 0; level < n; level++)
    if (level_goes_left(&split, level)) words[level / 32] |= 1u << (level % 32);
}

/* ---- trees ---- */

/* How many nodes, words of own sets and values the trees need. */
typedef struct sizes {
  size_t nodes, words, leaves;
} sizes;

static gbt_status count_tree(const gbti_outgoing *x, const gbt_forest_view *model, uint64_t tree, sizes *n) {
  const gbt_tree *t = &model->trees[tree];
  n->nodes += t->n_nodes;
  for (uint32_t i = 0; i < t->n_nodes; i++) {
    const gbt_node *node = &model->nodes[t->node_beg + i];
    if (node->left == 0) {
      n->leaves++;
      continue;
    }
    const int32_t feature = (int32_t)(node->feat & GBT_NODE_FEATURE);
    GBT_TRY(check_feature(x, feature));
    if (needs_own_set(x, node)) n->words += ((size_t)x->schema->col[x->schema->feat[feature].col].n_levels + 31) / 32;
  }
  return GBT_OK;
}

/* Fills the trees that come from one of the model, and returns the first node that is free. */
static gbti_out_node *fill_trees(gbti_outgoing *x, const gbt_forest_view *model, uint64_t source, gbti_out_node *node,
                                 uint32_t **words, gbti_out_tree *to, int32_t n, size_t step) {
  const uint32_t n_nodes = model->trees[source].n_nodes;
  for (uint32_t i = 0; i < n_nodes; i++) {
    fill_node(x, model, source, i, *words, &node[i]);
    if (node[i].set == *words && node[i].n_words > 0) *words += node[i].n_words;
  }
  for (int32_t k = 0; k < n; k++) {
    gbti_out_node *own = node + (size_t)k * n_nodes;
    if (k > 0) memcpy(own, node, n_nodes * sizeof *node);
    to[(size_t)k * step] = (gbti_out_tree){.node = own, .n_nodes = n_nodes, .from = k, .source = source};
  }
  for (int32_t k = 0; k < n && n > 1; k++)
    for (uint32_t i = 0; i < n_nodes; i++) {
      gbti_out_node *own = node + (size_t)k * n_nodes + i;
      if (own->left == 0) own->number = own->values[k];
    }
  return node + (size_t)n * n_nodes;
}

static gbt_status make_trees(gbt_ctx *ctx, gbti_outgoing *x, const gbt_forest_view *model, gbt_tree_range trees) {
  const int split = model->n_leaf_outputs > 1 && !(x->format->flags & GBTI_CAN_VECTORS);
  const int32_t copies = split ? x->n_outputs : 1;
  const size_t n_source = (size_t)(trees.end - trees.beg);
  const uint64_t per_round = gbt_trees_per_round(model);
  sizes n = {0, 0, 0};
  for (uint64_t t = trees.beg; t < trees.end; t++) GBT_TRY(count_tree(x, model, t, &n));
  x->width = split ? 1 : model->n_leaf_outputs;
  x->n_rounds = n_source / per_round;
  x->n_trees = n_source * (uint64_t)copies;
  if (n.nodes > SIZE_MAX / (size_t)copies) return gbt_fail_mem(x->err, SIZE_MAX);
  GBT_TRY(gbt_mem_array(&x->mem, n.nodes * (size_t)copies, sizeof *x->nodes, &x->nodes, x->err));
  GBT_TRY(gbt_mem_array(&x->mem, n.words + 1, sizeof *x->words, &x->words, x->err));
  GBT_TRY(gbt_mem_array(&x->mem, (size_t)x->n_trees, sizeof *x->tree, &x->tree, x->err));
  gbti_out_node *node = x->nodes;
  uint32_t *words = x->words;
  for (uint64_t t = trees.beg; t < trees.end; t++) {
    const uint64_t i = t - trees.beg, round = i / per_round, within = i % per_round;
    GBT_TRY(gbt_ctx_poll(ctx, x->err));
    /* of a round: score by score, and within a score the parallel trees */
    gbti_out_tree *to = &x->tree[split ? round * per_round * (uint64_t)copies + within : i];
    node = fill_trees(x, model, t, node, &words, to, copies, (size_t)x->n_parallel);
  }
  for (uint64_t t = 0; t < x->n_trees; t++) {
    const uint64_t of_round = (uint64_t)x->n_parallel * (uint64_t)(x->width > 1 ? 1 : x->n_outputs);
    x->tree[t].output = x->width > 1 ? -1 : (int32_t)(t % of_round / (uint64_t)x->n_parallel);
  }
  return GBT_OK;
}

/* ---- thresholds ---- */

static int is_threshold(const gbti_out_node *node) { return node->left > 0 && !node->by_set; }

gbt_status gbti_thresholds_of(const gbti_outgoing *x, gbti_thresholds *out) {
  const size_t n_columns = (size_t)x->schema->n_columns;
  size_t n = 0;
  uint64_t *scratch = NULL;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_zeros(&x->mem, n_columns + 2, sizeof *out->beg, &out->beg, x->err), done);
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++)
      if (is_threshold(&x->tree[t].node[i])) out->beg[x->tree[t].node[i].column + 2]++, n++;
  for (size_t c = 0; c < n_columns; c++) out->beg[c + 2] += out->beg[c + 1];
  GBT_TRY_GOTO(gbt_mem_array(&x->mem, n, sizeof *out->key, &out->key, x->err), done);
  GBT_TRY_GOTO(gbt_mem_array(&x->mem, n, sizeof *scratch, &scratch, x->err), done);
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) {
      const gbti_out_node *node = &x->tree[t].node[i];
      if (is_threshold(node)) out->key[out->beg[node->column + 1]++] = gbt_order_key(node->number);
    }
  for (size_t c = 0; c < n_columns; c++)
    gbt_sort_u64(out->key + out->beg[c], NULL, out->beg[c + 1] - out->beg[c], scratch, NULL);
done:
  gbt_mem_free(&x->mem, scratch);
  return status;
}

void gbti_thresholds_drop(const gbti_outgoing *x, gbti_thresholds *list) {
  gbt_mem_free(&x->mem, list->key);
  gbt_mem_free(&x->mem, list->beg);
}

/* ---- what formats cannot say ---- */

static void send_unseen_with_missing(gbti_outgoing *x) {
  int differ = 0;
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) {
      gbti_out_node *node = &x->tree[t].node[i];
      if (node->left == 0 || !node->by_set) continue;
      differ |= node->unseen_left != node->missing_left;
      node->unseen_left = node->missing_left;
    }
  if (differ)
    gbti_tell(x, "levels that the training data did not have are taken for missing values, as predict(unseen = "
                 "\"missing\") takes them");
}

static double to_float(double x) { return (double)(float)x; }

static gbt_status round_leaf(gbti_outgoing *x, gbti_out_node *leaf, double *room) {
  for (int32_t k = 0; k < x->width; k++) {
    room[k] = to_float(x->width > 1 ? leaf->values[k] : leaf->number);
    if (room[k] - room[k] != 0.0) return gbti_refuse_for(x, NULL, 0, "the value of a leaf is too large for float32");
  }
  leaf->number = room[0];
  if (x->width > 1) leaf->values = room;
  return GBT_OK;
}

/* Distinct thresholds of a column stay so, that no rows of the training that they tell apart are merged. */
static gbt_status check_apart(const gbti_outgoing *x, uint64_t *keys, size_t n, int32_t column) {
  for (size_t i = 1; i < n; i++) {
    const double a = gbt_order_value(keys[i - 1]), b = gbt_order_value(keys[i]);
    if (a == b || gbti_above_f32(a) != gbti_above_f32(b)) continue;
    const char *name = x->schema->col[column].name;
    return gbti_refuse_for(x, name, 0,
                           "thresholds of column `%s`, %.17g and %.17g, are the same number in float32: use numbers of "
                           "fewer digits, such as a time since a later day",
                           name, a, b);
  }
  return GBT_OK;
}

static gbt_status check_thresholds(const gbti_outgoing *x) {
  gbti_thresholds list = {0};
  gbt_status status = gbti_thresholds_of(x, &list);
  for (int32_t c = 0; status == GBT_OK && c < x->schema->n_columns; c++)
    status = check_apart(x, list.key + list.beg[c], list.beg[c + 1] - list.beg[c], c);
  gbti_thresholds_drop(x, &list);
  return status;
}

/* x <= the result says of every double x what (float)x <= t says. */
static double threshold_of_floats(const gbti_outgoing *x, double t) {
  const int has_all = t - t != 0.0 && t > 0.0;
  return has_all && !(x->format->flags & GBTI_FINITE) ? t : gbti_below_f32(gbti_above_f32(t), 0);
}

static gbt_status round_to_floats(gbti_outgoing *x) {
  GBT_TRY(check_thresholds(x));
  for (int32_t k = 0; k < x->n_outputs; k++) x->base[k] = to_float(x->base[k]);
  int rounded = x->sums.rule != GBT_SUM_FLOAT;
  size_t n_leaves = 0, next = 0;
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) n_leaves += x->tree[t].node[i].left == 0;
  GBT_TRY(gbt_mem_array(&x->mem, n_leaves + 1, (size_t)x->width * sizeof *x->values, &x->values, x->err));
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) {
      gbti_out_node *node = &x->tree[t].node[i];
      if (node->left == 0)
        GBT_TRY(round_leaf(x, node, x->values + (size_t)x->width * next++));
      else if (!node->by_set)
        node->number = threshold_of_floats(x, node->number);
    }
  if (gbti_sums_at_end(x)) {
    if (x->sums.rule == GBT_SUM_MEAN || x->sums.scale != 1.0)
      return gbti_refuse_for(x, NULL, GBTI_CAN_END, "its scores are scaled sums, or means, of trees");
  }
  x->sums = (gbt_sums){GBT_SUM_FLOAT, 0.0};
  if (rounded)
    gbti_tell(x,
              "this format compares and adds in float32: thresholds are those that separate the same float32 numbers, "
              "leaf values are rounded, and scores agree to about 6 digits");
  return GBT_OK;
}

/* A last or only round of trees that are constants, and how many trees it has. */
static gbt_status add_constants(gbti_outgoing *x) {
  const uint64_t more = (uint64_t)x->n_outputs * (uint64_t)x->n_parallel;
  gbti_out_tree *tree;
  gbti_out_node *node;
  GBT_TRY(gbt_mem_array(&x->mem, (size_t)(x->n_trees + more), sizeof *tree, &tree, x->err));
  if (x->n_trees > 0) memcpy(tree, x->tree, (size_t)x->n_trees * sizeof *tree);
  gbt_mem_free(&x->mem, x->tree);
  x->tree = tree;
  GBT_TRY(gbt_mem_zeros(&x->mem, (size_t)more, sizeof *node, &node, x->err));
  x->constants = node;
  for (uint64_t i = 0; i < more; i++) {
    const int32_t k = (int32_t)(i / (uint64_t)x->n_parallel);
    node[i].column = -1;
    node[i].number = i % (uint64_t)x->n_parallel == 0 ? x->base[k] : -0.0; /* what -0 is added to stays as it is */
    tree[x->n_trees + i] = (gbti_out_tree){.node = &node[i], .n_nodes = 1, .output = k, .source = UINT64_MAX};
  }
  x->n_trees += more;
  x->n_rounds++;
  for (int32_t k = 0; k < x->n_outputs; k++) x->base[k] = 0.0;
  return GBT_OK;
}

/* base + first + others is (base + first) + others: the first tree of each score gets its base. */
static void add_to_first(gbti_outgoing *x) {
  for (uint64_t t = 0; t < (uint64_t)x->n_outputs * (uint64_t)x->n_parallel; t += (uint64_t)x->n_parallel) {
    const double base = x->base[x->tree[t].output];
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) {
      gbti_out_node *node = &x->tree[t].node[i];
      if (node->left > 0) continue;
      node->number = base + node->number;
      if (x->sums.rule == GBT_SUM_FLOAT) node->number = to_float(node->number);
    }
  }
  for (int32_t k = 0; k < x->n_outputs; k++) x->base[k] = 0.0;
}

int gbti_sums_at_end(const gbti_outgoing *x) { return x->sums.rule == GBT_SUM_SCALED || x->sums.rule == GBT_SUM_MEAN; }

static gbt_status move_base(gbti_outgoing *x) {
  int any = 0;
  for (int32_t k = 0; k < x->n_outputs; k++) any |= x->base[k] != 0.0;
  if (x->n_trees == 0) return add_constants(x);
  if (!any) return GBT_OK;
  if (gbt_linear_of_numbers(x->linear))
    return gbti_refuse(x, "leaf_model", "it has linear leaves and base scores, which this format has no room for");
  if (gbti_sums_at_end(x) && (x->format->flags & GBTI_CAN_END)) return GBT_OK;
  switch ((gbt_sum_rule)x->sums.rule) {
  case GBT_SUM_PLAIN:
  case GBT_SUM_FLOAT:
    add_to_first(x);
    return GBT_OK;
  case GBT_SUM_SCALED: /* the base score comes last */
    if (x->sums.scale == 1.0) return add_constants(x);
    break;
  case GBT_SUM_MEAN:
    break;
  }
  return gbti_refuse_for(x, NULL, GBTI_CAN_END, "it has base scores that are added to scaled sums, or means, of trees");
}

static gbt_status check_codes(const gbti_outgoing *x) {
  for (int32_t c = 0; c < x->schema->n_columns; c++) {
    const char *name = x->schema->col[c].name;
    int is_range = x->codes[c].has_range;
    for (int32_t i = 0; i < x->codes[c].n; i++) is_range |= x->codes[c].value[i] - x->codes[c].value[i] != 0.0;
    const uint32_t need = (x->codes[c].n > 0 ? GBTI_CAN_CODES : 0) | (is_range ? GBTI_CAN_RANGES : 0);
    if ((x->format->flags & need) != need)
      return gbti_refuse_for(x, name, need, "column `%s` has %s that stand for missing values", name,
                             is_range ? "a range of numbers" : "numbers");
  }
  return GBT_OK;
}

/* ---- the whole ---- */

gbti_link gbti_link_of(const gbt_objective *o) {
  if (gbt_has_levels(o)) return GBTI_LINK_SORTED;
  if (o->kind == GBT_OBJ_SQUARED_LOG_ERROR) return GBTI_LINK_EXPM1;
  switch (gbt_objective_info_of(o->kind)->response) {
  case GBT_RESPONSE_MEAN:
  case GBT_RESPONSE_TIME:
  case GBT_RESPONSE_HAZARD:
    return GBTI_LINK_EXP;
  case GBT_RESPONSE_PROBABILITY:
  case GBT_RESPONSE_INTERVALS:
    return GBTI_LINK_SIGMOID;
  case GBT_RESPONSE_CLASSES:
    return GBTI_LINK_SOFTMAX;
  case GBT_RESPONSE_NUMBER:
  case GBT_RESPONSE_DISTRIBUTION: /* refused before */
  case GBT_RESPONSE_OWN:
    break;
  }
  return GBTI_LINK_NONE;
}

gbt_status gbti_outgoing_make(gbt_ctx *ctx, gbti_outgoing *x, const gbt_forest_view *model, gbt_tree_range trees) {
  const uint32_t flags = x->format->flags;
  if (gbt_is_distribution(x->objective))
    return gbti_refuse(x, "objective",
                       "a distribution has several parameters a row, which no format of files is offered for; "
                       "predict() with type = \"parameters\" gives them");
  if (gbt_linear_of_numbers(&model->linear) && !(flags & GBTI_CAN_NUMBERS))
    return gbti_refuse_for(x, "leaf_model", GBTI_CAN_NUMBERS, "it has linear leaves of LightGBM (`linear_tree`)");
  if (model->linear.n_leaves > 0 && !gbt_linear_of_numbers(&model->linear) && !(flags & GBTI_CAN_LINEAR))
    return gbti_refuse_for(x, "leaf_model", GBTI_CAN_LINEAR, "it has linear leaves");
  x->linear = &model->linear;
  x->n_outputs = model->n_outputs;
  x->n_parallel = model->n_parallel;
  x->sums = model->sums;
  x->link = gbti_link_of(x->objective);
  GBT_TRY(gbt_mem_array(&x->mem, (size_t)x->n_outputs, sizeof *x->base, &x->base, x->err));
  memcpy(x->base, model->base, (size_t)x->n_outputs * sizeof *x->base);
  GBT_TRY(make_codes(x));
  if (!(flags & GBTI_OWN_CODES)) GBT_TRY(check_codes(x));
  GBT_TRY(make_trees(ctx, x, model, trees));
  if (!(flags & GBTI_CAN_UNSEEN)) send_unseen_with_missing(x);
  if (flags & GBTI_FLOATS) {
    GBT_TRY(round_to_floats(x));
  } else if (x->sums.rule == GBT_SUM_FLOAT && !(flags & GBTI_CAN_SUMS)) {
    x->sums.rule = GBT_SUM_PLAIN;
    gbti_tell(x, "this format adds in double what XGBoost adds in float32: scores agree to about 6 digits");
  }
  if (!(flags & GBTI_CAN_BASE)) GBT_TRY(move_base(x));
  return GBT_OK;
}

void gbti_outgoing_drop(gbti_outgoing *x) {
  void *block[] = {x->base, x->tree, x->codes, x->nodes, x->words, x->values, x->code_values, x->constants, x->grid};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(&x->mem, block[i]);
}

/* ---- rows ---- */

int64_t gbti_level_code(const gbt_schema_column *column, int32_t level) {
  if (strcmp(column->tag, "category") != 0) return level;
  const char *text = column->levels[level];
  int64_t code = 0;
  size_t n = 0;
  for (; text[n] >= '0' && text[n] <= '9' && n < 9; n++) code = code * 10 + (text[n] - '0');
  return n == 0 || text[n] != 0 || code >= 1 << 24 ? -1 : code;
}

int32_t gbti_grid_column(const gbti_outgoing *x, uint32_t g) { return x->schema->feat[x->linear->grid[g].feat].col; }

static double cell_at(const void *cells, int32_t column, size_t stride) {
  double cell;
  memcpy(&cell, (const uint8_t *)cells + (size_t)column * stride, sizeof cell);
  return cell;
}

double gbti_leaf_value(const gbti_outgoing *x, uint32_t linear, double number, const void *cells, size_t stride) {
  int32_t its[GBT_LINEAR_MOST];
  if (linear == 0) return number;
  const int numbers = gbt_linear_of_numbers(x->linear);
  const gbt_linear_leaf *leaf = &x->linear->leaf[linear - 1];
  const gbt_linear_term *term = x->linear->term + leaf->term_beg;
  double sum = leaf->start;
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    const int32_t column = gbti_grid_column(x, term[k].grid);
    const double cell = cell_at(cells, column, stride);
    if (cell != cell || gbti_is_code(x, column, cell)) return number;
    if (numbers)
      sum += term[k].slope * cell;
    else
      its[k] = gbt_linear_x(x->linear, term[k].grid, cell);
  }
  return numbers ? sum : gbt_linear_value(leaf, term, its);
}

int gbti_out_left(const gbti_outgoing *x, const gbti_out_node *node, double cell) {
  if (cell != cell) return node->missing_left;
  if (!node->by_set) return gbti_is_code(x, node->column, cell) ? node->missing_left : cell <= node->number;
  if (cell < 0.0) return node->unseen_left;
  return gbt_bit(node->set, node->n_words, (uint32_t)cell);
}

const gbti_out_node *gbti_out_leaf(const gbti_outgoing *x, uint64_t tree, const void *cells, size_t stride) {
  const gbti_out_node *node = x->tree[tree].node, *at = node;
  while (at->left > 0) at = node + at->left + !gbti_out_left(x, at, cell_at(cells, at->column, stride));
  return at;
}
