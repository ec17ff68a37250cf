# SPDX-License-Identifier: BSD-3-Clause
"""Heat in a rod, in slices: each process reads its neighbours' edges where they lie.

    nagaya run -n 4 python3 halo_exchange.py
"""
import nagaya
import numpy

CELLS, STEPS = 1000, 200

rank, size = nagaya.rank(), nagaya.size()
# Two generations: one is read while the other is written.
slices = numpy.zeros((2, CELLS // size))
if rank == 0:
    slices[:, 0] = 1000.  # the hot end
nagaya.publish("slices", slices)
left = nagaya.view(rank - 1, "slices") if rank > 0 else None
right = nagaya.view(rank + 1, "slices") if rank + 1 < size else None

for step in range(STEPS):
    old, new = slices[step % 2], slices[(step + 1) % 2]
    nagaya.barrier()  # all have written `old`
    before = old[0] if left is None else left[step % 2, -1]
    after = old[-1] if right is None else right[step % 2, 0]
    padded = numpy.concatenate(([before], old, [after]))
    new[:] = old + 0.25 * (padded[:-2] - 2 * old + padded[2:])

sums = numpy.array([slices[STEPS % 2].sum()])
nagaya.publish("sum", sums)
nagaya.barrier()
if rank == 0:
    total = sum(nagaya.view(other, "sum")[0] for other in range(size))
    print(f"{size} processes, heat {total:.6f}")
nagaya.barrier()  # nobody ends while others read
