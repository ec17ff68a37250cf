# SPDX-License-Identifier: BSD-3-Clause
"""The processes of a running job: their memory, page tables and mappings, as peaks over the run.

Tasks of a space share one address space (mm). The mm's memory must be counted once: a process
whose parent is nagaya-host lives in the host's mm, so the host is read in the place of all of them.
"""
import dataclasses
import os
import time

HOST = "nagaya-host"
PROXY = "nagaya"


@dataclasses.dataclass
class Usage:
    """Sums over the address spaces of a job."""
    processes: int = 0
    spaces: int = 0
    pss_kib: int = 0
    page_table_kib: int = 0
    mappings: int = 0

    def peak_with(self, other):
        return Usage(*map(max, dataclasses.astuple(self), dataclasses.astuple(other)))


def read(pid, name):
    with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
        return file.read()


def parent_name_session(pid):
    """The name may hold spaces and brackets: it ends at the last one."""
    text = read(pid, "stat")
    name = text[text.index("(") + 1:text.rindex(")")]
    _, parent, _, session = text[text.rindex(")") + 2:].split()[:4]
    return int(parent), name, int(session)


def field_kib(text, field):
    for line in text.splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0


def all_processes():
    processes = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                processes[int(entry)] = parent_name_session(int(entry))
            except (FileNotFoundError, ProcessLookupError, ValueError):
                pass  # has just ended
    return processes


def family(roots, processes):
    """The roots and all that descend from them."""
    children = {}
    for pid, (parent, _, _) in processes.items():
        children.setdefault(parent, []).append(pid)
    found, waiting = set(), [pid for pid in roots if pid in processes]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting.extend(children.get(pid, []))
    return found


def lives_in_host(pid, processes):
    parent = processes[pid][0]
    return parent in processes and processes[parent][1] == HOST


def usage_of(pids):
    usage = Usage()
    for pid in pids:
        try:
            pss = field_kib(read(pid, "smaps_rollup"), "Pss")
            page_tables = field_kib(read(pid, "status"), "VmPTE")
            mappings = read(pid, "maps").count("\n")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # has just ended
        usage.spaces += 1
        usage.pss_kib += pss
        usage.page_table_kib += page_tables
        usage.mappings += mappings
    return usage


def add(one, other):
    return Usage(*map(sum, zip(dataclasses.astuple(one), dataclasses.astuple(other))))


class Sampler:
    """Samples the job of `root_pid`: `all` of it, and its `ranks` without launcher and proxies. Its
    host is nobody's child: it is known by the session, which is the job's own."""

    def __init__(self, root_pid):
        self.launcher = root_pid
        self.all = Usage()
        self.ranks = Usage()

    def sample(self):
        processes = all_processes()
        session = os.getsid(self.launcher)
        hosts = {pid for pid, (_, name, of) in processes.items() if name == HOST and of == session}
        members = family({self.launcher} | hosts, processes)
        owners = {pid for pid in members if not lives_in_host(pid, processes)}
        ranks = {pid for pid in owners if pid != self.launcher and processes[pid][1] != PROXY}
        of_ranks = usage_of(ranks)
        of_all = add(of_ranks, usage_of(owners - ranks))
        of_all.processes = len(members)
        self.ranks = self.ranks.peak_with(of_ranks)
        self.all = self.all.peak_with(of_all)

    def run_until(self, is_over, interval_s=0.05):
        """Reading a large mm holds its lock, which stops the job: so never for more than a tenth
        of the time."""
        while not is_over():
            begin = time.monotonic()
            self.sample()
            time.sleep(max(interval_s, 9 * (time.monotonic() - begin)))
