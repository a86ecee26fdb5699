"""The referee of tiling: checks a mapping from the paper's rules, by itself [Dave2019, secs. 4.2.1 and 4.2.2].

It shares no code with the constraint program or the searches, and for feasibility none with the model: tiles
are measured at the corners of their index ranges, orders are judged by what dependent iterations they swap.
Only the cost comes from the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.tiling.cost import TilingCost, evaluate
from mapper.models.tiling.mapping import LEVELS, TilingMapping
from mapper.workloads.nest.loop_nest import AffineIndex, Operand

FACTORS = "factors multiply to the bound"
PADDING = "padding"
PES = "PEs"
RF_WORDS = "register file words"
SPM_BANKS = "scratch-pad banks"
SPACE = "sequential loop in space"
DEPENDENCE = "dependence order"
PINNED = "pinned decision"
LATENCY = "latency limit"
ARRAY_AXES = "array axes"
REDUCTION = "reduction along an axis"


def verify(problem: TilingProblem, mapping: TilingMapping) -> Verdict[TilingCost]:
    """Check ``mapping`` against every rule of ``problem`` and have the model recompute its cost.

    A mapping that breaks a capacity, an order or a pin is still costed.
    """
    broken = tuple(broken_whatever_it_costs(problem, mapping))
    if any(one.rule == FACTORS for one in broken):
        return Verdict(broken, None)
    cost = evaluate(problem.nest, problem.machine, mapping)
    return Verdict((*broken, *_latency(problem, cost)), cost)


def broken_whatever_it_costs(problem: TilingProblem, mapping: TilingMapping) -> Iterator[BrokenRule]:
    """The broken rules but for that on cycles, those first that are judged soonest."""
    wrong = tuple(_wrong_factors(problem, mapping))
    yield from wrong
    yield from _padding(problem, mapping)
    yield from _capacities(problem, mapping)
    yield from _array_axes(problem, mapping)
    yield from _sequential_loops(problem, mapping)
    if not wrong:
        yield from _dependences(problem, mapping)
    yield from _pins(problem, mapping)


def _wrong_factors(problem: TilingProblem, mapping: TilingMapping) -> Iterator[BrokenRule]:
    """N_SPATIAL * N_RF * N_SPM * N_DRAM = N, the padded bound where there is one; the size is the product minus the
    bound, in iterations."""
    padded = dict(mapping.padded)
    for (loop, own), factors in zip(problem.nest.bounds, mapping.factors, strict=True):
        bound = padded.get(loop, own)
        if math.prod(factors) != bound:
            yield BrokenRule(FACTORS, loop, math.prod(factors) - bound)


def _padding(problem: TilingProblem, mapping: TilingMapping) -> Iterator[BrokenRule]:
    """Bounds grow no further than the problem allows, and as far as it demands; the size is the difference to the
    nearest bound that is allowed."""
    allowed, padded = (
        {loop: (least, most) for loop, least, most in problem.padding.ranges},
        dict(mapping.padded),
    )
    for loop, own in problem.nest.bounds:
        bound = padded.get(loop, own)
        least, most = allowed.get(loop, (own, own))
        if not least <= bound <= most:
            yield BrokenRule(PADDING, loop, max(least - bound, bound - most))


def _capacities(problem: TilingProblem, mapping: TilingMapping) -> Iterator[BrokenRule]:
    """PEs, words of one register file, and whole banks of the visible scratch-pad; the size is the excess."""
    machine, operands = problem.machine, problem.nest.operands
    rf, array, spm = {}, {}, {}
    for loop, (_, at_spm, at_rf, in_space) in zip(problem.nest.loops, mapping.factors, strict=True):
        rf[loop], array[loop], spm[loop] = at_rf, in_space, at_rf * in_space * at_spm
    pes = math.prod(array.values())
    if pes > machine.pe_array.rows * machine.pe_array.columns:
        yield BrokenRule(PES, "PE array", pes - machine.pe_array.rows * machine.pe_array.columns)
    words = sum(_footprint(operand, rf) for operand in operands)
    if words * machine.word_bytes > machine.rf.bytes:
        yield BrokenRule(RF_WORDS, "register file", words - machine.rf.bytes // machine.word_bytes)
    sizes = [_footprint(operand, spm) * machine.word_bytes for operand in operands]
    taken = [size // machine.spm.bank_bytes + bool(size % machine.spm.bank_bytes) for size in sizes]
    halves = 2 if machine.spm.double_buffered else 1
    banks = machine.spm.bytes // halves // machine.spm.bank_bytes
    if sum(taken) > banks:
        yield BrokenRule(SPM_BANKS, "scratch-pad", sum(taken) - banks)


def _array_axes(problem: TilingProblem, mapping: TilingMapping) -> Iterator[BrokenRule]:
    """Where the machine tells rows from columns: what a loop has along both multiplies to what it has in space; the
    size is the product minus that. What stands along each axis has rules of its own."""
    loops = problem.nest.loops
    if not problem.machine.rules.array_axes:
        return
    if len(mapping.axes) != len(loops):
        yield BrokenRule(ARRAY_AXES, "PE array", len(loops) - len(mapping.axes))
        return
    for loop, factors, (along_rows, along_columns) in zip(loops, mapping.factors, mapping.axes, strict=True):
        if along_rows * along_columns != factors[3]:
            yield BrokenRule(ARRAY_AXES, loop, along_rows * along_columns - factors[3])
    array = problem.machine.pe_array
    for place, (axis, size) in enumerate((("rows", array.rows), ("columns", array.columns))):
        steps = {loop: row[place] for loop, row in zip(loops, mapping.axes, strict=True) if row[place] != 1}
        yield from _along(problem, axis, size, steps)


def _along(problem: TilingProblem, axis: str, size: int, steps: dict[str, int]) -> Iterator[BrokenRule]:
    """An axis has a PE for every step along it (the size is the excess), partial sums are added along axes that can
    (the steps), and the pinned loops run there (loops wrongly on the axis or not on it)."""
    if math.prod(steps.values()) > size:
        yield BrokenRule(ARRAY_AXES, axis, math.prod(steps.values()) - size)
    sums = [operand for operand in problem.nest.operands if operand.access == "read_write"]
    if axis not in problem.machine.pe_array.spatial_reduction:
        for loop, count in steps.items():
            if any(loop not in operand.loops for operand in sums):
                yield BrokenRule(REDUCTION, f"{loop} along {axis}", count)
    for pinned, names, others in problem.pins.axes:
        wrong = (names - set(steps)) | (set() if others else set(steps) - names)
        if pinned == axis and wrong:
            yield BrokenRule(PINNED, f"spatial.{axis}", len(wrong))


def _footprint(operand: Operand, tile: dict[str, int]) -> int:
    """Words between the least and the largest index of each dimension, over the corners of the tile."""
    words = 1
    for dimension in operand.index:
        corners = [_value(dimension, corner) for corner in _corners(dimension, tile)]
        words *= max(corners) - min(corners) + 1
    return words


def _corners(dimension: AffineIndex, tile: dict[str, int]) -> Iterator[dict[str, int]]:
    loops = [loop for loop, _ in dimension.coefficients]
    for ends in product(*((0, tile[loop] - 1) for loop in loops)):
        yield dict(zip(loops, ends, strict=True))


def _value(dimension: AffineIndex, point: dict[str, int]) -> int:
    return dimension.constant + sum(factor * point[loop] for loop, factor in dimension.coefficients)


def _sequential_loops(problem: TilingProblem, mapping: TilingMapping) -> Iterator[BrokenRule]:
    """A loop along which a dependence runs has one PE; the size is the PEs beyond it."""
    for position, loop in enumerate(problem.nest.loops):
        in_space = mapping.factors[position][LEVELS.index("spatial")]
        if in_space > 1 and any(vector[position] for vector in problem.nest.dependences):
            yield BrokenRule(SPACE, loop, in_space - 1)


def _dependences(problem: TilingProblem, mapping: TilingMapping) -> Iterator[BrokenRule]:
    """Every iteration x + d runs after x, for each distance vector d ([Dave2019, sec. 4.2.1], by its reference 28).

    The time of an iteration is its tile at DRAM, its tile at SPM and its place in the RF tile, each read
    along the order of that level. Only loops with a distance move, and each loop moves its three digits
    independently of the other loops, so x + d can run before x if and only if at some place of the order
    one loop can step back while no earlier place changes. The size is that step, in tiles or iterations.
    """
    nest = problem.nest
    for vector in nest.dependences:
        moves = [
            _digit_moves(distance, bound, factors)
            for distance, (_, bound), factors in zip(vector, nest.bounds, mapping.factors, strict=True)
        ]
        if not all(moves):
            continue  # no two iterations of the nest lie that far apart
        for level, order in enumerate((mapping.dram_order, mapping.spm_order, nest.loops)):
            worst = 0
            for loop in order:
                j = nest.loops.index(loop)
                worst = min([worst, *(move[level] for move in moves[j])])
                moves[j] = [move for move in moves[j] if move[level] == 0]
                if worst < 0 or not moves[j]:
                    break
            if worst < 0:
                text = ", ".join(str(distance) for distance in vector)
                yield BrokenRule(DEPENDENCE, f"({text}) at {LEVELS[level]} in {loop}", -worst)
            if worst < 0 or not moves[j]:
                break


def _digit_moves(distance: int, bound: int, factors: tuple[int, int, int, int]) -> list[tuple[int, int, int]]:
    """How the DRAM, SPM and RF digits of an index can change together when ``distance`` is added.

    PEs of one loop split the RF tiles among them in the order of the loop, as one digit with SPM would; a
    loop with a distance that stands in space is broken by another rule.
    """
    if abs(distance) >= bound:
        return []
    _, at_spm, at_rf, in_space = factors
    sign = -1 if distance < 0 else 1
    moves = []
    tiles, rf = divmod(abs(distance), at_rf)
    for carried, change in ((0, rf), (1, rf - at_rf)):
        if carried and not rf:
            continue  # the RF digit overflows only if it grows
        outer, spm = divmod(tiles + carried, at_spm * in_space)
        for again, step in ((0, spm), (1, spm - at_spm * in_space)):
            fits = outer + again < factors[0]
            if fits and (spm or not again):
                moves.append((sign * (outer + again), sign * step, sign * change))
    return moves


def _latency(problem: TilingProblem, cost: TilingCost) -> Iterator[BrokenRule]:
    """The layer takes no more than the cycles that it may; the size is the excess."""
    if problem.max_cycles is not None and cost.cycles > problem.max_cycles:
        yield BrokenRule(LATENCY, "cycles", cost.cycles - problem.max_cycles)


def _pins(problem: TilingProblem, mapping: TilingMapping) -> Iterator[BrokenRule]:
    """Pinned factors, the set of loops in space, and the innermost loops of an order.

    The size is the difference of a factor, the number of loops wrongly in or out of space, the number of
    innermost places that differ.
    """
    pins, loops = problem.pins, problem.nest.loops
    for loop, level, value in pins.factors:
        actual = mapping.factors[loops.index(loop)][LEVELS.index(level)]
        if actual != value:
            yield BrokenRule(PINNED, f"{loop}.{level}", abs(actual - value))
    if pins.spatial is not None:
        in_space = {loop for loop, row in zip(loops, mapping.factors, strict=True) if row[3] > 1}
        missing = pins.spatial - in_space
        extra = set() if pins.spatial_open else in_space - pins.spatial
        if missing or extra:
            yield BrokenRule(PINNED, "spatial", len(missing) + len(extra))
    for level, innermost in pins.orders:
        order = mapping.dram_order if level == "dram" else mapping.spm_order
        actual_end = order[len(order) - len(innermost) :]
        differing = sum(ours != theirs for ours, theirs in zip(actual_end, innermost, strict=True))
        if differing:
            yield BrokenRule(PINNED, f"order.{level}", differing)
