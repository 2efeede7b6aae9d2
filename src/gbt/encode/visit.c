/* Rows get the hash of their number as a key and are sorted by its upper half, which leaves few equals; those are put
 * in order by the whole key. */
#include "visit.h"

#include <string.h>

#include "../base/bits.h"
#include "../base/parallel.h"
#include "../base/rng.h"
#include "../base/sort.h"

enum { TASK_ROWS = 1 << 16 };

#define UPPER_HALF 0xffffffff00000000u

/* The key by which rows are sorted. */
typedef struct by {
  const double *time, *group; /* NULL: not given */
  uint64_t base;              /* of the hash */
} by;

typedef struct job {
  by by;
  int64_t n;
  uint64_t mask, *key;
  uint32_t *row, *at;
} job;

static uint64_t hash_of(uint64_t seed, uint64_t a, uint64_t b) {
  const gbt_key32 key = gbt_key(seed, GBT_FOR_VISIT, a, b);
  return (uint64_t)key.k0 << 32 | key.k1;
}

/* Different numbers and groups have different keys: gbt_mix64 is a bijection. */
static uint64_t key_of(const by *what, int64_t row) {
  if (what->time != NULL) return gbt_order_key(what->time[row]);
  if (what->group != NULL) return gbt_mix64(what->base ^ gbt_order_key(what->group[row]));
  return gbt_mix64(what->base ^ (uint64_t)(row + 1));
}

static int64_t task_end(int64_t beg, int64_t n) { return n - beg < TASK_ROWS ? n : beg + TASK_ROWS; }
static int64_t n_tasks(int64_t n) { return (n + TASK_ROWS - 1) / TASK_ROWS; }

static void key_task(void *arg, int64_t task, int thread) {
  (void)thread;
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->n);
  for (int64_t i = beg; i < end; i++) {
    j->key[i] = key_of(&j->by, i) & j->mask;
    j->row[i] = (uint32_t)i;
  }
}

static void at_task(void *arg, int64_t task, int thread) {
  (void)thread;
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->n);
  for (int64_t i = beg; i < end; i++) j->at[j->row[i]] = (uint32_t)i;
}

/* Rows of equal upper halves by their whole keys, rows of equal keys as they are. Leaves the whole keys there, so that
 * equal neighbours are rows of one group. */
static gbt_status sort_equals(gbt_ctx *ctx, job *j, uint64_t *tmp, gbt_error *err) {
  for (int64_t beg = 0, end = 0; beg < j->n; beg = end) {
    int sorted = 1;
    for (end = beg + 1; end < j->n && j->key[end] == j->key[beg];) end++;
    if ((beg ^ end) >= TASK_ROWS) GBT_TRY(gbt_ctx_poll(ctx, err)); /* about once a TASK_ROWS rows */
    if (end - beg == 1) continue;
    for (int64_t i = beg; i < end; i++) {
      j->key[i] = key_of(&j->by, j->row[i]);
      sorted &= i == beg || j->key[i] >= j->key[i - 1];
    }
    if (!sorted) gbt_sort_u64(j->key + beg, j->row + beg, (size_t)(end - beg), tmp + beg, j->at + beg);
  }
  return GBT_OK;
}

/* The first place of which the key is above `key`. */
static int64_t place_above(const uint64_t *keys, int64_t n, uint64_t key) {
  int64_t beg = 0, end = n;
  while (beg < end) {
    const int64_t mid = beg + (end - beg) / 2;
    if (keys[mid] <= key)
      beg = mid + 1;
    else
      end = mid;
  }
  return beg;
}

static void cut_blocks(const job *j, gbti_visit *visit) {
  visit->block[0] = 0;
  for (int64_t b = 1; b < GBTI_VISIT_BLOCKS; b++) {
    const int64_t share = j->n / GBTI_VISIT_BLOCKS * b + j->n % GBTI_VISIT_BLOCKS * b / GBTI_VISIT_BLOCKS;
    if (j->by.time == NULL)
      visit->block[b] = place_above(j->key, j->n, ((uint64_t)b << 56) - 1);
    else
      visit->block[b] = share == 0 ? 0 : place_above(j->key, j->n, j->key[share - 1]);
  }
  visit->block[GBTI_VISIT_BLOCKS] = j->n;
}

