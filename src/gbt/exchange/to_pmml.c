/* PMML 4.4.
 *
 *   MiningModel modelChain
 *     Segment for score K: MiningModel, sum (or average) of TreeModels -> NAME_sum_K, scaled by its Target
 *     last Segment: RegressionModel -> the outputs NAME_score, NAME_response, NAME_class
 *
 * A Segment of a tree has the tree's number as its id. A missing value goes to a node's defaultChild. Where unseen
 * levels go another way than missing values, DataField lists no levels: to PMML all texts are valid then, and in or not
 * in a set; else it lists them, and others are missing values. Base scores are in the leaves of the first trees, or are
 * added by Target. to_pmml_read.c reads what is written here. */
#include <string.h>

#include "../bytes/utf8.h"
#include "formats.h"

enum { MOST_DEPTH = 256 };

typedef struct pmml_writer {
  const gbti_outgoing *x;
  gbti_file *out;
  uint8_t *used;     /* by column */
  uint64_t *used_in; /* by column: the last tree that splits by it, from 1 */
  uint8_t *own_way;  /* by column: unseen levels go another way than missing values */
  uint32_t *next;    /* of the way down a tree: the child that is written next */
  uint32_t *way;     /* nodes of that way */
  uint32_t depth;    /* of the deepest tree */
  size_t n_dashes;   /* "_" between NAME and the rest of the file's own names, that no column is called so */
} pmml_writer;

/* ---- pieces ---- */

static void put(pmml_writer *w, const char *text) { gbti_put(w->out, text); }

/* Text of an attribute, or between tags. */
static void put_escaped(pmml_writer *w, const char *text) {
  static const struct {
    char c;
    const char *entity;
  } escapes[] = {{'&', "&amp;"}, {'<', "&lt;"},   {'>', "&gt;"},  {'"', "&quot;"},
                 {'\t', "&#9;"}, {'\n', "&#10;"}, {'\r', "&#13;"}};
  for (const char *at = text; *at != 0; at++) {
    size_t i = 0;
    while (i < sizeof escapes / sizeof *escapes && escapes[i].c != *at) i++;
    if (i < sizeof escapes / sizeof *escapes)
      put(w, escapes[i].entity);
    else
      gbti_put_bytes(w->out, at, 1);
  }
}

static void begin_attribute(pmml_writer *w, const char *name) {
  put(w, " ");
  put(w, name);
  put(w, "=\"");
}

static void put_attribute(pmml_writer *w, const char *name, const char *text) {
  begin_attribute(w, name);
  put_escaped(w, text);
  put(w, "\"");
}

static void put_whole_attribute(pmml_writer *w, const char *name, int64_t x) {
  begin_attribute(w, name);
  gbti_put_whole(w->out, x);
  put(w, "\"");
}

static void put_number_attribute(pmml_writer *w, const char *name, double x) {
  begin_attribute(w, name);
  gbti_put_double(w->out, x);
  put(w, "\"");
}

/* attribute="NAME_what_K", or without _K if k is negative. */
static void put_own_name(pmml_writer *w, const char *attribute, const char *what, int32_t k) {
  begin_attribute(w, attribute);
  put(w, w->x->name);
  for (size_t i = 0; i < w->n_dashes; i++) put(w, "_");
  put(w, what);
  if (k >= 0) put(w, "_");
  if (k >= 0) gbti_put_whole(w->out, (int64_t)k + 1);
  put(w, "\"");
}

/* ---- what PMML cannot say ---- */

/* Characters that XML 1.0 has. */
static int is_xml(const char *text) {
  if (!gbt_utf8_ok(text, strlen(text))) return 0;
  for (const uint8_t *at = (const uint8_t *)text; *at != 0; at++) {
    if (*at < 0x20 && *at != '\t' && *at != '\n' && *at != '\r') return 0;
    if (at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe) return 0; /* U+FFFE, U+FFFF */
  }
  return 1;
}

