"""An event simulator of a configured array: it knows the programs, the buffers' contents and the pixels, no model.

Events are the beginnings and ends of positions (pixels of all of a layer's maps), in whole cycles. In every cycle
results arrive in the line buffers first, then pixels that are read no more are freed, then positions begin, whose
windows are read at once; what numbers they hold is filled in at the end (``numbers``).

A steady configuration runs at its start times; a pixel that is read before it has arrived or finds no room is a
violation, and the wrong pixel is computed with. Otherwise a layer begins as soon as its windows' pixels are there, and
waits with a result that finds no room. Runs of layers follow one another in both cases.

A position's pixels arrive as many cycles after its time as the configuration says (``drain``). With ``words`` the PEs
execute their programs word by word (``word.execution``): the last of them must have left its PE by then.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram
from mapper.models.pe_allocation.word.program import LayerWords
from mapper.sim.pe_allocation.channel import conflicts
from mapper.sim.pe_allocation.data import Data, Integers
from mapper.sim.pe_allocation.line_buffer import EMPTY, FrameMemory, LineBuffer
from mapper.sim.pe_allocation.numbers import executed, results
from mapper.sim.pe_allocation.sharing import Job, lateness
from mapper.sim.pe_allocation.violation import BUSY, EARLY, LATE, OVERFLOW, STUCK, Violation

BEGIN, END, ARRIVE = 0, 1, 2


@dataclass(frozen=True)
class Run:
    """``starts`` and ``ends``: per layer the cycle of each frame's first beginning and last end; ``peaks``: per layer
    and source the most words held (0 of the frame); ``made``: (frames x positions) x maps of each layer; ``outputs``:
    frames x rows x columns x maps of each whose maps no other layer reads."""

    starts: tuple[tuple[int, ...], ...]
    ends: tuple[tuple[int, ...], ...]
    peaks: tuple[tuple[int, ...], ...]
    outputs: dict[int, Integers]
    violations: tuple[Violation, ...]
    made: tuple[Integers, ...]


def simulate(
    configuration: Configuration,
    machine: TcpaMachine,
    data: Data,
    frames: int,
    words: Sequence[LayerWords] | None = None,
) -> Run:
    """Stream ``frames`` frames of pixels through the array. Its PEs execute ``words``, or what their programs come to
    is computed at once."""
    array = _Array(configuration, data, frames)
    found = array.run()
    windows = [layer.windows for layer in array.layers]
    if words is None:
        made = results(configuration, data, windows)
    else:
        begun = [layer.begun for layer in array.layers]
        made, faults = executed(configuration, words, data, windows, begun, machine.processing_element)
        found = (*found, *faults)
    return array.told(made, (*conflicts(configuration, machine), *found))


class _Layer:
    """A layer at work: its frame, its position in it, whether a result is under way, and the frames whose pixels have
    all been handed on (``drained``)."""

    def __init__(self, program: LayerProgram, sources: list[LineBuffer | FrameMemory], frames: int) -> None:
        self.program, self.sources, self.drain = program, sources, program.drain
        self.draining: deque[tuple[int, int]] = deque()
        self.cycles, self.positions = program.cycles, program.positions
        self.frame = self.position = self.drained = 0
        self.working = False
        self.targets: list[tuple[int, LineBuffer]] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.begun: list[int] = []
        taps = program.kernel[0] * program.kernel[1]
        self.windows = [np.full((frames * self.positions, taps), EMPTY) for _ in sources]

    def missing(self) -> int:
        return max(source.missing(self.frame, self.position) for source in self.sources)

    def is_blocked(self) -> bool:
        return any(target.is_full() for _, target in self.targets)


class _Array:
    def __init__(self, configuration: Configuration, data: Data, frames: int) -> None:
        self.configuration, self.data, self.frames = configuration, data, frames
        self.layers: list[_Layer] = []
        for at, program in enumerate(configuration.layers):
            sources: list[LineBuffer | FrameMemory] = []
            for source in program.sources:
                if source.feed is None:
                    high, wide = (a // b for a, b in zip(program.size, source.stretch, strict=True))
                    sources.append(FrameMemory(program, source, high * wide))
                    continue
                maker = self.layers[source.feed]
                assert source.write is not None and source.words is not None
                buffer = LineBuffer(program, source, source.write, source.words, maker.positions)
                sources.append(buffer)
                maker.targets.append((at, buffer))
            self.layers.append(_Layer(program, sources, frames))
        self.events: list[tuple[int, int, int]] = []
        self.blocked: list[int] = []
        self.found: dict[tuple[str, str], list[int]] = {}
        self.runs = 1 + max(program.run for program in configuration.layers)
        self.sequential = self.runs > 1 or configuration.mode == "layer-by-layer"

    def run(self) -> tuple[Violation, ...]:
        """What went wrong."""
        now = 0
        if self.configuration.steady:
            for at, layer in enumerate(self.layers):
                heapq.heappush(self.events, (layer.program.start, at, BEGIN))
        else:
            self._begin_ready(range(len(self.layers)), now)
        while self.events:
            now = self.events[0][0]
            arrived: list[int] = []
            ended: list[int] = []
            begins: list[int] = []
            while self.events and self.events[0][0] == now:
                _, at, event = heapq.heappop(self.events)
                if event == ARRIVE:
                    self._arrive(at, *self.layers[at].draining.popleft(), now)
                    arrived.append(at)
                else:
                    (ended if event == END else begins).append(at)
            self._end(ended, begins, arrived, now)
        for layer in self.layers:
            if layer.frame < self.frames:
                self._violated(STUCK, layer.program.name, now, self.frames - layer.frame)
                layer.starts += [now] * (self.frames - len(layer.starts))
                layer.ends += [now] * (self.frames - len(layer.ends))
        self._check_sharing()
        return tuple(
            Violation(rule, place, cycle, times, size)
            for (rule, place), (cycle, times, size) in self.found.items()
        )

    def told(self, made: Sequence[Integers], violations: tuple[Violation, ...]) -> Run:
        """The run, given what each layer ``made``."""
        return Run(
            tuple(tuple(layer.starts) for layer in self.layers),
            tuple(tuple(layer.ends) for layer in self.layers),
            tuple(tuple(source.peak for source in layer.sources) for layer in self.layers),
            {
                at: made[at].reshape(self.frames, *layer.program.output_size, -1)
                for at, layer in enumerate(self.layers)
                if layer.program.output is not None
            },
            violations,
            tuple(made),
        )

    def _end(self, ended: list[int], begins: list[int], arrived: list[int], now: int) -> None:
        steady = self.configuration.steady
        waiting = [*self.blocked, *ended]
        self.blocked = []
        delivered: list[int] = []
        while waiting:
            # All results of a cycle arrive before anything is freed; what is freed then may make room for others.
            through = [at for at in waiting if steady or not self.layers[at].is_blocked()]
            for at in through:
                self._deliver(at, now)
            for at in through:
                layer = self.layers[at]
                for source in layer.sources:
                    source.free(layer.frame, layer.position)
                layer.position += 1
                if layer.position == layer.positions:
                    layer.ends.append(now + layer.drain)
                    layer.frame, layer.position = layer.frame + 1, 0
            delivered += through
            waiting = [at for at in waiting if at not in through]
            if not through:
                break
        self.blocked = waiting
        if steady:
            for at in delivered:
                self._schedule(at, begins, now)
            for at in sorted(begins):
                self._begin(at, now)
            return
        delivered += arrived
        near = {*delivered, *(reader for at in delivered for reader, _ in self.layers[at].targets)}
        ends_frame = any(self.layers[at].position == 0 for at in delivered)
        self._begin_ready(range(len(self.layers)) if self.sequential and ends_frame else sorted(near), now)

    def _deliver(self, at: int, now: int) -> None:
        layer = self.layers[at]
        layer.working = False
        if layer.drain:
            layer.draining.append((layer.frame, layer.position))
            heapq.heappush(self.events, (now + layer.drain, at, ARRIVE))
        else:
            self._arrive(at, layer.frame, layer.position, now)

    def _arrive(self, at: int, frame: int, position: int, now: int) -> None:
        layer = self.layers[at]
        for reader, target in layer.targets:
            if target.is_full():
                over = (target.arrived + 1 - target.freed) * target.maps - target.words
                place = f"{layer.program.name} to {self.layers[reader].program.name}"
                self._violated(OVERFLOW, place, now, over)
            target.write(frame, position)
        if position == layer.positions - 1:
            layer.drained += 1

    def _schedule(self, at: int, begins: list[int], now: int) -> None:
        layer = self.layers[at]
        if layer.frame == self.frames:
            return
        due = now
        if layer.position == 0:
            due = layer.program.start + layer.frame * self.configuration.interval
            if due < now:
                self._violated(BUSY, layer.program.name, now, now - due)
        if due <= now:
            begins.append(at)
        else:
            heapq.heappush(self.events, (due, at, BEGIN))

    def _begin_ready(self, candidates: Iterable[int], now: int) -> None:
        for at in candidates:
            layer = self.layers[at]
            if layer.working or layer.frame == self.frames or not self._may_run(layer):
                continue
            if layer.missing() == 0:
                self._begin(at, now)

    def _may_run(self, layer: _Layer) -> bool:
        """Whether the runs before a layer's have ended (of the frame before, for the first)."""
        if not self.sequential or layer.position > 0:
            return True
        before, frames = layer.program.run - 1, layer.frame + 1
        if before < 0:
            before, frames = self.runs - 1, layer.frame
        return all(other.drained >= frames for other in self.layers if other.program.run == before)

    def _begin(self, at: int, now: int) -> None:
        layer = self.layers[at]
        missing = layer.missing()
        if missing:
            self._violated(EARLY, layer.program.name, now, missing)
        if layer.position == 0:
            layer.starts.append(now)
        place = layer.frame * layer.positions + layer.position
        for window, source in zip(layer.windows, layer.sources, strict=True):
            window[place] = source.read(layer.frame, layer.position)
        layer.working = True
        layer.begun.append(now)
        heapq.heappush(self.events, (now + layer.cycles, at, END))

    def _violated(self, rule: str, place: str, now: int, size: int) -> None:
        known = self.found.setdefault((rule, place), [now, 0, 0])
        known[1] += 1
        known[2] = max(known[2], size)

    def _check_sharing(self) -> None:
        for group in self.configuration.shared:
            jobs = [
                Job(begun, begun + self.layers[at].cycles, self.layers[at].cycles - layer.idle)
                for at in group
                for layer in [self.configuration.layers[at]]
                for begun in self.layers[at].begun
            ]
            late = lateness(jobs)
            if late:
                names = ", ".join(self.configuration.layers[at].name for at in group)
                self._violated(LATE, names, jobs[0].begin, late)
