/* Making cuts: weights to integers, levels to dictionaries, columns to cuts. One task takes a column, or several short
 * ones. Columns know nothing of each other. */
#include "cuts.h"

#include <math.h>
#include <string.h>

#include "../base/bits.h"
#include "../base/parallel.h"
#include "../math/whole.h"
#include "../schema/schema_impl.h"
#include "binding.h"
#include "column.h"
#include "cuts_impl.h"
#include "job.h"

/* ---- weights ---- */

enum { CHUNK = 65536 };

typedef struct weight_job {
  gbti_job job;
  const double *weight;
  int64_t n_rows;
  gbt_whole_scale scale;
  uint64_t *out;
  double *max;       /* by chunk */
  uint64_t *sum;     /* by chunk */
  int64_t *positive; /* by chunk: weights above 0 */
  int64_t *bad;      /* by chunk: a row with a weight that is none, or -1 */
} weight_job;

static void look_task(void *arg, int64_t chunk, int thread) {
  (void)thread;
  weight_job *w = arg;
  int64_t beg = chunk * CHUNK, end = w->n_rows - beg < CHUNK ? w->n_rows : beg + CHUNK;
  double max = 0.0;
  int64_t positive = 0;
  w->bad[chunk] = -1;
  for (int64_t r = beg; r < end; r++) {
    if (!(w->weight[r] >= 0.0 && isfinite(w->weight[r]))) {
      w->bad[chunk] = r;
      return;
    }
    if (w->weight[r] > max) max = w->weight[r];
    positive += w->weight[r] > 0.0;
  }
  w->max[chunk] = max;
  w->positive[chunk] = positive;
}

static void scale_task(void *arg, int64_t chunk, int thread) {
  (void)thread;
  weight_job *w = arg;
  int64_t beg = chunk * CHUNK, end = w->n_rows - beg < CHUNK ? w->n_rows : beg + CHUNK;
  uint64_t sum = 0;
  for (int64_t r = beg; r < end; r++) sum += w->out[r] = gbt_whole_weight(w->weight[r], w->scale);
  w->sum[chunk] = sum;
}

/* Integer weights of all rows; *total is their sum. Of several ranks: of this rank's rows, on the scale of all. Rows of
 * weight 0 have no part in the scale. */
static gbt_status whole_weights(gbt_ctx *ctx, const double *weight, int64_t n, gbt_share share, uint64_t **out,
                                uint64_t *total, gbt_error *err) {
  gbt_status status = GBT_OK;
  int64_t n_chunks = (n + CHUNK - 1) / CHUNK, positive = 0;
  weight_job w = {.weight = weight, .n_rows = n};
  double max = 0.0;
  gbti_job_start(&w.job, ctx);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n, sizeof *w.out, &w.out, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_chunks, sizeof *w.max, &w.max, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_chunks, sizeof *w.sum, &w.sum, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_chunks, sizeof *w.positive, &w.positive, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_chunks, sizeof *w.bad, &w.bad, err), done);
  GBT_TRY_GOTO(gbti_job_run(&w.job, n_chunks, look_task, &w, err), done);
  for (int64_t c = 0; c < n_chunks; c++) {
    if (w.bad[c] >= 0) {
      status = gbt_fail_on(err, GBT_E_DATA, "weights",
                           "the weight of row %lld is %g; weights must be finite numbers of 0 or more",
                           (long long)(share.beg + w.bad[c]) + 1, weight[w.bad[c]]);
      goto done;
    }
    if (w.max[c] > max) max = w.max[c];
    positive += w.positive[c];
  }
  GBT_TRY_GOTO(gbt_comm_max_f64(ctx, &max, 1, err), done);
  GBT_TRY_GOTO(gbt_comm_sum_i64(ctx, &positive, 1, err), done);
  w.scale = gbt_whole_scale_of(max, positive);
  GBT_TRY_GOTO(gbti_job_run(&w.job, n_chunks, scale_task, &w, err), done);
  *total = 0;
  for (int64_t c = 0; c < n_chunks; c++) *total += w.sum[c];
done:
  gbt_mem_free(&ctx->mem, w.max);
  gbt_mem_free(&ctx->mem, w.sum);
  gbt_mem_free(&ctx->mem, w.positive);
  gbt_mem_free(&ctx->mem, w.bad);
  if (status == GBT_OK)
    *out = w.out;
  else
    gbt_mem_free(&ctx->mem, w.out);
  return status;
}

