"""The result store: nothing proven is solved twice, nothing reported is lost, and a broken file harms nobody."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import mapper
from mapper.api import solving
from mapper.api.solving import Search
from mapper.kind.part import Options
from mapper.store import Entry, Store, StoreError, default_path, recall

LAYER = "resnet-dmazerunner/conv5_2"
ALL = "resnet-dmazerunner"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "answers.sqlite")


def newer(held: Entry, fresh: Entry) -> Entry:
    """What a hostile hand keeps of two answers."""
    return fresh


def forbid_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*words: Any, **named: Any) -> Any:
        raise AssertionError("was solved again")

    monkeypatch.setattr(solving, "searched_part", refuse)


def test_a_proven_answer_is_given_again_without_a_search(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = mapper.solve(LAYER, search=Search(store=store))
    forbid_search(monkeypatch)
    second = mapper.solve(LAYER, search=Search(store=store))
    assert second.to_json()["parts"] == first.to_json()["parts"]


@pytest.mark.parametrize(
    ("objective", "options"), [("energy", Options()), ("edp", Options(fix={"spatial": "Oy,Ox"}))]
)
def test_another_objective_or_option_is_another_problem(
    store: Store, objective: str, options: Options
) -> None:
    mapper.solve(LAYER, objective="edp", search=Search(store=store))
    mapper.solve(LAYER, objective=objective, options=options, search=Search(store=store))
    assert len(store.entries()) == 2


def test_a_changed_machine_is_another_problem(store: Store) -> None:
    mapper.sweep(LAYER, "dmazerunner-256", {"rf.bytes": [256, 512]}, search=Search(store=store))
    assert len(store.entries()) == 2


def test_a_changed_model_never_answers_from_old_results(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapper.solve(LAYER, search=Search(store=store))
    monkeypatch.setattr(recall, "version_key", lambda: "another")
    forbid_search(monkeypatch)
    with pytest.raises(AssertionError, match="solved again"):
        mapper.solve(LAYER, search=Search(store=store))


def test_an_answer_that_the_referee_refuses_is_solved_anew(store: Store) -> None:
    sound = mapper.solve(LAYER, search=Search(store=store))
    entry = store.entries()[0]
    assert entry.mapping is not None
    entry.mapping["tiling"]["M"]["dram"] += 1
    store.put([entry], newer)
    assert mapper.solve(LAYER, search=Search(store=store)).cost == sound.cost


def test_a_search_that_finds_less_than_what_is_kept_gives_what_is_kept(store: Store) -> None:
    best = mapper.solve(LAYER, search=Search("random", 0.5, seed=3, store=store))
    assert best.certificate.found and not best.certificate.proven
    kept = store.entries()[0]
    again = mapper.solve(LAYER, search=Search("random", 0.0, seed=3, store=store))
    assert again.certificate.value == kept.certificate["value"]
    assert not again.certificate.proven


def test_infeasibility_that_is_proven_is_kept_too(store: Store) -> None:
    options = Options(min_throughput=1e9)
    first = mapper.solve("mnist-tcpa", "tcpa-4x4", "pes", options, Search(store=store))
    again = mapper.solve("mnist-tcpa", "tcpa-4x4", "pes", options, Search(store=store))
    assert first.exit_code == again.exit_code == 1
    assert len(store.entries()) == 1


def test_a_file_that_is_no_store_is_told_once_and_the_work_goes_on(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"no store at all, " * 100)
    told: list[str] = []
    solution = mapper.solve(ALL, search=Search(store=Store(broken), complain=told.append))
    assert solution.certificate.proven
    assert len(told) == 1 and str(broken) in told[0] and "\n" not in told[0]
    assert broken.read_bytes() == b"no store at all, " * 100


def test_a_store_where_no_file_can_be_is_told_and_the_work_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[str] = []
    mapper.solve(LAYER, search=Search(store=Store(tmp_path / "file" / "s.sqlite"), complain=told.append))
    assert len(told) == 1


def test_a_row_that_is_damaged_is_solved_anew(store: Store) -> None:
    mapper.solve(LAYER, search=Search(store=store))
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE answer SET certificate = '{'")
    assert mapper.solve(LAYER, search=Search(store=store)).certificate.proven
    assert json.dumps(store.entries()[0].certificate)


def test_a_full_disk_stops_nothing(tmp_path: Path) -> None:
    code = (
        "import resource, sys, mapper; from pathlib import Path; from mapper.store import Store;"
        "from mapper.api.solving import Search;"
        "store = Store(Path(sys.argv[1])); store.entries();"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048));"
        "told = [];"
        f"s = mapper.solve({LAYER!r}, search=Search(store=store, complain=told.append));"
        "print(s.certificate.proven, len(told))"
    )
    assert resource.RLIMIT_FSIZE
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "s.sqlite")], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["True", "1"], done.stderr


def sweep_command(store: Path, log: Path) -> list[str]:
    sizes = ",".join(str(16 << power) for power in range(7))
    return [
        sys.executable, "-m", "mapper", "sweep", ALL, "--vary", f"rf.bytes={sizes}", "--workers", "1",
        "--store", str(store), "--log", str(log), "--json",
    ]  # fmt: skip


def answers(path: Path) -> dict[str, str]:
    """When each answer was kept."""
    return {entry.problem: entry.stored for entry in Store(path).entries()} if path.exists() else {}


def killed_at_random(tmp_path: Path, times: int) -> None:
    """Kill a sweep again and again; what the store holds only grows, and is whole."""
    path, chance = tmp_path / "s.sqlite", random.Random(7)
    held: dict[str, str] = {}
    for _ in range(times):
        process = subprocess.Popen(
            sweep_command(path, tmp_path / "log"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # Half of the kills come while answers are being written, the others while the program starts.
        writing = chance.random() < 0.5
        while writing and process.poll() is None and len(answers(path)) <= len(held):
            time.sleep(0.02)
        time.sleep(chance.uniform(0.0, 0.4))
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = answers(path)
        assert held.items() <= now.items(), "something kept was lost, or proven and solved again"
        held = now
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert held


def test_a_killed_sweep_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    killed_at_random(tmp_path, 4)


@pytest.mark.slow
def test_a_hundred_kills_of_a_sweep_lose_nothing(tmp_path: Path) -> None:
    killed_at_random(tmp_path, 100)


def test_several_processes_share_a_store(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    command = [sys.executable, "-m", "mapper", "solve", ALL, "--store", str(path), "--json", "--quiet"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    answers = [process.communicate() for process in running]
    assert all(process.returncode == 0 for process in running)
    assert not any(errors for _, errors in answers)
    assert len({json.dumps(json.loads(out)["cost"]) for out, _ in answers}) == 1
    assert len(Store(path).entries()) == 6


def test_the_default_store_is_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_path() == tmp_path / "mapper" / "store.sqlite"


def test_a_store_error_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    with pytest.raises(StoreError) as raised:
        Store(tmp_path / "s").entries()
    assert "\n" not in str(raised.value) and os.fspath(tmp_path) in str(raised.value)
