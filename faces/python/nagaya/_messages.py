# SPDX-License-Identifier: BSD-3-Clause
"""Messages of arrays, without pickling.

A message is a header (type, shape) in the context of all Python messages. A short array lies behind its
header. A longer one is a message of its own, in a second context under a number that the header names, so
that the receiver can make room first, and copies it once from where it lies."""
import ast
import collections
import ctypes
import errno
import functools
import itertools
import struct

import numpy

from . import _job
from ._arrays import as_array, describe
from ._library import Process, check, library, wait

_CONTEXT, _CONTEXT_OF_DATA = 0x6ffffffe, 0x6ffffffd  # of nagaya/match.h: NAGAYA_CONTEXT_PYTHON and below
_ANY = -1
_HEADER = struct.Struct("<IiQ")  # bytes of the text, number of the array's own message or -1, its bytes
_MESSAGE_MAX = 8192  # header and short array

Message = collections.namedtuple("Message", "array source tag")


class _Envelope(ctypes.Structure):
    _fields_ = [("context", ctypes.c_uint32), ("source", ctypes.c_int32), ("tag", ctypes.c_int32)]


class _Send(ctypes.Structure):
    """nagaya_send of match.h."""
    _fields_ = [("to", Process), ("envelope", _Envelope), ("is_control", ctypes.c_uint32),
                ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("runs", ctypes.c_void_p),
                ("is_synchronous", ctypes.c_uint32), ("is_complete", ctypes.c_uint32),
                ("is_cancelled", ctypes.c_uint32), ("error", ctypes.c_int32), ("serial", ctypes.c_uint32),
                ("answers", ctypes.c_uint32), ("handle", ctypes.c_uint64), ("complete", ctypes.c_void_p)]


class _Receive(ctypes.Structure):
    """nagaya_receive of match.h."""
    _fields_ = [("wanted", _Envelope), ("from_", Process), ("buffer", ctypes.c_void_p),
                ("capacity", ctypes.c_size_t), ("runs", ctypes.c_void_p), ("scatter", ctypes.c_void_p),
                ("complete", ctypes.c_void_p), ("is_complete", ctypes.c_uint32), ("error", ctypes.c_int32),
                ("matched", _Envelope), ("bytes", ctypes.c_size_t), ("member", ctypes.c_void_p * 3),
                ("order", ctypes.c_uint64)]


_numbers = itertools.count()
_abandoned = []  # sends whose wait was interrupted: the library still uses them


@functools.lru_cache(maxsize=None)
def _open():
    _job.join()
    result = library.nagaya_match_join(1)
    if result == -errno.EBUSY:  # an MPI of this process has opened them for one thread
        result = library.nagaya_match_join(0)
    check(result, "opening messages")


def _address_of(request, field):
    return ctypes.byref(request, field.offset)


class _Message:
    """A pending message of given bytes. The bytes stay as long as this object."""

    def __init__(self, to, context, tag, data, data_bytes, keep):
        self.keep = keep
        self.request = _Send(to=to, envelope=_Envelope(context, _job.rank(), tag), data=data, bytes=data_bytes)
        check(library.nagaya_match_send(ctypes.byref(self.request)), "send")

    def wait(self, timeout):
        if not self.request.is_complete:
            wait(lambda ms: library.nagaya_llcl_wait_flag(_address_of(self.request, _Send.is_complete),
                                                          ctypes.c_int(ms)), timeout, "send")
        check(self.request.error, "send")


class Sending:
    """A send that start_send() has begun."""

    def __init__(self, messages):
        self._messages = messages

    def wait(self, timeout=None):
        """Returns when the array may be changed again. Raises TimeoutError (it goes on), OSError."""
        for message in self._messages:
            message.wait(timeout)

    def __del__(self):
        _abandoned.extend(message for message in self._messages if not message.request.is_complete)


