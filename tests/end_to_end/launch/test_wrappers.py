# SPDX-License-Identifier: BSD-3-Clause
"""A rank's program becomes a task of the rank behind any wrapper; what cannot be in the space keeps
its rank, and is told of once."""
import os
import re
import shutil
import signal

import pytest
from known_job import settles
from leftovers import describe
from ordinary_user import pids_of

RANKS = 2

# Written as scripts into the test's folder.
SCRIPTS = {
    "script": '#!/bin/sh\n"$@"\n',
    "exec.sh": '#!/bin/bash\nexec "$@"\n',
    "bare.sh": '"$@"\n',  # without an interpreter: the shell that executes it is one
    "by-env": '#!/usr/bin/env -S bash -e\n"$@"\necho after it >&2\n',
    "shim": '#!/usr/bin/python3\nimport os, sys\nos.execv(sys.argv[1], sys.argv[1:])\n',
    "starter": "#!/usr/bin/env python3\nimport subprocess, sys\n"
               "sys.exit(subprocess.call(sys.argv[1:]))\n",
}
WRAPPERS = {
    "env": "env A=1",
    "env -S": ["env", "-S", "nice -n 3"],
    "nice": "nice -n 3",
    "nohup": ["bash", "-c", 'nohup "$@" 2>/dev/null | cat', "bash"],
    "timeout": "timeout 60",
    "taskset": "taskset -c 0",
    "stdbuf": "stdbuf -oL",
    "setarch": "setarch -R",
    "setsid": "setsid --wait",
    "prlimit": "prlimit --nofile=100",
    "chrt": "chrt --batch 0",
    "xargs": "xargs -a /dev/null",
    "bash": ["bash", "-c", '"$@"; exit $?', "bash"],
    "bash exec": ["bash", "-c", 'exec "$@"', "bash"],
    "bash in the background": ["bash", "-c", '"$@" & wait $!', "bash"],
    "bash in a pipe": ["bash", "-c", 'true | "$@" | cat', "bash"],
    "sh": ["sh", "-c", 'true; "$@"; true', "sh"],
    "perl exec": ["perl", "-e", "exec @ARGV"],
    "script": "./script",
    "script exec": "./exec.sh",
    "script bare": "env ./bare.sh",
    "script by env": "./by-env",
    "python exec": "./shim",
    "a chain": "env A=1 bash ./exec.sh nice ./script env ./exec.sh timeout 60",
}
# These live on, under the rank's number, as they could be its program: its program has another one.
WITH_NUMBER = {
    "python subprocess": "./starter",
    "perl system": ["perl", "-e", "exit system(@ARGV) >> 8"],
}


def words_of(wrapper):
    return wrapper.split() if isinstance(wrapper, str) else list(wrapper)


@pytest.fixture
def scripts(user, folder):
    for name, text in SCRIPTS.items():
        user.new_file(folder / name, text, 0o755)
    return folder


@pytest.fixture
def mpi_job(nagaya, mpirun):
    return [*mpirun, "-n", RANKS, nagaya, "exec"]


@pytest.fixture
def native_job(nagaya):
    return [nagaya, "run", "-n", RANKS]


def ranks(out):
    """Returns the task of each rank, as the ranks' lines say."""
    found = re.findall(r"rank (\d+) of (\d+), task (-?\d+)", out)
    assert {size for _, size, _ in found} <= {str(RANKS)}, out
    return {int(rank): int(task) for rank, _, task in found}


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("program", ["wrapped", "mpi_wrapped"])
def test_a_program_behind_a_wrapper_is_the_rank_s_task(user, installation, scripts, mpi_job,
                                                       native_job, leftovers, name, program):
    job = mpi_job if program == "mpi_wrapped" else native_job
    ended = user.run([*job, *words_of(WRAPPERS[name]), installation.program(program)], cwd=scripts)
    assert ended.code == 0 and ranks(ended.out) == {0: 0, 1: 1}, ended
    assert "nagaya" not in ended.err, ended
    leftovers.after_limit()


