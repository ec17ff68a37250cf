# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks over several hosts: network namespaces of this machine, joined by a bridge (hosts.py).

A catalogue entry with Jobs runs its program as a job over these hosts, by `nagaya run --hosts`:

    "rates": ("rates", ["read"], "what it shows", Jobs(hosts=2, tasks_each=4)),

Every rank gets the entry's arguments and the driver's --quick and --rounds; rank 0 alone prints,
with --json, what every benchmark program prints (figure.h). That is the result.

Settings that cannot change within a job (environment, program, launcher) are compared between jobs.
Then every round starts each of them once, with --rounds 1, one after the other, another one first:

    Jobs(hosts=2, link="1gbit", setting="gigabit",
         jobs=[Job("polling", environment={"NAGAYA_NOTIFICATION": "polling"}),
               Job("kernel", environment={"NAGAYA_NOTIFICATION": "kernel"}),
               Job("Open MPI", program="rates-mpi", is_plain=True)],
         comparisons=[Comparison("polling", incumbent=["Open MPI"]),
                      Comparison("kernel", incumbent=["Open MPI"], floor=["polling"])])

The programs' subjects are the values. Each of their figures F and each comparison make a figure
SETTING_F_SUBJECT ("gigabit_pingpong_8B_polling"), or SETTING_F when there is one comparison only.
If a side names several jobs, the job that is cheapest over all rounds is used. A figure that not all
jobs of a comparison have is left out, so programs may have figures of their own.

`nagaya run` hands NAGAYA_* and FI_* on to all hosts, Open MPI's mpirun (is_plain) its own OMPI_*.
One host is a job of this kind, too: an MPI chooses its ways when it starts.
Hosts are made as root, programs run as an ordinary user. Without root the benchmark is skipped.
Where the kernel lets them, each host has processors of its own (processors.py), as hosts do.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import sys
import time
from collections.abc import Callable

import budget
from hosts import SHARED_PROCESSORS, Hosts, missing_programs
from ordinary_user import OrdinaryUser
from processors import shares

ROOT = pathlib.Path(__file__).resolve().parents[3]  # of the build tree or the installation
PARTS = ["bin", "lib", "libexec"]
LIMIT_S = 300
PERCENTILES = {"min": 0, "p10": 0.10, "p50": 0.50, "p90": 0.90, "p99": 0.99, "max": 1}
# Launchers that know nothing of a host's share of the processors bind all ranks to the first one.
UNBOUND = {"OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "PRTE_MCA_hwloc_default_binding_policy": "none",  # Open MPI 5
           "PRTE_MCA_rmaps_default_mapping_policy": "slot:oversubscribe", **SHARED_PROCESSORS}


class Failed(Exception):
    """A benchmark could not measure, or its data check failed."""


class Skipped(Exception):
    """A benchmark cannot be run here."""


@dataclasses.dataclass(frozen=True)
class Job:
    name: str
    environment: dict = dataclasses.field(default_factory=dict)
    program: str = ""  # a program in place of the entry's
    arguments: tuple = ()  # more of them
    is_plain: bool = False  # ordinary processes, by the MPI's own launcher
    launchers: tuple = ("mpirun.openmpi", "mpirun")  # names of that one; the first that there is
    tasks_each: int = 0  # another number of tasks than the plan's: of one that has threads
    launcher_words: tuple = ()  # options of `nagaya run`, or of the MPI's launcher
    is_under_exec: bool = False  # the MPI's launcher starts `nagaya exec PROGRAM`


@dataclasses.dataclass(frozen=True)
class Comparison:
    subject: str  # the name of a job
    incumbent: list = dataclasses.field(default_factory=list)
    floor: list = dataclasses.field(default_factory=list)
    name: str = ""  # in the figure's key, unless that is the subject


@dataclasses.dataclass(frozen=True)
class Jobs:
    hosts: int
    tasks_each: int = 1
    link: str = ""  # the rate of each host's links in both directions, as tc has it
    networks: int = 1  # network devices of each host
    setting: str = ""  # a word for titles and before the names of figures: "gigabit"
    jobs: list = dataclasses.field(default_factory=lambda: [Job("Nagaya")])
    comparisons: list = dataclasses.field(default_factory=list)
    rounds: int = 5  # unless the driver says otherwise
    shares_processors: bool = False  # all hosts have all: the program itself shares them out
    # Runs a job, of (user, job, words), and returns what printed_by would; unless given, that one.
    measured_by: Callable | None = None


