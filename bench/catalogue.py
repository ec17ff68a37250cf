# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks by name, and how one is run."""

import dataclasses
import json
import pathlib
import subprocess
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import applications
import faces
import fmpl
import jobs
import memory
import mpis
import npb
import observing
import pvas
import python_ways
import scale
import starts
import xmp
import xmp_primitives
from jobs import Comparison, Failed, Job, Jobs, Skipped

FOLDER = pathlib.Path(__file__).resolve().parent


class Benchmark(NamedTuple):
    program: str  # beside this file
    arguments: list
    what: str
    over: Jobs | Callable | None = None  # several hosts; or what runs it, called as jobs.run is


def delegation(pattern: str, what: str, beside_mpi: bool = True, **places) -> tuple:
    """Compares the ways to notify the delegatee with Open MPI, and the automatic choice with the
    better of the two ways."""
    modes = ["automatic", "kernel", "polling"]
    mpi = [Job("Open MPI", program="delegation-mpi", is_plain=True)] * beside_mpi
    return "delegation", [pattern], what, Jobs(
        **places,
        jobs=[*mpi, *(Job(mode, environment={"NAGAYA_NOTIFICATION": mode}) for mode in modes)],
        comparisons=[Comparison(mode, [job.name for job in mpi],
                                modes[1:] if mode == "automatic" else []) for mode in modes])


# How delegatees may be told to work: the modes that `lanes`, without any word, is held against.
REQUEST_MODES = {
    "lanes": {},
    "ring": {"NAGAYA_QUEUE": "ring"},
    "unaggregated": {"NAGAYA_AGGREGATION": "off"},
    "sleeping": {"NAGAYA_NOTIFICATION": "kernel"},
    "spinning": {"NAGAYA_NOTIFICATION": "polling"},
}


TWO_DELEGATEES = Jobs(
    hosts=2, tasks_each=8, setting="delegatees", rounds=15,
    jobs=[Job(name, environment={"NAGAYA_DELEGATEES": number})
          for name, number in (("one", "1"), ("two", "2"))],
    comparisons=[Comparison("two", ["one"])])
BOTH = "eth0,eth1"
TWO_DEVICES = Jobs(
    hosts=2, tasks_each=4, link="1gbit", networks=2, setting="devices",
    jobs=[Job("Open MPI", program="delegation-mpi", is_plain=True,
              launcher_words=("--mca", "btl_tcp_if_include", BOTH)),
          Job("one", environment={"NAGAYA_NETWORK_DEVICES": "eth0"}),
          Job("both", environment={"NAGAYA_NETWORK_DEVICES": BOTH})],
    comparisons=[Comparison("both", ["one"]), Comparison("both", ["Open MPI"], name="mpi")])


OURS = Job("Nagaya", environment={"NAGAYA_MPI": "on"})


def beside(others: list[Job], **places) -> Jobs:
    """Compares Open MPI through the space with other jobs."""
    return Jobs(**places, jobs=[*others, OURS],
                comparisons=[Comparison(OURS.name, [job.name for job in others])])


def messages(what: str, *incumbents: Job, hosts: int = 1, **places) -> tuple:
    """An MPI's messages, within a node or between two: Open MPI's through the space, beside its own
    best transport (as it chooses itself, and without the kernel's copies) and others."""
    others = [Job("Open MPI", is_plain=True), *incumbents]
    if hosts == 1:
        others.append(Job("Open MPI without CMA", is_plain=True, environment=pvas.copied_by("none")))
    return "messages", ["--halves"] if hosts > 1 else [], what, beside(others, hosts=hosts, **places)


def windows(what: str, *arguments: str, **places) -> tuple:
    """Open MPI's windows between hosts, beside its own. (Open MPI 4.1 has none over tcp but by pt2pt.)"""
    stock = Job("Open MPI", is_plain=True, environment={"OMPI_MCA_osc": "pt2pt"})
    return "windows", list(arguments), what, beside([stock], **places)


def checkpoint(what: str, **places) -> tuple:
    """Checkpoints by the host, beside MPI_File_write_at_all() and MPI_File_iwrite_at() of OMPIO and of
    MPICH's ROMIO."""
    stock = [Job("OMPIO", program="checkpoint-mpi", is_plain=True), mpis.mpich("checkpoint-mpi", "ROMIO")]
    requests = [dataclasses.replace(job, name=f"{job.name} requests", arguments=("--requests",)) for job in stock]
    ours = Job("Nagaya")
    return "checkpoint", [], what, Jobs(**places, hosts=1, jobs=[*stock, *requests, ours], comparisons=[
        Comparison(ours.name, [job.name for job in others], name=name)
        for others, name in ((stock, "beside collective"), (requests, "beside requests"))])


