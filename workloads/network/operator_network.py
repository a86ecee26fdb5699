"""Networks as graphs of operators: what each operator does, what it reads, and every tensor's shape.

Loop nests (``network``) are what the tiling of single layers needs; here are the pools, additions, branches and
concatenations between them too. Weights are known by name and shape only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mapper.workloads.document import InputError
from mapper.workloads.network.network import Dims, InputFile
from mapper.workloads.text.nearest import meant, nearest

Shape = tuple[int, ...]
Attribute = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]

CONVOLUTIONS = frozenset({"Conv", "ConvInteger", "QLinearConv"})
POOLS = frozenset({"MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"})


@dataclass(frozen=True)
class Window:
    """How an operator slides over the axes after batch and channels, one entry per axis.

    ``pads`` are (begin, end) in elements with ``auto_pad`` resolved. ``ceil`` rounds a pool's output size up:
    its last window may then reach beyond the padded input. ``count_pads`` says that an average divides by
    positions in the padding too (never by those beyond it). ``output_pads`` are the additional end elements
    of a transposed convolution. A global pool's kernel is its whole input.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    dilations: tuple[int, ...]
    groups: int = 1
    ceil: bool = False
    count_pads: bool = False
    output_pads: tuple[int, ...] = ()

    def covering_pads(self, sizes: Shape, output: Shape) -> tuple[tuple[int, int], ...]:
        """``pads``, with as much at the end as all windows of an ``output`` need that was rounded up; ``sizes``
        and ``output`` are those of the window's axes."""
        ends = (
            (count - 1) * stride + dilation * (width - 1) + 1 - size - begin
            for size, (begin, _), count, width, stride, dilation in zip(
                sizes, self.pads, output, self.kernel, self.strides, self.dilations, strict=True
            )
        )
        return tuple((begin, max(end, reach)) for (begin, end), reach in zip(self.pads, ends, strict=True))


@dataclass(frozen=True)
class NetworkOperator:
    """One operator that depends on what the network is given.

    ``op`` is the ONNX type, with its domain (``domain.Type``) where that is not ONNX's own. ``operands`` and
    ``outputs`` are tensors in ONNX's positions ("" where one is left out, or an operand stands among the
    attributes), operands that subgraphs capture last. ``weights`` are the operands that do not depend on the
    network's input, as (name, shape). ``attributes`` are those that ``window`` does not hold, with ONNX's
    defaults filled in, ``axis`` counted from 0, and with the small constant operands that steer the operator
    (bounds of ``Clip``, ``axes``, ``pads`` of ``Pad``, ...) under their ONNX names. ``macs``:
    multiply-accumulates of all images, as ``load_network`` counts them.
    """

    name: str
    source: str
    op: str
    operands: tuple[str, ...]
    outputs: tuple[str, ...]
    weights: tuple[tuple[str, Shape], ...] = ()
    window: Window | None = None
    attributes: tuple[tuple[str, Attribute], ...] = ()
    macs: int = 0

    @property
    def inputs(self) -> tuple[str, ...]:
        """Operands that depend on the network's input, in order and with repeats."""
        constant = {name for name, _ in self.weights}
        return tuple(name for name in self.operands if name and name not in constant)

    @property
    def output(self) -> str:
        """The first output that is not left out."""
        return next(filter(None, self.outputs))

    def has(self, attribute: str) -> bool:
        """Whether the attribute is given or has a default."""
        return any(name == attribute for name, _ in self.attributes)

    def number(self, attribute: str, default: float = 0.0) -> float:
        """An attribute that is one number.

        Raises: InputError if it is something else, as the other accessors do.
        """
        value = self._value(attribute, default)
        if not isinstance(value, int | float):
            raise self._fault(attribute, "a number")
        return float(value)

    def integer(self, attribute: str, default: int = 0) -> int:
        """An attribute that is one integer."""
        value = self._value(attribute, default)
        if not isinstance(value, int):
            raise self._fault(attribute, "an integer")
        return value

    def integers(self, attribute: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """An attribute that is a list of integers."""
        value = self._value(attribute, default)
        if not isinstance(value, tuple):
            raise self._fault(attribute, "a list of integers")
        numbers = tuple(entry for entry in value if isinstance(entry, int))
        if len(numbers) != len(value):
            raise self._fault(attribute, "a list of integers")
        return numbers

    def _value(self, attribute: str, default: Attribute) -> Attribute:
        return next((value for name, value in self.attributes if name == attribute), default)

    def _fault(self, attribute: str, wanted: str) -> InputError:
        return InputError(f"{self.op} {self.source[:60]!r}", attribute, f"must be {wanted}; repair the graph")


@dataclass(frozen=True)
class OperatorNetwork:
    """Operators in topological order (ties by position in the file), and the shape of every tensor that
    depends on the network's input (of those that nobody reads or hands out, where it is known). ``inputs`` are
    what the network is given and somebody reads, ``outputs`` what it hands out; ``batch`` as in ``Network``; ``dims``:
    open dimensions of the file that were given a size."""

    name: str
    operators: tuple[NetworkOperator, ...]
    tensors: Mapping[str, Shape]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    files: tuple[InputFile, ...] = ()
    batch: int | None = None
    dims: Dims = field(default_factory=dict)

    @property
    def macs(self) -> int:
        return sum(operator.macs for operator in self.operators)

    def makers(self) -> dict[str, NetworkOperator]:
        """The operator that makes each tensor; the network's inputs have none."""
        return {tensor: operator for operator in self.operators for tensor in operator.outputs if tensor}

    def readers(self) -> dict[str, tuple[NetworkOperator, ...]]:
        """The operators that read each tensor, in order; none reads some of the network's outputs."""
        found: dict[str, list[NetworkOperator]] = {tensor: [] for tensor in self.tensors}
        for operator in self.operators:
            for tensor in dict.fromkeys(operator.inputs):
                found[tensor].append(operator)
        return {tensor: tuple(operators) for tensor, operators in found.items()}

    def part(self, name: str) -> OperatorNetwork:
        """The operator called ``name`` as a network of its own.

        Raises: InputError if there is none.
        """
        return self.restricted(name, (self.operator(name),))

    def operator(self, name: str) -> NetworkOperator:
        """The operator called ``name``.

        Raises: InputError if there is none.
        """
        names = [operator.name for operator in self.operators]
        if name not in names:
            close = ", ".join(nearest(name, names) or names[:3])
            remedy = f"no such layer among its {len(names)}; {meant(name, names)}there are {close}"
            raise InputError(self.name, name[:40], remedy)
        return self.operators[names.index(name)]

    def restricted(self, part: str, operators: tuple[NetworkOperator, ...]) -> OperatorNetwork:
        """These operators as the network ``<name>/<part>``: it is given what they read and do not make, and
        hands out what others read, or nobody."""
        made = dict.fromkeys(tensor for operator in operators for tensor in operator.outputs)
        read = dict.fromkeys(tensor for operator in operators for tensor in operator.inputs)
        chosen = {operator.name for operator in operators}
        elsewhere = {t for operator in self.operators if operator.name not in chosen for t in operator.inputs}
        outputs = tuple(
            tensor
            for operator in operators
            for tensor in operator.outputs
            if tensor in self.tensors
            and (tensor in elsewhere or tensor in self.outputs or tensor not in read)
        )
        return OperatorNetwork(
            f"{self.name}/{part}",
            operators,
            {tensor: self.tensors[tensor] for tensor in (*read, *made) if tensor in self.tensors},
            tuple(tensor for tensor in read if tensor not in made),
            outputs,
            self.files,
            self.batch,
            self.dims,
        )
