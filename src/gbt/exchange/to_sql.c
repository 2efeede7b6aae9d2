/* SQL: one query, which SQLite (3.35 and later), DuckDB and PostgreSQL (12 and later) take as it is.
 *
 *   NAME_0       the rows, and a column NAME_cJ for each column J that trees read: a double; of levels, their
 *                positions, -1 is unseen; NULL is missing
 *   NAME_1       where linear leaves read bins: a column NAME_xJ for each of their columns J: the position of its bin,
 *                a double. What follows is then numbered from 2
 *   NAME_1 ...   sums so far, NAME_sI_K after step I of score K: so many trees a step that no expression is too deep
 *   last         NAME_score, or NAME_score_K; then the responses
 *
 * A tree is CASE WHEN condition THEN smaller subtree WHEN ... ELSE leaf END: the larger one of two subtrees goes on in
 * the same CASE, so that CASEs are nested no deeper than the logarithm of the number of leaves. (SQLite before 3.46 has
 * room for some 17.) A linear leaf is one more CASE, for its missing numbers. No condition is NULL where it decides.
 * Numbers have an exponent, which makes them doubles in SQLite and DuckDB; in PostgreSQL they are exact decimals that
 * become doubles next to a double.
 *
 * to_sql_read.c reads what is written here. */
#include <string.h>

#include "decimal.h"
#include "sql.h"

enum { TREES_PER_STEP = 200, MOST_COLUMNS = 1500, MOST_CLASSES = 100, MOST_TERMS = 500 };

/* ---- pieces ---- */

static void put(gbti_sql_writer *w, const char *text) { gbti_put(w->out, text); }

void gbti_sql_name(gbti_sql_writer *w, const char *what, int64_t number) {
  put(w, w->x->name);
  put(w, what);
  if (number >= 0) gbti_put_whole(w->out, number);
}

/* 'text' or "name": quotes within are doubled. */
static void put_quoted(gbti_sql_writer *w, char quote, const char *text) {
  gbti_put_bytes(w->out, &quote, 1);
  for (const char *at = text; *at != 0; at++) {
    gbti_put_bytes(w->out, at, 1);
    if (*at == quote) gbti_put_bytes(w->out, at, 1);
  }
  gbti_put_bytes(w->out, &quote, 1);
}

/* A text of the user's in a line of comment; at its end. */
static void put_in_remark(gbti_sql_writer *w, const char *text) {
  for (const char *at = text; *at != 0; at++) gbti_put_bytes(w->out, (uint8_t)*at < 0x20 ? " " : at, 1);
}

static void put_remark(gbti_sql_writer *w, const char *text) {
  put_in_remark(w, text);
  put(w, "\n");
}

void gbti_sql_number(gbti_sql_writer *w, double x) {
  char figure[GBTI_FIGURES];
  int exponent;
  if (x == 0.0) {
    put(w, "0e0");
    return;
  }
  if (x < 0.0) put(w, "-");
  const int n = gbti_clear_figures(x < 0.0 ? -x : x, figure, &exponent);
  const int before = exponent >= 0 && exponent < n ? exponent + 1 : 1; /* figures before the point */
  gbti_put_bytes(w->out, figure, (size_t)before);
  if (before < n) put(w, ".");
  gbti_put_bytes(w->out, figure + before, (size_t)(n - before));
  put(w, "e");
  gbti_put_whole(w->out, exponent - (before - 1));
}

/* ---- columns ---- */

static void put_level_column(gbti_sql_writer *w, int32_t c) {
  const gbt_schema_column *col = &w->x->schema->col[c];
  const int unseen = col->type == GBT_CATEGORICAL;
  if (unseen) {
    put(w, "CASE WHEN t.");
    put_quoted(w, '"', col->name);
    put(w, " IS NULL THEN NULL ELSE ");
  }
  /* the operator takes a column's rule of comparison away */
  put(w, "CASE CAST(t.");
  put_quoted(w, '"', col->name);
  put(w, " AS TEXT) || ''");
  for (int32_t level = 0; level < col->n_levels; level++) {
    put(w, level % 4 == 0 ? "\n    WHEN " : " WHEN ");
    put_quoted(w, '\'', col->levels[level]);
    put(w, " THEN ");
    gbti_put_whole(w->out, level);
  }
  if (col->n_levels == 0) put(w, " WHEN '' THEN -1");
  put(w, unseen ? " ELSE -1 END END" : " END");
}

