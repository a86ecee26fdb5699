"""Efficiency and bandwidth of convolutions in the paper's three configurations [Chang2018, Fig. 3], layers that are
the same once.

1f1i2c: one image on two clusters; 1f2i2c: an image for each of two clusters; 2f2i1c: two accelerators with one cluster
and one image each. Efficiency is the time at peak over the time, bandwidth what an accelerator moves, instructions
among it; the paper's bars are not in its text.
"""

from __future__ import annotations

import argparse

from bench.measure import show
from bench.trace_partition.posed_network import LINEAR, machine_named, posed, solve
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.partition_cost import Cost

NETWORKS = ("alexnet-one-tower", "resnet18", "lightcnn9")
CONFIGURATIONS = ("1f1i2c", "1f2i2c", "2f2i1c")


def main() -> None:
    """Print one table per network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--arch", default="snowflake-2cc")
    parser.add_argument("--seconds", type=float, default=300.0, help="limit of one search")
    given = parser.parse_args()
    machine = machine_named(given.arch)
    for name in given.networks:
        found = {one: solve(posed(name, given.arch, one), "auto", given.seconds) for one in CONFIGURATIONS}
        lines, seen = [], set()
        for at, layer in enumerate(found[CONFIGURATIONS[0]].problem.network.traced):
            shape = label(layer)
            if layer.work != "convolution" or layer.op in LINEAR or shape in seen:
                continue
            seen.add(shape)
            costs = [solved.cost.layers[at] for solved in found.values()]
            lines.append([layer.name, shape, *(cell for cost in costs for cell in shown(cost))])
        totals = [solved.part(linear=False) for solved in found.values()]
        lines.append(["all", "pools too", *(cell for cost in totals for cell in shown(cost))])
        heading = [
            "layer",
            "input, output, kernel",
            *(f"{one} {what}" for one in found for what in ("", "GB/s", "by")),
        ]
        gaps = ", ".join(f"{one} {solved.gap}" for one, solved in found.items())
        where = f"{machine.name}, {machine.clock_mhz:g} MHz, {machine.bandwidth_gb_s:g} GB/s"
        show(f"{name} on {where} (gaps: {gaps}):", heading, lines)


def label(layer: TraceLayer) -> str:
    """A layer as Fig. 3 names it, stride and padding of the rows."""
    given, made = layer.input, layer.output
    sizes = f"i({given.height},{given.width},{given.channels}) o({made.height},{made.width},{made.channels})"
    return f"{sizes} p[{layer.kernel[0]},{layer.stride[0]},{layer.pads[0][0]}]"


def shown(cost: Cost) -> tuple[str, str, str]:
    """Efficiency, bandwidth, and what bounds the layer."""
    efficiency = "–" if cost.efficiency is None else f"{cost.efficiency:.1%}"
    return efficiency, f"{cost.bandwidth_gb_s or 0:.2f}", cost.bound_by


if __name__ == "__main__":
    main()
