"""Proofs of tilings: the problem as plain numbers, and the mapping, from which `checkers/check_tiling.py` goes on."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mapper.arch.dataflow import DataflowMachine
from mapper.formulations.tiling.bound import bound_of, exact_bound_of
from mapper.formulations.tiling.problem import Objective, TilingProblem
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import AXES, LEVELS, ORDERED_LEVELS, TilingMapping
from mapper.models.tiling.price import decimal
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError, Proof, number
from mapper.workloads.nest.loop_nest import Operand

OBJECTIVES: dict[Objective, str] = {
    "edp": "least EDP in pJ*cycles",
    "energy": "least energy in pJ",
    "latency": "least latency in cycles",
}
BACKWARDS = "a dependence runs backwards, and whether an order keeps it is not judged by the checker"
TIMELINE = "the checker adds up passes and knows no timeline, as --model physical has it"
STREAMS = "the checker knows whole tiles, not streams, as the machine's rules.filling has them"
ROUNDED_DOWN = Fraction(1, 10**12)
"""The share by which a bound that is a float is claimed lower than it is printed: more than it was rounded by."""


def prove(problem: TilingProblem, claim: Claim[TilingMapping], effort: Effort) -> Proof:
    """The proof of a claim: the checker closes the boxes of tiles by itself, of all bounds where they may grow.

    Raises: NotCertifiedError if a dependence runs backwards, if cycles are those of a timeline, or of streams.
    """
    fields = restated(problem)
    if fields is None and problem.machine.streams:
        raise NotCertifiedError(STREAMS)
    if fields is None:
        raise NotCertifiedError(TIMELINE if problem.machine.rules.timing == "timeline" else BACKWARDS)
    if claim.mapping is None:
        return Proof(fields, claim.status, None, None, {"rule": "boxes", "mapping": None})
    problem = problem if problem.padding.is_free else problem.as_it_is()
    mapping = claim.mapping.over(problem.nest.trip_counts)
    value = problem.exact_value(evaluate(problem.nest, problem.machine, mapping))
    bound = value if claim.status == "optimal" else _bound(problem, value, claim.bound or 0)
    return Proof(fields, claim.status, value, bound, {"rule": "boxes", "mapping": mapping.to_json()})


def restated(problem: TilingProblem) -> dict[str, Any] | None:
    """The problem as the checker reads it; None if a dependence runs backwards, on a timeline, or of streams."""
    free = {loop for loop, least, most in problem.padding.ranges if least < most}
    growing = {"growing": {loop: _limits(problem, loop) for loop in sorted(free)}} if free else {}
    problem = problem.as_it_is()
    backwards = any(distance < 0 for vector in problem.nest.dependences for distance in vector)
    if problem.machine.rules.timing == "timeline" or problem.machine.streams or backwards:
        return None
    nest, pins = problem.nest, problem.pins
    limit = {} if problem.max_cycles is None else {"most_cycles": problem.most_cycles}
    return {
        **limit,
        **growing,
        **(
            {"axes": [{axis: _along(problem, axis) for axis in AXES}]}
            if problem.machine.rules.array_axes
            else {}
        ),
        "objective": OBJECTIVES[problem.objective],
        "loops": nest.trip_counts,
        "operation": nest.operation,
        "operands": [_operand(operand) for operand in nest.operands],
        "machine": _machine(problem.machine),
        "factors": {level: _factors(problem, level, free) for level in LEVELS},
        "innermost": {level: list(pins.innermost(level)) for level in ORDERED_LEVELS},
    }


def _along(problem: TilingProblem, axis: str) -> dict[str, Any]:
    """Whether sums run along an axis, and which loops pins leave there and demand."""
    loops, pinned = problem.nest.loops, [one for one in problem.pins.axes if one[0] == axis]
    may = [loop for loop in loops if all(others or loop in names for _, names, others in pinned)]
    must = [loop for loop in loops if any(loop in names for _, names, _ in pinned)]
    return {"sums": axis in problem.machine.pe_array.spatial_reduction, "may": may, "must": must}


def _bound(problem: TilingProblem, value: Fraction, claimed: int | float) -> Fraction:
    """The bound that is claimed, as an exact number that it does not exceed."""
    if claimed <= bound_of(problem):
        return min(value, exact_bound_of(problem))
    exact = Fraction(claimed)
    return min(value, exact if isinstance(claimed, int) else exact * (1 - ROUNDED_DOWN))


def _operand(operand: Operand) -> dict[str, Any]:
    return {
        "name": operand.name,
        "access": operand.access,
        "zero_initialised": operand.zero_initialised,
        "index": [dict(dimension.coefficients) for dimension in operand.index],
        "extents": list(operand.extents),
    }


def _machine(machine: DataflowMachine) -> dict[str, Any]:
    array, dma, energy, rules = machine.pe_array, machine.dma, machine.energy_pj, machine.rules
    prices = {
        "mac": energy.mac,
        "add": energy.add,
        "rf": machine.rf_energy_pj,
        "noc": energy.noc,
        "spm": machine.spm_energy_pj,
        "dram": energy.dram,
    }
    return {
        "rows": array.rows,
        "columns": array.columns,
        "pipelined": array.pipelined,
        "multiply_cycles": array.latency_cycles.get("multiply", 1),
        "add_cycles": array.latency_cycles.get("add", 1),
        "word_bytes": machine.word_bytes,
        "rf_bytes": machine.rf.bytes,
        "rf_double_buffered": machine.rf.double_buffered,
        "spm_bytes": machine.spm.bytes,
        "bank_bytes": machine.spm.bank_bytes,
        "spm_double_buffered": machine.spm.double_buffered,
        "networks": [network.model_dump(mode="json") for network in machine.noc.networks],
        "reduction": machine.noc.reduction,
        "initiation_cycles": number(decimal(dma.initiation_cycles)),
        "cycles_per_byte": number(decimal(dma.cycles_per_byte)),
        "clock_mhz": number(decimal(machine.clock_mhz)),
        "dma_clock_mhz": number(decimal(dma.clock_mhz)),
        "energy_pj": {name: number(decimal(price)) for name, price in prices.items()},
        "stored_extent": rules.stored_extent,
        "partial_sums": rules.partial_sums,
        "leaving_sums": rules.leaving_sums,
        "energy": rules.energy,
    }


def _limits(problem: TilingProblem, loop: str) -> dict[str, dict[str, int]]:
    """The least and the most factor that pins leave at every level to a loop whose bound may grow; the most is below
    the least if they leave none."""
    most, found = dict(problem.padding.most)[loop], {}
    for level in LEVELS:
        allowed = [n for n in range(1, most + 1) if problem.pins.allows(loop, level, n)]
        found[level] = {"least": allowed[0], "most": allowed[-1]} if allowed else {"least": 2, "most": 1}
    return found


def _factors(problem: TilingProblem, level: str, free: set[str]) -> dict[str, list[int]]:
    """The factors of a level that pins, and dependences in space, leave to a loop of a given bound, where these are not
    all."""
    left = {}
    for loop, bound in problem.nest.bounds:
        if loop in free:
            continue
        every = _divisors(bound)
        carried = level == "spatial" and loop in problem.nest.sequential_loops
        some = [d for d in every if problem.pins.allows(loop, level, d) and (d == 1 or not carried)]
        if some != every:
            left[loop] = some
    return left


def _divisors(number: int) -> list[int]:
    small = [divisor for divisor in range(1, int(number**0.5) + 2) if number % divisor == 0]
    return sorted({*small, *(number // divisor for divisor in small)})
