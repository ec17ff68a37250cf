# SPDX-License-Identifier: BSD-3-Clause
"""Nagaya's BLACS in place of those of an installed ScaLAPACK: by random operations, by ScaLAPACK's own
testers, with wrong use and with deaths."""
import os
import re
import signal
import subprocess
import time

import pytest
from conftest import FULL
from debian_programs import input_of_tester, results_of_tester, scalapack_tester
from hosts import SHARED_PROCESSORS
from stopped_job import StoppedJob

RUN_LIMIT_S = 240
END_LIMIT_S = 5
INTO_THE_MIDDLE_S = 0.2
ROUNDS = 400 if FULL else 25
IN_FULL = pytest.mark.full


@pytest.fixture
def program(installation):
    def find(name):
        if not installation.has(name):
            pytest.skip(f"{name} is not built: Debian's libscalapack-openmpi-dev is not installed")
        return installation.program(name)
    return find


@pytest.fixture
def start(user, nagaya, folder):
    def run(ranks, *words, **environment):
        return user.run([nagaya, "run", "--blacs", "-n", ranks, *words], cwd=folder,
                        env={**SHARED_PROCESSORS, **environment}, timeout=RUN_LIMIT_S)
    return run


@pytest.fixture
def start_over(hosts, front, nagaya, program, folder):
    def run(hosts_count, per_host, name, *words):
        names = ",".join(f"{name}:{per_host}" for name in hosts.names[:hosts_count])
        return front.run([nagaya, "run", "--blacs", "-n", hosts_count * per_host, "--hosts", names,
                          program(name), *words], cwd=folder,
                         env={"NAGAYA_MPI": "on", **SHARED_PROCESSORS}, timeout=RUN_LIMIT_S)
    return run


def check_rounds(ended, rounds, ranks):
    assert ended.code == 0 and ended.out == f"{rounds} rounds among {ranks}\n", ended


# ---- random operations --------------------------------------------------------------------------


@pytest.mark.parametrize("ranks, seed", [(1, 1), (2, 2), (4, 3), (6, 4), (8, 5)])
def test_random_operations_give_what_each_process_computes(start, program, ranks, seed):
    check_rounds(start(ranks, program("blacs_checks"), "rounds", ROUNDS, seed), ROUNDS, ranks)


@pytest.mark.parametrize("eager_bytes", ["0", "1048576"])
def test_random_operations_with_every_message_long_or_none(start, program, eager_bytes):
    ended = start(4, program("blacs_checks"), "rounds", ROUNDS, 6, NAGAYA_EAGER_BYTES=eager_bytes)
    check_rounds(ended, ROUNDS, 4)


def test_random_operations_while_a_thread_sends_mpis_messages(start, program):
    ended = start(3, program("blacs_checks"), "threads", "rounds", ROUNDS, 11)
    check_rounds(ended, ROUNDS, 3)


def test_random_operations_beside_open_mpis_own_transports(start, program):
    ended = start(4, program("blacs_checks"), "rounds", ROUNDS, 7, NAGAYA_MPI="off")
    check_rounds(ended, ROUNDS, 4)


@pytest.mark.parametrize("hosts_count, per_host", [(2, 2), (3, 2)])
def test_random_operations_over_several_hosts(start_over, hosts_count, per_host):
    ended = start_over(hosts_count, per_host, "blacs_checks", "rounds", ROUNDS, 8)
    check_rounds(ended, ROUNDS, hosts_count * per_host)


def test_random_operations_of_mpichs_scalapack(start, program):
    check_rounds(start(4, program("mpich_blacs_checks"), "rounds", ROUNDS, 9), ROUNDS, 4)


def test_grids_in_a_loop_use_nothing_up(start, program):
    ended = start(2, program("blacs_checks"), "grids", 10_000)
    assert ended.code == 0 and ended.out == "10000 grids among 2\n", ended


