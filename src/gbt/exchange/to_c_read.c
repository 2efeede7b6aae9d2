/* C source that to_c.c has written, evaluated: its tables are taken from the text by their names, and walked by code of
 * their own. What the functions of the text do is seen by compilers, in the tests. */
#include <string.h>

#include "../base/bits.h"
#include "decimal.h"
#include "formats.h"

typedef struct c_table {
  double *number; /* n: whole numbers as well */
  size_t n;
} c_table;

enum { FIRST_TEXT, TEXT_LEVEL, TYPE, FIRST_CODE, CODE, NODE, TREE, WORD, VALUE, BASE, LINEAR, TERM, GRID, CUT, POSITION,
       N_TABLES };
static const char *const tables[N_TABLES] = {"_first_text", "_text_level", "_type", "_first_code", "_code",
                                             "_node",       "_tree",       "_word", "_value",      "_base",
                                             "_linear",     "_term",       "_grid", "_cut",        "_position"};

typedef struct c_source {
  gbt_mem mem;
  gbt_error *err;
  const char *name, *text; /* ends with a NUL */
  char *copy;              /* of the text, owned */
  c_table table[N_TABLES];
  char **level; /* n_levels texts */
  char *level_bytes;
  size_t n_levels;
  int64_t n_columns, n_outputs, n_parallel, n_trees;
  int floats, at_end, scaled;
  size_t ends; /* LINEAR_ENDS, or 0: linear leaves are of numbers */
  double scale;
} c_source;

/* Linear leaves of bins have grids and two fields more, of numbers not: low and high. */
enum { NODE_FIELDS = 5, LINEAR_FIELDS = 3, LINEAR_ENDS = 2, TERM_FIELDS = 2, GRID_FIELDS = 3 };

static gbt_status unreadable(const c_source *c) {
  return gbt_fail(c->err, GBT_E_INTERNAL, "the C source that was made cannot be read. Please report this");
}

/* The text after "before NAME what after"; NULL: it is not there. */
static const char *find(const c_source *c, const char *before, const char *what, const char *after) {
  const size_t n_before = strlen(before), n_name = strlen(c->name), n_what = strlen(what);
  for (const char *at = c->text; (at = strstr(at, before)) != NULL; at++) {
    const char *p = at + n_before;
    if (strncmp(p, c->name, n_name) != 0 || strncmp(p + n_name, what, n_what) != 0) continue;
    p += n_name + n_what;
    if (strncmp(p, after, strlen(after)) == 0) return p + strlen(after);
  }
  return NULL;
}

/* How many characters at the beginning of a text are among those of a set. */
static size_t count_of(const char *text, const char *set) {
  size_t n = 0;
  while (text[n] != 0 && strchr(set, text[n]) != NULL) n++;
  return n;
}

static int hex_digit(char x) {
  if (x >= '0' && x <= '9') return x - '0';
  return x >= 'a' && x <= 'f' ? x - 'a' + 10 : -1;
}

/* 0x1.8p+3, HUGE_VAL, 12; where it ends, NULL when there is none. */
static const char *take_number(const char *at, double *out) {
  const int negative = *at == '-';
  at += negative;
  if (strncmp(at, "HUGE_VAL", 8) == 0) {
    *out = gbt_from_bits((uint64_t)(negative ? 0xfff : 0x7ff) << 52);
    return at + 8;
  }
  if (strncmp(at, "0x", 2) != 0) {
    const gbti_decimal d = gbti_read_decimal(at, count_of(at, "0123456789"));
    *out = negative ? -d.nearest : d.nearest;
    return d.n > 0 ? at + d.n : NULL;
  }
  uint64_t m = 0;
  int e = 0, power = 0, point = 0;
  for (at += 2; (*at == '.' || hex_digit(*at) >= 0) && e > -1000; at++) {
    if (*at == '.') {
      point = 1;
      continue;
    }
    m = m << 4 | (uint64_t)hex_digit(*at);
    e -= 4 * point;
  }
  if (*at++ != 'p') return NULL;
  const int minus = *at == '-';
  if (*at == '-' || *at == '+') at++;
  for (; *at >= '0' && *at <= '9'; at++) power = power > 9999 ? power : power * 10 + (*at - '0');
  e += minus ? -power : power;
  double x = (double)m; /* at most 53 bits */
  for (; e > 1000; e -= 1000) x *= gbt_pow2(1000);
  for (; e < -1000; e += 1000) x *= gbt_pow2(-1000);
  x *= gbt_pow2(e);
  *out = negative ? -x : x;
  return at;
}

