/* The limit of the time in which MPI starts: it leaves an alarm of the caller as it was. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/time.h>

#include "clock.h"
#include "test.h"

#include "../../src/mpi/mpi_start.c" /* without an MPI library, whose functions are here: */

int gbt_mpi_launched(void) { return 3; }
const gbt_mpi_library *gbt_mpi_library_opened(void) { return NULL; }

enum { TENTH_NS = 100000000 };

static volatile sig_atomic_t n_alarms;

static void count_alarm(int number) {
  (void)number;
  n_alarms++;
}

static int64_t us_of(const struct timeval *t) { return (int64_t)t->tv_sec * 1000000 + (int64_t)t->tv_usec; }

/* The timer after a watch with the caller's timer; every look at the clock takes a tenth of a second. */
static struct itimerval after_watch(double seconds, struct itimerval timer) {
  struct itimerval out;
  CHECK_EQ_I64(setitimer(ITIMER_REAL, &timer, NULL), 0);
  clock_jump(TENTH_NS);
  gbt_mpi_watch(seconds);
  gbt_mpi_watch_end();
  clock_jump(0);
  CHECK_EQ_I64(getitimer(ITIMER_REAL, &out), 0);
  return out;
}

static void leaves_the_alarm_of_the_caller(void) {
  const struct itimerval none = {{0, 0}, {0, 0}}, later = {{7, 0}, {50, 0}}, soon = {{0, 0}, {0, 50000}};
  const double limits[] = {1000, 3, 0, -1, 1e300};
  struct sigaction own = {.sa_handler = count_alarm}, now, suite;
  struct itimerval of_suite;
  CHECK_EQ_I64(setitimer(ITIMER_REAL, &none, &of_suite), 0);
  CHECK_EQ_I64(sigaction(SIGALRM, &own, &suite), 0);
  n_alarms = 0;
  for (int i = 0; i < 5; i++) {
    const struct itimerval rest = after_watch(limits[i], later);
    CHECK(us_of(&rest.it_value) <= (i < 2 ? 49900000 : 50000000)); /* the time that has passed is not given again */
    CHECK(us_of(&rest.it_value) > 40000000);
    CHECK_EQ_I64(us_of(&rest.it_interval), 7000000);
    const struct itimerval still = after_watch(limits[i], none);
    CHECK_EQ_I64(us_of(&still.it_value), 0);
    CHECK_EQ_I64(sigaction(SIGALRM, NULL, &now), 0);
    CHECK(now.sa_handler == count_alarm);
  }
  CHECK_EQ_I64(n_alarms, 0);
  (void)after_watch(1000, soon); /* it was due while MPI started */
  while (n_alarms == 0) continue;
  CHECK_EQ_I64(sigaction(SIGALRM, &suite, NULL), 0);
  CHECK_EQ_I64(setitimer(ITIMER_REAL, &of_suite, NULL), 0);
}

void suite_mpi_start(void) { RUN(leaves_the_alarm_of_the_caller); }
