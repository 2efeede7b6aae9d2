"""One peer with one set in memory, for bench/compare.py: loads, says `ready`, then does what stdin asks for.

    python bench/worker.py FOLDER VARIANT            VARIANT: a name of VARIANTS below, such as lightgbm-row

    run threads=2 rounds=50 depth=6 leaves=0 symmetric=0 own=0 predict=1      one run: data set, model, predictions
    score FILE                                                    raw scores of the test part, as doubles
    quit

Answers are lines `key value` and then `done`; `error TEXT` says what went wrong. The twin of bench/worker.R.

Each peer finds its data in the layout that it turns into a data set fastest, already in memory: float32 row by row
(CatBoost: column by column), codes of factors for XGBoost's DMatrix and LightGBM, a pandas frame with categories for
QuantileDMatrix and CatBoost, compressed float32 rows of sparse sets (CatBoost: columns). Parameters are those of the
comparison: eta 0.1, lambda 1, 255 bins, min_child_weight 1, one row a leaf; `own=1` leaves all to the peer but
objective, rounds and threads.
Ordered factors are numbers for the peers. Poisson: the offset is a base margin (initial score, baseline) with the log
of the mean rate added, since it replaces the peer's intercept; max_delta_step is 0, the true hessian.
"""

import ctypes
import gc
import json
import os
import sys
import time

import numpy as np

VARIANTS = {
    "xgboost-dmatrix": {"library": "xgboost", "quantile": False},
    "xgboost-quantile": {"library": "xgboost", "quantile": True},
    "lightgbm-default": {"library": "lightgbm", "extra": {}},
    "lightgbm-col": {"library": "lightgbm", "extra": {"force_col_wise": True}},
    "lightgbm-row": {"library": "lightgbm", "extra": {"force_row_wise": True}},
    "lightgbm-quantised": {"library": "lightgbm", "extra": {"use_quantized_grad": True}},
    "catboost-plain": {"library": "catboost"},
}
SINGLE_ROWS = 200


def proc_kb(field):
    """A memory figure of this process in KiB (VmRSS now, VmHWM peak)."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    return -1


def reset_peak():
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")


def settle():
    """Gives back what loading left in the heap, so that it cannot be used again unseen by the peak."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        pass


# ---- data ----


class Part:
    """Rows of a set. x: dense float32 or a sparse matrix; frame: pandas, or None; y float32; offset or None."""

    def __init__(self, folder, desc, part, layout):
        n, p = desc["n_" + part], len(desc["columns"])
        path = os.path.join(folder, part)
        self.frame = self.offset = self.by_column = None
        if desc.get("sparse"):
            self.by_column = read_sparse(path, n, p)
            self.x = self.by_column.tocsr()
            if layout != "columns":
                self.by_column = None
            self.y = np.fromfile(path + ".y", dtype="<f8").astype(np.float32)
            return
        cells = np.memmap(path + ".f64", dtype="<f8", mode="r")
        columns = [cells[j * n : (j + 1) * n] for j in range(p + 1 + desc["offset"])]
        self.y = columns[p].astype(np.float32)
        if desc["offset"]:
            self.offset = np.array(columns[p + 1])
        self.x = None
        if layout in ("frame", "full frame"):
            self.frame = as_frame(columns, desc, layout == "full frame")
        else:
            self.x = as_matrix(columns, desc, n, "F" if layout == "columns" else "C")
        del cells, columns

    @property
    def values(self):
        return self.x if self.frame is None else self.frame

    def row(self, i):
        """A row as numbers, levels as codes: 1 x p."""
        if self.frame is not None:
            cells = [c.cat.codes.iloc[i] if hasattr(c, "cat") else c.iloc[i] for _, c in self.frame.items()]
            cells = [np.nan if hasattr(c, "cat") and v < 0 else v for v, (_, c) in zip(cells, self.frame.items())]
            return np.array([cells], dtype=np.float32)
        return np.ascontiguousarray(self.x[i : i + 1]) if isinstance(self.x, np.ndarray) else self.x[i : i + 1]


def read_sparse(path, n, p):
    from scipy.sparse import csc_matrix

    begin, index = np.fromfile(path + ".p", dtype="<i4"), np.fromfile(path + ".i", dtype="<i4")
    values = np.fromfile(path + ".x", dtype="<f8").astype(np.float32)
    return csc_matrix((values, index, begin), shape=(n, p))


def codes_of(values):
    """Codes from 0; NaN stays."""
    return values - 1


def as_matrix(columns, desc, n, order):
    x = np.empty((n, len(desc["columns"])), dtype=np.float32, order=order)
    for j, column in enumerate(desc["columns"]):
        x[:, j] = codes_of(columns[j]) if column["kind"] == "factor" else columns[j]
    return x


