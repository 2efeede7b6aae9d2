/* Pages in files. Passes go through all pages in order, again and again, so the first pages that the memory has room
 * for stay there for good once they have been read, and the rest come by in turn: a list of the pages used last would
 * be useless, as a page would always be gone when the next pass comes to it.
 *
 *   pages    0 1 2 3 4 | 5 6 7 8 9 10 ...      kept | read for every pass
 *
 *   spans    most_pinned pages at a time are read, checked and unpacked on all threads, then all threads work on them
 *   runs     each thread reads a few pages and works on them itself: they are in its cache, no thread waits
 *
 * gbt has no threads that read ahead: it tells the operating system what will be read next, which then reads ahead. So
 * no thread runs between two calls.
 *
 * A page is checked when it is read first, and again only when its file was changed since: its checksum, and that its
 * codes and lists are those that its layout has (data/check.h), as a file may come from anyone. Damage to the disk
 * after that, without a write to the file, is found only when the store is opened again.
 *
 * The lock guards `kept`, `known`, `free` and `spans`: while the helpers of one pass read runs, the entering thread may
 * poll, and the host may begin another pass; and several devices make passes of their own at the same time. */
#include "page_files.h"

#include <stdio.h>
#include <string.h>

#include "../base/checksum.h"
#include "../base/lock.h"
#include "../base/parallel.h"
#include "../data/check.h"
#include "../data/page_impl.h"
#include "page_bytes.h"

#define READ_BYTES ((uint64_t)128 << 20) /* of pages that come by in turn, at most, or a quarter of the memory */
#define SPAN_BYTES ((uint64_t)8 << 20)   /* of a span, about */
#define PIECE_BYTES ((size_t)256 << 10)  /* are read, then checked while they are in the second-level cache */

/* A page in memory. */
typedef struct frame {
  struct frame *next; /* of those that wait to be used again */
  uint8_t *bytes;
  gbt_page page;
  int32_t number;
  int kept; /* stays when it is released */
} frame;

/* The pages that a pass has pinned. */
typedef struct span {
  struct span *next;
  gbt_page *page;
  frame **frame;
  int32_t n;
} span;

typedef struct file_store {
  gbt_page_store base;
  gbti_page_files files;
  gbti_page_limits limits;
  int32_t n_kept;
  frame **kept; /* n_kept; NULL until they are read */
  gbt_file_stamp *known; /* n_pages: of its file, when the page was found good; not settled: it is to be checked */
  frame *free;
  span *spans;
  gbt_lock lock;
  uint64_t most_bytes; /* of a page */
  int any_packed;      /* some page has a codec */
} file_store;

static void frame_free(const gbt_mem *mem, frame *f) {
  if (f == NULL) return;
  gbt_mem_free(mem, f->bytes);
  gbt_mem_free(mem, f->page.strip);
  gbt_mem_free(mem, f->page.group);
  gbt_mem_free(mem, f);
}

/* A frame with room for any page; its page is none yet. */
static gbt_status frame_take(file_store *store, frame **out, gbt_error *err) {
  const gbt_mem *mem = &store->base.mem;
  const gbt_layout *layout = &store->base.info.layout;
  gbt_status status;
  gbt_lock_take(&store->lock);
  frame *f = store->free;
  if (f != NULL) store->free = f->next;
  gbt_lock_give(&store->lock);
  if (f != NULL) {
    f->number = -1;
    *out = f;
    return GBT_OK;
  }
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *f, &f, err));
  f->number = -1;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)store->most_bytes, 1, &f->bytes, err), failed);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)layout->n_strips, sizeof *f->page.strip, &f->page.strip, err), failed);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)layout->n_groups, sizeof *f->page.group, &f->page.group, err), failed);
  *out = f;
  return GBT_OK;
failed:
  frame_free(mem, f);
  return status;
}

static void frame_give(file_store *store, frame *f) {
  gbt_lock_take(&store->lock);
  f->next = store->free;
  store->free = f;
  gbt_lock_give(&store->lock);
}

/* ---- reading ---- */

static const gbt_file *file_of(const file_store *store, int32_t number) {
  return &store->files.file[number % store->files.n_files];
}

static gbt_status damaged(const file_store *store, int32_t number, const char *what, gbt_error *err) {
  const char *path = file_of(store, number)->path;
  return gbt_fail_on(err, GBT_E_FORMAT, path, "page %d in \"%s\" is damaged: %s; make the data set again",
                     (int)number + 1, path, what);
}

static gbt_file_stamp known_stamp(file_store *store, int32_t number) {
  gbt_lock_take(&store->lock);
  const gbt_file_stamp known = store->known[number];
  gbt_lock_give(&store->lock);
  return known;
}

