# %% [markdown]
# # Which tensors should pass a memory by?
#
# Lesson on `hierarchy`. Source of the problem: mappings onto memory hierarchies, as Timeloop searches them
# [Parashar2019], cut down to three levels.
#
# ## The problem
# A matrix product $O = AB$ runs on one unit behind a small *scratch-pad*, behind a *buffer*, behind DRAM. Each level
# may keep a tile of a matrix, or the matrix may **bypass** the level: its words then go straight from the level
# outside to the level inside, and its tile takes no room. DRAM keeps everything. Every word that is read or written
# at a level costs energy.
#
# Which matrices should the buffer and the scratch-pad keep, how large are the tiles, and in which order do the loops
# over tiles run, so that the energy is least?
#
# | letter | meaning |
# |---|---|
# | $n_{l,j}$ | trips of loop $j \in \{I, J, K\}$ at level $l$; they multiply to its bound |
# | $c_{l,j}$ | iterations of $j$ in a tile of level $l$: the trips at $l$ and inside, multiplied |
# | $k_{l,t}$ | whether level $l$ keeps matrix $t$ |
# | $W_l$, $\varepsilon_l$ | words of a level, energy of a word read or written there |
#
# ![A memory hierarchy: levels, what they keep, and the units at the end](../figure/hierarchy-machine.svg)
#
# ## The mathematics
# $A$ is indexed by $I, K$, $B$ by $K, J$, $O$ by $I, J$. A tile of $t$ at level $l$ has $w_{l,t} = \prod_{j \in t}
# c_{l,j}$ words, and tiles that are kept must fit:
#
# $$\sum_t k_{l,t}\, w_{l,t} \le W_l$$
#
# Looking outwards from a tile, the loops outside turn. As long as only loops turn that do not index $t$, the tile
# stays. If $R$ is the product of the trips of these innermost loops, and $N$ that of all loops outside, then
#
# $$a_{l,t} = w_{l,t} \cdot N / R$$
#
# words arrive. They are read at the next level outside that *keeps* $t$, and written at level $l$; the unit reads a
# word of each matrix in each of its operations. Results go the same way back, and are as many words again:
#
# $$E = \sum_t (1 + [t = O]) \sum_{l \to m} (\varepsilon_l + \varepsilon_m)\, a_{m,t}$$
#
# The inner sum is over links: pairs of levels that keep $t$, with none between them.

# %%
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, permutations, product
from math import prod
from random import Random

import mapper

LOOPS = "IJK"
INDEX = {"A": "IK", "B": "KJ", "O": "IJ"}
UNIT = 3  # the place of the unit, behind the levels 0, 1, 2


@dataclass(frozen=True)
class Machine:
    """Words of the three levels (DRAM has room for all), and energies of a word; the unit's is 0."""

    words: tuple[int, int, int] = (1 << 40, 24, 4)
    energy: tuple[int, int, int, int] = (200, 12, 1, 0)


@dataclass(frozen=True)
class Mapping:
    """Trips of the loops at each level, their orders (outer to inner), and the matrices kept."""

    trips: tuple[tuple[int, int, int], ...]
    orders: tuple[str, ...]
    keep: tuple[str, ...]


def tile(mapping: Mapping, level: int) -> dict[str, int]:
    """Iterations of each loop in a tile of a level."""
    inside = mapping.trips[level:]
    return {loop: prod(row[place] for row in inside) for place, loop in enumerate(LOOPS)}


def words(matrix: str, sizes: dict[str, int]) -> int:
    return prod(sizes[loop] for loop in INDEX[matrix])


def fits(mapping: Mapping, machine: Machine) -> bool:
    return all(
        sum(words(matrix, tile(mapping, level)) for matrix in mapping.keep[level]) <= machine.words[level]
        for level in range(UNIT)
    )


def arriving(mapping: Mapping, matrix: str, level: int) -> int:
    """Words that arrive at a tile: its words, whenever a loop outside turns and the tile does not stay."""
    outside = [
        (loop, mapping.trips[outer][LOOPS.index(loop)])
        for outer in reversed(range(level))
        for loop in reversed(mapping.orders[outer])
    ]
    brought, stays = 1, True
    for loop, trips in outside:
        stays = stays and (trips == 1 or loop not in INDEX[matrix])
        brought *= 1 if stays else trips
    return brought * (words(matrix, tile(mapping, level)) if level < UNIT else 1)


