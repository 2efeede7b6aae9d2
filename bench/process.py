"""A worker process as the driver sees it: lines in, lines out, with a time limit on every answer."""

import ctypes
import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass, field

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)
TICK = os.sysconf("SC_CLK_TCK")


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass
class Answer:
    status: str = "ok"  # ok | failed | over limit
    note: str = ""
    values: dict = field(default_factory=dict)


class Process:
    def __init__(self, command, log_path):
        self.log_path = log_path
        with open(log_path, "ab") as log:
            self.begin_of_log = log.tell()
            self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0,
                                          start_new_session=True, preexec_fn=die_with_parent)
        self.rest = b""

    @property
    def pid(self):
        return self.child.pid

    def lines(self, deadline):
        """Lines of the answer as they come; ends at the deadline or with the process."""
        out = self.child.stdout.fileno()
        while True:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                yield line.decode("utf-8", "replace").strip()
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                yield None
                return
            more = os.read(out, 65536)
            if not more:
                return
            self.rest += more

    def wait_for(self, word, limit):
        """Reads `key value` lines up to `word`."""
        answer = Answer()
        for line in self.lines(time.monotonic() + limit):
            if line is None:
                return Answer("over limit", f"no end after {limit:.1f} s")
            if line == word:
                return answer
            key, _, value = line.partition(" ")
            if key == "error":
                answer.status, answer.note = "failed", value
            else:
                answer.values[key] = value
        return Answer("failed", self.last_words())

    def ask(self, line, limit):
        try:
            os.write(self.child.stdin.fileno(), line.encode() + b"\n")
        except OSError:
            return Answer("failed", self.last_words())
        return self.wait_for("done", limit)

    def last_words(self):
        """The end of what it said on stderr."""
        code = self.child.wait()
        with open(self.log_path, "rb") as log:
            log.seek(self.begin_of_log)
            text = log.read().decode("utf-8", "replace").split("\n")
        return f"ended with {code}: " + " ".join(" ".join(text).split())[-200:]

    def signal(self, which):
        try:
            os.killpg(self.child.pid, which)  # a session of its own: its group has its number
        except ProcessLookupError:
            pass

    def pause(self):
        self.signal(signal.SIGSTOP)

    def go_on(self):
        self.signal(signal.SIGCONT)

    def stop(self):
        self.signal(signal.SIGKILL)
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()


def ticks_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            words = file.read().rsplit(") ", 1)[1].split()
    except OSError:
        return 0
    return int(words[11]) + int(words[12])


def foreign_clock(pid):
    """Seconds of CPU that all processes but this one have used so far; differences say how quiet the machine was."""
    with open("/proc/stat", encoding="utf-8") as file:
        words = [int(word) for word in file.readline().split()[1:]]
    used = sum(words[:8]) - words[3] - words[4]  # less idle and waiting for disks
    return (used - ticks_of(pid)) / TICK
