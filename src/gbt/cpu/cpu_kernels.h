/* Inner loops of the CPU backend that gain from wider vectors: each exists once per instruction set, compiled from one
 * text (cpu_kernels_body.h) with the same operations in the same order, so that results are equal to the bit. */
#ifndef GBT_CPU_CPU_KERNELS_H
#define GBT_CPU_CPU_KERNELS_H

#include "../base/ctx.h"
#include "../base/rng.h"
#include "../math/fixed.h"
#include "../math/gain.h"
#include "../math/sampling.h"
#include "../objective/objective.h"
#include "../tree/contest.h"
#include "cpu_cut_list.h"
#include "cpu_layer_gains.h"

#define CPU_BLOCK 512 /* rows of a gradient block: its arrays stay in L1 */

typedef struct cpu_kernels {
  const char *name;

  /* g[i], h[i] of n <= CPU_BLOCK rows with one output. */
  void (*gradients)(const gbt_objective *objective, int32_t n, const double *score, const double *label, double *g,
                    double *h);

  /* gbt_softmax_rows of n <= CPU_BLOCK rows, p: K x CPU_BLOCK. With top and sum one class can be had again, to the same
   * bits. */
  void (*softmax)(int32_t n, int32_t K, const double *score, size_t stride, double *p, double *top, double *sum);
  void (*softmax_class)(int32_t n, const double *score, const double *top, const double *sum, double *p);
  void (*softmax_gradients)(int32_t n, int32_t klass, double bound, const double *p, const double *label, double *g,
                            double *h);
  void (*softmax_stepped)(int32_t n, double by, double bound, const double *score, const double *top,
                          const double *sum, double *p);

  /* Row weights into gradients. */
  void (*weigh)(int32_t n, const double *weight, double *g, double *h);

  /* Largest |g| and h, not below *max_g and *max_h. */
  void (*maxima)(int32_t n, const double *g, const double *h, double *max_g, double *max_h);

  /* Adds gbt_size_square of n rows to square[n]; sizes from complete squares. */
  void (*squares)(int32_t n, const gbt_size_scale *scale, const double *g, const double *h, double *square);
  void (*sizes)(int32_t n, const gbt_size_scale *scale, const double *square, gbt_sampled *row);

  /* Sizes to factors (gbt_sample_factor), n <= CPU_BLOCK rows from first_row on; returns how many are not 0. Whether
   * hashes of rows are below a limit, 1 or 0. Factors into gradients. */
  int64_t (*factors)(int32_t n, const gbt_sample_rule *rule, gbt_key32 draw, gbt_key32 tie, uint64_t first_row,
                     gbt_sampled *row);
  void (*draws)(int32_t n, gbt_key32 key, uint64_t first_row, uint64_t limit, uint8_t *drawn);
  void (*multiply)(int32_t n, const gbt_sampled *row, double *g, double *h);

  /* Fixed point: 16 bits and what they leave out (gbt_fix_low), adding to *sums; or 32 bits. */
  void (*fix)(int32_t n, uint64_t first_row, gbt_key32 key, double up_g, double up_h, const double *g, const double *h,
              gbt_gh16 *gh16, uint32_t *low, gbt_fixed_sums *sums);
  void (*fix_wide)(int32_t n, double up_g, double up_h, const double *g, const double *h, gbt_gh32 *gh32);

  /* The sum over n <= 16,384 rows of what their 16 bits leave out. rows_before: of other ranks, as for fix. */
  gbt_sum (*rest)(uint32_t n, uint64_t rows_before, const uint32_t *rows, gbt_key32 key, const uint32_t *low);

  /* From 16 bits and what they leave out back to 32, of n <= CPU_BLOCK rows from first_row on. */
  void (*unfix)(int32_t n, uint64_t first_row, gbt_key32 key, const gbt_gh16 *gh16, const uint32_t *low,
                gbt_gh32 *gh32);

  /* gbt_rate_free of n splits with left sums gl, hl. */
  void (*gains)(int32_t n, const double *gl, const double *hl, const gbt_rated *rated, gbt_reg reg, double *gain);

  /* cpu_list_cuts() of n_bins > 0 bins. */
  int32_t (*list_cuts)(int32_t n_bins, const cpu_cut_list *to);

  /* Adds the gains of the cuts after each of n codes of a node to right[n] and, where it is not NULL, left[n]. */
  void (*layer_gains)(int32_t n, const cpu_layer_codes *codes, const gbt_rated *rated, gbt_reg reg, double floor,
                      double *right, double *left);

  /* Where n candidates of a layer are, from number `first` on, of a feature with this handicap: as gbt_layer_standing
   * has it. */
  void (*standings)(int32_t n, const double *gain, const gbt_contest *contest, double handicap, uint64_t first,
                    double least, double *standing);

  /* The first place of the largest of n numbers, NaN left out, if that is above 0, else -1. */
  int32_t (*first_largest)(int32_t n, const double *gain);
} cpu_kernels;

/* The kernels of an instruction set, or of the best lower one that was compiled in. */
const cpu_kernels *gbt_cpu_kernels(gbt_simd simd);

#endif
