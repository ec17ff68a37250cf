# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on machines that refuse something (tests/programs/restricted.c) run as elsewhere, or say in
one line what is missing; nothing is left of them."""
import errno
import os
import shutil

import pytest

GIB = 1 << 30
SPACE_END = 0x550000000000  # src/task/space/space.h
USER_NAMESPACE = ["unshare", "-Ur"]
# Under a shell: the first process of a namespace cannot end itself by a signal.
OWN_PROCESSES = ["unshare", "-Urpf", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"]
OWN_MOUNTS = ["unshare", "-Urm"]

# what: (words before `restricted`, restriction, its value)
WORKS = {
    "clone3 missing": ([], "clone3", errno.ENOSYS),
    "changed text refused": ([], "text", errno.EACCES),
    "no memory both writable and executable": ([], "writable-text", errno.EACCES),
    "no files in memory": ([], "memory-file", errno.EACCES),
    "no right to execute gained": ([], "mdwe", 0),
    "kernel before 5.16": ([], "uname", "2.6"),
    "wait4 refused": ([], "wait", errno.ENOSYS),
    "64 descriptors": ([], "nofile", 64),
    "100 processes": ([], "nproc", 100),
    "8 GiB of addresses": ([], "as", 8 * GIB),
    "2 GiB of data": ([], "data", 2 * GIB),
    "64 KiB of stack": ([], "stack", 65536),
    "unlimited stack": ([], "stack", "unlimited"),
    "no locked memory": ([], "memlock", 0),
    "no file may grow": ([], "fsize", 0),
    "no core files": ([], "core", 0),
    "user namespace": (USER_NAMESPACE, "core", 0),
    "process and user namespace": (OWN_PROCESSES, "core", 0),
    "/dev/shm read-only": (OWN_MOUNTS, "cover", "/dev/shm"),
}


class Restricted:
    def __init__(self, user, installation, nagaya):
        self.user, self.nagaya = user, nagaya
        self.program = installation.program("restricted")
        self.ending = installation.program("plain_ending")

    def skip_unless_possible(self, prefix, restriction, value):
        if user_has_no(prefix) or self.user.run([*prefix, "true"]).code != 0:
            pytest.skip(f"{' '.join(prefix)} is not possible here")
        if self.user.run([*prefix, self.program, restriction, value, "true"]).code == 99:
            assert restriction == "mdwe", "this kernel refuses the restriction"
            pytest.skip("PR_SET_MDWE needs Linux 6.3")

    def run(self, prefix, restriction, value, *words, **options):
        return self.user.run([*prefix, self.program, restriction, value, *words], **options)


def user_has_no(prefix):
    return prefix and shutil.which(prefix[0]) is None


@pytest.fixture
def restricted(user, installation, nagaya):
    return Restricted(user, installation, nagaya)


@pytest.fixture
def case(request, restricted):
    restricted.skip_unless_possible(*WORKS[request.param])
    return WORKS[request.param]


def assert_nothing_left(leftovers):
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left


@pytest.mark.parametrize("case", WORKS, indirect=True)
@pytest.mark.parametrize("act", [("exit", 0), ("exit", 5), ("kill", 11), ("write", 6400)])
def test_a_restricted_task_ends_as_it_does_outside(restricted, leftovers, case, act):
    outside = restricted.run(*case, restricted.ending, *act)
    inside = restricted.run(*case, restricted.nagaya, "exec", restricted.ending, *act)
    lines = inside.err.splitlines()
    told = [line for line in lines if line.startswith("nagaya: ")]  # of a fault
    assert len(told) == (3 if act[0] == "kill" else 0), inside
    others = [line for line in lines if line not in told]
    assert (inside.code, inside.out, others) == (outside.code, outside.out, outside.err.splitlines())
    assert_nothing_left(leftovers)


@pytest.mark.parametrize("case", WORKS, indirect=True)
def test_a_restricted_job_meets_in_one_space(restricted, installation, leftovers, case):
    program = installation.program("sharing")
    unrestricted = restricted.user.run([restricted.nagaya, "run", "-n", 3, program])
    ended = restricted.run(*case, restricted.nagaya, "run", "-n", 3, program)
    assert unrestricted.code == 0, unrestricted
    assert (ended.code, sorted(ended.out.splitlines()), ended.err) == (
        0, sorted(unrestricted.out.splitlines()), ""), ended
    assert_nothing_left(leftovers)


# The kernel puts libraries of a program with such a stack, or such a layout, where partitions are.
@pytest.mark.parametrize("words, restriction, value", [
    ([], "stack", "unlimited"), (["setarch", "-L"], "core", 0)])
def test_the_host_keeps_out_of_the_addresses_of_tasks(restricted, words, restriction, value):
    ended = restricted.run(words, restriction, value, restricted.nagaya, "exec", "cat",
                           "/proc/self/maps")
    libraries = [line for line in ended.out.splitlines() if "libhwloc" in line]
    assert ended.code == 0 and libraries, ended
    assert all(int(line.split("-")[0], 16) >= SPACE_END for line in libraries), libraries


# what: (restrictions and their values, a word of the message)
REFUSED = {
    "clone3 forbidden": (["clone3", errno.EPERM], "not permitted"),
    "memory in common forbidden": (["clone3", errno.ENOSYS, "clone", errno.EPERM], "not permitted"),
    "8 MiB of data": (["data", 8 << 20], "memory"),
    "fork forbidden": (["fork", errno.EPERM], "cannot start the host of the job: fork: "),
    "no more watches": (["watch", errno.ENOSPC], "raise the sysctl fs.epoll.max_user_watches"),
    "affinity forbidden": (["affinity", errno.EPERM], "could not bind to processors: Operation not permitted"),
}


@pytest.mark.parametrize("how", [("exec",), ("run",), ("run", "-n", "2")], ids=" ".join)
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_missing_is_said_in_one_line(restricted, leftovers, what, how):
    values, word = REFUSED[what]
    before = []
    for n in range(0, len(values), 2):
        before += [restricted.program, *values[n:n + 2]]
    ended = restricted.user.run([*before, restricted.nagaya, *how, restricted.ending, "exit", 5])
    assert ended.code == 125 and ended.out == "", ended
    assert len(ended.err.splitlines()) == 1 and word in ended.err, ended
    assert_nothing_left(leftovers)


# what: (restriction, value, ranks, the message before its cure)
TOO_SMALL = {
    "30 descriptors": ("nofile", 30, 32, "the limit of open files (ulimit -n) is 30"),
    "48 MiB of addresses": ("as", 48 << 20, 4, "Cannot allocate memory"),
}


@pytest.mark.parametrize("what", TOO_SMALL)
def test_a_job_that_a_limit_keeps_from_starting_names_the_doctor(restricted, leftovers, what):
    restriction, value, ranks, message = TOO_SMALL[what]
    ended = restricted.run([], restriction, value, restricted.nagaya, "run", "-n", ranks, "true")
    cure = f"{message} (`nagaya doctor -n {ranks}` says what is missing)\n"
    assert ended.code == 125 and ended.err.startswith("nagaya: ") and ended.err.endswith(cure), ended
    assert ended.err.count("\n") == 1, ended
    assert_nothing_left(leftovers)


# (restriction, value, is it named when a rank fails?)
@pytest.mark.parametrize("restriction, value, is_named", [
    ("as", 4 * GIB, True), ("as", 40 * GIB, False), ("core", 0, False)])
def test_a_hard_limit_of_addresses_that_is_too_low_for_an_mpi_is_named(restricted, restriction, value, is_named):
    ended = restricted.run([], restriction, value, restricted.nagaya, "run", "-n", 4, restricted.ending, "exit", 5)
    named = "nagaya: a hard ulimit -v or -d of 4096 MiB holds for all tasks together"
    assert ended.code == 5 and ended.err.count(named) == int(is_named), ended


def test_a_crash_on_an_old_kernel_leaves_the_other_tasks_alone(restricted, leftovers):
    """Such a kernel would end all of a space that can be dumped; this one shows only whether it
    can be."""
    words = [restricted.nagaya, "exec", "/bin/sh", "-c", "stat -c %u /proc/$$/auxv"]
    owner = restricted.run([], "uname", "2.6", *words).out.strip()
    assert owner == "0", "the space may be dumped"
    if restricted.user.uid != 0:
        assert restricted.user.run(words).out.strip() == str(restricted.user.uid)
    assert_nothing_left(leftovers)


def test_a_host_that_may_not_read_its_own_program_starts_tasks(user, installation, leftovers):
    """Such a process cannot open its /proc/self/auxv: its tasks got an empty auxiliary vector."""
    if not user.is_other:
        pytest.skip("who owns a file can read it: run the tests as root")
    copy = installation.copied_to(user.new_folder("unreadable"))
    (copy / "libexec/nagaya/nagaya-host").chmod(0o711)
    ended = user.run([copy / "bin/nagaya", "exec", "/bin/echo", "hello"])
    assert (ended.code, ended.out, ended.err) == (0, "hello\n", ""), ended
    assert_nothing_left(leftovers)


def test_descriptors_up_to_the_limit_keep_their_numbers(restricted, leftovers):
    numbers = [0, 1, 2, 5, 40, 62, 63]
    opened = " ".join(f"os.dup2(0, {n});" for n in numbers[3:])
    launcher = f"import os, sys; {opened} os.execv(sys.argv[1], sys.argv[1:])"
    words = ["/usr/bin/python3", "-c", launcher, restricted.program, "nofile", 64]
    ended = restricted.user.run([*words, restricted.nagaya, "exec", "/bin/ls", "/proc/self/fd"])
    seen = sorted(int(n) for n in ended.out.split())
    assert ended.code == 0 and [n for n in seen if n != 3] == numbers, ended
    assert_nothing_left(leftovers)


def test_a_home_and_a_temporary_folder_that_cannot_be_written_do_not_matter(user, restricted,
                                                                           leftovers):
    folder = user.new_folder("read-only")
    folder.chmod(0o555)
    environment = {"HOME": str(folder), "TMPDIR": str(folder)}
    ended = user.run([restricted.nagaya, "exec", restricted.ending, "exit", 5], env=environment)
    assert (ended.code, ended.err) == (5, ""), ended
    assert_nothing_left(leftovers)
    folder = f"/tmp/nagaya-{user.uid}"
    if user.is_other and os.path.isdir(folder):
        os.rmdir(folder)
