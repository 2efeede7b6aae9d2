/* Masks of data sets: trees, scores of all sets and logs are those of the same rows in tables of their own. */
#include "datasets.h"
#include "fault.h"
#include "mask_job.h"
#include "random_job.h"
#include "ranks.h"
#include "stores.h"

#include "../../src/gbt/model/predict.h"

enum { RANDOM_JOBS = 300 };

static int masked_as_gathered(const train_job *job, const int *mask, const train_how *how, trained **out) {
  masked_job j = masked_job_make(job, mask);
  trained *a = train_masked(&j, how), *b = train_gathered(&j, how);
  int ok = a != NULL && b != NULL && same_trained(a, b);
  if (ok) CHECK(a->width == 0 || a->log != NULL);
  if (out != NULL)
    *out = a;
  else
    trained_free(a);
  trained_free(b);
  masked_job_free(&j);
  return ok;
}

/* What the random jobs held. */
typedef struct jobs_seen {
  int64_t losses[GBT_N_OBJECTIVES], policies[3], kinds[MASK_KINDS];
  int64_t sampled, sparse, bundles, sets, splits, outputs, logged;
} jobs_seen;

static int random_masked(uint64_t seed, jobs_seen *seen) {
  random_job r = random_job_make(seed, 600);
  const mask_kind kind = (mask_kind)(seed % MASK_KINDS);
  int *mask = mask_make(kind, r.data->table.n_rows, seed);
  trained *t = NULL;
  if (r.data->weight) /* not all of a set's weights may be 0 */
    for (int64_t i = 0; i < r.data->table.n_rows; i++) r.data->weight[i] += 0.5;
  int ok = masked_as_gathered(&r.job, mask, &r.how, &t);
  if (!CHECK(ok)) random_job_tell(&r, seed);
  if (t != NULL) {
    seen->losses[r.job.spec.objective.kind]++;
    seen->policies[r.job.spec.params.grow_policy]++;
    seen->kinds[kind]++;
    seen->sampled += r.job.spec.params.subsample < 1.0;
    seen->sparse += t->n_sparse > 0;
    seen->bundles += t->n_bundles > 0;
    seen->sets += (int64_t)t->forest->n_words;
    seen->splits += (int64_t)t->forest->n_nodes / 2;
    seen->outputs += t->forest->n_outputs > 1;
    seen->logged += t->width > 0;
  }
  trained_free(t);
  free(mask);
  random_job_free(&r);
  return ok;
}

static void random_trainings(void) {
  jobs_seen seen;
  memset(&seen, 0, sizeof seen);
  int bad = 0;
  for (uint64_t seed = 1; seed <= test_cases(RANDOM_JOBS) && bad < 3; seed++) bad += !random_masked(seed, &seen);
  test_note("%" PRId64 " splits, %" PRId64 " words of sets, %" PRId64 " sampled, %" PRId64 " sparse, %" PRId64
            " bundled, %" PRId64 " with outputs, %" PRId64 " logged",
            seen.splits, seen.sets, seen.sampled, seen.sparse, seen.bundles, seen.outputs, seen.logged);
  for (int l = 0; l < MADE_ROW_OBJECTIVES; l++) CHECK_SEEN(seen.losses[l] >= 1);
  for (int p = 0; p < 3; p++) CHECK_SEEN(seen.policies[p] >= 50);
  for (int k = 0; k < MASK_KINDS; k++) CHECK_SEEN(seen.kinds[k] >= 30);
  CHECK_SEEN(seen.splits > 2000 && seen.sets > 100 && seen.sampled > 50 && seen.sparse > 5 && seen.bundles > 5);
  CHECK_SEEN(seen.outputs > 30 && seen.logged > 200);
}

/* ---- sizes ---- */