static void put_double_of(gbti_sql_writer *w, int32_t c) {
  const gbt_schema_column *col = &w->x->schema->col[c];
  const int logical = strcmp(col->tag, "logical") == 0; /* PostgreSQL makes booleans integers, but not doubles */
  put(w, logical ? "CAST(CAST(t." : "CAST(t.");
  put_quoted(w, '"', col->name);
  put(w, logical ? " AS INTEGER) AS DOUBLE PRECISION)" : " AS DOUBLE PRECISION)");
}

/* One end of a range: "x >= low"; of infinite ends what doubles have there. */
static void put_end(gbti_sql_writer *w, int32_t c, const char *relation, const char *beyond, double end) {
  put_double_of(w, c);
  if (end - end == 0.0) {
    put(w, relation);
    gbti_sql_number(w, end);
    return;
  }
  put(w, beyond);
  put(w, GBTI_SQL_LARGEST);
}

/* Numbers of a range stand for missing values: " AND NOT (x >= low AND x <= high)". */
static void put_code(gbti_sql_writer *w, int32_t c, double low, double high) {
  put(w, " AND NOT (");
  if (low == high || low - low == 0.0 || low > 0.0)
    put_end(w, c, low == high ? " = " : " >= ", low > 0.0 ? " > " : " < -", low);
  else
    put(w, "1 = 1");
  if (low < high && high - high == 0.0) {
    put(w, " AND ");
    put_end(w, c, " <= ", "", high);
  }
  put(w, ")");
}

static void put_number_column(gbti_sql_writer *w, int32_t c) {
  const gbti_codes *codes = &w->x->codes[c];
  put(w, "CASE WHEN (");
  put_double_of(w, c);
  put(w, " <= CAST('Infinity' AS DOUBLE PRECISION) OR CAST('Infinity' AS DOUBLE PRECISION) = 0)");
  for (int32_t i = 0; i < codes->n; i++) put_code(w, c, codes->value[i], codes->value[i]);
  if (codes->has_range) put_code(w, c, codes->low, codes->high);
  put(w, " THEN ");
  put_double_of(w, c);
  put(w, " END");
}

/* Columns of the rows, as trees take them: NAME_cJ. */
static void put_rows(gbti_sql_writer *w) {
  put(w, "WITH ");
  gbti_sql_name(w, "_0", -1);
  put(w, " AS MATERIALIZED (\nSELECT t.*");
  for (int32_t c = 0; c < w->x->schema->n_columns; c++) {
    if (!w->used[c]) continue;
    put(w, ",\n  ");
    if (w->x->schema->col[c].type == GBT_NUMERIC)
      put_number_column(w, c);
    else
      put_level_column(w, c);
    put(w, " AS ");
    gbti_sql_name(w, "_c", (int64_t)c + 1);
  }
  put(w, "\nFROM ");
  gbti_sql_name(w, "_rows AS t)", -1);
}

/* ---- scores ---- */

/* NAME_score, or NAME_score_K of several. */
static void put_output(gbti_sql_writer *w, const char *what, int32_t k) {
  gbti_sql_name(w, what, -1);
  if (w->x->n_outputs == 1) return;
  put(w, "_");
  gbti_put_whole(w->out, (int64_t)k + 1);
}

/* The sum of score k after a step. */
static void put_sum(gbti_sql_writer *w, int64_t step, int64_t n_steps, int32_t k) {
  if (step == n_steps && !gbti_sums_at_end(w->x)) {
    put_output(w, "_score", k);
    return;
  }
  gbti_sql_name(w, "_s", step);
  put(w, "_");
  gbti_put_whole(w->out, (int64_t)k + 1);
}

