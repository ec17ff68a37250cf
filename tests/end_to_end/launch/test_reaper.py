# SPDX-License-Identifier: BSD-3-Clause
"""The reaper is the parent of host and tasks. It is in a session of its own, so that a task does not
change who controls its process group."""
import os
import pathlib
import signal
import subprocess

import pytest
from known_job import settles
from terminal import Terminal

IN_SPACE = [["exec"], ["run", "-n", 1]]
WAYS = [*IN_SPACE, ["run", "--separate", "-n", 1]]
TASKS = 3
CONTROL_Z = b"\x1a"
PSS_MAX_KB = 300
HOST_DIED = (125, 128 + signal.SIGKILL)
STANDARD_STREAMS_SOCKET_AND_SIGNALS = 5


def name_of(way):
    return " ".join(str(word) for word in way if word not in ("-n", 1))


def words_of(nagaya, way):
    return " ".join(str(word) for word in [nagaya, *way])


def check_nothing_left(leftovers):
    left = leftovers.after_limit()
    assert not left.processes and not left.sockets, left


def only_process(leftovers, name):
    [pid] = [pid for pid, (own, _) in leftovers.now().processes.items() if own == name]
    return pid


@pytest.fixture
def job(user, nagaya, installation):
    process = user.start([nagaya, "run", "-n", TASKS, installation.program("plain_ending"), "linger"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert [process.stdout.readline() for _ in range(TASKS)] == ["ready\n"] * TASKS
    yield process
    process.kill()
    process.communicate(timeout=30)


@pytest.mark.parametrize("way", IN_SPACE, ids=name_of)
def test_a_group_with_a_stopped_process_is_not_hung_up(user, nagaya, leftovers, way):
    """A script without job control, in a session of its own: nobody controls its group. The kernel sent
    SIGHUP to all of the group when the last task in it ended."""
    script = f"sleep 60 & kill -STOP $!; {words_of(nagaya, way)} true; echo survived; kill -KILL $!"
    ended = user.run(["setsid", "-w", "bash", "-c", script], timeout=30)
    assert (ended.code, ended.out) == (0, "survived\n"), ended
    check_nothing_left(leftovers)


@pytest.mark.parametrize("way", WAYS, ids=name_of)
def test_control_z_does_not_stop_a_group_that_nobody_controls(user, nagaya, leftovers, way):
    """As of `ssh -t` or `docker run -it`: nobody would continue it."""
    task = "echo ready; read line; echo over"
    terminal = Terminal(user, ["bash", "-c", f"{words_of(nagaya, way)} sh -c '{task}'; echo code $?"])
    try:
        terminal.await_text("ready")
        os.write(terminal.master, CONTROL_Z)
        terminal.await_text("^Z")
        os.write(terminal.master, b"\n")
        terminal.await_text("code 0")
    finally:
        terminal.close()
    assert "over" in terminal.shown
    check_nothing_left(leftovers)


@pytest.mark.parametrize("way", WAYS, ids=name_of)
def test_control_z_stops_a_job_of_a_shell_that_continues_it(user, nagaya, leftovers, way):
    task = "echo ready; read line; echo over"
    script = (f"set -m; {words_of(nagaya, way)} sh -c '{task}'; echo stopped $?; read line; "
              "fg >/dev/null; echo code $?")
    terminal = Terminal(user, ["bash", "-c", script])
    try:
        terminal.await_text("ready")
        os.write(terminal.master, CONTROL_Z)
        terminal.await_text(f"stopped {128 + signal.SIGTSTP}")
        os.write(terminal.master, b"\n\n")
        terminal.await_text("code 0")
    finally:
        terminal.close()
    assert "over" in terminal.shown
    check_nothing_left(leftovers)


def test_it_is_the_parent_of_host_and_tasks_in_another_session(job, leftovers):
    reaper, host = only_process(leftovers, "nagaya-reaper"), only_process(leftovers, "nagaya-host")
    children = pathlib.Path(f"/proc/{reaper}/task/{reaper}/children").read_text().split()
    assert int(children[0]) == host and len(children) == 1 + TASKS
    assert os.getsid(reaper) == reaper
    assert {os.getsid(int(child)) for child in children} == {os.getsid(job.pid)}


def test_it_keeps_little(job, leftovers):
    reaper = only_process(leftovers, "nagaya-reaper")
    lines = pathlib.Path(f"/proc/{reaper}/smaps_rollup").read_text().splitlines()
    pss_kb = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    assert pss_kb <= PSS_MAX_KB
    assert len(os.listdir(f"/proc/{reaper}/fd")) == STANDARD_STREAMS_SOCKET_AND_SIGNALS


def test_its_death_ends_the_job(job, leftovers):
    os.kill(only_process(leftovers, "nagaya-reaper"), signal.SIGKILL)
    _, err = job.communicate(timeout=30)
    assert job.returncode in HOST_DIED, err
    assert err.count("nagaya: ") == 1 and "host" in err, err
    check_nothing_left(leftovers)


def test_only_sigkill_ends_it(job, leftovers):
    reaper = only_process(leftovers, "nagaya-reaper")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGTSTP):
        os.kill(reaper, number)
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(0.5)


def test_a_host_and_its_tasks_end_while_it_is_suspended(job, leftovers):
    """What the kernel cannot tell it at once it finds when it goes on."""
    reaper, host = only_process(leftovers, "nagaya-reaper"), only_process(leftovers, "nagaya-host")
    os.kill(reaper, signal.SIGSTOP)
    os.kill(host, signal.SIGKILL)
    assert settles(lambda: pathlib.Path(f"/proc/{host}/stat").read_text().split()[2] == "Z")
    os.kill(reaper, signal.SIGCONT)
    job.communicate(timeout=30)
    assert job.returncode in HOST_DIED
    check_nothing_left(leftovers)
