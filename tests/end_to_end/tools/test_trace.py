# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya trace` says what waited for whom, in the Trace Event Format that Perfetto reads."""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

# The members that an event of each phase must have, beside "ph", and their types.
MEMBERS = {
    "M": {"name": str, "pid": int, "tid": int, "args": dict},
    "X": {"name": str, "cat": str, "pid": int, "tid": int, "ts": float, "dur": float, "args": dict},
    "i": {"name": str, "cat": str, "pid": int, "tid": int, "ts": float, "s": str},
    "s": {"name": str, "cat": str, "pid": int, "tid": int, "ts": float, "id": str},
    "f": {"name": str, "cat": str, "pid": int, "tid": int, "ts": float, "id": str, "bp": str},
}
LOGS_KIB = 512  # less than the logs of two tasks that record for a while


class Trace:
    def __init__(self, path):
        content = json.loads(path.read_text())
        self.events, self.lost = content["traceEvents"], content["otherData"]["lost_events"]
        for event in self.events:
            for name, kind in MEMBERS[event["ph"]].items():
                value = event[name]
                assert isinstance(value, kind) or (kind is float and isinstance(value, int)), event
            assert event.get("ts", 0) >= 0 and event.get("dur", 0) >= 0, event
        names = [event for event in self.events if event["name"] == "thread_name"]
        self.tasks = {event["tid"]: int(re.match(r"task (\d+)", event["args"]["name"]).group(1))
                      for event in names}
        assert len(names) == len(self.tasks)

    def waits(self, name=None):
        """By task and by the process that it has waited for [us]."""
        sums = collections.defaultdict(lambda: collections.defaultdict(float))
        for event in self.events:
            if event["ph"] == "X" and event["cat"] == "wait" and name in (None, event["name"]):
                sums[self.tasks[event["tid"]]][event["args"].get("for")] += event["dur"]
        return sums

    def expect_waits_for_late_one(self, name, tasks):
        """Each of these tasks has waited longest for task 1."""
        longest = {}
        for event in sorted(self.slices(name), key=lambda event: event["dur"]):
            longest[self.tasks[event["tid"]]] = event
        for task in tasks:
            event = longest[task]
            assert event["args"]["for"] == "task 1" and event["dur"] > 100_000, (task, longest)

    def slices(self, name):
        return [event for event in self.events if event["ph"] == "X" and event["name"] == name]


@pytest.fixture
def traced(user, nagaya, folder):
    """Runs a command under `nagaya trace`. Returns the trace."""
    def run(*command, options=(), code=0):
        told = user.run([nagaya, "trace", "-o", "trace.json", *options, "--", *command], cwd=folder)
        assert told.code == code, told
        return Trace(folder / "trace.json")
    return run


@pytest.mark.parametrize("what", ["late", "pending"])
def test_all_wait_for_the_late_one(nagaya, installation, traced, what):
    trace = traced(nagaya, "run", "-n", 4, installation.program("mpi_observed"), what, 0.4)
    trace.expect_waits_for_late_one("allreduce", {0, 2, 3})


def test_all_wait_for_the_late_one_through_the_face(mpirun, nagaya, installation, traced):
    trace = traced(*mpirun, "-n", 3, nagaya, "exec", installation.program("mpi_observed"), "late", 0.4)
    trace.expect_waits_for_late_one("allreduce", {0, 2})


def test_messages_are_arrows_from_sender_to_receiver(nagaya, installation, traced):
    trace = traced(nagaya, "run", "-n", 4, installation.program("mpi_observed"), "messages", 0.3)
    sent, received = trace.slices("sent"), trace.slices("received")
    assert len(sent) > 100 and len(received) > 100
    partners = {(trace.tasks[event["tid"]], event["args"]["to"]) for event in sent if event["args"]["tag"] == 7}
    assert partners == {(n, f"task {n ^ 1}") for n in range(4)}
    assert {(trace.tasks[event["tid"]], event["args"].get("from")) for event in received
            if event["args"]["tag"] == 7} == partners
    assert all(event["args"]["bytes"] == 8 for event in sent if event["args"]["tag"] == 7)
    if trace.lost:
        return
    begins = {event["id"]: event for event in trace.events if event["ph"] == "s"}
    ends = [event for event in trace.events if event["ph"] == "f"]
    assert len(begins) == len(sent)
    for end in ends:
        assert trace.tasks[begins[end["id"]]["tid"]] != trace.tasks[end["tid"]], end
    # The receiver of a late answer has waited for its sender.
    longest = max(trace.slices("receive"), key=lambda event: event["dur"])
    assert longest["dur"] > 10_000 and longest["args"]["for"] == "task 1" and trace.tasks[longest["tid"]] == 0


