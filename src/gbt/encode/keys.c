/* Few possible keys are counted in a table, more of them are found by sorting the rows' keys. Both leave the keys that
 * occur in ascending order with their numbers of rows; then those that are kept get their numbers. */
#include "keys.h"

#include <string.h>

#include "../base/hd.h"
#include "../base/parallel.h"
#include "../base/sort.h"
#include "../schema/key_index.h"

enum {
  TASK_ROWS = 1 << 16,
  AT_ONCE = 1024,      /* keys that are looked for together */
  MOST_TABLE = 1 << 16 /* possible keys up to which every thread counts in a table of its own */
};

#define NO_KEY GBT_NO_KEY /* of rows with an unseen level; above all keys */

typedef struct job {
  gbt_ctx *ctx;
  gbti_keys *keys;        /* being made */
  const gbti_keys *known; /* to be found */
  gbt_key_index index;    /* of those */
  const gbti_key_column *col;
  int32_t n_cols;
  int64_t n;
  uint64_t possible; /* keys are below */
  uint64_t *key;     /* by row, then in ascending order */
  uint32_t *row;     /* whose key it is */
  uint32_t *table;   /* by thread and key: rows; then what the key's number is */
  int64_t *begun;    /* by task, and 1: keys that begin before it */
  uint64_t *seen;    /* n_seen: keys that occur, ascending */
  uint32_t *n_rows;  /* n_seen; then their numbers */
  int64_t n_seen, n_unseen;
  uint32_t *id;
} job;

static int64_t task_end(int64_t beg, int64_t n) { return n - beg < TASK_ROWS ? n : beg + TASK_ROWS; }
static int64_t n_tasks(int64_t n) { return (n + TASK_ROWS - 1) / TASK_ROWS; }

/* How many keys there may be, or 0 where they are not below 2^63. */
static uint64_t possible_keys(const gbti_key_column *col, int32_t n_cols) {
  const uint64_t end = (uint64_t)1 << 63;
  uint64_t n = 1;
  for (int32_t c = 0; c < n_cols; c++) {
    const uint64_t radix = (uint64_t)col[c].n_levels + 1;
    if (n > (end - 1) / radix) return 0;
    n *= radix;
  }
  return n;
}

int gbti_keys_fit(const gbti_key_column *col, int32_t n_cols) { return possible_keys(col, n_cols) != 0; }

static uint64_t key_of(const gbti_key_column *col, int32_t n_cols, int64_t row) {
  uint64_t key = 0;
  int unseen = 0;
  for (int32_t c = 0; c < n_cols; c++) {
    unseen |= (int64_t)col[c].level[row] > col[c].n_levels;
    key = key * ((uint64_t)col[c].n_levels + 1) + col[c].level[row];
  }
  return unseen ? NO_KEY : key;
}

/* ---- one column ---- */

static void copy_task(void *arg, int64_t task, int thread) {
  (void)thread;
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->n);
  const uint32_t none = (uint32_t)j->col->n_levels + 1;
  for (int64_t i = beg; i < end; i++) j->id[i] = j->col->level[i] < none ? j->col->level[i] : none;
}

static gbt_status count_levels(job *j, gbt_error *err) {
  gbti_keys *keys = j->keys;
  keys->n_keys = j->col->n_levels + 1;
  GBT_TRY(gbt_mem_zeros(&keys->mem, (size_t)keys->n_keys + 1, sizeof *keys->count, &keys->count, err));
  GBT_TRY(gbt_parallel(j->ctx, n_tasks(j->n), copy_task, j, err));
  for (int64_t i = 0; i < j->n; i++) {
    if (i % TASK_ROWS == 0) GBT_TRY(gbt_ctx_poll(j->ctx, err));
    keys->count[keys->id[i]]++;
  }
  return GBT_OK;
}

/* ---- which keys occur ---- */

