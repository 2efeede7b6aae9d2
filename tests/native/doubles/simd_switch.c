#include "simd_switch.h"

#include "test.h"

static int asked = GBT_SIMD_AUTO;

gbt_simd __real_gbt_simd_best(void);
gbt_simd __wrap_gbt_simd_best(void);

gbt_simd __wrap_gbt_simd_best(void) { return asked == GBT_SIMD_AUTO ? __real_gbt_simd_best() : (gbt_simd)asked; }

int simd_from_environment(void) {
  const char *name = getenv("GBT_TEST_SIMD");
  if (name == NULL || name[0] == 0) return 1;
  const int best = (int)__real_gbt_simd_best();
  for (int simd = GBT_SIMD_SCALAR; simd <= best; simd++)
    if (strcmp(name, gbt_simd_name(simd)) == 0) {
      asked = simd;
      return 1;
    }
  printf("GBT_TEST_SIMD is none of what this machine has:");
  for (int simd = GBT_SIMD_SCALAR; simd <= best; simd++) printf(" %s", gbt_simd_name(simd));
  printf("\n");
  return 0;
}
