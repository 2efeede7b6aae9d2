/* Damaged and crafted model files: an error, or a model that predicts without any memory error and as its twin does.
 *
 *   damaged   cut, extended, bytes changed: the checksum catches them all
 *   crafted   made by someone who knows the format and puts the checksum right: every check has to hold by itself
 *
 * Run it under the sanitizers. GBT_FUZZ=n in the environment takes n times as many cases. */
#include "../../src/gbt/model/format.h"
#include "../../src/gbt/model/model.h"
#include "forests.h"
#include "naive_predict.h"

enum { DAMAGED = 3000, CRAFTED = 24000, N_SEEDS = 4, N_ROWS = 14 };

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
  static const char *const classes[] = {"yes", NULL, "no"};
  static const double log[] = {0.5, 0.25};
  static const int32_t ints[] = {1, 2, 3};
  static const gbt_meta meta[] = {{"classes", GBT_META_TEXT, 3, classes, NULL, NULL},
                                  {"log", GBT_META_DOUBLE, 2, NULL, log, NULL},
                                  {"ints", GBT_META_INT, 3, NULL, NULL, ints}};
  static const forest_spec specs[N_SEEDS] = {{1, 1, 3, 6, SHAPE_BUSHY, 0},
                                             {2, 2, 2, 9, SHAPE_BUSHY, 1},
                                             {1, 1, 2, 40, SHAPE_CHAIN, 1},
                                             {3, 1, 1, 15, SHAPE_COMPLETE, 1}};
  test_rng rng = {seed};
  gbt_mem mem = gbt_mem_default();
  gbt_schema *schema = make_schema(&rng, 2 + (int32_t)seed * 2, 12);
  gbt_forest *forest = make_forest(&rng, schema, &specs[seed]);
  gbt_forest_view view = gbt_forest_look(forest);
  uint8_t *bytes = NULL;
  blob b = {NULL, 0};
  if (CHECK_OK(gbt_model_write(&mem, &view, schema, meta, 3, &bytes, &b.n, test_err))) {
    b.bytes = test_alloc(b.n);
    memcpy(b.bytes, bytes, b.n);
  }
  gbt_mem_free(&mem, bytes);
  gbt_forest_free(forest);
  gbt_schema_unref(schema);
  return b;
}

static blob copy_of(blob from) {
  blob b = {test_alloc(from.n), from.n};
  memcpy(b.bytes, from.bytes, from.n);
  return b;
}

/* ---- using what was opened ---- */

/* Looks at every text and number of the model. */
static size_t read_everything(const gbt_model *model) {
  size_t sum = 0;
  for (int32_t f = 0; f < model->schema->n_features; f++) {
    const gbt_feature *feat = &model->schema->feat[f];
    sum += strlen(feat->name) + strlen(feat->tag);
    for (int32_t i = 0; i < feat->n_levels; i++) sum += strlen(feat->levels[i]);
  }
  for (int32_t m = 0; m < model->n_meta; m++) {
    const gbt_meta *meta = &model->meta[m];
    sum += strlen(meta->name);
    for (int64_t i = 0; i < meta->n; i++) {
      if (meta->kind == GBT_META_TEXT && meta->text[i] != NULL) sum += strlen(meta->text[i]);
      if (meta->kind == GBT_META_DOUBLE) sum += meta->num[i] > 0.0;
      if (meta->kind == GBT_META_INT) sum += (size_t)(meta->ints[i] > 0);
    }
  }
  for (uint64_t i = 0; i < model->forest.n_nodes; i++) sum += model->forest.count[i] & 1u;
  return sum;
}

