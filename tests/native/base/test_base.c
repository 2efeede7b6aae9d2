/* Errors, memory, schemas, matching by text, and the hashes. */
#include "fault.h"
#include "test.h"

#include "../../src/gbt/base/parallel.h"
#include "../../src/gbt/schema/schema_impl.h"

static void fault_allocator_counts(void) {
  fault f;
  fault_start(&f, 2, 0);
  gbt_mem mem = fault_mem(&f);
  void *a = mem.alloc(mem.user, 10);
  CHECK(a != NULL);
  CHECK(mem.alloc(mem.user, 10) == NULL);
  void *b = mem.alloc(mem.user, 20);
  CHECK_EQ_I64(f.n_live, 2);
  CHECK_EQ_I64(f.bytes_peak, 30);
  mem.release(mem.user, a);
  mem.release(mem.user, b);
  CHECK_EQ_I64(f.n_live, 0);
}

/* Whether s is whole UTF-8 characters (of the well-formed text that the tests use). */
static int whole_utf8(const char *s) {
  for (const unsigned char *p = (const unsigned char *)s; *p != 0;) {
    int n = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc0 ? 2 : 0;
    if (n == 0) return 0;
    for (int i = 1; i < n; i++)
      if ((p[i] & 0xc0) != 0x80) return 0;
    p += n;
  }
  return 1;
}

static void errors_hold_code_text_and_subject(void) {
  gbt_error err;
  CHECK_EQ_I64(gbt_fail_on(&err, GBT_E_DATA, "age", "column `%s`, row %d", "age", 7), GBT_E_DATA);
  CHECK_EQ_I64(err.code, GBT_E_DATA);
  CHECK_EQ_TEXT(err.msg, "column `age`, row 7");
  CHECK_EQ_TEXT(err.subject, "age");
  CHECK_EQ_I64(gbt_fail(&err, GBT_E_ARG, "again: %s", err.msg), GBT_E_ARG); /* quotes what it replaces */
  CHECK_EQ_TEXT(err.msg, "again: column `age`, row 7");
  CHECK_EQ_TEXT(err.subject, "");
  CHECK_EQ_I64(gbt_fail(NULL, GBT_E_IO, "%d", 1), GBT_E_IO);
  CHECK_EQ_I64(gbt_fail_on(NULL, GBT_E_IO, "x", "%d", 1), GBT_E_IO);
  CHECK_EQ_I64(gbt_fail_device(&err, GBT_E_DEVICE, "%d devices", 0), GBT_E_DEVICE);
  CHECK_EQ_TEXT(err.msg, "0 devices");
  CHECK_EQ_TEXT(err.subject, "device");
  CHECK(err.cpu_can);
  CHECK_EQ_I64(gbt_fail_device(NULL, GBT_E_DEVICE, "%d devices", 0), GBT_E_DEVICE);
  CHECK_EQ_I64(gbt_fail_mem(&err, 1000), GBT_E_MEM);
  CHECK(!err.cpu_can);
  CHECK_EQ_TEXT(err.msg, "out of memory: 1000 bytes were asked for");
  CHECK_EQ_I64(gbt_fail_mem(&err, 3u << 20), GBT_E_MEM);
  CHECK_EQ_TEXT(err.msg, "out of memory: 3145728 bytes (3.0 MB) were asked for");
  CHECK_EQ_I64(gbt_fail_mem(NULL, 1), GBT_E_MEM);
}

static void long_texts_are_cut_between_characters(void) {
  static const char *const chars[4] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\xb2"};
  char text[1000];
  for (int size = 1; size <= 4; size++) {
    for (int lead = 0; lead < 8; lead++) {
      memset(text, 'x', (size_t)lead);
      char *end = text + lead;
      while (end + size < text + 990) memcpy(end, chars[size - 1], (size_t)size), end += size;
      *end = 0;
      gbt_error err;
      gbt_fail_on(&err, GBT_E_DATA, text, "%s", text);
      size_t n = strlen(err.msg), m = strlen(err.subject);
      CHECK(whole_utf8(err.msg) && whole_utf8(err.subject));
      CHECK(n < sizeof err.msg && n + (size_t)size >= sizeof err.msg && memcmp(err.msg, text, n) == 0);
      CHECK(m < sizeof err.subject && m + (size_t)size >= sizeof err.subject && memcmp(err.subject, text, m) == 0);
    }
  }
  memset(text, 0xa4, 900); /* no UTF-8 at all: cut where it must be */
  text[900] = 0;
  gbt_error err;
  gbt_fail(&err, GBT_E_DATA, "%s", text);
  CHECK_EQ_I64(strlen(err.msg), sizeof err.msg - 1);
}

