# SPDX-License-Identifier: BSD-3-Clause
"""Several hosts on one machine: network, uts, ipc and mount namespaces, joined by a bridge. Each
has a name, /dev/shm and a temporary folder of its own; they share all other files and one pid
namespace, whose end is theirs.

    bridge0 ─┬─ host0n0 (veth) ── eth0 10.77.0.1   first process of host0: its remote shell
             ├─ host1n0 (veth) ── eth0 10.77.0.2   ...
    bridge1 ─┬─ host0n1 (veth) ── eth1 10.77.1.1   with two networks

Tests and benchmarks use the class Hosts. Run as a program (by it) this file is the first process of
all, or the first of one host."""
import contextlib
import copy
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys

import remote_shell
from enclosure import Enclosure, children_of, cover, give_account, reap_orphans
from ordinary_user import pids_of
from remote_shell import shell_of

HOSTS = 3  # of the hosts that all tests of a file share
# Each host counts the machine's processors as its own.
SHARED_PROCESSORS = {"OMPI_MCA_mpi_yield_when_idle": "1"}


class Hosts(Enclosure):
    """Started when made; `leave` ends them with every process in them. `link`: the rate of each
    host's link in both directions as tc has it, for example "1gbit". `shares`: the processors of
    each (processors.py), left with them; otherwise they share all that there are. `networks`: the
    number of network devices of each."""

    def __init__(self, user, count, link=None, shares=(), networks=1):
        self.user = user
        self.names = [name_of(number) for number in range(count)]
        self.shares = shares
        self.in_share = [share.enter() for share in shares] or [[]] * count
        folder = user.new_folder("hosts")
        self.networks = networks
        settings = {"folder": str(folder), "count": count, "link": link, "uid": user.uid,
                    "networks": networks,
                    "in_share": self.in_share,
                    "prefix": user.prefix, "environment": user.environment(),
                    "temporary": str(user.temporary)}
        self.agent = folder / "remote_shell"
        user.new_file(self.agent, pathlib.Path(remote_shell.__file__).read_text(), 0o755)
        super().__init__(folder, __file__, "all", json.dumps(settings))
        self.first_processes = children_of(self.first_process)

    def is_ready(self):
        return all(shell_of(self.folder, name).exists() for name in self.names)

    def launcher_environment(self):
        """Makes Open MPI's mpirun, PRRTE's and hydra's mpiexec use the remote shells."""
        return {"OMPI_MCA_plm": "rsh", "OMPI_MCA_plm_rsh_agent": str(self.agent),
                "OMPI_MCA_oob_tcp_if_include": "eth0", "OMPI_MCA_btl_tcp_if_include": "eth0",
                "PRTE_MCA_plm": "ssh", "PRTE_MCA_plm_ssh_agent": str(self.agent),
                "HYDRA_LAUNCHER": "rsh", "HYDRA_LAUNCHER_EXEC": str(self.agent),
                "HYDRA_IFACE": "eth0"}

    def user_on(self, number):
        """The user, on one of the hosts. A command is the only child of the process that the test
        starts there: `command_of` finds it, to send signals."""
        there = copy.copy(self.user)
        variables = [f"{name}={value}" for name, value in self.launcher_environment().items()]
        there.prefix = [*self.enter(self.first_processes[number], "--ipc", "--pid"),
                        *self.in_share[number],
                        *self.user.prefix, "env", *variables]
        return there

    def cut(self, number):
        """Nothing reaches the host or leaves it any more, until `mend`."""
        self.set_links(number, "down")

    def mend(self, number):
        self.set_links(number, "up")

    def set_links(self, number, state):
        for network in range(self.networks):
            subprocess.run(["nsenter", f"--target={self.first_process}", "--net", "ip", "link", "set",
                            link_of(self.names[number], network), state], check=True)

    def bytes_received(self, number, device):
        """By a network device of a host, since it has been there."""
        lines = pathlib.Path(f"/proc/{self.first_processes[number]}/net/dev").read_text().splitlines()
        [line] = [line for line in lines if line.strip().startswith(f"{device}:")]
        return int(line.split(":")[1].split()[0])

    def pids_on(self, number):
        """Of the user's processes there."""
        place = network_of(self.first_processes[number])
        return [pid for pid in pids_of(self.user.uid) if network_of(pid) == place]

    def leave(self):
        super().leave()
        for share in self.shares:
            share.leave()

    def files_of(self, number):
        """The user's files on this host alone: temporary files and shared memory segments."""
        root = pathlib.Path(f"/proc/{self.first_processes[number]}/root")
        folders = (root / self.user.temporary.relative_to("/"), root / "dev/shm")
        return {str(path.relative_to(root)) for folder in folders for path in folder.rglob("*")
                if not path.is_dir()}


