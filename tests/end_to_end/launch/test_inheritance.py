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


@pytest.mark.parametrize("proxy", [["exec"], ["run", "-n", 1]], ids=["exec", "run"])
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


def test_descriptors_of_every_kind_keep_their_numbers(user, nagaya):
    """As many as shells and launchers leave open, beyond what one message can carry."""
    script = "for n in $(seq 10 310); do eval \"exec $n</dev/null\"; done; exec \"$@\""
    count = "ls /proc/self/fd | wc -l"
    outside = user.run(["bash", "-c", script, "sh", "bash", "-c", count])
    inside = user.run(["bash", "-c", script, "sh", nagaya, "exec", "bash", "-c", count])
    assert int(outside.out) > 300
    assert (inside.code, inside.out) == (0, outside.out), inside


def test_closed_standard_streams_stay_closed(user, nagaya):
    check = "for n in 0 1 2; do test -e /proc/$$/fd/$n && exit $((n + 10)); done; exit 5"
    for proxy in ([], [nagaya, "exec"]):
        ended = user.run(["bash", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", *proxy, "bash", "-c", check])
        assert ended.code == 5, (proxy, ended)
