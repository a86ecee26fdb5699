"""A simulated selection gives the reference's numbers, and the model's cycles and named terms."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.models.algorithm_selection.choice import Algorithm, Choice
from mapper.models.algorithm_selection.control.selection import selection_control
from mapper.models.algorithm_selection.control.sequence import control
from mapper.models.algorithm_selection.gemm_call import GemmCall
from mapper.models.algorithm_selection.mapping import Selection, reader_label
from mapper.models.algorithm_selection.number.seeded import seeded_numbers
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.layer import DATAFLOWS
from mapper.sim.algorithm_selection import report
from mapper.sim.algorithm_selection.array.cycles import fill_and_drain, passes
from mapper.sim.algorithm_selection.array.systolic import run
from mapper.sim.algorithm_selection.network import Overlay, seeded_inputs
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers
from tests.sim.trace_partition.onnx_layer import layers, model, node


def posed(network: LayerNetwork, preset: str = "dynamap-u200-model") -> SelectionProblem:
    machine, _ = load_machine(preset)
    assert isinstance(machine, OverlayMachine)
    return SelectionProblem(overlay_network(network, machine))


def drawn(problem: SelectionProblem, array: tuple[int, int], seed: int) -> Selection:
    """Any algorithm and dataflow of each layer, any format of each tensor."""
    draw, overlay = random.Random(seed), problem.network
    choices = [
        Choice(draw.choice(problem.algorithms(at)), draw.choice(DATAFLOWS))
        for at in range(len(overlay.layers))
    ]
    stores = []
    for at, store in enumerate(overlay.stores):
        labels = problem.labels(at)
        stores.append(draw.choice(labels) if store.vertex else _edge(problem, choices, at))
    return Selection(array, tuple(choices), tuple(stores))


def _edge(problem: SelectionProblem, choices: list[Choice], at: int) -> str:
    reader = problem.network.stores[at].readers[0]
    return reader_label(problem.network, at, choices[reader].algorithm)


def test_googlenet_s_optimum_runs_and_takes_the_model_s_cycles_and_named_terms() -> None:
    network = load_layers("googlenet")
    problem = posed(network)
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    found = report(problem, selection, network)
    assert found["outputs_equal"] and found["max_error"] == 0
    assert found["agrees"]
    assert set(found["physical"]["terms"]) == {"rounds_and_tiles", "fill_and_drain", "words"}
    layers = found["physical"]["layers"]
    single_round = [one for name, one in layers.items() if problem.network.layer(name).window in (1, 9, 49)]
    assert len(single_round) == 48
    assert all(one["products"] == one["model"] for one in single_round)


@pytest.mark.parametrize("seed", range(2))
def test_tensors_stored_in_any_reader_s_format_serve_all_readers(seed: int) -> None:
    network = load_layers("squeezenet")
    problem = posed(network)
    found = report(problem, drawn(problem, (8, 6), seed), network, seed)
    assert found["agrees"], found["physical"]


def test_a_batch_runs_image_after_image() -> None:
    network = load_layers("lenet5", 3)
    problem = posed(network)
    found = report(problem, drawn(problem, (5, 4), 1), network)
    assert found["agrees"], found["physical"]


def test_products_and_pools_on_the_array_and_loaded_kernels_are_accounted() -> None:
    network = load_layers("lenet5")
    machine = posed(network).machine
    layers = machine.layers.model_copy(update={"average_pool": "convolution", "fully_connected": "product"})
    traffic = machine.traffic.model_copy(update={"weights": True, "double_buffering": True})
    machine = machine.model_copy(update={"layers": layers, "traffic": traffic})
    problem = SelectionProblem(overlay_network(network, machine))
    found = report(problem, drawn(problem, (5, 4), 2), network)
    assert found["agrees"], found["physical"]


def test_a_stored_format_that_lacks_what_another_reader_needs_is_found() -> None:
    """Every second position suits a 1 x 1 convolution of stride 2; a 3 x 3 one beside it needs all."""
    network = load_layers("resnet50")
    halving = next(
        layer
        for layer in network.layers
        if layer.work == "convolution" and (layer.window.kernel, layer.window.strides) == ((1, 1), (2, 2))
    )
    tensor = halving.inputs[0].memory
    choices = {layer.name: Choice("im2col", "NS") for layer in network.layers if layer.work == "convolution"}
    stores: list[tuple[tuple[str, Algorithm] | None, bool]] = [
        (None, False),
        ((halving.name, "im2col"), True),
    ]
    for store, fails in stores:
        sequence = control(network, (4, 4), choices, {tensor: store})
        overlay = Overlay(network, sequence, seeded_numbers(network, 0), seeded_inputs(network, 0))
        lost = False
        for done in overlay.run():
            lost = lost or done.lost
            if done.step.name == halving.name:
                break
        assert lost == fails


@pytest.mark.parametrize("outputs", [("y", "z"), ("c", "z")])
def test_what_is_also_read_beside_the_array_or_handed_out_is_stored_whole(outputs: tuple[str, ...]) -> None:
    """A 1 x 1 convolution of stride 2 reads every second position; who reads the same tensor beside it needs all."""
    nodes = [
        node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3]),
        node("Sigmoid", ["c"], ["y"]),
        node("Conv", ["c", "v"], ["z"], kernel_shape=[1, 1], strides=[2, 2]),
    ]
    weights = {"w": np.zeros((2, 1, 3, 3), np.float32), "v": np.zeros((1, 2, 1, 1), np.float32)}
    network = layers(model(nodes, (1, 1, 7, 7), weights, outputs=outputs))
    problem = posed(network)
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    assert report(problem, selection, network)["agrees"]


@pytest.mark.slow
def test_every_layer_of_googlenet_takes_eq_9_and_one_fill_and_drain_on_the_cycle_accurate_array() -> None:
    """One product of each layer under the optimum, on 95 x 64 PEs with all their registers; Winograd's and kn2row's
    other products of a layer have the same sizes."""
    network = load_layers("googlenet")
    problem = posed(network)
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    sequence = selection_control(network, problem.network, selection)
    draw = np.random.default_rng(0)
    for step in sequence.convolutions:
        first = step.calls[0]
        call = GemmCall(first.a, first.b, first.c, 0, 0, 0, 0, 0, 0, False)
        matrix = draw.integers(-128, 128, (call.a, call.b))
        weights = draw.integers(-128, 128, (call.b, call.c))
        done = run([call], step.dataflow, sequence.array, matrix, weights)
        assert np.array_equal(done.products[0], matrix @ weights), step.name
        count, length = passes(call, step.dataflow, sequence.array)
        once = fill_and_drain(step.dataflow, length, sequence.array)
        assert (done.cycles, done.late) == (count * length + once, 0), step.name
