/* Cuts of one numeric column. Most columns of real tables have few distinct values: those are collected in a small hash
 * set, one pass over the column and no sort. As soon as there are more than max_bin, the quantiles' turn has come. */
#include <math.h>
#include <string.h>

#include "../base/order.h"
#include "../base/sort.h"
#include "cuts_impl.h"

/* A set of keys: open addressing, at most half full. EMPTY is the bits of a NaN, never a key. */
#define EMPTY UINT64_MAX

typedef struct key_set {
  uint64_t *bucket; /* 2^bits */
  int bits;
  int32_t n, most;
} key_set;

/* 0 when the key would be one too many. */
static int set_add(key_set *set, uint64_t key) {
  uint64_t mask = ((uint64_t)1 << set->bits) - 1, i = (key * 0x9e3779b97f4a7c15u) >> (64 - set->bits);
  while (set->bucket[i] != key) {
    if (set->bucket[i] == EMPTY) {
      if (set->n == set->most) return 0;
      set->bucket[i] = key;
      set->n++;
      return 1;
    }
    i = (i + 1) & mask;
  }
  return 1;
}

/* Collects the distinct keys; *many: there are more than set->most. */
static gbt_status collect(const gbti_cut_input *input, key_set *set, int *many, gbt_error *err) {
  gbti_stream s;
  uint64_t last = EMPTY;
  *many = 0;
  gbti_stream_open(&s, input);
  while (gbti_stream_next(&s)) {
    for (int32_t i = 0; i < s.n; i++) {
      uint64_t key = gbt_order_key(s.x[i]);
      if (key == last) continue;
      last = key;
      if (set_add(set, key)) continue;
      *many = 1;
      return GBT_OK;
    }
  }
  return gbti_stream_end(&s, err);
}

/* One bin per key of the set; the keys are closed up and sorted in place. Returns the number of cuts before the last.
 */
static int32_t cut_each(const key_set *set, uint64_t *tmp, double *cut) {
  int32_t n = 0;
  for (size_t i = 0; i < (size_t)1 << set->bits; i++)
    if (set->bucket[i] != EMPTY) set->bucket[n++] = set->bucket[i];
  gbt_sort_u64(set->bucket, NULL, (size_t)n, tmp, NULL);
  for (int32_t i = 0; i + 1 < n; i++) cut[i] = gbti_cut_between(set->bucket[i], set->bucket[i + 1]);
  return n > 0 ? n - 1 : 0;
}

gbt_status gbti_numeric_cuts(const gbti_cut_input *input, int32_t max_bin, int exact, double **out, int32_t *n_bins,
                             gbt_error *err) {
  const gbt_mem *mem = &input->job->ctx->mem;
  gbt_status status = GBT_OK;
  uint64_t *tmp = NULL;
  double *cut = NULL;
  int64_t n_most = input->in.n_entries + (input->absent_weight != 0);
  int32_t most = n_most < max_bin ? (int32_t)n_most : max_bin, n_cuts = 0, many;
  key_set set = {NULL, 1, 0, most};
  *out = NULL;
  while (((int64_t)1 << set.bits) < 2 * (int64_t)most) set.bits++;
  GBT_ASSERT(set.bits >= 1 && set.bits <= 32);
  size_t n_buckets = (size_t)1 << set.bits;
  GBT_TRY_GOTO(gbt_mem_array(mem, n_buckets, sizeof *set.bucket, &set.bucket, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)most, sizeof *tmp, &tmp, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)most + 1, sizeof *cut, &cut, err), done);
  memset(set.bucket, 0xff, n_buckets * sizeof *set.bucket);
  GBT_TRY_GOTO(collect(input, &set, &many, err), done);
  *n_bins = 0;
  if (many && exact) goto done;
  if (many)
    GBT_TRY_GOTO(gbti_quantile_cuts(input, max_bin, cut, &n_cuts, err), done);
  else
    n_cuts = cut_each(&set, tmp, cut);
  cut[n_cuts] = (double)INFINITY;
  GBT_ASSERT(n_cuts < max_bin && gbt_ascend_f64(cut, (size_t)n_cuts + 1));
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n_cuts + 1, sizeof **out, out, err), done);
  memcpy(*out, cut, ((size_t)n_cuts + 1) * sizeof *cut);
  *n_bins = n_cuts + 1;
done:
  gbt_mem_free(mem, set.bucket);
  gbt_mem_free(mem, tmp);
  gbt_mem_free(mem, cut);
  return status;
}
