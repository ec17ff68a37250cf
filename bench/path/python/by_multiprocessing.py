# SPDX-License-Identifier: BSD-3-Clause
"""multiprocessing as its manual has it: arguments and results are pickled."""
import multiprocessing

import numpy

import measure
from arithmetic import function


def add_up(part):
    return part.sum()


def change(connection):
    while True:
        connection.send(connection.recv() + 1)


def main():
    pool = multiprocessing.Pool(measure.PROCESSES) if measure.KIND != "exchange" else None
    pipes = [multiprocessing.Pipe() for _ in range(measure.PROCESSES)] if measure.KIND == "exchange" else []
    for _, end in pipes:
        multiprocessing.Process(target=change, args=(end,), daemon=True).start()

    def sum_of(array):
        return sum(pool.map(add_up, numpy.array_split(array, measure.PROCESSES)))

    def exchange(array, changed):
        blocks = array.reshape(measure.PROCESSES, -1)
        for block, (pipe, _) in zip(blocks, pipes):
            pipe.send(block)
        for block, (pipe, _) in zip(changed.reshape(measure.PROCESSES, -1), pipes):
            block[:] = pipe.recv()

    measure.measure_by(sum_of, exchange, lambda numbers: numpy.array(pool.map(function, numbers.tolist())))


if __name__ == "__main__":
    main()
