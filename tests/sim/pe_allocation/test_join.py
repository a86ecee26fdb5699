"""Gates, enlarged maps and transposed convolutions: solved, certified, and measured as the model says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork, stream_network
from mapper.models.pe_allocation.stream.pipeline import drains
from mapper.models.pe_allocation.stream.timing import feed_peaks, streamed
from mapper.sim.pe_allocation.report import report
from tests.checkers.pe_allocation.example import proof_of, verdict_on
from tests.sim.pe_allocation import onnx_network
from tests.sim.pe_allocation.example import Net, allocated, array, problem_of
from tests.sim.pe_allocation.onnx_network import layers

NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "gate": onnx_network.squeeze_and_excite,
    "gate first": partial(onnx_network.squeeze_and_excite, op="HardSigmoid", gate_first=True),
    "linear gate": onnx_network.linear_gate,
    "u-net": onnx_network.u_net,
    "transposed u-net": partial(onnx_network.u_net, transposed=True),
    "tiny yolo": onnx_network.tiny_yolo,
}


@pytest.fixture(params=list(NETWORKS))
def network(request: pytest.FixtureRequest) -> StreamNetwork:
    return stream_network(layers(NETWORKS[request.param]()))


def test_joins_stream_as_the_model_says(network: StreamNetwork) -> None:
    allocation = allocated(network)
    found = report(problem_of(network, allocation, model="streaming"), allocation)
    assert found["agrees"], (found["violations"], found["physical"])


def test_joins_run_layer_by_layer_as_the_model_says(network: StreamNetwork) -> None:
    allocation = allocated(network, mode="layer-by-layer")
    found = report(problem_of(network, allocation), allocation)
    assert found["agrees"] and found["violations"] == []
    cost = evaluate(network, array(), allocation, "calculus")
    assert found["cost_simulated"] == cost.cost_json()


@pytest.mark.parametrize("objective", ["throughput", "latency"])
def test_the_best_allocation_of_joins_is_certified(network: StreamNetwork, objective: Any) -> None:
    # One PE a layer and a few more: what is certified is the network, not a search that takes long.
    most = len(network.layers) + 2
    problem = AllocationProblem(network, array("tcpa-8x8"), objective, model="streaming", max_pes=most)
    assert verdict_on(proof_of(problem))[0] == "certified"


def test_a_map_waits_as_a_whole_for_its_gate() -> None:
    network = stream_network(layers(onnx_network.squeeze_and_excite()))
    at = network.names.index("mul1")
    allocation = allocated(network)
    waits = drains(network.layers, array(), "streaming")
    peaks = feed_peaks(network, streamed(network, tuple(_paces(network, allocation)), waits))[at]
    whole = network.layers[0].maps * network.layers[0].positions
    assert max(peaks) >= whole


def _paces(network: StreamNetwork, allocation: Allocation) -> list[int]:
    return [timing.z_out for timing in evaluate(network, array(), allocation, "streaming").timed]


def test_a_gate_costs_no_frames_by_the_streaming_model_and_many_by_eq_9() -> None:
    network = stream_network(layers(onnx_network.squeeze_and_excite()))
    matched = allocated(network)
    free = allocated(network, idle=(0,) * len(network.layers))
    by_eq_9 = evaluate(network, array(), matched, "calculus").interval
    streaming = evaluate(network, array(), free, "streaming").interval
    assert by_eq_9 > 50 * streaming


@st.composite
def enlarged(draw: st.DrawFn) -> StreamNetwork:
    """A convolution that reads each pixel of another several times, or with zeros between them."""
    times = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    net = Net((draw(st.integers(3, 6)), draw(st.integers(3, 6)))).convolution(2, 1)
    first = net.layers[0]
    wide = (first.output_size[0] * times[0], first.output_size[1] * times[1])
    spread = draw(st.booleans())
    kernel = tuple(draw(st.integers(1, 3)) for _ in times)
    strides = (1, 1) if spread else (draw(st.integers(1, 2)), draw(st.integers(1, 2)))
    net.layers[0] = replace(first, output_size=wide)
    net.convolution(3, (kernel[0], kernel[1]), 0, strides=strides, pads=(kernel[0] // 2, kernel[1] // 2))
    net.layers = [first, replace(net.layers[1], spread=times if spread else (1, 1))]
    return net.network()


@settings(derandomize=True, deadline=None, max_examples=40)
@given(enlarged(), st.data())
def test_any_enlarged_map_streams_at_any_pace_as_the_model_says(
    network: StreamNetwork, data: st.DataObject
) -> None:
    idle = (data.draw(st.integers(0, 20)), data.draw(st.integers(0, 20)))
    allocation = allocated(network, 1, data.draw(st.integers(1, 3)), idle=idle)
    problem = problem_of(network, allocation, model="streaming")
    found = report(problem, allocation, data.draw(st.integers(0, 3)))
    assert found["agrees"], (found["violations"], found["physical"], network)
