/* Trainings that were stopped after any round, kept in a file and resumed under other circumstances: forests, scores
 * and logs are those of trainings that ran through. Files that are damaged, cut short, of other trainings or not to be
 * written are reported by name, and the file before stays. */
#include <stdio.h>

#include "../../src/gbt/base/file.h"
#include "../../src/gbt/bytes/parts.h"
#include "../../src/gbt/encode/encode.h"
#include "../../src/gbt/math/sampling.h"
#include "checkpoint_job.h"
#include "fault.h"
#include "mutate.h"
#include "port.h"

enum { ROUNDS = 5 };

typedef struct seen {
  int64_t ordered, statistics, sampled, outputs, custom, stopped, splits, schedules;
} seen;

static void draw_statistics(random_job *r, uint8_t *method) {
  for (int32_t c = 0; c < r->data->table.n_cols; c++)
    method[c] = r->data->table.cols[c].type == GBT_CATEGORICAL ? GBT_CAT_TARGET : GBT_CAT_AUTO;
  r->job.spec.cat_method = method;
}

/* A metric that suits, and early stopping that never comes. */
static void watch(gbt_trainer_spec *spec) {
  gbt_metric metric = {.kind = 0, .param = NAN};
  gbt_error no;
  while (metric.kind < GBT_N_METRICS && gbt_metric_check(&metric, &spec->objective, &no) != GBT_OK) metric.kind++;
  if (metric.kind == GBT_N_METRICS) return;
  spec->metric[0] = metric;
  spec->n_metrics = 1;
  spec->stop_rounds = 100;
  spec->keep_best = 1;
}

static void resumed_trainings_are_those_that_ran_through(void) {
  seen s = {0};
  for (uint64_t seed = 1; seed <= test_cases(60) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 300);
    const char *path = part_path();
    uint8_t method[64];
    part_outcome whole;
    r.job.rounds = ROUNDS;
    if (r.job.custom == NULL && seed % 3 == 0) draw_statistics(&r, method);
    if (r.job.custom == NULL && seed % 5 == 0) random_job_order(&r);
    if (r.job.spec.n_valid > 0 && seed % 2) watch(&r.job.spec);
    const part_place through = {.threads = 1 + (int)(seed % 3), .page_rows = r.how.page_rows, .last = ROUNDS};
    if (!part_run(&r.job, &through, &whole)) break;
    for (int64_t stop = 0; stop <= ROUNDS; stop++) {
      part_outcome resumed;
      const part_place first = {.threads = 2, .page_rows = 100, .to = path, .last = stop};
      const part_place second = {
          .threads = 1 + (int)(stop % 3), .from = path, .to = path, .last = (stop + ROUNDS + 1) / 2};
      const part_place third = {.threads = 3, .page_rows = 33, .from = path, .last = ROUNDS};
      if (!part_run(&r.job, &first, NULL) || !part_run(&r.job, &second, NULL) ||
          !part_run(&r.job, &third, &resumed))
        break;
      if (!part_outcomes_same(&whole, &resumed)) random_job_tell(&r, seed);
      part_outcome_free(&resumed);
    }
    s.ordered += r.job.spec.params.boosting == GBT_BOOSTING_ORDERED;
    s.statistics += r.job.spec.cat_method != NULL;
    s.sampled += r.job.spec.params.sampling_method != GBT_SAMPLE_UNIFORM;
    s.outputs += r.job.spec.objective.n_outputs > 1;
    s.custom += r.job.custom != NULL;
    s.stopped += r.job.spec.keep_best > 0;
    s.schedules += r.job.spec.eta != NULL;
    s.splits += (int64_t)whole.forest->n_nodes / 2;
    part_outcome_free(&whole);
    gbt_file_remove(path);
    random_job_free(&r);
  }
  test_note("%" PRId64 " splits; %" PRId64 " ordered, %" PRId64 " with statistics, %" PRId64 " sampled, %" PRId64
            " of several outputs, %" PRId64 " custom, %" PRId64 " watched, %" PRId64 " with etas by round",
            s.splits, s.ordered, s.statistics, s.sampled, s.outputs, s.custom, s.stopped, s.schedules);
  CHECK_SEEN(s.splits > 1000 && s.ordered > 4 && s.statistics > 8 && s.sampled > 4 && s.outputs > 4 && s.custom > 4 &&
        s.stopped > 8 && s.schedules > 8);
}

