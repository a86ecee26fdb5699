"""A small machine file does not make for work beyond its machine."""

from __future__ import annotations

from mapper.arch.cgra import cgra_from_document


def test_links_that_are_named_many_times_are_made_once() -> None:
    # Made each time, these would take minutes.
    fields = {
        "schema": "mapper.cgra/1",
        "name": "many",
        "rows": 64,
        "columns": 64,
        "links": ["torus", "row_bus"] * 10_000,
        "pes": [{"at": "all", "classes": ["any"]}],
        "register_file": {"registers": 1},
    }
    assert {len(readers) for readers in cgra_from_document(fields, "many.yaml").readers.values()} == {66}
