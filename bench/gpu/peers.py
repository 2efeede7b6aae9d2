"""Trains gbt and its peers in turns on the same made data and the same device, and prints what each took.

    python3 bench/gpu/peers.py [--shapes higgs,covertype,small,epsilon,airline] [--engines xgboost,lightgbm,catboost]
        [--depth 8] [--rounds 500] [--repeats 2] [--seconds 300] [--limit 120] [--scale 1] [--device cuda|cpu]
        [--program bench/gpu/build/cuda/train] [--made bench/gpu/build/libmade.so]

gbt is `train serve=1` (train.c), a process that trains whenever it gets a line. The peers are in this process; both
make the same numbers by the same code (shapes.c), gbt as columns of doubles, the peers as rows of 32-bit floats, in
which all values fit. What is not installed, or has no support for the device, is skipped with a word. Needs numpy.

Matched: eta 0.1, lambda 1, 255 bins, min_child_weight 1, depth, rounds, no sampling. LightGBM gets 2^depth leaves
besides. CatBoost grows symmetric trees with plain boosting, its fastest way. XGBoost is given the data in every way
that it has, and the fastest one counts (tried with up to 2,000,000 rows and one round).

Timed: `data set`, from the numbers in the host's memory; `train`; both. `device memory`: the most that the device had
taken beyond what it had before, by NVML, looked at every few milliseconds, of all engines alike. `--seconds`: nothing
is begun after that; `--limit`: XGBoost ends a training that takes longer, and the line tells its rounds.

Lines as those of train.c:  shape,rows,cols,depth,rounds,engine,name,value,unit,share,of
"""

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = {"higgs": (11000000, 28, 2), "airline": (115000000, 13, 2), "covertype": (581000, 54, 7),
          "epsilon": (400000, 2000, 2), "small": (100000, 28, 2)}


class Skipped(Exception):
    """An engine, or a way of it, that cannot run here."""


class DeviceMemory:
    """The most memory that the device had taken while this ran, in bytes; None where NVML is not there."""

    class Info(ctypes.Structure):
        _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]

    def __init__(self):
        self.most = None
        self.handle = ctypes.c_void_p()
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
            failed = self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle))
        except (OSError, AttributeError):
            failed = True
        self.there = not failed

    def used(self):
        info = self.Info()
        self.nvml.nvmlDeviceGetMemoryInfo(self.handle, ctypes.byref(info))
        return info.used

    def watch(self):
        while not self.done.wait(0.005):
            self.most = max(self.most, self.used())

    def __enter__(self):
        if self.there:
            self.before = self.most = self.used()
            self.done = threading.Event()
            self.thread = threading.Thread(target=self.watch, daemon=True)
            self.thread.start()
        return self

    def __exit__(self, *_):
        if self.there:
            self.done.set()
            self.thread.join()
            self.most = max(self.most, self.used()) - self.before


