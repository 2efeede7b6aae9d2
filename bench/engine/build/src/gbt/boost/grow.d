build/src/gbt/boost/grow.o: ../../src/gbt/boost/grow.c \
 ../../src/gbt/boost/grow.h ../../src/gbt/boost/../backend/backend.h \
 ../../src/gbt/boost/../backend/../base/ctx.h \
 ../../src/gbt/boost/../backend/../base/mem.h \
 ../../src/gbt/boost/../backend/../base/status.h \
 ../../src/gbt/boost/../backend/../data/dataset.h \
 ../../src/gbt/boost/../backend/../data/page.h \
 ../../src/gbt/boost/../backend/../data/cuts.h \
 ../../src/gbt/boost/../backend/../data/table.h \
 ../../src/gbt/boost/../backend/../data/../base/ctx.h \
 ../../src/gbt/boost/../backend/../data/../base/schema.h \
 ../../src/gbt/boost/../backend/../data/../base/mem.h \
 ../../src/gbt/boost/../backend/../math/loss.h \
 ../../src/gbt/boost/../backend/../math/elementary.h \
 ../../src/gbt/boost/../backend/../math/bits.h \
 ../../src/gbt/boost/../backend/../math/../base/hd.h \
 ../../src/gbt/boost/../backend/../params.h \
 ../../src/gbt/boost/../backend/../base/status.h \
 ../../src/gbt/boost/../backend/../params.def \
 ../../src/gbt/boost/../backend/../tree/features.h \
 ../../src/gbt/boost/../backend/../tree/../base/mem.h \
 ../../src/gbt/boost/../backend/../tree/../params.h \
 ../../src/gbt/boost/../backend/../tree/forest.h \
 ../../src/gbt/boost/../backend/../tree/node.h \
 ../../src/gbt/boost/../backend/../tree/../base/hd.h
