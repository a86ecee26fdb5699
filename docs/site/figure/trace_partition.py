"""Figures of the kind ``trace_partition``: a cluster of Snowflake, and the steps of a layer over time."""

from __future__ import annotations

from docs.site.figure.solved import solved
from docs.site.svg import LINE, PAPER, box, line, page, text
from mapper.arch.snowflake import BANK_INSTRUCTIONS, LANES, REGISTERS, UNITS, VMACS
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.models.trace_partition.cost import cluster_plans, evaluate
from mapper.models.trace_partition.mapping import Partition
from mapper.models.trace_partition.timing.share_cost import step_log

WORKLOAD, ARCH = "lenet5/conv2", "snowflake-1cc"
WIDTH = 700
BUFFER, COMPUTE, CONTROL = "#dfe9f7", "#f8e6c8", "#e6eaee"
LANES_OF_TIME = (("load", 0, "#7aa6d3"), ("compute", 2, "#7fc575"), ("store", 4, "#f4a95c"))


def _problem() -> tuple[PartitionProblem, Partition]:
    found = solved(WORKLOAD, ARCH, "latency", "dynamic-programming")
    assert isinstance(found.problem, PartitionProblem)
    partition = found.mapping.partition
    assert isinstance(partition, Partition)
    return found.problem, partition


def machine() -> str:
    """The external memory, and one cluster with its core, units and buffers."""
    arch = _problem()[0].machine
    left, top = 176, 48
    parts = [
        text(68, 28, "memory", "title"),
        box(20, top, 96, 330, CONTROL),
        text(68, top + 132, "maps,", "small"),
        text(68, top + 150, "weights,", "small"),
        text(68, top + 168, "instructions", "small"),
        text(68, top + 194, f"{arch.bandwidth_gb_s:g} GB/s", "quiet"),
        text(left, 28, "one cluster", "title", "start"),
        box(left, top, WIDTH - 20 - left, 330, PAPER, LINE),
        box(left + 14, top + 14, WIDTH - 48 - left, 56, CONTROL),
        text(
            left + 252, top + 36, f"control core: one instruction per cycle, {REGISTERS} registers", "small"
        ),
        text(left + 252, top + 56, f"two banks of {BANK_INSTRUCTIONS} instructions", "quiet"),
        line([(116, top + 42), (left + 10, top + 42)], width=2, tip=True),
        line([(116, top + 222), (left + 10, top + 222)], width=2, tip=True, tail=True),
        text((116 + left) / 2, top + 214, "port", "quiet"),
    ]
    wide = 112
    for unit in range(UNITS):
        x = left + 14 + unit * (wide + 9)
        middle = x + wide / 2
        parts += [
            line([(middle, top + 70), (middle, top + 88)], width=2, tip=True),
            box(x, top + 92, wide, 224, "#f7f8fa", LINE),
            text(middle, top + 112, f"unit {unit}", "title"),
            box(x + 8, top + 122, wide - 16, 44, BUFFER),
            text(middle, top + 140, "Buf: maps", "small"),
            text(middle, top + 157, f"{arch.unit_words:,} words", "tiny"),
        ]
        column = (wide - 16 - 4 * (VMACS - 1)) / VMACS
        for vmac in range(VMACS):
            at = x + 8 + vmac * (column + 4)
            parts += [
                box(at, top + 174, column, 34, BUFFER, corner=3),
                box(at, top + 211, column, 34, COMPUTE, corner=3),
                text(at + column / 2, top + 232, str(LANES), "tiny"),
            ]
        parts += [
            text(middle, top + 195, "WBuf", "tiny"),
            box(x + 8, top + 250, wide - 16, 26, COMPUTE),
            text(middle, top + 267, "vMAX", "small"),
        ]
        parts += [
            text(middle, top + 291, f"{VMACS} vMACs of {LANES}", "tiny"),
            text(middle, top + 306, f"{arch.vmac_words:,} words each", "tiny"),
        ]
    return page(
        WIDTH,
        top + 350,
        "A Snowflake cluster: control core, four units with their buffers, and the memory",
        parts,
    )


def mapping() -> str:
    """When the steps of a layer load, compute and store, and how the layer is cut."""
    problem, partition = _problem()
    (layer,), (own,) = problem.network.traced, partition.layers
    arch = problem.machine
    cycles = evaluate(problem.network, arch, problem.configuration, partition).layers[0].cycles
    log = step_log(cluster_plans(layer, own, arch, problem.configuration), arch).tolist()
    tile = own.tile
    order = own.order.replace("_", " ")
    parts = [
        text(20, 28, f"{layer.name} on {arch.name}: {cycles:,} cycles in {len(log)} steps", "title", "start"),
        text(
            20,
            52,
            f"Tile of a step: {tile.rows} x {tile.columns} outputs, {tile.in_channels} input and "
            f"{tile.out_channels} output channels; mode {own.mode}, {order}.",
            "small",
            "start",
        ),
    ]
    left, span, top = 90, WIDTH - 90 - 76, 72
    for row, (name, column, colour) in enumerate(LANES_OF_TIME):
        y = top + 36 * row
        busy = sum(step[column + 1] - step[column] for step in log if step[column] >= 0)
        parts.append(text(20, y + 18, name, "small", "start"))
        parts.append(box(left, y, span, 26, "#f1f3f5", corner=2))
        for number, step in enumerate(log):
            if step[column] < 0:
                continue
            x, wide = left + span * step[column] / cycles, span * (step[column + 1] - step[column]) / cycles
            parts.append(box(x, y, max(2.0, wide), 26, colour, PAPER if wide > 6 else None, 2))
            if wide >= 14:
                parts.append(text(x + wide / 2, y + 17, str(number), "tiny"))
        parts.append(text(left + span + 10, y + 18, f"{busy / cycles:.0%}", "small", "start"))
    base = top + 36 * len(LANES_OF_TIME) + 6
    parts += [
        line([(left, base), (left + span, base)], LINE),
        text(left, base + 17, "0", "tiny"),
        text(left + span, base + 17, f"{cycles:,} cycles", "tiny", "end"),
        text(
            20,
            base + 42,
            "Numbers are steps. While one step computes, the next one loads and the one before stores.",
            "quiet",
            "start",
        ),
    ]
    return page(WIDTH, base + 58, f"When the steps of {layer.name} load, compute and store", parts)
