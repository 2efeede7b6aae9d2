/* Damaged and crafted model files: an error, or a model that survives every use (model_use.h).
 *
 *   damaged   cut, extended, bytes changed: the checksum catches them all
 *   crafted   made by someone who knows the format and puts the checksum right: every check has to hold by itself
 *
 * Run it under the sanitizers. GBT_FUZZ=n in the environment takes n times as many cases; ../fuzz has millions. */
#include "../../src/gbt/model/model_impl.h"
#include "model_seeds.h"
#include "model_use.h"
#include "mutate.h"

enum { DAMAGED = 1000, CRAFTED = 24000, MOST = 8192, SEEDS = MODEL_SEEDS + 2 }; /* the last two have linear leaves */

static int64_t times(void) {
  const char *text = getenv("GBT_FUZZ");
  long n = text == NULL ? 1 : strtol(text, NULL, 10);
  return n < 1 ? 1 : n;
}

/* A model to start from, or one under way. */
typedef struct blob {
  uint8_t *bytes;
  size_t n;
} blob;

static blob make_model(uint64_t seed) {
  blob b = {NULL, 0};
  b.bytes = seed < MODEL_SEEDS ? model_seed(seed, &b.n) : seed == MODEL_SEEDS ? model_seed_linear(&b.n) :
            model_seed_numbers(&b.n);
  return b;
}

static blob copy_of(blob from) {
  blob b = {test_alloc(from.n), from.n};
  memcpy(b.bytes, from.bytes, from.n);
  return b;
}

/* ---- damage ---- */

static blob damage(test_rng *rng, blob from, int64_t kind) {
  int64_t n = (int64_t)from.n;
  blob b = {NULL, 0};
  if (kind == 0) { /* cut */
    b.n = (size_t)test_below(rng, n);
    b.bytes = test_alloc(b.n);
    memcpy(b.bytes, from.bytes, b.n);
  } else if (kind == 1) { /* extended */
    b.n = (size_t)(n + 1 + test_below(rng, 64));
    b.bytes = test_alloc(b.n);
    memcpy(b.bytes, from.bytes, from.n);
    for (size_t i = from.n; i < b.n; i++) b.bytes[i] = (uint8_t)(test_below(rng, 2) ? 0 : test_u(rng));
  } else if (kind == 2) { /* bytes changed */
    b = copy_of(from);
    for (int64_t i = 1 + test_below(rng, 4); i > 0; i--) {
      int64_t at = test_below(rng, n);
      b.bytes[at] = (uint8_t)(from.bytes[at] ^ (uint8_t)(1 + test_below(rng, 255)));
    }
  } else { /* nothing to do with a model */
    b.n = (size_t)test_below(rng, 400);
    b.bytes = test_alloc(b.n);
    for (size_t i = 0; i < b.n; i++) b.bytes[i] = (uint8_t)test_u(rng);
    if (test_below(rng, 2)) memcpy(b.bytes, from.bytes, b.n < 12 ? b.n : 12);
  }
  return b;
}

static void damaged_files(void) {
  test_rng rng = {1};
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    blob from = make_model(seed);
    REQUIRE(from.bytes != NULL);
    CHECK_EQ_I64(model_use(from.bytes, from.n), 1);
    for (int64_t i = 0; i < DAMAGED * times(); i++) {
      blob b = damage(&rng, from, i % 4);
      CHECK_EQ_I64(model_use(b.bytes, b.n), 0);
      free(b.bytes);
    }
    free(from.bytes);
  }
}

/* ---- craft ---- */

/* One to three mutations of a seed, or of a seed merged with another. */
static blob craft(test_rng *rng, const blob *seeds) {
  blob from = seeds[test_below(rng, SEEDS)], other = seeds[test_below(rng, SEEDS)];
  blob b = {test_alloc(MOST), from.n};
  memcpy(b.bytes, from.bytes, from.n);
  if (test_below(rng, 8) == 0) {
    size_t n = mutate_merge(rng, from.bytes, from.n, other.bytes, other.n, b.bytes, MOST);
    if (n > 0) b.n = n;
  }
  for (int64_t i = 1 + test_below(rng, 3); i > 0; i--) b.n = mutate_model(rng, b.bytes, b.n, MOST);
  return b;
}

