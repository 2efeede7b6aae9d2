/* See numbers.cuh. The host's threads look at all numbers once for the form and once to write it: both passes read
 * memory as fast as a copy does, and seven of eight bytes need not go up where labels are classes. */
#include "numbers.cuh"

#include <float.h>

enum : size_t { TASK_NUMBERS = (size_t)1 << 15 };

static size_t bytes_of(int32_t form) {
  return form == CU_BYTES ? 1 : form == CU_FLOATS ? sizeof(float) : sizeof(double);
}

/* The narrowest form that gives the same bits. */
static int32_t form_of(double x) {
  if (x >= 0.0 && x <= 255.0 && gbt_bits((double)(uint8_t)x) == gbt_bits(x)) return CU_BYTES;
  return x >= -FLT_MAX && x <= FLT_MAX && gbt_bits((double)(float)x) == gbt_bits(x) ? CU_FLOATS : CU_DOUBLES;
}

struct cu_numbers_job {
  const double *from;
  size_t n;
  uint8_t *forms; /* of each task, where the form is looked for */
  unsigned char *to;
  int32_t form;
};

static size_t n_tasks(size_t n) { return (n + TASK_NUMBERS - 1) / TASK_NUMBERS; }

static size_t end_of(const cu_numbers_job *job, size_t beg) {
  return job->n - beg < TASK_NUMBERS ? job->n : beg + TASK_NUMBERS;
}

static void width_task(void *arg, int64_t task, int thread) {
  const cu_numbers_job *job = (const cu_numbers_job *)arg;
  const size_t beg = (size_t)task * TASK_NUMBERS, end = end_of(job, beg);
  int32_t widest = CU_BYTES;
  (void)thread;
  for (size_t i = beg; i < end && widest < CU_DOUBLES; i++) {
    const int32_t form = form_of(job->from[i]);
    widest = form > widest ? form : widest;
  }
  job->forms[task] = (uint8_t)widest;
}

static void write_task(void *arg, int64_t task, int thread) {
  const cu_numbers_job *job = (const cu_numbers_job *)arg;
  const size_t beg = (size_t)task * TASK_NUMBERS, end = end_of(job, beg);
  (void)thread;
  if (job->form == CU_BYTES)
    for (size_t i = beg; i < end; i++) job->to[i] = (uint8_t)job->from[i];
  else
    for (size_t i = beg; i < end; i++) ((float *)(void *)job->to)[i] = (float)job->from[i];
}

static gbt_status find_form(gbt_ctx *ctx, cu_numbers_job *job, gbt_error *err) {
  GBT_TRY(gbt_mem_array(&ctx->mem, n_tasks(job->n), 1, &job->forms, err));
  const gbt_status status = gbt_parallel(ctx, (int64_t)n_tasks(job->n), width_task, job, err);
  for (size_t t = 0; status == GBT_OK && t < n_tasks(job->n); t++)
    if (job->forms[t] > job->form) job->form = job->forms[t];
  gbt_mem_free(&ctx->mem, job->forms);
  return status;
}

static gbt_status send_narrow(cu_stage *stage, const double *from, cu_numbers *to, unsigned char *at, gbt_error *err) {
  const size_t size = bytes_of(to->form), most = stage->bytes / size;
  for (size_t beg = 0, n; beg < to->n; beg += n) {
    n = to->n - beg < most ? (size_t)to->n - beg : most;
    cu_numbers_job job = {from + beg, n, NULL, NULL, to->form};
    GBT_TRY(cu_stage_next(stage, &job.to, err));
    GBT_TRY(gbt_parallel(stage->ctx, (int64_t)n_tasks(n), write_task, &job, err));
    GBT_TRY(cu_stage_copy(stage, at + beg * size, n * size, err));
    GBT_TRY(cu_stage_done(stage, err));
  }
  return GBT_OK;
}

gbt_status cu_numbers_send(cu_memory *memory, cu_stage *stage, const double *from, size_t n, cu_numbers *to,
                           gbt_error *err) {
  cu_numbers_job job = {from, n, NULL, NULL, CU_BYTES};
  unsigned char *at;
  *to = cu_numbers();
  GBT_TRY(gbt_ctx_poll(stage->ctx, err));
  GBT_TRY(find_form(stage->ctx, &job, err));
  GBT_TRY(cu_alloc(memory, n, bytes_of(job.form), &at, err));
  to->at = at;
  to->n = n;
  to->form = job.form;
  if (job.form == CU_DOUBLES) return cu_stage_send(stage, at, from, n * sizeof(double), err);
  return send_narrow(stage, from, to, at, err);
}

cu_numbers cu_numbers_part(const cu_numbers &x, uint64_t beg, uint64_t n) {
  if (!x.at) return x;
  GBT_ASSERT(beg + n <= x.n);
  const cu_numbers part = {(const char *)x.at + beg * bytes_of(x.form), n, x.form};
  return part;
}

void cu_numbers_drop(cu_memory *memory, cu_numbers *x) {
  cu_free(memory, const_cast<void *>(x->at), (size_t)x->n * bytes_of(x->form));
  *x = cu_numbers();
}
