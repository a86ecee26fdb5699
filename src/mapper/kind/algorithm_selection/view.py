"""Selections for people: what each layer is computed with, and methods side by side, module by module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.kind.algorithm_selection.part import NamedSelection
from mapper.kind.part import JsonValue, Part
from mapper.kind.text_table import text_table
from mapper.models.algorithm_selection.cost import evaluate
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.module import module_of, module_units

MOST_SHOWN = 80
"""Layers that are listed on a terminal."""


def selection_lines(problem: SelectionProblem, part: Part) -> list[str]:
    """The array, how its time is spent, and what each layer is computed with."""
    assert isinstance(part.mapping, NamedSelection) and part.breakdown is not None
    selection = part.mapping.selection
    height, width = selection.array
    spent = ", ".join(f"{cause} {count:,}" for cause, count in part.breakdown["cycles"].items() if count)
    lines = [
        f"  array    {height} x {width} ({height * width:,} PEs)",
        f"  cycles   {spent}",
        f"  chosen   {_chosen(selection)}",
        *_planes(problem, selection),
    ]
    layers = part.breakdown["layers"]
    rows: list[tuple[str | int, ...]] = []
    for name, choice in list(zip(problem.network.names, selection.choices, strict=True))[:MOST_SHOWN]:
        cycles, share = layers[name]["cycles"], layers[name]["utilisation"]
        rows.append((name, choice.algorithm, choice.dataflow, choice.parts, cycles, f"{share:.1%}"))
    heading = ("layer", "algorithm", "dataflow", "parts", "cycles", "utilisation")
    table = text_table(heading, rows, words={"algorithm", "dataflow"})
    lines += ["", *(f"  {line}" for line in table)]
    more = len(problem.network.names) - MOST_SHOWN
    return [*lines, f"  and {more} more"] if more > 0 else lines


def one_line(part: Part) -> str:
    """The array, and how many layers are computed with what."""
    assert isinstance(part.mapping, NamedSelection)
    height, width = part.mapping.selection.array
    return f"{height}x{width}: {_chosen(part.mapping.selection)}"


def _chosen(selection: Selection) -> str:
    counts = Counter(f"{choice.algorithm}/{choice.dataflow}" for choice in selection.choices)
    return ", ".join(f"{count} {named}" for named, count in sorted(counts.items()))


def _planes(problem: SelectionProblem, selection: Selection) -> list[str]:
    """Which tensors lie channel by channel, if any do."""
    stores = zip(problem.network.stores, selection.stores, strict=True)
    names = [store.name for store, label in stores if label == "planes"]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return [f"  planes   {', '.join(names[:8])}{more}"] if names else []


def compared_lines(problem: SelectionProblem, mappings: Mapping[str, JsonValue]) -> list[str]:
    """Latency that the best selection saves against every other method's [Meng2021, Table 4], and microseconds per
    module
    (Figs. 11 and 12)."""
    network = problem.network
    known = {name: shown.selection for name, shown in mappings.items() if isinstance(shown, NamedSelection)}
    costs = {name: evaluate(network, selection) for name, selection in known.items()}
    if not costs:
        return []
    best = min(cost.units for cost in costs.values())
    saved = (f"{name} {1 - best / cost.units:.1%}" for name, cost in costs.items())
    lines = ["latency saved by the best against: " + ", ".join(saved)]
    modules = {name: module_units(network, known[name], costs[name]) for name in known}
    scale = network.machine.units_per_cycle * network.machine.clock_hz / 1e6
    part = module_of(network)
    lines += ["", "microseconds per module"]
    rows: list[tuple[str, ...]] = []
    for module in range(max(part) + 1):
        first, last = part.index(module), len(part) - 1 - part[::-1].index(module)
        spent = (f"{modules[name][module] / scale:.1f}" for name in known)
        rows.append((f"{network.names[first]} to {network.names[last]}", *spent))
    return [*lines, *(f"  {line}" for line in text_table(("layers", *known), rows))]
