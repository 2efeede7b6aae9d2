/* The emulated device finds what it says it finds: kernels with a fault planted are run in a process of their own,
 * under several schedules, and must die or give a wrong result; the same kernels without the fault must not. */
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/cuda/base/gate.cuh"
#include "../simt/control.h"

extern "C" {
#include "test.h"
}

enum { SCHEDULES = 6, THREADS = 64, DIED = 86, WRONG = 87 };

#if defined(SIMT_TSAN)
static int n_races;
extern "C" void __tsan_on_report(void *report);
/* Threads of several blocks come here, and a race seen in here would be waited for without end. */
extern "C" __attribute__((no_sanitize("thread"))) void __tsan_on_report(void *) { n_races++; }
/* It sleeps a second before every process ends, to see what other threads may still do: here there are none. */
extern "C" const char *__tsan_default_options(void);
extern "C" const char *__tsan_default_options(void) { return "atexit_sleep_ms=0"; }
static const int has_tsan = 1;
#else
static const int n_races = 0, has_tsan = 0;
#endif
#if defined(SIMT_ASAN)
static const int has_asan = 1;
#else
static const int has_asan = 0;
#endif

/* What became of fn(bug) in a process of its own: 0, DIED, WRONG (it returned 1), or what else ended it. */
static int outcome(int (*fn)(int), int bug, int schedule) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr)) _exit(2);
    simt_adopt();
    simt_schedule(schedule == 1 ? SIMT_REVERSE : schedule >= 2 ? SIMT_RANDOM : SIMT_NATURAL, (uint64_t)schedule, 0);
    int wrong = fn(bug);
    _exit(n_races > 0 ? DIED : wrong ? WRONG : 0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Under how many schedules it was noticed. */
static int noticed(int (*fn)(int), int bug) {
  int n = 0;
  for (int k = 0; k < SCHEDULES; k++) n += outcome(fn, bug, k) != 0;
  return n;
}

/* ---- barriers that are missing ---- */

enum { NO_BUG, AFTER_CLEARING, BEFORE_FLUSH, IN_SCAN, AT_LOOPS_END, NO_SYNCWARP, NOT_ATOMIC, UNWRITTEN };

/* Every block counts its keys in shared memory, scans the counts and adds them to the output. */
__global__ static void k_faulty(const unsigned *key, unsigned n, unsigned *out, int bug) {
  CU_SHARED(unsigned, count, THREADS);
  CU_SHARED(unsigned, scan, THREADS);
  unsigned i = threadIdx.x;
  if (bug != UNWRITTEN || i != 5) count[i] = 0;
  if (bug != AFTER_CLEARING) __syncthreads();
  for (unsigned k = blockIdx.x * THREADS + i; k < n; k += gridDim.x * THREADS) atomicAdd(&count[key[k]], 1u);
  if (bug != BEFORE_FLUSH) __syncthreads();
  scan[i] = count[(i + 17) % THREADS];
  __syncthreads();
  for (unsigned by = 1; by < THREADS; by *= 2) {
    unsigned x = i >= by ? scan[i - by] : 0;
    if (bug != IN_SCAN) __syncthreads();
    scan[i] += x;
    if (bug != AT_LOOPS_END) __syncthreads();
  }
  __syncthreads();
  count[i] = scan[i];
  if (bug != NO_SYNCWARP) __syncwarp();
  unsigned x = count[i ^ 1u];
  if (bug != NOT_ATOMIC)
    atomicAdd(&out[i], x);
  else
    out[i] += x;
}

static int faulty(int bug) {
  enum { N = 1000, BLOCKS = 3 };
  static unsigned key[N];
  unsigned want[THREADS], count[THREADS] = {0}, got[THREADS], sum = 0;
  unsigned *device_key, *out;
  for (unsigned i = 0; i < N; i++) {
    key[i] = i * i % THREADS;
    count[key[i]]++;
  }
  for (unsigned i = 0; i < THREADS; i++) {
    sum += count[(i + 17) % THREADS];
    want[i ^ 1u] = sum;
  }
  cudaMalloc(&device_key, sizeof key);
  cudaMalloc(&out, sizeof got);
  cudaMemcpy(device_key, key, sizeof key, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof got);
  CU_LAUNCH(k_faulty, BLOCKS, THREADS, 0, 0, device_key, (unsigned)N, out, bug);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(device_key);
  cudaFree(out);
  return memcmp(got, want, sizeof got) != 0;
}

static void missing_barriers(void) {
  CHECK_EQ_I64(noticed(faulty, NO_BUG), 0);
  CHECK(noticed(faulty, AFTER_CLEARING) > 0);
  CHECK(noticed(faulty, BEFORE_FLUSH) > 0);
  CHECK(noticed(faulty, IN_SCAN) > 0);
  CHECK(noticed(faulty, AT_LOOPS_END) > 0);
  CHECK(noticed(faulty, NO_SYNCWARP) > 0);
  CHECK_EQ_I64(noticed(faulty, UNWRITTEN), SCHEDULES);
}

/* Blocks follow each other, so only the thread sanitizer can see that nothing keeps them from meeting. */
static void blocks_that_race(void) { CHECK_EQ_I64(noticed(faulty, NOT_ATOMIC), has_tsan ? SCHEDULES : 0); }

/* ---- collectives that go wrong ---- */

enum { DIVERGENT_BARRIER, NOT_IN_MASK, OTHER_MASKS, OTHER_COLLECTIVES, LANES_STAY_AWAY, ODD_ADDRESS, N_WAYS };

__global__ static void k_astray(unsigned *out, int way) {
  unsigned i = threadIdx.x, x = 0;
  switch (way) {
  case DIVERGENT_BARRIER:
    if (i < 10)
      __syncthreads();
    else
      __syncthreads();
    break;
  case NOT_IN_MASK:
    x = __ballot_sync(0xfffffffeu, 1);
    break;
  case OTHER_MASKS:
    x = __ballot_sync(i % 32 == 3 ? 0xfffffffeu : 0xffffffffu, 1);
    break;
  case OTHER_COLLECTIVES:
    if (i % 32 < 9)
      x = __ballot_sync(0xffffffffu, 1);
    else
      x = __reduce_add_sync(0xffffffffu, i);
    break;
  case LANES_STAY_AWAY:
    if (i % 32 < 9)
      __syncwarp();
    else
      __syncthreads();
    break;
  case ODD_ADDRESS:
    atomicAdd(reinterpret_cast<unsigned *>(reinterpret_cast<char *>(out) + 2), 1u);
    break;
  default:
    x = __ballot_sync(0xffffffffu, 1);
  }
  atomicAdd(out, x);
}

static int astray(int way) {
  unsigned *out;
  cudaMalloc(&out, 64);
  CU_LAUNCH(k_astray, 1, THREADS, 0, 0, out, way);
  cudaFree(out);
  return 0;
}

static void collectives_that_never_end(void) {
  for (int k = 0; k < SCHEDULES; k++)
    for (int way = 0; way < N_WAYS; way++) {
      int died = outcome(astray, way, k);
      CHECK(died == DIED || (has_asan && way == ODD_ADDRESS && died != 0));
    }
  CHECK_EQ_I64(noticed(astray, N_WAYS), 0);
}

/* ---- memory that is nobody's ---- */

enum {
  BEHIND_ARRAY,
  BEFORE_ARRAY,
  BEHIND_DYNAMIC,
  BEFORE_DYNAMIC,
  BEHIND_ALLOCATION,
  BEFORE_ALLOCATION,
  N_WRITES,
  READ_SHARED = N_WRITES,
  READ_ALLOCATION,
  N_PLACES
};

__global__ static void k_beyond(unsigned char *out, int n, int where) {
  CU_SHARED(unsigned char, array, 33);
  CU_DYN_SHARED(unsigned char, dynamic);
  volatile unsigned char *a = array, *d = dynamic;
  a[threadIdx.x] = d[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x != 3) return;
  switch (where) {
  case BEHIND_ARRAY:
    a[33] = 1;
    break;
  case BEFORE_ARRAY:
    a[-1] = 1;
    break;
  case BEHIND_DYNAMIC:
    d[n] = 1;
    break;
  case BEFORE_DYNAMIC:
    d[-1] = 1;
    break;
  case BEHIND_ALLOCATION:
    out[n] = 1;
    break;
  case BEFORE_ALLOCATION:
    out[-1] = 1;
    break;
  case READ_SHARED:
    out[0] = a[33 + 1];
    break;
  case READ_ALLOCATION:
    out[0] = out[n + 1];
    break;
  default:
    out[0] = a[32];
    out[n - 1] = d[n - 1];
  }
}

static int beyond(int where) {
  enum { N = 41 };
  unsigned char *out;
  cudaMalloc(&out, N);
  CU_LAUNCH(k_beyond, 1, 33, N, 0, out, N, where);
  cudaFree(out);
  return 0;
}

static void memory_of_nobody(void) {
  CHECK_EQ_I64(noticed(beyond, N_PLACES), 0);
  for (int where = 0; where < N_PLACES; where++)
    CHECK_EQ_I64(noticed(beyond, where), where < N_WRITES || has_asan ? SCHEDULES : 0);
}

enum { TO_THE_HOST, FROM_THE_HOST, TOO_MUCH, FREED_TWICE, FREED_WRONGLY, ONTO_ITSELF, CLEARS_TOO_MUCH, N_MISUSES };

static int misuse(int how) {
  static unsigned char host[64];
  unsigned char *device, *locked;
  cudaMalloc(&device, 64);
  cudaMallocHost(&locked, 64);
  switch (how) {
  case TO_THE_HOST:
    return cudaMemcpy(device, host, 64, cudaMemcpyDeviceToHost);
  case FROM_THE_HOST:
    return cudaMemcpy(device, locked, 64, cudaMemcpyDeviceToDevice);
  case TOO_MUCH:
    return cudaMemcpyAsync(device + 1, host, 64, cudaMemcpyHostToDevice, 0);
  case FREED_TWICE:
    cudaFree(device);
    return cudaFree(device);
  case FREED_WRONGLY:
    return cudaFree(locked);
  case ONTO_ITSELF:
    return cudaMemcpy(device, device + 1, 32, cudaMemcpyDeviceToDevice);
  case CLEARS_TOO_MUCH:
    return cudaMemset(device + 60, 0, 5);
  default:
    return cudaMemcpy(device, host, 64, cudaMemcpyHostToDevice);
  }
}

static void misused_memory(void) {
  for (int how = 0; how < N_MISUSES; how++) CHECK_EQ_I64(outcome(misuse, how, 0), DIED);
  CHECK_EQ_I64(outcome(misuse, N_MISUSES, 0), 0);
}

__global__ static void k_fill(unsigned *out, unsigned n, unsigned with) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) out[i] += with;
}

