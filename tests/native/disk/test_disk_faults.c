/* Data sets in folders while the disk fails, is full, is written to by others, or the writer is killed: each time an
 * error that names a file, with nothing left behind, or the right result. */
#include <stdatomic.h>
#include <stdio.h>

#include "../../src/gbt/base/checksum.h"
#include "../../src/gbt/base/file.h"
#include "../../src/gbt/disk/disk.h"
#include "../../src/gbt/disk/index.h"
#include "clock.h"
#include "io_fault.h"
#include "made.h"
#include "port.h"
#include "stores.h"

enum { MOST_FOLDERS = 3 };

typedef struct stage {
  made *m;
  gbt_dataset_spec spec;
  gbt_ctx ctx;
  char name[MOST_FOLDERS][512];
  const char *path[MOST_FOLDERS];
  uint64_t want; /* of all pages */
  store_kind before;
} stage;

static gbt_folders folders_of(const stage *s, int n) { return (gbt_folders){s->path, n}; }

/* Codecs of this build, in turn. */
static gbt_codec codec_of(int number) {
  static const gbt_codec all[] = {GBT_CODEC_ZSTD, GBT_CODEC_NONE, GBT_CODEC_LZ4};
  return gbt_codec_is_here((int)all[number % 3]) ? all[number % 3] : GBT_CODEC_NONE;
}

/* arg: a hash that goes on. */
static gbt_status sum_pages(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  uint64_t *sum = arg;
  (void)ctx, (void)err;
  for (int32_t p = 0; p < span->n_pages; p++) {
    const gbt_page *page = &span->page[p];
    *sum = gbt_mix64(*sum ^ gbt_checksum(page->strip[0], (uint64_t)page->n_rows * 4));
  }
  return GBT_OK;
}

/* Two passes. */
static gbt_status sum_of(gbt_ctx *ctx, gbt_dataset *ds, uint64_t *sum, gbt_error *err) {
  uint64_t first = 0;
  *sum = 0;
  GBT_TRY(gbt_pages_pass(ctx, ds->pages, sum_pages, &first, err));
  GBT_TRY(gbt_pages_pass(ctx, ds->pages, sum_pages, sum, err));
  CHECK(first == *sum);
  return GBT_OK;
}

static gbt_status write_to(stage *s, gbt_folders folders, gbt_codec codec, gbt_error *err) {
  gbt_dataset_spec own = s->spec;
  gbt_disk_writer *writer;
  gbt_dataset *ds = NULL;
  GBT_TRY(gbt_disk_writer_new(&s->ctx, folders, codec, &writer, err));
  own.sink = gbt_disk_writer_sink(writer, 0);
  gbt_status status = gbt_dataset_make(&s->ctx, &own, &ds, err);
  if (status == GBT_OK) status = gbt_disk_writer_finish(&s->ctx, writer, ds, "note", 4, err);
  gbt_dataset_unref(ds); /* closes its files before the writer removes them: their names may stay until then */
  gbt_disk_writer_free(writer);
  return status;
}

static gbt_status read_from(stage *s, gbt_folders folders, uint64_t *sum, gbt_error *err) {
  gbt_dataset *ds;
  GBT_TRY(gbt_disk_open(&s->ctx, folders, 0, &ds, NULL, NULL, err));
  const gbt_status status = sum_of(&s->ctx, ds, sum, err);
  gbt_dataset_unref(ds);
  return status;
}

/* The entries of a folder: how many are pages, an index, others. */
typedef struct entries {
  const char *folder;
  int remove;
  int n_pages, n_index, n_others;
  char pages[600]; /* path of the last one */
} entries;

static gbt_status look_at(void *arg, const char *name, gbt_error *err) {
  entries *e = arg;
  char path[600];
  uint64_t id;
  int32_t file, n_files;
  (void)err;
  if (name[0] == '.') return GBT_OK;
  snprintf(path, sizeof path, "%s/%s", e->folder, name);
  if (gbti_is_pages_name(name, &id, &file, &n_files)) {
    e->n_pages++;
    memcpy(e->pages, path, sizeof path);
  } else if (strcmp(name, GBTI_DISK_INDEX) == 0) {
    e->n_index++;
  } else {
    e->n_others++;
  }
  if (e->remove) gbt_file_remove(path);
  return GBT_OK;
}

static entries entries_of(const char *folder, int remove) {
  entries e = {.folder = folder, .remove = remove};
  CHECK_OK(gbt_folder_list(folder, look_at, &e, test_err));
  return e;
}

static void clear(const stage *s) {
  for (int k = 0; k < MOST_FOLDERS; k++) {
    (void)entries_of(s->name[k], 1);
    port_remove_folder(s->name[k]);
    CHECK(!gbt_file_is_there(s->name[k]));
  }
}

