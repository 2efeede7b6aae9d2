/* Which features share a column: those that are never outside their zero bins in the same row of this table.
 *
 *   f1    . 3 . . 1 . .        bundle  . 3 7 . 1 . 8         codes of f1 are 1 .. 3, those of f2 4 .. 8
 *   f2    . . 4 . . . 5                                      code 0: all members are in their zero bins
 *
 * Features by falling number of filled cells, ties by number; each goes to the first bundle that has none of its rows
 * (first fit). A bundle has its rows as bits; a comparison stops at the first common row. Bundles are exact, but not
 * always the best ones: the number of open bundles is limited, and when further trials would cost more than they save,
 * the remaining features are not bundled. Only storage depends on this, results do not. Bundles depend only on the
 * table and the cuts.
 *
 * Dense columns must be read to know their rows, so they are tried on a sample of the rows first, and those that find
 * no partner there are not bundled. */
#include <string.h>

#include "../base/parallel.h"
#include "../base/sort.h"
#include "page_impl.h"

enum {
  FILLED_SHARE = 2, /* members are outside their zero bin in at most one row of so many */
  LIST_COST = 3,    /* adding a cell of a sparse list to a histogram costs so many of a column */
  OPEN_LEAST = 64,  /* bundles open at a time */
  OPEN_MOST = 1024,
  OPEN_BYTES = 16 << 20, /* of their bits; OPEN_LEAST may take more, 8 bytes a row */
  TRIAL = 8,             /* probes that a trial costs at least */
  IN_VAIN = 1 << 16,     /* probes that are allowed in any case */
  SAMPLES = 8,           /* runs of rows */
  SAMPLE_ROWS = 1024,    /* of a run */
  CHUNK = 1 << 20        /* rows of a column between two polls */
};

typedef struct bundle {
  uint64_t *bits; /* its rows; NULL: closed */
  int64_t filled; /* cells */
  int64_t apart;  /* what the members cost without it, in cells of a column */
  int32_t n_feats, n_codes, number;
  int32_t into; /* the bundle that it was put into; -1: none */
} bundle;

/* Rows of a feature's cells outside of its zero bin. */
typedef struct row_list {
  uint32_t *row; /* cap */
  int64_t n, cap;
  int64_t base; /* is added to the rows that are appended */
} row_list;

typedef struct finder {
  gbt_ctx *ctx;
  gbti_feed *feed;
  const gbt_binding *binding; /* of all rows; chunks have their own */
  const gbt_cuts *cuts;
  int sampled;    /* rows are those of the samples */
  int64_t n_rows; /* bits of a bundle */
  int32_t max_codes;
  int32_t *feat, n_feats; /* candidates, in order */
  int32_t *of;            /* by feature */
  const int8_t *missing;  /* by feature: the missing code needs a slot; NULL: not known */
  int64_t *cells;         /* by feature */
  bundle *bundle;
  size_t n_bundles, cap_bundles;
  int32_t *open, n_open, max_open;
  row_list one;   /* in memory: the feature in work */
  row_list *list; /* chunks: those of candidates list_beg .. list_end - 1 */
  int32_t list_beg, list_end;
  uint32_t *list_rows; /* of all these, end to end */
  int64_t wasted; /* probes */
} finder;

/* ---- rows of a feature ---- */

static void append_rows(void *arg, const int32_t *row, const int32_t *code, int32_t n) {
  row_list *list = arg;
  (void)code;
  for (int32_t i = 0; i < n && list->n < list->cap; i++) list->row[list->n++] = (uint32_t)(list->base + row[i]);
}

/* The s-th sample is a run of rows of the table. */
static int64_t sample_beg(const finder *fd, int64_t s) {
  return (fd->binding->table->n_rows - SAMPLE_ROWS) * s / (SAMPLES - 1);
}

/* Of the samples, those cells that lie in the binding's rows, of which the first one is row `beg` of the table. */
static void append_samples(const finder *fd, const gbt_binding *binding, int32_t feat, int64_t beg, row_list *list) {
  const int64_t end = beg + binding->table->n_rows;
  for (int64_t s = 0; s < SAMPLES; s++) {
    const int64_t first = sample_beg(fd, s);
    int64_t from = first > beg ? first : beg, to = first + SAMPLE_ROWS < end ? first + SAMPLE_ROWS : end;
    if (from >= to) continue;
    list->base = s * SAMPLE_ROWS + (from - first);
    gbti_each_filled(binding, fd->cuts, feat, from - beg, (int32_t)(to - from), 0, append_rows, list);
  }
}

