# SPDX-License-Identifier: BSD-3-Clause
"""Drives tests/programs/creator.c line by line, and measures its host from outside in between."""
import dataclasses
import os
import pathlib
import select
import subprocess
import time

ANSWER_LIMIT_S = 300
TIMES_AT_REST = 4


@dataclasses.dataclass
class Measured:
    mappings: int
    resident_kb: int
    page_tables_kb: int
    descriptors: int


def status_kb(pid, field):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise AssertionError(f"no {field} for process {pid}")


def measure(pid):
    maps = pathlib.Path(f"/proc/{pid}/maps").read_bytes()
    return Measured(maps.count(b"\n"), status_kb(pid, "VmRSS"), status_kb(pid, "VmPTE"),
                    len(os.listdir(f"/proc/{pid}/fd")))


def child_of(pid, name):
    for entry in os.scandir("/proc"):
        try:
            stat = pathlib.Path(entry.path, "stat").read_text() if entry.name.isdigit() else ""
        except OSError:
            continue
        # pid (name) state ppid ...
        if f" ({name}) " in stat and int(stat.rsplit(") ", 1)[1].split()[1]) == pid:
            return int(entry.name)
    raise AssertionError(f"process {pid} has no child {name}")


class Creator:
    def __init__(self, user, installation, capacity=0):
        self.process = user.start([installation.program("creator"), capacity], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        self.await_answer("ready")
        self.host = child_of(self.process.pid, "nagaya-host")

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        if failure is None:
            self.destroy()
        self.process.kill()
        self.process.communicate()

    def await_answer(self, last_word):
        readable, _, _ = select.select([self.process.stdout], [], [], ANSWER_LIMIT_S)
        line = self.process.stdout.readline() if readable else "(no answer in time)"
        assert line.split()[-1:] == [last_word], f"{line!r} {self.error_text()}"
        return line.split()[:-1]

    def error_text(self):
        self.process.kill()
        return self.process.communicate()[1]

    def tell(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        return self.await_answer("done")

    def measure(self):
        return measure(self.host)

    def measure_at_rest(self, limit_s=10):
        """The host frees what a task left some time after its end was told: measured when nothing
        changes any more."""
        deadline = time.monotonic() + limit_s
        last, same = self.measure(), 0
        while same < TIMES_AT_REST and time.monotonic() < deadline:
            time.sleep(0.05)
            measured = self.measure()
            same = same + 1 if measured == last else 0
            last = measured
        return last

    def destroy(self):
        self.process.stdin.close()
        self.process.stdin = None
        out, err = self.process.communicate(timeout=ANSWER_LIMIT_S)
        assert (self.process.returncode, out) == (0, "destroyed\n"), (out, err)
        assert not os.path.exists(f"/proc/{self.host}"), "the host has outlived its space"
