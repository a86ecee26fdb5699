"""Edges of the cost graph at concatenations and additions."""

from __future__ import annotations

import pytest

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.program.join import Joins
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.workloads.document import InputError
from mapper.workloads.source import load_layers


@pytest.mark.parametrize("network", ["densenet121", "resnet18"])
def test_words_that_are_read_back_may_be_too_many_to_count(network: str) -> None:
    preset, _ = load_machine("dynamap-u200-model")
    assert isinstance(preset, OverlayMachine)
    fields = preset.model_dump(by_alias=True) | {"bandwidth_gb_s": 0.001, "clock_mhz": 999.999}
    posed = overlay_network(load_layers(network, 1 << 20), OverlayMachine.model_validate(fields))
    builder = GraphBuilder(SelectionProblem(posed))
    joins = Joins(posed, builder.labels, builder.algorithms, builder.vertex)
    with pytest.raises(InputError, match="leave 64 bits"):
        joins.latency()
