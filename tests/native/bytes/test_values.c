/* Values of a host as bytes (bytes/values.h): they come back as they were; bytes that nobody vouches for are refused,
 * or read within their bounds. GBT_FUZZ=n in the environment takes n times as many cases. */
#include "../../src/gbt/bytes/values.h"
#include "fault.h"
#include "test.h"

#include <stdlib.h>

enum { MOST_ENTRIES = 6, MOST_VALUES = 20, CASES = 20000 };

static const char *const texts[] = {"", "a", "level", "\xc3\xa9t\xc3\xa9", NULL, "seven b", "eight by", "nine byte"};
enum { N_TEXTS = 8 };

typedef struct drawn {
  gbt_meta entry[MOST_ENTRIES];
  int32_t n;
  double num[MOST_ENTRIES][MOST_VALUES];
  int32_t ints[MOST_ENTRIES][MOST_VALUES];
  const char *text[MOST_ENTRIES][MOST_VALUES];
} drawn;

static void draw(test_rng *rng, drawn *d) {
  static const char *const names[] = {"a", "label/1", "seven:n", "eight:na", "\xc3\xa9", "note:list"};
  d->n = (int32_t)test_below(rng, MOST_ENTRIES + 1);
  for (int32_t i = 0; i < d->n; i++) {
    gbt_meta *entry = &d->entry[i];
    *entry = (gbt_meta){.name = names[i], .kind = (gbt_meta_kind)test_below(rng, 3), .n = test_below(rng, MOST_VALUES)};
    for (int k = 0; k < MOST_VALUES; k++) {
      const uint64_t bits = test_u(rng);
      memcpy(&d->num[i][k], &bits, sizeof bits);
      d->ints[i][k] = (int32_t)test_below(rng, INT64_C(1) << 32);
      d->text[i][k] = texts[test_below(rng, N_TEXTS)];
    }
    if (entry->kind == GBT_META_DOUBLE) entry->num = d->num[i];
    if (entry->kind == GBT_META_INT) entry->ints = d->ints[i];
    if (entry->kind == GBT_META_TEXT) entry->text = d->text[i];
  }
}

static void check_same(const gbt_meta *a, const gbt_meta *b) {
  CHECK_EQ_TEXT(a->name, b->name);
  REQUIRE(a->kind == b->kind && a->n == b->n);
  if (a->kind == GBT_META_DOUBLE) CHECK_EQ_BYTES(a->num, b->num, (size_t)a->n * 8);
  if (a->kind == GBT_META_INT) CHECK_EQ_BYTES(a->ints, b->ints, (size_t)a->n * 4);
  for (int64_t i = 0; a->kind == GBT_META_TEXT && i < a->n; i++) {
    REQUIRE((a->text[i] == NULL) == (b->text[i] == NULL));
    if (a->text[i] != NULL) CHECK_EQ_TEXT(a->text[i], b->text[i]);
  }
}

static void they_come_back(void) {
  const gbt_mem mem = gbt_mem_default();
  test_rng rng = {7};
  drawn d;
  for (int64_t c = 0; c < 2000; c++) {
    uint8_t *bytes;
    size_t n_bytes;
    gbt_meta *got;
    int32_t n;
    draw(&rng, &d);
    REQUIRE_OK(gbt_values_write(&mem, d.entry, d.n, &bytes, &n_bytes, test_err));
    CHECK(n_bytes % 8 == 0);
    REQUIRE_OK(gbt_values_read(&mem, bytes, n_bytes, &got, &n, test_err));
    REQUIRE(n == d.n);
    for (int32_t i = 0; i < n; i++) check_same(&d.entry[i], &got[i]);
    gbt_mem_free(&mem, got);
    gbt_mem_free(&mem, bytes);
  }
}

static void wrong_entries_are_refused(void) {
  const gbt_mem mem = gbt_mem_default();
  static const char *const bad_text[] = {"\xff"};
  const double one = 1.0;
  const gbt_meta wrong[] = {
      {.name = NULL, .kind = GBT_META_DOUBLE, .n = 1, .num = &one},
      {.name = "", .kind = GBT_META_DOUBLE, .n = 1, .num = &one},
      {.name = "a", .kind = GBT_META_DOUBLE, .n = -1, .num = &one},
      {.name = "a", .kind = (gbt_meta_kind)3, .n = 1, .num = &one},
      {.name = "\xff", .kind = GBT_META_DOUBLE, .n = 1, .num = &one},
      {.name = "a", .kind = GBT_META_TEXT, .n = 1, .text = bad_text},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    uint8_t *bytes;
    size_t n_bytes;
    CHECK_FAILS(gbt_values_write(&mem, &wrong[i], 1, &bytes, &n_bytes, test_err), GBT_E_ARG, "");
  }
}

