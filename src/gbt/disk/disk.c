#include "disk.h"

#include <string.h>

#include "../base/checksum.h"
#include "../base/clock.h"
#include "../base/parallel.h"
#include "../base/rng.h"
#include "../data/page_sink.h"
#include "index.h"
#include "page_bytes.h"

struct gbt_disk_writer {
  gbt_page_sink sink; /* first: what the sink's functions are given */
  gbt_mem mem;
  uint64_t id, memory;
  char *folder, *index_path, *pages_path;
  gbt_file pages;
  gbti_page_record *record;
  int32_t n_pages;
  size_t cap_record, cap_bytes;
  uint64_t at;    /* bytes written */
  uint8_t *bytes; /* of the page that is written */
  int made_folder, finished;
};

enum { NAMES_TRIED = 16 };

/* ---- the sink ---- */

static gbt_status put_page(gbt_page_sink *self, gbt_ctx *ctx, const gbti_page_info *info, const gbt_page *page,
                           gbt_error *err) {
  gbt_disk_writer *w = (gbt_disk_writer *)self;
  const uint64_t n_entries = info->layout.n_sparse > 0 ? page->sparse_beg[page->n_rows] : 0;
  gbti_page_record record = {
      .beg = w->at, .bytes = gbti_page_bytes(&info->layout, page->n_rows, n_entries), .n_entries = n_entries};
  (void)ctx;
  GBT_TRY(gbt_mem_grow(&w->mem, &w->record, &w->cap_record, (size_t)w->n_pages + 1, sizeof *w->record, err));
  if (record.bytes > w->cap_bytes) {
    gbt_mem_free(&w->mem, w->bytes);
    w->bytes = NULL;
    w->cap_bytes = 0;
    GBT_TRY(gbt_mem_array(&w->mem, (size_t)record.bytes, 1, &w->bytes, err));
    w->cap_bytes = (size_t)record.bytes;
  }
  gbti_page_put(&info->layout, page, w->bytes);
  record.checksum = gbt_checksum(w->bytes, record.bytes);
  GBT_TRY(gbt_file_write(&w->pages, w->bytes, (size_t)record.bytes, err));
  w->record[w->n_pages++] = record;
  w->at += record.bytes;
  return GBT_OK;
}

static gbt_status close_pages(gbt_page_sink *self, gbt_ctx *ctx, const gbti_page_info *info, gbt_page_store **out,
                              gbt_error *err) {
  gbt_disk_writer *w = (gbt_disk_writer *)self;
  gbti_page_file file = {.file = {.fd = -1}};
  gbt_status status;
  (void)ctx;
  gbt_mem_free(&w->mem, w->bytes);
  w->bytes = NULL;
  GBT_TRY(gbt_file_sync(&w->pages, err));
  GBT_TRY(gbt_file_open(&w->mem, w->pages_path, &file.file, err));
  GBT_TRY_GOTO(gbt_mem_array(&w->mem, (size_t)w->n_pages, sizeof *file.record, &file.record, err), failed);
  if (w->n_pages > 0) memcpy(file.record, w->record, (size_t)w->n_pages * sizeof *file.record);
  GBT_TRY_GOTO(gbti_file_store(&w->mem, &file, info, w->memory, out, err), failed);
  return GBT_OK;
failed:
  gbt_mem_free(&w->mem, file.record);
  gbt_file_close(&file.file);
  return status;
}

/* ---- the writer ---- */

/* The pages' file, of a name that nobody has. */
static gbt_status make_pages_file(gbt_disk_writer *w, gbt_error *err) {
  gbt_status status = GBT_OK;
  for (int i = 0; i < NAMES_TRIED; i++) {
    char name[GBTI_PAGES_NAME];
    w->id = gbt_mix64(gbt_salt(w) ^ (uint64_t)gbt_clock_ns() ^ ((uint64_t)i << 56));
    gbti_pages_name(w->id, name);
    gbt_mem_free(&w->mem, w->pages_path);
    w->pages_path = NULL;
    GBT_TRY(gbt_path_join(&w->mem, w->folder, name, &w->pages_path, err));
    status = gbt_file_create(&w->mem, w->pages_path, &w->pages, err);
    if (status == GBT_OK || gbt_file_is_there(w->pages_path) == 0) break;
  }
  if (status == GBT_OK) return GBT_OK;
  gbt_mem_free(&w->mem, w->pages_path); /* not ours to remove */
  w->pages_path = NULL;
  return status;
}

