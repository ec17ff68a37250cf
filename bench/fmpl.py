# SPDX-License-Identifier: BSD-3-Clause
"""FMPL's figures beside Open MPI: messages of two by size, also buffered (figure 6), and barrier, bcast
and sum of 8 KB by the number of processes (figures 7 to 9), with special support and by messages of
two alone."""

from jobs import Comparison, Job, Jobs

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
                comparisons=[Comparison(job.name, [STOCK]) for job in made if job.name != STOCK])
