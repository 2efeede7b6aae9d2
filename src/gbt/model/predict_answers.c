/* Making and reading the answers of long sets: predict_answers.h. */
#include "predict_answers.h"

#include <string.h>

#include "../base/parallel.h"

enum {
  SETS = 64,          /* of a word */
  ROOM = 1 << 20,     /* bytes that answers of a column may take in any case */
  MOST_TIMES_SETS = 4 /* above ROOM: at most so many times the bytes of its sets */
};

typedef struct maker {
  gbti_pack *pack;
  const uint32_t *order; /* by number among the sets with answers: which of pack->tables.sets */
  const int64_t *task;   /* by column: its first task; one more at the end */
} maker;

static uint64_t set_bits(const gbti_pack *pack, const gbti_table_set *set, uint32_t code) {
  const uint32_t *words = pack->words + set->beg;
  uint32_t low = code / 32, high = low + 1;
  return words[low < set->last ? low : set->last] | (uint64_t)words[high < set->last ? high : set->last] << 32;
}

/* 64 sets of a column, for all codes. */
static void fill_task(void *arg, int64_t task, int thread) {
  const maker *m = arg;
  gbti_pack *pack = m->pack;
  uint32_t j = 0;
  while (m->task[j + 1] <= task) j++;
  const gbti_answers *a = &pack->tables.answers[j];
  uint32_t word = (uint32_t)(task - m->task[j]), first = word * SETS;
  uint32_t n = a->n_sets - first < SETS ? a->n_sets - first : SETS;
  uint64_t from[SETS] = {0}, to[SETS];
  (void)thread;
  for (uint32_t code = 0; code < a->n_codes; code += SETS) {
    for (uint32_t s = 0; s < n; s++)
      from[s] = set_bits(pack, &pack->tables.sets[m->order[a->set_beg + first + s]], code);
    gbti_turn_bits(from, to, 1);
    for (uint32_t c = 0; c < SETS && code + c < a->n_codes; c++)
      pack->tables.answer_bits[a->beg + (size_t)(code + c) * a->n_words + word] = to[c];
  }
}

/* Gives columns their places. A column whose answers would be much larger than its sets gets none: n_sets is 0.
 * That happens when one set is much longer than the others. set_words: by column, words of all its sets. */
static void place_columns(gbti_tables *tables, const size_t *set_words, size_t *n_bits, uint32_t *n_sets) {
  *n_bits = *n_sets = 0;
  for (uint32_t j = 0; j < tables->n_answers; j++) {
    gbti_answers *a = &tables->answers[j];
    a->n_words = (a->n_sets + SETS - 1) / SETS;
    size_t bytes = (size_t)a->n_words * a->n_codes * sizeof *tables->answer_bits;
    if (bytes > ROOM + MOST_TIMES_SETS * sizeof(uint32_t) * set_words[j]) a->n_words = a->n_sets = 0;
    a->beg = *n_bits;
    a->set_beg = *n_sets;
    *n_bits += (size_t)a->n_words * a->n_codes;
    *n_sets += a->n_sets;
  }
}

/* Which column of answers is a column of levels'; its number + 1 by its first column of bytes. */
static uint32_t *answers_of(uint32_t *columns, const gbti_table_set *set) {
  return &columns[set->col / GBTI_TABLE_ROWS];
}

/* Sets that are neither looked up nor of a column without room. */
static gbti_answers *column_of(gbti_tables *tables, uint32_t *columns, const gbti_table_set *set) {
  uint32_t j = set->width > 0 ? 0 : *answers_of(columns, set);
  return j > 0 ? &tables->answers[j - 1] : NULL;
}

/* Counts columns, their sets and words. n: sets of tables. */
static gbt_status count_columns(const gbt_mem *mem, gbti_tables *tables, size_t n, uint32_t *columns,
                                size_t **set_words, gbt_error *err) {
  size_t cap = 0, cap_words = 0;
  for (size_t i = 0; i < n; i++) {
    const gbti_table_set *set = &tables->sets[i];
    if (set->width > 0) continue;
    uint32_t *j = answers_of(columns, set), n_codes = 32 * set->last + 1;
    if (*j == 0) {
      GBT_TRY(gbt_mem_grow(mem, &tables->answers, &cap, tables->n_answers + 1, sizeof *tables->answers, err));
      GBT_TRY(gbt_mem_grow(mem, set_words, &cap_words, tables->n_answers + 1, sizeof **set_words, err));
      gbti_answers fresh = {.col = set->col};
      (*set_words)[tables->n_answers] = 0;
      tables->answers[tables->n_answers++] = fresh;
      *j = tables->n_answers;
    }
    gbti_answers *a = &tables->answers[*j - 1];
    a->n_sets++;
    (*set_words)[*j - 1] += set->last + 1;
    if (n_codes > a->n_codes) a->n_codes = n_codes;
  }
  return GBT_OK;
}

