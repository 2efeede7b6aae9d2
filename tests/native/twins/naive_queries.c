#include "naive_queries.h"

#include "../../src/gbt/base/bits.h"
#include "../../src/gbt/base/rng.h"

/* A label as an objective sees it. */
static double twin_label(gbt_objective_kind kind, double y) {
  return kind == GBT_OBJ_RANK_MAP || kind == GBT_OBJ_RANK_MRR ? (double)(y > 0.0) : y;
}

/* at[i]: the row in place i of the order by score, falling, then label. Returns the number of all scores and labels. */
static uint64_t twin_order(const gbt_objective *o, const query_scene *s, const int64_t *row, int n, int64_t *at) {
  uint64_t content = (uint64_t)n;
  for (int i = 0; i < n; i++) {
    const double v = s->score[row[i]], y = s->label[row[i]];
    int place = 0;
    for (int j = 0; j < n; j++) {
      const double w = s->score[row[j]], z = s->label[row[j]];
      place += w > v || (w == v && (z < y || (z == y && j < i)));
    }
    at[place] = row[i];
    content += gbt_mix64(gbt_mix64(gbt_order_key(v)) + gbt_order_key(twin_label((gbt_objective_kind)o->kind, y)));
  }
  return content;
}

/* The place of each of these rows, ties by hashes of their places. */
static void twin_places(const query_scene *s, gbt_key32 key, const int64_t *at, int n, int64_t *place) {
  for (int i = 0; i < n; i++) {
    place[i] = 0;
    for (int j = 0; j < n; j++) {
      const double v = s->score[at[i]], w = s->score[at[j]];
      const uint32_t x = gbt_hash32(key, (uint64_t)i), z = gbt_hash32(key, (uint64_t)j);
      place[i] += w > v || (w == v && (z < x || (z == x && j < i)));
    }
  }
}

/* Rows of one score and label get their mean. */
static void twin_mean(const gbt_objective *o, const query_scene *s, const int64_t *row, int n, double *x) {
  double *mean = test_alloc((size_t)n * sizeof *mean);
  for (int i = 0; i < n; i++) {
    double sum = 0.0, count = 0.0;
    for (int j = 0; j < n; j++) {
      const double y = twin_label((gbt_objective_kind)o->kind, s->label[row[i]]);
      if (s->score[row[i]] != s->score[row[j]] || y != twin_label((gbt_objective_kind)o->kind, s->label[row[j]]))
        continue;
      sum += x[row[j]];
      count += 1.0;
    }
    mean[i] = sum / count;
  }
  for (int i = 0; i < n; i++) x[row[i]] = mean[i];
  free(mean);
}

typedef struct twin_query {
  int n;
  double *label; /* by place */
  double ideal, relevant;
} twin_query;

/* The metric of an order of labels; what swapping two of them changes is the weight of their pair. */
static double twin_metric(gbt_objective_kind kind, const twin_query *q, const double *label) {
  double sum = 0.0, hits = 0.0;
  for (int i = 0; i < q->n; i++) {
    if (kind == GBT_OBJ_RANK_NDCG) sum += (pow(2.0, label[i]) - 1.0) / log2(i + 2.0) / q->ideal;
    if (label[i] <= 0.0) continue;
    if (kind == GBT_OBJ_RANK_MRR) return 1.0 / (i + 1.0);
    hits += 1.0;
    if (kind == GBT_OBJ_RANK_MAP) sum += hits / (i + 1.0) / q->relevant;
  }
  return sum;
}

static double twin_weight(gbt_objective_kind kind, const twin_query *q, int a, int b) {
  if (kind == GBT_OBJ_RANK_PAIRWISE) return 1.0;
  if (kind == GBT_OBJ_RANK_NDCG && q->ideal <= 0.0) return 0.0;
  double *label = q->label, before = twin_metric(kind, q, label), x = label[a];
  label[a] = label[b];
  label[b] = x;
  const double after = twin_metric(kind, q, label);
  label[b] = label[a];
  label[a] = x;
  return fabs(before - after);
}

