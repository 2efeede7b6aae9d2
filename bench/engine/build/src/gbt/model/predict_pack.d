build/src/gbt/model/predict_pack.o: ../../src/gbt/model/predict_pack.c \
 ../../src/gbt/model/predict_job.h ../../src/gbt/model/predict.h \
 ../../src/gbt/model/../data/table.h \
 ../../src/gbt/model/../data/../base/ctx.h \
 ../../src/gbt/model/../data/../base/mem.h \
 ../../src/gbt/model/../data/../base/status.h \
 ../../src/gbt/model/../data/../base/schema.h \
 ../../src/gbt/model/../math/loss.h \
 ../../src/gbt/model/../math/elementary.h \
 ../../src/gbt/model/../math/bits.h \
 ../../src/gbt/model/../math/../base/hd.h \
 ../../src/gbt/model/../tree/forest.h \
 ../../src/gbt/model/../tree/../base/mem.h \
 ../../src/gbt/model/../tree/node.h \
 ../../src/gbt/model/../tree/../base/hd.h \
 ../../src/gbt/model/../base/rng.h ../../src/gbt/model/../base/hd.h \
 ../../src/gbt/model/../base/sort.h ../../src/gbt/model/../base/ctx.h
