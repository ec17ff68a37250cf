# SPDX-License-Identifier: BSD-3-Clause
"""What all processes do together: scatter, gather, barriers that are interrupted, pools."""
import os
import signal
import sys
import threading

if sys.argv[1:] == ["ctypes"]:
    sys.modules["nagaya._calls"] = None  # its import fails, as where there is none

import nagaya
import numpy

rank, size = nagaya.rank(), nagaya.size()


def refuses(kind, call, *arguments):
    try:
        call(*arguments)
    except kind:
        return
    raise SystemExit(f"{call} {arguments} was accepted")


for root in {0, size - 1}:
    for length in (0, 1, 3, 1000, 100_000):
        for kind in (numpy.int8, numpy.float64, numpy.complex128):
            whole = numpy.arange(size * length).astype(kind).reshape(size, length) if rank == root else None
            block, back = numpy.zeros(length, kind), numpy.zeros((size, length), kind) if rank == root else None
            assert nagaya.scatter(whole, block, root) is block
            assert (block == numpy.arange(rank * length, (rank + 1) * length).astype(kind)).all()
            block += kind(1)
            assert nagaya.gather(block, back, root) is back
            assert rank != root or (back == whole + kind(1)).all()

# An interrupt ends the wait of one process; it was counted, and the next barrier is a barrier.
if size > 1:
    nagaya.publish("counter", numpy.zeros(1, numpy.int64))
    counter = nagaya.remote(size - 1, "counter")
    if rank == 0:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        refuses(KeyboardInterrupt, nagaya.barrier)
        nagaya.publish("interrupted", numpy.zeros(1))
    else:
        nagaya.remote(0, "interrupted")
        nagaya.barrier()
    counter.fetch_add(0, 1)
    nagaya.barrier()
    assert counter.get(0) == size


def halved(number):
    assert type(number) in (int, float)
    return number / 2


def fails(row):
    raise KeyError(row[0])


def a_float_at_first(number):
    return number / 2 if number % 3 == 0 else int(number) // 2


def fails_later(number):
    if number:
        raise KeyError(number)
    return 0.


if sys.argv[1:] != ["hosts"]:
    numbers = numpy.arange(1000.) if rank == 0 else None
    mixed = nagaya.map(a_float_at_first, numbers)
    assert mixed.dtype == numpy.float64 and all(mixed[n] == a_float_at_first(n) for n in range(1000))
    for _ in range(3):
        refuses((KeyError, RuntimeError), nagaya.map, fails_later, numbers)
    assert (nagaya.map(halved, numbers, 7) == numpy.arange(1000) / 2).all()
for _ in range(0 if sys.argv[1:] == ["hosts"] else 2):
    with nagaya.Pool() as pool:
        assert (pool is not None) == (rank == 0)
        if pool:
            for length in (1, 2, size, 1000):
                halves = pool.map(halved, numpy.arange(length))
                assert halves.dtype == numpy.float64 and (halves == numpy.arange(length) / 2).all()
            assert (pool.map(numpy.sum, numpy.ones((50, 7), numpy.float32), chunk=3) == 7).all()
            refuses(ValueError, pool.map, halved, numpy.zeros(0))
            refuses(ValueError, pool.map, halved, numpy.zeros(3), 0)
            refuses(KeyError, pool.map, fails, numpy.zeros((1, 3)))
            assert (pool.map(halved, [2., 4.]) == [1, 2]).all()
print(f"rank {rank}: right")
