"""The model against every number that the original tool computes, exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling import tile
from mapper.models.tiling.cost import evaluate, quantities
from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest

POINTS: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("reference_point.yaml").read_text(encoding="utf-8")
)
RESOURCES = ("mac", "rf", "noc", "spm", "dram")

each_point = pytest.mark.parametrize("point", POINTS, ids=[point["name"] for point in POINTS])
each_order = pytest.mark.parametrize(
    ("point", "order"),
    [(point, order) for point in POINTS for order in point["orders"]],
    ids=[
        f"{point['name']}: {order['dram']} / {order['spm']}" for point in POINTS for order in point["orders"]
    ],
)


def nest_of_point(point: dict[str, Any]) -> LoopNest:
    if "matrix_product" in point:
        return matrix_product_nest("point", (), **point["matrix_product"])
    shape: dict[str, int] = point["convolution"]
    batch, out_channels, in_channels = (shape[key] for key in ("batch", "out_channels", "in_channels"))
    size, kernel, stride = ((shape[key],) * 2 for key in ("size", "kernel", "stride"))
    pads = ((shape["pad"], shape["pad"]),) * 2
    convolution = Convolution(
        batch, out_channels, in_channels, size, kernel, stride, (1, 1), pads, shape["groups"]
    )
    return convolution_nest("point", convolution)


def mapping_of(point: dict[str, Any], order: dict[str, Any], nest: LoopNest) -> TilingMapping:
    factors = tuple(tuple(point["tiling"].get(loop, (1, 1, 1, 1))) for loop in nest.loops)
    # Loops the original does not have run once; where they stand does not matter.
    orders = [
        tuple(loop for loop in nest.loops if loop not in point["tiling"]) + tuple(order[level].split())
        for level in ("dram", "spm")
    ]
    return TilingMapping(nest.loops, factors, *orders)


@each_order
def test_energy_and_cycles_are_those_of_the_original(
    point: dict[str, Any], order: dict[str, Any], machine: DataflowMachine
) -> None:
    nest = nest_of_point(point)
    cost = evaluate(nest, machine, mapping_of(point, order, nest))
    assert (cost.energy_pj, cost.cycles) == (order["energy_pj"], order["cycles"])
    assert isinstance(cost.energy_pj, int)
    assert isinstance(cost.cycles, int)
    assert cost.edp_pj_cycles == order["energy_pj"] * order["cycles"]


@each_order
def test_energy_by_resource_is_that_of_the_original(
    point: dict[str, Any], order: dict[str, Any], machine: DataflowMachine
) -> None:
    nest = nest_of_point(point)
    by_resource = evaluate(nest, machine, mapping_of(point, order, nest)).energy_by_resource
    assert [by_resource[resource] for resource in RESOURCES] == pytest.approx(order["energies"], abs=1e-3)


@each_order
def test_reuse_is_that_of_the_original(
    point: dict[str, Any], order: dict[str, Any], machine: DataflowMachine
) -> None:
    nest = nest_of_point(point)
    q = quantities(nest, machine, mapping_of(point, order, nest))
    assert list(q.spm_reuse) == order["spm_reuse"]
    assert list(q.dram_reuse) == order["dram_reuse"]


@each_point
def test_what_a_tile_takes_is_that_of_the_original(point: dict[str, Any], machine: DataflowMachine) -> None:
    nest = nest_of_point(point)
    mapping = mapping_of(point, point["orders"][0], nest)
    q = quantities(nest, machine, mapping)
    assert {operand.name for operand in nest.operands} == set(point["tile"])
    for k, operand in enumerate(nest.operands):
        rf, array, spm, noc, reduction, dma, bursts, burst_words = point["tile"][operand.name]
        assert (q.rf_words[k], q.array_words[k], q.spm_words[k]) == (rf, array, spm)
        assert (q.noc_cycles[k], q.reduction_cycles[k], q.dma_cycles[k]) == (noc, reduction, dma)
        assert q.dma_words[k] == bursts * burst_words


def test_a_mapping_that_breaks_a_capacity_is_costed_all_the_same(machine: DataflowMachine) -> None:
    point = next(point for point in POINTS if point["name"] == "conv5_2_test_c_fx")
    nest = nest_of_point(point)
    mapping = mapping_of(point, point["orders"][0], nest)
    assert tile.banks(nest, machine, mapping.trip_counts("rf", "spatial", "spm")) == 49
    assert evaluate(nest, machine, mapping).energy_pj == point["orders"][0]["energy_pj"]
