# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that other processes of the node use where they lie."""
import ast
import ctypes
import threading
import weakref

import numpy

from . import _job
from ._library import check, library, wait

_ELEMENT_INT64, _REDUCE_SUM = 3, 2  # of nagaya/reduction.h


class _Publication(ctypes.Structure):
    """A block of the space's heap: what the published address points to. The text behind it is the
    array's type, shape and strides. A block is never used for anything else, because another task may
    count itself as a viewer just after the withdrawal."""
    _fields_ = [("viewers", ctypes.c_int64), ("data", ctypes.c_uint64), ("text_bytes", ctypes.c_uint64)]


class _Accumulation(ctypes.Structure):
    """nagaya_llcl_accumulation of llcl.h."""
    _fields_ = [("type", ctypes.c_int), ("operation", ctypes.c_int), ("count", ctypes.c_size_t),
                ("target", ctypes.c_void_p), ("target_runs", ctypes.c_void_p),
                ("origin", ctypes.c_void_p), ("result", ctypes.c_void_p)]


def _add(address, change):
    """Adds to a 64-bit integer of any task, atomically. Returns its value from before."""
    origin, before = ctypes.c_int64(change), ctypes.c_int64()
    result = library.nagaya_llcl_accumulate(ctypes.byref(_Accumulation(
        _ELEMENT_INT64, _REDUCE_SUM, 1, address, None, ctypes.addressof(origin), ctypes.addressof(before))))
    return result, before.value


def fetch_add(array, index, change):
    """Adds to an element of an array of int64, which may be another process's (view with writable=True),
    atomically against all calls of this function. Returns its value from before."""
    element = array[index:index + 1]
    if array.dtype != numpy.int64 or array.ndim != 1 or element.size != 1 or not array.flags.writeable:
        raise ValueError("fetch_add needs a writable array of int64 with one dimension, and an index in it")
    result, before = _add(element.__array_interface__["data"][0], change)
    check(result, "fetch_add")
    return before


def _add_viewers(block, change):
    """Changes the number of viewers of a publication. Returns the number from before; 0 in a forked child."""
    return _add(block + _Publication.viewers.offset, change)[1]


class _Blocks:
    """Blocks for publications, by the size of their text: powers of two."""

    def __init__(self):
        self._free = {}

    def take(self, text_bytes):
        capacity = max(256, 1 << (text_bytes - 1).bit_length())
        if self._free.get(capacity):
            return self._free[capacity].pop(), capacity
        block = library.nagaya_heap_alloc(ctypes.c_size_t(ctypes.sizeof(_Publication) + capacity))
        if not block:
            raise MemoryError("the heap of the address space is exhausted")
        _Publication.from_address(block).viewers = 0
        return block, capacity

    def give_back(self, block, capacity):
        self._free.setdefault(capacity, []).append(block)


class _Published:
    """An array of this process, kept alive as long as it is published or viewed."""

    def __init__(self, array):
        text = describe(array.dtype, array.shape, strides=array.strides)
        self.array = array
        self.block, self.capacity = _blocks.take(len(text))
        publication = _Publication.from_address(self.block)
        publication.data = array.__array_interface__["data"][0]
        publication.text_bytes = len(text)
        ctypes.memmove(self.block + ctypes.sizeof(_Publication), text, len(text))


_lock = threading.Lock()  # for these
_blocks = _Blocks()
_published = {}  # by name
_withdrawn = []  # were still viewed when last looked at


def _free_unviewed():
    for entry in list(_withdrawn):
        if _add_viewers(entry.block, 0) <= 0:
            _withdrawn.remove(entry)
            _blocks.give_back(entry.block, entry.capacity)