static gbt_status check_names(const pmml_writer *w, int32_t c) {
  const gbt_schema_column *col = &w->x->schema->col[c];
  const char *unit = gbti_unit_of(col);
  if (!is_xml(col->name) || (unit != NULL && !is_xml(unit)))
    return gbti_refuse(w->x, col->name,
                       "the name or the unit of column `%s` has a character that XML does not have; rename it",
                       col->name);
  for (int32_t level = 0; level < col->n_levels && col->type != GBT_NUMERIC; level++)
    if (!is_xml(col->levels[level]))
      return gbti_refuse(w->x, col->name,
                         "level %d of column `%s` has a character that XML does not have; give it another name",
                         (int)level + 1, col->name);
  return GBT_OK;
}

/* "_" between NAME and `what`, so that no column of the file begins with a name of the file's own. */
static void choose_names(pmml_writer *w) {
  static const char *const own[] = {"sum", "score", "response", "class", "target"};
  const size_t n = strlen(w->x->name);
  for (int32_t c = 0; c < w->x->schema->n_columns; c++) {
    const char *name = w->x->schema->col[c].name;
    size_t more = 0;
    while (strncmp(name, w->x->name, n) == 0 && name[n + more] == '_') more++;
    for (size_t i = 0; i < sizeof own / sizeof *own && w->used[c] && more > w->n_dashes; i++)
      if (strncmp(name + n + more, own[i], strlen(own[i])) == 0) w->n_dashes = more;
  }
}

static int is_classes(const gbti_outgoing *x) {
  return x->link == GBTI_LINK_SOFTMAX || (x->link == GBTI_LINK_SIGMOID && x->n_outputs == 1 && x->n_classes == 2);
}

static gbt_status check_classes(const gbti_outgoing *x) {
  for (int64_t k = 0; k < x->n_classes && is_classes(x); k++)
    if (!is_xml(x->classes[k]))
      return gbti_refuse(x, NULL, "the name of class %d has a character that XML does not have; give it another name",
                         (int)k + 1);
  return GBT_OK;
}

/* Columns that trees split by, where unseen levels go, the nodes of the largest tree, and whether all is finite. */
static gbt_status look_at(pmml_writer *w, uint32_t *most) {
  const gbti_outgoing *x = w->x;
  int finite = 1;
  *most = 1;
  for (int32_t k = 0; k < x->n_outputs; k++) finite &= x->base[k] - x->base[k] == 0.0;
  for (uint64_t t = 0; t < x->n_trees; t++) {
    if (x->tree[t].n_nodes > *most) *most = x->tree[t].n_nodes;
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) {
      const gbti_out_node *node = &x->tree[t].node[i];
      if (node->left == 0) {
        finite &= node->number - node->number == 0.0;
        continue;
      }
      w->used[node->column] = 1;
      if (node->by_set && node->unseen_left != node->missing_left) w->own_way[node->column] = 1;
    }
  }
  if (!finite) return gbti_refuse_for(x, NULL, GBTI_CAN_ALL, "it has scores that are not finite");
  if (x->sums.rule == GBT_SUM_MEAN && x->n_parallel > 1)
    return gbti_refuse_for(x, NULL, GBTI_CAN_BASE, "its scores are means over several trees a round");
  for (int32_t c = 0; c < x->schema->n_columns; c++)
    if (w->used[c]) GBT_TRY(check_names(w, c));
  choose_names(w);
  return check_classes(x);
}

/* ---- fields ---- */

static int lists_levels(const pmml_writer *w, int32_t c) { return w->x->schema->col[c].n_levels > 0 && !w->own_way[c]; }

