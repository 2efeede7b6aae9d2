/* See mutate.h. Here: drafts from bytes and back, and what is done to bytes; edits of drafts are in mutate_draft.c. */
#include "mutate.h"

static gbti_model_head head_of(const uint8_t *bytes) {
  gbti_model_head head;
  memcpy(&head, bytes, sizeof head);
  return head;
}

/* Rows of the table of sections that lie within n bytes; as many as a model may have. */
static uint32_t n_rows_of(const uint8_t *bytes, size_t n) {
  if (n < sizeof(gbti_model_head)) return 0;
  uint32_t rows = head_of(bytes).n_sections;
  size_t room = (n - sizeof(gbti_model_head)) / sizeof(gbti_section);
  if (rows > GBTI_MOST_SECTIONS) rows = GBTI_MOST_SECTIONS;
  return rows > room ? (uint32_t)room : rows;
}

static size_t row_at(uint32_t i) { return sizeof(gbti_model_head) + i * sizeof(gbti_section); }

static gbti_section row_of(const uint8_t *bytes, uint32_t i) {
  gbti_section row;
  memcpy(&row, bytes + row_at(i), sizeof row);
  return row;
}

static int is_inside(gbti_section part, size_t n) { return part.beg <= n && part.bytes <= n - part.beg; }

/* The number of a section by name; GBTI_N_SECTIONS when there is none. */
static int id_of(const gbti_section *row) {
  int id = 0;
  while (id < GBTI_N_SECTIONS && memcmp(gbti_sections[id].name, row->name, sizeof row->name) != 0) id++;
  return id;
}

size_t section_row(const uint8_t *bytes, gbti_section_id id) {
  for (uint32_t i = 0; i < head_of(bytes).n_sections; i++) {
    const gbti_section row = row_of(bytes, i);
    if (id_of(&row) == (int)id) return row_at(i);
  }
  return 0;
}

gbti_section section_of(const uint8_t *bytes, gbti_section_id id) {
  gbti_section row = {.beg = 0};
  const size_t at = section_row(bytes, id);
  if (at > 0) memcpy(&row, bytes + at, sizeof row);
  return row;
}

/* Levels are the texts after their column's tag. */
static void find_levels(draft *d) {
  const uint8_t *texts = d->section[GBTI_SEC_TEXTS];
  const uint64_t n = d->n[GBTI_SEC_TEXTS];
  for (size_t c = 0; c < d->n[GBTI_SEC_COLUMNS] / sizeof(gbti_model_column); c++) {
    gbti_model_column col;
    memcpy(&col, d->section[GBTI_SEC_COLUMNS] + c * sizeof col, sizeof col);
    uint64_t at = col.tag;
    for (int32_t i = 0; i < col.n_levels && d->n[DRAFT_LEVELS] < MUTATE_SECTION; i++) {
      const uint8_t *end = at < n ? memchr(texts + at, 0, (size_t)(n - at)) : NULL;
      at = end == NULL ? n : (uint64_t)(end - texts) + 1;
      memcpy(d->section[DRAFT_LEVELS] + d->n[DRAFT_LEVELS], &at, sizeof at);
      d->n[DRAFT_LEVELS] += sizeof at;
    }
  }
}

int draft_read(draft *d, const uint8_t *bytes, size_t n) {
  memset(d->n, 0, sizeof d->n);
  for (uint32_t i = 0; i < n_rows_of(bytes, n); i++) {
    gbti_section row = row_of(bytes, i);
    int id = id_of(&row);
    if (id == GBTI_N_SECTIONS) continue;
    if (!is_inside(row, n) || row.bytes > MUTATE_SECTION) return 0;
    d->n[id] = (size_t)row.bytes;
    memcpy(d->section[id], bytes + row.beg, d->n[id]);
  }
  find_levels(d);
  return d->n[GBTI_SEC_NUMBERS] == sizeof(gbti_model_numbers);
}

