/* JSON by its grammar (RFC 8259), UBJ by that of draft 12, to cells: document.h. */
#include "document.h"

#include <string.h>

#include "decimal.h"

enum { MOST_DEPTH = 4096 };

#define KIND_BITS 4
#define CELL(kind, place) ((uint64_t)(place) << KIND_BITS | (uint64_t)(kind))

gbt_status gbti_document_fault(const gbti_document *doc, const char *what) {
  return gbt_fail(doc->err, GBT_E_FORMAT, "the %s file is damaged, or from an unknown version: %s", doc->program, what);
}

static gbt_status fault_at(const gbti_document *doc, size_t at, const char *what) {
  return gbt_fail(doc->err, GBT_E_FORMAT, "the file is damaged at byte %llu: %s", (unsigned long long)at + 1, what);
}

static size_t place_of(const gbti_document *doc, size_t value) { return (size_t)(doc->cell[value] >> KIND_BITS); }

gbti_value_kind gbti_kind_of(const gbti_document *doc, size_t value) {
  return (gbti_value_kind)(doc->cell[value] & (((uint64_t)1 << KIND_BITS) - 1));
}

/* ---- what both grammars share: containers that are open ---- */

typedef struct reading {
  gbti_document *doc;
  const uint8_t *b;
  size_t n, i;
  size_t open[MOST_DEPTH];  /* cells of containers that have not ended */
  int64_t left[MOST_DEPTH]; /* UBJ: values that are to come; -1: until the end is marked */
  size_t depth;
} reading;

static gbt_status put(reading *r, uint64_t cell) {
  gbti_document *doc = r->doc;
  if (doc->n_cells == doc->cap_cells)
    GBT_TRY(gbt_mem_grow(&doc->mem, &doc->cell, &doc->cap_cells, doc->n_cells + 1, sizeof *doc->cell, doc->err));
  doc->cell[doc->n_cells++] = cell;
  return GBT_OK;
}

static gbt_status open_container(reading *r, gbti_value_kind kind, int64_t left) {
  if (r->depth == MOST_DEPTH) return fault_at(r->doc, r->i, "values are nested too deeply");
  r->open[r->depth] = r->doc->n_cells;
  r->left[r->depth++] = left;
  GBT_TRY(put(r, CELL(kind, 0)));
  return put(r, 0);
}

static void close_container(reading *r) {
  const size_t at = r->open[--r->depth];
  r->doc->cell[at] |= CELL(0, r->doc->n_cells);
}

/* Counts a value, or a key with its value, of the container that is open. */
static void count_value(reading *r) {
  if (r->depth > 0) r->doc->cell[r->open[r->depth - 1] + 1]++;
}

static int in_object(const reading *r) {
  return r->depth > 0 && gbti_kind_of(r->doc, r->open[r->depth - 1]) == GBTI_VALUE_OBJECT;
}

/* ---- JSON ---- */

static void skip_space(reading *r) {
  while (r->i < r->n && (r->b[r->i] == ' ' || r->b[r->i] == '\n' || r->b[r->i] == '\r' || r->b[r->i] == '\t')) r->i++;
}

static gbt_status json_text(reading *r) {
  if (r->i >= r->n || r->b[r->i] != '"') return fault_at(r->doc, r->i, "a text is expected");
  GBT_TRY(put(r, CELL(GBTI_VALUE_TEXT, ++r->i)));
  for (; r->i < r->n && r->b[r->i] != '"'; r->i++) {
    if (r->b[r->i] < 0x20) return fault_at(r->doc, r->i, "a text has a control character");
    if (r->b[r->i] == '\\') r->i++;
  }
  if (r->i >= r->n) return fault_at(r->doc, r->n, "the file ends within a text");
  r->i++;
  return GBT_OK;
}

static gbt_status json_word(reading *r) {
  static const char *const word[] = {"null", "false", "true"};
  for (int k = 0; k < 3; k++) {
    const size_t n = strlen(word[k]);
    if (r->n - r->i < n || memcmp(r->b + r->i, word[k], n) != 0) continue;
    r->i += n;
    return put(r, CELL(k, r->i));
  }
  return fault_at(r->doc, r->i, "a value is expected");
}

static gbt_status json_number(reading *r) {
  const gbti_decimal d = gbti_read_decimal((const char *)r->b + r->i, r->n - r->i);
  if (d.n == 0) return fault_at(r->doc, r->i, "a number is expected");
  GBT_TRY(put(r, CELL(GBTI_VALUE_NUMBER, r->i)));
  r->i += d.n;
  return GBT_OK;
}

