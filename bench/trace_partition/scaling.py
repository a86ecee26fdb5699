"""How time scales with accelerators and clusters [Chang2018, Fig. 4], published speeds beside those that are
reached, and operations a watt.

Linear layers are left out, as in the paper, and so are operators of the host. An accelerator has its own memory and
image, so that several take the time of one: what they share is the host. Cycles are the model's and the cycle
simulator's. One operation is one multiply-accumulate, as the paper counts in its figures per watt.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from bench.measure import show
from bench.trace_partition.posed_network import (
    networks,
    posed,
    program_of,
    simulated,
    simulated_cycles,
    solve,
)
from mapper.models.trace_partition.configuration import Configuration

NETWORKS = ("alexnet-one-tower", "resnet18", "lightcnn9", "vgg19")
PUBLISHED = (
    ("alexnet-one-tower", "snowflake-1cc", 70.0, "paper, section 5"),
    ("alexnet-one-tower", "snowflake-1cc@250", 93.6, "elsewhere"),
    ("resnet18", "snowflake-1cc@250", 21.4, "elsewhere"),
    ("resnet50", "snowflake-1cc@250", 14.3, "91 % of the peak"),
    ("googlenet", "snowflake-1cc@250", 36.0, "elsewhere"),
)
SIZES = ((1, 1), (1, 2), (2, 2))
"""Images and clusters of an accelerator."""
SOLVED = tuple(Configuration(1, images, clusters).name for images, clusters in SIZES)
WATTS = (("snowflake-1cc", 4.5), ("snowflake-2cc@187", 3.8))
"""AlexNet's billions of operations a second and watt on a ZC706 and on an AC510."""


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--arch", default="snowflake-2cc")
    parser.add_argument("--seconds", type=float, default=300.0, help="limit of one search")
    parser.add_argument("--only", choices=["scaling", "published", "watts"])
    given = parser.parse_args()
    if given.only in (None, "scaling"):
        scaling(given.networks, given.arch, given.seconds)
    if given.only in (None, "published"):
        published(given.seconds)
    if given.only in (None, "watts"):
        watts(given.seconds)


def scaling(names: list[str], arch: str, seconds: float) -> None:
    """Milliseconds of an image, and how many times as many images a second as one cluster makes. Several accelerators
    have partitions of one."""
    lines = []
    for name in names:
        found = {one: solve(posed(name, arch, one), "auto", seconds) for one in SOLVED}
        costs = {one: solved.part(linear=False) for one, solved in found.items()}
        base = costs["1f1i1c"].throughput_fps or 1.0
        cells = [f"{1e3 * costs['1f1i1c'].seconds:.2f}"]
        for count in (1, 2, 4):
            for cost in costs.values():
                own = cost.configuration
                several = Configuration(count, count * own.images, own.clusters)
                cells.append(f"{(replace(cost, configuration=several).throughput_fps or 0.0) / base:.2f}")
        lines.append([name, *cells, ", ".join(solved.gap for solved in found.values())])
        print(*lines[-1], flush=True)
    heading = [
        Configuration(count, count * images, clusters).name
        for count in (1, 2, 4)
        for images, clusters in SIZES
    ]
    show(f"Frames a second over those of one cluster ({arch}):", ["network", "ms", *heading, "gaps"], lines)


def published(seconds: float) -> None:
    """Frames a second on one cluster."""
    lines = []
    for name, arch, target, source in PUBLISHED:
        best = solve(posed(name, arch), "auto", seconds)
        cost, clock = best.part(linear=False), best.problem.machine.clock_hz
        program, compiling = program_of(name, best)
        cycles = simulated_cycles(simulated(program, best), best, linear=False)
        reached = clock / cycles
        lines.append(
            [
                name,
                arch,
                f"{target:g}",
                source,
                f"{cost.throughput_fps or 0:.2f}",
                f"{reached:.2f}",
                f"{reached / target:.2f}",
                f"{cost.efficiency or 0:.1%}",
                best.gap,
                f"{best.seconds + compiling:.0f}",
            ]
        )
    heading = [
        "network",
        "machine",
        "published",
        "source",
        "model",
        "simulated",
        "over published",
        "efficiency",
        "gap",
    ]
    show("Frames a second without linear layers:", [*heading, "CPU s"], lines)


def watts(seconds: float) -> None:
    """Operations a second and watt of a board's stated power."""
    lines = []
    for arch, target in WATTS:
        best = solve(posed("alexnet-one-tower", arch), "auto", seconds)
        cost = best.part(linear=False)
        reached = cost.gop_per_watt or 0.0
        power, board = best.problem.machine.power_w, best.problem.machine.board
        line = [arch, board, f"{power:g}", f"{cost.throughput_fps or 0:.1f}", f"{reached:.2f}", f"{target:g}"]
        lines.append([*line, f"{reached / target:.2f}"])
    name = networks("alexnet-one-tower")[1].name
    heading = ["machine", "board", "W", "frames/s", "Gop/s/W", "published", "over published"]
    show(f"{name} without linear layers:", heading, lines)


if __name__ == "__main__":
    main()
