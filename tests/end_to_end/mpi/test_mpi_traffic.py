# SPDX-License-Identifier: BSD-3-Clause
"""Random messages through pml/nagaya, for ten seconds, with NAGAYA_FULL=1 for two minutes: sizes,
tags, wildcards, probes, cancels, derived types, threads. Every byte is checked, and that the
program's allocated memory does not grow. Three jobs share the processors."""
import os
import signal
import subprocess

import pytest
from conftest import FULL
from hosts import HOSTS, SHARED_PROCESSORS

SECONDS = 120 if FULL else 10
MARGIN_S = 60
pytestmark = pytest.mark.usefixtures("needs_components")


@pytest.fixture
def start(nagaya, installation):
    """A job of `ranks` with `threads` each, and its wanted output."""
    jobs = []

    def start_job(user, ranks, threads, *placement, **variables):
        words = [nagaya, "run", "-n", ranks, *placement, installation.program("mpi_traffic"),
                 SECONDS, 1, threads, "cancels"]
        jobs.append(user.start(words, env={"NAGAYA_MPI": "on", "OMPI_MCA_pml": "nagaya", **variables},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True))
        return jobs[-1], f"traffic of {threads} threads among {ranks}: every byte right\n"
    yield start_job
    for job in jobs:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.communicate()


def test_every_byte_arrives_and_nothing_grows(user, hosts, front, start):
    names = ",".join(f"{name}:2" for name in hosts.names)
    started = [start(user, 4, 1), start(user, 2, 3),
               start(front, 2 * HOSTS, 1, "--hosts", names, **SHARED_PROCESSORS)]
    for job, expected in started:
        out, err = job.communicate(timeout=SECONDS + MARGIN_S)
        assert (job.returncode, out) == (0, expected), (out, err)
