"""Allocations and their simulation for people: a line a layer, the grid, and who works when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mapper.codegen.pe_allocation.chart import chart_lines
from mapper.codegen.pe_allocation.grid_text import grid_lines
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.kind.text_table import INDENT, ROOM, text_table
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.fusion import fusions
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.placement import links_json
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.models.pe_allocation.stream.traffic import loading_cycles

MOST_FUSED = 6
"""Layers up to which all ways to fuse them are listed: 2^(V-1)."""
MOST_CHARTED, WIDEST_GRID = 24, 32
"""Layers and columns of PEs that still fit a terminal; the pictures that ``generate`` writes show all."""


def allocation_lines(problem: AllocationProblem, allocation: Allocation) -> list[str]:
    """PEs, units and cycles of every layer, shared PEs, the placement, and the overlap of layers and frames."""
    network = problem.network
    cost = evaluate(network, problem.machine, allocation, problem.model)
    heading = ("layer", "PEs", "delta", "z_in", "z_out", "idle", "start", "L")
    rows = []
    for position, timing in enumerate(cost.timed):
        decided = (allocation.pes[position], allocation.delta[position], timing.z_in, timing.z_out)
        rest = (allocation.throttle[position], timing.start, timing.latency)
        rows.append((network.names[position], *decided, *rest))
    lines = text_table(heading, rows)
    for group in allocation.shared:
        lines.append("one PE for " + ", ".join(network.names[position] for position in group))
    if allocation.mode == "mixed":
        runs = (f"{network.names[run.start]} to {network.names[run.stop - 1]}" for run in allocation.parts())
        lines.append("fused: " + "; ".join(runs))
    if allocation.placement is not None and problem.machine.columns <= WIDEST_GRID:
        lines += ["", *grid_lines(network, problem.machine, allocation, allocation.placement)]
    if allocation.mode == "layer-by-layer":
        lines += ["", "layer by layer streams have no ways, and what links carry is not counted"]
    if allocation.placement is not None:
        lines += ["", links_line(problem, allocation, [timing.z_out for timing in cost.timed])]
    lines += loading_lines(problem, allocation)
    if len(network.names) <= MOST_CHARTED:
        room = ROOM.get()
        lines += ["", *chart_lines(network.names, cost, None if room is None else room - INDENT)]
    if problem.model == "calculus" and allocation.mode != "layer-by-layer":
        lines += _slowed(network)
    return [f"  {line}".rstrip() for line in lines]


def loading_lines(problem: AllocationProblem, allocation: Allocation) -> list[str]:
    """How long the weights take to the PEs, and that it is not counted where that is in every frame."""
    cycles = loading_cycles(problem.network, problem.machine)
    if not cycles:
        return []
    took = f"weights take {cycles:,} cycles or more over the links to the buffers"
    if allocation.mode == "layer-by-layer" or len(allocation.segments) > 1:
        return [f"{took}: in every frame, which cycles and frames per second do not count"]
    return [f"{took}: once, before the first frame"]


def _slowed(network: StreamNetwork) -> list[str]:
    """Where Eq. 9 asks for more than streams do: a pixel that goes with several positions is counted for each."""
    found = []
    for layer in network.layers:
        for feed in (network.layers[at] for at in layer.feeds):
            down, across = layer.stretch(feed)
            if down * across > 1:
                found.append(
                    f"Eq. 9 counts each pixel of {feed.name} for all {down * across:,} positions of {layer.name} that "
                    "it goes with, as if it were made anew; --model streaming counts it once"
                )
    return ["", *found] if found else []


def links_line(problem: AllocationProblem, allocation: Allocation, z_out: Sequence[int]) -> str:
    """What the streams of a placed allocation ask of the links and of the border PEs, and what these have."""
    found = links_json(problem.network, problem.machine, allocation, z_out)
    assert found is not None
    busiest, buffers = found["busiest"], found["buffers"]
    ends = " to ".join(end if isinstance(end, str) else f"[{end[0]},{end[1]}]" for end in busiest["at"])
    words = f"{busiest['words']:.2f}" + ("" if busiest["limit"] is None else f" of {busiest['limit']}")
    most = f"{buffers['most']}" + ("" if buffers["limit"] is None else f" of {buffers['limit']}")
    row, column = buffers["at"]
    return f"busiest link {ends}: {words} words a cycle; most buffers at a border PE: {most}, at [{row},{column}]"


def adjustment_lines(problem: AllocationProblem, allocation: Allocation) -> list[str]:
    """How an allocation's rates are matched, layer after layer [Heidorn2019, Fig. 7], and the start times that follow:
    z_out of Eq. 6, z_in = F * z_out of the slowest layer before, and z_out as it is adjusted (Eq. 9)."""
    network = problem.network
    cost = evaluate(network, problem.machine, allocation, problem.model)
    heading = ("layer", "P", "z_out", "F", "z_in", "adjusted", "Z", "t", "L")
    rows = []
    for position, (layer, timing) in enumerate(zip(network.layers, cost.timed, strict=True)):
        before = max((cost.timed[feed].start for feed in layer.feeds), default=0)
        work = timing.z_out - allocation.throttle[position]
        adjusted = f"-> {timing.z_out:,}" if allocation.throttle[position] else ""
        cycles = (
            layer.new_pixels,
            timing.z_in,
            adjusted,
            timing.start - before,
            timing.start,
            timing.latency,
        )
        rows.append((layer.name, allocation.pes[position], work, *cycles))
    whole = "all layers in one run, " if problem.mode == "mixed" else ""
    return [
        f"{whole}a frame every {cost.interval:,} cycles: rates, matched layer after layer, and start times",
        *text_table(heading, rows),
        f"L = {cost.cycles:,} cycles, T = {problem.machine.clock_hz:,} Hz / {cost.interval:,} = "
        f"{float(cost.throughput):,.3f} frames per second",
    ]


def fusion_lines(problem: AllocationProblem) -> list[str]:
    """What every way to fuse a few layers moves over the chip's border per frame."""
    network = problem.network
    if len(network.layers) > MOST_FUSED:
        return []
    heading = ("runs start at", "maps between", "words off chip", "MACs per byte", "buffer bytes")
    rows = []
    for way in fusions(network, problem.machine):
        starts = " ".join(network.names[start] for start in way.segments)
        between = "–" if len(way.segments) == 1 else "on chip" if way.on_chip else "off chip"
        named = (starts, between) if way.mode == "mixed" else (way.mode, "in and out")
        rows.append((*named, way.off_chip_words, f"{way.macs_per_byte:.2f}", way.buffer_bytes))
    return ["", "every way to fuse the layers, buffers by the calculus", *text_table(heading, rows)]


