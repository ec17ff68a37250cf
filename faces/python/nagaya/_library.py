# SPDX-License-Identifier: BSD-3-Clause
"""libnagaya's C functions, and their errors as exceptions."""
import ctypes
import errno
import math
import os
import pathlib
import time

SLICE_MS = 200  # a wait lets Python look for signals so often


def _load():
    package = pathlib.Path(__file__).resolve().parent
    folders = (package / "lib", package.parents[2], package.parents[3] / "lib64")  # of a wheel, of a prefix
    found = [str(folder / "libnagaya.so.0") for folder in folders if (folder / "libnagaya.so.0").exists()]
    library = ctypes.CDLL(found[0] if found else "libnagaya.so.0")
    library.nagaya_error_text.restype = ctypes.c_char_p
    library.nagaya_heap_alloc.restype = ctypes.c_void_p
    for function in (library.nagaya_comm_size, library.nagaya_comm_rank, library.nagaya_comm_nodes,
                     library.nagaya_comm_node):
        function.restype = ctypes.c_int64
    return library


library = _load()


class _NoCalls:
    """Takes the place of calls.c where there is none, as for a Python without the stable ABI. Its functions return
    None, as those of calls.c do for arguments that they do not know: then ctypes does the same."""
    barrier = scatter = gather = fetch_add = store = look_up = staticmethod(lambda *_: None)


try:
    from . import _calls as calls  # type: ignore[attr-defined]  # after _load(): it uses the same library
except ImportError:
    calls = _NoCalls


class Process(ctypes.Structure):
    """nagaya_process of llcl.h."""
    _fields_ = [("node", ctypes.c_uint32), ("task", ctypes.c_uint32)]


class OwnerEnded(RuntimeError):
    """A process of the job has ended without doing what is waited for."""


class NotATask(RuntimeError):
    """This process is in no address space of Nagaya: it was not started by `nagaya run`, or it is a
    forked child of such a process."""


def check(result, what):
    """Returns a result that is not negative. Raises what the negative errno stands for."""
    if result >= 0:
        return result
    if result == -errno.ESRCH:
        cure = ("leave out --separate, which makes ordinary processes" if "NAGAYA_SEPARATE" in os.environ else
                "start it by `nagaya run -n 4 python3 ...` (a child that a task forks is none)")
        raise NotATask(f"{what}: this process is no task of a job: {cure}")
    if result == -errno.EOWNERDEAD:
        raise OwnerEnded(f"{what}: that process has ended")
    if result == -errno.ETIMEDOUT:
        raise TimeoutError(errno.ETIMEDOUT, f"{what}: it did not happen in time")
    raise OSError(-result, f"{what}: {os.strerror(-result)}")


def deadline_of(seconds):
    """Returns the end of a wait that begins now; None: there is none."""
    return None if seconds is None else time.monotonic() + seconds


def wait(call, deadline, what):
    """Calls call(timeout in ms) until it returns anything else than -ETIMEDOUT, or the deadline is over."""
    while True:
        left_ms = SLICE_MS if deadline is None else math.ceil(1000 * max(0, deadline - time.monotonic()))
        result = call(min(SLICE_MS, left_ms))
        if result != -errno.ETIMEDOUT or left_ms == 0:
            return check(result, what)


def hold(thing):
    """Keeps an object although the interpreter ends: other processes use its memory then, too."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def let_go(thing):
    """Ends one hold()."""
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(thing))