static void know(file_store *store, int32_t number, gbt_file_stamp stamp) {
  gbt_lock_take(&store->lock);
  store->known[number] = stamp;
  gbt_lock_give(&store->lock);
}

/* The bytes of a page that was good before; *same: 0 when its file was changed since, and they may be anything. A write
 * changes the times before the bytes, so the times are read after the file. */
static gbt_status read_known(file_store *store, int32_t number, frame *f, int *same, gbt_error *err) {
  const gbt_file_stamp known = known_stamp(store, number);
  const gbt_file *file = file_of(store, number);
  const gbti_page_record *record = &store->files.record[number];
  *same = known.settled;
  if (!known.settled) return GBT_OK;
  GBT_TRY(gbt_file_read(file, record->beg, f->bytes, (size_t)gbti_record_room(record), err));
  const gbt_file_stamp now = gbt_file_stamp_of(file);
  *same = gbt_file_is_same(&known, &now);
  return GBT_OK;
}

/* *stamp: of the file before it is read, since a write that comes meanwhile makes it another one. */
static gbt_status read_checked(file_store *store, int32_t number, frame *f, gbt_file_stamp *stamp, gbt_error *err) {
  const gbti_page_record *record = &store->files.record[number];
  const gbt_file *file = file_of(store, number);
  const uint64_t room = gbti_record_room(record);
  *stamp = gbt_file_stamp_of(file);
  gbt_checksum_lanes sum = gbt_checksum_begin();
  for (uint64_t at = 0, n; at < room; at += n) {
    n = room - at < PIECE_BYTES ? room - at : PIECE_BYTES;
    GBT_TRY(gbt_file_read(file, record->beg + at, f->bytes + at, (size_t)n, err));
    gbt_checksum_add(&sum, f->bytes + at, n);
  }
  if (gbt_checksum_end(&sum, room) != record->checksum)
    return damaged(store, number, "its checksum does not match", err);
  return GBT_OK;
}

/* Adds the number of the page that could not be read. */
static gbt_status name_page(gbt_status status, int32_t number, gbt_error *err) {
  const size_t n = err != NULL ? strlen(err->msg) : 0;
  if (status == GBT_E_IO && err != NULL) snprintf(err->msg + n, sizeof err->msg - n, " (page %d)", (int)number + 1);
  return status;
}

/* scratch: room for a page; used for one that is packed. */
static gbt_status read_page(file_store *store, int32_t number, frame *f, uint8_t *scratch, gbt_error *err) {
  const gbti_page_info *info = &store->base.info;
  const gbti_page_record *record = &store->files.record[number];
  const int64_t left = info->n_rows - (int64_t)number * info->page_rows;
  gbt_file_stamp stamp = {.settled = 0};
  int same;
  gbt_status status = read_known(store, number, f, &same, err);
  if (status == GBT_OK && !same) status = read_checked(store, number, f, &stamp, err);
  if (status != GBT_OK) return name_page(status, number, err);
  f->page.row_beg = (int64_t)number * info->page_rows;
  f->page.n_rows = left < info->page_rows ? (int32_t)left : info->page_rows;
  if (record->codec != GBT_CODEC_NONE) {
    if (!gbti_codec_unpack((gbt_codec)record->codec, f->bytes, (size_t)record->stored, scratch, (size_t)record->bytes))
      return damaged(store, number, "it cannot be unpacked", err);
    gbti_page_by_rows(&info->layout, f->page.n_rows, record->bytes, scratch, f->bytes);
  }
  if (!gbti_page_take(&info->layout, record->n_entries, f->bytes, &f->page))
    return damaged(store, number, "its lists are invalid", err);
  if (!same) {
    const char *fault = gbti_page_fault(&info->layout, &store->limits, &f->page);
    if (fault != NULL) return damaged(store, number, fault, err);
    know(store, number, stamp);
  }
  f->number = number;
  return GBT_OK;
}

typedef struct read_job {
  file_store *store;
  frame *const *frame;
  int32_t first;
  uint8_t *scratch;   /* n_scratch pages; NULL: none is packed */
  int by_thread;      /* a thread has one of them, or else a task */
  gbt_status *status; /* by page of the span */
  gbt_error *error;
} read_job;

static void read_task(void *arg, int64_t task, int thread) {
  const read_job *job = arg;
  uint8_t *scratch =
      job->scratch == NULL ? NULL : job->scratch + (size_t)(job->by_thread ? thread : task) * job->store->most_bytes;
  job->status[task] = GBT_OK;
  if (job->frame[task]->number < 0)
    job->status[task] = read_page(job->store, job->first + (int32_t)task, job->frame[task], scratch, &job->error[task]);
}

