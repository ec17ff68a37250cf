# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya top` tells tasks that compute from tasks that sleep, shows what they do, and what they wait for."""
import re
import signal
import subprocess
import time

import pytest

HEAD = re.compile(r"  TASK +PID +CPU +WAIT +SLEEPS/s PREEMPTED/s +MSGS/s +COLLS/s ACCESSES/s +SENT/s +COPIED/s  WAITS FOR +PROGRAM\n")
ROW = re.compile(r"^ +(?P<task>\d+) +\d+ +(?P<cpu>\d+) % +(?P<wait>\d+) % +(?P<sleeps>\d+) +\d+ +(?P<messages>\d+)"
                 r" +(?P<collectives>\d+) +\d+ +(?P<sent>[\d.]+ \w+) +(?P<copied>[\d.]+ \w+)  (?P<reason>.*?)  +/", re.M)
PROGRAM = """
import os, time
os.write(1, b"ready\\n")
while True:
    if int(os.environ["PMI_RANK"]) == 1:
        time.sleep(0.01)
"""


@pytest.fixture
def job(user, nagaya, folder, running):
    program = user.new_file(folder / "program.py", PROGRAM)
    return running([nagaya, "run", "-n", 2, "/usr/bin/python3", program], 2)


def rows_of(shown):
    """The rows of the last look, by task."""
    return {int(row["task"]): row for row in ROW.finditer(shown.split("\n\n")[-1])}


def test_busy_and_sleeping_tasks(user, nagaya, job):
    shown = user.run([nagaya, "top", "-n", 2, "-d", 0.5])
    assert shown.code == 0 and shown.err == "", shown
    looks = shown.out.split("\n\n")
    assert len(looks) == 2, shown
    for look in looks:
        assert re.match(r"job \S+: 2 tasks, memory \d+\.\d MiB, page tables \d+\.\d KiB\n", look), shown
        assert HEAD.search(look), shown
        busy, idle = sorted(ROW.finditer(look), key=lambda row: -int(row["cpu"]))
        assert int(busy["cpu"]) > 5 * max(int(idle["cpu"]), 1) and int(idle["sleeps"]) > 10, shown


def test_counts_of_what_tasks_do(user, nagaya, installation, running):
    running([nagaya, "run", "-n", 3, installation.program("mpi_observed"), "late", 0], 3)
    shown = user.run([nagaya, "top", "-n", 2, "-d", 0.5])
    rows = rows_of(shown.out)
    assert sorted(rows) == [0, 1, 2] and all(int(row["collectives"]) > 3 for row in rows.values()), shown
    assert int(rows[1]["wait"]) < 50 < min(int(rows[0]["wait"]), int(rows[2]["wait"])), shown


def test_counts_of_messages(user, nagaya, installation, running):
    running([nagaya, "run", "-n", 2, installation.program("mpi_observed"), "messages", 0], 2)
    shown = user.run([nagaya, "top", "-n", 1, "-d", 0.5])
    for row in rows_of(shown.out).values():
        assert int(row["messages"]) > 100 and row["sent"] != "0 B" and row["copied"] != "0 B", shown


def test_a_task_that_waits_for_ever(user, nagaya, installation, running):
    """The reader comes after the wait has begun."""
    running([nagaya, "run", "-n", 2, installation.program("mpi_observed"), "stuck", 0], 2)
    time.sleep(0.5)
    shown = user.run([nagaya, "top", "-n", 2, "-d", 0.5])
    rows = rows_of(shown.out)
    assert rows[0]["reason"].startswith(("receive", "message")) and int(rows[0]["wait"]) > 90, shown
    assert rows[1]["reason"] == "-" and int(rows[1]["wait"]) == 0, shown


def test_a_view_of_a_name_that_nobody_publishes(user, nagaya, installation, folder, running):
    package = installation.root / "lib/python3/dist-packages"
    program = user.new_file(folder / "view.py", f"""
import os, sys, time
sys.path.insert(0, {str(package)!r})
import nagaya
nagaya.rank()
os.write(1, b"ready\\n")
if nagaya.rank() == 0:
    nagaya.view(1, "misspelt")
time.sleep(1000)
""")
    running([nagaya, "run", "-n", 2, "/usr/bin/python3", "-B", program], 2)
    time.sleep(0.5)
    shown = user.run([nagaya, "top", "-n", 2, "-d", 0.5])
    rows = rows_of(shown.out)
    assert rows[0]["reason"].startswith("wait") and int(rows[0]["wait"]) > 90, shown
    assert rows[1]["reason"] == "-" and int(rows[1]["wait"]) == 0, shown


def test_the_screen_of_a_terminal(user, nagaya, installation, running):
    """Each look takes the place of the one before, and no line is longer than the screen."""
    running([nagaya, "run", "-n", 3, installation.program("mpi_observed"), "late", 0], 3)
    tmux = ["tmux", "-L", "top", "-f", "/dev/null"]
    columns, lines = 140, 20
    started = user.run([*tmux, "new-session", "-d", "-x", columns, "-y", lines, f"{nagaya} top -d 0.2"])
    assert started.code == 0, started
    try:
        deadline = time.monotonic() + 20
        looks = set()
        while len(looks) < 3:
            assert time.monotonic() < deadline, looks
            screen = user.run([*tmux, "capture-pane", "-p"]).out
            rows = list(ROW.finditer(screen))
            if len(rows) == 3:
                looks.add(screen)
                assert screen.startswith("job ") and screen.count("TASK") == 1, screen
                assert max(map(len, screen.splitlines())) <= columns, screen
            time.sleep(0.1)
    finally:
        user.run([*tmux, "kill-server"])


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
