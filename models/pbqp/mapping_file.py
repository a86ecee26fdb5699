"""Assignments read from documents; the inverse of ``PbqpAssignment.to_json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.workloads.document import InputError
from mapper.workloads.pbqp.instance import PbqpInstance
from mapper.workloads.text.number_text import whole_number


def assignment_from_json(document: Mapping[str, Any], instance: PbqpInstance, source: str) -> PbqpAssignment:
    """The assignment of a document; whether its choices exist is the referee's to say.

    Raises: InputError if a vertex is missing, unknown, or has no whole number.
    """
    if set(document) != {"choice"} or not isinstance(document["choice"], Mapping):
        raise InputError(source, "mapping", 'must be {"choice": {"0": 2, ...}}')
    given: Mapping[str, Any] = document["choice"]
    found = []
    for vertex in range(instance.vertices):
        choice = given.get(str(vertex))
        if type(choice) is not int:
            raise InputError(source, f"choice.{vertex}", "must be the number of a choice, counted from 0")
        found.append(choice)
    for key in given:
        known = whole_number(str(key), 0, len(found) - 1)
        if known is None or str(known) != key:
            remedy = f"no such vertex; they count from 0 to {len(found) - 1}"
            raise InputError(source, f"choice.{str(key)[:40]}", remedy)
    return PbqpAssignment(tuple(found))
