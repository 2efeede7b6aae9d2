#include "os_file.h"

#ifdef _WIN32
#include <stdio.h>
#include <string.h>
#include <windows.h>

enum { MOST_AT_ONCE = 1 << 30, MOST_PATH = 4200 /* wide characters */, SHORT_PATH = 240 };

/* Newer than some headers: of Windows 10, where the disk's file system has them. */
enum { DISPOSITION_EX = 21, RENAME_EX = 22, DELETE_AS_POSIX = 0x1 | 0x2 | 0x10, REPLACE_AS_POSIX = 0x1 | 0x2 };

/* One number for what is one reason to callers. */
static int code_of(DWORD code) {
  switch (code) {
  case ERROR_ALREADY_EXISTS:
    return GBT_OS_TAKEN;
  case ERROR_PATH_NOT_FOUND:
    return GBT_OS_MISSING;
  case ERROR_HANDLE_DISK_FULL:
    return ERROR_DISK_FULL;
  default:
    return code == 0 ? ERROR_GEN_FAILURE : (int)code;
  }
}

static int last_code(void) { return code_of(GetLastError()); }
static int outcome(BOOL done) { return done ? 0 : last_code(); }

int gbt_os_is_denied(int code) { return code == ERROR_ACCESS_DENIED || code == ERROR_WRITE_PROTECT; }

void gbt_os_why(int code, char *out, size_t size) {
  WCHAR text[256];
  const DWORD how = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK;
  const DWORD n = FormatMessageW(how, NULL, (DWORD)code, 0, text, 256, NULL);
  int got = n == 0 ? 0 : WideCharToMultiByte(CP_UTF8, 0, text, (int)n, out, (int)size - 1, NULL, NULL);
  while (got > 0 && (out[got - 1] == ' ' || out[got - 1] == '.')) got--;
  out[got] = '\0';
  if (got == 0) snprintf(out, size, "error %d", code);
}

/* A path for the system: longer ones than it takes by itself are whole ones with a mark in front. */
static int wide_path(const char *path, WCHAR out[MOST_PATH]) {
  WCHAR whole[MOST_PATH];
  const int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, MOST_PATH);
  if (n == 0) return GetLastError() == ERROR_INSUFFICIENT_BUFFER ? GBT_OS_TOO_LONG : ERROR_INVALID_NAME;
  if (n < SHORT_PATH || wcsncmp(out, L"\\\\?\\", 4) == 0) return 0;
  const DWORD m = GetFullPathNameW(out, MOST_PATH, whole, NULL);
  if (m == 0) return last_code();
  if (m + 8 >= MOST_PATH) return GBT_OS_TOO_LONG;
  const int of_network = wcsncmp(whole, L"\\\\", 2) == 0;
  wcscpy(out, of_network ? L"\\\\?\\UNC" : L"\\\\?\\");
  wcscat(out, whole + of_network);
  return 0;
}

static HANDLE handle_of(gbt_os_file file) { return (HANDLE)file; }
static const DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

static int open_wide(const WCHAR *path, DWORD access, DWORD making, DWORD flags, gbt_os_file *out) {
  *out = (gbt_os_file)CreateFileW(path, access, shared, NULL, making, FILE_ATTRIBUTE_NORMAL | flags, NULL);
  return *out == GBT_OS_NONE ? last_code() : 0;
}

int gbt_os_open(const char *path, gbt_os_how how, uint32_t bits, gbt_os_file *out) {
  static const struct {
    DWORD access, making, flags;
  } ways[] = {{GENERIC_READ, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS /* folders, too */},
              {GENERIC_WRITE, CREATE_NEW, 0},
              {GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS, FILE_FLAG_OPEN_REPARSE_POINT},
              {GENERIC_WRITE, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT}};
  WCHAR wide[MOST_PATH];
  const int code = wide_path(path, wide);
  (void)bits;
  *out = GBT_OS_NONE;
  return code != 0 ? code : open_wide(wide, ways[how].access, ways[how].making, ways[how].flags, out);
}

int gbt_os_again(gbt_os_file file, gbt_os_file *out) {
  HANDLE other;
  const HANDLE own = GetCurrentProcess();
  *out = GBT_OS_NONE;
  if (!DuplicateHandle(own, handle_of(file), own, &other, 0, FALSE, DUPLICATE_SAME_ACCESS)) return last_code();
  *out = (gbt_os_file)other;
  return 0;
}

int gbt_os_close(gbt_os_file file) { return outcome(CloseHandle(handle_of(file))); }

int gbt_os_read(gbt_os_file file, uint64_t at, void *out, size_t n, size_t *done) {
  OVERLAPPED where = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
  DWORD got = 0;
  const BOOL ok = ReadFile(handle_of(file), out, (DWORD)(n < MOST_AT_ONCE ? n : MOST_AT_ONCE), &got, &where);
  *done = ok ? got : 0;
  return ok || GetLastError() == ERROR_HANDLE_EOF ? 0 : last_code();
}

