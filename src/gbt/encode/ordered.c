/* One walk along an order makes the statistics of one part: the state of a row's key is read, divided, put through the
 * look-up table, and the row is added. Walks are the tasks of a wave: those of several parts and variants at once and,
 * where there are fewer of them than threads, runs of blocks (chunks) of each, which begin with what the chunks before
 * add up to.
 *
 * A state is 64 bits, the sum of codes above the number of rows, where rows weigh the same and both fit; else a pair of
 * 64-bit numbers. */
#include "ordered.h"

#include <string.h>

#include "../base/bits.h"
#include "../base/parallel.h"

enum {
  MOST_STATS = 4,       /* of a walk */
  CHUNK_ROWS = 1 << 12, /* rows for which a chunk is worth its states */
  COUNT_ROWS = 1 << 17, /* and its histograms */
  MOST_COUNTING = 8,    /* chunks that count, each into histograms of its own */
  STATE_BYTES = 1 << 28 /* states of a wave, where one takes less */
};

typedef struct wide {
  int64_t sum, weight; /* of weight * code, of weights */
} wide;

/* The statistics of one part. */
typedef struct walk {
  const gbti_ordered *ask;
  const gbti_part *part;
  int32_t first, n_stats;                              /* of ask->stat */
  int packed;                                          /* bits of the number of rows; 0: states are wide */
  int64_t of_sum, of_weight;                           /* what state's numbers are to be multiplied by */
  int64_t prior[MOST_STATS], prior_weight[MOST_STATS]; /* A P, A */
} walk;

typedef struct job {
  const gbti_ordered *ask;
  gbt_ctx *ctx;
  walk *walk;
  int32_t n_walks, n_variants, first_variant;
  int32_t first, n_chunks; /* of the wave: its first walk under a variant */
  size_t state_bytes;
  uint8_t *state; /* by walk of the wave and chunk */
  uint32_t *const *count;
  uint32_t *counted; /* by chunk from the second on, then statistic; NULL: there is one chunk */
  const uint8_t *const *bin_of;
  uint8_t *const *bin;
  uint32_t *const *value;
} job;

/* Where a walk's values go. */
typedef struct sink {
  uint32_t *count[MOST_STATS];
  const uint8_t *bin_of[MOST_STATS];
  uint8_t *bin[MOST_STATS];
} sink;

typedef enum sink_kind { INTO_COUNTS, INTO_BINS } sink_kind;

GBT_FN wide state_of(const walk *w, const void *state, uint32_t id, int packed) {
  wide at;
  if (packed) {
    const uint64_t bits = ((const uint64_t *)state)[id], rows = ((uint64_t)1 << w->packed) - 1;
    at.sum = (int64_t)(bits >> w->packed) * w->of_sum;
    at.weight = (int64_t)(bits & rows) * w->of_weight;
  } else {
    at = ((const wide *)state)[id];
    at.sum *= w->of_sum;
    at.weight *= w->of_weight;
  }
  return at;
}

GBT_FN uint32_t value_of(const walk *w, wide at, int32_t s) {
  return gbti_quotient(at.sum + w->prior[s], at.weight + w->prior_weight[s]);
}

GBT_FN void add_row(const walk *w, void *state, int64_t i, int packed) {
  const gbti_target *target = w->ask->target;
  const uint32_t id = w->ask->id[i], code = gbti_part_code(w->part, target->label[i]);
  if (packed) {
    ((uint64_t *)state)[id] += ((uint64_t)code << w->packed) + 1;
  } else {
    const int64_t weight = target->weight != NULL ? (int64_t)target->weight[i] : target->one;
    ((wide *)state)[id].sum += weight * code;
    ((wide *)state)[id].weight += weight;
  }
}

GBT_FN void read_row(const walk *w, const void *state, int64_t i, int packed, sink_kind kind, const sink *to) {
  const wide at = state_of(w, state, w->ask->id[i], packed);
  for (int32_t s = 0; s < w->n_stats; s++) {
    const uint32_t value = value_of(w, at, s);
    if (kind == INTO_BINS)
      to->bin[s][i] = to->bin_of[s][value];
    else
      to->count[s][value]++;
  }
}

/* The step of a visit that begins at a place. */
static int64_t step_at(const gbti_visit *visit, int64_t place) {
  int64_t beg = 0, end = visit->n_steps;
  while (beg < end) {
    const int64_t mid = beg + (end - beg) / 2;
    if ((int64_t)visit->step[mid] < place)
      beg = mid + 1;
    else
      end = mid;
  }
  return beg;
}

