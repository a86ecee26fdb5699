"""A network's own numbers on the overlay beside onnxruntime: integers where the network has some, floats otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mapper.models.algorithm_selection.number.network_number import NetworkNumbers
from mapper.sim.algorithm_selection.network import Tensors
from mapper.sim.onnx_result import deviation, onnx_integers, onnx_results
from mapper.workloads.network.network_layer import LayerNetwork

if TYPE_CHECKING:
    import onnx


def beside_onnxruntime(
    network: LayerNetwork,
    numbers: NetworkNumbers,
    model: onnx.ModelProto,
    frame: Tensors,
    made: Tensors,
    integers: Mapping[str, str],
) -> dict[str, Any]:
    """``made``: the integers of every tensor. Of a quantised network ``differ`` counts those of each tensor that are
    not onnxruntime's; ``equal`` if there are none. Else ``layers`` and ``outputs`` say how far they are from
    onnxruntime's floats: root of the mean square and largest difference, beside the largest number."""
    tensors = [name for layer in network.layers for name, _ in layer.outputs if name in made]
    if numbers.exact:
        # A tensor's integers are the file's own where it quantises what the layer makes.
        own = [name for name in tensors if integers.get(name)]
        differ = {
            name: _different(numbers, name, made[name], onnx_integers(model, frame, integers[name]))
            for name in own
        }
        return {
            "exact": True,
            "equal": not any(count for count, _ in differ.values()),
            "differ": {name: count for name, (count, _) in differ.items() if count},
            "largest": max((size for _, size in differ.values()), default=0),
        }
    results = onnx_results(model, {}, frame, tensors)
    layers = {
        layer.name: deviation(
            layer.name, numbers.formats[layer.output].values(made[layer.output]), results[layer.output]
        ).to_json()
        for layer in network.layers
    }
    outputs = {
        one.tensor: layers[one.layer]
        for one in network.outputs
        if one.layer is not None and one.layer in layers
    }
    return {"exact": False, "equal": None, "layers": layers, "outputs": outputs}


def _different(numbers: NetworkNumbers, name: str, made: Any, wanted: Any) -> tuple[int, int]:
    """How many integers differ, and by how much at the most."""
    own = made.astype(np.int64).reshape(-1) + numbers.formats[name].offset
    apart = np.abs(own - wanted.astype(np.int64).reshape(-1))
    return int((apart > 0).sum()), int(apart.max(initial=0))
