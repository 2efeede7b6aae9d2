/* Rows drawn by their gradients or weighed at random (math/sampling.h): a factor for each row, once a round; and the
 * probabilities of classes. */
#ifndef GBT_CPU_CPU_SAMPLE_H
#define GBT_CPU_CPU_SAMPLE_H

#include "../base/ctx.h"
#include "../math/sampling.h"

struct cpu_backend;

typedef struct cpu_sample {
  gbt_sampled *row; /* n_rows: the size of a row's gradients, then its factor; NULL: rows have no factors */
  gbt_size_scale scale;
  gbt_sample_rule rule; /* of the round */
  gbt_key32 draw, tie;
  int64_t *count; /* by thread: rows by gbt_size_bucket, then the number of rows whose factor is not 0 */
  size_t cap_count;
  int64_t n_in;          /* rows of all ranks whose factor is not 0 */
  uint64_t *class_limit; /* by class: what the hash of a row must be below to be drawn; NULL: the same for all rows */
} cpu_sample;

/* class_rate: n of them, or NULL. */
gbt_status cpu_sample_open(struct cpu_backend *be, const double *class_rate, int32_t n, gbt_error *err) GBT_MUST_CHECK;
void cpu_sample_close(struct cpu_backend *be);

/* A pass over all rows begins: nothing is counted yet. */
gbt_status cpu_sample_clear(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Whether sizes of gradients decide; else factors may be drawn at once. */
int cpu_sample_by_size(const struct cpu_backend *be);

/* Called before the sizes of a round are computed. max: the largest |g| and the largest h of output 0, 1, ... */
void cpu_sample_scale(struct cpu_backend *be, const double *max);

/* The squares of rows [row, row + n) are complete. */
void cpu_sample_sizes(struct cpu_backend *be, int thread, uint64_t row, int32_t n, const double *square);

/* Called before factors are drawn; sizes, where they decide, have been computed. */
gbt_status cpu_sample_decide(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Factors of rows [row, row + n). */
void cpu_sample_draw(struct cpu_backend *be, int thread, uint64_t row, int32_t n);

/* All rows have factors. */
gbt_status cpu_sample_end(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

#endif
