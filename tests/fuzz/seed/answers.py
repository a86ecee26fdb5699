"""Valid answers: solutions, mappings, comparisons, sweeps, trade-offs and stores."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.mutation.document import as_json
from tests.fuzz.seed.documents import CONVOLUTIONS, in_json, pbqp_files

PROBLEMS = (
    ("matmul", "dmazerunner-256", "auto"),
    ("dot", "srp-2x2", "auto"),
    ("mnist-tcpa", "tcpa-4x4", "greedy"),
    ("lenet5/conv1", "dynamap-u200", "auto"),
    ("lenet5/conv1", "snowflake-1cc", "greedy"),
    ("lenet5/pool2", "srp-2x2", "baseline"),
)
"""A small problem of every kind, a CGRA's layers too, and the method that is quick: workload, machine, method."""


@cache
def solved(place: int) -> Any:
    """The solution of the small problem of the kind ``place``."""
    import mapper
    from mapper.api.solving import Search

    workload, arch, method = PROBLEMS[place]
    return mapper.solve(workload, arch, search=Search(method, workers=1))


@cache
def solutions() -> tuple[bytes, ...]:
    """A solution of every kind, a PBQP instance's, a comparison, a sweep and trade-offs."""
    import mapper
    from mapper.api.solving import Search

    documents = [solved(place).to_json() for place in range(len(PROBLEMS))]
    with tempfile.TemporaryDirectory() as folder:
        # Several parts, each of which becomes a folder of its own.
        several = Path(folder) / "two.json"
        several.write_bytes(as_json(CONVOLUTIONS))
        documents.append(mapper.solve(str(several), search=Search(workers=1)).to_json())
        path = Path(folder) / "small.in"
        path.write_bytes(pbqp_files(".in")[0])
        documents.append(mapper.solve(str(path)).to_json())
        documents.append(
            mapper.compare(str(path), search=Search(workers=1), methods=["elimination", "fixing"]).to_json()
        )
    grid = {"rf.bytes": [256, 512]}
    documents.append(mapper.sweep("matmul", "dmazerunner-256", grid).to_json())
    first, second = documents[0], documents[2]
    row = {"arch": "a", "kind": "tiling", "method": "m", "cost": first["cost"], "certificate": first["certificate"],
           "utilisation": 0.5, "leaves_out": ["clocks"], "layers": {"a": 1.5}}  # fmt: skip
    documents.append({"schema": "mapper.comparison/1", "problem": first["problem"], "rows": [row, row]})
    point = {key: second["parts"][0][key] for key in ("mapping", "cost", "certificate")}
    documents.append(
        {"schema": "mapper.front/1", "problem": second["problem"], "points": [point], "complete": True}
    )
    return in_json(documents)


@cache
def generating() -> tuple[bytes, ...]:
    """The solutions that code is generated from."""
    found = [data for data in solutions() if b'"mapper.solution/1"' in data and b'"pbqp"' not in data]
    assert len(found) >= len(PROBLEMS)
    return tuple(found)


@cache
def mappings() -> tuple[bytes, ...]:
    """The bare mapping of every kind."""
    return in_json([solved(place).to_json()["parts"][0]["mapping"] for place in range(len(PROBLEMS))])


@cache
def stores() -> tuple[bytes, ...]:
    """A store with an answer of every kind."""
    import mapper
    from mapper.api.solving import Search
    from mapper.store import Store

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        for place in (0, 1, 3):
            workload, arch, method = PROBLEMS[place]
            mapper.solve(workload, arch, search=Search(method, workers=1, store=Store(path)))
        with closing(sqlite3.connect(path)) as connection:
            # As one file: a log beside it would not be part of the seed.
            connection.execute("PRAGMA journal_mode = DELETE")
        return (path.read_bytes(),)
