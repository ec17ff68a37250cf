# SPDX-License-Identifier: BSD-3-Clause
"""Program files that are damaged or cannot be tasks: each is refused in one line, and no other job
is disturbed. (Files that are missing or not position-independent: test_program_files.py.)
"""
import os
import struct
import time

import pytest
from join_protocol import STARTED
from known_job import AS_IT_SHOULD, job  # noqa: F401 (job is a fixture)
from refusals import CANNOT_RUN, HOW, expect_refusal

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
HEADER_FIELDS = {"class": (4, "B"), "data": (5, "B"), "type": (16, "<H"), "machine": (18, "<H"),
                 "entry": (24, "<Q"), "phoff": (32, "<Q"), "phentsize": (54, "<H"),
                 "phnum": (56, "<H")}
SEGMENT_FIELDS = {"offset": 8, "vaddr": 16, "filesz": 32, "memsz": 40, "align": 48}
SEGMENT_BYTES = 56
TOP = 1 << 64


def changed_header(**values):
    def change(data):
        for name, value in values.items():
            at, form = HEADER_FIELDS[name]
            struct.pack_into(form, data, at, value)
    return change


def segments_of(data, kind):
    table, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<H", data, 56)
    places = [table + n * SEGMENT_BYTES for n in range(count)]
    return [at for at in places if struct.unpack_from("<I", data, at)[0] == kind]


def changed_segment(kind, index=0, **values):
    def change(data):
        at = segments_of(data, kind)[index]
        for name, value in values.items():
            struct.pack_into("<Q", data, at + SEGMENT_FIELDS[name], value)
    return change


def second_load_on_the_first(data):
    first, second = segments_of(data, PT_LOAD)[:2]
    data[second + 16:second + 24] = data[first + 16:first + 24]
    data[second + 8:second + 16] = data[first + 8:first + 16]


def entry_in_its_data(data):
    at = segments_of(data, PT_LOAD)[-1]
    address, = struct.unpack_from("<Q", data, at + SEGMENT_FIELDS["vaddr"])
    changed_header(entry=address)(data)


def interpreter_name(name):
    """The name lies in the file where the old one did, and does not fit: it is appended."""
    def change(data):
        at = segments_of(data, PT_INTERP)[0]
        struct.pack_into("<Q", data, at + SEGMENT_FIELDS["offset"], len(data))
        struct.pack_into("<Q", data, at + SEGMENT_FIELDS["filesz"], len(name))
        data += name
    return change


def cut(bytes_left):
    def change(data):
        del data[bytes_left:]
    return change


# what: (change of a static program, a word that the message must have)
DAMAGED = {
    "of aarch64": (changed_header(machine=183), "CPU"),
    "of i386": (changed_header(**{"class": 1, "machine": 3}), "CPU"),
    "big-endian": (changed_header(data=2), "CPU"),
    "an object file": (changed_header(type=1), "executable"),
    "cut in its header": (cut(40), "truncated"),
    "cut in its program headers": (cut(100), "truncated"),
    "cut in its text": (cut(5000), "truncated"),
    "no program headers": (changed_header(phnum=0), "program headers"),
    "thousands of program headers": (changed_header(phnum=65535), "program headers"),
    "program headers of another size": (changed_header(phentsize=57), "program headers"),
    "program headers that wrap": (changed_header(phoff=TOP - 8), "damaged"),
    "program headers outside": (changed_header(phoff=1 << 40), "truncated"),
    "segment that wraps in the file": (changed_segment(PT_LOAD, 1, offset=TOP - 4096), "segment"),
    "segment outside the file": (changed_segment(PT_LOAD, 1, offset=1 << 40), "segment"),
    "segment larger than the file": (changed_segment(PT_LOAD, 1, filesz=1 << 40, memsz=1 << 40),
                                     "segment"),
    "segment that wraps in memory": (changed_segment(PT_LOAD, 1, vaddr=TOP - 4096), "segment"),
    "segment larger than memory": (changed_segment(PT_LOAD, -1, memsz=1 << 62), "segment"),
    "segment with more file than memory": (changed_segment(PT_LOAD, 1, memsz=1), "segment"),
    "segments that overlap": (second_load_on_the_first, "overlap"),
    "entry outside": (changed_header(entry=1 << 40), "entry"),
    "entry in its data": (entry_in_its_data, "entry"),
    "entry that wraps": (changed_header(entry=TOP - 16), "entry"),
}


def test_a_static_program_names_no_interpreter(installation):
    """Else the host would not lay it out itself, and the damage below were the interpreter's."""
    assert not segments_of(installation.program("static_pie").read_bytes(), PT_INTERP)


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_program_is_refused(user, nagaya, installation, folder, leftovers, what):
    change, word = DAMAGED[what]
    data = bytearray(installation.program("static_pie").read_bytes())
    change(data)
    path = user.new_file(folder / "damaged", bytes(data), 0o755)
    expect_refusal(user.run([nagaya, "exec", path]), leftovers, CANNOT_RUN, path, word)


