"""Training time of rank_ndcg and of the lambdarank objectives of other packages, in turns.

    python bench/ranking/speed.py [--rows 1000000] [--rounds 30] [--repeats 3] [--leaves 0] [--query 120]
        [--engines gbt,lightgbm,xgboost] [--variant ndcg|xendcg] [--folder FOLDER]

Made data of MSLR's shape: 136 columns (counts with many zeros, heavy tails, scores, columns that are constant within
a query), queries of --query rows, labels 0..4 as often as in MSLR (52, 32, 13, 2 and 1 %). Every run is a fresh
process that loads the data, then makes the data set and trains with two threads. Other work on the machine changes the
wall time, so the processor time (user and system) of data set and training is the main figure; threads that wait give
their core back (OMP_WAIT_POLICY). Ratios are medians of the ratios within a repeat.

The same for all: eta 0.1, lambda 1, 255 bins, min_child_weight 0.001, one row a leaf, depth 6 (--leaves N: best first
to N leaves instead), no sampling of rows or columns, pairs with one row among the first 32, gains 2^label - 1,
gradients divided by query. The other packages get a float32 matrix by row, gbt R's matrix of doubles.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS, THREADS = 136, 2


def make(rows, query):
    """x (rows x 136, float32), y, size of queries."""
    draw = np.random.default_rng(1)
    x = np.empty((rows, COLUMNS), dtype=np.float32)
    number = np.arange(rows) // query
    for j in range(COLUMNS):
        kind = j % 5
        if kind == 0:
            x[:, j] = draw.poisson(draw.gamma(0.5, 2.0, rows))
        elif kind == 1:
            x[:, j] = np.where(draw.random(rows) < 0.4, 0, np.exp(draw.normal(2, 1.5, rows)))
        elif kind == 2:
            x[:, j] = draw.normal(0, 1, rows)
        elif kind == 3:
            x[:, j] = draw.random(rows)
        else:  # of the query
            x[:, j] = draw.normal(0, 1, number[-1] + 1)[number]
    z = np.log1p(x[:, [0, 1, 5, 6, 10]]).sum(axis=1) + x[:, 2] * (x[:, 7] > 0) + 2 * x[:, 3] * x[:, 8]
    z += 0.5 * np.sin(3 * x[:, 12]) + x[:, 4] * (x[:, 17] > 0) + draw.normal(0, 2, rows)
    z += draw.normal(0, 1, number[-1] + 1)[number]
    cuts = np.quantile(z, np.cumsum([0.52, 0.32, 0.13, 0.02]))
    return x, np.searchsorted(cuts, z).astype(np.int32), np.bincount(number)


def lightgbm_train(data, args):
    import lightgbm

    x, y, sizes = data
    params = {"objective": "lambdarank", "learning_rate": 0.1, "lambda_l2": 1.0, "max_bin": 255, "min_data_in_leaf": 1,
              "min_sum_hessian_in_leaf": 1e-3, "lambdarank_truncation_level": 32, "num_threads": THREADS,
              "num_leaves": args.leaves or 64, "max_depth": -1 if args.leaves else 6, "verbosity": -1}
    if args.variant == "xendcg":
        params["objective"] = "rank_xendcg"
    begin = clock()
    train = lightgbm.Dataset(x, y, group=sizes, params=params)
    train.construct()
    made = clock()
    lightgbm.train(params, train, args.rounds)
    return begin, made, clock()


def xgboost_train(data, args):
    import xgboost

    x, y, sizes = data
    params = {"objective": "rank:ndcg", "eta": 0.1, "lambda": 1.0, "max_bin": 255, "min_child_weight": 1e-3,
              "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 32, "nthread": THREADS,
              "tree_method": "hist", "max_depth": 0 if args.leaves else 6, "max_leaves": args.leaves,
              "grow_policy": "lossguide" if args.leaves else "depthwise"}
    begin = clock()
    train = xgboost.QuantileDMatrix(x, y, group=sizes, nthread=THREADS, max_bin=255)
    made = clock()
    xgboost.train(params, train, args.rounds)
    return begin, made, clock()


def clock():
    used = os.times()
    return used.user + used.system, time.perf_counter()


def worker(args):
    x = np.fromfile(os.path.join(args.folder, "x.f64")).reshape(COLUMNS, args.rows).T
    y = np.fromfile(os.path.join(args.folder, "y.i32"), dtype=np.int32)
    number = np.arange(args.rows) // args.query
    data = np.ascontiguousarray(x, dtype=np.float32), y, np.bincount(number)
    del x
    begin, made, end = {"lightgbm": lightgbm_train, "xgboost": xgboost_train}[args.engine](data, args)
    print(made[0] - begin[0], end[0] - made[0], end[1] - begin[1])


def run(args, engine, variant):
    """Processor seconds of the data set and of training, and wall seconds of both."""
    own = [f"--folder={args.folder}", f"--rows={args.rows}", f"--rounds={args.rounds}", f"--leaves={args.leaves}",
           f"--query={args.query}", f"--variant={variant}"]
    command = ["Rscript", os.path.join(HERE, "speed-gbt.R"), *own]
    if engine != "gbt":
        command = [sys.executable, os.path.abspath(__file__), *own, f"--engine={engine}"]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                         env=os.environ | {"OMP_WAIT_POLICY": "passive"})
    return [float(word) for word in out.stdout.split()[-3:]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--leaves", type=int, default=0)
    parser.add_argument("--query", type=int, default=120)
    parser.add_argument("--engines", default="gbt,lightgbm,xgboost")
    parser.add_argument("--variant", default="ndcg")
    parser.add_argument("--folder")
    parser.add_argument("--engine")
    args = parser.parse_args()
    if args.engine:
        worker(args)
        return
    engines = args.engines.split(",")
    with tempfile.TemporaryDirectory() as folder:
        args.folder = args.folder or folder
        x, y, _ = make(args.rows, args.query)
        x.T.astype(np.float64).tofile(os.path.join(args.folder, "x.f64"))
        y.tofile(os.path.join(args.folder, "y.i32"))
        del x
        times = {engine: [] for engine in engines}
        for repeat in range(args.repeats):
            for engine in engines:
                times[engine].append(run(args, engine, args.variant))
                print(repeat, engine, *(f"{t:.2f}" for t in times[engine][-1]), file=sys.stderr, flush=True)
    shape = "depth 6" if args.leaves == 0 else f"{args.leaves} leaves"
    print(f"{args.rows:,} x {COLUMNS}, queries of {args.query}, {args.rounds} rounds, {shape}, {args.variant}, "
          f"{args.repeats} repeats\n")
    print("| package | data set, CPU s | training, CPU s | both | wall | both / gbt | training / gbt |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for engine in engines:
        t = times[engine]
        ratio = statistics.median((a[0] + a[1]) / (b[0] + b[1]) for a, b in zip(t, times[engines[0]]))
        alone = statistics.median(a[1] / b[1] for a, b in zip(t, times[engines[0]]))
        middle = [statistics.median(column) for column in zip(*t)]
        both = statistics.median(a[0] + a[1] for a in t)
        cells = [middle[0], middle[1], both, middle[2], ratio, alone]
        print(f"| {engine} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")


main()