/* Sparse columns without entries in the zero bin are lists of rows already. */
static int is_list(const finder *fd, int32_t feat) {
  const gbt_column *col = gbt_binding_column(fd->binding, feat);
  return col->rows != NULL && col->n_entries == fd->cells[feat];
}

static int too_full(const finder *fd, int32_t feat) {
  return !fd->sampled && fd->cells[feat] > fd->n_rows / FILLED_SHARE;
}

/* Most rows that the list of a candidate can have; 0 for one that is skipped. */
static int64_t list_cap(const finder *fd, int32_t i) {
  return fd->sampled ? fd->n_rows : too_full(fd, fd->feat[i]) ? 0 : fd->cells[fd->feat[i]];
}

typedef struct list_job {
  gbti_job job;
  finder *fd;
  const gbt_binding *binding;
  int64_t beg;
} list_job;

static void list_task(void *arg, int64_t task, int thread) {
  list_job *job = arg;
  finder *fd = job->fd;
  row_list *list = &fd->list[task];
  const int32_t feat = fd->feat[fd->list_beg + task];
  const int64_t n_rows = job->binding->table->n_rows;
  if (fd->sampled) append_samples(fd, job->binding, feat, job->beg, list);
  for (int64_t at = 0; at < n_rows && !fd->sampled && list->cap > 0; at += CHUNK) {
    int32_t n = n_rows - at < CHUNK ? (int32_t)(n_rows - at) : CHUNK;
    if (gbti_job_stopped(&job->job, thread)) return;
    list->base = job->beg + at;
    gbti_each_filled(job->binding, fd->cuts, feat, at, n, 0, append_rows, list);
  }
}

static gbt_status list_chunk(void *arg, gbti_feed *feed, const gbt_binding *binding, int64_t beg, gbt_error *err) {
  finder *fd = arg;
  list_job job = {.fd = fd, .binding = binding, .beg = beg};
  gbti_job_start(&job.job, feed->ctx);
  return gbti_job_run(&job.job, fd->list_end - fd->list_beg, list_task, &job, err);
}

/* The lists of candidates from i on, as many as may be in memory together: a pass. */
static gbt_status fetch_lists(finder *fd, int32_t i, gbt_error *err) {
  const gbt_mem *mem = &fd->ctx->mem;
  size_t room = fd->feed->fetch_bytes / sizeof *fd->list_rows, n = 0;
  fd->list_beg = i;
  fd->list_end = i;
  for (; fd->list_end < fd->n_feats; fd->list_end++) {
    size_t more = (size_t)list_cap(fd, fd->list_end);
    if (fd->list_end > i && n + more > room) break;
    n += more;
  }
  gbt_mem_free(mem, fd->list);
  gbt_mem_free(mem, fd->list_rows);
  fd->list_rows = NULL;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)(fd->list_end - i), sizeof *fd->list, &fd->list, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *fd->list_rows, &fd->list_rows, err));
  n = 0;
  for (int32_t k = 0; k < fd->list_end - i; k++) {
    fd->list[k].row = fd->list_rows + n;
    fd->list[k].cap = list_cap(fd, i + k);
    n += (size_t)fd->list[k].cap;
  }
  return gbti_feed_pass_bound(fd->feed, list_chunk, fd, err);
}

/* Rows of candidate i. */
static gbt_status list_rows(finder *fd, int32_t i, const uint32_t **row, int64_t *n, gbt_error *err) {
  const int32_t feat = fd->feat[i];
  row_list *list = &fd->one;
  if (!fd->feed->in_memory) {
    if (i >= fd->list_end) GBT_TRY(fetch_lists(fd, i, err));
    list = &fd->list[i - fd->list_beg];
  } else if (fd->sampled) {
    list->n = 0;
    append_samples(fd, fd->binding, feat, 0, list);
  } else if (is_list(fd, feat)) {
    *row = (const uint32_t *)gbt_binding_column(fd->binding, feat)->rows;
    *n = fd->cells[feat];
    return GBT_OK;
  } else {
    int64_t all = fd->binding->table->n_rows;
    list->n = 0;
    for (list->base = 0; list->base < all; list->base += CHUNK) {
      int32_t m = all - list->base < CHUNK ? (int32_t)(all - list->base) : CHUNK;
      GBT_TRY(gbt_ctx_poll(fd->ctx, err));
      gbti_each_filled(fd->binding, fd->cuts, feat, list->base, m, 0, append_rows, list);
    }
  }
  *row = list->row;
  *n = list->n;
  return GBT_OK;
}

