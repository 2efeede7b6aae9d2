"""Made sets of the comparison, for scale: written once, read by R and Python alike.

    python bench/made.py [set ...]          all sets without names

Writes $GBT_BENCH_CACHE (default ${TMPDIR:-/tmp}/gbt-bench/data), per set one folder in the form of bench/data.R:
desc.json; train.f64 and test.f64, little-endian doubles, column after column, features (factors as codes 1, 2, ...)
then the label. Sparse sets have, per part, {part}.p (int32, columns + 1), {part}.i (int32, row numbers from 0,
ascending in a column), {part}.x (double) and {part}.y (double) instead: compressed columns.

Feature values fit in 32-bit floats, so that libraries that convert to float see the same numbers. Labels mix smooth,
stepped and crossed effects with noise, so that trees neither end early nor learn everything.
"""

import json
import os
import sys

import numpy as np

CACHE = os.environ.get("GBT_BENCH_CACHE", os.path.join(os.environ.get("TMPDIR", "/tmp"), "gbt-bench", "data"))


def float32_values(x):
    return np.asarray(x, dtype=np.float32).astype(np.float64)


def coin(rng, odds):
    return (rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(np.float64)


def effects(x):
    """A few smooth, stepped and crossed effects of the first ten columns; sd about 1."""
    return (0.8 * np.sin(2 * x[0]) + 0.6 * x[1] * x[2] + 0.7 * (x[3] > 0.3) * (x[4] < 0.6) + 0.4 * np.abs(x[5])
            - 0.15 * x[6] ** 2 + 0.3 * x[7] * (x[8] > 0) + 0.2 * x[9])


def normal_columns(rng, n, p):
    for _ in range(p):
        yield float32_values(rng.standard_normal(n))


def regression(rng, n):
    x = list(normal_columns(rng, n, 100))
    y = 5 * effects(x) + 2 * sum(x[j] * np.cos(x[j + 1]) for j in range(10, 30, 2)) + 4 * rng.standard_normal(n)
    return x, y


def wide(rng, n):
    x = list(normal_columns(rng, n, 2000))
    return x, coin(rng, 1.5 * effects(x) + 0.1 * sum(x[10:100]))


def classes(rng, n):
    x = list(normal_columns(rng, n, 50))
    score = [np.sin(x[k % 50] * (1 + k % 3)) + x[(3 * k + 1) % 50] * x[(5 * k + 2) % 50] + (x[(7 * k + 3) % 50] > 0.5)
             for k in range(20)]
    noise = [rng.gumbel(size=n) for _ in score]
    return x, np.argmax([2 * s + e for s, e in zip(score, noise)], axis=0).astype(np.float64)


def skewed(rng, n):
    """Counters, amounts and flags: one value in 90 to 99.5 % of the rows, the rest with a long tail."""
    x = []
    for j in range(40):
        tail = np.ceil(np.exp(2 * rng.standard_normal(n))) if j % 2 else np.exp(3 * rng.standard_normal(n))
        x.append(float32_values(np.where(rng.random(n) < 0.9 + 0.095 * (j % 5) / 4, 0.0, tail)))
    odds = sum((0.5 + j % 3) * np.log1p(x[j]) * (1 if j % 2 else -1) for j in range(20))
    return x, coin(rng, odds + 2 * (x[20] > 0) * (x[25] == 0) - 0.5)


def factors(rng, n):
    """Ten numbers and three factors of 200, 4,000 and 20,000 levels, popular and rare ones."""
    x = list(normal_columns(rng, n, 10))
    odds = 0.6 * effects(x)
    for levels, weight in ((200, 0.8), (4000, 0.7), (20000, 0.6)):
        effect = np.random.default_rng(levels).standard_normal(levels)
        code = np.minimum((levels * rng.random(n) ** 2.5).astype(np.int64), levels - 1)
        odds += weight * effect[code]
        x.append((code + 1).astype(np.float64))
    return x, coin(rng, odds - 0.5)


def small(rng, n):
    x = list(normal_columns(rng, n, 20))
    return x, coin(rng, 1.5 * effects(x))


def sparse_ones(rng, n):
    """50 fields of 100 levels each, one-hot: exactly one 1 per field and row, levels by Zipf's law."""
    share = 1 / np.arange(1, 101)
    levels = [rng.choice(100, n, p=share / share.sum()) for _ in range(50)]
    effect = np.random.default_rng(5000).standard_normal((50, 100))
    odds = 0.35 * sum(effect[k][levels[k]] for k in range(50))
    odds += 1.5 * (levels[0] < 3) * (levels[1] > 5) - (levels[2] == 0) * (levels[3] == 0)
    rows = [np.argsort(level, kind="stable") for level in levels]
    counts = np.concatenate([np.bincount(level, minlength=100) for level in levels])
    index = np.concatenate(rows)
    return np.concatenate([[0], np.cumsum(counts)]), index, np.ones(len(index)), coin(rng, odds - 0.3)


def sparse_values(rng, n):
    """5,000 amounts of which 1 % are not zero (popular columns 10 %, rare ones 0.2 %), lognormal, two digits."""
    share = 1 / (np.arange(1, 5001) + 60.0)
    share *= 50 / share.sum()
    index, values = [], []
    odds = np.zeros(n)
    for j in range(5000):
        rows = np.flatnonzero(rng.random(n) < share[j])
        amount = float32_values(np.maximum(np.round(np.exp(rng.standard_normal(len(rows))), 2), 0.01))
        if j % 7 == 0:
            odds[rows] += (1 if j % 2 else -1) * (0.5 + j % 3) * np.log1p(amount)
        index.append(rows)
        values.append(amount)
    begin = np.concatenate([[0], np.cumsum([len(rows) for rows in index])])
    return begin, np.concatenate(index), np.concatenate(values), coin(rng, odds)


# name: (maker, task, train rows, test rows, columns, levels of the last columns, sparse)
SETS = {
    "regression": (regression, "regression", 200_000, 50_000, 100, (), False),
    "wide": (wide, "binary", 100_000, 20_000, 2000, (), False),
    "classes": (classes, "multiclass", 500_000, 50_000, 50, (), False),
    "skewed": (skewed, "binary", 500_000, 100_000, 40, (), False),
    "factors": (factors, "binary", 10_000_000, 500_000, 13, (200, 4000, 20000), False),
    "small": (small, "binary", 2_000, 20_000, 20, (), False),
    "sparse_ones": (sparse_ones, "binary", 300_000, 60_000, 5000, (), True),
    "sparse_values": (sparse_values, "binary", 300_000, 60_000, 5000, (), True),
}


def write_part(folder, part, made, is_sparse):
    path = os.path.join(folder, part)
    if is_sparse:
        begin, index, values, y = made
        np.asarray(begin, dtype="<i4").tofile(path + ".p")
        np.asarray(index, dtype="<i4").tofile(path + ".i")
        np.asarray(values, dtype="<f8").tofile(path + ".x")
        np.asarray(y, dtype="<f8").tofile(path + ".y")
        return
    with open(path + ".f64", "wb") as file:
        for column in [*made[0], made[1]]:
            np.asarray(column, dtype="<f8").tofile(file)


def write_desc(folder, name, task, n_train, n_test, width, levels, is_sparse):
    columns = [{"name": f"x{j + 1:04d}", "kind": "numeric"} for j in range(width)]
    for column, n in zip(columns[width - len(levels):], levels):
        column.update(kind="factor", levels=[f"v{k + 1}" for k in range(n)])
    desc = {"name": name, "task": task, "n_train": n_train, "n_test": n_test, "offset": False, "sparse": is_sparse,
            "classes": [str(k) for k in range(20)] if task == "multiclass" else [], "columns": columns}
    with open(os.path.join(folder, "desc.json"), "w", encoding="utf-8") as file:
        json.dump(desc, file, indent=0)


def ensure(name):
    """The folder of a made set; writes it when it is not there."""
    folder = os.path.join(CACHE, name)
    if os.path.exists(os.path.join(folder, "done")):
        return folder
    maker, task, n_train, n_test, width, levels, is_sparse = SETS[name]
    os.makedirs(folder, exist_ok=True)
    for seed, (part, n) in enumerate((("train", n_train), ("test", n_test)), start=1):
        write_part(folder, part, maker(np.random.default_rng(seed), n), is_sparse)
    write_desc(folder, name, task, n_train, n_test, width, levels, is_sparse)
    with open(os.path.join(folder, "done"), "w", encoding="utf-8"):
        pass
    return folder


if __name__ == "__main__":
    for wanted in sys.argv[1:] or SETS:
        if wanted not in SETS:
            sys.exit(f"no made set is called `{wanted}`; they are {', '.join(SETS)}")
        print(wanted, ensure(wanted))
