/* Status codes and the error record that every fallible engine function fills.
 *
 * Convention: `gbt_status f(..., gbt_error *err)`, err last, may be NULL. On failure outputs are NULL or untouched and
 * nothing leaks. The message names the column, row or parameter by the name that the *user* gave it, and says what to
 * do. The function that finds the fault writes it; its callers add nothing. */
#ifndef GBT_BASE_STATUS_H
#define GBT_BASE_STATUS_H

#include <stddef.h>
#include <stdint.h>

typedef enum gbt_status {
  GBT_OK = 0,
  GBT_E_ARG,         /* a parameter is wrong: unknown, out of range, contradictory */
  GBT_E_DATA,        /* the data are wrong: a column, a row, a label */
  GBT_E_MEM,         /* memory ran out */
  GBT_E_DEVICE,      /* a device is missing, is lost or fails */
  GBT_E_FORMAT,      /* bytes that are not a valid model or page */
  GBT_E_IO,          /* a file cannot be read or written */
  GBT_E_UNSUPPORTED, /* a combination that gbt does not support */
  GBT_E_INTERNAL,    /* a broken invariant: a bug in gbt */
  GBT_CANCELLED      /* the caller's poll() asked to stop; what was finished before stays valid */
} gbt_status;

/* The name of a status, for hosts: "ok", "argument", "data", "memory", ..., "cancelled". The functions gbt_..._name()
 * of other enums work in the same way: texts are static, NULL for an unknown value. */
const char *gbt_status_name(int status);

/* The failure of a call: set by a call that fails, undefined after one that succeeds. The caller sets ranks_know to 0
 * before the call. */
typedef struct gbt_error {
  gbt_status code;
  char msg[640];     /* UTF-8, one sentence or two, no trailing newline */
  char subject[160]; /* the column, parameter or file that msg is about; "" when there is none */
  char host[160];    /* for a failure of the host: information for the hosts of other ranks; else "" */
  int ranks_know;    /* 1: all ranks (base/comm.h) return this failure */
  int cpu_can;       /* 1: a device failed, and the CPU can do the same; a host adds how to use it */
} gbt_error;

#if defined(_WIN32) && defined(__GNUC__) && !defined(__clang__) /* gcc's "printf" is that of old Windows there */
#define GBT_PRINTF(fmt, args) __attribute__((format(gnu_printf, fmt, args)))
#define GBT_MUST_CHECK __attribute__((warn_unused_result))
#elif defined(__GNUC__)
#define GBT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define GBT_MUST_CHECK __attribute__((warn_unused_result))
#else
#define GBT_PRINTF(fmt, args)
#define GBT_MUST_CHECK
#endif

/* Fills err (when not NULL) and returns code, so that `return gbt_fail(err, GBT_E_ARG, ...)` reads well.
 * Over-long texts are cut at a UTF-8 character boundary. */
gbt_status gbt_fail(gbt_error *err, gbt_status code, const char *fmt, ...) GBT_PRINTF(3, 4);

/* The same, and records what the message is about (copied; cut when too long). */
gbt_status gbt_fail_on(gbt_error *err, gbt_status code, const char *subject, const char *fmt, ...) GBT_PRINTF(4, 5);

/* The same for something that a device cannot do, but the CPU can: cpu_can is 1, the subject is "device". */
gbt_status gbt_fail_device(gbt_error *err, gbt_status code, const char *fmt, ...) GBT_PRINTF(3, 4);

/* The same for a failure of the host; host: see gbt_error. */
gbt_status gbt_fail_host(gbt_error *err, gbt_status code, const char *subject, const char *msg, const char *host);

/* "out of memory" with the number of bytes that were asked for. */
gbt_status gbt_fail_mem(gbt_error *err, size_t bytes);

#define GBT_TRY(expr)                                                                                                  \
  do {                                                                                                                 \
    gbt_status try_status_ = (expr);                                                                                   \
    if (try_status_ != GBT_OK) return try_status_;                                                                     \
  } while (0)

/* For functions that own something: one label, one way out. Needs a local `gbt_status status`. */
#define GBT_TRY_GOTO(expr, label)                                                                                      \
  do {                                                                                                                 \
    status = (expr);                                                                                                   \
    if (status != GBT_OK) goto label;                                                                                  \
  } while (0)

#endif
