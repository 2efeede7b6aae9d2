/* The machine: processors and what a container grants of them, interrupts, and the engine's own lists. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "r_gbt.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif
#ifdef _WIN32
#include <windows.h>
#endif

/* ---- interrupts ---- */

static SEXP check_user(void *unused) {
  (void)unused;
  R_CheckUserInterrupt();
  return R_NilValue;
}

/* R's check may also raise an error: a time limit (setTimeLimit) that is over. raise_interrupt() raises it again once
 * the engine has let go of everything. */
static SEXP keep_error(SEXP condition, void *stop) {
  SEXP package = PROTECT(Rf_mkString("gbt"));
  SEXP home = PROTECT(R_FindNamespace(package));
  SEXP call = PROTECT(Rf_lang2(Rf_install("keep_error"), condition));
  *(int *)stop = 1;
  Rf_eval(call, home);
  UNPROTECT(3);
  return R_NilValue;
}

static void check_interrupt(void *stop) { R_tryCatchError(check_user, NULL, keep_error, stop); }

/* R_CheckUserInterrupt() jumps; R_ToplevelExec() catches the jump and says so. */
int r_poll(void *user) {
  (void)user;
  int stop = 0;
  if (r_mem_poll()) return 1;
  return R_ToplevelExec(check_interrupt, &stop) == FALSE || stop;
}

/* Between two long steps of R's own, which do not look themselves. */
SEXP r_gbt_check_interrupt(void) {
  R_CheckUserInterrupt();
  return R_NilValue;
}

gbt_status r_ctx_open(gbt_ctx *ctx, r_threads threads, gbt_error *err) {
  GBT_TRY(gbt_ctx_open(ctx, r_mem(), threads.n, threads.simd, r_poll, NULL, err));
  ctx->comm = r_ranks();
  return GBT_OK;
}

gbt_status r_call_begin(r_call *call, SEXP handle, r_threads threads, gbt_error *err) {
  r_use_begin(&call->use, handle);
  const gbt_status status = r_ctx_open(&call->ctx, threads, err);
  call->open = status == GBT_OK;
  return status;
}

void r_call_end(r_call *call) {
  if (call->open) gbt_ctx_close(&call->ctx);
  r_use_end(&call->use);
}

/* ---- processors ---- */

static long process_at_load; /* written once, when the package is loaded */

long r_process(void) {
#ifdef _WIN32
  return (long)GetCurrentProcessId();
#else
  return (long)getpid();
#endif
}

void r_remember_process(void) { process_at_load = r_process(); }

/* Processors that this process may run on. */
static int n_cpus(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
#endif
#ifdef _WIN32
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwNumberOfProcessors > 0 ? (int)info.dwNumberOfProcessors : 1;
#else
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 && n < 100000 ? (int)n : 1;
#endif
}

#ifdef __linux__

/* The first line of a small file, without its end; 0 when it cannot be read. */
static int first_line(const char *path, char *line, size_t size) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  int ok = fgets(line, (int)size, file) != NULL;
  fclose(file);
  if (ok) line[strcspn(line, "\n")] = '\0';
  return ok;
}

/* Processors granted by the quota of one cgroup folder, below 0 for no limit. v2: "max 100000" or "150000 100000";
 * v1: two files, quota -1 for no limit. */
static double quota_of(const char *folder, int v2) {
  char path[1200], line[128];
  double quota = -1, period = -1;
  if (v2) {
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (!first_line(path, line, sizeof line) || sscanf(line, "%lf %lf", &quota, &period) != 2) return -1;
  } else {
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (!first_line(path, line, sizeof line) || sscanf(line, "%lf", &quota) != 1) return -1;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (!first_line(path, line, sizeof line) || sscanf(line, "%lf", &period) != 1) return -1;
  }
  return quota > 0 && period > 0 ? quota / period : -1;
}

/* The least quota of a group and all groups above it. A container may see only the upper part of its path, or the whole
 * path of the host with nothing there: missing folders are no limit. */
static double quota_along(const char *root, const char *group, int v2) {
  char folder[1024];
  double least = -1;
  if (strlen(root) + strlen(group) >= sizeof folder) return -1;
  snprintf(folder, sizeof folder, "%s%s", root, group);
  for (;;) {
    double q = quota_of(folder, v2);
    if (q > 0 && (least < 0 || q < least)) least = q;
    char *slash = strrchr(folder, '/');
    if (slash == NULL || (size_t)(slash - folder) < strlen(root)) return least;
    *slash = '\0';
  }
}

/* Is "cpu" among the comma-separated controllers? */
static int has_cpu(const char *controllers) {
  for (const char *at = controllers; (at = strstr(at, "cpu")) != NULL; at += 3) {
    if ((at == controllers || at[-1] == ',') && (at[3] == '\0' || at[3] == ',')) return 1;
  }
  return 0;
}

