# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm of one node: munged, slurmctld and slurmd, enclosed in namespaces, with
configuration, sockets and accounts of their own. It touches no Slurm of this machine.

The tests use the class Slurm; run as a program (by it) this file is that first process.
"""
import contextlib
import copy
import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

from enclosure import Enclosure, give_account, reap_orphans

CONFIGURATION = """\
ClusterName=nagaya
SlurmctldHost=localhost
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=2
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName=localhost {node}
PartitionName=tests Nodes=localhost Default=YES
"""
DAEMONS = {
    "munged": ["munged", "--foreground", "--force", "--socket={folder}/munge.socket",
               "--key-file={folder}/munge.key", "--pid-file={folder}/munged.pid",
               "--seed-file={folder}/munge.seed", "--log-file={folder}/munged.log"],
    "slurmctld": ["slurmctld", "-D", "-f", "{folder}/slurm.conf"],
    "slurmd": ["slurmd", "-D", "-N", "localhost", "-f", "{folder}/slurm.conf"],
}
# From <linux/sockios.h> and <linux/if.h>.
SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1


class Slurm(Enclosure):
    """Started when made; `leave` ends it with every process in it."""

    def __init__(self, user, folder):
        super().__init__(folder, __file__, folder, user.uid, user.folder)

    def inside(self, *more_kinds):
        """Words before a command that make it see Slurm's network and accounts."""
        return [*self.enter(self.first_process, *more_kinds), "env",
                f"SLURM_CONF={self.folder / 'slurm.conf'}"]

    def user_inside(self, user, *more_kinds):
        """The user, in an allocation of the whole node: job steps in it start at once, jobs of
        their own would wait for the scheduler."""
        inside = copy.copy(user)
        inside.prefix = [*self.inside(*more_kinds), *user.prefix]
        granted = inside.run(["salloc", "--nodes=1", "--exclusive", "--no-shell"])
        assert granted.code == 0, granted
        number = re.search(r"Granted job allocation (\d+)", granted.err).group(1)
        inside.prefix += ["env", f"SLURM_JOB_ID={number}"]
        return inside

    def is_ready(self):
        return (self.folder / "slurm.conf").exists() and self.node_state() == "idle"

    def node_state(self):
        asked = subprocess.run([*self.inside(), "sinfo", "--noheader", "--format=%t"], check=False,
                               capture_output=True, text=True)
        return asked.stdout.strip()


@contextlib.contextmanager
def user_in_slurm(user, *more_kinds):
    """Yields the user in an allocation of a Slurm that is started for it."""
    assert not missing_programs(), f"not installed: {missing_programs()}"
    with tempfile.TemporaryDirectory(prefix="nagaya-slurm-", dir="/run") as folder:
        os.chmod(folder, 0o755)
        slurm = Slurm(user, folder)
        try:
            yield slurm.user_inside(user, *more_kinds)
        finally:
            slurm.leave()


def configure_network():
    """An address besides 127.0.0.1: without one getaddrinfo(AI_ADDRCONFIG), by which the daemons
    find what to listen on, finds nothing. And a name that resolves here: srun gives its host's."""
    socket.sethostname("localhost")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        address = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton("192.0.2.1"))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
        fcntl.ioctl(any_socket, SIOCSIFADDR, struct.pack("16s16s8x", b"lo:1", address))


def node_line():
    """The processors that slurmd finds of this machine: with fewer named it refuses jobs."""
    words = subprocess.run(["slurmd", "-C"], check=True, capture_output=True, text=True).stdout
    return " ".join(word for word in words.splitlines()[0].split()
                    if not word.startswith("NodeName="))


def write_files(folder):
    for name in ("controller", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    conf = folder / "new.conf"
    conf.write_text(CONFIGURATION.format(folder=folder, node=node_line()))
    conf.rename(folder / "slurm.conf")


def be_first_process(folder, uid, home):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    configure_network()
    give_account(uid, home, folder)
    write_files(folder)
    for words in DAEMONS.values():
        subprocess.Popen([word.format(folder=folder) for word in words], stdin=subprocess.DEVNULL)
    reap_orphans()


def missing_programs():
    return [name for name in [*DAEMONS, "srun", "sinfo"] if not shutil.which(name)]


if __name__ == "__main__":
    be_first_process(pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
