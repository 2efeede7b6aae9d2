/* Data sets on the device against the pages they were made from. */
#include "cuda_world.cuh"
#if !defined(__CUDACC__)
#include "../simt/control.h"
#endif

extern "C" {
#include "datasets.h"
#include <math.h>
}

extern "C" void suite_cuda_dataset(void);

__global__ static void k_codes(cu_rows_view data, int32_t *code) {
  uint64_t all = (uint64_t)data.n_rows * (uint32_t)data.n_features, step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step)
    code[i] = cu_code(data, (int32_t)(i / (uint64_t)data.n_rows), (uint32_t)(i % (uint64_t)data.n_rows));
}

/* Of some rows, row by row. */
__global__ static void k_codes_of(cu_rows_view data, const uint32_t *row, int32_t n, int32_t *code) {
  for (int32_t i = (int32_t)threadIdx.x; i < n * data.n_features; i += (int32_t)blockDim.x)
    code[i] = cu_code(data, i % data.n_features, row[i / data.n_features]);
}

static void same_codes(world *w, const cu_dataset *data, const gbt_dataset *ds) {
  size_t n = (size_t)ds->rows.n, n_feats = (size_t)ds->cuts->n_features;
  int64_t n_wrong = 0;
  int32_t *at = up<int32_t>(w, NULL, n * n_feats);
  CU_LAUNCH(k_codes, 4, CU_BLOCK, 0, w->be.device.stream, data->view, at);
  int32_t *code = down(w, at, n * n_feats);
  int32_t **want = codes_of(ds->pages, ds->cuts);
  for (size_t f = 0; f < n_feats; f++)
    for (size_t r = 0; r < n; r++) n_wrong += code[f * n + r] != want[f][r];
  CHECK_EQ_I64(n_wrong, 0);
  codes_free(want, ds->cuts);
  free(code);
}

/* Tiles hold what they say; *seen: bit widths, as bits of a number. */
static void good_tiles(world *w, const cu_dataset *data, uint32_t *seen, int *pitches) {
  const cu_rows_view *v = &data->view;
  cu_column *column = down(w, v->column, (size_t)v->n_columns);
  cu_feature *feat = down(w, v->feat, (size_t)v->n_features);
  int32_t c = 0;
  for (int32_t k = 0; k < v->n_tiles; k++) {
    const cu_tile *t = &data->host_tile[k];
    CHECK_EQ_I64(t->first_col, c);
    CHECK(w->be.bounds.tile_cols == 0 || t->n_cols <= w->be.bounds.tile_cols);
    CHECK(t->n_cols >= 1 && t->n_cols <= t->lanes && t->lanes <= 32 && (t->lanes == 1 || t->lanes < 2 * t->n_cols));
    CHECK((t->words == 1 || t->words == 2 || t->words == 4 || t->words == 8) && t->words <= t->lanes);
    CHECK(t->n_cols * t->bits <= 32 * t->words && t->at % 8 == 0);
    size_t bytes = (size_t)t->n_codes * (size_t)t->pitch * (t->counts ? 12 : 8);
    CHECK(bytes <= w->be.device.shared_limit && (t->pitch == 0 || t->pitch == 32 || t->pitch == t->lanes));
    if (t->pitch == 32 && t->lanes < 32) CHECK(2 * (bytes + 1024) <= w->be.device.shared_limit + 1024);
    if (t->pitch == 0) CHECK((size_t)t->n_codes * (t->counts ? 12 : 8) > w->be.device.shared_limit);
    uint32_t most = 0;
    for (int32_t l = 0; l < t->n_cols; l++, c++) {
      CHECK(column[c].tile == k && column[c].lane == l && column[c].n_codes <= 1u << t->bits);
      if (column[c].n_codes > most) most = column[c].n_codes;
    }
    CHECK_EQ_I64(t->n_codes, most);
    *seen |= 1u << t->bits;
    pitches[t->pitch == 0 ? 0 : t->pitch == 32 ? 2 : 1]++;
  }
  CHECK_EQ_I64(c, v->n_columns);
  for (int32_t f = 0; f < v->n_features; f++) {
    const gbt_layout *layout = gbt_pages_layout(data->from->pages);
    const gbt_place *place = &layout->place[f];
    const gbt_feature_cuts *cuts = &data->from->cuts->feat[f];
    int categorical = data->from->cuts->schema->feat[f].type == GBT_CATEGORICAL;
    const uint32_t first = place->group < 0 ? place->slot_beg - layout->sparse_slot : place->first;
    CHECK(feat[f].slot == place->slot_beg && feat[f].n_slots == place->n_slots && feat[f].first == first);
    CHECK(feat[f].zero_bin == place->zero_bin && feat[f].n_bins == cuts->n_bins);
    CHECK_EQ_I64(feat[f].counts, w->be.bounds.counts[f]);
    CHECK_EQ_I64(feat[f].has_missing, cuts->has_missing && gbt_place_has_missing(place, cuts->n_bins));
    CHECK_EQ_I64(feat[f].kind, !categorical                              ? CU_NUMERIC
                               : cuts->n_bins > w->params.max_cat_onehot ? CU_SET
                                                                         : CU_ONEHOT);
    CHECK_EQ_I64(feat[f].column < 0, place->group < 0);
    if (feat[f].column >= 0) CHECK(column[feat[f].column].slot == place->slot_beg - place->first);
    if (feat[f].counts && place->group >= 0) CHECK(data->host_tile[column[feat[f].column].tile].counts);
  }
  free(column);
  free(feat);
}

