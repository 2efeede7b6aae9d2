#!/usr/bin/env python3
"""Reads a model of gbt and predicts, by docs/model-format.md alone and the standard library.

  read_model.py scores MODEL TABLE   raw scores of every row, as hexadecimal floats, a line a row
  read_model.py list MODEL           the names of the sections

TABLE: tab-separated; the first line has the names of the columns; a cell is n:HEXFLOAT, t:TEXT, or empty for missing.
"""
import struct
import sys

MASK = (1 << 64) - 1
RECORDS = {
    "numbers": "<iiii", "objective": "<Q", "parameters": "<Qd", "base_scores": "<d", "sums": "<IId",
    "trees": "<QQII",
    "nodes": "<8sII", "sets": "<I", "leaf_values": "<d",
    "linear_grids": "<iiQ", "linear_cuts": "<d", "linear_x": "<h", "linear_of": "<I", "linear_leaves": "<dddQII",
    "linear_terms": "<dIi", "gain": "<d", "cover": "<d", "count": "<I",
    "columns": "<QQIi", "feature_kinds": "<Q", "features": "<Ii", "statistics": "<d",
    "projections": "<ii", "combined": "<i", "keys": "<Q", "tables": "<iidii", "shown": "<d", "bins": "<B",
    "meta": "<QIIQQ", "meta_values": "<8s", "texts": "<c",
}
NEEDED, BULK_LEFT, MISSING_LEFT, BY_LEVEL = 1, 1 << 29, 1 << 30, 1 << 31
MISSING, UNSEEN = float("nan"), -1
MOST_LEVELS = 65534


