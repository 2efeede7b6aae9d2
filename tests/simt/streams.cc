/* Streams, events, graphs.
 *
 * Work is a closure. Usually it is run as it comes. With SIMT_ASYNC a stream is a queue, and its work is run when
 * a thread waits for it, which is as late as it could be on a device; where several streams have work, a random one
 * goes on. The default stream waits for the others and they for it, but for those made as non-blocking. */
#include "internal.h"

#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <thread>
#include <vector>

struct CUgraph_st {
  std::vector<std::function<void()>> work;
  bool broken;
  std::thread::id thread; /* whose capture it is */
  cudaStreamCaptureMode mode;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<std::function<void()>>> work;
};
struct CUevent_st {
  uint64_t recorded, done; /* counted; done < recorded: pending */
  cudaStream_t stream;
  double seconds;
  bool timed;
  int device;
};

namespace simt {
/* An event with its count: the queue waits for it. Else work. */
struct Work {
  std::function<void()> run;
  cudaEvent_t event;
  uint64_t count;
};
} // namespace simt

struct CUstream_st {
  std::deque<simt::Work> queue;
  CUgraph_st *capture;
  bool blocking;
  int device; /* -1: the default stream, which every device has */
};

namespace simt {

static CUstream_st usual = {{}, nullptr, true, -1};
static std::set<cudaStream_t> streams;
static int64_t n_events, n_graphs;

static cudaStream_t stream_of(cudaStream_t stream) { return stream ? stream : &usual; }

bool exists(cudaStream_t stream) { return !stream || streams.count(stream) > 0; }
int device_of(cudaStream_t stream) { return stream ? stream->device : current_device(); }
bool captures(cudaStream_t stream) { return stream_of(stream)->capture != nullptr; }
/* Whether the calling thread may not do what a capture forbids: it captures, or another does in the mode for all. */
static bool forbids(cudaStream_t s) {
  return s->capture && s->capture->mode != cudaStreamCaptureModeRelaxed &&
         (s->capture->mode == cudaStreamCaptureModeGlobal || s->capture->thread == std::this_thread::get_id());
}
bool capturing() {
  for (cudaStream_t s : streams)
    if (forbids(s)) return true;
  return false;
}
void break_captures() {
  for (cudaStream_t s : streams)
    if (forbids(s)) s->capture->broken = true;
}
bool disturbs_capture(cudaStream_t stream) {
  bool broken = false;
  for (cudaStream_t s : streams) {
    if (stream_of(stream) != &usual || !s->blocking || !s->capture) continue;
    s->capture->broken = broken = true;
  }
  return broken;
}
int64_t live_streams() { return (int64_t)streams.size() + n_events + n_graphs; }

/* The first work of a queue that is not empty, or, if it waits for an event, work that the event waits for. */
static void step(cudaStream_t stream) {
  Work &first = stream->queue.front();
  if (first.event && first.event->done < first.count) {
    step(stream_of(first.event->stream));
    return;
  }
  std::function<void()> run = std::move(first.run);
  stream->queue.pop_front();
  if (run) run();
}

static void drain(cudaStream_t stream) {
  while (!stream->queue.empty()) step(stream);
}

void finish_all() {
  std::vector<cudaStream_t> busy;
  for (;;) {
    busy.clear();
    if (!usual.queue.empty()) busy.push_back(&usual);
    for (cudaStream_t s : streams)
      if (!s->queue.empty()) busy.push_back(s);
    if (busy.empty()) return;
    step(busy[random64() % busy.size()]);
  }
}

static void drain_blocking() {
  for (cudaStream_t s : streams)
    if (s->blocking) drain(s);
}

void finish(cudaStream_t stream) {
  if (!stream) drain_blocking();
  drain(stream_of(stream));
}

void forget_work() {
  usual.queue.clear();
  for (cudaStream_t s : streams) s->queue.clear();
}

static void submit_work(cudaStream_t stream, Work work) {
  cudaStream_t s = stream_of(stream);
  if (s == &usual)
    drain_blocking();
  else if (s->blocking)
    drain(&usual);
  s->queue.push_back(std::move(work));
  if (!settings.async) drain(s);
}

void submit_late(std::function<void()> work) { usual.queue.push_back({std::move(work), nullptr, 0}); }

void submit(cudaStream_t stream, std::function<void()> work) {
  cudaStream_t s = stream_of(stream);
  if (s->capture)
    s->capture->work.push_back(std::move(work));
  else
    submit_work(stream, {std::move(work), nullptr, 0});
}

/* What the device would refuse at once; with the code that an H100 gave for no blocks and for too many threads, where
 * CUDA's headers have cudaErrorInvalidConfiguration. */
static cudaError_t refused(const Launch &l) {
  uint64_t threads = (uint64_t)l.threads.x * l.threads.y * l.threads.z;
  if (threads < 1 || threads > MOST_THREADS || l.threads.z > 64) return cudaErrorInvalidValue;
  if (l.grid.x < 1 || l.grid.y < 1 || l.grid.z < 1) return cudaErrorInvalidValue;
  if (l.grid.x > 0x7fffffffu || l.grid.y > 65535u || l.grid.z > 65535u) return cudaErrorInvalidValue;
  if (l.shared > dynamic_limit_of(l.kernel)) return cudaErrorInvalidValue;
  if (l.cooperative && (uint64_t)l.grid.x * l.grid.y * l.grid.z > most_resident(l))
    return cudaErrorCooperativeLaunchTooLarge;
  return cudaSuccess;
}

void submit_launch(const Launch &launch, cudaStream_t stream, std::initializer_list<Argument> args,
                   std::function<void(const Launch &)> run) {
  Call call(LAUNCH);
  cudaError_t code = call.code;
  const bool here = exists(stream) && device_of(stream) == current_device();
  if (code == cudaSuccess) code = here ? refused(launch) : cudaErrorInvalidResourceHandle;
  if (code == cudaSuccess)
    for (const Argument &each : args) check_argument(launch.place, each);
  if (code == cudaSuccess && disturbs_capture(stream)) code = cudaErrorStreamCaptureImplicit;
  if (failed(code) != cudaSuccess) return;
  counts.launches++;
  submit(stream, [launch, run] { run(launch); });
}

} // namespace simt

