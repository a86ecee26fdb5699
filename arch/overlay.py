"""Systolic overlays that run every convolution as matrix products [Meng2021]: one array of multiply-accumulators whose
dataflow can be switched, units that transform layouts, and one external memory.

What the paper leaves open is a field of its own, with this project's default.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from mapper.arch.part import Part, check_steps, cycles_per_byte, hertz, read_part

Count = Annotated[int, Field(ge=1, le=1 << 16, strict=True)]
Size = Annotated[int, Field(ge=0, le=1 << 50, strict=True)]
Words = Annotated[int, Field(ge=1 << 10, le=1 << 40, strict=True)]
Positive = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
Constant = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]

SCALE = 144
"""Denominators of tiles (2 x 2, 4 x 4) and of rounds of 3 x 3 kernels divide it."""


class Winograd(Part):
    """Which Winograd algorithms there are, for which convolutions, and how Eq. 12 is read.

    ``tiles``: a matrix has ceil(H1/m) * ceil(H2/m) rows (``ceil``) or, as printed, H1 * H2 / m^2 (``area``).
    ``rounds`` of a kernel larger than 3 x 3: K1 * K2 / 9 as printed (``exact``), that number rounded up (``ceil``), or
    ceil(K1/3) * ceil(K2/3), which the pieces of a kernel need (``pieces``). ``transform_cycles`` is LT.
    """

    f_2_3: bool = True
    f_4_3: bool = False
    tiles: Literal["ceil", "area"] = "ceil"
    rounds: Literal["exact", "ceil", "pieces"] = "exact"
    kernels: Literal["square", "any"] = "square"
    smallest_kernel: Count = 3
    largest_stride: Count = 1
    transform_cycles: Size = 0


class Initialisation(Part):
    """I_SA = ``factor`` * max(P1, P2) cycles, paid once per layer, per matrix product as Eqs. 11 and 12 print it, or
    per pass of the array."""

    factor: Annotated[int, Field(ge=0, le=1024, strict=True)] = 0
    per: Literal["layer", "product", "pass"] = "layer"


class Traffic(Part):
    """What moving words takes. ``burst_words`` is BL of Eq. 13, ``overhead_cycles`` is ovhd of Table 2.

    ``weights``: kernels are loaded for every layer and take time. ``double_buffering``: a layer's words are loaded
    while it computes, so that only what is longer counts. ``onchip_bytes``: of two layers in a row whose maps and
    kernels fit, the map between them may stay on the chip (0: none does).
    """

    burst_words: Count = 64
    overhead_cycles: Size = 0
    weights: bool = False
    double_buffering: bool = False
    onchip_bytes: Size = 0


class Layers(Part):
    """How layers beside convolutions run: an average pool as the paper's convolution or free beside the stream, a fully
    connected layer as a matrix product or elsewhere, where it costs nothing."""

    average_pool: Literal["convolution", "free"] = "free"
    fully_connected: Literal["product", "free"] = "free"


class Resource(Part):
    """Estimates of an overlay's size: DSP slices, block memories of 36 kbit and LUTs.

    Block memories: so many for each bank of the input, the kernel and the two output buffers. ``limits_shapes``: an
    array whose banks take more than ``brams`` is none.
    """

    dsps_per_pe: Count = 1
    other_dsps: Size = 160
    luts_per_pe: Size = 128
    brams_per_bank: Count = 6
    brams: Count = 2160
    limits_shapes: bool = False


class Buffers(Part):
    """Words that the generated overlay's buffers hold, over all banks: ``input`` and ``kernel`` in both halves, 16 bits
    each; ``result`` in each of the two memories of sums, 32 bits each; ``tensor``, 16 bits each, for maps that stay on
    the chip from a layer to the next (0, as in machines written before this field was: none does)."""

    input: Words
    kernel: Words
    result: Words
    tensor: Size = 0


class Board(Part):
    """What the FPGA has: DSP slices, block memories of 36 kbit, UltraRAMs of 288 kbit, and LUTs."""

    dsp: Size
    bram36: Size
    uram: Size
    lut: Size


class Engines(Part):
    """What the overlay as it is generated takes beside Eq. 9: movers and array work at once, on pieces of a layer.

    ``dram_latency``: cycles from an address to its words. ``short_passes``: a pass of fewer beats than P1 waits, as a
    column has one wire. ``fill_and_drain``: of the array, for every piece. ``pools``: max pools take time. ``kernels``:
    they are loaded while the layer before runs, and count as far as that is too short. ``buffers``: pieces of maps are
    so small that they fit, and kernels that do not are loaded in parts; None: buffers have room for all. ``overlap``: a
    layer that does not read what the one before stores begins while that is stored. ``kernel_parts``: kernels may come
    in more parts than their buffer asks for, of which the next is loaded while one is multiplied and the one before
    leaves. ``inputs_ahead``: a layer that does not read what the one before stores is loaded while the last product of
    that runs. All three are off in machines written before these fields were. Every tensor is stored as the 3-D tensor,
    of which layouts are made as it is loaded.
    """

    dram_latency: Annotated[int, Field(ge=1, le=4096, strict=True)] = 32
    short_passes: bool = True
    fill_and_drain: bool = True
    pools: bool = True
    kernels: bool = True
    overlap: bool = False
    kernel_parts: bool = False
    inputs_ahead: bool = False
    buffers: Buffers | None = None


class Energy(Part):
    """This project's constants; the paper gives no energies. Picojoules of a multiply-accumulate, of a byte to or from
    the external memory, and of a PE for a cycle of the layer's computation, busy or not."""

    mac: Constant = 0.3
    dram_byte: Constant = 80.0
    pe_cycle: Constant = 0.05


