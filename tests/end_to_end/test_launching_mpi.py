# SPDX-License-Identifier: BSD-3-Clause
"""A job of tasks ends, reads, writes and takes signals exactly as under mpirun directly, and
leaves nothing behind."""
import signal

import pytest
from launching import WAYS, Launching
from terminal import Terminal

RANKS = 2
INPUT = bytes(range(256)) * 1172  # 300 kB
OUTPUT_BYTES = 3 << 20

# arguments, standard input, does the output count (an abnormal end mixes the launcher's words in)
CASES = {
    "exit 0": (["exit", 0], b"", True),
    "exit 3": (["exit", 3], b"", False),
    "exit 5": (["exit", 5], b"", False),
    "exit 42": (["exit", 42], b"", False),
    "dies of SIGSEGV": (["kill", int(signal.SIGSEGV)], b"", False),
    "dies of SIGABRT": (["kill", int(signal.SIGABRT)], b"", False),
    "dies of SIGKILL": (["kill", int(signal.SIGKILL)], b"", False),
    "dies of SIGTERM": (["kill", int(signal.SIGTERM)], b"", False),
    "MPI_Abort": (["abort", 7], b"", False),
    "ends with 0 without MPI_Finalize": (["unfinished", 0], b"", False),
    "ends with 9 without MPI_Finalize": (["unfinished", 9], b"", False),
    "300 kB of input": (["read"], INPUT, True),
    "3 MB of output": (["write", OUTPUT_BYTES], b"", True),
    "MPI_Comm_spawn": (["spawn", 2], b"", True),
}


@pytest.fixture(scope="module")
def launching(user, nagaya, mpirun, installation):
    return Launching(user, nagaya, mpirun, installation.program("mpi_ending"))


@pytest.fixture(scope="module")
def direct(launching):
    """How mpirun alone runs a case, and how many segments it leaves: asked once for both ways."""
    known = {}

    def ask(case, leftovers):
        if case not in known:
            arguments, stdin, _ = CASES[case]
            ended = launching.run("mpirun", RANKS, *arguments, stdin=stdin)
            known[case] = ended, len(leftovers.after_limit().segments)
            leftovers.clear()
        return known[case]
    return ask


def check_nothing_left(leftovers, segments_allowed=0):
    left = leftovers.after_limit()
    assert not left.processes and not left.sockets, left
    assert len(left.segments) <= segments_allowed, left


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", WAYS)
def test_a_job_ends_as_under_mpirun(launching, direct, leftovers, way, case):
    arguments, stdin, output_counts = CASES[case]
    outside, segments = direct(case, leftovers)
    inside = launching.run(way, RANKS, *arguments, stdin=stdin)
    assert inside.code == outside.code, f"directly {outside.code}\n{inside}"
    if output_counts:
        assert inside.out == outside.out
    # A job that dies leaves segments of Open MPI's behind under mpirun too.
    check_nothing_left(leftovers, segments_allowed=segments)


def test_the_cases_do_what_they_say(direct, leftovers):
    outside = {case: direct(case, leftovers)[0] for case in CASES}
    assert outside["exit 0"].code == 0 and outside["exit 42"].code == 42
    assert outside["MPI_Abort"].code == 7
    assert outside["300 kB of input"].out == f"read {len(INPUT)} sum {sum(INPUT)}\n"
    assert len(outside["3 MB of output"].out) == OUTPUT_BYTES
    assert outside["MPI_Comm_spawn"].out == "spawned: 4 ranks, sum 6\n"
    assert all(outside[f"dies of {name}"].code not in (0, 97, 99)
               for name in ("SIGSEGV", "SIGABRT", "SIGKILL", "SIGTERM"))


@pytest.mark.parametrize("way", WAYS)
def test_sigusr1_to_the_launcher_reaches_every_rank(launching, leftovers, way):
    expected = (0, ["signalled"] * RANKS)
    assert launching.run_and_signal("mpirun", RANKS, "signal", signal.SIGUSR1) == expected
    assert launching.run_and_signal(way, RANKS, "signal", signal.SIGUSR1) == expected
    check_nothing_left(leftovers)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("way", WAYS)
def test_ending_the_launcher_ends_the_job(launching, leftovers, way, number):
    outside, _ = launching.run_and_signal("mpirun", RANKS, "linger", number)
    inside, _ = launching.run_and_signal(way, RANKS, "linger", number)
    assert inside == outside != 0
    check_nothing_left(leftovers, segments_allowed=2 * RANKS)


@pytest.mark.parametrize("way", WAYS)
def test_killing_the_launcher_ends_the_job(launching, leftovers, way):
    launching.run_and_signal(way, RANKS, "linger", signal.SIGKILL)
    check_nothing_left(leftovers, segments_allowed=RANKS)


@pytest.mark.parametrize("way", WAYS)
def test_control_c_ends_the_job(user, launching, leftovers, way):
    codes = []
    for launch in ("mpirun", way):
        terminal = Terminal(user, launching.command(launch, RANKS, "linger"))
        try:
            terminal.await_text("ready")
            terminal.press_control_c()
            codes.append(terminal.wait())
        finally:
            terminal.close()
    assert codes[0] == codes[1] != 0
    check_nothing_left(leftovers, segments_allowed=2 * RANKS)


def test_two_jobs_beside_each_other_do_not_meet(launching, leftovers):
    """Each has its own host, though user and program are the same."""
    jobs = [launching.start("mpirun nagaya exec", RANKS, "signal") for _ in range(2)]
    try:
        for job in jobs:
            assert [job.stdout.readline() for _ in range(RANKS)] == ["ready\n"] * RANKS
        hosts = [about for about in leftovers.now().processes.values() if about[0] == "nagaya-host"]
        assert len(hosts) == 2
        jobs[0].send_signal(signal.SIGKILL)
        jobs[1].send_signal(signal.SIGUSR1)
        assert jobs[1].communicate(timeout=30)[0].split() == ["signalled"] * RANKS
        assert jobs[1].returncode == 0
    finally:
        for job in jobs:
            job.kill()
            job.communicate()
    check_nothing_left(leftovers, segments_allowed=RANKS)
