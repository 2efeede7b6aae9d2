"""Chunks of external.sh, and XGBoost's external memory on them."""
import os
import resource
import sys
import time

import numpy as np

ROWS, ROUNDS = 200000, 10


def chunk_file(folder, i, columns):
    return os.path.join(folder, "x-%d-%03d.bin" % (columns, i))


def make(folder, chunks, columns):
    for i in range(chunks):
        path = chunk_file(folder, i, columns)
        if os.path.exists(path):
            continue
        rng = np.random.default_rng(i)
        x = rng.standard_normal((columns, ROWS))
        x[5] = np.floor(x[5] * 3)
        x[6, rng.random(ROWS) < 0.2] = np.nan
        score = x[0] * x[1] + np.sin(3 * x[2]) + x[3] + 0.5 * x[5] - np.isnan(x[6])
        y = (score + rng.standard_normal(ROWS) > 0).astype(np.float64)
        with open(path + ".part", "wb") as f:  # column by column, the response last
            x.tofile(f)
            y.tofile(f)
        os.rename(path + ".part", path)


def read(folder, i, columns):
    data = np.fromfile(chunk_file(folder, i, columns), dtype=np.float64).reshape(columns + 1, ROWS)
    return data[:columns].T, data[columns]


def train(folder, chunks, columns):
    import xgboost as xgb

    class Chunks(xgb.DataIter):
        def __init__(self):
            self.at = 0
            super().__init__(cache_prefix=os.path.join(folder, "cache", "xgb"))

        def next(self, input_data):
            if self.at == chunks - 1:
                return False
            x, y = read(folder, self.at, columns)
            input_data(data=x, label=y)
            self.at += 1
            return True

        def reset(self):
            self.at = 0

    t = time.time()
    data = xgb.ExtMemQuantileDMatrix(Chunks(), max_bin=256, nthread=2)
    made = time.time() - t
    parameters = {"objective": "binary:logistic", "tree_method": "hist", "max_depth": 6, "eta": 0.3, "nthread": 2,
                  "max_bin": 256}
    t = time.time()
    cpu = time.process_time()
    model = xgb.train(parameters, data, ROUNDS)
    seconds, cpu = time.time() - t, time.process_time() - cpu
    disk = sum(os.path.getsize(os.path.join(folder, "cache", f)) for f in os.listdir(os.path.join(folder, "cache")))
    x, y = read(folder, chunks - 1, columns)
    p = np.clip(model.predict(xgb.DMatrix(x)).astype(np.float64), 1e-15, 1 - 1e-15)
    loss = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("XGBoost %s,%g,%g,%g,%g,%g,%g" % (xgb.__version__, made, seconds, cpu, peak, disk / 2**20, loss))


if __name__ == "__main__":
    {"make": make, "train": train}[sys.argv[1]](sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
