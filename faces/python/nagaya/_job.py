# SPDX-License-Identifier: BSD-3-Clause
"""The processes of the job: their numbers, and a barrier."""
import atexit
import ctypes
import functools

from ._library import Process, check, library


def is_task():
    """Returns whether this process lives in an address space of a job, so that `publish` and its like
    work."""
    return library.nagaya_task_self() >= 0


@functools.lru_cache(maxsize=None)
def join():
    """Finds the processes of the job. Collective."""
    code = library.nagaya_comm_init()
    if code < 0:
        check(code, library.nagaya_error_text().decode() or "joining the job")
    # It returns when all processes have called it, so that no launcher sees one of them end before. On one
    # node it is left out: a process that looks for something of an ended one shall learn that it has ended.
    if library.nagaya_comm_nodes() > 1:
        atexit.register(library.nagaya_comm_finalize)


def rank():
    """Returns the number of this process in the job, 0 .. size()-1. The first call of this function,
    size() or any that takes a rank is collective: it finds the processes of the job, so all of them
    call one. Raises NotATask."""
    join()
    return check(library.nagaya_comm_rank(), "rank")


def size():
    """Returns the number of processes of the job. The first call is collective, as that of rank()."""
    join()
    return check(library.nagaya_comm_size(), "size")


def process_of(rank_wanted):
    """Returns where a rank lives."""
    process = Process()
    if not 0 <= rank_wanted < size():
        raise ValueError(f"rank {rank_wanted} is not one of 0 .. {size() - 1}")
    check(library.nagaya_comm_process(ctypes.c_int64(rank_wanted), ctypes.byref(process)), "finding a rank")
    return process


def is_here(rank_wanted):
    """Returns whether a rank lives on this node, so that its memory can be viewed."""
    return process_of(rank_wanted).node == library.nagaya_comm_node()


def barrier():
    """Returns when every process of the job has called it. What was stored into any memory before is
    visible after it. Ctrl-C takes effect when it returns. Raises OwnerEnded if a process has ended without
    calling it."""
    join()
    check(library.nagaya_comm_barrier(), "barrier")
