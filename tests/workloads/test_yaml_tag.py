"""YAML whose tags say another type than a value has is refused in one line."""

from __future__ import annotations

import pytest

from mapper.workloads.document import InputError, parse_document


@pytest.mark.parametrize(
    "value",
    [
        "!!binary aGk=",
        "!!timestamp [1]",
        "!!bool x",
        "!!int ''",
        "!!float ''",
        "!!set [a]",
        "!!map [1]",
        "!!int [1]",
    ],
)
def test_a_value_that_its_tag_does_not_fit_is_refused(value: str) -> None:
    with pytest.raises(InputError, match=r"^mine\.yaml: neither YAML nor JSON: "):
        parse_document(f"a: {value}".encode(), "mine.yaml")


def test_a_date_is_text_as_it_is_written() -> None:
    assert parse_document(b"name: 2001-02-30", "mine.yaml") == {"name": "2001-02-30"}
