"""Machines of any memory hierarchy: storage levels from outside in, fan-outs between them, and compute at the end.

The terms are Timeloop's [Parashar2019]: a level keeps tensors or is bypassed by them, a fan-out carries loops in space
along X and Y, and energies are those of one access to a block of words.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from mapper.arch.part import Part, read_part
from mapper.workloads.text.nearest import meant

HIERARCHY_SCHEMA = "mapper.hierarchy/1"
Count = Annotated[int, Field(ge=1, le=1 << 40, strict=True)]
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=64)]
Names = Annotated[list[Name], Field(max_length=64)]


class Actions(Part):
    """Energy in pJ of an access to one block (``read`` by whom it serves, ``fill`` from outside, ``update`` by a result
    from inside), and ``leak`` in pJ per cycle and instance in use."""

    read: Amount
    fill: Amount
    update: Amount
    leak: Amount = 0.0


class ActionsBySize(Part):
    """Energies for each capacity in words, so that a sweep of sizes stays honest."""

    by_words: Annotated[dict[Annotated[int, Field(ge=1)], Actions], Field(min_length=1)]


class Bandwidth(Part):
    """Words a cycle of one instance; None does not limit."""

    read: Rate | None = None
    write: Rate | None = None
    shared: Rate | None = None


class Fanout(Part):
    """Instances of what is inside, per instance of the level: ``x`` times ``y``. ``x_loops`` and ``y_loops`` name the
    loops that an axis may carry (None: any). ``multicast``: one read serves all instances that take the same words;
    ``reduction``: partial sums of the same words meet before they are written."""

    x: Count = 1
    y: Count = 1
    x_loops: Names | None = None
    y_loops: Names | None = None
    multicast: bool = True
    reduction: bool = True


class MemoryLevel(Part):
    """A storage level: ``words`` of ``word_bits`` bits per instance (None: without limit), ``block`` words an access,
    which ``cluster`` instances share, ``buffers`` copies of each tile; tensors it must ``keep``, and those it must
    ``bypass``."""

    name: Name
    words: Count | None = None
    word_bits: Annotated[int, Field(ge=1, le=4096, strict=True)] = 16
    block: Count = 1
    cluster: Count = 1
    banks: Count = 1
    buffers: Annotated[float, Field(ge=1, le=64, allow_inf_nan=False)] = 1.0
    keep: Names = Field(default=[])
    bypass: Names = Field(default=[])
    bandwidth: Bandwidth = Bandwidth()
    energy_pj: Actions | ActionsBySize | None = None
    area_mm2: Amount | None = None
    fanout: Fanout = Fanout()

    @property
    def capacity(self) -> int | None:
        """Words that tiles may take."""
        return None if self.words is None else int(self.words / self.buffers)

    @property
    def actions(self) -> Actions | None:
        """The energies at the level's own capacity."""
        if isinstance(self.energy_pj, ActionsBySize):
            return self.energy_pj.by_words[self.words or 0]
        return self.energy_pj


class Compute(Part):
    """Units at the end of the hierarchy: ``rate`` operations a cycle each, pJ per operation, area of one in mm2."""

    name: Name = "MAC"
    rate: Count = 1
    energy_pj: Amount | None = None
    leak_pj: Amount = 0.0
    area_mm2: Amount | None = None


class Rules(Part):
    """Rules in which tools, or versions of one, differ.

    - ``first_read``: the read of a partial sum that is still zero is ``elided`` or ``counted``.
    - ``first_fill``: the fill of an inner level by that read is ``elided`` or ``counted``.
    - ``link_transfers``: instances take words from neighbours that had them a step before.
    - ``throttling``: cycles at a bandwidth are ``exact``, or computed in ``floating`` point by a slowdown of computing.
    """

    first_read: Literal["elided", "counted"] = "elided"
    first_fill: Literal["elided", "counted"] = "elided"
    link_transfers: bool = True
    throttling: Literal["exact", "floating"] = "exact"


class Constraint(Part):
    """What a mapping must keep at one level: trip counts (``factors``, and at the ``most``), loops from the innermost
    outwards (``permutation``), how many of the spatial ones lie along X (``split``)."""

    level: Name
    kind: Literal["temporal", "spatial"]
    factors: dict[Name, Count] = Field(default={})
    most: dict[Name, Count] = Field(default={})
    permutation: Names = Field(default=[])
    split: Annotated[int, Field(ge=0, le=1 << 20)] | None = None


class HierarchyMachine(Part):
    """Storage levels outer to inner, compute, and what mappings must keep. ``passed_over`` are the fields of another
    tool's file that say something of which this machine takes no notice."""

    schema_name: Literal["mapper.hierarchy/1"] = Field(alias="schema")
    name: Name
    description: Annotated[str, Field(max_length=2000)] = ""
    clock_mhz: Annotated[float, Field(gt=0, le=1e6)] | None = None
    levels: Annotated[list[MemoryLevel], Field(min_length=1, max_length=16)]
    compute: Compute = Compute()
    rules: Rules = Rules()
    constraints: Annotated[list[Constraint], Field(max_length=128)] = Field(default=[])
    passed_over: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=64)] = Field(
        default=[]
    )

    @model_validator(mode="after")
    def _fits_together(self) -> HierarchyMachine:
        names = [level.name for level in self.levels]
        twice = {name for name in names if names.count(name) > 1}
        if twice or self.compute.name in names:
            raise ValueError(f"levels: {min(twice or {self.compute.name})} is the name of two; rename one")
        for place, level in enumerate(self.levels):
            both = set(level.keep) & set(level.bypass)
            if both:
                raise ValueError(f"levels.{place}.bypass: {min(both)} is kept too; leave one out")
            table = level.energy_pj
            if isinstance(table, ActionsBySize) and level.words not in table.by_words:
                raise ValueError(
                    f"levels.{place}.energy_pj.by_words: no energy for {level.words} words; add it"
                )
        for place, constraint in enumerate(self.constraints):
            if constraint.level not in names:
                remedy = f"{meant(constraint.level, names)}{constraint.level} is no level of the machine"
                raise ValueError(f"constraints.{place}.level: {remedy}")
        return self

    @cached_property
    def loop_names(self) -> frozenset[str]:
        """All loops that fan-outs and constraints name."""
        named = [loop for one in self.constraints for loop in (*one.factors, *one.most, *one.permutation)]
        for level in self.levels:
            named += [*(level.fanout.x_loops or ()), *(level.fanout.y_loops or ())]
        return frozenset(named)

    @property
    def units(self) -> int:
        """Compute units."""
        units = 1
        for level in self.levels:
            units *= level.fanout.x * level.fanout.y
        return units

    @property
    def on_chip_bytes(self) -> int:
        """Bytes of all instances of all levels but the outermost; levels without a limit are not counted."""
        bits, instances = 0, 1
        for place, level in enumerate(self.levels):
            bits += instances * (level.words or 0) * level.word_bits if place else 0
            instances *= level.fanout.x * level.fanout.y
        return -(-bits // 8)

    @property
    def area_mm2(self) -> float | None:
        """Area of all instances of levels and units; None if one is not given."""
        total, instances = 0.0, 1
        for level in self.levels:
            if level.area_mm2 is None:
                return None
            total += instances * level.area_mm2
            instances *= level.fanout.x * level.fanout.y
        return None if self.compute.area_mm2 is None else total + instances * self.compute.area_mm2


def hierarchy_from_document(fields: dict[str, Any], source: str) -> HierarchyMachine:
    """A machine from the fields of a document.

    Raises: InputError naming the field that is wrong.
    """
    return read_part(HierarchyMachine, fields, source)
