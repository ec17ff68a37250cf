# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya top` tells tasks that compute from tasks that sleep."""
import re
import signal
import subprocess

import pytest

ROW = re.compile(r"  +(\d+) +\d+ +(\d+) % +(\d+) +\d+  ")
PROGRAM = """
import os, time
os.write(1, b"ready\\n")
while True:
    if int(os.environ["PMI_RANK"]) == 1:
        time.sleep(0.01)
"""


@pytest.fixture
def job(user, nagaya, folder, leftovers):
    program = user.new_file(folder / "program.py", PROGRAM)
    process = user.start([nagaya, "run", "-n", 2, "/usr/bin/python3", program], stdout=subprocess.PIPE)
    assert [process.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
    yield process
    process.terminate()
    process.wait(timeout=30)


def test_busy_and_sleeping_tasks(user, nagaya, job):
    shown = user.run([nagaya, "top", "-n", 2, "-d", 0.5])
    assert shown.code == 0 and shown.err == "", shown
    looks = shown.out.split("\n\n")
    assert len(looks) == 2, shown
    for look in looks:
        assert re.match(r"job \S+: 2 tasks, memory \d+\.\d MiB, page tables \d+\.\d KiB\n", look), shown
        (_, busy, _), (_, idle, sleeps) = sorted(map(lambda row: tuple(map(int, row)), ROW.findall(look)))
        assert busy > 5 * max(idle, 1) and sleeps > 10, shown


def test_without_a_job(user, nagaya):
    shown = user.run([nagaya, "top", "-n", 1, "-d", 0.1])
    assert (shown.code, shown.out) == (0, "no job of yours runs on this node\n"), shown


def test_ctrl_c_ends_it(user, nagaya):
    process = user.start([nagaya, "top", "-d", 0.1], stdout=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == -signal.SIGINT


@pytest.mark.parametrize("words, reason", [(("-n", 0), "-n: Value 0 not in range"), (("-d", 0), "-d: Value 0 not in")])
def test_bad_options(user, nagaya, words, reason):
    told = user.run([nagaya, "top", *words])
    assert told.code == 125 and reason in told.err and len(told.err) < 200, told
