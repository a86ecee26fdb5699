"""A machine of this project from a ZigZag accelerator: memories, innermost first, around an array of multipliers.

A memory of ZigZag serves some dimensions of the array and is repeated along the others. If the dimensions along which
memories are repeated grow from level to level, they are a hierarchy with fan-outs in between. Costs are those of
accesses of a port's full width; accesses come in parts of its least width. What a hierarchy cannot say is listed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mapper.arch.hierarchy import HIERARCHY_SCHEMA, HierarchyMachine, hierarchy_from_document
from mapper.arch.timeloop.value import number, whole
from mapper.workloads.document import InputError

OPERANDS = {"I1": "I", "I2": "W", "O": "O"}
"""ZigZag's operands of a memory, as its own mappings link them to those of a layer."""
DIRECTIONS = {"tl": "read", "th": "read", "fh": "write", "fl": "write"}
MEMORY_FIELDS = {
    "size", "r_cost", "w_cost", "area", "latency", "mem_type", "auto_cost_extraction", "operands", "ports",
    "served_dimensions", "force_double_buffering",
}  # fmt: skip
ARRAY_FIELDS = {"dimensions", "sizes", "is_imc", "input_precision", "unit_energy", "unit_area"}
_ROOT = re.compile(r"^(memories|operational_array)[ \t]*:", re.MULTILINE)


def is_zigzag_machine(text: str) -> bool:
    """Whether a text is a ZigZag accelerator: both of its roots."""
    return len(set(_ROOT.findall(text))) == 2


@dataclass(frozen=True)
class _Memory:
    """A memory: its fields as written, and the dimensions of the array along which it is repeated."""

    name: str
    fields: dict[str, Any]
    repeated: frozenset[str]


def zigzag_machine(fields: dict[str, Any], source: str) -> HierarchyMachine:
    """The hierarchy that an accelerator is.

    Raises: InputError naming what is wrong or is no hierarchy.
    """
    over: list[str] = []
    unknown = sorted(set(fields) - {"name", "memories", "operational_array", "dataflows"})
    if unknown:
        raise InputError(
            source, unknown[0][:60], "is no part of a ZigZag accelerator that is known; remove it"
        )
    if fields.get("dataflows"):
        over.append("dataflows: no loop is bound to a dimension; pin them with --fix spatial.LEVEL=K:16x")
    array = _object(fields.get("operational_array"), source, "operational_array")
    sizes = _array(array, source)
    memories = _memories(fields.get("memories"), sizes, source)
    bits = _precision(array, source)
    levels = [_level(memory, bits, source, over) for memory in memories]
    units = {"name": "MAC", "energy_pj": _cost(array, "unit_energy", source, "operational_array")}
    if array.get("unit_area"):
        over.append("operational_array.unit_area: has no unit; add area_mm2 to the machine's own document")
    return hierarchy_from_document(
        {
            "schema": HIERARCHY_SCHEMA,
            "name": str(fields.get("name", source))[:64],
            "description": "From a ZigZag accelerator.",
            "levels": _with_fanouts(levels, memories, sizes),
            "compute": units,
            "rules": {"link_transfers": False},
            "passed_over": [line[:300] for line in over][:64],
        },
        source,
    )