struct known {
  int number;
  unsigned *at;
};
__global__ static void k_fill_known(known what) { what.at[threadIdx.x] = (unsigned)what.number; }

enum { COPIES_ELSEWHERE, TAKES_ELSEWHERE, KNOWS_ELSEWHERE, N_ELSEWHERE };

/* Memory of device 0, used by device 1. */
static int elsewhere(int how) {
  unsigned *memory, host[4];
  cudaStream_t stream;
  cudaMalloc(&memory, sizeof host);
  if (how < N_ELSEWHERE) cudaSetDevice(1);
  cudaStreamCreate(&stream);
  if (how == COPIES_ELSEWHERE) cudaMemcpyAsync(host, memory, sizeof host, cudaMemcpyDeviceToHost, stream);
  if (how == KNOWS_ELSEWHERE) CU_LAUNCH(k_fill_known, 1, 1, 0, stream, (known{1, memory}));
  if (how == TAKES_ELSEWHERE || how == N_ELSEWHERE) CU_LAUNCH(k_fill, 1, 1, 0, stream, memory, 4u, 1u);
  return 0;
}

static void memory_of_another_device(void) {
  setenv("SIMT_DEVICES", "2", 1);
  for (int how = 0; how < N_ELSEWHERE; how++) CHECK_EQ_I64(outcome(elsewhere, how, 0), DIED);
  CHECK_EQ_I64(outcome(elsewhere, N_ELSEWHERE, 0), 0);
  unsetenv("SIMT_DEVICES");
}

