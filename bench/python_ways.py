# SPDX-License-Identifier: BSD-3-Clause
"""The Python package beside other ways to share arrays between processes: a sum over an array of 1 GiB that one
process owns, blocks of 8 B to 256 MiB in all that go out and come back, a map over 10^5 numbers
(path/python/measure.py); time, and for the sum the memory of the job.

The interpreter is `python3`, or that of NAGAYA_BENCH_PYTHON: a virtual environment with joblib and Ray, say, by
`python3 -m venv --system-site-packages FOLDER; FOLDER/bin/pip install joblib ray`, which every user may read. A
way whose modules it has not is left out. "shared memory placed" is no incumbent but the floor: its arrays have
been made in segments."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import jobs
import machine
import memory
from jobs import Comparison, Failed, Job, Jobs, Skipped

PROGRAMS = "path-python"
COUNTS, QUICK_COUNTS = (4, 16), (2,)
ROUNDS, MEMORY_ROUNDS = 5, 3
OURS, FLOOR = "nagaya", "shared memory placed"
FIGURE = re.compile(r"measured (\w+) ([\d.e+-]+)")
# By name: module, program, more arguments.
WAYS = {OURS: ("numpy", "by_nagaya", ()),
        "multiprocessing": ("numpy", "by_multiprocessing", ()),
        "shared memory": ("numpy", "by_shared_memory", ()),
        FLOOR: ("numpy", "by_shared_memory", ("--placed",)),
        "mpi4py": ("mpi4py", "by_mpi4py", ()),
        "joblib": ("joblib", "by_joblib", ()),
        "ray": ("ray", "by_ray", ())}
KINDS = {"sum": "sum over an array", "exchange": "blocks out and back", "map": "a map over numbers"}


def interpreter() -> str:
    found = os.environ.get("NAGAYA_BENCH_PYTHON") or shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if not found or not has(found, "numpy"):
        raise Skipped("NAGAYA_BENCH_PYTHON and /usr/bin/python3 name no interpreter that has numpy")
    return found


def has(python: str, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


class Runs:
    """Runs the programs by one interpreter."""

    def __init__(self, python: str, processes: int, quick: bool):
        self.python, self.options = python, [str(processes), *(["--quick"] if quick else [])]
        self.ways = {name: way for name, way in WAYS.items() if has(python, way[0])}
        for name in WAYS.keys() - self.ways.keys():
            print(f"nagaya bench: python: {python} has no {WAYS[name][0]}", file=sys.stderr)

    def jobs(self, kind: str) -> list[Job]:
        return [Job(name, program=f"{PROGRAMS}/{program}.py", arguments=(kind, *self.options, *more),
                    is_plain=name != OURS) for name, (_, program, more) in self.ways.items()]

    def command(self, job: Job, words: list) -> tuple[list, dict]:
        """Returns the words that run a program, and its environment."""
        at = next(at for at, word in enumerate(words) if str(word).endswith(job.program))
        launcher = words[:at] if job.name in (OURS, "mpi4py") else []
        packages = pathlib.Path(words[at]).parents[4] / "lib/python3/dist-packages"
        return ([*launcher, self.python, "-B", words[at], *job.arguments],
                {"PYTHONPATH": str(packages), "RAY_DEDUP_LOGS": "0"})

    def times(self, user, job: Job, words: list) -> dict:
        command, environment = self.command(job, words)
        values = values_of(job.name, jobs.output_of(user, Job(job.name, environment=environment), command))
        return {"figures": {name: figure_of(f"{KINDS[job.arguments[0]]}: {name}", "ms", 1e3 * value)
                            for name, value in values.items()}}

    def peak(self, user, job: Job, words: list) -> dict:
        command, environment = self.command(job, words)
        peak, output = memory.peak_of(user, Job(job.name, environment=environment), command)
        values_of(job.name, output)
        return {"figures": {"memory": figure_of("Pss and page tables of the job with the sum", "MiB", peak["both"])}}


def values_of(way: str, output: str) -> dict:
    """Returns the seconds by figure (path/python/measure.py). Passes other lines on: a library's warnings, say."""
    values, has_ended = {}, False
    for line in output.splitlines():
        if figure := FIGURE.fullmatch(line):
            values[figure[1]] = float(figure[2])
        elif line == "measured all":
            has_ended = True
        elif "measured" in line:
            raise Failed(f"{way} has printed a figure that cannot be read: {line}")
        else:
            print(f"nagaya bench: python: {way} says: {line}", file=sys.stderr)
    if not has_ended:
        raise Failed(f"{way} has not measured all: {output[-1000:]}")
    return values


def figure_of(title: str, unit: str, value: float) -> dict:
    return {"title": title, "unit": unit, "subject": {"p50": value}}


def plans_of(python: str, processes: int, quick: bool) -> list[Jobs]:
    runs = Runs(python, processes, quick)
    others = [name for name in runs.ways if name not in (OURS, FLOOR)]
    plans = [(kind, runs.times, ROUNDS, f"python {processes}") for kind in KINDS]
    plans.append(("sum", runs.peak, MEMORY_ROUNDS, f"python {processes}"))
    return [Jobs(hosts=1, tasks_each=processes, setting=setting, rounds=rounds, jobs=runs.jobs(kind),
                 comparisons=[Comparison(OURS, others, [FLOOR])], measured_by=measured)
            for kind, measured, rounds, setting in plans]


def run(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    python, figures = interpreter(), {}
    for processes in QUICK_COUNTS if quick else COUNTS:
        for plan in plans_of(python, processes, quick):
            figures |= jobs.run(plan, "", [], quick, rounds)["figures"]
    return {**machine.of_own_program(), "figures": figures}
