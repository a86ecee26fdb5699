"""A partition as a picture: when each layer loads, computes and stores, by the model of cycles [Chang2018, sec. 4]."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.kind.cell import number
from mapper.kind.trace_partition.words import MOST_LAYERS, parts_of
from mapper.models.trace_partition.cost import cluster_plans, evaluate
from mapper.models.trace_partition.mapping import Partition
from mapper.models.trace_partition.timing.share_cost import step_log
from mapper.reporting.drawing import figure, node, plain, svg
from mapper.reporting.proof_drawing import bars

WIDTH, NAMES, SHARES, BAR, ROW, HEAD = 286, 48, 36, 12, 17, 3
"""Pixels: as wide as a telephone."""
PIXELS = 240
"""Stretches of work are told apart down to this part of a layer's time."""
SHADES = 4
"""Of stretches, by how much of them is work."""
LANES = (("load", 0), ("compute", 2), ("store", 4))


def partition_picture(problem: PartitionProblem, partition: Partition) -> list[Element]:
    """A timeline per layer."""
    cost = evaluate(problem.network, problem.machine, problem.configuration, partition)
    layers = problem.network.traced
    lines = node("div", class_="timelines")
    begin = 0
    for layer, mapping, own in zip(layers, partition.layers, cost.layers, strict=True):
        log = step_log(cluster_plans(layer, mapping, problem.machine, problem.configuration), problem.machine)
        said = (
            f"{plain(layer.name, 40)}: from cycle {begin:,}, {number(own.cycles)} cycles, {len(log):,} steps, bound by "
            f"{own.bound_by}"
        )
        lines.append(
            figure(_timeline(log.tolist(), own.cycles, said), said, data_layer=plain(layer.name, 40))
        )
        begin += own.cycles
    note = (
        "Timelines of the first cluster by the model of cycles: loads until the words have arrived, computation by "
        "the vector unit, stores until the words are in memory; a stretch is the paler the less of it is work. mapper "
        "simulate runs the program cycle by cycle."
    )
    return [node("p", note), lines]


def _timeline(log: list[list[int]], cycles: int, label: str) -> Element:
    picture = svg(NAMES + WIDTH + SHARES, HEAD + ROW * len(LANES) + 14, label, class_="scaled timeline")
    end = max(1, cycles)
    for row, (lane, column) in enumerate(LANES):
        y = HEAD + row * ROW
        spans = [(step[column], step[column + 1]) for step in log if step[column] >= 0]
        busy = _covered(spans)
        picture.append(
            node(
                "g",
                node(
                    "title", f"{lane}: {number(len(spans))} times, {number(busy)} of {number(cycles)} cycles"
                ),
                node("text", lane, x=0, y=y + 10),
                *_stretches(spans, end, lane, y),
                node("text", f"{busy / end:.0%}", x=NAMES + WIDTH + 4, y=y + 10),
                data_lane=lane,
            )
        )
    y = HEAD + ROW * len(LANES) + 8
    picture.append(node("text", "0", x=NAMES, y=y))
    picture.append(node("text", f"{cycles:,} cycles", x=NAMES + WIDTH, y=y, text_anchor="end"))
    return picture


def _stretches(spans: list[tuple[int, int]], end: int, lane: str, y: float) -> list[Element]:
    """Stretches in which a lane works, the paler the less of a stretch is work."""
    shades: dict[int, str] = {}
    for left, right in _merged(spans, end):
        inside = [(max(begin * PIXELS, left * end), min(stop * PIXELS, right * end)) for begin, stop in spans]
        share = _covered(one for one in inside if one[0] < one[1]) / ((right - left) * end)
        wide = max(1, WIDTH * (right - left) / PIXELS)
        drawn = f"M{NAMES + WIDTH * left / PIXELS:.0f} {y}h{wide:.0f}v{BAR}h-{wide:.0f}z"
        shade = max(1, math.ceil(SHADES * share))
        shades[shade] = shades.get(shade, "") + drawn
    return [
        node("path", d=drawn, class_=f"lane {lane}", fill_opacity=shade / SHADES)
        for shade, drawn in sorted(shades.items())
    ]


def _covered(spans: Iterable[tuple[int, int]]) -> int:
    """Cycles in which something goes on."""
    total, reached = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def _merged(spans: Iterable[tuple[int, int]], cycles: int) -> list[tuple[int, int]]:
    """Stretches in pixels; what touches is one."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        left, right = begin * PIXELS // cycles, -(-end * PIXELS // cycles)
        if found and left <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], right))
        else:
            found.append((left, right))
    return found


def proof_picture(proof: Mapping[str, Any]) -> list[Element]:
    """Potentials along the chain: what no partition costs less than, up to each layer."""
    problem, potentials = proof["problem"], proof["evidence"]["potentials"]
    least = [max(0, min((one[-1] for one in own), default=0)) / parts_of(problem) for own in potentials]
    most = max(least, default=0) or 1
    rows = [
        (layer["name"], one / most, f"{one:,.6g} {problem['unit']}")
        for layer, one in zip(problem["layers"][:MOST_LAYERS], least, strict=False)
    ]
    return [figure(bars(rows, "potentials"), "No partition up to this layer costs less than this.")]
