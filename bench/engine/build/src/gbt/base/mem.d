build/src/gbt/base/mem.o: ../../src/gbt/base/mem.c \
 ../../src/gbt/base/mem.h ../../src/gbt/base/status.h
