"""Every figure of the kinds' pages by the name of its file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docs.site.figure import (
    algorithm_selection,
    hierarchy,
    modulo_schedule,
    pbqp,
    pe_allocation,
    tiling,
    trace_partition,
)

FOLDER = Path(__file__).parents[2] / "figure"

FIGURES: dict[str, Callable[[], str]] = {
    "tiling-machine": tiling.machine,
    "tiling-mapping": tiling.mapping,
    "eyeriss-machine": tiling.eyeriss,
    "modulo-schedule-machine": modulo_schedule.machine,
    "modulo-schedule-mapping": modulo_schedule.mapping,
    "pe-allocation-machine": pe_allocation.machine,
    "pe-allocation-mapping": pe_allocation.mapping,
    "algorithm-selection-machine": algorithm_selection.machine,
    "algorithm-selection-mapping": algorithm_selection.mapping,
    "pbqp-mapping": pbqp.mapping,
    "trace-partition-machine": trace_partition.machine,
    "trace-partition-mapping": trace_partition.mapping,
    "hierarchy-machine": hierarchy.machine,
    "hierarchy-mapping": hierarchy.mapping,
}
"""PBQP instances have no machine."""
