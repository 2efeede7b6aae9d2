/* Radix sort, lowest digit first but for some hundreds of keys. Every digit is two passes: count, then move each key to
 * the place that the counts give it. Digits start at the lowest bit that varies; digits that do not vary are skipped,
 * and so are passes over keys that are in order already.
 *
 *   parallel: blocks of rows; places of block b, digit d = keys of lower digits + keys of digit d in blocks before b
 *
 * so blocks may be moved in any order by any thread, and the result is that of the serial sort. */
#include "sort.h"

#include <string.h>

#include "order.h"
#include "parallel.h"

enum {
  FEW = 48,        /* insertion sort up to here */
  HUNDREDS = 1024, /* the highest digit first up to here */
  WIDTH = 8,       /* bits of a digit. A million random keys: 8 bits 20 ms, 11 bits 38 (fewer passes, but
                      more places to write to at once than the TLB holds); measured on a Xeon with AVX-512 */
  N_DIGITS = 1 << WIDTH,
  BLOCK = 1 << 17 /* keys of a parallel task: well below a millisecond */
};

static void insertion_sort(uint64_t *keys, uint32_t *vals, size_t n) {
  for (size_t i = 1; i < n; i++) {
    uint64_t key = keys[i];
    uint32_t val = vals == NULL ? 0 : vals[i];
    size_t j = i;
    for (; j > 0 && keys[j - 1] > key; j--) {
      keys[j] = keys[j - 1];
      if (vals != NULL) vals[j] = vals[j - 1];
    }
    keys[j] = key;
    if (vals != NULL) vals[j] = val;
  }
}

/* Bits that are not the same in all keys; *sorted: whether the keys ascend already. */
static uint64_t varying_bits(const uint64_t *keys, size_t n, int *sorted) {
  uint64_t bits = 0, falls = 0;
  for (size_t i = 1; i < n; i++) {
    bits |= keys[i] ^ keys[i - 1];
    falls |= (uint64_t)(keys[i] < keys[i - 1]);
  }
  *sorted = falls == 0;
  return bits;
}

static uint32_t digit(uint64_t key, int shift) { return (uint32_t)(key >> shift) & (N_DIGITS - 1); }

static void count_digits(const uint64_t *keys, size_t n, int shift, uint32_t *count) {
  memset(count, 0, N_DIGITS * sizeof *count);
  for (size_t i = 0; i < n; i++) count[digit(keys[i], shift)]++;
}

/* place[d]: where the next key of digit d goes; advanced. */
static void move_keys(const uint64_t *keys, const uint32_t *vals, size_t n, int shift, uint32_t *place,
                      uint64_t *to_keys, uint32_t *to_vals) {
  if (vals == NULL) {
    for (size_t i = 0; i < n; i++) to_keys[place[digit(keys[i], shift)]++] = keys[i];
    return;
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t to = place[digit(keys[i], shift)]++;
    to_keys[to] = keys[i];
    to_vals[to] = vals[i];
  }
}

/* Places for counts, digit after digit. */
static void counts_to_serial_places(uint32_t *place) {
  uint32_t sum = 0;
  for (int k = 0; k < N_DIGITS; k++) {
    const uint32_t count = place[k];
    place[k] = sum;
    sum += count;
  }
}

/* The next digit that varies: its shift, or -1 at the end. Takes it out of *bits, the bits still to be sorted by. */
static int next_digit(uint64_t *bits) {
  if (*bits == 0) return -1;
  int shift = 0;
  while (!((*bits >> shift) & 0xffu)) shift += 8;
  while (!((*bits >> shift) & 1u)) shift++;
  int end = shift + WIDTH;
  *bits = end >= 64 ? 0 : (*bits >> end) << end;
  return shift;
}