/* ---- what goes wrong ---- */

typedef struct pair {
  random_job r;
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr;
} pair;

static int pair_open(pair *p, uint64_t seed) {
  p->r = random_job_make(seed, 200);
  p->ctx = test_ctx(NULL, 1);
  p->tr = NULL;
  const int ok = job_open(&p->ctx, &p->r.job, 0, &p->spec);
  p->spec.checkpoints = 1;
  return ok && CHECK_OK(gbt_trainer_new(&p->ctx, &p->spec, &p->tr, test_err));
}

static void pair_close(pair *p) {
  gbt_trainer_free(p->tr);
  job_close(&p->spec);
  gbt_ctx_close(&p->ctx);
  random_job_free(&p->r);
}

static gbt_trainer *fresh(pair *p) {
  gbt_trainer *tr = NULL;
  CHECK_OK(gbt_trainer_new(&p->ctx, &p->spec, &tr, test_err));
  return tr;
}

static uint8_t *read_file(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  CHECK(f != NULL);
  fseek(f, 0, SEEK_END);
  *n = (size_t)ftell(f);
  rewind(f);
  uint8_t *bytes = test_alloc(*n);
  CHECK(fread(bytes, 1, *n, f) == *n);
  fclose(f);
  return bytes;
}

static void write_file(const char *path, const uint8_t *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  CHECK(f != NULL && fwrite(bytes, 1, n, f) == n);
  fclose(f);
}

static void check_refused(pair *p, const char *path, gbt_status code, const char *part) {
  uint8_t *note;
  size_t n;
  gbt_trainer *tr = fresh(p);
  CHECK_FAILS(gbt_trainer_resume(&p->ctx, tr, path, &note, &n, test_err), code, part);
  CHECK(note == NULL && gbt_trainer_rounds(tr) == 0);
  gbt_trainer_free(tr);
}

/* Every byte of a file, and every length. */
static void damaged_files_are_refused(void) {
  pair p;
  const char *path = part_path();
  gbt_stop_reason why;
  if (!pair_open(&p, 3)) return;
  p.r.job.rounds = 2;
  CHECK(train_rounds(&p.ctx, &p.r.job, p.tr, &why));
  CHECK_OK(part_save(&p.ctx, p.tr, path));
  size_t n;
  uint8_t *bytes = read_file(path, &n);
  gbt_trainer *tr = fresh(&p);
  for (size_t at = 0; at < n; at += 1 + n / test_cases(1500)) {
    uint8_t *note;
    size_t n_note;
    bytes[at] ^= (uint8_t)(1u << (at % 8));
    write_file(path, bytes, n);
    const gbt_status status = gbt_trainer_resume(&p.ctx, tr, path, &note, &n_note, test_err);
    CHECK(status == GBT_E_FORMAT || status == GBT_E_IO || status == GBT_E_ARG);
    CHECK(strstr(test_err->msg, path) != NULL);
    CHECK_EQ_I64(gbt_trainer_rounds(tr), 0);
    bytes[at] ^= (uint8_t)(1u << (at % 8));
    write_file(path, bytes, at); /* cut short */
    CHECK(gbt_trainer_resume(&p.ctx, tr, path, &note, &n_note, test_err) != GBT_OK);
  }
  write_file(path, bytes, n);
  CHECK_OK(part_resume(&p.ctx, tr, path)); /* none of that has hurt the trainer */
  gbt_trainer_free(tr);
  gbt_file_remove(path);
  check_refused(&p, path, GBT_E_IO, "cannot open");
  free(bytes);
  pair_close(&p);
}

enum { MOST_PARTS = 256 };

enum { PART_FOREST = 3, WHOLE_PART = -1 };

