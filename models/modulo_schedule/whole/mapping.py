"""The mapping of a whole kernel: a modulo schedule for each of its loops."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mapper.models.modulo_schedule.mapping import ModuloSchedule


@dataclass(frozen=True)
class WholeMapping:
    """``nest``: who runs the loops around the kernels. ``loops``: a schedule per kernel, in their order. ``least``: the
    least II of each that a search has left, None where none has looked; it is no part of what is mapped."""

    nest: str
    loops: tuple[ModuloSchedule, ...]
    least: tuple[int | None, ...] = ()


def from_zero(schedule: ModuloSchedule) -> ModuloSchedule:
    """The same schedule with its first issue in cycle 0, where its stages are fewest: delaying everything alike keeps
    it valid."""
    first = min([placement.time for placement in schedule.placements] + [time for _, time in schedule.moves])
    return replace(
        schedule,
        placements=tuple(replace(one, time=one.time - first) for one in schedule.placements),
        routes=tuple(
            replace(route, hops=tuple(replace(hop, time=hop.time - first) for hop in route.hops))
            for route in schedule.routes
        ),
    )
