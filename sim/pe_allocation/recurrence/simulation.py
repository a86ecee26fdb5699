"""The array at work: every operation reads what is on its PE in its cycle.

A value is on the PE that computed it, and a link's cycle later on each neighbour after that. Words of the buffers
reach a PE as many cycles after the start as there are links to the border. Whoever reads before a value is there, or
issues more operations than there are units, is a violation; so is a PE that keeps more words than it has been given
registers for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mapper.models.pe_allocation.nest.cost import NestCost
from mapper.models.pe_allocation.nest.grid import Grid
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.recurrence.body import Body, Earlier, Source
from mapper.sim.pe_allocation.recurrence.link_load import LinkLoad
from mapper.sim.pe_allocation.recurrence.plan import (
    Events,
    address,
    events_of,
    executing,
    first_reads,
    plan_of,
)
from mapper.sim.pe_allocation.violation import Violation
from mapper.workloads.recurrence.memory import fields_of
from mapper.workloads.recurrence.recurrence import Access

Numbers = NDArray[np.int64]
LINK = UNIT = 1
EARLY = "a value is read before it is computed, or over the links"
UNSENT = "a word of the buffers is read before it has come"
CROWDED = "more operations in a cycle than units"
FULL = "more values wait at a PE than there are registers for"
NARROW = "more words cross a link in a cycle than it carries"


@dataclass
class RecurrenceRun:
    """What came out by tensor; the cycle at which the last result was back in a buffer, PEs that worked, operations
    executed, words that waited at a PE at the most, and what went wrong."""

    results: dict[str, Numbers]
    cycles: int = 0
    pes: int = 0
    operations: int = 0
    registers: int = 0
    violations: list[Violation] = field(default_factory=list)


class Array:
    """The PEs, and of every word that is written its value, when it was there and where."""

    def __init__(
        self, body: Body, grid: Grid, mapping: NestMapping, cost: NestCost, first: dict[str, Numbers]
    ) -> None:
        self.body, self.grid, self.mapping, self.cost = body, grid, mapping, cost
        self.recurrence = body.recurrence
        self.plan = plan_of(self.recurrence, mapping, cost.fill)
        self.pe = self.plan.row * grid.machine.columns + self.plan.column
        self.fields = fields_of(self.recurrence)
        self.words = {name: values.reshape(-1).copy() for name, values in first.items()}
        self.iterations = executing(body, self.plan)
        self.events = events_of(body, self.plan, self.iterations)
        self.ready = {name: np.full(one.words, -1, np.int64) for name, one in self.fields.items()}
        self.holder = {name: np.zeros(one.words, np.int64) for name, one in self.fields.items()}
        self.expected = {name: np.zeros(one.words, np.bool_) for name, one in self.fields.items()}
        self.hops = self._hops()
        self.found: dict[tuple[str, str], list[int]] = {}
        self.run = RecurrenceRun({})

    def work(self) -> RecurrenceRun:
        """All events in their order, and then what can be counted of all of them together."""
        known: dict[Access, Numbers] = {}
        for program, at in zip(self.body.programs, self.iterations, strict=True):
            for access in (program.statement.target, *program.statement.reads):
                if access not in known:
                    known[access] = address(self.fields[access.tensor], access, self.plan.digits)
            target = program.statement.target
            self.expected[target.tensor][known[target][at]] = True
        results = [
            np.zeros((max(1, len(one.steps)), len(self.plan.begin)), np.int64) for one in self.body.programs
        ]
        with np.errstate(over="ignore"):
            for begin, end in pairwise(self.events.groups().tolist()):
                self._execute(begin, end, known, results)
        self._check_inputs(known)
        self._check_units(self.events)
        self._check_registers(known)
        self._check_links(known)
        self._finish()
        return self.run

    def _execute(self, begin: int, end: int, known: dict[Access, Numbers], results: list[Numbers]) -> None:
        """One step of a program in one cycle, on all PEs that execute it then."""
        number, place = int(self.events.program[begin]), int(self.events.step[begin])
        time, at = int(self.events.time[begin]), self.events.iteration[begin:end]
        program = self.body.programs[number]

        def value(source: Source) -> Numbers:
            if isinstance(source, int):
                return np.full(len(at), source, np.int64)
            if isinstance(source, Earlier):
                return np.asarray(results[number][source.step][at])
            return self._read(source, known[source][at], time, at)

        if program.steps:
            step = program.steps[place]
            result = _operation(step.operator, [value(source) for source in step.sources])
            self.run.operations += len(at)
            there = time + UNIT
        else:
            result, there = value(program.result), time
        results[number][place][at] = result
        if place + 1 >= len(program.steps):
            name = program.statement.target.tensor
            words = known[program.statement.target][at]
            self.words[name][words] = result
            self.ready[name][words] = there
            self.holder[name][words] = self.pe[at]

    def _read(self, access: Access, words: Numbers, time: int, at: Numbers) -> Numbers:
        """What is on the PEs of these iterations, and whether it is there already."""
        name = access.tensor
        ready = self.ready[name][words]
        written = self.expected[name][words]
        moved = ready + LINK * self.hops[self.holder[name][words], self.pe[at]]
        early = written & ((ready < 0) | (moved > time))
        if early.any():
            late = int((moved - time)[early & (ready >= 0)].max(initial=1))
            self._violated(EARLY, str(access), int(early.sum()), late, time)
        return np.asarray(self.words[name][words])

    def entry(self, access: Access, row: Numbers, column: Numbers) -> list[int | None]:
        """The first row and the first column that read an input, where tiles hand it on; None where each has its
        own."""
        found: list[int | None] = []
        for loop, place in ((self.mapping.rows, row), (self.mapping.columns, column)):
            own = loop is None or loop in access.loops or access.tensor in self.recurrence.alternatives
            found.append(None if own else int(place.min()))
        return found

    def _check_inputs(self, known: dict[Access, Numbers]) -> None:
        """Words of the buffers have come to the tile where they enter, and each tile that has them next is a link
        away."""
        for access, (at, time) in first_reads(self.body, self.plan, self.iterations).items():
            outside = ~self.expected[access.tensor][known[access][at]]
            if access.tensor in self.recurrence.local or not outside.any():
                continue
            at, sent = at[outside], time[outside].copy()
            places = [self.plan.row[at], self.plan.column[at]]
            late = np.zeros(len(at), np.int64)
            loops = (self.mapping.rows, self.mapping.columns)
            for axis, begin in enumerate(self.entry(access, places[0], places[1])):
                loop = loops[axis]
                if begin is not None and loop is not None:
                    after = self.mapping.outer_of[loop]
                    late = np.maximum(late, np.where(places[axis] > begin, LINK - after, 0))
                    sent -= after * (places[axis] - begin)
                    places[axis] = np.full(len(at), begin)
            late = np.maximum(late, LINK * self.grid.to_border[places[0], places[1]] - sent)
            if (late > 0).any():
                first = int(time[outside][late > 0].min())
                self._violated(UNSENT, str(access), int((late > 0).sum()), int(late.max()), first)

    def _hops(self) -> Numbers:
        """Links between any two PEs that work."""
        columns = self.grid.machine.columns
        count = int(self.pe.max()) + 1
        found = np.zeros((count, count), np.int64)
        for one in np.unique(self.pe).tolist():
            for other in np.unique(self.pe).tolist():
                if one != other:
                    found[one, other] = self.grid.between(divmod(one, columns), divmod(other, columns))
        return found

    def _check_units(self, events: Events) -> None:
        counted = np.array([bool(program.steps) for program in self.body.programs])[events.program]
        slots = events.time[counted] * self.hops.shape[0] + self.pe[events.iteration[counted]]
        if not len(slots):
            return
        _, counts = np.unique(slots, return_counts=True)
        units = self.grid.machine.functional_units
        multiplies = any("*" in step.operator for one in self.body.programs for step in one.steps)
        there = units.convolution if multiplies else units.elementwise
        if int(counts.max()) > there:
            self._violated(CROWDED, "units", int((counts > there).sum()), int(counts.max()) - there, 0)

    def _check_registers(self, known: dict[Access, Numbers]) -> None:
        """A value waits at its reader from when it has come until it is read last; it is one word for all operations
        of an iteration that read it from the same distance."""
        waits: dict[tuple[str, tuple[int, ...]], Numbers] = {}
        come: dict[tuple[str, tuple[int, ...]], Numbers] = {}
        for program, at in zip(self.body.programs, self.iterations, strict=True):
            for access, operations in program.reads:
                distance = self.recurrence.distance(access)
                if distance is None or not self.recurrence.carried(distance):
                    continue
                words = known[access][at]
                there = self.expected[access.tensor][words]
                reader, words = at[there], words[there]
                key = access.tensor, distance
                last = waits.setdefault(key, np.full(len(self.plan.begin), -1, np.int64))
                last[reader] = np.maximum(last[reader], self.plan.begin[reader] + operations * UNIT)
                links = self.hops[self.holder[access.tensor][words], self.pe[reader]]
                arrived = come.setdefault(key, np.full(len(self.plan.begin), -1, np.int64))
                arrived[reader] = self.ready[access.tensor][words] + LINK * links
        changes: list[tuple[Numbers, Numbers, Numbers]] = []
        for key, last in waits.items():
            reading = np.flatnonzero(last >= 0)
            one = np.ones(len(reading), np.int64)
            changes.append((self.pe[reading], come[key][reading], one))
            changes.append((self.pe[reading], last[reading] + 1, -one))
        if not changes:
            return
        pe, time, change = (np.concatenate(one) for one in zip(*changes, strict=True))
        order = np.lexsort((change, time, pe))
        held = np.cumsum(change[order])
        self.run.registers = int(held.max(initial=0))
        if self.run.registers > self.cost.registers:
            self._violated(FULL, "registers", 1, self.run.registers - self.cost.registers, 0)

    def _check_links(self, known: dict[Access, Numbers]) -> None:
        most = self.grid.machine.link_words
        if most is not None:
            words = LinkLoad(self).most(known)
            if words > most:
                self._violated(NARROW, "links", 1, words - most, 0)

    def _finish(self) -> None:
        """Results leave over the links from the PEs that wrote them."""
        columns = self.grid.machine.columns
        for name in self.recurrence.results:
            done = self.ready[name] >= 0
            row, column = np.divmod(self.holder[name][done], columns)
            back = self.ready[name][done] + LINK * self.grid.to_border[row, column]
            self.run.cycles = max(self.run.cycles, int(back.max(initial=0)))
            self.run.results[name] = self.words[name].reshape(self.fields[name].shape)
        self.run.pes = len(np.unique(self.pe))
        for (rule, place), (times, size, cycle) in self.found.items():
            self.run.violations.append(Violation(rule, place, cycle, times, size))

    def _violated(self, rule: str, place: str, times: int, size: int, cycle: int) -> None:
        before = self.found.get((rule, place), [0, 0, cycle])
        self.found[rule, place] = [before[0] + times, max(before[1], size), before[2]]


def _operation(operator: str, values: list[Numbers]) -> Numbers:
    match operator:
        case "+":
            return values[0] + values[1]
        case "-":
            return values[0] - values[1]
        case "*":
            return values[0] * values[1]
        case "+ *":
            return values[0] + values[1] * values[2]
        case "- *":
            return values[0] - values[1] * values[2]
        case "min":
            return np.minimum(values[0], values[1])
    return np.maximum(values[0], values[1])
