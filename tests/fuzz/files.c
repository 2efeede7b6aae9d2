/* See files.h. */
#include "files.h"

#include "test.h"

/* ---- memory that is measured ---- */

static void *meter_alloc(void *user, size_t bytes) {
  meter *m = user;
  size_t *block = malloc(bytes + 64);
  if (block == NULL) abort();
  *block = bytes;
  m->live += bytes;
  if (m->live > m->peak) m->peak = m->live;
  return (uint8_t *)block + 64;
}

static void meter_release(void *user, void *at) {
  meter *m = user;
  size_t *block = (size_t *)(void *)((uint8_t *)at - 64);
  m->live -= *block;
  free(block);
}

gbt_mem meter_mem(meter *m) { return (gbt_mem){meter_alloc, meter_release, m}; }

/* ---- mutations ---- */

static int is_number_part(uint8_t c) { return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == 'e' || c == 'E'; }

/* Replaces bytes [beg, end) by a text. Returns the new size. */
static size_t replace(uint8_t *bytes, size_t n, size_t most, size_t beg, size_t end, const void *by, size_t n_by) {
  if (n - (end - beg) + n_by > most) return n;
  memmove(bytes + beg + n_by, bytes + end, n - end);
  memcpy(bytes + beg, by, n_by);
  return n - (end - beg) + n_by;
}

/* Another number in the place of one of a text: its neighbours, other numbers of the file, sizes that overflow. */
static size_t change_number(test_rng *rng, uint8_t *bytes, size_t n, size_t most) {
  static const char *const odd[] = {
      "-1",  "0",     "1", "2147483647", "2147483648",          "4294967296", "1e308", "-2147483648", "1e9", "1e400",
      "0.5", "65535", "3", "1e-45",      "9223372036854775807", "-0",         "31",    "32",          "33",  "2"};
  size_t at = (size_t)test_below(rng, (int64_t)n), tries = 0;
  while (!is_number_part(bytes[at]) && tries++ < n) at = (at + 1) % n;
  size_t beg = at, end = at;
  while (beg > 0 && is_number_part(bytes[beg - 1])) beg--;
  while (end < n && is_number_part(bytes[end])) end++;
  const char *by = odd[test_below(rng, (int64_t)(sizeof odd / sizeof *odd))];
  return replace(bytes, n, most, beg, end, by, strlen(by));
}

/* Takes a run of bytes of the file to another place, or out of it. */
static size_t move_run(test_rng *rng, uint8_t *bytes, size_t n, size_t most) {
  uint8_t run[256];
  const size_t from = (size_t)test_below(rng, (int64_t)n), to = (size_t)test_below(rng, (int64_t)n);
  size_t size = (size_t)test_below(rng, 1 + (int64_t)(n - from < sizeof run ? n - from : sizeof run));
  memcpy(run, bytes + from, size);
  const size_t gone = test_below(rng, 2) ? 0 : size < n - to ? size : n - to;
  return replace(bytes, n, most, to, to + gone, run, test_below(rng, 4) ? size : 0);
}

size_t fuzz_change(uint8_t *bytes, size_t n, size_t most, unsigned seed) {
  test_rng rng = {gbt_mix64(seed)};
  for (int64_t i = 1 + test_below(&rng, 3); i > 0 && n > 0; i--) {
    switch (test_below(&rng, 5)) {
    case 0: {
      const size_t at = (size_t)test_below(&rng, (int64_t)n);
      bytes[at] = (uint8_t)(test_below(&rng, 2) ? test_u(&rng) : bytes[at] ^ (1u << test_below(&rng, 8)));
      break;
    }
    case 1:
      n = move_run(&rng, bytes, n, most);
      break;
    default:
      n = change_number(&rng, bytes, n, most);
      break;
    }
  }
  return n;
}

size_t fuzz_join(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *out, size_t most, unsigned seed) {
  test_rng rng = {gbt_mix64(seed)};
  if (n_a == 0 || n_b == 0) return 0;
  const size_t end = (size_t)test_below(&rng, (int64_t)n_a), beg = (size_t)test_below(&rng, (int64_t)n_b);
  if (end + (n_b - beg) > most) return 0;
  uint8_t *copy = test_alloc(n_b - beg); /* out may be a */
  memcpy(copy, b + beg, n_b - beg);
  memmove(out, a, end);
  memcpy(out + end, copy, n_b - beg);
  free(copy);
  return end + (n_b - beg);
}
