/* Opens data sets: which folder has which file, and what the index says. */
#include <stdio.h>
#include <string.h>

#include "../base/comm.h"
#include "../base/parallel.h"
#include "../bytes/sections.h"
#include "disk.h"
#include "index.h"

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

/* Where a file is, in one of the folders: *path, owned, and which folder; NULL: in none of them. */
static gbt_status find_file(const gbt_mem *mem, gbt_folders folders, const char *name, char **path, int32_t *which,
                            gbt_error *err) {
  *path = NULL;
  for (int32_t k = 0; k < folders.n; k++) {
    GBT_TRY(gbt_path_join(mem, folders.path[k], name, path, err));
    *which = k;
    if (gbt_file_is_there(*path)) return GBT_OK;
    gbt_mem_free(mem, *path);
    *path = NULL;
  }
  return GBT_OK;
}

/* A file of pages is as long as the records say. */
static gbt_status open_one(const gbt_mem *mem, const char *path, const gbti_index *index, int32_t number, gbt_file *out,
                           gbt_error *err) {
  uint64_t size = 0, want = 0;
  for (int32_t p = number; p < index->info.n_pages; p += index->n_files)
    want = index->record[p].beg + gbti_record_room(&index->record[p]);
  GBT_TRY(gbt_file_open(mem, path, out, err));
  GBT_TRY(gbt_file_bytes(out, &size, err));
  if (size >= want) return GBT_OK;
  return gbt_fail_on(err, GBT_E_FORMAT, out->path, "\"%s\" is cut short: it has %llu bytes of %llu", out->path,
                     (unsigned long long)size, (unsigned long long)want);
}

/* All files of pages, wherever they are. used: by folder, those with a part of the data set. */
static gbt_status open_pages(const gbt_mem *mem, gbt_folders folders, const char *index_path, const gbti_index *index,
                             gbti_page_files *out, char *used, gbt_error *err) {
  for (int32_t k = 0; k < index->n_files; k++) {
    char name[GBTI_PAGES_NAME], *path;
    int32_t which = 0;
    gbti_pages_name(index->id, k, index->n_files, name);
    GBT_TRY(find_file(mem, folders, name, &path, &which, err));
    if (path == NULL)
      return gbt_fail_on(err, GBT_E_IO, name,
                         "\"%s\", a part of the data set of \"%s\", is in none of the folders given; give all folders "
                         "of the data set (%d files of pages)",
                         name, index_path, (int)index->n_files);
    const gbt_status status = open_one(mem, path, index, k, &out->file[k], err);
    gbt_mem_free(mem, path);
    if (status != GBT_OK) return status;
    used[which] = 1;
  }
  for (int32_t k = 0; k < folders.n; k++)
    if (!used[k])
      return gbt_fail_on(err, GBT_E_ARG, "path", "\"%s\" has no part of the data set of \"%s\"; leave it out",
                         folders.path[k], index_path);
  return GBT_OK;
}

/* Finds the index and the folder that has it; two indexes are an error. */
static gbt_status find_index(const gbt_mem *mem, gbt_folders folders, char **path, char *used, gbt_error *err) {
  int32_t which = 0, other = 0;
  char *second = NULL;
  GBT_TRY(find_file(mem, folders, GBTI_DISK_INDEX, path, &which, err));
  if (*path == NULL && folders.n == 1) return gbt_path_join(mem, folders.path[0], GBTI_DISK_INDEX, path, err);
  if (*path == NULL)
    return gbt_fail_on(err, GBT_E_IO, folders.path[0],
                       "there is no file \"%s\" in \"%s\" or in the other folders: they contain no data set",
                       GBTI_DISK_INDEX, folders.path[0]);
  used[which] = 1;
  const gbt_folders rest = {folders.path + which + 1, folders.n - which - 1};
  GBT_TRY(find_file(mem, rest, GBTI_DISK_INDEX, &second, &other, err));
  if (second == NULL) return GBT_OK;
  const gbt_status status = gbt_fail_on(
      err, GBT_E_ARG, "path", "\"%s\" and \"%s\" belong to two data sets; give the folders of one", *path, second);
  gbt_mem_free(mem, second);
  return status;
}

static gbt_status copy_note(const gbt_mem *mem, gbti_note note, uint8_t **out, size_t *n, gbt_error *err) {
  if (out == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(mem, note.n, 1, out, err));
  if (note.n > 0) memcpy(*out, note.bytes, note.n);
  *n = note.n;
  return GBT_OK;
}

