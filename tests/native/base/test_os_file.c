/* Files as the system has them: names, offsets, locks, and what happens to open files. */
#include "../../src/gbt/base/os_file.h"

#include "port.h"
#include "test.h"

enum { MOST = 1200 };

static int put(const char *path, const char *text) {
  gbt_os_file file;
  size_t done = 0;
  if (!CHECK_EQ_I64(gbt_os_open(path, GBT_OS_MAKE, 0666, &file), 0)) return 0;
  CHECK_EQ_I64(gbt_os_write(file, 0, text, strlen(text), &done), 0);
  CHECK_EQ_U64(done, strlen(text));
  CHECK_EQ_I64(gbt_os_flush(file), 0);
  return CHECK_EQ_I64(gbt_os_close(file), 0);
}

static void check_text(gbt_os_file file, const char *text) {
  char got[100] = "";
  size_t done = 0;
  CHECK_EQ_I64(gbt_os_read(file, 0, got, sizeof got - 1, &done), 0);
  got[done] = '\0';
  CHECK_EQ_TEXT(got, text);
}

static void check_file(const char *path, const char *text) {
  gbt_os_file file;
  if (!CHECK_EQ_I64(gbt_os_open(path, GBT_OS_READ, 0, &file), 0)) return;
  check_text(file, text);
  CHECK_EQ_I64(gbt_os_close(file), 0);
}

typedef struct search {
  const char *name;
  int n_seen, n_found;
} search;

static int find_name(void *arg, const char *name) {
  search *s = arg;
  s->n_found += strcmp(name, s->name) == 0;
  s->n_seen++;
  return 0;
}

/* Names that are not ASCII, and paths longer than the 260 characters that Windows takes by itself. */
static void names_of_all_kinds(void) {
  static const char *const names[] = {"plain", "with space", "\xc3\xa4\xc3\xb6\xc3\xbc-\xe6\x97\xa5\xe6\x9c\xac",
                                      "\xf0\x9f\x8c\xb2.model"};
  char root[PORT_PATH], folder[MOST], path[MOST + 40], other[MOST + 40];
  gbt_os_info info;
  port_temp_path(root, "names");
  CHECK_EQ_I64(gbt_os_make_folder(root), 0);
  CHECK_EQ_I64(gbt_os_make_folder(root), GBT_OS_TAKEN);
  for (int deep = 0; deep < 2; deep++) {
    snprintf(folder, sizeof folder, "%s/%0*d", root, deep ? 220 : 1, 0);
    CHECK_EQ_I64(gbt_os_make_folder(folder), 0);
    if (deep) {
      snprintf(folder, sizeof folder, "%s/%0220d/%0100d", root, 0, 0);
      CHECK_EQ_I64(gbt_os_make_folder(folder), 0);
    }
    for (int i = 0; i < 4; i++) {
      search s = {names[i], 0, 0};
      snprintf(path, sizeof path, "%s/%s", folder, names[i]);
      snprintf(other, sizeof other, "%s/other", folder);
      CHECK_EQ_U64(gbt_os_folder_bytes(path), strlen(folder) + 1);
      if (!put(path, names[i])) continue;
      check_file(path, names[i]);
      CHECK_EQ_I64(gbt_os_list(folder, find_name, &s), 0);
      CHECK_EQ_I64(s.n_found, 1);
      CHECK(gbt_os_info_at(path, 0, &info) == 0 && info.kind == GBT_OS_IS_FILE && info.bytes == strlen(names[i]));
      CHECK_EQ_I64(gbt_os_name(path, other), 0);
      CHECK_EQ_I64(gbt_os_info_at(path, 0, &info), GBT_OS_MISSING);
      check_file(other, names[i]);
      CHECK_EQ_I64(gbt_os_remove(other), 0);
      CHECK_EQ_I64(gbt_os_remove(other), GBT_OS_MISSING);
    }
    CHECK_EQ_I64(gbt_os_remove_folder(folder), 0);
  }
  snprintf(folder, sizeof folder, "%s/%0220d", root, 0);
  CHECK_EQ_I64(gbt_os_remove_folder(folder), 0);
  CHECK_EQ_I64(gbt_os_remove_folder(root), 0);
  CHECK_EQ_I64(gbt_os_remove_folder(root), GBT_OS_MISSING);
}

/* Beyond 4 GiB, in a file that has nothing before, where the system can leave that out. */
static void offsets_have_64_bits(void) {
  const uint64_t far = ((uint64_t)1 << 32) + 12345;
  char path[PORT_PATH], got[4] = "";
  gbt_os_file file;
  gbt_os_info info;
  size_t done = 0;
  port_temp_path(path, "far");
  REQUIRE(gbt_os_open(path, GBT_OS_DRAFT, 0666, &file) == 0);
  const int code = gbt_os_write(file, far, "far", 3, &done);
  if (code == 0) {
    CHECK(gbt_os_info_of(file, &info) == 0 && info.bytes == far + 3);
    CHECK(gbt_os_info_at(path, 0, &info) == 0 && info.bytes == far + 3);
    CHECK(gbt_os_read(file, far, got, 3, &done) == 0 && done == 3);
    CHECK_EQ_TEXT(got, "far");
    CHECK(gbt_os_read(file, far + 3, got, 3, &done) == 0 && done == 0);
    CHECK(gbt_os_empty(file) == 0 && gbt_os_info_of(file, &info) == 0 && info.bytes == 0);
  } else {
    test_note("no file of 4 GiB fits here");
  }
  CHECK_EQ_I64(gbt_os_close(file), 0);
  CHECK_EQ_I64(gbt_os_remove(path), 0);
}