static void put_data_field(pmml_writer *w, int32_t c) {
  const gbt_schema_column *col = &w->x->schema->col[c];
  const gbti_codes *codes = &w->x->codes[c];
  const char *unit = strcmp(col->tag, "logical") == 0 ? "0 or 1" : gbti_unit_of(col);
  put(w, "<DataField");
  put_attribute(w, "name", col->name);
  if (unit != NULL) put_attribute(w, "displayName", unit);
  put(w, col->type == GBT_NUMERIC   ? " optype=\"continuous\" dataType=\"double\">"
         : col->type == GBT_ORDINAL ? " optype=\"ordinal\" dataType=\"string\">"
                                    : " optype=\"categorical\" dataType=\"string\">");
  for (int32_t i = 0; col->type != GBT_NUMERIC && lists_levels(w, c) && i < col->n_levels; i++) {
    put(w, "\n<Value");
    put_attribute(w, "value", col->levels[i]);
    put(w, "/>");
  }
  for (int32_t i = 0; i < codes->n; i++) {
    put(w, "\n<Value");
    put_number_attribute(w, "value", codes->value[i]);
    put(w, " property=\"missing\"/>");
  }
  put(w, "</DataField>\n");
}

static int32_t n_targets(const gbti_outgoing *x) { return x->n_outputs == 1 ? 2 : x->n_outputs; }

/* attribute="class k", which is its number where it has no name. */
static void put_class(pmml_writer *w, const char *attribute, int32_t k) {
  if (w->x->n_classes == n_targets(w->x))
    put_attribute(w, attribute, w->x->classes[k]);
  else
    put_whole_attribute(w, attribute, k);
}

static void put_dictionary(pmml_writer *w) {
  put(w, "<DataDictionary>\n");
  for (int32_t c = 0; c < w->x->schema->n_columns; c++)
    if (w->used[c]) put_data_field(w, c);
  put(w, "<DataField");
  put_own_name(w, "name", "_target", -1);
  if (is_classes(w->x)) {
    put(w, " optype=\"categorical\" dataType=\"string\">");
    for (int32_t k = 0; k < n_targets(w->x); k++) {
      put(w, "\n<Value");
      put_class(w, "value", k);
      put(w, "/>");
    }
    put(w, "</DataField>\n");
  } else {
    put(w, " optype=\"continuous\" dataType=\"double\"/>\n");
  }
  put(w, "</DataDictionary>\n");
}

static void put_mining_field(pmml_writer *w, int32_t c) {
  put(w, "<MiningField");
  put_attribute(w, "name", w->x->schema->col[c].name);
  put(w, w->x->schema->col[c].type != GBT_NUMERIC && lists_levels(w, c) ? " invalidValueTreatment=\"asMissing\"/>"
                                                                        : " invalidValueTreatment=\"asIs\"/>");
}

/* MiningSchema of all columns; tree: or of those that it splits by. */
static void put_mining_schema(pmml_writer *w, const gbti_out_tree *tree, uint64_t number) {
  put(w, "<MiningSchema>");
  if (tree == NULL) {
    for (int32_t c = 0; c < w->x->schema->n_columns; c++)
      if (w->used[c]) put_mining_field(w, c);
  } else {
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
      const gbti_out_node *node = &tree->node[i];
      if (node->left == 0 || w->used_in[node->column] == number) continue;
      w->used_in[node->column] = number;
      put_mining_field(w, node->column);
    }
  }
}

/* ---- trees ---- */

static int level_goes_left(const pmml_writer *w, const gbti_out_node *node, int32_t level) {
  return gbti_out_left(w->x, node, (double)level);
}

/* Levels that are not written in an array: programs differ on quotes and backslashes there. */
static int is_odd(const char *level) { return strchr(level, '"') != NULL || strchr(level, '\\') != NULL; }

static void put_field(pmml_writer *w, const char *predicate, int32_t c) {
  put(w, predicate);
  put_attribute(w, "field", w->x->schema->col[c].name);
}

