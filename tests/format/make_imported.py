"""Makes the small models of other programs that tests/testthat/test-import.R reads, with rows and their raw scores.

    pip install xgboost-cpu lightgbm catboost
    python tests/format/make_imported.py tests/testthat/imported

NAME.json|ubj|txt is the model, NAME.csv has the rows: columns x... as hexadecimal doubles, an empty field for a missing
value, columns c... of texts, and columns s... with the raw scores. Rows 1 to 40 were trained on; the others have values
next to thresholds, large and tiny numbers, missing values, and categories that training has not seen.
inst/extdata/xgboost.json is made as well."""
import json, os, sys
import catboost
import lightgbm
import numpy as np
import pandas
import xgboost as xgb

folder = sys.argv[1]
n = 40
r = np.random.default_rng(20)
grid = np.column_stack([r.normal(size=n), r.integers(-20, 21, n) / 10.0,
                        np.where(r.random(n) < 0.5, 0.0, r.normal(size=n))])
grid[r.random(grid.shape) < 0.1] = np.nan
z = np.nan_to_num(grid)
y = z[:, 0] + np.abs(z[:, 1]) + (z[:, 2] == 0) + r.normal(size=n) * 0.1
odd = [np.nan, 0.0, -0.0, 3e38, -3e38, 1e-36, 0.1, np.nextafter(0.1, 1), 0.3, 5e-324]
edge = np.repeat(np.array(odd)[:, None], 3, axis=1)
level = np.column_stack([r.integers(0, 40, n), r.integers(0, 3, n), r.normal(size=n)]).astype(float)
level_y = np.sin(level[:, 0]) * 2 + (level[:, 1] == 1) + level[:, 2]
level[r.random(level.shape) < 0.05] = np.nan
level_edge = np.array([[np.nan] * 3, [40, 3, 0], [1000, 5, 0], [-1, -1, 0], [39, 2, 0], [31, 0, 0], [32, 1, 0]])


def beside(x, thresholds):
    """Rows with every threshold, its neighbours as float32 and the middles between them."""
    out = []
    for t in sorted(thresholds):
        t = np.float32(t)
        for u in (t, np.nextafter(t, np.float32(-np.inf)), np.nextafter(t, np.float32(np.inf))):
            middle = (float(t) + float(u)) / 2
            out += [float(u), middle, np.nextafter(middle, -np.inf), np.nextafter(middle, np.inf)]
    return np.repeat(np.array(out)[:, None], x.shape[1], axis=1)


def write_rows(name, x, scores):
    scores = np.asarray(scores, dtype=np.float64).reshape(len(x), -1)
    with open(os.path.join(folder, name + ".csv"), "w") as f:
        f.write(",".join(["x%d" % j for j in range(x.shape[1])] + ["s%d" % j for j in range(scores.shape[1])]) + "\n")
        for row, s in zip(x, scores):
            f.write(",".join(["" if np.isnan(v) else float(v).hex() for v in row] + [float(v).hex() for v in s]) + "\n")


def keep_xgboost(name, params, x, label, rows, rounds=3, types=None, form="json", weights=None):
    params = dict({"max_depth": 3, "eta": 0.4, "nthread": 1, "seed": 1, "tree_method": "hist"}, **params)
    data = lambda v, y=None: xgb.DMatrix(v, y, feature_types=types, enable_categorical=types is not None)
    b = xgb.train(params, data(x, label), rounds)
    b.save_model(os.path.join(folder, name + "." + form))
    text = b.save_raw("json").decode()
    trees = json.loads(text)["learner"]["gradient_booster"]
    trees = trees.get("gbtree", trees)["model"]["trees"]
    cuts = {t["split_conditions"][i] for t in trees for i in range(len(t["left_children"]))
            if t["left_children"][i] >= 0 and not t["split_type"][i]}
    rows = np.vstack([x, rows, beside(x, list(cuts)[:8])]) if types is None else np.vstack([x, rows])
    write_rows(name, rows, b.predict(data(rows), output_margin=True))
    return b


three = np.column_stack([y, -y, z[:, 1]])
keep_xgboost("xgb_numbers", {"objective": "reg:squarederror"}, grid, y, edge)
keep_xgboost("xgb_logistic", {"objective": "binary:logistic"}, grid, (y > 1).astype(float), edge, form="ubj")
keep_xgboost("xgb_classes", {"objective": "multi:softprob", "num_class": 3}, grid, r.integers(0, 3, n), edge, 2)
keep_xgboost("xgb_forest", {"objective": "count:poisson", "num_parallel_tree": 2, "subsample": 0.7}, grid,
             np.round(np.abs(y)), edge, 2, form="ubj")
