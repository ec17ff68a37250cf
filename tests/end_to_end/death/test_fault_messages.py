# SPDX-License-Identifier: BSD-3-Clause
"""A fault of the program is told once in a job, with the task, its process and two ways to find it."""
import re
import shutil
import signal

import pytest

RANKS = 3
NAMED = r"nagaya: (task \d \(process \d+\)|rank \d \((task \d+, )?process \d+\))"
TOLD = NAMED + r" was ended by signal {} \(.+\)(; ending the (other one|\d others))?"
ADVICE = ["nagaya run --separate", "nagaya gdb"]


def told_by(ended):
    return [line for line in ended.err.splitlines() if line.startswith("nagaya: ")]


@pytest.fixture
def launchers(nagaya, mpirun):
    return {"mpirun": [*mpirun, "-n", RANKS, nagaya, "exec"],
            "hydra": [shutil.which("mpiexec.hydra"), "-n", RANKS, nagaya, "exec"],
            "nagaya run": [nagaya, "run", "-n", RANKS], "one task": [nagaya, "run"],
            "no launcher": [nagaya, "exec"]}


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE])
@pytest.mark.parametrize("launcher", ["mpirun", "hydra", "nagaya run", "one task", "no launcher"])
def test_a_fault_of_all_ranks_is_told_once(user, installation, launchers, launcher, number):
    command = launchers[launcher]
    if command[0] is None:
        pytest.skip("hydra is not installed")
    ended = user.run([*command, installation.program("plain_ending"), "kill", int(number)])
    first, *advice = told_by(ended)
    assert re.fullmatch(TOLD.format(int(number)), first), ended
    assert len(advice) == 2 and all(word in line for word, line in zip(ADVICE, advice)), ended
    assert ended.code != 0, ended


def test_a_fault_leads_to_the_core_file(user, nagaya, folder, dumping):
    # One process: of two that end at once in one folder only one may write the file "core".
    command = [nagaya, "run", "-n", 1, "sh", "-c", "kill -SEGV $$"]
    for before, advice in ((dumping, "see the core file that it has left"),
                           (["prlimit", "--core=0:"], "run it again after ulimit -c unlimited, then")):
        ended = user.run([*before, *command], cwd=folder)
        assert told_by(ended)[-1] == f"nagaya: where does it fail? {advice}: nagaya gdb --core FILE", ended


def test_a_fault_of_an_mpi_rank_is_told(user, nagaya, installation):
    ended = user.run([nagaya, "run", "-n", 2, installation.program("mpi_ending"), "kill", 11])
    assert re.fullmatch(TOLD.format(11), told_by(ended)[0]) and len(told_by(ended)) == 3, ended


def test_a_signal_from_outside_is_no_fault(user, nagaya, installation):
    ended = user.run([nagaya, "exec", installation.program("plain_ending"), "kill", 15])
    assert ended.code == -15 and ended.err == "", ended
    ended = user.run([nagaya, "run", "-n", 2, installation.program("plain_ending"), "kill", 15])
    assert ended.code == 143 and len(told_by(ended)) <= 1, ended
    assert all(re.fullmatch(TOLD.format(15), line) for line in told_by(ended)), ended


def test_ordinary_processes_get_no_advice(user, nagaya, installation):
    ended = user.run([nagaya, "run", "--separate", installation.program("plain_ending"), "kill", 11])
    [line] = told_by(ended)
    assert ended.code == 139 and re.fullmatch(TOLD.format(11), line), ended


def test_an_exit_code_names_its_task(user, nagaya):
    ended = user.run([nagaya, "run", "-n", 2, "sh", "-c", "exit 7"])
    assert ended.code == 7 and len(told_by(ended)) <= 1, ended
    for line in told_by(ended):
        assert re.fullmatch(NAMED + r" ended with exit code 7; ending the other one", line)


@pytest.mark.parametrize("way, name", [([], r"rank 0 \(task \d+, process \d+\)"),
                                       (["--separate"], r"rank 0 \(process \d+\)")], ids=["tasks", "separate"])
def test_a_failed_rank_behind_a_wrapper_is_named_by_its_rank(user, nagaya, way, name):
    """The wrapper's task has a number behind those of the ranks."""
    ended = user.run([nagaya, "run", *way, "-n", 1, "sh", "-c", "exit 5", ":", "-n", 2, "sleep", 60])
    [line] = told_by(ended)
    assert re.fullmatch(rf"nagaya: {name} ended with exit code 5; ending the 2 others", line), ended
