"""Dataflow accelerators: a PE array with register files, a scratch-pad, a NoC and DMA [Dave2019, sec. 5]."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from mapper.arch.part import Part, read_part

Count = Annotated[int, Field(ge=1, le=1 << 40, strict=True)]
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


class EnergyBySize(Part):
    """Energy per word (pJ) for each size of a memory (bytes), so that a sweep of sizes stays honest."""

    by_bytes: Annotated[dict[Annotated[int, Field(ge=1)], Amount], Field(min_length=1)]


Axis = Literal["rows", "columns"]
AXES: tuple[Axis, Axis] = ("rows", "columns")


class PeArray(Part):
    """Rows x columns of PEs. A pipelined PE issues one operation a cycle; otherwise it takes its latency.
    ``spatial_reduction``: the axes along which PEs add up partial sums of each other; along the others only loops run
    that index the result. An axis is named by what is counted along it: a loop along ``rows`` has one step a row."""

    rows: Count
    columns: Count
    spatial_reduction: Annotated[tuple[Axis, ...], Field(max_length=2)] = AXES
    pipelined: bool = True
    latency_cycles: dict[Literal["multiply", "add"], Count] = Field(default={"multiply": 2, "add": 1})


class RegisterFile(Part):
    """Register file of one PE (bytes). Without double-buffering the PEs wait for everything that the NoC moves."""

    bytes: Count
    double_buffered: bool = True


class ScratchPad(Part):
    """Scratch-pad (bytes), allocated to operands in whole banks; double-buffered, half of it is visible. Without, the
    PEs wait for everything that DMA moves."""

    bytes: Count
    bank_bytes: Count
    double_buffered: bool = True

    @property
    def visible_banks(self) -> int:
        return self.bytes // (2 if self.double_buffered else 1) // self.bank_bytes


class Network(Part):
    """One single-cycle multi-cast network between scratch-pad and PEs; width in words a cycle."""

    carries: Literal["read", "write"]
    width_words: Count = 1


class NetworkOnChip(Part):
    """Networks in the order in which operands take them (round-robin), and how partial sums meet:
    ``bus`` serialises all groups on one network, ``mesh`` lets groups of PEs reduce side by side, and in a ``systolic``
    array each PE adds to what its neighbour hands on, in the cycle in which it computes: sums take no time of their
    own."""

    networks: Annotated[list[Network], Field(min_length=1, max_length=16)]
    reduction: Literal["bus", "mesh", "systolic"] = "bus"


class Dma(Part):
    """DMA: cycles of its own clock per burst, ``initiation_cycles + cycles_per_byte * bytes``."""

    initiation_cycles: Amount
    cycles_per_byte: Amount
    clock_mhz: Annotated[float, Field(gt=0, le=1e6)]


class Energies(Part):
    """Energy in pJ: of one operation, and per word of a register file, NoC, scratch-pad and DRAM access."""

    mac: Amount
    add: Amount = 0.0
    rf: Amount | EnergyBySize
    noc: Amount
    spm: Amount | EnergyBySize
    dram: Amount


class Rules(Part):
    """Rules of the original tool that the paper does not state; each has a physical counterpart.

    - ``stored_extent``: a burst ends at rows of the tensor as stored (``declared``, with its padding) or of
      what the loops touch (``touched``).
    - ``partial_sums``: ``doubled`` reads and writes a partial sum at every transfer that leaves the array,
      and only writes it where it stays through several scratch-pad passes; ``first_visit_free`` skips
      exactly the reads of values that are still zero.
    - ``leaving_sums``: ``exposed`` has the PEs of a double-buffered register file wait for a partial sum that leaves
      them, and for the work behind it; ``buffered`` has it leave beside the next work, from the other buffer. A
      register file with one buffer waits in either case.
    - ``energy``: ``rounded`` to whole pJ per layer, or ``exact``.
    - ``timing``: in a ``steady`` run first tiles come, and last results go, during other layers; a ``timeline`` goes
      from a cold start to the last write.
    - ``filling``: memories are filled with whole ``tiles``, as their buffers say, or as ``streams``, which is what
      [Dave2019, sec. 5] adds for Eyeriss: an operand that slides along a window brings only the words that its register
      files do not hold yet; these operands and the result pass through queues beside the work, so that PEs with one
      buffer wait only for what else comes; partial sums go from PE to PE while they are made; and a scratch-pad with
      one buffer is filled again where words have been used, beside the work.
    - ``array_axes``: what runs in space takes no more PEs than there are (false), or has a place on the axes of the
      array (true): factors of loops along rows multiply to at most the rows, those along columns to the columns.
    """

    stored_extent: Literal["declared", "touched"] = "declared"
    partial_sums: Literal["doubled", "first_visit_free"] = "doubled"
    leaving_sums: Literal["exposed", "buffered"] = "buffered"
    energy: Literal["rounded", "exact"] = "exact"
    timing: Literal["steady", "timeline"] = "steady"
    filling: Literal["tiles", "streams"] = "tiles"
    array_axes: Annotated[bool, Field(strict=True)] = False


PHYSICAL_RULES = Rules(
    stored_extent="touched",
    partial_sums="first_visit_free",
    leaving_sums="buffered",
    energy="exact",
    timing="timeline",
)


class DataflowMachine(Part):
    """A dataflow accelerator [Dave2019, secs. 4.3 and 5]."""

    schema_name: Literal["mapper.dataflow/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=64)]
    description: Annotated[str, Field(max_length=2000)] = ""
    clock_mhz: Annotated[float, Field(gt=0, le=1e6)]
    word_bytes: Annotated[int, Field(ge=1, le=16, strict=True)]
    pe_array: PeArray
    rf: RegisterFile
    spm: ScratchPad
    noc: NetworkOnChip
    dma: Dma
    energy_pj: Energies
    rules: Rules = Rules()

    @model_validator(mode="after")
    def _is_buildable(self) -> DataflowMachine:
        carried = {network.carries for network in self.noc.networks}
        if carried != {"read", "write"}:
            raise ValueError("noc.networks: needs at least one network that carries read and one write")
        if self.spm.visible_banks < 1:
            raise ValueError("spm.bank_bytes: larger than the visible scratch-pad")
        if self.streams and self.rules.timing == "timeline":
            raise ValueError("rules.filling: a timeline knows whole tiles only; set rules.timing: steady")
        if not self.rules.array_axes and set(self.pe_array.spatial_reduction) != set(AXES):
            raise ValueError("pe_array.spatial_reduction: is of the array's axes; set rules.array_axes: true")
        if not self.rules.array_axes and self.noc.reduction == "systolic":
            raise ValueError(
                "noc.reduction: systolic sums run along the array's axes; set rules.array_axes: true"
            )
        if self.rf.bytes < self.word_bytes:
            raise ValueError("rf.bytes: smaller than one word")
        for memory in ("rf", "spm"):
            table, size = getattr(self.energy_pj, memory), getattr(self, memory).bytes
            if isinstance(table, EnergyBySize) and size not in table.by_bytes:
                raise ValueError(f"energy_pj.{memory}.by_bytes: no energy for {size} bytes; add it")
        return self

    @property
    def streams(self) -> bool:
        """Whether memories are filled as streams."""
        return self.rules.filling == "streams"

    @property
    def sums_exposed(self) -> bool:
        """Whether PEs wait for a partial sum that leaves them; where it streams they do not."""
        return self.rules.leaving_sums == "exposed" and not self.streams

    @property
    def dma_beside(self) -> bool:
        """Whether DMA moves tiles beside the work: into a second buffer, or where words have been used."""
        return self.spm.double_buffered or self.streams

    @property
    def pes(self) -> int:
        return self.pe_array.rows * self.pe_array.columns

    @property
    def rf_words(self) -> int:
        """Words one register file holds."""
        return self.rf.bytes // self.word_bytes

    @property
    def rf_energy_pj(self) -> float:
        table = self.energy_pj.rf
        return table.by_bytes[self.rf.bytes] if isinstance(table, EnergyBySize) else table

    @property
    def spm_energy_pj(self) -> float:
        table = self.energy_pj.spm
        return table.by_bytes[self.spm.bytes] if isinstance(table, EnergyBySize) else table


def as_solved(fields: dict[str, Any]) -> dict[str, Any]:
    """The document of a machine that a solution holds: ``leaving_sums`` was ``exposed`` before that rule had a name."""
    rules = fields.get("rules")
    if fields.get("schema") != "mapper.dataflow/1" or not isinstance(rules, dict):
        return fields
    return {**fields, "rules": {"leaving_sums": "exposed", **rules}}


def dataflow_from_document(fields: dict[str, Any], source: str) -> DataflowMachine:
    """A machine from the fields of a document.

    Raises: InputError naming the field that is wrong.
    """
    return read_part(DataflowMachine, fields, source)
