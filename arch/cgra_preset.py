"""CGRAs that are named by their size: the paper's arrays, and plain grids for other people's graphs."""

from __future__ import annotations

import re
from typing import Any

LARGEST = 64
"""Rows and columns of the largest ``mesh``, ``torus`` and ``left-memory``."""

SRP_SIDES = (2, 3, 4)
SRP_REGISTERS = 128
GRID_REGISTERS = 16

SRP_ENERGY: dict[str, Any] = {
    "source": (
        "Ratios: a register file of 0.5 kB 1, a neighbour's word 2, memory of 100 kB 6 times a multiply-add [Chen2016, "
        "table IV], of which 0.9 of 4.6 are the addition; integers 0.1 and 3.1 of 4.6 [Horowitz2014, fig. 1.1.9]. "
        "Scale: a 4x4 array that is busy in every cycle takes the paper's 0.15 W [Bae2018, table II]. This project's "
        "choices: a configuration word as a register access, a division as four multiplications, a cycle in VLIW mode "
        "as its word, two operands, a result and an addition, a tenth of the power static, at every size."
    ),
    "operation_pj": {
        "integer": 0.051, "multiply": 1.569, "div": 6.274, "rem": 6.274,
        "float": 0.455, "fmul": 1.872, "fdiv": 7.489, "sqrt": 7.489, "memory": 0.0, "move": 0.0,
    },
    "routed_word_pj": 4.655,
    "register_access_pj": 2.328,
    "memory_access_pj": 13.966,
    "configuration_word_pj": 2.328,
    "vliw_cycle_pj": 9.361,
    "static_w": 0.015,
}  # fmt: skip
"""Energies of the paper's arrays, which publish no more than the power of all."""

FAMILIES = (
    ("mesh-NxM", f"PEs linked to their four neighbours, every opcode on every PE (N, M 1 to {LARGEST})"),
    ("torus-NxM", f"a mesh whose rows and columns are rings (N, M 1 to {LARGEST})"),
    (
        "wide-NxM",
        f"a mesh with diagonals, all types to 64 bits and all operations on every PE (N, M 1 to {LARGEST})",
    ),
    ("left-memory-NxM", f"a mesh in which only the left column loads and stores (N, M 1 to {LARGEST})"),
    (
        "mesh7-4x4",
        "a mesh in which the left column and the first row load and store, as neura's tests have it",
    ),
)
"""Names that stand for one machine per size, with a line of description each."""

_NAME = re.compile(r"(srp|mesh|torus|left-memory|wide)-([1-9][0-9]?)x([1-9][0-9]?)")


def srp_names() -> tuple[str, ...]:
    """The paper's nine arrays, smallest first [Bae2018, sec. VI]."""
    return tuple(f"srp-{rows}x{columns}" for rows in SRP_SIDES for columns in SRP_SIDES)


def cgra_preset(name: str) -> dict[str, Any] | None:
    """The document (schema ``mapper.cgra/1``) of the machine called ``name``, or None if there is none."""
    if name == "mesh7-4x4":
        return _mesh7()
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    family, rows, columns = found[1], int(found[2]), int(found[3])
    if family == "srp":
        return _srp(rows, columns) if name in srp_names() else None
    if max(rows, columns) > LARGEST:
        return None
    return _wide(rows, columns) if family == "wide" else _grid(family, rows, columns)


def _head(name: str, description: str, rows: int, columns: int) -> dict[str, Any]:
    return {
        "schema": "mapper.cgra/1",
        "name": name,
        "description": description,
        "rows": rows,
        "columns": columns,
    }


