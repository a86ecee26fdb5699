"""Layers of networks as parts of the kind ``modulo_schedule``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.network.referee.verify import verify_layer as verdict_of_layer
from mapper.kind.modulo_schedule.kernel_part import certified
from mapper.kind.modulo_schedule.pins import pinned_layers
from mapper.kind.part import ProblemPart, ShownVerdict, Workload
from mapper.models.modulo_schedule.network.cost import vliw_mode
from mapper.models.modulo_schedule.network.mapping import LayerMapping, kernel_of
from mapper.models.modulo_schedule.network.mapping_file import layer_from_json, layer_to_json
from mapper.models.modulo_schedule.network.way.layer import is_in_place
from mapper.workloads.network.network import Dims
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers


@dataclass(frozen=True)
class NamedLayer:
    """A layer's mapping that knows its layer, as documents need it."""

    problem: LayerProblem
    mapping: LayerMapping

    def to_json(self) -> dict[str, Any]:
        algorithm = self.problem.choice(self.mapping.algorithm)
        document = layer_to_json(self.mapping, algorithm)
        for entry, loop in zip(document["loops"], self.mapping.loops, strict=True):
            kernel = kernel_of(algorithm.nests[loop.nest], loop.box, loop.pointer_uses)
            entry |= certified(kernel, self.problem.machine, loop.schedule, loop.least_ii)
        return document


def read_layers(text: str, batch: int | None, dims: Dims) -> Workload[LayerNetwork]:
    """The layers of the network that ``text`` names.

    Raises: InputError if there is none.
    """
    network = load_layers(text, batch, dims)
    return Workload(network, network.operators.files, network.operators.batch, tuple(_skipped(network)))


def _skipped(network: LayerNetwork) -> list[dict[str, Any]]:
    """Concatenations whose inputs are written side by side, which takes no time."""
    return [
        {
            "name": layer.name,
            "op": layer.op,
            "reason": "its inputs are already written next to each other, as its output requires",
            "macs": 0,
            "share_of_macs": 0.0,
            "share_of_time": 0.0,
        }
        for layer in network.layers
        if is_in_place(layer)
    ]


def pose_layers(
    network: LayerNetwork, machine: CgraMachine, fix: Mapping[str, str]
) -> tuple[ProblemPart[LayerNetwork, LayerProblem], ...]:
    """A part for every layer that takes time.

    Raises: InputError for a decision that no layer has, or a machine without VLIW mode.
    """
    vliw_mode(machine)
    layers = [layer for layer in network.layers if not is_in_place(layer)]
    parts = []
    for problem in pinned_layers(fix, [LayerProblem(layer, machine) for layer in layers]):
        layer = problem.layer
        merged = tuple((one.name, one.op) for one in (*layer.merged, *layer.views))
        parts.append(
            ProblemPart(layer.name, layer.source, problem, (problem.choices, layer.op), network, merged)
        )
    return tuple(parts)


def verify_layer(problem: LayerProblem, mapping: LayerMapping) -> ShownVerdict:
    """The referee's verdict and the model's cost."""
    verdict = verdict_of_layer(problem, mapping)
    if verdict.cost is None:
        return ShownVerdict(verdict.broken, None, None, None)
    cost = verdict.cost
    return ShownVerdict(verdict.broken, cost.cost_json(), cost.breakdown_json(), cost.cycles)


def read_layer(fields: Mapping[str, Any], problem: LayerProblem, source: str) -> LayerMapping:
    """A layer's mapping from a document."""
    return layer_from_json(fields, problem.choice, source)


def least_intervals(mapping: LayerMapping) -> list[int | None]:
    """The least II of each loop that a search has left."""
    return [loop.least_ii for loop in mapping.loops]


def with_least_intervals(mapping: LayerMapping, least: list[int | None]) -> LayerMapping:
    """The mapping with what ``least_intervals`` said.

    Raises: TypeError or ValueError if that does not belong to this mapping.
    """
    if any(one is not None and type(one) is not int for one in least):
        raise TypeError("no initiation interval")
    pairs = zip(mapping.loops, least, strict=True)
    return replace(mapping, loops=tuple(replace(loop, least_ii=one) for loop, one in pairs))


def total_cost(costs: list[dict[str, Any]]) -> dict[str, Any]:
    """Sums over the layers; intervals belong to loops."""
    total: dict[str, Any] = dict.fromkeys(costs[0])
    for key in ("cycles", "latency_ms", "energy_pj"):
        values = [cost[key] for cost in costs]
        total[key] = None if None in values else sum(values)
    return total
