# SPDX-License-Identifier: BSD-3-Clause
"""Messages of arrays: sizes, types, order, wildcards, both directions at once, time limits."""
import threading
import time

import nagaya
import numpy

rank, size = nagaya.rank(), nagaya.size()
left, right = (rank + size - 1) % size, (rank + 1) % size
SIZES = (0, 1, 7, 1000, 1015, 5000, 1 << 20)

for count in SIZES:
    sending = nagaya.start_send(numpy.arange(count, dtype=numpy.float64) + rank, right, tag=count)
    got, source, tag = nagaya.receive(left, count)
    sending.wait()
    assert (source, tag) == (left, count) and got.dtype == numpy.float64
    assert (got == numpy.arange(count) + left).all() and got.shape == (count,)

turned = numpy.arange(12).reshape(3, 4).T  # not contiguous
nagaya.start_send(turned, right).wait()
assert (nagaya.receive().array == turned).all()
record = numpy.array([(1.5, b"abc")], dtype=[("x", "f8"), ("y", "S4")])
nagaya.send(record, right, 3)
assert nagaya.receive(tag=3).array == record

for count in (10, 100000):
    into = numpy.zeros((2, count // 2))
    sending = nagaya.start_send(numpy.full(count, float(rank)), right)
    assert nagaya.receive(left, into=into).array is into and (into == left).all()
    sending.wait()
    sending = nagaya.start_send(numpy.full(count, 7.), right)
    for wrong in (numpy.zeros(3), numpy.zeros((4, count))[:, 1], [1, 2], numpy.frombuffer(bytes(8 * count))):
        try:
            nagaya.receive(left, into=wrong)
            raise SystemExit("it does not fit, but was received")
        except ValueError:
            pass
    assert (nagaya.receive(left).array == 7).all()  # it was not lost
    sending.wait()
for wrong in (dict(source=size), dict(source=-1), dict(tag=-1), dict(tag=2**32)):
    try:
        nagaya.receive(**wrong)
        raise SystemExit("a bad rank or tag was accepted")
    except ValueError:
        pass

nagaya.barrier()
try:
    nagaya.receive(timeout=0.05)
    raise SystemExit("nobody has sent anything")
except TimeoutError:
    pass
nagaya.barrier()

# Calls that end by their time limit lose no message, whoever has taken it in.
if rank == 0 and size > 1:
    for number in range(300):
        nagaya.send(numpy.full(1 + number % 2 * 5000, number), 1, 6)
if rank == 1:
    numbers = []
    waiter = threading.Thread(target=lambda: nagaya.receive(0, 7))
    waiter.start()
    while len(numbers) < 300:
        try:
            numbers.append(nagaya.receive(0, 6, timeout=0).array[0])
        except TimeoutError:
            pass
    assert numbers == list(range(300))
    nagaya.send(numpy.zeros(1), 0, 8)
    waiter.join()
if rank == 0 and size > 1:
    nagaya.receive(1, 8)
    nagaya.send(numpy.zeros(1), 1, 7)
nagaya.barrier()

# A message that one thread has taken but not received reaches another one, which waits for it.
def takes_what_does_not_fit():
    try:
        nagaya.receive(left, 40, into=numpy.zeros(1), timeout=5)
        raise SystemExit("it does not fit, but was received")
    except (ValueError, TimeoutError):  # the latter if the other thread was the first to wait
        nagaya.send(numpy.zeros(1), left, 42)


taker = threading.Thread(target=takes_what_does_not_fit)
taker.start()
time.sleep(0.05)
second = threading.Timer(0.1, nagaya.send, (numpy.zeros(1), left, 41))  # when both wait
second.start()
sender = threading.Thread(target=lambda: (nagaya.receive(right, 41), nagaya.send(numpy.arange(3), right, 40)))
sender.start()
assert (nagaya.receive(left, 40).array == numpy.arange(3)).all()
nagaya.receive(right, 42)
for thread in (taker, second, sender):
    thread.join()

# One sender's messages keep their order, whatever their length.
if rank == 0 and size > 1:
    for number in range(200):
        nagaya.send(numpy.full(1 + number % 3 * 3000, number), size - 1, 5)
if rank == size - 1 > 0:
    for number in range(200):
        assert nagaya.receive(0, 5).array[0] == number

# Threads: each has a tag of its own.
def exchange(tag):
    for number in range(50):
        sending = nagaya.start_send(numpy.full(2000, number), right, tag)
        assert (nagaya.receive(left, tag).array == number).all()
        sending.wait()


threads = [threading.Thread(target=exchange, args=(10 + n,)) for n in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
nagaya.barrier()
print(f"rank {rank}: right")
