/* Cuts of columns whose values lie on several ranks, without gathering the values. All ranks look at the same cells,
 * which are ranges of keys, and make them smaller until each holds one value:
 *
 *   look     the lowest and the highest key in each open cell, over all ranks
 *   count    each open cell in parts of equal width: the weight of each part, over all ranks
 *   choose   the parts that are wanted become the cells
 *
 *   keys     |    .  . ..   :.:     .  |          cell            low == high: one value, low < high: open
 *            |____|____|____|____|____|           its parts
 *
 * Which parts are wanted depends on the stage of the column:
 *
 *   WHOLE   one cell, the whole column. Its parts are kept: FEW, HEAVY and LIGHT begin with them
 *   FEW     parts with a value. Up to max_bin cells of one value: that is all. More: HEAVY
 *   HEAVY   parts that weigh as much as a heavy value
 *   LIGHT   parts where the sum of light weights passes a target
 *   NEXT    the values after (for heavy ones also before) those that were found: cells that are looked at only
 *
 * A rank sends 16 bytes a cell and 8 a part, at most max_bin cells and PARTS parts (or LEAST_PARTS for each cell) in a
 * round, whatever the number of rows and ranks. Each round makes the cells at least LEAST_PARTS times narrower, so a
 * stage has 22 rounds at most; most columns have 7 in all. All columns of a call share the rounds. */
#include <math.h>
#include <string.h>

#include "../base/sort.h"
#include "cuts_impl.h"

enum { PARTS = 1024, LEAST_PARTS = 8, ASK = 1024 };

typedef enum stage { WHOLE, FEW, HEAVY, LIGHT, NEXT, DONE } stage;

typedef struct cell {
  uint64_t low, high; /* keys; low > high: no value */
  uint64_t weight;    /* of light values where the stage is LIGHT */
  uint64_t before;    /* LIGHT: the light weight before the cell; NEXT: the value whose neighbour is looked for */
} cell;

typedef struct column {
  const gbti_runs *runs;
  stage stage;
  int32_t n, n_next, n_heavy;
  cell *cell, *next; /* `room` each, ascending; next: those of the next round */
  cell *heavy;       /* n_heavy */
  cell whole;
  uint64_t *whole_part; /* weights of the parts of the whole */
  gbti_aim aim;
  int64_t most_values; /* distinct values on the rank with the most */
  int many;            /* more values than max_bin */
  int counts;          /* its open cells have been looked at and will be counted */
  size_t at;           /* its first number in the round's array */
} column;

typedef struct refine {
  gbti_job *job;
  column *col;
  int32_t n_cols, max_bin, room;
  int64_t *number; /* of the round */
  size_t n_numbers, n_room;
} refine;

static int is_open(const cell *c) { return c->low < c->high; }

static int32_t n_open(const column *c) {
  int32_t n = 0;
  for (int32_t i = 0; c->stage != DONE && i < c->n; i++) n += is_open(&c->cell[i]);
  return n;
}

/* ---- parts ---- */

/* Into how many parts each of n open cells is cut, at most. */
static uint64_t most_parts(const column *c, int32_t n) {
  int64_t parts = c->most_values < PARTS / 4 ? 4 * c->most_values : PARTS;
  GBT_ASSERT(n > 0);
  parts /= n;
  return parts < LEAST_PARTS ? LEAST_PARTS : (uint64_t)parts;
}

static uint64_t part_width(const cell *c, uint64_t parts) {
  GBT_ASSERT(parts > 1 && c->low <= c->high);
  return (c->high - c->low) / parts + 1;
}

/* How many parts of this width there are: at most what part_width() was asked for. */
static uint64_t n_parts(const cell *c, uint64_t width) {
  GBT_ASSERT(width > 0);
  return (c->high - c->low) / width + 1;
}

static uint64_t part_low(const cell *c, uint64_t width, uint64_t part) { return c->low + part * width; }

static uint64_t part_high(const cell *c, uint64_t width, uint64_t part) {
  const uint64_t low = part_low(c, width, part);
  return c->high - low < width ? c->high : low + (width - 1);
}