static gbt_status open_dataset(gbt_ctx *ctx, gbt_folders folders, uint64_t memory, gbt_dataset *ds, uint8_t **note,
                               size_t *n_note, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  gbti_index index = {.id = 0};
  gbti_page_files files = {.n_files = 0};
  gbt_page_store *pages;
  char *index_path = NULL, used[GBT_MAX_FOLDERS] = {0};
  uint8_t *bytes = NULL;
  size_t n;
  gbt_status status;
  GBT_TRY_GOTO(find_index(mem, folders, &index_path, used, err), done);
  GBT_TRY_GOTO(read_all(mem, index_path, &bytes, &n, err), done);
  GBT_TRY_GOTO(gbti_index_read(ctx, bytes, n, index_path, &index, err), done);
  GBT_TRY_GOTO(gbti_page_files_new(mem, index.n_files, &files, err), done);
  GBT_TRY_GOTO(open_pages(mem, folders, index_path, &index, &files, used, err), done);
  GBT_TRY_GOTO(copy_note(mem, index.note, note, n_note, err), done);
  files.record = index.record;
  index.record = NULL;
  GBT_TRY_GOTO(gbti_file_store(mem, &files, &index.info, memory, &pages, err), done);
  memset(&index.info, 0, sizeof index.info); /* the store has it now */
  files = (gbti_page_files){.n_files = 0};
  gbti_dataset_put_pages(ds, pages);
  ds->cuts = gbt_cuts_ref(index.cuts);
  ds->fingerprint = index.fingerprint;
  ds->rows.n = ds->all_rows = gbt_pages_n_rows(pages);
done:
  gbti_page_files_free(mem, &files);
  gbti_index_free(mem, &index);
  gbt_mem_free(mem, index_path);
  gbt_mem_free(mem, bytes);
  return status;
}

/* Where the rows are among those of all ranks, whose folders hold one data set. */
static gbt_status join_shares(gbt_ctx *ctx, gbt_dataset *ds, gbt_error *err) {
  gbt_share share;
  int same;
  GBT_TRY(gbt_comm_same(ctx, ds->fingerprint, &same, err));
  if (!same)
    return gbt_fail_on(err, GBT_E_DATA, "path",
                       "the folders of the ranks belong to different data sets; make them together, by all ranks");
  GBT_TRY(gbt_comm_share(ctx, ds->rows.n, &share, err));
  ds->rows.before = ds->rows.table_before = share.beg;
  ds->all_rows = share.all;
  return GBT_OK;
}

gbt_status gbti_folders_check(gbt_folders folders, gbt_error *err) {
  if (folders.n < 1 || folders.n > GBT_MAX_FOLDERS)
    return gbt_fail_on(err, GBT_E_ARG, "path", "`path` has %d folders; give 1 to %d", (int)folders.n, GBT_MAX_FOLDERS);
  for (int32_t k = 0; k < folders.n; k++) {
    if (folders.path[k][0] == '\0')
      return gbt_fail_on(err, GBT_E_ARG, "path", "`path` is empty; give the name of a folder");
    for (int32_t j = 0; j < k; j++)
      if (strcmp(folders.path[j], folders.path[k]) == 0)
        return gbt_fail_on(err, GBT_E_ARG, "path", "`path` has \"%s\" twice; give every folder once", folders.path[k]);
  }
  return GBT_OK;
}

gbt_status gbt_disk_open(gbt_ctx *ctx, gbt_folders folders, uint64_t memory, gbt_dataset **out, uint8_t **note,
                         size_t *n_note, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  gbt_dataset *ds = NULL;
  *out = NULL;
  if (note != NULL) *note = NULL;
  gbt_status status = gbti_check_byte_order("read data from folders", err);
  if (status == GBT_OK) status = gbti_folders_check(folders, err);
  if (status == GBT_OK) status = gbt_mem_zeros(mem, 1, sizeof *ds, &ds, err);
  if (status == GBT_OK) {
    ds->refs = 1;
    ds->mem = *mem;
    status = open_dataset(ctx, folders, memory, ds, note, n_note, err);
    if (status == GBT_OK) status = join_shares(ctx, ds, err);
  }
  status = gbt_comm_agree(ctx, status, err);
  if (status == GBT_OK)
    *out = ds;
  else
    gbt_dataset_unref(ds);
  if (status != GBT_OK && note != NULL) {
    gbt_mem_free(mem, *note);
    *note = NULL;
  }
  return status;
}
