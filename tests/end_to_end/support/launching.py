# SPDX-License-Identifier: BSD-3-Clause
"""The launchers that start an MPI program on a node, each in ways that must behave alike: directly,
with `nagaya exec` before the program, and by `nagaya run --launcher mpi`. `nagaya run` itself is one
of them; its ways are ordinary processes and tasks. A new launcher is one entry of LAUNCHERS."""
import contextlib
import dataclasses
import pathlib
import re
import shutil
import signal
import subprocess
import time

RANKS = 2
DIRECT, EXEC, RUN = "direct", "nagaya exec", "nagaya run"
LIMIT_S = 40
# A change of state is awaited for so long; a later one counts as none.
STATE_LIMIT_S = 5.0
INPUT_PIECE = 16384
CRASHES_MAX, INPUT_CRASH = 3, "orte_iof_hnp_read_local_handler"
SIGNALS_APART_S = 0.2  # Open MPI's mpirun loses one that comes right after another


@dataclasses.dataclass(frozen=True)
class Launcher:
    names: tuple  # of the launcher: Debian gives each MPI's a name of its own
    options: tuple  # more ranks than processors; tests run on small machines
    program: str  # linked with an MPI that this launcher serves
    bound: tuple  # options that give each rank a processor of its own
    limited: tuple  # options that end the job after limit_s
    limit_s: int = 2
    limit_environment: tuple = ()
    stoppable: tuple = ()  # options with which its SIGTSTP stops the ranks
    hurried: tuple = ()  # environment: the other ranks of a failed one get no time to end
    ways: tuple = (DIRECT, EXEC)
    in_slurm: bool = False
    is_nagaya: bool = False
    is_second: bool = False  # the same launcher, with another MPI
    slow_input: bool = False  # it fails when a rank reads more slowly than it gets input
    cannot: dict = dataclasses.field(default_factory=dict)  # case: why
    by_turns: dict = dataclasses.field(default_factory=dict)  # case: codes, without any pattern

    def path(self):
        return next(filter(None, map(shutil.which, self.names)), None)

    def inside(self):
        """The way to compare with DIRECT, where one is enough."""
        return EXEC if EXEC in self.ways else RUN


# Hydra's code is the bitwise or of its ranks' codes. When one of them fails it kills the other, and
# which of these deaths it still sees varies from run to run, also without Nagaya.
FAILURES = {"SIGTERM": 15, "SIGINT": 2, "dies of SIGSEGV": 11, "dies of SIGABRT": 6,
            "dies of SIGKILL": 9, "dies of SIGTERM": 15, "ends with 0 without MPI_Finalize": 0,
            "ends with 9 without MPI_Finalize": 9}
KILLED_TOO = (0, 1, int(signal.SIGKILL), int(signal.SIGTERM))


def or_of_ranks(code):
    return {own | other for own in (0, code) for other in KILLED_TOO}


