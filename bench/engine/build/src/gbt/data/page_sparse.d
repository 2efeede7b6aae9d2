build/src/gbt/data/page_sparse.o: ../../src/gbt/data/page_sparse.c \
 ../../src/gbt/data/page_impl.h ../../src/gbt/data/binding.h \
 ../../src/gbt/data/column.h ../../src/gbt/data/table.h \
 ../../src/gbt/data/../base/ctx.h ../../src/gbt/data/../base/mem.h \
 ../../src/gbt/data/../base/status.h ../../src/gbt/data/../base/schema.h \
 ../../src/gbt/data/job.h ../../src/gbt/data/page.h \
 ../../src/gbt/data/cuts.h
