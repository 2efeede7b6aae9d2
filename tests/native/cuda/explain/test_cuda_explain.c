/* Contributions on the device: the bytes of the CPU, whatever the forest, the chunks and the room there is. */
#include "../../src/cuda/explain/explain.h"

#include "../../src/gbt/backend/device_api.h"
#include "../../src/gbt/explain/explain_impl.h"
#include "explain_scene.h"
#include "fault.h"
#include "schedules.h"

const gbt_device_api *gbt_cuda_api(void);

static int same_on_device(const explain_scene *s, const gbt_explain_spec *spec, const double *offset,
                          const cu_explain_limits *limits, int n_threads) {
  const size_t n = (size_t)s->table->table.n_rows * explain_scene_cells(s, spec->interactions);
  double *cpu = test_alloc(n * sizeof *cpu), *cuda = test_alloc(n * sizeof *cuda);
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  memset(cuda, 0x5a, n * sizeof *cuda);
  gbti_explain_run by = {.rows = gbti_explain_rows, .batch_bytes = GBTI_BATCH_BYTES, .part_bytes = GBTI_PART_BYTES};
  if (limits->part_bytes > 0) by.part_bytes = limits->part_bytes;
  CHECK_OK(gbti_explain(&ctx, &s->view, s->binding, spec, offset, cpu, &by, test_err));
  int ok = CHECK_OK(cu_explain_within(&ctx, 0, &s->view, s->binding, spec, offset, cuda, limits, test_err));
  ok &= CHECK_EQ_BYTES(cuda, cpu, n * sizeof *cpu);
  gbt_ctx_close(&ctx);
  free(cpu);
  free(cuda);
  return ok;
}

static cu_explain_limits make_limits(test_rng *rng, int64_t n_rows) {
  static const int64_t rows[] = {0, 1, 31, 32, 100};
  static const size_t trees[] = {0, 1, 6000}, batch[] = {0, 1, 20000}, part[] = {0, 1, 200};
  cu_explain_limits limits = {0};
  limits.chunk_rows = rows[test_below(rng, 5)];
  if (limits.chunk_rows > 0 && n_rows / limits.chunk_rows > 4) limits.chunk_rows = n_rows / 3;
  limits.tree_bytes = trees[test_below(rng, 3)];
  limits.batch_bytes = batch[test_below(rng, 3)];
  limits.part_bytes = part[test_below(rng, 3)];
  limits.warps = (int32_t)test_below(rng, 8);
  return limits;
}

static int random_scene(test_rng *rng, int i) {
  static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 64, 70, 130};
  const int whole = i % 3 == 0, vectors = i % 5 == 4;
  const int64_t n_rows = sizes[test_below(rng, 9)];
  const forest_spec spec = {vectors ? 2 : 1 + i % 3,
                            1 + i % 2,
                            2,
                            whole ? 15 : (int32_t)test_below(rng, 40),
                            whole ? SHAPE_COMPLETE : (tree_shape)test_below(rng, 3),
                            whole};
  explain_scene s;
  explain_scene_open(&s, rng, &spec, vectors, n_rows);
  if (whole) explain_scene_symmetric(&s, rng);
  const size_t n = (size_t)n_rows * (size_t)s.view.n_outputs;
  double *offset = test_alloc(n * sizeof *offset);
  for (size_t k = 0; k < n; k++) offset[k] = test_bell(rng);
  const cu_explain_limits limits = make_limits(rng, n_rows);
  const int by_back = (int)test_below(rng, 2) && n_rows > 0, pairs = (int)test_below(rng, 2);
  gbt_explain_spec job = explain_scene_spec(&s, by_back ? s.binding : NULL, pairs);
  if (test_below(rng, 3) == 0) job.trees.beg = (uint64_t)test_below(rng, (int64_t)s.view.n_trees + 1);
  int ok = same_on_device(&s, &job, test_below(rng, 2) ? offset : NULL, &limits, 1 + i % 2);
  free(offset);
  explain_scene_close(&s);
  return ok;
}

static void random_forests_are_those_of_the_cpu(void) {
  test_rng rng = {31};
  int bad = 0;
  for (int k = 0; test_schedule(k); k++)
    for (int i = 0; i < (int)test_cases(30) && bad < 3; i++) bad += !random_scene(&rng, i);
}

