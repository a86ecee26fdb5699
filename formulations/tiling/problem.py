"""The tiling problem as a value: nest, machine, objective and pinned decisions [Dave2019, secs. 4.1, 4.2]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.cost import TilingCost
from mapper.models.tiling.largest import LARGEST_CYCLES, largest_cycles
from mapper.models.tiling.mapping import AXES, LEVELS, ORDERED_LEVELS
from mapper.models.tiling.padding import NO_PADDING, Padding
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import MOST_ITERATIONS
from mapper.workloads.text.nearest import meant
from mapper.workloads.text.number_text import whole_number

Objective = Literal["edp", "energy", "latency"]
OBJECTIVES: tuple[Objective, ...] = ("edp", "energy", "latency")
DECISIONS = ("padding", "spatial", "spatial.rows", "spatial.columns", "order.dram", "order.spm")
ROUNDING = 1e-9
"""The share of an energy by which sums of the same floats differ, with room to spare."""


@dataclass(frozen=True)
class Pins:
    """Decisions that are given: factors as (loop, level, factor), the loops that run in space (exactly
    these, or at least these if ``spatial_open``), those along an axis of the array as (axis, loops, whether others may
    too), and the innermost loops of an order, outer to inner."""

    factors: tuple[tuple[str, str, int], ...] = ()
    spatial: frozenset[str] | None = None
    spatial_open: bool = False
    orders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    axes: tuple[tuple[str, frozenset[str], bool], ...] = ()

    @classmethod
    def parse(cls, fixed: Mapping[str, str], nest: LoopNest) -> Pins:
        """Read ``spatial=Oy,Ox`` (``spatial=Oy,Ox,*``: others too), likewise ``spatial.rows=K`` and
        ``spatial.columns=M``; ``M.rf=8`` and ``order.dram=M,N,C``.

        Raises: InputError if a key or value does not belong to the nest.
        """
        factors, orders, axes = [], [], []
        spatial: frozenset[str] | None = None
        spatial_open = False
        for key, value in fixed.items():
            head, _, tail = key.partition(".")
            if key == "spatial":
                spatial, spatial_open = _set_of_loops(value, nest, key)
            elif head == "spatial" and tail in AXES:
                axes.append((tail, *_set_of_loops(value, nest, key)))
            elif head == "order" and tail in ORDERED_LEVELS:
                orders.append((tail, tuple(_loops([name.strip() for name in value.split(",")], nest, key))))
            elif tail in LEVELS and head in nest.loops:
                factor = whole_number(value, 1, MOST_ITERATIONS)
                if factor is None:
                    remedy = f"{value[:40]!r} is not a whole number from 1 to {MOST_ITERATIONS}"
                    raise InputError("--fix", key[:60], remedy)
                factors.append((head, tail, factor))
            else:
                keys = [f"{loop}.{level}" for loop in nest.loops for level in LEVELS]
                close = meant(key, (*DECISIONS, *keys))
                raise InputError(
                    "--fix",
                    key,
                    f"unknown decision; {close}use {', '.join(DECISIONS)} or LOOP.LEVEL "
                    f"with a loop of {', '.join(nest.loops)} and a level of {', '.join(LEVELS)}",
                )
        return cls(tuple(factors), spatial, spatial_open, tuple(orders), tuple(axes))

    def allows(self, loop: str, level: str, factor: int) -> bool:
        """Whether ``loop`` may have ``factor`` at ``level``."""
        if any((loop, level) == (pinned, at) and factor != value for pinned, at, value in self.factors):
            return False
        if level == "spatial" and self.spatial is not None:
            if loop in self.spatial:
                return factor > 1
            return self.spatial_open or factor == 1
        return True

    def innermost(self, level: str) -> tuple[str, ...]:
        """The pinned innermost loops of the order of ``level``, outer to inner; empty if it is free."""
        return dict(self.orders).get(level, ())


@dataclass(frozen=True)
class TilingProblem:
    """Tile and order ``nest`` on ``machine`` for the least ``objective``.

    The space: every way to write each bound as a product of four factors whose tiles fit PEs, register
    files and scratch-pad banks; every loop order at the two outer levels; loops that carry a dependence
    stay out of space and orders that break one are excluded. Bounds may grow as ``padding`` says; what is padded costs
    as any other iteration and word. ``max_cycles``: mappings that take longer are excluded (None: none are).

    Raises: InputError if a mapping could take more cycles than are counted exactly.
    """

    nest: LoopNest
    machine: DataflowMachine
    objective: Objective
    pins: Pins = Pins()
    max_cycles: int | None = None
    padding: Padding = NO_PADDING

    def __post_init__(self) -> None:
        if self.pins.axes and not self.machine.rules.array_axes:
            remedy = (
                f"{self.machine.name} does not tell rows from columns; set rules.array_axes: true in its file"
            )
            raise InputError("--fix", f"spatial.{self.pins.axes[0][0]}", remedy)
        most = largest_cycles(self.least_nest, self.machine)
        if most >= LARGEST_CYCLES:
            remedy = (
                f"a mapping on {self.machine.name} could take {most:.0e} cycles, more than the {LARGEST_CYCLES:.0e} "
                "that are counted exactly; lower the bounds, or the machine's latency_cycles or dma"
            )
            raise InputError(self.nest.name or "nest", "loops", remedy)

    @property
    def most_cycles(self) -> int:
        """Cycles that no mapping may exceed: the limit, or where there is none what no mapping takes."""
        return LARGEST_CYCLES if self.max_cycles is None else min(self.max_cycles, LARGEST_CYCLES)

    @cached_property
    def least_nest(self) -> LoopNest:
        """The nest padded no more than it must be: what bounds by argument hold for."""
        return self.nest.padded(self.padding.least)

    def as_it_is(self) -> TilingProblem:
        """The problem of the least bounds, as of a nest that is written with them: no padding is a choice there."""
        return replace(self, nest=self.least_nest, padding=NO_PADDING)

    def value(self, cost: TilingCost) -> int | float:
        """The objective of a cost, in pJ*cycles, pJ or cycles."""
        return {"edp": cost.edp_pj_cycles, "energy": cost.energy_pj, "latency": cost.cycles}[self.objective]

    def rank(self, cost: TilingCost) -> tuple[int, int, int, int]:
        """What ties are broken by: the objective, then EDP, energy, cycles; exactly, energies in the steps of the
        cost."""
        energy, cycles = cost.energy_steps, cost.cycles
        first = {"edp": energy * cycles, "energy": energy, "latency": cycles}[self.objective]
        return (first, energy * cycles, energy, cycles)

    def exact_value(self, cost: TilingCost) -> Fraction:
        """The objective of a cost, in pJ*cycles, pJ or cycles, of which ``value`` is the nearest float where it is no
        integer. Of two mappings the better one never has the larger ``value``."""
        steps_per_unit = 1 if self.objective == "latency" else cost.steps_per_pj
        return Fraction(self.rank(cost)[0], steps_per_unit)


def _set_of_loops(value: str, nest: LoopNest, key: str) -> tuple[frozenset[str], bool]:
    """The loops that a value lists, and whether others may join them (``*``)."""
    names = [name.strip() for name in value.split(",") if name.strip()]
    return frozenset(_loops([name for name in names if name != "*"], nest, key)), "*" in names


def _loops(names: list[str], nest: LoopNest, key: str) -> list[str]:
    unknown = [name for name in names if name not in nest.loops]
    if unknown:
        raise InputError("--fix", key, f"{unknown[0]!r} is not a loop; the loops are {', '.join(nest.loops)}")
    if len(set(names)) < len(names):
        raise InputError("--fix", key, "names a loop twice")
    return names
