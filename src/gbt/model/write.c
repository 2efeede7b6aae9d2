/* A forest, a schema and meta values to the bytes of a model (format.h).
 *
 *   measure   counts and checks everything, gives each part its place
 *   put_...   one function per group of parts, in the order of the format; text_at is where the next text goes
 *
 * Trees are written one after the other and counted from 0, whatever their place in the view, so that a view of some
 * of a forest's trees gives the model of just these. */
#include "check.h"
#include "format.h"
#include "model.h"

typedef struct writer {
  const gbt_forest_view *forest;
  const gbt_schema *schema;
  const gbt_meta *meta;
  gbti_model_numbers num;
  uint64_t n_levels, value_bytes, text_bytes;
  gbti_model_section part[GBTI_N_PARTS];
  uint8_t *out;
  uint64_t text_at;
} writer;

#define TOO_LARGE ((uint64_t)1 << 62)

/* sum + n * size; stays at TOO_LARGE once it got there. */
static uint64_t add(uint64_t sum, uint64_t n, uint64_t size) {
  if (sum >= TOO_LARGE || n > (TOO_LARGE - sum) / size) return TOO_LARGE;
  return sum + n * size;
}

static void *part_of(const writer *w, gbti_model_part part) { return w->out + w->part[part].beg; }

static void copy(void *to, const void *from, uint64_t bytes) {
  if (bytes > 0) memcpy(to, from, (size_t)bytes);
}

static gbt_status check_forest(const gbt_mem *mem, writer *w, gbt_error *err) {
  const gbt_forest_view *forest = w->forest;
  const gbt_schema *schema = w->schema;
  if (forest->n_features != schema->n_features)
    return gbt_fail(err, GBT_E_INTERNAL, "a forest of %d features and a schema of %d", (int)forest->n_features,
                    (int)schema->n_features);
  if (forest->n_leaf_outputs > 1)
    return gbt_fail(err, GBT_E_UNSUPPORTED, "models whose leaves hold a value for every class cannot be written");
  const char *fault = gbti_forest_fault(forest);
  if (fault != NULL) return gbt_fail(err, GBT_E_INTERNAL, "the model cannot be written: %s", fault);
  uint32_t most = 0;
  for (uint64_t t = 0; t < forest->n_trees; t++)
    if (forest->trees[t].n_nodes > most) most = forest->trees[t].n_nodes;
  uint64_t *seen;
  GBT_TRY(gbt_mem_array(mem, ((size_t)most + 63) / 64, sizeof *seen, &seen, err));
  gbt_status status = GBT_OK;
  for (uint64_t t = 0; t < forest->n_trees && status == GBT_OK; t++) {
    const gbt_tree *tree = &forest->trees[t];
    uint64_t beg = tree->node_beg;
    fault = gbti_tree_fault(tree, forest->nodes + beg, schema->feat, schema->n_features, seen);
    if (fault == NULL) fault = gbti_weights_fault(forest->gain + beg, forest->cover + beg, tree->n_nodes);
    if (fault != NULL)
      status = gbt_fail(err, GBT_E_INTERNAL, "the model cannot be written: tree %llu: %s", (unsigned long long)(t + 1),
                        fault);
    w->num.n_nodes += tree->n_nodes;
    w->num.n_words += tree->n_words;
  }
  gbt_mem_free(mem, seen);
  return status;
}

/* Adds a text to the size of the text part. */
static gbt_status measure_text(writer *w, const char *text, gbt_status code, const char *what, const char *name,
                               gbt_error *err) {
  size_t n = strlen(text);
  w->text_bytes = add(w->text_bytes, n, 1);
  w->text_bytes = add(w->text_bytes, 1, 1);
  if (gbti_utf8_ok(text, n)) return GBT_OK;
  return gbt_fail_on(err, code, name, "%s `%s` holds text that is not valid UTF-8; convert it with enc2utf8()", what,
                     name);
}

static gbt_status measure_schema(writer *w, gbt_error *err) {
  for (int32_t f = 0; f < w->schema->n_columns; f++) {
    const gbt_schema_column *feat = &w->schema->col[f];
    GBT_TRY(measure_text(w, feat->name, GBT_E_DATA, "column", feat->name, err));
    GBT_TRY(measure_text(w, feat->tag, GBT_E_DATA, "column", feat->name, err));
    for (int32_t i = 0; i < feat->n_levels; i++)
      GBT_TRY(measure_text(w, feat->levels[i], GBT_E_DATA, "column", feat->name, err));
    w->n_levels = add(w->n_levels, (uint64_t)feat->n_levels, 1);
  }
  return GBT_OK;
}

static uint64_t value_size(gbt_meta_kind kind) { return kind == GBT_META_INT ? 4 : 8; }

