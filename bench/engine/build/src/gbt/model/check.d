build/src/gbt/model/check.o: ../../src/gbt/model/check.c \
 ../../src/gbt/model/check.h ../../src/gbt/model/../base/schema.h \
 ../../src/gbt/model/../base/mem.h ../../src/gbt/model/../base/status.h \
 ../../src/gbt/model/../tree/forest.h \
 ../../src/gbt/model/../tree/../base/mem.h \
 ../../src/gbt/model/../tree/node.h \
 ../../src/gbt/model/../tree/../base/hd.h
