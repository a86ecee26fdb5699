"""Result stores: SQLite files with hostile cells, other tables in their place, and broken pages."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from random import Random

from tests.fuzz.mutation.byte import mutated_bytes
from tests.fuzz.mutation.document import VALUES, mutated_tree

_COLUMNS = ("problem", "version", "kind", "workload", "arch", "objective", "part", "proven", "stored", "mapping",
            "certificate")  # fmt: skip
_STATEMENTS = (
    "DROP TABLE answer",
    "ALTER TABLE answer RENAME TO other",
    "ALTER TABLE answer DROP COLUMN mapping",
    "ALTER TABLE answer ADD COLUMN more TEXT",
    "ALTER TABLE answer RENAME COLUMN certificate TO other",
    "CREATE TABLE other AS SELECT * FROM answer; DROP TABLE answer; CREATE VIEW answer AS SELECT * FROM other",
    "CREATE TABLE other AS SELECT * FROM answer; DROP TABLE answer; CREATE VIEW answer AS WITH RECURSIVE "
    "n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n) SELECT other.* FROM other, n",
    "CREATE TRIGGER t AFTER INSERT ON answer BEGIN DELETE FROM answer; END",
    "PRAGMA application_id = -1; PRAGMA user_version = 2147483647",
    "PRAGMA encoding = 'UTF-16'; VACUUM",
    "INSERT INTO answer SELECT problem || 'x', version, kind, workload, arch, objective, part, proven, stored,"
    " mapping, certificate FROM answer",
    "ALTER TABLE answer ADD COLUMN much AS (length(zeroblob(900000000)))",
    "CREATE INDEX more ON answer(length(workload))",
    "DELETE FROM answer",
    "UPDATE answer SET problem = x'ff', workload = x'fe'",
    "UPDATE answer SET certificate = CAST(x'ff' AS TEXT)",
    "UPDATE answer SET mapping = printf('%.*c', 100000, '[')",
)


def mutated_store(data: bytes, random: Random) -> bytes:
    """``data``, a store, with one change of a byte, of a cell or of the tables."""
    if random.random() < 0.4:
        return mutated_bytes(data, random)
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(data)
            ordinary = ("table",) in connection.execute(
                "SELECT type FROM sqlite_schema WHERE name = 'answer'"
            ).fetchall()
            if not ordinary:
                return mutated_bytes(data, random)
            if random.random() < 0.3:
                connection.executescript(random.choice(_STATEMENTS))
            else:
                _change_cell(connection, random)
            connection.commit()
            return connection.serialize()
    except (sqlite3.Error, OverflowError, ValueError, TypeError, IndexError, RecursionError, MemoryError):
        return mutated_bytes(data, random)


def _change_cell(connection: sqlite3.Connection, random: Random) -> None:
    rows = connection.execute("SELECT rowid, mapping, certificate FROM answer").fetchall()
    row, mapping, certificate = random.choice(rows)
    column = random.choice((*_COLUMNS, "mapping", "certificate", "mapping", "certificate"))
    value = random.choice(VALUES)
    if column in ("mapping", "certificate"):
        text = mapping if column == "mapping" else certificate
        value = json.dumps(mutated_tree(json.loads(text or "null"), random))
    elif not isinstance(value, str | int | float | None):
        value = b"\xff"
    connection.execute(f"UPDATE answer SET {column} = ? WHERE rowid = ?", (value, row))
    if random.random() < 0.8:
        # Whoever means harm seals what was changed.
        _seal(connection, row)


def _seal(connection: sqlite3.Connection, row: int) -> None:
    sealed = [column for column in _COLUMNS if column != "stored"]
    fields = connection.execute(f"SELECT {', '.join(sealed)} FROM answer WHERE rowid = ?", (row,)).fetchone()
    seal = hashlib.sha256(json.dumps(fields).encode()).hexdigest()
    connection.execute("UPDATE answer SET seal = ? WHERE rowid = ?", (seal, row))
