#!/usr/bin/env python3
"""What training should take on one H200, reckoned from what was counted (counts.txt), kernel by kernel.

    python3 bench/gpu/model.py [micro.csv]      a table; micro.csv: primitives measured by `micro` in place of constants
    python3 bench/gpu/model.py --seconds [micro.csv]   SHAPE,FAST,SLOW,ROUNDS a line, for report.sh
    python3 bench/gpu/model.py --check          fails where a shape takes over 5 % more than counts.txt has on record
    python3 bench/gpu/model.py --write          puts the expectations on record
    python3 bench/gpu/model.py --self-check     shows that what must fail fails

What of it was measured is said at the constants. What the model is for: a change that makes a shape slower by these
counts shows before anybody has a GPU; and when one is there, what was measured beside what was expected tells where
to look. It has two bounds, `fast` and `slow`: each constant has a range.

A kernel takes the longest of
  - its sectors of 32 bytes over the memory's rate. Counted under emulation at two sizes. Those of histograms are
    counted apart, and scaled to the nodes of the large shape; of the others, what belongs to rows and what to nodes is
    told by both sizes, and scaled to the rows and nodes of the large shape
  - histograms: instructions of the load and store unit, by the machine code of the hot loop; the reductions that
    empty shared memory, at the rate of the second-level cache
  - searches, and small data: instructions for a node and feature, and for a row, constants that were read off the
    machine code by hand, as the emulation counts none
  - gradients: operations on doubles, a stated constant
  - what a kernel takes at the least, for each launch
and one gap from node to node of a recording for each launch. The host adds a constant and its launches, but for small
data, whose rounds it issues one ahead: there it adds what it takes longer than the device.

Not modelled: making data sets and sending them up, predictions, clocks that drop under load, conflicts of reductions,
rows whose codes are all alike, and overlap of kernels. A launch pays for a sector once: blocks that need the same one
are taken to do so while the cache has it.
Smaller siblings are taken to have 40 % of the rows (30 to 50).
"""

import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTS = os.path.join(HERE, "counts.txt")
BOUNDS = ("fast", "slow")
MOST = 1.05

# Constants: (fast, slow). Those of clocks and launches were measured on an H100 (bench/results/gpu-h100.md), whose
# multiprocessors are the H200's; rates of memory are the H200's data sheet, less what programs reach.
USUAL = {
    "memory": (4.3e12, 3.9e12),         # bytes a second
    "clock": (1.8e9, 1.7e9),            # Hz
    "units": (132, 132),                # multiprocessors
    "a": (1.0, 1.05),                   # clocks of a warp's addition to shared memory without conflicts
    "lsu": (0.9, 0.8),                  # of one instruction a clock and multiprocessor
    "reductions": (160e9, 80e9),        # sectors a second
    "cells_a_sector": (4.0, 2.0),       # 64-bit cells that lie side by side when a histogram is emptied
    "gap": (0.93e-6, 1.1e-6),           # seconds from node to node of a recording
    "least": (1.5e-6, 3e-6),            # seconds of a kernel of many blocks
    "one_block": (10e-6, 14e-6),        # seconds of a kernel of one block
    "gate": (1.1e-6, 1.7e-6),           # seconds of a barrier of a whole grid
    "layer": (25e-6, 32e-6),            # seconds of a layer of a cooperative kernel: search, choice, the first loads
    "host": (20e-6, 60e-6),             # seconds a round, in addition to launches
    "launch": (2e-6, 4e-6),             # seconds of a launch outside of a recording, and of a replay
    "smaller": (0.3, 0.5),              # share of rows of the smaller sibling
    "search": (1100, 2000),             # instructions of a warp for a node and a feature of 256 bins: 990, of a node
                                        # 350 for one feature or several, and 340 for each turn of ratings
    "visit": (90, 90),                  # of a warp of k_small that asks where its rows are, for four columns
    "added": (45, 45),                  # and that adds them
    "issue": (2.5, 2.0),                # such instructions a clock and multiprocessor
    "fp64": (15, 25),                   # operations on doubles of a row in a pass over gradients
    "fp64_rate": (64, 64),              # of them a clock and multiprocessor
}

