#include "checkpoint.h"

#include <string.h>

#include "../base/comm.h"
#include "../base/parallel.h"
#include "../bytes/parts.h"
#include "../bytes/sections.h"
#include "trainer_state.h"

#define MAGIC "gbttrain" /* 8 bytes */
enum { VERSION = 7 };

/* Rows of a block of scores. */
#ifdef GBT_CHECKED
enum { BLOCK_ROWS = 150 };
#else
enum { BLOCK_ROWS = 1 << 20 };
#endif

/* ---- what is kept ---- */

typedef struct run_state {
  int64_t n_rounds, width, best_round, kept_round, maximise;
  uint64_t n_trees;
  double best, seconds;
} run_state;

static run_state state_of(const gbt_trainer *tr) {
  run_state s;
  memset(&s, 0, sizeof s);
  s.n_rounds = tr->n_rounds;
  s.width = tr->width;
  s.best_round = tr->stopper.best_round;
  s.kept_round = tr->kept_round;
  s.maximise = tr->stopper.maximise;
  s.n_trees = tr->n_trees;
  s.best = tr->stopper.best;
  s.seconds = tr->seconds;
  return s;
}

/* Scores number k: whose they are, and of how many rows. n == 0 and be == NULL: no more. */
typedef struct score_place {
  gbt_backend *be; /* NULL: those that are kept */
  int32_t which;
  int64_t n_rows;
  int end;
} score_place;

static score_place place_of(const gbt_trainer *tr, int32_t k) {
  if (k <= tr->n_valid) return (score_place){tr->be, k, tr->data[k]->rows.n, 0};
  k -= tr->n_valid + 1;
  if (k == 0 && tr->keep_best > 0) return (score_place){NULL, 0, tr->data[tr->keep_best]->rows.n, 0};
  k -= tr->keep_best > 0;
  gbti_scores scores;
  if (!gbti_round_scores(&tr->round, k, &scores)) return (score_place){NULL, 0, 0, 1};
  return (score_place){scores.be, scores.which, scores.n_rows, 0};
}

/* Where the rows of every rank are among all rows, and one block of the scores of all rows. */
typedef struct score_blocks {
  int64_t *beg;  /* by rank, size + 1 */
  size_t *bytes; /* by rank: of its part of the block */
  double *block;
} score_blocks;

static void blocks_free(const gbt_mem *mem, score_blocks *b) {
  gbt_mem_free(mem, b->beg);
  gbt_mem_free(mem, b->bytes);
  gbt_mem_free(mem, b->block);
}

static gbt_status blocks_make(gbt_ctx *ctx, int64_t n_rows, score_blocks *b, gbt_error *err) {
  const size_t size = (size_t)gbt_comm_size(ctx);
  memset(b, 0, sizeof *b);
  GBT_TRY(gbt_mem_array(&ctx->mem, size + 1, sizeof *b->beg, &b->beg, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, size, sizeof *b->bytes, &b->bytes, err));
  GBT_TRY(gbt_comm_gather_i64(ctx, &n_rows, 1, b->beg + 1, err));
  b->beg[0] = 0;
  for (size_t r = 0; r < size; r++) b->beg[r + 1] += b->beg[r];
  const int64_t all = b->beg[size];
  return gbt_mem_array(&ctx->mem, (size_t)(all < BLOCK_ROWS ? all : BLOCK_ROWS), sizeof *b->block, &b->block, err);
}

/* The rows of a rank that are among [beg, end) of all rows. */
static gbt_share part_of_block(const score_blocks *b, int rank, int64_t beg, int64_t end) {
  gbt_share part = {b->beg[rank] > beg ? b->beg[rank] : beg, b->beg[rank + 1] < end ? b->beg[rank + 1] : end};
  if (part.all < part.beg) part.all = part.beg;
  return part;
}

/* ---- writing ---- */