static void predict_with(gbt_ctx *ctx, const gbt_model *model, const gbt_binding *binding) {
  const gbt_forest_view *view = &model->forest;
  gbt_tree_range all = {0, view->n_trees};
  size_t n = (size_t)view->n_outputs * N_ROWS, n_features = (size_t)view->n_features;
  double *scores = test_alloc(n * sizeof *scores), *sums = test_alloc(3 * n_features * sizeof *sums);
  int32_t *leaves = twin_leaves(view, binding, all);
  double *want = twin_scores(view, N_ROWS, all, NULL, leaves);
  CHECK_OK(gbt_predict_scores(ctx, view, binding, all, NULL, scores, test_err));
  CHECK_EQ_BYTES(scores, want, n * sizeof *scores);
  check_both_ways(ctx, view, binding, all, leaves);
  gbt_importance(view, all, sums, sums + n_features, sums + 2 * n_features);
  free(scores);
  free(sums);
  free(leaves);
  free(want);
}

/* There is one form of a model only: what was read is written as it was. */
static void write_again(const gbt_model *model, blob b) {
  gbt_mem mem = gbt_mem_default();
  uint8_t *bytes;
  size_t n_bytes;
  if (!CHECK_OK(
          gbt_model_write(&mem, &model->forest, model->schema, model->meta, model->n_meta, &bytes, &n_bytes, test_err)))
    return;
  if (CHECK_EQ_U64(n_bytes, b.n)) CHECK_EQ_BYTES(bytes, b.bytes, b.n);
  gbt_mem_free(&mem, bytes);
}

/* Opens the bytes, in a block of just their size. Returns 1 when they are a model. */
static int try_bytes(gbt_ctx *ctx, blob b, uint64_t seed) {
  gbt_mem mem = gbt_mem_default();
  gbt_model *model;
  gbt_error err = {GBT_OK, "", ""};
  blob exact = copy_of(b);
  gbt_status status = gbt_model_open(&mem, exact.bytes, exact.n, &model, &err);
  int ok = status == GBT_OK;
  if (ok) {
    test_rng rng = {seed};
    made_table *table = make_table(&rng, model->schema, N_ROWS);
    gbt_binding *binding;
    CHECK(read_everything(model) < SIZE_MAX);
    write_again(model, b);
    gbt_unseen unseen = seed % 2 ? GBT_UNSEEN_PRIOR : GBT_UNSEEN_MISSING;
    if (CHECK_OK(gbt_binding_new(ctx, &table->table, model->schema, unseen, &binding, test_err)))
      predict_with(ctx, model, binding);
    gbt_binding_free(binding);
    free_table(table);
  } else {
    CHECK(status == GBT_E_FORMAT && model == NULL && err.code == GBT_E_FORMAT && err.msg[0] != 0);
  }
  gbt_model_close(model);
  free(exact.bytes);
  return ok;
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
  gbt_ctx ctx;
  test_rng rng = {1};
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
    blob from = make_model(seed);
    REQUIRE(from.bytes != NULL);
    CHECK_EQ_I64(try_bytes(&ctx, from, seed), 1);
    for (int64_t i = 0; i < DAMAGED * times(); i++) {
      blob b = damage(&rng, from, i % 4);
      CHECK_EQ_I64(try_bytes(&ctx, b, 1), 0);
      free(b.bytes);
    }
    free(from.bytes);
  }
  gbt_ctx_close(&ctx);
}

/* ---- craft ---- */

static gbti_model_head head_of(blob b) {
  gbti_model_head head;
  memcpy(&head, b.bytes, sizeof head);
  return head;
}

/* Makes size and checksum right again. */
static void seal(blob b) {
  if (b.n < sizeof(gbti_model_head)) return;
  gbti_model_head head = head_of(b);
  head.n_bytes = b.n;
  memcpy(b.bytes, &head, sizeof head);
  head.checksum = gbti_model_checksum(b.bytes + GBTI_MODEL_SUMMED, b.n - GBTI_MODEL_SUMMED);
  memcpy(b.bytes, &head, sizeof head);
}

