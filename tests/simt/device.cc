/* Settings, errors, devices, and what every call to the runtime begins with: is there a driver, a device, is this the
 * process that began, is it this call's turn to fail. */
#include "internal.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>

extern char **environ;

namespace simt {

enum { DRIVER_GOOD, DRIVER_OLD, DRIVER_NONE };
enum { VERSION = 13000, OLD_VERSION = 11040, MOST_DEVICES = 16 };

Settings settings;
simt_counts counts;

static std::recursive_mutex mutex;
static uint64_t random_state = 1, environment_seen;
static size_t memory_asked; /* by simt_memory() */
static std::string fail_seen;
static int64_t fail_in, n_failed; /* calls until one fails; 0: none does */
static bool fail_later, lost;
static int owner; /* process; 0: none yet */
static std::map<const void *, int> dynamic_limit;
static thread_local cudaError_t last_error;
static thread_local int device_now;

/* ---- random numbers: xorshift ---- */

void random_seed(uint64_t seed) {
  random_state = 0x9E3779B97F4A7C15ull ^ (seed + 1) * 0xBF58476D1CE4E5B9ull;
  if (random_state == 0) random_state = 1;
  for (int i = 0; i < 8; i++) random64();
}

uint64_t random64() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* ---- the environment ---- */

static unsigned long long number(const char *name, unsigned long long otherwise) {
  const char *text = getenv(name);
  if (!text || !*text) return otherwise;
  char *end;
  unsigned long long value = strtoull(text, &end, 10);
  if (*end == '\0') return value;
  fprintf(stderr, "simt: %s=%s\n", name, text);
  die("a variable of the environment that is no number", name, 0);
}

static int word(const char *name, const char *const *words) {
  const char *text = getenv(name);
  if (!text || !*text) return 0;
  for (int i = 0; words[i]; i++)
    if (strcmp(text, words[i]) == 0) return i;
  fprintf(stderr, "simt: %s=%s\n", name, text);
  die("a variable of the environment that is none of its words", name, 0);
}

static void set_failing(int64_t n, bool later) {
  fail_in = n;
  fail_later = later;
  lost = false;
  n_failed = 0;
}

static uint64_t hash_environment() {
  uint64_t hash = 0xCBF29CE484222325ull;
  for (char **e = environ; e && *e; e++) {
    if (strncmp(*e, "SIMT_", 5) != 0) continue;
    for (const char *p = *e; *p; p++) hash = (hash ^ (unsigned char)*p) * 0x100000001B3ull;
  }
  return hash;
}

static void follow_environment() {
  static const char *const orders[] = {"natural", "reverse", "random", nullptr};
  static const char *const drivers[] = {"good", "old", "none", nullptr};
  uint64_t hash = hash_environment();
  if (hash == environment_seen) return;
  environment_seen = hash;
  settings.order = word("SIMT_SCHED", orders);
  random_seed(number("SIMT_SEED", 0));
  settings.preempt = (unsigned)number("SIMT_PREEMPT", 0);
  settings.resident = (unsigned)number("SIMT_RESIDENT", 1);
  settings.cooperative = number("SIMT_COOPERATIVE", 0) != 0;
  settings.async = number("SIMT_ASYNC", 0) != 0;
  settings.trace = number("SIMT_TRACE", 0) != 0;
  settings.driver = word("SIMT_DRIVER", drivers);
  settings.devices = (int)number("SIMT_DEVICES", 1);
  if (settings.devices > MOST_DEVICES) settings.devices = MOST_DEVICES;
  settings.units = (int)number("SIMT_UNITS", 4);
  settings.shared_limit = number("SIMT_SHARED", MOST_SHARED);
  if (settings.shared_limit > MOST_SHARED) settings.shared_limit = MOST_SHARED;
  settings.memory = memory_asked ? memory_asked : number("SIMT_MEMORY", 8ull << 30);
  settings.junk = (unsigned char)number("SIMT_JUNK", JUNK);
  settings.pitch = number("SIMT_PITCH", MOST_PITCH);
  settings.cache = number("SIMT_CACHE", 1 << 20);
  const char *text = getenv("SIMT_FAIL");
  if (fail_seen != (text ? text : "")) {
    fail_seen = text ? text : "";
    set_failing(atoll(fail_seen.c_str()), fail_seen.find('+') != std::string::npos);
  }
}

/* ---- calls ---- */

/* Whether this call is the one that is to fail. */
static cudaError_t injected(CallKind kind) {
  if (lost) {
    n_failed++;
    return cudaErrorLaunchFailure;
  }
  if (fail_in <= 0 || kind == FREE || --fail_in > 0) return cudaSuccess;
  n_failed++;
  if (fail_later) {
    lost = true;
    forget_work();
    return cudaErrorLaunchFailure;
  }
  return kind == ALLOC ? cudaErrorMemoryAllocation : kind == LAUNCH ? cudaErrorLaunchOutOfResources : cudaErrorUnknown;
}

Call::Call(CallKind kind) : code(cudaSuccess) {
  mutex.lock();
  if (now) die("a kernel calls the runtime", __FILE__, __LINE__);
  follow_environment();
  if (settings.driver != DRIVER_GOOD) {
    code = cudaErrorInsufficientDriver;
    return;
  }
  if (owner == 0) owner = (int)getpid();
  if (owner != (int)getpid()) {
    code = cudaErrorInitializationError;
    return;
  }
  if (settings.devices == 0) {
    code = cudaErrorNoDevice;
    return;
  }
  if ((code = injected(kind)) != cudaSuccess) return;
  if ((kind == ALLOC || kind == WAIT || kind == FREE) && capturing()) {
    break_captures();
    code = cudaErrorStreamCaptureUnsupported;
    return;
  }
  counts.waits += kind == WAIT || kind == FREE;
}

Call::~Call() { mutex.unlock(); }

cudaError_t failed(cudaError_t code) {
  if (code != cudaSuccess) last_error = code;
  return code;
}

int current_device() { return device_now; }

size_t dynamic_limit_of(const void *kernel) {
  auto found = dynamic_limit.find(kernel);
  return found == dynamic_limit.end() ? USUAL_SHARED : (size_t)found->second;
}
size_t shared_limit_of(const void *kernel) {
  return dynamic_limit.count(kernel) ? settings.shared_limit : USUAL_SHARED;
}

cudaError_t set_attribute(const void *kernel, cudaFuncAttribute which, int value) {
  SIMT_ENTER(WORK);
  if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || (size_t)value > settings.shared_limit) return failed(cudaErrorInvalidValue);
  dynamic_limit[kernel] = value;
  return cudaSuccess;
}

