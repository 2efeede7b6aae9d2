build/src/gbt/tree/forest.o: ../../src/gbt/tree/forest.c \
 ../../src/gbt/tree/forest.h ../../src/gbt/tree/../base/mem.h \
 ../../src/gbt/tree/../base/status.h ../../src/gbt/tree/node.h \
 ../../src/gbt/tree/../base/hd.h
