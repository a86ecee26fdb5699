"""The array's program, run from its text: DMA transfers, moves over the networks, and every PE's own code.

Nothing but the tables (`dma.inc`, `noc.inc`, `pe.inc`, `layout.inc`, `loop.inc`) says what is done; memories are flat
rows of words, so that a wrong address, stride, order or buffer gives wrong numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mapper.sim.tiling.dataflow import Traffic
from mapper.sim.tiling.window import Array
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest

ACTIONS = {"LOAD": 0, "STORE": 1, "CLEAR": 2}
LOAD, STORE, CLEAR = range(3)
Row = list[Any]
BRACES = {ord("{"): "[", ord("}"): "]"}


def rows(files: Mapping[str, str], name: str) -> list[Row]:
    """The lines of a table, as lists of numbers.

    Raises: InputError if a line is none.
    """
    text = re.sub(r"LOAD|STORE|CLEAR", lambda action: str(ACTIONS[action[0]]), files[name])
    try:
        lines = [line for line in text.splitlines() if not line.startswith("/*")]
        read: list[Row] = [json.loads(line.rstrip(",").translate(BRACES)) for line in lines]
    except ValueError:
        raise InputError(name, "", "is no table of the array's program; generate it again") from None
    return read


@dataclass
class Counts:
    """What was transferred: tiles of each operand, and DMA's bytes and bursts by operand."""

    traffic: tuple[Traffic, ...]
    bytes: list[int] = field(default_factory=list)
    bursts: list[int] = field(default_factory=list)


