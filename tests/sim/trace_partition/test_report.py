"""Compiled networks agree with the reference and the model, and what is wrong with a program is said."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from mapper.models.trace_partition.isa.assembly import assemble
from mapper.models.trace_partition.isa.instruction import Operation, Queue
from mapper.models.trace_partition.isa.program import Program, Segment
from mapper.models.trace_partition.mapping import Partition
from mapper.sim.trace_partition.cycle.simulation import simulate_cycles
from mapper.sim.trace_partition.report import report
from mapper.workloads.document import InputError
from tests.sim.trace_partition.case import case

COST_KEYS = {
    "cycles",
    "latency_ms",
    "throughput_fps",
    "dram_bytes",
    "bandwidth_gb_s",
    "efficiency",
    "energy_pj",
}


@pytest.mark.parametrize("configuration", ["1f1i1c", "1f1i2c", "1f2i2c", "2f2i1c"])
def test_a_network_agrees_in_every_configuration(configuration: str) -> None:
    found = case("lenet5", configuration).report()
    assert found["agrees"], found["notes"]
    assert found["outputs_equal"] and found["max_error"] == 0
    assert found["hazards"] == []
    assert all(abs(layer["difference"]) < 0.05 for layer in found["layers"].values())
    assert {layer["outputs"] for layer in found["layers"].values()} <= {"equal", "in Buf"}


def test_the_report_is_json_with_the_cost_keys() -> None:
    found = case("lenet5").report()
    assert set(found["cost_simulated"]) == COST_KEYS
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_another_seed_gives_other_images_and_the_same_time() -> None:
    first, second = case("lenet5").report(), case("lenet5").report(seed=1)
    assert second["agrees"]
    assert first["cost_simulated"] == second["cost_simulated"]


def test_clusters_with_an_image_each_are_compared_in_step() -> None:
    one = case("lenet5", "1f2i2c")
    found = one.report()
    drifting = simulate_cycles(one.program, one.problem.machine).cycles
    # The host has both images, 20 elements each, one after the other.
    assert found["cost_simulated"]["cycles"] == drifting + 2 * 40
    assert found["drift"] > 0
    assert drifting < sum(layer["cycles_simulated"] for layer in found["layers"].values())
    assert case("lenet5", "1f1i2c").report()["drift"] == 0


def test_a_wrong_weight_is_found_in_the_layer_that_has_it() -> None:
    one = case("lenet5")
    segments = tuple(
        Segment(segment.name, segment.address, np.where(segment.words == 0, 0, -segment.words))
        if segment.name == "weights:conv2"
        else segment
        for segment in one.program.segments
    )
    found = one.report(replace(one.program, segments=segments))
    assert not found["agrees"] and not found["outputs_equal"]
    assert found["max_error"] > 0
    assert "wrong from conv2 on" in found["notes"]
    assert found["layers"]["conv1"]["outputs"] == "equal"
    assert found["layers"]["conv2"]["outputs"] == "different"


def without_wait(program: Program, queue: Queue) -> Program:
    """The first WAIT for ``queue`` does nothing."""
    cluster = program.clusters[0]
    wait = int(Operation.WAIT) << 28 | int(queue) << 23
    place = int(np.argmax(cluster.code & 0xFF800000 == wait))
    code = cluster.code.copy()
    code[place] = assemble("ADDI r0, r0, 0")[0]
    return replace(program, clusters=(replace(cluster, code=code), *program.clusters[1:]))


@pytest.mark.parametrize("queue", [Queue.LOAD, Queue.VECTOR])
def test_a_missing_wait_is_a_hazard_though_the_words_are_right(queue: Queue) -> None:
    one = case("lenet5")
    found = one.report(without_wait(one.program, queue))
    assert found["outputs_equal"]
    assert found["hazards_found"] > 0 and not found["agrees"]
    assert any("hazards; the first" in note for note in found["notes"])


def test_a_model_of_another_partition_does_not_agree() -> None:
    one = case("lenet5")
    halved = [
        replace(mapping, tile=replace(mapping.tile, out_channels=max(4, mapping.tile.out_channels // 4)))
        if mapping.mode == "coop"
        else mapping
        for mapping in one.partition.layers
    ]
    found = report(one.problem, Partition(tuple(halved)), one.program, one.data)
    assert found["outputs_equal"] and not found["hazards_found"]
    assert not found["agrees"]


def test_a_program_whose_host_operations_are_not_the_networks_is_refused() -> None:
    one = case("lenet5", "1f2i2c")
    assert one.program.calls
    with pytest.raises(InputError, match=r"host operations.*are not those of lenet5"):
        one.report(replace(one.program, calls=one.program.calls[1:]))


def test_layers_add_up_to_the_program() -> None:
    one = case("lenet5", "1f1i2c")
    cycles = simulate_cycles(one.program, one.problem.machine)
    assert sum(layer.cycles for layer in cycles.layers) == cycles.cycles
    found = one.report()
    assert (
        sum(layer["dram_bytes_simulated"] for layer in found["layers"].values())
        <= found["cost_simulated"]["dram_bytes"]
    )
    assert found["instructions"]["executed"] == sum(found["instructions"]["operations"].values())


@pytest.mark.slow
@pytest.mark.parametrize("configuration", ["1f1i1c", "1f1i2c", "1f2i2c"])
@pytest.mark.parametrize("workload", ["alexnet-one-tower", "squeezenet", "resnet18", "lightcnn9"])
def test_whole_networks_agree(workload: str, configuration: str) -> None:
    found = case(workload, configuration).report()
    assert found["agrees"], found["notes"]


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["resnet50", "googlenet"])
def test_large_networks_agree(workload: str) -> None:
    found = case(workload).report()
    assert found["agrees"], found["notes"]
