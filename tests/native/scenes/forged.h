/* Data sets in folders as bytes, for tests that change them and put the checksums right. */
#ifndef GBT_TEST_FORGED_H
#define GBT_TEST_FORGED_H

#include "../../src/gbt/data/page_impl.h"
#include "../../src/gbt/disk/disk.h"
#include "../../src/gbt/disk/index.h"
#include "made.h"
#include "stores.h"

enum { FORGED_KINDS = 5, FORGED_NOTE = 4 };

typedef struct blob {
  uint8_t *bytes;
  size_t n;
} blob;

/* A data set, whose folder is `path`, and its files as they were made. */
typedef struct forged {
  made *m;
  gbt_ctx ctx;
  char folder[512 /* PORT_PATH */], index_path[560], pages_path[600];
  const char *path;
  blob index, pages;
  uint64_t id; /* in the name of its pages */
  gbt_dataset *ds;
  gbti_page_record *record; /* of all pages */
  store_kind before;
} forged;

/* A data set of one of FORGED_KINDS kinds: columns of all types; lists and bundles; codes of 16 bits; levels that a
 * reference does not know, with counts of levels; the same columns in many pages. 0 after a failure, which is a failed
 * check. Close in any case. */
int forged_open(forged *s, int kind, gbt_codec codec);
void forged_close(forged *s);

/* A codec that packs, where this build has one. */
gbt_codec forged_codec(void);

blob blob_copy(blob from);
void blob_write(const char *path, blob b);

/* Puts the checksum of an index right. */
void forged_seal(blob index);

/* The bytes of a page, by rows and not packed. */
blob forged_unpack(const forged *s, int32_t page);

/* Writes the folder with other bytes of a page, packed as it was; the other pages are written anew, not packed. index:
 * a copy of s->index, whose records are changed. */
void forged_put(const forged *s, int32_t page, blob bytes, blob index);

#endif