size_t draft_write(draft *d, uint8_t *out, size_t most) {
  gbti_model_head head = {.version = GBTI_MODEL_VERSION};
  gbti_section table[GBTI_N_SECTIONS];
  memcpy(head.magic, GBTI_MODEL_MAGIC, 8);
  for (int s = 0; s < GBTI_N_SECTIONS; s++) head.n_sections += d->n[s] > 0;
  size_t at = row_at(head.n_sections), n = 0;
  for (int s = 0; s < GBTI_N_SECTIONS; s++) {
    if (d->n[s] == 0) continue;
    table[n] = (gbti_section){.flags = gbti_sections[s].flags, .beg = at, .bytes = d->n[s]};
    memcpy(table[n++].name, gbti_sections[s].name, sizeof table->name);
    at = (size_t)gbti_align8(at + d->n[s]);
  }
  if (at > most) return 0;
  memset(out, 0, at);
  memcpy(out, &head, sizeof head);
  memcpy(out + sizeof head, table, n * sizeof *table);
  for (size_t i = 0; i < n; i++) memcpy(out + table[i].beg, d->section[id_of(&table[i])], (size_t)table[i].bytes);
  mutate_seal(out, at);
  return at;
}

void mutate_seal(uint8_t *bytes, size_t n) {
  if (n < sizeof(gbti_model_head)) return;
  gbti_model_head head = head_of(bytes);
  head.n_bytes = n;
  memcpy(bytes, &head, sizeof head);
  head.checksum = gbt_checksum(bytes + sizeof head, (n - sizeof head) & ~(size_t)7);
  memcpy(bytes, &head, sizeof head);
}

uint64_t mutate_edge(test_rng *rng, size_t n) {
  const uint64_t edges[] = {0,          1,           2,
                            3,          7,           8,
                            0x7f,       0xff,        0xffff,
                            0x10000,    0x7fffffff,  0x80000000u,
                            0xffffffff, 0x100000000, UINT64_MAX,
                            1ull << 63, INT64_MAX,   UINT64_MAX - 7,
                            n,          n - 8,       n / 2 & ~7ull,
                            1ull << 61, 1ull << 62,  0x7ff0000000000000};
  return edges[test_below(rng, (int64_t)(sizeof edges / sizeof edges[0]))];
}

/* ---- edits of the bytes ---- */

typedef struct blob {
  uint8_t *bytes;
  size_t n, most;
} blob;

/* Changes a number of 4 or 8 bytes: by a little, to an edge, a bit of it, to another number of its kind. */
static void twist(test_rng *rng, blob *b, uint64_t at, size_t size, uint64_t same_kind) {
  uint64_t x = 0;
  if (at >= b->n || size > b->n - at) return;
  memcpy(&x, b->bytes + at, size);
  int64_t kind = test_below(rng, 4);
  if (kind == 0) x += (uint64_t)(test_below(rng, 9) - 4);
  if (kind == 1) x = mutate_edge(rng, b->n);
  if (kind == 2) x ^= 1ull << test_below(rng, (int64_t)size * 8);
  if (kind == 3) x = same_kind;
  memcpy(b->bytes + at, &x, size);
}

typedef struct field {
  gbti_section_id section;
  uint64_t size, at; /* of the record; of the field within it */
  size_t bytes;
} field;

