/* Device memory, counted, and what CUDA's refusals mean to a user.
 *
 * Errors of CUDA come as numbers that have not changed since CUDA 10.1. Most of those that a user can meet belong to
 * one of a few families; each has a sentence of its own that says what to do. After an error of the family "lost" the
 * process has no use of the device any more: only a new process can have it again. */
#include "mem.cuh"

#include <string.h>

/* ---- failures ---- */

enum cu_family { CU_OTHER = 0, CU_MEMORY, CU_DRIVER, CU_NO_DEVICE, CU_FORKED, CU_BUSY, CU_IMAGE, CU_LOST };

static cu_family cu_family_of(int code) {
  switch (code) {
  case 2: /* MemoryAllocation */
    return CU_MEMORY;
  case 35: /* InsufficientDriver */
  case 36: /* CallRequiresNewerDriver */
    return CU_DRIVER;
  case 100: /* NoDevice */
  case 101: /* InvalidDevice */
    return CU_NO_DEVICE;
  case 3: /* InitializationError: what a process gets whose parent had CUDA in use */
    return CU_FORKED;
  case 46:  /* DevicesUnavailable */
  case 802: /* SystemNotReady */
    return CU_BUSY;
  case 98:  /* InvalidDeviceFunction */
  case 200: /* InvalidKernelImage */
  case 209: /* NoKernelImageForDevice */
  case 222: /* UnsupportedPtxVersion */
    return CU_IMAGE;
  case 4:   /* CudartUnloading */
  case 201: /* DeviceUninitialized */
  case 214: /* ECCUncorrectable */
  case 220: /* NvlinkUncorrectable */
  case 700: /* IllegalAddress */
  case 702: /* LaunchTimeout */
  case 709: /* ContextIsDestroyed */
  case 710: /* Assert */
  case 714: /* HardwareStackError */
  case 715: /* IllegalInstruction */
  case 716: /* MisalignedAddress */
  case 717: /* InvalidAddressSpace */
  case 718: /* InvalidPc */
  case 719: /* LaunchFailure */
  case 721: /* tensor memory leak */
  case 999: /* Unknown */
    return CU_LOST;
  default:
    return CU_OTHER;
  }
}

/* The name of the function in the text of a call. */
static int cu_name_length(const char *what) {
  int n = 0;
  while (what[n] != '\0' && what[n] != '(') n++;
  return n;
}

gbt_status cu_failed(cudaError_t code, const char *what, gbt_error *err) {
  const char *text = cudaGetErrorString(code);
  int n = cu_name_length(what);
  (void)cudaGetLastError(); /* reported here: it is not to be found again by the next that looks */
  if (cu_family_of((int)code) == CU_MEMORY && strncmp(what, "cudaMallocHost", 14) == 0)
    return gbt_fail_device(err, GBT_E_MEM,
                           "the host has no page-locked memory left for copies to the device; close other programs or "
                           "raise the limit of locked memory (`ulimit -l`)");
  switch (cu_family_of((int)code)) {
  case CU_MEMORY:
    return gbt_fail_device(
        err, GBT_E_MEM,
        "out of device memory (%.*s); end other programs on the device, or train on fewer rows or columns", n, what);
  case CU_DRIVER:
    return gbt_fail_device(err, GBT_E_DEVICE, "the NVIDIA driver is too old (%.*s: %s); update it", n, what, text);
  case CU_NO_DEVICE:
    return gbt_fail_device(err, GBT_E_DEVICE, "the NVIDIA driver finds no such GPU (%.*s: %s)", n, what, text);
  case CU_FORKED:
    return gbt_fail_device(
        err, GBT_E_DEVICE,
        "CUDA cannot be started in this process (%.*s: %s); a forked process cannot use what its parent "
        "has started: start workers as new processes (parallel::makePSOCKcluster())",
        n, what, text);
  case CU_BUSY:
    return gbt_fail_device(err, GBT_E_DEVICE,
                           "the device is busy (%.*s: %s); another program may have exclusive use of it: wait until it "
                           "ends", n,
                           what, text);
  case CU_IMAGE:
    return gbt_fail_device(err, GBT_E_DEVICE,
                           "this build of gbt has no code for the device (%.*s: %s); install gbt again with "
                           "--configure-args='--with-cuda-arch=...' naming its compute capability",
                           n, what, text);
  case CU_LOST:
    return gbt_fail_device(err, GBT_E_DEVICE, "the connection to the device was lost (%.*s: %s); restart R before you "
                                              "use it again", n,
                           what, text);
  default:
    return gbt_fail_device(err, GBT_E_DEVICE, "a call of CUDA failed (%.*s: %s, error %d)", n, what, text, (int)code);
  }
}

