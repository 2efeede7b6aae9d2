build/src/gbt/cpu/cpu_backend.o: ../../src/gbt/cpu/cpu_backend.c \
 ../../src/gbt/cpu/cpu.h ../../src/gbt/cpu/../backend/backend.h \
 ../../src/gbt/cpu/../backend/../base/ctx.h \
 ../../src/gbt/cpu/../backend/../base/mem.h \
 ../../src/gbt/cpu/../backend/../base/status.h \
 ../../src/gbt/cpu/../backend/../data/dataset.h \
 ../../src/gbt/cpu/../backend/../data/page.h \
 ../../src/gbt/cpu/../backend/../data/cuts.h \
 ../../src/gbt/cpu/../backend/../data/table.h \
 ../../src/gbt/cpu/../backend/../data/../base/ctx.h \
 ../../src/gbt/cpu/../backend/../data/../base/schema.h \
 ../../src/gbt/cpu/../backend/../data/../base/mem.h \
 ../../src/gbt/cpu/../backend/../math/loss.h \
 ../../src/gbt/cpu/../backend/../math/elementary.h \
 ../../src/gbt/cpu/../backend/../math/bits.h \
 ../../src/gbt/cpu/../backend/../math/../base/hd.h \
 ../../src/gbt/cpu/../backend/../params.h \
 ../../src/gbt/cpu/../backend/../base/status.h \
 ../../src/gbt/cpu/../backend/../params.def \
 ../../src/gbt/cpu/../backend/../tree/features.h \
 ../../src/gbt/cpu/../backend/../tree/../base/mem.h \
 ../../src/gbt/cpu/../backend/../tree/../params.h \
 ../../src/gbt/cpu/../backend/../tree/forest.h \
 ../../src/gbt/cpu/../backend/../tree/node.h \
 ../../src/gbt/cpu/../backend/../tree/../base/hd.h \
 ../../src/gbt/cpu/../base/lock.h ../../src/gbt/cpu/../tree/frontier.h \
 ../../src/gbt/cpu/../tree/../base/mem.h \
 ../../src/gbt/cpu/../tree/../params.h ../../src/gbt/cpu/../tree/split.h \
 ../../src/gbt/cpu/../tree/../math/fixed.h \
 ../../src/gbt/cpu/../tree/../math/bits.h \
 ../../src/gbt/cpu/../tree/../math/gain.h \
 ../../src/gbt/cpu/../tree/../math/../base/hd.h \
 ../../src/gbt/cpu/cpu_kernels.h ../../src/gbt/cpu/../base/ctx.h \
 ../../src/gbt/cpu/../base/rng.h ../../src/gbt/cpu/../base/hd.h \
 ../../src/gbt/cpu/../math/fixed.h ../../src/gbt/cpu/../math/gain.h \
 ../../src/gbt/cpu/../math/loss.h ../../src/gbt/cpu/cpu_hist_kernels.h \
 ../../src/gbt/cpu/../base/hd.h
