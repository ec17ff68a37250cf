# SPDX-License-Identifier: BSD-3-Clause
"""XcalableMP's runtime by programs that are written as xmpcc would translate them: on one host and on
several, with wrong use and with deaths."""
import math
import os
import re
import signal
import subprocess
import time

import pytest
from conftest import FULL
from hosts import SHARED_PROCESSORS
from stopped_job import StoppedJob

RUN_LIMIT_S = 120
END_LIMIT_S = 20  # far more than it takes, also on a loaded machine
INTO_THE_MIDDLE_S = 0.2
ROUNDS = 1000 if FULL else 100
STEPS, ROWS = 50, 103  # of laplace.c
COUNTS = [1, 2, 3, 4, 7, 16]
WAYS = ["copy", "message"]


@pytest.fixture
def start(user, nagaya, installation):
    def run(tasks, program, *words, **environment):
        return user.run([nagaya, "run", "-n", tasks, installation.program(program), *words],
                        env={**SHARED_PROCESSORS, **environment}, timeout=RUN_LIMIT_S)
    return run


@pytest.fixture
def start_over(hosts, front, nagaya, installation):
    def run(per_host, program, *words, **environment):
        names = ",".join(f"{name}:{count}" for name, count in zip(hosts.names, per_host))
        return front.run([nagaya, "run", "-n", sum(per_host), "--hosts", names,
                          installation.program(program), *words],
                         env={**SHARED_PROCESSORS, **environment}, timeout=RUN_LIMIT_S)
    return run


def check_rounds(ended, rounds, tasks):
    assert (ended.code, ended.out) == (0, f"{rounds} rounds among {tasks}\n"), ended


# ---- halos --------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tasks", COUNTS)
def test_random_halos_are_as_their_indexes_say(start, tasks, way):
    check_rounds(start(tasks, "xmp_halo", ROUNDS, tasks, NAGAYA_XMP_HALO=way), ROUNDS, tasks)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("per_host", [(1, 1), (2, 1, 1), (3, 2, 2), (6, 5, 5)])
def test_random_halos_over_hosts(start_over, per_host, way):
    tasks = sum(per_host)
    check_rounds(start_over(per_host, "xmp_halo", ROUNDS, tasks, NAGAYA_XMP_HALO=way), ROUNDS, tasks)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tasks", COUNTS)
def test_laplace_has_the_field_of_one_process(start, tasks, way):
    ended = start(tasks, "xmp_laplace", NAGAYA_XMP_HALO=way)
    with_rows = math.ceil(ROWS / math.ceil(ROWS / tasks))  # of 16 tasks the last one has none
    local = 2 * (with_rows - 1) * STEPS if way == "message" else 0
    said = f"{STEPS} steps among {tasks}, 0 messages, {local} in a node\n"
    assert (ended.code, ended.out) == (0, said), ended


@pytest.mark.parametrize("per_host", [(1, 1), (1, 1, 1), (3, 2, 2), (6, 5, 5)])
def test_a_reflect_sends_two_messages_for_each_boundary_of_hosts(start_over, per_host):
    tasks, messages = sum(per_host), 2 * (len(per_host) - 1) * STEPS
    ended = start_over(per_host, "xmp_laplace")
    said = f"{STEPS} steps among {tasks}, {messages} messages, 0 in a node\n"
    assert (ended.code, ended.out) == (0, said), ended


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tasks", [2, 5])
def test_a_reflect_moves_while_its_process_waits_for_something_else(start, tasks, way):
    ended = start(tasks, "xmp_overlap", NAGAYA_XMP_HALO=way)
    assert (ended.code, ended.out) == (0, f"5 steps among {tasks}\n"), ended


def test_it_moves_so_over_hosts(start_over):
    ended = start_over((2, 1, 1), "xmp_overlap")
    assert (ended.code, ended.out) == (0, "5 steps among 4\n"), ended


def test_outside_of_a_space_a_program_is_one_process(user, installation):
    for program in ("xmp_halo", "xmp_collectives"):
        ended = user.run([installation.program(program), 20, 1], timeout=RUN_LIMIT_S)
        check_rounds(ended, 20, 1)


# ---- collectives, tasks, loops ------------------------------------------------------------------


@pytest.mark.parametrize("tasks", COUNTS)
def test_collectives_tasks_and_loops_are_as_the_language_says(start, tasks):
    check_rounds(start(tasks, "xmp_collectives", 10, tasks), 10, tasks)


