# SPDX-License-Identifier: BSD-3-Clause
"""The shapes of a random program: nodes, a template over them, arrays aligned with it."""
import dataclasses

TYPES = ["char", "short", "int", "long", "float", "double"]
EXTENT_MIN, EXTENT_MAX, EXTENT_MAX_IN_3D = 5, 40, 14
SHADOW_MAX = 3  # some are wider than a block


@dataclasses.dataclass
class Dimension:
    """Of a template. `nodes`: along it; 0: not distributed."""

    low: int
    extent: int
    nodes: int = 0
    format: str = "*"
    sizes: list | None = None  # of gblock

    def has_intervals(self):
        return self.format.startswith("block") or self.sizes is not None


@dataclasses.dataclass
class Axis:
    """A dimension of an array: `of` is the dimension of the template, or None."""

    extent: int
    of: int | None = None
    offset: int = 0
    shadow: tuple = (0, 0)


@dataclasses.dataclass
class Array:
    name: str
    type: str
    axes: list
    halo: list  # of each axis: (low, high) filled since the last write
    is_periodic: list  # of each axis: the halo of the outer edges, too
    has_corners: bool = False
    is_pointer: bool = False  # made by xmp_malloc

    def dimensions(self):
        return {axis.of for axis in self.axes if axis.of is not None}


class Shapes:
    def __init__(self, chooser, nodes):
        self.random, self.nodes = chooser, nodes
        self.grid = []  # extents of the nodes
        self.template = self.make_template()
        # The first one has all dimensions: a loop over it may read any other.
        self.arrays = [self.make_array(f"a{n}", len(self.template) * (n == 0))
                       for n in range(self.random.randint(2, 4))]

    def make_template(self):
        rank = self.random.choice([1, 1, 2, 2, 2, 3])
        largest = EXTENT_MAX if rank < 3 else EXTENT_MAX_IN_3D
        made = [Dimension(self.random.choice([0, 0, 1, -4, 7]),
                          self.random.randint(EXTENT_MIN, largest)) for _ in range(rank)]
        chosen = sorted(self.random.sample(range(rank), self.random.randint(1, rank)))
        self.grid = self.factors(len(chosen))
        for number, count in zip(chosen, self.grid):
            one = made[number]
            one.nodes = count
            least = -(-one.extent // count)
            one.format = self.random.choice(
                ["block", "block", f"block({least + self.random.randint(0, 2)})", "cyclic", "cyclic",
                 f"cyclic({self.random.randint(1, 4)})", "gblock"])
            if one.format == "gblock":
                cuts = sorted(self.random.randint(0, one.extent) for _ in range(count - 1))
                one.sizes = [end - begin for begin, end in zip([0, *cuts], [*cuts, one.extent])]
                one.format = f"gblock(m{number})"
        return made

    def factors(self, count):
        """`count` numbers whose product is that of the nodes."""
        left, found = self.nodes, []
        for _ in range(count - 1):
            found.append(self.random.choice([n for n in range(1, left + 1) if left % n == 0]))
            left //= found[-1]
        return self.random.sample([*found, left], count)

    def make_array(self, name, least_rank):
        rank = self.random.randint(max(least_rank, 1), len(self.template))
        taken = self.random.sample(range(len(self.template)), rank)
        axes = [self.make_axis(number) for number in taken]
        if self.random.random() < 0.4:
            axes.insert(self.random.randint(0, len(axes)), Axis(self.random.randint(1, 4)))
        return Array(name, self.random.choice(TYPES), axes, [(0, 0)] * len(axes),
                     [False] * len(axes), is_pointer=self.random.random() < 0.15)

    def make_axis(self, number):
        one = self.template[number]
        extent = one.extent - self.random.choice([0, 0, 1, 3])
        offset = one.low + self.random.randint(0, one.extent - extent)
        shadow = (0, 0)
        if one.has_intervals() and self.random.random() < 0.7:
            most = min(SHADOW_MAX, extent)
            shadow = (self.random.randint(0, most), self.random.randint(0, most))
        return Axis(extent, number, offset, shadow)
