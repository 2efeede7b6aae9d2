"""Models of XGBoost and LightGBM, and the time of their own predictors: see import-predict.R.

  import-predict.py FOLDER    writes FOLDER/NAME.ubj or NAME.txt, rows.bin, scores_NAME.bin and python.csv

Processor time of one thread, medians. XGBoost: inplace_predict() of float32 and of double rows; LightGBM: predict() of
double rows. Both give raw scores.
"""
import csv
import sys
import time

import lightgbm
import numpy
import xgboost

N, TRAINED, COLUMNS, ROUNDS = 100000, 20000, 30, 200


def median_time(call, times):
    call()
    out = []
    for _ in range(times):
        start = time.process_time()
        call()
        out.append(time.process_time() - start)
    return float(numpy.median(out))


def main():
    folder = sys.argv[1]
    rng = numpy.random.default_rng(1)
    x = rng.normal(size=(N, COLUMNS)).astype("float32").astype("float64")
    x[rng.random(x.shape) < 0.05] = numpy.nan
    y = numpy.nan_to_num(x[:, 0] + x[:, 1] * x[:, 2] + numpy.sin(3 * x[:, 3])) + rng.normal(size=N)
    x.T.tofile(folder + "/rows.bin")
    single = x[:1].copy()
    x32, single32 = x.astype("float32"), single.astype("float32")
    rows = []
    for depth in (6,):
        data = xgboost.DMatrix(x[:TRAINED], y[:TRAINED])
        model = xgboost.train({"max_depth": depth, "eta": 0.1, "nthread": 2}, data, ROUNDS)
        model.set_param({"nthread": 1})
        name = f"xgboost_{depth}"
        model.save_model(f"{folder}/{name}.ubj")
        model.inplace_predict(x32, predict_type="margin").astype("float64").tofile(f"{folder}/scores_{name}.bin")
        many = min(median_time(lambda: model.inplace_predict(t, predict_type="margin"), 7) for t in (x32, x))
        one = min(median_time(lambda: [model.inplace_predict(t, predict_type="margin") for _ in range(100)], 7)
                  for t in (single32, single)) / 100
        rows.append((name, "ubj", many, one))
        print(rows[-1], flush=True)
    for leaves in (31,):
        settings = {"objective": "regression", "num_leaves": leaves, "learning_rate": 0.1, "num_threads": 2,
                    "verbosity": -1}
        model = lightgbm.train(settings, lightgbm.Dataset(x[:TRAINED], y[:TRAINED]), ROUNDS)
        name = f"lightgbm_{leaves}"
        model.save_model(f"{folder}/{name}.txt")
        model = lightgbm.Booster(model_file=f"{folder}/{name}.txt")
        model.predict(x, raw_score=True, num_threads=1).tofile(f"{folder}/scores_{name}.bin")
        many = median_time(lambda: model.predict(x, raw_score=True, num_threads=1), 7)
        one = median_time(lambda: [model.predict(single, raw_score=True, num_threads=1) for _ in range(100)], 7) / 100
        rows.append((name, "txt", many, one))
        print(rows[-1], flush=True)
    with open(folder + "/python.csv", "w", newline="") as out:
        csv.writer(out).writerows([("model", "end", "many", "one")] + rows)


main()
