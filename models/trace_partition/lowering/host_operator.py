"""What the host has to know about an operator that it runs: ONNX's attributes, shapes, operands and window, as plain
attributes, and the layer again from them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.lowering.layer import Attributes
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerInput, NetworkLayer, Work
from mapper.workloads.network.operator_network import NetworkOperator, Shape, Window
from mapper.workloads.reference.layer import has_reference

OWN = "mapper."
"""What begins so is this project's, everything else ONNX's."""
LARGEST_CONSTANT = 1 << 16
"""Numbers of one constant that the host is given."""
RELAYING = "relaying"
"""Work of a call that stands for no operator."""
WORKS: tuple[Work, ...] = (
    "convolution", "transposed_convolution", "fully_connected", "matrix_product", "max_pool", "average_pool",
    "elementwise", "activation", "batch_normalization", "lrn", "softmax", "concatenation", "movement",
)  # fmt: skip


def can_run(layer: NetworkLayer) -> bool:
    """Whether the host runs the operator of ``layer`` (what is merged into it left aside)."""
    small = all(math.prod(shape) <= LARGEST_CONSTANT for _, shape in layer.operator.weights)
    return small and has_reference(layer) and not layer.operator.integer("training_mode")


def host_attributes(layer: NetworkLayer, starts: tuple[int, ...], result: int = 0) -> Attributes:
    """The attributes of the call that makes the ``result``-th output of ``layer``'s operator. ``starts``: where each
    input begins among the elements (in ONNX's order) of the view that the call is given."""
    operator, window = layer.operator, layer.operator.window
    data = iter(range(len(layer.inputs)))
    constants = {name: place for place, (name, _) in enumerate(operator.weights)}
    operands = tuple(
        "" if not name else f"c{constants[name]}" if name in constants else f"x{next(data)}"
        for name in operator.operands
    )
    own: dict[str, int | str | tuple[int, ...] | tuple[str, ...]] = {
        "work": layer.work,
        "operands": operands,
        "constants": tuple(name for name, _ in operator.weights),
        "result": result,
        "macs": 0 if result else layer.macs,
    }
    own |= {f"shape.x{place}": one.shape for place, one in enumerate(layer.inputs)}
    own |= {f"start.x{place}": start for place, start in enumerate(starts)}
    own |= {f"shape.c{place}": shape for place, (_, shape) in enumerate(operator.weights)}
    own |= {f"shape.y{place}": shape for place, (_, shape) in enumerate(layer.outputs)}
    if window is not None:
        pads = tuple(width for pair in window.pads for width in pair)
        own |= {
            "kernel": window.kernel,
            "strides": window.strides,
            "pads": pads,
            "dilations": window.dilations,
        }
        own |= {"count_pads": int(window.count_pads), "ceil": int(window.ceil), "groups": window.groups}
        own |= {"output_pads": window.output_pads}
    return (*operator.attributes, *((OWN + name, value) for name, value in own.items()))


def relaying_attributes(given: Shape, start: int, made: Shape) -> Attributes:
    """The attributes of a ``Reshape`` that gives elements another place in memory and nothing else."""
    own = (("work", RELAYING), ("shape.x0", given), ("start.x0", start), ("shape.y0", made), ("result", 0))
    return tuple((OWN + name, value) for name, value in own)


class HostOperator:
    """The attributes of a call, checked one by one as they are read: a program may come from anywhere.

    Every method raises InputError if an attribute is missing or of another type.
    """

    def __init__(self, name: str, op: str, attributes: Attributes) -> None:
        self.name, self.op = name, op
        self.own = {key.removeprefix(OWN): value for key, value in attributes if key.startswith(OWN)}
        self.onnx = tuple(pair for pair in attributes if not pair[0].startswith(OWN))

    @property
    def work(self) -> str:
        return self.text("work")

    @property
    def result(self) -> int:
        return self.integer("result")

    def shape(self, name: str) -> Shape:
        """The shape of ``x0`` ... (inputs), ``c0`` ... (constants) or ``y0`` ... (outputs)."""
        return self.integers(f"shape.{name}")

    def start(self, place: int) -> int:
        return self.integer(f"start.x{place}")

    def count(self, kind: str) -> int:
        """How many inputs (``x``), constants (``c``) or outputs (``y``) there are."""
        return next(place for place in range(len(self.own) + 1) if f"shape.{kind}{place}" not in self.own)

    def constant(self, name: str) -> npt.NDArray[np.float32]:
        """The value of ``c0`` ..."""
        value, shape = self.own.get(f"value.{name}"), self.shape(name)
        if not isinstance(value, tuple) or len(value) != math.prod(shape):
            raise self.fault(f"value.{name}", f"is not a list of {math.prod(shape)} numbers")
        numbers = [float(entry) for entry in value if not isinstance(entry, str)]
        if len(numbers) != len(value):
            raise self.fault(f"value.{name}", "is not a list of numbers")
        return np.asarray(numbers, np.float32).reshape(shape)

    def layer(self) -> NetworkLayer:
        """The layer that the host computes: operands are called ``x0`` ... and ``c0`` ..., outputs ``y0`` ..."""
        work = next((work for work in WORKS if work == self.work), None)
        if work is None:
            raise self.fault("work", "is not an operator that the host knows")
        operands = self.own.get("operands", ())
        if not isinstance(operands, tuple):
            raise self.fault("operands", "is not a list")
        names = tuple(str(name) for name in operands)
        inputs = tuple(f"x{place}" for place in range(self.count("x")))
        weights = tuple((f"c{place}", self.shape(f"c{place}")) for place in range(self.count("c")))
        outputs = tuple((f"y{place}", self.shape(f"y{place}")) for place in range(self.count("y")))
        known = {"", *inputs, *(name for name, _ in weights)}
        if not outputs or not set(names) <= known or sum(name in inputs for name in names) != len(inputs):
            raise self.fault("operands", "do not agree with the shapes")
        tensors = tuple(name for name, _ in outputs)
        operator = NetworkOperator(
            self.name, self.name, self.op, names, tensors, weights, self._window(), self.onnx
        )
        given = tuple(LayerInput(name, self.shape(name), name, None) for name in inputs)
        return NetworkLayer(operator, work, given, outputs)

    def integers(self, name: str) -> tuple[int, ...]:
        value = self.own.get(name)
        if not isinstance(value, tuple):
            raise self.fault(name, "is not a list of integers")
        numbers = tuple(entry for entry in value if isinstance(entry, int) and entry >= 0)
        if len(numbers) != len(value):
            raise self.fault(name, "is not a list of integers from 0 on")
        return numbers

    def integer(self, name: str) -> int:
        value = self.own.get(name)
        if not isinstance(value, int):
            raise self.fault(name, "is not an integer")
        return value

    def text(self, name: str) -> str:
        value = self.own.get(name)
        if not isinstance(value, str):
            raise self.fault(name, "is not text")
        return value

    def fault(self, name: str, what: str) -> InputError:
        return InputError(f"host operation {self.name[:60]!r}", name, f"{what}; compile the program again")

    def _window(self) -> Window | None:
        if "kernel" not in self.own:
            return None
        flat = self.integers("pads")
        if len(flat) % 2:
            raise self.fault("pads", "are not begins and ends")
        pads = tuple(zip(flat[::2], flat[1::2], strict=True))
        lists = {name: self.integers(name) for name in ("kernel", "strides", "dilations")}
        if len({len(pads), *map(len, lists.values())}) > 1 or 0 in {n for one in lists.values() for n in one}:
            raise self.fault("kernel", "does not agree with strides, pads and dilations")
        return Window(
            lists["kernel"],
            lists["strides"],
            pads,
            lists["dilations"],
            self.integer("groups"),
            bool(self.integer("ceil")),
            bool(self.integer("count_pads")),
            self.integers("output_pads"),
        )
