/* The factors of a round:
 *
 *   sizes    of all rows' gradients, where they decide, and how many rows have which
 *   decide   the rule of the round from the counts of all ranks
 *   draw     sizes become factors
 *
 * cpu_gradient.c makes the passes. Counts are kept by thread, as whole numbers have no order. */
#include "../base/comm.h"
#include "cpu.h"

enum { N_COUNTS = GBT_SIZE_BUCKETS + 1 };

gbt_status cpu_sample_open(cpu_backend *be, const double *class_rate, int32_t n, gbt_error *err) {
  if (be->params->sampling_method != GBT_SAMPLE_UNIFORM)
    GBT_TRY(gbt_mem_array(&be->mem, (size_t)be->n_rows, sizeof *be->sample.row, &be->sample.row, err));
  if (class_rate == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(&be->mem, (size_t)n, sizeof *be->sample.class_limit, &be->sample.class_limit, err));
  for (int32_t k = 0; k < n; k++) be->sample.class_limit[k] = gbt_hash_limit(class_rate[k]);
  return GBT_OK;
}

void cpu_sample_close(cpu_backend *be) {
  gbt_mem_free(&be->mem, be->sample.row);
  gbt_mem_free(&be->mem, be->sample.count);
  gbt_mem_free(&be->mem, be->sample.class_limit);
}

int cpu_sample_by_size(const cpu_backend *be) {
  return be->params->sampling_method == GBT_SAMPLE_MVS || be->params->sampling_method == GBT_SAMPLE_GOSS;
}

gbt_status cpu_sample_clear(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const size_t n = (size_t)ctx->n_threads * N_COUNTS;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->sample.count, &be->sample.cap_count, n, sizeof *be->sample.count, err));
  memset(be->sample.count, 0, n * sizeof *be->sample.count);
  return GBT_OK;
}

void cpu_sample_scale(cpu_backend *be, const double *max) {
  double max_g = 0.0, max_h = 0.0, reg = 0.0;
  for (int32_t k = 0; k < be->n_outputs; k++) {
    max_g = max[2 * k] > max_g ? max[2 * k] : max_g;
    max_h = max[2 * k + 1] > max_h ? max[2 * k + 1] : max_h;
  }
  if (be->params->sampling_method == GBT_SAMPLE_MVS) reg = gbt_size_reg(be->base.size_reg, max_g, max_h);
  be->sample.scale = gbt_size_scale_from(max_g, max_h, reg, be->n_outputs);
}

void cpu_sample_sizes(cpu_backend *be, int thread, uint64_t row, int32_t n, const double *square) {
  gbt_sampled *to = be->sample.row + row;
  int64_t *count = be->sample.count + (size_t)thread * N_COUNTS;
  be->kernels->sizes(n, &be->sample.scale, square, to);
  for (int32_t i = 0; i < n; i++) count[gbt_size_bucket(to[i].size)]++;
}

/* Those of all threads and ranks in those of the first thread. */
static gbt_status join_counts(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  int64_t *all = be->sample.count;
  for (size_t i = N_COUNTS; i < (size_t)ctx->n_threads * N_COUNTS; i++) all[i % N_COUNTS] += all[i];
  return gbt_comm_sum_i64(ctx, all, N_COUNTS, err);
}

gbt_status cpu_sample_decide(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const gbt_params *p = be->params;
  if (cpu_sample_by_size(be)) GBT_TRY(join_counts(ctx, be, err));
  be->sample.rule = gbt_sample_rule_from(p->sampling_method, be->sample.count, cpu_all_rows(be), p->subsample,
                                         p->top_rate, p->other_rate, p->bagging_temperature);
  be->sample.draw = gbt_key((uint64_t)p->seed, GBT_FOR_FACTORS, be->grad.round, 0);
  be->sample.tie = gbt_key((uint64_t)p->seed, GBT_FOR_FACTORS, be->grad.round, 1);
  return cpu_sample_clear(ctx, be, err);
}

void cpu_sample_draw(cpu_backend *be, int thread, uint64_t row, int32_t n) {
  const cpu_sample *s = &be->sample;
  s->count[(size_t)thread * N_COUNTS + GBT_SIZE_BUCKETS] +=
      be->kernels->factors(n, &s->rule, s->draw, s->tie, cpu_rows_before(be) + row, s->row + row);
}

gbt_status cpu_sample_end(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  GBT_TRY(join_counts(ctx, be, err));
  be->sample.n_in = be->sample.count[GBT_SIZE_BUCKETS];
  return GBT_OK;
}