/* ---- first fit ---- */

/* Sets the bits of the rows unless one of them is set. */
static int add_rows(finder *fd, bundle *b, const uint32_t *row, int64_t n) {
  int64_t i = 0;
  for (; i < n; i++) {
    uint64_t *word = &b->bits[row[i] >> 6], bit = (uint64_t)1 << (row[i] & 63);
    if (*word & bit) break;
    *word |= bit;
  }
  if (i == n) return 1;
  for (int64_t k = 0; k < i; k++) b->bits[row[k] >> 6] &= ~((uint64_t)1 << (row[k] & 63));
  fd->wasted += 2 * i;
  return 0;
}

static void close_bundle(finder *fd, int32_t at) {
  bundle *b = &fd->bundle[fd->open[at]];
  gbt_mem_free(&fd->ctx->mem, b->bits);
  b->bits = NULL;
  memmove(fd->open + at, fd->open + at + 1, (size_t)(fd->n_open - at - 1) * sizeof *fd->open);
  fd->n_open--;
}

/* No more features will fit in. */
static int is_full(const finder *fd, const bundle *b) { return b->n_codes >= fd->max_codes || b->filled >= fd->n_rows; }

static int make_room(finder *fd) {
  for (int32_t k = 0; fd->n_open == fd->max_open && k < fd->n_open; k++)
    if (is_full(fd, &fd->bundle[fd->open[k]])) close_bundle(fd, k);
  return fd->n_open < fd->max_open;
}

static int32_t n_codes_of(const finder *fd, int32_t feat) {
  return (int32_t)gbti_filled_slots(&fd->cuts->feat[feat], fd->missing == NULL || fd->missing[feat]);
}

static void join(finder *fd, int32_t number, int32_t feat, int64_t n) {
  bundle *b = &fd->bundle[number];
  b->filled += n;
  b->apart += gbti_nearly_empty(fd->cuts, &fd->cuts->feat[feat]) ? LIST_COST * n : fd->n_rows;
  b->n_feats++;
  b->n_codes += n_codes_of(fd, feat);
  fd->of[feat] = number;
}

static gbt_status open_bundle(finder *fd, int32_t feat, const uint32_t *row, int64_t n, gbt_error *err) {
  if (!make_room(fd)) return GBT_OK;
  gbt_mem *mem = &fd->ctx->mem;
  GBT_TRY(gbt_mem_grow(mem, &fd->bundle, &fd->cap_bundles, fd->n_bundles + 1, sizeof *fd->bundle, err));
  bundle *b = &fd->bundle[fd->n_bundles];
  memset(b, 0, sizeof *b);
  b->n_codes = 1;
  b->into = -1;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)(fd->n_rows + 63) / 64, sizeof *b->bits, &b->bits, err));
  fd->open[fd->n_open++] = (int32_t)fd->n_bundles++;
  add_rows(fd, b, row, n);
  join(fd, (int32_t)fd->n_bundles - 1, feat, n);
  fd->wasted += n; /* until another one joins */
  return GBT_OK;
}

static gbt_status place_feature(finder *fd, int32_t i, gbt_error *err) {
  const uint32_t *row;
  int64_t n;
  const int32_t feat = fd->feat[i];
  int32_t n_codes = n_codes_of(fd, feat);
  if (too_full(fd, feat)) return GBT_OK;
  GBT_TRY(list_rows(fd, i, &row, &n, err));
  for (int32_t k = 0; k < fd->n_open; k++) {
    bundle *b = &fd->bundle[fd->open[k]];
    if (b->n_codes + n_codes > fd->max_codes || b->filled + n > fd->n_rows) continue;
    GBT_TRY(gbt_ctx_poll(fd->ctx, err));
    if (add_rows(fd, b, row, n)) {
      if (b->n_feats == 1) fd->wasted -= b->filled;
      join(fd, fd->open[k], feat, n);
      return GBT_OK;
    }
    fd->wasted += TRIAL;
  }
  return open_bundle(fd, feat, row, n, err);
}