/* ---- columns ---- */

typedef struct cuts_job {
  gbti_job job;
  gbti_feed *feed;
  const gbt_table *table; /* the feed's */
  const uint64_t *weight;
  uint64_t total_weight;
  int32_t max_bin, per_task;
  int exact; /* a bin for each distinct value, or an error */
  gbt_offload *offload;     /* may be NULL */
  gbti_levels *levels;      /* n_cols; filled for columns with levels */
  const gbt_schema *schema; /* its columns are those of the table, in their order */
  gbt_feature_cuts *feat;   /* by feature */
  gbt_share share;
  int32_t beg, end; /* columns or features in work: all, or some at a time */
  struct shared *shared; /* with ranks */
} cuts_job;

static uint64_t absent_weight(const cuts_job *cj, const gbti_column_reader *in) {
  const int32_t *rows = in->col->rows;
  if (rows == NULL || in->absent != in->absent) return 0;
  if (cj->weight == NULL) return (uint64_t)(cj->table->n_rows - in->n_entries);
  uint64_t there = 0;
  for (int64_t e = 0; e < in->n_entries; e++) there += cj->weight[rows[e]];
  return cj->total_weight - there;
}

/* The counts that give zero_bin, n_filled and has_missing of a column. */
typedef struct filled {
  double low, high; /* values of the zero bin: low < x <= high; NaN: no x is <= NaN */
  int64_t n_zero, n_missing;
} filled;

static filled zero_bin_of(const cuts_job *cj, gbt_feature_cuts *f) {
  filled z = {(double)NAN, (double)NAN, 0, 0};
  f->zero_bin = cj->table->absent_missing ? f->n_bins : gbt_cuts_bin(f, 0.0);
  if (f->zero_bin == f->n_bins) return z;
  z.high = f->cut[f->zero_bin];
  if (f->zero_bin > 0) z.low = f->cut[f->zero_bin - 1];
  return z;
}

static gbt_status count_entries(const gbti_cut_input *input, filled *z, gbt_error *err) {
  const gbti_column_reader *in = &input->in;
  double low = z->low, high = z->high, buf[GBTI_BLOCK];
  for (int64_t beg = 0; beg < in->n_entries; beg += GBTI_BLOCK) {
    int32_t n = in->n_entries - beg < GBTI_BLOCK ? (int32_t)(in->n_entries - beg) : GBTI_BLOCK;
    const double *x = gbti_read_entries(in, beg, n, buf);
    int32_t n_zero = 0, n_missing = 0;
    for (int32_t i = 0; i < n; i++) {
      n_zero += (x[i] <= high) & !(x[i] <= low);
      n_missing += x[i] != x[i];
    }
    z->n_zero += n_zero;
    z->n_missing += n_missing;
    if (beg % (256 * GBTI_BLOCK) == 0 && gbti_job_stopped(input->job, input->thread))
      return gbt_fail(err, GBT_CANCELLED, "stopped on request");
  }
  return GBT_OK;
}

static void count_absent(const cuts_job *cj, const gbti_column_reader *in, const gbt_feature_cuts *f, filled *z) {
  int64_t n_absent = cj->table->n_rows - in->n_entries;
  if (in->absent != in->absent)
    z->n_missing += n_absent;
  else
    z->n_zero += f->zero_bin < f->n_bins ? n_absent : 0;
}

static void set_filled(const cuts_job *cj, int64_t n_zero, int64_t n_missing, gbt_feature_cuts *f) {
  f->has_missing = n_missing > 0;
  f->n_filled = cj->share.all - (f->zero_bin < f->n_bins ? n_zero : n_missing);
}

static const gbt_column *column_of(const cuts_job *cj, int32_t f) { return &cj->table->cols[cj->schema->feat[f].col]; }

static int by_levels(const cuts_job *cj, int32_t f) { return cj->schema->feat[f].type == GBT_CATEGORICAL; }

static int is_offloaded(const cuts_job *cj, int32_t f) {
  const gbt_column *col = column_of(cj, f);
  int64_t n = col->rows != NULL ? col->n_entries : cj->table->n_rows;
  return cj->offload != NULL && !by_levels(cj, f) && n >= cj->offload->least_entries;
}

