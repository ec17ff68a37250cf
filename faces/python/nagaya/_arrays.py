# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that other processes of the node use where they lie."""
import ctypes
import errno
import functools
import itertools
import pickle
import threading
import weakref

import numpy

from . import _directory, _job, _requests
from ._library import calls, check, deadline_of, hold, let_go, library, wait

_PREFIX = b"python:"  # names that C programs publish are none of ours
_OWN_NAMES = "nagaya."  # begin so
_LIST = "nagaya.names"  # an array of this process: the names that it has published, for people
_LIST_BYTES, _LISTED_MAX = 4096, 20
_NAME_MAX = 63 - len(_PREFIX)


class _Publication(ctypes.Structure):
    """A block of the space's heap: the published address points to it. The pickle behind it is the
    array's type, shape, strides, and whether it is writable. A block is never used for anything else,
    because another task may count itself as a viewer just after the withdrawal."""
    _fields_ = [("viewers", ctypes.c_int64), ("data", ctypes.c_uint64), ("pickle_bytes", ctypes.c_uint64),
                ("lowest", _requests.Place)]  # the array's byte at the lowest address, for other nodes


def fetch_add(array, index, change):
    """Adds to an element of an array of int64, which may be another process's (view with writable=True),
    atomically against all calls of this function. Returns its value from before."""
    before = calls.fetch_add(array, index, change)
    if before is not None:
        return before
    if array.dtype != numpy.int64 or array.ndim != 1:
        raise ValueError(f"fetch_add needs an array of int64 with one dimension, not {array.dtype} with {array.ndim} "
                         "(a.reshape(-1) of a contiguous array has one)")
    if not array.flags.writeable:
        raise ValueError("fetch_add needs a writable array: view(rank, name, writable=True)")
    element = array[index:index + 1]
    if element.size != 1:
        raise ValueError(f"fetch_add: index {index} is not one of 0 .. {array.size - 1}")
    if not -1 << 63 <= change < 1 << 63:
        raise ValueError(f"fetch_add: {change} is no int64")
    result, before = _requests.add(_requests.address_of(element), change)
    check(result, "fetch_add")
    return before


def _add_viewers(block, change):
    """Changes the number of viewers of a publication. Returns the number from before; 0 in a forked child."""
    return _requests.add(block + _Publication.viewers.offset, change)[1]


class _Blocks:
    """Blocks for publications, by the bytes that they have for a pickle: powers of two."""

    def __init__(self):
        self._free_by_capacity = {}
        self._places = {}  # of those that processes of other nodes know

    def take(self, pickle_bytes):
        capacity = max(256, 1 << (pickle_bytes - 1).bit_length())
        if self._free_by_capacity.get(capacity):
            return self._free_by_capacity[capacity].pop(), capacity
        block = library.nagaya_heap_alloc(ctypes.c_size_t(ctypes.sizeof(_Publication) + capacity))
        if not block:
            raise MemoryError("the heap of the address space is exhausted")
        _Publication.from_address(block).viewers = 0
        return block, capacity

    def place_of(self, block, capacity):
        if block not in self._places:
            self._places[block] = _requests.register(block, ctypes.sizeof(_Publication) + capacity)
        return self._places[block]

    def give_back(self, block, capacity):
        self._free_by_capacity.setdefault(capacity, []).append(block)


class Layout:
    """Where the elements of an array lie: in `size_bytes` bytes, of which it begins at the byte `first`."""

    def __init__(self, dtype, shape, strides):
        self.dtype, self.shape, self._strides = dtype, shape, strides
        steps = [] if 0 in shape else [(length - 1) * stride for length, stride in zip(shape, strides)]
        self.first = -sum(step for step in steps if step < 0)
        self.size_bytes = self.first + sum(step for step in steps if step > 0) + dtype.itemsize

    def array(self, memory):
        """Returns an array in bytes (of numpy). Nothing is read from them."""
        if 0 not in self.shape:
            return numpy.ndarray(self.shape, self.dtype, memory, self.first, self._strides)
        empty = numpy.ndarray(self.shape, self.dtype)
        empty.flags.writeable = memory.flags.writeable
        return empty


class _Entry:
    """An array of this process that is published, or is still viewed. Other processes use its memory also
    when this process has ended."""

    def __init__(self, array):
        description = pickle.dumps((array.dtype, array.shape, array.strides, array.flags.writeable))
        self.array, self.is_withdrawn, self._lowest = array, False, None
        self.block, self._capacity = _blocks.take(len(description))
        self.block_bytes = ctypes.sizeof(_Publication) + len(description)
        publication = _Publication.from_address(self.block)
        publication.data = _requests.address_of(array)
        publication.pickle_bytes = len(description)
        ctypes.memmove(self.block + ctypes.sizeof(_Publication), description, len(description))
        hold(array)

    def announce(self, c_name):
        """Lets processes of other nodes find the array."""
        publication = _Publication.from_address(self.block)
        layout = Layout(self.array.dtype, self.array.shape, self.array.strides)
        self._lowest = _requests.register(publication.data - layout.first, layout.size_bytes)
        publication.lowest = self._lowest
        _directory.own.announce(c_name, _blocks.place_of(self.block, self._capacity), self.block_bytes)

    def is_unused(self):
        return self.is_withdrawn and _add_viewers(self.block, 0) <= 0

    def give_back(self):
        if self._lowest is not None:
            _requests.deregister(self._lowest)
        _blocks.give_back(self.block, self._capacity)