static void tiles_are_the_pages(void) {
  static const made_kind zeros[] = {MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS,
                                    MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_BELL};
  made_kind all_zeros[13]; /* no tile at all */
  for (int c = 0; c < 13; c++) all_zeros[c] = MADE_ZEROS;
  const shape shapes[] = {{1, 700, 70, 255, 0, NULL, 1, 4, 232448},       {2, 700, 70, 255, 97, NULL, 2, 3, 40000},
                          {3, 1500, 24, 1400, 1000, NULL, 1, 4, 9000},    {4, 900, 40, 700, 0, NULL, 2, 4, 232448},
                          {5, 1, 5, 255, 0, NULL, 1, 1, 232448},          {6, 600, 13, 255, 100, zeros, 1, 4, 232448},
                          {7, 333, 33, 2, 50, NULL, 1, 2, 232448},        {8, 800, 50, 13, 0, NULL, 1, 2, 1000},
                          {9, 700, 13, 255, 90, all_zeros, 1, 4, 232448}, {10, 700, 29, 255, 90, NULL, 1, 4, 232448, 8},
                          {11, 500, 40, 255, 0, NULL, 2, 4, 232448, 4}};
  uint32_t widths = 0;
  int pitches[3] = {0, 0, 0};
  int64_t n_sparse = 0, n_bare = 0;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    static world w;
    if (world_open(&w, &shapes[i])) {
      n_sparse += w.be.layout->n_sparse;
      n_bare += w.data.view.n_tiles == 0;
      good_tiles(&w, &w.data, &widths, pitches);
      same_codes(&w, &w.data, w.ds);
    }
    world_close(&w);
  }
  CHECK_EQ_U64(widths, 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16);
  CHECK(pitches[0] > 0 && pitches[1] > 0 && pitches[2] > 0 && n_sparse > 0 && n_bare > 0);
}

/* Cells for all lanes as long as two blocks, with the 1 KB that the device keeps for each, have room for them: 452
 * codes on a device that gives a block 227 KB. */
static void two_blocks_have_room(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL};
  int pitches[3] = {0, 0, 0};
  for (int32_t max_bin = 449; max_bin <= 455; max_bin++) {
    static world w;
    const shape s = {(uint64_t)max_bin, 4000, 2, max_bin, 0, kinds, 1, 4, 232448};
    uint32_t widths = 0;
    if (world_open(&w, &s)) {
      const cu_tile *t = w.data.host_tile;
      good_tiles(&w, &w.data, &widths, pitches);
      CHECK(w.data.view.n_tiles == 1 && t->n_codes >= (uint32_t)max_bin && t->n_codes <= (uint32_t)max_bin + 1u);
      CHECK_EQ_I64(t->pitch, t->n_codes <= 452u ? 32 : 2);
    }
    world_close(&w);
  }
  CHECK(pitches[1] > 0 && pitches[2] > 0);
}

/* Columns of one width are together, counted ones apart, unless mixing them makes fewer tiles. */
static void few_tiles(void) {
  static world w;
  made_kind kinds[44];
  for (int c = 0; c < 44; c++) kinds[c] = c < 28 ? MADE_BELL : MADE_FACTOR;
  for (int i = 0; i < 4; i++) { /* 28 columns of 8 bits; and 2 of 2; and 16; and 4 counted */
    const shape s = {
        (uint64_t)(30 + i), 400, i == 0 ? 28 : i == 1 ? 30 : i == 2 ? 44 : 32, 255, 0, kinds, 1, 4, 232448};
    for (int c = 28; i == 3 && c < 32; c++) kinds[c] = MADE_LEVELS;
    if (world_open(&w, &s)) {
      const cu_tile *t = w.data.host_tile;
      CHECK_EQ_I64(w.data.view.n_tiles, i == 2 ? 2 : 1);
      CHECK(t[0].bits == 8 && t[0].words == 8 && t[0].n_cols == (i == 2 ? 28 : s.n_cols) && t[0].counts == (i == 3));
      if (i == 2) CHECK(t[1].bits == 2 && t[1].words == 1 && t[1].n_cols == 16 && !t[1].counts);
    }
    world_close(&w);
  }
}