using namespace simt;

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
  SIMT_ENTER(ALLOC);
  *out = new CUstream_st{{}, nullptr, (flags & cudaStreamNonBlocking) == 0, current_device()};
  streams.insert(*out);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *out) { return cudaStreamCreateWithFlags(out, cudaStreamDefault); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  Call call(LOOK);
  if (!stream || !exists(stream)) return failed(cudaErrorInvalidResourceHandle);
  drain(stream);
  if (stream->capture) {
    delete stream->capture;
    n_graphs--;
  }
  streams.erase(stream);
  delete stream;
  return failed(call.code);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  SIMT_ENTER(WAIT);
  if (!exists(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (disturbs_capture(stream)) return failed(cudaErrorStreamCaptureImplicit);
  finish(stream);
  return cudaSuccess;
}

/* Asking goes on with the work, so that who asks again and again comes to an end. */
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  SIMT_ENTER(WORK);
  if (!exists(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (stream_of(stream)->queue.empty()) return cudaSuccess;
  step(stream_of(stream));
  return cudaErrorNotReady;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*fn)(void *), void *arg) {
  SIMT_ENTER(WORK);
  if (!exists(stream)) return failed(cudaErrorInvalidResourceHandle);
  submit(stream, [=] { fn(arg); });
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  SIMT_ENTER(WORK);
  if (!exists(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (captures(stream) || captures(event->stream)) {
    if (stream_of(stream) != stream_of(event->stream)) die("a capture of several streams", __FILE__, __LINE__);
    return cudaSuccess;
  }
  submit_work(stream, {nullptr, event, event->recorded});
  return cudaSuccess;
}

/* ---- events ---- */

static double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
  SIMT_ENTER(ALLOC);
  *out = new CUevent_st{0, 0, nullptr, 0.0, (flags & cudaEventDisableTiming) == 0, current_device()};
  n_events++;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *out) { return cudaEventCreateWithFlags(out, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  Call call(LOOK);
  if (!event) return failed(cudaErrorInvalidResourceHandle);
  finish_all();
  delete event;
  n_events--;
  return failed(call.code);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  SIMT_ENTER(WORK);
  if (!exists(stream) || device_of(stream) != event->device) return failed(cudaErrorInvalidResourceHandle);
  uint64_t count = captures(stream) ? event->recorded : ++event->recorded;
  event->stream = stream;
  submit(stream, [=] {
    event->seconds = seconds_now();
    event->done = count;
  });
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  SIMT_ENTER(WAIT);
  while (event->done < event->recorded && !stream_of(event->stream)->queue.empty()) step(stream_of(event->stream));
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  SIMT_ENTER(WORK);
  if (event->done >= event->recorded) return cudaSuccess;
  if (!stream_of(event->stream)->queue.empty()) step(stream_of(event->stream));
  return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  SIMT_ENTER(WORK);
  if (!from->timed || !to->timed || from->recorded == 0 || to->recorded == 0)
    return failed(cudaErrorInvalidResourceHandle);
  if (from->done < from->recorded || to->done < to->recorded) return failed(cudaErrorNotReady);
  *milliseconds = (float)(1e3 * (to->seconds - from->seconds));
  return cudaSuccess;
}

/* ---- graphs ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  SIMT_ENTER(WORK);
  if (!exists(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (!stream) return failed(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return failed(cudaErrorIllegalState);
  stream->capture = new CUgraph_st{{}, false, std::this_thread::get_id(), mode};
  n_graphs++;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out) {
  Call call(WORK);
  *out = nullptr;
  if (!stream || !exists(stream) || !stream->capture)
    return failed(call.code != cudaSuccess ? call.code : cudaErrorIllegalState);
  cudaGraph_t graph = stream->capture;
  stream->capture = nullptr;
  if (call.code == cudaSuccess && !graph->broken) {
    *out = graph;
    return cudaSuccess;
  }
  delete graph;
  n_graphs--;
  return failed(call.code != cudaSuccess ? call.code : cudaErrorStreamCaptureInvalidated);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *out) {
  SIMT_ENTER(WORK);
  if (!exists(stream)) return failed(cudaErrorInvalidResourceHandle);
  CUgraph_st *graph = stream_of(stream)->capture;
  *out = !graph          ? cudaStreamCaptureStatusNone
         : graph->broken ? cudaStreamCaptureStatusInvalidated
                         : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long) {
  *out = nullptr;
  SIMT_ENTER(WORK);
  if (!graph) return failed(cudaErrorInvalidValue);
  *out = new CUgraphExec_st{std::make_shared<const std::vector<std::function<void()>>>(graph->work)};
  n_graphs++;
  return cudaSuccess;
}

/* The number alone: nodes are never handed out. */
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) {
  SIMT_ENTER(WORK);
  if (!graph || nodes) return failed(cudaErrorInvalidValue);
  *n = graph->work.size();
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  SIMT_ENTER(WORK);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  SIMT_ENTER(LAUNCH);
  if (!exec || !exists(stream)) return failed(cudaErrorInvalidResourceHandle);
  counts.graph_launches++;
  auto work = exec->work;
  submit(stream, [work] {
    for (const auto &each : *work) each();
  });
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  Call call(LOOK);
  if (!exec) return failed(cudaErrorInvalidValue);
  delete exec;
  n_graphs--;
  return failed(call.code);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  Call call(LOOK);
  if (!graph) return failed(cudaErrorInvalidValue);
  delete graph;
  n_graphs--;
  return failed(call.code);
}
