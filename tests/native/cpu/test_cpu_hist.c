/* Histograms of the CPU backend against plain loops in 64 bits. */
#include "test.h"

#include "../../src/gbt/cpu/cpu_hist_kernels.h"
#include "made.h"

enum { PAGES = 3, PAGE_ROWS = 97, ROWS = 2 * PAGE_ROWS + 41, MAX_FEATS = 16 };

/* A group of features over some pages, as the page store lays it out. */
typedef struct made_group {
  int32_t n_feats, width, stride;
  int wide;
  uint32_t offset[MAX_FEATS], n_slots;
  uint32_t code[MAX_FEATS][ROWS];
  void *page[PAGES];
  gbt_gh16 gh16[ROWS];
  gbt_gh32 gh32[ROWS];
} made_group;

static made_group *make_group(test_rng *rng, int32_t n_feats, int wide) {
  made_group *m = test_alloc(sizeof *m);
  memset(m, 0, sizeof *m);
  m->n_feats = n_feats;
  m->width = (n_feats + 3) / 4 * 4;
  m->stride = m->width + (int32_t)test_below(rng, 3) * 8; /* other groups are next to it */
  m->wide = wide;
  for (int32_t k = 0; k < n_feats; k++) {
    uint32_t n_codes = wide ? 257 + (uint32_t)test_below(rng, 300) : 1 + (uint32_t)test_below(rng, 256);
    m->offset[k] = m->n_slots;
    m->n_slots += n_codes | 1u;
    for (int32_t r = 0; r < ROWS; r++) {
      m->code[k][r] = (uint32_t)test_below(rng, n_codes);
      if (r % 5 == 0) m->code[k][r] = r % 2 ? 0 : n_codes - 1; /* both ends are met */
    }
  }
  for (int32_t k = n_feats; k < m->width; k++) m->offset[k] = m->n_slots;
  m->n_slots++; /* the dummy */
  size_t size = wide ? 2 : 1, cells = (size_t)PAGE_ROWS * (size_t)m->stride;
  for (int32_t p = 0; p < PAGES; p++) {
    m->page[p] = test_alloc(cells * size);
    memset(m->page[p], 0, cells * size);
    for (int32_t r = p * PAGE_ROWS; r < ROWS && r < (p + 1) * PAGE_ROWS; r++)
      for (int32_t k = 0; k < n_feats; k++) {
        size_t at = (size_t)(r - p * PAGE_ROWS) * (size_t)m->stride + (size_t)k;
        if (wide)
          ((uint16_t *)m->page[p])[at] = (uint16_t)m->code[k][r];
        else
          ((uint8_t *)m->page[p])[at] = (uint8_t)m->code[k][r];
      }
  }
  for (int32_t r = 0; r < ROWS; r++) {
    uint64_t u = test_u(rng);
    m->gh16[r] = (gbt_gh16){(int16_t)(u & 0xffff), (uint16_t)(u >> 16)};
    m->gh32[r] = (gbt_gh32){(int32_t)(test_u(rng) & 0xffffffffu), (uint32_t)(u >> 32)};
  }
  return m;
}

static void free_group(made_group *m) {
  for (int32_t p = 0; p < PAGES; p++) free(m->page[p]);
  free(m);
}

/* What any accumulators hold, as plain sums. */
static gbt_sum unpacked(const void *acc, int wide_sums, size_t slot) {
  if (wide_sums) return ((const gbt_sum *)acc)[slot];
  int64_t v = ((const int64_t *)acc)[slot], h = v & 0xffffffff;
  return (gbt_sum){(v - h) / 4294967296, h};
}

/* Packed sums of byte codes have CPU_STRIDE places a feature, all others lie as in the layout. */
static size_t place_of(const made_group *m, int wide_sums, int32_t k, uint32_t code) {
  return m->wide || wide_sums ? m->offset[k] + code : (size_t)k * CPU_STRIDE + code;
}

static size_t n_places(const made_group *m, int wide_sums) {
  return m->wide || wide_sums ? m->n_slots : (size_t)m->n_feats * CPU_STRIDE;
}

static void compare_hist(const made_group *m, const uint32_t *rows, uint32_t n, int wide_sums, int counts,
                         const void *acc, const uint32_t *count) {
  size_t places = n_places(m, wide_sums);
  gbt_sum *want = test_alloc(places * sizeof *want);
  uint32_t *want_count = test_alloc(places * sizeof *want_count);
  memset(want, 0, places * sizeof *want);
  memset(want_count, 0, places * sizeof *want_count);
  for (uint32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < m->n_feats; k++) {
      size_t at = place_of(m, wide_sums, k, m->code[k][rows[i]]);
      want[at].g += wide_sums ? m->gh32[rows[i]].g : m->gh16[rows[i]].g;
      want[at].h += wide_sums ? m->gh32[rows[i]].h : m->gh16[rows[i]].h;
      want_count[at]++;
    }
  int same = 1;
  for (size_t s = 0; s < places; s++) {
    gbt_sum got = unpacked(acc, wide_sums, s);
    same &= got.g == want[s].g && got.h == want[s].h && count[s] == (counts ? want_count[s] : 0u);
  }
  if (!CHECK(same))
    test_note("%d features, wide codes %d, wide sums %d, counts %d, %u rows", (int)m->n_feats, m->wide, wide_sums,
              counts, n);
  free(want);
  free(want_count);
}

