#include "checkpoint_job.h"

#include "port.h"

const char *part_path(void) {
  static char name[PORT_PATH];
  port_temp_path(name, "checkpoint");
  return name;
}

/* ---- what came out ---- */

static part_outcome outcome_of(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_trainer *tr) {
  part_outcome o = {
      .rounds = gbt_trainer_rounds(tr), .best_round = gbt_trainer_best_round(tr), .n_data = 1 + spec->n_valid};
  const gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
  int32_t width;
  const double *log = gbt_trainer_log(tr, &width);
  CHECK_OK(gbt_forest_new_like(&ctx->mem, &view, &o.forest, test_err));
  CHECK_OK(gbt_forest_append(o.forest, &view, test_err));
  for (int32_t s = 0; s < o.n_data; s++) {
    const double *score;
    o.n_score[s] = gbt_trainer_n_rows(tr, s) * spec->objective.n_outputs;
    o.score[s] = test_alloc((size_t)o.n_score[s] * sizeof(double));
    if (CHECK_OK(gbt_trainer_scores(ctx, tr, s, &score, test_err)))
      memcpy(o.score[s], score, (size_t)o.n_score[s] * sizeof(double));
  }
  const double *kept;
  o.n_kept = spec->keep_best > 0 ? o.n_score[spec->keep_best] : 0;
  o.kept = test_alloc((size_t)o.n_kept * sizeof(double));
  if (o.n_kept > 0 && CHECK_OK(gbt_trainer_best_scores(ctx, tr, spec->keep_best, &kept, test_err)))
    memcpy(o.kept, kept, (size_t)o.n_kept * sizeof(double));
  o.n_log = o.rounds * width;
  o.log = test_alloc((size_t)o.n_log * sizeof(double));
  if (o.n_log > 0) memcpy(o.log, log, (size_t)o.n_log * sizeof(double));
  return o;
}

void part_outcome_free(part_outcome *o) {
  gbt_forest_free(o->forest);
  for (int32_t s = 0; s < o->n_data; s++) free(o->score[s]);
  free(o->log), free(o->kept);
}

int part_outcomes_same(const part_outcome *a, const part_outcome *b) {
  int ok = same_forests(a->forest, b->forest) &
           CHECK_EQ_I64(a->rounds, b->rounds) & CHECK_EQ_I64(a->n_kept, b->n_kept) &
           CHECK_EQ_I64(a->best_round, b->best_round) & CHECK_EQ_I64(a->n_log, b->n_log);
  for (int32_t s = 0; ok && s < a->n_data; s++)
    ok &= CHECK_EQ_BYTES(a->score[s], b->score[s], (size_t)a->n_score[s] * sizeof(double));
  ok = ok && CHECK_EQ_BYTES(a->kept, b->kept, (size_t)a->n_kept * sizeof(double));
  return ok && CHECK_EQ_BYTES(a->log, b->log, (size_t)a->n_log * sizeof(double));
}

/* ---- trainings in parts ---- */

/* A note that says after how many rounds it was written. */
static int note_says(const uint8_t *note, size_t n, int64_t rounds) {
  char text[32];
  const int length = snprintf(text, sizeof text, "after %d", (int)rounds);
  return CHECK_EQ_I64(n, length) && CHECK_EQ_BYTES(note, text, (size_t)length);
}

gbt_status part_resume(gbt_ctx *ctx, gbt_trainer *tr, const char *path) {
  uint8_t *note;
  size_t n_note;
  GBT_TRY(gbt_trainer_resume(ctx, tr, path, &note, &n_note, test_err));
  note_says(note, n_note, gbt_trainer_rounds(tr));
  gbt_mem_free(&ctx->mem, note);
  return GBT_OK;
}

gbt_status part_save(gbt_ctx *ctx, const gbt_trainer *tr, const char *path) {
  char text[32];
  const int n = snprintf(text, sizeof text, "after %d", (int)gbt_trainer_rounds(tr));
  return gbt_trainer_save(ctx, tr, path, text, (size_t)n, test_err);
}

int part_run(const train_job *job, const part_place *where, part_outcome *out) {
  gbt_ctx ctx = test_ctx(NULL, where->threads);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why = GBT_RUN_DONE;
  train_job rest = *job;
  int ok = job_open(&ctx, job, where->page_rows, &spec);
  spec.checkpoints = 1;
  spec.device = where->device;
  ok = ok && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err));
  if (ok && where->from != NULL) ok = CHECK_OK(part_resume(&ctx, tr, where->from));
  if (ok) {
    rest.rounds = where->last - gbt_trainer_rounds(tr);
    ok = rest.rounds == 0 || train_rounds(&ctx, &rest, tr, &why);
  }
  if (ok && where->to != NULL) ok = CHECK_OK(part_save(&ctx, tr, where->to));
  if (ok && where->to == NULL) *out = outcome_of(&ctx, &spec, tr);
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return ok;
}
