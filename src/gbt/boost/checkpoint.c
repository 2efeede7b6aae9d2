#include "checkpoint.h"

#include <string.h>

#include "../base/checksum.h"
#include "../base/comm.h"
#include "../base/parallel.h"
#include "../bytes/parts.h"
#include "../bytes/sections.h"
#include "ranks.h"
#include "trainer_state.h"

#define MAGIC "gbttrain" /* 8 bytes */
enum { VERSION = 5 };

/* ---- identity ---- */

static uint64_t mix_sum(uint64_t h, const void *bytes, size_t n) {
  return gbt_mix64(h ^ (bytes != NULL && n > 0 ? gbt_checksum(bytes, n) : 0));
}

static uint64_t mix_rows(uint64_t h, const gbt_dataset *ds) {
  const gbt_rows *rows = &ds->rows;
  h = gbt_mix64(h ^ (uint64_t)rows->n);
  for (int f = 0; f < GBT_N_FIELDS; f++)
    h = mix_sum(h, rows->field[f], (size_t)rows->n * (size_t)ds->n_outputs[f] * sizeof(double));
  for (int64_t i = 0; rows->table_row != NULL && i < rows->n; i++) h = (h ^ rows->table_row[i]) * 0x9fb21c651e98df25u;
  return gbt_mix64(h);
}

static uint64_t mix_cuts(uint64_t h, const gbt_cuts *cuts) {
  h = gbt_mix64(h ^ (uint64_t)cuts->n_features ^ (uint64_t)cuts->n_rows << 32);
  for (int32_t f = 0; f < cuts->n_features; f++) {
    const gbt_feature_cuts *feat = &cuts->feat[f];
    h = gbt_mix64(h ^ (uint64_t)feat->n_bins ^ (uint64_t)feat->has_missing << 32);
    h = gbt_mix64(h ^ (uint64_t)feat->n_filled);
    h = mix_sum(h, feat->cut, feat->cut != NULL ? (size_t)feat->n_bins * sizeof *feat->cut : 0);
  }
  return h;
}

static uint64_t mix_forest(uint64_t h, const gbt_forest_view *f) {
  h = mix_sum(h, f->base, (size_t)f->n_outputs * sizeof *f->base);
  h = mix_sum(h, f->trees, (size_t)f->n_trees * sizeof *f->trees);
  h = mix_sum(h, f->nodes, (size_t)f->n_nodes * sizeof *f->nodes);
  h = mix_sum(h, f->sets, (size_t)f->n_words * sizeof *f->sets);
  h = mix_sum(h, f->gain, (size_t)f->n_nodes * sizeof *f->gain);
  h = mix_sum(h, f->cover, (size_t)f->n_nodes * sizeof *f->cover);
  h = mix_sum(h, f->count, (size_t)f->n_nodes * sizeof *f->count);
  return mix_sum(h, f->leaf_values, (size_t)f->n_vectors * (size_t)f->n_leaf_outputs * sizeof *f->leaf_values);
}

/* Scores that a data set begins with. */
static uint64_t mix_scores(uint64_t h, const gbt_trainer_spec *spec, const gbt_dataset *ds, const double *score) {
  return mix_sum(h, score, (size_t)ds->rows.n * (size_t)spec->objective.n_outputs * sizeof *score);
}

uint64_t gbti_training_identity(const gbt_trainer_spec *spec, const gbt_forest_view *start) {
  gbt_trainer_spec shown = *spec;
  if (!spec->checkpoints) return 0;
  shown.params.hist_memory = shown.params.device_memory = 0;
  shown.max_seconds = 0.0;
  shown.eta = NULL; /* the values of the rounds that are done are compared, see take_eta() */
  uint64_t h = mix_cuts(gbt_ranks_mix_spec(&shown), spec->train->cuts);
  h = mix_scores(mix_rows(h, spec->train), spec, spec->train, spec->init_score);
  for (int32_t i = 0; i < spec->n_valid; i++)
    h = mix_scores(mix_rows(h, spec->valid[i]), spec, spec->valid[i], spec->init_valid[i]);
  return mix_forest(h, start);
}

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

/* Scores number k: whose they are, and how many. be == NULL: those that are kept. n == 0 and be == NULL: no more. */
typedef struct score_place {
  gbt_backend *be;
  int32_t which;
  int64_t n;
  int end;
} score_place;

