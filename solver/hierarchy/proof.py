"""Proofs of mappings onto hierarchies: the problem as plain numbers, and the mapping, from which
`checkers/check_hierarchy.py` goes on."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mapper.arch.hierarchy import Actions
from mapper.formulations.hierarchy.bound import bound_of
from mapper.formulations.hierarchy.problem import Axis, HierarchyProblem, ObjectiveName, Pins
from mapper.models.hierarchy.cost import evaluate, steps
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.role import tensor_roles
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError, Proof, number
from mapper.workloads.nest.loop_nest import Operand

OBJECTIVES: dict[ObjectiveName, str] = {
    "edp": "least EDP in pJ*cycles",
    "energy": "least energy in pJ",
    "latency": "least latency in cycles",
}
OPEN = "the checker does not know what the pins say"
TEMPORAL: Axis = "temporal"
ACROSS: Axis = "x"
DOWN: Axis = "y"
NO_ENERGY = Actions(read=0, fill=0, update=0)
ROUNDED_DOWN = Fraction(1, 10**12)
"""The share by which a bound that is a float is claimed lower than it is printed: more than it was rounded by."""


def prove(problem: HierarchyProblem, claim: Claim[HierarchyMapping], effort: Effort) -> Proof:
    """The proof of a claim: the checker itself goes through what levels keep, loops in space, tiles and orders.

    Raises: NotCertifiedError if factors need not divide the bounds.
    """
    fields = restated(problem)
    uneven = claim.mapping is not None and not claim.mapping.is_perfect and not problem.pins.imperfect
    if fields is None or uneven:
        raise NotCertifiedError(OPEN)
    if claim.mapping is None:
        return Proof(fields, claim.status, None, None, {"rule": "arrangements", "mapping": None})
    value = problem.exact_value(evaluate(problem.nest, problem.machine, claim.mapping))
    bound = value if claim.status == "optimal" else _bound(problem, value, claim.bound or 0)
    mapping = claim.mapping.to_json()["levels"]
    return Proof(fields, claim.status, value, bound, {"rule": "arrangements", "mapping": mapping})


def restated(problem: HierarchyProblem) -> dict[str, Any] | None:
    """The problem as the checker reads it; None if pins leave open what the checker does not know."""
    pins = problem.pins
    known = HierarchyProblem(
        problem.nest,
        problem.machine,
        problem.objective,
        Pins(pins.constraints, pins.keep, pins.bypass, pins.padded, pins.free, imperfect=pins.imperfect),
        problem.max_cycles,
    )
    if problem != known:
        return None
    machine, compute, rules = problem.machine, problem.machine.compute, problem.machine.rules
    cut = {"imperfect": True} if pins.imperfect else {}
    return cut | {
        "objective": OBJECTIVES[problem.objective],
        "loops": problem.bounds,
        "operands": [_operand(operand) for operand in _in_order(problem)],
        "levels": [_level(problem, place) for place in range(len(machine.levels))],
        "compute": {
            "rate": compute.rate,
            "energy": steps(compute.energy_pj or 0),
            "leak": steps(compute.leak_pj),
        },
        "rules": rules.model_dump(mode="json"),
        "most_cycles": [] if problem.max_cycles is None else [problem.max_cycles],
        "growing": sorted(problem.pins.free),
    }


def _bound(problem: HierarchyProblem, value: Fraction, claimed: int | float) -> Fraction:
    """The bound that is claimed, as an exact number that it does not exceed."""
    exact = Fraction(max(claimed, bound_of(problem)))
    return min(value, exact if isinstance(claimed, int) else exact * (1 - ROUNDED_DOWN))


def _in_order(problem: HierarchyProblem) -> list[Operand]:
    """Tensors in the order in which the model adds up their words, which matters in floating point."""
    roles = tensor_roles(problem.nest)
    return sorted(problem.nest.operands, key=lambda operand: "WIO".index(roles[operand.name]))


def _operand(operand: Operand) -> dict[str, Any]:
    return {
        "name": operand.name,
        "written": operand.writes,
        "zero_initialised": operand.zero_initialised,
        "index": [dict(dimension.coefficients) for dimension in operand.index],
    }


def _level(problem: HierarchyProblem, place: int) -> dict[str, Any]:
    level = problem.machine.levels[place]
    actions, fanout = level.actions or NO_ENERGY, level.fanout
    must, may = problem.kept(place)
    return {
        "name": level.name,
        "words": [] if level.capacity is None else [level.capacity],
        "block": level.block,
        "cluster": level.cluster,
        "rates": {
            sort: [] if rate is None else [number(Fraction(str(rate)))]
            for sort, rate in level.bandwidth.model_dump().items()
        },
        "energy": {name: steps(pj) for name, pj in actions.model_dump().items()},
        "keep": sorted(must),
        "may": sorted(may),
        "fanout": {
            "x": fanout.x,
            "y": fanout.y,
            "multicast": fanout.multicast,
            "reduction": fanout.reduction,
        },
        "most": {
            way: _most(problem, place, axis) for way, axis in (("time", TEMPORAL), ("x", ACROSS), ("y", DOWN))
        },
        "exact": {"time": _exact(problem, place, TEMPORAL), "space": _exact(problem, place, ACROSS)},
        "innermost": list(problem.order(place)),
    }


def _most(problem: HierarchyProblem, place: int, axis: Axis) -> dict[str, int]:
    """The most trips of loops that are fewer than their bounds, or than these may grow to."""
    largest = problem.padded_to({loop: problem.largest(loop) for loop in problem.nest.loops})
    found = {loop: largest.most(place, axis, loop) for loop in problem.nest.loops}
    return {loop: most for loop, most in found.items() if most < problem.largest(loop)}


def _exact(problem: HierarchyProblem, place: int, axis: Axis) -> dict[str, int]:
    """The trips that are given."""
    found = {loop: problem.exact(place, axis, loop) for loop in problem.nest.loops}
    return {loop: trips for loop, trips in found.items() if trips is not None}
