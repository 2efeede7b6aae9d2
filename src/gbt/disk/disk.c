#include "disk.h"

#include <string.h>

#include "../base/checksum.h"
#include "../base/clock.h"
#include "../base/comm.h"
#include "../base/parallel.h"
#include "../base/rng.h"
#include "../bytes/sections.h"
#include "../data/page_sink.h"
#include "index.h"
#include "page_bytes.h"

/* Its part of the data set in one of the folders. */
typedef struct shard {
  char *folder, *path; /* path: of the pages; NULL: not made */
  gbt_file file;
  uint64_t at; /* bytes written */
  int made_folder;
} shard;

struct gbt_disk_writer {
  gbt_page_sink sink; /* first: what the sink's functions are given */
  gbt_mem mem;
  uint64_t id, memory;
  gbt_codec codec;
  int32_t n_shards;
  shard *shard; /* n_shards */
  char *index_path;
  gbti_page_record *record;
  int32_t n_pages;
  size_t cap_record, cap_bytes;
  uint8_t *bytes, *packed; /* of the page that is written; packed: only with a codec */
  int finished;
};

enum { NAMES_TRIED = 16 };

/* Of an index that is being written. */
static void index_name(uint64_t id, char out[GBTI_PAGES_NAME]) {
  gbti_pages_name(id, 0, 1, out);
  memcpy(out + strlen(out) - 4, ".tmp", 5); /* in place of ".bin" */
}

/* ---- the sink ---- */

static gbt_status make_room(gbt_disk_writer *w, uint64_t n_bytes, gbt_error *err) {
  if (n_bytes <= w->cap_bytes) return GBT_OK;
  gbt_mem_free(&w->mem, w->bytes);
  gbt_mem_free(&w->mem, w->packed);
  w->bytes = w->packed = NULL;
  w->cap_bytes = 0;
  GBT_TRY(gbt_mem_array(&w->mem, (size_t)n_bytes, 1, &w->bytes, err));
  if (w->codec != GBT_CODEC_NONE) GBT_TRY(gbt_mem_array(&w->mem, (size_t)n_bytes, 1, &w->packed, err));
  w->cap_bytes = (size_t)n_bytes;
  return GBT_OK;
}

/* The page in w->bytes, by columns, into w->packed, where that saves an eighth. Returns what is to be written. */
static const uint8_t *pack_page(gbt_disk_writer *w, const gbti_page_info *info, const gbt_page *page,
                                gbti_page_record *record) {
  if (w->codec == GBT_CODEC_NONE || record->bytes == 0) return w->bytes;
  gbti_page_by_columns(&info->layout, page->n_rows, record->bytes, w->bytes, w->packed);
  const size_t room = (size_t)(record->bytes - record->bytes / 8);
  const size_t n = gbti_codec_pack(w->codec, w->packed, (size_t)record->bytes, w->bytes, room);
  if (n == 0) {
    gbti_page_put(&info->layout, page, w->bytes);
    return w->bytes;
  }
  record->stored = n;
  record->codec = (uint64_t)w->codec;
  memset(w->bytes + n, 0, (size_t)(gbti_record_room(record) - n));
  return w->bytes;
}

static gbt_status put_page(gbt_page_sink *self, gbt_ctx *ctx, const gbti_page_info *info, const gbt_page *page,
                           gbt_error *err) {
  gbt_disk_writer *w = (gbt_disk_writer *)self;
  shard *to = &w->shard[w->n_pages % w->n_shards];
  const uint64_t n_entries = info->layout.n_sparse > 0 ? page->sparse_beg[page->n_rows] : 0;
  const uint64_t n_bytes = gbti_page_bytes(&info->layout, page->n_rows, n_entries);
  gbti_page_record record = {.beg = to->at, .stored = n_bytes, .bytes = n_bytes, .n_entries = n_entries};
  (void)ctx;
  GBT_TRY(gbt_mem_grow(&w->mem, &w->record, &w->cap_record, (size_t)w->n_pages + 1, sizeof *w->record, err));
  GBT_TRY(make_room(w, n_bytes, err));
  gbti_page_put(&info->layout, page, w->bytes);
  const uint8_t *bytes = pack_page(w, info, page, &record);
  const uint64_t room = gbti_record_room(&record);
  record.checksum = gbt_checksum(bytes, room);
  GBT_TRY(gbt_file_write(&to->file, bytes, (size_t)room, err));
  w->record[w->n_pages++] = record;
  to->at += room;
  return GBT_OK;
}

