"""Every function that searches run gives as plain Python what it gives as machine code, to the last bit."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mapper import solve
from mapper.api.solving import Search
from mapper.kind.part import Options
from mapper.models import plain
from mapper.models.compiled import Compiled
from mapper.solver.method import Effort
from mapper.workloads.pbqp.instance import instance

MOST_CALLS = 12
"""Calls of a function that are run twice: plain Python takes a hundred times as long."""


def _copied(value: Any) -> Any:
    if isinstance(value, tuple):
        fields = [_copied(field) for field in value]
        return type(value)(*fields) if hasattr(value, "_fields") else tuple(fields)
    if not isinstance(value, np.ndarray):
        return value
    copy = value.copy()
    copy.flags.writeable = value.flags.writeable
    return copy


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for field in value:
            yield from _leaves(field)
    else:
        yield value


def _assert_equal(machine: Any, python: Any, name: str) -> None:
    for one, other in zip(_leaves(machine), _leaves(python), strict=True):
        assert type(one) is type(other), name
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype, name
            np.testing.assert_array_equal(one, other, err_msg=name)
        else:
            assert one == other, name


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Every function runs as plain Python beside its machine code, and is compared; how often each did."""
    seen: Counter[str] = Counter()

    def call(kernel: Compiled, *arguments: Any) -> Any:
        before = _copied(arguments)
        result = kernel.dispatcher(*arguments)
        seen[kernel.identity] += 1
        if seen[kernel.identity] <= MOST_CALLS:
            copies = plain._Copies()
            own = [copies.of(argument) for argument in before]
            with np.errstate(all="ignore"):
                found = plain._as_numba_has_it(kernel.plain(*own))
            copies.write_back()
            _assert_equal(result, found, kernel.identity)
            _assert_equal(arguments, before, kernel.identity)
        return result

    monkeypatch.setattr(Compiled, "__call__", call)
    return seen


def _tiling(method: str) -> None:
    solve("resnet-dmazerunner/conv5_2", search=Search(method, 3.0))
    solve("attention-scores", objective="latency", search=Search(method, 3.0))
    solve("attention-scores", options=Options(model="physical"), search=Search(method, 3.0))


def _kernel(method: str) -> None:
    for name, machine in (("gemm", "srp-4x4"), ("dot", "srp-2x2")):
        solve(name, machine, search=Search(method, 3.0))


def _partition(method: str) -> None:
    solve("lenet5", "snowflake-1cc", search=Search(method))


def _pbqp(method: str) -> None:
    from mapper.formulations.pbqp.problem import PbqpProblem
    from mapper.solver.pbqp.catalogue import METHODS

    draw = random.Random(method)
    for large in (9, 0.5):
        for vertices, share in ((7, 1.0), (14, 0.3), (40, 0.06)):
            choices = [draw.randint(1, 4) for _ in range(vertices)]
            costs = [[draw.choice((-3, 0, 1, large, float("inf"))) for _ in range(one)] for one in choices]
            edges = [
                (
                    u,
                    v,
                    [[draw.choice((-2, 0, 4, large)) for _ in range(choices[v])] for _ in range(choices[u])],
                )
                for u in range(vertices)
                for v in range(u)
                if draw.random() < share
            ]
            METHODS[method].search(PbqpProblem(instance(costs, edges)), Effort())


SEARCHES: tuple[tuple[Callable[[str], None], str], ...] = (
    (_tiling, "branch-and-bound"),
    (_tiling, "annealing"),
    (_kernel, "iterative"),
    (_kernel, "annealing"),
    (_partition, "greedy"),
    (_pbqp, "elimination"),
    (_pbqp, "branch-and-bound"),
    (_pbqp, "fixing"),
    (_pbqp, "descent"),
)


@pytest.mark.parametrize(("search", "method"), SEARCHES, ids=lambda one: str(getattr(one, "__name__", one)))
def test_plain_python_does_what_machine_code_does(
    search: Callable[[str], None], method: str, twice: Counter[str]
) -> None:
    search(method)
    assert twice
