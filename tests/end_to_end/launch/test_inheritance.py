# SPDX-License-Identifier: BSD-3-Clause
"""A task gets from its proxy what a process gets from its parent by exec."""
import pytest

# The parent's settings before it executes the rest of the words.
PARENT = """umask 031; trap '' USR2 HUP; ulimit -n 200; ulimit -s 4096; ulimit -c 0
exec 7</etc/passwd 40>>"$TMPDIR/appended" 9>&-
cd /usr/share; export NAGAYA_TEST_VARIABLE='of the parent'
exec nice -n 3 taskset -c 0 "$@"
"""
# The child prints the settings. The limits on memory are left out: they would count the whole space.
CHILD = """
umask; nice; pwd; echo "$NAGAYA_TEST_VARIABLE"
for limit in -c -f -n -s -u; do echo "limit $limit $(ulimit -S $limit) $(ulimit -H $limit)"; done
readlink /proc/$$/fd/7; readlink /proc/$$/fd/40; readlink /proc/$$/fd/9
head -n 1 <&7; echo appended >&40
grep -E '^(SigIgn|SigBlk|Cpus_allowed_list)' /proc/self/status
echo "to stderr" >&2
"""


@pytest.mark.parametrize("proxy", [["exec"], ["run", "-n", 1], ["exec", "env"],
                                   ["run", "-n", 1, "env"]], ids=["exec", "run", "exec env", "run env"])
def test_a_task_inherits_what_a_process_inherits(user, nagaya, proxy):
    parent = ["bash", "-c", PARENT, "parent"]
    child = ["bash", "-c", CHILD]
    outside = user.run(parent + child)
    assert outside.code == 0 and "/etc/passwd\n" in outside.out, outside
    inside = user.run(parent + [nagaya, *proxy] + child)
    if "run" in proxy:  # gives its tasks the standard streams only
        inside, outside = (lines_without_descriptors(ended) for ended in (inside, outside))
        assert inside == outside
    else:
        assert (inside.code, inside.out, inside.err) == (0, outside.out, outside.err)


def lines_without_descriptors(ended):
    return [line for line in ended.out.splitlines()
            if not line.startswith(("/etc/passwd", "/tmp", "root:")) and "appended" not in line]


@pytest.mark.parametrize("wrapper", [[], ["env"]], ids=["itself", "behind a wrapper"])
def test_descriptors_of_every_kind_keep_their_numbers(user, nagaya, wrapper):
    """As many as shells and launchers leave open, beyond what one message can carry."""
    script = "for n in $(seq 10 310); do eval \"exec $n</dev/null\"; done; exec \"$@\""
    count = "ls /proc/self/fd | wc -l"
    outside = user.run(["bash", "-c", script, "sh", "bash", "-c", count])
    inside = user.run(["bash", "-c", script, "sh", nagaya, "exec", *wrapper, "bash", "-c", count])
    assert int(outside.out) > 300
    assert (inside.code, inside.out) == (0, outside.out), inside


def test_closed_standard_streams_stay_closed(user, nagaya):
    check = "for n in 0 1 2; do test -e /proc/$$/fd/$n && exit $((n + 10)); done; exit 5"
    for proxy in ([], [nagaya, "exec"], [nagaya, "exec", "env"]):
        ended = user.run(["bash", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", *proxy, "bash", "-c", check])
        assert ended.code == 5, (proxy, ended)


# Python code that sets further state which execve hands on; the child says what it has got.
EXECUTIONS = {
    "blocked and pending signals": (
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM}); "
        "os.kill(os.getpid(), signal.SIGUSR1)",
        "print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))); "
        "print(signal.sigwait({signal.SIGUSR1}))"),
    "an alarm": ("signal.alarm(1)", "print('waits', flush=True); time.sleep(60)"),
    "a timer": ("signal.setitimer(signal.ITIMER_REAL, 1)",
                "print('waits', flush=True); time.sleep(60)"),
    "descriptors, but not those that are close-on-exec": (
        "os.set_inheritable(os.dup2(0, 50), True); os.dup2(0, 51, inheritable=False)",
        "print([n for n in range(3, 60) if os.path.exists(f'/proc/self/fd/{n}')])"),
    "session and process group": (
        "os.environ['GROUP'] = f'{os.getpgrp()} {os.getsid(0)}'",
        "print(os.environ['GROUP'] == f'{os.getpgrp()} {os.getsid(0)}')"),
    "an environment of its own": (
        "os.environ.clear(); os.environ['ONLY'] = 'this'",
        "print({name: value for name, value in os.environ.items() if name not in "
        "('GLIBC_TUNABLES', 'LC_CTYPE')})"),
    "a directory": ("os.chdir('/usr/share')", "print(os.getcwd())"),
    "priority, umask and limits": (
        "os.nice(5); os.umask(0o35); resource.setrlimit(resource.RLIMIT_NOFILE, (77, 99))",
        "print(os.nice(0), os.umask(0), resource.getrlimit(resource.RLIMIT_NOFILE))"),
    "scheduling": (
        "os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)); "
        "os.nice(3)", "print(os.sched_getscheduler(0), os.nice(0))"),
    "processors": ("os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})",
                   "print(os.sched_getaffinity(0))"),
}


@pytest.mark.parametrize("name", EXECUTIONS)
def test_a_program_that_a_task_executes_inherits_from_it(user, nagaya, name):
    modules = "import ctypes, os, resource, signal, sys, time\n"
    before, after = EXECUTIONS[name]
    child = modules + "ctypes.CDLL(None).getauxval(0x4e4147) and os.write(2, b'a task')\n" + after
    executes = f"\nos.execv('/usr/bin/python3', ['python3', '-c', {child!r}])"
    words = ["/usr/bin/python3", "-c", modules + before + executes]
    outside = user.run(words)
    inside = user.run([nagaya, "exec", *words])
    assert outside.out and (inside.code, inside.out) == (outside.code, outside.out), (outside, inside)
    assert (outside.err, inside.err) == ("", "a task")


def test_a_program_has_the_io_priority_that_its_wrapper_sets(user, nagaya):
    words = ["ionice", "-c", "2", "-n", "7", "bash", "-c", "ionice -p $$"]
    assert user.run([nagaya, "exec", *words]).out == user.run(words).out == "best-effort: prio 7\n"
