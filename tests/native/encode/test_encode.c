/* Statistics of categories in whole data sets: bins against their definition, row by row; trainings that are the same
 * whatever the circumstances; scores of validation sets against predictions by the tables. */
#include "../../src/gbt/data/level_ids.h"
#include "../../src/gbt/encode/encode.h"
#include "../../src/gbt/encode/keys.h"
#include "../../src/gbt/encode/ordered.h"
#include "../../src/gbt/encode/plan.h"
#include "../../src/gbt/model/predict.h"
#include "../../src/gbt/schema/schema_impl.h"
#include "fault.h"
#include "random_job.h"
#include "ranks_job.h"
#include "stores.h"

enum { JOBS = 80 };

/* A random training whose factors are derived from. */
typedef struct encode_job {
  random_job random;
  uint8_t *method; /* by column */
} encode_job;

/* Classes and shares have no quartiles. */
static int labels_are_numbers(const gbt_objective *objective) {
  const gbt_label_rule rule = gbt_objective_info_of(objective->kind)->labels;
  return rule != GBT_LABELS_CLASS && rule != GBT_LABELS_BINARY && rule != GBT_LABELS_SHARE;
}

static encode_job encode_job_make(uint64_t seed, int64_t rows) {
  encode_job e = {.random = random_job_make(seed, rows)};
  test_rng rng = {seed};
  gbt_trainer_spec *spec = &e.random.job.spec;
  const gbt_table *table = &e.random.data->table;
  e.method = test_alloc((size_t)table->n_cols + 1);
  for (int32_t c = 0; c < table->n_cols; c++) {
    e.method[c] = GBT_CAT_AUTO;
    if (table->cols[c].type != GBT_CATEGORICAL) continue;
    e.method[c] = (uint8_t)(test_below(&rng, 1 << GBT_N_CAT_METHODS) | (test_below(&rng, 4) > 0 ? GBT_CAT_TARGET : 0));
    if (!labels_are_numbers(&spec->objective)) e.method[c] &= (uint8_t)~GBT_CAT_QUARTILES;
  }
  spec->cat_method = e.method;
  spec->params.max_cat_combine = 1 + test_below(&rng, 3);
  spec->params.cat_permutations = 1 + test_below(&rng, 2);
  spec->params.cat_prior = test_below(&rng, 2) ? 1.0 : 10.0;
  spec->params.cat_bins = test_below(&rng, 2) ? 7 : 255;
  return e;
}

/* ---- bins ---- */

/* Levels of the rows in the columns of a projection. */
typedef struct row_levels {
  uint32_t *level[GBT_MOST_COMBINED];
  int32_t n_cols;
} row_levels;

static row_levels levels_of(gbt_ctx *ctx, const gbt_dataset *ds, const gbt_projection *proj) {
  row_levels out = {.n_cols = proj->n_cols};
  for (int32_t i = 0; i < proj->n_cols; i++) {
    out.level[i] = test_alloc((size_t)(gbt_pages_n_rows(ds->pages) + 1) * sizeof **out.level);
    CHECK_OK(gbti_level_ids(ctx, ds, proj->col[i], out.level[i], test_err));
  }
  return out;
}

static void drop_levels(row_levels *l) {
  for (int32_t i = 0; i < l->n_cols; i++) free(l->level[i]);
}

static int same_key(const row_levels *a, int64_t i, const row_levels *b, int64_t k) {
  for (int32_t c = 0; c < a->n_cols; c++)
    if (a->level[c][i] != b->level[c][k]) return 0;
  return 1;
}

static int64_t rows_like(const row_levels *a, int64_t i, const row_levels *train, int64_t n) {
  int64_t found = 0;
  for (int64_t k = 0; k < n; k++) found += same_key(a, i, train, k);
  return found;
}

/* Rows of combinations that occur once share a key. */
static int same_place(const row_levels *l, int64_t i, int64_t k, const int64_t *like) {
  return same_key(l, i, l, k) || (l->n_cols > 1 && like[i] < 2 && like[k] < 2);
}

