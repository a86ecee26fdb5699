"""The host: operators that the accelerator lacks, on numbers of Q8.8 taken for what they mean."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.data.fixed_point import ONE, words
from mapper.models.trace_partition.isa.program import HostCall
from mapper.models.trace_partition.lowering.host_operator import RELAYING, HostOperator
from mapper.sim.trace_partition.functional.tensor_map import Memory, tensor_map
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.reference.layer import layer_results

Values = npt.NDArray[np.float32]
LARGEST = 1 << 26
"""Elements of the largest array that a call may need on the way."""


def run_call(call: HostCall, memory: Memory) -> None:
    """Does what ``call`` asks for, in single precision (``workloads.layer_reference``); the result is rounded to Q8.8,
    halves to even, and saturated.

    Raises: InputError if the call does not agree with its tensors, or asks for what the host does not know.
    """
    operator = HostOperator(call.name, call.op, call.attributes)
    made = tensor_map(call.output, memory)
    given = tuple(_elements(call, place, operator, memory) for place in range(len(call.inputs)))
    if operator.work == RELAYING:
        result = given[0] if given else np.zeros(0, np.float32)
    else:
        result = _computed(operator, given)
    if result.size != made.size:
        raise operator.fault("output", f"has {made.size} elements, not {result.size}")
    # ONNX's order is channels, rows, columns.
    height, width, channels = made.shape
    made[...] = words(result).reshape(channels, height, width).transpose(1, 2, 0)


def _elements(call: HostCall, place: int, operator: HostOperator, memory: Memory) -> Values:
    """An input as ONNX has it."""
    flat = tensor_map(call.inputs[place], memory).transpose(2, 0, 1).reshape(-1)
    shape, start = operator.shape(f"x{place}"), operator.start(place)
    end = start + math.prod(shape)
    if not 0 <= start <= end <= flat.size:
        raise operator.fault("inputs", f"need {end} elements of {flat.size}")
    return np.asarray(flat[start:end].reshape(shape), np.float32) / np.float32(ONE)


def _computed(operator: HostOperator, given: tuple[Values, ...]) -> Values:
    layer = operator.layer()
    if len(given) != len(layer.inputs):
        raise operator.fault("inputs", f"are {len(given)}, not {len(layer.inputs)}")
    weights = {name: operator.constant(name) for name, _ in layer.operator.weights}
    _check_sizes(operator, layer)
    try:
        results = layer_results(layer, given, weights)
        return results[operator.result]
    except (InputError, MemoryError):
        raise
    except Exception as error:  # whatever an operator with strange attributes may raise
        what = f"cannot be computed ({' '.join(str(error).split())[:120]})"
        raise operator.fault("attributes", what) from None


def _check_sizes(operator: HostOperator, layer: NetworkLayer) -> None:
    """No small program makes the host work without end."""
    try:
        largest = max(_sizes(layer))
    except ValueError:
        raise operator.fault("inputs", "do not fit each other") from None
    if largest > LARGEST:
        raise operator.fault("attributes", "ask for more work than the host is given")


def _sizes(layer: NetworkLayer) -> Iterator[int]:
    """Elements of the arrays that the layer's computation makes, and how often it may loop over them."""
    inputs = [one.shape for one in layer.inputs]
    shapes = [*inputs, *(shape for _, shape in layer.operator.weights)]
    yield sum(math.prod(shape) for _, shape in layer.outputs)
    if layer.work in ("elementwise", "activation"):
        yield math.prod(np.broadcast_shapes(*shapes))
    if layer.work in ("fully_connected", "matrix_product"):
        first, second = (shape[-2:] for shape in shapes[:2])
        lead = np.broadcast_shapes(*(shape[:-2] for shape in shapes[:2]))
        yield math.prod(lead) * max(first, default=1) * max(second, default=1)
    if layer.op == "Pad":
        grown = sum(map(abs, layer.operator.integers("pads")))
        yield math.prod(size + grown for size in inputs[0])
    if layer.work == "lrn":
        yield layer.operator.integer("size", 1) << 8
    if layer.operator.window is not None:
        window, sizes = layer.window, inputs[0][2:]
        pads = window.covering_pads(sizes, layer.output_shape[2:])
        padded = (size + begin + end for size, (begin, end) in zip(sizes, pads, strict=True))
        yield math.prod(inputs[0][:2]) * math.prod(padded)
        yield math.prod(window.kernel) << 6
