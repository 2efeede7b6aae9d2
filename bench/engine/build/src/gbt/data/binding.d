build/src/gbt/data/binding.o: ../../src/gbt/data/binding.c \
 ../../src/gbt/data/binding.h ../../src/gbt/data/column.h \
 ../../src/gbt/data/table.h ../../src/gbt/data/../base/ctx.h \
 ../../src/gbt/data/../base/mem.h ../../src/gbt/data/../base/status.h \
 ../../src/gbt/data/../base/schema.h ../../src/gbt/data/job.h