int gbt_os_write(gbt_os_file file, uint64_t at, const void *bytes, size_t n, size_t *done) {
  OVERLAPPED where = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
  DWORD put = 0;
  const BOOL ok = WriteFile(handle_of(file), bytes, (DWORD)(n < MOST_AT_ONCE ? n : MOST_AT_ONCE), &put, &where);
  *done = ok ? put : 0;
  return !ok ? last_code() : put == 0 && n > 0 ? ERROR_DISK_FULL : 0;
}

int gbt_os_empty(gbt_os_file file) {
  const LARGE_INTEGER begin = {.QuadPart = 0};
  return outcome(SetFilePointerEx(handle_of(file), begin, NULL, FILE_BEGIN) && SetEndOfFile(handle_of(file)));
}

int gbt_os_flush(gbt_os_file file) {
  const int code = outcome(FlushFileBuffers(handle_of(file)));
  return code == ERROR_INVALID_FUNCTION || code == ERROR_NOT_SUPPORTED ? 0 : code;
}

/* Names are written through when they are given. */
int gbt_os_flush_folder_of(const char *path) { return (void)path, 0; }
void gbt_os_read_ahead(gbt_os_file file, uint64_t at, uint64_t n) { (void)file, (void)at, (void)n; }

/* Of a byte that no file has, as nobody else could read a byte that is locked. */
int gbt_os_lock(gbt_os_file file) {
  OVERLAPPED where = {.Offset = 0xfffffffe, .OffsetHigh = 0x7fffffff};
  if (LockFileEx(handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &where)) return 1;
  return GetLastError() == ERROR_LOCK_VIOLATION || GetLastError() == ERROR_IO_PENDING ? 0 : -1;
}

void gbt_os_set_bits(gbt_os_file file, uint32_t bits) { (void)file, (void)bits; }

/* Not by GetFileInformationByHandle(), which asks for the volume as well: by wine that is a call of another process,
 * over a network one of another machine. */
int gbt_os_info_of(gbt_os_file file, gbt_os_info *out) {
  FILE_BASIC_INFO basic;
  FILE_STANDARD_INFO standard;
  const DWORD other = FILE_ATTRIBUTE_DEVICE | FILE_ATTRIBUTE_REPARSE_POINT;
  memset(out, 0, sizeof *out);
  out->kind = GBT_OS_IS_OTHER;
  if (GetFileType(handle_of(file)) != FILE_TYPE_DISK) return 0;
  if (!GetFileInformationByHandleEx(handle_of(file), FileBasicInfo, &basic, sizeof basic) ||
      !GetFileInformationByHandleEx(handle_of(file), FileStandardInfo, &standard, sizeof standard))
    return last_code();
  const DWORD is = basic.FileAttributes;
  out->kind = is & FILE_ATTRIBUTE_DIRECTORY ? GBT_OS_IS_FOLDER : is & other ? GBT_OS_IS_OTHER : GBT_OS_IS_FILE;
  out->bits = is & FILE_ATTRIBUTE_READONLY ? 0444 : 0666;
  out->bytes = (uint64_t)standard.EndOfFile.QuadPart;
  out->n_names = standard.DeletePending ? 0 : standard.NumberOfLinks;
  out->written = out->changed = 100 * (uint64_t)basic.LastWriteTime.QuadPart; /* it counts 100 ns */
  return 0;
}

/* To ask what is there, not to read it. */
static int open_to_ask(const char *path, DWORD flags, gbt_os_file *out) {
  WCHAR wide[MOST_PATH];
  const int code = wide_path(path, wide);
  if (code != 0) return code;
  return open_wide(wide, FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags, out);
}

int gbt_os_info_at(const char *path, int of_link, gbt_os_info *out) {
  gbt_os_file file;
  int code = open_to_ask(path, of_link ? FILE_FLAG_OPEN_REPARSE_POINT : 0, &file);
  if (code != 0) return code;
  code = gbt_os_info_of(file, out);
  (void)gbt_os_close(file);
  return code;
}

int gbt_os_is_at(gbt_os_file file, const char *path) {
  BY_HANDLE_FILE_INFORMATION its, named;
  gbt_os_file other;
  if (open_to_ask(path, 0, &other) != 0) return 0;
  const int same = GetFileInformationByHandle(handle_of(file), &its) &&
                   GetFileInformationByHandle(handle_of(other), &named) &&
                   its.dwVolumeSerialNumber == named.dwVolumeSerialNumber &&
                   its.nFileIndexHigh == named.nFileIndexHigh && its.nFileIndexLow == named.nFileIndexLow;
  (void)gbt_os_close(other);
  return same;
}

