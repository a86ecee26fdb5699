"""Random PBQP instances that are hard on solvers: every graph and every cost that the format allows.

Graphs from one vertex to dense ones that no reduction takes apart; costs negative, zero, tied, prime, infinite, as
large as may be, in floating point from the least double to the largest. Of a few draws the first is taken that the
quick heuristic does not solve, so that a search has something to find and a bound something to get wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.solver.method import Effort
from mapper.solver.pbqp.catalogue import METHODS
from mapper.workloads.pbqp.instance import INFINITE, LARGEST_TOTAL, PbqpInstance, flat_instance
from tests.solver.pbqp.oracle import brute_force

Costs = NDArray[Any]
Draw = np.random.Generator
MOST_ASSIGNMENTS = 6600
PRIMES = (2, 3, 7, 13, 101, 7919, 1_000_003, 2_147_483_647)
TIES = (-7, 0, 5)
LARGEST_DOUBLE = 1e300
"""Sums of doubles may reach this."""


@dataclass(frozen=True)
class Family:
    """Costs that go together: ``draw`` gives so many of an instance of so many vertices and edges, integers if
    ``exact``."""

    name: str
    draw: Callable[[Draw, int, int], Costs]
    exact: bool = True


def _between(least: int, most: int) -> Callable[[Draw, int, int], Costs]:
    return lambda draw, count, places: draw.integers(least, most + 1, count)


def _from(values: tuple[int, ...], signs: tuple[int, ...] = (1,)) -> Callable[[Draw, int, int], Costs]:
    return lambda draw, count, places: draw.choice(values, count) * draw.choice(signs, count)


def _huge(draw: Draw, count: int, places: int) -> Costs:
    """Near the largest that so many may be together, of either sign, with odd last digits, some small."""
    largest = LARGEST_TOTAL // places
    found = draw.choice([-1, 1], count) * (largest - draw.integers(0, 3, count))
    anywhere = draw.integers(-largest, largest + 1, count)
    small = draw.integers(-3, 4, count)
    return np.asarray(np.choose(draw.integers(0, 3, count), [found, anywhere, small]), np.int64)


def _between_solvers(draw: Draw, count: int, places: int) -> Costs:
    """Up to where solvers that compute in floats still take an instance."""
    largest = (1 << int(draw.choice([29, 50]))) // places
    return draw.integers(-largest, largest + 1, count)


def _near_ties(draw: Draw, count: int, places: int) -> Costs:
    """Numbers whose sums differ in the last bits."""
    found: Costs = (1 + draw.integers(0, 3, count) * 2.0**-52) * draw.choice([-1.0, 1.0, 0.5, 3.0], count)
    return found


def _any_double(draw: Draw, count: int, places: int) -> Costs:
    """Of every size, the least double and the largest among them."""
    exponent = draw.choice([-1074, -1022, -60, 0, 1, 50, 52, 53, 60, 900], count)
    found: Costs = np.ldexp(draw.choice([-1.0, 1.0, 1.5, -1.75], count), exponent)
    found[draw.random(count) < 0.05] = LARGEST_DOUBLE / places
    return found


def _scaled(by: float, largest: int) -> Callable[[Draw, int, int], Costs]:
    return lambda draw, count, places: draw.integers(-largest, largest + 1, count) * by


FAMILIES = (
    Family("signed", _between(-10, 10)),
    Family("small", _between(-1, 1)),
    Family("negative", _between(-20, -1)),
    Family("positive", _between(0, 1000)),
    Family("zero", _between(0, 0)),
    Family("tied", _from(TIES)),
    Family("prime", _from(PRIMES, (-1, 1))),
    Family("huge", _huge),
    Family("large", _between_solvers),
    Family("halves", _scaled(0.5, 20), False),
    Family("tenths", _scaled(0.1, 20), False),
    Family("uniform", lambda draw, count, places: draw.uniform(-1, 1, count), False),
    Family("near ties", _near_ties, False),
    Family("any double", _any_double, False),
)
REDUCED = ("one vertex", "no edges", "path", "parallel", "loops")
SHAPES = (*REDUCED, "parts", "wheel", "dense", "dense", "dense", "dense")
"""Of graphs; those beyond ``REDUCED`` have a core that no reduction takes apart."""
CLOSED = (0.0, 0.0, 0.0, 0.05, 0.3, 0.6)
"""Shares of the costs that are infinite."""
TRIES = 8


def problems() -> st.SearchStrategy[tuple[PbqpProblem, str]]:
    """A problem, some choices of which may be given, and the family of its costs. One number says all: of several,
    hypothesis would draw small ones and repeat itself, which leaves searches little to do."""
    return st.builds(_drawn_problem, st.integers(0, (1 << 24) - 1))


def _drawn_problem(seed: int) -> tuple[PbqpProblem, str]:
    generator = np.random.default_rng(seed)
    family = FAMILIES[generator.integers(len(FAMILIES))]
    shape, closed = SHAPES[generator.integers(len(SHAPES))], CLOSED[generator.integers(len(CLOSED))]
    for _ in range(TRIES):
        given = drawn_instance(generator, shape, family, closed)
        if shape in REDUCED or _missed(PbqpProblem(given)):
            break
    pins: tuple[tuple[int, int], ...] = ()
    if generator.random() < 0.15:
        vertex = int(generator.integers(given.vertices))
        pins = ((vertex, int(generator.integers(given.choices_of(vertex)))),)
    return PbqpProblem(given, pins), family.name


def drawn_instance(draw: Draw, shape: str, family: Family, closed: float) -> PbqpInstance:
    """An instance on a graph of ``shape``; of its costs the share ``closed`` is infinite."""
    ends = _graph(draw, shape)
    vertices = int(ends.max(initial=0)) + 1 + int(shape in ("no edges", "parts"))
    most = max(1, int(MOST_ASSIGNMENTS ** (1 / vertices) + 1e-9))
    sizes = draw.integers(1, most + 1, vertices) if draw.random() < 0.4 else np.full(vertices, most)
    pairs = int((sizes[ends[:, 0]] * sizes[ends[:, 1]]).sum())
    places = vertices + len(ends)
    own, paid = (family.draw(draw, count, places) for count in (int(sizes.sum()), pairs))
    infinite = INFINITE if family.exact else np.inf
    for costs in (own, paid):
        costs[draw.random(len(costs)) < closed] = infinite
    return flat_instance(sizes.astype(np.int64), own, ends, paid, f"{family.name} on {shape}")


def _graph(draw: Draw, shape: str) -> NDArray[np.int64]:
    count = int(draw.integers(4, 10))
    path = [(at, at + 1) for at in range(count - 1)]
    complete = [(u, v) for v in range(count) for u in range(v)]
    twice = [draw.integers(0, 3, 2).tolist() for _ in range(8)]
    ends = {
        "one vertex": [],
        "no edges": [],
        "path": path,
        "parallel": [pair for pair in twice if pair[0] != pair[1]],
        "loops": [*path[:3], *((at, at) for at in (0, 0, 2)), *twice],
        "parts": [(u, v) for v in range(4) for u in range(v)],
        "wheel": [*path, (0, count - 2), *((at, count - 1) for at in range(count - 2))],
        "dense": [pair for pair in complete if draw.random() < 0.9],
    }[shape]
    turned = [pair[::-1] if draw.random() < 0.5 else pair for pair in ends]
    return np.array(turned, np.int64).reshape(-1, 2)


def _missed(problem: PbqpProblem) -> bool:
    """Whether the quick heuristic does not find the least cost."""
    return METHODS["fixing"].search(problem, Effort()).value != brute_force(problem.pinned)
