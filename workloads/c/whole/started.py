"""An innermost loop that is started again and again: its scalars are given to it, each time with other numbers."""

from __future__ import annotations

from dataclasses import replace

from mapper.workloads.c.file import LOOPS, Loop, LoopPlace
from mapper.workloads.c.loop import LoopHeader
from mapper.workloads.c.lowering import Lowering
from mapper.workloads.c.name import assigned, holds, names_in, read_in, read_outside
from mapper.workloads.c.way import ASSUMED_FLOAT, ASSUMED_INTEGER
from mapper.workloads.loop.body import GIVEN, LoopBody, live_in
from mapper.workloads.loop.kind import FLOATING
from mapper.workloads.loop.lowered import LoweredLoop


class StartedLoop(Lowering):
    """Lowers one innermost loop as its host starts it. ``given``: the scalar behind each symbol. Variables of loops
    around it keep their bounds, and what the text makes constant stays so; all else may be any number."""

    def __init__(self, place: LoopPlace, passes: frozenset[str], middle: bool = False,
                 least: int = ASSUMED_INTEGER) -> None:  # fmt: skip
        self.given: dict[str, str] = {}
        self.starting = False
        self.kept: tuple[str, ...] = ()
        super().__init__(place, passes, middle, least)

    @property
    def lowered(self) -> LoweredLoop:
        found = super().lowered
        # What never runs may be mapped as if it did.
        trips = found.trip_count if found.trip_count is None else max(1, found.trip_count)
        return replace(found, given=self.given, trip_count=trips)

    @property
    def is_counted(self) -> bool:
        """Whether its start and its bound are known where it is started."""
        return self.header is not None and self.header.bound.node is None and self.header.start.node is None

    @property
    def has_result(self) -> bool:
        """Whether anything that it computes is left."""
        return any(node.opcode == "store" for node in self.body.nodes)

    def loop(self) -> None:
        self._begin(self.place_of_loop.loop)
        super().loop()

    def _check_count(self, header: LoopHeader) -> None:
        """A loop that never runs is never started."""
        if not header.known or header.runs != 0:
            super()._check_count(header)

    def _begin(self, loop: Loop) -> None:
        """Gives the loop its scalars."""
        init = getattr(loop, "init", None)
        if init is not None and assigned(init) & read_in(init):
            raise self.fault(loop, "starts from what it changes itself; use another scalar")
        self.body = LoopBody(entry=True)
        self.starting = True
        for name in sorted(names_in(loop) & self.types.keys()):
            self._give(name)

    def _give(self, name: str) -> None:
        """Makes a scalar one that each start brings, unless the text says what it is."""
        value = self.scalars.get(name)
        if value is None:
            return
        if value.base is not None:
            if value.literal is None or name in self.moving:
                raise self.fault(
                    self.place_of_loop.loop, f"{name[:40]} is a pointer that moves; use subscripts"
                )
            return
        if value.literal is not None:
            return
        mark = self._lasting(name)
        if mark is None:
            kind = self.types[name].kind
            unknown = ASSUMED_FLOAT if kind in FLOATING else ASSUMED_INTEGER
            self.scalars[name] = self._named(name, kind, unknown if value.node is not None else value.number)
            self.assumed[f"#{name}"] = next(reversed(self.symbols)) if kind not in FLOATING else name
        self._mark(name, mark)

    def _lasting(self, name: str) -> str | None:
        """The symbol of a scalar that has stood for it since it got its value: the variable of a loop around, or a
        parameter that nothing assigns."""
        value = self.scalars[name]
        if value is None or value.form is None or len(value.form) != 1 or value.node is not None:
            return None
        ((term, factor),) = value.form.items()
        lasts = len(term) == 1 and (term[0] in self.bounds or name not in self.moving)
        return term[0] if lasts and factor == 1 else None

    def _mark(self, name: str, mark: str | None) -> None:
        value = self.scalars[name]
        assert value is not None
        if mark is None:
            mark = next(iter(value.form))[0] if value.form else f"{name}'f"
        self.given[mark] = name
        self.scalars[name] = replace(
            live_in(mark, value.kind, value.number), base=value.base, origin=(GIVEN + mark, ())
        )

    def _assume(self, name: str) -> None:
        super()._assume(name)
        if self.starting:
            self._mark(name, None)

    def _read_later(self, loop: Loop, phis: dict[str, int]) -> frozenset[str]:
        """What is read anywhere else, since loops around may lead back there, and by the next start of the loop."""
        function = self.place_of_loop.function.body
        found = super()._read_later(loop, phis) | read_outside(function, loop)
        if any(holds(one, loop) for one in _loops(function) if one is not loop):
            found |= {name for name, phi in phis.items() if self._is_read(phi)}
        own = {name for name in found & phis.keys() if name in self.arrays}
        if own:
            raise self.fault(loop, f"{min(own)[:40]} is a scalar and an array; rename one")
        self.kept = tuple(sorted(name for name in found & phis.keys() if self._has_value(name)))
        return found

    def _has_value(self, name: str) -> bool:
        value = self.scalars[name]
        return value is not None and value.base is None


def _loops(node: Loop) -> list[Loop]:
    return ([node] if isinstance(node, LOOPS) else []) + [
        one for _, child in node.children() for one in _loops(child)
    ]
