# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments: all processes that have called raise, with the reason, and the next call works."""
import sys

if sys.argv[1:] == ["ctypes"]:
    sys.modules["nagaya._calls"] = None  # its import fails, as where there is none

import nagaya
import numpy

rank, size, HAS_NODES = nagaya.rank(), nagaya.size(), sys.argv[1:] == ["hosts"]
LAST = size - 1


def refuses(kind, words, call, *arguments):
    try:
        call(*arguments)
    except kind as error:
        assert words in str(error), f"{words!r} is not in {error!r}"
        return
    raise SystemExit(f"rank {rank}: {call} {arguments} was accepted")


def double(number):
    return 2 * number


def nested():
    return lambda number: number


if HAS_NODES:
    refuses(ValueError, "one node", nagaya.map, double, numpy.arange(3.))
    refuses(ValueError, "one node", nagaya.Pool().__enter__)
else:
    def map_works():
        assert (nagaya.map(double, numpy.arange(5.) if rank == 0 else None) == 2 * numpy.arange(5.)).all()

    for wrong, kind, words in ((numpy.zeros(3, object), TypeError, "are Python objects"),
                               (numpy.zeros(0), ValueError, "one element"), (None, TypeError, "are Python objects")):
        expected = (kind, words) if rank == 0 else (RuntimeError, f"first in rank 0: {kind.__name__}: ")
        refuses(*expected, nagaya.map, double, wrong if rank == 0 else None)
        map_works()
    refuses((TypeError, RuntimeError), "are Python objects", nagaya.map, lambda x: {}, numpy.arange(3.))
    refuses((ValueError, RuntimeError), "chunk is 0", nagaya.map, double, numpy.arange(3.), 0)
    chosen = (ValueError, "chunk is -1") if rank == LAST else (RuntimeError, f"first in rank {LAST}: ValueError: map: chunk")
    refuses(*chosen, nagaya.map, double, numpy.arange(3.), -1 if rank == LAST else None)
    map_works()

    with nagaya.Pool() as pool:
        if pool:
            for unnamed in (lambda number: number, nested()):
                refuses(TypeError, "define it by `def` at the top", pool.map, unnamed, numpy.arange(3.))
            refuses(TypeError, "are Python objects", pool.map, double, numpy.zeros(3, object))
            refuses(ValueError, "chunk is 0", pool.map, double, numpy.arange(3.), 0)

            def known_to_rank_0_alone(number):
                return number
            refuses(RuntimeError, "define it before `with nagaya.Pool()`", pool.map, known_to_rank_0_alone,
                    numpy.arange(1000.))
            assert (pool.map(double, numpy.arange(5.)) == 2 * numpy.arange(5.)).all()

assert nagaya.__version__[0].isdigit()
print(f"rank {rank}: right")
