"""Allocations placed on the grid: regions of little wiring, and ways for all streams within the limits of links and
border PEs [Heidorn2019, Fig. 6(a)].

A second step: the allocation is decided. What ends the search is an amount of work, not the clock, so that the same
allocation gets the same placement everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.configuration.interconnect import shortest_ways
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.placement import runs
from mapper.models.pe_allocation.stream.plan import StreamPlan, has_room, least_wiring
from mapper.models.pe_allocation.stream.traffic import by_key, fits, traffic
from mapper.solver.method import Effort, Start
from mapper.solver.pe_allocation.placement import arrangement, reshaping
from mapper.solver.pe_allocation.placement.rest import Regions, Rest, Standing, at_rest_in, by_layer, paces_of
from mapper.solver.pe_allocation.placement.routing import Router

MOST_PES = 64
MOST_CLAUSES = 20_000
"""The program is solved for grids of so many PEs, with so many clauses about the lengths of routes; beyond, what the
local moves find stands, with the bound by argument."""
WORK = 1.0
"""Of the programs of all runs, in the solver's own unit (about a second on a fast core)."""
OTHERS = 3
"""Further placements that are tried where no ways are found in the first."""


def place(
    problem: AllocationProblem, allocation: Allocation, start: Start[Allocation] | None = None
) -> Allocation:
    """``allocation`` with regions of least wiring, as far as it was found, a proven bound of it, and a way for every
    stream.

    ``unplaceable`` is set instead where the PEs, the address generators, the buffers or the links cannot do; where it
    is not and there is no placement either, none was found. Layer by layer every layer has the whole array: there is
    nothing to place. Each run of the mixed mode is placed by itself. If ``start`` is a placement of the same
    allocation, the local moves go on from it.
    """
    bare = replace(allocation, placement=None, unplaceable=False)
    if not has_place(problem, allocation):
        return replace(bare, unplaceable=True)
    if allocation.mode == "layer-by-layer":
        return bare
    stands = standing(problem, bare, start)
    found = connected(problem, bare, stands)
    if found.placement is not None:
        return found
    # Imported here: what is placed without it needs no solver.
    from mapper.solver.pe_allocation.placement.decision import decided

    found = decided(problem, bare, stands)
    if found.placement is not None or found.unplaceable:
        return found
    return connected(problem, bare, stands, OTHERS)


def has_place(problem: AllocationProblem, allocation: Allocation) -> bool:
    """Whether nothing by argument alone speaks against a placement; layer by layer links are not counted."""
    every = runs(problem.network, allocation)
    if not all(has_room(plan, problem.machine) for _, plan in every):
        return False
    if allocation.mode == "layer-by-layer" or not problem.machine.has_limits:
        return True
    z_out = paces_of(problem, allocation)
    return all(fits(traffic(problem.network, z_out, members), problem.machine) for members, _ in every)


def standing(
    problem: AllocationProblem, allocation: Allocation, start: Start[Allocation] | None = None
) -> tuple[Standing, ...]:
    """Where the layers stand, run by run; how they are paced does not matter."""
    known = None if start is None else start.mapping
    same = known is not None and replace(known, placement=None, unplaceable=False) == allocation
    before = known.placement if known is not None and same else None
    seed = 0 if start is None or before is None else start.searches
    asked = runs(problem.network, allocation)
    found = []
    for members, plan in asked:
        begun = None if before is None else tuple(before.regions[block[0]] for block in plan.blocks)
        regions, bound = placed(plan, problem.machine, len(asked), begun, seed)
        found.append(Standing(members, plan, regions, bound))
    if before is not None and before.bound is not None and sum(run.bound for run in found) < before.bound:
        raised = found[0].bound + before.bound - sum(run.bound for run in found)
        found[0] = replace(found[0], bound=raised)
    return tuple(found)


def connected(
    problem: AllocationProblem, allocation: Allocation, stands: tuple[Standing, ...], others: int = 0
) -> Allocation:
    """``allocation`` in the placement ``stands``, or in one of so many ``others`` like it, with a way for every stream;
    without a placement if no ways were found. Where the shortest ones do, they need not be written down."""
    machine = problem.machine
    z_out = paces_of(problem, allocation)
    at_rest = []
    for run in stands:
        asked = traffic(problem.network, z_out, run.members)
        for stood in _placements(machine, run, others):
            stand = by_layer(run.plan, stood)
            if not machine.has_limits:
                at_rest.append(Rest(stand, (), True, run.bound))
                break
            router = Router(problem.network, machine, stand, asked)
            plain = router.keep(by_key(shortest_ways(problem.network, machine, stand, [run.members])))
            if plain or router.routed():
                at_rest.append(Rest(stand, router.found(), plain, run.bound))
                break
        else:
            return allocation
    return at_rest_in(allocation, at_rest)


def _placements(machine: TcpaMachine, run: Standing, others: int) -> Iterator[Regions]:
    """The one of little wiring, and others that local moves make of it where longer ways are taken in."""
    yield run.regions
    links = reshaping.wiring_of(run.plan, machine, run.regions)
    for seed in range(1, 1 + others):
        yield reshaping.strayed(run.plan, machine, run.regions, links, seed)


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


def _small(plan: StreamPlan, machine: TcpaMachine, links: int) -> bool:
    """Whether the program for a wiring below ``links`` is worth building."""
    spare = links - 1 - sum(plan.feeds.values())
    longest = machine.rows + machine.columns - 2
    lengths = sum(min(longest, 1 + spare // streams) for streams in plan.feeds.values())
    return machine.pe_count <= MOST_PES and machine.pe_count * lengths <= MOST_CLAUSES
