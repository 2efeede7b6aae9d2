/* Several devices that look like one backend. They are ranks (base/comm.h): threads of this process, each with a
 * backend of its own for a run of the rows. So devices exchange the same data as ranks do, and the trainer does not
 * depend on it.
 *
 *   rows      | device 0 | device 1 | device 2 |      of every data set, as masks of it: the bins are shared; of a
 *                                                     folder each device reads the pages that have its rows
 *   gradients    thread 0   thread 1   thread 2       an operation of the backend: all threads do theirs, and end
 *   a batch      thread 0   thread 1   thread 2       begun, grown and finished at once, so threads start once a batch
 *   scores    | own .... | own .... | own .... |      joined on the host when they are asked for
 *
 * Trees are the same on all devices; those of the first one go to the forest. */
#include "devices.h"

#include <string.h>

#include "../base/parallel.h"
#include "../base/world.h"
#include "../data/page_store_impl.h"
#include "grow.h"
#include "trainer.h"

/* A device. */
typedef struct member {
  gbt_backend *be;
  int32_t number;
  gbt_dataset **data; /* 1 + n_valid shares */
  gbt_forest *forest; /* its trees; NULL: the first device, whose trees are kept */
} member;

typedef struct devices_backend {
  gbt_backend base;
  gbt_mem mem;
  gbt_world *world;
  int32_t n, n_outputs, n_valid;
  int n_threads; /* of a device in a batch: they read pages, if there are any to read */
  member *member; /* n */
  int64_t *beg;   /* by data set, n + 1: the first rows of the devices' runs */
  double **score; /* by data set: of all rows, joined; NULL until it is asked for */
  gbt_tree_task task[GBT_MOST_TREES];
  int32_t n_trees;
  double seconds[GBT_N_PHASES]; /* of the first device, as they have been counted */
} devices_backend;

/* The input of an operation; fields that it has no use for are 0. */
typedef struct device_job {
  devices_backend *d;
  const gbt_device_api *device;
  const gbt_backend_spec *spec;
  gbt_status (*fn)(struct device_job *job, gbt_ctx *ctx, int rank, gbt_error *err);
  gbt_backend *from;
  const double *g, *h; /* rows x outputs */
  int32_t which;
  uint64_t round, first;
  const gbt_tree_task *task;
  int32_t n_trees;
  const gbt_forest_view *like;
  gbt_forest *forest;
} device_job;

static int64_t *begs_of(const devices_backend *d, int32_t s) { return d->beg + (size_t)s * ((size_t)d->n + 1); }
static int64_t rows_of(const devices_backend *d, int32_t s, int r) {
  return begs_of(d, s)[r + 1] - begs_of(d, s)[r];
}

/* ---- fanning out ---- */

static gbt_status do_job(void *arg, gbt_ctx *own, gbt_error *err) {
  device_job *job = arg;
  return job->fn(job, own, own->comm->rank, err);
}

/* Time and memory of the devices to those of the whole. */
static void count_use(devices_backend *d) {
  d->base.device_bytes = d->base.host_bytes = 0;
  for (int32_t r = 0; r < d->n; r++) {
    const gbt_backend *be = d->member[r].be;
    if (be == NULL) continue;
    if (be->device_bytes > d->base.device_bytes) d->base.device_bytes = be->device_bytes;
    d->base.host_bytes += be->host_bytes;
  }
  for (int p = 0; p < GBT_N_PHASES && d->member[0].be != NULL; p++) {
    d->base.seconds[p] += d->member[0].be->seconds[p] - d->seconds[p];
    d->seconds[p] = d->member[0].be->seconds[p];
  }
}

static gbt_status on_all(gbt_ctx *ctx, device_job *job, int n_threads, gbt_error *err) {
  const gbt_status status = gbt_world_run(ctx, job->d->world, n_threads, do_job, job, err);
  count_use(job->d);
  return status;
}

/* Rows [beg, beg + n) of x, which has all rows of a column side by side, to `out`. */
static void slice(const double *x, int64_t all, int64_t columns, int64_t beg, int64_t n, double *out) {
  for (int64_t k = 0; k < columns && n > 0; k++)
    memcpy(out + k * n, x + k * all + beg, (size_t)n * sizeof *x);
}

/* The same in memory of the context, for outputs of data set s and device r. x NULL: NULL. */
static gbt_status slice_new(gbt_ctx *ctx, const devices_backend *d, const double *x, int32_t s, int r, double **out,
                            gbt_error *err) {
  const int64_t n = rows_of(d, s, r), *beg = begs_of(d, s);
  *out = NULL;
  if (x == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n * (size_t)d->n_outputs, sizeof **out, out, err));
  slice(x, beg[d->n], d->n_outputs, beg[r], n, *out);
  return GBT_OK;
}

