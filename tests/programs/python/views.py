# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other processes: types, shapes, strides, changes, withdrawal while viewed."""
import gc
import weakref

import nagaya
import numpy

rank, size = nagaya.rank(), nagaya.size()
left = (rank + size - 1) % size


def arrays(owner):
    base = numpy.arange(60, dtype=numpy.int32).reshape(3, 4, 5) + owner
    record = numpy.zeros(4, dtype=[("x", "f8"), ("name", "S5"), ("inner", [("a", "i2"), ("b", "?")])])
    record["x"], record["name"], record["inner"]["a"] = owner, b"n%d" % owner, -owner
    aligned = numpy.zeros(2, numpy.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True))
    aligned["b"] = owner
    return {"cube": base, "every second": base[::2, :, ::-1], "turned": base.T, "scalar": numpy.array(2.5 + owner),
            "empty": numpy.empty((0, 3)), "record": record, "aligned": aligned, "some fields": aligned[["c", "a"]],
            "repeated": numpy.broadcast_to(numpy.float32(owner), (3, 2)), "complex": numpy.full(3, owner + 1j),
            "dates": numpy.array(["2026-01-%02d" % (owner + 1)], "M8[D]"), "half": numpy.float16([owner]),
            "big endian": numpy.array([owner], ">i4"), "words": numpy.array(["é%d" % owner])}


own = arrays(rank)
for name, array in own.items():
    nagaya.publish(name, array)
for name, expected in arrays(left).items():
    seen = nagaya.view(left, name)
    assert seen.dtype == expected.dtype and seen.shape == expected.shape, name
    assert (seen == expected).all() and not seen.flags.writeable, name

seen = nagaya.view(left, "cube")
try:
    seen[0, 0, 0] = 1
    raise SystemExit("a view is writable")
except ValueError:
    pass
nagaya.barrier()
nagaya.view(left, "cube", writable=True)[1, 1, 1] = -7
nagaya.barrier()
assert own["cube"][1, 1, 1] == -7 and seen[1, 1, 1] == -7

# The buffer protocol.
buffer = nagaya.publish("bytes", bytearray(b"ab" + bytes([65 + rank])))
assert bytes(nagaya.view(left, "bytes")) == b"ab" + bytes([65 + left])
nagaya.barrier()

# Withdrawn, but viewed: the owner keeps it. Not viewed any more: the owner lets it go.
mine = numpy.full(1 << 16, float(rank))
gone = weakref.ref(mine)
nagaya.publish("withdrawn", mine)
kept = nagaya.view(left, "withdrawn")
part = kept[10:20]
del kept
nagaya.barrier()
nagaya.withdraw("withdrawn")
del mine
gc.collect()
nagaya.barrier()
assert gone() is not None and (part == left).all()
try:
    nagaya.view(left, "withdrawn", timeout=0.05)
    raise SystemExit("a withdrawn array was found")
except TimeoutError:
    pass
del part
nagaya.barrier()
nagaya.publish("other", numpy.zeros(1))  # looks which are still viewed
assert gone() is None

try:
    nagaya.publish("objects", numpy.array([object()]))
    raise SystemExit("objects were published")
except TypeError:
    pass
for wrong in (-1, size):
    try:
        nagaya.view(wrong, "cube")
        raise SystemExit("a rank that is not there was viewed")
    except ValueError:
        pass

# A read-only array stays so.
nagaya.publish("constant", numpy.frombuffer(b"abcd", numpy.uint8))
try:
    nagaya.view(rank, "constant", writable=True)
    raise SystemExit("a read-only array was viewed as a writable one")
except ValueError:
    assert bytes(nagaya.view(rank, "constant")) == b"abcd"

# A destructor that withdraws, run by the garbage collector while another array is published.
class Owner:
    def __init__(self):
        nagaya.publish("of an owner", numpy.zeros(3))
        self.itself = self

    def __del__(self):
        nagaya.withdraw("of an owner")


Owner()
gc.set_threshold(1)
nagaya.publish("meanwhile", numpy.zeros(3))
gc.set_threshold(700, 10, 10)
gc.collect()
for bad in ("", "x" * 57, "a\0b", "nagaya.x"):
    try:
        nagaya.publish(bad, numpy.zeros(1))
        raise SystemExit("a bad name was published")
    except ValueError:
        pass

# Counted by all.
if rank == 0:
    nagaya.publish("counter", numpy.zeros(1, numpy.int64))
counter = nagaya.view(0, "counter", writable=True)
for _ in range(500):
    nagaya.fetch_add(counter, 0, 2)
nagaya.barrier()
assert counter[0] == 1000 * size
squares = nagaya.map(lambda row: row * row, numpy.arange(300.).reshape(100, 3) if rank == 0 else None, chunk=7)
assert (squares == numpy.arange(300.).reshape(100, 3) ** 2).all()


def fails_at_60(row):
    if row[0] == 60:
        raise KeyError("60")
    return row


try:
    nagaya.map(fails_at_60, numpy.arange(300.).reshape(100, 3) if rank == 0 else None)
    raise SystemExit("a failed map has succeeded")
except (KeyError, RuntimeError) as error:
    assert isinstance(error, KeyError) or "in 1 other processes" in str(error), error
nagaya.barrier()
print(f"rank {rank}: right")
