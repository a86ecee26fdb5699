"""AlexNet as the Eyeriss chip runs it on `eyeriss-like`, beside the chip's own figures [Chen2017] and proven optima.

The mappings are the publication's (`bench.tiling.eyeriss` has its table of parameters): rows of the filter down the
array, rows of the output across it, windows that slide in each PE. conv2's 27 rows of output lie in two sets of 14 and
13 columns; here they are padded to two sets of 14, down the array too, which the preset does not let Q do.

    python -m bench.hierarchy.eyeriss                        # the table; --seconds S: limit of each proof
    python -m bench.hierarchy.eyeriss --mapping conv1        # a mapping, for mapper evaluate --mapping
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from typing import Any

from bench.measure import show
from bench.tiling.eyeriss import PASSES
from mapper.arch.hierarchy import HierarchyMachine, hierarchy_from_document
from mapper.arch.source import load_machine, machine_to_document
from mapper.formulations.hierarchy.problem import HierarchyProblem, ObjectiveName, Pins
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.cost import HierarchyCost, evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.models.hierarchy.role import loops_called
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.method import Effort
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.source import load_network

CLOCK_KHZ = 200e3
FILTER_WORDS, INPUT_WORDS = 4, 1
"""Words of filters and of input that the chip's networks bring in a cycle (64 and 16 bits)."""
PADDED = {"conv1": 56, "conv2": 28}
"""Rows of output in whole strips."""


def machine(name: str) -> HierarchyMachine:
    """The preset; for conv2 with rows of output down the array too."""
    found, _ = load_machine("eyeriss-like")
    assert isinstance(found, HierarchyMachine)
    if name != "conv2":
        return found
    document = machine_to_document(found)
    document["levels"][1]["fanout"]["y_loops"].append("Q")
    return hierarchy_from_document(document, "eyeriss-like")


def problem(name: str, objective: ObjectiveName) -> HierarchyProblem:
    """A layer, padded to whole strips."""
    nest = next(layer.nest for layer in load_network("alexnet-eyeriss").layers if layer.name == name)
    rows = loops_called(nest, "Q")[0]
    padded = ((rows, PADDED[name]),) if name in PADDED else ()
    return HierarchyProblem(nest, machine(name), objective, Pins(padded=padded))


