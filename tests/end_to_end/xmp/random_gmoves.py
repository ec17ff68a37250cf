# SPDX-License-Identifier: BSD-3-Clause
"""Random gmoves: programs that check themselves. Beside each distributed array a program has a whole
copy of it at each node, and makes each assignment there, too, by loops.

    random_gmoves.py SEED NODES      prints a program"""
import random
import sys

ARRAYS, STATEMENTS = 4, 12
EXTENT_MAX = 12
HEAD = """\
#include "check.h"
"""


class Array:
    """Its dimensions have extents and, if they are distributed, one of the template: the first
    dimensions of the array, each onto one of the nodes."""

    def __init__(self, rng, number, grids):
        self.name = f"a{number}"
        self.extents = [rng.randint(2, EXTENT_MAX) for _ in range(rng.randint(1, 3))]
        self.is_variable = rng.random() < 0.2
        fitting = [(name, grid) for name, grid in grids if len(grid) <= len(self.extents)]
        self.nodes, grid = rng.choice(fitting)
        self.axes = rng.sample(range(len(self.extents)), len(grid))
        self.offsets = [rng.randint(0, 2) for _ in grid]
        self.copies = rng.random() < 0.2  # the last dimension of the template has no one aligned
        self.kinds = [self.kind(rng, self.extents[axis] + offset, nodes)
                      for axis, offset, nodes in zip(self.axes, self.offsets, grid)]
        if self.copies:
            self.axes = self.axes[:-1]

    @staticmethod
    def kind(rng, indexes, nodes):
        least = -(-indexes // nodes)
        return rng.choice(["block", f"block({least + rng.randint(0, 1)})", "cyclic",
                           f"cyclic({rng.randint(2, 3)})"])

    def declare(self):
        declarator = self.name + "".join(f"[{extent}]" for extent in self.extents)
        lines = [f"static long {declarator}, whole_{declarator};"]
        if self.is_variable:
            return lines
        template = "t_" + self.name
        bounds = [self.extents[axis] + offset for axis, offset in zip(self.axes, self.offsets)]
        bounds += [EXTENT_MAX] * (len(self.kinds) - len(bounds))
        if self.copies:
            self.kinds[-1] = "block"
        places = ["*"] * len(self.extents)
        for number, axis in enumerate(self.axes):
            places[axis] = f"i{number}"
        aligned = [f"i{number} + {self.offsets[number]}" for number in range(len(self.axes))]
        aligned += ["*"] * (len(self.kinds) - len(aligned))
        in_brackets = lambda items: "".join(f"[{item}]" for item in items)
        return [*lines, f"#pragma xmp template {template}{in_brackets(bounds)}",
                f"#pragma xmp distribute {template}{in_brackets(self.kinds)} onto {self.nodes}",
                f"#pragma xmp align {self.name}{in_brackets(places)} with {template}{in_brackets(aligned)}"]

    def indexes(self):
        return [f"i{axis}" for axis in range(len(self.extents))]

    def element(self):
        return self.name + "".join(f"[{index}]" for index in self.indexes())

    def loops(self, body):
        """A nest over all elements, the distributed dimensions outside."""
        order = self.axes + [axis for axis in range(len(self.extents)) if axis not in self.axes]
        lines = []
        if not self.is_variable and self.axes:
            aligned = [f"i{axis} + {offset}" for axis, offset in zip(self.axes, self.offsets)]
            aligned += ["*"] * (len(self.kinds) - len(aligned))
            lines = ["#pragma xmp loop (" + ", ".join(f"i{axis}" for axis in self.axes) +
                     f") on t_{self.name}" + "".join(f"[{one}]" for one in aligned)]
        elif not self.is_variable:
            lines = [f"#pragma xmp task on {self.nodes} nocomm"]
        lines += [f"  for (int i{axis} = 0; i{axis} < {self.extents[axis]}; i{axis}++)" for axis in order]
        return [*lines, "    " + body]


def sections(rng, to, source):
    """Returns subscripts of both; each a number, or (first, count, step)."""
    common = rng.randint(0, min(len(to.extents), len(source.extents)))
    is_element = rng.random() < 0.15
    at = [sorted(rng.sample(range(len(one.extents)), common)) for one in (to, source)]
    found = [[rng.randrange(extent) for extent in one.extents] for one in (to, source)]
    for t, s in zip(*at):
        count = rng.randint(1, min(to.extents[t], source.extents[s]))
        found[0][t] = section(rng, to.extents[t], count)
        if not is_element:
            found[1][s] = section(rng, source.extents[s], count)
    return found


def section(rng, extent, count):
    step = rng.randint(1, (extent - 1) // (count - 1)) if count > 1 else rng.choice([1, 2])
    first = rng.randint(0, extent - 1 - (count - 1) * step)
    if rng.random() < 0.3:
        return first + (count - 1) * step, count, -step
    return first, count, step


def text(subscripts, extents):
    words = []
    for subscript, extent in zip(subscripts, extents):
        if isinstance(subscript, int):
            words.append(str(subscript))
        elif subscript == (0, extent, 1):
            words.append(":")
        else:
            first, count, step = subscript
            words.append(f"{first}:{count}" + (f":{step}" if step != 1 else ""))
    return "".join(f"[{word}]" for word in words)


def serial(to, source, subscripts):
    """The assignment of the copies, from a snapshot of the source."""
    lines, names, indexes = [], iter("klm"), [[], []]
    ranging = []
    for subscript in subscripts[0]:
        if isinstance(subscript, int):
            indexes[0].append(str(subscript))
        else:
            name = next(names)
            ranging.append(name)
            lines.append(f"for (int {name} = 0; {name} < {subscript[1]}; {name}++)")
            indexes[0].append(f"{subscript[0]} + {name} * {subscript[2]}")
    used = iter(ranging)
    for subscript in subscripts[1]:
        indexes[1].append(str(subscript) if isinstance(subscript, int)
                          else f"{subscript[0]} + {next(used)} * {subscript[2]}")
    element = lambda name, part: name + "".join(f"[{index}]" for index in part)
    return (["memcpy(before, whole_" + source.name + ", sizeof whole_" + source.name + ");"] +
            [" ".join(lines) + f" {element('whole_' + to.name, indexes[0])} = "
             f"(*(long (*){''.join(f'[{extent}]' for extent in source.extents)})before)"
             f"{element('', indexes[1])};"])


def program(seed, nodes):
    rng = random.Random(f"{seed} {nodes}")
    rows = rng.choice([count for count in range(1, nodes + 1) if nodes % count == 0])
    part = rng.randint(1, nodes)
    first = rng.randint(0, nodes - part)
    grids = [("p", [nodes]), ("g", [rows, nodes // rows]), ("q", [part])]
    arrays = [Array(rng, number, grids if number else grids[:1]) for number in range(ARRAYS)]
    lines = [HEAD, "#pragma xmp nodes p[*]", f"#pragma xmp nodes g[*][{nodes // rows}]",
             f"#pragma xmp nodes q[{part}] = p[{first}:{part}]",
             f"static long before[{EXTENT_MAX ** 3}];"]
    for array in arrays:
        lines += array.declare()
    lines += ["", "int main(void) {"]
    for number, array in enumerate(arrays):
        value = " + ".join(f"{10 ** (2 * axis)} * {index}" for axis, index in enumerate(array.indexes()))
        lines += [f"  for (int i{axis} = 0; i{axis} < {extent}; i{axis}++)"
                  for axis, extent in enumerate(array.extents)]
        lines.append(f"    whole_{array.element()} = {10 ** 7 * (number + 1)} + {value};")
        lines += array.loops(f"{array.element()} = whole_{array.element()};")
    for _ in range(STATEMENTS):
        to, source = rng.choice(arrays), rng.choice(arrays)
        subscripts = sections(rng, to, source)
        lines += ["#pragma xmp gmove" + rng.choice(["", "", " in", " out", " async(1)"])
                  if not (to.is_variable or source.is_variable) else "#pragma xmp gmove",
                  f"  {to.name}{text(subscripts[0], to.extents)} = "
                  f"{source.name}{text(subscripts[1], source.extents)};"]
        lines += ["  " + line for line in serial(to, source, subscripts)]
        lines += to.loops(f"EXPECT_EQUAL({to.element()}, whole_{to.element()});")
    return "\n".join([*lines, "  return say_ok();", "}", ""])


if __name__ == "__main__":
    print(program(int(sys.argv[1]), int(sys.argv[2])), end="")