/* Steps of sums are those from 1 on. */
static void begin_step(gbti_sql_writer *w, int64_t step) {
  put(w, ",\n");
  gbti_sql_name(w, "_", w->before + step);
  put(w, " AS MATERIALIZED (\nSELECT t.*");
}

static void end_step(gbti_sql_writer *w, int64_t step) {
  put(w, "\nFROM ");
  gbti_sql_name(w, "_", w->before + step - 1);
  put(w, " AS t)");
}

/* Columns NAME_xJ. Without the CAST, PostgreSQL would take them and sums of them for decimals. */
static void put_positions(gbti_sql_writer *w) {
  begin_step(w, 0);
  for (uint32_t g = 0; g < w->x->linear->n_grids; g++) {
    const int32_t c = gbti_grid_column(w->x, g);
    if (!w->bins[c]) continue;
    put(w, ",\n  CAST(CASE WHEN ");
    gbti_sql_column(w, c);
    put(w, " IS NOT NULL THEN ");
    gbti_sql_position(w, g, 0, w->x->linear->grid[g].n_bins - 1);
    put(w, " END AS DOUBLE PRECISION) AS ");
    gbti_sql_name(w, "_x", (int64_t)c + 1);
  }
  end_step(w, 0);
}

static void put_step(gbti_sql_writer *w, int64_t step, int64_t n_steps) {
  const gbti_outgoing *x = w->x;
  const uint64_t of_score = x->n_rounds * (uint64_t)x->n_parallel, beg = (uint64_t)(step - 1) * TREES_PER_STEP;
  const uint64_t end = of_score < beg + TREES_PER_STEP ? of_score : beg + TREES_PER_STEP;
  begin_step(w, step);
  for (int32_t k = 0; k < x->n_outputs; k++) {
    put(w, ",\n  ");
    if (step > 1) {
      put_sum(w, step - 1, n_steps, k);
    } else {
      put(w, "CAST(");
      gbti_sql_number(w, gbti_sums_at_end(x) ? 0.0 : x->base[k]);
      put(w, " AS DOUBLE PRECISION)");
    }
    for (uint64_t i = beg; i < end; i++) {
      const uint64_t parallel = (uint64_t)x->n_parallel, round = i / parallel;
      gbti_sql_tree(w, (round * (uint64_t)x->n_outputs + (uint64_t)k) * parallel + i % parallel);
    }
    put(w, "\n  AS ");
    put_sum(w, step, n_steps, k);
  }
  end_step(w, step);
}

/* Scaled sums, or means, and base scores after them. */
static void put_ends(gbti_sql_writer *w, int64_t n_steps) {
  const gbti_outgoing *x = w->x;
  const int scaled = x->sums.rule == GBT_SUM_SCALED;
  begin_step(w, n_steps + 1);
  for (int32_t k = 0; k < x->n_outputs; k++) {
    put(w, ",\n  ");
    put_sum(w, n_steps, n_steps, k);
    put(w, scaled ? " * " : " / ");
    gbti_sql_number(w, scaled ? x->sums.scale : x->n_rounds > 0 ? (double)x->n_rounds : 1.0);
    put(w, " + ");
    gbti_sql_number(w, x->base[k]);
    put(w, " AS ");
    put_output(w, "_score", k);
  }
  end_step(w, n_steps + 1);
}

/* ---- responses ---- */

/* EXP of a text that is score k, or score k less another one, within what PostgreSQL's takes. */
static void put_exp(gbti_sql_writer *w, const char *sign, int32_t k, int32_t less) {
  for (int part = 0; part < 3; part++) {
    put(w, part == 0 ? "EXP(CASE WHEN " : part == 1 ? " > 700e0 THEN 700e0 WHEN " : " < -700e0 THEN -700e0 ELSE ");
    put(w, sign);
    put_output(w, "_score", k);
    if (less < 0) continue;
    put(w, " - ");
    put_output(w, "_score", less);
  }
  put(w, " END)");
}

