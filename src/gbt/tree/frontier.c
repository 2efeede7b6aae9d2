#include "frontier_impl.h"

#include <string.h>

#define LOOKAHEAD 16

void gbt_frontier_init(gbt_frontier *fr, const gbt_mem *mem, const gbt_params *params, const int8_t *monotone,
                       int32_t path_words) {
  memset(fr, 0, sizeof *fr);
  fr->mem = *mem;
  fr->path_words = path_words;
  fr->policy = gbt_grow_policy_of(params, monotone);
  fr->lookahead = params->colsample_bynode < 1.0 ? 1 : LOOKAHEAD; /* draws for a node go by its number */
}

void gbt_frontier_free(gbt_frontier *fr) {
  gbt_mem_free(&fr->mem, fr->node);
  gbt_mem_free(&fr->mem, fr->fresh);
  gbt_mem_free(&fr->mem, fr->chosen);
  gbt_mem_free(&fr->mem, fr->open);
  gbt_mem_free(&fr->mem, fr->next);
  gbt_mem_free(&fr->mem, fr->spare);
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

gbt_status gbt_frontier_root(gbt_frontier *fr, uint32_t n_rows, gbt_sum sum, gbt_units unit, gbt_error *err) {
  fr->n_nodes = fr->n_fresh = fr->n_chosen = fr->n_open = fr->n_next = fr->n_sets = fr->drop_at = 0;
  GBT_TRY(reserve(fr, err));
  fr->policy.unit = unit;
  fr->n_leaves = fr->n_numbers = 1;
  fr->node[0] = gbt_grow_root(&fr->policy, n_rows, sum);
  fr->n_nodes = 1;
  if (fr->path_words > 0) memset(fr->path, 0, (size_t)fr->path_words * sizeof *fr->path);
  fr->fresh[fr->n_fresh++] = 0;
  return GBT_OK;
}

gbt_status gbt_frontier_opened(gbt_frontier *fr, gbt_error *err) {
  gbt_status status = GBT_OK;
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->open, &fr->cap_open, fr->n_nodes, sizeof *fr->open, err));
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->chosen, &fr->cap_chosen, fr->n_nodes, sizeof *fr->chosen, err));
  for (size_t i = 0; i < fr->n_fresh; i++) {
    gbt_grow_node *node = &fr->node[fr->fresh[i]];
    int level = fr->policy.kind == GBT_SYMMETRIC; /* has no split yet */
    if (node->split.kind == GBT_SPLIT_NONE && !level) continue;
    if (!level) gbt_grow_settle_missing(node);
    if (fr->policy.kind == GBT_LOSSGUIDE) continue;
    node->open = 1;
    fr->open[fr->n_open++] = fr->fresh[i];
  }
  if (fr->policy.kind == GBT_LOSSGUIDE) status = gbti_best_first_opened(fr, err);
  fr->n_fresh = 0;
  return status;
}

int gbt_frontier_level_waits(const gbt_frontier *fr) {
  for (size_t i = 0; i < fr->n_open; i++)
    if (fr->node[fr->open[i]].split.kind != GBT_SPLIT_NONE) return 0;
  return fr->n_open > 0;
}

void gbt_frontier_level(gbt_frontier *fr, const gbt_split *level, uint32_t set_beg, uint32_t set_words) {
  for (size_t i = 0; i < fr->n_open; i++) {
    gbt_grow_node *node = &fr->node[fr->open[i]];
    node->open = level != NULL;
    if (!level) continue;
    node->split = *level;
    node->set_beg = set_beg;
    node->set_words = set_words;
  }
  if (!level) fr->n_open = 0;
}

void gbt_frontier_bulk(gbt_frontier *fr) {
  for (size_t beg = 0, n = 1; beg < fr->n_nodes && fr->node[beg].left; beg = 2 * beg + 1, n *= 2) {
    uint64_t left = 0, all = 0;
    for (size_t i = beg; i < beg + n; i++) {
      all += fr->node[i].n_rows;
      left += fr->node[fr->node[i].left].n_rows;
    }
    for (size_t i = beg; i < beg + n; i++) fr->node[i].bulk_left = left >= all - left;
  }
}

