# SPDX-License-Identifier: BSD-3-Clause
"""Work that the processes of a node share."""
import contextlib
import functools
import itertools
import pickle
import traceback

import numpy

from . import _arrays, _collectives, _job

_calls, _orders = itertools.count(), itertools.count()
_NEXT, _FAILURES = 0, 1  # of a call's state
_NONE_LEFT = 1 << 62
_AS_PYTHON_NUMBERS = [numpy.dtype(kind) for kind in (numpy.bool_, numpy.int64, numpy.float64, numpy.complex128)]


def _chunks(length, chunk):
    """Returns where chunks begin and end, equal in all processes: `chunk` elements each; with None a chunk for each
    process takes half of what is left, so that all processes end at about the same time, and seldom take one."""
    bounds, processes = [min(1, length)], _job.size()  # the first process has taken the first element
    while (begin := bounds[-1]) < length:
        step = chunk or max(1, (length - begin) // (2 * processes))
        end = length if chunk else min(length, begin + step * processes)
        bounds += range(begin + step, end + 1, step)
        if chunk and bounds[-1] < length:
            bounds.append(length)
    return bounds


def _check(array, chunk):
    if array is not None and (array.ndim == 0 or len(array) == 0):
        raise ValueError("map needs an array of at least one dimension and one element")
    if chunk is not None and chunk < 1:
        raise ValueError(f"map: chunk is {chunk}, not at least 1")


@functools.lru_cache(maxsize=None)
def _states():
    """Returns the states of two calls, which all processes share: one call uses one, the next one the other."""
    if _job.rank() == 0:
        _arrays.publish("nagaya.map", numpy.zeros((2, 2), numpy.int64))
    return _arrays.view(0, "nagaya.map", writable=True)


class _Map:
    """One call of map(), as one process sees it."""

    def __init__(self, function, array, chunk):
        number = next(_calls)
        self.function, self.state, self.failure = function, _states()[number % 2], None
        self.arguments = self.results = None
        self.names = [f"nagaya.map.{number}.{part}" for part in ("arguments", "results")]
        if _job.rank() == 0:
            self.begin(_arrays.as_array(array), chunk)
        _collectives.barrier()
        if not self.state[_FAILURES]:
            self.arguments, self.results = (_arrays.view(0, name, writable) for name, writable in
                                            zip(self.names, (False, True)))
            self.bounds = _chunks(len(self.arguments), chunk)

    def begin(self, arguments, chunk):
        """Rank 0 makes room for results like the first one before the others begin."""
        _check(arguments, chunk)
        self.arguments, self.state[:] = arguments, 0
        _arrays.publish(self.names[0], arguments)
        with self.noticing_failure():
            value = numpy.asarray(self.values(0, 1)[0])
            results = numpy.empty((len(arguments), *value.shape), value.dtype)
            results[0] = value
            _arrays.publish(self.names[1], results)

    def values(self, begin, end):
        part, function = self.arguments[begin:end], self.function
        if part.ndim == 1 and part.dtype in _AS_PYTHON_NUMBERS:
            part = part.tolist()
        return [function(argument) for argument in part]

    def work(self):
        with self.noticing_failure():
            while (number := _arrays.fetch_add(self.state, _NEXT, 1)) < len(self.bounds) - 1:
                begin, end = self.bounds[number:number + 2]
                self.results[begin:end] = self.values(begin, end)

    @contextlib.contextmanager
    def noticing_failure(self):
        try:
            yield
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error
            _arrays.fetch_add(self.state, _FAILURES, 1)
            _arrays.fetch_add(self.state, _NEXT, _NONE_LEFT)

    def close(self):
        if _job.rank() == 0:
            for name in self.names:
                with contextlib.suppress(KeyError):  # it has failed before
                    _arrays.withdraw(name)


def map(function, array, chunk=None):  # pylint: disable=redefined-builtin
    """Applies a function to each element of an array (to each row, if it has more than one dimension),
    by all processes together. Collective: all processes of the job call it with the same function and
    `chunk`; the array is that of rank 0, others may give None.

        squares = nagaya.map(lambda x: x * x, numpy.arange(1000.))

    A process that is free takes the next `chunk` elements; None: many at first, few at last. Nothing is copied or
    pickled: rows are views of rank 0's array (elements of bool, int64, float64 and complex128 are Python's numbers),
    and each process stores its results where all of them see them. Returns the results as
    an array, the same memory in all processes: a change is seen by all. The job is on one node; the function
    returns numbers or arrays of one type and shape, and must not call collective functions. Raises, after the
    barrier at its end, what the function has raised here, or RuntimeError if it has raised in other processes;
    NotATask, ValueError (several nodes; an array without elements; chunk)."""
    results, failure, failures = _run(function, array, chunk)
    if failure is not None:
        raise failure
    if failures:
        raise RuntimeError(f"map: the function has raised an exception in {failures} other processes")
    return results


def _run(function, array, chunk):
    """Returns the results of map(), what the function has raised here, in how many processes it has."""
    _check(None, chunk)
    call = _Map(function, array, chunk)
    if call.results is not None:
        call.work()
    _collectives.barrier()
    failures = call.state[_FAILURES]
    call.close()
    return call.results, call.failure, failures


class Pool:
    """Processes that work for rank 0: only it runs the block, with a Pool; the others work until its end, and
    skip the block's statements by `if pool`.

        with nagaya.Pool() as pool:          # all processes of the job
            if pool:                         # rank 0
                squares = pool.map(function, numpy.arange(1000.))

    Collective. The job is on one node."""

    def __enter__(self):
        if _job.rank() == 0:
            return self
        while order := pickle.loads(_arrays.view(0, _order_name(next(_orders))).tobytes()):
            function, chunk = order
            failure = _run(_loaded(function), None, chunk)[1]
            if failure is not None:  # rank 0 raises RuntimeError
                traceback.print_exception(type(failure), failure, failure.__traceback__)
        return None

    def __exit__(self, *_):
        if _job.rank() == 0:
            name = _give(None)
        _collectives.barrier()
        if _job.rank() == 0:
            _arrays.withdraw(name)

    def map(self, function, array, chunk=None):
        """Does what nagaya.map() does. The function is one that can be pickled: a name of a module, which all
        processes have; no lambda."""
        array, order = _arrays.as_array(array), (pickle.dumps(function), chunk)
        _check(array, chunk)
        name = _give(order)
        try:
            return map(function, array, chunk)
        finally:
            _arrays.withdraw(name)


def _order_name(number):
    return f"nagaya.pool.{number}"


def _give(order):
    name = _order_name(next(_orders))
    _arrays.publish(name, numpy.frombuffer(pickle.dumps(order), numpy.uint8))
    return name


def _loaded(pickled):
    """Returns a function; if it cannot be found here, one that says so when it is called."""
    try:
        return pickle.loads(pickled)
    except Exception as error:  # pylint: disable=broad-except
        reason = error

    def fail(_):
        raise reason
    return fail
