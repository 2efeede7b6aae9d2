/* Schemas and matching by text.
 *
 * A schema is one block, freed as a whole:   gbt_schema | gbt_feature[n_features] | const char *[all levels] | texts
 *
 * Texts are found through an open-addressing table of positions, at most half full:
 *   slot[hash & mask], the next, ... = position + 1, or 0 where the search ends
 *
 * Texts may come from a file that somebody made, so hashes are salted (ctx.h). */
#include "schema.h"

#include <string.h>

#include "ctx.h"
#include "rng.h"

struct gbt_text_index {
  const char *const *text;
  uint32_t *slot; /* mask + 1 */
  uint64_t mask, salt;
};
typedef struct gbt_text_index text_index;

static uint64_t text_hash(uint64_t salt, const char *s) {
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
  GBT_TRY(gbt_mem_zeros(mem, (size_t)size, sizeof *out->slot, &out->slot, err));
  out->salt = gbt_salt(out->slot);
  return GBT_OK;
}

/* The position of the text, or -1; *at: the slot where the search ended. */
static int32_t index_find(const text_index *index, const char *s, uint64_t *at) {
  uint64_t i = text_hash(index->salt, s) & index->mask;
  for (; index->slot[i] != 0; i = (i + 1) & index->mask) {
    uint32_t pos = index->slot[i] - 1;
    if (strcmp(index->text[pos], s) != 0) continue;
    *at = i;
    return (int32_t)pos;
  }
  *at = i;
  return -1;
}

/* Adds text[pos]; returns the position of an equal text that is there already, else -1. */
static int32_t index_add(text_index *index, int32_t pos) {
  uint64_t at;
  int32_t found = index_find(index, index->text[pos], &at);
  if (found < 0) index->slot[at] = (uint32_t)pos + 1;
  return found;
}

/* ctx: asked now and then whether to stop; NULL: never. */
static gbt_status match_texts(const gbt_mem *mem, gbt_ctx *ctx, int thread, const char *const *from, int32_t n_from,
                              const char *const *to, int32_t n_to, int32_t *out, gbt_error *err) {
  enum { AT_ONCE = 8192 };
  text_index index;
  uint64_t at;
  int stopped = 0;
  GBT_TRY(index_new(mem, to, n_to, &index, err));
  for (int32_t i = 0; i < n_to && !stopped; i++) {
    if (to[i] != NULL) index_add(&index, i);
    stopped = ctx != NULL && i % AT_ONCE == 0 && gbt_ctx_stopped(ctx, thread);
  }
  for (int32_t i = 0; i < n_from && !stopped; i++) {
    out[i] = from[i] == NULL ? -1 : index_find(&index, from[i], &at);
    stopped = ctx != NULL && i % AT_ONCE == 0 && gbt_ctx_stopped(ctx, thread);
  }
  gbt_mem_free(mem, index.slot);
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

static gbt_status check_levels(const gbt_mem *mem, const gbt_feature *f, gbt_error *err) {
  if (f->n_levels < 0 || (f->type == GBT_NUMERIC && f->n_levels != 0))
    return gbt_fail_on(err, GBT_E_INTERNAL, f->name, "column `%s`: a wrong number of levels (%d)", f->name,
                       (int)f->n_levels);
  if (f->n_levels == 0) return GBT_OK;
  text_index index;
  gbt_status status = GBT_OK;
  GBT_TRY(index_new(mem, f->levels, f->n_levels, &index, err));
  for (int32_t i = 0; i < f->n_levels && status == GBT_OK; i++) {
    if (f->levels[i] == NULL) {
      status = gbt_fail_on(err, GBT_E_DATA, f->name, "column `%s`: level %d has no text", f->name, (int)i + 1);
      continue;
    }
    int32_t same = index_add(&index, i);
    if (same >= 0)
      status = gbt_fail_on(err, GBT_E_DATA, f->name, "column `%s`: level `%s` occurs twice (levels %d and %d)", f->name,
                           f->levels[i], (int)same + 1, (int)i + 1);
  }
  gbt_mem_free(mem, index.slot);
  return status;
}

static gbt_status check_names(const gbt_mem *mem, int32_t n, const gbt_feature *feat, gbt_error *err) {
  const char **names = NULL;
  text_index index = {NULL, NULL, 0, 0};
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *names, &names, err), done);
  GBT_TRY_GOTO(index_new(mem, names, n, &index, err), done);
  for (int32_t i = 0; i < n; i++) {
    names[i] = feat[i].name;
    if (names[i] == NULL || names[i][0] == 0) {
      status = gbt_fail(err, GBT_E_DATA, "column %d has no name; give every column a name", (int)i + 1);
      goto done;
    }
    int32_t same = index_add(&index, i);
    if (same >= 0) {
      status = gbt_fail_on(err, GBT_E_DATA, names[i],
                           "the column name `%s` occurs twice (columns %d and %d); names must differ", names[i],
                           (int)same + 1, (int)i + 1);
      goto done;
    }
  }
