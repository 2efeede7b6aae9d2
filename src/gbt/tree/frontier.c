#include "frontier_impl.h"

#include <string.h>

enum { LOOKAHEAD = 16, LOOK_FAR = 48, PART = 4 };

void gbt_frontier_init(gbt_frontier *fr, const gbt_mem *mem, const gbt_params *params, const int8_t *monotone,
                       int32_t path_words) {
  memset(fr, 0, sizeof *fr);
  fr->mem = *mem;
  fr->path_words = path_words;
  fr->policy = gbt_grow_policy_of(params, monotone);
  fr->ahead.most = params->colsample_bynode < 1.0 ? 1 : LOOKAHEAD; /* draws for a node depend on its number */
  fr->ahead.part = PART;
}

void gbt_frontier_set_lookahead(gbt_frontier *fr, int far) {
  if (fr->ahead.most > 1) fr->ahead.most = far ? LOOK_FAR : LOOKAHEAD;
  fr->ahead.part = far ? 1 : PART;
}

void gbt_frontier_free(gbt_frontier *fr) {
  gbt_mem_free(&fr->mem, fr->node);
  gbt_mem_free(&fr->mem, fr->fresh);
  gbt_mem_free(&fr->mem, fr->chosen);
  gbt_mem_free(&fr->mem, fr->open);
  gbt_mem_free(&fr->mem, fr->ahead.next);
  gbt_mem_free(&fr->mem, fr->ahead.spare);
  gbt_mem_free(&fr->mem, fr->sets);
  gbt_mem_free(&fr->mem, fr->path);
  memset(fr, 0, sizeof *fr);
}

/* Room for two more nodes everywhere, so that a step fails before it changes anything. */
static gbt_status reserve(gbt_frontier *fr, gbt_error *err) {
  size_t need = fr->n_nodes + 2;
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->node, &fr->cap_nodes, need, sizeof *fr->node, err));
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->fresh, &fr->cap_fresh, fr->n_fresh + 2, sizeof *fr->fresh, err));
  if (fr->path_words > 0)
    GBT_TRY(gbt_mem_grow(&fr->mem, &fr->path, &fr->cap_path, need * (size_t)fr->path_words, sizeof *fr->path, err));
  return GBT_OK;
}

static uint32_t *path_of(gbt_frontier *fr, size_t node) { return fr->path + node * (size_t)fr->path_words; }

gbt_status gbt_frontier_root(gbt_frontier *fr, int64_t n_rows, gbt_sum sum, gbt_units unit, gbt_error *err) {
  fr->n_nodes = fr->n_fresh = fr->n_chosen = fr->n_open = fr->n_set_words = fr->ahead.n_next = fr->ahead.drop_at = 0;
  GBT_TRY(reserve(fr, err));
  fr->policy.unit = unit;
  fr->n_leaves = fr->n_numbers = 1;
  fr->node[0] = gbt_grow_root(&fr->policy, (uint32_t)n_rows, sum);
  gbt_grow_put_rows(&fr->node[0], n_rows);
  fr->node[0].splittable = (int8_t)gbt_grow_could_split(&fr->policy, &fr->node[0], 1);
  fr->n_nodes = 1;
  if (fr->path_words > 0) memset(fr->path, 0, (size_t)fr->path_words * sizeof *fr->path);
  fr->fresh[fr->n_fresh++] = 0;
  return GBT_OK;
}

static const gbti_growth *growth_of(const gbt_frontier *fr) {
  switch (fr->policy.kind) {
  case GBT_DEPTHWISE:
    return &gbti_depthwise;
  case GBT_LOSSGUIDE:
    return &gbti_best_first;
  case GBT_SYMMETRIC:
    return &gbti_symmetric;
  }
  return &gbti_depthwise;
}

gbt_status gbt_frontier_opened(gbt_frontier *fr, gbt_error *err) {
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->open, &fr->cap_open, fr->n_nodes, sizeof *fr->open, err));
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->chosen, &fr->cap_chosen, fr->n_nodes, sizeof *fr->chosen, err));
  GBT_ASSERT(fr->n_fresh == 1 || fr->n_fresh % 2 == 0); /* the root, or pairs of siblings */
  GBT_TRY(growth_of(fr)->opened(fr, err));
  fr->n_fresh = 0;
  return GBT_OK;
}

void gbt_frontier_select(gbt_frontier *fr, size_t at_once) {
  fr->n_chosen = 0;
  growth_of(fr)->select(fr, at_once);
  GBT_ASSERT(fr->n_chosen <= fr->n_nodes && fr->n_open <= fr->n_nodes);
}

gbt_status gbt_frontier_settle(gbt_frontier *fr, gbt_error *err) {
  const gbti_growth *growth = growth_of(fr);
  return growth->settle ? growth->settle(fr, err) : GBT_OK;
}

gbt_status gbt_frontier_split(gbt_frontier *fr, int32_t id, int64_t n_left, gbt_error *err) {
  GBT_TRY(reserve(fr, err));
  gbt_grow_node *parent = &fr->node[id];
  int32_t first = (int32_t)fr->n_nodes;
  gbt_grow_node left, right;
  GBT_ASSERT(id >= 0 && id < first && (first & 1) == 1); /* the root, then pairs */
  GBT_ASSERT(parent->left == 0 && parent->ahead == 0);
  gbt_grow_children(&fr->policy, parent, id, (uint32_t)n_left, &left, &right);
  gbt_grow_count(parent, n_left, &left, &right);
  parent->ahead = first;
  fr->node[first] = left;
  fr->node[first + 1] = right;
  if (fr->path_words > 0) {
    for (int k = 0; k < 2; k++) {
      uint32_t *path = path_of(fr, (size_t)(first + k));
      memcpy(path, path_of(fr, (size_t)id), (size_t)fr->path_words * sizeof *path);
      path[parent->split.feat >> 5] |= 1u << (parent->split.feat & 31);
    }
  }
  fr->n_nodes += 2;
  fr->fresh[fr->n_fresh++] = first;
  fr->fresh[fr->n_fresh++] = first + 1;
  if (growth_of(fr)->commits(fr, id)) gbti_frontier_commit(fr, id, first);
  return GBT_OK;
}

void gbt_frontier_share(gbt_frontier *fr, int32_t id, uint32_t own_left) {
  gbt_grow_node *parent = &fr->node[id], *left = &fr->node[parent->ahead];
  gbt_grow_share(parent, own_left, left, left + 1);
}

void gbt_frontier_mark_splittable(gbt_frontier *fr) {
  for (size_t i = 0; i < fr->n_fresh; i++) {
    gbt_grow_node *node = &fr->node[fr->fresh[i]];
    node->splittable = (int8_t)gbt_grow_could_split(&fr->policy, node, fr->n_leaves);
  }
}

gbt_status gbt_frontier_set(gbt_frontier *fr, uint32_t n_words, uint32_t *beg, gbt_error *err) {
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->sets, &fr->cap_set_words, fr->n_set_words + n_words, sizeof *fr->sets, err));
  GBT_ASSERT(fr->n_set_words + n_words <= UINT32_MAX);
  *beg = (uint32_t)fr->n_set_words;
  memset(fr->sets + fr->n_set_words, 0, n_words * sizeof *fr->sets);
  fr->n_set_words += n_words;
  return GBT_OK;
}
