/* Measures what the design of src/cuda rests on: shared-memory additions, reductions to global memory, gathers,
 * launches, copies, arithmetic.
 *
 *   micro [repeats] [suite ...]      default: 7, all of shared rows reductions gathers launches copies math
 *
 * Lines as in micro.cuh. Ends with 1 when a result was wrong. */
#include <string.h>

#include "micro.cuh"

static const struct {
  const char *name;
  void (*run)(micro *m);
} suite[] = {
    {"launches", micro_launches}, {"shared", micro_shared}, {"rows", micro_rows}, {"reductions", micro_reductions},
    {"gathers", micro_gathers},   {"copies", micro_copies}, {"math", micro_math},
};
enum { N_SUITES = sizeof suite / sizeof *suite };

static int wanted(int argc, char **argv, const char *name) {
  if (argc <= 2) return 1;
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], name) == 0) return 1;
  return 0;
}

static int known(const char *name) {
  for (int i = 0; i < N_SUITES; i++)
    if (strcmp(suite[i].name, name) == 0) return 1;
  return 0;
}

static void print_facts(const device_facts *d) {
  printf("# device: %s; compute capability %d.%d; %d multiprocessors; driver %d\n", d->name, d->major, d->minor,
         d->units, d->driver);
  printf("# %.0f MHz; %.0f GB/s of device memory; %.0f MB of L2; %zu bytes of shared memory a block\n", d->clock * 1e-6,
         d->bandwidth * 1e-9, d->l2_bytes * 1e-6, d->shared_limit);
  printf("name,value,unit,share,of\n");
}

int main(int argc, char **argv) {
  micro m = {};
  m.repeats = argc > 1 ? atoi(argv[1]) : 7;
  if (m.repeats < 1 || m.repeats > MAX_REPEATS) {
    fprintf(stderr, "micro [repeats, at most %d] [suite ...]\n", MAX_REPEATS);
    return 2;
  }
  for (int i = 2; i < argc; i++) {
    if (known(argv[i])) continue;
    fprintf(stderr, "%s is no suite\n", argv[i]);
    return 2;
  }
  if (!device_look(&m.dev)) {
    fprintf(stderr, "there is no device, or no driver for it\n");
    return 1;
  }
  TRY(cudaStreamCreate(&m.stream));
  TRY(cudaEventCreate(&m.from));
  TRY(cudaEventCreate(&m.to));
  m.total = device_array<count64>(MAX_WARPS);
  print_facts(&m.dev);
  for (int i = 0; i < N_SUITES; i++)
    if (wanted(argc, argv, suite[i].name)) suite[i].run(&m);
  TRY(cudaFree(m.total));
  TRY(cudaEventDestroy(m.from));
  TRY(cudaEventDestroy(m.to));
  TRY(cudaStreamDestroy(m.stream));
  if (m.faults) fprintf(stderr, "%d results were wrong\n", m.faults);
  return m.faults > 0;
}
