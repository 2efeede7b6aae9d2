/* Quantile cuts without sorting the column. A grid (grid.h) sums the weight of every cell; only cells that a cut or a
 * heavy value can lie in are resolved, that is, their keys are gathered and sorted.
 *
 *   cells      |  .  |  .  | ### |  .  |  .  | ### | ### |  .  |     ### resolved: a list of runs (value, weight)
 *   light sum  0 ....................... k L / M ........... L
 *
 *   1. fill       one pass: count and weight per cell
 *   2. heavy      cells of weight >= 2 W / B are resolved: now the heavy values are known, and with them L and M
 *   3. light      cells where the cumulative light weight passes a target, and the neighbours whose values the cuts
 *                 need
 *   4. walk       over all resolved cells in order, the weight of the others skipped, sets the cuts
 *
 * The grid only affects speed; cuts follow from exact integer sums. A short column has a grid of two cells, which makes
 * this a plain sort. */
#include <string.h>

#include "../base/sort.h"
#include "../base/bits.h"
#include "cuts_impl.h"
#include "../base/grid.h"

enum {
  GRID_ROWS = 32768, /* shorter columns are sorted as a whole */
  GRID_BITS = 16,
  SAMPLE = 1024, /* values that decide where the grid lies */
  CHUNK = 1 << 18,
  SPLIT_KEYS = 1 << 18 /* larger cells are split before they are sorted: a sort cannot be stopped */
};

/* A cell to resolve. Its keys become runs: distinct values in order. Keys equal to the first one are weighed, not
 * stored, so that a cell of one value, however often it occurs, is one key. */
typedef struct pick {
  uint32_t cell, count;
  uint64_t beg; /* first key or run in the haul */
  uint64_t n_keys, n_runs;
  uint64_t first, extra; /* the first key; weight of those equal to it that are not stored */
  uint64_t light_before; /* light weight of all cells before this one */
  uint64_t heavy;        /* weight of its heavy values */
} pick;

typedef struct haul {
  pick *pick; /* by cell */
  int32_t n_picks;
  uint64_t *key;           /* keys, then runs: values */
  uint64_t *weight;        /* scratch, then runs: weights */
  uint32_t *row, *row_tmp; /* with weights only */
} haul;

typedef struct cells {
  const gbti_cut_input *input;
  const gbt_mem *mem;
  gbt_grid grid;
  uint32_t n, zero; /* zero: the cell of the value 0 */
  uint32_t *count;  /* values per cell */
  uint64_t *weight; /* NULL when rows weigh 1 */
  uint64_t *wanted; /* a bit per cell, for gather */
  uint64_t total;
} cells;

static uint64_t cell_weight(const cells *g, uint32_t cell) {
  if (g->weight != NULL) return g->weight[cell];
  uint64_t absent = g->input->absent_weight;
  return g->count[cell] + (absent != 0 && cell == g->zero ? absent - 1 : 0);
}

static void place_cells(cells *g) {
  const gbti_cut_input *input = g->input;
  int64_t n = input->in.n_entries;
  int32_t m = n >= GRID_ROWS ? SAMPLE : 0;
  double x[SAMPLE], buf;
  for (int32_t i = 0; i < m; i++) x[i] = *gbti_read_entries(&input->in, i * (n / SAMPLE), 1, &buf);
  gbt_grid_place(&g->grid, m > 0 ? GRID_BITS : 1, x, m);
  g->n = 2 * g->grid.half;
  g->zero = gbt_grid_cell(&g->grid, 0.0);
}

