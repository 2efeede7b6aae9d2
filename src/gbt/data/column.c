#include "column.h"

#include <math.h>

gbti_column_reader gbti_column_reader_make(const gbt_table *table, const gbt_column *col, const int32_t *code_map,
                                           const double *value) {
  gbti_column_reader in = {.col = col,
                           .code_map = code_map,
                           .value = value,
                           .absent = 0.0,
                           .unseen = (double)NAN,
                           .n_entries = col->rows != NULL ? col->n_entries : table->n_rows};
  if (table->absent_missing || col->storage == GBT_CODES) in.absent = (double)NAN; /* code 0 is missing */
  return in;
}

static void read_codes(const gbti_column_reader *in, const int32_t *code, int32_t n, double *out) {
  const int32_t *map = in->code_map;
  const double gone[2] = {in->unseen, (double)NAN}, *value = in->value;
  for (int32_t i = 0; i < n && value == NULL; i++) {
    int32_t m = map[code[i] < 0 ? 0 : code[i]];
    out[i] = m >= 0 ? (double)m : gone[-1 - m];
  }
  for (int32_t i = 0; i < n && value != NULL; i++) {
    int32_t m = map[code[i] < 0 ? 0 : code[i]];
    out[i] = m >= 0 ? value[m] : gone[-1 - m];
  }
  for (int32_t i = 0; i < n && in->n_bins > 0; i++)
    if (out[i] >= in->n_bins) out[i] = (double)NAN;
}

void gbti_code_values(const gbti_column_reader *in, double *out) {
  for (int32_t c = 0; c <= in->col->n_levels; c++) read_codes(in, &c, 1, out + c);
}

const double *gbti_read_entries(const gbti_column_reader *in, int64_t beg, int32_t n, double *buf) {
  const void *values = in->col->values;
  if (values == NULL) {
    for (int32_t i = 0; i < n; i++) buf[i] = 1.0;
    return buf;
  }
  switch (in->col->storage) {
  case GBT_F64:
    return (const double *)values + beg;
  case GBT_I32: {
    const int32_t *v = (const int32_t *)values + beg;
    for (int32_t i = 0; i < n; i++) buf[i] = gbti_of_i32(v[i]);
    return buf;
  }
  case GBT_I64: {
    const int64_t *v = (const int64_t *)values + beg;
    for (int32_t i = 0; i < n; i++) buf[i] = gbti_of_i64(v[i]);
    return buf;
  }
  case GBT_CODES:
    read_codes(in, (const int32_t *)values + beg, n, buf);
    return buf;
  }
  return buf;
}

int64_t gbti_find_entry(const gbti_column_reader *in, int64_t row, int64_t guess) {
  const int32_t *rows = in->col->rows;
  int64_t n = in->n_entries;
  if (guess >= 0 && guess <= n && (guess == 0 || rows[guess - 1] < row) && (guess == n || rows[guess] >= row))
    return guess;
  int64_t low = 0, high = n;
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    if (rows[mid] < row)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

const double *gbti_read_rows(const gbti_column_reader *in, int64_t beg, int32_t n, int64_t *cursor, double *buf) {
  const int32_t *rows = in->col->rows;
  if (rows == NULL) return gbti_read_entries(in, beg, n, buf);
  for (int32_t i = 0; i < n; i++) buf[i] = in->absent;
  int64_t e = gbti_find_entry(in, beg, *cursor);
  for (; e < in->n_entries && rows[e] < beg + n; e++) {
    double one;
    buf[rows[e] - beg] = *gbti_read_entries(in, e, 1, &one);
  }
  *cursor = e;
  return buf;
}