# rows, features, codes of a row's features in all, words of a tile, tiles, depth (of best-first trees: on average),
# trees a round, nodes of a tree, rounds
SHAPES = {
    "higgs": (11e6, 28, 28 * 256, 8, 1, 8, 1, 511, 500),
    "airline": (115e6, 13, 1900, 4, 1, 8, 1, 511, 500),
    "covertype": (581e3, 54, 10 * 230 + 88, 4, 1, 8, 7, 511, 500),
    "epsilon": (400e3, 2000, 2000 * 256, 8, 63, 8, 1, 511, 500),
    "small": (100e3, 28, 28 * 256, 2, 4, 6, 1, 127, 100),
    "best_first": (1e6, 28, 28 * 256, 8, 1, 10, 1, 509, 100),
}
FIELDS = ("rows", "features", "codes", "words", "tiles", "depth", "trees", "nodes", "rounds")


def read_counts(path):
    """Section -> key -> figures."""
    out = {}
    with open(path) as f:
        for line in f:
            words = line.split()
            if not words or line.startswith("#"):
                continue
            plain = [w for w in words if "=" not in w]
            pairs = dict(w.split("=") for w in words if "=" in w)
            out.setdefault(plain[0], {})[" ".join(plain[1:])] = {k: float(v) for k, v in pairs.items()}
    return out


def read_micro(path):
    """Constants that a device has shown: those of both bounds are then the same."""
    found, facts = {}, {}
    with open(path) as f:
        for line in f:
            if line.startswith("#"):
                for part in line[1:].split(";"):
                    words = part.split()
                    if len(words) >= 2 and words[1] in ("MHz", "multiprocessors"):
                        facts[words[1]] = float(words[0])
                continue
            part = line.rstrip("\n").split(",")
            if len(part) >= 3 and part[1] and part[0] != "name":
                found[part[0]] = float(part[1])
    use = {}
    if facts.get("MHz") and facts.get("multiprocessors"):
        use["clock"], use["units"] = facts["MHz"] * 1e6, facts["multiprocessors"]
        if found.get("shared pair of u32 lane"):
            use["a"] = max(1.0, use["units"] * use["clock"] * 32 / (2 * found["shared pair of u32 lane"] * 1e9))
    for constant, name, factor in (("memory", "read in order", 1e9), ("reductions", "global u64 add spread", 1e9 / 4),
                                   ("gate", "grid barrier 1 block a multiprocessor", 1e-6),
                                   ("gap", "graph of 100 kernels of 128 blocks: a node", 1e-6)):
        if found.get(name):
            use[constant] = found[name] * factor
    return {k: (v, v) for k, v in use.items()}


# ---- from counts to the large shape ----

def apart(small, large, rows, nodes):
    """x and y >= 0 of figure = x rows + y nodes, from two sizes."""
    det = rows[0] * nodes[1] - rows[1] * nodes[0]
    if det != 0:
        x = (small * nodes[1] - large * nodes[0]) / det
        y = (rows[0] * large - rows[1] * small) / det
        if x >= 0 and y >= 0:
            return x, y
    x, y = large / rows[1], large / nodes[1]
    return (0.0, y) if abs(y * nodes[0] - small) <= abs(x * rows[0] - small) else (x, 0.0)


def scaled(counts, name, shape):
    """Kernel -> sectors and launches of a round of the large shape."""
    head = [counts["round"][name], counts["round"][name + "_more"]]
    rows, nodes = [h["rows"] for h in head], [h["nodes"] for h in head]
    columns = shape["features"] / {"epsilon": 200}.get(name, shape["features"])  # the counted one is narrower
    out = {}
    for key, large in counts["run"].items():
        if not key.startswith(name + "_more:"):
            continue
        kernel = key.split(":", 1)[1]
        small = counts["run"].get("%s:%s" % (name, kernel), dict.fromkeys(large, 0.0))
        x, y, hists = 0.0, 0.0, 0.0
        for way in ("read", "written"):
            own = [k["sectors_" + way] - k["hists_" + way] for k in (small, large)]
            u, v = apart(own[0], own[1], rows, nodes)
            x, y, hists = x + u, y + v, hists + large["hists_" + way] / nodes[1]
        per_tree = shape["nodes"] * shape["trees"] * columns
        out[kernel] = {"sectors": x * shape["rows"] + (y + hists) * per_tree, "hists": hists * per_tree,
                       "launches": large["launches"], "blocks": large["blocks"]}
    return out