/* Numbers that are at the edge of something. */
static uint64_t edge(test_rng *rng, blob b) {
  const uint64_t edges[] = {0,          1,           2,
                            3,          7,           8,
                            0x7f,       0xff,        0xffff,
                            0x10000,    0x7fffffff,  0x80000000u,
                            0xffffffff, 0x100000000, UINT64_MAX,
                            1ull << 63, INT64_MAX,   UINT64_MAX - 7,
                            b.n,        b.n - 8,     b.n / 2 & ~7ull,
                            1ull << 61, 1ull << 62,  0x7ff0000000000000};
  return edges[test_below(rng, (int64_t)(sizeof edges / sizeof edges[0]))];
}

/* Changes a number of 4 or 8 bytes: by a little, to an edge, to another number of its kind. */
static void twist(test_rng *rng, blob b, uint64_t at, int size, uint64_t same_kind) {
  uint64_t x = 0;
  if (at >= b.n || (uint64_t)size > b.n - at) return;
  memcpy(&x, b.bytes + at, (size_t)size);
  int64_t kind = test_below(rng, 4);
  if (kind == 0) x += (uint64_t)(test_below(rng, 9) - 4);
  if (kind == 1) x = edge(rng, b);
  if (kind == 2) x ^= 1ull << test_below(rng, size * 8);
  if (kind == 3) x = same_kind;
  memcpy(b.bytes + at, &x, (size_t)size);
}

/* Whether the table of parts, which may be twisted already, has the part within the bytes. */
static int is_inside(blob b, gbti_model_section part) { return part.beg < b.n && part.bytes <= b.n - part.beg; }

/* A random record of a part: its position, or 0 when there is none. */
static uint64_t pick(test_rng *rng, blob b, gbti_model_part part, uint64_t size) {
  gbti_model_head head = head_of(b);
  uint64_t n = head.part[part].bytes / size;
  if (n == 0 || !is_inside(b, head.part[part])) return 0;
  return head.part[part].beg + (uint64_t)test_below(rng, (int64_t)n) * size;
}

static void twist_node(test_rng *rng, blob b) {
  uint64_t at = pick(rng, b, GBTI_PART_NODES, sizeof(gbt_node)),
           other = pick(rng, b, GBTI_PART_NODES, sizeof(gbt_node));
  if (at == 0 || other == 0) return;
  int64_t field = test_below(rng, 6);
  if (field == 0) twist(rng, b, at + 12, 4, (uint64_t)test_below(rng, 24)); /* left */
  if (field == 1) twist(rng, b, at + 8, 4, (uint64_t)test_below(rng, 8) | ((uint64_t)test_below(rng, 8) << 29));
  if (field == 2) twist(rng, b, at, 8, gbt_bits(make_number(rng)));
  if (field == 3) twist(rng, b, at, 4, (uint64_t)test_below(rng, 8)); /* set.beg */
  if (field == 4) twist(rng, b, at + 4, 4, (uint64_t)test_below(rng, 8));
  if (field == 5) memcpy(b.bytes + at, b.bytes + other, 16);
}