static const gbti_kind forest_kind = {
    .magic = "gbttrees", .version = 1, .advice = "remove it", .sections = GBTI_HAS_FOREST, .part = {&gbti_part_forest}};

static gbt_status put_forest(gbt_parts_writer *w, const gbt_trainer *tr, gbt_error *err) {
  const gbti_contents parts = {.forest = gbt_forest_view_of(tr->forest), .schema = tr->schema};
  gbti_writer sections = {.mem = tr->mem, .parts = &parts, .err = err};
  uint8_t *bytes;
  size_t n;
  GBT_TRY(gbti_sections_write(&forest_kind, &sections, &bytes, &n));
  gbt_status status = gbt_parts_put(w, bytes, n, err);
  gbt_mem_free(&tr->mem, bytes);
  return status;
}

/* The shrinkages of the rounds that are done. */
static gbt_status put_eta(gbt_parts_writer *w, const gbt_trainer *tr, gbt_error *err) {
  double *eta;
  GBT_TRY(gbt_mem_array(&tr->mem, (size_t)tr->n_rounds, sizeof *eta, &eta, err));
  for (int64_t r = 0; r < tr->n_rounds; r++) eta[r] = gbti_eta_of(tr, r);
  gbt_status status = gbt_parts_put(w, eta, (uint64_t)tr->n_rounds * sizeof *eta, err);
  gbt_mem_free(&tr->mem, eta);
  return status;
}

/* The scales of times that are known after so many rounds, or the biases of positions: no objective has both. */
static uint64_t n_moving(const gbt_trainer *tr, int64_t n_rounds) {
  const uint64_t width = tr->scale != NULL ? 1 : tr->n_bias;
  return ((uint64_t)n_rounds + 1) * width;
}

/* One column of scores of all rows, block by block. mine: of this rank's rows. */
static gbt_status put_column(gbt_ctx *ctx, gbt_parts_writer *w, const score_blocks *b, const double *mine,
                             gbt_error *err) {
  const int size = gbt_comm_size(ctx), rank = gbt_comm_rank(ctx);
  for (int64_t beg = 0, end; beg < b->beg[size]; beg = end) {
    end = beg + BLOCK_ROWS < b->beg[size] ? beg + BLOCK_ROWS : b->beg[size];
    GBT_TRY(gbt_ctx_poll(ctx, err));
    for (int r = 0; r < size; r++) {
      const gbt_share part = part_of_block(b, r, beg, end);
      b->bytes[r] = (size_t)(part.all - part.beg) * sizeof *mine;
    }
    const double *part = b->bytes[rank] > 0 ? mine + (part_of_block(b, rank, beg, end).beg - b->beg[rank]) : mine;
    GBT_TRY(gbt_comm_gather(ctx, part, b->bytes, b->block, err));
    if (rank == 0) GBT_TRY(gbt_parts_put(w, b->block, (uint64_t)(end - beg) * sizeof *mine, err));
  }
  return GBT_OK;
}

static gbt_status put_scores(gbt_ctx *ctx, gbt_parts_writer *w, const gbt_trainer *tr, gbt_error *err) {
  for (int32_t k = 0;; k++) {
    const score_place p = place_of(tr, k);
    const double *score = tr->kept;
    score_blocks blocks;
    if (p.end) return GBT_OK;
    if (p.be != NULL) GBT_TRY(p.be->ops->scores(ctx, p.be, p.which, &score, err));
    gbt_status status = blocks_make(ctx, p.n_rows, &blocks, err);
    for (int32_t out = 0; out < tr->objective.n_outputs && status == GBT_OK; out++)
      status = put_column(ctx, w, &blocks, score + (size_t)out * (size_t)p.n_rows, err);
    blocks_free(&ctx->mem, &blocks);
    GBT_TRY(status);
  }
}

