/* The innermost loops: rows of one group into accumulators. Written once, specialised by the compiler for the usual
 * numbers of features, for byte and 16-bit codes, packed and wide gradients, with and without row counts.
 *
 * Packed: one 64-bit add per (row, feature). The upper half sums g, the lower half h:
 *     v = g * 2^32 + h,   |g| < 2^15, 0 <= h < 2^16
 * With at most 65,536 rows the lower half cannot carry into the upper one, nor the upper one overflow.
 *
 * Accumulators of byte codes with packed sums have a place of fixed length for every feature, acc[j * CPU_STRIDE +
 * code]: the compiler then knows all offsets, and one load per (row, feature) is saved. 16 features take 33 KB. The
 * length is odd, or equal bins of all features would fall into one set of the first-level cache. All others use the
 * layout's offsets. */
#ifndef GBT_CPU_CPU_HIST_KERNELS_H
#define GBT_CPU_CPU_HIST_KERNELS_H

#include "../base/hd.h"
#include "../math/fixed.h"

typedef struct cpu_hist_job {
  const void *codes;    /* the group's first code in one page */
  int64_t row_beg;      /* first row of the page */
  const uint32_t *rows; /* n rows of the page, ascending; NULL: first, first + 1, ... */
  uint32_t first, n;
  const void *gh;         /* gbt_gh16 or gbt_gh32 of these n rows */
  const uint32_t *offset; /* by position in the group */
  int32_t n_feats, stride;
  void *acc; /* packed: int64_t; wide: gbt_sum */
  uint32_t *count;
} cpu_hist_job;

#define CPU_STRIDE 257

#define CPU_PREFETCH 24 /* rows ahead when gathering; 16 to 32 measure alike */

GBT_FN void cpu_hist_rows(const cpu_hist_job *job, int32_t n_feats, int wide_codes, int wide_sums, int counts) {
  const uint32_t *offset = job->offset;
  const size_t stride = (size_t)job->stride;
  int64_t *packed = job->acc;
  gbt_sum *sums = job->acc;
  for (uint32_t i = 0; i < job->n; i++) {
    size_t row = job->rows ? job->rows[i] : job->first + i;
    size_t at = (row - (size_t)job->row_beg) * stride;
    const uint8_t *c8 = (const uint8_t *)job->codes + at;
    const uint16_t *c16 = (const uint16_t *)job->codes + at;
    if (job->rows && i + CPU_PREFETCH < job->n) {
      size_t ahead = job->rows[i + CPU_PREFETCH];
      size_t there = (ahead - (size_t)job->row_beg) * stride;
      __builtin_prefetch(wide_codes ? (const char *)((const uint16_t *)job->codes + there)
                                    : (const char *)job->codes + there);
    }
    if (wide_sums) {
      gbt_gh32 v = ((const gbt_gh32 *)job->gh)[i];
      for (int32_t j = 0; j < n_feats; j++) {
        uint32_t slot = offset[j] + (wide_codes ? c16[j] : c8[j]);
        sums[slot].g += v.g;
        sums[slot].h += v.h;
        if (counts) job->count[slot]++;
      }
    } else {
      gbt_gh16 v = ((const gbt_gh16 *)job->gh)[i];
      int64_t both = (int64_t)v.g * 4294967296 + v.h;
      for (int32_t j = 0; j < n_feats; j++) {
        size_t slot = wide_codes ? (size_t)offset[j] + c16[j] : (size_t)j * CPU_STRIDE + c8[j];
        packed[slot] += both;
        if (counts) job->count[slot]++;
      }
    }
  }
}

GBT_FN void cpu_hist_width(const cpu_hist_job *job, int wide_codes, int wide_sums, int counts) {
  switch (job->n_feats) {
  case 16:
    cpu_hist_rows(job, 16, wide_codes, wide_sums, counts);
    break;
  case 12:
    cpu_hist_rows(job, 12, wide_codes, wide_sums, counts);
    break;
  case 8:
    cpu_hist_rows(job, 8, wide_codes, wide_sums, counts);
    break;
  case 4:
    cpu_hist_rows(job, 4, wide_codes, wide_sums, counts);
    break;
  case 1:
    cpu_hist_rows(job, 1, wide_codes, wide_sums, counts);
    break;
  default:
    cpu_hist_rows(job, job->n_feats, wide_codes, wide_sums, counts);
    break;
  }
}

GBT_FN void cpu_hist_sums(const cpu_hist_job *job, int wide_codes, int wide_sums, int counts) {
  if (counts)
    cpu_hist_width(job, wide_codes, wide_sums, 1);
  else
    cpu_hist_width(job, wide_codes, wide_sums, 0);
}

GBT_FN void cpu_hist_codes(const cpu_hist_job *job, int wide_codes, int wide_sums, int counts) {
  if (wide_sums)
    cpu_hist_sums(job, wide_codes, 1, counts);
  else
    cpu_hist_sums(job, wide_codes, 0, counts);
}

static inline void cpu_hist_run(const cpu_hist_job *job, int wide_codes, int wide_sums, int counts) {
  GBT_ASSERT(!job->rows || job->n == 0 || (int64_t)job->rows[0] >= job->row_beg);
  if (wide_codes)
    cpu_hist_codes(job, 1, wide_sums, counts);
  else
    cpu_hist_codes(job, 0, wide_sums, counts);
}

#endif
