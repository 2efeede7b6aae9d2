/* A fuzzer without libFuzzer: the same inputs in every run, from any compiler.
 *
 *   run once FILE...               uses every file once
 *   run mutate FROM TO FILE...     uses the mutations FROM .. TO - 1
 *   run files FROM TO FOLDER FILE...   writes them to FOLDER as well: FROM.bin, ...
 *   run seeds FOLDER               writes the seeds to FOLDER
 *
 * Mutations start from the files, or from the seeds without any, and from inputs that were accepted before: a pool of
 * them grows as mutations go. So a run is known by FROM, TO and the files. An input that ends the program is left in
 * the file `fault`. The last line tells how many inputs there were and how many of them were accepted. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/gbt/base/rng.h"
#include "fuzz.h"

enum { MOST = 8192, POOL = 256, SECONDS = 30, LOOK = 64 };

typedef struct input {
  uint8_t bytes[MOST];
  size_t n;
} input;

static input pool[POOL], now;
static size_t n_pool, n_kept; /* the first n_kept stay */

/* Sanitizers end the program by abort(), so that what is below hears of it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "abort_on_error=1:quarantine_size_mb=4:malloc_context_size=1:max_malloc_fill_size=256:intercept_strstr=0";
}
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) { return "abort_on_error=1:print_stacktrace=1"; }

static void on_fault(int sig) {
  int fd = open("fault", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  static const char text[] = "the input is in the file `fault`\n";
  ssize_t done = write(fd, now.bytes, now.n);
  done += write(2, text, sizeof text - 1);
  signal(sig, SIG_DFL);
  if (done >= 0) raise(sig);
}

static int read_input(const char *path, input *out) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return 0;
  out->n = fread(out->bytes, 1, MOST, file);
  int whole = feof(file) != 0;
  fclose(file);
  return whole;
}

static int write_input(const char *folder, unsigned long name, const uint8_t *bytes, size_t n) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%lu.bin", folder, name);
  FILE *file = fopen(path, "wb");
  if (file == NULL) return 0;
  int ok = fwrite(bytes, 1, n, file) == n;
  return fclose(file) == 0 && ok;
}

static int write_seeds(const char *folder) {
  size_t n;
  uint8_t *bytes;
  for (unsigned long i = 0; (bytes = fuzz_seed(i, &n)) != NULL; i++) {
    int ok = write_input(folder, i, bytes, n);
    free(bytes);
    if (!ok) return 0;
  }
  return 1;
}

static void fill_pool(char **files, int n_files) {
  for (int i = 0; i < n_files && n_pool < POOL / 2; i++)
    if (read_input(files[i], &pool[n_pool])) n_pool++;
  for (uint64_t i = 0; n_files == 0 && n_pool < POOL / 2; i++) {
    uint8_t *bytes = fuzz_seed(i, &pool[n_pool].n);
    if (bytes == NULL) break;
    if (pool[n_pool].n <= MOST) memcpy(pool[n_pool].bytes, bytes, pool[n_pool].n), n_pool++;
    free(bytes);
  }
  n_kept = n_pool;
}

/* Input i: a mutation of one of the pool, or of two. */
static void make_input(uint64_t i) {
  uint64_t draw = gbt_mix64(i);
  now = pool[draw % n_pool];
  if ((draw >> 32) % 8 == 0) {
    const input *a = &pool[draw % n_pool], *b = &pool[(draw >> 16) % n_pool];
    size_t n = LLVMFuzzerCustomCrossOver(a->bytes, a->n, b->bytes, b->n, now.bytes, MOST, (unsigned)(draw >> 20));
    if (n > 0) now.n = n;
  } else {
    now.n = LLVMFuzzerCustomMutator(now.bytes, now.n, MOST, (unsigned)(draw >> 20));
  }
}

/* Takes an accepted input into the pool, in the place of one that came later than the files. */
static void keep(uint64_t i) {
  uint64_t draw = gbt_mix64(~i);
  if (draw % 4 != 0) return;
  size_t at = n_pool < POOL ? n_pool++ : n_kept + (size_t)((draw >> 8) % (POOL - n_kept));
  pool[at] = now;
}

static int run(unsigned long from, unsigned long to, const char *folder) {
  unsigned long n_accepted = 0;
  for (unsigned long i = from; i < to; i++) {
    if (i % LOOK == 0) alarm(SECONDS); /* a hang */
    make_input(i);
    if (folder != NULL && !write_input(folder, i, now.bytes, now.n)) return 0;
    int accepted = fuzz_use(now.bytes, now.n);
    n_accepted += (unsigned long)accepted;
    if (accepted) keep(i);
  }
  printf("%lu inputs, %lu accepted\n", to - from, n_accepted);
  return 1;
}

static int once(char **files, int n_files) {
  int n_accepted = 0;
  for (int i = 0; i < n_files; i++) {
    alarm(SECONDS);
    if (!read_input(files[i], &now)) return 0;
    n_accepted += fuzz_use(now.bytes, now.n);
  }
  printf("%d inputs, %d accepted\n", n_files, n_accepted);
  return 1;
}

int main(int argc, char **argv) {
  signal(SIGABRT, on_fault);
  signal(SIGALRM, on_fault);
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "seeds") == 0 && argc == 3) return !write_seeds(argv[2]);
  if (strcmp(what, "once") == 0) return !once(argv + 2, argc - 2);
  int to_files = strcmp(what, "files") == 0, n_args = 4 + to_files;
  if ((!to_files && strcmp(what, "mutate") != 0) || argc < n_args) {
    fprintf(stderr, "usage: run once FILE... | run mutate FROM TO FILE... | run files FROM TO FOLDER FILE... | "
                    "run seeds FOLDER\n");
    return 2;
  }
  fill_pool(argv + n_args, argc - n_args);
  if (n_pool == 0) return 2;
  return !run(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), to_files ? argv[4] : NULL);
}