/* The levels of one side that are odd, or those that are not: in predicates of their own, or in one array. */
static int32_t put_some(pmml_writer *w, const gbti_out_node *node, int side, int odd, const char *before,
                        const char *after) {
  const gbt_schema_column *col = &w->x->schema->col[node->column];
  int32_t n = 0;
  for (int32_t level = 0; level < col->n_levels; level++) {
    if (level_goes_left(w, node, level) != side || is_odd(col->levels[level]) != odd) continue;
    n++;
    if (before == NULL) continue;
    if (odd) put_field(w, "<SimplePredicate", node->column);
    put(w, before);
    put_escaped(w, col->levels[level]);
    put(w, !odd && n % 16 == 0 ? "\"\n" : after);
  }
  return n;
}

/* That a column's level is one of those that go to a side, or, negated, none of them; there are some. */
static void put_set(pmml_writer *w, const gbti_out_node *node, int side, int negated) {
  const int32_t n_odd = put_some(w, node, side, 1, NULL, NULL), n = put_some(w, node, side, 0, NULL, NULL);
  const int compound = n_odd + (n > 0) > 1;
  if (compound)
    put(w, negated ? "<CompoundPredicate booleanOperator=\"and\">" : "<CompoundPredicate booleanOperator=\"or\">");
  put_some(w, node, side, 1, negated ? " operator=\"notEqual\" value=\"" : " operator=\"equal\" value=\"", "\"/>");
  if (n > 0) {
    put_field(w, "<SimpleSetPredicate", node->column);
    put(w, negated ? " booleanOperator=\"isNotIn\"><Array" : " booleanOperator=\"isIn\"><Array");
    put_whole_attribute(w, "n", n);
    put(w, " type=\"string\">");
    put_some(w, node, side, 0, "\"", "\" ");
    put(w, "</Array></SimpleSetPredicate>");
  }
  if (compound) put(w, "</CompoundPredicate>");
}

/* Of the values that are not missing all go to one side. */
static void put_one_way(pmml_writer *w, const gbti_out_node *node, int left, int all_left) {
  if (all_left == node->missing_left) {
    put(w, left == all_left ? "<True/>" : "<False/>");
    return;
  }
  put_field(w, "<SimplePredicate", node->column);
  put(w, left == all_left ? " operator=\"isNotMissing\"/>" : " operator=\"isMissing\"/>");
}

static void put_threshold(pmml_writer *w, const gbti_out_node *node, int left) {
  const double t = node->number, largest = 1.7976931348623157e308;
  if (t - t != 0.0 && t > 0.0) {
    put_one_way(w, node, left, 1);
    return;
  }
  put_field(w, "<SimplePredicate", node->column);
  if (t - t != 0.0) /* -Inf: only itself is at most that */
    put(w, left ? " operator=\"lessThan\"" : " operator=\"greaterOrEqual\"");
  else
    put(w, left ? " operator=\"lessOrEqual\"" : " operator=\"greaterThan\"");
  put_number_attribute(w, "value", t - t != 0.0 ? -largest : t);
  put(w, "/>");
}

/* Which side the listed levels are of: an unseen level is in no list. Where it is missing, that of the fewer levels. */
static void put_levels(pmml_writer *w, const gbti_out_node *node, int left) {
  const int32_t n = w->x->schema->col[node->column].n_levels;
  const int unseen_is_level = !lists_levels(w, node->column);
  const int unseen_left = w->own_way[node->column] ? node->unseen_left : node->missing_left;
  int32_t n_left = 0;
  for (int32_t level = 0; level < n; level++) n_left += level_goes_left(w, node, level);
  const int listed = unseen_is_level ? !unseen_left : 2 * n_left <= n;
  const int32_t n_listed = listed ? n_left : n - n_left;
  if (n_listed == 0)
    put_one_way(w, node, left, !listed);
  else if (!unseen_is_level && n_listed == n)
    put_one_way(w, node, left, listed);
  else
    put_set(w, node, listed, left != listed);
}

