/* Functions of math/ on the device: values a second, and that their bits are the host's.
 *
 * Theory: the double-precision additions and multiplications that the source writes, at 64 a clock and multiprocessor
 * (compute capability 8.0 and 9.0; other devices have fewer). Contraction is off, so none of them merge. */
#include "micro.cuh"

extern "C" {
#include "../../src/gbt/math/elementary.h"
#include "../../src/gbt/objective/formulas.h"
#include "../../src/gbt/objective/objective.h"
}

enum function { EXP, LOG, SIGMOID, GRADIENT, N_FUNCTIONS };
/* Operations in the source; a division counts 10. */
static const double operations[N_FUNCTIONS] = {34, 56, 45, 48};
static const char *const name_of[N_FUNCTIONS] = {"gbt_exp", "gbt_log", "gbt_sigmoid", "gradient of the logistic loss"};

__host__ __device__ static __forceinline__ double value_of(int function, double x) {
  switch (function) {
  case EXP:
    return gbt_exp(x);
  case LOG:
    return gbt_log(x < 0.0 ? -x : x);
  case SIGMOID:
    return gbt_sigmoid(x);
  default: {
    gbt_gh gh = gbt_logistic_gradient(x, 1.0, NULL);
    return gh.g + gh.h;
  }
  }
}

__host__ __device__ static __forceinline__ double argument(uint32_t i) {
  return ((double)(scatter(i) >> 8) - 8388608.0) * (40.0 / 8388608.0); /* in [-40, 40) */
}

/* Each thread takes every threads-th of n arguments. The sum of the results' bits says whether they are right. */
template <int FUNCTION> __global__ static void k_values(uint32_t n, count64 *kept) {
  count64 total = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    total += gbt_bits(value_of(FUNCTION, argument(i)));
  keep_total(kept, total);
}

template <int FUNCTION> static void measure(micro *m) {
  const uint32_t n = (uint32_t)sized(m, 1u << 28, 1 << 10), some = (uint32_t)sized(m, 1u << 22, 1 << 10);
  const unsigned grid = (unsigned)sized(m, (size_t)m->dev.units * 8, 2), block = 256;
  count64 wanted = 0;
  double s = seconds_of(m, [&] { CU_LAUNCH(k_values<FUNCTION>, grid, block, 0, m->stream, n, m->total); });
  CU_LAUNCH(k_values<FUNCTION>, grid, block, 0, m->stream, some, m->total);
  TRY(cudaGetLastError());
  for (uint32_t i = 0; i < some; i++) wanted += gbt_bits(value_of(FUNCTION, argument(i)));
  check(m, name_of[FUNCTION], read_total(m, grid, block), wanted);
  report(name_of[FUNCTION], (double)n / s * 1e-9, "Gvalue/s",
         m->dev.units * 64.0 * m->dev.clock / operations[FUNCTION] * 1e-9, "64 operations a clock");
}

void micro_math(micro *m) {
  measure<EXP>(m);
  measure<LOG>(m);
  measure<SIGMOID>(m);
  measure<GRADIENT>(m);
}
