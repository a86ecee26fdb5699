"""A function as the neura compiler prints it, written for the tests: the sum of an array."""

from __future__ import annotations

_LINES = """
%0 = "neura.grant_once"() <{constant_value = 0 : i64}> {AT} : () -> !neura.data<i64, i1>
%1 = neura.reserve {dfg_id = 1 : i32} : !neura.data<i64, i1>
%2 = "neura.data_mov"(%0) {dfg_id = 3 : i32} : (!neura.data<i64, i1>) -> !neura.data<i64, i1>
%3 = neura.phi_start %2, %1 {AT} : !neura.data<i64, i1>, !neura.data<i64, i1> -> !neura.data<i64, i1>
%4 = "neura.data_mov"(%3) {dfg_id = 6 : i32} : (!neura.data<i64, i1>) -> !neura.data<i64, i1>
%5 = "neura.load_indexed"(%4) {AT, lhs_value = "%arg0"} : (!neura.data<i64, i1>) -> !neura.data<i32, i1>
%6 = "neura.add"(%3) {AT, rhs_value = 1 : i64} : (!neura.data<i64, i1>) -> !neura.data<i64, i1>
"neura.store"(%5, %3) {AT} : (!neura.data<i32, i1>, !neura.data<i64, i1>) -> ()
neura.ctrl_mov %6 -> %1 {dfg_id = 27 : i32} : !neura.data<i64, i1> !neura.data<i64, i1>
neura.yield {dfg_id = 2 : i32}
"""
PLACES = [(0, 2, 0), (0, 1, 1), (0, 0, 2), (1, 1, 2), (0, 0, 3)]
"""Column, row and cycle of the operations in order; the II is 2."""


def printed(places: list[tuple[int, int, int]] | None = None) -> str:
    """The module, mapped with II 2 to ``places`` (column, row, cycle)."""
    body = _LINES
    for x, y, time in PLACES if places is None else places:
        where = f'resource = "tile", time_step = {time} : i32, x = {x} : i32, y = {y} : i32'
        body = body.replace("AT", f"dfg_id = 0 : i32, mapping_locs = [{{id = 0 : i32, {where}}}]", 1)
    head = "func.func @total(%arg0: !llvm.ptr) -> !llvm.void attributes {mapping_info = {compiled_ii = 2 : i32}} {"
    return f"module {{\n  {head}{body}  }}\n}}\n"


def expected(prefix: str = "MAPPING") -> str:
    """The same as a test of the compiler expects it."""
    lines = [line for line in printed().splitlines() if line.strip()]
    return "// RUN: mlir-neura-opt %s\n" + "\n".join(f"// {prefix}-NEXT:  {line}" for line in lines) + "\n"
