/* The SQL of to_sql.c, evaluated: expressions with NULL as SQL has it, and the columns that the query defines one after
 * another. Responses are read, but not evaluated: what EXP() gives is the database's. */
#include <stdio.h>
#include <string.h>

#include "../base/bits.h"
#include "decimal.h"
#include "formats.h"

typedef enum sql_op {
  SQL_NUMBER,
  SQL_TEXT,
  SQL_NULL,
  SQL_COLUMN, /* of the rows: `at` is its cell */
  SQL_NAME,   /* of the query: `at` is its definition */
  SQL_SUM,
  SQL_TIMES,
  SQL_OVER,
  SQL_MINUS,
  SQL_JOINED, /* || */
  SQL_DOUBLE, /* CAST AS ... */
  SQL_INTEGER,
  SQL_AS_TEXT,
  SQL_EXP,
  SQL_CASE,    /* conditions and results by turns; a last one without a result is that of ELSE */
  SQL_CASE_OF, /* the same of a value, which is the first part */
  SQL_IN,      /* a value, and a list; flag: not in */
  SQL_IS_NULL, /* flag: is not */
  SQL_LESS,
  SQL_AT_MOST,
  SQL_MORE,
  SQL_AT_LEAST,
  SQL_EQUAL,
  SQL_AND,
  SQL_OR,
  SQL_NOT
} sql_op;

#define NO_PART UINT32_MAX
enum { MOST_DEPTH = 1000, MOST_DIGITS = 48 }; /* and more than any number has: the text ends with a NUL */

typedef struct sql_part {
  sql_op op;
  int flag;
  uint32_t first, next; /* its parts, and the next one of the same */
  uint32_t at;
  double number;
  const char *text;
} sql_part;

/* true and false are 1 and 0 */
typedef struct sql_value {
  int is_null;
  double number;
  const char *text; /* NULL of a number */
} sql_value;

typedef struct sql_column {
  const char *name; /* n bytes of the query */
  size_t n;
  uint32_t part;
  uint64_t seen; /* the row that `value` is of */
  sql_value value;
} sql_column;

typedef struct sql_query {
  gbt_mem mem;
  gbt_error *err;
  const gbt_schema *schema; /* names of columns: those of the table */
  char *copy, *at;          /* of the query, with a NUL; texts are unquoted in place. at: what is read next */
  sql_part *part;
  sql_column *column;
  uint32_t *tree; /* parts of the trees by their number */
  size_t n_parts, cap_parts, n_columns, cap_columns, n_trees, cap_trees;
  size_t n_bytes;
  int64_t marked; /* the tree that begins here, from 1 */
  int depth, failed;
  gbt_status no_room; /* when memory ran out, what error says so */
  uint64_t row;
  const gbti_cell *cell;
  size_t score, n_scores; /* the first column of the scores */
} sql_query;

static uint32_t read_expression(sql_query *q);

/* ---- words ---- */

static int is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t word_length(const char *text) {
  size_t n = 0;
  while (is_word(text[n])) n++;
  return n;
}

/* Past spaces and comments; one that names a tree marks it. */
static void skip(sql_query *q) {
  for (;;) {
    while (*q->at == ' ' || *q->at == '\n') q->at++;
    if (strncmp(q->at, "--", 2) == 0) {
      while (*q->at != 0 && *q->at != '\n') q->at++;
    } else if (strncmp(q->at, "/* tree ", 8) == 0) {
      const gbti_decimal d = gbti_read_decimal(q->at + 8, MOST_DIGITS);
      q->marked = d.n == 0 || d.nearest > 4e9 ? 0 : (int64_t)d.nearest;
      char *end = strstr(q->at, "*/");
      if (end == NULL) q->failed = 1;
      q->at = end == NULL ? q->at + strlen(q->at) : end + 2;
    } else {
      return;
    }
  }
}

/* Takes a word or a sign if it is next. */
static int take(sql_query *q, const char *what) {
  const size_t n = strlen(what);
  skip(q);
  if (strncmp(q->at, what, n) != 0 || (is_word(what[n - 1]) && is_word(q->at[n]))) return 0;
  q->at += n;
  return 1;
}

static void need(sql_query *q, const char *what) {
  if (!take(q, what)) q->failed = 1;
}

/* 'text' or "text", unquoted in place. */
static const char *take_quoted(sql_query *q, char quote) {
  if (*q->at != quote) q->failed = 1;
  if (q->failed) return "";
  char *beg = q->at + 1, *to = beg;
  const char *from = beg;
  for (; *from != 0 && (*from != quote || from[1] == quote); from++) {
    *to++ = *from;
    from += *from == quote;
  }
  if (*from == 0) {
    q->failed = 1;
    return "";
  }
  q->at = beg + (from - beg) + 1;
  *to = 0;
  return beg;
}

