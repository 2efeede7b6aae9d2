"""Trains one peer on one split of a set of bench/categorical-sets.R and prints what it took, one `key value` per line.

    python bench/categorical.py FOLDER SPLIT --engine catboost-own|catboost|lightgbm|xgboost --scores FILE
        [--rounds 1000] [--patience 50] [--threads 2]

Categories go in natively, early stopping watches the validation part, and the seed is the number of the split.
`catboost-own` leaves all else to CatBoost. The others: learning rate 0.05, depth 6, lambda 1, 255 bins, a least hessian
of 1 and one row a leaf where the library has it; no sampling. What is done with categories is each library's own choice
of parameters. --scores writes the raw scores of the test part as little-endian doubles, offset included, so that one
piece of code computes the metrics of all engines. The twin of bench/categorical-gbt.R.

Poisson: the offset is base margin (initial score, baseline) with the log of the mean rate added, since it replaces the
library's intercept; the hessian is the true one (max_delta_step 0).
"""

import argparse
import os
import sys
import tempfile
import time

import numpy as np
from peers import read_desc, read_part
from worker import as_frame

TRAIN, VALID, TEST = 0, 1, 2


class Split:
    """The parts of a split: x a pandas frame with categories, y, margin (None without an offset)."""

    def __init__(self, folder, split, full):
        desc = read_desc(folder)
        self.task = desc["task"]
        self.categorical = [column["name"] for column in desc["columns"] if column["kind"] == "factor"]
        x, y, offset = read_part(folder, desc, "all")
        part = np.fromfile(os.path.join(folder, f"split{split}.part"), dtype=np.uint8)
        frame = as_frame(list(x.T), desc, full)
        if offset is not None:
            offset = offset + np.log(y[part == TRAIN].sum() / np.exp(offset[part == TRAIN]).sum())
        self.parts = []
        for k in (TRAIN, VALID, TEST):
            rows = part == k
            margin = None if offset is None else offset[rows]
            self.parts.append((frame[rows].reset_index(drop=True), y[rows], margin))


def size_of(save):
    """Bytes of the file that save(path) writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ubj")
        save(path)
        return os.path.getsize(path)


def run_catboost(split, args):
    import catboost

    params = {"loss_function": {"binary": "Logloss", "poisson": "Poisson"}[split.task], "iterations": args.rounds,
              "thread_count": args.threads, "random_seed": args.split, "verbose": False, "allow_writing_files": False}
    if args.engine == "catboost":
        params.update(learning_rate=0.05, depth=6, l2_leaf_reg=1.0, border_count=254, boosting_type="Plain",
                      bootstrap_type="No", random_strength=0.0, leaf_estimation_iterations=1,
                      boost_from_average=split.parts[TRAIN][2] is None)

    def data(part):
        x, y, margin = part
        return catboost.Pool(x, y, baseline=margin, cat_features=split.categorical, thread_count=args.threads)

    begin = time.perf_counter()
    train, valid = data(split.parts[TRAIN]), data(split.parts[VALID])
    built = time.perf_counter()
    model = catboost.CatBoost(params)
    model.fit(train, eval_set=valid, early_stopping_rounds=args.patience, use_best_model=True)
    done = time.perf_counter()

    def predict():
        x, _, margin = split.parts[TEST]
        score = model.predict(x, prediction_type="RawFormulaVal", thread_count=args.threads)
        return score if margin is None else score + margin

    return {"version": catboost.__version__, "convert_s": built - begin, "train_s": done - built,
            "rounds": model.tree_count_, "eta": model.get_all_params()["learning_rate"],
            "model_bytes": size_of(model.save_model)}, predict


def run_lightgbm(split, args):
    import lightgbm as lgb

    params = {"objective": split.task, "metric": {"binary": "binary_logloss", "poisson": "poisson"}[split.task],
              "learning_rate": 0.05, "max_depth": 6, "num_leaves": 64, "lambda_l2": 1.0, "min_sum_hessian_in_leaf": 1.0,
              "min_data_in_leaf": 1, "max_bin": 255, "feature_pre_filter": False, "num_threads": args.threads,
              "seed": args.split, "verbosity": -1}
    if split.task == "poisson":
        params["poisson_max_delta_step"] = 1e-10  # 0 is refused

    def data(part, reference=None):
        x, y, margin = part
        return lgb.Dataset(x, y, init_score=margin, params=params, reference=reference,
                           categorical_feature=split.categorical).construct()

    begin = time.perf_counter()
    train = data(split.parts[TRAIN])
    valid = data(split.parts[VALID], train)
    built = time.perf_counter()
    model = lgb.train(params, train, args.rounds, valid_sets=[valid],
                      callbacks=[lgb.early_stopping(args.patience, verbose=False)])
    done = time.perf_counter()

    def predict():
        x, _, margin = split.parts[TEST]
        score = model.predict(x, raw_score=True, num_threads=args.threads)
        return score if margin is None else score + margin

    return {"version": lgb.__version__, "convert_s": built - begin, "train_s": done - built,
            "rounds": model.best_iteration, "eta": 0.05, "model_bytes": size_of(model.save_model)}, predict


def run_xgboost(split, args):
    import xgboost as xgb

    params = {"objective": {"binary": "binary:logistic", "poisson": "count:poisson"}[split.task],
              "eval_metric": {"binary": "logloss", "poisson": "poisson-nloglik"}[split.task], "tree_method": "hist",
              "grow_policy": "depthwise", "max_depth": 6, "eta": 0.05, "lambda": 1.0, "min_child_weight": 1.0,
              "max_bin": 255, "nthread": args.threads, "seed": args.split, "verbosity": 1}
    if split.task == "poisson":
        params["max_delta_step"] = 0.0

    def data(part):
        x, y, margin = part
        return xgb.DMatrix(x, y, base_margin=margin, enable_categorical=True, nthread=args.threads)

    begin = time.perf_counter()
    train, valid = data(split.parts[TRAIN]), data(split.parts[VALID])
    built = time.perf_counter()
    model = xgb.train(params, train, args.rounds, evals=[(valid, "valid")], early_stopping_rounds=args.patience,
                      verbose_eval=False)
    done = time.perf_counter()
    best = model[: model.best_iteration + 1]

    def predict():
        return best.predict(data(split.parts[TEST]), output_margin=True)

    return {"version": xgb.__version__, "convert_s": built - begin, "train_s": done - built,
            "rounds": model.best_iteration + 1, "eta": 0.05, "model_bytes": size_of(best.save_model)}, predict


ENGINES = {"catboost-own": run_catboost, "catboost": run_catboost, "lightgbm": run_lightgbm, "xgboost": run_xgboost}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("split", type=int)
    parser.add_argument("--engine", choices=list(ENGINES), required=True)
    parser.add_argument("--scores", required=True)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--patience", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()

    __import__(args.engine.split("-")[0])  # loading the library is no part of what is timed
    # CatBoost takes no missing category: there a missing value is a level of its own
    split = Split(args.folder, args.split, full=args.engine.startswith("catboost"))
    result, predict = ENGINES[args.engine](split, args)
    begin = time.perf_counter()
    score = np.asarray(predict(), dtype="<f8")
    result["predict_s"] = time.perf_counter() - begin
    score.tofile(args.scores)
    for key, value in result.items():
        sys.stdout.write(f"{key} {value}\n")


if __name__ == "__main__":
    main()