static void crafted_files(void) {
  test_rng rng = {2};
  blob seeds[SEEDS];
  int64_t n_models = 0, n = CRAFTED * times();
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    seeds[seed] = make_model(seed);
    REQUIRE(seeds[seed].n <= MOST);
  }
  for (int64_t i = 0; i < n; i++) {
    blob b = craft(&rng, seeds);
    n_models += model_use(b.bytes, b.n);
    free(b.bytes);
  }
  for (uint64_t seed = 0; seed < SEEDS; seed++) free(seeds[seed].bytes);
  test_note("%" PRId64 " of %" PRId64 " crafted files are models", n_models, n);
  CHECK(n_models > n / 40 && n_models < n / 4 * 3); /* both outcomes are seen */
}

/* A model in which the place of everything is known.
 *
 *   columns    0 "x" numeric, 1 "c1" with levels "a" "b", 2 "c2" with levels "d" "e"; no tags
 *   texts      squared_error . x . .  c1 . . a . b .  c2 . . d . e .  m1 . hi .  m2 .         (. = NUL)
 *   positions  0               14     17     21  23   25     29  31   33   36    39 */
static blob known_model(void) {
  static const char *const levels1[] = {"a", "b"}, *const levels2[] = {"d", "e"}, *const hi[] = {"hi"};
  static const int32_t ints[] = {1, 2, 3};
  static const gbt_schema_column feat[] = {
      {"x", "", GBT_NUMERIC, 0, NULL}, {"c1", "", GBT_CATEGORICAL, 2, levels1}, {"c2", "", GBT_ORDINAL, 2, levels2}};
  static const gbt_meta meta[] = {{"m1", GBT_META_TEXT, 1, hi, NULL, NULL}, {"m2", GBT_META_INT, 3, NULL, NULL, ints}};
  gbt_mem mem = gbt_mem_default();
  gbt_schema *schema = NULL;
  gbt_forest *forest = NULL;
  gbt_node leaf;
  double zero = 0.0;
  uint32_t count = 1;
  uint8_t *bytes = NULL;
  blob b = {NULL, 0};
  memset(&leaf, 0, sizeof leaf);
  CHECK_OK(gbt_schema_new(&mem, 3, feat, &schema, test_err));
  CHECK_OK(gbt_forest_new(&mem, 3, 1, 1, &forest, test_err));
  gbt_tree_parts tree = {1, 0, &leaf, &zero, &zero, &count, NULL, NULL, {0}};
  CHECK_OK(gbt_forest_add(forest, &tree, test_err));
  gbt_model_parts parts = {gbt_forest_view_of(forest), gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1), schema, meta, 2};
  CHECK_OK(gbt_model_write(&mem, &parts, &bytes, &b.n, test_err));
  b.bytes = test_alloc(b.n);
  memcpy(b.bytes, bytes, b.n);
  gbt_mem_free(&mem, bytes);
  gbt_forest_free(forest);
  gbt_schema_unref(schema);
  return b;
}

/* Writes the low bytes of x at a place of a section. */
static void put(blob b, gbti_section_id id, uint64_t at, int size, uint64_t x) {
  memcpy(b.bytes + section_of(b.bytes, id).beg + at, &x, (size_t)size);
}

/* The number of bytes that the table of sections gives. */
static void put_size(blob b, gbti_section_id id, uint64_t size) {
  memcpy(b.bytes + section_row(b.bytes, id) + offsetof(gbti_section, bytes), &size, 8);
}