/* Room for n of a list; 0: there is none, or reading has failed before. */
static int has_room(sql_query *q, void *block, size_t *cap, size_t n, size_t size) {
  if (q->failed) return 0;
  q->no_room = gbt_mem_grow(&q->mem, block, cap, n, size, q->err);
  return !(q->failed = q->no_room != GBT_OK);
}

static uint32_t new_part(sql_query *q, sql_op op, uint32_t first) {
  if (!has_room(q, &q->part, &q->cap_parts, q->n_parts + 1, sizeof *q->part)) return 0;
  q->part[q->n_parts] = (sql_part){.op = op, .first = first, .next = NO_PART};
  return (uint32_t)q->n_parts++;
}

/* Adds a part after the last one, if there is one, and returns it. */
static uint32_t add_part(sql_query *q, uint32_t to, uint32_t last, uint32_t part) {
  if (q->failed) return part;
  if (last == NO_PART)
    q->part[to].first = part;
  else
    q->part[last].next = part;
  return part;
}

/* ---- expressions ---- */

static uint32_t read_number(sql_query *q) {
  const gbti_decimal d = gbti_read_decimal(q->at, MOST_DIGITS);
  const uint32_t part = new_part(q, SQL_NUMBER, NO_PART);
  if (d.n == 0) q->failed = 1;
  if (q->failed) return 0;
  q->part[part].number = d.nearest;
  q->at += d.n;
  return part;
}

static uint32_t read_name(sql_query *q) {
  const size_t n = word_length(q->at);
  for (size_t i = q->n_columns; n > 0 && i-- > 0;)
    if (q->column[i].n == n && memcmp(q->column[i].name, q->at, n) == 0) {
      const uint32_t part = new_part(q, SQL_NAME, NO_PART);
      if (!q->failed) q->part[part].at = (uint32_t)i;
      q->at += n;
      return part;
    }
  q->failed = 1;
  return 0;
}

static uint32_t read_column(sql_query *q) {
  const char *name = take_quoted(q, '"');
  for (int32_t c = 0; c < q->schema->n_columns && !q->failed; c++)
    if (strcmp(q->schema->col[c].name, name) == 0) {
      const uint32_t part = new_part(q, SQL_COLUMN, NO_PART);
      if (!q->failed) q->part[part].at = (uint32_t)c;
      return part;
    }
  q->failed = 1;
  return 0;
}

static uint32_t read_case(sql_query *q) {
  const uint32_t part = new_part(q, SQL_CASE, NO_PART);
  uint32_t last = NO_PART;
  if (!take(q, "WHEN")) {
    last = add_part(q, part, last, read_expression(q));
    if (!q->failed) q->part[part].op = SQL_CASE_OF;
    need(q, "WHEN");
  }
  do {
    last = add_part(q, part, last, read_expression(q));
    need(q, "THEN");
    last = add_part(q, part, last, read_expression(q));
  } while (!q->failed && take(q, "WHEN"));
  if (take(q, "ELSE")) add_part(q, part, last, read_expression(q));
  need(q, "END");
  return part;
}

static uint32_t read_cast(sql_query *q) {
  need(q, "(");
  const uint32_t inner = read_expression(q);
  need(q, "AS");
  const sql_op op = take(q, "INTEGER") ? SQL_INTEGER : take(q, "TEXT") ? SQL_AS_TEXT : SQL_DOUBLE;
  if (op == SQL_DOUBLE) {
    need(q, "DOUBLE");
    need(q, "PRECISION");
  }
  need(q, ")");
  return new_part(q, op, inner);
}

static uint32_t read_one(sql_query *q) {
  uint32_t part;
  if (q->failed) return 0;
  if (take(q, "-")) {
    skip(q);
    if (*q->at == '-') q->failed = 1; /* a comment, or as deep as it is long */
    return new_part(q, SQL_MINUS, read_one(q));
  }
  if (take(q, "CASE")) return read_case(q);
  if (take(q, "CAST")) return read_cast(q);
  if (take(q, "NULL")) return new_part(q, SQL_NULL, NO_PART);
  if (take(q, "t.")) return read_column(q);
  if (take(q, "EXP") || take(q, "(")) {
    const int is_exp = q->at[-1] == 'P';
    if (is_exp) need(q, "(");
    part = read_expression(q);
    need(q, ")");
    return is_exp ? new_part(q, SQL_EXP, part) : part;
  }
  if (*q->at == '\'') {
    const char *text = take_quoted(q, '\'');
    part = new_part(q, SQL_TEXT, NO_PART);
    if (!q->failed) q->part[part].text = text;
    return part;
  }
  return *q->at >= '0' && *q->at <= '9' ? read_number(q) : read_name(q);
}

