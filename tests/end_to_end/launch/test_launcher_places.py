# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya run` as the launcher of MPI programs in the places where jobs run: beside other jobs, in a
cgroup with a memory limit, in containers, under Slurm, with long and odd temporary folders."""
import copy
import errno
import os
import pathlib
import signal
import time

import pytest
from launched_ranks import (LINE, MPICH, OPEN_MPI, HeldJob, Rank, check_nothing_left, check_ranks,
                            command_of, numbers_of_tasks)
from slurm import user_in_slurm

RANKS = 3
MPIS = [OPEN_MPI, MPICH]
LEFT_LIMIT_S = 20
ROOM_MIB, TOO_MUCH_MIB = 512, 400  # of a cgroup, and for each of two ranks


def check_report(ended, count=RANKS):
    """The output of a job whose input was empty."""
    assert (ended.code, ended.err) == (0, ""), ended
    found = [LINE.fullmatch(line) for line in ended.out.splitlines(keepends=True)]
    assert all(found), ended
    check_ranks(sorted(Rank(*map(int, line.groups())) for line in found), count)


def remove_when_empty(group):
    """Fails if a process stays in the cgroup. The kernel counts those that have just ended."""
    deadline = time.monotonic() + LEFT_LIMIT_S
    while True:
        try:
            return group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


@pytest.fixture
def report(nagaya, installation):
    """The words of a job."""
    return lambda program, count=RANKS: [nagaya, "run", "-n", count,
                                         *command_of(installation, program), "report"]


# ---- beside other jobs -------------------------------------------------------------------------


def test_jobs_beside_each_other_do_not_meet(user, nagaya, report, leftovers):
    with HeldJob(user, report(OPEN_MPI), RANKS) as first, \
            HeldJob(user, report(OPEN_MPI), RANKS) as second, \
            HeldJob(user, report(MPICH), RANKS) as third:
        for job in (first, second, third):
            check_ranks(job.ranks, RANKS)
            numbers = numbers_of_tasks(user, nagaya, job.ranks)
            assert sorted(numbers.values()) == list(range(RANKS)), numbers
        os.kill(first.process.pid, signal.SIGTERM)
        assert first.end(lets_go=False)[0] == 128 + signal.SIGTERM
        assert second.end() == third.end() == (0, "", "")
    check_nothing_left(user, leftovers)


def test_a_job_starts_another_job(user, nagaya, installation, leftovers):
    """A rank's own `nagaya run` is a launcher of its own: it takes nothing for its rank's launcher."""
    words = command_of(installation, OPEN_MPI)
    ended = user.run([nagaya, "run", "sh", "-c", '"$@" < /dev/null', "sh", nagaya, "run", "-n", RANKS,
                      *words, "report"])
    check_report(ended)
    check_nothing_left(user, leftovers)


# ---- a memory limit ----------------------------------------------------------------------------


@pytest.fixture
def limited_user(user):
    """The user in a cgroup of ROOM_MIB of memory."""
    kinds = {"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"}
    for parent, limit in kinds.items():
        group = pathlib.Path(parent, f"nagaya-{os.getpid()}")
        try:
            group.mkdir()
            (group / limit).write_text(str(ROOM_MIB << 20))
        except OSError:
            if group.exists():
                group.rmdir()
            continue
        limited = copy.copy(user)
        limited.prefix = ["sh", "-c", f'echo 0 > {group}/cgroup.procs && exec "$@"', "sh", *user.prefix]
        yield limited
        remove_when_empty(group)
        return
    pytest.skip("no cgroup with a limit of memory can be made here")


@pytest.mark.parametrize("program", MPIS)
def test_a_job_runs_within_a_limit_of_memory(limited_user, report, leftovers, program):
    check_report(limited_user.run(report(program)))
    check_nothing_left(limited_user, leftovers)


def test_a_job_beyond_a_limit_of_memory_ends(limited_user, nagaya, installation, leftovers):
    words = [nagaya, "run", "-n", 2, *command_of(installation, OPEN_MPI), "touch"]
    ended = limited_user.run([*words, ROOM_MIB // 16])
    assert (ended.code, ended.err) == (0, ""), ended
    ended = limited_user.run([*words, TOO_MUCH_MIB])
    assert ended.code in (125, 128 + signal.SIGKILL) and ended.err.count("nagaya: ") == 1, ended
    check_nothing_left(limited_user, leftovers)


# ---- containers --------------------------------------------------------------------------------

NO_CMA = ["other-memory", errno.EPERM, "clone3", errno.ENOSYS]  # a container's usual filter
CONTAINERS = {
    "neither CMA nor clone3": ([], NO_CMA),
    "root of a namespace": (["unshare", "-Ur"], NO_CMA),
    "pids of its own": (["unshare", "-Urpf", "--mount-proc"], NO_CMA),
    "/dev/shm of 1 MiB": (["unshare", "-Urm"], [*NO_CMA, "small", "/dev/shm"]),
}


def through_the_space(nagaya):
    """Open MPI makes no segments then, which need room in /dev/shm."""
    has_components = list((nagaya.parent.parent / "lib/nagaya").glob("ompi-*"))
    return {"OMPI_MCA_btl": "self"} if has_components else {}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("program", MPIS)
def test_a_job_runs_in_a_container(user, nagaya, report, installation, leftovers, program, container):
    """No variable tells Open MPI that root may run it."""
    before, restrictions = CONTAINERS[container]
    if user.run([*before, "true"]).code != 0:
        pytest.skip("the kernel lets this user make no namespaces")
    if program == MPICH and "/dev/shm" in restrictions:
        pytest.skip("MPICH itself needs more room in /dev/shm")
    words = list(before)
    for n in range(len(restrictions) - 2, -1, -2):  # mounts first: the filter stays for all
        words += [installation.program("restricted"), *restrictions[n:n + 2]]
    check_report(user.run([*words, *report(program)], env=through_the_space(nagaya)))
    check_nothing_left(user, leftovers)


# ---- folders -----------------------------------------------------------------------------------


@pytest.mark.parametrize("program", MPIS)
@pytest.mark.parametrize("name", ["x" * 120, "x" * 200, "a b, c;d:e", "it's $HOME"],
                         ids=["120 characters", "200 characters", "separators", "quotes"])
def test_any_temporary_folder_will_do(user, report, folder, leftovers, program, name):
    """The address of a Unix socket has 108 characters, and PMIx writes paths into lists."""
    temporary = folder / name[:200 - len(str(folder))]
    temporary.mkdir()
    user.own(temporary)
    check_report(user.run(report(program), env={"TMPDIR": str(temporary)}))
    assert [path.name for path in temporary.rglob("*")] == [user.socket_folder.name]
    check_nothing_left(user, leftovers)


# ---- Slurm -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def slurm_user(user):
    """The user in an allocation of one node."""
    if os.geteuid() != 0:
        pytest.skip("Slurm's daemons need root: run the tests as root")
    with user_in_slurm(user, "--pid") as inside:
        yield inside


ALLOCATION = {"SLURM_JOB_NUM_NODES": "1", "SLURM_NNODES": "1", "SLURM_JOB_NODELIST": "localhost",
              "SLURM_TASKS_PER_NODE": "2"}  # as salloc's own shell has them
SRUN = ["srun", "--overlap", "--overcommit", "-n", 1]


@pytest.mark.parametrize("program", MPIS)
def test_in_an_allocation_of_slurm(slurm_user, report, leftovers, program):
    check_report(slurm_user.run(report(program), env=ALLOCATION))
    check_nothing_left(slurm_user, leftovers)


@pytest.mark.parametrize("program", MPIS)
@pytest.mark.parametrize("plugin", ["none", "pmi2", "pmix"])
def test_in_a_step_of_slurm_whatever_that_offers_to_mpis(slurm_user, report, leftovers, program,
                                                         plugin):
    """The step's own variables say that the job has one rank."""
    check_report(slurm_user.run([*SRUN, f"--mpi={plugin}", *report(program)]))
    check_nothing_left(slurm_user, leftovers)


@pytest.mark.parametrize("launcher", [["mpirun.openmpi", "-n", "1"], ["mpiexec.mpich", "-n", "1"]],
                         ids=lambda words: words[0])
@pytest.mark.parametrize("program", MPIS)
def test_behind_another_launcher(user, report, leftovers, program, launcher):
    check_report(user.run([*launcher, *report(program)]))
    check_nothing_left(user, leftovers)
