# SPDX-License-Identifier: BSD-3-Clause
"""Files of nagaya/file.h: by all tasks of a job, on a full file system, and when tasks or the host are
killed."""
import os
import pathlib
import shlex
import signal
import struct
import subprocess
import time

import pytest
from hosts import SHARED_PROCESSORS
from stopped_job import StoppedJob

RUN_LIMIT_S = 120
END_LIMIT_S = 20
START_LIMIT_S = 20
BLOCK, PLACES, RANKS = 64 << 10, 64, 3
LINES_BEFORE_DEATH, CHECKPOINTS_BEFORE_DEATH = 500, 3
IDLE_S = 0.5
EXAMPLE_STEPS = 5


@pytest.mark.parametrize("tasks", [1, 4])
def test_every_function_does_what_it_says(user, nagaya, installation, folder, tasks):
    ended = user.run([nagaya, "run", "-n", tasks, installation.program("files"), "all", folder],
                     timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, f"files of {tasks}\n"), ended


def test_requests_that_are_pending_at_the_end_hold_up_nobody(user, nagaya, installation, folder, leftovers):
    ended = user.run([nagaya, "run", "-n", 2, installation.program("files"), "leave", folder])
    assert ended.code == 0, ended
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left


def test_what_fits_is_written_and_the_rest_is_enospc(root_only, user, nagaya, installation, folder):
    command = [*user.prefix, nagaya, "run", "-n", 1, installation.program("files"), "full", folder]
    script = f"mount -t tmpfs -o size=4m,mode=777 none {folder} && exec {shlex.join(map(str, command))}"
    ended = subprocess.run(["unshare", "--mount", "sh", "-c", script], env=user.environment(), cwd=user.folder,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_LIMIT_S,
                           check=False)
    assert (ended.returncode, ended.stdout) == (0, "the file system is full\n"), ended


def pids_named(leftovers, name):
    return [pid for pid, about in leftovers.now().processes.items() if about == (name, "nagaya-host")]


def await_pid(leftovers, name):
    deadline = time.monotonic() + START_LIMIT_S
    while not pids_named(leftovers, name):
        assert time.monotonic() < deadline, "the job has not begun"
    return pids_named(leftovers, name)[0]


def lines_of_a_killed_job(user, words, at_least, leftovers, victim):
    """Kills a process of the job once it has printed some lines. Returns all whole lines."""
    job = user.start(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    lines = [job.stdout.readline() for _ in range(at_least)]
    os.kill(await_pid(leftovers, victim), signal.SIGKILL)
    lines += job.stdout.readlines()
    assert job.wait(timeout=END_LIMIT_S) != 0
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left
    return [line for line in lines if line.endswith("\n")]


def check_blocks(path, lines):
    """Each block that a line names has that write's content, or is being overwritten by the next one of
    its place."""
    last = {}
    for line in lines:
        rank, turn = map(int, line.split())
        last[rank, turn % PLACES] = turn
    data = path.read_bytes()
    for (rank, place), turn in last.items():
        at = (place * RANKS + rank) * BLOCK
        words = set(struct.unpack(f"{BLOCK // 8}q", data[at:at + BLOCK]))
        assert words <= {turn, turn + PLACES}, (rank, place, turn, words)


@pytest.mark.parametrize("victim", ["files", "nagaya-host"])
def test_what_is_complete_is_in_the_file_when(user, nagaya, installation, folder, leftovers, victim):
    lines = lines_of_a_killed_job(user, [nagaya, "run", "-n", RANKS, installation.program("files"), "write", folder],
                                  LINES_BEFORE_DEATH, leftovers, victim)
    check_blocks(folder / "written", lines)


@pytest.mark.parametrize("step", ["lane.written:50", "lane.published:50", "lane.marked:50"])
def test_a_task_that_dies_in_a_request_ends_the_job(user, nagaya, installation, folder, leftovers, step):
    command = [nagaya, "run", "-n", RANKS, installation.program("files"), "write", folder]
    job = StoppedJob(user, leftovers, command, step)
    os.kill(job.of_role("task")[0], signal.SIGKILL)
    code, said, _ = job.end(END_LIMIT_S)
    assert code == 128 + signal.SIGKILL, said
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left


def switches_of_the_thread(host):
    """How often the host's thread for files has gone to sleep."""
    for thread in pathlib.Path(f"/proc/{host}/task").iterdir():
        if (thread / "comm").read_text() == "nagaya-files\n":
            return [line for line in (thread / "status").read_text().splitlines() if "ctxt_switches" in line]
    return None


def test_the_host_sleeps_while_there_are_no_requests(running, nagaya, installation, folder, leftovers):
    running([nagaya, "run", "-n", 2, installation.program("files"), "idle", folder], 2)
    host = await_pid(leftovers, "nagaya-host")
    before = switches_of_the_thread(host)
    time.sleep(IDLE_S)
    assert before is not None and switches_of_the_thread(host) == before


# ---- checkpoints ---------------------------------------------------------------------------------

@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_checkpoints_are_read_as_they_were_written(user, nagaya, installation, folder, tasks):
    ended = user.run([nagaya, "run", "-n", tasks, installation.program("checkpoints"), "all", folder],
                     timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, f"checkpoints of {tasks}\n"), ended


def test_checkpoints_over_hosts(hosts, front, nagaya, installation, folder):
    ended = front.run([nagaya, "run", "-n", 4, "--hosts", ",".join(f"{name}:2" for name in hosts.names[:2]),
                       installation.program("checkpoints"), "all", folder], env=SHARED_PROCESSORS,
                      timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, "checkpoints of 4\n"), ended
    assert {path.name for path in folder.iterdir()} == {"shared", "node.0", "node.1", "kept"}


@pytest.mark.parametrize("victim", ["checkpoints", "nagaya-host"])
def test_a_checkpoint_is_whole_when(user, nagaya, installation, folder, leftovers, victim):
    loop = [nagaya, "run", "-n", RANKS, installation.program("checkpoints"), "loop", folder]
    last = int(lines_of_a_killed_job(user, loop, CHECKPOINTS_BEFORE_DEATH, leftovers, victim)[-1])
    read = user.run([nagaya, "run", "-n", RANKS, installation.program("checkpoints"), "check", folder])
    turns = set(map(int, read.out.split()))
    assert read.code == 0 and len(turns) == 1 and turns <= {last, last + 1}, (last, read)


def test_the_example_goes_on_from_its_checkpoint(user, nagaya, installation, folder):
    for first in (0, EXAMPLE_STEPS - 1):
        ended = user.run([nagaya, "run", "-n", 2, installation.program("goes_on")], cwd=folder)
        assert (ended.code, ended.out) == (0, f"steps {first} to {first + EXAMPLE_STEPS}\n"), ended
