/* Which MPI library there is, for people who ask. A library that is only loaded does much already: it starts parts of
 * its own, handles signals, and prevents the use of another library that the process may want later. So a forked
 * process loads it, writes what it finds into a pipe, and ends without the exit handlers of this process. */
#if !defined(_WIN32) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700
#endif
#include "mpi.h"

#include <stdio.h>
#include <string.h>
#ifndef _WIN32
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "mpi_library.h"

enum { LIMIT_MS = 10000 }; /* for a library that hangs when it is loaded */

/* The bytes that go through the pipe. */
typedef struct answer {
  int status;
  gbt_mpi_found found;
  char message[640];
} answer;

static void describe(const gbt_mpi_library *m, int started, gbt_mpi_found *out) {
  memset(out, 0, sizeof *out);
  snprintf(out->version, sizeof out->version, "%s", m->version);
  snprintf(out->family, sizeof out->family, "%s", gbt_mpi_family_name(m->family));
  snprintf(out->file, sizeof out->file, "%s", m->file);
  out->started = started;
}

static answer look(void) {
  gbt_mpi_library m;
  gbt_error err = {0};
  answer a = {.status = (int)gbt_mpi_library_read(NULL, &m, &err)};
  if (a.status == GBT_OK)
    describe(&m, 0, &a.found);
  else
    snprintf(a.message, sizeof a.message, "%s", err.msg);
  return a;
}

#ifdef _WIN32

static answer look_apart(void) { return look(); } /* which loads nothing there */

#else

/* Reads an answer; 0 when there is none within the limit. */
static int receive(int from, answer *a) {
  size_t got = 0;
  while (got < sizeof *a) {
    struct pollfd one = {.fd = from, .events = POLLIN};
    const int ready = poll(&one, 1, LIMIT_MS);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return 0;
    const ssize_t n = read(from, (char *)a + got, sizeof *a - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    got += (size_t)n;
  }
  return 1;
}

static answer look_apart(void) {
  answer a = {.status = GBT_E_UNSUPPORTED, .message = "no process can be started that looks for an MPI library"};
  int ends[2];
  if (pipe(ends) != 0) return a;
  const pid_t child = fork();
  if (child == 0) {
    a = look();
    /* less than a pipe holds; where it fails the reader sees no answer */
    if (write(ends[1], &a, sizeof a) < 0) a.status = GBT_E_UNSUPPORTED;
    for (;;) (void)kill(getpid(), SIGKILL); /* packages may not call _exit(); this runs no exit handlers either */
  }
  close(ends[1]);
  if (child > 0) {
    if (!receive(ends[0], &a)) {
      a = (answer){.status = GBT_E_UNSUPPORTED, .message = "an MPI library crashes or hangs when it is opened"};
      (void)kill(child, SIGKILL);
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  }
  close(ends[0]);
  return a;
}

#endif

gbt_status gbt_mpi_look(gbt_mpi_found *out, gbt_error *err) {
  if (gbt_mpi_library_opened() != NULL) {
    describe(gbt_mpi_library_opened(), 1, out);
    return GBT_OK;
  }
  const answer a = look_apart();
  *out = a.found;
  if (a.status == GBT_OK) return GBT_OK;
  return gbt_fail(err, (gbt_status)a.status, "%s", a.message);
}