/* Half of all cells may be examined without success, and some in any case. */
static gbt_status first_fit(finder *fd, gbt_error *err) {
  double cells = 0.0, share = (double)fd->n_rows / (double)fd->cuts->n_rows;
  for (int32_t i = 0; i < fd->n_feats; i++) cells += share * (double)fd->cuts->feat[fd->feat[i]].n_filled;
  for (int32_t i = 0; i < fd->n_feats && (double)fd->wasted <= IN_VAIN + 0.5 * cells; i++) {
    GBT_TRY(gbt_ctx_poll(fd->ctx, err));
    GBT_TRY(place_feature(fd, i, err));
  }
  return GBT_OK;
}

/* ---- bundles of more than a byte's codes ---- */

static int is_worth(const finder *fd, const bundle *b) { return b->n_feats > 1 && b->apart >= fd->n_rows; }

/* Bundles of byte codes that are not worth a column by themselves are put together where they do not meet. */
static gbt_status merge_bundles(finder *fd, gbt_error *err) {
  int64_t n_words = (fd->n_rows + 63) / 64, left = 64 * n_words + (1 << 24);
  for (int32_t i = 0; i < fd->n_open; i++) {
    bundle *a = &fd->bundle[fd->open[i]];
    if (is_worth(fd, a) || a->n_feats == 0) continue;
    for (int32_t k = i + 1; k < fd->n_open && left > 0; k++) {
      bundle *b = &fd->bundle[fd->open[k]];
      if (b->n_feats == 0 || is_worth(fd, b) || a->filled + b->filled > fd->n_rows) continue;
      if (a->n_codes + b->n_codes - 1 > GBTI_BUNDLE_CODES) continue;
      int64_t w = 0;
      while (w < n_words && !(a->bits[w] & b->bits[w])) w++;
      left -= w + 1;
      if (w < n_words) continue;
      for (w = 0; w < n_words; w++) a->bits[w] |= b->bits[w];
      a->filled += b->filled;
      a->apart += b->apart;
      a->n_feats += b->n_feats;
      a->n_codes += b->n_codes - 1;
      b->n_feats = 0;
      b->into = fd->open[i];
      GBT_TRY(gbt_ctx_poll(fd->ctx, err));
    }
  }
  return GBT_OK;
}

/* ---- candidates ---- */

/* Ascending by zeros, that is falling by filled cells; features of equal numbers stay in order. */
static gbt_status list_candidates(finder *fd, gbt_error *err) {
  const gbt_cuts *cuts = fd->cuts;
  size_t n = (size_t)cuts->n_features;
  uint64_t *key = NULL;
  const gbt_mem *mem = &fd->ctx->mem;
  GBT_TRY(gbt_mem_array(mem, n, sizeof *fd->feat, &fd->feat, err));
  GBT_TRY(gbt_mem_array(mem, 3 * n + 1, sizeof *key, &key, err));
  for (int32_t i = 0; i < cuts->n_features; i++) {
    const gbt_feature_cuts *f = &cuts->feat[i];
    const gbt_column *col = gbt_binding_column(fd->binding, i);
    if (f->zero_bin < 0 || f->n_filled * FILLED_SHARE > cuts->n_rows || f->n_bins >= GBTI_BUNDLE_CODES) continue;
    if (col->rows != NULL && !gbti_absent_is_zero(fd->binding, cuts, i)) continue;
    key[fd->n_feats] = (uint64_t)(cuts->n_rows - f->n_filled);
    fd->feat[fd->n_feats++] = i;
  }
  uint32_t *tmp = (uint32_t *)(void *)(key + 2 * n);
  gbt_sort_u64(key, (uint32_t *)fd->feat, (size_t)fd->n_feats, key + n, tmp);
  gbt_mem_free(mem, key);
  return GBT_OK;
}

static gbt_status finder_ready(finder *fd, gbt_error *err) {
  const gbt_mem *mem = &fd->ctx->mem;
  GBT_ASSERT(fd->n_rows > 0);
  int64_t bytes = (fd->n_rows + 63) / 64 * 8, most = OPEN_BYTES / bytes;
  fd->max_open = most < OPEN_LEAST ? OPEN_LEAST : most > OPEN_MOST ? OPEN_MOST : (int32_t)most;
  GBT_TRY(gbt_mem_array(mem, (size_t)fd->max_open, sizeof *fd->open, &fd->open, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)fd->cuts->n_features, sizeof *fd->of, &fd->of, err));
  for (int32_t i = 0; i < fd->cuts->n_features; i++) fd->of[i] = -1;
  return GBT_OK;
}