/* All numbers of a table, whatever braces are around them. */
static gbt_status read_table(c_source *c, int which) {
  const char *at = find(c, " ", tables[which], "[] = {");
  c_table *table = &c->table[which];
  size_t cap = 0;
  if (at == NULL) return GBT_OK; /* what the model does not have */
  for (;;) {
    at += count_of(at, " \n,{}");
    if (*at == ';') return GBT_OK;
    GBT_TRY(gbt_mem_grow(&c->mem, &table->number, &cap, table->n + 1, sizeof *table->number, c->err));
    at = take_number(at, &table->number[table->n++]);
    if (at == NULL) return unreadable(c);
  }
}

static int is_octal(char x) { return x >= '0' && x <= '7'; }

/* A string literal to bytes; where it ends. */
static const char *take_text(const char *at, char **to) {
  if (*at++ != '"') return NULL;
  for (; *at != '"'; at++) {
    if (*at == 0 || (*at == '\\' && at[1] == 0)) return NULL;
    if (*at != '\\') {
      *(*to)++ = *at;
    } else if (is_octal(at[1])) {
      if (!is_octal(at[2]) || !is_octal(at[3])) return NULL;
      *(*to)++ = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
      at += 3;
    } else {
      *(*to)++ = *++at;
    }
  }
  *(*to)++ = 0;
  return at + 1;
}

static gbt_status read_levels(c_source *c) {
  const char *at = find(c, " ", "_text", "[] = {");
  size_t cap = 0;
  if (at == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(&c->mem, strlen(at) + 1, 1, &c->level_bytes, c->err));
  char *to = c->level_bytes;
  for (;;) {
    at += count_of(at, " \n,");
    if (*at == '}' || *at == '0') return GBT_OK;
    GBT_TRY(gbt_mem_grow(&c->mem, &c->level, &cap, c->n_levels + 1, sizeof *c->level, c->err));
    c->level[c->n_levels++] = to;
    at = take_text(at, &to);
    if (at == NULL) return unreadable(c);
  }
}

static gbt_status read_constant(c_source *c, const char *before, const char *what, const char *after, int64_t *out) {
  double x;
  const char *at = find(c, before, what, after);
  if (at == NULL || take_number(at, &x) == NULL || !(x >= 0.0 && x <= 4294967295.0)) return unreadable(c);
  *out = (int64_t)x;
  return GBT_OK;
}

/* How the function NAME_score() adds. */
static gbt_status read_sums(c_source *c) {
  const char *body = find(c, "void ", "_score", "(const double *row, const double *offset, double *out) {");
  if (body == NULL) return unreadable(c);
  const char *end = strstr(body, "\n}\n"), *cast = strstr(body, "(double)(float)");
  const char *sum = strstr(body, "volatile double sum = ");
  if (end == NULL) return unreadable(c);
  c->floats = cast != NULL && cast < end;
  c->at_end = sum != NULL && sum < end;
  if (!c->at_end) return GBT_OK;
  const char *after = take_number(sum + strlen("volatile double sum = "), &c->scale);
  if (after == NULL) return unreadable(c);
  c->scaled = strncmp(after, " * out[k]", 9) == 0;
  return GBT_OK;
}

/* Whether n numbers of a table, each after the one `step` before it, are whole and at most `most`. */
static int are_whole(const c_table *table, size_t first, size_t step, double most) {
  for (size_t i = first; i < table->n; i += step) {
    const double x = table->number[i];
    if (!(x >= 0.0 && x <= most) || x != (double)(uint32_t)x) return 0;
  }
  return 1;
}

/* Whether the tables can be walked. */
static int is_sound(const c_source *c, const gbti_outgoing *x) {
  static const int whole[] = {FIRST_TEXT, TEXT_LEVEL, TYPE, FIRST_CODE, TREE, WORD};
  const double most = 4294967295.0;
  if (c->n_columns != x->schema->n_columns || c->n_outputs != x->n_outputs || c->n_parallel < 1) return 0;
  if (c->table[NODE].n % NODE_FIELDS > 1 || (c->table[VALUE].n > 0 && x->width < x->n_outputs)) return 0;
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    if (!are_whole(&c->table[whole[i]], 0, 1, most)) return 0;
  for (size_t field = 1; field < NODE_FIELDS; field++)
    if (!are_whole(&c->table[NODE], field, NODE_FIELDS, most)) return 0;
  for (size_t field = 0; field < GRID_FIELDS; field++)
    if (!are_whole(&c->table[GRID], field, GRID_FIELDS, most)) return 0;
  return are_whole(&c->table[LINEAR], 1 + c->ends, LINEAR_FIELDS + c->ends, most) &&
         are_whole(&c->table[LINEAR], 2 + c->ends, LINEAR_FIELDS + c->ends, most) &&
         are_whole(&c->table[TERM], 1, TERM_FIELDS, most) &&
         are_whole(&c->table[FIRST_TEXT], 0, 1, (double)c->n_levels) &&
         are_whole(&c->table[FIRST_CODE], 0, 1, (double)(c->table[CODE].n / 2));
}

