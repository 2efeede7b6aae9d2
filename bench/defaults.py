"""Trains one peer on splits of a set of bench/defaults-sets.R, one line of stdout for each job as it ends.

    python bench/defaults.py FOLDER --engine xgboost|lightgbm|catboost --scores FOLDER [--rounds 2000] [--patience 50]
        [--threads 2] --jobs JOB ...

JOB is SPLIT:NAME:PARAMETERS, such as 1:own: or 2:slow:eta=0.05,max_depth=8; the parameters are the library's own, all
else is left to its defaults. Categories go in natively, ordered factors are ranks, training stops by the validation
part, the seed is the number of the split. The twin of bench/defaults-gbt.R, which says what is printed and written.

Poisson with an exposure: the offset is base margin (initial score, baseline) with the log of the mean rate added, since
it replaces the library's intercept.
"""

import argparse
import importlib
import os
import sys
import time

import numpy as np
import pandas as pd
from peers import read_desc, read_part

TRAIN, VALID, TEST = 0, 1, 2


def as_frame(x, desc, full):
    """Numbers stay doubles, unordered factors are categories. full: a missing level is a level of its own, since
    CatBoost takes no missing category."""
    columns = {}
    for j, column in enumerate(desc["columns"]):
        values = x[:, j]
        if column["kind"] == "factor":
            missing, levels = np.isnan(values), len(column["levels"])
            codes = np.where(missing, levels if full else -1, values - 1).astype(np.int32)
            values = pd.Categorical.from_codes(codes, categories=range(levels + (full and bool(missing.any()))))
        columns[f"c{j}"] = values
    return pd.DataFrame(columns)


class Data:
    """A set: all rows as a frame with categories; split() gives its three parts as (x, y, margin or None)."""

    def __init__(self, folder, alpha, full):
        self.folder, self.alpha = folder, alpha
        desc = read_desc(folder)
        self.task, self.n_classes = desc["task"], len(desc["classes"])
        self.categorical = [f"c{j}" for j, column in enumerate(desc["columns"]) if column["kind"] == "factor"]
        x, self.y, self.offset = read_part(folder, desc, "all")
        self.frame = as_frame(x, desc, full)

    def split(self, number):
        part = np.fromfile(os.path.join(self.folder, f"split{number}.part"), dtype=np.uint8)
        margin = self.offset
        if margin is not None:
            margin = margin + np.log(self.y[part == TRAIN].sum() / np.exp(margin[part == TRAIN]).sum())
        return [(self.frame[part == k].reset_index(drop=True), self.y[part == k],
                 None if margin is None else margin[part == k]) for k in (TRAIN, VALID, TEST)]


def rounds_of(log):
    return len(next(iter(log.values())))


# Each function trains and gives (facts, predict): predict(part) are raw scores, margin included.


def run_catboost(data, parts, given, args, seed):
    import catboost

    loss = {"binary": "Logloss", "regression": "RMSE", "poisson": "Poisson", "multiclass": "MultiClass",
            "quantile": f"Quantile:alpha={data.alpha}"}[data.task]
    params = {"loss_function": loss, "iterations": args.rounds, "thread_count": args.threads, "random_seed": seed,
              "verbose": False, "allow_writing_files": False, **given}

    def pool(part):
        x, y, margin = part
        return catboost.Pool(x, y, baseline=margin, cat_features=data.categorical, thread_count=args.threads)

    begin = time.perf_counter()
    train, valid = pool(parts[TRAIN]), pool(parts[VALID])
    built = time.perf_counter()
    model = catboost.CatBoost(params)
    model.fit(train, eval_set=valid, early_stopping_rounds=args.patience, use_best_model=True)
    done = time.perf_counter()
    log = model.get_evals_result()["validation"]

    def predict(part):
        score = model.predict(part[0], prediction_type="RawFormulaVal", thread_count=args.threads)
        return score if part[2] is None else score + part[2]

    return {"version": catboost.__version__, "rounds": model.tree_count_, "trained": rounds_of(log),
            "convert_s": built - begin, "train_s": done - built}, predict


