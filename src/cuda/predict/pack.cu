/* Prediction: trees as the device walks them (predict.cuh), made of the host's packs (model/predict_pack.c).
 *
 *   measure   units of every tree's blob
 *   place     trees by output, contiguous blobs, which of them are a part
 *   fill      nodes with places of sets and values, by tree in parallel; then all goes up
 *
 * Nothing of the host's copy is kept. */
#include "predict.cuh"

enum {
  MAX_PLAIN_NODES = 1 << 24, /* of a plain run, unless its first tree has more */
  PLAIN_STEPS = 24,          /* that a row takes through a plain tree, about */
  MAX_LAYERS = 16            /* of a tree of layers */
};

/* Sizes of a blob's parts. */
struct cu_predict_measure {
  uint32_t n_nodes, n_entries, n_numbers, n_leaves, n_words, kind, depth;
};

/* A tree of the pack. */
struct cu_predict_source {
  const gbti_pack_node *node;
  const gbti_pack_wide *wide; /* NULL without sets */
  const gbt_tree *tree;
};

struct cu_predict_fill {
  const gbt_forest_view *forest;
  const gbti_pack *pack;
  cu_predict_measure *size; /* by tree of the pack */
  uint32_t *place;          /* by tree of the pack: its place in `tree` */
  cu_predict_tree *tree;
  cu_predict_node *blob;
};

/* Whether node i needs no set of its own: the split before has the same (see write_set of the pack). */
static int same_set_as_before(const gbti_pack_wide *wide, uint32_t i) {
  return i > 0 && wide[i - 1].order == GBTI_PACK_BY_LEVEL && wide[i - 1].beg == wide[i].beg;
}

static cu_predict_source source_of(const cu_predict_fill *fill, int64_t task) {
  const gbti_pack_tree *tree = &fill->pack->tree[task];
  cu_predict_source source = {fill->pack->nodes + tree->node_beg,
                              tree->has_sets ? fill->pack->wide + tree->node_beg : NULL,
                              &fill->forest->trees[fill->pack->trees.beg + (uint64_t)task]};
  return source;
}

static int same_split(const cu_predict_source *from, uint32_t i, uint32_t j) {
  const gbti_pack_node *a = &from->node[i], *b = &from->node[j];
  if (a->order != b->order || a->col != b->col || a->order == GBTI_PACK_LEAF) return 0;
  return a->order != GBTI_PACK_BY_LEVEL || from->wide[i].beg == from->wide[j].beg;
}

/* Whether all layers of a tree have one split each, and how many they are. Every way is gone; where all ask at every
 * layer, what is left of the nodes are leaves. */
static int has_layers(const cu_predict_source *from, uint32_t *depth) {
  *depth = 0;
  while (*depth <= MAX_LAYERS && ((uint32_t)2 << *depth) - 1 < from->tree->n_nodes) ++*depth;
  if (*depth > MAX_LAYERS || ((uint32_t)2 << *depth) - 1 != from->tree->n_nodes) return 0;
  for (uint32_t way = 0; way < (uint32_t)1 << *depth; way++) {
    uint32_t at = 0, first = 0; /* first: the way that goes left only */
    for (uint32_t layer = 0; layer < *depth; layer++) {
      if (!same_split(from, at, first)) return 0;
      at = from->node[at].child + (way >> (*depth - 1 - layer) & 1u);
      first = from->node[first].child;
    }
  }
  return 1;
}

static cu_predict_measure measure_layers(const cu_predict_source *from, uint32_t depth) {
  uint32_t n_leaves = (uint32_t)1 << depth;
  cu_predict_measure size = {depth, 0, n_leaves, n_leaves, 0, CU_PREDICT_LAYERS, depth};
  for (uint32_t layer = 0, at = 0; layer < depth; layer++, at = from->node[at].child)
    if (from->node[at].order == GBTI_PACK_BY_LEVEL) size.n_words += from->wide[at].last + 2;
  return size;
}

