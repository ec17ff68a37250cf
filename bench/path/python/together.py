# SPDX-License-Identifier: BSD-3-Clause
"""Measures a way whose processes are started together and call the same functions: what measure.py says."""
import numpy

import measure


def measure_by(rank, barrier, sum_of, exchange, map_of):
    """Measures by functions that all processes call; those of rank 0 get and return the arrays, others get None:

    sum_of(array)                     returns the sum at rank 0
    exchange(array, block, changed)   changes a block of its own
    map_of(numbers)                   returns the results at rank 0"""
    def at_root(make):
        return make() if rank == 0 else None

    if measure.KIND == "sum":
        sum_of(at_root(lambda: numpy.ones(measure.SUM_BYTES // 8 // 64)))
        array = at_root(lambda: measure.array_of(measure.SUM_BYTES))
        barrier()
        seconds, total = measure.timed(sum_of, array)
        if rank == 0:
            measure.check_sum(total)
            measure.report("sum", seconds)
    if measure.KIND == "exchange":
        for size in measure.block_sizes():
            array = at_root(lambda: measure.array_of(size * measure.PROCESSES))
            changed = at_root(lambda: numpy.zeros(size * measure.PROCESSES // 8))
            block, rounds = numpy.empty(size // 8), measure.rounds_of(size)
            exchange(array, block, changed)
            barrier()
            seconds, _ = measure.timed(lambda: [exchange(array, block, changed) for _ in range(rounds)])
            if rank == 0:
                measure.check_exchange(array, changed)
                measure.report(measure.name_of(size), seconds / rounds)
    if measure.KIND == "map":
        arguments, seconds = at_root(lambda: measure.array_of(8 * measure.ARGUMENTS)), []
        map_of(at_root(lambda: measure.array_of(8 * 10 * measure.PROCESSES)))
        for _ in range(measure.MAP_ROUNDS):
            barrier()
            took, results = measure.timed(map_of, arguments)
            seconds.append(took)
            if rank == 0:
                measure.check_map(arguments, results)
        if rank == 0:
            measure.report("map", sorted(seconds)[measure.MAP_ROUNDS // 2])
    barrier()
    if rank == 0:
        measure.report_end()
