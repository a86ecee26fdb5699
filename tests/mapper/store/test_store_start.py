"""Unproven answers of a store: the next search begins with them, says so, ends no worse, and trusts nothing else."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mapper
from mapper.api.part.search import solve_part
from mapper.api.problem import pose
from mapper.api.solution import Solution
from mapper.api.solving import Search
from mapper.kind.modulo_schedule.kind import MODULO_SCHEDULING
from mapper.kind.part import Options, Part
from mapper.kind.pe_allocation.kind import PE_ALLOCATION, NamedAllocation
from mapper.kind.trace_partition.kind import TRACE_PARTITION
from mapper.kind.trace_partition.part import NamedPartition
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.pe_allocation.mapping import Allocation, Placement
from mapper.models.trace_partition.mapping import LayerMapping, Partition, Tile
from mapper.solver.certificate import Certificate
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.store import Entry, Store, recall
from mapper.store.recall import Recall

LAYER = "resnet-dmazerunner/conv5_2"
KINDS = [
    (LAYER, "dmazerunner-256", None, "soc"),
    ("lenet5/pool1", "srp-4x4", None, "baseline"),
    ("mnist-tcpa", "tcpa-4x4", "latency", "proportional"),
    ("lenet5", "dynamap-u200", None, "random"),
    ("lenet5", "snowflake-1cc", None, "greedy"),
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "answers.sqlite")


def solved(store: Store, workload: str = LAYER, method: str = "soc", **named: Any) -> Solution:
    """A solve that proves nothing."""
    arch, objective = named.pop("arch", None), named.pop("objective", None)
    search = Search(method, named.pop("limit", None), 1, store=store, **named)
    return mapper.solve(workload, arch, objective, search=search)


def resealed(store: Store, **changes: Any) -> None:
    """A hostile hand changes the one certificate and seals it."""
    entry = store.entries()[0]
    store.put([replace(entry, certificate=entry.certificate | changes)], lambda held, fresh: fresh)


@pytest.mark.parametrize(("workload", "arch", "objective", "method"), KINDS)
def test_every_kind_begins_with_what_was_kept(
    store: Store, workload: str, arch: str, objective: str | None, method: str
) -> None:
    first = solved(store, workload, method, arch=arch, objective=objective)
    assert first.certificate.found and not first.certificate.proven
    again = solved(store, workload, method, arch=arch, objective=objective, limit=0.0)
    assert again.certificate.value == first.certificate.value
    started = again.parts[0].started
    assert started is not None and started.value == first.parts[0].certificate.value
    assert again.parts[0].history[0] == started and started.seconds == 0


def test_a_kernel_begins_with_the_schedule_and_the_bound_that_were_kept(store: Store) -> None:
    first = solved(store, "gemm", "iterative", arch="srp-4x4")
    resealed(store, proven=False, bound=2, stop="time_limit")
    again = solved(store, "gemm", "iterative", arch="srp-4x4", limit=0.0)
    assert again.certificate.value == first.certificate.value == 3
    assert again.certificate.bound == 2 and not again.certificate.proven
    assert solved(store, "gemm", "iterative", arch="srp-4x4").certificate.proven


def test_the_search_receives_the_start(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = solved(store)
    heard: list[Effort] = []

    def search(problem: Any, effort: Effort) -> Outcome[Any]:
        heard.append(effort)
        assert effort.known(problem) is not None
        return Outcome.unknown("heuristic")

    monkeypatch.setattr(
        "mapper.api.solving.method_named", lambda posed, name: Method(name, False, "", search)
    )
    again = solved(store)
    assert again.cost == first.cost
    start = heard[0].start
    assert start is not None and start.value == first.certificate.value
    assert heard[0].seed == start.searches == 1


def test_searches_that_go_on_draw_other_numbers(store: Store) -> None:
    for searches in (1, 2, 3):
        solved(store)
        assert store.entries()[0].certificate.get("searches", 1) == searches


def test_an_interrupt_keeps_what_there_was(store: Store) -> None:
    first = solved(store)
    search = Search("soc", store=store)
    search.interrupt.set()
    again = mapper.solve(LAYER, search=search)
    assert again.certificate.value == first.certificate.value and again.certificate.stop == "interrupted"
    assert store.entries()[0].certificate["value"] == first.certificate.value


def test_without_a_store_nothing_is_begun_with(store: Store) -> None:
    solved(store)
    alone = mapper.solve(LAYER, search=Search("soc", workers=1))
    assert alone.parts[0].started is None


def test_what_another_version_kept_begins_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    solved(store)
    monkeypatch.setattr(recall, "version_key", lambda: "another")
    assert solved(store).parts[0].started is None


def test_a_damaged_answer_is_told_and_not_used(store: Store) -> None:
    solved(store)
    with sqlite3.connect(store.path) as connection:
        connection.execute(
            "UPDATE answer SET certificate = replace(certificate, '\"bound\": ', '\"bound\": 9')"
        )
    told: list[str] = []
    again = solved(store, complain=told.append)
    assert len(told) == 1 and "damaged" in told[0] and "\n" not in told[0]
    assert again.parts[0].started is None
    assert solved(store).parts[0].started is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"bound": 1e300},
        {"bound": float("nan")},
        {"proven": True},
        {"value": 1},
        {"found": False},
        {"searches": -1},
        {"pieces": 7, "value": None},
        {"stop": "never"},
    ],
)
def test_a_certificate_that_contradicts_itself_or_the_model_is_not_used(
    store: Store, changes: dict[str, Any]
) -> None:
    solved(store)
    resealed(store, **changes)
    told: list[str] = []
    again = solved(store, complain=told.append)
    assert told and again.parts[0].started is None and not again.certificate.proven


def test_a_mapping_that_the_referee_refuses_begins_nothing(store: Store) -> None:
    first = solved(store)
    entry = store.entries()[0]
    assert entry.mapping is not None
    entry.mapping["tiling"]["M"]["dram"] += 1
    store.put([entry], lambda held, fresh: fresh)
    again = solved(store)
    assert again.parts[0].started is None and again.cost == first.cost


def kept(store: Store, value: int, bound: int | None, proven: bool = False) -> None:
    """Another process writes down what it found."""
    posed = pose(LAYER, None, "energy", Options())
    part = posed.parts[0]
    certificate = Certificate("time_limit", True, value, bound, proven, "soc", verified=True)
    answer = Part(part.name, part.source, None, NamedValue(value), None, None, certificate)
    Recall(store, posed, "soc", lambda reason: None).keep({0: answer})


class NamedValue:
    """A mapping of which all that matters is whose it is."""

    def __init__(self, value: int) -> None:
        self.value = value

    def to_json(self) -> dict[str, Any]:
        return {"of": self.value}


def test_the_worse_answer_of_a_slower_process_does_not_replace_the_better(store: Store) -> None:
    kept(store, 10, 4)
    kept(store, 12, 6)
    entry = store.entries()[0]
    assert entry.mapping == {"of": 10}
    assert (entry.certificate["value"], entry.certificate["bound"]) == (10, 6)
    kept(store, 9, None)
    entry = store.entries()[0]
    assert (entry.mapping, entry.certificate["bound"]) == ({"of": 9}, 6)


def test_a_proven_answer_is_not_replaced_by_one_that_is_not(store: Store) -> None:
    kept(store, 10, 10, proven=True)
    kept(store, 8, 2)
    entry = store.entries()[0]
    assert entry.proven and entry.mapping == {"of": 10}


def test_what_is_proven_of_a_placement_is_kept() -> None:
    placed = Allocation("layer-parallel", (1, 1), (0, 0), (1, 1), Placement((((0, 0),), ((0, 1),)), 1))
    pieces = json.loads(json.dumps(PE_ALLOCATION.pieces(NamedAllocation(None, placed))))  # type: ignore[arg-type]
    read = replace(placed, placement=Placement((((0, 0),), ((0, 1),))))
    assert PE_ALLOCATION.with_pieces(read, pieces) == placed
    with pytest.raises(TypeError):
        PE_ALLOCATION.with_pieces(read, {"wiring_bound": "1", "unplaceable": False})


def test_a_schedule_has_no_pieces_to_keep() -> None:
    with pytest.raises(TypeError):
        MODULO_SCHEDULING.with_pieces(ModuloSchedule(1, (), ()), [1])


def test_how_far_a_partition_was_searched_is_kept() -> None:
    layer = LayerMapping("coop", Tile(1, 1, 1, 1), "maps_stationary", "rows")
    searched = Partition((layer,), floors=((3, 2, 1),))
    pieces = json.loads(json.dumps(TRACE_PARTITION.pieces(NamedPartition(None, searched))))  # type: ignore[arg-type]
    assert TRACE_PARTITION.with_pieces(Partition((layer,)), pieces).floors == searched.floors
    for wrong in ([[1, 2, 3], [1, 2, 3]], [[1, 2]]):
        with pytest.raises(ValueError):
            TRACE_PARTITION.with_pieces(Partition((layer,)), wrong)


def test_a_part_that_is_cut_at_once_gives_its_start(store: Store) -> None:
    posed = pose(LAYER, None, None, Options())
    solved(store)
    known = Recall(store, posed, "soc", lambda reason: None).known(posed.parts)[0]
    assert known is not None
    method = posed.kind.methods()["soc"]
    start = known.start(posed.parts[0].problem, posed.objective)
    part = solve_part(posed.kind, method, posed.parts[0], Search(time_limit=0.0), 1, start, most=False)
    assert part.cost == known.part.cost and part.certificate.verified


def test_solve_says_in_a_line_that_a_stored_value_was_the_start(mapper: Any, tmp_path: Path) -> None:
    words = ("solve", LAYER, "--method", "soc", "--workers", "1", "--quiet")
    named = ("--store", str(tmp_path / "s.sqlite"))
    assert "started from" not in mapper(*words, *named)[1]
    code, out, _ = mapper(*words, *named)
    assert code == 0
    assert sum(line.startswith("started from a stored value of ") for line in out.splitlines()) == 1
    document = json.loads(mapper(*words, *named, "--json")[1])
    assert set(document["parts"][0]["history"][0]) == {"seconds", "value", "bound"}
    assert "started" not in document["parts"][0]


def test_an_old_file_without_seals_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    columns = "kind, workload, arch, objective, part, proven, stored DEFAULT 'then', mapping, certificate"
    with sqlite3.connect(path) as connection:
        connection.execute(
            f"CREATE TABLE answer (problem, version, {columns}, PRIMARY KEY (problem, version))"
        )
        connection.execute("INSERT INTO answer (problem, version) VALUES ('p', 'v')")
    assert Store(path).entries() == []
    Store(path).put([Entry("p", "v", "tiling", "w", None, "edp", "w", True, None, {"value": 1})], old_first)
    assert [entry.problem for entry in Store(path).entries()] == ["p"]


def old_first(held: Entry, fresh: Entry) -> Entry:
    """Keep what is there."""
    return held
