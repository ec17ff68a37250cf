# SPDX-License-Identifier: BSD-3-Clause
"""The tutorials where they have commands for a cluster: under Slurm, over several hosts."""
import os

import page
import pytest
from hosts import SHARED_PROCESSORS
from slurm import user_in_slurm
from tutorials import HOSTS, PAGES, SLURM

RUN_LIMIT_S = 120
pytestmark = pytest.mark.full


def pages_of(place):
    return [path for path in PAGES if any(command.place == place for command in page.Page(path).commands)]


@pytest.fixture(scope="module")
def slurm_user(user):
    """The user in an allocation of one node."""
    if os.geteuid() != 0:
        pytest.skip("Slurm's daemons need root: run the tests as root")
    with user_in_slurm(user, "--pid") as inside:
        yield inside


@pytest.mark.parametrize("path", pages_of(SLURM), ids=lambda path: path.stem)
def test_under_slurm(reader, slurm_user, path):
    reader.follow(path, SLURM, slurm_user, {"SLURM_OVERCOMMIT": "1", "SLURM_OVERLAP": "1"}, RUN_LIMIT_S)


@pytest.mark.parametrize("path", pages_of(HOSTS), ids=lambda path: path.stem)
def test_over_hosts(reader, front, hosts, path):
    reader.names_of_hosts = hosts.names
    reader.follow(path, HOSTS, front, SHARED_PROCESSORS, RUN_LIMIT_S)
