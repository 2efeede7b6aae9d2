/* The PMML of to_pmml.c, evaluated: trees by their predicates, which are true, false or unknown, and sums of trees.
 * The rest, from sums to responses, is the work of the program that reads it. */
#include <string.h>

#include "decimal.h"
#include "formats.h"

typedef enum pmml_op {
  PMML_TRUE,
  PMML_FALSE,
  PMML_MISSING,
  PMML_NOT_MISSING,
  PMML_LESS,
  PMML_AT_MOST,
  PMML_MORE,
  PMML_AT_LEAST,
  PMML_EQUAL,
  PMML_NOT_EQUAL,
  PMML_IN,
  PMML_NOT_IN,
  PMML_AND,
  PMML_OR
} pmml_op;

#define NO_NODE UINT32_MAX
enum { MOST_ATTRIBUTES = 12, UNKNOWN = -1 };

typedef struct pmml_field {
  const char *name;
  int32_t column;
  int is_text;
  int as_missing, is_listed; /* texts that it does not list are missing values; the treatment was read */
  size_t text_beg, n_texts;  /* its levels */
  size_t code_beg, n_codes;  /* numbers that are missing values */
} pmml_field;

typedef struct pmml_predicate {
  pmml_op op;
  size_t field;
  double number;
  size_t text_beg, n_texts;
  uint32_t n_parts; /* of AND and OR: the predicates after it */
} pmml_predicate;

typedef struct pmml_node {
  uint32_t parent, first, last, next; /* first and last child, next sibling */
  uint32_t id, default_id, default_child;
  size_t predicate;
  int is_leaf;
  double score;
} pmml_node;

typedef struct pmml_sum {
  size_t beg, n; /* its trees */
  int is_mean;
  double factor, constant;
} pmml_sum;

typedef struct pmml_tag {
  const char *name;
  int closes, is_empty;
  int n;
  const char *key[MOST_ATTRIBUTES], *value[MOST_ATTRIBUTES];
} pmml_tag;

typedef struct pmml_model {
  gbt_mem mem;
  gbt_error *err;
  const gbt_schema *schema;
  char *copy, *at;
  size_t n_bytes;
  pmml_field *field;
  pmml_predicate *predicate;
  pmml_node *node;
  pmml_sum *sum;
  const char **text;
  double *code;
  uint32_t *root; /* of the trees in the order of the file */
  size_t *place;  /* of the trees by their number: in this order */
  size_t n_fields, cap_fields, n_predicates, cap_predicates, n_nodes, cap_nodes, n_sums, cap_sums, n_texts, cap_texts,
      n_codes, cap_codes, n_roots, cap_roots, n_places, cap_places;
  pmml_tag tag;
  int failed;
  gbt_status no_room; /* when memory ran out, what error says so */
} pmml_model;

/* Room for one more of a list; 0: there is none. */
static int more(pmml_model *m, void *block, size_t *cap, size_t n, size_t size) {
  if (!m->failed) m->no_room = gbt_mem_grow(&m->mem, block, cap, n + 1, size, m->err);
  if (m->no_room != GBT_OK) m->failed = 1;
  return !m->failed;
}

/* ---- tags ---- */

static int is_blank(char c) { return c == ' ' || c == '\n'; }

/* Decodes up to the end, in place; `from` and `to` are the same at first. */
static char *decode(pmml_model *m, char *from, char end) {
  static const struct {
    const char *name;
    char c;
  } entities[] = {{"&amp;", '&'}, {"&lt;", '<'},   {"&gt;", '>'},  {"&quot;", '"'},
                  {"&#9;", '\t'}, {"&#10;", '\n'}, {"&#13;", '\r'}};
  char *to = from;
  while (*from != 0 && *from != end) {
    size_t n = 1;
    char c = *from;
    for (size_t i = 0; c == '&' && n == 1 && i < sizeof entities / sizeof *entities; i++)
      if (strncmp(from, entities[i].name, strlen(entities[i].name)) == 0) {
        n = strlen(entities[i].name);
        c = entities[i].c;
      }
    if (*from == '&' && n == 1) m->failed = 1;
    *to++ = c;
    from += n;
  }
  if (*from != end) m->failed = 1;
  const int found = *from == end;
  *to = 0;
  return from + found;
}