SPAWNS_NOT = "its process manager starts no further processes for MPI_Comm_spawn"
STAYS = "Slurm keeps a job step whose srun was killed"
SRUN = ("--overlap", "--overcommit", "--kill-on-bad-exit=1", "--disable-status")
LAUNCHERS = {
    "srun, Open MPI": Launcher(
        ("srun",), ("--mpi=pmix", *SRUN), "mpi_ending", in_slurm=True, bound=("--cpu-bind=rank",),
        # Slurm counts minutes, and looks every half.
        limited=("--time=1",), limit_s=95,
        cannot={"MPI_Comm_spawn": SPAWNS_NOT, "SIGKILL": STAYS}),
    "srun, MPICH": Launcher(
        ("srun",), ("--mpi=pmi2", *SRUN), "mpich_ending", in_slurm=True,
        bound=("--cpu-bind=rank",), limited=("--time=1",), limit_s=95,
        cannot={"MPI_Comm_spawn": SPAWNS_NOT, "SIGKILL": STAYS}),
    "mpirun": Launcher(
        ("mpirun.openmpi", "mpirun"), ("--oversubscribe",), "mpi_ending", ways=(DIRECT, EXEC, RUN),
        bound=("--bind-to", "core"), limited=("--timeout", "5"),
        stoppable=("--mca", "orte_forward_job_control", "1"),
        hurried=(("OMPI_MCA_odls_base_sigkill_timeout", "0"),),
        slow_input=shutil.which("prterun") is not None,  # sent again: prrte 2220
        cannot={"Ctrl-Z": "Open MPI 4's mpirun passes the stop on and goes on itself"}),
    "hydra": Launcher(
        ("mpiexec.mpich", "mpiexec.hydra"), (), "mpich_ending", ways=(DIRECT, EXEC, RUN),
        bound=("-bind-to", "core"), limited=(), limit_environment=(("MPIEXEC_TIMEOUT", "5"),),
        slow_input=True,
        # At its time limit an assertion fails in the proxy of 4.2, at times: then it says 0.
        by_turns={**{name: or_of_ranks(code) for name, code in FAILURES.items()},
                  "time limit": {0, 255}},
        cannot={"MPI_Comm_spawn": "Debian's MPICH 4.0 (ch4:ucx) fails in it"}),
    **{f"nagaya run, {mpi}": Launcher(
        ("true",), (), program, is_nagaya=True, is_second=mpi == "MPICH", ways=(DIRECT, RUN), bound=("--bind-to", "core"),
        limited=("--timeout", "5"),
        cannot={"SIGKILL": "of ordinary processes, then `nagaya clean` finds the session folder",
                **({"MPI_Comm_spawn": "Debian's MPICH 4.0 (ch4:ucx) fails in it"} if mpi == "MPICH" else {})})
       for mpi, program in (("Open MPI", "mpi_ending"), ("MPICH", "mpich_ending"))},
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A test case: the act of rank 0 (one of mpi_ending.c), and the signals to the launcher."""

    act: tuple
    stdin: bytes = b""
    options: str = ""  # the field of Launcher with the options that this case needs
    signals: tuple = ()  # to the launcher, each once the ranks are ready for it
    ready: int = 0  # so many ranks say "ready" first
    environment: tuple = ()
    shown: str = ""  # the part of the output to compare: launchers mix in words and merge lines


@dataclasses.dataclass
class Outcome:
    code: int
    shown: list
    stopped: list  # after each signal: are all ranks stopped?
    err: str = dataclasses.field(compare=False, default="")


@dataclasses.dataclass
class Launching:
    user: object
    nagaya: pathlib.Path
    launcher: Launcher
    program: pathlib.Path

    def command(self, way, act, options=()):
        options = [*self.launcher.options, *options]
        if self.launcher.is_nagaya:
            words = [self.nagaya, "run", *(["--separate"] if way == DIRECT else []), "-n", RANKS, *options]
        elif way == RUN:
            words = [self.nagaya, "run", "--launcher", "mpi", "-n", RANKS]
            words += [f"--launcher-arg={option}" for option in options]
        else:
            words = [self.launcher.path(), *options, "-n", RANKS]
            words += [self.nagaya, "exec"] if way == EXEC else []
        return [str(word) for word in [*words, self.program, *act]]

    def environment(self, way, case):
        folder = self.user.folder / f"sessions of {way}"
        if not folder.exists():
            self.user.new_folder(folder.name)
        # An mpirun that ends removes the common folder that another is about to use.
        variables = {"OMPI_MCA_orte_tmpdir_base": str(folder), **dict(case.environment)}
        if case.options == "limited":
            variables |= dict(self.launcher.limit_environment)
        elif not case.signals:
            variables |= dict(self.launcher.hurried)
        return variables

    def start(self, way, case):
        options = getattr(self.launcher, case.options) if case.options else ()
        return self.user.start(self.command(way, case.act, options),
                               env=self.environment(way, case), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)

    def outcome(self, way, case, ranks=lambda way: []):
        """Runs the case and returns its outcome. Repeats it if the launcher itself has crashed, by a
        race between the input and a rank's end in Open MPI 4's mpirun."""
        for _ in range(CRASHES_MAX):
            ended = self.outcome_of_one(way, case, ranks)
            if not (ended.code == -signal.SIGSEGV and INPUT_CRASH in ended.err):
                break
        return ended

    def outcome_of_one(self, way, case, ranks):
        job = self.start(way, case)
        try:
            self.await_ready(job, case)
            return self.finish(job, case, lambda: ranks(way))
        finally:
            if job.poll() is None:
                job.send_signal(signal.SIGKILL)
                job.communicate()

    @staticmethod
    def await_ready(job, case):
        said = said_until(job, b"ready", case.ready)
        assert said.count(b"ready") == case.ready, f"ended before it was ready: {said}"
        time.sleep(0.1 * bool(case.ready))  # "ready" is said just before the wait begins

    def finish(self, job, case, ranks, limit_s=LIMIT_S):
        stopped = []
        for number in case.signals:
            job.send_signal(number)
            if len(case.signals) > 1 and number != case.signals[-1]:
                stopped.append(are_stopped(ranks, number == signal.SIGTSTP))
                time.sleep(SIGNALS_APART_S)
        if self.launcher.slow_input:
            feed_in_step(job, case.stdin)
        out, err = job.communicate(None if self.launcher.slow_input else case.stdin, limit_s)
        shown = sorted(re.findall(case.shown, out.decode())) if case.shown else []
        return Outcome(job.returncode, shown, stopped, err.decode(errors="replace"))


def said_until(job, word, count=1):
    """Returns the job's output up to the `count`th `word`, or to its end. Reads byte by byte from an
    unbuffered pipe, so that communicate() gets the rest."""
    said = b""
    while said.count(word) < count and (byte := job.stdout.read(1)):
        said += byte
    return said


def feed_in_step(job, data):
    """Writes each piece of the input once the rank has reported that it has read the last one."""
    with contextlib.suppress(BrokenPipeError):  # it has ended: its outcome says why
        for begin in range(0, len(data), INPUT_PIECE):
            job.stdin.write(data[begin:begin + INPUT_PIECE])
            if begin + INPUT_PIECE <= len(data):
                said_until(job, b"took")
    job.stdin.close()
    job.stdin = None


def are_stopped(ranks, wanted):
    """Returns true if all ranks are stopped. Waits for a while until they are as wanted."""
    deadline = time.monotonic() + STATE_LIMIT_S
    while True:
        now = [state_of(pid) for pid in ranks()]
        assert len(now) == RANKS, now
        if (set(now) == {"T"}) == wanted or time.monotonic() > deadline:
            return set(now) == {"T"}
        time.sleep(0.02)


def state_of(pid):
    stat = pathlib.Path("/proc", str(pid), "stat").read_text()
    return stat.rsplit(") ", 1)[1][0]
