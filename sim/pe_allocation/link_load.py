"""What the links and the border PEs of a placed configuration carry while its layers work, word by word of a position.

A layer at work reads the words of a window, and makes those of a pixel, in its ``cycles``; links take turns between the
streams that pass them. Nothing is known here but programs and routes.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram, PeProgram, Stream
from mapper.sim.pe_allocation.violation import CROWDED, FULL, Violation

Step = tuple[Pe | None, Pe | None]
"""From a PE to the next; None: the buffers."""


def overloads(configuration: Configuration, machine: TcpaMachine) -> Iterator[Violation]:
    """Links and border PEs that are asked for more than they have, run by run."""
    if not machine.has_limits:
        return
    for run in range(1 + max(layer.run for layer in configuration.layers)):
        traffic = Traffic(configuration, machine, run)
        yield from traffic.overloads()


def busiest(configuration: Configuration, machine: TcpaMachine) -> dict[str, float | int] | None:
    """The most ``words`` a cycle on a link and the most ``buffers`` at a border PE in any run; None without places."""
    if any(not stream.route for stream in configuration.streams):
        return None
    runs = [
        Traffic(configuration, machine, run)
        for run in range(1 + max(layer.run for layer in configuration.layers))
    ]
    return {
        "words": max(
            float(words / traffic.links(step)) for traffic in runs for step, words in traffic.words.items()
        ),
        "buffers": max(count for traffic in runs for count in traffic.buffers.values()),
    }


class Traffic:
    """The words a cycle over every link, and the buffers at every border PE, while the layers of one run work."""

    def __init__(self, configuration: Configuration, machine: TcpaMachine, run: int) -> None:
        self.machine, self.run = machine, run
        self.named = {layer.name: layer for layer in configuration.layers}
        self.names = [layer.name for layer in configuration.layers]
        self.words: defaultdict[Step, Fraction] = defaultdict(Fraction)
        self.buffers: defaultdict[Pe, int] = defaultdict(int)
        self.towards: dict[tuple[str, Pe], dict[Pe, Pe]] = {}
        self.hub = {
            stream.target: stream.route[-1] for stream in configuration.streams if stream.kind == "weights"
        }
        for stream in configuration.streams:
            if self._works(stream):
                self._pass(stream)

    def overloads(self) -> Iterator[Violation]:
        most, held = self.machine.link_words, self.machine.border.buffers
        for (one, other), words in sorted(self.words.items(), key=str):
            links = self.links((one, other))
            if most is not None and words > most * links:
                place = f"{_at(one)} to {_at(other)}"
                yield Violation(CROWDED, place, 0, 1, -(-(words - most * links) // 1))
        for pe, count in sorted(self.buffers.items()):
            if held is not None and count > held:
                yield Violation(FULL, _at(pe), 0, 1, count - held)

    def links(self, step: Step) -> int:
        """Links that ``step`` may take; one to the buffers at each side of a corner."""
        at = step[0] if step[1] is None else step[1] if step[0] is None else None
        return 1 if at is None else len(self.machine.sides_of(at))

    def _works(self, stream: Stream) -> bool:
        end = stream.target if stream.source is None else stream.source
        return end is not None and self.named[end].run == self.run

    def _pass(self, stream: Stream) -> None:
        route = stream.route
        if stream.source is not None:
            maker = self.named[stream.source]
            made = Fraction(maker.maps, maker.cycles)
            for pe, part in _filters(maker):
                self._move(self._inside(maker, pe, route[0]), made * part)
            self._move(route, made)
            if stream.target is None:
                self.words[route[-1], None] += made
                self.buffers[route[-1]] += 1
            else:
                reader = self.named[stream.target]
                self._move(self._inside(reader, route[-1], self.hub[stream.target]), made)
            return
        assert stream.target is not None
        layer = self.named[stream.target]
        inner = stream.kind == "weights"
        read = [
            source
            for source in layer.sources
            if stream.kind == "frame" or (source.feed is not None and source.whole != inner)
        ]
        taps = layer.kernel[0] * layer.kernel[1]
        words = Fraction(sum(one.maps for one in read) * taps)
        self.words[None, route[0]] += words / layer.cycles
        self._move(route, words / layer.cycles)
        self._spread(layer, route[-1], words / layer.cycles)
        if not inner:
            self.buffers[route[0]] += 1
            return
        # What was made for the layer comes here and goes on to its line buffers.
        lines = [self.named[self.names[one.feed]] for one in read if one.feed is not None]
        arriving = sum((Fraction(maker.maps, maker.cycles) for maker in lines), Fraction(0))
        self.words[route[0], None] += arriving
        self._move(route[::-1], arriving)
        self.buffers[route[0]] += bool(lines) + bool(layer.weight_words)

    def _move(self, route: Sequence[Pe], words: Fraction) -> None:
        for one, other in itertools.pairwise(route):
            self.words[one, other] += words

    def _spread(self, layer: LayerProgram, hub: Pe, words: Fraction) -> None:
        grouped = layer.depth < layer.channels
        if layer.rule == "convolution" and (not grouped or layer.group_filters > 1):
            # Every PE needs all that is read.
            handed = {
                step
                for program in layer.pes
                for step in _steps(self._inside(layer, _stands(program), hub)[::-1])
            }
            for step in handed:
                self.words[step] += words
            return
        for pe, part in _filters(layer):
            self._move(self._inside(layer, pe, hub)[::-1], words * part)

    def _inside(self, layer: LayerProgram, start: Pe, hub: Pe) -> list[Pe]:
        """The way from a PE of a layer to its ``hub``, along the tree that grows from there to the neighbours."""
        if (layer.name, hub) not in self.towards:
            region = {_stands(program) for program in layer.pes}
            grown = {hub: hub}
            waiting = [hub]
            for pe in waiting:
                for near in self.machine.neighbours[pe]:
                    if near in region and near not in grown:
                        grown[near] = pe
                        waiting.append(near)
            self.towards[layer.name, hub] = grown
        towards, way = self.towards[layer.name, hub], [start]
        while way[-1] != hub:
            way.append(towards[way[-1]])
        return way


def _steps(route: Sequence[Pe]) -> Iterator[Step]:
    yield from itertools.pairwise(route)


def _stands(program: PeProgram) -> Pe:
    assert program.at is not None
    return program.at


def _filters(layer: LayerProgram) -> Iterator[tuple[Pe, Fraction]]:
    """The PEs that make something, with their share of the filters."""
    for program in layer.pes:
        loop = next(loop for loop in program.loops if loop.name == "m")
        own = len(range(loop.first, min(loop.limit, loop.first + loop.step * loop.count), loop.step))
        if own:
            yield _stands(program), Fraction(own, loop.limit)


def _at(pe: Pe | None) -> str:
    return "buffers" if pe is None else str(list(pe))
