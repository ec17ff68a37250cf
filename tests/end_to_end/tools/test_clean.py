# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya clean` removes what killed jobs have left, and nothing else."""
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import time

import pytest

NOTHING = "nothing to remove\n"


@pytest.fixture(autouse=True)
def clean_start(user, leftovers):
    """Without the folder of sockets; leftovers of other tests' jobs go first."""
    leftovers.after_limit()
    shutil.rmtree(user.socket_folder, ignore_errors=True)


@pytest.fixture
def job(user, nagaya, installation):
    started = []

    def start():
        process = user.start([nagaya, "run", "-n", 1, installation.program("plain_ending"),
                              "linger"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process
    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=30)


@pytest.fixture
def clean(user, nagaya):
    return lambda *options: user.run([nagaya, "clean", *options])


@pytest.fixture
def stale_socket(user, leftovers, job):
    """The socket that a real job leaves when its host and all its clients are killed: the host or a
    client that survives the other removes it."""
    def leave():
        present = set(user.socket_folder.glob("*.sock")) if user.socket_folder.exists() else set()
        others = set(leftovers.now().processes)
        process = job()
        host, = [pid for pid, about in leftovers.now().processes.items()
                 if pid not in others and about[0] == "nagaya-host"]
        os.kill(host, signal.SIGSTOP)
        process.kill()
        os.kill(host, signal.SIGKILL)
        process.communicate(timeout=30)
        path, = set(user.socket_folder.glob("*.sock")) - present
        assert session_of(path).is_dir()
        return path
    return leave


def session_of(path):
    return path.with_suffix(".session")


def listener_at(user, path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    user.own(path)
    return listener


def test_a_machine_without_leftovers_has_nothing_to_clean(clean):
    done = clean()
    assert (done.code, done.out, done.err) == (0, NOTHING, "")


def test_a_stale_socket_and_its_folder_are_removed(user, clean, stale_socket):
    path = stale_socket()
    done = clean()
    assert done.code == 0
    assert done.out == "".join(f"removed {what}\n" for what in (path, session_of(path), user.socket_folder)), done
    assert not user.socket_folder.exists()
    assert clean().out == NOTHING


def test_a_dry_run_only_says_what_would_be_removed(user, clean, stale_socket):
    path = stale_socket()
    for option in ("--dry-run", "-n"):
        done = clean(option)
        assert done.out == "".join(f"would remove {what}\n" for what in
                                   (path, session_of(path), user.socket_folder)), done
    assert path.is_socket()


def test_the_socket_of_a_running_job_stays(user, nagaya, clean, job, stale_socket):
    alive = job()
    live = set(user.socket_folder.iterdir())
    stale_path = stale_socket()
    done = clean()
    assert done.out == f"removed {stale_path}\nremoved {session_of(stale_path)}\n", done
    assert set(user.socket_folder.iterdir()) == live
    assert live.pop().stem in user.run([nagaya, "ps"]).out
    assert alive.poll() is None


def test_a_stopped_host_is_not_taken_for_dead(user, clean, leftovers, job):
    job()
    path, = user.socket_folder.glob("*.sock")
    host, = [pid for pid, about in leftovers.now().processes.items() if about[0] == "nagaya-host"]
    os.kill(host, signal.SIGSTOP)
    try:
        assert clean().out == NOTHING
        assert path.is_socket()
    finally:
        os.kill(host, signal.SIGCONT)


def test_what_is_no_socket_of_ours_stays(user, clean, stale_socket):
    path = stale_socket()
    kept = [user.new_file(user.socket_folder / name, "mine") for name in ("notes", "file.sock")]
    done = clean()
    assert done.out == f"removed {path}\nremoved {session_of(path)}\n"
    assert sorted(user.socket_folder.iterdir()) == sorted(kept)


def test_a_folder_that_others_can_enter_is_left_alone(user, clean, stale_socket):
    """A folder that is not private may be a trap that somebody else has laid."""
    path = stale_socket()
    user.socket_folder.chmod(0o755)
    assert clean().out == NOTHING
    assert path.is_socket()


def test_a_starting_job_is_not_hurt(user, clean):
    """Between bind and listen a socket refuses connections: its starter holds the folder's lock."""
    user.socket_folder.mkdir(mode=0o700)
    user.own(user.socket_folder)
    path = user.socket_folder / "starting.sock"
    with listener_at(user, path) as listener:
        folder = os.open(user.socket_folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            done = clean()
            assert done.code == 125 and "locked" in done.err and len(done.err.splitlines()) == 1
            assert path.is_socket()
            listener.listen()
        finally:
            os.close(folder)
        assert clean().out == NOTHING and path.is_socket()
    assert clean().out == f"removed {path}\nremoved {user.socket_folder}\n"


def test_it_waits_for_a_starter_that_is_done_soon(user, clean, nagaya):
    user.socket_folder.mkdir(mode=0o700)
    user.own(user.socket_folder)
    folder = os.open(user.socket_folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    process = user.start([nagaya, "clean"], stdout=subprocess.PIPE, text=True)
    time.sleep(0.3)
    assert process.poll() is None
    os.close(folder)
    assert process.communicate(timeout=30)[0] == f"removed {user.socket_folder}\n"
    assert process.returncode == 0
