"""The peers' side of bench/categorical.R: CatBoost, LightGBM and XGBoost with their own treatment of categories.

    python bench/categorical.py FOLDER [--sets a,b] [--engines catboost,lightgbm,...]

Reads FOLDER/SET-SPLIT.csv, which categorical.R has written, and appends a line to FOLDER/runs.csv for every run that is
not there. Categories are handed over as each package wants them: texts to CatBoost, pandas categories to LightGBM and
XGBoost, whose levels are those of training and validation rows (levels that only test rows have are missing values).
"""

import argparse
import csv
import glob
import os
import tempfile
import time

import numpy as np
import pandas as pd

ROUNDS, STOP, THREADS = 1000, 50, 2
FIELDS = ["set", "split", "engine", "loss", "auc", "seconds", "rounds", "bytes"]


def loss_of(task, y, score):
    if task == "poisson":
        mean = np.exp(score)
        with np.errstate(divide="ignore", invalid="ignore"):
            term = np.where(y > 0, y * np.log(y / mean), 0.0)
        return 2 * np.mean(term - y + mean)
    return np.mean(np.log1p(np.exp(-np.abs(score))) + np.maximum(score, 0) - y * score)


def auc_of(task, y, score):
    if task == "poisson":
        return None
    rank = pd.Series(score).rank().to_numpy()
    n1 = int(np.sum(y == 1))
    return (np.sum(rank[y == 1]) - n1 * (n1 + 1) / 2) / (n1 * (len(y) - n1))


def read_set(path):
    table = pd.read_csv(path, keep_default_na=False, na_values=[""], low_memory=False)
    x = table[[c for c in table.columns if c[:2] in ("c_", "n_")]].copy()
    categories = [c for c in x.columns if c.startswith("c_")]
    for name in categories:
        x[name] = x[name].astype(object).where(x[name].notna(), None)
        x[name] = x[name].map(lambda v: v if v is None or isinstance(v, str) else format(v, "g"))
    for name in x.columns.difference(categories):
        x[name] = pd.to_numeric(x[name])
    y, exposure = table["y"].to_numpy(float), table["exposure"].to_numpy(float)
    task = "poisson" if np.any(exposure != 1) else "binary"
    return x, categories, y, exposure, table["part"].to_numpy(), task


def as_categories(x, categories, fitted):
    """Levels of the rows `fitted` alone; others become missing."""
    x = x.copy()
    for name in categories:
        levels = sorted({v for v in x.loc[fitted, name] if v is not None})
        x[name] = pd.Categorical(x[name], categories=levels)
    return x


def run_catboost(data, seed, own):
    from catboost import CatBoost, Pool

    x, categories, y, exposure, part, task = data
    x = x.copy()
    for name in categories:
        x[name] = x[name].fillna("NA")
    base = np.log(exposure) if task == "poisson" else None

    def pool(which):
        at = part == which
        return Pool(x[at], y[at], cat_features=categories, baseline=None if base is None else base[at])

    params = {"loss_function": "Poisson" if task == "poisson" else "Logloss", "iterations": ROUNDS, "random_seed": seed,
              "thread_count": THREADS, "verbose": 0, "allow_writing_files": False}
    if not own:
        params.update(learning_rate=0.05, depth=6)
    model = CatBoost(params)
    model.fit(pool("train"), eval_set=pool("valid"), early_stopping_rounds=STOP)
    score = np.asarray(model.predict(pool("test"), prediction_type="RawFormulaVal", thread_count=THREADS))
    with tempfile.NamedTemporaryFile(suffix=".cbm") as file:
        model.save_model(file.name)
        size = os.path.getsize(file.name)
    return score, model.tree_count_, size