def hot_loop(counts, words):
    """Loads and shuffles for an addition, in the loop of tiles of so many words: two additions a row and column, of
    one row (8 words) or of two."""
    best = None  # the slowest one: with and without row numbers
    for key, loop in counts["loop"].items():
        if not key.startswith("sm_90 hist:k_hist<512,2>") or loop["shared_adds"] != min(16 * words, 64):
            continue
        other = (loop["shuffles"] + loop["loads"] + loop["shared"] + loop["local"]) / loop["shared_adds"]
        best = other if best is None else max(best, other)
    if best is None:
        raise SystemExit("model: counts.txt has no loop of k_hist with %d additions" % min(16 * words, 64))
    return best


def histogram_seconds(counts, c, s, hists):
    """Load and store unit, or memory; and the emptying of shared memory into as many sectors of histograms."""
    layers = s["depth"] - 1
    rows = s["rows"] * s["trees"] * (1 + c["smaller"] * layers)
    adds = rows * s["tiles"] * 2 * 4 * s["words"] / 32
    unit = adds * (c["a"] + hot_loop(counts, s["words"])) / (c["units"] * c["clock"] * c["lsu"])
    sector = max(4 * s["words"], 32)
    moved = s["rows"] * s["trees"] * (s["tiles"] * 4 * s["words"] + 4)
    moved += (rows - s["rows"] * s["trees"]) * (s["tiles"] * sector + 8)
    blocks = 2 * c["units"]
    built = s["trees"] * (s["nodes"] + 1) / 4
    cells = 2 * s["codes"] * (blocks / s["tiles"] * s["depth"] + built)
    few = rows * s["features"] * 2  # no more than there are additions
    emptied = max(min(cells, few) / c["cells_a_sector"] / c["reductions"], hists * 32 / c["memory"])
    return max(unit, moved / c["memory"]) + emptied


def search_seconds(c, s):
    tasks = s["trees"] * s["nodes"] / 2 * s["features"]
    bins = s["codes"] / s["features"] / 256
    return tasks * c["search"] * max(bins, 1 / 4) / (c["units"] * c["issue"] * c["clock"])


def small_seconds(c, s):
    """One cooperative kernel for each tree: two gates a layer, and one more. For every four columns a layer below the
    root looks at all rows, and adds those of the smaller siblings."""
    groups = s["features"] / 4
    rows = s["rows"] * (1 + c["smaller"] * (s["depth"] - 1))
    unit = rows * groups * 8 / 32 * (c["a"] + 1) / (c["units"] * c["clock"] * c["lsu"])
    code = groups / 32 * (s["rows"] * (s["depth"] - 1) * c["visit"] + rows * c["added"])
    code /= c["units"] * c["clock"] * c["issue"]
    return s["trees"] * (max(unit, code) + s["depth"] * c["layer"] + (2 * s["depth"] + 1) * c["gate"])


def expect(counts, name, bound, known):
    """Seconds of a round by kernel, with `gaps` and `host`."""
    c = {k: v[BOUNDS.index(bound)] for k, v in {**USUAL, **known}.items()}
    s = dict(zip(FIELDS, SHAPES[name]))
    out, launches = {}, 0.0
    if name == "higgs" and not any(x.startswith("higgs_more:k_hist<") for x in counts["run"]):
        raise SystemExit("model: counts.txt has no k_hist; model.py must learn what builds histograms now")
    kernels = scaled(counts, name, s)
    for kernel, k in kernels.items():
        one = k["blocks"] == k["launches"]
        least = k["launches"] * (c["one_block"] if one else c["least"])
        t = k["sectors"] * 32 / c["memory"]
        if kernel.startswith("k_hist<"):
            t = histogram_seconds(counts, c, s, k["hists"])
        elif kernel == "k_small":
            t = max(t, small_seconds(c, s))
        elif kernel.startswith("k_small_gradients<"):
            t = max(t, least) + 2 * c["gate"]
        elif "search" in kernel:
            t = max(t, search_seconds(c, s))
        elif kernel.startswith(("k_maxima", "k_fix")) and k["sectors"] > s["rows"] / 32:
            t = max(t, s["rows"] * s["trees"] * c["fp64"] / c["fp64_rate"] / c["units"] / c["clock"])
        out[kernel] = max(t, least)
        launches += k["launches"]
    head = counts["round"][name + "_more"]
    out["gaps"] = launches * c["gap"]
    host = c["host"] + (head["launches"] + head["graph_launches"]) * c["launch"]
    out["host"] = max(0.0, host - sum(out.values())) if "k_small" in kernels else host
    return out


