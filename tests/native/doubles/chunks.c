#include "chunks.h"

enum { POISON = 0xAB, MORE_LEVELS = 3 };

typedef struct block {
  struct block *next;
  size_t bytes;
  void *at;
} block;

/* One chunk: the table and every block it points to. */
struct chunk_copy {
  gbt_table table;
  gbt_column *cols;
  block *blocks;
  size_t bytes;
};

static void *keep(chunk_copy *k, const void *from, size_t bytes) {
  block *b = test_alloc(sizeof *b);
  *b = (block){k->blocks, bytes, test_alloc(bytes)};
  if (from != NULL && bytes > 0) memcpy(b->at, from, bytes);
  k->blocks = b;
  k->bytes += bytes;
  return b->at;
}

static const char *keep_text(chunk_copy *k, const char *text) {
  return text == NULL ? NULL : keep(k, text, strlen(text) + 1);
}

static void poison(chunk_copy *k) {
  for (block *b = k->blocks; b != NULL; b = b->next) memset(b->at, POISON, b->bytes);
  memset(&k->table, POISON, sizeof k->table);
}

static void chunk_free(chunk_copy *k) {
  for (block *b = k != NULL ? k->blocks : NULL, *next; b != NULL; b = next) {
    next = b->next;
    free(b->at);
    free(b);
  }
  free(k);
}

/* Levels in another order, with one more that has the text of the first and takes some of its rows, and some that do
 * not occur. */
static void shuffle_levels(chunks *c, chunk_copy *k, const gbt_column *from, gbt_column *to, int64_t n) {
  const int32_t n_levels = from->n_levels;
  int64_t *place = test_permutation(&c->rng, n_levels + MORE_LEVELS);
  const char **level = keep(k, NULL, (size_t)(n_levels + MORE_LEVELS) * sizeof *level);
  int32_t *code = keep(k, to->values, (size_t)n * sizeof *code);
  for (int32_t i = 0; i < n_levels; i++) level[place[i]] = keep_text(k, from->levels[i]);
  for (int32_t i = 0; i < MORE_LEVELS; i++)
    level[place[n_levels + i]] = i == 0 && n_levels > 0 ? keep_text(k, from->levels[0]) : keep_text(k, "nobody");
  for (int64_t e = 0; e < n; e++)
    if (code[e] > 0) code[e] = (int32_t)place[code[e] == 1 && test_below(&c->rng, 2) ? n_levels : code[e] - 1] + 1;
  to->levels = level;
  to->values = code;
  to->n_levels = n_levels + MORE_LEVELS;
  free(place);
}

/* Codes for which there is no level stay what they are, and are found by that number. */
static int has_all_levels(const gbt_column *col, int64_t n) {
  for (int64_t e = 0; e < n; e++)
    if (((const int32_t *)col->values)[e] > col->n_levels) return 0;
  return 1;
}

static size_t size_of(gbt_storage storage) { return storage == GBT_I32 || storage == GBT_CODES ? 4 : 8; }

static void cut_column(chunks *c, chunk_copy *k, const gbt_column *from, int64_t beg, int64_t end, gbt_column *to) {
  int64_t first = beg, n = end - beg;
  *to = *from;
  to->name = keep_text(k, from->name);
  to->tag = keep_text(k, from->tag);
  if (from->rows != NULL) {
    int64_t e = 0;
    while (e < from->n_entries && from->rows[e] < beg) e++;
    first = e;
    while (e < from->n_entries && from->rows[e] < end) e++;
    n = to->n_entries = e - first;
    int32_t *row = keep(k, NULL, (size_t)n * sizeof *row);
    for (int64_t i = 0; i < n; i++) row[i] = (int32_t)(from->rows[first + i] - beg);
    to->rows = row;
  }
  if (from->values != NULL)
    to->values = keep(k, (const char *)from->values + (size_t)first * size_of(from->storage),
                      (size_t)n * size_of(from->storage));
  if (from->storage != GBT_CODES) return;
  if (from->type == GBT_CATEGORICAL && c->seed != 0 && has_all_levels(to, n)) {
    shuffle_levels(c, k, from, to, n);
    return;
  }
  const char **level = keep(k, NULL, (size_t)from->n_levels * sizeof *level);
  for (int32_t i = 0; i < from->n_levels; i++) level[i] = keep_text(k, from->levels[i]);
  to->levels = level;
}

