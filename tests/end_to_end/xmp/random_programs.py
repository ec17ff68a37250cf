# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of XcalableMP, each with its serial oracle: the same text for a compiler that takes
the pragmas for comments. All numbers are whole and small, so the order of sums does not matter.

    random_programs.py SEED NODES      prints a program

A program prints a hash of each of its arrays and the values of its reductions; with an argument also
the elements. A loop reads elements of other arrays only where they lie on the same node: at the same
place of the template, or in a halo that a reflect has filled since its array was written."""
import random
import sys

from random_shapes import Shapes

HEAD = """\
#include <stdio.h>
#include <stdlib.h>
#ifdef _XCALABLEMP
#include <xmp.h>
#define WRAP(index, extent) (index)
#define ALLOCATE(name, ...) xmp_malloc(xmp_desc_of(name), __VA_ARGS__)
#else
#define xmp_all_node_num() 1
#define WRAP(index, extent) (((index) + (extent)) % (extent))
#define ALLOCATE(name, ...) calloc(product_of((long[]){__VA_ARGS__, 0}), 8)
__attribute__((unused)) static size_t product_of(const long* factor) {
  size_t product = 1;
  while (*factor != 0) product *= (size_t)*factor++;
  return product;
}
#endif
#define SMALL(number) ((number) % 101)

static long hash_of(const long* numbers, long count) {
  unsigned long hash = 1469598103934665603UL;
  for (long n = 0; n < count; n++) hash = (hash ^ (unsigned long)numbers[n]) * 1099511628211UL;
  return (long)(hash >> 2);
}

