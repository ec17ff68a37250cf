# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several hosts, by the launchers' own means and by `nagaya run --hosts`: on each host its
tasks share a space, and all ends as the same job of ordinary processes does."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest
from debian_programs import thermo_table
from hosts import HOSTS, SHARED_PROCESSORS, Hosts, command_of, network_of
from launching import DIRECT, EXEC, RUN
from leftovers import describe
from ordinary_user import SEARCHED_FOLDERS
from refusals import OWN_FAILURE, expect_refusal
from slurm import user_in_slurm
from terminal import Terminal

PER_HOST = 2
END_LIMIT_S = 20  # far more than it takes, also on a loaded machine
WAYS = [DIRECT, EXEC, RUN]


@pytest.fixture(scope="module")
def where(root_only, installation):
    return installation.program("where")


@pytest.fixture(scope="module")
def command(hosts, nagaya, mpirun):
    """The words that start a job on the first `count` hosts in one of the ways."""
    def words(way, program, count=HOSTS, slots_each=PER_HOST):
        ranks = ["-n", count * PER_HOST]
        names = slots(hosts.names[:count], slots_each)
        if way == RUN:
            return [nagaya, "run", *ranks, "--hosts", names, *program]
        proxy = [nagaya, "exec"] if way == EXEC else []
        return [*mpirun, *ranks, "--host", names, *proxy, *program]
    return words


def slots(names, each=PER_HOST):
    return ",".join(f"{name}:{each}" for name in names)


@pytest.fixture
def check_nothing_left(hosts, leftovers):
    def check(killed=False):
        left = leftovers.after_limit()
        assert not left.processes, left
        files = {file for number in range(HOSTS) for file in hosts.files_of(number)}
        # Ranks that are killed leave files of Open MPI's behind, tasks or not.
        assert not [file for file in files if not killed or file.endswith(".sock")], files
    return check


def said_by_spaces(names):
    return sorted(f"{name}: task {task} of {PER_HOST}" for name in names
                  for task in range(PER_HOST))


# ---- the hosts themselves ---------------------------------------------------------------------

def test_a_host_has_a_name_files_and_segments_of_its_own(hosts, user):
    for number, name in enumerate(hosts.names):
        there = hosts.user_on(number)
        assert there.run(["hostname"]).out == f"{name}\n"
        there.run(["sh", "-c", f"touch $TMPDIR/{name} /dev/shm/{name}"])
    for number, name in enumerate(hosts.names):
        script = "ls $TMPDIR /dev/shm; rm $TMPDIR/* /dev/shm/*"
        listed = hosts.user_on(number).run(["sh", "-c", script])
        assert re.findall("host.", listed.out) == [name] * 2, listed
    assert not list(user.temporary.glob("host*"))  # jobs of one node have left their sockets' folder


def test_the_remote_shell_runs_a_command_on_the_host_that_is_named(hosts, front):
    ended = front.run([hosts.agent, "host2", "hostname;", "cat;", "exit", "3"], stdin=b"input")
    assert (ended.code, ended.out) == (3, "host2\ninput"), ended
    assert front.run([hosts.agent, "host2", "kill -9 $$"]).code == 128 + signal.SIGKILL
    unknown = front.run([hosts.agent, "host9", "true"])
    assert unknown.code == 255 and "host9" in unknown.err


SENDER = "import socket; socket.create_connection(('host1', 7000), {limit}).sendall(bytes({size}))"
RECEIVER = """
import socket
listener = socket.create_server(('', 7000))
print('ready', flush=True)
while True:
    connection = listener.accept()[0]
    while connection.recv(1 << 20): pass
    print('received', flush=True)
"""


@pytest.fixture
def send():
    """Seconds that bytes take from the first host to the second, None when they do not arrive."""
    receivers = []

    def measure(hosts, size, limit_s):
        if not receivers:
            receivers.append(hosts.user_on(1).start(
                ["python3", "-c", RECEIVER], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL))
            assert receivers[0].stdout.readline() == b"ready\n"
        sender = ["python3", "-c", SENDER.format(limit=limit_s, size=size)]
        started = time.monotonic()
        if hosts.user_on(0).run(sender).code != 0:
            return None
        assert receivers[0].stdout.readline() == b"received\n"
        return time.monotonic() - started
    yield measure
    for receiver in receivers:
        os.killpg(receiver.pid, signal.SIGKILL)
        receiver.wait()


