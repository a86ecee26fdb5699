"""What one layer's decisions cost, and whether the machine can hold them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mapper.formulations.trace_partition.problem import MOST_STEPS, PartitionProblem
from mapper.models.trace_partition.cost import layer_cost
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping
from mapper.models.trace_partition.partition_cost import Cost
from mapper.models.trace_partition.steps.loop_length import LONGEST_LOOP, longest_loop, small_window
from mapper.models.trace_partition.steps.plan import plan_layer

Rank = tuple[int, int, int]
"""The objective, cycles, bytes: what is least, and what breaks its ties."""


@dataclass(frozen=True)
class CostedOption:
    """Decisions that the machine can hold, with the words that they need in each unit's Buf and each vMAC's WBuf."""

    mapping: LayerMapping
    rank: Rank
    unit_words: int
    vmac_words: int


def rank_of(problem: PartitionProblem, cost: Cost) -> Rank:
    """What ``cost`` is worth in ``problem``, exactly: energies as whole parts of a pJ."""
    value = {"latency": cost.cycles, "traffic": cost.dram_bytes, "energy": cost.energy_parts}[
        problem.objective
    ]
    return value, cost.cycles, cost.dram_bytes


def in_unit(problem: PartitionProblem, value: int) -> int | float:
    """A sum over all layers of what ``rank_of`` puts first, with the host's part, in the objective's unit."""
    whole = value + problem.host_part
    return whole / problem.machine.energy_pj.parts if problem.objective == "energy" else whole


def words_needed(
    problem: PartitionProblem, layer: TraceLayer, mapping: LayerMapping
) -> tuple[int, int] | None:
    """Words of a unit's Buf and of a vMAC's WBuf that decisions of a layer take; None if the machine cannot hold them,
    the layer has no such steps or too many, or their loops do not fit a bank of instructions."""
    machine, sharing = problem.machine, problem.configuration.sharing
    try:
        plans = [plan_layer(layer, mapping, machine, sharing, cluster) for cluster in range(sharing)]
    except ValueError:
        return None
    unit_words = max(plan.unit_words for plan in plans)
    vmac_words = max(plan.vmac_words for plan in plans)
    if unit_words > machine.unit_words or vmac_words > machine.vmac_words or plans[0].count > MOST_STEPS:
        return None
    if not small_window(layer) and max(map(longest_loop, plans)) > LONGEST_LOOP:
        return None
    return unit_words, vmac_words


def costed(problem: PartitionProblem, layer: TraceLayer, mapping: LayerMapping) -> CostedOption | None:
    """The decisions with their cost by the model; None as `words_needed`."""
    words = words_needed(problem, layer, mapping)
    if words is None:
        return None
    cost = layer_cost(layer, mapping, problem.machine, problem.configuration)
    return CostedOption(mapping, rank_of(problem, cost), *words)


def nameless(layer: TraceLayer) -> TraceLayer:
    """``layer`` without its names and places in memory: layers that are then equal are the same problem."""

    def view(of: TensorView, role: str) -> TensorView:
        return replace(of, tensor=role, offset=0)

    return replace(
        layer,
        name="",
        source="",
        op="",
        merged=(),
        input=view(layer.input, "input"),
        output=view(layer.output, "output"),
        residual=None if layer.residual is None else view(layer.residual, "residual"),
        gate=None if layer.gate is None else view(layer.gate, "gate"),
    )
