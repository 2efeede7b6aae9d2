"""One peer with one model of bench/shap.R, asleep on stdin until it is its turn.

    python bench/shap.py ENGINE FOLDER      ENGINE: xgboost, lightgbm, catboost

FOLDER has desc.json and x.f32, rows of 32-bit floats column by column (levels as codes from 0), with y.f32. Says
`ready TREES LEAVES VERSION` once the model is trained: the model's shape. Then a line of stdin each:

    run SECONDS   contributions of the first rows, as many as desc.json says, again and again until so much time is
                  gone; answers `rate ROWS_A_SECOND`
    sums          answers `sums X`: the largest |sum of contributions - raw score|, over the largest |score|
    quit

Data sets of the rows to explain (DMatrix, Pool) are made beforehand, outside of the time.
"""

import json
import os
import sys
import time

import numpy as np


def read(folder):
    with open(os.path.join(folder, "desc.json"), encoding="utf-8") as file:
        desc = json.load(file)
    n, p = desc["n"], desc["p"]
    x = np.fromfile(os.path.join(folder, "x.f32"), dtype="<f4").reshape(p, n).T
    y = np.fromfile(os.path.join(folder, "y.f32"), dtype="<f4")
    return desc, x, y


def frame_of(x, desc, whole):
    """With categories; whole: as whole numbers, which is what CatBoost takes."""
    import pandas as pd

    columns = {}
    for j in range(desc["p"]):
        values = x[:, j]
        if j < desc["n_factors"]:
            codes = values.astype(np.int32)
            values = codes if whole else pd.Categorical.from_codes(codes, categories=range(desc["n_levels"]))
        columns[f"c{j}"] = values
    return pd.DataFrame(columns)


def xgboost_peer(desc, x, y):
    import xgboost as xgb

    params = {"objective": "multi:softprob" if desc["classes"] else "reg:squarederror", "tree_method": "hist",
              "eta": 0.1, "lambda": 1.0, "min_child_weight": 1.0, "max_bin": 255, "nthread": desc["threads"],
              "device": "cpu"}
    if desc["classes"]:
        params["num_class"] = desc["classes"]
    if desc["leaves"]:
        params.update(grow_policy="lossguide", max_leaves=desc["leaves"], max_depth=0)
    else:
        params.update(max_depth=desc["depth"])
    if desc["n_factors"]:
        x = frame_of(x, desc, False)
    data = xgb.DMatrix(x, y, enable_categorical=desc["n_factors"] > 0, nthread=desc["threads"])
    model = xgb.train(params, data, desc["rounds"])
    rows = xgb.DMatrix(x[: desc["rows"]], enable_categorical=desc["n_factors"] > 0, nthread=desc["threads"])
    dump = model.get_dump()
    return (lambda: model.predict(rows, pred_contribs=True), lambda: model.predict(rows, output_margin=True), len(dump),
            sum(tree.count("leaf") for tree in dump), xgb.__version__)


def lightgbm_peer(desc, x, y):
    import lightgbm as lgb

    params = {"objective": "multiclass" if desc["classes"] else "regression", "learning_rate": 0.1, "lambda_l2": 1.0,
              "min_sum_hessian_in_leaf": 1.0, "min_data_in_leaf": 1, "max_bin": 255, "num_threads": desc["threads"],
              "verbosity": -1, "num_leaves": desc["leaves"] or 2 ** desc["depth"],
              "max_depth": -1 if desc["leaves"] else desc["depth"]}
    if desc["classes"]:
        params["num_class"] = desc["classes"]
    factors = list(range(desc["n_factors"]))
    data = lgb.Dataset(x, y, params=params, categorical_feature=factors)
    model = lgb.train(params, data, desc["rounds"])
    x = np.ascontiguousarray(x[: desc["rows"]])
    leaves = sum(tree["num_leaves"] for tree in model.dump_model()["tree_info"])
    return (lambda: model.predict(x, pred_contrib=True, num_threads=desc["threads"]),
            lambda: model.predict(x, raw_score=True, num_threads=desc["threads"]), model.num_trees(), leaves,
            lgb.__version__)


def catboost_peer(desc, x, y):
    import catboost as cb

    params = {"loss_function": "MultiClass" if desc["classes"] else "RMSE", "iterations": desc["rounds"],
              "learning_rate": 0.1, "l2_leaf_reg": 1.0, "border_count": 254, "bootstrap_type": "No",
              "random_strength": 0.0, "boosting_type": "Plain", "thread_count": desc["threads"], "verbose": False,
              "allow_writing_files": False, "leaf_estimation_iterations": 1}
    if desc["leaves"]:
        params.update(grow_policy="Lossguide", max_leaves=desc["leaves"], depth=16)
    else:
        params.update(grow_policy="SymmetricTree" if desc["symmetric"] else "Depthwise", depth=desc["depth"])
    factors = list(range(desc["n_factors"]))
    if factors:
        x = frame_of(x, desc, True)
    pool = cb.Pool(x, y, cat_features=factors)
    model = cb.CatBoost(params)
    model.fit(pool)
    pool = cb.Pool(x[: desc["rows"]], cat_features=factors)
    counts = model.get_tree_leaf_counts()
    return (lambda: model.get_feature_importance(pool, type="ShapValues", thread_count=desc["threads"]),
            lambda: model.predict(pool, prediction_type="RawFormulaVal"), len(counts), int(sum(counts)), cb.__version__)


def main():
    engine, folder = sys.argv[1:3]
    desc, x, y = read(folder)
    peers = {"xgboost": xgboost_peer, "lightgbm": lightgbm_peer, "catboost": catboost_peer}
    explain, score, n_trees, n_leaves, version = peers[engine](desc, x, y)
    print("ready", n_trees, n_leaves, version, flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "quit":
            break
        if words[0] == "run":
            n, begin = 0, time.perf_counter()
            while n == 0 or time.perf_counter() - begin < float(words[1]):
                explain()
                n += 1
            print("rate", n * desc["rows"] / (time.perf_counter() - begin), flush=True)
        else:
            raw = np.asarray(score(), dtype=np.float64).reshape(desc["rows"], -1)
            got = np.asarray(explain(), dtype=np.float64)
            width = desc["p"] + 1
            got = got.reshape(desc["rows"], -1, width).sum(axis=2)
            print("sums", np.abs(got - raw).max() / np.abs(raw).max(), flush=True)


if __name__ == "__main__":
    main()
