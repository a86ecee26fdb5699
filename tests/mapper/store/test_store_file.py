"""Files that are given as a store and hold something else, or more than a store: one line, at once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest

from mapper.api.solving import Search
from mapper.api.verb import solve
from mapper.store import Store, StoreError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one answer."""
    kept = Store(tmp_path / "s.sqlite")
    solve("resnet-dmazerunner/conv5_2", search=Search(store=kept))
    assert len(kept.entries()) == 1
    return kept


@pytest.mark.parametrize(
    "statements",
    [
        "ALTER TABLE answer RENAME TO other; CREATE VIEW answer AS WITH RECURSIVE n(x) AS"
        " (VALUES(1) UNION ALL SELECT x + 1 FROM n) SELECT other.* FROM other, n",
        "CREATE TRIGGER t AFTER INSERT ON answer BEGIN DELETE FROM answer; END",
        "ALTER TABLE answer ADD COLUMN more AS (length(zeroblob(900000000)))",
        "CREATE TABLE other (a)",
    ],
)
def test_a_file_with_more_than_answers_is_no_store_and_stays_as_it_is(store: Store, statements: str) -> None:
    with sqlite3.connect(store.path) as connection:
        connection.executescript(statements)
    with pytest.raises(StoreError, match="so it is not a mapper store; give another file"):
        store.entries()


@pytest.mark.parametrize(
    ("column", "value"),
    [("workload", b"\xff"), ("proven", "yes"), ("certificate", b"{}"), ("certificate", "[]"), ("mapping", "5"),
     ("mapping", "[" * 100_000), ("certificate", '{"value": "x"}'), ("certificate", '{"value": 1e999}'),
     ("certificate", '{"method": NaN}'), ("certificate", '{"value": 1' + "0" * 400 + "}")],
)  # fmt: skip
def test_a_sealed_row_of_other_types_is_no_answer(store: Store, column: str, value: object) -> None:
    with sqlite3.connect(store.path) as connection:
        connection.execute(f"UPDATE answer SET {column} = ?", (value,))
        columns = "problem, version, kind, workload, arch, objective, part, proven, mapping, certificate"
        row = connection.execute(f"SELECT {columns} FROM answer").fetchone()
        if not any(isinstance(field, bytes) for field in row):
            seal = hashlib.sha256(json.dumps(row).encode()).hexdigest()
            connection.execute("UPDATE answer SET seal = ?", (seal,))
    assert store.entries() == []
