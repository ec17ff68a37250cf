#!/usr/bin/env -S python3 -IS
# SPDX-License-Identifier: BSD-3-Clause
"""A remote shell among the hosts of hosts.py: they share their files, so a socket in this file's
folder stands for each. Launchers call a copy of this file as they call rsh: HOST COMMAND..."""
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys

STATUS = struct.Struct("i")  # as subprocess has it
LOST = 255  # as rsh and ssh return when the connection fails
COMMAND_BYTES_MAX = 1 << 20


def shell_of(folder, host):
    return pathlib.Path(folder) / f"{host}.shell"


def serve(path, prefix, environment, uid):
    """A process for each command; the caller passes it standard input, output and error."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    unfinished = path.with_suffix(".new")
    listener.bind(str(unfinished))
    listener.listen()
    os.chown(unfinished, uid, -1)
    unfinished.rename(path)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for these processes
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            answer(connection, prefix, environment)
            os._exit(0)
        connection.close()


def answer(connection, prefix, environment):
    command, files, _, _ = socket.recv_fds(connection, COMMAND_BYTES_MAX, 3)
    ended = subprocess.run([*prefix, "sh", "-c", command.decode()], check=False, stdin=files[0],
                           stdout=files[1], stderr=files[2], cwd=environment["HOME"],
                           env=environment, start_new_session=True)
    connection.sendall(STATUS.pack(ended.returncode))


def ask(host, command):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(shell_of(pathlib.Path(__file__).parent, host)))
    except OSError as error:
        print(f"{host}: no such host ({error.strerror})", file=sys.stderr)
        return LOST
    socket.send_fds(connection, [command.encode()], [0, 1, 2])
    status = connection.recv(STATUS.size)
    if not status:
        return LOST
    code = STATUS.unpack(status)[0]
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(ask(sys.argv[1], " ".join(sys.argv[2:])))
