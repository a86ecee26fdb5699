"""Partitions for people: how the time is spent, layer by layer."""

from __future__ import annotations

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.kind.part import Part
from mapper.kind.text_table import text_table
from mapper.kind.trace_partition.part import NamedPartition
from mapper.models.trace_partition.cost import evaluate
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.partition_cost import LayerCost, summed

MOST_SHOWN = 80
"""Layers that are listed on a terminal."""
LAYER_HEADING = (
    "layer", "mode", "tile", "order", "units by", "stays", "cycles", "efficiency", "GB/s", "bound by",
)  # fmt: skip
WORDS = frozenset({"mode", "order", "units by", "stays", "bound by"})


def partition_lines(problem: PartitionProblem, partition: Partition) -> list[str]:
    """What the machine reaches, without the linear layers too as the paper counts [Chang2018, sec. 5], and per layer
    its
    decisions, cycles, efficiency, bandwidth and what bounds it."""
    cost = evaluate(problem.network, problem.machine, problem.configuration, partition)
    total, machine = cost.total, problem.machine
    pairs = zip(problem.network.traced, cost.layers, strict=True)
    convolving = [layer for traced, layer in pairs if not traced.linear]
    apart = summed(machine, problem.configuration, convolving)
    lines = [
        f"  configuration  {problem.configuration.name}, {machine.clock_mhz:g} MHz, {machine.bandwidth_gb_s:g} GB/s",
        f"  speed          {_speed(total.throughput_fps)}, without linear layers and host "
        f"{_speed(apart.throughput_fps)}",
    ]
    if total.gop_per_watt:
        lines.append(
            f"  per watt       {total.gop_per_watt:.2f} Gop/s/W of {machine.power_w:g} W (one op is one MAC)"
        )
    spent = ", ".join(f"{cause} {count:,}" for cause, count in total.causes.items() if count)
    lines += [
        f"  cycles         {spent}",
        f"  program        {total.instructions:,} instructions, {total.steps:,} steps",
    ]
    if cost.hosted:
        waited = 1e3 * total.causes["host"] / machine.clock_hz
        share = sum(one.share_of_time for one in cost.hosted)
        lines.append(
            f"  host           {len(cost.hosted)} operators, {waited:.2f} ms ({share:.1%}), while the accelerator waits"
        )
    traced = problem.network.traced
    listed = list(zip(traced, partition.layers, cost.layers, strict=True))[:MOST_SHOWN]
    rows = [_layer_row(*layer) for layer in listed]
    lines += ["", *(f"  {line}" for line in text_table(LAYER_HEADING, rows, WORDS))]
    more = len(traced) - MOST_SHOWN
    return [*lines, f"  and {more} more"] if more > 0 else lines


def one_line(problem: PartitionProblem, part: Part) -> str:
    """The decisions of the layer that takes most cycles."""
    assert isinstance(part.mapping, NamedPartition)
    partition = part.mapping.partition
    costs = evaluate(problem.network, problem.machine, problem.configuration, partition).layers
    longest = max(range(len(costs)), key=lambda place: costs[place].cycles)
    row = _layer_row(problem.network.traced[longest], partition.layers[longest], costs[longest])
    name, mode, sizes, order = row[:4]
    return f"{name}: {mode} {sizes} {order}"


def _layer_row(layer: TraceLayer, mapping: LayerMapping, cost: LayerCost) -> tuple[str | int, ...]:
    """The cells below ``LAYER_HEADING``."""
    tile = mapping.tile
    sizes = f"{tile.rows}x{tile.columns}x{tile.in_channels}>{tile.out_channels}"
    order = "maps" if mapping.order == "maps_stationary" else "weights"
    kept = "".join(
        mark for mark, held in (("<", mapping.input_resident), (">", mapping.output_resident)) if held
    )
    efficiency = "–" if cost.efficiency is None else f"{cost.efficiency:.1%}"
    decided = (layer.name, mapping.mode, sizes, order, mapping.unit_split, kept or "–")
    return (*decided, cost.cycles, efficiency, f"{cost.bandwidth_gb_s or 0.0:.2f}", cost.bound_by)


def _speed(frames: float | None) -> str:
    return "–" if frames is None else f"{frames:.1f} frames/s"
