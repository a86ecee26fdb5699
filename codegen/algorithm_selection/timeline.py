"""When every instruction of a program runs: the controller hands them over in order, each as soon as it is fetched and
the engines are idle that it waits for; DRAM's read port serves maps before kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mapper.codegen.algorithm_selection.instruction import TILES, Engine, Gemm, Instruction, Move
from mapper.models.algorithm_selection.timing import (
    FETCHED,
    HAND_OVER,
    gemm_cycles,
    move_cycles,
    product_fetch,
    stream_cycles,
)

Interval = tuple[int, int]


@dataclass(frozen=True)
class Slot:
    """An instruction on its engine: handed over in cycle ``start``, done before ``end``."""

    engine: Engine
    start: int
    end: int


class Timeline:
    """An overlay of ``array`` PEs with so many ``lanes``, whose DRAM answers after ``latency`` cycles, and ``wires`` a
    column for stationary blocks."""

    def __init__(self, array: tuple[int, int], lanes: int, latency: int, wires: int = 1) -> None:
        self.array, self.lanes, self.latency, self.wires = array, lanes, latency, wires

    def slots(self, instructions: Sequence[Instruction]) -> list[Slot]:
        """When each of them runs; the first is fetched from cycle 0 on."""
        return _Run(self).slots(instructions)

    def cycles(self, instructions: Sequence[Instruction]) -> int:
        """Cycles until all are done."""
        return max((slot.end for slot in self.slots(instructions)), default=0)

    def step_cycles(self, steps: Sequence[Sequence[Instruction] | None]) -> list[int]:
        """Cycles of every step that the overlay runs: from the end of the one before to its own end, which is that of a
        store, since what is loaded ahead for the next is left out. None stops the overlay; time begins anew."""
        found: list[int] = []
        running: list[Sequence[Instruction]] = []
        for step in [*steps, None]:
            if step is not None:
                running.append(step)
                continue
            slots = iter(self.slots([one for own in running for one in own]))
            before = 0
            for own in running:
                ends = [slot.end for slot in [next(slots) for _ in own] if slot.engine == "output"]
                found.append(max([before, *ends]) - before)
                before = max([before, *ends])
            running = []
        return found

    def rows(self, move: Move) -> int:
        return move.taken.rows(self.lanes)

    def duration(self, one: Instruction) -> int:
        """Cycles of an instruction that nobody holds up."""
        if isinstance(one, Gemm):
            product = (one.a, one.b, one.c)
            return sum(gemm_cycles(self.array, one.dataflow, product, len(one.calls), self.wires).values())
        return move_cycles(
            self.rows(one),
            self.latency if one.source == "dram" else 1,
            TILES.get(one.unit, (1, 1)),
            transforms=one.unit in TILES,
            pools=0 if one.unit != "max_pool" else 2 if one.source == "result" else 1,
        )


@dataclass
class _Running:
    """What an engine runs: ``end`` is known once nobody can hold it up any more."""

    at: int
    one: Instruction
    start: int
    end: int | None


class _Run:
    def __init__(self, overlay: Timeline) -> None:
        self.overlay = overlay
        self.running: dict[Engine, _Running] = {}
        self.reading: dict[Engine, list[Interval]] = {"input": [], "output": []}
        self.found: dict[int, Slot] = {}

    def slots(self, instructions: Sequence[Instruction]) -> list[Slot]:
        ready = 0
        for at, one in enumerate(instructions):
            ready += product_fetch(len(one.calls)) if isinstance(one, Gemm) else FETCHED
            start = max([ready, *(self._end(engine) for engine in {one.engine, *one.waits})])
            self._begin(at, one, start)
            ready = start
        for engine in list(self.running):
            self._end(engine)
        return [self.found[at] for at in range(len(instructions))]

    def _begin(self, at: int, one: Instruction, start: int) -> None:
        reads = isinstance(one, Move) and one.source == "dram"
        end = None if reads and one.engine != "input" else start + self.overlay.duration(one)
        self.running[one.engine] = _Running(at, one, start, end)
        if reads and one.engine == "input":
            assert isinstance(one, Move)
            asks = stream_cycles(self.overlay.rows(one), TILES.get(one.unit, (1, 1)))
            self.reading["input"].append((start + HAND_OVER, start + HAND_OVER + asks))

    def _end(self, engine: Engine) -> int:
        """When an engine is idle. What reads DRAM behind others is done by now as far as they hold it up: whoever comes
        later waits for this answer."""
        own = self.running.get(engine)
        if own is None:
            return 0
        if own.end is None:
            assert isinstance(own.one, Move)
            before = sorted([*self.reading["input"], *(self._outputs() if engine == "kernel" else [])])
            asked = self._asked(own.one, own.start + HAND_OVER, before)
            free = stream_cycles(self.overlay.rows(own.one), TILES.get(own.one.unit, (1, 1)))
            own.end = asked - free - HAND_OVER + self.overlay.duration(own.one)
            if engine == "output":
                self.reading["output"].append((own.start + HAND_OVER, asked))
        self.found[own.at] = Slot(engine, own.start, own.end)
        return own.end

    def _outputs(self) -> list[Interval]:
        """When the output mover asks: of what it runs, as far as loads until now hold it up, which are all that come
        before kernels that are waited for."""
        now = self.running.get("output")
        if now is None or now.end is not None:
            return self.reading["output"]
        assert isinstance(now.one, Move)
        begin = now.start + HAND_OVER
        return [*self.reading["output"], (begin, self._asked(now.one, begin, sorted(self.reading["input"])))]

    def _asked(self, move: Move, begin: int, before: Iterable[Interval]) -> int:
        """The cycle after the last request of a mover that asks only where none of ``before`` does. A transform that
        gives more than it takes goes on giving meanwhile."""
        took, gave = TILES.get(move.unit, (1, 1))
        rows, gap = self.overlay.rows(move), max(0, gave - took)
        now, taken = begin, 0
        for first, end in before:
            if end <= now:
                continue
            if first > now:
                now, taken = _ask(now, taken, rows, took, gap, first)
                if taken == rows:
                    return now
            now = max(now, end)
        return _ask(now, taken, rows, took, gap, 1 << 62)[0]


def _ask(now: int, taken: int, rows: int, took: int, gap: int, limit: int) -> tuple[int, int]:
    """Asks from cycle ``now`` on, up to cycle ``limit``: the next cycle and the rows taken by then."""
    if not gap:
        count = min(rows - taken, limit - now)
        return now + count, taken + count
    while taken < rows and now < limit:
        left = took - taken % took
        count = min(left, limit - now)
        now, taken = now + count, taken + count
        if taken % took == 0 and taken < rows:
            now += gap
    return now, taken
