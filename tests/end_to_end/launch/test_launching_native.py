# SPDX-License-Identifier: BSD-3-Clause
"""Programs without MPI: `nagaya run` is the launcher itself, `nagaya exec` stands for the program."""
import os
import signal
import subprocess
import time

import pytest
from known_job import settles
from terminal import Terminal

INPUT = bytes(range(256)) * 1172
SIGNALS = [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGTERM]


@pytest.fixture
def plain(installation):
    return installation.program("plain_ending")


def check_nothing_left(leftovers):
    left = leftovers.after_limit()
    assert not left.processes and not left.sockets and not left.segments, left


@pytest.mark.parametrize("code", [0, 3, 5, 42, 255])
def test_exit_codes_pass_through(user, nagaya, plain, leftovers, code):
    assert user.run([nagaya, "exec", plain, "exit", code]).code == code
    for how in ([], ["--separate"]):
        assert user.run([nagaya, "run", *how, "-n", 3, plain, "exit", code]).code == code
    check_nothing_left(leftovers)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_death_by_a_signal_passes_through(user, nagaya, plain, leftovers, number):
    """The proxy dies of the same signal; the launcher answers as a shell does."""
    assert user.run([plain, "kill", int(number)]).code == -number
    assert user.run([nagaya, "exec", plain, "kill", int(number)]).code == -number
    for how in ([], ["--separate"]):
        ended = user.run([nagaya, "run", *how, "-n", 3, plain, "kill", int(number)])
        assert ended.code == 128 + number, ended
    check_nothing_left(leftovers)


def test_a_stack_overflow_is_a_segmentation_fault(user, nagaya, plain, leftovers):
    assert user.run([plain, "overflow"]).code == -signal.SIGSEGV
    assert user.run([nagaya, "exec", plain, "overflow"]).code == -signal.SIGSEGV
    check_nothing_left(leftovers)


@pytest.mark.parametrize("how", [[], ["--separate"]], ids=["space", "separate"])
def test_only_task_0_gets_the_input(user, nagaya, plain, how):
    ended = user.run([nagaya, "run", *how, "-n", 3, plain, "read"], stdin=INPUT)
    assert ended.code == 0, ended
    assert sorted(ended.out.splitlines()) == ["read 0 sum 0", "read 0 sum 0",
                                              f"read {len(INPUT)} sum {sum(INPUT)}"]


@pytest.mark.parametrize("how", [[], ["--separate"]], ids=["space", "separate"])
def test_a_closed_input_is_an_empty_one(user, nagaya, plain, how):
    """No file of the launcher's own gets its number."""
    ended = user.run(["sh", "-c", 'exec "$@" <&-', "sh", nagaya, "run", *how, "-n", 2, plain, "read"])
    assert (ended.code, ended.out, ended.err) == (0, 2 * "read 0 sum 0\n", ""), ended


@pytest.mark.parametrize("how", [[], ["--separate"]], ids=["space", "separate"])
def test_tasks_stay_on_the_processors_of_their_launcher(user, nagaya, how):
    last = max(os.sched_getaffinity(0))
    ended = user.run(["taskset", "-c", last, nagaya, "run", *how, "-n", 1,
                      "grep", "Cpus_allowed_list", "/proc/self/status"])
    assert (ended.code, ended.out) == (0, f"Cpus_allowed_list:\t{last}\n"), ended


def test_input_reaches_an_executed_program(user, nagaya, plain):
    ended = user.run([nagaya, "exec", plain, "read"], stdin=INPUT)
    assert (ended.code, ended.out) == (0, f"read {len(INPUT)} sum {sum(INPUT)}\n")


def test_much_output_arrives_whole(user, nagaya, plain):
    outside = user.run([plain, "write", 3 << 20]).out
    assert len(outside) == 3 << 20
    assert user.run([nagaya, "exec", plain, "write", 3 << 20]).out == outside
    together = user.run([nagaya, "run", "-n", 3, plain, "write", 3 << 20]).out
    assert len(together) == 3 * len(outside)