static int falling(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* The gradients of the rows of one query. */
static void twin_pairs(const gbt_objective *o, const query_scene *s, uint64_t seed, uint64_t round, const int64_t *row,
                       int n, double *g, double *h) {
  const gbt_objective_kind kind = (gbt_objective_kind)o->kind;
  const int top = o->param[0] > 0.0 && o->param[0] < n ? (int)o->param[0] : n;
  int64_t *place = test_alloc((size_t)n * sizeof *place), *at = test_alloc((size_t)n * sizeof *at);
  int64_t *by_label = test_alloc((size_t)n * sizeof *by_label);
  double *label = test_alloc((size_t)n * sizeof *label), *sorted = test_alloc((size_t)n * sizeof *sorted);
  twin_query q = {n, label, 0.0, 0.0};
  double sum = 0.0;
  int all_equal = 1;
  const uint64_t content = twin_order(o, s, row, n, by_label);
  twin_places(s, gbt_key(seed, GBT_FOR_TIES, round, content), by_label, n, place);
  for (int i = 0; i < n; i++) {
    const double y = s->label[by_label[i]];
    at[place[i]] = by_label[i];
    label[place[i]] = twin_label(kind, y);
    sorted[i] = y;
    q.relevant += y > 0.0;
    all_equal &= s->score[row[i]] == s->score[row[0]];
    g[row[i]] = h[row[i]] = 0.0;
  }
  qsort(sorted, (size_t)n, sizeof *sorted, falling);
  for (int i = 0; i < top; i++) q.ideal += (pow(2.0, sorted[i]) - 1.0) / log2(i + 2.0);
  for (int a = 0; a < top; a++)
    for (int b = a + 1; b < n; b++) {
      if (label[a] == label[b]) continue;
      const int64_t better = label[a] > label[b] ? at[a] : at[b], worse = label[a] > label[b] ? at[b] : at[a];
      const double x = s->score[better] - s->score[worse], p = 1.0 / (1.0 + exp(-x));
      double D = twin_weight(kind, &q, a, b);
      if (o->param[3] > 0.0 && !all_equal) D /= 0.01 + fabs(x);
      g[better] += (p - 1.0) * D;
      g[worse] -= (p - 1.0) * D;
      h[better] += 2.0 * p * (1.0 - p) * D;
      h[worse] += 2.0 * p * (1.0 - p) * D;
      sum += 2.0 * (1.0 - p) * D;
    }
  for (int i = 0; i < n && o->param[2] > 0.0 && sum > 0.0; i++) {
    g[row[i]] *= log2(1.0 + sum) / sum;
    h[row[i]] *= log2(1.0 + sum) / sum;
  }
  free(place);
  free(at);
  free(by_label);
  free(label);
  free(sorted);
}

void naive_xendcg(const double *y, const double *s, const double *u, int n, double *g, double *h) {
  double *rho = test_alloc((size_t)n * sizeof *rho), *term = test_alloc((size_t)n * sizeof *term), sum = 0, gain = 0;
  for (int i = 0; i < n; i++) sum += exp(s[i]), gain += pow(2, y[i]) - u[i];
  for (int i = 0; i < n; i++) {
    rho[i] = exp(s[i]) / sum;
    g[i] = term[i] = rho[i] - (pow(2, y[i]) - u[i]) / gain;
    h[i] = rho[i] * (1 - rho[i]);
  }
  for (int t = 0; t < 2; t++) {
    double all = 0;
    for (int i = 0; i < n; i++) all += term[i] /= 1 - rho[i];
    for (int i = 0; i < n; i++) g[i] += term[i] = rho[i] * (all - term[i]);
  }
  free(rho);
  free(term);
}

void naive_yeti(const double *y, const double *s, const double *u, int n, int n_orders, double decay, double *g,
                double *h) {
  int *at = test_alloc((size_t)n * sizeof *at);
  for (int i = 0; i < n; i++) g[i] = h[i] = 0;
  for (int t = 0; t < n_orders; t++) {
    const double *v = u + t * n;
    for (int i = 0; i < n; i++) {
      int place = 0;
      const double z = s[i] + log(v[i] / (1 - v[i]));
      for (int j = 0; j < n; j++) {
        const double other = s[j] + log(v[j] / (1 - v[j]));
        place += other > z || (other == z && j < i);
      }
      at[place] = i;
    }
    for (int a = 0; a + 1 < n; a++) {
      if (y[at[a]] == y[at[a + 1]]) continue;
      const int better = y[at[a]] > y[at[a + 1]] ? at[a] : at[a + 1], worse = better == at[a] ? at[a + 1] : at[a];
      const double D = .15 * pow(decay, a) * (y[better] - y[worse]) / n_orders;
      const double p = 1 / (1 + exp(-(s[better] - s[worse])));
      g[better] += (p - 1) * D;
      g[worse] -= (p - 1) * D;
      h[better] += 2 * p * (1 - p) * D;
      h[worse] += 2 * p * (1 - p) * D;
    }
  }
  free(at);
}

/* Objectives that draw a number for each row. */
static void twin_drawn(const gbt_objective *o, const query_scene *s, uint64_t seed, uint64_t round, const int64_t *row,
                       int n, double *g, double *h) {
  const int yeti = o->kind == GBT_OBJ_YETI_RANK, orders = yeti ? (int)o->param[0] : 1;
  const size_t bytes = (size_t)n * sizeof(double);
  double *y = test_alloc(bytes), *v = test_alloc(bytes), *u = test_alloc(bytes * (size_t)orders);
  double *a = test_alloc(bytes), *b = test_alloc(bytes);
  int64_t *at = test_alloc((size_t)n * sizeof *at);
  const uint64_t content = twin_order(o, s, row, n, at), purpose = yeti ? GBT_FOR_PERMUTATION : GBT_FOR_GAINS;
  for (int i = 0; i < n; i++) y[i] = s->label[at[i]], v[i] = s->score[at[i]];
  for (int t = 0; t < orders; t++)
    for (int i = 0; i < n; i++) {
      const gbt_key32 key = gbt_key(seed, purpose, round, content + (uint64_t)t);
      u[t * n + i] = (gbt_hash32(key, (uint64_t)i) + 0.5) * 0x1p-32;
    }
  if (yeti)
    naive_yeti(y, v, u, n, orders, o->param[1], a, b);
  else if (n > 1)
    naive_xendcg(y, v, u, n, a, b);
  else
    a[0] = b[0] = 0.0;
  for (int i = 0; i < n; i++) g[at[i]] = a[i], h[at[i]] = b[i];
  void *blocks[] = {y, v, u, a, b, at};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

void naive_query(const gbt_objective *o, const query_scene *s, uint64_t seed, uint64_t round, const int64_t *row, int n,
                 double *g, double *h) {
  if (o->kind == GBT_OBJ_RANK_XENDCG || o->kind == GBT_OBJ_YETI_RANK)
    twin_drawn(o, s, seed, round, row, n, g, h);
  else
    twin_pairs(o, s, seed, round, row, n, g, h);
  twin_mean(o, s, row, n, g);
  twin_mean(o, s, row, n, h);
}
