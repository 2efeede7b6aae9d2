build/src/gbt/data/cuts_numeric.o: ../../src/gbt/data/cuts_numeric.c \
 ../../src/gbt/data/../base/sort.h ../../src/gbt/data/../base/ctx.h \
 ../../src/gbt/data/../base/mem.h ../../src/gbt/data/../base/status.h \
 ../../src/gbt/data/../math/bits.h \
 ../../src/gbt/data/../math/../base/hd.h ../../src/gbt/data/cuts_impl.h \
 ../../src/gbt/data/column.h ../../src/gbt/data/table.h \
 ../../src/gbt/data/../base/ctx.h ../../src/gbt/data/../base/schema.h \
 ../../src/gbt/data/cuts.h ../../src/gbt/data/job.h
