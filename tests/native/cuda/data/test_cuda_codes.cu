/* Trainings whose codes have no room on the device: it reads them in the host's memory, and the bytes of the model stay
 * those of the CPU. */
#include "../../src/cuda/grow/batch.cuh"

extern "C" {
#include "io_fault.h"
#include "random_job.h"
#include "stores.h"
}
#include "cuda_door.cuh"
#include "schedules.h"

extern "C" void suite_cuda_codes(void);

/* Where the codes are to be when a test says so; where they were in the training that was opened last, and how many
 * of its data sets had rows on the device, on the host, and in neither; how many batches grew of gathered rows. */
struct placed {
  cu_resides codes;
  cu_hooks hooks;
};
static placed asked;
static cu_resides taken;
static uint64_t on_host;
static int n_device, n_host, n_streamed;
static const cu_backend *last;

/* Extents are the rows that are not streamed, each once, and where they say. */
static void good_places(const cu_dataset *data) {
  const int64_t n = data->from->rows.n;
  int64_t from = n;
  for (int32_t e = 0; e < data->n_extents; e++) {
    const cu_extent *x = &data->extent[e];
    CHECK(x->end == from && (x->beg < x->end || n == 0) && x->tile != NULL);
    CHECK(x->words == data->words.at || x->words == data->host_words);
    from = x->beg;
    n_device += x->words == data->words.at && n > 0;
    n_host += x->words == data->host_words;
  }
  CHECK(from == data->stream_end && (data->ring != NULL) == (data->stream_end > 0));
  CHECK((data->host_words != NULL) == (data->host_bytes > 0));
  CHECK(cu_has_all(data->view) == cu_is_whole(data));
  n_streamed += data->stream_end > 0;
}

static void look_at(const gbt_backend *opened) {
  const cu_backend *be = (const cu_backend *)opened;
  taken = be->bounds.codes;
  on_host = opened->host_bytes;
  last = be;
  n_device = n_host = n_streamed = 0;
  for (int32_t s = 0; s <= be->n_valid; s++) good_places(&be->data[s]);
  if (taken == CU_ALL_CODES) CHECK(n_host == 0 && n_streamed == 0);
  if (taken == CU_TRAIN_CODES) CHECK(cu_is_whole(&be->data[0]) && be->data[0].host_words == NULL);
  CHECK((on_host > 0) == (n_host > 0));
}

static gbt_status open_asked(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                             gbt_error *err) {
  GBT_TRY(cu_open_with(ctx, device, spec, asked.codes, &asked.hooks, out, err));
  look_at(*out);
  return GBT_OK;
}

static gbt_status open_any(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                           gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  look_at(*out);
  return GBT_OK;
}

/* Percent of the codes on the device, on the host, of the rows that may be gathered; the rest is streamed. */
static placed at(cu_resides codes, int device, int host, int gathered) {
  placed to = placed();
  to.codes = codes;
  to.hooks.less_device = 100 - device;
  to.hooks.less_host = 100 - host;
  to.hooks.less_gathered = 100 - gathered;
  return to;
}

static const placed everywhere[] = {
    at(CU_ALL_CODES, 100, 100, 100), at(CU_TRAIN_CODES, 0, 100, 100), at(CU_TRAIN_CODES, 40, 30, 100),
    at(CU_SOME_CODES, 100, 0, 100),  at(CU_SOME_CODES, 0, 100, 100),  at(CU_SOME_CODES, 1, 100, 100),
    at(CU_SOME_CODES, 50, 100, 100), at(CU_SOME_CODES, 0, 0, 100),    at(CU_SOME_CODES, 1, 0, 100),
    at(CU_SOME_CODES, 50, 0, 100),   at(CU_SOME_CODES, 30, 30, 100),  at(CU_SOME_CODES, 0, 60, 100),
    at(CU_DRAWN_CODES, 0, 100, 100), at(CU_DRAWN_CODES, 0, 0, 100),   at(CU_DRAWN_CODES, 40, 40, 100),
    at(CU_DRAWN_CODES, 30, 30, 0),   at(CU_DRAWN_CODES, 60, 0, 20)};
