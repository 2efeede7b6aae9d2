/* The functions of a codec. Private to disk/. */
#ifndef GBT_DISK_CODEC_IMPL_H
#define GBT_DISK_CODEC_IMPL_H

#include <stddef.h>

#include "../base/status.h"
#include "codec.h"

/* Packs n bytes into at most `room`; how many they became, or 0 when they do not fit or there is no memory for it.
 * codec: one that is here, not GBT_CODEC_NONE. Libraries take memory of their own for the time of the call. */
size_t gbti_codec_pack(gbt_codec codec, const void *from, size_t n, void *to, size_t room);

/* Back into exactly n_to bytes: 1; 0 when that is not what they are, or there is no memory. */
int gbti_codec_unpack(gbt_codec codec, const void *from, size_t n, void *to, size_t n_to);

/* GBT_E_UNSUPPORTED, saying what to install, where this build lacks the codec. subject: what the error is about. what:
 * begins the sentence. */
gbt_status gbti_codec_need(gbt_codec codec, const char *subject, const char *what, gbt_error *err) GBT_MUST_CHECK;

#endif