/* A value that is no container, or the beginning of one. */
static gbt_status json_value(reading *r) {
  const uint8_t c = r->i < r->n ? r->b[r->i] : 0;
  count_value(r);
  if (c == '"') return json_text(r);
  if (c == '-' || (c >= '0' && c <= '9')) return json_number(r);
  if (c != '{' && c != '[') return json_word(r);
  GBT_TRY(open_container(r, c == '{' ? GBTI_VALUE_OBJECT : GBTI_VALUE_ARRAY, -1));
  r->i++;
  return GBT_OK;
}

static gbt_status json_key(reading *r) {
  GBT_TRY(json_text(r));
  skip_space(r);
  if (r->i >= r->n || r->b[r->i] != ':') return fault_at(r->doc, r->i, "a colon is expected after a key");
  r->i++;
  skip_space(r);
  return GBT_OK;
}

/* After a value: the ends of containers, and the comma before the next one. */
static gbt_status json_after(reading *r, int *done) {
  for (;;) {
    skip_space(r);
    *done = r->depth == 0;
    if (*done) return GBT_OK;
    const uint8_t c = r->i < r->n ? r->b[r->i] : 0;
    r->i++;
    if (c == ',') return GBT_OK;
    if (c != (in_object(r) ? '}' : ']')) return fault_at(r->doc, r->i - 1, "a comma or the end of a list is expected");
    close_container(r);
  }
}

static gbt_status read_json(reading *r) {
  int done = 0;
  while (!done) {
    const size_t depth = r->depth;
    skip_space(r);
    if (in_object(r)) GBT_TRY(json_key(r));
    GBT_TRY(json_value(r));
    skip_space(r);
    if (r->depth > depth && r->i < r->n && r->b[r->i] != '}' && r->b[r->i] != ']') continue; /* its first value */
    GBT_TRY(json_after(r, &done));
  }
  return r->i == r->n ? GBT_OK : fault_at(r->doc, r->i, "something follows its end");
}

/* ---- UBJ ---- */

static int size_of(uint8_t type) {
  switch (type) {
  case 'i':
  case 'U':
    return 1;
  case 'I':
    return 2;
  case 'l':
  case 'd':
    return 4;
  case 'L':
  case 'D':
    return 8;
  default:
    return 0;
  }
}

static uint64_t high_first(const uint8_t *b, int n) {
  uint64_t x = 0;
  for (int i = 0; i < n; i++) x = x << 8 | b[i];
  return x;
}

/* The number of a type at b, which has its bytes. */
static double ubj_number(uint8_t type, const uint8_t *b) {
  const uint64_t x = high_first(b, size_of(type));
  float f;
  double d;
  const uint32_t low = (uint32_t)x;
  switch (type) {
  case 'i':
    return (double)(int8_t)x;
  case 'I':
    return (double)(int16_t)x;
  case 'l':
    return (double)(int32_t)low;
  case 'L':
    return (double)(int64_t)x;
  case 'd':
    memcpy(&f, &low, sizeof f);
    return (double)f;
  case 'D':
    memcpy(&d, &x, sizeof d);
    return d;
  default:
    return (double)x;
  }
}

/* The length of what follows: a whole number with its type, not above the bytes that are left. */
static gbt_status ubj_length(reading *r, size_t unit, int64_t *out) {
  const uint8_t type = r->i < r->n ? r->b[r->i++] : 0;
  const int size = type == 'd' || type == 'D' ? 0 : size_of(type);
  if (size == 0 || (size_t)size > r->n - r->i) return fault_at(r->doc, r->i, "a length is expected");
  const double x = ubj_number(type, r->b + r->i);
  r->i += (size_t)size;
  if (!(x >= 0.0) || x > (double)((r->n - r->i) / unit)) return fault_at(r->doc, r->i, "a length is out of range");
  *out = (int64_t)x;
  return GBT_OK;
}

/* Its cell is where the length is. */
static gbt_status ubj_text(reading *r) {
  int64_t n;
  GBT_TRY(put(r, CELL(GBTI_VALUE_TEXT, r->i)));
  GBT_TRY(ubj_length(r, 1, &n));
  r->i += (size_t)n;
  return GBT_OK;
}