static void one_size(int64_t n, int32_t page_rows, int32_t n_cols, const made_kind *kinds, mask_kind kind) {
  made *m = made_new((uint64_t)n, n, n_cols, kinds);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 5);
  train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 2);
  job.spec.params.max_depth = 4;
  job.spec.params.subsample = n % 2 ? 0.6 : 1.0;
  job.spec.params.grow_policy = (int)(n % 3);
  int *mask = mask_make(kind, n, (uint64_t)n);
  const train_how how = {2, page_rows, GBT_SIMD_AUTO, NULL};
  if (!CHECK(masked_as_gathered(&job, mask, &how, NULL)))
    test_note("%" PRId64 " rows, pages of %d, mask %d", n, (int)page_rows, (int)kind);
  free(mask);
  made_free(m);
}

/* Whatever rows are cut by: pages, blocks of gradients and histograms, tasks. Narrow and wide tables. */
static void sizes_of_rows_and_pages(void) {
  const int64_t n[] = {1, 2, 3, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1000, 4095, 4096, 4097, 16383, 16385, 40000};
  const int32_t page_rows[] = {1, 3, 64, 1000, 4096, 0};
  made_kind wide[70];
  for (int c = 0; c < 70; c++) wide[c] = c % 5 == 4 ? MADE_ZEROS : (made_kind)(c % (MADE_KINDS - 1));
  for (size_t i = 0; i < sizeof n / sizeof *n; i++)
    for (size_t k = 0; k < sizeof page_rows / sizeof *page_rows; k++) {
      if (page_rows[k] > 0 && n[i] / page_rows[k] > (test_few() ? 300 : 2000)) continue;
      const int is_wide = (i + k) % 4 == 0 && n[i] < 5000;
      one_size(n[i], page_rows[k], is_wide ? 70 : 5, is_wide ? wide : NULL, (mask_kind)((i + 3 * k) % MASK_KINDS));
    }
}

/* Pages that are pinned a few at a time and overwritten when released. */
static void stores_that_forget(void) {
  jobs_seen seen;
  memset(&seen, 0, sizeof seen);
  for (int kind = STORE_POISON; kind <= STORE_POISON_3; kind++) {
    store_kind before = stores_use((store_kind)kind);
    for (uint64_t seed = 400; seed < 400 + test_cases(40); seed++) random_masked(seed, &seen);
    stores_use(before);
  }
}

static void masks_of_validation_data(void) {
  for (int threads = 1; threads <= 2; threads++)
    CHECK(masked_valid_as_gathered(&(train_how){threads, 0, GBT_SIMD_AUTO, NULL}));
}

/* ---- the best round ---- */

/* Scores of a validation set that are kept: those of the trees up to the best round; of others those of all trees. */
static void the_best_round_is_kept(void) {
  made *m = made_new(5, 800, 5, NULL);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 6);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 60);
  job.spec.params.eta = 1.0;
  job.spec.stop_rounds = 3;
  int *mask = mask_make(MASK_HALF, 800, 3);
  masked_job j = masked_job_make(&job, mask);
  j.sub.spec.n_metrics = 1;
  j.sub.spec.metric[0] = gbt_metric_plain(GBT_METRIC_RMSE);
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_dataset *all = made_dataset(&ctx, m, NULL, 64, 0);
  REQUIRE(all != NULL && masked_job_open(&ctx, &j, all, 1, 0, &spec));
  spec.keep_best = 2;
  CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_ARG, "there is no validation set 2");
  spec.keep_best = 1;
  if (CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err))) {
    gbt_stop_reason why = GBT_RUN_DONE;
    const double *best = NULL, *last = NULL;
    CHECK_OK(gbt_trainer_run(&ctx, tr, job.rounds, &why, test_err));
    const int64_t rounds = gbt_trainer_rounds(tr), at = gbt_trainer_best_round(tr);
    CHECK(why == GBT_RUN_EARLY && at > 0 && rounds == at + 3);
    gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
    gbt_binding *binding = NULL;
    const size_t bytes = (size_t)j.out->table.n_rows * sizeof(double);
    double *want = test_alloc(bytes);
    REQUIRE_OK(gbt_binding_new(&ctx, &j.out->table, all->cuts->schema, GBT_UNSEEN_MISSING, &binding, test_err));
    CHECK_OK(gbt_predict_scores(&ctx, &view, binding, (gbt_tree_range){0, (uint64_t)at}, NULL, want, test_err));
    CHECK_OK(gbt_trainer_best_scores(&ctx, tr, 1, &best, test_err));
    CHECK_EQ_BYTES(best, want, bytes);
    CHECK_OK(gbt_trainer_scores(&ctx, tr, 1, &last, test_err));
    CHECK(memcmp(last, want, bytes) != 0);
    gbt_binding_free(binding);
    free(want);
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_dataset_unref(all);
  gbt_ctx_close(&ctx);
  masked_job_free(&j);
  free(mask);
  made_free(m);
}