GBT_FN void walk_steps(const walk *w, void *state, int64_t beg, int64_t end, int back, int packed, sink_kind kind,
                       const sink *to) {
  const gbti_visit *visit = w->ask->visit;
  const int64_t first = step_at(visit, beg), n = step_at(visit, end) - first;
  for (int64_t k = 0; k < n; k++) {
    const int64_t step = back ? first + n - 1 - k : first + k;
    const int64_t from = visit->step[step], upto = visit->step[step + 1];
    for (int64_t i = from; i < upto; i++) read_row(w, state, i, packed, kind, to);
    for (int64_t i = from; i < upto; i++) add_row(w, state, i, packed);
  }
}

GBT_FN void walk_block(const walk *w, void *state, int64_t beg, int64_t end, int back, int packed, sink_kind kind,
                       const sink *to) {
  const int64_t by = back ? -1 : 1;
  if (w->ask->visit->step != NULL) {
    walk_steps(w, state, beg, end, back, packed, kind, to);
    return;
  }
  for (int64_t k = beg, i = back ? end - 1 : beg; k < end; k++, i += by) {
    read_row(w, state, i, packed, kind, to);
    add_row(w, state, i, packed);
  }
}

static void walk_into_bins(const walk *w, void *state, int64_t beg, int64_t end, int back, const sink *to) {
  if (w->packed)
    walk_block(w, state, beg, end, back, 1, INTO_BINS, to);
  else
    walk_block(w, state, beg, end, back, 0, INTO_BINS, to);
}

static void walk_into_counts(const walk *w, void *state, int64_t beg, int64_t end, int back, const sink *to) {
  if (w->packed)
    walk_block(w, state, beg, end, back, 1, INTO_COUNTS, to);
  else
    walk_block(w, state, beg, end, back, 0, INTO_COUNTS, to);
}

static void add_block(const walk *w, void *state, int64_t beg, int64_t end) {
  if (w->packed)
    for (int64_t i = beg; i < end; i++) add_row(w, state, i, 1);
  else
    for (int64_t i = beg; i < end; i++) add_row(w, state, i, 0);
}

/* ---- the tasks of a wave ---- */

/* The input of a task. */
typedef struct task {
  const walk *walk;
  int32_t variant;
  int64_t pair, chunk;
  int32_t beg, end; /* the chunk's blocks: places in the variant's order */
  void *state;
} task;

static task task_of(const job *j, int64_t number) {
  const int64_t chunk = number % j->n_chunks, pair = j->first + number / j->n_chunks;
  task t = {.walk = &j->walk[pair / j->n_variants], .pair = pair, .chunk = chunk};
  t.variant = j->first_variant + (int32_t)(pair % j->n_variants);
  t.beg = (int32_t)(chunk * GBTI_VISIT_BLOCKS / j->n_chunks);
  t.end = (int32_t)((chunk + 1) * GBTI_VISIT_BLOCKS / j->n_chunks);
  t.state = j->state + (size_t)number * j->state_bytes;
  return t;
}

/* Adds up the rows of every chunk. */
static void total_task(void *arg, int64_t number, int thread) {
  job *j = arg;
  const task t = task_of(j, number);
  const gbti_visit *visit = j->ask->visit;
  memset(t.state, 0, j->state_bytes);
  for (int32_t k = t.beg; k < t.end; k++) {
    const int32_t block = visit->order[t.variant][k];
    if (gbt_ctx_stopped(j->ctx, thread)) return;
    add_block(t.walk, t.state, visit->block[block], visit->block[block + 1]);
  }
}

/* Chunks' states become those before the chunk. States of both kinds add up word by word. */
static void before_task(void *arg, int64_t pair, int thread) {
  job *j = arg;
  const size_t n = j->state_bytes / 8, n_chunks = (size_t)j->n_chunks;
  uint64_t *state = (uint64_t *)(void *)(j->state + (size_t)pair * n_chunks * j->state_bytes);
  for (size_t i = 0; i < n; i++) {
    uint64_t sum = 0;
    if (i % 4096 == 0 && gbt_ctx_stopped(j->ctx, thread)) return;
    for (size_t c = 0; c < n_chunks; c++) {
      const uint64_t own = state[c * n + i];
      state[c * n + i] = sum;
      sum += own;
    }
  }
}

static sink sink_of(const job *j, const task *t) {
  const int64_t n_stats = j->ask->n_stats;
  sink to = {0};
  for (int32_t s = 0; s < t->walk->n_stats; s++) {
    const int64_t stat = t->walk->first + s;
    if (j->bin != NULL) {
      to.bin_of[s] = j->bin_of[stat];
      to.bin[s] = j->bin[t->variant * n_stats + stat]; /* variants from the first on */
    } else if (t->chunk == 0) {
      to.count[s] = j->count[stat];
    } else {
      to.count[s] = j->counted + (size_t)((t->chunk - 1) * n_stats + stat) * GBTI_N_VALUES;
    }
  }
  return to;
}

