build/src/gbt/model/write.o: ../../src/gbt/model/write.c \
 ../../src/gbt/model/check.h ../../src/gbt/model/../base/schema.h \
 ../../src/gbt/model/../base/mem.h ../../src/gbt/model/../base/status.h \
 ../../src/gbt/model/../tree/forest.h \
 ../../src/gbt/model/../tree/../base/mem.h \
 ../../src/gbt/model/../tree/node.h \
 ../../src/gbt/model/../tree/../base/hd.h ../../src/gbt/model/format.h \
 ../../src/gbt/model/../base/rng.h ../../src/gbt/model/../base/hd.h \
 ../../src/gbt/model/model.h ../../src/gbt/model/../base/ctx.h
