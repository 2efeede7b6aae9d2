/* Edits of drafts but for trees: texts, the objective, columns, levels, meta entries, and sections of two drafts. See
 * mutate.h. */
#include "../../src/gbt/model/model_impl.h"
#include "mutate_impl.h"

int draft_insert(draft *d, gbti_section_id p, size_t at, size_t bytes) {
  if (at > d->n[p] || bytes > MUTATE_SECTION - d->n[p]) return 0;
  memmove(d->section[p] + at + bytes, d->section[p] + at, d->n[p] - at);
  memset(d->section[p] + at, 0, bytes);
  d->n[p] += bytes;
  return 1;
}

int draft_cut(draft *d, gbti_section_id p, size_t at, size_t bytes) {
  if (at > d->n[p] || bytes > d->n[p] - at) return 0;
  memmove(d->section[p] + at, d->section[p] + at + bytes, d->n[p] - at - bytes);
  d->n[p] -= bytes;
  return 1;
}

double draft_number(test_rng *rng) {
  static const double odd[] = {0.0,    -0.0,   1.0,    -1.0, 0.5,      1.5,       1e308, -1e308,
                               5e-324, 1e-310, 1e-300, 3.0,  INFINITY, -INFINITY, NAN,   1.7976931348623157e308};
  int64_t kind = test_below(rng, 8);
  if (kind < 3) return odd[test_below(rng, 16)];
  return kind == 3 ? test_bell(rng) : (double)(test_below(rng, 41) - 20) / 2.0;
}

/* Features as the numbers tell them: the columns where there is no map. */
static void count_features(draft *d) {
  const size_t n = COUNT(d, gbti_model_feature, GBTI_SEC_FEATURES);
  numbers(d)->n_features = (int32_t)(n > 0 ? n : COUNT(d, gbti_model_column, GBTI_SEC_COLUMNS));
}

/* ---- texts ---- */

enum { MOST_SLOTS = 4 * MUTATE_SECTION / 8 };

/* The places that refer to texts, in the order in which texts lie. */
static size_t find_slots(draft *d, uint64_t **slot) {
  uint64_t *level = AS(d, uint64_t, DRAFT_LEVELS), n_levels = COUNT(d, uint64_t, DRAFT_LEVELS), at = 0;
  size_t n = 0;
  if (d->n[GBTI_SEC_OBJECTIVE] >= sizeof **slot) slot[n++] = AS(d, uint64_t, GBTI_SEC_OBJECTIVE);
  for (size_t i = 0; i < COUNT(d, gbti_model_parameter, GBTI_SEC_PARAMETERS); i++)
    slot[n++] = &AS(d, gbti_model_parameter, GBTI_SEC_PARAMETERS)[i].name;
  for (size_t f = 0; f < COUNT(d, gbti_model_column, GBTI_SEC_COLUMNS); f++) {
    slot[n++] = &columns(d)[f].name;
    slot[n++] = &columns(d)[f].tag;
    for (int32_t i = 0; i < columns(d)[f].n_levels && at < n_levels; i++) slot[n++] = &level[at++];
  }
  for (size_t i = 0; i < COUNT(d, uint64_t, GBTI_SEC_FEATURE_KINDS) && n < MOST_SLOTS; i++)
    slot[n++] = AS(d, uint64_t, GBTI_SEC_FEATURE_KINDS) + i;
  for (size_t m = 0; m < COUNT(d, gbti_model_entry, GBTI_SEC_META); m++) {
    const gbti_model_entry *e = &entries(d)[m];
    if (n == MOST_SLOTS) break;
    slot[n++] = &entries(d)[m].name;
    if (e->kind != GBT_META_TEXT || e->beg % 8 != 0 || e->beg > d->n[GBTI_SEC_META_VALUES]) continue;
    uint64_t *value = AS(d, uint64_t, GBTI_SEC_META_VALUES) + e->beg / 8;
    for (uint64_t i = 0; i < e->n && i < (d->n[GBTI_SEC_META_VALUES] - e->beg) / 8 && n < MOST_SLOTS; i++)
      if (value[i] != GBTI_MODEL_NO_TEXT) slot[n++] = &value[i];
  }
  return n;
}

