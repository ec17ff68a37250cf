# SPDX-License-Identifier: BSD-3-Clause
"""Which benchmark makes a figure, so that the report can say by which command a missing one is made."""

import re

# Patterns of the names of figures, of which the first counts; the benchmark.
MAKERS = {
    r"task_(start|end)_": "task-start",
    r"mpi_start_": "mpi-start",
    r"malloc_mixed": "malloc_mixed",
    r"malloc_": "malloc_fixed",
    r"(page_fault|map_unmap|protect|thread|switch)(_|$)": "{1}",
    r"floor_(mailbox|cache_line|copy|yield)_": "{floor}",
    r"mailbox_": "mailbox",
    r"(put|get|accumulate|message|active_message|fetch_add|crowd_put|crowd_message)(_|$)": "in-node",
    r"offload_": "offload",
    r"rank_table_": "rank-tables",
    r"(crowded|gigabit|devices|delegatees)_(pingpong|alltoall)_": "{2}-{1}",
    r"(pingpong|overlap|alltoall|idle)_": "{1}",
    r"requests_.*_(ring|unaggregated|sleeping|spinning)$": "requests-modes",
    r"requests_(node|apart)_": "requests-{1}",
    r"requests_hosts_": "requests",
    r"figure_9_(eager|rendezvous)_": "messages-{1}",
    r"mpi_hosts_crowded_": "messages-hosts-crowded",
    r"mpi_(hosts|crowded)_": "messages-{1}",
    r"mpi_": "messages",
    r"face_win_crowded_": "windows-faces-crowded",
    r"face_win_": "windows-faces",
    r"face_coll_crowded_": "collectives-faces-crowded",
    r"face_coll_": "collectives-faces",
    r"face_memory_": "memory-faces",
    r"face_crowded_": "messages-faces-crowded",
    r"face_": "messages-faces",
    r"coll_hosts_single_": "collectives-hosts-single",
    r"coll_(crowded|64|240|long|xhc|hosts)_": "collectives-{1}",
    r"coll_": "collectives",
    r"win_hosts_computing_": "windows-hosts-computing",
    r"win_hosts_": "windows-hosts",
    r"checkpoint_16_": "checkpoint-16",
    r"(checkpoint|python)_": "{1}",
    r"top_cost_": "top-cost",
    r"(recording|scale)_": "{1}",
    r"fmpl_(2_|prepared_)": "fmpl",
    r"fmpl_hosts_": "fmpl-hosts",
    r"fmpl_(\d+_(barrier|bcast|sum)_|collectives_|support_)": "fmpl-counts",
    r"fmpl_": "fmpl-floors",
    r"blacs_": "blacs",
    r"memory_rendezvous_": "memory-rendezvous",
    r"memory_": "memory",
    r"npb_(rendezvous|openmp|pie)_": "npb-{1}",
    r"npb_": "npb",
    r"(lammps|hpcc|scalapack)_": "applications",
    r"xmp_(himeno_1|reflected_\d+_reflected)": "xmp",
    r"xmp_(strong|weak|reflected|himeno)_": "xmp-hosts",
    r"xmp_gmove_": "xmp-gmove",
    r"xmp_(puts|posts|locks)_": "xmp-coarrays",
    r"xmp_cyclic_": "xmp-cyclic",
    r"xmp_": "xmp",
}
FLOORS = {"mailbox": "mailbox-floor", "cache_line": "cache-line", "copy": "copy-bandwidth", "yield": "yield"}


def maker_of(figure: str) -> str:
    """Returns the benchmark that makes a figure; "" if none does: an earlier report may have such figures."""
    for pattern, benchmark in MAKERS.items():
        if found := re.match(pattern, figure):
            words = found.groups()
            return benchmark.format(None, *words, floor=FLOORS.get(words[0]) if words else None)
    return ""