static void stage_open(stage *s) {
  static const made_kind kinds[] = {MADE_FEW, MADE_FACTOR, MADE_BELL, MADE_ZEROS};
  gbt_dataset *ds = NULL;
  s->before = stores_use(STORE_MEMORY);
  s->m = made_new(3, 1600, 4, kinds);
  s->spec = (gbt_dataset_spec){.table = &s->m->table, .max_bin = 255, .page_rows = 160};
  s->ctx = test_ctx(NULL, 1);
  for (int k = 0; k < MOST_FOLDERS; k++) {
    port_temp_path(s->name[k], "fault");
    s->path[k] = s->name[k];
  }
  REQUIRE_OK(gbt_dataset_make(&s->ctx, &s->spec, &ds, test_err));
  CHECK_OK(sum_of(&s->ctx, ds, &s->want, test_err));
  gbt_dataset_unref(ds);
}

static void stage_close(stage *s) {
  io_fault(IO_FINE, 0);
  clear(s);
  gbt_ctx_close(&s->ctx);
  made_free(s->m);
  stores_use(s->before);
}

/* A fault of a random kind at a random call, 520 times: in writing, and in reading. */
static void disks_fail(void) {
  stage s;
  test_rng rng = {17};
  int n_failed = 0, n_fine = 0;
  stage_open(&s);
  for (int i = 0; i < 520; i++) {
    const int n = 1 + i % MOST_FOLDERS;
    const gbt_codec codec = codec_of(i / 3);
    const io_kind kind = (io_kind)(1 + test_below(&rng, IO_KINDS - 1));
    uint64_t sum = 0;
    const int loud = kind == IO_ERROR || kind == IO_FULL || kind == IO_ENDS;
    io_fault(kind, 1 + test_below(&rng, 24));
    gbt_status status = write_to(&s, folders_of(&s, n), codec, test_err);
    io_fault(IO_FINE, 0);
    if (status != GBT_OK) {
      n_failed++;
      CHECK(loud && status == GBT_E_IO && strstr(test_err->msg, "gbt-fault-") != NULL && test_err->subject[0] != 0);
      for (int k = 0; k < n; k++) CHECK(!gbt_file_is_there(s.name[k])); /* as it was before */
      continue;
    }
    io_fault(kind, 1 + test_below(&rng, 24));
    status = read_from(&s, folders_of(&s, n), &sum, test_err);
    io_fault(IO_FINE, 0);
    if (status != GBT_OK) {
      n_failed++;
      CHECK(loud && status == GBT_E_IO && strstr(test_err->msg, "gbt-fault-") != NULL && test_err->subject[0] != 0);
    } else {
      n_fine++;
      CHECK(sum == s.want);
    }
    clear(&s);
  }
  CHECK(n_failed > 100 && n_fine > 100);
  stage_close(&s);
}

/* 1,000 times a byte of some file is another one, or the file ends there. */
static void bytes_go_bad(void) {
  stage s;
  test_rng rng = {5};
  stage_open(&s);
  for (int part = 0; part < 3; part++) {
    const gbt_folders folders = folders_of(&s, 1 + part);
    CHECK_OK(write_to(&s, folders, codec_of(part), test_err));
    for (int i = 0; i < 340; i++) {
      const entries e = entries_of(s.name[test_below(&rng, 1 + part)], 0);
      uint64_t sum = 0;
      uint8_t byte = 0;
      FILE *f = fopen(e.pages, "r+b");
      REQUIRE(f != NULL);
      fseek(f, 0, SEEK_END);
      const long at = (long)test_below(&rng, ftell(f));
      fseek(f, at, SEEK_SET);
      CHECK(fread(&byte, 1, 1, f) == 1);
      const uint8_t other = byte ^ (uint8_t)(1 + test_below(&rng, 255));
      fseek(f, at, SEEK_SET);
      CHECK(fwrite(&other, 1, 1, f) == 1);
      fflush(f);
      CHECK(read_from(&s, folders, &sum, test_err) == GBT_E_FORMAT);
      CHECK(strstr(test_err->msg, "page ") == test_err->msg && strstr(test_err->msg, e.pages) != NULL);
      fseek(f, at, SEEK_SET);
      CHECK(fwrite(&byte, 1, 1, f) == 1);
      fclose(f);
    }
    uint64_t sum = 0;
    CHECK_OK(read_from(&s, folders, &sum, test_err));
    CHECK(sum == s.want);
    clear(&s);
  }
  stage_close(&s);
}

