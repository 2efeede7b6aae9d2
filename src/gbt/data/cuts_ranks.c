/* Cuts of columns whose rows are shared out among ranks.
 *
 *   numbers   every rank makes its distinct values and their weights (runs), some columns at a time; cuts_refine.c
 *             finds the cuts of the runs of all ranks
 *   levels    counts and first rows by text; all ranks get those of all ranks */
#include <math.h>
#include <string.h>

#include "../base/parallel.h"
#include "../base/rng.h"
#include "../base/sort.h"
#include "../schema/schema_impl.h"
#include "binding.h"
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
    return gbt_fail_on(err, GBT_E_DATA, "weights", "weights: some ranks have them, others have none");
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

/* ---- levels ---- */

/* Levels of this rank, or of all ranks. */
typedef struct texts {
  uint64_t *number; /* count and first row of each level, among the rows of all ranks */
  char *text;       /* concatenated, each with its 0 */
  int64_t n, bytes;
} texts;

static gbt_status list_texts(const gbt_mem *mem, const gbt_column *col, const gbti_tally *t, int64_t rows_before,
                             texts *out, gbt_error *err) {
  for (int32_t i = 0; i < col->n_levels; i++) {
    if (t->count[i + 1] == 0) continue;
    out->n++;
    out->bytes += (int64_t)strlen(col->levels[i]) + 1;
  }
  GBT_TRY(gbt_mem_array(mem, (size_t)out->n, 2 * sizeof *out->number, &out->number, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)out->bytes, 1, &out->text, err));
  uint64_t *number = out->number;
  char *text = out->text;
  for (int32_t i = 0; i < col->n_levels; i++) {
    if (t->count[i + 1] == 0) continue;
    *number++ = t->count[i + 1];
    *number++ = t->first[i + 1] + (uint64_t)rows_before;
    size_t length = strlen(col->levels[i]) + 1;
    memcpy(text, col->levels[i], length);
    text += length;
  }
  return GBT_OK;
}

static gbt_status gather_texts(gbt_ctx *ctx, const texts *mine, texts *all, gbt_error *err) {
  const size_t size = (size_t)gbt_comm_size(ctx);
  gbt_status status = GBT_OK;
  const int64_t sizes[2] = {mine->n, mine->bytes};
  int64_t *every = NULL;
  size_t *bytes = NULL;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, 2 * size, sizeof *every, &every, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, size, sizeof *bytes, &bytes, err), done);
  GBT_TRY_GOTO(gbt_comm_gather_i64(ctx, sizes, 2, every, err), done);
  for (size_t r = 0; r < size; r++) {
    all->n += every[2 * r];
    all->bytes += every[2 * r + 1];
  }
  if (all->n > INT32_MAX) {
    status = gbt_fail(err, GBT_E_UNSUPPORTED, "a factor has too many levels");
    goto done;
  }
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)all->n, 2 * sizeof *all->number, &all->number, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)all->bytes, 1, &all->text, err), done);
  for (size_t r = 0; r < size; r++) bytes[r] = (size_t)every[2 * r] * 2 * sizeof *all->number;
  GBT_TRY_GOTO(gbt_comm_gather(ctx, mine->number, bytes, all->number, err), done);
  for (size_t r = 0; r < size; r++) bytes[r] = (size_t)every[2 * r + 1];
  GBT_TRY_GOTO(gbt_comm_gather(ctx, mine->text, bytes, all->text, err), done);
done:
  gbt_mem_free(&ctx->mem, every);
  gbt_mem_free(&ctx->mem, bytes);
  return status;
}

/* text, count and first get one element for each level of `all`. Levels with equal texts are merged to the first of
 * them. */
static gbt_status merge_texts(gbt_ctx *ctx, const texts *all, const char **text, uint64_t *count, uint64_t *first,
                              gbt_error *err) {
  int32_t n = (int32_t)all->n, *twin;
  const char *at = all->text;
  for (int32_t i = 0; i < n; i++, at += strlen(at) + 1) text[i] = at;
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n, sizeof *twin, &twin, err));
  gbt_status status = gbt_match_many_texts(ctx, 0, text, n, text, n, twin, err);
  for (int32_t i = 0; i < n && status == GBT_OK; i++) {
    int32_t to = twin[i];
    count[i] = all->number[2 * i];
    first[i] = all->number[2 * i + 1];
    if (to == i) continue;
    count[to] += count[i]; /* of a rank before: its rows come first */
    count[i] = 0;
  }
  gbt_mem_free(&ctx->mem, twin);
  return status;
}