static gbt_status close_pages(gbt_page_sink *self, gbt_ctx *ctx, const gbti_page_info *info, gbt_page_store **out,
                              gbt_error *err) {
  gbt_disk_writer *w = (gbt_disk_writer *)self;
  gbti_page_files files;
  gbt_status status;
  (void)ctx;
  gbt_mem_free(&w->mem, w->bytes);
  gbt_mem_free(&w->mem, w->packed);
  w->bytes = w->packed = NULL;
  w->cap_bytes = 0;
  GBT_TRY_GOTO(gbti_page_files_new(&w->mem, w->n_shards, &files, err), failed);
  for (int32_t k = 0; k < w->n_shards; k++) {
    GBT_TRY_GOTO(gbt_file_sync(&w->shard[k].file, err), failed);
    GBT_TRY_GOTO(gbt_file_open(&w->mem, w->shard[k].path, &files.file[k], err), failed);
  }
  GBT_TRY_GOTO(gbt_mem_array(&w->mem, (size_t)w->n_pages, sizeof *files.record, &files.record, err), failed);
  if (w->n_pages > 0) memcpy(files.record, w->record, (size_t)w->n_pages * sizeof *files.record);
  GBT_TRY_GOTO(gbti_file_store(&w->mem, &files, info, w->memory, out, err), failed);
  return GBT_OK;
failed:
  gbti_page_files_free(&w->mem, &files);
  return status;
}

/* ---- what writers that died have left ---- */

static gbt_status remove_named(const gbt_disk_writer *w, int32_t folder, const char *name, gbt_error *err) {
  char *path;
  GBT_TRY(gbt_path_join(&w->mem, w->shard[folder].folder, name, &path, err));
  gbt_file_remove(path);
  gbt_mem_free(&w->mem, path);
  return GBT_OK;
}

/* Removes all files of a data set that has no index and no writer. The first file is removed last: when this process
 * dies here, the next writer finds it and goes on. */
static gbt_status remove_dead(const gbt_disk_writer *w, uint64_t id, int32_t n_files, gbt_error *err) {
  char name[GBTI_PAGES_NAME];
  for (int32_t file = 1; file < n_files; file++) {
    gbti_pages_name(id, file, n_files, name);
    for (int32_t k = 0; k < w->n_shards; k++) GBT_TRY(remove_named(w, k, name, err));
  }
  index_name(id, name);
  GBT_TRY(remove_named(w, 0, name, err));
  gbti_pages_name(id, 0, n_files, name);
  return remove_named(w, 0, name, err);
}

/* arg: the writer. name: of what is in its first folder. */
static gbt_status find_abandoned(void *arg, const char *name, gbt_error *err) {
  const gbt_disk_writer *w = arg;
  uint64_t id;
  int32_t file, n_files;
  gbt_file left = {.os = GBT_OS_NONE};
  char *path;
  if (!gbti_is_pages_name(name, &id, &file, &n_files) || file != 0) return GBT_OK;
  GBT_TRY(gbt_path_join(&w->mem, w->shard[0].folder, name, &path, err));
  gbt_status status = gbt_file_open(&w->mem, path, &left, err);
  if (status == GBT_OK && gbt_file_lock(&left) == 1 && !gbt_file_is_there(w->index_path))
    status = remove_dead(w, id, n_files, err); /* looked at under the lock: who wrote it may have finished */
  gbt_file_close(&left);
  gbt_mem_free(&w->mem, path);
  return status == GBT_E_IO ? GBT_OK : status; /* another one has removed it, or it is not ours to read */
}

/* ---- the writer ---- */

/* Not ours, or no longer needed. */
static void drop_file(gbt_disk_writer *w, shard *s, int ours) {
  gbt_file_close(&s->file);
  if (ours) gbt_file_remove(s->path);
  gbt_mem_free(&w->mem, s->path);
  s->path = NULL;
}

/* One of the files of pages; *taken: its name is another one's, or was taken for a leftover. */
static gbt_status make_file(gbt_disk_writer *w, int32_t number, int *taken, gbt_error *err) {
  shard *s = &w->shard[number];
  char name[GBTI_PAGES_NAME];
  *taken = 0;
  gbti_pages_name(w->id, number, w->n_shards, name);
  GBT_TRY(gbt_path_join(&w->mem, s->folder, name, &s->path, err));
  const gbt_status status = gbt_file_create(&w->mem, s->path, &s->file, err);
  if (status != GBT_OK) {
    *taken = status == GBT_E_IO && gbt_file_is_there(s->path);
    drop_file(w, s, 0);
  } else if (gbt_file_lock(&s->file) == 0) {
    *taken = 1;
    drop_file(w, s, 1);
    return gbt_fail_on(err, GBT_E_IO, s->folder, "another process removes files in \"%s\"; try again", s->folder);
  }
  return status;
}

/* Creates the files of pages under an unused name. The first file is created and locked first: it tells other processes
 * that the data set is being written. */