static size_t text_size(const draft *d, uint64_t at) {
  if (at >= d->n[GBTI_SEC_TEXTS]) return 0;
  const uint8_t *text = d->section[GBTI_SEC_TEXTS] + at, *end = memchr(text, 0, d->n[GBTI_SEC_TEXTS] - (size_t)at);
  return end == NULL ? 0 : (size_t)(end - text);
}

static void relay_texts(draft *d) {
  static uint64_t *slot[MOST_SLOTS]; /* large; one thread */
  uint8_t texts[MUTATE_SECTION];
  size_t n = find_slots(d, slot), at = 0;
  for (size_t i = 0; i < n; i++) {
    size_t size = text_size(d, *slot[i]);
    if (at + size + 1 > sizeof texts) size = 0;
    if (at + size + 1 > sizeof texts) return;
    memcpy(texts + at, d->section[GBTI_SEC_TEXTS] + (size > 0 ? *slot[i] : 0), size);
    texts[at + size] = 0;
    *slot[i] = at;
    at += size + 1;
  }
  memcpy(d->section[GBTI_SEC_TEXTS], texts, at);
  d->n[GBTI_SEC_TEXTS] = at;
}

void draft_relay(draft *d) {
  relay_texts(d);
  draft_relay_vectors(d);
}

uint64_t draft_add_text(draft *d, const char *text) {
  size_t at = d->n[GBTI_SEC_TEXTS], n = strlen(text) + 1;
  if (!draft_insert(d, GBTI_SEC_TEXTS, at, n)) return at;
  memcpy(d->section[GBTI_SEC_TEXTS] + at, text, n);
  return at;
}

static uint64_t add_name(test_rng *rng, draft *d, const char *stem) {
  char text[48];
  snprintf(text, sizeof text, "%s%d", stem, (int)test_below(rng, 1000));
  return draft_add_text(d, text);
}

/* Another text where one is referred to: that of another place, bad UTF-8, names that R knows, long or empty ones. */
static void edit_text(test_rng *rng, draft *d) {
  static uint64_t *slot[MOST_SLOTS];
  static const char *const odd[] = {
      "",
      "a",
      "\xff",
      "\xc3",
      "\xc0\x80",
      "\xed\xa0\x80",
      "\xf4\x90\x80\x80",
      "\xf0\x9f\x98\x80",
      "\xef\xbf\xbf",
      "\xe2\x80\xae\xe2\x80\x8b",
      "e\xcc\x81",
      "NA",
      "x\ny\t\"`\\",
      "%s%n%d",
      "(unseen)",
      "0",
      "a level that is longer than any other level which this model has had so far, by far"};
  size_t n = find_slots(d, slot);
  if (n == 0) return;
  uint64_t *at = slot[test_below(rng, (int64_t)n)];
  if (test_below(rng, 3) == 0)
    *at = *slot[test_below(rng, (int64_t)n)];
  else
    *at = draft_add_text(d, odd[test_below(rng, (int64_t)(sizeof odd / sizeof odd[0]))]);
}

/* ---- schema ---- */

/* Where the levels of feature f begin among all. */
static size_t level_of(draft *d, size_t f) {
  size_t at = 0;
  for (size_t i = 0; i < f; i++) at += columns(d)[i].n_levels > 0 ? (size_t)columns(d)[i].n_levels : 0;
  return at;
}