static gbt_status fill_cells(cells *g, gbt_error *err) {
  gbti_stream s;
  gbti_stream_open(&s, g->input);
  while (gbti_stream_next(&s)) {
    if (g->weight == NULL) {
      for (int32_t i = 0; i < s.n; i++) g->count[gbt_grid_cell(&g->grid, s.x[i])]++;
      continue;
    }
    for (int32_t i = 0; i < s.n; i++) {
      uint32_t cell = gbt_grid_cell(&g->grid, s.x[i]);
      g->count[cell]++;
      g->weight[cell] += gbti_row_weight(g->input, s.row[i]);
    }
  }
  GBT_TRY(gbti_stream_end(&s, err));
  g->total = 0;
  for (uint32_t c = 0; c < g->n; c++) g->total += cell_weight(g, c);
  return GBT_OK;
}

/* Called where work is large only when a column is very long or strange. */
static gbt_status ask(const gbti_cut_input *input, gbt_error *err) {
  return gbti_job_stopped(input->job, input->thread) ? gbt_fail(err, GBT_CANCELLED, "stopped on request") : GBT_OK;
}

/* Sorts n keys (and rows). Large ones are dealt out by their leading digit first, in steps that can be stopped. */
gbt_status gbti_sort_keys(const gbti_cut_input *input, uint64_t *key, uint32_t *row, uint64_t n, uint64_t *tmp,
                          uint32_t *row_tmp, gbt_error *err) {
  enum { BITS = 8 };
  if (n <= SPLIT_KEYS) {
    gbt_sort_u64(key, row, (size_t)n, tmp, row_tmp);
    return GBT_OK;
  }
  uint64_t low = UINT64_MAX, high = 0, end[1 << BITS] = {0};
  for (uint64_t i = 0; i < n; i++) {
    low = key[i] < low ? key[i] : low;
    high = key[i] > high ? key[i] : high;
  }
  if (low == high) return GBT_OK;
  int length = gbt_bit_length(high - low), shift = length > BITS ? length - BITS : 0;
  GBT_TRY(ask(input, err));
  for (uint64_t i = 0; i < n; i++) end[(key[i] - low) >> shift]++;
  for (uint64_t d = 0, sum = 0; d < 1 << BITS; d++) {
    uint64_t count = end[d];
    end[d] = sum;
    sum += count;
  }
  for (uint64_t i = 0; i < n; i++) {
    uint64_t to = end[(key[i] - low) >> shift]++;
    tmp[to] = key[i];
    if (row != NULL) row_tmp[to] = row[i];
    if (i % CHUNK == 0) GBT_TRY(ask(input, err));
  }
  memcpy(key, tmp, n * sizeof *key);
  if (row != NULL) memcpy(row, row_tmp, n * sizeof *row);
  for (uint64_t d = 0, beg = 0; d < 1 << BITS; beg = end[d++]) {
    GBT_TRY(ask(input, err));
    GBT_TRY(gbti_sort_keys(input, key + beg, row ? row + beg : NULL, end[d] - beg, tmp + beg,
                           row ? row_tmp + beg : NULL, err));
  }
  return GBT_OK;
}

static void add_weight(haul *h, const pick *p, uint64_t key, uint64_t weight) {
  for (uint64_t r = p->beg; r < p->beg + p->n_runs; r++)
    if (h->key[r] == key) h->weight[r] += weight;
}

/* Sorted keys of a pick to runs, in place. */
static gbt_status make_runs(const cells *g, haul *h, pick *p, gbt_error *err) {
  uint64_t *key = h->key + p->beg, *weight = h->weight + p->beg, n = 0;
  const uint32_t *row = h->row != NULL ? h->row + p->beg : NULL;
  for (uint64_t i = 0; i < p->n_keys; i++) {
    uint64_t w = row != NULL ? gbti_row_weight(g->input, row[i]) : 1;
    if (n > 0 && key[n - 1] == key[i]) {
      weight[n - 1] += w;
    } else {
      key[n] = key[i]; /* n <= i: nothing unread is overwritten */
      weight[n++] = w;
    }
    if (i % CHUNK == CHUNK - 1) GBT_TRY(ask(g->input, err));
  }
  p->n_runs = n;
  if (p->extra > 0) add_weight(h, p, p->first, p->extra);
  uint64_t absent = g->input->absent_weight; /* counted like one row so far, where rows weigh 1 */
  if (g->weight == NULL && absent > 1 && p->cell == g->zero) add_weight(h, p, gbt_order_key(0.0), absent - 1);
  return GBT_OK;
}