RELEASE_GATHER = {f"MPIR_CVAR_{kind}_POSIX_INTRA_ALGORITHM": "release_gather"
                  for kind in ("BCAST", "REDUCE", "ALLREDUCE", "BARRIER")}


def collectives(what: str, *incumbents: Job, kinds: str = "", sizes: str = "", **places) -> tuple:
    """An MPI's collectives: Open MPI's through the space, beside its own and others."""
    wish = [*(["--kinds", kinds] if kinds else []), *(["--sizes", sizes] if sizes else [])]
    return "collectives", wish, what, beside([Job("Open MPI", is_plain=True), *incumbents], **places)


def run_xhc(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    others = mpis.jobs_of(program, "xhc", mpis.XHC, mpis.has_xhc)
    if not others:
        raise Skipped("NAGAYA_BENCH_MPIS names no Open MPI whose ompi_info lists coll: xhc")
    plan = beside(others, hosts=1, tasks_each=2, setting="coll xhc", rounds=9)
    return jobs.run(plan, program, arguments, quick, rounds)


# Benchmarks by name, in the order of `all`.
TABLE = {
    "cache-line": ("cache-line", [], "floor: one word between two cores"),
    "copy-bandwidth": ("copy-bandwidth", [], "floor: memcpy by one core and by two"),
    "mailbox-floor": ("mailbox-floor", [], "floor: 8 bytes and a flag, one line or two"),
    "yield": ("yield", [], "floor: turns handed on by sched_yield on one core"),
    "task-start": ("task-start", [], "240 small programs: time to start, page tables"),
    "page_fault": ("resource", ["page_fault"], "first touch of fresh 4 KiB pages"),
    "map_unmap": ("resource", ["map_unmap"], "mmap and munmap of 64 KiB"),
    "protect": ("resource", ["protect"], "mprotect of 64 KiB"),
    "thread": ("resource", ["thread"], "thread creation and join"),
    "malloc_mixed": ("resource", ["malloc_mixed"], "malloc of mixed blocks up to 2 MB"),
    "malloc_fixed": ("resource", ["malloc_fixed"], "malloc of reused blocks, 64 B to 64 MiB"),
    "mailbox": ("mailbox", [], "a message through a mailbox"),
    "recording": ("recording", [], "what a message costs to those whom top and trace read, the calls alone"),
    "in-node": ("in-node", [], "puts, copies, messages and atomics between tasks of a node"),
    "offload": ("offload", [], "the time that another thread adds by carrying a request out"),
    "rank-tables": ("rank-tables", [], "2^20 ranks: memory of a node and look-ups, by communicator"),
    "switch": ("resource", ["switch"], "context switch between tasks of one core"),
    "pingpong": delegation("pingpong", "between 2 nodes, by size", hosts=2),
    # Without MPI: both partners send first, and its blocking sends of long messages would wait.
    "overlap": delegation("overlap", "of pairs that compute meanwhile, between 2 nodes",
                          beside_mpi=False, hosts=2),
    "pingpong-gigabit": delegation("pingpong", "the same over 1 Gbit/s", hosts=2, link="1gbit",
                                   setting="gigabit"),
    "pingpong-crowded": delegation("pingpong", "of 8 pairs at once, between 2 nodes", hosts=2,
                                   tasks_each=8, setting="crowded", rounds=25),
    "alltoall": delegation("alltoall", "among 8 nodes, by size", hosts=8),
    "alltoall-gigabit": delegation("alltoall", "the same over 1 Gbit/s", hosts=8, link="1gbit",
                                   setting="gigabit"),
    "alltoall-crowded": delegation("alltoall", "among 8 tasks on each of 2 nodes", hosts=2,
                                   tasks_each=8, setting="crowded", rounds=25),
    "alltoall-devices": ("delegation", ["alltoall"],
                         "among 4 tasks on each of 2 nodes that two networks of 1 Gbit/s join", TWO_DEVICES),
    "alltoall-delegatees": ("delegation", ["alltoall", "--bytes", "8,65536"],
                            "among 8 tasks on each of 2 nodes, by one delegatee a node and by two",
                            TWO_DELEGATEES),
    "requests": ("requests", [], "READ between two nodes, sizes and threads, beside libfabric",
                 Jobs(hosts=2, shares_processors=True)),
    "requests-apart": ("requests", ["--unbound", "--threads", "1", "--bytes",
                                    "8,4096,32768,262144,1048576"],
                       "the same by one thread, each host with processors of its own", Jobs(hosts=2)),
    "requests-node": ("requests", [], "the same within a node", Jobs(hosts=1, tasks_each=2)),
    "requests-modes": ("requests", ["--ours-only"], "READ between two nodes, mode by mode", Jobs(
        hosts=2, shares_processors=True,
        jobs=[Job(name, environment=words) for name, words in REQUEST_MODES.items()],
        comparisons=[Comparison(name, ["lanes"]) for name in list(REQUEST_MODES)[1:]])),
    "messages": messages("MPI between two ranks of a node, by size", mpis.mpich("messages"),
                         *mpis.jobs_of("messages"),
                         tasks_each=2, setting="mpi", rounds=9),
    # MPICH spins: 16 of its ranks on 2 processors would take hours.
    "messages-crowded": messages("the same between 8 pairs on the processors there are",
                                 tasks_each=16, setting="mpi crowded"),
    "messages-faces": ("messages", [], "two ranks under each MPI, with Nagaya's face and without",
                       faces.plan("messages", hosts=1, tasks_each=2, setting="face", rounds=15)),
    "messages-faces-crowded": ("messages", [], "the same of 16 ranks on the processors there are",
                               faces.crowded("messages", "face crowded")),
    "messages-eager": pvas.figure_9("eager", "the same, eager up to 1 MiB, as in the PVAS paper", [pvas.S]),
    "messages-rendezvous": pvas.figure_9("rendezvous", "the same, all by rendezvous, as in the PVAS paper",
                                         [pvas.S, pvas.K]),
    "messages-hosts": messages("MPI between two hosts, by size", hosts=2, setting="mpi hosts"),
    "messages-hosts-crowded": messages("the same between 8 pairs", hosts=2, tasks_each=8,
                                       setting="mpi hosts crowded"),
    "top-cost": ("observed", [], "8 B while nobody, nagaya top or nagaya trace reads", observing.run),
    "collectives": collectives("MPI's collectives of two ranks of a node, by size",
                               mpis.mpich("collectives"),
                               mpis.mpich("collectives", "MPICH release_gather", RELEASE_GATHER),
                               *mpis.jobs_of("collectives"), hosts=1, tasks_each=2,
                               setting="coll", rounds=9),
    "collectives-faces": ("collectives", [], "two ranks under each MPI, with the face and without",
                          faces.plan("collectives", hosts=1, tasks_each=2, setting="face coll",
                                     rounds=9)),
    # Longer ones by MPICH 4.0, whose ranks spin, would take most of the time.
    "collectives-faces-crowded": ("collectives", ["--sizes", "8,1024"],
                                  "the same of 16 ranks on the processors there are",
                                  faces.crowded("collectives", "face coll crowded")),
    "collectives-crowded": collectives("the same of 16 ranks on the processors there are",
                                       hosts=1, tasks_each=16, setting="coll crowded"),
    "collectives-64": collectives("the same of 64 ranks", hosts=1, tasks_each=64, setting="coll 64",
                                  kinds="bcast,allreduce,alltoall", sizes="8,1024,65536", rounds=3),
    "collectives-240": ("collectives", [], "bcast and allreduce of 240 ranks, as in the PVAS paper",
                        pvas.run_collectives),
    "collectives-long": ("collectives", ["--kinds", "bcast,allreduce", "--sizes", "1048576,16777216",
                                         "--floors"],
                         "long ones of two ranks, beside memcpy of as many bytes",
                         Jobs(hosts=1, tasks_each=2, setting="coll long", jobs=[OURS])),
    "collectives-xhc": ("collectives", ["--kinds", "bcast,reduce,allreduce"],
                        "of two ranks, beside coll/xhc of Open MPIs of NAGAYA_BENCH_MPIS", run_xhc),
    "collectives-hosts": collectives("over three hosts with four ranks each", hosts=3,
                                     tasks_each=4, setting="coll hosts",
                                     kinds="bcast,allreduce,alltoall"),
    "collectives-hosts-single": collectives("the same with one rank each", hosts=3,
                                            setting="coll hosts single",
                                            kinds="bcast,allreduce,alltoall"),
    "windows-faces": ("windows", [], "one-sided access under each MPI, with the face and without",
                      faces.plan("windows", hosts=1, tasks_each=2, setting="face win", rounds=15)),
    "windows-faces-crowded": ("windows", [], "the same of 16 ranks on the processors there are",
                              # Ranks that spin take minutes for one turn of 200 locks.
                              faces.plan("windows", faces.yielding_jobs("windows"), hosts=1,
                                         tasks_each=16, setting="face win crowded", rounds=5)),
    "windows-hosts": windows("one-sided access between two hosts", hosts=2, setting="win hosts"),
    "windows-hosts-computing": windows("the same of a target that computes", "--computing", hosts=2,
                                       setting="win hosts computing"),
    "checkpoint": checkpoint("64 MiB of each of 4 ranks to a file while they compute", tasks_each=4,
                             setting="checkpoint 4"),
    "checkpoint-16": checkpoint("the same of 16 ranks", tasks_each=16, setting="checkpoint 16", rounds=3),
    "fmpl": ("fmpl", [], "FMPL's messages of two by size, and collectives", fmpl.run),
    "fmpl-counts": ("fmpl", [], "its collectives of 3 to 64 on the processors there are",
                    fmpl.run_counts),
    "fmpl-hosts": ("fmpl", [], "both between 2 to 16 hosts", fmpl.run_hosts),
    "fmpl-floors": ("fmpl-floors", [], "its messages beside loads and stores; their latency's parts",
                    Jobs(hosts=1, tasks_each=2, setting="fmpl")),
    "blacs": ("blacs", [], "the BLACS on a grid of 2 x 2, beside the reference over Open MPI", Jobs(
        hosts=1, tasks_each=4, setting="blacs",
        jobs=[Job("reference", is_plain=True), Job("Nagaya", environment={"NAGAYA_BLACS": "on"})],
        comparisons=[Comparison("Nagaya", ["reference"])])),
    "mpi-start": ("mpi-start", [], "start and end of an MPI's jobs of 64 and 240 ranks", starts.run),
    "memory": ("memory", [], "memory and page tables of an MPI's jobs of up to 240 ranks", memory.run),
    "memory-rendezvous": ("memory", [], "the same by rendezvous: alltoalls of 16 KiB, NPB's IS", pvas.run_memory),
    "memory-faces": ("memory", [], "that of MPICH and Open MPI, with Nagaya's face and without",
                     faces.run_memory),
    "npb": ("", [], "NPB's kernels with 16 ranks, of the folder NAGAYA_NPB", pvas.run_figure_12),
    "npb-rendezvous": ("", [], "the same, all messages by rendezvous", pvas.run_figure_13),
    "npb-openmp": ("", [], "NPB by MPI with 4 ranks beside OpenMP", npb.run_openmp),
    "npb-pie": ("", [], "NPB position-independent and not", npb.run_pie),
    "applications": ("", [], "LAMMPS, HPCC and testers of ScaLAPACK, whole runs", applications.run),
    "python": ("", [], "numpy arrays in 4 and 16 processes: a sum, blocks out and back, a map",
               python_ways.run),
    "xmp": ("", [], "XcalableMP: Laplace in four variants on a node; beside serial C", xmp.run),
    "xmp-hosts": ("", [], "the same over one to four hosts, strong and weak", xmp.run_hosts),
    "xmp-gmove": ("transposition", [], "a gmove from rows to columns, beside MPI_Alltoall",
                  xmp_primitives.run_gmove),
    "xmp-coarrays": ("", [], "puts beside stores, posts beside flags, locks beside mutexes",
                     xmp_primitives.run_coarrays),
    "xmp-cyclic": ("", [], "loops along cyclic dimensions, beside loops of C",
                   xmp_primitives.run_cyclic),
    "scale": ("scale", [], "collectives of up to 128 cores, by a model of nodes; the model beside this one",
              scale.run),
    "idle": delegation("idle", "processor time of nodes where 8 tasks wait", hosts=2, tasks_each=8),
}
BENCHMARKS = {name: Benchmark(*fields) for name, fields in TABLE.items()}


def run(name: str, quick: bool, rounds: int | None) -> dict:
    """Runs one benchmark and returns its JSON. Its progress goes to stderr."""
    program, arguments, _, over = BENCHMARKS[name]
    if isinstance(over, Jobs):
        return jobs.run(over, program, arguments, quick, rounds)
    if over:
        return over(program, arguments, quick, rounds)
    command = [str(FOLDER / program), *arguments, "--json"]
    command += ["--quick"] if quick else []
    command += ["--rounds", str(rounds)] if rounds else []
    with tempfile.TemporaryFile("w+") as output:
        ended = subprocess.run(command, stdout=output, stdin=subprocess.DEVNULL, check=False)
        if ended.returncode != 0:
            raise Failed(f"it ended with {ended.returncode}")
        output.seek(0)
        return json.load(output)