@pytest.mark.parametrize("per_host", [(1, 1), (2, 1, 1), (3, 2, 2)])
def test_they_are_so_over_hosts(start_over, per_host):
    tasks = sum(per_host)
    check_rounds(start_over(per_host, "xmp_collectives", 5, tasks), 5, tasks)


@pytest.mark.parametrize("tasks", [4, 5, 8])
def test_declarations_of_two_files_are_those_of_one_program(start, tasks):
    ended = start(tasks, "xmp_declarations")
    assert (ended.code, ended.out) == (0, f"declarations among {tasks}\n"), ended


# ---- MPI beside ---------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("threads",), ("late",)])
@pytest.mark.parametrize("mpi", ["on", "local", "off"])
@pytest.mark.parametrize("way", WAYS)
def test_a_program_may_call_mpi_too(user, nagaya, mpirun, installation, words, mpi, way):
    tasks = 3
    environment = {**SHARED_PROCESSORS, "NAGAYA_MPI": mpi, "NAGAYA_XMP_HALO": way}
    program = installation.program("xmp_mpi_beside")
    ended = user.run([*mpirun, "-n", tasks, nagaya, "exec", program, *words], env=environment,
                     timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, f"MPI beside {tasks}\n"), ended


def test_nagaya_run_starts_a_program_that_calls_mpi(start):
    ended = start(3, "xmp_mpi_beside")
    assert (ended.code, ended.out) == (0, "MPI beside 3\n"), ended


def test_a_communicator_of_some_processes_is_no_beginning(start):
    ended = start(3, "xmp_mpi_beside", "part")
    assert ended.code == 1, ended
    assert ("nagaya: XMP: xmp_init: its communicator has 1 processes, the job has 3: give it "
            "MPI_COMM_WORLD\n") in ended.err, ended


def test_a_program_that_calls_mpi_runs_over_hosts(start_over):
    ended = start_over((2, 1, 1), "xmp_mpi_beside")
    assert (ended.code, ended.out) == (0, "MPI beside 4\n"), ended


# ---- wrong use ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mistake, line", [
    ("many-nodes", "nodes q needs 8 processes, the job has 3: start it with nagaya run -n 8"),
    ("countless-nodes", "nodes q needs more processes than any job has: make its extents smaller"),
    ("large-section", "nodes q needs 3 processes, its section has 2: make it larger"),
    ("no-such-node", "nodes p: a subscript is 4:4; it must lie in 1:3"),
    ("loop-outside", "the loop goes to index 16 of template t, which has 0:15"),
    ("not-fixed", "template open is not fixed: its template_fix must come before"),
    ("fixed-twice", "template t is fixed already"),
    ("not-distributed", "template u is not distributed: its distribute must come before"),
    ("narrow-blocks", "template u: block(3) on 3 nodes has room for 9 of 10 indexes: make the width larger"),
    ("long-array", "array b: its dimension 1 lies on indexes 0:16 of template t, which has 0:15"),
    ("conflicting", "array a: another file declares it with another element, extent, alignment or shadow"),
    ("no-array", "argument x is no distributed array: align what the caller gives"),
    ("other-formal", "argument x is array a, which has another element, extent, alignment or shadow"),
    ("wide-reflect", "reflect of a: the width 2:1 of dimension 1 is more than its shadow 1:1"),
    ("two-reflects", "a reflect or reduce_shadow of a is under way: its wait_async must come before the next one"),
    ("reflect-in-task", "reflect of a: not all of nodes p, on which it lies, execute this: write it "
                        "outside of the task"),
    ("array-in-task", "array b: not all of nodes p, on which it lies, execute its declaration: write it "
                      "outside of the task"),
    ("outside-of-task", "the task is on nodes that do not execute this: write it outside of the task "
                        "that it is in, or make that one larger"),
    ("bcast-from-elsewhere", "bcast: its `from` is none of the nodes that get the data"),
    ("bcast-from-several", "bcast: its `from` is 2 nodes: name one of them"),
    ("negative-shadow", "array b: its shadow in dimension 1 is -1:1; a width is not negative"),
    ("no-step", "nodes p: the step 0 of a subscript is not positive"),
    ("barrier-outside-of-task", "the barrier is on nodes that do not execute this: write it outside of the task "
                                "that it is in, or make that one larger"),
    ("loop-outside-of-task", "the loop is on nodes that do not execute this: write it outside of the task "
                             "that it is in, or make that one larger"),
    ("fixed-for-one-file", "array b: another file declares it, too, but the template open has no bounds before "
                           "a template_fix, which is of one file"),
    ("gmove-of-more", "gmove: the left side has 5 elements, the right side 6"),
    ("gmove-outside", "gmove: dimension 1 of array a has indexes 0:15, not 18"),
    ("gmove-from-outside", "gmove: dimension 1 of array a has indexes 0:15, not 17"),
    ("gmove-without-step", "gmove: dimension 1 of array a: the step of the section is 0"),
    ("gmove-in-task", "gmove: not all of nodes p, on which a lies, execute this: write it outside of the task"),
    ("no-operation", "reduction: its operation is not defined for this type")])
