"""Systolic overlays read from documents: presets, units, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from mapper.arch.overlay import OverlayMachine, overlay_from_document
from mapper.arch.source import load_machine, machine_from_document, machine_to_document
from mapper.workloads.document import InputError

FIELDS: dict[str, Any] = {
    "schema": "mapper.dynamap/1",
    "name": "small",
    "pes": 16,
    "clock_mhz": 286,
    "word_bits": 8,
    "bandwidth_gb_s": 77,
}


@pytest.mark.parametrize("name", ["dynamap-u200", "dynamap-u200-model", "dynamap-u200-paper"])
def test_a_preset_is_the_published_overlay_and_survives_its_document(name: str) -> None:
    machine, _ = load_machine(name)
    assert isinstance(machine, OverlayMachine)
    assert (machine.pes, machine.clock_hz, machine.word_bytes) == (6084, 286_000_000, 1)
    assert machine_from_document(machine_to_document(machine), name) == machine


def test_defaults_of_a_machine_are_those_of_the_model() -> None:
    preset, _ = load_machine("dynamap-u200-model")
    assert isinstance(preset, OverlayMachine)
    given = overlay_from_document(FIELDS, "file")
    for field in ("winograd", "initialisation", "traffic", "layers", "resource", "energy_pj"):
        assert getattr(given, field) == getattr(preset, field)


def test_a_word_takes_a_whole_number_of_units() -> None:
    machine = overlay_from_document({**FIELDS, "word_bits": 16}, "file")
    # 286e6 cycles for 77e9 bytes: 13 cycles for 3500 bytes.
    assert machine.units_per_cycle == 144 * 3500
    assert machine.units_per_word == 2 * 144 * 13
    assert overlay_from_document({**FIELDS, "bandwidth_gb_s": None}, "file").units_per_word == 0


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"pes": 0}, "pes"),
        ({"word_bits": 12}, "word_bits"),
        ({"bandwidth_gb_s": float("nan")}, "bandwidth_gb_s"),
        ({"bandwidth_gb_s": 0.0001}, "bandwidth_gb_s"),
        ({"clock_mhz": 1.23456}, "clock_mhz"),
        ({"winograd": {"tiles": "floor"}}, "tiles"),
        ({"traffic": {"onchip": 4}}, "onchip"),
        ({"initialisation": {"per": "week"}}, "per"),
    ],
)
def test_a_wrong_field_is_named(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=field):
        overlay_from_document({**FIELDS, **changed}, "file")
