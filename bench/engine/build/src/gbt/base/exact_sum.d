build/src/gbt/base/exact_sum.o: ../../src/gbt/base/exact_sum.c \
 ../../src/gbt/base/exact_sum.h ../../src/gbt/base/../math/bits.h \
 ../../src/gbt/base/../math/../base/hd.h