class ArrayRun:
    """One run over tensors as flat rows of words, one per operand; the written one is changed in place."""

    def __init__(self, nest: LoopNest, files: Mapping[str, str], dram: Sequence[Array], kind: type) -> None:
        operands = range(len(nest.operands))
        self._dram, self._kind = dram, kind
        self._written = next(k for k in operands if nest.operands[k].writes)
        self._updated = nest.operands[self._written].is_updated
        self._multiplies = nest.operation == "multiply_add"
        self._read = [k for k in operands if nest.operands[k].access == "read"]
        self._transfers = rows(files, "dma.inc")
        self._pes = rows(files, "pe.inc")
        self._leaders = np.array([pe[3] for pe in self._pes])
        self._layouts = rows(files, "layout.inc")
        self._offsets = np.array([pe[4] for pe in self._pes])
        self._turns: dict[int, list[Row]] = {}
        for move in rows(files, "noc.inc"):
            self._turns.setdefault(move[0], []).append(move)
        self._count_of_turns = max(self._turns) + 1
        words = 1 + max(transfer[5] + _reach(transfer[8]) for transfer in self._transfers)
        self._spm = np.zeros(words, kind)
        self._rf: list[Array] = [np.zeros((len(self._pes), layout[0]), kind) for layout in self._layouts]
        self._base, self._begun = [0 for _ in operands], [-1 for _ in operands]
        self._cleared = False
        self._iterations = self._places(rows(files, "loop.inc"))
        self.counts = Counts(tuple(Traffic() for _ in operands), [0 for _ in operands], [0 for _ in operands])

    def _places(self, loops: list[Row]) -> list[Array]:
        """Where each iteration of a pass finds its word, per operand, sorted by the word of the result."""
        found = []
        for k, layout in enumerate(self._layouts):
            place = np.array([layout[3][1]])
            for count, strides in loops:
                place = (place[:, None] + np.arange(max(1, count)) * (strides[k] if count else 0)).reshape(-1)
            found.append(place)
        order = np.argsort(found[self._written], kind="stable")
        return [place[order] for place in found]

    def run(self) -> None:
        """Every pass, in the order of the tables."""
        by_pass: dict[int, list[Row]] = {}
        for transfer in self._transfers:
            by_pass.setdefault(transfer[0], []).append(transfer)
        for at in range(max(by_pass) + 1):
            for transfer in by_pass.get(at, []):
                self._dma(transfer)
            if at == max(by_pass):
                return
            leaves = any(transfer[1] == STORE for transfer in by_pass.get(at + 1, []))
            for turn in range(self._count_of_turns):
                moves = self._turns.get(turn, [])
                for move in (move for move in moves if move[1] == LOAD):
                    if not move[6] or self._begun[move[2]] == at:
                        self._load(move, at)
                self._compute()
                for move in (move for move in moves if move[1] == STORE):
                    if not move[6] or leaves:
                        self._store(move)

    def _dma(self, transfer: Row) -> None:
        at, action, k, _, dram, spm, size, bursts, dims = transfer
        outer, inner = _addresses(dram, dims, 1), _addresses(spm, dims, 2)
        traffic = self.counts.traffic[k]
        self.counts.bytes[k] += size
        self.counts.bursts[k] += bursts
        if action == STORE:
            traffic.spm_stores += 1
            self._dram[k][outer] = self._spm[inner]
            return
        traffic.spm_visits += 1
        self._base[k], self._begun[k] = spm, at
        if k == self._written:
            self._cleared = action == CLEAR
        if action == CLEAR:
            self._spm[inner] = 0
        else:
            traffic.spm_loads += 1
            self._spm[inner] = self._dram[k][outer]

    def _load(self, move: Row, at: int) -> None:
        _, _, k, place, first, follows, _ = move
        own, traffic = self._rf[k], self.counts.traffic[k]
        traffic.rf_visits += 1
        if k == self._written and first and self._cleared and self._begun[k] == at:
            own[...] = 0
            return
        traffic.rf_loads += 1
        layout = self._layouts[k]
        to = _addresses(layout[1][1], layout[2], 2)
        tile = self._spm[self._from(k, layout[1][0] + place) + _addresses(0, layout[2], 1)]
        if k == self._written:
            own[...] = 0
            tile[self._leaders != np.arange(len(self._pes))] = 0
        if follows:
            traffic.rf_follows += 1
            held, shift = _held(layout[2], layout[5])
            tile[:, held] = own[:, to[held] + shift]
        own[:, to] = tile

    def _from(self, k: int, place: int) -> Array:
        """Where a tile that begins at ``place`` begins for each PE."""
        first: Array = (self._base[k] + place + self._offsets[:, k])[:, None]
        return first

    def _compute(self) -> None:
        values: Any = np.full((len(self._pes), 1), 1 if self._multiplies else 0, self._kind)
        for k in self._read:
            words = self._rf[k][:, self._iterations[k]]
            values = values * words if self._multiplies else values + words
        places = self._iterations[self._written]
        values = np.broadcast_to(values, (len(self._pes), len(places)))
        if self._updated:
            starts = np.flatnonzero(np.diff(places, prepend=-1))
            self._rf[self._written][:, places[starts]] += np.add.reduceat(values, starts, axis=1)
        else:
            self._rf[self._written][:, places] = values

    def _store(self, move: Row) -> None:
        k, layout = self._written, self._layouts[self._written]
        self.counts.traffic[k].rf_stores += 1
        gather = np.flatnonzero(self._leaders == np.arange(len(self._pes)))
        words = self._rf[k]
        if self._updated:
            words = np.zeros_like(words)
            np.add.at(words, self._leaders, self._rf[k])
        to = self._from(k, layout[3][0] + move[3])[gather] + _addresses(0, layout[4], 1)
        self._spm[to] = words[gather][:, _addresses(layout[3][1], layout[4], 2)]


def _addresses(first: int, dims: Sequence[Sequence[int]], which: int) -> Array:
    """Addresses of a strided box, the last dimension fastest, in the larger (1) or the smaller (2) memory."""
    found = np.array([first])
    for dim in dims:
        if dim[0]:
            found = (found[:, None] + np.arange(dim[0]) * dim[which]).reshape(-1)
    return found


def _reach(dims: Sequence[Sequence[int]]) -> int:
    return sum((dim[0] - 1) * max(0, dim[2]) for dim in dims if dim[0])


def _held(box: Sequence[Sequence[int]], shift: Sequence[int]) -> tuple[Array, int]:
    """Which words of a box the tile before it has, and how many words behind they lie there."""
    held = np.ones(1, np.bool_)
    for (count, *_), step in zip(box, shift, strict=True):
        at = np.arange(count) + step
        held = (held[:, None] & (at >= 0) & (at < count)).reshape(-1)
    return held, sum(step * dim[2] for dim, step in zip(box, shift, strict=True))
