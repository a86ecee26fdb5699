"""Regions and ways decided together on small arrays, where ways were not found in a placement of little wiring."""

from __future__ import annotations

import math
from dataclasses import replace

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.placement.routed import RoutedPlacementProgram
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.traffic import Traffic, traffic
from mapper.solver.cp_sat import Answer, run_cp_sat
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.placement.rest import Rest, Standing, at_rest_in, by_layer, paces_of
from mapper.solver.pe_allocation.placement.routing import Router

MOST_TAKEN = 12_000
"""Links times streams up to which regions and ways are decided together by a program."""
ROUTED_WORK = 10.0
"""Of that program, for each run."""


def decided(problem: AllocationProblem, allocation: Allocation, stands: tuple[Standing, ...]) -> Allocation:
    """``allocation`` placed by the program that decides regions and ways together, where the array is small enough;
    ``unplaceable`` if it rules that out, and without a placement if it does not end."""
    z_out = paces_of(problem, allocation)
    at_rest = []
    for run in stands:
        asked = traffic(problem.network, z_out, run.members)
        answer, rest = _decided(problem, run, asked)
        if answer == "infeasible":
            return replace(allocation, unplaceable=True)
        if rest is None:
            return allocation
        at_rest.append(rest)
    return at_rest_in(allocation, at_rest)


def _decided(problem: AllocationProblem, run: Standing, asked: Traffic) -> tuple[Answer, Rest | None]:
    """The answer of the program for one run, and what it found if that holds within regions too."""
    machine = problem.machine
    links = sum(map(len, machine.neighbours.values()))
    if links * len(asked.demands) > MOST_TAKEN:
        return "unknown", None
    program = RoutedPlacementProgram(run.plan, machine, asked)
    program.build()
    result = run_cp_sat(program.model, Effort(), lambda value, bound: None, work=ROUTED_WORK)
    if not result.found:
        return result.answer, None
    stand = by_layer(run.plan, program.extract(result.value_of))
    router = Router(problem.network, machine, stand, asked)
    found = router.keep(program.found_ways(result.value_of)) or router.routed()
    bound = max(run.bound, math.ceil((result.bound or 0) - 1e-6))
    return result.answer, Rest(stand, router.found(), False, bound) if found else None