static uint32_t value_by_hand(const gbti_target *t, const gbti_part *part, const uint8_t *counts, int64_t n,
                              double rows) {
  int64_t s = 0, w = 0;
  const int64_t a = gbti_prior_weight(t, rows);
  for (int64_t p = 0; p < n; p++) {
    if (!counts[p]) continue;
    const int64_t weight = t->weight != NULL ? (int64_t)t->weight[p] : t->one;
    s += weight * (int64_t)part->scale * gbti_part_code(part, t->label[p]);
    w += weight;
  }
  return (uint32_t)((s + a * (int64_t)part->prior) / (w + a));
}

/* Places in base order that a variant visits before the step of `place`; without steps, before the place itself. */
static void mark_before(const gbti_visit *v, int32_t variant, int64_t place, uint8_t *before) {
  memset(before, 0, (size_t)v->n);
  for (int b = 0; b < GBTI_VISIT_BLOCKS; b++) {
    const int64_t beg = v->block[v->order[variant][b]], end = v->block[v->order[variant][b] + 1];
    if (place < beg || place >= end) {
      for (int64_t p = beg; p < end; p++) before[p] = 1;
      continue;
    }
    for (int64_t p = beg; p < end; p++) before[p] = variant % 2 == 0 ? p < place : p > place;
    return;
  }
}

/* A derived feature of the target in all rows of all variants, and in the validation sets. */
static void check_target(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_dataset *const *data, int32_t n_data,
                         int32_t f, const gbti_visit *visit, const gbti_target *target, int64_t *n_checked) {
  const gbt_schema *schema = data[0]->cuts->schema;
  const gbt_feature *feat = &schema->feat[f];
  const int64_t n = data[0]->rows.n;
  row_levels l = levels_of(ctx, data[0]->base, &schema->proj[feat->projection]);
  const gbti_part *part = NULL;
  for (int32_t i = 0; i < target->n_parts; i++)
    if ((target->part[i].kind == GBTI_PART_NUMBER) == (feat->kind == GBT_FEATURE_TARGET_MEAN) &&
        (feat->kind == GBT_FEATURE_TARGET_MEAN || target->part[i].number == feat->part))
      part = &target->part[i];
  REQUIRE(part != NULL);
  int64_t *like = test_alloc((size_t)(n + 1) * sizeof *like), wrong = 0;
  uint8_t *counts = test_alloc((size_t)n + 1), *bin_of = test_alloc(GBTI_N_VALUES);
  uint32_t *value[2], *count = test_alloc(GBTI_N_VALUES * sizeof *count), upper[GBTI_MOST_BINS];
  for (int64_t i = 0; i < n; i++) like[i] = rows_like(&l, i, &l, n);
  memset(count, 0, GBTI_N_VALUES * sizeof *count);
  for (int v = 0; v < data[0]->n_variants; v++) {
    value[v] = test_alloc((size_t)(n + 1) * sizeof **value);
    for (int64_t i = 0; i < n; i++) {
      mark_before(visit, v, visit->at[i], counts);
      for (int64_t p = 0; p < n; p++) counts[p] = (uint8_t)(counts[p] && same_place(&l, i, visit->row[p], like));
      value[v][i] = value_by_hand(target, part, counts, n, spec->params.cat_prior);
    }
  }
  for (int64_t i = 0; i < n; i++) count[value[0][i]]++; /* cuts are those of the first order */
  CHECK_EQ_I64(gbti_value_cuts(count, (int32_t)spec->params.cat_bins, bin_of, upper), feat->n_bins);
  for (int v = 0; v < data[0]->n_variants; v++) {
    for (int64_t i = 0; i < n; i++) wrong += code_at(data[0]->variant[v], data[0]->cuts, i, f) != bin_of[value[v][i]];
    free(value[v]);
  }
  for (int32_t s = 1; s < n_data; s++) {
    row_levels w = levels_of(ctx, data[s]->base, &schema->proj[feat->projection]);
    for (int64_t i = 0; i < data[s]->rows.n; i++) {
      int seen = rows_like(&w, i, &l, n) >= (l.n_cols > 1 ? 2 : 1);
      for (int32_t c = 0; c < w.n_cols; c++)
        seen &= w.level[c][i] <= (uint32_t)schema->col[schema->proj[feat->projection].col[c]].n_levels;
      for (int64_t p = 0; p < n; p++)
        counts[p] = (uint8_t)(seen ? same_key(&w, i, &l, visit->row[p]) : l.n_cols > 1 && like[visit->row[p]] < 2);
      wrong += code_at(data[s]->pages, data[s]->cuts, i, f) !=
               bin_of[value_by_hand(target, part, counts, n, spec->params.cat_prior)];
    }
    drop_levels(&w);
  }
  CHECK_EQ_I64(wrong, 0);
  *n_checked += n;
  drop_levels(&l);
  free(like);
  free(counts);
  free(bin_of);
  free(count);
}

