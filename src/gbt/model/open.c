/* The bytes of a model to a model, in place. Nothing in the bytes is trusted: every count, position, index and text is
 * checked here, once, so that nobody has to check it again.
 *
 *   head -> parts -> counts -> trees -> schema -> meta
 *
 * The format has one form only (format.h), so most checks say "must be what it has to be": parts and texts lie one
 * behind the other, trees too. This keeps the work linear in the size of the file, whoever made it. What is allocated
 * is bounded by the size of the file as well. */
#include "check.h"
#include "format.h"
#include "model.h"

typedef struct reader {
  gbt_mem mem;
  const uint8_t *bytes;
  const gbti_model_head *head;
  gbti_model_numbers num;
  uint64_t text_at;  /* where the next text must begin */
  uint64_t value_at; /* where the next entry's values must begin */
  gbt_error *err;
} reader;

static gbt_status damaged(const reader *r, const char *what) {
  return gbt_fail(r->err, GBT_E_FORMAT,
                  "the model's bytes are damaged: %s; take the model again from where it was saved", what);
}

static const void *part_of(const reader *r, gbti_model_part part) { return r->bytes + r->head->part[part].beg; }
static uint64_t size_of(const reader *r, gbti_model_part part) { return r->head->part[part].bytes; }

/* Whether the part is n records of a size. */
static int holds(const reader *r, gbti_model_part part, uint64_t n, uint64_t size) {
  uint64_t bytes = size_of(r, part);
  return bytes / size == n && bytes % size == 0;
}

/* Whether the bytes [beg, end) are zeros. */
static int is_zeros(const uint8_t *bytes, uint64_t beg, uint64_t end) {
  uint8_t all = 0;
  for (uint64_t i = beg; i < end; i++) all |= bytes[i];
  return all == 0;
}

gbt_status gbt_model_check_head(const void *bytes, size_t n, uint64_t n_bytes, gbt_error *err) {
  gbti_model_head head;
  memset(&head, 0, sizeof head);
  if (n > 0) memcpy(&head, bytes, n < GBT_MODEL_HEAD ? n : GBT_MODEL_HEAD);
  if (n < GBT_MODEL_HEAD) head.n_bytes = 0;
  if (n < 8 || memcmp(head.magic, GBTI_MODEL_MAGIC, 8) != 0)
    return gbt_fail(err, GBT_E_FORMAT, "these bytes are no gbt model: they do not begin with \"%s\"", GBTI_MODEL_MAGIC);
  if (n >= 12 && head.version != GBTI_MODEL_VERSION)
    return gbt_fail(err, GBT_E_FORMAT,
                    "the model has format version %lu, this gbt reads version %lu; use the version of gbt that wrote "
                    "it or a newer one",
                    (unsigned long)head.version, (unsigned long)GBTI_MODEL_VERSION);
  int cut = n_bytes < sizeof head || n_bytes < head.n_bytes;
  if (cut || n_bytes != head.n_bytes)
    return gbt_fail(err, GBT_E_FORMAT,
                    "the model is %s: there are %llu bytes, its head speaks of %llu; take it again from where it was "
                    "saved",
                    cut ? "cut short" : "followed by foreign bytes", (unsigned long long)n_bytes,
                    (unsigned long long)head.n_bytes);
  return GBT_OK;
}

static gbt_status check_head(reader *r, size_t n_bytes) {
  GBT_TRY(gbt_model_check_head(r->bytes, n_bytes, n_bytes, r->err));
  if (n_bytes % 8 != 0) return damaged(r, "the size is no multiple of 8");
  if (gbti_model_checksum(r->bytes + GBTI_MODEL_SUMMED, n_bytes - GBTI_MODEL_SUMMED) != r->head->checksum)
    return damaged(r, "the checksum does not match");
  return GBT_OK;
}

static gbt_status check_parts(const reader *r) {
  const gbti_model_head *head = r->head;
  uint64_t at = sizeof *head, n_bytes = head->n_bytes;
  if (head->n_parts != GBTI_N_PARTS) return damaged(r, "a wrong number of parts");
  for (int p = 0; p < GBTI_N_PARTS; p++) {
    uint64_t bytes = head->part[p].bytes;
    if (head->part[p].beg != at || bytes > n_bytes - at) return damaged(r, "a part is not where it must be");
    uint64_t end = gbti_align8(at + bytes);
    if (!is_zeros(r->bytes, at + bytes, end)) return damaged(r, "there is something between the parts");
    at = end;
  }
  return at == n_bytes ? GBT_OK : damaged(r, "there is something behind the last part");
}

