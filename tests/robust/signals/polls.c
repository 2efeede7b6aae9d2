/* How long is it, at most, from one look at Ctrl-C to the next? R's look (R_CheckUserInterrupt) calls R_PolledEvents,
 * and so does the engine's poll, which is one of R's. A function of ours goes there and keeps the longest time between
 * two calls: of the CPU, for this thread, so that a loaded machine does not show.
 *
 * R's own collections of garbage, which nobody can interrupt, do not count: R's gc.time() says how long they were. */
#include <Rinternals.h>

#include <R_ext/eventloop.h>
#include <stdint.h>
#include <time.h>

typedef struct moment {
  double cpu, collecting; /* seconds so far, `collecting` of them in collections */
} moment;

static void (*others)(void);
static SEXP ask_collections;
enum { KEPT = 1 << 14 };

static moment look[KEPT]; /* the last ones, the n-th at n % KEPT */
static int64_t n_looks;
static double longest;
static int asking; /* R, which looks as well while it answers */

static moment now(void) {
  struct timespec t;
  asking = 1;
  SEXP spent = Rf_eval(ask_collections, R_BaseEnv); /* c(user, system, ...) */
  asking = 0;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (moment){(double)t.tv_sec + 1e-9 * (double)t.tv_nsec, REAL(spent)[0] + REAL(spent)[1]};
}

static void note(void) {
  const moment at = now(), last = look[n_looks % KEPT];
  const double own = at.cpu - last.cpu - (at.collecting - last.collecting);
  if (own > longest) longest = own;
  look[++n_looks % KEPT] = at;
}

static void looked(void) {
  others();
  if (!asking) note();
}

SEXP polls_begin(void) {
  if (others == NULL) {
    R_PreserveObject(ask_collections = Rf_lang1(Rf_install("gc.time")));
    others = R_PolledEvents;
    R_PolledEvents = looked;
  }
  longest = 0;
  n_looks = 0;
  look[0] = now();
  return R_NilValue;
}

/* c(the longest time, the number of looks) */
SEXP polls_end(void) {
  note();
  SEXP out = Rf_allocVector(REALSXP, 2);
  REAL(out)[0] = longest;
  REAL(out)[1] = (double)n_looks;
  return out;
}

/* Seconds of collections since the last look that was before this thread had used `cpu` seconds. */
SEXP polls_collecting(SEXP cpu) {
  int64_t n = n_looks;
  while (n > 0 && n_looks - n < KEPT - 1 && look[n % KEPT].cpu > Rf_asReal(cpu)) n--;
  return Rf_ScalarReal(now().collecting - look[n % KEPT].collecting);
}
