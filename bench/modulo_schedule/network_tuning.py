"""Tuning whole networks on the paper's nine arrays, beside its Tables I and II and Figs. 8 and 9.

Speed-ups are over the baseline: matrix products as written with their sums in registers, nothing unrolled, moved or
inlined. Beside it stands the paper's Fig. 3(a) read word for word, whose sums go through memory. Before every search
all schedules of earlier ones are forgotten, so that its seconds are its own.
"""

from __future__ import annotations

import argparse
from statistics import mean

import mapper
from bench.measure import Measured, measure, show
from bench.modulo_schedule.tuned_network import mapped_layers
from mapper.api.search import Search
from mapper.api.solution import Solution
from mapper.arch.cgra_preset import srp_names
from mapper.formulations.modulo_schedule.network.limit import limit, limits
from mapper.kind.modulo_schedule.layer_part import NamedLayer
from mapper.solver.modulo_schedule.heuristic.iterative import ITERATIVE
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import forget

NETWORKS = ("lenet5", "cifar10", "squeezenet-1.0", "alexnet-darknet")
METHODS = ("baseline-in-memory", "baseline", "algorithm-1", "auto")
PUBLISHED_SECONDS = {"lenet5": 189.0, "cifar10": 65.0, "squeezenet-1.0": 914.0, "alexnet-darknet": 116.6}
PUBLISHED_IMAGE = {"alexnet-darknet": (990.0, 149.0), "squeezenet-1.0": (829.0, 124.0)}
"""Milliseconds and millijoules (Table II)."""
PUBLISHED_SPEED_UP = "the paper at 4x4: 11x on average, 8.7x to 16.1x"
BASELINE_NOTE = (
    "The baseline adds to a sum in a register, which allows one MAC in 3 cycles on every array; a sum that goes "
    "through memory (load 16, add 3, store 1) allows one in 20. The paper's 990 ms for AlexNet at an 11th of the "
    "baseline's time come to about 8 cycles a MAC."
)
WHOLE_ARRAY = "srp-4x4"
TABLE_I = {
    "convolutional layers": (2, 8, 26, 5),
    "pooling layers": (2, 4, 4, 3),
    "fully connected layers": (2, 0, 0, 3),
    "nested loops": (8, 20, 56, 37),
    "other loops": (6, 16, 52, 37),
    "unrolled loops": (14, 36, 108, 76),
    "interchanged loops": (2, 5, 23, 18),
    "functions inlined": (4, 12, 30, 10),
    "relative code size": (2.8, 2.0, 2.97, 4.19),
}
"""Per row the values of ``NETWORKS`` [Bae2018, Table I]."""

Runs = dict[tuple[str, str], dict[str, Measured[Solution]]]


def main() -> None:
    """Tune, and print one table per question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--arrays", nargs="+", default=list(srp_names()))
    parser.add_argument("--seconds", type=float, help="limit of one search; none unless given")
    given = parser.parse_args()
    ITERATIVE.prepare()
    runs: Runs = {}
    for network in given.networks:
        for array in given.arrays:
            runs[network, array] = {
                method: tuned(network, array, method, given.seconds) for method in METHODS
            }
            baseline, tuned = (
                cycles_of(runs[network, array][method].result) for method in ("baseline", "auto")
            )
            reached = "no answer" if not baseline or not tuned else f"{baseline / tuned:.2f}x"
            print(f"{network} on {array}: {reached}", flush=True)
    _show_speed_up(runs, given.networks, given.arrays)
    _show_limits(runs)
    _show_image(runs)
    _show_seconds(runs)
    for network, array in runs:
        if array == WHOLE_ARRAY:
            _show_structure(network, runs[network, array])


def tuned(network: str, array: str, method: str, seconds: float | None) -> Measured[Solution]:
    """A network tuned by a method, what earlier runs have scheduled forgotten."""
    forget()
    return measure(lambda: mapper.solve(network, array, "latency", search=Search(method, seconds)))


def cycles_of(solution: Solution) -> int | None:
    """Cycles of an image; None without an answer."""
    return None if solution.cost is None else int(solution.cost["cycles"])


def flat_energy_pj(solution: Solution) -> float:
    """The machine's power times the time, whatever is done in it."""
    return sum(float(part.breakdown["power_times_time_pj"]) for part in solution.parts if part.breakdown)