def name_of(number):
    return f"host{number}"


def address_of(number, network=0):
    return f"10.77.{network}.{number + 1}"


def link_of(name, network):
    """The bridge's end of a host's link."""
    return f"{name}n{network}"


def network_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:  # it has ended
        return None


def missing_programs():
    return [name for name in ("ip", "tc", "nsenter", "unshare") if not shutil.which(name)]


def command_of(process):
    [command] = children_of(process.pid)
    return command


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def be_all(settings):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    names = "".join(f"{address_of(number)} {name_of(number)}\n"
                    for number in range(settings["count"]))
    cover("/etc/hosts", "127.0.0.1 localhost\n" + names, settings["folder"])
    give_account(settings["uid"], settings["environment"]["HOME"], settings["folder"])
    ip("link", "set", "lo", "up")
    for network in range(settings["networks"]):
        ip("link", "add", f"bridge{network}", "type", "bridge")
        ip("link", "set", f"bridge{network}", "up")
    for number in range(settings["count"]):
        subprocess.Popen([*settings["in_share"][number], "unshare", "--net", "--uts", "--ipc",
                          "--mount", sys.executable, "-B", __file__, "host",
                          json.dumps({**settings, "number": number})])
    reap_orphans()


def be_host(settings):
    number, name = settings["number"], name_of(settings["number"])
    socket.sethostname(name)
    ip("link", "set", "lo", "up")
    for network in range(settings["networks"]):
        connect_to_bridge(name, network, address_of(number, network), settings["link"])
    be_ordinary()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "shm", "/dev/shm"], check=True)
    own = ["-o", f"mode=700,uid={settings['uid']},gid={settings['uid']}"]
    subprocess.run(["mount", "-t", "tmpfs", *own, "tmp", settings["temporary"]], check=True)
    remote_shell.serve(shell_of(settings["folder"], name), settings["prefix"],
                       settings["environment"], settings["uid"])


def be_ordinary():
    """Linux's own congestion control, whatever this machine's: one that sends by a timer (bbr)
    makes turns of equal work take 3 ms or 5. And ports for many connections."""
    settings = pathlib.Path("/proc/sys/net/ipv4")
    with contextlib.suppress(OSError):  # a kernel without it
        (settings / "tcp_congestion_control").write_text("cubic")
    # Open MPI's tcp binds each connection to a port: 240 ranks take more than the usual 28,000.
    (settings / "ip_local_port_range").write_text("10000 65000")


def connect_to_bridge(name, network, address, rate):
    """The other end of the veth goes where process 1 is, to the bridge."""
    device, other_end = f"eth{network}", link_of(name, network)
    ip("link", "add", device, "type", "veth", "peer", "name", other_end, "netns", "1")
    ip("address", "add", f"{address}/24", "dev", device)
    ip("link", "set", device, "up")
    at_bridge = ["nsenter", "--target=1", "--net"]
    subprocess.run([*at_bridge, "ip", "link", "set", other_end, "master", f"bridge{network}", "up"],
                   check=True)
    if rate:
        for where, end in (([], device), (at_bridge, other_end)):
            subprocess.run([*where, "tc", "qdisc", "add", "dev", end, "root", "tbf", "rate", rate,
                            "burst", "128kb", "latency", "10ms"], check=True)


if __name__ == "__main__":
    {"all": be_all, "host": be_host}[sys.argv[1]](json.loads(sys.argv[2]))