class Job:
    """A shape with its parameters and, in this process, its numbers."""

    def __init__(self, args, shape):
        import numpy as np

        rows, cols, classes = SHAPES[shape]
        self.shape, self.rows, self.cols, self.classes = shape, max(int(rows * args.scale), 100), cols, classes
        self.depth, self.rounds, self.device, self.limit = args.depth, args.rounds, args.device, args.limit
        self.test_rows = min(self.rows // 10, 500000)
        self.made = ctypes.CDLL(args.made)
        self.x, self.y = self.numbers(np, 0, self.rows)
        self.test_x, self.test_y = self.numbers(np, self.rows, self.test_rows)

    def numbers(self, np, first, n):
        x, y = np.empty((n, self.cols), np.float32), np.empty(n, np.float32)
        floats = ctypes.POINTER(ctypes.c_float)
        made = self.made.shape_floats(
            self.shape.encode(), ctypes.c_int64(first), ctypes.c_int64(n), ctypes.c_int32(self.cols),
            ctypes.c_int(os.cpu_count()), x.ctypes.data_as(floats), y.ctypes.data_as(floats))
        if not made:
            raise MemoryError(f"no memory for {self.shape}")
        return x, y

    def show(self, engine, name, value, unit="", rounds=None, of=""):
        value = value if isinstance(value, str) else f"{value:.6g}"
        print(f"{self.shape},{self.rows},{self.cols},{self.depth},{rounds or self.rounds},{engine},{name},{value},"
              f"{unit},,{of}", flush=True)

    def logloss(self, p):
        import numpy as np

        p = np.clip(np.asarray(p, np.float64), 1e-15, 1.0 - 1e-15)
        y = self.test_y.astype(np.int64)
        hit = p[np.arange(len(y)), y] if p.ndim == 2 else np.where(y == 1, p, 1.0 - p)
        return float(-np.log(hit).mean())


class XGBoost:
    name = "xgboost"

    def __init__(self, job):
        import xgboost

        self.xgb, self.version = xgboost, xgboost.__version__
        self.params = {"tree_method": "hist", "device": job.device, "max_depth": job.depth, "eta": 0.1, "lambda": 1.0,
                       "min_child_weight": 1.0, "max_bin": 255, "objective": "binary:logistic", "verbosity": 1}
        if job.classes > 2:
            self.params.update(objective="multi:softprob", num_class=job.classes)
        self.ways = {"QuantileDMatrix": self.quantile, "DMatrix": self.plain}
        if job.device == "cuda":
            self.ways["QuantileDMatrix of CuPy"] = self.cupy
        self.way = None

    def look_for_device(self, job):
        """Without support for the device, or without one, XGBoost warns and takes the CPU."""
        booster = self.xgb.train(self.params, self.xgb.DMatrix(job.x[:100], job.y[:100]), 1)
        device = json.loads(booster.save_config())["learner"]["generic_param"]["device"]
        if not device.startswith(job.device):
            raise Skipped(f"it has no {job.device} here and takes {device}")

    def quantile(self, x, y):
        return self.xgb.QuantileDMatrix(x, y, max_bin=255)

    def plain(self, x, y):
        return self.xgb.DMatrix(x, y)

    def cupy(self, x, y):
        import cupy

        return self.xgb.QuantileDMatrix(cupy.asarray(x), cupy.asarray(y), max_bin=255)

    def prepare(self, job):
        """The fastest way from numbers to the first tree."""
        self.look_for_device(job)
        few, many = min(job.rows, 20000), min(job.rows, 2000000)
        times = {}
        for way, convert in self.ways.items():
            try:
                self.xgb.train(self.params, convert(job.x[:few], job.y[:few]), 2)  # loads what is loaded at first use
                begin = time.perf_counter()
                self.xgb.train(self.params, convert(job.x[:many], job.y[:many]), 1)
                times[way] = time.perf_counter() - begin
                job.show(self.name, f"data set of {many} rows and 1 round by {way}", times[way], "s", 1)
            except Exception as error:  # whatever a library throws
                job.show(self.name, f"data set and 1 round by {way}", "", "skipped", 1, reason(error))
            gc.collect()
            free_pools()
        if not times:
            raise Skipped("no way to give it the data works")
        self.way = min(times, key=times.get)

    def convert(self, job):
        return self.ways[self.way](job.x, job.y)

    def train(self, job, data):
        end = time.perf_counter() + job.limit

        class Limit(self.xgb.callback.TrainingCallback):
            def after_iteration(self, model, epoch, evals_log):
                return time.perf_counter() > end

        return self.xgb.train(self.params, data, job.rounds, callbacks=[Limit()])

    def rounds(self, model):
        return model.num_boosted_rounds()

    def predict(self, model, x):
        return model.predict(self.xgb.DMatrix(x))


class LightGBM:
    name = "lightgbm"

    def __init__(self, job):
        import lightgbm

        self.lgb, self.version, self.way = lightgbm, lightgbm.__version__, "Dataset"
        self.params = {"device_type": job.device, "max_depth": job.depth, "num_leaves": 2**job.depth, "max_bin": 255,
                       "learning_rate": 0.1, "lambda_l2": 1.0, "min_sum_hessian_in_leaf": 1.0, "min_data_in_leaf": 1,
                       "objective": "binary", "verbosity": -1}
        if job.classes > 2:
            self.params.update(objective="multiclass", num_class=job.classes)

    def prepare(self, job):
        n = min(job.rows, 20000)
        self.lgb.train(self.params, self.lgb.Dataset(job.x[:n], job.y[:n], params=self.params), 2)

    def convert(self, job):
        return self.lgb.Dataset(job.x, job.y, params=self.params).construct()

    def train(self, job, data):
        return self.lgb.train(self.params, data, job.rounds)

    def rounds(self, model):
        return model.current_iteration()

    def predict(self, model, x):
        return model.predict(x)


class CatBoost:
    name = "catboost"

    def __init__(self, job):
        import catboost

        self.cat, self.version, self.way = catboost, catboost.__version__, "Pool"
        self.params = {"task_type": "GPU" if job.device == "cuda" else "CPU", "depth": job.depth, "border_count": 254,
                       "learning_rate": 0.1, "l2_leaf_reg": 1.0, "boosting_type": "Plain", "bootstrap_type": "No",
                       "random_strength": 0.0, "leaf_estimation_iterations": 1, "allow_writing_files": False,
                       "loss_function": "MultiClass" if job.classes > 2 else "Logloss", "logging_level": "Silent"}

    def prepare(self, job):
        n = min(job.rows, 20000)
        self.cat.train(self.cat.Pool(job.x[:n], job.y[:n]), self.params, iterations=2)

    def convert(self, job):
        return self.cat.Pool(job.x, job.y)

    def train(self, job, data):
        return self.cat.train(data, self.params, iterations=job.rounds)

    def rounds(self, model):
        return model.tree_count_

    def predict(self, model, x):
        p = model.predict(x, prediction_type="Probability")
        return p if p.shape[1] > 2 else p[:, 1]


class Gbt:
    """train.c, waiting on a pipe until it is its turn."""

    def __init__(self, args, job):
        command = [args.program, "shape=" + job.shape, f"rows={job.rows}", f"test={job.test_rows}",
                   f"depth={job.depth}", f"rounds={job.rounds}", "serve=1", "check=0", "steps=0",
                   "device=" + job.device]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.read_until("ready")

    def read_until(self, word):
        for line in self.process.stdout:
            if line.strip() == word:
                return
            print(line, end="", flush=True)
        raise Skipped("it ended: see its message above")

    def run(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.read_until("done")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


ENGINES = {"xgboost": XGBoost, "lightgbm": LightGBM, "catboost": CatBoost}


def reason(error):
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].replace(",", ";")[:160]


def free_pools():
    """CuPy keeps memory that it freed."""
    if "cupy" in sys.modules:
        sys.modules["cupy"].get_default_memory_pool().free_all_blocks()


def one_run(job, engine, memory):
    with memory:
        begin = time.perf_counter()
        data = engine.convert(job)
        built = time.perf_counter()
        model = engine.train(job, data)
        done = time.perf_counter()
    rounds = engine.rounds(model)
    job.show(engine.name, "data set", built - begin, "s", rounds, engine.way)
    job.show(engine.name, "train", done - built, "s", rounds)
    job.show(engine.name, "data set and train", done - begin, "s", rounds)
    if memory.there:
        job.show(engine.name, "device memory by NVML", memory.most * 1e-6, "MB", rounds)
        job.show(engine.name, "device memory a row by NVML", memory.most / job.rows, "bytes", rounds)
    job.show(engine.name, "logloss of test rows", job.logloss(engine.predict(model, job.test_x)), "", rounds)
    return done - begin


def gbt_run(job, gbt, memory):
    with memory:
        gbt.run()
    if memory.there:
        job.show("gbt-" + job.device, "device memory by NVML", memory.most * 1e-6, "MB")
        job.show("gbt-" + job.device, "device memory a row by NVML", memory.most / job.rows, "bytes")


def prepared(args, job):
    """The peers that can run, warm."""
    ready = []
    for name in args.engines.split(","):
        try:
            engine = ENGINES[name](job)
            engine.prepare(job)
            job.show(name, "version", engine.version)
            ready.append(engine)
        except ImportError:
            job.show(name, "train", "", "skipped", of="not installed")
        except Exception as error:  # whatever a library throws
            job.show(name, "train", "", "skipped", of=reason(error))
        gc.collect()
        free_pools()
    return ready


def run_shape(args, shape, end):
    job = Job(args, shape)
    memory = DeviceMemory()
    gbt = Gbt(args, job)
    longest = {}
    try:
        engines = prepared(args, job)
        for _ in range(args.repeats):
            if time.perf_counter() < end:
                gbt_run(job, gbt, memory)
            for engine in engines:
                if time.perf_counter() + longest.get(engine.name, 0.0) > end:
                    job.show(engine.name, "train", "", "skipped", of="no time left")
                    continue
                try:
                    longest[engine.name] = one_run(job, engine, memory)
                except Exception as error:  # whatever a library throws
                    job.show(engine.name, "train", "", "skipped", of=reason(error))
                    longest[engine.name] = float("inf")
                gc.collect()
                free_pools()
    finally:
        gbt.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shapes", default="higgs,covertype,small,epsilon,airline")
    parser.add_argument("--engines", default="xgboost,lightgbm,catboost")
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--program", default=os.path.join(HERE, "build", "cuda", "train"))
    parser.add_argument("--made", default=os.path.join(HERE, "build", "libmade.so"))
    args = parser.parse_args()
    try:
        __import__("numpy")
    except ImportError:
        print("numpy is not installed: no engine is compared", file=sys.stderr)
        return
    end = time.perf_counter() + args.seconds
    for shape in args.shapes.split(","):
        if time.perf_counter() > end:
            print(f"{shape}: no time left", file=sys.stderr)
            continue
        try:
            run_shape(args, shape, end)
        except (Skipped, OSError, MemoryError) as error:
            print(f"{shape}: {error}", file=sys.stderr)
        gc.collect()


if __name__ == "__main__":
    main()