/* Rows of a key as a bin: the same for the same number of rows, never falling with it. */
static void check_count(gbt_ctx *ctx, gbt_dataset *const *data, int32_t f) {
  const gbt_feature *feat = &data[0]->cuts->schema->feat[f];
  const int64_t n = data[0]->rows.n;
  row_levels l = levels_of(ctx, data[0]->base, &data[0]->cuts->schema->proj[feat->projection]);
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t rows = rows_like(&l, i, &l, n);
    const int32_t bin = code_at(data[0]->pages, data[0]->cuts, i, f);
    wrong += (bin > 0 && !((double)rows > feat->shown[bin - 1])) ||
             (bin < feat->n_bins - 1 && (double)rows > feat->shown[bin]);
    wrong += data[0]->n_variants > 1 && code_at(data[0]->variant[1], data[0]->cuts, i, f) != bin;
  }
  CHECK_EQ_I64(wrong, 0);
  drop_levels(&l);
}

/* Features seen, by what they are. */
typedef struct seen {
  int64_t targets, counts, pairs, triples; /* rows of statistics; features */
  char label[256];                         /* of the last combination */
} seen;

static void check_encoding(const train_job *job, int32_t page_rows, seen *s) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_trainer_spec spec;
  gbt_dataset *data[1 + JOB_VALID];
  REQUIRE(job_open(&ctx, job, page_rows, &spec));
  const gbt_schema *columns = spec.train->cuts->schema;
  uint8_t *chosen = test_alloc((size_t)columns->n_columns);
  data[0] = gbt_dataset_ref(spec.train);
  for (int32_t i = 0; i < spec.n_valid; i++) data[1 + i] = gbt_dataset_ref(spec.valid[i]);
  const gbti_wish wish = {spec.cat_method, spec.interact_beg, spec.interact_col, spec.n_interact, NULL};
  REQUIRE_OK(gbti_encode(&ctx, &spec.params, &spec.objective, &wish, data, 1 + spec.n_valid, chosen, test_err));
  for (int32_t c = 0; c < columns->n_columns; c++) {
    const uint8_t asked = spec.cat_method == NULL ? GBT_CAT_SETS : spec.cat_method[c];
    const int has_levels = columns->col[c].type == GBT_CATEGORICAL;
    CHECK_EQ_I64(chosen[c] != 0, has_levels);
    CHECK(asked == GBT_CAT_AUTO || !has_levels || chosen[c] == asked);
  }
  free(chosen);
  gbti_visit visit;
  gbti_target target;
  REQUIRE_OK(gbti_visit_make(&ctx, &data[0]->rows, (uint64_t)spec.params.seed, data[0]->n_variants, &visit, test_err));
  int quartiles = 0;
  for (int32_t c = 0; c < columns->n_columns; c++)
    quartiles |= spec.cat_method != NULL && (spec.cat_method[c] & GBT_CAT_QUARTILES) != 0;
  REQUIRE_OK(gbti_target_make(&ctx, &spec.objective, &data[0]->rows, &visit, quartiles,
                              spec.params.cat_prior, &target, test_err));
  const gbt_schema *schema = data[0]->cuts->schema;
  for (int32_t f = spec.train->cuts->n_features; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    CHECK(feat->n_bins >= 2 && feat->n_bins <= spec.params.cat_bins);
    s->pairs += schema->proj[feat->projection].n_cols == 2;
    s->triples += schema->proj[feat->projection].n_cols == 3;
    if (schema->proj[feat->projection].n_cols > 1) gbt_feature_label(schema, f, s->label, sizeof s->label);
    if (feat->kind == GBT_FEATURE_KEY_COUNT)
      check_count(&ctx, data, f), s->counts++;
    else
      check_target(&ctx, &spec, data, 1 + spec.n_valid, f, &visit, &target, &s->targets);
  }
  gbti_visit_free(&visit);
  gbti_target_free(&target);
  for (int32_t i = 0; i <= spec.n_valid; i++) gbt_dataset_unref(data[i]);
  job_close(&spec);
  gbt_ctx_close(&ctx);
}

