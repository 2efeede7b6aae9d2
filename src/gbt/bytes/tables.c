/* Tables of statistics by key: projections, their keys, and what features read by them.
 *
 *   projections   by projection: how many columns and keys
 *   combined      the columns of every projection, in order
 *   keys          of every projection of several columns: its keys, ascending, as an Elias-Fano code
 *   tables        by feature with a table, in order: part, prior weight, bins
 *   shown         of each of them: the upper borders of all bins but the last
 *   bins          of each of them: the bin of every key
 *
 * Elias-Fano (P. Elias, Efficient storage and retrieval by content and address of static files, J. ACM 21, 1974, 246;
 * R. Fano, On the number of bits required to implement an associative memory, MIT Project MAC memo 61, 1971): n
 * ascending numbers below u in n (2 + log2(u / n)) bits at most. With L = floor(log2(u / n)):
 *
 *   low bits    the L lowest bits of every key, concatenated, in whole words
 *   high bits   ones at (key >> L) + i for key number i, in the words that the largest possible key needs
 */
#include "sections.h"

#include "../schema/key_index.h"

/* The code of a projection's keys. n_keys > 0. */
typedef struct key_code {
  uint32_t n_low;              /* bits of a key that are written as they are */
  uint64_t low_words, n_words; /* words of the low bits; of all */
} key_code;

static key_code code_of(uint64_t space, uint64_t n_keys) {
  key_code code = {0, 0, 0};
  GBT_ASSERT(n_keys > 0);
  while (space >> code.n_low >> 1 >= n_keys) code.n_low++; /* at most 62, as space is below 2^63 */
  code.low_words = (n_keys * code.n_low + 63) / 64;
  code.n_words = code.low_words + (((space - 1) >> code.n_low) + n_keys + 63) / 64;
  return code;
}

static int has_keys(const gbt_projection *proj) { return proj->n_cols > 1 && proj->n_keys > 0; }

/* ---- writing ---- */

static gbt_status measure_tables(gbti_writer *w) {
  const gbt_schema *schema = w->parts->schema;
  w->n[GBTI_SEC_PROJECTIONS] = (uint64_t)schema->n_projections;
  for (int32_t p = 0; p < schema->n_projections; p++) {
    const gbt_projection *proj = &schema->proj[p];
    w->n[GBTI_SEC_COMBINED] += (uint64_t)proj->n_cols;
    if (has_keys(proj))
      w->n[GBTI_SEC_KEYS] =
          gbti_add(w->n[GBTI_SEC_KEYS], code_of(gbt_projection_space(schema, proj), (uint64_t)proj->n_keys).n_words, 1);
  }
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (!gbt_feature_has_table(feat->kind)) continue;
    w->n[GBTI_SEC_TABLES]++;
    w->n[GBTI_SEC_SHOWN] += (uint64_t)feat->n_bins - 1;
    w->n[GBTI_SEC_BINS] = gbti_add(w->n[GBTI_SEC_BINS], (uint64_t)schema->proj[feat->projection].n_keys, 1);
  }
  return GBT_OK;
}

/* out: zeroed words. */
static void put_keys(const gbt_projection *proj, key_code code, uint64_t *out) {
  uint64_t *high = out + code.low_words;
  for (uint64_t i = 0; i < (uint64_t)proj->n_keys; i++) {
    const uint64_t key = proj->key[i], at = i * code.n_low, one = (key >> code.n_low) + i;
    high[one >> 6] |= (uint64_t)1 << (one & 63);
    if (code.n_low == 0) continue;
    const uint64_t low = key & (((uint64_t)1 << code.n_low) - 1);
    out[at >> 6] |= low << (at & 63);
    if ((at & 63) + code.n_low > 64) out[(at >> 6) + 1] |= low >> (64 - (at & 63));
  }
}

