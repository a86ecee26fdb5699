"""Searches that say what is false, and what a command that notices says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mapper.api.problem import PosedProblem, pose
from mapper.api.solving import Search
from mapper.cli.contradiction_file import SCHEMA
from mapper.kind.part import Options, Part
from mapper.kind.tiling.kind import Tiling
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.catalogue import METHODS as TILING
from mapper.store.recall import Recall

LAYER = "resnet-dmazerunner/conv5_2"
NETWORK = "mnist-tcpa"
INFEASIBLE: Outcome[Any] = Outcome.infeasible()

Lie = Callable[[Outcome[Any]], Outcome[Any]]


def none_at_all(found: Outcome[Any]) -> Outcome[Any]:
    return INFEASIBLE


def too_tight(found: Outcome[Any]) -> Outcome[Any]:
    """A bound that no mapping as good as the one found can have."""
    assert found.value is not None
    return replace(INFEASIBLE, bound=1000 * found.value, proven=False)


def almost_best(found: Outcome[Any]) -> Outcome[Any]:
    """The claim that a poor mapping, where there is one, is next to the best there can be."""
    if found.value is None:
        return found
    return Outcome.bounded(found.mapping, found.value, found.value - 1, "heuristic")


def another_value(found: Outcome[Any]) -> Outcome[Any]:
    """A proof that the mapping is worth what it is not."""
    return replace(found, value=1, bound=1)


def worse(found: Outcome[Any]) -> Outcome[Any]:
    """A prior dataflow's mapping, proven to be optimal."""
    poor = TILING["soc"].search(pose(LAYER, None, "edp", Options()).parts[0].problem, Effort())
    return Outcome.optimal(poor.mapping, poor.value)


def lying(name: str, lie: Lie, true: Method[Any, Any] = TILING["branch-and-bound"]) -> Method[Any, Any]:
    def search(problem: Any, effort: Effort) -> Outcome[Any]:
        return lie(true.search(problem, effort))

    return Method(name, True, "says what is false", search, true.prepare)


def given(monkeypatch: pytest.MonkeyPatch, *methods: Method[Any, Any]) -> None:
    """The kind ``tiling`` has these methods, the first by default."""
    monkeypatch.setattr(Tiling, "methods", lambda kind: {method.name: method for method in methods})
    monkeypatch.setattr(Tiling, "default_method", methods[0].name)


def told(ended: tuple[int, str, str], path: Path) -> dict[str, Any]:
    """The documents, after a look at how the command ended and what it said."""
    code, out, errors = ended
    assert code == 4 and out == ""
    assert len(errors.splitlines()) == 1 and "CONTRADICTION" in errors and path.name in errors
    document: dict[str, Any] = json.loads(path.read_text())
    assert document["schema"] == SCHEMA and len(document["documents"]) == 2
    return document


def kept(search: Search, found: Outcome[Any], method: str, **changes: Any) -> None:
    """Somebody has written an answer to the layer, by ``method``, and what he claims of it."""
    posed = pose(LAYER, None, "edp", Options())
    part = run_one(posed, found)
    certificate = replace(part.certificate, method=method, **changes)
    assert search.store is not None
    Recall(search.store, posed, method, pytest.fail).keep({0: replace(part, certificate=certificate)})
    assert len(search.store.entries()) >= 1


def run_one(posed: PosedProblem, found: Outcome[Any]) -> Part:
    """``found`` as an answer, judged."""
    from mapper.api.contradicting import _part_of

    return _part_of(posed.kind, posed.parts[0], found, "somebody")
