"""Trains XGBoost or LightGBM on one set of bench/data.R and prints what it took, one `key value` per line.

    python bench/peers.py FOLDER --engine xgboost|lightgbm [--categorical codes|native] [--rounds 200] [--depth 6]
        [--bins 255] [--threads 2] [--poisson matched|default] [--scores FILE]

FOLDER is a set's folder (desc.json, train.f64, test.f64). Parameters are those that the comparison fixes: eta 0.1,
lambda 1, 255 bins, min_child_weight 1, depthwise, hist. --scores writes the raw scores of the test part as
little-endian doubles, one output after the other, so that one piece of code computes the metrics of all engines. Speed
and memory are the business of compare.py; the seconds here are rough.

Choices, none of them to a peer's harm:
  - ordered factors are numbers (ranks) for the peers, in both categorical variants
  - poisson: the offset is base_margin with the log of the mean rate added, because a base margin replaces XGBoost's
    estimated intercept and the engine under test starts from that rate too. `matched` sets max_delta_step = 0, which
    makes the hessian the true one; `default` leaves XGBoost's 0.7
"""

import argparse
import json
import os
import sys
import time

import numpy as np


def read_desc(folder):
    with open(os.path.join(folder, "desc.json"), encoding="utf-8") as file:
        return json.load(file)


def read_part(folder, desc, part):
    n, p = desc["n_" + part], len(desc["columns"])
    raw = np.fromfile(os.path.join(folder, part + ".f64"), dtype="<f8")
    x = raw[: n * p].reshape(p, n).T  # column-major, as in R
    y = raw[n * p : n * (p + 1)]
    offset = raw[n * (p + 1) : n * (p + 2)] if desc["offset"] else None
    return x, y, offset


def as_frame(x, desc):
    """pandas frame with unordered factors as categories; ordered ones stay numbers."""
    import pandas as pd

    columns = {}
    for j, column in enumerate(desc["columns"]):
        values = x[:, j]
        if column["kind"] == "factor":
            codes = np.where(np.isnan(values), 0, values).astype(np.int64) - 1
            values = pd.Categorical.from_codes(codes, categories=range(len(column["levels"])))
        columns[f"c{j}"] = values
    return pd.DataFrame(columns)


def xgboost_run(args, desc, train, test):
    import xgboost as xgb

    objective = {"binary": "binary:logistic", "regression": "reg:squarederror", "multiclass": "multi:softprob",
                 "poisson": "count:poisson"}[desc["task"]]
    params = {"objective": objective, "tree_method": "hist", "grow_policy": "depthwise", "max_depth": args.depth,
              "eta": 0.1, "lambda": 1.0, "alpha": 0.0, "gamma": 0.0, "min_child_weight": 1.0, "max_bin": args.bins,
              "nthread": args.threads, "verbosity": 1}
    if desc["task"] == "multiclass":
        params["num_class"] = len(desc["classes"])
    if desc["task"] == "poisson" and args.poisson == "matched":
        params["max_delta_step"] = 0.0
    native = args.categorical == "native"

    def margin(part):
        return None if part[2] is None else part[2] + np.log(train[1].sum() / np.exp(train[2]).sum())

    def data(part):
        x = as_frame(part[0], desc) if native else part[0]
        return xgb.DMatrix(x, part[1], base_margin=margin(part), enable_categorical=native, nthread=args.threads)

    begin = time.perf_counter()
    dtrain = data(train)
    built = time.perf_counter()
    booster = xgb.train(params, dtrain, num_boost_round=args.rounds)
    done = time.perf_counter()
    result = {"version": xgb.__version__, "convert_s": built - begin, "train_s": done - built,
              "model_bytes": len(booster.save_raw("ubj"))}

    def predict():
        return booster.predict(data(test), output_margin=True)

    return result, predict


def lightgbm_run(args, desc, train, test):
    import lightgbm as lgb

    objective = {"binary": "binary", "regression": "regression", "multiclass": "multiclass", "poisson": "poisson"}
    params = {"objective": objective[desc["task"]], "max_depth": args.depth, "num_leaves": 2**args.depth,
              "learning_rate": 0.1, "lambda_l2": 1.0, "min_sum_hessian_in_leaf": 1.0, "min_data_in_leaf": 1,
              "max_bin": args.bins, "feature_pre_filter": False, "num_threads": args.threads, "verbosity": -1}
    if desc["task"] == "multiclass":
        params["num_class"] = len(desc["classes"])
    categorical = [j for j, column in enumerate(desc["columns"]) if column["kind"] == "factor"]
    native = args.categorical == "native" and len(categorical) > 0

    def margin(part):
        return None if part[2] is None else part[2] + np.log(train[1].sum() / np.exp(train[2]).sum())

    begin = time.perf_counter()
    dtrain = lgb.Dataset(train[0], train[1], init_score=margin(train), params=params, free_raw_data=False,
                         categorical_feature=categorical if native else [])
    dtrain.construct()
    built = time.perf_counter()
    booster = lgb.train(params, dtrain, num_boost_round=args.rounds)
    done = time.perf_counter()
    result = {"version": lgb.__version__, "convert_s": built - begin, "train_s": done - built,
              "model_bytes": len(booster.model_to_string())}

    def predict():
        score = booster.predict(test[0], raw_score=True, num_threads=args.threads)
        return score if test[2] is None else score + margin(test)

    return result, predict


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--engine", choices=["xgboost", "lightgbm"], default="xgboost")
    parser.add_argument("--categorical", choices=["codes", "native"], default="codes")
    parser.add_argument("--poisson", choices=["matched", "default"], default="matched")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bins", type=int, default=255)
    parser.add_argument("--scores")
    args = parser.parse_args()

    desc = read_desc(args.folder)
    train = read_part(args.folder, desc, "train")
    test = read_part(args.folder, desc, "test")
    __import__(args.engine)  # loading the library is no part of what is timed
    if args.categorical == "native":
        __import__("pandas")

    result, predict = {"xgboost": xgboost_run, "lightgbm": lightgbm_run}[args.engine](args, desc, train, test)
    begin = time.perf_counter()
    score = np.asarray(predict(), dtype="<f8")
    result["predict_s"] = time.perf_counter() - begin
    if args.scores:
        score.T.tofile(args.scores) if score.ndim == 2 else score.tofile(args.scores)
    for key, value in result.items():
        sys.stdout.write(f"{key} {value}\n")


if __name__ == "__main__":
    main()
