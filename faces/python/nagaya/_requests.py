# SPDX-License-Identifier: BSD-3-Clause
"""Requests of nagaya/llcl.h: to memory of any process of the job, by its place."""
import ctypes
import errno

import numpy

from ._library import Process, check, library, wait

_ELEMENT_INT64, _REDUCE_SUM = 3, 2  # of nagaya/reduction.h
_FLAG = 1  # NAGAYA_FLAG


class Place(ctypes.Structure):
    """nagaya_remote of llcl.h: a byte in registered memory of a process. Plain data."""
    _fields_ = [("process", Process), ("region", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("offset", ctypes.c_uint64)]

    def plus(self, more_bytes):
        return Place(self.process, self.region, 0, self.offset + more_bytes)


class _Completion(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("function", ctypes.c_void_p), ("data", ctypes.c_void_p)]


class _Accumulation(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("operation", ctypes.c_int), ("count", ctypes.c_size_t),
                ("target", ctypes.c_void_p), ("target_runs", ctypes.c_void_p),
                ("origin", ctypes.c_void_p), ("result", ctypes.c_void_p)]


class _RemoteAccumulation(ctypes.Structure):
    _fields_ = [("remote", Place), ("what", _Accumulation), ("on_complete", _Completion)]


class _Pieces(ctypes.Structure):
    _fields_ = [("remote", Place), ("pieces", ctypes.c_void_p), ("count", ctypes.c_size_t),
                ("on_complete", _Completion)]


def register(address, size_bytes):
    """Lets processes of other nodes use memory. Returns its place."""
    place = Place()
    check(library.nagaya_llcl_register(ctypes.c_void_p(address), ctypes.c_size_t(size_bytes), ctypes.byref(place)),
          "letting other nodes use an array")
    return place


def deregister(place):
    library.nagaya_llcl_deregister(ctypes.byref(place))


class _Pending:
    """What a request uses until it is complete, also if an interrupt ends the wait for it."""

    def __init__(self, request, keeper):
        self.request, self.keeper, self.flag = request, keeper, ctypes.c_uint32()
        request.on_complete = _Completion(_FLAG, None, ctypes.addressof(self.flag))


_pending: list = []


def _carry_out(function, request, what, keeper):
    for before in [before for before in _pending if before.flag.value]:  # interrupted ones
        _pending.remove(before)
    this = _Pending(request, keeper)
    _pending.append(this)
    while (result := function(ctypes.byref(request))) == -errno.EAGAIN:
        pass
    if result < 0:
        this.flag.value = 1
    check(result, what)
    wait(lambda ms: library.nagaya_llcl_wait_flag(ctypes.byref(this.flag), ctypes.c_int(ms)), None, what)
    _pending.remove(this)


def _sum(change, before, target=None):
    return _Accumulation(_ELEMENT_INT64, _REDUCE_SUM, 1, target, None, ctypes.addressof(change),
                         ctypes.addressof(before))


def add(address, change):
    """Adds to a 64-bit integer of a task of this node, atomically. Returns 0 or a negative errno, and the value
    from before."""
    origin, before = ctypes.c_int64(change), ctypes.c_int64()
    result = library.nagaya_llcl_accumulate(ctypes.byref(_sum(origin, before, address)))
    return result, before.value


def add_at(place, change):
    """Adds to a 64-bit integer of any process, atomically against add(), too. Returns the value from before."""
    origin, before = ctypes.c_int64(change), ctypes.c_int64()
    request = _RemoteAccumulation(place, _sum(origin, before))
    _carry_out(library.nagaya_llcl_try_accumulate, request, "fetch_add", (origin, before))
    return before.value


def _pieces_of(local, remote, remote_base):
    """Returns rows of nagaya_llcl_piece: the blocks of two arrays of one shape and type. `remote` stands for
    memory of another node: its addresses count from `remote_base`."""
    dimensions = [(length, near, far) for length, near, far in zip(local.shape, local.strides, remote.strides)
                  if length != 1]
    block_bytes = local.itemsize
    while dimensions and dimensions[-1][1] == dimensions[-1][2] == block_bytes:
        block_bytes *= dimensions.pop()[0]
    count, near_stride, far_stride = dimensions.pop() if dimensions else (1, 0, 0)
    near, far = numpy.zeros(1, numpy.int64), numpy.zeros(1, numpy.int64)
    for length, near_step, far_step in dimensions:
        steps = numpy.arange(length, dtype=numpy.int64)
        near = (near[:, None] + near_step * steps).ravel()
        far = (far[:, None] + far_step * steps).ravel()
    pieces = numpy.empty((len(near), 6), numpy.int64)
    pieces[:, 0] = near + address_of(local)
    pieces[:, 1] = far + (address_of(remote) - remote_base)
    pieces[:, 2:] = block_bytes, count, near_stride, far_stride
    return pieces


def _copy(function, what, place, local, remote, remote_base):
    if local.size:
        pieces = _pieces_of(local, remote, remote_base)
        _carry_out(function, _Pieces(place, pieces.ctypes.data, len(pieces)), what, (pieces, local))


def read(place, local, remote, remote_base):
    """Copies elements from another process. `remote` has their layout, `place` is that of `remote_base`."""
    _copy(library.nagaya_llcl_try_read_pieces, "get", place, local, remote, remote_base)


def write(place, local, remote, remote_base):
    """Copies elements to another process, which can see them on return."""
    _copy(library.nagaya_llcl_try_write_pieces, "put", place, local, remote, remote_base)


def read_bytes(place, size_bytes):
    """Returns a copy of bytes of another process."""
    copied = numpy.empty(size_bytes, numpy.uint8)
    read(place, copied, copied, address_of(copied))
    return copied.tobytes()


def address_of(array):
    if array.flags.writeable and array.flags.c_contiguous and array.nbytes:
        try:
            return ctypes.addressof(ctypes.c_char.from_buffer(array))  # the fastest way
        except (BufferError, TypeError, ValueError):
            pass  # a type that the buffer protocol has not, such as dates
    return array.__array_interface__["data"][0]
