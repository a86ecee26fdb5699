"""Small random nests, machines and pins for tilings, few enough mappings for all of them to be tried.

They draw what the formats allow, not what the searches expect: strides that leave gaps, indices that run backwards,
loops that stand in several dimensions, one to five operands, resources that are free, tied or dearer than everything
else together, decimals that no float holds, machines of one PE or of one word. Where it is left open, problems are
preferred on which two short heuristics end differently, so that one of them misses the optimum.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from mapper.arch.dataflow import DataflowMachine, dataflow_from_document
from mapper.formulations.tiling.problem import OBJECTIVES, Pins, TilingProblem
from mapper.models.tiling.bound import least_cycles
from mapper.models.tiling.mapping import AXES, LEVELS, ORDERED_LEVELS
from mapper.solver.method import Effort
from mapper.solver.tiling.heuristic.annealing import annealing
from mapper.solver.tiling.heuristic.random_search import random_search
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document
from tests.solver.tiling.small import machine_fields, recurrence

few = st.sampled_from([1, 2])
bounds = st.sampled_from([1, 2, 3, 4, 5, 6])
longer = st.sampled_from([8, 6, 4, 2, 3, 5, 7, 2, 4, 1])
MOST_TILINGS = 1600
"""Factorisations of all bounds together; each is tried under all its orders."""
MOST_LOOPS = 4
FACTORS = (1, 1, 1, 1, 2, 2, 3, 16, 100, -1, -1, -2, -16)
"""Of loops in an index: sliding, strided beyond the tile, and backwards."""
SHORT = annealing(250), random_search(250)


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


@st.composite
def affine_nests(draw: st.DrawFn) -> LoopNest:
    """Any nest of the format: one operand written, others read, each dimension a sum of loops or a constant."""
    loops = {name: draw(longer) for name in "IJKL"[: draw(st.sampled_from([3, 2, 3, 2, 4, 1, 3]))]}
    names = sorted(loops)
    kept = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    own = draw(st.permutations(names)) if draw(st.booleans()) else kept
    written = [[(loop, draw(st.sampled_from(FACTORS)))] for loop in own]
    whole = set(own) == set(names)
    access = draw(st.sampled_from(["write", "read_write"])) if whole else "read_write"
    operands: list[dict[str, Any]] = [
        {
            "tensor": "O",
            "index": [_sum(dimension) for dimension in written],
            "access": access,
            "zero_initialised": draw(st.booleans()),
        }
    ]
    for name in "ABCD"[: draw(st.sampled_from([1, 2, 2, 2, 3, 4]))]:
        rank = draw(st.integers(1, 3))
        terms = st.lists(st.tuples(st.sampled_from(names), st.sampled_from(FACTORS)), max_size=2)
        index = [_sum(draw(terms), draw(st.integers(-1, 1))) for _ in range(rank)]
        operands.append({"tensor": name, "index": index})
    document = {
        "schema": "mapper.nest/1",
        "name": "affine",
        "loops": loops,
        "operands": operands,
        "operation": draw(st.sampled_from(["multiply_add", "multiply_add", "add"])),
    }
    try:
        return nest_from_document(document, "affine")
    except InputError:  # a loop that no operand depends on
        assume(False)
        raise


def _sum(terms: list[tuple[str, int]], constant: int = 0) -> str:
    return " + ".join([f"{factor}*{loop}" for loop, factor in terms] + [str(constant)])


nests: st.SearchStrategy[LoopNest] = st.one_of(
    matrix_products(), convolutions(), recurrences, affine_nests(), affine_nests(), affine_nests()
).filter(lambda nest: math.prod(_tilings(bound) for _, bound in nest.bounds) <= MOST_TILINGS)


def _tilings(bound: int) -> int:
    """Ways to write ``bound``, at most 8, as a product of four: 4 places for a prime, 10 for its square."""
    return {1: 1, 4: 10, 6: 16, 8: 20}.get(bound, 4)


energies = st.sampled_from(
    [0.0, 0.1, 0.1, 0.06, 0.075, 1.0, 1.0, 2.0, 10.0, 13.5, 200.0, 1e6, 1e12, 1e-9, 0.3333333333333333]
)
"""Free, of tenths, tied, dear, dearer than all others together, and with more digits than sums of floats keep."""


@st.composite
def machines(draw: st.DrawFn, nest: LoopNest) -> DataflowMachine:
    """From one PE and one word upwards, with any prices and any network; most can hold a word of each operand."""
    word = draw(st.sampled_from([1, 2, 2]))
    width = st.sampled_from([1, 1, 2, 64])
    networks = [{"carries": "read", "width_words": draw(width)} for _ in range(draw(st.integers(1, 3)))]
    networks += [{"carries": "write", "width_words": draw(width)} for _ in range(draw(st.integers(1, 2)))]
    latency = st.sampled_from([1, 1, 2, 40, 1_000_003])
    least = len(nest.operands)
    held = draw(
        st.sampled_from([2 * least, 3 * least, least, 4 * least, 6 * least, least + 1, least + 2, 24, 1])
    )
    bank_bytes, doubled = word * draw(st.sampled_from([1, 8, 64])), draw(st.booleans())
    banks = draw(st.sampled_from([16, 2 * least, 64, least, 1024, least + 2, 16, 32, 1]))
    sections: dict[str, dict[str, Any]] = {
        "rf": {"double_buffered": draw(st.booleans())},
        "spm": {
            "double_buffered": doubled,
            "bytes": banks * bank_bytes * (2 if doubled else 1),
            "bank_bytes": bank_bytes,
        },
        "pe_array": {
            "pipelined": draw(st.booleans()),
            "latency_cycles": {"multiply": draw(latency), "add": draw(latency)},
        },
        "noc": {"reduction": draw(st.sampled_from(["bus", "mesh"])), "networks": networks},
        "dma": {
            "initiation_cycles": draw(st.sampled_from([0, 0, 0.1, 7, 291, 1e9])),
            "cycles_per_byte": draw(st.sampled_from([0, 0.1, 0.1, 0.24, 0.3, 1, 1e3])),
            "clock_mhz": draw(st.sampled_from([500, 3200, 7.3])),
        },
        "rules": {
            "timing": draw(st.sampled_from(["steady", "steady", "timeline"])),
            "stored_extent": draw(st.sampled_from(["declared", "touched"])),
            "partial_sums": draw(st.sampled_from(["doubled", "first_visit_free"])),
            "leaving_sums": draw(st.sampled_from(["exposed", "buffered"])),
            "energy": draw(st.sampled_from(["rounded", "exact"])),
        },
    }
    prices = {resource: draw(energies) for resource in ("mac", "add", "rf", "noc", "spm", "dram")}
    if draw(st.booleans()):
        prices = {"mac": 0.075, "add": 0.075, "rf": 0.06, "noc": 2.0, "spm": 4.0, "dram": 200.0}
    rows, columns = draw(st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 4), (3, 1), (2, 2), (4, 4)]))
    fields = machine_fields(rows, columns, held * word, **sections)
    return dataflow_from_document({**fields, "word_bytes": word, "energy_pj": prices}, "random machine")


@st.composite
def pins(draw: st.DrawFn, nest: LoopNest) -> Pins:
    """Nothing, a factor, the loops in space, the end of an order, or some of these; not all can be kept."""
    fixed: dict[str, str] = {}
    if draw(st.integers(0, 3)):
        return Pins.parse(fixed, nest)
    loop = st.sampled_from(nest.loops)
    if draw(st.integers(0, 2)) == 0:
        fixed[f"{draw(loop)}.{draw(st.sampled_from(LEVELS))}"] = str(draw(st.sampled_from([1, 1, 2, 3])))
    if draw(st.integers(0, 4)) == 0:
        fixed["spatial"] = draw(loop) + draw(st.sampled_from(["", ",*"]))
    if draw(st.booleans()):
        named = draw(st.lists(loop, min_size=1, max_size=2, unique=True))
        fixed[f"order.{draw(st.sampled_from(ORDERED_LEVELS))}"] = ",".join(named)
    return Pins.parse(fixed, nest)


@st.composite
def problems(draw: st.DrawFn) -> TilingProblem:
    """A problem, or the first of up to four that is not easy; some with a limit on latency, or on axes."""
    posed = draw(_problems())
    for _ in range(draw(st.sampled_from([3, 0, 3]))):
        if _misleads(posed):
            break
        posed = draw(_problems())
    if draw(st.integers(0, 4)) == 0:
        longest = least_cycles(posed.nest, posed.machine) * draw(st.sampled_from([30, 8, 100, 3, 1]))
        posed = replace(posed, max_cycles=longest + draw(st.sampled_from([0, 10, 1000])))
    return draw(on_axes(posed)) if draw(st.integers(0, 3)) == 0 else posed


@st.composite
def on_axes(draw: st.DrawFn, posed: TilingProblem) -> TilingProblem:
    """The problem on an array whose axes differ in what they add up and in what is pinned to them."""
    machine = posed.machine
    reduced = draw(st.sampled_from([("rows",), ("columns",), (), ("rows", "columns")]))
    parts = {
        "rules": machine.rules.model_copy(update={"array_axes": True}),
        "pe_array": machine.pe_array.model_copy(update={"spatial_reduction": reduced}),
    }
    if draw(st.booleans()):
        parts["noc"] = machine.noc.model_copy(update={"reduction": "systolic"})
    pinned = []
    for axis in AXES:
        if draw(st.integers(0, 4)) == 0:
            names = draw(st.lists(st.sampled_from(posed.nest.loops), max_size=2, unique=True))
            pinned.append((axis, frozenset(names), draw(st.booleans())))
    pins = replace(posed.pins, axes=tuple(pinned))
    return replace(posed, machine=machine.model_copy(update=parts), pins=pins)


@st.composite
def _problems(draw: st.DrawFn) -> TilingProblem:
    nest = draw(nests)
    try:
        return TilingProblem(nest, draw(machines(nest)), draw(st.sampled_from(OBJECTIVES)), draw(pins(nest)))
    except InputError:  # more cycles than are counted
        assume(False)
        raise


def _misleads(problem: TilingProblem) -> bool:
    """Whether two short searches that know nothing of the exact ones end at different values."""
    one, other = (method.search(problem, Effort()).value for method in SHORT)
    return one != other
