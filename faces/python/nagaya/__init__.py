# SPDX-License-Identifier: BSD-3-Clause
"""Processes of a parallel job in one address space: numpy arrays of other processes without a copy.

    import nagaya, numpy                        # nagaya run -n 4 python3 this.py

    mine = numpy.full(10, nagaya.rank())
    nagaya.publish("row", mine)
    left = nagaya.view((nagaya.rank() - 1) % nagaya.size(), "row")
    print(left)                                 # the neighbour's memory, by plain loads
    nagaya.barrier()                            # nobody ends while others read

Works beside mpi4py in the same program. Errors are exceptions: NotATask outside of `nagaya run`, OwnerEnded
if another process has ended. Thread safety: all functions may be called from any thread, barrier(), scatter(),
gather() and map() by one at a time; beside an MPI that was started for one thread, messages are for one thread, too.
A forked child (multiprocessing) is no process of the job.
"""
from ._arrays import fetch_add, publish, view, withdraw
from ._collectives import barrier, gather, scatter
from ._job import is_here, is_task, rank, size
from ._library import NotATask, OwnerEnded
from ._messages import Message, Sending, receive, send, start_send
from ._pool import Pool, map
from ._remote import RemoteArray, remote
from ._version import __version__

__all__ = ["Message", "NotATask", "OwnerEnded", "Pool", "RemoteArray", "Sending", "barrier", "fetch_add", "gather",
           "is_here", "is_task", "map", "publish", "rank", "receive", "remote", "scatter", "send", "size", "start_send",
           "view", "withdraw"]
