#include "catboost_ctr.h"

#include <string.h>

#include "../base/sort.h"

enum { MOST_CODES = 1 << 28, MOST_LOOKED = 1 << 26 }; /* codes of all sets, at 4 bytes; levels compared with borders */

/* The rule of a number, and how many numbers a record has; 0: one for each class. Types that CatBoost trains on GPUs
 * only (FeatureFreq, FloatTargetMeanValue) were not compared with it, so they are not taken. */
typedef enum ctr_rule { SHARE_ABOVE, SHARE_OF, MEAN, ROWS } ctr_rule;

static const struct {
  const char *name;
  ctr_rule rule;
  int64_t width;
} ctr_types[] = {
    {"Borders", SHARE_ABOVE, 0}, {"Buckets", SHARE_OF, 0}, {"BinarizedTargetMeanValue", MEAN, 2}, {"Counter", ROWS, 1}};

enum { OF_COLUMNS = -1, OTHER_TYPE = -2 };

static size_t get(const gbti_ctrs *c, size_t object, const char *key) { return gbti_get(c->doc, object, key); }

gbt_status gbti_lacks_texts(const gbti_plant *plant) {
  return gbti_not_offered(plant, "the file lacks texts of categories; save it with the pool of its data: "
                                 "`save_model(format = \"json\", pool = )`");
}

/* ---- tables ---- */

/* A category's hash, 32 bits with a sign, as the tables have it. */
static uint64_t table_hash(uint32_t hash) {
  const uint64_t by = UINT64_C(0x4906ba494954cb65);
  return by * (by * (uint64_t)(int64_t)(int32_t)hash);
}

/* A whole number of 64 bits, written as a text. */
static gbt_status read_hash(const gbti_ctrs *c, size_t value, uint64_t *out) {
  const char *text;
  GBT_TRY(gbti_text(c->doc, value, "hash_map", &text));
  uint64_t x = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; at++) {
    const uint64_t digit = (uint64_t)(*at - '0');
    if (x > (UINT64_MAX - digit) / 10) break;
    x = x * 10 + digit;
  }
  *out = x;
  if (at > text && *at == 0) return GBT_OK;
  return gbti_document_fault(c->doc, "`hash_map` has a hash that is not a whole number of 64 bits");
}

/* Records of the table, but the one whose hash marks an empty place. */
static gbt_status read_records(const gbti_ctrs *c, gbti_ctr_table *t, size_t list, size_t n, int is_mean) {
  size_t at = gbti_first(c->doc, list);
  for (size_t i = 0; i < n; i++) {
    double *number = t->number + t->n * (size_t)t->width;
    GBT_TRY(read_hash(c, at, &t->hash[t->n]));
    for (int64_t k = 0; k < t->width; k++) {
      int64_t count = 0;
      at = gbti_next(c->doc, at);
      if (is_mean && k == 0) {
        GBT_TRY(gbti_number(c->doc, at, "hash_map", 1, number));
        continue;
      }
      GBT_TRY(gbti_whole(c->doc, at, "hash_map", 0, INT32_MAX, &count));
      number[k] = (double)count;
    }
    at = gbti_next(c->doc, at);
    if (t->hash[t->n] == UINT64_MAX) continue;
    t->record[t->n] = (uint32_t)t->n;
    t->n++;
  }
  return GBT_OK;
}

/* Sorts numbers of things by their hashes. */
static gbt_status sort_hashes(const gbti_ctrs *c, uint64_t *hash, uint32_t *number, size_t n) {
  const gbt_mem *mem = &c->plant->mem;
  uint64_t *other_hash = NULL;
  uint32_t *other_number = NULL;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *other_hash, &other_hash, c->plant->err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *other_number, &other_number, c->plant->err), done);
  gbt_sort_u64(hash, number, n, other_hash, other_number);
done:
  gbt_mem_free(mem, other_hash);
  gbt_mem_free(mem, other_number);
  return status;
}

