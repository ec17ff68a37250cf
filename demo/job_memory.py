# SPDX-License-Identifier: BSD-3-Clause
"""The memory of a running job, without its launcher: ranks, and in one address space also the host, its
reaper and the processes that wait for its tasks.

Tasks share one address space, whose memory counts once: a process that has the same parent as
nagaya-host, the reaper, lives in the host's space, so the host is read in the place of all of them.
The reaper is in a session of its own."""
import os

HOST = "nagaya-host"
KIB_IN_MIB = 1024


def read(pid, name):
    with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
        return file.read()


def parent_name_session(pid):
    """Returns parent, name and session of a process. The name may hold spaces and brackets: it ends
    at the last bracket."""
    text = read(pid, "stat")
    name = text[text.index("(") + 1:text.rindex(")")]
    _, parent, _, session = text[text.rindex(")") + 2:].split()[:4]
    return int(parent), name, int(session)


def processes_of(session):
    """Returns parent and name of each process of a session."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent, name, own_session = parent_name_session(int(entry))
            except (FileNotFoundError, ProcessLookupError):
                continue  # has just ended
            if own_session == session:
                found[int(entry)] = (parent, name)
    return found


def field_kib(text, field):
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith(field + ":")), 0)


def memory_of(launcher):
    """Returns (Pss, page tables) [MiB] of a waiting job, whose launcher leads its session."""
    processes = processes_of(launcher)
    reapers = {parent for parent, name in processes.values() if name == HOST}
    spaces = [pid for pid, (parent, name) in processes.items()
              if pid != launcher and (name == HOST or parent not in reapers)]
    pss_kib = page_tables_kib = 0
    for pid in [*spaces, *reapers]:
        try:
            pss_kib += field_kib(read(pid, "smaps_rollup"), "Pss")
            page_tables_kib += field_kib(read(pid, "status"), "VmPTE")
        except (FileNotFoundError, ProcessLookupError):
            pass  # has just ended: it is no rank, because the ranks wait
    return pss_kib / KIB_IN_MIB, page_tables_kib / KIB_IN_MIB
