/* See port.h; port_windows.c has the same for Windows. */
#define _DEFAULT_SOURCE
#include "port.h"
#ifndef _WIN32

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char port_where[256];

static double processor_of(int who) {
  struct rusage u;
  if (getrusage(who, &u) != 0) return 0.0;
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

double port_own_processor_s(void) { return processor_of(RUSAGE_SELF); }
double port_processor_s(void) { return processor_of(RUSAGE_SELF) + processor_of(RUSAGE_CHILDREN); }

void port_sleep_ns(int64_t ns) {
  const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
  nanosleep(&t, NULL);
}

static void (*alarm_fn)(void);
static void on_alarm(int sig) {
  (void)sig;
  alarm_fn();
}

void port_alarm(int seconds, void (*fn)(void)) {
  alarm_fn = fn;
  if (seconds > 0) signal(SIGALRM, on_alarm);
  alarm((unsigned)seconds);
}

void *port_aligned(size_t alignment, size_t bytes) {
  void *block;
  return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
}

void port_aligned_free(void *block) { free(block); }

void port_temp_path(char out[PORT_PATH], const char *what) {
  static _Atomic int number;
  const char *temp = getenv("TMPDIR");
  snprintf(out, PORT_PATH, "%s/gbt-%s-%d-%d", temp != NULL ? temp : "/tmp", what, (int)getpid(), number++);
}

int port_make_folder(const char *path) { return mkdir(path, 0777); }
int port_remove_folder(const char *path) { return rmdir(path); }
int port_make_pipe(const char *path) { return mkfifo(path, 0600) == 0; }
int port_make_link(const char *to, const char *path, int hard) {
  return (hard ? link(to, path) : symlink(to, path)) == 0;
}
void port_say(const char *text) {
  if (write(1, text, strlen(text)) < 0) _exit(2);
}
const char *port_nowhere(void) { return "/dev/null"; }

/* The bytes are kept in front. */
enum { HEAD = 64 };

void *port_shared_new(size_t bytes) {
  char *block = mmap(NULL, HEAD + bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return NULL;
  *(size_t *)(void *)block = HEAD + bytes;
  return block + HEAD;
}

void port_shared_free(void *shared) {
  char *block = (char *)shared - HEAD;
  munmap(block, *(size_t *)(void *)block);
}

int port_child_start(port_child *child, port_child_fn fn, const void *arg, size_t n_arg, void *shared) {
  (void)n_arg;
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) exit(fn(arg, shared)); /* not _exit: coverage and leaks are reported at the end */
  child->process = pid;
  return pid > 0;
}

int port_child_wait(port_child *child) {
  int ended = -1;
  return waitpid((pid_t)child->process, &ended, 0) == (pid_t)child->process ? ended : -1;
}

void port_child_kill(port_child *child) { kill((pid_t)child->process, SIGKILL); }

int port_status(int how) { return WIFEXITED(how) ? WEXITSTATUS(how) : -1; }

const char *port_ended(int how) {
  static char text[40];
  snprintf(text, sizeof text, "%s %d", WIFSIGNALED(how) ? "signal" : "status",
           WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
  return text;
}

intptr_t port_number_of(void (*fn)(void)) { return (intptr_t)fn; }
void (*port_function_of(intptr_t number))(void) { return (void (*)(void))number; }

int port_is_child(int argc, char **argv) { return (void)argc, (void)argv, 0; }
int port_be_child(char **argv) { return (void)argv, 2; }

int port_child_run(port_child_fn fn, const void *arg, size_t n_arg, void *shared) {
  port_child child;
  return port_child_start(&child, fn, arg, n_arg, shared) ? port_child_wait(&child) : -1;
}
#endif