cudaError_t get_attributes(cudaFuncAttributes *out, const void *kernel) {
  SIMT_ENTER(WORK);
  *out = cudaFuncAttributes();
  out->maxThreadsPerBlock = MOST_THREADS;
  out->numRegs = 32;
  out->ptxVersion = out->binaryVersion = 90;
  out->maxDynamicSharedSizeBytes = (int)dynamic_limit_of(kernel);
  return cudaSuccess;
}

/* Blocks that a multiprocessor has room for. */
static int room_for(int threads, size_t dynamic) {
  int by_threads = 2048 / threads, by_shared = (int)((settings.shared_limit + 1024) / (dynamic + 1024));
  return by_threads < by_shared ? by_threads : by_shared;
}

uint64_t most_resident(const Launch &l) {
  const unsigned threads = l.threads.x * l.threads.y * l.threads.z;
  return (uint64_t)settings.units * (uint64_t)room_for((int)threads, l.shared);
}

cudaError_t occupancy(int *blocks, const void *, int threads, size_t dynamic) {
  SIMT_ENTER(WORK);
  if (threads < 1 || threads > MOST_THREADS) return failed(cudaErrorInvalidValue);
  *blocks = room_for(threads, dynamic);
  return cudaSuccess;
}

} // namespace simt

using namespace simt;

/* ---- errors ---- */

cudaError_t cudaGetLastError() {
  cudaError_t code = last_error;
  last_error = cudaSuccess;
  return code;
}
cudaError_t cudaPeekAtLastError() { return last_error; }

