build/src/gbt/data/table.o: ../../src/gbt/data/table.c \
 ../../src/gbt/data/table.h ../../src/gbt/data/../base/ctx.h \
 ../../src/gbt/data/../base/mem.h ../../src/gbt/data/../base/status.h \
 ../../src/gbt/data/../base/schema.h ../../src/gbt/data/job.h