static gbt_status make_files(gbt_disk_writer *w, gbt_error *err) {
  gbt_status status = GBT_OK;
  for (int i = 0; i < NAMES_TRIED; i++) {
    int taken = 0;
    w->id = gbt_mix64(gbt_salt(w) ^ (uint64_t)gbt_clock_ns() ^ ((uint64_t)i << 56));
    status = GBT_OK;
    for (int32_t k = 0; k < w->n_shards && status == GBT_OK; k++) status = make_file(w, k, &taken, err);
    if (status == GBT_OK || !taken) break;
    for (int32_t k = w->n_shards; k-- > 0;)
      if (w->shard[k].path != NULL) drop_file(w, &w->shard[k], 1);
  }
  return status;
}

static gbt_status open_writer(gbt_disk_writer *w, gbt_folders folders, gbt_error *err) {
  GBT_TRY(gbti_check_byte_order("write data to folders", err));
  GBT_TRY(gbti_folders_check(folders, err));
  GBT_TRY(gbti_codec_need(w->codec, "compress", "pages are to be packed by", err));
  GBT_TRY(gbt_mem_zeros(&w->mem, (size_t)folders.n, sizeof *w->shard, &w->shard, err));
  w->n_shards = folders.n;
  for (int32_t k = 0; k < folders.n; k++) w->shard[k].file.os = GBT_OS_NONE;
  GBT_TRY(gbt_path_join(&w->mem, folders.path[0], GBTI_DISK_INDEX, &w->index_path, err));
  for (int32_t k = 0; k < folders.n; k++) {
    const size_t n = strlen(folders.path[k]) + 1;
    GBT_TRY(gbt_mem_array(&w->mem, n, 1, &w->shard[k].folder, err));
    memcpy(w->shard[k].folder, folders.path[k], n);
    GBT_TRY(gbt_folder_make(folders.path[k], &w->shard[k].made_folder, err));
  }
  if (gbt_file_is_there(w->index_path))
    return gbt_fail_on(err, GBT_E_IO, folders.path[0],
                       "\"%s\" already contains a data set; open it, or give another folder", folders.path[0]);
  GBT_TRY(gbt_folder_list(folders.path[0], find_abandoned, w, err));
  return make_files(w, err);
}

gbt_status gbt_disk_writer_new(gbt_ctx *ctx, gbt_folders folders, gbt_codec codec, gbt_disk_writer **out,
                               gbt_error *err) {
  gbt_disk_writer *w;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *w, &w, err));
  w->mem = ctx->mem;
  w->codec = codec;
  w->sink = (gbt_page_sink){.put = put_page, .close = close_pages};
  const gbt_status status = open_writer(w, folders, err);
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
  char name[GBTI_PAGES_NAME], *path;
  gbt_file file = {.os = GBT_OS_NONE};
  index_name(w->id, name);
  GBT_TRY(gbt_path_join(&w->mem, w->shard[0].folder, name, &path, err));
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

static gbt_status finish(gbt_ctx *ctx, gbt_disk_writer *w, const gbt_dataset *ds, gbti_note note, gbt_error *err) {
  uint8_t *bytes;
  size_t n;
  GBT_ASSERT(!w->finished && w->n_pages == gbt_pages_n_pages(ds->pages));
  GBT_TRY(gbt_ctx_poll(ctx, err));
  GBT_TRY(gbti_index_write(&w->mem, ds, gbti_file_store_records(ds->pages), w->id, w->n_shards, note, &bytes, &n, err));
  const gbt_status status = write_index(w, bytes, n, err);
  gbt_mem_free(&w->mem, bytes);
  return status;
}

gbt_status gbt_disk_writer_finish(gbt_ctx *ctx, gbt_disk_writer *w, const gbt_dataset *ds, const void *note,
                                  size_t n_note, gbt_error *err) {
  const gbt_status own = finish(ctx, w, ds, (gbti_note){note, n_note}, err), status = gbt_comm_agree(ctx, own, err);
  if (own == GBT_OK && status != GBT_OK) gbt_file_remove(w->index_path); /* another rank failed */
  w->finished = status == GBT_OK;
  return status;
}

void gbt_disk_writer_free(gbt_disk_writer *w) {
  if (w == NULL) return;
  gbt_mem mem = w->mem;
  for (int32_t k = w->n_shards; k-- > 0;) {
    shard *s = &w->shard[k];
    if (s->path != NULL) drop_file(w, s, !w->finished);
    if (!w->finished && s->made_folder) gbt_folder_remove(s->folder);
    gbt_mem_free(&mem, s->folder);
  }
  void *blocks[] = {w->shard, w->index_path, w->record, w->bytes, w->packed, w};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&mem, blocks[i]);
}
