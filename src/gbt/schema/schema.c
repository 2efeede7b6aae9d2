/* Schemas and matching by text.
 *
 * A schema is one block, freed as a whole:
 *   gbt_schema | gbt_schema_column[n_columns] | gbt_feature[n_features] | gbt_projection[n_projections] | numbers |
 *   keys | const char *[all levels] | columns of projections | bins | texts
 * One that extends another has no columns and no texts of its own; it has those of its base.
 *
 * Texts are found through an open-addressing table of positions, at most half full:
 *   bucket[hash & mask], the next, ... = position + 1, or 0 where the search ends
 *
 * Texts may come from a file from an attacker, so hashes are salted (ctx.h). */
#include "schema_impl.h"

#include <string.h>

#include "../base/clock.h"
#include "../base/ctx.h"
#include "../base/parallel.h"
#include "../base/rng.h"
#include "key_index.h"

struct gbt_text_index {
  const char *const *text;
  uint32_t *bucket; /* mask + 1 */
  uint64_t mask, salt;
};
typedef struct gbt_text_index text_index;

uint64_t gbt_text_hash(uint64_t salt, const char *s) {
  size_t n = strlen(s);
  uint64_t h = salt ^ n;
  for (; n >= 8; n -= 8, s += 8) {
    uint64_t word;
    memcpy(&word, s, 8);
    h = gbt_mix64(h ^ word);
  }
  uint64_t rest = 0;
  memcpy(&rest, s, n);
  return gbt_mix64(h ^ rest);
}

/* An empty index for up to n of the texts. */
static gbt_status index_new(const gbt_mem *mem, const char *const *text, int32_t n, text_index *out, gbt_error *err) {
  uint64_t size = 8;
  while (size < 2 * (uint64_t)n) size *= 2;
  out->text = text;
  out->mask = size - 1;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)size, sizeof *out->bucket, &out->bucket, err));
  out->salt = gbt_salt(out->bucket);
  return GBT_OK;
}

/* The position of the text, or -1; *at: the bucket where the search ended. */
static int32_t index_find(const text_index *index, const char *s, uint64_t hash, uint64_t *at) {
  uint64_t i = hash & index->mask;
  for (; index->bucket[i] != 0; i = (i + 1) & index->mask) {
    uint32_t pos = index->bucket[i] - 1;
    if (strcmp(index->text[pos], s) != 0) continue;
    *at = i;
    return (int32_t)pos;
  }
  *at = i;
  return -1;
}

/* Adds text[pos]; returns the position of an equal text that is there already, else -1. */
static int32_t index_add(text_index *index, int32_t pos, uint64_t hash) {
  uint64_t at;
  int32_t found = index_find(index, index->text[pos], hash, &at);
  if (found < 0) index->bucket[at] = (uint32_t)pos + 1;
  return found;
}

/* Texts, their buckets and the texts that are there lie anywhere, and each has to be waited for when there are
 * millions. So some are asked for together: their hashes, and memory that finding them will read on its way. */
enum { TOGETHER = 16 };

static void index_ask(const text_index *index, const char *const *s, int32_t n, uint64_t *hash) {
  for (int32_t i = 0; i < n; i++) __builtin_prefetch(s[i]);
  for (int32_t i = 0; i < n; i++) {
    hash[i] = s[i] != NULL ? gbt_text_hash(index->salt, s[i]) : 0;
    __builtin_prefetch(&index->bucket[hash[i] & index->mask]);
  }
  for (int32_t i = 0; i < n; i++) {
    const uint32_t there = index->bucket[hash[i] & index->mask];
    if (there != 0) __builtin_prefetch(&index->text[there - 1]);
  }
  for (int32_t i = 0; i < n; i++) {
    const uint32_t there = index->bucket[hash[i] & index->mask];
    if (there != 0) __builtin_prefetch(index->text[there - 1]);
  }
}

/* The places of n texts, -1 for unknown ones and for NULL. */
static void index_find_all(const text_index *index, const char *const *s, int32_t n, int32_t *out) {
  uint64_t hash[TOGETHER], at;
  for (int32_t beg = 0; beg < n; beg += TOGETHER) {
    const int32_t m = n - beg < TOGETHER ? n - beg : TOGETHER;
    index_ask(index, s + beg, m, hash);
    for (int32_t i = 0; i < m; i++)
      out[beg + i] = s[beg + i] != NULL ? index_find(index, s[beg + i], hash[i], &at) : -1;
  }
}

/* Adds text[beg .. end) where they are not NULL. first: one for each of them, or NULL when it is not wanted: the
 * position of the first text that is equal, -1 for NULL. */
