"""Answers to pieces of problems, such as the loops of a layer, kept for every problem that has such a piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mapper.api.solution import as_document
from mapper.solver.certificate import Certificate
from mapper.store.database import Entry, Store, StoreError
from mapper.store.key import content_hash, version_key


@dataclass(frozen=True)
class StoredPieces:
    """The pieces that a store holds of one kind. A store that cannot be used has none: that is told where whole answers
    are looked for."""

    store: Store
    kind: str

    def get(self, content: str) -> Mapping[str, Any] | None:
        """The mapping that was kept of a piece."""
        key = self._key(content)
        try:
            entry = self.store.get([key], version_key()).get(key)
        except StoreError:
            return None
        return None if entry is None else entry.mapping

    def put(self, content: str, name: str, mapping: Mapping[str, Any], value: int) -> None:
        """Keep the mapping of a piece and what it is worth."""
        certificate = Certificate("heuristic", True, value, None, False, "piece", verified=True)
        entry = Entry(
            self._key(content), version_key(), self.kind, "piece", None, "piece", name, False,
            as_document(dict(mapping)), as_document(certificate.to_json()),
        )  # fmt: skip
        try:
            self.store.put([entry], lambda held, _: held)
        except StoreError:
            return

    def _key(self, content: str) -> str:
        return content_hash([self.kind, "piece", content])