/* By all bits, digit after digit from the lowest. */
static void sort_by_digits(uint64_t *keys, uint32_t *vals, size_t n, uint64_t *tmp_keys, uint32_t *tmp_vals,
                           uint64_t bits) {
  uint32_t place[N_DIGITS];
  uint64_t *from_keys = keys, *to_keys = tmp_keys;
  uint32_t *from_vals = vals, *to_vals = tmp_vals;
  for (int shift; (shift = next_digit(&bits)) >= 0;) {
    count_digits(from_keys, n, shift, place);
    counts_to_serial_places(place);
    move_keys(from_keys, from_vals, n, shift, place, to_keys, to_vals);
    uint64_t *keys_swap = from_keys;
    from_keys = to_keys, to_keys = keys_swap;
    uint32_t *vals_swap = from_vals;
    from_vals = to_vals, to_vals = vals_swap;
  }
  if (from_keys == keys) return;
  memcpy(keys, from_keys, n * sizeof *keys);
  if (vals != NULL) memcpy(vals, from_vals, n * sizeof *vals);
}

/* Some hundreds of keys: one pass by the highest digit that varies leaves few keys for each of its values mostly, and
 * eight passes would take longer for their 256 counts than for the keys. Every call has its digit below that of its
 * caller, so there are at most eight within each other. */
static void sort_hundreds(uint64_t *keys, uint32_t *vals, size_t n, uint64_t *tmp_keys, uint32_t *tmp_vals) {
  uint32_t place[N_DIGITS];
  int sorted, shift = 64 - WIDTH;
  const uint64_t bits = varying_bits(keys, n, &sorted);
  if (sorted) return;
  while (shift > 0 && !(bits >> (shift + WIDTH - 1))) shift--;
  count_digits(keys, n, shift, place);
  counts_to_serial_places(place);
  move_keys(keys, vals, n, shift, place, tmp_keys, tmp_vals);
  memcpy(keys, tmp_keys, n * sizeof *keys);
  if (vals != NULL) memcpy(vals, tmp_vals, n * sizeof *vals);
  for (size_t d = 0, beg = 0; d < N_DIGITS; beg = place[d++]) {
    const size_t m = place[d] - beg; /* a place is the end of its digit now */
    uint32_t *its = vals == NULL ? NULL : vals + beg;
    if (m > FEW)
      sort_hundreds(keys + beg, its, m, tmp_keys, tmp_vals);
    else if (m > 1)
      insertion_sort(keys + beg, its, m);
  }
}

void gbt_sort_u64(uint64_t *keys, uint32_t *vals, size_t n, uint64_t *tmp_keys, uint32_t *tmp_vals) {
  GBT_ASSERT(n <= UINT32_MAX);
  if (n <= FEW) {
    insertion_sort(keys, vals, n);
    return;
  }
  if (n <= HUNDREDS) {
    sort_hundreds(keys, vals, n, tmp_keys, tmp_vals);
  } else {
    int sorted;
    const uint64_t bits = varying_bits(keys, n, &sorted);
    if (!sorted) sort_by_digits(keys, vals, n, tmp_keys, tmp_vals, bits);
  }
  GBT_ASSERT(gbt_sorted_u64(keys, n));
}

typedef struct job {
  const uint64_t *from_keys;
  const uint32_t *from_vals;
  uint64_t *to_keys;
  uint32_t *to_vals;
  size_t n;
  int shift;
  uint32_t *place; /* (n_blocks, N_DIGITS): counts, then places */
  uint64_t *bits;  /* n_blocks: bits that vary within and against the key before */
  int *sorted;     /* n_blocks */
} job;

static size_t block_size(const job *j, int64_t block) {
  size_t beg = (size_t)block * BLOCK;
  return j->n - beg < BLOCK ? j->n - beg : BLOCK;
}

static void look_task(void *arg, int64_t block, int thread) {
  (void)thread;
  job *j = arg;
  size_t beg = (size_t)block * BLOCK, before = beg > 0; /* the pair across the border belongs to the later block */
  j->bits[block] = varying_bits(j->from_keys + beg - before, block_size(j, block) + before, &j->sorted[block]);
}

static void count_task(void *arg, int64_t block, int thread) {
  (void)thread;
  job *j = arg;
  count_digits(j->from_keys + (size_t)block * BLOCK, block_size(j, block), j->shift,
               j->place + (size_t)block * N_DIGITS);
}

