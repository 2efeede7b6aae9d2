build/src/gbt/params.o: ../../src/gbt/params.c ../../src/gbt/params.h \
 ../../src/gbt/base/status.h ../../src/gbt/params.def \
 ../../src/gbt/math/bits.h ../../src/gbt/math/../base/hd.h