/* In memory: room for the longest list of rows that no column has already. */
static gbt_status make_list(finder *fd, gbt_error *err) {
  fd->one.cap = 0;
  if (!fd->feed->in_memory) return GBT_OK;
  for (int32_t i = 0; i < fd->n_feats; i++) {
    int64_t n = list_cap(fd, i);
    if (n > fd->one.cap && (fd->sampled || !is_list(fd, fd->feat[i]))) fd->one.cap = n;
  }
  return gbt_mem_array(&fd->ctx->mem, (size_t)fd->one.cap, sizeof *fd->one.row, &fd->one.row, err);
}

static void finder_free(finder *fd) {
  const gbt_mem *mem = &fd->ctx->mem;
  for (size_t b = 0; b < fd->n_bundles; b++) gbt_mem_free(mem, fd->bundle[b].bits);
  gbt_mem_free(mem, fd->bundle);
  gbt_mem_free(mem, fd->open);
  gbt_mem_free(mem, fd->of);
  gbt_mem_free(mem, fd->one.row);
  gbt_mem_free(mem, fd->list);
  gbt_mem_free(mem, fd->list_rows);
  gbt_mem_free(mem, fd->cells);
  gbt_mem_free(mem, fd->feat);
}

/* Leaves out dense columns that find no partner in the sample. */
static gbt_status sift_dense(finder *fd, gbt_error *err) {
  if (fd->n_rows <= SAMPLES * SAMPLE_ROWS) return GBT_OK;
  gbt_status status = GBT_OK;
  finder small = {.ctx = fd->ctx,
                  .feed = fd->feed,
                  .binding = fd->binding,
                  .cuts = fd->cuts,
                  .sampled = 1,
                  .max_codes = GBTI_BUNDLE_CODES,
                  .n_rows = SAMPLES * SAMPLE_ROWS};
  GBT_TRY_GOTO(gbt_mem_array(&fd->ctx->mem, (size_t)fd->n_feats, sizeof *small.feat, &small.feat, err), done);
  for (int32_t i = 0; i < fd->n_feats; i++)
    if (gbt_binding_column(fd->binding, fd->feat[i])->rows == NULL) small.feat[small.n_feats++] = fd->feat[i];
  if (small.n_feats == 0) goto done;
  GBT_TRY_GOTO(finder_ready(&small, err), done);
  GBT_TRY_GOTO(make_list(&small, err), done);
  GBT_TRY_GOTO(first_fit(&small, err), done);
  int32_t n = 0;
  for (int32_t i = 0; i < fd->n_feats; i++) {
    int32_t f = fd->feat[i], b = small.of[f];
    int dense = gbt_binding_column(fd->binding, f)->rows == NULL;
    if (!dense || (b >= 0 && small.bundle[b].n_feats > 1)) fd->feat[n++] = f;
  }
  fd->n_feats = n;
done:
  finder_free(&small);
  return status;
}

/* ---- what candidates hold in this table ---- */

typedef struct scan_job {
  gbti_job job;
  finder *fd;
  const gbt_binding *binding;
  int8_t *missing;
} scan_job;

typedef struct scan {
  int32_t code; /* missing */
  int found;
  int64_t cells;
} scan;

static void scan_cells(void *arg, const int32_t *row, const int32_t *code, int32_t n) {
  scan *s = arg;
  (void)row;
  for (int32_t i = 0; i < n; i++) s->found |= code[i] == s->code;
  s->cells += n;
}

static void scan_task(void *arg, int64_t task, int thread) {
  scan_job *job = arg;
  finder *fd = job->fd;
  int32_t feat = fd->feat[task];
  const int64_t n_rows = job->binding->table->n_rows;
  scan s = {fd->cuts->feat[feat].n_bins, 0, 0};
  for (int64_t beg = 0; beg < n_rows; beg += CHUNK) {
    int32_t n = n_rows - beg < CHUNK ? (int32_t)(n_rows - beg) : CHUNK;
    if (gbti_job_stopped(&job->job, thread)) return;
    gbti_each_filled(job->binding, fd->cuts, feat, beg, n, 1, scan_cells, &s);
  }
  if (s.found) job->missing[feat] = 1; /* never when that is the zero bin */
  fd->cells[feat] += s.cells;
}

