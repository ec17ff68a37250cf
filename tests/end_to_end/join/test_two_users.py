# SPDX-License-Identifier: BSD-3-Clause
"""Another user cannot join, signal or read anything of a job. Both users are ordinary ones without
capabilities; both use the same folder for temporary files, as they do on every machine."""
import os
import signal
import stat
import subprocess
import textwrap

import pytest
from join_protocol import HELLO, FalseHost, frame, hello
from known_job import AS_IT_SHOULD, KnownJob, learned_key, rank_environment, settles
from leftovers import describe
from ordinary_user import OrdinaryUser, pids_of

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run programs as two users")


@pytest.fixture(scope="module")
def common_tmp(user):
    folder = user.new_folder("common-tmp")
    os.chown(folder, 0, 0)
    folder.chmod(0o1777)
    return folder


@pytest.fixture(scope="module")
def users(user, common_tmp):
    """The owner of the jobs, and the stranger."""
    stranger = OrdinaryUser(not_of=[user])
    own_tmp = user.temporary
    user.temporary = stranger.temporary = common_tmp
    yield user, stranger
    user.temporary = own_tmp
    stranger.leave()


@pytest.fixture
def job(users, nagaya, installation):
    program = installation.program("plain_ending")
    learned_key(users[0], nagaya, program)
    running = KnownJob(users[0], nagaya, program)
    yield running
    assert running.end() == [AS_IT_SHOULD] * 2


@pytest.fixture
def stranger(users):
    return users[1]


def processes_of(job):
    """pid: (name, program) of host, proxies and tasks."""
    found = {pid: describe(pid) for pid in pids_of(job.user.uid)}
    return {pid: about for pid, about in found.items() if about}


def test_the_two_users_are_two(users, job):
    seen = [int(one.run(["id", "-u"]).out) for one in users]
    assert seen == [one.uid for one in users] and len(set(seen)) == 2
    names = {name for name, _ in processes_of(job).values()}
    assert names >= {"nagaya-host", "plain_ending"} and names & {"nagaya", "nagaya-waiter"}


def python(user, code, *arguments):
    return user.run(["/usr/bin/python3", "-c", textwrap.dedent(code), *arguments])


CONNECTING = """
    import socket, sys
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(5)
        one.connect(sys.argv[1])
        one.sendall(bytes.fromhex(sys.argv[2]))
        print("answered", one.recv(16))
"""


def greeting(job):
    return frame(HELLO, hello(job.key)).hex()


def test_the_folder_of_the_sockets_is_closed_to_others(job, stranger):
    folder = job.socket.parent
    assert folder.parent == stranger.temporary
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(job.socket.stat().st_mode) == 0o600
    assert job.user.run(["ls", folder]).code == 0
    for words in (["ls", folder], ["test", "-e", job.socket], ["rm", "-f", job.socket],
                  ["mv", folder, folder.with_suffix(".away")], ["rmdir", folder],
                  ["touch", folder / "new"]):
        assert stranger.run(words).code != 0, words
    assert job.socket.exists()


def test_who_owns_the_job_can_connect_and_others_cannot(job, stranger):
    assert "answered b'FGAN" in python(job.user, CONNECTING, job.socket, greeting(job)).out
    ended = python(stranger, CONNECTING, job.socket, greeting(job))
    assert ended.code != 0 and "PermissionError" in ended.err, ended


def test_an_open_folder_does_not_open_the_job(job, stranger):
    """The host itself checks who connects, even with the right key."""
    folder = job.socket.parent
    folder.chmod(0o777)
    job.socket.chmod(0o777)
    try:
        ended = python(stranger, CONNECTING, job.socket, greeting(job))
        assert "b'FGAN" not in ended.out, ended
        assert "PermissionError" not in ended.err, ended
    finally:
        folder.chmod(0o700)
    assert job.is_undisturbed()


@pytest.mark.parametrize("number", ["0", "CONT", "TERM", "KILL", "USR1", "SEGV"])
def test_a_stranger_cannot_signal(job, stranger, number):
    for pid, about in processes_of(job).items():
        ended = stranger.run(["kill", "-s", number, str(pid)] if number != "0"
                             else ["kill", "-0", str(pid)])
        assert ended.code != 0 and "ermitted" in ended.err, (about, ended)
        ended = stranger.run(["kill", "-s", number, "--", f"-{pid}"])
        assert ended.code != 0, (about, ended)
    assert job.is_undisturbed()


READING = """
    import os, sys
    for pid in sys.argv[1:]:
        for name in ("mem", "maps", "smaps", "environ", "auxv", "pagemap", "syscall", "stack",
                     "exe", "cwd", "root", "fd", "fdinfo", "map_files", "personality", "io"):
            path = f"/proc/{pid}/{name}"
            try:
                if name in ("exe", "cwd", "root"):
                    os.readlink(path)
                elif os.path.isdir(path) or name in ("fd", "fdinfo", "map_files"):
                    os.listdir(path)
                else:
                    with open(path, "rb") as file:
                        if name == "mem":
                            file.seek(0x110000000000)
                        file.read(1)
                print("readable", path)
            except OSError:
                pass
"""


