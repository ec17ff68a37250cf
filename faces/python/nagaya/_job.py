# SPDX-License-Identifier: BSD-3-Clause
"""The processes of the job, and their numbers."""
import atexit
import ctypes
import errno
import functools

from ._library import Process, check, library


with_several_nodes: list = []  # functions that join() calls in all processes of a job with several nodes


def is_task():
    """Returns whether this process lives in an address space of a job, so that `publish` and its like
    work."""
    return library.nagaya_task_self() >= 0


@functools.lru_cache(maxsize=None)
def join():
    """Finds the processes of the job. Collective."""
    code = library.nagaya_comm_init()
    if code < 0:
        reason = library.nagaya_error_text().decode()
        check(code, reason if reason and code != -errno.ESRCH else "joining the job")
    # It returns when all processes have called it, so that no launcher sees one of them end before. On one
    # node it is left out: a process that looks for something of an ended one shall learn that it has ended.
    if library.nagaya_comm_nodes() > 1:
        atexit.register(library.nagaya_comm_finalize)
        for function in with_several_nodes:
            function()


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
    check(library.nagaya_task_self(), "finding a rank")
    return _process_of(rank_wanted)


@functools.lru_cache(maxsize=None)
def _process_of(rank_wanted):
    process = Process()
    if not 0 <= rank_wanted < size():
        raise ValueError(f"rank {rank_wanted} is not one of 0 .. {size() - 1}")
    check(library.nagaya_comm_process(ctypes.c_int64(rank_wanted), ctypes.byref(process)), "finding a rank")
    return process


def has_several_nodes():
    join()
    return library.nagaya_comm_nodes() > 1


def has_ended(rank_wanted):
    """Returns whether a process of this node has ended."""
    address = ctypes.c_void_p()
    return library.nagaya_task_lookup(ctypes.c_int(process_of(rank_wanted).task), b"python:", 0,
                                      ctypes.byref(address)) == -errno.EOWNERDEAD


def is_here(rank_wanted):
    """Returns whether a rank lives on this node, so that its memory can be viewed."""
    return process_of(rank_wanted).node == library.nagaya_comm_node()