/* ---- opening ---- */

static void destroy(gbt_backend *self) {
  devices_backend *d = (devices_backend *)self;
  gbt_mem mem = d->mem;
  for (int32_t r = 0; d->member != NULL && r < d->n; r++) {
    member *m = &d->member[r];
    if (m->be != NULL) m->be->ops->destroy(m->be);
    for (int32_t s = 0; m->data != NULL && s <= d->n_valid; s++) gbt_dataset_unref(m->data[s]);
    gbt_mem_free(&mem, m->data);
    gbt_forest_free(m->forest);
  }
  for (int32_t s = 0; d->score != NULL && s <= d->n_valid; s++) gbt_mem_free(&mem, d->score[s]);
  gbt_world_close(d->world);
  void *blocks[] = {d->member, d->beg, d->score};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&mem, blocks[i]);
  gbt_mem_free(&mem, d);
}

/* A device's run of the rows of a data set. mask: room for one of all its rows, all 0, as it is again afterwards. */
static gbt_status make_share(gbt_ctx *ctx, const devices_backend *d, gbt_dataset *ds, int32_t s, int r, int *mask,
                             gbt_error *err) {
  const int64_t *beg = begs_of(d, s);
  gbt_dataset **out = &d->member[r].data[s];
  for (int64_t i = beg[r]; i < beg[r + 1]; i++) mask[i] = 1;
  const gbt_status status = gbti_dataset_part(ctx, ds, mask, out, err);
  for (int64_t i = beg[r]; i < beg[r + 1]; i++) mask[i] = 0;
  if (status != GBT_OK) return status;
  (*out)->rows.before = beg[r];
  (*out)->all_rows = beg[d->n];
  return GBT_OK;
}

static gbt_status make_shares(gbt_ctx *ctx, devices_backend *d, gbt_dataset *ds, int32_t s, gbt_error *err) {
  gbt_status status = GBT_OK;
  int64_t *beg = begs_of(d, s);
  int *mask = NULL;
  for (int32_t r = 0; r <= d->n; r++) beg[r] = ds->rows.n / d->n * r + ds->rows.n % d->n * r / d->n;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)ds->rows.n, sizeof *mask, &mask, err));
  for (int r = 0; r < d->n && status == GBT_OK; r++) status = make_share(ctx, d, ds, s, r, mask, err);
  gbt_mem_free(&ctx->mem, mask);
  return status;
}

/* Copies of pages on one device are of no use to the others, and devices must not give them back at the same time. */
static void drop_resident(gbt_page_store *pages) {
  gbt_page_store *owner = pages->inner != NULL ? pages->inner : pages;
  if (owner->resident != NULL) owner->resident->free(owner->resident);
  owner->resident = NULL;
}

static gbt_status open_member(device_job *job, gbt_ctx *ctx, int r, gbt_error *err) {
  devices_backend *d = job->d;
  member *m = &d->member[r];
  gbt_backend_spec spec = *job->spec;
  double *init[GBT_MAX_VALID + 1] = {NULL};
  gbt_status status = GBT_OK;
  for (int32_t s = 0; s <= d->n_valid && spec.init != NULL && status == GBT_OK; s++)
    status = slice_new(ctx, d, job->spec->init[s], s, r, &init[s], err);
  spec.data = m->data;
  if (spec.init != NULL) spec.init = (const double *const *)init;
  spec.n_devices = 0;
  if (status == GBT_OK) status = job->device->open(ctx, m->number, &spec, &m->be, err);
  for (int32_t s = 0; s <= d->n_valid; s++) gbt_mem_free(&ctx->mem, init[s]);
  return status;
}

