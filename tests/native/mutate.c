/* See mutate.h. Here: drafts from bytes and back, and what is done to bytes; edits of drafts are in mutate_draft.c. */
#include "mutate.h"

static gbti_model_head head_of(const uint8_t *bytes) {
  gbti_model_head head;
  memcpy(&head, bytes, sizeof head);
  return head;
}

static int is_inside(gbti_model_section part, size_t n) { return part.beg <= n && part.bytes <= n - part.beg; }

int draft_read(draft *d, const uint8_t *bytes, size_t n) {
  if (n < sizeof(gbti_model_head)) return 0;
  gbti_model_head head = head_of(bytes);
  for (int p = 0; p < GBTI_N_PARTS; p++)
    if (!is_inside(head.part[p], n) || head.part[p].bytes > MUTATE_PART) return 0;
  if (head.part[GBTI_PART_NUMBERS].bytes < sizeof(gbti_model_numbers)) return 0;
  for (int p = 0; p < GBTI_N_PARTS; p++) {
    d->n[p] = (size_t)head.part[p].bytes;
    memcpy(d->part[p], bytes + head.part[p].beg, d->n[p]);
  }
  return 1;
}

size_t draft_write(draft *d, uint8_t *out, size_t most) {
  gbti_model_head head = {.version = GBTI_MODEL_VERSION, .n_parts = GBTI_N_PARTS};
  size_t at = sizeof head;
  memcpy(head.magic, GBTI_MODEL_MAGIC, 8);
  for (int p = 0; p < GBTI_N_PARTS; p++) {
    head.part[p].beg = at;
    head.part[p].bytes = d->n[p];
    at = (size_t)gbti_align8(at + d->n[p]);
  }
  if (at > most) return 0;
  memset(out, 0, at);
  memcpy(out, &head, sizeof head);
  for (int p = 0; p < GBTI_N_PARTS; p++) memcpy(out + head.part[p].beg, d->part[p], d->n[p]);
  mutate_seal(out, at);
  return at;
}

void mutate_seal(uint8_t *bytes, size_t n) {
  if (n < sizeof(gbti_model_head)) return;
  gbti_model_head head = head_of(bytes);
  head.n_bytes = n;
  memcpy(bytes, &head, sizeof head);
  head.checksum = gbti_model_checksum(bytes + GBTI_MODEL_SUMMED, (n - GBTI_MODEL_SUMMED) & ~(size_t)7);
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
  gbti_model_part part;
  uint64_t size, at; /* of the record; of the field within it */
  size_t bytes;
} field;

/* Every field of every record. */
static const field fields[] = {
    {GBTI_PART_NUMBERS, 40, 0, 4},   {GBTI_PART_NUMBERS, 40, 4, 4},  {GBTI_PART_NUMBERS, 40, 8, 4},
    {GBTI_PART_NUMBERS, 40, 12, 4},  {GBTI_PART_NUMBERS, 40, 16, 8}, {GBTI_PART_NUMBERS, 40, 24, 8},
    {GBTI_PART_NUMBERS, 40, 32, 8},  {GBTI_PART_BASE, 8, 0, 8},      {GBTI_PART_TREES, 24, 0, 8},
    {GBTI_PART_TREES, 24, 8, 8},     {GBTI_PART_TREES, 24, 16, 4},   {GBTI_PART_TREES, 24, 20, 4},
    {GBTI_PART_NODES, 16, 0, 8},     {GBTI_PART_NODES, 16, 0, 4},    {GBTI_PART_NODES, 16, 4, 4},
    {GBTI_PART_NODES, 16, 8, 4},     {GBTI_PART_NODES, 16, 12, 4},   {GBTI_PART_SETS, 4, 0, 4},
    {GBTI_PART_GAIN, 8, 0, 8},       {GBTI_PART_COVER, 8, 0, 8},     {GBTI_PART_COUNT, 4, 0, 4},
    {GBTI_PART_FEATURES, 24, 0, 8},  {GBTI_PART_FEATURES, 24, 8, 8}, {GBTI_PART_FEATURES, 24, 16, 4},
    {GBTI_PART_FEATURES, 24, 20, 4}, {GBTI_PART_LEVELS, 8, 0, 8},    {GBTI_PART_META, 32, 0, 8},
    {GBTI_PART_META, 32, 8, 4},      {GBTI_PART_META, 32, 12, 4},    {GBTI_PART_META, 32, 16, 8},
    {GBTI_PART_META, 32, 24, 8},     {GBTI_PART_VALUES, 8, 0, 8},    {GBTI_PART_VALUES, 4, 0, 4},
    {GBTI_PART_TEXTS, 1, 0, 1}};

