"""What a claim on an allocation rests on, for `checkers/check_pe_allocation.py` [Heidorn2019, sec. 5].

The checker knows the equations, and four arguments (its lemmas): a layer of some pace needs so many PEs; limits and
Eq. 9 bound paces; shares of a PE add up; a sum of valid inequalities holds. `refutation` finds the tree that says where
which of them rules out anything better than what was claimed.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.infeasible import why_no_room
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import choices, offered
from mapper.formulations.pe_allocation.reach import why_unreachable
from mapper.models.pe_allocation.configuration.interconnect import shortest_ways
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamLayer
from mapper.models.pe_allocation.stream.pipeline import stages
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.refutation import UNLIMITED, Refutation, Scope
from mapper.solver.pe_allocation.refuted_run import refuted_runs
from mapper.solver.proof import Claim, NotCertifiedError, Proof

UNITS = {"throughput": ("most", "fps"), "latency": ("least", "cycles"), "pes": ("least", "PEs")}


def prove(problem: AllocationProblem, claim: Claim[Allocation], effort: Effort) -> Proof:
    """The proof of ``claim``.

    Raises: NotCertifiedError where there is no evidence for this mode, or none was found.
    """
    if problem.mode == "mixed" and problem.sharing:
        raise NotCertifiedError("runs with shared PEs are not searched")
    document = restated(problem)
    mapping = None if claim.mapping is None else mapping_document(problem, claim.mapping)
    value = None if claim.mapping is None else exact_value(problem, claim.mapping)
    bound = None if claim.status == "infeasible" else value
    if claim.status == "bounded":
        bound = exact_bound(problem, claim.bound)
    if claim.status != "infeasible" and bound is None:
        raise NotCertifiedError("no bound is claimed")
    evidence: dict[str, Any]
    if claim.status == "infeasible" and why_unreachable(problem) is not None:
        evidence = {"rule": "streams", "mapping": None, "nodes": []}
    elif claim.status == "infeasible" and problem.mode != "mixed" and why_no_room(problem) is not None:
        evidence = {"rule": "storage", "mapping": None, "nodes": []}
    elif problem.mode == "mixed":
        runs = refuted_runs(problem, scope_of(problem, bound), effort)
        evidence = {"rule": "runs", "mapping": mapping, "nodes": runs}
    elif problem.mode == "layer-by-layer":
        evidence = {"rule": "frame", "mapping": mapping, "nodes": []}
    else:
        nodes = Refutation(problem, scope_of(problem, bound)).nodes(effort)
        evidence = {"rule": "tree", "mapping": mapping, "nodes": nodes}
    return Proof(document, claim.status, value, bound, evidence)


def scope_of(problem: AllocationProblem, bound: Fraction | int | None) -> Scope:
    """The limits that an allocation better than ``bound`` keeps; of any allocation where it is None."""
    interval = problem.interval_limit(UNLIMITED)
    if bound is None:
        return Scope(problem.most_pes, interval, UNLIMITED)
    if problem.objective == "throughput":
        faster = math.ceil(problem.machine.clock_hz / Fraction(bound)) - 1
        return Scope(problem.most_pes, min(interval, faster), UNLIMITED)
    if problem.objective == "latency":
        return Scope(problem.most_pes, interval, math.ceil(bound) - 1)
    return Scope(min(problem.most_pes, math.ceil(bound) - 1), interval, UNLIMITED)


def exact_value(problem: AllocationProblem, allocation: Allocation) -> Fraction | int:
    """The objective of an allocation, exactly."""
    cost = evaluate(problem.network, problem.machine, allocation, problem.model)
    if problem.objective == "throughput":
        return cost.throughput
    return cost.cycles if problem.objective == "latency" else cost.pes


def exact_bound(problem: AllocationProblem, bound: float | None) -> Fraction | int | None:
    """A claimed bound, exactly: of a throughput that of whole cycles between frames."""
    if bound is None:
        return None
    if problem.objective == "throughput":
        return Fraction(problem.machine.clock_hz, max(1, round(problem.machine.clock_hz / bound)))
    return max(1, round(bound))


def restated(problem: AllocationProblem) -> dict[str, Any]:
    """All that the checker needs of a problem."""
    sense, unit = UNITS[problem.objective]
    return {
        "objective": problem.objective,
        "sense": sense,
        "unit": unit,
        "model": problem.model,
        "mode": problem.mode,
        "clock_hz": problem.machine.clock_hz,
        "pes": problem.most_pes,
        "interval": problem.longest_interval,
        "bytes": problem.most_bytes,
        "word_bytes": problem.machine.word_bytes,
        "sharing": problem.sharing,
        "free_units": problem.free_delta,
        "segments": None if problem.segments is None else list(problem.segments),
        "array": _array_document(problem.machine),
        "unit_latency": problem.machine.processing_element.latency.model_dump(),
        "layers": [_layer_document(problem, layer) for layer in problem.network.layers],
    }


def mapping_document(problem: AllocationProblem, allocation: Allocation) -> dict[str, Any]:
    """What the checker needs of an allocation: its places and the ways of all streams too, if it has any."""
    placed, ways = allocation.placement, None
    if placed is not None:
        given = placed.ways or shortest_ways(
            problem.network, problem.machine, placed.regions, allocation.parts()
        )
        ways = [[way.kind, way.source, way.target, [list(pe) for pe in way.pes]] for way in given]
    return {
        "regions": None if placed is None else [[list(pe) for pe in region] for region in placed.regions],
        "ways": ways,
        "pes": list(allocation.pes),
        "units": list(allocation.delta),
        "idle": list(allocation.throttle),
        "shared": [list(group) for group in allocation.shared],
        "segments": list(allocation.segments),
    }


def _array_document(machine: TcpaMachine) -> dict[str, Any]:
    return {
        "rows": machine.rows,
        "columns": machine.columns,
        "links": sorted(set(machine.links)),
        "sides": sorted(set(machine.border.sides)),
        "link_words": machine.link_words,
        "buffers": machine.border.buffers,
        "address_generators": machine.border.address_generators,
    }


def _unfit(problem: AllocationProblem, layer: StreamLayer) -> list[list[int]]:
    """PEs and units for which no PE has room for the program."""
    if problem.mode == "layer-by-layer":
        return []
    left = set(choices(problem, layer))
    return [[one.pes, one.delta] for one in offered(problem, layer) if one not in left]


def _layer_document(problem: AllocationProblem, layer: StreamLayer) -> dict[str, Any]:
    pin = problem.pin(layer)
    return {
        "name": layer.name,
        "operation": layer.operation,
        "groups": layer.groups,
        "filters": layer.filters,
        "depth": layer.depth,
        "channels": layer.channels,
        "maps": layer.maps,
        "units": problem.units(layer),
        "feeds": list(layer.feeds),
        "pin": {"pes": pin.pes, "units": pin.delta, "idle": pin.throttle},
        "size": list(layer.size),
        "output_size": list(layer.output_size),
        "kernel": list(layer.kernel),
        "strides": list(layer.strides),
        "dilations": list(layer.dilations),
        "pads": list(layer.pads),
        "stages": dict(Counter(stages(layer, problem.units(layer)))),
        "unfit": _unfit(problem, layer),
    }
