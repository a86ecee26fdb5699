"""Networks as layers that run one after another: operators that do work, with small ones merged into them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import Convolution
from mapper.workloads.network.operator_network import NetworkOperator, OperatorNetwork, Shape, Window
from mapper.workloads.text.nearest import meant, nearest

Work = Literal[
    "convolution", "transposed_convolution", "fully_connected", "matrix_product", "max_pool", "average_pool",
    "elementwise", "activation", "batch_normalization", "lrn", "softmax", "concatenation", "movement", "other",
]  # fmt: skip

BIAS_OPERAND = {"Conv": 2, "QLinearConv": 8, "ConvTranspose": 2, "Gemm": 2}


@dataclass(frozen=True)
class LayerInput:
    """A tensor that a layer reads (or the network hands out) and where its elements lie.

    They are the ``prod(shape)`` elements, row by row, from element ``offset`` on of the tensor ``memory``:
    an output of ``layer``, or an input of the network where that is None. ``shape`` may differ from the shape
    in which ``memory`` was made, since operators that only rename or reshape have vanished.
    """

    tensor: str
    shape: Shape
    memory: str
    layer: str | None
    offset: int = 0


@dataclass(frozen=True)
class NetworkLayer:
    """One operator that does work, and the ones merged into it.

    ``merged`` are applied to each element of the result in this order: first scales (BatchNormalization, and
    Mul, Add, Sub, Div by a constant that is one number or one per output channel), then at most one
    activation. A convolution's or fully connected layer's scales can thus be folded into its weights. ``views``
    vanished: they only renamed, reshaped or cut what the layer makes, and leave it where it lies.

    ``work`` says what is done; within ``elementwise``, ``activation``, ``softmax``, ``movement`` and ``other``
    the operator's type says which, and among convolutions and products it tells quantised ones (ConvInteger,
    QLinearConv, ...) from those in float. The factor beside the data is constant, except in
    ``matrix_product``. Global pools have their whole input as window. ``outputs`` are (tensor, shape) after
    what is merged; there is more than one only where somebody reads it.
    """

    operator: NetworkOperator
    work: Work
    inputs: tuple[LayerInput, ...]
    outputs: tuple[tuple[str, Shape], ...]
    merged: tuple[NetworkOperator, ...] = ()
    views: tuple[NetworkOperator, ...] = ()

    @property
    def name(self) -> str:
        return self.operator.name

    @property
    def source(self) -> str:
        return self.operator.source

    @property
    def op(self) -> str:
        return self.operator.op

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all images."""
        return self.operator.macs

    @property
    def output(self) -> str:
        return self.outputs[0][0]

    @property
    def output_shape(self) -> Shape:
        return self.outputs[0][1]

    @property
    def window(self) -> Window:
        """The window of a convolution or pool.

        Raises: InputError of a layer that has none.
        """
        if self.operator.window is None:
            raise InputError(self.name, self.op, "has no window; only convolutions and pools have one")
        return self.operator.window

    @property
    def weight(self) -> tuple[str, Shape] | None:
        """The kernel of a convolution, or the matrix of a fully connected layer, as the file stores it (Gemm's
        ``transB`` says how); None of other layers."""
        if self.work not in ("convolution", "transposed_convolution", "fully_connected"):
            return None
        place = 3 if self.op.startswith("QLinear") else 1
        return self._weight(place)

    @property
    def bias(self) -> tuple[str, Shape] | None:
        """The operator's own bias, where it has one. A merged Add may be another."""
        place = BIAS_OPERAND.get(self.op, 0)
        return self._weight(place) if place else None

    @property
    def convolution(self) -> Convolution:
        """A convolution's sizes, as its loop nest has them."""
        (images, channels, *sizes), window = self.inputs[0].shape, self.window
        return Convolution(
            images,
            self.output_shape[1],
            channels,
            tuple(sizes),
            window.kernel,
            window.strides,
            window.dilations,
            window.pads,
            window.groups,
        )

    @property
    def matrix(self) -> tuple[int, int, int]:
        """Rows, depth and columns of a fully connected layer: ``O[row][column] += I[row][k] * W[k][column]``."""
        shape = self.inputs[0].shape
        return math.prod(shape[:-1]), shape[-1], self.output_shape[-1]

    @property
    def feeds(self) -> tuple[str, ...]:
        """The layers whose results this one reads, each once, in order of first use."""
        return tuple(dict.fromkeys(one.layer for one in self.inputs if one.layer is not None))

    def _weight(self, place: int) -> tuple[str, Shape] | None:
        wanted = self.operator.operands[place : place + 1]
        return next((weight for weight in self.operator.weights if weight[:1] == wanted), None)


@dataclass(frozen=True)
class LayerNetwork:
    """The layers of ``operators`` in the order in which they may run, and where the network's outputs lie."""

    operators: OperatorNetwork
    layers: tuple[NetworkLayer, ...]
    outputs: tuple[LayerInput, ...]

    @property
    def name(self) -> str:
        return self.operators.name

    @property
    def macs(self) -> int:
        return self.operators.macs

    def layer(self, name: str) -> NetworkLayer:
        """The layer called ``name``.

        Raises: InputError if there is none, naming the layer into which such an operator is merged.
        """
        for layer in self.layers:
            if layer.name == name:
                return layer
            if name in (operator.name for operator in (*layer.merged, *layer.views)):
                raise InputError(self.name, name[:40], f"is merged into {layer.name}; give that")
        names = [layer.name for layer in self.layers]
        close = ", ".join(nearest(name, names) or names[:3])
        remedy = f"no such layer among its {len(names)}; {meant(name, names)}there are {close}"
        raise InputError(self.name, name[:40], remedy)