static gbt_status measure_meta(writer *w, gbt_error *err) {
  for (int32_t m = 0; m < w->num.n_meta; m++) {
    const gbt_meta *meta = &w->meta[m];
    if (meta->name == NULL || meta->name[0] == 0)
      return gbt_fail(err, GBT_E_ARG, "meta entry %d has no name", (int)m + 1);
    if (meta->n < 0 || meta->kind < GBT_META_TEXT || meta->kind > GBT_META_INT)
      return gbt_fail_on(err, GBT_E_ARG, meta->name, "meta entry `%s` has a wrong length or kind", meta->name);
    GBT_TRY(measure_text(w, meta->name, GBT_E_ARG, "meta entry", meta->name, err));
    w->value_bytes = add(w->value_bytes, (uint64_t)meta->n, value_size(meta->kind));
    w->value_bytes = gbti_align8(w->value_bytes);
    for (int64_t i = 0; meta->kind == GBT_META_TEXT && i < meta->n; i++)
      if (meta->text[i] != NULL) GBT_TRY(measure_text(w, meta->text[i], GBT_E_ARG, "meta entry", meta->name, err));
  }
  return GBT_OK;
}

static gbt_status check_meta_names(const gbt_mem *mem, const writer *w, gbt_error *err) {
  size_t n = (size_t)w->num.n_meta;
  const char **name = NULL;
  int32_t *pos = NULL;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *name, &name, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *pos, &pos, err), done);
  for (size_t m = 0; m < n; m++) name[m] = w->meta[m].name;
  GBT_TRY_GOTO(gbt_match_texts(mem, name, (int32_t)n, name, (int32_t)n, pos, err), done);
  for (size_t m = 0; m < n && status == GBT_OK; m++)
    if (pos[m] != (int32_t)m)
      status = gbt_fail_on(err, GBT_E_ARG, name[m], "there are two meta entries `%s`; names must differ", name[m]);
done:
  gbt_mem_free(mem, pos);
  gbt_mem_free(mem, name);
  return status;
}

/* Gives every part its place. Returns the size of the model. */
static uint64_t place_parts(writer *w) {
  const gbti_model_numbers *num = &w->num;
  const uint64_t shape[GBTI_N_PARTS][2] = {
      [GBTI_PART_NUMBERS] = {1, sizeof *num},
      [GBTI_PART_BASE] = {(uint64_t)num->n_outputs, 8},
      [GBTI_PART_TREES] = {num->n_trees, sizeof(gbt_tree)},
      [GBTI_PART_NODES] = {num->n_nodes, sizeof(gbt_node)},
      [GBTI_PART_SETS] = {num->n_words, 4},
      [GBTI_PART_GAIN] = {num->n_nodes, 8},
      [GBTI_PART_COVER] = {num->n_nodes, 8},
      [GBTI_PART_COUNT] = {num->n_nodes, 4},
      [GBTI_PART_FEATURES] = {(uint64_t)num->n_features, sizeof(gbti_model_feature)},
      [GBTI_PART_LEVELS] = {w->n_levels, 8},
      [GBTI_PART_META] = {(uint64_t)num->n_meta, sizeof(gbti_model_entry)},
      [GBTI_PART_VALUES] = {w->value_bytes, 1},
      [GBTI_PART_TEXTS] = {w->text_bytes, 1},
  };
  uint64_t at = sizeof(gbti_model_head);
  for (int p = 0; p < GBTI_N_PARTS; p++) {
    w->part[p].beg = at;
    w->part[p].bytes = add(0, shape[p][0], shape[p][1]);
    at = gbti_align8(add(at, w->part[p].bytes, 1));
  }
  return at;
}

static void put_forest(const writer *w) {
  const gbt_forest_view *forest = w->forest;
  gbt_tree *trees = part_of(w, GBTI_PART_TREES);
  gbt_node *nodes = part_of(w, GBTI_PART_NODES);
  uint32_t *sets = part_of(w, GBTI_PART_SETS), *count = part_of(w, GBTI_PART_COUNT);
  double *gain = part_of(w, GBTI_PART_GAIN), *cover = part_of(w, GBTI_PART_COVER);
  copy(part_of(w, GBTI_PART_NUMBERS), &w->num, sizeof w->num);
  copy(part_of(w, GBTI_PART_BASE), forest->base, (uint64_t)forest->n_outputs * 8);
  uint64_t node = 0, word = 0;
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree *tree = &forest->trees[t];
    uint64_t n = tree->n_nodes, beg = tree->node_beg;
    copy(nodes + node, forest->nodes + beg, n * sizeof *nodes);
    copy(gain + node, forest->gain + beg, n * sizeof *gain);
    copy(cover + node, forest->cover + beg, n * sizeof *cover);
    copy(count + node, forest->count + beg, n * sizeof *count);
    if (tree->n_words > 0) copy(sets + word, forest->sets + tree->set_beg, tree->n_words * sizeof *sets);
    trees[t].node_beg = node;
    trees[t].set_beg = word;
    trees[t].n_nodes = tree->n_nodes;
    trees[t].n_words = tree->n_words;
    node += n;
    word += tree->n_words;
  }
}

