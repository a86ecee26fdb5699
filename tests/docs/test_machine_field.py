"""The page of machine fields is that of their definitions, and none of them is left out."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from docs.site.machine_field import CLASSES, PAGE, page
from mapper.arch.field import all_told, machine_fields
from mapper.arch.source import machine_names
from mapper.schema.document import READ, schema


def test_the_page_is_made_of_the_definitions_as_they_are() -> None:
    assert PAGE.read_text("utf-8") == page(), "run python -m docs.site.machine_field"


def test_every_class_of_machine_that_a_preset_has_is_on_the_page() -> None:
    assert {one.schema for one in machine_names()} == {f"mapper.{name}/1" for name in CLASSES}


def test_every_field_has_words_and_no_words_are_of_a_field_that_is_gone() -> None:
    known = set()
    for name in CLASSES:
        module, _, owner = READ[name].partition(":")
        for field in machine_fields(getattr(import_module(module), owner)):
            assert field.told is not None, f"add {field.owner.__name__}.{field.name} to arch/field.yaml"
            known.add((field.owner.__module__.rpartition(".")[2], field.owner.__name__, field.name))
    assert all_told() == known


def test_no_field_lacks_its_unit_its_default_or_its_source() -> None:
    rows = [re.split(r"(?<!\\)\|", line) for line in page().splitlines() if line.startswith("| `")]
    assert len(rows) > 250
    assert [row[1] for row in rows if not (row[3].strip() and row[4].strip() and row[6].strip())] == []


@pytest.mark.parametrize("name", CLASSES)
def test_editors_are_told_the_same(name: str) -> None:
    clock = schema(name)["properties"]["clock_mhz"]["description"]
    assert ", in MHz (" in clock
