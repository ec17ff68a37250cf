# SPDX-License-Identifier: BSD-3-Clause
"""The face of MPI (libnagaya-mpi) under each MPI, beside that MPI's own shared memory: Debian's
MPICH and Open MPI, and those of NAGAYA_BENCH_MPIS."""

import memory
import mpis
from jobs import Comparison, Job, Jobs

WITH = "with Nagaya"
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


def plan(program: str, **places) -> Jobs:
    """Each MPI with the face, beside the MPI alone; and beside the best of all MPIs alone. Debian's
    Open MPI also beside our components for it."""
    stock = stock_jobs(program)
    ours = [in_the_space(job) for job in stock]
    components = Job("components", environment={"NAGAYA_MPI": "on"})
    return Jobs(**places, jobs=[*stock, *ours, components], comparisons=[
        Comparison(ours[0].name, [components.name], name="Open MPI beside components"),
        *(Comparison(own.name, [alone.name]) for own, alone in zip(ours, stock)),
        *(Comparison(own.name, [alone.name for alone in stock], name=f"{own.name} beside all")
          for own in ours)])


# ---- memory ------------------------------------------------------------------------------------

# Two rounds: memory hardly differs from one to the next, and MPICH alone, whose ranks spin, takes 18 s
# of processor time for 60 ranks, and 2.4 times as much for twice as many.
RANKS, QUICK_RANKS, MEMORY_ROUNDS = [60, 120, 240], [8], 2


def memory_plan(ranks: int) -> Jobs:
    stock = debian_jobs(memory.PROGRAM)
    ours = [in_the_space(job) for job in stock]
    return Jobs(hosts=1, tasks_each=ranks, setting=f"face memory {ranks}", rounds=MEMORY_ROUNDS,
                jobs=[*stock, *ours],
                comparisons=[Comparison(own.name, [alone.name]) for own, alone in zip(ours, stock)])


def run_memory(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    plans = [memory_plan(ranks) for ranks in (QUICK_RANKS if quick else RANKS)]
    return memory.of_plans(plans, program, arguments, quick, rounds)