def mapping_of(name: str, nest: LoopNest) -> HierarchyMapping:
    """The chip's mapping of a layer; loops outer to inner."""
    one = PASSES[name]
    loop = {role: loops_called(nest, role)[0] for role in "NKCPQRS"}
    bound = {role: nest.trip_counts[loop[role]] for role in "NKCPQRS"}
    rows = PADDED.get(name, bound["Q"])
    sets = 2 if name == "conv2" else 1
    strip = math.ceil(one.e / sets)
    across = {"Q": strip} | ({"K": one.t} if name == "conv1" else {})
    down = {"S": bound["S"], "C": one.r, "K": 1 if name == "conv1" else one.t, "Q": sets}
    at: dict[str, dict[str, int]] = {
        "DRAM": {
            "K": bound["K"] // one.m,
            "N": bound["N"] // one.n,
            "Q": rows // strip // sets,
            "C": bound["C"] // one.q // one.r,
        },
        "shared_glb": {"K": one.m // one.p // one.t, "N": one.n, "P": bound["P"]},
        "weights_spad": {"R": bound["R"], "C": one.q},
        "psum_spad": {"K": one.p},
    }
    keeps = {"DRAM": "WIO", "shared_glb": "IO", "ifmap_spad": "I", "weights_spad": "W", "psum_spad": "O"}
    levels = []
    for level, kept in keeps.items():
        time_loops = tuple(TemporalLoop(loop[role], n) for role, n in at.get(level, {}).items() if n > 1)
        space = [SpatialLoop(loop[role], n, "y") for role, n in down.items() if n > 1]
        space += [SpatialLoop(loop[role], n, "x") for role, n in across.items() if n > 1]
        own = tuple(space) if level == "shared_glb" else ()
        levels.append(LevelMapping(level, _tensors(nest, kept), time_loops, own))
    padded = ((loop["Q"], rows),) if name in PADDED else ()
    return HierarchyMapping(tuple(levels), padded)


def _tensors(nest: LoopNest, kept: str) -> tuple[str, ...]:
    return tuple(operand.name for operand in nest.operands if operand.name in kept)


def active(name: str, mapping: HierarchyMapping) -> int:
    """PEs that work; those on padded rows of conv2 do not."""
    used = math.prod(loop.trips for level in mapping.levels for loop in level.spatial)
    return used * 27 // 28 if name == "conv2" else used


def waiting(nest: LoopNest, cost: HierarchyCost, mapping: HierarchyMapping) -> float:
    """Cycles in which PEs wait: a pass begins when its filters are there, and the windows of input that it begins with;
    all else streams beside the work."""
    inside = dict.fromkeys(nest.loops, 1)
    for level in mapping.levels[1:]:
        for space in level.spatial:
            inside[space.loop] *= space.trips
        for time_loop in level.temporal if level.level != "shared_glb" else ():
            inside[time_loop.loop] *= time_loop.trips
    words = {operand.name: operand.words(inside) for operand in nest.operands}
    passes = cost.accesses["DRAM"]["W"]["reads"] / words["W"]
    return passes * max(words["W"] / FILTER_WORDS, words["I"] / INPUT_WORDS)


def least(posed: HierarchyProblem, seconds: float) -> tuple[float, bool]:
    """The least value of a problem, and whether it is proven."""
    found = METHODS["auto"].search(posed, Effort(time.monotonic() + seconds, 2))
    assert found.value is not None, "the chip's own mapping is one"
    return float(found.value), found.proven


def row(name: str, seconds: float) -> tuple[str, ...]:
    """A line of the table."""
    chip = PASSES[name]
    posed = {objective: problem(name, objective) for objective in ("latency", "edp")}
    nest = posed["latency"].nest
    mapping = mapping_of(name, nest)
    verdict = verify(posed["latency"], mapping)
    assert not verdict.broken, verdict.broken
    cost = evaluate(nest, posed["latency"].machine, mapping)
    alone, waited = cost.cycles / CLOCK_KHZ, (cost.cycles + waiting(nest, cost, mapping)) / CLOCK_KHZ
    fewest, fewest_proven = least(posed["latency"], seconds)
    edp, edp_proven = least(posed["edp"], seconds)
    return (
        name,
        f"{active(name, mapping)} ({chip.active})",
        f"{chip.processing_ms:.1f}",
        f"{alone:.2f} ({alone / chip.processing_ms - 1:+.1%})",
        f"{waited:.2f} ({waited / chip.processing_ms - 1:+.1%})",
        f"{cost.cycles / fewest:.2f}{'' if fewest_proven else ' (not proven)'}",
        f"{(cost.edp_pj_cycles or 0) / edp:.2f}{'' if edp_proven else ' (not proven)'}",
    )


def document(name: str) -> dict[str, Any]:
    """The mapping of a layer as ``mapper evaluate`` reads it."""
    return mapping_of(name, problem(name, "latency").nest).to_json()


def main() -> int:
    """Exit code 0: figures are reported."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mapping", choices=tuple(PASSES), help="print the mapping of a layer")
    parser.add_argument("--seconds", type=float, default=30.0, help="limit of each proof")
    given = parser.parse_args()
    if given.mapping:
        print(json.dumps(document(given.mapping), indent=1))
        return 0
    heading = (
        "layer",
        "PEs (chip)",
        "chip ms",
        "model ms",
        "with waiting ms",
        "cycles / least",
        "EDP / least",
    )
    show(
        "AlexNet on eyeriss-like by the chip's mappings",
        heading,
        [row(name, given.seconds) for name in PASSES],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