static void index_add_all(text_index *index, int32_t beg, int32_t end, int32_t *first) {
  uint64_t hash[TOGETHER];
  for (int32_t at = beg; at < end; at += TOGETHER) {
    const int32_t m = end - at < TOGETHER ? end - at : TOGETHER;
    index_ask(index, index->text + at, m, hash);
    for (int32_t i = at; i < at + m; i++) {
      const int32_t there = index->text[i] != NULL ? index_add(index, i, hash[i - at]) : -1;
      if (first != NULL) first[i - beg] = there < 0 && index->text[i] != NULL ? i : there;
    }
  }
}

/* ctx: asked now and then whether to stop; NULL: never. */
static gbt_status match_texts(const gbt_mem *mem, gbt_ctx *ctx, int thread, const char *const *from, int32_t n_from,
                              const char *const *to, int32_t n_to, int32_t *out, gbt_error *err) {
  enum { AT_ONCE = 8192 };
  const int to_itself = from == to && n_from == n_to;
  text_index index;
  int stopped = 0;
  GBT_TRY(index_new(mem, to, n_to, &index, err));
  for (int32_t beg = 0, n; beg < n_to && !stopped; beg += n) {
    n = n_to - beg < AT_ONCE ? n_to - beg : AT_ONCE;
    index_add_all(&index, beg, beg + n, to_itself ? out + beg : NULL);
    stopped = ctx != NULL && gbt_ctx_stopped(ctx, thread);
  }
  for (int32_t beg = 0, n; !to_itself && beg < n_from && !stopped; beg += n) {
    n = n_from - beg < AT_ONCE ? n_from - beg : AT_ONCE;
    index_find_all(&index, from + beg, n, out + beg);
    stopped = ctx != NULL && gbt_ctx_stopped(ctx, thread);
  }
  gbt_mem_free(mem, index.bucket);
  return stopped ? gbt_fail(err, GBT_CANCELLED, "stopped on request") : GBT_OK;
}

gbt_status gbt_match_texts(const gbt_mem *mem, const char *const *from, int32_t n_from, const char *const *to,
                           int32_t n_to, int32_t *out, gbt_error *err) {
  return match_texts(mem, NULL, 0, from, n_from, to, n_to, out, err);
}

gbt_status gbt_match_many_texts(gbt_ctx *ctx, int thread, const char *const *from, int32_t n_from,
                                const char *const *to, int32_t n_to, int32_t *out, gbt_error *err) {
  return match_texts(&ctx->mem, ctx, thread, from, n_from, to, n_to, out, err);
}

static gbt_status check_levels(const gbt_schema_column *f, gbt_error *err) {
  if (f->n_levels < 0 || (f->type == GBT_NUMERIC && f->n_levels != 0))
    return gbt_fail_on(err, GBT_E_INTERNAL, f->name, "column `%s`: a wrong number of levels (%d)", f->name,
                       (int)f->n_levels);
  for (int32_t i = 0; i < f->n_levels; i++)
    if (f->levels[i] == NULL)
      return gbt_fail_on(err, GBT_E_DATA, f->name, "column `%s`: level %d has no text", f->name, (int)i + 1);
  return GBT_OK;
}

static gbt_status check_names(const gbt_mem *mem, int32_t n, const gbt_schema_column *col, gbt_error *err) {
  const char **names = NULL;
  text_index index = {NULL, NULL, 0, 0};
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *names, &names, err), done);
  GBT_TRY_GOTO(index_new(mem, names, n, &index, err), done);
  for (int32_t i = 0; i < n; i++) {
    names[i] = col[i].name;
    if (names[i] == NULL || names[i][0] == 0) {
      status = gbt_fail(err, GBT_E_DATA, "column %d has no name; give every column a name", (int)i + 1);
      goto done;
    }
    int32_t same = index_add(&index, i, gbt_text_hash(index.salt, names[i]));
    if (same >= 0) {
      status = gbt_fail_on(err, GBT_E_DATA, names[i],
                           "the column name `%s` occurs twice (columns %d and %d); names must differ", names[i],
                           (int)same + 1, (int)i + 1);
      goto done;
    }
  }
done:
  gbt_mem_free(mem, index.bucket);
  gbt_mem_free(mem, names);
  return status;
}

/* Appends a copy of s to the text part. */
static const char *put_text(char **end, const char *s) {
  size_t n = strlen(s) + 1;
  char *copy = *end;
  memcpy(copy, s, n);
  *end += n;
  return copy;
}

static const char *tag_of(const gbt_schema_column *f) { return f->tag == NULL ? "" : f->tag; }

