/* Checks a file, as its evaluator reads it, against the trees and the model. For every split of every tree a row is led
 * to it, and the split's own value is taken at, next below and next above its threshold, missing, infinite; or levels
 * in and outside of its set, missing and unseen. A row is led to every linear leaf, and the numbers that this is linear
 * in are taken at and next to the borders of bins. Then whole scores of rows whose values are at and next to
 * thresholds. */
#include <string.h>

#include "../base/bits.h"
#include "../base/parallel.h"
#include "../base/rng.h"
#include "decimal.h"
#include "formats.h"

enum { WHOLE_ROWS = 64, TRIES = 8 };
static const double LARGEST_FLOAT = 3.4028234663852886e38;

typedef struct sample {
  gbt_ctx *ctx;
  const gbti_outgoing *x;
  const gbti_evaluator *written;
  const gbt_forest_view *model;
  gbti_thresholds list;
  gbti_cell *row;        /* of all columns */
  double *low, *high;    /* of columns of numbers on the way to a node */
  uint32_t *grid;        /* of each column: 1 + its number among those of linear leaves; 0: none */
  uint32_t *parent;      /* of each node of a tree */
  double *values, *want; /* `width`, and n_outputs */
  char unseen[8];        /* a text that is no level */
  uint64_t seed;
} sample;

static uint32_t draw(sample *s, uint32_t n) {
  s->seed = gbt_mix64(s->seed + 1);
  return n == 0 ? 0 : (uint32_t)((s->seed >> 32) % n);
}

static double next_up(double x) {
  if (x - x != 0.0 && x > 0.0) return x;
  if (x == 0.0) return 5e-324;
  return gbt_from_bits(x > 0.0 ? gbt_bits(x) + 1 : gbt_bits(x) - 1);
}

/* ---- values ---- */

/* At or next below a threshold, and next above it: of the numbers that the format compares. */
static double at_most(const sample *s, double t) {
  return t - t == 0.0 && s->x->format->flags & GBTI_FLOATS ? (double)gbti_at_most_f32(t) : t;
}
static double above(const sample *s, double t) {
  if (t - t != 0.0) return t;
  if (!(s->x->format->flags & GBTI_FLOATS)) return next_up(t);
  const double x = (double)gbti_above_f32(t);
  return x - x == 0.0 || !(s->x->format->flags & GBTI_FINITE) ? x : LARGEST_FLOAT;
}

static gbti_cell number_cell(double x) { return (gbti_cell){x, NULL}; }

/* level: n_levels is missing, -1 unseen. */
static gbti_cell level_cell(const sample *s, int32_t column, int32_t level) {
  const gbt_schema_column *col = &s->x->schema->col[column];
  if (level == col->n_levels) return (gbti_cell){gbt_nan(), NULL};
  if (level < 0) return (gbti_cell){col->type == GBT_ORDINAL ? gbt_nan() : -1.0, s->unseen};
  return (gbti_cell){(double)level, col->levels[level]};
}

static gbti_cell draw_level(sample *s, int32_t column) {
  return level_cell(s, column, (int32_t)draw(s, (uint32_t)s->x->schema->col[column].n_levels + 2) - 1);
}

/* Which numbers are tried at a threshold. */
static gbti_cell number_at(const sample *s, double t, uint32_t which) {
  const int floats = (s->x->format->flags & GBTI_FLOATS) != 0;
  const double most =
      s->x->format->flags & GBTI_FINITE ? LARGEST_FLOAT : gbt_from_bits((uint64_t)0x7ff << 52);
  switch (which) {
  case 0:
    return number_cell(at_most(s, t));
  case 1:
    return number_cell(above(s, t));
  case 2: /* next below */
    return number_cell(floats ? (double)gbti_at_most_f32(-next_up(-at_most(s, t))) : -next_up(-t));
  case 3:
    return number_cell(gbt_nan());
  case 4:
    return number_cell(most);
  case 5:
    return number_cell(-most);
  default:
    return number_cell(which % 2 ? -0.0 : 0.0);
  }
}

