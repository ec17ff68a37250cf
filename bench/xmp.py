# SPDX-License-Identifier: BSD-3-Clause
"""XcalableMP: the experiment of Ikei and Sato with Laplace's equation, in the four variants that one
source has; Laplace and Himeno by one process beside serial C; Laplace on so few rows that reflects
dominate, and Himeno, by several tasks; the same over hosts. Serial C and OpenMP ask for huge pages, as
XMP's arrays do.

    XMP       a part of the rows for each process, halos by direct copies inside a node
    messages  the same, all halos as messages
    OpenMP    one process with as many threads
    hybrid    one process on each host with as many threads, XMP between the hosts

The examples are compiled here, by xmpcc and by the compiler that it calls, with the same flags. Every
run checks its field; those of one size must be equal bit for bit. The cost of the shadow: a reflect of
Laplace's rows alone, beside a step."""

import contextlib
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable

import jobs
import machine
from jobs import Comparison, Failed, Job, Jobs, Skipped

EXAMPLES = machine.FOLDER / "xmp"
FLAGS = ["-O3"]
XMP, TRIAD, REFLECT = "XMP", "triad", "reflect"
PRINTED = {"seconds": r"([\d.]+) s,", "triad": r"triad ([\d.]+) GB/s", "reflect": r"([\d.]+) us,",
           "checksum": r"checksum (\w+)"}
HANDED_ON = ("-x", "OMP_NUM_THREADS")  # to other hosts

COUNTS, QUICK_COUNTS = (1, 2, 4, 8, 16), (1, 2)
HOSTS, QUICK_HOSTS = (1, 2, 3, 4), (1, 2)
TASKS_EACH = 2  # or threads, on each of several hosts
ROUNDS, HOSTS_ROUNDS = 5, 3
DOUBLES_PER_POINT = 7  # that a step moves, as the paper counts

# Rows, columns, steps: two fields of 288 MB each, more than the caches of a core's share hold.
LAPLACE, QUICK_LAPLACE = (6000, 6000, 10), (200, 200, 5)
# Weak scaling as in the paper: (N, N), (2N, N), (2N, 2N) on 1, 2, 4 hosts.
WEAK = {1: (1, 1), 2: (2, 1), 4: (2, 2)}
WEAK_N, QUICK_WEAK_N = 3000, 100
HIMENO, QUICK_HIMENO = (128, 128, 256, 10), (32, 32, 64, 3)  # three extents, steps
# Few rows for each task, so that a step is mostly its reflect.
REFLECTED, QUICK_REFLECTED = (66, 10000, 500), (34, 200, 20)
SEVERAL, QUICK_SEVERAL = (2, 4, 8, 16), (2,)
STREAM, QUICK_STREAM = (40_000_000, 5), (100_000, 2)  # elements, rounds


class Compiled:
    """The examples, compiled on demand into a folder that every user may read."""

    def __init__(self, folder: pathlib.Path):
        folder.chmod(0o755)
        self.folder = folder
        self.xmpcc = folder / "bin/xmpcc"
        # Programs find the runtime beside the xmpcc that has made them.
        for part in ("bin", "lib"):
            (folder / part).mkdir()
        shutil.copy2(jobs.ROOT / "bin/xmpcc", self.xmpcc)
        for library in (jobs.ROOT / "lib").glob("libnagaya*.so*"):
            shutil.copy2(library, folder / "lib", follow_symlinks=False)
        shutil.copytree(jobs.ROOT / "include/xmp", folder / "include/xmp")

    def program(self, compiler: str, name: str, folder: pathlib.Path = EXAMPLES, **macros) -> str:
        words = [f"-D{key}={value}" for key, value in macros.items()]
        path = self.folder / "".join([compiler.replace(" ", ""), name, *words])
        if not path.exists():
            driver, *options = compiler.split()
            command = [self.xmpcc if driver == "xmpcc" else driver, *FLAGS, *options, *words,
                       folder / f"{name}.c", "-o", path, "-lm"]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode != 0:
                raise Failed(f"{' '.join(map(str, command))}: {ended.stderr[-1000:]}")
            path.chmod(0o755)
        return str(path)

    def laplace(self, compiler: str, rows: int, columns: int) -> str:
        return self.program(compiler, "laplace", N=rows, M=columns)


@contextlib.contextmanager
def compiled():
    if not (jobs.ROOT / "bin/xmpcc").exists():
        raise Skipped("xmpcc is not built")
    with tempfile.TemporaryDirectory(prefix="nagaya-bench-xmp-") as folder:
        yield Compiled(pathlib.Path(folder))


