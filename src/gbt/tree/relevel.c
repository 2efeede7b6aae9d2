#include "relevel.h"

#include <string.h>

#include "../schema/schema_impl.h"

/* For every old feature NULL (nothing to do), or the old index of each new level, -1 when it is new. */
typedef struct level_maps {
  int32_t n_features; /* old */
  int32_t **old_of;
  int32_t *n_levels; /* new ones that sets distinguish */
  int32_t n_plain;   /* old features from here on are read from tables, .. */
  uint32_t shift;    /* .. and their numbers grow by so many */
} level_maps;

/* One tree in the making; grown to the largest. */
typedef struct tree_scratch {
  gbt_node *nodes;
  uint32_t *sets;
  size_t cap_nodes, cap_sets;
} tree_scratch;

static int same_levels(const gbt_schema_column *a, const gbt_schema_column *b) {
  if (a->n_levels != b->n_levels) return 0;
  for (int32_t i = 0; i < a->n_levels; i++)
    if (strcmp(a->levels[i], b->levels[i]) != 0) return 0;
  return 1;
}

static void maps_free(const gbt_mem *mem, level_maps *maps) {
  for (int32_t f = 0; maps->old_of && f < maps->n_features; f++) gbt_mem_free(mem, maps->old_of[f]);
  gbt_mem_free(mem, maps->old_of);
  gbt_mem_free(mem, maps->n_levels);
}

static int splits_on(const gbt_forest_view *forest, int32_t f) {
  for (uint64_t i = 0; i < forest->n_nodes; i++)
    if (forest->nodes[i].left != 0 && (int32_t)(forest->nodes[i].feat & GBT_NODE_FEATURE) == f) return 1;
  return 0;
}

/* A column that is split on by itself: NULL map where its levels stay as they are. */
static gbt_status map_column(const gbt_mem *mem, const gbt_schema_column *old, const gbt_schema_column *now,
                             level_maps *maps, int32_t f, gbt_error *err) {
  if (now->type == GBT_NUMERIC || same_levels(old, now)) return GBT_OK;
  if (now->type == GBT_ORDINAL)
    return gbt_fail_on(err, GBT_E_ARG, now->name,
                       "the levels of the ordered column `%s` differ from those of the initial model; give the same "
                       "levels in the same order",
                       now->name);
  const int32_t n = now->n_levels < GBT_MAX_LEVELS ? now->n_levels : GBT_MAX_LEVELS;
  maps->n_levels[f] = n;
  GBT_TRY(gbt_mem_array(mem, (size_t)n, sizeof **maps->old_of, &maps->old_of[f], err));
  return gbt_match_texts(mem, now->levels, n, old->levels, old->n_levels, maps->old_of[f], err);
}

/* Thresholds on a statistic keep their meaning only where levels keep their numbers; levels that are new were seen in
 * no row of the old data. */
static gbt_status check_statistic(const gbt_mem *mem, const gbt_schema_column *old_col, const gbt_feature *old,
                                  const gbt_schema_column *col, const gbt_feature *now, gbt_error *err) {
  gbt_status status = GBT_OK;
  int32_t *place;
  GBT_TRY(gbt_mem_array(mem, (size_t)col->n_levels, sizeof *place, &place, err));
  GBT_TRY_GOTO(gbt_match_texts(mem, col->levels, col->n_levels, old_col->levels, old_col->n_levels, place, err), done);
  for (int32_t i = 0; i < col->n_levels && status == GBT_OK; i++)
    if (now->value[i] != (place[i] < 0 ? 0.0 : old->value[place[i]]))
      status = gbt_fail_on(err, GBT_E_ARG, col->name,
                           "column `%s`: its level counts are not those of the initial model; make the data with "
                           "`init_model`",
                           col->name);
done:
  gbt_mem_free(mem, place);
  return status;
}

