/* The emulated device plays what tests ask it to play: no device, an old driver, little memory, calls that fail, a lost
 * device, a forked process; and it counts. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/cuda/base/port.cuh"
#include "../simt/control.h"

extern "C" {
#include "test.h"
}

__global__ static void k_count(unsigned *out) { atomicAdd(out, 1u); }

/* Some calls in a row; stops at the first that fails, gives back what it has. */
static cudaError_t some_work(unsigned *result) {
  unsigned *device = NULL, *locked = NULL;
  cudaStream_t stream = NULL;
  cudaError_t code = cudaMalloc(&device, 4);
  if (code == cudaSuccess) code = cudaMallocHost(&locked, 4);
  if (code == cudaSuccess) code = cudaStreamCreate(&stream);
  if (code == cudaSuccess) code = cudaMemsetAsync(device, 0, 4, stream);
  if (code == cudaSuccess) {
    CU_LAUNCH(k_count, 2, 40, 0, stream, device);
    code = cudaGetLastError();
  }
  if (code == cudaSuccess) code = cudaMemcpyAsync(locked, device, 4, cudaMemcpyDeviceToHost, stream);
  if (code == cudaSuccess) code = cudaStreamSynchronize(stream);
  if (code == cudaSuccess) *result = *locked;
  (void)cudaFree(device);
  (void)cudaFreeHost(locked);
  if (stream != NULL) (void)cudaStreamDestroy(stream);
  (void)cudaGetLastError();
  return code;
}

enum { CALLS = 7 };
static const cudaError_t codes[CALLS + 1] = {
    cudaSuccess,      cudaErrorMemoryAllocation,     cudaErrorMemoryAllocation, cudaErrorMemoryAllocation,
    cudaErrorUnknown, cudaErrorLaunchOutOfResources, cudaErrorUnknown,          cudaErrorUnknown};

static void failing_calls(void) {
  unsigned result = 0;
  int64_t live = simt_live();
  for (int n = 1; n <= CALLS; n++) {
    simt_fail_at(n, 0);
    CHECK_EQ_I64(some_work(&result), codes[n]);
    CHECK_EQ_I64(simt_failed(), 1);
    CHECK_EQ_I64(simt_live(), live);
    CHECK_EQ_I64(some_work(&result), cudaSuccess);
  }
  simt_fail_at(0, 0);
  CHECK_EQ_I64(result, 80);
}

static void lost_device(void) {
  unsigned result = 0;
  int64_t live = simt_live();
  for (int n = 1; n <= CALLS; n++) {
    simt_fail_at(n, 1);
    CHECK_EQ_I64(some_work(&result), cudaErrorLaunchFailure);
    CHECK_EQ_I64(some_work(&result), cudaErrorLaunchFailure);
    CHECK_EQ_I64(simt_live(), live);
  }
  CHECK(simt_failed() > 0);
  simt_fail_at(0, 0);
  CHECK_EQ_I64(some_work(&result), cudaSuccess);
}

static void little_memory(void) {
  char *a, *b;
  size_t room, total;
  simt_memory(10000);
  CHECK_EQ_I64(cudaMalloc(&a, 6000), cudaSuccess);
  CHECK_EQ_I64(cudaMemGetInfo(&room, &total), cudaSuccess);
  CHECK_EQ_U64(room, 4000);
  CHECK_EQ_U64(total, 10000);
  CHECK_EQ_I64(cudaMalloc(&b, 4001), cudaErrorMemoryAllocation);
  CHECK(b == NULL);
  CHECK_EQ_I64(cudaGetLastError(), cudaErrorMemoryAllocation);
  CHECK_EQ_I64(cudaMalloc(&b, 4000), cudaSuccess);
  CHECK_EQ_I64(cudaFree(a), cudaSuccess);
  CHECK_EQ_I64(cudaFree(b), cudaSuccess);
  CHECK_EQ_I64(cudaMalloc(&a, (size_t)-1), cudaErrorMemoryAllocation);
  CHECK_EQ_I64(cudaGetLastError(), cudaErrorMemoryAllocation);
  simt_memory(0);
}