static gbti_cut_input input_of(cuts_job *cj, int32_t f, int thread) {
  const gbt_feature *feat = &cj->schema->feat[f];
  gbti_cut_input input = {
      .in = gbti_column_reader_make(cj->table, column_of(cj, f), cj->levels[feat->col].map, feat->value),
      .table = cj->table,
      .weight = cj->weight,
      .stays = cj->feed->in_memory,
      .job = &cj->job,
      .thread = thread};
  input.absent_weight = absent_weight(cj, &input.in);
  return input;
}

static void cut_levels(const cuts_job *cj, int32_t feat) {
  gbt_feature_cuts *f = &cj->feat[feat];
  const gbti_levels *levels = &cj->levels[cj->schema->feat[feat].col];
  f->n_bins = levels->n > GBT_MAX_LEVELS ? GBT_MAX_LEVELS : levels->n > 0 ? levels->n : 1;
  f->has_missing = levels->has_missing || levels->n > f->n_bins;
  f->zero_bin = -1;
  f->n_filled = cj->share.all;
}

/* n_bins: 0 where there are more distinct values than bins, and every one should have its own. */
static gbt_status check_exact(const cuts_job *cj, int32_t feat, int32_t n_bins, gbt_error *err) {
  const char *name = cj->schema->col[cj->schema->feat[feat].col].name;
  if (n_bins > 0) return GBT_OK;
  return gbt_fail_on(err, GBT_E_DATA, name,
                     "column `%s` has more than %d different values, too many for `max_bin = \"exact\"`; give a "
                     "number, such as `max_bin = %d`, or round the column",
                     name, GBT_MOST_VALUES, GBT_MOST_VALUES);
}

static gbt_status cut_feature(cuts_job *cj, int32_t feat, int thread, gbt_error *err) {
  gbt_feature_cuts *f = &cj->feat[feat];
  if (by_levels(cj, feat)) {
    cut_levels(cj, feat);
    return GBT_OK;
  }
  if (is_offloaded(cj, feat)) return GBT_OK;
  double *cut;
  gbti_cut_input input = input_of(cj, feat, thread);
  GBT_TRY(gbti_numeric_cuts(&input, cj->max_bin, cj->exact, &cut, &f->n_bins, err));
  f->cut = cut;
  GBT_TRY(check_exact(cj, feat, f->n_bins, err));
  filled z = zero_bin_of(cj, f);
  GBT_TRY(count_entries(&input, &z, err));
  count_absent(cj, &input.in, f, &z);
  set_filled(cj, z.n_zero, z.n_missing, f);
  return GBT_OK;
}

static gbt_status offload_features(gbt_ctx *ctx, cuts_job *cj, gbt_error *err) {
  gbt_offload *o = cj->offload;
  for (int32_t i = cj->beg; i < cj->end; i++) {
    gbt_feature_cuts *f = &cj->feat[i];
    if (!is_offloaded(cj, i)) continue;
    GBT_TRY(gbt_ctx_poll(ctx, err));
    double *cut;
    gbti_cut_input input = input_of(cj, i, 0);
    GBT_TRY(o->cut(o, ctx, &input, cj->max_bin, &cut, &f->n_bins, err));
    f->cut = cut;
    filled z = zero_bin_of(cj, f);
    GBT_TRY(o->count(o, z.low, z.high, &z.n_zero, &z.n_missing, err));
    count_absent(cj, &input.in, f, &z);
    set_filled(cj, z.n_zero, z.n_missing, f);
  }
  return GBT_OK;
}

/* The rows of a column's levels, as far as they have been counted. */
static const gbti_tally *known_tally(const cuts_job *cj, int32_t c) {
  int counted = cj->feed->found != NULL && cj->table->cols[c].type == GBT_CATEGORICAL;
  return counted ? &cj->feed->found[c].tally : NULL;
}

static gbt_status level_column(cuts_job *cj, int32_t c, int thread, gbt_error *err) {
  const gbt_column *col = &cj->table->cols[c];
  if (col->type == GBT_NUMERIC) return GBT_OK;
  if (col->type == GBT_CATEGORICAL && !gbt_comm_is_single(cj->job.ctx)) return GBT_OK; /* see gather_levels */
  return gbti_levels_build(&cj->job.ctx->mem, cj->table, col, known_tally(cj, c), &cj->job, thread, &cj->levels[c],
                           err);
}

