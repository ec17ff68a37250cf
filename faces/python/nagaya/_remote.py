# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of processes on other nodes: elements are copied from there and to there by requests, in which the
owner's process takes no part."""
import time
import types
import weakref

import numpy

from . import _arrays, _directory, _job, _requests
from ._library import OwnerEnded, deadline_of, library

_LONGEST_PAUSE_S = 0.02  # between two looks for a name


class RemoteArray:
    """An array that another process has published, on any node: get() and put() copy elements.

    shape, dtype   as the owner sees them

    It keeps the owner's array alive, as a view does."""

    def __init__(self, memory):
        self._memory = memory
        self.shape, self.dtype = memory.shape, memory.dtype

    def get(self, index=..., into=None):
        """Returns a copy of the elements that numpy's basic indexing chooses (integers, slices, `...`).

        into   a writable array of their type and shape, which gets them in place of a new one

        Raises IndexError, TypeError (another kind of index), ValueError (`into` does not fit), OSError (the
        owner's node cannot be reached)."""
        chosen = self._memory.choose(index)
        if into is None:
            into = numpy.empty(chosen.shape, chosen.dtype)
        elif not (isinstance(into, numpy.ndarray) and into.flags.writeable and into.dtype == chosen.dtype and
                  into.shape == chosen.shape):
            raise ValueError(f"`into` has to be a writable numpy array of {chosen.dtype} of shape {chosen.shape}")
        self._memory.read(chosen, into)
        return into

    def put(self, values, index=...):
        """Stores values, broadcast as by numpy's assignment, into the elements that an index of get() chooses.
        The owner can see them when the call returns. Raises as get(); ValueError if the owner's array is
        read-only or `values` do not fit."""
        if not self._memory.is_writable:
            raise ValueError("the owner's array is read-only")
        chosen = self._memory.choose(index)
        values = numpy.asarray(values, chosen.dtype)
        self._memory.write(chosen, numpy.ascontiguousarray(numpy.broadcast_to(values, chosen.shape)))

    def fetch_add(self, index, change):
        """Adds to an int64, as nagaya.fetch_add() does. Returns its value from before."""
        chosen = self._memory.choose(index)
        if chosen.dtype != numpy.int64 or chosen.ndim != 0 or not self._memory.is_writable:
            raise ValueError("fetch_add needs a writable array of int64, and the index of one element")
        return self._memory.add(chosen, change)


class _Here:
    """Memory of a process of this node."""

    def __init__(self, rank, name, timeout):
        self._view, self.is_writable = _arrays.view_as_it_is(rank, name, timeout)
        self.shape, self.dtype = self._view.shape, self._view.dtype

    def choose(self, index):
        return self._view[_without_elements(index)]

    def read(self, chosen, into):
        numpy.copyto(into, chosen)

    def write(self, chosen, values):
        numpy.copyto(chosen, values)

    def add(self, chosen, change):
        return _arrays.fetch_add(chosen.reshape(1), 0, change)


class _There:
    """Memory of a process of another node."""

    def __init__(self, rank, name, timeout):
        found = _wait_for(rank, name, deadline_of(timeout))
        weakref.finalize(self, _requests.add_at, found.block, -1).atexit = False
        block = _requests.read_bytes(found.block, found.block_bytes)
        self._lowest, description = _arrays.lowest_and_description(block)
        layout, self.is_writable = _arrays.layout_of(description)
        self.shape, self.dtype = layout.shape, layout.dtype
        nowhere = types.SimpleNamespace(__array_interface__=_arrays.bytes_at(_NOWHERE, layout.size_bytes, True))
        self._stand_in = layout.array(numpy.asarray(nowhere))

    def choose(self, index):
        return self._stand_in[_without_elements(index)]

    def read(self, chosen, into):
        _requests.read(self._lowest, into, chosen, _NOWHERE)

    def write(self, chosen, values):
        _requests.write(self._lowest, values, chosen, _NOWHERE)

    def add(self, chosen, change):
        return _requests.add_at(self._lowest.plus(_requests.address_of(chosen) - _NOWHERE), change)


_NOWHERE = 1 << 20  # the address of arrays that stand for other nodes' memory; nobody reads there


def _without_elements(index):
    """Returns an index by which numpy reads no element: it makes a view."""
    index = index if isinstance(index, tuple) else (index,)
    for part in index:
        if isinstance(part, (bool, numpy.bool_)) or not (
                part is Ellipsis or isinstance(part, (slice, int, numpy.integer))):
            raise TypeError(f"the index {part!r} is no integer, slice or `...`")
    return index if any(part is Ellipsis for part in index) else (*index, ...)


def _wait_for(rank, name, deadline):
    """Returns the place of a publication, with this process counted among its viewers."""
    c_name, pause = _arrays.name_of(name), 0.
    while True:
        found, is_over = _directory.find(rank, c_name)
        if found is not None:
            _requests.add_at(found.block, 1)
            if found.is_valid():
                return found
            _requests.add_at(found.block, -1)
        elif is_over:
            raise OwnerEnded(f"{name!r}: that process has ended")
        elif deadline is not None and time.monotonic() >= deadline:
            raise TimeoutError
        else:
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE_S, 2 * pause + 1e-5)


def remote(rank, name, timeout=None):
    """Returns the array that any process of the job has published, on this node or on another one, for
    copies: a RemoteArray. Waits until it is published.

        edge = nagaya.remote(right, "field").get((slice(None), 0))    # its first column

    Arguments and errors are those of view(). Over several nodes a process can have published 1023 arrays at
    once. Nothing is done by the owner: copies go on while it computes."""
    memory = _Here if _job.process_of(rank).node == library.nagaya_comm_node() else _There
    try:
        return RemoteArray(memory(rank, name, timeout))
    except TimeoutError as late:
        raise _arrays.not_published(rank, name, lambda *of: RemoteArray(memory(*of, timeout=0)).get()) from late
