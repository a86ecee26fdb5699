"""numpy as compiled functions know it, for those that run as plain Python."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np


class _Draws(threading.local):
    """``np.random`` as numba has it: a state for each thread, which numpy's own, of all threads, does not see."""

    def __init__(self) -> None:
        self._state = np.random.RandomState(0)

    def seed(self, seed: int) -> None:
        self._state = np.random.RandomState(seed)

    def random(self) -> float:
        return self._state.random_sample()

    def randint(self, low: int, high: int | None = None) -> int:
        return int(self._state.randint(low, high))


class PlainNumpy:
    """numpy with numba's ``random``."""

    random = _Draws()

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)
