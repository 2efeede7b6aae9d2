#include "parts.h"

#include <string.h>

#include "../base/checksum.h"

typedef struct part_head {
  uint64_t part, n_bytes, checksum;
} part_head;

enum { BUFFER = 1 << 16 };

static uint64_t padded(uint64_t n) { return (n + 7) & ~(uint64_t)7; }

/* Checksum of a piece of at most BUFFER bytes, padded with zeros to a multiple of 8. */
static uint64_t piece_checksum(const uint8_t *bytes, size_t n) {
  uint8_t last[8] = {0};
  const size_t whole = n & ~(size_t)7;
  const uint64_t sum = gbt_checksum(bytes, whole);
  if (n == whole) return sum;
  memcpy(last, bytes + whole, n - whole);
  return gbt_mix64(sum ^ gbt_checksum(last, 8));
}

/* Of a part, piece by piece. */
static uint64_t add_piece(uint64_t sum, const uint8_t *bytes, size_t n) {
  return gbt_mix64(sum ^ piece_checksum(bytes, n));
}

static uint64_t checksum_of(const void *bytes, uint64_t n) {
  const uint8_t *at = bytes;
  uint64_t sum = 0;
  while (n > 0) {
    const size_t piece = (size_t)(n < BUFFER ? n : BUFFER);
    sum = add_piece(sum, at, piece);
    at += piece;
    n -= piece;
  }
  return sum;
}

static uint64_t head_checksum(gbt_parts_head head) {
  head.checksum = 0;
  return gbt_checksum((const uint8_t *)&head, sizeof head);
}

/* ---- writing ---- */

gbt_status gbt_parts_begin(const gbt_mem *mem, const char *path, const char *magic, uint64_t version, uint64_t identity,
                           gbt_parts_writer *out, gbt_error *err) {
  const size_t n = strlen(path);
  memset(out, 0, sizeof *out);
  out->mem = *mem;
  out->file.os = GBT_OS_NONE;
  GBT_TRY(gbt_mem_array(mem, n + 1, 1, &out->path, err));
  memcpy(out->path, path, n + 1);
  GBT_TRY(gbt_mem_array(mem, n + 5, 1, &out->draft, err));
  memcpy(out->draft, path, n);
  memcpy(out->draft + n, ".new", 5);
  const gbt_status status = gbt_file_draft(mem, out->draft, &out->file, err);
  if (status != GBT_OK) { /* another program's */
    gbt_mem_free(mem, out->draft);
    out->draft = NULL;
    return status;
  }
  memcpy(out->head.magic, magic, sizeof out->head.magic);
  out->head.version = version;
  out->head.identity = identity;
  out->head.n_bytes = sizeof out->head;
  return gbt_file_write(&out->file, &out->head, sizeof out->head, err);
}

gbt_status gbt_parts_put(gbt_parts_writer *w, const void *bytes, uint64_t n, gbt_error *err) {
  const uint8_t zeros[8] = {0};
  const part_head part = {w->head.n_parts, n, checksum_of(bytes, n)};
  GBT_TRY(gbt_file_write(&w->file, &part, sizeof part, err));
  if (n > 0) GBT_TRY(gbt_file_write(&w->file, bytes, (size_t)n, err));
  GBT_TRY(gbt_file_write(&w->file, zeros, (size_t)(padded(n) - n), err));
  w->head.n_parts++;
  w->head.n_bytes += sizeof part + padded(n);
  return GBT_OK;
}

gbt_status gbt_parts_end(gbt_parts_writer *w, gbt_error *err) {
  w->head.checksum = head_checksum(w->head);
  GBT_TRY(gbt_file_write_at(&w->file, 0, &w->head, sizeof w->head, err));
  GBT_TRY(gbt_file_sync(&w->file, err));
  GBT_TRY(gbt_file_replace(w->draft, w->path, err));
  gbt_mem_free(&w->mem, w->draft);
  w->draft = NULL;
  return GBT_OK;
}

void gbt_parts_drop(gbt_parts_writer *w) {
  if (w->draft != NULL && w->file.os != GBT_OS_NONE) gbt_file_remove(w->draft);
  gbt_file_close(&w->file);
  gbt_mem_free(&w->mem, w->draft);
  gbt_mem_free(&w->mem, w->path);
  w->draft = w->path = NULL;
}

