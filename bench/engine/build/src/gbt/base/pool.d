build/src/gbt/base/pool.o: ../../src/gbt/base/pool.c \
 ../../src/gbt/base/pool.h ../../src/gbt/base/ctx.h \
 ../../src/gbt/base/mem.h ../../src/gbt/base/status.h