/* One pass over pages of which every one is read; whether it has the right sum. */
static gbt_status pass_of(stage *s, gbt_dataset *ds, gbt_error *err) {
  uint64_t sum = 0;
  GBT_TRY(gbt_pages_pass(&s->ctx, ds->pages, sum_pages, &sum, err));
  CHECK(sum == s->want);
  return GBT_OK;
}

static void flip_byte(const char *path, long at) {
  FILE *f = fopen(path, "r+b");
  REQUIRE(f != NULL);
  fseek(f, at, SEEK_SET);
  const int byte = fgetc(f);
  fseek(f, at, SEEK_SET);
  CHECK(fputc(byte ^ 1, f) != EOF);
  fclose(f);
}

/* A page is checked once, and again when its file was changed: never trusted while that is too short ago to show. The
 * time of day is the test's, so that it does not matter how long a pass takes. */
static void pages_are_checked_once(void) {
  stage s;
  gbt_dataset *ds;
  uint64_t sum = 0;
  stage_open(&s);
  const gbt_folders folders = folders_of(&s, 2);
  CHECK_OK(write_to(&s, folders, GBT_CODEC_NONE, test_err));
  REQUIRE_OK(gbt_disk_open(&s.ctx, folders, 0, &ds, NULL, NULL, test_err));
  const entries e = entries_of(s.name[0], 0);
  clock_day(1); /* long before the file was written */
  CHECK_OK(pass_of(&s, ds, test_err));
  io_fault(IO_FLIP, 1);
  CHECK_FAILS(pass_of(&s, ds, test_err), GBT_E_FORMAT, "page 1 ");
  clock_day(INT32_MAX); /* long after it */
  io_fault(IO_FLIP, 1); /* the check before was too early to be trusted */
  CHECK_FAILS(pass_of(&s, ds, test_err), GBT_E_FORMAT, "page 1 ");
  io_fault(IO_FINE, 0);
  for (int i = 0; i < 2; i++) CHECK_OK(pass_of(&s, ds, test_err));
  io_fault(IO_FLIP, 1); /* the file is what it was, so nobody looks; but where its times do not tell */
  if (GBT_OS_TIMES_TELL)
    CHECK_OK(gbt_pages_pass(&s.ctx, ds->pages, sum_pages, &sum, test_err));
  else
    CHECK_FAILS(pass_of(&s, ds, test_err), GBT_E_FORMAT, "page 1 ");
  io_fault(IO_FINE, 0);
  clock_day(0);
  port_sleep_ns(2200000000);      /* until a change shows in the file's times */
  for (int i = 0; i < 200; i++) { /* several changes in a tick of the file system's clock */
    flip_byte(e.pages, 8);
    CHECK_FAILS(pass_of(&s, ds, test_err), GBT_E_FORMAT, "page 1 ");
    flip_byte(e.pages, 8);
    CHECK_OK(pass_of(&s, ds, test_err));
  }
  gbt_dataset_unref(ds);
  stage_close(&s);
}

/* Damage that a checksum does not see, as the record has it, too: unpacking tells, or gives other bins; nothing else.
 */
static void unpacking_is_guarded(void) {
  CHECK(gbt_codec_is_here(GBT_CODEC_NONE)); /* nothing to be unpacked */
  test_rng rng = {23};
  for (int c = 1; gbt_codec_name(c) != NULL; c++) {
    uint8_t raw[3000], packed[3000], back[3000];
    if (!gbt_codec_is_here(c)) continue;
    for (size_t k = 0; k < sizeof raw; k++) raw[k] = (uint8_t)(k / 40 % 7);
    const size_t n = gbti_codec_pack((gbt_codec)c, raw, sizeof raw, packed, sizeof raw - sizeof raw / 8);
    CHECK(n > 0 && n < sizeof raw / 8);
    CHECK(gbti_codec_unpack((gbt_codec)c, packed, n, back, sizeof raw) == 1 && memcmp(raw, back, sizeof raw) == 0);
    CHECK(gbti_codec_unpack((gbt_codec)c, packed, n, back, sizeof raw - 1) == 0);
    for (size_t cut = 0; cut < n; cut++) CHECK(gbti_codec_unpack((gbt_codec)c, packed, cut, back, sizeof raw) == 0);
    for (int i = 0; i < 1000; i++) {
      const size_t at = (size_t)test_below(&rng, (int64_t)n);
      const uint8_t flip = (uint8_t)(1 + test_below(&rng, 255));
      packed[at] ^= flip;
      (void)gbti_codec_unpack((gbt_codec)c, packed, n, back, sizeof raw); /* the address sanitizer looks on */
      packed[at] ^= flip;
    }
    for (size_t k = 0; k < sizeof raw; k++) raw[k] = (uint8_t)test_below(&rng, 256);
    CHECK(gbti_codec_pack((gbt_codec)c, raw, sizeof raw, packed, sizeof raw - sizeof raw / 8) == 0);
  }
}

