"""A loop around an innermost one as one loop with it: both variables move on by selects.

What stands before the inner loop is done in the first iteration of each of its runs, and what stands after it in the
last one, by predicates.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pycparser import c_ast

from mapper.workloads.c.file import LOOPS, Loop, LoopPlace
from mapper.workloads.c.loop import LoopHeader, followers, header_of
from mapper.workloads.c.name import assigned, ends, has, names_in
from mapper.workloads.c.type import underlying
from mapper.workloads.c.way import ASSUMED_INTEGER
from mapper.workloads.c.whole.started import StartedLoop
from mapper.workloads.loop.affine import symbol
from mapper.workloads.loop.body import LoopBody, Node, Value, integer, zero
from mapper.workloads.loop.flat import Flat
from mapper.workloads.loop.kind import opcode
from mapper.workloads.loop.lowered import LoweredLoop

PASSES = frozenset({"entry", "merging"})
"""Those that need not know how indices move from iteration to iteration."""
LEAST_TRIPS, MOST_TRIPS = 2, 1 << 16
"""Of the inner loop."""


JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Return, c_ast.Goto, c_ast.Label)
Nodes = list[c_ast.Node]


def parts_of(loop: Loop) -> tuple[Nodes, c_ast.For, Nodes] | None:
    """The innermost loop that is the only one in ``loop``, with the statements before and after it."""
    found: list[c_ast.Node] = [loop.stmt]
    while len(found) == 1 and isinstance(found[0], c_ast.Compound):
        found = list(found[0].block_items or [])
    looping = [at for at, one in enumerate(found) if has(one, LOOPS)]
    if not isinstance(loop, c_ast.For) or len(looping) != 1:
        return None
    at = looping[0]
    inner = found[at]
    if not isinstance(inner, c_ast.For) or has(inner.stmt, LOOPS):
        return None
    return found[:at], inner, found[at + 1 :]


def inner_of(loop: Loop) -> c_ast.For | None:
    """The innermost loop that is the only one in ``loop``, and no part of another statement there."""
    parts = parts_of(loop)
    return None if parts is None else parts[1]


class FlattenedLoop(StartedLoop):
    """Lowers two loops as one. The place's loop is the outer one. ``inner_header``: the inner loop's;
    ``inside_alone``: scalars that the outer loop declares."""

    def __init__(self, place: LoopPlace, passes: frozenset[str], middle: bool = False,
                 least: int = ASSUMED_INTEGER) -> None:  # fmt: skip
        self.inner_header: LoopHeader | None = None
        self.flat: Flat | None = None
        self.inside_alone: frozenset[str] = frozenset()
        super().__init__(place, passes, middle, least)

    @property
    def lowered(self) -> LoweredLoop:
        return replace(super().lowered, variable=None, trip_count=None, flat=self.flat)

    def loop(self) -> None:
        """Lowers both loops.

        Raises: InputError if the inner loop's iterations are no number, or change.
        """
        outer = self.place_of_loop.loop
        parts = parts_of(outer)
        assert parts is not None
        before, inner, after = parts
        self._begin(outer)
        headers = self._headers(outer, inner, before + after)
        if headers is None or ends(inner.stmt):
            raise self.fault(outer, "is no loop that is counted around one with a number of iterations")
        first, second = headers
        self.header, self.inner_header = headers
        self._enter(len(self.body.nodes))
        self.inside = True
        self._declare_all(before + after)
        moving = {first.variable, second.variable}
        changed = (self._changed(outer.stmt) & self.scalars.keys()) - moving
        begins, ended = self._move(first, second)
        phis: dict[str, int] = {}
        for name in sorted(changed):
            found = self.scalars[name]
            phis[name], self.scalars[name] = self.body.carried(name, self._kind(name, found), found)
        if before:
            self.guarded(begins, None, partial(self._plain, before))
        self._iteration(inner, [], True)
        if after:
            self.guarded(ended, None, partial(self._plain, after))
        for name, phi in phis.items():
            self.body.nodes[phi].final = self.scalars[name]
        self._keep(outer, phis)

    def _declare_all(self, statements: Nodes) -> None:
        """Scalars that ``statements`` declare; what they hold before they are given a value is nobody's concern."""
        for one in _declarations(statements):
            name = str(one.name)
            wanted = underlying(one.type, self.place_of_loop.types)
            if not isinstance(wanted, c_ast.TypeDecl) or name in self.types or name in self.arrays:
                raise self.fault(one, f"{name[:40]} is no scalar of its own; the host runs the loop")
            self.set_type(name, self.type_named(wanted), one)
            self.scalars[name] = zero(self.types[name].kind)
            self.inside_alone |= {name}

    def _plain(self, statements: Nodes, where: Value | None) -> None:
        """Statements of the outer loop, ``where`` its inner one begins, or has ended."""
        for statement in statements:
            if not isinstance(statement, c_ast.Decl | c_ast.DeclList):
                self.statement(statement, where)
                continue
            for one in _declarations([statement]):
                if one.init is not None:
                    self.assign(str(one.name), self.value(one.init, where), one)

    def _read_later(self, loop: Loop, phis: dict[str, int]) -> frozenset[str]:
        return super()._read_later(
            loop, {name: phi for name, phi in phis.items() if name not in self.inside_alone}
        )

    def _headers(
        self, outer: c_ast.For, inner: c_ast.For, around: Nodes
    ) -> tuple[LoopHeader, LoopHeader] | None:
        """Both headers, if the outer loop is counted and the inner one's iterations are a number."""
        self._start(outer)
        for name in sorted(names_in(outer) & self.scalars.keys()):
            if self.scalars[name] is None:
                self._assume(name)
        first = header_of(outer, self, self._changed(outer.stmt))
        self._start(inner)
        changed = self._changed(inner.stmt).union(*map(self._changed, around))
        second = header_of(inner, self, changed)
        # The numbers of the inner loop must be the same in every iteration of the outer one.
        moving = self._changed(outer) - ({second.variable} if second is not None else set())
        said = [one for one in (inner.init, inner.cond, inner.next) if one is not None]
        if any(names_in(one) & moving for one in said):
            return None
        plain = all(len(followers(one)) == 1 for one in (outer, inner))
        begins = all(len(assigned(one.init)) == 1 for one in (outer, inner) if one.init is not None)
        if first is None or second is None or not plain or not begins or not second.known:
            return None
        if first.bound.node is not None or first.start.node is not None:
            return None
        if any(second.variable in names_in(one) or has(one, JUMPS) for one in around):
            return None
        return (first, second) if LEAST_TRIPS <= (second.runs or 0) <= MOST_TRIPS else None

    def _move(self, outer: LoopHeader, inner: LoopHeader) -> tuple[Value, Value]:
        """The variables in each iteration. The inner one is chosen two iterations ahead, so that no recurrence is
        longer than an operation in an iteration; the outer one moves on after the inner one's last number. Whether the
        inner one stands at its first number, and at its last."""
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
        begins = body.operation(opcode("eq", here.kind), (here, integer(start, here.kind)), "int")
        return begins, last


def _declarations(statements: Nodes) -> list[c_ast.Decl]:
    """Scalars and whatever else ``statements`` declare."""
    nodes = [
        one for node in statements for one in (node.decls if isinstance(node, c_ast.DeclList) else [node])
    ]
    return [one for one in nodes if isinstance(one, c_ast.Decl)]
