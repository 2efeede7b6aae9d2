build/engine.o: engine.c ../../src/gbt/gbt.h ../../src/gbt/base/ctx.h \
 ../../src/gbt/base/mem.h ../../src/gbt/base/status.h \
 ../../src/gbt/base/rng.h ../../src/gbt/base/hd.h \
 ../../src/gbt/base/schema.h ../../src/gbt/base/status.h \
 ../../src/gbt/boost/metric.h ../../src/gbt/boost/../base/ctx.h \
 ../../src/gbt/boost/../math/loss.h \
 ../../src/gbt/boost/../math/elementary.h \
 ../../src/gbt/boost/../math/bits.h \
 ../../src/gbt/boost/../math/../base/hd.h ../../src/gbt/boost/stopper.h \
 ../../src/gbt/boost/trainer.h ../../src/gbt/boost/../data/dataset.h \
 ../../src/gbt/boost/../data/page.h ../../src/gbt/boost/../data/cuts.h \
 ../../src/gbt/boost/../data/table.h \
 ../../src/gbt/boost/../data/../base/ctx.h \
 ../../src/gbt/boost/../data/../base/schema.h \
 ../../src/gbt/boost/../params.h ../../src/gbt/boost/../base/status.h \
 ../../src/gbt/boost/../params.def ../../src/gbt/boost/../tree/forest.h \
 ../../src/gbt/boost/../tree/../base/mem.h \
 ../../src/gbt/boost/../tree/node.h \
 ../../src/gbt/boost/../tree/../base/hd.h ../../src/gbt/boost/metric.h \
 ../../src/gbt/data/cuts.h ../../src/gbt/data/dataset.h \
 ../../src/gbt/data/table.h ../../src/gbt/model/model.h \
 ../../src/gbt/model/../base/ctx.h ../../src/gbt/model/../base/schema.h \
 ../../src/gbt/model/../tree/forest.h ../../src/gbt/model/predict.h \
 ../../src/gbt/model/../data/table.h ../../src/gbt/model/../math/loss.h \
 ../../src/gbt/params.h ../../src/gbt/tree/forest.h
