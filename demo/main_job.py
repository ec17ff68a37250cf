#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The main job: unmodified Debian programs as tasks of one address space, beside the same run as
ordinary processes. Exits with 1 when a run fails or the results differ."""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from sampler import Sampler, Usage

HERE = pathlib.Path(__file__).resolve().parent
SCALAPACK = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests")
LIMIT_S = 300


@dataclasses.dataclass
class Job:
    title: str
    command: list
    inputs: list        # files to copy into the working directory
    result_of: object   # standard output -> the lines that must be equal
    verdict_of: object  # those lines -> one line for the table


@dataclasses.dataclass
class Run:
    exit_code: int
    wall_s: float
    peak: Usage   # of everything
    ranks: Usage  # without launcher and proxies
    result: list
    output: str


def thermo_table(output):
    """The lines of LAMMPS from `Step ...` to `Loop time`, without the latter."""
    found = re.search(r"^Step .*?(?=^Loop time)", output, re.M | re.S)
    return [line.split() for line in found.group().splitlines()] if found else []


def thermo_verdict(table):
    return f"{len(table) - 1} steps, final energy {table[-1][4]}" if table else "no thermo table"


def tester_rows(output):
    """Each test's sizes, process grid and verdict (the columns between are times), the summary."""
    rows = [line.split() for line in output.splitlines() if line.startswith("WALL")]
    summary = re.findall(r"^\s*(\d+) tests (completed and \w+|skipped)", output, re.M)
    return [row[:8] + row[-1:] for row in rows] + [list(entry) for entry in summary]


def tester_verdict(rows):
    passed = [row[0] for row in rows if row[1:] == ["completed and passed"]]
    failed = [row[0] for row in rows if row[1:] == ["completed and failed"]]
    return f"{passed[0]} passed, {failed[0]} failed" if passed and failed else "no summary"


def jobs():
    return [
        Job("LAMMPS, Lennard-Jones melt of 32,000 atoms",
            ["lmp", "-in", "melt.in", "-log", "none"], [HERE / "melt.in"],
            thermo_table, thermo_verdict),
        Job("ScaLAPACK's tester of the LU factorisation (xdlu)",
            [str(SCALAPACK / "xdlu")], [SCALAPACK / "LU.dat"], tester_rows, tester_verdict),
    ]


def job_environment():
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return environment


def run(nagaya, job, count, separate):
    words = [nagaya, "run"] + (["--separate"] if separate else []) + ["-n", str(count)]
    with tempfile.TemporaryDirectory(prefix="nagaya-demo-") as folder, \
            tempfile.TemporaryFile("w+") as output:
        for file in job.inputs:
            shutil.copy(file, folder)
        begin = time.monotonic()
        process = subprocess.Popen(words + job.command, cwd=folder, env=job_environment(),
                                   stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        sampler = Sampler(process.pid)
        try:
            sampler.run_until(lambda: process.poll() is not None
                              or time.monotonic() - begin > LIMIT_S)
            wall_s = time.monotonic() - begin
        finally:
            if process.poll() is None:
                process.terminate()  # in a session of its own it does not hear Ctrl-C
                process.wait()
        output.seek(0)
        text = output.read()
    return Run(process.returncode, wall_s, sampler.all, sampler.ranks, job.result_of(text), text)


def mib(kib):
    return f"{kib / 1024:.1f} MiB"


def print_table(job, tasks, processes, count):
    rows = [("", "one address space", "ordinary processes"),
            ("result", job.verdict_of(tasks.result), job.verdict_of(processes.result)),
            ("wall time", f"{tasks.wall_s:.2f} s", f"{processes.wall_s:.2f} s")]
    for name, value in (("memory (Pss)", lambda usage: mib(usage.pss_kib)),
                        ("page tables", lambda usage: mib(usage.page_table_kib)),
                        ("mappings", lambda usage: str(usage.mappings))):
        rows.append((name, value(tasks.peak), value(processes.peak)))
        rows.append(("  of the ranks", value(tasks.ranks), value(processes.ranks)))
    rows.append(("address spaces", tasks.peak.spaces, processes.peak.spaces))
    rows.append(("processes", tasks.peak.processes, processes.peak.processes))
    print(f"\n{job.title}: {count} ranks")
    for row in rows:
        print("  {:<16}{:>36}{:>36}".format(*row))


def judge(tasks, processes):
    """'' when both runs succeeded with equal results, else what went wrong."""
    for name, one in (("in one address space", tasks), ("as ordinary processes", processes)):
        if one.exit_code != 0 or not one.result:
            ending = "\n".join(one.output.splitlines()[-15:])
            return f"the run {name} failed with exit code {one.exit_code}:\n{ending}"
    return "" if tasks.result == processes.result else "the results DIFFER"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nagaya", default="nagaya", help="the command (default: from PATH)")
    parser.add_argument("-n", type=int, default=4, help="how many ranks (default: 4)")
    options = parser.parse_args()
    nagaya = shutil.which(options.nagaya)
    if nagaya is None:
        parser.error(f"{options.nagaya}: no such program")
    nagaya = os.path.abspath(nagaya)
    failures = 0
    for job in jobs():
        runs = []
        for separate in (False, True):
            print(f"== {' '.join(job.command)}: {options.n} "
                  f"{'ordinary processes' if separate else 'tasks of one space'} ...", flush=True)
            runs.append(run(nagaya, job, options.n, separate))
        print_table(job, *runs, options.n)
        trouble = judge(*runs)
        failures += trouble != ""
        print(f"  {trouble or 'The results are equal.'}\n", flush=True)
    print("Peaks of sums over all processes of the run. What tasks share (one address space, its page\n"
          "tables and mappings) is counted once. A space also has a host, and a proxy for each rank;\n"
          "\"of the ranks\" leaves out proxies and mpirun. One run each, sampled while it ran: the wall\n"
          "times are an impression; `./dev bench` measures.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