/* Behind the bracket: values of one type and their number, their number, or neither. */
static gbt_status ubj_open(reading *r, gbti_value_kind kind) {
  int64_t left = -1;
  uint8_t type = 0;
  if (r->i + 1 < r->n && r->b[r->i] == '$') {
    type = r->b[r->i + 1];
    r->i += 2;
    if (kind == GBTI_VALUE_OBJECT || size_of(type) == 0 || r->i >= r->n || r->b[r->i] != '#')
      return fault_at(r->doc, r->i, "a list of one type is expected to be of numbers, and to have a length");
  }
  if (r->i < r->n && r->b[r->i] == '#') {
    r->i++;
    GBT_TRY(ubj_length(r, type == 0 ? 1 : (size_t)size_of(type), &left));
  }
  if (type == 0) return open_container(r, kind, left);
  GBT_TRY(put(r, CELL(GBTI_VALUE_PACKED, r->i)));
  GBT_TRY(put(r, (uint64_t)left));
  GBT_TRY(put(r, type));
  r->i += (size_t)left * (size_t)size_of(type);
  return GBT_OK;
}

static gbt_status ubj_value(reading *r) {
  while (r->i < r->n && r->b[r->i] == 'N') r->i++;
  const uint8_t type = r->i < r->n ? r->b[r->i++] : 0;
  count_value(r);
  switch (type) {
  case 'Z':
    return put(r, CELL(GBTI_VALUE_NULL, r->i));
  case 'T':
    return put(r, CELL(GBTI_VALUE_TRUE, r->i));
  case 'F':
    return put(r, CELL(GBTI_VALUE_FALSE, r->i));
  case 'S':
    return ubj_text(r);
  case '{':
    return ubj_open(r, GBTI_VALUE_OBJECT);
  case '[':
    return ubj_open(r, GBTI_VALUE_ARRAY);
  default:
    break;
  }
  const size_t size = (size_t)size_of(type);
  if (size == 0) return fault_at(r->doc, r->i, "a value is expected");
  if (size > r->n - r->i) return fault_at(r->doc, r->n, "the file ends within a number");
  GBT_TRY(put(r, CELL(GBTI_VALUE_NUMBER, r->i - 1)));
  r->i += size;
  return GBT_OK;
}

/* Ends the containers that are complete. */
static gbt_status ubj_after(reading *r) {
  while (r->depth > 0) {
    int64_t *left = &r->left[r->depth - 1];
    if (*left > 0) return GBT_OK;
    if (*left < 0) {
      if (r->i >= r->n) return fault_at(r->doc, r->n, "the file ends within a list");
      if (r->b[r->i] != (in_object(r) ? '}' : ']')) return GBT_OK;
      r->i++;
    }
    close_container(r);
  }
  return GBT_OK;
}

static gbt_status read_ubj(reading *r) {
  do {
    if (r->depth > 0 && r->left[r->depth - 1] > 0) r->left[r->depth - 1]--;
    if (in_object(r)) GBT_TRY(ubj_text(r));
    GBT_TRY(ubj_value(r));
    GBT_TRY(ubj_after(r));
  } while (r->depth > 0);
  return r->i == r->n ? GBT_OK : fault_at(r->doc, r->i, "something follows its end");
}

/* ---- opening ---- */

/* A JSON object goes on with a key, an end or a space; a UBJ object with the type of a length, or one of $ # }. */
static int looks_like_ubj(const uint8_t *bytes, size_t n) {
  return n > 1 && bytes[0] == '{' && (size_of(bytes[1]) > 0 || bytes[1] == '$' || bytes[1] == '#');
}

gbt_status gbti_document_open(gbti_document *doc, const uint8_t *bytes, size_t n_bytes) {
  reading *r;
  GBT_TRY(gbt_mem_zeros(&doc->mem, 1, sizeof *r, &r, doc->err));
  doc->bytes = bytes;
  doc->n_bytes = n_bytes;
  doc->is_ubj = looks_like_ubj(bytes, n_bytes);
  r->doc = doc;
  r->b = bytes;
  r->n = n_bytes;
  gbt_status status = doc->is_ubj ? read_ubj(r) : read_json(r);
  gbt_mem_free(&doc->mem, r);
  return status;
}

void gbti_document_close(gbti_document *doc) {
  gbt_mem_free(&doc->mem, doc->cell);
  gbt_mem_free(&doc->mem, doc->text);
  doc->cell = NULL;
  doc->text = NULL;
}

/* ---- asking ---- */

size_t gbti_first(const gbti_document *doc, size_t container) {
  (void)doc;
  return container + 2;
}