def start_send(array, to, tag=0):
    """Starts to send an array to a rank, with a tag of 0 .. 2^31 - 1, and returns a Sending. The array
    must not change before its wait() has returned. Arguments and errors are those of send()."""
    _open()
    array = as_array(array)
    text = describe(array.dtype, array.shape)
    if _HEADER.size + len(text) > _MESSAGE_MAX:
        raise ValueError(f"type and shape of the array take {len(text)} bytes as text: too long for a message")
    if not 0 <= tag < 1 << 31:
        raise ValueError(f"the tag {tag} is not one of 0 .. 2^31 - 1")
    process = _job.process_of(to)
    data = numpy.ascontiguousarray(array)
    is_short = _HEADER.size + len(text) + data.nbytes <= _MESSAGE_MAX
    number = -1 if is_short else next(_numbers) & 0x7fffffff
    head = _HEADER.pack(len(text), number, data.nbytes) + text + (data.tobytes() if is_short else b"")
    messages = [_Message(process, _CONTEXT, tag, ctypes.cast(head, ctypes.c_void_p), len(head), head)]
    if not is_short:
        messages.append(_Message(process, _CONTEXT_OF_DATA, number, data.ctypes.data, data.nbytes, data))
    return Sending(messages)


def send(array, to, tag=0, timeout=None):
    """Sends an array to a rank and returns when it may be changed again: a short one at once, a longer
    one when it was received. Nothing is pickled; a longer contiguous array is copied once.

    array   as publish() takes it    tag   0 .. 2^31 - 1    timeout   in seconds

    Messages of one process with one tag are received in the order in which they were sent. Raises
    ValueError (no such rank or tag), TypeError (elements that are objects), TimeoutError, NotATask."""
    start_send(array, to, tag).wait(timeout)


def _receive_bytes(context, source, tag, buffer, capacity, timeout):
    request = _Receive(wanted=_Envelope(context, source, tag), from_=Process(0xffffffff, 0xffffffff),
                       buffer=buffer, capacity=capacity)
    check(library.nagaya_match_receive(ctypes.byref(request)), "receive")
    flag = _address_of(request, _Receive.is_complete)
    try:
        if not request.is_complete:
            wait(lambda ms: library.nagaya_llcl_wait_flag(flag, ctypes.c_int(ms)), timeout, "receive")
    finally:
        if not request.is_complete and library.nagaya_match_cancel_receive(ctypes.byref(request)) != 0:
            library.nagaya_llcl_wait_flag(flag, -1)  # it has come: the buffer is written just now
    check(request.error, "receive")
    return request


def receive(source=None, tag=None, into=None, timeout=None):
    """Receives an array that send() has sent. Waits for it.

    source, tag   of the message; None: of any
    into          a contiguous array of the message's type and size, which gets the elements; None: a new
                  one is made
    timeout       in seconds

    Returns (array, source, tag). Raises ValueError (`into` does not fit: the message is lost),
    TimeoutError (a message that comes later can be received later), NotATask."""
    _open()
    buffer = ctypes.create_string_buffer(_MESSAGE_MAX)
    source = _ANY if source is None else source
    head = _receive_bytes(_CONTEXT, source, _ANY if tag is None else tag, ctypes.addressof(buffer),
                          _MESSAGE_MAX, timeout)
    text_bytes, number, data_bytes = _HEADER.unpack_from(buffer)
    end = _HEADER.size + text_bytes
    described = ast.literal_eval(buffer[_HEADER.size:end].decode())
    array = numpy.empty(described["shape"], numpy.lib.format.descr_to_dtype(described["descr"]))
    matched = head.matched
    if number < 0:
        ctypes.memmove(array.ctypes.data, ctypes.addressof(buffer) + end, data_bytes)
    target = array if into is None else into
    fits = target.dtype == array.dtype and target.size == array.size and target.flags.c_contiguous
    if number >= 0:
        place = target if fits else array
        _receive_bytes(_CONTEXT_OF_DATA, matched.source, number, place.ctypes.data, data_bytes, None)
    elif fits and into is not None:
        into.reshape(-1)[...] = array.reshape(-1)
    if not fits:
        raise ValueError(f"the message is {array.dtype} of shape {array.shape}, which does not fit into "
                         f"{target.dtype} of shape {target.shape}")
    return Message(target, matched.source, matched.tag)