/* ---- waiting that is missing ---- */

enum { WAITS, READS_EARLY, WRITES_EARLY, STREAMS_APART, NOT_BLOCKING };

static int async(int bug) {
  enum { N = 100 };
  unsigned *device, *locked, got[N];
  cudaStream_t one, two;
  simt_async(1);
  cudaMalloc(&device, sizeof got);
  cudaMallocHost(&locked, sizeof got);
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  for (int i = 0; i < N; i++) locked[i] = 1;
  cudaMemcpyAsync(device, locked, sizeof got, cudaMemcpyHostToDevice, one);
  if (bug == WRITES_EARLY) locked[5] = 0;
  if (bug != STREAMS_APART) cudaStreamSynchronize(one);
  CU_LAUNCH(k_fill, 1, 32, 0, two, device, (unsigned)N, 2u);
  if (bug == NOT_BLOCKING) {
    cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost);
    return got[7] != 3;
  }
  cudaMemcpyAsync(locked, device, sizeof got, cudaMemcpyDeviceToHost, two);
  if (bug != READS_EARLY) cudaStreamSynchronize(two);
  for (int i = 0; i < N; i++)
    if (locked[i] != 3) return 1;
  return 0;
}

/* A copy from memory that is not page-locked, in the default stream: its call may return before the data are there. */
enum { COPY_WAITS, COPY_IN_THE_STREAM, COPY_BEFORE_BLOCKING, COPY_APART, COPY_WITHIN_APART };

