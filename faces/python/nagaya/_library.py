# SPDX-License-Identifier: BSD-3-Clause
"""libnagaya's C functions, and their errors as exceptions."""
import ctypes
import errno
import os
import pathlib

_SLICE_MS = 200  # a wait lets Python look for signals so often


def _load():
    package = pathlib.Path(__file__).resolve().parent
    beside = [folder / "libnagaya.so.0" for folder in (package / "lib", package.parents[2])]  # wheel, prefix
    found = next((str(path) for path in beside if path.exists()), "libnagaya.so.0")
    library = ctypes.CDLL(found)
    library.nagaya_error_text.restype = library.nagaya_strerror.restype = ctypes.c_char_p
    library.nagaya_heap_alloc.restype = ctypes.c_void_p
    for function in (library.nagaya_comm_size, library.nagaya_comm_rank, library.nagaya_comm_nodes,
                     library.nagaya_comm_node):
        function.restype = ctypes.c_int64
    library.nagaya_match_eager_max.restype = ctypes.c_size_t
    return library


library = _load()


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
        raise NotATask(f"{what}: this process is no task of a job: start it by `nagaya run -n 4 python3 ...` "
                       "(a child that a task forks is none)")
    if result == -errno.EOWNERDEAD:
        raise OwnerEnded(f"{what}: that process has ended")
    if result == -errno.ETIMEDOUT:
        raise TimeoutError(errno.ETIMEDOUT, f"{what}: it did not happen in time")
    raise OSError(-result, f"{what}: {os.strerror(-result)}")


def wait(call, seconds, what):
    """Calls call(timeout in ms) until it returns anything else than -ETIMEDOUT, or time is over."""
    left_ms = None if seconds is None else max(0, int(seconds * 1000))
    while True:
        slice_ms = _SLICE_MS if left_ms is None else min(_SLICE_MS, left_ms)
        result = call(slice_ms)
        if left_ms is not None:
            left_ms -= slice_ms
        if result != -errno.ETIMEDOUT or left_ms == 0:
            return check(result, what)