static void table_task(void *arg, int64_t task, int thread) {
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->n);
  uint32_t *table = j->table + (size_t)thread * (size_t)(j->possible + 1);
  for (int64_t i = beg; i < end; i++) {
    const uint64_t key = key_of(j->col, j->n_cols, i);
    table[key < j->possible ? key : j->possible]++;
  }
}

static gbt_status open_seen(job *j, int64_t n, gbt_error *err) {
  GBT_TRY(gbt_mem_array(&j->ctx->mem, (size_t)n, sizeof *j->seen, &j->seen, err));
  return gbt_mem_array(&j->ctx->mem, (size_t)n, sizeof *j->n_rows, &j->n_rows, err);
}

static gbt_status seen_by_table(job *j, gbt_error *err) {
  const size_t n = (size_t)j->possible + 1, n_threads = (size_t)j->ctx->n_threads;
  GBT_TRY(open_seen(j, (int64_t)j->possible, err));
  GBT_TRY(gbt_mem_zeros(&j->ctx->mem, n * n_threads, sizeof *j->table, &j->table, err));
  GBT_TRY(gbt_parallel(j->ctx, n_tasks(j->n), table_task, j, err));
  for (size_t t = 1; t < n_threads; t++)
    for (size_t k = 0; k < n; k++) j->table[k] += j->table[t * n + k];
  for (uint64_t k = 0; k < j->possible; k++) {
    if (j->table[k] == 0) continue;
    j->seen[j->n_seen] = k;
    j->n_rows[j->n_seen++] = j->table[k];
  }
  j->n_unseen = j->table[j->possible];
  return GBT_OK;
}

static void key_task(void *arg, int64_t task, int thread) {
  (void)thread;
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->n);
  for (int64_t i = beg; i < end; i++) {
    j->key[i] = key_of(j->col, j->n_cols, i);
    j->row[i] = (uint32_t)i;
  }
}

/* Whether another key begins at this place of the ascending keys. */
static int begins(const uint64_t *key, int64_t i) { return i == 0 || key[i] != key[i - 1]; }

static void begun_task(void *arg, int64_t task, int thread) {
  (void)thread;
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->n);
  int64_t n = 0;
  for (int64_t i = beg; i < end; i++) n += begins(j->key, i);
  j->begun[task + 1] = n;
}

/* The keys, and where the last row of each is. */
static void seen_task(void *arg, int64_t task, int thread) {
  (void)thread;
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->n);
  int64_t at = j->begun[task] - 1;
  for (int64_t i = beg; i < end; i++) {
    if (begins(j->key, i)) j->seen[++at] = j->key[i];
    if (i + 1 == j->n || begins(j->key, i + 1)) j->n_rows[at] = (uint32_t)i;
  }
}

static gbt_status sort_rows(job *j, gbt_error *err) {
  const gbt_mem *mem = &j->ctx->mem;
  gbt_status status = GBT_OK;
  uint64_t *tmp_key = NULL;
  uint32_t *tmp_row = NULL;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)j->n, sizeof *tmp_key, &tmp_key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)j->n, sizeof *tmp_row, &tmp_row, err), done);
  GBT_TRY_GOTO(gbt_parallel(j->ctx, n_tasks(j->n), key_task, j, err), done);
  GBT_TRY_GOTO(gbt_sort_u64_parallel(j->ctx, j->key, j->row, (size_t)j->n, tmp_key, tmp_row, err), done);
done:
  gbt_mem_free(mem, tmp_key);
  gbt_mem_free(mem, tmp_row);
  return status;
}