static void bins_are_those_of_the_definition(void) {
  seen s = {.targets = 0};
  for (uint64_t seed = 1; seed <= test_cases(JOBS); seed++) {
    encode_job e = encode_job_make(seed, 150);
    check_encoding(&e.random.job, e.random.how.page_rows, &s);
    random_job_free(&e.random);
    free(e.method);
  }
  test_note("%" PRId64 " rows of statistics, %" PRId64 " counts", s.targets, s.counts);
  CHECK_SEEN(s.targets > 5000 && s.counts > 10);
}

/* ---- combinations ---- */

static int32_t code_of(const made *m, int32_t col, int64_t row) {
  return ((const int32_t *)m->table.cols[col].values)[row];
}

/* What the label depends on, and how strongly: the sum of some columns' codes modulo 2 and 3. */
static void label_by(made *m, uint64_t seed, int a, int b, int c) {
  test_rng rng = {seed};
  for (int64_t i = 0; i < m->table.n_rows; i++) {
    const int32_t sum = a * code_of(m, 0, i) + b * code_of(m, 1, i) + c * code_of(m, 2, i);
    m->label[i] = (a | b | c) == 0           ? (double)test_below(&rng, 2)
                  : test_below(&rng, 8) == 0 ? (double)test_below(&rng, 2)
                                             : (double)(sum & 1);
  }
}

static seen combinations_of(int a, int b, int c, int64_t most) {
  static const made_kind kinds[] = {MADE_FACTOR, MADE_FACTOR, MADE_FACTOR};
  static const uint8_t method[] = {GBT_CAT_TARGET, GBT_CAT_TARGET, GBT_CAT_TARGET};
  made *data = made_new(11, 700, 3, kinds), *valid = made_new(12, 60, 3, kinds);
  made_response(data, GBT_OBJ_LOGISTIC, 1, 3);
  made_response(valid, GBT_OBJ_LOGISTIC, 1, 3);
  label_by(data, 5, a, b, c);
  train_job job = job_make(data, GBT_OBJ_LOGISTIC, 1, 1);
  job.valid[0] = valid;
  job.spec.n_valid = 1;
  job.spec.cat_method = method;
  job.spec.params.max_cat_combine = most;
  seen s = {.targets = 0};
  check_encoding(&job, 100, &s);
  made_free(data);
  made_free(valid);
  return s;
}

/* T8 of the specification of statistics: combinations that say nothing, or no more than their columns do, are not made;
 * one that does is found. */
static void combinations_are_made_where_they_say_more(void) {
  for (int64_t most = 1; most <= 4; most++) {
    seen none = combinations_of(0, 0, 0, most), one = combinations_of(1, 0, 0, most),
         two = combinations_of(1, 0, 1, most);
    CHECK_EQ_I64(none.pairs + none.triples, 0);
    CHECK_EQ_I64(one.pairs + one.triples, 0);
    CHECK_EQ_I64(two.pairs, most > 1);
    CHECK_EQ_I64(two.triples, 0);
    if (most > 1) CHECK_EQ_TEXT(two.label, "mean(x1 x x3)");
  }
}

