"""What one network has solved another finds in the store: equal layers, and loops of equal graphs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mapper
from mapper.api.solution import Solution
from mapper.api.solving import Search
from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic import loop_schedule as module
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import forget, loop_schedule
from mapper.store import Store
from mapper.store.piece import StoredPieces
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_source import load_kernel


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "answers.sqlite")


@pytest.fixture
def machine() -> CgraMachine:
    found = load_machine("srp-2x2")[0]
    assert isinstance(found, CgraMachine)
    return found


@pytest.fixture
def kernel() -> Kernel:
    return load_kernel("dot")[0]


def solved(store: Store, workload: str) -> Solution:
    return mapper.solve(workload, "srp-4x4", search=Search("baseline", workers=1, store=store))


def refused(*_: Any) -> Any:
    raise AssertionError("is searched again")


def test_a_layer_that_another_network_has_is_not_solved_from_the_beginning(store: Store) -> None:
    one = solved(store, "lenet5/pool2").parts[0]
    found = {part.name: part for part in solved(store, "lenet5").parts}
    assert found["pool2"].started is not None
    assert found["pool2"].started.value == one.certificate.value
    assert found["conv1"].started is None


def test_a_loop_is_scheduled_once_for_all_commands(
    store: Store, machine: CgraMachine, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    effort = Effort(pieces=StoredPieces(store, "modulo_schedule"))
    forget()
    first = loop_schedule(kernel, machine, effort)
    forget()
    monkeypatch.setattr(module, "search_briefly", refused)
    assert first.mapping is not None and loop_schedule(kernel, machine, effort).mapping == first.mapping
    with pytest.raises(AssertionError, match="searched again"):
        forget()
        loop_schedule(kernel, machine, replace(effort, seed=1))


def test_a_kept_schedule_that_the_referee_refuses_is_none(
    store: Store, machine: CgraMachine, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    effort = Effort(pieces=StoredPieces(store, "modulo_schedule"))
    forget()
    loop_schedule(kernel, machine, effort)
    (entry,) = store.entries()
    assert entry.mapping is not None
    placed = {name: one | {"time": 0} for name, one in entry.mapping["schedule"].items()}
    spoilt = replace(entry, mapping=entry.mapping | {"schedule": placed, "stages": 1})
    store.put([spoilt], lambda held, fresh: fresh)
    forget()
    monkeypatch.setattr(module, "search_briefly", refused)
    with pytest.raises(AssertionError, match="searched again"):
        loop_schedule(kernel, machine, effort)
    forget()
