build/src/gbt/data/job.o: ../../src/gbt/data/job.c \
 ../../src/gbt/data/job.h ../../src/gbt/data/../base/ctx.h \
 ../../src/gbt/data/../base/mem.h ../../src/gbt/data/../base/status.h
