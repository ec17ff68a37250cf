# SPDX-License-Identifier: BSD-3-Clause
"""The names of published arrays, for processes of other nodes: each process of a job with several nodes has a
table of its names and their blocks (_arrays.py), which the others read by requests.

A block and its place never change their meaning, so only the table can be read while it is being written. Its
owner makes the serial number odd before and even after that; a reader that has read two equal, even numbers
before and after counting itself at the block has found the array that has the name."""
import atexit
import ctypes
import errno

from . import _requests
from ._library import Process, check, library

_NAMES_MAX = 1023
_NAME_BYTES = 64
_FIRST_LOOK = 31  # names that the first read of a table takes along


class _Entry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * _NAME_BYTES), ("block", _requests.Place), ("block_bytes", ctypes.c_uint64)]


class _Table(ctypes.Structure):
    _fields_ = [("serial", ctypes.c_int64), ("count", ctypes.c_uint32), ("is_over", ctypes.c_uint32),
                ("entries", _Entry * _NAMES_MAX)]


class _Own:
    """This process's table."""

    def __init__(self):
        self._address = None
        self._names = {}  # (place, bytes) of the blocks; kept before the table exists, too
        self._changes = 0  # counted, because a destructor may change names while the table is being written
        self._is_writing = False

    def open(self):
        """Makes the table in the space's heap. Returns its place."""
        self._address = library.nagaya_heap_alloc(ctypes.c_size_t(ctypes.sizeof(_Table)))
        if not self._address:
            raise MemoryError("the heap of the address space is exhausted")
        ctypes.memset(self._address, 0, ctypes.sizeof(_Table))
        self._write()
        return _requests.register(self._address, ctypes.sizeof(_Table))

    def is_open(self):
        return self._address is not None

    def announce(self, name, block, block_bytes):
        if name not in self._names and len(self._names) == _NAMES_MAX:
            raise OSError(errno.ENOSPC, f"more than {_NAMES_MAX} arrays are published, in a job with several nodes")
        self._names[name] = (block, block_bytes)
        self._write()

    def withdraw(self, name):
        if self._names.pop(name, None):
            self._write()

    def close(self):
        """Tells those who wait for a name that none will come."""
        _Table.from_address(self._address).is_over = 1

    def _write(self):
        self._changes += 1
        if self._is_writing:
            return
        self._is_writing, written = True, 0
        while written != self._changes:
            written = self._changes
            entries = b"".join(bytes(_Entry(name, *block)) for name, block in list(self._names.items()))
            _requests.add(self._address, 1)
            _Table.from_address(self._address).count = len(entries) // ctypes.sizeof(_Entry)
            ctypes.memmove(self._address + _Table.entries.offset, entries, len(entries))
            _requests.add(self._address, 1)
        self._is_writing = False


own = _Own()
_tables: list = []  # places, by rank


def open_all(processes):
    """Collective: makes the tables of all processes known to each other."""
    mine, places = own.open(), (_requests.Place * processes)()
    check(library.nagaya_comm_allgather(ctypes.byref(mine), ctypes.c_size_t(ctypes.sizeof(mine)), places),
          "joining the job")
    _tables[:] = places
    atexit.register(own.close)


class Found:
    """A name in the table of another process."""

    def __init__(self, rank, serial, entry):
        self.block, self.block_bytes, self._rank, self._serial = entry.block, entry.block_bytes, rank, serial

    def is_valid(self):
        return _requests.add_at(_tables[self._rank], 0) == self._serial


def find(rank, name):
    """Returns (Found, or None; whether the process is about to end)."""
    looked_at = _FIRST_LOOK
    while True:
        table = _read(rank, looked_at)
        if table.count > looked_at:
            looked_at = min(table.count, _NAMES_MAX)
        elif table.serial % 2 == 0:
            found = [entry for entry in table.entries[:table.count] if entry.name == name]
            return (Found(rank, table.serial, found[0]) if found else None), table.is_over


def is_over(rank):
    """Returns whether a process is about to end."""
    return _read(rank, 0).is_over


def _read(rank, entries):
    data = _requests.read_bytes(_tables[rank], _Table.entries.offset + entries * ctypes.sizeof(_Entry))
    return _Table.from_buffer_copy(data.ljust(ctypes.sizeof(_Table), b"\0"))