/* ---- values of this rank ---- */

/* The first run from `beg` on with a key above `key`. */
static int64_t end_of(const gbti_runs *runs, int64_t beg, uint64_t key) {
  int64_t end = runs->n;
  while (beg < end) {
    int64_t mid = beg + (end - beg) / 2;
    if (runs->key[mid] > key)
      end = mid;
    else
      beg = mid + 1;
  }
  return beg;
}

static uint64_t weight_before(const gbti_runs *runs, int64_t run) { return run > 0 ? runs->upto[run - 1] : 0; }

/* Keys as signed numbers of the same order. */
static int64_t to_signed(uint64_t key) { return (int64_t)(key ^ (uint64_t)1 << 63); }
static uint64_t to_key(int64_t number) { return (uint64_t)number ^ (uint64_t)1 << 63; }

/* Numbers of a look: for maxima. A cell without a value here has key 0, which no value has. */
static void look_task(void *arg, int64_t i, int thread) {
  const refine *r = arg;
  const column *c = &r->col[i];
  const gbti_runs *runs = c->runs;
  int64_t *to = r->number + c->at;
  if (c->stage == DONE) return;
  for (int32_t k = 0; k < c->n; k++) {
    const cell *at = &c->cell[k];
    if (!is_open(at)) continue;
    if (k % ASK == 0 && gbti_job_stopped(r->job, thread)) return;
    const int64_t beg = at->low > 0 ? end_of(runs, 0, at->low - 1) : 0, end = end_of(runs, beg, at->high);
    *to++ = to_signed(beg < end ? runs->key[end - 1] : 0);
    *to++ = to_signed(beg < end ? ~runs->key[beg] : 0);
  }
  if (c->stage == WHOLE) *to = runs->n;
}

/* Numbers of a count: for sums. */
static void count_task(void *arg, int64_t i, int thread) {
  const refine *r = arg;
  const column *c = &r->col[i];
  int64_t *to = r->number + c->at;
  if (!c->counts) return;
  const uint64_t parts = most_parts(c, n_open(c));
  for (int32_t k = 0; k < c->n; k++) {
    const cell *at = &c->cell[k];
    if (!is_open(at)) continue;
    if (k % ASK == 0 && gbti_job_stopped(r->job, thread)) return;
    const uint64_t width = part_width(at, parts), n = n_parts(at, width);
    int64_t run = end_of(c->runs, 0, at->low - 1); /* the low of a cell that was looked at is a key, so above 0 */
    uint64_t before = weight_before(c->runs, run);
    for (uint64_t p = 0; p < n; p++) {
      run = end_of(c->runs, run, part_high(at, width, p));
      const uint64_t upto = weight_before(c->runs, run);
      *to++ = (int64_t)(upto - before);
      before = upto;
    }
  }
}

/* ---- choosing ---- */

static void keep(column *c, cell one, int32_t room) {
  if (c->n_next < room) c->next[c->n_next] = one;
  c->n_next++;
}

/* Where a walk over the cells of a column is: its next heavy value, its next target. */
typedef struct cursor {
  int32_t heavy;
  uint64_t target;
} cursor;

/* The weight of the light values of a part that weighs `weight`. */
static uint64_t light_weight(const column *c, const cell *part, uint64_t weight, cursor *at) {
  for (; at->heavy < c->n_heavy && c->heavy[at->heavy].low <= part->high; at->heavy++)
    if (c->heavy[at->heavy].low >= part->low) weight -= c->heavy[at->heavy].weight;
  return weight;
}

/* Whether a target lies in a cell. */
static int passes_target(const column *c, const cell *in, cursor *at) {
  const uint64_t upto = in->before + in->weight;
  int hit = 0;
  for (; at->target < c->aim.n_bins && gbti_light_target(&c->aim, at->target) <= upto; at->target++) hit = 1;
  return hit;
}

static int is_wanted(const column *c, const cell *part, cursor *at) {
  if (c->stage == LIGHT) return passes_target(c, part, at);
  return c->stage == HEAVY ? part->weight >= c->aim.least_heavy : part->weight > 0;
}

