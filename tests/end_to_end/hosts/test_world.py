# SPDX-License-Identifier: BSD-3-Clause
"""How the processes of a job find each other (nagaya/comm.h), by every launcher, and the errors
that they get when one of them cannot take part or dies."""
import shutil
import subprocess
import time

import pytest
from hosts import HOSTS, SHARED_PROCESSORS, Hosts

# Says "RANK: what" for each of its words: a step, and its wanted answer (0 if nothing is said).
PROGRAM = """
import ctypes, glob, os, sys, time
nagaya = ctypes.CDLL(sys.argv[1])
for name in ("rank", "size", "nodes", "rank_of"):
    getattr(nagaya, f"nagaya_comm_{name}").restype = ctypes.c_int64
nagaya.nagaya_error_text.restype = ctypes.c_char_p

class Process(ctypes.Structure):
    _fields_ = [("node", ctypes.c_uint32), ("task", ctypes.c_uint32)]

def mpi():
    return ctypes.CDLL("libmpich.so.12", mode=ctypes.RTLD_GLOBAL)

def translated():
    process = Process()
    for rank in range(nagaya.nagaya_comm_size()):
        if nagaya.nagaya_comm_process(ctypes.c_int64(rank), ctypes.byref(process)) != 0: return 1
        if nagaya.nagaya_comm_rank_of(process) != rank: return 2
        if rank == nagaya.nagaya_comm_rank() and process.task != nagaya.nagaya_task_self(): return 4
    process.node += 1
    return 0 if nagaya.nagaya_comm_rank_of(process) < 0 else 3

def gathered():
    own = ctypes.c_int64(nagaya.nagaya_comm_rank())
    everybody = (ctypes.c_int64 * nagaya.nagaya_comm_size())()
    if nagaya.nagaya_comm_allgather(ctypes.byref(own), 8, everybody) != 0: return 1
    return 0 if list(everybody) == list(range(len(everybody))) else 2

def show():
    os.close(os.open(f"moved on {os.getpid()}", os.O_CREAT, 0o600))
    return 0

def wait_for_all_others():
    while len(glob.glob("moved on *")) < int(os.environ["OTHERS"]): time.sleep(0.01)
    return 0

STEPS = {"show": show, "await": wait_for_all_others, "init": nagaya.nagaya_comm_init, "barrier": nagaya.nagaya_comm_barrier,
         "finalize": nagaya.nagaya_comm_finalize, "translated": translated, "gathered": gathered,
         "MPI_Init": lambda: mpi().MPI_Init(None, None), "MPI_Finalize": lambda: mpi().MPI_Finalize()}
for word in sys.argv[2:]:
    step, _, only = word.partition("@")
    if only and int(only) != nagaya.nagaya_comm_rank() and int(only) != nagaya.nagaya_task_self():
        continue
    if step == "leave": os._exit(0)
    code = STEPS[step]()
    text = nagaya.nagaya_error_text().decode() if code and step in ("init", "barrier") else ""
    os.write(1, f"{step} {code} {text}\\n".encode())
os.write(1, f"of {nagaya.nagaya_comm_size()} on {nagaya.nagaya_comm_nodes()}\\n".encode())
"""
EACH = 2  # tasks on each host
LAUNCHERS = ["mpirun", "hydra"]
OWNER_DEAD = -130
OFTEN = ["init", "translated", "gathered", "barrier"]
NOTICED_S = 15


@pytest.fixture
def program(installation, user, folder):
    file = user.new_file(folder / "program.py", PROGRAM)
    return ["/usr/bin/python3", file, installation.root / "lib" / "libnagaya.so.0"]


@pytest.fixture
def native(nagaya, program):
    return [nagaya, "run", "--launcher", "none", "-n", 3, *program]


@pytest.fixture
def on_hosts(hosts, nagaya, mpirun, program):
    """The words that start the program on all hosts by a launcher, behind a prefix."""
    names = ",".join(f"{name}:{EACH}" for name in hosts.names)
    launchers = {"mpirun": [*mpirun, "--host", names], "hydra": ["mpiexec.hydra", "-hosts", names]}

    def words(launcher, *prefix):
        return [*launchers[launcher], "-n", HOSTS * EACH, *prefix, nagaya, "exec", *program]
    return words


def said(step, code=0):
    return f"{step} {code} "


def expect_all(ended, steps, size, nodes):
    assert ended.code == 0, ended  # hydra: the session is closed at exit
    lines = ended.out.splitlines()
    for step in set(steps):
        assert lines.count(said(step)) == size * steps.count(step), ended
    assert lines.count(f"of {size} on {nodes}") == size, ended


