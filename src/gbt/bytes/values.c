#include "values.h"

#include "sections.h"

static const gbti_kind kind = {.magic = "gbtvalue",
                               .version = 2,
                               .bytes = "the values that are kept in the file",
                               .advice = "make the file again",
                               .sections = GBTI_HAS_META,
                               .part = {&gbti_part_meta}};

gbt_status gbt_values_write(const gbt_mem *mem, const gbt_meta *entry, int32_t n, uint8_t **out, size_t *n_bytes,
                            gbt_error *err) {
  const gbti_contents parts = {.meta = entry, .n_meta = n};
  gbti_writer w = {.mem = *mem, .parts = &parts, .err = err};
  return gbti_sections_write(&kind, &w, out, n_bytes);
}

gbt_status gbt_values_read(const gbt_mem *mem, const uint8_t *bytes, size_t n_bytes, gbt_meta **out, int32_t *n,
                           gbt_error *err) {
  gbti_reader r = {.mem = *mem, .kind = &kind, .err = err};
  gbti_model_head head;
  *out = NULL;
  *n = 0;
  if (!gbti_head_of(&kind, bytes, n_bytes, &head))
    return gbti_damaged(&r, "they have an unknown form, or an older version of gbt wrote them");
  if (head.version != kind.version)
    return gbt_fail(err, GBT_E_FORMAT, "%s have format version %lu, this gbt reads version %lu; %s", kind.bytes,
                    (unsigned long)head.version, (unsigned long)kind.version, kind.advice);
  if (head.n_bytes != n_bytes || n_bytes < sizeof head)
    return gbti_damaged(&r, "their size differs from the one in their head");
  const gbt_status status = gbti_sections_read(&r, bytes, n_bytes);
  if (status != GBT_OK) {
    gbti_reader_drop(&r);
    return status;
  }
  *out = r.meta;
  *n = r.parts.n_meta;
  return GBT_OK;
}