/* Reads the frames that have no page yet. */
static gbt_status read_span(file_store *store, gbt_ctx *ctx, const span *s, int32_t first, gbt_error *err) {
  const gbt_mem *mem = &store->base.mem;
  read_job job = {.store = store, .frame = s->frame, .first = first, .by_thread = ctx->n_threads < s->n};
  gbt_status status;
  int any = 0;
  for (int32_t k = 0; k < s->n; k++) any |= s->frame[k]->number < 0;
  if (!any) return GBT_OK;
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)s->n, sizeof *job.status, &job.status, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)s->n, sizeof *job.error, &job.error, err), done);
  const size_t n_scratch = job.by_thread ? (size_t)ctx->n_threads : (size_t)s->n;
  if (store->any_packed)
    GBT_TRY_GOTO(gbt_mem_array(mem, n_scratch, (size_t)store->most_bytes, &job.scratch, err), done);
  GBT_TRY_GOTO(gbt_parallel(ctx, s->n, read_task, &job, err), done);
  for (int32_t k = 0; k < s->n && status == GBT_OK; k++) {
    status = job.status[k];
    if (status != GBT_OK && err != NULL) *err = job.error[k];
  }
done:
  gbt_mem_free(mem, job.scratch);
  gbt_mem_free(mem, job.error);
  gbt_mem_free(mem, job.status);
  return status;
}

/* ---- operations ---- */

/* Frames that the store does not keep may be used again; those that were not read have no page. */
static void span_free(file_store *store, span *s) {
  for (int32_t k = 0; s->frame != NULL && k < s->n; k++)
    if (s->frame[k] != NULL && !s->frame[k]->kept) frame_give(store, s->frame[k]);
  gbt_mem_free(&store->base.mem, s->page);
  gbt_mem_free(&store->base.mem, s->frame);
  gbt_mem_free(&store->base.mem, s);
}

static frame *kept_page(file_store *store, int32_t p) {
  if (p >= store->n_kept) return NULL;
  gbt_lock_take(&store->lock);
  frame *f = store->kept[p];
  gbt_lock_give(&store->lock);
  return f;
}

/* Keeps the frame, which has been read, in memory from now on, if its page is among those to keep and no other frame
 * has it. */
static void keep(file_store *store, frame *f) {
  if (f->kept || f->number >= store->n_kept) return;
  gbt_lock_take(&store->lock);
  f->kept = store->kept[f->number] == NULL;
  if (f->kept) store->kept[f->number] = f;
  gbt_lock_give(&store->lock);
}

static gbt_status fill_span(file_store *store, gbt_ctx *ctx, int32_t first, span *s, gbt_error *err) {
  const gbt_mem *mem = &store->base.mem;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)s->n, sizeof *s->page, &s->page, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)s->n, sizeof *s->frame, &s->frame, err));
  for (int32_t k = 0; k < s->n; k++) {
    s->frame[k] = kept_page(store, first + k);
    if (s->frame[k] == NULL) GBT_TRY(frame_take(store, &s->frame[k], err));
  }
  GBT_TRY(read_span(store, ctx, s, first, err));
  for (int32_t k = 0; k < s->n; k++) {
    keep(store, s->frame[k]);
    s->page[k] = s->frame[k]->page;
  }
  return GBT_OK;
}

static gbt_status pin(gbt_page_store *base, gbt_ctx *ctx, int32_t first, int32_t n, const gbt_page **pages,
                      gbt_error *err) {
  file_store *store = (file_store *)base;
  span *s;
  GBT_ASSERT(n >= 1 && n <= base->most_pinned && first >= 0 && first + n <= base->info.n_pages);
  GBT_TRY(gbt_mem_zeros(&base->mem, 1, sizeof *s, &s, err));
  s->n = n;
  const gbt_status status = fill_span(store, ctx, first, s, err);
  if (status != GBT_OK) {
    span_free(store, s);
    return status;
  }
  gbt_lock_take(&store->lock);
  s->next = store->spans;
  store->spans = s;
  gbt_lock_give(&store->lock);
  *pages = s->page;
  return GBT_OK;
}

static void release(gbt_page_store *base, const gbt_page *pages, int32_t n) {
  file_store *store = (file_store *)base;
  gbt_lock_take(&store->lock);
  span **at = &store->spans;
  while (*at != NULL && (*at)->page != pages) at = &(*at)->next;
  span *s = *at;
  if (s != NULL) *at = s->next;
  gbt_lock_give(&store->lock);
  GBT_ASSERT(s != NULL && s->n == n);
  (void)n;
  if (s != NULL) span_free(store, s);
}

