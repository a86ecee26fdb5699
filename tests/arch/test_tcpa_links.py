"""Limits of a TCPA's links and border PEs: what may be written, and what presets and files of before have."""

from __future__ import annotations

from typing import Any

import pytest

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.workloads.document import InputError


def document(**fields: Any) -> dict[str, Any]:
    found = tcpa_preset("tcpa-3x4")
    assert found is not None
    return {**found, **fields}


def test_presets_have_links_of_32_bits_and_8_buffers_for_a_border_pe() -> None:
    machine = tcpa_from_document(document(), "preset")
    assert machine.link_words == 4 and machine.word_bytes == 1
    assert machine.border.buffers == 8


def test_a_machine_of_before_has_no_limits() -> None:
    fields = document(border={"sides": ["west"], "address_generators": None})
    del fields["link_words"]
    machine = tcpa_from_document(fields, "file")
    assert machine.link_words is None and machine.border.buffers is None and not machine.has_limits


def test_a_corner_reaches_the_buffers_of_two_sides() -> None:
    machine = tcpa_from_document(document(), "preset")
    assert machine.sides_of((0, 0)) == ("north", "west")
    assert machine.sides_of((0, 1)) == ("north",)
    assert machine.sides_of((1, 1)) == ()
    twice = document(border={"sides": ["west", "west"], "address_generators": None})
    assert tcpa_from_document(twice, "file").sides_of((0, 0)) == ("west",)


@pytest.mark.parametrize("value", [0, -1, 4097, 10**30, 1.5, "4", True])
@pytest.mark.parametrize("field", ["link_words", "border.buffers"])
def test_a_limit_that_is_no_count_is_refused_by_its_name(field: str, value: object) -> None:
    border = {"sides": ["west"], "address_generators": None}
    fields = {"border": {**border, "buffers": value}} if "." in field else {field: value}
    with pytest.raises(InputError) as refused:
        tcpa_from_document(document(**fields), "file")
    assert field in str(refused.value)
