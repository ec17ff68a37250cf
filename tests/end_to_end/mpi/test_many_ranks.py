# SPDX-License-Identifier: BSD-3-Clause
"""Many Open MPI ranks in one space, within the mappings that a kernel allows by default."""
import pathlib
import re

import pytest

DEFAULT_MAP_COUNT = 65530
START_LIMIT_S = 600


def start_ranks(user, nagaya, mpirun, installation, ranks):
    command = [*mpirun, "--bind-to", "none", "-n", ranks, nagaya, "exec",
               installation.program("mpi_start"), "count"]
    ended = user.run(command, timeout=START_LIMIT_S)
    assert ended.code == 0 and f"met {ranks}\n" in ended.out, ended
    mappings = int(re.search(r"mappings (\d+)", ended.out).group(1))
    print(f"{ranks} ranks: {mappings} mappings, {mappings // ranks} a rank")
    return mappings


@pytest.mark.parametrize("ranks", [16, 128])
def test_ranks_start_within_the_default_map_count(user, nagaya, mpirun, installation, ranks):
    allowed = int(pathlib.Path("/proc/sys/vm/max_map_count").read_text())
    mappings = start_ranks(user, nagaya, mpirun, installation, ranks)
    assert mappings <= min(allowed, DEFAULT_MAP_COUNT)