typedef gbt_status item_fn(cuts_job *cj, int32_t i, int thread, gbt_error *err);

/* fn for the columns or features of a task. */
static void for_each(cuts_job *cj, int64_t task, int thread, item_fn *fn) {
  int64_t beg = cj->beg + task * cj->per_task, end = beg + cj->per_task;
  for (int64_t i = beg; i < end && i < cj->end; i++) {
    gbt_error err;
    if (gbti_job_stopped(&cj->job, thread)) return;
    gbt_status status = fn(cj, (int32_t)i, thread, &err);
    if (status != GBT_OK && status != GBT_CANCELLED) gbti_job_fail(&cj->job, &err);
  }
}

static void level_task(void *arg, int64_t task, int thread) { for_each(arg, task, thread, level_column); }
static void cut_task(void *arg, int64_t task, int thread) { for_each(arg, task, thread, cut_feature); }

static int64_t n_tasks(const cuts_job *cj) {
  GBT_ASSERT(cj->per_task > 0);
  return (cj->end - cj->beg + cj->per_task - 1) / cj->per_task;
}

/* The end of the range of features from cj->beg on whose columns may be in memory together; at most `most`. */
static int32_t end_of_fetch(const cuts_job *cj, int32_t most) {
  const gbti_feed *feed = cj->feed;
  size_t bytes = 0;
  for (int32_t f = cj->beg; f < most && !feed->in_memory; f++) {
    size_t more = by_levels(cj, f) ? 0 : gbti_feed_column_bytes(feed, cj->schema->feat[f].col);
    if (bytes > 0 && bytes + more > feed->fetch_bytes) return f;
    bytes += more;
  }
  return most;
}

/* Fetches the columns of the features in work. */
static gbt_status fetch(const cuts_job *cj, gbt_error *err) {
  const gbt_mem *mem = &cj->job.ctx->mem;
  int32_t *cols, n = 0;
  if (cj->feed->in_memory) return GBT_OK;
  GBT_TRY(gbt_mem_array(mem, (size_t)(cj->end - cj->beg), sizeof *cols, &cols, err));
  for (int32_t f = cj->beg; f < cj->end; f++)
    if (!by_levels(cj, f)) cols[n++] = cj->schema->feat[f].col;
  gbt_status status = gbti_feed_fetch(cj->feed, cols, n, err);
  gbt_mem_free(mem, cols);
  return status;
}

static gbt_status cut_one_rank(gbt_ctx *ctx, cuts_job *cj, gbt_error *err) {
  const int32_t n = cj->schema->n_features;
  for (cj->beg = 0; cj->beg < n; cj->beg = cj->end) {
    cj->end = end_of_fetch(cj, n);
    GBT_TRY(fetch(cj, err));
    GBT_TRY(gbti_job_run(&cj->job, n_tasks(cj), cut_task, cj, err));
    GBT_TRY(offload_features(ctx, cj, err));
  }
  return GBT_OK;
}

/* ---- with ranks ---- */

enum { RUN_MEMORY = 128 << 20, RUN_BYTES = 24 };

/* The numeric features in work. */
typedef struct shared {
  int32_t n, *feat; /* n of at most `most` */
  gbti_runs *runs;
  double **cut;
  int32_t *n_bins;
  int64_t *filled; /* by feature of all, two numbers: rows in the zero bin, missing ones */
  int32_t most;
} shared;

static gbt_status run_feature(cuts_job *cj, int32_t i, int thread, gbt_error *err) {
  gbti_cut_input input = input_of(cj, cj->shared->feat[i], thread);
  return gbti_runs_make(&input, &cj->shared->runs[i], err);
}

static gbt_status count_filled(cuts_job *cj, int32_t i, int thread, gbt_error *err) {
  const shared *s = cj->shared;
  const int32_t feat = s->feat[i];
  gbt_feature_cuts *f = &cj->feat[feat];
  gbti_cut_input input = input_of(cj, feat, thread);
  filled z = zero_bin_of(cj, f);
  GBT_TRY(count_entries(&input, &z, err));
  count_absent(cj, &input.in, f, &z);
  s->filled[2 * feat] = z.n_zero;
  s->filled[2 * feat + 1] = z.n_missing;
  return GBT_OK;
}

