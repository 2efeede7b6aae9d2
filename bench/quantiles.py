"""Nine quantiles by LightGBM, a model for each: see bench/quantiles.R. Prints the processor's seconds of training.

quantiles.py TRAIN STOPS TEST OUT
"""

import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
import lightgbm
import numpy as np

train, stops, test, out = sys.argv[1:]


def read(file):
    all_of = np.genfromtxt(file, delimiter=",", skip_header=1)
    return all_of[:, 1:], all_of[:, 0]


x, y = read(train)
vx, vy = read(stops)
tx, _ = read(test)
begin = time.process_time()
models = []
for k in range(1, 10):
    m = lightgbm.LGBMRegressor(objective="quantile", alpha=k / 10, n_estimators=2000, n_jobs=1, verbosity=-1)
    m.fit(x, y, eval_set=[(vx, vy)], callbacks=[lightgbm.early_stopping(100, verbose=False)])
    models.append(m)
seconds = time.process_time() - begin
np.savetxt(out, np.column_stack([m.predict(tx) for m in models]), delimiter=",",
           header=",".join("q%d" % k for k in range(1, 10)), comments="")
print(seconds)
