# SPDX-License-Identifier: BSD-3-Clause
"""The cost of `nagaya top` and `nagaya trace` on the ping-pong of 8 B, by turns within one job; and
that of being observable at all, beside an earlier build by turns of jobs: its folder is the value of
NAGAYA_BENCH_BEFORE."""

import functools
import os
import pathlib

import jobs
from jobs import Comparison, Job, Jobs
from ordinary_user import OrdinaryUser

ROUNDS = 15
BEFORE, NOW = "before", "now"
ENVIRONMENT = {"NAGAYA_MPI": "on"}


def measured(before: pathlib.Path, user: OrdinaryUser, job: Job, words: list) -> dict:
    command = before / "bin/nagaya" if job.name == BEFORE else words[0]
    return jobs.printed_by(user, job, [command, *words[1:]])


def run(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    plan = Jobs(hosts=1, tasks_each=2, setting="top cost",
                jobs=[Job("Nagaya", environment=ENVIRONMENT)])
    result = jobs.run(plan, program, arguments, quick, rounds)
    folder = os.environ.get("NAGAYA_BENCH_BEFORE")
    if not folder:
        return result
    by_turns = Jobs(hosts=1, tasks_each=2, setting="top cost unread", rounds=ROUNDS,
                    measured_by=functools.partial(measured, pathlib.Path(folder)),
                    jobs=[Job(name, environment=ENVIRONMENT) for name in (BEFORE, NOW)],
                    comparisons=[Comparison(NOW, [BEFORE])])
    unread = jobs.run(by_turns, program, [*arguments, "--alone"], quick, rounds)
    return {**result, "figures": result["figures"] | unread["figures"]}
