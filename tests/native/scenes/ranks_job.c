#include "datasets.h"
#include "ranks_job.h"

/* ---- shares ---- */

static int by_size(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Where shares begin: drawn, or (now and then) one has all rows. */
static void draw_begins(test_rng *rng, int64_t n, int size, int64_t *beg) {
  int all = test_below(rng, 6) == 0, who = (int)test_below(rng, size);
  beg[0] = 0;
  for (int r = 1; r < size; r++) beg[r] = all ? (r <= who ? 0 : n) : test_below(rng, n + 1);
  beg[size] = n;
  qsort(beg, (size_t)size + 1, sizeof *beg, by_size);
}

static void turn_levels_round(made *m) {
  for (int32_t c = 0; c < m->table.n_cols; c++) {
    gbt_column *col = (gbt_column *)&m->table.cols[c];
    if (col->type != GBT_CATEGORICAL) continue;
    int32_t *code = (int32_t *)col->values, n = col->n_levels;
    const char **levels = (const char **)col->levels; /* made_rows made them for this table */
    for (int64_t i = 0; i < m->table.n_rows; i++)
      if (code[i] > 0) code[i] = n + 1 - code[i];
    for (int32_t i = 0; i < n / 2; i++) {
      const char *text = levels[i];
      levels[i] = levels[n - 1 - i];
      levels[n - 1 - i] = text;
    }
  }
}

static made *share_of(const made *m, int64_t beg, int64_t end, int sparse) {
  int64_t *rows = test_alloc((size_t)(end - beg) * sizeof *rows);
  for (int64_t i = beg; i < end; i++) rows[i - beg] = i;
  made *share = made_rows(m, rows, end - beg);
  free(rows);
  if (!sparse) return share;
  made *out = made_sparse(share, 50);
  made_free(share);
  return out;
}

shares *shares_new(const train_job *job, int size, uint64_t seed, int sparse) {
  test_rng rng = {gbt_mix64(seed ^ 0x5a4e)};
  shares *s = test_alloc(sizeof *s);
  memset(s, 0, sizeof *s);
  s->job = job;
  s->size = size;
  for (int32_t k = 0; k <= job->spec.n_valid; k++) {
    const made *m = k == 0 ? job->data : job->valid[k - 1];
    draw_begins(&rng, m->table.n_rows, size, s->beg[k]);
    for (int r = 0; r < size; r++) {
      s->of[k][r] = share_of(m, s->beg[k][r], s->beg[k][r + 1], sparse);
      if (r % 2) turn_levels_round(s->of[k][r]);
    }
  }
  return s;
}

void shares_free(shares *s) {
  for (int32_t k = 0; k <= JOB_VALID; k++)
    for (int r = 0; r < s->size; r++) made_free(s->of[k][r]);
  free(s);
}

/* ---- a rank ---- */

rank_how rank_how_make(int threads, int32_t page_rows) {
  rank_how how = {.how = {threads, page_rows, GBT_SIMD_AUTO, NULL}, .mem = gbt_mem_default()};
  return how;
}

typedef struct rank_run {
  const shares *s;
  const rank_how *hows;
  ranked *out;
} rank_run;

static gbt_status make_set(gbt_ctx *ctx, const rank_run *run, int32_t which, gbt_cuts *cuts, gbt_dataset **out,
                           gbt_error *err) {
  int r = gbt_comm_rank(ctx);
  const made *m = run->s->of[which][r];
  GBT_TRY(dataset_from(ctx, &m->table, cuts, cuts ? NULL : made_cut_weights(m), run->s->job->max_bin,
                          run->hows[r].how.page_rows, GBT_UNSEEN_MISSING, out, err));
  const gbt_status status = made_set_fields(ctx, m, *out, err); /* what a host does between two calls */
  return gbt_comm_agree(ctx, status, err);
}

/* A host's own gradients: they depend on the number of the row in all the data. */
static gbt_status custom_round(gbt_ctx *ctx, const rank_run *run, gbt_trainer *tr, gbt_stop_reason *why,
                               gbt_error *err) {
  const train_job *job = run->s->job;
  int r = gbt_comm_rank(ctx);
  int64_t n = run->s->of[0][r]->table.n_rows, beg = run->s->beg[0][r], all = job->data->table.n_rows;
  size_t K = (size_t)job->spec.objective.n_outputs;
  double *whole = test_alloc((size_t)all * K * sizeof *whole), *g = test_alloc((size_t)all * K * sizeof *g);
  double *h = test_alloc((size_t)all * K * sizeof *h);
  const double *scores = NULL;
  gbt_status status = gbt_trainer_scores(ctx, tr, 0, &scores, err);
  if (status == GBT_OK) {
    memset(whole, 0, (size_t)all * K * sizeof *whole);
    for (size_t k = 0; k < K; k++)
      if (n > 0) memcpy(whole + k * (size_t)all + beg, scores + k * (size_t)n, (size_t)n * sizeof *scores);
    job->custom(whole, job->data->label, all, job->spec.objective.n_outputs, g, h);
    for (size_t k = 0; k < K; k++) { /* closed up in place: rows move to the front */
      memmove(g + k * (size_t)n, g + k * (size_t)all + beg, (size_t)n * sizeof *g);
      memmove(h + k * (size_t)n, h + k * (size_t)all + beg, (size_t)n * sizeof *h);
    }
    status = gbt_trainer_set_gradients(ctx, tr, g, h, err);
  }
  if (status == GBT_OK) status = gbt_trainer_run(ctx, tr, 1, why, err);
  free(whole);
  free(g);
  free(h);
  return status;
}

static gbt_status keep(const rank_run *run, gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  const gbt_mem mem = gbt_mem_default();
  int r = gbt_comm_rank(ctx);
  ranked *o = &run->out[r];
  gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
  size_t K = (size_t)run->s->job->spec.objective.n_outputs;
  GBT_TRY(gbt_forest_new_like(&mem, &view, &o->forest, err));
  GBT_TRY(gbt_forest_append(o->forest, &view, err));
  o->rounds = gbt_trainer_rounds(tr);
  o->best_round = gbt_trainer_best_round(tr);
  const double *log = gbt_trainer_log(tr, &o->width);
  size_t cells = (size_t)o->rounds * (size_t)o->width;
  o->log = test_alloc(cells * sizeof *log);
  if (cells > 0) memcpy(o->log, log, cells * sizeof *log);
  for (int32_t k = 0; k <= run->s->job->spec.n_valid && o->status == GBT_OK; k++) {
    size_t n = (size_t)run->s->of[k][r]->table.n_rows * K;
    const double *scores = NULL;
    GBT_TRY(gbt_trainer_scores(ctx, tr, k, &scores, err));
    o->score[k] = test_alloc(n * sizeof *scores);
    if (n > 0) memcpy(o->score[k], scores, n * sizeof *scores);
  }
  return GBT_OK;
}

/* Rounds until there are `last`. */
static gbt_status run_up_to(gbt_ctx *ctx, const rank_run *run, gbt_trainer *tr, int64_t last, gbt_error *err) {
  ranked *o = &run->out[gbt_comm_rank(ctx)];
  if (run->s->job->spec.objective.kind != GBT_OBJ_CUSTOM)
    return gbt_trainer_run(ctx, tr, last - gbt_trainer_rounds(tr), &o->why, err);
  while (gbt_trainer_rounds(tr) < last) GBT_TRY(custom_round(ctx, run, tr, &o->why, err));
  return GBT_OK;
}

static gbt_status train_rank(gbt_ctx *ctx, const rank_run *run, gbt_trainer_spec *spec, gbt_trainer **tr,
                             gbt_error *err) {
  const train_job *job = run->s->job;
  ranked *o = &run->out[gbt_comm_rank(ctx)];
  const rank_how *how = &run->hows[gbt_comm_rank(ctx)];
  *spec = job->spec;
  if (how->params != NULL) spec->params = *how->params;
  spec->device = how->how.device;
  spec->checkpoints = how->from != NULL || how->to != NULL;
  for (int32_t k = 0; k <= spec->n_valid; k++) {
    gbt_dataset **to = k == 0 ? &spec->train : &spec->valid[k - 1];
    *to = NULL;
  }
  GBT_TRY(make_set(ctx, run, 0, NULL, &spec->train, err));
  o->cuts = gbt_cuts_ref(spec->train->cuts);
  for (int32_t i = 0; i < spec->n_valid; i++)
    GBT_TRY(make_set(ctx, run, 1 + i, spec->train->cuts, &spec->valid[i], err));
  if (job->rounds == 0) return GBT_OK;
  GBT_TRY(gbt_trainer_new(ctx, spec, tr, err));
  if (how->from != NULL) {
    uint8_t *note;
    size_t n_note;
    GBT_TRY(gbt_trainer_resume(ctx, *tr, how->from, &note, &n_note, err));
    o->note_good = n_note == 6 && memcmp(note, "a note", 6) == 0;
    gbt_mem_free(&ctx->mem, note);
  }
  GBT_TRY(run_up_to(ctx, run, *tr, how->last > 0 ? how->last : job->rounds, err));
  return how->to != NULL ? gbt_trainer_save(ctx, *tr, how->to, "a note", 6, err) : GBT_OK;
}

static void rank_main(void *arg, const gbt_comm *comm) {
  const rank_run *run = arg;
  const rank_how *how = &run->hows[comm->rank];
  ranked *o = &run->out[comm->rank];
  gbt_trainer_spec spec = {.n_valid = 0};
  gbt_trainer *tr = NULL;
  gbt_ctx ctx;
  gbt_error err;
  o->status = gbt_ctx_open(&ctx, how->mem, how->how.threads, how->how.simd, how->poll, how->user, &o->err);
  ranks_counter counter;
  ctx.comm = how->counts == NULL ? comm : ranks_counted(&counter, comm, how->counts);
  o->status = gbt_comm_agree(&ctx, o->status, &o->err);
  if (o->status == GBT_OK) o->status = train_rank(&ctx, run, &spec, &tr, &o->err);
  if (tr != NULL && keep(run, &ctx, tr, &err) != GBT_OK) o->status = GBT_E_INTERNAL;
  gbt_trainer_free(tr);
  gbt_dataset_unref(spec.train);
  for (int32_t i = 0; i < spec.n_valid; i++) gbt_dataset_unref(spec.valid[i]);
  gbt_ctx_close(&ctx);
}

void shares_train(const shares *s, const rank_how *hows, ranked *out) {
  rank_run run = {s, hows, out};
  for (int r = 0; r < s->size; r++) memset(&out[r], 0, sizeof out[r]);
  ranks_run(s->size, rank_main, &run);
}

void ranked_free(ranked *out) {
  gbt_cuts_unref(out->cuts);
  gbt_forest_free(out->forest);
  for (int32_t k = 0; k <= JOB_VALID; k++) free(out->score[k]);
  free(out->log);
}

/* ---- comparing ---- */

int same_ranked(const shares *s, const ranked *out, const trained *single) {
  size_t K = (size_t)s->job->spec.objective.n_outputs;
  int ok = CHECK(single != NULL);
  for (int r = 0; r < s->size && ok; r++) {
    const ranked *o = &out[r];
    ok &= CHECK_EQ_I64(o->status, GBT_OK);
    if (!ok) test_note("rank %d: %s", r, o->err.msg);
    ok = ok && same_forests(o->forest, single->forest) && CHECK_EQ_I64(o->rounds, single->rounds) &&
         CHECK_EQ_I64(o->best_round, single->best_round) && CHECK_EQ_I64(o->why, single->why) &&
         CHECK_EQ_I64(o->width, single->width);
    if (ok && o->rounds * o->width > 0)
      ok &= CHECK_EQ_BYTES(o->log, single->log, (size_t)(o->rounds * o->width) * sizeof(double));
    for (int32_t k = 0; k < single->n_data && ok; k++) {
      size_t n = (size_t)s->of[k][r]->table.n_rows, all = (size_t)single->n_rows[k];
      for (size_t c = 0; c < K && n > 0; c++)
        ok &= CHECK_EQ_BYTES(o->score[k] + c * n, single->score[k] + c * all + s->beg[k][r], n * sizeof(double));
    }
  }
  return ok;
}

int job_by_ranks(const train_job *job, const trained *single, int size, uint64_t seed, int sparse) {
  shares *s = shares_new(job, size, seed, sparse);
  rank_how hows[RANKS_MOST];
  ranked out[RANKS_MOST];
  const int32_t pages[] = {0, 7, 64};
  for (int r = 0; r < size; r++) hows[r] = rank_how_make(1 + (int)((seed + (uint64_t)r) % 2), pages[(size + r) % 3]);
  shares_train(s, hows, out);
  int ok = same_ranked(s, out, single);
  for (int r = 0; r < size; r++) ranked_free(&out[r]);
  shares_free(s);
  return ok;
}
