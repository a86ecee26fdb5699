"""Fronts of bytes on chip, and what machines that share their searches save over one by one.

    python -m bench.hierarchy.co_design [--alone]      --alone: each machine by itself too, which takes minutes

1. Words that DRAM gives and takes, over the capacity of one buffer (98 capacities), for the first product of the
   feed-forward layer of GPT-3 6.7B: a machine whose energies are one for a word of DRAM, and none elsewhere.
2. Energy-delay product over bytes on chip, on 95 machines like `gemmini-16` (19 scratch-pads, 5 accumulators), for that
   product and a layer of ResNet; with energies that do not depend on the size, and with some that grow with it.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

from bench.measure import measure, show
from mapper.arch.hierarchy import Actions, HierarchyMachine, hierarchy_from_document
from mapper.arch.source import load_machine
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem, ObjectiveName
from mapper.solver.hierarchy.co_design.family import made, prices_of, words_of
from mapper.solver.hierarchy.co_design.search import CoDesign
from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound, prepare
from mapper.solver.method import Effort
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.source import load_network

Front = list[tuple[int, float]]
PRODUCT = matrix_product_nest("gpt3-6.7b", (), 2048, 16384, 4096)
SCRATCHPADS = [2**power for power in range(11, 30)]
ACCUMULATORS = [2**power for power in range(6, 16, 2)]


def traffic_machine(words: int) -> HierarchyMachine:
    """DRAM and one buffer of words of a byte, where energy counts words of DRAM."""
    free = {"read": 0, "fill": 0, "update": 0}
    paid = {"read": 1, "fill": 1, "update": 1}
    return hierarchy_from_document(
        {
            "schema": "mapper.hierarchy/1",
            "name": "traffic",
            "levels": [
                {"name": "DRAM", "word_bits": 8, "keep": ["*"], "energy_pj": paid},
                {"name": "buffer", "words": words, "word_bits": 8, "keep": ["*"], "energy_pj": free},
            ],
            "compute": {"energy_pj": 0},
            "rules": {"link_transfers": False},
        },
        "traffic",
    )


def machines(grows: bool) -> list[HierarchyMachine]:
    """95 machines: an access to the scratch-pad costs the same on all, or the square root of its size; to the
    accumulator the same, or in proportion beside a constant."""
    base, _ = load_machine("gemmini-16")
    assert isinstance(base, HierarchyMachine)
    outer, _, _, register = prices_of(base)
    found = []
    for pad in SCRATCHPADS:
        for sums in ACCUMULATORS:
            near = 2.0 + 4e-4 * sums if grows else 2.35
            far = 33.8 * math.sqrt(pad / 65536) if grows else 110.9
            prices = [Actions(read=one, fill=one, update=one) for one in (far, near)]
            words = (words_of(base)[0], pad, sums, 1)
            found.append(made(base, words, (outer, *prices, register)))
    return found


def front(nest: LoopNest, many: Sequence[HierarchyMachine], objective: ObjectiveName) -> Front:
    """Bytes on chip and values, by searches that share."""
    shared = CoDesign([HierarchyProblem(nest, machine, objective) for machine in many])
    found: Front = []
    for place in _by_size(many):
        best = shared.best(place, found[-1][1] if found else math.inf, Effort())
        assert best.proven
        if best.value is not None:
            found.append((many[place].on_chip_bytes, float(best.value)))
    return found


def alone(nest: LoopNest, many: Sequence[HierarchyMachine], objective: ObjectiveName) -> Front:
    """The same, each machine solved by itself."""
    found: Front = []
    for place in _by_size(many):
        best = branch_and_bound(HierarchyProblem(nest, many[place], objective), Effort())
        assert best.proven
        if best.value is not None and (not found or best.value < found[-1][1] * (1 - ROUNDING)):
            found.append((many[place].on_chip_bytes, float(best.value)))
    return found


def _by_size(many: Sequence[HierarchyMachine]) -> list[int]:
    return sorted(range(len(many)), key=lambda place: (many[place].on_chip_bytes, place))


def row(
    name: str, nest: LoopNest, many: Sequence[HierarchyMachine], objective: ObjectiveName, both: bool
) -> tuple[str, ...]:
    """A line of the table."""
    together = measure(lambda: front(nest, many, objective))
    cells = (name, str(len(many)), str(len(together.result)), f"{together.cpu:.1f}")
    if not both:
        return (*cells, "", "", "")
    single = measure(lambda: alone(nest, many, objective))
    same = [size for size, _ in single.result] == [size for size, _ in together.result] and all(
        math.isclose(a, b, rel_tol=1e-8)
        for (_, a), (_, b) in zip(single.result, together.result, strict=True)
    )
    return (*cells, f"{single.cpu:.1f}", f"{single.cpu / together.cpu:.1f}", str(same))


def main() -> int:
    """Exit code 0: figures are reported."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--alone", action="store_true", help="also solve each machine by itself")
    both = parser.parse_args().alone
    prepare()
    conv = next(one.nest for one in load_network("resnet-dmazerunner").layers if one.name == "conv5_2")
    # Four capacities an octave, from 16 bytes to all three matrices.
    capacities = sorted({round(2 ** (power / 4)) for power in range(16, 16 + 98)})
    buffers = [traffic_machine(words) for words in capacities]
    lines = [row("GPT-3 6.7B, DRAM words", PRODUCT, buffers, "energy", both)]
    for grows, energies in ((False, "of one size"), (True, "that grow")):
        many = machines(grows)
        for name, nest in (("GPT-3 6.7B", PRODUCT), ("conv5_2", conv)):
            lines.append(row(f"{name}, EDP, energies {energies}", nest, many, "edp", both))
    heading = ("front", "machines", "points", "CPU s", "one by one", "ratio", "same")
    show("Bytes on chip against the objective", heading, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
