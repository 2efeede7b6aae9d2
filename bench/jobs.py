"""What bench/compare.py runs: jobs, variants, and how to find sets, libraries and the machine's name."""

import importlib.util
import json
import os
import platform
import subprocess
import time
from dataclasses import dataclass

import made

HERE = os.path.dirname(os.path.abspath(__file__))
VARIANTS = [("gbt", "r"), ("xgboost", "dmatrix"), ("xgboost", "quantile"), ("lightgbm", "default"), ("lightgbm", "col"),
            ("lightgbm", "row"), ("lightgbm", "quantised"), ("catboost", "plain")]


@dataclass
class Job:
    name: str
    set: str
    base_rounds: int
    depth: int = 6
    leaves: int = 0  # best first when not 0; then depth 0 is no limit
    symmetric: bool = False  # one split for a whole level; only for engines that have it
    own: bool = True  # also with the engines' own defaults, 100 rounds or
    own_base: int = 100
    busy_repeats: int = 0  # also during another job
    threads: bool = False  # also with one thread
    limit: float = 600.0  # seconds of one run, at most

    def has(self, phase):
        return {"compare": True, "own": self.own, "busy": self.busy_repeats > 0, "threads": self.threads}[phase]

    def takes(self, engine):
        return not self.symmetric or engine in ("gbt", "catboost")

    def read(self, scale):
        with open(os.path.join(self.folder, "desc.json"), encoding="utf-8") as file:
            self.desc = json.load(file)
        self.rounds = max(2, round(self.base_rounds * scale))
        self.own_rounds = max(2, round(self.own_base * scale))


JOBS = [
    Job("adult", "adult", 100, busy_repeats=5),
    Job("agaricus", "agaricus", 100),
    Job("california_housing", "california_housing", 100, busy_repeats=5),
    Job("diamonds", "diamonds", 100),
    Job("higgs_sample", "higgs_sample", 100),
    Job("letter", "letter", 100, busy_repeats=3),
    Job("weatherAUS", "weatherAUS", 100),
    Job("nycflights13", "nycflights13", 100, busy_repeats=3),
    Job("freMTPL2", "freMTPL2", 100),
    Job("small", "small", 100, busy_repeats=5),
    Job("made_d6", "made", 50),
    Job("made_d8", "made", 50, depth=8, own=False, busy_repeats=3, threads=True),
    Job("made_leaves255", "made", 30, depth=0, leaves=255, own=False),
    Job("made_symmetric", "made", 50, symmetric=True, own=False),
    Job("regression", "regression", 50, busy_repeats=3, threads=True),
    Job("skewed", "skewed", 50, own_base=50),
    Job("sparse_ones", "sparse_ones", 50, own_base=50, busy_repeats=3),
    Job("sparse_values", "sparse_values", 30, own_base=30),
    Job("wide", "wide", 20, own=False),
    Job("classes", "classes", 5, own=False),
    Job("factors", "factors", 10, own=False),
]


def scratch_folder():
    return os.path.join(os.environ.get("TMPDIR", "/tmp"), "gbt-bench")


def have(engine):
    if engine == "gbt" or importlib.util.find_spec(engine):
        return True
    print(f"{engine}: skipped, it is not in this Python", flush=True)
    return False


def ensure(name, r):
    """The folder of a set, made when it is not there; None when its source is missing."""
    if name in made.SETS:
        return made.ensure(name)
    subprocess.run([*r, os.path.join(HERE, "data.R"), name], check=False, stdout=subprocess.DEVNULL)
    folder = os.path.join(made.CACHE, name)
    return folder if os.path.exists(os.path.join(folder, "done")) else None


def commit(folder):
    git = ["git", "-C", folder]
    changed = output_of([*git, "status", "--porcelain", "--", "../src", "../R", "../configure"])
    name = output_of([*git, "rev-parse", "--short=12", "HEAD"]) or "unknown"
    return name + (" with local changes" if changed else "")


def output_of(command):
    try:
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def machine(commit_name, args, r):
    """What the results should be read with, as lines of comment."""
    cpu = "unknown CPU"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    with open("/proc/meminfo", encoding="utf-8") as file:
        gib = int(file.readline().split()[1]) / 2**20
    return [f"# date: {time.strftime('%Y-%m-%d')}", f"# cpu: {cpu}", f"# cores: {os.cpu_count()}",
            f"# memory: {gib:.0f} GiB", f"# kernel: {platform.system()} {platform.release()}",
            f"# r: {output_of([*r, '-e', 'cat(R.version.string)'])}", f"# python: {platform.python_version()}",
            f"# commit: {commit_name}", f"# repeats: {args.repeats}",
            f"# rounds_scale: {args.rounds_scale:g}"]
