"""Mappings of the neura compiler are judged by the referee, and stand beside the methods."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import mapper
from mapper.api.solving import Search
from mapper.cli.command_line import run
from mapper.kind.modulo_schedule import given_placement
from mapper.workloads.document import InputError
from tests.workloads.graph.neura import printed

ARRAY = "mesh7-4x4"


@pytest.fixture
def total(tmp_path: Path) -> Path:
    (tmp_path / "total.mlir").write_text(printed())
    return tmp_path / "total.mlir"


def exact(places: list[tuple[int, int, int]], ii: int = 2) -> str:
    """As neura's exact mapper writes it."""
    placements = [
        {"id": at, "tile": 4 * y + x, "x": x, "y": y, "time_step": time}
        for at, (x, y, time) in enumerate(places)
    ]
    return json.dumps({"compiled_ii": ii, "num_tiles": 16, "placements": placements, "routes": []})


def test_a_mapped_program_is_its_own_mapping_and_the_referee_accepts_it(total: Path) -> None:
    found = mapper.evaluate(str(total), ARRAY, total)
    assert found.cost is not None and found.cost["ii"] == 2
    assert found.certificate.verified and not found.certificate.broken
    mapping = found.to_json()["parts"][0]["mapping"]
    assert mapping["schedule"]["load_indexed2"] == {"pe": [0, 0], "time": 2}


def test_placements_whose_values_a_move_must_bring_are_given_routes(total: Path) -> None:
    found = mapper.evaluate(str(total), ARRAY, exact([(2, 1, 0), (0, 1, 2), (0, 0, 3), (0, 2, 3), (0, 0, 4)]))
    assert found.certificate.verified
    first = found.to_json()["parts"][0]["mapping"]["routes"][0]["hops"]
    assert [(hop["pe"], hop["via"]) for hop in first] == [([1, 2], "output"), ([1, 1], "move")]


@pytest.mark.parametrize(
    ("places", "rule"),
    [
        ([(0, 1, 0), (0, 1, 2), (0, 0, 3), (1, 1, 3), (0, 0, 4)], "one issue per PE and cycle"),
        ([(0, 1, 0), (0, 1, 1), (1, 1, 2), (0, 2, 2), (0, 0, 3)], "PE has the unit"),
        ([(0, 1, 0), (0, 1, 1), (0, 0, 2), (3, 3, 2), (0, 0, 3)], "link to the reader"),
        ([(0, 1, 0), (0, 1, 1), (0, 0, 2), (0, 2, 3), (0, 0, 3)], "latency of an edge"),
        ([(0, 1, 0), (0, 1, 1), (0, 9, 2), (0, 2, 2), (0, 0, 3)], "PE in the array"),
    ],
)
def test_placements_without_routes_are_rejected_by_the_rule_that_they_break(
    total: Path, places: list[tuple[int, int, int]], rule: str
) -> None:
    found = mapper.evaluate(str(total), ARRAY, exact(places))
    assert not found.certificate.verified
    assert rule in {broken.rule for broken in found.certificate.broken}


def test_a_given_mapping_stands_beside_the_methods(total: Path) -> None:
    slow = exact([(0, 2, 0), (0, 1, 1), (0, 0, 2), (1, 1, 3), (0, 0, 3)], 3)
    found = mapper.compare(str(total), ARRAY, search=Search(workers=1), methods=["iterative"], mapping=slow)
    rows = [(row.certificate.method, row.certificate.value, row.certificate.proven) for row in found.rows]
    assert rows == [("given", 3, False), ("iterative", 2, True)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (exact([(0, 0, 0)] * 4), "placements.4 is missing"),
        (exact([(0, 0, 0)] * 6), "operations 0 to 4"),
        (exact([(0, 0, 0)] * 5, 0), "compiled_ii"),
        (exact([(0, 0, 0)] * 5).replace('"id": 1', '"id": 0'), "each placed once"),
        (exact([(0, 0, 0)] * 5).replace('"id": 0,', '"id": 0, "class": "mem",'), "is of class 'mem'"),
        (printed().replace("compiled_ii", "ii"), "is not mapped"),
    ],
)
def test_a_mapping_of_another_graph_is_one_line(total: Path, text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        mapper.evaluate(str(total), ARRAY, text)
    assert says in str(caught.value).replace(":", "") and "\n" not in str(caught.value)


def test_routes_that_time_does_not_decide_are_said_to_be_undecided(
    total: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(given_placement, "SECONDS", 0.0)
    places = tmp_path / "places.json"
    places.write_text(exact([(2, 1, 0), (0, 1, 2), (0, 0, 3), (0, 2, 3), (0, 0, 4)]))
    monkeypatch.setattr(
        sys, "argv", ["mapper", "evaluate", str(total), "--arch", ARRAY, "--mapping", str(places)]
    )
    assert run(program=False) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "undecided: routes were neither found nor refuted within 0 s" in said
    search = Search(time_limit=20.0)
    row = mapper.compare(str(total), ARRAY, methods=["iterative"], search=search, mapping=places).rows[0]
    assert row.cost is None and row.certificate.stop == "time_limit"