keep_xgboost("xgb_dart", {"objective": "reg:squarederror", "booster": "dart", "rate_drop": 0.5}, grid, y, edge, 5,
             form="ubj")
keep_xgboost("xgb_vectors", {"objective": "reg:squarederror", "multi_strategy": "multi_output_tree", "max_depth": 2},
             grid, three, edge, 2)
keep_xgboost("xgb_codes", {"objective": "reg:squarederror", "max_cat_to_onehot": 4}, level, level_y, level_edge,
             types=["c", "c", "q"])



def keep_lightgbm(name, params, x, label, rows, rounds=3, categories=()):
    """Scores of forests are means, as gbt has them; those of a sigmoid are log odds."""
    params = dict({"num_leaves": 5, "learning_rate": 0.4, "num_threads": 1, "seed": 1, "verbose": -1,
                   "min_data_in_leaf": 3, "min_data_per_group": 1, "cat_smooth": 1, "feature_pre_filter": False},
                  **params)
    b = lightgbm.train(params, lightgbm.Dataset(x, label, categorical_feature=list(categories)), rounds)
    b.save_model(os.path.join(folder, name + ".txt"))
    raw = b.predict(np.vstack([x, rows]), raw_score=True)
    forest = params.get("boosting") == "rf"
    write_rows(name, np.vstack([x, rows]), raw / rounds if forest else raw * params.get("sigmoid", 1.0))


further = [np.inf, -np.inf, 1e308, 1.0000000180025095e-35, 1.00000001800251e-35, -2e-35]
far = np.vstack([edge, np.repeat(np.array(further)[:, None], 3, axis=1)])
level_far = np.vstack([level_edge, [[1e6, 0, 0]]])
keep_lightgbm("lgb_numbers", {"objective": "regression"}, grid, y, far)
keep_lightgbm("lgb_none_missing", {"objective": "poisson"}, z, np.round(np.abs(y)), far)
keep_lightgbm("lgb_zero_missing", {"objective": "regression", "zero_as_missing": True}, grid, y, far)
keep_lightgbm("lgb_sigmoid", {"objective": "binary", "sigmoid": 2.5}, grid, (y > 1).astype(float), far)
keep_lightgbm("lgb_classes", {"objective": "multiclass", "num_class": 3}, grid, r.integers(0, 3, n), far, 2)
keep_lightgbm("lgb_forest", {"objective": "regression", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.7},
              grid, y, far)
keep_lightgbm("lgb_codes", {"objective": "regression", "max_cat_to_onehot": 2}, level, level_y, level_far,
              categories=[0, 1])


def keep_lightgbm_linear(name):
    """Leaves that are linear in one column and in two; sums of them that are infinite, or no number."""
    q = np.random.default_rng(7)
    x = q.normal(size=(300, 4))
    y = x[:, 0] * x[:, 1] + np.sin(x[:, 2]) * 3 + x[:, 0] + q.normal(size=300) * 0.1
    x[q.random(x.shape) < 0.05] = np.nan
    x[:, 3] = q.integers(0, 3, 300)
    b = lightgbm.train({"objective": "regression", "linear_tree": True, "linear_lambda": 0.01, "num_leaves": 6,
                        "min_data_in_leaf": 20, "num_threads": 1, "verbose": -1},
                       lightgbm.Dataset(x, y, feature_name=["a", "b", "c", "d"]), 4)
    b.save_model(os.path.join(folder, name + ".txt"))
    rows = x[:28].copy()
    lines = [t[10:] for t in open(os.path.join(folder, name + ".txt")) if t.startswith("threshold=")]
    rows[:8, 0] = [float(t) for line in lines for t in line.split()][:8]
    rows[8:14] = [[np.nan] * 4, [np.inf, 1, 1, 1], [-np.inf, 1, 1, 1], [1, np.inf, -np.inf, 0],
                  [1e300, 1e300, -1e300, 1], [-0.0, 0.0, 5e-324, 0]]
    rows[14, 1] = rows[15, 2] = np.nan
    write_rows(name, rows, b.predict(rows, raw_score=True))


keep_lightgbm_linear("lgb_linear")