/* Every field of every record. */
static const field fields[] = {
    {GBTI_SEC_NUMBERS, 16, 0, 4},    {GBTI_SEC_NUMBERS, 16, 4, 4},      {GBTI_SEC_NUMBERS, 16, 8, 4},
    {GBTI_SEC_NUMBERS, 16, 12, 4},   {GBTI_SEC_OBJECTIVE, 8, 0, 8},     {GBTI_SEC_PARAMETERS, 16, 0, 8},
    {GBTI_SEC_PARAMETERS, 16, 8, 8}, {GBTI_SEC_BASE, 8, 0, 8},          {GBTI_SEC_TREES, 24, 0, 8},
    {GBTI_SEC_TREES, 24, 8, 8},      {GBTI_SEC_TREES, 24, 16, 4},       {GBTI_SEC_TREES, 24, 20, 4},
    {GBTI_SEC_NODES, 16, 0, 8},      {GBTI_SEC_NODES, 16, 0, 4},        {GBTI_SEC_NODES, 16, 4, 4},
    {GBTI_SEC_NODES, 16, 8, 4},      {GBTI_SEC_NODES, 16, 12, 4},       {GBTI_SEC_SETS, 4, 0, 4},
    {GBTI_SEC_LINEAR_GRIDS, 16, 0, 4},   {GBTI_SEC_LINEAR_GRIDS, 16, 4, 4},   {GBTI_SEC_LINEAR_GRIDS, 16, 8, 8},
    {GBTI_SEC_LINEAR_CUTS, 8, 0, 8},     {GBTI_SEC_LINEAR_X, 2, 0, 2},        {GBTI_SEC_LINEAR_OF, 4, 0, 4},
    {GBTI_SEC_LINEAR_LEAVES, 40, 0, 8},  {GBTI_SEC_LINEAR_LEAVES, 40, 8, 8},  {GBTI_SEC_LINEAR_LEAVES, 40, 16, 8},
    {GBTI_SEC_LINEAR_LEAVES, 40, 24, 8}, {GBTI_SEC_LINEAR_LEAVES, 40, 32, 4}, {GBTI_SEC_LINEAR_LEAVES, 40, 36, 4},
    {GBTI_SEC_LINEAR_TERMS, 16, 0, 8},   {GBTI_SEC_LINEAR_TERMS, 16, 8, 4},   {GBTI_SEC_LINEAR_TERMS, 16, 12, 4},
    {GBTI_SEC_LEAF_VALUES, 8, 0, 8}, {GBTI_SEC_GAIN, 8, 0, 8},          {GBTI_SEC_COVER, 8, 0, 8},
    {GBTI_SEC_COUNT, 4, 0, 4},       {GBTI_SEC_COLUMNS, 24, 0, 8},      {GBTI_SEC_COLUMNS, 24, 8, 8},
    {GBTI_SEC_COLUMNS, 24, 16, 4},   {GBTI_SEC_COLUMNS, 24, 20, 4},     {GBTI_SEC_PROJECTIONS, 8, 0, 4},
    {GBTI_SEC_PROJECTIONS, 8, 4, 4}, {GBTI_SEC_COMBINED, 4, 0, 4},      {GBTI_SEC_KEYS, 8, 0, 8},
    {GBTI_SEC_TABLES, 24, 0, 4},     {GBTI_SEC_TABLES, 24, 4, 4},       {GBTI_SEC_TABLES, 24, 8, 8},
    {GBTI_SEC_TABLES, 24, 16, 4},    {GBTI_SEC_TABLES, 24, 20, 4},      {GBTI_SEC_SHOWN, 8, 0, 8},
    {GBTI_SEC_BINS, 1, 0, 1},        {GBTI_SEC_FEATURE_KINDS, 8, 0, 8}, {GBTI_SEC_FEATURES, 8, 0, 4},
    {GBTI_SEC_FEATURES, 8, 4, 4},    {GBTI_SEC_STATISTICS, 8, 0, 8},    {GBTI_SEC_META, 32, 0, 8},
    {GBTI_SEC_META, 32, 8, 4},       {GBTI_SEC_META, 32, 12, 4},        {GBTI_SEC_META, 32, 16, 8},
    {GBTI_SEC_META, 32, 24, 8},      {GBTI_SEC_META_VALUES, 8, 0, 8},   {GBTI_SEC_META_VALUES, 4, 0, 4},
    {GBTI_SEC_TEXTS, 1, 0, 1}};

/* A random record of a section: its position, or 0 when there is none. */
static uint64_t pick(test_rng *rng, const blob *b, gbti_section_id section, uint64_t size) {
  for (uint32_t i = 0; i < n_rows_of(b->bytes, b->n); i++) {
    gbti_section row = row_of(b->bytes, i);
    if (id_of(&row) != (int)section) continue;
    uint64_t n = row.bytes / size;
    return n == 0 || !is_inside(row, b->n) ? 0 : row.beg + (uint64_t)test_below(rng, (int64_t)n) * size;
  }
  return 0;
}

static void twist_field(test_rng *rng, blob *b) {
  const field *f = &fields[test_below(rng, (int64_t)(sizeof fields / sizeof fields[0]))];
  uint64_t at = pick(rng, b, f->section, f->size), other = pick(rng, b, f->section, f->size);
  if (at == 0 || other == 0) return;
  uint64_t x = (uint64_t)test_below(rng, 24);
  if (test_below(rng, 2)) memcpy(&x, b->bytes + other + f->at, f->bytes);
  twist(rng, b, at + f->at, f->bytes, x);
}