/* A negative count becomes a huge one, which no part holds. */
static gbt_status check_counts(reader *r) {
  if (!holds(r, GBTI_PART_NUMBERS, 1, sizeof r->num)) return damaged(r, "the part of numbers has a wrong size");
  memcpy(&r->num, part_of(r, GBTI_PART_NUMBERS), sizeof r->num);
  const gbti_model_numbers *n = &r->num;
  int forest = holds(r, GBTI_PART_BASE, (uint64_t)n->n_outputs, 8) &&
               holds(r, GBTI_PART_TREES, n->n_trees, sizeof(gbt_tree)) &&
               holds(r, GBTI_PART_NODES, n->n_nodes, sizeof(gbt_node)) && holds(r, GBTI_PART_SETS, n->n_words, 4) &&
               holds(r, GBTI_PART_GAIN, n->n_nodes, 8) && holds(r, GBTI_PART_COVER, n->n_nodes, 8) &&
               holds(r, GBTI_PART_COUNT, n->n_nodes, 4);
  int others = holds(r, GBTI_PART_FEATURES, (uint64_t)n->n_features, sizeof(gbti_model_feature)) &&
               holds(r, GBTI_PART_META, (uint64_t)n->n_meta, sizeof(gbti_model_entry)) &&
               size_of(r, GBTI_PART_LEVELS) % 8 == 0 && size_of(r, GBTI_PART_VALUES) % 8 == 0;
  return forest && others ? GBT_OK : damaged(r, "counts and sizes of parts do not match");
}

/* The text at a position. It must be the next one. */
static gbt_status take_text(reader *r, uint64_t at, const char **out) {
  const char *texts = part_of(r, GBTI_PART_TEXTS);
  uint64_t left = size_of(r, GBTI_PART_TEXTS) - r->text_at;
  if (at != r->text_at) return damaged(r, "a text is not where it must be");
  const char *text = texts + at, *end = memchr(text, 0, (size_t)left);
  if (end == NULL) return damaged(r, "a text has no end");
  if (!gbti_utf8_ok(text, (size_t)(end - text))) return damaged(r, "a text is not valid UTF-8");
  r->text_at += (uint64_t)(end - text) + 1;
  *out = text;
  return GBT_OK;
}

static gbt_status check_unique(const reader *r, const char *const *text, int32_t n, const char *what) {
  if (n == 0) return GBT_OK;
  int32_t *pos;
  GBT_TRY(gbt_mem_array(&r->mem, (size_t)n, sizeof *pos, &pos, r->err));
  gbt_status status = gbt_match_texts(&r->mem, text, n, text, n, pos, r->err);
  for (int32_t i = 0; i < n && status == GBT_OK; i++)
    if (pos[i] != i) status = damaged(r, what);
  gbt_mem_free(&r->mem, pos);
  return status;
}

static gbt_status check_features(reader *r) {
  const gbti_model_feature *from = part_of(r, GBTI_PART_FEATURES);
  uint64_t left = size_of(r, GBTI_PART_LEVELS) / 8;
  for (int32_t f = 0; f < r->num.n_features; f++) {
    if (from[f].type > GBT_ORDINAL) return damaged(r, "a feature has no known type");
    uint64_t n = (uint64_t)from[f].n_levels; /* huge when negative */
    if (n > left || (n > 0 && from[f].type == GBT_NUMERIC)) return damaged(r, "a feature has a wrong number of levels");
    left -= n;
  }
  return left == 0 ? GBT_OK : damaged(r, "there are levels of no feature");
}

