"""Sets for quality.py: each a triple of x (rows x columns), y (grades 0, 1, ..) and the query of every row.

Two of them are files of ranking and one is of choices. The others are tables turned into rankings: rows of a place, a
day or a make are a query, and the grade of a row is that of its response among all rows (0 for half of them, 1 to 4 for
the upper 30, 13, 5 and 2 %). Made sets: grades of sums, of interactions, or of what is best within the query.
"""

import gzip
import os

import numpy as np


def read_csv(folder, name, drop=()):
    """Columns by name; those that are no numbers become codes."""
    import pandas

    table = pandas.read_csv(os.path.join(folder, name + ".csv.gz"))
    table = table.drop(columns=[column for column in drop if column in table])
    return {c: table[c].to_numpy(float) if table[c].dtype.kind in "biuf" else
            table[c].astype("category").cat.codes.to_numpy(float) for c in table}


def matrix(columns, drop):
    return np.column_stack([v for name, v in columns.items() if name not in drop])


def grades(z, noise_free=False):
    return np.searchsorted(np.quantile(z, [0.5, 0.8, 0.93, 0.98]), z, side="right").astype(np.int32)


def yandex(folder):
    d = read_csv(folder, "yandex_letor", ["split", "group_id"])
    return matrix(d, ["qid", "label", "relevance"]), d["label"].astype(np.int32), d["qid"]


def lambdarank(folder):
    x, y, q = [], [], []
    for part in ("train", "test"):
        with gzip.open(os.path.join(folder, f"lambdarank_{part}.libsvm.gz"), "rt") as file:
            for line in file:
                words = line.split()
                row = np.zeros(301)
                for word in words[2:]:
                    at, value = word.split(":")
                    row[int(at) - 1] = float(value)
                x.append(row)
                y.append(int(words[0]))
                q.append(int(words[1][4:]))
    x = np.array(x)
    return x[:, x.std(axis=0) > 0], np.array(y, np.int32), np.array(q)


def car_choice(folder):
    d = read_csv(folder, "car_choice", ["alt"])
    return matrix(d, ["qid", "chosen"]), d["chosen"].astype(np.int32), d["qid"]


def california(folder):
    d = read_csv(folder, "california_housing")
    names = list(d)
    price = next(d[n] for n in names if "value" in n.lower() or "price" in n.lower() or "target" in n.lower())
    lat, lon = (next(n for n in names if n.lower().startswith(w)) for w in ("lat", "lon"))
    block = np.floor(d[lat] * 4) * 1000 + np.floor(d[lon] * 4)
    drop = [n for n in names if d[n] is price] + [lat, lon]
    return matrix(d, drop), grades(price), block


def beijing(folder):
    d = read_csv(folder, "beijing_air", ["SO2", "NO2", "CO", "O3", "PM10"])
    keep = ~np.isnan(d["PM2.5"]) & (d["year"] >= 2015)
    d = {name: v[keep] for name, v in d.items()}
    day = ((d["year"] * 12 + d["month"]) * 31 + d["day"]) * 100 + d["station"]
    return matrix(d, ["PM2.5", "year", "day", "station"]), grades(d["PM2.5"]), day


def cars(folder):
    d = read_csv(folder, "uk_used_cars")
    draw = np.random.default_rng(5)
    within = np.zeros(len(d["price"]))
    for model in np.unique(d["model"]):
        rows = draw.permutation(np.flatnonzero(d["model"] == model))
        within[rows] = np.arange(len(rows)) // 25
    return matrix(d, ["price", "model"]), grades(d["price"]), d["model"] * 10000 + within


def made(seed, queries, size, kind, noise, columns=30):
    draw = np.random.default_rng(seed)
    n = queries * size
    q = np.repeat(np.arange(queries), size)
    x = draw.normal(0, 1, (n, columns))
    x[:, ::3] = draw.normal(0, 1, (queries, x[:, ::3].shape[1]))[q]  # of the query
    x[:, 1::5] = np.round(np.exp(x[:, 1::5]))
    own = x[:, [j for j in range(columns) if j % 3]]
    if kind == "sums":
        z = (np.sin(own[:, :8] * 1.5) * draw.uniform(0.5, 1.5, 8)).sum(axis=1)
    elif kind == "products":
        z = own[:, 1] * x[:, 0] + own[:, 3] * x[:, 3] + own[:, 5] * np.sign(x[:, 6]) + own[:, 2] * own[:, 4]
    else:  # boxes: what counts only where other conditions hold
        z = 3.0 * ((own[:, 1] > 0) & (x[:, 3] > 0) & (own[:, 5] > 0.5)) + 2.0 * ((own[:, 2] < 0) & (own[:, 7] > 0))
        z += own[:, 9] * (x[:, 9] > 0)
    z += draw.normal(0, noise, n) + draw.normal(0, 1, queries)[q]
    return x, grades(z), q


SETS = {
    "yandex": yandex,
    "lambdarank": lambdarank,
    "beijing": beijing,
    "made_products": lambda folder: made(1, 500, 50, "products", 1.0),
    "made_sums": lambda folder: made(2, 100, 120, "sums", 2.0),
    "car_choice": car_choice,
    "california": california,
    "cars": cars,
    "made_boxes": lambda folder: made(3, 1000, 20, "boxes", 1.0),
    "made_wide": lambda folder: made(4, 60, 200, "products", 1.0, 90),
}
CHOOSING = ["yandex", "lambdarank", "beijing", "made_products", "made_sums"]  # yandex: queries of even number
