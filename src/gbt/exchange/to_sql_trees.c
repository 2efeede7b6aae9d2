/* Trees as SQL: to_sql.c. */
#include "sql.h"

enum { BINS_IN_ROW = 8 };

static void put(gbti_sql_writer *w, const char *text) { gbti_put(w->out, text); }

/* ---- conditions ---- */

/* Which rows a condition is for, of those that are not missing. */
typedef enum rows_of { ROWS_NONE, ROWS_SOME, ROWS_ALL } rows_of;

void gbti_sql_column(gbti_sql_writer *w, int32_t c) { gbti_sql_name(w, "_c", (int64_t)c + 1); }

static rows_of put_set(gbti_sql_writer *w, const gbti_out_node *node, int left) {
  const int32_t n = w->x->schema->col[node->column].n_levels;
  int32_t n_in = 0, n_put = 0;
  for (int32_t level = -1; level < n; level++) n_in += gbti_out_left(w->x, node, level) == left;
  if (n_in == 0 || n_in == n + 1) return n_in == 0 ? ROWS_NONE : ROWS_ALL;
  const int in = 2 * n_in <= n + 1;
  gbti_sql_column(w, node->column);
  put(w, in ? " IN (" : " NOT IN (");
  for (int32_t level = -1; level < n; level++) {
    if ((gbti_out_left(w->x, node, level) == left) != in) continue;
    put(w, n_put++ == 0 ? "" : n_put % 32 == 0 ? ",\n" : ",");
    gbti_put_whole(w->out, level);
  }
  put(w, ")");
  return ROWS_SOME;
}

static rows_of put_threshold(gbti_sql_writer *w, const gbti_out_node *node, int left) {
  const double t = node->number;
  if (t - t != 0.0 && t > 0.0) return left ? ROWS_ALL : ROWS_NONE;
  gbti_sql_column(w, node->column);
  if (t - t != 0.0) { /* -Inf: only itself is at most that */
    put(w, left ? " < -" : " >= -");
    put(w, GBTI_SQL_LARGEST);
  } else {
    put(w, left ? " <= " : " > ");
    gbti_sql_number(w, t);
  }
  return ROWS_SOME;
}

/* That a row goes to one of the two children. */
static void put_condition(gbti_sql_writer *w, const gbti_out_node *node, int left) {
  const int missing = node->missing_left == left;
  const rows_of rows = node->by_set ? put_set(w, node, left) : put_threshold(w, node, left);
  if (rows == ROWS_SOME && missing) put(w, " OR ");
  if (rows == ROWS_ALL && missing) put(w, "1 = 1");
  if (rows == ROWS_NONE && !missing) put(w, "1 = 0");
  if (rows == ROWS_ALL ? missing : rows == ROWS_NONE ? !missing : !missing) return;
  gbti_sql_column(w, node->column);
  put(w, rows == ROWS_ALL ? " IS NOT NULL" : " IS NULL");
}

/* ---- leaves and trees ---- */

/* The column of a term: NAME_cJ, or NAME_xJ. */
static void put_term_column(gbti_sql_writer *w, const gbt_linear_term *term) {
  const int64_t c = gbti_grid_column(w->x, term->grid);
  gbti_sql_name(w, w->before > 0 ? "_x" : "_c", c + 1);
}

/* start + slope * number + ...: in the order of prediction. */
static void put_linear_sum(gbti_sql_writer *w, const gbt_linear_leaf *leaf) {
  const gbt_linear_term *term = w->x->linear->term + leaf->term_beg;
  gbti_sql_number(w, leaf->start);
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    put(w, k % 16 == 15 ? "\n + " : " + ");
    gbti_sql_number(w, term[k].slope);
    put(w, " * ");
    put_term_column(w, &term[k]);
  }
}

/* " WHEN sum < low THEN low" */
static void put_clip(gbti_sql_writer *w, const gbt_linear_leaf *leaf, const char *relation, double end) {
  put(w, " WHEN ");
  put_linear_sum(w, leaf);
  put(w, relation);
  gbti_sql_number(w, end);
  put(w, " THEN ");
  gbti_sql_number(w, end);
}

/* CASE WHEN a number is missing THEN constant ELSE sum END; of bins, the sum is within the leaf's range. */
static void put_leaf(gbti_sql_writer *w, const gbti_out_node *node) {
  const gbt_linear_view *linear = w->x->linear;
  if (node->linear == 0) {
    gbti_sql_number(w, node->number);
    return;
  }
  const gbt_linear_leaf *leaf = &linear->leaf[node->linear - 1];
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    put(w, k == 0 ? "CASE WHEN " : " OR ");
    put_term_column(w, &linear->term[leaf->term_beg + k]);
    put(w, " IS NULL");
  }
  put(w, " THEN ");
  gbti_sql_number(w, node->number);
  if (w->before > 0) {
    put_clip(w, leaf, " < ", leaf->low);
    put_clip(w, leaf, " > ", leaf->high);
  }
  put(w, " ELSE ");
  put_linear_sum(w, leaf);
  put(w, " END");
}

static void put_subtree(gbti_sql_writer *w, const gbti_out_node *node, uint32_t at) {
  if (node[at].left == 0) {
    put_leaf(w, &node[at]);
    return;
  }
  put(w, "CASE");
  while (node[at].left > 0) {
    const uint32_t child = node[at].left;
    const int left = w->size[child] <= w->size[child + 1]; /* the smaller one */
    put(w, " WHEN ");
    put_condition(w, &node[at], left);
    put(w, " THEN ");
    put_subtree(w, node, left ? child : child + 1);
    at = left ? child + 1 : child;
  }
  put(w, " ELSE ");
  put_leaf(w, &node[at]);
  put(w, " END");
}

void gbti_sql_tree(gbti_sql_writer *w, uint64_t t) {
  const gbti_out_tree *tree = &w->x->tree[t];
  for (uint32_t i = tree->n_nodes; i-- > 0;) {
    const uint32_t child = tree->node[i].left;
    w->size[i] = child == 0 ? 1 : w->size[child] + w->size[child + 1] + 1;
  }
  put(w, "\n  + /* tree ");
  gbti_put_whole(w->out, (int64_t)t + 1);
  put(w, " */ ");
  put_subtree(w, tree->node, 0);
}

/* ---- positions ---- */

/* " WHEN number <= the end of a bin THEN " */
static void put_bin(gbti_sql_writer *w, uint32_t g, int32_t bin) {
  put(w, " WHEN ");
  gbti_sql_column(w, gbti_grid_column(w->x, g));
  put(w, " <= ");
  gbti_sql_number(w, w->x->linear->cut[w->x->linear->grid[g].beg + (uint64_t)bin]);
  put(w, " THEN ");
}

void gbti_sql_position(gbti_sql_writer *w, uint32_t g, int32_t low, int32_t high) {
  const int16_t *x = w->x->linear->x + w->x->linear->grid[g].beg;
  const int32_t middle = low + (high - low) / 2;
  put(w, "CASE");
  if (high - low < BINS_IN_ROW) {
    for (; low < high; low++) {
      put_bin(w, g, low);
      gbti_sql_number(w, (double)x[low]);
    }
    put(w, " ELSE ");
    gbti_sql_number(w, (double)x[high]);
  } else {
    put_bin(w, g, middle);
    gbti_sql_position(w, g, low, middle);
    put(w, " ELSE ");
    gbti_sql_position(w, g, middle + 1, high);
  }
  put(w, " END");
}