/* ---- ranks ---- */

typedef struct mask_ranks {
  const masked_job *j;
  int64_t beg[RANKS_MOST + 1]; /* rows of the ranks before */
  gbt_forest *forest[RANKS_MOST];
  double *log[RANKS_MOST];
  gbt_status status[RANKS_MOST];
  gbt_error err[RANKS_MOST];
} mask_ranks;

static gbt_status set_of_rank(gbt_ctx *ctx, const gbt_dataset *all, const int *mask, int taken, const made *m,
                              gbt_dataset **out, gbt_error *err) {
  GBT_TRY(gbt_dataset_mask(ctx, all, mask, taken, out, err));
  const int64_t n = m->table.n_rows, own = (*out)->rows.n;
  double *x = test_alloc((size_t)(n * (1 + m->n_offset)) * sizeof *x);
  int64_t k = 0;
  gbt_status status = GBT_OK;
  for (int64_t i = 0; i < n; i++)
    if ((mask[i] != 0) == taken) x[k++] = m->label[i];
  status = gbt_dataset_set(ctx, *out, GBT_LABEL, x, own, err);
  k = 0;
  for (int64_t i = 0; i < n && m->weight; i++)
    if ((mask[i] != 0) == taken) x[k++] = m->weight[i];
  if (status == GBT_OK) status = gbt_dataset_set(ctx, *out, GBT_WEIGHT, x, k, err);
  k = 0;
  for (int64_t i = 0; i < n * m->n_offset; i++)
    if ((mask[i % n] != 0) == taken) x[k++] = m->offset[i];
  if (status == GBT_OK) status = gbt_dataset_set(ctx, *out, GBT_OFFSET, x, k, err);
  free(x);
  return gbt_comm_agree(ctx, status, err);
}

static gbt_status train_share(gbt_ctx *ctx, const masked_job *j, const made *share, const int *mask,
                              gbt_trainer_spec *spec, gbt_dataset **all, gbt_trainer **tr, gbt_error *err) {
  gbt_stop_reason why;
  GBT_TRY(dataset_from(ctx, &share->table, NULL, share->weight, j->job->max_bin, 50, GBT_UNSEEN_MISSING, all, err));
  GBT_TRY(set_of_rank(ctx, *all, mask, 1, share, &spec->train, err));
  if (spec->n_valid > 0) GBT_TRY(set_of_rank(ctx, *all, mask, 0, share, &spec->valid[0], err));
  GBT_TRY(gbt_trainer_new(ctx, spec, tr, err));
  return gbt_trainer_run(ctx, *tr, j->job->rounds, &why, err);
}

