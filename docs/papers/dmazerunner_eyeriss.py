"""Dave et al. 2019, dMazeRunner [Dave2019]: Fig. 8, AlexNet on Eyeriss against the chip's own figures [Chen2017]."""

from __future__ import annotations

import math
from decimal import Decimal

from bench.tiling.eyeriss import PASSES, costs, mapping_of, nests, processing_ms
from docs.papers.drawing import bars
from docs.papers.row import Found, Row, beside
from mapper.arch.source import load_machine

CHIP = (
    "the chip's figure, measured without DRAM, beside the model's for the published mapping: computing, filters that "
    "wait, windows that slide; nothing is chosen for it"
)
TOTAL = (
    "the paper says neither its mappings nor its parameters for Eyeriss; by the chip's publication it is less"
)


def cycles() -> Found:
    """Ideal, measured and estimated cycles of the five layers, and the difference of the totals."""
    machine, _ = load_machine("eyeriss-168")
    found, layers = costs(), nests()
    per_ms = machine.clock_mhz * 1e3
    groups = {
        name: {
            "ideal": layers[name].iterations / machine.pes,
            "chip": one.processing_ms * per_ms,
            "model": float(found[name].processing_cycles or 0),
        }
        for name, one in PASSES.items()
    }
    rows = []
    for name, one in PASSES.items():
        rows.append(Row("Fig. 8", f"active PEs, {name}", one.active, "", _active(name)))
        computed = processing_ms(found[name])
        rows.append(
            beside("Fig. 8", f"latency, {name}", Decimal(str(one.processing_ms)), "ms", computed, CHIP)
        )
    chip, model = (sum(group[which] for group in groups.values()) for which in ("chip", "model"))
    off = 100 * abs(model / chip - 1)
    rows.append(Row("Fig. 8", "difference of the total cycles", 11, "%", off, TOTAL))
    return Found(tuple(rows), (bars("Fig. 8: AlexNet on Eyeriss, batch 4.", "cycles", groups, "dm8"),))


def _active(name: str) -> int:
    return math.prod(mapping_of(name, nests()[name]).trip_counts("spatial").values())