def operations(mapping: Mapping) -> int:
    return prod(trips for row in mapping.trips for trips in row)


def energy(mapping: Mapping, machine: Machine) -> int:
    """Energy of all links."""
    total = 0
    for matrix in INDEX:
        kept = [level for level in range(UNIT) if matrix in mapping.keep[level]]
        for outer, inner in zip(kept, [*kept[1:], UNIT], strict=True):
            moved = operations(mapping) if inner == UNIT else arriving(mapping, matrix, inner)
            total += (1 + (matrix == "O")) * moved * (machine.energy[outer] + machine.energy[inner])
    return total


BOUNDS = (8, 8, 12)
MACHINE = Machine()
ALL = "ABO"

# %% [markdown]
# ## A first formulation
# "A memory closer to the unit is cheaper, so every level keeps every matrix." That leaves tiles and orders. They are
# still too many to try all of them, so we do what searches usually do: draw mappings at random, and stop when 500 in
# a row were no better. Timeloop calls this its victory condition. The search takes the silence for an answer: its
# best mapping is claimed to be the least.


# %%
@cache
def splits(bound: int) -> tuple[tuple[int, int, int], ...]:
    """Trips of a loop at the three levels."""
    every = [one for one in range(1, bound + 1) if bound % one == 0]
    return tuple((a, b, bound // (a * b)) for a in every for b in every if bound % (a * b) == 0)


def drawn(random: Random, bounds: tuple[int, ...], keep: tuple[str, ...]) -> Mapping:
    columns = [random.choice(splits(bound)) for bound in bounds]
    rows = tuple(zip(*columns, strict=True))
    orders = tuple("".join(random.sample(LOOPS, 3)) for _ in range(3))
    return Mapping(rows, orders, keep)


Answer = tuple[int, Mapping]
"""An energy that is claimed to be the least, and a mapping that has it."""


def random_search(bounds: tuple[int, ...], machine: Machine, seed: int = 1) -> Answer:
    """Draw mappings in which all levels keep everything, until 500 that fit in a row are no better."""
    random, best, since = Random(seed), None, 0
    while since < 500:
        mapping = drawn(random, bounds, (ALL, ALL, ALL))
        if fits(mapping, machine):
            found = energy(mapping, machine)
            since += 1
            if best is None or found < best[0]:
                best, since = (found, mapping), 0
    assert best is not None
    return best


def shown(answer: Answer) -> None:
    found, mapping = answer
    print(f"{found:,} of energy")
    for name, row, order, kept in zip(
        ("DRAM", "buffer", "scratch-pad"), mapping.trips, mapping.orders, mapping.keep, strict=True
    ):
        loops = " ".join(f"{loop}={row[LOOPS.index(loop)]}" for loop in order if row[LOOPS.index(loop)] > 1)
        print(f"  {name:11} keeps {','.join(kept) or '-':6} {loops}")


first = random_search(BOUNDS, MACHINE)
shown(first)

# %% [markdown]
# ## The check
# The check knows nothing of runs and products. It walks through all iterations, keeps for each level the tile that
# lies there, and counts the words of every tile that changes. And it does not believe that silence is a proof: it
# looks for a counter-example among *neighbours* of the answer, mappings in which a level keeps one matrix more or
# less, with tiles and orders as they may then be.


# %%
def walked(mapping: Mapping, machine: Machine) -> int:
    """Energy, by walking through all iterations."""
    nest = [
        (loop, level, mapping.trips[level][LOOPS.index(loop)])
        for level in range(UNIT)
        for loop in mapping.orders[level]
    ]
    held: dict[tuple[str, int], tuple[int, ...]] = {}
    total = 0
    for turn in product(*(range(trips) for _, _, trips in nest)):
        for matrix, own in INDEX.items():
            both_ways = 1 + (matrix == "O")
            last = 0
            for level in range(1, UNIT):
                if matrix not in mapping.keep[level]:
                    continue
                place = tuple(
                    at
                    for at, (loop, outer, _) in zip(turn, nest, strict=True)
                    if outer < level and loop in own
                )
                if held.get((matrix, level)) != place:
                    held[matrix, level] = place
                    area = words(matrix, tile(mapping, level))
                    total += both_ways * area * (machine.energy[last] + machine.energy[level])
                last = level
            total += both_ways * machine.energy[last]
    return total


def better_neighbour(mapping: Mapping, bounds: tuple[int, ...], machine: Machine) -> Answer | None:
    """A cheaper mapping in which one matrix is kept at one level more or less."""
    random = Random(0)
    for level, matrix in product((1, 2), ALL):
        kept = set(mapping.keep[level]) ^ {matrix}
        keep = [*mapping.keep]
        keep[level] = "".join(sorted(kept))
        for _ in range(3000):
            other = drawn(random, bounds, tuple(keep))
            if fits(other, machine) and energy(other, machine) < energy(mapping, machine):
                return energy(other, machine), other
    return None


def verdict(answer: Answer, bounds: tuple[int, ...], machine: Machine) -> list[str]:
    """What is wrong with an answer; empty if nothing is."""
    claimed, mapping = answer
    wrong = [] if fits(mapping, machine) else ["tiles do not fit"]
    real = walked(mapping, machine)
    if real != claimed:
        wrong.append(f"claims {claimed:,}, the walk costs {real:,}")
    other = better_neighbour(mapping, bounds, machine)
    if other is not None:
        wrong.append(f"is not the least: {other[0]:,} with {' | '.join(other[1].keep)} kept")
    return wrong


wrong_verdict = verdict(first, BOUNDS, MACHINE)
print("refuted:", wrong_verdict)
assert wrong_verdict

# %% [markdown]
# The words are counted right, and still the answer is wrong, for two reasons. Whoever keeps everything everywhere
# shares each small memory among three tiles; a matrix that passes by leaves its room to the others. And a search that
# stops when nothing better has come for a while has *proven nothing*. If it also draws what is kept at random, there
# are $2^6$ times as many mappings: the good ones become rarer, and the silence comes earlier.
#
# ## The right one
# What is kept is a decision like all others. There are 64 choices for two levels, and for each of them all trips and
# orders. The space is finite, so we go through it. That is a proof.


# %%
def mappings(bounds: tuple[int, ...], keeps: Iterator[tuple[str, str]]) -> Iterator[Mapping]:
    """Every mapping; orders of the innermost level do not matter."""
    orders = ["".join(order) for order in permutations(LOOPS)]
    for middle, inner in keeps:
        for columns in product(*(splits(bound) for bound in bounds)):
            rows = tuple(zip(*columns, strict=True))
            for outer, second in product(orders, repeat=2):
                yield Mapping(rows, (outer, second, "IJK"), (ALL, middle, inner))


def subsets() -> list[str]:
    return ["".join(m for m, bit in zip(ALL, bits, strict=True) if bit) for bits in product((1, 0), repeat=3)]


def everything(bounds: tuple[int, ...], machine: Machine) -> Answer:
    """The least of all."""
    keeps = ((middle, inner) for middle in subsets() for inner in subsets())
    fitting = (one for one in mappings(bounds, keeps) if fits(one, machine))
    return min(((energy(one, machine), one) for one in fitting), key=lambda found: found[0])


SMALL = (4, 4, 2)
TIGHT = Machine(words=(1 << 40, 6, 2))
started = time.perf_counter()
right = everything(SMALL, TIGHT)
slow_seconds = time.perf_counter() - started
right_verdict = verdict(right, SMALL, TIGHT)
shown(right)
roomier = Machine(words=(1 << 40, 6, 3))
print(
    f"at random, keeping everything, with room for that in the scratch-pad: {random_search(SMALL, roomier)[0]:,}"
)
assert not right_verdict

# %% [markdown]
# ## The fast one
# The sum over links comes apart. Three arguments, each of them a proof:
#
# **Choices first.** Once it is decided what each level keeps, the energy is a sum of terms, each of which belongs to
# a tile. What the unit reads does not depend on tiles at all: it costs $\varepsilon$ of the innermost level that
# keeps the matrix.
#
# **Bounds.** Every word of a matrix arrives at least once at each level that keeps it, $a_{l,t} \ge w_{0,t}$. So a
# choice costs at least
#
# $$\sum_t (1 + [t = O]) \Big( N\, \varepsilon_{\text{innermost of } t}
# + \sum_{l \to m} (\varepsilon_l + \varepsilon_m)\, w_{0,t} \Big)$$
#
# Choices are opened in the order of this bound, and the search ends at the first that is no better than what was
# found.
#
# **Orders.** One loop of a level is innermost, and each loop misses in just one matrix, which stays. The order of the
# other two does not matter at that level, unless the innermost loop has one trip, and then another order says the
# same. Three orders are left of six.


# %%
def bound(keep: tuple[str, ...], bounds: tuple[int, ...], machine: Machine) -> int:
    """The least that a choice of matrices can cost."""
    whole = dict(zip(LOOPS, bounds, strict=True))
    total = 0
    for matrix in INDEX:
        kept = [level for level in range(UNIT) if matrix in keep[level]]
        own = prod(bounds) * machine.energy[kept[-1]]
        for outer, inner in pairwise(kept):
            own += words(matrix, whole) * (machine.energy[outer] + machine.energy[inner])
        total += (1 + (matrix == "O")) * own
    return total


def reasoned(bounds: tuple[int, ...], machine: Machine) -> Answer:
    """The least of all, by the three arguments."""
    best: Answer | None = None
    choices = sorted(product(subsets(), repeat=2), key=lambda keep: bound((ALL, *keep), bounds, machine))
    for middle, inner in choices:
        keep = (ALL, middle, inner)
        if best is not None and bound(keep, bounds, machine) >= best[0]:
            break
        for columns in product(*(splits(one) for one in bounds)):
            rows = tuple(zip(*columns, strict=True))
            if not fits(Mapping(rows, ("IJK",) * 3, keep), machine):
                continue
            for outer, second in product(("IJK", "JKI", "KIJ"), repeat=2):
                one = Mapping(rows, (outer, second, "IJK"), keep)
                found = energy(one, machine)
                if best is None or found < best[0]:
                    best = found, one
    assert best is not None
    return best


started = time.perf_counter()
fast = reasoned(SMALL, TIGHT)
fast_seconds = time.perf_counter() - started
fast_verdict = verdict(fast, SMALL, TIGHT)
assert fast[0] == right[0] and not fast_verdict
speedup = slow_seconds / fast_seconds
print(f"{fast[0]:,} of energy, proven by both; the arguments are {speedup:,.0f} times as fast")

# %% [markdown]
# And the problem of the beginning, with the proof that the random search did not have:

# %%
least = reasoned(BOUNDS, MACHINE)
shown(least)
print(f"the random search was {first[0] / least[0] - 1:.0%} above it")
assert least[0] < first[0]

# %% [markdown]
# ## A real case
# `mapper` decides the same for machines of any number of levels, with loops in space. On the preset `tpu-v4i`
# it is open which matrices the memory of 128 MiB keeps. Branch and bound proves what is best; `random` is
# Timeloop's search with its victory condition, and cannot know how far from the least it is.

# %%
found: dict[str, float] = {}
for method in ("random", "branch-and-bound"):
    solution = mapper.solve("matmul", "tpu-v4i", "edp", search=mapper.Search(method=method))
    found[method] = float(solution.certificate.value or 0)
    print(f"{method}: {found[method]:.4g} pJ*cycles, proven: {solution.certificate.proven}")
print(
    f"the search that stopped by itself is {found['random'] / found['branch-and-bound']:.1f} times the least"
)
assert found["branch-and-bound"] <= found["random"]

# %%
solution

# %% [markdown]
# ## Exercises
# Write the functions `exercise_1`, `exercise_2` and `exercise_3` in a file and run
# `python -m docs.lessons.check hierarchy FILE`. A matrix product has the bounds `[I, J, K]`; there is DRAM and one
# buffer.
#
# 1. `exercise_1(bounds, tiles, order, keep)`: the words that move between DRAM and what is inside, where the buffer
#    keeps tiles of the matrices in `keep`, such as `"AO"`, and the others pass it by: they move a word in each
#    iteration (results two, there and back). Results that are kept move there and back as well. Loops over tiles run
#    in this order, outer to inner; loops with a single tile do not run.
# 2. `exercise_2(bounds, words)`: the fewest such words for a buffer of `words`, over all tiles that divide the bounds,
#    orders and choices of what is kept.
# 3. `exercise_3(bounds, words)`: how many more words move if the buffer must keep all three matrices, or -1 if they do
#    not fit.
