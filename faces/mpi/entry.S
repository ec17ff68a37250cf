/* SPDX-License-Identifier: BSD-3-Clause
 * entry.S - the exported functions of functions.def. Their arguments depend on the MPI that
 * is beneath, so each jumps to a function that is compiled for it (entry.cc fills the tables).
 */
#include "jump_table.inc"

        .text
define_first_jump nagaya_mpi_first_call, nagaya_mpi_entries, nagaya_mpi_fill_entries
define_first_jump nagaya_pmpi_first_call, nagaya_pmpi_entries, nagaya_mpi_fill_entries

        .set    index, 0
.macro define_entry name:req
        define_jump \name, nagaya_mpi_entries, index
        define_jump P\name, nagaya_pmpi_entries, index
        .set    index, index + 1
.endm
#define EXPORTED(result, name, arguments) define_entry MPI_##name;
#define EXTENSION(result, name, arguments) define_entry MPIX_##name;
#define CALLED(result, name, arguments)
#include "functions.def"

        .section .data.rel.local, "aw", @progbits
        .balign 8
        .globl  nagaya_mpi_entries, nagaya_pmpi_entries
        .hidden nagaya_mpi_entries, nagaya_pmpi_entries
nagaya_mpi_entries:
        .rept   index
        .quad   nagaya_mpi_first_call
        .endr
nagaya_pmpi_entries:
        .rept   index
        .quad   nagaya_pmpi_first_call
        .endr

        .section .note.GNU-stack, "", @progbits