enum { N_PLACES = sizeof everywhere / sizeof *everywhere };

/* Random trainings of all kinds: growth, sampling, masks, sparse columns, bundles, sets, validation sets. Every one
 * with codes in `each` of the places, so that all of them have their turn. */
static void places_of_random_jobs(uint64_t first, uint64_t each, store_kind store) {
  const store_kind before = stores_use(store);
  int seen[3] = {0};
  for (uint64_t seed = first; seed < first + test_cases(12); seed++) {
    random_job r = random_job_make(seed, 150);
    trained *cpu = train(&r.job, &r.how);
    for (uint64_t k = 0; k < each; k++) {
      asked = everywhere[(seed * each + k) % N_PLACES];
      trained *cuda = train_through(open_asked, &r.job, &r.how);
      if (!CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda))) {
        random_job_tell(&r, seed);
        test_note("places %d: %d, %d, %d", (int)asked.codes, 100 - asked.hooks.less_device, 100 - asked.hooks.less_host,
                  100 - asked.hooks.less_gathered);
      }
      seen[0] += n_device > 0;
      seen[1] += n_host > 0;
      seen[2] += n_streamed > 0;
      trained_free(cuda);
    }
    trained_free(cpu);
    random_job_free(&r);
  }
  CHECK_SEEN(seen[0] > 8 && seen[1] > 8 && seen[2] > 8);
  stores_use(before);
}

static void places_do_not_show_in_memory(void) { places_of_random_jobs(1, 3, STORE_MEMORY); }
static void places_do_not_show_in_poison(void) { places_of_random_jobs(13, 3, STORE_POISON); }

enum { COLS = 60, ROWS = 24000 };

/* Limits are whole megabytes. Between what all codes need and what those of the training do are 0.8 MB for 24,000 rows,
 * so that it is luck whether a limit is there; three times as many have room for two. On few multiprocessors, as the
 * emulated device has them, sizes are always the same, and 24,000 rows happen to do. */
static int64_t rows_for_device(void) {
  int units = 0;
  CHECK_EQ_I64(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  return units < 16 ? ROWS : 3 * ROWS;
}

static train_job wide_job(int64_t n_rows, made **train, made **valid) {
  made_kind kinds[COLS];
  for (int c = 0; c < COLS; c++) kinds[c] = c % 7 ? MADE_BELL : MADE_ZEROS;
  *train = made_new(5, n_rows, COLS, kinds);
  *valid = made_new(6, n_rows, COLS, kinds);
  made_response(*train, GBT_OBJ_LOGISTIC, 1, 5);
  made_response(*valid, GBT_OBJ_LOGISTIC, 1, 6);
  train_job job = job_make(*train, GBT_OBJ_LOGISTIC, 1, 4);
  job.spec.params.max_depth = 3;
  job.spec.n_valid = 1;
  job.valid[0] = *valid;
  return job;
}

/* One training under a limit of so many megabytes, 0: none; the bytes that it took, 0: the limit is too low. */
static uint64_t try_limit(train_job *job, const trained *cpu, int64_t mb, int *seen) {
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  gbt_error err;
  uint64_t bytes = 0;
  job->spec.params.device_memory = mb;
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 2, GBT_SIMD_AUTO, NULL, NULL, test_err))) return 0;
  if (job_open(&ctx, job, 0, &spec)) {
    const gbt_device_api door = cuda_door(open_any);
    spec.device = &door;
    const gbt_status status = gbt_trainer_new(&ctx, &spec, &tr, &err);
    CHECK(status == GBT_OK || (status == GBT_E_MEM && tr == NULL && strstr(err.msg, "limit of") != NULL));
    if (status == GBT_OK && CHECK_OK(gbt_trainer_run(&ctx, tr, job->rounds, &why, test_err))) {
      trained *cuda = trained_of(&ctx, job, &spec, tr);
      CHECK(cpu != NULL && same_trained(cpu, cuda));
      bytes = gbt_trainer_device_bytes(tr);
      CHECK(mb == 0 || bytes <= (uint64_t)mb << 20);
      CHECK_EQ_U64(gbt_trainer_host_bytes(tr), on_host);
      for (int later = taken + 1; later < CU_N_CODES; later++) CHECK_EQ_I64(seen[later], 0);
      seen[taken]++;
      trained_free(cuda);
    }
    gbt_trainer_free(tr);
  }
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return bytes;
}

