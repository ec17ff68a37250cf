# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of processes of any node: copies of parts, in both directions, types, waiting, withdrawal, counters."""
import gc
import sys
import threading
import time
import weakref

import nagaya
import numpy

if sys.argv[1:] == ["hosts"]:  # it is published before the processes have found each other
    nagaya.publish("before", numpy.full(3, 7.))
rank, size = nagaya.rank(), nagaya.size()
left, right = (rank + size - 1) % size, (rank + 1) % size


def refuses(kind, call, *arguments):
    try:
        call(*arguments)
    except kind:
        return
    raise SystemExit(f"{call} {arguments} was accepted")


def arrays(owner):
    base = numpy.arange(120, dtype=numpy.int32).reshape(2, 3, 4, 5) + owner
    record = numpy.zeros(4, dtype=[("x", "f8"), ("name", "S5")])
    record["x"], record["name"] = owner, b"n%d" % owner
    return {"block": base, "every second": base[:, ::2, :, ::-1], "turned": base.T, "scalar": numpy.array(2.5 + owner),
            "empty": numpy.empty((0, 3)), "record": record, "repeated": numpy.broadcast_to(numpy.float32(owner), (3, 2)),
            "fortran": numpy.asfortranarray(base[0, 0] * 1j), "big": numpy.arange(1 << 20) * (owner + 1)}


INDICES = (..., 0, -1, slice(None, None, -1), (0, slice(1, None)), (..., 1), (slice(0, 2), ..., slice(None, None, 2)))
if sys.argv[1:] == ["hosts"]:
    assert (nagaya.remote(left, "before").get() == 7).all()
own = arrays(rank)
for name, array in own.items():
    nagaya.publish(name, array)
for other in {left, right, rank}:
    for name, expected in arrays(other).items():
        far = nagaya.remote(other, name)
        assert (far.shape, far.dtype) == (expected.shape, expected.dtype), name
        for index in INDICES:
            try:
                wanted = expected[index]
            except IndexError:
                refuses(IndexError, far.get, index)
                continue
            got = far.get(index)
            assert got.shape == numpy.shape(wanted) and (got == wanted).all(), (name, index)
            into = numpy.zeros(got.shape + (2,), got.dtype)[..., 0]  # with gaps
            if into.dtype.names is None:
                assert far.get(index, into=into) is into and (into == wanted).all(), (name, index)
far = nagaya.remote(left, "block")
refuses(TypeError, far.get, [0, 1])
refuses(TypeError, far.get, True)
refuses(ValueError, lambda: far.get(0, into=numpy.zeros(3)))
refuses(ValueError, far.put, numpy.zeros((2, 2)))
refuses(ValueError, nagaya.remote(left, "repeated").put, 1)
nagaya.barrier()

# Puts: into a contiguous array, one with gaps, single elements; both neighbours write at once.
field = nagaya.publish("field", numpy.zeros((4, 6, 7)))
gaps = nagaya.publish("gaps", numpy.zeros((8, 9), numpy.int16)[::-2, ::3])
for step in range(3):
    nagaya.remote(right, "field").put(numpy.arange(42.).reshape(6, 7) + rank + step, 0)
    nagaya.remote(left, "field").put(100 * rank + step, (slice(1, None), slice(None, None, 2), -1))
    nagaya.remote(right, "gaps").put(rank + 1, (slice(None), 1))
    nagaya.barrier()
    expected = numpy.zeros((4, 6, 7))
    expected[0] = numpy.arange(42.).reshape(6, 7) + left + step
    expected[1:, ::2, -1] = 100 * right + step
    assert (field == expected).all()
    assert (gaps[:, 1] == left + 1).all() and (gaps[:, 0] == 0).all() and (gaps[:, 2] == 0).all()
    nagaya.barrier()

# Waits for a name; time limits; names that come again; more names than one look reads.
refuses(TimeoutError, lambda: nagaya.remote(right, "late", timeout=0.05))
nagaya.barrier()
publisher = threading.Timer(0.1, lambda: nagaya.publish("late", numpy.full(2, rank)))
publisher.start()
assert (nagaya.remote(left, "late").get() == left).all()
publisher.join()
nagaya.barrier()
for number in range(40):
    nagaya.publish(f"name {number}", numpy.full(number + 1, number + rank))
for number in range(50):
    nagaya.publish("changing", numpy.full(1 + number % 5, number))
    seen = nagaya.remote(left, "changing").get()
    assert (seen == seen[0]).all() and len(seen) == 1 + seen[0] % 5
for number in (0, 30, 39):
    assert (nagaya.remote(left, f"name {number}").get() == numpy.full(number + 1, number + left)).all()
nagaya.barrier()

# Withdrawn, but used: the owner keeps it. Not used any more: the owner lets it go.
mine = numpy.full(1 << 16, float(rank))
gone = weakref.ref(mine)
nagaya.publish("withdrawn", mine)
kept = nagaya.remote(left, "withdrawn")
nagaya.barrier()
nagaya.withdraw("withdrawn")
del mine
gc.collect()
nagaya.barrier()
assert gone() is not None and (kept.get(slice(9, 99)) == left).all()
refuses(TimeoutError, lambda: nagaya.remote(left, "withdrawn", timeout=0.05))
del kept
nagaya.barrier()
nagaya.publish("other", numpy.zeros(1))  # looks which are still used
assert gone() is None

# Counted by all, while its owner computes.
if rank == 0:
    nagaya.publish("counter", numpy.zeros((2, 3), numpy.int64))
counter = nagaya.remote(0, "counter")
if rank != 0:
    for _ in range(30):
        counter.fetch_add((1, 2), 3)
else:
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        pass
refuses(ValueError, counter.fetch_add, 0, 1)
nagaya.barrier()
assert counter.get((1, 2)) == 90 * (size - 1) and counter.get().sum() == 90 * (size - 1)
refuses(ValueError, nagaya.remote, size, "counter")
nagaya.barrier()
print(f"rank {rank}: right", flush=True)
if sys.argv[1:] == ["hosts"] and rank == 0:  # the others end
    refuses(nagaya.OwnerEnded, nagaya.remote, size - 1, "never")
    refuses(nagaya.OwnerEnded, nagaya.barrier)
