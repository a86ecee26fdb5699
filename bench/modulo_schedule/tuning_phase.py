"""What each step of tuning gives (Fig. 10), which unroll vectors are chosen (Fig. 11), and how well the estimate
ranks them (Fig. 6)."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np

import mapper
from bench.measure import measure, show
from bench.modulo_schedule.tuned_network import MEMORY_OPCODES, MappedLayer, factors, mapped_layers
from mapper.api.problem import pose
from mapper.api.search import Search
from mapper.api.solution import Solution
from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.network.program.cover import Cover
from mapper.models.modulo_schedule.network.algorithm import GEMM, IM2COL, Algorithm
from mapper.models.modulo_schedule.network.cost import layer_cycles
from mapper.models.modulo_schedule.network.estimate import Estimator
from mapper.models.modulo_schedule.network.mapping import LayerMapping
from mapper.models.modulo_schedule.network.nest import Nest
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.heuristic.iterative import ITERATIVE
from mapper.solver.modulo_schedule.network.heuristic.nest_tuning import NestTuning, Tried
from mapper.solver.modulo_schedule.network.heuristic.tuning import (
    algorithm_1,
    exhaustive,
    single,
    sums_in_memory,
    unoptimised,
    variants,
    written,
)
from mapper.solver.outcome import Outcome

SECTIONS = ("phases", "histogram", "estimate")
SUMS = frozenset({"multiply_add", "window"})
ALL_COVERS = 1 << 20
BEST_COVERS = 6


def main() -> None:
    """Print the sections that are asked for, all of them by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS), help=", ".join(SECTIONS))
    parser.add_argument("--array", default="srp-4x4")
    parser.add_argument("--phases-of", default="cifar10", metavar="NETWORK")
    parser.add_argument("--histogram-of", default="squeezenet-1.0", metavar="NETWORK")
    parser.add_argument("--method", default="auto", help="tuner of the histogram")
    parser.add_argument("--layer", default="lenet5/conv2", help="whose matrix product is scheduled often")
    parser.add_argument("--covers", type=int, default=60, help="how often")
    given = parser.parse_args()
    if unknown := sorted(set(given.sections) - set(SECTIONS)):
        parser.error(f"{unknown[0]!r} is not one of {', '.join(SECTIONS)}")
    ITERATIVE.prepare()
    if "phases" in given.sections:
        _show_phases(given.phases_of, given.array)
    if "histogram" in given.sections:
        _show_histogram(given.histogram_of, given.array, given.method)
    if "estimate" in given.sections:
        _show_estimate(given.layer, given.array, given.covers)


def _plain(problem: LayerProblem) -> Algorithm:
    """The matrix product of a layer that has one, else its own algorithm."""
    return next((one for one in problem.choices if one.name in (GEMM, IM2COL)), problem.choices[-1])


def _interchanged(tuning: NestTuning) -> list[Cover]:
    """Not unrolled, with the better one of the paper's two innermost loops by estimate."""
    return sorted((tuning.as_written(name) for name in variants(tuning)), key=lambda cover: cover.cycles)


Step = Callable[[LayerProblem, Effort], Outcome[LayerMapping]]

PHASES: tuple[tuple[str, Step], ...] = (
    ("GEMM, sums in registers (baseline)", unoptimised),
    ("GEMM, sums in memory as in Fig. 3(a)", sums_in_memory),
    ("+ inlined functions", lambda problem, effort: single(problem, _plain(problem), written, effort)),
    ("+ optCGRA by the rule", lambda problem, effort: single(problem, problem.choices[0], written, effort)),
    ("+ interchange", lambda problem, effort: single(problem, problem.choices[0], _interchanged, effort)),
    ("+ unrolling (Algorithm 1)", algorithm_1),
    ("all vectors, real schedules", exhaustive),
)


def _show_phases(network: str, array: str) -> None:
    problems = [part.problem for part in pose(network, array, "latency").parts]
    lines = []
    first: tuple[int, int, int, int] | None = None
    for name, search in PHASES:
        run = measure(partial(mapped, problems, search))
        layers = run.result
        if len(layers) < len(problems):
            lines.append([name, "no answer", *["–"] * 8])
            continue
        machine = problems[0].machine
        cycles = sum(sum(layer_cycles(one.algorithm, one.layer.op, machine, one.mapping)) for one in layers)
        sums = sum(one.executed("fmul", nests=SUMS) for one in layers)
        memory = sum(one.executed(*MEMORY_OPCODES) for one in layers)
        # Each word that im2col or im2row moves is loaded and stored in VLIW mode.
        everywhere = memory + sum(2 * one.algorithm.copied_words for one in layers)
        first = first or (cycles, sums, memory, everywhere)
        lines.append(
            [
                name,
                f"{cycles:,}",
                f"{first[0] / cycles:.2f}",
                f"{sums:,}",
                f"{sums / first[1]:.3f}",
                f"{memory:,}",
                f"{memory / first[2]:.3f}",
                f"{everywhere / first[3]:.3f}",
                f"{run.wall:.1f}",
                f"{run.cpu:.1f}",
            ]
        )
    heading = [
        "phase", "cycles", "speed-up", "MAC", "/ baseline", "loads + stores", "/ baseline",
        "with copies / baseline", "wall s", "CPU s",
    ]  # fmt: skip
    show(f"{network} on {array}, step by step (Fig. 10):", heading, lines)