@pytest.mark.parametrize("program", ["wrapped", "mpi_wrapped"])
def test_nagaya_exec_behind_a_wrapper_starts_the_rank_s_program(
        user, nagaya, installation, mpi_job, native_job, folder, program):
    """As scripts have it that were written for launchers without spaces."""
    job = mpi_job if program == "mpi_wrapped" else native_job
    (folder / "by-name").symlink_to(installation.program(program))
    script = 'PATH=.:$PATH; "$0" exec by-name'
    ended = user.run([*job, "bash", "-c", script, nagaya], cwd=folder)
    assert ended.code == 0 and ranks(ended.out) == {0: 0, 1: 1}, ended


@pytest.mark.parametrize("name", WITH_NUMBER)
def test_a_program_behind_an_interpreter_is_a_task(user, installation, scripts, mpi_job, name):
    ended = user.run([*mpi_job, *words_of(WITH_NUMBER[name]), installation.program("mpi_wrapped")],
                     cwd=scripts)
    assert ended.code == 0 and sorted(ranks(ended.out)) == [0, 1], ended
    assert all(task >= RANKS for task in ranks(ended.out).values()), ended


@pytest.mark.parametrize("act", ["anew", "by-name", "spawned"])
@pytest.mark.parametrize("program", ["wrapped", "mpi_wrapped"])
def test_a_program_that_executes_itself_stays_the_rank_s(user, installation, mpi_job, native_job,
                                                         act, program):
    job = mpi_job if program == "mpi_wrapped" else native_job
    if act == "spawned" and program == "wrapped":
        pytest.skip("without MPI the rank is the task's number, which the parent keeps")
    ended = user.run([*job, installation.program(program), act])
    assert ended.code == 0 and sorted(ranks(ended.out)) == [0, 1], ended
    assert all(task >= 0 for task in ranks(ended.out).values()), ended


@pytest.mark.parametrize("program", ["wrapped", "mpi_wrapped"])
def test_what_a_communicating_program_runs_is_no_task(user, installation, mpi_job, native_job,
                                                      program):
    """Open MPI's messages do not go through the space here, so that nobody knows when MPI starts."""
    job = mpi_job if program == "mpi_wrapped" else native_job
    ended = user.run([*job, "env", "NAGAYA_MPI=on", installation.program(program), "system"],
                     env={"NAGAYA_MPI": "on"})
    assert ended.code == 0 and ranks(ended.out) == {0: 0, 1: 1}, ended
    assert ended.out.count("rank -1 of -1, task -3") == RANKS, ended


OUTSIDE = {
    "strace": ("strace -f -o /dev/null", "needs ordinary processes"),
    "gdb": ("gdb -batch -q -ex run --args", "needs ordinary processes"),
    "ltrace": ("ltrace -o /dev/null", "needs ordinary processes"),
    "perf": ("perf stat -o /dev/null", "needs ordinary processes"),
    "valgrind": ("valgrind --tool=none -q", "not position-independent"),
}