/* ---- trainings ---- */

/* What came out of a training. */
typedef struct outcome {
  uint64_t digest;
  double *score[1 + JOB_VALID];
  int64_t cells[1 + JOB_VALID], n_derived;
} outcome;

static void count_derived(const gbt_forest *forest, int32_t n_base, outcome *out) {
  for (size_t i = 0; i < forest->n_nodes; i++)
    out->n_derived += forest->nodes[i].left > 0 && (int32_t)(forest->nodes[i].feat & GBT_NODE_FEATURE) >= n_base;
}

/* Predictions by the tables are the scores of the validation sets. */
static void check_valid(gbt_ctx *ctx, const train_job *job, gbt_trainer *tr, const outcome *o) {
  const gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
  for (int32_t s = 0; s < job->spec.n_valid; s++) {
    gbt_binding *binding = NULL;
    double *out = test_alloc((size_t)(o->cells[1 + s] + 1) * sizeof *out);
    if (CHECK_OK(gbt_binding_new(ctx, &job->valid[s]->table, gbt_trainer_schema(tr), GBT_UNSEEN_MISSING, &binding,
                                 test_err)) &&
        CHECK_OK(gbt_predict_scores(ctx, &view, binding, (gbt_tree_range){0, view.n_trees}, job->valid[s]->offset, out,
                                    test_err)))
      CHECK_EQ_BYTES(out, o->score[1 + s], (size_t)o->cells[1 + s] * sizeof *out);
    gbt_binding_free(binding);
    free(out);
  }
}

static outcome run_job(const train_job *job, const train_how *how) {
  outcome out = {.digest = 0};
  gbt_trainer_spec spec;
  gbt_ctx ctx;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), how->threads, how->simd, NULL, NULL, test_err));
  const int opened = CHECK(job_open(&ctx, job, how->page_rows, &spec));
  spec.device = how->device;
  if (opened && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err)) && train_rounds(&ctx, job, tr, &why)) {
    out.digest = forest_digest(1, gbt_trainer_forest(tr));
    count_derived(gbt_trainer_forest(tr), spec.train->cuts->n_features, &out);
    for (int32_t s = 0; s <= spec.n_valid; s++) {
      const double *score = NULL;
      out.cells[s] = gbt_trainer_n_rows(tr, s) * spec.objective.n_outputs;
      out.score[s] = test_alloc((size_t)(out.cells[s] + 1) * sizeof **out.score);
      if (CHECK_OK(gbt_trainer_scores(&ctx, tr, s, &score, test_err)))
        memcpy(out.score[s], score, (size_t)out.cells[s] * sizeof *score);
    }
    check_valid(&ctx, job, tr, &out);
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return out;
}

static void drop_outcome(outcome *o) {
  for (int32_t s = 0; s <= JOB_VALID; s++) free(o->score[s]);
}

static void one_training(uint64_t seed, int64_t *n_derived) {
  static const train_how plain = {1, 0, GBT_SIMD_SCALAR, NULL};
  encode_job e = encode_job_make(seed, 400);
  if (seed % 4 == 0 && e.random.job.custom == NULL) random_job_order(&e.random);
  outcome a = run_job(&e.random.job, &plain);
  const store_kind before = stores_use(seed % 3 == 0 ? STORE_POISON : seed % 3 == 1 ? STORE_POISON_3 : STORE_MEMORY);
  outcome b = run_job(&e.random.job, &e.random.how);
  stores_use(before);
  int ok = CHECK(a.digest == b.digest && a.n_derived == b.n_derived);
  for (int32_t s = 0; s <= e.random.job.spec.n_valid; s++)
    ok &= CHECK_EQ_I64(a.cells[s], b.cells[s]) &&
          CHECK_EQ_BYTES(a.score[s], b.score[s], (size_t)a.cells[s] * sizeof **a.score);
  if (!ok) random_job_tell(&e.random, seed);
  *n_derived += a.n_derived;
  drop_outcome(&a);
  drop_outcome(&b);
  random_job_free(&e.random);
  free(e.method);
}