static void walk_task(void *arg, int64_t number, int thread) {
  job *j = arg;
  const task t = task_of(j, number);
  const gbti_visit *visit = j->ask->visit;
  const sink to = sink_of(j, &t);
  if (j->n_chunks == 1) memset(t.state, 0, j->state_bytes);
  for (int32_t k = t.beg; k < t.end; k++) {
    const int32_t block = visit->order[t.variant][k];
    const int64_t beg = visit->block[block], end = visit->block[block + 1];
    if (gbt_ctx_stopped(j->ctx, thread)) return;
    if (j->bin != NULL)
      walk_into_bins(t.walk, t.state, beg, end, t.variant % 2, &to);
    else
      walk_into_counts(t.walk, t.state, beg, end, t.variant % 2, &to);
  }
}

/* ---- waves ---- */

static gbt_status run_tasks(gbt_ctx *ctx, int64_t n, gbt_task_fn fn, job *j, gbt_error *err) {
  GBT_TRY(gbt_parallel(ctx, n, fn, j, err));
  return gbt_ctx_poll(ctx, err); /* a task may have given up */
}

static walk walk_make(const gbti_ordered *ask, int32_t first) {
  const gbti_target *target = ask->target;
  walk w = {.ask = ask, .first = first, .part = &target->part[ask->stat[first].part]};
  const int rows = gbt_bit_length((uint64_t)target->n), codes = gbt_bit_length((uint64_t)target->n * w.part->most);
  GBT_ASSERT(ask->stat[first].part < target->n_parts);
  if (target->weight == NULL && rows + codes <= 64) w.packed = rows > 0 ? rows : 1;
  w.of_sum = (int64_t)w.part->scale * (w.packed ? target->one : 1);
  w.of_weight = w.packed ? target->one : 1;
  for (int32_t k = first; k < ask->n_stats && w.n_stats < MOST_STATS; k++) {
    const gbti_statistic *stat = &ask->stat[k];
    if (stat->part != ask->stat[first].part) break;
    GBT_ASSERT(stat->prior < GBTI_N_VALUES && stat->prior_weight >= 1 && stat->prior_weight <= (int64_t)1 << 42);
    w.prior_weight[w.n_stats] = stat->prior_weight;
    w.prior[w.n_stats++] = stat->prior_weight * stat->prior;
  }
  return w;
}

/* The walks, how many of them a wave has, and its states. Free j->walk and j->state, also after a failure. */
static gbt_status open_job(gbt_ctx *ctx, job *j, int64_t most_chunks, int64_t chunk_rows, int32_t *in_wave,
                           gbt_error *err) {
  const gbti_ordered *ask = j->ask;
  size_t wide_state = 0;
  GBT_ASSERT(ask->visit->n == ask->target->n && ask->n_ids >= 0 && ask->n_stats > 0);
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)ask->n_stats, sizeof *j->walk, &j->walk, err));
  for (int32_t k = 0; k < ask->n_stats; k += j->walk[j->n_walks++].n_stats) {
    j->walk[j->n_walks] = walk_make(ask, k);
    wide_state |= !j->walk[j->n_walks].packed;
  }
  j->state_bytes = (size_t)ask->n_ids * (wide_state ? sizeof(wide) : sizeof(uint64_t));
  const int64_t n_pairs = (int64_t)j->n_walks * j->n_variants, threads = ctx->n_threads;
  const int64_t fit = STATE_BYTES / (int64_t)(j->state_bytes + 1), n_states = fit > 1 ? fit : 1;
  GBT_ASSERT(n_pairs > 0);
  int64_t chunks = (threads + n_pairs - 1) / n_pairs;
  if (chunks > most_chunks) chunks = most_chunks;
  if (chunks > 1 + ask->target->n / chunk_rows) chunks = 1 + ask->target->n / chunk_rows;
  if (chunks > n_states) chunks = n_states;
  j->n_chunks = (int32_t)chunks;
  *in_wave = (int32_t)(n_states / chunks < n_pairs ? n_states / chunks : n_pairs);
  return gbt_mem_array(&ctx->mem, (size_t)(*in_wave * chunks), j->state_bytes, &j->state, err);
}

static gbt_status run_waves(gbt_ctx *ctx, job *j, int32_t in_wave, gbt_error *err) {
  const int32_t n_pairs = j->n_walks * j->n_variants;
  for (; j->first < n_pairs; j->first += in_wave) {
    const int32_t n = n_pairs - j->first < in_wave ? n_pairs - j->first : in_wave;
    if (j->n_chunks > 1) {
      GBT_TRY(run_tasks(ctx, (int64_t)n * j->n_chunks, total_task, j, err));
      GBT_TRY(run_tasks(ctx, n, before_task, j, err));
    }
    GBT_TRY(run_tasks(ctx, (int64_t)n * j->n_chunks, walk_task, j, err));
  }
  return GBT_OK;
}