@pytest.mark.parametrize("before", [[], ["env"]], ids=["first program", "behind env"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_what_cannot_be_in_the_space_keeps_its_rank_and_is_named(user, installation, mpi_job, name, before):
    wrapper, reason = OUTSIDE[name]
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    program = installation.program("mpi_wrapped")
    ended = user.run([*mpi_job, *before, *wrapper.split(), program], env={"DEBUGINFOD_URLS": ""})
    assert (ended.code, ranks(ended.out)) == (0, {0: -3, 1: -3}), ended
    said = re.findall(rf"^nagaya: rank (\d): {program} runs outside of the space: .*{reason}",
                      ended.err, re.M)
    assert sorted(said) == ["0", "1"], ended


def test_a_rank_that_leaves_says_so_once(user, installation, scripts, mpi_job):
    twice = ["bash", "-c", 'strace -o /dev/null "$1" alone; strace -o /dev/null "$1" alone', "bash"]
    ended = user.run([*mpi_job, *twice, installation.program("mpi_wrapped")])
    assert ended.out.count("task -3") == 2 * RANKS, ended
    assert ended.err.count("outside of the space") == RANKS, ended


def test_a_set_user_id_program_is_executed_as_it_is(user, installation, folder, native_job):
    program = shutil.copy(installation.program("wrapped"), folder / "wrapped")
    user.own(program)
    for mode, is_task in ((0o4755, False), (0o2755, False), (0o755, True)):
        program.chmod(mode)
        ended = user.run([*native_job, "env", program, "alone"],
                         env={"LD_LIBRARY_PATH": str(installation.root / "lib")})
        assert ended.code == 0 and ended.out.count("task") == RANKS, ended
        assert ("task -3" not in ended.out) == is_task, ended


# Commands that a shell, or env, cannot execute, or not at once.
SEARCHES = {
    "missing": "env nosuch",
    "missing with a slash": "env ./nosuch",
    "not executable": "env ./data",
    "a folder": "env ./folder",
    "found behind a file that is not executable": "env PATH=forbidden:.:/usr/bin own_identity 1",
    "found behind a folder": "env PATH=folders:.:/usr/bin own_identity 1",
    "no interpreter": "env ./no-interpreter",
    "a missing interpreter": "env ./bad-interpreter",
    "a damaged program": "env ./damaged",
    "a program of another machine": "env ./foreign",
    "without an interpreter, by bash": ["bash", "-c", "./no-interpreter; echo $?"],
    "a missing interpreter, by bash": ["bash", "-c", "./bad-interpreter; echo $?"],
    "an empty file, by sh": ["sh", "-c", "./empty; echo $?"],
    "missing, by python": ["python3", "-c", "import os; os.execvp('nosuch', ['nosuch'])"],
}


@pytest.mark.parametrize("name", SEARCHES)
def test_an_execve_that_fails_fails_as_ever(user, nagaya, installation, folder, name):
    program = installation.program("own_identity")
    shutil.copy(program, folder / "own_identity")
    binary = bytearray(program.read_bytes())
    user.new_file(folder / "data", "text")
    user.new_file(folder / "empty", "", 0o755)
    user.new_file(folder / "no-interpreter", "echo by a shell: $0\n", 0o755)
    user.new_file(folder / "bad-interpreter", "#!/no/such/interpreter\n", 0o755)
    user.new_file(folder / "damaged", bytes(binary[:2]), 0o755)
    binary[18] = 183  # e_machine: EM_AARCH64
    user.new_file(folder / "foreign", bytes(binary), 0o755)
    for part in ("folder", "folders/own_identity", "forbidden"):
        (folder / part).mkdir(parents=True)
    user.new_file(folder / "forbidden/own_identity", "", 0o644)
    words = words_of(SEARCHES[name])
    outside = user.run(words, cwd=folder)
    inside = user.run([nagaya, "exec", *words], cwd=folder)
    assert (inside.code, inside.out, inside.err) == (outside.code, outside.out, outside.err)


def test_a_command_of_many_words_is_executed(user, nagaya, installation):
    count = ["bash", "-c", 'echo $#; exit 7', "bash", *["word"] * 5000]
    ended = user.run([nagaya, "exec", "env", *count])
    assert (ended.code, ended.out) == (7, "5000\n"), ended


def test_a_name_of_its_own_reaches_the_program(user, nagaya, installation):
    ended = user.run([nagaya, "exec", "bash", "-c", 'exec -a other "$0" alone',
                      installation.program("wrapped")])
    assert ended.out == "other: rank -1 of -1, task 0\n", ended


def test_programs_one_after_another_are_tasks_without_end(user, nagaya, installation):
    """More than there are task numbers in the space."""
    loop = 'for n in $(seq 250); do "$0" alone || exit; done'
    ended = user.run([nagaya, "exec", "bash", "-c", loop, installation.program("wrapped")],
                     timeout=120)
    assert ended.code == 0 and ended.out.count("task 0\n") == 250, ended


def test_programs_at_once_are_tasks_with_numbers_of_their_own(user, nagaya, installation):
    both = '"$0" alone & "$0" alone & wait'
    ended = user.run([nagaya, "exec", "bash", "-c", both, installation.program("wrapped")])
    assert ended.code == 0 and "task -3" not in ended.out and ended.out.count("task") == 2, ended


@pytest.mark.parametrize("wrapper", ["env", "./exec.sh", "./script", "./starter"])
@pytest.mark.parametrize("act, code", [(["exit", 3], 3), (["kill", 9], -9), (["kill", 11], -11)])
def test_a_wrapper_ends_as_its_program(user, nagaya, installation, scripts, wrapper, act, code):
    words = [wrapper, installation.program("mpi_ending"), *act]
    outside = user.run(words, cwd=scripts)
    inside = user.run([nagaya, "exec", *words], cwd=scripts)
    if wrapper in ("env", "./exec.sh"):
        assert outside.code == code
    assert inside.code == outside.code, (outside, inside)


def test_a_time_limit_of_a_wrapper_ends_its_program(user, nagaya, installation, leftovers):
    ended = user.run([nagaya, "exec", "timeout", "1", installation.program("wrapped"), "linger"])
    assert (ended.code, ended.err) == (124, ""), ended
    assert not leftovers.after_limit().processes


@pytest.mark.parametrize("ended_by", ["wrapper", "program", "proxy", "host", "launcher"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_stays_of_a_job_that_is_ended(user, nagaya, installation, leftovers, ended_by, how):
    """The shell waits for its child; another child of it waits, too."""
    script = '"$0" alone; "$0" alone linger & "$0" alone linger; true'
    job = user.start([nagaya, "run", "-n", 1, "bash", "-c", script, installation.program("wrapped")],
                     stdout=-1, text=True)
    lines = [job.stdout.readline() for _ in range(3)]
    assert all(line.endswith(("task 0\n", "task 1\n", "task 2\n")) for line in lines), lines
    names = {"wrapper": ("bash", "nagaya-host"), "program": ("wrapped", "nagaya-host"),
             "launcher": ("nagaya", "nagaya"), "host": ("nagaya-host", "nagaya-host"),
             "proxy": ("nagaya-waiter", "nagaya-waiter")}
    def find():
        return [pid for pid in pids_of(user.uid) if describe(pid) == names[ended_by]]
    count = 2 if ended_by in ("program", "proxy") else 1
    assert settles(lambda: len(find()) >= count), find()  # a proxy becomes the waiter
    for pid in find()[:count]:
        os.kill(pid, how)
    assert (job.wait(timeout=60) == 0) == (ended_by in ("program", "proxy"))
    left = leftovers.after_limit()
    assert not left.processes and not left.sockets, left


def test_nagaya_ps_names_the_ranks_that_have_left(user, nagaya, installation, folder):
    os.mkfifo(folder / "go", 0o666)
    os.chmod(folder / "go", 0o666)
    script = 'strace -o /dev/null "$0" alone 2>&1; echo told; exec cat go'
    job = user.start([nagaya, "exec", "bash", "-c", script, installation.program("wrapped")],
                     stdout=-1, text=True, cwd=folder)
    program = installation.program("wrapped")
    try:
        while "told" not in job.stdout.readline():
            pass
        shown = user.run([nagaya, "ps"]).out
        assert (f"  rank 0: {program} runs or ran outside of the space: /usr/bin/strace needs "
                "ordinary processes\n") in shown
    finally:
        job.kill()
        job.wait()


def test_a_program_in_another_namespace_keeps_its_rank(user, nagaya, installation):
    unshare = ["unshare", "--user", "--map-root-user"]
    if user.run([*unshare, "true"]).code != 0:
        pytest.skip("user namespaces are not for users here")
    program = installation.program("wrapped")
    ended = user.run([nagaya, "run", "-n", 1, *unshare, program, "alone"])
    assert (ended.code, ended.out) == (0, f"{program}: rank -1 of -1, task -3\n"), ended
    assert ended.err == (f"nagaya: rank 0: {program} runs outside of the space: it has another "
                         "namespace (user) than its job\n"), ended