def test_a_stranger_reads_nothing_of_any_process(job, stranger):
    pids = processes_of(job)
    own = python(job.user, READING, *pids)
    assert own.out.count("/environ") == len(pids), own
    ended = python(stranger, READING, *pids)
    assert ended.code == 0 and ended.out == "", ended


TRACING = """
    import ctypes, sys
    libc = ctypes.CDLL(None, use_errno=True)
    attach, detach, seize = 16, 17, 0x4206
    buffer = ctypes.create_string_buffer(8)
    class Piece(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]
    here, there = Piece(ctypes.addressof(buffer), 8), Piece(int(sys.argv[1], 16), 8)
    for pid in map(int, sys.argv[2:]):
        for request in (attach, seize):
            if libc.ptrace(request, pid, None, None) == 0:
                print("traced", pid)
                libc.ptrace(detach, pid, None, None)
        for name in ("process_vm_readv", "process_vm_writev"):
            call = getattr(libc, name)
            if call(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 8:
                print(name, pid)
        handle = libc.syscall(434, pid, 0)
        if handle >= 0 and libc.syscall(438, handle, 0, 0) >= 0:
            print("descriptor of", pid)
"""


def an_address(pid):
    """Of memory that the process can write."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
        return next(line.split("-")[0] for line in maps if " rw-p" in line)


def test_a_stranger_can_neither_trace_nor_copy_memory(job, stranger):
    tasks = [str(pid) for pid, about in processes_of(job).items() if about[1] == "nagaya-host"]
    assert len(tasks) == 3
    address = an_address(job.host)
    own = python(job.user, TRACING, address, job.host)
    os.kill(job.host, signal.SIGCONT)  # attaching has stopped it
    assert f"process_vm_readv {job.host}" in own.out, own  # else the test could not fail
    ended = python(stranger, TRACING, address, *tasks)
    assert ended.code == 0 and ended.out == "", ended
    assert job.is_undisturbed()


def test_nothing_of_a_job_lies_where_others_can_open_it(job, stranger):
    """No file of shared memory but the text of ld.so, changed, and nothing readable in the common
    folder."""
    segments = [entry for entry in os.scandir("/dev/shm")
                if entry.stat(follow_symlinks=False).st_uid == job.user.uid]
    assert segments == []
    found = stranger.run(["find", stranger.temporary, "-mindepth", "1", "-user", str(job.user.uid),
                          "(", "-readable", "-o", "-writable", "-o", "-executable", ")"])
    assert found.out == "", found
    memory_files = {path for pid in processes_of(job) for path in links_of(pid)
                    if path.startswith(("/memfd:", "/dev/shm"))}
    assert memory_files <= {"/memfd:nagaya-changed-text (deleted)"}
    for pid in processes_of(job):
        listed = stranger.run(["ls", f"/proc/{pid}/fd/"])
        assert listed.code != 0 and listed.out == "", listed


def links_of(pid):
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            yield os.readlink(f"/proc/{pid}/fd/{name}")
        except FileNotFoundError:
            pass


def test_commands_of_a_stranger_neither_see_nor_touch_the_job(job, stranger, nagaya):
    before = processes_of(job)
    commands = stranger.run([nagaya, "--help"]).out
    for words in (["ps"], ["ps", "--json"], ["clean"], ["gdb", "0"]):
        if words[0] not in commands:
            continue
        ended = stranger.run([nagaya, *words], env={"XDG_RUNTIME_DIR": ""})
        said = ended.out + ended.err
        assert "plain_ending" not in said and str(job.host) not in said.split(), (words, ended)
    assert processes_of(job) == before and job.socket.exists()


def test_jobs_of_two_users_with_the_same_names_live_side_by_side(users, job, stranger, nagaya,
                                                                 installation):
    """Same mpirun's secret, same temporary folder, same program: two jobs, two hosts."""
    other = KnownJob(stranger, nagaya, installation.program("plain_ending"))
    try:
        assert other.socket.name == job.socket.name and other.socket != job.socket
        assert other.host != job.host
        assert {pid for pid in pids_of(stranger.uid)}.isdisjoint(pids_of(job.user.uid))
        os.kill(other.proxies[0].pid, signal.SIGKILL)
        assert other.proxies[0].wait(10) == -signal.SIGKILL
        assert job.is_undisturbed()
    finally:
        other.kill()


def squat_folder(path, stranger):
    path.mkdir(mode=0o777)
    stranger.own(path)
    path.chmod(0o777)


def squat_file(path, stranger):
    stranger.new_file(path, b"", 0o666)


def squat_link(path, stranger):
    path.symlink_to(stranger.new_folder("trap"))
    os.chown(path, stranger.uid, stranger.uid, follow_symlinks=False)