def _object(value: Any, source: str, field: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InputError(source, field, "must be an object of named fields")
    return value


def _list(value: Any, source: str, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(source, field, "must be a list")
    return value


def _array(array: dict[str, Any], source: str) -> dict[str, int]:
    """The dimensions of the array of multipliers, with their sizes."""
    if array.get("is_imc"):
        raise InputError(
            source, "operational_array.is_imc", "computing in memory is no hierarchy of memories around units"
        )
    unknown = sorted(set(array) - ARRAY_FIELDS)
    if unknown:
        raise InputError(source, f"operational_array.{unknown[0][:40]}", "cannot be represented; remove it")
    names = _list(array.get("dimensions"), source, "operational_array.dimensions")
    sizes = _list(array.get("sizes"), source, "operational_array.sizes")
    if not names or len(names) != len(sizes) or len(set(map(str, names))) != len(names):
        raise InputError(source, "operational_array.sizes", "must give each dimension one size")
    return {
        str(name)[:32]: whole(size, source, "operational_array.sizes")
        for name, size in zip(names, sizes, strict=True)
    }


def _precision(array: dict[str, Any], source: str) -> int:
    """Bits of a word; a machine says them of inputs and weights alone, workloads say the rest."""
    given = array.get("input_precision")
    if given is None:
        return 8
    widths = {
        whole(one, source, "operational_array.input_precision")
        for one in _list(given, source, "input_precision")
    }
    if len(widths) != 1:
        raise InputError(
            source,
            "operational_array.input_precision",
            "inputs and weights must have as many bits; give one width",
        )
    return widths.pop()


def _memories(value: Any, sizes: dict[str, int], source: str) -> list[_Memory]:
    """Memories outer to inner.

    Raises: InputError if they are repeated along dimensions that do not grow inwards.
    """
    found = []
    for name, given in reversed(_object(value, source, "memories").items()):
        own = _object(given, source, f"memories.{name[:40]}")
        unknown = sorted(set(own) - MEMORY_FIELDS)
        if unknown:
            raise InputError(
                source, f"memories.{name[:40]}.{unknown[0][:40]}", "cannot be represented; remove it"
            )
        served = set(
            map(str, _list(own.get("served_dimensions"), source, f"memories.{name[:40]}.served_dimensions"))
        )
        if not served <= set(sizes):
            raise InputError(
                source, f"memories.{name[:40]}.served_dimensions", f"must be some of {', '.join(sizes)}"
            )
        found.append(_Memory(name, own, frozenset(set(sizes) - served)))
    if not found:
        raise InputError(source, "memories", "are none; add one")
    # Memories of different operands may be listed in any order.
    found.sort(key=lambda memory: len(memory.repeated))
    for outer, inner in pairwise(found):
        if not outer.repeated <= inner.repeated:
            raise InputError(
                source,
                f"memories.{inner.name[:40]}.served_dimensions",
                f"crosses that of {outer.name[:40]}: neither serves all that the other does, which is no hierarchy; "
                "let one serve the dimensions of the other",
            )
    return found


@dataclass(frozen=True)
class _Ports:
    """Bits a cycle that a memory's ports move together: read, written, and either; and the least and full width."""

    read: int
    write: int
    shared: int
    least: int
    full: int


def _level(memory: _Memory, bits: int, source: str, over: list[str]) -> dict[str, Any]:
    place, own = f"memories.{memory.name[:40]}", memory.fields
    kept = [str(one) for one in _list(own.get("operands"), source, f"{place}.operands")]
    if not kept or not set(kept) <= set(OPERANDS):
        raise InputError(source, f"{place}.operands", f"must be some of {', '.join(OPERANDS)}")
    ports = _ports(own, source, place, over)
    size = whole(own.get("size"), source, f"{place}.size")
    if kept == ["O"] and size == ports.full:
        # A register of one partial sum, which is wider than what is multiplied.
        bits = size
    if ports.least % bits or ports.full % ports.least:
        remedy = f"{ports.least} to {ports.full} bits are no whole numbers of words of {bits} bits; change the widths"
        raise InputError(source, f"{place}.ports.bandwidth_min", remedy)
    costs = [_cost(own, key, source, place) for key in ("r_cost", "w_cost")]
    energy = None
    if own.get("auto_cost_extraction") or None in costs:
        over.append(
            f"{place}.auto_cost_extraction: energies come from CACTI; write r_cost and w_cost to have them"
        )
    else:
        read, write = ((cost or 0.0) * ports.least / ports.full for cost in costs)
        energy = {"read": read, "fill": write, "update": write}
    if own.get("latency", 1) != 1:
        over.append(f"{place}.latency: accesses take no time beside their bandwidth")
    if own.get("area"):
        over.append(f"{place}.area: has no unit; add area_mm2 to the machine's own document")
    operands = [OPERANDS[one] for one in kept]
    rates = {"read": ports.read, "write": ports.write, "shared": ports.shared}
    return {
        "name": memory.name[:64],
        "words": max(1, size // bits),
        "word_bits": bits,
        "block": ports.least // bits,
        "buffers": 2.0 if own.get("force_double_buffering") else 1.0,
        "keep": operands,
        "bypass": [one for one in OPERANDS.values() if one not in operands],
        "bandwidth": {name: rate / bits for name, rate in rates.items() if rate},
        "energy_pj": energy,
    }


def _ports(own: dict[str, Any], source: str, place: str, over: list[str]) -> _Ports:
    total = {"read": 0, "write": 0, "read_write": 0}
    least, full, apart = 0, 0, False
    for number_, given in enumerate(_list(own.get("ports"), source, f"{place}.ports")):
        field = f"{place}.ports.{number_}"
        port = _object(given, source, field)
        kind = port.get("type")
        if kind not in total:
            raise InputError(source, f"{field}.type", f"must be one of {', '.join(total)}")
        narrow = whole(port.get("bandwidth_min"), source, f"{field}.bandwidth_min")
        wide = whole(port.get("bandwidth_max"), source, f"{field}.bandwidth_max")
        for entry in _list(port.get("allocation"), source, f"{field}.allocation"):
            operand, _, direction = str(entry).partition(",")
            if operand.strip() not in OPERANDS or direction.strip() not in DIRECTIONS:
                raise InputError(source, f"{field}.allocation", "must list an operand and fh, fl, th or tl")
        apart = apart or total[kind] > 0
        total[kind] += wide
        least, full = (min(least, narrow) if least else narrow), max(full, wide)
    if not least:
        raise InputError(source, f"{place}.ports", "are none; add one")
    if apart:
        over.append(
            f"{place}.ports: those of one direction are taken together, whatever operand they are for"
        )
    return _Ports(total["read"], total["write"], total["read_write"], least, full)


def _cost(own: dict[str, Any], key: str, source: str, place: str) -> float | None:
    value = own.get(key)
    return None if value is None else float(number(value, source, f"{place}.{key}"))


def _with_fanouts(
    levels: list[dict[str, Any]], memories: list[_Memory], sizes: dict[str, int]
) -> list[dict[str, Any]]:
    """Levels and what lies between: two dimensions are the axes of a fan-out, others levels that keep nothing."""
    found = []
    inner = [*(memory.repeated for memory in memories[1:]), frozenset(sizes)]
    for level, memory, below in zip(levels, memories, inner, strict=True):
        dimensions = [name for name in sizes if name in below - memory.repeated]
        for place in range(0, max(1, len(dimensions)), 2):
            if place:
                name = f"{dimensions[place]}_of_{level['name']}"[:64]
                nothing = {"read": 0, "fill": 0, "update": 0}
                level = {"name": name, "bypass": ["*"], "energy_pj": nothing}
            axes = zip("xy", dimensions[place : place + 2], strict=False)
            level["fanout"] = {axis: sizes[name] for axis, name in axes}
            found.append(level)
    return found