/* The limit that users set, in megabytes: codes leave the device one set after the other as it falls, never without
 * need, and the training keeps to it. */
static void limits_are_kept(void) {
  static const gbt_policy_kind growth[] = {GBT_DEPTHWISE, GBT_LOSSGUIDE, GBT_SYMMETRIC};
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  made *data, *valid;
  train_job job = wide_job(rows_for_device(), &data, &valid);
  for (int g = 0; g < 3; g++) {
    int seen[CU_N_CODES] = {0}, n_short = 0;
    job.spec.params.grow_policy = growth[g];
    job.spec.params.max_leaves = growth[g] == GBT_LOSSGUIDE ? 7 : 0;
    job.spec.params.device_memory = 0;
    trained *cpu = train(&job, &how);
    const int64_t most = (int64_t)(try_limit(&job, cpu, 0, seen) >> 20) + 1, step = most / 24 + 1;
    CHECK(seen[CU_ALL_CODES] == 1);
    seen[CU_ALL_CODES] = 0; /* what has room without a limit is to have room under one of as many bytes, too */
    for (int64_t mb = most; mb > 0 && n_short < (test_few() ? 1 : 3); mb -= step)
      n_short += try_limit(&job, cpu, mb, seen) == 0;
    CHECK(seen[CU_ALL_CODES] > 0 && seen[CU_TRAIN_CODES] > 0 && seen[CU_SOME_CODES] > 0 && n_short > 0);
    test_note("growth %d: %d, %d, %d times; %d times none; %lld MB at most, steps of %lld", g, seen[CU_ALL_CODES],
              seen[CU_TRAIN_CODES], seen[CU_SOME_CODES], n_short, (long long)most, (long long)step);
    trained_free(cpu);
  }
  made_free(data);
  made_free(valid);
}

/* What becomes of a read while train_there opens its trainer and trains; how many there were. */
static io_kind fault = IO_FINE;
static int64_t fault_at, n_reads, n_gathered;

/* Trains through open_asked with the codes there; how it ended. */
static gbt_status train_there(train_job *job, placed places, const trained *cpu, int *opened, gbt_error *err) {
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  gbt_status status = GBT_E_INTERNAL;
  asked = places;
  *opened = 0;
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 2, GBT_SIMD_AUTO, NULL, NULL, test_err))) return status;
  if (job_open(&ctx, job, 0, &spec)) {
    const gbt_device_api door = cuda_door(open_asked);
    spec.device = &door;
    io_fault(fault, fault_at);
    status = gbt_trainer_new(&ctx, &spec, &tr, err);
    *opened = status == GBT_OK;
    if (*opened) status = gbt_trainer_run(&ctx, tr, job->rounds, &why, err);
    n_reads = io_count();
    io_fault(IO_FINE, 0);
    if (status == GBT_OK) {
      trained *cuda = trained_of(&ctx, job, &spec, tr);
      CHECK(cpu != NULL && same_trained(cpu, cuda));
      trained_free(cuda);
    }
    n_gathered = *opened ? last->gather.n_batches : 0;
    gbt_trainer_free(tr);
  }
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return status;
}

/* Files keep 0 or 24 bytes a row in memory, by the number of rows: codes of pages that stream go to the host's memory
 * as far as that, and no farther; those of pages that all stay do. */
