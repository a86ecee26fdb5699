"""Classes of loop orders by what they reuse, and when a tile's running loops realise one [Dave2019, Alg. 1, 2].

Under Algorithm 1 an order matters only through the loops each operand is reused over. Those sets are nested:
each is a run of innermost loops. A pattern names them for all loops; for a tile in which some loops run only
once, clauses over "loop l runs" say exactly when an order of the pattern exists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.order import reuse_ends_alone, unique_orders
from mapper.workloads.nest.loop_nest import LoopNest

Clause = tuple[frozenset[str], frozenset[str]]
"""Holds if a loop of the first set runs once only, or one of the second set runs more than once."""


@dataclass(frozen=True)
class OrderPattern:
    """Loops every operand is reused over, in operand order, among orders that end with ``pinned``."""

    loops: tuple[str, ...]
    dependent: tuple[frozenset[str], ...]
    reuse: tuple[frozenset[str], ...]
    pinned: tuple[str, ...] = ()

    @cached_property
    def layers(self) -> tuple[frozenset[str], ...]:
        """The distinct sets, from the empty one outwards."""
        return tuple(sorted({frozenset(), *self.reuse}, key=len))

    def members(self, layer: frozenset[str]) -> tuple[int, ...]:
        """Operands reused over exactly ``layer``."""
        return tuple(k for k, over in enumerate(self.reuse) if over == layer)

    def enders(self, layer: frozenset[str]) -> frozenset[str]:
        """Loops that, standing next outside ``layer``, end the reuse of its members and of nobody else."""
        place = self.layers.index(layer)
        last = place + 1 == len(self.layers)
        among = set(self.loops) - layer if last else self.layers[place + 1] - layer
        members = self.members(layer)
        return frozenset(loop for loop in among if all(loop in self.dependent[k] for k in members))

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """What must hold of the running loops for an order of this pattern to exist."""
        found: list[Clause] = []
        inside = list(reversed(self.pinned))
        for layer in self.layers:
            enders = self.enders(layer)
            held = [loop for loop in inside if loop not in layer]
            if not layer and any(self.reuse):
                found.append((frozenset(), enders))
            for loop in self.loops:
                if loop in layer:
                    continue
                if loop in held:
                    inner = inside[: inside.index(loop)]
                    first = frozenset(other for other in inner if other not in layer)
                    if loop not in enders:
                        found.append((frozenset({loop}), first))
                    found += [(frozenset({loop, kept}), frozenset()) for kept in layer if kept not in inner]
                elif loop not in enders:
                    found.append((frozenset({loop}), enders | frozenset(held)))
        return tuple(dict.fromkeys(found))

    def holds(self, runs: Callable[[str], Any]) -> Any:
        """Whether the clauses hold; ``runs`` answers with a flag or an array of flags."""
        verdict: Any = True
        for idle, running in self.clauses:
            either: Any = False
            for loop in idle:
                either = either | ~runs(loop)
            for loop in running:
                either = either | runs(loop)
            verdict = verdict & either
        return verdict

    def order(self, running: frozenset[str]) -> tuple[str, ...]:
        """An order (outer to inner) of this pattern; the ``running`` loops must satisfy the clauses."""
        inner: list[str] = []
        for layer, following in zip(self.layers, (*self.layers[1:], frozenset(self.loops)), strict=True):
            placed = {*inner, *self.pinned, *layer}
            grown = [
                loop for loop in reversed(self.loops) if loop in following & running and loop not in placed
            ]
            inner += sorted(grown, key=lambda loop: loop not in self.enders(layer))
        idle = [loop for loop in self.loops if loop not in inner and loop not in self.pinned]
        return (*idle, *reversed(inner), *self.pinned)


def order_patterns(
    nest: LoopNest, machine: DataflowMachine, pinned: Sequence[str]
) -> tuple[OrderPattern, ...]:
    """The patterns that have to be considered at one level.

    Always the one without reuse (a level with one pass has no other). Where more reuse of the same operand
    never costs more, patterns contained in another are left out; see ``more_reuse_never_costs``.
    """
    dependent = tuple(operand.loops for operand in nest.operands)
    nothing = tuple(frozenset[str]() for _ in dependent)
    reuses = [reuse for reuse in unique_orders(nest) if any(reuse)]
    if more_reuse_never_costs(nest, machine) and not pinned:
        reuses = [reuse for reuse in reuses if not any(_contained(reuse, other) for other in reuses)]
    return tuple(OrderPattern(nest.loops, dependent, reuse, tuple(pinned)) for reuse in (nothing, *reuses))


def _contained(one: tuple[frozenset[str], ...], other: tuple[frozenset[str], ...]) -> bool:
    return one != other and all(mine <= theirs for mine, theirs in zip(one, other, strict=True))


def more_reuse_never_costs(nest: LoopNest, machine: DataflowMachine) -> bool:
    """Whether an operand that is reused is best reused over all loops it does not depend on.

    Holds if an order reuses one operand only, exactly one operand is updated, and register files are
    double-buffered; the argument is in docs/formulation/tiling.md.
    """
    updated = sum(operand.is_updated for operand in nest.operands)
    return reuse_ends_alone(nest) and updated == 1 and machine.rf.double_buffered