class Runs:
    """Runs of one plan, whose fields must be equal. `figures`: by name title, unit and the function
    of (job, values that the run has printed) that returns the value; None: the job has no such
    figure."""

    def __init__(self, figures: dict):
        self.figures, self.checksum = figures, None

    def __call__(self, user, job: Job, words: list) -> dict:
        # The options of our own benchmark programs stand between these.
        words = [*words[:words.index(pathlib.Path(job.program)) + 1], *job.arguments]
        printed = values_of(jobs.output_of(user, job, words))
        if "checksum" in printed:
            self.checksum = self.checksum or printed["checksum"]
            if printed["checksum"] != self.checksum:
                raise Failed(f"{job.name} computes another field than the first variant")
        values = {name: value(job.name, printed) for name, (_, _, value) in self.figures.items()}
        return {"figures": {name: {"title": title, "unit": unit, "subject": {"p50": values[name]}}
                            for name, (title, unit, _) in self.figures.items()
                            if values[name] is not None}}


def values_of(output: str) -> dict:
    """Returns the values in a line such as
    "laplace: 9 x 9, 5 steps, 1 nodes: 0.1 s, 0.5 Gflop/s, checksum f3, PASS"."""
    if not output.rstrip().endswith("PASS"):
        raise Failed(f"the result is wrong: {output[-1000:]}")
    found = {name: re.search(pattern, output) for name, pattern in PRINTED.items()}
    return {name: match[1] if name == "checksum" else float(match[1])
            for name, match in found.items() if match}


def step_time(steps: int, title: str = "a step of Laplace") -> tuple:
    def value(_name: str, printed: dict) -> float | None:
        return printed["seconds"] / steps * 1e3 if "seconds" in printed else None
    return title, "ms", value


def time_of_a_double(doubles: int) -> tuple:
    """Returns the figure of the inverse memory bandwidth, of Laplace by XMP and of the triad."""
    def value(name: str, printed: dict) -> float | None:
        if name == TRIAD:
            return 8 / printed["triad"]
        return printed["seconds"] * 1e9 / doubles if name == XMP else None
    return "time of a double, 7 a point and step as the paper counts, or of the triad", "ns", value


def cost_of_shadow(steps: int) -> tuple:
    def value(name: str, printed: dict) -> float | None:
        if name == REFLECT:
            return printed["reflect"] / 1e3
        return printed["seconds"] / steps * 1e3 if name == XMP else None
    return "a reflect alone, beside a step of Laplace", "ms", value


# ---- plans --------------------------------------------------------------------------------------


def variants(programs: Compiled, size: tuple, tasks: int, with_openmp: bool) -> list[Job]:
    """Returns the jobs of Laplace, XMP first."""
    rows, columns, steps = size
    separate = programs.laplace("xmpcc", rows, columns)
    threads = {"OMP_NUM_THREADS": str(tasks), "OMP_PROC_BIND": "false"}

    def job(name: str, program: str, **more) -> Job:
        return Job(name, program=program, arguments=(str(steps),), **more)
    made = [job(XMP, separate),
            job("messages", separate, environment={"NAGAYA_XMP_HALO": "message"}),
            job("hybrid", programs.laplace("xmpcc -fopenmp", rows, columns), environment=threads,
                tasks_each=1, launcher_words=HANDED_ON)]
    if with_openmp:
        made.append(job("OpenMP", programs.laplace("cc -fopenmp", rows, columns), is_plain=True,
                        environment=threads, tasks_each=1))
    return made


def reflect_alone(programs: Compiled, columns: int) -> Job:
    return Job(REFLECT, program=programs.program("xmpcc", "reflect", M=columns))


def against_each_other(made: list[Job]) -> list[Comparison]:
    """Compares XMP with the cheapest of the other jobs, and each of those with XMP."""
    own, *others = (job.name for job in made)
    return [Comparison(own, list(others)), *(Comparison(name, [own]) for name in others)]


def on_one_node(programs: Compiled, size: tuple, stream: tuple, tasks: int) -> Jobs:
    rows, columns, steps = size
    length, stream_rounds = stream
    made = variants(programs, size, tasks, with_openmp=True)
    triad = Job(TRIAD, program=programs.program("xmpcc", "stream", N=length),
                arguments=(str(stream_rounds),))
    doubles = DOUBLES_PER_POINT * (rows - 2) * (columns - 2) * steps
    return Jobs(hosts=1, tasks_each=tasks, setting=f"xmp {tasks}", rounds=ROUNDS,
                jobs=[*made, triad, reflect_alone(programs, columns)],
                comparisons=[*against_each_other(made), Comparison(XMP, floor=[TRIAD]),
                             Comparison(REFLECT, [XMP])],
                measured_by=Runs({"laplace": step_time(steps), "memory": time_of_a_double(doubles),
                                  "shadow": cost_of_shadow(steps)}))


