"""Partitions as documents show them: one part per layer, decided by one solve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mapper.arch.snowflake import SnowflakeMachine
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.kind.part import Part, ProblemPart
from mapper.models.trace_partition.cost import evaluate
from mapper.models.trace_partition.host_cost import host_cycles
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.mapping_file import partition_from_json
from mapper.models.trace_partition.partition_cost import LayerCost
from mapper.models.trace_partition.steps.step_document import layer_steps
from mapper.workloads.network.network_layer import LayerNetwork

PartitionPart = ProblemPart[LayerNetwork, PartitionProblem]


@dataclass(frozen=True)
class NamedPartition:
    """A partition that knows its problem, as documents need it."""

    problem: PartitionProblem
    partition: Partition

    def to_json(self) -> dict[str, Any]:
        named = zip(self.problem.network.traced, self.partition.layers, strict=True)
        return {"layers": {layer.name: mapping.to_json() for layer, mapping in named}}


@dataclass(frozen=True)
class LayerDocument:
    """One layer's decisions with the steps that follow from them (those of the first cluster); ``planned``: whether
    there are any."""

    problem: PartitionProblem
    layer: TraceLayer
    mapping: LayerMapping
    planned: bool = True

    def to_json(self) -> dict[str, Any]:
        if not self.planned:
            return self.mapping.to_json()
        steps = layer_steps(self.layer, self.mapping, self.problem.machine, self.problem.configuration)
        return {**self.mapping.to_json(), "steps": steps}


def layer_parts(problem: PartitionProblem, part: Part) -> tuple[Part, ...]:
    """A part per layer of the accelerator: the joint proof is the document's, so each repeats it and has no bound."""
    layers = problem.network.traced
    if part.mapping is None:
        unbound = replace(part.certificate, value=None, bound=None)
        return tuple(_unsolved(layer, unbound, place == 0) for place, layer in enumerate(layers))
    assert isinstance(part.mapping, NamedPartition)
    partition = part.mapping.partition
    costs: tuple[LayerCost | None, ...] = (None,) * len(layers)
    if part.cost is not None:
        costs = evaluate(problem.network, problem.machine, problem.configuration, partition).layers
    first: dict[Any, str] = {}
    found = []
    for layer, mapping, cost in zip(layers, partition.layers, costs, strict=True):
        key = (_problem_of(layer), mapping, problem.pin(layer.name))
        same_as = first.setdefault(key, layer.name)
        certificate = replace(
            part.certificate,
            value=None if cost is None else problem.value(cost),
            bound=None,
            broken=tuple(rule for rule in part.certificate.broken if rule.place == layer.name),
            seconds=0.0,
            cpu_seconds=0.0,
        )
        found.append(
            Part(
                layer.name,
                layer.source,
                None if same_as == layer.name else same_as,
                LayerDocument(problem, layer, mapping, cost is not None),
                None if cost is None else cost.cost_json(),
                None if cost is None else cost.breakdown_json(),
                certificate,
                layer.merged,
            )
        )
    # One search decided all: its seconds stand once, with the first layer, so that sums are right.
    searched = replace(
        found[0].certificate, seconds=part.certificate.seconds, cpu_seconds=part.certificate.cpu_seconds
    )
    return (replace(found[0], certificate=searched), *found[1:])


def _unsolved(layer: TraceLayer, certificate: Any, first: bool) -> Part:
    own = certificate if first else replace(certificate, seconds=0.0, cpu_seconds=0.0)
    return Part(layer.name, layer.source, None, None, None, None, own, layer.merged)


def _problem_of(layer: TraceLayer) -> TraceLayer:
    """The layer without names: two that are equal so are one problem."""
    residual = None if layer.residual is None else _place_of(layer.residual)
    return replace(
        layer,
        name="",
        source="",
        op="",
        input=_place_of(layer.input),
        output=_place_of(layer.output),
        residual=residual,
        gate=None if layer.gate is None else _place_of(layer.gate),
        merged=(),
    )


def _place_of(view: TensorView) -> TensorView:
    return replace(view, tensor="", offset=0)


def gathered(problem: PartitionProblem, mappings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The mappings of all layers as one; None if one is missing."""
    names = [layer.name for layer in problem.network.traced]
    if any(mappings.get(name) is None for name in names):
        return None
    return {"layers": {name: mappings[name] for name in names}}


def read_partition(fields: Mapping[str, Any], problem: PartitionProblem, source: str) -> Partition:
    """A partition from a document.

    Raises: InputError if it does not belong to this network.
    """
    return partition_from_json(fields, problem.network, source)


def hosted(network: TraceNetwork, machine: SnowflakeMachine) -> tuple[dict[str, Any], ...]:
    """The operators that the host runs, as they stand in the document before the accelerator's time is known."""
    total = sum(layer.macs for layer in network.layers) or 1
    return tuple(
        {
            "name": layer.name,
            "op": layer.op,
            "reason": layer.reason,
            "macs": layer.macs,
            "share_of_macs": layer.macs / total,
            "share_of_time": None,
        }
        for layer in network.hosted
    )


def shares(
    skipped: tuple[dict[str, Any], ...], problem: PartitionProblem, cost: Mapping[str, Any] | None
) -> tuple[dict[str, Any], ...]:
    """The host's operators with their share of the time of accelerator and host together."""
    if cost is None or not cost.get("cycles"):
        return skipped
    spent = {
        layer.name: host_cycles(layer, problem.machine, problem.configuration)
        for layer in problem.network.hosted
    }
    return tuple(
        {**entry, "share_of_time": spent[entry["name"]] / cost["cycles"]} if entry["name"] in spent else entry
        for entry in skipped
    )
