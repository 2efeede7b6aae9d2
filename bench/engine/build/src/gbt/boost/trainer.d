build/src/gbt/boost/trainer.o: ../../src/gbt/boost/trainer.c \
 ../../src/gbt/boost/trainer.h ../../src/gbt/boost/../data/dataset.h \
 ../../src/gbt/boost/../data/page.h ../../src/gbt/boost/../data/cuts.h \
 ../../src/gbt/boost/../data/table.h \
 ../../src/gbt/boost/../data/../base/ctx.h \
 ../../src/gbt/boost/../data/../base/mem.h \
 ../../src/gbt/boost/../data/../base/status.h \
 ../../src/gbt/boost/../data/../base/schema.h \
 ../../src/gbt/boost/../math/loss.h \
 ../../src/gbt/boost/../math/elementary.h \
 ../../src/gbt/boost/../math/bits.h \
 ../../src/gbt/boost/../math/../base/hd.h ../../src/gbt/boost/../params.h \
 ../../src/gbt/boost/../base/status.h ../../src/gbt/boost/../params.def \
 ../../src/gbt/boost/../tree/forest.h \
 ../../src/gbt/boost/../tree/../base/mem.h \
 ../../src/gbt/boost/../tree/node.h \
 ../../src/gbt/boost/../tree/../base/hd.h ../../src/gbt/boost/metric.h \
 ../../src/gbt/boost/../base/ctx.h \
 ../../src/gbt/boost/../backend/backend.h \
 ../../src/gbt/boost/../backend/../base/ctx.h \
 ../../src/gbt/boost/../backend/../data/dataset.h \
 ../../src/gbt/boost/../backend/../math/loss.h \
 ../../src/gbt/boost/../backend/../params.h \
 ../../src/gbt/boost/../backend/../tree/features.h \
 ../../src/gbt/boost/../backend/../tree/../base/mem.h \
 ../../src/gbt/boost/../backend/../tree/../params.h \
 ../../src/gbt/boost/../backend/../tree/forest.h \
 ../../src/gbt/boost/grow.h ../../src/gbt/boost/objective.h \
 ../../src/gbt/boost/stopper.h