def test_ranks_and_processes_translate_both_ways_on_one_node(user, native):
    expect_all(user.run([*native, *OFTEN]), OFTEN, 3, 1)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_ranks_and_processes_translate_both_ways_on_several_nodes(front, on_hosts, launcher):
    ended = front.run([*on_hosts(launcher), *OFTEN], env=SHARED_PROCESSORS)
    expect_all(ended, OFTEN, HOSTS * EACH, HOSTS)


@pytest.fixture
def twins(root_only, user):
    """Two hosts of one name, as clones of one image may be."""
    made = Hosts(user, 2)
    for first_process in made.first_processes:
        subprocess.run(["nsenter", f"--target={first_process}", "--uts", "hostname", "twin"],
                       check=True)
    yield made
    made.leave()


def test_nodes_of_one_name_are_two(twins, mpirun, nagaya, program):
    """And of one launcher, whose secret they share: each space has an identity of its own."""
    names = ",".join(f"{name}:{EACH}" for name in twins.names)
    words = [*mpirun, "--host", names, "-n", 2 * EACH, nagaya, "exec", *program, *OFTEN]
    expect_all(twins.user_on(0).run(words, env=SHARED_PROCESSORS), OFTEN, 2 * EACH, 2)


AGAIN = [*OFTEN, "finalize", *OFTEN]


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_program_may_come_back_after_finalize(front, on_hosts, launcher):
    ended = front.run([*on_hosts(launcher), *AGAIN], env=SHARED_PROCESSORS)
    expect_all(ended, AGAIN, HOSTS * EACH, HOSTS)


# ---- PMI-1, together with MPICH ---------------------------------------------------------------

ORDERS = {"before MPI": ["init", "MPI_Init", "gathered", "finalize", "MPI_Finalize"],
          "within MPI": ["MPI_Init", "init", "gathered", "finalize", "MPI_Finalize"],
          "after MPI": ["init", "MPI_Init", "MPI_Finalize", "gathered", "finalize"]}


@pytest.mark.parametrize("order", ORDERS)
def test_mpich_and_nagaya_share_the_launchers_connection(front, on_hosts, order):
    if not shutil.which("mpicc.mpich"):
        pytest.skip("MPICH's library is not installed (Debian: libmpich-dev)")
    ended = front.run([*on_hosts("hydra"), *ORDERS[order]],
                      env={"UCX_TLS": "tcp,self", "FI_PROVIDER": "tcp"})
    assert ended.code == 0, ended
    assert ended.out.splitlines().count(said("gathered")) == HOSTS * EACH, ended


# By the step that fails: steps, of which one before it ends the launcher's session.
TOO_LATE = {"MPI_Init": ["init", "finalize", "MPI_Init"],
            "init": ["MPI_Init", "MPI_Finalize", "init"]}


@pytest.mark.parametrize("step", TOO_LATE)
def test_after_the_launchers_connection_is_closed_nobody_can_start(front, on_hosts, step):
    if not shutil.which("mpicc.mpich"):
        pytest.skip("MPICH's library is not installed (Debian: libmpich-dev)")
    ended = front.run([*on_hosts("hydra"), *TOO_LATE[step]], env={"FI_PROVIDER": "tcp"})
    assert said(step) not in ended.out.splitlines(), ended
    assert step == "MPI_Init" or "MPI_Finalize has closed" in ended.out, ended


# ---- failures ---------------------------------------------------------------------------------

def test_a_task_that_ends_before_init_is_named_to_the_others(user, native):
    started = time.monotonic()
    ended = user.run([*native, "leave@1", "init"])
    assert time.monotonic() - started < NOTICED_S
    assert ended.out.count(f"init {OWNER_DEAD} task 1 has ended") == 2, ended


@pytest.mark.parametrize("step", ["barrier", "finalize", "gathered"])
def test_a_task_that_leaves_without_finalize_is_an_error_at_the_others(user, native, step):
    started = time.monotonic()
    ended = user.run([*native, "init", "leave@1", step, "barrier"])
    assert time.monotonic() - started < NOTICED_S
    later = f"{OWNER_DEAD} rank 1 has ended" if step != "finalize" else "-3 the last"  # ESRCH
    assert ended.out.count(f"barrier {later}") >= 2, ended


