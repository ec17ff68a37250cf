# SPDX-License-Identifier: BSD-3-Clause
"""Messages of arrays, without pickling their elements.

A message is a header (type, shape) in the context of all Python messages. A short array lies behind its
header. A longer one is a message of its own, in a second context under a number that the header names, so
that the receiver can make room first, and copies it once from where it lies."""
import collections
import ctypes
import errno
import functools
import itertools
import pickle
import struct
import threading

import numpy

from . import _job
from ._arrays import as_array
from ._library import Process, check, deadline_of, hold, let_go, library, wait

_CONTEXT, _CONTEXT_OF_DATA = 0x6ffffffe, 0x6ffffffd  # NAGAYA_CONTEXT_PYTHON of nagaya/match.h, and the one below
_ANY = -1
_TAG_MAX = (1 << 31) - 1
_HEADER = struct.Struct("<IiQ")  # bytes of the pickle, number of the array's own message or -1, its bytes
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


@functools.lru_cache(maxsize=None)
def open_messages():
    _job.join()
    result = library.nagaya_match_join(1)
    if result == -errno.EBUSY:  # an MPI of this process has opened them for one thread
        result = library.nagaya_match_join(0)
    check(result, "opening messages")


def _flag_of(request):
    return ctypes.byref(request, type(request).is_complete.offset)


def _check_tag(tag):
    if not 0 <= tag <= _TAG_MAX:
        raise ValueError(f"the tag {tag} is not one of 0 .. 2^31 - 1")


@functools.lru_cache(maxsize=1000)
def _describe(dtype, shape):
    return pickle.dumps((dtype, shape))


_described = functools.lru_cache(maxsize=1000)(pickle.loads)


# ---- sending -------------------------------------------------------------------------------------

_numbers = itertools.count()
_pending: list = []  # messages that are not complete: others may read them also when this process has ended


def _let_complete_ones_go():
    for message in list(_pending):
        if message.request.is_complete and message in _pending:
            _pending.remove(message)
            let_go(message)


class _Message:
    """A pending message of given bytes, which lie in `keeper`."""

    def __init__(self, to, context, tag, data, data_bytes, keeper):
        self.keeper = keeper
        self.request = _Send(to=to, envelope=_Envelope(context, _job.rank(), tag), data=data, bytes=data_bytes)
        _pending.append(self)
        hold(self)
        result = library.nagaya_match_send(ctypes.byref(self.request))
        if result < 0:
            self.request.is_complete = 1
        check(result, "send")


class Sending:
    """A send that start_send() has begun."""

    def __init__(self, messages):
        self._messages = messages

    def wait(self, timeout=None):
        """Returns when the array may be changed again. Raises TimeoutError (the send goes on), OSError."""
        deadline = deadline_of(timeout)
        for request in (message.request for message in self._messages):
            if not request.is_complete:
                wait(lambda ms, request=request: library.nagaya_llcl_wait_flag(_flag_of(request), ctypes.c_int(ms)),
                     deadline, "send")
            check(request.error, "send")
        _let_complete_ones_go()


def start_send(array, to, tag=0):
    """Starts to send an array to a rank, and returns a Sending. The array must not change before its wait()
    has returned. Arguments and errors are those of send()."""
    open_messages()
    _let_complete_ones_go()
    _check_tag(tag)
    process, array = _job.process_of(to), as_array(array)
    description = _describe(array.dtype, array.shape)
    if _HEADER.size + len(description) > _MESSAGE_MAX:
        raise ValueError(f"type and shape of the array take {len(description)} bytes: too long for a message")
    data = numpy.ascontiguousarray(array)
    is_short = _HEADER.size + len(description) + data.nbytes <= _MESSAGE_MAX
    number = -1 if is_short else next(_numbers) & _TAG_MAX
    head = _HEADER.pack(len(description), number, data.nbytes) + description + (data.tobytes() if is_short else b"")
    if is_short and library.nagaya_match_try_send(process, ctypes.byref(_Envelope(_CONTEXT, _job.rank(), tag)), head,
                                                  ctypes.c_size_t(len(head)), None, None) == 0:
        return Sending(())
    messages = [_Message(process, _CONTEXT, tag, ctypes.cast(head, ctypes.c_void_p), len(head), head)]
    if not is_short:
        messages.append(_Message(process, _CONTEXT_OF_DATA, number, data.ctypes.data, data.nbytes, data))
    return Sending(messages)


