/* A hash table of numbers, at most half full, and arrays of the texts and their hashes. Copies of texts are stored
 * contiguously in blocks that never move:
 *
 *   bucket[hash & mask], the next, ... = number + 1, or 0 where the search ends
 *   block -> block -> ...       "carrier\0origin\0..." */
#include "dictionary.h"

#include <string.h>

#include "../base/clock.h"
#include "schema_impl.h"

enum { LEAST_BYTES = 1 << 10, MOST_BYTES = 1 << 16, LEAST_BUCKETS = 16 }; /* bytes: of a block */

typedef struct block {
  struct block *before;
  size_t used, cap;
  char text[];
} block;

struct gbt_dictionary {
  gbt_mem mem;
  const char **text;
  uint64_t *hash;
  size_t n, cap_text, cap_hash;
  uint32_t *bucket; /* mask + 1 */
  uint64_t mask, salt;
  block *last;
};

gbt_status gbt_dictionary_new(const gbt_mem *mem, gbt_dictionary **out, gbt_error *err) {
  gbt_dictionary *d;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *d, &d, err));
  d->mem = *mem;
  d->mask = LEAST_BUCKETS - 1;
  d->salt = gbt_salt(d);
  gbt_status status = gbt_mem_zeros(mem, LEAST_BUCKETS, sizeof *d->bucket, &d->bucket, err);
  if (status == GBT_OK)
    *out = d;
  else
    gbt_dictionary_free(d);
  return status;
}

void gbt_dictionary_free(gbt_dictionary *d) {
  if (d == NULL) return;
  gbt_mem mem = d->mem;
  for (block *b = d->last, *before; b != NULL; b = before) {
    before = b->before;
    gbt_mem_free(&mem, b);
  }
  gbt_mem_free(&mem, d->text);
  gbt_mem_free(&mem, d->hash);
  gbt_mem_free(&mem, d->bucket);
  gbt_mem_free(&mem, d);
}

/* The number + 1 of the text, or 0; *at: the bucket where the search ended. */
static uint32_t look_up(const gbt_dictionary *d, const char *text, uint64_t hash, uint64_t *at) {
  uint64_t i = hash & d->mask;
  for (; d->bucket[i] != 0; i = (i + 1) & d->mask) {
    uint32_t number = d->bucket[i] - 1;
    if (d->hash[number] == hash && strcmp(d->text[number], text) == 0) break;
  }
  *at = i;
  return d->bucket[i];
}

static gbt_status grow_buckets(gbt_dictionary *d, gbt_error *err) {
  uint64_t mask = 2 * d->mask + 1;
  uint32_t *bucket;
  GBT_TRY(gbt_mem_zeros(&d->mem, (size_t)mask + 1, sizeof *bucket, &bucket, err));
  for (size_t k = 0; k < d->n; k++) {
    uint64_t i = d->hash[k] & mask;
    while (bucket[i] != 0) i = (i + 1) & mask;
    bucket[i] = (uint32_t)k + 1;
  }
  gbt_mem_free(&d->mem, d->bucket);
  d->bucket = bucket;
  d->mask = mask;
  return GBT_OK;
}

static gbt_status copy_text(gbt_dictionary *d, const char *text, const char **out, gbt_error *err) {
  size_t n = strlen(text) + 1;
  if (d->last == NULL || d->last->cap - d->last->used < n) {
    size_t cap = d->last == NULL ? LEAST_BYTES : 2 * d->last->cap;
    block *b;
    if (cap > MOST_BYTES) cap = MOST_BYTES;
    if (cap < n) cap = n;
    GBT_TRY(gbt_mem_array(&d->mem, sizeof *b + cap, 1, &b, err));
    *b = (block){.before = d->last, .cap = cap};
    d->last = b;
  }
  char *to = d->last->text + d->last->used;
  memcpy(to, text, n);
  d->last->used += n;
  *out = to;
  return GBT_OK;
}

gbt_status gbt_dictionary_add(gbt_dictionary *d, const char *text, int32_t *number, gbt_error *err) {
  uint64_t hash = gbt_text_hash(d->salt, text), at;
  uint32_t found = look_up(d, text, hash, &at);
  *number = (int32_t)found - 1;
  if (found != 0) return GBT_OK;
  if (d->n + 2 > (size_t)INT32_MAX) return gbt_fail(err, GBT_E_UNSUPPORTED, "a factor has too many levels");
  GBT_TRY(gbt_mem_grow(&d->mem, &d->text, &d->cap_text, d->n + 1, sizeof *d->text, err));
  GBT_TRY(gbt_mem_grow(&d->mem, &d->hash, &d->cap_hash, d->n + 1, sizeof *d->hash, err));
  if (2 * (d->n + 1) > d->mask + 1) {
    GBT_TRY(grow_buckets(d, err));
    look_up(d, text, hash, &at);
  }
  GBT_TRY(copy_text(d, text, &d->text[d->n], err));
  d->hash[d->n] = hash;
  *number = (int32_t)d->n++;
  d->bucket[at] = (uint32_t)d->n;
  return GBT_OK;
}

int32_t gbt_dictionary_find(const gbt_dictionary *d, const char *text) {
  uint64_t at;
  return (int32_t)look_up(d, text, gbt_text_hash(d->salt, text), &at) - 1;
}

int32_t gbt_dictionary_n(const gbt_dictionary *d) { return (int32_t)d->n; }

const char *const *gbt_dictionary_texts(const gbt_dictionary *d) { return d->text; }
