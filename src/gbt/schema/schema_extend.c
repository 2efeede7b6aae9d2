/* Schemas made of schemas: with further features that are read from tables, with those of another schema, with fewer.
 */
#include <string.h>

#include "../base/hd.h"
#include "../base/sort.h"
#include "key_index.h"
#include "schema_impl.h"

static void put_projection(gbt_schema_block *block, const gbt_projection *from, gbt_projection *to) {
  *to = *from;
  memcpy(block->col, from->col, (size_t)from->n_cols * sizeof *from->col);
  to->col = block->col;
  block->col += GBT_MOST_COMBINED;
  if (from->key == NULL) return;
  if (from->n_keys > 0) memcpy(block->key, from->key, (size_t)from->n_keys * sizeof *from->key);
  to->key = block->key;
  block->key += from->n_keys;
}

static void put_table(gbt_schema_block *block, int32_t n_before, const gbt_feature *from, gbt_feature *to) {
  *to = *from;
  to->projection = n_before + from->projection;
  const gbt_projection *proj = &block->schema->proj[to->projection];
  to->col = proj->col[0];
  to->type = GBT_NUMERIC;
  to->value = NULL;
  if (proj->n_keys > 0) memcpy(block->bin, from->bin, (size_t)proj->n_keys);
  to->bin = block->bin;
  block->bin += proj->n_keys;
  if (from->n_bins > 1) memcpy(block->value, from->shown, (size_t)(from->n_bins - 1) * sizeof *from->shown);
  to->shown = block->value;
  block->value += from->n_bins - 1;
}

gbt_status gbt_schema_extend(const gbt_mem *mem, gbt_schema *base, int32_t n_projections, const gbt_projection *proj,
                             int32_t n_features, const gbt_feature *feat, gbt_schema **out, gbt_error *err) {
  gbt_schema_room room = {.n_features = base->n_features + n_features,
                          .n_projections = base->n_projections + n_projections};
  gbt_schema_block block;
  *out = NULL;
  for (int32_t p = 0; p < n_projections; p++) {
    GBT_ASSERT(proj[p].n_cols >= 1 && proj[p].n_cols <= GBT_MOST_COMBINED && proj[p].n_keys >= 0);
    if (proj[p].key != NULL) room.n_keys += (size_t)proj[p].n_keys;
  }
  for (int32_t f = 0; f < n_features; f++) {
    GBT_ASSERT(gbt_feature_has_table(feat[f].kind) && feat[f].n_bins >= 1);
    GBT_ASSERT(feat[f].projection >= 0 && feat[f].projection < n_projections);
    room.n_values += (size_t)feat[f].n_bins - 1;
    room.n_bins += (size_t)proj[feat[f].projection].n_keys;
  }
  GBT_TRY(gbt_schema_alloc(mem, room, &block, err));
  gbt_schema *schema = block.schema;
  schema->n_columns = base->n_columns;
  schema->col = base->col;
  schema->base = gbt_schema_ref(base);
  schema->level_index = base->level_index;
  for (int32_t p = 0; p < base->n_projections; p++) schema->proj[p] = base->proj[p];
  for (int32_t p = 0; p < n_projections; p++) put_projection(&block, &proj[p], &schema->proj[base->n_projections + p]);
  for (int32_t f = 0; f < base->n_features; f++) schema->feat[f] = base->feat[f];
  for (int32_t f = 0; f < n_features; f++)
    put_table(&block, base->n_projections, &feat[f], &schema->feat[base->n_features + f]);
  const char *fault = gbt_feature_map_fault(schema);
  if (fault == NULL) {
    *out = schema;
    return GBT_OK;
  }
  gbt_schema_unref(schema);
  return gbt_fail(err, GBT_E_INTERNAL, "a table of statistics is wrong: %s", fault);
}

/* ---- features of another schema ---- */

/* Tables of `old` on their way to other levels. */
typedef struct joining {
  const gbt_mem *mem;
  const gbt_schema *old, *now;
  int32_t **place;      /* by column: the new position of each old level, -1 where there is none; or NULL */
  gbt_projection *proj; /* of old->n_projections */
  gbt_feature *feat;    /* n_tables */
  uint8_t **bin;        /* n_tables: owned, of feat */
  int32_t n_tables;
} joining;