/* Leaves with more players than have tables, and more than a word has bits. */
static void many_players_of_a_leaf(void) {
  static const int32_t depths[] = {8, 9, 12, 64, 65, 70};
  for (int i = 0; i < 12; i++) {
    test_rng rng = {(uint64_t)i + 3};
    const int32_t depth = depths[i / 2];
    const forest_spec spec = {1, 1, 2, depth, SHAPE_CHAIN, 1};
    explain_scene s;
    explain_scene_open_of(&s, &rng, &spec, 0, 40, depth + 40, 1);
    s.n_players = s.n_features;
    for (int32_t f = 0; f < s.n_features; f++) s.player[f] = (f * 7) % s.n_features;
    const cu_explain_limits limits = {0};
    for (int by_back = 0; by_back < 2; by_back++) {
      if (i % 2 == 1 && depth > 12) break;
      const gbt_explain_spec job = explain_scene_spec(&s, by_back ? s.binding : NULL, i % 2);
      same_on_device(&s, &job, NULL, &limits, 1);
    }
    explain_scene_close(&s);
  }
}

/* ---- little memory ---- */

static void any_room_is_enough_or_said(void) {
  test_rng rng = {32};
  const forest_spec spec = {2, 1, 4, 20, SHAPE_BUSHY, 1};
  explain_scene s;
  explain_scene_open(&s, &rng, &spec, 0, 150);
  int n_done = 0, n_refused = 0;
  for (int way = 0; way < 4; way++) {
    const gbt_explain_spec job = explain_scene_spec(&s, way % 2 ? s.binding : NULL, way / 2);
    const size_t n = 150 * explain_scene_cells(&s, way / 2);
    double *cpu = test_alloc(n * sizeof *cpu), *cuda = test_alloc(n * sizeof *cuda);
    gbt_ctx ctx = test_ctx(NULL, 2);
    CHECK_OK(gbt_explain(&ctx, &s.view, s.binding, &job, NULL, cpu, test_err));
    for (size_t room = 1000; room < 4000000; room += room / 2) {
      const cu_explain_limits limits = {.device_bytes = room};
      gbt_status status = cu_explain_within(&ctx, 0, &s.view, s.binding, &job, NULL, cuda, &limits, test_err);
      if (status == GBT_OK) {
        CHECK_EQ_BYTES(cuda, cpu, n * sizeof *cpu);
        n_done++;
      } else {
        CHECK(status == GBT_E_MEM && strcmp(test_err->subject, "device") == 0);
        n_refused++;
      }
    }
    gbt_ctx_close(&ctx);
    free(cpu);
    free(cuda);
  }
  CHECK(n_done > 20 && n_refused > 4);
  explain_scene_close(&s);
}

/* ---- failing ---- */

typedef struct failing {
  const explain_scene *s;
  gbt_explain_spec spec;
  double *out;
} failing;