static void put_tables(gbti_writer *w) {
  const gbt_schema *schema = w->parts->schema;
  gbti_model_projection *projection = gbti_out(w, GBTI_SEC_PROJECTIONS);
  gbti_model_table *table = gbti_out(w, GBTI_SEC_TABLES);
  int32_t *col = gbti_out(w, GBTI_SEC_COMBINED);
  uint64_t *key = gbti_out(w, GBTI_SEC_KEYS);
  double *shown = gbti_out(w, GBTI_SEC_SHOWN);
  uint8_t *bin = gbti_out(w, GBTI_SEC_BINS);
  for (int32_t p = 0; p < schema->n_projections; p++) {
    const gbt_projection *proj = &schema->proj[p];
    projection[p] = (gbti_model_projection){proj->n_cols, (int32_t)proj->n_keys};
    gbti_copy(col, proj->col, (uint64_t)proj->n_cols * sizeof *col);
    col += proj->n_cols;
    if (!has_keys(proj)) continue;
    const key_code code = code_of(gbt_projection_space(schema, proj), (uint64_t)proj->n_keys);
    put_keys(proj, code, key);
    key += code.n_words;
  }
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (!gbt_feature_has_table(feat->kind)) continue;
    const uint64_t n_keys = (uint64_t)schema->proj[feat->projection].n_keys;
    *table++ = (gbti_model_table){feat->projection, feat->part, feat->prior_weight, feat->n_bins, feat->unknown};
    gbti_copy(shown, feat->shown, (uint64_t)(feat->n_bins - 1) * sizeof *shown);
    gbti_copy(bin, feat->bin, n_keys);
    shown += feat->n_bins - 1;
    bin += n_keys;
  }
}

/* ---- reading ---- */

gbt_status gbti_measure_projections(const gbti_reader *r, gbt_schema_room *room) {
  const gbti_model_projection *from = r->at[GBTI_SEC_PROJECTIONS];
  const uint64_t n = r->n[GBTI_SEC_PROJECTIONS];
  uint64_t n_keys = 0;
  if (n > GBT_NODE_FEATURE || n > r->n[GBTI_SEC_TABLES])
    return gbti_damaged(r, "there are combinations that belong to no feature");
  for (uint64_t p = 0; p < n; p++) {
    if (from[p].n_cols < 1 || from[p].n_cols > GBT_MOST_COMBINED || from[p].n_keys < 0)
      return gbti_damaged(r, "a combination has a wrong number of columns or keys");
    if (from[p].n_cols > 1) n_keys += (uint64_t)from[p].n_keys; /* at most 2^29 numbers below 2^31 */
  }
  if (n_keys > r->n[GBTI_SEC_BINS]) return gbti_damaged(r, "there are keys without bins");
  room->n_projections = (int32_t)n;
  room->n_keys = (size_t)n_keys;
  return GBT_OK;
}

/* Some bits of a word sequence that has them all. n: 0 to 62. */
static uint64_t bits_at(const uint64_t *words, uint64_t at, uint32_t n) {
  if (n == 0) return 0;
  uint64_t x = words[at >> 6] >> (at & 63);
  if ((at & 63) + n > 64) x |= words[(at >> 6) + 1] << (64 - (at & 63));
  return x & (((uint64_t)1 << n) - 1);
}

/* Keys out of their code, which must be all of its words; that they ascend is seen with the whole map. */
static gbt_status read_keys(const gbti_reader *r, key_code code, const uint64_t *from, uint64_t space, uint64_t n,
                            uint64_t *key) {
  const uint64_t *high = from + code.low_words, used = n * code.n_low, most = (space - 1) >> code.n_low;
  uint64_t i = 0;
  if (used % 64 != 0 && from[code.low_words - 1] >> (used % 64) != 0)
    return gbti_damaged(r, "the keys of a combination are in an invalid form");
  for (uint64_t at = 0; at < (code.n_words - code.low_words) * 64; at++) {
    if ((high[at >> 6] >> (at & 63) & 1) == 0) continue;
    if (i == n || at - i > most) return gbti_damaged(r, "a combination has wrong keys");
    key[i] = (at - i) << code.n_low | bits_at(from, i * code.n_low, code.n_low);
    i++;
  }
  return i == n ? GBT_OK : gbti_damaged(r, "a combination has wrong keys");
}

