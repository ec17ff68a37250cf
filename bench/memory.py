# SPDX-License-Identifier: BSD-3-Clause
"""The memory of whole jobs by the number of their ranks, as in the PVAS paper's figures 14 and 15
(alltoall of 2 KiB) and tables 4 and 5 (NPB IS): Open MPI through the space, beside Open MPI as it
chooses its transports, and (floor) Open MPI over tcp, which shares nothing.

The driver measures from outside, all processes of a job but its launcher: ranks, proxies, host. An
address space counts once, however many tasks it has. Jobs of other MPIs are measured alike (faces.py).
"""

import bisect
import collections
import ctypes
import dataclasses
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

import jobs
import npb
from jobs import Comparison, Failed, Job, Jobs
from ordinary_user import OrdinaryUser, pids_of

PROGRAM = "memory"
COUNTS, QUICK_COUNTS = [60, 120, 180, 240], [16, 32]
IS_RANKS, IS_QUICK_RANKS = 128, 4
LIMIT_S = 1200  # of a job: 240 ranks on two busy processors
SAMPLE_TICK_S = 0.25
KIB = 1024
KINDS = {"pss": "Pss of a job", "page_tables": "page tables of a job",
         "both": "Pss and page tables of a job", "dev_shm": "a job's files in /dev/shm"}
CAUSES = {"waiters": "of it processes without a rank (waiting proxies)",
          "host": "of it private memory of host and space",
          "shared": "of it shared memory segments of ranks",
          "files": "of it programs and libraries, as they are in their files",
          "written": "of it programs and libraries, as ranks have written them",
          "private": "of it heaps, stacks and other private memory of ranks"}
BASELINE, STOCK, OURS = "Open MPI tcp", "Open MPI", "Nagaya"
LAUNCHERS = re.compile("(mpirun|mpiexec|orterun|prterun|hydra_).*|nagaya")
COMM_CHARACTERS = 15  # of a program's name in /proc/PID/comm
KCMP, KCMP_VM = 312, 1  # of x86-64; linux/kcmp.h


# ---- the memory of a job -----------------------------------------------------------------------

def shares_memory(pid: int, other: int) -> bool:
    return ctypes.CDLL(None).syscall(KCMP, pid, other, KCMP_VM, 0, 0) == 0


def by_space(pids: list[int]) -> list[list[int]]:
    """Returns the processes of each address space."""
    spaces = []
    for pid in pids:
        own = [space for space in spaces if any(shares_memory(other, pid) for other in space)]
        if own:
            own[0].append(pid)
        else:
            spaces.append([pid])
    return spaces


def lines_of(pid: int, file: str) -> list[str]:
    """Returns the lines of a file in /proc/PID; None if the process has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/{file}").read_text(errors="replace").splitlines()
    except OSError:
        return []


def kib_by_field(lines: list[str]) -> collections.Counter:
    return collections.Counter({words[0]: int(words[1]) for words in map(str.split, lines)
                                if len(words) == 3 and words[2] == "kB"})


def name_of(pid: int) -> str:
    return "".join(lines_of(pid, "comm"))


def anonymous_kib(smaps: list[str], partitions: list[range]) -> dict:
    """Returns the private memory of an address space by cause. If it has partitions, mappings
    outside of them are the host's."""
    begins = [partition.start for partition in partitions]
    found, cause = dict.fromkeys(("host", "written", "private"), 0), "private"
    for line in smaps:
        words = line.split()
        if not words[0].endswith(":"):
            address = int(words[0].split("-")[0], 16)
            at = bisect.bisect_right(begins, address) - 1
            if partitions and (at < 0 or address not in partitions[at]):
                cause = "host"
            else:
                cause = "written" if len(words) > 5 and words[5].startswith("/") else "private"
        elif words[0] == "Anonymous:":
            found[cause] += int(words[1])
    return found


def partitions_of(user: OrdinaryUser, words: list) -> list[range]:
    """Returns the partitions of a job's tasks, in ascending order; ordinary processes have none."""
    nagaya = [word for word in words if pathlib.Path(str(word)).name == "nagaya"]
    if not nagaya:
        return []
    [running] = json.loads(user.run([nagaya[0], "ps", "--json"]).out)["jobs"]
    return sorted((range(task[part], task[part] + task[f"{part}_bytes"])
                   for task in running["tasks"] for part in ("home", "range")),
                  key=lambda partition: partition.start)