/* The file with other bytes at this place of a part, or of a section of the forest, and checksums that say so. */
static void forge(const uint8_t *bytes, const char *path, size_t which, int section, size_t at, const void *with,
                  size_t n_with) {
  const gbt_mem mem = gbt_mem_default();
  gbt_parts_head head;
  gbt_parts_reader r;
  gbt_parts_writer w;
  uint8_t *part[MOST_PARTS];
  uint64_t n[MOST_PARTS];
  memcpy(&head, bytes, sizeof head);
  REQUIRE(head.n_parts <= MOST_PARTS);
  REQUIRE_OK(gbt_parts_open(&mem, path, head.magic, head.version, &r, test_err));
  for (uint64_t p = 0; p < head.n_parts; p++) {
    REQUIRE_OK(gbt_parts_next(&r, &n[p], test_err));
    part[p] = test_alloc((size_t)n[p] + 1);
    REQUIRE_OK(gbt_parts_take(&r, part[p], n[p], test_err));
  }
  gbt_parts_close(&r);
  if (section != WHOLE_PART) at += (size_t)section_of(part[which], (gbti_section_id)section).beg;
  REQUIRE(at + n_with <= n[which]);
  memcpy(part[which] + at, with, n_with);
  REQUIRE_OK(gbt_parts_begin(&mem, path, head.magic, head.version, head.identity, &w, test_err));
  for (uint64_t p = 0; p < head.n_parts; p++) {
    CHECK_OK(gbt_parts_put(&w, part[p], n[p], test_err));
    free(part[p]);
  }
  CHECK_OK(gbt_parts_end(&w, test_err));
  gbt_parts_drop(&w);
}

/* Counts that the parts do not have are reported before there is memory for them, whatever checksums say. */
static void wrong_counts_are_refused(void) {
  /* rounds, best and kept round, trees */
  static const size_t at[] = {0, 16, 24, 40};
  static const uint64_t count[] = {77, UINT64_C(1) << 33, UINT64_C(1) << 61, UINT64_C(1) << 63, UINT64_MAX};
  pair p;
  const char *path = part_path();
  gbt_stop_reason why;
  size_t n;
  if (!pair_open(&p, 3)) return;
  p.r.job.rounds = 2;
  CHECK(train_rounds(&p.ctx, &p.r.job, p.tr, &why));
  CHECK_OK(part_save(&p.ctx, p.tr, path));
  uint8_t *bytes = read_file(path, &n);
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
      forge(bytes, path, 0, WHOLE_PART, at[i], &count[k], sizeof count[k]);
      check_refused(&p, path, GBT_E_FORMAT, "is damaged; remove it");
      write_file(path, bytes, n);
    }
  gbt_trainer *tr = fresh(&p);
  CHECK_OK(part_resume(&p.ctx, tr, path));
  gbt_trainer_free(tr);
  gbt_file_remove(path);
  free(bytes);
  pair_close(&p);
}

static void check_forged(pair *p, const uint8_t *bytes, size_t n, const char *path, gbti_section_id section,
                         size_t at, const void *with, size_t n_with) {
  forge(bytes, path, PART_FOREST, (int)section, at, with, n_with);
  check_refused(p, path, GBT_E_FORMAT, "is damaged");
  write_file(path, bytes, n);
}

/* One fault of each kind, with checksums that are right; of a forest with a split. 1: so it was. */
static int forge_faults(pair *p, const uint8_t *bytes, size_t n, const char *path) {
  const gbt_forest_view *forest = gbt_trainer_trees(p->tr);
  const uint32_t zero = 0, seven = 77, far = UINT32_MAX, feature = GBT_NODE_FEATURE;
  const uint64_t one = 1;
  const double nan = NAN;
  size_t split = 0, leaf = 0;
  while (split < forest->n_nodes && forest->nodes[split].left == 0) split++;
  while (leaf < forest->n_nodes && forest->nodes[leaf].left != 0) leaf++;
  if (split == forest->n_nodes) return 0;
  const size_t of_split = split * sizeof(gbt_node), of_leaf = leaf * sizeof(gbt_node);
  const size_t feat = offsetof(gbt_node, feat), left = offsetof(gbt_node, left);
  for (size_t k = 0; k < 4; k++) check_forged(p, bytes, n, path, GBTI_SEC_NUMBERS, 4 * k, &seven, sizeof seven);
  check_forged(p, bytes, n, path, GBTI_SEC_BASE, 0, &nan, sizeof nan);
  check_forged(p, bytes, n, path, GBTI_SEC_TREES, offsetof(gbt_tree, node_beg), &one, sizeof one);
  check_forged(p, bytes, n, path, GBTI_SEC_TREES, offsetof(gbt_tree, n_nodes), &zero, sizeof zero);
  check_forged(p, bytes, n, path, GBTI_SEC_TREES, offsetof(gbt_tree, n_words), &far, sizeof far);
  check_forged(p, bytes, n, path, GBTI_SEC_NODES, of_split + left, &far, sizeof far);
  check_forged(p, bytes, n, path, GBTI_SEC_NODES, of_split + left, &zero, sizeof zero);
  check_forged(p, bytes, n, path, GBTI_SEC_NODES, of_split + feat, &feature, sizeof feature);
  check_forged(p, bytes, n, path, GBTI_SEC_NODES, of_leaf + left, &far, sizeof far);
  check_forged(p, bytes, n, path, GBTI_SEC_NODES, of_leaf + feat, &far, sizeof far);
  check_forged(p, bytes, n, path, GBTI_SEC_NODES, of_leaf, &nan, sizeof nan);
  check_forged(p, bytes, n, path, GBTI_SEC_GAIN, of_leaf / 2, &nan, sizeof nan);
  check_forged(p, bytes, n, path, GBTI_SEC_COVER, of_leaf / 2, &nan, sizeof nan);
  return 1;
}

