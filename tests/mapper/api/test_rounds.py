"""A network is searched in rounds: every layer has a mapping before one of them is searched to its end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from mapper.api import solving
from mapper.api.part.search import SECONDS_OF_SILENCE, Pulse, searched_part
from mapper.api.part.time_share import cut_off
from mapper.api.problem import pose
from mapper.api.solution import Solution
from mapper.api.solving import Search, run
from mapper.kind.part import Part
from mapper.solver.history import MOST_POINTS, HistoryPoint, joined
from mapper.solver.method import Progress
from mapper.solver.modulo_schedule.network.catalogue import METHODS, OF_NETWORKS

NETWORK, ARRAY = "lenet5", "srp-2x2"


def solved_until(cycles: int) -> tuple[Solution, list[int]]:
    """The network with an interrupt as soon as a mapping of it has no more cycles, and the cycles of the mappings."""
    search, seen = Search(workers=1), list[int]()

    def heard(solution: Solution) -> None:
        if solution.cost is not None:
            seen.append(solution.cost["cycles"])
            if seen[-1] <= cycles:
                search.interrupt.set()

    return run(pose(NETWORK, ARRAY, None), search, heard), seen


@pytest.fixture(scope="module")
def baseline() -> int:
    cost = run(pose(NETWORK, ARRAY, None), Search("baseline", workers=1)).cost
    assert cost is not None
    return int(cost["cycles"])


def test_the_first_mapping_of_a_network_is_the_baselines(baseline: int) -> None:
    solution, seen = solved_until(baseline)
    assert seen[0] == baseline
    assert solution.certificate.stop == "interrupted" and not solution.certificate.proven
    assert solution.certificate.verified and solution.certificate.bound is not None


def test_light_schedules_of_all_layers_come_before_those_that_are_searched_for(baseline: int) -> None:
    solution, seen = solved_until(2 * baseline // 3)
    assert seen == sorted(seen, reverse=True)
    assert solution.cost is not None and solution.cost["cycles"] <= 2 * baseline // 3
    assert solution.certificate.stop == "interrupted"
    # Rounds are one search: nothing came from a store, and the record goes on.
    assert all(part.started is None for part in solution.parts)
    assert any(len({point.value for point in part.history}) > 1 for part in solution.parts)


def test_kernels_are_searched_in_one_round() -> None:
    assert [before.name for before in OF_NETWORKS["auto"].before] == ["baseline", "auto", "auto"]
    assert not METHODS["auto"].before and not METHODS["baseline"].before


def test_a_search_that_has_nothing_new_says_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, heard = [0.0], list[tuple[str, int | float | None]]()
    monkeypatch.setattr("mapper.api.part.search.time.monotonic", lambda: clock[0])
    pulse = Pulse(lambda part, progress: heard.append((part, progress.value)))
    pulse.beat(["conv1"])
    pulse.heard("conv1", Progress(7, 3, 1))
    assert heard == [("conv1", 7)]
    clock[0] = SECONDS_OF_SILENCE
    pulse.beat(["conv1", "conv2"])
    clock[0] = 2 * SECONDS_OF_SILENCE
    pulse.beat(["conv2"])
    assert heard == [("conv1", 7), ("conv1", 7), ("conv2", None)]


def test_the_records_of_two_rounds_are_one() -> None:
    first = (HistoryPoint(0.5, 9, 1), HistoryPoint(1.0, 8, 1))
    second = (HistoryPoint(0.0, 8, 1), HistoryPoint(0.5, 7, 2))
    assert joined(first, second, 2.0) == (*first, HistoryPoint(2.5, 7, 2))
    assert joined((), second, 2.0) == second
    many = tuple(HistoryPoint(float(at), 1000 - at, 0) for at in range(MOST_POINTS))
    both = joined(many, (HistoryPoint(1.0, 0, 0),), 500.0)
    assert len(both) <= MOST_POINTS and both[-1] == HistoryPoint(501.0, 0, 0)


def test_a_layer_that_was_cut_off_goes_on_with_the_time_that_others_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = list[str]()

    def cut_once(kind: Any, method: Any, part: Any, *rest: Any, **named: Any) -> tuple[Part, Any]:
        answer, mapping = searched_part(kind, method, part, *rest, **named)
        searched.append(part.name)
        if part.name == "conv2" and searched.count("conv2") == 1:
            claim = replace(answer.certificate, stop="time_limit", proven=False, bound=0.0)
            answer = replace(answer, certificate=claim)
        return answer, mapping

    monkeypatch.setattr(solving, "searched_part", cut_once)
    search = Search("branch-and-bound", time_limit=600.0, workers=1)
    solution = run(pose("lenet5", "gemmini-16", "energy"), search)
    assert searched.count("conv2") == 2 and searched.count("conv1") == 1
    assert solution.certificate.proven and solution.certificate.stop == "complete"


def test_little_time_is_not_worth_another_round() -> None:
    part = Mock(certificate=Mock(stop="time_limit", proven=False))
    assert cut_off({"a": part}, None, 50.0, 100.0) == ["a"]
    assert cut_off({"a": part}, None, 5.0, 100.0) == []
    assert cut_off({"a": part}, "interrupted", 50.0, 100.0) == []