def shared_files_kib(pid: int, uid: int) -> int:
    folder, blocks = pathlib.Path(f"/proc/{pid}/root/dev/shm"), 0
    try:
        paths = list(folder.rglob("*"))
    except OSError:  # the process has ended
        return 0
    for path in paths:
        try:
            about = path.lstat()
        except OSError:  # removed
            continue
        blocks += about.st_blocks if about.st_uid == uid else 0
    return blocks // 2


def memory_of(pids: list[int], uid: int) -> dict:
    """Returns the memory of processes by kind [MiB]."""
    found = dict.fromkeys(KINDS, 0)
    for pid, *_ in by_space(pids):
        found["pss"] += kib_by_field(lines_of(pid, "smaps_rollup"))["Pss:"]
        found["page_tables"] += kib_by_field(lines_of(pid, "status"))["VmPTE:"]
    found["both"] = found["pss"] + found["page_tables"]
    found["dev_shm"] = shared_files_kib(pids[0], uid) if pids else 0
    return {kind: kib / KIB for kind, kib in found.items()}


def causes_of(pids: list[int], ranks: set[int], partitions: list[range]) -> dict:
    """Returns the memory of a job by cause [MiB]."""
    found = dict.fromkeys(CAUSES, 0)
    for space in by_space(pids):
        rollup = kib_by_field(lines_of(space[0], "smaps_rollup"))
        if not ranks.intersection(space):
            found["waiters"] += rollup["Pss:"]
            continue
        found["shared"] += rollup["Pss_Shmem:"]
        found["files"] += rollup["Pss_File:"]
        for cause, kib in anonymous_kib(lines_of(space[0], "smaps"), partitions).items():
            found[cause] += kib
    return {cause: kib / KIB for cause, kib in found.items()}


class Started:
    """A running job, and the processes that it has started. Left without end(), the job is killed."""

    def __init__(self, user: OrdinaryUser, job: Job, words: list):
        self.uid, self.name = user.uid, job.name
        self.before = set(pids_of(user.uid))
        self.errors = tempfile.TemporaryFile("w+")
        self.process = user.start(words, env={**jobs.UNBOUND, **job.environment},
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=self.errors, text=True)
        self.limit = threading.Timer(LIMIT_S, os.killpg, (self.process.pid, signal.SIGKILL))
        self.limit.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.limit.cancel()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            stream.close()

    def pids(self) -> list[int]:
        return sorted(pid for pid in set(pids_of(self.uid)) - self.before
                      if not LAUNCHERS.fullmatch(name_of(pid)))

    def end(self) -> str:
        """Ends the job. Returns its output since the last read."""
        self.process.stdin.close()
        out = self.process.stdout.read()
        code = self.process.wait()
        if code != 0:
            self.errors.seek(0)
            raise Failed(f"{self.name} ended with {code}: {self.errors.read()[-1000:]}")
        return out


def figures_of(values: dict, titles: dict, unit: str = "MiB") -> dict:
    return {name: {"title": titles[name], "unit": unit, "subject": {"p50": value}}
            for name, value in values.items()}


def measured_at_rest(user: OrdinaryUser, job: Job, words: list) -> dict:
    """Returns the output of the program `memory`, with the memory of its job after its last
    alltoall."""
    with Started(user, job, words) as started:
        if started.process.stdout.readline() != "ready\n":
            started.end()
            raise Failed(f"{job.name} did not say that it is ready")
        partitions, pids = partitions_of(user, words), started.pids()
        name = (job.program or PROGRAM)[:COMM_CHARACTERS]
        ranks = {pid for pid in pids if name_of(pid) == name}
        memory, causes = memory_of(pids, user.uid), causes_of(pids, ranks, partitions)
        result = json.loads(started.end())
    if len(ranks) != words[words.index("-n") + 1]:
        raise Failed(f"{job.name}: only {len(ranks)} ranks were found")
    result["figures"] |= figures_of(memory, KINDS) | figures_of(causes, CAUSES)
    return result


def peak_of(user: OrdinaryUser, job: Job, words: list) -> tuple[dict, str]:
    """Returns the peak memory of a job by kind, and its output."""
    peak = dict.fromkeys(KINDS, 0)
    with Started(user, job, words) as started:
        while started.process.poll() is None:
            now = memory_of(started.pids(), user.uid)
            peak = {kind: max(value, peak[kind]) for kind, value in now.items()}
            time.sleep(SAMPLE_TICK_S)
        return peak, started.end()


