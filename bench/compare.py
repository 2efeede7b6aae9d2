"""gbt and its peers on the same sets, in turns: the driver. Start it by bench/compare.sh, which finds Python and R.

    python bench/compare.py [--sets a,b] [--phases compare,own,busy,threads] [--repeats 5] [--rounds-scale 1]
        [--engines gbt,xgboost,...] [--resume] [--budget MINUTES] [--quick] [--out FOLDER]

Per job (a set with its parameters, JOBS below) one process per engine and variant loads the set and then waits,
asleep, on its stdin; the driver lets one run at a time:
    screen    every variant once, in a fresh process: peak memory, quality; the fastest of each engine goes on
    repeat    one run of each engine in turn, several times over (compare)
    own       100 rounds with each engine's own defaults, once
    alone, busy       alternating: alone, and beside a training run of gbt with two threads on the same cores
    threads1, threads2
Every run is a line of OUT/compare.csv, written at once. --resume goes on where the file ends: phases of a job that are
complete there are not run again. A run that takes too long is ended, and noted as `over limit` with the limit as its
time. Missing peers and sets are skipped with a word.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import time

import numpy as np

import jobs
from process import Process, foreign_clock

HERE = os.path.dirname(os.path.abspath(__file__))
FIELDS = ["job", "set", "phase", "repeat", "engine", "variant", "version", "status", "rows", "columns", "depth",
          "leaves", "rounds", "threads", "convert_s", "train_s", "predict_s", "single_us", "prepared_us", "peak_mb",
          "metric", "value", "foreign_s", "time", "commit", "note"]
SLOW = {"gbt": 1e9, "xgboost": 5, "lightgbm": 5, "catboost": 4}  # times gbt: two repeats are enough then


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def short(number):
    return "-" if number is None else f"{number:.3g}"


# ---- the file of results ----


class Results:
    """Lines of compare.csv. A phase of a job is complete when its line with status `end` is there."""

    def __init__(self, folder, resume, head):
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, "compare.csv")
        self.complete, old, notes = set(), [], []
        self.old = old  # lines of complete phases
        if resume and os.path.exists(self.path):
            with open(self.path, newline="", encoding="utf-8") as file:
                lines = file.read().splitlines()
            notes = [line for line in lines if line.startswith("#")]
            old += csv.DictReader(line for line in lines if not line.startswith("#"))
            self.complete = {(row["job"], row["phase"]) for row in old if row["status"] == "end"}
        self.file = open(self.path + ".new", "w", newline="", encoding="utf-8")
        self.file.writelines(f"{line}\n" for line in notes or head)
        self.writer = csv.DictWriter(self.file, FIELDS, restval="", lineterminator="\n")
        self.writer.writeheader()
        for row in old:
            if (row["job"], group_of(row["phase"])) in self.complete:
                self.writer.writerow({key: row.get(key, "") for key in FIELDS})
        self.file.flush()
        os.replace(self.path + ".new", self.path)

    def add(self, row):
        out = {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()}
        self.writer.writerow({key: value for key, value in out.items() if value is not None})
        self.file.flush()

    def end(self, job, group):
        self.add({"job": job.name, "set": job.set, "phase": group, "status": "end"})
        self.complete.add((job.name, group))


def group_of(phase):
    """The part of a job that a line belongs to: what --phases names."""
    return {"screen": "compare", "repeat": "compare", "alone": "busy", "threads1": "threads",
            "threads2": "threads"}.get(phase, phase)


# ---- quality: raw scores of all engines go through these ----


def test_part(folder, desc):
    n, p = desc["n_test"], len(desc["columns"])
    if desc.get("sparse"):
        return np.fromfile(os.path.join(folder, "test.y"), dtype="<f8")
    cells = np.memmap(os.path.join(folder, "test.f64"), dtype="<f8", mode="r")
    return np.array(cells[n * p : n * (p + 1)])


def quality(desc, y, score):
    task = desc["task"]
    if task == "regression":
        return "rmse", float(np.sqrt(np.mean((score - y) ** 2)))
    if task == "binary":
        return "logloss", float(np.mean(np.logaddexp(0, np.where(y == 1, -score, score))))
    if task == "poisson":
        log_y = np.log(np.maximum(y, 1))
        return "poisson deviance", float(np.mean(2 * (np.where(y > 0, y * (log_y - score), 0) - (y - np.exp(score)))))
    score = score.reshape((len(desc["classes"]), len(y))).T
    top = score.max(axis=1)
    loss = top + np.log(np.exp(score - top[:, None]).sum(axis=1)) - score[np.arange(len(y)), y.astype(int)]
    return "mlogloss", float(np.mean(loss))


# ---- one engine with one variant on one set ----


class Engine:
    def __init__(self, bench, job, name, variant):
        self.bench, self.job, self.name, self.variant = bench, job, name, variant
        self.process = None
        self.wall = None  # of the screening run, predictions included
        self.total = None  # its conversion and training

    def __str__(self):
        return self.name if self.name == "gbt" else f"{self.name}-{self.variant}"

    def start(self, limit=600):
        if self.process is None:
            command = [*self.bench.r, os.path.join(HERE, "worker.R"), self.job.folder]
            if self.name != "gbt":
                command = [sys.executable, os.path.join(HERE, "worker.py"), self.job.folder, str(self)]
            self.process = Process(command, self.bench.log)
            answer = self.process.wait_for("ready", limit)
            if answer.status != "ok":
                self.stop()
                raise RuntimeError(f"{self} does not start on {self.job.name}: {answer.note}")
            self.version = answer.values.get("version", "")
        return self

    def stop(self):
        if self.process is not None:
            self.process.stop()
            self.process = None

    def run(self, phase, repeat, limit, own=0, predict=1, threads=2, score=False):
        """One run; gives its line, which is written already."""
        job = self.job
        row = {"job": job.name, "set": job.set, "phase": phase, "repeat": repeat, "engine": self.name,
               "variant": "own" if own else self.variant, "rows": job.desc["n_train"],
               "columns": len(job.desc["columns"]), "depth": "" if own else job.depth,
               "leaves": "" if own else job.leaves,
               "rounds": job.own_rounds if own else job.rounds, "threads": threads, "commit": self.bench.commit,
               "time": time.strftime("%Y-%m-%d %H:%M:%S")}
        try:
            self.start()
        except RuntimeError as error:
            row.update(status="failed", note=str(error)[:300])
            self.bench.results.add(row)
            return row
        row["version"] = self.version
        before = foreign_clock(self.process.pid)
        begin = time.perf_counter()
        answer = self.process.ask(f"run threads={threads} rounds={row['rounds']} depth={job.depth} leaves={job.leaves} "
                                  f"symmetric={int(job.symmetric)} own={own} predict={predict}", limit)
        row["wall"] = time.perf_counter() - begin
        if answer.status == "ok":
            row["foreign_s"] = foreign_clock(self.process.pid) - before
            row.update({key: float(value) for key, value in answer.values.items() if key in FIELDS})
            if phase != "screen":
                row.pop("peak_mb", None)  # later runs find a heap that is there already
        row.update(status=answer.status, note=answer.note)
        if answer.status != "ok":
            self.stop()
            if answer.status == "over limit":
                row["train_s"] = float(limit)
        elif score:
            row["metric"], row["value"] = self.quality()
        self.bench.results.add({key: value for key, value in row.items() if key in FIELDS})
        return row

    def quality(self):
        path = os.path.join(self.bench.scratch, "scores.f64")
        answer = self.process.ask(f"score {path}", 600)
        if answer.status != "ok":
            say(f"  {self}: no scores: {answer.note}")
            return None, None
        value = quality(self.job.desc, self.job.y_test, np.fromfile(path, dtype="<f8"))
        os.remove(path)
        return value


def total_of(row):
    """Seconds of conversion and training; None when the run did not end."""
    return row["convert_s"] + row["train_s"] if row["status"] == "ok" else None


# ---- phases ----


def screen(engines, limit):
    """Every variant once, in a fresh process. Gives the fastest variant of each engine, as a list."""
    best = {}
    gbt = None
    for engine in engines:
        own_limit = limit if gbt is None else min(limit, max(60.0, 25 * gbt))
        if engine.name in best:  # a variant that is far slower than its sibling need not end
            own_limit = min(own_limit, max(30.0, 3 * best[engine.name].wall))
        row = engine.run("screen", 0, own_limit, score=True)
        engine.wall, engine.total = row.get("wall"), total_of(row)
        if engine.name == "gbt" and engine.total is not None:
            gbt = engine.wall
        keys = ("convert_s", "train_s", "predict_s", "single_us", "prepared_us", "peak_mb", "value")
        say(f"  {str(engine):20s} {row['status']}: {' '.join(f'{k} {short(row.get(k))}' for k in keys)} {row['note']}")
        keep, other = engine, best.get(engine.name)
        if engine.total is None or (other is not None and other.total <= engine.total):
            keep, other = other, engine
        if keep is not None:
            best[engine.name] = keep
        if other is not None:
            other.stop()  # its memory goes back
    return list(best.values())


def repeat_all(engines, repeats):
    """In turns. Runs of a fraction of a second scatter more, so there are three times as many."""
    gbt = next((e.total for e in engines if e.name == "gbt"), None)
    if gbt is not None and gbt < 0.25 and repeats > 1:
        repeats *= 3
    lost = {}
    for i in range(1, repeats + 1):
        for engine in engines:
            slow = gbt is not None and engine.total > SLOW[engine.name] * gbt
            if (slow and i > 2) or lost.get(engine, 0) >= 2:
                continue
            row = engine.run("repeat", i, max(60.0, 8 * engine.wall))
            lost[engine] = lost.get(engine, 0) + (row["status"] != "ok")


def own_defaults(engines, limit):
    for engine in engines:
        row = engine.run("own", 1, limit, own=1, score=True)
        say(f"  {str(engine):20s} own defaults: {row['status']} {short(total_of(row))} {row.get('value') or 0:.6g}")


def busy_test(engines, bench, repeats):
    engines = [e for e in engines if e.name != "catboost"]
    rival = bench.rival()
    if rival is None:
        return False
    alone, lost = {}, set()
    for i in range(1, repeats + 1):
        for engine in [e for e in engines if e not in lost]:
            row = engine.run("alone", i, max(60.0, 8 * engine.wall), predict=0)
            if row["status"] == "ok":
                alone.setdefault(engine, []).append(total_of(row))
        for engine in engines:
            if engine not in alone or engine in lost:
                continue
            limit = max(15 * float(np.median(alone[engine])), 2.0)
            engine.start()
            rival.go_on()
            time.sleep(0.3)
            row = engine.run("busy", i, limit, predict=0)
            rival.pause()
            if row["status"] != "ok" and limit > 10:
                lost.add(engine)  # once is enough when it costs so long
            say(f"  {str(engine):20s} alone {short(alone[engine][-1])} busy {short(total_of(row))} {row['status']}")
    return True


def threads_test(engines, repeats):
    for i in range(1, repeats + 1):
        for engine in engines:
            for threads in (1, 2):
                if engine.name != "catboost":
                    engine.run(f"threads{threads}", i, max(60.0, 8 * engine.wall), predict=0, threads=threads)


# ---- all of it ----


class Bench:
    def __init__(self, args):
        self.r = [shutil.which("Rscript") or "Rscript"]
        self.scratch = jobs.scratch_folder()
        os.makedirs(self.scratch, exist_ok=True)
        self.log = os.path.join(self.scratch, "compare.log")
        self.commit = jobs.commit(HERE)
        self.results = Results(args.out, args.resume, jobs.machine(self.commit, args, self.r))
        self.rival_process = None
        self.begin = time.time()
        self.budget = 60 * args.budget if args.budget else None

    def over_budget(self):
        return self.budget is not None and time.time() - self.begin > self.budget

    def rival(self):
        """The other job on the machine, paused: gbt training on the set `made` again and again."""
        if self.rival_process is None:
            folder = jobs.ensure("made", self.r)
            if folder is None:
                return None
            self.rival_process = Process([*self.r, os.path.join(HERE, "worker.R"), folder, "--loop"], self.log)
            if self.rival_process.wait_for("ready", 300).status != "ok":
                self.rival_process.stop()
                self.rival_process = None
                return None
            self.rival_process.pause()
        return self.rival_process

    def close(self):
        if self.rival_process is not None:
            self.rival_process.stop()


def run_job(bench, job, args):
    wanted = [p for p in args.phases if (job.name, p) not in bench.results.complete and job.has(p)]
    if not wanted:
        return
    job.folder = jobs.ensure(job.set, bench.r)
    if job.folder is None:
        say(f"{job.name}: skipped, the set `{job.set}` is not there")
        return
    job.read(args.rounds_scale)
    job.y_test = test_part(job.folder, job.desc)
    say(f"{job.name}: {', '.join(wanted)}; {job.rounds} rounds [{(time.time() - bench.begin) / 60:.1f} min]")
    engines = [Engine(bench, job, name, variant) for name, variant in jobs.VARIANTS
               if name in args.engines and job.takes(name)]
    try:
        chosen = screen(engines, job.limit) if "compare" in wanted else chosen_before(engines, bench.results.old, job)
        for phase in wanted:
            if phase == "compare":
                repeat_all(chosen, args.repeats)
            elif phase == "own":
                own_defaults(one_of_each(engines, chosen), job.limit)
            elif phase == "busy":
                if not busy_test(chosen, bench, 1 if args.quick else job.busy_repeats):
                    continue
            elif phase == "threads":
                threads_test(chosen, 1 if args.quick else min(3, args.repeats))
            bench.results.end(job, phase)
    finally:
        for engine in engines:
            engine.stop()


def chosen_before(engines, old, job):
    """What the screening of an earlier, complete run chose; without one every variant is run once."""
    best = {}
    for row in old:
        if (row["job"], row["phase"], row["status"]) != (job.name, "screen", "ok"):
            continue
        for engine in engines:
            if (engine.name, engine.variant) == (row["engine"], row["variant"]):
                engine.total = float(row["convert_s"]) + float(row["train_s"])
                engine.wall = engine.total + float(row["predict_s"]) + 1
                if engine.name not in best or engine.total < best[engine.name].total:
                    best[engine.name] = engine
    return list(best.values()) or screen(engines, job.limit)


def one_of_each(engines, chosen):
    """The chosen variant of each engine, or its first one: with its own defaults they are the same."""
    first = {engine.name: engine for engine in reversed(engines + chosen)}
    first.update((engine.name, engine) for engine in chosen)
    return [first[name] for name in dict.fromkeys(engine.name for engine in engines)]


def arguments():
    parser = argparse.ArgumentParser(prog="compare.sh")
    parser.add_argument("--sets", default="", help="names of jobs or sets")
    parser.add_argument("--phases", default="compare,own,busy,threads")
    parser.add_argument("--engines", default="gbt,xgboost,lightgbm,catboost")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds-scale", type=float, default=1.0)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--budget", type=float, default=0, help="minutes after which no other job is begun")
    parser.add_argument("--quick", action="store_true", help="one repeat, a tenth of the rounds, results elsewhere")
    parser.add_argument("--out", default="")
    args = parser.parse_args()
    if args.quick:
        args.repeats, args.rounds_scale = 1, 0.1 * args.rounds_scale
    args.out = args.out or os.path.join(*(jobs.scratch_folder(), "quick") if args.quick else (HERE, "results"))
    args.phases = args.phases.split(",")
    args.engines = [name for name in args.engines.split(",") if jobs.have(name)]
    return args


def main():
    args = arguments()
    wanted = set(args.sets.split(",")) if args.sets else None
    known = {name for job in jobs.JOBS for name in (job.name, job.set)}
    if wanted and wanted - known:
        names = ", ".join(job.name for job in jobs.JOBS)
        sys.exit(f"no job is called {', '.join(sorted(wanted - known))}; they are {names}")
    bench = Bench(args)
    left = [job for job in jobs.JOBS if wanted is None or job.name in wanted or job.set in wanted]
    try:
        while left and not bench.over_budget():
            run_job(bench, left.pop(0), args)
    finally:
        bench.close()
        subprocess.run([*bench.r, os.path.join(HERE, "report.R"), args.out], check=False)
    if left:
        say(f"no time left for: {', '.join(job.name for job in left)}; go on with --resume")


if __name__ == "__main__":
    main()