static cu_predict_measure measure_nodes(const cu_predict_source *from) {
  cu_predict_measure size = {from->tree->n_nodes, 0, 0, 0, 0, CU_PREDICT_NUMBERS, 0};
  for (uint32_t i = 0; i < size.n_nodes; i++) {
    size.n_leaves += from->node[i].order == GBTI_PACK_LEAF;
    if (from->node[i].order != GBTI_PACK_BY_LEVEL) continue;
    size.kind = CU_PREDICT_ANY;
    size.n_entries++;
    if (!same_set_as_before(from->wide, i)) size.n_words += from->wide[i].last + 2;
  }
  return size;
}

static void measure_task(void *arg, int64_t task, int thread) {
  (void)thread;
  cu_predict_fill *fill = (cu_predict_fill *)arg;
  cu_predict_source from = source_of(fill, task);
  uint32_t depth;
  fill->size[task] = has_layers(&from, &depth) ? measure_layers(&from, depth) : measure_nodes(&from);
}

static void write_value(const cu_predict_fill *fill, const cu_predict_source *from, uint32_t leaf,
                        cu_predict_node *to) {
  uint64_t bits = gbt_bits(fill->forest->nodes[from->tree->node_beg + leaf].arg.value);
  to->what = (uint32_t)bits;
  to->next = (uint32_t)(bits >> 32);
}

/* Returns the next free place. */
static uint32_t write_set(const gbti_pack *pack, const gbti_pack_wide *wide, uint32_t *words, uint32_t at) {
  words[at++] = wide->last;
  for (uint32_t k = 0; k <= wide->last; k++) words[at++] = pack->words[wide->beg + k];
  return at;
}

static void fill_layers(const cu_predict_fill *fill, const cu_predict_source *from, const cu_predict_tree *tree,
                        cu_predict_node *to) {
  uint32_t *numbers = (uint32_t *)(to + tree->depth), *words = (uint32_t *)(to + tree->word_at), word = 0;
  for (uint32_t layer = 0, at = 0; layer < tree->depth; layer++, at = from->node[at].child) {
    to[layer].what = (uint32_t)(from->node[at].col / GBTI_PACK_LANES) | (uint32_t)from->node[at].order << 16;
    to[layer].next = word;
    if (from->node[at].order == GBTI_PACK_BY_LEVEL) word = write_set(fill->pack, &from->wide[at], words, word);
  }
  for (uint32_t way = 0; way < (uint32_t)1 << tree->depth; way++) {
    uint32_t at = 0;
    for (uint32_t layer = tree->depth; layer-- > 0;) at = from->node[at].child + (way >> layer & 1u);
    numbers[way] = at;
    write_value(fill, from, at, &to[tree->value_at + way]);
  }
}

static void fill_nodes(const cu_predict_fill *fill, const cu_predict_source *from, const cu_predict_tree *tree,
                       cu_predict_node *to) {
  const gbti_pack_node *node = from->node;
  uint32_t *words = (uint32_t *)(to + tree->word_at);
  uint32_t entry = from->tree->n_nodes, leaf = 0, word = 0, set = 0;
  for (uint32_t i = 0; i < from->tree->n_nodes; i++) {
    to[i].what = (uint32_t)(node[i].col / GBTI_PACK_LANES) | (uint32_t)node[i].order << 16;
    to[i].next = node[i].child;
    if (node[i].order == GBTI_PACK_LEAF) {
      write_value(fill, from, i, &to[tree->value_at + leaf]);
      to[i].next = leaf++;
    } else if (node[i].order == GBTI_PACK_BY_LEVEL) {
      if (!same_set_as_before(from->wide, i)) {
        set = word;
        word = write_set(fill->pack, &from->wide[i], words, word);
      }
      to[entry].what = node[i].child;
      to[entry].next = set;
      to[i].next = entry++;
    }
  }
}

static void fill_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const cu_predict_fill *fill = (const cu_predict_fill *)arg;
  const cu_predict_tree *tree = &fill->tree[fill->place[task]];
  cu_predict_source from = source_of(fill, task);
  if (tree->kind == CU_PREDICT_LAYERS)
    fill_layers(fill, &from, tree, fill->blob + tree->at);
  else
    fill_nodes(fill, &from, tree, fill->blob + tree->at);
}