static void order_blocks(const job *j, uint64_t seed, gbti_visit *visit) {
  for (int32_t v = 0; v < visit->n_variants; v++) {
    uint64_t key[GBTI_VISIT_BLOCKS], tmp_key[GBTI_VISIT_BLOCKS];
    uint32_t block[GBTI_VISIT_BLOCKS], tmp[GBTI_VISIT_BLOCKS];
    for (uint32_t b = 0; b < GBTI_VISIT_BLOCKS; b++) {
      key[b] = j->by.time != NULL ? b : hash_of(seed, 1 + (uint64_t)v, b);
      block[b] = b;
    }
    gbt_sort_u64(key, block, GBTI_VISIT_BLOCKS, tmp_key, tmp);
    for (int32_t b = 0; b < GBTI_VISIT_BLOCKS; b++) visit->order[v][b] = (uint8_t)block[b];
  }
}

/* Steps where neighbours with equal keys are. */
static gbt_status find_steps(gbt_ctx *ctx, const job *j, gbti_visit *visit, gbt_error *err) {
  int64_t n_steps = 0;
  if (j->by.time == NULL && j->by.group == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(&visit->mem, (size_t)j->n + 1, sizeof *visit->step, &visit->step, err));
  for (int64_t i = 0; i < j->n; i++) {
    if (i % TASK_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    if (i == 0 || j->key[i] != j->key[i - 1]) visit->step[n_steps++] = (uint32_t)i;
  }
  visit->step[n_steps] = (uint32_t)j->n;
  visit->n_steps = n_steps;
  if (n_steps == j->n) { /* every row is one */
    gbt_mem_free(&visit->mem, visit->step);
    visit->step = NULL;
  }
  return GBT_OK;
}

static gbt_status make(gbt_ctx *ctx, job *j, uint64_t *tmp, uint64_t seed, gbti_visit *visit, gbt_error *err) {
  GBT_TRY(gbt_parallel(ctx, n_tasks(j->n), key_task, j, err));
  GBT_TRY(gbt_sort_u64_parallel(ctx, j->key, j->row, (size_t)j->n, tmp, j->at, err));
  if (j->by.time == NULL) GBT_TRY(sort_equals(ctx, j, tmp, err));
  cut_blocks(j, visit);
  order_blocks(j, seed, visit);
  GBT_TRY(find_steps(ctx, j, visit, err));
  return gbt_parallel(ctx, n_tasks(j->n), at_task, j, err);
}

gbt_status gbti_visit_make(gbt_ctx *ctx, const gbt_rows *rows, uint64_t seed, int32_t n_variants, gbti_visit *out,
                           gbt_error *err) {
  const size_t n = (size_t)rows->n;
  gbt_status status = GBT_OK;
  uint64_t *tmp = NULL;
  job j = {.by = {.time = rows->field[GBT_TIME], .group = rows->field[GBT_GROUP]}, .n = rows->n};
  GBT_ASSERT(rows->n <= UINT32_MAX && n_variants >= 1 && n_variants <= GBTI_MAX_VARIANTS);
  memset(out, 0, sizeof *out);
  out->mem = ctx->mem;
  out->n = out->n_steps = rows->n;
  out->n_variants = j.by.time != NULL ? 1 : n_variants;
  if (j.by.time != NULL && j.by.group != NULL)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "group",
                       "`group` and `time` are both given; statistics of categorical columns can use only one of them: "
                       "leave one out");
  j.by.base = hash_of(seed, 0, 0);
  j.mask = j.by.time != NULL ? UINT64_MAX : UPPER_HALF;
  GBT_TRY_GOTO(gbt_mem_array(&out->mem, n, sizeof *out->row, &out->row, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&out->mem, n, sizeof *out->at, &out->at, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *j.key, &j.key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *tmp, &tmp, err), done);
  j.row = out->row;
  j.at = out->at;
  GBT_TRY_GOTO(make(ctx, &j, tmp, seed, out, err), done);
done:
  gbt_mem_free(&ctx->mem, j.key);
  gbt_mem_free(&ctx->mem, tmp);
  return status;
}

void gbti_visit_free(gbti_visit *visit) {
  gbt_mem_free(&visit->mem, visit->row);
  gbt_mem_free(&visit->mem, visit->at);
  gbt_mem_free(&visit->mem, visit->step);
  memset(visit, 0, sizeof *visit);
}