int32_t gbt_schema_n_tables(const gbt_schema *schema) {
  int32_t n = 0;
  for (int32_t f = 0; f < schema->n_features; f++) n += gbt_feature_has_table(schema->feat[f].kind);
  return n;
}

static gbt_status place_levels(joining *j, int32_t c, gbt_error *err) {
  const gbt_schema_column *from = &j->old->col[c], *to = &j->now->col[c];
  if (j->place[c] != NULL) return GBT_OK;
  if (to->type != GBT_CATEGORICAL)
    return gbt_fail_on(err, GBT_E_ARG, to->name, "column `%s` has a different type in the initial model; convert it",
                       to->name);
  GBT_TRY(gbt_mem_array(j->mem, (size_t)from->n_levels + 1, sizeof **j->place, &j->place[c], err));
  gbt_schema_levels(j->now, c, from->levels, from->n_levels, j->place[c]);
  j->place[c][from->n_levels] = to->n_levels; /* missing values stay missing */
  return GBT_OK;
}

/* The key in new levels, or GBT_NO_KEY where one of them is no more. */
static uint64_t moved_key(const joining *j, const gbt_projection *proj, uint64_t key) {
  uint64_t scale = 1, out = 0;
  for (int32_t i = proj->n_cols - 1; i >= 0; i--) {
    const int32_t c = proj->col[i];
    const uint64_t radix = (uint64_t)j->old->col[c].n_levels + 1;
    const int32_t level = j->place[c][key % radix];
    if (level < 0) return GBT_NO_KEY;
    out += scale * (uint64_t)level;
    scale *= (uint64_t)j->now->col[c].n_levels + 1;
    key /= radix;
  }
  return out;
}

/* from[i]: the old row of the tables whose bins the new row i has, or GBT_NO_ROW; n_keys of the new projection. */
static gbt_status move_column(joining *j, const gbt_projection *old, gbt_projection *now, uint32_t **from,
                              gbt_error *err) {
  const int32_t c = old->col[0];
  now->n_keys = (int64_t)j->now->col[c].n_levels + 1;
  GBT_TRY(gbt_mem_array(j->mem, (size_t)now->n_keys, sizeof **from, from, err));
  for (int64_t i = 0; i < now->n_keys; i++) (*from)[i] = GBT_NO_ROW;
  for (int64_t i = 0; i < old->n_keys; i++)
    if (j->place[c][i] >= 0) (*from)[j->place[c][i]] = (uint32_t)i;
  return GBT_OK;
}

static gbt_status move_keys(joining *j, const gbt_projection *old, gbt_projection *now, uint32_t **from,
                            gbt_error *err) {
  gbt_status status = GBT_OK;
  const size_t room = (size_t)old->n_keys;
  uint64_t *key = NULL, *tmp = NULL;
  uint32_t *tmp_from = NULL;
  now->n_keys = 0;
  if (gbt_projection_space(j->now, old) == 0)
    return gbt_fail(err, GBT_E_UNSUPPORTED,
                    "a combination of columns in the initial model has too many keys with the levels of these "
                    "data; train a new model");
  GBT_TRY_GOTO(gbt_mem_array(j->mem, room, sizeof *key, &key, err), done);
  now->key = key;
  GBT_TRY_GOTO(gbt_mem_array(j->mem, room, sizeof *tmp, &tmp, err), done);
  GBT_TRY_GOTO(gbt_mem_array(j->mem, room, sizeof *tmp_from, &tmp_from, err), done);
  GBT_TRY_GOTO(gbt_mem_array(j->mem, room, sizeof **from, from, err), done);
  for (size_t i = 0; i < room; i++) {
    const uint64_t moved = moved_key(j, old, old->key[i]);
    if (moved == GBT_NO_KEY) continue;
    key[now->n_keys] = moved;
    (*from)[now->n_keys++] = (uint32_t)i;
  }
  gbt_sort_u64(key, *from, (size_t)now->n_keys, tmp, tmp_from);
done:
  gbt_mem_free(j->mem, tmp);
  gbt_mem_free(j->mem, tmp_from);
  return status;
}