static gbti_cell draw_cell(sample *s, int32_t column) {
  const gbti_codes *codes = &s->x->codes[column];
  if (s->x->schema->col[column].type != GBT_NUMERIC) return draw_level(s, column);
  if (s->grid[column] > 0 && draw(s, 2) == 0) {
    const gbt_linear_grid *grid = &s->x->linear->grid[s->grid[column] - 1];
    const uint64_t at = grid->beg + draw(s, (uint32_t)grid->n_bins);
    return number_at(s, s->x->linear->cut[at], draw(s, 7));
  }
  const size_t n = s->list.beg[column + 1] - s->list.beg[column];
  if (codes->n > 0 && draw(s, 8) == 0) return number_cell(codes->value[draw(s, (uint32_t)codes->n)]);
  if (codes->has_range && draw(s, 8) == 0) return number_cell(draw(s, 2) ? codes->low : codes->high);
  const uint64_t key = n == 0 ? gbt_order_key(0.0) : s->list.key[s->list.beg[column] + draw(s, (uint32_t)n)];
  return number_at(s, gbt_order_value(key), draw(s, 7));
}

/* ---- the model's answer ---- */

static double feature_value(const sample *s, int32_t feature, const gbti_cell *row) {
  const gbt_feature *f = &s->x->schema->feat[feature];
  const gbt_schema_column *col = &s->x->schema->col[f->col];
  const gbti_cell *cell = &row[f->col];
  if (col->type != GBT_CATEGORICAL) {
    const int gone = col->type == GBT_NUMERIC && gbti_is_code(s->x, f->col, cell->x);
    return gone ? gbt_nan() : cell->x;
  }
  const int as_missing = cell->x < 0.0 && !(s->x->format->flags & GBTI_CAN_UNSEEN);
  const double x = as_missing ? gbt_nan() : cell->x;
  switch (f->kind) {
  case GBT_FEATURE_COLUMN:
    return x >= GBT_MAX_LEVELS ? gbt_nan() : x;
  case GBT_FEATURE_LEVEL_COUNT:
    return x != x ? x : x < 0.0 ? 0.0 : f->value[(int32_t)x];
  default:
    return x != x ? f->bin[col->n_levels] : x < 0.0 ? f->unknown : f->bin[(int32_t)x];
  }
}

static uint32_t model_leaf(const sample *s, uint64_t source) {
  const gbt_tree *tree = &s->model->trees[source];
  const gbt_node *node = &s->model->nodes[tree->node_beg];
  uint32_t at = 0;
  while (node[at].left > 0) {
    const double x = feature_value(s, (int32_t)(node[at].feat & GBT_NODE_FEATURE), s->row);
    at = node[at].left + !gbt_goes_left(&node[at], x, s->model->sets + tree->set_beg);
  }
  return at;
}

/* The number that a leaf of the model adds to score k of its own. */
static double model_value(const sample *s, uint64_t source, uint32_t leaf, int32_t k) {
  const gbt_linear_view *linear = &s->model->linear;
  const double value = gbt_tree_node(s->model, source, leaf).value[k];
  const uint32_t of = linear->n_leaves > 0 ? linear->of[s->model->trees[source].node_beg + leaf] : 0;
  return gbti_leaf_value(s->x, of, value, s->row, sizeof *s->row);
}

/* ---- trees ---- */

/* Signs of zeros and bits of NaN, which linear leaves have for infinite numbers, are no difference. */
static int same(double a, double b) {
  return gbt_bits(a) == gbt_bits(b) || (a == 0.0 && b == 0.0) || (a != a && b != b);
}

static gbt_status differs(const sample *s, uint64_t tree, const char *what) {
  return gbt_fail(s->x->err, GBT_E_INTERNAL,
                  "the file that was made as \"%s\" is wrong and was not written: tree %llu: %s. Please report this",
                  s->x->format->name, (unsigned long long)tree + 1, what);
}

