#include "codec_impl.h"

#include <stdint.h>

#ifdef GBT_WITH_LZ4
#include <lz4.h>
#endif
#ifdef GBT_WITH_ZSTD
#include <zstd.h>
#endif

typedef struct codec_row {
  const char *name;
  size_t (*pack)(const void *from, size_t n, void *to, size_t room); /* NULL: not in this build */
  int (*unpack)(const void *from, size_t n, void *to, size_t n_to);
  const char *library; /* what to install */
} codec_row;

#ifdef GBT_WITH_LZ4
static size_t lz4_pack(const void *from, size_t n, void *to, size_t room) {
  if (n > LZ4_MAX_INPUT_SIZE) return 0;
  const int done = LZ4_compress_default(from, to, (int)n, (int)room);
  return done > 0 ? (size_t)done : 0;
}
static int lz4_unpack(const void *from, size_t n, void *to, size_t n_to) {
  if (n > INT32_MAX || n_to > LZ4_MAX_INPUT_SIZE) return 0;
  const int done = LZ4_decompress_safe(from, to, (int)n, (int)n_to);
  return done >= 0 && (size_t)done == n_to;
}
#else
#define lz4_pack NULL
#define lz4_unpack NULL
#endif

#ifdef GBT_WITH_ZSTD
enum { ZSTD_LEVEL = 1 /* level 3 gives no fewer bytes on the tables of bench/disk-bytes.R */ };

static size_t zstd_pack(const void *from, size_t n, void *to, size_t room) {
  const size_t done = ZSTD_compress(to, room, from, n, ZSTD_LEVEL);
  return ZSTD_isError(done) ? 0 : done;
}
static int zstd_unpack(const void *from, size_t n, void *to, size_t n_to) {
  const size_t done = ZSTD_decompress(to, n_to, from, n);
  return !ZSTD_isError(done) && done == n_to;
}
#else
#define zstd_pack NULL
#define zstd_unpack NULL
#endif

static const codec_row codecs[] = {
    [GBT_CODEC_NONE] = {"none", NULL, NULL, NULL},
    [GBT_CODEC_LZ4] = {"lz4", lz4_pack, lz4_unpack, "lz4 with its header (Debian: liblz4-dev)"},
    [GBT_CODEC_ZSTD] = {"zstd", zstd_pack, zstd_unpack, "zstd with its header (Debian: libzstd-dev)"},
};
enum { N_CODECS = (int)(sizeof codecs / sizeof codecs[0]) };

const char *gbt_codec_name(int codec) { return codec >= 0 && codec < N_CODECS ? codecs[codec].name : NULL; }

int gbt_codec_is_here(int codec) {
  return codec == GBT_CODEC_NONE || (codec > 0 && codec < N_CODECS && codecs[codec].pack != NULL);
}

size_t gbti_codec_pack(gbt_codec codec, const void *from, size_t n, void *to, size_t room) {
  return codecs[codec].pack(from, n, to, room);
}

int gbti_codec_unpack(gbt_codec codec, const void *from, size_t n, void *to, size_t n_to) {
  return codecs[codec].unpack(from, n, to, n_to);
}

gbt_status gbti_codec_need(gbt_codec codec, const char *subject, const char *what, gbt_error *err) {
  if (gbt_codec_is_here((int)codec)) return GBT_OK;
  return gbt_fail_on(err, GBT_E_UNSUPPORTED, subject,
                     "%s \"%s\", which this build of gbt does not support: install the library %s, then gbt again",
                     what, codecs[codec].name, codecs[codec].library);
}
