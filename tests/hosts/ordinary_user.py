# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands as an ordinary user without capabilities, whoever started the tests.

Started as root, commands run under a user id that no account and no process has, so nothing needs
to be created and a job's leftovers are found by their owner. Otherwise they run as the user.
"""
import dataclasses
import os
import pathlib
import pwd
import random
import shutil
import signal
import subprocess
import tempfile

FIRST_FREE_UID, LAST_FREE_UID = 20000, 65000
KILLED_LIMIT_S = 20
SEARCHED_FOLDERS = "/usr/local/bin:/usr/bin:/bin"


@dataclasses.dataclass
class Finished:
    """How a command ended. `code` is negative for death by a signal, as in subprocess."""

    code: int
    out: str
    err: str

    def __str__(self):
        return f"code {self.code}\n--- out\n{self.out[-3000:]}\n--- err\n{self.err[-3000:]}"


def names_of(folder, uid):
    """The entries of a folder that belong to a user; those that vanish meanwhile do not count."""
    for entry in os.scandir(folder):
        try:
            if entry.stat(follow_symlinks=False).st_uid == uid:
                yield entry.name
        except FileNotFoundError:
            pass


def pids_of(uid):
    return [int(name) for name in names_of("/proc", uid) if name.isdigit()]


def owners_of_processes():
    owners = set()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                owners.add(entry.stat().st_uid)
            except FileNotFoundError:
                pass
    return owners


def free_uid(not_of):
    taken = {account.pw_uid for account in pwd.getpwall()} | owners_of_processes()
    taken |= {other.uid for other in not_of}  # they may have no process yet
    # Test runs beside each other, also in pid namespaces that do not see each other, must not meet.
    return random.choice([uid for uid in range(FIRST_FREE_UID, LAST_FREE_UID) if uid not in taken])


class OrdinaryUser:
    def __init__(self, not_of=()):
        self.is_other = os.geteuid() == 0
        self.uid = free_uid(not_of) if self.is_other else os.geteuid()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nagaya-e2e-"))
        self.folder.chmod(0o755)
        self.own(self.folder)
        self.temporary = self.new_folder("tmp")
        self.prefix = []
        if self.is_other:
            self.prefix = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups",
                           "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]

    def own(self, path):
        if self.is_other:
            os.chown(path, self.uid, self.uid)

    def new_folder(self, name):
        """A folder of the user's under its home; a number is appended when the name is taken."""
        for number in range(100000):
            path = self.folder / (name if number == 0 else f"{name}-{number}")
            if not path.exists():
                path.mkdir()
                self.own(path)
                return path
        raise RuntimeError("too many folders")

    def new_file(self, path, content, mode=0o644):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        self.own(path)
        return path

    @property
    def socket_folder(self):
        return self.temporary / f"nagaya-{self.uid}"

    def environment(self, extra=None):
        return {"PATH": SEARCHED_FOLDERS, "HOME": str(self.folder), "TMPDIR": str(self.temporary),
                "LANG": "C", **(extra or {})}

    def start(self, words, cwd=None, env=None, **options):
        """A Popen of the command in a session of its own (so that a signal to the whole group
        cannot reach the tests)."""
        options.setdefault("start_new_session", True)
        return subprocess.Popen(self.prefix + [str(word) for word in words],
                                cwd=str(cwd or self.folder), env=self.environment(env), **options)

    def run(self, words, stdin=b"", timeout=60, cwd=None, env=None):
        process = self.start(words, cwd, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            try:
                out, err = process.communicate(timeout=KILLED_LIMIT_S)
            except subprocess.TimeoutExpired as late:  # others have its output, too: on other hosts
                out, err = late.stdout or b"", late.stderr or b""
            ended = Finished(-signal.SIGKILL, text_of(out), text_of(err))
            raise AssertionError(f"still running after {timeout} s: {words}\n{ended}") from None
        return Finished(process.returncode, text_of(out), text_of(err))

    def can_read(self, path):
        return self.run(["test", "-r", path]).code == 0

    def copy_if_unreadable(self, folder, parts):
        """The folder, or a copy of some of its parts when the user may not read it (a build under
        root's home)."""
        if self.can_read(folder / parts[0]):
            return folder
        target = self.new_folder(folder.name)
        ignored = shutil.ignore_patterns("CMakeFiles", "*.a", "*.o")
        for part in parts:
            # Headers are linked from the sources, which that user may not read either.
            shutil.copytree(folder / part, target / part, symlinks=part != "include", ignore=ignored)
        return target

    def leave(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def text_of(data):
    return data.decode(errors="replace")
