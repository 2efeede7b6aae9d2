/* Passes over the pages of any store, and what is known of them without one. */
#include "page_store_impl.h"

#include "../base/parallel.h"

gbt_page_store *gbt_page_store_ref(gbt_page_store *store) {
  store->refs++;
  return store;
}

void gbt_page_store_unref(gbt_page_store *store) {
  if (store == NULL || --store->refs > 0) return;
  store->ops->destroy(store);
}

const gbt_layout *gbt_pages_layout(const gbt_page_store *store) { return &store->info.layout; }
int64_t gbt_pages_n_rows(const gbt_page_store *store) { return store->info.n_rows; }
int32_t gbt_pages_n_pages(const gbt_page_store *store) { return store->info.n_pages; }
int32_t gbt_pages_page_rows(const gbt_page_store *store) { return store->info.page_rows; }
int gbt_pages_is_sparse(const gbt_page_store *store, int32_t feat) {
  return store->info.layout.place[feat].group < 0 && gbt_layout_uses(&store->info.layout, feat);
}
int64_t gbt_pages_n_entries(const gbt_page_store *store) { return store->info.n_entries; }
size_t gbt_pages_bytes(const gbt_page_store *store) { return store->info.bytes; }
uint64_t gbt_pages_memory(const gbt_page_store *store) {
  return store->ops->runs_read != NULL ? store->memory : UINT64_MAX;
}
int gbt_pages_stay(const gbt_page_store *store) { return store->most_pinned >= store->info.n_pages; }

const size_t *gbt_pages_unseen(const gbt_page_store *store, const uint32_t **rows) {
  *rows = store->info.unseen_row;
  return store->info.unseen_beg;
}

int gbt_page_unseen(const gbt_page_store *store, int32_t feat, int64_t row) {
  const gbti_page_info *info = &store->info;
  if (info->unseen_beg == NULL) return 0;
  size_t low = info->unseen_beg[feat], end = info->unseen_beg[feat + 1], high = end;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (info->unseen_row[mid] < row)
      low = mid + 1;
    else
      high = mid;
  }
  return low < end && info->unseen_row[low] == row;
}

int64_t gbt_pages_n_unseen(const gbt_page_store *store, int32_t col) { return store->info.n_unseen[col]; }

const uint32_t *gbt_pages_level_ids(const gbt_page_store *store, int32_t feat) {
  return store->info.level_id != NULL ? store->info.level_id[feat] : NULL;
}

/* end: of the pass. */
static gbt_status run_span(gbt_ctx *ctx, gbt_page_store *store, int32_t first, int32_t n, int32_t end, gbt_pages_fn fn,
                           void *arg, gbt_error *err) {
  const gbti_store_ops *ops = store->ops;
  const gbt_page *page;
  GBT_TRY(ops->pin(store, ctx, first, n, &page, err));
  if (ops->read_ahead != NULL && first + n < end) ops->read_ahead(store, first + n, n);
  const gbt_page *last = &page[n - 1];
  gbt_page_span span = {page, n, store->info.page_rows, page->row_beg, last->row_beg + last->n_rows};
  gbt_status status = fn(arg, ctx, &span, err);
  ops->release(store, page, n);
  return status;
}

gbt_status gbt_pages_pass(gbt_ctx *ctx, gbt_page_store *store, gbt_pages_fn fn, void *arg, gbt_error *err) {
  return gbt_pages_pass_part(ctx, store, 0, store->info.n_pages, fn, arg, err);
}

gbt_status gbt_pages_pass_part(gbt_ctx *ctx, gbt_page_store *store, int32_t first, int32_t end, gbt_pages_fn fn,
                               void *arg, gbt_error *err) {
  const int32_t most = store->most_pinned;
  GBT_ASSERT(most > 0 && first >= 0 && end <= store->info.n_pages);
  for (int32_t at = first, n; at < end; at += n) {
    n = end - at < most ? end - at : most;
    if (at > first) GBT_TRY(gbt_ctx_poll(ctx, err));
    GBT_TRY(run_span(ctx, store, at, n, end, fn, arg, err));
  }
  return GBT_OK;
}

/* ---- runs ---- */

typedef struct run_job {
  gbt_page_store *store;
  void *runs;              /* of the store; NULL: `span` is pinned */
  const gbt_page_span *span;
  int32_t n_pages, run;    /* pages of the pass, or of the span */
  int32_t ahead;           /* the pass announces a page to the store so many pages before it is read */
  int64_t first_task;
  gbt_pages_task fn;
  void *arg;
  gbt_status *status; /* by thread: of its first failure */
  gbt_error *error;
} run_job;