INTERPRETERS = {
    "missing": (interpreter_name(b"/no/such/ld.so\0"), "/no/such/ld.so"),
    "not terminated": (interpreter_name(b"/lib64/ld-linux-x86-64.so.2"), "interpreter"),
    "empty": (interpreter_name(b"\0\0"), "interpreter"),
    "of a huge length": (changed_segment(PT_INTERP, filesz=1 << 40), "interpreter"),
    "outside the file": (changed_segment(PT_INTERP, offset=1 << 40), "truncated"),
    "a folder": (interpreter_name(b"/usr/lib\0"), "directory"),
    "a FIFO": (interpreter_name(b"fifo\0"), "fifo"),
    "a text": (interpreter_name(b"/etc/passwd\0"), "/etc/passwd"),
    "not readable": (interpreter_name(b"unreadable\0"), "ermission"),
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("what", INTERPRETERS)
def test_a_program_without_a_usable_interpreter_is_refused(user, nagaya, installation, folder,
                                                           leftovers, what, how):
    change, word = INTERPRETERS[what]
    os.mkfifo(folder / "fifo")
    user.new_file(folder / "unreadable", b"", 0)
    data = bytearray(installation.program("plain_ending").read_bytes())
    change(data)
    path = user.new_file(folder / "program", bytes(data), 0o755)
    ended = user.run([nagaya, *HOW[how], path], cwd=folder, timeout=20)
    expect_refusal(ended, leftovers, CANNOT_RUN, path, word)


# A program well-formed enough to be begun ends like every faulty program: alone.
FAULTY = {
    "alignment of 3": changed_segment(PT_LOAD, 1, align=3),
    "alignment of 2^63": changed_segment(PT_LOAD, 1, align=1 << 63),
    "dynamic section outside": changed_segment(PT_DYNAMIC, offset=1 << 40, vaddr=1 << 40),
}


@pytest.mark.parametrize("program", ["static_pie", "plain_ending"])
@pytest.mark.parametrize("what", FAULTY)
def test_a_faulty_program_disturbs_nobody(user, nagaya, installation, folder, leftovers, job, what,
                                          program):
    data = bytearray(installation.program(program).read_bytes())
    FAULTY[what](data)
    path = user.new_file(folder / "faulty", bytes(data), 0o755)
    with job.connect() as client:
        client.greet(job.key)
        client.start(path, ["exit", "0"])
        time.sleep(0.3)
    assert job.is_undisturbed(programs=1)
    assert job.end() == [AS_IT_SHOULD] * 2
    assert not leftovers.after_limit().processes
    assert user.run([nagaya, "exec", path, "exit", "0"], timeout=20).code is not None
    assert not leftovers.after_limit().processes


def test_a_program_that_is_its_own_interpreter_ends(user, nagaya, installation, folder, leftovers):
    path = folder / "program"
    data = bytearray(installation.program("plain_ending").read_bytes())
    interpreter_name(os.fsencode(path) + b"\0")(data)
    user.new_file(path, bytes(data), 0o755)
    assert user.run([nagaya, "exec", path, "exit", "0"], timeout=20).code != 0
    assert not leftovers.after_limit().processes


def built(user, folder, flags, text="int main(void) { return 0; }\n"):
    source = user.new_file(folder / "source.c", text)
    return folder / "program", user.run(["cc", "-fPIE", *flags, "-o", folder / "program", source])


def test_a_program_that_shrinks_cannot_end_the_host(user, folder, job):
    """Its time of change is set back, as a copying tool does: the host has read its headers before
    and finds no text behind them."""
    path, done = built(user, folder, ["-static-pie"])  # no interpreter: the host itself lays it out
    assert done.code == 0, done
    about = path.stat()
    with job.connect() as client:
        client.greet(job.key)
        assert client.start(path, ["exit", "0"]).kind == STARTED
        os.truncate(path, 8192)
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
        client.hear()
        answer = client.start(path, ["exit", "0"])
        assert answer is not None
        if answer.kind == STARTED:
            _, status = struct.unpack("<Ii", client.hear().payload)
            assert os.WIFSIGNALED(status)
        else:
            assert str(path) in answer.refusal[1]
    assert job.is_undisturbed(programs=1)
    assert job.end() == [AS_IT_SHOULD] * 2


SCRIPTS = {
    "missing": ("#!/no/such/interpreter\n", "/no/such/interpreter"),
    "missing for env": ("#!/usr/bin/env no-such-interpreter\n", "no-such-interpreter"),
    "a folder": ("#!/usr/lib\n", "directory"),
    "a FIFO": ("#!{folder}/fifo\n", "fifo"),
    "not executable": ("#!/etc/passwd\n", "ermission"),
    "none": ("#!\n", "no interpreter"),
    "blank": ("#!   \n", "no interpreter"),
    "itself": ("#!{folder}/script\n", "too many interpreters"),
    "a loop": ("#!{folder}/other\n", "too many interpreters"),
    "endless": ("#!" + "x" * 1000000, "interpreter"),
}


@pytest.mark.parametrize("what", SCRIPTS)
def test_a_script_without_a_usable_interpreter_is_refused(user, nagaya, folder, leftovers, what):
    first_line, word = SCRIPTS[what]
    os.mkfifo(folder / "fifo")
    user.new_file(folder / "other", f"#!{folder}/script\n", 0o755)
    path = user.new_file(folder / "script", first_line.format(folder=folder), 0o755)
    ended = user.run([nagaya, "exec", path], timeout=20)
    expect_refusal(ended, leftovers, CANNOT_RUN, path, word)
    assert len(ended.err) < 5000


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("sanitizer", ["address", "thread", "leak"])
@pytest.mark.parametrize("linking", ["shared", "static"])
def test_a_sanitizer_build_is_refused(user, nagaya, folder, leftovers, sanitizer, linking, how):
    flags = [f"-fsanitize={sanitizer}"]
    flags += [f"-static-lib{sanitizer[0]}san"] if linking == "static" else []
    program, done = built(user, folder, ["-pie", *flags])
    if "cannot find" in done.err:
        pytest.skip(f"no library of the {sanitizer} sanitizer here")
    assert done.code == 0, done
    ended = user.run([nagaya, *HOW[how], program])
    expect_refusal(ended, leftovers, CANNOT_RUN, program, "sanitizer", "--separate")