def step(lane, word):
    x = ((lane ^ word) * 0x9FB21C651E98DF25) & MASK
    return ((x << 29) | (x >> 35)) & MASK


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def checksum(data):
    words = struct.unpack("<%dQ" % (len(data) // 8), data)
    lanes, whole = [1, 2, 3, 4], len(words) // 4 * 4
    for i in range(whole):
        lanes[i % 4] = step(lanes[i % 4], words[i])
    for word in words[whole:]:
        lanes[0] = step(lanes[0], word)
    a, b, c, d = lanes
    return mix(mix(mix(mix(a ^ len(data)) ^ b) ^ c) ^ d)


def find_sections(data):
    magic, version, n_sections, n_bytes, total = struct.unpack_from("<8sIIQQ", data)
    if magic != b"gbtmodel" or version != 2:
        raise SystemExit("no model of format 2")
    if n_bytes != len(data) or checksum(data[32:]) != total:
        raise SystemExit("the model is damaged")
    sections, at = {}, 32 + 40 * n_sections
    for i in range(n_sections):
        name, flags, zero, beg, size = struct.unpack_from("<16sIIQQ", data, 32 + 40 * i)
        name = name.rstrip(b"\0").decode("ascii")
        if beg != at or size == 0 or zero != 0:
            raise SystemExit("section %s is not where it must be" % name)
        at = (beg + size + 7) // 8 * 8
        if any(data[beg + size:at]):
            raise SystemExit("there is something behind section %s" % name)
        if name not in RECORDS and flags & NEEDED:
            raise SystemExit("the model needs section %s" % name)
        sections[name] = data[beg:beg + size]
    if at != n_bytes:
        raise SystemExit("there are bytes after the last section")
    return sections


class Model:
    def __init__(self, data):
        self.sections = find_sections(data)
        self.texts = self.sections.get("texts", b"")
        self.n_features, self.n_outputs, self.n_leaf_outputs, self.n_parallel = self.records("numbers")[0]
        self.objective = self.text(self.records("objective")[0][0])
        self.base = [x for x, in self.records("base_scores")]
        self.rule, _, self.scale = (self.records("sums") or [(0, 0, 0.0)])[0]
        self.trees = self.records("trees")
        self.nodes = self.records("nodes")
        self.sets = [x for x, in self.records("sets")]
        self.leaf_values = [x for x, in self.records("leaf_values")]
        self.grids = self.records("linear_grids")
        self.cuts = [x for x, in self.records("linear_cuts")]
        self.positions = [x for x, in self.records("linear_x")]
        self.linear_of = [x for x, in self.records("linear_of")]
        self.linear_leaves = self.records("linear_leaves")
        self.terms = self.records("linear_terms")
        self.columns = []
        for name, tag, kind, n in self.records("columns"):
            place, at = {}, tag
            for i in range(n):
                at = self.texts.index(b"\0", at) + 1
                place[self.text(at)] = i
            self.columns.append((self.text(name), kind, place))
        self.features = self.read_features()

    def read_features(self):
        """By feature: its column, and None or the number of each level; or its table."""
        kinds = [self.text(at) for at, in self.records("feature_kinds")]
        numbers = [x for x, in self.records("statistics")]
        tables = self.read_tables()
        features = []
        for kind, column in self.records("features"):
            n = len(self.columns[column][2]) if kinds[kind] == "level_count" else 0
            if kinds[kind] in ("target_mean", "target_class", "key_count"):
                features.append((column, next(tables)))
            elif kinds[kind] in ("column", "level_count"):
                features.append((column, None if kinds[kind] == "column" else numbers[:n]))
            else:
                raise SystemExit("the model has features of the kind %s" % kinds[kind])
            numbers = numbers[n:]
        return features or [(column, None) for column in range(self.n_features)]

    def read_tables(self):
        """By table: its columns, the bin of every key, and the bin of other keys."""
        combined = [c for c, in self.records("combined")]
        words = [word for word, in self.records("keys")]
        bins = self.sections.get("bins", b"")
        projections = []
        for n_cols, n in self.records("projections"):
            columns, space = combined[:n_cols], 1
            combined = combined[n_cols:]
            for c in columns:
                space *= len(self.columns[c][2]) + 1
            keys = list(range(n))
            if n_cols > 1 and n > 0:
                low = max(0, (space // n).bit_length() - 1)
                n_low = (n * low + 63) // 64
                n_words = n_low + (((space - 1) >> low) + n + 63) // 64
                parts = words[:n_low], words[n_low:n_words]
                code = [sum(word << 64 * i for i, word in enumerate(part)) for part in parts]
                words = words[n_words:]
                ones = [i for i, bit in enumerate(reversed(bin(code[1]))) if bit == "1"]
                keys = [(at - i) << low | code[0] >> i * low & (1 << low) - 1 for i, at in enumerate(ones)]
            projections.append((columns, keys))
        for projection, _, _, _, unknown in self.records("tables"):
            columns, keys = projections[projection]
            yield columns, dict(zip(keys, bins)), unknown
            bins = bins[len(keys):]

    def records(self, name):
        return list(struct.iter_unpack(RECORDS[name], self.sections.get(name, b"")))

    def text(self, at):
        return self.texts[at:self.texts.index(b"\0", at)].decode("utf-8")

    def meta(self, name):
        values = self.sections.get("meta_values", b"")
        for at, kind, _, n, beg in self.records("meta"):
            if self.text(at) == name:
                return struct.unpack_from("<%d%s" % (n, "Qdi"[kind]), values, beg)
        return None

    def per_round(self):
        return self.n_parallel * (1 if self.n_leaf_outputs > 1 else self.n_outputs)

    def cell(self, column, row):
        name, kind, _ = self.columns[column]
        cell = row[name]
        if kind != 0 and isinstance(cell, float):  # a number that was taken as a category
            cell = "%d" % cell
        return cell

    def bin_of(self, table, row):
        columns, bins, unknown = table
        key = 0
        for column in columns:
            cell, place = self.cell(column, row), self.columns[column][2]
            if cell is not None and cell not in place:
                return unknown
            key = key * (len(place) + 1) + (len(place) if cell is None else place[cell])
        return bins.get(key, unknown)

    def value(self, feature, row):
        column, numbers = self.features[feature]
        if isinstance(numbers, tuple):
            return self.bin_of(numbers, row)
        _, kind, place = self.columns[column]
        cell = self.cell(column, row)
        if cell is None or kind == 0:
            return MISSING if cell is None else cell
        if numbers is not None:
            return numbers[place[cell]] if cell in place else 0.0
        level = place.get(cell, UNSEEN if kind == 1 else MISSING)
        return MISSING if kind == 1 and level >= MOST_LEVELS else level

    def leaf(self, tree, row):
        """What the leaf's node holds, and the node's number."""
        first, first_word = tree[0], tree[1]
        at = 0
        while True:
            payload, bits, left = self.nodes[first + at]
            if left == 0:
                return payload, first + at
            x = self.value(bits & (BULK_LEFT - 1), row)
            if x != x:
                go_left = bits & MISSING_LEFT
            elif not bits & BY_LEVEL:
                go_left = x <= struct.unpack("<d", payload)[0]
            elif x < 0:
                go_left = bits & BULK_LEFT
            else:
                beg, n = struct.unpack("<II", payload)
                word, bit = divmod(x, 32)
                go_left = word < n and self.sets[first_word + beg + word] >> bit & 1
            at = left if go_left else left + 1

    def linear_value(self, node, row, constant):
        if self.linear_of[node] == 0:
            return constant
        value, low, high, first, n, _ = self.linear_leaves[self.linear_of[node] - 1]
        for slope, grid, _ in self.terms[first:first + n]:
            feature, n_bins, beg = self.grids[grid]
            x = self.value(feature, row)
            if x != x:
                return constant
            if n_bins == 0:
                value += slope * x
                continue
            bin_of_x = next(b for b in range(beg, beg + n_bins) if x <= self.cuts[b])
            value += slope * self.positions[bin_of_x]
        if not self.cuts:
            return value
        return low if value < low else high if value > high else value

    def scores(self, row):
        to_float = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
        plus = (lambda a, b: to_float(a + b)) if self.rule == 1 else (lambda a, b: a + b)
        score = [0.0] * self.n_outputs if self.rule > 1 else [plus(x, 0.0) for x in self.base]
        best = self.meta("best_round")
        n_trees = len(self.trees) if not best else int(best[0]) * self.per_round()
        for t, tree in enumerate(self.trees[:n_trees]):
            payload, node = self.leaf(tree, row)
            if self.n_leaf_outputs == 1:
                k = t % self.per_round() // self.n_parallel
                value = struct.unpack("<d", payload)[0]
                score[k] = plus(score[k], self.linear_value(node, row, value) if self.linear_of else value)
                continue
            vector = struct.unpack("<Q", payload)[0]
            for k in range(self.n_outputs):
                score[k] = plus(score[k], self.leaf_values[vector * self.n_leaf_outputs + k])
        rounds = max(n_trees // self.per_round(), 1)
        if self.rule == 2:
            return [self.scale * x + base for x, base in zip(score, self.base)]
        return [x / rounds + base for x, base in zip(score, self.base)] if self.rule == 3 else score


def read_table(path):
    def cell(text):
        return None if text == "" else float.fromhex(text[2:]) if text.startswith("n:") else text[2:]
    with open(path, encoding="utf-8", newline="\n") as lines:
        names = lines.readline().rstrip("\n").split("\t")
        for line in lines:
            yield dict(zip(names, map(cell, line.rstrip("\n").split("\t"))))


def main(what, path, *table):
    with open(path, "rb") as f:
        model = Model(f.read())
    if what == "list":
        print("\n".join(model.sections))
        return
    for row in read_table(table[0]):
        print("\t".join(x.hex() for x in model.scores(row)))


if __name__ == "__main__":
    main(*sys.argv[1:])
