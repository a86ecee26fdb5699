"""A loop that a front end has lowered, before it becomes a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mapper.workloads.document import InputError
from mapper.workloads.loop.affine import ITERATION, Form, at, constant, plus, times
from mapper.workloads.loop.body import FORM, LoopBody, Value, integer
from mapper.workloads.loop.flat import Flat
from mapper.workloads.loop.kind import ArrayShape
from mapper.workloads.loop.reach import Reach


@dataclass
class LoweredLoop:
    """``variable``: the loop's, which steps by ``step``, None where it counts nothing. ``symbols``: the numbers that
    live-ins stand at, of which ``assumed`` are this project's choice. ``assumed_trips``: how often the loop runs with
    them. ``fault``: what is wrong with the loop, as an error that names its place. ``given``: of a loop that is
    started again and again with other numbers, the scalar behind each symbol. ``flat``: of two loops as one."""

    body: LoopBody
    variable: Value | None
    step: int
    symbols: dict[str, int]
    assumed: frozenset[str]
    trip_count: int | None
    assumed_trips: int | None
    arrays: dict[str, ArrayShape]
    fault: Callable[[str], InputError]
    reach: Reach = field(default_factory=Reach)
    notes: list[str] = field(default_factory=list)
    given: dict[str, str] = field(default_factory=dict)
    flat: Flat | None = None

    @property
    def aliases(self) -> frozenset[str]:
        """Arrays any two of which may lie in the same memory."""
        return frozenset(name for name, shape in self.arrays.items() if shape.aliases)

    def at(self, form: Form, iteration: int) -> Value:
        """What ``form`` is in ``iteration``: a number, and where starts differ the form that it comes from."""
        number = at(form, iteration, self.symbols)
        fixed = {term: factor for term, factor in form.items() if ITERATION not in term}
        for term, factor in form.items():
            if ITERATION in term:
                rest = tuple(name for name in term if name != ITERATION)
                power = iteration ** term.count(ITERATION)
                fixed = plus(fixed, times({rest: factor}, constant(power)) or {})
        if not self.given or not any(fixed.keys() - {()}):
            return integer(number)
        return Value("int", number=number, form=fixed, origin=(FORM, ()))

    def note(self, line: str) -> None:
        """Says, once, what was assumed."""
        if line not in self.notes:
            self.notes.append(line)
