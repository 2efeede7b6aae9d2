/* Trees that are ready, in one block: all arrays of all of them, concatenated. */
#include "explain.cuh"

/* Fills the block, or, without one, only measures it. */
struct cu_explain_fill {
  unsigned char *to;         /* page-locked, or NULL */
  const unsigned char *base; /* on the device */
  size_t n;                  /* bytes so far */
};

/* n things more; where they will be on the device. */
template <class T> static const T *put(cu_explain_fill *fill, const T *from, size_t n) {
  const size_t at = fill->n;
  fill->n = (at + n * sizeof(T) + 15) / 16 * 16;
  if (fill->to != NULL && n > 0) memcpy(fill->to + at, from, n * sizeof(T));
  return (const T *)(const void *)(fill->base + at);
}

static void put_asks(cu_explain_fill *fill, const gbti_explain_run *run, const gbti_game *game, cu_explain_tree *to) {
  const gbt_tree *tree = &run->forest->trees[game->tree];
  to->ask = NULL;
  for (uint32_t i = 0; i < game->n_asks; i++) {
    cu_explain_ask ask;
    memset(&ask, 0, sizeof ask);
    ask.node = run->forest->nodes[tree->node_beg + game->split[game->ask[i]].node];
    ask.column = run->slot[ask.node.feat & GBT_NODE_FEATURE];
    const cu_explain_ask *at = put(fill, &ask, 1);
    if (i == 0) to->ask = at;
  }
  to->word = put(fill, tree->n_words > 0 ? run->forest->sets + tree->set_beg : NULL, tree->n_words);
}

static_assert(sizeof(cu_explain_ask) % 16 == 0, "questions lie side by side");

static void put_game(cu_explain_fill *fill, const gbti_game *from, gbti_game *to) {
  const size_t n = from->n_splits, n_points = (size_t)from->n_points;
  *to = *from;
  to->split = (gbti_split *)put(fill, from->split, n);
  to->mix = (gbti_mix *)put(fill, from->mix, from->mix != NULL ? n : 0);
  to->step = (uint32_t *)put(fill, from->step, from->n_steps);
  to->player = (int32_t *)put(fill, from->player, (size_t)from->n_players);
  to->value = (double *)put(fill, from->value, 2 * n * from->n_outputs);
  to->weight = (double *)put(fill, from->weight, n_points);
  to->factor = (double *)put(fill, from->factor, from->n_factors);
  to->ask = NULL;
  to->mean = to->point = NULL;
}

static void put_entry(cu_explain_fill *fill, const gbti_explain_run *run, const gbti_entry *entry,
                      cu_explain_tree *to) {
  const gbti_game *game = entry->game;
  memset(to, 0, sizeof *to);
  to->game.n_splits = game->n_splits;
  if (game->n_splits == 0) return;
  to->first_output = gbti_first_output(run->forest, game->tree);
  to->bits = entry->bits;
  put_asks(fill, run, game, to);
  if (entry->table != NULL) {
    const size_t n = gbti_n_items(run, game) * game->n_outputs;
    to->game = *game;
    to->game.player = (int32_t *)put(fill, game->player, (size_t)game->n_players);
    to->table = put(fill, (const double *)entry->table, n << entry->bits);
    return;
  }
  put_game(fill, game, &to->game);
  if (entry->others == NULL) return;
  const gbti_others *o = entry->others;
  to->leaf = put(fill, (const gbti_others_leaf *)o->leaf, 2 * (size_t)game->n_splits);
  to->set = put(fill, (const uint64_t *)o->set, o->n_set);
  to->count = put(fill, (const double *)o->count, o->n_count);
  to->leaf_table = put(fill, (const double *)o->table, o->n_table);
  to->total = o->total;
}

/* ---- scratch ---- */

static void need(size_t *most, size_t n) {
  if (n > *most) *most = n;
}