static gbt_status check_row(const sample *s, uint64_t t) {
  const gbti_out_tree *tree = &s->x->tree[t];
  const gbti_out_node *leaf = gbti_out_leaf(s->x, t, s->row, sizeof *s->row);
  if (tree->source != UINT64_MAX && model_leaf(s, tree->source) != (uint32_t)(leaf - tree->node))
    return differs(s, t, "its trees are not those of the model");
  if (!s->written->tree(s->written->state, t, s->row, s->values)) return differs(s, t, "it cannot be read");
  for (int32_t k = 0; k < s->x->width; k++)
    if (!same(s->values[k], s->x->width > 1
                                ? leaf->values[k]
                                : gbti_leaf_value(s->x, leaf->linear, leaf->number, s->row, sizeof *s->row)))
      return differs(s, t, "a row comes to another leaf");
  return GBT_OK;
}

/* A level, missing or unseen value that goes to a child of a split, where few tries find one. */
static void lead_by_set(sample *s, const gbti_out_node *node, int left) {
  gbti_cell *cell = &s->row[node->column];
  const int32_t n = s->x->schema->col[node->column].n_levels;
  if (gbti_out_left(s->x, node, cell->x) == left) return;
  for (int i = 0; i < TRIES; i++) {
    *cell = draw_level(s, node->column);
    if (gbti_out_left(s->x, node, cell->x) == left) return;
  }
  for (int32_t level = 0; level <= n; level++) {
    *cell = level_cell(s, node->column, level);
    if (gbti_out_left(s->x, node, cell->x) == left) return;
  }
}

/* Sets cells so that the row comes to node i. Where a column's ways contradict one another it goes elsewhere. */
static void lead_to(sample *s, const gbti_out_node *node, uint32_t i) {
  for (uint32_t at = i; at != 0; at = s->parent[at]) {
    const int32_t c = node[s->parent[at]].column;
    s->low[c] = gbt_from_bits((uint64_t)0xfff << 52);
    s->high[c] = -s->low[c];
  }
  for (uint32_t at = i; at != 0; at = s->parent[at]) {
    const gbti_out_node *split = &node[s->parent[at]];
    const int left = at == split->left;
    if (split->by_set)
      lead_by_set(s, split, left);
    else if (left && split->number < s->high[split->column])
      s->high[split->column] = split->number;
    else if (!left && split->number > s->low[split->column])
      s->low[split->column] = split->number;
  }
  for (uint32_t at = i; at != 0; at = s->parent[at]) {
    const gbti_out_node *split = &node[s->parent[at]];
    const int32_t c = split->column;
    if (split->by_set) continue;
    const int has_high = s->high[c] - s->high[c] == 0.0;
    const double x = has_high ? at_most(s, s->high[c]) : above(s, s->low[c]);
    if (s->x->schema->col[c].type == GBT_NUMERIC) {
      s->row[c] = number_cell(x);
      continue;
    }
    const int32_t n = s->x->schema->col[c].n_levels; /* positions: the last one up to high, or the first above low */
    double level = has_high ? s->high[c] : s->low[c] + 1.0;
    level = level < 0.0 ? 0.0 : level > (double)n - 1.0 ? (double)n - 1.0 : level;
    s->row[c] = level_cell(s, c, n == 0 ? 0 : (int32_t)level);
  }
}

/* Numbers on the way to linear leaf i, and next to them, for each that the leaf is linear in. */
static gbt_status check_numbers(sample *s, uint64_t t, uint32_t i) {
  const gbti_out_tree *tree = &s->x->tree[t];
  const gbt_linear_leaf *leaf = &s->x->linear->leaf[tree->node[i].linear - 1];
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    gbti_cell *cell = &s->row[gbti_grid_column(s->x, s->x->linear->term[leaf->term_beg + k].grid)];
    GBT_TRY(gbt_ctx_poll(s->ctx, s->x->err)); /* a leaf of a file may have very many terms */
    lead_to(s, tree->node, i);
    const double x = cell->x - cell->x == 0.0 ? cell->x : 0.5;
    for (uint32_t which = 0; which < TRIES; which++) {
      *cell = number_at(s, x, which);
      GBT_TRY(check_row(s, t));
    }
  }
  return GBT_OK;
}

