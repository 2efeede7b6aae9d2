/* Entries that were made to meet in one place of a hash table, by an attacker who knows the hash: they must take no
 * longer than others, or a small file keeps the process that opens it busy for hours. Without a salt they take hundreds
 * of times as long. */
#include <time.h>

#include "../../src/gbt/model/predict_job.h"
#include "../../src/gbt/schema/schema_impl.h"

#include "test.h"

enum { N = 30000, MEET = 20 }; /* so many of a hash's low bits are 0 */

/* The inverse of gbt_mix64. */
static uint64_t unmix(uint64_t x) {
  x = (x ^ (x >> 31) ^ (x >> 62)) * 0x319642b2d24d8ec3u;
  x = (x ^ (x >> 27) ^ (x >> 54)) * 0x96de1b173f119089u;
  x = x ^ (x >> 30) ^ (x >> 60);
  return x - 0x9e3779b97f4a7c15u;
}

/* What mixes to a number that ends with zeros. */
static uint64_t made_to_meet(test_rng *rng) { return unmix(test_u(rng) << MEET); }

static int has_zero_byte(uint64_t x) {
  for (int i = 0; i < 64; i += 8)
    if ((x >> i & 0xff) == 0) return 1;
  return 0;
}

static double seconds_of(clock_t from) { return (double)(clock() - from) / (double)CLOCKS_PER_SEC; }

/* Whether what took `made` seconds is of the order of what took `plain`. */
static int alike(double made, double plain) { return made < 20.0 * plain + 0.1; }

/* Texts of 16 bytes. text_hash() of schema/schema.c is mix(mix(mix(start ^ first) ^ second)), where start was once this
 * number. */
static double match_texts(test_rng *rng, int meet) {
  uint64_t(*words)[3] = test_alloc(N * sizeof *words);
  const char **text = test_alloc(N * sizeof *text);
  int32_t *pos = test_alloc(N * sizeof *pos), n_wrong = 0;
  for (int i = 0; i < N; i++) {
    do {
      words[i][0] = test_u(rng);
      words[i][1] = meet ? unmix(made_to_meet(rng)) ^ gbt_mix64((0x9ae16a3b2f90404fu ^ 16) ^ words[i][0]) : test_u(rng);
    } while (has_zero_byte(words[i][0]) || has_zero_byte(words[i][1]));
    words[i][2] = 0;
    text[i] = (const char *)words[i];
  }
  gbt_mem mem = gbt_mem_default();
  clock_t from = clock();
  CHECK_OK(gbt_match_texts(&mem, text, N, text, N, pos, test_err));
  double seconds = seconds_of(from);
  for (int i = 0; i < N; i++) n_wrong += pos[i] != i;
  CHECK_EQ_I64(n_wrong, 0);
  free(words);
  free(text);
  free(pos);
  return seconds;
}

static void texts(void) {
  test_rng rng = {1};
  double plain = match_texts(&rng, 0), made = match_texts(&rng, 1);
  CHECK(alike(made, plain));
}

/* A tree of N splits of one feature, packed. cut_slot() of model/predict_pack.c once mixed the threshold's
 * bits alone. */
static double pack_thresholds(test_rng *rng, int meet) {
  gbt_mem mem = gbt_mem_default();
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_node *nodes = test_alloc((2 * N + 1) * sizeof *nodes);
  double *zeros = test_alloc((2 * N + 1) * sizeof *zeros);
  uint32_t *counts = test_alloc((2 * N + 1) * sizeof *counts);
  gbt_forest *forest;
  gbti_pack *pack = NULL;
  memset(nodes, 0, (2 * N + 1) * sizeof *nodes);
  memset(zeros, 0, (2 * N + 1) * sizeof *zeros);
  memset(counts, 0, (2 * N + 1) * sizeof *counts);
  for (uint32_t i = 0; i < N; i++) {
    nodes[i].left = 2 * i + 1;
    do nodes[i].arg.value = gbt_from_bits(meet ? made_to_meet(rng) : test_u(rng));
    while (!isfinite(nodes[i].arg.value));
  }
  CHECK_OK(gbt_forest_new(&mem, 1, 1, 1, &forest, test_err));
  gbt_tree_parts tree = {2 * N + 1, 0, nodes, zeros, zeros, counts, NULL, NULL, {0}};
  CHECK_OK(gbt_forest_add(forest, &tree, test_err));
  gbt_forest_view view = gbt_forest_view_of(forest);
  gbt_tree_range all = {0, 1};
  clock_t from = clock();
  CHECK_OK(gbti_pack_new(&ctx, &view, all, &pack, test_err));
  double seconds = seconds_of(from);
  CHECK_EQ_U64(pack->trees.end, 1);
  gbti_pack_free(pack);
  gbt_forest_free(forest);
  gbt_ctx_close(&ctx);
  free(nodes);
  free(zeros);
  free(counts);
  return seconds;
}

static void thresholds(void) {
  test_rng rng = {2};
  double plain = pack_thresholds(&rng, 0), made = pack_thresholds(&rng, 1);
  CHECK(alike(made, plain));
}

void suite_salt(void) {
  RUN(texts);
  RUN(thresholds);
}
