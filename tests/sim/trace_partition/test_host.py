"""The host computes what it is asked for, and refuses what a strange program asks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mapper.models.trace_partition.isa.program import HostCall
from mapper.models.trace_partition.lowering.building import trace_network
from mapper.models.trace_partition.lowering.host_call import host_calls
from mapper.models.trace_partition.lowering.layer import TensorView
from mapper.sim.trace_partition.functional.tensor_map import tensor_map
from mapper.sim.trace_partition.host import run_call
from mapper.workloads.document import InputError
from tests.sim.trace_partition.onnx_layer import layers, model, node, sixteenths

NODES = {
    "LRN": node("LRN", ["a"], ["y"], size=3),
    "Pad": node("Pad", ["a", "pads"], ["y"]),
    "Softmax": node("Softmax", ["a"], ["y"], axis=1),
    "Tile": node("Tile", ["a", "times"], ["y"]),
    "Mul": node("Mul", ["a", "a"], ["y"]),
}


def call_of(op: str) -> tuple[HostCall, dict[str, Any]]:
    """A host's call after a convolution, and a memory for it."""
    weights = {"w": sixteenths((4, 4, 1, 1), 1)}
    entry = NODES[op]
    constants = {
        name: value
        for name, value in {"pads": [0, 0, 1, 0, 0, 0, 0, 1], "times": [1, 1, 2, 1]}.items()
        if name in entry.input
    }
    network = layers(model([node("Conv", ["x", "w"], ["a"]), entry], (1, 4, 3, 2), weights, constants))
    trace = trace_network(network)
    (call,) = host_calls(network, trace)
    return call, {name: np.arange(words, dtype=np.int16) for name, words in trace.tensors}


def changed(call: HostCall, **attributes: Any) -> HostCall:
    """The call with attributes replaced (None: left out); dots are written as ``__``."""
    names = {key.replace("__", "."): value for key, value in attributes.items()}
    kept = {name: value for name, value in (dict(call.attributes) | names).items() if value is not None}
    return replace(call, attributes=tuple(kept.items()))


def test_elements_are_taken_in_onnx_order_and_rounded_to_even() -> None:
    call, memory = call_of("Mul")
    given = tensor_map(call.inputs[0], memory).astype(np.float64)
    run_call(call, memory)
    assert np.array_equal(tensor_map(call.output, memory), np.rint(given * given / 256))


def test_moved_elements_keep_their_words() -> None:
    call, memory = call_of("Pad")
    run_call(call, memory)
    result = tensor_map(call.output, memory)
    assert result.shape == (4, 3, 4)
    assert np.array_equal(result[1:, :2].reshape(-1), np.arange(24))
    assert not result[0].any() and not result[:, 2].any()


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("LRN", {"mapper__work": "nothing"}),
        ("LRN", {"mapper__work": 3}),
        ("LRN", {"mapper__operands": ("x0", "x1")}),
        ("LRN", {"mapper__operands": ()}),
        ("LRN", {"mapper__shape__x0": (1, 4, 3, 3)}),
        ("LRN", {"mapper__shape__x0": (1, 4, -3, -2)}),
        ("LRN", {"mapper__shape__x0": None}),
        ("LRN", {"mapper__start__x0": 1}),
        ("LRN", {"mapper__start__x0": -1}),
        ("LRN", {"size": 1 << 40}),
        ("LRN", {"size": "three"}),
        ("LRN", {"mapper__kernel": (3, 3)}),
        ("Pad", {"pads": (0, 0, 1 << 30, 0, 0, 0, 0, 1)}),
        ("Pad", {"pads": (0, 0, 2, 0, 0, 0, 0, 1)}),
        ("Pad", {"pads": (0, 0)}),
        ("Softmax", {"axes": (9,)}),
        ("Softmax", {"axes": ("a",)}),
        ("Softmax", {"mapper__result": 5}),
        ("Tile", {"mapper__shape__y0": (1, 4, 1 << 30, 2)}),
        ("Tile", {"mapper__shape__y0": (1,)}),
        ("Mul", {"mapper__shape__x1": (24,), "mapper__shape__x0": (24, 1)}),
    ],
)
def test_a_call_that_does_not_agree_with_itself_is_refused(op: str, attributes: dict[str, Any]) -> None:
    call, memory = call_of(op)
    with pytest.raises(InputError, match=r"host operation|repair the graph"):
        run_call(changed(call, **attributes), memory)


@pytest.mark.parametrize(
    "view",
    [
        TensorView("elsewhere", 3, 2, 4, 4),
        TensorView("y", 3, 2, 4, 5),
        TensorView("y", 3, 2, 4, 4, 1),
        TensorView("y", 3, 2, 4, 4, -1),
        TensorView("y", 3, 0, 4, 4),
        TensorView("y", 1 << 40, 1 << 40, 4, 0),
    ],
)
def test_a_view_beyond_its_tensor_is_refused(view: TensorView) -> None:
    call, memory = call_of("LRN")
    with pytest.raises(InputError, match="tensor"):
        run_call(replace(call, output=view), memory)