/* The sizes of the scratch that the trees need; place_scratch() places it. */
static void measure_scratch(const gbti_explain_run *run, const gbti_entry *entry, cu_explain_scratch *s) {
  const gbti_game *game = entry->game;
  const size_t slots = (size_t)game->most_on_way, pairs = run->spec->interactions ? slots * (slots + 1) / 2 : slots;
  if (game->n_splits == 0 || entry->table != NULL) return;
  const size_t items = gbti_n_items(run, game);
  if (entry->others == NULL) {
    const size_t layers = ((size_t)game->n_depths + 1) * (size_t)game->n_points;
    need(&s->p, layers);
    if (run->spec->interactions) {
      need(&s->psi, layers);
      need(&s->live, (size_t)game->n_players);
      need(&s->kept, game->n_depths);
    }
    need(&s->terms, (size_t)game->n_points);
    need(&s->acc, items);
    need(&s->bits, game->n_splits);
    return;
  }
  need(&s->acc, items * game->n_outputs);
  need(&s->bits, game->n_depths);
  need(&s->mask, (slots + 63) / 64);
  need(&s->mine, (slots + 63) / 64);
  need(&s->items, pairs);
  need(&s->spare, slots);
  need(&s->player, slots);
}

static void place(size_t *at, size_t size, size_t *end) {
  const size_t n = *at * size * GBTI_LANES;
  *at = *end;
  *end += (n + 15) / 16 * 16;
}

static void place_scratch(cu_explain_scratch *s) {
  size_t end = 0;
  s->r = s->p;
  s->sum = 2 * s->p;
  s->n_mine = s->mine;
  s->n_items = s->items;
  s->n_spare = s->spare;
  size_t *doubles[] = {&s->p, &s->r, &s->sum, &s->psi, &s->terms, &s->acc, &s->mask, &s->mine, &s->items, &s->spare};
  size_t *ints[] = {&s->live, &s->kept, &s->player};
  for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) place(doubles[i], sizeof(double), &end);
  for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) place(ints[i], sizeof(int32_t), &end);
  place(&s->bits, 1, &end);
  s->bytes = end > 0 ? end : 16;
}

static double steps_of(const gbti_entry *entry) {
  const gbti_game *game = entry->game;
  if (entry->table != NULL || game->n_splits == 0) return (double)game->n_asks + (double)game->n_players;
  if (entry->others == NULL) return (double)game->n_steps * game->n_points * (double)game->n_outputs;
  return (double)(entry->others->n_count * 4 + 2 * game->n_splits * (size_t)game->most_on_way * game->n_outputs);
}

/* ---- the block ---- */

static size_t bytes_of(const gbti_explain_run *run, const gbti_entry *entry) {
  cu_explain_fill fill = {NULL, NULL, 0};
  cu_explain_tree tree;
  put_entry(&fill, run, entry, &tree);
  return fill.n + sizeof tree;
}

gbt_status cu_explain_trees_make(const gbti_explain_run *run, cu_memory *memory, cudaStream_t stream, size_t bytes,
                                 cu_explain_trees *trees, gbt_error *err) {
  size_t n = 16;
  unsigned char *host = NULL;
  trees->end = trees->beg;
  do {
    const gbti_entry *entry = &run->entry[trees->end++];
    n += bytes_of(run, entry);
    trees->n_steps += steps_of(entry);
    measure_scratch(run, entry, &trees->scratch);
  } while (trees->end < run->n_entries && n + bytes_of(run, &run->entry[trees->end]) <= bytes);
  place_scratch(&trees->scratch);
  const size_t n_trees = trees->end - trees->beg;
  GBT_TRY(cu_new(memory, &trees->block, n, err));
  GBT_TRY(cu_host_alloc(n, &host, err));
  memset(host, 0, n);
  cu_explain_fill fill = {host, trees->block.at, (n_trees * sizeof(cu_explain_tree) + 15) / 16 * 16};
  trees->tree = (const cu_explain_tree *)(const void *)trees->block.at;
  for (size_t j = 0; j < n_trees; j++) {
    cu_explain_tree tree;
    put_entry(&fill, run, &run->entry[trees->beg + j], &tree);
    memcpy(host + j * sizeof tree, &tree, sizeof tree);
  }
  GBT_ASSERT(fill.n <= n);
  cudaError_t code = cudaMemcpyAsync(trees->block.at, host, n, cudaMemcpyHostToDevice, stream);
  if (code == cudaSuccess) code = cudaStreamSynchronize(stream);
  cu_host_free(&host);
  return code == cudaSuccess ? GBT_OK : cu_failed(code, "cudaMemcpyAsync", err);
}

void cu_explain_trees_drop(cu_memory *memory, cu_explain_trees *trees) {
  const size_t next = trees->end;
  cu_drop(memory, &trees->block);
  *trees = cu_explain_trees();
  trees->beg = trees->end = next;
}