/* Exchanges two records of a part, or makes them equal. */
static void swap_records(test_rng *rng, blob *b) {
  const field *f = &fields[test_below(rng, (int64_t)(sizeof fields / sizeof fields[0]))];
  uint64_t at = pick(rng, b, f->section, f->size), other = pick(rng, b, f->section, f->size);
  uint8_t save[40];
  if (at == 0 || other == 0) return;
  memcpy(save, b->bytes + at, f->size);
  memcpy(b->bytes + at, b->bytes + other, f->size);
  if (test_below(rng, 2)) memcpy(b->bytes + other, save, f->size);
}

/* The table of sections: a field twisted, two rows exchanged, one row laid over another. */
static void twist_table(test_rng *rng, blob *b) {
  uint32_t n = n_rows_of(b->bytes, b->n);
  uint8_t save[sizeof(gbti_section)];
  if (n == 0) return;
  uint64_t at = row_at((uint32_t)test_below(rng, n)), other = row_at((uint32_t)test_below(rng, n));
  switch (test_below(rng, 6)) {
  case 0: /* a letter of the name */
    b->bytes[at + (uint64_t)test_below(rng, 16)] =
        (uint8_t)(test_below(rng, 2) ? 'a' + test_below(rng, 26) : test_below(rng, 256));
    break;
  case 1:
    twist(rng, b, at + 16 + 4 * (uint64_t)test_below(rng, 2), 4, 1);
    break;
  case 2:
  case 3:
    twist(rng, b, at + 24 + 8 * (uint64_t)test_below(rng, 2), 8, (uint64_t)test_below(rng, (int64_t)b->n));
    break;
  default:
    memcpy(save, b->bytes + at, sizeof save);
    memcpy(b->bytes + at, b->bytes + other, sizeof save);
    if (test_below(rng, 2)) memcpy(b->bytes + other, save, sizeof save);
  }
}

/* Moves what is after a byte by a multiple of 8 bytes, and the rows of the table with it. */
static void move_tail(blob *b, uint64_t from, int64_t by) {
  memmove(b->bytes + (int64_t)from + by, b->bytes + from, b->n - from);
  for (uint32_t i = 0; i < n_rows_of(b->bytes, b->n); i++) {
    gbti_section row = row_of(b->bytes, i);
    if (row.beg < from) continue;
    row.beg += (uint64_t)by;
    memcpy(b->bytes + row_at(i), &row, sizeof row);
  }
  b->n = (size_t)((int64_t)b->n + by);
}

/* Makes a section longer or shorter by some bytes and moves what is after it. */
static void resize_section(test_rng *rng, blob *b) {
  uint32_t n = n_rows_of(b->bytes, b->n);
  uint64_t by = (uint64_t)test_below(rng, 5) * 8;
  if (n == 0) return;
  uint32_t i = (uint32_t)test_below(rng, n);
  gbti_section row = row_of(b->bytes, i);
  if (test_below(rng, 4) == 0) by = (uint64_t)test_below(rng, 64);
  if (!is_inside(row, b->n) || row.beg < row_at(n)) return;
  uint64_t old_end = gbti_align8(row.beg + row.bytes);
  int grow = (int)test_below(rng, 2);
  if (old_end > b->n || (!grow && row.bytes < by) || (grow && b->n + by + 8 > b->most)) return;
  uint64_t kept = row.beg + row.bytes;
  row.bytes = grow ? row.bytes + by : row.bytes - by;
  uint64_t new_end = gbti_align8(row.beg + row.bytes);
  memcpy(b->bytes + row_at(i), &row, sizeof row);
  move_tail(b, old_end, (int64_t)new_end - (int64_t)old_end);
  if (kept < new_end) memset(b->bytes + kept, 0, new_end - kept);
}

size_t mutate_add_section(uint8_t *bytes, size_t n, size_t most, const gbti_section *like, uint32_t place) {
  blob b = {bytes, n, most};
  uint32_t rows = n_rows_of(bytes, n);
  gbti_section fresh = *like;
  uint64_t room = gbti_align8(fresh.bytes);
  if (rows == 0 || n % 8 != 0 || n + room + sizeof fresh > most || place > rows) return n;
  gbti_model_head head = head_of(bytes);
  fresh.beg = place < rows ? row_of(bytes, place).beg : n;
  if (head.n_sections != rows || fresh.beg > n || fresh.beg % 8 != 0 || fresh.beg < row_at(rows)) return n;
  move_tail(&b, fresh.beg, (int64_t)room);
  memset(bytes + fresh.beg, 0, room);
  memset(bytes + fresh.beg, 0x5a, fresh.bytes);
  fresh.beg += sizeof fresh;
  move_tail(&b, row_at(rows), (int64_t)sizeof fresh);
  memmove(bytes + row_at(place + 1), bytes + row_at(place), (rows - place) * sizeof fresh);
  memcpy(bytes + row_at(place), &fresh, sizeof fresh);
  head.n_sections++;
  memcpy(bytes, &head, sizeof head);
  return b.n;
}