static void put_predicate(pmml_writer *w, const gbti_out_node *parent, int left) {
  if (w->x->schema->col[parent->column].type == GBT_NUMERIC)
    put_threshold(w, parent, left);
  else
    put_levels(w, parent, left);
}

static void begin_node(pmml_writer *w, const gbti_out_tree *tree, uint32_t i, const gbti_out_node *parent) {
  const gbti_out_node *node = &tree->node[i];
  put(w, "<Node");
  put_whole_attribute(w, "id", i);
  if (node->left == 0)
    put_number_attribute(w, "score", node->number);
  else
    put_whole_attribute(w, "defaultChild", (int64_t)node->left + !node->missing_left);
  put(w, ">");
  if (parent == NULL)
    put(w, "<True/>");
  else
    put_predicate(w, parent, i == parent->left);
  put(w, node->left == 0 ? "</Node>\n" : "\n");
}

static void put_nodes(pmml_writer *w, const gbti_out_tree *tree) {
  uint32_t depth = 0;
  begin_node(w, tree, 0, NULL);
  w->way[0] = 0, w->next[0] = tree->node[0].left;
  if (tree->node[0].left == 0) return;
  for (;;) { /* the node of the way's end has children, and some are written */
    const gbti_out_node *node = &tree->node[w->way[depth]];
    const uint32_t child = w->next[depth]++;
    if (child > node->left + 1) {
      put(w, "</Node>\n");
      if (depth-- == 0) return;
      continue;
    }
    begin_node(w, tree, child, node);
    if (tree->node[child].left == 0) continue;
    w->way[++depth] = child;
    if (depth > w->depth) w->depth = depth;
    w->next[depth] = tree->node[child].left;
  }
}

static void put_tree(pmml_writer *w, uint64_t t) {
  put(w, "<Segment");
  put_whole_attribute(w, "id", (int64_t)t + 1);
  put(w, "><True/>\n<TreeModel functionName=\"regression\" missingValueStrategy=\"defaultChild\" "
         "splitCharacteristic=\"binarySplit\">");
  put_mining_schema(w, &w->x->tree[t], t + 1);
  put(w, "</MiningSchema>\n");
  put_nodes(w, &w->x->tree[t]);
  put(w, "</TreeModel></Segment>\n");
}

/* ---- scores ---- */

/* k: of an output of the model, which is displayed by its name; -1: of none. */
static void put_output_field(pmml_writer *w, const char *what, int32_t k, const char *rest) {
  put(w, "<OutputField");
  put_own_name(w, "name", what, w->x->n_outputs > 1 ? k : -1);
  if (k >= 0 && w->x->outputs != NULL && is_xml(w->x->outputs[k])) put_attribute(w, "displayName", w->x->outputs[k]);
  put(w, rest);
}

static int is_scaled(const gbti_outgoing *x) { return x->sums.rule == GBT_SUM_SCALED && x->sums.scale != 1.0; }

static void put_sum(pmml_writer *w, int32_t k) {
  const gbti_outgoing *x = w->x;
  const uint64_t parallel = (uint64_t)x->n_parallel;
  put(w, "<Segment");
  put_own_name(w, "id", "_sum", k);
  put(w, "><True/>\n<MiningModel functionName=\"regression\">");
  put_mining_schema(w, NULL, 0);
  put(w, "</MiningSchema>\n<Output><OutputField");
  put_own_name(w, "name", "_sum", k);
  put(w, " feature=\"predictedValue\" optype=\"continuous\" dataType=\"double\"/></Output>\n");
  if (is_scaled(x) || x->base[k] != 0.0) {
    put(w, "<Targets><Target");
    if (is_scaled(x)) put_number_attribute(w, "rescaleFactor", x->sums.scale);
    if (x->base[k] != 0.0) put_number_attribute(w, "rescaleConstant", x->base[k]);
    put(w, "/></Targets>\n");
  }
  put(w, "<Segmentation");
  put(w, x->sums.rule == GBT_SUM_MEAN ? " multipleModelMethod=\"average\">\n" : " multipleModelMethod=\"sum\">\n");
  for (uint64_t i = 0; i < x->n_rounds * parallel; i++)
    put_tree(w, (i / parallel * (uint64_t)x->n_outputs + (uint64_t)k) * parallel + i % parallel);
  put(w, "</Segmentation>\n</MiningModel></Segment>\n");
}

