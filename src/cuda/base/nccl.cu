/* See nccl.cuh. */
#include "nccl.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32)
#include <dlfcn.h>
#endif

#if defined(_WIN32)

int cu_nccl_find(cu_nccl *out, char *why, size_t n_why) {
  *out = cu_nccl();
  snprintf(why, n_why, "there is no NCCL for Windows");
  return 0;
}

#else

/* An emulated device has no use for the real one. */
#if defined(__CUDACC__)
static const char cu_usual[] = "libnccl.so.2";
#else
static const char cu_usual[] = "none";
#endif

template <class F> static int take(void *library, const char *name, F *out, char *why, size_t n_why) {
  void *at = dlsym(library, name);
  memcpy(out, &at, sizeof at); /* a pointer to a function, as POSIX has it */
  if (at == NULL) snprintf(why, n_why, "NCCL has no function %s", name);
  return at != NULL;
}

int cu_nccl_find(cu_nccl *out, char *why, size_t n_why) {
  const char *wanted = getenv("GBT_NCCL"), *name = wanted && *wanted ? wanted : cu_usual;
  int version = 0;
  cu_nccl n = {};
  *out = cu_nccl();
  if (strcmp(name, "none") == 0) {
    snprintf(why, n_why, wanted ? "the environment variable GBT_NCCL is \"none\"" : "emulated devices do without it");
    return 0;
  }
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *problem = dlerror();
    snprintf(why, n_why, "%s", problem ? problem : name);
    return 0;
  }
  if (!take(library, "ncclGetVersion", &n.version, why, n_why) ||
      !take(library, "ncclGetUniqueId", &n.make_id, why, n_why) ||
      !take(library, "ncclCommInitRank", &n.open, why, n_why) ||
      !take(library, "ncclCommAbort", &n.abort, why, n_why) ||
      !take(library, "ncclCommGetAsyncError", &n.error, why, n_why) ||
      !take(library, "ncclAllReduce", &n.all_reduce, why, n_why) ||
      !take(library, "ncclReduce", &n.reduce, why, n_why) ||
      !take(library, "ncclAllGather", &n.all_gather, why, n_why) ||
      !take(library, "ncclGroupStart", &n.begin, why, n_why) ||
      !take(library, "ncclGroupEnd", &n.end, why, n_why) ||
      !take(library, "ncclGetErrorString", &n.text, why, n_why))
    return 0;
  if (n.version(&version) != CU_NCCL_OK) version = 0;
  const int major = version < 10000 ? version / 1000 : version / 10000; /* 2.8: 2800, from 2.9 on: 20900 */
  const int minor = version < 10000 ? version % 1000 / 100 : version % 10000 / 100;
  snprintf(why, n_why, "NCCL %d.%d.%d", major, minor, version % 100);
  *out = n;
  return 1;
}

#endif
