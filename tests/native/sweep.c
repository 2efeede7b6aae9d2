#include "sweep.h"

#include "port.h"

static const int64_t constants[] = {
#include "constants.h"
};
enum { N_CONSTANTS = sizeof constants / sizeof *constants, MOST_DEATHS = 10 };

typedef struct sizes {
  int64_t *size, low, high;
  size_t n, cap;
} sizes;

static void add_size(sizes *s, int64_t size) {
  if (size < s->low || size > s->high) return;
  if (s->n == s->cap) {
    s->cap = 2 * s->cap + 1024;
    int64_t *more = test_alloc(s->cap * sizeof *more);
    if (s->n > 0) memcpy(more, s->size, s->n * sizeof *more);
    free(s->size);
    s->size = more;
  }
  s->size[s->n++] = size;
}

static void add_around(sizes *s, int64_t size, int64_t reach) {
  for (int64_t d = -reach; d <= reach; d++) add_size(s, size + d);
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static sizes list_sizes(const sweep_range *r) {
  const char *form = getenv("GBT_SIZES");
  int all = form != NULL && strcmp(form, "long") == 0;
  int64_t reach = all ? 2 : 1, dense = all && r->all_long > 0 ? r->all_long : r->dense;
  int64_t between = (r->between > 0 ? r->between : 1) * (all ? 20 : 1);
  const int64_t of_constants = test_few() ? 0 : reach;
  if (test_few()) dense = r->low + (dense - r->low) / 10, between = 0;
  sizes s = {NULL, r->low, all && r->high_long > 0 ? r->high_long : r->high, 0, 0};
  test_rng rng = {7};
  for (int64_t n = r->low; n <= dense; n++) add_size(&s, n);
  for (int64_t power = 2; power <= s.high; power *= 2) {
    add_around(&s, power, reach);
    for (int64_t k = 0; k < between; k++) add_size(&s, power + test_below(&rng, power));
  }
  for (size_t i = 0; i < N_CONSTANTS; i++) add_around(&s, constants[i], of_constants);
  qsort(s.size, s.n, sizeof *s.size, ascending);
  size_t n = 0;
  for (size_t i = 0; i < s.n; i++)
    if (n == 0 || s.size[n - 1] != s.size[i]) s.size[n++] = s.size[i];
  s.n = n;
  return s;
}

/* Written by the child, read by the parent when the child is gone. */
typedef struct progress {
  size_t at; /* the case at hand */
  int64_t n_bad, first_bad;
  int done;
} progress;

/* What a child is to do, wherever its code and its memory are. */
typedef struct task {
  char name[64];
  intptr_t fn;
  sweep_range range;
} task;

static int run_cases(const void *arg, void *shared) {
  const task *t = arg;
  volatile progress *p = shared;
  void (*fn)(int64_t) = (void (*)(int64_t))port_function_of(t->fn);
  sizes s = list_sizes(&t->range);
  for (; p->at < s.n; p->at++) {
    int64_t before = test_n_bad();
    fn(s.size[p->at]);
    if (test_n_bad() == before) continue;
    if (p->n_bad++ == 0) p->first_bad = s.size[p->at];
    test_note("%s: fails at size %" PRId64, t->name, s.size[p->at]);
  }
  p->done = 1;
  free(s.size);
  return 0;
}

void sweep_named(const char *name, void (*fn)(int64_t), const sweep_range *range) {
  sizes s = list_sizes(range);
  task t = {.fn = port_number_of((void (*)(void))fn), .range = *range};
  void *shared = port_shared_new(sizeof(progress));
  if (!CHECK(shared != NULL)) return;
  volatile progress *p = shared;
  snprintf(t.name, sizeof t.name, "%s", name);
  for (int deaths = 0; !p->done && deaths < MOST_DEATHS; deaths++) {
    int ended = port_child_run(run_cases, &t, sizeof t, shared);
    if (ended == 0 && p->done) break;
    int64_t at = p->at < s.n ? s.size[p->at] : -1;
    test_note("%s: the process ended with %s at size %" PRId64, name, port_ended(ended), at);
    CHECK(ended == 0 && p->done);
    p->at++;
  }
  CHECK_EQ_I64(p->n_bad, 0);
  CHECK(s.n > 0);
  test_note("%s: %zu sizes from %" PRId64 " to %" PRId64, name, s.n, s.size[0], s.size[s.n - 1]);
  port_shared_free(shared);
  free(s.size);
}
