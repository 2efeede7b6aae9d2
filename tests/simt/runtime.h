/* The functions of the CUDA runtime that are played. They behave as CUDA's do, with more checks: copies must fit the
 * direction and the allocations, a capture refuses what CUDA refuses. See control.h for making them fail.
 *
 * Not there: textures, managed and mapped memory, memory pools, device symbols. */
#pragma once

/* ---- errors ---- */

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorString(cudaError_t code);
const char *cudaGetErrorName(cudaError_t code);

/* ---- devices ---- */

cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int device);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);

/* ---- kernels ---- */

namespace simt {
cudaError_t set_attribute(const void *kernel, cudaFuncAttribute which, int value);
cudaError_t get_attributes(cudaFuncAttributes *out, const void *kernel);
cudaError_t occupancy(int *blocks, const void *kernel, int threads, size_t shared);
} // namespace simt
template <class K> static inline cudaError_t cudaFuncSetAttribute(K *kernel, cudaFuncAttribute which, int value) {
  return simt::set_attribute(reinterpret_cast<const void *>(kernel), which, value);
}
template <class K> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, K *kernel) {
  return simt::get_attributes(out, reinterpret_cast<const void *>(kernel));
}
template <class K> static inline cudaError_t cudaFuncSetCacheConfig(K *, cudaFuncCache) { return cudaSuccess; }
template <class K>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, K *kernel, int threads,
                                                                        size_t shared) {
  return simt::occupancy(blocks, reinterpret_cast<const void *>(kernel), threads, shared);
}

/* ---- memory ---- */

namespace simt {
cudaError_t device_alloc(void **out, size_t bytes, const char *file, int line);
cudaError_t host_alloc(void **out, size_t bytes, const char *file, int line);
} // namespace simt
template <class T> static inline cudaError_t cudaMalloc(T **out, size_t bytes, SIMT_AT) {
  return simt::device_alloc(reinterpret_cast<void **>(out), bytes, at_file, at_line);
}
template <class T> static inline cudaError_t cudaMallocHost(T **out, size_t bytes, unsigned = 0, SIMT_AT) {
  return simt::host_alloc(reinterpret_cast<void **>(out), bytes, at_file, at_line);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **out, size_t bytes, unsigned, SIMT_AT) {
  return simt::host_alloc(reinterpret_cast<void **>(out), bytes, at_file, at_line);
}
cudaError_t cudaFree(void *at, SIMT_AT);
cudaError_t cudaFreeHost(void *at, SIMT_AT);
cudaError_t cudaHostRegister(void *at, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *at);

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, SIMT_AT);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr, SIMT_AT);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind, SIMT_AT);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr, SIMT_AT);
cudaError_t cudaMemset(void *to, int byte, size_t bytes, SIMT_AT);
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream = nullptr, SIMT_AT);

/* ---- streams and events ---- */

cudaError_t cudaStreamCreate(cudaStream_t *out);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*fn)(void *), void *arg);

cudaError_t cudaEventCreate(cudaEvent_t *out);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);

/* ---- graphs: what a stream was given while it was captured, to be run as one ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *out);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
