"""Random valid tilings and their neighbourhood, for the heuristic searches.

A tiling is written as one level per prime factor of every bound ("gene"): 512 = 2*2*...*2 has nine genes,
each at DRAM, SPM, RF or in space. Every assignment multiplies to the bound, moving one gene is the smallest
step there is, and pins take levels away from genes. Orders are numbers into a list of orders with unique
reuse. Populations are arrays, one row per mapping, so that whole generations are tried at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.tiling.array_axes import ArrayAxes, on_axes
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.compiled import compiled
from mapper.models.tiling.mapping import LEVELS, ORDERED_LEVELS, TilingMapping
from mapper.models.tiling.order import unique_orders
from mapper.solver.tiling.heuristic import batch, legality
from mapper.workloads.nest.loop_nest import LoopNest

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

KNOWN_OF = 10
"""Of so many mappings that a search begins with one is what is known."""
REPAIRS_PER_GENE = 6
OUTWARDS = 0.9
"""Share of the repairs that move a gene to DRAM, where it takes no room; the others are any step."""


@dataclass(frozen=True)
class Population:
    """``genes`` (P, G): the level of each prime factor; ``orders`` (P, 2): numbers of the orders."""

    genes: Integers
    orders: Integers

    def __len__(self) -> int:
        return len(self.genes)

    def rows(self, chosen: Integers | Flags) -> Population:
        return Population(self.genes[chosen], self.orders[chosen])

    def where(self, mask: Flags, other: Population) -> Population:
        """Rows of this population where ``mask`` holds, of ``other`` elsewhere."""
        column = mask[:, None]
        return Population(
            np.where(column, self.genes, other.genes), np.where(column, self.orders, other.orders)
        )


@dataclass(frozen=True)
class Space:
    """The tilings of a problem as genes. G genes, J loops.

    ``primes``, ``loop_of`` (G,): each gene's prime and loop; ``allowed`` (G, 4): the levels it may take;
    ``must_be_in_space``: loops pinned to run in space; ``orders``: at DRAM and SPM, (orders, J) loop
    positions, outer to inner; ``axes``: of the array, where the machine tells them apart.
    """

    problem: TilingProblem
    primes: Integers
    loop_of: Integers
    allowed: Flags
    must_be_in_space: Integers
    orders: tuple[Integers, Integers]
    axes: ArrayAxes | None = None

    def factors(self, population: Population) -> Integers:
        """Trip counts (P, J, 4)."""
        counts = np.ones((len(population), len(self.problem.nest.loops), len(LEVELS)), np.int64)
        _multiply(population.genes, self.primes, self.loop_of, counts)
        return counts

    def loop_orders(self, population: Population) -> tuple[Integers, Integers]:
        """Orders at DRAM and SPM, (P, J) loop positions."""
        return self.orders[0][population.orders[:, 0]], self.orders[1][population.orders[:, 1]]

    def valid(self, population: Population, factors: Integers) -> Flags:
        """Whether the machine holds the tiles, pinned loops are in space and dependences are kept."""
        nest, machine = self.problem.nest, self.problem.machine
        holds = batch.fits(nest, machine, factors)
        holds &= self._pinned_in_space(factors)
        if self.axes is not None:
            few = np.flatnonzero(holds)
            holds[few] = self.axes.rooms(factors[few, :, batch.SPATIAL])
        if nest.dependences:
            holds &= legality.legal(nest, factors, *self.loop_orders(population))
        return holds

    def costs(self, population: Population, factors: Integers) -> batch.Costs:
        problem = self.problem
        return batch.costs(problem.nest, problem.machine, factors, *self.loop_orders(population))

    def mapping(self, population: Population, row: int) -> TilingMapping:
        """One row as a mapping."""
        loops = self.problem.nest.loops
        one = population.rows(np.array([row]))
        dram, spm = self.loop_orders(one)
        found = TilingMapping(
            loops,
            tuple((int(d), int(s), int(r), int(p)) for d, s, r, p in self.factors(one)[0]),
            tuple(loops[position] for position in dram[0]),
            tuple(loops[position] for position in spm[0]),
        )
        return on_axes(self.problem, found)

    def population(self, mapping: TilingMapping, count: int) -> Population | None:
        """``count`` rows that tile as ``mapping`` does, in the best of the orders that are drawn: its own may be others
        that reuse the same; None if none of them is valid or pins speak against its tiles."""
        genes = np.full(len(self.primes), -1, np.int64)
        for loop, factors in enumerate(mapping.factors):
            for level, factor in enumerate(factors):
                for prime in prime_factors(factor):
                    able = (self.loop_of == loop) & (self.primes == prime) & self.allowed[:, level]
                    able &= genes < 0
                    if not able.any():
                        return None
                    genes[np.argmax(able)] = level
        numbers = np.stack(np.meshgrid(*(np.arange(len(table)) for table in self.orders)), axis=-1).reshape(
            -1, 2
        )
        every = Population(np.tile(genes, (len(numbers), 1)), numbers)
        every = every.rows(self.valid(every, self.factors(every)))
        if not len(every):
            return None
        values = self.costs(every, self.factors(every)).values(self.problem)
        return every.rows(np.full(count, np.argmin(values), np.int64))

    def draw(self, rng: np.random.Generator, count: int) -> Population:
        """Each gene at any of its levels with equal chance, each order with equal chance; valid or not."""
        genes = self._levels(rng, rng.random((count, len(self.primes))), np.arange(len(self.primes)))
        for loop in self.must_be_in_space:
            able = np.flatnonzero((self.loop_of == loop) & self.allowed[:, batch.SPATIAL])
            genes[np.arange(count), rng.choice(able, count)] = batch.SPATIAL
        return Population(genes, self._orders(rng, count))

    def first(self, rng: np.random.Generator, count: int, known: TilingMapping | None) -> Population:
        """Valid mappings to begin with: drawn ones, and a few times what is ``known``."""
        drawn, valid = self.draw_valid(rng, count)
        found = drawn.rows(valid)
        again = None if known is None else self.population(known, -(-count // KNOWN_OF))
        if again is None:
            return found
        rest = found.rows(np.arange(min(len(found), count - len(again))))
        return Population(
            np.concatenate((again.genes, rest.genes)), np.concatenate((again.orders, rest.orders))
        )

    def draw_valid(self, rng: np.random.Generator, count: int) -> tuple[Population, Flags]:
        """A drawn population, repaired where it is not valid: genes go outwards to DRAM, one at a time.

        The flags say which rows are valid; some may stay invalid where pins or dependences are tight.
        """
        population = self.draw(rng, count)
        valid = self.valid(population, self.factors(population))
        for _ in range(REPAIRS_PER_GENE * len(self.primes)):
            broken = np.flatnonzero(~valid)
            if not len(broken):
                break
            bad = population.rows(broken)
            mended = self.neighbours(rng, bad)
            inside = self.allowed[:, batch.DRAM] & (bad.genes != batch.DRAM)
            outwards = np.flatnonzero(inside.any(axis=1) & (rng.random(len(bad)) < OUTWARDS))
            gene = np.argmax(rng.random(inside.shape) * inside, axis=1)[outwards]
            mended.genes[outwards] = bad.genes[outwards]
            mended.genes[outwards, gene] = batch.DRAM
            factors = self.factors(mended)
            mended = mended.where(self._pinned_in_space(factors), bad)
            population.genes[broken], population.orders[broken] = mended.genes, mended.orders
            valid[broken] = self.valid(mended, self.factors(mended))
        return population, valid

    def neighbours(self, rng: np.random.Generator, population: Population) -> Population:
        """One step from each row: a gene moves to a level, two genes trade levels, or an order changes."""
        count, genes = len(population), population.genes.copy()
        rows, kind = np.arange(count), rng.random(count)
        if len(self.primes):
            first, second = rng.integers(len(self.primes), size=(2, count))
            level = self._levels(rng, rng.random((count, 1)), first[:, None])[:, 0]
            move = kind < 0.5
            genes[rows[move], first[move]] = level[move]
            ours, theirs = population.genes[rows, first], population.genes[rows, second]
            trade = (kind >= 0.5) & (kind < 0.8) & self.allowed[first, theirs] & self.allowed[second, ours]
            genes[rows[trade], first[trade]] = theirs[trade]
            genes[rows[trade], second[trade]] = ours[trade]
        else:
            kind[:] = 1.0
        fresh = self._orders(rng, count)
        changed = (kind >= 0.8)[:, None] & (rng.integers(2, size=count)[:, None] == np.arange(2))
        return Population(genes, np.where(changed, fresh, population.orders))

    def crossed(self, rng: np.random.Generator, mothers: Population, fathers: Population) -> Population:
        """Children that take every loop's tiling, and each order, from one parent or the other."""
        from_mother = rng.random((len(mothers), len(self.problem.nest.loops) + 2)) < 0.5
        genes = np.where(from_mother[:, self.loop_of], mothers.genes, fathers.genes)
        return Population(genes, np.where(from_mother[:, -2:], mothers.orders, fathers.orders))

    def _pinned_in_space(self, factors: Integers) -> Flags:
        in_space: Flags = np.all(factors[:, self.must_be_in_space, batch.SPATIAL] > 1, axis=1)
        return in_space

    def _levels(self, rng: np.random.Generator, chance: NDArray[np.float64], gene: Integers) -> Integers:
        """For each gene one of its levels, by a number between 0 and 1."""
        counts = self.allowed.sum(axis=1)
        listed = np.argsort(~self.allowed, axis=1, kind="stable")
        pick = np.minimum((chance * counts[gene]).astype(np.int64), counts[gene] - 1)
        chosen: Integers = listed[gene, pick]
        return chosen

    def _orders(self, rng: np.random.Generator, count: int) -> Integers:
        return np.stack([rng.integers(len(table), size=count) for table in self.orders], axis=1)