def test_wrong_use_ends_the_job_with_its_place_cause_and_cure(start, mistake, line):
    """A mistake of several processes is told by each of them."""
    begin = time.monotonic()
    ended = start(3, "xmp_mistakes", mistake)
    said = {one for one in ended.err.splitlines() if not re.match(r"nagaya: rank \d+ \(.*process", one)}
    assert ended.code == 1 and said == {f"wrong.c:12:9: {line}"}, ended
    assert time.monotonic() - begin < END_LIMIT_S


def test_a_lack_of_memory_ends_the_job_with_a_line(start):
    ended = start(2, "xmp_mistakes", "no-memory")
    assert (ended.code, ended.out) == (1, ""), ended
    assert "nagaya: XMP: there is no memory left: take more nodes\n" in ended.err, ended


def test_an_unknown_way_of_halos_is_refused(start):
    ended = start(2, "xmp_laplace", NAGAYA_XMP_HALO="pigeon")
    assert ended.code == 1, ended
    assert 'nagaya: XMP: NAGAYA_XMP_HALO is "pigeon": it may be copy or message' in ended.err, ended


@pytest.mark.parametrize("lost", ["box", "receipt"])
def test_a_request_that_is_refused_after_its_reflect_ends_the_job_with_a_line(start_over, lost):
    """The process that has made it is in no directive any more, the other one waits for it."""
    ended = start_over((1, 1), "xmp_lost_boxes", lost)
    assert ended.code == 1 and " of u has failed: Invalid argument\n" in ended.err, ended


# ---- deaths -------------------------------------------------------------------------------------


@pytest.mark.parametrize("what, step", [("reflect", "halo.ready:5"), ("reflect", "halo.read:5"),
                                        ("gmove", "halo.ready:5"), ("gmove", "halo.read:5"),
                                        ("reduction", "line.posted:5"), ("reduction", "line.left:5"),
                                        ("barrier", "line.posted:5")])
def test_a_process_that_dies_at_a_step_ends_the_job(user, nagaya, installation, leftovers, what, step):
    command = [nagaya, "run", "-n", 3, installation.program("xmp_mistakes"), "endless", what]
    job = StoppedJob(user, leftovers, command, step)
    os.kill(job.of_role("task")[0], signal.SIGKILL)
    code, said, took_s = job.end(END_LIMIT_S)
    assert code not in (None, 0), (code, said, took_s)
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left


@pytest.mark.parametrize("what", ["reflect", "gmove", "reduction", "barrier"])
def test_a_process_that_is_killed_in_a_directive_ends_the_job(running, nagaya, installation, leftovers,
                                                              what):
    tasks = 4
    job = running([nagaya, "run", "-n", tasks, installation.program("xmp_mistakes"), "endless", what],
                  ready=tasks)
    time.sleep(INTO_THE_MIDDLE_S)
    pids = [pid for pid, (name, of_program) in leftovers.now().processes.items()
            if of_program == "nagaya-host" and name == "xmp_mistakes"]
    assert len(pids) == tasks
    os.kill(pids[1], signal.SIGKILL)
    assert job.wait(timeout=END_LIMIT_S) != 0


def test_a_process_that_is_killed_in_a_reflect_over_hosts_ends_the_job(hosts, front, nagaya, installation,
                                                                       leftovers):
    per_host, tasks = 2, 2 * len(hosts.names)
    names = ",".join(f"{name}:{per_host}" for name in hosts.names)
    job = front.start([nagaya, "run", "-n", tasks, "--hosts", names,
                       installation.program("xmp_mistakes"), "endless", "reflect"],
                      env=SHARED_PROCESSORS, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE)
    try:
        assert [job.stdout.readline() for _ in range(tasks)] == [b"ready\n"] * tasks
        time.sleep(INTO_THE_MIDDLE_S)
        pids = [pid for pid, (name, of_program) in leftovers.now().processes.items()
                if of_program == "nagaya-host" and name == "xmp_mistakes"]
        assert len(pids) == tasks
        os.kill(pids[per_host], signal.SIGKILL)
        assert job.wait(timeout=END_LIMIT_S) != 0
    finally:
        job.kill()
