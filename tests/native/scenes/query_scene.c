#include "query_scene.h"

query_scene query_scene_make(int64_t n) {
  query_scene s = {.rows = {.n = n}};
  s.label = test_alloc((size_t)n * sizeof *s.label);
  s.group = test_alloc((size_t)n * sizeof *s.group);
  s.weight = test_alloc((size_t)n * sizeof *s.weight);
  s.score = test_alloc((size_t)n * sizeof *s.score);
  s.position = test_alloc((size_t)n * sizeof *s.position);
  s.rows.field[GBT_LABEL] = s.label;
  s.rows.field[GBT_GROUP] = s.group;
  for (int64_t i = 0; i < n; i++) s.group[i] = s.weight[i] = 1.0, s.position[i] = 0.0;
  return s;
}

void query_scene_free(query_scene *s) {
  free(s->label);
  free(s->group);
  free(s->weight);
  free(s->score);
  free(s->position);
}

query_scene query_scene_draw(test_rng *rng, const int *size, int n_queries, int mode) {
  int64_t n = 0, at = 0;
  for (int q = 0; q < n_queries; q++) n += size[q];
  query_scene s = query_scene_make(n);
  int64_t *to = test_permutation(rng, n);
  for (int q = 0; q < n_queries; q++)
    for (int i = 0; i < size[q]; i++, at++) {
      const int64_t r = mode & 1 ? to[at] : at;
      s.group[r] = q * 3.0 - 7.0;
      s.position[r] = i % 7;
      s.label[r] = (double)test_below(rng, q % 5 == 4 ? 1 : 4);
      s.score[r] = mode & 2 ? 0.0 : mode & 4 ? (double)test_below(rng, 6) * 0.25 : 2.0 * test_bell(rng);
    }
  free(to);
  return s;
}

int query_scene_rows(const query_scene *s, int q, int64_t *row) {
  int n = 0;
  for (int64_t i = 0; i < s->rows.n; i++)
    if (s->group[i] == q * 3.0 - 7.0) row[n++] = i;
  return n;
}