static gbt_status seen_by_sort(job *j, gbt_error *err) {
  const gbt_mem *mem = &j->ctx->mem;
  const int64_t tasks = n_tasks(j->n);
  GBT_TRY(gbt_mem_array(mem, (size_t)j->n, sizeof *j->key, &j->key, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)j->n, sizeof *j->row, &j->row, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)tasks + 1, sizeof *j->begun, &j->begun, err));
  GBT_TRY(sort_rows(j, err));
  GBT_TRY(gbt_parallel(j->ctx, tasks, begun_task, j, err));
  for (int64_t t = 0; t < tasks; t++) j->begun[t + 1] += j->begun[t];
  j->n_seen = j->begun[tasks];
  GBT_TRY(open_seen(j, j->n_seen, err));
  GBT_TRY(gbt_parallel(j->ctx, tasks, seen_task, j, err));
  for (int64_t k = j->n_seen - 1; k > 0; k--) j->n_rows[k] -= j->n_rows[k - 1];
  if (j->n_seen > 0) j->n_rows[0]++;
  if (j->n_seen > 0 && j->seen[j->n_seen - 1] == NO_KEY) j->n_unseen = j->n_rows[--j->n_seen];
  return GBT_OK;
}

/* ---- which of them are kept ---- */

static int64_t count_frequent_keys(const job *j, int64_t count) {
  int64_t n = 0;
  for (int64_t k = 0; k < j->n_seen; k++) n += (int64_t)j->n_rows[k] >= count;
  return n;
}

/* The least number of rows, min_count or more, that at most max_keys keys have. */
static gbt_status least_count(job *j, int64_t max_keys, int64_t min_count, int64_t *out, gbt_error *err) {
  int64_t low = min_count, high = j->n + 1 > min_count ? j->n + 1 : min_count;
  while (low < high) {
    const int64_t mid = low + (high - low) / 2;
    GBT_TRY(gbt_ctx_poll(j->ctx, err));
    if (count_frequent_keys(j, mid) <= max_keys)
      high = mid;
    else
      low = mid + 1;
  }
  *out = low;
  return GBT_OK;
}

/* Keys that are kept, in keys; n_rows becomes their numbers, by key that occurs. */
static gbt_status number_keys(job *j, int64_t max_keys, uint32_t min_count, gbt_error *err) {
  gbti_keys *keys = j->keys;
  int64_t least = 0, at = 0, rare = j->n_unseen;
  GBT_TRY(least_count(j, max_keys, min_count, &least, err));
  keys->n_keys = count_frequent_keys(j, least);
  /* of the keys of one row less there are too many, or they are not wanted */
  int64_t n_more = least > min_count ? max_keys - keys->n_keys : 0;
  keys->n_keys += n_more;
  GBT_TRY(gbt_mem_array(&keys->mem, (size_t)keys->n_keys, sizeof *keys->key, &keys->key, err));
  GBT_TRY(gbt_mem_array(&keys->mem, (size_t)keys->n_keys + 1, sizeof *keys->count, &keys->count, err));
  for (int64_t k = 0; k < j->n_seen; k++) {
    if (k % TASK_ROWS == 0) GBT_TRY(gbt_ctx_poll(j->ctx, err));
    const uint32_t n_rows = j->n_rows[k];
    const int more = n_more > 0 && (int64_t)n_rows == least - 1, kept = (int64_t)n_rows >= least || more;
    n_more -= more;
    j->n_rows[k] = (uint32_t)(kept ? at : keys->n_keys);
    if (!kept) {
      rare += n_rows;
      continue;
    }
    keys->key[at] = j->seen[k];
    keys->count[at++] = n_rows;
  }
  GBT_ASSERT(at == keys->n_keys);
  keys->count[at] = (uint32_t)rare;
  return GBT_OK;
}

/* ---- ids of the rows ---- */

static void id_by_table_task(void *arg, int64_t task, int thread) {
  (void)thread;
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->n);
  for (int64_t i = beg; i < end; i++) {
    const uint64_t key = key_of(j->col, j->n_cols, i);
    j->id[i] = j->table[key < j->possible ? key : j->possible];
  }
}

static void id_by_sort_task(void *arg, int64_t task, int thread) {
  (void)thread;
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->n);
  int64_t at = j->begun[task] - 1;
  for (int64_t i = beg; i < end; i++) {
    at += begins(j->key, i);
    j->id[j->row[i]] = at < j->n_seen ? j->n_rows[at] : (uint32_t)j->keys->n_keys;
  }
}

