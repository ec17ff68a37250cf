# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments of one process: each process that needs its data raises, with the reason, and the next call works."""
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


def works(length):
    """Whether all processes are in step."""
    for root in (0, LAST):
        whole = numpy.arange(1. * size * length) if rank == root else None
        part, back = numpy.zeros(length), numpy.zeros(size * length) if rank == root else None
        nagaya.scatter(whole, part, root)
        assert (part == numpy.arange(1. * rank * length, 1. * (rank + 1) * length)).all()
        nagaya.gather(part, back, root)
        assert rank != root or (back == whole).all()


def gives(part, root):
    """gather(), of which the block of another process is wrong: one process collects the blocks of its node."""
    try:
        nagaya.gather(part, None, root)
    except ValueError as error:
        assert HAS_NODES and str(error).startswith("gather: "), error


read_only = numpy.zeros(size)
read_only.flags.writeable = False
WRONG_ALL = [([1.] * size, "a numpy array is needed, not list"), (None, "a numpy array is needed, not NoneType"),
             (numpy.zeros(size, numpy.float32), "float32 of shape"), (numpy.zeros((size, 2))[:, 0], "a contiguous array"),
             (numpy.zeros(size + 1), "is not"), (numpy.zeros(size, object), "are Python objects")]
WRONG_ONE = [([1.], "a numpy array is needed, not list"), (numpy.zeros((4, 2))[:, 0], "a contiguous array"),
             (numpy.zeros(1, object), "elements of type object")]

for length in (1, 100_000):
    for root in (0, LAST):
        # The root's array of all blocks is wrong: of a scatter, all processes raise; of a gather, the root does.
        for wrong, words in WRONG_ALL:
            refuses(ValueError, words, nagaya.scatter, wrong if rank == root else None, numpy.zeros(1), root)
            works(length)
            if rank == root:
                refuses(ValueError, words, nagaya.gather, numpy.zeros(1), wrong, root)
            else:
                nagaya.gather(numpy.zeros(1), None, root)
            works(length)
        if rank == root:
            refuses(ValueError, "a writable array", nagaya.gather, numpy.zeros(1), read_only, root)
        else:
            nagaya.gather(numpy.zeros(1), None, root)
        # The block of one process is wrong: it raises, and the root of a gather does.
        other = LAST if root == 0 else int(HAS_NODES)  # no rank by which others of its node get their blocks
        for wrong, words in WRONG_ONE:
            if rank == other:
                refuses(ValueError, words, nagaya.scatter, numpy.zeros(size), wrong, root)
                refuses(ValueError, words, nagaya.gather, wrong, numpy.zeros(size), root)
            else:
                part = numpy.zeros(1)
                nagaya.scatter(numpy.arange(1., size + 1) if rank == root else None, part, root)
                assert part[0] == rank + 1
                if rank == root:
                    refuses(ValueError, f"rank {other} has no data: {words}", nagaya.gather, part, numpy.zeros(size), root)
                else:
                    gives(part, root)
            works(length)
        # The blocks of one process have another size.
        for count in (0, 7):
            part = numpy.zeros(count if rank == other else 2)
            if rank == other:
                refuses(ValueError, "another size", nagaya.scatter, numpy.zeros(2 * size), part, root)
            else:
                nagaya.scatter(numpy.zeros(2 * size) if rank == root else None, part, root)
            works(length)
            if rank == root:
                refuses(ValueError, "another size", nagaya.gather, part, numpy.zeros(2 * size), root)
            else:
                gives(part, root)
            works(length)
# All processes are wrong.
refuses(ValueError, "a contiguous array", nagaya.scatter, None, numpy.zeros((4, 4))[:, 0])
refuses(ValueError, f"rank {size} is not one of", nagaya.scatter, None, numpy.zeros(1), size)
refuses(ValueError, "not list", nagaya.gather, [1, 2])
works(3)


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

# A name that nobody publishes.
nagaya.publish("field", numpy.zeros(1))
nagaya.publish("edge", numpy.zeros(1))
nagaya.barrier()
for find in (nagaya.view, nagaya.remote) if nagaya.is_here(LAST) else (nagaya.remote,):
    begun = f"rank {LAST} has not published 'filed' in time; it has published 'field', 'edge'"
    try:
        find(LAST, "filed", timeout=0.1)
        raise SystemExit("an array that nobody publishes was found")
    except TimeoutError as late:
        assert begun in str(late), late
nagaya.barrier()
nagaya.withdraw("edge")
nagaya.barrier()
try:
    nagaya.remote(LAST, "edge", timeout=0)
    raise SystemExit("a withdrawn array was found")
except TimeoutError as late:
    assert str(late).endswith("has published 'field'"), late
nagaya.barrier()
assert nagaya.__version__[0].isdigit()
print(f"rank {rank}: right")
