"""When and where every iteration begins, and what it executes then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.recurrence.body import Body
from mapper.workloads.recurrence.memory import Field
from mapper.workloads.recurrence.recurrence import Access, Recurrence

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """All iterations, one after another as the nest's loops run: their digits by loop, when each begins, and the row
    and column of its PE."""

    digits: dict[str, Numbers]
    begin: Numbers
    row: Numbers
    column: Numbers


@dataclass(frozen=True)
class Events:
    """Operations (and values handed on) in the order in which they happen: when, which program's which step, and for
    which iteration."""

    time: Numbers
    program: Numbers
    step: Numbers
    iteration: Numbers

    def groups(self) -> Numbers:
        """Where a run of the same step of a program in the same cycle begins, and the end."""
        same = np.ones(len(self.time), np.bool_)
        for key in (self.time, self.program, self.step):
            same[1:] &= key[1:] == key[:-1]
        same[:1] = False
        return np.append(np.flatnonzero(~same), len(self.time))


def plan_of(recurrence: Recurrence, mapping: NestMapping, fill: int) -> Plan:
    """Loops within a tile count in the order of the mapping, a step every interval; tiles start one after another."""
    sizes = [bound for _, bound in recurrence.bounds]
    grid = np.indices(sizes, np.int64).reshape(len(sizes), -1)
    digits = dict(zip(recurrence.loops, grid, strict=True))
    inside = {loop: digits[loop] % mapping.tile_of[loop] for loop in recurrence.loops}
    number = np.zeros(grid.shape[1], np.int64)
    for loop in mapping.order:
        number = number * mapping.tile_of[loop] + inside[loop]
    begin = fill + mapping.interval * number
    place = {loop: digits[loop] // mapping.tile_of[loop] for loop in recurrence.loops}
    for loop in recurrence.loops:
        begin = begin + mapping.outer_of[loop] * place[loop]
    none = np.zeros(grid.shape[1], np.int64)
    row, column = (none if loop is None else place[loop] for loop in (mapping.rows, mapping.columns))
    return Plan(digits, begin, row, column)


def executing(body: Body, plan: Plan) -> list[Numbers]:
    """For each program the iterations that execute it: of a tensor's alternatives the first that holds."""
    taken: dict[str, NDArray[np.bool_]] = {}
    found = []
    for program in body.programs:
        name = program.statement.target.tensor
        before = taken.get(name, np.zeros(len(plan.begin), np.bool_))
        holds = np.broadcast_to(body.recurrence.region(program.statement).holds(plan.digits), before.shape)
        found.append(np.flatnonzero(holds & ~before))
        taken[name] = before | holds
    return found


def events_of(body: Body, plan: Plan, iterations: list[Numbers]) -> Events:
    """Every step of every iteration; what is only handed on is a step of its own, after the operations before it.

    In a cycle, values that are handed on come first, as operations read them at once, and among themselves those of
    iterations that stand first in the nest.
    """
    columns: list[tuple[Numbers, Numbers, Numbers, Numbers]] = []
    for number, (program, at) in enumerate(zip(body.programs, iterations, strict=True)):
        for step in range(max(1, len(program.steps))):
            time = plan.begin[at] + program.begin + step
            columns.append((time, np.full(len(at), number), np.full(len(at), step), at))
    time, program_of, step_of, iteration = (np.concatenate(one) for one in zip(*columns, strict=True))
    computes = np.array([bool(program.steps) for program in body.programs])[program_of]
    turn = np.where(computes, 0, iteration)
    order = np.lexsort((step_of, program_of, turn, computes, time))
    return Events(time[order], program_of[order], step_of[order], iteration[order])


def first_reads(body: Body, plan: Plan, iterations: list[Numbers]) -> dict[Access, tuple[Numbers, Numbers]]:
    """The iterations that read each word, and in which cycle first."""
    found: dict[Access, Numbers] = {}
    never = np.iinfo(np.int64).max
    for program, at in zip(body.programs, iterations, strict=True):
        for access, operations in program.reads:
            time = found.setdefault(access, np.full(len(plan.begin), never))
            time[at] = np.minimum(time[at], plan.begin[at] + operations)
    return {access: (np.flatnonzero(time < never), time[time < never]) for access, time in found.items()}


def address(field: Field, access: Access, digits: dict[str, Numbers]) -> Numbers:
    """The word of its tensor that each iteration's access names."""
    found = np.zeros(len(next(iter(digits.values()))), np.int64)
    for one, low, extent in zip(access.index, field.low, field.shape, strict=True):
        index = np.full(len(found), one.constant - low, np.int64)
        for loop, factor in one.coefficients:
            index += factor * digits[loop]
        found = found * extent + index
    return found
