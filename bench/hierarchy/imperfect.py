"""Imperfect factors beside perfect ones: CPU seconds, and what units and the objective win.

    python -m bench.hierarchy.imperfect [--arch NAME]

AlexNet's convolutions and ViT-base's products of matrices (sequence 197), least energy-delay product.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from mapper.arch.hierarchy import HierarchyMachine
from mapper.arch.source import load_machine
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.hierarchy.exact.branch_and_bound import prepare
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.workloads.nest.layer_nest import convolution_nest, matrix_product_nest, square_convolution
from mapper.workloads.nest.loop_nest import LoopNest

CONVOLUTIONS = {
    "conv1": (1, 96, 3, 55, 11, 4, 227, 0),
    "conv2": (1, 256, 48, 27, 5, 1, 27, 2),
    "conv3": (1, 384, 256, 13, 3, 1, 13, 1),
    "conv4": (1, 384, 192, 13, 3, 1, 13, 1),
    "conv5": (1, 256, 192, 13, 3, 1, 13, 1),
}
PRODUCTS = {
    "projection": (197, 768, 768),
    "scores": (197, 197, 64),
    "mlp up": (197, 3072, 768),
    "mlp down": (197, 768, 3072),
}


def nests() -> dict[str, LoopNest]:
    """The layers by name."""
    layers = {name: convolution_nest(name, square_convolution(*one)) for name, one in CONVOLUTIONS.items()}
    return layers | {name: matrix_product_nest(name, (), *one) for name, one in PRODUCTS.items()}


def solved(problem: HierarchyProblem) -> tuple[Outcome[HierarchyMapping], float]:
    """The outcome of branch and bound, and its CPU seconds."""
    begin = time.process_time()
    found = METHODS["branch-and-bound"].search(problem, Effort())
    return found, time.process_time() - begin


def main() -> None:
    """Print a line for each layer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", default="eyeriss-like")
    machine, _ = load_machine(parser.parse_args().arch)
    assert isinstance(machine, HierarchyMachine)
    prepare()
    small = HierarchyProblem(matrix_product_nest("small", (), 7, 6, 5), machine, "edp", Pins(imperfect=True))
    solved(small)  # Reads machine code from disk, as `prepare` does for perfect factors.
    print("layer        perfect s  imperfect s  ratio  proven  utilisation       EDP")
    for name, nest in nests().items():
        plain = HierarchyProblem(nest, machine, "edp")
        perfect, seconds = solved(plain)
        found, more = solved(replace(plain, pins=Pins(imperfect=True)))
        assert perfect.mapping is not None
        assert perfect.value is not None
        assert found.mapping is not None
        assert found.value is not None
        before, after = (evaluate(nest, machine, one.mapping).utilisation for one in (perfect, found))  # type: ignore[arg-type]
        less = 1 - found.value / perfect.value
        print(
            f"{name:12} {seconds:9.2f} {more:12.2f} {more / seconds:6.1f}  {found.proven!s:6}  "
            f"{before:.1%} -> {after:.1%}  -{less:.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
