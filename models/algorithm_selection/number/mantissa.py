"""Numbers of single precision as the requantisers take them: integers over a power of two."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mapper.models.algorithm_selection.number.network_number import Integers

SINGLE_BITS = 24


def mantissas(real: npt.NDArray[np.float32]) -> tuple[Integers, int]:
    """Numbers of single precision as integers over one power of two, exactly so long as none is 2^7 times another."""
    _, exponents = np.frexp(real)
    least = int(exponents.min())
    shift = SINGLE_BITS - least
    factor = np.rint(real.astype(np.float64) * 2.0**shift)
    while factor.max() >= 1 << 31 or shift > 63:
        shift -= 1
        factor = np.rint(real.astype(np.float64) * 2.0**shift)
    return factor.astype(np.int64), shift