size_t mutate_cut_section(uint8_t *bytes, size_t n, gbti_section_id id, uint64_t kept) {
  blob b = {bytes, n, n};
  const size_t at = section_row(bytes, id);
  gbti_section row = section_of(bytes, id);
  GBT_ASSERT(at > 0 && kept > 0 && kept % 8 == 0 && kept <= row.bytes);
  move_tail(&b, gbti_align8(row.beg + row.bytes), (int64_t)kept - (int64_t)gbti_align8(row.bytes));
  row.bytes = kept;
  memcpy(bytes + at, &row, sizeof row);
  return b.n;
}

/* A section that no version knows, mostly one that may be skipped. */
static void add_unknown(test_rng *rng, blob *b) {
  gbti_section fresh = {.name = "later_", .flags = test_below(rng, 4) == 0, .bytes = 1 + (uint64_t)test_below(rng, 40)};
  fresh.name[6] = (char)('a' + test_below(rng, 8));
  uint32_t place = (uint32_t)test_below(rng, (int64_t)n_rows_of(b->bytes, b->n) + 1);
  b->n = mutate_add_section(b->bytes, b->n, b->most, &fresh, place);
}

/* Another size, a multiple of 8 or not. */
static void resize(test_rng *rng, blob *b) {
  size_t n = b->n - 12 + (size_t)test_below(rng, 25);
  if (test_below(rng, 8) == 0) n = (size_t)test_below(rng, (int64_t)b->n + 1);
  if (n > b->most) return;
  if (n > b->n) memset(b->bytes + b->n, 0, n - b->n);
  b->n = n;
}

static void edit_bytes(test_rng *rng, blob *b) {
  if (b->n < sizeof(gbti_model_head) + 8) return;
  uint64_t word = 32 + 8 * (uint64_t)test_below(rng, (int64_t)(b->n - 32) / 8);
  switch (test_below(rng, 16)) {
  case 0:
    b->bytes[test_below(rng, (int64_t)b->n)] = (uint8_t)test_u(rng);
    break;
  case 1:
    twist(rng, b, word, 8, mutate_edge(rng, b->n));
    break;
  case 2:
    twist(rng, b, word + 4, 4, mutate_edge(rng, b->n));
    break;
  case 3:
    twist_table(rng, b);
    break;
  case 4:
    resize_section(rng, b);
    break;
  case 5:
    resize(rng, b);
    break;
  case 6:
    swap_records(rng, b);
    break;
  case 7:
    add_unknown(rng, b);
    break;
  default:
    twist_field(rng, b);
  }
}

/* ---- both ---- */

size_t mutate_model(test_rng *rng, uint8_t *bytes, size_t n, size_t most) {
  static draft d; /* large; one thread */
  blob b = {bytes, n, most};
  int64_t n_edits = test_below(rng, 3) == 0 ? 1 + test_below(rng, 6) : 1, kind = test_below(rng, 8);
  if (kind < 5 && draft_read(&d, bytes, n)) {
    for (int64_t i = 0; i < n_edits; i++) draft_edit(rng, &d);
    draft_relay(&d);
    size_t size = draft_write(&d, bytes, most);
    if (size > 0) b.n = size;
  }
  if (kind >= 4)
    for (int64_t i = 0; i < n_edits; i++) edit_bytes(rng, &b);
  if (test_below(rng, 64) > 0) mutate_seal(b.bytes, b.n);
  return b.n;
}

size_t mutate_merge(test_rng *rng, const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *out,
                    size_t most) {
  static draft to, from; /* large; one thread */
  if (!draft_read(&to, a, n_a) || !draft_read(&from, b, n_b)) return 0;
  draft_merge(rng, &to, &from);
  draft_relay(&to);
  return draft_write(&to, out, most);
}