@pytest.mark.parametrize("name, ranks, rounds", [("blacs_checks", 5, 100), ("mpich_blacs_checks", 1, 600),
                                                 ("mpich_blacs_checks", 4, 1)])
def test_a_grid_has_a_communicator_that_ends_with_it(start, program, name, ranks, rounds):
    """600 rounds make more of them one after the other than MPICH can have at once."""
    ended = start(ranks, program(name), "communicators", rounds)
    assert ended.code == 0 and ended.out == f"{rounds} communicators among {ranks}\n", ended


def test_long_messages_do_not_wait_for_their_receives(start, program):
    ended = start(3, program("blacs_checks"), "queued", 20, 1 << 20)
    assert ended.code == 0 and ended.out == "20 queued among 3\n", ended


def test_a_sender_looks_at_what_has_come_while_it_yielded_before_it_makes_a_copy(user, nagaya, program, folder):
    """On one processor a yield takes as long as a copy of another process, which is how long it waits."""
    processor = min(os.sched_getaffinity(0))
    ended = user.run(["taskset", "-c", processor, nagaya, "run", "--blacs", "-n", 4,
                      program("blacs_checks"), "answers", 40], cwd=folder, env=SHARED_PROCESSORS, timeout=RUN_LIMIT_S)
    said = re.fullmatch(r"(\d+) copied\n40 answers among 4\n", ended.out)
    assert ended.code == 0 and said and int(said.group(1)) < 10, ended


def test_messages_shorter_than_their_matrices_make_no_later_send_wait(start, program):
    ended = start(2, program("blacs_checks"), "larger", 20)
    assert ended.code == 0 and ended.out == "20 larger among 2\n", ended


def test_words_that_nobody_hears_do_not_stay(start, start_over, program):
    """Of a receiver that is ready for a long message, and gets a short one."""
    for act in ("unheard", "left"):
        for ended in (start(2, program("blacs_checks"), act, 3000),
                      start_over(2, 1, "blacs_checks", act, 3000)):
            assert ended.code == 0 and ended.out == f"3000 {act} among 2\n", ended


@pytest.mark.parametrize("hosts_count, per_host", [(1, 3), (2, 1), (3, 2)])
def test_broadcasts_and_the_end_of_their_grid_wait_for_no_receiver(start_over, hosts_count, per_host):
    """The receivers of the long ones are not there: each has a copy."""
    ended = start_over(hosts_count, per_host, "blacs_checks", "ahead", 200)
    ranks = hosts_count * per_host
    said = re.fullmatch(rf"(\d+) copied\n200 ahead among {ranks}\n", ended.out)
    assert ended.code == 0 and said and int(said.group(1)) >= 100, ended


@pytest.mark.parametrize("name, wish", [("mpich_blacs_checks", ""), ("blacs_checks", "off"), ("blacs_checks", "on")])
def test_broadcasts_and_messages_move_beside_any_mpi(start, program, name, wish):
    ended = start(3, program(name), "ahead", 200, NAGAYA_MPI=wish or "off")
    assert ended.code == 0 and ended.out.endswith("200 ahead among 3\n"), ended
    ended = start(3, program(name), "beside", 5, NAGAYA_MPI=wish or "off")
    assert (ended.code, ended.out) == (0, "5 beside among 3\n"), ended


@pytest.mark.parametrize("hosts_count, per_host", [(1, 3), (2, 1), (3, 2)])
def test_broadcasts_whose_receivers_wait_go_from_matrix_to_matrix(start_over, hosts_count, per_host):
    """They are long enough for a receiver that sleeps to wake up before a copy would be made."""
    ended = start_over(hosts_count, per_host, "blacs_checks", "together", 20)
    said = re.fullmatch(rf"(\d+) of 20 direct\n20 together among {hosts_count * per_host}\n", ended.out)
    assert ended.code == 0 and said and int(said.group(1)) > 0, ended


