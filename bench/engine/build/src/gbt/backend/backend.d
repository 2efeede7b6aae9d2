build/src/gbt/backend/backend.o: ../../src/gbt/backend/backend.c \
 ../../src/gbt/backend/backend.h ../../src/gbt/backend/../base/ctx.h \
 ../../src/gbt/backend/../base/mem.h \
 ../../src/gbt/backend/../base/status.h \
 ../../src/gbt/backend/../data/dataset.h \
 ../../src/gbt/backend/../data/page.h \
 ../../src/gbt/backend/../data/cuts.h \
 ../../src/gbt/backend/../data/table.h \
 ../../src/gbt/backend/../data/../base/ctx.h \
 ../../src/gbt/backend/../data/../base/schema.h \
 ../../src/gbt/backend/../data/../base/mem.h \
 ../../src/gbt/backend/../math/loss.h \
 ../../src/gbt/backend/../math/elementary.h \
 ../../src/gbt/backend/../math/bits.h \
 ../../src/gbt/backend/../math/../base/hd.h \
 ../../src/gbt/backend/../params.h ../../src/gbt/backend/../base/status.h \
 ../../src/gbt/backend/../params.def \
 ../../src/gbt/backend/../tree/features.h \
 ../../src/gbt/backend/../tree/../base/mem.h \
 ../../src/gbt/backend/../tree/../params.h \
 ../../src/gbt/backend/../tree/forest.h \
 ../../src/gbt/backend/../tree/node.h \
 ../../src/gbt/backend/../tree/../base/hd.h \
 ../../src/gbt/backend/../cpu/cpu.h \
 ../../src/gbt/backend/../cpu/../backend/backend.h \
 ../../src/gbt/backend/../cpu/../base/lock.h \
 ../../src/gbt/backend/../cpu/../tree/frontier.h \
 ../../src/gbt/backend/../cpu/../tree/../base/mem.h \
 ../../src/gbt/backend/../cpu/../tree/../params.h \
 ../../src/gbt/backend/../cpu/../tree/split.h \
 ../../src/gbt/backend/../cpu/../tree/../math/fixed.h \
 ../../src/gbt/backend/../cpu/../tree/../math/bits.h \
 ../../src/gbt/backend/../cpu/../tree/../math/gain.h \
 ../../src/gbt/backend/../cpu/../tree/../math/../base/hd.h \
 ../../src/gbt/backend/../cpu/cpu_kernels.h \
 ../../src/gbt/backend/../cpu/../base/ctx.h \
 ../../src/gbt/backend/../cpu/../base/rng.h \
 ../../src/gbt/backend/../cpu/../base/hd.h \
 ../../src/gbt/backend/../cpu/../math/fixed.h \
 ../../src/gbt/backend/../cpu/../math/gain.h \
 ../../src/gbt/backend/../cpu/../math/loss.h