static void forged_forests_are_refused(void) {
  const char *path = part_path();
  int n_forged = 0;
  for (uint64_t seed = 1; seed <= 12 && test_n_bad() == 0; seed++) {
    pair p;
    gbt_stop_reason why;
    size_t n;
    if (!pair_open(&p, seed)) return;
    p.r.job.rounds = 2;
    CHECK(train_rounds(&p.ctx, &p.r.job, p.tr, &why));
    CHECK_OK(part_save(&p.ctx, p.tr, path));
    uint8_t *bytes = read_file(path, &n);
    n_forged += forge_faults(&p, bytes, n, path);
    gbt_trainer *tr = fresh(&p);
    CHECK_OK(part_resume(&p.ctx, tr, path)); /* as it was written */
    gbt_trainer_free(tr);
    gbt_file_remove(path);
    free(bytes);
    pair_close(&p);
  }
  CHECK(n_forged > 6);
}

/* Bytes of each part of a file. */
static int part_sizes(const uint8_t *bytes, size_t n, uint64_t size[MOST_PARTS]) {
  size_t at = sizeof(gbt_parts_head);
  int count = 0;
  for (; at + 24 <= n && count < MOST_PARTS; count++) {
    memcpy(&size[count], bytes + at + 8, 8);
    at += 24 + (size_t)((size[count] + 7) & ~(uint64_t)7);
  }
  return count;
}

/* Bytes that a stranger changed anywhere, with right checksums: the file is refused, or training goes on from it; under
 * a sanitizer nothing is read out of bounds. */
static void forged_bytes_are_refused_or_used(void) {
  static const uint64_t odd[] = {0, 1, 255, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, 0x7ff0000000000000u,
                                 0x7ff8000000000000u, 0x7fefffffffffffffu};
  const char *path = part_path();
  test_rng rng = {21};
  int n_used = 0, n_refused = 0;
  for (uint64_t seed = 1; seed <= 12 && test_n_bad() == 0; seed++) {
    pair p;
    gbt_stop_reason why;
    size_t n;
    uint64_t size[MOST_PARTS];
    if (!pair_open(&p, seed)) return;
    p.r.job.rounds = 2;
    CHECK(train_rounds(&p.ctx, &p.r.job, p.tr, &why));
    CHECK_OK(part_save(&p.ctx, p.tr, path));
    uint8_t *bytes = read_file(path, &n);
    const int parts = part_sizes(bytes, n, size);
    for (uint64_t c = 0; c < test_cases(60); c++) {
      const int which = (int)test_below(&rng, parts), whole = (int)test_below(&rng, 2);
      const uint64_t value = test_below(&rng, 2) ? odd[test_below(&rng, sizeof odd / sizeof *odd)] : test_u(&rng);
      if (size[which] < 8) continue;
      write_file(path, bytes, n);
      const size_t at = (size_t)test_below(&rng, (int64_t)size[which] / 8) * 8;
      forge(bytes, path, (size_t)which, WHOLE_PART, at, &value, whole ? 8 : 1);
      gbt_trainer *tr = fresh(&p);
      uint8_t *note;
      size_t n_note;
      const gbt_status status = gbt_trainer_resume(&p.ctx, tr, path, &note, &n_note, test_err);
      n_used += status == GBT_OK;
      n_refused += status != GBT_OK;
      if (status == GBT_OK) {
        const gbt_mem mem = p.ctx.mem;
        gbt_mem_free(&mem, note);
        const gbt_status end = gbt_trainer_run(&p.ctx, tr, 1, &why, test_err);
        CHECK(end == GBT_OK || test_err->msg[0] != 0);
      }
      gbt_trainer_free(tr);
    }
    gbt_file_remove(path);
    free(bytes);
    pair_close(&p);
  }
  CHECK(n_used > 10 && n_refused > 10);
}

