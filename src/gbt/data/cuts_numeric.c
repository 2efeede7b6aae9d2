/* Cuts of one numeric column. Most columns of real tables have few distinct values: those are collected in a small hash
 * set, one pass over the column and no sort. As soon as there are more than max_bin, the quantiles' turn has come. */
#include <math.h>
#include <string.h>

#include "../base/sort.h"
#include "../base/bits.h"
#include "cuts_impl.h"

void gbti_stream_open(gbti_stream *stream, const gbti_source *source) {
  stream->source = source;
  stream->at = 0;
  stream->done = stream->stopped = 0;
  stream->n = 0;
}

/* Numbers among n entries, closed up; in place is allowed. Branch-free: missing values are as good as random. */
static int32_t close_up(const double *x, int32_t n, double *to) {
  int32_t m = 0;
  for (int32_t i = 0; i < n; i++) {
    double v = x[i];
    to[m] = v;
    m += v == v;
  }
  return m;
}

static int32_t close_up_weighty(const gbti_source *source, const double *x, int64_t beg, int32_t n, double *to,
                                uint32_t *row) {
  const int32_t *rows = source->in.col->rows;
  int32_t m = 0;
  for (int32_t i = 0; i < n; i++) {
    double v = x[i];
    uint32_t r = rows != NULL ? (uint32_t)rows[beg + i] : (uint32_t)(beg + i);
    to[m] = v;
    row[m] = r;
    m += (v == v) & (source->weight[r] != 0);
  }
  return m;
}

/* By integers alone, which every compiler can do several at a time: NaNs are the bits above those of infinity. */
static int any_missing(const double *x, int32_t n) {
  uint64_t any = 0;
  for (int32_t i = 0; i < n; i++) any |= 0x7ff0000000000000u - (gbt_bits(x[i]) & INT64_MAX);
  return (int)(any >> 63);
}

static void next_block(gbti_stream *stream, int32_t n) {
  const gbti_source *source = stream->source;
  const double *x = gbti_read_entries(&source->in, stream->at, n, stream->buf);
  stream->x = stream->buf;
  if (source->weight != NULL) {
    stream->n = close_up_weighty(source, x, stream->at, n, stream->buf, stream->row);
  } else if (any_missing(x, n)) {
    stream->n = close_up(x, n, stream->buf);
  } else {
    stream->x = x;
    stream->n = n;
  }
  stream->at += n;
}

int gbti_stream_next(gbti_stream *stream) {
  enum { ASK_EVERY = 256 * GBTI_BLOCK };
  const gbti_source *source = stream->source;
  int64_t left = source->in.n_entries - stream->at;
  if (left > 0) {
    if (stream->at % ASK_EVERY == 0 && gbti_job_stopped(source->job, source->thread)) {
      stream->stopped = 1;
      return 0;
    }
    next_block(stream, left < GBTI_BLOCK ? (int32_t)left : GBTI_BLOCK);
    return 1;
  }
  if (stream->done || source->absent_weight == 0) return 0;
  stream->done = 1;
  stream->n = 1;
  stream->x = stream->buf;
  stream->buf[0] = 0.0;
  stream->row[0] = GBTI_ABSENT;
  return 1;
}

gbt_status gbti_stream_end(const gbti_stream *stream, gbt_error *err) {
  return stream->stopped ? gbt_fail(err, GBT_CANCELLED, "stopped on request") : GBT_OK;
}

double gbti_cut_between(uint64_t key, uint64_t next_key) {
  double low = gbt_order_value(key), high = gbt_order_value(next_key);
  double mid = low + (high - low) / 2;
  return isfinite(mid) && mid < high ? mid : low;
}

/* A set of keys: open addressing, at most half full. EMPTY is the bits of a NaN, never a key. */
#define EMPTY UINT64_MAX

typedef struct key_set {
  uint64_t *slot; /* 2^bits */
  int bits;
  int32_t n, most;
} key_set;

/* 0 when the key would be one too many. */
static int set_add(key_set *set, uint64_t key) {
  uint64_t mask = ((uint64_t)1 << set->bits) - 1, i = (key * 0x9e3779b97f4a7c15u) >> (64 - set->bits);
  while (set->slot[i] != key) {
    if (set->slot[i] == EMPTY) {
      if (set->n == set->most) return 0;
      set->slot[i] = key;
      set->n++;
      return 1;
    }
    i = (i + 1) & mask;
  }
  return 1;
}

/* Collects the distinct keys; *many: there are more than set->most. */
static gbt_status collect(const gbti_source *source, key_set *set, int *many, gbt_error *err) {
  gbti_stream s;
  uint64_t last = EMPTY;
  *many = 0;
  gbti_stream_open(&s, source);
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
    if (set->slot[i] != EMPTY) set->slot[n++] = set->slot[i];
  gbt_sort_u64(set->slot, NULL, (size_t)n, tmp, NULL);
  for (int32_t i = 0; i + 1 < n; i++) cut[i] = gbti_cut_between(set->slot[i], set->slot[i + 1]);
  return n > 0 ? n - 1 : 0;
}

gbt_status gbti_numeric_cuts(const gbti_source *source, int32_t max_bin, double **out, int32_t *n_bins,
                             gbt_error *err) {
  const gbt_mem *mem = &source->job->ctx->mem;
  gbt_status status = GBT_OK;
  uint64_t *tmp = NULL;
  double *cut = NULL;
  int64_t n_most = source->in.n_entries + (source->absent_weight != 0);
  int32_t most = n_most < max_bin ? (int32_t)n_most : max_bin, n_cuts = 0, many;
  key_set set = {NULL, 1, 0, most};
  *out = NULL;
  while (((int64_t)1 << set.bits) < 2 * (int64_t)most) set.bits++;
  GBT_ASSERT(set.bits >= 1 && set.bits <= 32);
  size_t n_slots = (size_t)1 << set.bits;
  GBT_TRY_GOTO(gbt_mem_array(mem, n_slots, sizeof *set.slot, &set.slot, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)most, sizeof *tmp, &tmp, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)most + 1, sizeof *cut, &cut, err), done);
  memset(set.slot, 0xff, n_slots * sizeof *set.slot);
  GBT_TRY_GOTO(collect(source, &set, &many, err), done);
  if (many)
    GBT_TRY_GOTO(gbti_quantile_cuts(source, max_bin, cut, &n_cuts, err), done);
  else
    n_cuts = cut_each(&set, tmp, cut);
  cut[n_cuts] = (double)INFINITY;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n_cuts + 1, sizeof **out, out, err), done);
  memcpy(*out, cut, ((size_t)n_cuts + 1) * sizeof *cut);
  *n_bins = n_cuts + 1;
done:
  gbt_mem_free(mem, set.slot);
  gbt_mem_free(mem, tmp);
  gbt_mem_free(mem, cut);
  return status;
}