/* What a process is to write, wherever its memory is. */
typedef struct writing {
  char name[MOST_FOLDERS][PORT_PATH];
  int n, number;
  int64_t late; /* the call that waits, so that the process can die in the middle of it; 0: none */
} writing;

static writing writing_of(const stage *s, int n, int number, int64_t late) {
  writing w = {.n = n, .number = number, .late = late};
  memcpy(w.name, s->name, sizeof w.name);
  return w;
}

/* shared: a flag that says that it has begun, or NULL. */
static int write_in_child(const void *arg, void *shared) {
  const writing *w = arg;
  stage s;
  gbt_error err = {0};
  stage_open(&s);
  for (int k = 0; k < MOST_FOLDERS; k++) s.path[k] = w->name[k];
  if (w->late > 0) io_fault(IO_LATE, w->late);
  if (shared != NULL) atomic_store((_Atomic int *)shared, 1);
  const gbt_status status = write_to(&s, folders_of(&s, w->n), codec_of(w->number), &err);
  stage_close(&s);
  return status == GBT_OK ? 0 : status == GBT_E_IO && strstr(err.msg, "gbt-fault-") != NULL ? 1 : 2;
}

/* The process that writes is killed at some moment: the next writer removes what it has left, and only that. */
static void writers_are_killed(void) {
  stage s;
  test_rng rng = {41};
  int n_left = 0;
  _Atomic int *begun = port_shared_new(sizeof *begun);
  REQUIRE(begun != NULL);
  stage_open(&s);
  for (int i = 0; i < 60 || (n_left == 0 && i < 600); i++) { /* until one was killed while it wrote */
    const int n = 1 + i % MOST_FOLDERS;
    const gbt_folders folders = folders_of(&s, n);
    const writing w = writing_of(&s, n, i, 1 + test_below(&rng, 20));
    uint64_t sum = 0;
    port_child child;
    atomic_store(begun, 0);
    REQUIRE(port_child_start(&child, write_in_child, &w, sizeof w, (void *)begun));
    while (!atomic_load(begun)) port_sleep_ns(100000);
    port_sleep_ns(test_below(&rng, 4000000));
    port_child_kill(&child);
    (void)port_child_wait(&child);
    const entries e = entries_of(s.name[0], 0);
    if (e.n_index == 0) {
      n_left += e.n_pages > 0;
      CHECK_OK(write_to(&s, folders, codec_of(i + 1), test_err));
    }
    CHECK_OK(read_from(&s, folders, &sum, test_err));
    CHECK(sum == s.want);
    for (int k = 0; k < n && e.n_index == 0; k++) {
      const entries now = entries_of(s.name[k], 0);
      CHECK(now.n_pages == 1 && now.n_index == (k == 0) && now.n_others == 0);
    }
    clear(&s);
  }
  CHECK(n_left > 0);
  stage_close(&s);
  port_shared_free((void *)begun);
}

/* Processes that write to the same folders at once: one has written, the others get an error. */
static void writers_race(void) {
  stage s;
  enum { WRITERS = 3 };
  stage_open(&s);
  for (int i = 0; i < (int)test_cases(40); i++) {
    const gbt_folders folders = folders_of(&s, 1 + i % 2);
    const writing own = writing_of(&s, folders.n, i, 0);
    port_child child[WRITERS];
    int n_won = 0;
    uint64_t sum = 0;
    for (int w = 0; w < WRITERS; w++) REQUIRE(port_child_start(&child[w], write_in_child, &own, sizeof own, NULL));
    for (int w = 0; w < WRITERS; w++) {
      const int status = port_status(port_child_wait(&child[w]));
      CHECK(status == 0 || status == 1);
      n_won += status == 0;
    }
    CHECK(n_won == 1);
    CHECK_OK(read_from(&s, folders, &sum, test_err));
    CHECK(sum == s.want);
    for (int k = 0; k < folders.n; k++) {
      const entries e = entries_of(s.name[k], 0);
      CHECK(e.n_pages == 1 && e.n_index == (k == 0) && e.n_others == 0);
    }
    clear(&s);
  }
  stage_close(&s);
}

void suite_disk_faults(void) {
  RUN(disks_fail);
  RUN(bytes_go_bad);
  RUN(pages_are_checked_once);
  RUN(unpacking_is_guarded);
  RUN(writers_are_killed);
  RUN(writers_race);
}
