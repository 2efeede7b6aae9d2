/* The numbers of a column block by block, missing values left out; and the cut between two neighbours. */
#include <math.h>

#include "../base/bits.h"
#include "cuts_impl.h"

void gbti_stream_open(gbti_stream *stream, const gbti_cut_input *input) {
  stream->input = input;
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

static int32_t merge_weighted(const gbti_cut_input *input, const double *x, int64_t beg, int32_t n, double *to,
                              uint32_t *row) {
  const int32_t *rows = input->in.col->rows;
  int32_t m = 0;
  for (int32_t i = 0; i < n; i++) {
    double v = x[i];
    uint32_t r = rows != NULL ? (uint32_t)rows[beg + i] : (uint32_t)(beg + i);
    to[m] = v;
    row[m] = r;
    m += (v == v) & (input->weight[r] != 0);
  }
  return m;
}

/* Compares integers, which every compiler vectorizes: the bits of NaNs are above those of infinity. */
static int any_missing(const double *x, int32_t n) {
  uint64_t any = 0;
  for (int32_t i = 0; i < n; i++) any |= 0x7ff0000000000000u - (gbt_bits(x[i]) & INT64_MAX);
  return (int)(any >> 63);
}

static void next_block(gbti_stream *stream, int32_t n) {
  const gbti_cut_input *input = stream->input;
  const double *x = gbti_read_entries(&input->in, stream->at, n, stream->buf);
  stream->x = stream->buf;
  if (input->weight != NULL) {
    stream->n = merge_weighted(input, x, stream->at, n, stream->buf, stream->row);
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
  const gbti_cut_input *input = stream->input;
  int64_t left = input->in.n_entries - stream->at;
  if (left > 0) {
    if (stream->at % ASK_EVERY == 0 && gbti_job_stopped(input->job, input->thread)) {
      stream->stopped = 1;
      return 0;
    }
    next_block(stream, left < GBTI_BLOCK ? (int32_t)left : GBTI_BLOCK);
    return 1;
  }
  if (stream->done || input->absent_weight == 0) return 0;
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