static void take_attributes(pmml_model *m) {
  char *at = m->at;
  while (!m->failed) {
    while (is_blank(*at)) at++;
    if (*at == '/' || *at == '?' || *at == '>' || *at == 0) break;
    char *key = at;
    while (*at != 0 && *at != '=') at++;
    if (*at == 0 || at[1] != '"' || m->tag.n == MOST_ATTRIBUTES) {
      m->failed = 1;
      break;
    }
    *at = 0;
    m->tag.key[m->tag.n] = key;
    m->tag.value[m->tag.n++] = at + 2;
    at = decode(m, at + 2, '"');
  }
  m->at = at;
}

/* The next tag, past text before it; 0: there is none. */
static int take_tag(pmml_model *m) {
  char *at = m->failed ? NULL : strchr(m->at, '<');
  if (at == NULL) return 0;
  m->tag = (pmml_tag){.name = at + 1, .closes = at[1] == '/'};
  m->tag.name += m->tag.closes;
  m->at = at + 1 + m->tag.closes;
  while (*m->at != 0 && !is_blank(*m->at) && *m->at != '>' && *m->at != '/') m->at++;
  char *end = m->at;
  take_attributes(m);
  m->tag.is_empty = *m->at == '/';
  if (*m->at == '/' || *m->at == '?') m->at++;
  if (*m->at != '>') m->failed = 1;
  *end = 0;
  m->at += !m->failed;
  return !m->failed;
}

static int opens(const pmml_model *m, const char *name) { return !m->tag.closes && strcmp(m->tag.name, name) == 0; }
static int closes(const pmml_model *m, const char *name) { return m->tag.closes && strcmp(m->tag.name, name) == 0; }

static const char *attribute(const pmml_model *m, const char *key) {
  for (int i = 0; i < m->tag.n; i++)
    if (strcmp(m->tag.key[i], key) == 0) return m->tag.value[i];
  return NULL;
}

static int attribute_is(const pmml_model *m, const char *key, const char *value) {
  const char *text = attribute(m, key);
  return text != NULL && strcmp(text, value) == 0;
}

static double number_of(pmml_model *m, const char *key) {
  const char *text = attribute(m, key);
  const gbti_decimal d = text == NULL ? (gbti_decimal){0} : gbti_read_decimal(text, strlen(text));
  if (d.n == 0 || d.n != strlen(text)) m->failed = 1;
  return d.nearest;
}

static uint32_t whole_of(pmml_model *m, const char *key) {
  const double x = number_of(m, key);
  if (!(x >= 0.0 && x < 4294967295.0)) m->failed = 1;
  return m->failed ? 0 : (uint32_t)x;
}

/* ---- fields ---- */

static void keep_text(pmml_model *m, const char *text) {
  if (text == NULL) m->failed = 1;
  if (more(m, &m->text, &m->cap_texts, m->n_texts, sizeof *m->text)) m->text[m->n_texts++] = text;
}

static void read_value(pmml_model *m, pmml_field *f) {
  if (!attribute_is(m, "property", "missing")) {
    keep_text(m, attribute(m, "value"));
    f->n_texts++;
    return;
  }
  if (!more(m, &m->code, &m->cap_codes, m->n_codes, sizeof *m->code)) return;
  m->code[m->n_codes++] = number_of(m, "value");
  f->n_codes++;
}

/* A field that is no column of the table is the target. */
static void read_data_field(pmml_model *m) {
  const int is_open = !m->tag.is_empty;
  if (!more(m, &m->field, &m->cap_fields, m->n_fields, sizeof *m->field)) return;
  pmml_field *f = &m->field[m->n_fields++];
  *f = (pmml_field){.name = attribute(m, "name"),
                    .column = -1,
                    .is_text = attribute_is(m, "dataType", "string"),
                    .text_beg = m->n_texts,
                    .code_beg = m->n_codes};
  for (int32_t c = 0; f->name != NULL && c < m->schema->n_columns; c++)
    if (strcmp(m->schema->col[c].name, f->name) == 0) f->column = c;
  while (is_open && take_tag(m) && !closes(m, "DataField")) {
    if (!opens(m, "Value")) m->failed = 1;
    read_value(m, f);
  }
}

static size_t field_of(pmml_model *m, const char *key) {
  const char *name = attribute(m, key);
  for (size_t i = 0; i < m->n_fields && name != NULL; i++)
    if (m->field[i].column >= 0 && strcmp(m->field[i].name, name) == 0) return i;
  m->failed = 1;
  return 0;
}