static void arrays_are_aligned_and_checked(void) {
  fault f;
  fault_start(&f, 0, 0);
  gbt_mem mem = fault_mem(&f);
  for (size_t n = 0; n < 200; n++) {
    uint8_t *a, *z;
    REQUIRE_OK(gbt_mem_array(&mem, n, 1, &a, test_err));
    REQUIRE_OK(gbt_mem_zeros(&mem, n, 8, &z, test_err));
    CHECK(((uintptr_t)a & 63) == 0 && ((uintptr_t)z & 63) == 0);
    memset(a, 1, n);
    for (size_t i = 0; i < n * 8; i++) CHECK(z[i] == 0);
    gbt_mem_free(&mem, a);
    gbt_mem_free(&mem, z);
  }
  gbt_mem_free(&mem, NULL);
  void *out = &f;
  CHECK_FAILS(gbt_mem_array(&mem, SIZE_MAX / 2, 3, &out, test_err), GBT_E_MEM, "out of memory");
  CHECK(out == NULL);
  out = &f;
  CHECK_FAILS(gbt_mem_zeros(&mem, SIZE_MAX, 1, &out, test_err), GBT_E_MEM, "out of memory");
  CHECK(out == NULL);
  CHECK_EQ_I64(f.n_live, 0);
  gbt_mem plain = gbt_mem_default();
  double *d;
  REQUIRE_OK(gbt_mem_zeros(&plain, 100, sizeof *d, &d, test_err));
  CHECK(((uintptr_t)d & 63) == 0 && d[99] == 0.0);
  gbt_mem_free(&plain, d);
}

static void grow_keeps_what_was_there(void) {
  fault f;
  fault_start(&f, 0, 0);
  gbt_mem mem = fault_mem(&f);
  uint32_t *a = NULL;
  size_t cap = 0;
  for (uint32_t n = 0; n < 5000; n++) {
    REQUIRE_OK(gbt_mem_grow(&mem, &a, &cap, n + 1, sizeof *a, test_err));
    a[n] = n * 7;
  }
  CHECK(f.n_calls <= 14); /* doubling */
  int64_t calls = f.n_calls;
  CHECK_OK(gbt_mem_grow(&mem, &a, &cap, cap, sizeof *a, test_err)); /* room enough: nothing to do */
  CHECK_EQ_I64(f.n_calls, calls);
  for (uint32_t n = 0; n < 5000; n++) CHECK(a[n] == n * 7);
  f.fail_at = f.n_calls + 1;
  size_t cap_before = cap;
  uint32_t *before = a;
  CHECK_FAILS(gbt_mem_grow(&mem, &a, &cap, cap + 1, sizeof *a, test_err), GBT_E_MEM, "out of memory");
  CHECK(a == before && cap == cap_before && a[4999] == 4999 * 7);
  CHECK_FAILS(gbt_mem_grow(&mem, &a, &cap, SIZE_MAX / 2, sizeof *a, test_err), GBT_E_MEM, "out of memory");
  CHECK(a == before && cap == cap_before);
  gbt_mem_free(&mem, a);
  CHECK_EQ_I64(f.n_live, 0);
}

/* Texts with many equal ones, an empty one and some NULLs. They live in one block, to be freed. */
static char *make_texts(test_rng *rng, int32_t n, int64_t kinds, const char **out) {
  char *block = test_alloc((size_t)n * 24 + 1);
  for (int32_t i = 0; i < n; i++) {
    char *s = block + (size_t)i * 24;
    int64_t kind = test_below(rng, kinds);
    snprintf(s, 24, kind % 2 ? "%" PRId64 : "level-%" PRId64 "-x", kind);
    if (kind == 0) s[0] = 0;
    out[i] = test_below(rng, 50) == 0 ? NULL : s;
  }
  return block;
}

static int32_t naive_match(const char *s, const char *const *to, int32_t n_to) {
  for (int32_t i = 0; s != NULL && i < n_to; i++)
    if (to[i] != NULL && strcmp(to[i], s) == 0) return i;
  return -1;
}

static void texts_match_like_a_search(void) {
  test_rng rng = {21};
  gbt_mem mem = gbt_mem_default();
  const char *from[300], *to[300];
  int32_t out[300];
  for (int i = 0; i < 200; i++) {
    int32_t n_from = (int32_t)test_below(&rng, 300), n_to = (int32_t)test_below(&rng, 300);
    int64_t kinds = 1 + test_below(&rng, 400);
    char *a = make_texts(&rng, n_from, kinds, from), *b = make_texts(&rng, n_to, kinds, to);
    REQUIRE_OK(gbt_match_texts(&mem, from, n_from, to, n_to, out, test_err));
    for (int32_t k = 0; k < n_from; k++) CHECK_EQ_I64(out[k], naive_match(from[k], to, n_to));
    free(a);
    free(b);
  }
}

