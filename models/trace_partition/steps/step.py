"""Load, compute and store objects [Chang2018, sec. 4]: what one step moves and computes, still without registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mapper.arch.snowflake import TABLE_WORDS

Operand = Literal["input", "weights", "bias", "residual", "table", "output"]
Units = int | Literal["all", "deal"]


@dataclass(frozen=True)
class Transfer:
    """One two-dimensional transfer: ``count`` pieces of ``words`` words.

    ``target``: Buf, WBuf, or a fill of Buf with ``value`` (no memory is read). ``units``: as the machine's LD has them.
    ``local``: first word in the buffer; ``memory``: first word, counted from the start of ``tensor``, which is a
    tensor of the network, or ``weights:<layer>``, ``bias:<layer>`` or ``table:<layer>``. Pitches are words from piece
    to piece. Every number fits the machine's 16-bit fields.
    """

    target: Literal["buf", "wbuf", "fill"]
    units: Units
    local: int
    tensor: str
    memory: int
    count: int
    words: int
    local_pitch: int
    memory_pitch: int
    value: int = 0

    @property
    def total_words(self) -> int:
        """Words that cross the external memory's port."""
        return 0 if self.target == "fill" else self.count * self.words


@dataclass(frozen=True)
class Load:
    """What is brought for a step: ``tile`` is the index of the operand's tile, ``buffer`` 0 or 1."""

    operand: Operand
    tile: tuple[int, ...]
    buffer: int
    transfers: tuple[Transfer, ...]


@dataclass(frozen=True)
class Loop:
    """``count`` turns; after each, the addresses of maps, weights, results, bias and initial values grow by so
    much."""

    count: int = 1
    maps: int = 0
    weights: int = 0
    out: int = 0
    bias: int = 0
    initial: int = 0


@dataclass(frozen=True)
class Trace:
    """One vector instruction: offsets from the addresses of the loops, and its length in words."""

    maps: int
    weights: int
    length: int


@dataclass(frozen=True)
class ComputeObject:
    """Nested loops of vector instructions: ``blocks`` (of output channels), in it ``rows``, in it ``columns``, in it
    the accumulate loop of ``traces``.

    Operation ``mac``: each turn of ``blocks`` begins with VMOV.BIAS of ``extent`` words at ``bias`` (every ``mac``
    has one; a layer without a bias has zeros); at each point comes a VMOV of the initial value where ``initial`` is
    an address (``initial_wide``: PART, partial sums of 32 bits; else ADD), then a MAC per trace: the first starts
    from the initial value, or else the bias, the last writes ``extent`` results at the point's ``out``. Operation
    ``max``: a MAX per trace, the first starts, the last writes; ``bias`` and ``initial`` are None. Operation
    ``table``: the same with words that go through the look-up table, which each turn of ``blocks`` first fills from
    ``bias`` if that is an address. Addresses are
    words of Buf (``maps``, ``out``, ``bias``, ``initial``) and WBuf (``weights``). Results are kept within ``clip``
    (least and largest word), which a VMOV sets before all else.
    """

    operation: Literal["mac", "max", "table"]
    mode: Literal["coop", "indp", "lane"]
    maps: int
    weights: int
    out: int
    bias: int | None
    initial: int | None
    initial_wide: bool
    extent: int
    blocks: Loop
    rows: Loop
    columns: Loop
    traces: tuple[Trace, ...]
    wide: bool = False
    relu: bool = False
    clip: tuple[int, int] | None = None

    @property
    def bias_words(self) -> int:
        """Words that the VMOV of each turn of ``blocks`` reads."""
        if self.bias is None:
            return 0
        return TABLE_WORDS if self.operation == "table" else self.extent


@dataclass(frozen=True)
class Store:
    """What a step returns to external memory."""

    tile: tuple[int, ...]
    buffer: int
    transfers: tuple[Transfer, ...]


@dataclass(frozen=True)
class Step:
    """Loads, then compute objects one after another, then the store, if the step completes a tile of the output."""

    loads: tuple[Load, ...]
    compute: tuple[ComputeObject, ...]
    store: Store | None
