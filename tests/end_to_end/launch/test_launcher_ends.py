# SPDX-License-Identifier: BSD-3-Clause
"""However a job of `nagaya run` ends, it ends soon and with an exit code that says so, and leaves
nothing behind: no process, no segment in /dev/shm, no file of its launcher or of its MPI."""
import contextlib
import os
import pathlib
import signal
import subprocess
import time

import pytest
from launched_ranks import (ENDINGS, MPICH, OPEN_MPI, PYTHON, HeldJob, check_nothing_left, command_of,
                            wrappers_of)
from terminal import Terminal

RANKS = 3
SEEN_S = 0.5
MPIS = [OPEN_MPI, MPICH]
WAYS = ["itself", "script without exec"]
HOST_DIED = (125, 128 + signal.SIGKILL)  # Nagaya itself has failed, or the tasks were killed
# The signal and the exit code of `nagaya run` after it, which its parent sees as death by SIGKILL.
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGKILL: -9}

# Two ranks that call libpmix alone: before MPI_Finalize meets it, it meets the other ranks. Each waits
# until its fifo can be read.
ENDING_CLIENT = """
import ctypes, os, sys
pmix = ctypes.CDLL("libpmix.so.2")
assert pmix.PMIx_Init(ctypes.create_string_buffer(512), None, 0) == 0
print("rank", os.environ["PMIX_RANK"], "process", os.getpid(), flush=True)
open(sys.argv[1] + os.environ["PMIX_RANK"]).close()
pmix.PMIx_Finalize(None, 0)
"""


@pytest.fixture(scope="module")
def wrappers(user):
    return wrappers_of(user)


@pytest.fixture
def held(user, nagaya, installation, wrappers):
    """A job whose ranks wait in a barrier for rank 0, which waits for its input."""
    return lambda program, way: HeldJob(user, [
        nagaya, "run", "-n", RANKS, *wrappers[way], *command_of(installation, program), "report"], RANKS)


def lines_of(err):
    """Without what a shell says of its child."""
    return [line for line in err.splitlines() if line not in ("Killed", "Terminated", "Hangup")]


def host_of(leftovers):
    """The host is the only process that runs nagaya-host and is called so."""
    [host] = [pid for pid, about in leftovers.now().processes.items()
              if about == ("nagaya-host", "nagaya-host")]
    return host


def set_policy_of_other_threads(pid, policy):
    """All run on one processor: idle ones, as libpmix's, get it only when the main thread waits."""
    processor = min(os.sched_getaffinity(pid))
    for thread in map(int, os.listdir(f"/proc/{pid}/task")):
        os.sched_setaffinity(thread, {processor})
        if thread != pid:
            os.sched_setscheduler(thread, policy, os.sched_param(0))


def opened(fifo):
    """Does not wait for a reader."""
    return open(fifo, "r+b", buffering=0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", MPIS)
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_to_the_launcher_ends_the_job(user, held, leftovers, program, way, number):
    with held(program, way) as job:
        os.kill(job.process.pid, number)
        code, out, err = job.end(lets_go=False)
        assert (code, out) == (SIGNALS[number], ""), (code, out, err)
        assert len(lines_of(err)) <= 1, err
    # After SIGKILL nobody is left who knows Open MPI's segments; mpirun leaves them, too.
    check_nothing_left(user, leftovers, "vader_" if number == signal.SIGKILL else "nothing")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", MPIS)
@pytest.mark.parametrize("rank", [0, RANKS - 1])
def test_the_death_of_a_rank_ends_the_job(user, held, leftovers, program, way, rank):
    with held(program, way) as job:
        pid = job.ranks[rank].pid
        os.kill(pid, signal.SIGKILL)
        code, out, err = job.end(lets_go=False)
        assert (code, out) == (128 + signal.SIGKILL, ""), (code, out, err)
        [line] = lines_of(err)
        assert line.startswith("nagaya: ") and (f"process {pid})" in line or way != "itself"), err
    check_nothing_left(user, leftovers)


@pytest.mark.parametrize("program", MPIS)
def test_the_death_of_the_host_ends_the_job(user, held, leftovers, program):
    with held(program, "itself") as job:
        os.kill(host_of(leftovers), signal.SIGKILL)
        code, out, err = job.end(lets_go=False)
        assert code in HOST_DIED and out == "", (code, out, err)
        assert err.count("nagaya: ") == 1 and "host" in err, err
    check_nothing_left(user, leftovers)


@pytest.mark.parametrize("program", MPIS)
def test_a_rank_that_leaves_without_finalize_ends_the_job(user, nagaya, installation, leftovers, program):
    """The others would wait for it for ever."""
    words = command_of(installation, program, ENDINGS)
    script = '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] && exec "$@" unfinished 0; exec "$@" linger'
    ended = user.run([nagaya, "run", "-n", RANKS, "sh", "-c", script, "sh", *words], timeout=30)
    assert ended.code != 0 and ended.err.count("nagaya: ") == 1, ended
    assert "rank 1" in ended.err and "MPI_Finalize" in ended.err, ended
    check_nothing_left(user, leftovers)


def test_a_launcher_that_hears_late_of_finalize_ends_nobody(user, nagaya, installation):
    """As on a crowded machine: a client of libpmix waits for an answer for 2 s, and goes."""
    command_of(installation, OPEN_MPI)  # which brings libpmix
    fifo = str(user.new_folder("late") / "fifo")
    user.run(["mkfifo", f"{fifo}0", f"{fifo}1"])
    job = user.start([nagaya, "run", "-n", 2, PYTHON, "-c", ENDING_CLIENT, fifo], text=True,
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        said = sorted(job.stdout.readline() for _ in range(2))
        first = pathlib.Path("/proc", said[0].split()[-1])
        os.kill(job.pid, signal.SIGSTOP)
        set_policy_of_other_threads(job.pid, os.SCHED_IDLE)
        with opened(f"{fifo}0"):
            while first.exists():
                time.sleep(0.01)
        time.sleep(SEEN_S)  # by the host
        os.kill(job.pid, signal.SIGCONT)
        time.sleep(SEEN_S)  # by the launcher
        with contextlib.suppress(PermissionError, FileNotFoundError):
            set_policy_of_other_threads(job.pid, os.SCHED_OTHER)
        with opened(f"{fifo}1"):
            out, err = job.communicate(timeout=30)
        assert (job.returncode, out, err) == (0, "", ""), (job.returncode, err)
    finally:
        job.kill()
        job.communicate()


@pytest.mark.parametrize("program", MPIS)
def test_control_c_ends_the_job(user, nagaya, installation, leftovers, program):
    words = [nagaya, "run", "-n", RANKS, *command_of(installation, program, ENDINGS), "linger"]
    terminal = Terminal(user, [str(word) for word in words])
    try:
        terminal.await_text("ready")
        terminal.press_control_c()
        assert terminal.wait() in (130, -signal.SIGINT), terminal.shown
    finally:
        terminal.close()
    check_nothing_left(user, leftovers)


@pytest.mark.parametrize("program", MPIS)
def test_a_time_limit_ends_the_job(user, nagaya, installation, leftovers, program):
    words = command_of(installation, program, ENDINGS)
    ended = user.run([nagaya, "run", "--timeout", 2, "-n", RANKS, *words, "linger"], timeout=30)
    assert ended.code == 124 and "limit of 2 seconds" in ended.err, ended
    assert ended.err.count("nagaya: ") == 1, ended
    check_nothing_left(user, leftovers)