static void budgets_of_files_are_kept(void) {
  static const struct {
    int n_rows, n_cols;
    uint64_t budget; /* of the host; of pages that stay, any */
    int fits;
  } cases[] = {{4000, 16, 0, 0}, {4003, 16, UINT64_MAX, 1}, {4003, 60, 4003 * 24, 0}};
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  made_kind kinds[COLS];
  for (int c = 0; c < COLS; c++) kinds[c] = MADE_BELL;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    made *data = made_new(7, cases[i].n_rows, cases[i].n_cols, kinds);
    made_response(data, GBT_OBJ_LOGISTIC, 1, 7);
    train_job job = job_make(data, GBT_OBJ_LOGISTIC, 1, 2);
    gbt_error err;
    int opened;
    trained *cpu = train(&job, &how);
    const store_kind before = stores_use(STORE_FILE);
    for (size_t k = 4; k < N_PLACES; k += (test_few() ? 6 : 3) + (size_t)i) { /* first all codes on the host */
      CHECK(train_there(&job, everywhere[k], cpu, &opened, &err) == GBT_OK);
      const int all = everywhere[k].codes == CU_SOME_CODES && everywhere[k].hooks.less_device == 100 &&
                      everywhere[k].hooks.less_host == 0;
      CHECK(on_host <= cases[i].budget);
      if (all) CHECK((n_streamed == 0) == cases[i].fits && (on_host > 0) == (cases[i].budget > 0));
    }
    stores_use(before);
    trained_free(cpu);
    made_free(data);
  }
}

/* All ways of drawing rows: they are gathered where there is room for them and they would be elsewhere. Where cases
 * are few, each way to grow and each way to draw once (0, 5, 7), in memory and in files. */
static void drawn_rows_are_gathered(void) {
  static const struct {
    placed places;
    int gathers;
  } cases[] = {{at(CU_DRAWN_CODES, 0, 100, 100), 1},  {at(CU_DRAWN_CODES, 0, 0, 100), 1},
               {at(CU_DRAWN_CODES, 50, 25, 100), 1},  {at(CU_DRAWN_CODES, 100, 0, 100), 0},
               {at(CU_DRAWN_CODES, 20, 20, 30), 0},   {at(CU_SOME_CODES, 0, 0, 100), 0}};
  static const gbt_policy_kind growth[] = {GBT_DEPTHWISE, GBT_LOSSGUIDE, GBT_SYMMETRIC};
  static const gbt_sampling sampling[] = {GBT_SAMPLE_UNIFORM, GBT_SAMPLE_GOSS, GBT_SAMPLE_MVS};
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  const made_kind kinds[] = {MADE_BELL, MADE_ZEROS, MADE_FEW, MADE_LEVELS, MADE_BELL};
  made *data = made_new(9, 3000, 5, kinds);
  made_response(data, GBT_OBJ_SOFTMAX, 3, 9);
  train_job job = job_make(data, GBT_OBJ_SOFTMAX, 3, 3);
  for (int g = 0; g < 9; g++) {
    if (test_few() && g != 0 && g != 5 && g != 7) continue;
    gbt_params *p = &job.spec.params;
    gbt_error err;
    int opened;
    p->grow_policy = growth[g % 3];
    p->max_leaves = growth[g % 3] == GBT_LOSSGUIDE ? 9 : 0;
    p->max_depth = 4;
    p->sampling_method = sampling[g / 3];
    p->subsample = sampling[g / 3] == GBT_SAMPLE_GOSS ? 1.0 : 0.2;
    p->top_rate = sampling[g / 3] == GBT_SAMPLE_GOSS ? 0.1 : gbt_params_default().top_rate;
    trained *cpu = train(&job, &how);
    const store_kind before = stores_use(g % 2 ? STORE_FILE_2Z : STORE_MEMORY);
    for (size_t k = (size_t)g % 2; k < sizeof cases / sizeof *cases; k += 2) {
      CHECK(train_there(&job, cases[k].places, cpu, &opened, &err) == GBT_OK);
      CHECK((n_gathered > 0) == cases[k].gathers);
    }
    stores_use(before);
    trained_free(cpu);
  }
  made_free(data);
}

/* Numbers of rows around what extents, bits of sides, pieces and blocks are counted by. */
static void sizes_do_not_show(void) {
  static const int sizes[] = {2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 1023, 1025, 2049};
  static const placed places[] = {
      at(CU_DRAWN_CODES, 30, 30, 100), at(CU_SOME_CODES, 30, 30, 100), at(CU_SOME_CODES, 0, 0, 100)};
  const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_HOLED};
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    made *data = made_new(40 + i, sizes[i], 3, kinds);
    made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 40 + i);
    train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 2);
    job.spec.params.max_depth = 3;
    for (size_t k = 0; k < 3; k++) {
      gbt_error err;
      int opened;
      job.spec.params.subsample = k == 0 ? 0.5 : 1.0;
      trained *cpu = train(&job, &how);
      const store_kind before = stores_use(i % 2 ? STORE_POISON_3 : STORE_MEMORY);
      CHECK(train_there(&job, places[k], cpu, &opened, &err) == GBT_OK);
      stores_use(before);
      trained_free(cpu);
    }
    made_free(data);
  }
}

