/* The way up to the device. Emulated, its work is also done as late as possible. */
#include "../../src/cuda/base/stage.cuh"

extern "C" {
#include "test.h"
}
#include "schedules.h"

extern "C" void suite_cuda_stage(void);

/* on = 0: as the environment has it. */
static void late(int on) {
#if defined(GBT_TEST_SIMT)
  const char *usual = getenv("SIMT_ASYNC");
  simt_async(on || (usual && atoi(usual)));
#else
  (void)on;
#endif
}

static unsigned char byte_of(size_t i) { return (unsigned char)(i * 2654435761u >> 13); }

/* What was sent is there, and nothing after it. Halves of 1000 bytes, and some of more than a task copies. */
static void sent_as_it_is(void) {
  const size_t half[] = {1000, 700001}, n[] = {0, 1, 999, 1000, 1001, 2000, 5003, 1400002, 3500000};
  const size_t most = 3500000 + 1;
  unsigned char *from = (unsigned char *)test_alloc(most), *to = (unsigned char *)test_alloc(most);
  cu_memory memory = cu_memory();
  for (int k = 0; k < 2; k++) {
    gbt_ctx ctx = test_ctx(NULL, 1 + 2 * k);
    cu_stage stage = cu_stage();
    cu_array<unsigned char> there = cu_array<unsigned char>();
    late(k);
    REQUIRE_OK(cu_stage_open(&ctx, half[k], &stage, test_err));
    REQUIRE_OK(cu_new(&memory, &there, most, test_err));
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
      if (n[i] > 5003 && k == 0) continue;
      CHECK_EQ_I64(cudaMemsetAsync(there.at, 77, most, stage.stream), cudaSuccess);
      for (size_t b = 0; b < n[i]; b++) from[b] = byte_of(b + i);
      CHECK_OK(cu_stage_send(&stage, there.at, from, n[i], test_err));
      memset(from, 0, n[i]); /* not needed any more */
      CHECK_EQ_I64(cudaStreamSynchronize(stage.stream), cudaSuccess);
      CHECK_EQ_I64(cudaMemcpy(to, there.at, n[i] + 1, cudaMemcpyDeviceToHost), cudaSuccess);
      int64_t n_wrong = 0;
      for (size_t b = 0; b < n[i]; b++) n_wrong += to[b] != byte_of(b + i);
      CHECK_EQ_I64(n_wrong, 0);
      CHECK_EQ_I64(to[n[i]], 77);
    }
    cu_stage_close(&stage);
    cu_drop(&memory, &there);
    gbt_ctx_close(&ctx);
    late(0);
  }
  free(from);
  free(to);
}

