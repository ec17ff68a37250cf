# SPDX-License-Identifier: BSD-3-Clause
"""The start and the end of an MPI's jobs, from the launcher's start to its end: by `nagaya run`, and
by the MPI's own launcher. The program does nothing between MPI_Init and MPI_Finalize."""

import time

import jobs
import machine
from jobs import Comparison, Failed, Job, Jobs
from ordinary_user import OrdinaryUser

RANKS, QUICK_RANKS = [64, 240], [16]
ROUNDS = 15
LIMIT_S = 300
STOCK, OURS = "Open MPI", "Nagaya"


def measured(user: OrdinaryUser, job: Job, words: list) -> dict:
    command = [word for word in words if not str(word).startswith("--json")]
    begin = time.monotonic()
    ended = user.run(command, timeout=LIMIT_S, env={**jobs.UNBOUND, **job.environment})
    wall_ms = 1e3 * (time.monotonic() - begin)
    if ended.code != 0:
        raise Failed(f"{job.name} ended with {ended.code}: {ended.err[-1000:]}")
    return {"figures": {"time": {"title": "start and end of a job", "unit": "ms",
                                 "subject": {"p50": wall_ms}}}}


def run(program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    figures = {}
    for ranks in QUICK_RANKS if quick else RANKS:
        plan = Jobs(hosts=1, tasks_each=ranks, setting=f"mpi start {ranks}", rounds=ROUNDS,
                    measured_by=measured, jobs=[Job(STOCK, is_plain=True), Job(OURS)],
                    comparisons=[Comparison(OURS, [STOCK])])
        figures |= jobs.run(plan, program, [], quick, rounds)["figures"]
    return {**machine.of_own_program(), "figures": figures}
