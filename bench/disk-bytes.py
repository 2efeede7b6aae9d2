"""Bytes a row of XGBoost's external memory and of its ELLPACK pages, for disk-bytes.R.

    python3 bench/disk-bytes.py ROWS COLUMNS FILE

FILE: doubles, column by column (levels of factors as their codes, missing values NaN). Prints, separated by commas:
the version, bytes a row of the files in the cache of external memory on the CPU, and bytes a row of ELLPACK with
indices that tell all bins of all columns apart (Mitchell and others 2018, section 2.2: ceil(log2(bins + 1)) bits a
value)."""
import math
import os
import sys
import tempfile

import numpy as np
import xgboost as xgb

rows, columns, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
data = np.fromfile(file, dtype=np.float64).reshape(columns, rows).T
label = np.arange(rows) % 2

with tempfile.TemporaryDirectory() as folder:

    class Chunks(xgb.DataIter):
        def __init__(self):
            self.at = 0
            super().__init__(cache_prefix=os.path.join(folder, "x"))

        def next(self, input_data):
            if self.at >= 4:
                return False
            part = slice(self.at * rows // 4, (self.at + 1) * rows // 4)
            input_data(data=data[part], label=label[part])
            self.at += 1
            return True

        def reset(self):
            self.at = 0

    made = xgb.ExtMemQuantileDMatrix(Chunks(), max_bin=256, nthread=2)
    cache = sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder))
    bins = int(made.get_quantile_cut()[0][-1])
    print("%s,%.1f,%.1f" % (xgb.__version__, cache / rows, columns * math.ceil(math.log2(bins + 1)) / 8))
