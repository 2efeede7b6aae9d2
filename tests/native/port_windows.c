/* See port.h. A child is this program begun with: --child WHERE FUNCTION ARGUMENT SHARED BYTES. */
#include "port.h"
#ifdef _WIN32

#include <direct.h>
#include <io.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0601
#endif
#include <windows.h>

char port_where[256];

static double seconds_of(FILETIME t) {
  return 1e-7 * (double)(((uint64_t)t.dwHighDateTime << 32) + (uint64_t)t.dwLowDateTime);
}

double port_own_processor_s(void) {
  FILETIME begun, ended, system, user;
  if (!GetProcessTimes(GetCurrentProcess(), &begun, &ended, &system, &user)) return 0.0;
  return seconds_of(system) + seconds_of(user);
}

double port_processor_s(void) { return port_own_processor_s(); }

void port_sleep_ns(int64_t ns) { Sleep((DWORD)((ns + 999999) / 1000000)); }

static void (*alarm_fn)(void);
static HANDLE timer;
static void CALLBACK on_alarm(void *unused, BOOLEAN fired) {
  (void)unused, (void)fired;
  alarm_fn();
}

void port_alarm(int seconds, void (*fn)(void)) {
  if (timer != NULL) DeleteTimerQueueTimer(NULL, timer, NULL);
  timer = NULL;
  alarm_fn = fn;
  if (seconds > 0) CreateTimerQueueTimer(&timer, NULL, on_alarm, NULL, (DWORD)seconds * 1000, 0, WT_EXECUTEONLYONCE);
}

void *port_aligned(size_t alignment, size_t bytes) { return _aligned_malloc(bytes, alignment); }
void port_aligned_free(void *block) { _aligned_free(block); }

static uint64_t begun_at(void) {
  FILETIME begun = {0}, ended, system, user;
  (void)GetProcessTimes(GetCurrentProcess(), &begun, &ended, &system, &user);
  return ((uint64_t)begun.dwHighDateTime << 32) + begun.dwLowDateTime;
}

void port_temp_path(char out[PORT_PATH], const char *what) {
  static _Atomic int number;
  char temp[MAX_PATH + 1] = ".";
  const char *wish = getenv("GBT_TEST_TEMP"); /* wine itself takes TMPDIR */
  DWORD n = GetTempPathA(sizeof temp, temp);
  if (n > 0 && n < sizeof temp && (temp[n - 1] == '\\' || temp[n - 1] == '/')) temp[n - 1] = '\0';
  /* numbers of processes come again soon, and a run that was killed has left something */
  snprintf(out, PORT_PATH, "%s/gbt-%s-%d-%llx-%d", wish != NULL ? wish : temp, what, (int)GetCurrentProcessId(),
           (unsigned long long)begun_at(), number++);
}

int port_make_folder(const char *path) { return _mkdir(path); }
int port_remove_folder(const char *path) { return _rmdir(path); }
int port_make_pipe(const char *path) { return (void)path, 0; }
int port_make_link(const char *to, const char *path, int hard) {
  const int made = hard ? CreateHardLinkA(path, to, NULL) != 0 : CreateSymbolicLinkA(path, to, 0) != 0;
  return made && GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES; /* wine has made none, and says that it has */
}
void port_say(const char *text) { (void)_write(1, text, (unsigned)strlen(text)); }
const char *port_nowhere(void) { return "NUL"; }

static HANDLE mapping;
static char mapping_name[64] = "-";
static size_t mapping_bytes;

void *port_shared_new(size_t bytes) {
  static int number;
  snprintf(mapping_name, sizeof mapping_name, "Local\\gbt-test-%d-%d", (int)GetCurrentProcessId(), number++);
  mapping = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, (DWORD)bytes, mapping_name);
  mapping_bytes = bytes;
  return mapping != NULL ? MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, bytes) : NULL;
}

void port_shared_free(void *shared) {
  UnmapViewOfFile(shared);
  CloseHandle(mapping);
  strcpy(mapping_name, "-");
}

/* Every process of a program may have it at another place. */
intptr_t port_number_of(void (*fn)(void)) { return (intptr_t)fn - (intptr_t)port_child_run; }
void (*port_function_of(intptr_t number))(void) { return (void (*)(void))(number + (intptr_t)port_child_run); }

int port_child_start(port_child *child, port_child_fn fn, const void *arg, size_t n_arg, void *shared) {
  enum { MOST = 12000 };
  char program[MAX_PATH + 1], *line = malloc(2 * MOST + 1024);
  STARTUPINFOA how = {.cb = sizeof how};
  PROCESS_INFORMATION made = {0};
  if (line == NULL || n_arg > MOST || GetModuleFileNameA(NULL, program, sizeof program) == 0) return free(line), 0;
  int at = snprintf(line, 1024, "\"%s\" --child %s %lld ", program, port_where[0] != 0 ? port_where : "-",
                    (long long)port_number_of((void (*)(void))fn));
  for (size_t i = 0; i < n_arg; i++) at += snprintf(line + at, 3, "%02x", ((const unsigned char *)arg)[i]);
  snprintf(line + at, 128, "- %s %llu", shared != NULL ? mapping_name : "-", (unsigned long long)mapping_bytes);
  fflush(NULL);
  const int begun = CreateProcessA(program, line, NULL, NULL, TRUE, 0, NULL, NULL, &how, &made) != 0;
  free(line);
  if (!begun) return 0;
  CloseHandle(made.hThread);
  child->process = (intptr_t)made.hProcess;
  return 1;
}

int port_child_wait(port_child *child) {
  DWORD code = (DWORD)-1;
  const HANDLE process = (HANDLE)child->process;
  if (WaitForSingleObject(process, INFINITE) != WAIT_OBJECT_0 || !GetExitCodeProcess(process, &code)) code = (DWORD)-1;
  CloseHandle(process);
  return (int)code;
}

void port_child_kill(port_child *child) { TerminateProcess((HANDLE)child->process, 0xdead); }

int port_status(int how) { return how >= 0 && how < 256 ? how : -1; }

const char *port_ended(int how) {
  static char text[40];
  snprintf(text, sizeof text, port_status(how) >= 0 ? "status %d" : "exception %#x", (unsigned)how);
  return text;
}

int port_is_child(int argc, char **argv) { return argc == 7 && strcmp(argv[1], "--child") == 0; }

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

int port_be_child(char **argv) {
  const size_t n = strlen(argv[4]) / 2;
  unsigned char *arg = malloc(n + 1);
  void *shared = NULL;
  snprintf(port_where, sizeof port_where, "%s", argv[2]);
  if (arg == NULL) return 2;
  for (size_t i = 0; i < n; i++) arg[i] = (unsigned char)(16 * digit(argv[4][2 * i]) + digit(argv[4][2 * i + 1]));
  if (strcmp(argv[5], "-") != 0) {
    const HANDLE its = OpenFileMappingA(FILE_MAP_ALL_ACCESS, FALSE, argv[5]);
    if (its == NULL) return 2;
    shared = MapViewOfFile(its, FILE_MAP_ALL_ACCESS, 0, 0, (size_t)strtoull(argv[6], NULL, 10));
    if (shared == NULL) return 2;
  }
  const int status = ((port_child_fn)port_function_of((intptr_t)strtoll(argv[3], NULL, 10)))(arg, shared);
  free(arg);
  return status;
}

int port_child_run(port_child_fn fn, const void *arg, size_t n_arg, void *shared) {
  port_child child;
  return port_child_start(&child, fn, arg, n_arg, shared) ? port_child_wait(&child) : -1;
}
#endif
