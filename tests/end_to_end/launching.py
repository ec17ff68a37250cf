# SPDX-License-Identifier: BSD-3-Clause
"""The three ways to start an MPI program that must look alike: directly by its mpirun, by mpirun
with `nagaya exec` before the program, and by `nagaya run`."""
import dataclasses
import signal
import subprocess
import time

WAYS = ["mpirun nagaya exec", "nagaya run"]


@dataclasses.dataclass
class Launching:
    user: object
    nagaya: object
    mpirun: list
    program: object

    def command(self, way, ranks, *arguments):
        command = {"mpirun": [*self.mpirun, "-n", ranks],
                   "mpirun nagaya exec": [*self.mpirun, "-n", ranks, self.nagaya, "exec"],
                   "nagaya run": [self.nagaya, "run", "-n", ranks]}[way]
        return [str(word) for word in [*command, self.program, *arguments]]

    def run(self, way, ranks, *arguments, stdin=b""):
        return self.user.run(self.command(way, ranks, *arguments), stdin=stdin)

    def start(self, way, ranks, *arguments):
        return self.user.start(self.command(way, ranks, *arguments), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_and_signal(self, way, ranks, act, number):
        """Starts the job, sends the launcher a signal once all ranks are ready."""
        process = self.start(way, ranks, act)
        try:
            lines = [process.stdout.readline().strip() for _ in range(self.ready_lines(ranks, act))]
            assert set(lines) == {"ready"}, (lines, process.stderr.read())
            time.sleep(0.1)  # "ready" is said just before the wait begins
            process.send_signal(number)
            out, _ = process.communicate(timeout=30)
            return process.returncode, sorted(out.split())
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.communicate()

    @staticmethod
    def ready_lines(ranks, act):
        return ranks if act == "signal" else 1