static const struct {
  cudaError_t code;
  const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const char *cudaGetErrorString(cudaError_t code) {
  for (const auto &e : errors)
    if (e.code == code) return e.text;
  return "unrecognized error code";
}
const char *cudaGetErrorName(cudaError_t code) {
  for (const auto &e : errors)
    if (e.code == code) return e.name;
  return "unrecognized error code";
}

/* ---- devices ---- */

cudaError_t cudaDriverGetVersion(int *version) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  follow_environment();
  *version = settings.driver == DRIVER_NONE ? 0 : settings.driver == DRIVER_OLD ? OLD_VERSION : VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *n) {
  *n = 0;
  SIMT_ENTER(LOOK);
  *n = settings.devices;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
  SIMT_ENTER(LOOK);
  *device = device_now;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  SIMT_ENTER(WORK);
  if (device < 0 || device >= settings.devices) return failed(cudaErrorInvalidDevice);
  device_now = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  SIMT_ENTER(WAIT);
  finish_all();
  return cudaSuccess;
}
cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int device) {
  SIMT_ENTER(WORK);
  if (device < 0 || device >= settings.devices) return failed(cudaErrorInvalidDevice);
  *out = cudaDeviceProp();
  snprintf(out->name, sizeof out->name, "emulated device %d", device);
  out->totalGlobalMem = settings.memory;
  out->sharedMemPerBlock = USUAL_SHARED;
  out->sharedMemPerBlockOptin = settings.shared_limit;
  out->sharedMemPerMultiprocessor = settings.shared_limit + 1024;
  out->major = 9;
  out->multiProcessorCount = settings.units;
  out->warpSize = 32;
  out->maxThreadsPerBlock = out->maxThreadsDim[0] = out->maxThreadsDim[1] = MOST_THREADS;
  out->maxThreadsDim[2] = 64;
  out->maxGridSize[0] = 0x7fffffff;
  out->maxGridSize[1] = out->maxGridSize[2] = 65535;
  out->maxThreadsPerMultiProcessor = 2048;
  out->regsPerBlock = 65536;
  out->l2CacheSize = 1 << 20;
  out->asyncEngineCount = out->concurrentKernels = out->unifiedAddressing = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int device) {
  SIMT_ENTER(WORK);
  if (device < 0 || device >= settings.devices) return failed(cudaErrorInvalidDevice);
  switch (which) {
  case cudaDevAttrMaxThreadsPerBlock:
    *value = MOST_THREADS;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlock:
    *value = USUAL_SHARED;
    break;
  case cudaDevAttrWarpSize:
    *value = 32;
    break;
  case cudaDevAttrMaxPitch:
    *value = (int)settings.pitch;
    break;
  case cudaDevAttrMultiProcessorCount:
    *value = settings.units;
    break;
  case cudaDevAttrL2CacheSize:
    *value = 1 << 20;
    break;
  case cudaDevAttrMaxThreadsPerMultiProcessor:
    *value = 2048;
    break;
  case cudaDevAttrComputeCapabilityMajor:
    *value = 9;
    break;
  case cudaDevAttrComputeCapabilityMinor:
    *value = 0;
    break;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    *value = (int)settings.shared_limit + 1024;
    break;
  case cudaDevAttrCooperativeLaunch:
    *value = settings.cooperative;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = (int)settings.shared_limit;
    break;
  case cudaDevAttrHostRegisterSupported:
    *value = 1;
    break;
  default:
    return failed(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

/* ---- control.h ---- */

typedef std::lock_guard<std::recursive_mutex> Guard;

void simt_schedule(int order, uint64_t seed, unsigned k) {
  Guard guard(mutex);
  follow_environment();
  settings.order = order;
  settings.preempt = k;
  random_seed(seed);
}
void simt_resident(unsigned n) {
  Guard guard(mutex);
  follow_environment();
  settings.resident = n;
}
void simt_async(int on) {
  Guard guard(mutex);
  follow_environment();
  finish_all();
  settings.async = on != 0;
}
void simt_memory(size_t bytes) {
  Guard guard(mutex);
  follow_environment();
  memory_asked = bytes;
  settings.memory = bytes ? bytes : number("SIMT_MEMORY", 8ull << 30);
}
void simt_fail_at(int64_t n, int and_later) {
  Guard guard(mutex);
  follow_environment();
  set_failing(n, and_later != 0);
}
int64_t simt_failed(void) { return n_failed; }
simt_counts simt_counted(void) { return counts; }
void simt_count_again(void) {
  counts = simt_counts();
  traffic_again();
}
int64_t simt_live(void) { return live_blocks() + live_streams(); }
void simt_adopt(void) { owner = (int)getpid(); }