static gbt_status scan_chunk(void *arg, gbti_feed *feed, const gbt_binding *binding, int64_t beg, gbt_error *err) {
  scan_job *job = arg;
  (void)feed;
  (void)beg;
  job->binding = binding;
  return gbti_job_run(&job->job, job->fd->n_feats, scan_task, job, err);
}

/* The cuts know about their own table. */
static gbt_status scan_columns(finder *fd, int own_cuts, int8_t *missing, gbt_error *err) {
  scan_job job = {.fd = fd, .missing = missing};
  size_t n = (size_t)fd->cuts->n_features;
  GBT_TRY(gbt_mem_zeros(&fd->ctx->mem, n, sizeof *fd->cells, &fd->cells, err));
  fd->missing = missing;
  for (size_t f = 0; own_cuts && f < n; f++) {
    const gbt_feature_cuts *cuts = &fd->cuts->feat[f];
    missing[f] = cuts->has_missing && cuts->zero_bin != cuts->n_bins;
    fd->cells[f] = cuts->n_filled;
  }
  if (own_cuts) return GBT_OK;
  gbti_job_start(&job.job, fd->ctx);
  return gbti_feed_pass_bound(fd->feed, scan_chunk, &job, err);
}

/* ---- all of it ---- */

/* Bundles of two and more, numbered by their first members. */
static gbt_status take_bundles(finder *fd, gbti_bundles *out, gbt_error *err) {
  GBT_TRY(gbt_mem_array(&fd->ctx->mem, fd->n_bundles, 1, &out->worth, err));
  for (size_t b = 0; b < fd->n_bundles; b++) fd->bundle[b].number = -1;
  for (int32_t f = 0; f < fd->cuts->n_features; f++) {
    bundle *b = fd->of[f] >= 0 ? &fd->bundle[fd->of[f]] : NULL;
    if (b != NULL && b->into >= 0) b = &fd->bundle[b->into];
    if (b == NULL || b->n_feats < 2) continue;
    if (b->number < 0) {
      b->number = out->n++;
      out->worth[b->number] = (int8_t)is_worth(fd, b);
    }
    out->of[f] = b->number;
  }
  return GBT_OK;
}

gbt_status gbti_bundles_find(gbt_ctx *ctx, gbti_feed *feed, const gbt_cuts *cuts, gbti_page_how how,
                             gbti_bundles *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  size_t n = (size_t)cuts->n_features;
  finder fd = {.ctx = ctx,
               .feed = feed,
               .binding = feed->binding,
               .cuts = cuts,
               .n_rows = feed->table.n_rows,
               .max_codes = GBTI_BYTE_CODES};
  memset(out, 0, sizeof *out);
  GBT_TRY(gbt_mem_array(&ctx->mem, n, sizeof *out->of, &out->of, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, n, 1, &out->missing, err));
  for (size_t f = 0; f < n; f++) out->of[f] = -1;
  if (how.unbundled || fd.n_rows == 0 || cuts->n_rows == 0 || gbti_stores_zeros(cuts)) return GBT_OK;
  GBT_TRY_GOTO(list_candidates(&fd, err), done);
  GBT_TRY_GOTO(sift_dense(&fd, err), done);
  if (fd.n_feats < 2) goto done;
  GBT_TRY_GOTO(finder_ready(&fd, err), done);
  GBT_TRY_GOTO(scan_columns(&fd, how.own_cuts, out->missing, err), done);
  GBT_TRY_GOTO(make_list(&fd, err), done);
  GBT_TRY_GOTO(first_fit(&fd, err), done);
  GBT_TRY_GOTO(merge_bundles(&fd, err), done);
  GBT_TRY_GOTO(take_bundles(&fd, out, err), done);
done:
  finder_free(&fd);
  return status;
}

void gbti_bundles_free(const gbt_mem *mem, gbti_bundles *bundles) {
  gbt_mem_free(mem, bundles->of);
  gbt_mem_free(mem, bundles->missing);
  gbt_mem_free(mem, bundles->worth);
}