/* ---- rows ---- */

static double table_at(const c_source *c, int which, double i) {
  return i >= 0.0 && i < (double)c->table[which].n ? c->table[which].number[(size_t)i] : gbt_nan();
}

static double level_of(const c_source *c, int32_t column, const char *text) {
  double beg = table_at(c, FIRST_TEXT, column), end = table_at(c, FIRST_TEXT, column + 1.0);
  if (text == NULL) return gbt_nan();
  while (beg < end) {
    const double middle = (double)(int64_t)(0.5 * (beg + end));
    const int order = middle < (double)c->n_levels ? strcmp(text, c->level[(size_t)middle]) : 1;
    if (order == 0) return table_at(c, TEXT_LEVEL, middle);
    if (order < 0)
      end = middle;
    else
      beg = middle + 1.0;
  }
  return table_at(c, TYPE, column) == 1.0 ? -1.0 : gbt_nan();
}

static int is_code(const c_source *c, double column, double x) {
  for (double i = table_at(c, FIRST_CODE, column); i < table_at(c, FIRST_CODE, column + 1.0); i++)
    if (x >= table_at(c, CODE, 2.0 * i) && x <= table_at(c, CODE, 2.0 * i + 1.0)) return 1;
  return 0;
}

static int goes_left(const c_source *c, const double *node, const gbti_cell *row) {
  const int32_t column = (int32_t)node[3];
  const uint32_t flags = (uint32_t)node[4];
  const double x = table_at(c, TYPE, column) == 0.0 ? row[column].x : level_of(c, column, row[column].text);
  if (x != x) return (int)(flags & 1u);
  if (!(flags & 4u)) return is_code(c, column, x) ? (int)(flags & 1u) : x <= node[0];
  if (x < 0.0) return (int)(flags >> 1 & 1u);
  if (x >= 4294967296.0) return 0;
  const uint32_t level = (uint32_t)x;
  const double at = node[2] + 1.0 + level / 32;
  if (!(level / 32 < table_at(c, WORD, node[2])) || at >= (double)c->table[WORD].n) return 0;
  return (int)((uint32_t)table_at(c, WORD, at) >> (level % 32) & 1u);
}

/* The leaf's fields; NULL where the tables lead nowhere. */
static const double *leaf_of(const c_source *c, uint64_t t, const gbti_cell *row) {
  const double root = table_at(c, TREE, (double)t);
  const size_t n_nodes = c->table[NODE].n / NODE_FIELDS;
  double at = 0.0;
  for (;;) {
    if (!(root + at < (double)n_nodes)) return NULL;
    const double *node = c->table[NODE].number + (size_t)(root + at) * NODE_FIELDS;
    if (node[1] == 0.0) return node;
    if (node[1] <= at || !(node[3] < (double)c->n_columns)) return NULL;
    at = node[1] + (goes_left(c, node, row) ? 0.0 : 1.0);
  }
}

/* The position of x in a grid, which begins there in its table; NaN where there is none. */
static double position_of(const c_source *c, double grid, double x) {
  const double first = table_at(c, GRID, grid + 1.0);
  double low = 0.0, high = table_at(c, GRID, grid + 2.0) - 1.0;
  while (low < high) {
    const double middle = (double)(int64_t)(0.5 * (low + high));
    if (x <= table_at(c, CUT, first + middle))
      high = middle;
    else
      low = middle + 1.0;
  }
  return table_at(c, POSITION, first + low);
}

