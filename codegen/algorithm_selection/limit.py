"""What the program of a selection keeps to: the machine's buffers, and how the model cuts and orders loads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limits:
    """Words of the input buffer, in both halves, and of each memory of sums; into how many parts of their depth and of
    their maps the kernels of layers are cut; the layers whose whole input is ``kept`` for all parts; whether inputs are
    loaded ``ahead``, while the last product of the layer before runs."""

    input: int | None = None
    result: int | None = None
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    ahead: bool = False