/* fn for one of the numeric features in work. */
static void shared_task(cuts_job *cj, int64_t i, int thread, item_fn *fn) {
  gbt_error err;
  if (gbti_job_stopped(&cj->job, thread)) return;
  gbt_status status = fn(cj, (int32_t)i, thread, &err);
  if (status != GBT_OK && status != GBT_CANCELLED) gbti_job_fail(&cj->job, &err);
}

static void run_task(void *arg, int64_t i, int thread) { shared_task(arg, i, thread, run_feature); }
static void filled_task(void *arg, int64_t i, int thread) { shared_task(arg, i, thread, count_filled); }

/* Features [beg, end): runs of this rank, then the cuts of all ranks' runs. */
static gbt_status cut_some(cuts_job *cj, gbt_error *err) {
  shared *s = cj->shared;
  s->n = 0;
  for (int32_t f = cj->beg; f < cj->end; f++) {
    if (by_levels(cj, f))
      cut_levels(cj, f);
    else
      s->feat[s->n++] = f;
  }
  memset(s->cut, 0, (size_t)s->n * sizeof *s->cut);
  gbt_status status = gbti_job_run(&cj->job, s->n, run_task, cj, err);
  if (status == GBT_OK) status = gbti_runs_cut(&cj->job, s->runs, s->n, cj->max_bin, cj->exact, s->cut, s->n_bins, err);
  for (int32_t i = 0; i < s->n; i++) {
    gbti_runs_free(&cj->job.ctx->mem, &s->runs[i]);
    cj->feat[s->feat[i]].cut = s->cut[i];
    cj->feat[s->feat[i]].n_bins = s->n_bins[i];
    if (status == GBT_OK) status = check_exact(cj, s->feat[i], s->n_bins[i], err);
  }
  return status == GBT_OK ? gbti_job_run(&cj->job, s->n, filled_task, cj, err) : status;
}

/* How many features are in work at a time: the same number on all ranks. */
static gbt_status features_at_once(gbt_ctx *ctx, const cuts_job *cj, int32_t *out, gbt_error *err) {
  int64_t most[2] = {cj->table->n_rows, ctx->n_threads};
  GBT_TRY(gbt_comm_max_i64(ctx, most, 2, err));
  int64_t n = RUN_MEMORY / (RUN_BYTES * (most[0] + 1) + (int64_t)gbti_refine_bytes(cj->max_bin));
  if (n < most[1]) n = most[1];
  *out = n < cj->schema->n_features ? (int32_t)n : cj->schema->n_features;
  return GBT_OK;
}

static gbt_status shared_open(gbt_ctx *ctx, const cuts_job *cj, shared *s, gbt_error *err) {
  const size_t n = (size_t)cj->schema->n_features;
  GBT_TRY(features_at_once(ctx, cj, &s->most, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)s->most, sizeof *s->feat, &s->feat, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)s->most, sizeof *s->runs, &s->runs, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)s->most, sizeof *s->cut, &s->cut, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)s->most, sizeof *s->n_bins, &s->n_bins, err));
  return gbt_mem_zeros(&ctx->mem, n, 2 * sizeof *s->filled, &s->filled, err);
}

static void shared_close(gbt_ctx *ctx, shared *s) {
  gbt_mem_free(&ctx->mem, s->feat);
  gbt_mem_free(&ctx->mem, s->runs);
  gbt_mem_free(&ctx->mem, s->cut);
  gbt_mem_free(&ctx->mem, s->n_bins);
  gbt_mem_free(&ctx->mem, s->filled);
}

