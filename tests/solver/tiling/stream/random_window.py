"""Small nests with windows and machines filled as streams, on which tiles that follow each other often decide.

Strides, dilations, batch, groups, windows of one to three loops in one or two dimensions, in any order of loops and
operands; register files that hold a few words, few PEs, memories whose words are dear or free.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

from mapper.arch.dataflow import DataflowMachine, dataflow_from_document
from mapper.formulations.tiling.problem import OBJECTIVES, TilingProblem
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document
from tests.solver.tiling.small import machine_fields

WAYS = {1: 1, 2: 4, 3: 4, 4: 10, 5: 4, 6: 16, 7: 4, 8: 20}
"""Ways to write a bound as a product of four."""


def problem(draw: Random, most_tilings: int) -> TilingProblem:
    """A problem whose bounds have at most so many factorisations together."""
    nest = window(draw)
    while math.prod(WAYS[bound] for _, bound in nest.bounds) > most_tilings:
        nest = window(draw)
    return TilingProblem(nest, machine(draw), draw.choice(OBJECTIVES))


def window(draw: Random) -> LoopNest:
    """A result, what a window slides over, and the window; sometimes a second operand that is slid over."""
    one, loops = draw.choice, dict[str, int]()
    result, image, kernel = list[str](), list[str](), list[str]()
    for loop, owners in (("N", (result, image)), ("G", (result, image, kernel)), ("M", (result, kernel))):
        if one([True, False, False]):
            loops[loop] = one([1, 2, 2, 3])
            for index in owners:
                index.append(loop)
    if one([True, False, False]):
        loops["C"] = one([1, 2, 2])
        image.append("C")
        kernel.append("C")
    rank = one([1, 1, 1, 2])
    for out, over in (("X", "F"), ("Y", "E"))[:rank]:
        loops[out] = one([3, 4, 5, 6, 7, 8] if rank == 1 else [1, 2, 3, 4, 4])
        loops[over] = one([1, 2, 3, 4] if rank == 1 else [1, 2, 2])
        along = f"{one([1, 1, 1, 2, 3])}*{out} + {one([1, 1, 1, 2])}*{over}"
        if rank == 1 and one([True] + [False] * 5):
            loops["H"] = 2
            along += f" + {one([1, 2])}*H"
            kernel.append("H")
        result.append(out)
        image.append(along)
        kernel.append(over)
    operands: list[dict[str, Any]] = [{"tensor": "I", "index": image}, {"tensor": "W", "index": kernel}]
    if one([True] + [False] * 6):
        operands.append({"tensor": "V", "index": ["X + F"]})
    draw.shuffle(operands)
    zero = one([True, True, False])
    written = {"tensor": "O", "index": result, "access": "read_write", "zero_initialised": zero}
    names = list(loops.items())
    draw.shuffle(names)
    document = {
        "schema": "mapper.nest/1",
        "name": "window",
        "loops": dict(names),
        "operands": [written, *operands],
    }
    return nest_from_document(document, "window")


def machine(draw: Random) -> DataflowMachine:
    """A few PEs with a few words each, under every rule that streams leave open."""
    one = draw.choice
    networks: list[dict[str, Any]] = [
        {"carries": "read", "width_words": one([1, 1, 2, 4])} for _ in range(one([1, 2, 3, 3]))
    ]
    networks.append({"carries": "write", "width_words": one([1, 2])})
    doubled, banks, bank_bytes = one([True, False]), one([3, 4, 6, 8, 16, 64]), one([2, 4, 16])
    rows, columns = one([(1, 1), (1, 1), (1, 2), (1, 3), (2, 2)])
    fields = machine_fields(
        rows,
        columns,
        2 * one([3, 4, 5, 6, 7, 8, 10]),
        rf={"double_buffered": one([False, False, False, True])},
        spm={
            "double_buffered": doubled,
            "bytes": banks * bank_bytes * (2 if doubled else 1),
            "bank_bytes": bank_bytes,
        },
        noc={"reduction": one(["mesh", "bus"]), "networks": networks},
        dma={
            "initiation_cycles": one([0, 0, 1, 20]),
            "cycles_per_byte": one([0, 0.1, 0.5, 1]),
            "clock_mhz": one([500, 1000]),
        },
        pe_array={"pipelined": one([True, True, False])},
        rules={
            "filling": "streams",
            "stored_extent": one(["declared", "touched"]),
            "partial_sums": one(["doubled", "first_visit_free", "first_visit_free"]),
            "leaving_sums": one(["exposed", "buffered"]),
            "energy": one(["exact", "exact", "rounded"]),
        },
        energy_pj={
            "rf": one([0.06, 1.0]),
            "noc": one([0.0, 2.0, 20.0]),
            "spm": one([0.0, 4.0, 40.0]),
            "dram": one([0.0, 5.0, 200.0]),
        },
    )
    return dataflow_from_document(fields, "random machine of streams")
