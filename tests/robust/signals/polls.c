/* How long is it, at most, from one look at Ctrl-C to the next? R's look (R_CheckUserInterrupt) calls R_PolledEvents,
 * and so does the engine's poll, which is one of R's. A function of ours goes there and keeps the longest time between
 * two calls: of the CPU, for this thread, so that a loaded machine does not show. */
#include <Rinternals.h>

#include <R_ext/eventloop.h>
#include <time.h>

static void (*others)(void);
static double last, longest, n_looks;

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void note(void) {
  double now = cpu_seconds();
  if (now - last > longest) longest = now - last;
  n_looks++;
  last = now;
}

static void looked(void) {
  others();
  note();
}

SEXP polls_begin(void) {
  if (others == NULL) {
    others = R_PolledEvents;
    R_PolledEvents = looked;
  }
  longest = n_looks = 0;
  last = cpu_seconds();
  return R_NilValue;
}

/* c(the longest time, the number of looks) */
SEXP polls_end(void) {
  note();
  SEXP out = Rf_allocVector(REALSXP, 2);
  REAL(out)[0] = longest;
  REAL(out)[1] = n_looks;
  return out;
}
