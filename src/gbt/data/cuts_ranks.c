/* Columns whose rows are shared out among ranks: whether all ranks have the same ones, and the runs of numbers. Every
 * rank makes its distinct values and their weights, some columns at a time; cuts_refine.c finds the cuts of the runs of
 * all ranks. */
#include <string.h>

#include "../base/rng.h"
#include "cuts_impl.h"
#include "job.h"

/* ---- the same columns everywhere ---- */

static uint64_t mix_text(uint64_t h, const char *text) {
  h = gbt_mix64(h ^ (text != NULL));
  for (; text != NULL && *text != 0; text++) h = gbt_mix64(h ^ (unsigned char)*text);
  return h;
}

static uint64_t mix_columns(const gbt_table *table, int32_t max_bin) {
  uint64_t h = gbt_mix64((uint64_t)table->n_cols ^ (uint64_t)max_bin << 32);
  h = gbt_mix64(h ^ (uint64_t)(table->absent_missing != 0));
  for (int32_t c = 0; c < table->n_cols; c++) {
    const gbt_column *col = &table->cols[c];
    h = mix_text(mix_text(h, col->name), col->tag != NULL ? col->tag : "");
    h = gbt_mix64(h ^ ((uint64_t)col->type | (uint64_t)col->derive << 32));
    for (int32_t i = 0; col->type == GBT_ORDINAL && i < col->n_levels; i++) h = mix_text(h, col->levels[i]);
  }
  return h;
}

gbt_status gbti_counts_match(gbt_ctx *ctx, const gbt_table *table, const gbti_levels *levels, gbt_error *err) {
  uint64_t h = 0;
  int same;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  for (int32_t c = 0; c < table->n_cols; c++)
    for (int32_t i = 0; table->cols[c].derive != 0 && i < levels[c].n; i++)
      h = gbt_mix64(h ^ gbt_bits(levels[c].count[i]));
  GBT_TRY(gbt_comm_same(ctx, h, &same, err));
  return same ? GBT_OK
              : gbt_fail(err, GBT_E_DATA, "the ranks have different level counts; give all of them the same model's");
}

gbt_status gbti_ranks_match(gbt_ctx *ctx, const gbt_table *table, const double *weight, int32_t max_bin,
                            int *weighted, gbt_error *err) {
  int64_t have[2] = {table->n_rows > 0 && weight != NULL, table->n_rows > 0 && weight == NULL};
  int same;
  *weighted = weight != NULL;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  GBT_TRY(gbt_comm_same(ctx, mix_columns(table, max_bin), &same, err));
  if (!same)
    return gbt_fail(err, GBT_E_DATA,
                    "the ranks have different columns; give all of them columns of the same names and types in the "
                    "same order, ordered factors with the same levels, and the same `max_bin`");
  GBT_TRY(gbt_comm_max_i64(ctx, have, 2, err));
  *weighted = have[0] != 0;
  if (have[0] && have[1])
    return gbt_fail_on(err, GBT_E_DATA, "weights", "weights: only some ranks have them; give them on all ranks");
  return GBT_OK;
}

/* ---- runs ---- */

void gbti_runs_free(const gbt_mem *mem, gbti_runs *runs) {
  gbt_mem_free(mem, runs->key);
  gbt_mem_free(mem, runs->upto);
  *runs = (gbti_runs){NULL, NULL, 0};
}

/* n keys in order become runs in place; weights come by row, or are 1. Weights are summed up later. */
static void close_up(const gbti_cut_input *input, gbti_runs *runs, const uint32_t *row, int64_t n) {
  int64_t m = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t w = row != NULL ? input->weight[row[i]] : 1;
    if (m > 0 && runs->key[m - 1] == runs->key[i]) {
      runs->upto[m - 1] += w;
    } else {
      runs->key[m] = runs->key[i];
      runs->upto[m++] = w;
    }
  }
  runs->n = m;
}

/* The rows without an entry; there is room for one more run. */
static void add_absent(gbti_runs *runs, uint64_t weight) {
  const uint64_t zero = gbt_order_key(0.0);
  int64_t at = 0;
  if (weight == 0) return;
  while (at < runs->n && runs->key[at] < zero) at++;
  if (at < runs->n && runs->key[at] == zero) {
    runs->upto[at] += weight;
    return;
  }
  memmove(runs->key + at + 1, runs->key + at, (size_t)(runs->n - at) * sizeof *runs->key);
  memmove(runs->upto + at + 1, runs->upto + at, (size_t)(runs->n - at) * sizeof *runs->upto);
  runs->key[at] = zero;
  runs->upto[at] = weight;
  runs->n++;
}

gbt_status gbti_runs_make(const gbti_cut_input *input, gbti_runs *out, gbt_error *err) {
  const gbt_mem *mem = &input->job->ctx->mem;
  size_t most = (size_t)input->in.n_entries + 1;
  gbt_status status = GBT_OK;
  uint32_t *row = NULL, *row_tmp = NULL;
  gbti_cut_input entries = *input;
  gbti_stream s;
  int64_t n = 0;
  entries.absent_weight = 0;
  *out = (gbti_runs){NULL, NULL, 0};
  GBT_TRY_GOTO(gbt_mem_array(mem, most, sizeof *out->key, &out->key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, most, sizeof *out->upto, &out->upto, err), done);
  if (input->weight != NULL) {
    GBT_TRY_GOTO(gbt_mem_array(mem, most, sizeof *row, &row, err), done);
    GBT_TRY_GOTO(gbt_mem_array(mem, most, sizeof *row_tmp, &row_tmp, err), done);
  }
  gbti_stream_open(&s, &entries);
  while (gbti_stream_next(&s))
    for (int32_t i = 0; i < s.n; i++) {
      out->key[n] = gbt_order_key(s.x[i]);
      if (row != NULL) row[n] = s.row[i];
      n++;
    }
  GBT_TRY_GOTO(gbti_stream_end(&s, err), done);
  GBT_TRY_GOTO(gbti_sort_keys(input, out->key, row, (uint64_t)n, out->upto, row_tmp, err), done);
  close_up(input, out, row, n);
  add_absent(out, input->absent_weight);
  for (int64_t i = 1; i < out->n; i++) out->upto[i] += out->upto[i - 1];
done:
  gbt_mem_free(mem, row);
  gbt_mem_free(mem, row_tmp);
  if (status != GBT_OK) gbti_runs_free(mem, out);
  return status;
}