static void edit_schema(test_rng *rng, draft *d) {
  size_t n = COUNT(d, gbti_model_column, GBTI_SEC_COLUMNS);
  int64_t kind = test_below(rng, 8);
  if (kind == 0 && draft_insert(d, GBTI_SEC_COLUMNS, n * 24, 24)) {
    gbti_model_column fresh = {.type = (uint32_t)test_below(rng, 3)};
    fresh.name = add_name(rng, d, "new ");
    fresh.tag = add_name(rng, d, "");
    columns(d)[n] = fresh;
    count_features(d);
    return;
  }
  if (n == 0) return;
  size_t f = (size_t)test_below(rng, (int64_t)n);
  gbti_model_column *feat = &columns(d)[f];
  size_t at = level_of(d, f);
  if (kind == 1) {
    feat->type = (uint32_t)test_below(rng, 4);
  } else if (kind == 2 && n > 1 && columns(d)[n - 1].n_levels == 0) {
    d->n[GBTI_SEC_COLUMNS] -= 24;
    count_features(d);
  } else if (kind == 3 && feat->n_levels > 0 && draft_cut(d, DRAFT_LEVELS, 8 * at, 8)) {
    feat->n_levels--;
  } else if (kind > 3) {
    for (int64_t i = test_below(rng, 8) == 0 ? 40 : 1; i > 0; i--)
      if (feat->n_levels >= 0 && feat->n_levels < MUTATE_SECTION && draft_insert(d, DRAFT_LEVELS, 8 * at, 8)) {
        AS(d, uint64_t, DRAFT_LEVELS)[at] = add_name(rng, d, "level ");
        feat->n_levels++;
        if (feat->type == GBT_NUMERIC) feat->type = 1 + (uint32_t)test_below(rng, 2);
      }
  }
}

/* ---- the feature map ---- */

static gbti_model_feature *features(draft *d) { return AS(d, gbti_model_feature, GBTI_SEC_FEATURES); }

/* Levels of a column, as far as the draft has it. */
static size_t n_levels_of(draft *d, int32_t col) {
  if (col < 0 || (size_t)col >= COUNT(d, gbti_model_column, GBTI_SEC_COLUMNS)) return 0;
  return columns(d)[col].n_levels > 0 ? (size_t)columns(d)[col].n_levels : 0;
}

/* The map that says that features are the columns, to be added to. */
static void begin_map(draft *d) {
  const size_t n = COUNT(d, gbti_model_column, GBTI_SEC_COLUMNS);
  if (n > MUTATE_SECTION / 16 || !draft_insert(d, GBTI_SEC_FEATURES, 0, n * sizeof(gbti_model_feature))) return;
  for (size_t f = 0; f < n; f++) features(d)[f].col = (int32_t)f;
  if (n > 0 && draft_insert(d, GBTI_SEC_FEATURE_KINDS, 0, 8))
    *AS(d, uint64_t, GBTI_SEC_FEATURE_KINDS) = draft_add_text(d, gbt_feature_kind_name(GBT_FEATURE_COLUMN));
}

/* Level counts of a factor after the other features. */
static void add_counts(test_rng *rng, draft *d) {
  const size_t n_cols = COUNT(d, gbti_model_column, GBTI_SEC_COLUMNS);
  if (n_cols == 0) return;
  const int32_t col = (int32_t)test_below(rng, (int64_t)n_cols);
  const size_t n_levels = n_levels_of(d, col);
  if (COUNT(d, gbti_model_feature, GBTI_SEC_FEATURES) == 0) begin_map(d);
  const size_t n = COUNT(d, gbti_model_feature, GBTI_SEC_FEATURES), at = d->n[GBTI_SEC_STATISTICS];
  if (n == 0 || (columns(d)[col].type != GBT_CATEGORICAL && test_below(rng, 8) > 0)) return;
  if (COUNT(d, uint64_t, GBTI_SEC_FEATURE_KINDS) == 1 && draft_insert(d, GBTI_SEC_FEATURE_KINDS, 8, 8))
    AS(d, uint64_t, GBTI_SEC_FEATURE_KINDS)[1] = draft_add_text(d, gbt_feature_kind_name(GBT_FEATURE_LEVEL_COUNT));
  if (!draft_insert(d, GBTI_SEC_FEATURES, n * sizeof(gbti_model_feature), sizeof(gbti_model_feature))) return;
  features(d)[n].kind = 1;
  features(d)[n].col = col;
  if (!draft_insert(d, GBTI_SEC_STATISTICS, at, n_levels * 8)) return;
  for (size_t i = 0; i < n_levels; i++) {
    const double count = (double)test_below(rng, 100);
    memcpy(d->section[GBTI_SEC_STATISTICS] + at + 8 * i, &count, 8);
  }
}

