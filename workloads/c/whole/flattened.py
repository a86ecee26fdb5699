"""A loop around an innermost one as one loop with it: both variables move on by selects."""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from mapper.workloads.c.file import LOOPS, Loop, LoopPlace
from mapper.workloads.c.loop import LoopHeader, followers, header_of
from mapper.workloads.c.name import assigned, ends, has, names_in
from mapper.workloads.c.way import ASSUMED_INTEGER
from mapper.workloads.c.whole.started import StartedLoop
from mapper.workloads.loop.affine import symbol
from mapper.workloads.loop.body import LoopBody, Node, Value, integer
from mapper.workloads.loop.flat import Flat
from mapper.workloads.loop.kind import opcode
from mapper.workloads.loop.lowered import LoweredLoop

PASSES = frozenset({"entry", "merging"})
"""Those that need not know how indices move from iteration to iteration."""
LEAST_TRIPS, MOST_TRIPS = 2, 1 << 16
"""Of the inner loop."""


def inner_of(loop: Loop) -> c_ast.For | None:
    """The innermost loop that is all there is in ``loop``."""
    inner = loop.stmt
    while isinstance(inner, c_ast.Compound) and len(inner.block_items or []) == 1:
        inner = inner.block_items[0]
    alone = isinstance(loop, c_ast.For) and isinstance(inner, c_ast.For) and not has(inner.stmt, LOOPS)
    return inner if alone else None


class FlattenedLoop(StartedLoop):
    """Lowers two loops as one. The place's loop is the outer one. ``inner_header``: the inner loop's."""

    def __init__(self, place: LoopPlace, passes: frozenset[str], middle: bool = False,
                 least: int = ASSUMED_INTEGER) -> None:  # fmt: skip
        self.inner_header: LoopHeader | None = None
        self.flat: Flat | None = None
        super().__init__(place, passes, middle, least)

    @property
    def lowered(self) -> LoweredLoop:
        return replace(super().lowered, variable=None, trip_count=None, flat=self.flat)

    def loop(self) -> None:
        """Lowers both loops.

        Raises: InputError if the inner loop's iterations are no number, or change.
        """
        outer = self.place_of_loop.loop
        inner = inner_of(outer)
        assert inner is not None
        self._begin(outer)
        headers = self._headers(outer, inner)
        if headers is None or ends(inner.stmt):
            raise self.fault(outer, "is no loop that is counted around one with a number of iterations")
        first, second = headers
        self.header, self.inner_header = headers
        self._enter(len(self.body.nodes))
        self.inside = True
        changed = (self._changed(inner.stmt) & self.scalars.keys()) - {first.variable, second.variable}
        self._move(first, second)
        phis: dict[str, int] = {}
        for name in sorted(changed):
            found = self.scalars[name]
            phis[name], self.scalars[name] = self.body.carried(name, self._kind(name, found), found)
        self._iteration(inner, [], True)
        for name, phi in phis.items():
            self.body.nodes[phi].final = self.scalars[name]
        self._keep(outer, phis)

    def _headers(self, outer: c_ast.For, inner: c_ast.For) -> tuple[LoopHeader, LoopHeader] | None:
        """Both headers, if the outer loop is counted and the inner one's iterations are a number."""
        self._start(outer)
        for name in sorted(names_in(outer) & self.scalars.keys()):
            if self.scalars[name] is None:
                self._assume(name)
        first = header_of(outer, self, self._changed(outer.stmt))
        self._start(inner)
        second = header_of(inner, self, self._changed(inner.stmt))
        plain = all(len(followers(one)) == 1 for one in (outer, inner))
        begins = all(len(assigned(one.init)) == 1 for one in (outer, inner) if one.init is not None)
        if first is None or second is None or not plain or not begins or not second.known:
            return None
        if first.bound.node is not None or first.start.node is not None:
            return None
        return (first, second) if LEAST_TRIPS <= (second.runs or 0) <= MOST_TRIPS else None

    def _move(self, outer: LoopHeader, inner: LoopHeader) -> None:
        """The variables in each iteration. The inner one is chosen two iterations ahead, so that no recurrence is
        longer than an operation in an iteration; the outer one moves on after the inner one's last number."""
        body: LoopBody = self.body
        kind, step, trips = inner.start.kind, inner.step, inner.runs or 0
        start = int(inner.start.number)
        now = Node("phi", (), kind, label=inner.variable, initial=integer(start, kind))
        after = Node("phi", (), kind, label=inner.variable, initial=integer(start + step, kind))
        body.nodes += [now, after]
        place = len(body.nodes) - 2
        marks = f"{outer.variable}#outer", f"{inner.variable}#inner"
        here = Value(kind, place, form=symbol(marks[1]))
        now.final = Value(kind, place + 1)
        beyond = body.operation(
            opcode("ge" if step > 0 else "le", kind), (here, integer(start + (trips - 2) * step, kind)), "int"
        )
        again = body.operation(opcode("add", kind), (here, integer((2 - trips) * step, kind)), kind)
        on = body.operation(opcode("add", kind), (here, integer(2 * step, kind)), kind)
        after.final = replace(body.select(beyond, again, on), form=None)
        last = body.operation(opcode("eq", kind), (here, integer(start + (trips - 1) * step, kind)), "int")
        self.scalars[inner.variable] = here
        kind = outer.start.kind
        phi = Node("phi", (), kind, label=outer.variable, initial=outer.start)
        body.nodes.append(phi)
        found = Value(kind, len(body.nodes) - 1, form=symbol(marks[0]))
        move = body.select(last, integer(outer.step, kind), integer(0, kind))
        phi.final = body.operation(opcode("add", kind), (found, move), kind)
        self.scalars[outer.variable] = found
        self.symbols |= {marks[0]: int(outer.start.number), marks[1]: start}
        self.flat = Flat(*marks, outer.step, step, trips)