static void other_trainings_are_refused(void) {
  pair p;
  const char *path = part_path();
  if (!pair_open(&p, 8)) return;
  CHECK_OK(part_save(&p.ctx, p.tr, path));
  const gbt_trainer_spec own = p.spec;
  p.spec.params.seed++;
  check_refused(&p, path, GBT_E_ARG, "belongs to another training");
  p.spec = own;
  p.spec.params.eta *= 0.5;
  check_refused(&p, path, GBT_E_ARG, "belongs to another training");
  p.spec = own;
  const double none = 0.25;
  p.spec.eta = &none, p.spec.n_eta = 1; /* no round is done yet: the values to come may be others */
  gbt_trainer *other = fresh(&p);
  CHECK_OK(part_resume(&p.ctx, other, path));
  gbt_trainer_free(other);
  p.spec = own;
  p.spec.params.hist_memory = 7; /* does not show */
  p.spec.max_seconds = 1e6;
  gbt_trainer *tr = fresh(&p);
  CHECK_OK(part_resume(&p.ctx, tr, path));
  gbt_trainer_free(tr);
  p.spec = own;
  double *label = test_alloc((size_t)p.spec.train->rows.n * sizeof *label);
  const double *before = p.spec.train->rows.field[GBT_LABEL];
  memcpy(label, before, (size_t)p.spec.train->rows.n * sizeof *label);
  label[p.spec.train->rows.n - 1] = label[0] + (label[0] == 0.0 ? 1.0 : -label[0]);
  if (memcmp(label, before, (size_t)p.spec.train->rows.n * sizeof *label) != 0) {
    p.spec.train->rows.field[GBT_LABEL] = label;
    check_refused(&p, path, GBT_E_ARG, "belongs to another training");
    p.spec.train->rows.field[GBT_LABEL] = before;
  }
  free(label);
  gbt_file_remove(path);
  pair_close(&p);
}

/* Of shrinkages by round those of the rounds that are done must be the same, those to come may differ. */
/* One array of an initial model, and the scores that it gives to rows: another value is another training. */
static void change_is_refused(pair *p, const char *path, void *array, size_t n_bytes) {
  uint8_t *last = (uint8_t *)array + n_bytes - 1;
  *last ^= 1;
  check_refused(p, path, GBT_E_ARG, "belongs to another training");
  *last ^= 1;
  gbt_trainer *same = fresh(p);
  CHECK_OK(part_resume(&p->ctx, same, path));
  gbt_trainer_free(same);
}

