# SPDX-License-Identifier: BSD-3-Clause
"""The end-to-end tests run real programs as tasks and check their results.

NAGAYA_BUILD names the build tree. NAGAYA_FULL=1 runs the tests marked `full` with every count that
is promised; without it they are left out or run with smaller counts.
"""
import os
import pathlib
import re
import resource
import shutil
import subprocess

import pytest

from hosts import HOSTS, Hosts, missing_programs
from installation import Installation
from leftovers import Leftovers
from ordinary_user import OrdinaryUser
from tutorials import Reader
from xmp_programs import XmpPrograms

FULL = os.environ.get("NAGAYA_FULL") == "1"


def pytest_collection_modifyitems(items):
    if FULL:
        return
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="only with NAGAYA_FULL=1"))


@pytest.fixture(scope="session")
def user():
    ordinary = OrdinaryUser()
    yield ordinary
    ordinary.leave()


@pytest.fixture(scope="session")
def installation(user):
    return Installation(user)


@pytest.fixture(scope="session")
def nagaya(installation):
    return installation.nagaya


@pytest.fixture(scope="session")
def mpirun():
    """Open MPI's, also where another MPI owns the name mpirun. These tests always have more ranks
    than processors; with --oversubscribe Open MPI 5 would put all on the first host."""
    launcher = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    assert launcher, "Open MPI is not installed"
    return [launcher, "--map-by", "slot:oversubscribe"]


@pytest.fixture(scope="session")
def open_mpi(mpirun):
    """Its major release."""
    said = subprocess.run([mpirun[0], "--version"], capture_output=True, text=True, check=True)
    return int(re.search(r"\(Open(?: MPI|RTE)\) (\d+)", said.stdout).group(1))


@pytest.fixture
def folder(user, request):
    """A new folder of the user's, to be the working directory."""
    return user.new_folder(request.node.originalname.replace("test_", "", 1)[:40])


@pytest.fixture
def data():
    return pathlib.Path(__file__).parent / "data"


@pytest.fixture(autouse=True)
def leftovers(user, installation):
    """The test's leftovers; cleared after it, so that one failure does not cause others."""
    after = Leftovers(user, installation)
    yield after
    after.clear()


@pytest.fixture
def running(user, leftovers):
    """Starts jobs and awaits their lines "ready"; ends them after the test."""
    jobs = []

    def start(words, ready, stdin=b"", ready_before_input=0):
        job = user.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
        jobs.append(job)
        lines = [job.stdout.readline() for _ in range(ready_before_input)]
        job.stdin.write(stdin)
        job.stdin.close()
        lines += [job.stdout.readline() for _ in range(ready - len(lines))]
        assert lines == [b"ready\n"] * ready, (lines, job.poll())
        return job
    yield start
    for job in jobs:
        job.kill()
        job.wait(timeout=30)
    leftovers.after_limit()  # so that the next test's jobs are alone


@pytest.fixture
def dumping():
    """Words before a command that make it write core files into its working directory."""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith(("|", "/")):
        pytest.skip(f"core files go elsewhere: kernel.core_pattern={pattern}")
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if hard == 0:
        pytest.skip("core files are forbidden here: the hard RLIMIT_CORE is 0")
    return ["prlimit", f"--core={'unlimited' if hard == resource.RLIM_INFINITY else hard}:"]


@pytest.fixture(scope="session")
def xmp_programs(user, installation):
    if not (installation.root / "bin" / "xmpcc").exists():
        pytest.skip("xmpcc is not built: Debian's libclang-14-dev or libclang-19-dev is not installed")
    return XmpPrograms(user, installation)


@pytest.fixture
def reader(user, installation, folder):
    return Reader(user, installation, folder)


@pytest.fixture(scope="module")
def root_only():
    if os.geteuid() != 0:
        pytest.skip("hosts are made of namespaces, which needs root: run the tests as root")
    assert not missing_programs(), f"not installed: {missing_programs()}"


@pytest.fixture
def needs_components(nagaya):
    if not list((nagaya.parent.parent / "lib/nagaya").glob("ompi-*")):
        pytest.skip("the components are for Open MPI 4.1 and 5.0, and this system has another release")


@pytest.fixture(scope="module")
def hosts(root_only, user):
    made = Hosts(user, HOSTS)
    yield made
    made.leave()


@pytest.fixture(scope="module")
def front(hosts):
    """The user on the first host, where jobs are started."""
    return hosts.user_on(0)