static void twist_record(test_rng *rng, blob b) {
  static const struct {
    gbti_model_part part;
    uint64_t size, field;
    int bytes;
  } fields[] = {
      {GBTI_PART_NUMBERS, 40, 0, 4},   {GBTI_PART_NUMBERS, 40, 4, 4},   {GBTI_PART_NUMBERS, 40, 8, 4},
      {GBTI_PART_NUMBERS, 40, 12, 4},  {GBTI_PART_NUMBERS, 40, 16, 8},  {GBTI_PART_NUMBERS, 40, 24, 8},
      {GBTI_PART_NUMBERS, 40, 32, 8},  {GBTI_PART_BASE, 8, 0, 8},       {GBTI_PART_TREES, 24, 0, 8},
      {GBTI_PART_TREES, 24, 8, 8},     {GBTI_PART_TREES, 24, 16, 4},    {GBTI_PART_TREES, 24, 20, 4},
      {GBTI_PART_SETS, 4, 0, 4},       {GBTI_PART_GAIN, 8, 0, 8},       {GBTI_PART_COVER, 8, 0, 8},
      {GBTI_PART_COUNT, 4, 0, 4},      {GBTI_PART_FEATURES, 24, 0, 8},  {GBTI_PART_FEATURES, 24, 8, 8},
      {GBTI_PART_FEATURES, 24, 16, 4}, {GBTI_PART_FEATURES, 24, 20, 4}, {GBTI_PART_LEVELS, 8, 0, 8},
      {GBTI_PART_META, 32, 0, 8},      {GBTI_PART_META, 32, 8, 4},      {GBTI_PART_META, 32, 12, 4},
      {GBTI_PART_META, 32, 16, 8},     {GBTI_PART_META, 32, 24, 8},     {GBTI_PART_VALUES, 8, 0, 8},
  };
  int64_t i = test_below(rng, (int64_t)(sizeof fields / sizeof fields[0]));
  uint64_t at = pick(rng, b, fields[i].part, fields[i].size);
  if (at > 0) twist(rng, b, at + fields[i].field, fields[i].bytes, (uint64_t)test_below(rng, 16));
}

static void twist_parts(test_rng *rng, blob b) {
  uint64_t p = (uint64_t)test_below(rng, GBTI_N_PARTS), q = (uint64_t)test_below(rng, GBTI_N_PARTS);
  uint64_t at = 32 + 16 * p, other = 32 + 16 * q;
  if (test_below(rng, 3) > 0) {
    twist(rng, b, at + 8 * (uint64_t)test_below(rng, 2), 8, (uint64_t)test_below(rng, (int64_t)b.n));
  } else {
    uint8_t save[16];
    memcpy(save, b.bytes + at, 16);
    memcpy(b.bytes + at, b.bytes + other, 16);
    memcpy(b.bytes + other, save, 16);
  }
}

static void twist_texts(test_rng *rng, blob b) {
  uint64_t at = pick(rng, b, GBTI_PART_TEXTS, 1);
  static const uint8_t bytes[] = {0, 0, 'a', 0x80, 0xc3, 0xff, '\n'};
  if (at > 0 && at < b.n) b.bytes[at] = bytes[test_below(rng, 7)];
}

/* Makes a part longer or shorter by whole words and moves what is behind it; the table of parts follows. */
static blob resize_part(test_rng *rng, blob b) {
  gbti_model_head head = head_of(b);
  uint64_t p = (uint64_t)test_below(rng, GBTI_N_PARTS), words = 1 + (uint64_t)test_below(rng, 4);
  uint64_t end = head.part[p].beg + gbti_align8(head.part[p].bytes);
  int grow = (int)test_below(rng, 2);
  if (!is_inside(b, head.part[p]) || end > b.n || (!grow && head.part[p].bytes < 8 * words)) return b;
  blob to = {NULL, grow ? b.n + 8 * words : b.n - 8 * words};
  to.bytes = test_alloc(to.n);
  size_t kept = grow ? end : end - 8 * words;
  memcpy(to.bytes, b.bytes, kept);
  if (grow) memset(to.bytes + kept, test_below(rng, 2) ? 0 : 'a', 8 * words);
  memcpy(to.bytes + (grow ? end + 8 * words : kept), b.bytes + end, b.n - end);
  if (grow)
    head.part[p].bytes = gbti_align8(head.part[p].bytes) + 8 * words;
  else
    head.part[p].bytes -= 8 * words;
  for (uint64_t q = p + 1; q < GBTI_N_PARTS; q++) head.part[q].beg += grow ? 8 * words : 0 - 8 * words;
  memcpy(to.bytes, &head, sizeof head);
  free(b.bytes);
  return to;
}

/* Another size, a multiple of 8 or not. */
static blob resize(test_rng *rng, blob b) {
  blob to = {NULL, b.n - 12 + (size_t)test_below(rng, 25)};
  to.bytes = test_alloc(to.n);
  memcpy(to.bytes, b.bytes, to.n < b.n ? to.n : b.n);
  if (to.n > b.n) memset(to.bytes + b.n, 0, to.n - b.n);
  free(b.bytes);
  return to;
}

