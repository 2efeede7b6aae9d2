/* Compression of bytes: one row of a table for each codec (codec.c). A build has those codecs whose libraries were
 * there when it was configured. Bytes that another build stored by other codecs are refused, and the error names the
 * codec. */
#ifndef GBT_DISK_CODEC_H
#define GBT_DISK_CODEC_H

/* Files have these numbers, which never change. */
typedef enum gbt_codec { GBT_CODEC_NONE = 0, GBT_CODEC_LZ4 = 1, GBT_CODEC_ZSTD = 2 } gbt_codec;

/* As users name it; NULL when there is no such codec. */
const char *gbt_codec_name(int codec);

/* Whether this build has it; 0 also when there is no such codec. */
int gbt_codec_is_here(int codec);

#endif
