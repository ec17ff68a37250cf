# SPDX-License-Identifier: BSD-3-Clause
"""A proxy waits as nagaya-waiter, which keeps little memory, and does all that a proxy does; where that
program is not installed, the proxy stays as it is."""
import os
import pathlib
import signal
import time

import pytest

TASKS = 3
DIRTY_MAX_KB = 64
LIMIT_S = 20
TICK_S = 0.02


def proxies(leftovers, name):
    return [pid for pid, (_, program) in leftovers.now().processes.items() if program == name]


def await_proxies(leftovers, name, count):
    deadline = time.monotonic() + LIMIT_S
    while len(found := proxies(leftovers, name)) != count:
        assert time.monotonic() < deadline, leftovers.now()
        time.sleep(TICK_S)
    return found


def dirty_kb(pid):
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:"))


def test_it_keeps_little_memory(running, mpirun, nagaya, leftovers):
    running([*mpirun, "-n", TASKS, nagaya, "exec", "sh", "-c", "echo ready; sleep 60"], ready=TASKS)
    for pid in await_proxies(leftovers, "nagaya-waiter", TASKS):
        assert dirty_kb(pid) <= DIRTY_MAX_KB


@pytest.fixture(params=["waiter", "no waiter"])
def proxy(request, user, installation):
    """The command, of an installation with that program and of one without."""
    if request.param == "waiter":
        return installation.nagaya, "nagaya-waiter"
    folder = installation.copied_to(user.new_folder("without_waiter"))
    (folder / "libexec/nagaya/nagaya-waiter").unlink()
    return folder / "bin/nagaya", "nagaya"


@pytest.mark.parametrize("ending, code", [("exit 7", 7), ("kill -TERM $$", 128 + signal.SIGTERM),
                                          ("kill -KILL $$", 128 + signal.SIGKILL)])
def test_it_ends_as_its_task(user, proxy, ending, code):
    ended = user.run(["sh", "-c", f"{proxy[0]} exec sh -c '{ending}'; echo $?"])
    assert ended.out.splitlines()[-1] == str(code), ended


def test_it_forwards_signals(user, proxy, leftovers):
    script = "trap 'echo trapped; exit 3' USR1; echo ready; while :; do sleep 0.05; done"
    job = user.start([proxy[0], "exec", "sh", "-c", script], stdout=-1)
    assert job.stdout.readline() == b"ready\n"
    os.kill(await_proxies(leftovers, proxy[1], 1)[0], signal.SIGUSR1)
    assert job.stdout.readline() == b"trapped\n"
    assert job.wait(timeout=LIMIT_S) == 3


def test_its_death_ends_its_task(user, proxy, leftovers):
    job = user.start([proxy[0], "exec", "sh", "-c", "echo ready; exec sleep 60"], stdout=-1)
    assert job.stdout.readline() == b"ready\n"
    os.kill(await_proxies(leftovers, proxy[1], 1)[0], signal.SIGKILL)
    job.wait(timeout=LIMIT_S)
    assert not leftovers.after_limit().processes


def test_it_says_that_its_host_has_died(user, proxy, leftovers):
    job = user.start([proxy[0], "exec", "sh", "-c", "echo ready; exec sleep 60"], stdout=-1, stderr=-1)
    assert job.stdout.readline() == b"ready\n"
    await_proxies(leftovers, proxy[1], 1)
    host = next(pid for pid, (name, program) in leftovers.now().processes.items()
                if program == "nagaya-host" and name.startswith("nagaya-host"))
    os.kill(host, signal.SIGKILL)
    said = job.communicate(timeout=LIMIT_S)[1].decode()
    assert said.count("nagaya:") == 1 and "host" in said, said
    assert job.returncode == -signal.SIGKILL or job.returncode == 128 + signal.SIGKILL