def run_lightgbm(data, parts, given, args, seed):
    import lightgbm as lgb

    params = {"objective": data.task, "num_threads": args.threads, "seed": seed, "verbosity": -1, **given}
    if data.task == "multiclass":
        params["num_class"] = data.n_classes
    if data.task == "quantile":
        params["alpha"] = data.alpha

    def dataset(part, reference=None):
        x, y, margin = part
        return lgb.Dataset(x, y, init_score=margin, params=params, reference=reference,
                           categorical_feature=data.categorical).construct()

    begin = time.perf_counter()
    train = dataset(parts[TRAIN])
    valid = dataset(parts[VALID], train)
    built = time.perf_counter()
    log = {}
    model = lgb.train(params, train, args.rounds, valid_sets=[valid], callbacks=[
        lgb.early_stopping(args.patience, verbose=False), lgb.record_evaluation(log)])
    done = time.perf_counter()

    def predict(part):
        score = model.predict(part[0], raw_score=True, num_threads=args.threads)
        return score if part[2] is None else score + part[2]

    return {"version": lgb.__version__, "rounds": model.best_iteration, "trained": rounds_of(log["valid_0"]),
            "convert_s": built - begin, "train_s": done - built}, predict


def run_xgboost(data, parts, given, args, seed):
    import xgboost as xgb

    objective = {"binary": "binary:logistic", "regression": "reg:squarederror", "poisson": "count:poisson",
                 "multiclass": "multi:softprob", "quantile": "reg:quantileerror"}[data.task]
    params = {"objective": objective, "nthread": args.threads, "seed": seed, "verbosity": 1, **given}
    if data.task == "multiclass":
        params["num_class"] = data.n_classes
    if data.task == "quantile":
        params["quantile_alpha"] = data.alpha

    def matrix(part):
        x, y, margin = part
        return xgb.DMatrix(x, y, base_margin=margin, enable_categorical=True, nthread=args.threads)

    begin = time.perf_counter()
    train, valid = matrix(parts[TRAIN]), matrix(parts[VALID])
    built = time.perf_counter()
    model = xgb.train(params, train, args.rounds, evals=[(valid, "valid")], early_stopping_rounds=args.patience,
                      verbose_eval=False)
    done = time.perf_counter()
    best = model[: model.best_iteration + 1]

    def predict(part):
        return best.predict(matrix(part), output_margin=True)

    return {"version": xgb.__version__, "rounds": model.best_iteration + 1, "trained": model.num_boosted_rounds(),
            "convert_s": built - begin, "train_s": done - built}, predict


ENGINES = {"catboost": run_catboost, "lightgbm": run_lightgbm, "xgboost": run_xgboost}


def value_of(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text, text)


def run_one(data, job, args):
    split, name, text = job.split(":", 2)
    given = {key: value_of(value) for key, value in (pair.split("=", 1) for pair in text.split(",") if pair)}
    parts = data.split(int(split))
    processor = time.process_time()
    facts, predict = ENGINES[args.engine](data, parts, given, args, int(split))
    facts["cpu_s"] = time.process_time() - processor
    begin = time.perf_counter()
    test = predict(parts[TEST])
    facts["predict_s"] = time.perf_counter() - begin
    scores = np.concatenate([np.asarray(test, "<f8"), np.asarray(predict(parts[VALID]), "<f8")])
    scores.T.tofile(os.path.join(args.scores, f"{split}-{name}.f64"))
    return " ".join(f"{key} {value}" for key, value in facts.items())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--engine", choices=list(ENGINES), required=True)
    parser.add_argument("--scores", required=True)
    parser.add_argument("--alpha", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--patience", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--jobs", nargs="+", required=True)
    args = parser.parse_args()

    importlib.import_module(args.engine)  # loading the library is no part of what is timed
    data = Data(args.folder, args.alpha, full=args.engine == "catboost")
    for job in args.jobs:
        label = " ".join(job.split(":", 2)[:2])
        try:
            line = f"run {label} {run_one(data, job, args)}"
        except Exception as error:  # whatever the library says: the other jobs go on
            line = f"fail {label} {' '.join(str(error).split())}"
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