static int pageable(int bug) {
  enum { N = 100 };
  unsigned *device, *other, plain[N], got[N];
  cudaStream_t stream;
  for (int i = 0; i < N; i++) plain[i] = 1;
  cudaMalloc(&device, sizeof got);
  cudaMalloc(&other, sizeof got);
  cudaStreamCreateWithFlags(&stream, bug == COPY_BEFORE_BLOCKING ? cudaStreamDefault : cudaStreamNonBlocking);
  if (bug == COPY_IN_THE_STREAM)
    cudaMemcpyAsync(device, plain, sizeof got, cudaMemcpyHostToDevice, stream);
  else
    cudaMemcpy(device, plain, sizeof got, cudaMemcpyHostToDevice);
  for (int i = 0; i < N; i++) plain[i] = 0; /* taken already */
  if (bug == COPY_WAITS || bug == COPY_WITHIN_APART) cudaStreamSynchronize(0);
  if (bug == COPY_WITHIN_APART) {
    cudaMemcpy(other, device, sizeof got, cudaMemcpyDeviceToDevice);
    unsigned *first = device;
    device = other;
    other = first;
  }
  CU_LAUNCH(k_fill, 1, 32, 0, stream, device, (unsigned)N, 2u);
  cudaStreamSynchronize(stream);
  cudaMemcpyAsync(got, device, sizeof got, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFree(device);
  cudaFree(other);
  for (int i = 0; i < N; i++)
    if (got[i] != 3) return 1;
  return 0;
}

static void missing_waits(void) {
  for (int how = COPY_WAITS; how <= COPY_BEFORE_BLOCKING; how++) CHECK_EQ_I64(noticed(pageable, how), 0);
  CHECK_EQ_I64(noticed(pageable, COPY_APART), SCHEDULES);
  CHECK_EQ_I64(noticed(pageable, COPY_WITHIN_APART), SCHEDULES);
  CHECK_EQ_I64(noticed(async, WAITS), 0);
  for (int bug = READS_EARLY; bug <= NOT_BLOCKING; bug++) CHECK_EQ_I64(noticed(async, bug), SCHEDULES);
}

/* ---- blocks that wait for each other ---- */

enum { ALL_COME, NO_GATE, ONE_STAYS_AWAY, ONE_ENDS, NOT_TOGETHER, N_TURNS = 4 };

/* Every block passes on what its neighbour had; the last one to come adds up. */
__global__ static void k_pass_on(cu_gate *gate, unsigned *x, unsigned *sum, int bug) {
  const unsigned n = gridDim.x, b = blockIdx.x;
  CU_SHARED(unsigned, mine, THREADS);
  for (unsigned turn = 0; turn < N_TURNS; turn++) {
    mine[threadIdx.x] = x[(turn & 1u) * n + (b + 1u) % n] + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) x[(~turn & 1u) * n + b] = mine[THREADS - 1u];
    if (bug == NO_GATE) continue;
    if (bug == ONE_ENDS && b == 1 && turn == 2) return;
    if (bug == ONE_STAYS_AWAY && b == 1 && turn == 2) continue;
    cu_pass(gate, [&] {
      for (unsigned i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(sum, x[(~turn & 1u) * n + i]);
    });
  }
}

static int pass_on(int bug) {
  enum { BLOCKS = 7 };
  unsigned x[2 * BLOCKS] = {0}, got[2 * BLOCKS], sum = 0, want = 0, *device_x, *device_sum;
  cu_gate *gate, after;
  for (unsigned i = 0; i < BLOCKS; i++) x[i] = i * i;
  for (unsigned i = 0; i < BLOCKS; i++)
    for (unsigned turn = 1; turn <= N_TURNS; turn++) want += i * i + turn * (THREADS - 1u);
  cudaMalloc(&device_x, sizeof x);
  cudaMalloc(&device_sum, sizeof sum);
  cudaMalloc(&gate, sizeof *gate);
  cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice);
  cudaMemset(device_sum, 0, sizeof sum);
  cudaMemset(gate, 0, sizeof *gate);
  if (bug == NOT_TOGETHER)
    CU_LAUNCH(k_pass_on, BLOCKS, THREADS, 0, 0, gate, device_x, device_sum, bug);
  else
    CU_LAUNCH_TOGETHER(k_pass_on, BLOCKS, THREADS, 0, 0, gate, device_x, device_sum, bug);
  int wrong = cudaGetLastError() != cudaSuccess;
  cudaMemcpy(got, device_x, sizeof got, cudaMemcpyDeviceToHost);
  cudaMemcpy(&sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost);
  cudaMemcpy(&after, gate, sizeof after, cudaMemcpyDeviceToHost);
  for (unsigned b = 0; b < BLOCKS; b++) {
    const unsigned from = (b + N_TURNS) % BLOCKS;
    wrong |= got[b] != from * from + N_TURNS * (THREADS - 1u);
  }
  if (bug != NO_GATE) wrong |= sum != want || after.came != 0 || after.opened != N_TURNS;
  cudaFree(device_x);
  cudaFree(device_sum);
  cudaFree(gate);
  return wrong;
}

static void blocks_that_wait(void) {
  CHECK_EQ_I64(noticed(pass_on, ALL_COME), 0);
  CHECK(noticed(pass_on, NO_GATE) > 0);
  /* The emulated device sees these by itself, so one schedule will do where threads are looked at. */
  for (int k = 0; k < (has_tsan ? 1 : SCHEDULES); k++)
    for (int bug = ONE_STAYS_AWAY; bug <= NOT_TOGETHER; bug++) CHECK_EQ_I64(outcome(pass_on, bug, k), DIED);
  setenv("SIMT_RESIDENT", "7", 1); /* enough for all of them, as chance would have it on a device */
  CHECK_EQ_I64(noticed(pass_on, NOT_TOGETHER), 0);
  unsetenv("SIMT_RESIDENT");
}

extern "C" void suite_simt_bugs(void);
extern "C" void suite_simt_bugs(void) {
  RUN(missing_barriers);
  RUN(blocks_that_race);
  RUN(collectives_that_never_end);
  RUN(memory_of_nobody);
  RUN(misused_memory);
  RUN(memory_of_another_device);
  RUN(missing_waits);
  RUN(blocks_that_wait);
}