/* A million levels on both sides: linear, or this would not end. */
static void matching_is_linear(void) {
  enum { N = 1000000 };
  gbt_mem mem = gbt_mem_default();
  char *block = test_alloc((size_t)N * 12);
  const char **text = test_alloc(N * sizeof *text), **back = test_alloc(N * sizeof *back);
  int32_t *out = test_alloc(N * sizeof *out);
  for (int32_t i = 0; i < N; i++) {
    snprintf(block + (size_t)i * 12, 12, "%d", (int)i);
    text[i] = block + (size_t)i * 12;
    back[N - 1 - i] = text[i];
  }
  CHECK_OK(gbt_match_texts(&mem, text, N, back, N, out, test_err));
  int64_t wrong = 0;
  for (int32_t i = 0; i < N; i++) wrong += out[i] != N - 1 - i;
  CHECK_EQ_I64(wrong, 0);
  free(out);
  free(back);
  free(text);
  free(block);
}

static gbt_status match_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  (void)arg;
  static const char *const from[3] = {"b", "x", "a"}, *const to[2] = {"a", "b"};
  int32_t out[3];
  gbt_status status = gbt_match_texts(mem, from, 3, to, 2, out, err);
  if (status == GBT_OK) CHECK(out[0] == 1 && out[1] == -1 && out[2] == 0);
  return status;
}

static const char *const colours[3] = {"red", "gr\xc3\xbcn", ""};
static const gbt_schema_column columns[4] = {
    {"age", "integer", GBT_NUMERIC, 0, NULL},
    {"colour", NULL, GBT_CATEGORICAL, 3, colours},
    {"size", "ordered", GBT_ORDINAL, 2, colours},
    {"void", "", GBT_CATEGORICAL, 0, NULL},
};

static void schema_copies_everything(void) {
  fault f;
  fault_start(&f, 0, 0);
  gbt_mem mem = fault_mem(&f);
  char name[8] = "age", level[8] = "red";
  const char *levels[3] = {level, colours[1], colours[2]};
  gbt_schema_column feat[4];
  memcpy(feat, columns, sizeof feat);
  feat[0].name = name;
  feat[1].levels = levels;
  gbt_schema *schema;
  REQUIRE_OK(gbt_schema_new(&mem, 4, feat, &schema, test_err));
  const int64_t n_blocks = f.n_live;
  memset(name, 0, sizeof name);
  memset(level, 0, sizeof level);
  memset(levels, 0, sizeof levels);
  memset(feat, 0, sizeof feat);
  CHECK_EQ_I64(schema->n_columns, 4);
  for (int i = 0; i < 4; i++) {
    CHECK_EQ_TEXT(schema->col[i].name, columns[i].name);
    CHECK_EQ_TEXT(schema->col[i].tag, columns[i].tag == NULL ? "" : columns[i].tag);
    CHECK_EQ_I64(schema->feat[i].type, columns[i].type);
    CHECK_EQ_I64(schema->col[i].n_levels, columns[i].n_levels);
    for (int k = 0; k < columns[i].n_levels; k++) CHECK_EQ_TEXT(schema->col[i].levels[k], columns[i].levels[k]);
  }
  CHECK(gbt_schema_ref(schema) == schema);
  gbt_schema_unref(schema);
  CHECK_EQ_I64(f.n_live, n_blocks);
  gbt_schema_unref(schema);
  gbt_schema_unref(NULL);
  CHECK_EQ_I64(f.n_live, 0);
}

static void schema_names_what_is_wrong(void) {
  fault f;
  fault_start(&f, 0, 0);
  gbt_mem mem = fault_mem(&f);
  gbt_schema *schema = (gbt_schema *)&f;
  gbt_schema_column feat[4];
  memcpy(feat, columns, sizeof feat);
  feat[2].name = "";
  CHECK_FAILS(gbt_schema_new(&mem, 4, feat, &schema, test_err), GBT_E_DATA, "column 3 has no name");
  CHECK(schema == NULL);
  feat[2].name = NULL;
  CHECK_FAILS(gbt_schema_new(&mem, 4, feat, &schema, test_err), GBT_E_DATA, "column 3 has no name");
  feat[2].name = "age";
  CHECK_FAILS(gbt_schema_new(&mem, 4, feat, &schema, test_err), GBT_E_DATA,
              "column name `age` occurs twice (columns 1 and 3)");
  feat[2].name = "size";
  static const char *const twice[3] = {"b", "a", "b"}, *const hole[2] = {"a", NULL};
  feat[1].levels = twice;
  gbt_error err;
  CHECK_EQ_I64(gbt_schema_new(&mem, 4, feat, &schema, &err), GBT_E_DATA);
  CHECK_EQ_TEXT(err.msg, "column `colour`: level \"b\" occurs twice (levels 1 and 3)");
  CHECK_EQ_TEXT(err.subject, "colour");
  feat[1].levels = hole;
  feat[1].n_levels = 2;
  CHECK_FAILS(gbt_schema_new(&mem, 4, feat, &schema, test_err), GBT_E_DATA, "column `colour`: level 2 has no text");
  feat[1] = columns[1];
  feat[0].n_levels = 1;
  CHECK_FAILS(gbt_schema_new(&mem, 4, feat, &schema, test_err), GBT_E_INTERNAL, "age");
  CHECK(schema == NULL);
  CHECK_EQ_I64(f.n_live, 0);
  REQUIRE_OK(gbt_schema_new(&mem, 0, NULL, &schema, test_err));
  CHECK_EQ_I64(schema->n_columns, 0);
  gbt_schema_unref(schema);
}

