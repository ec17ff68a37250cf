# SPDX-License-Identifier: BSD-3-Clause
"""The end-to-end tests run real programs as tasks and check their results.

NAGAYA_BUILD names the build tree. NAGAYA_FULL=1 runs the tests marked `full` with every count that
is promised; without it they are left out or run with smaller counts.
"""
import os
import pathlib
import shutil

import pytest
from installation import Installation
from leftovers import Leftovers
from ordinary_user import OrdinaryUser

FULL = os.environ.get("NAGAYA_FULL") == "1"


def pytest_configure(config):
    config.addinivalue_line("markers", "full: takes long; runs with NAGAYA_FULL=1 only")


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
    """Open MPI's, also where another MPI owns the name mpirun. More ranks than processors is what
    these tests always have."""
    launcher = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    assert launcher, "Open MPI is not installed"
    return [launcher, "--oversubscribe"]


@pytest.fixture
def folder(user, request):
    """A new folder of the user's, to be the working directory."""
    return user.new_folder(request.node.originalname.replace("test_", "", 1)[:40])


@pytest.fixture
def data():
    return pathlib.Path(__file__).parent / "data"


@pytest.fixture(autouse=True)
def leftovers(user, installation):
    """What the test leaves behind; cleared after it, so that one failure does not cause others."""
    after = Leftovers(user, installation)
    yield after
    after.clear()
