# SPDX-License-Identifier: BSD-3-Clause
"""A run of many benchmarks: it has a time limit, and can be resumed.

The figures are written after each benchmark. Each benchmark has a share of the time that is left, by the
seconds that it has taken elsewhere (seconds.json): it begins no round that its share has no room for
(budget.py), and it is stopped after STOPPED_AFTER times its share. A benchmark that fails or is stopped
does not end the run."""

import argparse
import json
import os
import pathlib
import signal
import sys
import time
import traceback

import budget
import catalogue
import jobs
import machine

HOURS = 3.0  # of `all` and `report`
STOPPED_AFTER = 3.0
LEAST_LIMIT_S = 900.0
USUAL_S = 60.0  # of a benchmark without seconds


class TimeIsUp(BaseException):
    """A benchmark has taken too long. Like KeyboardInterrupt it is no Exception: what a benchmark does when
    one of its jobs fails does not go on."""


def usual_seconds() -> dict:
    return json.loads((catalogue.FOLDER / "seconds.json").read_text())["seconds"]


class Clock:
    """The time of a run: what is left, and which part of it a benchmark may take."""

    def __init__(self, names: list[str], hours: float | None, usual: dict):
        self.begin = time.monotonic()
        self.usual = {name: usual.get(name, USUAL_S) for name in names}
        self.waiting = list(names)
        self.end = self.begin + hours * 3600 if hours else None
        self.usual_of_done = 0.0

    def is_over(self) -> bool:
        return self.end is not None and time.monotonic() >= self.end

    def share_s(self, name: str) -> float | None:
        """Returns the time that a benchmark may take, so that those after it fit, too; None: any time."""
        if self.end is None:
            return None
        usual = [self.usual[waiting] for waiting in self.waiting]
        return max(0.0, self.end - time.monotonic()) * self.usual[name] / sum(usual)

    def is_done(self, name: str) -> None:
        self.waiting.remove(name)
        self.usual_of_done += self.usual[name]

    def left_text(self) -> str:
        """Returns how long the rest takes if it goes on like this; "" before the first benchmark has ended."""
        if not self.usual_of_done:
            return ""
        pace = (time.monotonic() - self.begin) / self.usual_of_done
        left_s = pace * sum(self.usual[name] for name in self.waiting)
        if self.end is not None:
            left_s = min(left_s, max(0.0, self.end - time.monotonic()))
        return f", about {duration(left_s)} left"


def duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def read_run(file: pathlib.Path) -> dict:
    """Returns what --json has written, or a report as its results.json."""
    try:
        run = json.loads(file.read_text())
    except ValueError as error:
        raise jobs.Failed(f"{file}: {error}") from error
    if not isinstance(run, dict) or not {"machine", "quick", "failed", "figures"} <= run.keys():
        raise jobs.Failed(f"{file} is no output of --json, and no report's results.json")
    return run


class Run:
    """What a run has measured, as --json writes it."""

    def __init__(self, file: pathlib.Path | None, quick: bool):
        self.file = file
        self.results = {"machine": {}, "quick": quick, "measured": [], "failed": [], "skipped": [],
                        "seconds": {}, "figures": {}}
        self.load = machine.load_text()
        self.about = {}  # machine and commit, from the first benchmark on

    def resume(self) -> None:
        """Takes what the file has, if there is one. Raises Failed if its figures are of another commit,
        machine or length."""
        if not self.file.exists():
            return
        stored = read_run(self.file)
        if not stored["figures"]:
            return
        self.about = now = machine.of_own_program()
        for what, there, here in (("commit", stored["machine"]["commit"], now["commit"]),
                                  ("machine", stored["machine"]["cpu"], now["machine"]["cpu"]),
                                  ("--quick", stored["quick"], self.results["quick"])):
            if there != here:
                raise jobs.Failed(f"--resume {self.file}: its {what} is {there}, here it is {here}: "
                                  "name another file, which will be made")
        self.results |= {key: stored[key] for key in self.results if key in stored}
        self.load = stored["machine"].get("load_before", self.load)
        # Benchmarks that the earlier run has failed at, or skipped, are tried again.
        self.results |= {"failed": [], "skipped": []}

    def add(self, name: str, run: dict, seconds: float) -> None:
        """Adds the figures of a benchmark. (It may see a part of the processors only: its host's.)"""
        self.about = self.about or machine.of_own_program()
        self.results["machine"] = {**machine.describe(self.about), "load_before": self.load}
        self.results["measured"].append(name)
        self.results["seconds"][name] = round(seconds, 1)
        self.results["figures"].update(run["figures"])

    def write(self) -> None:
        """Replaces the file as a whole: a driver that is killed leaves the last state."""
        if self.file:
            new = self.file.with_name(self.file.name + ".new")
            new.write_text(json.dumps(self.results, indent=1) + "\n")
            os.replace(new, self.file)


def stopped(seconds: float | None, act):
    """Returns what act() does; raises TimeIsUp in it after so many seconds."""
    def stop(*_):
        raise TimeIsUp(f"stopped after {duration(seconds)}")
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    try:
        return act()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def measure(names: list[str], options: argparse.Namespace) -> dict:
    """Runs the benchmarks that the file of --resume lacks. Returns what --json writes: machine, measured,
    failed and skipped benchmarks, figures."""
    run = Run(options.resume or options.json, options.quick)
    if options.resume:
        run.resume()
    left = [name for name in names if name not in run.results["measured"]]
    clock = Clock(left, options.hours, usual_seconds())
    for name in left:
        if clock.is_over():
            run.results["failed"] += clock.waiting
            print(f"nagaya bench: the time is over: not measured: {' '.join(clock.waiting)}"
                  + f"; the same command measures them" * bool(options.resume), file=sys.stderr)
            break
        done = len(names) - len(clock.waiting) + 1
        print(f"[{done}/{len(names)}] {name}{clock.left_text()}", file=sys.stderr, flush=True)
        measure_one(name, run, clock.share_s(name), options)
        clock.is_done(name)
        run.write()
    run.write()
    return run.results


def measure_one(name: str, run: Run, share_s: float | None, options: argparse.Namespace) -> None:
    begin = time.monotonic()
    limit_s = None if share_s is None else max(STOPPED_AFTER * share_s, LEAST_LIMIT_S)
    try:
        with budget.of(share_s):
            result = stopped(limit_s, lambda: catalogue.run(name, options.quick, options.rounds))
    except jobs.Skipped as why:
        print(f"nagaya bench: {name}: skipped: {why}", file=sys.stderr)
        run.results["skipped"].append(name)
        return
    except (jobs.Failed, TimeIsUp) as why:
        print(f"nagaya bench: {name}: {why}", file=sys.stderr)
        run.results["failed"].append(name)
        return
    except Exception:  # an error of this benchmark alone
        traceback.print_exc()
        run.results["failed"].append(name)
        return
    run.add(name, result, time.monotonic() - begin)
    print(f"nagaya bench: {name} took {duration(time.monotonic() - begin)}", file=sys.stderr)