static gbt_status open_all(gbt_ctx *ctx, devices_backend *d, const gbt_device_api *device,
                           const gbt_backend_spec *spec, gbt_error *err) {
  const size_t n_data = (size_t)spec->n_valid + 1;
  device_job job = {.d = d, .device = device, .spec = spec, .fn = open_member};
  GBT_TRY(gbt_mem_zeros(&d->mem, (size_t)d->n, sizeof *d->member, &d->member, err));
  GBT_TRY(gbt_mem_zeros(&d->mem, n_data, sizeof *d->score, &d->score, err));
  GBT_TRY(gbt_mem_zeros(&d->mem, n_data * ((size_t)d->n + 1), sizeof *d->beg, &d->beg, err));
  GBT_TRY(gbt_world_open(&d->mem, d->n, &d->world, err));
  for (int32_t r = 0; r < d->n; r++) {
    member *m = &d->member[r];
    m->number = spec->devices[r];
    GBT_TRY(gbt_mem_zeros(&d->mem, n_data, sizeof *m->data, &m->data, err));
    if (r > 0)
      GBT_TRY(gbt_forest_new(&d->mem, spec->data[0]->cuts->n_features, spec->objective.n_outputs,
                             (int32_t)spec->params->num_parallel_tree, &m->forest, err));
  }
  for (int32_t s = 0; s <= spec->n_valid; s++) {
    drop_resident(spec->data[s]->pages);
    GBT_TRY(make_shares(ctx, d, spec->data[s], s, err));
  }
  GBT_TRY(on_all(ctx, &job, ctx->n_threads / d->n, err));
  d->base.most_trees = d->member[0].be->most_trees;
  d->n_threads = 1;
  for (int32_t s = 0; s <= spec->n_valid; s++)
    if (!gbt_pages_stay(spec->data[s]->pages)) d->n_threads = ctx->n_threads / d->n;
  return GBT_OK;
}

static gbt_status check_spec(const gbt_ctx *ctx, const gbt_backend_spec *spec, gbt_error *err) {
  if (!gbt_comm_is_single(ctx))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "devices",
                       "`devices` cannot be combined with `ranks`: each rank trains on one device; start a rank for "
                       "each");
  if (spec->n_devices > GBT_WORLD_MOST)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "devices", "`devices` has %d devices; give at most %d",
                       (int)spec->n_devices, (int)GBT_WORLD_MOST);
  return GBT_OK;
}

/* ---- operations ---- */

static gbt_status gradients_of(device_job *job, gbt_ctx *ctx, int r, gbt_error *err) {
  gbt_backend *be = job->d->member[r].be;
  be->size_reg = job->d->base.size_reg;
  return be->ops->gradients(ctx, be, job->round, err);
}

static gbt_status gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, gbt_error *err) {
  device_job job = {.d = (devices_backend *)self, .fn = gradients_of, .round = round};
  return on_all(ctx, &job, 1, err);
}

static gbt_status set_gradients_of(device_job *job, gbt_ctx *ctx, int r, gbt_error *err) {
  devices_backend *d = job->d;
  gbt_backend *be = d->member[r].be;
  double *g = NULL, *h = NULL;
  gbt_status status = slice_new(ctx, d, job->g, 0, r, &g, err);
  if (status == GBT_OK) status = slice_new(ctx, d, job->h, 0, r, &h, err);
  be->size_reg = d->base.size_reg;
  if (status == GBT_OK) status = be->ops->set_gradients(ctx, be, job->round, g, h, err);
  gbt_mem_free(&ctx->mem, g);
  gbt_mem_free(&ctx->mem, h);
  return status;
}

static gbt_status set_gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, const double *g, const double *h,
                                gbt_error *err) {
  device_job job = {.d = (devices_backend *)self, .fn = set_gradients_of, .round = round, .g = g, .h = h};
  return on_all(ctx, &job, 1, err);
}

static gbt_status set_projection_of(device_job *job, gbt_ctx *ctx, int r, gbt_error *err) {
  gbt_backend *be = job->d->member[r].be, *from = ((devices_backend *)job->from)->member[r].be;
  be->size_reg = job->d->base.size_reg;
  return be->ops->set_projection(ctx, be, from, job->g, job->round, err);
}

static gbt_status set_projection(gbt_ctx *ctx, gbt_backend *self, gbt_backend *from, const double *u, uint64_t round,
                                 gbt_error *err) {
  device_job job = {.d = (devices_backend *)self, .fn = set_projection_of, .from = from, .g = u, .round = round};
  return on_all(ctx, &job, 1, err);
}

static gbt_status set_scores_of(device_job *job, gbt_ctx *ctx, int r, gbt_error *err) {
  gbt_backend *be = job->d->member[r].be;
  double *own;
  GBT_TRY(slice_new(ctx, job->d, job->g, job->which, r, &own, err));
  const gbt_status status = be->ops->set_scores(ctx, be, job->which, own, err);
  gbt_mem_free(&ctx->mem, own);
  return status;
}

static gbt_status set_scores(gbt_ctx *ctx, gbt_backend *self, int32_t which, const double *score, gbt_error *err) {
  device_job job = {.d = (devices_backend *)self, .fn = set_scores_of, .which = which, .g = score};
  return on_all(ctx, &job, 1, err);
}