static void codes_of_16_bits(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_FEW};
  static world w;
  const shape s = {12, 66000, 2, 65535, 9999, kinds, 1, 4, 232448};
  if (world_open(&w, &s)) {
    uint32_t widths = 0;
    int pitches[3] = {0, 0, 0};
    CHECK(w.ds->cuts->feat[0].n_bins == 65535);
    good_tiles(&w, &w.data, &widths, pitches);
    CHECK(widths == (1u << 16 | 1u << 4) && pitches[0] == 1);
    same_codes(&w, &w.data, w.ds);
  }
  world_close(&w);
}

/* Larger than a staging buffer: several chunks of a page. */
static void rows_in_several_chunks(void) {
  static world w;
  made_kind kinds[90];
  for (int c = 0; c < 90; c++) kinds[c] = c % 3 ? MADE_BELL : MADE_FEW;
  const shape s = {13, 200000, 90, 255, 200000, kinds, 1, 4, 232448};
  if (world_open(&w, &s)) {
    uint32_t row[64];
    int64_t n_wrong = 0;
    for (int i = 0; i < 64; i++) row[i] = (uint32_t)test_below(&w.rng, s.n_rows);
    uint32_t *at = up(&w, row, 64);
    int32_t *to = up<int32_t>(&w, NULL, 64 * 90);
    CU_LAUNCH(k_codes_of, 1, CU_BLOCK, 0, w.be.device.stream, w.data.view, at, 64, to);
    int32_t *code = down(&w, to, 64 * 90);
    int32_t **want = codes_of(w.ds->pages, w.ds->cuts);
    for (int i = 0; i < 64; i++)
      for (int32_t f = 0; f < 90; f++) n_wrong += code[i * 90 + f] != want[f][row[i]];
    CHECK_EQ_I64(n_wrong, 0);
    codes_free(want, w.ds->cuts);
    free(code);
  }
  world_close(&w);
}

/* Rows of cells whose level the cuts do not know. */
static void unknown_levels_are_listed(void) {
  static world w;
  made_kind kinds[] = {MADE_BELL, MADE_FACTOR, MADE_LEVELS, MADE_FACTOR};
  const shape s = {14, 60, 4, 255, 0, kinds, 1, 4, 232448};
  made *other = made_new(15, 400, 4, kinds);
  cu_dataset valid = cu_dataset();
  gbt_dataset *ds = NULL;
  if (world_open(&w, &s) &&
      CHECK_OK(dataset_from(&w.ctx, &other->table, w.ds->cuts, NULL, 255, 0, GBT_UNSEEN_PRIOR, &ds, test_err))) {
    const uint32_t *want;
    const size_t *want_beg = gbt_pages_unseen(ds->pages, &want), n = want_beg ? want_beg[4] : 0;
    CHECK(n > 0);
    if (CHECK_OK(world_data_make(&w, ds, &valid)) && n > 0) {
      uint64_t *beg = down(&w, valid.view.unseen_beg, 5);
      uint32_t *row = down(&w, valid.view.unseen_row, n);
      for (int f = 0; f <= 4; f++) CHECK_EQ_U64(beg[f], want_beg[f]);
      CHECK_EQ_BYTES(row, want, n * sizeof *row);
      CHECK(w.data.view.unseen_beg == NULL);
      same_codes(&w, &valid, ds);
      free(beg);
      free(row);
    }
    world_data_free(&w, &valid);
  }
  gbt_dataset_unref(ds);
  made_free(other);
  world_close(&w);
}

static int stop_at_once(void *user) {
  (void)user;
  return 1;
}

