"""Bounds that may grow on any hierarchy: by default, as given, or not at all; in all forms of a mapping."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import mapper
from mapper import InputError
from mapper.api.problem import pose

PRODUCT = """
schema: mapper.nest/1
name: product
loops: {I: 4, J: 11, K: 31}
operands:
  - {tensor: O, index: [I, J], access: read_write}
  - {tensor: A, index: [I, K]}
  - {tensor: B, index: [K, J]}
"""
ARCH, OBJECTIVE = "eyeriss-like", "latency"


@pytest.fixture
def product(tmp_path: Path) -> str:
    path = tmp_path / "product.yaml"
    path.write_text(PRODUCT, encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the computer is, what padding won is found."""
    monkeypatch.setattr("mapper.kind.tiling.padding.SECONDS", 60.0)


def lines(solution: mapper.Solution) -> list[str]:
    """What is said of a solution's only part."""
    found: list[str] = solution.posed.kind.describe(solution.posed.parts[0].problem, solution.parts[0])
    return found


def test_a_padded_mapping_is_found_simulated_and_written_so_that_it_can_be_read(
    product: str, tmp_path: Path
) -> None:
    solution = mapper.solve(product, ARCH, OBJECTIVE)
    document = solution.to_json()
    part = document["parts"][0]
    assert document["problem"]["options"]["fix"] == {"padding": "auto"}
    assert part["certificate"]["proven"] and part["certificate"]["verified"]
    assert part["mapping"]["padded"]
    plain = mapper.solve(product, ARCH, OBJECTIVE, fix={"padding": "off"})
    assert document["cost"]["cycles"] < plain.to_json()["cost"]["cycles"]
    assert any("padding" in line and "with bounds as they are" in line for line in lines(solution))
    assert any(line.endswith("--fix padding=auto") for line in lines(plain))
    simulated = mapper.simulate(document)
    assert simulated["outputs_equal"] and simulated["cost_simulated"] == simulated["cost_model"]
    for path in mapper.generate(document, tmp_path / "code"):
        if path.name not in ("map.yaml", "map.txt"):
            continue
        found = mapper.evaluate(product, ARCH, path, OBJECTIVE).to_json()
        assert found["cost"] == document["cost"]
        assert found["parts"][0]["mapping"]["padded"] == part["mapping"]["padded"]


def test_a_network_says_what_its_layers_have_won_or_would_win(product: str) -> None:
    for fix, said in (("auto", "less than"), ("off", "product J 11 → ")):
        solution = mapper.solve(product, ARCH, OBJECTIVE, fix={"padding": fix})
        problem, part = solution.posed.parts[0].problem, solution.parts[0]
        again = replace(part, name="again", same_as=part.name)
        (line,) = solution.posed.kind.describe_all([(problem, part), (problem, again)])
        assert said in line and "product " in line
    total = 2 * (part.certificate.value or 0)
    auto = mapper.solve(product, ARCH, OBJECTIVE)
    twice = [
        (auto.posed.parts[0].problem, replace(auto.parts[0], same_as=same)) for same in (None, "product")
    ]
    (line,) = auto.posed.kind.describe_all(twice)
    assert f"less than {total:,} with bounds as they are" in line


def test_a_search_that_was_cut_off_is_not_followed_by_another(product: str) -> None:
    solution = mapper.solve(product, ARCH, OBJECTIVE)
    part = solution.parts[0]
    cut = replace(part, certificate=replace(part.certificate, stop="interrupted"))
    (line,) = solution.posed.kind.describe_all([(solution.posed.parts[0].problem, cut)])
    assert "more iterations" in line and "as they are" not in line


def test_a_padded_mapping_breaks_a_rule_where_padding_is_off(product: str, tmp_path: Path) -> None:
    path = tmp_path / "mapping.json"
    mapping = mapper.solve(product, ARCH, OBJECTIVE, fix={"padding": "K:32"}).to_json()["parts"][0]["mapping"]
    path.write_text(json.dumps(mapping), encoding="utf-8")
    assert mapping["padded"] == {"K": 32}
    assert mapper.evaluate(product, ARCH, path, OBJECTIVE).to_json()["certificate"]["verified"]
    found = mapper.evaluate(product, ARCH, path, OBJECTIVE, fix={"padding": "off"}).to_json()
    assert [rule["rule"] for rule in found["certificate"]["broken"]] == ["padding"]
    assert found["cost"] is not None


@pytest.mark.parametrize("text", ["K:62", "K:30", "Z:8", "K:many"])
def test_a_padding_that_is_none_is_one_line(product: str, text: str) -> None:
    with pytest.raises(InputError, match="padding"):
        mapper.solve(product, ARCH, fix={"padding": text})


def test_the_papers_layers_have_the_papers_bounds() -> None:
    assert pose("resnet-dmazerunner", "gemmini-16").options.fix == {"padding": "off"}
    with pytest.raises(InputError, match="defined with its bounds"):
        pose("resnet-dmazerunner/conv5_2", "gemmini-16", fix={"padding": "auto"})