static uint32_t read_two(sql_query *q, sql_op op, uint32_t a, uint32_t b) {
  const uint32_t part = new_part(q, op, a);
  if (!q->failed) q->part[a].next = b;
  return part;
}

static uint32_t read_product(sql_query *q) {
  uint32_t a = read_one(q);
  while (!q->failed) {
    const sql_op op = take(q, "||") ? SQL_JOINED : take(q, "*") ? SQL_TIMES : take(q, "/") ? SQL_OVER : SQL_NULL;
    if (op == SQL_NULL) break;
    a = read_two(q, op, a, read_one(q));
  }
  return a;
}

static void keep_tree(sql_query *q, int64_t tree, uint32_t part) {
  if ((uint64_t)tree > q->n_bytes) q->failed = 1; /* more than there can be */
  if (!has_room(q, &q->tree, &q->cap_trees, (size_t)tree, sizeof *q->tree)) return;
  while (q->n_trees < (size_t)tree) q->tree[q->n_trees++] = NO_PART;
  q->tree[tree - 1] = part;
}

static uint32_t read_sum(sql_query *q) {
  const uint32_t first = read_product(q);
  uint32_t part = first, last = first;
  while (!q->failed) {
    const int minus = take(q, "-");
    if (!minus && !take(q, "+")) break;
    if (part == first) part = new_part(q, SQL_SUM, first);
    skip(q);
    const int64_t tree = q->marked;
    q->marked = 0;
    const uint32_t its = read_product(q), item = minus ? new_part(q, SQL_MINUS, its) : its;
    if (tree > 0) keep_tree(q, tree, its);
    last = add_part(q, part, last, item);
  }
  return part;
}

static uint32_t read_list(sql_query *q, uint32_t value, int negated) {
  const uint32_t part = new_part(q, SQL_IN, value);
  uint32_t last = value;
  if (!q->failed) q->part[part].flag = negated;
  need(q, "(");
  do last = add_part(q, part, last, read_sum(q));
  while (!q->failed && take(q, ","));
  need(q, ")");
  return part;
}

static uint32_t read_relation(sql_query *q) {
  static const struct {
    const char *sign;
    sql_op op;
  } relations[] = {{"<=", SQL_AT_MOST}, {">=", SQL_AT_LEAST}, {"<", SQL_LESS}, {">", SQL_MORE}, {"=", SQL_EQUAL}};
  const uint32_t a = read_sum(q);
  if (q->failed) return 0;
  if (take(q, "IS")) {
    const int negated = take(q, "NOT");
    need(q, "NULL");
    const uint32_t part = new_part(q, SQL_IS_NULL, a);
    if (!q->failed) q->part[part].flag = negated;
    return part;
  }
  if (take(q, "NOT")) {
    need(q, "IN");
    return read_list(q, a, 1);
  }
  if (take(q, "IN")) return read_list(q, a, 0);
  for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
    if (take(q, relations[i].sign)) return read_two(q, relations[i].op, a, read_sum(q));
  return a;
}

static uint32_t read_not(sql_query *q) {
  return take(q, "NOT") ? new_part(q, SQL_NOT, read_relation(q)) : read_relation(q);
}

static uint32_t read_and(sql_query *q) {
  uint32_t a = read_not(q);
  while (!q->failed && take(q, "AND")) a = read_two(q, SQL_AND, a, read_not(q));
  return a;
}

static uint32_t read_expression(sql_query *q) {
  q->failed |= ++q->depth > MOST_DEPTH;
  uint32_t a = q->failed ? 0 : read_and(q);
  while (!q->failed && take(q, "OR")) a = read_two(q, SQL_OR, a, read_and(q));
  q->depth--;
  return a;
}

/* ---- the query ---- */

/* Takes a word, which is the model's name and more. */
static void need_name(sql_query *q, const char *name, const char *what, int64_t number) {
  char text[96];
  snprintf(text, sizeof text, number < 0 ? "%s%s" : "%s%s%lld", name, what, (long long)number);
  need(q, text);
}

