"""The referee of loop nests on a TCPA: tiles, schedule and transport by counts of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.pe_allocation.nest.cost import NestCost, evaluate
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.traffic import busiest_of_nest

TILED = "a tile holds between one iteration and all of each loop"
LAID_OUT = "only the loops on rows and columns have more than one tile, as many as the array has room for"
FEWEST = "no more PEs than there are"
UNITS = "a word takes no more units than a PE has in its cycles"
SUMMED = "a sum is ready, and over the links, when the next tile adds to it"
HANDED = "an input that several tiles read is over the link before the next one reads it"
STORED = "buffers hold all tensors"
GENERATED = "every stream from or to the outside has an address generator"
HELD = "no border PE is given more buffers than it reaches, one for each tensor"
CARRIED = "no link carries more words a cycle than it can"
PINNED = "pinned decisions are kept"
LINK, UNIT = 1, 1


def verify_nest(problem: NestProblem, mapping: NestMapping) -> Verdict[NestCost]:
    """Check ``mapping`` against every rule and have the model recompute its cost.

    Sizes are in iterations, tiles, PEs, operations, cycles, bytes or streams beyond the limit.
    """
    unreadable = tuple(_shaped(problem, mapping))
    if unreadable:
        return Verdict(unreadable, None)
    found = [*_units(problem, mapping), *_started(problem, mapping), *_limits(problem, mapping)]
    return Verdict((*found, *_pinned(problem, mapping)), evaluate(problem.nest, problem.grid, mapping))


def _shaped(problem: NestProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    nest, machine = problem.nest, problem.machine
    if mapping.loops != nest.loops or sorted(mapping.order) != sorted(nest.loops):
        yield BrokenRule(TILED, "loops", 1)
        return
    if mapping.rows is not None and mapping.rows == mapping.columns:
        yield BrokenRule(LAID_OUT, mapping.rows, 1)
    for loop, size in zip(nest.loops, mapping.tile, strict=True):
        bound = nest.trip_counts[loop]
        if not 1 <= size <= bound:
            yield BrokenRule(TILED, loop, max(1 - size, size - bound))
            continue
        room = {mapping.rows: machine.rows, mapping.columns: machine.columns}.get(loop, 1)
        if (bound + size - 1) // size > room:
            yield BrokenRule(LAID_OUT, loop, (bound + size - 1) // size - room)
    if mapping.interval < 1 or mapping.lanes < 1 or min(mapping.outer) < 0:
        yield BrokenRule(UNITS, "schedule", 1)


def _units(problem: NestProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    """Operations of a word against the units of a PE; no PE begins two words within an interval."""
    nest, units = problem.nest, problem.machine.functional_units
    reads = [operand for operand in nest.operands if not operand.writes]
    if nest.operation == "multiply_add":
        each, there = max(1, len(reads) - 1), units.convolution
    else:
        sums = any(operand.reads and operand.writes for operand in nest.operands)
        each, there = max(1, len(reads) - (0 if sums else 1)), units.elementwise
    if mapping.lanes > 1 and mapping.lanes * each > there:
        yield BrokenRule(UNITS, "lanes", mapping.lanes * each - there)
    if mapping.interval * there < each:
        yield BrokenRule(UNITS, "interval", each - mapping.interval * there)


def _counts(problem: NestProblem, mapping: NestMapping) -> dict[str | None, int]:
    """Tiles along each axis by its loop."""
    found: dict[str | None, int] = {None: 1}
    for loop in (mapping.rows, mapping.columns):
        if loop is not None:
            size = mapping.tile_of[loop]
            found[loop] = (problem.nest.trip_counts[loop] + size - 1) // size
    return found


def _started(problem: NestProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    """Tiles start when what they read from other PEs is there."""
    tiles = _counts(problem, mapping)
    target = next(operand for operand in problem.nest.operands if operand.writes)
    for loop in (mapping.rows, mapping.columns):
        if loop is None or tiles[loop] == 1:
            continue
        start = mapping.outer_of[loop]
        shared = [one.name for one in problem.nest.operands if one is not target and loop not in one.loops]
        if shared and start < LINK:
            yield BrokenRule(HANDED, f"{shared[0]} along {loop}", LINK - start)
    for place, early in _early_sums(problem, mapping, tiles):
        if early > 0:
            yield BrokenRule(SUMMED, place, early)


def _early_sums(
    problem: NestProblem, mapping: NestMapping, tiles: dict[str | None, int]
) -> Iterator[tuple[str, int]]:
    """By how many cycles tiles add too early, along the chain of tiles that a sum goes through: along the columns, then
    from row to row."""
    target = next(operand for operand in problem.nest.operands if operand.writes)
    chain = [
        (loop, axis)
        for axis, loop in enumerate((mapping.rows, mapping.columns))
        if loop is not None and tiles[loop] > 1 and loop not in target.loops
    ]
    for at, (loop, axis) in enumerate(chain):
        behind = chain[at + 1 :]
        begun = mapping.outer_of[loop] - sum(
            mapping.outer_of[other] * (tiles[other] - 1) for other, _ in behind
        )
        source, goal = [0, 0], [0, 0]
        goal[axis] = 1
        short: dict[str, int] = {}
        for other, along in behind:
            source[along] = tiles[other] - 1
            short[other] = problem.nest.trip_counts[other] - mapping.tile_of[other] * (tiles[other] - 1)
        links = problem.grid.between((source[0], source[1]), (goal[0], goal[1]))
        ready = _last_addition(problem, mapping, short) + UNIT + LINK * links
        yield f"{target.name} along {loop}", ready - begun


def _last_addition(problem: NestProblem, mapping: NestMapping, short: dict[str, int]) -> int:
    """Cycles from the first to the last addition to one sum within a tile, walking the loops from the innermost."""
    target = next(operand for operand in problem.nest.operands if operand.writes)
    step, last = mapping.interval, 0
    for place, loop in enumerate(reversed(mapping.order)):
        lanes = mapping.lanes if place == 0 else 1
        if loop not in target.loops:
            last += step * ((short.get(loop, mapping.tile_of[loop]) + lanes - 1) // lanes - 1)
        step *= (mapping.tile_of[loop] + lanes - 1) // lanes
    return last


def _limits(problem: NestProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    tiles = _counts(problem, mapping)
    pes = tiles[mapping.rows] * tiles[mapping.columns]
    if pes > problem.most_pes:
        yield BrokenRule(FEWEST, "array", pes - problem.most_pes)
    room = problem.most_bytes
    if room is not None and problem.bytes_needed > room:
        yield BrokenRule(STORED, "buffers", problem.bytes_needed - room)
    generators = problem.machine.border.address_generators
    if generators is not None:
        needed = 0
        for operand in problem.nest.operands:
            lines = 1
            for loop in (mapping.rows, mapping.columns):
                lines *= tiles[loop] if loop in operand.loops else 1
            both = operand.access == "read_write" and not operand.zero_initialised
            needed += 2 * lines if both else lines
        if needed > generators:
            yield BrokenRule(GENERATED, "border", needed - generators)
    most = problem.machine.link_words
    if most is not None:
        shape, inner = (tiles[mapping.rows], tiles[mapping.columns]), mapping.order[-1]
        axes, joined = (mapping.rows, mapping.columns), min(mapping.lanes, mapping.tile_of[inner])
        words = busiest_of_nest(problem.nest, problem.grid, axes, shape, inner, joined)
        if words > most:
            yield BrokenRule(CARRIED, "links", words - most)
    held = problem.machine.border.buffers
    if held is not None:
        fullest = max(map(len, _tensors_at(problem, mapping, tiles).values()))
        if fullest > held:
            yield BrokenRule(HELD, "border", fullest - held)


def _tensors_at(
    problem: NestProblem, mapping: NestMapping, tiles: Mapping[str | None, int]
) -> dict[tuple[int, int], set[str]]:
    """The tensors of which words go in or out at each border PE."""
    found: dict[tuple[int, int], set[str]] = {}
    for row, column in itertools.product(range(tiles[mapping.rows]), range(tiles[mapping.columns])):
        border = problem.grid.way_out((row, column))[-1]
        for operand in problem.nest.operands:
            begins = ends = True
            for loop, at in ((mapping.rows, row), (mapping.columns, column)):
                begins &= loop in operand.loops or at == 0
                ends &= loop in operand.loops or at == tiles[loop] - 1
            read = operand.access != "write" and not operand.zero_initialised
            enters = begins and (operand.access == "read" or read)
            if enters or (ends and operand.access != "read"):
                found.setdefault(border, set()).add(operand.tensor or operand.name)
    return found


def _pinned(problem: NestProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    pins = problem.pins
    for loop, size in pins.tile.items():
        if mapping.tile_of[loop] != size:
            yield BrokenRule(PINNED, f"{loop}.tile", abs(mapping.tile_of[loop] - size))
    if pins.order is not None and mapping.order != pins.order:
        yield BrokenRule(PINNED, "order", 1)
    for axis, pinned in pins.axes.items():
        if getattr(mapping, axis) != pinned:
            yield BrokenRule(PINNED, axis, 1)
