"""Why a problem has no selection is said by name."""

from __future__ import annotations

import pytest

from mapper.arch.overlay import OverlayMachine, overlay_from_document
from mapper.formulations.algorithm_selection.infeasible import why_infeasible
from mapper.formulations.algorithm_selection.problem import Pin, SelectionProblem
from mapper.models.algorithm_selection.overlay.layer import OverlayLayer
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort

SMALL = {"dsp": 46, "bram36": 2160, "uram": 960, "lut": 1182240}
LITTLE = {"input": 1024, "kernel": 1024, "result": 1024}


def network(width: int = 6, **changed: object) -> OverlayNetwork:
    fields: dict[str, object] = {
        "schema": "mapper.dynamap/1",
        "name": "small",
        "pes": 16,
        "clock_mhz": 100,
        "word_bits": 8,
        "bandwidth_gb_s": 1,
    }
    machine: OverlayMachine = overlay_from_document(fields | changed, "small")
    layer = OverlayLayer("conv1", "", "Conv", 1, 3, 4, (6, width), (4, width - 2), (3, 3))
    return OverlayNetwork("net", machine, (layer,), ())


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (
            SelectionProblem(network(), pins={"conv1": Pin(frozenset({"winograd-4x4"}))}),
            "conv1 has no choice",
        ),
        (SelectionProblem(network(), pins={"conv1": Pin(dataflows=frozenset())}), "conv1 has no choice"),
        (SelectionProblem(network(), array=(5, 4)), "5 x 4 is too large"),
        (SelectionProblem(network(), longest_units=1), "no array of 16 PEs"),
        (
            SelectionProblem(network(resource={"limits_shapes": True, "brams": 1})),
            "no array fits the available block memories",
        ),
        # 1 GB/s at 100 MHz are 10 words a cycle: 4 lanes read and write.
        (SelectionProblem(network(engines={}), array=(2, 8)), "more than the 4 lanes"),
        (
            SelectionProblem(network(engines={}, board=SMALL), array=(4, 4)),
            "takes 47 dsp, and the board has 46",
        ),
        (
            SelectionProblem(network(600, engines={"buffers": LITTLE})),
            "conv1 has no algorithm of which a piece",
        ),
    ],
)
def test_the_reason_is_named_and_the_search_proves_it(problem: SelectionProblem, reason: str) -> None:
    found = joint(problem, Effort())
    assert found.mapping is None and found.proven
    assert reason in why_infeasible(problem)