/* Numbers of each bin that rows of linear leaf i are in, and at its ends. */
static gbt_status check_slopes(sample *s, uint64_t t, uint32_t i) {
  const gbti_out_tree *tree = &s->x->tree[t];
  const gbt_linear_view *linear = s->x->linear;
  const gbt_linear_leaf *leaf = &linear->leaf[tree->node[i].linear - 1];
  if (gbt_linear_of_numbers(linear)) return check_numbers(s, t, i);
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    const uint32_t g = linear->term[leaf->term_beg + k].grid;
    const gbt_linear_grid *grid = &linear->grid[g];
    const double *cut = linear->cut + grid->beg;
    const int32_t c = gbti_grid_column(s->x, g);
    s->low[c] = gbt_from_bits((uint64_t)0xfff << 52);
    s->high[c] = -s->low[c];
    lead_to(s, tree->node, i);
    const int32_t first = gbt_linear_bin(cut, grid->n_bins, s->low[c]);
    const int32_t last = gbt_linear_bin(cut, grid->n_bins, s->high[c]);
    for (uint32_t which = 0; which < 2 * TRIES; which++) {
      const int32_t bin = first + (last > first ? (int32_t)draw(s, (uint32_t)(last - first) + 1) : 0);
      s->row[c] = number_at(s, cut[bin], which % TRIES);
      GBT_TRY(check_row(s, t));
    }
  }
  return GBT_OK;
}

static gbt_status check_tree(sample *s, uint64_t t) {
  const gbti_out_tree *tree = &s->x->tree[t];
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    if (tree->node[i].left > 0) s->parent[tree->node[i].left] = s->parent[tree->node[i].left + 1] = i;
  for (int i = 0; i < 4 && s->x->schema->n_columns > 0; i++) { /* other columns change as trees go by */
    const int32_t c = (int32_t)draw(s, (uint32_t)s->x->schema->n_columns);
    s->row[c] = draw_cell(s, c);
  }
  GBT_TRY(check_row(s, t));
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    const gbti_out_node *node = &tree->node[i];
    if (node->linear > 0) GBT_TRY(check_slopes(s, t, i));
    if (node->left == 0) continue;
    lead_to(s, tree->node, i);
    for (uint32_t which = 0; which < TRIES; which++) {
      gbti_cell *cell = &s->row[node->column];
      const int numbers = s->x->schema->col[node->column].type == GBT_NUMERIC;
      *cell = numbers      ? number_at(s, node->number, which)
              : which == 0 ? level_cell(s, node->column, -1)
              : which == 1 ? level_cell(s, node->column, s->x->schema->col[node->column].n_levels)
                           : draw_level(s, node->column);
      GBT_TRY(check_row(s, t));
    }
  }
  return GBT_OK;
}

/* ---- scores ---- */

/* The model's own: its leaves, and its base scores at their place; rounded where the format rounds. */
static void model_scores(const sample *s, double *sum) {
  const gbti_outgoing *x = s->x;
  const int floats = x->sums.rule == GBT_SUM_FLOAT;
  const int at_end = s->model->sums.rule == GBT_SUM_SCALED || s->model->sums.rule == GBT_SUM_MEAN;
  uint64_t n_rounds = 0;
  for (int32_t k = 0; k < x->n_outputs; k++) {
    sum[k] = at_end ? 0.0 : s->model->base[k];
    if (floats) sum[k] = (double)(float)sum[k];
  }
  for (uint64_t t = 0; t < x->n_trees; t++) {
    const gbti_out_tree *tree = &x->tree[t];
    if (tree->source == UINT64_MAX) continue;
    n_rounds = t / ((uint64_t)x->n_parallel * (uint64_t)(x->width > 1 ? 1 : x->n_outputs)) + 1;
    const uint32_t leaf = model_leaf(s, tree->source);
    for (int32_t k = 0; k < x->width; k++) {
      double *to = &sum[tree->output < 0 ? k : tree->output];
      const double value = model_value(s, tree->source, leaf, tree->from + k);
      *to = floats ? (double)(float)(*to + (double)(float)value) : *to + value;
    }
  }
  for (int32_t k = 0; k < x->n_outputs && at_end; k++) {
    if (s->model->sums.rule == GBT_SUM_MEAN)
      sum[k] = n_rounds > 0 ? sum[k] / (double)n_rounds : sum[k];
    else
      sum[k] = s->model->sums.scale * sum[k];
    sum[k] += s->model->base[k];
    if (floats) sum[k] = (double)(float)sum[k];
  }
}