static void rank_main(void *arg, const gbt_comm *comm) {
  mask_ranks *m = arg;
  const masked_job *j = m->j;
  const int r = comm->rank;
  const int64_t beg = m->beg[r], n = m->beg[r + 1] - beg;
  int64_t *rows = test_alloc((size_t)(n + 1) * sizeof *rows);
  for (int64_t i = 0; i < n; i++) rows[i] = beg + i;
  made *share = made_rows(j->job->data, rows, n);
  gbt_trainer_spec spec = j->sub.spec;
  gbt_dataset *all = NULL;
  gbt_trainer *tr = NULL;
  gbt_ctx ctx;
  gbt_mem mem = gbt_mem_default();
  m->status[r] = gbt_ctx_open(&ctx, mem, 1 + r % 2, GBT_SIMD_AUTO, NULL, NULL, &m->err[r]);
  ctx.comm = comm;
  if (m->status[r] == GBT_OK)
    m->status[r] = train_share(&ctx, j, share, j->mask + beg, &spec, &all, &tr, &m->err[r]);
  if (m->status[r] == GBT_OK) {
    gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
    int32_t width;
    const double *log = gbt_trainer_log(tr, &width);
    const size_t bytes = (size_t)(gbt_trainer_rounds(tr) * width) * sizeof *log;
    m->log[r] = test_alloc(bytes);
    memcpy(m->log[r], log, bytes);
    m->status[r] = gbt_forest_new_like(&mem, &view, &m->forest[r], &m->err[r]);
    if (m->status[r] == GBT_OK) m->status[r] = gbt_forest_append(m->forest[r], &view, &m->err[r]);
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_dataset_unref(all);
  gbt_ctx_close(&ctx);
  made_free(share);
  free(rows);
}

static int ranks_as_one(const masked_job *j, int size, uint64_t seed) {
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  test_rng rng = {seed};
  mask_ranks m = {.j = j};
  const int64_t n = j->job->data->table.n_rows;
  trained *one = train_masked(j, &how);
  int ok = one != NULL;
  for (int r = 1; r < size; r++) m.beg[r] = m.beg[r - 1] + test_below(&rng, n - m.beg[r - 1] + 1);
  m.beg[size] = n;
  ranks_run(size, rank_main, &m);
  for (int r = 0; r < size; r++) {
    if (!CHECK_EQ_I64(m.status[r], GBT_OK)) test_note("rank %d: %s", r, m.err[r].msg);
    ok = ok && m.status[r] == GBT_OK && same_forests(m.forest[r], one->forest) &&
         CHECK_EQ_BYTES(m.log[r], one->log, (size_t)(one->rounds * one->width) * sizeof(double));
    gbt_forest_free(m.forest[r]);
    free(m.log[r]);
  }
  trained_free(one);
  return ok;
}

/* Shares without rows, and shares without a row of the mask, among them. */
static void ranks(void) {
  int64_t n_done = 0;
  for (uint64_t seed = 700; seed < 700 + test_cases(60); seed++) {
    random_job r = random_job_make(seed, 300);
    const int custom = r.job.spec.objective.kind == GBT_OBJ_CUSTOM;
    if (r.data->weight)
      for (int64_t i = 0; i < r.data->table.n_rows; i++) r.data->weight[i] += 0.5;
    int *mask = mask_make((mask_kind)(seed % MASK_KINDS), r.data->table.n_rows, seed);
    r.job.spec.n_valid = 0; /* the masked-out rows are the one */
    masked_job j = masked_job_make(&r.job, mask);
    if (!custom && !CHECK(ranks_as_one(&j, 2 + (int)(seed % 3), seed))) random_job_tell(&r, seed);
    n_done += !custom;
    masked_job_free(&j);
    free(mask);
    random_job_free(&r);
  }
  CHECK_SEEN(n_done > 30);
}

/* ---- views ---- */

/* A mask of a mask, and a view of it, are the rows that both have. */
static void masks_of_masks(void) {
  enum { N = 1000 };
  made *m = made_new(9, N, 4, NULL);
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_dataset *all = made_dataset(&ctx, m, NULL, 64, 100), *odd = NULL, *some = NULL, *view = NULL;
  int mask[N];
  REQUIRE(all != NULL);
  for (int i = 0; i < N; i++) mask[i] = i % 2;
  REQUIRE_OK(gbt_dataset_mask(&ctx, all, mask, 1, &odd, test_err));
  for (int i = 0; i < N / 2; i++) mask[i] = i % 5 == 0;
  REQUIRE_OK(gbt_dataset_mask(&ctx, odd, mask, 0, &some, test_err));
  REQUIRE_OK(gbt_dataset_view(some, &view, test_err));
  CHECK_EQ_I64(odd->rows.n, N / 2);
  CHECK_EQ_I64(view->rows.n, N / 2 - N / 10);
  CHECK(view->pages == all->pages && view->cuts == all->cuts && view->rows.table_row != some->rows.table_row);
  for (int64_t i = 0, k = 0; i < N / 2; i++) {
    if (i % 5 == 0) continue;
    CHECK_EQ_I64(view->rows.table_row[k], 2 * i + 1);
    CHECK_EQ_I64(gbt_row_number(&view->rows, k), 2 * i + 2);
    CHECK_EQ_I64(gbt_row_from(&view->rows, 2 * i + 1), k);
    CHECK_EQ_I64(gbt_row_from(&view->rows, 2 * i + 2), ++k);
  }
  double y[N / 2];
  for (int i = 0; i < N / 2; i++) y[i] = 1.0;
  y[2] = 0.0 / 0.0;
  CHECK_FAILS(gbt_dataset_set(&ctx, view, GBT_LABEL, y, N / 2 - N / 10, test_err), GBT_E_DATA,
              "label: row 8 is missing");
  CHECK_FAILS(gbt_dataset_set(&ctx, view, GBT_LABEL, y, N, test_err), GBT_E_DATA, "1000 numbers for 400 rows");
  gbt_dataset *sets[] = {all, odd, some, view};
  for (int i = 0; i < 4; i++) gbt_dataset_unref(sets[i]);
  gbt_ctx_close(&ctx);
  made_free(m);
}

static gbt_status mask_and_view(const gbt_mem *mem, void *arg, gbt_error *err) {
  made *m = arg;
  gbt_dataset *all = NULL, *some = NULL, *view = NULL;
  gbt_ctx ctx;
  int *mask = mask_make(MASK_HALF, m->table.n_rows, 4);
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = dataset_from(&ctx, &m->table, NULL, NULL, 16, 100, GBT_UNSEEN_MISSING, &all, err);
  if (status == GBT_OK) status = gbt_dataset_mask(&ctx, all, mask, 1, &some, err);
  if (status == GBT_OK) status = gbt_dataset_view(some, &view, err);
  gbt_dataset_unref(all);
  gbt_dataset_unref(some);
  gbt_dataset_unref(view);
  gbt_ctx_close(&ctx);
  free(mask);
  return status;
}

static void no_memory(void) {
  made *m = made_new(3, 300, 3, NULL);
  fault_sweep(mask_and_view, m);
  made_free(m);
}

/* Training on no row at all is refused, as for any data. */
static void empty_masks(void) {
  made *m = made_new(3, 50, 3, NULL);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_trainer *tr = NULL;
  int mask[50] = {0};
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  gbt_trainer_spec spec = job.spec;
  gbt_dataset *all = made_dataset(&ctx, m, NULL, 64, 0);
  REQUIRE_OK(gbt_dataset_mask(&ctx, all, mask, 1, &spec.train, test_err));
  CHECK_EQ_I64(spec.train->rows.n, 0);
  CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_DATA, "the train data have no rows");
  gbt_dataset_unref(spec.train);
  gbt_dataset_unref(all);
  gbt_ctx_close(&ctx);
  made_free(m);
}

void suite_mask(void) {
  RUN(random_trainings);
  RUN(sizes_of_rows_and_pages);
  RUN(stores_that_forget);
  RUN(masks_of_validation_data);
  RUN(the_best_round_is_kept);
  RUN(ranks);
  RUN(masks_of_masks);
  RUN(no_memory);
  RUN(empty_masks);
}
