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
    nagaya.publish("left behind", numpy.arange(5))
    nagaya.view(0, "seen")
    sys.exit(0)
if how == "early" and rank == 0:
    kept = nagaya.view(1, "left behind")
    nagaya.publish("seen", numpy.zeros(1))
    for name in ("never", "left behind"):
        try:
            while True:
                nagaya.view(1, name)
        except nagaya.OwnerEnded:
            assert (kept == numpy.arange(5)).all()
    print("right")
if how == "forked":
    array = nagaya.publish("array", numpy.arange(3))
    view = nagaya.view(rank, "array")
    child = os.fork()
    if child == 0:
        del view
        try:
            nagaya.publish("array", array)
        except nagaya.NotATask:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    nagaya.withdraw("array")
    print("right")
if how == "killed":
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 0:
        nagaya.receive(2)
    nagaya.barrier()