static gbt_status map_feature(const gbt_mem *mem, const gbt_forest_view *from, const gbt_schema *old_schema,
                              const gbt_schema *schema, level_maps *maps, int32_t f, gbt_error *err) {
  const gbt_feature *old = &old_schema->feat[f];
  const gbt_feature *now = &schema->feat[f < maps->n_plain ? f : f + (int32_t)maps->shift];
  const gbt_schema_column *old_col = &old_schema->col[old->col], *col = &schema->col[now->col];
  if (old->kind != now->kind)
    return gbt_fail_on(err, GBT_E_ARG, col->name,
                       "the initial model has other features of column `%s` than the data; "
                       "make the data with `init_model`",
                       col->name);
  if (old->type != now->type) {
    if (!splits_on(from, f)) return GBT_OK;
    return gbt_fail_on(err, GBT_E_ARG, col->name, "column `%s` has a different type in the initial model; convert it",
                       col->name);
  }
  switch (now->kind) {
  case GBT_FEATURE_COLUMN:
    return map_column(mem, old_col, col, maps, f, err);
  case GBT_FEATURE_LEVEL_COUNT:
    return splits_on(from, f) ? check_statistic(mem, old_col, old, col, now, err) : GBT_OK;
  case GBT_FEATURE_TARGET_MEAN:
  case GBT_FEATURE_TARGET_CLASS:
  case GBT_FEATURE_KEY_COUNT: /* tables are taken over as they are */
  case GBT_N_FEATURE_KINDS:
    break;
  }
  return GBT_OK;
}

static gbt_status maps_make(const gbt_mem *mem, const gbt_forest_view *from, const gbt_schema *old_schema,
                            const gbt_schema *schema, level_maps *maps, gbt_error *err) {
  const int32_t n_plain = old_schema->n_features - gbt_schema_n_tables(old_schema);
  const int32_t n_tables = gbt_schema_n_tables(schema);
  if (n_plain != schema->n_features - n_tables || old_schema->n_features - n_plain > n_tables)
    return gbt_fail(err, GBT_E_ARG, "the initial model has %d features, the data have %d", (int)old_schema->n_features,
                    (int)schema->n_features);
  maps->n_features = old_schema->n_features;
  maps->n_plain = n_plain;
  maps->shift = (uint32_t)(schema->n_features - old_schema->n_features);
  GBT_TRY(gbt_mem_zeros(mem, (size_t)maps->n_features, sizeof *maps->old_of, &maps->old_of, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)maps->n_features, sizeof *maps->n_levels, &maps->n_levels, err));
  for (int32_t f = 0; f < maps->n_features; f++) GBT_TRY(map_feature(mem, from, old_schema, schema, maps, f, err));
  return GBT_OK;
}

static const int32_t *map_of(const level_maps *maps, const gbt_node *node) {
  if (node->left == 0 || !(node->feat & GBT_NODE_CATEGORICAL)) return NULL;
  return maps->old_of[node->feat & GBT_NODE_FEATURE];
}

/* Words that the sets of a tree may need. */
static size_t words_needed(const level_maps *maps, const gbt_node *nodes, uint32_t n_nodes) {
  size_t words = 0;
  for (uint32_t i = 0; i < n_nodes; i++) {
    if (nodes[i].left == 0 || !(nodes[i].feat & GBT_NODE_CATEGORICAL)) continue;
    int32_t f = (int32_t)(nodes[i].feat & GBT_NODE_FEATURE);
    words += maps->old_of[f] ? ((size_t)maps->n_levels[f] + 31) / 32 : nodes[i].arg.set.n_words;
  }
  return words;
}

/* Whether a level goes left by its old index: unseen ones are -1, those that sets did not distinguish were missing. */
static uint32_t goes_left(const gbt_node *node, const uint32_t *old_set, int32_t level) {
  if (level < 0) return (node->feat & GBT_NODE_BULK_LEFT) != 0;
  if (level >= GBT_MAX_LEVELS) return (node->feat & GBT_NODE_MISSING_LEFT) != 0;
  return (uint32_t)gbt_bit(old_set, node->arg.set.n_words, (uint32_t)level);
}

