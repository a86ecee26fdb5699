"""A mistyped name within a file is answered with the one that is meant, wherever files have names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mapper.arch.source import preset_text

NEST = """schema: mapper.nest/1
name: product
loops: {rows: 8, columns: 8, depth: 8}
operands:
  - {tensor: O, index: [rows, columns], access: read_write}
  - {tensor: A, index: [rows, depth]}
  - {tensor: B, index: [depth, columns]}
"""
GRAPH = """schema: mapper.dfg/1
name: sum
arrays: [{name: terms, words: 8}]
operations:
  - {name: first, opcode: load, array: terms, immediates: {0: 0}}
  - {name: total, opcode: add, immediates: {1: 1}}
edges: [{from: first, to: total, operand: 0}]
"""
NESTS = {
    ("[rows, depth]", "[row, depth]"): "rows",
    ("read_write", "read_wite"): "read_write",
    ("operands:", "dependences: [{colums: 1}]\noperands:"): "columns",
}
GRAPHS = {
    ("from: first", "from: frist"): "first",
    ("array: terms", "array: term"): "terms",
}
MACHINES = {
    ("srp-4x4", "mesh", "mash"): "mesh",
    ("systolic-16x16", "reduction: systolic", "reduction: sistolic"): "systolic",
    ("eyeriss-like", "level: ifmap_spad", "level: ifmap_spat"): "ifmap_spad",
}


def answered(tmp_path: Path, mapper: Any, text: str, *words: str) -> str:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    code, _, error = mapper("solve", *(str(path) if word == "FILE" else word for word in words))
    assert code == 2
    return str(error)


@pytest.mark.parametrize("change", NESTS, ids=lambda change: change[1])
def test_of_a_nest(change: tuple[str, str], mapper: Any, tmp_path: Path) -> None:
    assert f"did you mean {NESTS[change]}? " in answered(tmp_path, mapper, NEST.replace(*change), "FILE")


@pytest.mark.parametrize("change", GRAPHS, ids=lambda change: change[1])
def test_of_a_graph(change: tuple[str, str], mapper: Any, tmp_path: Path) -> None:
    error = answered(tmp_path, mapper, GRAPH.replace(*change), "FILE", "--arch", "srp-4x4")
    assert f"did you mean {GRAPHS[change]}? " in error


@pytest.mark.parametrize("change", MACHINES, ids=lambda change: change[2])
def test_of_a_machine(change: tuple[str, str, str], mapper: Any, tmp_path: Path) -> None:
    preset, right, wrong = change
    text = preset_text(preset) or ""
    assert right in text
    error = answered(tmp_path, mapper, text.replace(right, wrong, 1), "matmul", "--arch", "FILE")
    assert f"did you mean {MACHINES[change]}? " in error
