"""Random loop nests and arrays that are small enough for brute force."""

from __future__ import annotations

import random
from typing import Any

from mapper.arch.tcpa import TcpaMachine, tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document


def random_machine(draw: random.Random, most: int) -> TcpaMachine:
    """An array of up to ``most`` rows and columns with any links, borders and units."""
    fields = tcpa_preset(f"tcpa-{draw.randint(1, most)}x{draw.randint(1, most)}")
    assert fields is not None
    sides = draw.sample(["north", "east", "south", "west"], draw.randint(1, 4))
    units = {name: draw.randint(1, 3) for name in ("convolution", "pool", "elementwise")}
    links = draw.choice((["mesh"], ["torus"], ["mesh", "diagonal"], ["torus", "diagonal"]))
    generators = draw.choice((None, None, draw.randint(2, 9)))
    border: dict[str, Any] = {"sides": sides, "address_generators": generators}
    words = draw.choice((None, None, draw.randint(1, 4)))
    border["buffers"] = draw.choice((None, None, None, draw.randint(1, 4)))
    return tcpa_from_document(
        {**fields, "functional_units": units, "links": links, "link_words": words, "border": border}, "m"
    )


def random_nest(draw: random.Random, loops: int, most: int) -> LoopNest:
    """A nest whose only dependences are sums: any loops for its operands, windows too."""
    names = ["A", "B", "C", "D", "E"][:loops]
    kept = draw.sample(names, draw.randint(1, loops))
    summed = len(kept) < loops or draw.random() < 0.3
    result = {
        "tensor": "O",
        "index": kept,
        "access": "read_write" if summed else "write",
        "zero_initialised": draw.random() < 0.7,
    }
    reads = [{"tensor": f"R{at}", "index": _index(draw, names)} for at in range(draw.randint(1, 3))]
    missing = [n for n in names if n not in kept and not any(n in str(one["index"]) for one in reads)]
    reads[0]["index"] = [*reads[0]["index"], *missing]
    fields = {
        "schema": "mapper.nest/1",
        "name": "random",
        "loops": {name: draw.randint(1, most) for name in names},
        "operands": [result, *reads],
        "operation": draw.choice(("multiply_add", "add")),
    }
    return nest_from_document(fields, "random")


def _index(draw: random.Random, names: list[str]) -> list[str]:
    chosen = draw.sample(names, draw.randint(1, len(names)))
    if len(chosen) > 1 and draw.random() < 0.3:
        return [f"{chosen[0]} + {draw.randint(1, 2)}*{chosen[1]}", *chosen[2:]]
    return chosen


def random_problem(seed: int, loops: int = 3, most: int = 4) -> NestProblem:
    """A small problem, now and then with pins and limits."""
    draw = random.Random(seed)
    nest, machine = random_nest(draw, draw.randint(1, loops), most), random_machine(draw, 3)
    max_pes = draw.choice((0, 0, 0, draw.randint(1, 6)))
    tile: dict[str, int] = {}
    if draw.random() < 0.2:
        loop = draw.choice(nest.loops)
        tile[loop] = draw.randint(1, nest.trip_counts[loop])
    order = tuple(draw.sample(nest.loops, len(nest.loops))) if draw.random() < 0.2 else None
    axes = {"rows": draw.choice((None, *nest.loops))} if draw.random() < 0.2 else {}
    return NestProblem(nest, machine, max_pes, None, NestPins(tile, order, axes))
