"""How long results stay in the units of a PE."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.stream.pipeline import drain, stages
from tests.sim.pe_allocation.example import Net, allocated
from tests.sim.pe_allocation.word.example import with_pe

LAYER = Net((5, 5), 4).convolution(3).layers[0]


@pytest.mark.parametrize(("units", "expected"), [(1, 5), (2, 6), (4, 8), (9, 8)])
def test_each_unit_at_work_adds_a_sum(units: int, expected: int) -> None:
    assert drain(LAYER, with_pe(units)) == expected


def test_latencies_are_those_of_the_machine_file() -> None:
    assert drain(LAYER, with_pe(latency={"multiply": 5, "compare": 3})) == 6 + 3 + 2 * 2


def test_an_activation_that_is_looked_up_takes_the_table() -> None:
    looked_up = replace(LAYER, merged=("Sigmoid",))
    assert stages(looked_up, 2) == (*stages(LAYER, 2), "table")
    assert stages(replace(LAYER, merged=("Relu",)), 2) == stages(LAYER, 2)


@pytest.mark.parametrize(("model", "later"), [("streaming", 2 * 6), ("calculus", 0)])
def test_the_streaming_model_counts_drains_and_the_paper_s_does_not(model: str, later: int) -> None:
    network = Net((5, 5), 4).convolution(3).convolution(3, 1).network()
    free = with_pe(latency=dict.fromkeys(("multiply", "add", "compare", "shift"), 1))
    slow = with_pe(latency={"multiply": 7})
    fast, late = (evaluate(network, machine, allocated(network), model) for machine in (free, slow))  # type: ignore[arg-type]
    assert late.cycles == fast.cycles + later and late.interval == fast.interval