/* ---- reading ---- */

static gbt_status damaged(const gbt_parts_reader *r, gbt_error *err) {
  return gbt_fail_on(err, GBT_E_FORMAT, r->file.path, "\"%s\" is damaged; remove it", r->file.path);
}

static gbt_status read_part_head(const gbt_parts_reader *r, part_head *out, gbt_error *err) {
  if (r->part >= r->head.n_parts || r->head.n_bytes - r->at < sizeof *out) return damaged(r, err);
  GBT_TRY(gbt_file_read(&r->file, r->at, out, sizeof *out, err));
  const uint64_t left = r->head.n_bytes - r->at - sizeof *out;
  return out->part == r->part && out->n_bytes <= left && padded(out->n_bytes) <= left ? GBT_OK : damaged(r, err);
}

static gbt_status check_part(gbt_parts_reader *r, uint8_t *buffer, gbt_error *err) {
  part_head part;
  uint64_t sum = 0;
  GBT_TRY(read_part_head(r, &part, err));
  for (uint64_t done = 0; done < part.n_bytes;) {
    const uint64_t left = part.n_bytes - done;
    const size_t n = (size_t)(left < BUFFER ? left : BUFFER);
    GBT_TRY(gbt_file_read(&r->file, r->at + sizeof part + done, buffer, n, err));
    sum = add_piece(sum, buffer, n);
    done += n;
  }
  if (sum != part.checksum) return damaged(r, err);
  r->at += sizeof part + padded(part.n_bytes);
  r->part++;
  return GBT_OK;
}

static gbt_status check_head(const gbt_parts_reader *r, const char *magic, uint64_t version, gbt_error *err) {
  const gbt_parts_head *head = &r->head;
  uint64_t size;
  if (memcmp(head->magic, magic, sizeof head->magic) != 0)
    return gbt_fail_on(err, GBT_E_FORMAT, r->file.path,
                       "\"%s\" is not what gbt writes there; remove it, or give another place", r->file.path);
  if (head->version != version)
    return gbt_fail_on(err, GBT_E_FORMAT, r->file.path, "\"%s\" was written by another version of gbt; remove it",
                       r->file.path);
  GBT_TRY(gbt_file_bytes(&r->file, &size, err));
  return head_checksum(*head) == head->checksum && head->n_bytes == size ? GBT_OK : damaged(r, err);
}

gbt_status gbt_parts_open(const gbt_mem *mem, const char *path, const char *magic, uint64_t version,
                          gbt_parts_reader *out, gbt_error *err) {
  uint8_t *buffer;
  memset(out, 0, sizeof *out);
  out->file.os = GBT_OS_NONE;
  GBT_TRY(gbt_file_open(mem, path, &out->file, err));
  GBT_TRY(gbt_file_read(&out->file, 0, &out->head, sizeof out->head, err));
  GBT_TRY(check_head(out, magic, version, err));
  GBT_TRY(gbt_mem_array(mem, BUFFER, 1, &buffer, err));
  gbt_status status = GBT_OK;
  out->at = sizeof out->head;
  while (status == GBT_OK && out->part < out->head.n_parts) status = check_part(out, buffer, err);
  gbt_mem_free(mem, buffer);
  if (status == GBT_OK && out->at != out->head.n_bytes) status = damaged(out, err);
  out->at = sizeof out->head;
  out->part = 0;
  return status;
}

gbt_status gbt_parts_next(gbt_parts_reader *r, uint64_t *n, gbt_error *err) {
  part_head part;
  GBT_TRY(read_part_head(r, &part, err));
  *n = part.n_bytes;
  return GBT_OK;
}

gbt_status gbt_parts_take(gbt_parts_reader *r, void *out, uint64_t n, gbt_error *err) {
  part_head part;
  GBT_TRY(read_part_head(r, &part, err));
  if (part.n_bytes != n) return damaged(r, err);
  if (n > 0) GBT_TRY(gbt_file_read(&r->file, r->at + sizeof part, out, (size_t)n, err));
  r->at += sizeof part + padded(n);
  r->part++;
  return GBT_OK;
}

void gbt_parts_close(gbt_parts_reader *r) { gbt_file_close(&r->file); }
