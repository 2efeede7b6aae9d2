build/src/gbt/data/column.o: ../../src/gbt/data/column.c \
 ../../src/gbt/data/column.h ../../src/gbt/data/table.h \
 ../../src/gbt/data/../base/ctx.h ../../src/gbt/data/../base/mem.h \
 ../../src/gbt/data/../base/status.h ../../src/gbt/data/../base/schema.h