/* Trees by output, their places among the units, parts of neighbours. n_units: of all blobs. */
static void place_trees(cu_predict_fill *fill, uint32_t most_units, uint32_t *part_beg, cu_predict_part *part,
                        size_t *n_parts, uint32_t *part_units, uint64_t *n_units) {
  const gbt_forest_view *forest = fill->forest;
  uint64_t beg = fill->pack->trees.beg, n = fill->pack->trees.end - beg;
  uint32_t n_outputs = (uint32_t)forest->n_outputs, next = 0;
  *n_parts = *part_units = 0;
  *n_units = 0;
  for (uint32_t k = 0; k < n_outputs; k++) part_beg[k] = 0; /* numbers of trees; then where an output's begin */
  for (uint64_t i = 0; i < n; i++) part_beg[gbti_predict_output(forest, beg + i)]++;
  for (uint32_t k = 0; k < n_outputs; k++) {
    uint32_t more = part_beg[k];
    part_beg[k] = next;
    next += more;
  }
  for (uint64_t i = 0; i < n; i++) fill->place[i] = part_beg[gbti_predict_output(forest, beg + i)]++;
  for (uint64_t i = 0; i < n; i++) {
    const cu_predict_measure *size = &fill->size[i];
    cu_predict_tree *tree = &fill->tree[fill->place[i]];
    tree->number = beg + i;
    tree->kind = size->kind;
    tree->depth = size->depth;
    tree->value_at = size->n_nodes + size->n_entries + (size->n_numbers + 1) / 2;
    tree->word_at = tree->value_at + size->n_leaves;
    tree->n_units = (tree->word_at + (size->n_words + 1) / 2 + 1) / 2 * 2;
  }
  int32_t before = -1;
  for (uint32_t t = 0; t < n; t++) {
    cu_predict_tree *tree = &fill->tree[t];
    int32_t output = gbti_predict_output(forest, tree->number);
    cu_predict_part *last = *n_parts > 0 ? &part[*n_parts - 1] : NULL;
    tree->at = (uint32_t)*n_units;
    *n_units += tree->n_units;
    if (output == before && last->shared && last->n_units + tree->n_units <= most_units) {
      last->tree_end = t + 1;
      last->n_units += tree->n_units;
    } else {
      while (before < output) part_beg[++before] = (uint32_t)*n_parts;
      cu_predict_part fresh = {t, t + 1, tree->at, tree->n_units, tree->n_units <= most_units};
      part[(*n_parts)++] = fresh;
      last = &part[*n_parts - 1];
    }
    if (last->shared && last->n_units > *part_units) *part_units = last->n_units;
  }
  while (before < (int32_t)n_outputs) part_beg[++before] = (uint32_t)*n_parts;
}

/* n elements from the host to a new array. The host's may be freed at once. */
template <class T>
static gbt_status put(const cu_predict_plan *plan, cu_array<T> *to, const T *from, size_t n, gbt_error *err) {
  if (n == 0) return GBT_OK;
  GBT_TRY(cu_new(plan->memory, to, n, err));
  CU_TRY(cudaMemcpyAsync(to->at, from, n * sizeof(T), cudaMemcpyHostToDevice, plan->stream));
  CU_TRY(cudaStreamSynchronize(plan->stream));
  return GBT_OK;
}

static gbt_status put_features(gbt_ctx *ctx, const cu_predict_plan *plan, const gbti_pack *pack, cu_predict_run *run,
                               gbt_error *err) {
  cu_predict_feature *feat;
  size_t n_cuts = 0;
  GBT_TRY(gbt_mem_array(&ctx->mem, pack->n_feats, sizeof *feat, &feat, err));
  for (uint32_t j = 0; j < pack->n_feats; j++) {
    const gbti_pack_feature *f = &pack->feats[j];
    feat[j].column = plan->column[f->feat];
    for (int kind = 0; kind < GBTI_PACK_KINDS; kind++) feat[j].code_col[kind] = f->code_col[kind];
    feat[j].cut_beg = (uint32_t)f->cut_beg;
    feat[j].n_cuts = f->n_cuts;
    feat[j].n_steps = f->n_steps;
    if (f->cut_beg + ((size_t)1 << f->n_steps) > n_cuts) n_cuts = f->cut_beg + ((size_t)1 << f->n_steps);
  }
  gbt_status status = put(plan, &run->feat, feat, pack->n_feats, err);
  gbt_mem_free(&ctx->mem, feat);
  return status == GBT_OK ? put(plan, &run->cut, pack->cuts, n_cuts, err) : status;
}