static gbt_status sort_records(const gbti_ctrs *c, gbti_ctr_table *t) {
  GBT_TRY(sort_hashes(c, t->hash, t->record, t->n));
  for (size_t i = 1; i < t->n; i++)
    if (t->hash[i] == t->hash[i - 1]) return gbti_document_fault(c->doc, "`hash_map` has a hash twice");
  return GBT_OK;
}

static gbt_status read_table(gbti_ctrs *c, gbti_ctr_table *t, size_t data) {
  const gbt_mem *mem = &c->plant->mem;
  const size_t list = get(c, data, "hash_map");
  const int64_t n_values = gbti_count(c->doc, list), least = ctr_types[t->type].width;
  int64_t stride = 0, all = 0;
  GBT_TRY(gbti_whole(c->doc, get(c, data, "hash_stride"), "hash_stride", 2, INT32_MAX, &stride));
  GBT_TRY(gbti_whole(c->doc, get(c, data, "counter_denominator"), "counter_denominator", 0, INT32_MAX, &all));
  if (n_values < 0 || n_values % stride != 0 || n_values / stride > UINT32_MAX ||
      (n_values > 0 && gbti_kind_of(c->doc, list) != GBTI_VALUE_ARRAY) || (least > 0 && stride != least + 1))
    return gbti_document_fault(c->doc, "`hash_map` is not what it must be");
  const size_t n = (size_t)(n_values / stride);
  t->width = stride - 1;
  t->all = (double)all;
  GBT_TRY(gbt_mem_array(mem, n, sizeof *t->hash, &t->hash, c->plant->err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *t->record, &t->record, c->plant->err));
  GBT_TRY(gbt_mem_array(mem, n, (size_t)t->width * sizeof *t->number, &t->number, c->plant->err));
  if (n > 0) GBT_TRY(read_records(c, t, list, n, ctr_types[t->type].rule == MEAN));
  return sort_records(c, t);
}

/* The first place of a number in an ascending list; n where it is not there. */
static size_t find(const uint64_t *list, size_t n, uint64_t x) {
  size_t beg = 0, end = n;
  while (beg < end) {
    const size_t middle = beg + (end - beg) / 2;
    if (list[middle] < x)
      beg = middle + 1;
    else
      end = middle;
  }
  return beg < n && list[beg] == x ? beg : n;
}

/* The numbers of a category; NULL where it has no record. */
static const double *find_record(const gbti_ctr_table *t, uint32_t hash) {
  const size_t at = find(t->hash, t->n, table_hash(hash));
  return at < t->n ? t->number + (size_t)t->record[at] * (size_t)t->width : NULL;
}

/* ---- keys of tables ---- */

static int compare_keys(const gbti_ctr_key *a, const gbti_ctr_key *b) {
  const int order = memcmp(a->text, b->text, a->n < b->n ? a->n : b->n);
  return order != 0 ? order : (a->n > b->n) - (a->n < b->n);
}

/* Merges runs of 1, 2, 4, ... keys. The same ones keep their order. */
static gbt_status sort_keys(gbti_ctrs *c) {
  const size_t n = c->n_keys;
  gbti_ctr_key *to;
  GBT_TRY(gbt_mem_array(&c->plant->mem, n, sizeof *to, &to, c->plant->err));
  for (size_t width = 1; width < n; width *= 2) {
    gbti_ctr_key *from = c->key;
    for (size_t beg = 0; beg < n; beg += 2 * width) {
      const size_t middle = n - beg > width ? beg + width : n, end = n - middle > width ? middle + width : n;
      size_t a = beg, b = middle;
      for (size_t k = beg; k < end; k++) {
        const int first = b == end || (a < middle && compare_keys(&from[a], &from[b]) <= 0);
        to[k] = from[first ? a++ : b++];
      }
    }
    c->key = to;
    to = from;
  }
  gbt_mem_free(&c->plant->mem, to);
  return GBT_OK;
}