/* The parts of a cell that are wanted. */
static void choose_parts(const refine *r, column *c, const cell *from, uint64_t width, const uint64_t *weight,
                         cursor *at) {
  const uint64_t n = n_parts(from, width);
  uint64_t before = from->before;
  for (uint64_t p = 0; p < n; p++) {
    cell part = {part_low(from, width, p), part_high(from, width, p), weight[p], before};
    if (c->stage == LIGHT) part.weight = light_weight(c, &part, weight[p], at);
    if (is_wanted(c, &part, at)) keep(c, part, r->room);
    before += part.weight;
  }
}

static void take_next(column *c) {
  cell *cells = c->cell;
  c->cell = c->next;
  c->n = c->n_next;
  c->next = cells;
  c->n_next = 0;
}

static void begin_next(const refine *r, column *c);

/* The first cells of a stage, from the parts of the whole column. */
static void begin(const refine *r, column *c, stage s) {
  cursor at = {0, 1};
  c->stage = s;
  choose_parts(r, c, &c->whole, part_width(&c->whole, most_parts(c, 1)), c->whole_part, &at);
  take_next(c);
}

/* When no cell is open any more: the next stage that has something to look at. */
static void go_on(const refine *r, column *c) {
  while (n_open(c) == 0 && c->stage != DONE) {
    switch (c->stage) {
    case HEAVY: {
      uint64_t heavy = 0;
      for (int32_t i = 0; i < c->n; i++) heavy += c->cell[i].weight;
      memcpy(c->heavy, c->cell, (size_t)c->n * sizeof *c->heavy);
      c->n_heavy = c->n;
      c->aim = gbti_aim_of(c->whole.weight, (uint64_t)r->max_bin, heavy, (uint64_t)c->n);
      begin(r, c, LIGHT);
      break;
    }
    case LIGHT:
      begin_next(r, c);
      break;
    case WHOLE:
    case FEW:
    case NEXT:
    case DONE:
      c->stage = DONE;
      break;
    }
  }
}

/* The cells where the neighbours of the values found lie: of light ones after them, of heavy ones on both sides. */
static void begin_next(const refine *r, column *c) {
  c->stage = NEXT;
  for (int32_t i = 0; i < c->n; i++)
    keep(c, (cell){c->cell[i].low + 1, UINT64_MAX, 0, c->cell[i].low}, r->room);
  for (int32_t i = 0; i < c->n_heavy; i++) {
    const uint64_t value = c->heavy[i].low;
    keep(c, (cell){value + 1, UINT64_MAX, 0, value}, r->room);
    keep(c, (cell){0, value - 1, 0, value}, r->room);
  }
  GBT_ASSERT(c->n_next < r->max_bin);
  take_next(c);
}

static void begin_heavy(const refine *r, column *c) {
  c->aim.least_heavy = gbti_heavy_threshold(c->whole.weight, (uint64_t)r->max_bin);
  begin(r, c, HEAVY);
  go_on(r, c);
}

/* After a look. */
static void learn_task(void *arg, int64_t i, int thread) {
  const refine *r = arg;
  column *c = &r->col[i];
  const int64_t *from = r->number + c->at;
  (void)thread;
  c->counts = 0;
  if (c->stage == DONE) return;
  for (int32_t k = 0; k < c->n; k++) {
    cell *at = &c->cell[k];
    if (!is_open(at)) continue;
    at->high = to_key(*from++);
    at->low = ~to_key(*from++);
  }
  if (c->stage == WHOLE) c->most_values = *from;
  if (c->stage == NEXT) {
    c->stage = DONE;
    return;
  }
  c->counts = n_open(c) > 0;
  go_on(r, c);
}

/* The weights of the parts of the whole column. */
static void keep_whole(column *c, const uint64_t *weight) {
  c->whole = c->cell[0];
  const uint64_t n = n_parts(&c->whole, part_width(&c->whole, most_parts(c, 1)));
  for (uint64_t p = 0; p < n; p++) c->whole.weight += c->whole_part[p] = weight[p];
  c->stage = FEW;
}

