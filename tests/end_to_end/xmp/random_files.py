# SPDX-License-Identifier: BSD-3-Clause
"""Random input and output: programs that check themselves. Each node has a model of the file, and a whole
copy of each distributed array, and makes each access there, too, by loops.

    random_files.py SEED NODES      prints a program; its argument is the name of the file"""
import math
import random
import sys

from random_gmoves import EXTENT_MAX, Array, section

ARRAYS, STATEMENTS = 3, 10
SIZE = 3 * EXTENT_MAX ** 3  # of the file, in numbers
HEAD = f"""\
#include <xmp_io.h>
#include "check.h"
static long model[{SIZE}], buffer[{SIZE}];
"""


def distributed(rng, number, grids):
    while True:
        array = Array(rng, number, grids)
        if not array.is_variable:
            return array


def nest(array, sections, body):
    """`body` for each element of the section, in the order of the file; n counts them."""
    loops = [f"for (int k{d} = 0; k{d} < {count}; k{d}++)" for d, (_, count, _) in enumerate(sections)]
    element = "".join(f"[{first} + k{d} * {step}]" for d, (first, _, step) in enumerate(sections))
    return ["n = 0;", " ".join(loops), f"  {{ {body.replace('@', f'whole_{array.name}{element}')} n++; }}"]


def access(rng, arrays):
    """Returns the lines of one access of a section: of the file, then of the model."""
    array = rng.choice(arrays)
    sections = [section(rng, extent, rng.randint(1, extent)) for extent in array.extents]
    place = rng.randint(0, SIZE - 2 * EXTENT_MAX ** 3)
    rounds = rng.randint(1, 2)
    has_view, is_write, by_bytes = (rng.random() < 0.5 for _ in range(3))
    desc = f"xmp_desc_of({array.name})"
    lines = [f"range = xmp_allocate_range({len(sections)});"]
    lines += [f"xmp_set_range(range, {d + 1}, {first}, {count}, {step});"
              for d, (first, count, step) in enumerate(sections) if (first, count, step) != (0, array.extents[d], 1)]
    lines.append(f"EXPECT(xmp_file_set_view_all(file, {8 * place}, {desc}, range) == 0);" if has_view else
                 f"EXPECT(xmp_fseek(file, {8 * place}, SEEK_SET) == 0);")
    if has_view and by_bytes:
        lines += read_through_view(array, sections, place)
    else:
        lines += whole_section(array, sections, place, rounds, is_write)
    lines.append("EXPECT(xmp_file_sync_all(file) == 0);")
    if has_view:
        lines.append("EXPECT(xmp_file_clear_view_all(file, 0) == 0);")
    return [*lines, "xmp_free_range(range);"]


def whole_section(array, sections, place, rounds, is_write):
    word = "write" if is_write else "read"
    lines = [f"EXPECT(xmp_f{word}_darray_all(file, xmp_desc_of({array.name}), range) >= 0);"] * rounds
    for number in range(rounds):
        at = f"model[{place + number * math.prod(count for _, count, _ in sections)} + n]"
        lines += nest(array, sections, f"{at} = @;" if is_write else f"@ = {at};")
    element = array.element()
    return lines + array.loops(f"EXPECT_EQUAL({element}, whole_{element});")


def read_through_view(array, sections, place):
    """The caller's elements only, as bytes: the negative numbers of the copy are those that it has."""
    element = array.element()
    marked = array.loops(f"whole_{element} = -1 - whole_{element};")
    return [*marked, *nest(array, sections, "own += @ < 0;"),
            "EXPECT_EQUAL(xmp_fread_all(file, buffer, sizeof(long), own), own * sizeof(long));", "own = 0;",
            *nest(array, sections, f"if (@ < 0) EXPECT_EQUAL(buffer[own++], model[{place} + n]);"), "own = 0;",
            *marked]


def program(seed, nodes):
    rng = random.Random(f"{seed} {nodes}")
    rows = rng.choice([count for count in range(1, nodes + 1) if nodes % count == 0])
    part = rng.randint(1, nodes)
    grids = [("p", [nodes]), ("g", [rows, nodes // rows]), ("q", [part])]
    arrays = [distributed(rng, number, grids if number else grids[:1]) for number in range(ARRAYS)]
    lines = [HEAD, "#pragma xmp nodes p[*]", f"#pragma xmp nodes g[*][{nodes // rows}]",
             f"#pragma xmp nodes q[{part}] = p[{rng.randint(0, nodes - part)}:{part}]"]
    for array in arrays:
        lines += array.declare()
    lines += ["", "int main(int argc, char** argv) {", "  long n, own = 0;", "  xmp_range_t* range;",
              "  (void)argc, (void)own;", '  xmp_file_t* file = xmp_fopen_all(argv[1], "w+");',
              "  EXPECT(file != NULL);",
              f"  for (n = 0; n < {SIZE}; n++) buffer[n] = model[n] = 3 * n + 1;",
              "  EXPECT(own_number() != 0 || xmp_fwrite(file, model, sizeof model, 1) == sizeof model);",
              "  EXPECT(xmp_file_sync_all(file) == 0);"]
    for number, array in enumerate(arrays):
        lines += [f"  for (int i{axis} = 0; i{axis} < {extent}; i{axis}++)"
                  for axis, extent in enumerate(array.extents)]
        value = " + ".join(f"{100 ** axis} * {index}" for axis, index in enumerate(array.indexes()))
        lines.append(f"    whole_{array.element()} = {10 ** 7 * (number + 1)} + {value};")
        lines += array.loops(f"{array.element()} = whole_{array.element()};")
    for _ in range(STATEMENTS):
        lines += ["  " + line for line in access(rng, arrays)]
    return "\n".join([*lines, "  EXPECT(xmp_fseek(file, 0, SEEK_SET) == 0);",
                      "  EXPECT(xmp_fread_all(file, buffer, sizeof buffer, 1) == sizeof buffer);",
                      "  EXPECT(memcmp(buffer, model, sizeof model) == 0);",
                      "  EXPECT(xmp_fclose_all(file) == 0);", "  return say_ok();", "}", ""])


if __name__ == "__main__":
    print(program(int(sys.argv[1]), int(sys.argv[2])), end="")
