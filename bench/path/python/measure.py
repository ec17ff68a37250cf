# SPDX-License-Identifier: BSD-3-Clause
"""What every way of sharing arrays between processes measures here, and how it is printed.

A program is called `WAY.py KIND PROCESSES [--quick]`. It prints a line "measured FIGURE SECONDS" for each figure of
the kind, and at last "measured all": it has checked every result. Lines of libraries may stand between them.

    sum        one process has an array, of the heap; all of them add up a part of it
    exchange   one process has an array, of the heap: a block of it goes to each process, which changes it,
               and the blocks come back into another array of the first process
    map        a function of a number, for many numbers; the results are an array

Starting the processes is not measured. A way that needs the array elsewhere copies it within the time."""
import sys
import time

import numpy

KIND, PROCESSES, IS_QUICK = sys.argv[1], int(sys.argv[2]), "--quick" in sys.argv
SUM_BYTES = 1 << (22 if IS_QUICK else 30)
ARGUMENTS = 1600 if IS_QUICK else 100_000
WHOLE_MAX = 1 << (20 if IS_QUICK else 28)  # bytes of all blocks of the largest exchange
SMALL_BLOCKS = (8, 1 << 10, 1 << 16, 1 << 20)
MAP_ROUNDS = 3


def block_sizes():
    largest = WHOLE_MAX // PROCESSES
    return [size for size in SMALL_BLOCKS if size < largest] + [largest]


def name_of(block_bytes):
    if block_bytes == WHOLE_MAX // PROCESSES:
        return "exchange_largest"
    units = ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
    return next(f"exchange_{block_bytes // unit}{name}" for unit, name in units if block_bytes >= unit)


def array_of(size_bytes):
    return numpy.arange(size_bytes // 8, dtype=numpy.float64)


def check_sum(total):
    length = SUM_BYTES // 8
    assert abs(total / (length * (length - 1) / 2) - 1) < 1e-9, total


def check_exchange(array, changed):
    assert (changed == array + 1).all()


def check_map(arguments, results):
    assert len(results) == len(arguments) and (numpy.asarray(results) == arguments * arguments + 1).all()


def timed(call, *arguments):
    begin = time.perf_counter()
    result = call(*arguments)
    return time.perf_counter() - begin, result


def rounds_of(block_bytes):
    """How often blocks of a size are exchanged: the longest take half a second."""
    return max(2, min(100, (1 << 28) // (block_bytes * PROCESSES)))


def report(figure, seconds):
    print("measured", figure, seconds, flush=True)


def report_end():
    print("measured", "all", flush=True)


# ---- for ways whose first process tells the others what to do ------------------------------------

def measure_by(sum_of, exchange, map_of, place=lambda array: array):
    """Measures by sum_of(array), exchange(array, changed), map_of(numbers). `place` puts an array where the way
    needs it, before the time begins."""
    if KIND == "sum":
        sum_of(numpy.ones(SUM_BYTES // 8 // 64))
        array = place(array_of(SUM_BYTES))
        seconds, total = timed(sum_of, array)
        check_sum(total)
        report("sum", seconds)
    if KIND == "exchange":
        for size in block_sizes():
            array, changed = place(array_of(size * PROCESSES)), place(numpy.zeros(size * PROCESSES // 8))
            exchange(array, changed)
            rounds = rounds_of(size)
            changed[:] = 0
            seconds, _ = timed(lambda: [exchange(array, changed) for _ in range(rounds)])
            check_exchange(array, changed)
            report(name_of(size), seconds / rounds)
    if KIND == "map":
        arguments = array_of(8 * ARGUMENTS)
        map_of(arguments[:100])
        seconds = []
        for _ in range(MAP_ROUNDS):
            took, results = timed(map_of, arguments)
            check_map(arguments, results)
            seconds.append(took)
        report("map", sorted(seconds)[MAP_ROUNDS // 2])
    report_end()