/* One half is filled while the other is on its way; a half whose copy is not over is waited for. */
static void halves_take_turns(void) {
  enum { N = 100 };
  gbt_ctx ctx = test_ctx(NULL, 1);
  cu_memory memory = cu_memory();
  cu_stage stage = cu_stage();
  cu_array<unsigned char> there = cu_array<unsigned char>();
  unsigned char *half[5], to[5 * N];
  late(1);
  REQUIRE_OK(cu_stage_open(&ctx, N, &stage, test_err));
  REQUIRE_OK(cu_new(&memory, &there, 5 * N, test_err));
  for (int i = 0; i < 5; i++) {
    REQUIRE_OK(cu_stage_next(&stage, &half[i], test_err));
#if defined(GBT_TEST_SIMT)
    if (i == 4) CHECK_EQ_I64(cudaStreamQuery(stage.stream), cudaErrorNotReady); /* with the other half */
#endif
    memset(half[i], i + 1, N);
    REQUIRE_OK(cu_stage_copy(&stage, there.at + i * N, N, test_err));
    REQUIRE_OK(cu_stage_done(&stage, test_err));
    CHECK(i < 1 || half[i] != half[i - 1]);
    CHECK(i < 2 || half[i] == half[i - 2]);
  }
  cu_stage_close(&stage); /* waits */
  late(0);
  CHECK_EQ_I64(cudaMemcpy(to, there.at, sizeof to, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int i = 0; i < 5 * N; i++) CHECK_EQ_I64(to[i], i / N + 1);
  CHECK(stage.stream == NULL && stage.half[0] == NULL && stage.half[1] == NULL);
  cu_stage_close(&stage); /* again: nothing */
  cu_drop(&memory, &there);
  gbt_ctx_close(&ctx);
}

/* In another's stream: what is sent follows what was issued before, and goes before the rest; the stream stays. */
static void in_anothers_stream(void) {
  enum { N = 1000 };
  gbt_ctx ctx = test_ctx(NULL, 1);
  cu_memory memory = cu_memory();
  cu_stage stage = cu_stage();
  cu_array<unsigned char> there = cu_array<unsigned char>(), copy = cu_array<unsigned char>();
  cudaStream_t stream = NULL;
  unsigned char from[N], to[2][N];
  for (size_t i = 0; i < N; i++) from[i] = byte_of(i);
  late(1);
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE_OK(cu_new(&memory, &there, N, test_err));
  REQUIRE_OK(cu_new(&memory, &copy, N, test_err));
  REQUIRE_OK(cu_stage_open_in(&ctx, stream, 300, &stage, test_err));
  CHECK_EQ_I64(cudaMemsetAsync(there.at, 77, N, stream), cudaSuccess);
  CHECK_OK(cu_stage_send(&stage, there.at, from, N - 1, test_err));
  memset(from, 0, N);
  CHECK_EQ_I64(cudaMemcpyAsync(copy.at, there.at, N, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  CHECK_EQ_I64(cudaMemsetAsync(there.at, 78, N, stream), cudaSuccess);
  cu_stage_close(&stage); /* waits */
  CHECK(stage.stream == NULL);
  CHECK_EQ_I64(cudaStreamSynchronize(stream), cudaSuccess); /* it is there still */
  late(0);
  CHECK_EQ_I64(cudaMemcpy(to[0], copy.at, N, cudaMemcpyDeviceToHost), cudaSuccess);
  CHECK_EQ_I64(cudaMemcpy(to[1], there.at, N, cudaMemcpyDeviceToHost), cudaSuccess);
  for (size_t i = 0; i < N; i++) CHECK(to[0][i] == (i < N - 1 ? byte_of(i) : 77) && to[1][i] == 78);
  cu_drop(&memory, &there);
  cu_drop(&memory, &copy);
  CHECK_EQ_I64(cudaStreamDestroy(stream), cudaSuccess);
  gbt_ctx_close(&ctx);
}

static int stop_at_once(void *user) {
  (void)user;
  return 1;
}

static void may_be_stopped(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  cu_memory memory = cu_memory();
  cu_stage stage = cu_stage();
  cu_array<unsigned char> there = cu_array<unsigned char>();
  unsigned char *half, byte = 1;
  REQUIRE_OK(cu_stage_open(&ctx, 10, &stage, test_err));
  REQUIRE_OK(cu_new(&memory, &there, 10, test_err));
  ctx.poll = stop_at_once;
  ctx.next_poll_ns = 0;
  CHECK_FAILS(cu_stage_next(&stage, &half, test_err), GBT_CANCELLED, "stopped");
  CHECK_FAILS(cu_stage_send(&stage, there.at, &byte, 1, test_err), GBT_CANCELLED, "stopped");
  cu_stage_close(&stage);
  cu_drop(&memory, &there);
  gbt_ctx_close(&ctx);
}

#if defined(GBT_TEST_SIMT)
static gbt_status way_up(gbt_ctx *ctx, cu_stage *stage, unsigned char *there, gbt_error *err) {
  unsigned char bytes[50] = {1};
  GBT_TRY(cu_stage_open(ctx, 20, stage, err));
  GBT_TRY(cu_stage_send(stage, there, bytes, sizeof bytes, err));
  CU_TRY(cudaStreamSynchronize(stage->stream));
  return GBT_OK;
}

/* Every call to CUDA fails once, alone and with all later ones: nothing is left there. */
static void calls_to_cuda_fail(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  cu_memory memory = cu_memory();
  cu_array<unsigned char> there = cu_array<unsigned char>();
  int64_t n_failed = 0;
  REQUIRE_OK(cu_new(&memory, &there, 50, test_err));
  int64_t live = simt_live();
  for (int and_later = 0; and_later < 2; and_later++) {
    for (int64_t n = 1;; n++) {
      cu_stage stage = cu_stage();
      gbt_error err = {};
      simt_fail_at(n, and_later);
      gbt_status status = way_up(&ctx, &stage, there.at, &err);
      int64_t failed = simt_failed();
      cu_stage_close(&stage);
      simt_fail_at(0, 0);
      CHECK_EQ_I64(simt_live(), live);
      CHECK((status == GBT_OK) == (failed == 0) && (status == GBT_OK) == (err.msg[0] == '\0'));
      if (failed == 0) break;
      n_failed++;
    }
  }
  CHECK(n_failed >= 2 * 15);
  cu_drop(&memory, &there);
  gbt_ctx_close(&ctx);
}

/* A refusal of page-locked memory is one of memory, so that who asked may ask for less. */
static void no_page_locked_memory(void) {
  double number = 1.0, *block = &number;
  simt_fail_at(1, 0);
  CHECK_FAILS(cu_host_alloc(100, &block, test_err), GBT_E_MEM, "page-locked memory");
  CHECK(block == NULL);
  simt_fail_at(0, 0);
  cu_host_free(&block);
  REQUIRE_OK(cu_host_alloc(0, &block, test_err));
  CHECK(block != NULL);
  cu_host_free(&block);
  CHECK(block == NULL);
}
#endif

void suite_cuda_stage(void) {
  RUN(sent_as_it_is);
  RUN(halves_take_turns);
  RUN(in_anothers_stream);
  RUN(may_be_stopped);
#if defined(GBT_TEST_SIMT)
  RUN(calls_to_cuda_fail);
  RUN(no_page_locked_memory);
#endif
}
