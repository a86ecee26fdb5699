"""Whether PEs and channels can be configured as they are: one layer a PE, and for every stream a route that carries
it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.configuration.program import Configuration, Stream
from mapper.sim.pe_allocation.link_load import overloads
from mapper.sim.pe_allocation.violation import OCCUPIED, UNLINKED, Violation


def conflicts(configuration: Configuration, machine: TcpaMachine) -> tuple[Violation, ...]:
    """Faults of a placed configuration; none of one without places, whose streams have no ways yet."""
    if any(program.at is None for layer in configuration.layers for program in layer.pes):
        return ()
    apart = (*_occupied(configuration), *_unlinked(configuration, machine))
    return apart or tuple(overloads(configuration, machine))


def _occupied(configuration: Configuration) -> Iterator[Violation]:
    group_of = {at: number for number, group in enumerate(configuration.shared) for at in group}
    owners: dict[tuple[int, Pe], int] = {}
    for at, layer in enumerate(configuration.layers):
        for program in layer.pes:
            assert program.at is not None
            other = owners.setdefault((layer.run, program.at), at)
            if other == at or group_of.get(at, -1) == group_of.get(other, -2):
                continue
            yield Violation(OCCUPIED, f"{configuration.layers[other].name}, {layer.name}", 0, 1, 1)


def _unlinked(configuration: Configuration, machine: TcpaMachine) -> Iterator[Violation]:
    regions = {
        layer.name: frozenset(program.at for program in layer.pes if program.at is not None)
        for layer in configuration.layers
    }
    ways: dict[tuple[str | None, str | None, str], Stream] = {}
    for stream in configuration.streams:
        ways[stream.source, stream.target, stream.kind] = stream
        ends: list[Collection[Pe]] = [
            machine.border_pes if name is None else regions[name] for name in (stream.source, stream.target)
        ]
        gaps = sum(
            after not in machine.neighbours[before]
            for before, after in zip(stream.route, stream.route[1:], strict=False)
        )
        if not stream.route or gaps or stream.route[0] not in ends[0] or stream.route[-1] not in ends[1]:
            yield Violation(UNLINKED, _named(stream.source, stream.target), 0, 1, max(1, gaps))
    for layer in configuration.layers:
        if (None, layer.name, "weights") not in ways:
            yield Violation(UNLINKED, _named(None, layer.name), 0, 1, 1)
        for source in layer.sources:
            maker = None if source.feed is None else configuration.layers[source.feed].name
            wanted = ("stored" if source.whole else "maps") if maker else "frame"
            if (None if source.whole else maker, layer.name, wanted) not in ways:
                yield Violation(UNLINKED, _named(maker, layer.name), 0, 1, 1)


def _named(source: str | None, target: str | None) -> str:
    return f"{source or 'buffers'} to {target or 'buffers'}"