static void trainings_are_the_same_in_all_circumstances(void) {
  int64_t n_derived = 0;
  for (uint64_t seed = 1; seed <= test_cases(3 * JOBS); seed++) one_training(seed, &n_derived);
  test_note("%" PRId64 " splits by statistics", n_derived);
  CHECK_SEEN(n_derived > 500);
}

/* Whether a rank has the model of all rows, and its share of the scores. */
static int same_share(const shares *s, int rank, const ranked *o, const outcome *all) {
  const int32_t n_outputs = s->job->spec.objective.n_outputs;
  int ok = CHECK_EQ_I64(o->status, GBT_OK) && CHECK_EQ_U64(forest_digest(1, o->forest), all->digest);
  if (!ok) test_note("rank %d: %s", rank, o->err.msg);
  for (int32_t k = 0; k <= s->job->spec.n_valid && ok; k++) {
    const int64_t n = s->beg[k][rank + 1] - s->beg[k][rank], n_all = all->cells[k] / n_outputs;
    for (int32_t c = 0; c < n_outputs; c++)
      ok &=
          CHECK_EQ_BYTES(o->score[k] + c * n, all->score[k] + c * n_all + s->beg[k][rank], (size_t)n * sizeof(double));
  }
  return ok;
}

/* Models of shares of the rows are those of all rows. */
static void trainings_of_ranks(void) {
  int64_t n_derived = 0;
  for (uint64_t seed = 1; seed <= test_cases(JOBS / 2) && test_n_bad() == 0; seed++) {
    encode_job e = encode_job_make(seed, 300);
    const int size = 2 + (int)(seed % 3);
    outcome all = run_job(&e.random.job, &e.random.how);
    shares *s = shares_new(&e.random.job, size, seed, seed % 5 == 0);
    rank_how hows[RANKS_MOST];
    ranked out[RANKS_MOST];
    for (int r = 0; r < size; r++) hows[r] = rank_how_make(1 + r % 2, r == 1 ? 64 : 0);
    shares_train(s, hows, out);
    for (int r = 0; r < size; r++) {
      if (!same_share(s, r, &out[r], &all)) random_job_tell(&e.random, seed);
      ranked_free(&out[r]);
    }
    n_derived += all.n_derived;
    shares_free(s);
    drop_outcome(&all);
    random_job_free(&e.random);
    free(e.method);
  }
  test_note("%" PRId64 " splits by statistics", n_derived);
  CHECK_SEEN(n_derived > 10);
}

/* ---- the engine's choice ---- */

static void methods_by_size(void) {
  const unsigned both = GBT_CAT_SETS | GBT_CAT_TARGET, rare = GBT_CAT_TARGET | GBT_CAT_COUNT;
  for (int64_t rows = 1; rows < 100000000; rows *= 10)
    for (int64_t n = 0; n < 100000; n += 1 + n / 200) {
      const int large = n > 255 && rows >= 30 * n;
      const unsigned want = n <= 4 ? GBT_CAT_SETS : n > 65534 ? rare : large ? GBT_CAT_SETS : both;
      CHECK_EQ_I64(gbti_auto_cat_method(n, rows), want);
    }
  CHECK_EQ_I64(gbti_auto_cat_method(65534, 1000000), both);
  CHECK_EQ_I64(gbti_auto_cat_method(65535, INT64_MAX), rare);
}