/* A value that is met again and again and is the first of its pick: the 0 of a column that is 0 nearly everywhere. */
typedef struct common {
  double x;
  pick *of; /* NULL: none */
} common;

static int32_t is_wanted(const cells *g, double x) {
  uint32_t cell = gbt_grid_cell(&g->grid, x);
  return (int32_t)((g->wanted[cell >> 6] >> (cell & 63)) & 1);
}

/* Which numbers of a block lie in wanted cells: their indices, without those equal to the common one, which are added
 * to its pick. Branch-free, as a branch would be unpredictable. */
static int32_t find_wanted(const cells *g, const gbti_stream *s, const common *c, int32_t *index) {
  int32_t n = 0, m = 0;
  if (c->of == NULL) {
    for (int32_t i = 0; i < s->n; i++) {
      index[n] = i;
      n += is_wanted(g, s->x[i]);
    }
    return n;
  }
  for (int32_t i = 0; i < s->n; i++) {
    index[n] = i;
    n += !(s->x[i] == c->x);
  }
  c->of->extra += (uint64_t)(s->n - n);
  for (int32_t k = 0; k < n; k++) {
    int32_t i = index[k];
    index[m] = i;
    m += is_wanted(g, s->x[i]);
  }
  return m;
}

/* Keys of the wanted cells to their picks. While it runs, count[cell] is the number of the cell's pick. */
static gbt_status gather(cells *g, haul *h, gbt_error *err) {
  gbti_stream s;
  int32_t index[GBTI_BLOCK];
  common c = {0.0, NULL}, last = c;
  gbti_stream_open(&s, g->input);
  while (gbti_stream_next(&s)) {
    int32_t n = find_wanted(g, &s, &c, index), n_same = 0;
    for (int32_t k = 0; k < n; k++) {
      int32_t i = index[k];
      pick *p = &h->pick[g->count[gbt_grid_cell(&g->grid, s.x[i])]];
      uint64_t key = gbt_order_key(s.x[i]);
      if (p->n_keys == 0) {
        p->first = key;
      } else if (p->first == key) {
        p->extra += h->row != NULL ? gbti_row_weight(g->input, s.row[i]) : 1;
        last = (common){s.x[i], p};
        n_same++;
        continue;
      }
      uint64_t to = p->beg + p->n_keys++;
      h->key[to] = key;
      if (h->row != NULL) h->row[to] = s.row[i];
    }
    if (h->row == NULL && 2 * n_same > s.n) c = last;
  }
  return gbti_stream_end(&s, err);
}

/* Resolves the haul's picks. */
static gbt_status resolve(cells *g, haul *h, gbt_error *err) {
  const gbti_cut_input *input = g->input;
  uint64_t n = 0;
  for (int32_t i = 0; i < h->n_picks; i++) {
    h->pick[i].beg = n;
    n += h->pick[i].count;
  }
  GBT_TRY(gbt_mem_array(g->mem, (size_t)n, sizeof *h->key, &h->key, err));
  GBT_TRY(gbt_mem_array(g->mem, (size_t)n, sizeof *h->weight, &h->weight, err));
  if (g->weight != NULL) {
    GBT_TRY(gbt_mem_array(g->mem, (size_t)n, sizeof *h->row, &h->row, err));
    GBT_TRY(gbt_mem_array(g->mem, (size_t)n, sizeof *h->row_tmp, &h->row_tmp, err));
  }
  for (int32_t i = 0; i < h->n_picks; i++) {
    uint32_t cell = h->pick[i].cell;
    g->wanted[cell >> 6] |= (uint64_t)1 << (cell & 63);
    g->count[cell] = (uint32_t)i;
  }
  gbt_status status = n > 0 ? gather(g, h, err) : GBT_OK;
  for (int32_t i = 0; i < h->n_picks; i++) {
    uint32_t cell = h->pick[i].cell;
    g->wanted[cell >> 6] = 0;
    g->count[cell] = h->pick[i].count;
  }
  for (int32_t i = 0; i < h->n_picks && status == GBT_OK; i++) {
    pick *p = &h->pick[i];
    uint32_t *row = h->row ? h->row + p->beg : NULL, *row_tmp = h->row ? h->row_tmp + p->beg : NULL;
    status = gbti_sort_keys(input, h->key + p->beg, row, p->n_keys, h->weight + p->beg, row_tmp, err);
    if (status == GBT_OK) status = make_runs(g, h, p, err);
    if (status == GBT_OK && i % 64 == 63) status = ask(input, err);
  }
  gbt_mem_free(g->mem, h->row);
  gbt_mem_free(g->mem, h->row_tmp);
  h->row = h->row_tmp = NULL;
  return status;
}