static void read_columns(sql_query *q) {
  need(q, "SELECT");
  need(q, "t.*");
  while (!q->failed && take(q, ",")) {
    const uint32_t part = read_expression(q);
    need(q, "AS");
    skip(q);
    const size_t n = word_length(q->at);
    if (!has_room(q, &q->column, &q->cap_columns, q->n_columns + 1, sizeof *q->column)) return;
    q->column[q->n_columns++] = (sql_column){.name = q->at, .n = n, .part = part};
    q->at += n;
  }
  need(q, "FROM");
}

static gbt_status read_query(sql_query *q, const char *name, int32_t n_outputs) {
  int64_t step = 0;
  need(q, "WITH");
  do {
    need_name(q, name, "_", step);
    need(q, "AS");
    need(q, "MATERIALIZED");
    need(q, "(");
    read_columns(q);
    need_name(q, name, step == 0 ? "_rows" : "_", step - 1);
    need(q, "AS");
    need(q, "t");
    need(q, ")");
    step++;
  } while (!q->failed && take(q, ","));
  read_columns(q);
  need_name(q, name, "_", step - 1);
  need(q, "AS");
  need(q, "t");
  skip(q);
  const size_t n = strlen(name) + strlen("_score");
  for (size_t i = 0; i < q->n_columns; i++) {
    const sql_column *c = &q->column[i];
    if (c->n < n || memcmp(c->name, name, n - 6) != 0 || memcmp(c->name + n - 6, "_score", 6) != 0) continue;
    if (c->n > n && c->name[n] != '_') continue;
    if (q->n_scores++ == 0) q->score = i;
  }
  GBT_TRY(q->no_room);
  if (q->failed || *q->at != 0 || q->n_scores != (size_t)n_outputs)
    return gbt_fail(q->err, GBT_E_INTERNAL, "the SQL that was made cannot be read. Please report this");
  return GBT_OK;
}

/* ---- values ---- */

static const sql_value sql_null = {1, 0.0, NULL};

static sql_value number_value(double x) { return x != x ? sql_null : (sql_value){0, x, NULL}; }

static sql_value value_of(sql_query *q, uint32_t part);

static sql_value column_value(sql_query *q, size_t i) {
  if (q->column[i].seen == q->row) return q->column[i].value;
  q->column[i].value = value_of(q, q->column[i].part);
  q->column[i].seen = q->row;
  return q->column[i].value;
}

static sql_value cell_value(const sql_query *q, uint32_t column) {
  if (q->schema->col[column].type == GBT_NUMERIC) return number_value(q->cell[column].x);
  return q->cell[column].text == NULL ? sql_null : (sql_value){0, 0.0, q->cell[column].text};
}

static int equal(sql_value a, sql_value b) {
  if (a.is_null || b.is_null) return 0;
  if (a.text == NULL || b.text == NULL) return a.text == b.text && a.number == b.number;
  return strcmp(a.text, b.text) == 0;
}

static sql_value case_value(sql_query *q, const sql_part *p) {
  const int of = p->op == SQL_CASE_OF;
  const sql_value subject = of ? value_of(q, p->first) : sql_null;
  for (uint32_t at = of ? q->part[p->first].next : p->first, then; at != NO_PART; at = q->part[then].next) {
    then = q->part[at].next;
    if (then == NO_PART) return value_of(q, at); /* ELSE */
    const sql_value when = value_of(q, at);
    if (of ? equal(subject, when) : !when.is_null && when.number != 0.0) return value_of(q, then);
  }
  return sql_null;
}

static sql_value in_value(sql_query *q, const sql_part *p) {
  const sql_value x = value_of(q, p->first);
  if (x.is_null) return x;
  for (uint32_t at = q->part[p->first].next; at != NO_PART; at = q->part[at].next)
    if (equal(x, value_of(q, at))) return number_value(!p->flag);
  return number_value(p->flag);
}

static sql_value sum_value(sql_query *q, const sql_part *p) {
  sql_value sum = value_of(q, p->first);
  for (uint32_t at = q->part[p->first].next; at != NO_PART; at = q->part[at].next) {
    const sql_value x = value_of(q, at);
    sum = sum.is_null || x.is_null ? sql_null : number_value(sum.number + x.number);
  }
  return sum;
}

static sql_value logic_value(sql_query *q, const sql_part *p) {
  const double decides = p->op == SQL_OR ? 1.0 : 0.0;
  const sql_value a = value_of(q, p->first);
  if (!a.is_null && a.number == decides) return a;
  const sql_value b = value_of(q, q->part[p->first].next);
  if (!b.is_null && b.number == decides) return b;
  return a.is_null ? a : b;
}

