"""What ranks send and wait for in a tree, by a model, and what that takes on networks.

    python3 bench/ranks/model.py               tables
    python3 bench/ranks/model.py --self-check  compares the model with what is counted

A tree of depth d takes 2 d + 4 rounds of latency: scales of the gradients, their sums, histograms and best splits of
each layer, leaves, and the end of the round. A layer of 2^l nodes builds the histograms of half of them; the siblings
follow by subtraction. A slot of a histogram is two sums, of 32 bits in nodes of fewer than 65,536 rows and 64 bits
elsewhere. A reduce-scatter sends each slot once, however many ranks there are; a round takes log2(ranks) steps. The
search of a layer is divided among the ranks, so it is not in the model.
"""
import math
import os
import re
import sys

BINS = 256
NETWORKS = [("10 Gbit/s", 1.25e9, 30e-6), ("100 Gbit/s", 12.5e9, 5e-6), ("NVLink, 400 GB/s", 400e9, 10e-6)]


def built(depth):
    """Nodes whose histograms are built, by layer."""
    return [1] + [2 ** (layer - 1) for layer in range(1, depth)]


def tree(rows, columns, depth=8, bins=BINS):
    """(rounds, bytes) of a tree; rows: of all ranks."""
    total = 0
    for layer, nodes in enumerate(built(depth)):
        node_rows = rows / 2 ** layer
        total += nodes * columns * bins * (8 if node_rows < 65536 else 16)
    return 2 * depth + 4, total


def seconds(rows, columns, ranks, network, depth=8):
    _, rate, latency = network
    rounds, sent = tree(rows, columns, depth)
    steps = math.ceil(math.log2(ranks)) if ranks > 1 else 0
    return (sent / rate if ranks > 1 else 0.0) + rounds * steps * latency


def work(rows, columns, ranks, cells):
    """Seconds of adding rows to histograms: 4.5 passes of the rows of a rank, cells a second."""
    return 4.5 * rows / ranks * columns / cells


def table():
    names = " | ".join(name + ", ms" for name, _, _ in NETWORKS)
    print("| rows | columns | MB a tree | ranks | histograms, s | %s |" % names)
    print("|---:|---:|---:|---:|---:|" + "---:|" * len(NETWORKS))
    for rows, columns in [(10 ** 8, 28), (10 ** 8, 1000), (10 ** 9, 28), (10 ** 9, 1000)]:
        for ranks in (2, 8, 64, 1000):
            ms = [1000 * seconds(rows, columns, ranks, n) for n in NETWORKS]
            print("| %.0e | %d | %.1f | %d | %.3g | %s |" % (
                rows, columns, tree(rows, columns)[1] / 1e6, ranks, work(rows, columns, ranks, 1.5e9),
                " | ".join("%.3g" % x for x in ms)))


def counted(path):
    """The pinned figures of the suite ranks_cost: name -> (rounds, bytes)."""
    with open(path) as file:
        text = file.read()
    rows = re.findall(r'{"([^"]+)",\s*{[^}]*},\s*{(\d+), (\d+), (\d+)}}', text)
    return {name: (int(rounds), int(size)) for name, rounds, _, size in rows}


def self_check():
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "..", "..", "tests", "native", "boost", "test_ranks_cost.c")
    known = counted(path)
    for name in ("depthwise, depth 8", "symmetric, depth 8"):
        rounds, sent = known[name]
        model_rounds, model_sent = tree(6000, 12, bins=64)
        print("%s: counted %d rounds, %d bytes; model %d rounds, %d bytes" % (name, rounds, sent, model_rounds,
                                                                               model_sent))
        assert rounds == model_rounds, "rounds"
        assert 0.85 < model_sent / sent <= 1.0, "bytes"  # best splits, leaves and sums come to it


if __name__ == "__main__":
    if "--self-check" in sys.argv:
        self_check()
    else:
        table()