/* All but the scores, by the first rank. */
static gbt_status put_state(gbt_parts_writer *w, const gbt_trainer *tr, const void *note, size_t n_note,
                            gbt_error *err) {
  const run_state state = state_of(tr);
  GBT_TRY(gbt_parts_put(w, &state, sizeof state, err));
  GBT_TRY(gbt_parts_put(w, tr->log, (uint64_t)(tr->n_rounds * tr->width) * sizeof *tr->log, err));
  GBT_TRY(put_eta(w, tr, err));
  GBT_TRY(put_forest(w, tr, err));
  GBT_TRY(
      gbt_parts_put(w, tr->scale != NULL ? tr->scale : tr->bias, n_moving(tr, tr->n_rounds) * sizeof *tr->scale, err));
  return gbt_parts_put(w, note, n_note, err);
}

static gbt_status save(gbt_ctx *ctx, const gbt_trainer *tr, const char *path, const void *note, size_t n_note,
                       gbt_error *err) {
  const int writes = gbt_comm_rank(ctx) == 0;
  gbt_parts_writer w;
  gbt_status status = GBT_OK;
  GBT_ASSERT(tr->identity != 0);
  if (tr->broken) return gbt_fail(err, GBT_E_ARG, "this training was stopped in the middle of a round");
  GBT_ASSERT(tr->n_trees == tr->forest->n_trees);
  memset(&w, 0, sizeof w);
  w.file.os = GBT_OS_NONE;
  if (writes) GBT_TRY_GOTO(gbt_parts_begin(&tr->mem, path, MAGIC, VERSION, tr->identity, &w, err), done);
  if (writes) GBT_TRY_GOTO(put_state(&w, tr, note, n_note, err), done);
  GBT_TRY_GOTO(put_scores(ctx, &w, tr, err), done);
  if (writes) GBT_TRY_GOTO(gbt_parts_end(&w, err), done);
done:
  if (writes) gbt_parts_drop(&w);
  return status;
}

gbt_status gbt_trainer_save(gbt_ctx *ctx, const gbt_trainer *tr, const char *path, const void *note, size_t n_note,
                            gbt_error *err) {
  return gbt_comm_agree(ctx, save(ctx, tr, path, note, n_note, err), err);
}

/* ---- reading ---- */

/* The file as every rank reads it: the first rank has it, and sends what it reads to the others. */
typedef struct reader {
  gbt_ctx *ctx;
  const char *path;
  gbt_parts_reader file; /* of the first rank */
  gbt_parts_head head;
  int reads; /* this is the first rank */
} reader;

static gbt_status open_reader(gbt_ctx *ctx, const gbt_mem *mem, const char *path, reader *r, gbt_error *err) {
  memset(r, 0, sizeof *r);
  r->ctx = ctx;
  r->path = path;
  r->reads = gbt_comm_rank(ctx) == 0;
  r->file.file.os = GBT_OS_NONE;
  if (r->reads) GBT_TRY(gbt_parts_open(mem, path, MAGIC, VERSION, &r->file, err));
  r->head = r->file.head;
  return gbt_comm_broadcast(ctx, &r->head, sizeof r->head, 0, err);
}

static gbt_status next_part(reader *r, uint64_t *n, gbt_error *err) {
  *n = 0;
  if (r->reads) GBT_TRY(gbt_parts_next(&r->file, n, err));
  return gbt_comm_broadcast(r->ctx, n, sizeof *n, 0, err);
}

static gbt_status take_part(reader *r, void *out, uint64_t n, gbt_error *err) {
  if (r->reads) GBT_TRY(gbt_parts_take(&r->file, out, n, err));
  return n > 0 ? gbt_comm_broadcast(r->ctx, out, (size_t)n, 0, err) : GBT_OK;
}

static gbt_status damaged(const reader *r, gbt_error *err) {
  return gbt_fail_on(err, GBT_E_FORMAT, r->path, "\"%s\" is damaged; remove it", r->path);
}