static score_place place_of(const gbt_trainer *tr, int32_t k) {
  const int64_t K = tr->objective.n_outputs;
  if (k <= tr->n_valid) return (score_place){tr->be, k, tr->data[k]->rows.n * K, 0};
  k -= tr->n_valid + 1;
  if (k == 0 && tr->keep_best > 0) return (score_place){NULL, 0, (int64_t)gbti_n_kept_scores(tr), 0};
  k -= tr->keep_best > 0;
  gbti_scores scores;
  if (!gbti_round_scores(&tr->round, k, &scores)) return (score_place){NULL, 0, 0, 1};
  return (score_place){scores.be, scores.which, scores.n_rows * K, 0};
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

static gbt_status put_scores(gbt_ctx *ctx, gbt_parts_writer *w, const gbt_trainer *tr, gbt_error *err) {
  for (int32_t k = 0;; k++) {
    const score_place p = place_of(tr, k);
    const double *score = tr->kept;
    if (p.end) return GBT_OK;
    GBT_TRY(gbt_ctx_poll(ctx, err));
    if (p.be != NULL) GBT_TRY(p.be->ops->scores(ctx, p.be, p.which, &score, err));
    GBT_TRY(gbt_parts_put(w, score, (uint64_t)p.n * sizeof *score, err));
  }
}

static gbt_status put_all(gbt_ctx *ctx, gbt_parts_writer *w, const gbt_trainer *tr, const void *note, size_t n_note,
                          gbt_error *err) {
  const run_state state = state_of(tr);
  GBT_TRY(gbt_parts_put(w, &state, sizeof state, err));
  GBT_TRY(gbt_parts_put(w, tr->log, (uint64_t)(tr->n_rounds * tr->width) * sizeof *tr->log, err));
  GBT_TRY(put_eta(w, tr, err));
  GBT_TRY(put_forest(w, tr, err));
  GBT_TRY(gbt_parts_put(w, note, n_note, err));
  return put_scores(ctx, w, tr, err);
}

static gbt_status check_able(const gbt_ctx *ctx, const gbt_trainer *tr, gbt_error *err) {
  if (!gbt_comm_is_single(ctx))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "checkpoint", "checkpoints are for trainings in one process");
  GBT_ASSERT(tr->identity != 0);
  return GBT_OK;
}

gbt_status gbt_trainer_save(gbt_ctx *ctx, const gbt_trainer *tr, const char *path, const void *note, size_t n_note,
                            gbt_error *err) {
  gbt_parts_writer w;
  GBT_TRY(check_able(ctx, tr, err));
  if (tr->broken) return gbt_fail(err, GBT_E_ARG, "this training was stopped in the middle of a round");
  GBT_ASSERT(tr->n_trees == tr->forest->n_trees);
  gbt_status status = gbt_parts_begin(&tr->mem, path, MAGIC, VERSION, tr->identity, &w, err);
  if (status == GBT_OK) status = put_all(ctx, &w, tr, note, n_note, err);
  if (status == GBT_OK) status = gbt_parts_end(&w, err);
  gbt_parts_drop(&w);
  return status;
}

/* ---- reading ---- */

static gbt_status damaged(const gbt_parts_reader *r, gbt_error *err) {
  return gbt_fail_on(err, GBT_E_FORMAT, r->file.path, "\"%s\" is damaged; remove it", r->file.path);
}

/* Whether the file could hold so many things: products of such counts with sizes do not overflow. */
static int may_have(const gbt_parts_reader *r, uint64_t n) { return n <= r->head.n_bytes; }

/* The next part, in memory of its own. What the part does not have is not allocated. */
static gbt_status take_array(const gbt_mem *mem, gbt_parts_reader *r, size_t item, uint64_t n, void *out,
                             gbt_error *err) {
  void **array = out;
  uint64_t bytes;
  GBT_TRY(gbt_parts_next(r, &bytes, err));
  if (!may_have(r, n) || bytes != n * item) return damaged(r, err);
  GBT_TRY(gbt_mem_array(mem, (size_t)n, item, array, err));
  return gbt_parts_take(r, *array, bytes, err);
}

static int same_shape(const gbt_forest_view *a, const gbt_forest_view *b) {
  return a->n_features == b->n_features && a->n_outputs == b->n_outputs && a->n_leaf_outputs == b->n_leaf_outputs &&
         a->n_parallel == b->n_parallel;
}

/* The trees become those of the trainer. Trees are checked, as the file is not trusted: walks of them stay within
 * bounds, and they have the shape of the trainer's forest. */
static gbt_status take_forest(gbt_parts_reader *r, gbt_trainer *tr, uint64_t n_trees, gbt_error *err) {
  const gbt_forest_view own = gbt_forest_view_of(tr->forest);
  gbti_reader sections = {.mem = tr->mem, .kind = &forest_kind, .path = r->file.path, .err = err};
  const gbt_forest_view *view = &sections.parts.forest;
  gbti_model_head head;
  uint8_t *bytes = NULL;
  uint64_t n;
  sections.parts.schema = tr->schema;
  GBT_TRY(gbt_parts_next(r, &n, err));
  gbt_status status = take_array(&tr->mem, r, 1, n, &bytes, err);
  if (status == GBT_OK) {
    const int good = gbti_head_of(&forest_kind, bytes, (size_t)n, &head) && head.version == forest_kind.version &&
                     head.n_bytes == n && n >= sizeof head;
    status = good ? gbti_sections_read(&sections, bytes, (size_t)n) : damaged(r, err);
  }
  if (status == GBT_OK && (!same_shape(view, &own) || view->n_trees != n_trees)) status = damaged(r, err);
  if (status == GBT_OK) {
    gbt_forest_cut(tr->forest, 0);
    status = gbt_forest_append(tr->forest, view, err);
  }
  gbt_mem_free(&tr->mem, bytes);
  return status;
}

