/* Prediction: features that are read from tables (predict.cuh).
 *
 *   choose   which features the trees use, which projections go up, and the columns of chunks
 *   fill     their keys, with the host's index (schema/key_index.h), and their bins
 *   read     k_tables: a thread takes a row of a projection: levels, key, row of the tables, bins
 *
 * Bins are stored by key, those of a projection's features side by side, so that a row needs one sector of them; those
 * of unknown keys come after the last. With the index a key takes two or three sectors (one where places are keys); a
 * binary search would take one for each of its steps but the first and the last few: a dozen of a million keys. */
#include "../base/stage.cuh"
#include "predict.cuh"

enum {
  MOST_BESIDE = 1 << 12, /* features of a projection on the device */
  SCAN_TREES = 1 << 8    /* between two polls */
};

static const size_t FILL_ROWS = 1 << 14; /* of a task */

struct cu_predict_choice {
  gbt_ctx *ctx;
  const gbt_schema *schema;
  uint8_t *used;                                  /* by feature: not 0 where trees split by it */
  int32_t *n_feats;                               /* by projection: used features */
  int32_t *at;                                    /* by projection: its place among those on the device, or -1 */
  int32_t *next;                                  /* by projection: the column of its next feature */
  int32_t *level_at;                              /* by column of the schema: its column of levels, or -1 */
  size_t n_projections, n_places, n_keys, n_bins; /* of all that go up */
};

/* ---- which ---- */

static gbt_status find_used(const cu_predict_choice *choice, const gbt_forest_view *forest, gbt_tree_range trees,
                            gbt_error *err) {
  for (uint64_t t = trees.beg; t < trees.end; t++) {
    const gbt_tree *tree = &forest->trees[t];
    if (t % SCAN_TREES == 0) GBT_TRY(gbt_ctx_poll(choice->ctx, err));
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
      const gbt_node *node = &forest->nodes[tree->node_beg + i];
      if (node->left != 0) choice->used[node->feat & GBT_NODE_FEATURE] = 1;
    }
  }
  return GBT_OK;
}

static size_t places_of(const gbt_schema *schema, int32_t p) {
  if (schema->proj[p].n_cols == 1) return 0;
  const gbt_key_index *index = &schema->key_index[p];
  return (size_t)(index->space > 0 ? index->space : index->mask + 1);
}

/* Projections that have room, in their order. */
static void choose_projections(cu_predict_choice *choice, const cu_predict_room *room) {
  const gbt_schema *schema = choice->schema;
  size_t left = room->bytes;
  for (int32_t f = 0; f < schema->n_features; f++)
    if (choice->used[f] && schema->feat[f].projection >= 0) choice->n_feats[schema->feat[f].projection]++;
  for (int32_t p = 0; p < schema->n_projections; p++) {
    const gbt_projection *proj = &schema->proj[p];
    const size_t n_feats = (size_t)choice->n_feats[p];
    choice->at[p] = -1;
    if (n_feats == 0 || n_feats > MOST_BESIDE) continue;
    if (proj->n_cols > 1 && schema->key_index == NULL) continue;
    const size_t n_keys = (size_t)proj->n_keys, n_places = places_of(schema, p), n_bins = (n_keys + 1) * n_feats;
    const size_t key_bytes = proj->n_cols == 1 ? 0 : n_keys * sizeof(uint64_t);
    const size_t bytes = n_places * sizeof(uint32_t) + key_bytes + n_bins;
    if (bytes > room->each || bytes > left) continue;
    left -= bytes;
    choice->at[p] = (int32_t)choice->n_projections++;
    choice->n_places += n_places;
    choice->n_keys += key_bytes / sizeof(uint64_t);
    choice->n_bins += n_bins;
  }
}

static int is_made(const cu_predict_choice *choice, int32_t f) {
  const int32_t p = choice->schema->feat[f].projection;
  return p >= 0 && choice->at[p] >= 0;
}

/* Columns of chunks: those that the host reads, then the others by projection. */
static void number_columns(cu_predict_choice *choice, cu_predict_tables *tables) {
  const gbt_schema *schema = choice->schema;
  for (int32_t f = 0; f < schema->n_features; f++) {
    tables->column[f] = -1;
    if (!choice->used[f] || is_made(choice, f)) continue;
    tables->feat[tables->n_cols] = f;
    tables->column[f] = tables->n_cols++;
  }
  tables->n_read = tables->n_cols;
  for (int32_t p = 0; p < schema->n_projections; p++) {
    choice->next[p] = tables->n_cols;
    if (choice->at[p] >= 0) tables->n_cols += choice->n_feats[p];
  }
  for (int32_t f = 0; f < schema->n_features; f++) {
    if (!choice->used[f] || !is_made(choice, f)) continue;
    tables->column[f] = choice->next[schema->feat[f].projection]++;
    tables->feat[tables->column[f]] = f;
  }
  for (int32_t c = 0; c < schema->n_columns; c++) choice->level_at[c] = -1;
  for (int32_t p = 0; p < schema->n_projections; p++) {
    const gbt_projection *proj = &schema->proj[p];
    for (int32_t i = 0; choice->at[p] >= 0 && i < proj->n_cols; i++) {
      if (choice->level_at[proj->col[i]] >= 0) continue;
      tables->level[tables->n_levels] = proj->col[i];
      choice->level_at[proj->col[i]] = tables->n_levels++;
    }
  }
}