def _ratio(above: float | None, below: float | None) -> str:
    return f"{above / below:.2f}" if above and below else "–"


def _show_speed_up(runs: Runs, networks: list[str], arrays: list[str]) -> None:
    lines = []
    for (network, array), found in runs.items():
        cycles = {method: cycles_of(run.result) for method, run in found.items()}
        bound = found["auto"].result.certificate.bound
        macs = sum(one.layer.macs for one in mapped_layers(found["auto"].result))
        lines.append(
            [
                f"{network} on {array}",
                *(f"{cycles[method]:,}" if cycles[method] else "–" for method in METHODS),
                _ratio(cycles["baseline"], cycles["algorithm-1"]),
                _ratio(cycles["baseline"], cycles["auto"]),
                _ratio(cycles["auto"], bound),
                _ratio(cycles["baseline"], macs),
                _ratio(macs, cycles["auto"]),
                "yes" if all(run.result.certificate.verified for run in found.values()) else "NO",
            ]
        )
    heading = [
        "network", *METHODS, "speed-up algorithm-1", "speed-up auto", "auto / bound", "baseline cycles/MAC",
        "auto MAC/cycle", "valid",
    ]  # fmt: skip
    show("Cycles by method, and speed-up over the baseline (Fig. 9):", heading, lines)
    means = []
    for array in arrays:
        ups = [
            baseline / tuned
            for network in networks
            for found in [runs[network, array]]
            for baseline, tuned in [(cycles_of(found["baseline"].result), cycles_of(found["auto"].result))]
            if baseline and tuned
        ]
        if ups:
            means.append([array, f"{mean(ups):.2f}", f"{min(ups):.2f}", f"{max(ups):.2f}"])
    show(
        f"Speed-up of auto over the networks ({PUBLISHED_SPEED_UP}):",
        ["array", "mean", "least", "most"],
        means,
    )


def _show_limits(runs: Runs) -> None:
    """Per convolution the multiply-adds a cycle that PEs and memory allow at most, and what is reached of it."""
    lines = []
    for (network, array), found in runs.items():
        plain = {part.name: part.cost for part in found["baseline"].result.parts}
        for part in found["auto"].result.parts:
            mapped = part.mapping
            if not isinstance(mapped, NamedLayer) or mapped.problem.layer.work != "convolution":
                continue
            problem, before = mapped.problem, plain[part.name]
            own, known = limit(problem, problem.choice(mapped.mapping.algorithm)), limits(problem)
            if own is None or part.cost is None or before is None:
                continue
            cycles = part.cost["cycles"]
            lines.append(
                [
                    f"{network}/{part.name} on {array}",
                    own.algorithm,
                    f"{own.macs / cycles:.2f}",
                    f"{own.by_pes:.2f}",
                    f"{own.by_ports:.2f}",
                    f"{own.share(cycles):.0%}",
                    f"{known[0].share(cycles):.0%}",
                    _ratio(before["cycles"], cycles),
                ]
            )
    heading = [
        "convolution", "algorithm", "MAC/cycle", "PEs allow", "memory allows", "share", "share of the most",
        "speed-up",
    ]  # fmt: skip
    show("Convolutions beside what PEs and memory ports allow at most:", heading, lines)