def as_frame(columns, desc, full):
    """full: a missing level is a level of its own, at the end, since CatBoost takes no missing category."""
    import pandas as pd

    out = {}
    for j, column in enumerate(desc["columns"]):
        values = np.array(columns[j])
        if column["kind"] == "factor":
            missing, levels = np.isnan(values), len(column["levels"])
            codes = np.where(missing, levels if full else -1, values - 1).astype(np.int32)
            extra = full and bool(missing.any())
            out[column["name"]] = pd.Categorical.from_codes(codes, categories=range(levels + extra))
        else:
            out[column["name"]] = values.astype(np.float32)
    return pd.DataFrame(out)


# ---- the peers: how they like data (layout, prepare for a single row), then convert, train, predict, single ----


class XGBoost:
    def __init__(self, desc, spec):
        import xgboost

        self.lib, self.desc, self.quantile = xgboost, desc, spec["quantile"]
        self.version = xgboost.__version__
        kinds = [c["kind"] for c in desc["columns"]]
        self.native = "factor" in kinds
        self.types = ["c" if k == "factor" else "float" for k in kinds] if self.native else None

    def layout(self):
        return "frame" if self.native and self.quantile else "rows"

    def convert(self, part, margin, opts):
        common = {"label": part.y, "base_margin": margin, "nthread": opts["threads"]}
        if self.native:
            common["enable_categorical"] = True
            if part.frame is None:
                common["feature_types"] = self.types
        if self.quantile and not opts["own"]:
            return self.lib.QuantileDMatrix(part.values, max_bin=255, **common)
        return self.lib.DMatrix(part.values, **common)

    def train(self, data, opts):
        objective = {"binary": "binary:logistic", "regression": "reg:squarederror", "multiclass": "multi:softprob",
                     "poisson": "count:poisson"}[self.desc["task"]]
        params = {"objective": objective, "tree_method": "hist", "nthread": opts["threads"], "verbosity": 0}
        if not opts["own"]:
            params.update(eta=0.1, alpha=0.0, gamma=0.0, min_child_weight=1.0, max_bin=255, max_depth=opts["depth"])
            params["lambda"] = 1.0
            if opts["leaves"]:
                params.update(grow_policy="lossguide", max_leaves=opts["leaves"])
            if self.desc["task"] == "poisson":
                params["max_delta_step"] = 0.0
        if self.desc["task"] == "multiclass":
            params["num_class"] = len(self.desc["classes"])
        return self.lib.train(params, data, num_boost_round=opts["rounds"])

    def predict(self, model, values, margin, threads):
        model.set_param({"nthread": threads})
        return model.inplace_predict(values, predict_type="margin", base_margin=margin)

    def single(self, model, row, margin):
        return model.inplace_predict(row, predict_type="margin", base_margin=margin, validate_features=False)

    def prepare(self, model, row):
        model.set_param({"nthread": 1})
        return row


class LightGBM:
    def __init__(self, desc, spec):
        import lightgbm

        self.lib, self.desc, self.extra = lightgbm, desc, spec["extra"]
        self.version = lightgbm.__version__
        self.categorical = [j for j, c in enumerate(desc["columns"]) if c["kind"] == "factor"]

    def layout(self):
        return "rows"

    def params(self, opts):
        objective = {"binary": "binary", "regression": "regression", "multiclass": "multiclass", "poisson": "poisson"}
        params = {"objective": objective[self.desc["task"]], "num_threads": opts["threads"], "verbosity": -1}
        if self.desc["task"] == "multiclass":
            params["num_class"] = len(self.desc["classes"])
        if not opts["own"]:
            params.update(learning_rate=0.1, lambda_l2=1.0, min_sum_hessian_in_leaf=1.0, min_data_in_leaf=1,
                          max_bin=255, feature_pre_filter=False, max_depth=opts["depth"] or -1,
                          num_leaves=opts["leaves"] or 2 ** opts["depth"], **self.extra)
            if self.desc["task"] == "poisson":
                params["poisson_max_delta_step"] = 1e-10
        return params

    def convert(self, part, margin, opts):
        data = self.lib.Dataset(part.values, part.y, init_score=margin, params=self.params(opts), free_raw_data=False,
                                categorical_feature=self.categorical)
        return data.construct()

    def train(self, data, opts):
        return self.lib.train(self.params(opts), data, num_boost_round=opts["rounds"])

    def predict(self, model, values, margin, threads):
        score = model.predict(values, raw_score=True, num_threads=threads)
        return score if margin is None else score + margin

    def single(self, model, row, margin):
        return self.predict(model, row, margin, 1)

    def prepare(self, _model, row):
        return row


