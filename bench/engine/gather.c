/* What a histogram costs a cell (a row's code of one feature) by layer, apart from the engine: 16 features whose codes
 * lie row by row, as in a page, added for every second node of a layer of a full tree. Rows are at random in nodes.
 *
 *   gather [rows]                        default 1000000
 *
 *   gathered   rows of a node, ascending, wherever they lie, fetched AHEAD rows before: what the engine does
 *   in order   rows of a node side by side: the limit of additions in the first-level cache
 *   move       codes of all rows go left or right of their node, ns per row (16 codes)
 *   collect    codes of all rows are gathered once into the order of nodes, ns per row
 *
 * Processor time of one thread, least of 25 turns. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"

enum { FEATURES = 16, PLACES = 257, LAYERS = 9, TURNS = 25, AHEAD = 24 };

static int64_t sums[FEATURES * PLACES];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void add_row(const uint8_t *codes, int64_t v) {
  for (int j = 0; j < FEATURES; j++) sums[j * PLACES + codes[j]] += v;
}

static void add_gathered(const uint8_t *codes, const uint32_t *rows, const int64_t *v, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (i + AHEAD < n) __builtin_prefetch(codes + (size_t)rows[i + AHEAD] * FEATURES);
    add_row(codes + (size_t)rows[i] * FEATURES, v[i]);
  }
}

static void add_in_order(const uint8_t *codes, const int64_t *v, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) add_row(codes + (size_t)i * FEATURES, v[i]);
}

static void move(const uint8_t *codes, const uint8_t *right, uint32_t n, uint8_t *to) {
  uint32_t at[2] = {0, 0};
  for (uint32_t i = 0; i < n; i++) at[1] += !right[i];
  for (uint32_t i = 0; i < n; i++)
    memcpy(to + (size_t)at[right[i]]++ * FEATURES, codes + (size_t)i * FEATURES, FEATURES);
}

static void collect(const uint8_t *codes, const uint32_t *rows, uint32_t n, uint8_t *to) {
  for (uint32_t i = 0; i < n; i++) {
    if (i + AHEAD < n) __builtin_prefetch(codes + (size_t)rows[i + AHEAD] * FEATURES);
    memcpy(to + (size_t)i * FEATURES, codes + (size_t)rows[i] * FEATURES, FEATURES);
  }
}

/* Rows by node, ascending. */
static void place_rows(uint32_t n, uint32_t n_nodes, uint32_t *rows, uint32_t *beg) {
  uint32_t at = 0;
  for (uint32_t k = 0; k < n_nodes; k++) {
    beg[k] = at;
    for (uint32_t i = 0; i < n; i++)
      if (gbt_mix64(i + 99) % n_nodes == k) rows[at++] = i;
  }
  beg[n_nodes] = at;
}

static double least(double x, double y) { return x < y ? x : y; }

int main(int argc, char **argv) {
  const uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
  const size_t n_codes = (size_t)n * FEATURES;
  uint8_t *codes = malloc(n_codes), *moved = malloc(n_codes), *right = malloc(n);
  uint32_t *rows = malloc(n * sizeof *rows), beg[(1 << (LAYERS - 1)) + 1];
  int64_t *v = malloc(n * sizeof *v);
  if (n == 0 || !codes || !moved || !right || !rows || !v) return 1;
  for (size_t i = 0; i < n_codes; i++) codes[i] = (uint8_t)gbt_mix64(i);
  memcpy(moved, codes, n_codes);
  for (uint32_t i = 0; i < n; i++) {
    right[i] = gbt_mix64(i + 5) & 1;
    v[i] = (int64_t)(gbt_mix64(i) >> 20);
  }
  printf("layer  nodes  gathered ns/cell  in order ns/cell  move ns/row  collect ns/row\n");
  for (int layer = 0; layer < LAYERS; layer++) {
    const uint32_t n_nodes = (uint32_t)1 << layer;
    double best[4] = {1e9, 1e9, 1e9, 1e9}, cells = 0.0;
    place_rows(n, n_nodes, rows, beg);
    for (uint32_t k = 0; k < n_nodes; k += 2) cells += (double)(beg[k + 1] - beg[k]) * FEATURES;
    for (int turn = 0; turn < TURNS; turn++) {
      double t[5] = {now()};
      for (uint32_t k = 0; k < n_nodes; k += 2) add_gathered(codes, rows + beg[k], v + beg[k], beg[k + 1] - beg[k]);
      t[1] = now();
      for (uint32_t k = 0; k < n_nodes; k += 2)
        add_in_order(moved + (size_t)beg[k] * FEATURES, v + beg[k], beg[k + 1] - beg[k]);
      t[2] = now();
      for (uint32_t k = 0; k < n_nodes; k++)
        move(codes + (size_t)beg[k] * FEATURES, right + beg[k], beg[k + 1] - beg[k], moved + (size_t)beg[k] * FEATURES);
      t[3] = now();
      for (uint32_t k = 0; k < n_nodes; k++)
        collect(codes, rows + beg[k], beg[k + 1] - beg[k], moved + (size_t)beg[k] * FEATURES);
      t[4] = now();
      for (int i = 0; i < 4; i++) best[i] = least(best[i], (t[i + 1] - t[i]) / (i < 2 ? cells : (double)n));
    }
    printf("%5d  %5u  %16.3f  %16.3f  %11.2f  %14.2f\n", layer, (unsigned)n_nodes, best[0], best[1], best[2], best[3]);
    fflush(stdout);
  }
  printf("(sum %lld)\n", (long long)sums[0]);
  free(codes);
  free(moved);
  free(right);
  free(rows);
  free(v);
  return 0;
}