def test_a_cut_link_carries_nothing_until_it_is_mended(hosts, send):
    assert send(hosts, 1000, limit_s=5) is not None
    hosts.cut(1)
    assert send(hosts, 1000, limit_s=0.5) is None
    hosts.mend(1)
    assert send(hosts, 1000, limit_s=5) is not None


def test_a_shaped_link_is_as_slow_as_it_is_said_to_be(root_only, user, send):
    slow = Hosts(user, 2, link="1gbit")
    try:
        size = 50_000_000
        assert send(slow, size, limit_s=5) > 0.9 * size * 8 / 1e9
    finally:
        slow.leave()


def test_hosts_leave_nothing_behind(root_only, user, nagaya, where, leftovers):
    links = set(os.listdir("/sys/class/net"))
    hosts = Hosts(user, 2)
    places = {network_of(pid) for pid in [hosts.first_process, *hosts.first_processes]}
    words = [nagaya, "run", "-n", 4, "--hosts", "host0:2,host1:2", where, "linger"]
    job = hosts.user_on(0).start(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said_until_ready(job, 4)
    hosts.leave()
    job.communicate(timeout=END_LIMIT_S)
    assert not leftovers.after_limit().processes
    assert not places & {network_of(pid) for pid in os.listdir("/proc") if pid.isdigit()}
    assert set(os.listdir("/sys/class/net")) == links
    assert str(user.folder) not in pathlib.Path("/proc/self/mountinfo").read_text()


# ---- jobs that end as they should -------------------------------------------------------------

@pytest.mark.parametrize("count", [2, HOSTS])
@pytest.mark.parametrize("way", WAYS)
def test_the_tasks_of_a_host_share_a_space(hosts, front, command, where, check_nothing_left, way,
                                           count):
    ended = front.run(command(way, [where], count))
    assert ended.code == 0, ended
    names = hosts.names[:count]
    expected = (sorted(f"{name}: no task" for name in names * PER_HOST) if way == DIRECT
                else said_by_spaces(names))
    assert sorted(ended.out.splitlines()) == expected
    check_nothing_left()


def test_hydra_starts_a_space_on_each_host(hosts, front, nagaya, where, check_nothing_left):
    words = ["mpiexec.hydra", "-n", HOSTS * PER_HOST, "-hosts", slots(hosts.names), nagaya, "exec"]
    ended = front.run([*words, where])
    assert sorted(ended.out.splitlines()) == said_by_spaces(hosts.names), ended
    check_nothing_left()


def test_hosts_with_one_folder_of_sockets_have_spaces_of_their_own(hosts, front, mpirun, nagaya,
                                                                   where, folder):
    """As with a TMPDIR that lies on a network file system."""
    words = [*mpirun, "-n", HOSTS * PER_HOST, "--host", slots(hosts.names), "env",
             f"TMPDIR={folder}", nagaya, "exec", where]
    ended = front.run(words)
    assert sorted(ended.out.splitlines()) == said_by_spaces(hosts.names), ended
    assert not list(folder.rglob("*.sock"))


@pytest.mark.parametrize("form", ["{0} slots=2\n\n{2} slots=2 # the last\n", "{0}\n{2}\n"])
def test_a_file_names_the_hosts(hosts, front, nagaya, where, folder, user, form):
    file = user.new_file(folder / "names", form.format(*hosts.names))
    ended = front.run([nagaya, "run", "-n", 4, "--hostfile", file, where])
    assert sorted(ended.out.splitlines()) == said_by_spaces(["host0", "host2"]), ended


def folder_of_links(folder, names):
    for name in names:
        (folder / name).symlink_to(shutil.which(name, path=SEARCHED_FOLDERS))
    return f"PATH={folder}"


def test_without_open_mpi_hydra_starts_programs_without_mpi(hosts, front, nagaya, where, folder):
    only = folder_of_links(folder, ["mpiexec.hydra", "hydra_pmi_proxy", "sh", "python3", "env"])
    words = [nagaya, "run", "-n", 6, "--hosts", slots(hosts.names), where]
    ended = front.run(["env", only, *words])
    assert sorted(ended.out.splitlines()) == said_by_spaces(hosts.names), ended


def test_without_any_launcher_one_line_says_what_to_install(user, nagaya, where, leftovers, folder):
    nowhere = folder_of_links(folder, [])
    ended = user.run(["env", nowhere, nagaya, "run", "--hosts", "host1", where])
    expect_refusal(ended, leftovers, OWN_FAILURE, "install Open MPI or MPICH")


def test_variables_of_nagaya_reach_the_other_hosts(front, nagaya, root_only):
    ended = front.run([nagaya, "run", "--separate", "--hosts", "host1", "sh", "-c",
                       "echo $(hostname) $NAGAYA_TEST"], env={"NAGAYA_TEST": "told"})
    assert ended.out == "host1 told\n", ended


def test_lammps_prints_the_same_thermo_table(front, user, command, folder, data):
    short = (data / "in.melt").read_text().replace("run             200", "run 20")
    user.new_file(folder / "in.melt", short)
    words = ["lmp", "-in", "in.melt", "-log", "none"]
    tables = []
    for way in WAYS:
        ended = front.run(command(way, words), cwd=folder, env=SHARED_PROCESSORS)
        assert ended.code == 0, ended
        tables.append(thermo_table(ended.out))
    assert len(tables[0]) == 2
    assert tables[1] == tables[0] and tables[2] == tables[0]


ACTS = [("exit", 0), ("exit", 3), ("kill", int(signal.SIGSEGV)), ("abort", 7), ("spawn", 2)]


@pytest.mark.parametrize("act", ACTS, ids=lambda act: " ".join(map(str, act)))
def test_an_mpi_job_ends_as_one_of_ordinary_processes(front, command, installation,
                                                      check_nothing_left, act, open_mpi):
    if act[0] == "spawn" and open_mpi >= 5:
        pytest.skip("mpirun itself crashes, without Nagaya too (docs/bugs.md, PMIx)")
    program = installation.program("mpi_ending")
    hurried = {"OMPI_MCA_odls_base_sigkill_timeout": "0", **SHARED_PROCESSORS}
    seen = {}
    for way in WAYS:
        # Open MPI 4 needs free slots for MPI_Comm_spawn on several hosts.
        try:
            ended = front.run(command(way, [program, *act], 2, slots_each=PER_HOST + 1), env=hurried)
        except AssertionError:
            if act[0] == "abort" and open_mpi >= 5:
                pytest.skip("mpirun has not ended an aborted job (docs/bugs.md)")
            raise
        seen[way] = ended.code, re.findall("spawned: .*", ended.out)
    assert len(set(map(str, seen.values()))) == 1, seen
    assert (seen[RUN][0] == 0) == (act in [("exit", 0), ("spawn", 2)]), seen
    assert act[0] != "spawn" or seen[RUN][1] == ["spawned: 6 ranks, sum 15"]
    check_nothing_left(killed=True)


# ---- deaths -----------------------------------------------------------------------------------

def said_until_ready(job, ranks):
    said = []
    while said.count(b"ready\n") < ranks:
        said.append(job.stdout.readline())
        assert said[-1], said
    return said


# Name and program; a daemon's name depends on the version of Open MPI.
ROLES = {"a rank": [("where", "nagaya-host")], "its host": [("nagaya-host",) * 2],
         "Open MPI's daemon": [("orted",) * 2, ("prted",) * 2],
         "hydra's proxy": [("hydra_pmi_proxy",) * 2]}


@pytest.mark.parametrize("role", ROLES)
def test_a_death_on_one_host_ends_the_job_on_all(hosts, front, nagaya, where, leftovers,
                                                 check_nothing_left, role):
    options = ["-n", HOSTS * PER_HOST]
    words = [nagaya, "run", *options, "--hosts", slots(hosts.names)]
    if role == "hydra's proxy":
        words = ["mpiexec.hydra", *options, "-hosts", slots(hosts.names), nagaya, "exec"]
    job = front.start([*words, where, "linger"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said_until_ready(job, HOSTS * PER_HOST)
    victims = [pid for pid in hosts.pids_on(1) if describe(pid) in ROLES[role]]
    os.kill(victims[0], signal.SIGKILL)
    started = time.monotonic()
    job.communicate(timeout=END_LIMIT_S)
    assert job.returncode != 0
    check_nothing_left(killed=True)
    assert time.monotonic() - started < END_LIMIT_S


def test_control_c_ends_the_job_on_all_hosts(front, command, where, check_nothing_left):
    terminals = [Terminal(front, [str(word) for word in command(way, [where, "linger"])])
                 for way in WAYS]
    try:
        for terminal in terminals:
            terminal.await_text("ready", times=HOSTS * PER_HOST)
            terminal.press_control_c()
        codes = [terminal.wait(END_LIMIT_S) for terminal in terminals]
    finally:
        for terminal in terminals:
            terminal.close()
    assert codes[0] == codes[1] == codes[2] != 0, codes
    check_nothing_left(killed=True)


def test_sigterm_to_the_launcher_ends_the_job_on_all_hosts(front, command, where,
                                                           check_nothing_left):
    job = front.start(command(RUN, [where, "linger"]), stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE)
    said_until_ready(job, HOSTS * PER_HOST)
    os.kill(command_of(job), signal.SIGTERM)
    job.communicate(timeout=END_LIMIT_S)
    assert job.returncode != 0
    check_nothing_left(killed=True)


# ---- refusals ---------------------------------------------------------------------------------

# arguments: words that the message must have. FILE stands for one without names.
REFUSED = {
    "--hosts EMPTY": ["--hosts", "empty"],
    "--hosts a,,b": ["a,,b", "empty"],
    "--hosts a,:2": ["a,:2", "empty"],
    "--hosts a --hostfile FILE": ["--hosts", "--hostfile"],
    "--hosts a --launcher none": ["--hosts needs", "--launcher none"],
    "--hostfile nowhere": ["nowhere", "No such file"],
    "--hostfile FILE": ["names no host"],
    "--hostfile FOLDER": ["names no host"],
}


@pytest.mark.parametrize("line", REFUSED)
def test_strange_hosts_are_refused(user, nagaya, leftovers, folder, line):
    file = user.new_file(folder / "empty", "# nobody\n\n")
    meant = {"FILE": file, "FOLDER": folder, "EMPTY": ""}
    words = [meant.get(word, word) for word in line.split()]
    ended = user.run([nagaya, "run", *words, "true"], timeout=20)
    expect_refusal(ended, leftovers, OWN_FAILURE, *REFUSED[line])


def test_an_unknown_host_is_named(front, nagaya, where, installation, check_nothing_left):
    words = [nagaya, "run", "-n", 2, "--hosts", "host0,host9"]
    ended = front.run([*words, where], timeout=20)
    assert ended.code != 0 and "host9" in ended.err, ended
    if installation.has("mpich_ending"):
        ended = front.run([*words, installation.program("mpich_ending"), "exit", 0], timeout=20)
        assert ended.code == OWN_FAILURE and re.match("nagaya: host9: .*\n$", ended.err), ended
    check_nothing_left(killed=True)


def test_an_unreachable_host_ends_the_job(hosts, front, command, where, check_nothing_left):
    hosts.cut(1)
    try:
        ended = front.run(command(RUN, [where], 2), timeout=20)
        assert ended.code != 0, ended
    finally:
        hosts.mend(1)
    check_nothing_left(killed=True)


# ---- Slurm ------------------------------------------------------------------------------------

@pytest.fixture
def slurm_user(root_only, user):
    with user_in_slurm(user, "--pid") as inside:
        yield inside


def test_inside_an_allocation_srun_starts_the_tasks(slurm_user, nagaya, where, leftovers):
    run = ["env", "SLURM_JOB_NODELIST=localhost", nagaya, "run"]  # as salloc's own shell has it
    words = [*run, "-n", PER_HOST, "--hosts", "localhost"]
    ended = slurm_user.run([*words, where])
    assert sorted(ended.out.splitlines()) == said_by_spaces(["localhost"]), ended
    assert slurm_user.run([*words, where, "exit", 3]).code == 3
    unknown = slurm_user.run([*run, "--hosts", "host9", where])
    expect_refusal(unknown, leftovers, OWN_FAILURE, "host9", "allocation")
    assert not leftovers.after_limit().processes