def _show_image(runs: Runs) -> None:
    lines = []
    for (network, array), found in runs.items():
        cost = found["auto"].result.cost
        if cost is None:
            continue
        milliseconds, millijoules = cost["latency_ms"], cost["energy_pj"] / 1e9
        flat = flat_energy_pj(found["auto"].result) / 1e9
        published = PUBLISHED_IMAGE.get(network) if array == WHOLE_ARRAY else None
        lines.append(
            [
                f"{network} on {array}",
                f"{milliseconds:.3f}",
                f"{millijoules:.4f}",
                f"{flat:.4f}",
                *(["–", "–", "–"] if published is None else
                  [f"{published[0]:.0f}", f"{published[1]:.0f}", f"{milliseconds / published[0]:.3f}"]),
                *_shares(found["auto"].result),
                str(sum(bool(part.breakdown and part.breakdown["exceeds_sram"])
                        for part in found["auto"].result.parts)),
            ]
        )  # fmt: skip
    heading = [
        "network", "ms", "mJ from activity", "mJ, power times time", "paper ms", "paper mJ", "ms / paper", "kernels",
        "fill", "set-up", "loading", "copies", "unmapped", "layers beyond SRAM",
    ]  # fmt: skip
    show("Time and energy per image (Table II), and where the cycles go:", heading, lines)


def _shares(solution: Solution) -> list[str]:
    total = cycles_of(solution) or 1
    return [
        f"{sum(part.breakdown['cycles'][cause] for part in solution.parts if part.breakdown) / total:.1%}"
        for cause in ("kernel", "fill", "set_up", "load", "copy", "unmapped")
    ]


def _show_seconds(runs: Runs) -> None:
    lines = []
    for (network, array), found in runs.items():
        published = PUBLISHED_SECONDS.get(network)
        wall = {method: run.wall for method, run in found.items()}
        lines.append(
            [
                f"{network} on {array}",
                *(text for run in found.values() for text in (f"{run.wall:.1f}", f"{run.cpu:.1f}")),
                "–" if published is None else f"{published:g}",
                _ratio(wall["auto"], published),
                _ratio(wall["algorithm-1"], published),
            ]
        )
    columns = [f"{method} {clock}" for method in METHODS for clock in ("wall s", "CPU s")]
    heading = ["network", *columns, "paper s", "auto / paper", "algorithm-1 / paper"]
    show("Seconds of tuning (Table I):", heading, lines)


def _show_structure(network: str, found: dict[str, Measured[Solution]]) -> None:
    """Table I, counted from the mappings: a nest of one loop is no nested loop; a nest counts as unrolled or
    interchanged by its main box; every activation that stands in a nest of its own is inlined."""
    place = NETWORKS.index(network) if network in NETWORKS else None
    counted = {method: structure_of(found[method].result, found["baseline"].result) for method in METHODS[2:]}
    lines = []
    for row, published in TABLE_I.items():
        lines.append(
            [
                row,
                *(f"{values[row]:g}" for values in counted.values()),
                "–" if place is None else f"{published[place]:g}",
            ]
        )
    show(f"Structure of {network} on {WHOLE_ARRAY} (Table I):", ["", *counted, "paper"], lines)


def structure_of(solution: Solution, baseline: Solution) -> dict[str, float]:
    """The rows of ``TABLE_I`` of a tuned network."""
    layers = mapped_layers(solution)
    nests = [pair for one in layers for pair in one.nests]
    code, plain = (sum(one.words for one in mapped_layers(of)) for of in (solution, baseline))
    works = [one.layer.work for one in layers]
    return {
        "convolutional layers": works.count("convolution"),
        "pooling layers": works.count("max_pool") + works.count("average_pool"),
        "fully connected layers": works.count("fully_connected"),
        "nested loops": sum(len(nest.loops) > 1 for nest, _ in nests),
        "other loops": sum(len(nest.loops) == 1 for nest, _ in nests),
        "unrolled loops": sum(max(loops[0].box.unroll) > 1 for _, loops in nests),
        "interchanged loops": sum(loops[0].box.innermost != nest.names[-1] for nest, loops in nests),
        "functions inlined": sum(nest.name == "activation" for nest, _ in nests),
        "relative code size": round(code / plain, 2) if plain else 0.0,
    }


if __name__ == "__main__":
    main()