def direct_redistributions(ended, rounds, ranks):
    """How many of them a process has done by direct address, and how many had any items."""
    said = re.fullmatch(rf"(\d+) of (\d+) direct\n{rounds} redistributions among {ranks}\n", ended.out)
    assert ended.code == 0 and said, ended
    return int(said.group(1)), int(said.group(2))


@pytest.mark.parametrize("ranks, seed", [(1, 1), (3, 2), (4, 3), (7, 4)])
def test_redistributions_put_each_item_where_it_belongs(start, program, ranks, seed):
    ended = start(ranks, program("blacs_checks"), "redistributions", 10 * ROUNDS, seed)
    direct, all_with_items = direct_redistributions(ended, 10 * ROUNDS, ranks)
    assert direct == all_with_items > 0


def test_redistributions_over_hosts_are_scalapacks_own(start_over):
    ended = start_over(2, 2, "blacs_checks", "redistributions", ROUNDS, 5)
    assert direct_redistributions(ended, ROUNDS, 4)[0] == 0


@pytest.mark.parametrize("hosts_count", [1, 2])
def test_what_was_sent_is_received_after_its_sender_has_finished(start_over, hosts_count):
    ended = start_over(hosts_count, 2 // hosts_count, "blacs_mistakes", "leaves")
    assert ended.code == 0, ended


# ---- ScaLAPACK's testers ------------------------------------------------------------------------


@pytest.mark.parametrize("name, ranks", [("xCbtest", 4), ("xFbtest", 4),
                                         pytest.param("xCbtest", 8, marks=IN_FULL),
                                         pytest.param("xFbtest", 8, marks=IN_FULL)])
def test_the_testers_of_the_blacs_find_nothing_wrong(start, folder, user, name, ranks):
    """Their last test is blacs_abort(): the job never ends with 0."""
    tester = scalapack_tester(name)
    for data in sorted((tester.parent / "BLACS").glob("*.dat")):
        user.new_file(folder / data.name, data.read_text())
    out = start(ranks, tester).out
    lines = re.findall(r"TESTS:\s+(\d+) TESTS;\s*(\d+) PASSED,\s*(\d+) SKIPPED,\s*(\d+) FAILED", out)
    tests, passed, skipped, failed = (sum(int(line[n]) for line in lines) for n in range(4))
    assert len(lines) == 22 and failed == 0, out[-3000:]
    if ranks == 4:
        assert (tests, passed, skipped) == (62199, 28618, 33581)


@pytest.mark.parametrize("name, input_file", [("xdlu", "LU.dat"), ("xdqr", "QR.dat")])
def test_testers_of_scalapack_pass_their_residual_checks(start, user, folder, name, input_file):
    tester = scalapack_tester(name)
    user.new_file(folder / input_file, input_of_tester(tester, input_file))
    ended = start(4, tester)
    results = results_of_tester(ended.out)
    assert ended.code == 0 and "END OF TESTS" in ended.out, ended
    assert results["failed"] == 0 < results["passed"], ended.out[-3000:]


def test_outside_of_a_space_calls_go_to_the_blacs_behind(user, nagaya, mpirun, program, folder):
    preload = "LD_PRELOAD=" + str(nagaya.parent.parent / "lib" / "libnagaya-blacs.so.0")
    launch = [*mpirun, "-n", 2, "env", preload]
    ended = user.run([*launch, program("blacs_checks"), "mild", "rounds", 10, 10], cwd=folder,
                     env=SHARED_PROCESSORS, timeout=RUN_LIMIT_S)
    check_rounds(ended, 10, 2)
    ended = user.run([*launch, program("blacs_checks"), "redistributions", 10], cwd=folder,
                     env=SHARED_PROCESSORS, timeout=RUN_LIMIT_S)
    assert direct_redistributions(ended, 10, 2)[0] == 0
    ended = user.run([*launch, program("blacs_mistakes"), "scope"], cwd=folder)
    assert ended.code != 0 and "BLACS ERROR 'Unknown scope 'x''" in ended.err, ended


# ---- functions that a program looks up by itself ------------------------------------------------


@pytest.fixture
def python():
    if subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], check=False).returncode != 0:
        pytest.skip("/usr/bin/python3 has no mpi4py (Debian: python3-mpi4py)")
    return "/usr/bin/python3"