def keep_catboost(name, params, x, label, rows):
    params = dict({"iterations": 3, "depth": 2, "random_seed": 1, "thread_count": 1, "verbose": False,
                   "allow_writing_files": False}, **params)
    classes = params.get("loss_function") in ("Logloss", "MultiClass")
    m = (catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor)(**params)
    m.fit(catboost.Pool(x, label))
    m.save_model(os.path.join(folder, name + ".json"), format="json")
    text = json.load(open(os.path.join(folder, name + ".json")))
    text["model_info"] = {k: text["model_info"][k] for k in ("params", "class_params") if k in text["model_info"]}
    text["model_info"]["params"] = {"loss_function": text["model_info"]["params"]["loss_function"]}
    json.dump(text, open(os.path.join(folder, name + ".json"), "w"))
    cuts = {c for f in text["features_info"]["float_features"] for c in f["borders"] or []}
    rows = np.vstack([x, rows, beside(x, [c for c in cuts if abs(c) < 1e38][:8])])
    write_rows(name, rows, m.predict(catboost.Pool(rows), prediction_type="RawFormulaVal"))


keep_catboost("cat_numbers", {}, grid, y, far)
keep_catboost("cat_nan_max", {"nan_mode": "Max"}, grid, y, far)
keep_catboost("cat_lossguide", {"grow_policy": "Lossguide", "max_leaves": 5, "depth": 4}, grid, y, far)
keep_catboost("cat_classes", {"loss_function": "MultiClass"}, grid, np.array(["a", "b", "c"])[r.integers(0, 3, n)], far)



def keep_catboost_levels(name, params):
    """Statistics of single columns, with levels that the training has not seen."""
    q = np.random.default_rng(21)
    m = 60
    first, second, x = q.integers(0, 9, m), q.integers(0, 2, m), q.normal(size=m)
    y = np.sin(first * 2.0) * 2 + second + x * 0.3
    table = lambda a, b, x: pandas.DataFrame({"a": a, "b": b, "x": x})
    texts = ["l%d" % k for k in first]
    train = table(texts, [["no", "yes"][k] for k in second], x)
    rows = pandas.concat([train, table(["l1", "l2", "new", "new", "l3"], ["no", "other", "yes", "other", "yes"],
                                       [0.0, np.nan, 3.0, np.nan, -1e30])], ignore_index=True)
    pool = catboost.Pool(train, y, cat_features=[0, 1])
    params = dict({"iterations": 4, "depth": 3, "random_seed": 1, "thread_count": 1, "verbose": False,
                   "allow_writing_files": False, "one_hot_max_size": 1, "max_ctr_complexity": 1}, **params)
    model = catboost.CatBoostRegressor(**params).fit(pool)
    path = os.path.join(folder, name + ".json")
    model.save_model(path, format="json", pool=pool)
    text = json.load(open(path))
    own = text["model_info"]["params"]
    text["model_info"] = {"params": {k: own[k] for k in ("loss_function", "cat_feature_params")}}
    json.dump(text, open(path, "w"))
    scores = model.predict(catboost.Pool(rows, cat_features=[0, 1]), prediction_type="RawFormulaVal")
    with open(os.path.join(folder, name + ".csv"), "w") as f:
        f.write("c0,c1,x2,s0\n")
        for a, b, x, s in zip(rows.a, rows.b, rows.x, scores):
            f.write(",".join([a, b, "" if np.isnan(x) else float(x).hex(), float(s).hex()]) + "\n")


keep_catboost_levels("cat_shares", {"simple_ctr": ["Borders:TargetBorderCount=3", "Counter"]})
keep_catboost_levels("cat_parts", {"simple_ctr": ["Buckets:TargetBorderCount=2"]})
keep_catboost_levels("cat_means", {"simple_ctr": ["BinarizedTargetMeanValue:TargetBorderCount=4"],
                                   "one_hot_max_size": 2, "grow_policy": "Lossguide", "max_leaves": 6})

cars = np.array([
    [6, 160, 110, 2.62, 21.0], [6, 160, 110, 2.875, 21.0], [4, 108, 93, 2.32, 22.8], [6, 258, 110, 3.215, 21.4],
    [8, 360, 175, 3.44, 18.7], [6, 225, 105, 3.46, 18.1], [8, 360, 245, 3.57, 14.3], [4, 146.7, 62, 3.19, 24.4],
    [4, 140.8, 95, 3.15, 22.8], [6, 167.6, 123, 3.44, 19.2], [8, 275.8, 180, 4.07, 16.4], [8, 472, 205, 5.25, 10.4],
    [4, 78.7, 66, 2.2, 32.4], [4, 75.7, 52, 1.615, 30.4], [4, 71.1, 65, 1.835, 33.9], [8, 318, 150, 3.52, 15.5]])
d = xgb.DMatrix(cars[:, :4], cars[:, 4], feature_names=["cyl", "disp", "hp", "wt"])
b = xgb.train({"max_depth": 2, "nthread": 1, "objective": "reg:squarederror", "eta": 0.5}, d, 4)
b.save_model(os.path.join(os.path.dirname(__file__), "..", "..", "inst", "extdata", "xgboost.json"))