static void print(const char* name, const long* numbers, long count) {
  printf("%s", name);
  for (long n = 0; n < count; n++) printf(" %ld", numbers[n]);
  puts("");
}
"""
STATEMENTS_MIN, STATEMENTS_MAX = 5, 14
OPERATIONS = {"+": "{v} += {x};", "max": "if ({x} > {v}) {v} = {x};",
              "min": "if ({x} < {v}) {v} = {x};", "^": "{v} ^= {x};", "|": "{v} |= {x};",
              "&": "{v} &= {x} | 64;", "&&": "{v} = {v} && {x} >= 0;", "||": "{v} = {v} || {x} > 99;"}
NEUTRAL = {"max": -1000, "min": 1000, "&": -1, "&&": 1}


class Program:
    def __init__(self, seed, nodes):
        self.seed, self.nodes = seed, nodes
        self.random = random.Random(f"{seed} {nodes}")
        self.in_c = self.random.random() < 0.5  # t[..] or t(..)
        self.lines, self.depth, self.scalars, self.functions = [], 0, [], []
        self.is_local = self.random.random() < 0.3  # arrays in main()
        self.is_deferred = self.random.random() < 0.2  # the template has a template_fix
        self.shapes = Shapes(self.random, nodes)
        self.template, self.arrays = self.shapes.template, self.shapes.arrays

    # ---- text ---------------------------------------------------------------------------------

    def put(self, text):
        self.lines.append(text if text.startswith("#") else "  " * self.depth + text)

    def reference(self, name, items):
        """Items in the order of C."""
        if self.in_c:
            return name + "".join(f"[{item}]" for item in items)
        return f"{name}({', '.join(reversed(items))})"

    def declare(self):
        grid = [str(count) for count in self.shapes.grid]
        if self.random.random() < 0.5:
            grid[0] = "*"
        self.put(f"#pragma xmp nodes {self.reference('p', grid)}")
        bounds = [":" if self.is_deferred else self.bounds(one) for one in self.template]
        for number, one in enumerate(self.template):
            if one.sizes:
                kind = self.random.choice(["int", "long"])
                numbers = ", ".join(str(size) for size in one.sizes)
                self.put(f"static {kind} m{number}[] = {{{numbers}}};")
        self.put(f"#pragma xmp template {self.reference('t', bounds)}")
        formats = ["gblock(*)" if one.sizes and self.is_deferred else one.format
                   for one in self.template]
        self.put(f"#pragma xmp distribute {self.reference('t', formats)} onto p")
        for array in self.arrays:
            self.declare_array(array)

    def put_making_of_arrays(self):
        """The template_fix, and the memory of pointers."""
        if self.is_deferred:
            bounds = self.reference("t", [self.bounds(one) for one in self.template])
            formats = ""
            if any(one.sizes for one in self.template) or self.random.random() < 0.5:
                formats = self.reference("", [one.format for one in self.template])
            self.put(f"#pragma xmp template_fix {formats} {bounds}")
        for array in self.arrays:
            if array.is_pointer:
                extents = ", ".join(str(axis.extent) for axis in array.axes)
                self.put(f"{array.name} = ALLOCATE({array.name}, {extents});")

    def bounds(self, one):
        if not self.in_c:
            return f"{one.low} : {one.low + one.extent - 1}"
        return f"{one.low} : {one.extent}" if one.low else str(one.extent)

    def declare_array(self, array):
        declared = pointer_declarator(array) if array.is_pointer else declarator(array)
        self.put(f"{'' if self.depth else 'static '}{declared};")
        self.put_alignment(array)

    def put_alignment(self, array):
        places = ["*"] * len(self.template)
        indexes = ["*"] * len(array.axes)
        for number, axis in enumerate(array.axes):
            if axis.of is not None:
                indexes[number] = f"i{number}"
                places[axis.of] = f"i{number}" + signed(axis.offset)
        source = array.name + "".join(f"[{index}]" for index in indexes)
        self.put(f"#pragma xmp align {source} with {self.reference('t', places)}")
        if any(axis.shadow != (0, 0) for axis in array.axes):
            widths = "".join(f"[{pair_text(axis.shadow)}]" for axis in array.axes)
            self.put(f"#pragma xmp shadow {array.name}{widths}")

    # ---- loops --------------------------------------------------------------------------------

    def loops(self, array, ranges, clause, body, star=None, upwards=False):
        """A nest over the places `ranges` (first, end by dimension of the template) and the other
        axes of the array. `body` gets the text of each place's variable, and its shift."""
        order = self.random.sample(sorted(ranges), len(ranges))
        shifts = {number: self.random.choice([0, 0, 0, 1, -2]) for number in ranges}
        splits = len(order) > 1 and not clause and self.random.random() < 0.3
        before = self.depth
        for place, number in enumerate(order):
            if place == 0 or splits:
                named = order[place:place + 1] if splits else order
                self.put(self.loop_directive(named, shifts, clause, star))
            self.put_for(f"x{number}", *ranges[number], shifts[number], upwards)
            self.depth += 1
        for number, axis in enumerate(array.axes):
            if axis.of is None:
                self.put(f"for (int y{number} = 0; y{number} < {axis.extent}; y{number}++) {{")
                self.depth += 1
        body(shifts)
        while self.depth > before:
            self.depth -= 1
            self.put("}")

    def loop_directive(self, named, shifts, clause, star):
        left_out = star or self.random.choice([":", "*"])
        items = [f"x{number}" + signed(shifts[number]) if number in named else left_out
                 for number in range(len(self.template))]
        indexes = f" ({', '.join(f'x{number}' for number in named)})"
        if len(named) == 1 and self.random.random() < 0.5:
            indexes = ""
        return f"#pragma xmp loop{indexes} on {self.reference('t', items)}{clause}"

    def put_for(self, name, first, end, shift, upwards):
        """Over the places first .. end - 1, whose variable is less by `shift`."""
        step = 1 if upwards else self.random.choice([1, 1, 1, 2, 3])
        first, last = first - shift, end - 1 - shift
        if upwards or self.random.random() < 0.7:
            test = self.random.choice([f"< {last + 1}", f"<= {last}"])
            self.put(f"for (int {name} = {first}; {name} {test}; {self.step_text(name, '+', step)}) {{")
        else:
            test = self.random.choice([f"> {first - 1}", f">= {first}"])
            self.put(f"for (int {name} = {last}; {name} {test}; {self.step_text(name, '-', step)}) {{")

    def step_text(self, name, sign, step):
        forms = [f"{name} {sign}= {step}", f"{name} = {name} {sign} {step}"]
        return self.random.choice(forms + [f"{name}{sign}{sign}", f"{sign}{sign}{name}"] * (step == 1))

    def element(self, array, shifts, moved=None, is_read=False):
        """Its text at the place of the loops' variables, in the halo by `moved`: distance by axis.
        Only the assigned array has loops over its other axes."""
        text = array.name
        for number, axis in enumerate(array.axes):
            if axis.of is None:
                index = str(axis.extent - 1) if is_read else f"y{number}"
            else:
                index = f"x{axis.of}" + signed(shifts[axis.of] - axis.offset)
            if moved and number in moved:
                index += signed(moved[number])
                if array.is_periodic[number]:
                    index = f"WRAP({index}, {axis.extent})"
            text += f"[{index}]"
        return text

    def ranges_of(self, array):
        return {axis.of: (axis.offset, axis.offset + axis.extent)
                for axis in array.axes if axis.of is not None}

    def choose_read(self, array, ranges, wanted):
        """Another array, or a place of its halo; narrows the ranges to where it has elements."""
        others = [other for other in self.arrays
                  if other is not array and other.dimensions() <= set(ranges)]
        if not others:
            return None
        other = wanted if wanted in others else self.random.choice(others)
        filled = [number for number, halo in enumerate(other.halo) if halo != (0, 0)]
        moved = {}
        if filled and self.random.random() < 0.8:
            chosen = filled if other.has_corners else [self.random.choice(filled)]
            for number in chosen:
                low, high = other.halo[number]
                moved[number] = self.random.choice([n for n in range(-low, high + 1) if n])
        for number, axis in enumerate(other.axes):
            if axis.of is None:
                continue
            first, end = axis.offset, axis.offset + axis.extent
            if number in moved and not other.is_periodic[number]:
                first, end = max(first, first - moved[number]), min(end, end - moved[number])
            narrow(ranges, axis.of, first, end)
        return other, moved

    # ---- statements ---------------------------------------------------------------------------

    def put_assignment(self, array, wanted=None):
        """With elements of the array `wanted`, if the assigned one has all of its dimensions."""
        ranges = self.ranges_of(array)
        reads = []
        for _ in range(self.random.randint(2 if wanted else 0, 3)):
            trial = dict(ranges)
            read = self.choose_read(array, trial, wanted)
            if read and all(first < end for first, end in trial.values()):
                ranges = trial
                reads.append(read)

        def body(shifts):
            terms = [f"(long){self.element(other, shifts, moved, True)}"
                     for other, moved in reads]
            terms += [f"{self.random.randint(1, 9)} * (x{number}{signed(shifts[number])} + 9)"
                      for number in ranges]
            terms += [f"y{number}" for number, axis in enumerate(array.axes) if axis.of is None]
            if self.random.random() < 0.5:
                terms.append(f"(long){self.element(array, shifts)}")
            if self.scalars and self.random.random() < 0.5:
                terms.append(f"labs({self.random.choice(self.scalars)} % 50)")
            self.put(f"{self.element(array, shifts)} = ({array.type})SMALL({' + '.join(terms)});")
        self.loops(array, ranges, "", body)
        array.halo = [(0, 0)] * len(array.axes)
        array.is_periodic = [False] * len(array.axes)
        return [array, *(other for other, _ in reads)]

    def put_call(self, array, wanted=None):
        """The same in a function, whose arguments are the arrays."""
        of_main, self.lines, self.scalars, scalars = self.lines, [], [], self.scalars
        used = {one.name: one for one in self.put_assignment(array, wanted)}
        body, self.lines, self.scalars = self.lines, of_main, scalars
        name = f"f{len(self.functions)}"
        self.put(f"{name}({', '.join(used)});")
        self.lines, self.depth = [], self.depth - 1
        self.put(f"static void {name}({', '.join(map(declarator, used.values()))}) {{")
        for one in used.values():
            self.put_alignment(one)
        self.functions.append([*self.lines, *body, "}", ""])
        self.lines, self.depth = of_main, self.depth + 1

    def put_change(self, array, wanted=None):
        if self.is_local or self.random.random() < 0.7:
            self.put_assignment(array, wanted)
        else:
            self.put_call(array, wanted)

    def put_reflect(self, array):
        widths, texts = [], []
        for axis in array.axes:
            width, is_periodic = axis.shadow, False
            if axis.shadow != (0, 0):
                if self.random.random() < 0.3:
                    width = tuple(self.random.randint(0, most) for most in axis.shadow)
                is_periodic = self.random.random() < 0.3
            widths.append((width, is_periodic))
            texts.append("/periodic/ " * is_periodic + pair_text(width))
        is_whole = all(width == (axis.shadow, False) for width, axis in zip(widths, array.axes))
        text = "" if is_whole and self.random.random() < 0.7 else f" width({', '.join(texts)})"
        array.has_corners = self.random.random() < 0.6
        text += "" if array.has_corners else " orthogonal"
        number = self.random.randint(1, 99)
        is_later = self.random.random() < 0.3
        self.put(f"#pragma xmp reflect({array.name}){text}{f' async({number})' * is_later}")
        if is_later:
            self.put(f"#pragma xmp wait_async({number})")
        array.halo = [width for width, _ in widths]
        array.is_periodic = [is_periodic for _, is_periodic in widths]
        readers = [other for other in self.arrays
                   if other is not array and other.dimensions() >= array.dimensions()]
        if readers:
            self.put_change(self.random.choice(readers), wanted=array)

    def put_reduction(self, array):
        operation = self.random.choice(list(OPERATIONS))
        name = f"s{len(self.scalars)}"
        start = self.random.choice([NEUTRAL.get(operation, 0), self.random.randint(-9, 99)])
        self.put(f"long {name} = {start};")

        def body(shifts):
            self.put(OPERATIONS[operation].format(v=name, x=f"(long){self.element(array, shifts)}"))
        self.loops(array, self.ranges_of(array), f" reduction({operation} : {name})", body, "*")
        self.scalars.append(name)

    def put_location(self, array):
        """Of values that are all different: which index has the greatest?"""
        name, where = f"s{len(self.scalars)}", f"s{len(self.scalars) + 1}"
        kind, test, start = self.random.choice([("firstmax", ">", -1), ("lastmin", "<", 10**9)])
        self.put(f"long {name} = {start}, {where} = -1;")
        number = self.random.choice(sorted(array.dimensions()))

        def body(shifts):
            place = "0"
            for axis_number, axis in enumerate(array.axes):
                index = f"y{axis_number}" if axis.of is None else \
                    f"x{axis.of}" + signed(shifts[axis.of] - axis.offset)
                place = f"({place} * {axis.extent} + {index})"
            self.put(f"const long value = (long){self.element(array, shifts)} * 100000L + {place};")
            self.put(f"if (value {test} {name}) {name} = value, "
                     f"{where} = x{number}{signed(shifts[number])};")
        self.loops(array, self.ranges_of(array), f" reduction({kind} : {name} / {where} /)", body,
                   "*", upwards=True)
        self.scalars += [name, where]

    def put_task(self):
        chosen = [self.random.randrange(count) for count in self.shapes.grid]
        node = self.reference("p", [str(n if self.in_c else n + 1) for n in chosen])
        name = f"s{len(self.scalars)}"
        self.put(f"long {name} = 0;")
        self.put(f"#pragma xmp task on {node}")
        self.put("{")
        self.put(f"  {name} = {self.random.randint(1, 99)};")
        self.put("}")
        self.put(f"#pragma xmp bcast({name}) from {node}")
        self.scalars.append(name)

    def put_statement(self):
        array = self.random.choice(self.arrays)
        with_shadow = [one for one in self.arrays
                       if any(axis.shadow != (0, 0) for axis in one.axes)]
        kind = self.random.choices(["assignment", "reflect", "reduction", "location", "task",
                                    "barrier"], [8, 6, 2, 1, 1, 0.5])[0]
        if kind == "reflect" and with_shadow:
            self.put_reflect(self.random.choice(with_shadow))
        elif kind == "reduction":
            self.put_reduction(array)
        elif kind == "location":
            self.put_location(array)
        elif kind == "task":
            self.put_task()
        elif kind == "barrier":
            self.put("#pragma xmp barrier")
        else:
            self.put_change(array)

    # ---- the results --------------------------------------------------------------------------

    def put_result(self, array):
        """All elements at all nodes; the nodes must agree."""
        whole = f"all_{array.name}"
        extents = "".join(f"[{axis.extent}]" for axis in array.axes)
        self.put("{")
        self.depth += 1
        self.put(f"static long {whole}{extents};")

        def body(shifts):
            element = self.element(array, shifts)
            self.put(f"{whole}{element[len(array.name):]} = (long){element};")
        self.loops(array, self.ranges_of(array), f" reduction(+ : {whole})", body, "*", upwards=True)
        first = f"(const long*){whole}, sizeof {whole} / sizeof(long)"
        self.put(f"long least = hash_of({first}), greatest = least;")
        self.put("#pragma xmp reduction(min : least)")
        self.put("#pragma xmp reduction(max : greatest)")
        self.put("if (xmp_all_node_num() == 1) {")
        self.put(f'  printf("{array.name} %lx %lx\\n", least, greatest);')
        self.put(f'  if (argc > 1) print("{array.name}", {first});')
        self.put("}")
        self.depth -= 1
        self.put("}")

    def text(self):
        if not self.is_local:
            self.declare()
        declarations, self.lines = self.lines, []
        self.put("int main(int argc, char** argv) {")
        self.depth = 1
        self.put("(void)argv;")
        if self.is_local:
            self.declare()
        self.put_making_of_arrays()
        for array in self.arrays:
            self.put_first_assignment(array)
        for _ in range(self.random.randint(STATEMENTS_MIN, STATEMENTS_MAX)):
            self.put_statement()
        for array in self.arrays:
            self.put_result(array)
        if self.scalars:
            formats = " ".join(["%ld"] * len(self.scalars))
            self.put("if (xmp_all_node_num() == 1)")
            self.put(f'  printf("{formats}\\n", {", ".join(self.scalars)});')
        self.put("return 0;")
        self.lines.append("}")
        return "\n".join([f"/* seed {self.seed}, {self.nodes} nodes */", HEAD, *declarations, "",
                          *(line for function in self.functions for line in function),
                          *self.lines, ""])

    def put_first_assignment(self, array):
        """Every element: local arrays of the serial program begin with any value."""
        def body(shifts):
            terms = [f"{3 + number} * (x{number}{signed(shifts[number])} + 9)"
                     for number in array.dimensions()]
            terms += [f"{number + 1} * y{number}" for number, axis in enumerate(array.axes)
                      if axis.of is None]
            self.put(f"{self.element(array, shifts)} = ({array.type})SMALL({' + '.join(terms)});")
        self.loops(array, self.ranges_of(array), "", body, upwards=True)


def declarator(array):
    return f"{array.type} {array.name}" + "".join(f"[{axis.extent}]" for axis in array.axes)


def pointer_declarator(array):
    extents = "".join(f"[{axis.extent}]" for axis in array.axes[1:])
    return f"{array.type} (*{array.name}){extents}" if extents else f"{array.type} *{array.name}"


def signed(number):
    return f" {'+' if number > 0 else '-'} {abs(number)}" if number else ""


def pair_text(pair):
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]} : {pair[1]}"


def narrow(ranges, number, first, end):
    old_first, old_end = ranges[number]
    ranges[number] = max(old_first, first), min(old_end, end)


def program(seed, nodes):
    return Program(seed, nodes).text()


if __name__ == "__main__":
    sys.stdout.write(program(int(sys.argv[1]), int(sys.argv[2])))
