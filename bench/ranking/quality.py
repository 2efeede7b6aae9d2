"""NDCG@10 of gbt's objectives of ranking and of other packages' on held-out queries.

    python bench/ranking/quality.py DATA OUT [--sets a,b] [--splits 4] [--variants a,b] [--report]

DATA: the folder of the files that sets.py names. Each split halves the queries of a set at random: models are fitted
to one half and judged on the other. The NDCG of every query goes to OUT/SET/SPLIT/VARIANT.npy; a run whose file is
there is not made again. --report prints the tables of what is there.

Variants of peers and of gbt (gbt's are in VARIANTS of quality-gbt.R), by the part before the colon:

    stop     own defaults of the package. A fifth of the training queries decides when to stop: 50 rounds without a
             better NDCG@10, at most 2,000 rounds. gbt's "rounds found" is gbt_train() with nothing but the objective:
             it finds the rounds in folds of the same rows; "by pair_accuracy" stops by that metric. "refit" of a
             peer: trained again on all training queries with the number of rounds that was found
    leaves   300 rounds of 31 leaves, best first: eta 0.1, no penalty, 20 rows and hessians of 0.001 a leaf (LightGBM's
             defaults; XGBoost has no limit of rows)
    depth    300 rounds of depth 6, eta 0.1, lambda 1

NDCG: gains 2^label - 1, equal scores in random order, queries without a relevant row left out.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

from sets import CHOOSING, SETS

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_QUERIES = {"beijing": 1500, "cars": 1500}
THREADS, TOP = 1, 10


# ---- data ----


class Part:
    def __init__(self, x, y, q):
        order = np.argsort(q, kind="stable")
        self.x, self.y, self.q = x[order], y[order].astype(np.float64), q[order]
        _, first, self.sizes = np.unique(self.q, return_index=True, return_counts=True)
        self.start = np.append(first, len(q))


def split_of(data, name, half, split):
    """Parts fit (four fifths of train), stop, train and test. half: 0 or 1 takes queries of that parity, None all."""
    x, y, q = data
    draw = np.random.default_rng(split)
    _, q = np.unique(q, return_inverse=True)
    queries = np.arange(q.max() + 1)
    if name in MOST_QUERIES:
        queries = np.random.default_rng(99).permutation(queries)[: MOST_QUERIES[name]]
    if half is not None:
        queries = queries[queries % 2 == half]
    queries = draw.permutation(queries)
    part_of = np.full(q.max() + 1, -1)
    n = len(queries) // 2
    part_of[queries[:n]] = 0
    part_of[queries[: n // 5]] = 1
    part_of[queries[n:]] = 2
    shuffled = draw.permutation(len(q))  # so that equal scores have a random order
    x, y, q = x[shuffled], y[shuffled], q[shuffled]
    which = part_of[q]

    def part(rows):
        return Part(x[rows], y[rows], q[rows])

    return {"fit": part(which == 0), "stop": part(which == 1), "train": part((which == 0) | (which == 1)),
            "test": part(which == 2)}


def ndcg(part, score):
    out = []
    discount = 1 / np.log2(np.arange(TOP) + 2)
    for beg, end in zip(part.start[:-1], part.start[1:]):
        gain = 2.0 ** part.y[beg:end] - 1
        ideal = np.sort(gain)[::-1][:TOP]
        ideal = ideal @ discount[: len(ideal)]
        got = gain[np.argsort(-score[beg:end], kind="stable")][:TOP]
        out.append(got @ discount[: len(got)] / ideal if ideal > 0 else np.nan)
    return np.array(out)


# ---- peers: functions of the parts that give scores of the test rows ----


def lightgbm_of(objective, mode):
    def run(parts):
        import lightgbm

        params = {"objective": objective, "num_threads": THREADS, "verbosity": -1, "metric": "ndcg", "eval_at": [10],
                  "seed": 1}
        if mode == "depth":
            params |= {"max_depth": 6, "num_leaves": 64, "lambda_l2": 1.0}

        def data(part, reference=None):
            return lightgbm.Dataset(part.x, part.y, group=part.sizes, reference=reference, params=params)

        if mode in ("leaves", "depth"):
            return lightgbm.train(params, data(parts["train"]), 300).predict(parts["test"].x)
        first = data(parts["fit"])
        model = lightgbm.train(params, first, 2000, valid_sets=[data(parts["stop"], first)],
                               callbacks=[lightgbm.early_stopping(50, verbose=False)])
        if mode == "refit":
            model = lightgbm.train(params, data(parts["train"]), model.best_iteration)
        return model.predict(parts["test"].x)

    return run


def xgboost_of(objective, mode):
    def run(parts):
        import xgboost

        params = {"objective": objective, "nthread": THREADS, "eval_metric": "ndcg@10", "seed": 1}
        if mode == "leaves":
            params |= {"eta": 0.1, "lambda": 0, "grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0,
                       "min_child_weight": 1e-3}
        if mode == "depth":
            params |= {"eta": 0.1, "lambda": 1}

        def data(part):
            return xgboost.DMatrix(part.x, part.y, group=part.sizes)

        if mode in ("leaves", "depth"):
            return xgboost.train(params, data(parts["train"]), 300).predict(data(parts["test"]))
        model = xgboost.train(params, data(parts["fit"]), 2000, evals=[(data(parts["stop"]), "stop")],
                              early_stopping_rounds=50, verbose_eval=False)
        if mode == "refit":
            return xgboost.train(params, data(parts["train"]), model.best_iteration + 1).predict(data(parts["test"]))
        return model.predict(data(parts["test"]), iteration_range=(0, model.best_iteration + 1))

    return run


def catboost_of(objective, mode):
    def run(parts):
        import catboost

        params = {"loss_function": objective, "thread_count": THREADS, "eval_metric": "NDCG:top=10;type=Exp",
                  "verbose": False, "allow_writing_files": False, "random_seed": 1}

        def data(part):
            return catboost.Pool(part.x, part.y, group_id=part.q)

        if mode in ("leaves", "depth"):
            params |= {"iterations": 300, "learning_rate": 0.1}
            return catboost.CatBoost(params).fit(data(parts["train"])).predict(data(parts["test"]))
        model = catboost.CatBoost(params | {"iterations": 2000, "od_type": "Iter", "od_wait": 50})
        model.fit(data(parts["fit"]), eval_set=data(parts["stop"]))
        if mode == "refit":
            params |= {"iterations": model.get_best_iteration() + 1, "learning_rate": model.learning_rate_}
            model = catboost.CatBoost(params).fit(data(parts["train"]))
        return model.predict(data(parts["test"]))

    return run


PEERS = {}
for _mode in ("stop", "refit", "leaves", "depth"):
    for _name, _of, _objective in (
            ("lightgbm lambdarank", lightgbm_of, "lambdarank"), ("lightgbm rank_xendcg", lightgbm_of, "rank_xendcg"),
            ("xgboost rank:ndcg", xgboost_of, "rank:ndcg"), ("xgboost rank:pairwise", xgboost_of, "rank:pairwise"),
            ("catboost YetiRank", catboost_of, "YetiRank"), ("catboost QueryRMSE", catboost_of, "QueryRMSE")):
        if not (_mode == "leaves" and _of is catboost_of):
            PEERS[f"stop:{_name} refit" if _mode == "refit" else f"{_mode}:{_name}"] = _of(_objective, _mode)


# ---- gbt ----


def write_parts(parts, folder):
    for name, part in parts.items():
        part.x.T.astype("<f8").tofile(os.path.join(folder, name + ".x"))
        part.y.astype("<f8").tofile(os.path.join(folder, name + ".y"))
        part.q.astype("<i4").tofile(os.path.join(folder, name + ".q"))


def run_gbt(parts, variants):
    """Scores of the test rows by variant."""
    with tempfile.TemporaryDirectory() as folder:
        write_parts(parts, folder)
        command = ["Rscript", os.path.join(HERE, "quality-gbt.R"), folder, *variants]
        subprocess.run(command, check=True)
        return {v: np.fromfile(os.path.join(folder, v + ".out")) for v in variants}


def gbt_variants():
    command = ["Rscript", os.path.join(HERE, "quality-gbt.R")]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return out.stdout.split("\n")[:-1]


# ---- the run and its tables ----


def run_split(data, name, split, variants, gbt, args):
    set_name, half = (name[:-6], int(name[-1] == "2")) if name.endswith(("half1", "half2")) else (name, None)
    folder = os.path.join(args.out, name, str(split))
    os.makedirs(folder, exist_ok=True)
    left = [v for v in variants if not os.path.exists(os.path.join(folder, v + ".npy"))]
    if not left:
        return
    parts = split_of(data[set_name], set_name, half, split)
    own = [v for v in left if v in gbt]
    scores = run_gbt(parts, own) if own else {}
    for variant in left:
        score = scores[variant] if variant in gbt else PEERS[variant](parts)
        value = ndcg(parts["test"], np.asarray(score, np.float64))
        np.save(os.path.join(folder, variant + ".npy"), value)
        print(f"{name} {split} {variant} {np.nanmean(value):.4f}", file=sys.stderr, flush=True)


def report(args, names, variants):
    """Means over splits; in brackets the standard error of the difference to the best peer of the mode."""
    for mode in ("stop", "leaves", "depth"):
        of_mode = [v for v in variants if v.startswith(mode + ":")]
        if not of_mode:
            continue
        print(f"## {mode}\n\n| variant | " + " | ".join(names) + " | mean |\n|" + " --- |" * (len(names) + 2))
        table = {}
        for name in names:
            for v in of_mode:
                paths = [os.path.join(args.out, name, str(s), v + ".npy") for s in range(args.splits)]
                if all(os.path.exists(p) for p in paths):
                    table[v, name] = [np.load(p) for p in paths]
        best = {}
        for name in names:
            peers = [v for v in of_mode if v in PEERS and (v, name) in table]
            if peers:
                best[name] = max(peers, key=lambda v: np.mean([np.nanmean(a) for a in table[v, name]]))
        for v in of_mode:
            cells, means = [], []
            for name in names:
                if (v, name) not in table:
                    cells.append("")
                    continue
                means.append(np.mean([np.nanmean(a) for a in table[v, name]]))
                cells.append(f"{means[-1]:.4f}")
                if name in best and v not in PEERS:
                    by = [np.nanmean(a - b) for a, b in zip(table[v, name], table[best[name], name])]
                    error = np.mean([np.nanstd(a - b) / np.sqrt(np.isfinite(a - b).sum())
                                     for a, b in zip(table[v, name], table[best[name], name])])
                    cells[-1] += f" ({np.mean(by):+.4f} +- {error / np.sqrt(args.splits):.4f})"
                elif best.get(name) == v:
                    cells[-1] = f"**{cells[-1]}**"
            mean = f"{np.mean(means):.4f}" if len(means) == len(names) else ""
            print(f"| {v[len(mode) + 1:]} | " + " | ".join(cells) + f" | {mean} |")
        print()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--sets", default="choosing")
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--variants", default="")
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    confirming = [name for name in SETS if name not in CHOOSING]
    names = {"choosing": ["yandex half1", *CHOOSING[1:]], "confirming": ["yandex half2", *confirming]}.get(
        args.sets, args.sets.split(","))
    gbt = gbt_variants()
    wanted = args.variants.split(",") if args.variants else None
    variants = [v for v in [*gbt, *PEERS] if wanted is None or any(w in v for w in wanted)]
    if args.report:
        report(args, names, variants)
        return
    data = {name.split()[0]: SETS[name.split()[0]](args.data) for name in names}
    for split in range(args.splits):
        for name in names:
            run_split(data, name, split, variants, gbt, args)


main()