/* Reads that fail in the midst of a pass end the training with words that name the file and the page; short and late
 * ones do not show. */
static void failing_reads_are_told(void) {
  static const io_kind fine[] = {IO_SHORT, IO_AGAIN, IO_LATE};
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  made_kind kinds[COLS];
  for (int c = 0; c < COLS; c++) kinds[c] = MADE_BELL;
  made *data = made_new(7, 4000, 12, kinds);
  made_response(data, GBT_OBJ_LOGISTIC, 1, 7);
  train_job job = job_make(data, GBT_OBJ_LOGISTIC, 1, test_few() ? 2 : 3);
  const placed nowhere = at(CU_SOME_CODES, 0, 0, 100);
  const store_kind before = stores_use(STORE_FILE_2);
  gbt_error err;
  int opened, n_later = 0;
  trained *cpu = train(&job, &how);
  CHECK(train_there(&job, nowhere, cpu, &opened, &err) == GBT_OK);
  const int64_t all = n_reads;
  CHECK(all > 100);
  for (int64_t n = 1; n <= all; n += 1 + all / (test_few() ? 4 : 16)) {
    fault = n % 2 ? IO_ERROR : IO_ENDS;
    fault_at = n;
    CHECK(train_there(&job, nowhere, cpu, &opened, &err) == GBT_E_IO);
    CHECK(strstr(err.msg, "(page ") != NULL && err.subject[0] == '/');
    n_later += opened;
  }
  CHECK(n_later > 0);
  CHECK_SEEN(n_later > 8);
  for (int k = 0; k < 3; k++) {
    fault = fine[k];
    fault_at = all / 2;
    CHECK(train_there(&job, nowhere, cpu, &opened, &err) == GBT_OK);
  }
  fault = IO_FINE;
  stores_use(before);
  trained_free(cpu);
  made_free(data);
}

#if defined(GBT_TEST_SIMT)
/* Any call that fails while the backend opens, or grows its trees, leaves nothing behind. */
static void failures_leave_nothing(void) {
  random_job r = random_job_make(11, 60);
  const int64_t live = simt_live();
  int n_failed = 0, done = 0;
  asked = everywhere[10];
  for (int64_t n = 1; n < 4000 && !done; n += 1 + n / 8) {
    gbt_ctx ctx;
    gbt_trainer_spec spec;
    gbt_trainer *tr = NULL;
    gbt_stop_reason why;
    gbt_error err;
    if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err))) break;
    if (job_open(&ctx, &r.job, 0, &spec)) {
      const gbt_device_api door = cuda_door(open_asked);
      spec.device = &door;
      simt_fail_at(n, 0);
      gbt_status status = gbt_trainer_new(&ctx, &spec, &tr, &err);
      if (status == GBT_OK) status = gbt_trainer_run(&ctx, tr, r.job.rounds, &why, &err);
      done = simt_failed() == 0;
      n_failed += status != GBT_OK;
      CHECK(status == GBT_OK || status == GBT_E_MEM || status == GBT_E_DEVICE);
      simt_fail_at(0, 0);
      gbt_trainer_free(tr);
    }
    job_close(&spec);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(simt_live(), live);
  }
  CHECK(done && n_failed > 10);
  random_job_free(&r);
}
#endif

void suite_cuda_codes(void) {
  RUN(places_do_not_show_in_memory);
  RUN(places_do_not_show_in_poison);
  RUN(limits_are_kept);
  RUN(budgets_of_files_are_kept);
  RUN(drawn_rows_are_gathered);
  RUN(sizes_do_not_show);
  RUN(failing_reads_are_told);
#if defined(GBT_TEST_SIMT)
  RUN(failures_leave_nothing);
#endif
}
