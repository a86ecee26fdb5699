"""The optimal partition against the paper's greedy rule: latency and traffic of each network, with the proven gap, the
CPU seconds of the search, and what the program of the optimal one takes.

Latency is solved for least cycles, traffic for least bytes; ratios are greedy over optimal.
"""

from __future__ import annotations

import argparse

from bench.measure import show
from bench.trace_partition.posed_network import machine_named, posed, program_of, solve
from mapper.arch.snowflake import INSTRUCTION_BYTES

NETWORKS = (
    *("alexnet-one-tower", "alexnet", "zfnet512", "vgg19", "squeezenet", "googlenet", "inception-v2"),
    *("resnet18", "resnet50", "densenet121", "shufflenet", "lightcnn9"),
)
COMPILE_TARGET = 120.0
"""CPU seconds to compile ResNet-50, the search included."""


def main() -> None:
    """Print a table of latency, one of traffic, one of programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--arch", default="snowflake-1cc")
    parser.add_argument("--seconds", type=float, default=300.0, help="limit of one search")
    parser.add_argument("--no-traffic", action="store_true", help="solve for latency only")
    given = parser.parse_args()
    latency, traffic, programs = [], [], []
    for name in given.networks:
        best = solve(posed(name, given.arch), "auto", given.seconds)
        rule = solve(posed(name, given.arch), "greedy", given.seconds)
        mine, theirs = best.part(linear=True), rule.part(linear=True)
        latency.append(
            [
                name,
                str(len(best.layers)),
                f"{1e3 * mine.seconds:.3f}",
                f"{1e3 * theirs.seconds:.3f}",
                f"{theirs.cycles / mine.cycles:.3f}",
                f"{rule.part(linear=False).cycles / best.part(linear=False).cycles:.3f}",
                f"{mine.dram_bytes / 1e6:.2f}",
                f"{theirs.dram_bytes / mine.dram_bytes:.3f}",
                best.gap,
                f"{best.seconds:.1f}",
                f"{rule.seconds:.1f}",
            ]
        )
        print(f"{name}: {mine.cycles:,} cycles, greedy {theirs.cycles:,}", flush=True)
        program, seconds = program_of(name, best)
        whole = best.seconds + seconds
        instructions = sum(len(cluster.code) for cluster in program.clusters)
        programs.append(
            [
                name,
                f"{instructions:,}",
                f"{instructions * INSTRUCTION_BYTES / 1e3:.0f}",
                f"{sum(len(segment.words) for segment in program.segments) * 2 / 1e6:.2f}",
                f"{program.words * 2 / 1e6:.2f}",
                f"{seconds:.1f}",
                f"{whole:.1f}",
                f"{whole / COMPILE_TARGET:.2f}",
            ]
        )
        if not given.no_traffic:
            least = solve(posed(name, given.arch, objective="traffic"), "auto", given.seconds)
            moved = least.part(linear=True)
            traffic.append(
                [
                    name,
                    f"{moved.dram_bytes / 1e6:.2f}",
                    f"{theirs.dram_bytes / 1e6:.2f}",
                    f"{theirs.dram_bytes / moved.dram_bytes:.3f}",
                    f"{moved.cycles / mine.cycles:.3f}",
                    least.gap,
                    f"{least.seconds:.1f}",
                ]
            )
    machine = machine_named(given.arch)
    where = f"{machine.name}, {machine.clock_mhz:g} MHz, {machine.bandwidth_gb_s:g} GB/s"
    heading = [
        "network",
        "layers",
        "ms",
        "greedy ms",
        "ratio",
        "without linear",
        "MB",
        "greedy MB ratio",
        "gap",
    ]
    heading += ["CPU s", "greedy CPU s"]
    show(f"Least latency on {where}:", heading, latency)
    if traffic:
        heading = ["network", "MB", "greedy MB", "ratio", "cycles over least", "gap", "CPU s"]
        show(f"Least traffic on {where}:", heading, traffic)
    heading = [
        "network",
        "instructions",
        "code kB",
        "weights MB",
        "memory MB",
        "compile CPU s",
        "with search",
    ]
    show("Programs of least latency:", [*heading, f"of {COMPILE_TARGET:g} s"], programs)


if __name__ == "__main__":
    main()
