build/src/gbt/cpu/cpu_kernels.o: ../../src/gbt/cpu/cpu_kernels.c \
 ../../src/gbt/cpu/cpu_kernels.h ../../src/gbt/cpu/../base/ctx.h \
 ../../src/gbt/cpu/../base/mem.h ../../src/gbt/cpu/../base/status.h \
 ../../src/gbt/cpu/../base/rng.h ../../src/gbt/cpu/../base/hd.h \
 ../../src/gbt/cpu/../math/fixed.h ../../src/gbt/cpu/../math/bits.h \
 ../../src/gbt/cpu/../math/../base/hd.h ../../src/gbt/cpu/../math/gain.h \
 ../../src/gbt/cpu/../math/loss.h ../../src/gbt/cpu/../math/elementary.h \
 ../../src/gbt/cpu/cpu_kernels_body.h
