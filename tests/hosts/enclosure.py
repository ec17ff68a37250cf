# SPDX-License-Identifier: BSD-3-Clause
"""Processes in pid, mount, net and uts namespaces of their own: when the first of them is killed,
or the tests are, the kernel ends all others and removes their mounts and network."""
import os
import pathlib
import select
import subprocess
import sys
import time

START_LIMIT_S = 20
TICK_S = 0.05
KINDS = ("--mount", "--net", "--uts")


class Enclosure:
    """Runs `program`, a Python file with arguments, as the first process, from when it is made
    until `leave`. It logs into `folder`."""

    def __init__(self, folder, *program):
        self.folder = pathlib.Path(folder)
        self.log = open(self.folder / "start.log", "wb")
        self.outside = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", "unshare", "--pid", *KINDS, "--fork",
             "--kill-child", "--mount-proc", sys.executable, "-B", *map(str, program)],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        try:
            self.await_ready()
        except BaseException:
            self.leave()
            raise

    def is_ready(self):
        raise NotImplementedError

    def await_ready(self):
        deadline = time.monotonic() + START_LIMIT_S
        while not self.is_ready():
            alive = self.outside.poll() is None
            assert alive and time.monotonic() < deadline, "did not start:\n" + self.logs()
            time.sleep(TICK_S)

    @property
    def first_process(self):
        return children_of(self.outside.pid)[0]

    def enter(self, pid, *more_kinds):
        """Words before a command that run it where process `pid` is, in the same directory. They
        replace themselves by the command, which so stays the process that was started; but with
        "--pid", without which it has no /proc/self, it is the only child of that."""
        return ["nsenter", f"--target={pid}", *KINDS, *more_kinds, "--wd=."]

    def logs(self):
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}"
                         for path in sorted(self.folder.glob("*.log")))

    def leave(self):
        alive = self.outside.poll() is None
        first = [os.pidfd_open(pid) for pid in children_of(self.outside.pid)] if alive else []
        self.outside.kill()  # unshare --kill-child: the whole pid namespace goes with it
        self.outside.wait()
        for process in first:  # The first process ends when all others of its namespace have.
            select.select([process], [], [])
            os.close(process)
        self.log.close()


def children_of(pid):
    """In the order in which they were started."""
    return [int(child) for child in
            pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def reap_orphans():
    """The duty of the first process of a pid namespace from then on."""
    while True:
        pid, status = os.wait()
        print(f"{pid} ended with {status}", file=sys.stderr, flush=True)


def cover(path, content, folder):
    """Lays a file of this content over `path`, for this mount namespace only."""
    path = pathlib.Path(path)
    covering = pathlib.Path(folder) / path.name
    covering.write_text(content)
    subprocess.run(["mount", "--bind", str(covering), str(path)], check=True)


def give_account(uid, home, folder):
    """The user has none on this machine, and some programs ask for its name or shell."""
    for path, line in (("/etc/passwd", f"nagaya-test:x:{uid}:{uid}::{home}:/bin/sh"),
                       ("/etc/group", f"nagaya-test:x:{uid}:")):
        cover(path, pathlib.Path(path).read_text().rstrip("\n") + f"\n{line}\n", folder)
