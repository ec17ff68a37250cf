# SPDX-License-Identifier: BSD-3-Clause
"""The NAS Parallel Benchmarks (NPB 3.4): programs by MPI, also beside OpenMP, and beside programs that are
not position-independent. pvas.py compares the ways of their messages.

Their source is not ours. The variable NAGAYA_NPB names a folder of their programs, which every user
may read: sp.B.x, as NPB 3.4 calls them, or sp.B.16, as older ones do; in its folder omp those of OpenMP, in
no-pie those by MPI that are not position-independent."""

import dataclasses
import os
import pathlib
import re
import sys
from collections.abc import Callable
from typing import NamedTuple

import jobs
import machine
from jobs import Comparison, Failed, Job, Jobs, Skipped
from ordinary_user import OrdinaryUser

RANKS, FEW_RANKS = 16, 4
LIMIT_S = 1800
LONG_KERNELS, SHORT_KERNELS = ("sp", "bt", "is"), ("cg", "ep", "ft", "lu", "mg")
ROUNDS = 3
OMP, NO_PIE = "omp", "no-pie"
HOW = ("NAGAYA_NPB names no folder with programs of NPB: unpack NPB3.4-MPI of "
       "https://www.nas.nasa.gov/software/npb.html, write `RAND = randi8_safe` and `FFLAGS = -O3 "
       "-fallow-argument-mismatch` into its config/make.def, and `make sp CLASS=B` and so on")


class Run(NamedTuple):
    kernel: str
    size: str


def runs(quick: bool, long_size: str = "B") -> list[Run]:
    return [Run(kernel, "S" if quick else long_size) for kernel in LONG_KERNELS] + \
        [Run(kernel, "S" if quick else "A") for kernel in SHORT_KERNELS]


def folder() -> pathlib.Path | None:
    name = os.environ.get("NAGAYA_NPB")
    return pathlib.Path(name).resolve() if name else None


def binary(kernel: str, size: str, ranks: int = RANKS, kind: str = "") -> pathlib.Path | None:
    where = folder()
    paths = [where / kind / f"{kernel}.{size}.{ending}" for ending in ("x", ranks)] if where else []
    return next((path for path in paths if path.exists()), None)


def times_of(output: str) -> dict:
    """Returns time [s] and speed [Mop/s] of a run that has verified its results."""
    if not re.search(r"Verification\s*=\s*SUCCESSFUL", output):
        raise Failed(f"NPB did not verify its results: {output[-1000:]}")
    return {"time": float(re.search(r"Time in seconds\s*=\s*([\d.]+)", output)[1]),
            "speed": float(re.search(r"Mop/s total\s*=\s*([\d.]+)", output)[1])}


def measured(user: OrdinaryUser, job: Job, words: list) -> dict:
    time = times_of(jobs.output_of(user, job, words, LIMIT_S))["time"]
    return {"figures": {"time": {"title": "time", "unit": "s", "subject": {"p50": time}}}}


def figures_of(plan_of: Callable[[Run], Jobs | None], quick: bool, rounds: int | None, ranks: int = RANKS,
               long_size: str = "B") -> dict:
    """Runs a plan for each kernel; None: what it compares is not in the folder."""
    ranks, figures, absent = FEW_RANKS if quick else ranks, {}, []
    for run in runs(quick, long_size):
        program, plan = binary(*run, ranks), plan_of(run)
        if not program or not plan:
            absent.append(f"{run.kernel}.{run.size}")
            continue
        plan = dataclasses.replace(plan, tasks_each=ranks, setting=f"{plan.setting} {run.kernel} {run.size}",
                                   rounds=ROUNDS, measured_by=measured)
        figures |= jobs.run(plan, str(program), [], quick, rounds)["figures"]
    if not figures:
        raise Skipped(HOW)
    if absent:
        print(f"nagaya bench: npb: not in NAGAYA_NPB: {' '.join(absent)}", file=sys.stderr)
    return {**machine.of_own_program(), "figures": figures}


def by_threads(program: pathlib.Path, threads: int) -> Job:
    return Job(f"OpenMP {threads}", program=str(program), is_plain=True, tasks_each=1,
               environment={"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "false"})


def run_openmp(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    """MPI in the space beside OpenMP with as many threads, and with one for each of two processors."""
    def plan(run: Run) -> Jobs | None:
        program = binary(*run, kind=OMP)
        if not program:
            return None
        others, own = [by_threads(program, threads) for threads in (2, FEW_RANKS)], Job(
            "MPI", environment={"NAGAYA_MPI": "on"})
        return Jobs(hosts=1, setting="npb openmp", jobs=[*others, own],
                    comparisons=[Comparison(own.name, [job.name for job in others])])
    return figures_of(plan, quick, rounds, FEW_RANKS, "A")


def run_pie(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    """Position-independent programs beside others, by Open MPI alone."""
    def plan(run: Run) -> Jobs | None:
        program = binary(*run, FEW_RANKS, NO_PIE)
        return program and Jobs(
            hosts=1, setting="npb pie", comparisons=[Comparison("PIE", ["no PIE"])],
            jobs=[Job("PIE", is_plain=True), Job("no PIE", is_plain=True, program=str(program))])
    return figures_of(plan, quick, rounds, FEW_RANKS, "A")