/* A data set that cannot be made leaves nothing behind. */
static void failures_leave_nothing(void) {
  static world w;
  made_kind kinds[20];
  for (int c = 0; c < 20; c++) kinds[c] = c < 17 ? MADE_ZEROS : MADE_LEVELS;
  const shape s = {16, 500, 20, 255, 100, kinds, 1, 4, 232448};
  cu_dataset data = cu_dataset();
  if (world_open(&w, &s)) {
    size_t bytes = w.be.device.memory.bytes;
    CHECK(w.be.layout->n_sparse > 0);
    for (size_t room = 0; room <= 20000; room += 500) {
      w.be.device.memory.limit = bytes + room;
      gbt_status status = world_data_make(&w, w.ds, &data);
      CHECK(status == GBT_OK || (status == GBT_E_MEM && data.words.at == NULL && data.from == NULL));
      CHECK(status == GBT_OK || room < 20000);
      CHECK(w.be.device.memory.bytes == bytes || status == GBT_OK);
      world_data_free(&w, &data);
      CHECK_EQ_U64(w.be.device.memory.bytes, bytes);
    }
    w.be.device.memory.limit = 0;
    w.ctx.poll = stop_at_once;
    w.ctx.next_poll_ns = 0;
    CHECK(world_data_make(&w, w.ds, &data) == GBT_CANCELLED);
    CHECK_EQ_U64(w.be.device.memory.bytes, bytes);
#if !defined(__CUDACC__)
    gbt_status status = GBT_E_DEVICE;
    w.ctx.poll = NULL;
    w.ctx.stop = 0;
    int64_t live = simt_live(), n = 1;
    for (; status != GBT_OK && n < 500; n++) {
      simt_fail_at(n, 0);
      status = world_data_make(&w, w.ds, &data);
      CHECK(status == GBT_OK || (simt_failed() == 1 && simt_live() == live && w.be.device.memory.bytes == bytes));
    }
    simt_fail_at(0, 0);
    CHECK(status == GBT_OK && n > 20);
    same_codes(&w, &data, w.ds);
    world_data_free(&w, &data);
#endif
    memset(test_err, 0, sizeof *test_err);
  }
  world_close(&w);
}

__global__ static void k_numbers(cu_numbers x, double *to) {
  for (uint64_t i = threadIdx.x; i < x.n; i += blockDim.x) to[i] = x[i];
}

/* As kernels read them. */
static double *numbers_down(world *w, cu_numbers x) {
  cu_array<double> at;
  if (!CHECK_OK(cu_new(&w->be.device.memory, &at, (size_t)x.n, test_err))) return NULL;
  CU_LAUNCH(k_numbers, 1, CU_BLOCK, 0, w->be.device.stream, x, at.at);
  double *to = down(w, at.at, (size_t)x.n);
  cu_drop(&w->be.device.memory, &at);
  return to;
}

/* n numbers that bytes hold, but for one of them. */
static void goes_up_as(world *w, cu_stage *stage, size_t n, size_t at, double odd, int32_t form) {
  cu_memory *memory = &w->be.device.memory;
  const size_t before = memory->bytes, bytes[] = {1, 4, 8};
  double *from = (double *)test_alloc((n + 1) * sizeof *from);
  cu_numbers x = cu_numbers();
  for (size_t i = 0; i < n; i++) from[i] = (double)(i * 7 % 256);
  if (at < n) from[at] = odd;
  if (CHECK_OK(cu_numbers_send(memory, stage, from, n, &x, test_err))) {
    CHECK_EQ_I64(x.form, form);
    CHECK_EQ_U64(memory->bytes - before, n * bytes[form]);
    CHECK(cudaStreamSynchronize(stage->stream) == cudaSuccess);
    double *to = numbers_down(w, x);
    CHECK_EQ_BYTES(to, from, n * sizeof *from);
    free(to);
  }
  cu_numbers_drop(memory, &x);
  CHECK(x.at == NULL && memory->bytes == before);
  free(from);
}