/* ---- memory ---- */

static double cu_mb(size_t bytes) { return (double)bytes / 1048576.0; }

/* cudaMalloc has refused: how much there was. */
static gbt_status cu_no_room(size_t bytes, gbt_error *err) {
  size_t free_bytes = 0, total = 0;
  (void)cudaGetLastError();
  if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) {
    free_bytes = total = 0;
    (void)cudaGetLastError();
  }
  return gbt_fail_device(
      err, GBT_E_MEM,
      "out of device memory: %.1f MB are needed, %.1f MB of %.1f MB are free; end other programs on the device, train "
      "on fewer rows or columns or lower `max_bin`",
      cu_mb(bytes), cu_mb(free_bytes), cu_mb(total));
}

static int has_room(const cu_memory *memory, size_t bytes) {
  return memory->limit == 0 || (memory->bytes <= memory->limit && bytes <= memory->limit - memory->bytes);
}

gbt_status cu_alloc(cu_memory *memory, size_t n, size_t size, void *out, gbt_error *err) {
  void **at = (void **)out;
  *at = NULL;
  if (size != 0 && n > (SIZE_MAX >> 1) / size) return cu_no_room(SIZE_MAX >> 1, err);
  size_t bytes = n * size;
  if (!has_room(memory, bytes))
    return gbt_fail_device(
        err, GBT_E_MEM,
        "the limit of %.1f MB of device memory is reached: %.1f MB are in use, %.1f MB more are needed; raise "
        "`device_memory`, train on fewer rows or columns or lower `max_bin`",
        cu_mb(memory->limit), cu_mb(memory->bytes), cu_mb(bytes));
  cudaError_t code = cudaMalloc(at, bytes > 0 ? bytes : 1);
  if (code != cudaSuccess) {
    *at = NULL;
    if (cu_family_of((int)code) == CU_MEMORY) return cu_no_room(bytes, err);
    return cu_failed(code, "cudaMalloc", err);
  }
  memory->bytes += bytes;
  if (memory->bytes > memory->most) memory->most = memory->bytes;
  return GBT_OK;
}

void cu_free(cu_memory *memory, void *block, size_t bytes) {
  if (!block) return;
  (void)cudaFree(block); /* fails on a device that is lost, which has taken its memory with it */
  (void)cudaGetLastError();
  cu_uncount(memory, bytes);
}

size_t cu_free_bytes(const cu_memory *memory) {
  size_t free_bytes = 0, total = 0;
  if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  if (memory->limit == 0) return free_bytes;
  const size_t left = memory->limit > memory->bytes ? memory->limit - memory->bytes : 0;
  return left < free_bytes ? left : free_bytes;
}

int cu_count(cu_memory *memory, size_t bytes) {
  if (!has_room(memory, bytes)) return 0;
  memory->bytes += bytes;
  if (memory->bytes > memory->most) memory->most = memory->bytes;
  return 1;
}

void cu_uncount(cu_memory *memory, size_t bytes) {
  GBT_ASSERT(memory->bytes >= bytes); /* the caller knows the size of the block */
  memory->bytes -= bytes;
}

gbt_status cu_host_alloc(size_t bytes, void *out, gbt_error *err) {
  void **at = (void **)out, *block = NULL;
  *at = NULL;
  CU_TRY(cudaMallocHost(&block, bytes > 0 ? bytes : 1));
  *at = block;
  return GBT_OK;
}