/* ---- responses ---- */

static const char continuous[] = " optype=\"continuous\" dataType=\"double\"";

static void put_reference(pmml_writer *w, int32_t k) {
  put(w, "<FieldRef");
  put_own_name(w, "field", "_sum", k);
  put(w, "/>");
}

/* The response of score k by functions. */
static void put_transform(pmml_writer *w, int32_t k) {
  static const char one[] = "<Constant dataType=\"double\">1</Constant>";
  switch (w->x->link) {
  case GBTI_LINK_SIGMOID:
    put(w, "<Apply function=\"/\">");
    put(w, one);
    put(w, "<Apply function=\"+\">");
    put(w, one);
    put(w, "<Apply function=\"exp\"><Apply function=\"*\"><Constant dataType=\"double\">-1</Constant>");
    put_reference(w, k);
    put(w, "</Apply></Apply></Apply></Apply>");
    break;
  case GBTI_LINK_EXP:
  case GBTI_LINK_EXPM1:
    if (w->x->link == GBTI_LINK_EXPM1) put(w, "<Apply function=\"-\">");
    put(w, "<Apply function=\"exp\">");
    put_reference(w, k);
    put(w, "</Apply>");
    if (w->x->link == GBTI_LINK_EXPM1) {
      put(w, one);
      put(w, "</Apply>");
    }
    break;
  default:
    put_reference(w, k);
  }
}

static void put_outputs(pmml_writer *w) {
  const gbti_outgoing *x = w->x;
  put(w, "<Output>\n");
  for (int32_t k = 0; k < x->n_outputs; k++) {
    put_output_field(w, "_score", k, " feature=\"transformedValue\"");
    put(w, continuous);
    put(w, ">");
    put_reference(w, k);
    put(w, "</OutputField>\n");
  }
  if (is_classes(x))
    put_output_field(w, "_class", -1, " feature=\"predictedValue\" optype=\"categorical\" dataType=\"string\"/>\n");
  for (int32_t k = 0; k < x->n_outputs; k++) {
    put_output_field(w, "_response", k,
                     is_classes(x) ? " feature=\"probability\""
                     : k == 0      ? " feature=\"predictedValue\""
                                   : " feature=\"transformedValue\"");
    if (is_classes(x)) put_class(w, "value", x->n_outputs == 1 ? 1 : k);
    put(w, continuous);
    if (is_classes(x) || k == 0) {
      put(w, "/>\n");
      continue;
    }
    put(w, ">");
    put_transform(w, k);
    put(w, "</OutputField>\n");
  }
  put(w, "</Output>\n");
}

static const char *normalization(const gbti_outgoing *x) {
  switch (x->link) {
  case GBTI_LINK_SIGMOID:
    return "logit";
  case GBTI_LINK_EXP:
  case GBTI_LINK_EXPM1:
    return "exp";
  case GBTI_LINK_SOFTMAX:
    return "softmax";
  default:
    return "none";
  }
}

static void put_table(pmml_writer *w, int32_t k, int has_score) {
  put(w, "<RegressionTable intercept=\"0\"");
  if (is_classes(w->x)) put_class(w, "targetCategory", w->x->n_outputs == 1 ? has_score : k);
  if (!has_score) {
    put(w, "/>\n");
    return;
  }
  put(w, "><NumericPredictor");
  put_own_name(w, "name", "_sum", k);
  put(w, " coefficient=\"1\"/></RegressionTable>\n");
}