static gbt_status open_writer(gbt_disk_writer *w, const char *folder, gbt_error *err) {
  const size_t n = strlen(folder) + 1;
  if (n == 1) return gbt_fail_on(err, GBT_E_ARG, "path", "`path` is empty; give the name of a folder");
  GBT_TRY(gbt_mem_array(&w->mem, n, 1, &w->folder, err));
  memcpy(w->folder, folder, n);
  GBT_TRY(gbt_path_join(&w->mem, folder, GBTI_DISK_INDEX, &w->index_path, err));
  GBT_TRY(gbt_folder_make(folder, &w->made_folder, err));
  if (gbt_file_is_there(w->index_path))
    return gbt_fail_on(err, GBT_E_IO, folder,
                       "\"%s\" holds a data set already; open it, or give another folder for this one", folder);
  return make_pages_file(w, err);
}

gbt_status gbt_disk_writer_new(gbt_ctx *ctx, const char *folder, gbt_disk_writer **out, gbt_error *err) {
  gbt_disk_writer *w;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *w, &w, err));
  w->mem = ctx->mem;
  w->sink = (gbt_page_sink){.put = put_page, .close = close_pages};
  w->pages.fd = -1;
  const gbt_status status = open_writer(w, folder, err);
  if (status == GBT_OK)
    *out = w;
  else
    gbt_disk_writer_free(w);
  return status;
}

gbt_page_sink *gbt_disk_writer_sink(gbt_disk_writer *w, uint64_t memory) {
  w->memory = memory;
  return &w->sink;
}

static gbt_status write_index(gbt_disk_writer *w, const uint8_t *bytes, size_t n, gbt_error *err) {
  char name[GBTI_PAGES_NAME + 8], *path;
  gbt_file file = {.fd = -1};
  gbti_pages_name(w->id, name);
  memcpy(name + strlen(name) - 4, ".tmp", 5); /* in place of ".bin" */
  GBT_TRY(gbt_path_join(&w->mem, w->folder, name, &path, err));
  gbt_status status = gbt_file_create(&w->mem, path, &file, err);
  const int made = status == GBT_OK;
  if (status == GBT_OK) status = gbt_file_write(&file, bytes, n, err);
  if (status == GBT_OK) status = gbt_file_sync(&file, err);
  gbt_file_close(&file);
  if (status == GBT_OK) status = gbt_file_name(path, w->index_path, err);
  if (made && status != GBT_OK) gbt_file_remove(path);
  gbt_mem_free(&w->mem, path);
  return status;
}

gbt_status gbt_disk_writer_finish(gbt_ctx *ctx, gbt_disk_writer *w, const gbt_dataset *ds, const void *note,
                                  size_t n_note, gbt_error *err) {
  uint8_t *bytes;
  size_t n;
  GBT_ASSERT(!w->finished && w->n_pages == gbt_pages_n_pages(ds->pages));
  GBT_TRY(gbt_ctx_poll(ctx, err));
  GBT_TRY(gbti_index_write(&w->mem, ds, gbti_file_store_records(ds->pages), w->id, (gbti_note){note, n_note}, &bytes,
                           &n, err));
  const gbt_status status = write_index(w, bytes, n, err);
  gbt_mem_free(&w->mem, bytes);
  w->finished = status == GBT_OK;
  return status;
}

void gbt_disk_writer_free(gbt_disk_writer *w) {
  if (w == NULL) return;
  gbt_mem mem = w->mem;
  gbt_file_close(&w->pages);
  if (!w->finished && w->pages_path != NULL) gbt_file_remove(w->pages_path);
  if (!w->finished && w->made_folder) gbt_folder_remove(w->folder);
  void *blocks[] = {w->folder, w->index_path, w->pages_path, w->record, w->bytes, w};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&mem, blocks[i]);
}

/* ---- opening ---- */

