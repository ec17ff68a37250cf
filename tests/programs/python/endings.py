# SPDX-License-Identifier: BSD-3-Clause
"""What others see when a process ends: argv[1] says how."""
import os
import signal
import sys

import nagaya
import numpy

how = sys.argv[1]
rank = nagaya.rank()
if how == "early" and rank == 1:  # ends once its array is viewed
    for name, count in (("left behind", 2000), ("large", 10_000_000)):
        nagaya.publish(name, numpy.arange(count))
    nagaya.start_send(numpy.arange(2000), 0)
    nagaya.start_send(numpy.arange(10_000_000), 0)
    nagaya.view(0, "seen")
    sys.exit(0)
if how == "early" and rank == 0:
    kept, large = nagaya.view(1, "left behind"), nagaya.view(1, "large")
    nagaya.publish("seen", numpy.zeros(1))
    for name in ("never", "left behind"):
        try:
            while True:
                nagaya.view(1, name)
        except nagaya.OwnerEnded:
            assert (kept == numpy.arange(2000)).all() and (large == numpy.arange(10_000_000)).all()
    for count in (2000, 10_000_000):
        assert (nagaya.receive(1).array == numpy.arange(count)).all()
    print("right")
if how == "forked":
    array = nagaya.publish("array", numpy.arange(3))
    view = nagaya.view(rank, "array")
    child = os.fork()
    if child == 0:
        del view
        for call in (nagaya.rank, nagaya.size, lambda: nagaya.publish("array", array),
                     lambda: nagaya.view(0, "array"), lambda: nagaya.withdraw("array")):
            try:
                call()
                os._exit(1)
            except nagaya.NotATask:
                pass
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    nagaya.withdraw("array")
    print("right")
if how == "killed while viewed":
    # Names, values and counts that others can read stay right until they end with the job.
    expected = numpy.arange(1 << 20)
    if rank == 1:
        nagaya.publish("array", expected.copy())
        reading = nagaya.publish("reading", numpy.zeros(1, numpy.int64))
        nagaya.barrier()
        while reading[0] < 20 * (nagaya.size() - 1):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    nagaya.barrier()
    try:
        kept, far = nagaya.remote(1, "array"), nagaya.remote(1, "reading")
        while True:
            seen = nagaya.view(1, "array") if nagaya.is_here(1) and rank % 2 == 0 else nagaya.remote(1, "array").get()
            if not ((seen == expected).all() and (kept.get(slice(9, None, 7)) == expected[9::7]).all()):
                print("wrong", flush=True)
            far.fetch_add(0, 1)
    except (nagaya.OwnerEnded, OSError):
        nagaya.barrier()
if how == "killed":
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 0:
        nagaya.receive(2)
    nagaya.barrier()
