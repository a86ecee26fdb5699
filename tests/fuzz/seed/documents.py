"""Valid documents: loop nests, convolutions, recurrences, machines and PBQP instances."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import yaml

from tests.fuzz.mutation.document import as_json, as_yaml

MACHINES = ("dmazerunner-256", "srp-2x2", "tcpa-4x4", "dynamap-u200", "snowflake-1cc", "eyeriss-like")


CONVOLUTIONS = {
    "schema": "mapper.convolutions/1",
    "name": "two",
    "batch": 2,
    "layers": [
        {"name": "a", "out_channels": 8, "in_channels": 3, "size": 14, "kernel": 3, "stride": 1, "pad": 1},
        {"name": "b", "out_channels": 4, "in_channels": 8, "size": 14, "kernel": 1},
    ],
}


PBQP = {
    "schema": "mapper.pbqp/1",
    "name": "small",
    "vertices": [[1, 2], [3, "inf", 5], [0, 4]],
    "edges": [
        {"ends": [0, 1], "costs": [[1, 2, 3], [4, "inf", 6]]},
        {"ends": [1, 2], "costs": [[0, 1], [2, 3], [4, 5]]},
        {"ends": [2, 2], "costs": [[0, 9], [9, 0]]},
    ],
}


RECURRENCES: tuple[dict[str, Any], ...] = (
    {
        "schema": "mapper.recurrence/1",
        "name": "solver",
        "loops": {"i": 6, "j": 6},
        "statements": [
            "p[i, j] = s[i, j - 1] * r[i] if i == j and j > 0",
            "p[i, j] = p[i - 1, j] if j < i",
            "s[i, j] = min(s[i, j - 1], -3) - L[i, 2 * j + 1] * p[i, j] if 0 < j <= i",
            "x[i] = p[i, j] if i == j",
        ],
        "local": ["p", "s"],
    },
    {
        "schema": "mapper.nest/1",
        "name": "stencil",
        "loops": {"t": 4, "i": 8},
        "operands": [
            {"tensor": "A", "name": "new", "index": ["t + 1", "i"], "access": "write"},
            {"tensor": "A", "name": "left", "index": ["t", "i - 1"]},
        ],
        "operation": "add",
    },
)


def in_json(documents: Sequence[Any]) -> tuple[bytes, ...]:
    return tuple(as_json(document) for document in documents)


def in_yaml(documents: Sequence[Any]) -> tuple[bytes, ...]:
    return tuple(as_yaml(document) for document in documents)


@cache
def workload_documents() -> tuple[dict[str, Any], ...]:
    """Loop nests and lists of convolutions."""
    from mapper.workloads.catalogue import entry_bytes

    names = ("matmul", "conv3d", "depthwise", "mttkrp")
    return (*(yaml.safe_load(entry_bytes(name)) for name in names), CONVOLUTIONS)


@cache
def machine_documents() -> tuple[dict[str, Any], ...]:
    """A machine of every kind."""
    from mapper.arch.source import preset_text

    return tuple(yaml.safe_load(preset_text(name) or "") for name in MACHINES)


def foreign_machines() -> tuple[bytes, ...]:
    """Machines as Timeloop, ZigZag and AccelForge write them."""
    from tests.arch.foreign import test_accelforge_machine, test_zigzag_machine
    from tests.arch.timeloop import test_machine_file

    texts = (
        test_machine_file.NEW,
        test_machine_file.OLD,
        test_zigzag_machine.MACHINE,
        test_accelforge_machine.MACHINE,
    )
    return tuple(text.encode() for text in texts)


@cache
def pbqp_files(suffix: str) -> tuple[bytes, ...]:
    """The same small instances, exact and in floats, in each of the forms."""
    from mapper.workloads.pbqp.binary import pbqp_binary
    from mapper.workloads.pbqp.document import pbqp_document, pbqp_from_document
    from mapper.workloads.pbqp.text import pbqp_text

    halves = json.loads(json.dumps(PBQP))
    halves["vertices"][0] = [0.5, 2]
    found = [pbqp_from_document(document, "seed") for document in (PBQP, halves)]
    if suffix == ".in":
        return tuple(pbqp_text(one).encode() for one in found)
    if suffix == ".pbqp":
        return tuple(pbqp_binary(one) for one in found)
    return in_json([pbqp_document(one) for one in found])
