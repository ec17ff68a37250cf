# SPDX-License-Identifier: BSD-3-Clause
"""What all processes do together: barriers, scatter and gather, by the team of nagaya/coll.h that has them all."""
import ctypes
import errno
import functools
import time

import numpy

from . import _directory, _job, _messages
from ._library import OwnerEnded, Process, check, library
from ._requests import address_of

_CONTEXT = (1 << 56) - 1  # NAGAYA_TEAM_PYTHON
_BARRIER, _GATHER, _SCATTER = 0, 2, 3
_SLICE_MS = 200  # a wait lets Python look for signals so often
_SUSPICIOUS_S = 1  # so long a wait looks whether a process has ended


class _Blocks(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("stride", ctypes.c_ssize_t),
                ("arrays", ctypes.c_void_p * 4)]


class _Elements(ctypes.Structure):
    _fields_ = [("count", ctypes.c_size_t), ("extent", ctypes.c_size_t), ("functions", ctypes.c_void_p * 3),
                ("commutes", ctypes.c_uint32), ("true_lb", ctypes.c_ssize_t), ("true_extent", ctypes.c_size_t),
                ("count_of", ctypes.c_void_p), ("may_reduce", ctypes.c_void_p)]


class _Collective(ctypes.Structure):
    """nagaya_collective of coll.h."""
    _fields_ = [("kind", ctypes.c_int), ("root", ctypes.c_uint32), ("varies", ctypes.c_uint32), ("send", _Blocks),
                ("receive", _Blocks), ("may_detach", ctypes.c_uint32), ("is_exact", ctypes.c_uint32),
                ("elements", _Elements), ("store", ctypes.c_void_p), ("store_context", ctypes.c_void_p),
                ("complete", ctypes.c_void_p), ("is_complete", ctypes.c_uint32), ("error", ctypes.c_int32),
                ("operation", ctypes.c_void_p)]


@functools.lru_cache(maxsize=None)
def _team():
    if _job.has_several_nodes():
        _messages.open_messages()
    size = _job.size()
    processes, members, team = (Process * size)(*map(_job.process_of, range(size))), ctypes.c_void_p(), ctypes.c_void_p()
    check(library.nagaya_processes_open(processes, ctypes.c_uint32(size), ctypes.c_uint32(_job.rank()),
                                        ctypes.byref(members)), "opening the team")
    check(library.nagaya_coll_open(ctypes.c_uint64(_CONTEXT), members, 1, ctypes.byref(team)), "opening the team")
    library.nagaya_processes_close(members)
    return team


_pending: list = []  # of which an interrupt has ended the wait: they and their arrays stay


def _run(what, kind, root=0, send=_Blocks(), receive=_Blocks(), keeper=None):
    collective = _Collective(kind=kind, root=root, send=send, receive=receive)
    team = _team()
    _pending.append((collective, keeper))
    result = library.nagaya_coll_start(team, ctypes.byref(collective))
    if result == 0 and not collective.is_complete:
        _wait(collective, what)
    _pending.pop()
    check(result or collective.error, what)


def _wait(collective, what):
    flag, begin, ended = ctypes.byref(collective, _Collective.is_complete.offset), time.monotonic(), False
    while library.nagaya_llcl_wait_flag(flag, _SLICE_MS) == -errno.ETIMEDOUT:
        if ended:
            raise OwnerEnded(f"{what}: a process has ended without calling it")
        # If it has ended after its call, this process completes its own in the next slice.
        ended = time.monotonic() > begin + _SUSPICIOUS_S and _has_anybody_ended()


def _has_anybody_ended():
    if _job.has_several_nodes():
        return any(map(_directory.is_over, range(_job.size())))
    return any(map(_job.has_ended, range(_job.size())))


def barrier():
    """Returns when every process of the job has called it. What was stored into any memory before is
    visible after it. Ctrl-C ends the wait, but not the barrier: the process is counted. Raises OwnerEnded if a
    process has ended without calling it."""
    _run("barrier", _BARRIER)


def scatter(array, into, root=0):
    """Copies a block of rank `root`'s array to each process. Collective.

    array   of the root: a contiguous array (others give None) of one block for each rank, in their order
    into    a writable contiguous array of a block's type and size

    Returns `into`. Raises ValueError (an array does not fit), OwnerEnded, NotATask."""
    _check_block(into, "into", writable=True)
    is_root = _check_root(array, into, root, writable=False)
    block = into.nbytes
    _run("scatter", _SCATTER, root, _Blocks(address_of(array), block, block) if is_root else _Blocks(),
         _Blocks(address_of(into), block, block), (array, into))
    return into


def gather(array, into=None, root=0):
    """Copies an array of each process to rank `root`. Collective.

    array   a contiguous array, of the same type and size in all processes
    into    of the root: a writable contiguous array, which gets them in the order of the ranks

    Returns `into`. Raises as scatter()."""
    _check_block(array, "array", writable=False)
    is_root = _check_root(into, array, root, writable=True)
    block = array.nbytes
    _run("gather", _GATHER, root, _Blocks(address_of(array), block, block),
         _Blocks(address_of(into), block, block) if is_root else _Blocks(), (array, into))
    return into


def _check_block(array, name, writable):
    if not (isinstance(array, numpy.ndarray) and array.flags.c_contiguous and not array.dtype.hasobject and
            (array.flags.writeable or not writable)):
        raise ValueError(f"`{name}` has to be a {'writable ' if writable else ''}contiguous numpy array")


def _check_root(blocks, block, root, writable):
    """Returns whether this process is the root, which has the blocks of all."""
    if not 0 <= root < _job.size():
        raise ValueError(f"rank {root} is not one of 0 .. {_job.size() - 1}")
    if _job.rank() != root:
        return False
    _check_block(blocks, "the root's array", writable)
    if blocks.dtype != block.dtype or blocks.nbytes != _job.size() * block.nbytes:
        raise ValueError(f"{blocks.dtype} of shape {blocks.shape} is not {_job.size()} times {block.dtype} of shape "
                         f"{block.shape}")
    return True
