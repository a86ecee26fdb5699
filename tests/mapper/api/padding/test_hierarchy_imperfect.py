"""Imperfect factors from the command line's words to the solution document."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import mapper
from mapper import InputError

NEST = """\
schema: mapper.nest/1
name: rows
loops: {I: 3, J: 29, K: 5}
operands:
  - {tensor: O, index: [I, J], access: read_write}
  - {tensor: A, index: [I, K]}
  - {tensor: B, index: [K, J]}
"""
IMPERFECT = {"factors": "imperfect"}
ARCH, OBJECTIVE = "simple-weight-stationary", "latency"
FORMS = ("map.yaml", "map.txt")


def lines(solution: mapper.Solution) -> list[str]:
    """What is said of a solution's only part."""
    found: list[str] = solution.posed.kind.describe(solution.posed.parts[0].problem, solution.parts[0])
    return found


@pytest.fixture
def nest(tmp_path: Path) -> str:
    path = tmp_path / "rows.yaml"
    path.write_text(NEST)
    return str(path)


def test_last_passes_are_proven_simulated_and_written_so_that_they_can_be_read(
    nest: str, tmp_path: Path
) -> None:
    solution = mapper.solve(nest, ARCH, OBJECTIVE, fix=IMPERFECT)
    document = solution.to_json()
    part = document["parts"][0]
    assert document["problem"]["options"]["fix"] == {"padding": "off", "factors": "imperfect"}
    assert part["certificate"]["proven"] and part["certificate"]["verified"]
    plain = mapper.solve(nest, ARCH, OBJECTIVE, fix={"padding": "off"})
    assert document["cost"]["cycles"] < plain.to_json()["cost"]["cycles"]
    assert any("smaller; utilisation" in line and "instead of" in line for line in lines(solution))
    simulated = mapper.simulate(document)
    assert simulated["outputs_equal"] and simulated["cost_simulated"] == simulated["cost_model"]
    (tmp_path / "mapping.json").write_text(json.dumps(part["mapping"]), encoding="utf-8")
    written = [path for path in mapper.generate(document, tmp_path / "code") if path.name in FORMS]
    for path in [tmp_path / "mapping.json", *written]:
        found = mapper.evaluate(nest, ARCH, path, OBJECTIVE, fix=IMPERFECT).to_json()
        assert found["cost"] == document["cost"]
        assert found["parts"][0]["mapping"] == part["mapping"]
        strict = mapper.evaluate(nest, ARCH, path, OBJECTIVE).to_json()
        assert strict["cost"] == document["cost"]
        assert not strict["certificate"]["verified"]


def test_a_report_shows_the_values_of_a_smaller_last_pass(nest: str) -> None:
    page = mapper.report(mapper.solve(nest, ARCH, OBJECTIVE, fix=IMPERFECT))
    assert re.search(r"J = 0\.\.\d+, at the end 0\.\.\d+", page)


def test_trade_offs_of_imperfect_factors_are_proven_in_the_command_s_words(nest: str) -> None:
    front = mapper.front(nest, ARCH, fix=IMPERFECT).to_json()
    assert front["complete"]
    plain = mapper.front(nest, ARCH, fix={"padding": "off"}).to_json()
    fewest = [min(point["cost"]["cycles"] for point in own["points"]) for own in (front, plain)]
    assert fewest[0] < fewest[1]


def test_what_factors_may_be_is_said_in_a_line(nest: str) -> None:
    with pytest.raises(InputError, match="is not perfect or imperfect; to give some"):
        mapper.solve(nest, ARCH, fix={"factors": "odd"})
    with pytest.raises(InputError, match="hands words on between neighbours"):
        mapper.solve(nest, "gemmini-16", fix=IMPERFECT)
