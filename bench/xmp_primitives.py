# SPDX-License-Identifier: BSD-3-Clause
"""Parts of XcalableMP, each beside code that a programmer would write by hand: a gmove beside
MPI_Alltoall of several MPIs, puts of coarrays beside stores and memcpy, posts beside flags, locks
beside mutexes, cyclic loops beside loops of C.

All but the gmove are measured by turns within one process. The program prints a line
"FIGURE WAY VALUE" for each way and round, and at last PASS (path/xmp/turns.h)."""

import pathlib
from typing import NamedTuple

import faces
import jobs
import machine
import xmp
from jobs import Comparison, Failed, Job, Jobs

PROGRAMS = machine.FOLDER / "path-xmp"
ROUNDS = 5
SIZE, QUICK_SIZE = 2048, 64  # rows and columns of the matrix of the gmove
TASKS, QUICK_TASKS = (2, 16), (2,)
CROWDED, QUICK_CROWDED = (2, 16), (2,)  # images that contend for a lock
# Ranks of MPIs that spin take the scheduler's time slices, where there are more than processors.
LIMIT_MS = 2000


class Figure(NamedTuple):
    title: str
    unit: str
    own: str     # the way that is measured
    beside: str  # the way that it is held against
    is_floor: bool = True  # else an incumbent

    def comparison(self) -> Comparison:
        return Comparison(self.own, **{"floor" if self.is_floor else "incumbent": [self.beside]})


# By program and the name that it prints.
FIGURES = {
    "puts": {"8B_in_a_row": Figure("a put of 8 B, one behind the other", "ns", "put", "store"),
             "8B_scattered": Figure("a put of 8 B, scattered", "ns", "put", "store"),
             "8B_changing": Figure("a put of 8 B, scattered over two images", "ns", "put", "store"),
             "1MiB": Figure("a put of 1 MiB", "us", "put", "memcpy")},
    "posts": {"round_trip": Figure("post and wait, there and back", "ns", "post", "flag")},
    "locks": {"turn": Figure("lock, addition, unlock", "ns", "lock", "mutex", is_floor=False)},
    "cyclic": {"cyclic": Figure("a cyclic loop", "us", "XMP", "hand-written"),
               "cyclic_8": Figure("a loop along cyclic(8)", "us", "XMP", "hand-written")},
}


def values_of(output: str) -> dict:
    """Returns the values that a program has printed, by figure and way."""
    *lines, last = output.strip().splitlines() or [""]
    if last != "PASS":
        raise Failed(f"the result is wrong: {output[-1000:]}")
    values = {}
    for figure, way, value in map(str.split, lines):
        values.setdefault(figure, {}).setdefault(way, []).append(float(value))
    return values


def output_of(user, job: Job, words: list) -> str:
    """Runs a program of XcalableMP without the options of our own benchmark programs."""
    program = words.index(pathlib.Path(job.program))
    return jobs.output_of(user, job, [*words[:program + 1], *job.arguments])


def by_turns(user, job: Job, words: list) -> dict:
    values = values_of(output_of(user, job, words))
    return {"figures": {
        name: {"title": figure.title, "unit": figure.unit,
               **jobs.sides(figure.comparison(), values[name])}
        for name, figure in FIGURES[job.name].items()}}


def of_one_program(programs: xmp.Compiled, name: str, quick: bool, rounds: int | None,
                   tasks: int = 2, setting: str = "") -> dict:
    """Runs a program that measures by turns. Returns its figures."""
    arguments = ("1", "2") if quick else (str(rounds),) if rounds else ()
    job = Job(name, program=programs.program("xmpcc", name, folder=PROGRAMS), arguments=arguments)
    plan = Jobs(hosts=1, tasks_each=tasks, setting=setting or f"xmp {name}", jobs=[job],
                measured_by=by_turns)
    return jobs.run(plan, "", [], quick, rounds)["figures"]


def run_coarrays(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    with xmp.compiled() as programs:
        figures = of_one_program(programs, "puts", quick, rounds)
        figures |= of_one_program(programs, "posts", quick, rounds)
        for images in QUICK_CROWDED if quick else CROWDED:
            figures |= of_one_program(programs, "locks", quick, rounds, images, f"xmp locks {images}")
    return {**machine.of_own_program(), "figures": figures}


def run_cyclic(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    with xmp.compiled() as programs:
        figures = of_one_program(programs, "cyclic", quick, rounds)
    return {**machine.of_own_program(), "figures": figures}


def beside_alltoall(user, job: Job, words: list) -> dict:
    """Runs the gmove, or the program of an MPI."""
    if job.is_plain:
        return jobs.printed_by(user, job, words)
    times = values_of(output_of(user, job, words))["transposition"]["gmove"]
    return {"figures": {"transposition": {"title": "from rows to columns", "unit": "ms",
                                          "subject": jobs.series("gmove", times)}}}


def gmove(programs: xmp.Compiled, tasks: int, quick: bool) -> Jobs:
    size = QUICK_SIZE if quick else SIZE
    own = Job("gmove", arguments=("1", "2") if quick else (),
              program=programs.program("xmpcc", "transposition", folder=PROGRAMS, N=size))
    others = faces.stock_jobs("transposition")
    return Jobs(hosts=1, tasks_each=tasks, setting=f"xmp gmove {tasks}", rounds=ROUNDS,
                jobs=[own, *others],
                comparisons=[Comparison(own.name, [job.name for job in others])],
                measured_by=beside_alltoall)


def run_gmove(program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    figures = {}
    with xmp.compiled() as programs:
        for tasks in QUICK_TASKS if quick else TASKS:
            arguments = ["--extent", str(QUICK_SIZE if quick else SIZE)]
            arguments += ["--limit-ms", str(LIMIT_MS)] if tasks > 2 else []
            figures |= jobs.run(gmove(programs, tasks, quick), program, arguments, quick,
                                rounds)["figures"]
    return {**machine.of_own_program(), "figures": figures}
