"""``--fix padding=LOOP:BOUND``: tiles that do not divide a loop run over its end."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import mapper
from bench.tiling.eyeriss import document
from mapper import InputError, Options


def test_the_chips_mappings_are_evaluated_with_whole_strips(tmp_path: Path) -> None:
    path = tmp_path / "eyeriss.yaml"
    path.write_text(yaml.safe_dump(document()), encoding="utf-8")
    padded = Options(fix={"conv1.padding": "Oy:56"})
    solution = mapper.evaluate("alexnet-eyeriss", "eyeriss-168-streams", path, "latency", padded).to_json()
    assert solution["certificate"]["verified"]
    cycles = [part["breakdown"]["processing_cycles"] for part in solution["parts"]]
    assert [round(count / 200_000, 2) for count in cycles] == [15.33, 35.56, 21.84, 15.93, 10.62]
    without = mapper.evaluate("alexnet-eyeriss", "eyeriss-168-streams", path, "latency").to_json()
    assert [part["certificate"]["verified"] for part in without["parts"]] == [False, True, True, True, True]


def test_a_padded_loop_is_solved_simulated_and_written_with_its_new_bound() -> None:
    solution = mapper.solve("matmul", options=Options(fix={"padding": "I:200"}))
    document = solution.to_json()
    assert document["certificate"]["proven"]
    factors = document["parts"][0]["mapping"]["tiling"]["I"]
    assert factors["dram"] * factors["spm"] * factors["rf"] * factors["spatial"] == 200


@pytest.mark.parametrize("text", ["I:195", "I:392", "Z:8", "I", "I:200,I:200", "I:many"])
def test_a_padding_that_is_none_is_one_line(text: str) -> None:
    with pytest.raises(InputError, match="padding"):
        mapper.solve("matmul", options=Options(fix={"padding": text}))


def test_off_pads_nothing() -> None:
    plain = mapper.solve("matmul").to_json()
    assert mapper.solve("matmul", options=Options(fix={"padding": "off"})).to_json()["cost"] == plain["cost"]
