"""Another batch than the one an ONNX file was exported with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper

from mapper.workloads.onnx.graph import Operator
from mapper.workloads.onnx.shape.type import Dimension, dimensions_of, elements, tensor_type

Types = dict[str, onnx.TypeProto]


def declared_batch(inputs: Types) -> Dimension:
    """The first dimension of the first input that has one."""
    for kind in inputs.values():
        dimensions = dimensions_of(kind)
        if dimensions:
            return dimensions[0]
    return None


def with_batch(inputs: Types, declared: Dimension, batch: int) -> Types:
    """The inputs with ``batch`` as first dimension wherever that is open or the declared batch.

    A named dimension stands for the batch wherever the name appears.
    """
    changed: Types = {}
    for name, kind in inputs.items():
        dimensions = dimensions_of(kind)
        if dimensions:
            first = (
                batch if not isinstance(dimensions[0], int) or dimensions[0] == declared else dimensions[0]
            )
            rest = (batch if isinstance(d, str) and d == declared else d for d in dimensions[1:])
            kind = tensor_type(kind.tensor_type.elem_type, (first, *rest))
        changed[name] = kind
    return changed


@dataclass(frozen=True)
class Rebatch:
    """The change from the batch that the file fixes to another; ``before`` are all types under the former."""

    before: Mapping[str, onnx.TypeProto]
    fixed: int
    batch: int

    def reshape_target(self, operator: Operator, types: Types, target: onnx.TensorProto) -> onnx.TensorProto:
        """The target of a ``Reshape`` in which a batch written as a number is replaced.

        A target is touched only if the number of elements changed with the batch. Its first entry is then the
        batch if it was before, and if nothing is left to be inferred (no -1) it grows by the same ratio.
        """
        data, result = operator.node.input[0], operator.node.output[0]
        count, former = elements(types.get(data)), elements(self.before.get(data))
        if count is None or former is None or count == former:
            return target
        try:
            entries = [int(entry) for entry in numpy_helper.to_array(target).flat]
        except ValueError:
            return target
        before = dimensions_of(self.before.get(result))
        if not entries or not before:
            return target
        if entries[0] == self.fixed == before[0]:
            entries[0] = self.batch
        elif -1 not in entries and entries[0] > 0 and (entries[0] * self.batch) % self.fixed == 0:
            entries[0] = entries[0] * self.batch // self.fixed
        if max(map(abs, entries)) >= 1 << 62 or math.prod(target.dims) != len(entries):
            return target
        return numpy_helper.from_array(np.array(entries, dtype=np.int64), target.name)