/* One number decides for all of them. */
static void numbers_take_the_narrowest_form(void) {
  const struct {
    double x;
    int32_t form;
  } odd[] = {{0.0, CU_BYTES},
             {255.0, CU_BYTES},
             {-0.0, CU_FLOATS},
             {256.0, CU_FLOATS},
             {-1.0, CU_FLOATS},
             {0.5, CU_FLOATS},
             {16777217.0, CU_DOUBLES},
             {0.1, CU_DOUBLES},
             {1e300, CU_DOUBLES},
             {0x1p-149, CU_FLOATS},
             {0x1p-150, CU_DOUBLES},
             {0x1.fffffep127, CU_FLOATS},
             {0x1.ffffffp127, CU_DOUBLES},
             {(double)INFINITY, CU_DOUBLES},
             {(double)NAN, CU_DOUBLES}};
  const size_t sizes[] = {0, 1, 2, 31, 32767, 32768, 32769, 70000}, n_odd = sizeof odd / sizeof *odd;
  static world w;
  const shape s = {11, 30, 1, 255, 77, NULL, 1, 4, 232448};
  cu_stage stage = cu_stage();
  if (world_open(&w, &s) && CHECK_OK(cu_stage_open(&w.ctx, 1000, &stage, test_err))) {
    for (size_t k = 0; k < n_odd; k++) goes_up_as(&w, &stage, 1009, k * 72, odd[k].x, odd[k].form);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      for (int32_t form = 0; form < 3; form++)
        goes_up_as(&w, &stage, sizes[i], sizes[i] ? sizes[i] - 1 : 0,
                   form == 0   ? 1.0
                   : form == 1 ? 0.5
                               : 0.1,
                   sizes[i] ? form : CU_BYTES);
  }
  cu_stage_close(&stage);
  world_close(&w);
}

static void labels_and_weights_go_up(void) {
  static world w;
  const shape s = {11, 300, 3, 255, 77, NULL, 1, 4, 232448};
  made *m = made_new(s.seed, s.n_rows, s.n_cols, NULL);
  made_weights(m, 5);
  if (world_open_with(&w, m, &s)) {
    double *label = numbers_down(&w, w.data.label), *weight = numbers_down(&w, w.data.weight);
    CHECK_EQ_BYTES(label, w.ds->rows.field[GBT_LABEL], (size_t)s.n_rows * sizeof *label);
    CHECK_EQ_BYTES(weight, w.ds->rows.field[GBT_WEIGHT], (size_t)s.n_rows * sizeof *weight);
    CHECK_EQ_U64(w.data.score.n, s.n_rows);
    free(label);
    free(weight);
  }
  world_close(&w);
}

/* Bundles depend on the table: a validation set of the same cuts is laid out in its own way. */
static void a_validation_set_has_its_own_layout(void) {
  static world w;
  made_kind kinds[14];
  for (int c = 0; c < 14; c++) kinds[c] = c < 12 ? MADE_ZEROS : MADE_FACTOR;
  const shape s = {21, 600, 14, 255, 0, kinds, 2, 4, 232448};
  made *m = made_new(s.seed, s.n_rows, s.n_cols, kinds), *other = made_new(22, 150, 14, kinds);
  made_fields(m, 3, 4, 0, 23);
  made_fields(other, 3, 4, 9, 24);
  uint32_t widths = 0;
  int pitches[3];
  cu_dataset valid = cu_dataset();
  if (world_open_with(&w, m, &s)) {
    CHECK(w.be.layout->n_bundles > 0);
    gbt_dataset *ds = made_dataset(&w.ctx, other, w.ds->cuts, 255, 64);
    if (ds != NULL && CHECK_OK(world_data_make(&w, ds, &valid))) {
      int32_t n_other = 0;
      const gbt_place *place = gbt_pages_layout(ds->pages)->place;
      for (int32_t f = 0; f < 14; f++) n_other += place[f].slot_beg != w.be.layout->place[f].slot_beg;
      CHECK(n_other > 0);
      good_tiles(&w, &w.data, &widths, pitches);
      good_tiles(&w, &valid, &widths, pitches);
      same_codes(&w, &w.data, w.ds);
      same_codes(&w, &valid, ds);
      CHECK(valid.label.at == NULL && valid.weight.at == NULL);
      world_data_free(&w, &valid);
    }
    gbt_dataset_unref(ds);
  }
  made_free(other);
  world_close(&w);
}

/* Nothing is read from a page after it was released. */
static void pages_are_pinned_while_they_go_up(void) {
  store_kind before = stores_use(STORE_POISON);
  int64_t pins = poison_pins();
  tiles_are_the_pages();
  codes_of_16_bits();
  rows_in_several_chunks();
  unknown_levels_are_listed();
  a_validation_set_has_its_own_layout();
  CHECK(poison_pins() > pins);
  stores_use(before);
}

extern "C" void suite_cuda_dataset(void) {
  RUN(tiles_are_the_pages);
  RUN(two_blocks_have_room);
  RUN(few_tiles);
  RUN(codes_of_16_bits);
  RUN(rows_in_several_chunks);
  RUN(unknown_levels_are_listed);
  RUN(failures_leave_nothing);
  RUN(numbers_take_the_narrowest_form);
  RUN(labels_and_weights_go_up);
  RUN(a_validation_set_has_its_own_layout);
  RUN(pages_are_pinned_while_they_go_up);
}