/* Rows `rows` (ascending) into one histogram, page by page; contiguous runs as such when `runs`. */
static void one_hist(const made_group *m, const uint32_t *rows, uint32_t n, int runs, int wide_sums, int counts) {
  size_t places = n_places(m, wide_sums), bytes = places * (wide_sums ? sizeof(gbt_sum) : sizeof(int64_t));
  void *acc = test_alloc(bytes);
  uint32_t *count = test_alloc(places * sizeof *count);
  gbt_gh16 gh16[ROWS];
  gbt_gh32 gh32[ROWS];
  for (uint32_t i = 0; i < n; i++) gh16[i] = m->gh16[rows[i]], gh32[i] = m->gh32[rows[i]];
  memset(acc, 0, bytes);
  memset(count, 0, places * sizeof *count);
  for (uint32_t i = 0; i < n;) {
    uint32_t page = rows[i] / PAGE_ROWS, end = i;
    while (end < n && rows[end] / PAGE_ROWS == page) end++;
    cpu_hist_job job = {.codes = m->page[page],
                        .row_beg = (int64_t)page * PAGE_ROWS,
                        .rows = runs ? NULL : rows + i,
                        .first = rows[i],
                        .n = end - i,
                        .gh = wide_sums ? (const void *)(gh32 + i) : gh16 + i,
                        .offset = m->offset,
                        .n_feats = m->n_feats,
                        .stride = m->stride,
                        .acc = acc,
                        .count = counts ? count : NULL};
    cpu_hist_run(&job, m->wide, wide_sums, counts);
    i = end;
  }
  compare_hist(m, rows, n, wide_sums, counts, acc, count);
  free(acc);
  free(count);
}

static void histograms_equal_loops(void) {
  test_rng rng = {1};
  uint32_t rows[ROWS];
  for (int wide = 0; wide <= 1; wide++)
    for (int32_t n_feats = 1; n_feats <= (wide ? 8 : MAX_FEATS); n_feats++) {
      made_group *m = make_group(&rng, n_feats, wide);
      for (int variant = 0; variant < 4; variant++) {
        uint32_t n = 0;
        for (uint32_t r = 0; r < ROWS; r++)
          if (test_below(&rng, 10) < 6) rows[n++] = r;
        one_hist(m, rows, n, 0, variant & 1, variant >> 1); /* gathered, over all pages */
        one_hist(m, rows, 1, 0, variant & 1, variant >> 1);
        n = 0;
        for (uint32_t r = 31; r < ROWS - 7; r++) rows[n++] = r;
        one_hist(m, rows, n, 1, variant & 1, variant >> 1); /* contiguous, from the middle of a page on */
        one_hist(m, rows, n, 0, variant & 1, variant >> 1);
      }
      free_group(m);
    }
}

/* 65,536 rows of the largest and smallest numbers, all in one slot. */
static void packed_sums_hold_the_extremes(void) {
  const uint32_t n = 65536;
  const int16_t g[] = {-32768, 32767, -32768, 0, -1};
  const uint16_t h[] = {65535, 65535, 0, 65535, 65535};
  uint8_t *codes = test_alloc(4 * (size_t)n);
  gbt_gh16 *gh = test_alloc(n * sizeof *gh);
  const uint32_t offset[4] = {0, 1, 2, 3};
  memset(codes, 0, 4 * (size_t)n);
  for (int i = 0; i <= 5; i++) {
    int64_t acc[4 * CPU_STRIDE] = {0}, want_g = 0, want_h = 0;
    for (uint32_t r = 0; r < n; r++) {
      int k = i < 5 ? i : (int)(r % 5); /* the last time: all of them mixed */
      gh[r] = (gbt_gh16){g[k], h[k]};
      want_g += g[k];
      want_h += h[k];
    }
    cpu_hist_job job = {.codes = codes, .n = n, .gh = gh, .offset = offset, .n_feats = 4, .stride = 4, .acc = acc};
    cpu_hist_run(&job, 0, 0, 0);
    for (uint32_t k = 0; k < 4; k++) {
      CHECK_EQ_I64(unpacked(acc, 0, k * CPU_STRIDE).g, want_g);
      CHECK_EQ_I64(unpacked(acc, 0, k * CPU_STRIDE).h, want_h);
    }
  }
  free(codes);
  free(gh);
}

static void wide_sums_hold_the_extremes(void) {
  const uint32_t n = 100000;
  uint8_t *codes = test_alloc(4 * (size_t)n);
  gbt_gh32 *gh = test_alloc(n * sizeof *gh);
  const uint32_t offset[4] = {0, 1, 2, 3};
  gbt_sum acc[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
  uint32_t count[4] = {0, 0, 0, 0};
  memset(codes, 0, 4 * (size_t)n);
  for (uint32_t r = 0; r < n; r++) gh[r] = (gbt_gh32){INT32_MIN, UINT32_MAX};
  cpu_hist_job job = {
      .codes = codes, .n = n, .gh = gh, .offset = offset, .n_feats = 3, .stride = 4, .acc = acc, .count = count};
  cpu_hist_run(&job, 0, 1, 1);
  for (int k = 0; k < 4; k++) {
    CHECK_EQ_I64(acc[k].g, k < 3 ? (int64_t)INT32_MIN * n : 0);
    CHECK_EQ_I64(acc[k].h, k < 3 ? (int64_t)UINT32_MAX * n : 0);
    CHECK_EQ_I64(count[k], k < 3 ? n : 0);
  }
  free(codes);
  free(gh);
}

void suite_cpu_hist(void) {
  RUN(histograms_equal_loops);
  RUN(packed_sums_hold_the_extremes);
  RUN(wide_sums_hold_the_extremes);
}