static void read_ahead(gbt_page_store *base, int32_t first, int32_t n) {
  file_store *store = (file_store *)base;
  const int32_t end = n < base->info.n_pages - first ? first + n : base->info.n_pages;
  while (first < end && kept_page(store, first) != NULL) first++;
  if (first >= end) return;
  for (int32_t k = 0; k < store->files.n_files && first + k < end; k++) { /* each file has a run of them */
    const int32_t a = first + k, last = a + (end - 1 - a) / store->files.n_files * store->files.n_files;
    const gbti_page_record *from = &store->files.record[a], *to = &store->files.record[last];
    gbt_file_read_ahead(file_of(store, a), from->beg, to->beg + gbti_record_room(to) - from->beg);
  }
}

/* ---- runs ---- */

/* One thread's. */
typedef struct own_frames {
  frame **frame;   /* n: pages that come by */
  gbt_page *page;  /* n */
  uint8_t *scratch; /* a page; NULL: none is packed */
} own_frames;

typedef struct file_runs {
  int n_threads;
  int32_t n;
  own_frames *own; /* by thread */
  frame **coming;  /* n_kept: frames of pages that will stay, NULL for those that are there */
} file_runs;

static void give_all(file_store *store, frame **frames, int32_t n) {
  for (int32_t k = 0; frames != NULL && k < n; k++)
    if (frames[k] != NULL && !frames[k]->kept) frame_give(store, frames[k]);
  gbt_mem_free(&store->base.mem, frames);
}

static void runs_close(gbt_page_store *base, void *runs) {
  file_store *store = (file_store *)base;
  const gbt_mem *mem = &base->mem;
  file_runs *r = runs;
  if (r == NULL) return;
  for (int t = 0; r->own != NULL && t < r->n_threads; t++) {
    give_all(store, r->own[t].frame, r->n);
    gbt_mem_free(mem, r->own[t].page);
    gbt_mem_free(mem, r->own[t].scratch);
  }
  give_all(store, r->coming, store->n_kept);
  gbt_mem_free(mem, r->own);
  gbt_mem_free(mem, r);
}

static gbt_status fill_runs(file_store *store, file_runs *r, gbt_error *err) {
  const gbt_mem *mem = &store->base.mem;
  const size_t n = (size_t)r->n;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)r->n_threads, sizeof *r->own, &r->own, err));
  for (int t = 0; t < r->n_threads; t++) {
    own_frames *own = &r->own[t];
    GBT_TRY(gbt_mem_zeros(mem, n, sizeof *own->frame, &own->frame, err));
    GBT_TRY(gbt_mem_zeros(mem, n, sizeof *own->page, &own->page, err));
    if (store->any_packed) GBT_TRY(gbt_mem_array(mem, (size_t)store->most_bytes, 1, &own->scratch, err));
    for (int32_t k = 0; k < r->n && store->n_kept < store->base.info.n_pages; k++)
      GBT_TRY(frame_take(store, &own->frame[k], err));
  }
  GBT_TRY(gbt_mem_zeros(mem, (size_t)store->n_kept, sizeof *r->coming, &r->coming, err));
  for (int32_t p = 0; p < store->n_kept; p++)
    if (kept_page(store, p) == NULL) GBT_TRY(frame_take(store, &r->coming[p], err));
  return GBT_OK;
}

static gbt_status runs_open(gbt_page_store *base, gbt_ctx *ctx, int32_t n, void **runs, gbt_error *err) {
  file_store *store = (file_store *)base;
  file_runs *r;
  GBT_TRY(gbt_mem_zeros(&base->mem, 1, sizeof *r, &r, err));
  r->n_threads = ctx->n_threads;
  r->n = n;
  *runs = r;
  return fill_runs(store, r, err);
}

static gbt_status runs_read(gbt_page_store *base, void *runs, int thread, int32_t first, int32_t n,
                            const gbt_page **pages, gbt_error *err) {
  file_store *store = (file_store *)base;
  const file_runs *r = runs;
  const own_frames *own = &r->own[thread];
  GBT_ASSERT(n >= 1 && n <= r->n && thread < r->n_threads);
  for (int32_t k = 0; k < n; k++) {
    const int32_t p = first + k;
    frame *f = kept_page(store, p);
    if (f == NULL) {
      f = p < store->n_kept ? r->coming[p] : own->frame[k];
      GBT_TRY(read_page(store, p, f, own->scratch, err));
      keep(store, f);
    }
    own->page[k] = f->page;
  }
  *pages = own->page;
  return GBT_OK;
}

