/* The per-row operations of the CUDA backend compared with the CPU's, byte by byte: gradients, the order of rows,
 * leaves and scores, metrics. Trees are grown by the CPU backend and carried over, so that nothing else of the device
 * is needed.
 */
#include "../../src/cuda/grow/batch.cuh"
#include "../../src/cuda/grow/gradients/ops.cuh"
#include "../../src/cuda/grow/leaves/ops.cuh"

extern "C" {
#include "../../src/gbt/boost/backends.h"
#include "../../src/gbt/boost/constraints.h"
#include "../../src/gbt/cpu/cpu.h"
#include "random_job.h"
#include "stores.h"
}

/* Both backends on one job. */
struct cuda_pair {
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_dataset *data[1 + JOB_VALID];
  gbt_constraints constraints;
  gbt_feature_rules *rules;
  double base[8];
  gbt_backend *cpu, *cuda;
  gbt_forest *forest;
};

/* What was met. */
struct cuda_seen {
  int64_t wide, narrow, sampled, weights, losses[GBT_N_OBJECTIVES], policies[3], kept, routed, bulk, metrics, several;
  int64_t columns;
};

static cpu_backend *cpu_of(const cuda_pair *p) { return (cpu_backend *)p->cpu; }
static cu_backend *cuda_of(const cuda_pair *p) { return (cu_backend *)p->cuda; }

/* Some cells of factors that hold the missing code are declared to hold unknown levels that go the way of most. */
static void make_unseen(gbt_dataset *ds, uint64_t seed) {
  gbt_page_store *s = ds->pages;
  const size_t n_features = (size_t)ds->cuts->n_features, n = (size_t)ds->rows.n;
  size_t at = 0;
  test_rng rng = {seed};
  int32_t **code = codes_of(s, ds->cuts);
  CHECK_OK(gbt_mem_zeros(&s->mem, n_features + 1, sizeof *s->info.unseen_beg, &s->info.unseen_beg, test_err));
  CHECK_OK(gbt_mem_array(&s->mem, n_features * n + 1, sizeof *s->info.unseen_row, &s->info.unseen_row, test_err));
  for (size_t f = 0; f < n_features; f++) {
    for (size_t row = 0; row < n && ds->cuts->schema->feat[f].type == GBT_CATEGORICAL; row++) {
      if (code[f][row] == ds->cuts->feat[f].n_bins && test_below(&rng, 3) > 0) s->info.unseen_row[at++] = (uint32_t)row;
    }
    s->info.unseen_beg[f + 1] = at;
  }
  codes_free(code, ds->cuts);
}

static int pair_open(cuda_pair *p, const random_job *r, const double *const *init) {
  gbt_backend_spec be;
  memset(p, 0, sizeof *p);
  memset(&be, 0, sizeof be);
  p->ctx = test_ctx(NULL, r->how.threads);
  int ok = job_open(&p->ctx, &r->job, r->how.page_rows, &p->spec);
  if (!ok) return 0;
  for (int32_t s = 0; s <= p->spec.n_valid; s++)
    make_unseen(p->data[s] = s > 0 ? p->spec.valid[s - 1] : p->spec.train, (uint64_t)s);
  for (int32_t k = 0; k < p->spec.objective.n_outputs; k++) p->base[k] = 0.1 * k - 0.3;
  gbt_constraints *c = &p->constraints;
  ok = CHECK_OK(gbt_constraints_make(&p->ctx.mem, &p->spec, c, test_err)) &&
       CHECK_OK(gbt_feature_rules_new(&p->ctx.mem, p->spec.train->cuts->n_features, NULL, &p->spec.params, c->weight,
                                      c->group_beg, c->group_feat, c->n_groups, &p->rules, test_err));
  be.params = &p->spec.params;
  be.objective = p->spec.objective;
  be.data = p->data;
  be.n_valid = p->spec.n_valid;
  be.base = p->base;
  be.init = init;
  be.monotone = c->monotone;
  be.rules = p->rules;
  ok = ok &&
       CHECK_OK(gbt_forest_new(&p->ctx.mem, p->rules->n_features, be.objective.n_outputs, 1, &p->forest, test_err));
  ok = ok && CHECK_OK(gbt_cpu_open(&p->ctx, &be, &p->cpu, test_err));
  if (!ok || !CHECK_OK(cu_open(&p->ctx, 0, &be, &p->cuda, test_err))) return 0;
  cuda_of(p)->hooks.no_small = cuda_of(p)->hooks.no_recording = 1;
  return 1;
}

