#!/usr/bin/env python3
"""Reads a model of gbt as JSON and predicts, by docs/json-format.md alone and the standard library.

  read_json.py MODEL TABLE   raw scores of every row, as hexadecimal floats, a line a row

TABLE: tab-separated; the first line has the names of the columns; a cell is n:HEXFLOAT, t:TEXT, or empty for missing.
"""
import json
import struct
import sys


def number(x):
    return float(x)  # "Infinity" as well


def to_float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def value(column, cell):
    """A number, None for a missing one, or -1 for an unseen level."""
    if column["type"] == "number":
        x = float.fromhex(cell[2:]) if cell else float("nan")
        for part in column.get("missing", []):
            low, high = part if isinstance(part, list) else (part, part)
            if number(low) <= x <= number(high):
                return None
        return None if x != x else x
    if not cell:
        return None
    if cell[2:] in column["levels"]:
        return column["levels"].index(cell[2:])
    return -1 if column["type"] == "levels" else None


def linear(model, tree, at, row):
    """What a linear leaf adds."""
    if model["version"] == 3:
        return linear_in_numbers(tree, at, row)
    start, low, high, *terms = [number(x) for x in tree["linear"][at]]
    out = start
    for g, slope in zip(terms[::2], terms[1::2]):
        grid = model["grids"][int(g)]
        x = row[grid["column"]]
        if x is None:
            return tree["value"][at]
        out = out + slope * grid["positions"][sum(1 for cut in grid["cuts"] if number(cut) < x)]
    return min(max(out, low), high)


def linear_in_numbers(tree, at, row):
    out, *terms = tree["linear"][at]
    for column, slope in zip(terms[::2], terms[1::2]):
        if row[column] is None:
            return tree["value"][at]
        out = out + slope * row[column]
    return out


def leaf(model, tree, row):
    at = 0
    while tree["left"][at] > 0:
        x, split = row[tree["column"][at]], tree["split"][at]
        if x is None:
            left = tree["missing"][at] == 1
        elif not isinstance(split, list):
            left = x <= number(split)
        elif x < 0:
            left = tree["unseen"][at] == 1
        else:
            left = x // 32 < len(split) and split[x // 32] >> x % 32 & 1 == 1
        at = tree["left"][at] if left else tree["left"][at] + 1
    if model["version"] > 1 and tree["linear"][at] is not None:
        return linear(model, tree, at, row)
    return tree["value"][at]


def scores(model, row):
    rule, base = model["sum"], [float(b) for b in model["base"]]
    end = rule in ("scaled", "mean")
    rounded = to_float32 if rule == "float32" else float
    out = [0.0 if end else rounded(b) for b in base]
    for tree in model["trees"]:
        values = leaf(model, tree, row)
        adds = enumerate(values) if tree["output"] < 0 else [(tree["output"], values)]
        for k, v in adds:
            out[k] = rounded(out[k] + v)
    if rule == "scaled":
        out = [model["scale"] * s + b for s, b in zip(out, base)]
    if rule == "mean":
        out = [s / max(model["rounds"], 1) + b for s, b in zip(out, base)]
    return out


def main():
    model = json.load(open(sys.argv[1], encoding="utf-8"))
    assert model["format"] == "gbt" and model["version"] in (1, 2, 3)
    assert model["sum"] in ("plain", "float32", "scaled", "mean")
    lines = open(sys.argv[2], encoding="utf-8", newline="\n").read().split("\n")
    names = lines[0].split("\t")
    at = [names.index(column["name"]) for column in model["columns"]]
    for line in lines[1:-1]:
        cells = line.split("\t")
        row = [value(column, cells[i]) for column, i in zip(model["columns"], at)]
        print("\t".join(x.hex() for x in scores(model, row)))


main()
