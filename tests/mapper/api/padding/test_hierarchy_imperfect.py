"""Imperfect factors from the command line's words to the solution document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mapper
from mapper.workloads.document import InputError

NEST = """\
schema: mapper.nest/1
name: rows
loops: {I: 29, J: 2, K: 3}
operands:
  - {tensor: O, index: [I, J], access: read_write}
  - {tensor: A, index: [I, K]}
  - {tensor: B, index: [K, J]}
"""
IMPERFECT = {"factors": "imperfect"}


@pytest.fixture
def nest(tmp_path: Path) -> str:
    path = tmp_path / "rows.yaml"
    path.write_text(NEST)
    return str(path)


def test_last_passes_are_proven_shown_simulated_and_read_again(nest: str, tmp_path: Path) -> None:
    found = mapper.solve(nest, arch="tpu-v4i", objective="latency", fix=IMPERFECT)
    part = found.parts[0]
    assert part.certificate.proven
    assert found.to_json()["problem"]["options"]["fix"] == {"padding": "off", "factors": "imperfect"}
    plain = mapper.solve(nest, arch="tpu-v4i", objective="latency", fix={"padding": "off"})
    assert part.cost is not None
    assert plain.parts[0].cost is not None
    assert part.cost["cycles"] < plain.parts[0].cost["cycles"]
    assert any("last passes of I 29 are smaller; utilisation" in line for line in found.describe())
    assert mapper.simulate(found).to_json()["parts"][0]["agrees"]
    mapping = tmp_path / "mapping.json"
    mapping.write_text(json.dumps(part.mapping.to_json()))
    again = mapper.evaluate(nest, arch="tpu-v4i", objective="latency", fix=IMPERFECT, mapping=str(mapping))
    assert again.parts[0].certificate.verified
    assert again.parts[0].cost == part.cost


def test_what_factors_may_be_is_said_in_a_line(nest: str) -> None:
    with pytest.raises(InputError, match="is not perfect or imperfect; to give some, write factors.LEVEL"):
        mapper.solve(nest, arch="tpu-v4i", fix={"factors": "odd"})
    with pytest.raises(InputError, match="hands words on between neighbours"):
        mapper.solve(nest, arch="gemmini-16", fix=IMPERFECT)