/* As gbti_order_levels, of numbers that 32 bits need not hold: by first rows, then stably by counts. */
static gbt_status order_texts(const gbt_mem *mem, int32_t n, const uint64_t *count, const uint64_t *first,
                              uint32_t *order, int32_t *n_found, gbt_error *err) {
  gbt_status status = GBT_OK;
  uint64_t *key = NULL, *tmp = NULL;
  uint32_t *order_tmp = NULL;
  size_t found = 0;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *key, &key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *tmp, &tmp, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *order_tmp, &order_tmp, err), done);
  for (int32_t i = 0; i < n; i++)
    if (count[i] > 0) order[found++] = (uint32_t)i;
  for (size_t i = 0; i < found; i++) key[i] = first[order[i]];
  gbt_sort_u64(key, order, found, tmp, order_tmp);
  for (size_t i = 0; i < found; i++) key[i] = UINT64_MAX - count[order[i]];
  gbt_sort_u64(key, order, found, tmp, order_tmp);
done:
  gbt_mem_free(mem, key);
  gbt_mem_free(mem, tmp);
  gbt_mem_free(mem, order_tmp);
  *n_found = (int32_t)found;
  return status;
}

static gbt_status take_texts(gbt_ctx *ctx, texts *all, int64_t n_given, int64_t n_rows, gbti_levels *out,
                             gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  size_t n = (size_t)all->n;
  gbt_status status = GBT_OK;
  const char **text = NULL;
  uint64_t *count = NULL, *first = NULL;
  uint32_t *order = NULL;
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *text, &text, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *count, &count, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *first, &first, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *order, &order, err), done);
  GBT_TRY_GOTO(merge_texts(ctx, all, text, count, first, err), done);
  GBT_TRY_GOTO(order_texts(mem, (int32_t)n, count, first, order, &out->n, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)out->n, sizeof *out->text, &out->text, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)out->n, sizeof *out->count, &out->count, err), done);
  for (int32_t i = 0; i < out->n; i++) {
    out->text[i] = text[order[i]];
    out->count[i] = (double)count[order[i]];
  }
  out->has_missing = n_given < n_rows;
  out->block = all->text;
  all->text = NULL;
done:
  gbt_mem_free(mem, text);
  gbt_mem_free(mem, count);
  gbt_mem_free(mem, first);
  gbt_mem_free(mem, order);
  return status;
}

gbt_status gbti_levels_gather(gbt_ctx *ctx, const gbt_table *table, const gbt_column *col, const gbti_tally *tally,
                              gbti_job *job, gbt_share share, gbti_levels *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbti_tally own = {NULL, NULL, NULL, 0};
  texts mine = {NULL, NULL, 0, 0}, all = mine;
  memset(out, 0, sizeof *out);
  if (tally == NULL) {
    GBT_TRY_GOTO(gbti_tally_make(&ctx->mem, table, col, job, 0, &own, err), done);
    tally = &own;
  }
  int64_t n_given = tally->n_given;
  GBT_TRY_GOTO(list_texts(&ctx->mem, col, tally, share.beg, &mine, err), done);
  GBT_TRY_GOTO(gather_texts(ctx, &mine, &all, err), done);
  GBT_TRY_GOTO(gbt_comm_sum_i64(ctx, &n_given, 1, err), done);
  GBT_TRY_GOTO(take_texts(ctx, &all, n_given, share.all, out, err), done);
done:
  gbti_tally_free(&ctx->mem, &own);
  gbt_mem_free(&ctx->mem, mine.number);
  gbt_mem_free(&ctx->mem, mine.text);
  gbt_mem_free(&ctx->mem, all.number);
  gbt_mem_free(&ctx->mem, all.text);
  if (status != GBT_OK) gbti_levels_free(&ctx->mem, out);
  return status;
}
