"""What PEs and memory ports allow at most: multiply-adds a cycle of each algorithm of a layer, by counting alone.

Arithmetic is what it is whatever is unrolled, and every word of an output is stored; what a product loads is shared by
the copies of its body, of which a loop has eight at the most. Loops that a kernel runs over are taken to have no
beginning and no end, addresses and moves to take no slot, and what runs in VLIW mode to take no time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.network.bound import least_counts
from mapper.formulations.modulo_schedule.network.problem import MOST_UNROLL, LayerProblem
from mapper.models.modulo_schedule.bound import fullest_pes
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.nest import Nest


@dataclass(frozen=True)
class Limit:
    """Cycles that an algorithm's loops need at the least on the PEs that compute (and on all PEs together), and on
    those that load and store (or the memory ports); ``macs`` are the layer's multiply-adds, however few products the
    algorithm makes of them."""

    algorithm: str
    macs: int
    pes: Fraction
    ports: Fraction

    @property
    def cycles(self) -> Fraction:
        return max(self.pes, self.ports)

    @property
    def by_pes(self) -> float:
        """Multiply-adds a cycle that the PEs allow."""
        return float(self.macs / self.pes)

    @property
    def by_ports(self) -> float:
        """Multiply-adds a cycle that memory allows."""
        return float(self.macs / self.ports)

    def share(self, cycles: int) -> float:
        """What part of the limit is reached in ``cycles``."""
        return float(self.cycles / cycles)


def limit(problem: LayerProblem, algorithm: Algorithm) -> Limit | None:
    """The limit of an algorithm; None for layers without multiply-adds, and for what has no loops.

    Raises: InputError if no PE executes an operation.
    """
    macs = problem.layer.macs
    if not macs or not algorithm.nests:
        return None
    return Limit(algorithm.name, macs, *_cycles(algorithm.nests, problem.machine))


def limits(problem: LayerProblem) -> tuple[Limit, ...]:
    """The limit of every algorithm that a mapping may have, the loosest first.

    Raises: InputError as ``limit``.
    """
    found = [one for choice in problem.space if (one := limit(problem, choice)) is not None]
    return tuple(sorted(found, key=lambda one: one.cycles))


def _cycles(nests: Iterable[Nest], machine: CgraMachine) -> tuple[Fraction, Fraction]:
    pes = ports = Fraction(0)
    for nest in nests:
        counted = least_counts(nest)
        accesses = counted.stores + counted.loads + _least_loads(nest)
        users: dict[frozenset[tuple[int, int]], int] = {}
        for opcode, count in counted.others:
            able = frozenset(pe for pe in machine.all_pes if machine.can_execute(pe, opcode))
            users[able] = users.get(able, 0) + count
        memory = frozenset(pe for pe in machine.all_pes if machine.can_execute(pe, "load"))
        together = Fraction(sum(users.values()) + accesses, len(machine.all_pes))
        pes += nest.repeats * max(together, fullest_pes(users)[0] if users else Fraction(0))
        at_once = min(len(memory), machine.memory_ports or len(memory))
        ports += nest.repeats * Fraction(accesses, at_once)
    return pes, ports


def _least_loads(nest: Nest) -> int:
    """Words that all iterations of any cover load together, whichever loop is innermost: what an access does not depend
    on is unrolled at the most, and what the innermost loop does not change is no load."""
    points = math.prod(extent for _, extent in nest.loops)
    found = []
    for innermost in nest.innermost():
        loaded = 0
        for access in nest.inputs:
            # Windows that overlap share words, of which optCGRA and pools have more than they load.
            if access.stride(innermost) and len(access.taps) == 1 and nest.window is None:
                shared = [min(MOST_UNROLL, extent) for name, extent in nest.loops if not access.stride(name)]
                loaded += -(-points // math.prod(shared))
        found.append(loaded)
    return min(found, default=0)
