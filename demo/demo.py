#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs unmodified programs as ordinary processes and as tasks of one address space, by turns, and
prints how long they took and how much memory: the median of all rounds and their range. Exits with 1
when a run fails or the two ways have different results."""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import job_memory

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 300
PROCESSES, TASKS = "ordinary processes", "one address space"
# Ranks that wait yield. Shared memory: where libfabric is installed, as Debian does with Open MPI, Open
# MPI may else send messages within the node by TCP (pml cm, mtl ofi).
OPTIONS_OF_MPIRUN = ("--oversubscribe", "--mca", "pml", "ob1")
BEGIN, END = "<!-- demo: begin -->", "<!-- demo: end -->"  # where README.md has the output


class Failed(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Job:
    name: str
    ranks: int
    command: tuple
    result_of: object       # standard output -> ({figure: value}, the text that must be equal)
    options: tuple = ()     # of `nagaya run`
    waits: bool = False     # after its turns, until its standard input ends: its memory is read

    def missing(self):
        """Returns why the job cannot be run here; "" if it can."""
        if not shutil.which(self.command[0]):
            return f"{self.command[0]} is not there"
        if self.name == "python" and subprocess.run(
                [self.command[0], "-c", "import mpi4py, numpy"], capture_output=True,
                check=False).returncode != 0:
            return f"{self.command[0]} has no mpi4py or numpy"
        return ""


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of the table."""
    job: str
    figure: str
    title: str
    unit: str


def lines_of_figures(output):
    """Returns figures and checksum from a program that prints lines of `NAME VALUE`."""
    figures = {words[0]: words[1] for words in map(str.split, output.splitlines()) if len(words) == 2}
    if "check" not in figures:
        raise Failed(f"there is no result:\n{output}")
    check = figures.pop("check")
    return {name: float(value) for name, value in figures.items()}, check


def loop_of_lammps(output):
    """Returns the time of LAMMPS's loop, and its table of energies and pressures."""
    table = re.search(r"^ *Step .*?(?=^Loop time of (\S+))", output, re.M | re.S)
    if not table:
        raise Failed(f"there is no result:\n{output}")
    return {"lammps": float(table.group(1))}, table.group(0)


def jobs_and_rows(programs, ranks, crowd):
    """Returns the jobs: `ranks` ranks of each program, `crowd` of the one whose memory is read."""
    jobs = [
        Job("collectives", crowd, (programs / "collectives",), lines_of_figures, waits=True),
        Job("solve", ranks, (programs / "solve",), lines_of_figures, options=("--blacs",)),
        Job("python", ranks, ("/usr/bin/python3", HERE / "allreduce.py"), lines_of_figures),
        Job("lammps", ranks, ("lmp", "-in", HERE / "melt.in", "-log", "none"), loop_of_lammps),
        Job("few", 2, (programs / "collectives", "--no-turns"), lines_of_figures, waits=True),
    ]
    rows = [
        Row("collectives", "alltoall", f"MPI_Alltoall, 1 MiB a rank, {crowd} ranks", "ms"),
        Row("collectives", "allreduce", f"MPI_Allreduce of 1 MiB, {crowd} ranks", "ms"),
        Row("python", "python", f"Python: mpi4py's Allreduce of 1 MiB, {ranks} ranks", "ms"),
        Row("solve", "pdgesv", f"ScaLAPACK's pdgesv, --blacs, {ranks} ranks", "ms"),
        Row("lammps", "lammps", f"LAMMPS, melt of 32,000 atoms, {ranks} ranks", "s"),
        Row("collectives", "memory", f"memory (Pss) beside the data, {crowd} ranks", "MiB"),
        Row("collectives", "page tables", f"page tables, {crowd} ranks", "MiB"),
        Row("few", "memory", "memory (Pss) beside the data, 2 ranks", "MiB"),
    ]
    return jobs, rows


# ---- one run -----------------------------------------------------------------------------------

def environment():
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # Open MPI's btl ofi is not needed within a node, and with Debian's libfabric it sleeps a second
    # when a process ends.
    without_ofi = {"OMPI_MCA_btl": "^ofi"}
    return {**without_ofi, **os.environ, **one_thread, **(as_root if os.geteuid() == 0 else {})}


def launcher_of(way, job, nagaya, mpirun):
    if way == PROCESSES:
        return [mpirun, *OPTIONS_OF_MPIRUN]
    return [nagaya, "run", *job.options]


def memory_if_readable(launcher):
    """Returns the memory of a job; None if it cannot be read: on Linux before 5.16 /proc/PID of
    tasks belongs to root."""
    try:
        return job_memory.memory_of(launcher)
    except PermissionError:
        return None