/* ---- up ---- */

struct cu_predict_fill_bins {
  const gbt_schema *schema;
  const int32_t *feat;            /* n_feats */
  size_t n_keys, n_feats, beg, n; /* rows of the tables */
  uint8_t *to;
};

static void fill_bins_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const cu_predict_fill_bins *fill = (const cu_predict_fill_bins *)arg;
  const size_t from = (size_t)task * FILL_ROWS, left = fill->n - from, n = left < FILL_ROWS ? left : FILL_ROWS;
  for (size_t j = 0; j < fill->n_feats; j++) {
    const gbt_feature *feat = &fill->schema->feat[fill->feat[j]];
    for (size_t i = from; i < from + n; i++)
      fill->to[i * fill->n_feats + j] = fill->beg + i < fill->n_keys ? feat->bin[fill->beg + i] : feat->unknown;
  }
}

static gbt_status send_bins(cu_stage *stage, const gbt_schema *schema, const int32_t *feat, size_t n_feats,
                            size_t n_keys, uint8_t *to, gbt_error *err) {
  const size_t at_once = stage->bytes / n_feats;
  GBT_ASSERT(at_once > 0);
  for (size_t beg = 0; beg < n_keys + 1; beg += at_once) {
    const size_t left = n_keys + 1 - beg;
    cu_predict_fill_bins fill = {schema, feat, n_keys, n_feats, beg, left < at_once ? left : at_once, NULL};
    GBT_TRY(cu_stage_next(stage, &fill.to, err));
    GBT_TRY(gbt_parallel(stage->ctx, (int64_t)((fill.n + FILL_ROWS - 1) / FILL_ROWS), fill_bins_task, &fill, err));
    GBT_TRY(cu_stage_copy(stage, to + beg * n_feats, fill.n * n_feats, err));
    GBT_TRY(cu_stage_done(stage, err));
  }
  return GBT_OK;
}

/* Sends the arrays of all projections; proj: the projections with pointers to device memory. */
static gbt_status send_tables(const cu_predict_choice *choice, cu_stage *stage, cu_predict_tables *tables,
                              cu_predict_projection *proj, gbt_error *err) {
  const gbt_schema *schema = choice->schema;
  uint32_t *place = tables->place.at;
  uint64_t *key = tables->key.at;
  uint8_t *bin = tables->bin.at;
  int32_t column = tables->n_read;
  for (int32_t p = 0; p < schema->n_projections; p++) {
    const gbt_projection *from = &schema->proj[p];
    const size_t n_keys = (size_t)from->n_keys, n_feats = (size_t)choice->n_feats[p];
    if (choice->at[p] < 0) continue;
    cu_predict_projection *to = &proj[choice->at[p]];
    *to = cu_predict_projection();
    to->n_cols = from->n_cols;
    to->n_feats = (int32_t)n_feats;
    to->column = column;
    to->n_keys = n_keys;
    to->bin = bin;
    for (int32_t i = 0; i < from->n_cols; i++) {
      to->level[i] = choice->level_at[from->col[i]];
      to->radix[i] = (uint64_t)schema->col[from->col[i]].n_levels + 1;
    }
    GBT_TRY(send_bins(stage, schema, tables->feat + column, n_feats, n_keys, bin, err));
    bin += (n_keys + 1) * n_feats;
    column += (int32_t)n_feats;
    if (from->n_cols == 1) continue;
    to->index = schema->key_index[p];
    to->index.place = place;
    to->key = key;
    GBT_TRY(cu_stage_send(stage, place, schema->key_index[p].place, places_of(schema, p) * sizeof *place, err));
    GBT_TRY(cu_stage_send(stage, key, from->key, n_keys * sizeof *key, err));
    place += places_of(schema, p);
    key += n_keys;
  }
  return cu_stage_send(stage, tables->proj.at, proj, choice->n_projections * sizeof *proj, err);
}

static gbt_status put_tables(const cu_predict_choice *choice, cu_memory *memory, cudaStream_t stream,
                             cu_predict_tables *tables, gbt_error *err) {
  const size_t bytes = choice->n_places * sizeof(uint32_t) + choice->n_keys * sizeof(uint64_t) + choice->n_bins +
                       choice->n_projections * sizeof(cu_predict_projection);
  cu_predict_projection *proj = NULL;
  cu_stage stage = {};
  gbt_status status = GBT_OK;
  if (choice->n_projections == 0) return GBT_OK;
  GBT_TRY(cu_new(memory, &tables->proj, choice->n_projections, err));
  GBT_TRY(cu_new(memory, &tables->bin, choice->n_bins, err));
  if (choice->n_places > 0) GBT_TRY(cu_new(memory, &tables->place, choice->n_places, err));
  if (choice->n_keys > 0) GBT_TRY(cu_new(memory, &tables->key, choice->n_keys, err));
  GBT_TRY(gbt_mem_array(&choice->ctx->mem, choice->n_projections, sizeof *proj, &proj, err));
  status = cu_stage_open_in(choice->ctx, stream, bytes < CU_STAGE_BYTES ? bytes : CU_STAGE_BYTES, &stage, err);
  if (status == GBT_OK) status = send_tables(choice, &stage, tables, proj, err);
  if (status == GBT_OK && cudaStreamSynchronize(stream) != cudaSuccess)
    status = cu_failed(cudaGetLastError(), "cudaStreamSynchronize", err);
  cu_stage_close(&stage);
  gbt_mem_free(&choice->ctx->mem, proj);
  return status;
}