static void haul_free(const gbt_mem *mem, haul *h) {
  gbt_mem_free(mem, h->pick);
  gbt_mem_free(mem, h->key);
  gbt_mem_free(mem, h->weight);
  gbt_mem_free(mem, h->row);
  gbt_mem_free(mem, h->row_tmp);
}

static gbt_status find_heavy(cells *g, gbti_aim *a, uint64_t max_bin, haul *h, gbt_error *err) {
  uint64_t heavy = 0, n_heavy = 0;
  a->least_heavy = gbti_heavy_threshold(g->total, max_bin);
  GBT_TRY(gbt_mem_array(g->mem, (size_t)max_bin / 2 + 1, sizeof *h->pick, &h->pick, err));
  for (uint32_t c = 0; c < g->n; c++) {
    if (cell_weight(g, c) < a->least_heavy) continue;
    pick p = {.cell = c, .count = g->count[c]};
    h->pick[h->n_picks++] = p;
  }
  GBT_TRY(resolve(g, h, err));
  for (int32_t i = 0; i < h->n_picks; i++) {
    pick *p = &h->pick[i];
    for (uint64_t r = p->beg; r < p->beg + p->n_runs; r++) {
      if (h->weight[r] < a->least_heavy) continue;
      p->heavy += h->weight[r];
      n_heavy++;
    }
    heavy += p->heavy;
  }
  *a = gbti_aim_of(g->total, max_bin, heavy, n_heavy);
  return GBT_OK;
}

/* Notes cell c, unless it is the last one noted. */
static void note(haul *h, const cells *g, uint32_t c, uint64_t light_before) {
  if (h->n_picks > 0 && h->pick[h->n_picks - 1].cell == c) return;
  pick p = {.cell = c, .count = g->count[c], .light_before = light_before};
  h->pick[h->n_picks++] = p;
}

/* Finds the cells that the cuts need and that are not resolved yet. */
static gbt_status find_light(cells *g, const gbti_aim *a, haul *done, haul *h, gbt_error *err) {
  uint64_t light = 0, k = 1, prev_before = 0;
  int32_t next_done = 0;
  int need_next = 0, prev_open = 0; /* prev_open: the cell before holds something and is not resolved */
  uint32_t prev = 0;
  size_t most = 2 * (size_t)a->n_bins + 2 * (size_t)done->n_picks + 2;
  if (most > g->n) most = g->n;
  GBT_TRY(gbt_mem_array(g->mem, most, sizeof *h->pick, &h->pick, err));
  for (uint32_t c = 0; c < g->n; c++) {
    if (g->count[c] == 0) continue;
    pick *d = next_done < done->n_picks && done->pick[next_done].cell == c ? &done->pick[next_done++] : NULL;
    uint64_t before = light;
    light += cell_weight(g, c) - (d != NULL ? d->heavy : 0);
    int hit = 0;
    for (; k < a->n_bins && gbti_light_target(a, k) <= light; k++) hit = 1;
    if (d != NULL) {
      d->light_before = before;
      if (d->heavy > 0 && prev_open) note(h, g, prev, prev_before);
    } else if (hit || need_next) {
      note(h, g, c, before);
    }
    need_next = hit || (d != NULL && d->heavy > 0);
    prev_open = d == NULL;
    prev = c;
    prev_before = before;
  }
  return resolve(g, h, err);
}