done:
  gbt_mem_free(mem, index.slot);
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

static const char *tag_of(const gbt_feature *f) { return f->tag == NULL ? "" : f->tag; }

static gbt_status copy_schema(const gbt_mem *mem, int32_t n, const gbt_feature *feat, gbt_schema **out,
                              gbt_error *err) {
  size_t n_levels = 0, n_chars = 0;
  for (int32_t i = 0; i < n; i++) {
    n_levels += (size_t)feat[i].n_levels;
    n_chars += strlen(feat[i].name) + strlen(tag_of(&feat[i])) + 2;
    for (int32_t k = 0; k < feat[i].n_levels; k++) n_chars += strlen(feat[i].levels[k]) + 1;
  }
  gbt_schema *schema;
  size_t bytes = sizeof *schema + (size_t)n * sizeof *feat + n_levels * sizeof(char *) + n_chars;
  GBT_TRY(gbt_mem_array(mem, bytes, 1, &schema, err));
  schema->refs = 1;
  schema->mem = *mem;
  schema->n_features = n;
  schema->level_index = NULL;
  schema->feat = (gbt_feature *)(schema + 1);
  const char **level = (const char **)(schema->feat + n);
  char *end = (char *)(level + n_levels);
  for (int32_t i = 0; i < n; i++) {
    gbt_feature *f = &schema->feat[i];
    *f = feat[i];
    f->name = put_text(&end, feat[i].name);
    f->tag = put_text(&end, tag_of(&feat[i]));
    f->levels = f->n_levels > 0 ? level : NULL;
    for (int32_t k = 0; k < f->n_levels; k++) *level++ = put_text(&end, feat[i].levels[k]);
  }
  *out = schema;
  return GBT_OK;
}

gbt_status gbt_schema_new(const gbt_mem *mem, int32_t n_features, const gbt_feature *feat, gbt_schema **out,
                          gbt_error *err) {
  *out = NULL;
  GBT_TRY(check_names(mem, n_features, feat, err));
  for (int32_t i = 0; i < n_features; i++) GBT_TRY(check_levels(mem, &feat[i], err));
  return copy_schema(mem, n_features, feat, out, err);
}

static void drop_index(gbt_schema *schema) {
  for (int32_t f = 0; schema->level_index != NULL && f < schema->n_features; f++)
    gbt_mem_free(&schema->mem, schema->level_index[f].slot);
  gbt_mem_free(&schema->mem, schema->level_index);
  schema->level_index = NULL;
}

gbt_status gbt_schema_index(gbt_schema *schema, gbt_error *err) {
  gbt_status status = GBT_OK;
  size_t n = (size_t)schema->n_features;
  if (schema->level_index != NULL) return GBT_OK;
  GBT_TRY(gbt_mem_zeros(&schema->mem, n, sizeof *schema->level_index, &schema->level_index, err));
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    text_index *index = &schema->level_index[f];
    if (feat->n_levels == 0) continue;
    GBT_TRY_GOTO(index_new(&schema->mem, feat->levels, feat->n_levels, index, err), done);
    for (int32_t i = 0; i < feat->n_levels; i++) index_add(index, i);
  }
done:
  if (status != GBT_OK) drop_index(schema);
  return status;
}

int32_t gbt_schema_level(const gbt_schema *schema, int32_t feat, const char *text) {
  const text_index *index = &schema->level_index[feat];
  uint64_t at;
  return index->slot == NULL ? -1 : index_find(index, text, &at);
}

gbt_schema *gbt_schema_ref(gbt_schema *schema) {
  schema->refs++;
  return schema;
}

void gbt_schema_unref(gbt_schema *schema) {
  if (schema == NULL || --schema->refs > 0) return;
  gbt_mem mem = schema->mem;
  drop_index(schema);
  gbt_mem_free(&mem, schema);
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
