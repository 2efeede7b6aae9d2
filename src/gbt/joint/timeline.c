#include "timeline.h"

#include "../base/parallel.h"
#include "../base/sort.h"
#include "../math/whole.h"
#include "steps.h"

typedef struct scratch {
  uint64_t *key, *tmp_key;
  uint32_t *tmp_at;
} scratch;

/* Sorts row numbers by stratum (NULL: none), then by these numbers. */
static gbt_status order_rows(gbt_ctx *ctx, uint32_t n, const double *by, const double *stratum, scratch *s,
                             uint32_t *at, gbt_error *err) {
  for (uint32_t i = 0; i < n; i++) {
    at[i] = i;
    s->key[i] = gbt_order_key(by[i]);
  }
  GBT_TRY(gbt_sort_u64_parallel(ctx, s->key, at, n, s->tmp_key, s->tmp_at, err));
  if (stratum == NULL) return GBT_OK;
  for (uint32_t i = 0; i < n; i++) s->key[i] = gbt_order_key(stratum[at[i]]);
  return gbt_sort_u64_parallel(ctx, s->key, at, n, s->tmp_key, s->tmp_at, err);
}

static gbt_status find_strata(const double *stratum, gbt_timeline *t, gbt_error *err) {
  uint32_t n = 0;
  for (int pass = 0; pass < 2; pass++) {
    n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
      if (i > 0 && (stratum == NULL || stratum[t->at[i]] == stratum[t->at[i - 1]])) continue;
      if (pass == 1) t->beg[n] = i;
      n++;
    }
    if (pass == 0) GBT_TRY(gbt_mem_array(&t->mem, (size_t)n + 1, sizeof *t->beg, &t->beg, err));
  }
  t->beg[n] = t->n;
  t->n_strata = n;
  return GBT_OK;
}

/* G of the rows of a stratum, time by time. */
static void find_uncensored(const gbt_rows *rows, gbt_timeline *t, uint32_t beg, uint32_t end) {
  const double *time = rows->field[GBT_LABEL];
  uint64_t at_risk = 0;
  double g = 1.0;
  for (uint32_t p = beg; p < end; p++) at_risk += t->weight[t->at[p]];
  for (uint32_t p = beg, next; p < end; p = next) {
    uint64_t censored = 0, events = 0;
    for (next = p; next < end && time[t->at[next]] == time[t->at[p]]; next++) {
      const uint32_t row = t->at[next];
      *(gbt_has_event(rows, row) ? &events : &censored) += t->weight[row];
      t->before[next] = g;
    }
    g = gbt_uncensored_after(g, (int64_t)(at_risk - events), (int64_t)censored);
    for (uint32_t k = p; k < next; k++) t->after[k] = g;
    at_risk -= events + censored;
  }
}

static gbt_status find_weights(const gbt_rows *rows, gbt_timeline *t, gbt_error *err) {
  double most = 0.0;
  GBT_TRY(gbt_mem_array(&t->mem, t->n, sizeof *t->weight, &t->weight, err));
  for (uint32_t i = 0; i < t->n; i++) most = gbt_weight_of(rows, i) > most ? gbt_weight_of(rows, i) : most;
  const gbt_whole_scale scale = gbt_whole_scale_of(most, t->n > 0 ? t->n : 1);
  for (uint32_t i = 0; i < t->n; i++)
    t->weight[i] = rows->field[GBT_WEIGHT] ? gbt_whole_weight(gbt_weight_of(rows, i), scale) : 1;
  return GBT_OK;
}

static gbt_status fill(gbt_ctx *ctx, const gbt_rows *rows, const double *stratum, scratch *s, gbt_timeline *t,
                       gbt_error *err) {
  const gbt_mem *mem = &t->mem;
  GBT_TRY(gbt_mem_array(&ctx->mem, t->n, sizeof *s->key, &s->key, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, t->n, sizeof *s->tmp_key, &s->tmp_key, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, t->n, sizeof *s->tmp_at, &s->tmp_at, err));
  GBT_TRY(gbt_mem_array(mem, t->n, sizeof *t->at, &t->at, err));
  GBT_TRY(gbt_mem_array(mem, t->n, sizeof *t->before, &t->before, err));
  GBT_TRY(gbt_mem_array(mem, t->n, sizeof *t->after, &t->after, err));
  if (rows->field[GBT_ENTRY] != NULL) {
    GBT_TRY(gbt_mem_array(mem, t->n, sizeof *t->by_entry, &t->by_entry, err));
    GBT_TRY(order_rows(ctx, t->n, rows->field[GBT_ENTRY], stratum, s, t->by_entry, err));
  }
  GBT_TRY(order_rows(ctx, t->n, rows->field[GBT_LABEL], stratum, s, t->at, err));
  GBT_TRY(find_strata(stratum, t, err));
  GBT_TRY(find_weights(rows, t, err));
  for (uint32_t k = 0; k < t->n_strata; k++) {
    GBT_TRY(gbt_ctx_poll(ctx, err));
    find_uncensored(rows, t, t->beg[k], t->beg[k + 1]);
  }
  return GBT_OK;
}

gbt_status gbt_timeline_make(gbt_ctx *ctx, const gbt_rows *rows, int pooled, gbt_timeline *out, gbt_error *err) {
  scratch s = {NULL, NULL, NULL};
  *out = (gbt_timeline){.mem = ctx->mem, .n = (uint32_t)rows->n};
  const gbt_status status = fill(ctx, rows, pooled ? NULL : rows->field[GBT_STRATUM], &s, out, err);
  gbt_mem_free(&ctx->mem, s.key);
  gbt_mem_free(&ctx->mem, s.tmp_key);
  gbt_mem_free(&ctx->mem, s.tmp_at);
  return status;
}

void gbt_timeline_free(gbt_timeline *t) {
  void *blocks[] = {t->at, t->by_entry, t->beg, t->weight, t->before, t->after};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&t->mem, blocks[i]);
  *t = (gbt_timeline){.mem = t->mem};
}

double gbt_uncensored_at(const gbt_timeline *t, const gbt_rows *rows, uint32_t stratum, double time) {
  uint32_t beg = t->beg[stratum], end = t->beg[stratum + 1];
  const uint32_t first = beg;
  while (beg < end) {
    const uint32_t mid = beg + (end - beg) / 2;
    if (rows->field[GBT_LABEL][t->at[mid]] <= time)
      beg = mid + 1;
    else
      end = mid;
  }
  return beg == first ? 1.0 : t->after[beg - 1];
}