/* After a count. */
static void choose_task(void *arg, int64_t i, int thread) {
  const refine *r = arg;
  column *c = &r->col[i];
  const uint64_t *weight = (const uint64_t *)(r->number + c->at);
  cursor at = {0, 1};
  (void)thread;
  if (!c->counts) return;
  const uint64_t parts = most_parts(c, n_open(c));
  if (c->stage == WHOLE) keep_whole(c, weight);
  for (int32_t k = 0; k < c->n; k++) {
    const cell *from = &c->cell[k];
    if (!is_open(from)) {
      if (c->stage == LIGHT) (void)passes_target(c, from, &at);
      keep(c, *from, r->room);
      continue;
    }
    const uint64_t width = part_width(from, parts);
    choose_parts(r, c, from, width, weight, &at);
    weight += n_parts(from, width);
  }
  const int many = c->stage == FEW && (c->most_values > r->max_bin || c->n_next > r->max_bin);
  if (many) c->n_next = 0, c->many = 1;
  c->counts = 0;
  take_next(c);
  if (many)
    begin_heavy(r, c);
  else
    go_on(r, c);
}

/* ---- rounds ---- */

static gbt_status make_room(refine *r, gbt_error *err) {
  const gbt_mem *mem = &r->job->ctx->mem;
  if (r->n_numbers <= r->n_room) return GBT_OK;
  gbt_mem_free(mem, r->number);
  r->n_room = 0;
  r->number = NULL;
  GBT_TRY(gbt_mem_array(mem, r->n_numbers, sizeof *r->number, &r->number, err));
  r->n_room = r->n_numbers;
  return GBT_OK;
}

/* *any: there is something to look at. */
static gbt_status look(gbt_ctx *ctx, refine *r, int *any, gbt_error *err) {
  r->n_numbers = 0;
  for (int32_t i = 0; i < r->n_cols; i++) {
    column *c = &r->col[i];
    c->at = r->n_numbers;
    r->n_numbers += 2 * (size_t)n_open(c) + (c->stage == WHOLE);
  }
  *any = r->n_numbers > 0;
  if (!*any) return GBT_OK;
  GBT_TRY(make_room(r, err));
  GBT_TRY(gbti_job_run(r->job, r->n_cols, look_task, r, err));
  GBT_TRY(gbt_comm_max_i64(ctx, r->number, r->n_numbers, err));
  return gbti_job_run(r->job, r->n_cols, learn_task, r, err);
}

static gbt_status count(gbt_ctx *ctx, refine *r, gbt_error *err) {
  r->n_numbers = 0;
  for (int32_t i = 0; i < r->n_cols; i++) {
    column *c = &r->col[i];
    c->at = r->n_numbers;
    if (!c->counts) continue;
    const uint64_t parts = most_parts(c, n_open(c));
    for (int32_t k = 0; k < c->n; k++)
      if (is_open(&c->cell[k])) r->n_numbers += n_parts(&c->cell[k], part_width(&c->cell[k], parts));
  }
  if (r->n_numbers == 0) return GBT_OK;
  GBT_TRY(make_room(r, err));
  GBT_TRY(gbti_job_run(r->job, r->n_cols, count_task, r, err));
  GBT_TRY(gbt_comm_sum_i64(ctx, r->number, r->n_numbers, err));
  return gbti_job_run(r->job, r->n_cols, choose_task, r, err);
}

/* ---- cuts ---- */

/* The cuts between values that are neighbours, as keys, ascending. Returns how many there are. */
static int32_t list_cuts(const column *c, uint64_t *key, uint64_t *tmp) {
  int32_t n = 0, m = 0;
  if (c->aim.n_bins == 0) { /* few: the cells are the values */
    for (int32_t i = 0; i + 1 < c->n; i++)
      key[n++] = gbt_order_key(gbti_cut_between(c->cell[i].low, c->cell[i + 1].low));
    return n;
  }
  for (int32_t i = 0; i < c->n; i++) {
    const cell *at = &c->cell[i];
    if (at->low > at->high) continue; /* no value on this side */
    const double cut = at->low > at->before ? gbti_cut_between(at->before, at->low)
                                            : gbti_cut_between(at->high, at->before);
    key[n++] = gbt_order_key(cut);
  }
  gbt_sort_u64(key, NULL, (size_t)n, tmp, NULL);
  for (int32_t i = 0; i < n; i++)
    if (m == 0 || key[i] != key[m - 1]) key[m++] = key[i];
  return m;
}

