"""Limits of links and border PEs from the command line: what is placed, what is refused, and how that is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from mapper.arch.tcpa import tcpa_preset

EVALUATE = ("evaluate", "mnist-tcpa", "--arch", "tcpa-4x4", "--mapping")


@pytest.fixture
def machine(tmp_path: Path) -> Any:
    """A file with the preset of 4x4 PEs but for some fields."""

    def written(buffers: int = 8, words: int = 4, units: int = 2) -> str:
        fields = tcpa_preset("tcpa-4x4")
        assert fields is not None
        fields["border"] = {**fields["border"], "buffers": buffers}
        kinds = ("convolution", "pool", "elementwise")
        fields |= {"link_words": words, "functional_units": dict.fromkeys(kinds, units)}
        path = tmp_path / "machine.yaml"
        path.write_text(yaml.safe_dump(fields))
        return str(path)

    return written


def test_an_answer_is_placed_with_a_way_for_every_stream_and_reads_back(
    mapper: Any, machine: Any, tmp_path: Path
) -> None:
    solution, mapping, array = tmp_path / "mnist.json", tmp_path / "mapping.json", machine(buffers=2)
    code, out, _ = mapper("solve", "mnist-tcpa", "--arch", array, "-o", str(solution))
    assert code == 0 and "of 4 words a cycle; most buffers at a border PE: 2 of 2" in out
    part = json.loads(solution.read_text())["parts"][0]
    # Weights of five layers, four streams between them, the frame and the results.
    assert len(part["mapping"]["ways"]) == 11
    links = part["breakdown"]["links"]
    assert 0 < links["busiest"]["words"] <= links["busiest"]["limit"] == 4
    assert links["buffers"]["most"] == links["buffers"]["limit"] == 2
    mapping.write_text(json.dumps(part["mapping"]))
    code, out, _ = mapper("evaluate", "mnist-tcpa", "--arch", array, "--mapping", str(mapping), "--json")
    assert code == 0 and json.loads(out)["parts"][0]["breakdown"]["links"] == links


def test_ways_that_are_the_shortest_are_not_written_down(mapper: Any, tmp_path: Path) -> None:
    solution = tmp_path / "mnist.json"
    mapper("solve", "mnist-tcpa", "-o", str(solution))
    part = json.loads(solution.read_text())["parts"][0]
    assert "ways" not in part["mapping"] and part["breakdown"]["links"]["busiest"]["words"] > 0


def test_a_way_that_jumps_is_rejected_by_name(mapper: Any, machine: Any, tmp_path: Path) -> None:
    solution, mapping = tmp_path / "mnist.json", tmp_path / "mapping.json"
    mapper("solve", "mnist-tcpa", "--arch", machine(buffers=2), "-o", str(solution))
    fields = json.loads(solution.read_text())["parts"][0]["mapping"]
    stream = next(one for one in fields["ways"] if one["kind"] == "maps" and one["to"] == "pool1")
    stream["way"] = [stream["way"][0], [9, 9], stream["way"][-1]]
    mapping.write_text(json.dumps(fields))
    code, _, errors = mapper(*EVALUATE, str(mapping))
    assert code == 1
    assert "every stream has one way over the links" in errors and "maps: conv0 to pool1" in errors


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("ways", [{"kind": "maps", "from": "conv0", "to": "nothing", "way": [[0, 0]]}], "ways"),
        ("ways", [{"kind": "tune", "from": None, "to": "conv0", "way": [[0, 0]]}], "ways.0.kind"),
        ("ways", [{"kind": "maps", "from": "conv0", "to": "pool1", "way": []}], "ways.0.way"),
        ("placement", None, "ways"),
    ],
)
def test_a_mapping_with_other_ways_is_refused_with_its_field(
    mapper: Any, machine: Any, tmp_path: Path, field: str, value: object, named: str
) -> None:
    solution, mapping = tmp_path / "mnist.json", tmp_path / "mapping.json"
    crowded = machine(buffers=2)
    mapper("solve", "mnist-tcpa", "--arch", crowded, "--method", "greedy", "-o", str(solution))
    fields = json.loads(solution.read_text())["parts"][0]["mapping"]
    mapping.write_text(json.dumps({**fields, field: value}))
    code, _, errors = mapper(*EVALUATE, str(mapping))
    assert code == 2 and named in errors


def test_buffers_that_no_allocation_can_do_with_are_proven_too_few(mapper: Any, machine: Any) -> None:
    code, _, errors = mapper("solve", "mnist-tcpa", "--arch", machine(buffers=1))
    assert code == 1 and "proven to have no mapping" in errors and "border.buffers" in errors


def test_paces_that_no_links_carry_leave_no_answer_and_no_proof(mapper: Any, machine: Any) -> None:
    layers = ("conv0", "pool1", "conv2", "pool3", "conv4")
    pins = [word for name in layers for word in ("--fix", f"{name}.throttle=0")]
    code, _, errors = mapper("solve", "mnist-tcpa", "--arch", machine(words=1, units=64), *pins)
    assert code == 3 and "nothing is proven" in errors and "no placement was found" in errors


def test_slow_links_bound_the_throughput_and_the_simulator_agrees(
    mapper: Any, machine: Any, tmp_path: Path
) -> None:
    solution = str(tmp_path / "mnist.json")
    slow = machine(words=1, units=64)
    code, out, _ = mapper("solve", "mnist-tcpa", "--arch", slow, "-o", solution, "--json")
    found = json.loads(out)
    assert code == 0 and found["certificate"]["proven"]
    assert found["cost"]["throughput_fps"] == 50e6 / (216 * 196)
    code, out, _ = mapper("simulate", solution, "--json")
    run = json.loads(out)
    run = run["parts"][0] if "parts" in run else run
    assert code == 0 and run["agrees"] and not run["violations"]
    assert run["physical"]["links"]["words"] == pytest.approx(1.0)