def run(words, job):
    """Runs the job. Returns ({figure: value}, result)."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(list(map(str, words)), env=environment(), text=True, stderr=errors,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   start_new_session=True)
        limit = threading.Timer(LIMIT_S, process.terminate)
        limit.start()
        try:
            output, memory = "", None
            while job.waits and not output.endswith("ready\n"):
                line = process.stdout.readline()
                if not line:  # it has ended
                    break
                output += line
            else:
                memory = memory_if_readable(process.pid) if job.waits else None
            output += process.communicate()[0]
        finally:
            limit.cancel()
            if process.poll() is None:
                process.terminate()  # in a session of its own it does not hear Ctrl-C
                process.wait()
        errors.seek(0)
        said = errors.read()
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, words))}\nended with {process.returncode}:\n"
                     + "\n".join((output + said).splitlines()[-15:]))
    figures, result = job.result_of(output)
    if memory:
        figures["memory"], figures["page tables"] = memory
    return figures, result


# ---- all of them -------------------------------------------------------------------------------

class Progress:
    """Shows progress: on a terminal in one line that is rewritten, elsewhere a line for each step."""

    def __init__(self, steps):
        self.steps, self.step, self.begin = steps, 0, time.monotonic()

    def next(self, text):
        self.step += 1
        elapsed_s = time.monotonic() - self.begin
        line = f"[{self.step}/{self.steps}] {elapsed_s:3.0f} s: {text}"
        self.show(f"\r\033[K{line}" if sys.stderr.isatty() else f"{line}\n")

    def clear(self):
        if sys.stderr.isatty():
            self.show("\r\033[K")

    @staticmethod
    def show(text):
        sys.stderr.write(text)
        sys.stderr.flush()


def measure(jobs, rounds, nagaya, mpirun):
    """Returns {(job, way): [figures of each round]}. Each round begins with the other way."""
    progress = Progress(2 * rounds * len(jobs))
    figures, results = {}, {}
    for number in range(rounds):
        for job in jobs:
            for way in (PROCESSES, TASKS) if number % 2 == 0 else (TASKS, PROCESSES):
                progress.next(f"round {number + 1} of {rounds}: {job.name}, {job.ranks} ranks, {way}")
                found, result = run([*launcher_of(way, job, nagaya, mpirun), "-n", job.ranks,
                                     *job.command], job)
                figures.setdefault((job.name, way), []).append(found)
                if results.setdefault(job.name, result) != result:
                    raise Failed(f"{job.name}: the results differ\n{results[job.name]}\n{result}")
    progress.clear()
    return figures


def number_text(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def median_and_range(values, unit):
    return (f"{number_text(statistics.median(values))} {unit} "
            f"[{number_text(min(values))}..{number_text(max(values))}]")


def lines_of_table(rows, figures):
    """Returns the lines for the rows that both ways have."""
    ways = {row: [[found.get(row.figure) for found in figures.get((row.job, way), [{}])]
                  for way in (PROCESSES, TASKS)] for row in rows}
    rows = [row for row in rows if None not in ways[row][0] + ways[row][1]]
    width = max((len(row.title) for row in rows), default=0)
    yield f"{'':{width}} {PROCESSES:>25} {TASKS:>25}   ratio"
    for row in rows:
        ratio = statistics.median(ways[row][1]) / statistics.median(ways[row][0])
        cells = " ".join(f"{median_and_range(values, row.unit):>25}" for values in ways[row])
        yield f"{row.title:{width}} {cells}    {ratio:.2f}"


def processors():
    model = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return f"{len(os.sched_getaffinity(0))} processors ({model.group(1) if model else 'unknown'})"


def lines_of_report(rows, figures, rounds, mpirun):
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True,
                             check=True).stdout.splitlines()[0]
    yield f"{processors()}, Linux {os.uname().release}, {version}"
    yield f"{rounds} rounds by turns: median [least..most]; both ways gave the same results"
    yield (f"{PROCESSES}: mpirun {' '.join(OPTIONS_OF_MPIRUN)} (waiting ranks yield, shared memory)\n"
           f"{TASKS}: nagaya run")
    yield ""
    yield from lines_of_table(rows, figures)
    yield ""
    yield "No gain: as many ranks as processors that mostly compute, HPCC's RandomAccess, one rank a"
    yield "node; a few ranks take more memory, as the last line shows (docs/results/README.md)."


def write_between_marks(path, lines):
    """Writes the lines as a block of code between README's marks, in place of the old block."""
    block = "\n".join([BEGIN, "```", *lines, "```", END])
    text = path.read_text()
    begin, end = text.index(BEGIN), text.index(END) + len(END)
    path.write_text(text[:begin] + block + text[end:])


# ---- the command -------------------------------------------------------------------------------

def options_of(parser):
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build",
                        help="the build folder (default: build beside this folder)")
    parser.add_argument("--rounds", type=int, default=3, help="how often (default: 3)")
    parser.add_argument("--ranks", type=int, default=16, help="of each program (default: 16)")
    parser.add_argument("--crowd", type=int, default=64,
                        help="ranks of the job whose memory is read (default: 64)")
    parser.add_argument("--into", type=pathlib.Path,
                        help="a file, as README.md, that gets the output between its marks")
    options = parser.parse_args()
    if not (options.rounds >= 1 and options.ranks >= 1 and 2 <= options.crowd <= 512):
        parser.error("--rounds and --ranks are at least 1, --crowd is 2 to 512")
    return options


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    options = options_of(parser)
    build = options.build.resolve()
    mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if not mpirun:
        parser.error("there is no mpirun in PATH")
    if not (build / "bin/nagaya").exists():
        parser.error(f"{build} is no build folder: ./dev demo makes one")
    jobs, rows = jobs_and_rows(build / "demo", options.ranks, options.crowd)
    for job in jobs:
        if job.missing():
            print(f"left out: {job.name}: {job.missing()}", flush=True)
    try:
        figures = measure([job for job in jobs if not job.missing()], options.rounds,
                          build / "bin/nagaya", mpirun)
    except Failed as failure:
        print(f"\ndemo: {failure}", file=sys.stderr)
        return 1
    lines = list(lines_of_report(rows, figures, options.rounds, mpirun))
    print("\n".join(lines))
    if options.into:
        write_between_marks(options.into, lines)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: no job is left behind
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
