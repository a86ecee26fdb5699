"""What a claim on a partition rests on, for `checkers/check_trace_partition.py` [Chang2018, sec. 4].

Partitions are chains: each layer takes a residency, neighbours agree on what stays between them, and in a residency the
best option is enough. The evidence is the partition and a number for each residency, its potential. What the options of
a residency must cost for them is at most what the best one does, and less where a chain through it is longer anyway: so
a checker, which recomputes what options cost, has little to recompute of residencies that no good partition takes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.formulations.trace_partition.program.option_table import OptionTable, option_table
from mapper.formulations.trace_partition.program.residency import Residency
from mapper.models.trace_partition.cost import evaluate
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.residency import linked
from mapper.models.trace_partition.timing.share_cost import byte_fraction
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError, Proof

UNITS = {"latency": "cycles", "traffic": "bytes", "energy": "pJ"}
Potentials = list[dict[Residency, int]]


def prove(problem: PartitionProblem, claim: Claim[Partition], effort: Effort) -> Proof:
    """The potentials that show ``claim``. Options are searched again, since claims do not hold what was left out.

    Raises: NotCertifiedError if the effort ended before the options were known, or the table says otherwise.
    """
    if any(layer.clip or layer.table or layer.gate for layer in problem.network.traced):
        raise NotCertifiedError("the checker does not restate what clipping, look-up tables and gates cost")
    table = option_table(problem, lambda: effort.stopped() is not None)
    bound = _ahead(table)[0]
    document = problem_document(problem)
    if claim.mapping is None:
        if claim.status != "infeasible" or bound is not None:
            raise NotCertifiedError("no partition is claimed, and the table of options has one")
        return Proof(document, "infeasible", None, None, _evidence(None, table))
    if bound is None:
        raise NotCertifiedError("a partition is claimed, and the table of options has none")
    model = evaluate(problem.network, problem.machine, problem.configuration, claim.mapping)
    value = {"latency": model.cycles, "traffic": model.dram_bytes, "energy": model.energy_parts}[
        problem.objective
    ]
    bound += problem.host_part
    if claim.status == "optimal" and bound != value:
        raise NotCertifiedError("the options were not searched to the end")
    parts = problem.machine.energy_pj.parts if problem.objective == "energy" else 1
    evidence = _evidence(claim.mapping, table)
    return Proof(document, claim.status, Fraction(value, parts), Fraction(min(bound, value), parts), evidence)


def _evidence(partition: Partition | None, table: OptionTable) -> dict[str, Any]:
    path = None if partition is None else [_option(mapping) for mapping in partition.layers]
    numbers = [[[*_residency(one), number] for one, number in own.items()] for own in potentials(table)]
    return {"rule": "chain", "path": path, "potentials": numbers}


def _ahead(table: OptionTable, missing: int | None = None) -> tuple[int | None, list[dict[Residency, int]]]:
    """The least that a partition costs, and for every layer and residency what the layers after it do; a residency that
    no option fits is left out, or costs what is ``missing``."""
    found: list[dict[Residency, int]] = []
    after: dict[Residency, int] = {}
    for at in range(len(table.layers) - 1, -1, -1):
        own: dict[Residency, int] = {}
        for one in table.layers[at]:
            agreed = table.residencies.agreed[at] if found else ()
            ways = [after[other] for before, other in agreed if before == one and other in after]
            if ways or not found:
                own[one] = min(ways, default=0)
        found.append(own)
        floors = {one: _floor(table, at, one, missing) for one in own}
        after = {one: own[one] + floor for one, floor in floors.items() if floor is not None}
    return min(after.values(), default=None), found[::-1]


def _floor(table: OptionTable, at: int, one: Residency, missing: int | None) -> int | None:
    floor = table.layers[at][one].floor
    return missing if floor is None else floor[0]


def potentials(table: OptionTable) -> Potentials:
    """For every layer and residency a number that no chain up to it is below: what the best partition leaves for it, or
    0 where there is none, and no number where no option fits."""
    best, _ = _ahead(table)
    if best is None:
        return [{one: 0 for one in layer if layer[one].floor is not None} for layer in table.layers]
    return [{one: best - paid for one, paid in own.items()} for own in _ahead(table, best)[1]]


def problem_document(problem: PartitionProblem) -> dict[str, Any]:
    """The problem as plain numbers."""
    machine, configuration, timing = problem.machine, problem.configuration, problem.machine.timing
    byte, scale = byte_fraction(machine)
    places = {name: place for place, (name, _) in enumerate(problem.network.tensors)}
    layers = zip(problem.network.traced, linked(problem.network), strict=True)
    return {
        "objective": problem.objective,
        "sense": "least",
        "unit": UNITS[problem.objective],
        "machine": {
            "clusters": configuration.clusters,
            "sharing": configuration.sharing,
            "unit_words": machine.unit_words,
            "vmac_words": machine.vmac_words,
            "byte": byte,
            "scale": scale,
            "vector_queue": timing.vector_queue,
            "transfer_queue": timing.transfer_queue,
            "memory_latency": timing.memory_latency,
            "vector_latency": timing.vector_latency,
            "energy": list(machine.energy_pj.whole),
            "per_pj": machine.energy_pj.parts,
        },
        "layers": [_layer(layer, may_stay, problem.pin(layer.name), places) for layer, may_stay in layers],
        "host": _host(problem),
    }


def _host(problem: PartitionProblem) -> dict[str, Any]:
    """The elements and multiply-accumulates of each operator that the host runs, its speeds, the images of all
    accelerators and of one, and the energies in parts of a pJ."""
    machine, configuration = problem.machine, problem.configuration
    element, mac = machine.energy_pj.host
    speeds = machine.host.elements_per_second, machine.host.macs_per_second
    return {
        "calls": [[layer.elements, layer.macs] for layer in problem.network.hosted],
        "images": configuration.images,
        "each": configuration.images // configuration.accelerators,
        "clock_hz": machine.clock_hz,
        "speeds": [_exact(speed) for speed in speeds],
        "energy": [element, mac],
    }


def _exact(number: float) -> int | str:
    found = Fraction(repr(number))
    return int(found) if found.denominator == 1 else str(found)


def _layer(layer: TraceLayer, may_stay: bool, pin: Pin, places: dict[str, int]) -> dict[str, Any]:
    """A layer, whether its output may stay for the next, and the decisions that are given."""

    def view(of: TensorView) -> dict[str, int]:
        sizes = {"height": of.height, "width": of.width, "channels": of.channels, "pitch": of.pitch}
        return {"tensor": places[of.tensor], "offset": of.offset, **sizes}

    return {
        "name": layer.name,
        "work": layer.work,
        "input": view(layer.input),
        "output": view(layer.output),
        "residual": None if layer.residual is None else view(layer.residual),
        "kernel": list(layer.kernel),
        "stride": list(layer.stride),
        "dilation": list(layer.dilation),
        "upsample": list(layer.upsample),
        "pads": [list(pair) for pair in layer.pads],
        "groups": layer.groups,
        "mfm": layer.mfm,
        "average": layer.average,
        "macs": layer.macs,
        "may_stay": may_stay,
        "pins": {name: value for name, value in vars(pin).items() if value is not None},
    }


def _option(mapping: LayerMapping) -> dict[str, Any]:
    """A layer's decisions, without what follows from them."""
    return {
        "mode": mapping.mode,
        "order": mapping.order,
        "unit_split": mapping.unit_split,
        "cluster_split": mapping.cluster_split,
        "input_resident": mapping.input_resident,
        "output_resident": mapping.output_resident,
        **mapping.tile.to_json(),
    }


def _residency(one: Residency) -> list[Any]:
    return [one.input_resident, one.output_resident, *(one.distribution or (None, None, None))]