@pytest.mark.parametrize("wish", ["on", "off"])
@pytest.mark.parametrize("scope", ["global", "local", "process"])
def test_scalapack_by_a_handle_uses_the_same_contexts(start, installation, python, scope, wish):
    script = installation.program("blacs_by_handle.py")
    ended = start(3, python, script, scope, NAGAYA_MPI=wish)
    assert (ended.code, ended.out) == (0, "product among 3\n"), ended


def test_a_library_that_calls_its_own_blacs_at_fixed_addresses_keeps_it(start, installation):
    libraries = [installation.program(f"lib{kind}_blacs.so") for kind in ("open", "closed")]
    ended = start(1, installation.program("counts_next"), *libraries)
    assert (ended.code, ended.out) == (0, "one behind\n"), ended


def test_all_other_lookups_stay_as_they_are(start, installation):
    ended = start(1, installation.program("counts_next"))
    assert (ended.code, ended.out) == (0, "one behind\n"), ended


# ---- is it in effect? ---------------------------------------------------------------------------


UNUSED = "has called no function of the BLACS by libnagaya-blacs: --blacs has changed nothing"


def test_a_job_says_that_it_uses_these_blacs(start, program):
    ended = start(2, program("blacs_checks"), "rounds", 1, 1, NAGAYA_MPI_VERBOSE="1")
    assert ended.err.splitlines().count("nagaya: BLACS: by libnagaya-blacs") == 1, ended


@pytest.mark.parametrize("name, words, environment", [
    ("mpi_ending", ["exit", 0], {}), ("sharing", [], {"NAGAYA_MPI_VERBOSE": "1"})])
def test_a_program_that_calls_no_blacs_is_told_that_nothing_is_replaced(start, installation, name,
                                                                        words, environment):
    ended = start(2, installation.program(name), *words, **environment)
    assert ended.code == 0 and ended.err.count(UNUSED) == 1, ended


def test_a_wrapper_is_not_told_that_nothing_is_replaced(start):
    ended = start(2, "sh", "-c", "true")
    assert (ended.code, ended.err) == (0, ""), ended


def test_the_doctor_says_whose_blacs_a_program_has(user, nagaya, program, folder):
    said = user.run([nagaya, "doctor", program("blacs_checks")]).out
    assert re.search(r"BLACS: /\S*libscalapack\S*'s; nagaya run --blacs replaces it", said), said
    source = user.new_file(folder / "s.c", "int blacs_gridinit_(void) { return 0; } int main() {}\n")
    subprocess.run(["cc", source, "-o", folder / "inside"], check=True)
    said = user.run([nagaya, "doctor", folder / "inside"]).out
    assert "BLACS: linked statically" in said, said