static blob craft(test_rng *rng, blob from) {
  blob b = copy_of(from);
  int64_t n_edits = test_below(rng, 3) == 0 ? 1 + test_below(rng, 6) : 1;
  for (int64_t i = 0; i < n_edits; i++) {
    uint64_t word = 32 + 8 * (uint64_t)test_below(rng, (int64_t)(b.n - 32) / 8);
    switch (test_below(rng, 12)) {
    case 0:
      b.bytes[32 + test_below(rng, (int64_t)b.n - 32)] = (uint8_t)test_u(rng);
      break;
    case 1:
      twist(rng, b, word, 8, edge(rng, b));
      break;
    case 2:
      twist(rng, b, word + 4, 4, edge(rng, b));
      break;
    case 3:
      twist_parts(rng, b);
      break;
    case 4:
      twist_record(rng, b);
      break;
    case 5:
      twist_texts(rng, b);
      break;
    case 6:
      b = resize_part(rng, b);
      break;
    case 7:
      b = resize_part(rng, b);
      twist_record(rng, b);
      break;
    case 8:
      b = resize(rng, b);
      break;
    default:
      twist_node(rng, b);
    }
  }
  seal(b);
  return b;
}

static void crafted_files(void) {
  gbt_ctx ctx;
  test_rng rng = {2};
  int64_t n_models = 0, n = CRAFTED / N_SEEDS * times();
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
    blob from = make_model(seed);
    REQUIRE(from.bytes != NULL);
    for (int64_t i = 0; i < n; i++) {
      blob b = craft(&rng, from);
      n_models += try_bytes(&ctx, b, (uint64_t)i);
      free(b.bytes);
    }
    free(from.bytes);
  }
  gbt_ctx_close(&ctx);
  test_note("%" PRId64 " of %" PRId64 " crafted files are models", n_models, n * N_SEEDS);
  CHECK(n_models > n / 10 && n_models < n * 3); /* both outcomes are seen */
}

/* A model in which the place of everything is known.
 *
 *   features   0 "x" numeric, 1 "c1" with levels "a" "b", 2 "c2" with levels "d" "e"; no tags
 *   texts      x . .  c1 . . a . b .  c2 . . d . e .  m1 . hi .  m2 .         (. = NUL)
 *   positions  0   2  3      7   9    11     15  17   19   22    25 */
