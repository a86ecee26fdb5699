"""JSON Schemas of the documents that commands print: what every kind has in common of them."""

from __future__ import annotations

from typing import Any, get_args

from mapper.solver.certificate import Stop

Schema = dict[str, Any]

NUMBER: Schema = {"type": ["number", "null"]}
WHOLE: Schema = {"type": ["integer", "null"]}
TEXT: Schema = {"type": "string"}
OPEN: Schema = {"type": "object"}


def record(required: Schema, optional: Schema | None = None, more: bool = False) -> Schema:
    """An object with these fields; ``more``: a kind may add others."""
    fields = {**required, **(optional or {})}
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": more}


def rows(one: Schema) -> Schema:
    return {"type": "array", "items": one}


def or_null(one: Schema) -> Schema:
    return {"anyOf": [one, {"type": "null"}]}


COST = {"type": "object", "additionalProperties": NUMBER}
CERTIFICATE = record(
    {
        "stop": {"enum": list(get_args(Stop))},
        "found": {"type": "boolean"},
        "value": NUMBER,
        "bound": NUMBER,
        "gap": NUMBER,
        "proven": {"type": "boolean"},
        "evidence": {"enum": ["certified", "solver", "bounded", "none"]},
        "restrictions": rows(TEXT),
        "method": TEXT,
        "verified": {"type": "boolean"},
        "broken": rows(record({"rule": TEXT, "place": TEXT, "size": {"type": "number"}})),
        "seconds": {"type": "number", "minimum": 0},
        "cpu_seconds": {"type": "number", "minimum": 0},
        "evaluations": WHOLE,
        "seed": WHOLE,
        "workers": WHOLE,
    }
)
OPTIONS = record(
    {
        "batch": WHOLE,
        "fix": or_null({"type": "object", "additionalProperties": TEXT}),
        "min_throughput": NUMBER,
        "max_pes": WHOLE,
        "max_buffer": WHOLE,
        "model": {"type": ["string", "null"]},
    },
    {
        "dim": {"type": "object", "additionalProperties": {"type": "integer"}},
        "max_latency": {"type": "number"},
    },
)
PROBLEM = record(
    {
        "kind": TEXT,
        "workload": TEXT,
        "arch": {"type": ["string", "null"]},
        "objective": TEXT,
        "options": OPTIONS,
        "inputs": rows(record({"path": TEXT, "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"}})),
        "machine": or_null(OPEN),
        "structure": OPEN,
    }
)
ANSWER = {"cost": or_null(COST), "certificate": CERTIFICATE}
PART = record(
    {
        "name": TEXT,
        "source": TEXT,
        "same_as": {"type": ["string", "null"]},
        "mapping": or_null(OPEN),
        **ANSWER,
        "breakdown": or_null(OPEN),
    },
    {"merged": rows(record({"name": TEXT, "op": TEXT})), "history": rows(OPEN)},
)
SKIPPED = record({"name": TEXT, "op": TEXT, "reason": TEXT}, more=True)
SIMULATED = record(
    {
        "name": TEXT,
        "outputs_equal": {"type": "boolean"},
        "max_error": NUMBER,
        "cost_model": COST,
        "cost_simulated": COST,
        "agrees": {"type": "boolean"},
    },
    more=True,
)
CLAIM = record({"status": {"enum": ["optimal", "infeasible", "bounded"]}, "value": {}, "bound": {}})
PROOF = record(
    {
        "schema": {"const": "mapper.proof/1"},
        "kind": TEXT,
        "part": TEXT,
        "problem": OPEN,
        "problem_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "claim": CLAIM,
        "evidence": OPEN,
    }
)
_ROW = {"arch": {"type": ["string", "null"]}, **ANSWER}
_WORK = {"macs": WHOLE, "utilisation": NUMBER, "mapping": or_null(OPEN)}
_DESIGN = {"vary": OPEN, "arch": TEXT, "on_chip_bytes": WHOLE}
_COMPARED = {"anyOf": [record({"method": TEXT, **_ROW}), record({"arch": TEXT, "kind": TEXT}, more=True)]}
ANSWERS: dict[str, tuple[str, Schema]] = {
    "solution": (
        "What solve and evaluate answer",
        record(
            {
                "problem": PROBLEM,
                "parts": rows(PART),
                "skipped": rows(SKIPPED),
                **ANSWER,
                "versions": {"type": "object", "additionalProperties": TEXT},
            }
        ),
    ),
    "comparison": (
        "What compare answers: methods, or machines, in rows",
        record({"problem": OPEN, "rows": rows(_COMPARED)}, more=True),
    ),
    "sweep": (
        "What sweep answers",
        record({"problem": PROBLEM, "rows": rows(record({"vary": OPEN, **_ROW}, _WORK))}),
    ),
    "front": (
        "What solve --pareto and sweep --pareto answer",
        record(
            {
                "problem": PROBLEM,
                "points": rows(record({"mapping": or_null(OPEN), **ANSWER}, _DESIGN)),
                "complete": {"type": "boolean"},
            }
        ),
    ),
    "simulation": (
        "What simulate answers",
        record(
            {
                "outputs_equal": {"type": "boolean"},
                "max_error": NUMBER,
                "cost_model": COST,
                "cost_simulated": COST,
                "agrees": {"type": "boolean"},
                "failed": {"type": "boolean"},
                "parts": rows(SIMULATED),
                "data": record({"seed": {"type": "integer"}}, more=True),
            }
        ),
    ),
    "proofs": ("What solve --certificate writes and check reads", record({"proofs": rows(PROOF)})),
}
"""By name what a document is and its fields beside ``schema``."""
