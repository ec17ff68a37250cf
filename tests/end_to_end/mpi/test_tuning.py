# SPDX-License-Identifier: BSD-3-Clause
"""Tables of NAGAYA_TUNING: collectives are right under any, a job has one, and `nagaya bench tune`
writes one that jobs take."""
import signal
import subprocess

import pytest

from hosts import SHARED_PROCESSORS

MEASURED = ("posted_max_bytes", "combined_max_bytes", "crowded_reduce_max_bytes", "tile_bytes")
NAMES = (*MEASURED, "exchanged_max_bytes", "alltoall_by_leaders_max_bytes")
MOST = 1 << 16
NOT_OURS = "Open MPI's own transports"  # said by a job that has no table to take
pytestmark = pytest.mark.usefixtures("needs_components")


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    path.chmod(0o644)
    return path


def two_of(hosts):
    return ",".join(f"{name}:2" for name in hosts.names[:2])


@pytest.fixture
def run(user, nagaya, folder, installation):
    def run_job(*words, **variables):
        return user.run([nagaya, "run", "-n", 3, *words], cwd=folder, timeout=120,
                        env={"NAGAYA_MPI": "on", **variables})
    return run_job


@pytest.fixture
def mpirun(user, mpirun):
    """One that starts several programs as one job."""
    if user.run([*mpirun, "-n", 1, "true", ":", "-n", 1, "true"]).code == -signal.SIGSEGV:
        pytest.skip("mpirun itself crashes when it is given several programs (docs/bugs.md)")
    return mpirun


@pytest.fixture
def two_tables(mpirun, nagaya, folder, installation):
    """The words of a job of two ranks, each started with such options, of which one has a table."""
    table = write(folder, "machine.tuning", "tile_bytes 4096\n")

    def words_of(options):
        tables = ["NAGAYA_MPI=on"], ["NAGAYA_MPI=on", f"NAGAYA_TUNING={table}"]
        parts = [["-n", 1, *own, *(word for variable in variables for word in ("-x", variable)),
                  nagaya, "exec", installation.program("mpi_collectives"), 1, 1]
                 for own, variables in zip(options, tables)]
        return [*mpirun, *parts[0], ":", *parts[1]]
    return words_of


@pytest.mark.parametrize("value", [0, 100, MOST])
def test_collectives_are_right_whatever_the_table_says(run, folder, installation, value):
    table = write(folder, "machine.tuning", "".join(f"{name} {value}\n" for name in NAMES))
    ended = run(installation.program("mpi_collectives"), 100, 5, NAGAYA_TUNING=str(table))
    assert (ended.code, ended.out) == (0, "100 rounds among 3\n"), ended
    assert NOT_OURS not in ended.err, ended


def test_large_teams_go_by_levels(user, nagaya, folder, installation):
    """As on a node with a processor for each rank."""
    table = write(folder, "machine.tuning",
                  "large_team_min_members 2\nlarge_team_members_per_processor 64\n")
    ended = user.run([nagaya, "run", "-n", 19, installation.program("mpi_collectives"), 20, 3],
                     cwd=folder, timeout=120,
                     env={"NAGAYA_MPI": "on", "NAGAYA_TUNING": str(table),
                          "OMPI_MCA_coll_base_verbose": "20"})
    assert (ended.code, ended.out) == (0, "20 rounds among 19\n"), ended.out
    for kind in ("barrier", "reduce", "allreduce", "scan"):
        assert any(f": {kind}, " in line and line.endswith("recursive multiplying")
                   for line in ended.err.splitlines()), kind