static sql_value relation_value(sql_query *q, const sql_part *p) {
  const sql_value a = value_of(q, p->first), b = value_of(q, q->part[p->first].next);
  if (a.is_null || b.is_null) return sql_null;
  switch (p->op) {
  case SQL_LESS:
    return number_value(a.number < b.number);
  case SQL_AT_MOST:
    return number_value(a.number <= b.number);
  case SQL_MORE:
    return number_value(a.number > b.number);
  case SQL_AT_LEAST:
    return number_value(a.number >= b.number);
  case SQL_TIMES:
    return number_value(a.number * b.number);
  case SQL_OVER:
    return number_value(a.number / b.number);
  case SQL_JOINED: /* with '', as it is written */
    return b.text != NULL && *b.text == 0 ? a : sql_null;
  default:
    return number_value(equal(a, b));
  }
}

static sql_value one_value(sql_query *q, const sql_part *p) {
  const sql_value x = value_of(q, p->first);
  switch (p->op) {
  case SQL_IS_NULL:
    return number_value(x.is_null != p->flag);
  case SQL_MINUS:
    return x.is_null ? x : number_value(-x.number);
  case SQL_NOT:
    return x.is_null ? x : number_value(x.number == 0.0);
  case SQL_DOUBLE: /* of a text: 'Infinity' */
    return x.text == NULL ? x : number_value(gbt_from_bits((uint64_t)0x7ff << 52));
  case SQL_AS_TEXT:
    return x.text == NULL ? sql_null : x;
  case SQL_INTEGER: /* of logical columns, as they are */
    return x;
  default:
    return sql_null;
  }
}

static sql_value value_of(sql_query *q, uint32_t part) {
  const sql_part *p = &q->part[part];
  switch (p->op) {
  case SQL_NUMBER:
    return number_value(p->number);
  case SQL_TEXT:
    return (sql_value){0, 0.0, p->text};
  case SQL_NULL:
    return sql_null;
  case SQL_COLUMN:
    return cell_value(q, p->at);
  case SQL_NAME:
    return column_value(q, p->at);
  case SQL_SUM:
    return sum_value(q, p);
  case SQL_CASE:
  case SQL_CASE_OF:
    return case_value(q, p);
  case SQL_IN:
    return in_value(q, p);
  case SQL_AND:
  case SQL_OR:
    return logic_value(q, p);
  case SQL_IS_NULL:
  case SQL_MINUS:
  case SQL_NOT:
  case SQL_DOUBLE:
  case SQL_AS_TEXT:
  case SQL_INTEGER:
  case SQL_EXP:
    return one_value(q, p);
  default:
    return relation_value(q, p);
  }
}

static int tree_of(void *state, uint64_t t, const gbti_cell *row, double *values) {
  sql_query *q = state;
  if (t >= q->n_trees || q->tree[t] == NO_PART) return 0;
  q->cell = row;
  q->row++;
  const sql_value x = value_of(q, q->tree[t]);
  values[0] = x.is_null ? gbt_nan() : x.number; /* as SQLite has it */
  return x.text == NULL;
}

static int score_of(void *state, const gbti_cell *row, double *scores) {
  sql_query *q = state;
  q->cell = row;
  q->row++;
  for (size_t i = 0; i < q->score; i++) (void)column_value(q, i); /* one after another: no call goes deep */
  for (size_t k = 0; k < q->n_scores; k++) {
    const sql_value x = column_value(q, q->score + k);
    if (x.text != NULL) return 0;
    scores[k] = x.is_null ? gbt_nan() : x.number;
  }
  return 1;
}

static void close_query(void *state) {
  sql_query *q = state;
  const gbt_mem mem = q->mem;
  void *block[] = {q->copy, q->part, q->column, q->tree, q};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(&mem, block[i]);
}

gbt_status gbti_read_sql(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out) {
  sql_query *q;
  GBT_TRY(gbt_mem_zeros(&x->mem, 1, sizeof *q, &q, x->err));
  *q = (sql_query){.mem = x->mem, .err = x->err, .schema = x->schema, .n_bytes = n_bytes};
  *out = (gbti_evaluator){q, tree_of, score_of, close_query};
  GBT_TRY(gbt_mem_array(&q->mem, n_bytes + 1, 1, &q->copy, q->err));
  memcpy(q->copy, bytes, n_bytes);
  q->copy[n_bytes] = 0;
  q->at = q->copy;
  return read_query(q, x->name, x->n_outputs);
}
