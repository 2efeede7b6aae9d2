build/src/gbt/boost/objective.o: ../../src/gbt/boost/objective.c \
 ../../src/gbt/boost/objective.h ../../src/gbt/boost/../base/ctx.h \
 ../../src/gbt/boost/../base/mem.h ../../src/gbt/boost/../base/status.h \
 ../../src/gbt/boost/../data/dataset.h ../../src/gbt/boost/../data/page.h \
 ../../src/gbt/boost/../data/cuts.h ../../src/gbt/boost/../data/table.h \
 ../../src/gbt/boost/../data/../base/ctx.h \
 ../../src/gbt/boost/../data/../base/schema.h \
 ../../src/gbt/boost/../data/../base/mem.h \
 ../../src/gbt/boost/../math/loss.h \
 ../../src/gbt/boost/../math/elementary.h \
 ../../src/gbt/boost/../math/bits.h \
 ../../src/gbt/boost/../math/../base/hd.h \
 ../../src/gbt/boost/../base/exact_sum.h
