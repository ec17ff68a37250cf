# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya bench tune`: measures on this machine from which sizes on one algorithm of a collective is
faster than another, and writes the table that NAGAYA_TUNING names (src/llcl/requests/tuning.h).

Each algorithm is forced by a table of its own; they run by turns. A limit is put where the product of
all times becomes smallest, so that one disturbed measurement moves it little."""

import math
import os
import pathlib
import statistics
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import jobs
import machine
from jobs import Job, Jobs

KIB = 1024
SHORT_SIZES = [KIB << n for n in range(7)]  # 1 to 64 KiB
EVERYTHING = 1 << 20  # above all sizes here
ROUNDS = 5
CROWD = 4  # ranks on each processor


class Limit(NamedTuple):
    """A size to be found: up to it one algorithm is used, above it the other."""
    name: str
    kinds: list
    ranks_each: int = 1  # on each processor


class Choice(NamedTuple):
    """A setting for long data, of which the best of some values is to be found."""
    name: str
    kinds: list
    values: list
    bytes: int
    ranks_each: int = 1


LIMITS = [Limit("posted_max_bytes", ["bcast", "allgather"]),
          Limit("combined_max_bytes", ["allreduce"]),
          Limit("crowded_reduce_max_bytes", ["reduce"], CROWD)]
CHOICES = [Choice("tile_bytes", ["allreduce", "reduce"], [4 * KIB << n for n in range(5)], 1 << 20)]


def table(quick: bool, rounds: int | None) -> str:
    """Returns the text of the table, with the place and time of the measurement."""
    plan = Jobs(hosts=1, tasks_each=max(2, len(os.sched_getaffinity(0))))
    rounds = rounds or (1 if quick else ROUNDS)
    sizes = SHORT_SIZES[:2] if quick else SHORT_SIZES
    with jobs.started_hosts(plan) as start, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)  # an ordinary user's tasks read the tables
        timer = Timer(start, folder, plan.tasks_each, quick)
        lines = [line_of(limit.name, best_limit(timer, limit, sizes, rounds)) for limit in LIMITS]
        lines += [line_of(choice.name, best_value(timer, choice, rounds)) for choice in CHOICES]
    about = machine.describe(timer.last)
    return "".join(f"# {key}: {value}\n" for key, value in about.items()) + \
        f"# {plan.tasks_each} ranks, {rounds} rounds; sizes between nodes and of large teams are the defaults\n" + \
        "".join(lines)


def line_of(name: str, value: int) -> str:
    print(f"nagaya bench: tune: {name} {value}", file=sys.stderr)
    return f"{name} {value}\n"


class Timer:
    """Runs the program of the benchmark `collectives` under tables of one line."""

    def __init__(self, start: Callable, folder: pathlib.Path, processors: int, quick: bool):
        self.start, self.folder, self.processors, self.quick = start, folder, processors, quick
        self.last = {}

    def times(self, sought: Limit | Choice, value: int, sizes: list) -> dict:
        """Returns the geometric mean of the times of all kinds, by size [us]."""
        forced = self.folder / f"{sought.name}-{value}.tuning"
        forced.write_text(f"{sought.name} {value}\n")
        job = Job("tune", tasks_each=sought.ranks_each * self.processors,
                  environment={"NAGAYA_MPI": "on", "NAGAYA_TUNING": str(forced)})
        self.last = self.start(job, "collectives", [
            "--json", "--rounds", "1", "--kinds", ",".join(sought.kinds),
            "--sizes", ",".join(map(str, sizes)), *(["--quick"] if self.quick else [])])
        figures = self.last["figures"]
        return {size: statistics.geometric_mean(
            figures[f"{kind}_{size_name(size)}"]["subject"]["p50"] for kind in sought.kinds)
            for size in sizes}


def size_name(size: int) -> str:
    return f"{size // KIB}KiB" if size < 1 << 20 else f"{size >> 20}MiB"


def best_limit(timer: Timer, limit: Limit, sizes: list, rounds: int) -> int:
    short, long = by_turns(timer, limit, [EVERYTHING, 0], sizes, rounds)

    def cost(end: int) -> float:
        return sum(math.log(short[size] if n < end else long[size])
                   for n, size in enumerate(sizes))
    end = min(range(len(sizes) + 1), key=cost)
    return sizes[end - 1] if end > 0 else 0


def best_value(timer: Timer, choice: Choice, rounds: int) -> int:
    times = by_turns(timer, choice, choice.values, [choice.bytes], rounds)
    return min(zip(times, choice.values), key=lambda pair: pair[0][choice.bytes])[1]


def by_turns(timer: Timer, sought: Limit | Choice, values: list, sizes: list, rounds: int) -> list:
    """Returns the median time over the rounds, for each value by size. Each round begins with
    another value."""
    measured = [[] for _ in values]
    for number in range(rounds):
        for n in jobs.rotated(list(range(len(values))), number):
            measured[n].append(timer.times(sought, values[n], sizes))
    return [{size: statistics.median(one[size] for one in of_value) for size in sizes}
            for of_value in measured]