static gbt_status move_tables(joining *j, int32_t p, gbt_error *err) {
  gbt_status status = GBT_OK;
  const gbt_projection *old = &j->old->proj[p];
  gbt_projection *now = &j->proj[p];
  const int32_t n_plain = j->old->n_features - j->n_tables;
  uint32_t *from = NULL;
  for (int32_t i = 0; i < old->n_cols; i++) GBT_TRY(place_levels(j, old->col[i], err));
  *now = (gbt_projection){.n_cols = old->n_cols, .col = old->col};
  GBT_TRY_GOTO(old->n_cols == 1 ? move_column(j, old, now, &from, err) : move_keys(j, old, now, &from, err), done);
  for (int32_t t = 0; t < j->n_tables; t++) {
    const gbt_feature *feat = &j->old->feat[n_plain + t];
    if (feat->projection != p) continue;
    GBT_TRY_GOTO(gbt_mem_array(j->mem, (size_t)now->n_keys, 1, &j->bin[t], err), done);
    for (int64_t i = 0; i < now->n_keys; i++) j->bin[t][i] = from[i] == GBT_NO_ROW ? feat->unknown : feat->bin[from[i]];
    j->feat[t] = *feat;
    j->feat[t].bin = j->bin[t];
  }
done:
  gbt_mem_free(j->mem, from);
  return status;
}

static void joining_free(joining *j) {
  for (int32_t c = 0; j->place != NULL && c < j->old->n_columns; c++) gbt_mem_free(j->mem, j->place[c]);
  for (int32_t p = 0; j->proj != NULL && p < j->old->n_projections; p++)
    gbt_mem_free(j->mem, (void *)(uintptr_t)j->proj[p].key);
  for (int32_t t = 0; j->bin != NULL && t < j->n_tables; t++) gbt_mem_free(j->mem, j->bin[t]);
  gbt_mem_free(j->mem, j->place);
  gbt_mem_free(j->mem, j->proj);
  gbt_mem_free(j->mem, j->feat);
  gbt_mem_free(j->mem, j->bin);
}

gbt_status gbt_schema_join(const gbt_mem *mem, gbt_schema *now, const gbt_schema *old, gbt_schema **out,
                           gbt_error *err) {
  gbt_status status = GBT_OK;
  joining j = {.mem = mem, .old = old, .now = now, .n_tables = gbt_schema_n_tables(old)};
  *out = NULL;
  if (j.n_tables == 0) {
    *out = gbt_schema_ref(now);
    return GBT_OK;
  }
  if (old->n_columns != now->n_columns)
    return gbt_fail(err, GBT_E_ARG, "the initial model has %d columns, the data have %d", (int)old->n_columns,
                    (int)now->n_columns);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)old->n_columns, sizeof *j.place, &j.place, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)old->n_projections, sizeof *j.proj, &j.proj, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)j.n_tables, sizeof *j.feat, &j.feat, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)j.n_tables, sizeof *j.bin, &j.bin, err), done);
  for (int32_t p = 0; p < old->n_projections; p++) GBT_TRY_GOTO(move_tables(&j, p, err), done);
  GBT_TRY_GOTO(gbt_schema_extend(mem, now, old->n_projections, j.proj, j.n_tables, j.feat, out, err), done);
done:
  joining_free(&j);
  return status;
}

/* ---- fewer features ---- */

gbt_status gbt_schema_keep(const gbt_mem *mem, const gbt_schema *schema, const uint8_t *keep, gbt_schema **out,
                           gbt_error *err) {
  gbt_schema_room room = {0};
  gbt_schema_block block;
  int32_t last = -1;
  *out = NULL;
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    const int has_table = gbt_feature_has_table(feat->kind);
    if (has_table && !keep[f]) continue;
    room.n_features++;
    room.n_projections += has_table && feat->projection != last;
    if (has_table) last = feat->projection;
  }
  GBT_TRY(gbt_schema_alloc(mem, room, &block, err));
  gbt_schema *to = block.schema;
  to->n_columns = schema->n_columns;
  to->col = schema->col;
  last = -1;
  for (int32_t f = 0, n = 0, p = -1; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (gbt_feature_has_table(feat->kind) && !keep[f]) continue;
    to->feat[n] = *feat;
    if (gbt_feature_has_table(feat->kind)) {
      if (feat->projection != last) to->proj[++p] = schema->proj[feat->projection];
      last = feat->projection;
      to->feat[n].projection = p;
    }
    n++;
  }
  *out = to;
  return GBT_OK;
}
