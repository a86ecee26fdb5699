"""Where the layers of a run stand, and where they come to rest with ways for their streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mapper.arch.tcpa import Pe
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation, Placement, Way
from mapper.models.pe_allocation.stream.plan import StreamPlan

Regions = tuple[tuple[Pe, ...], ...]


@dataclass(frozen=True)
class Standing:
    """Where the layers ``members``, which work at once, stand, as far as their wiring is concerned, and the bound of
    it."""

    members: range
    plan: StreamPlan
    regions: Regions
    bound: int


@dataclass(frozen=True)
class Rest:
    """The regions of the layers of a run, by position, with the ways of its streams, whether these are the shortest
    ones, which streams take by themselves, and a bound of the wiring."""

    regions: dict[int, tuple[Pe, ...]]
    ways: tuple[Way, ...]
    shortest: bool
    bound: int


def by_layer(plan: StreamPlan, regions: Regions) -> dict[int, tuple[Pe, ...]]:
    return {at: pes for block, pes in zip(plan.blocks, regions, strict=True) for at in block}


def at_rest_in(allocation: Allocation, runs_at_rest: Sequence[Rest]) -> Allocation:
    regions = {at: pes for rest in runs_at_rest for at, pes in rest.regions.items()}
    ways = tuple(way for rest in runs_at_rest for way in rest.ways)
    placement = Placement(
        tuple(regions[at] for at in range(len(allocation.pes))),
        sum(rest.bound for rest in runs_at_rest),
        () if all(rest.shortest for rest in runs_at_rest) else ways,
    )
    return replace(allocation, placement=placement)


def paces_of(problem: AllocationProblem, allocation: Allocation) -> tuple[int, ...]:
    cost = evaluate(problem.network, problem.machine, allocation, problem.model)
    return tuple(timing.z_out for timing in cost.timed)
