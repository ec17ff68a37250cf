# SPDX-License-Identifier: BSD-3-Clause
"""All kinds of requests at once, from all threads of all tasks to all tasks. In the end every task
finds in its memory what the others have put there, by checksum. NAGAYA_FULL=1: 10^7 operations,
20 GB, between four hosts."""
import re

import pytest
from conftest import FULL
from hosts import SHARED_PROCESSORS, Hosts

TASKS, THREADS, HOSTS = 8, 2, 4
OPERATIONS, OPERATIONS_FULL = 320_000, 10_000_000  # of all threads
BYTES_FULL = 20_000_000_000
LIMIT_S, LIMIT_FULL_S = 60, 1500


@pytest.fixture(scope="module")
def four_hosts(root_only, user):
    made = Hosts(user, HOSTS)
    yield made
    made.leave()


def settings(operations, threads, **more):
    each = operations // (TASKS * threads)
    words = {"operations": each, "threads": threads, **more}
    return [f"{name}={value}" for name, value in words.items()]


def sums(said):
    """Of all tasks: requests accepted, errors, bytes."""
    lines = re.findall(r"operations done: (\d+) accepted, all completed, (\d+) errors, (\d+) bytes",
                       said)
    return [sum(map(int, column)) for column in zip(*lines)]


def check(ended, operations, leftovers):
    assert ended.code == 0, ended
    assert ended.out.count("verified\n") == TASKS, ended
    accepted, errors, _ = sums(ended.out)
    assert (accepted, errors) == (operations, 0), ended
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left


@pytest.mark.parametrize("threads", [1, 4])
def test_tasks_of_one_node_find_what_the_others_have_put_there(user, nagaya, installation,
                                                              leftovers, threads):
    ended = user.run([nagaya, "run", "-n", TASKS, installation.program("mixed_operations"),
                      *settings(OPERATIONS, threads)])
    check(ended, OPERATIONS, leftovers)


@pytest.mark.parametrize("delegatees", ["1", "2"])
def test_tasks_of_four_hosts_find_what_the_others_have_put_there(four_hosts, nagaya, installation,
                                                                leftovers, delegatees):
    operations = OPERATIONS_FULL if FULL else OPERATIONS
    ended = four_hosts.user_on(0).run(
        [nagaya, "run", "--hosts", ",".join(four_hosts.names), "-n", TASKS,
         installation.program("mixed_operations"), *settings(operations, THREADS)],
        env={**SHARED_PROCESSORS, "NAGAYA_DELEGATEES": delegatees},
        timeout=LIMIT_FULL_S if FULL else LIMIT_S)
    check(ended, operations, leftovers)
    assert not FULL or sums(ended.out)[2] >= BYTES_FULL, ended


@pytest.fixture(scope="module")
def hosts_with_two_networks(root_only, user):
    made = Hosts(user, 2, networks=2)
    yield made
    made.leave()


DEVICES = ["eth0", "eth1"]


def run_with(hosts, nagaya, installation, variables):
    return hosts.user_on(0).run(
        [nagaya, "run", "--hosts", ",".join(hosts.names), "-n", TASKS,
         installation.program("mixed_operations"), *settings(OPERATIONS, THREADS)],
        env={**SHARED_PROCESSORS, **variables}, timeout=LIMIT_S)


def test_the_delegatees_use_all_network_devices_that_are_named(hosts_with_two_networks, nagaya,
                                                               installation, leftovers):
    hosts = hosts_with_two_networks
    before = [hosts.bytes_received(1, device) for device in DEVICES]
    ended = run_with(hosts, nagaya, installation, {"NAGAYA_NETWORK_DEVICES": ",".join(DEVICES)})
    check(ended, OPERATIONS, leftovers)
    grown = [hosts.bytes_received(1, device) - count for device, count in zip(DEVICES, before)]
    assert min(grown) > 0.2 * sum(grown), grown


def test_the_second_network_device_alone_can_be_named(hosts_with_two_networks, nagaya, installation,
                                                      leftovers):
    hosts = hosts_with_two_networks
    before = [hosts.bytes_received(1, device) for device in DEVICES]
    ended = run_with(hosts, nagaya, installation, {"NAGAYA_NETWORK_DEVICES": "eth1"})
    check(ended, OPERATIONS, leftovers)
    grown = [hosts.bytes_received(1, device) - count for device, count in zip(DEVICES, before)]
    assert grown[0] < 0.1 * grown[1], grown


def test_a_network_device_that_is_not_there_is_said(hosts_with_two_networks, nagaya, installation,
                                                    leftovers):
    ended = run_with(hosts_with_two_networks, nagaya, installation,
                     {"NAGAYA_NETWORK_DEVICES": "eth0,eth7"})
    assert ended.code != 0 and "no network device eth7" in ended.err, ended
    assert "eth0, eth1" in ended.err, ended
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left


def test_hosts_with_different_numbers_of_delegatees_use_the_least(four_hosts, nagaya, installation,
                                                                  leftovers):
    choice = f'[ "$(hostname)" = {four_hosts.names[2]} ] && export NAGAYA_DELEGATEES=2; exec "$@"'
    ended = four_hosts.user_on(0).run(
        [nagaya, "run", "--hosts", ",".join(four_hosts.names), "-n", TASKS, "sh", "-c", choice, "sh",
         installation.program("mixed_operations"), *settings(OPERATIONS, THREADS)],
        env={**SHARED_PROCESSORS, "NAGAYA_DELEGATEES": "4"}, timeout=LIMIT_S)
    check(ended, OPERATIONS, leftovers)