static gbt_status read_schema(reader *r, gbt_model *model) {
  GBT_TRY(check_features(r));
  const gbti_model_feature *from = part_of(r, GBTI_PART_FEATURES);
  const uint64_t *level_at = part_of(r, GBTI_PART_LEVELS);
  const int32_t n = r->num.n_features;
  gbt_schema_block block;
  GBT_TRY(gbt_schema_alloc(&r->mem, (gbt_schema_room){n, n, (size_t)(size_of(r, GBTI_PART_LEVELS) / 8), 0, 0}, &block,
                           r->err));
  model->schema = block.schema;
  const char **level = block.level;
  for (int32_t f = 0; f < n; f++) {
    gbt_schema_column *col = &model->schema->col[f];
    col->type = (gbt_feature_type)from[f].type;
    col->n_levels = from[f].n_levels;
    col->levels = col->n_levels > 0 ? level : NULL;
    GBT_TRY(take_text(r, from[f].name, &col->name));
    GBT_TRY(take_text(r, from[f].tag, &col->tag));
    if (col->name[0] == 0) return damaged(r, "a feature has no name");
    for (int32_t i = 0; i < col->n_levels; i++) GBT_TRY(take_text(r, *level_at++, level++));
    GBT_TRY(check_unique(r, col->levels, col->n_levels, "a feature has a level twice"));
    model->schema->feat[f] = (gbt_feature){GBT_FEATURE_COLUMN, f, col->type, NULL};
  }
  const char **name;
  GBT_TRY(gbt_mem_array(&r->mem, (size_t)r->num.n_features, sizeof *name, &name, r->err));
  for (int32_t f = 0; f < r->num.n_features; f++) name[f] = model->schema->col[f].name;
  gbt_status status = check_unique(r, name, r->num.n_features, "two features have one name");
  gbt_mem_free(&r->mem, name);
  return status;
}

static void point_forest(const reader *r, gbt_forest_view *forest) {
  forest->n_features = r->num.n_features;
  forest->n_outputs = r->num.n_outputs;
  forest->n_leaf_outputs = 1;
  forest->n_parallel = r->num.n_parallel;
  forest->n_trees = r->num.n_trees;
  forest->n_nodes = r->num.n_nodes;
  forest->n_words = r->num.n_words;
  forest->base = part_of(r, GBTI_PART_BASE);
  forest->trees = part_of(r, GBTI_PART_TREES);
  forest->nodes = part_of(r, GBTI_PART_NODES);
  forest->sets = part_of(r, GBTI_PART_SETS);
  forest->gain = part_of(r, GBTI_PART_GAIN);
  forest->cover = part_of(r, GBTI_PART_COVER);
  forest->count = part_of(r, GBTI_PART_COUNT);
}

/* Trees lie one behind the other and fill the parts of nodes and sets. most: nodes of the largest. */
static gbt_status check_tree_places(const reader *r, const gbt_forest_view *forest, uint32_t *most) {
  uint64_t node = 0, word = 0;
  *most = 0;
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree *tree = &forest->trees[t];
    if (tree->node_beg != node || tree->set_beg != word) return damaged(r, "a tree is not where it must be");
    node += tree->n_nodes;
    word += tree->n_words;
    if (tree->n_nodes > *most) *most = tree->n_nodes;
  }
  return node == forest->n_nodes && word == forest->n_words
             ? GBT_OK
             : damaged(r, "the trees have more or fewer nodes than there are");
}

static gbt_status read_forest(const reader *r, gbt_model *model) {
  gbt_forest_view *forest = &model->forest;
  point_forest(r, forest);
  const char *fault = gbti_forest_fault(forest);
  if (fault == NULL) fault = gbti_weights_fault(forest->gain, forest->cover, forest->n_nodes);
  if (fault != NULL) return damaged(r, fault);
  uint32_t most;
  GBT_TRY(check_tree_places(r, forest, &most));
  uint64_t *seen;
  GBT_TRY(gbt_mem_array(&r->mem, ((size_t)most + 63) / 64, sizeof *seen, &seen, r->err));
  for (uint64_t t = 0; t < forest->n_trees && fault == NULL; t++)
    fault = gbti_tree_fault(&forest->trees[t], forest->nodes + forest->trees[t].node_beg, model->schema->feat,
                            forest->n_features, seen);
  gbt_mem_free(&r->mem, seen);
  return fault == NULL ? GBT_OK : damaged(r, fault);
}

/* Also counts the texts among the values. */
static gbt_status check_entries(const reader *r, uint64_t *n_texts) {
  const gbti_model_entry *from = part_of(r, GBTI_PART_META);
  uint64_t at = 0, bytes = size_of(r, GBTI_PART_VALUES);
  *n_texts = 0;
  for (int32_t m = 0; m < r->num.n_meta; m++) {
    if (from[m].kind > GBT_META_INT || from[m].zero != 0) return damaged(r, "a meta entry has no known kind");
    uint64_t size = from[m].kind == GBT_META_INT ? 4 : 8, n = from[m].n;
    if (from[m].beg != at || n > (bytes - at) / size) return damaged(r, "a meta entry is not where it must be");
    uint64_t end = gbti_align8(at + n * size);
    if (!is_zeros(part_of(r, GBTI_PART_VALUES), at + n * size, end))
      return damaged(r, "a meta entry is not where it must be");
    at = end;
    if (from[m].kind == GBT_META_TEXT) *n_texts += n;
  }
  return at == bytes ? GBT_OK : damaged(r, "there are values of no meta entry");
}