gbt_status gbt_schema_alloc(const gbt_mem *mem, gbt_schema_room room, gbt_schema_block *out, gbt_error *err) {
  const size_t n_columns = (size_t)room.n_columns, n_features = (size_t)room.n_features;
  const size_t n_proj = (size_t)room.n_projections;
  gbt_schema *schema;
  const size_t bytes = sizeof *schema + n_columns * sizeof *schema->col + n_features * sizeof *schema->feat +
                       n_proj * (sizeof *schema->proj + GBT_MOST_COMBINED * sizeof(int32_t)) +
                       room.n_values * sizeof(double) + room.n_keys * sizeof(uint64_t) +
                       room.n_levels * sizeof(char *) + room.n_bins + room.n_chars;
  GBT_TRY(gbt_mem_zeros(mem, bytes, 1, &schema, err));
  schema->refs = 1;
  schema->mem = *mem;
  schema->n_columns = room.n_columns;
  schema->n_features = room.n_features;
  schema->col = (gbt_schema_column *)(schema + 1);
  schema->n_projections = room.n_projections;
  schema->feat = (gbt_feature *)(schema->col + n_columns);
  schema->proj = (gbt_projection *)(schema->feat + n_features);
  out->schema = schema;
  out->value = (double *)(schema->proj + n_proj);
  out->key = (uint64_t *)(out->value + room.n_values);
  out->level = (const char **)(out->key + room.n_keys);
  out->col = (int32_t *)(out->level + room.n_levels);
  out->bin = (uint8_t *)(out->col + n_proj * GBT_MOST_COMBINED);
  out->text = (char *)(out->bin + room.n_bins);
  return GBT_OK;
}

/* Prefetches the text of a level that comes TOGETHER later; texts may be anywhere in memory. */
static void ask_ahead(const gbt_schema_column *col, int32_t level) {
  if (level < col->n_levels - TOGETHER) __builtin_prefetch(col->levels[level + TOGETHER]);
}

static gbt_schema_room room_for(int32_t n_columns, const gbt_schema_column *col, int32_t n_features,
                                const gbt_feature *feat) {
  gbt_schema_room room = {.n_columns = n_columns, .n_features = n_features};
  for (int32_t i = 0; i < n_columns; i++) {
    room.n_levels += (size_t)col[i].n_levels;
    room.n_chars += strlen(col[i].name) + strlen(tag_of(&col[i])) + 2;
    for (int32_t k = 0; k < col[i].n_levels; k++) {
      ask_ahead(&col[i], k);
      room.n_chars += strlen(col[i].levels[k]) + 1;
    }
  }
  for (int32_t f = 0; f < n_features; f++)
    if (feat[f].value != NULL) room.n_values += (size_t)col[feat[f].col].n_levels;
  return room;
}

static void copy_columns(gbt_schema_block *block, const gbt_schema_column *col) {
  for (int32_t i = 0; i < block->schema->n_columns; i++) {
    gbt_schema_column *to = &block->schema->col[i];
    *to = col[i];
    to->name = put_text(&block->text, col[i].name);
    to->tag = put_text(&block->text, tag_of(&col[i]));
    to->levels = to->n_levels > 0 ? block->level : NULL;
    for (int32_t k = 0; k < to->n_levels; k++) {
      ask_ahead(&col[i], k);
      *block->level++ = put_text(&block->text, col[i].levels[k]);
    }
  }
}

static void copy_features(gbt_schema_block *block, const gbt_feature *feat) {
  const gbt_schema *schema = block->schema;
  for (int32_t f = 0; f < schema->n_features; f++) {
    gbt_feature *to = &schema->feat[f];
    *to = feat[f];
    to->type = feat[f].kind == GBT_FEATURE_COLUMN ? schema->col[feat[f].col].type : GBT_NUMERIC;
    to->projection = -1;
    if (feat[f].value == NULL) continue;
    size_t n = (size_t)schema->col[feat[f].col].n_levels;
    if (n > 0) memcpy(block->value, feat[f].value, n * sizeof *feat[f].value);
    to->value = block->value;
    block->value += n;
  }
}

