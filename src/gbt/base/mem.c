/* Arrays on 64-byte boundaries from any allocator. The word before an array holds the allocator's own pointer:
 *
 *   raw ... | raw | array (64-byte aligned) ...
 */
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#include "float_mode.h"
#include "hd.h"

enum { ALIGN = 64, SPARE = ALIGN - 1 + (int)sizeof(void *) };

static void *default_alloc(void *user, size_t bytes) {
  (void)user;
  return malloc(bytes);
}

static void default_release(void *user, void *block) {
  (void)user;
  free(block);
}

gbt_mem gbt_mem_default(void) {
  gbt_mem mem = {default_alloc, default_release, NULL};
  return mem;
}

/* out points to a pointer of some type; memcpy writes it whatever the type is. */
static void set_pointer(void *out, void *block) { memcpy(out, &block, sizeof block); }

gbt_status gbt_mem_array(const gbt_mem *mem, size_t n, size_t size, void *out, gbt_error *err) {
  set_pointer(out, NULL);
  if (size != 0 && n > (SIZE_MAX - SPARE) / size) return gbt_fail_mem(err, SIZE_MAX);
  const uint32_t mode = gbti_float_mode();
  char *raw = mem->alloc(mem->user, n * size + SPARE); /* the host's: R's may collect, and run finalizers */
  if (gbti_float_mode() != mode) gbti_float_mode_set(mode);
  if (raw == NULL) return gbt_fail_mem(err, n * size);
  size_t gap = ALIGN - ((uintptr_t)raw + sizeof raw) % ALIGN; /* 1 .. 64 */
  char *block = raw + sizeof raw + (gap % ALIGN);
  GBT_ASSERT((uintptr_t)block % ALIGN == 0 && block + n * size <= raw + n * size + SPARE);
  memcpy(block - sizeof raw, &raw, sizeof raw);
  set_pointer(out, block);
  return GBT_OK;
}

gbt_status gbt_mem_zeros(const gbt_mem *mem, size_t n, size_t size, void *out, gbt_error *err) {
  void *block;
  gbt_status status = gbt_mem_array(mem, n, size, &block, err);
  if (status == GBT_OK) memset(block, 0, n * size);
  set_pointer(out, block);
  return status;
}

gbt_status gbt_mem_grow(const gbt_mem *mem, void *block, size_t *cap, size_t need, size_t size, gbt_error *err) {
  if (need <= *cap) return GBT_OK;
  size_t new_cap = *cap > SIZE_MAX / 2 ? need : *cap * 2;
  if (new_cap < need) new_cap = need;
  void *old, *grown;
  memcpy(&old, block, sizeof old);
  GBT_ASSERT(size > 0 && (old != NULL || *cap == 0));
  GBT_TRY(gbt_mem_array(mem, new_cap, size, &grown, err));
  if (old != NULL) memcpy(grown, old, *cap * size);
  gbt_mem_free(mem, old);
  set_pointer(block, grown);
  *cap = new_cap;
  return GBT_OK;
}

void gbt_mem_free(const gbt_mem *mem, void *block) {
  if (block == NULL) return;
  void *raw;
  memcpy(&raw, (char *)block - sizeof raw, sizeof raw);
  mem->release(mem->user, raw);
}
