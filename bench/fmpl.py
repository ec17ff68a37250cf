# SPDX-License-Identifier: BSD-3-Clause
"""FMPL's figures beside Open MPI and the BLACS: point-to-point messages by size, also buffered (figure
6), and barrier, bcast and sum of 8 KB by the number of processes (figures 7 to 9), with special support
and by point-to-point messages alone; within a node, and between hosts, as the paper has them."""

import statistics

import jobs
from jobs import Comparison, Job, Jobs

COUNTS, QUICK_COUNTS = (3, 4, 8, 11, 16, 32, 64), (3, 8)  # of two they are beside the messages
HOSTS, QUICK_HOSTS = (2, 3, 4, 8, 11, 16), (2, 3)
COLLECTIVES = ("barrier", "bcast", "sum")
MANY = 8  # from so many processes on the bars are about all collectives together
STOCK, SPACE, OURS = "Open MPI", "Open MPI through the space", "FMPL"
MESSAGES, PREPARED, SUPPORT = f"{OURS} by messages", "prepared", "special support"
MPI = {STOCK: {"is_plain": True}, SPACE: {"environment": {"NAGAYA_MPI": "on"}}}
BLACS = {"BLACS": {"is_plain": True}, "BLACS of Nagaya": {"launcher_words": ("--blacs",)}}


def plan(tasks: int, hosts: int = 1) -> Jobs:
    """Returns the jobs of so many processes on each of so many hosts."""
    made = [*(Job(name, program="fmpl-mpi", **how) for name, how in MPI.items()),
            *(Job(name, program="fmpl-blacs", **how) for name, how in BLACS.items()),
            Job(OURS), Job(MESSAGES, arguments=("--by-messages",))]
    if tasks * hosts == 2:
        made += [*(Job(f"{name} buffered", program="fmpl-mpi", arguments=("--buffered",), **how)
                   for name, how in MPI.items()),
                 Job(f"{OURS} buffered", arguments=("--buffered",))]
    setting = f"fmpl {tasks}" if hosts == 1 else f"fmpl hosts {hosts}"
    return Jobs(hosts=hosts, tasks_each=tasks, setting=setting, jobs=made,
                comparisons=[*(Comparison(job.name, [incumbent]) for job in made
                               if job.name != (incumbent := incumbent_of(job.name))),
                             Comparison(OURS, [MESSAGES], name=f"{OURS} beside messages")])


def incumbent_of(name: str) -> str:
    """Returns the incumbent of a figure: for buffered messages a job with buffered messages."""
    return f"{STOCK} buffered" if name.endswith(" buffered") else STOCK


# ---- figures of several figures ----------------------------------------------------------------

def together(figures: dict) -> dict:
    """Returns median and worst of the ratios of all collectives of MANY processes and more."""
    ratios = {f"{name} of {count}": figures[key]["ratio"]["p50"] for count in COUNTS if count >= MANY
              for name in COLLECTIVES if (key := f"fmpl_{count}_{name}_{OURS}") in figures}
    worst = max(ratios, key=ratios.get)
    title = f"FMPL's collectives of {MANY} processes and more"
    return {"fmpl_collectives_median": {"title": f"{title}, median", "note": f"times {STOCK}",
                                        "value": statistics.median(ratios.values())},
            "fmpl_collectives_worst": {"title": f"{title}, worst",
                                       "note": f"times {STOCK}, {worst}", "value": ratios[worst]}}


def support_worst(figures: dict) -> dict:
    """Returns the worst ratio of a collective with special support to the same by messages."""
    ratios = {f"{name} of {count}": figures[key]["ratio"]["p50"] for count in COUNTS for name in COLLECTIVES
              if (key := f"fmpl_{count}_{name}_{OURS}_beside_messages") in figures}
    worst = max(ratios, key=ratios.get)
    return {"fmpl_support_worst": {"title": "FMPL's collectives with special support, worst",
                                   "note": f"times those by messages, {worst}", "value": ratios[worst]}}


def prepared_beside_plain(figures: dict) -> dict:
    """Returns a figure of a message by requests that were prepared once, beside one by plain calls."""
    rounds = {way: figures[f"fmpl_2_{name}_8B_{OURS}"]["subject"]["rounds"]
              for way, name in ((PREPARED, "prepared"), ("plain calls", "pingpong"))}
    return {"fmpl_prepared_beside_plain": {
        "title": "FMPL's message of 8 bytes, prepared once, beside plain calls", "unit": "us",
        **jobs.sides(Comparison(PREPARED, ["plain calls"]), rounds)}}


# ---- benchmarks --------------------------------------------------------------------------------

def run(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    result = jobs.run(plan(2), program, arguments, quick, rounds)
    return {**result, "figures": result["figures"] | prepared_beside_plain(result["figures"])}


def of_plans(plans: list[Jobs], program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    results = [jobs.run(plan, program, arguments, quick, rounds) for plan in plans]
    return {**results[-1], "figures": {name: one for result in results for name, one in result["figures"].items()}}


def run_counts(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    counts = QUICK_COUNTS if quick else COUNTS
    result = of_plans([plan(count) for count in counts], program, arguments, quick, rounds)
    figures = result["figures"]
    return {**result, "figures": figures | together(figures) | support_worst(figures)}


def run_hosts(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    """One process on each host, as in the paper."""
    counts = QUICK_HOSTS if quick else HOSTS
    return of_plans([plan(1, hosts) for hosts in counts], program, arguments, quick, rounds)
