# SPDX-License-Identifier: BSD-3-Clause
"""blacs_by_handle.py SCOPE - C = A B^T by ScaLAPACK, which Python's ctypes loads for all libraries
("global"), for itself alone ("local") or looks up in the process ("process")."""
import ctypes
import sys

from mpi4py import MPI

N, BLOCK = 10, 2


def by_address(value):
    return ctypes.byref(ctypes.c_int(value))


def places(own, processes):
    """The rows or columns of a process, of N in blocks."""
    return [n for n in range(N) if n // BLOCK % processes == own]


def main():
    scope = ctypes.RTLD_LOCAL if sys.argv[1] == "local" else ctypes.RTLD_GLOBAL
    library = ctypes.CDLL("libscalapack-openmpi.so.2.2", mode=scope)
    if sys.argv[1] == "process":
        library = ctypes.CDLL(None)
    comm = MPI.COMM_WORLD.Dup()
    library.Csys2blacs_handle.argtypes = [ctypes.c_void_p]
    context = ctypes.c_int(library.Csys2blacs_handle(ctypes.c_void_p.from_address(MPI._addressof(comm))))
    library.Cblacs_gridinit(ctypes.byref(context), b"Row", 1, comm.size)
    shape = [ctypes.c_int() for _ in range(4)]
    library.Cblacs_gridinfo(context, *map(ctypes.byref, shape))
    assert [one.value for one in shape] == [1, comm.size, 0, comm.rank], shape

    columns = places(comm.rank, comm.size)
    own = (ctypes.c_double * (N * max(1, len(columns))))()
    result = (ctypes.c_double * len(own))()
    for k, column in enumerate(columns):
        for row in range(N):
            own[k * N + row] = row + 3 * column
    description, info = (ctypes.c_int * 9)(), ctypes.c_int()
    library.descinit_(description, by_address(N), by_address(N), by_address(BLOCK), by_address(BLOCK),
                      by_address(0), by_address(0), ctypes.byref(context), by_address(N), ctypes.byref(info))
    assert info.value == 0
    one, zero, first = ctypes.c_double(1), ctypes.c_double(0), by_address(1)
    whole = (first, first, description)
    library.pdgemm_(b"N", b"T", by_address(N), by_address(N), by_address(N), ctypes.byref(one), own, *whole,
                    own, *whole, ctypes.byref(zero), result, *whole, 1, 1)
    for k, column in enumerate(columns):
        for row in range(N):
            wanted = sum((row + 3 * m) * (column + 3 * m) for m in range(N))
            assert result[k * N + row] == wanted, (row, column, result[k * N + row], wanted)
    library.Cblacs_gridexit(context)
    comm.Barrier()
    if comm.rank == 0:
        print(f"product among {comm.size}")


main()
