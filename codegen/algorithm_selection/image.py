"""What an overlay's DRAM holds before a network runs, and where a host finds maps in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.algorithm_selection.control.sequence import Control, Region
from mapper.models.algorithm_selection.number.network_number import Format, NetworkNumbers
from mapper.models.algorithm_selection.overlay.lying import lying
from mapper.workloads.network.network_layer import LayerNetwork

Words = npt.NDArray[np.int32]


def image(control: Control, numbers: NetworkNumbers, scales: Mapping[str, int], words: int) -> Words:
    """Kernels, biases and factors of every convolution at their addresses, a number a word; zeros elsewhere."""
    found = np.zeros(words, np.int32)
    for step in control.convolutions:
        own = numbers.layers[step.name]
        _place(found, step.weight_address, own.kernels)
        _place(found, scales[step.name], np.concatenate([own.bias, own.factor]))
    return found


def tensor_places(control: Control, network: LayerNetwork, numbers: NetworkNumbers) -> dict[str, Any]:
    """The network's inputs and outputs, and what steps beside the overlay read and make: where each lies and what its
    integers mean."""
    names = {
        "inputs": list(network.operators.inputs),
        "outputs": list(dict.fromkeys(one.memory for one in network.outputs)),
    }
    lies = lying(network)
    return {
        kind: [_place_of(control.region(name), lies[name], numbers) for name in own]
        for kind, own in names.items()
    }


def _place_of(region: Region, shape: tuple[int, ...], numbers: NetworkNumbers) -> dict[str, Any]:
    own = numbers.formats.get(region.tensor, Format())
    return {
        "tensor": region.tensor,
        "shape": list(shape),
        "layout": region.layout,
        "address": region.address,
        "words": region.words,
        "apart": region.apart,
        "scale": own.scale,
        "zero": own.zero,
        "offset": own.offset,
    }


def _place(found: Words, address: int, words: npt.NDArray[Any]) -> None:
    found[address : address + words.size] = words.ravel().astype(np.int64).astype(np.int32)
