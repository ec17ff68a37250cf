# SPDX-License-Identifier: BSD-3-Clause
"""A forked child of a task is no task: every function that our libraries export says so there, and
none hangs, crashes, or disturbs the job. A new function is called without a word here; one that a
forked child may use needs a line below."""
import subprocess

import pytest

RUN_LIMIT_S = 300
ESRCH, FMPL_ERR_INIT = -3, 1
LIBRARIES = ("libnagaya.so.0", "libnagaya-fmpl.so.0", "libnagaya-xmp.so.0", "libnagaya-blacs.so.0")
NOT_CALLED = {
    # Any process may make a space; a text stays a text.
    "nagaya_space_create", "nagaya_error_text", "nagaya_strerror",
    # They compute from their arguments, or from what the caller's memory has.
    *(f"nagaya_distribution_{name}" for name in (
        "coordinate", "count", "count_below", "has", "index", "part", "place", "rounds", "run", "width")),
    "nagaya_interval_clip_loop", "nagaya_array_block_of", "nagaya_array_statistics_of_process",
    "nagaya_coll_algorithm", "blacs_count_sends", "fmpl_func_set", "fmpl_func_set_",
    *(f"fmpl_{of}{what}{end}" for of in "isdcz" for what in ("sum", "max", "min")
      for end in ("", "_")),
    # libc's, by way of the BLACS.
    "dlsym",
    # Behind an inline function, after a copy in the caller's own memory.
    "nagaya_llcl_notify",
    # The translated program's own declarations and loops, and inquiries about them.
    *(f"nagaya_xmp_{name}" for name in (
        "begin", "checked", "copy", "cyclic_loop", "declare_nodes", "declare_template",
        "descriptor_of_array", "descriptor_of_nodes", "descriptor_of_numbers",
        "descriptor_of_template", "distribute", "enter_task", "executing_ranks",
        "expand", "expanded_range", "expect_processes", "fix_template", "formal", "free_copy",
        "free_block", "free_nodes", "free_template", "image", "image_of", "kept_for_executing", "leave_task", "loop",
        "length_of", "low_of", "malloc", "own_image", "unit")),
    "nagaya_xmp_gmove",  # takes structures; nagaya_array_transfer() is behind it
}
XMP_CALLED = {"xmp_barrier", "xmp_test_async"}
ANSWERS = {
    "nagaya_space_identity": 0, "nagaya_space_destroy": None, "nagaya_heap_alloc": 0,
    "nagaya_llcl_pointer": 0, "nagaya_array_element": 0, "nagaya_match_eager_max": 0,
    "nagaya_match_self": -1, "nagaya_comm_unwatch_nodes": None, "fmpl_rank": -1, "fmpl_size": -1,
    "nagaya_xmp_free_array": None, "nagaya_xmp_element": 0,
    "nagaya_array_blocks_at": None, "nagaya_array_blocks_leave": None, "nagaya_array_blocks_close": None,
    "nagaya_transfers_close": None,
    "nagaya_xmp_assign": None,  # in the caller's own memory
    "nagaya_xmp_find_offset": 0,  # the lower half of LONG_MIN: get and put refuse
}


def functions_of(library):
    said = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                          check=True).stdout
    symbols = [line.split()[-2:] for line in said.splitlines()]
    names = {name.split("@")[0] for kind, name in symbols if kind == "T"}
    return names - NOT_CALLED - {name for name in names if is_inquiry(name)}


def is_inquiry(name):
    return name.startswith(("xmp_", "xmpc_")) and name not in XMP_CALLED


def expected_of(library, name):
    """The line of forked_calls; None: any result."""
    if name in ANSWERS:
        return None if ANSWERS[name] is None else f"{name}={ANSWERS[name]}"
    if "fmpl" in library:
        return f"{name}={FMPL_ERR_INIT}"
    if "blacs" in library:
        return None if "exit" in name or "free" in name else f"{name} ended by exit 1"
    return f"{name} ended by exit 1" if "xmp" in library else f"{name}={ESRCH}"


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_function_tells_a_forked_child_that_it_is_no_task(user, nagaya, installation,
                                                                library):
    names = sorted(functions_of(installation.root / "lib" / library))
    ended = user.run([nagaya, "run", "-n", 2, installation.program("forked_calls"), *names],
                     timeout=RUN_LIMIT_S)
    assert ended.code == 0, ended
    lines = ended.out.splitlines()
    assert [line.split("=")[0].split(" ")[0] for line in lines] == names
    wrong = [line for line, name in zip(lines, names)
             if (expected_of(library, name) or line) != line or " signal " in line]
    assert not wrong, (wrong, ended.err)
    told = ended.err.count("forked child")  # in one line each
    assert told == ended.err.count("\n") == sum(" exit 1" in line for line in lines), ended.err