gbt_status gbti_ordered_bins(gbt_ctx *ctx, const gbti_ordered *ask, int32_t n_variants, const uint8_t *const *bin_of,
                             uint8_t *const *bin, gbt_error *err) {
  gbt_status status = GBT_OK;
  int32_t in_wave = 0;
  job j = {.ask = ask, .ctx = ctx, .n_variants = n_variants, .bin_of = bin_of, .bin = bin};
  GBT_ASSERT(n_variants >= 1 && n_variants <= ask->visit->n_variants);
  GBT_TRY_GOTO(open_job(ctx, &j, GBTI_VISIT_BLOCKS, CHUNK_ROWS, &in_wave, err), done);
  GBT_TRY_GOTO(run_waves(ctx, &j, in_wave, err), done);
done:
  gbt_mem_free(&ctx->mem, j.walk);
  gbt_mem_free(&ctx->mem, j.state);
  return status;
}

static void add_counts_task(void *arg, int64_t stat, int thread) {
  (void)thread;
  job *j = arg;
  const size_t n_stats = (size_t)j->ask->n_stats;
  for (size_t c = 0; c + 1 < (size_t)j->n_chunks; c++) {
    const uint32_t *more = j->counted + (c * n_stats + (size_t)stat) * GBTI_N_VALUES;
    for (size_t v = 0; v < GBTI_N_VALUES; v++) j->count[stat][v] += more[v];
  }
}

gbt_status gbti_ordered_count(gbt_ctx *ctx, const gbti_ordered *ask, int32_t variant, uint32_t *const *count,
                              gbt_error *err) {
  const size_t n_stats = (size_t)ask->n_stats;
  gbt_status status = GBT_OK;
  int32_t in_wave = 0;
  job j = {.ask = ask, .ctx = ctx, .n_variants = 1, .first_variant = variant, .count = count};
  GBT_ASSERT(variant >= 0 && variant < ask->visit->n_variants);
  for (size_t s = 0; s < n_stats; s++) memset(count[s], 0, GBTI_N_VALUES * sizeof **count);
  GBT_TRY_GOTO(open_job(ctx, &j, MOST_COUNTING, COUNT_ROWS, &in_wave, err), done);
  GBT_TRY_GOTO(
      gbt_mem_zeros(&ctx->mem, (size_t)(j.n_chunks - 1) * n_stats * GBTI_N_VALUES, sizeof *j.counted, &j.counted, err),
      done);
  GBT_TRY_GOTO(run_waves(ctx, &j, in_wave, err), done);
  GBT_TRY_GOTO(run_tasks(ctx, ask->n_stats, add_counts_task, &j, err), done);
done:
  gbt_mem_free(&ctx->mem, j.walk);
  gbt_mem_free(&ctx->mem, j.state);
  gbt_mem_free(&ctx->mem, j.counted);
  return status;
}

/* ---- over all rows ---- */

/* Values of the ids of one walk, from the states of its chunks. */
static void full_task(void *arg, int64_t number, int thread) {
  job *j = arg;
  const task t = task_of(j, number * j->n_chunks);
  const walk *w = t.walk;
  for (int64_t id = 0; id < j->ask->n_ids; id++) {
    wide all = {0, 0};
    if (id % 4096 == 0 && gbt_ctx_stopped(j->ctx, thread)) return;
    for (size_t c = 0; c < (size_t)j->n_chunks; c++) {
      const wide at = state_of(w, (const uint8_t *)t.state + c * j->state_bytes, (uint32_t)id, w->packed != 0);
      all.sum += at.sum;
      all.weight += at.weight;
    }
    for (int32_t s = 0; s < w->n_stats; s++) j->value[w->first + s][id] = value_of(w, all, s);
  }
}

gbt_status gbti_full_values(gbt_ctx *ctx, const gbti_ordered *ask, uint32_t *const *value, gbt_error *err) {
  gbt_status status = GBT_OK;
  int32_t in_wave = 0;
  job j = {.ask = ask, .ctx = ctx, .n_variants = 1, .value = value};
  GBT_TRY_GOTO(open_job(ctx, &j, GBTI_VISIT_BLOCKS, CHUNK_ROWS, &in_wave, err), done);
  for (; j.first < j.n_walks; j.first += in_wave) {
    const int32_t n = j.n_walks - j.first < in_wave ? j.n_walks - j.first : in_wave;
    GBT_TRY_GOTO(run_tasks(ctx, (int64_t)n * j.n_chunks, total_task, &j, err), done);
    GBT_TRY_GOTO(run_tasks(ctx, n, full_task, &j, err), done);
  }
done:
  gbt_mem_free(&ctx->mem, j.walk);
  gbt_mem_free(&ctx->mem, j.state);
  return status;
}