int gbt_os_may_write(const char *path) {
  WCHAR wide[MOST_PATH];
  if (wide_path(path, wide) != 0) return 0;
  const DWORD is = GetFileAttributesW(wide);
  return is != INVALID_FILE_ATTRIBUTES && (is & FILE_ATTRIBUTE_READONLY) == 0;
}

int gbt_os_read_link(const char *path, char *out, size_t size, int *is_link) {
  (void)path, (void)out, (void)size;
  *is_link = 0;
  return 0;
}

/* Programs that look at every new file (against viruses, for searches) hold it for a moment. */
static int is_held(int code) { return code == ERROR_SHARING_VIOLATION || code == ERROR_ACCESS_DENIED; }
enum { TRIES = 9 /* half a second in all */ };

/* In the way of POSIX: the name is free at once, also while a program has the file open. */
static int set_as_posix(const WCHAR *path, int what, void *how, DWORD n) {
  gbt_os_file file;
  const DWORD flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
  int code = open_wide(path, DELETE | SYNCHRONIZE, OPEN_EXISTING, flags, &file);
  if (code != 0) return code;
  code = outcome(SetFileInformationByHandle(handle_of(file), (FILE_INFO_BY_HANDLE_CLASS)what, how, n));
  (void)gbt_os_close(file);
  return code;
}

typedef struct new_name {
  DWORD flags;
  HANDLE folder;
  DWORD bytes;
  WCHAR name[MOST_PATH];
} new_name;

static int rename_as_posix(const WCHAR *from, const WCHAR *to) {
  new_name how = {.flags = REPLACE_AS_POSIX};
  how.bytes = (DWORD)(wcslen(to) * sizeof *to);
  wcscpy(how.name, to);
  return set_as_posix(from, RENAME_EX, &how, sizeof how);
}

static int move(const char *from, const char *to, DWORD how) {
  WCHAR wide_from[MOST_PATH], wide_to[MOST_PATH];
  int code = wide_path(from, wide_from);
  if (code == 0) code = wide_path(to, wide_to);
  for (int i = 0; code == 0; i++) {
    if (MoveFileExW(wide_from, wide_to, how | MOVEFILE_WRITE_THROUGH)) return 0;
    const int why = last_code();
    if (!is_held(why) || i == TRIES) return why;
    if ((how & MOVEFILE_REPLACE_EXISTING) != 0 && rename_as_posix(wide_from, wide_to) == 0) return 0;
    Sleep(1u << i);
  }
  return code;
}

int gbt_os_replace(const char *from, const char *to) { return move(from, to, MOVEFILE_REPLACE_EXISTING); }
int gbt_os_name(const char *from, const char *to) { return move(from, to, 0); }

int gbt_os_remove(const char *path) {
  WCHAR wide[MOST_PATH];
  DWORD how = DELETE_AS_POSIX;
  int code = wide_path(path, wide);
  for (int i = 0; code == 0; i++) {
    const DWORD is = GetFileAttributesW(wide);
    if (is != INVALID_FILE_ATTRIBUTES && (is & FILE_ATTRIBUTE_DIRECTORY) != 0) return ERROR_ACCESS_DENIED;
    if (set_as_posix(wide, DISPOSITION_EX, &how, sizeof how) == 0 || DeleteFileW(wide)) return 0;
    const int why = last_code();
    if (!is_held(why) || i == TRIES) return why;
    Sleep(1u << i);
  }
  return code;
}

int gbt_os_make_folder(const char *path) {
  WCHAR wide[MOST_PATH];
  const int code = wide_path(path, wide);
  return code != 0 ? code : outcome(CreateDirectoryW(wide, NULL));
}

int gbt_os_remove_folder(const char *path) {
  WCHAR wide[MOST_PATH];
  const int code = wide_path(path, wide);
  return code != 0 ? code : outcome(RemoveDirectoryW(wide));
}

int gbt_os_list(const char *path, int (*fn)(void *arg, const char *name), void *arg) {
  WCHAR wide[MOST_PATH];
  WIN32_FIND_DATAW entry;
  char name[4 * MAX_PATH];
  const int code = wide_path(path, wide);
  if (code != 0) return code;
  if (wcslen(wide) + 3 > MOST_PATH) return GBT_OS_TOO_LONG;
  wcscat(wide, L"\\*");
  const HANDLE found = FindFirstFileW(wide, &entry);
  if (found == INVALID_HANDLE_VALUE) return last_code();
  int stop = 0;
  do {
    if (WideCharToMultiByte(CP_UTF8, 0, entry.cFileName, -1, name, sizeof name, NULL, NULL) > 0) stop = fn(arg, name);
  } while (!stop && FindNextFileW(found, &entry));
  (void)FindClose(found);
  return 0;
}

size_t gbt_os_folder_bytes(const char *path) {
  size_t n = strlen(path);
  while (n > 0 && path[n - 1] != '/' && path[n - 1] != '\\' && path[n - 1] != ':') n--;
  return n;
}
#endif