def send(array, to, tag=0, timeout=None):
    """Sends an array to a rank and returns when it may be changed again: a short one at once, a longer
    one when it was received. A longer contiguous array is copied once, by the receiver.

    array   as publish() takes it    tag   0 .. 2^31 - 1    timeout   in seconds

    Messages of one process with one tag are received in the order in which they were sent. Raises
    ValueError (no such rank or tag), TypeError (elements that are objects), TimeoutError (the send goes on),
    NotATask."""
    start_send(array, to, tag).wait(timeout)


# ---- receiving -----------------------------------------------------------------------------------

class _Header:
    """The header of a message that was taken from the library and is not received yet."""

    def __init__(self, envelope, buffer):
        self.source, self.tag = envelope.source, envelope.tag
        pickle_bytes, self.number, self.data_bytes = _HEADER.unpack_from(buffer)
        self.order = next(_taken)
        end = _HEADER.size + pickle_bytes
        self.dtype, self.shape = _described(buffer[_HEADER.size:end])
        self.short_data = bytes(buffer[end:end + self.data_bytes]) if self.number < 0 else None

    def is_wanted(self, source, tag):
        return source in (_ANY, self.source) and tag in (_ANY, self.tag)

    def fits(self, target):
        return target.dtype == self.dtype and target.nbytes == self.data_bytes


class _PutBack(Exception):
    """Another thread has put back a message that this one waits for."""


_taken = itertools.count()
_headers: list = []  # taken by calls that have failed then: the next calls receive their messages
_headers_lock = threading.RLock()


def _finished(context, source, tag, buffer, capacity, deadline):
    """Returns a receive that is complete; or raises TimeoutError or an interrupt: then nothing was taken."""
    request = _Receive(wanted=_Envelope(context, source, tag), from_=Process(0xffffffff, 0xffffffff),
                       buffer=buffer, capacity=capacity)

    def call(ms):
        if context == _CONTEXT and any(header.is_wanted(source, tag) for header in list(_headers)):
            raise _PutBack
        return library.nagaya_llcl_wait_flag(_flag_of(request), ctypes.c_int(ms))
    check(library.nagaya_match_receive(ctypes.byref(request)), "receive")
    try:
        if not request.is_complete:
            wait(call, deadline, "receive")
    except BaseException as interrupt:
        if not request.is_complete and library.nagaya_match_cancel_receive(ctypes.byref(request)) == 0:
            raise
        library.nagaya_llcl_wait_flag(_flag_of(request), -1)  # it comes just now
        if not isinstance(interrupt, TimeoutError):
            if context == _CONTEXT:
                _keep(_Header(request.matched, ctypes.string_at(buffer, request.bytes)))
            raise
    check(request.error, "receive")
    return request


def _keep(header):
    with _headers_lock:
        _headers.append(header)
        _headers.sort(key=lambda one: one.order)


def _next_header(source, tag, deadline):
    while True:
        with _headers_lock:
            for header in _headers:
                if header.is_wanted(source, tag):
                    _headers.remove(header)
                    return header
        buffer = ctypes.create_string_buffer(_MESSAGE_MAX)
        try:
            head = _finished(_CONTEXT, source, tag, ctypes.addressof(buffer), _MESSAGE_MAX, deadline)
            return _Header(head.matched, buffer)
        except _PutBack:
            pass


def receive(source=None, tag=None, into=None, timeout=None):
    """Receives an array that send() has sent. Waits for it.

    source, tag   of the message; None: of any
    into          a writable contiguous array of the message's type and number of elements, which gets them;
                  None: a new one is made
    timeout       in seconds

    Returns (array, source, tag). Raises ValueError (no such rank or tag; `into` does not fit: a call without it
    receives the message then), TimeoutError (a message that comes later can be received later), NotATask."""
    open_messages()
    if source is not None:
        _job.process_of(source)
    if tag is not None:
        _check_tag(tag)
    if into is not None and not (isinstance(into, numpy.ndarray) and into.flags.writeable and
                                 into.flags.c_contiguous):
        raise ValueError("`into` has to be a writable contiguous numpy array")
    deadline = deadline_of(timeout)
    header = _next_header(_ANY if source is None else source, _ANY if tag is None else tag, deadline)
    is_received = False
    try:
        array = numpy.empty(header.shape, header.dtype) if into is None else into
        if not header.fits(array):
            raise ValueError(f"the message is {header.dtype} of shape {header.shape}, which does not fit into "
                             f"{array.dtype} of shape {array.shape}")
        if header.short_data is not None:
            ctypes.memmove(array.ctypes.data, header.short_data, header.data_bytes)
        else:
            _finished(_CONTEXT_OF_DATA, header.source, header.number, array.ctypes.data, header.data_bytes, deadline)
        is_received = True
    finally:
        if not is_received:
            _keep(header)
    return Message(array, header.source, header.tag)
