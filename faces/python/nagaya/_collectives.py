# SPDX-License-Identifier: BSD-3-Clause
"""What all processes do together: barriers, scatter and gather, by the team of nagaya/coll.h that has them all."""
import ctypes
import errno
import functools
import struct
from typing import NamedTuple

import numpy

from . import _arrays, _directory, _job, _messages, _remote
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
        self.collective.is_exact, self.number = 1, 0


# Kind, root, `varies`; base, bytes and stride of `send` and `receive`.
_SETTING = struct.Struct(f"@iIIxxxxQQq{ctypes.sizeof(_Blocks) - 24}xQQq")
assert (_Collective.send.offset, _Collective.receive.offset) == (16, 16 + ctypes.sizeof(_Blocks))
_idle: list = []  # calls
_pending: list = []  # calls; of which an interrupt has ended the wait, they and their arrays stay
_begun = 0  # collectives of this process: all processes give one the same number


def _begin(arrays):
    global _begun  # pylint: disable=global-statement
    call = _idle.pop() if _idle else _Call()
    call.arrays = arrays
    _begun = call.number = _begun + 1
    _pending.append(call)
    return call


def _forget_last():
    global _begun  # pylint: disable=global-statement
    _begun -= 1


def _end(call, what, result):
    """Ends a call whose start has returned 0, a negative errno, or -ETIMEDOUT: it is not complete yet."""
    if result == -errno.ETIMEDOUT:
        _wait(call, what)
        result = call.collective.error
    _pending.pop()
    call.arrays = None
    _idle.append(call)
    if result in (-errno.EMSGSIZE, -errno.ENODATA):
        raise _wrong_block(what, call.collective.kind, call.collective.root, call.number)
    if result:
        check(result, what)


def _is_done(what, function, arrays, *arguments):
    """Runs a collective by a function of calls.c. Returns False if it does not know such arguments."""
    call = _begin(arrays)
    result = function(call.address, *arguments, SLICE_MS)
    if result is None:
        _forget_last()
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

    Returns `into`. Raises ValueError: `into` does not fit; in all processes, if `array` does not. The next
    collective works then. Raises OwnerEnded, NotATask."""
    if not _is_done("scatter", calls.scatter, (array, into), into, array, root):
        _move("scatter", _SCATTER, root, into, array)
    return into


def gather(array, into=None, root=0):
    """Copies an array of each process to rank `root`. Collective.

    array   a contiguous array, of the same type and size in all processes
    into    of the root: a writable contiguous array, which gets them in the order of the ranks

    Returns `into`. Raises ValueError: `array` does not fit, then also in the root; in the root, if `into` does
    not (the others do not wait for it). The next collective works then. Raises OwnerEnded, NotATask."""
    if not _is_done("gather", calls.gather, (array, into), array, into, root):
        _move("gather", _GATHER, root, array, into)
    return into


def _move(what, kind, root, block, blocks):
    """Runs SCATTER or GATHER. `block` is the array of every process, `blocks` that of the root. If they do not fit,
    takes part without data, so that the collectives of all processes stay in step, and raises."""
    _, rank, size = _team()
    if not 0 <= root < size:
        raise ValueError(f"{what}: rank {root} is not one of 0 .. {size - 1}")
    is_root, scatters = rank == root, kind == _SCATTER
    try:
        address = _address_of(block, scatters)
        whole = _address_of_all(blocks, block, size, not scatters) if is_root else 0
    except ValueError as error:
        _take_part_without_data(what, kind, root, error)
        raise
    block_bytes, kept = block.nbytes, (block, blocks)
    if block_bytes == 0:  # a block without bytes would be one of a process that takes part without data
        block_bytes, kept = 1, ctypes.create_string_buffer(size + 1)
        address = ctypes.addressof(kept)
        whole = address + 1 if is_root else 0
    whole_bytes = block_bytes if is_root else 0
    if scatters:
        _run(what, kind, root, whole, whole_bytes, address, block_bytes, kept)
    else:
        _run(what, kind, root, address, block_bytes, whole, whole_bytes, kept)


def _address_of(array, writable):
    if not isinstance(array, numpy.ndarray):
        raise ValueError(f"a numpy array is needed, not {type(array).__name__}")
    if array.dtype.hasobject:
        raise ValueError(f"elements of type {array.dtype} are Python objects, which only their own process can use")
    if not array.flags.c_contiguous:
        raise ValueError("a contiguous array is needed: numpy.ascontiguousarray() makes one")
    if writable and not array.flags.writeable:
        raise ValueError("a writable array is needed, not a read-only one")
    return address_of(array)


def _address_of_all(blocks, block, size, writable):
    """Returns the address of the root's blocks."""
    address = _address_of(blocks, writable)
    if blocks.dtype != block.dtype or blocks.nbytes != size * block.nbytes:
        raise ValueError(f"{blocks.dtype} of shape {blocks.shape} is not {size} times {block.dtype} of shape {block.shape}")
    return address


# ---- wrong arrays: each process that lacks the data of another one finds its reason published ------

_reasons: list = []  # the name of this process's last one


def _take_part_without_data(what, kind, root, error):
    scatters, is_root = kind == _SCATTER, _team().rank == root
    if scatters == is_root:  # others lack its data
        while _reasons:
            _arrays.withdraw(_reasons.pop())
        _reasons.append(_reason_name(_begun + 1))
        _arrays.publish_any(_reasons[0], numpy.frombuffer(str(error).encode(), numpy.uint8))
    try:
        _run(what, kind, root)
        number = _begun
    except ValueError:  # the data of others have no place here
        return
    if scatters and (is_root or _reason_of(root, number)):
        barrier()  # as in _wrong_block()


def _wrong_block(what, kind, root, number):
    """Returns the exception for a block that has another size than its place."""
    if kind == _SCATTER:
        reason = _reason_of(root, number)
        if reason is None:
            return ValueError(f"{what}: the blocks of rank {root} have another size than `into`")
        barrier()  # the root does not end before all have seen its reason
        return ValueError(f"{what}: rank {root} has no data: {reason}")
    reasons = ((rank, _reason_of(rank, number)) for rank in range(_team().size) if rank != root)
    rank, reason = next((found for found in reasons if found[1]), (None, None))
    if reason is None:
        return ValueError(f"{what}: an array of another process has another size than this one's")
    return ValueError(f"{what}: rank {rank} has no data: {reason}")


def _reason_name(number):
    return f"nagaya.reason.{number}"


def _reason_of(rank, number):
    """Returns why a rank has taken part in a collective without data; None: it has not, or has ended."""
    try:
        return _remote.remote(rank, _reason_name(number), timeout=0).get().tobytes().decode()
    except (TimeoutError, OwnerEnded):
        return None
