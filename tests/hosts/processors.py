# SPDX-License-Identifier: BSD-3-Clause
"""A share of the machine's processors for each of several hosts. By groups of the kernel (cpuset),
since launchers undo a processor affinity that they inherit. For root."""
import contextlib
import itertools
import os
import pathlib
import time

GROUPS = pathlib.Path("/sys/fs/cgroup")  # cgroup version 2
GROUPS_1 = GROUPS / "cpuset"  # version 1
EMPTY_LIMIT_S = 5
TICK_S = 0.05
NUMBERS = itertools.count()


class Share:
    """Of host `number` of `count`: as many processors each, and none twice while they last. Raises
    OSError: this machine lets nobody make such groups. `leave` when its processes have ended."""

    def __init__(self, number, count):
        every = sorted(os.sched_getaffinity(0))
        own = every[number::count] or [every[number % len(every)]]
        self.folder = folder_of_groups() / f"nagaya-{os.getpid()}-{next(NUMBERS)}"
        self.folder.mkdir()
        try:
            if self.folder.parent == GROUPS_1:  # a group begins without any memory node there
                memory = (GROUPS_1 / "cpuset.mems").read_text()
                (self.folder / "cpuset.mems").write_text(memory)
            (self.folder / "cpuset.cpus").write_text(",".join(map(str, own)))
        except OSError:
            self.leave()
            raise

    def enter(self):
        """Words before a command that run it there."""
        return ["sh", "-c", f'echo 0 > {self.folder}/cgroup.procs && exec "$@"', "sh"]

    def leave(self):
        deadline = time.monotonic() + EMPTY_LIMIT_S
        while self.folder.exists():
            try:
                self.folder.rmdir()
            except OSError:  # those who were killed are not quite gone
                if time.monotonic() > deadline:
                    raise
                time.sleep(TICK_S)


def folder_of_groups():
    if GROUPS_1.exists():
        return GROUPS_1
    (GROUPS / "cgroup.subtree_control").write_text("+cpuset")
    return GROUPS


def remove_lost():
    """Groups of those who were killed before they could leave."""
    for folder in folder_of_groups().glob("nagaya-*-*"):
        if not pathlib.Path("/proc", folder.name.split("-")[1]).exists():
            with contextlib.suppress(OSError):  # it is not empty, or another has removed it
                folder.rmdir()


def shares(count):
    """One for each host, or none at all where there are no such groups."""
    made = []
    try:
        remove_lost()
        for number in range(count):
            made.append(Share(number, count))
    except OSError:
        for share in made:
            share.leave()
        return []
    return made