static gbt_status read_projections(gbti_reader *r, gbt_schema *schema) {
  const gbti_model_projection *from = r->at[GBTI_SEC_PROJECTIONS];
  const int32_t *col = r->at[GBTI_SEC_COMBINED];
  const uint64_t *code_at = r->at[GBTI_SEC_KEYS];
  uint64_t n_cols = r->n[GBTI_SEC_COMBINED], n_words = r->n[GBTI_SEC_KEYS], *key = r->keys;
  for (int32_t p = 0; p < schema->n_projections; p++) {
    gbt_projection *proj = &schema->proj[p];
    proj->n_cols = from[p].n_cols;
    proj->n_keys = from[p].n_keys;
    proj->col = col;
    if ((uint64_t)proj->n_cols > n_cols) return gbti_damaged(r, "a combination has no columns");
    for (int32_t i = 0; i < proj->n_cols; i++)
      if (col[i] < 0 || col[i] >= schema->n_columns) return gbti_damaged(r, "a combination has a wrong column");
    col += proj->n_cols;
    n_cols -= (uint64_t)proj->n_cols;
    if (proj->n_cols == 1) continue;
    proj->key = key;
    if (proj->n_keys == 0) continue;
    const uint64_t space = gbt_projection_space(schema, proj);
    if (space < (uint64_t)proj->n_keys) return gbti_damaged(r, "a combination has a wrong number of keys");
    const key_code code = code_of(space, (uint64_t)proj->n_keys);
    if (code.n_words > n_words) return gbti_damaged(r, "a combination has no keys");
    GBT_TRY(read_keys(r, code, code_at, space, (uint64_t)proj->n_keys, key));
    key += proj->n_keys;
    code_at += code.n_words;
    n_words -= code.n_words;
  }
  return n_cols + n_words == 0 ? GBT_OK : gbti_damaged(r, "there are columns or keys that belong to no combination");
}

static gbt_status read_table(const gbti_reader *r, const gbt_schema *schema, const gbti_model_table *from,
                             gbt_feature *feat) {
  if (from->projection < 0 || from->projection >= schema->n_projections || from->n_bins < 1 ||
      from->n_bins > GBT_DERIVED_BINS || from->unknown < 0 || from->unknown >= from->n_bins)
    return gbti_damaged(r, "a statistic has a wrong combination or wrong bins");
  feat->projection = from->projection;
  feat->part = from->part;
  feat->prior_weight = from->prior_weight;
  feat->n_bins = from->n_bins;
  feat->unknown = (uint8_t)from->unknown;
  return GBT_OK;
}

static gbt_status read_tables(gbti_reader *r) {
  gbt_schema *schema = r->schema;
  const gbti_model_table *from = r->at[GBTI_SEC_TABLES];
  const double *shown = r->at[GBTI_SEC_SHOWN];
  const uint8_t *bin = r->at[GBTI_SEC_BINS];
  uint64_t n = r->n[GBTI_SEC_TABLES], n_shown = r->n[GBTI_SEC_SHOWN], n_bins = r->n[GBTI_SEC_BINS];
  GBT_TRY(read_projections(r, schema));
  for (int32_t f = 0; f < schema->n_features; f++) {
    gbt_feature *feat = &schema->feat[f];
    if (!gbt_feature_has_table(feat->kind)) continue;
    if (n == 0) return gbti_damaged(r, "a statistic has no table");
    GBT_TRY(read_table(r, schema, from, feat));
    const uint64_t n_keys = (uint64_t)schema->proj[feat->projection].n_keys, n_edges = (uint64_t)feat->n_bins - 1;
    if (n_edges > n_shown || n_keys > n_bins) return gbti_damaged(r, "a statistic has no table");
    feat->shown = shown;
    feat->bin = bin;
    shown += n_edges;
    n_shown -= n_edges;
    bin += n_keys;
    n_bins -= n_keys;
    from++;
    n--;
  }
  if (n + n_shown + n_bins != 0) return gbti_damaged(r, "there are tables that belong to no feature");
  const char *fault = gbt_feature_map_fault(schema);
  return fault == NULL ? gbt_schema_index_keys(schema, r->err) : gbti_damaged(r, fault);
}

const gbti_part gbti_part_tables = {measure_tables, put_tables, read_tables};