/* The walk. The cut after a value is made when the next value is known. */
typedef struct walk {
  const gbti_aim *aim;
  double *cut;
  int32_t n_cuts;
  uint64_t light, k; /* cumulative light weight; next target */
  uint64_t last;     /* the value before */
  int has_last, due;
} walk;

static gbt_status walk_runs(walk *w, const gbti_cut_input *input, const haul *h, const pick *p, gbt_error *err) {
  if (p->light_before != w->light) { /* cells in between were not resolved */
    GBT_ASSERT(!w->due && p->light_before > w->light);
    w->light = p->light_before;
    w->has_last = 0;
  }
  for (uint64_t r = p->beg; r < p->beg + p->n_runs; r++) {
    int heavy = h->weight[r] >= w->aim->least_heavy;
    if (w->has_last && (w->due || heavy)) w->cut[w->n_cuts++] = gbti_cut_between(w->last, h->key[r]);
    w->due = heavy;
    if (!heavy) {
      w->light += h->weight[r];
      for (; w->k < w->aim->n_bins && gbti_light_target(w->aim, w->k) <= w->light; w->k++) w->due = 1;
    }
    w->last = h->key[r];
    w->has_last = 1;
    if (r % CHUNK == CHUNK - 1) GBT_TRY(ask(input, err));
  }
  return GBT_OK;
}

static gbt_status walk_all(const gbti_cut_input *input, const gbti_aim *a, const haul *heavy, const haul *light,
                           double *cut, int32_t *n_cuts, gbt_error *err) {
  walk w = {.aim = a, .cut = cut, .k = 1};
  int32_t i = 0, j = 0;
  while (i < heavy->n_picks || j < light->n_picks) {
    int first = j == light->n_picks || (i < heavy->n_picks && heavy->pick[i].cell < light->pick[j].cell);
    const haul *from = first ? heavy : light;
    GBT_TRY(walk_runs(&w, input, from, &from->pick[first ? i++ : j++], err));
  }
  *n_cuts = w.n_cuts;
  return GBT_OK;
}

gbt_status gbti_quantile_cuts(const gbti_cut_input *input, int32_t max_bin, double *cut, int32_t *n_cuts,
                              gbt_error *err) {
  gbt_status status = GBT_OK;
  cells g = {.input = input, .mem = &input->job->ctx->mem};
  haul heavy = {0}, light = {0};
  gbti_aim a;
  place_cells(&g);
  GBT_TRY_GOTO(gbt_mem_zeros(g.mem, g.n, sizeof *g.count, &g.count, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(g.mem, g.n / 64 + 1, sizeof *g.wanted, &g.wanted, err), done);
  if (input->weight != NULL) GBT_TRY_GOTO(gbt_mem_zeros(g.mem, g.n, sizeof *g.weight, &g.weight, err), done);
  GBT_TRY_GOTO(fill_cells(&g, err), done);
  GBT_TRY_GOTO(find_heavy(&g, &a, (uint64_t)max_bin, &heavy, err), done);
  GBT_TRY_GOTO(find_light(&g, &a, &heavy, &light, err), done);
  GBT_TRY_GOTO(walk_all(input, &a, &heavy, &light, cut, n_cuts, err), done);
done:
  haul_free(g.mem, &heavy);
  haul_free(g.mem, &light);
  gbt_mem_free(g.mem, g.count);
  gbt_mem_free(g.mem, g.weight);
  gbt_mem_free(g.mem, g.wanted);
  return status;
}