/* The shrinkages of the rounds that are done must be those that this training would have used. */
static gbt_status take_eta(gbt_parts_reader *r, const gbt_trainer *tr, int64_t n_rounds, gbt_error *err) {
  double *eta = NULL;
  gbt_status status = take_array(&tr->mem, r, sizeof *eta, (uint64_t)n_rounds, &eta, err);
  for (int64_t i = 0; status == GBT_OK && i < n_rounds; i++)
    if (eta[i] != gbti_eta_of(tr, i))
      status = gbt_fail_on(err, GBT_E_ARG, "eta",
                           "\"%s\" belongs to another training: `eta` of round %lld was %g and is %g now; remove it to "
                           "begin anew, or give another place",
                           r->file.path, (long long)i + 1, eta[i], gbti_eta_of(tr, i));
  gbt_mem_free(&tr->mem, eta);
  return status;
}

static gbt_status take_scores(gbt_ctx *ctx, gbt_parts_reader *r, gbt_trainer *tr, gbt_error *err) {
  for (int32_t k = 0;; k++) {
    const score_place p = place_of(tr, k);
    double *score;
    if (p.end) return GBT_OK;
    GBT_TRY(gbt_ctx_poll(ctx, err));
    if (p.be == NULL) {
      GBT_TRY(gbt_parts_take(r, tr->kept, (uint64_t)p.n * sizeof *tr->kept, err));
      continue;
    }
    GBT_TRY(gbt_mem_array(&tr->mem, (size_t)p.n, sizeof *score, &score, err));
    gbt_status status = gbt_parts_take(r, score, (uint64_t)p.n * sizeof *score, err);
    if (status == GBT_OK) status = p.be->ops->set_scores(ctx, p.be, p.which, score, err);
    gbt_mem_free(&tr->mem, score);
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
static gbt_status take_state(gbt_parts_reader *r, const gbt_trainer *tr, run_state *s, gbt_error *err) {
  const gbt_forest_view own = gbt_forest_view_of(tr->forest);
  uint64_t bytes;
  GBT_TRY(gbt_parts_take(r, s, sizeof *s, err));
  if (s->width != tr->width || !may_have(r, (uint64_t)s->n_rounds) ||
      s->n_trees != own.n_trees + (uint64_t)s->n_rounds * gbt_trees_per_round(&own))
    return damaged(r, err);
  if (s->best_round < 0 || s->best_round > s->n_rounds || s->kept_round < 0 || s->kept_round > s->n_rounds)
    return damaged(r, err);
  GBT_TRY(gbt_parts_next(r, &bytes, err));
  return bytes == (uint64_t)(s->n_rounds * s->width) * sizeof *tr->log ? GBT_OK : damaged(r, err);
}

static gbt_status take_all(gbt_ctx *ctx, gbt_parts_reader *r, gbt_trainer *tr, uint8_t **note, size_t *n_note,
                           gbt_error *err) {
  run_state s;
  uint64_t n;
  GBT_TRY(take_state(r, tr, &s, err));
  GBT_TRY(gbt_mem_grow(&tr->mem, &tr->log, &tr->cap_log, (size_t)(s.n_rounds * s.width), sizeof *tr->log, err));
  GBT_TRY(gbt_parts_take(r, tr->log, (uint64_t)(s.n_rounds * s.width) * sizeof *tr->log, err));
  GBT_TRY(take_eta(r, tr, s.n_rounds, err));
  GBT_TRY(take_forest(r, tr, s.n_trees, err));
  GBT_TRY(gbt_parts_next(r, &n, err));
  GBT_TRY(take_array(&ctx->mem, r, 1, n, note, err));
  *n_note = (size_t)n;
  GBT_TRY(take_scores(ctx, r, tr, err));
  take_over(tr, &s);
  return GBT_OK;
}

gbt_status gbt_trainer_resume(gbt_ctx *ctx, gbt_trainer *tr, const char *path, uint8_t **note, size_t *n_note,
                              gbt_error *err) {
  gbt_parts_reader r;
  *note = NULL;
  *n_note = 0;
  GBT_TRY(check_able(ctx, tr, err));
  GBT_ASSERT(tr->n_rounds == 0);
  gbt_status status = gbt_parts_open(&tr->mem, path, MAGIC, VERSION, &r, err);
  if (status == GBT_OK && r.head.identity != tr->identity)
    status =
        gbt_fail_on(err, GBT_E_ARG, "checkpoint",
                    "\"%s\" belongs to another training: data, parameters or the seed have changed; remove it to begin "
                    "anew, or give another place",
                    path);
  if (status == GBT_OK) {
    status = take_all(ctx, &r, tr, note, n_note, err);
    tr->broken = status != GBT_OK;
  }
  gbt_parts_close(&r);
  if (status != GBT_OK) {
    gbt_mem_free(&ctx->mem, *note);
    *note = NULL;
  }
  return status;
}