@pytest.mark.parametrize("value", [0, MOST])
def test_collectives_over_hosts_are_right_whatever_the_table_says(hosts, front, installation, folder,
                                                                  nagaya, value):
    table = write(folder, "machine.tuning", "".join(f"{name} {value}\n" for name in NAMES))
    ended = front.run([nagaya, "run", "-n", 4, "--hosts", two_of(hosts),
                       installation.program("mpi_collectives"), 60, 7], timeout=120,
                      env={"NAGAYA_MPI": "on", "NAGAYA_TUNING": str(table), **SHARED_PROCESSORS})
    assert (ended.code, ended.out) == (0, "60 rounds among 4\n"), ended
    assert NOT_OURS not in ended.err, ended


def test_two_tables_on_two_hosts_are_said_and_not_used(hosts, front, two_tables):
    ended = front.run(two_tables([["--host", f"{name}:1"] for name in hosts.names[:2]]),
                      timeout=120, env=SHARED_PROCESSORS)
    assert ended.code == 0, ended
    assert "different tuning tables" in ended.err, ended


def test_a_malformed_table_is_said_and_not_used(run, folder, installation):
    """The job takes Open MPI's own transports, as it does when anything else of ours is wrong."""
    table = write(folder, "machine.tuning", "tile_bytes 8192\nposted 1\n")
    ended = run(installation.program("mpi_collectives"), "mild", 1, 1, NAGAYA_TUNING=str(table))
    assert ended.code == 0
    assert f"{table}: line 2: unknown name posted; known:" in ended.err, ended


def test_a_job_with_two_tables_ends_with_one_clear_line(user, two_tables):
    ended = user.run(two_tables([[], []]), timeout=120)
    assert ended.code != 0
    assert "different tuning tables" in ended.err, ended


def test_bench_tune_writes_a_table_that_jobs_take(nagaya, run, folder, installation, tmp_path):
    written = tmp_path / "nagaya.tuning"
    subprocess.run([nagaya, "bench", "tune", "--quick", "--out", written], check=True,
                   capture_output=True, timeout=300)
    text = written.read_text()
    assert all(f"\n{name} " in text for name in MEASURED), text
    table = write(folder, "nagaya.tuning", text)
    ended = run(installation.program("mpi_collectives"), 20, 1, NAGAYA_TUNING=str(table))
    assert ended.code == 0 and NOT_OURS not in ended.err, ended


@pytest.mark.parametrize("tables", [("", "missing"), ("", "", "one"), ("one", "", "missing")])
def test_every_rank_hears_of_a_host_with_another_table_or_none(hosts, front, mpirun, nagaya, folder,
                                                               installation, tables):
    """Two ranks on each of two hosts: those of the second one have a table each if three are named."""
    write(folder, "one", "tile_bytes 4096\n")
    ranks = [(0, 2), (1, 2)] if len(tables) == 2 else [(0, 2), (1, 1), (1, 1)]
    parts = [["-n", count, "--host", f"{hosts.names[host]}:2", "-x", "NAGAYA_MPI=on",
              "-x", f"NAGAYA_TUNING={folder / table if table else ''}",
              nagaya, "exec", installation.program("mpi_collectives"), 1, 1]
             for (host, count), table in zip(ranks, tables)]
    words = [word for part in parts for word in (":", *part)]
    ended = front.run([*mpirun, *words[1:]], timeout=60, env=SHARED_PROCESSORS)
    said = ended.err.count("different tuning tables") + ended.err.count("cannot be read")
    assert ended.code == 0 and said == 4, ended


def test_a_program_without_mpi_fails_in_each_process_if_there_are_two_tables(user, mpirun, nagaya,
                                                                             folder, installation):
    """mpirun, too, would end the job at the first one that ends with an error."""
    table = write(folder, "machine.tuning", "tile_bytes 4096\n")
    parts = [["-n", 1, "sh", "-c", 'NAGAYA_TUNING=$0 "$@"; echo "ended with $?"', name,
              nagaya, "exec", installation.program("fmpl_checks")] for name in ("", table)]
    ended = user.run([*mpirun, *parts[0], ":", *parts[1]], timeout=60)
    assert (ended.code, ended.out) == (0, "ended with 1\n" * 2), ended