def test_a_running_job_for_a_while(user, nagaya, installation, folder, running):
    """The job goes on, and its logs are freed."""
    job = running([nagaya, "run", "-n", 2, installation.program("mpi_observed"), "late", 0], 2)
    told = user.run([nagaya, "trace", "-s", 0.5, "-o", "one.json"], cwd=folder)
    assert told.code == 0 and re.search(r"^nagaya: one\.json: \d+ events of 2 threads in 0\.\d s, 0 lost$", told.err, re.M), told
    assert Trace(folder / "one.json").waits("allreduce")[0]["task 1"] > 100_000
    assert job.poll() is None
    told = user.run([nagaya, "trace", "-s", 0.2, "-o", "two.json"], cwd=folder)
    assert told.code == 0 and Trace(folder / "two.json").waits(), told


def shared_kib(pid):
    return int(re.search(r"RssShmem:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def host_of(user):
    (host,) = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
               if comm_of(pid) == "nagaya-host" and os.stat(f"/proc/{pid}").st_uid == user.uid]
    return host


def comm_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def test_a_killed_reader_leaves_nothing(user, nagaya, installation, folder, running):
    job = running([nagaya, "run", "-n", 2, installation.program("mpi_observed"), "messages", 0], 2)
    host = host_of(user)
    reader = user.start([nagaya, "trace", "-o", "trace.json"], cwd=folder, stderr=subprocess.PIPE)
    wait_until(lambda: shared_kib(host) > LOGS_KIB)
    os.kill(reader.pid, signal.SIGKILL)
    reader.communicate()
    wait_until(lambda: shared_kib(host) < LOGS_KIB)
    assert job.poll() is None


def test_a_killed_task(user, nagaya, installation, folder):
    """Its wait and its end are in the trace, as well as the waits of those that waited for it."""
    trace = user.start([nagaya, "trace", "-o", "trace.json", nagaya, "run", "-n", 3,
                        installation.program("mpi_observed"), "late", 0], cwd=folder,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(3):
        trace.stdout.readline()
    time.sleep(0.3)
    victim = next(task["pid"] for task in tasks_of(user, nagaya) if task["number"] == 1)
    os.kill(victim, signal.SIGKILL)
    trace.communicate(timeout=60)
    assert trace.returncode != 0
    recorded = Trace(folder / "trace.json")
    assert recorded.waits("allreduce")[0]["task 1"] > 50_000
    assert any(event["name"] == "ended" and event["tid"] == victim for event in recorded.events)


def tasks_of(user, nagaya):
    (job,) = json.loads(user.run([nagaya, "ps", "--json"]).out)["jobs"]
    return job["tasks"]


def wait_until(is_so, limit_s=20):
    deadline = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_wait_that_never_ends(user, nagaya, installation, folder, running):
    running([nagaya, "run", "-n", 2, installation.program("mpi_observed"), "stuck", 0], 2)
    assert user.run([nagaya, "trace", "-s", 0.5, "-o", "trace.json"], cwd=folder).code == 0
    (pending,) = [event for event in Trace(folder / "trace.json").events
                  if event["ph"] == "X" and not event["args"]["over"]]
    assert pending["name"] in ("receive", "message") and pending["dur"] > 200_000


def test_native_programs_and_windows(nagaya, installation, traced):
    after_a_while = ["sh", "-c", 'sleep 0.2; exec "$0"']  # a ring is over within milliseconds
    assert traced(nagaya, "run", "-n", 3, *after_a_while, installation.program("ring")).tasks
    trace = traced(nagaya, "run", "-n", 3, installation.program("mpi_window"))
    assert trace.tasks


@pytest.mark.parametrize("words, code, reason", [
    ((), 125, "no job of yours runs on this node"),
    (("-s", 0, "true"), 125, "Value 0 not in range"),
    (("-o", "/no/such/folder/trace.json", "true"), 125, "/no/such/folder/trace.json: No such file or directory"),
    (("/no/such/program",), 127, "/no/such/program: No such file or directory"),
    (("sh", "-c", "exit 7"), 7, "sh has started no job of nagaya: the trace is empty"),
])
def test_nothing_to_record(user, nagaya, folder, words, code, reason):
    told = user.run([nagaya, "trace", *words], cwd=folder)
    assert told.code == code and reason in told.err, told