/* What a thread does in a stream of another device than its current one. */
static void streams_of_devices(void) {
  cudaStream_t first, second;
  cudaEvent_t event;
  unsigned *memory = NULL, result = 0;
  setenv("SIMT_DEVICES", "2", 1);
  CHECK_EQ_I64(cudaStreamCreate(&first), cudaSuccess);
  CHECK_EQ_I64(cudaSetDevice(1), cudaSuccess);
  CHECK_EQ_I64(cudaStreamCreate(&second), cudaSuccess);
  CHECK_EQ_I64(cudaEventCreate(&event), cudaSuccess);
  CHECK_EQ_I64(cudaMalloc(&memory, 4), cudaSuccess);
  CU_LAUNCH(k_count, 1, 1, 0, first, memory);
  CHECK_EQ_I64(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  CHECK_EQ_I64(cudaMemsetAsync(memory, 0, 4, first), cudaErrorInvalidResourceHandle);
  CHECK_EQ_I64(cudaEventRecord(event, first), cudaErrorInvalidResourceHandle);
  CHECK_EQ_I64(cudaMemsetAsync(memory, 0, 4, second), cudaSuccess);
  CU_LAUNCH(k_count, 1, 1, 0, second, memory);
  CHECK_EQ_I64(cudaEventRecord(event, second), cudaSuccess);
  CHECK_EQ_I64(cudaSetDevice(0), cudaSuccess); /* copies and waits do not mind */
  CHECK_EQ_I64(cudaMemcpyAsync(&result, memory, 4, cudaMemcpyDeviceToHost, second), cudaSuccess);
  CHECK_EQ_I64(cudaStreamWaitEvent(first, event, 0), cudaSuccess);
  CHECK_EQ_I64(cudaStreamSynchronize(second), cudaSuccess);
  CHECK_EQ_I64(result, 1);
  CHECK_EQ_I64(cudaStreamDestroy(first), cudaSuccess);
  CHECK_EQ_I64(cudaStreamDestroy(second), cudaSuccess);
  CHECK_EQ_I64(cudaEventDestroy(event), cudaSuccess);
  CHECK_EQ_I64(cudaFree(memory), cudaSuccess);
  (void)cudaGetLastError();
  unsetenv("SIMT_DEVICES");
}

static void environment(void) {
  int n = -1, version = -1, units = 0;
  unsigned result = 0;
  setenv("SIMT_DEVICES", "0", 1);
  CHECK_EQ_I64(cudaGetDeviceCount(&n), cudaErrorNoDevice);
  CHECK_EQ_I64(n, 0);
  CHECK_EQ_I64(some_work(&result), cudaErrorNoDevice);
  setenv("SIMT_DEVICES", "3", 1);
  CHECK_EQ_I64(cudaGetDeviceCount(&n), cudaSuccess);
  CHECK_EQ_I64(n, 3);
  CHECK_EQ_I64(cudaSetDevice(2), cudaSuccess);
  CHECK_EQ_I64(cudaSetDevice(3), cudaErrorInvalidDevice);
  CHECK_EQ_I64(cudaGetDevice(&n), cudaSuccess);
  CHECK_EQ_I64(n, 2);
  CHECK_EQ_I64(cudaSetDevice(0), cudaSuccess);
  unsetenv("SIMT_DEVICES");
  setenv("SIMT_DRIVER", "old", 1);
  CHECK_EQ_I64(cudaDriverGetVersion(&version), cudaSuccess);
  CHECK_EQ_I64(version, 11040);
  CHECK_EQ_I64(cudaGetDeviceCount(&n), cudaErrorInsufficientDriver);
  setenv("SIMT_DRIVER", "none", 1);
  CHECK_EQ_I64(cudaDriverGetVersion(&version), cudaSuccess);
  CHECK_EQ_I64(version, 0);
  CHECK_EQ_I64(some_work(&result), cudaErrorInsufficientDriver);
  unsetenv("SIMT_DRIVER");
  setenv("SIMT_UNITS", "132", 1);
  CHECK_EQ_I64(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  CHECK_EQ_I64(units, 132);
  unsetenv("SIMT_UNITS");
  setenv("SIMT_FAIL", "2", 1);
  CHECK_EQ_I64(some_work(&result), codes[2]);
  CHECK_EQ_I64(some_work(&result), cudaSuccess);
  setenv("SIMT_FAIL", "3+", 1);
  CHECK_EQ_I64(some_work(&result), cudaErrorLaunchFailure);
  unsetenv("SIMT_FAIL");
  CHECK_EQ_I64(some_work(&result), cudaSuccess);
  (void)cudaGetLastError();
}

/* CUDA cannot be used by a process whose parent has used it. */
static void forked(void) {
  unsigned result = 0;
  int status = -1;
  CHECK_EQ_I64(some_work(&result), cudaSuccess);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    int wrong = some_work(&result) != cudaErrorInitializationError;
    simt_adopt();
    wrong |= some_work(&result) != cudaSuccess;
    _exit(wrong);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void counts(void) {
  unsigned result = 0;
  int64_t live = simt_live();
  unsigned *device;
  cudaStream_t stream;
  simt_count_again();
  CHECK_EQ_I64(some_work(&result), cudaSuccess);
  simt_counts c = simt_counted();
  CHECK_EQ_I64(c.launches, 1);
  CHECK_EQ_I64(c.kernels, 1);
  CHECK_EQ_I64(c.blocks, 2);
  CHECK_EQ_I64(c.copies, 1);
  CHECK_EQ_I64(c.sets, 1);
  CHECK_EQ_I64(c.allocs, 2);
  CHECK_EQ_I64(c.frees, 2);
  CHECK_EQ_I64(c.waits, 3); /* synchronised once, freed twice */
  CHECK_EQ_I64(cudaMalloc(&device, 4), cudaSuccess);
  CHECK_EQ_I64(cudaStreamCreate(&stream), cudaSuccess);
  CHECK_EQ_I64(simt_live(), live + 2);
  /* a copy to memory that is not page-locked waits, though it is called asynchronous */
  simt_count_again();
  CHECK_EQ_I64(cudaMemsetAsync(device, 0, 4, stream), cudaSuccess);
  CHECK_EQ_I64(simt_counted().waits, 0);
  CHECK_EQ_I64(cudaMemcpyAsync(&result, device, 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  CHECK_EQ_I64(simt_counted().waits, 1);
  CHECK_EQ_I64(cudaFree(device), cudaSuccess);
  CHECK_EQ_I64(cudaStreamDestroy(stream), cudaSuccess);
  CHECK_EQ_I64(simt_live(), live);
}

/* All blocks of a cooperative launch are resident: more than the device has room for are refused. */
static void cooperative(void) {
  unsigned *device, result = 0;
  int there = 0, units = 0, most = 0;
  setenv("SIMT_UNITS", "2", 1); /* threads take memory */
  CHECK_EQ_I64(cudaDeviceGetAttribute(&there, cudaDevAttrCooperativeLaunch, 0), cudaSuccess);
  CHECK_EQ_I64(there, 0); /* most tests are of what all devices have */
  CHECK_EQ_I64(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  CHECK_EQ_I64(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, k_count, 512, 0), cudaSuccess);
  CHECK_EQ_I64(most, 4);
  CHECK_EQ_I64(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, k_count, 512, 120 * 1024), cudaSuccess);
  CHECK_EQ_I64(most, 1);
  CHECK_EQ_I64(cudaMalloc(&device, 4), cudaSuccess);
  CHECK_EQ_I64(cudaMemset(device, 0, 4), cudaSuccess);
  CU_LAUNCH_TOGETHER(k_count, 4 * units, 512, 0, NULL, device);
  CHECK_EQ_I64(cudaGetLastError(), cudaSuccess);
  CU_LAUNCH_TOGETHER(k_count, 4 * units + 1, 512, 0, NULL, device);
  CHECK_EQ_I64(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
  CHECK_EQ_I64(cudaMemcpy(&result, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  CHECK_EQ_U64(result, 4u * (unsigned)units * 512u);
  CHECK_EQ_I64(cudaFree(device), cudaSuccess);
  setenv("SIMT_COOPERATIVE", "1", 1);
  CHECK_EQ_I64(cudaDeviceGetAttribute(&there, cudaDevAttrCooperativeLaunch, 0), cudaSuccess);
  CHECK_EQ_I64(there, 1);
  unsetenv("SIMT_COOPERATIVE");
  unsetenv("SIMT_UNITS");
}

static void *in_a_thread(void *arg) {
  unsigned *wrong = (unsigned *)arg, result = 0;
  for (int k = 0; k < 20; k++) *wrong += some_work(&result) != cudaSuccess || result != 80;
  *wrong += cudaSetDevice(99) != cudaErrorInvalidDevice;
  *wrong += cudaGetLastError() != cudaErrorInvalidDevice; /* everyone has an error of his own */
  return NULL;
}

static void several_host_threads(void) {
  enum { N = 4 };
  pthread_t thread[N];
  unsigned wrong[N] = {0};
  for (int k = 0; k < N; k++) REQUIRE(pthread_create(&thread[k], NULL, in_a_thread, &wrong[k]) == 0);
  for (int k = 0; k < N; k++) {
    pthread_join(thread[k], NULL);
    CHECK_EQ_U64(wrong[k], 0);
  }
  CHECK_EQ_I64(cudaGetLastError(), cudaSuccess);
}

/* Memory cannot be had while a stream is captured. */
static void captured(void) {
  cudaStream_t stream;
  cudaGraph_t graph;
  char *device;
  int64_t live = simt_live();
  CHECK_EQ_I64(cudaStreamCreate(&stream), cudaSuccess);
  CHECK_EQ_I64(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  CHECK_EQ_I64(cudaMalloc(&device, 4), cudaErrorStreamCaptureUnsupported);
  CHECK_EQ_I64(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  CHECK(graph == NULL);
  CHECK_EQ_I64(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  CHECK_EQ_I64(cudaStreamDestroy(stream), cudaSuccess);
  (void)cudaGetLastError();
  CHECK_EQ_I64(simt_live(), live);
}

static void *allocates(void *arg) {
  char *device;
  *(int *)arg = cudaMalloc(&device, 4) == cudaSuccess && cudaFree(device) == cudaSuccess;
  return NULL;
}

/* What breaks a capture: the default stream, if the captured one waits for it; another thread's allocation, if the
 * capture is in the mode for all. */
static void captured_beside_others(void) {
  static const cudaStreamCaptureMode modes[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal};
  for (int k = 0; k < 4; k++) {
    const int thread_local_mode = k & 1, blocking = k >> 1;
    cudaStream_t stream;
    cudaGraph_t graph;
    char *device;
    pthread_t thread;
    int fine = 0;
    CHECK_EQ_I64(cudaMalloc(&device, 4), cudaSuccess);
    CHECK_EQ_I64(cudaStreamCreateWithFlags(&stream, blocking ? cudaStreamDefault : cudaStreamNonBlocking), cudaSuccess);
    CHECK_EQ_I64(cudaStreamBeginCapture(stream, modes[thread_local_mode]), cudaSuccess);
    CHECK_EQ_I64(cudaMemsetAsync(device, 0, 4, stream), cudaSuccess);
    CHECK_EQ_I64(cudaMemset(device, 0, 4), blocking ? cudaErrorStreamCaptureImplicit : cudaSuccess);
    REQUIRE(pthread_create(&thread, NULL, allocates, &fine) == 0);
    pthread_join(thread, NULL);
    CHECK_EQ_I64(fine, thread_local_mode);
    CHECK_EQ_I64(cudaStreamEndCapture(stream, &graph),
                 thread_local_mode && !blocking ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
    if (graph) {
      size_t n = 0;
      CHECK_EQ_I64(cudaGraphGetNodes(graph, NULL, &n), cudaSuccess);
      CHECK_EQ_U64(n, 1);
      CHECK_EQ_I64(cudaGraphDestroy(graph), cudaSuccess);
    }
    (void)cudaGetLastError();
    CHECK_EQ_I64(cudaStreamDestroy(stream), cudaSuccess);
    CHECK_EQ_I64(cudaFree(device), cudaSuccess);
  }
}

extern "C" void suite_simt_control(void);
extern "C" void suite_simt_control(void) {
  RUN(failing_calls);
  RUN(lost_device);
  RUN(little_memory);
  RUN(streams_of_devices);
  RUN(environment);
  RUN(forked);
  RUN(counts);
  RUN(several_host_threads);
  RUN(captured);
  RUN(captured_beside_others);
  RUN(cooperative);
}
