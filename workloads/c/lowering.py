"""From a function to the lowered loop: the loop's body as operations, and how it goes on and ends."""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from pycparser import c_ast

from mapper.workloads.c.file import Loop, LoopPlace
from mapper.workloads.c.loop import LoopHeader, followers, header_of
from mapper.workloads.c.name import assigned, ends, names_in, read_after, stores
from mapper.workloads.c.statement import EXIT, SKIP
from mapper.workloads.c.way import ASSUMED_INTEGER, Way
from mapper.workloads.loop.body import Value, integer
from mapper.workloads.loop.kind import INT, ArrayShape, Kind
from mapper.workloads.loop.lowered import LoweredLoop
from mapper.workloads.loop.reach import Reach

ASSUMED_TRIPS = 16
"""How often a loop that data end runs where it is simulated: more iterations than that change nothing once it ended."""
LARGER_INTEGER = 24
"""The first integer parameter of a loop that runs only with larger ones."""


class Lowering(Way):
    """Lowers one innermost loop."""

    @property
    def lowered(self) -> LoweredLoop:
        """The loop, ready for passes."""
        header, loop = self.header, self.place_of_loop.loop
        runs = ASSUMED_TRIPS if header is None else header.runs
        reach = Reach(self.bounds, None if header is None or self.ends_early else header.last)
        used = names_in(self.place_of_loop.function)
        for name in sorted(self.assumed):
            found = self.scalars.get(name)
            if name in used and found is not None and found.node is None:
                self.note(f"parameter {name} stands at {found.number}; #define it to choose")
        return LoweredLoop(
            self.body,
            None if header is None else self.scalars[header.variable],
            1 if header is None else header.step,
            self.symbols,
            frozenset(self.assumed.values()),
            runs if header is not None and header.known else None,
            runs or None,
            self.arrays,
            lambda remedy: self.fault(loop, remedy),
            reach if "ranges" in self.passes else Reach(),
            self.notes,
        )

    @property
    def ends_early(self) -> bool:
        """Whether something inside the loop may end it."""
        return EXIT in self.types

    def loop(self) -> None:
        """Lowers the chosen loop: a counted one, or one that runs until something ends it."""
        loop = self.place_of_loop.loop
        self._start(loop)
        for name in sorted(names_in(loop) & self.scalars.keys()):
            if self.scalars[name] is None:
                self._assume(name)
        changed = self._changed(loop.stmt)
        header = header_of(loop, self, changed) if isinstance(loop, c_ast.For) else None
        if header is not None:
            self._check_count(header)
        before = len(self.body.nodes)
        self._enter(before)
        self.inside = True
        self.header = header
        following = followers(loop) if isinstance(loop, c_ast.For) else []
        if header is not None:
            following = [node for node in following if assigned(node) != {header.variable}]
        for node in following if header is not None else [loop]:
            changed |= self._changed(node)
        if header is None or ends(loop.stmt):
            self.types[EXIT], self.scalars[EXIT] = INT, integer(0)
            changed |= {EXIT}
        self._iterate(loop, header, changed, following)

    def _check_count(self, header: LoopHeader) -> None:
        loop = self.place_of_loop.loop
        if not header.known:
            self.note("the bound is a parameter, so the trip count is not known")
            return
        if header.runs is None:
            raise self.fault(loop, "the loop never ends; let its step lead to the bound")
        if header.runs < 1:
            raise self.fault(loop, "the loop never runs; give it at least one iteration")
        if header.leaves_its_type:
            remedy = f"{header.variable[:40]} leaves the bits of its type; choose a nearer bound"
            raise self.fault(loop, remedy)

    def _enter(self, count: int) -> None:
        """What was computed before the loop runs once, or, without that pass, again in every iteration: then its loads
        must see the same words."""
        loop = self.place_of_loop.loop
        changed = frozenset(self.arrays) if stores(loop) else frozenset[str]()
        for node in self.body.nodes[:count]:
            node.entry = self.body.entry
            if not self.body.entry and node.array in changed:
                raise self.fault(
                    loop,
                    f"a value of {str(node.array)[:40]} is read before the loop and written; read it in the loop",
                )
        for array in changed:
            self.body.versions[array] = self.body.versions.get(array, 0) + 1

    def _iterate(
        self,
        loop: c_ast.Node,
        header: LoopHeader | None,
        changed: frozenset[str],
        following: list[c_ast.Node],
    ) -> None:
        if header is not None:
            kind = self.types[header.variable].kind
            self.scalars[header.variable] = self.body.induction(
                header.variable, kind, header.start, header.step
            )
            changed -= {header.variable}
        phis: dict[str, int] = {}
        for name in sorted(changed & self.scalars.keys()):
            found = self.scalars[name]
            phis[name], self.scalars[name] = self.body.carried(name, self._kind(name, found), found)
        bases = {name: value.base for name in phis if (value := self.scalars[name]) is not None}
        self._iteration(loop, following, header is not None)
        for name, phi in phis.items():
            final = self.scalars[name]
            if final is not None and final.base != bases.get(name):
                if self._is_read(phi):
                    remedy = f"{name[:40]} leads to another array in the next iteration; use one array"
                    raise self.fault(loop, remedy)
                final = Value(self.body.nodes[phi].kind, phi)  # every iteration leads it somewhere first
            self.body.nodes[phi].final = final
        self._keep(loop, phis)

    def _is_read(self, phi: int) -> bool:
        """Whether an operation, or what another scalar is carried to, takes what was carried."""
        carried = (self.scalars.get(node.label) for node in self.body.nodes if node.opcode == "phi")
        return any(one.node == phi for node in self.body.nodes for one in node.operands) or any(
            one is not None and one.node == phi for one in carried
        )

    def _kind(self, name: str, found: Value | None) -> Kind:
        return self.types[name].kind if found is None or name in self.types else found.kind

    def _iteration(self, loop: Loop, following: list[c_ast.Node], counted: bool) -> None:
        """One iteration; where something may end the loop, only as long as nothing has."""

        def body(where: Value | None) -> None:
            self.scalars[SKIP] = integer(0)
            self.statement(loop.stmt, where)
            self.scalars.pop(SKIP, None)
            for node in following:
                ended = self.scalars.get(EXIT, integer(0)) or integer(0)
                self.guarded(self.inverse(ended), where, partial(self.statement, node))

        if EXIT not in self.types:
            body(None)
            return
        found = self.scalars[EXIT]
        assert found is not None
        alive = self.inverse(self.truth(found))
        condition = None if counted or isinstance(loop, c_ast.DoWhile) else loop.cond
        if condition is not None:
            alive = self._held(condition, alive)
        self.guarded(alive, None, body, lambda _: self.scalars.update({EXIT: integer(1)}))
        if isinstance(loop, c_ast.DoWhile):
            ended = self.scalars[EXIT]
            assert ended is not None
            going = self.inverse(self.truth(ended))
            self.scalars[EXIT] = self.inverse(self._held(loop.cond, going))

    def _held(self, condition: c_ast.Node, where: Value) -> Value:
        """Whether ``condition`` holds ``where`` it is asked; what it assigns is assigned there alone."""
        before = dict(self.scalars)
        held = self.both(where, self.truth(self.value(condition, where)))
        for name in sorted(assigned(condition) & before.keys()):
            new, old = self.scalars[name], before[name]
            if new is not None and old is not None and (new.key != old.key or new.base != old.base):
                self.scalars[name] = self.merged(where, new, old, condition)
        return held

    def _keep(self, loop: Loop, phis: dict[str, int]) -> None:
        """Stores what is read after the loop."""
        for name in sorted(self._read_later(loop, phis) & phis.keys()):
            value = self.scalars[name]
            if value is None or value.base is not None:
                continue
            self.arrays[name] = ArrayShape(self.types[name], (1,))
            self.body.store(name, value.kind, integer(0), value, None)
            self.note(f"{name} is read after the loop: each iteration stores it to the word {name}[0]")

    def _read_later(self, loop: Loop, phis: dict[str, int]) -> frozenset[str]:
        """Scalars that the loop leaves to what comes after it."""
        shared = {str(one.name) for one in self.place_of_loop.declarations}
        return read_after(self.place_of_loop.function.body, loop) | shared


Lowered = TypeVar("Lowered", bound=Lowering)


def lower(place: LoopPlace, passes: frozenset[str]) -> Lowering:
    """The lowered loop; triangular loops are posed where they run, and those between borders with larger parameters.

    Raises: InputError naming file, line and function for anything outside the subset.
    """
    return lowered_by(Lowering, place, passes)


def lowered_by(kind: type[Lowered], place: LoopPlace, passes: frozenset[str]) -> Lowered:
    """The same by a class of its own.

    Raises: InputError as ``lower``.
    """
    found = kind(place, passes)
    if found.header is None or found.header.known or found.header.runs not in (0, 1):
        return found
    for middle, least in ((True, ASSUMED_INTEGER), (False, LARGER_INTEGER), (True, LARGER_INTEGER)):
        other = kind(place, passes, middle, least)
        if other.header is not None and other.header.runs:
            return other
    return found
