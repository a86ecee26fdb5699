"""What a user gives a loaded network to run on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.workloads.document import InputError
from mapper.workloads.network.operator_network import Shape


def given_arrays(
    network: str, wanted: Mapping[str, Shape], image: npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[np.float32]]:
    """The arrays of all inputs ``wanted`` in single precision: of their shapes, or given without leading ones.

    Raises: InputError if a name or a shape is another.
    """
    if not isinstance(image, Mapping):
        if len(wanted) > 1:
            remedy = f"has the inputs {', '.join(wanted)[:80]}; give their arrays by name"
            raise InputError(network, "image", remedy)
        image = dict.fromkeys(wanted, image)
    for name in sorted(wanted.keys() ^ image.keys()):
        remedy = "is missing" if name in wanted else f"is no input; there are {', '.join(wanted)[:80]}"
        raise InputError(network, f"input {name[:60]!r}", remedy)
    found = {}
    for name, shape in wanted.items():
        array = np.asarray(image[name])
        ones = next((at for at, one in enumerate(shape) if one != 1), len(shape))
        if array.dtype.kind not in "fiub" or array.shape not in {shape[at:] for at in range(ones + 1)}:
            remedy = f"has the shape {array.shape}; give numbers of the shape {tuple(shape)}"
            raise InputError(network, f"input {name[:60]!r}", remedy)
        found[name] = array.reshape(shape).astype(np.float32)
    return found