size_t gbti_next(const gbti_document *doc, size_t value) {
  switch (gbti_kind_of(doc, value)) {
  case GBTI_VALUE_OBJECT:
  case GBTI_VALUE_ARRAY:
    return place_of(doc, value);
  case GBTI_VALUE_PACKED:
    return value + 3;
  default:
    return value + 1;
  }
}

/* The bytes of a text as they are in the file, to the quotation mark or of the length. */
static const uint8_t *raw_text(const gbti_document *doc, size_t value, size_t *n) {
  const size_t at = place_of(doc, value);
  if (doc->is_ubj) {
    const int size = size_of(doc->bytes[at]);
    *n = (size_t)ubj_number(doc->bytes[at], doc->bytes + at + 1);
    return doc->bytes + at + 1 + size;
  }
  size_t end = at;
  while (doc->bytes[end] != '"') end += doc->bytes[end] == '\\' ? 2 : 1;
  *n = end - at;
  return doc->bytes + at;
}

int gbti_text_is(const gbti_document *doc, size_t value, const char *text) {
  size_t n;
  if (value == GBTI_NO_VALUE || gbti_kind_of(doc, value) != GBTI_VALUE_TEXT) return 0;
  const uint8_t *raw = raw_text(doc, value, &n);
  return n == strlen(text) && memcmp(raw, text, n) == 0;
}

const uint8_t *gbti_raw(const gbti_document *doc, size_t value, size_t *n) {
  if (value == GBTI_NO_VALUE || gbti_kind_of(doc, value) != GBTI_VALUE_TEXT) return NULL;
  return raw_text(doc, value, n);
}

size_t gbti_get(const gbti_document *doc, size_t object, const char *key) {
  if (object == GBTI_NO_VALUE || gbti_kind_of(doc, object) != GBTI_VALUE_OBJECT) return GBTI_NO_VALUE;
  const uint64_t n = doc->cell[object + 1];
  size_t at = gbti_first(doc, object), n_key = strlen(key), n_its;
  for (uint64_t i = 0; i < n; i++) {
    const size_t value = at + 1;
    const uint8_t *its = raw_text(doc, at, &n_its);
    if (n_its == n_key && memcmp(its, key, n_key) == 0) return value;
    at = gbti_next(doc, value);
  }
  return GBTI_NO_VALUE;
}

int64_t gbti_count(const gbti_document *doc, size_t array) {
  if (array == GBTI_NO_VALUE) return -1;
  const gbti_value_kind kind = gbti_kind_of(doc, array);
  return kind == GBTI_VALUE_ARRAY || kind == GBTI_VALUE_PACKED ? (int64_t)doc->cell[array + 1] : -1;
}

static gbt_status no_number(const gbti_document *doc, const char *what) {
  return gbt_fail(doc->err, GBT_E_FORMAT,
                  "the %s file is damaged, or from an unknown version: `%s` has an unexpected value or type",
                  doc->program, what);
}

gbt_status gbti_number(const gbti_document *doc, size_t value, const char *what, int f32, double *out) {
  size_t n;
  if (value == GBTI_NO_VALUE) return no_number(doc, what);
  const gbti_value_kind kind = gbti_kind_of(doc, value);
  if (kind == GBTI_VALUE_TRUE || kind == GBTI_VALUE_FALSE) {
    *out = kind == GBTI_VALUE_TRUE;
    return GBT_OK;
  }
  if (kind != GBTI_VALUE_NUMBER && kind != GBTI_VALUE_TEXT) return no_number(doc, what);
  const uint8_t *at = doc->bytes + place_of(doc, value);
  if (kind == GBTI_VALUE_NUMBER && doc->is_ubj) {
    *out = ubj_number(*at, at + 1);
    if (f32) *out = (double)(float)*out;
    return GBT_OK;
  }
  if (kind == GBTI_VALUE_TEXT)
    at = raw_text(doc, value, &n);
  else
    n = doc->n_bytes - place_of(doc, value);
  const gbti_decimal d = gbti_read_decimal((const char *)at, n);
  if (d.n == 0 || (kind == GBTI_VALUE_TEXT && d.n != n)) return no_number(doc, what);
  *out = f32 ? (double)d.nearest_f32 : d.nearest;
  return GBT_OK;
}

gbt_status gbti_whole(const gbti_document *doc, size_t value, const char *what, int64_t least, int64_t most,
                      int64_t *out) {
  double x = 0.0;
  GBT_TRY(gbti_number(doc, value, what, 0, &x));
  if (!(x >= (double)least && x <= (double)most) || x != (double)(int64_t)x) return no_number(doc, what);
  *out = (int64_t)x;
  return GBT_OK;
}