/* How columns take texts that they do not list; the same in every schema. */
static void read_mining_field(pmml_model *m) {
  if (attribute(m, "invalidValueTreatment") == NULL) return; /* a sum, or the target */
  const size_t i = field_of(m, "name");
  if (m->failed) return;
  const int as_missing = attribute_is(m, "invalidValueTreatment", "asMissing");
  if (m->field[i].is_listed && m->field[i].as_missing != as_missing) m->failed = 1;
  m->field[i].is_listed = 1;
  m->field[i].as_missing = as_missing;
}

/* ---- predicates ---- */

/* "a" "b c": none has a quote in it. */
static void read_array(pmml_model *m, pmml_predicate *p) {
  if (!take_tag(m) || !opens(m, "Array")) m->failed = 1;
  const uint32_t n = m->failed ? 0 : whole_of(m, "n");
  char *at = m->at;
  m->at = decode(m, at, '<') - 1;
  p->text_beg = m->n_texts;
  for (; !m->failed; p->n_texts++) {
    while (is_blank(*at)) at++;
    if (*at != '"') break;
    const char *beg = ++at;
    while (*at != 0 && *at != '"') at++;
    if (*at == 0) {
      m->failed = 1;
      break;
    }
    *at++ = 0;
    keep_text(m, beg);
  }
  if (*at != 0 || p->n_texts != n) m->failed = 1;
  *m->at = '<';
  if (!take_tag(m) || !closes(m, "Array") || !take_tag(m) || !closes(m, "SimpleSetPredicate")) m->failed = 1;
}

static pmml_op simple_op(pmml_model *m) {
  static const struct {
    const char *name;
    pmml_op op;
  } operators[] = {{"isMissing", PMML_MISSING},       {"isNotMissing", PMML_NOT_MISSING}, {"lessThan", PMML_LESS},
                   {"lessOrEqual", PMML_AT_MOST},     {"greaterThan", PMML_MORE},         {"equal", PMML_EQUAL},
                   {"greaterOrEqual", PMML_AT_LEAST}, {"notEqual", PMML_NOT_EQUAL}};
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (attribute_is(m, "operator", operators[i].name)) return operators[i].op;
  m->failed = 1;
  return PMML_FALSE;
}

/* The predicate whose tag was taken. */
static void read_predicate(pmml_model *m) {
  pmml_predicate p = {.op = PMML_TRUE};
  if (opens(m, "False")) {
    p.op = PMML_FALSE;
  } else if (opens(m, "SimplePredicate")) {
    p.op = simple_op(m);
    p.field = field_of(m, "field");
    if (!m->failed && m->field[p.field].is_text && p.op >= PMML_EQUAL) {
      p.text_beg = m->n_texts;
      p.n_texts = 1;
      keep_text(m, attribute(m, "value"));
    } else if (p.op >= PMML_LESS) {
      p.number = number_of(m, "value");
      if (!m->failed && (m->field[p.field].is_text || p.op >= PMML_EQUAL)) m->failed = 1;
    }
  } else if (opens(m, "SimpleSetPredicate")) {
    p.op = attribute_is(m, "booleanOperator", "isIn") ? PMML_IN : PMML_NOT_IN;
    p.field = field_of(m, "field");
    if (!m->failed && !m->field[p.field].is_text) m->failed = 1;
    read_array(m, &p);
  } else if (opens(m, "CompoundPredicate")) {
    p.op = attribute_is(m, "booleanOperator", "and") ? PMML_AND : PMML_OR;
  } else if (!opens(m, "True")) {
    m->failed = 1;
  }
  if (more(m, &m->predicate, &m->cap_predicates, m->n_predicates, sizeof *m->predicate))
    m->predicate[m->n_predicates++] = p;
}

static void read_predicates(pmml_model *m) {
  const size_t first = m->n_predicates;
  if (take_tag(m)) read_predicate(m);
  if (m->failed || m->predicate[first].op < PMML_AND) return;
  while (take_tag(m) && !closes(m, "CompoundPredicate")) {
    read_predicate(m);
    if (!m->failed && m->predicate[m->n_predicates - 1].op >= PMML_AND) m->failed = 1;
    if (!m->failed) m->predicate[first].n_parts++;
  }
}

/* ---- trees ---- */