def squat_link_to_own(path, stranger):
    """A link into a folder that belongs to the job's user and is private."""
    target = path.with_suffix(".target")
    target.mkdir(mode=0o700)
    os.chown(target, int(path.name.split("-")[1]), 0)
    path.symlink_to(target)
    os.chown(path, stranger.uid, stranger.uid, follow_symlinks=False)


@pytest.mark.parametrize("squat", [squat_folder, squat_file, squat_link, squat_link_to_own])
def test_a_name_that_a_stranger_has_taken_is_not_used(users, nagaya, installation, common_tmp,
                                                      leftovers, squat):
    owner, stranger = users
    shared = owner.new_folder("squatted")
    os.chown(shared, 0, 0)
    shared.chmod(0o1777)
    path = shared / f"nagaya-{owner.uid}"
    squat(path, stranger)
    ended = owner.run([nagaya, "exec", installation.program("plain_ending"), "exit", "5"],
                      env={"TMPDIR": str(shared)})
    assert ended.code == 125 and ended.out == "", ended
    assert len(ended.err.splitlines()) == 1 and str(path) in ended.err, ended
    assert "TMPDIR" in ended.err, ended
    assert not leftovers.after_limit().processes


class Listening(FalseHost):
    """A stranger's socket that everybody may connect to, and all that came there."""

    def __init__(self, stranger, path):
        self.heard = []
        super().__init__(stranger, path, lambda client: self.heard.append(client.recv(4096)))
        path.chmod(0o666)


@pytest.mark.parametrize("how", ["exec", "ps"])
def test_a_stranger_who_listens_in_the_hosts_place_hears_nothing(users, nagaya, installation, how):
    owner, stranger = users
    program = installation.program("plain_ending")
    job = KnownJob(owner, nagaya, program, tasks=1)
    assert job.end() == [AS_IT_SHOULD]
    assert settles(lambda: not job.socket.exists())
    with Listening(stranger, job.socket) as listening:
        owner.own(job.socket)
        words = {"exec": ["exec", program, "exit", "5"], "ps": ["ps"]}[how]
        ended = owner.run([nagaya, *words], env=rank_environment())
        assert settles(lambda: listening.heard)
        assert set(listening.heard) == {b""}
    said = ended.err if how == "exec" else ended.out.splitlines()[-1]
    assert ended.code == (125 if how == "exec" else 0), ended
    assert str(job.socket) in said and str(stranger.uid) in said and "TMPDIR" in said, ended
    assert len(ended.err.splitlines()) == (1 if how == "exec" else 0), ended


# A task that joins its own space once it is told to.
JOINING = """
    import ctypes, sys
    nagaya = ctypes.CDLL(sys.argv[1])
    nagaya.nagaya_error_text.restype = ctypes.c_char_p
    print("ready", flush=True)
    sys.stdin.readline()
    code = nagaya.nagaya_space_current(ctypes.byref(ctypes.c_void_p()))
    print(code, nagaya.nagaya_error_text().decode(), flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def parent_of_all(users):
    """A folder in which everybody may rename and remove what belongs to others."""
    folder = users[0].new_folder("of-all")
    folder.chmod(0o777)
    return folder


def plant_folder(stranger, path):
    assert stranger.run(["mkdir", "-m", "777", path]).code == 0


def plant_link(stranger, path):
    plant_folder(stranger, path.with_suffix(".target"))
    assert stranger.run(["ln", "-s", path.with_suffix(".target"), path]).code == 0


@pytest.mark.parametrize("plant", [plant_folder, plant_link])
def test_a_folder_that_a_stranger_has_put_in_the_place_of_the_users_gets_neither_key_nor_removal(
        users, nagaya, installation, parent_of_all, plant):
    owner, stranger = users
    folder = parent_of_all / f"nagaya-{owner.uid}"
    words = [nagaya, "exec", "/usr/bin/python3", "-c", textwrap.dedent(JOINING),
             installation.root / "lib" / "libnagaya.so.0"]
    proxy = owner.start(words, env={"TMPDIR": str(parent_of_all), **rank_environment()},
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        text=True)
    try:
        assert proxy.stdout.readline() == "ready\n"
        [socket] = folder.glob("*.sock")
        moved = folder.with_suffix(".moved")
        assert stranger.run(["mv", folder, moved]).code == 0
        plant(stranger, folder)
        with Listening(stranger, socket) as listening:
            proxy.stdin.write("go\n")
            proxy.stdin.flush()
            said = proxy.stdout.readline()
            assert listening.heard == []
            assert said.startswith("-1 ") and str(folder) in said and "TMPDIR" in said, said
            for command in ("ps", "clean"):
                ended = owner.run([nagaya, command], env={"TMPDIR": str(parent_of_all)})
                assert (ended.code, str(folder) in ended.out + ended.err) == (0, False), ended
            proxy.communicate("end\n", timeout=20)
            assert proxy.returncode == 0
            assert settles(lambda: not list(moved.glob("*.sock")))
            assert socket.exists() and listening.heard == []
    finally:
        proxy.kill()
        proxy.communicate()
