"""Machines and nests small enough that brute force can try everything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mapper.arch.dataflow import DataflowMachine, dataflow_from_document
from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import Objective, Pins, TilingProblem
from mapper.models.tiling.padding import Padding
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document


def small_machine(rows: int = 2, columns: int = 2, rf_bytes: int = 16, **sections: Any) -> DataflowMachine:
    """``dmazerunner-256`` with few PEs, 8 words of register file and 8 visible banks of 8 words."""
    return dataflow_from_document(machine_fields(rows, columns, rf_bytes, **sections), "small machine")


def machine_fields(rows: int, columns: int, rf_bytes: int, **sections: Any) -> dict[str, Any]:
    """The document of ``small_machine``."""
    preset, _ = load_machine("dmazerunner-256")
    fields = preset.model_dump(mode="json", by_alias=True)
    fields["pe_array"] |= {"rows": rows, "columns": columns}
    fields["rf"] |= {"bytes": rf_bytes}
    fields["spm"] |= {"bytes": 256, "bank_bytes": 16}
    fields["energy_pj"] |= {"rf": 0.06, "spm": 4.0}
    for section, changes in sections.items():
        fields[section] |= changes
    return fields


def matrix_product(rows: int = 2, columns: int = 3, depth: int = 4) -> LoopNest:
    return matrix_product_nest("product", (), rows, columns, depth)


def convolution(batch: int = 1, out: int = 2, into: int = 1, size: int = 3, kernel: int = 2) -> LoopNest:
    """A two-dimensional convolution of a single row: ``size`` inputs and ``kernel`` weights along y."""
    shape = Convolution(batch, out, into, (1, size), (1, kernel), (1, 1), (1, 1), ((0, 0), (0, 0)))
    return convolution_nest("row convolution", shape)


def recurrence(rows: int = 4, columns: int = 3, **distance: int) -> LoopNest:
    """``A[i][j] = A[i-1][j] + B[j]``, or with other distances."""
    document: dict[str, Any] = {
        "schema": "mapper.nest/1",
        "name": "recurrence",
        "loops": {"i": rows, "j": columns},
        "operands": [
            {"tensor": "A", "index": ["i", "j"], "access": "write"},
            {"tensor": "A", "name": "B", "index": ["i - 1", "j"]},
            {"tensor": "C", "index": ["j"]},
        ],
        "operation": "add",
        "dependences": [distance or {"i": 1}],
    }
    return nest_from_document(document, "recurrence")


def problem(
    nest: LoopNest, machine: DataflowMachine | None = None, objective: Objective = "edp", **fixed: str
) -> TilingProblem:
    """A problem with pins; a dot in a key is written as two underscores."""
    pins = {key.replace("__", "."): value for key, value in fixed.items()}
    return TilingProblem(nest, machine or small_machine(), objective, Pins.parse(pins, nest))


def padded(posed: TilingProblem) -> TilingProblem:
    """The problem with every bound free to grow that may."""
    return replace(posed, padding=Padding.every(posed.nest))