static void move_task(void *arg, int64_t block, int thread) {
  (void)thread;
  job *j = arg;
  size_t beg = (size_t)block * BLOCK;
  const uint32_t *vals = j->from_vals == NULL ? NULL : j->from_vals + beg;
  move_keys(j->from_keys + beg, vals, block_size(j, block), j->shift, j->place + (size_t)block * N_DIGITS, j->to_keys,
            j->to_vals);
}

static void copy_task(void *arg, int64_t block, int thread) {
  (void)thread;
  job *j = arg;
  size_t beg = (size_t)block * BLOCK, n = block_size(j, block);
  memcpy(j->to_keys + beg, j->from_keys + beg, n * sizeof *j->to_keys);
  if (j->to_vals != NULL) memcpy(j->to_vals + beg, j->from_vals + beg, n * sizeof *j->to_vals);
}

/* Counts become places: digit by digit, and within a digit block by block. */
static void counts_to_places(job *j, int64_t n_blocks) {
  uint32_t sum = 0;
  for (size_t k = 0; k < N_DIGITS; k++) {
    for (int64_t b = 0; b < n_blocks; b++) {
      uint32_t *at = &j->place[(size_t)b * N_DIGITS + k], count = *at;
      *at = sum;
      sum += count;
    }
  }
  GBT_ASSERT(sum == j->n);
}

static gbt_status sort_blocks(gbt_ctx *ctx, job *j, uint64_t *keys, uint32_t *vals, uint64_t *tmp_keys,
                              uint32_t *tmp_vals, int64_t n_blocks, gbt_error *err) {
  GBT_TRY(gbt_parallel(ctx, n_blocks, look_task, j, err));
  uint64_t bits = 0;
  int sorted = 1;
  for (int64_t b = 0; b < n_blocks; b++) {
    bits |= j->bits[b];
    sorted &= j->sorted[b];
  }
  if (sorted) return GBT_OK;
  for (int in_tmp = 0;; in_tmp = !in_tmp) {
    j->from_keys = in_tmp ? tmp_keys : keys;
    j->from_vals = in_tmp ? tmp_vals : vals;
    j->to_keys = in_tmp ? keys : tmp_keys;
    j->to_vals = in_tmp ? vals : tmp_vals;
    j->shift = next_digit(&bits);
    if (j->shift < 0) return in_tmp ? gbt_parallel(ctx, n_blocks, copy_task, j, err) : GBT_OK;
    GBT_TRY(gbt_parallel(ctx, n_blocks, count_task, j, err));
    counts_to_places(j, n_blocks);
    GBT_TRY(gbt_parallel(ctx, n_blocks, move_task, j, err));
  }
}

gbt_status gbt_sort_u64_parallel(gbt_ctx *ctx, uint64_t *keys, uint32_t *vals, size_t n, uint64_t *tmp_keys,
                                 uint32_t *tmp_vals, gbt_error *err) {
  GBT_ASSERT(n <= UINT32_MAX);
  if (n <= BLOCK) {
    GBT_TRY(gbt_ctx_poll(ctx, err));
    gbt_sort_u64(keys, vals, n, tmp_keys, tmp_vals);
    return GBT_OK;
  }
  if (vals == NULL) tmp_vals = NULL;
  gbt_status status = GBT_OK;
  int64_t n_blocks = (int64_t)((n + BLOCK - 1) / BLOCK);
  job j = {.from_keys = keys, .n = n};
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_blocks * N_DIGITS, sizeof *j.place, &j.place, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_blocks, sizeof *j.bits, &j.bits, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_blocks, sizeof *j.sorted, &j.sorted, err), done);
  GBT_TRY_GOTO(sort_blocks(ctx, &j, keys, vals, tmp_keys, tmp_vals, n_blocks, err), done);
  GBT_ASSERT(gbt_sorted_u64(keys, n));
done:
  gbt_mem_free(&ctx->mem, j.place);
  gbt_mem_free(&ctx->mem, j.bits);
  gbt_mem_free(&ctx->mem, j.sorted);
  return status;
}
