"""How a search went stands in its solution."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mapper.solver.history import MOST_POINTS, Recorder, history_from_json
from mapper.solver.method import Progress


def test_only_changes_are_kept_and_the_end_is() -> None:
    recorder = Recorder()
    for value, bound in ((9, None), (9, None), (7, 3), (7, 3)):
        recorder.add(Progress(value, bound, 0))
    found = recorder.ended(7, 7)
    assert [(point.value, point.bound) for point in found] == [(9, None), (7, 3), (7, 7)]
    assert [point.seconds for point in found] == sorted(point.seconds for point in found)


def test_a_search_that_said_nothing_has_no_history() -> None:
    assert Recorder().ended(7, 7) == ()


def test_a_long_search_keeps_its_beginning_and_its_end_within_the_limit() -> None:
    recorder = Recorder()
    for value in range(10 * MOST_POINTS, 0, -1):
        recorder.add(Progress(value, 0, 0))
    found = recorder.ended(1, 1)
    assert len(found) <= MOST_POINTS + 1
    assert (found[0].value, found[-1].value, found[-1].bound) == (10 * MOST_POINTS, 1, 1)


def test_infinite_bounds_are_none() -> None:
    recorder = Recorder()
    recorder.add(Progress(1, float("-inf"), 0))
    assert recorder.ended(1, None)[0].bound is None


def test_the_document_has_the_history_of_its_search(mapper: Any) -> None:
    _, out, _ = mapper("solve", "resnet-dmazerunner/conv5_2", "--store", "none", "--json")
    part = json.loads(out)["parts"][0]
    found = history_from_json(part["history"])
    assert found[-1].value == part["certificate"]["value"]
    assert found[-1].bound == part["certificate"]["bound"]


@pytest.mark.parametrize("entries", [{}, [{}], [{"seconds": -1, "value": 1, "bound": 1}], [3]])
def test_what_is_no_history_is_refused(entries: Any) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        history_from_json(entries)