static void put_function(pmml_writer *w) {
  put(w, is_classes(w->x) ? " functionName=\"classification\"" : " functionName=\"regression\"");
}

static void put_target(pmml_writer *w) {
  put(w, "<MiningField");
  put_own_name(w, "name", "_target", -1);
  put(w, " usageType=\"target\"/></MiningSchema>\n");
}

static void put_response(pmml_writer *w) {
  const gbti_outgoing *x = w->x;
  put(w, "<Segment id=\"response\"><True/>\n<RegressionModel");
  put_function(w);
  put_attribute(w, "normalizationMethod", normalization(x));
  put(w, "><MiningSchema>");
  for (int32_t k = 0; k < x->n_outputs; k++) {
    put(w, "<MiningField");
    put_own_name(w, "name", "_sum", k);
    put(w, "/>");
  }
  put_target(w);
  put_outputs(w);
  if (x->link == GBTI_LINK_EXPM1) {
    put(w, "<Targets><Target");
    put_own_name(w, "field", "_target", -1);
    put(w, " rescaleConstant=\"-1\"/></Targets>\n");
  }
  for (int32_t k = 0; k < (x->link == GBTI_LINK_SOFTMAX ? x->n_outputs : 1); k++) put_table(w, k, 1);
  if (is_classes(x) && x->n_outputs == 1) put_table(w, 0, 0);
  put(w, "</RegressionModel></Segment>\n");
}

/* ---- the whole ---- */

static gbt_status write_parts(pmml_writer *w) {
  const gbti_outgoing *x = w->x;
  uint32_t most;
  GBT_TRY(look_at(w, &most));
  GBT_TRY(gbt_mem_array(&x->mem, most, sizeof *w->way, &w->way, x->err));
  GBT_TRY(gbt_mem_array(&x->mem, most, sizeof *w->next, &w->next, x->err));
  put(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PMML xmlns=\"http://www.dmg.org/PMML-4_4\" version=\"4.4\">\n"
         "<Header description=\"Gradient boosted trees, objective ");
  put_escaped(w, gbt_objective_info_of(x->objective->kind)->name);
  put(w, "\"><Application name=\"gbt\"/></Header>\n");
  put_dictionary(w);
  put(w, "<MiningModel");
  put_attribute(w, "modelName", x->name);
  put_function(w);
  put(w, ">");
  put_mining_schema(w, NULL, 0);
  put_target(w);
  put(w, "<Segmentation multipleModelMethod=\"modelChain\">\n");
  for (int32_t k = 0; k < x->n_outputs; k++) put_sum(w, k);
  put_response(w);
  put(w, "</Segmentation>\n</MiningModel>\n</PMML>\n");
  return GBT_OK;
}

gbt_status gbti_write_pmml(gbti_outgoing *x, gbti_file *out) {
  const size_t n = (size_t)x->schema->n_columns;
  pmml_writer w = {.x = x, .out = out};
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_zeros(&x->mem, n, 1, &w.used, x->err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&x->mem, n, 1, &w.own_way, x->err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&x->mem, n, sizeof *w.used_in, &w.used_in, x->err), done);
  GBT_TRY_GOTO(write_parts(&w), done);
  if (w.n_dashes > 0) gbti_tell(x, "names of the outputs have more \"_\", as a column is called as one of them");
  if (x->link == GBTI_LINK_SORTED)
    gbti_tell(x, "the file gives the scores of the levels as they are: predict() sorts those of a row");
  if (w.depth > MOST_DEPTH)
    gbti_tell(x, "trees have over 256 layers, for which programs that read PMML may need a larger stack");
done:
  gbt_mem_free(&x->mem, w.used);
  gbt_mem_free(&x->mem, w.own_way);
  gbt_mem_free(&x->mem, w.used_in);
  gbt_mem_free(&x->mem, w.way);
  gbt_mem_free(&x->mem, w.next);
  return status;
}