# The lock guards the others. A thread may take it again: by a destructor or a signal's handler.
_lock = threading.RLock()
_blocks = _Blocks()
_entries: list = []  # all
_published: dict = {}  # entries by name; an entry is withdrawn only after another one, or None, was published


def _open_directory():
    """Lets processes of other nodes find all that is published. Collective."""
    with _lock:
        _directory.open_all(library.nagaya_comm_size())
        for name, entry in _published.items():
            entry.announce(name_of(name))


_job.with_several_nodes.append(_open_directory)


def _free_unused():
    """Lets arrays go that are withdrawn and that nobody views."""
    with _lock:
        unused = [entry for entry in list(_entries) if entry.is_unused()]
        for entry in unused:
            _entries.remove(entry)
            entry.give_back()
    for entry in unused:
        let_go(entry.array)


def share(array):
    """Lets the other processes of this node use the memory of an array, by view_shared() of its block. It has no
    name: the block is handed on in another way."""
    with _lock:
        _entries.append(entry := _Entry(array))
    return entry


def end_sharing(entries):
    """Called when nobody calls view_shared() any more. Views that exist keep the arrays alive."""
    for entry in entries:
        entry.is_withdrawn = True
    _free_unused()


def view_shared(block, writable):
    _add_viewers(block, 1)
    return _View(block).array(writable)


def name_of(name):
    encoded = name.encode()
    if not 0 < len(encoded) <= _NAME_MAX or b"\0" in encoded:
        raise ValueError(f"the name {name!r} has not 1 to {_NAME_MAX} bytes, or has a zero byte")
    return _PREFIX + encoded


def publish(name, array):
    """Lets the other processes of this node use the memory of an array, by view().

    name    up to 56 bytes, not beginning with "nagaya."; an array that was published under it before is
            withdrawn
    array   a numpy array, or anything with the buffer protocol or DLPack, in the processor's memory; of
            any shape and strides, with elements that are no Python objects

    The array stays alive until it is withdrawn, and nobody views it any more; the calls of publish() and
    withdraw() find that out. Nothing is copied: later changes of elements are seen by others, which have to
    agree on when to look (barrier()). Returns the array as numpy sees it. Raises NotATask, TypeError
    (elements that are objects), ValueError (the name)."""
    if name.startswith(_OWN_NAMES):
        raise ValueError(f"the name {name!r} begins with {_OWN_NAMES!r}, as names of the package itself do")
    is_new = name not in _published
    array = publish_any(name, array)
    if is_new:
        _write_list()
    return array


def publish_any(name, array):
    """publish(), also for names of the package itself."""
    array, c_name = as_array(array), name_of(name)
    check(library.nagaya_task_self(), "publish")
    _free_unused()
    with _lock:
        entry = _Entry(array)
        _entries.append(entry)
        result = library.nagaya_task_publish(c_name, ctypes.c_void_p(entry.block))
        replaced = entry if result < 0 else _published.get(name)
        if result >= 0:
            _published[name] = entry
            if _directory.own.is_open():
                entry.announce(c_name)
        if replaced is not None:
            replaced.is_withdrawn = True
    _free_unused()
    check(result, "publish")
    return array


def withdraw(name):
    """Ends a publication: later calls of view() wait for the next one of that name. Views that exist
    keep the array alive. Raises KeyError if nothing is published under the name."""
    check(library.nagaya_task_self(), "withdraw")
    with _lock:
        entry = _published[name]
        check(library.nagaya_task_publish(name_of(name), None), "withdraw")
        del _published[name]
        _directory.own.withdraw(name_of(name))
        entry.is_withdrawn = True
    _write_list()
    _free_unused()


@functools.lru_cache(maxsize=None)
def _list():
    return publish_any(_LIST, numpy.zeros(_LIST_BYTES, numpy.uint8))


def _write_list():
    """Writes the names for not_published()."""
    with _lock:
        names = (name for name in list(_published) if not name.startswith(_OWN_NAMES))
        shown = [repr(name) for name in itertools.islice(names, _LISTED_MAX + 1)]
    if len(shown) > _LISTED_MAX:
        shown[_LISTED_MAX] = "others"
    text = ", ".join(shown).encode(errors="replace")[:_LIST_BYTES]
    _list()[:] = numpy.frombuffer(text.ljust(_LIST_BYTES, b"\0"), numpy.uint8)