def run_lightgbm(data, seed):
    import lightgbm as lgb

    x, categories, y, exposure, part, task = data
    x = as_categories(x, categories, part != "test")
    base = np.log(exposure) if task == "poisson" else None

    def one(which, reference=None):
        at = part == which
        return lgb.Dataset(x[at], y[at], init_score=None if base is None else base[at] + start, reference=reference,
                           categorical_feature=categories)

    fit = part == "train"
    start = np.log(y[fit].sum() / exposure[fit].sum()) if task == "poisson" else 0.0
    train = one("train")
    params = {"objective": task, "learning_rate": 0.05, "max_depth": 6, "num_leaves": 63, "seed": seed, "verbose": -1,
              "num_threads": THREADS, "deterministic": True}
    if task == "poisson":
        params["boost_from_average"] = False
    model = lgb.train(params, train, ROUNDS, valid_sets=[one("valid", train)],
                      callbacks=[lgb.early_stopping(STOP, verbose=False)])
    score = model.predict(x[part == "test"], raw_score=True, num_threads=THREADS)
    if base is not None:
        score = score + base[part == "test"] + start
    return score, model.best_iteration, len(model.model_to_string(num_iteration=model.best_iteration).encode())


def run_xgboost(data, seed):
    import xgboost as xgb

    x, categories, y, exposure, part, task = data
    x = as_categories(x, categories, part != "test")
    fit = part == "train"
    start = np.log(y[fit].sum() / exposure[fit].sum()) if task == "poisson" else None

    def one(which):
        at = part == which
        margin = None if start is None else np.log(exposure[at]) + start
        return xgb.DMatrix(x[at], y[at], base_margin=margin, enable_categorical=True, nthread=THREADS)

    params = {"objective": "count:poisson" if task == "poisson" else "binary:logistic", "eta": 0.05, "max_depth": 6,
              "tree_method": "hist", "seed": seed, "nthread": THREADS}
    if task == "poisson":
        params["max_delta_step"] = 0
    else:
        params["eval_metric"] = "logloss"
    model = xgb.train(params, one("train"), ROUNDS, evals=[(one("valid"), "valid")], early_stopping_rounds=STOP,
                      verbose_eval=False)
    best = model.best_iteration + 1
    score = model.predict(one("test"), output_margin=True, iteration_range=(0, best))
    return score, best, len(model[:best].save_raw("ubj"))


ENGINES = {"catboost": lambda data, seed: run_catboost(data, seed, True),
           "catboost matched": lambda data, seed: run_catboost(data, seed, False),
           "lightgbm": run_lightgbm, "xgboost": run_xgboost}


def runs_there(file):
    if not os.path.exists(file):
        return set()
    with open(file, encoding="utf-8") as lines:
        return {(row["set"], row["split"], row["engine"]) for row in csv.DictReader(lines)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder")
    parser.add_argument("--sets", default="")
    parser.add_argument("--engines", default=",".join(ENGINES))
    args = parser.parse_args()
    file = os.path.join(args.folder, "runs.csv")
    wanted = [s for s in args.sets.split(",") if s]
    for path in sorted(glob.glob(os.path.join(args.folder, "*-*.csv"))):
        name, split = os.path.basename(path)[:-4].rsplit("-", 1)
        todo = [e for e in args.engines.split(",") if (name, split, e) not in runs_there(file)]
        if not todo or (wanted and name not in wanted):
            continue
        data = read_set(path)
        test = data[4] == "test"
        for engine in todo:
            start = time.time()
            score, rounds, size = ENGINES[engine](data, int(split))
            seconds = time.time() - start
            loss, auc = loss_of(data[5], data[2][test], score), auc_of(data[5], data[2][test], score)
            new = not os.path.exists(file)
            with open(file, "a", encoding="utf-8", newline="") as lines:
                writer = csv.writer(lines)
                if new:
                    writer.writerow(FIELDS)
                writer.writerow([name, split, engine, repr(float(loss)), "NA" if auc is None else repr(float(auc)),
                                 f"{seconds:.3f}", rounds, size])
            print(f"{name} {split} {engine}: {loss:.5f}, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