static int is_wanted(const chunks *c, int32_t col) {
  for (int32_t i = 0; i < c->n_wanted; i++)
    if (c->wanted[i] == col) return 1;
  return 0;
}

static chunk_copy *cut(chunks *c, const gbt_table *table, int64_t beg, int64_t end) {
  chunk_copy *k = test_alloc(sizeof *k);
  k->blocks = NULL;
  k->bytes = 0;
  k->table = *table;
  k->table.n_rows = end - beg;
  k->table.rows_before = -77;
  k->cols = keep(k, NULL, (size_t)table->n_cols * sizeof *k->cols);
  for (int32_t i = 0; i < table->n_cols; i++) cut_column(c, k, &table->cols[i], beg, end, &k->cols[i]);
  for (int32_t i = 0; c->wanted != NULL && i < table->n_cols; i++)
    if (!is_wanted(c, i) && k->cols[i].rows == NULL && k->cols[i].storage != GBT_CODES && k->cols[i].values != NULL)
      memset((void *)(uintptr_t)k->cols[i].values, POISON, (size_t)(end - beg) * size_of(k->cols[i].storage));
  k->table.cols = k->cols;
  if (k->bytes > c->most_bytes) c->most_bytes = k->bytes;
  return k;
}

static void release(chunks *c) {
  if (c->live == NULL) return;
  poison(c->live);
  chunk_free(c->dead[c->n_dead % CHUNKS_DEAD]);
  c->dead[c->n_dead++ % CHUNKS_DEAD] = c->live;
  c->live = NULL;
}

static gbt_status failure(chunks *c, gbt_error *err) {
  c->n_calls++;
  if (c->fail_at == 0 || c->n_calls != c->fail_at) return GBT_OK;
  return gbt_fail(err, c->fail_with, "the source failed in call %d", (int)c->n_calls);
}

static gbt_status chunks_rewind(void *state, gbt_ctx *ctx, gbt_error *err) {
  chunks *c = state;
  (void)ctx;
  release(c);
  c->at = 0;
  c->done = 0;
  c->n_passes++;
  return failure(c, err);
}

static gbt_status chunks_next(void *state, gbt_ctx *ctx, const gbt_table **out, gbt_error *err) {
  chunks *c = state;
  const gbt_table *table = c->other != NULL && c->from > 0 && c->n_passes >= c->from ? c->other : c->table;
  (void)ctx;
  *out = NULL;
  release(c);
  GBT_TRY(failure(c, err));
  if (c->done) return GBT_OK;
  int64_t n = c->rows, left = table->n_rows - c->at;
  if (n == 0) n = test_below(&c->rng, 4) == 0 ? 0 : 1 + test_below(&c->rng, table->n_rows / 3 + 2);
  if (n > left) n = left;
  c->live = cut(c, table, c->at, c->at + n);
  c->at += n;
  c->done = c->at == table->n_rows && (c->rows > 0 || test_below(&c->rng, 2) == 0);
  c->n_chunks++;
  *out = &c->live->table;
  return GBT_OK;
}

static void chunks_want(void *state, const int32_t *cols, int32_t n) {
  chunks *c = state;
  c->wanted = cols;
  c->n_wanted = n;
}

chunks *chunks_new(const gbt_table *table, int64_t rows, uint64_t seed) {
  chunks *c = test_alloc(sizeof *c);
  memset(c, 0, sizeof *c);
  c->source = (gbt_source){c, table->n_rows, chunks_rewind, chunks_next, chunks_want};
  c->table = table;
  c->rows = rows;
  c->seed = seed;
  c->rng.state = seed;
  return c;
}

void chunks_free(chunks *c) {
  chunk_free(c->live);
  for (int i = 0; i < CHUNKS_DEAD; i++) chunk_free(c->dead[i]);
  free(c);
}
