"""Graphs of the neura compiler are read as it prints them, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_source import load_kernel
from tests.workloads.graph.neura import expected, printed


def read(folder: Path, text: str) -> Kernel:
    (folder / "total.mlir").write_text(text)
    return load_kernel(str(folder / "total.mlir"))[0]


def edges(kernel: Kernel) -> list[tuple[str, str, int | None, int]]:
    names = [operation.name for operation in kernel.graph.operations]
    return [
        (names[edge.source], names[edge.destination], edge.operand, edge.distance)
        for edge in kernel.graph.edges
    ]


def test_operations_are_numbered_in_order_and_only_loads_and_stores_need_memory(tmp_path: Path) -> None:
    kernel = read(tmp_path, printed())
    assert kernel.name == "total"
    assert [(one.name, one.opcode) for one in kernel.graph.operations] == [
        ("grant_once0", "neura.grant_once"),
        ("phi_start1", "neura.phi_start"),
        ("load_indexed2", "load"),
        ("add3", "neura.add"),
        ("store4", "store"),
    ]


def test_what_comes_back_to_a_reserved_value_is_of_the_iteration_before(tmp_path: Path) -> None:
    found = edges(read(tmp_path, printed()))
    assert ("add3", "phi_start1", 1, 1) in found
    assert ("grant_once0", "phi_start1", 0, 0) in found


def test_a_store_takes_its_index_first_and_a_constant_operand_keeps_its_place(tmp_path: Path) -> None:
    found = edges(read(tmp_path, printed()))
    assert ("load_indexed2", "store4", 1, 0) in found and ("phi_start1", "store4", 0, 0) in found
    assert ("phi_start1", "load_indexed2", 1, 0) in found


def test_a_test_of_the_compiler_holds_the_graph_that_it_expects(tmp_path: Path) -> None:
    assert edges(read(tmp_path, expected())) == edges(read(tmp_path, printed()))
    earlier = expected("CTRL2DATA").replace('"neura.add"', '"neura.sub"')
    assert edges(read(tmp_path, expected() + earlier.replace("mapping_locs", "places"))) == edges(
        read(tmp_path, printed())
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no function with operations of neura"),
        ("func.func @f() {\n}\n", "has no function with operations of neura"),
        (printed() + printed().replace("@total", "@other"), "has 2 functions"),
        (printed().replace("neura.ctrl_mov", "neura.yield"), "nothing comes back to the reserved %1"),
        (printed().replace("neura.yield", "^bb1:\nneura.yield"), "has branches"),
        (printed().replace("neura.yield", "neura.br"), "has branches"),
        (printed().replace("neura.yield {", '"neura.fused_op"(%6) ({\n'), "has a region"),
        ("module {" * 20000 + printed(), None),
        ("%" * 100000, "has no function"),
    ],
)
def test_what_is_no_graph_of_neura_is_one_line(tmp_path: Path, text: str, says: str | None) -> None:
    if says is None:
        assert read(tmp_path, text).name == "total"
        return
    with pytest.raises(InputError, match=says) as caught:
        read(tmp_path, text)
    assert "total.mlir" in str(caught.value) and "\n" not in str(caught.value)


def test_values_that_rename_each_other_in_a_circle_end(tmp_path: Path) -> None:
    circle = (
        printed()
        .replace('"neura.data_mov"(%0)', '"neura.data_mov"(%4)')
        .replace('"neura.data_mov"(%3)', '"neura.data_mov"(%2)')
    )
    assert ("grant_once0", "phi_start1", 0, 0) not in edges(read(tmp_path, circle))
