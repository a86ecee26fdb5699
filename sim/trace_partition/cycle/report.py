"""What the cycle simulator answers: cycles with their causes, bytes, hazards, and who worked when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Cause = Literal["load", "store", "vector", "code", "sync", "halt", "vector_queue", "transfer_queue"]
STALLS: tuple[Cause, ...] = (
    "load",
    "store",
    "vector",
    "code",
    "sync",
    "halt",
    "vector_queue",
    "transfer_queue",
)
Lane = Literal["load_buf", "load_wbuf", "load_code", "compute", "store"]
LANE_NAMES: tuple[Lane, ...] = ("load_buf", "load_wbuf", "load_code", "compute", "store")


@dataclass(frozen=True)
class Hazard:
    """Something that nothing in the machine waits for and that was not there: an error of the program.

    ``cycle``: when it was needed; ``ready``: when it would have been there (None: not known when it was needed).
    ``word``: the first word of the buffer (or of memory) that is wrong, None where there is none.
    """

    cluster: int
    bank: int
    place: int
    instruction: str
    layer: str
    cause: str
    word: int | None
    cycle: int
    ready: int | None

    def __str__(self) -> str:
        where = f"cluster {self.cluster}, bank {self.bank}, instruction {self.place} ({self.layer})"
        word = "" if self.word is None else f", word {self.word}"
        until = "" if self.ready is None else f", not before {self.ready}"
        return f"{where}: {self.instruction}: {self.cause}{word}; cycle {self.cycle}{until}"


@dataclass(frozen=True)
class ClusterCycles:
    """One cluster in one layer.

    ``cycles``: from the layer's first instruction to the next layer's; ``begin`` is its first cycle. They are
    ``instructions`` and ``stalls`` of the control core. ``vector``: the vector unit at work; ``conflict``: it waits
    for a result to drain; ``issue``: it has nothing to do while the core issues. ``words``: read and written in Buf
    and WBuf by vector instructions, all units together. ``operations``: instructions by name.
    """

    begin: int
    cycles: int
    instructions: int
    vector: int
    conflict: int
    issue: int
    fill: int
    stalls: dict[Cause, int]
    buf_bytes: int
    wbuf_bytes: int
    code_bytes: int
    stored_bytes: int
    words: int
    operations: dict[str, int]

    @property
    def dram_bytes(self) -> int:
        """All that crosses the external memory's port."""
        return self.buf_bytes + self.wbuf_bytes + self.code_bytes + self.stored_bytes

    def to_json(self) -> dict[str, Any]:
        return {
            "begin": self.begin,
            "cycles": self.cycles,
            "instructions": self.instructions,
            "vector": self.vector,
            "conflict": self.conflict,
            "issue": self.issue,
            "fill": self.fill,
            "stalls": {cause: cycles for cause, cycles in self.stalls.items() if cycles},
            "bytes": {
                "load_buf": self.buf_bytes,
                "load_wbuf": self.wbuf_bytes,
                "load_code": self.code_bytes,
                "store": self.stored_bytes,
            },
        }


@dataclass(frozen=True)
class LayerCycles:
    """A layer on all clusters."""

    name: str
    clusters: tuple[ClusterCycles, ...]

    @property
    def cycles(self) -> int:
        """Of the slowest cluster. Clusters that share an image leave each layer together, and layers add up to the
        program; those with an image each drift apart, and may be in different layers at a time."""
        return max((one.cycles for one in self.clusters), default=0)

    @property
    def dram_bytes(self) -> int:
        return sum(one.dram_bytes for one in self.clusters)

    @property
    def instructions(self) -> int:
        """Executed, by all clusters."""
        return sum(one.instructions for one in self.clusters)

    def to_json(self) -> dict[str, Any]:
        return {"cycles": self.cycles, "clusters": [one.to_json() for one in self.clusters]}


@dataclass(frozen=True)
class Interval:
    """Work of a layer in a lane of a cluster, from cycle ``begin`` to before ``end``; ``used`` of them were, where
    short pauses have been passed over."""

    cluster: int
    lane: Lane
    layer: str
    begin: int
    end: int
    used: int


@dataclass(frozen=True)
class CycleReport:
    """A whole run of an accelerator. ``hazards`` are the first of ``hazards_found``."""

    cycles: int
    layers: tuple[LayerCycles, ...]
    hazards: tuple[Hazard, ...]
    hazards_found: int
    timeline: tuple[Interval, ...]

    def layer(self, name: str) -> LayerCycles:
        return next(one for one in self.layers if one.name == name)

    @property
    def dram_bytes(self) -> int:
        return sum(one.dram_bytes for one in self.layers)

    @property
    def instructions(self) -> int:
        return sum(one.instructions for one in self.layers)

    @property
    def operations(self) -> dict[str, int]:
        """Executed instructions by name."""
        total: dict[str, int] = {}
        for layer in self.layers:
            for one in layer.clusters:
                for name, count in one.operations.items():
                    total[name] = total.get(name, 0) + count
        return total