def totals(counts, known):
    out = {}
    for name, shape in SHAPES.items():
        for bound in BOUNDS:
            out[name, bound] = sum(expect(counts, name, bound, known).values()) * shape[FIELDS.index("rounds")]
    return out


def show(counts, known):
    for constant, (value, _) in sorted(known.items()):
        print("measured: %s %.4g" % (constant, value))
    for name, shape in SHAPES.items():
        part = {b: expect(counts, name, b, known) for b in BOUNDS}
        whole = {b: sum(part[b].values()) for b in BOUNDS}
        rounds = shape[FIELDS.index("rounds")]
        print("\n%s: %d rounds take %.3g to %.3g s; a round, ms: %.3f to %.3f" %
              (name, rounds, whole["fast"] * rounds, whole["slow"] * rounds, whole["fast"] * 1e3, whole["slow"] * 1e3))
        for kernel in sorted(part["slow"], key=part["slow"].get, reverse=True):
            if part["slow"][kernel] > whole["slow"] * 0.01:
                print("  %-40s %8.3f %8.3f" % (kernel, part["fast"][kernel] * 1e3, part["slow"][kernel] * 1e3))


# ---- what is on record ----

def faults(now, record):
    out = []
    for (name, bound), seconds in sorted(now.items()):
        old = record.get(name, {}).get(bound)
        if old is None:
            out.append("%s is not on record" % name)
        elif seconds > old * MOST:
            out.append("%s, %s: %.4g s expected, %.4g s on record" % (name, bound, seconds, old))
    return out


def write(now):
    with open(COUNTS) as f:
        lines = [line for line in f if not line.startswith("model ")]
    lines += ["model %s %s\n" % (name, " ".join("%s=%.4f" % (b, now[name, b]) for b in BOUNDS)) for name in SHAPES]
    head = [line for line in lines if line.startswith("#")]
    with open(COUNTS, "w") as f:
        f.writelines(head + sorted(line for line in lines if not line.startswith("#")))


def self_check():
    assert [round(v, 9) for v in apart(5 * 10 + 2 * 7, 5 * 30 + 2 * 9, (10, 30), (7, 9))] == [5, 2]
    assert apart(8, 8, (10, 30), (4, 4)) == (0.0, 2.0) and apart(10, 30, (10, 30), (4, 4)) == (1.0, 0.0)
    counts = read_counts(COUNTS)
    now = totals(counts, {})
    record = {name: {b: now[name, b] for b in BOUNDS} for name in SHAPES}
    assert faults(now, record) == [] and all(math.isfinite(v) and v > 0 for v in now.values())
    for key in counts["loop"]:  # twice the loads in the hot loops must show
        counts["loop"][key]["loads"] += 64
    assert any("higgs" in x for x in faults(totals(counts, {}), record))
    counts = read_counts(COUNTS)
    for key in counts["run"]:  # and four times the launches
        counts["run"][key]["launches"] *= 4
    assert any("best_first" in x for x in faults(totals(counts, {}), record))
    assert len(faults(now, {})) == len(now)
    print("model: the self-check found what was planted")


def main(words):
    if words == ["--self-check"]:
        return self_check()
    counts = read_counts(COUNTS)
    if words == ["--write"]:
        return write(totals(counts, {}))
    if words[:1] == ["--seconds"]:
        now = totals(counts, read_micro(words[1]) if words[1:] else {})
        for name in SHAPES:
            print("%s,%.4f,%.4f,%d" % (name, now[name, "fast"], now[name, "slow"], SHAPES[name][-1]))
        return None
    if words != ["--check"]:
        return show(counts, read_micro(words[0]) if words else {})
    bad = faults(totals(counts, {}), counts.get("model", {}))
    for fault in bad:
        print("model: " + fault)
    if bad:
        sys.exit("If the change is meant: sh tools/counts.sh --write, and the reason into the commit's message")
    print("model: no shape is expected to take longer than it was")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
