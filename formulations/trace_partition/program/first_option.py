"""For every residency of every layer some option that fits, the best or not: enough to count the program, which has a
variable for each residency that a layer can be in, and no search."""

from __future__ import annotations

import numpy as np

from mapper.formulations.trace_partition.floor.option_floor import family_floor
from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.formulations.trace_partition.program.option import Family
from mapper.formulations.trace_partition.program.option_cost import CostedOption, costed, nameless
from mapper.formulations.trace_partition.program.option_search import Searched
from mapper.formulations.trace_partition.program.option_table import OptionTable
from mapper.formulations.trace_partition.program.residency import Residency, residencies_of
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.residency import resident_words


def first_options(problem: PartitionProblem) -> OptionTable:
    """The table of ``problem`` with one option costed for each residency that has any; none of them is called best."""
    residencies = residencies_of(problem)
    seen: dict[tuple[TraceLayer, Pin, tuple[Residency, ...]], int] = {}
    found: list[dict[Residency, Searched]] = []
    first: list[int] = []
    for at, (layer, groups) in enumerate(zip(problem.network.traced, residencies.layers, strict=True)):
        first.append(seen.setdefault((nameless(layer), problem.pin(layer.name), tuple(groups)), at))
        if first[at] < at:
            found.append(found[first[at]])
            continue
        options = {residency: _first(problem, layer, group) for residency, group in groups.items()}
        found.append(
            {
                residency: Searched(option, 0, None) if option is None else Searched(option, 1, (0, 0, 0))
                for residency, option in options.items()
            }
        )
    return OptionTable(problem, residencies, tuple(found), tuple(first))


def _first(problem: PartitionProblem, layer: TraceLayer, group: tuple[Family, ...]) -> CostedOption | None:
    """An option of some families that the machine can hold, large tiles first, since these take few steps."""
    machine, sharing = problem.machine, problem.configuration.sharing
    for family in group:
        # What stays is as large whatever the tile.
        if family.output_resident and resident_words(layer, family.largest, sharing) > machine.unit_words:
            continue
        # Nearly always some tile of usual size fits, if any does.
        for tiles in (family.usual, family):
            for place in np.argwhere(family_floor(problem, layer, tiles).fits)[::-1].tolist():
                option = costed(problem, layer, tiles.mapping(*place))
                if option is not None:
                    return option
    return None