/* A file that is replaced or removed while it is open stays readable as it was. */
static void open_files_may_go(void) {
  char path[PORT_PATH], other[PORT_PATH];
  gbt_os_file file;
  gbt_os_info info;
  port_temp_path(path, "open");
  port_temp_path(other, "open");
  if (!put(path, "old") || !put(other, "new")) return;
  REQUIRE(gbt_os_open(path, GBT_OS_READ, 0, &file) == 0);
  CHECK_EQ_I64(gbt_os_name(other, path), GBT_OS_TAKEN);
  check_file(other, "new");
  const int code = gbt_os_replace(other, path);
  check_text(file, "old");
  if (code != 0) { /* Windows before 10, wine and FAT: then all is as it was */
    CHECK(!PORT_FORKS && gbt_os_is_denied(code));
    test_note("here no file is replaced while it is open");
    check_file(path, "old");
  }
  CHECK_EQ_I64(gbt_os_is_at(file, path), code != 0); /* the name is another file's */
  CHECK_EQ_I64(gbt_os_close(file), 0);
  if (code != 0) CHECK_EQ_I64(gbt_os_replace(other, path), 0);
  check_file(path, "new");
  REQUIRE(gbt_os_open(path, GBT_OS_READ, 0, &file) == 0);
  CHECK(gbt_os_info_of(file, &info) == 0 && info.n_names == 1 && gbt_os_is_at(file, path));
  CHECK_EQ_I64(gbt_os_remove(path), 0);
  if (PORT_FORKS) CHECK(gbt_os_info_of(file, &info) == 0 && info.n_names == 0 && !gbt_os_is_at(file, path));
  check_text(file, "new");
  CHECK_EQ_I64(gbt_os_close(file), 0);
  CHECK_EQ_I64(gbt_os_remove(path), GBT_OS_MISSING);
}

/* Whether a child gets the lock: its status is 2 when not. */
static int lock_in_child(const void *arg, void *shared) {
  gbt_os_file file;
  (void)shared;
  if (gbt_os_open(arg, GBT_OS_CLAIM, 0, &file) != 0) return 3;
  const int locked = gbt_os_lock(file);
  (void)gbt_os_close(file);
  return locked == 1 ? 0 : locked == 0 ? 2 : 4;
}

/* A lock lasts until the file, and each other one for it, is closed; who has none can read. */
static void locks_are_for_one_process(void) {
  char path[PORT_PATH];
  gbt_os_file file, again;
  port_temp_path(path, "lock");
  if (!put(path, "locked")) return;
  REQUIRE(gbt_os_open(path, GBT_OS_DRAFT, 0666, &file) == 0);
  if (gbt_os_lock(file) == 1) {
    check_file(path, "locked");
    CHECK_EQ_I64(port_status(port_child_run(lock_in_child, path, sizeof path, NULL)), 2);
    CHECK_EQ_I64(gbt_os_again(file, &again), 0);
    CHECK_EQ_I64(gbt_os_close(file), 0);
    CHECK_EQ_I64(port_status(port_child_run(lock_in_child, path, sizeof path, NULL)), 2);
    CHECK_EQ_I64(gbt_os_close(again), 0);
    CHECK_EQ_I64(port_status(port_child_run(lock_in_child, path, sizeof path, NULL)), 0);
  } else {
    test_note("there are no locks here");
    CHECK_EQ_I64(gbt_os_close(file), 0);
  }
  CHECK_EQ_I64(gbt_os_remove(path), 0);
}

/* Reasons have texts, also those that nobody knows. */
static void reasons_are_told(void) {
  static const int codes[] = {GBT_OS_MISSING, GBT_OS_TAKEN, GBT_OS_TOO_LONG, 987654};
  char why[160], short_one[8], long_path[20000];
  gbt_os_file file;
  for (int i = 0; i < 4; i++) {
    gbt_os_why(codes[i], why, sizeof why);
    CHECK(strlen(why) > 3 && strchr(why, '\n') == NULL);
  }
  gbt_os_why(987654, short_one, sizeof short_one);
  CHECK(strlen(short_one) < sizeof short_one);
  memset(long_path, 'x', sizeof long_path - 1);
  long_path[sizeof long_path - 1] = '\0';
  CHECK_EQ_I64(gbt_os_open(long_path, GBT_OS_READ, 0, &file), GBT_OS_TOO_LONG);
  CHECK_EQ_I64(gbt_os_open("", GBT_OS_READ, 0, &file), GBT_OS_MISSING);
}

void suite_os_file(void) {
  RUN(names_of_all_kinds);
  RUN(offsets_have_64_bits);
  RUN(open_files_may_go);
  RUN(locks_are_for_one_process);
  RUN(reasons_are_told);
}