static gbt_status read_all(const gbt_mem *mem, const char *path, uint8_t **bytes, size_t *n, gbt_error *err) {
  gbt_file file;
  uint64_t size = 0;
  *bytes = NULL;
  GBT_TRY(gbt_file_open(mem, path, &file, err));
  gbt_status status = gbt_file_bytes(&file, &size, err);
  if (status == GBT_OK && size > SIZE_MAX / 2) status = gbt_fail_mem(err, SIZE_MAX / 2);
  if (status == GBT_OK) status = gbt_mem_array(mem, (size_t)size, 1, bytes, err);
  if (status == GBT_OK) status = gbt_file_read(&file, 0, *bytes, (size_t)size, err);
  gbt_file_close(&file);
  *n = (size_t)size;
  return status;
}

/* The pages' file is as long as the records say. */
static gbt_status open_pages(const gbt_mem *mem, const char *folder, const gbti_index *index, gbt_file *out,
                             gbt_error *err) {
  char name[GBTI_PAGES_NAME], *path;
  const int32_t n = index->info.n_pages;
  const uint64_t want = n > 0 ? index->record[n - 1].beg + index->record[n - 1].bytes : 0;
  uint64_t size = 0;
  gbti_pages_name(index->id, name);
  GBT_TRY(gbt_path_join(mem, folder, name, &path, err));
  gbt_status status = gbt_file_open(mem, path, out, err);
  gbt_mem_free(mem, path);
  if (status != GBT_OK) return status;
  status = gbt_file_bytes(out, &size, err);
  if (status == GBT_OK && size < want)
    status = gbt_fail_on(err, GBT_E_FORMAT, out->path, "\"%s\" is cut short: it has %llu bytes of %llu", out->path,
                         (unsigned long long)size, (unsigned long long)want);
  if (status != GBT_OK) gbt_file_close(out);
  return status;
}

static gbt_status copy_note(const gbt_mem *mem, gbti_note note, uint8_t **out, size_t *n, gbt_error *err) {
  if (out == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(mem, note.n, 1, out, err));
  if (note.n > 0) memcpy(*out, note.bytes, note.n);
  *n = note.n;
  return GBT_OK;
}

static gbt_status open_dataset(gbt_ctx *ctx, const char *folder, const char *index_path, uint64_t memory,
                               gbt_dataset *ds, uint8_t **note, size_t *n_note, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  gbti_index index = {.id = 0};
  gbti_page_file file = {.file = {.fd = -1}};
  gbt_page_store *pages;
  uint8_t *bytes;
  size_t n;
  gbt_status status;
  GBT_TRY_GOTO(read_all(mem, index_path, &bytes, &n, err), done);
  GBT_TRY_GOTO(gbti_index_read(ctx, bytes, n, index_path, &index, err), done);
  GBT_TRY_GOTO(open_pages(mem, folder, &index, &file.file, err), done);
  GBT_TRY_GOTO(copy_note(mem, index.note, note, n_note, err), done);
  file.record = index.record;
  GBT_TRY_GOTO(gbti_file_store(mem, &file, &index.info, memory, &pages, err), done);
  memset(&index.info, 0, sizeof index.info); /* the store has it now */
  index.record = NULL;
  file.file = (gbt_file){.fd = -1};
  gbti_dataset_put_pages(ds, pages);
  ds->cuts = gbt_cuts_ref(index.cuts);
  ds->rows.n = ds->all_rows = gbt_pages_n_rows(pages);
done:
  gbt_file_close(&file.file);
  gbti_index_free(mem, &index);
  gbt_mem_free(mem, bytes);
  return status;
}

gbt_status gbt_disk_open(gbt_ctx *ctx, const char *folder, uint64_t memory, gbt_dataset **out, uint8_t **note,
                         size_t *n_note, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  gbt_dataset *ds;
  char *index_path;
  *out = NULL;
  if (note != NULL) *note = NULL;
  GBT_TRY(gbt_path_join(mem, folder, GBTI_DISK_INDEX, &index_path, err));
  gbt_status status = gbt_mem_zeros(mem, 1, sizeof *ds, &ds, err);
  if (status == GBT_OK) {
    ds->refs = 1;
    ds->mem = *mem;
    status = open_dataset(ctx, folder, index_path, memory, ds, note, n_note, err);
    if (status == GBT_OK)
      *out = ds;
    else
      gbt_dataset_unref(ds);
  }
  if (status != GBT_OK && note != NULL) {
    gbt_mem_free(mem, *note);
    *note = NULL;
  }
  gbt_mem_free(mem, index_path);
  return status;
}
