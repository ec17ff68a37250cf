# SPDX-License-Identifier: BSD-3-Clause
"""FMPL's figures beside Open MPI: point-to-point messages by size, also buffered (figure 6), and
barrier, bcast and sum of 8 KB by the number of processes (figures 7 to 9), with special support and
by point-to-point messages alone."""

import statistics

import jobs
from jobs import Comparison, Job, Jobs

COUNTS, QUICK_COUNTS = (3, 4, 8, 11, 16, 32, 64), (3, 8)  # of two they are beside the messages
COLLECTIVES = ("barrier", "bcast", "sum")
MANY = 8  # from so many processes on the bars are about all collectives together
STOCK, SPACE, OURS = "Open MPI", "Open MPI through the space", "FMPL"
MPI = {STOCK: {"is_plain": True}, SPACE: {"environment": {"NAGAYA_MPI": "on"}}}


def plan(tasks: int) -> Jobs:
    made = [*(Job(name, program="fmpl-mpi", **how) for name, how in MPI.items()), Job(OURS),
            Job(f"{OURS} by messages", arguments=("--by-messages",))]
    if tasks == 2:
        made += [*(Job(f"{name} buffered", program="fmpl-mpi", arguments=("--buffered",), **how)
                   for name, how in MPI.items()),
                 Job(f"{OURS} buffered", arguments=("--buffered",))]
    return Jobs(hosts=1, tasks_each=tasks, setting=f"fmpl {tasks}", jobs=made,
                comparisons=[Comparison(job.name, [incumbent]) for job in made
                             if job.name != (incumbent := incumbent_of(job.name))])


def incumbent_of(name: str) -> str:
    """Returns the incumbent of a figure: for buffered messages a job with buffered messages."""
    return f"{STOCK} buffered" if name.endswith(" buffered") else STOCK


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


def run_counts(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    runs = [jobs.run(plan(count), program, arguments, quick, rounds)
            for count in (QUICK_COUNTS if quick else COUNTS)]
    figures = {name: one for run in runs for name, one in run["figures"].items()}
    return {**runs[-1], "figures": {**figures, **together(figures)}}
