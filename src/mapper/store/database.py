"""One SQLite file of answers. Every call opens it anew, so that processes, threads and kills share it without harm."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
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
    PRIMARY KEY (problem, version)
)
"""
_COLUMNS = "problem, version, kind, workload, arch, objective, part, proven, stored, mapping, certificate"


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

    def get(self, problem: str, version: str) -> Entry | None:
        """The answer to a problem by this version of mapper.

        Raises: StoreError if the file cannot be read; ValueError if the answer is damaged.
        """
        with self._open() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM answer WHERE problem = ? AND version = ?", (problem, version)
            ).fetchone()
        return None if row is None else _entry(row)

    def put(self, entry: Entry) -> None:
        """Keep ``entry``; a proven answer is never replaced by one that is not.

        Raises: StoreError if the file cannot be written.
        """
        with self._open() as connection, connection:
            connection.execute(
                "INSERT INTO answer (problem, version, kind, workload, arch, objective, part, proven, mapping,"
                " certificate) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (problem, version) DO UPDATE SET"
                " proven = excluded.proven, mapping = excluded.mapping, certificate = excluded.certificate,"
                " stored = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE excluded.proven >= proven",
                (
                    entry.problem,
                    entry.version,
                    entry.kind,
                    entry.workload,
                    entry.arch,
                    entry.objective,
                    entry.part,
                    int(entry.proven),
                    None if entry.mapping is None else json.dumps(entry.mapping),
                    json.dumps(entry.certificate),
                ),
            )

    def entries(self, prefix: str = "") -> list[Entry]:
        """All answers whose problem's key begins with ``prefix``, the oldest first.

        Raises: StoreError if the file cannot be read.
        """
        with self._open() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM answer WHERE substr(problem, 1, ?) = ? ORDER BY stored, problem",
                (len(prefix), prefix),
            )
            return [_entry(row) for row in rows]

    def prune(self, version: str | None) -> int:
        """Remove the answers of other versions than ``version``, all of them if that is None; how many they were.

        Raises: StoreError if the file cannot be written.
        """
        with self._open() as connection:
            with connection:
                removed = connection.execute(
                    "DELETE FROM answer WHERE ? IS NULL OR version != ?", (version, version)
                )
            connection.execute("VACUUM")
            return removed.rowcount

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=SECONDS_TO_WAIT)) as connection:
                # A log beside the file: readers and one writer at once, and a kill loses at most what was not reported.
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(_TABLE)
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


def _entry(row: tuple[Any, ...]) -> Entry:
    problem, version, kind, workload, arch, objective, part, proven, stored, mapping, certificate = row
    held = None if mapping is None else json.loads(mapping)
    return Entry(
        problem,
        version,
        kind,
        workload,
        arch,
        objective,
        part,
        bool(proven),
        held,
        json.loads(certificate),
        stored,
    )
