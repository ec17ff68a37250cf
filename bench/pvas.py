# SPDX-License-Identifier: BSD-3-Clause
"""The experiment of the PVAS paper (Shimada, Hori, Ishikawa 2015), in its form: messages within a node by
these three ways, with one limit of eager messages for all.

    S   Open MPI's shared memory, which copies a message twice
    K   Open MPI's shared memory, by which the kernel copies a message once
    P   tasks of one address space; in the paper PVAS, here Nagaya

There is a figure for each of S and K: its time divided by ours, as the paper has it (above 1: ours is
shorter)."""

import dataclasses

import jobs
import memory
import npb
from jobs import Comparison, Job, Jobs

S, K, OURS = "S", "K", "Nagaya"
MECHANISMS = {S: "none", K: "cma"}
RANKS, QUICK_RANKS = 240, 8
SIZES = "8,1024,65536,1048576"  # of figures 10 and 11
# Limits of eager messages: for Open MPI's shared memory, and for us. "usual": 4 KiB, both defaults.
EAGER_LIMITS = {
    "usual": ({}, {}),
    "eager": ({"eager_limit": "1048704", "max_send_size": "1048704", "segment_size": "268435456"},
              {"NAGAYA_EAGER_BYTES": str(1 << 20)}),
    "rendezvous": ({"eager_limit": "56", "fbox_max": "0"}, {"NAGAYA_EAGER_BYTES": "0"}),
}
LONGER_BYTES = "16384"  # by rendezvous


def copied_by(mechanism: str) -> dict:
    """Returns the environment by which Open MPI's shared memory copies a message once by this
    mechanism; "none": twice."""
    return {"OMPI_MCA_btl_vader_single_copy_mechanism": mechanism,
            **({"OMPI_MCA_smsc": "^cma"} if mechanism == "none" else {})}  # Open MPI 5


def other(way: str, limit: str, **more) -> Job:
    """Returns the job by S or K."""
    vader = {f"OMPI_MCA_btl_vader_{name}": value for name, value in EAGER_LIMITS[limit][0].items()}
    return Job(way, is_plain=True, environment={"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader", **vader,
                                                **copied_by(MECHANISMS[way])}, **more)


def ours(limit: str, name: str = OURS, collectives: bool = False) -> Job:
    """Returns our job: Open MPI's own collectives over our messages, unless told otherwise."""
    return Job(name, environment={"NAGAYA_MPI": "on", **EAGER_LIMITS[limit][1],
                                  **({} if collectives else {"NAGAYA_COLL": "off"})})


def each_beside(own: Job, others: list[Job]) -> list[Comparison]:
    return [Comparison(job.name, [own.name]) for job in others]


def figure_9(limit: str, what: str, ways: list[str]) -> tuple:
    """One kind of messages of figure 9."""
    others, own = [other(way, limit) for way in ways], ours(limit, collectives=True)
    return "messages", [], what, Jobs(hosts=1, tasks_each=2, setting=f"figure 9 {limit}", rounds=9,
                                      jobs=[*others, own], comparisons=each_beside(own, others))


def run_collectives(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    """Figures 10 and 11: MPI_Bcast and MPI_Allreduce, by our messages, as the paper's are, and by our
    collectives."""
    others, own = [other(way, "usual") for way in MECHANISMS], ours("usual")
    collectives = ours("usual", f"{OURS}, its own collectives", collectives=True)
    ranks = QUICK_RANKS if quick else RANKS
    plan = Jobs(hosts=1, tasks_each=ranks, setting=f"coll {ranks}", rounds=3, jobs=[*others, own, collectives],
                comparisons=[*each_beside(own, others),
                             Comparison(collectives.name, list(MECHANISMS), name="collectives")])
    return jobs.run(plan, program, [*arguments, "--kinds", "bcast,allreduce", "--sizes", SIZES,
                                    "--limit-ms", "200"], quick, rounds)


# ---- figures 12 and 13: the NAS Parallel Benchmarks ---------------------------------------------

def run_npb(limit: str, quick: bool, rounds: int | None) -> dict:
    others, own = [other(way, limit) for way in MECHANISMS], ours(limit, "pml")
    made, comparisons = [*others, own], [*each_beside(own, others), Comparison(own.name, list(MECHANISMS))]
    if limit == "usual":
        both = ours(limit, "pml and coll", collectives=True)
        made.append(both)
        comparisons.append(Comparison(both.name, list(MECHANISMS)))
    setting = "npb" if limit == "usual" else f"npb {limit}"

    def plan(_run: npb.Run) -> Jobs:
        return Jobs(hosts=1, setting=setting, jobs=made, comparisons=comparisons)
    return npb.figures_of(plan, quick, rounds)


def run_figure_12(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    return run_npb("usual", quick, rounds)


def run_figure_13(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    return run_npb("rendezvous", quick, rounds)


# ---- the second halves of figures 14 and 15, and table 5 ----------------------------------------

def run_memory(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    """The memory of alltoalls of 16 KiB, and of IS with all messages by rendezvous."""
    setting = "memory rendezvous"
    result = memory.at_rest(memory.PLAN, setting, program, [*arguments, "--bytes", LONGER_BYTES], quick, rounds)
    others, own = [other(S, "rendezvous")], ours("rendezvous", collectives=True)
    plan = dataclasses.replace(memory.PLAN, jobs=[*others, own], comparisons=[Comparison(own.name, [S])])
    return {**result, "figures": result["figures"] | memory.of_sorting(plan, setting, quick, rounds)}