static void put_response(gbti_sql_writer *w, int32_t k) {
  switch (w->x->link) {
  case GBTI_LINK_SIGMOID:
    put(w, "1e0 / (1e0 + ");
    put_exp(w, "-", k, -1);
    put(w, ")");
    break;
  case GBTI_LINK_EXP:
    put_exp(w, "", k, -1);
    break;
  case GBTI_LINK_EXPM1:
    put_exp(w, "", k, -1);
    put(w, " - 1e0");
    break;
  case GBTI_LINK_SOFTMAX:
    put(w, "1e0 / (1e0");
    for (int32_t j = 0; j < w->x->n_outputs; j++) {
      if (j == k) continue;
      put(w, "\n    + ");
      put_exp(w, "", j, k);
    }
    put(w, ")");
    break;
  case GBTI_LINK_NONE:
  case GBTI_LINK_SORTED:
    break;
  }
}

static int has_response(const gbti_outgoing *x) {
  if (x->link == GBTI_LINK_SOFTMAX) return x->n_outputs <= MOST_CLASSES;
  return x->link != GBTI_LINK_NONE && x->link != GBTI_LINK_SORTED;
}

static void put_result(gbti_sql_writer *w, int64_t last) {
  put(w, "\nSELECT t.*");
  for (int32_t k = 0; k < w->x->n_outputs && has_response(w->x); k++) {
    put(w, ",\n  ");
    put_response(w, k);
    put(w, " AS ");
    put_output(w, "_response", k);
  }
  put(w, "\nFROM ");
  gbti_sql_name(w, "_", last);
  put(w, " AS t\n");
}

/* ---- the whole ---- */

static void put_head(gbti_sql_writer *w) {
  const gbti_outgoing *x = w->x;
  const int second = x->n_classes == 2 && x->n_outputs == 1;
  put(w, "-- A model of gradient boosted trees, written by gbt: objective \"");
  put(w, gbt_objective_info_of(x->objective->kind)->name);
  put(w, "\", ");
  gbti_put_whole(w->out, (int64_t)x->n_trees);
  put(w, " trees.\n-- For SQLite 3.35 and later, DuckDB, and PostgreSQL 12 and later.\n-- Its rows are those of ");
  gbti_sql_name(w, "_rows", -1);
  put(w, ", a table or view with these columns; NULL is missing:\n");
  for (int32_t c = 0; c < x->schema->n_columns; c++) {
    const gbt_schema_column *col = &x->schema->col[c];
    if (!w->used[c]) continue;
    const char *unit = gbti_unit_of(col);
    put(w, col->type == GBT_NUMERIC ? "--   number" : "--   text");
    if (unit != NULL) put(w, " (");
    if (unit != NULL) put_in_remark(w, unit);
    put(w, unit != NULL ? "): " : ": ");
    put_remark(w, col->name);
  }
  put(w, "-- The result has their columns, and\n");
  for (int32_t k = 0; k < (x->outputs == NULL ? 1 : x->n_outputs); k++) {
    put(w, "--   ");
    put_output(w, "_score", k);
    put(w, x->outputs != NULL ? ": raw score of " : x->n_outputs > 1 ? " ...: raw scores" : ": raw score");
    put_remark(w, x->outputs == NULL ? "" : x->outputs[k]);
  }
  for (int32_t k = 0; k < x->n_outputs && has_response(x); k++) {
    put(w, "--   ");
    put_output(w, "_response", k);
    put(w, ": ");
    put_remark(w, second                         ? x->classes[1]
                  : x->n_classes == x->n_outputs ? x->classes[k]
                  : x->outputs != NULL           ? x->outputs[k]
                                                 : "response");
  }
  put(w, "-- and others whose names begin with ");
  gbti_sql_name(w, "_, which lead to these.\n", -1);
  if (has_response(x))
    put(w, "-- Responses need EXP(), which SQLite may be built without: then leave them out at the end.\n");
}

