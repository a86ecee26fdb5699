"""What address generators produce: sequences of affine addresses [Heidorn2019, sec. 1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Addresses = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Affine:
    """The addresses ``base + sum(index * stride)`` in words, the last index running fastest.

    ``loops`` name the indices, ``counts`` say how far each runs. ``ring``: words after which addresses begin again
    (None: they do not). ``frame``: words that each frame begins beyond the one before.
    """

    loops: tuple[str, ...]
    counts: tuple[int, ...]
    strides: tuple[int, ...]
    base: int = 0
    ring: int | None = None
    frame: int = 0

    def addresses(self) -> Addresses:
        """All addresses of the first frame, of the shape ``counts``, before they are folded into the ring."""
        found = np.full(self.counts, self.base, dtype=np.int64)
        for axis, (count, stride) in enumerate(zip(self.counts, self.strides, strict=True)):
            shape = [1] * len(self.counts)
            shape[axis] = count
            found += (np.arange(count, dtype=np.int64) * stride).reshape(shape)
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "loops": list(self.loops),
            "counts": list(self.counts),
            "strides": list(self.strides),
            "base": self.base,
            "ring": self.ring,
            "frame": self.frame,
        }
