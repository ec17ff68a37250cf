# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya ps` shows what runs, and its numbers agree with what the tasks do."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest
from known_job import settles

MIB = 1 << 20
TOUCHED_BYTES = 50 * MIB
MANUAL = pathlib.Path(__file__).resolve().parents[3] / "docs" / "man" / "nagaya-ps.1"

# Only task 0 of a native job has standard input: a word on it makes that task different.
ONE_DIFFERS = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  char word[16] = "", *block = NULL;
  int number = 0;
  signal(SIGTERM, SIG_IGN);
  if (scanf("%15s %d", word, &number) == 2 && strcmp(word, "exit") == 0) return number;
  if (strcmp(word, "kill") == 0) kill(getpid(), number);
  if (strcmp(word, "touch") == 0) memset(block = malloc(number), 1, number);
  if (strcmp(word, "spin") == 0) while (clock() < CLOCKS_PER_SEC / 10) continue;
  printf("ready\\n");
  fflush(stdout);
  for (;;) pause();
  free(block);
}
"""


@pytest.fixture(scope="module")
def one_differs(user):
    folder = user.new_folder("one-differs")
    source = user.new_file(folder / "one_differs.c", ONE_DIFFERS)
    subprocess.run(["cc", "-O1", "-fPIE", "-pie", "-o", folder / "one_differs", source], check=True)
    return folder / "one_differs"


@pytest.fixture
def ps(user, nagaya):
    def ask():
        asked = user.run([nagaya, "ps", "--json"])
        assert asked.code == 0 and asked.err == "", asked
        return json.loads(asked.out)
    return ask


def only_job(answer):
    assert len(answer["jobs"]) == 1, answer
    return answer["jobs"][0]


def await_job(ps, condition, limit_s=20):
    """The job once the condition holds; fails with what was last seen."""
    deadline = time.monotonic() + limit_s
    while True:
        answer = ps()
        if len(answer["jobs"]) == 1 and condition(answer["jobs"][0]):
            return answer["jobs"][0]
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)


def keys_of(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def test_without_jobs_it_says_so(user, nagaya, ps):
    asked = user.run([nagaya, "ps"])
    assert (asked.code, asked.out, asked.err) == (0, "no job of yours runs on this node\n", "")
    assert ps()["jobs"] == []


def test_a_job_its_host_launcher_and_tasks_are_shown(nagaya, installation, running, ps):
    program = installation.program("plain_ending")
    launcher = running([nagaya, "run", "-n", 3, program, "linger"], ready=3)
    # "ready" is said just before the wait begins.
    assert settles(lambda: all(task["kernel_state"] == "S" for task in only_job(ps())["tasks"]))
    job = only_job(ps())
    assert (job["launcher_pid"], job["launcher"]) == (launcher.pid, "nagaya")
    assert pathlib.Path("/proc", str(job["host_pid"]), "comm").read_text() == "nagaya-host\n"
    assert job["expected_tasks"] == 3 and pathlib.Path(job["socket"]).stem == job["job"]
    assert [task["number"] for task in job["tasks"]] == [0, 1, 2]
    for task in job["tasks"]:
        assert task["state"] == "running"
        assert task["program"] == str(program)
        assert task["exit_code"] is None and task["signal"] is None
        assert pathlib.Path("/proc", str(task["pid"]), "comm").read_text() == "plain_ending\n"


def test_a_python_is_shown_by_its_command_line(user, nagaya, running, ps):
    """It may run by nagaya-python, which is the program of its task."""
    script = "import time; print('ready', flush=True); time.sleep(60)"
    running([nagaya, "run", "-n", 2, "/usr/bin/python3", "-c", script], ready=2)
    [task, _] = only_job(ps())["tasks"]
    assert task["command"] == f"/usr/bin/python3 -c {script}", task
    shown = user.run([nagaya, "ps"]).out
    assert shown.count(f"/usr/bin/python3 -c {script}\n") == 2, shown


def test_partitions_are_where_the_program_is_mapped(nagaya, installation, running, ps):
    program = installation.program("plain_ending")
    running([nagaya, "run", "-n", 2, program, "linger"], ready=2)
    job = only_job(ps())
    lines = pathlib.Path("/proc", str(job["host_pid"]), "maps").read_text().splitlines()
    mapped = [int(line.split("-")[0], 16) for line in lines if line.endswith(str(program))]
    for task in job["tasks"]:
        home = range(task["home"], task["home"] + task["home_bytes"])
        assert any(address in home for address in mapped), (task, mapped)
    assert abs(job["mappings"] - len(lines)) <= 2


def test_memory_is_counted_for_the_task_that_touched_it(nagaya, one_differs, running, ps):
    running([nagaya, "run", "-n", 3, one_differs], ready=3,
            stdin=f"touch {TOUCHED_BYTES}\n".encode())
    job = only_job(ps())
    touched, *others = [task["pss_bytes"] for task in job["tasks"]]
    assert TOUCHED_BYTES <= touched < TOUCHED_BYTES + 5 * MIB
    assert all(0 < bytes_of < 5 * MIB for bytes_of in others)
    assert sum(others) + touched <= job["pss_bytes"] < TOUCHED_BYTES + 30 * MIB
    # 50 MiB of 4 KiB pages are named by 25 pages of page table (fewer when pages are huge).
    assert 20 << 10 <= job["page_table_bytes"] < 4 * MIB


def test_processor_time_is_counted_for_the_task_that_computed(nagaya, one_differs, running, ps):
    running([nagaya, "run", "-n", 2, one_differs], ready=2, stdin=b"spin 0\n")
    computing, other = [task["cpu_s"] for task in only_job(ps())["tasks"]]
    assert computing >= 0.05 and other < computing


@pytest.mark.parametrize("word, code, number, text", [
    ("exit 0", 0, None, "ended, code 0"), ("exit 3", 3, None, "ended, code 3"),
    (f"kill {int(signal.SIGKILL)}", None, 9, "ended, signal 9")])
def test_an_ended_task_is_shown_with_its_code_or_signal(user, nagaya, one_differs, running, ps,
                                                        word, code, number, text):
    running([nagaya, "run", "-n", 2, one_differs], ready=1, stdin=f"{word}\n".encode(),
            ready_before_input=1)
    job = await_job(ps, lambda job: job["tasks"][0]["state"] == "ended")
    shown = user.run([nagaya, "ps"]).out
    ended = job["tasks"][0]
    assert (ended["exit_code"], ended["signal"]) == (code, number)
    assert ended["kernel_state"] is None and ended["cpu_s"] is None
    assert job["tasks"][1]["state"] == "running"
    assert text in shown, shown


def test_ranks_under_mpirun_are_tasks_of_one_job(nagaya, mpirun, installation, running, ps):
    program = installation.program("mpi_ending")
    launcher = running([*mpirun, "-n", 2, nagaya, "exec", program, "linger"], ready=1)
    job = await_job(ps, lambda job: len(job["tasks"]) == 2)
    assert job["launcher_pid"] == launcher.pid and "run" in job["launcher"]
    assert [task["state"] for task in job["tasks"]] == ["running"] * 2
    assert all(MIB < task["pss_bytes"] < 200 * MIB for task in job["tasks"])
    assert len({task["group"] for task in job["tasks"]}) == 1


def test_lammps_is_shown_while_it_computes(user, nagaya, data, folder, ps):
    script = (data / "in.melt").read_text()
    endless = user.new_file(folder / "in.endless", re.sub(r"(?m)^run\s.*", "run 100000000", script))
    job = user.start([nagaya, "run", "-n", 2, "lmp", "-in", endless, "-log", "none"], cwd=folder,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        seen = await_job(ps, lambda job: len(job["tasks"]) == 2 and
                         all((task["cpu_s"] or 0) > 0.3 for task in job["tasks"]), limit_s=60)
        assert all("lmp" in task["program"] for task in seen["tasks"])
        assert all(3 * MIB < task["pss_bytes"] < 300 * MIB for task in seen["tasks"])
    finally:
        job.terminate()
        job.wait(timeout=30)


def test_two_jobs_are_shown_apart(user, nagaya, installation, running, ps):
    program = installation.program("plain_ending")
    for tasks in (1, 2):
        running([nagaya, "run", "-n", tasks, program, "linger"], ready=tasks)
    assert sorted(len(job["tasks"]) for job in ps()["jobs"]) == [1, 2]
    shown = user.run([nagaya, "ps", "--long"]).out
    assert shown.count("\njob ") + shown.startswith("job ") == 2
    for job in ps()["jobs"]:
        for task in job["tasks"]:
            assert f"{task['home']:x}" in shown and f"{task['range']:x}" in shown


def test_128_tasks_are_shown(nagaya, installation, running, ps):
    running([nagaya, "run", "-n", 128, installation.program("plain_ending"), "linger"], ready=128)
    job = only_job(ps())
    assert [task["number"] for task in job["tasks"]] == list(range(128))
    assert all(task["pss_bytes"] > 0 for task in job["tasks"])


def test_a_stale_socket_is_named_with_its_remedy(user, nagaya, installation, running, ps):
    launcher = running([nagaya, "run", "-n", 1, installation.program("plain_ending"), "linger"],
                       ready=1)
    job = only_job(ps())
    # A launcher or host that survives the other would remove the socket.
    os.kill(job["host_pid"], signal.SIGSTOP)
    launcher.kill()
    os.kill(job["host_pid"], signal.SIGKILL)
    deadline = time.monotonic() + 5
    while not ps()["stale_sockets"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert ps() == {**ps(), "jobs": [], "stale_sockets": [job["socket"]]}
    shown = user.run([nagaya, "ps"])
    assert shown.code == 0 and f"stale socket {job['socket']}" in shown.out
    assert "nagaya clean" in shown.out


def test_a_host_that_does_not_answer_is_named(user, nagaya, installation, running, ps):
    running([nagaya, "run", "-n", 1, installation.program("plain_ending"), "linger"], ready=1)
    job = only_job(ps())
    os.kill(job["host_pid"], signal.SIGSTOP)
    try:
        answer = ps()
        assert answer["jobs"] == [] and answer["stale_sockets"] == []
        silent, = answer["silent_sockets"]
        assert silent["socket"] == job["socket"] and "does not answer" in silent["reason"]
    finally:
        os.kill(job["host_pid"], signal.SIGCONT)


def test_every_json_field_is_in_the_manual_page(nagaya, installation, running, ps):
    running([nagaya, "run", "-n", 1, installation.program("plain_ending"), "linger"], ready=1)
    manual = MANUAL.read_text()
    undocumented = {key for key in keys_of(ps()) if f".It Va {key}\n" not in manual}
    assert not undocumented


HOSTILE = "x\njob $(touch ran): 9 tasks, host 1\r\x1b]0;title\x07\x7f\u009b2J\u202e"


def test_no_name_of_a_program_forges_a_line_or_commands_the_terminal(user, nagaya, installation,
                                                                     running, ps):
    place = user.new_folder(HOSTILE)
    program = place / "a\n   1 31 running.out"
    shutil.copy(installation.program("plain_ending"), program)
    running([nagaya, "run", "-n", 2, program, "linger"], ready=2)
    assert {task["program"] for task in only_job(ps())["tasks"]} == {str(program)}
    said = user.run([nagaya, "ps", "-l"]).out
    assert all(line.isprintable() for line in said.split("\n")), repr(said)
    assert len(re.findall("(?m)^job ", said)) == 1 and said.count("\n") == 5, repr(said)
    shown = str(program).encode()
    for hidden in ("\n", "\r", "\x1b", "\x07", "\x7f", "\u009b", "\u202e"):
        escaped = "".join(f"\\x{byte:02x}" for byte in hidden.encode())
        shown = shown.replace(hidden.encode(), escaped.encode())
    assert shown.decode() in said
    assert user.run([nagaya, "ps", "--json"]).out.isascii()


def test_a_message_about_a_hostile_name_is_one_line(user, nagaya, leftovers):
    for words in (["run", "-n", 2], ["exec"]):
        ended = user.run([nagaya, *words, f"/nowhere/{HOSTILE}"])
        assert ended.code == 127 and len(ended.err.splitlines()) == 1, ended
        assert ended.err.rstrip("\n").isprintable() and "\\x1b]0;title" in ended.err, ended