class CatBoost:
    def __init__(self, desc, spec):
        import catboost

        self.lib, self.desc = catboost, desc
        self.version = catboost.__version__
        self.categorical = [c["name"] for c in desc["columns"] if c["kind"] == "factor"]

    def layout(self):
        return "full frame" if self.categorical else "columns"

    def convert(self, part, margin, opts):
        values = part.values if part.by_column is None else part.by_column
        return self.lib.Pool(values, part.y, baseline=margin, cat_features=self.categorical or None,
                             thread_count=opts["threads"])

    def train(self, data, opts):
        loss = {"binary": "Logloss", "regression": "RMSE", "multiclass": "MultiClass", "poisson": "Poisson"}
        params = {"loss_function": loss[self.desc["task"]], "iterations": opts["rounds"], "verbose": False,
                  "thread_count": opts["threads"], "allow_writing_files": False}
        if self.desc["task"] == "multiclass":
            params["classes_count"] = len(self.desc["classes"])
        if not opts["own"]:
            params.update(learning_rate=0.1, l2_leaf_reg=1.0, border_count=254, boosting_type="Plain",
                          bootstrap_type="No", random_strength=0.0, leaf_estimation_iterations=1,
                          boost_from_average=not self.desc["offset"] and self.desc["task"] != "multiclass")
            if opts["leaves"]:
                params.update(grow_policy="Lossguide", max_leaves=opts["leaves"], depth=opts["depth"] or 16)
            else:
                params["depth"] = opts["depth"]
        model = self.lib.CatBoost(params)
        model.fit(data)
        return model

    def predict(self, model, values, margin, threads):
        score = model.predict(values, prediction_type="RawFormulaVal", thread_count=threads)
        return score if margin is None else score + margin

    def single(self, model, row, margin):
        return self.predict(model, row, margin, 1)

    def prepare(self, _model, row):
        """One row is a vector; with factors a list, whose codes are whole numbers."""
        if not isinstance(row, np.ndarray):
            return row
        if not self.categorical:
            return row[0]
        kinds = [c["kind"] for c in self.desc["columns"]]
        return [int(v) if k == "factor" else float(v) for v, k in zip(row[0], kinds)]


LIBRARIES = {"xgboost": XGBoost, "lightgbm": LightGBM, "catboost": CatBoost}


class Worker:
    def __init__(self, folder, variant):
        with open(os.path.join(folder, "desc.json"), encoding="utf-8") as file:
            self.desc = json.load(file)
        spec = VARIANTS[variant]
        self.folder = folder
        self.peer = LIBRARIES[spec["library"]](self.desc, spec)
        self.train = Part(folder, self.desc, "train", self.peer.layout())
        self.base = 0.0
        if self.train.offset is not None:
            self.base = float(np.log(self.train.y.sum(dtype=np.float64) / np.exp(self.train.offset).sum()))
        self.model = None

    def margin(self, part):
        return None if part.offset is None else part.offset + self.base

    def run(self, opts):
        self.model = None
        settle()
        margin = self.margin(self.train)
        before = proc_kb("VmRSS")
        reset_peak()
        begin = time.perf_counter()
        data = self.peer.convert(self.train, margin, opts)
        built = time.perf_counter()
        self.model = self.peer.train(data, opts)
        done = time.perf_counter()
        result = {"convert_s": built - begin, "train_s": done - built,
                  "peak_mb": (proc_kb("VmHWM") - before) * 1024 / 1e6}
        del data
        if opts["predict"]:
            begin = time.perf_counter()
            self.peer.predict(self.model, self.train.values, margin, opts["threads"])
            result["predict_s"] = time.perf_counter() - begin
            result["single_us"] = self.single()
        return result

    def single(self):
        """Median microseconds of one row; rows are cut out before."""
        n = len(self.train.y)
        at = [int(k * (n - 1) / (SINGLE_ROWS - 1)) for k in range(SINGLE_ROWS)]
        rows = [self.peer.prepare(self.model, self.train.row(i)) for i in at]
        margins = [None if self.train.offset is None else self.train.offset[i : i + 1] + self.base for i in at]
        for row, margin in zip(rows[:3], margins):
            self.peer.single(self.model, row, margin)
        took = []
        for row, margin in zip(rows, margins):
            begin = time.perf_counter()
            self.peer.single(self.model, row, margin)
            took.append(time.perf_counter() - begin)
            if sum(took) > 2:
                break
        return float(np.median(took)) * 1e6

    def score(self, path):
        test = Part(self.folder, self.desc, "test", self.peer.layout())
        score = self.peer.predict(self.model, test.values, self.margin(test), 2)
        np.asarray(score, dtype="<f8").ravel(order="F").tofile(path)
        return {}


def options(words):
    opts = {"threads": 2, "rounds": 10, "depth": 6, "leaves": 0, "own": 0, "predict": 1}
    opts.update((key, int(value)) for key, value in (word.split("=") for word in words))
    return opts


def main():
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print goes elsewhere
    worker = Worker(sys.argv[1], sys.argv[2])
    settle()
    out.write(f"version {worker.peer.version}\nready\n")
    while line := sys.stdin.readline():
        verb, *words = line.split()
        if verb == "quit":
            break
        try:
            result = worker.run(options(words)) if verb == "run" else worker.score(words[0])
            for key, value in result.items():
                out.write(f"{key} {value:.9g}\n")
        except Exception as error:  # the driver notes it and goes on
            text = " ".join(f"{type(error).__name__}: {error}".split())
            out.write(f"error {text[:300]}\n")
        out.write("done\n")


if __name__ == "__main__":
    main()
