build/src/gbt/boost/metric.o: ../../src/gbt/boost/metric.c \
 ../../src/gbt/boost/metric.h ../../src/gbt/boost/../base/ctx.h \
 ../../src/gbt/boost/../base/mem.h ../../src/gbt/boost/../base/status.h \
 ../../src/gbt/boost/../math/loss.h \
 ../../src/gbt/boost/../math/elementary.h \
 ../../src/gbt/boost/../math/bits.h \
 ../../src/gbt/boost/../math/../base/hd.h \
 ../../src/gbt/boost/../base/exact_sum.h ../../src/gbt/boost/auc.h