static gbt_status check_scores(sample *s) {
  for (int32_t c = 0; c < s->x->schema->n_columns; c++) s->row[c] = draw_cell(s, c);
  model_scores(s, s->want);
  if (!s->written->score(s->written->state, s->row, s->values)) return differs(s, s->x->n_trees, "it cannot be read");
  for (int32_t k = 0; k < s->x->n_outputs; k++)
    if (!same(s->values[k], s->want[k])) return differs(s, s->x->n_trees, "the sum of its trees is not the score");
  return GBT_OK;
}

/* ---- the whole ---- */

static gbt_status make_room(sample *s) {
  const gbti_outgoing *x = s->x;
  const size_t n = (size_t)x->schema->n_columns, k = (size_t)x->n_outputs;
  size_t most = 1;
  for (uint64_t t = 0; t < x->n_trees; t++)
    if (x->tree[t].n_nodes > most) most = x->tree[t].n_nodes;
  GBT_TRY(gbti_thresholds_of(x, &s->list));
  GBT_TRY(gbt_mem_zeros(&x->mem, n, sizeof *s->row, &s->row, x->err));
  GBT_TRY(gbt_mem_zeros(&x->mem, n, sizeof *s->low, &s->low, x->err));
  GBT_TRY(gbt_mem_zeros(&x->mem, n, sizeof *s->high, &s->high, x->err));
  GBT_TRY(gbt_mem_zeros(&x->mem, n, sizeof *s->grid, &s->grid, x->err));
  for (uint32_t g = 0; x->linear->n_values > 0 && g < x->linear->n_grids; g++) s->grid[gbti_grid_column(x, g)] = g + 1;
  GBT_TRY(gbt_mem_zeros(&x->mem, most, sizeof *s->parent, &s->parent, x->err));
  GBT_TRY(gbt_mem_zeros(&x->mem, k, sizeof *s->values, &s->values, x->err));
  return gbt_mem_zeros(&x->mem, k, sizeof *s->want, &s->want, x->err);
}

/* A text of so many bytes 1 that no level is it. */
static void find_unseen(sample *s) {
  size_t n = 1;
  for (int32_t c = 0; c < s->x->schema->n_columns; c++)
    for (int32_t level = 0; level < s->x->schema->col[c].n_levels; level++) {
      const char *text = s->x->schema->col[c].levels[level];
      size_t ones = 0;
      while (text[ones] == 1) ones++;
      if (text[ones] == 0 && ones >= n && ones + 2 < sizeof s->unseen) n = ones + 1;
    }
  memset(s->unseen, 1, n);
  s->unseen[n] = 0;
}

gbt_status gbti_compare(gbt_ctx *ctx, const gbti_outgoing *x, const gbti_evaluator *written,
                        const gbt_forest_view *model) {
  sample s = {.ctx = ctx, .x = x, .written = written, .model = model, .seed = 1};
  gbt_status status;
  GBT_TRY_GOTO(make_room(&s), done);
  find_unseen(&s);
  for (int32_t c = 0; c < x->schema->n_columns; c++) s.row[c] = draw_cell(&s, c);
  for (uint64_t t = 0; t < x->n_trees; t++) {
    GBT_TRY_GOTO(gbt_ctx_poll(ctx, x->err), done);
    GBT_TRY_GOTO(check_tree(&s, t), done);
  }
  for (int i = 0; i < WHOLE_ROWS; i++) {
    GBT_TRY_GOTO(gbt_ctx_poll(ctx, x->err), done);
    GBT_TRY_GOTO(check_scores(&s), done);
  }
done:
  gbti_thresholds_drop(x, &s.list);
  void *block[] = {s.row, s.low, s.high, s.grid, s.parent, s.values, s.want};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(&x->mem, block[i]);
  return status;
}
