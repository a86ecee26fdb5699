"""The six layers of the paper, with real data, at their mappings of least EDP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling import report, simulate
from mapper.workloads.nest.layer_nest import convolution_nest, square_convolution
from tests.sim.tiling.small_nest import machine_of

LAYERS: dict[str, dict[str, Any]] = {
    layer["name"]: layer
    for layer in yaml.safe_load(Path(__file__).with_name("layer.yaml").read_text(encoding="utf-8"))
}


def check(name: str) -> None:
    layer = LAYERS[name]
    nest, machine = convolution_nest(name, square_convolution(**layer["shape"])), machine_of()
    factors = tuple(tuple(layer["tiling"][loop]) for loop in nest.loops)
    mapping = TilingMapping(nest.loops, factors, *(tuple(layer[level].split()) for level in ("dram", "spm")))
    run, model = simulate(nest, machine, mapping), evaluate(nest, machine, mapping)
    assert run.outputs_equal
    assert (run.energy_pj, run.cycles) == (layer["energy_pj"], layer["cycles"])
    assert (run.words, run.stall_cycles) == (model.words, model.stall_cycles)
    assert report(nest, machine, mapping)["agrees"]


def test_conv5_2_computes_the_reference_at_the_published_optimum() -> None:
    check("conv5_2")


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_computes_the_reference_and_costs_what_the_model_says(name: str) -> None:
    check(name)