/* What the engine chooses is what may be asked for by name; without labels it chooses sets. */
static void methods_of_columns(void) {
  static const made_kind kinds[] = {MADE_LEVELS, MADE_BELL, MADE_FACTOR};
  uint8_t asked[3] = {GBT_CAT_AUTO, GBT_CAT_AUTO, GBT_CAT_AUTO};
  for (int given = 0; given < 2; given++) {
    made *data = made_new(5, 300, 3, kinds);
    made_response(data, GBT_OBJ_LOGISTIC, 1, 3);
    train_job job = job_make(data, given ? GBT_OBJ_CUSTOM : GBT_OBJ_LOGISTIC, 1, 1);
    gbt_ctx ctx = test_ctx(NULL, 1);
    gbt_trainer_spec spec;
    gbt_trainer *trainer;
    job.spec.cat_method = asked;
    REQUIRE(job_open(&ctx, &job, 100, &spec));
    REQUIRE_OK(gbt_trainer_new(&ctx, &spec, &trainer, test_err));
    for (int32_t c = 0; c < 3; c++) {
      const gbt_schema_column *col = &spec.train->cuts->schema->col[c];
      const unsigned want = col->type != GBT_CATEGORICAL ? 0
                            : given                      ? GBT_CAT_SETS
                                                         : gbti_auto_cat_method(col->n_levels, 300);
      CHECK_EQ_I64(gbt_trainer_cat_methods(trainer)[c], want);
    }
    CHECK_EQ_I64(gbt_schema_n_tables(gbt_trainer_schema(trainer)) > 0, !given);
    gbt_trainer_free(trainer);
    job_close(&spec);
    gbt_ctx_close(&ctx);
    made_free(data);
  }
}

/* ---- memory ---- */

static gbt_status encode_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  const train_job *job = arg;
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_dataset *data[1 + JOB_VALID];
  const gbt_mem own = gbt_mem_default();
  gbt_ctx plain;
  GBT_TRY(gbt_ctx_open(&plain, own, 1, GBT_SIMD_AUTO, NULL, NULL, err));
  CHECK(job_open(&plain, job, 64, &spec));
  data[0] = gbt_dataset_ref(spec.train);
  for (int32_t s = 0; s < spec.n_valid; s++) data[1 + s] = gbt_dataset_ref(spec.valid[s]);
  uint8_t chosen[3];
  gbt_status status = gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) {
    const gbti_wish wish = {.cat_method = spec.cat_method};
    status = gbti_encode(&ctx, &spec.params, &spec.objective, &wish, data, 1 + spec.n_valid, chosen, err);
    CHECK((data[0] == spec.train) == (status != GBT_OK));
    gbt_ctx_close(&ctx);
  }
  for (int32_t s = 0; s <= spec.n_valid; s++) gbt_dataset_unref(data[s]);
  job_close(&spec);
  gbt_ctx_close(&plain);
  return status;
}

static void memory_may_run_out(void) {
  static const made_kind kinds[] = {MADE_LEVELS, MADE_HOLED, MADE_BELL};
  static const uint8_t method[] = {GBT_CAT_TARGET | GBT_CAT_COUNT, GBT_CAT_TARGET | GBT_CAT_ONEHOT, GBT_CAT_AUTO};
  made *data = made_new(1, 80, 3, kinds), *valid = made_new(2, 20, 3, kinds);
  made_response(data, GBT_OBJ_LOGISTIC, 1, 3);
  made_response(valid, GBT_OBJ_LOGISTIC, 1, 3);
  train_job job = job_make(data, GBT_OBJ_LOGISTIC, 1, 1);
  job.valid[0] = valid;
  job.spec.n_valid = 1;
  job.spec.cat_method = method;
  job.spec.params.max_cat_combine = 2;
  CHECK(fault_sweep(encode_once, &job) > 40);
  made_free(data);
  made_free(valid);
}

void suite_encode(void) {
  RUN(bins_are_those_of_the_definition);
  RUN(combinations_are_made_where_they_say_more);
  RUN(trainings_are_the_same_in_all_circumstances);
  RUN(trainings_of_ranks);
  RUN(methods_by_size);
  RUN(methods_of_columns);
  RUN(memory_may_run_out);
}
