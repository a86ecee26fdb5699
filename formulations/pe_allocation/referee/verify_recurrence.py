"""The referee of recurrences on a TCPA: tiles, schedule and transport by counts of its own.

It follows single iterations: where each value that is read has been computed, on which PE and when.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.formulations.pe_allocation.referee.verify_nest import (
    CARRIED,
    FEWEST,
    GENERATED,
    HANDED,
    HELD,
    LAID_OUT,
    PINNED,
    STORED,
    TILED,
    UNITS,
)
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.pe_allocation.nest.cost import NestCost
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.recurrence.cost import evaluate
from mapper.models.pe_allocation.recurrence.traffic import busiest_link, fullest_border
from mapper.workloads.recurrence.recurrence import Access, Operation, Statement, Term

NEIGHBOUR = "a value goes no further than to the next tile"
COMPUTED = "a value is computed, and over the links, when it is read"
LINK, UNIT = 1, 1


def verify_recurrence(problem: RecurrenceProblem, mapping: NestMapping) -> Verdict[NestCost]:
    """Check ``mapping`` against every rule and have the model recompute its cost.

    Sizes are in iterations, tiles, PEs, operations, cycles, bytes or streams beyond the limit.
    """
    unreadable = tuple(_shaped(problem, mapping))
    if unreadable:
        return Verdict(unreadable, None)
    far = tuple(_far(problem, mapping))
    if far:
        return Verdict(far, None)
    cost = evaluate(problem.body, problem.grid, mapping)
    found = [*_units(problem, mapping), *_read(problem, mapping), *_handed(problem, mapping)]
    return Verdict((*found, *_limits(problem, mapping, cost), *_pinned(problem, mapping)), cost)


def _shaped(problem: RecurrenceProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    recurrence, machine = problem.recurrence, problem.machine
    if mapping.loops != recurrence.loops or sorted(mapping.order) != sorted(recurrence.loops):
        yield BrokenRule(TILED, "loops", 1)
        return
    if mapping.rows is not None and mapping.rows == mapping.columns:
        yield BrokenRule(LAID_OUT, mapping.rows, 1)
    for loop, size in zip(recurrence.loops, mapping.tile, strict=True):
        bound = recurrence.trip_counts[loop]
        if not 1 <= size <= bound:
            yield BrokenRule(TILED, loop, max(1 - size, size - bound))
            continue
        room = {mapping.rows: machine.rows, mapping.columns: machine.columns}.get(loop, 1)
        if (bound + size - 1) // size > room:
            yield BrokenRule(LAID_OUT, loop, (bound + size - 1) // size - room)
    if mapping.interval < 1 or mapping.lanes != 1 or min(mapping.outer) < 0:
        yield BrokenRule(UNITS, "schedule", 1)


def _operations(term: Term) -> list[tuple[str, list[Term]]]:
    """The operations of a term in the order in which they run, each with what it reads; a product that is added or
    taken away belongs to the addition."""
    if not isinstance(term, Operation):
        return []
    left, right = term.left, term.right
    if term.operator in ("+", "-"):
        swapped = term.operator == "+" and not _product(right) and _product(left)
        whole, part = (right, left) if swapped else (left, right)
        if isinstance(part, Operation) and _product(part):
            inside = [whole, part.left, part.right]
            return [*(one for each in inside for one in _operations(each)), ("multiply and add", inside)]
    return [*_operations(left), *_operations(right), (term.operator, [left, right])]


def _product(term: Term) -> bool:
    return isinstance(term, Operation) and term.operator == "*"


def _timed(
    problem: RecurrenceProblem,
) -> tuple[dict[str, int], list[tuple[Statement, Access, int]], int, bool]:
    """When an iteration has each value, when each statement reads each word, operations in all, and whether any of them
    multiplies; in cycles from the iteration's begin."""
    ready: dict[str, int] = {}
    read: list[tuple[Statement, Access, int]] = []
    clock, multiplies = 0, False
    for name, statements in problem.recurrence.alternatives.items():
        lists = [_operations(statement.value) for statement in statements]
        clock += UNIT * max(len(one) for one in lists)
        ready[name] = clock
        for statement, operations in zip(statements, lists, strict=True):
            if isinstance(statement.value, Access):
                read.append((statement, statement.value, clock))
            for place, (kind, terms) in enumerate(operations):
                multiplies |= kind in ("*", "multiply and add")
                when = clock - UNIT * (len(operations) - place)
                read += [(statement, term, when) for term in terms if isinstance(term, Access)]
    return ready, read, clock // UNIT, multiplies


def _steps(mapping: NestMapping) -> dict[str, int]:
    """Cycles from one iteration of each loop to the next in a tile."""
    found, cycles = {}, mapping.interval
    for loop in mapping.order[::-1]:
        found[loop] = cycles
        cycles *= mapping.tile_of[loop]
    return found


def _distance(problem: RecurrenceProblem, access: Access) -> dict[str, int] | None:
    """Iterations of each loop since a word was written; None if no iteration writes it."""
    writers = problem.recurrence.alternatives.get(access.tensor)
    if writers is None:
        return None
    found = {}
    for wrote, reads in zip(writers[0].target.index, access.index, strict=True):
        found[wrote.coefficients[0][0]] = wrote.constant - reads.constant
    if any(abs(found[loop]) >= bound for loop, bound in problem.recurrence.bounds):
        return None
    return found