def measured_at_peak(user: OrdinaryUser, job: Job, words: list) -> dict:
    """Returns the peak memory of a job of NPB, and its speed in a second run without measurement."""
    peak, output = peak_of(user, job, words)
    npb.times_of(output)
    speed = npb.times_of(jobs.output_of(user, job, words, LIMIT_S))["speed"]
    return {"figures": {**figures_of(peak, KINDS),
                        **figures_of({"speed": speed}, {"speed": "speed"}, "Mop/s")}}


# ---- the benchmark -----------------------------------------------------------------------------

def by(name: str, *arguments: str, **environment) -> Job:
    return Job(name, is_plain=not environment.get("NAGAYA_MPI"), environment=environment,
               arguments=arguments)


PLAN = Jobs(
    hosts=1, rounds=3,
    jobs=[by(BASELINE, "--meet", OMPI_MCA_pml="ob1", OMPI_MCA_btl="self,tcp"), by(STOCK),
          by(OURS, NAGAYA_MPI="on"),
          by(f"{OURS} btl self", NAGAYA_MPI="on", OMPI_MCA_btl="self")],
    comparisons=[Comparison(name, [STOCK], [BASELINE]) for name in (OURS, f"{OURS} btl self")])


def run(program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    result = at_rest(PLAN, "memory", program, arguments, quick, rounds)
    return {**result, "figures": result["figures"] | of_sorting(PLAN, "memory", quick, rounds)}


def at_rest(plan: Jobs, setting: str, program: str, arguments: list[str], quick: bool, rounds: int | None) -> dict:
    """Measures jobs after their last alltoall, by the number of their ranks; memory by cause of the most."""
    counts = QUICK_COUNTS if quick else COUNTS
    result = of_plans([dataclasses.replace(plan, tasks_each=count, setting=f"{setting} {count}")
                       for count in counts], program, arguments, quick, rounds)
    most = jobs.key_of(setting, f"{counts[-1]}_")
    figures = {name: figure for name, figure in result["figures"].items()
               if name.startswith(most) or not is_cause(name)}
    return {**result, "figures": figures | growth(figures, counts, jobs.key_of(setting))}


def of_sorting(plan: Jobs, setting: str, quick: bool, rounds: int | None) -> dict:
    """Returns the figures of NPB's IS, if there is its program."""
    program = npb.binary("is", "S" if quick else "A")
    if not program:
        return {}
    ranks = IS_QUICK_RANKS if quick else IS_RANKS
    plan = dataclasses.replace(plan, tasks_each=ranks, setting=f"{setting} IS {ranks}", measured_by=measured_at_peak)
    return jobs.run(plan, str(program), [], quick, rounds)["figures"]


def of_plans(plans: list[Jobs], program: str, arguments: list[str], quick: bool,
             rounds: int | None) -> dict:
    """Runs the plans with the program `memory`. Returns the last one's result with the figures of
    all."""
    results = [jobs.run(dataclasses.replace(plan, measured_by=measured_at_rest), program,
                        [*arguments, "--hold"], quick, rounds) for plan in plans]
    return {**results[-1], "figures": {name: figure for result in results
                                       for name, figure in result["figures"].items()}}


def is_cause(name: str) -> bool:
    return any(f"_{cause}_" in name for cause in CAUSES)


def growth(figures: dict, counts: list[int], prefix: str) -> dict:
    """Returns the power of the number of ranks with which the page tables of each side grow."""
    found = {}
    for side, name in (("subject", OURS), ("incumbent", STOCK), ("floor", BASELINE)):
        tables = [figures[f"{prefix}_{count}_page_tables_{OURS}"][side]["p50"] for count in counts]
        found[jobs.key_of(f"{prefix}_page_tables_power", name)] = {
            "title": f"Page tables by ranks, {name}", "note": "is the power of the ranks",
            "value": power(counts, tables)}
    return found


def power(counts: list[int], values: list[float]) -> float:
    """Returns the slope of a straight line through the logarithms, by least squares."""
    xs, ys = [math.log(count) for count in counts], [math.log(value) for value in values]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    return (sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys))
            / sum((x - x_mean) ** 2 for x in xs))
