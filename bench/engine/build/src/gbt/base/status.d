build/src/gbt/base/status.o: ../../src/gbt/base/status.c \
 ../../src/gbt/base/status.h