def _ways(
    problem: RecurrenceProblem, mapping: NestMapping, distance: dict[str, int]
) -> Iterator[dict[str, int]]:
    """How many tiles on the reader of a value is along the loops that are laid out, for all iterations of all tiles."""
    laid_out = [loop for loop in (mapping.rows, mapping.columns) if loop is not None]
    choices = []
    for loop in laid_out:
        bound, size, step = problem.recurrence.trip_counts[loop], mapping.tile_of[loop], distance[loop]
        # What lies a tile away repeats from tile to tile, so that the first two and the last two tell of all.
        near = {
            *range(min(bound, 2 * size + abs(step))),
            *range(max(0, bound - 2 * size - abs(step)), bound),
        }
        choices.append(sorted({(at + step) // size - at // size for at in near if 0 <= at + step < bound}))
    for ways in product(*choices):
        yield dict(zip(laid_out, ways, strict=True))


def _far(problem: RecurrenceProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    for access in sorted({one for _, one, _ in _timed(problem)[1]}, key=str):
        distance = _distance(problem, access)
        if distance is not None:
            for way in _ways(problem, mapping, distance):
                most = max((abs(tiles) for tiles in way.values()), default=0)
                if most > 1:
                    yield BrokenRule(NEIGHBOUR, str(access), most - 1)
                    break


def _units(problem: RecurrenceProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    _, _, operations, multiplies = _timed(problem)
    units = problem.machine.functional_units
    there = units.convolution if multiplies else units.elementwise
    if mapping.interval * there < operations:
        yield BrokenRule(UNITS, "interval", operations - mapping.interval * there)


def _read(problem: RecurrenceProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    """Every value is there when an iteration reads it, wherever the two stand in their tiles."""
    ready, read, _, _ = _timed(problem)
    steps = _steps(mapping)
    for _, access, when in read:
        distance = _distance(problem, access)
        if distance is None or not any(distance.values()):
            continue
        late = 0
        for way in _ways(problem, mapping, distance):
            begun = sum(steps[loop] * step for loop, step in distance.items())
            for loop, tiles in way.items():
                begun += tiles * (mapping.outer_of[loop] - steps[loop] * mapping.tile_of[loop])
            down, across = (way.get(loop, 0) if loop else 0 for loop in (mapping.rows, mapping.columns))
            hops = 0
            if down or across:
                here = (1 if down < 0 else 0, 1 if across < 0 else 0)
                hops = problem.grid.between(here, (here[0] + down, here[1] + across))
            late = max(late, ready[access.tensor] + LINK * hops - begun - when)
        if late:
            yield BrokenRule(COMPUTED, str(access), late)


def _span(problem: RecurrenceProblem, access: Access, loop: str) -> tuple[int, int]:
    """The least and the greatest iteration of a loop in which conditions on it alone let a word be read."""
    least, most = problem.recurrence.trip_counts[loop], -1
    for statement in problem.recurrence.statements:
        if access in statement.reads:
            low, high = 0, problem.recurrence.trip_counts[loop] - 1
            for limit in statement.limits:
                if (limit.loop, limit.other) == (loop, ""):
                    high = min(high, limit.most)
                if (limit.loop, limit.other) == ("", loop):
                    low = max(low, -limit.most)
            least, most = min(least, low), max(most, high)
    return least, most


def _handed(problem: RecurrenceProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    """Words that tiles share are over the link before the next tile reads them."""
    inputs = {
        access for _, access, _ in _timed(problem)[1] if access.tensor not in problem.recurrence.alternatives
    }
    for loop in (mapping.rows, mapping.columns):
        if loop is None:
            continue
        for access in sorted(inputs, key=str):
            low, high = _span(problem, access, loop)
            several = low // mapping.tile_of[loop] < high // mapping.tile_of[loop]
            if several and loop not in access.loops and mapping.outer_of[loop] < LINK:
                yield BrokenRule(HANDED, f"{access} along {loop}", LINK - mapping.outer_of[loop])
                break


def _limits(problem: RecurrenceProblem, mapping: NestMapping, cost: NestCost) -> Iterator[BrokenRule]:
    pes = 1
    for loop in (mapping.rows, mapping.columns):
        if loop is not None:
            pes *= (problem.recurrence.trip_counts[loop] + mapping.tile_of[loop] - 1) // mapping.tile_of[loop]
    if pes > problem.most_pes:
        yield BrokenRule(FEWEST, "array", pes - problem.most_pes)
    room = problem.most_bytes
    if room is not None and problem.bytes_needed > room:
        yield BrokenRule(STORED, "buffers", problem.bytes_needed - room)
    generators = problem.machine.border.address_generators
    if generators is not None and cost.streams > generators:
        yield BrokenRule(GENERATED, "border", cost.streams - generators)
    most = problem.machine.link_words
    if most is not None:
        axes = (mapping.rows, mapping.columns)
        words = busiest_link(problem.body, problem.grid, axes, mapping.tile_of, mapping.interval)
        if words > most:
            yield BrokenRule(CARRIED, "links", words - most)
    held = problem.machine.border.buffers
    if held is not None:
        fullest = fullest_border(problem.body, problem.grid, (mapping.rows, mapping.columns), mapping.tile_of)
        if fullest > held:
            yield BrokenRule(HELD, "border", fullest - held)


def _pinned(problem: RecurrenceProblem, mapping: NestMapping) -> Iterator[BrokenRule]:
    pins = problem.pins
    for loop, size in pins.tile.items():
        if mapping.tile_of[loop] != size:
            yield BrokenRule(PINNED, f"{loop}.tile", abs(mapping.tile_of[loop] - size))
    if pins.order is not None and mapping.order != pins.order:
        yield BrokenRule(PINNED, "order", 1)
    for axis, pinned in pins.axes.items():
        if getattr(mapping, axis) != pinned:
            yield BrokenRule(PINNED, axis, 1)
