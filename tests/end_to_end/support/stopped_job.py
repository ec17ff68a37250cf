# SPDX-License-Identifier: BSD-3-Clause
"""A job with one process that stops at a named step, so that a test can kill it or another process
exactly there. The steps are those of src/task/load/freestanding/stop_point.h."""
import os
import pathlib
import re
import signal
import subprocess
import time

STOP_POINTS = pathlib.Path(__file__).resolve().parents[3] / "src/task/load/freestanding/stop_point.h"
REACHED_LIMIT_S = 20
RECOVERY_LIMIT_S = 20
KILL_LIMIT_S = 20
TICK_S = 0.01


def stop_points():
    """Returns the stop points of start, join, spawn, reap and exit, which every job passes."""
    table = STOP_POINTS.read_text().split("kStopPointNames[] = {")[1].split("};")[0]
    return re.findall(r'"((?:client|host|task)\.[^"]+)"', table)


def state_of(pid):
    """Returns the state of a process; None when it has ended."""
    try:
        text = pathlib.Path("/proc", str(pid), "stat").read_text()
    except OSError:
        return None
    return text.rsplit(") ", 1)[1].split()[0]


def kill_process(pid):
    """Kills a process, and waits until the kernel has sent its children their signals of its death:
    one that goes on before may end well. Returns false when the process had ended before."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    deadline = time.monotonic() + KILL_LIMIT_S
    while state_of(pid) not in (None, "Z"):
        assert time.monotonic() < deadline, f"process {pid} survives SIGKILL"
        time.sleep(TICK_S)
    return True


def first_child_of(pid):
    """Returns the oldest child of a process; None when it has ended."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return None
    return int(children[0]) if children else None


class StoppedJob:
    """`role`s: proxy (a process that a launcher has started, or the creator of the space), reaper,
    host and task."""

    def __init__(self, user, leftovers, command, stop_point):
        self.leftovers = leftovers
        # In the session of the tests: the kernel wakes stopped processes whose group has no parent
        # in its session.
        self.process = user.start(command, env={"NAGAYA_STOP_AT": stop_point},
                                  start_new_session=False, process_group=0,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + REACHED_LIMIT_S
        while not self.stopped():
            assert time.monotonic() < deadline, f"{stop_point} was not reached"
            time.sleep(TICK_S)

    def processes(self):
        """Returns {pid: (role, state)} of the processes that this job has started."""
        present = self.leftovers.now().processes
        reapers = [pid for pid, (_, program) in present.items() if program == "nagaya-reaper"]
        hosts = [first_child_of(reaper) for reaper in reapers]
        roles = {"nagaya": "proxy", "nagaya-reaper": "reaper", "nagaya-host": "task"}
        found = {}
        for pid, (_, program) in present.items():
            state = state_of(pid)
            if state is not None and program in roles:
                found[pid] = ("host" if pid in hosts else roles[program], state)
        return found

    def stopped(self):
        return [pid for pid, (_, state) in self.processes().items() if state == "T"]

    def of_role(self, role):
        """Returns the processes of a role, the stopped ones first."""
        found = [(state != "T", pid) for pid, (has, state) in self.processes().items()
                 if has == role]
        return [pid for _, pid in sorted(found)]

    def go_on(self):
        for pid in self.stopped():
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass

    def recovers(self, ranks):
        """Returns true if in spite of a death the wanted number of tasks runs in the end."""
        deadline = time.monotonic() + RECOVERY_LIMIT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self.go_on()
            if len(self.of_role("task")) == ranks and len(self.of_role("host")) == 1:
                time.sleep(10 * TICK_S)
                return self.process.poll() is None and len(self.of_role("task")) == ranks
            time.sleep(TICK_S)
        return False

    def end(self, limit_s):
        """Lets all go on until the launcher has ended. Returns its exit code, its output, the time."""
        started = time.monotonic()
        while self.process.poll() is None and time.monotonic() - started < limit_s:
            self.go_on()
            time.sleep(TICK_S)
        self.go_on()
        took_s = time.monotonic() - started
        ended = self.process.poll() is not None
        if not ended:
            self.process.kill()
        said = self.process.communicate()[1]
        return self.process.returncode if ended else None, said, took_s
