"""The peers' part of predict-simd.R: models of the same shape, trained once, predict the same numbers by one thread."""

import os
import sys
import time

import numpy as np
import lightgbm
import xgboost

folder = sys.argv[1]
x = np.fromfile(os.path.join(folder, "x.bin")).reshape(-1, 30)
y = np.fromfile(os.path.join(folder, "y.bin"))
SHAPES = {"depth_8": (100, dict(max_depth=8)),
          "leaves_64": (200, dict(max_depth=0, max_leaves=64, grow_policy="lossguide"))}


def median(call):
    seconds = []
    for _ in range(7):
        begin = time.process_time()
        result = call()
        seconds.append(time.process_time() - begin)
    return sorted(seconds)[3], float(result.sum())


def trained(name, rounds, shape):
    file = os.path.join(folder, name)
    if not os.path.exists(file + ".ubj"):
        params = dict(eta=0.1, tree_method="hist", max_bin=255, nthread=2, **shape)
        xgboost.train(params, xgboost.DMatrix(x, y), rounds).save_model(file + ".ubj")
        leaves = shape.get("max_leaves", 2 ** shape["max_depth"])
        params = dict(objective="regression", learning_rate=0.1, num_leaves=leaves, max_depth=shape["max_depth"] or -1,
                      max_bin=255, num_threads=2, verbose=-1)
        lightgbm.train(params, lightgbm.Dataset(x, y), rounds).save_model(file + ".txt")
    booster = xgboost.Booster(model_file=file + ".ubj")
    booster.set_param(dict(nthread=1))
    return booster, lightgbm.Booster(model_file=file + ".txt")


for name, (rounds, shape) in SHAPES.items():
    first, second = trained(name, rounds, shape)
    print(name, "xgboost", *median(lambda: first.inplace_predict(x)))
    print(name, "lightgbm", *median(lambda: second.predict(x, num_threads=1)))
