"""Cycles of Gemmini's RTL beside the model's: DOSA's simulations by FireSim [Hong2023].

    python -m bench.hierarchy.gemmini_rtl FOLDER      FOLDER: a clone of ucb-bar/dosa

The 222 rows of `data/firesim_test_data` give the mapping of a layer and the cycles that the RTL of an array of 16 x 16
took. The model's own cycles are Timeloop's, of a machine that overlaps everything. `gemmini_tiles` adds what the RTL
does one tile after another, with eight constants and the size of a cache, fitted on `data/firesim_training_data`
alone: 1,567 mappings drawn at random, on arrays from 4 x 4 to 64 x 64, of which those on 16 x 16 count that `is_used`
keeps. The form was chosen with both files in view, the constants were not.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.hierarchy.gemmini import Row, machine, nest
from bench.hierarchy.gemmini_tiles import CONSTANTS, Tiling, estimate, work
from bench.measure import show
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.one_line import mapping_from_line

Array = Any
TRAINING = "data/firesim_training_data/firesim_results.csv"
TEST = "data/firesim_test_data/dataset.csv"
WIDTH = 16
"""Rows and columns of the array of all test rows."""
CAPACITIES = tuple(kilobytes * 1024 for kilobytes in range(512, 1025, 64))
"""Bytes that the cache may hold; the training rows choose."""
PARTS = 4
"""Parts of the training rows, each estimated by constants of the others."""
UNSURE = 0.1
"""Relative errors above it count in proportion, below it squared."""


class Measured(NamedTuple):
    """A row of a file: how it is cut, cycles of the RTL and of the model."""

    tiling: Tiling
    rtl: float
    model: int


def read(folder: Path, name: str) -> list[Measured]:
    """The rows of a file of the clone, as the model sees their mappings."""
    with (folder / name).open(newline="") as file:
        return [_measured(row) for row in csv.DictReader(file)]


def _measured(found: Row) -> Measured:
    row = {key.partition(".")[2]: value for key, value in found.items()}
    row.setdefault("mem2_shared_bandwidth", "32")
    own_nest, own_machine = nest(row), machine(row)
    mapping = mapping_from_line(found["mapping.mapping"], own_nest, own_machine, "row")
    layer = {loop: int(row[loop]) for loop in "KCPQRS"}
    tiling = tiling_of(mapping, layer, int(row["Wstride"]))
    return Measured(tiling, float(row["gemmini_cycle"]), evaluate(own_nest, own_machine, mapping).cycles)


def tiling_of(mapping: HierarchyMapping, layer: dict[str, int], stride: int) -> Tiling:
    """The tiles of a mapping. The array is the smallest of 4, 8, 16 ... on which its loops in space fit: so say
    the cycles, though the training file names one of 128 x 128 for all rows."""
    outer = tuple((loop.loop, loop.trips) for loop in mapping.levels[0].temporal if loop.loop in layer)
    tile, width = dict.fromkeys(layer, 1), 4
    for level in mapping.levels[1:]:
        for loop in level.temporal:
            tile[loop.loop] = tile.get(loop.loop, 1) * loop.trips
        for across in level.spatial:
            tile[across.loop] *= across.trips
            while width < across.trips:
                width *= 2
    return Tiling(layer, stride, outer, tile, width)


def is_used(row: Measured) -> bool:
    """Whether a training row says something: not images that are not square, which take the RTL as long as square
    ones, nor windows of even size, which take it up to a hundred times as long as others, nor products of matrices,
    which take it from 3 to 4,000 cycles a tile for reasons that a row does not tell."""
    layer = row.tiling.layer
    return layer["Q"] > 1 and layer["P"] == layer["Q"] and layer["R"] % 2 == 1


def features(rows: Sequence[Measured], capacity: int) -> Array:
    """The work of rows beside a cache of so many bytes."""
    return np.array([work(row.tiling, capacity) for row in rows], float)


def off(constants: Array, work_done: Array, rtl: Array) -> Array:
    """How far estimates are from the RTL, as logarithms of ratios."""
    found: Array = np.log(estimate(constants, work_done) / rtl)
    return found


def badness(errors: Array) -> float:
    """What fitting makes least."""
    return float((np.sqrt(1 + (errors / UNSURE) ** 2) - 1).sum())


def fitted(work_done: Array, rtl: Array) -> Array:
    """The constants that bring logarithms of estimates closest, by damped Gauss-Newton steps."""
    place, damping = np.log(list(CONSTANTS.values())), 1.0
    errors = off(np.exp(place), work_done, rtl)
    for _ in range(200):
        steps = [
            (off(np.exp(place + 1e-5 * one), work_done, rtl) - errors) / 1e-5 for one in np.eye(len(place))
        ]
        jacobian, weights = np.array(steps).T, 1 / np.sqrt(1 + (errors / UNSURE) ** 2)
        square = jacobian.T @ (weights[:, None] * jacobian) + damping * np.eye(len(place))
        tried = np.clip(place - np.linalg.solve(square, jacobian.T @ (weights * errors)), -9, 12)
        errors_there = off(np.exp(tried), work_done, rtl)
        if badness(errors_there) < badness(errors):
            place, errors, damping = tried, errors_there, damping / 3
        else:
            damping *= 4
    return np.exp(place)


def held_out(work_done: Array, rtl: Array) -> Array:
    """Ratios of rows, each estimated by constants that were fitted without its part."""
    ratios, part = np.empty(len(rtl)), np.arange(len(rtl)) % PARTS
    for one in range(PARTS):
        constants = fitted(work_done[part != one], rtl[part != one])
        ratios[part == one] = estimate(constants, work_done[part == one]) / rtl[part == one]
    return ratios


def line(name: str, ratios: Array) -> tuple[str, ...]:
    """Median of ratios, and median and 95th percentile of how far they are from 1."""
    errors = np.abs(ratios - 1)
    shown = (np.median(errors), np.percentile(errors, 95))
    return (name, str(len(ratios)), f"{np.median(ratios):.3f}", *(f"{100 * one:.1f} %" for one in shown))


def main() -> int:
    """Exit code 0: figures are reported."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a clone of ucb-bar/dosa")
    folder = parser.parse_args().folder
    training, test = read(folder, TRAINING), read(folder, TEST)
    kept = [row for row in training if is_used(row)]
    used = [row for row in kept if row.tiling.width == WIDTH]
    rtl = np.array([row.rtl for row in used])
    tries = []
    for capacity in CAPACITIES:
        work_done = features(used, capacity)
        constants = fitted(work_done, rtl)
        tries.append((badness(off(constants, work_done, rtl)), capacity, constants))
    _, capacity, constants = min(tries, key=lambda one: one[0])
    print(f"fitted on {len(used)} of {len(training)} training rows:")
    print(f"  {'kilobytes of the cache':53} {capacity // 1024:9}")
    for what, value in zip(CONSTANTS, constants, strict=True):
        print(f"  {what:53} {value:9.3f}")
    sorts = {
        "training": used,
        "training, arrays of other widths": [row for row in kept if row.tiling.width != WIDTH],
        "test, convolutions": [row for row in test if row.tiling.layer["Q"] > 1],
        "test, products of matrices": [row for row in test if row.tiling.layer["Q"] == 1],
        "test, all": test,
    }
    lines = [line("training, held out", held_out(features(used, capacity), rtl))]
    for name, rows in sorts.items():
        found = estimate(constants, features(rows, capacity))
        lines.append(line(name, found / np.array([row.rtl for row in rows])))
    lines.append(line("test, by the model's own cycles", np.array([row.model / row.rtl for row in test])))
    heading = ("rows", "number", "median of model / RTL", "median error", "95th percentile")
    show("Gemmini's RTL (targets: 10 % and 30 %)", heading, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