gbt_status cu_predict_tables_make(gbt_ctx *ctx, const cu_predict_plan *plan, const gbt_schema *schema,
                                  gbt_tree_range trees, const cu_predict_room *room, cu_predict_tables *tables,
                                  gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  const size_t n_features = (size_t)schema->n_features, n_projections = (size_t)schema->n_projections;
  const size_t n_columns = (size_t)schema->n_columns;
  cu_predict_choice choice = {ctx, schema, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0};
  gbt_status status = GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(mem, n_features, sizeof *tables->column, &tables->column, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_features, sizeof *tables->feat, &tables->feat, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_columns, sizeof *tables->level, &tables->level, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, n_features, sizeof *choice.used, &choice.used, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, n_projections, sizeof *choice.n_feats, &choice.n_feats, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_projections, sizeof *choice.at, &choice.at, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_projections, sizeof *choice.next, &choice.next, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_columns, sizeof *choice.level_at, &choice.level_at, err), done);
  GBT_TRY_GOTO(find_used(&choice, plan->forest, trees, err), done);
  choose_projections(&choice, room);
  number_columns(&choice, tables);
  status = put_tables(&choice, plan->memory, plan->stream, tables, err);
done:
  gbt_mem_free(mem, choice.used);
  gbt_mem_free(mem, choice.n_feats);
  gbt_mem_free(mem, choice.at);
  gbt_mem_free(mem, choice.next);
  gbt_mem_free(mem, choice.level_at);
  return status;
}

void cu_predict_tables_drop(const gbt_mem *mem, cu_memory *memory, cu_predict_tables *tables) {
  cu_drop(memory, &tables->proj);
  cu_drop(memory, &tables->place);
  cu_drop(memory, &tables->key);
  cu_drop(memory, &tables->bin);
  gbt_mem_free(mem, tables->column);
  gbt_mem_free(mem, tables->feat);
  gbt_mem_free(mem, tables->level);
  *tables = cu_predict_tables();
}

/* ---- read ---- */

struct cu_predict_read {
  const cu_predict_projection *proj;
  uint32_t n_projections, n_rows;
  uint64_t stride;
  const uint32_t *level;
  double *x;
};

__global__ static void k_tables(cu_predict_read a) {
  for (uint32_t p = blockIdx.y; p < a.n_projections; p += gridDim.y) {
    const cu_predict_projection *proj = &a.proj[p];
    const gbt_key_index index = proj->index;
    const uint32_t n_cols = (uint32_t)proj->n_cols, n_feats = (uint32_t)proj->n_feats;
    const uint64_t n_keys = proj->n_keys, *known = proj->key;
    const uint8_t *bins = proj->bin;
    double *x = a.x + (uint64_t)(uint32_t)proj->column * a.stride;
    for (uint32_t r = blockIdx.x * blockDim.x + threadIdx.x; r < a.n_rows; r += gridDim.x * blockDim.x) {
      uint64_t key = 0, row;
      for (uint32_t i = 0; i < n_cols; i++)
        key = gbt_key_with(key, proj->radix[i], a.level[(uint64_t)(uint32_t)proj->level[i] * a.stride + r]);
      row = known == NULL ? key : gbt_find_key(&index, known, key);
      const uint8_t *bin = bins + (row < n_keys ? row : n_keys) * n_feats;
      for (uint32_t j = 0; j < n_feats; j++) x[j * a.stride + r] = (double)bin[j];
    }
  }
}

gbt_status cu_predict_tables_pass(const cu_predict_device *device, const cu_predict_tables *tables,
                                  const cu_predict_chunk *chunk, cudaStream_t stream, gbt_error *err) {
  if (tables->proj.n == 0) return GBT_OK;
  cu_predict_read read = {tables->proj.at, (uint32_t)tables->proj.n, chunk->n_rows, chunk->stride, chunk->level,
                          chunk->x};
  unsigned n_projections = tables->proj.n < 65535 ? (unsigned)tables->proj.n : 65535u;
  dim3 grid(cu_predict_grid(device, (chunk->n_rows + CU_BLOCK - 1) / CU_BLOCK, 16), n_projections);
  CU_LAUNCH(k_tables, grid, CU_BLOCK, 0, stream, read);
  CU_LAUNCHED();
  return GBT_OK;
}
