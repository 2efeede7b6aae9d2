"""XGBoost's survival objectives on the files that run.R writes: python3 xgb.py FOLDER OBJECTIVE"""
import sys

import numpy
import xgboost

folder, objective = sys.argv[1:]
x, new, y = (numpy.loadtxt(f"{folder}/{name}.csv", delimiter=",", ndmin=2) for name in ("train", "test", "y"))
params = {"objective": objective, "eta": 0.1, "max_depth": 6, "nthread": 2, "seed": 1}
if objective == "survival:aft":
    params |= {"aft_loss_distribution": "normal", "aft_loss_distribution_scale": 1.0, "eval_metric": "aft-nloglik"}


def data(rows):
    d = xgboost.DMatrix(x[rows])
    time, event = y[rows, 0], y[rows, 1]
    if objective == "survival:aft":
        d.set_float_info("label_lower_bound", time)
        d.set_float_info("label_upper_bound", numpy.where(event == 1, time, numpy.inf))
    else:
        d.set_label(numpy.where(event == 1, time, -time))
    return d


order = numpy.random.RandomState(1).permutation(len(x))
fifth = len(x) // 5
first = xgboost.train(params, data(order[fifth:]), 2000, evals=[(data(order[:fifth]), "valid")],
                      early_stopping_rounds=50, verbose_eval=False)
model = xgboost.train(params, data(order), first.best_iteration + 1)
for rows, name in ((x, "train"), (new, "test")):
    numpy.savetxt(f"{folder}/{name}.out", model.predict(xgboost.DMatrix(rows), output_margin=True))