/* Lies that are consistent but for one thing; random changes do not find them. */
static void make_lie(blob b, int lie) {
  switch (lie) {
  case 0:
    put(b, GBTI_SEC_COLUMNS, 24 + 16, 4, GBT_NUMERIC);
    break; /* a number with levels */
  case 1:  /* a feature without a name: texts . q . */
    put(b, GBTI_SEC_TEXTS, 14, 2, (uint64_t)'q' << 8);
    put(b, GBTI_SEC_COLUMNS, 8, 8, 15);
    break;
  case 2:
    put(b, GBTI_SEC_TEXTS, 26, 1, '1');
    break; /* two features c1 */
  case 3:
    put(b, GBTI_SEC_TEXTS, 23, 1, 'a');
    break; /* two levels a */
  case 4:  /* levels that sum up right: -1 and 5 */
    put(b, GBTI_SEC_COLUMNS, 24 + 20, 4, UINT64_MAX);
    put(b, GBTI_SEC_COLUMNS, 48 + 20, 4, 5);
    break;
  case 5: /* the last level is of no column */
    put(b, GBTI_SEC_COLUMNS, 48 + 20, 4, 1);
    break;
  case 6: /* an entry without a name: texts . 1 h h i . */
    put(b, GBTI_SEC_TEXTS, 33, 1, 0);
    put(b, GBTI_SEC_TEXTS, 35, 1, 'h');
    put(b, GBTI_SEC_META_VALUES, 0, 8, 34);
    break;
  case 7:
    put(b, GBTI_SEC_TEXTS, 40, 1, '1');
    break; /* two entries m1 */
  case 8:
    put(b, GBTI_SEC_META_VALUES, 8 + 12, 4, 1);
    break; /* something behind the ints */
  case 9:
    put_size(b, GBTI_SEC_META_VALUES, 20);
    break; /* the ints are not filled up */
  case 10:
    put(b, GBTI_SEC_GAIN, 0, 8, gbt_bits(NAN));
    break; /* NaNs */
  case 11:
    put(b, GBTI_SEC_COVER, 0, 8, gbt_bits(NAN));
    break;
  case 12:
    put(b, GBTI_SEC_NODES, 0, 8, gbt_bits(NAN));
    break;
  case 13:
    put(b, GBTI_SEC_BASE, 0, 8, gbt_bits(NAN));
    break;
  case 14:
    put(b, GBTI_SEC_NUMBERS, 12, 4, 0);
    break; /* no parallel trees */
  case 15:
    put(b, GBTI_SEC_NUMBERS, 12, 4, 2);
    break; /* half a round */
  case 16:
    put(b, GBTI_SEC_NUMBERS, 8, 4, 2);
    break; /* two values a leaf, one output */
  case 17:
    put(b, GBTI_SEC_NUMBERS, 8, 4, 0);
    break; /* no values */
  case 18:
    put(b, GBTI_SEC_TEXTS, 0, 1, 'S');
    break; /* another objective */
  case 19: /* a name of no letters, names in capitals, a flag that is none, not needed */
    b.bytes[section_row(b.bytes, GBTI_SEC_GAIN)] = 0;
    break;
  case 20:
    b.bytes[section_row(b.bytes, GBTI_SEC_GAIN)] = 'G';
    break;
  case 21:
    b.bytes[section_row(b.bytes, GBTI_SEC_GAIN) + 9] = 'x';
    break;
  case 22:
    b.bytes[section_row(b.bytes, GBTI_SEC_GAIN) + 16] = 2;
    break;
  case 23:
    b.bytes[section_row(b.bytes, GBTI_SEC_GAIN) + 16] = 1;
    break;
  case 24:
    b.bytes[section_row(b.bytes, GBTI_SEC_NODES) + 16] = 0;
    break;
  case 25:
    b.bytes[section_row(b.bytes, GBTI_SEC_NODES) + 20] = 1;
    break;
  case 26: { /* sections in another order: gain and cover are alike */
    const size_t gain = section_row(b.bytes, GBTI_SEC_GAIN);
    memcpy(b.bytes + gain, "cover", 5);
    memcpy(b.bytes + gain + sizeof(gbti_section), "gain\0", 5);
    break;
  }
  default:
    break;
  }
}

static void consistent_lies(void) {
  for (int lie = 0; lie <= 27; lie++) {
    blob b = known_model();
    make_lie(b, lie);
    mutate_seal(b.bytes, b.n);
    if (!CHECK_EQ_I64(model_use(b.bytes, b.n), lie == 27)) test_note("lie %d", lie);
    free(b.bytes);
  }
}

/* Linear leaves whose terms have means that do not go with their constants, such as no means at all. */
static void slopes_without_means(void) {
  blob from = make_model(MODEL_SEEDS);
  REQUIRE(from.bytes != NULL);
  const gbti_section terms = section_of(from.bytes, GBTI_SEC_LINEAR_TERMS);
  for (int lie = 0; lie < 2; lie++) {
    blob b = copy_of(from);
    for (uint64_t at = 0; lie == 1 && at < terms.bytes; at += sizeof(gbt_linear_term))
      put(b, GBTI_SEC_LINEAR_TERMS, at + offsetof(gbt_linear_term, mean), 4, 0);
    mutate_seal(b.bytes, b.n);
    CHECK_EQ_I64(model_use(b.bytes, b.n), lie == 0);
    free(b.bytes);
  }
  free(from.bytes);
}