static gbt_status index_keys(gbti_ctrs *c) {
  const size_t data = gbti_get(c->doc, 0, "ctr_data");
  if (data == GBTI_NO_VALUE || gbti_kind_of(c->doc, data) != GBTI_VALUE_OBJECT) return GBT_OK;
  const size_t end = gbti_next(c->doc, data);
  size_t cap = 0;
  for (size_t at = gbti_first(c->doc, data), value; at != end; at = gbti_next(c->doc, value)) {
    value = gbti_next(c->doc, at);
    GBT_TRY(gbt_mem_grow(&c->plant->mem, &c->key, &cap, c->n_keys + 1, sizeof *c->key, c->plant->err));
    gbti_ctr_key *key = &c->key[c->n_keys++];
    *key = (gbti_ctr_key){.data = value};
    key->text = gbti_raw(c->doc, at, &key->n);
  }
  return sort_keys(c);
}

/* The first key with a text; NULL: none. */
static gbti_ctr_key *find_key(const gbti_ctrs *c, size_t text) {
  gbti_ctr_key its = {0};
  size_t beg = 0, end = c->n_keys;
  its.text = gbti_raw(c->doc, text, &its.n);
  if (its.text == NULL) return NULL;
  while (beg < end) {
    const size_t middle = beg + (end - beg) / 2;
    if (compare_keys(&c->key[middle], &its) < 0)
      beg = middle + 1;
    else
      end = middle;
  }
  return beg < c->n_keys && compare_keys(&c->key[beg], &its) == 0 ? &c->key[beg] : NULL;
}

/* ---- statistics ---- */

static gbt_status table_of(gbti_ctrs *c, size_t info, gbti_ctr *ctr) {
  gbti_ctr_key *key = find_key(c, get(c, info, "identifier"));
  if (key == NULL) return gbti_document_fault(c->doc, "`ctr_data` lacks a statistic");
  if (key->table == 0) {
    GBT_TRY(gbt_mem_grow(&c->plant->mem, &c->table, &c->cap_tables, c->n_tables + 1, sizeof *c->table, c->plant->err));
    gbti_ctr_table *t = &c->table[c->n_tables++];
    *t = (gbti_ctr_table){.type = ctr->type, .category = ctr->category, .before = c->last[ctr->category]};
    key->table = c->last[ctr->category] = c->n_tables;
    GBT_TRY(read_table(c, t, key->data));
  }
  ctr->table = key->table - 1;
  const gbti_ctr_table *t = &c->table[ctr->table];
  if (t->category != ctr->category) return gbti_document_fault(c->doc, "one table is of two columns");
  return t->type == ctr->type ? GBT_OK : gbti_document_fault(c->doc, "one table is of two types of statistics");
}

static gbt_status read_factor(const gbti_ctrs *c, size_t info, const char *key, float *out) {
  double x = 0.0;
  GBT_TRY(gbti_number(c->doc, get(c, info, key), key, 1, &x));
  *out = (float)x;
  return GBT_OK;
}

/* A statistic that gbt does not take is an error where a split uses it. */
static gbt_status read_ctr(gbti_ctrs *c, size_t info, int64_t n_categories, gbti_ctr *ctr) {
  const size_t elements = get(c, info, "elements"), type = get(c, info, "ctr_type");
  int64_t at;
  ctr->type = OF_COLUMNS;
  if (gbti_count(c->doc, elements) != 1 || gbti_kind_of(c->doc, elements) != GBTI_VALUE_ARRAY) return GBT_OK;
  const size_t one = gbti_first(c->doc, elements);
  if (!gbti_text_is(c->doc, get(c, one, "combination_element"), "cat_feature_value")) return GBT_OK;
  ctr->type = OTHER_TYPE;
  for (int i = 0; i < (int)(sizeof ctr_types / sizeof *ctr_types); i++)
    if (gbti_text_is(c->doc, type, ctr_types[i].name)) ctr->type = i;
  if (ctr->type < 0) return GBT_OK;
  GBT_TRY(gbti_whole(c->doc, get(c, one, "cat_feature_index"), "cat_feature_index", 0, n_categories - 1, &at));
  ctr->category = (int32_t)at;
  GBT_TRY(gbti_whole(c->doc, get(c, info, "target_border_idx"), "target_border_idx", 0, INT32_MAX, &ctr->part));
  GBT_TRY(read_factor(c, info, "prior_numerator", &ctr->prior));
  GBT_TRY(read_factor(c, info, "prior_denomerator", &ctr->prior_total));
  GBT_TRY(read_factor(c, info, "shift", &ctr->shift));
  GBT_TRY(read_factor(c, info, "scale", &ctr->scale));
  if (!(ctr->prior_total > 0.0f)) return gbti_document_fault(c->doc, "`prior_denomerator` is not above 0");
  return table_of(c, info, ctr);
}