def publish(name, array):
    """Lets the other processes of this node use the memory of an array, by view().

    name    up to 63 bytes; an array that was published under it before is withdrawn
    array   a numpy array, or anything with the buffer protocol or DLPack, on the processor's memory; of
            any shape and strides, with elements that are no Python objects

    The array stays alive until it is withdrawn, and nobody views it any more. Nothing is copied: later
    changes of elements are seen by others, which have to agree on when to look (barrier()). Returns the
    array as numpy sees it. Raises NotATask, TypeError (elements that are objects), ValueError (the name).
    """
    array = as_array(array)
    if not 0 < len(name.encode()) <= 63:
        raise ValueError(f"the name {name!r} has not 1 to 63 bytes")
    check(library.nagaya_task_self(), "publish")
    with _lock:
        _free_unviewed()
        entry = _Published(array)
        check(library.nagaya_task_publish(name.encode(), ctypes.c_void_p(entry.block)), "publish")
        before = _published.get(name)
        _published[name] = entry
        if before is not None:
            _withdrawn.append(before)
    return array


def withdraw(name):
    """Ends a publication: later calls of view() wait for the next one of that name. Views that exist
    keep the array alive. Raises KeyError if nothing is published under the name."""
    with _lock:
        entry = _published.pop(name)
        check(library.nagaya_task_publish(name.encode(), None), "withdraw")
        _withdrawn.append(entry)
        _free_unviewed()


def view(rank, name, writable=False, timeout=None):
    """Returns the array that a process of this node has published, as a numpy array of its memory:
    no element is copied. Waits until it is published.

    rank       of the owner, which may be this process
    writable   whether elements can be changed through the view
    timeout    the longest wait in seconds; None: as long as the owner lives

    The view, and what is made of it without a copy, keeps the owner's array alive, also after
    withdraw(); it stays usable when the owner has ended. Elements that the owner changes meanwhile
    are seen in any order: use barrier() or messages. Raises OwnerEnded (the owner has ended),
    TimeoutError, ValueError (no such rank, or one of another node), NotATask."""
    process = _job.process_of(rank)
    if process.node != library.nagaya_comm_node():
        raise ValueError(f"rank {rank} lives on another node: its memory cannot be viewed")
    return numpy.asarray(_View(_found(process.task, name, timeout), writable))


def _found(task, name, timeout):
    """Returns the block of a publication, with this process counted among its viewers."""
    while True:
        block = _look_up(task, name, timeout)
        _add_viewers(block, 1)
        # Published still, so the owner will see the viewer; or again, in the same block.
        try:
            if _look_up(task, name, 0) == block:
                return block
        except FileNotFoundError:
            pass
        _add_viewers(block, -1)


def _look_up(task, name, timeout):
    address = ctypes.c_void_p()
    wait(lambda ms: library.nagaya_task_lookup(ctypes.c_int(task), name.encode(), ctypes.c_int(ms),
                                               ctypes.byref(address)), timeout, f"view of {name!r}")
    return address.value


class _View:
    """The memory of a published array, as numpy asks for it."""

    def __init__(self, block, writable):
        weakref.finalize(self, _add_viewers, block, -1).atexit = False
        publication = _Publication.from_address(block)
        text = ctypes.string_at(block + ctypes.sizeof(_Publication), publication.text_bytes).decode()
        described = ast.literal_eval(text)
        dtype = numpy.lib.format.descr_to_dtype(described["descr"])
        self.__array_interface__ = {
            "version": 3, "typestr": dtype.str, "descr": dtype.descr, "shape": described["shape"],
            "strides": described["strides"], "data": (publication.data, not writable)}


def describe(dtype, shape, **more):
    """Returns the type and shape of an array as text, which ast.literal_eval reads."""
    return repr({"descr": numpy.lib.format.dtype_to_descr(dtype), "shape": shape, **more}).encode()


def as_array(array):
    """Returns a numpy array of the same memory. Raises TypeError (elements that are Python objects)."""
    if hasattr(array, "__dlpack__") and not isinstance(array, numpy.ndarray):
        array = numpy.from_dlpack(array)
    array = numpy.asarray(array)
    if array.dtype.hasobject:
        raise TypeError(f"elements of type {array.dtype} are Python objects, which only their own process "
                        "can use")
    return array
