"""Trains a peer for bench/objectives.R: objectives.py ENGINE FOLDER COLUMNS NAME=VALUE ...

FOLDER has the doubles of x (column by column), y and new; predictions for new go to FOLDER/p."""
import sys

import numpy as np

engine, folder, columns = sys.argv[1], sys.argv[2], int(sys.argv[3])
how = dict(pair.split("=", 1) for pair in sys.argv[4:])


def read(name):
    return np.fromfile(f"{folder}/{name}", dtype=np.float64)


def matrix(name):
    flat = read(name)
    return flat.reshape((columns, len(flat) // columns)).T


x, y, new = matrix("x"), read("y"), matrix("new")
level = float(how.pop("level", 0.5))
own = how.pop("own", None)


def expectile(score, label):
    weight = 2.0 * np.where(score < label, level, 1.0 - level)
    return weight * (score - label), weight


def log_cosh(score, label):
    r = score - label
    return np.tanh(r), np.where(np.abs(r) < 1e-6, 1.0, np.tanh(r) / np.where(r == 0.0, 1.0, r))


def negative_binomial(score, label):  # level: the dispersion
    mean = np.exp(score)
    return (mean - label) / (1.0 + level * mean), mean * (1.0 + level * label) / (1.0 + level * mean) ** 2


# Objectives that a peer lacks: gradient and hessian, the score to begin at, the response of a score.
OWN = {
    "expectile": (expectile, np.mean(y), lambda score: score),
    "log_cosh": (log_cosh, np.median(y), lambda score: score),
    "negative_binomial": (negative_binomial, np.log(np.mean(y)), np.exp),
}
derivatives, start, response = OWN.get(own, (None, 0.0, lambda score: score))

if engine == "xgboost":
    import xgboost as xgb

    params = dict(eta=0.1, max_depth=6, reg_lambda=1, min_child_weight=1, nthread=2, tree_method="hist", max_bin=255)
    if own:
        params.update(base_score=float(start))
    params.update(how)
    grad = (lambda score, data: derivatives(score, data.get_label())) if own else None
    model = xgb.train(params, xgb.DMatrix(x, y), 200, obj=grad)
    p = response(model.predict(xgb.DMatrix(new)))
else:
    import lightgbm as lgb

    params = dict(learning_rate=0.1, max_depth=6, num_leaves=64, lambda_l2=1, min_sum_hessian_in_leaf=1,
                  min_data_in_leaf=1, num_threads=2, max_bin=255, verbose=-1)
    params.update(how)
    first = np.full(len(y), start) if own else None
    if own:
        params["objective"] = lambda score, data: derivatives(score, data.get_label())
    model = lgb.train(params, lgb.Dataset(x, y, init_score=first), 200)
    p = response(model.predict(new) + start)
np.asarray(p, dtype=np.float64).tofile(f"{folder}/p")
