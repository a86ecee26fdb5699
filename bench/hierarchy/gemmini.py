"""The model against 3,000 of Timeloop's evaluations on ten Gemmini-like machines.

`gemmini_mappings.csv.gz` holds rows of the data set of DOSA [Hong2023] (ucb-bar/dosa, BSD 2-clause): Timeloop's cycles
and energy (uJ) of drawn mappings. Energies of accesses are not in it: they are constants of a machine, fitted on 20 of
its rows.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from mapper.arch.hierarchy import HierarchyMachine, hierarchy_from_document
from mapper.models.hierarchy.cost import HierarchyCost, blocks, counts, evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.one_line import mapping_from_line
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document

FITTED_ROWS = 20
Row = dict[str, str]


@cache
def rows() -> tuple[Row, ...]:
    """The evaluations, as the file has them."""
    data = Path(__file__).with_name("gemmini_mappings.csv.gz").read_bytes()
    return tuple(csv.DictReader(io.StringIO(gzip.decompress(data).decode())))


def by_machine() -> dict[tuple[str, ...], list[Row]]:
    """The file's rows by machine."""
    return grouped(rows())


def grouped(evaluations: Iterable[Row]) -> dict[tuple[str, ...], list[Row]]:
    """Rows by what tells their machines apart."""
    found: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in evaluations:
        found[tuple(row[key] for key in ("meshX", "mem1_entries", "mem2_entries"))].append(row)
    return found


def machine(row: Row) -> HierarchyMachine:
    """The machine of a row, by the rules of the Timeloop of 2022."""
    width = int(row["meshX"])
    scratchpad = {
        "words": int(row["mem2_entries"]),
        "block": int(row["mem2_width"]) // 8,
        "bandwidth": {"shared": float(row["mem2_shared_bandwidth"])},
        "fanout": {"x": width, "x_loops": ["K"]},
    }
    accumulator = {
        "words": int(row["mem1_entries"]),
        "word_bits": 32,
        "bandwidth": {"shared": 2.0},
        "fanout": {"x": width, "x_loops": ["C"]},
    }
    return hierarchy_from_document(
        {
            "schema": "mapper.hierarchy/1",
            "name": "gemmini-like",
            "levels": [
                {"name": "DRAM", "word_bits": 8, "block": 64, "bandwidth": {"shared": 8.0}},
                {"name": "scratchpad", "word_bits": 8, "keep": ["W", "I"], "bypass": ["O"], **scratchpad},
                {"name": "accumulator", "keep": ["O"], "bypass": ["W", "I"], **accumulator},
                {"name": "register", "words": 1, "word_bits": 8, "keep": ["W"], "bypass": ["I", "O"]},
            ],
            "rules": {"first_fill": "counted", "throttling": "floating"},
        },
        "row",
    )


def nest(row: Row) -> LoopNest:
    """The layer of a row."""
    across, down = row["Wstride"], row["Hstride"]
    return nest_from_document(
        {
            "schema": "mapper.nest/1",
            "name": "layer",
            "loops": {loop: int(row[loop]) for loop in "KCPQRS"},
            "operands": [
                {"tensor": "W", "index": ["C", "K", "R", "S"]},
                {"tensor": "I", "index": ["C", f"{across}*P + R", f"{down}*Q + S"]},
                {"tensor": "O", "index": ["K", "P", "Q"], "access": "read_write"},
            ],
        },
        "row",
    )


def mapped(row: Row) -> tuple[LoopNest, HierarchyMachine, HierarchyMapping]:
    """Nest, machine and mapping of a row."""
    own_nest, own_machine = nest(row), machine(row)
    return own_nest, own_machine, mapping_from_line(row["mapping"], own_nest, own_machine, "row")


def cost(row: Row) -> HierarchyCost:
    """What the model says of a row."""
    return evaluate(*mapped(row))


def accesses(row: Row) -> list[int]:
    """What energies are paid for, one number for each that is fitted: operations, and blocks accessed at each level."""
    own_nest, own_machine, mapping = mapped(row)
    found = [own_nest.iterations]
    for memory, kept in zip(own_machine.levels, counts(own_nest, own_machine, mapping), strict=True):
        moved = [
            (one.instances, words) for one in kept.values() for words in (one.reads, one.fills, one.updates)
        ]
        found.append(sum(instances * blocks(words, memory) for instances, words in moved))
    return found


def energy_errors(own_rows: list[Row]) -> np.ndarray:
    """Relative errors of the energies of one machine's rows, with the energies of accesses fitted on 20 of them."""
    counted = np.array([accesses(row) for row in own_rows], dtype=float)
    energies = np.array([float(row["energy"]) * 1e6 for row in own_rows])
    chosen = np.linspace(0, len(own_rows) - 1, FITTED_ROWS).astype(int)
    scale = counted.max(axis=0)
    weighted = counted[chosen] / scale / energies[chosen, None]
    fitted = np.linalg.lstsq(weighted, np.ones(len(chosen)), rcond=None)[0] / scale
    errors: np.ndarray = np.abs(counted @ fitted / energies - 1)
    return errors


def main() -> None:
    """Print how many rows agree."""
    equal = sum(cost(row).cycles == int(row["cycle"]) for row in rows())
    print(f"cycles equal on {equal} of {len(rows())} of Timeloop's evaluations")
    for name, own_rows in by_machine().items():
        errors = energy_errors(own_rows)
        print(
            f"machine {' '.join(name):22}  energy within {errors.max():.1e} on {len(own_rows)} rows, 5 energies fitted"
        )


if __name__ == "__main__":
    main()