/* Some features at a time, the same ones on all ranks. */
static gbt_status cut_shared(gbt_ctx *ctx, cuts_job *cj, gbt_error *err) {
  const int32_t n = cj->schema->n_features;
  gbt_status status = GBT_OK;
  shared s = {0};
  cj->shared = &s;
  GBT_TRY_GOTO(shared_open(ctx, cj, &s, err), done);
  for (cj->beg = 0; cj->beg < n; cj->beg = cj->end) {
    int64_t end = end_of_fetch(cj, n - cj->beg < s.most ? n : cj->beg + s.most);
    GBT_TRY_GOTO(gbt_comm_min_i64(ctx, &end, 1, err), done);
    cj->end = (int32_t)end;
    GBT_TRY_GOTO(fetch(cj, err), done);
    GBT_TRY_GOTO(cut_some(cj, err), done);
  }
  GBT_TRY_GOTO(gbt_comm_sum_i64(ctx, s.filled, 2 * (size_t)n, err), done);
  for (int32_t f = 0; f < n; f++)
    if (!by_levels(cj, f)) set_filled(cj, s.filled[2 * f], s.filled[2 * f + 1], &cj->feat[f]);
done:
  shared_close(ctx, &s);
  return status;
}

static gbt_status gather_levels(gbt_ctx *ctx, cuts_job *cj, gbt_error *err) {
  for (int32_t c = 0; c < cj->table->n_cols; c++) {
    const gbt_column *col = &cj->table->cols[c];
    if (col->type != GBT_CATEGORICAL) continue;
    gbti_levels *levels = &cj->levels[c];
    GBT_TRY(gbti_levels_gather(ctx, cj->table, col, known_tally(cj, c), &cj->job, cj->share, levels, err));
    if (col->derive != 0) GBT_TRY(gbti_code_map(ctx, 0, col, levels->text, levels->n, &levels->map, err));
  }
  return GBT_OK;
}

/* ---- all of it ---- */

static gbt_status recount(gbt_ctx *ctx, cuts_job *cj, gbt_error *err) {
  for (int32_t c = 0; cj->table->statistics != NULL && c < cj->table->n_cols; c++)
    if (cj->table->cols[c].derive != 0)
      GBT_TRY(gbti_levels_recount(ctx, &cj->table->cols[c], cj->table->statistics, &cj->levels[c], err));
  return gbti_counts_match(ctx, cj->table, cj->levels, err);
}

/* The feature map: all columns, then what is derived from them, column by column. */
static int32_t map_features(const cuts_job *cj, gbt_feature *feat) {
  int32_t n = 0;
  for (int32_t c = 0; c < cj->table->n_cols; c++) feat[n++] = (gbt_feature){.kind = GBT_FEATURE_COLUMN, .col = c};
  for (int32_t c = 0; c < cj->table->n_cols; c++)
    if (cj->table->cols[c].derive & 1u << GBT_FEATURE_LEVEL_COUNT)
      feat[n++] = (gbt_feature){.kind = GBT_FEATURE_LEVEL_COUNT, .col = c, .value = cj->levels[c].count};
  return n;
}

static gbt_status make_schema(gbt_ctx *ctx, const cuts_job *cj, gbt_schema **out, gbt_error *err) {
  gbt_schema_column *schema_col = NULL;
  gbt_feature *feat = NULL;
  int32_t n = cj->table->n_cols;
  gbt_status status = GBT_OK;
  *out = NULL;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n, sizeof *schema_col, &schema_col, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n * GBT_N_FEATURE_KINDS, sizeof *feat, &feat, err), done);
  for (int32_t c = 0; c < n; c++) {
    const gbt_column *col = &cj->table->cols[c];
    gbt_schema_column one = {col->name, col->tag != NULL ? col->tag : "", col->type, cj->levels[c].n,
                             cj->levels[c].text};
    schema_col[c] = one;
  }
  status = gbt_schema_new_mapped(&ctx->mem, ctx, n, schema_col, map_features(cj, feat), feat, out, err);
done:
  gbt_mem_free(&ctx->mem, schema_col);
  gbt_mem_free(&ctx->mem, feat);
  return status;
}

