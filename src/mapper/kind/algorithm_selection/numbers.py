"""The integers that a network is run with on the overlay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mapper.kind.network_constants import file_weights, network_model
from mapper.models.algorithm_selection.number.network_number import Format, NetworkNumbers
from mapper.models.algorithm_selection.number.own import (
    check_constants,
    formats_of,
    own_numbers,
    quantised_numbers,
)
from mapper.models.algorithm_selection.number.seeded import seeded_numbers
from mapper.sim.algorithm_selection.addition import addition_tables
from mapper.sim.algorithm_selection.constant import constant_tables
from mapper.sim.algorithm_selection.network import Drawn
from mapper.sim.algorithm_selection.network import seeded_inputs as integer_inputs
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.quantisation import QuantisedTensor
from mapper.workloads.network.weight import seeded_inputs

if TYPE_CHECKING:
    import onnx

Tensors = Mapping[str, npt.NDArray[Any]]
CALIBRATION_FRAMES = 4
"""Seeded frames by whose numbers formats are chosen, where the file has none."""


@dataclass(frozen=True, eq=False)
class Run(Drawn):
    """Integers; and, where the numbers are the network's own, its
    ``model`` and the ``frame`` of floats that the inputs stand for."""

    model: onnx.ModelProto | None = None
    frame: Tensors | None = None
    integers: Mapping[str, str] | None = None


def run_of(network: LayerNetwork, seed: int) -> Run:
    """The network's own weights if its file is there as it was and its operators have numbers here, else drawn ones; a
    seeded frame.

    Raises: InputError if the file cannot be read, or constants meet what is not quantised.
    """
    found = file_weights(network)
    model = network_model(network) if found is not None else None
    if found is None or model is None:
        return Run(seeded_numbers(network, seed), integer_inputs(network, seed))
    if file_formats(network):
        check_constants(network)
    weights, origin = found
    try:
        return _own(network, model, weights, origin, seed)
    except (InputError, KeyError, ValueError, RuntimeError) as error:
        drawn = seeded_numbers(network, seed)
        reason = " ".join(str(error).split())[:160]
        own = NetworkNumbers(drawn.layers, origin=f"{drawn.origin}; {origin} has no numbers here: {reason}")
        return Run(own, integer_inputs(network, seed))


def file_formats(network: LayerNetwork) -> Mapping[str, QuantisedTensor]:
    """What the integers of tensors mean in the network's file."""
    from mapper.workloads.onnx.quantisation import tensor_formats

    model = network_model(network)
    return {} if model is None else tensor_formats(model)


def _own(network: LayerNetwork, model: onnx.ModelProto, weights: Tensors, origin: str, seed: int) -> Run:
    from mapper.workloads.onnx.integer_operator import unfolded
    from mapper.workloads.onnx.quantisation import quantisation_of

    frames = [
        {name: values for name, values in seeded_inputs(network.operators, seed + number).items()}
        for number in range(CALIBRATION_FRAMES)
    ]
    quantisation = quantisation_of(model, network)
    known = dict(quantisation.tensors) if quantisation is not None else {}
    wanted = [name for layer in network.layers for name, _ in layer.outputs if name not in known]
    largest = _largest(network, model, frames, wanted)
    if quantisation is None:
        numbers = own_numbers(network, weights, formats_of(network, largest), origin)
        integers: dict[str, str] = {}
    else:
        constants = constant_tables(network, unfolded(model), quantisation.tensors)
        sums = addition_tables(network, quantisation.tensors) | constants
        numbers = quantised_numbers(network, weights, quantisation, origin, sums)
        formats = dict(numbers.formats)
        for name, size in largest.items():
            formats.setdefault(name, Format(float(np.float32((size or 1.0) / 127))))
        _check_concatenations(network, formats)
        numbers = NetworkNumbers(numbers.layers, formats, weights, origin, exact=True)
        integers = {name: one.integers for name, one in quantisation.tensors.items()}
    frame = frames[0]
    inputs = {name: numbers.formats[name].integers(values) for name, values in frame.items()}
    return Run(numbers, inputs, model, frame, integers)


def _check_concatenations(network: LayerNetwork, formats: Mapping[str, Format]) -> None:
    """Raises: InputError if the integers of a concatenation's part mean other numbers than those of the whole, in which
    they are kept as they are."""
    for layer in network.layers:
        if layer.work != "concatenation":
            continue
        for one in layer.inputs:
            if formats[one.memory] != formats[layer.output]:
                remedy = f"of {one.memory[:40]!r} is not that of the whole; quantise both alike"
                raise InputError(layer.name, "scale", remedy)


def _largest(
    network: LayerNetwork, model: onnx.ModelProto, frames: list[dict[str, Any]], wanted: list[str]
) -> dict[str, float]:
    """The largest magnitude of each tensor that onnxruntime finds on the frames."""
    from mapper.sim.onnx_result import onnx_results

    found = {name: 0.0 for name in wanted}
    for frame in frames:
        results = {**(onnx_results(model, {}, frame, wanted) if wanted else {}), **frame}
        for name in (*wanted, *network.operators.inputs):
            found[name] = max(found.get(name, 0.0), float(np.abs(results[name]).max(initial=0)))
    return found