/* Keeps x sorted by (gain down, node up): inserts into the first n of at most cap places. */
static size_t insert_by_gain(const gbt_frontier *fr, int32_t *x, size_t n, size_t cap, int32_t node) {
  size_t at = n;
  double gain = fr->node[node].split.gain;
  while (at > 0) {
    double other = fr->node[x[at - 1]].split.gain;
    if (other > gain || (other == gain && x[at - 1] < node)) break;
    at--;
  }
  if (at >= cap) return n;
  size_t last = n < cap ? n : cap - 1;
  memmove(x + at + 1, x + at, (last - at) * sizeof *x);
  x[at] = node;
  return last + 1;
}

static void sort_ascending(int32_t *x, size_t n) { /* nearly sorted input: node numbers grow with time */
  for (size_t i = 1; i < n; i++) {
    int32_t v = x[i];
    size_t j = i;
    for (; j > 0 && x[j - 1] > v; j--) x[j] = x[j - 1];
    x[j] = v;
  }
}

static void drop_chosen(gbt_frontier *fr) {
  size_t kept = 0;
  for (size_t i = 0; i < fr->n_chosen; i++) fr->node[fr->chosen[i]].open = 0;
  for (size_t i = 0; i < fr->n_open; i++)
    if (fr->node[fr->open[i]].open) fr->open[kept++] = fr->open[i];
  fr->n_open = kept;
}

gbt_status gbt_frontier_select(gbt_frontier *fr, size_t batch, gbt_error *err) {
  (void)err;
  size_t room = fr->n_open;
  fr->n_chosen = 0;
  if (fr->policy.kind == GBT_LOSSGUIDE) {
    gbti_best_first_select(fr, batch);
    return GBT_OK;
  }
  if (fr->policy.max_leaves > 0 && (uint64_t)(fr->policy.max_leaves - fr->n_leaves) < room)
    room = (size_t)(fr->policy.max_leaves - fr->n_leaves);
  if (room == 0) return GBT_OK;
  int32_t depth = INT32_MAX;
  size_t level = 0;
  for (size_t i = 0; i < fr->n_open; i++) {
    int32_t d = fr->node[fr->open[i]].depth;
    if (fr->node[fr->open[i]].split.kind == GBT_SPLIT_NONE) continue; /* symmetric: of the level after the chosen one */
    if (d < depth) level = 0, depth = d;
    level += d == depth;
  }
  size_t cap = batch < room ? batch : room;
  for (size_t i = 0; i < fr->n_open; i++) {
    int32_t id = fr->open[i];
    if (fr->node[id].depth != depth) continue;
    if (level > room) fr->n_chosen = insert_by_gain(fr, fr->chosen, fr->n_chosen, cap, id);
    else fr->chosen[fr->n_chosen++] = id;
  }
  if (level <= room) {
    sort_ascending(fr->chosen, fr->n_chosen);
    if (fr->n_chosen > cap) fr->n_chosen = cap;
  }
  drop_chosen(fr);
  return GBT_OK;
}

void gbti_frontier_commit(gbt_frontier *fr, int32_t parent, int32_t first) {
  fr->node[parent].left = first;
  fr->node[first].number = fr->n_numbers++;
  fr->node[first + 1].number = fr->n_numbers++;
  fr->n_leaves++;
}

gbt_status gbt_frontier_split(gbt_frontier *fr, int32_t id, uint32_t n_left, gbt_error *err) {
  GBT_TRY(reserve(fr, err));
  gbt_grow_node *parent = &fr->node[id];
  int32_t first = (int32_t)fr->n_nodes;
  gbt_grow_node left, right;
  gbt_grow_children(&fr->policy, parent, id, n_left, &left, &right);
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
  if (fr->policy.kind != GBT_LOSSGUIDE || id == fr->chosen[0]) gbti_frontier_commit(fr, id, first);
  return GBT_OK;
}

void gbt_frontier_judge(gbt_frontier *fr) {
  for (size_t i = 0; i < fr->n_fresh; i++) {
    gbt_grow_node *node = &fr->node[fr->fresh[i]];
    node->splittable = (int8_t)gbt_grow_could_split(&fr->policy, node, fr->n_leaves);
  }
}

gbt_status gbt_frontier_set(gbt_frontier *fr, uint32_t n_words, uint32_t *beg, gbt_error *err) {
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->sets, &fr->cap_sets, fr->n_sets + n_words, sizeof *fr->sets, err));
  *beg = (uint32_t)fr->n_sets;
  memset(fr->sets + fr->n_sets, 0, n_words * sizeof *fr->sets);
  fr->n_sets += n_words;
  return GBT_OK;
}