static gbt_status read_entry(reader *r, const gbti_model_entry *from, gbt_meta *meta, const char ***texts) {
  const uint8_t *values = (const uint8_t *)part_of(r, GBTI_PART_VALUES) + from->beg;
  meta->kind = (gbt_meta_kind)from->kind;
  meta->n = (int64_t)from->n;
  GBT_TRY(take_text(r, from->name, &meta->name));
  if (meta->name[0] == 0) return damaged(r, "a meta entry has no name");
  if (meta->kind == GBT_META_DOUBLE) meta->num = (const double *)(const void *)values;
  if (meta->kind == GBT_META_INT) meta->ints = (const int32_t *)(const void *)values;
  if (meta->kind != GBT_META_TEXT) return GBT_OK;
  meta->text = *texts;
  for (uint64_t i = 0; i < from->n; i++, (*texts)++) {
    uint64_t at;
    memcpy(&at, values + 8 * i, 8);
    **texts = NULL;
    if (at != GBTI_MODEL_NO_TEXT) GBT_TRY(take_text(r, at, *texts));
  }
  return GBT_OK;
}

static gbt_status read_meta(reader *r, gbt_model *model) {
  uint64_t n_texts;
  GBT_TRY(check_entries(r, &n_texts));
  const gbti_model_entry *from = part_of(r, GBTI_PART_META);
  size_t n_meta = (size_t)r->num.n_meta, bytes = n_meta * sizeof(gbt_meta) + (size_t)n_texts * sizeof(char *);
  GBT_TRY(gbt_mem_zeros(&r->mem, bytes, 1, &model->meta, r->err));
  model->n_meta = r->num.n_meta;
  const char **texts = (const char **)(model->meta + n_meta);
  for (size_t m = 0; m < n_meta; m++) GBT_TRY(read_entry(r, &from[m], &model->meta[m], &texts));
  if (r->text_at != size_of(r, GBTI_PART_TEXTS)) return damaged(r, "there are texts that nothing refers to");
  const char **name;
  GBT_TRY(gbt_mem_array(&r->mem, n_meta, sizeof *name, &name, r->err));
  for (size_t m = 0; m < n_meta; m++) name[m] = model->meta[m].name;
  gbt_status status = check_unique(r, name, r->num.n_meta, "two meta entries have one name");
  gbt_mem_free(&r->mem, name);
  return status;
}

static gbt_status read_all(reader *r, gbt_model *model) {
  GBT_TRY(check_parts(r));
  GBT_TRY(check_counts(r));
  GBT_TRY(read_schema(r, model));
  GBT_TRY(read_forest(r, model));
  return read_meta(r, model);
}

gbt_status gbt_model_open(const gbt_mem *mem, const void *bytes, size_t n_bytes, gbt_model **out, gbt_error *err) {
  *out = NULL;
  if (!gbti_little_endian())
    return gbt_fail(err, GBT_E_UNSUPPORTED, "models cannot be read on this machine: it stores numbers high byte first");
  gbt_model *model = NULL;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_zeros(mem, 1, sizeof *model, &model, err), done);
  model->mem = *mem;
  if ((uintptr_t)bytes % 8 != 0) {
    GBT_TRY_GOTO(gbt_mem_array(mem, n_bytes, 1, &model->own_bytes, err), done);
    memcpy(model->own_bytes, bytes, n_bytes);
    bytes = model->own_bytes;
  }
  reader r = {.mem = *mem, .bytes = bytes, .head = bytes, .err = err};
  GBT_TRY_GOTO(check_head(&r, n_bytes), done);
  GBT_TRY_GOTO(read_all(&r, model), done);
  *out = model;
  model = NULL;
done:
  gbt_model_close(model);
  return status;
}

void gbt_model_close(gbt_model *model) {
  if (model == NULL) return;
  gbt_mem mem = model->mem;
  gbt_schema_unref(model->schema);
  gbt_mem_free(&mem, model->meta);
  gbt_mem_free(&mem, model->own_bytes);
  gbt_mem_free(&mem, model);
}

const gbt_meta *gbt_model_meta(const gbt_model *model, const char *name) {
  for (int32_t m = 0; m < model->n_meta; m++)
    if (strcmp(model->meta[m].name, name) == 0) return &model->meta[m];
  return NULL;
}
