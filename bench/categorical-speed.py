"""One run of CatBoost on the files of categorical-speed.R; prints what it took, one `key value` per line.

    python bench/categorical-speed.py FOLDER ROWS --engine catboost|catboost-pairs [--rounds 100] [--threads 2]

Categories are integer columns of a pandas frame, which CatBoost takes as they are.
"""

import argparse
import os
import resource
import sys
import tempfile
import time

import catboost
import numpy as np
import pandas as pd


def read_rows(folder, part, rows):
    def read(name, kind):
        return np.fromfile(os.path.join(folder, part, name), dtype=kind, count=rows)

    columns = {f"c{j}": read(f"c{j}.i32", "<i4") for j in (1, 2, 3)}
    columns.update({f"x{j}": read(f"x{j}.f32", "<f4") for j in range(1, 8)})
    return pd.DataFrame(columns), read("y.f32", "<f4")


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("rows", type=int)
    parser.add_argument("--engine", choices=["catboost", "catboost-pairs"], required=True)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()

    x, y = read_rows(args.folder, "train", args.rows)
    categorical = ["c1", "c2", "c3"]
    statistic = ["Borders:CtrBorderCount=15:Prior=0.5"]
    params = {"loss_function": "Logloss", "iterations": args.rounds, "thread_count": args.threads, "random_seed": 1,
              "verbose": False, "allow_writing_files": False, "learning_rate": 0.1, "depth": 6, "l2_leaf_reg": 1.0,
              "border_count": 254, "boosting_type": "Plain", "bootstrap_type": "No", "random_strength": 0.0,
              "leaf_estimation_iterations": 1, "simple_ctr": statistic, "combinations_ctr": statistic,
              "one_hot_max_size": 2, "max_ctr_complexity": 2 if args.engine == "catboost-pairs" else 1}
    cpu, begin = cpu_seconds(), time.perf_counter()
    pool = catboost.Pool(x, y, cat_features=categorical, thread_count=args.threads)
    built = time.perf_counter()
    model = catboost.CatBoost(params)
    model.fit(pool)
    done, cpu = time.perf_counter(), cpu_seconds() - cpu
    del pool, x, y

    x, y = read_rows(args.folder, "test", args.rows // 10)
    model.predict(x[:1000], thread_count=args.threads)
    start = time.perf_counter()
    p = np.asarray(model.predict(x, prediction_type="Probability", thread_count=args.threads))[:, 1]
    predict_s = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.cbm")
        model.save_model(path)
        size = os.path.getsize(path)
    result = {"version": catboost.__version__, "convert_s": built - begin, "train_s": done - built, "cpu_s": cpu,
              "predict_rows_s": len(p) / predict_s,
              "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "model_bytes": size,
              "loss": -np.mean(np.log(np.where(y == 1, p, 1 - p)))}
    for key, value in result.items():
        sys.stdout.write(f"{key} {value}\n")


if __name__ == "__main__":
    main()
