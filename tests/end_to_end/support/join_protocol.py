# SPDX-License-Identifier: BSD-3-Clause
"""Speaks the join protocol (src/task/host/wire.h) to the host of a job, correctly and wrongly.

The protocol's numbers that may change are read from the headers: a client of another
version would be refused before it could do anything wrong.
"""
import array
import contextlib
import dataclasses
import os
import pathlib
import re
import resource
import socket
import struct
import threading

SOURCE = pathlib.Path(__file__).resolve().parents[3] / "src/task"
HELLO, WELCOME, REFUSED, LAUNCH, STARTED, SIGNAL, ENDED, WAITED = range(8)
FOLLOW, COMMUNICATION, LEFT = range(12, 15)
FRAME = struct.Struct("<IIII")  # magic, type, bytes of payload, descriptors
FRAME_MAGIC = 0x4e414746
STAMP = struct.Struct("<IHHII")  # magic, major, minor, size, reserved
ANY_SIZE = 1 << 24               # at least that of every structure that a stamp heads
DESCRIPTORS_PER_PIECE = 253
LIMITS = 16
NO_LIMIT = (1 << 64) - 1


def constant(header, name):
    text = (SOURCE / header).read_text()
    return int(re.search(rf"\b{name} = (\w+);", text).group(1), 0)


def stamp(major_off=0, magic_off=0, size=ANY_SIZE):
    return STAMP.pack(constant("space/space.h", "kMagic") ^ magic_off,
                      constant("space/space.h", "kAbiMajor") + major_off,
                      constant("space/space.h", "kAbiMinor"), size, 0)


def frame(kind, payload=b"", descriptors=0, size=None, magic=FRAME_MAGIC):
    return FRAME.pack(magic, kind, len(payload) if size is None else size, descriptors) + payload


def hello(key, group=b"strangers", tasks=0, keeps=1, head=None):
    return (head or stamp()) + key + struct.pack("<II", tasks, keeps) + group.ljust(64, b"\0")


def text(data):
    data = os.fsencode(data)
    return struct.pack("<Q", len(data)) + data


def texts(all_of_them):
    return struct.pack("<Q", len(all_of_them)) + b"".join(text(one) for one in all_of_them)


def inheritance(**other):
    """Returns a struct Inheritance (load/freestanding/start.h) with defaults, or the given fields."""
    field = {"cpu_mask_bytes": 0, "policy": 0, "umask": 0o22, "nice": 0, "group": 0,
             "stack_bytes": 8 << 20, **other}
    limits = [(NO_LIMIT, NO_LIMIT)] * LIMITS
    limits[resource.RLIMIT_STACK] = (field["stack_bytes"], NO_LIMIT)
    limits[resource.RLIMIT_CORE] = (0, 0)
    return (bytes(8 + 8 + 128 * 8 + 16 * 8) + b"".join(struct.pack("<QQ", *one) for one in limits)
            + struct.pack("<IiIiiiii", field["cpu_mask_bytes"], field["policy"], field["umask"],
                          field["nice"], 0, 0, 0, field["group"]))


def launch(program, arguments=(), numbers=(0, 1, 2), wanted=-1, stands_for=-1, **inherit):
    name = os.path.basename(program)
    return (text(program) + text(name) + text(name) + texts(arguments) + texts([])
            + inheritance(**inherit) + struct.pack("<qqiQ", wanted, stands_for, -1, len(numbers))
            + struct.pack(f"<{len(numbers)}i", *numbers))


def rights(descriptors):
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]


@dataclasses.dataclass
class Answer:
    kind: int
    payload: bytes

    @property
    def refusal(self):
        assert self.kind == REFUSED, self
        return struct.unpack_from("<q", self.payload)[0], self.payload[16:].decode()


@contextlib.contextmanager
def acting_as(user):
    """Runs the block with the ids of `user`: the host accepts only its own user, and the kernel takes
    a socket's user from the process that connects it."""
    if user.is_other:
        os.setegid(user.uid)
        os.seteuid(user.uid)
    try:
        yield
    finally:
        if user.is_other:
            os.seteuid(0)
            os.setegid(0)


class JoiningClient:
    """A client with one connection. `say` sends whole frames, `send` any bytes."""

    def __init__(self, user, path, limit_s=20):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(limit_s)
        # By way of the folder, as the path may be long.
        folder = os.open(path.parent, os.O_PATH)
        try:
            with acting_as(user):
                self.socket.connect(f"/proc/self/fd/{folder}/{path.name}")
        finally:
            os.close(folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data, descriptors=()):
        if descriptors:
            sent = self.socket.sendmsg([data], rights(descriptors))
            data = data[sent:]
        self.socket.sendall(data)

    def say(self, kind, payload=b"", descriptors=()):
        """Sends a frame as Channel::send of wire.cc does: each batch of descriptors but the last goes
        with one byte."""
        data, left = frame(kind, payload, len(descriptors)), list(descriptors)
        while len(left) > DESCRIPTORS_PER_PIECE:
            self.socket.sendmsg([data[:1]], rights(left[:DESCRIPTORS_PER_PIECE]))
            data, left = data[1:], left[DESCRIPTORS_PER_PIECE:]
        self.send(data, left)

    def greet(self, key, **about):
        self.say(HELLO, hello(key, **about))
        return self.hear()

    def start(self, program, arguments=(), descriptors=(), **about):
        """Launches a task in the root folder with the given descriptors as 0, 1, ..."""
        directory = os.open("/", os.O_PATH)
        try:
            about.setdefault("numbers", range(len(descriptors)))
            self.say(LAUNCH, launch(str(program), arguments, **about), [*descriptors, directory])
            return self.hear()
        finally:
            os.close(directory)

    def hear(self):
        """Returns the host's next message; None when the host has ended the connection."""
        head = self.exactly(FRAME.size)
        if head is None:
            return None
        magic, kind, size, _ = FRAME.unpack(head)
        assert magic == FRAME_MAGIC, head
        return Answer(kind, self.exactly(size))

    def exactly(self, count):
        data = b""
        while len(data) < count:
            try:
                piece = self.socket.recv(count - len(data))
            except ConnectionResetError:
                piece = b""
            if not piece:
                assert not data, "the connection ended in the middle of an answer"
                return None
            data += piece
        return data


def processor_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class FalseHost:
    """Listens at the socket of a job's host, as a process of `user`, and calls `act(connection)` for
    each client. For clients a socket's peer is the process that has called listen(2)."""

    def __init__(self, user, path, act):
        self.path, self.act, self.connections = path, act, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        path.chmod(0o600)
        user.own(path)
        with acting_as(user):
            self.listener.listen(200)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        try:
            while True:
                connection, _ = self.listener.accept()
                self.connections.append(connection)
                self.act(connection)
                while connection.recv(65536):  # descriptors that came along are let go
                    pass
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.path.unlink(missing_ok=True)
