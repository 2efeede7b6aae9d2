/* Crafted models: any model that opens must survive every use (../native/scenes/model_use.h). */
#include "model_seeds.h"
#include "model_use.h"
#include "mutate.h"
#include "fuzz.h"

int fuzz_use(const uint8_t *bytes, size_t n) { return model_use(bytes, n); }

uint8_t *fuzz_seed(uint64_t i, size_t *n_bytes) {
  if (i == MODEL_SEEDS) return model_seed_linear(n_bytes);
  if (i == MODEL_SEEDS + 1) return model_seed_numbers(n_bytes);
  return i < MODEL_SEEDS ? model_seed(i, n_bytes) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  fuzz_use(bytes, n);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed) {
  test_rng rng = {gbt_mix64(seed)};
  return mutate_model(&rng, bytes, n, most);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *out, size_t most,
                                 unsigned seed) {
  test_rng rng = {gbt_mix64(seed)};
  size_t n = mutate_merge(&rng, a, n_a, b, n_b, out, most);
  return n > 0 && test_below(&rng, 2) ? mutate_model(&rng, out, n, most) : n;
}
