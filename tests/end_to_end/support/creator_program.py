# SPDX-License-Identifier: BSD-3-Clause
"""Drives tests/programs/creator.c line by line, and measures its host from outside in between."""
import dataclasses
import json
import os
import pathlib
import select
import subprocess
import time

from leftovers import describe

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


def host_of(user, installation, creator):
    jobs = json.loads(user.run([installation.nagaya, "ps", "--json"]).out)["jobs"]
    host, = [job["host_pid"] for job in jobs if job.get("launcher_pid") == creator]
    return host


class Creator:
    def __init__(self, user, installation, capacity=0):
        self.process = user.start([installation.program("creator"), capacity], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        self.await_answer("ready")
        self.host = host_of(user, installation, self.process.pid)

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
        """Measures the host when nothing changes any more: it frees the remains of a task some time
        after it has reported the task's end."""
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
        assert describe(self.host) is None, "the host has outlived its space"