static void edit_features(test_rng *rng, draft *d) {
  const size_t n = COUNT(d, gbti_model_feature, GBTI_SEC_FEATURES);
  const size_t n_values = COUNT(d, double, GBTI_SEC_STATISTICS);
  const int64_t kind = test_below(rng, 6);
  if (kind < 3) {
    add_counts(rng, d);
  } else if (kind == 3 && n > 0) {
    draft_cut(d, GBTI_SEC_FEATURES, (size_t)test_below(rng, (int64_t)n) * sizeof(gbti_model_feature),
              sizeof(gbti_model_feature));
  } else if (kind == 4 && n > 0) {
    gbti_model_feature *f = &features(d)[test_below(rng, (int64_t)n)];
    if (test_below(rng, 2))
      f->kind = (uint32_t)test_below(rng, 3);
    else
      f->col = (int32_t)test_below(rng, (int64_t)COUNT(d, gbti_model_column, GBTI_SEC_COLUMNS) + 1);
  } else if (kind == 5 && n_values > 0) {
    const double x = draft_number(rng);
    memcpy(d->section[GBTI_SEC_STATISTICS] + 8 * (uint64_t)test_below(rng, (int64_t)n_values), &x, 8);
  }
  count_features(d);
}

/* One number of projections and tables, or some of their bytes taken away or doubled. */
static void edit_tables(test_rng *rng, draft *d) {
  const int p = GBTI_SEC_PROJECTIONS + (int)test_below(rng, GBTI_SEC_BINS - GBTI_SEC_PROJECTIONS + 1);
  static const size_t record[] = {8, 4, 8, 24, 8, 1};
  const size_t size = record[p - GBTI_SEC_PROJECTIONS], n = d->n[p] / size;
  if (n == 0) return;
  const size_t at = (size_t)test_below(rng, (int64_t)n) * size;
  uint8_t *to = d->section[p] + at;
  const int64_t kind = test_below(rng, 6);
  if (kind == 0) {
    draft_cut(d, (gbti_section_id)p, at, size);
  } else if (kind == 1 && draft_insert(d, (gbti_section_id)p, at, size)) {
    memcpy(to, to + size, size);
  } else if (kind == 2 && size == 8) {
    const double x = draft_number(rng);
    memcpy(to, &x, size);
  } else if (size >= 4) {
    const int32_t x = test_below(rng, 2) ? (int32_t)test_below(rng, 40) - 2 : (int32_t)mutate_edge(rng, 0);
    memcpy(to + 4 * (size_t)test_below(rng, (int64_t)(size / 4)), &x, sizeof x);
  } else {
    *to = (uint8_t)test_below(rng, 256);
  }
}

/* ---- meta ---- */

/* Whether an entry's values lie within their part, and are aligned. */
static int has_values(const draft *d, const gbti_model_entry *e) {
  size_t left = d->n[GBTI_SEC_META_VALUES];
  return e->beg % 8 == 0 && e->beg <= left && e->n <= (left - e->beg) / (e->kind == GBT_META_INT ? 4 : 8);
}

/* Lays the values of the entries one after the other, in the order of the entries. */
static void relay_values(draft *d) {
  _Alignas(8) uint8_t values[MUTATE_SECTION];
  size_t at = 0;
  for (size_t m = 0; m < COUNT(d, gbti_model_entry, GBTI_SEC_META); m++) {
    gbti_model_entry *e = &entries(d)[m];
    size_t size = e->kind == GBT_META_INT ? 4 : 8;
    if (!has_values(d, e) || at + gbti_align8(e->n * size) > sizeof values) return;
    size_t bytes = (size_t)e->n * size;
    memset(values + at, 0, (size_t)gbti_align8(bytes));
    memcpy(values + at, d->section[GBTI_SEC_META_VALUES] + e->beg, bytes);
    e->beg = at;
    at += (size_t)gbti_align8(bytes);
  }
  memcpy(d->section[GBTI_SEC_META_VALUES], values, at);
  d->n[GBTI_SEC_META_VALUES] = at;
}

