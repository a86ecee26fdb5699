"""Fields of AccelForge's memories and compute units, in words, pJ and cycles."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from mapper.arch.timeloop.value import number
from mapper.workloads.document import InputError
from mapper.workloads.text.structured_text import TAG

WORD = 8
"""Bits of a word."""
COMMON = {TAG, "name", "leak_power", "area", "actions", "total_latency", "component_class", "spatial", "enabled",
          "extra_attributes_for_component_model"}  # fmt: skip
MEMORY = COMMON | {"size", "tensors", "bits_per_value"}
_PER_SECOND = re.compile(r"sum\(a\.n_calls for a in actions\)((?:\s*/\s*[0-9.eE+]+)+)")
_SEPARATE = "max(a.n_calls / a.throughput for a in actions)"
_ONE_VALUE = re.compile(r"(?:(\d{1,9})\s*\*\s*)?\w+\.bits_per_value(?:\s+if\s+\w+\s+else\s+\d)?")


@dataclass(frozen=True)
class Second:
    """Cycles of a second; None if the compute units take no time."""

    cycles: float | None

    @property
    def clock_mhz(self) -> float | None:
        return None if self.cycles is None else self.cycles / 1e6

    @classmethod
    def of(cls, unit: dict[str, Any], source: str, over: list[str]) -> Second:
        """A cycle is the time of one operation of a unit."""
        rate = _calls_a_second(unit, source)
        if rate is None:
            rate = _rate(_actions(unit, source).get("compute", {}), source, str(unit.get("name"))[:40])
        if rate is None:
            over.append(
                "arch: compute units take no time; bandwidths are left out, and a cycle is an operation"
            )
        return cls(rate)


def memory_fields(node: dict[str, Any], second: Second, source: str, over: list[str]) -> dict[str, Any]:
    """Words, blocks, bandwidths, energies and area of a memory.

    Raises: InputError naming a field that cannot be represented.
    """
    name = str(node.get("name"))[:40]
    _known(node, MEMORY, source, name)
    if node.get("bits_per_value"):
        over.append(f"{name}.bits_per_value: words have {WORD} bits everywhere")
    actions = _actions(node, source)
    read, write = (actions.get(sort, {}) for sort in ("read", "write"))
    widths = {
        float(number(one.get("bits_per_action", 1), source, f"{name}.bits_per_action"))
        for one in (read, write)
    }
    if len(widths) > 1 or not all(width >= 1 for width in widths):
        raise InputError(
            source, f"{name}.actions.bits_per_action", "of read and write must be the same, from 1 on"
        )
    width = widths.pop()
    block = max(1, int(width) // WORD)
    found: dict[str, Any] = {
        "words": _words(node, source, name),
        "word_bits": WORD,
        "block": block,
        "energy_pj": _energies(node, (read, write), block * WORD / width, second, source, over),
        "bandwidth": _bandwidth(node, (read, write), width / WORD, second, source, over),
    }
    if node.get("area") is not None:
        found["area_mm2"] = float(number(node["area"], source, f"{name}.area")) * 1e6
    return found


def compute_fields(node: dict[str, Any], second: Second, source: str, over: list[str]) -> dict[str, Any]:
    """Name, energy, leaks and area of the compute units."""
    name = str(node.get("name"))[:40]
    _known(node, COMMON, source, name)
    if node.get("enabled") is not None:
        over.append(f"{name}.enabled: the unit is there for every workload")
    energy = _actions(node, source).get("compute", {}).get("energy")
    if energy is None:
        over.append(
            f"{name}.component_class: its energy comes from hwcomponents; write energy of compute to have it"
        )
    found: dict[str, Any] = {
        "name": name,
        "energy_pj": None if energy is None else _picojoule(energy, source, f"{name}.actions.compute.energy"),
        "leak_pj": _leak(node, second, source),
    }
    if node.get("area") is not None:
        found["area_mm2"] = float(number(node["area"], source, f"{name}.area")) * 1e6
    return found


def _known(node: dict[str, Any], known: set[str], source: str, name: str) -> None:
    unknown = sorted(map(str, set(node) - known))
    if unknown:
        raise InputError(source, f"{name}.{unknown[0][:40]}", "cannot be represented; remove it")


def _actions(node: dict[str, Any], source: str) -> dict[str, dict[str, Any]]:
    name, given = str(node.get("name"))[:40], node.get("actions") or []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise InputError(source, f"{name}.actions", "must list actions")
    for one in given:
        unknown = sorted(map(str, set(one) - {"name", "energy", "throughput", "bits_per_action"}))
        if unknown:
            raise InputError(source, f"{name}.actions.{unknown[0][:40]}", "cannot be represented; remove it")
    return {str(one.get("name")): one for one in given}


def _picojoule(value: Any, source: str, field: str) -> float:
    return float(number(value, source, field)) * 1e12


def _leak(node: dict[str, Any], second: Second, source: str) -> float:
    """pJ of an instance in a cycle."""
    power = float(number(node.get("leak_power", 0), source, f"{str(node.get('name'))[:40]}.leak_power"))
    if power and second.cycles is None:
        raise InputError(source, "leak_power", "needs a throughput of the compute units; add it")
    return power * 1e12 / second.cycles if second.cycles else 0.0


def _words(node: dict[str, Any], source: str, name: str) -> int | None:
    size = node.get("size", "inf")
    if str(size) in ("inf", ".inf"):
        return None
    values = _ONE_VALUE.fullmatch(str(size).strip()[:200])
    if values is not None:
        return int(values[1] or 1)
    bits = number(size, source, f"{name}.size")
    if bits < WORD:
        raise InputError(source, f"{name}.size", f"holds no word of {WORD} bits; make it larger")
    return int(bits // WORD)


def _energies(
    node: dict[str, Any],
    actions: tuple[dict[str, Any], dict[str, Any]],
    share: float,
    second: Second,
    source: str,
    over: list[str],
) -> dict[str, float] | None:
    """Of a block, of which an action moves ``1 / share``."""
    name = str(node.get("name"))[:40]
    given = [one.get("energy") for one in actions]
    if None in given:
        over.append(
            f"{name}.component_class: its energies come from hwcomponents; write energy of read and write to have them"
        )
        return None
    read, write = (_picojoule(one, source, f"{name}.actions.energy") * share for one in given)
    return {"read": read, "fill": write, "update": write, "leak": _leak(node, second, source)}


def _bandwidth(
    node: dict[str, Any],
    actions: tuple[dict[str, Any], dict[str, Any]],
    words: float,
    second: Second,
    source: str,
    over: list[str],
) -> dict[str, float]:
    """Words a cycle, of actions that move so many words. Reads and writes take turns unless the file says otherwise."""
    if second.cycles is None:
        return {}
    name = str(node.get("name"))[:40]
    together = _calls_a_second(node, source)
    if together is not None:
        return {"shared": together * words / second.cycles}
    read, write = (_rate(one, source, name) for one in actions)
    if str(node.get("total_latency", "")).strip() == _SEPARATE:
        rates = {"read": read, "write": write}
        return {key: rate * words / second.cycles for key, rate in rates.items() if rate is not None}
    limited = [rate for rate in (read, write) if rate is not None]
    if not limited:
        return {}
    if read != write:
        over.append(f"{name}.actions.throughput: reads and writes take turns at the slower one's")
    return {"shared": min(limited) * words / second.cycles}


def _calls_a_second(node: dict[str, Any], source: str) -> float | None:
    """What ``total_latency`` divides the actions by; None if it says nothing or goes by each action's throughput."""
    text = str(node.get("total_latency", "")).strip()[:200]
    if not text or text == _SEPARATE:
        return None
    found = _PER_SECOND.fullmatch(text)
    if found is None:
        name = str(node.get("name"))[:40]
        raise InputError(
            source, f"{name}.total_latency", "cannot be represented; give each action a throughput"
        )
    return math.prod(float(number(part.strip(), source, "total_latency")) for part in found[1].split("/")[1:])


def _rate(action: dict[str, Any], source: str, name: str) -> float | None:
    """Actions a second; None without limit."""
    value = action.get("throughput", "inf")
    if str(value) in ("inf", ".inf"):
        return None
    found = float(number(value, source, f"{name}.actions.throughput"))
    if found <= 0:
        raise InputError(source, f"{name}.actions.throughput", "must be above 0, or inf")
    return found
