"""The tensors of a recurrence as they lie in the buffers, and seeded integers to fill them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mapper.workloads.nest.tensor import bounds_of, seeded_integers
from mapper.workloads.recurrence.recurrence import Access, Recurrence


@dataclass(frozen=True)
class Field:
    """A tensor: per dimension the least index that any access names, and how many there are from there on."""

    name: str
    low: tuple[int, ...]
    shape: tuple[int, ...]

    @cached_property
    def words(self) -> int:
        return math.prod(self.shape)


def fields_of(recurrence: Recurrence) -> dict[str, Field]:
    """Every tensor by name, in the order in which the statements name them. What is read around the iterations counts,
    whether or not a condition keeps it from being read."""
    found: dict[str, list[Access]] = {}
    for statement in recurrence.statements:
        for access in (statement.target, *statement.reads):
            found.setdefault(access.tensor, []).append(access)
    fields = {}
    for name, accesses in found.items():
        ranges = [
            [bounds_of(dimension, recurrence.trip_counts) for dimension in along]
            for along in zip(*(access.index for access in accesses), strict=True)
        ]
        low = tuple(min(least for least, _ in along) for along in ranges)
        high = tuple(max(most for _, most in along) for along in ranges)
        fields[name] = Field(name, low, tuple(m - n + 1 for n, m in zip(low, high, strict=True)))
    return fields


def first_values(recurrence: Recurrence, seed: int) -> dict[str, NDArray[np.int64]]:
    """What every tensor holds at first: seeded integers from -8 to 7, and 0 in local ones."""
    found = {}
    for stream, (name, field) in enumerate(fields_of(recurrence).items()):
        if name in recurrence.local:
            found[name] = np.zeros(field.shape, np.int64)
        else:
            found[name] = seeded_integers(field.words, seed, stream).astype(np.int64).reshape(field.shape)
    return found
