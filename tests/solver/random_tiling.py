"""Small random nests, machines and pins for tilings, few enough mappings for all of them to be tried."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from mapper.arch.dataflow import DataflowMachine
from mapper.formulations.tiling.problem import OBJECTIVES, Pins, TilingProblem
from mapper.models.tiling.mapping import LEVELS, ORDERED_LEVELS
from mapper.workloads.layer import Convolution, convolution_nest, matrix_product_nest
from mapper.workloads.nest import LoopNest
from tests.solver.small import recurrence, small_machine

few = st.sampled_from([1, 2])
bounds = st.sampled_from([1, 2, 3, 4, 5, 6])
MOST_TILINGS = 640
"""Factorisations of all bounds together; each is tried under all its orders."""


@st.composite
def convolutions(draw: st.DrawFn) -> LoopNest:
    """One or two dimensions; strides, dilations, uneven padding, groups, remainders that no window covers."""
    rank, groups = draw(few), draw(st.sampled_from([1, 1, 2, 3]))
    kernel = tuple(draw(st.integers(1, 3 if rank == 1 else 2)) for _ in range(rank))
    strides = tuple(draw(few) for _ in range(rank))
    dilations = tuple(draw(few) for _ in range(rank))
    made = tuple(draw(st.integers(1, 4 if rank == 1 else 2)) for _ in range(rank))
    pads = tuple((draw(st.integers(0, 1)), draw(st.integers(0, 1))) for _ in range(rank))
    size = tuple(
        max(1, (o - 1) * s + d * (f - 1) + 1 + draw(st.integers(0, s - 1)) - sum(pad))
        for o, s, d, f, pad in zip(made, strides, dilations, kernel, pads, strict=True)
    )
    shape = Convolution(
        draw(few), groups * draw(few), groups * draw(few), size, kernel, strides, dilations, pads, groups
    )
    return convolution_nest("convolution", shape)


@st.composite
def matrix_products(draw: st.DrawFn) -> LoopNest:
    """Products of any sides, some batched, some transposed, some with a factor that the batch shares."""
    batch = draw(st.lists(few, max_size=1))
    shared = [draw(st.booleans()) for _ in batch]
    transposed = draw(st.booleans()), draw(st.booleans())
    return matrix_product_nest(
        "product", batch, draw(bounds), draw(bounds), draw(bounds), shared, transposed=transposed
    )


recurrences = st.builds(
    recurrence, bounds, bounds, i=st.sampled_from([1, 2]), j=st.sampled_from([-1, 0, 0, 1])
)
nests: st.SearchStrategy[LoopNest] = st.one_of(
    matrix_products(), convolutions(), convolutions(), recurrences
).filter(lambda nest: math.prod(_tilings(bound) for _, bound in nest.bounds) <= MOST_TILINGS)


def _tilings(bound: int) -> int:
    """Ways to write ``bound``, at most 6, as a product of four: 4 places for a prime, 10 for its square."""
    return {1: 1, 4: 10, 6: 16}.get(bound, 4)


machines: st.SearchStrategy[DataflowMachine] = st.builds(
    small_machine,
    rows=few,
    columns=st.sampled_from([1, 2, 4]),
    rf_bytes=st.sampled_from([4, 8, 12, 16, 16, 24, 32, 32]),
    rf=st.fixed_dictionaries({"double_buffered": st.booleans()}),
    spm=st.fixed_dictionaries(
        {"double_buffered": st.booleans(), "bytes": st.sampled_from([96, 128, 256, 256])}
    ),
    pe_array=st.fixed_dictionaries({"pipelined": st.booleans()}),
    noc=st.fixed_dictionaries({"reduction": st.sampled_from(["bus", "mesh"])}),
    dma=st.fixed_dictionaries({"initiation_cycles": st.sampled_from([0, 7, 291])}),
    rules=st.fixed_dictionaries(
        {
            "stored_extent": st.sampled_from(["declared", "touched"]),
            "partial_sums": st.sampled_from(["doubled", "first_visit_free"]),
            "energy": st.sampled_from(["rounded", "exact"]),
        }
    ),
)


@st.composite
def pins(draw: st.DrawFn, nest: LoopNest) -> Pins:
    """Nothing, a factor, the loops in space, the end of an order, or some of these; not all can be kept."""
    fixed = {}
    loop = st.sampled_from(nest.loops)
    if draw(st.integers(0, 7)) == 0:
        fixed[f"{draw(loop)}.{draw(st.sampled_from(LEVELS))}"] = str(draw(st.integers(1, 3)))
    if draw(st.integers(0, 11)) == 0:
        fixed["spatial"] = draw(loop) + draw(st.sampled_from(["", ",*"]))
    if draw(st.integers(0, 4)) == 0:
        named = draw(st.lists(loop, min_size=1, max_size=2, unique=True))
        fixed[f"order.{draw(st.sampled_from(ORDERED_LEVELS))}"] = ",".join(named)
    return Pins.parse(fixed, nest)


@st.composite
def problems(draw: st.DrawFn) -> TilingProblem:
    nest = draw(nests)
    return TilingProblem(nest, draw(machines), draw(st.sampled_from(OBJECTIVES)), draw(pins(nest)))
