# SPDX-License-Identifier: BSD-3-Clause
"""FMPL's functions in C and Fortran, on one host and on several, and a process that is killed in them."""
import time

import pytest
from hosts import SHARED_PROCESSORS

RUN_LIMIT_S = 120
END_LIMIT_S = 5


@pytest.mark.parametrize("tasks", [2, 3, 8])
def test_every_function_does_what_it_says(user, nagaya, installation, tasks):
    ended = user.run([nagaya, "run", "-n", tasks, installation.program("fmpl_checks")],
                     timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, f"all of FMPL among {tasks}\n"), ended


@pytest.mark.parametrize("hosts_count, per_host", [(2, 1), (3, 2)])
def test_it_does_so_over_hosts(hosts, front, nagaya, installation, hosts_count, per_host):
    names = ",".join(f"{name}:{per_host}" for name in hosts.names[:hosts_count])
    tasks = hosts_count * per_host
    ended = front.run([nagaya, "run", "-n", tasks, "--hosts", names,
                       installation.program("fmpl_checks"), "hosts"],
                      env=SHARED_PROCESSORS, timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, f"all of FMPL among {tasks}\n"), ended


def test_a_fortran_program_uses_the_module(user, nagaya, installation):
    ended = user.run([nagaya, "run", "-n", 3, installation.program("fmpl_module")],
                     timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, "Fortran among 3\n"), ended


@pytest.mark.parametrize("rounds", [0, 7, 20])
def test_a_process_that_dies_ends_the_job(user, nagaya, installation, rounds):
    begin = time.monotonic()
    ended = user.run([nagaya, "run", "-n", 3, installation.program("fmpl_checks"), "die", rounds],
                     timeout=RUN_LIMIT_S)
    assert ended.code == 128 + 9 and time.monotonic() - begin < END_LIMIT_S, ended


@pytest.mark.parametrize("launcher", ["nagaya run", "mpirun"])
def test_a_process_that_leaves_while_others_wait_ends_the_job(user, nagaya, mpirun, installation, launcher):
    words = [nagaya, "run", "-n", 3] if launcher == "nagaya run" else [*mpirun, "-n", 3, nagaya, "exec"]
    begin = time.monotonic()
    ended = user.run([*words, installation.program("fmpl_checks"), "leave"], timeout=RUN_LIMIT_S)
    assert ended.code == 1 and time.monotonic() - begin < END_LIMIT_S, ended
    assert "before its end\n" in ended.out, ended
    assert ended.err.count("nagaya: FMPL: rank 2 has ended without fmpl_finalize()\n") == 1, ended


def test_an_exit_handler_may_finalize(user, nagaya, installation):
    ended = user.run([nagaya, "run", "-n", 3, installation.program("fmpl_checks"), "at_exit"],
                     timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out, ended.err) == (0, "", ""), ended
