# SPDX-License-Identifier: BSD-3-Clause
"""A command with a terminal of its own, to press Ctrl-C: only a real terminal sends SIGINT as the
kernel, to the foreground group."""
import os
import pty
import select
import signal
import subprocess
import time


class Terminal:
    def __init__(self, user, words, cwd=None):
        self.master, slave = pty.openpty()
        user.own(os.ttyname(slave))
        # setsid(1) makes the terminal the controlling one, and execs in place.
        self.process = user.start(["setsid", "--ctty", *words], cwd, stdin=slave, stdout=slave,
                                  stderr=slave, start_new_session=False)
        os.close(slave)
        self.shown = ""

    def await_text(self, text, times=1, limit_s=30):
        deadline = time.monotonic() + limit_s
        while self.shown.count(text) < times:
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} was not shown {times} times:\n{self.shown}"
            if select.select([self.master], [], [], left)[0]:
                self.shown += self.read()

    def read(self):
        try:
            return os.read(self.master, 65536).decode(errors="replace")
        except OSError:  # the other end is closed
            raise AssertionError(f"the command has ended:\n{self.shown}") from None

    def press_control_c(self):
        os.write(self.master, b"\x03")

    def wait(self, limit_s=15):
        try:
            return self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {limit_s} s:\n{self.shown}") from None

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
