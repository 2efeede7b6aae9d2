/* Masks on the device: the bytes that the CPU gives, which test_mask.c compares with the same rows in tables of their
 * own. */
#include "../../src/gbt/backend/device_api.h"
#include "mask_job.h"
#include "random_job.h"

const gbt_device_api *gbt_cuda_api(void);

enum { JOBS = 60 };

static int equal_on_device(uint64_t seed, int64_t rows, int64_t *n_sparse) {
  random_job r = random_job_make(seed, rows);
  train_how device = r.how;
  device.device = gbt_cuda_api();
  if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) r.job.spec.params.hist_memory = 1024; /* a layer must fit */
  if (r.data->weight) /* not all of a set's weights may be 0 */
    for (int64_t i = 0; i < r.data->table.n_rows; i++) r.data->weight[i] += 0.5;
  int *mask = mask_make((mask_kind)(seed % MASK_KINDS), r.data->table.n_rows, seed);
  masked_job j = masked_job_make(&r.job, mask);
  trained *cpu = train_masked(&j, &r.how), *cuda = train_masked(&j, &device);
  int ok = cpu != NULL && cuda != NULL && same_trained(cpu, cuda);
  if (!CHECK(ok)) random_job_tell(&r, seed);
  if (ok) *n_sparse += cpu->n_sparse > 0;
  trained_free(cpu);
  trained_free(cuda);
  masked_job_free(&j);
  free(mask);
  random_job_free(&r);
  return ok;
}

static void random_trainings_are_those_of_the_cpu(void) {
  int64_t n_sparse = 0;
  int bad = 0;
  for (uint64_t seed = 1; seed <= test_cases(JOBS) && bad < 3; seed++) bad += !equal_on_device(seed, 400, &n_sparse);
  CHECK_SEEN(n_sparse > 2);
}

/* More rows than a block of any kernel takes. */
static void larger_trainings_are_those_of_the_cpu(void) {
  int64_t n_sparse = 0;
  for (uint64_t seed = 900; seed < 901; seed++)
    if (!equal_on_device(seed, 6000, &n_sparse)) return;
}

static void masks_of_validation_data(void) {
  CHECK(masked_valid_as_gathered(&(train_how){2, 0, GBT_SIMD_AUTO, gbt_cuda_api()}));
}

void suite_cuda_mask(void) {
  RUN(masks_of_validation_data);
  RUN(random_trainings_are_those_of_the_cpu);
  RUN(larger_trainings_are_those_of_the_cpu);
}