static void other_initial_models_are_refused(void) {
  pair p;
  const char *path = part_path();
  gbt_stop_reason why;
  const double *scores;
  if (!pair_open(&p, 3)) return;
  p.r.job.rounds = 2;
  CHECK(train_rounds(&p.ctx, &p.r.job, p.tr, &why));
  gbt_forest_view init = gbt_forest_view_of(gbt_trainer_forest(p.tr));
  const size_t cells = (size_t)(p.spec.train->rows.n * p.spec.objective.n_outputs) * sizeof(double);
  double *score = test_alloc(cells), *valid[GBT_MAX_VALID];
  CHECK_OK(gbt_trainer_scores(&p.ctx, p.tr, 0, &scores, test_err));
  memcpy(score, scores, cells);
  p.spec.init = &init, p.spec.init_eta = p.spec.params.eta, p.spec.init_score = score;
  for (int32_t i = 0; i < p.spec.n_valid; i++) {
    const size_t n = (size_t)(p.spec.valid[i]->rows.n * p.spec.objective.n_outputs) * sizeof(double);
    valid[i] = test_alloc(n);
    CHECK_OK(gbt_trainer_scores(&p.ctx, p.tr, 1 + i, &scores, test_err));
    memcpy(valid[i], scores, n);
    p.spec.init_valid[i] = valid[i];
  }
  gbt_trainer *begun = fresh(&p);
  CHECK_OK(part_save(&p.ctx, begun, path));
  gbt_trainer_free(begun);
  CHECK(init.n_nodes > 1 && p.spec.n_valid > 0);
  change_is_refused(&p, path, score, cells);
  change_is_refused(&p, path, valid[0], sizeof(double));
  change_is_refused(&p, path, (void *)(uintptr_t)init.gain, init.n_nodes * sizeof *init.gain);
  change_is_refused(&p, path, (void *)(uintptr_t)init.cover, init.n_nodes * sizeof *init.cover);
  change_is_refused(&p, path, (void *)(uintptr_t)init.count, init.n_nodes * sizeof *init.count);
  change_is_refused(&p, path, (void *)(uintptr_t)&init.nodes[init.n_nodes - 1].arg, sizeof(double));
  for (int32_t i = 0; i < p.spec.n_valid; i++) free(valid[i]);
  free(score);
  gbt_file_remove(path);
  pair_close(&p);
}

static void other_shrinkages_are_refused(void) {
  pair p;
  const char *path = part_path();
  const double was[3] = {0.5, 0.3, 0.2}, later[3] = {0.5, 0.3, 0.1}, other[3] = {0.5, 0.25, 0.2};
  gbt_stop_reason why;
  if (!pair_open(&p, 3)) return;
  gbt_trainer_free(p.tr);
  p.spec.eta = was, p.spec.n_eta = 3;
  p.tr = fresh(&p);
  p.r.job.rounds = 2;
  CHECK(train_rounds(&p.ctx, &p.r.job, p.tr, &why));
  CHECK_OK(part_save(&p.ctx, p.tr, path));
  p.spec.eta = other;
  check_refused(&p, path, GBT_E_ARG, "`eta` of round 2 was 0.3 and is 0.25 now");
  p.spec.eta = later;
  gbt_trainer *tr = fresh(&p);
  CHECK_OK(part_resume(&p.ctx, tr, path));
  CHECK_EQ_I64(gbt_trainer_rounds(tr), 2);
  gbt_trainer_free(tr);
  p.spec.eta = NULL; /* a file with other values than the parameter */
  check_refused(&p, path, GBT_E_ARG, "`eta` of round");
  gbt_file_remove(path);
  pair_close(&p);
}

/* Saves and resumes, each with one allocation after the other failing; the file before stays. */
typedef struct without_memory {
  pair *p;
  const char *path;
} without_memory;

static gbt_status save_and_resume(const gbt_mem *mem, void *arg, gbt_error *err) {
  const without_memory *w = arg;
  const gbt_trainer_spec *spec = &w->p->spec;
  gbt_trainer *tr = NULL;
  gbt_ctx ctx;
  uint8_t *note = NULL;
  size_t n_note = 0;
  gbt_stop_reason why;
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = gbt_trainer_new(&ctx, spec, &tr, err);
  if (status == GBT_OK) status = gbt_trainer_resume(&ctx, tr, w->path, &note, &n_note, err);
  CHECK(status == GBT_OK || note == NULL);
  if (status == GBT_OK) status = gbt_trainer_run(&ctx, tr, 1, &why, err);
  if (status == GBT_OK) status = gbt_trainer_save(&ctx, tr, w->path, note, n_note, err);
  CHECK(gbt_file_is_there(w->path));
  gbt_mem_free(mem, note);
  gbt_trainer_free(tr);
  gbt_ctx_close(&ctx);
  return status;
}

static void every_allocation_may_fail(void) {
  const char *path = part_path();
  pair p;
  gbt_stop_reason why;
  if (!pair_open(&p, 2)) return;
  CHECK(p.r.job.custom == NULL);
  p.r.job.rounds = 1;
  CHECK(train_rounds(&p.ctx, &p.r.job, p.tr, &why));
  CHECK_OK(part_save(&p.ctx, p.tr, path));
  without_memory w = {&p, path};
  CHECK(fault_sweep(save_and_resume, &w) > 30);
  gbt_file_remove(path);
  pair_close(&p);
}

