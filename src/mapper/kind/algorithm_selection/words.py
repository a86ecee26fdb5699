"""Proofs about selections in words: the space they cover, and why they hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mapper.kind.checker_lines import checker
from mapper.kind.words import ProofWords, claimed, counted, exact

_SHAPES = (
    "a lower bound of every shape is known, and the cost graphs of all shapes whose bound is below the value were "
    "solved exactly by elimination"
)
WORDS = ProofWords(
    "every shape of the array that its PEs and the board allow, with every algorithm and dataflow of every layer and "
    "every format of the tensors between them",
    {"auto": _SHAPES, "joint": _SHAPES},
)

MOST_TOLD = 24
"""Boxes whose bounds are told one by one; the largest ones."""
UNITS = {
    "latency in cycles": "cycles",
    "DSP slices": "DSP slices",
    "energy times latency in pJ cycles": "pJ cycles",
}
MEASURES = {
    "latency in cycles": "a latency",
    "DSP slices": "an array together with its other parts",
    "energy times latency in pJ cycles": "a product of energy and latency",
}


@dataclass(frozen=True)
class Box:
    """Arrays of ``rows`` x ``columns``, from least to most, on which no selection costs less than ``least`` (None:
    not computed for the telling)."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    least: Fraction | None = None

    @property
    def shapes(self) -> int:
        return (self.rows[1] - self.rows[0] + 1) * (self.columns[1] - self.columns[0] + 1)


def boxes(proof: Mapping[str, Any], most: int = MOST_TOLD) -> list[Box]:
    """The boxes of a proof, largest first; the first ``most`` with their bounds, as the checker's own code computes
    them. For DSP slices a bound is in cycles."""
    module, problem, evidence = checker("algorithm_selection"), proof["problem"], proof["evidence"]
    overlay = module.Overlay(problem["machine"], problem["layers"], problem["stores"], problem.get("engines"))
    sides = sorted(evidence["boxes"], key=lambda one: (one[0] - one[1] - 1) * (one[3] - one[2] + 1))
    found = []
    for at, (low1, high1, low2, high2, *weights) in enumerate(sides):
        least = None
        if at < most:
            least = _least(module, overlay, (low1, high1, low2, high2), weights, problem, evidence["order"])
        found.append(Box((low1, high1), (low2, high2), least))
    return found


def _least(
    module: Any,
    overlay: Any,
    sides: tuple[int, ...],
    weights: Sequence[Sequence[int]],
    problem: Mapping[str, Any],
    order: Sequence[int],
) -> Fraction:
    product = problem["objective"] == "energy times latency in pJ cycles"
    lines = []
    for time, energy in ((1, 0), (0, 1), *weights) if product else ((1, 0),):
        own, edges = overlay.graph(*sides, time, energy)
        size = {vertex: len(costs) for vertex, costs in own.items()}
        lines.append((time, energy, module.eliminated(order, size, own, edges)))
    if product:
        return Fraction(math.floor(module.min_product(lines) / overlay.unit))
    # Cycles begun count whole.
    return Fraction(math.ceil(Fraction(lines[0][2]) / overlay.unit))


def proof_lines(proof: Mapping[str, Any], reason: str) -> list[str]:
    """An accepted proof of a selection in sentences."""
    problem, evidence = proof["problem"], proof["evidence"]
    unit, machine = UNITS[problem["objective"]], problem["machine"]
    lines = [
        claimed(proof["claim"], "selection", MEASURES[problem["objective"]], unit),
        f"Problem: {counted(len(problem['layers']), 'layer')} on arrays of up to {counted(machine['pes'], 'PE')}.",
    ]
    if "no choice left" in reason:
        return [*lines, "Evidence: the pinned decisions leave some layer without an algorithm or a dataflow."]
    if problem["longest"] is not None:
        lines.append(f"A selection may take at most {exact(problem['longest'])} cycles.")
    if evidence["mapping"] is not None:
        rows, columns = evidence["mapping"]["array"]
        used = {str(name): 0 for name, *_ in evidence["mapping"]["choices"]}
        for name, *_ in evidence["mapping"]["choices"]:
            used[name] += 1
        told = ", ".join(f"{name} in {counted(count, 'layer')}" for name, count in used.items())
        lines.append(f"The document's selection has an array of {rows} x {columns} PEs, and {told}.")
    if not evidence["boxes"]:
        return [*lines, "Evidence: no array remains that could be better, so there are no boxes to close."]
    found, bounds = boxes(proof), "cycles" if unit == "DSP slices" else unit
    lines.append(
        f"Evidence: {counted(len(found), 'box', 'boxes')} of shapes together contain every array that could be better "
        "(lemma Cover). Within a box, every layer is assumed to be as fast as on the box's largest array and to begin "
        "as early as on its smallest (lemma Box). The least cost of all choices under these assumptions is found by "
        f"eliminating {counted(len(evidence['order']), 'vertex', 'vertices')} of the cost graph."
    )
    for box in found[:MOST_TOLD]:
        assert box.least is not None
        lines.append(f"{said(box)}: at least {exact(box.least)} {bounds}.")
    if len(found) > MOST_TOLD:
        lines.append(f"… and {counted(len(found) - MOST_TOLD, 'smaller box', 'smaller boxes')}.")
    return lines


def said(box: Box) -> str:
    """A box in words."""
    sides = [str(low) if low == high else f"{low} to {high}" for low, high in (box.rows, box.columns)]
    return f"arrays of {sides[0]} x {sides[1]}"