def test_a_task_that_leaves_is_an_error_on_all_nodes(front, on_hosts, open_mpi):
    if open_mpi >= 5:
        pytest.skip("its mpirun sees a process leave behind any wrapper, and ends the job")
    # mpirun ends a job of which a process leaves without a word: it must not see that it has left.
    outlived = ["sh", "-c", '"$@"; sleep 4', "sh"]
    ended = front.run([*on_hosts("mpirun", *outlived), "init", "barrier", "leave@3", "barrier",
                       "barrier"],
                      env=SHARED_PROCESSORS, timeout=40)
    assert ended.out.count(f"barrier {OWNER_DEAD} rank 3 has ended") == 2 * (HOSTS * EACH - 1), ended


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_node_without_a_network_is_named_on_all_nodes(front, on_hosts, launcher, user, folder):
    """Only the second host is told to use a provider that does not exist."""
    script = '[ "$(hostname)" = host1 ] && export FI_PROVIDER=nonsense; exec "$@"'
    choose = ["sh", user.new_file(folder / "choose.sh", script)]
    started = time.monotonic()
    ended = front.run([*on_hosts(launcher, *choose), "init"], env=SHARED_PROCESSORS)
    assert time.monotonic() - started < NOTICED_S
    lines = [line for line in ended.out.splitlines() if line.startswith("init -")]
    assert len(lines) == HOSTS * EACH and all("nonsense" in line for line in lines), ended


def later_programs(nagaya, program, size, waiting, first, later):
    """A shell script: the ranks `waiting` stay in their first program until the later programs of
    all others have come. All leave time to see that the first have ended."""
    words = " ".join(map(str, [nagaya, "exec", *program]))
    return f"""case " {" ".join(map(str, waiting))} " in
        *" $OMPI_COMM_WORLD_RANK "*)
            OTHERS={size - len(waiting)} {words} {first} await && sleep 0.5 && {words} {later} ;;
        *) {words} {first} && sleep 0.5 && {words} show {later} ;;
        esac"""


def test_the_next_programs_of_the_launched_processes_are_a_world_of_their_own(
        user, nagaya, mpirun, program, folder):
    all_steps = "init translated gathered barrier finalize"
    script = later_programs(nagaya, program, 3, [1], all_steps, all_steps)
    ended = user.run([*mpirun, "-n", 3, "sh", "-c", script], cwd=folder)
    steps = sorted(line for line in ended.out.splitlines() if not line.startswith("of "))
    wanted = 6 * [f"{step} 0 " for step in all_steps.split()] + 2 * ["show 0 "] + ["await 0 "]
    assert ended.code == 0 and steps == sorted(wanted), ended


def test_a_first_program_need_not_look_for_the_others(user, nagaya, mpirun, program, folder):
    script = later_programs(nagaya, program, 3, [1], "", "init gathered")
    ended = user.run([*mpirun, "-n", 3, "sh", "-c", script], cwd=folder)
    assert ended.code == 0 and ended.out.splitlines().count(said("gathered")) == 3, ended


def test_in_a_folder_that_others_can_write_no_program_is_marked(
        front, hosts, user, nagaya, mpirun, program, folder):
    """A stranger's file there would keep the job from its world."""
    shared = folder / "shared"
    shared.mkdir()
    user.own(shared)
    shared.chmod(0o777)
    names = ",".join(f"{name}:{EACH}" for name in hosts.names)
    words = ["env", f"PMIX_SERVER_TMPDIR={shared}", nagaya, "exec", *program, "init", "barrier"]
    ended = front.run([*mpirun, "--host", names, "-n", EACH * HOSTS, *words], env=SHARED_PROCESSORS)
    expect_all(ended, ["init", "barrier"], EACH * HOSTS, HOSTS)
    assert not list(shared.iterdir())


@pytest.mark.parametrize("kept_hosts", range(HOSTS + 1))
def test_over_several_hosts_all_are_told_that_a_later_program_has_no_world(
        front, hosts, nagaya, mpirun, program, folder, kept_hosts):
    """Whether the space of their node is still there, or has ended."""
    waiting = [EACH * host + EACH - 1 for host in range(kept_hosts)]
    names = ",".join(f"{name}:{EACH}" for name in hosts.names)
    script = later_programs(nagaya, program, EACH * HOSTS, waiting, "init finalize", "init")
    ended = front.run([*mpirun, "--host", names, "-n", EACH * HOSTS, "sh", "-c", script], cwd=folder,
                      env=SHARED_PROCESSORS)
    told = [line for line in ended.out.splitlines() if line.startswith("init -17")]
    assert len(told) == EACH * HOSTS, ended
    assert all("an earlier program of this launched process" in line for line in told), ended