def simulated_lines(result: dict[str, Any]) -> list[str]:
    """What was measured beside the model, layer by layer (pixels are those of the first window), and how soon the
    paper's three algorithms let the layer after a convolution start."""
    physical = result["physical"]
    heading = ("layer", "start", "measured", "later by", "pixels", "needed", "buffer words", "measured")
    rows = []
    for name, layer in physical["layers"].items():
        start, pixels, words = layer["start"], layer["first_window_pixels"], layer["buffer_words"]
        rows.append(
            (
                name,
                *(start["model"], start["measured"], start["later_by"]),
                *(pixels["calculus"], pixels["needed"], words["calculus"], words["measured"]),
            )
        )
    latency, interval = physical["latency"], physical["interval"]
    return [
        *(f"  {line}" for line in text_table(heading, rows)),
        f"  latency {latency['model']:,} cycles by the model, {latency['measured']:,} measured; "
        f"a frame every {interval['model']:,} by the model, {interval['measured']:,} measured "
        f"({physical['timing']})",
        *_links_lines(physical.get("links")),
        *_number_lines(result["onnxruntime"]),
        *_algorithm_lines(result["algorithms"]),
    ]


def word_lines(words: dict[str, Any]) -> list[str]:
    """The programs that the PEs executed, layer by layer, and how long their units take to the last result."""
    heading = ("layer", "words", "bits each", "bytes", "last result", "drain")
    rows = [(name, *own.values()) for name, own in words.items()]
    return [
        "  programs of PEs, executed word by word as they are read back from their bits; the last result is there so",
        "  many cycles after a position's work, and handed on so many after its time (drain, which the model counts)",
        *(f"  {line}" for line in text_table(heading, rows)),
    ]


def _links_lines(links: dict[str, Any] | None) -> list[str]:
    if links is None:
        return []
    return [
        f"  links carry {links['words']:.2f} words a cycle at most, border PEs have {links['buffers']} buffers at most"
    ]


def _algorithm_lines(compared: dict[str, Any] | None) -> list[str]:
    if compared is None:
        return []
    equal = "make the array's outputs" if compared["outputs_equal"] else "make DIFFERENT outputs"
    taken = "the cycles of Eq. 4" if compared["cycles_equal"] else "OTHER cycles than those of Eq. 4"
    rest = f"; left out as too large: {', '.join(compared['left_out'][:4])}" if compared["left_out"] else ""
    lines = [f"  algorithms 1 to 3 on {len(compared['layers'])} whole convolutions {equal} in {taken}{rest}"]
    for name, layer in compared["layers"].items():
        if layer["following"] is not None:
            starts = layer["following"]["start"].items()
            said = ", ".join(f"{which.replace('_', ' ')} in cycle {cycle:,}" for which, cycle in starts)
            return [*lines, f"  {layer['following']['layer']} can start after {said} of {name}"]
    return lines


def _number_lines(beside: dict[str, Any]) -> list[str]:
    """How far the array's numbers are from onnxruntime's."""
    if not beside["compared"]:
        return [f"  whole numbers in place of the network's own: {beside['reason']}"]
    worst, found = max(beside["layers"].items(), key=lambda item: item[1]["mean"])
    ends = "; ".join(
        f"output {name} {one['mean']:.2%}, at most {one['largest']:.2%}"
        for name, one in beside["outputs"].items()
    )
    within = "within" if beside["within"] else "BEYOND"
    return [
        f"  beside onnxruntime in single precision, of the largest number of each: {ends}; worst layer {worst} "
        f"{found['mean']:.2%}, at most {found['largest']:.2%} (root of the mean square {within} "
        f"{beside['tolerance']:.0%}; words of {beside['bits']} bits)"
    ]