/* Whether the file could hold so many things: products of such counts with sizes do not overflow. */
static int may_have(const reader *r, uint64_t n) { return n <= r->head.n_bytes; }

/* The next part, in memory of its own. What the part does not have is not allocated. */
static gbt_status take_array(const gbt_mem *mem, reader *r, size_t item, uint64_t n, void *out, gbt_error *err) {
  void **array = out;
  uint64_t bytes;
  GBT_TRY(next_part(r, &bytes, err));
  if (!may_have(r, n) || bytes != n * item) return damaged(r, err);
  GBT_TRY(gbt_mem_array(mem, (size_t)n, item, array, err));
  return take_part(r, *array, bytes, err);
}

static int same_shape(const gbt_forest_view *a, const gbt_forest_view *b) {
  return a->n_features == b->n_features && a->n_outputs == b->n_outputs && a->n_leaf_outputs == b->n_leaf_outputs &&
         a->n_parallel == b->n_parallel;
}

/* The trees become those of the trainer. Trees are checked, as the file is not trusted: walks of them stay within
 * bounds, and they have the shape of the trainer's forest. */
static gbt_status take_forest(reader *r, gbt_trainer *tr, uint64_t n_trees, gbt_error *err) {
  const gbt_forest_view own = gbt_forest_view_of(tr->forest);
  gbti_reader sections = {.mem = tr->mem, .kind = &forest_kind, .path = r->path, .err = err};
  const gbt_forest_view *view = &sections.parts.forest;
  gbti_model_head head;
  uint8_t *bytes = NULL;
  uint64_t n;
  sections.parts.schema = tr->schema;
  GBT_TRY(next_part(r, &n, err));
  gbt_status status = take_array(&tr->mem, r, 1, n, &bytes, err);
  if (status == GBT_OK) {
    const int good = gbti_head_of(&forest_kind, bytes, (size_t)n, &head) && head.version == forest_kind.version &&
                     head.n_bytes == n && n >= sizeof head;
    status = good ? gbti_sections_read(&sections, bytes, (size_t)n) : damaged(r, err);
  }
  if (status == GBT_OK && !same_shape(view, &own))
    status = gbt_fail_on(err, GBT_E_FORMAT, r->path,
                         "\"%s\" has trees of another form: it is damaged, or from an earlier version of gbt; "
                         "remove it",
                         r->path);
  if (status == GBT_OK && view->n_trees != n_trees) status = damaged(r, err);
  if (status == GBT_OK) {
    gbt_forest_cut(tr->forest, 0);
    status = gbt_forest_append(tr->forest, view, err);
  }
  gbt_mem_free(&tr->mem, bytes);
  return status;
}

/* The shrinkages of the rounds that are done must be those that this training would have used. */
static gbt_status take_eta(reader *r, const gbt_trainer *tr, int64_t n_rounds, gbt_error *err) {
  double *eta = NULL;
  gbt_status status = take_array(&tr->mem, r, sizeof *eta, (uint64_t)n_rounds, &eta, err);
  for (int64_t i = 0; status == GBT_OK && i < n_rounds; i++)
    if (eta[i] != gbti_eta_of(tr, i))
      status = gbt_fail_on(err, GBT_E_ARG, "eta",
                           "\"%s\" belongs to another training: `eta` of round %lld was %g and is %g now; remove it to "
                           "start again, or give another folder",
                           r->path, (long long)i + 1, eta[i], gbti_eta_of(tr, i));
  gbt_mem_free(&tr->mem, eta);
  return status;
}

static gbt_status put_scales(const reader *r, gbt_trainer *tr, const double *scale, uint64_t n, gbt_error *err) {
  for (uint64_t i = 0; i < n; i++)
    if (!(scale[i] > 0.0 && scale[i] <= GBT_AFT_MOST_SCALE)) return damaged(r, err);
  GBT_TRY(gbt_mem_grow(&tr->mem, &tr->scale, &tr->cap_scale, (size_t)n, sizeof *scale, err));
  for (uint64_t i = 0; i < n; i++) gbti_put_scale(tr, (int64_t)i, scale[i]);
  gbt_joint_set_scale(tr->round.joint, scale[n - 1]);
  return GBT_OK;
}