static gbt_status read_borders(gbti_ctrs *c, size_t info, size_t ctr) {
  const size_t list = get(c, info, "borders");
  const int64_t n = gbti_count(c->doc, list);
  if (n <= 0) return GBT_OK;
  if (gbti_kind_of(c->doc, list) != GBTI_VALUE_ARRAY)
    return gbti_document_fault(c->doc, "`borders` is not what it must be");
  GBT_TRY(gbt_mem_grow(&c->plant->mem, &c->border, &c->cap_borders, c->n_borders + (size_t)n, sizeof *c->border,
                       c->plant->err));
  size_t at = gbti_first(c->doc, list);
  for (int64_t i = 0; i < n; i++, at = gbti_next(c->doc, at)) {
    gbti_ctr_border *its = &c->border[c->n_borders++];
    *its = (gbti_ctr_border){.ctr = ctr};
    GBT_TRY(gbti_number(c->doc, at, "borders", 1, &its->border));
  }
  return GBT_OK;
}

/* CatBoost's JSON has one table for all statistics of a type and a column, though they may be of different columns of
 * the response, or of classes between different borders. CatBoost itself then reads another model from it. Returns what
 * is so, or NULL. */
static const char *ambiguity(const gbti_ctrs *c, int64_t n_outputs) {
  const size_t params = get(c, get(c, 0, "model_info"), "params"), all = get(c, params, "cat_feature_params");
  const size_t loss = get(c, get(c, params, "loss_function"), "type");
  const size_t list = get(c, all, "simple_ctrs"), own = get(c, all, "per_feature_ctrs");
  const int64_t n = gbti_count(c->doc, list);
  static const char *const one_column[] = {"MultiClass", "MultiClassOneVsAll", "RMSEWithUncertainty"};
  int is_known = n_outputs == 1, seen[sizeof ctr_types / sizeof *ctr_types] = {0};
  for (size_t i = 0; i < sizeof one_column / sizeof *one_column; i++)
    is_known |= gbti_text_is(c->doc, loss, one_column[i]);
  if (!is_known)
    return "it splits by statistics of categories (CTR), and the file does not say of which column of the response "
           "they are";
  if (n < 0 || gbti_kind_of(c->doc, list) != GBTI_VALUE_ARRAY)
    return "it splits by statistics of categories (CTR), and the file does not say how they were made "
           "(`cat_feature_params`)";
  int again = own != GBTI_NO_VALUE &&
              (gbti_kind_of(c->doc, own) != GBTI_VALUE_OBJECT || gbti_first(c->doc, own) != gbti_next(c->doc, own));
  size_t at = gbti_first(c->doc, list);
  for (int64_t i = 0; i < n; i++, at = gbti_next(c->doc, at))
    for (size_t k = 0; k < sizeof seen / sizeof *seen; k++)
      if (gbti_text_is(c->doc, get(c, at, "ctr_type"), ctr_types[k].name)) again |= seen[k]++ > 0;
  return again ? "it splits by several statistics of categories (CTR) of one type (`simple_ctr`, `per_feature_ctr`), "
                 "which CatBoost's JSON does not tell apart"
               : NULL;
}