/* Returns its position. */
static uint64_t put_text(writer *w, const char *text) {
  uint64_t at = w->text_at, n = strlen(text) + 1;
  copy((uint8_t *)part_of(w, GBTI_PART_TEXTS) + at, text, n);
  w->text_at += n;
  return at;
}

static void put_schema(writer *w) {
  gbti_model_feature *out = part_of(w, GBTI_PART_FEATURES);
  uint64_t *level = part_of(w, GBTI_PART_LEVELS);
  for (int32_t f = 0; f < w->schema->n_columns; f++) {
    const gbt_schema_column *feat = &w->schema->col[f];
    out[f].name = put_text(w, feat->name);
    out[f].tag = put_text(w, feat->tag);
    out[f].type = (uint32_t)feat->type;
    out[f].n_levels = feat->n_levels;
    for (int32_t i = 0; i < feat->n_levels; i++) *level++ = put_text(w, feat->levels[i]);
  }
}

static void put_meta(writer *w) {
  gbti_model_entry *out = part_of(w, GBTI_PART_META);
  uint64_t at = 0;
  for (int32_t m = 0; m < w->num.n_meta; m++) {
    const gbt_meta *meta = &w->meta[m];
    uint64_t n = (uint64_t)meta->n;
    uint8_t *to = (uint8_t *)part_of(w, GBTI_PART_VALUES) + at;
    out[m].name = put_text(w, meta->name);
    out[m].kind = (uint32_t)meta->kind;
    out[m].n = n;
    out[m].beg = at;
    if (meta->kind == GBT_META_DOUBLE) copy(to, meta->num, n * 8);
    if (meta->kind == GBT_META_INT) copy(to, meta->ints, n * 4);
    for (uint64_t i = 0; meta->kind == GBT_META_TEXT && i < n; i++) {
      uint64_t text = meta->text[i] == NULL ? GBTI_MODEL_NO_TEXT : put_text(w, meta->text[i]);
      memcpy(to + 8 * i, &text, 8);
    }
    at = gbti_align8(at + n * value_size(meta->kind));
  }
}

static void put_head(const writer *w, uint64_t n_bytes) {
  gbti_model_head *head = (gbti_model_head *)(void *)w->out;
  memcpy(head->magic, GBTI_MODEL_MAGIC, 8);
  head->version = GBTI_MODEL_VERSION;
  head->n_parts = GBTI_N_PARTS;
  head->n_bytes = n_bytes;
  memcpy(head->part, w->part, sizeof w->part);
  head->checksum = gbti_model_checksum(w->out + GBTI_MODEL_SUMMED, n_bytes - GBTI_MODEL_SUMMED);
}

gbt_status gbt_model_write(const gbt_mem *mem, const gbt_forest_view *forest, const gbt_schema *schema,
                           const gbt_meta *meta, int32_t n_meta, uint8_t **out, size_t *n_bytes, gbt_error *err) {
  *out = NULL;
  *n_bytes = 0;
  if (!gbti_little_endian())
    return gbt_fail(err, GBT_E_UNSUPPORTED,
                    "models cannot be written on this machine: it stores numbers high byte first");
  writer w = {.forest = forest, .schema = schema, .meta = meta};
  w.num.n_features = forest->n_features;
  w.num.n_outputs = forest->n_outputs;
  w.num.n_parallel = forest->n_parallel;
  w.num.n_meta = n_meta;
  w.num.n_trees = forest->n_trees;
  GBT_TRY(check_forest(mem, &w, err));
  GBT_TRY(measure_schema(&w, err));
  GBT_TRY(measure_meta(&w, err));
  GBT_TRY(check_meta_names(mem, &w, err));
  uint64_t size = place_parts(&w);
  if (size >= TOO_LARGE || size > SIZE_MAX / 2) return gbt_fail_mem(err, SIZE_MAX / 2);
  GBT_TRY(gbt_mem_zeros(mem, (size_t)size, 1, &w.out, err));
  put_forest(&w);
  put_schema(&w);
  put_meta(&w);
  put_head(&w, size);
  *out = w.out;
  *n_bytes = (size_t)size;
  return GBT_OK;
}