/* Writes the new set of a node to `out` (zeroed); returns its words, zeros at the end left out. */
static uint32_t move_set(const level_maps *maps, const gbt_node *node, const uint32_t *old_sets, uint32_t *out) {
  const int32_t *old_of = map_of(maps, node);
  const uint32_t *old = old_sets + node->arg.set.beg;
  if (!old_of) {
    if (node->arg.set.n_words > 0) memcpy(out, old, node->arg.set.n_words * sizeof *out);
    return node->arg.set.n_words;
  }
  uint32_t n_words = 0;
  int32_t n = maps->n_levels[node->feat & GBT_NODE_FEATURE];
  for (int32_t i = 0; i < n; i++) {
    if (!goes_left(node, old, old_of[i])) continue;
    out[i >> 5] |= 1u << (i & 31);
    n_words = ((uint32_t)i >> 5) + 1;
  }
  return n_words;
}

static gbt_status move_tree(const gbt_mem *mem, const level_maps *maps, const gbt_forest_view *from, uint64_t t,
                            tree_scratch *s, gbt_forest *to, gbt_error *err) {
  const gbt_tree *tree = &from->trees[t];
  uint64_t beg = tree->node_beg;
  static const uint32_t none[1]; /* a set of no words has a place, too */
  const uint32_t *old_sets = tree->n_words > 0 ? from->sets + tree->set_beg : none;
  size_t room = words_needed(maps, from->nodes + beg, tree->n_nodes);
  if (room > UINT32_MAX) return gbt_fail(err, GBT_E_UNSUPPORTED, "a tree has more than 2^37 bits of level sets");
  GBT_TRY(gbt_mem_grow(mem, &s->nodes, &s->cap_nodes, tree->n_nodes, sizeof *s->nodes, err));
  GBT_TRY(gbt_mem_grow(mem, &s->sets, &s->cap_sets, room + 1, sizeof *s->sets, err));
  memcpy(s->nodes, from->nodes + beg, tree->n_nodes * sizeof *s->nodes);
  if (room > 0) memset(s->sets, 0, room * sizeof *s->sets);
  uint32_t n_words = 0;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    gbt_node *node = &s->nodes[i];
    if (node->left != 0 && (int32_t)(node->feat & GBT_NODE_FEATURE) >= maps->n_plain) node->feat += maps->shift;
    if (node->left == 0 || !(node->feat & GBT_NODE_CATEGORICAL)) continue;
    if (i > 0 && gbt_same_set(&from->nodes[beg + i - 1], &from->nodes[beg + i])) { /* shared as it was */
      node->arg = node[-1].arg;
      continue;
    }
    uint32_t n = move_set(maps, node, old_sets, s->sets + n_words);
    node->arg.set.beg = n_words;
    node->arg.set.n_words = n;
    n_words += n;
  }
  GBT_ASSERT(n_words <= room);
  gbt_tree_parts moved = gbt_tree_of(from, t);
  moved.nodes = s->nodes;
  moved.n_words = n_words;
  moved.sets = s->sets;
  return gbt_forest_add(to, &moved, err);
}

gbt_status gbt_forest_relevel(const gbt_mem *mem, const gbt_forest_view *from, const gbt_schema *old_schema,
                              const gbt_schema *schema, gbt_forest **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_forest *forest = NULL;
  level_maps maps = {0};
  tree_scratch scratch = {0};
  int changed = 0;
  *out = NULL;
  GBT_TRY_GOTO(maps_make(mem, from, old_schema, schema, &maps, err), done);
  for (int32_t f = 0; f < maps.n_features; f++)
    changed |= maps.old_of[f] != NULL || (f >= maps.n_plain && maps.shift != 0);
  gbt_forest_view shape = *from;
  shape.n_features = schema->n_features;
  GBT_TRY_GOTO(gbt_forest_new_like(mem, &shape, &forest, err), done);
  if (!changed) { /* to the bit, however the sets were laid out */
    GBT_TRY_GOTO(gbt_forest_append(forest, &shape, err), done);
  } else {
    for (uint64_t t = 0; t < from->n_trees; t++)
      GBT_TRY_GOTO(move_tree(mem, &maps, from, t, &scratch, forest, err), done);
  }
done:
  maps_free(mem, &maps);
  gbt_mem_free(mem, scratch.nodes);
  gbt_mem_free(mem, scratch.sets);
  if (status == GBT_OK)
    *out = forest;
  else
    gbt_forest_free(forest);
  return status;
}
