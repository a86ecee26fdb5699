"""Attributes of Timeloop's components: which of them the model takes, which say nothing to it, which it refuses."""

from __future__ import annotations

from typing import Any

from mapper.arch.timeloop.architecture import FANOUT_CLASS, Component
from mapper.arch.timeloop.table import action
from mapper.arch.timeloop.value import number, whole
from mapper.workloads.document import InputError

WORD = ("word_bits", "word_width", "datawidth")
BLOCK = ("block_size", "n_words")
WIDTH = ("width", "memory_width", "data_storage_width")
DEPTH = ("depth", "memory_depth", "data_storage_depth")
BANKS = ("n_banks", "num_banks")
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "cluster_size": (),
    "min_utilization": (0, 0.0, None),
    "allow_overbooking": (False, None),
    "has_power_gating": (False, None),
    "power_gated_at": (None,),
    "network_fill_latency": (0,),
    "network_drain_latency": (0,),
    "per_dataspace_bandwidth_consumption_scale": ({}, None),
    "concordant_compressed_tile_traversal": (False,),
    "tile_partition_supported": (False,),
    "decompression_supported": (False,),
    "compression_supported": (False,),
    "addr_gen_energy": (0, 0.0),
    "metadata_storage_width": (0,),
    "metadata_storage_depth": (0,),
}
"""Attributes that change Timeloop's results in ways that cannot be represented, and the values that change nothing."""


TAKEN = (
    *WORD, *BLOCK, *WIDTH, *DEPTH, *BANKS, *NEUTRAL, "entries", "sizeKB", "read_bandwidth", "write_bandwidth",
    "shared_bandwidth", "bandwidth", "multiple_buffering", "vector_access_energy", "energy_per_op", "meshX",
    "meshY", "instances", "global_cycle_seconds",
)  # fmt: skip


def passed_over(found: list[Component]) -> list[str]:
    """Attributes of which nobody takes notice, each with the components that have it. Those of a level that keeps
    nothing are of the container that it stands for, and those of a table of energies have done their work there."""
    components: dict[str, list[str]] = {}
    for one in found:
        for key in one.attributes:
            if key not in TAKEN:
                components.setdefault(str(key)[:60], []).append(one.name)
    return [
        f"{key} of {', '.join(names)}"[:200] + ": changes nothing here"
        for key, names in sorted(components.items())
    ]


def level_fields(
    component: Component,
    ert: dict[str, dict[str, float]] | None,
    art: dict[str, float],
    source: str,
) -> dict[str, Any]:
    """The fields of a memory level.

    Raises: InputError naming an attribute that cannot be represented.
    """
    name, own = component.name, component.attributes
    if component.sort == FANOUT_CLASS:
        return {"name": name, "energy_pj": {"read": 0, "fill": 0, "update": 0}, "area_mm2": 0.0}
    for key, neutral in NEUTRAL.items():
        if neutral and key in own and own[key] not in neutral:
            remedy = f"{str(own[key])[:30]} cannot be represented; remove it"
            raise InputError(source, f"{name}.{key}", remedy)
    bits = _whole(own, WORD, source, name) or 16
    block, cluster = _block(own, bits, source, name)
    fields: dict[str, Any] = {
        "name": name,
        "word_bits": bits,
        "block": block,
        "cluster": cluster,
        "words": _words(own, bits, block, source, name),
        "banks": _whole(own, BANKS, source, name) or 1,
        "bandwidth": _bandwidth(own, source, name),
    }
    if own.get("multiple_buffering") is not None:
        fields["buffers"] = float(number(own["multiple_buffering"], source, f"{name}.multiple_buffering"))
    fields["energy_pj"] = _energy(component, ert, source)
    if name in art:
        fields["area_mm2"] = art[name]
    return fields


def compute_fields(
    component: Component,
    ert: dict[str, dict[str, float]] | None,
    art: dict[str, float],
    source: str,
) -> dict[str, Any]:
    """The fields of the compute units."""
    fields: dict[str, Any] = {"name": component.name, "area_mm2": art.get(component.name)}
    given = component.attributes.get("energy_per_op")
    if ert is not None:
        known = ert.get(component.name)
        energy = action(known, "compute") if known is not None else None
        if known is None or energy is None:
            raise InputError(source, f"ERT: {component.name}", "has no energy of computing; add it")
        # Timeloop counts leaks of memories alone.
        fields["energy_pj"] = energy
    elif given is not None:
        fields["energy_pj"] = float(number(given, source, f"{component.name}.energy_per_op"))
    return fields


def _whole(own: dict[str, Any], keys: tuple[str, ...], source: str, name: str) -> int | None:
    for key in keys:
        if own.get(key) is not None:
            return whole(own[key], source, f"{name}.{key}")
    return None


def _block(own: dict[str, Any], bits: int, source: str, name: str) -> tuple[int, int]:
    """Words of an access, and how many instances share one."""
    block = _whole(own, BLOCK, source, name)
    cluster = _whole(own, ("cluster_size",), source, name)
    width = _whole(own, WIDTH, source, name)
    if width is None:
        return block or 1, cluster or 1
    if block is not None:
        return block, cluster or max(1, width // (bits * block))
    if width % (bits * (cluster or 1)):
        remedy = f"{width} bits are no whole number of words of {bits} bits"
        raise InputError(source, f"{name}.width", remedy)
    return width // (bits * (cluster or 1)), cluster or 1


def _words(own: dict[str, Any], bits: int, block: int, source: str, name: str) -> int | None:
    if own.get("entries") is not None:
        return whole(own["entries"], source, f"{name}.entries")
    depth = _whole(own, DEPTH, source, name)
    if depth is not None:
        return depth * block
    if own.get("sizeKB") is not None:
        return int(number(own["sizeKB"], source, f"{name}.sizeKB") * 1024 * 8 // bits)
    return None


def _bandwidth(own: dict[str, Any], source: str, name: str) -> dict[str, float]:
    found = {}
    for key in ("read", "write", "shared"):
        value = own.get(f"{key}_bandwidth")
        if value is not None and number(value, source, f"{name}.{key}_bandwidth") > 0:
            found[key] = float(number(value, source, f"{name}.{key}_bandwidth"))
    if own.get("bandwidth") is not None:
        half = float(number(own["bandwidth"], source, f"{name}.bandwidth")) / 2
        found = {"read": half, "write": half} | found
    return found


def _energy(
    component: Component, ert: dict[str, dict[str, float]] | None, source: str
) -> dict[str, float] | None:
    given = component.attributes.get("vector_access_energy")
    if given is not None:
        pj = float(number(given, source, f"{component.name}.vector_access_energy"))
        return {"read": pj, "fill": pj, "update": pj}
    if ert is None:
        return None
    known = ert.get(component.name)
    if known is None:
        raise InputError(source, f"ERT: {component.name}", "is missing; give the table of this machine")
    found = {}
    for sort in ("read", "fill", "update"):
        energy = action(known, sort)
        if energy is None:
            raise InputError(source, f"ERT: {component.name}", f"has no energy of {sort}; add it")
        found[sort] = energy
    return found | {"leak": action(known, "leak") or 0.0}
