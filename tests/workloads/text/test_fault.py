"""What is wrong with a document is said in words for whoever wrote it."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from mapper.arch.source import machine_from_document, preset_text
from mapper.workloads.document import InputError
from mapper.workloads.text.nearest import meant

FOREIGN = re.compile(r"Input|should be|Field required|Extra|Value error|valid (integer|number)|key\]|tuple\[")
ONE_OF_EACH_CLASS = ("dmazerunner-256", "srp-4x4", "tcpa-4x4", "dynamap-u200", "snowflake-1cc")
WRONG: tuple[Any, ...] = ("banana", -5, 3.7, None, [], {}, True, [1, "x"], {"zz": 1}, float("inf"))


def said(fields: dict[str, Any]) -> str | None:
    try:
        machine_from_document(fields, "mine.yaml")
    except InputError as error:
        return str(error)
    return None


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    for step, one in inner:
        yield (*before, step)
        yield from places(one, (*before, step))


def within(value: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


@pytest.mark.parametrize("name", ONE_OF_EACH_CLASS)
def test_no_machine_with_a_wrong_value_is_answered_in_a_librarys_words(name: str) -> None:
    fields = yaml.safe_load(preset_text(name) or "")
    told = set()
    for place in places(fields):
        for value in WRONG:
            changed = copy.deepcopy(fields)
            within(changed, place[:-1])[place[-1]] = value
            told.add(said(changed))
    lines = told - {None}
    assert lines and not [line for line in lines if line is not None and FOREIGN.search(line)]


@pytest.mark.parametrize("name", ONE_OF_EACH_CLASS)
def test_a_key_that_is_nearly_right_is_answered_with_the_right_one(name: str) -> None:
    fields = yaml.safe_load(preset_text(name) or "")
    for key in fields.keys() - {"schema"}:
        changed = {**fields, f"{key}s": fields[key]}
        del changed[key]
        assert f"mine.yaml: {key}s: unknown key; did you mean {key}? " in (said(changed) or "")


def test_a_key_that_is_like_none_is_only_refused() -> None:
    fields = yaml.safe_load(preset_text("srp-4x4") or "")
    assert said({**fields, "qqq": 1}) == "mine.yaml: qqq: unknown key; remove or correct it"


def test_names_are_meant_in_either_case_and_only_if_they_are_close() -> None:
    assert meant("CONV1", ("conv1", "conv2")) == "did you mean conv1? "
    assert meant("objective", ("edp", "latency")) == ""
