"""Cycles of Gemmini's RTL beside the model's: DOSA's simulations by FireSim [Hong2023].

    python -m bench.hierarchy.gemmini_rtl FOLDER      FOLDER: a clone of ucb-bar/dosa

The 222 rows of `data/firesim_test_data` give the mapping of a layer and the cycles that the RTL of an array of 16 x 16
took. The model's own cycles are Timeloop's, of a machine that overlaps everything. `estimate` adds what the RTL does
one tile after another, with seven constants fitted on rows of `data/firesim_training_data` alone: an array of 128 x
128, mappings drawn at random, 1,567 rows, of which some sorts are left out (`is_used`). The form of `estimate` was
chosen with both files in view, its constants were not.
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
from bench.measure import show
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.one_line import mapping_from_line

Array = Any
TRAINING = "data/firesim_training_data/firesim_results.csv"
TEST = "data/firesim_test_data/dataset.csv"
WIDTHS = {TRAINING: 128, TEST: 16}
"""Rows and columns of the array."""
BLOCKS_MOVED = 4
"""Blocks as wide as the array that one instruction moves in at the most [Genc2021]."""
BEGINNINGS = {
    "least cycles of an instruction": 8.0,
    "cycles that it adds to its rows": 2.0,
    "cycles a word of weights": 0.1,
    "cycles a row of weights": 1.0,
    "cycles a word of inputs": 0.1,
    "cycles a row of inputs": 1.0,
    "least cycles of a tile": 250.0,
}
"""What is fitted, and where fitting begins."""
STEEPNESS = 4
"""Computing, loading and the least of a tile overlap; the longest counts, and a little more where two are alike: they
are added as fourth powers, which the training rows prefer to squares."""
UNSURE = 0.1
"""Relative errors above it count in proportion, below it squared."""


class Measured(NamedTuple):
    """A row of a file: bounds of the layer; features (tiles; of each tile instructions for a row of outputs, how many
    times P fills the array, its width and what is left of P, words and rows of weights, words and rows of inputs);
    cycles of the RTL and of the model."""

    layer: dict[str, int]
    features: tuple[float, ...]
    rtl: float
    model: int


def read(folder: Path, name: str) -> list[Measured]:
    """The rows of a file of the clone, as the model sees their mappings."""
    with (folder / name).open(newline="") as file:
        return [_measured(row, WIDTHS[name]) for row in csv.DictReader(file)]


def _measured(found: Row, width: int) -> Measured:
    row = {key.partition(".")[2]: value for key, value in found.items()}
    row.setdefault("mem2_shared_bandwidth", "32")
    own_nest, own_machine = nest(row), machine(row)
    mapping = mapping_from_line(found["mapping.mapping"], own_nest, own_machine, "row")
    cost = evaluate(own_nest, own_machine, mapping)
    outer, inside = _trips(mapping, (0,)), _trips(mapping, (1, 2, 3))
    instructions = 1
    for loop in mapping.levels[2].temporal:
        instructions *= loop.trips if loop.loop in "KCRS" else 1
    weights, inputs = (cost.tiles["scratchpad"][tensor] for tensor in "WI")
    moved = BLOCKS_MOVED * width
    rows = (weights / inside["K"] * -(-inside["K"] // moved), inputs / inside["C"] * -(-inside["C"] // moved))
    tiles = 1
    for trips in outer.values():
        tiles *= trips
    full, rest = divmod(inside["P"], width)
    features = (tiles, instructions * inside["Q"], full, width, rest, weights, rows[0], inputs, rows[1])
    layer = {loop: int(row[loop]) for loop in "PQRS"}
    return Measured(layer, features, float(row["gemmini_cycle"]), cost.cycles)


def _trips(mapping: HierarchyMapping, levels: Sequence[int]) -> dict[str, int]:
    found = dict.fromkeys("KCPQRS", 1)
    for place in levels:
        level = mapping.levels[place]
        for time in level.temporal:
            found[time.loop] = found.get(time.loop, 1) * time.trips
        for space in level.spatial:
            found[space.loop] = found.get(space.loop, 1) * space.trips
    return found


def is_used(row: Measured) -> bool:
    """Whether a training row is fitted on: not images that are not square, which take the RTL as long as square ones,
    nor windows of even size, which take it up to a hundred times as long as others, nor products of matrices, which
    take it from 3 to 4,000 cycles a tile for reasons that a row does not tell."""
    return row.layer["Q"] > 1 and row.layer["P"] == row.layer["Q"] and row.layer["R"] % 2 == 1


def estimate(constants: Array, features: Array) -> Array:
    """Cycles: every tile is loaded whole, while the one before is computed; each block of weights meets the tile's
    outputs in instructions of as many rows as P has in the tile, at most as many as the array."""
    tiles, instructions, full, width, rest, weights, weight_rows, inputs, input_rows = features.T
    least, more, *loads, tile = constants
    unit = full * np.maximum(least, width + more) + np.where(rest > 0, np.maximum(least, rest + more), 0)
    computing = instructions * unit
    loading = loads[0] * weights + loads[1] * weight_rows + loads[2] * inputs + loads[3] * input_rows
    longest = computing**STEEPNESS + loading**STEEPNESS + tile**STEEPNESS
    found: Array = tiles * longest ** (1 / STEEPNESS)
    return found


def fitted(rows: Sequence[Measured]) -> Array:
    """The constants that bring logarithms of estimates closest, by damped Gauss-Newton steps."""
    features = np.array([row.features for row in rows], float)
    rtl = np.log([row.rtl for row in rows])
    place, damping = np.log(list(BEGINNINGS.values())), 1.0

    def off(at: Array) -> Array:
        found: Array = np.log(estimate(np.exp(at), features)) - rtl
        return found

    def cost(errors: Array) -> float:
        return float((np.sqrt(1 + (errors / UNSURE) ** 2) - 1).sum())

    errors = off(place)
    for _ in range(200):
        steps = [(off(place + 1e-5 * one) - errors) / 1e-5 for one in np.eye(len(place))]
        jacobian, weights = np.array(steps).T, 1 / np.sqrt(1 + (errors / UNSURE) ** 2)
        square = jacobian.T @ (weights[:, None] * jacobian) + damping * np.eye(len(place))
        tried = np.clip(place - np.linalg.solve(square, jacobian.T @ (weights * errors)), -9, 12)
        if cost(off(tried)) < cost(errors):
            place, errors, damping = tried, off(tried), damping / 3
        else:
            damping *= 4
    return np.exp(place)


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
    used = [row for row in training if is_used(row)]
    constants = fitted(used)
    print(f"fitted on {len(used)} of {len(training)} training rows:")
    for what, value in zip(BEGINNINGS, constants, strict=True):
        print(f"  {what:32} {value:9.3f}")
    sorts = {
        "training": used,
        "test, convolutions": [row for row in test if row.layer["Q"] > 1],
        "test, products of matrices": [row for row in test if row.layer["Q"] == 1],
        "test, all": test,
    }
    lines = []
    for name, rows in sorts.items():
        found = estimate(constants, np.array([row.features for row in rows], float))
        lines.append(line(name, found / np.array([row.rtl for row in rows])))
    lines.append(line("test, by the model's own cycles", np.array([row.model / row.rtl for row in test])))
    heading = ("rows", "number", "median of model / RTL", "median error", "95th percentile")
    show("Gemmini's RTL (targets: 10 % and 30 %)", heading, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
