/* Copies between host and device, pageable and page-locked. Share: of PCIe 5.0 x16, 64 GB/s. */
#include "micro.cuh"

#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Median host seconds: a pageable copy is the host's work as well. */
static double seconds_of_copy(micro *m, void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  double s[MAX_REPEATS];
  for (int r = -1; r < m->repeats; r++) {
    double t = now();
    TRY(cudaMemcpyAsync(to, from, bytes, kind, m->stream));
    TRY(cudaStreamSynchronize(m->stream));
    if (r >= 0) s[r] = now() - t;
  }
  qsort(s, (size_t)m->repeats, sizeof *s, by_size);
  return s[m->repeats / 2];
}

static void both_ways(micro *m, const char *kind, unsigned char *host, unsigned char *device, size_t bytes) {
  char name[64];
  size_t wrong = 0;
  const double pcie = m->dev.emulated ? 0.0 : 64.0;
  for (size_t i = 0; i < bytes; i++) host[i] = (unsigned char)(i * 131u >> 3);
  double up = seconds_of_copy(m, device, host, bytes, cudaMemcpyHostToDevice);
  memset(host, 0, bytes);
  double down = seconds_of_copy(m, host, device, bytes, cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < bytes; i++) wrong += host[i] != (unsigned char)(i * 131u >> 3);
  snprintf(name, sizeof name, "host to device %s", kind);
  check(m, name, wrong, 0);
  report(name, (double)bytes / up * 1e-9, "GB/s", pcie, "PCIe 5.0 x16");
  snprintf(name, sizeof name, "device to host %s", kind);
  report(name, (double)bytes / down * 1e-9, "GB/s", pcie, "PCIe 5.0 x16");
}

void micro_copies(micro *m) {
  const size_t bytes = sized(m, (size_t)256 << 20, 1 << 16);
  unsigned char *device = device_array<unsigned char>(bytes), *locked = nullptr;
  unsigned char *pageable = (unsigned char *)malloc(bytes);
  if (!pageable) exit(1);
  TRY(cudaMallocHost(&locked, bytes));
  both_ways(m, "pageable 256 MB", pageable, device, bytes);
  both_ways(m, "page-locked 256 MB", locked, device, bytes);
  double small = seconds_of_copy(m, device, locked, 4096, cudaMemcpyHostToDevice);
  report("host to device page-locked 4 KB and wait", small * 1e6, "us", 0, "");
  TRY(cudaFreeHost(locked));
  free(pageable);
  TRY(cudaFree(device));
}