def space_of(problem: TilingProblem) -> Space | None:
    """The space of a problem; None if its pins contradict its bounds or its dependences."""
    nest, pins, axes = problem.nest, problem.pins, ArrayAxes.of(problem)
    primes, loop_of, allowed = [], [], []
    for position, (loop, bound) in enumerate(nest.bounds):
        fixed = {level: value for pinned, level, value in pins.factors if pinned == loop}
        levels = np.array([level not in fixed for level in LEVELS])
        levels[batch.SPATIAL] &= loop not in nest.sequential_loops
        if pins.spatial is not None and not pins.spatial_open:
            levels[batch.SPATIAL] &= loop in pins.spatial
        if axes is not None:
            levels[batch.SPATIAL] &= position in axes.allowed
        rest = bound
        for level, value in fixed.items():
            at = LEVELS.index(level)
            if rest % value or not pins.allows(loop, level, value):
                return None
            if at == batch.SPATIAL and value > 1 and loop in nest.sequential_loops:
                return None
            rest //= value
            for prime in prime_factors(value):
                primes.append(prime)
                loop_of.append(position)
                allowed.append(np.arange(len(LEVELS)) == at)
        for prime in prime_factors(rest):
            primes.append(prime)
            loop_of.append(position)
            allowed.append(levels)
        if rest > 1 and not levels.any():
            return None
    in_space = {nest.loops.index(loop) for loop in pins.spatial or ()}
    spatial = sorted(in_space | set(axes.needed if axes is not None else ()))
    table = np.array(allowed, bool).reshape(-1, len(LEVELS))
    for place in spatial:
        if not (table[:, batch.SPATIAL] & (np.array(loop_of) == place)).any():
            return None
    return Space(
        problem,
        np.array(primes, np.int64),
        np.array(loop_of, np.int64),
        table,
        np.array(spatial, np.int64),
        tuple(_order_table(nest, pins.innermost(level)) for level in ORDERED_LEVELS),  # type: ignore[arg-type]
        axes,
    )


def _order_table(nest: LoopNest, innermost: tuple[str, ...]) -> Integers:
    """Orders that end in ``innermost``: those with unique reuse, and with dependences also each of them with
    its sequential loops in the nest's order, which is legal most often."""
    orders = list(unique_orders(nest, innermost=innermost).values())
    carried = [loop for loop in nest.loops if loop in nest.sequential_loops and loop not in innermost]
    for order in tuple(orders) if carried else ():
        following = iter(carried)
        orders.append(tuple(next(following) if loop in carried else loop for loop in order))
    positions = [[nest.loops.index(loop) for loop in order] for order in dict.fromkeys(orders)]
    return np.array(positions, np.int64)


def _python_multiply(genes: Any, primes: Any, loop_of: Any, counts: Any) -> None:
    """Multiply each gene's prime into the trip count of its loop and level."""
    for p in range(genes.shape[0]):
        for gene in range(genes.shape[1]):
            counts[p, loop_of[gene], genes[p, gene]] *= primes[gene]


_multiply = compiled(_python_multiply)


def prime_factors(number: int) -> list[int]:
    """Prime factors with repetition, ascending; empty for 1."""
    found, divisor = [], 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1
    return [*found, number] if number > 1 else found