gbt_status gbt_schema_new_mapped(const gbt_mem *mem, gbt_ctx *ctx, int32_t n_columns, const gbt_schema_column *col,
                                 int32_t n_features, const gbt_feature *feat, gbt_schema **out, gbt_error *err) {
  gbt_schema_block block;
  *out = NULL;
  GBT_TRY(check_names(mem, n_columns, col, err));
  for (int32_t i = 0; i < n_columns; i++) GBT_TRY(check_levels(&col[i], err));
  GBT_TRY(gbt_schema_alloc(mem, room_for(n_columns, col, n_features, feat), &block, err));
  *out = block.schema;
  copy_columns(&block, col);
  copy_features(&block, feat);
  const char *fault = gbt_feature_map_fault(*out);
  gbt_level_twins twins = {-1, -1, -1};
  gbt_status status = fault != NULL ? gbt_fail(err, GBT_E_INTERNAL, "%s", fault)
                                    : gbt_schema_index(*out, ctx, &twins, err);
  if (status == GBT_OK && twins.col >= 0) {
    const gbt_schema_column *f = &col[twins.col];
    status = gbt_fail_on(err, GBT_E_DATA, f->name, "column `%s`: level \"%s\" occurs twice (levels %d and %d)", f->name,
                         f->levels[twins.first], (int)twins.first + 1, (int)twins.again + 1);
  }
  if (status == GBT_OK) return GBT_OK;
  gbt_schema_unref(*out);
  *out = NULL;
  return status;
}

gbt_status gbt_schema_new(const gbt_mem *mem, int32_t n_columns, const gbt_schema_column *col, gbt_schema **out,
                          gbt_error *err) {
  gbt_feature *feat;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_columns, sizeof *feat, &feat, err));
  for (int32_t i = 0; i < n_columns; i++) feat[i].col = i;
  gbt_status status = gbt_schema_new_mapped(mem, NULL, n_columns, col, n_columns, feat, out, err);
  gbt_mem_free(mem, feat);
  return status;
}

/* ---- finding levels ---- */

static void drop_index(gbt_schema *schema) {
  for (int32_t f = 0; schema->level_index != NULL && f < schema->n_columns; f++)
    gbt_mem_free(&schema->mem, schema->level_index[f].bucket);
  gbt_mem_free(&schema->mem, schema->level_index);
  schema->level_index = NULL;
}

gbt_status gbt_schema_index(gbt_schema *schema, gbt_ctx *ctx, gbt_level_twins *twins, gbt_error *err) {
  enum { ASK_EVERY = 512 * TOGETHER };
  const size_t n = (size_t)schema->n_columns;
  int any = 0;
  *twins = (gbt_level_twins){-1, -1, -1};
  for (int32_t f = 0; f < schema->n_columns && !any; f++) any = schema->col[f].n_levels > 0;
  if (!any) return GBT_OK;
  GBT_TRY(gbt_mem_zeros(&schema->mem, n, sizeof *schema->level_index, &schema->level_index, err));
  for (int32_t f = 0; f < schema->n_columns; f++) {
    const gbt_schema_column *col = &schema->col[f];
    text_index *index = &schema->level_index[f];
    if (col->n_levels == 0) continue;
    GBT_TRY(index_new(&schema->mem, col->levels, col->n_levels, index, err));
    for (int32_t at = 0; at < col->n_levels; at += TOGETHER) {
      const int32_t m = col->n_levels - at < TOGETHER ? col->n_levels - at : TOGETHER;
      int32_t first[TOGETHER];
      if (ctx != NULL && at % ASK_EVERY == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
      index_add_all(index, at, at + m, first);
      for (int32_t i = 0; i < m; i++) {
        if (first[i] == at + i) continue;
        *twins = (gbt_level_twins){f, first[i], at + i};
        return GBT_OK;
      }
    }
  }
  return GBT_OK;
}

void gbt_schema_levels(const gbt_schema *schema, int32_t col, const char *const *text, int32_t n, int32_t *out) {
  if (schema->col[col].n_levels > 0)
    index_find_all(&schema->level_index[col], text, n, out);
  else
    for (int32_t i = 0; i < n; i++) out[i] = -1;
}

gbt_schema *gbt_schema_ref(gbt_schema *schema) {
  schema->refs++;
  return schema;
}

void gbt_schema_unref(gbt_schema *schema) {
  if (schema == NULL || --schema->refs > 0) return;
  gbt_mem mem = schema->mem;
  gbt_schema *base = schema->base;
  if (base == NULL) drop_index(schema);
  for (int32_t p = 0; schema->key_index != NULL && p < schema->n_projections; p++)
    gbt_mem_free(&mem, schema->key_index[p].place);
  gbt_mem_free(&mem, schema->key_index);
  gbt_mem_free(&mem, schema);
  gbt_schema_unref(base);
}

const char *gbt_feature_type_name(int type) {
  switch ((gbt_feature_type)type) {
  case GBT_NUMERIC:
    return "numeric";
  case GBT_CATEGORICAL:
    return "categorical";
  case GBT_ORDINAL:
    return "ordinal";
  }
  return NULL;
}
