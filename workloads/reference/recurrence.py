"""What a recurrence computes, by numpy alone: statements one after another, without tiles, PEs or cycles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from mapper.workloads.recurrence.memory import fields_of
from mapper.workloads.recurrence.recurrence import Access, Recurrence, Term

Numbers = NDArray[np.int64]


LARGEST_NORMAL = 4


def recurrence_results(recurrence: Recurrence, first: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The results after all iterations, modulo 2^64, from what the tensors hold at ``first``, which is left as it is.

    Iterations of a plane, none of which reads what another one writes, run at once.
    """
    data = {name: values.copy() for name, values in first.items()}
    low = {name: field.low for name, field in fields_of(recurrence).items()}

    def place(access: Access, at: Mapping[str, Numbers]) -> tuple[Numbers, ...]:
        return tuple(
            sum((factor * at[loop] for loop, factor in one.coefficients), _same(at, one.constant - least))
            for one, least in zip(access.index, low[access.tensor], strict=True)
        )

    def value(term: Term, at: Mapping[str, Numbers]) -> Numbers:
        if isinstance(term, int):
            return _same(at, term)
        if isinstance(term, Access):
            return np.asarray(data[term.tensor][place(term, at)])
        left, right = value(term.left, at), value(term.right, at)
        match term.operator:
            case "+":
                return np.asarray(left + right)
            case "-":
                return np.asarray(left - right)
            case "*":
                return np.asarray(left * right)
            case "min":
                return np.minimum(left, right)
            case "max":
                return np.maximum(left, right)

    digits = np.indices([bound for _, bound in recurrence.bounds]).reshape(len(recurrence.bounds), -1)
    level = np.tensordot(np.array(_normal(recurrence), np.int64), digits, 1)
    order = np.argsort(level, kind="stable")
    ends = np.flatnonzero(np.diff(level[order], prepend=-1, append=-1))
    with np.errstate(over="ignore"):
        for begin, end in pairwise(ends.tolist()):
            at = dict(zip(recurrence.loops, digits[:, order[begin:end]], strict=True))
            for alternatives in recurrence.alternatives.values():
                waiting = np.ones(end - begin, np.bool_)
                for statement in alternatives:
                    kept = waiting & recurrence.region(statement).holds(at)
                    waiting &= ~kept
                    if kept.any():
                        chosen = {loop: values[kept] for loop, values in at.items()}
                        words = place(statement.target, chosen)
                        data[statement.target.tensor][words] = value(statement.value, chosen)
    return {name: data[name] for name in recurrence.results}


def _same(at: Mapping[str, Numbers], number: int) -> Numbers:
    """A number for each iteration."""
    return np.full(len(next(iter(at.values()))), number, np.int64)


def _normal(recurrence: Recurrence) -> tuple[int, ...]:
    """The normal of planes whose iterations read only what planes before them have written; that of the loops one
    after another, where no small one will do."""
    distances = {
        distance
        for statement in recurrence.statements
        for access in statement.reads
        if (distance := recurrence.distance(access)) is not None and any(distance)
    }
    for normal in sorted(product(range(LARGEST_NORMAL + 1), repeat=len(recurrence.bounds)), key=sum):
        if all(sum(n * d for n, d in zip(normal, distance, strict=True)) > 0 for distance in distances):
            return normal
    bounds = [bound for _, bound in recurrence.bounds]
    return tuple(math.prod(bounds[place + 1 :]) for place in range(len(bounds)))