gbt_status gbti_answers_make(gbt_ctx *ctx, gbti_pack *pack, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  gbti_tables *tables = &pack->tables;
  uint32_t *columns = NULL, *order = NULL, *next = NULL, n_sets;
  int64_t *task = NULL;
  size_t n = tables->n_sets, n_bits, *set_words = NULL;
  gbt_status status;
  if (n == 0) return GBT_OK;
  GBT_TRY(gbt_mem_zeros(mem, tables->n_cols, sizeof *columns, &columns, err));
  GBT_TRY_GOTO(count_columns(mem, tables, n, columns, &set_words, err), done);
  if (tables->n_answers == 0) goto done;
  place_columns(tables, set_words, &n_bits, &n_sets);
  pack->n_bytes += n_bits * sizeof *tables->answer_bits + tables->n_answers * sizeof *tables->answers;
  GBT_TRY_GOTO(gbt_mem_array(mem, n_bits, sizeof *tables->answer_bits, &tables->answer_bits, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_sets, sizeof *order, &order, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, tables->n_answers, sizeof *next, &next, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, tables->n_answers + 1, sizeof *task, &task, err), done);
  for (size_t i = 0; i < n; i++) {
    gbti_answers *a = column_of(tables, columns, &tables->sets[i]);
    if (a != NULL && a->n_sets > 0) order[a->set_beg + next[a - tables->answers]++] = (uint32_t)i;
  }
  for (uint32_t j = 0; j < tables->n_answers; j++) task[j + 1] = task[j] + tables->answers[j].n_words;
  maker m = {.pack = pack, .order = order, .task = task};
  GBT_TRY_GOTO(gbt_parallel(ctx, task[tables->n_answers], fill_task, &m, err), done);
  for (uint32_t s = 0; s < n_sets; s++) {
    tables->sets[order[s]].beg = s;
    tables->sets[order[s]].width = GBTI_TABLE_ANSWERED;
  }
  tables->n_masks = n_sets;
done:
  gbt_mem_free(mem, task);
  gbt_mem_free(mem, next);
  gbt_mem_free(mem, order);
  gbt_mem_free(mem, set_words);
  gbt_mem_free(mem, columns);
  return status;
}

/* The part of a level's answers that rows read. */
static void ask_column(const gbti_pack *pack, const gbti_answers *a, const uint8_t *codes, int32_t n, size_t stride,
                       uint64_t *masks) {
  const uint64_t *level[GBTI_TABLE_ROWS];
  uint64_t from[GBTI_TABLE_ROWS] = {0}, to[SETS];
  for (int32_t r = 0; r < n; r++) {
    uint16_t code;
    memcpy(&code, codes + a->col + 2 * GBTI_TABLE_ROWS + 2 * r, sizeof code);
    level[r] = pack->tables.answer_bits + a->beg + (size_t)(code < a->n_codes ? code : a->n_codes - 1) * a->n_words;
#if defined(__GNUC__)
    for (uint32_t w = 0; w < a->n_words; w += 8) __builtin_prefetch(level[r] + w);
#endif
  }
  for (uint32_t w = 0; w < a->n_words; w++, masks += SETS * stride) {
    uint32_t sets = a->n_sets - w * SETS;
    for (int32_t r = 0; r < n; r++) from[r] = level[r][w];
    if (sets >= SETS) {
      gbti_turn_bits(from, masks, stride);
      continue;
    }
    gbti_turn_bits(from, to, 1);
    for (uint32_t s = 0; s < sets; s++) masks[s * stride] = to[s];
  }
}

void gbti_answers_ask(const gbti_pack *pack, const uint8_t *codes, int32_t n, int32_t n_groups, uint64_t *masks) {
  const gbti_tables *tables = &pack->tables;
  for (int32_t g = 0; g * GBTI_TABLE_ROWS < n; g++, codes += (size_t)tables->n_cols * GBTI_TABLE_ROWS) {
    int32_t rows = n - g * GBTI_TABLE_ROWS < GBTI_TABLE_ROWS ? n - g * GBTI_TABLE_ROWS : GBTI_TABLE_ROWS;
    for (uint32_t j = 0; j < tables->n_answers; j++)
      ask_column(pack, &tables->answers[j], codes, rows, (size_t)n_groups,
                 masks + (size_t)tables->answers[j].set_beg * (size_t)n_groups + g);
  }
}
