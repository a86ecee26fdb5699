"""Loops of tuned networks treated exactly: how many meet MII, how many CP-SAT betters or proves, in what time.

Loops of one shape count once: they have one schedule. The tuner runs first and without a limit; the limit is that of
the proofs of a whole network.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import mapper
from bench.measure import measure, show
from bench.modulo_schedule.tuned_network import mapped_layers
from mapper.api.search import Search
from mapper.api.solution import Solution
from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.network.mapping import LoopMapping, kernel_of
from mapper.solver.modulo_schedule.heuristic.iterative import ITERATIVE
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import forget, shape
from mapper.workloads.graph.dataflow_graph import DataflowGraph

NETWORKS = ("lenet5", "cifar10")
ARRAYS = ("srp-2x2", "srp-4x4")
SECONDS = 300.0


def main() -> None:
    """Tune, decide, and print a line per network and array."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--arrays", nargs="+", default=list(ARRAYS))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="limit of the proofs of one network")
    given = parser.parse_args()
    ITERATIVE.prepare()
    lines, left_out = [], dict[str, None]()
    for array in given.arrays:
        machine, _ = load_machine(array)
        assert isinstance(machine, CgraMachine)
        for network in given.networks:
            forget()
            tuned = measure(lambda: mapper.solve(network, array, "latency", search=Search("tuner")))  # noqa: B023
            decided = measure(
                lambda: mapper.solve(network, array, "latency", search=Search("exact", given.seconds))  # noqa: B023
            )
            before, after = _loops(tuned.result, machine), _loops(decided.result, machine)
            proven = sum(loop.schedule.ii == max(least, loop.least_ii or 0) for loop, least in after.values())
            shared = before.keys() & after.keys()
            cycles = [
                0 if one.result.cost is None else int(one.result.cost["cycles"]) for one in (tuned, decided)
            ]
            lines.append(
                [
                    f"{network} on {array}",
                    str(len(after)),
                    str(sum(loop.schedule.ii == least for loop, least in before.values())),
                    str(sum(loop.schedule.ii == least for loop, least in after.values())),
                    str(proven),
                    str(sum(after[one][0].schedule.ii < before[one][0].schedule.ii for one in shared)),
                    *(f"{count:,}" for count in cycles),
                    "yes" if decided.result.certificate.verified else "NO",
                    f"{tuned.wall:.1f}",
                    f"{tuned.cpu:.1f}",
                    f"{decided.wall:.1f}",
                    f"{decided.cpu:.1f}",
                ]
            )
            print(f"{network} on {array}: {proven} of {len(after)} proven", flush=True)
            left_out |= dict.fromkeys(
                text for part in decided.result.parts for text in part.certificate.restrictions
            )
    heading = [
        "network", "loops", "at MII, tuned", "at MII", "II proven", "II bettered", "cycles, tuned", "cycles", "valid",
        "tuning s", "CPU s", "proofs s", "CPU s",
    ]  # fmt: skip
    show(f"Loops of one shape each, {given.seconds:g} s for the proofs of a network:", heading, lines)
    for text in left_out:
        print(f"left out: {text}")


def _loops(solution: Solution, machine: CgraMachine) -> dict[DataflowGraph, tuple[LoopMapping, int]]:
    """A loop of every shape with its MII."""
    return {
        shape(graph): (loop, mii(graph, machine).value) for graph, loop in reversed(list(_graphs(solution)))
    }


def _graphs(solution: Solution) -> Iterator[tuple[DataflowGraph, LoopMapping]]:
    for one in mapped_layers(solution):
        for nest, loops in one.nests:
            for loop in loops:
                yield kernel_of(nest, loop.box, loop.pointer_uses).graph, loop


if __name__ == "__main__":
    main()
