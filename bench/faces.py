# SPDX-License-Identifier: BSD-3-Clause
"""The face of MPI (libnagaya-mpi) under each MPI, beside that MPI's own shared memory: Debian's
MPICH and Open MPI, and those of NAGAYA_BENCH_MPIS."""

import functools
import pathlib
import statistics
import sys
from collections.abc import Callable

import jobs
import memory
import mpis
from jobs import Comparison, Job, Jobs

WITH, BESIDE_ALL = "with Nagaya", "beside all"
INTEL = {"I_MPI_FABRICS": "shm", "I_MPI_PIN": "off"}  # within a node; where the system has room


def debian_jobs(program: str) -> list[Job]:
    return [Job("Open MPI", is_plain=True), mpis.mpich(program)]


def stock_jobs(program: str) -> list[Job]:
    return [*debian_jobs(program), *mpis.jobs_of(program, environment=INTEL)]


def in_the_space(stock: Job) -> Job:
    """Returns the job of the same MPI with the face. Under `nagaya run` our components would carry
    Debian's Open MPI; under another launcher, unless NAGAYA_MPI wants them, the face does."""
    name = f"{stock.name} {WITH}"
    if stock.name == "Open MPI":
        return Job(name, is_plain=True, is_under_exec=True)
    return Job(name, program=stock.program, environment=stock.environment)


def yielding_jobs(program: str) -> list[Job]:
    """The MPIs whose waiting ranks yield their processor: not Debian's MPICH."""
    return [job for job in stock_jobs(program) if job.name != mpis.mpich(program).name]


def plan(program: str, stock: list[Job] | None = None, **places) -> Jobs:
    """Each MPI with the face, beside the MPI alone; and beside the best of all MPIs alone. Debian's
    Open MPI also beside our components for it."""
    stock = stock or stock_jobs(program)
    ours = [in_the_space(job) for job in stock]
    components = Job("components", environment={"NAGAYA_MPI": "on"})
    return Jobs(**places, jobs=[*stock, *ours, components], comparisons=[
        Comparison(ours[0].name, [components.name], name="Open MPI beside components"),
        *(Comparison(own.name, [other.name]) for own, other in zip(ours, stock)),
        *(Comparison(own.name, [other.name for other in stock], name=f"{own.name} {BESIDE_ALL}")
          for own in ours)])


# ---- more ranks than processors ----------------------------------------------------------------

# Waiting ranks of Open MPI, MPICH 5 and Intel MPI yield their processor; those of MPICH 4.0 spin. For
# ranks that spin, a turn takes the scheduler's time slices: 0.1 s, where others take 10 us.
CROWDED_LIMIT = ["--limit-ms", "200"]


def crowded(program: str, setting: str) -> Callable:
    """Returns what runs 16 ranks of a program on the processors there are."""
    return functools.partial(run_crowded, plan(program, hosts=1, tasks_each=16, setting=setting,
                                               rounds=3))


def run_crowded(over: Jobs, program: str, arguments: list[str], quick: bool,
                rounds: int | None) -> dict:
    result = jobs.run(over, program, [*arguments, *CROWDED_LIMIT], quick, rounds)
    return {**result, "figures": result["figures"] | together(over, result["figures"])}


def together(over: Jobs, figures: dict) -> dict:
    """Returns geometric mean and worst of the ratios of each MPI with the face to the best MPI
    alone, of all figures but those that are means themselves or about words without MPI."""
    found = {}
    for comparison in over.comparisons:
        if not comparison.name.endswith(BESIDE_ALL):
            continue
        ending = jobs.key_of("", comparison.name)
        ratios = {figure["title"].split(", ")[0]: figure["ratio"]["p50"]
                  for key, figure in figures.items()
                  if key.endswith(f"_{ending}") and "_word_" not in key and "_short_" not in key}
        worst = max(ratios, key=ratios.get)
        for name, value, note in (
                ("mean", statistics.geometric_mean(ratios.values()), "times the best MPI alone"),
                ("worst", ratios[worst], f"times the best MPI alone, {worst}")):
            found[jobs.key_of(over.setting, name, comparison.subject)] = {
                "title": f"{over.setting}, {comparison.subject}, {name} of all", "note": note,
                "value": value}
    return found


# ---- memory ------------------------------------------------------------------------------------

# Two rounds: memory hardly differs from one to the next, and MPICH alone, whose ranks spin, takes 18 s
# of processor time for 60 ranks, and 2.4 times as much for twice as many.
RANKS, QUICK_RANKS, MEMORY_ROUNDS = [60, 120, 240], [8], 2
# Each rank of these MPIs maps the segment of each other one, and has some hundred mappings more: all
# count together in one address space.
MOST_MAPPINGS = pathlib.Path("/proc/sys/vm/max_map_count")


def fits(ranks: int) -> bool:
    return ranks * (ranks + 400) <= int(MOST_MAPPINGS.read_text())


def memory_plan(ranks: int) -> Jobs:
    stock = debian_jobs(memory.PROGRAM)
    ours = [in_the_space(job) for job in stock]
    return Jobs(hosts=1, tasks_each=ranks, setting=f"face memory {ranks}", rounds=MEMORY_ROUNDS,
                jobs=[*stock, *ours],
                comparisons=[Comparison(own.name, [alone.name]) for own, alone in zip(ours, stock)])


def run_memory(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    counts = QUICK_RANKS if quick else [ranks for ranks in RANKS if fits(ranks)]
    for ranks in set(RANKS if not quick else []) - set(counts):
        print(f"nagaya bench: {ranks} ranks have more mappings than vm.max_map_count allows: left out", file=sys.stderr)
    plans = [memory_plan(ranks) for ranks in counts]
    return memory.of_plans(plans, program, arguments, quick, rounds)
