/* Data sets in folders made by ranks, each with its share: they come back as shares of one data set; and where one rank
 * fails, none has a data set. */
#include <stdio.h>

#include "../../src/gbt/base/file.h"
#include "../../src/gbt/data/dataset_impl.h"
#include "../../src/gbt/disk/disk.h"
#include "../../src/gbt/disk/index.h"
#include "made.h"
#include "port.h"
#include "ranks.h"
#include "stores.h"

enum { SIZE = 3, ROWS = 700 };

typedef struct result {
  gbt_status made, opened;
  gbt_error err;
  int64_t n, before, all;
  uint64_t fingerprint;
  int n_pages, streamed;
} result;

typedef struct scene {
  made *share[SIZE];
  char folder[SIZE][512];
  int blocked; /* the rank whose index cannot be written; -1: none */
  int from[SIZE];
  result out[SIZE];
} scene;

static const char *in_folder(const char *folder, const char *name) {
  static _Thread_local char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static scene *scene_new(uint64_t seed, const int64_t *ends) {
  made *all = made_new(seed, ROWS, 6, NULL);
  scene *s = test_alloc(sizeof *s);
  memset(s, 0, sizeof *s);
  s->blocked = -1;
  for (int r = 0; r < SIZE; r++) {
    int64_t row[ROWS], n = 0;
    for (int64_t i = r > 0 ? ends[r - 1] : 0; i < ends[r]; i++) row[n++] = i;
    s->share[r] = made_rows(all, row, n);
    s->from[r] = r;
    port_temp_path(s->folder[r], "ranks");
  }
  made_free(all);
  return s;
}

static gbt_status remove_entry(void *folder, const char *name, gbt_error *err) {
  (void)err;
  if (name[0] != '.') gbt_file_remove(in_folder(folder, name));
  return GBT_OK;
}

static void scene_free(scene *s) {
  for (int r = 0; r < SIZE; r++) {
    CHECK_OK(gbt_folder_list(s->folder[r], remove_entry, s->folder[r], test_err));
    port_remove_folder(s->folder[r]);
    made_free(s->share[r]);
  }
  free(s);
}

static gbt_status make(gbt_ctx *ctx, scene *s, gbt_error *err) {
  const int r = gbt_comm_rank(ctx);
  const char *path = s->folder[r];
  gbt_dataset_spec spec = {.table = &s->share[r]->table, .max_bin = 32, .page_rows = 50};
  gbt_disk_writer *writer;
  gbt_dataset *ds = NULL;
  GBT_TRY(gbt_disk_writer_new(ctx, (gbt_folders){&path, 1}, GBT_CODEC_NONE, &writer, err));
  if (r == s->blocked) port_make_folder(in_folder(path, GBTI_DISK_INDEX));
  spec.sink = gbt_disk_writer_sink(writer, 0);
  gbt_status status = gbt_dataset_make(ctx, &spec, &ds, err);
  if (status == GBT_OK) status = gbt_disk_writer_finish(ctx, writer, ds, "note", 4, err);
  gbt_disk_writer_free(writer);
  gbt_dataset_unref(ds);
  if (r == s->blocked) port_remove_folder(in_folder(path, GBTI_DISK_INDEX));
  return status;
}

static void make_on_rank(void *arg, const gbt_comm *comm) {
  scene *s = arg;
  result *out = &s->out[comm->rank];
  gbt_ctx ctx;
  out->made = gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, &out->err);
  ctx.comm = comm;
  if (out->made == GBT_OK) out->made = make(&ctx, s, &out->err);
  gbt_ctx_close(&ctx);
}

static void open_on_rank(void *arg, const gbt_comm *comm) {
  scene *s = arg;
  result *out = &s->out[comm->rank];
  const char *path = s->folder[s->from[comm->rank]];
  gbt_ctx ctx;
  gbt_dataset *ds = NULL;
  out->opened = gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, &out->err);
  ctx.comm = comm;
  if (out->opened == GBT_OK)
    out->opened = gbt_disk_open(&ctx, (gbt_folders){&path, 1}, 0, &ds, NULL, NULL, &out->err);
  if (out->opened == GBT_OK) {
    out->n = ds->rows.n;
    out->before = ds->rows.before;
    out->all = ds->all_rows;
    out->fingerprint = ds->fingerprint;
    out->n_pages = gbt_pages_n_pages(ds->pages);
    out->streamed = !gbt_pages_stay(ds->pages);
  }
  gbt_dataset_unref(ds);
  gbt_ctx_close(&ctx);
}

