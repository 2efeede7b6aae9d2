build/src/gbt/tree/frontier.o: ../../src/gbt/tree/frontier.c \
 ../../src/gbt/tree/frontier.h ../../src/gbt/tree/../base/mem.h \
 ../../src/gbt/tree/../base/status.h ../../src/gbt/tree/../params.h \
 ../../src/gbt/tree/../base/status.h ../../src/gbt/tree/../params.def \
 ../../src/gbt/tree/split.h ../../src/gbt/tree/../math/fixed.h \
 ../../src/gbt/tree/../math/bits.h \
 ../../src/gbt/tree/../math/../base/hd.h \
 ../../src/gbt/tree/../math/gain.h
