/* See mpi_start.h. MPI_Init cannot be cut off, so the process that waits in it too long must end. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "mpi_start.h"

#ifdef _WIN32

void gbt_mpi_watch(double seconds) { (void)seconds; }
void gbt_mpi_watch_end(void) {}
void gbt_mpi_fail_at_exit(void) {}

#else

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#ifndef GBT_NO_DLOPEN
#include <dlfcn.h>
#endif

#include "../gbt/base/clock.h"
#include "mpi_library.h"

static char text[256]; /* of the message: a handler of signals cannot make it */
static struct sigaction handler_before;
static struct itimerval timer_before; /* of the caller; zeros: none */
static int64_t begun_ns;
static int watches;

static void end_by_signal(void) {
  for (;;) (void)kill(getpid(), SIGKILL);
}

static void too_late(int number) {
  (void)number;
  if (write(STDERR_FILENO, text, strlen(text)) >= 0 || watches) end_by_signal();
}

void gbt_mpi_watch(double seconds) {
  static const struct itimerval none;
  struct itimerval limit = {.it_value = {.tv_usec = 0}};
  struct sigaction own;
  if (!(seconds > 0) || seconds >= (double)INT32_MAX) return;
  snprintf(text, sizeof text,
           "Error: this process has waited %g seconds for the other %d to start MPI (the `timeout` of gbt_ranks()); "
           "one of them hangs, has ended, or cannot open its MPI library\n",
           seconds, gbt_mpi_launched() - 1);
  memset(&own, 0, sizeof own);
  own.sa_handler = too_late;
  watches = 1;
  begun_ns = gbt_clock_ns();
  (void)setitimer(ITIMER_REAL, &none, &timer_before); /* first: the caller's alarm is not for the handler */
  (void)sigaction(SIGALRM, &own, &handler_before);
  limit.it_value.tv_sec = (time_t)seconds + 1;
  (void)setitimer(ITIMER_REAL, &limit, NULL);
}

/* The caller's alarm with the time that is left of it; at once if that is over. */
static struct itimerval rest_of_timer(void) {
  struct itimerval rest = timer_before;
  if (rest.it_value.tv_sec == 0 && rest.it_value.tv_usec == 0) return rest;
  const int64_t passed = (gbt_clock_ns() - begun_ns) / 1000;
  int64_t left = (int64_t)rest.it_value.tv_sec * 1000000 + (int64_t)rest.it_value.tv_usec - passed;
  if (left < 1) left = 1;
  rest.it_value.tv_sec = (time_t)(left / 1000000);
  rest.it_value.tv_usec = (suseconds_t)(left % 1000000);
  return rest;
}

void gbt_mpi_watch_end(void) {
  static const struct itimerval none;
  if (!watches) return;
  watches = 0;
  (void)setitimer(ITIMER_REAL, &none, NULL);
  (void)sigaction(SIGALRM, &handler_before, NULL);
  const struct itimerval rest = rest_of_timer();
  (void)setitimer(ITIMER_REAL, &rest, NULL);
}

#if defined(GBT_NO_DLOPEN) || !defined(RTLD_NODELETE)

void gbt_mpi_fail_at_exit(void) {}

#else

static pid_t of_exit; /* 0: gbt_mpi_fail_at_exit() was not called; a forked process is another one */

static void at_exit(int status, void *arg) {
  (void)arg;
  if (status == 0 || of_exit != getpid() || gbt_mpi_library_opened() != NULL) return;
  (void)fflush(NULL);
  end_by_signal();
}

void gbt_mpi_fail_at_exit(void) {
  int (*on_exit)(void (*)(int, void *), void *); /* of glibc: as atexit(), and knows the status */
  void *found = dlsym(RTLD_DEFAULT, "on_exit");
  Dl_info own;
  if (found == NULL || of_exit != 0 || gbt_mpi_launched() <= 1) return;
  if (dladdr((void *)text, &own) == 0 || dlopen(own.dli_fname, RTLD_NOW | RTLD_NODELETE) == NULL) return;
  memcpy(&on_exit, &found, sizeof found);
  if (on_exit(at_exit, NULL) == 0) of_exit = getpid();
}

#endif
#endif