static gbt_status put_biases(const reader *r, gbt_trainer *tr, const double *bias, uint64_t n, gbt_error *err) {
  for (uint64_t i = 0; i < n; i += tr->n_bias)
    if (!gbt_joint_biases_fit(tr->round.joint, bias + i)) return damaged(r, err);
  GBT_TRY(gbt_mem_grow(&tr->mem, &tr->bias, &tr->cap_bias, (size_t)n, sizeof *bias, err));
  memcpy(tr->bias, bias, (size_t)n * sizeof *bias);
  gbt_joint_set_biases(tr->round.joint, bias + n - tr->n_bias);
  return GBT_OK;
}

/* The scale of times, or the biases of positions, go on from those of the last round. */
static gbt_status take_moving(reader *r, gbt_trainer *tr, int64_t n_rounds, gbt_error *err) {
  const uint64_t n = n_moving(tr, n_rounds);
  double *x = NULL;
  gbt_status status = take_array(&tr->mem, r, sizeof *x, n, &x, err);
  if (status == GBT_OK && n > 0)
    status = tr->scale != NULL ? put_scales(r, tr, x, n, err) : put_biases(r, tr, x, n, err);
  gbt_mem_free(&tr->mem, x);
  return status;
}

/* One column of scores: this rank takes those of its rows. */
static gbt_status take_column(reader *r, const score_blocks *b, double *mine, gbt_error *err) {
  const int size = gbt_comm_size(r->ctx), rank = gbt_comm_rank(r->ctx);
  for (int64_t beg = 0, end; beg < b->beg[size]; beg = end) {
    end = beg + BLOCK_ROWS < b->beg[size] ? beg + BLOCK_ROWS : b->beg[size];
    const gbt_share part = part_of_block(b, rank, beg, end);
    const size_t n = (size_t)(part.all - part.beg);
    GBT_TRY(gbt_ctx_poll(r->ctx, err));
    GBT_TRY(take_part(r, b->block, (uint64_t)(end - beg) * sizeof *mine, err));
    if (n > 0) memcpy(mine + (part.beg - b->beg[rank]), b->block + (part.beg - beg), n * sizeof *mine);
  }
  return GBT_OK;
}

/* The scores of a place; own: room for those of a backend, NULL for those that are kept. */
static gbt_status take_place(reader *r, gbt_trainer *tr, score_place p, double *own, gbt_error *err) {
  double *score = p.be != NULL ? own : tr->kept;
  score_blocks blocks;
  gbt_status status = blocks_make(r->ctx, p.n_rows, &blocks, err);
  for (int32_t out = 0; out < tr->objective.n_outputs && status == GBT_OK; out++)
    status = take_column(r, &blocks, score + (size_t)out * (size_t)p.n_rows, err);
  blocks_free(&r->ctx->mem, &blocks);
  if (status == GBT_OK && p.be != NULL) status = p.be->ops->set_scores(r->ctx, p.be, p.which, score, err);
  return status;
}

static gbt_status take_scores(reader *r, gbt_trainer *tr, gbt_error *err) {
  for (int32_t k = 0;; k++) {
    const score_place p = place_of(tr, k);
    const size_t cells = (size_t)p.n_rows * (size_t)tr->objective.n_outputs;
    double *own = NULL;
    if (p.end) return GBT_OK;
    if (p.be != NULL) GBT_TRY(gbt_mem_array(&tr->mem, cells, sizeof *own, &own, err));
    const gbt_status status = take_place(r, tr, p, own, err);
    gbt_mem_free(&tr->mem, own);
    GBT_TRY(status);
  }
}