static void shares_come_back(void) {
  static const int64_t ends[][SIZE] = {{200, 450, ROWS}, {0, 600, ROWS}, {ROWS, ROWS, ROWS}, {1, 1, ROWS}};
  for (int k = 0; k < 4; k++) {
    gbt_ctx ctx = test_ctx(NULL, 1);
    scene *s = scene_new((uint64_t)k + 1, ends[k]);
    made *all = made_new((uint64_t)k + 1, ROWS, 6, NULL);
    gbt_dataset_spec spec = {.table = &all->table, .max_bin = 32};
    gbt_dataset *whole = NULL;
    CHECK_OK(gbt_dataset_make(&ctx, &spec, &whole, test_err));
    ranks_run(SIZE, make_on_rank, s);
    for (int r = 0; r < SIZE; r++)
      if (!CHECK_EQ_I64(s->out[r].made, GBT_OK)) test_note("rank %d: %s", r, s->out[r].err.msg);
    ranks_run(SIZE, open_on_rank, s);
    for (int r = 0; r < SIZE; r++) {
      const result *out = &s->out[r];
      const int64_t beg = r > 0 ? ends[k][r - 1] : 0, n = ends[k][r] - beg;
      if (!CHECK_EQ_I64(out->opened, GBT_OK)) test_note("rank %d: %s", r, out->err.msg);
      CHECK_EQ_I64(out->n, n);
      CHECK_EQ_I64(out->before, beg);
      CHECK_EQ_I64(out->all, ROWS);
      CHECK_EQ_I64(out->n_pages, (n + 49) / 50);
      CHECK(out->fingerprint == whole->fingerprint);
      CHECK(out->streamed || out->n_pages <= 4);
    }
    gbt_dataset_unref(whole);
    made_free(all);
    gbt_ctx_close(&ctx);
    scene_free(s);
  }
}

static void one_that_fails_leaves_none(void) {
  static const int64_t ends[SIZE] = {200, 450, ROWS};
  for (int bad = 0; bad < SIZE; bad++) {
    char name[40];
    scene *s = scene_new(7, ends);
    s->blocked = bad;
    ranks_run(SIZE, make_on_rank, s);
    snprintf(name, sizeof name, "rank %d of %d: ", bad, SIZE);
    for (int r = 0; r < SIZE; r++) {
      CHECK_EQ_I64(s->out[r].made, GBT_E_IO);
      CHECK(strncmp(s->out[r].err.msg, name, strlen(name)) == 0);
      CHECK(!gbt_file_is_there(in_folder(s->folder[r], GBTI_DISK_INDEX)));
    }
    s->blocked = -1; /* nothing is left that is in the way */
    ranks_run(SIZE, make_on_rank, s);
    for (int r = 0; r < SIZE; r++) CHECK_EQ_I64(s->out[r].made, GBT_OK);
    scene_free(s);
  }
}

static void folders_of_two_data_sets_are_refused(void) {
  static const int64_t ends[SIZE] = {200, 450, ROWS};
  scene *s = scene_new(8, ends), *other = scene_new(9, ends);
  ranks_run(SIZE, make_on_rank, s);
  ranks_run(SIZE, make_on_rank, other);
  memcpy(s->folder[1], other->folder[1], sizeof s->folder[1]);
  ranks_run(SIZE, open_on_rank, s);
  for (int r = 0; r < SIZE; r++) {
    CHECK_EQ_I64(s->out[r].opened, GBT_E_DATA);
    CHECK(strstr(s->out[r].err.msg, "belong to different data sets") != NULL);
  }
  memcpy(s->folder[1], s->folder[0], sizeof s->folder[1]);
  snprintf(strrchr(s->folder[1], '-'), 8, "-1");
  scene_free(other);
  scene_free(s);
}

void suite_disk_ranks(void) {
  const store_kind before = stores_use(STORE_MEMORY);
  RUN(shares_come_back);
  RUN(one_that_fails_leaves_none);
  RUN(folders_of_two_data_sets_are_refused);
  stores_use(before);
}