/* Reads every byte that the entries lead to. */
static uint64_t look(const gbt_meta *entry, int32_t n) {
  uint64_t sum = 0;
  for (int32_t i = 0; i < n; i++) {
    sum += strlen(entry[i].name);
    for (int64_t k = 0; k < entry[i].n; k++) {
      uint64_t bits = 0;
      if (entry[i].kind == GBT_META_DOUBLE) memcpy(&bits, &entry[i].num[k], sizeof bits);
      if (entry[i].kind == GBT_META_INT) bits = (uint64_t)entry[i].ints[k];
      if (entry[i].kind == GBT_META_TEXT && entry[i].text[k] != NULL) bits = strlen(entry[i].text[k]);
      sum += bits;
    }
  }
  return sum;
}

/* One to three changes: a byte, a field of 4 or 8 bytes to a small or a huge number, or a cut. */
static size_t mutate(test_rng *rng, uint8_t *bytes, size_t n) {
  static const uint64_t odd[] = {0, 1, 2, 3, 7, 8, 9, 255, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
  for (int64_t changes = 1 + test_below(rng, 3); changes > 0; changes--) {
    const size_t at = (size_t)test_below(rng, (int64_t)n);
    const uint64_t value = odd[test_below(rng, sizeof odd / sizeof *odd)];
    switch (test_below(rng, 4)) {
    case 0:
      bytes[at] = (uint8_t)test_u(rng);
      break;
    case 1:
      memcpy(bytes + at / 4 * 4, &value, 4);
      break;
    case 2:
      if (at / 8 * 8 + 8 <= n) memcpy(bytes + at / 8 * 8, &value, 8);
      break;
    default:
      if (test_below(rng, 4) == 0 && n > 40) n -= 8;
    }
  }
  if (test_below(rng, 2)) { /* the size is put right */
    const uint64_t size = n;
    memcpy(bytes + 16, &size, 8);
  }
  return n;
}

static void bytes_of_strangers_are_read_within_their_bounds(void) {
  const gbt_mem mem = gbt_mem_default();
  const char *text = getenv("GBT_FUZZ");
  const int64_t times = text == NULL || atol(text) < 1 ? 1 : atol(text);
  test_rng rng = {11};
  int64_t accepted = 0;
  uint64_t sum = 0;
  drawn d;
  for (int64_t c = 0; c < CASES * times; c++) {
    uint8_t *bytes;
    size_t n_bytes;
    gbt_meta *got;
    int32_t n;
    draw(&rng, &d);
    REQUIRE_OK(gbt_values_write(&mem, d.entry, d.n, &bytes, &n_bytes, test_err));
    const size_t kept = mutate(&rng, bytes, n_bytes);
    uint8_t *exact = test_alloc(kept); /* a read after its end shows under a sanitizer */
    memcpy(exact, bytes, kept);
    const gbt_status status = gbt_values_read(&mem, exact, kept, &got, &n, test_err);
    CHECK(status == GBT_OK || (status == GBT_E_FORMAT && got == NULL && n == 0));
    if (status == GBT_OK) {
      accepted++;
      sum += look(got, n);
      gbt_mem_free(&mem, got);
    }
    free(exact);
    gbt_mem_free(&mem, bytes);
  }
  CHECK(accepted > CASES * times / 50 && accepted < CASES * times);
  printf("  values/bytes_of_strangers: %lld of %lld read (%llx)\n", (long long)accepted, (long long)(CASES * times),
         (unsigned long long)sum);
}

static gbt_status write_and_read(const gbt_mem *mem, void *arg, gbt_error *err) {
  const drawn *d = arg;
  uint8_t *bytes;
  size_t n_bytes;
  gbt_meta *got;
  int32_t n;
  GBT_TRY(gbt_values_write(mem, d->entry, d->n, &bytes, &n_bytes, err));
  const gbt_status status = gbt_values_read(mem, bytes, n_bytes, &got, &n, err);
  CHECK(status == GBT_OK || (got == NULL && n == 0));
  gbt_mem_free(mem, got);
  gbt_mem_free(mem, bytes);
  return status;
}

static void every_allocation_may_fail(void) {
  test_rng rng = {3};
  drawn d;
  do
    draw(&rng, &d);
  while (d.n < 3);
  CHECK(fault_sweep(write_and_read, &d) > 4);
}

static void other_versions_are_named(void) {
  const gbt_mem mem = gbt_mem_default();
  uint8_t *bytes;
  size_t n_bytes;
  gbt_meta *got;
  int32_t n;
  REQUIRE_OK(gbt_values_write(&mem, NULL, 0, &bytes, &n_bytes, test_err));
  bytes[8] = 3;
  CHECK_FAILS(gbt_values_read(&mem, bytes, n_bytes, &got, &n, test_err), GBT_E_FORMAT, "format version 3");
  bytes[0] = 'X';
  CHECK_FAILS(gbt_values_read(&mem, bytes, n_bytes, &got, &n, test_err), GBT_E_FORMAT, "an older version");
  CHECK_FAILS(gbt_values_read(&mem, bytes, 0, &got, &n, test_err), GBT_E_FORMAT, "damaged");
  gbt_mem_free(&mem, bytes);
}

void suite_values(void) {
  RUN(they_come_back);
  RUN(wrong_entries_are_refused);
  RUN(bytes_of_strangers_are_read_within_their_bounds);
  RUN(every_allocation_may_fail);
  RUN(other_versions_are_named);
}