def not_published(rank, name, find):
    """Returns the exception for a wait in vain. find(rank, name) returns an array or raises TimeoutError."""
    try:
        names = find(rank, _LIST).tobytes().rstrip(b"\0").decode(errors="replace")
    except TimeoutError:
        names = ""
    return TimeoutError(errno.ETIMEDOUT, f"rank {rank} has not published {name!r} in time; it has published "
                                         f"{names or 'nothing'}")


def view(rank, name, writable=False, timeout=None):
    """Returns the array that a process of this node has published, as a numpy array of its memory:
    no element is copied. Waits until it is published.

    rank       of the owner, which may be this process
    writable   whether elements can be changed through the view
    timeout    the longest wait in seconds; None: as long as the owner lives

    The view, and each array made of it without a copy, keeps the owner's array alive, also after
    withdraw(); it stays usable when the owner has ended. Elements that the owner changes meanwhile
    are seen in any order: use barrier() or messages. A wait for a misspelt name has no end without a timeout;
    `nagaya top` shows it. Raises OwnerEnded (the owner has ended), TimeoutError (with the names that the owner has
    published), ValueError (no such rank, or one of another node; `writable` for a read-only array), NotATask."""
    try:
        return _view(rank, name, timeout).array(writable)
    except TimeoutError as late:
        raise not_published(rank, name, lambda *of: _view(*of, timeout=0).array(False)) from late


def view_as_it_is(rank, name, timeout):
    """Returns (a view, which is writable if the owner's array is; whether it is)."""
    memory = _view(rank, name, timeout)
    return memory.array(memory.is_writable), memory.is_writable


def _view(rank, name, timeout):
    process = _job.process_of(rank)
    if process.node != library.nagaya_comm_node():
        raise ValueError(f"rank {rank} lives on another node: its memory cannot be viewed, but remote() copies")
    return _View(_counted_block(process.task, name, deadline_of(timeout)))


def _counted_block(task, name, deadline):
    """Returns the block of a publication, with this process counted among its viewers."""
    while True:
        block = _look_up(task, name, deadline)
        _add_viewers(block, 1)
        # The count comes too late if the owner has withdrawn the array before. So the block has to be
        # published still (or again, for another array: that is the one of the name now).
        try:
            if _look_up(task, name, deadline_of(0)) == block:
                return block
        except TimeoutError:
            pass
        _add_viewers(block, -1)


def _look_up(task, name, deadline):
    """Returns the address of a publication."""
    address, c_name = ctypes.c_void_p(), name_of(name)

    def call(ms):
        found = calls.look_up(task, c_name, ms)
        if found is None:
            result = library.nagaya_task_lookup(ctypes.c_int(task), c_name, ctypes.c_int(ms), ctypes.byref(address))
            return -errno.ETIMEDOUT if result == -errno.ENOENT else result
        if found > 0:
            address.value = found
        return min(found, 0)
    wait(call, deadline, f"view of {name!r}")
    return address.value


class _View:
    """The memory of a published array, for numpy. Its end is that of the view."""

    def __init__(self, block):
        weakref.finalize(self, _add_viewers, block, -1).atexit = False
        publication = _Publication.from_address(block)
        self._data = publication.data
        self._layout, self.is_writable = layout_of(
            ctypes.string_at(block + ctypes.sizeof(_Publication), publication.pickle_bytes))

    def array(self, writable):
        if writable and not self.is_writable:
            raise ValueError("the owner's array is read-only")
        self.__array_interface__ = bytes_at(self._data - self._layout.first, self._layout.size_bytes, writable)
        return self._layout.array(numpy.asarray(self))


@functools.lru_cache(maxsize=1000)
def layout_of(description):
    """Returns (layout, whether the array is writable) of the pickle of a publication."""
    *layout, is_writable = pickle.loads(description)
    return Layout(*layout), is_writable


def lowest_and_description(block):
    """Returns the place of an array's lowest byte, and the pickle, of the bytes of a block."""
    publication = _Publication.from_buffer_copy(block)
    begin = ctypes.sizeof(_Publication)
    return publication.lowest, block[begin:begin + publication.pickle_bytes]


def bytes_at(address, size_bytes, writable):
    """Returns an __array_interface__ of bytes."""
    return {"version": 3, "typestr": "|u1", "shape": (size_bytes,), "data": (address, not writable)}


def as_array(array):
    """Returns a numpy array of the same memory. Raises TypeError (elements that are Python objects)."""
    if hasattr(array, "__dlpack__") and not isinstance(array, numpy.ndarray):
        array = numpy.from_dlpack(array)
    array = numpy.asarray(array)
    if array.dtype.hasobject:
        raise TypeError(f"elements of type {array.dtype} are Python objects, which only their own process "
                        "can use")
    return array
