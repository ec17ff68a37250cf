# SPDX-License-Identifier: BSD-3-Clause
"""What all processes do together: barriers, scatter and gather, by the team of nagaya/coll.h that has them all."""
import ctypes
import errno
import functools
import struct
from typing import NamedTuple

import numpy

from . import _directory, _job, _messages
from ._library import SLICE_MS, OwnerEnded, Process, calls, check, library
from ._requests import address_of

_CONTEXT = (1 << 56) - 1  # NAGAYA_TEAM_PYTHON
_BARRIER, _GATHER, _SCATTER = 0, 2, 3
_SUSPICIOUS_SLICES = 5  # after them a wait looks whether a process has ended


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


class _Team(NamedTuple):
    team: ctypes.c_void_p
    rank: int
    size: int


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
    return _Team(team, _job.rank(), size)


class _CallOfTeam(ctypes.Structure):
    """`call` of calls.c."""
    _fields_ = [("team", ctypes.c_void_p), ("rank", ctypes.c_uint32), ("size", ctypes.c_uint32),
                ("collective", _Collective)]


class _Call:
    """One collective, used again and again: set by one pack_into(), which takes less time than ctypes' fields."""

    def __init__(self):
        self.of_team, self.arrays = _CallOfTeam(*_team()), None
        self.address, self.collective = ctypes.addressof(self.of_team), self.of_team.collective
        self.reference = ctypes.byref(self.collective)
        self.flag = ctypes.byref(self.collective, _Collective.is_complete.offset)
        self.bytes = (ctypes.c_char * ctypes.sizeof(_Collective)).from_buffer(self.collective)


# Kind, root, `varies`; base, bytes and stride of `send` and `receive`.
_SETTING = struct.Struct(f"@iIIxxxxQQq{ctypes.sizeof(_Blocks) - 24}xQQq")
assert (_Collective.send.offset, _Collective.receive.offset) == (16, 16 + ctypes.sizeof(_Blocks))
_idle: list = []  # calls
_pending: list = []  # calls; of which an interrupt has ended the wait, they and their arrays stay


def _begin(arrays):
    call = _idle.pop() if _idle else _Call()
    call.arrays = arrays
    _pending.append(call)
    return call


def _end(call, what, result):
    """Ends a call whose start has returned 0, a negative errno, or -ETIMEDOUT: it is not complete yet."""
    if result == -errno.ETIMEDOUT:
        _wait(call, what)
        result = call.collective.error
    _pending.pop()
    call.arrays = None
    _idle.append(call)
    if result:
        check(result, what)


def _is_done(what, function, arrays, *arguments):
    """Runs a collective by a function of calls.c. Returns False if it does not know such arguments."""
    call = _begin(arrays)
    result = function(call.address, *arguments, SLICE_MS)
    _end(call, what, result)
    return result is not None


def _run(what, kind, root=0, send=0, send_bytes=0, receive=0, receive_bytes=0, arrays=None):
    """Runs a collective of all with blocks at these addresses, in arrays."""
    call = _begin(arrays)
    _SETTING.pack_into(call.bytes, 0, kind, root, 0, send, send_bytes, send_bytes, receive, receive_bytes, receive_bytes)
    result = library.nagaya_coll_start(_team().team, call.reference)
    _end(call, what, result or library.nagaya_llcl_wait_flag(call.flag, SLICE_MS) or call.collective.error)


def _wait(call, what):
    slices, has_ended = 1, False
    while library.nagaya_llcl_wait_flag(call.flag, SLICE_MS) == -errno.ETIMEDOUT:
        if has_ended:
            raise OwnerEnded(f"{what}: a process has ended without calling it")
        # If one has ended after its call, this process completes its own in the next slice.
        slices += 1
        has_ended = slices >= _SUSPICIOUS_SLICES and _has_anybody_ended()


def _has_anybody_ended():
    if _job.has_several_nodes():
        return any(map(_directory.is_over, range(_job.size())))
    return any(map(_job.has_ended, range(_job.size())))


def barrier():
    """Returns when every process of the job has called it. What was stored into any memory before is
    visible after it. Ctrl-C ends the wait, but not the barrier: the process is counted. Raises OwnerEnded if a
    process has ended without calling it."""
    if not _is_done("barrier", calls.barrier, None):
        _run("barrier", _BARRIER)


def scatter(array, into, root=0):
    """Copies a block of rank `root`'s array to each process. Collective.

    array   of the root: a contiguous array (others give None) of one block for each rank, in their order
    into    a writable contiguous array of a block's type and size

    Returns `into`. Raises ValueError (an array does not fit), OwnerEnded, NotATask."""
    if not _is_done("scatter", calls.scatter, (array, into), into, array, root):
        address, block = _address_of(into, True), into.nbytes
        whole = _root_address(array, into, root, False)
        _run("scatter", _SCATTER, root, whole, block if whole else 0, address, block, (array, into))
    return into


def gather(array, into=None, root=0):
    """Copies an array of each process to rank `root`. Collective.

    array   a contiguous array, of the same type and size in all processes
    into    of the root: a writable contiguous array, which gets them in the order of the ranks

    Returns `into`. Raises as scatter()."""
    if not _is_done("gather", calls.gather, (array, into), array, into, root):
        address, block = _address_of(array, False), array.nbytes
        whole = _root_address(into, array, root, True)
        _run("gather", _GATHER, root, address, block, whole, block if whole else 0, (array, into))
    return into


def _address_of(array, writable):
    if not (isinstance(array, numpy.ndarray) and (flags := array.flags).c_contiguous and not array.dtype.hasobject and
            (flags.writeable or not writable)):
        raise ValueError(f"a {'writable ' if writable else ''}contiguous numpy array is needed, not "
                         f"{type(array).__name__}, strided or read-only")
    return address_of(array)


def _root_address(blocks, block, root, writable):
    """Returns the address of the root's blocks; 0 in other processes."""
    _, rank, size = _team()
    if rank != root:
        if not 0 <= root < size:
            raise ValueError(f"rank {root} is not one of 0 .. {size - 1}")
        return 0
    address = _address_of(blocks, writable)
    if blocks.dtype != block.dtype or blocks.nbytes != size * block.nbytes:
        raise ValueError(f"{blocks.dtype} of shape {blocks.shape} is not {size} times {block.dtype} of shape {block.shape}")
    return address