/* ---- life ---- */

static void destroy(gbt_page_store *base) {
  file_store *store = (file_store *)base;
  gbt_mem mem = base->mem;
  gbti_pages rest = {.mem = mem, .info = base->info, .resident = base->resident};
  GBT_ASSERT(store->spans == NULL);
  for (int32_t p = 0; store->kept != NULL && p < store->n_kept; p++) frame_free(&mem, store->kept[p]);
  while (store->free != NULL) {
    frame *next = store->free->next;
    frame_free(&mem, store->free);
    store->free = next;
  }
  gbt_mem_free(&mem, store->kept);
  gbt_mem_free(&mem, store->known);
  gbti_page_limits_free(&mem, &store->limits);
  gbti_page_files_free(&mem, &store->files);
  gbti_pages_free(&rest);
  gbt_lock_destroy(&store->lock);
  gbt_mem_free(&mem, store);
}

static const gbti_store_ops file_ops = {.name = "file",
                                        .pin = pin,
                                        .release = release,
                                        .read_ahead = read_ahead,
                                        .runs_open = runs_open,
                                        .runs_read = runs_read,
                                        .runs_close = runs_close,
                                        .destroy = destroy};

gbt_status gbti_page_files_new(const gbt_mem *mem, int32_t n_files, gbti_page_files *out, gbt_error *err) {
  *out = (gbti_page_files){.n_files = n_files};
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_files, sizeof *out->file, &out->file, err));
  for (int32_t k = 0; k < n_files; k++) out->file[k].os = GBT_OS_NONE;
  return GBT_OK;
}

void gbti_page_files_free(const gbt_mem *mem, gbti_page_files *files) {
  for (int32_t k = 0; files->file != NULL && k < files->n_files; k++) gbt_file_close(&files->file[k]);
  gbt_mem_free(mem, files->file);
  gbt_mem_free(mem, files->record);
  *files = (gbti_page_files){.n_files = 0};
}

/* All pages are kept where the memory has room for them, or as many as leave room for those that come by. */
static void divide_memory(file_store *store, uint64_t memory) {
  const uint64_t n_pages = (uint64_t)store->base.info.n_pages, most = store->most_bytes, room = memory / most;
  uint64_t come_by = (memory / 4 < READ_BYTES ? memory / 4 : READ_BYTES) / most, pinned = SPAN_BYTES / most;
  if (come_by < 2) come_by = 2;
  if (pinned > come_by / 2) pinned = come_by / 2;
  if (pinned < 1) pinned = 1;
  store->n_kept = (int32_t)(room >= n_pages ? n_pages : room > come_by ? room - come_by : 0);
  store->base.most_read = (int32_t)come_by;
  store->base.most_pinned = (int32_t)pinned;
  if (room >= n_pages && n_pages > 0) store->base.most_pinned = store->base.most_read = (int32_t)n_pages;
}

gbt_status gbti_file_store(const gbt_mem *mem, const gbti_page_files *files, const gbti_page_info *info,
                           uint64_t memory, gbt_page_store **out, gbt_error *err) {
  file_store *store;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *store, &store, err));
  store->base.ops = &file_ops;
  store->base.refs = 1;
  store->base.mem = *mem;
  store->base.info = *info;
  store->files = *files;
  store->most_bytes = 64;
  for (int32_t p = 0; p < info->n_pages; p++) {
    if (files->record[p].bytes > store->most_bytes) store->most_bytes = files->record[p].bytes;
    store->any_packed |= files->record[p].codec != GBT_CODEC_NONE;
  }
  store->base.memory = memory;
  divide_memory(store, memory);
  gbt_status status = gbt_mem_zeros(mem, (size_t)store->n_kept, sizeof *store->kept, &store->kept, err);
  if (status == GBT_OK)
    status = gbt_mem_zeros(mem, (size_t)info->n_pages, sizeof *store->known, &store->known, err);
  if (status == GBT_OK) status = gbti_page_limits_make(mem, &info->layout, &store->limits, err);
  if (status == GBT_OK && !gbt_lock_init(&store->lock))
    status = gbt_fail(err, GBT_E_MEM, "the system cannot create a mutex");
  if (status != GBT_OK) {
    gbti_page_limits_free(mem, &store->limits);
    gbt_mem_free(mem, store->kept);
    gbt_mem_free(mem, store->known);
    gbt_mem_free(mem, store);
    return status;
  }
  *out = &store->base;
  return GBT_OK;
}

const gbti_page_record *gbti_file_store_records(const gbt_page_store *store) {
  GBT_ASSERT(store->ops == &file_ops);
  return ((const file_store *)store)->files.record;
}
