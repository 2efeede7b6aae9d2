/* Data sets in folders: what was made comes back as it was, whatever the pages, the memory and the table; whatever is
 * wrong with a file is reported by name, and leaves nothing behind. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

#include "../../src/gbt/base/file.h"
#include "../../src/gbt/disk/disk.h"
#include "../../src/gbt/disk/index.h"
#include "datasets.h"
#include "fault.h"
#include "made.h"
#include "pages.h"
#include "port.h"

/* ---- folders ---- */

static const char *temp_folder(void) {
  static char name[PORT_PATH];
  port_temp_path(name, "disk");
  return name;
}

static const char *in_folder(const char *folder, const char *name) {
  static char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* The name of the pages' file of a data set. */
static const char *pages_of(const char *folder) {
  static char name[GBTI_PAGES_NAME];
  DIR *dir = opendir(folder);
  name[0] = 0;
  for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
    if (strncmp(e->d_name, "pages-", 6) == 0) snprintf(name, sizeof name, "%.63s", e->d_name);
  if (dir != NULL) closedir(dir);
  return name;
}

static void remove_folder(const char *folder) {
  if (gbt_file_is_there(in_folder(folder, GBTI_DISK_INDEX))) gbt_file_remove(in_folder(folder, pages_of(folder)));
  gbt_file_remove(in_folder(folder, GBTI_DISK_INDEX));
  CHECK(port_remove_folder(folder) == 0);
}

static uint8_t *read_file(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  uint8_t *bytes;
  *n = 0;
  if (f == NULL) {
    CHECK(0 && "a file cannot be read");
    return test_alloc(1);
  }
  fseek(f, 0, SEEK_END);
  *n = (size_t)ftell(f);
  rewind(f);
  bytes = test_alloc(*n + 1);
  CHECK(fread(bytes, 1, *n, f) == *n);
  fclose(f);
  return bytes;
}

static void write_file(const char *path, const uint8_t *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  if (f == NULL || fwrite(bytes, 1, n, f) != n) CHECK(0 && "a file cannot be written");
  if (f != NULL) fclose(f);
}

/* ---- making and opening ---- */

static gbt_folders one(const char *folder) {
  static const char *path[4];
  static int at;
  at = (at + 1) % 4;
  path[at] = folder;
  return (gbt_folders){&path[at], 1};
}

static gbt_status make_in(gbt_ctx *ctx, gbt_folders folders, gbt_codec codec, const gbt_dataset_spec *spec,
                          uint64_t memory, gbt_dataset **out, gbt_error *err) {
  gbt_dataset_spec own = *spec;
  gbt_disk_writer *writer;
  *out = NULL;
  GBT_TRY(gbt_disk_writer_new(ctx, folders, codec, &writer, err));
  own.sink = gbt_disk_writer_sink(writer, memory);
  gbt_status status = gbt_dataset_make(ctx, &own, out, err);
  if (status == GBT_OK) status = gbt_disk_writer_finish(ctx, writer, *out, "a note", 7, err);
  if (status != GBT_OK) { /* closes its files first: their names may stay until then */
    gbt_dataset_unref(*out);
    *out = NULL;
  }
  gbt_disk_writer_free(writer);
  return status;
}

static gbt_status make(gbt_ctx *ctx, const char *folder, const gbt_dataset_spec *spec, uint64_t memory,
                       gbt_dataset **out, gbt_error *err) {
  return make_in(ctx, one(folder), GBT_CODEC_NONE, spec, memory, out, err);
}

/* Codecs of this build, in turn. */
static gbt_codec codec_of(int number) {
  static const gbt_codec all[] = {GBT_CODEC_ZSTD, GBT_CODEC_NONE, GBT_CODEC_LZ4};
  return gbt_codec_is_here((int)all[number % 3]) ? all[number % 3] : GBT_CODEC_NONE;
}

/* Removes folders with all that is in them. */
static gbt_status remove_entry(void *folder, const char *name, gbt_error *err) {
  (void)err;
  if (name[0] != '.') gbt_file_remove(in_folder(folder, name));
  return GBT_OK;
}
static void remove_all(char (*folder)[512], int n) {
  for (int k = 0; k < n; k++) {
    CHECK_OK(gbt_folder_list(folder[k], remove_entry, folder[k], test_err));
    CHECK(port_remove_folder(folder[k]) == 0);
  }
}

/* The same four times: in memory, as it was written, as it is opened, with folders in another order. */
static void comes_back(const gbt_dataset_spec *spec, uint64_t memory, int n_threads, int n_folders, gbt_codec codec) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  char name[4][512];
  const char *path[4], *turned[4];
  const store_kind before = stores_use(STORE_MEMORY);
  gbt_dataset *want = NULL, *made_there = NULL, *opened = NULL, *again = NULL;
  uint8_t *note = NULL;
  size_t n_note = 0;
  for (int k = 0; k < n_folders; k++) {
    snprintf(name[k], sizeof name[k], "%s", temp_folder());
    path[k] = turned[n_folders - 1 - k] = name[k];
  }
  const gbt_folders folders = {path, n_folders}, backwards = {turned, n_folders};
  REQUIRE_OK(gbt_dataset_make(&ctx, spec, &want, test_err));
  REQUIRE_OK(make_in(&ctx, folders, codec, spec, memory, &made_there, test_err));
  REQUIRE_OK(gbt_disk_open(&ctx, folders, memory, &opened, &note, &n_note, test_err));
  REQUIRE_OK(gbt_disk_open(&ctx, backwards, UINT64_MAX, &again, NULL, NULL, test_err));
  CHECK(n_note == 7 && memcmp(note, "a note", 7) == 0);
  gbt_mem_free(&ctx.mem, note);
  same_datasets(want, made_there);
  same_datasets(want, opened);
  same_datasets(want, again);
  same_datasets(opened, want); /* pages come for the second time */
  CHECK(gbt_pages_stay(again->pages));
  CHECK(memory > 0 || gbt_pages_n_pages(opened->pages) < 2 || !gbt_pages_stay(opened->pages));
  gbt_dataset_unref(want);
  gbt_dataset_unref(made_there);
  gbt_dataset_unref(opened);
  gbt_dataset_unref(again);
  remove_all(name, n_folders);
  stores_use(before);
  gbt_ctx_close(&ctx);
}