static gbt_status make_cuts(const gbt_mem *mem, const column *c, uint64_t *key, uint64_t *tmp, double **out,
                            int32_t *n_bins, gbt_error *err) {
  const int32_t n = list_cuts(c, key, tmp);
  GBT_TRY(gbt_mem_array(mem, (size_t)n + 1, sizeof **out, out, err));
  for (int32_t i = 0; i < n; i++) (*out)[i] = gbt_order_value(key[i]);
  (*out)[n] = (double)INFINITY;
  *n_bins = n + 1;
  return GBT_OK;
}

static gbt_status open_columns(const gbt_mem *mem, refine *r, const gbti_runs *runs, gbt_error *err) {
  GBT_TRY(gbt_mem_zeros(mem, (size_t)r->n_cols, sizeof *r->col, &r->col, err));
  for (int32_t i = 0; i < r->n_cols; i++) {
    column *c = &r->col[i];
    c->runs = &runs[i];
    GBT_TRY(gbt_mem_array(mem, (size_t)r->room, sizeof *c->cell, &c->cell, err));
    GBT_TRY(gbt_mem_array(mem, (size_t)r->room, sizeof *c->next, &c->next, err));
    GBT_TRY(gbt_mem_array(mem, (size_t)r->max_bin / 2 + 1, sizeof *c->heavy, &c->heavy, err));
    GBT_TRY(gbt_mem_array(mem, PARTS, sizeof *c->whole_part, &c->whole_part, err));
    c->cell[c->n++] = (cell){0, UINT64_MAX, 0, 0};
  }
  return GBT_OK;
}

static void close_columns(const gbt_mem *mem, refine *r) {
  for (int32_t i = 0; r->col != NULL && i < r->n_cols; i++) {
    gbt_mem_free(mem, r->col[i].cell);
    gbt_mem_free(mem, r->col[i].next);
    gbt_mem_free(mem, r->col[i].heavy);
    gbt_mem_free(mem, r->col[i].whole_part);
  }
  gbt_mem_free(mem, r->col);
  gbt_mem_free(mem, r->number);
}

size_t gbti_refine_bytes(int32_t max_bin) {
  const size_t room = (size_t)max_bin + 1;
  return room * (3 * sizeof(cell) + LEAST_PARTS * sizeof(int64_t)) + 2 * PARTS * sizeof(int64_t);
}

gbt_status gbti_runs_cut(gbti_job *job, const gbti_runs *runs, int32_t n, int32_t max_bin, int exact,
                         double **cut, int32_t *n_bins, gbt_error *err) {
  gbt_ctx *ctx = job->ctx;
  const gbt_mem *mem = &ctx->mem;
  gbt_status status = GBT_OK;
  refine r = {.job = job, .n_cols = n, .max_bin = max_bin, .room = max_bin + 1};
  uint64_t *key = NULL, *tmp = NULL;
  int any = n > 0;
  GBT_TRY_GOTO(open_columns(mem, &r, runs, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)r.room, sizeof *key, &key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)r.room, sizeof *tmp, &tmp, err), done);
  while (any) {
    GBT_TRY_GOTO(look(ctx, &r, &any, err), done);
    GBT_TRY_GOTO(count(ctx, &r, err), done);
  }
  for (int32_t i = 0; i < n; i++) {
    n_bins[i] = 0;
    if (!exact || !r.col[i].many) GBT_TRY_GOTO(make_cuts(mem, &r.col[i], key, tmp, &cut[i], &n_bins[i], err), done);
  }
done:
  close_columns(mem, &r);
  gbt_mem_free(mem, key);
  gbt_mem_free(mem, tmp);
  return status;
}