/* The trainer's own part of the state. */
static void take_over(gbt_trainer *tr, const run_state *s) {
  tr->n_rounds = s->n_rounds;
  tr->n_trees = (size_t)s->n_trees;
  tr->kept_round = s->kept_round;
  tr->seconds = s->seconds;
  tr->stopper.best_round = s->best_round;
  tr->stopper.best = s->best;
  tr->stopper.maximise = (int)s->maximise;
}

/* Checks the state, as far as that is possible before the other parts are read. */
static gbt_status take_state(reader *r, const gbt_trainer *tr, run_state *s, gbt_error *err) {
  const gbt_forest_view own = gbt_forest_view_of(tr->forest);
  uint64_t bytes;
  GBT_TRY(take_part(r, s, sizeof *s, err));
  if (s->width != tr->width || !may_have(r, (uint64_t)s->n_rounds) ||
      s->n_trees != own.n_trees + (uint64_t)s->n_rounds * gbt_trees_per_round(&own))
    return damaged(r, err);
  if (s->best_round < 0 || s->best_round > s->n_rounds || s->kept_round < 0 || s->kept_round > s->n_rounds)
    return damaged(r, err);
  GBT_TRY(next_part(r, &bytes, err));
  return bytes == (uint64_t)(s->n_rounds * s->width) * sizeof *tr->log ? GBT_OK : damaged(r, err);
}

static gbt_status take_all(gbt_ctx *ctx, reader *r, gbt_trainer *tr, uint8_t **note, size_t *n_note, gbt_error *err) {
  run_state s;
  uint64_t n;
  GBT_TRY(take_state(r, tr, &s, err));
  GBT_TRY(gbt_mem_grow(&tr->mem, &tr->log, &tr->cap_log, (size_t)(s.n_rounds * s.width), sizeof *tr->log, err));
  GBT_TRY(take_part(r, tr->log, (uint64_t)(s.n_rounds * s.width) * sizeof *tr->log, err));
  GBT_TRY(take_eta(r, tr, s.n_rounds, err));
  GBT_TRY(take_forest(r, tr, s.n_trees, err));
  GBT_TRY(take_moving(r, tr, s.n_rounds, err));
  GBT_TRY(next_part(r, &n, err));
  GBT_TRY(take_array(&ctx->mem, r, 1, n, note, err));
  *n_note = (size_t)n;
  GBT_TRY(take_scores(r, tr, err));
  take_over(tr, &s);
  return GBT_OK;
}

static gbt_status resume(gbt_ctx *ctx, gbt_trainer *tr, reader *r, uint8_t **note, size_t *n_note, gbt_error *err) {
  GBT_ASSERT(tr->n_rounds == 0 && tr->identity != 0);
  if (r->head.identity != tr->identity)
    return gbt_fail_on(err, GBT_E_ARG, "checkpoint",
                       "\"%s\" belongs to another training: data, their order, parameters or the seed have changed; "
                       "remove it to start again, or give another folder",
                       r->path);
  const gbt_status status = take_all(ctx, r, tr, note, n_note, err);
  tr->broken = status != GBT_OK;
  return status;
}

gbt_status gbt_trainer_resume(gbt_ctx *ctx, gbt_trainer *tr, const char *path, uint8_t **note, size_t *n_note,
                              gbt_error *err) {
  reader r;
  *note = NULL;
  *n_note = 0;
  gbt_status status = open_reader(ctx, &tr->mem, path, &r, err);
  if (status == GBT_OK) status = resume(ctx, tr, &r, note, n_note, err);
  if (r.reads) gbt_parts_close(&r.file);
  const gbt_status all = gbt_comm_agree(ctx, status, err);
  if (status == GBT_OK && all != GBT_OK) tr->broken = 1; /* another rank failed */
  if (all != GBT_OK) {
    gbt_mem_free(&ctx->mem, *note);
    *note = NULL;
  }
  return all;
}