/* Fills cuts->schema and cuts->feat. */
static gbt_status make_cuts(gbt_ctx *ctx, cuts_job *cj, gbt_cuts *cuts, gbt_error *err) {
  gbt_status status = GBT_OK;
  size_t n = (size_t)cj->table->n_cols;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, n, sizeof *cj->levels, &cj->levels, err));
  cj->end = cj->table->n_cols;
  GBT_TRY_GOTO(gbti_job_run(&cj->job, n_tasks(cj), level_task, cj, err), done);
  if (!gbt_comm_is_single(ctx)) GBT_TRY_GOTO(gather_levels(ctx, cj, err), done);
  GBT_TRY_GOTO(recount(ctx, cj, err), done);
  GBT_TRY_GOTO(make_schema(ctx, cj, &cuts->schema, err), done);
  cj->schema = cuts->schema;
  cuts->n_features = cj->schema->n_features;
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, (size_t)cuts->n_features, sizeof *cuts->feat, &cuts->feat, err), done);
  cj->feat = cuts->feat;
  status = gbt_comm_is_single(ctx) ? cut_one_rank(ctx, cj, err) : cut_shared(ctx, cj, err);
  gbti_feed_drop(cj->feed);
done:
  for (size_t c = 0; c < n; c++) gbti_levels_free(&ctx->mem, &cj->levels[c]);
  gbt_mem_free(&ctx->mem, cj->levels);
  return status;
}

gbt_status gbt_cuts_build(gbt_ctx *ctx, const gbt_table *table, const double *weight, int32_t max_bin, gbt_cuts **out,
                          gbt_error *err) {
  gbti_feed feed;
  *out = NULL;
  gbt_status status = gbti_feed_open(ctx, table, NULL, GBTI_FETCH_BYTES, &feed, err);
  if (status == GBT_OK) status = gbti_cuts_build(ctx, &feed, weight, max_bin, NULL, out, err);
  gbti_feed_close(&feed);
  status = gbt_comm_agree(ctx, status, err);
  if (status == GBT_OK) return GBT_OK;
  gbt_cuts_unref(*out); /* another rank failed */
  *out = NULL;
  return status;
}

gbt_status gbti_cuts_build(gbt_ctx *ctx, gbti_feed *feed, const double *weight, int32_t max_bin, gbt_offload *offload,
                           gbt_cuts **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_cuts *cuts = NULL;
  uint64_t *whole = NULL;
  const gbt_table *table = &feed->table;
  cuts_job cj = {.feed = feed, .table = table, .share = feed->share, .max_bin = max_bin, .offload = offload};
  int weighted;
  *out = NULL;
  if (max_bin == GBT_EXACT_BINS) cj.exact = 1, cj.max_bin = GBT_MOST_VALUES, cj.offload = NULL;
  if (cj.max_bin < 2 || cj.max_bin > GBT_MAX_BINS)
    return gbt_fail_on(err, GBT_E_ARG, "max_bin", "`max_bin` is %d; give a number from 2 to %d", (int)max_bin,
                       GBT_MAX_BINS);
  GBT_TRY(gbti_ranks_match(ctx, table, weight, max_bin, &weighted, err));
  if (table->n_cols == 0) return gbt_fail(err, GBT_E_DATA, "the data have no columns to learn from");
  gbti_job_start(&cj.job, ctx);
  cj.per_task = gbti_cols_per_task(table->n_rows);
  if (weighted) GBT_TRY(whole_weights(ctx, weight, table->n_rows, cj.share, &whole, &cj.total_weight, err));
  cj.weight = whole;
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, 1, sizeof *cuts, &cuts, err), done);
  cuts->refs = 1;
  cuts->mem = ctx->mem;
  cuts->n_rows = cj.share.all;
  cuts->absent_missing = table->absent_missing != 0;
  GBT_TRY_GOTO(make_cuts(ctx, &cj, cuts, err), done);
done:
  gbt_mem_free(&ctx->mem, whole);
  if (status == GBT_OK)
    *out = cuts;
  else
    gbt_cuts_unref(cuts);
  return status;
}

gbt_cuts *gbt_cuts_ref(gbt_cuts *cuts) {
  cuts->refs++;
  return cuts;
}

void gbt_cuts_unref(gbt_cuts *cuts) {
  if (cuts == NULL || --cuts->refs > 0) return;
  gbt_mem mem = cuts->mem;
  for (int32_t f = 0; cuts->feat != NULL && f < cuts->n_features; f++) gbt_mem_free(&mem, (void *)cuts->feat[f].cut);
  gbt_mem_free(&mem, cuts->feat);
  gbt_schema_unref(cuts->schema);
  gbt_mem_free(&mem, cuts);
}

int32_t gbt_cuts_bin(const gbt_feature_cuts *feat, double x) { return gbt_cut_search(feat->cut, feat->n_bins, x); }