static gbt_status schema_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  (void)arg;
  gbt_schema *schema;
  gbt_status status = gbt_schema_new(mem, 4, columns, &schema, err);
  CHECK((schema != NULL) == (status == GBT_OK));
  gbt_schema_unref(schema);
  return status;
}

static void failing_allocations(void) {
  CHECK_EQ_I64(fault_sweep(match_op, NULL), 1);
  CHECK(fault_sweep(schema_op, NULL) >= 3);
}

/* Numbers that are part of every model, worked out apart from the engine: they must never change. */
static void hashes_are_what_they_were(void) {
  gbt_key32 key = gbt_key(42, GBT_FOR_ROUNDING, 3, 1);
  CHECK_EQ_U64(gbt_mix64(0), 0xe220a8397b1dcdaf); /* the first output of SplitMix64 from 0, as published */
  CHECK_EQ_U64(key.k0, 0xb0cc813);
  CHECK_EQ_U64(key.k1, 0x2e478058);
  CHECK_EQ_U64(gbt_hash32(key, 0), 0x86eb1abe);
  CHECK_EQ_U64(gbt_hash32(key, 123456789), 0x8207b1be);
  CHECK_EQ_U64(gbt_hash32(key, 0x123456789abcdef), 0x9793b890);
}

/* Every output bit is fair, and flips with probability 1/2 when an input bit flips; keys are independent. */
static void hashes_are_even(void) {
  enum { N = 1 << 16, SLACK = 1280 }; /* 10 standard deviations of a fair coin, sqrt(N) / 2 = 128 */
  gbt_key32 key = gbt_key(1, GBT_FOR_ROWS, 0, 0), other = gbt_key(1, GBT_FOR_ROWS, 1, 0);
  int64_t ones[32] = {0}, flips[20][32] = {{0}}, across[32] = {0};
  for (uint64_t id = 0; id < N; id++) {
    uint32_t h = gbt_hash32(key, id);
    for (int b = 0; b < 32; b++) {
      ones[b] += h >> b & 1u;
      across[b] += (h ^ gbt_hash32(other, id)) >> b & 1u;
    }
    for (int i = 0; i < 20; i++) {
      uint32_t d = h ^ gbt_hash32(key, id ^ (uint64_t)1 << (2 * i));
      for (int b = 0; b < 32; b++) flips[i][b] += d >> b & 1u;
    }
  }
  for (int b = 0; b < 32; b++) {
    CHECK(llabs(ones[b] - N / 2) < SLACK);
    CHECK(llabs(across[b] - N / 2) < SLACK);
    for (int i = 0; i < 20; i++) CHECK(llabs(flips[i][b] - N / 2) < SLACK);
  }
}

static void tasks_of_many_outputs_are_short(void) {
  for (int64_t most = 1; most < 70000; most = most < 70 ? most + 1 : most * 2 - 3)
    for (int32_t k = 1; k > 0 && k < 1 << 30; k = k < 70 ? k + 1 : k * 2 + 1) {
      int64_t rows = gbt_task_rows(most, k), want = most;
      while (want > 32 && want * k > 1048576) want = want / 2;
      if (!CHECK_EQ_I64(rows, want) || !CHECK(rows > 0 && rows <= most)) return;
    }
}

void suite_base(void) {
  RUN(tasks_of_many_outputs_are_short);
  RUN(fault_allocator_counts);
  RUN(errors_hold_code_text_and_subject);
  RUN(long_texts_are_cut_between_characters);
  RUN(arrays_are_aligned_and_checked);
  RUN(grow_keeps_what_was_there);
  RUN(texts_match_like_a_search);
  RUN(matching_is_linear);
  RUN(schema_copies_everything);
  RUN(schema_names_what_is_wrong);
  RUN(failing_allocations);
  RUN(hashes_are_what_they_were);
  RUN(hashes_are_even);
}
