# SPDX-License-Identifier: BSD-3-Clause
"""One table, read by all processes: it is in memory once.

    nagaya run -n 8 python3 shared_table.py 10       # a table of 10 GB
"""
import sys

import nagaya
import numpy

rows = int(float(sys.argv[1]) * 1e9) // 8000 if len(sys.argv) > 1 else 1000
if nagaya.rank() == 0:
    table = numpy.empty((rows, 1000))
    table[:] = numpy.arange(rows)[:, None]  # read from a file, say
    nagaya.publish("table", table)
table = nagaya.view(0, "table")

mine = numpy.arange(nagaya.rank(), rows, nagaya.size())
found = sum(table[row, row % 1000] for row in mine)

sums = nagaya.map(lambda row: row.sum(), table[:100])  # each row by whoever is free
nagaya.send(numpy.array(found), 0)
if nagaya.rank() == 0:
    total = sum(float(nagaya.receive().array) for _ in range(nagaya.size()))
    print(f"{nagaya.size()} processes, {table.nbytes} bytes once: {total:.0f}, {sums.sum():.0f}")
nagaya.barrier()