static uint32_t begin_node(pmml_model *m, uint32_t parent) {
  if (!more(m, &m->node, &m->cap_nodes, m->n_nodes, sizeof *m->node)) return NO_NODE;
  const uint32_t i = (uint32_t)m->n_nodes++;
  pmml_node *node = &m->node[i];
  *node = (pmml_node){.parent = parent, .first = NO_NODE, .next = NO_NODE, .default_child = NO_NODE};
  node->id = whole_of(m, "id");
  node->is_leaf = attribute(m, "score") != NULL;
  if (node->is_leaf)
    node->score = number_of(m, "score");
  else
    node->default_id = whole_of(m, "defaultChild");
  node->predicate = m->n_predicates;
  if (parent != NO_NODE) {
    pmml_node *up = &m->node[parent];
    if (up->is_leaf) m->failed = 1;
    if (up->first == NO_NODE)
      up->first = i;
    else
      m->node[up->last].next = i;
    up->last = i;
    if (node->id == up->default_id) up->default_child = i;
  }
  read_predicates(m);
  return i;
}

/* The nodes of a TreeModel, whose tag was taken. */
static void read_tree(pmml_model *m, uint32_t number) {
  uint32_t at = NO_NODE;
  if (!more(m, &m->root, &m->cap_roots, m->n_roots, sizeof *m->root)) return;
  m->root[m->n_roots] = (uint32_t)m->n_nodes;
  if (number == 0 || number > m->n_bytes) m->failed = 1; /* more than there can be */
  while (m->n_places < number && more(m, &m->place, &m->cap_places, m->n_places, sizeof *m->place))
    m->place[m->n_places++] = SIZE_MAX;
  if (!m->failed) m->place[number - 1] = m->n_roots++;
  while (take_tag(m) && !closes(m, "TreeModel")) {
    if (opens(m, "MiningField")) read_mining_field(m);
    if (opens(m, "Node")) at = begin_node(m, at);
    if (m->failed || !closes(m, "Node")) continue;
    if (at == NO_NODE || (!m->node[at].is_leaf && m->node[at].default_child == NO_NODE)) {
      m->failed = 1;
      return;
    }
    at = m->node[at].parent;
  }
  if (at != NO_NODE || m->failed || m->root[m->n_roots - 1] == m->n_nodes) m->failed = 1;
}

/* A MiningModel whose segments are trees; their number is that of the segment. */
static void read_sum(pmml_model *m) {
  uint32_t number = 0;
  if (!more(m, &m->sum, &m->cap_sums, m->n_sums, sizeof *m->sum)) return;
  pmml_sum *sum = &m->sum[m->n_sums++];
  *sum = (pmml_sum){.beg = m->n_roots, .factor = 1.0};
  while (take_tag(m) && !closes(m, "MiningModel")) {
    if (opens(m, "MiningField")) read_mining_field(m);
    if (opens(m, "Segmentation")) {
      sum->is_mean = attribute_is(m, "multipleModelMethod", "average");
      if (!sum->is_mean && !attribute_is(m, "multipleModelMethod", "sum")) m->failed = 1;
    }
    if (opens(m, "Target")) {
      if (attribute(m, "rescaleFactor") != NULL) sum->factor = number_of(m, "rescaleFactor");
      if (attribute(m, "rescaleConstant") != NULL) sum->constant = number_of(m, "rescaleConstant");
    }
    if (opens(m, "Segment")) number = whole_of(m, "id");
    if (opens(m, "TreeModel")) read_tree(m, number);
  }
  sum->n = m->n_roots - sum->beg;
}

static gbt_status read_document(pmml_model *m, int32_t n_outputs) {
  int is_chain = 0;
  while (take_tag(m)) {
    if (opens(m, "DataField")) read_data_field(m);
    if (opens(m, "MiningField")) read_mining_field(m);
    if (opens(m, "Segmentation")) is_chain = attribute_is(m, "multipleModelMethod", "modelChain");
    if (opens(m, "MiningModel") && is_chain) read_sum(m);
    if (closes(m, "PMML")) break;
  }
  GBT_TRY(m->no_room);
  for (size_t t = 0; t < m->n_places; t++)
    if (m->place[t] == SIZE_MAX) m->failed = 1;
  if (m->failed || !closes(m, "PMML") || m->n_sums != (size_t)n_outputs)
    return gbt_fail(m->err, GBT_E_INTERNAL, "the PMML file that was made cannot be read. Please report this");
  return GBT_OK;
}

/* ---- rows ---- */

static int has_text(const pmml_model *m, size_t beg, size_t n, const char *text) {
  for (size_t i = beg; i < beg + n; i++)
    if (strcmp(m->text[i], text) == 0) return 1;
  return 0;
}

