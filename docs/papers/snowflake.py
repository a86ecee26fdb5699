"""Chang et al. 2018, SnowC [Chang2018]: the machine, frames and operations a second, Figs. 3 and 4."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import partial

from bench.trace_partition.layers import label
from bench.trace_partition.posed_network import LINEAR, Solved, machine_named, posed, solve
from bench.trace_partition.scaling import PUBLISHED, SIZES, WATTS
from docs.papers.drawing import bars
from docs.papers.row import Found, Item, Paper, Row, beside
from mapper.arch import snowflake as arch
from mapper.arch.snowflake import MACS
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.isa.instruction import Operation
from mapper.models.trace_partition.partition_cost import Cost

SEARCH = 30.0
"""Seconds of one search."""
NAMES = {"alexnet-one-tower": "AlexNet", "resnet18": "ResNet-18", "lightcnn9": "LightCNN9"}
BARS = "the bars of the figure have no values"
PRESET = "the machine's preset takes it from the paper"
MODEL = (
    "a model of the machine, not a board: traces leave out products with padding, although the MACs of operators count "
    "them; latencies and encodings are this project's; the partition is searched for, whereas the paper uses a rule"
)
SOURCES = {
    ("alexnet-one-tower", "snowflake-1cc"): ("Section 5", "[Chang2018, abstract]"),
    ("alexnet-one-tower", "snowflake-1cc@250"): ("Published elsewhere", "[Chang2017, abstract], at 1.2 GB/s"),
    ("resnet18", "snowflake-1cc@250"): ("Published elsewhere", "[Chang2017, abstract], at 2.2 GB/s"),
    ("resnet50", "snowflake-1cc@250"): (
        "Published elsewhere",
        "[Gokhale2017, abstract]: 91 % of the peak; its 17 frames/s are more than 256 MACs at 250 MHz can do here",
    ),
    ("googlenet", "snowflake-1cc@250"): (
        "Published elsewhere",
        "[Gokhale2017, abstract]; with floor pooling, a tenth less to do than the published network",
    ),
}
"""Place and source of each published speed, by network and machine."""
TWICE = "both clusters share 4.5 GB/s and meet at a barrier after each layer"
CEILING = "bandwidth_gb_s of the preset is this figure, so that no program can exceed it"
MOVED = (
    "the traffic of the partition with the least latency; 4.5 is the most that the memory delivers, and the paper does "
    "not say what it measured"
)


def machine() -> Found:
    """Counts and sizes of one cluster."""
    found = machine_named("snowflake-1cc")
    cache = 2 * arch.BANK_INSTRUCTIONS * arch.INSTRUCTION_BYTES
    return Found(
        (
            Row("Section 2", "MACs of a vMAC", 16, "", arch.LANES, fitted=PRESET),
            Row("Section 2", "MACs of a compute cluster", 256, "", arch.MACS, fitted=PRESET),
            Row("Section 2", "scalar registers", 32, "", arch.REGISTERS, fitted=PRESET),
            Row("Section 2", "instructions of the set", 13, "", len(Operation), fitted=PRESET),
            Row("Section 5", "weight buffers", 512, "kB", found.weight_buffer_bytes // 1024, fitted=PRESET),
            Row("Section 5", "maps buffer", 256, "kB", found.maps_buffer_bytes // 1024, fitted=PRESET),
            Row("Section 5", "instruction cache", 4, "kB", cache // 1024, fitted=PRESET),
        )
    )


def speeds() -> Found:
    """Frames a second without linear layers on one cluster."""
    rows = []
    for name, preset, said, _ in PUBLISHED:
        best = solve(posed(name, preset), "auto", SEARCH)
        rule = solve(posed(name, preset), "greedy", SEARCH).part(linear=False)
        cost, on = best.part(linear=False), best.problem.machine
        place, source = SOURCES[name, preset]
        quantity = f"{NAMES.get(name, name)}, {on.clock_mhz:g} MHz"
        rows.append(_speed(place, quantity, said, source, best, cost, rule))
        if place == "Section 5":
            bandwidth = cost.bandwidth_gb_s
            rows.append(
                Row(place, f"bandwidth, {quantity}", Decimal("4.5"), "GB/s", bandwidth, MOVED, fitted=CEILING)
            )
    why = "the machine here always has 4.5 GB/s; the 7 GB/s were measured on a board with another memory"
    rows.append(Row("Section 5", "largest bandwidth on one FPGA", 7, "GB/s", None, why))
    return Found(tuple(rows))


def watts() -> Found:
    """Operations a second and watt of AlexNet without linear layers, one operation a MAC."""
    rows = []
    for preset, said in WATTS:
        best = solve(posed("alexnet-one-tower", preset), "auto", SEARCH)
        on = best.problem.machine
        quantity = f"AlexNet on {on.board}, {on.power_w:g} W"
        found = best.part(linear=False).gop_per_watt
        rows.append(_measured("Section 5", quantity, Decimal(str(said)), "Gop/s/W", found, best))
    return Found(tuple(rows))


def _speed(place: str, quantity: str, said: float, source: str, best: Solved, cost: Cost, rule: Cost) -> Row:
    """Frames a second beside the published ones, with what of the model lies between the two."""
    assert cost.throughput_fps is not None and rule.throughput_fps is not None
    ideal = 1e6 * cost.machine.clock_mhz * MACS / cost.macs
    padding = 1 - cost.products / cost.macs
    why = (
        f"{source}; published {said / ideal:.1%} of the peak's {ideal:.1f} frames/s, here "
        f"{cost.throughput_fps / ideal:.1%}; of the products {padding:.1%} are padding, which traces leave out; by the "
        f"paper's rule for tiles {rule.throughput_fps:.1f}; the rest is that the model overlaps loads, stores and "
        "products wherever its machine can, with latencies of this project "
        f"(gap to the best partition: {best.gap})"
    )
    return beside(place, quantity, Decimal(f"{said:g}"), "frames/s", cost.throughput_fps, why)


def _measured(place: str, quantity: str, said: Decimal, unit: str, found: float | None, best: Solved) -> Row:
    assert found is not None
    return beside(place, quantity, said, unit, found, f"{MODEL} (gap to the best partition: {best.gap})")


def scaling(name: str) -> Found:
    """Figs. 3 and 4 for one network: efficiency and bandwidth of its convolutions, and how time scales."""
    named = {Configuration(1, images, clusters).name: (images, clusters) for images, clusters in SIZES}
    found = {one: solve(posed(name, "snowflake-2cc", one), "auto", SEARCH) for one in named}
    base = found["1f1i1c"]
    rows: list[Row] = []
    efficiency: dict[str, dict[str, float]] = {}
    bandwidth: dict[str, dict[str, float]] = {}
    for at, layer in enumerate(base.problem.network.traced):
        if layer.work != "convolution" or layer.op in LINEAR or label(layer) in efficiency:
            continue
        # Two accelerators with an image each: each of them is one cluster with a memory of its own.
        costs = {_twofold(one): best.cost.layers[at] for one, best in found.items()}
        efficiency[label(layer)] = {one: 100 * (cost.efficiency or 0) for one, cost in costs.items()}
        bandwidth[label(layer)] = {one: cost.bandwidth_gb_s or 0.0 for one, cost in costs.items()}
    first, lowest = next(iter(efficiency)), {}
    for one, best in found.items():
        cost, own = best.part(linear=False), _twofold(one)
        lowest[own] = min(efficiency, key=lambda layer: efficiency[layer][own])
        gap = f"{BARS}; gap to the best partition: {best.gap}"
        rows.append(
            Row("Fig. 3", f"efficiency of {NAMES[name]}, {own}", None, "%", 100 * (cost.efficiency or 0), gap)
        )
        rows.append(
            Row("Fig. 3", f"bandwidth of {NAMES[name]}, {own}", None, "GB/s", cost.bandwidth_gb_s, gap)
        )
    why = (
        "in mode indp each MAC holds one output, so even three channels fill the MACs; others wait for memory"
    )
    rows.append(beside("Fig. 3", "least efficient convolution, 2f2i1c", first, "", lowest["2f2i1c"], why))
    alone = base.part(linear=False).throughput_fps or 1.0
    for one, best in found.items():
        cost = best.part(linear=False)
        for count in (1, 2, 4):
            images, clusters = named[one]
            several = replace(cost, configuration=Configuration(count, count * images, clusters))
            times = (several.throughput_fps or 0.0) / alone
            quantity = f"frames/s of {NAMES[name]}, {several.configuration.name} over 1f1i1c"
            if several.configuration.name == "1f1i2c":
                rows.append(
                    beside("Section 5", quantity, Decimal("2.0"), "times", times, f"{TWICE}; gap: {best.gap}")
                )
            elif several.configuration.name != "1f1i1c":
                rows.append(Row("Fig. 4", quantity, None, "times", times, BARS))
    drawn = (
        bars(f"Fig. 3: efficiency of {NAMES[name]}'s convolutions.", "%", efficiency, f"snow3e{name}"),
        bars(f"Fig. 3: bandwidth of {NAMES[name]}'s convolutions.", "GB/s", bandwidth, f"snow3b{name}"),
    )
    return Found(tuple(rows), drawn)


def _twofold(configuration: str) -> str:
    return "2f2i1c" if configuration == "1f1i1c" else configuration


LIMIT = f"each search for a partition ends after {SEARCH:g} s"
PAPER = Paper(
    "snowflake",
    "Chang et al. 2018: SnowC, a compiler for Snowflake",
    "Left out: Figs. 1 and 2 (work flow, an example of steps), which have no values, and the GPUs of Fig. 4.",
    (
        Item("Section 2", "The preset of the machine.", 60, machine),
        Item("Section 5, speeds", f"One cluster, 4.5 GB/s; cycles by the model; {LIMIT}.", 420, speeds),
        Item("Section 5, watts", f"AlexNet on both boards at their stated power; {LIMIT}.", 180, watts),
        *(
            Item(
                f"Figs. 3 and 4, {label_of}",
                f"Two clusters at 200 MHz share 4.5 GB/s; {LIMIT}. VGG is left to the benchmarks.",
                300,
                partial(scaling, name),
            )
            for name, label_of in NAMES.items()
        ),
    ),
)
