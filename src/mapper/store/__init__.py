"""The result store: what was found once, by the content of its problem and the version of what solved it."""

from __future__ import annotations

from mapper.store.database import Entry, Store, StoreError, default_path
from mapper.store.key import part_contents, problem_key, version_key

__all__ = ["Entry", "Store", "StoreError", "default_path", "part_contents", "problem_key", "version_key"]
