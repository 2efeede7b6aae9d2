build/src/gbt/base/schema.o: ../../src/gbt/base/schema.c \
 ../../src/gbt/base/schema.h ../../src/gbt/base/mem.h \
 ../../src/gbt/base/status.h ../../src/gbt/base/rng.h \
 ../../src/gbt/base/hd.h