/* Lines of /proc/self/cgroup: "0::/a/b" (v2), "4:cpu,cpuacct:/a/b" (v1). */
static double cgroup_cpus(void) {
  char line[1024];
  double least = -1;
  FILE *file = fopen("/proc/self/cgroup", "r");
  if (file == NULL) return -1;
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL) continue;
    *group++ = '\0';
    controllers++;
    double q[3] = {-1, -1, -1};
    if (controllers[0] == '\0') {
      q[0] = quota_along("/sys/fs/cgroup", group, 1);
      q[1] = quota_along("/sys/fs/cgroup/unified", group, 1);
    } else if (has_cpu(controllers)) {
      q[0] = quota_along("/sys/fs/cgroup/cpu", group, 0);
      q[1] = quota_along("/sys/fs/cgroup/cpu,cpuacct", group, 0);
      q[2] = quota_along("/sys/fs/cgroup/cpuacct,cpu", group, 0);
    }
    for (int i = 0; i < 3; i++) {
      if (q[i] > 0 && (least < 0 || q[i] < least)) least = q[i];
    }
  }
  fclose(file);
  return least;
}

#else
static double cgroup_cpus(void) { return -1; }
#endif

/* How many threads, of those wanted, the machine really starts. */
static int threads_started(int wanted) {
  gbt_ctx ctx;
  gbt_error err;
  if (wanted < 2) return 1;
  if (gbt_ctx_open(&ctx, r_mem(), wanted, GBT_SIMD_AUTO, NULL, NULL, &err) != GBT_OK) return 1;
  int n = ctx.n_threads;
  gbt_ctx_close(&ctx);
  return n;
}

SEXP r_gbt_system(SEXP threads_wanted) {
  static const char *parts[] = {"simd_best", "n_cpus",   "cgroup_cpus", "forked", "threads_started",
                                "version",   "compiler", "memory",      ""};
  int wanted = r_arg_int(threads_wanted, "threads_wanted");
  int started = threads_started(wanted);
  double quota = cgroup_cpus();
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SET_VECTOR_ELT(out, 0, Rf_mkString(gbt_simd_name((int)gbt_simd_best())));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(n_cpus()));
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal(quota > 0 ? quota : NA_REAL));
  SET_VECTOR_ELT(out, 3, Rf_ScalarLogical(process_at_load != r_process()));
  SET_VECTOR_ELT(out, 4, Rf_ScalarInteger(started));
  SET_VECTOR_ELT(out, 5, Rf_mkString(GBT_VERSION_TEXT));
#if defined(__clang__)
  SET_VECTOR_ELT(out, 6, Rf_mkString("clang " __clang_version__));
#elif defined(__GNUC__)
  SET_VECTOR_ELT(out, 6, Rf_mkString("gcc " __VERSION__));
#else
  SET_VECTOR_ELT(out, 6, Rf_mkString("unknown"));
#endif
  SET_VECTOR_ELT(out, 7, Rf_ScalarReal(r_mem_live()));
  UNPROTECT(1);
  return out;
}

/* ---- the engine's lists ---- */

SEXP r_gbt_params_table(void) {
  static const char *parts[] = {"name",     "kind",      "default", "low",  "high",
                                "open_low", "open_high", "choices", "text", ""};
  static const SEXPTYPE types[] = {STRSXP, STRSXP, REALSXP, REALSXP, REALSXP, LGLSXP, LGLSXP, STRSXP, STRSXP};
  int n;
  const gbt_param_info *info = gbt_params_table(&n);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  for (int k = 0; k < 9; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(types[k], n));
  for (int i = 0; i < n; i++) {
    const char *kind = info[i].kind == GBT_PARAM_REAL ? "real" : info[i].kind == GBT_PARAM_INT ? "int" : "enum";
    SET_STRING_ELT(VECTOR_ELT(out, 0), i, r_text(info[i].name));
    SET_STRING_ELT(VECTOR_ELT(out, 1), i, Rf_mkChar(kind));
    REAL(VECTOR_ELT(out, 2))[i] = info[i].def;
    REAL(VECTOR_ELT(out, 3))[i] = info[i].low;
    REAL(VECTOR_ELT(out, 4))[i] = info[i].high;
    LOGICAL(VECTOR_ELT(out, 5))[i] = info[i].open_low != 0;
    LOGICAL(VECTOR_ELT(out, 6))[i] = info[i].open_high != 0;
    SET_STRING_ELT(VECTOR_ELT(out, 7), i, r_text(info[i].choices));
    SET_STRING_ELT(VECTOR_ELT(out, 8), i, r_text(info[i].text));
  }
  UNPROTECT(1);
  return out;
}
