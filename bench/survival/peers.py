"""Survival objectives of XGBoost and CatBoost on the files that models.R writes: python3 peers.py FOLDER ENGINE

x.csv: columns of the training rows and then of the new ones; roles.csv: one line "number" or "category" a column;
y.csv: time and event of the training rows. Writes train.out and test.out: scores, one a line."""
import sys

import numpy
import pandas

folder, engine = sys.argv[1:]
roles = [line.strip() for line in open(f"{folder}/roles.csv")]
y = pandas.read_csv(f"{folder}/y.csv", header=None).to_numpy(float)
x = pandas.read_csv(f"{folder}/x.csv", header=None, keep_default_na=False, na_values=["NA"],
                    dtype={i: str if role == "category" else float for i, role in enumerate(roles)})
categories = [i for i, role in enumerate(roles) if role == "category"]
n = len(y)
order = numpy.random.RandomState(1).permutation(n)
held, kept = order[:n // 5], order[n // 5:]
aft = engine.endswith("aft")
upper = numpy.where(y[:, 1] == 1, y[:, 0], numpy.inf)
signed = numpy.where(y[:, 1] == 1, y[:, 0], -y[:, 0])


def xgboost_scores():
    import xgboost
    for i in categories:
        x[i] = x[i].astype("category")
    params = {"objective": "survival:aft" if aft else "survival:cox", "eta": 0.1, "max_depth": 6, "nthread": 1,
              "seed": 1}
    if aft:
        params |= {"aft_loss_distribution": "normal", "aft_loss_distribution_scale": 1.0, "eval_metric": "aft-nloglik"}

    def data(rows):
        d = xgboost.DMatrix(x.iloc[rows], enable_categorical=True)
        if aft:
            d.set_float_info("label_lower_bound", y[rows, 0])
            d.set_float_info("label_upper_bound", upper[rows])
        else:
            d.set_label(signed[rows])
        return d

    first = xgboost.train(params, data(kept), 2000, evals=[(data(held), "valid")], early_stopping_rounds=50,
                          verbose_eval=False)
    model = xgboost.train(params, data(order), first.best_iteration + 1)
    return model.predict(xgboost.DMatrix(x, enable_categorical=True), output_margin=True)


def catboost_scores():
    import catboost
    for i in categories:
        x[i] = x[i].fillna("NA")
    params = {"loss_function": "SurvivalAft:dist=Normal;scale=1.0" if aft else "Cox", "thread_count": 1,
              "random_seed": 1, "logging_level": "Silent", "allow_writing_files": False}

    def data(rows):
        label = numpy.column_stack([y[:, 0], numpy.where(y[:, 1] == 1, y[:, 0], -1)]) if aft else signed
        return catboost.Pool(x.iloc[rows], label[rows], cat_features=categories)

    first = catboost.CatBoost(params | {"iterations": 2000, "od_type": "Iter", "od_wait": 50, "use_best_model": True})
    first.fit(data(kept), eval_set=data(held))
    model = catboost.CatBoost(params | {"iterations": max(first.tree_count_, 1)})
    model.fit(data(order))
    return model.predict(catboost.Pool(x, cat_features=categories), prediction_type="RawFormulaVal")


scores = xgboost_scores() if engine.startswith("xgb") else catboost_scores()
numpy.savetxt(f"{folder}/train.out", scores[:n])
numpy.savetxt(f"{folder}/test.out", scores[n:])
