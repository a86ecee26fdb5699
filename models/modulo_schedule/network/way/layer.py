"""How a layer can run: its algorithms, each as loop nests on the array and words copied in VLIW mode [Bae2018, IV].

A convolution of 1x1 is a matrix product as it lies; a larger one is im2col and a matrix product, or im2row and
optCGRA where the values that optCGRA keeps in registers, 2k^2 - k, are fewer than half of the array's registers.
Sums start with the bias, and the activation is written out in a nest of its own.
"""

from __future__ import annotations

import math

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.network.algorithm import VLIW, Algorithm
from mapper.models.modulo_schedule.network.way.convolution import convolution
from mapper.models.modulo_schedule.network.way.elementwise import direct
from mapper.models.modulo_schedule.network.way.pool import pooling
from mapper.models.modulo_schedule.network.way.product import product
from mapper.workloads.network.network_layer import NetworkLayer


def algorithms(layer: NetworkLayer, machine: CgraMachine) -> tuple[Algorithm, ...]:
    """Every way to run ``layer`` on ``machine``, the one that the paper's rule takes first [Bae2018, V-B1].

    Raises: InputError if the layer's sizes are not those of its kind.
    """
    if layer.work == "convolution" and layer.op == "Conv" and len(layer.window.kernel) <= 2:
        return convolution(layer, machine)
    if layer.work in ("fully_connected", "matrix_product") and layer.op in ("Gemm", "MatMul"):
        return (product(layer),)
    if layer.work in ("max_pool", "average_pool") and len(layer.window.kernel) == 2 and _is_plain(layer):
        return pooling(layer)
    if layer.work in ("elementwise", "activation", "batch_normalization") and (way := direct(layer)):
        return (way,)
    return (_vliw(layer),)


def is_in_place(layer: NetworkLayer) -> bool:
    """Whether a layer is a concatenation of whole stretches of memory, which takes no time: what makes its inputs
    writes them next to each other."""
    if layer.work != "concatenation":
        return False
    axis = layer.operator.integer("axis", 1)
    return all(size == 1 for size in layer.output_shape[: axis % len(layer.output_shape)])


def _is_plain(layer: NetworkLayer) -> bool:
    return layer.window.dilations == (1, 1)


def _vliw(layer: NetworkLayer) -> Algorithm:
    """What the array cannot run, or what only moves words."""
    size = sum(math.prod(shape) for _, shape in layer.outputs)
    read = sum(math.prod(one.shape) for one in layer.inputs)
    words = {"input": read, "weights": 0, "output": size, "buffer": 0}
    if layer.work in ("movement", "concatenation"):
        return Algorithm(VLIW, (), 0, size, 0, words)
    work = max(size, layer.macs)
    return Algorithm(VLIW, (), 0, 0, work, words)