gbt_status gbti_ctrs_open(gbti_ctrs *c, size_t features, int64_t n_categories, int64_t n_outputs) {
  const size_t list = get(c, features, "ctrs");
  const int64_t n = gbti_count(c->doc, list);
  if (n <= 0) return GBT_OK;
  if (gbti_kind_of(c->doc, list) != GBTI_VALUE_ARRAY)
    return gbti_document_fault(c->doc, "`ctrs` is not what it must be");
  GBT_TRY(gbt_mem_zeros(&c->plant->mem, (size_t)n, sizeof *c->ctr, &c->ctr, c->plant->err));
  GBT_TRY(gbt_mem_zeros(&c->plant->mem, (size_t)n_categories + 1, sizeof *c->last, &c->last, c->plant->err));
  GBT_TRY(index_keys(c));
  c->n = (size_t)n;
  c->refused = ambiguity(c, n_outputs);
  size_t at = gbti_first(c->doc, list);
  for (size_t i = 0; i < c->n; i++, at = gbti_next(c->doc, at)) {
    GBT_TRY(read_ctr(c, at, n_categories, &c->ctr[i]));
    GBT_TRY(read_borders(c, at, i));
  }
  return GBT_OK;
}

void gbti_ctrs_close(gbti_ctrs *c) {
  const gbt_mem *mem = &c->plant->mem;
  for (size_t i = 0; i < c->n_tables; i++) {
    gbt_mem_free(mem, c->table[i].hash);
    gbt_mem_free(mem, c->table[i].record);
    gbt_mem_free(mem, c->table[i].number);
  }
  gbt_mem_free(mem, c->text_hash);
  gbt_mem_free(mem, c->text);
  gbt_mem_free(mem, c->table);
  gbt_mem_free(mem, c->last);
  gbt_mem_free(mem, c->key);
  gbt_mem_free(mem, c->border);
  gbt_mem_free(mem, c->ctr);
}

/* ---- levels and splits ---- */

/* The texts by their hashes in tables. */
static gbt_status index_texts(gbti_ctrs *c, const gbti_hashes *texts) {
  const gbt_mem *mem = &c->plant->mem;
  GBT_TRY(gbt_mem_array(mem, texts->n + 1, sizeof *c->text_hash, &c->text_hash, c->plant->err));
  GBT_TRY(gbt_mem_array(mem, texts->n + 1, sizeof *c->text, &c->text, c->plant->err));
  c->n_texts = texts->n;
  for (size_t i = 0; i < texts->n; i++) {
    c->text[i] = (uint32_t)(texts->key[i] >> 32);
    c->text_hash[i] = table_hash(c->text[i]);
  }
  return sort_hashes(c, c->text_hash, c->text, texts->n);
}

gbt_status gbti_ctr_levels(gbti_ctrs *c, int32_t category, const gbti_hashes *texts, gbti_hashes *out) {
  const gbt_mem *mem = &c->plant->mem;
  uint64_t *scratch = NULL;
  size_t n = 0, most = 0;
  gbt_status status = GBT_OK;
  const size_t last = c->last == NULL ? 0 : c->last[category];
  for (size_t i = last; i > 0; i = c->table[i - 1].before) most += c->table[i - 1].n;
  if (most == 0) return GBT_OK;
  if (c->text_hash == NULL) GBT_TRY(index_texts(c, texts));
  GBT_TRY_GOTO(gbt_mem_array(mem, most, sizeof *scratch, &scratch, c->plant->err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, most, sizeof *out->key, &out->key, c->plant->err), done);
  for (size_t i = last; i > 0; i = c->table[i - 1].before) {
    const gbti_ctr_table *t = &c->table[i - 1];
    for (size_t k = 0; k < t->n; k++) {
      const size_t at = find(c->text_hash, c->n_texts, t->hash[k]);
      if (at == c->n_texts) {
        status = gbti_lacks_texts(c->plant);
        goto done;
      }
      out->key[n++] = (uint64_t)c->text[at] << 32;
    }
  }
  gbt_sort_u64(out->key, NULL, n, scratch, NULL);
  for (size_t i = 0; i < n; i++)
    if (out->n == 0 || out->key[out->n - 1] >> 32 != out->key[i] >> 32) {
      out->key[out->n] = out->key[i] | out->n;
      out->n++;
    }
done:
  gbt_mem_free(mem, scratch);
  return status;
}

