/* NCCL, which moves data between GPUs: opened by name when several devices train together, so that neither building nor
 * running gbt needs it. The functions and numbers here are those of its ABI since version 2.0 (nccl.h). */
#pragma once

#include "device.cuh"

typedef struct ncclComm *cu_nccl_comm;
struct cu_nccl_id {
  char bytes[128];
};

enum { CU_NCCL_OK = 0, CU_NCCL_IN_PROGRESS = 7 };                        /* ncclResult_t */
enum cu_nccl_type { CU_NCCL_UINT32 = 3, CU_NCCL_INT64 = 4 };             /* ncclDataType_t */
enum cu_nccl_op { CU_NCCL_SUM = 0, CU_NCCL_MAX = 2, CU_NCCL_MIN = 3 }; /* ncclRedOp_t */

struct cu_nccl {
  int (*version)(int *out);
  int (*make_id)(cu_nccl_id *out);
  int (*open)(cu_nccl_comm *out, int size, cu_nccl_id id, int rank);
  int (*abort)(cu_nccl_comm comm);
  int (*error)(cu_nccl_comm comm, int *out); /* of work that is under way */
  int (*all_reduce)(const void *send, void *receive, size_t n, int type, int op, cu_nccl_comm comm,
                    cudaStream_t stream);
  int (*reduce)(const void *send, void *receive, size_t n, int type, int op, int root, cu_nccl_comm comm,
                cudaStream_t stream);
  int (*all_gather)(const void *send, void *receive, size_t n, int type, cu_nccl_comm comm, cudaStream_t stream);
  int (*begin)(void); /* of a group of operations, which run together */
  int (*end)(void);
  const char *(*text)(int result);
};

/* The library: the one that the environment variable GBT_NCCL names ("none": none), else libnccl.so.2 as the system
 * finds it. It stays open. *out is all NULL, and `why` says so in words, where there is none or it lacks a function;
 * else `why` is its version. */
int cu_nccl_find(cu_nccl *out, char *why, size_t n_why);