def _srp(rows: int, columns: int) -> dict[str, Any]:
    """The machine of [Bae2018], section VI. Memory and float units stand on the two colours of a chess board, so
    that every PE of one kind has neighbours of the other."""
    places = [[row, column] for row in range(rows) for column in range(columns)]
    registers = SRP_REGISTERS // (rows * columns)
    description = (
        f"The paper's CGRA with {rows}x{columns} PEs. Published: 500 MHz, 320 kB of SRAM, {SRP_REGISTERS} "
        "registers of 32 bits in all, float32, load latency 16, 8 memory-capable and 8 float-capable of 16 "
        "PEs, 0.15 W. This project's choices: links to all eight neighbours, memory and float units on "
        f"alternate PEs, integer and multiply units on all, {registers} registers a PE with two read ports "
        "and one write port, the other latencies, 0.15 W at every size, energies of single actions, the cycles of "
        "code in VLIW mode, and the size of the configuration memory, which is loaded a word per cycle."
    )
    return {
        **_head(f"srp-{rows}x{columns}", description, rows, columns),
        "links": ["mesh", "diagonal"],
        "pes": [
            {"at": "all", "classes": ["integer", "multiply"]},
            {"at": [at for at in places if sum(at) % 2 == 0], "classes": ["memory"]},
            {"at": [at for at in places if sum(at) % 2 == 1], "classes": ["float"]},
        ],
        "latency_cycles": {
            "load": 16, "store": 1, "integer": 1, "multiply": 2, "div": 12, "rem": 12,
            "float": 3, "fdiv": 12, "sqrt": 12,
        },
        "register_file": {"registers": registers, "read_ports": 2, "write_ports": 1},
        "clock_mhz": 500,
        "sram_bytes": 327680,
        "power_w": 0.15,
        "energy": SRP_ENERGY,
        "vliw": {
            "set_up_cycles": 10, "live_in_cycles": 1, "address_cycles": 1, "fetch_cycles": 16, "word_cycles": 4,
            "element_cycles": {"LRN": 80, "Softmax": 60, "other": 20},
        },
        "configuration_memory": {"contexts": 128, "context_cycles": rows * columns},
    }  # fmt: skip


def _wide(rows: int, columns: int) -> dict[str, Any]:
    """An array for kernels of any type: the paper's latencies, with units of every class on every PE."""
    description = (
        f"{rows}x{columns} PEs linked to all eight neighbours; each computes integers and floats of 32 and 64 bits and "
        "reaches the memory. Load latency 16 as published for the SRP; all else is this project's choice."
    )
    divisions = ("div", "rem", "udiv", "urem", "div.i64", "rem.i64", "udiv.i64", "urem.i64")
    return {
        **_head(f"wide-{rows}x{columns}", description, rows, columns),
        "links": ["mesh", "diagonal"],
        "pes": [
            {
                "at": "all",
                "classes": ["integer", "multiply", "float", "integer64", "multiply64", "float64", "memory"],
            }
        ],
        "latency_cycles": {
            "load": 16, "store": 1, "integer": 1, "multiply": 2, "float": 3,
            "integer64": 1, "multiply64": 2, "float64": 3, "fdiv": 12, "sqrt": 12, "fdiv.f64": 12, "sqrt.f64": 12,
            **dict.fromkeys(divisions, 12),
        },
        "register_file": {"registers": GRID_REGISTERS},
    }  # fmt: skip


def _mesh7() -> dict[str, Any]:
    """The array of neura's tests (coredac/dataflow, test/arch_spec/architecture.yaml)."""
    description = (
        "4x4 PEs linked to their four neighbours, as in the tests of the neura compiler. Published: which seven tiles "
        "load and store, a single cycle for every operation and link, 32 registers a tile, a memory for 20 "
        "configurations. Different here: a move takes a PE's cycle, where a tile there has a router besides; an output "
        "register holds its value until the next result; ports are not limited."
    )
    every = ["integer", "multiply", "float", "integer64", "multiply64", "float64"]
    edge = [[row, 0] for row in range(4)] + [[0, column] for column in range(1, 4)]
    return {
        **_head("mesh7-4x4", description, 4, 4),
        "links": ["mesh"],
        "pes": [{"at": "all", "classes": every}, {"at": edge, "classes": ["memory"]}],
        "latency_cycles": {},
        "register_file": {"registers": 32},
        "configuration_memory": {"contexts": 20, "context_cycles": 0},
    }


def _grid(family: str, rows: int, columns: int) -> dict[str, Any]:
    described = {
        "mesh": "PEs linked to their four neighbours; every PE runs every opcode, known or not.",
        "torus": "PEs linked to their four neighbours, around the edges too; every PE runs every opcode.",
        "left-memory": "PEs linked to their four neighbours; only the left column loads and stores.",
    }
    pes: list[dict[str, Any]] = [{"at": "all", "classes": ["any"]}]
    if family == "left-memory":
        pes = [
            {"at": "all", "classes": ["integer", "multiply", "float"]},
            {"at": [[row, 0] for row in range(rows)], "classes": ["memory"]},
        ]
    description = f"{rows}x{columns} {described[family]} All latencies are 1, and no port is limited."
    return {
        **_head(f"{family}-{rows}x{columns}", description, rows, columns),
        "links": ["torus" if family == "torus" else "mesh"],
        "pes": pes,
        "latency_cycles": {},
        "register_file": {"registers": GRID_REGISTERS},
    }
