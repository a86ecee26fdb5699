"""The progress of a search over time, as a record of bounded length."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mapper.solver.method import Progress

MOST_POINTS = 200
"""Points that a record keeps; beyond that every second one is dropped."""
LARGEST = 1e300


@dataclass(frozen=True)
class HistoryPoint:
    """Best value and bound (in the objective's unit, None: none yet) ``seconds`` after a search began."""

    seconds: float
    value: int | float | None
    bound: int | float | None

    def to_json(self) -> dict[str, Any]:
        return {"seconds": self.seconds, "value": self.value, "bound": self.bound}


@dataclass
class Recorder:
    """Records progress as it is reported; only changes of value or bound are kept."""

    began: float = field(default_factory=time.perf_counter)
    points: list[HistoryPoint] = field(default_factory=list)

    def begin(self, value: int | float, bound: int | float | None) -> None:
        """What is known before the search: the first point, at 0 seconds."""
        self.points.append(HistoryPoint(0.0, _finite(value), _finite(bound)))

    def add(self, progress: Progress) -> None:
        """Where the search stands now."""
        self._append(progress.value, progress.bound)

    def _append(self, value: int | float | None, bound: int | float | None) -> None:
        value, bound = _finite(value), _finite(bound)
        last = self.points[-1] if self.points else HistoryPoint(0.0, None, None)
        if (value, bound) == (last.value, last.bound):
            return
        self.points.append(HistoryPoint(round(time.perf_counter() - self.began, 6), value, bound))
        if len(self.points) > MOST_POINTS:
            del self.points[1:-1:2]

    def ended(self, value: int | float | None, bound: int | float | None) -> tuple[HistoryPoint, ...]:
        """The record, with the end of the search; empty if nothing was heard before the end."""
        if not self.points:
            return ()
        self._append(value, bound)
        return tuple(self.points)


def joined(
    first: tuple[HistoryPoint, ...], second: tuple[HistoryPoint, ...], seconds: float
) -> tuple[HistoryPoint, ...]:
    """The record of two searches, of which the ``second`` began ``seconds`` after the first, where that had ended."""
    if not first:
        return second
    later = [HistoryPoint(seconds + one.seconds, one.value, one.bound) for one in second]
    points = list(first)
    for one in later:
        if (one.value, one.bound) != (points[-1].value, points[-1].bound):
            points.append(one)
    while len(points) > MOST_POINTS:
        del points[1:-1:2]
    return tuple(points)


def history_from_json(entries: Any) -> tuple[HistoryPoint, ...]:
    """The record that a document holds.

    Raises: KeyError, TypeError or ValueError if it is none.
    """
    if not isinstance(entries, list) or len(entries) > 2 * MOST_POINTS:
        raise ValueError("no history")
    return tuple(_point(entry) for entry in entries)


def _point(entry: Mapping[str, Any]) -> HistoryPoint:
    seconds, value, bound = entry["seconds"], entry["value"], entry["bound"]
    numbers = [one for one in (seconds, value, bound) if one is not None]
    if any(type(one) not in (int, float) or not abs(one) <= LARGEST for one in numbers):
        raise ValueError("no figure of a history")
    if seconds is None or seconds < 0:
        raise ValueError("no point of a history")
    return HistoryPoint(float(seconds), value, bound)


def _finite(number: int | float | None) -> int | float | None:
    return None if number is None or not math.isfinite(number) else number