static blob known_model(void) {
  static const char *const levels1[] = {"a", "b"}, *const levels2[] = {"d", "e"}, *const hi[] = {"hi"};
  static const int32_t ints[] = {1, 2, 3};
  static const gbt_feature feat[] = {
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
  CHECK_OK(gbt_forest_add(forest, 1, &leaf, &zero, &zero, &count, 0, NULL, test_err));
  gbt_forest_view view = gbt_forest_look(forest);
  CHECK_OK(gbt_model_write(&mem, &view, schema, meta, 2, &bytes, &b.n, test_err));
  b.bytes = test_alloc(b.n);
  memcpy(b.bytes, bytes, b.n);
  gbt_mem_free(&mem, bytes);
  gbt_forest_free(forest);
  gbt_schema_unref(schema);
  return b;
}

/* Writes the low bytes of x at a place of a part. */
static void put(blob b, gbti_model_part part, uint64_t at, int size, uint64_t x) {
  memcpy(b.bytes + head_of(b).part[part].beg + at, &x, (size_t)size);
}

/* The number of bytes that the table of parts gives. */
static void put_size(blob b, gbti_model_part part, uint64_t size) { memcpy(b.bytes + 40 + 16 * part, &size, 8); }

/* Lies that are consistent but for one thing; random changes do not find them. */
static void make_lie(blob b, int lie) {
  switch (lie) {
  case 0:
    put(b, GBTI_PART_FEATURES, 24 + 16, 4, GBT_NUMERIC);
    break; /* a number with levels */
  case 1:  /* a feature without a name: texts . q . */
    put(b, GBTI_PART_TEXTS, 0, 2, (uint64_t)'q' << 8);
    put(b, GBTI_PART_FEATURES, 8, 8, 1);
    break;
  case 2:
    put(b, GBTI_PART_TEXTS, 12, 1, '1');
    break; /* two features c1 */
  case 3:
    put(b, GBTI_PART_TEXTS, 9, 1, 'a');
    break; /* two levels a */
  case 4:  /* levels that sum up right: -1 and 5 */
    put(b, GBTI_PART_FEATURES, 24 + 20, 4, UINT64_MAX);
    put(b, GBTI_PART_FEATURES, 48 + 20, 4, 5);
    break;
  case 5: /* three levels and 5 bytes: a, b, dxe */
    put_size(b, GBTI_PART_LEVELS, 29);
    put(b, GBTI_PART_FEATURES, 48 + 20, 4, 1);
    put(b, GBTI_PART_TEXTS, 16, 1, 'x');
    break;
  case 6: /* an entry without a name: texts . 1 h h i . */
    put(b, GBTI_PART_TEXTS, 19, 1, 0);
    put(b, GBTI_PART_TEXTS, 21, 1, 'h');
    put(b, GBTI_PART_VALUES, 0, 8, 20);
    break;
  case 7:
    put(b, GBTI_PART_TEXTS, 26, 1, '1');
    break; /* two entries m1 */
  case 8:
    put(b, GBTI_PART_VALUES, 8 + 12, 4, 1);
    break; /* something behind the ints */
  case 9:
    put_size(b, GBTI_PART_VALUES, 20);
    break; /* the ints are not filled up */
  case 10:
    put(b, GBTI_PART_GAIN, 0, 8, gbt_bits(NAN));
    break; /* NaNs */
  case 11:
    put(b, GBTI_PART_COVER, 0, 8, gbt_bits(NAN));
    break;
  case 12:
    put(b, GBTI_PART_NODES, 0, 8, gbt_bits(NAN));
    break;
  case 13:
    put(b, GBTI_PART_BASE, 0, 8, gbt_bits(NAN));
    break;
  case 14:
    put(b, GBTI_PART_NUMBERS, 8, 4, 0);
    break; /* no parallel trees */
  case 15:
    put(b, GBTI_PART_NUMBERS, 8, 4, 2);
    break; /* half a round */
  default:
    break;
  }
}

static void consistent_lies(void) {
  gbt_ctx ctx;
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  for (int lie = 0; lie <= 16; lie++) {
    blob b = known_model();
    make_lie(b, lie);
    seal(b);
    CHECK_EQ_I64(try_bytes(&ctx, b, 1), lie == 16);
    free(b.bytes);
  }
  gbt_ctx_close(&ctx);
}

/* A header that promises more than there is: refused before anything is allocated for it. */
static void absurd_sizes(void) {
  static const uint64_t huge[] = {1ull << 31, 1ull << 32, 1ull << 40, 1ull << 61, 1ull << 63, UINT64_MAX};
  gbt_ctx ctx;
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  blob from = make_model(1);
  REQUIRE(from.bytes != NULL);
  gbti_model_head head = head_of(from);
  for (uint64_t at = 32; at + 8 <= head.part[GBTI_PART_BASE].beg; at += 4)
    for (int i = 0; i < 6; i++) {
      blob b = copy_of(from);
      memcpy(b.bytes + at, &huge[i], 8);
      seal(b);
      CHECK_EQ_I64(try_bytes(&ctx, b, 1), 0);
      free(b.bytes);
    }
  free(from.bytes);
  gbt_ctx_close(&ctx);
}

void suite_fuzz(void) {
  RUN(damaged_files);
  RUN(crafted_files);
  RUN(consistent_lies);
  RUN(absurd_sizes);
}