/* A random record of a part: its position, or 0 when there is none. */
static uint64_t pick(test_rng *rng, const blob *b, gbti_model_part part, uint64_t size) {
  gbti_model_section at = head_of(b->bytes).part[part];
  uint64_t n = at.bytes / size;
  if (n == 0 || !is_inside(at, b->n)) return 0;
  return at.beg + (uint64_t)test_below(rng, (int64_t)n) * size;
}

static void twist_field(test_rng *rng, blob *b) {
  const field *f = &fields[test_below(rng, (int64_t)(sizeof fields / sizeof fields[0]))];
  uint64_t at = pick(rng, b, f->part, f->size), other = pick(rng, b, f->part, f->size);
  if (at == 0 || other == 0) return;
  uint64_t x = (uint64_t)test_below(rng, 24);
  if (test_below(rng, 2)) memcpy(&x, b->bytes + other + f->at, f->bytes);
  twist(rng, b, at + f->at, f->bytes, x);
}

/* Exchanges two records of a part, or makes them equal. */
static void swap_records(test_rng *rng, blob *b) {
  const field *f = &fields[test_below(rng, (int64_t)(sizeof fields / sizeof fields[0]))];
  uint64_t at = pick(rng, b, f->part, f->size), other = pick(rng, b, f->part, f->size);
  uint8_t save[40];
  if (at == 0 || other == 0) return;
  memcpy(save, b->bytes + at, f->size);
  memcpy(b->bytes + at, b->bytes + other, f->size);
  if (test_below(rng, 2)) memcpy(b->bytes + other, save, f->size);
}

/* The table of parts: a number twisted, two entries exchanged, or a part laid over another. */
static void twist_parts(test_rng *rng, blob *b) {
  uint64_t at = 32 + 16 * (uint64_t)test_below(rng, GBTI_N_PARTS);
  uint64_t other = 32 + 16 * (uint64_t)test_below(rng, GBTI_N_PARTS);
  uint8_t save[16];
  int64_t kind = test_below(rng, 4);
  if (kind < 2) {
    twist(rng, b, at + 8 * (uint64_t)test_below(rng, 2), 8, (uint64_t)test_below(rng, (int64_t)b->n));
    return;
  }
  memcpy(save, b->bytes + at, 16);
  memcpy(b->bytes + at, b->bytes + other, kind == 2 ? 16 : 8);
  if (kind == 2) memcpy(b->bytes + other, save, 16);
}

/* Makes a part longer or shorter by some bytes and moves what is behind it; the table of parts follows. */
static void resize_part(test_rng *rng, blob *b) {
  gbti_model_head head = head_of(b->bytes);
  uint64_t p = (uint64_t)test_below(rng, GBTI_N_PARTS), by = (uint64_t)test_below(rng, 5) * 8;
  if (test_below(rng, 4) == 0) by = (uint64_t)test_below(rng, 64);
  if (!is_inside(head.part[p], b->n)) return;
  uint64_t old_end = gbti_align8(head.part[p].beg + head.part[p].bytes);
  int grow = (int)test_below(rng, 2);
  if (old_end > b->n || (!grow && head.part[p].bytes < by) || (grow && b->n + by + 8 > b->most)) return;
  uint64_t kept = head.part[p].beg + head.part[p].bytes;
  head.part[p].bytes = grow ? head.part[p].bytes + by : head.part[p].bytes - by;
  uint64_t new_end = gbti_align8(head.part[p].beg + head.part[p].bytes);
  memmove(b->bytes + new_end, b->bytes + old_end, b->n - old_end);
  if (kept < new_end) memset(b->bytes + kept, 0, new_end - kept);
  for (uint64_t q = p + 1; q < GBTI_N_PARTS; q++) head.part[q].beg += new_end - old_end;
  b->n = (size_t)(b->n + new_end - old_end);
  memcpy(b->bytes, &head, sizeof head);
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
    twist_parts(rng, b);
    break;
  case 4:
    resize_part(rng, b);
    break;
  case 5:
    resize(rng, b);
    break;
  case 6:
  case 7:
    swap_records(rng, b);
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