def beside_serial(name: str, programs: Compiled, example: str, steps: int, **macros) -> Jobs:
    """Compares one process with serial C of the same source, compiler and flags."""
    made = [Job(job, program=programs.program(compiler, example, **macros), arguments=(str(steps),),
                is_plain=is_plain)
            for job, compiler, is_plain in ((XMP, "xmpcc", False), ("serial C", "cc", True))]
    return Jobs(hosts=1, setting="xmp serial", rounds=ROUNDS, jobs=made,
                comparisons=[Comparison(XMP, ["serial C"])],
                measured_by=Runs({name: step_time(steps, f"a step of {example}")}))


def reflect_bound(programs: Compiled, size: tuple, tasks: int) -> Jobs:
    made = variants(programs, size, tasks, with_openmp=True)
    return Jobs(hosts=1, tasks_each=tasks, setting=f"xmp reflected {tasks}", rounds=ROUNDS, jobs=made,
                comparisons=against_each_other(made),
                measured_by=Runs({"reflected": step_time(size[2], "a step of Laplace on few rows")}))


def himeno(programs: Compiled, size: tuple, hosts: int, tasks: int) -> Jobs:
    """Himeno on a grid of nodes, by direct copies and by messages."""
    *extents, steps = size
    columns = 2 if hosts * tasks % 2 == 0 and hosts * tasks > 2 else 1
    program = programs.program("xmpcc", "himeno", PJ=columns, **dict(zip(("MI", "MJ", "MK"), extents)))
    made = [Job(XMP, program=program, arguments=(str(steps),)),
            Job("messages", program=program, arguments=(str(steps),),
                environment={"NAGAYA_XMP_HALO": "message"})]
    return Jobs(hosts=hosts, tasks_each=tasks, setting=f"xmp himeno {hosts} {tasks}",
                rounds=ROUNDS if hosts == 1 else HOSTS_ROUNDS, jobs=made,
                comparisons=against_each_other(made),
                measured_by=Runs({"himeno": step_time(steps, "a step of Himeno")}))


def over_hosts(programs: Compiled, kind: str, hosts: int, size: tuple) -> Jobs:
    made = variants(programs, size, TASKS_EACH, with_openmp=False)
    return Jobs(hosts=hosts, tasks_each=TASKS_EACH, setting=f"xmp {kind} {hosts}",
                rounds=HOSTS_ROUNDS, jobs=[*made, reflect_alone(programs, size[1])],
                comparisons=[*against_each_other(made), Comparison(REFLECT, [XMP])],
                measured_by=Runs({"laplace": step_time(size[2]), "shadow": cost_of_shadow(size[2])}))


# ---- benchmarks ---------------------------------------------------------------------------------


def figures_of(make_plans: Callable, quick: bool, rounds: int | None) -> dict:
    with compiled() as programs:
        figures = {}
        for plan in make_plans(programs, quick):
            figures |= jobs.run(plan, "", [], quick, rounds)["figures"]
    return {**machine.of_own_program(), "figures": figures}


def plans_of_a_node(programs: Compiled, quick: bool) -> list[Jobs]:
    laplace = QUICK_LAPLACE if quick else LAPLACE
    size = QUICK_HIMENO if quick else HIMENO
    reflected = QUICK_REFLECTED if quick else REFLECTED
    several = QUICK_SEVERAL if quick else SEVERAL
    stream = QUICK_STREAM if quick else STREAM
    rows, columns, steps = laplace
    return [
        beside_serial("laplace", programs, "laplace", steps, N=rows, M=columns),
        beside_serial("himeno", programs, "himeno", size[3],
                      **dict(zip(("MI", "MJ", "MK"), size))),
        *(reflect_bound(programs, reflected, tasks) for tasks in several),
        *(himeno(programs, size, 1, tasks) for tasks in several),
        *(on_one_node(programs, laplace, stream, tasks)
          for tasks in (QUICK_COUNTS if quick else COUNTS))]


def plans_of_hosts(programs: Compiled, quick: bool) -> list[Jobs]:
    laplace = QUICK_LAPLACE if quick else LAPLACE
    counts = QUICK_HOSTS if quick else HOSTS
    unit = QUICK_WEAK_N if quick else WEAK_N
    strong = [over_hosts(programs, "strong", hosts, laplace) for hosts in counts]
    weak = [over_hosts(programs, "weak", hosts, (unit * rows, unit * columns, laplace[2]))
            for hosts, (rows, columns) in WEAK.items() if hosts in counts]
    size = QUICK_HIMENO if quick else HIMENO
    reflected = QUICK_REFLECTED if quick else REFLECTED
    others = [plan for hosts in counts for plan in (
        over_hosts(programs, "reflected", hosts, reflected), himeno(programs, size, hosts, TASKS_EACH))]
    return strong + weak + others


def run(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    return figures_of(plans_of_a_node, quick, rounds)


def run_hosts(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    return figures_of(plans_of_hosts, quick, rounds)