gbt_status gbti_ctr_find(const gbti_ctrs *c, size_t split, int64_t n_before, size_t *out) {
  int64_t at;
  double border = 0.0;
  GBT_TRY(gbti_whole(c->doc, get(c, split, "split_index"), "split_index", 0, INT32_MAX, &at));
  GBT_TRY(gbti_number(c->doc, get(c, split, "border"), "border", 1, &border));
  at -= n_before;
  if (at < 0 || (uint64_t)at >= c->n_borders || c->border[at].border != border)
    return gbti_tree_fault(c->plant, "a split is by a statistic of categories that the file does not have");
  if (c->refused != NULL) return gbti_not_offered(c->plant, c->refused);
  const int type = c->ctr[c->border[at].ctr].type;
  if (type == OF_COLUMNS)
    return gbti_not_offered(c->plant,
                            "it splits by statistics of several columns together (CTR); those of single columns, "
                            "as `max_ctr_complexity = 1` makes them, can be imported");
  if (type == OTHER_TYPE)
    return gbti_not_offered(c->plant,
                            "it splits by statistics of categories (CTR) of another type than `Borders`, `Buckets`, "
                            "`BinarizedTargetMeanValue` and `Counter`");
  *out = (size_t)at;
  return GBT_OK;
}

/* number: a record's, or NULL. */
static float value_of(const gbti_ctr *ctr, const gbti_ctr_table *t, const double *number) {
  const ctr_rule rule = ctr_types[ctr->type].rule;
  double count = 0.0, total = rule == ROWS ? t->all : 0.0;
  if (number != NULL && rule == ROWS) count = number[0];
  if (number != NULL && rule == MEAN) count = number[0], total = number[1];
  for (int64_t k = 0; number != NULL && rule < MEAN && k < t->width; k++) {
    total += number[k];
    if (rule == SHARE_OF ? k == ctr->part : k > ctr->part) count += number[k];
  }
  const float above = (float)count + ctr->prior, below = (float)total + ctr->prior_total;
  const float share = above / below;
  const float moved = share + ctr->shift;
  return moved * ctr->scale;
}

gbt_status gbti_ctr_split(gbti_ctrs *c, size_t border, const gbti_hashes *levels, gbti_new_node *node) {
  gbti_ctr_border *its = &c->border[border];
  const gbti_ctr *ctr = &c->ctr[its->ctr];
  const gbti_ctr_table *t = &c->table[ctr->table];
  static const char too_large[] = "its statistics of categories have too many levels and borders";
  if (!its->known) {
    c->n_looked += levels->n + t->n * (size_t)t->width / 8; /* its numbers are read faster */
    if (c->n_looked > MOST_LOOKED) return gbti_not_offered(c->plant, too_large);
    its->known = 1;
    its->set_beg = c->plant->n_codes;
    for (size_t i = 0; i < levels->n; i++) {
      const double *number = find_record(t, (uint32_t)(levels->key[i] >> 32));
      if ((double)value_of(ctr, t, number) > its->border)
        GBT_TRY(gbti_add_code(c->plant, (int64_t)(levels->key[i] & UINT32_MAX)));
    }
    its->set_n = c->plant->n_codes - its->set_beg;
    if (c->plant->n_codes > MOST_CODES) return gbti_not_offered(c->plant, too_large);
  }
  const int others = (double)value_of(ctr, t, NULL) > its->border;
  node->flags = GBT_NODE_CATEGORICAL | (others ? GBT_NODE_MISSING_LEFT | GBT_NODE_BULK_LEFT : 0);
  node->set_beg = its->set_beg;
  node->set_n = its->set_n;
  return GBT_OK;
}