static gbt_status put_pack(gbt_ctx *ctx, const cu_predict_plan *plan, const gbti_pack *pack, cu_predict_run *run,
                           gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  cu_predict_fill fill = {plan->forest, pack, NULL, NULL, NULL, NULL};
  size_t n = (size_t)(pack->trees.end - pack->trees.beg), n_outputs = (size_t)plan->forest->n_outputs, n_parts;
  uint64_t n_units;
  uint32_t *part_beg = NULL;
  cu_predict_part *part = NULL;
  gbt_status status;
  run->trees = pack->trees;
  run->packed = 1;
  run->n_steps = (double)pack->n_steps;
  run->n_code_cols = pack->n_code_cols;
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *fill.size, &fill.size, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *fill.place, &fill.place, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *fill.tree, &fill.tree, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *part, &part, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_outputs + 1, sizeof *part_beg, &part_beg, err), done);
  GBT_TRY_GOTO(gbt_parallel(ctx, (int64_t)n, measure_task, &fill, err), done);
  place_trees(&fill, plan->part_units, part_beg, part, &n_parts, &run->part_units, &n_units);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)n_units, sizeof *fill.blob, &fill.blob, err), done);
  GBT_TRY_GOTO(gbt_parallel(ctx, (int64_t)n, fill_task, &fill, err), done);
  GBT_TRY_GOTO(put(plan, &run->blob, fill.blob, (size_t)n_units, err), done);
  GBT_TRY_GOTO(put(plan, &run->tree, fill.tree, n, err), done);
  GBT_TRY_GOTO(put(plan, &run->part, part, n_parts, err), done);
  GBT_TRY_GOTO(put(plan, &run->part_beg, part_beg, n_outputs + 1, err), done);
  status = put_features(ctx, plan, pack, run, err);
done:
  gbt_mem_free(mem, fill.size);
  gbt_mem_free(mem, fill.place);
  gbt_mem_free(mem, fill.tree);
  gbt_mem_free(mem, fill.blob);
  gbt_mem_free(mem, part);
  gbt_mem_free(mem, part_beg);
  return status;
}

/* The trees as they are in the forest, features by column. */
static gbt_status put_plain(gbt_ctx *ctx, const cu_predict_plan *plan, gbt_tree_range trees, cu_predict_run *run,
                            gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  const gbt_forest_view *forest = plan->forest;
  cu_predict_plain *plain = NULL;
  gbt_node *node = NULL;
  uint32_t *word = NULL;
  uint64_t n_nodes = 0, n_words = 0;
  gbt_status status;
  run->trees = trees;
  run->n_steps = (double)(trees.end - trees.beg) * PLAIN_STEPS;
  for (uint64_t t = trees.beg; t < trees.end; t++) {
    n_nodes += forest->trees[t].n_nodes;
    n_words += forest->trees[t].n_words;
  }
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)(trees.end - trees.beg), sizeof *plain, &plain, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n_nodes, sizeof *node, &node, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n_words, sizeof *word, &word, err), done);
  n_nodes = n_words = 0;
  for (uint64_t t = trees.beg; t < trees.end; t++) {
    const gbt_tree *tree = &forest->trees[t];
    cu_predict_plain one = {t, n_nodes, n_words, gbti_predict_output(forest, t)};
    plain[t - trees.beg] = one;
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
      gbt_node *to = &node[n_nodes++];
      *to = forest->nodes[tree->node_beg + i];
      if (to->left == 0) continue;
      int32_t column = plan->column[to->feat & GBT_NODE_FEATURE];
      to->feat = (to->feat & ~GBT_NODE_FEATURE) | (uint32_t)column;
    }
    for (uint32_t i = 0; i < tree->n_words; i++) word[n_words++] = forest->sets[tree->set_beg + i];
  }
  GBT_TRY_GOTO(put(plan, &run->plain, plain, (size_t)(trees.end - trees.beg), err), done);
  GBT_TRY_GOTO(put(plan, &run->node, node, (size_t)n_nodes, err), done);
  status = put(plan, &run->word, word, (size_t)n_words, err);
