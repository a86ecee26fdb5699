"""Placing an allocation on the grid: along a path, by local moves, and exactly on small grids [Heidorn2019, Fig. 6(a)].

A second step: the allocation is decided. What ends the search is an amount of work, not the clock, so that the same
allocation gets the same placement everywhere.
"""

from __future__ import annotations

from dataclasses import replace

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.mapping import Allocation, Placement
from mapper.models.pe_allocation.placement import runs
from mapper.models.pe_allocation.stream.plan import StreamPlan, has_room, least_wiring
from mapper.solver.method import Effort, Start
from mapper.solver.pe_allocation.placement import arrangement, reshaping

MOST_PES = 64
MOST_CLAUSES = 20_000
"""The program is solved for grids of so many PEs, with so many clauses about the lengths of routes; beyond, what the
local moves find stands, with the bound by argument."""
WORK = 1.0
"""Of the programs of all runs, in the solver's own unit (about a second on a fast core)."""

Regions = tuple[tuple[Pe, ...], ...]


def place(
    problem: AllocationProblem, allocation: Allocation, start: Start[Allocation] | None = None
) -> Allocation:
    """``allocation`` with regions of least wiring, as far as it was found, and a proven bound of it.

    ``unplaceable`` is set instead where the PEs or the address generators cannot do. Layer by layer every layer has
    the whole array: there is nothing to place. Each run of the mixed mode is placed by itself. If ``start`` is a
    placement of the same allocation, the local moves go on from it.
    """
    asked = runs(problem.network, allocation)
    if not all(has_room(plan, problem.machine) for _, plan in asked):
        return replace(allocation, placement=None, unplaceable=True)
    if allocation.mode == "layer-by-layer":
        return replace(allocation, placement=None, unplaceable=False)
    regions: dict[int, tuple[Pe, ...]] = {}
    known = (
        None
        if start is None or _unplaced(start.mapping) != _unplaced(allocation)
        else start.mapping.placement
    )
    seed = 0 if start is None or known is None else start.searches
    total = 0
    for _, plan in asked:
        begun = None if known is None else tuple(known.regions[block[0]] for block in plan.blocks)
        found, bound = placed(plan, problem.machine, len(asked), begun, seed)
        total += bound
        for block, region in zip(plan.blocks, found, strict=True):
            regions.update(dict.fromkeys(block, region))
    total = max(total, 0 if known is None else known.bound or 0)
    placement = Placement(tuple(regions[at] for at in range(len(allocation.pes))), total)
    return replace(allocation, placement=placement, unplaceable=False)


def placed(
    plan: StreamPlan,
    machine: TcpaMachine,
    runs_of_all: int = 1,
    begun: Regions | None = None,
    seed: int = 0,
) -> tuple[Regions, int]:
    """Regions for the blocks of a plan that has room, and a proven lower bound of the wiring; the effort is shared by
    all runs. ``begun``: regions to go on from."""
    least = least_wiring(plan, machine)
    if begun is None:
        regions, links = arrangement.arranged(plan, machine, least, arrangement.WORK // runs_of_all)
    else:
        regions, links = begun, reshaping.wiring_of(plan, machine, begun)
    if links > least:
        regions, links = reshaping.reshaped(
            plan, machine, regions, links, least, reshaping.WORK // runs_of_all, seed
        )
    if links == least or not _small(plan, machine, links):
        return regions, least
    # Imported here: what is placed along a path alone needs no solver.
    from mapper.formulations.pe_allocation.program.placement.cp_sat import PlacementProgram
    from mapper.solver.cp_sat import run_cp_sat

    program = PlacementProgram(plan, machine, links - 1)
    program.build()
    result = run_cp_sat(
        program.model, Effort(), lambda value, bound: None, work=WORK / runs_of_all, clausal=True
    )
    if result.answer == "infeasible":
        return regions, links
    if result.found:
        regions = program.extract(result.value_of)
    return regions, max(least, min(links, round(result.bound or least)))


def _unplaced(allocation: Allocation) -> Allocation:
    return replace(allocation, placement=None, unplaceable=False)


def _small(plan: StreamPlan, machine: TcpaMachine, links: int) -> bool:
    """Whether the program for a wiring below ``links`` is worth building."""
    spare = links - 1 - sum(plan.feeds.values())
    longest = machine.rows + machine.columns - 2
    lengths = sum(min(longest, 1 + spare // streams) for streams in plan.feeds.values())
    return machine.pe_count <= MOST_PES and machine.pe_count * lengths <= MOST_CLAUSES