static void files_that_cannot_be_written(void) {
  pair p;
  char path[600], unfinished[620];
  const char *folder = part_path();
  size_t n, m;
  if (!pair_open(&p, 5)) return;
  snprintf(path, sizeof path, "%s/x", folder);
  snprintf(unfinished, sizeof unfinished, "%s.new", path);
  CHECK_FAILS(part_save(&p.ctx, p.tr, path), GBT_E_IO, path); /* there is no such folder */
  CHECK(port_make_folder(folder) == 0);
  CHECK_OK(part_save(&p.ctx, p.tr, path));
  CHECK(!gbt_file_is_there(unfinished));
  uint8_t *bytes = read_file(path, &n);
  write_file(unfinished, bytes, n / 2); /* what a killed training leaves */
  CHECK_OK(part_save(&p.ctx, p.tr, path));
  uint8_t *again = read_file(path, &m);
  CHECK(n == m && memcmp(bytes, again, n) == 0);
  CHECK(!gbt_file_is_there(unfinished));
  CHECK(port_make_folder(unfinished) == 0); /* the draft's name is taken: the file before stays */
  CHECK_FAILS(part_save(&p.ctx, p.tr, path), GBT_E_IO, unfinished);
  CHECK(port_remove_folder(unfinished) == 0);
  free(again);
  again = read_file(path, &m);
  CHECK(n == m && memcmp(bytes, again, n) == 0);
  free(bytes), free(again);
  gbt_file_remove(path);
  CHECK(port_remove_folder(folder) == 0);
  pair_close(&p);
}

/* A pipe without another end, which would keep a plain open() waiting, is refused wherever a file is expected, and so
 * is a draft that is a link to another program's file, or its second name. */
static void pipes_and_links_are_refused(void) {
  const gbt_mem mem = gbt_mem_default();
  const char *path = part_path();
  char unfinished[620], other[620], word[6] = "";
  gbt_file file;
  gbt_parts_reader r;
  gbt_parts_writer w;
  snprintf(unfinished, sizeof unfinished, "%s.new", path);
  snprintf(other, sizeof other, "%s.other", path);
  if (port_make_pipe(path)) {
    CHECK_FAILS(gbt_file_open(&mem, path, &file, test_err), GBT_E_IO, "is not a file");
    CHECK_FAILS(gbt_file_draft(&mem, path, &file, test_err), GBT_E_IO, "is not a file");
    CHECK_FAILS(gbt_parts_open(&mem, path, "testfile", 3, &r, test_err), GBT_E_IO, "is not a file");
    gbt_parts_close(&r);
    CHECK(gbt_os_remove(path) == 0);
  } else {
    test_note("there are no pipes with names of files here");
  }
  CHECK_FAILS(gbt_file_open(&mem, port_nowhere(), &file, test_err), GBT_E_IO, "is not a file");
  CHECK_FAILS(gbt_file_open(&mem, "/", &file, test_err), GBT_E_IO, "is not a file");
  write_file(other, (const uint8_t *)"other", 5);
  for (int hard = 0; hard < 2; hard++) {
    if (!port_make_link(other, unfinished, hard)) {
      test_note("this user may make no %s links here", hard ? "hard" : "symbolic");
      continue;
    }
    CHECK_FAILS(gbt_parts_begin(&mem, path, "testfile", 3, 42, &w, test_err), GBT_E_IO, unfinished);
    gbt_parts_drop(&w);
    REQUIRE_OK(gbt_file_open(&mem, other, &file, test_err));
    CHECK_OK(gbt_file_read(&file, 0, word, 5, test_err));
    CHECK_EQ_TEXT(word, "other");
    gbt_file_close(&file);
    CHECK(gbt_os_remove(unfinished) == 0);
  }
  gbt_file_remove(other);
}

void suite_checkpoint(void) {
  RUN(resumed_trainings_are_those_that_ran_through);
  RUN(damaged_files_are_refused);
  RUN(wrong_counts_are_refused);
  RUN(forged_forests_are_refused);
  RUN(forged_bytes_are_refused_or_used);
  RUN(other_trainings_are_refused);
  RUN(other_initial_models_are_refused);
  RUN(other_shrinkages_are_refused);
  RUN(every_allocation_may_fail);
  RUN(files_that_cannot_be_written);
  RUN(pipes_and_links_are_refused);
}
