build/src/gbt/boost/stopper.o: ../../src/gbt/boost/stopper.c \
 ../../src/gbt/boost/stopper.h ../../src/gbt/boost/../math/bits.h \
 ../../src/gbt/boost/../math/../base/hd.h