# ---- wrong use ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mistake, line", [
    ("scope", "Cdgebs2d: scope 'x' is none of row, column, all"),
    ("send-outside", "Cdgesd2d at {0,0}: there is no process {0,7} in a grid of 1 x 3"),
    ("receive-outside", "Cdgerv2d at {0,0}: there is no process {7,0} in a grid of 1 x 3"),
    ("broadcast-outside", "Cdgebr2d at {0,0}: there is no process {0,7} in a grid of 1 x 3"),
    ("combine-outside", "Cdgsum2d at {0,0}: there is no process {0,7} in a grid of 1 x 3"),
    ("redistribute-outside", "Cpdgemr2d at {0,0}: 4 x 1 items from {3,1} on are not in a matrix of 4 x 4, "
                             "first process {0,0}, leading dimension 4"),
    ("redistribute-trapezoid", "Cpdtrmr2d at {0,0}: 4 x 2 items from {1,4} on are not in a matrix of 4 x 4, "
                               "first process {0,0}, leading dimension 4"),
    ("redistribute-first-row", "Cpdgemr2d at {0,0}: 4 x 4 items from {1,1} on are not in a matrix of 4 x 4, "
                               "first process {-1,0}, leading dimension 4"),
    ("redistribute-first-column", "Cpdgemr2d at {0,0}: 4 x 4 items from {1,1} on are not in a matrix of 4 x 4, "
                                  "first process {0,3}, leading dimension 4"),
    ("redistribute-ld", "Cpdgemr2d at {0,0}: 4 x 4 items from {1,1} on are not in a matrix of 4 x 4, "
                        "first process {0,0}, leading dimension 3"),
    ("abort", "blacs_abort: {0,0} of context 0 ends the job with error 256"),
    ("no-context", "Cdgesd2d: there is no context 77 (gridinit and gridmap make them)"),
    ("freed-context", "Cblacs_barrier: there is no context 0 (gridinit and gridmap make them)"),
    ("large-grid", "Cblacs_gridinit: no grid of 1 x 4 from 3 processes"),
    ("strangers", "Cblacs_gridmap: there is no process 3 of 3"),
    ("twice", "Cblacs_gridmap: process 0 is in the grid more than once"),
    ("freed-handle", "Cblacs_gridinit: the context of the system handle does not exist any more"),
    ("communicator", "Cblacs2sys_handle: the context of the system handle does not exist any more"),
    ("short-message", "Cdgerv2d at {0,0}: the message from {0,0} is 72 bytes, the matrix 32"),
    ("long-message", "Cdgerv2d at {0,0}: the message from {0,0} is 320000 bytes, the matrix 318400"),
    ("long-as-short", "Cdgerv2d at {0,0}: the message from {0,0} is 320000 bytes, the matrix 32"),
    ("broadcast-into-less", "Cdgebr2d at {0,0}: what was sent is longer than the matrix"),
    ("broadcast-into-gaps", "Cdgebr2d at {0,0}: what was sent is longer than the matrix")])
def test_wrong_use_ends_the_job_with_a_line_that_says_so(start, program, mistake, line):
    """A mistake of all processes is told by each of them."""
    ended = start(3, program("blacs_mistakes"), mistake)
    lines = ended.err.replace("\0", "").splitlines()  # prterun ends a text of its own with one
    ours = {said for said in lines if said.startswith("nagaya")}
    assert ended.code != 0 and ours == {f"nagaya: BLACS: {line}"}, ended


# ---- deaths -------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["send", "receive", "broadcast", "combine", "barrier"])
def test_a_process_that_is_killed_in_a_call_ends_the_job(running, user, nagaya, program, leftovers,
                                                         what):
    ranks = 3
    job = running([nagaya, "run", "--blacs", "-n", ranks, program("blacs_mistakes"), "endless",
                   what], ready=ranks)
    time.sleep(INTO_THE_MIDDLE_S)
    tasks = [pid for pid, (name, of_program) in leftovers.now().processes.items()
             if of_program == "nagaya-host" and name == "blacs_mistakes"]
    assert len(tasks) == ranks
    os.kill(tasks[1], signal.SIGKILL)
    assert job.wait(timeout=END_LIMIT_S) != 0
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left


@pytest.mark.parametrize("passages", [1, 20])
def test_a_process_that_dies_while_it_reads_a_roots_matrix_ends_the_job(user, nagaya, program,
                                                                        leftovers, passages):
    job = StoppedJob(user, leftovers, [nagaya, "run", "--blacs", "-n", 3, program("blacs_mistakes"),
                                       "endless", "broadcast"], f"block.reading:{passages}")
    os.kill(job.of_role("task")[0], signal.SIGKILL)
    code, said, took_s = job.end(END_LIMIT_S)
    assert code not in (None, 0), (said, took_s)
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left