/* Columns that a linear leaf reads. */
static gbt_status look_at_leaf(gbti_sql_writer *w, const gbti_out_node *node) {
  const gbti_outgoing *x = w->x;
  if (node->linear == 0) return GBT_OK;
  const gbt_linear_leaf *leaf = &x->linear->leaf[node->linear - 1];
  if (leaf->n_terms > MOST_TERMS)
    return gbti_refuse_for(x, "leaf_model", GBTI_CAN_ALL,
                           "a leaf is linear in %lld columns, and databases take expressions of about %d",
                           (long long)leaf->n_terms, MOST_TERMS);
  w->before = !gbt_linear_of_numbers(x->linear);
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    const int32_t c = gbti_grid_column(x, x->linear->term[leaf->term_beg + k].grid);
    w->used[c] = 1;
    w->bins[c] = w->before > 0;
  }
  return GBT_OK;
}

/* Columns that trees read, how many the query makes of them, and the nodes of the largest tree. */
static gbt_status look_at(gbti_sql_writer *w, uint32_t *most, int64_t *n_used) {
  const gbti_outgoing *x = w->x;
  int finite = 1;
  *most = 1;
  *n_used = 0;
  for (int32_t k = 0; k < x->n_outputs; k++) finite &= x->base[k] - x->base[k] == 0.0;
  for (uint64_t t = 0; t < x->n_trees; t++) {
    if (x->tree[t].n_nodes > *most) *most = x->tree[t].n_nodes;
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) {
      const gbti_out_node *node = &x->tree[t].node[i];
      if (node->left > 0)
        w->used[node->column] = 1;
      else
        finite &= node->number - node->number == 0.0;
      GBT_TRY(look_at_leaf(w, node));
    }
  }
  for (int32_t c = 0; c < x->schema->n_columns; c++) *n_used += w->used[c] + w->bins[c];
  return finite ? GBT_OK : gbti_refuse_for(x, NULL, GBTI_CAN_ALL, "it has scores that are not finite");
}

static gbt_status write_parts(gbti_sql_writer *w) {
  const gbti_outgoing *x = w->x;
  uint32_t most;
  int64_t n_used;
  GBT_TRY(look_at(w, &most, &n_used));
  GBT_TRY(gbt_mem_array(&x->mem, most, sizeof *w->size, &w->size, x->err));
  const uint64_t of_score = x->n_rounds * (uint64_t)x->n_parallel;
  const int64_t n_steps = of_score == 0 ? 1 : (int64_t)((of_score + TREES_PER_STEP - 1) / TREES_PER_STEP);
  if (n_used + (n_steps + 2) * x->n_outputs > MOST_COLUMNS)
    return gbti_refuse_for(x, NULL, GBTI_CAN_ALL, "its query would have %lld columns, and databases take about %d",
                           (long long)(n_used + (n_steps + 2) * x->n_outputs), MOST_COLUMNS);
  put_head(w);
  put_rows(w);
  if (w->before > 0) put_positions(w);
  for (int64_t step = 1; step <= n_steps; step++) put_step(w, step, n_steps);
  if (gbti_sums_at_end(x)) put_ends(w, n_steps);
  put_result(w, w->before + n_steps + gbti_sums_at_end(x));
  return GBT_OK;
}

gbt_status gbti_write_sql(gbti_outgoing *x, gbti_file *out) {
  gbti_sql_writer w = {.x = x, .out = out};
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_zeros(&x->mem, (size_t)x->schema->n_columns, 1, &w.used, x->err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&x->mem, (size_t)x->schema->n_columns, 1, &w.bins, x->err), done);
  GBT_TRY_GOTO(write_parts(&w), done);
  if (x->link == GBTI_LINK_SORTED)
    gbti_tell(x, "the query gives the scores of the levels as they are: predict() sorts those of a row");
  else if (x->link != GBTI_LINK_NONE && !has_response(x))
    gbti_tell(x, "the query gives raw scores only: it has too many classes for probabilities");
done:
  gbt_mem_free(&x->mem, w.used);
  gbt_mem_free(&x->mem, w.bins);
  gbt_mem_free(&x->mem, w.size);
  return status;
}
