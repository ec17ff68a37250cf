# SPDX-License-Identifier: BSD-3-Clause
"""demo/demo.py, which `./dev demo` runs: it runs programs both ways, holds their results against each
other, and reads the memory of a job that waits."""
import importlib.util
import pathlib
import re
import shutil
import subprocess
import time

import pytest

DEMO = pathlib.Path(__file__).resolve().parents[3] / "demo"
LIMIT_S = 300
TICK_S = 0.05
TASKS, EACH_MIB = 3, 64

# Touches memory of its own, says so, and waits for a file.
HOLDER = f"""
import os, time
block = b"x" * ({EACH_MIB} << 20)
print("ready", flush=True)
while not os.path.exists("go"):
    time.sleep(0.01)
"""
# In the place of the program `collectives`.
SCRIPT = """#!/bin/sh
echo "alltoall 1"; echo "allreduce 1"; echo "check {check}"; echo ready
cat >/dev/null
exit {code}
"""


@pytest.fixture
def demo(user, installation, folder):
    """Runs the demo of a copy that the user may read; one round of few ranks."""
    copy = shutil.copytree(DEMO, folder / "demo", ignore=shutil.ignore_patterns("__pycache__"))
    melt = copy / "melt.in"
    user.new_file(melt, re.sub(r"^run .*", "run 20", melt.read_text(), flags=re.M))

    def run(*arguments, build=installation.root):
        return user.run(["/usr/bin/python3", "-B", copy / "demo.py", "--build", build, "--rounds", 1,
                         "--ranks", 2, "--crowd", 4, *arguments], cwd=folder, timeout=LIMIT_S)
    return run


@pytest.fixture
def build_with(user, installation, folder):
    """A build folder whose program `collectives` is a script."""
    def make(**about):
        build = folder / "build"
        (build / "demo").mkdir(parents=True)
        for part in ("bin", "lib", "libexec"):
            (build / part).symlink_to(installation.root / part)
        user.new_file(build / "demo/collectives", SCRIPT.format(**about), 0o755)
        return build
    return make


def test_both_ways_are_a_column_each_and_the_readme_gets_them(demo, user, folder):
    readme = user.new_file(folder / "README.md", "before\n<!-- demo: begin -->\nold\n<!-- demo: end -->\nafter\n")
    done = demo("--into", readme)
    assert done.code == 0, done
    assert "left out" not in done.out, done
    rows = re.findall(r"^(\S.*?) +(\S+ (?:ms|s|MiB)) \[\S+\.\.\S+\] +(\S+ (?:ms|s|MiB)) \[\S+\.\.\S+\] +\S+$",
                      done.out, re.M)
    assert [title for title, *_ in rows] == [
        "MPI_Alltoall, 1 MiB a rank, 4 ranks", "MPI_Allreduce of 1 MiB, 4 ranks",
        "Python: mpi4py's Allreduce of 1 MiB, 2 ranks", "ScaLAPACK's pdgesv, --blacs, 2 ranks",
        "LAMMPS, melt of 32,000 atoms, 2 ranks", "memory (Pss) beside the data, 4 ranks",
        "page tables, 4 ranks", "memory (Pss) beside the data, 2 ranks"], done
    assert "[10/10]" in done.err, done
    assert readme.read_text() == (
        f"before\n<!-- demo: begin -->\n```\n{done.out}```\n<!-- demo: end -->\nafter\n")


@pytest.mark.parametrize("about, said", [
    ({"check": "$PPID", "code": 0}, "the results differ"),
    ({"check": "1", "code": 3}, "ended with 3")])
def test_a_run_that_fails_or_has_other_results_is_no_success(demo, build_with, about, said):
    done = demo(build=build_with(**about))
    assert done.code == 1, done
    assert said in done.err and "ratio" not in done.out, done


def test_programs_that_are_not_there_are_named_and_left_out(demo, build_with):
    done = demo(build=build_with(check="1", code=0))
    assert done.code == 0, done
    assert re.search(r"^left out: solve: .*/demo/solve is not there$", done.out, re.M), done
    assert "pdgesv" not in done.out.split("ratio")[1], done


def test_the_end_of_the_demo_ends_its_job(user, installation, folder, leftovers):
    copy = shutil.copytree(DEMO, folder / "demo", ignore=shutil.ignore_patterns("__pycache__"))
    started = user.start(["/usr/bin/python3", "-B", copy / "demo.py", "--build", installation.root, "--crowd", 4],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + LIMIT_S
    while not any(name == "collectives" for name, _ in leftovers.now().processes.values()):
        assert started.poll() is None and time.monotonic() < deadline
        time.sleep(TICK_S)
    started.terminate()
    started.communicate(timeout=LIMIT_S)
    assert started.returncode == 130
    left = leftovers.after_limit()
    assert not left.processes, left


@pytest.mark.parametrize("way", [[], ["--separate"]])
def test_the_memory_of_tasks_is_counted_once_and_of_no_rank_missed(user, nagaya, folder, way):
    spec = importlib.util.spec_from_file_location("job_memory", DEMO / "job_memory.py")
    job_memory = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(job_memory)
    program = user.new_file(folder / "holder.py", HOLDER)
    job = user.start([nagaya, "run", *way, "-n", TASKS, "/usr/bin/python3", program], cwd=folder,
                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(TASKS):
            assert job.stdout.readline() == "ready\n"
        pss_mib, page_tables_mib = job_memory.memory_of(job.pid)
    finally:
        user.new_file(folder / "go", "")
        job.communicate(timeout=60)
    assert TASKS * EACH_MIB <= pss_mib < (TASKS + 1) * EACH_MIB
    assert 0 < page_tables_mib < EACH_MIB
