"""One SQLite file of answers. Every call opens it anew, so that processes, threads and kills share it without harm."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS_TO_WAIT = 20.0
"""How long a writer waits for another."""
_TABLE = """
CREATE TABLE IF NOT EXISTS answer (
    problem TEXT NOT NULL,
    version TEXT NOT NULL,
    kind TEXT NOT NULL,
    workload TEXT NOT NULL,
    arch TEXT,
    objective TEXT NOT NULL,
    part TEXT NOT NULL,
    proven INTEGER NOT NULL,
    stored TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    mapping TEXT,
    certificate TEXT NOT NULL,
    seal TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (problem, version)
)
"""
_COLUMNS = (
    "problem, version, kind, workload, arch, objective, part, proven, stored, mapping, certificate, seal"
)


_COLUMN_NAMES = "SELECT name FROM pragma_table_info('answer')"
_STRANGE = (
    "SELECT type || ' ' || name FROM sqlite_schema WHERE sql IS NOT NULL AND NOT (type = 'table' AND name = 'answer'"
    " AND sql LIKE 'CREATE TABLE%') UNION ALL"
    " SELECT 'computed column ' || name FROM pragma_table_xinfo('answer') WHERE hidden"
)
"""What a store has not: views, triggers and computed columns, which could keep a query busy for ever."""
LARGEST_FIGURE = 1e300
"""What a value may be at the most, so that sums of several are numbers too."""
LARGEST_VALUE = 256 << 20
"""Bytes of a value at the most, as of a solution document."""


class StoreError(Exception):
    """The store cannot be used; the text says why, in a line."""


@dataclass(frozen=True)
class Entry:
    """One answer: its keys, what it is of, and the mapping and certificate as documents hold them. ``mapping`` is None
    where there is none. ``stored`` is a time in UTC, set by the store."""

    problem: str
    version: str
    kind: str
    workload: str
    arch: str | None
    objective: str
    part: str
    proven: bool
    mapping: dict[str, Any] | None
    certificate: dict[str, Any]
    stored: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "problem": self.problem,
            "version": self.version,
            "kind": self.kind,
            "workload": self.workload,
            "arch": self.arch,
            "objective": self.objective,
            "part": self.part,
            "proven": self.proven,
            "stored": self.stored,
            "mapping": self.mapping,
            "certificate": self.certificate,
        }


@dataclass(frozen=True)
class Store:
    """The store in the file ``path``, which is made where it is missing."""

    path: Path

    def get(self, problems: Iterable[str], version: str) -> dict[str, Entry | None]:
        """The answers to ``problems`` by this version of mapper, of those that have one; None for a damaged one.

        Raises: StoreError if the file cannot be read.
        """
        with self._open() as connection:
            rows = {problem: _row(connection, problem, version) for problem in problems}
        return {problem: _sound(row) for problem, row in rows.items() if row is not None}

    def put(self, entries: Iterable[Entry], agreed: Callable[[Entry, Entry], Entry]) -> None:
        """Keep ``entries``, all or none of them: the disk is waited for once. Where there is an answer already (that
        another process may have written), what is ``agreed`` of the two.

        Raises: StoreError if the file cannot be written.
        """
        with self._open() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            for entry in entries:
                row = _row(connection, entry.problem, entry.version)
                held = None if row is None else _sound(row)
                kept = entry if held is None else agreed(held, entry)
                if kept is not held:
                    fields = _fields(kept)
                    connection.execute(
                        "INSERT OR REPLACE INTO answer (problem, version, kind, workload, arch, objective, part,"
                        " proven, mapping, certificate, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        (*fields, _seal(fields)),
                    )

    def entries(self, prefix: str = "") -> list[Entry]:
        """All answers whose problem's key begins with ``prefix``, the oldest first; those that are damaged are none.

        Raises: StoreError if the file cannot be read.
        """
        with self._open() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM answer WHERE substr(problem, 1, ?) = ? ORDER BY stored, problem",
                (len(prefix), prefix),
            ).fetchall()
        found = [_sound(row) for row in rows]
        return [entry for entry in found if entry is not None]

    def prune(self, version: str | None) -> int:
        """Remove the answers of other versions than ``version``, all of them if that is None; how many they were.

        Raises: StoreError if the file cannot be written.
        """
        with self._open() as connection:
            with connection:
                removed = connection.execute(
                    "DELETE FROM answer WHERE ? IS NULL OR version != ?", (version, version)
                )
            # The room of what was removed is used again in any case; giving it back takes some first.
            with suppress(sqlite3.OperationalError):
                connection.execute("VACUUM")
            return removed.rowcount

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=SECONDS_TO_WAIT)) as connection:
                # Bytes that are no text are a damaged row's, no reason to give up the others.
                connection.text_factory = lambda data: data.decode(errors="replace")
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
                strange = connection.execute(_STRANGE).fetchone()
                if strange is not None:
                    raise ValueError(
                        f"holds the {strange[0]}, so it is not a mapper store; give another file"
                    )
                # A log beside the file: readers and one writer at once, and a kill loses at most what was not reported.
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(_TABLE)
                if ("seal",) not in connection.execute(_COLUMN_NAMES).fetchall():
                    # Of a version that had none: its answers are other versions' for that reason alone.
                    connection.execute("ALTER TABLE answer ADD COLUMN seal TEXT NOT NULL DEFAULT ''")
                yield connection
        except (sqlite3.Error, OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StoreError(f"{self.path}: the store cannot be used ({reason})") from None


def default_path() -> Path:
    """The store in the user's cache folder."""
    if cache := os.environ.get("XDG_CACHE_HOME"):
        return Path(cache) / "mapper" / "store.sqlite"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mapper" / "store.sqlite"
    return Path.home() / ".cache" / "mapper" / "store.sqlite"


