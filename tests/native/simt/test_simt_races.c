/* Whole trainings, few and small, so that the thread sanitizer can look at all kernels together; see test_cuda_train.c
 * for many. */
#include "../../src/gbt/backend/device_api.h"
#include "random_job.h"

const gbt_device_api *gbt_cuda_api(void);

enum { OF_EACH = 3, ROWS = 150 }; /* trainings of each policy; 2, and fewer rounds, where cases are few */

static void trainings(void) {
  const int64_t each = test_few() ? OF_EACH - 1 : OF_EACH;
  int64_t policies[3] = {0}, splits = 0, n = 0;
  for (uint64_t seed = 1; n < 3 * each; seed++) {
    random_job r = random_job_make(seed, ROWS);
    gbt_params *p = &r.job.spec.params;
    if (policies[p->grow_policy] == each) { /* some of each */
      random_job_free(&r);
      continue;
    }
    if (p->grow_policy == GBT_SYMMETRIC) p->hist_memory = 1024; /* a layer must fit */
    if (n % 2) { /* trees side by side, which the host does not look at */
      p->num_parallel_tree = 2;
      random_job_draw_evenly(&r);
      p->colsample_bynode = p->colsample_bylevel = 1.0;
      p->hist_memory = 1024;
      p->max_depth = p->max_depth == 0 ? 4 : p->max_depth;
      r.job.spec.n_interact = 0;
    }
    r.job.rounds = test_few() ? 2 : 3;
    train_how device = r.how;
    device.device = gbt_cuda_api();
    trained *cpu = train(&r.job, &r.how), *cuda = train(&r.job, &device);
    if (!CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda))) random_job_tell(&r, seed);
    if (cpu != NULL) splits += (int64_t)cpu->forest->n_nodes / 2;
    policies[p->grow_policy]++;
    n++;
    trained_free(cpu);
    trained_free(cuda);
    random_job_free(&r);
  }
  test_note("%" PRId64 " splits", splits);
  for (int k = 0; k < 3; k++) CHECK_EQ_I64(policies[k], each);
  CHECK(splits > (test_few() ? 20 : 60));
}

void suite_simt_races(void) { RUN(trainings); }