static void data_sets_come_back(void) {
  static const int64_t rows[] = {1, 2, 63, 64, 65, 257, 1000};
  static const int32_t page_rows[] = {1, 7, 64, 100, 0};
  test_rng rng = {51};
  for (int i = 0; i < 105; i++) {
    made *m = made_new((uint64_t)i + 1, rows[i % 7], 1 + i % 12, NULL);
    gbt_dataset_spec spec = {.table = &m->table, .max_bin = i % 4 ? 255 : 300, .page_rows = page_rows[i % 5]};
    if (spec.page_rows == 1 && rows[i % 7] > 100) spec.page_rows = 3;
    comes_back(&spec, i % 3 == 0 ? 0 : (uint64_t)test_below(&rng, 40000), 1 + i % 3, 1 + i % 4, codec_of(i / 2));
    made_free(m);
  }
}

/* Levels that the reference does not know, and columns of more levels than bins. */
static void levels_come_back(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  const store_kind before = stores_use(STORE_MEMORY);
  static const made_kind kinds[] = {MADE_LEVELS, MADE_HOLED, MADE_BELL};
  for (uint64_t seed = 1; seed <= 8; seed++) {
    made *few = made_new(seed, 40, 3, kinds), *many = made_new(seed, 500, 3, kinds);
    gbt_dataset_spec spec = {.table = &few->table, .max_bin = 16};
    gbt_dataset *reference = NULL;
    REQUIRE_OK(gbt_dataset_make(&ctx, &spec, &reference, test_err));
    spec = (gbt_dataset_spec){.table = &many->table, .reference = reference, .page_rows = 90};
    spec.unseen = seed % 2 ? GBT_UNSEEN_PRIOR : GBT_UNSEEN_MISSING;
    comes_back(&spec, 1000 * (seed % 3), 1, 1 + (int)(seed % 2), codec_of((int)seed));
    gbt_dataset_unref(reference);
    made_free(few);
    made_free(many);
  }
  made *large = made_levels(3, 120000, 70000);
  gbt_dataset_spec spec = {.table = &large->table, .max_bin = 255, .page_rows = 30000};
  comes_back(&spec, 0, 2, 3, codec_of(0));
  made_free(large);
  stores_use(before);
  gbt_ctx_close(&ctx);
}

