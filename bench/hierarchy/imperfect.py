"""Imperfect factors beside perfect ones: CPU seconds, what units and the objective win, and what the checker says.

    python -m bench.hierarchy.imperfect [--arch NAME]

AlexNet's convolutions and ViT-base's products of matrices (sequence 197), least energy-delay product.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import replace
from pathlib import Path

from mapper.arch.hierarchy import HierarchyMachine
from mapper.arch.source import load_machine
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.proving.checker import check
from mapper.proving.proof_document import PROOFS_SCHEMA
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.hierarchy.exact.branch_and_bound import prepare
from mapper.solver.hierarchy.proof import prove
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.proof import Claim
from mapper.workloads.nest.layer_nest import convolution_nest, matrix_product_nest, square_convolution
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.process.temporary import temporary_folder

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


def checked(problem: HierarchyProblem, found: Outcome[HierarchyMapping], folder: Path) -> tuple[str, float]:
    """What the checker says of an outcome, and its CPU seconds."""
    claim = Claim("optimal" if found.proven else "bounded", found.mapping, found.value, found.bound)
    proof = prove(problem, claim, Effort()).to_json("hierarchy", problem.nest.name)
    path = folder / "proofs.json"
    path.write_text(json.dumps({"schema": PROOFS_SCHEMA, "proofs": [proof]}))
    begin = os.times()
    [(_, status, _)] = check(path)
    end = os.times()
    return status, end.children_user + end.children_system - begin.children_user - begin.children_system


def main() -> None:
    """Print a line for each layer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", default="eyeriss-like")
    machine, _ = load_machine(parser.parse_args().arch)
    assert isinstance(machine, HierarchyMachine)
    prepare()
    small = HierarchyProblem(matrix_product_nest("small", (), 7, 6, 5), machine, "edp", Pins(imperfect=True))
    solved(small)  # Reads machine code from disk, as `prepare` does for perfect factors.
    print("layer        perfect s  imperfect s  ratio  proven  utilisation       EDP      checker s")
    with temporary_folder() as folder:
        for name, nest in nests().items():
            print(f"{name:12} {line_of(HierarchyProblem(nest, machine, 'edp'), folder)}", flush=True)


def line_of(plain: HierarchyProblem, folder: Path) -> str:
    """Perfect and imperfect factors of a layer beside each other."""
    perfect, seconds = solved(plain)
    cut = replace(plain, pins=Pins(imperfect=True))
    found, more = solved(cut)
    assert perfect.mapping is not None
    assert perfect.value is not None
    assert found.mapping is not None
    assert found.value is not None
    before, after = (
        evaluate(plain.nest, plain.machine, one).utilisation for one in (perfect.mapping, found.mapping)
    )
    status, checking = checked(cut, found, folder)
    return (
        f"{seconds:9.2f} {more:12.2f} {more / seconds:6.1f}  {found.proven!s:6}  "
        f"{before:.1%} -> {after:.1%}  -{1 - found.value / perfect.value:.1%}  {checking:.1f} {status}"
    )


if __name__ == "__main__":
    main()
