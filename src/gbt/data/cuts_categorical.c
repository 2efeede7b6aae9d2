/* Dictionaries of columns with levels.
 *
 *   categorical   levels that occur, most frequent first, ties by first row
 *   ordinal       all levels in the column's own order
 *
 * Codes that share a text are one level: the one of the lowest of these codes. Rows are counted, without their
 * weights. */
#include <string.h>

#include "../base/sort.h"
#include "../schema/schema_impl.h"
#include "binding.h"
#include "cuts_impl.h"
#include "job.h"

/* For every level the first one with its text, or -1 when it has none. */
static gbt_status find_twins(gbt_ctx *ctx, int thread, const gbt_column *col, int32_t **out, gbt_error *err) {
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)col->n_levels, sizeof **out, out, err));
  return gbt_match_many_texts(ctx, thread, col->levels, col->n_levels, col->levels, col->n_levels, *out, err);
}

static gbt_status count_codes(const gbt_table *table, const gbt_column *col, gbti_job *job, int thread, gbti_tally *t,
                              gbt_error *err) {
  enum { CHUNK = 1 << 18 };
  const int32_t *code = col->values;
  int64_t n = col->rows != NULL ? col->n_entries : table->n_rows;
  for (int64_t e = 0; e < n; e++) {
    int32_t c = code[e] < 0 ? 0 : code[e];
    if (t->count[c]++ == 0) t->first[c] = col->rows != NULL ? (uint32_t)col->rows[e] : (uint32_t)e;
    if (e % CHUNK == 0 && gbti_job_stopped(job, thread)) return gbt_fail(err, GBT_CANCELLED, "stopped on request");
  }
  return GBT_OK;
}

/* Counts of codes with one text go to the first of them; codes without a text count nothing. */
static void merge_twins(const gbt_column *col, gbti_tally *t) {
  for (int32_t i = 0; i < col->n_levels; i++) {
    uint32_t n = t->count[i + 1];
    if (t->twin[i] < 0) t->count[i + 1] = 0;
    if (n == 0 || t->twin[i] < 0) continue;
    t->n_given += n;
    if (t->twin[i] == i) continue;
    uint32_t to = (uint32_t)t->twin[i] + 1;
    if (t->count[to] == 0 || t->first[i + 1] < t->first[to]) t->first[to] = t->first[i + 1];
    t->count[to] += n;
    t->count[i + 1] = 0;
  }
}

gbt_status gbti_tally_make(const gbt_mem *mem, const gbt_table *table, const gbt_column *col, gbti_job *job,
                           int thread, gbti_tally *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  size_t n = (size_t)col->n_levels;
  *out = (gbti_tally){NULL, NULL, NULL, 0};
  GBT_TRY_GOTO(find_twins(job->ctx, thread, col, &out->twin, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, n + 1, sizeof *out->count, &out->count, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n + 1, sizeof *out->first, &out->first, err), done);
  GBT_TRY_GOTO(count_codes(table, col, job, thread, out, err), done);
  merge_twins(col, out);
done:
  if (status != GBT_OK) gbti_tally_free(mem, out);
  return status;
}

void gbti_tally_free(const gbt_mem *mem, gbti_tally *tally) {
  gbt_mem_free(mem, tally->twin);
  gbt_mem_free(mem, tally->count);
  gbt_mem_free(mem, tally->first);
  *tally = (gbti_tally){NULL, NULL, NULL, 0};
}

gbt_status gbti_order_levels(const gbt_mem *mem, int32_t n, const uint32_t *count, const uint32_t *first,
                             uint32_t *order, int32_t *n_found, gbt_error *err) {
  gbt_status status = GBT_OK;
  uint64_t *key = NULL, *tmp = NULL;
  uint32_t *order_tmp = NULL;
  *n_found = 0;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *key, &key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *tmp, &tmp, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *order_tmp, &order_tmp, err), done);
  for (int32_t i = 0; i < n; i++) {
    if (count[i] == 0) continue;
    key[*n_found] = (uint64_t)(UINT32_MAX - count[i]) << 32 | first[i];
    order[(*n_found)++] = (uint32_t)i;
  }
  gbt_sort_u64(key, order, (size_t)*n_found, tmp, order_tmp);