def mapped(problems: list[LayerProblem], search: Step) -> list[MappedLayer]:
    """The layers for which a step finds a mapping."""
    return [
        MappedLayer(problem.layer, problem.choice(mapping.algorithm), mapping)
        for problem in problems
        if (mapping := search(problem, Effort()).mapping) is not None
    ]


def vectors_of(solution: Solution) -> Counter[tuple[int, ...]]:
    """How many loops have each unroll vector, by their main boxes."""
    return Counter(
        factors(nest, loops[0].box) for one in mapped_layers(solution) for nest, loops in one.nests
    )


def _show_histogram(network: str, array: str, method: str) -> None:
    run = measure(lambda: mapper.solve(network, array, "latency", search=Search(method)))
    vectors = vectors_of(run.result)
    lines = [
        [str(vector).replace(" ", ""), str(count), "#" * count]
        for vector, count in sorted(vectors.items(), key=lambda item: (-item[1], item[0]))
    ]
    show(f"Unroll vectors of {network} on {array}, innermost loop last (Fig. 11):", ["", "loops", ""], lines)
    kept = sum(count for vector, count in vectors.items() if max(vector) == 1)
    print(
        f"{kept} of {vectors.total()} loops are not unrolled (the paper: 4 of over 100); "
        f"{run.wall:.1f} s, {run.cpu:.1f} CPU s"
    )


def scheduled(name: str, array: str, most: int) -> tuple[Nest, int, list[Tried]]:
    """The matrix product of a layer, how many covers it has, and some of them scheduled: the best by estimate, what
    Algorithm 1 takes, and up to ``most`` spread evenly from the best to the worst; first those that are expected to
    take the fewest cycles."""
    machine, _ = load_machine(array)
    assert isinstance(machine, CgraMachine)
    nest = _product_of(name, array)
    tuning = NestTuning(nest, machine, Estimator(machine))
    covers = sorted(
        (cover for inner in nest.innermost() for cover in tuning.candidates(inner, ALL_COVERS)),
        key=lambda cover: cover.cycles,
    )
    spread = [cover for inner in nest.innermost() for cover in tuning.estimated(inner)]
    spread += [*covers[:BEST_COVERS], *covers[:: max(1, len(covers) // most)]]
    place = {cover.boxes: place for place, cover in enumerate(covers)}
    boxes = sorted({cover.boxes for cover in spread}, key=lambda one: place.get(one, len(place)))
    spread = [Cover(0, one) for one in boxes]
    found = [one for cover in spread if (one := tuning.schedule(cover, Effort())) is not None]
    return nest, len(covers), found


def _show_estimate(name: str, array: str, most: int) -> None:
    run = measure(partial(scheduled, name, array, most))
    nest, count, found = run.result
    tried = sorted(found, key=lambda one: one.estimate)
    lines = [
        [
            f"{one.innermost} innermost, {one.unroll}",
            f"{one.estimate:,}",
            f"{one.cycles:,}",
            f"{one.cycles / one.estimate:.2f}",
            str(one.interval),
            str(one.ii),
        ]
        for one in tried
    ]
    heading = ["nest as unrolled", "estimate", "cycles", "cycles / estimate", "MII", "II"]
    sizes = " x ".join(str(extent) for _, extent in nest.loops)
    show(f"{name} as a matrix product {sizes} on {array} (Fig. 6):", heading, lines)
    _print_agreement(found)
    print(f"{len(tried)} of {count} covers scheduled in {run.wall:.1f} s, {run.cpu:.1f} CPU s")


def chosen(tried: list[Tried]) -> Tried:
    """The cover of the least estimate; of equal ones the first, which is expected to take the fewest cycles."""
    return min(tried, key=lambda one: one.estimate)


def _print_agreement(tried: list[Tried]) -> None:
    """How well estimates rank real cycles, and what trusting them costs."""
    estimates = np.array([one.estimate for one in tried], dtype=float)
    cycles = np.array([one.cycles for one in tried], dtype=float)
    least = cycles.min()
    equal = cycles[estimates == estimates.min()]
    intervals = np.array([one.ii / one.interval for one in tried])
    print(f"correlation of estimate and cycles: Pearson {correlation(estimates, cycles):.3f}, ", end="")
    print(f"Spearman {correlation(_ranks(estimates), _ranks(cycles)):.3f}")
    print(f"II / MII: mean {intervals.mean():.3f}, at MII {np.mean(intervals == 1.0):.1%}")
    best, worst, own = (
        f"{cycle / least - 1:.1%}" for cycle in (equal.min(), equal.max(), chosen(tried).cycles)
    )
    print(
        f"{len(equal)} covers share the least estimate; they take {best} to {worst} more cycles than the best"
    )
    print(
        f"the one that is expected to take the fewest takes {own} more (the paper: the chosen one under 10%)"
    )


def correlation(left: np.ndarray, right: np.ndarray) -> float:
    """Pearson's, from -1 to 1."""
    return float(np.corrcoef(left, right)[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks, the mean of their places for equal values."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: np.ndarray = (last - (counts - 1) / 2)[inverse]
    return mean


def _product_of(name: str, array: str) -> Nest:
    """The largest matrix product of ``network/layer``."""
    part = pose(name, array, "latency").parts[0]
    algorithm = _plain(part.problem)
    return algorithm.nests[algorithm.main]


if __name__ == "__main__":
    main()
