/* Working memory of the threads: made for as many as a call has, kept until the backend is closed. */
#include "cpu.h"

#include <string.h>

void cpu_scratch_open(cpu_backend *be) {
  be->scratch.max_codes = 1;
  for (int32_t f = 0; f < be->n_features; f++) {
    uint32_t n_codes = (uint32_t)be->cuts->feat[f].n_bins + 1;
    if (gbt_layout_uses(be->layout, f) && n_codes > be->scratch.max_codes) be->scratch.max_codes = n_codes;
  }
}

static size_t acc_bytes(const cpu_backend *be) {
  size_t sparse = be->layout->n_slots - be->layout->sparse_slot;
  size_t bytes = sparse * cpu_hist_sparse_bytes(&be->pool), dense = be->hist.acc_slots * sizeof(gbt_sum);
  return bytes > dense ? bytes : dense;
}

gbt_status cpu_scratch_acc(cpu_backend *be, cpu_scratch *s, gbt_error *err) {
  size_t sparse = be->layout->n_slots - be->layout->sparse_slot;
  gbt_sum *acc;
  GBT_TRY(gbt_mem_array(&be->mem, acc_bytes(be), 1, &acc, err));
  gbt_mem_free(&be->mem, s->acc);
  s->acc = acc;
  if (!be->pool.any_counts || s->count) return GBT_OK;
  return gbt_mem_array(&be->mem, sparse > be->hist.acc_slots ? sparse : be->hist.acc_slots, sizeof *s->count, &s->count,
                       err);
}

gbt_status cpu_scratch_ready(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  size_t cap = (size_t)be->scratch.n, codes = be->scratch.max_codes;
  if (codes < CPU_SPLIT_FEATS) codes = CPU_SPLIT_FEATS;
  codes += CPU_LIST_SLACK;
  GBT_ASSERT(ctx->n_threads >= 1 && be->scratch.max_codes > 0 && be->hist.acc_slots > 0);
  if (ctx->n_threads <= be->scratch.n) return GBT_OK;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->scratch.of, &cap, (size_t)ctx->n_threads, sizeof *be->scratch.of, err));
  for (int32_t t = be->scratch.n; t < ctx->n_threads; t++) {
    cpu_scratch *s = &be->scratch.of[t];
    memset(s, 0, sizeof *s);
    be->scratch.n = t + 1; /* so that destroy frees a half-made one */
    GBT_TRY(cpu_scratch_acc(be, s, err));
    GBT_TRY(gbt_mem_array(&be->mem, CPU_HIST_BLOCK, sizeof *s->gh, &s->gh, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->g, &s->g, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->h, &s->h, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->gain, &s->gain, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->level, &s->level, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->ratio, &s->ratio, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->sum, &s->sum, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->rows, &s->rows, err));
    GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->part, &s->part, err));
    GBT_TRY(gbt_mem_array(&be->mem, CPU_SPLIT_FEATS, sizeof *s->rest, &s->rest, err));
    size_t block = (size_t)CPU_BLOCK * (2 + (size_t)be->n_outputs);
    GBT_TRY(gbt_mem_array(&be->mem, block, sizeof *s->block, &s->block, err));
    GBT_TRY(gbt_mem_array(&be->mem, CPU_HIST_BLOCK, sizeof *s->page_row, &s->page_row, err));
    if (be->together.n > 0 && !gbt_policy_one_split(be->fr.policy.kind)) {
      GBT_TRY(gbt_mem_array(&be->mem, 4 * codes, sizeof *s->sums, &s->sums, err));
      GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *s->tried, &s->tried, err));
    }
    if (be->layout->n_sparse == 0) continue;
    GBT_TRY(gbt_mem_zeros(&be->mem, be->sparse.block_rows, sizeof *s->mark, &s->mark, err));
    GBT_TRY(gbt_mem_array(&be->mem, CPU_TASK_ROWS, sizeof *s->side, &s->side, err));
  }
  return GBT_OK;
}

void cpu_scratch_close(cpu_backend *be) {
  for (int32_t t = 0; t < be->scratch.n; t++) {
    cpu_scratch *s = &be->scratch.of[t];
    void *blocks[] = {s->acc, s->count, s->g,    s->h,     s->gain, s->level, s->ratio,
                      s->sum, s->rest,  s->rows, s->block, s->gh,   s->mark,  s->side,
                      s->page_row, s->sums, s->tried, s->part};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
  }
  gbt_mem_free(&be->mem, be->scratch.of);
}
