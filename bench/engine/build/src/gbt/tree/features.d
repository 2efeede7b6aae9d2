build/src/gbt/tree/features.o: ../../src/gbt/tree/features.c \
 ../../src/gbt/tree/features.h ../../src/gbt/tree/../base/mem.h \
 ../../src/gbt/tree/../base/status.h ../../src/gbt/tree/../params.h \
 ../../src/gbt/tree/../base/status.h ../../src/gbt/tree/../params.def \
 ../../src/gbt/tree/../base/rng.h ../../src/gbt/tree/../base/hd.h \
 ../../src/gbt/tree/../math/elementary.h \
 ../../src/gbt/tree/../math/bits.h \
 ../../src/gbt/tree/../math/../base/hd.h
