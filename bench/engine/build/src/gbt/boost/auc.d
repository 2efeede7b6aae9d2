build/src/gbt/boost/auc.o: ../../src/gbt/boost/auc.c \
 ../../src/gbt/boost/auc.h ../../src/gbt/boost/../base/ctx.h \
 ../../src/gbt/boost/../base/mem.h ../../src/gbt/boost/../base/status.h \
 ../../src/gbt/boost/../base/exact_sum.h \
 ../../src/gbt/boost/../base/sort.h ../../src/gbt/boost/../base/ctx.h \
 ../../src/gbt/boost/../math/bits.h \
 ../../src/gbt/boost/../math/../base/hd.h