gbt_status gbti_numbers(const gbti_document *doc, size_t array, const char *what, int64_t n, int f32, double *out) {
  if (gbti_count(doc, array) != n) return no_number(doc, what);
  if (gbti_kind_of(doc, array) == GBTI_VALUE_PACKED) {
    const uint8_t type = (uint8_t)doc->cell[array + 2], *at = doc->bytes + place_of(doc, array);
    for (int64_t i = 0; i < n; i++) {
      const double x = ubj_number(type, at + i * size_of(type));
      out[i] = f32 ? (double)(float)x : x;
    }
    return GBT_OK;
  }
  size_t at = gbti_first(doc, array);
  for (int64_t i = 0; i < n; i++, at = gbti_next(doc, at)) GBT_TRY(gbti_number(doc, at, what, f32, &out[i]));
  return GBT_OK;
}

gbt_status gbti_wholes(const gbti_document *doc, size_t array, const char *what, int64_t n, int64_t least, int64_t most,
                       int32_t *out) {
  if (gbti_count(doc, array) != n) return no_number(doc, what);
  const int packed = gbti_kind_of(doc, array) == GBTI_VALUE_PACKED;
  const uint8_t type = packed ? (uint8_t)doc->cell[array + 2] : 0;
  size_t at = packed ? place_of(doc, array) : gbti_first(doc, array);
  for (int64_t i = 0; i < n; i++) {
    double x = 0.0;
    if (packed) {
      x = ubj_number(type, doc->bytes + at + (size_t)i * (size_t)size_of(type));
    } else {
      GBT_TRY(gbti_number(doc, at, what, 0, &x));
      at = gbti_next(doc, at);
    }
    if (!(x >= (double)least && x <= (double)most) || x != (double)(int64_t)x) return no_number(doc, what);
    out[i] = (int32_t)x;
  }
  return GBT_OK;
}

/* ---- texts ---- */

static int hex_of(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Four digits behind \u at raw[i]; -1 for others. */
static int32_t unit_at(const uint8_t *raw, size_t n, size_t i) {
  int32_t u = 0;
  if (i + 6 > n || raw[i] != '\\' || raw[i + 1] != 'u') return -1;
  for (size_t k = i + 2; k < i + 6; k++) {
    const int h = hex_of(raw[k]);
    if (h < 0) return -1;
    u = u * 16 + h;
  }
  return u;
}

static size_t put_utf8(int32_t c, char *to) {
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const int first[] = {0, 0xc0, 0xe0, 0xf0};
  to[0] = (char)(first[more] | c >> (6 * more));
  for (int k = 1; k <= more; k++) to[k] = (char)(0x80 | ((c >> (6 * (more - k))) & 0x3f));
  return (size_t)more + 1;
}

/* The character that an escape at raw[*i] means, and moves behind it; -1 when there is no such escape. */
static int32_t unescape(const uint8_t *raw, size_t n, size_t *i) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  int32_t u = unit_at(raw, n, *i);
  if (u >= 0) {
    *i += 6;
    if (u >= 0xd800 && u < 0xdc00) {
      const int32_t low = unit_at(raw, n, *i);
      if (low < 0xdc00 || low > 0xdfff) return -1;
      *i += 6;
      u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
    }
    return u;
  }
  const char *at = *i + 1 < n && raw[*i + 1] != 0 ? strchr(from, raw[*i + 1]) : NULL;
  if (at == NULL) return -1;
  *i += 2;
  return to[at - from];
}

gbt_status gbti_text(gbti_document *doc, size_t value, const char *what, const char **out) {
  size_t n, at = 0;
  if (value == GBTI_NO_VALUE || gbti_kind_of(doc, value) != GBTI_VALUE_TEXT) return no_number(doc, what);
  const uint8_t *raw = raw_text(doc, value, &n);
  GBT_TRY(gbt_mem_grow(&doc->mem, &doc->text, &doc->cap_text, n + 1, 1, doc->err));
  for (size_t i = 0; i < n;) {
    int32_t c = raw[i];
    if (c == '\\' && !doc->is_ubj) {
      c = unescape(raw, n, &i);
      if (c <= 0) return no_number(doc, what);
      at += put_utf8(c, doc->text + at); /* no longer than the escape */
      continue;
    }
    if (c == 0) return no_number(doc, what);
    doc->text[at++] = (char)raw[i++];
  }
  doc->text[at] = 0;
  *out = doc->text;
  return GBT_OK;
}
