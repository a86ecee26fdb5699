"""``sweep --pareto``: the machines that trade bytes on chip for the objective."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import mapper as package
from mapper.api.solving import Search
from mapper.schema.answer import ANSWERS
from mapper.sweeping.co_design import sweep_front

LAYER = """
schema: mapper.nest/1
name: product
loops: {I: 4, J: 6, K: 4}
operands:
  - {tensor: A, index: [I, K]}
  - {tensor: B, index: [K, J]}
  - {tensor: O, index: [I, J], access: read_write}
"""
MACHINE = """
schema: mapper.hierarchy/1
name: two-levels
levels:
  - {name: DRAM, keep: ["*"], energy_pj: {read: 64, fill: 64, update: 64}, bandwidth: {shared: 4}}
  - {name: buffer, words: 64, bypass: [B], energy_pj: {read: 2, fill: 2, update: 2}, fanout: {x: 4}}
  - {name: register, words: 4, keep: [O], energy_pj: {read: 1, fill: 1, update: 1}}
compute: {energy_pj: 1}
rules: {link_transfers: false}
"""
VARY = {"levels.buffer.words": [8, 24, 64], "levels.register.words": [1, 2, 16]}


@pytest.fixture
def posed(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "layer.yaml").write_text(LAYER)
    (tmp_path / "machine.yaml").write_text(MACHINE)
    return str(tmp_path / "layer.yaml"), str(tmp_path / "machine.yaml")


def expected(rows: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """The points that no other with as few bytes is as good as."""
    found: list[tuple[int, float]] = []
    for size, value in sorted(rows):
        if not found or value < found[-1][1] * (1 - 1e-9):
            found.append((size, value))
    return found


@pytest.mark.parametrize("objective", ["edp", "energy"])
def test_the_front_is_that_of_all_machines_by_themselves(posed: tuple[str, str], objective: str) -> None:
    front = sweep_front(*posed, VARY, objective)
    rows = []
    for row in package.sweep(*posed, VARY, objective).rows:
        buffer, register = (row.vary or {}).values()
        assert row.certificate.value is not None
        # Words of 16 bits, four registers.
        rows.append((2 * buffer + 8 * register, float(row.certificate.value)))
    found = [(point.on_chip_bytes, point.solution.certificate.value) for point in front.points]
    assert [size for size, _ in found] == [size for size, _ in expected(rows)]
    assert [value for _, value in found] == pytest.approx([value for _, value in expected(rows)], rel=1e-9)
    assert front.complete
    assert all(point.solution.certificate.proven for point in front.points)


def test_layers_of_a_network_add_up(tmp_path: Path, posed: tuple[str, str]) -> None:
    layer = "{name: NAME, out_channels: 2, in_channels: 4, size: 4, kernel: KERNEL, stride: 1}"
    named = [
        layer.replace("NAME", name).replace("KERNEL", kernel)
        for name, kernel in (("one", "1"), ("two", "3"), ("again", "1"))
    ]
    network = tmp_path / "network.yaml"
    network.write_text(
        "schema: mapper.convolutions/1\nname: three\nbatch: 1\nlayers:\n  - " + "\n  - ".join(named)
    )
    vary = {"levels.buffer.words": [8, 32, 128]}
    front = sweep_front(str(network), posed[1], vary, "energy")
    rows = package.sweep(str(network), posed[1], vary, "energy").rows
    values = [float(row.certificate.value or math.inf) for row in rows]
    best = expected(list(zip([8, 32, 128], values, strict=True)))
    assert [point.vary["levels.buffer.words"] for point in front.points] == [words for words, _ in best]
    found = [point.solution.certificate.value for point in front.points]
    assert found == pytest.approx([value for _, value in best], rel=1e-9)
    assert set(front.to_json()["points"][0]["mapping"]) == {"one", "two", "again"}


def test_a_front_is_as_its_schema_says(posed: tuple[str, str], mapper: Any) -> None:
    vary = ("--vary", "levels.buffer.words=8,64")
    _, printed, _ = mapper("sweep", posed[0], "--arch", posed[1], "--pareto", "--json", *vary)
    document = json.loads(printed)
    point = document["points"][0]
    assert document["schema"] == "mapper.front/1"
    assert set(point) == {"vary", "arch", "on_chip_bytes", "mapping", "cost", "certificate"}
    assert set(point) <= set(ANSWERS["front"][1]["properties"]["points"]["items"]["properties"])


def test_a_machine_that_nothing_fits_is_no_point(posed: tuple[str, str], mapper: Any) -> None:
    vary = ("--vary", "levels.register.words=1,4", "--fix", "keep.register=A,B")
    _, printed, _ = mapper("sweep", posed[0], "--arch", posed[1], "--pareto", "--json", *vary)
    assert [point["vary"] for point in json.loads(printed)["points"]] == [{"levels.register.words": 4}]
    none = ("--vary", "levels.register.words=1,2", *vary[2:])
    code, _, errors = mapper("sweep", posed[0], "--arch", posed[1], "--pareto", *none)
    assert (code, "proven to have no mapping" in errors) == (1, True)


def test_other_kinds_and_methods_say_that_they_have_no_such_front(
    posed: tuple[str, str], mapper: Any
) -> None:
    code, _, errors = mapper("sweep", "resnet-dmazerunner/conv5_2", "--pareto", "--vary", "rf.bytes=256,512")
    assert (code, "--pareto" in errors) == (2, True)
    vary = ("--pareto", "--vary", "levels.buffer.words=8,64", "--method", "random")
    code, _, errors = mapper("sweep", posed[0], "--arch", posed[1], *vary)
    assert (code, "--method random" in errors) == (2, True)


def test_a_search_that_is_over_leaves_the_front_open(posed: tuple[str, str]) -> None:
    search = Search()
    search.interrupt.set()
    assert not sweep_front(*posed, VARY, "edp", search=search).complete
