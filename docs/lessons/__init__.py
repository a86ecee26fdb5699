"""Lessons, one per formulation: scripts that open as notebooks and render to pages."""

from pathlib import Path

FOLDER = Path(__file__).parent
LESSONS = (
    "tiling",
    "modulo_schedule",
    "pe_allocation",
    "algorithm_selection",
    "trace_partition",
    "hierarchy",
)