/* A name as R/fit_save.R gives them. */
static uint64_t known_name(test_rng *rng, draft *d) {
  static const char *const stems[] = {"objective",  "classes",        "response",         "params",  "best_round",
                                      "best_score", "evaluation_log", "has_offset",       "formula", "terms",
                                      "exposure",   "n_obs",          "params/1",         "terms/1", "terms/2",
                                      "user",       "user/1",         "evaluation_log/1", "by_rule"};
  static const char *const ends[] = {"", "", ":lgl", ":names", ":list", ":null", "/1", "/2", "/1:names"};
  char text[64];
  snprintf(text, sizeof text, "%s%s", stems[test_below(rng, (int64_t)(sizeof stems / sizeof stems[0]))],
           ends[test_below(rng, 9)]);
  return draft_add_text(d, text);
}

static void add_entry(test_rng *rng, draft *d) {
  size_t n = COUNT(d, gbti_model_entry, GBTI_SEC_META), at = (size_t)test_below(rng, (int64_t)n + 1);
  gbti_model_entry fresh = {.kind = (uint32_t)test_below(rng, 3), .n = (uint64_t)test_below(rng, 5)};
  fresh.beg = d->n[GBTI_SEC_META_VALUES];
  size_t bytes = (size_t)gbti_align8(fresh.n * (fresh.kind == GBT_META_INT ? 4 : 8));
  if (!draft_insert(d, GBTI_SEC_META, at * 32, 32) || !draft_insert(d, GBTI_SEC_META_VALUES, (size_t)fresh.beg, bytes))
    return;
  for (uint64_t i = 0; i < fresh.n; i++) {
    uint64_t x = gbt_bits(draft_number(rng));
    if (fresh.kind == GBT_META_TEXT) x = test_below(rng, 4) == 0 ? GBTI_MODEL_NO_TEXT : add_name(rng, d, "text ");
    if (fresh.kind == GBT_META_INT) x = test_below(rng, 2) ? (uint64_t)test_below(rng, 4) : mutate_edge(rng, 0);
    memcpy(d->section[GBTI_SEC_META_VALUES] + fresh.beg + i * (fresh.kind == GBT_META_INT ? 4 : 8), &x,
           fresh.kind == GBT_META_INT ? 4 : 8);
  }
  fresh.name = known_name(rng, d);
  entries(d)[at] = fresh;
}

static void edit_meta(test_rng *rng, draft *d) {
  size_t n = COUNT(d, gbti_model_entry, GBTI_SEC_META);
  int64_t kind = test_below(rng, 8);
  if (kind == 0 || n == 0) {
    add_entry(rng, d);
    relay_values(d);
    return;
  }
  size_t m = (size_t)test_below(rng, (int64_t)n), other = (size_t)test_below(rng, (int64_t)n);
  gbti_model_entry *e = &entries(d)[m], save = *e;
  if (kind == 1) {
    e->kind = (uint32_t)test_below(rng, 3); /* the same bytes as another kind */
    if ((save.kind == GBT_META_INT) != (e->kind == GBT_META_INT))
      e->n = e->kind == GBT_META_INT ? 2 * save.n : save.n / 2;
    if (e->kind == GBT_META_TEXT && has_values(d, e))
      for (uint64_t i = 0; i < e->n; i++)
        AS(d, uint64_t, GBTI_SEC_META_VALUES)[e->beg / 8 + i] = test_below(rng, 3) ? add_name(rng, d, "") : UINT64_MAX;
  } else if (kind == 2) {
    e->name = test_below(rng, 2) ? known_name(rng, d) : entries(d)[other].name;
  } else if (kind == 3) {
    e->n += (uint64_t)(test_below(rng, 3) - 1);
  } else if (kind == 4) {
    *e = entries(d)[other];
    entries(d)[other] = save;
  } else if (kind == 5) {
    draft_cut(d, GBTI_SEC_META, m * 32, 32);
  } else if (e->kind == GBT_META_INT && e->n > 0 && has_values(d, e)) {
    uint32_t x = (uint32_t)mutate_edge(rng, 0);
    memcpy(d->section[GBTI_SEC_META_VALUES] + e->beg + 4 * (uint64_t)test_below(rng, (int64_t)e->n), &x, 4);
  } else if (e->kind == GBT_META_DOUBLE && e->n > 0 && has_values(d, e)) {
    double x = draft_number(rng);
    memcpy(d->section[GBTI_SEC_META_VALUES] + e->beg + 8 * (uint64_t)test_below(rng, (int64_t)e->n), &x, 8);
  }
  relay_values(d);
}