/* The number that a leaf with one value adds. */
static double value_of(const c_source *c, const double *leaf, const gbti_cell *row) {
  const double ends = (double)c->ends, at = (LINEAR_FIELDS + ends) * (leaf[2] - 1.0);
  if (leaf[2] == 0.0) return leaf[0];
  double value = table_at(c, LINEAR, at);
  const double low = table_at(c, LINEAR, at + 1.0), high = table_at(c, LINEAR, at + 2.0);
  const double first = table_at(c, LINEAR, at + 1.0 + ends), n = table_at(c, LINEAR, at + 2.0 + ends);
  for (double k = first; k < first + n; k++) {
    const double its = table_at(c, TERM, TERM_FIELDS * k + 1.0), grid = GRID_FIELDS * its;
    const double column = c->ends > 0 ? table_at(c, GRID, grid) : its;
    if (!(column < (double)c->n_columns)) return gbt_nan();
    const double x = row[(int32_t)column].x;
    if (x != x || is_code(c, column, x)) return leaf[0];
    value += table_at(c, TERM, TERM_FIELDS * k) * (c->ends > 0 ? position_of(c, grid, x) : x);
  }
  if (c->ends == 0) return value;
  return value < low ? low : value > high ? high : value;
}

static int tree_of(void *state, uint64_t t, const gbti_cell *row, double *values) {
  const c_source *c = state;
  const double *leaf = leaf_of(c, t, row);
  if (leaf == NULL) return 0;
  values[0] = c->table[VALUE].n > 0 ? 0.0 : value_of(c, leaf, row);
  for (int64_t k = 0; c->table[VALUE].n > 0 && k < c->n_outputs; k++)
    values[k] = table_at(c, VALUE, leaf[2] + (double)k);
  return 1;
}

static int score_of(void *state, const gbti_cell *row, double *scores) {
  const c_source *c = state;
  const int vectors = c->table[VALUE].n > 0;
  for (int64_t k = 0; k < c->n_outputs; k++) {
    scores[k] = c->at_end ? 0.0 : table_at(c, BASE, (double)k);
    if (c->floats) scores[k] = (double)(float)scores[k];
  }
  for (int64_t t = 0; t < c->n_trees; t++) {
    const double *leaf = leaf_of(c, (uint64_t)t, row);
    if (leaf == NULL) return 0;
    const int64_t own = t / c->n_parallel % c->n_outputs;
    for (int64_t k = vectors ? 0 : own; k < (vectors ? c->n_outputs : own + 1); k++) {
      scores[k] += vectors ? table_at(c, VALUE, leaf[2] + (double)k) : value_of(c, leaf, row);
      if (c->floats) scores[k] = (double)(float)scores[k];
    }
  }
  for (int64_t k = 0; c->at_end && k < c->n_outputs; k++)
    scores[k] = (c->scaled ? c->scale * scores[k] : scores[k] / c->scale) + table_at(c, BASE, (double)k);
  return 1;
}

static void close_source(void *state) {
  c_source *c = state;
  const gbt_mem mem = c->mem;
  for (int i = 0; i < N_TABLES; i++) gbt_mem_free(&mem, c->table[i].number);
  gbt_mem_free(&mem, c->level);
  gbt_mem_free(&mem, c->level_bytes);
  gbt_mem_free(&mem, c->copy);
  gbt_mem_free(&mem, c);
}

gbt_status gbti_read_c(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out) {
  c_source *c;
  GBT_TRY(gbt_mem_zeros(&x->mem, 1, sizeof *c, &c, x->err));
  c->mem = x->mem;
  c->err = x->err;
  c->name = x->name;
  *out = (gbti_evaluator){c, tree_of, score_of, close_source};
  GBT_TRY(gbt_mem_array(&c->mem, n_bytes + 1, 1, &c->copy, c->err));
  memcpy(c->copy, bytes, n_bytes);
  c->copy[n_bytes] = 0;
  c->text = c->copy;
  GBT_TRY(read_constant(c, "#define ", "_N_COLUMNS", " ", &c->n_columns));
  GBT_TRY(read_constant(c, "#define ", "_N_OUTPUTS", " ", &c->n_outputs));
  GBT_TRY(read_constant(c, "#define ", "_N_PARALLEL", " ", &c->n_parallel));
  GBT_TRY(read_constant(c, " ", "_n_trees", " = ", &c->n_trees));
  for (int i = 0; i < N_TABLES; i++) GBT_TRY(read_table(c, i));
  GBT_TRY(read_levels(c));
  c->ends = c->table[GRID].n > 0 ? LINEAR_ENDS : 0;
  if (!is_sound(c, x)) return unreadable(c);
  return read_sums(c);
}