done:
  gbt_mem_free(mem, key);
  gbt_mem_free(mem, tmp);
  gbt_mem_free(mem, order_tmp);
  return status;
}

static gbt_status order_categorical(const gbt_mem *mem, const gbt_table *table, const gbt_column *col,
                                    const gbti_tally *t, gbti_levels *out, gbt_error *err) {
  uint32_t *order;
  GBT_TRY(gbt_mem_array(mem, (size_t)col->n_levels, sizeof *order, &order, err));
  gbt_status status = gbti_order_levels(mem, col->n_levels, t->count + 1, t->first + 1, order, &out->n, err);
  if (status == GBT_OK) {
    out->has_missing = t->n_given < table->n_rows;
    for (int32_t i = 0; i < out->n; i++) {
      out->map[order[i] + 1] = i;
      out->text[i] = col->levels[order[i]];
      out->count[i] = (double)t->count[order[i] + 1];
    }
  }
  gbt_mem_free(mem, order);
  return status;
}

static void list_ordinal(const gbt_column *col, const gbti_tally *t, gbti_levels *out) {
  for (int32_t i = 0; i < col->n_levels; i++) {
    if (t->twin[i] != i) continue;
    out->map[i + 1] = out->n;
    out->text[out->n++] = col->levels[i];
  }
}

gbt_status gbti_levels_build(const gbt_mem *mem, const gbt_table *table, const gbt_column *col,
                             const gbti_tally *tally, gbti_job *job, int thread, gbti_levels *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbti_tally own = {NULL, NULL, NULL, 0};
  memset(out, 0, sizeof *out);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)col->n_levels, sizeof *out->text, &out->text, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)col->n_levels + 1, sizeof *out->map, &out->map, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)col->n_levels, sizeof *out->count, &out->count, err), done);
  for (int32_t c = 0; c <= col->n_levels; c++) out->map[c] = GBTI_CODE_MISSING;
  if (tally == NULL) {
    if (col->type == GBT_CATEGORICAL)
      GBT_TRY_GOTO(gbti_tally_make(mem, table, col, job, thread, &own, err), done);
    else
      GBT_TRY_GOTO(find_twins(job->ctx, thread, col, &own.twin, err), done);
    tally = &own;
  }
  if (col->type == GBT_CATEGORICAL)
    GBT_TRY_GOTO(order_categorical(mem, table, col, tally, out, err), done);
  else
    list_ordinal(col, tally, out);
  for (int32_t i = 0; i < col->n_levels; i++)
    if (tally->twin[i] >= 0) out->map[i + 1] = out->map[tally->twin[i] + 1];
done:
  gbti_tally_free(mem, &own);
  if (status != GBT_OK) gbti_levels_free(mem, out);
  return status;
}

void gbti_levels_free(const gbt_mem *mem, gbti_levels *levels) {
  gbt_mem_free(mem, levels->text);
  gbt_mem_free(mem, levels->map);
  gbt_mem_free(mem, levels->count);
  gbt_mem_free(mem, levels->block);
  levels->text = NULL;
  levels->map = NULL;
  levels->count = NULL;
  levels->block = NULL;
}

/* The schema's level counts of a column of this name, or NULL. */
static const gbt_feature *counts_of(const gbt_schema *schema, const char *name) {
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (feat->kind == GBT_FEATURE_LEVEL_COUNT && strcmp(schema->col[feat->col].name, name) == 0) return feat;
  }
  return NULL;
}

gbt_status gbti_levels_recount(gbt_ctx *ctx, const gbt_column *col, const gbt_schema *schema, gbti_levels *levels,
                               gbt_error *err) {
  const gbt_feature *feat = counts_of(schema, col->name);
  int32_t *place;
  if (feat == NULL) return GBT_OK;
  const gbt_schema_column *from = &schema->col[feat->col];
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)levels->n, sizeof *place, &place, err));
  gbt_status status =
      gbt_match_many_texts(ctx, 0, levels->text, levels->n, from->levels, from->n_levels, place, err);
  for (int32_t i = 0; i < levels->n && status == GBT_OK; i++)
    levels->count[i] = place[i] < 0 ? 0.0 : feat->value[place[i]];
  gbt_mem_free(&ctx->mem, place);
  return status;
}
