build/src/gbt/base/ctx.o: ../../src/gbt/base/ctx.c \
 ../../src/gbt/base/ctx.h ../../src/gbt/base/mem.h \
 ../../src/gbt/base/status.h ../../src/gbt/base/pool.h