int32_t gbt_pages_most_run(const gbt_page_store *store, int n_threads) {
  const int32_t most = store->ops->runs_read != NULL ? store->most_read / n_threads : store->most_pinned;
  return most > 1 ? most : 1;
}

static int64_t runs_of(int32_t n_pages, int32_t run) { return ((int64_t)n_pages + run - 1) / run; }

int64_t gbt_pages_n_runs(const gbt_page_store *store, int32_t run) {
  const int32_t n_pages = store->info.n_pages, most = store->most_pinned;
  if (store->ops->runs_read != NULL) return runs_of(n_pages, run);
  return n_pages / most * runs_of(most, run) + runs_of(n_pages % most, run); /* runs end where spans do */
}

static void run_task(void *arg, int64_t task, int thread) {
  const run_job *job = arg;
  gbt_page_store *store = job->store;
  const int32_t first = (int32_t)task * job->run, n = job->n_pages - first < job->run ? job->n_pages - first : job->run;
  const gbt_page *page = job->runs == NULL ? job->span->page + first : NULL;
  if (job->runs != NULL) {
    if (job->status[thread] != GBT_OK) return;
    if (store->ops->read_ahead != NULL && first < job->n_pages - job->ahead)
      store->ops->read_ahead(store, first + job->ahead, job->run);
    job->status[thread] = store->ops->runs_read(store, job->runs, thread, first, n, &page, &job->error[thread]);
    if (job->status[thread] != GBT_OK) return;
  }
  const gbt_page *last = &page[n - 1];
  const gbt_page_span span = {page, n, store->info.page_rows, page->row_beg, last->row_beg + last->n_rows};
  job->fn(job->arg, &span, job->first_task + task, thread);
}

/* Pages that the entering thread has pinned, in runs. */
static gbt_status run_pinned(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  run_job *job = arg;
  job->span = span;
  job->n_pages = span->n_pages;
  GBT_TRY(gbt_parallel(ctx, runs_of(job->n_pages, job->run), run_task, job, err));
  job->first_task += runs_of(job->n_pages, job->run);
  return GBT_OK;
}

/* Runs that the threads are at, and as much as the disk has to bring in the time that they take. */
static int32_t pages_ahead(const gbt_ctx *ctx, const run_job *job) {
  enum { AHEAD_BYTES = 32 << 20 };
  const gbti_page_info *info = &job->store->info;
  const size_t page_bytes = info->bytes / (size_t)info->n_pages + 1;
  const int64_t n = (int64_t)job->run * ctx->n_threads + (int64_t)(AHEAD_BYTES / page_bytes) + 1;
  return n < info->n_pages ? (int32_t)n : info->n_pages;
}

static gbt_status run_read(gbt_ctx *ctx, run_job *job, gbt_error *err) {
  const gbt_mem *mem = &job->store->mem;
  const gbti_store_ops *ops = job->store->ops;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)ctx->n_threads, sizeof *job->status, &job->status, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)ctx->n_threads, sizeof *job->error, &job->error, err), done);
  GBT_TRY_GOTO(ops->runs_open(job->store, ctx, job->run, &job->runs, err), done);
  job->ahead = pages_ahead(ctx, job);
  if (ops->read_ahead != NULL) ops->read_ahead(job->store, 0, job->ahead);
  GBT_TRY_GOTO(gbt_parallel(ctx, runs_of(job->n_pages, job->run), run_task, job, err), done);
  for (int t = 0; t < ctx->n_threads && status == GBT_OK; t++) {
    status = job->status[t];
    if (status != GBT_OK && err != NULL) *err = job->error[t];
  }
done:
  if (job->runs != NULL) ops->runs_close(job->store, job->runs);
  gbt_mem_free(mem, job->error);
  gbt_mem_free(mem, job->status);
  return status;
}

gbt_status gbt_pages_each(gbt_ctx *ctx, gbt_page_store *store, int32_t run, gbt_pages_task fn, void *arg,
                          gbt_error *err) {
  run_job job = {.store = store, .n_pages = store->info.n_pages, .run = run, .fn = fn, .arg = arg};
  GBT_ASSERT(run >= 1 && run <= gbt_pages_most_run(store, ctx->n_threads));
  if (job.n_pages == 0) return GBT_OK;
  return store->ops->runs_read != NULL ? run_read(ctx, &job, err) : gbt_pages_pass(ctx, store, run_pinned, &job, err);
}
