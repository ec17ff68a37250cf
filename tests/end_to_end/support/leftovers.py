# SPDX-License-Identifier: BSD-3-Clause
"""The leftovers of a job: processes, sockets, shared memory segments."""
import dataclasses
import os
import pathlib
import shutil
import signal
import time

from ordinary_user import names_of, pids_of

LIMIT_S = 20.0  # what goes away does so at once, but for a loaded machine
TICK_S = 0.05
LAUNCHERS = {"orterun", "orted", "prterun", "prted", "mpirun", "nagaya", "nagaya-host", "nagaya-reaper",
             "nagaya-waiter", "mpiexec.hydra", "mpiexec.mpich", "hydra_pmi_proxy", "srun"}


def describe(pid):
    """Returns name and program of a live process; None when it has ended. For a task the kernel
    shows the host's program."""
    folder = pathlib.Path("/proc", str(pid))
    try:
        stat = (folder / "stat").read_text()
        if stat.rsplit(") ", 1)[1][0] in "ZX":
            return None
        return (folder / "comm").read_text().strip(), os.path.basename(os.readlink(folder / "exe"))
    except OSError:
        return None


@dataclasses.dataclass
class Left:
    processes: dict
    sockets: set
    segments: set


class Leftovers:
    """Finds the leftovers of a job: made before the job, asked after it."""

    def __init__(self, user, installation):
        self.user = user
        self.programs = LAUNCHERS | {path.name for path in
                                     (installation.root / "tests" / "programs").iterdir()}
        self.before = self.look()

    def look(self):
        processes = {}
        for pid in pids_of(self.user.uid):
            about = describe(pid)
            # A user that the tests have for themselves has no other processes.
            if about and (self.user.is_other or about[1] in self.programs):
                processes[pid] = about
        folder = self.user.socket_folder
        sockets = {path.name for path in folder.iterdir()} if folder.exists() else set()
        return Left(processes, sockets, set(names_of("/dev/shm", self.user.uid)))

    def now(self):
        found = self.look()
        return Left({pid: about for pid, about in found.processes.items()
                     if self.before.processes.get(pid) != about},
                    found.sockets - self.before.sockets, found.segments - self.before.segments)

    def after_limit(self):
        """Returns the leftovers after LIMIT_S, or at once when there are none any more."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            left = self.now()
            if not (left.processes or left.sockets) or time.monotonic() > deadline:
                return left
            time.sleep(TICK_S)

    def clear(self):
        left = self.now()
        for pid in left.processes:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for name in left.segments:
            pathlib.Path("/dev/shm", name).unlink(missing_ok=True)
        for name in left.sockets:  # also the folder of a launcher's session
            path = self.user.socket_folder / name
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