/* A table in memory has some of its pages in memory at a time, as chunks have: by cuts that are there, since making
 * them needs more. */
static void pages_leave_as_they_fill(void) {
  enum { FEW = 500, MANY = 400000 };
  test_rng rng = {8};
  tables *few = tables_of_all(&rng, (tables_shape){FEW, 14, 4, 6, 0}, TABLES_LEVELS);
  tables *many = tables_of_all(&rng, (tables_shape){MANY, 14, 4, 6, 0}, TABLES_LEVELS);
  const store_kind before = stores_use(STORE_MEMORY);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_dataset *reference = NULL;
  gbt_dataset_spec spec = {.table = &few->table, .max_bin = 255};
  REQUIRE_OK(gbt_dataset_make(&ctx, &spec, &reference, test_err));
  static const int32_t page_rows[] = {0, 7000};
  for (int i = 0; i < 2; i++) {
    char folder[512];
    snprintf(folder, sizeof folder, "%s", temp_folder());
    fault f;
    gbt_ctx own;
    gbt_dataset *want = NULL, *ds = NULL;
    spec = (gbt_dataset_spec){.table = &many->table, .reference = reference, .page_rows = page_rows[i]};
    REQUIRE_OK(gbt_dataset_make(&ctx, &spec, &want, test_err));
    fault_start(&f, 0, 0);
    REQUIRE_OK(gbt_ctx_open(&own, fault_mem(&f), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
    REQUIRE_OK(make(&own, folder, &spec, 0, &ds, test_err));
    const int64_t pages = (int64_t)gbt_pages_bytes(want->pages);
    test_note("%" PRId64 " KB of pages, at most %" PRId64 " KB held", pages >> 10, (int64_t)f.bytes_peak >> 10);
    CHECK(f.bytes_peak < pages / 4 * 3); /* a page, and its bytes on their way to the file */
    same_datasets(want, ds);
    gbt_dataset_unref(ds);
    gbt_ctx_close(&own);
    CHECK_EQ_I64(f.n_live, 0);
    gbt_dataset_unref(want);
    remove_folder(folder);
  }
  gbt_dataset_unref(reference);
  gbt_ctx_close(&ctx);
  stores_use(before);
  tables_free(few);
  tables_free(many);
}

/* ---- what can be wrong ---- */

typedef struct stage {
  made *m;
  gbt_dataset_spec spec;
  gbt_ctx ctx;
  char folder[512];
  store_kind before;
} stage;

static void stage_open(stage *s) {
  static const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_FACTOR, MADE_ZEROS};
  s->before = stores_use(STORE_MEMORY);
  s->m = made_new(9, 200, 4, kinds);
  s->spec = (gbt_dataset_spec){.table = &s->m->table, .max_bin = 8, .page_rows = 60};
  s->ctx = test_ctx(NULL, 1);
  snprintf(s->folder, sizeof s->folder, "%s", temp_folder());
}

static void stage_make(stage *s) {
  gbt_dataset *ds = NULL;
  REQUIRE_OK(make(&s->ctx, s->folder, &s->spec, 0, &ds, test_err));
  gbt_dataset_unref(ds);
}

static void stage_close(stage *s) {
  gbt_ctx_close(&s->ctx);
  made_free(s->m);
  stores_use(s->before);
}

static gbt_status look(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  (void)arg, (void)ctx, (void)span, (void)err;
  return GBT_OK;
}

static void look_at_run(void *arg, const gbt_page_span *span, int64_t task, int thread) {
  (void)arg, (void)span, (void)task, (void)thread;
}

/* Opens and reads all pages. */
static gbt_status read_through(stage *s, gbt_error *err) {
  gbt_dataset *ds;
  GBT_TRY(gbt_disk_open(&s->ctx, one(s->folder), 0, &ds, NULL, NULL, err));
  const gbt_status status = gbt_pages_pass(&s->ctx, ds->pages, look, NULL, err);
  gbt_dataset_unref(ds);
  return status;
}

static void folders_are_looked_at(void) {
  stage s;
  gbt_dataset *ds = NULL;
  stage_open(&s);
  CHECK_FAILS(gbt_disk_open(&s.ctx, one(s.folder), 0, &ds, NULL, NULL, test_err), GBT_E_IO, GBTI_DISK_INDEX);
  CHECK_FAILS(make(&s.ctx, "", &s.spec, 0, &ds, test_err), GBT_E_ARG, "is empty");
  CHECK_FAILS(make(&s.ctx, "/dev/null/x", &s.spec, 0, &ds, test_err), GBT_E_IO, "/dev/null/x");
  CHECK_FAILS(make(&s.ctx, in_folder(s.folder, "deeper"), &s.spec, 0, &ds, test_err), GBT_E_IO, "deeper");
  s.spec.max_bin = 1; /* a failure leaves no folder */
  CHECK_FAILS(make(&s.ctx, s.folder, &s.spec, 0, &ds, test_err), GBT_E_ARG, "max_bin");
  CHECK(!gbt_file_is_there(s.folder));
  s.spec.max_bin = 8;
  stage_make(&s);
  CHECK_FAILS(make(&s.ctx, s.folder, &s.spec, 0, &ds, test_err), GBT_E_IO, "already contains a data set");
  CHECK_OK(read_through(&s, test_err)); /* as it was */
  gbt_file_remove(in_folder(s.folder, pages_of(s.folder)));
  CHECK_FAILS(read_through(&s, test_err), GBT_E_IO, pages_of(s.folder));
  gbt_file_remove(in_folder(s.folder, GBTI_DISK_INDEX));
  CHECK(port_remove_folder(s.folder) == 0); /* nothing else was there */
  CHECK(port_make_folder(s.folder) == 0);
  stage_make(&s); /* a folder that was there, and empty, is taken */
  CHECK_OK(read_through(&s, test_err));
  remove_folder(s.folder);
  stage_close(&s);
}

/* Whether an open file that is removed has no name any more: where not, its folder cannot be removed. */
static int names_go_at_once(void) {
  const char *path = temp_folder();
  gbt_os_file file;
  if (!CHECK(gbt_os_open(path, GBT_OS_MAKE, 0666, &file) == 0)) return 0;
  CHECK(gbt_os_remove(path) == 0);
  const int gone = !gbt_file_is_there(path);
  CHECK(gbt_os_close(file) == 0 && !gbt_file_is_there(path));
  return gone;
}

/* Parts of a data set in several folders: which is missing, which is too much. */
static void parts_are_looked_for(void) {
  stage s;
  char name[4][512];
  const char *path[4], *some[4];
  gbt_dataset *ds = NULL;
  stage_open(&s);
  for (int k = 0; k < 4; k++) {
    snprintf(name[k], sizeof name[k], "%s", temp_folder());
    path[k] = name[k];
  }
  const gbt_folders all = {path, 3};
  REQUIRE_OK(make_in(&s.ctx, all, codec_of(0), &s.spec, 0, &ds, test_err));
  gbt_dataset_unref(ds);
  CHECK_FAILS(make_in(&s.ctx, all, GBT_CODEC_NONE, &s.spec, 0, &ds, test_err), GBT_E_IO, "already contains a data set");
  for (int k = 0; k < 3; k++) {
    char file[32];
    snprintf(file, sizeof file, "-%dof3.bin", k + 1);
    some[0] = name[(k + 1) % 3];
    some[1] = name[(k + 2) % 3];
    const gbt_folders two = {some, 2};
    CHECK_FAILS(gbt_disk_open(&s.ctx, two, 0, &ds, NULL, NULL, test_err), GBT_E_IO, k == 0 ? GBTI_DISK_INDEX : file);
  }
  CHECK(port_make_folder(name[3]) == 0);
  const gbt_folders four = {path, 4}, none = {path, 0}, twice = {some, 4};
  CHECK_FAILS(gbt_disk_open(&s.ctx, four, 0, &ds, NULL, NULL, test_err), GBT_E_ARG, "has no part of the data set");
  CHECK_FAILS(gbt_disk_open(&s.ctx, none, 0, &ds, NULL, NULL, test_err), GBT_E_ARG, "has 0 folders");
  for (int k = 0; k < 4; k++) some[k] = name[k % 3];
  CHECK_FAILS(gbt_disk_open(&s.ctx, twice, 0, &ds, NULL, NULL, test_err), GBT_E_ARG, "twice");
  REQUIRE_OK(make(&s.ctx, name[3], &s.spec, 0, &ds, test_err));
  gbt_dataset_unref(ds);
  CHECK_FAILS(gbt_disk_open(&s.ctx, four, 0, &ds, NULL, NULL, test_err), GBT_E_ARG, "two data sets");
  CHECK_OK(gbt_disk_open(&s.ctx, all, 0, &ds, NULL, NULL, test_err));
  if (names_go_at_once()) {
    remove_all(name, 4); /* with the data set open: files have lost their names alone */
    CHECK_OK(gbt_pages_pass(&s.ctx, ds->pages, look, NULL, test_err));
    gbt_dataset_unref(ds);
  } else {
    test_note("here the names of open files stay until they are closed");
    gbt_dataset_unref(ds);
    remove_all(name, 4);
  }
  stage_close(&s);
}

/* What this build lacks is reported when it is asked for, and when somebody else has used it. */
static void codecs_are_missed(void) {
  stage s;
  gbt_dataset *ds = NULL, *none = NULL;
  stage_open(&s);
  CHECK(gbt_codec_name(-1) == NULL && !gbt_codec_is_here(-1) && gbt_codec_is_here(GBT_CODEC_NONE));
  REQUIRE_OK(make(&s.ctx, s.folder, &s.spec, 0, &ds, test_err));
  const char *other = temp_folder();
  const int32_t n = gbt_pages_n_pages(ds->pages);
  for (int c = 1; gbt_codec_name(c) != NULL; c++) {
    gbti_page_record record[16];
    gbti_index index;
    uint8_t *bytes;
    size_t n_bytes;
    REQUIRE(n <= 16);
    memcpy(record, gbti_file_store_records(ds->pages), (size_t)n * sizeof *record);
    record[n - 1].codec = (uint64_t)c;
    REQUIRE_OK(gbti_index_write(&s.ctx.mem, ds, record, 1, 1, (gbti_note){NULL, 0}, &bytes, &n_bytes, test_err));
    const gbt_status status = gbti_index_read(&s.ctx, bytes, n_bytes, "there", &index, test_err);
    gbti_index_free(&s.ctx.mem, &index);
    gbt_mem_free(&s.ctx.mem, bytes);
    CHECK(status == (gbt_codec_is_here(c) ? GBT_OK : GBT_E_UNSUPPORTED));
    if (gbt_codec_is_here(c)) continue;
    CHECK(strstr(test_err->msg, gbt_codec_name(c)) != NULL && strstr(test_err->msg, "\"there\"") != NULL);
    CHECK_FAILS(make_in(&s.ctx, one(other), (gbt_codec)c, &s.spec, 0, &none, test_err), GBT_E_UNSUPPORTED,
                "which this build of gbt does not support");
    CHECK(!gbt_file_is_there(other));
  }
  gbt_dataset_unref(ds);
  remove_folder(s.folder);
  stage_close(&s);
}

/* Of two that write at once the second to finish is refused; the first one's data set stays as it is. */
static void two_writers(void) {
  stage s;
  gbt_disk_writer *w[2];
  gbt_dataset *ds[2] = {NULL, NULL};
  stage_open(&s);
  for (int i = 0; i < 2; i++) {
    gbt_dataset_spec spec = s.spec;
    REQUIRE_OK(gbt_disk_writer_new(&s.ctx, one(s.folder), GBT_CODEC_NONE, &w[i], test_err));
    spec.sink = gbt_disk_writer_sink(w[i], 0);
    REQUIRE_OK(gbt_dataset_make(&s.ctx, &spec, &ds[i], test_err));
  }
  CHECK_OK(gbt_disk_writer_finish(&s.ctx, w[1], ds[1], NULL, 0, test_err));
  CHECK_FAILS(gbt_disk_writer_finish(&s.ctx, w[0], ds[0], NULL, 0, test_err), GBT_E_IO, GBTI_DISK_INDEX);
  for (int i = 0; i < 2; i++) gbt_disk_writer_free(w[i]);
  same_datasets(ds[0], ds[1]); /* the one without a name has its pages even so */
  CHECK_OK(read_through(&s, test_err));
  for (int i = 0; i < 2; i++) gbt_dataset_unref(ds[i]);
  remove_folder(s.folder);
  stage_close(&s);
}

static void damage_is_found(void) {
  stage s;
  char path[2][600];
  test_rng rng = {77};
  stage_open(&s);
  stage_make(&s);
  snprintf(path[0], sizeof path[0], "%s", in_folder(s.folder, GBTI_DISK_INDEX));
  snprintf(path[1], sizeof path[1], "%s", in_folder(s.folder, pages_of(s.folder)));
  for (int i = 0; i < 2; i++) {
    size_t n;
    uint8_t *bytes = read_file(path[i], &n);
    for (int k = 0; k < 600; k++) {
      const size_t at = k < 300 && (size_t)k < n ? (size_t)k : (size_t)test_below(&rng, (int64_t)n);
      const uint8_t flip = (uint8_t)(1 + test_below(&rng, 255));
      bytes[at] ^= flip;
      write_file(path[i], bytes, n);
      const gbt_status status = read_through(&s, test_err);
      CHECK(status == GBT_E_FORMAT && strstr(test_err->msg, s.folder) != NULL);
      CHECK(test_err->subject[0] != 0);
      bytes[at] ^= flip;
    }
    for (size_t cut = 0; cut < n; cut += 1 + n / 97) {
      write_file(path[i], bytes, cut);
      CHECK_FAILS(read_through(&s, test_err), GBT_E_FORMAT, s.folder);
    }
    write_file(path[i], bytes, n);
    CHECK_OK(read_through(&s, test_err));
    free(bytes);
  }
  remove_folder(s.folder);
  stage_close(&s);
}

/* A page that is damaged after the data set was opened is reported when it is read, by number. */
static void a_page_goes_bad(void) {
  stage s;
  size_t n;
  gbt_dataset *ds = NULL;
  stage_open(&s);
  stage_make(&s);
  REQUIRE_OK(gbt_disk_open(&s.ctx, one(s.folder), 0, &ds, NULL, NULL, test_err));
  CHECK_OK(gbt_pages_pass(&s.ctx, ds->pages, look, NULL, test_err));
  const char *path = in_folder(s.folder, pages_of(s.folder));
  uint8_t *bytes = read_file(path, &n);
  bytes[n - 1] ^= 1;
  write_file(path, bytes, n);
  CHECK_FAILS(gbt_pages_pass(&s.ctx, ds->pages, look, NULL, test_err), GBT_E_FORMAT, "page 4");
  CHECK_FAILS(gbt_pages_each(&s.ctx, ds->pages, 1, look_at_run, NULL, test_err), GBT_E_FORMAT, "page 4");
  write_file(in_folder(s.folder, pages_of(s.folder)), bytes, 10);
  CHECK_FAILS(gbt_pages_pass(&s.ctx, ds->pages, look, NULL, test_err), GBT_E_IO, "cut short");
  write_file(in_folder(s.folder, pages_of(s.folder)), bytes, n - 1);
  free(bytes);
  gbt_dataset_unref(ds);
  remove_folder(s.folder);
  stage_close(&s);
}

#ifndef _WIN32 /* which has no limit of file sizes; test_disk_faults.c has a full disk */
/* No more room: whatever a write has got to, nothing of it is left. */
static void files_may_not_grow(void) {
  stage s;
  gbt_dataset *ds = NULL;
  struct rlimit before, limit;
  int n_failed = 0;
  stage_open(&s);
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  for (rlim_t most = 0; most < 40000; most += most < 100 ? 33 : 370) {
    limit = (struct rlimit){most, before.rlim_max};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const gbt_status status = make(&s.ctx, s.folder, &s.spec, 0, &ds, test_err);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    n_failed += status != GBT_OK;
    if (status == GBT_OK) break;
    CHECK(status == GBT_E_IO && strstr(test_err->msg, s.folder) != NULL && !gbt_file_is_there(s.folder));
  }
  CHECK(n_failed > 5);
  REQUIRE(ds != NULL);
  gbt_dataset_unref(ds);
  remove_folder(s.folder);
  stage_close(&s);
}
#endif

static gbt_status once(const gbt_mem *mem, void *arg, gbt_error *err) {
  stage *s = arg;
  char name[2][512];
  const char *const path[2] = {name[0], name[1]};
  const gbt_folders folders = {path, 2};
  gbt_ctx ctx;
  gbt_dataset *ds = NULL, *opened = NULL;
  uint8_t *note = NULL;
  size_t n_note = 0;
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err));
  for (int k = 0; k < 2; k++) snprintf(name[k], sizeof name[k], "%s", temp_folder());
  gbt_status status = make_in(&ctx, folders, codec_of(0), &s->spec, 300, &ds, err);
  if (status == GBT_OK) status = gbt_pages_pass(&ctx, ds->pages, look, NULL, err);
  if (status == GBT_OK) status = gbt_disk_open(&ctx, folders, 0, &opened, &note, &n_note, err);
  if (status == GBT_OK) status = gbt_pages_pass(&ctx, opened->pages, look, NULL, err);
  gbt_dataset_unref(ds);
  gbt_dataset_unref(opened);
  if (ds != NULL) remove_all(name, 2);
  for (int k = 0; k < 2; k++) CHECK(!gbt_file_is_there(name[k]));
  gbt_mem_free(mem, note);
  gbt_ctx_close(&ctx);
  return status;
}

static void allocations_fail(void) {
  stage s;
  stage_open(&s);
  CHECK(fault_sweep(once, &s) > 100);
  stage_close(&s);
}

void suite_disk(void) {
  RUN(data_sets_come_back);
  RUN(levels_come_back);
  RUN(pages_leave_as_they_fill);
  RUN(folders_are_looked_at);
  RUN(parts_are_looked_for);
  RUN(codecs_are_missed);
  RUN(two_writers);
  RUN(damage_is_found);
  RUN(a_page_goes_bad);
#ifndef _WIN32
  RUN(files_may_not_grow);
#endif
  RUN(allocations_fail);
}
