# SPDX-License-Identifier: BSD-3-Clause
"""multiprocessing.shared_memory: arrays are copied into segments and out of them; semaphores tell when. With
--placed the arrays have been made in segments: a floor for ways that take arrays where they are."""
import multiprocessing
import sys
from multiprocessing import resource_tracker, shared_memory

import numpy

import measure
from arithmetic import function

IS_PLACED = "--placed" in sys.argv
# The operations that the first process can ask for.
SUM, EXCHANGE, MAP = range(3)


class Segment:
    """An array of float64 in a segment. Whoever has made it removes it."""

    def __init__(self, length, name=None):
        self._memory = shared_memory.SharedMemory(name, create=name is None, size=8 * length)
        self.name, self.array = self._memory.name, numpy.ndarray(length, numpy.float64, self._memory.buf)

    def remove(self):
        self.array = None
        self._memory.close()
        self._memory.unlink()


class Workers:
    """Processes that carry out one order after the other. An order says what, and which segments."""

    def __init__(self, context):
        self._pipes, self._begin, self._end = [], [], context.Semaphore(0)
        for number in range(measure.PROCESSES):
            pipe, other_end = context.Pipe()
            begin = context.Semaphore(0)
            self._pipes.append(pipe)
            self._begin.append(begin)
            context.Process(target=work, args=(number, other_end, begin, self._end), daemon=True).start()

    def use(self, *order):
        """Tells them what to do with which segments, by name and length."""
        for pipe in self._pipes:
            pipe.send(order)

    def run(self):
        for begin in self._begin:
            begin.release()
        for _ in self._begin:
            self._end.acquire()


def work(number, pipe, begin, end):
    order = None
    while True:
        begin.acquire()
        while pipe.poll():
            what, *names = order = pipe.recv()
            segments = [Segment(length, name) for name, length in names]
            source, target = (segment.array for segment in segments)
            block = numpy.empty(len(source) // measure.PROCESSES)
            mine = slice(number * len(block), (number + 1) * len(block))
            bounds = [len(source) * one // measure.PROCESSES for one in (number, number + 1)]
        if what == SUM:
            target[number] = source[bounds[0]:bounds[1]].sum()
        elif what == EXCHANGE:
            block[:] = source[mine]
            numpy.add(block, 1, out=block)
            target[mine] = block
        else:
            target[bounds[0]:bounds[1]] = [function(x) for x in source[bounds[0]:bounds[1]].tolist()]
        end.release()


class Way:
    def __init__(self):
        self._workers, self._segments, self._in_use = Workers(multiprocessing), {}, None

    def place(self, array):
        """Returns an array in a segment, with the same values."""
        segment = self._segments[f"placed {len(self._segments)}"] = Segment(len(array))
        segment.array[:] = array
        return segment.array

    def remove(self):
        for segment in self._segments.values():
            segment.remove()

    def _segment(self, purpose, array):
        placed = [segment for segment in self._segments.values() if segment.array is array]
        if placed:
            return placed[0]
        segment = self._segments.get(purpose)
        if segment is None or len(segment.array) != len(array):
            if segment is not None:
                segment.remove()
            segment = self._segments[purpose] = Segment(len(array))
        return segment

    def _run(self, what, source, target):
        """Lets the workers read one array and write another one."""
        segments = [self._segment("source", source), self._segment("target", target)]
        if self._in_use != segments:
            self._workers.use(what, *((segment.name, len(segment.array)) for segment in segments))
            self._in_use = segments
        if segments[0].array is not source:
            segments[0].array[:] = source
        self._workers.run()
        if segments[1].array is not target:
            target[:] = segments[1].array
        return target

    def sum_of(self, array):
        return self._run(SUM, array, numpy.zeros(measure.PROCESSES)).sum()

    def exchange(self, array, changed):
        self._run(EXCHANGE, array, changed)

    def map_of(self, numbers):
        return self._run(MAP, numbers, numpy.empty(len(numbers)))


def main():
    resource_tracker.ensure_running()  # one for all: each attached segment is told to it, and removed once
    way = Way()
    try:
        measure.measure_by(way.sum_of, way.exchange, way.map_of, *([way.place] if IS_PLACED else []))
    finally:
        way.remove()


if __name__ == "__main__":
    main()