static int is_missing(const pmml_model *m, const pmml_field *f, const gbti_cell *cell) {
  if (f->is_text) {
    if (cell->text == NULL) return 1;
    return f->as_missing && f->n_texts > 0 && !has_text(m, f->text_beg, f->n_texts, cell->text);
  }
  for (size_t i = f->code_beg; i < f->code_beg + f->n_codes; i++)
    if (m->code[i] == cell->x) return 1;
  return cell->x != cell->x;
}

static int simple_value(const pmml_model *m, const pmml_predicate *p, const gbti_cell *row) {
  const pmml_field *f = &m->field[p->field];
  const gbti_cell *cell = &row[f->column];
  const int missing = is_missing(m, f, cell);
  if (p->op == PMML_MISSING || p->op == PMML_NOT_MISSING) return missing == (p->op == PMML_MISSING);
  if (missing) return UNKNOWN;
  switch (p->op) {
  case PMML_LESS:
    return cell->x < p->number;
  case PMML_AT_MOST:
    return cell->x <= p->number;
  case PMML_MORE:
    return cell->x > p->number;
  case PMML_AT_LEAST:
    return cell->x >= p->number;
  default: /* of texts */
    return has_text(m, p->text_beg, p->n_texts, cell->text) == (p->op == PMML_IN || p->op == PMML_EQUAL);
  }
}

static int predicate_value(const pmml_model *m, size_t at, const gbti_cell *row) {
  const pmml_predicate *p = &m->predicate[at];
  if (p->op <= PMML_FALSE) return p->op == PMML_TRUE;
  if (p->op < PMML_AND) return simple_value(m, p, row);
  const int decides = p->op == PMML_OR;
  int value = !decides;
  for (uint32_t i = 1; i <= p->n_parts && value != decides; i++) {
    const int part = predicate_value(m, at + i, row); /* no part has parts */
    if (part == decides || part == UNKNOWN) value = part;
  }
  return value;
}

/* NO_NODE: no child's predicate is true. */
static uint32_t leaf_of(const pmml_model *m, uint32_t root, const gbti_cell *row) {
  uint32_t at = root;
  while (at != NO_NODE && !m->node[at].is_leaf) {
    uint32_t child = m->node[at].first;
    int value = 0;
    for (; child != NO_NODE; child = m->node[child].next) {
      value = predicate_value(m, m->node[child].predicate, row);
      if (value != 0) break;
    }
    at = value == UNKNOWN ? m->node[at].default_child : child;
  }
  return at;
}

static int tree_of(void *state, uint64_t t, const gbti_cell *row, double *values) {
  const pmml_model *m = state;
  if (t >= m->n_places) return 0;
  const uint32_t leaf = leaf_of(m, m->root[m->place[t]], row);
  if (leaf == NO_NODE) return 0;
  values[0] = m->node[leaf].score;
  return 1;
}

static int score_of(void *state, const gbti_cell *row, double *scores) {
  const pmml_model *m = state;
  for (size_t k = 0; k < m->n_sums; k++) {
    const pmml_sum *sum = &m->sum[k];
    double s = 0.0;
    for (size_t i = 0; i < sum->n; i++) {
      const uint32_t leaf = leaf_of(m, m->root[sum->beg + i], row);
      if (leaf == NO_NODE) return 0;
      s += m->node[leaf].score;
    }
    if (sum->is_mean) s /= (double)sum->n;
    scores[k] = s * sum->factor + sum->constant;
  }
  return 1;
}

static void close_pmml(void *state) {
  pmml_model *m = state;
  const gbt_mem mem = m->mem;
  void *block[] = {m->copy, m->field, m->predicate, m->node, m->sum, (void *)m->text, m->code, m->root, m->place};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(&mem, block[i]);
  gbt_mem_free(&mem, m);
}

gbt_status gbti_read_pmml(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out) {
  pmml_model *m;
  GBT_TRY(gbt_mem_zeros(&x->mem, 1, sizeof *m, &m, x->err));
  m->mem = x->mem;
  m->err = x->err;
  m->schema = x->schema;
  *out = (gbti_evaluator){m, tree_of, score_of, close_pmml};
  GBT_TRY(gbt_mem_array(&m->mem, n_bytes + 1, 1, &m->copy, m->err));
  memcpy(m->copy, bytes, n_bytes);
  m->copy[n_bytes] = 0;
  m->n_bytes = n_bytes;
  m->at = m->copy;
  return read_document(m, x->n_outputs);
}