def _row(connection: sqlite3.Connection, problem: str, version: str) -> tuple[Any, ...] | None:
    found: tuple[Any, ...] | None = connection.execute(
        f"SELECT {_COLUMNS} FROM answer WHERE problem = ? AND version = ?", (problem, version)
    ).fetchone()
    return found


def _fields(entry: Entry) -> tuple[Any, ...]:
    """The columns of an answer, without the time and the seal."""
    mapping = None if entry.mapping is None else json.dumps(entry.mapping)
    named = (
        entry.problem,
        entry.version,
        entry.kind,
        entry.workload,
        entry.arch,
        entry.objective,
        entry.part,
    )
    return (*named, int(entry.proven), mapping, json.dumps(entry.certificate))


def _seal(fields: tuple[Any, ...]) -> str:
    """The hash of all that a row says: SQLite does not see a changed byte within a page."""
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def _sound(row: tuple[Any, ...]) -> Entry | None:
    """The answer of a row; None if it is damaged."""
    with suppress(ValueError):
        return _entry(row)
    return None


def _entry(row: tuple[Any, ...]) -> Entry:
    """The answer of a row.

    Raises: ValueError if it is damaged.
    """
    *named, proven, stored, mapping, certificate, seal = row
    problem, version, kind, workload, arch, objective, part = named
    texts = (
        problem,
        version,
        kind,
        workload,
        arch or "",
        objective,
        part,
        stored,
        mapping or "",
        certificate,
    )
    if not all(isinstance(text, str) for text in texts) or type(proven) is not int:
        raise ValueError("no answer")
    if _seal((*named, proven, mapping, certificate)) != seal:
        raise ValueError("damaged")
    try:
        held, said = None if mapping is None else json.loads(mapping), json.loads(certificate)
        # Python reads NaN and infinities, and JSON has none.
        json.dumps([held, said], allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(held, dict | None) or not isinstance(said, dict):
        raise ValueError("no answer")
    value = said.get("value")
    if value is not None and (type(value) not in (int, float) or abs(value) > LARGEST_FIGURE):
        raise ValueError("no figure")
    return Entry(
        problem, version, kind, workload, arch, objective, part, bool(proven), held, said, stored
    )  # fmt: skip