static void pair_close(cuda_pair *p) {
  gbt_backend_close(p->cuda);
  gbt_backend_close(p->cpu);
  gbt_forest_free(p->forest);
  gbt_feature_rules_free(p->rules);
  gbt_constraints_free(&p->ctx.mem, &p->constraints);
  job_close(&p->spec);
  gbt_ctx_close(&p->ctx);
}

/* ---- looking at the device ---- */

/* n things from the device, to be freed with free(). */
template <class T> static T *fetch(const T *from, size_t n) {
  T *to = (T *)test_alloc(n * sizeof(T) + 1);
  CHECK_EQ_I64(cudaDeviceSynchronize(), cudaSuccess);
  if (n > 0) CHECK_EQ_I64(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
  return to;
}

template <class T> static void put(T *to, const T *from, size_t n) {
  CHECK_EQ_I64(cudaDeviceSynchronize(), cudaSuccess);
  if (n > 0) CHECK_EQ_I64(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  CHECK_EQ_I64(cudaDeviceSynchronize(), cudaSuccess); /* the backend's stream does not wait for the default one */
}

/* Whether n things on the device are those of the host. */
template <class T> static int same(const T *device, const T *host, size_t n) {
  T *got = fetch(device, n);
  int ok = memcmp(got, host, n * sizeof(T)) == 0;
  free(got);
  return ok;
}

static cu_tree tree_of(const cu_backend *be) {
  cu_tree *t = fetch(be->view.tree, 1), tree = *t;
  free(t);
  return tree;
}

static int same_scores(const cuda_pair *p) {
  int ok = 1;
  for (int32_t s = 0; s <= p->spec.n_valid; s++) {
    const cu_dataset *data = &cuda_of(p)->data[s];
    ok &= same((const double *)data->score.at, cpu_of(p)->score[s],
               (size_t)p->data[s]->rows.n * (size_t)p->spec.objective.n_outputs);
  }
  return ok;
}

/* ---- gradients and rows ---- */

static int round_begins(cuda_pair *p, const random_job *r, uint64_t round) {
  const size_t n = (size_t)p->spec.train->rows.n * (size_t)p->spec.objective.n_outputs;
  const cpu_backend *cpu = cpu_of(p);
  int ok;
  if (p->spec.objective.kind == GBT_OBJ_CUSTOM) {
    double *g = (double *)test_alloc(2 * n * sizeof *g), *h = g + n;
    const gbt_rows *rows = &p->spec.train->rows;
    r->job.custom(cpu->score[0], rows->field[GBT_LABEL], rows->n, p->spec.objective.n_outputs, g, h);
    ok = CHECK_OK(p->cpu->ops->set_gradients(&p->ctx, p->cpu, round, g, h, test_err)) &&
         CHECK_OK(p->cuda->ops->set_gradients(&p->ctx, p->cuda, round, g, h, test_err));
    memset(g, 0xff, 2 * n * sizeof *g); /* not needed any more */
    free(g);
  } else {
    ok = CHECK_OK(p->cpu->ops->gradients(&p->ctx, p->cpu, round, test_err)) &&
         CHECK_OK(p->cuda->ops->gradients(&p->ctx, p->cuda, round, test_err));
  }
  cu_output *out = fetch(cuda_of(p)->view.output, (size_t)p->spec.objective.n_outputs);
  for (int32_t k = 0; k < p->spec.objective.n_outputs; k++) {
    ok &= CHECK(memcmp(&out[k].scale, &cpu->grad.scale[k], sizeof out[k].scale) == 0);
    if (p->spec.objective.kind == GBT_OBJ_CUSTOM) ok &= CHECK_EQ_I64(out[k].wide, cpu->grad.wide[k]);
  }
  free(out);
  return ok;
}

/* The first steps of a tree, issued one by one (the backend records them). */
static int begin_on_device(cuda_pair *p, const gbt_tree_task *task) {
  cu_backend *be = cuda_of(p);
  cu_task one = cu_task();
  *static_cast<gbt_tree_task *>(&one) = *task;
  one.grads = p->spec.objective.kind == GBT_OBJ_CUSTOM ? task->output : 0;
  *be->task = one;
  be->view.n_trees = be->view.n_turns = 1;
  put(&be->view.tree->task, (const cu_task *)&one, 1);
  return CHECK_OK(cu_gradients_of_trees(&p->ctx, be, test_err)) && CHECK_OK(cu_rows_begin(&p->ctx, be, test_err));
}

/* Gradients of the task's output, the order of rows, and what the tree knows of them. */
static int tree_begins(cuda_pair *p, const gbt_tree_task *task, cuda_seen *seen) {
  cpu_backend *cpu = cpu_of(p);
  const cu_backend *cuda = cuda_of(p);
  const size_t n = (size_t)p->spec.train->rows.n;
  if (!CHECK_OK(p->cpu->ops->begin_trees(&p->ctx, p->cpu, task, 1, test_err))) return 0;
  if (!CHECK_OK(cpu_gather_end(&p->ctx, cpu, test_err))) return 0; /* order and gradients by train rows */
  if (!begin_on_device(p, task)) return 0;
  const cu_tree tree = tree_of(cuda);
  const gbt_units unit = cpu_units(cpu);
  const int wide = cpu->grad.wide[task->output];
  int ok = CHECK_EQ_U64(tree.fault, 0) & CHECK_EQ_I64(tree.wide, wide) & CHECK_EQ_U64(tree.n_in, cpu->rows.n_in);
  ok &= CHECK_EQ_BITS(tree.unit.g, unit.g) & CHECK_EQ_BITS(tree.unit.h, unit.h);
  ok &= CHECK_EQ_BITS(tree.noise, cpu->grad.noise[task->output]);
  ok &= CHECK_EQ_BITS(tree.down_h, cpu->grad.scale[task->output].down_h);
  ok &= CHECK_EQ_I64(tree.root.g, cpu->fr.node[0].sum.g) & CHECK_EQ_I64(tree.root.h, cpu->fr.node[0].sum.h);
  const gbt_gh32 *at = (const gbt_gh32 *)cuda->view.gradients + cpu_gradients_at(cpu, task->output);
  ok &= CHECK(same(at, (const gbt_gh32 *)cpu_view_gradients(&cpu->view), n));
  const int whole = cpu->rows.n_in == n && !cuda->view.samples;
  ok &= CHECK_EQ_I64(tree.whole, whole);
  if (!whole) ok &= CHECK(same((const uint32_t *)cuda->view.row, (const uint32_t *)cpu->rows.order, n));
  gbt_gh16 *gh = (gbt_gh16 *)test_alloc(n * sizeof *gh);
  const gbt_gh16 *of_cpu = (const gbt_gh16 *)cpu_view_gradients(&cpu->view);
  for (size_t i = 0; i < cpu->rows.n_in; i++) gh[i] = of_cpu[cpu->rows.order[i]];
  const gbt_gh16 *gh16 = whole ? (const gbt_gh16 *)(const void *)at : (const gbt_gh16 *)cuda->view.gh;
  if (!wide) ok &= CHECK(same(gh16, (const gbt_gh16 *)gh, cpu->rows.n_in));
  free(gh);
  seen->wide += wide;
  seen->narrow += !wide;
  seen->routed += cpu->rows.n_in < n;
  return ok;
}

/* ---- a tree ---- */

static int grow_on_cpu(cuda_pair *p) {
  const gbt_backend_ops *ops = p->cpu->ops;
  int32_t n = 1;
  while (n > 0) {
    if (!CHECK_OK(ops->build_hist(&p->ctx, p->cpu, test_err))) return 0;
    if (!CHECK_OK(ops->find_splits(&p->ctx, p->cpu, test_err))) return 0;
    if (!CHECK_OK(ops->select(&p->ctx, p->cpu, &n, test_err))) return 0;
    if (n > 0 && !CHECK_OK(ops->partition(&p->ctx, p->cpu, test_err))) return 0;
  }
  return 1;
}

/* The CPU's tree to the device; its leaves' rows where the device's growth leaves them, nonsense elsewhere. */
static int carry_tree(cuda_pair *p) {
  const cpu_backend *cpu = cpu_of(p);
  const cu_view *v = &cuda_of(p)->view;
  const gbt_frontier *fr = &cpu->fr;
  if (!CHECK((int64_t)fr->n_nodes <= v->max_nodes) || !CHECK(fr->n_set_words <= v->max_words)) return 0;
  cuda_of(p)->view.ahead = 0; /* settled: nodes are at the places of their numbers, and nothing is in wait */
  put(v->node, (const gbt_grow_node *)fr->node, fr->n_nodes);
  put(v->sets, (const uint32_t *)fr->sets, fr->n_set_words);
  int32_t n_nodes = (int32_t)fr->n_nodes;
  put(&v->tree->n_nodes, (const int32_t *)&n_nodes, 1);
  const int32_t grads = tree_of(cuda_of(p)).task.grads;
  uint32_t *row = (uint32_t *)test_alloc((cpu->rows.n_in + 1) * sizeof *row);
  gbt_gh16 *gh = (gbt_gh16 *)test_alloc((cpu->rows.n_in + 1) * sizeof *gh);
  for (int k = 0; k < 2; k++) {
    memset(row, 0, cpu->rows.n_in * sizeof *row);
    memset(gh, 77, cpu->rows.n_in * sizeof *gh);
    for (size_t i = 0; i < fr->n_nodes; i++) {
      const gbt_grow_node *node = &fr->node[i];
      if (node->left || (node->depth & 1) != k) continue;
      for (uint32_t at = node->order_beg; at < node->order_beg + node->n_rows; at++) {
        row[at] = cpu->rows.order[at];
        gh[at] = ((const gbt_gh16 *)cpu_view_gradients(&cpu->view))[row[at]];
      }
    }
    const cu_order order = cu_order_at(*v, k, 0, grads);
    put(order.row, (const uint32_t *)row, cpu->rows.n_in);
    put(order.gh, (const gbt_gh16 *)gh, cpu->rows.n_in);
  }
  free(row);
  free(gh);
  return 1;
}

static int tree_ends(cuda_pair *p, cuda_seen *seen) {
  cpu_backend *cpu = cpu_of(p);
  cu_backend *cuda = cuda_of(p);
  if (!carry_tree(p)) return 0;
  if (!CHECK_OK(cu_leaves(&p->ctx, cuda, test_err))) return 0;
  cuda->grad.fixed_output = cuda->task[0].output;
  if (!CHECK_OK(p->cpu->ops->finish_trees(&p->ctx, p->cpu, p->forest, test_err))) return 0;
  const size_t n = cpu->fr.n_nodes;
  int ok = CHECK_EQ_U64(tree_of(cuda).fault, 0);
  ok &= CHECK(same((const gbt_sum *)cuda->view.fine, (const gbt_sum *)cpu->leaf.fine, n));
  ok &= CHECK(same((const double *)cuda->view.value, (const double *)cpu->leaf.value, n));
  ok &= CHECK(same_scores(p));
  gbt_grow_node *node = fetch(cuda->view.node, n);
  for (size_t i = 0; i < n; i++) {
    ok &= node[i].bulk_left == cpu->fr.node[i].bulk_left;
    seen->kept += node[i].kept;
    seen->bulk += node[i].left && node[i].bulk_left != node[i].split.missing_left;
  }
  free(node);
  seen->several += n > 1;
  return CHECK(ok);
}

static int same_metric(cuda_pair *p, int32_t s, const gbt_metric *metric) {
  double want = 0.0, got = 0.0;
  int done = 0;
  if (!CHECK_OK(p->cuda->ops->metric(&p->ctx, p->cuda, s, metric, &got, &done, test_err))) return 0;
  if (!CHECK_OK(gbt_metric_eval(&p->ctx, metric, &p->spec.objective, &p->data[s]->rows, NULL, cpu_of(p)->score[s],
                                &want, test_err)))
    return 0;
  return CHECK(done) && CHECK_EQ_BITS(got, want);
}

/* Of all outputs, and of each column where there are several. */
static int same_metrics(cuda_pair *p, cuda_seen *seen) {
  const gbt_objective *o = &p->spec.objective;
  for (int32_t s = 0; s <= p->spec.n_valid; s++)
    for (int m = 0; m < GBT_N_METRICS; m++) {
      gbt_metric metric = gbt_metric_plain((gbt_metric_kind)m);
      const gbt_metric_form form = gbt_metric_about(metric.kind)->form;
      if (form == GBT_FORM_QUERY || form == GBT_FORM_CENSORED || form == GBT_FORM_RISK || form == GBT_FORM_DISTRIBUTION)
        continue; /* no such fields */
      if (!gbt_metric_suits(m, (gbt_objective_kind)o->kind)) continue;
      if (o->kind != GBT_OBJ_SOFTMAX && o->n_outputs > 1 && !gbt_has_columns(o)) continue;
      for (metric.output = 0; metric.output <= (gbt_has_columns(o) ? o->n_outputs : 0); metric.output++) {
        if (!same_metric(p, s, &metric)) return 0;
        seen->metrics++;
      }
    }
  return 1;
}

static int same_rounds(cuda_pair *p, const random_job *r, cuda_seen *seen) {
  uint64_t tree = 0;
  for (uint64_t round = 0; round < (uint64_t)r->job.rounds; round++) {
    if (!round_begins(p, r, round)) return 0;
    for (int32_t k = 0; k < p->spec.objective.n_outputs; k++)
      for (int64_t t = 0; t < p->spec.params.num_parallel_tree; t++) {
        gbt_tree_task task = {tree++, round, k, 0.3, 0, 0.0, 0, 0};
        if (!tree_begins(p, &task, seen) || !grow_on_cpu(p) || !tree_ends(p, seen)) return 0;
      }
    if (!same_metrics(p, seen)) return 0;
  }
  return 1;
}

static void see(cuda_seen *seen, const random_job *r) {
  seen->losses[r->job.spec.objective.kind]++;
  seen->policies[r->job.spec.params.grow_policy]++;
  seen->sampled += r->job.spec.params.subsample < 1.0;
  seen->weights += r->data->weight != NULL;
}

static void rows_are_those_of_the_cpu(void) {
  cuda_seen seen;
  memset(&seen, 0, sizeof seen);
  int bad = 0;
  int64_t others = 0;
  for (uint64_t seed = 1; seed <= test_cases(120) && bad < 3; seed++) {
    random_job r = random_job_make(seed, seed % 20 == 0 ? 5000 : 500);
    cuda_pair p;
    seen.columns += seed % 3 == 0 && random_job_columns(&r, 3, seed);
    r.job.spec.params.hist_memory = 1024; /* the device refuses symmetric layers that do not fit */
    see(&seen, &r);
    int ok = pair_open(&p, &r, NULL) && CHECK(same_scores(&p)) && same_rounds(&p, &r, &seen);
    if (!ok) random_job_tell(&r, seed), bad++;
    pair_close(&p);
    random_job_free(&r);
  }
  for (int l = 0; l < 5; l++) CHECK_SEEN(seen.losses[l] >= 5);
  for (int l = 5; l < GBT_N_OBJECTIVES; l++) others += seen.losses[l];
  CHECK_SEEN(others >= 15);
  for (int k = 0; k < 3; k++) CHECK_SEEN(seen.policies[k] >= 10);
  CHECK_SEEN(seen.wide > 20 && seen.narrow > 20 && seen.sampled > 20 && seen.weights > 10 && seen.routed > 20);
  CHECK_SEEN(seen.kept > 20 && seen.bulk > 20 && seen.metrics > 100 && seen.several > 50);
  CHECK_SEEN(seen.columns > 10);
  test_note("trees: %" PRId64 " wide, %" PRId64 " not; %" PRId64 " sampled; %" PRId64 " kept nodes; %" PRId64
            " metrics",
            seen.wide, seen.narrow, seen.routed, seen.kept, seen.metrics);
}

/* More nodes than a block of grow/leaves/route.cu makes steps for, and more leaves than threads. */
static void large_trees(void) {
  const made_kind kinds[6] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_BELL, MADE_HOLED, MADE_BELL};
  for (int policy = GBT_DEPTHWISE; policy <= GBT_LOSSGUIDE; policy++) {
    random_job r;
    cuda_pair p;
    cuda_seen seen;
    memset(&r, 0, sizeof r);
    memset(&seen, 0, sizeof seen);
    r.data = made_new(7, 3500, 6, kinds);
    r.valid[0] = made_new(8, 900, 6, kinds);
    r.job = job_make(r.data, GBT_OBJ_SQUARED_ERROR, 1, 1);
    r.job.valid[0] = r.valid[0];
    gbt_params *params = &r.job.spec.params;
    r.job.spec.n_valid = 1;
    params->grow_policy = policy;
    params->max_depth = policy == GBT_LOSSGUIDE ? 0 : 14;
    params->max_leaves = 1000;
    params->min_child_weight = params->lambda = 0.0;
    params->subsample = 0.8;
    params->grad_bits = policy == GBT_LOSSGUIDE ? GBT_GRAD_16 : GBT_GRAD_32;
    for (int s = 0; s < 2; s++) made_response(s ? r.valid[0] : r.data, GBT_OBJ_SQUARED_ERROR, 1, (uint64_t)s);
    r.how.threads = 2;
    if (pair_open(&p, &r, NULL) && same_rounds(&p, &r, &seen)) CHECK(cpu_of(&p)->fr.n_nodes > 1500);
    pair_close(&p);
    random_job_free(&r);
  }
}

/* Scores to start with instead of base and offset. */
static void scores_may_be_given(void) {
  random_job r = random_job_make(3, 300);
  const double *init[1 + JOB_VALID] = {NULL, NULL, NULL};
  test_rng rng = {5};
  cuda_pair p;
  for (int32_t s = 0; s <= r.job.spec.n_valid; s += 2) { /* the others begin with the base */
    const made *m = s == 0 ? r.data : r.valid[s - 1];
    size_t n = (size_t)m->table.n_rows * (size_t)r.job.spec.objective.n_outputs;
    double *x = (double *)test_alloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = test_bell(&rng);
    init[s] = x;
  }
  if (pair_open(&p, &r, init)) CHECK(same_scores(&p));
  pair_close(&p);
  random_job_free(&r);
  for (int s = 0; s <= JOB_VALID; s++) free((void *)init[s]);
}

/* ---- faults ---- */

/* A job on 200 rows whose custom gradients are given numbers. */
static int fault_of(double g, double h, double lambda, uint32_t fault, const char *part) {
  random_job r = random_job_make(1, 100);
  const made_kind kinds[2] = {MADE_BELL, MADE_BELL};
  cuda_pair p;
  random_job_free(&r);
  memset(&r, 0, sizeof r);
  r.data = made_new(1, 200, 2, kinds);
  r.job = job_make(r.data, GBT_OBJ_CUSTOM, 1, 1);
  r.job.spec.params.lambda = lambda;
  r.job.spec.params.min_child_weight = 0.0;
  made_response(r.data, GBT_OBJ_SQUARED_ERROR, 1, 1);
  made_weights(r.data, 1);
  r.how.threads = 1;
  double gh[400];
  gbt_error said;
  for (int i = 0; i < 200; i++) gh[i] = g, gh[200 + i] = h;
  int ok = pair_open(&p, &r, NULL);
  if (ok) {
    const gbt_tree_task task = {0, 6, 0, 1.0, 0, 0.0, 0, 0};
    gbt_status status = p.cpu->ops->set_gradients(&p.ctx, p.cpu, 6, gh, gh + 200, &said);
    ok &= CHECK_OK(p.cuda->ops->set_gradients(&p.ctx, p.cuda, 6, gh, gh + 200, test_err));
    ok &= begin_on_device(&p, &task);
    if (status == GBT_OK) {
      ok &= CHECK_OK(p.cpu->ops->begin_trees(&p.ctx, p.cpu, &task, 1, test_err)) && grow_on_cpu(&p) && carry_tree(&p);
      ok &= CHECK_OK(cu_leaves(&p.ctx, cuda_of(&p), test_err));
      status = p.cpu->ops->finish_trees(&p.ctx, p.cpu, p.forest, &said);
    }
    const cu_tree tree = tree_of(cuda_of(&p));
    ok &= CHECK_EQ_I64(status, GBT_E_DATA) && CHECK(strstr(said.msg, part) != NULL);
    ok &= CHECK_EQ_U64(tree.fault, fault) & CHECK_EQ_U64(tree.fault_round, 6);
  }
  pair_close(&p);
  random_job_free(&r);
  return ok;
}

static void faults_are_seen(void) {
  fault_of(1e299, 1.0, 1.0, CU_FAULT_GRADIENT, "round 7");
  fault_of(1.0, HUGE_VAL, 1.0, CU_FAULT_GRADIENT, "round 7");
  fault_of(NAN, 1.0, 1.0, CU_FAULT_GRADIENT, "round 7");
  fault_of(1e200, 1e-200, 0.0, CU_FAULT_VALUE, "leaf value");
}

/* ---- metrics ---- */

/* Terms of all sizes, infinities and NaN: the sums are exact whatever they are. */
static void metrics_of_extreme_scores(void) {
  const int64_t n = 700;
  for (int kind = 0; kind < 8; kind++) {
    random_job r;
    cuda_pair p;
    test_rng rng = {(uint64_t)kind};
    cuda_seen seen;
    memset(&r, 0, sizeof r);
    memset(&seen, 0, sizeof seen);
    r.data = made_new(2, n, 1, NULL);
    r.job = job_make(r.data, kind == 7 ? GBT_OBJ_LOGISTIC : GBT_OBJ_SQUARED_ERROR, 1, 1);
    made_response(r.data, (gbt_objective_kind)r.job.spec.objective.kind, 1, 1);
    if (kind & 1) made_weights(r.data, 3);
    r.how.threads = 1;
    double *x = (double *)test_alloc((size_t)n * sizeof *x);
    const double *init[1] = {x};
    for (int64_t i = 0; i < n; i++) {
      int e = kind < 2   ? (int)test_below(&rng, 600) - 300
              : kind < 4 ? -140
              : kind < 6 ? 100
                         : (int)test_below(&rng, 30);
      x[i] = ldexp(test_unit(&rng) - 0.5, e);
      if (kind < 6) r.data->label[i] = 0.0;
    }
    if (kind == 4) x[17] = HUGE_VAL;
    if (kind == 5) x[17] = HUGE_VAL, x[n - 1] = NAN;
    if (pair_open(&p, &r, init)) CHECK(same_metrics(&p, &seen) && seen.metrics >= 2);
    pair_close(&p);
    random_job_free(&r);
    free(x);
  }
}

/* No room for a metric's scratch is no failure. */
static void metrics_without_room_are_left_to_the_host(void) {
  random_job r;
  cuda_pair p;
  memset(&r, 0, sizeof r);
  r.data = made_new(2, 300, 1, NULL);
  r.job = job_make(r.data, GBT_OBJ_LOGISTIC, 1, 1);
  made_response(r.data, GBT_OBJ_LOGISTIC, 1, 1);
  r.how.threads = 1;
  if (pair_open(&p, &r, NULL)) {
    const gbt_metric_kind metrics[4] = {GBT_METRIC_AUC, GBT_METRIC_LOGLOSS, GBT_METRIC_F1, GBT_METRIC_GINI};
    cuda_of(&p)->device.memory.limit = cuda_of(&p)->device.memory.bytes;
    for (int m = 0; m < 4; m++) {
      const gbt_metric metric = gbt_metric_plain(metrics[m]);
      double out = 0.0;
      int done = 1;
      CHECK_OK(p.cuda->ops->metric(&p.ctx, p.cuda, 0, &metric, &out, &done, test_err));
      CHECK_EQ_I64(done, 0);
    }
  }
  pair_close(&p);
  random_job_free(&r);
}

/* A label that is no class: the host says which. */
static void bad_classes_are_left_to_the_host(void) {
  random_job r;
  cuda_pair p;
  double out = 0.0;
  int done;
  memset(&r, 0, sizeof r);
  r.data = made_new(2, 300, 1, NULL);
  r.job = job_make(r.data, GBT_OBJ_SOFTMAX, 3, 1);
  made_response(r.data, GBT_OBJ_SOFTMAX, 3, 1);
  r.data->label[123] = 3.0;
  r.how.threads = 1;
  if (pair_open(&p, &r, NULL)) {
    for (int m = 0; m < GBT_N_METRICS; m++) {
      const gbt_metric metric = gbt_metric_plain((gbt_metric_kind)m);
      if (!gbt_metric_suits(m, GBT_OBJ_SOFTMAX)) continue;
      done = 1;
      CHECK_OK(p.cuda->ops->metric(&p.ctx, p.cuda, 0, &metric, &out, &done, test_err));
      CHECK_EQ_I64(done, 0);
    }
  }
  pair_close(&p);
  random_job_free(&r);
}

extern "C" void suite_cuda_rows(void);
void suite_cuda_rows(void) {
  RUN(rows_are_those_of_the_cpu);
  RUN(large_trees);
  RUN(scores_may_be_given);
  RUN(faults_are_seen);
  RUN(metrics_of_extreme_scores);
  RUN(metrics_without_room_are_left_to_the_host);
  RUN(bad_classes_are_left_to_the_host);
}