/* Leaves of numbers have nothing that belongs to bins. */
static void lies_about_numbers(void) {
  const struct {
    gbti_section_id section;
    uint64_t at;
    int size;
    uint64_t value;
  } lies[] = {{GBTI_SEC_LINEAR_GRIDS, offsetof(gbt_linear_grid, n_bins), 4, 2},
              {GBTI_SEC_LINEAR_GRIDS, offsetof(gbt_linear_grid, beg), 8, 1},
              {GBTI_SEC_LINEAR_GRIDS, offsetof(gbt_linear_grid, feat), 4, 3}, /* categories */
              {GBTI_SEC_LINEAR_LEAVES, offsetof(gbt_linear_leaf, start), 8, gbt_bits(INFINITY)},
              {GBTI_SEC_LINEAR_LEAVES, offsetof(gbt_linear_leaf, low), 8, gbt_bits(-1.0)},
              {GBTI_SEC_LINEAR_LEAVES, offsetof(gbt_linear_leaf, high), 8, gbt_bits(1.0)},
              {GBTI_SEC_LINEAR_LEAVES, offsetof(gbt_linear_leaf, term_beg), 8, 1},
              {GBTI_SEC_LINEAR_LEAVES, offsetof(gbt_linear_leaf, n_terms), 4, 0},
              {GBTI_SEC_LINEAR_LEAVES, offsetof(gbt_linear_leaf, n_terms), 4, UINT32_MAX},
              {GBTI_SEC_LINEAR_TERMS, offsetof(gbt_linear_term, slope), 8, gbt_bits(NAN)},
              {GBTI_SEC_LINEAR_TERMS, offsetof(gbt_linear_term, grid), 4, 7},
              {GBTI_SEC_LINEAR_TERMS, offsetof(gbt_linear_term, mean), 4, 1},
              {GBTI_SEC_LINEAR_TERMS, offsetof(gbt_linear_term, slope), 8, gbt_bits(0.25)}}; /* sound */
  enum { N_LIES = (int)(sizeof lies / sizeof *lies) };
  blob from = make_model(MODEL_SEEDS + 1);
  REQUIRE(from.bytes != NULL);
  for (int i = 0; i < N_LIES; i++) {
    blob b = copy_of(from);
    put(b, lies[i].section, lies[i].at, lies[i].size, lies[i].value);
    mutate_seal(b.bytes, b.n);
    if (!CHECK_EQ_I64(model_use(b.bytes, b.n), i == N_LIES - 1)) test_note("lie %d", i);
    free(b.bytes);
  }
  free(from.bytes);
}

/* A header that promises more than there is: refused before anything is allocated for it. */
static void absurd_sizes(void) {
  static const uint64_t huge[] = {1ull << 31, 1ull << 32, 1ull << 40, 1ull << 61, 1ull << 63, UINT64_MAX};
  blob from = make_model(1);
  REQUIRE(from.bytes != NULL);
  for (uint64_t at = 8; at + 8 <= section_of(from.bytes, GBTI_SEC_BASE).beg; at += 4)
    for (int i = 0; i < 6; i++) {
      if (at == 16) at = 32; /* the size and the checksum are made right */
      blob b = copy_of(from);
      memcpy(b.bytes + at, &huge[i], 8);
      mutate_seal(b.bytes, b.n);
      int same = memcmp(b.bytes, from.bytes, b.n) == 0; /* a flag that was set before */
      if (!CHECK_EQ_I64(model_use(b.bytes, b.n), same)) test_note("at %d: number %d", (int)at, i);
      free(b.bytes);
    }
  free(from.bytes);
}

void suite_fuzz(void) {
  RUN(damaged_files);
  RUN(crafted_files);
  RUN(consistent_lies);
  RUN(slopes_without_means);
  RUN(lies_about_numbers);
  RUN(absurd_sizes);
}
