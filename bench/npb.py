# SPDX-License-Identifier: BSD-3-Clause
"""The NAS Parallel Benchmarks (NPB 3.4-MPI): Open MPI through the space, by its messages alone and
with its collectives, beside Open MPI itself.

Their source is not ours. The variable NAGAYA_NPB names a folder of their programs, which every user
may read: sp.B.x, as NPB 3.4 calls them, or sp.B.16, as older ones do."""

import os
import pathlib
import re
import sys

import jobs
import machine
from jobs import Comparison, Failed, Job, Jobs, Skipped
from ordinary_user import OrdinaryUser

RANKS, QUICK_RANKS = 16, 4
LIMIT_S = 1800
# Kernel, class, rounds.
RUNS = [("sp", "B", 3), ("is", "B", 3), *((kernel, "A", 1) for kernel in
                                          ("bt", "cg", "ep", "ft", "lu", "mg"))]
HOW = ("NAGAYA_NPB names no folder with programs of NPB: unpack NPB3.4-MPI of "
       "https://www.nas.nasa.gov/software/npb.html, write `RAND = randi8_safe` and `FFLAGS = -O3 "
       "-fallow-argument-mismatch` into its config/make.def, and `make sp CLASS=B` and so on")


def folder() -> pathlib.Path | None:
    name = os.environ.get("NAGAYA_NPB")
    return pathlib.Path(name).resolve() if name else None


def binary(kernel: str, size: str, ranks: int = RANKS) -> pathlib.Path | None:
    where = folder()
    paths = [where / f"{kernel}.{size}.{ending}" for ending in ("x", ranks)] if where else []
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


def run(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    runs = [(kernel, "S", 1) for kernel, *_ in RUNS] if quick else RUNS
    ranks, figures = QUICK_RANKS if quick else RANKS, {}
    programs = {run: binary(*run[:2], ranks) for run in runs}
    if not any(programs.values()):
        raise Skipped(HOW)
    for (kernel, size, own_rounds), program in programs.items():
        if not program:
            print(f"nagaya bench: npb: no {kernel}.{size}.x", file=sys.stderr)
            continue
        plan = Jobs(hosts=1, tasks_each=ranks, setting=f"npb {kernel} {size}", rounds=own_rounds,
                    measured_by=measured,
                    jobs=[Job("Open MPI", is_plain=True),
                          Job("pml", environment={"NAGAYA_MPI": "on", "NAGAYA_COLL": "off"}),
                          Job("pml and coll", environment={"NAGAYA_MPI": "on"})],
                    comparisons=[Comparison(name, ["Open MPI"]) for name in ("pml", "pml and coll")])
        figures |= jobs.run(plan, str(program), [], quick, rounds)["figures"]
    return {**machine.of_own_program(), "figures": figures}