def run(plan: Jobs, program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    """Runs a plan. Returns the JSON of the program, or, of several jobs, that of the last one with
    the figures of all."""
    if os.geteuid() != 0:
        raise Skipped("several hosts are made of namespaces, which needs root")
    if missing_programs():
        raise Skipped(f"several hosts need {', '.join(missing_programs())}")
    arguments = [*arguments, "--json", *(["--quick"] if quick else [])]
    with started_hosts(plan) as start:
        if len(plan.jobs) == 1:
            result = start(plan.jobs[0], program, [*arguments, *rounds_option(rounds)])
            return {**result, "figures": {key_of(plan.setting, name): titled(figure, plan.setting)
                                          for name, figure in result["figures"].items()}}
        results, longest_s = [], 0.0
        for number in range(rounds or (1 if quick else plan.rounds)):
            if number and not rounds and not budget.has(longest_s):
                print(f"nagaya bench: {plan.setting or program}: no time for more rounds than {number}", file=sys.stderr)
                break
            begin = time.monotonic()
            of_round = {job.name: start(job, program, [*arguments, *rounds_option(1)])
                        for job in rotated(plan.jobs, number)}
            results.append([of_round[job.name] for job in plan.jobs])
            longest_s = max(longest_s, time.monotonic() - begin)
    return {**results[-1][-1], "figures": compared(plan, results)}


def rotated(jobs: list[Job], number: int) -> list[Job]:
    """Returns the jobs in the order of round `number`. Each round begins with another job, so that
    no job always bears the cost of being the first."""
    first = number % len(jobs)
    return jobs[first:] + jobs[:first]


def rounds_option(rounds: int | None) -> list[str]:
    return ["--rounds", str(rounds)] if rounds else []


@contextlib.contextmanager
def started_hosts(plan: Jobs):
    """Starts the plan's hosts. Yields a function that runs one job on them and returns its JSON."""
    user = OrdinaryUser()
    hosts = None
    try:
        root = user.copy_if_unreadable(ROOT, PARTS)
        try:
            hosts = Hosts(user, plan.hosts, plan.link or None,
                          () if plan.shares_processors else shares(plan.hosts), plan.networks)
        except AssertionError as error:  # it says why
            raise Failed(f"hosts: {error}") from None
        front = hosts.user_on(0)

        def start(job: Job, program: str, arguments: list[str]) -> dict:
            tasks_each = job.tasks_each or plan.tasks_each
            words = [*launcher_of(job, root), "-n", plan.hosts * tasks_each,
                     *where(plan, job, tasks_each, hosts.names), *job.launcher_words,
                     *([root / "bin/nagaya", "exec"] if job.is_under_exec else []),
                     root / "libexec/nagaya/bench" / (job.program or program), *arguments,
                     *job.arguments]
            return (plan.measured_by or printed_by)(front, job, words)
        yield start
    finally:
        if hosts:
            hosts.leave()
        user.leave()


def where(plan: Jobs, job: Job, tasks_each: int, names: list[str]) -> list:
    if plan.hosts == 1:
        return []
    return ["--host" if job.is_plain else "--hosts",
            ",".join(f"{name}:{tasks_each}" for name in names)]


def launcher_of(job: Job, root: pathlib.Path) -> list:
    if not job.is_plain:
        return [root / "bin/nagaya", "run", "--bind-to", "none"]  # as UNBOUND
    found = [path for path in map(shutil.which, job.launchers) if path]
    if not found:
        raise Skipped(f"{job.launchers[0]} is not installed")
    return found[:1]


def printed_by(user: OrdinaryUser, job: Job, words: list) -> dict:
    return json.loads(output_of(user, job, words))


def output_of(user: OrdinaryUser, job: Job, words: list, limit_s: float = LIMIT_S) -> str:
    try:
        ended = user.run(words, timeout=limit_s, env={**UNBOUND, **job.environment})
    except AssertionError as error:  # it did not end
        raise Failed(f"{job.name}: {error}") from None
    if ended.code != 0:
        raise Failed(f"{job.name} ended with {ended.code}: {ended.err[-1000:]}")
    return ended.out


# ---- several jobs ------------------------------------------------------------------------------

def compared(plan: Jobs, results: list[list[dict]]) -> dict:
    """Returns the figures of all comparisons. `results`: by round and job."""
    figures = {}
    for name, about in described(results[0]).items():
        rounds = rounds_of(plan, results, name)
        for comparison in plan.comparisons:
            named = [comparison.subject, *comparison.incumbent, *comparison.floor]
            if all(job in rounds for job in named):
                subject = (comparison.name or comparison.subject) if len(plan.comparisons) > 1 else ""
                figures[key_of(plan.setting, name, subject)] = {
                    **titled(about, plan.setting, subject), **sides(comparison, rounds),
                    "peers": {job: spread(rounds[job]) for job in comparison.incumbent}}
    return figures


def described(results: list[dict]) -> dict:
    """Returns title and unit of each figure that one of the jobs has."""
    return {name: {"title": figure["title"], "unit": figure["unit"]}
            for result in results for name, figure in result["figures"].items()
            if "subject" in figure}


def rounds_of(plan: Jobs, results: list[list[dict]], name: str) -> dict:
    """Returns the values of figure `name` in every round, by job."""
    return {job.name: [of_round[number]["figures"][name]["subject"]["p50"] for of_round in results]
            for number, job in enumerate(plan.jobs) if name in results[0][number]["figures"]}


def key_of(*words: str) -> str:
    return "_".join(filter(None, words)).replace(" ", "_")


def titled(figure: dict, *words: str) -> dict:
    return {**figure, "title": ", ".join(filter(None, [figure["title"], *words]))}


def sides(comparison: Comparison, rounds: dict) -> dict:
    subject = rounds[comparison.subject]
    figure = {"subject": series(comparison.subject, subject)}
    for side, ratio, above, names in (
            ("incumbent", "ratio", "above", comparison.incumbent),
            ("floor", "floor_ratio", "above_floor", comparison.floor)):
        if names:
            best = best_of(names, rounds)
            other = rounds[best]
            figure[side] = series(best, other)
            if all(other):
                figure[ratio] = spread([own / its for own, its in zip(subject, other)])
            figure[above] = spread([own - its for own, its in zip(subject, other)])
    return figure


def best_of(names: list[str], rounds: dict) -> str:
    """Returns the job that costs least over all rounds, which a user would choose. The cheapest job
    of each round would be a choice that no user has: of two equal jobs whose rounds vary by 12 % it
    is 7 % below either."""
    return min(names, key=lambda name: spread(rounds[name])["p50"])


def series(name: str, values: list[float]) -> dict:
    return {"name": name, **spread(values), "rounds": values}


def spread(values: list[float]) -> dict:
    """Returns minimum, percentiles, maximum and count, as spread_of() of figure.h does."""
    ordered = sorted(values)
    return {**{key: percentile(ordered, fraction) for key, fraction in PERCENTILES.items()},
            "count": len(values)}


def percentile(ordered: list[float], fraction: float) -> float:
    position = fraction * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