static gbt_status scores_of(device_job *job, gbt_ctx *ctx, int r, gbt_error *err) {
  devices_backend *d = job->d;
  gbt_backend *be = d->member[r].be;
  const int64_t n = rows_of(d, job->which, r), *beg = begs_of(d, job->which);
  const double *own;
  GBT_TRY(be->ops->scores(ctx, be, job->which, &own, err));
  for (int32_t k = 0; k < d->n_outputs && n > 0; k++)
    memcpy(d->score[job->which] + k * beg[d->n] + beg[r], own + k * n, (size_t)n * sizeof *own);
  return GBT_OK;
}

static gbt_status scores(gbt_ctx *ctx, gbt_backend *self, int32_t which, const double **out, gbt_error *err) {
  devices_backend *d = (devices_backend *)self;
  device_job job = {.d = d, .fn = scores_of, .which = which};
  const size_t n = (size_t)begs_of(d, which)[d->n] * (size_t)d->n_outputs;
  if (d->score[which] == NULL) GBT_TRY(gbt_mem_array(&d->mem, n, sizeof *d->score[which], &d->score[which], err));
  GBT_TRY(on_all(ctx, &job, 1, err));
  *out = d->score[which];
  return GBT_OK;
}

/* ---- trees ---- */

static gbt_status begin_trees(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                              gbt_error *err) {
  devices_backend *d = (devices_backend *)self;
  memcpy(d->task, task, (size_t)n_trees * sizeof *task);
  d->n_trees = n_trees;
  return gbt_ctx_poll(ctx, err);
}

/* Histograms and splits: see finish_trees. */
static gbt_status leave_it(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  (void)self;
  return gbt_ctx_poll(ctx, err);
}

static gbt_status choose_none(gbt_ctx *ctx, gbt_backend *self, int32_t *n, gbt_error *err) {
  *n = 0;
  return leave_it(ctx, self, err);
}

static gbt_status trees_of(device_job *job, gbt_ctx *ctx, int r, gbt_error *err) {
  devices_backend *d = job->d;
  gbt_backend *be = d->member[r].be;
  gbt_forest *forest = r == 0 ? job->forest : d->member[r].forest;
  GBT_TRY(gbt_grow_trees(ctx, be, d->task, d->n_trees, forest, err));
  if (be->ops->settle != NULL) GBT_TRY(be->ops->settle(ctx, be, err));
  if (r > 0) gbt_forest_cut(forest, 0);
  return GBT_OK;
}

static gbt_status finish_trees(gbt_ctx *ctx, gbt_backend *self, gbt_forest *forest, gbt_error *err) {
  device_job job = {.d = (devices_backend *)self, .fn = trees_of, .forest = forest};
  return on_all(ctx, &job, job.d->n_threads, err);
}

static gbt_status refit_of(device_job *job, gbt_ctx *ctx, int r, gbt_error *err) {
  gbt_backend *be = job->d->member[r].be;
  gbt_forest *forest = r == 0 ? job->forest : job->d->member[r].forest;
  GBT_TRY(be->ops->refit_trees(ctx, be, job->task, job->n_trees, job->like, job->first, forest, err));
  if (r > 0) gbt_forest_cut(forest, 0);
  return GBT_OK;
}

static gbt_status refit_trees(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                              const gbt_forest_view *like, uint64_t first, gbt_forest *forest, gbt_error *err) {
  device_job job = {.d = (devices_backend *)self,
                    .fn = refit_of,
                    .task = task,
                    .n_trees = n_trees,
                    .like = like,
                    .first = first,
                    .forest = forest};
  return on_all(ctx, &job, job.d->n_threads, err);
}

static const gbt_backend_ops devices_ops = {.name = "cuda",
                                            .destroy = destroy,
                                            .gradients = gradients,
                                            .set_gradients = set_gradients,
                                            .set_projection = set_projection,
                                            .set_scores = set_scores,
                                            .begin_trees = begin_trees,
                                            .build_hist = leave_it,
                                            .find_splits = leave_it,
                                            .select = choose_none,
                                            .partition = leave_it,
                                            .finish_trees = finish_trees,
                                            .refit_trees = refit_trees,
                                            .scores = scores};

gbt_status gbti_devices_open(gbt_ctx *ctx, const gbt_device_api *device, const gbt_backend_spec *spec,
                             gbt_backend **out, gbt_error *err) {
  devices_backend *d;
  *out = NULL;
  GBT_TRY(check_spec(ctx, spec, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *d, &d, err));
  d->base.ops = &devices_ops;
  d->mem = ctx->mem;
  d->n = spec->n_devices;
  d->n_valid = spec->n_valid;
  d->n_outputs = spec->objective.n_outputs;
  const gbt_status status = open_all(ctx, d, device, spec, err);
  if (status == GBT_OK)
    *out = &d->base;
  else
    destroy(&d->base);
  return status;
}
