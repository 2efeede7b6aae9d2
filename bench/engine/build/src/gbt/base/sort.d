build/src/gbt/base/sort.o: ../../src/gbt/base/sort.c \
 ../../src/gbt/base/sort.h ../../src/gbt/base/ctx.h \
 ../../src/gbt/base/mem.h ../../src/gbt/base/status.h
