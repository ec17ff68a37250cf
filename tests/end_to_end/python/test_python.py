# SPDX-License-Identifier: BSD-3-Clause
"""The Python package nagaya: arrays of other processes, messages, ends; beside mpi4py; the examples."""
import pathlib

import pytest
from hosts import HOSTS, SHARED_PROCESSORS

TREE = pathlib.Path(__file__).parents[3]
PROGRAMS, EXAMPLES = TREE / "tests/programs/python", TREE / "examples/python"


@pytest.fixture
def run(user, installation, nagaya):
    """Runs a program by tasks. Returns its end and what it has printed."""
    package = installation.root / "lib/python3/dist-packages"

    def start(processes, program, *arguments):
        text = user.copy_if_unreadable(program.parent, [program.name]) / program.name
        return user.run([nagaya, "run", "-n", processes, "python3", "-B", text, *arguments], timeout=120,
                        env={"PYTHONPATH": str(package)})
    return start


@pytest.mark.parametrize("processes", [1, 2, 5])
@pytest.mark.parametrize("program", ["views", "messages", "remote", "together"])
def test_program(run, program, processes):
    done = run(processes, PROGRAMS / f"{program}.py")
    assert done.code == 0 and done.err == "", done
    assert sorted(done.out.splitlines()) == [f"rank {rank}: right" for rank in range(processes)]


def test_without_the_module_in_c(run):
    done = run(3, PROGRAMS / "together.py", "ctypes")
    assert done.code == 0 and done.err == "", done
    assert sorted(done.out.splitlines()) == [f"rank {rank}: right" for rank in range(3)]


@pytest.fixture
def run_on_hosts(hosts, front, installation, nagaya):
    """Runs a program by tasks on all hosts."""
    def start(processes, program, *arguments):
        text = front.copy_if_unreadable(program.parent, [program.name]) / program.name
        return front.run([nagaya, "run", "--hosts", ",".join(hosts.names), "-n", processes, "-x", "PYTHONPATH",
                          "python3", "-B", text, *arguments], timeout=120,
                         env={"PYTHONPATH": str(installation.root / "lib/python3/dist-packages"), **SHARED_PROCESSORS})
    return start


@pytest.mark.parametrize("how", [(), ("ctypes",)])
def test_wrong_arguments_are_refused_in_step(run, how):
    done = run(4, PROGRAMS / "mistakes.py", *how)
    assert done.code == 0, done
    assert sorted(done.out.splitlines()) == [f"rank {rank}: right" for rank in range(4)], done


@pytest.mark.parametrize("program", [pytest.param("messages", marks=pytest.mark.full), "remote", "together", "mistakes"])
def test_over_hosts(run_on_hosts, program):
    done = run_on_hosts(HOSTS + 1, PROGRAMS / f"{program}.py", "hosts")
    assert done.code == 0, done
    assert sorted(done.out.splitlines()) == [f"rank {rank}: right" for rank in range(HOSTS + 1)]


def test_beside_mpi4py(run):
    done = run(3, PROGRAMS / "beside_mpi4py.py")
    assert done.code == 0, done
    assert sorted(done.out.splitlines()) == [f"rank {rank}: right" for rank in range(3)]


def test_owner_ends_early(run):
    done = run(2, PROGRAMS / "endings.py", "early")
    assert (done.code, done.out) == (0, "right\n"), done


def test_forked_child_is_no_task(run):
    done = run(1, PROGRAMS / "endings.py", "forked")
    assert (done.code, done.out, done.err) == (0, "right\n", ""), done


def test_killed_process_ends_the_job(run):
    done = run(3, PROGRAMS / "endings.py", "killed")
    assert done.code == 137 and "task 1" in done.err, done


def test_killed_process_whose_arrays_are_read_ends_the_job(run):
    done = run(4, PROGRAMS / "endings.py", "killed while viewed")
    assert (done.code, done.out) == (137, "") and "task 1" in done.err, done


def test_killed_process_whose_arrays_other_nodes_read_ends_the_job(run_on_hosts):
    done = run_on_hosts(HOSTS + 1, PROGRAMS / "endings.py", "killed while viewed")
    assert done.code != 0 and done.out == "", done


@pytest.mark.full
def test_stubs_say_what_the_package_has(user, installation):
    package = str(installation.root / "lib/python3/dist-packages")
    done = user.run(["python3", "-B", "-m", "mypy.stubtest", "--concise", "nagaya"], timeout=300,
                    env={"PYTHONPATH": package, "MYPYPATH": package})
    assert done.err == "" and not [line for line in done.out.splitlines() if not line.startswith("nagaya._")], done


def test_version_is_that_of_the_command(user, installation, nagaya):
    done = user.run(["python3", "-B", "-c", "import nagaya; print(nagaya.__version__)"],
                    env={"PYTHONPATH": str(installation.root / "lib/python3/dist-packages")})
    assert done.code == 0 and done.out == user.run([nagaya, "--version"]).out, done


def test_package_has_the_module_in_c(user, installation):
    done = user.run(["python3", "-B", "-c", "from nagaya import _library; print(_library.calls.__name__)"],
                    env={"PYTHONPATH": str(installation.root / "lib/python3/dist-packages")})
    assert (done.code, done.out, done.err) == (0, "nagaya._calls\n", ""), done


@pytest.mark.parametrize("variables, cure", [
    ({}, "start it by `nagaya run "),
    ({"NAGAYA_SEPARATE": "1"}, "--separate"),
])
def test_outside_of_a_job(user, installation, variables, cure):
    done = user.run(["python3", "-B", "-c", "import nagaya; print(nagaya.is_task()); nagaya.rank()"],
                    env={"PYTHONPATH": str(installation.root / "lib/python3/dist-packages"), **variables})
    assert done.code == 1 and done.out == "False\n"
    last = done.err.splitlines()[-1]
    assert "NotATask: joining the job: this process is no task of a job: " in last and cure in last, done


@pytest.mark.parametrize("name, expected", [
    ("halo_exchange", "3 processes, heat 1000.000000"),
    ("shared_table", "3 processes, 8000000 bytes once: 499500, 4950000"),
    ("parameter_server", "2 workers, largest error 0.0000")])
def test_example(run, name, expected):
    done = run(3, EXAMPLES / f"{name}.py")
    assert done.code == 0 and done.out.startswith(expected), done