/* ---- objective ---- */

/* Another name, a name of a parameter, a value, a parameter more or fewer. */
static void edit_objective(test_rng *rng, draft *d) {
  size_t n = COUNT(d, gbti_model_parameter, GBTI_SEC_PARAMETERS), at = (size_t)test_below(rng, (int64_t)n + 1);
  int32_t other = (int32_t)test_below(rng, GBT_N_OBJECTIVES);
  int64_t kind = test_below(rng, 6);
  if (kind == 0 && d->n[GBTI_SEC_OBJECTIVE] == 8) {
    *AS(d, uint64_t, GBTI_SEC_OBJECTIVE) = draft_add_text(d, gbt_objective_info_of(other)->name);
  } else if (kind == 1 && d->n[GBTI_SEC_OBJECTIVE] == 8) {
    draft_set_objective(d, other);
  } else if (kind == 2 && draft_insert(d, GBTI_SEC_PARAMETERS, at * 16, 16)) {
    gbti_model_parameter fresh = {add_name(rng, d, "param "), draft_number(rng)};
    AS(d, gbti_model_parameter, GBTI_SEC_PARAMETERS)[at] = fresh;
  } else if (kind == 3) {
    draft_cut(d, GBTI_SEC_PARAMETERS, at * 16, 16);
  } else if (at < n) {
    AS(d, gbti_model_parameter, GBTI_SEC_PARAMETERS)[at].value = draft_number(rng);
  }
}

void draft_set_objective(draft *d, int32_t kind) {
  const gbt_objective_info *info = gbt_objective_info_of(kind);
  gbti_model_parameter fresh[GBT_OBJECTIVE_PARAMS];
  size_t n = 0;
  for (; n < GBT_OBJECTIVE_PARAMS && info->param[n].name != NULL; n++) {
    size_t i = n;
    for (; i > 0 && strcmp((char *)&d->section[GBTI_SEC_TEXTS][fresh[i - 1].name], info->param[n].name) > 0; i--)
      fresh[i] = fresh[i - 1];
    fresh[i].name = draft_add_text(d, info->param[n].name);
    fresh[i].value = info->param[n].def;
    if (fresh[i].name >= d->n[GBTI_SEC_TEXTS]) return; /* there was no room */
  }
  d->n[GBTI_SEC_OBJECTIVE] = d->n[GBTI_SEC_PARAMETERS] = 0;
  draft_insert(d, GBTI_SEC_OBJECTIVE, 0, 8);
  draft_insert(d, GBTI_SEC_PARAMETERS, 0, n * 16);
  *AS(d, uint64_t, GBTI_SEC_OBJECTIVE) = draft_add_text(d, info->name);
  memcpy(d->section[GBTI_SEC_PARAMETERS], fresh, n * 16);
}

/* ---- all of it ---- */

void draft_edit(test_rng *rng, draft *d) {
  int64_t kind = test_below(rng, 16);
  if (kind < 11)
    draft_edit_trees(rng, d);
  else if (kind < 12)
    edit_schema(rng, d);
  else if (kind < 13 && test_below(rng, 2))
    edit_features(rng, d);
  else if (kind < 13)
    edit_tables(rng, d);
  else if (kind < 14 && test_below(rng, 2))
    edit_objective(rng, d);
  else if (kind < 14)
    edit_text(rng, d);
  else
    edit_meta(rng, d);
}

