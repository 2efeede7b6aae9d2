"""Two installed versions of gbt on the same jobs, in turns. Start it by bench/versus.sh, which says what is measured.

    python bench/versus.py OLD_LIBRARY NEW_LIBRARY [--sets a,b] [--turns 5] [--repeats 3] [--out FOLDER]

Writes FOLDER/versus.md: medians over all turns and repeats, and old / new, which is above 1 where new is faster.
"""

import argparse
import csv
import datetime
import os
import platform
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MEASURES = {"convert_s": "conversion", "train_s": "training", "predict_s": "prediction"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("old", help="R library with the old gbt")
    parser.add_argument("new", help="R library with the new gbt")
    parser.add_argument("--sets", default="higgs_sample,letter,nycflights13,regression")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", default="versus")
    return parser.parse_args()


def measure(library, args, folder):
    """One turn of one version: {(job, measure): seconds of every run}."""
    command = [sys.executable, os.path.join(HERE, "compare.py"), "--engines", "gbt", "--phases", "compare",
               "--sets", args.sets, "--repeats", str(args.repeats), "--out", folder]
    environment = dict(os.environ, R_LIBS=os.path.abspath(library))
    with open(folder + ".log", "w", encoding="utf-8") as log:
        subprocess.run(command, env=environment, stdout=log, stderr=subprocess.STDOUT, check=True)
    with open(os.path.join(folder, "compare.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    seconds = {}
    for row in rows:
        for name in MEASURES:
            if row["status"] == "ok" and row[name]:
                seconds.setdefault((row["job"], name), []).append(float(row[name]))
    return seconds


def report(args, runs):
    lines = ["# Two versions of gbt in turns", "",
             f"- date: {datetime.date.today()}",
             f"- machine: {platform.machine()}, {os.cpu_count()} cores seen",
             f"- made by: `sh bench/versus.sh OLD NEW --sets {args.sets} --turns {args.turns} "
             f"--repeats {args.repeats}`",
             "", "Seconds, medians of all runs. Old / new above 1: the new version is faster.", "",
             "| job | what | runs | old | new | old / new |", "| --- | --- | --- | --- | --- | --- |"]
    for job, name in sorted(runs["old"]):
        old, new = runs["old"][(job, name)], runs["new"].get((job, name))
        if not new:
            continue
        a, b = statistics.median(old), statistics.median(new)
        lines.append(f"| {job} | {MEASURES[name]} | {len(old)} + {len(new)} | {a:.4f} | {b:.4f} | {a / b:.3f} |")
    return "\n".join(lines) + "\n"


def main():
    args = arguments()
    os.makedirs(args.out, exist_ok=True)
    runs = {"old": {}, "new": {}}
    for turn in range(1, args.turns + 1):
        for which in ("old", "new") if turn % 2 else ("new", "old"):
            folder = os.path.join(args.out, f"{which}-{turn}")
            for key, seconds in measure(getattr(args, which), args, folder).items():
                runs[which].setdefault(key, []).extend(seconds)
            print(f"turn {turn}: {which} measured", flush=True)
    page = os.path.join(args.out, "versus.md")
    with open(page, "w", encoding="utf-8") as file:
        file.write(report(args, runs))
    print(report(args, runs))


if __name__ == "__main__":
    main()