@pytest.mark.parametrize("how", [[], ["--separate"]], ids=["space", "separate"])
def test_a_signal_that_is_ignored_ends_nothing(user, nagaya, plain, how):
    ignoring = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh"]
    job = user.start([*ignoring, nagaya, "run", *how, "-n", 2, plain, "linger"], stdout=subprocess.PIPE)
    assert [job.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
    job.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(0.5)
    job.send_signal(signal.SIGTERM)
    assert job.wait(10) == 128 + signal.SIGTERM


def test_others_children_are_none_of_the_job(user, nagaya):
    """Of the program that became `nagaya run`; and one may have ignored SIGCHLD."""
    job = f"{nagaya} run --separate -n 1 sh -c 'sleep 0.5; exit 7'"
    assert user.run(["sh", "-c", f"sleep 0.1 & exec {job}"], timeout=10).code == 7
    assert user.run(["sh", "-c", f"trap '' CHLD; exec {job}"], timeout=10).code == 7


def test_a_failing_task_ends_the_others(user, nagaya, folder, leftovers):
    """Task 0 gets the only input, so that one ends with 4 while the others would stay."""
    script = user.new_file(folder / "some_stay", "#!/bin/sh\nread line && exit 4\nexec sleep 60\n",
                           0o755)
    started = time.monotonic()
    ended = user.run([nagaya, "run", "-n", 3, script], stdin=b"go\n", timeout=30)
    assert ended.code == 4, ended
    assert time.monotonic() - started < 15
    check_nothing_left(leftovers)


@pytest.mark.parametrize("how", [["run", "-n", 3], ["run", "--separate", "-n", 3], ["exec"]],
                         ids=["run", "run separate", "exec"])
def test_control_c_ends_everything(user, nagaya, plain, leftovers, how):
    terminal = Terminal(user, [nagaya, *how, plain, "linger"])
    try:
        terminal.await_text("ready", times=3 if "run" in how else 1)
        terminal.press_control_c()
        code = terminal.wait()
    finally:
        terminal.close()
    # Until it has started all, `nagaya run` leaves the signal its default action.
    assert code == -signal.SIGINT or ("run" in how and code == 128 + signal.SIGINT), terminal.shown
    check_nothing_left(leftovers)


def blocks(pid, number):
    with open(f"/proc/{pid}/status") as status:
        [blocked] = [line.split()[1] for line in status if line.startswith("SigBlk:")]
    return int(blocked, 16) >> (number - 1) & 1


@pytest.mark.parametrize("how", [["run", "-n", 3], ["exec"]], ids=["run", "exec"])
def test_sigusr1_is_forwarded(user, nagaya, plain, leftovers, how):
    process = user.start([nagaya, *how, plain, "signal"], stdout=subprocess.PIPE, text=True)
    count = 3 if "run" in how else 1
    assert [process.stdout.readline() for _ in range(count)] == ["ready\n"] * count
    # Until it has heard of all that it has started, `nagaya run` leaves the signal its default action.
    assert settles(lambda: blocks(process.pid, signal.SIGUSR1))
    process.send_signal(signal.SIGUSR1)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.split()) == (0, ["signalled"] * count)
    check_nothing_left(leftovers)


@pytest.mark.parametrize("how", [["run", "-n", 3], ["exec"]], ids=["run", "exec"])
def test_killing_the_launcher_leaves_nothing(user, nagaya, plain, leftovers, how):
    process = user.start([nagaya, *how, plain, "linger"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.communicate(timeout=30)
    check_nothing_left(leftovers)


@pytest.mark.parametrize("how", [["run", "-n", 3], ["exec"]], ids=["run", "exec"])
def test_killing_the_host_ends_the_job(user, nagaya, plain, leftovers, how):
    process = user.start([nagaya, *how, plain, "linger"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    for _ in range(3 if "run" in how else 1):
        assert process.stdout.readline() == "ready\n"
    host, = [pid for pid, about in leftovers.now().processes.items() if about[0] == "nagaya-host"]
    os.kill(host, signal.SIGKILL)
    _, err = process.communicate(timeout=30)
    assert process.returncode not in (0, None)
    assert "Traceback" not in err and len(err.splitlines()) <= 3, err
    assert not leftovers.after_limit().processes


def test_one_task_that_dies_leaves_the_others_unharmed(user, nagaya, installation, folder):
    """A creator's tasks: those that die of a fault take nobody with them (kernel 5.16 or newer)."""
    process = user.start([installation.program("creator")], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    small, plain = installation.program("small_task"), installation.program("plain_ending")
    out, err = process.communicate(
        f"spawn 5 {small} stay\nspawn-dying 3 {plain} kill {int(signal.SIGSEGV)}\n"
        f"spawn-dying 3 {plain} kill {int(signal.SIGABRT)}\n"
        f"spawn-dying 3 {plain} overflow\nend\n", timeout=60)
    assert process.returncode == 0, err
    assert out.splitlines() == ["ready"] + ["done"] * 5 + ["destroyed"]
