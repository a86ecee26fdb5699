"""Pinned decisions of partitions, as ``--fix`` says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from mapper.arch.snowflake import SnowflakeMachine
from mapper.formulations.trace_partition.problem import Pin
from mapper.models.trace_partition.configuration import (
    Configuration,
    configuration_named,
    whole_machine,
)
from mapper.models.trace_partition.lowering.layer import TraceNetwork
from mapper.models.trace_partition.mapping import Mode, Order, Split
from mapper.workloads.document import InputError
from mapper.workloads.text.nearest import meant
from mapper.workloads.text.number_text import whole_number

WORDS: dict[str, tuple[str, ...]] = {
    "mode": get_args(Mode),
    "order": get_args(Order),
    "unit_split": get_args(Split),
    "cluster_split": get_args(Split),
    "input_resident": ("yes", "no"),
    "output_resident": ("yes", "no"),
}
SIZES = ("rows", "columns", "in_channels", "out_channels")
LARGEST = 1 << 24
KNOWN = f"configuration, or LAYER.DECISION with {', '.join((*SIZES, *WORDS))}"


def read_fix(
    fix: Mapping[str, str], network: TraceNetwork, machine: SnowflakeMachine
) -> tuple[Configuration, dict[str, Pin]]:
    """The configuration (by default one accelerator, one image, all clusters) and each layer's pinned decisions:
    ``configuration=1f2i2c``, ``conv1.mode=indp``, ``conv1.rows=4``, ``conv1.output_resident=no``.

    Raises: InputError for a decision, a layer or a value that there is none of.
    """
    configuration, pins = whole_machine(machine), dict[str, Pin]()
    names = [layer.name for layer in network.traced]
    for key, value in fix.items():
        name, dot, decision = key.rpartition(".")
        if not dot and key == "configuration":
            configuration = configuration_named(value, machine)
        elif dot and decision in (*WORDS, *SIZES):
            if name not in names:
                remedy = (
                    f"{name[:40]!r} is not a layer of the accelerator; "
                    f"{meant(name, names)}there are {', '.join(names[:4])} …"
                )
                raise InputError("--fix", key[:60], remedy)
            given: Any = _size(key, value) if decision in SIZES else _word(key, value, WORDS[decision])
            pins[name] = replace(pins.get(name, Pin()), **{decision: given})
        else:
            keys = [f"{one}.{word}" for one in names for word in (*SIZES, *WORDS)]
            close = meant(key, ("configuration", *keys))
            raise InputError("--fix", key[:60], f"unknown decision; {close}there are {KNOWN}")
    return configuration, pins


def _size(key: str, value: str) -> int:
    number = whole_number(value, 1, LARGEST)
    if number is None:
        raise InputError("--fix", key[:60], f"{value[:40]!r} is not a whole number from 1 to {LARGEST}")
    return number


def _word(key: str, value: str, known: tuple[str, ...]) -> str | bool:
    if value not in known:
        remedy = f"{meant(value, known)}{value[:40]!r} is not one of {', '.join(known)}"
        raise InputError("--fix", key[:60], remedy)
    return value == "yes" if "yes" in known else value