class OverlayMachine(Part):
    """An overlay whose shape P1 x P2 is free within ``pes`` multiply-accumulators.

    ``bandwidth_gb_s`` is BW of Table 2 in 1e9 bytes per second; None: words take no time. With ``engines`` it is the
    generated overlay that is counted, and traffic, initialisation and resource say nothing; its array is one that fits
    ``board``, if that is given.
    """

    schema_name: Literal["mapper.dynamap/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=64)]
    description: Annotated[str, Field(max_length=4000)] = ""
    pes: Count
    clock_mhz: Positive
    word_bits: Literal[8, 16, 32]
    bandwidth_gb_s: Positive | None
    winograd: Winograd = Winograd()
    initialisation: Initialisation = Initialisation()
    traffic: Traffic = Traffic()
    layers: Layers = Layers()
    resource: Resource = Resource()
    energy_pj: Energy = Energy()
    engines: Engines | None = None
    board: Board | None = None

    @model_validator(mode="after")
    def _whole(self) -> OverlayMachine:
        check_steps(self.clock_mhz, self.bandwidth_gb_s)
        return self

    @property
    def clock_hz(self) -> int:
        return hertz(self.clock_mhz)

    @property
    def word_bytes(self) -> int:
        return self.word_bits // 8

    @cached_property
    def units_per_cycle(self) -> int:
        """Times are whole numbers of this fraction of a cycle."""
        return SCALE * self._ratio[1]

    @cached_property
    def units_per_word(self) -> int:
        """Time of one word to or from the external memory."""
        return SCALE * self._ratio[0] * self.word_bytes

    @cached_property
    def _ratio(self) -> tuple[int, int]:
        """Cycles that a byte takes, as numerator and denominator."""
        return (0, 1) if self.bandwidth_gb_s is None else cycles_per_byte(self.clock_mhz, self.bandwidth_gb_s)


def overlay_from_document(fields: dict[str, Any], source: str) -> OverlayMachine:
    """A machine from the fields of a document.

    Raises: InputError naming the field that is wrong.
    """
    return read_part(OverlayMachine, fields, source)