static void take_section(draft *d, const draft *from, gbti_section_id p) {
  memcpy(d->section[p], from->section[p], from->n[p]);
  d->n[p] = from->n[p];
}

static void take_schema(draft *d, const draft *from, uint64_t text_at) {
  take_section(d, from, GBTI_SEC_COLUMNS);
  take_section(d, from, DRAFT_LEVELS);
  for (size_t f = 0; f < COUNT(d, gbti_model_column, GBTI_SEC_COLUMNS); f++) {
    columns(d)[f].name += text_at;
    columns(d)[f].tag += text_at;
  }
  for (size_t i = 0; i < COUNT(d, uint64_t, DRAFT_LEVELS); i++) AS(d, uint64_t, DRAFT_LEVELS)[i] += text_at;
  for (int p = GBTI_SEC_FEATURE_KINDS; p <= GBTI_SEC_BINS; p++) take_section(d, from, (gbti_section_id)p);
  for (size_t i = 0; i < COUNT(d, uint64_t, GBTI_SEC_FEATURE_KINDS); i++)
    AS(d, uint64_t, GBTI_SEC_FEATURE_KINDS)[i] += text_at;
  count_features(d);
}

static void take_meta(draft *d, const draft *from, uint64_t text_at) {
  take_section(d, from, GBTI_SEC_META);
  take_section(d, from, GBTI_SEC_META_VALUES);
  for (size_t m = 0; m < COUNT(d, gbti_model_entry, GBTI_SEC_META); m++) {
    const gbti_model_entry *e = &entries(d)[m];
    entries(d)[m].name += text_at;
    if (e->kind != GBT_META_TEXT || e->beg % 8 != 0 || e->beg > d->n[GBTI_SEC_META_VALUES]) continue;
    uint64_t *value = AS(d, uint64_t, GBTI_SEC_META_VALUES) + e->beg / 8;
    for (uint64_t i = 0; i < e->n && i < (d->n[GBTI_SEC_META_VALUES] - e->beg) / 8; i++)
      if (value[i] != GBTI_MODEL_NO_TEXT) value[i] += text_at;
  }
}

static void take_forest(draft *d, const draft *from, uint64_t text_at) {
  gbti_model_numbers n = *numbers(d), other;
  memcpy(&other, from->section[GBTI_SEC_NUMBERS], sizeof other);
  for (int p = GBTI_SEC_BASE; p <= GBTI_SEC_COUNT; p++) take_section(d, from, (gbti_section_id)p);
  other.n_features = n.n_features;
  *numbers(d) = other;
  take_section(d, from, GBTI_SEC_OBJECTIVE);
  take_section(d, from, GBTI_SEC_PARAMETERS);
  for (size_t i = 0; i < COUNT(d, uint64_t, GBTI_SEC_OBJECTIVE); i++) AS(d, uint64_t, GBTI_SEC_OBJECTIVE)[i] += text_at;
  for (size_t i = 0; i < COUNT(d, gbti_model_parameter, GBTI_SEC_PARAMETERS); i++)
    AS(d, gbti_model_parameter, GBTI_SEC_PARAMETERS)[i].name += text_at;
}

void draft_merge(test_rng *rng, draft *d, const draft *from) {
  static draft other; /* large; one thread */
  uint64_t what = 1 + (uint64_t)test_below(rng, 15), text_at = d->n[GBTI_SEC_TEXTS];
  if (!draft_insert(d, GBTI_SEC_TEXTS, (size_t)text_at, from->n[GBTI_SEC_TEXTS])) what &= 8u;
  if (what & 7u) memcpy(d->section[GBTI_SEC_TEXTS] + text_at, from->section[GBTI_SEC_TEXTS], from->n[GBTI_SEC_TEXTS]);
  if (what & 1u) take_schema(d, from, text_at);
  if (what & 2u) take_forest(d, from, text_at);
  if (what & 4u) take_meta(d, from, text_at);
  if (!(what & 8u)) return;
  other = *from;
  draft_append_trees(d, &other);
}