static gbt_status explain_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  const failing *w = arg;
  const cu_explain_limits limits = {.chunk_rows = 40, .tree_bytes = 6000};
  gbt_ctx ctx;
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = cu_explain_within(&ctx, 0, &w->s->view, w->s->binding, &w->spec, NULL, w->out, &limits, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void allocations_fail(void) {
  test_rng rng = {33};
  const forest_spec spec = {2, 1, 2, 9, SHAPE_BUSHY, 1};
  explain_scene s;
  explain_scene_open(&s, &rng, &spec, 0, 70);
  for (int way = 0; way < 2; way++) {
    failing w = {&s, explain_scene_spec(&s, way ? s.binding : NULL, way), NULL};
    w.out = test_alloc(70 * explain_scene_cells(&s, way) * sizeof(double));
    CHECK(fault_sweep(explain_once, &w) > 20);
    free(w.out);
  }
  explain_scene_close(&s);
}

#if defined(GBT_TEST_SIMT)
/* Every call to CUDA fails once, alone and with all later ones: an error, or the right bytes; nothing is left there. */
static void calls_to_cuda_fail(void) {
  test_rng rng = {35};
  const forest_spec spec = {2, 1, 3, 9, SHAPE_BUSHY, 1};
  const gbt_mem mem = gbt_mem_default();
  explain_scene s;
  explain_scene_open(&s, &rng, &spec, 0, 70);
  const int64_t live = simt_live();
  int64_t n_failed = 0;
  for (int way = 0; way < 4; way++) {
    const size_t n = 70 * explain_scene_cells(&s, way / 2);
    failing w = {&s, explain_scene_spec(&s, way / 2 ? s.binding : NULL, way / 2), test_alloc(n * sizeof(double))};
    double *want = test_alloc(n * sizeof *want);
    CHECK_OK(explain_once(&mem, &w, test_err));
    memcpy(want, w.out, n * sizeof *want);
    for (int64_t call = 1;; call++) {
      simt_fail_at(call, way % 2);
      gbt_error err = {0};
      const gbt_status status = explain_once(&mem, &w, &err);
      const int64_t failed = simt_failed();
      simt_fail_at(0, 0);
      CHECK_EQ_I64(simt_live(), live);
      if (failed == 0) break;
      n_failed++;
      if (status == GBT_OK)
        CHECK_EQ_BYTES(w.out, want, n * sizeof *want);
      else
        CHECK((status == GBT_E_MEM || status == GBT_E_DEVICE) && err.msg[0] != '\0');
    }
    free(w.out);
    free(want);
  }
  CHECK(n_failed > 60);
  explain_scene_close(&s);
}
#endif

static void stops_when_asked(void) {
  test_rng rng = {36};
  const forest_spec spec = {2, 1, 6, 30, SHAPE_BUSHY, 1};
  explain_scene s;
  explain_scene_open(&s, &rng, &spec, 0, 100);
  double *out = test_alloc(100 * explain_scene_cells(&s, 1) * sizeof *out);
  const cu_explain_limits limits = {.chunk_rows = 32};
  for (int way = 0; way < 4; way++) {
    const gbt_explain_spec job = explain_scene_spec(&s, way % 2 ? s.binding : NULL, way / 2);
    test_patience p = {0, way};
    gbt_ctx ctx;
    REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 2, GBT_SIMD_AUTO, test_stop_later, &p, test_err));
    ctx.next_poll_ns = 0;
    gbt_status status = GBT_OK;
    while (status == GBT_OK)
      status = cu_explain_within(&ctx, 0, &s.view, s.binding, &job, NULL, out, &limits, test_err);
    CHECK_EQ_I64(status, GBT_CANCELLED);
    CHECK_EQ_I64(p.n_polls, way + 1);
    gbt_ctx_close(&ctx);
  }
  free(out);
  explain_scene_close(&s);
}

static void the_door_leads_there(void) {
  test_rng rng = {34};
  const forest_spec spec = {1, 1, 3, 9, SHAPE_BUSHY, 1};
  explain_scene s;
  explain_scene_open(&s, &rng, &spec, 0, 33);
  gbt_ctx ctx = test_ctx(NULL, 1);
  const gbt_device_api *api = gbt_cuda_api();
  gbt_explain_spec job = explain_scene_spec(&s, NULL, 0);
  const size_t n = 33 * explain_scene_cells(&s, 0);
  double *cpu = test_alloc(n * sizeof *cpu), *cuda = test_alloc(n * sizeof *cuda);
  CHECK(gbt_device_offers(api, GBT_WORK_CONTRIBUTIONS));
  CHECK_OK(gbt_explain(&ctx, &s.view, s.binding, &job, NULL, cpu, test_err));
  CHECK_OK(gbt_device_explain(&ctx, api, 0, &s.view, s.binding, &job, NULL, cuda, test_err));
  CHECK_EQ_BYTES(cuda, cpu, n * sizeof *cpu);
  job.trees.end = s.view.n_trees + 1;
  CHECK_FAILS(gbt_device_explain(&ctx, api, 0, &s.view, s.binding, &job, NULL, cuda, test_err), GBT_E_ARG,
              "no such trees");
  gbt_ctx_close(&ctx);
  free(cpu);
  free(cuda);
  explain_scene_close(&s);
}

void suite_cuda_explain(void) {
  RUN(random_forests_are_those_of_the_cpu);
  RUN(many_players_of_a_leaf);
  RUN(any_room_is_enough_or_said);
  RUN(allocations_fail);
#if defined(GBT_TEST_SIMT)
  RUN(calls_to_cuda_fail);
#endif
  RUN(stops_when_asked);
  RUN(the_door_leads_there);
}