static gbt_status make_ids(job *j, gbt_error *err) {
  if (j->table == NULL) return gbt_parallel(j->ctx, n_tasks(j->n), id_by_sort_task, j, err);
  for (int64_t k = 0; k < j->n_seen; k++) j->table[j->seen[k]] = j->n_rows[k];
  j->table[j->possible] = (uint32_t)j->keys->n_keys;
  return gbt_parallel(j->ctx, n_tasks(j->n), id_by_table_task, j, err);
}

gbt_status gbti_keys_make(gbt_ctx *ctx, const gbti_key_column *col, int32_t n_cols, int64_t n, int64_t max_keys,
                          uint32_t min_count, gbti_keys *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  job j = {.ctx = ctx, .keys = out, .col = col, .n_cols = n_cols, .n = n, .possible = possible_keys(col, n_cols)};
  GBT_ASSERT(n <= UINT32_MAX && n_cols >= 1 && j.possible != 0);
  memset(out, 0, sizeof *out);
  out->mem = ctx->mem;
  out->n = n;
  GBT_TRY(gbt_mem_array(&out->mem, (size_t)n, sizeof *out->id, &out->id, err));
  j.id = out->id;
  if (n_cols == 1) return count_levels(&j, err);
  GBT_TRY_GOTO(j.possible <= MOST_TABLE ? seen_by_table(&j, err) : seen_by_sort(&j, err), done);
  GBT_TRY_GOTO(number_keys(&j, max_keys, min_count, err), done);
  GBT_TRY_GOTO(make_ids(&j, err), done);
done:
  gbt_mem_free(&ctx->mem, j.key);
  gbt_mem_free(&ctx->mem, j.row);
  gbt_mem_free(&ctx->mem, j.table);
  gbt_mem_free(&ctx->mem, j.begun);
  gbt_mem_free(&ctx->mem, j.seen);
  gbt_mem_free(&ctx->mem, j.n_rows);
  return status;
}

void gbti_keys_free(gbti_keys *keys) {
  gbt_mem_free(&keys->mem, keys->key);
  gbt_mem_free(&keys->mem, keys->id);
  gbt_mem_free(&keys->mem, keys->count);
  memset(keys, 0, sizeof *keys);
}

/* ---- further rows ---- */

static void find_task(void *arg, int64_t task, int thread) {
  (void)thread;
  job *j = arg;
  uint64_t key[AT_ONCE];
  uint32_t row[AT_ONCE];
  const int64_t upto = task_end(task * TASK_ROWS, j->n);
  const uint32_t none = (uint32_t)j->known->n_keys;
  for (int64_t beg = task * TASK_ROWS; beg < upto; beg += AT_ONCE) {
    const int32_t n = upto - beg < AT_ONCE ? (int32_t)(upto - beg) : AT_ONCE;
    for (int32_t i = 0; i < n; i++) key[i] = key_of(j->col, j->n_cols, beg + i);
    gbt_key_index_find(&j->index, j->known->key, key, n, row);
    for (int32_t i = 0; i < n; i++) j->id[beg + i] = row[i] == GBT_NO_ROW ? none : row[i];
  }
}

gbt_status gbti_keys_find(gbt_ctx *ctx, const gbti_keys *keys, const gbti_key_column *col, int32_t n_cols, int64_t n,
                          uint32_t *id, gbt_error *err) {
  job j = {.ctx = ctx, .known = keys, .col = col, .n_cols = n_cols, .n = n, .id = id};
  if (n_cols == 1) return gbt_parallel(ctx, n_tasks(n), copy_task, &j, err);
  gbt_status status =
      gbt_key_index_make(&ctx->mem, ctx, keys->key, keys->n_keys, possible_keys(col, n_cols), &j.index, err);
  if (status == GBT_OK) status = gbt_parallel(ctx, n_tasks(n), find_task, &j, err);
  gbt_key_index_free(&ctx->mem, &j.index);
  return status;
}