done:
  gbt_mem_free(mem, plain);
  gbt_mem_free(mem, node);
  gbt_mem_free(mem, word);
  return status;
}

static void drop_run(cu_memory *memory, cu_predict_run *run) {
  cu_drop(memory, &run->blob);
  cu_drop(memory, &run->tree);
  cu_drop(memory, &run->part);
  cu_drop(memory, &run->part_beg);
  cu_drop(memory, &run->feat);
  cu_drop(memory, &run->cut);
  cu_drop(memory, &run->plain);
  cu_drop(memory, &run->node);
  cu_drop(memory, &run->word);
}

void cu_predict_runs_drop(const gbt_mem *mem, cu_memory *memory, cu_predict_runs *runs) {
  for (size_t i = 0; i < runs->n_runs; i++) drop_run(memory, &runs->run[i]);
  gbt_mem_free(mem, runs->run);
  *runs = cu_predict_runs();
}

/* A pack without tables, which are the host's. */
static gbt_status pack_new(gbt_ctx *ctx, const gbt_forest_view *forest, gbt_tree_range trees, gbti_pack **out,
                           gbt_error *err) {
  gbt_simd simd = ctx->simd;
  ctx->simd = GBT_SIMD_SCALAR;
  gbt_status status = gbti_pack_new(ctx, forest, trees, out, err);
  ctx->simd = simd;
  return status;
}

/* One more run, of trees from trees.beg on. *pack: one that begins there, or NULL; on return the pack that begins right
 * after a plain run, for the next call, or NULL. */
static gbt_status add_run(gbt_ctx *ctx, const cu_predict_plan *plan, gbt_tree_range trees, gbti_pack **pack,
                          cu_predict_runs *runs, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  GBT_TRY(gbt_mem_grow(mem, &runs->run, &runs->cap_runs, runs->n_runs + 1, sizeof *runs->run, err));
  cu_predict_run *run = &runs->run[runs->n_runs];
  *run = cu_predict_run();
  uint64_t n_nodes = 0;
  gbt_tree_range plain = {trees.beg, trees.beg};
  gbt_status status;
  for (;;) { /* up to the first tree that a pack takes */
    gbt_tree_range rest = {plain.end, trees.end};
    if (*pack == NULL) GBT_TRY(pack_new(ctx, plan->forest, rest, pack, err));
    if ((*pack)->trees.end > (*pack)->trees.beg) break;
    gbti_pack_free(*pack);
    *pack = NULL;
    n_nodes += plan->forest->trees[plain.end].n_nodes;
    if (plain.end > plain.beg && n_nodes > MAX_PLAIN_NODES) break;
    if (++plain.end == trees.end) break;
  }
  if (plain.end > plain.beg) {
    status = put_plain(ctx, plan, plain, run, err);
  } else {
    status = put_pack(ctx, plan, *pack, run, err);
    gbti_pack_free(*pack);
    *pack = NULL;
  }
  if (status == GBT_OK)
    runs->n_runs++;
  else
    drop_run(plan->memory, run);
  return status;
}

gbt_status cu_predict_runs_make(gbt_ctx *ctx, const cu_predict_plan *plan, gbt_tree_range trees, cu_predict_runs *runs,
                                gbt_error *err) {
  size_t before = plan->memory->bytes;
  gbti_pack *pack = NULL;
  gbt_status status = GBT_OK;
  runs->trees.beg = runs->trees.end = trees.beg;
  while (runs->trees.end < trees.end && runs->n_runs < plan->most_runs) {
    gbt_tree_range rest = {runs->trees.end, trees.end};
    GBT_TRY_GOTO(gbt_ctx_poll(ctx, err), done);
    if (runs->n_runs > 0 && plan->memory->bytes - before >= plan->forest_bytes) break;
    gbt_error why = {};
    status = add_run(ctx, plan, rest, &pack, runs, &why);
    if (status == GBT_E_MEM && runs->n_runs > 0 && strcmp(why.subject, "device") == 0) {
      status = GBT_OK; /* what is there goes first */
      break;
    }
    if (status != GBT_OK) {
      if (err != NULL) *err = why;
      break;
    }
    runs->trees.end = runs->run[runs->n_runs - 1].trees.end;
  }
done:
  gbti_pack_free(pack);
  return status;
}
