"""Recurrences as YAML or JSON documents (schema ``mapper.recurrence/1``), and loop nests that are recurrences."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.workloads.document import InputError, validation_error
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import MOST_ITERATIONS, Bound, Name
from mapper.workloads.recurrence.expression import parse_statement
from mapper.workloads.recurrence.recurrence import Access, Operation, Operator, Recurrence, Statement, Term

RECURRENCE_SCHEMA = "mapper.recurrence/1"
Text = Annotated[str, Field(min_length=1, max_length=512)]


class RecurrenceDocument(BaseModel):
    """Loops outer to inner with their bounds, statements in sequence, and tensors that stay in the array."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    schema_name: Literal["mapper.recurrence/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=64)]
    loops: Annotated[dict[Name, Bound], Field(min_length=1, max_length=6)]
    statements: Annotated[list[Text], Field(min_length=1, max_length=32)]
    local: Annotated[list[Name], Field(max_length=32)] = []


def recurrence_from_document(fields: dict[str, Any], source: str) -> Recurrence:
    """The recurrence of a document.

    Raises: InputError naming the field that is wrong and what to write instead.
    """
    try:
        document = RecurrenceDocument.model_validate(fields)
    except ValidationError as error:
        raise validation_error(error, source, RecurrenceDocument) from None
    if math.prod(document.loops.values()) > MOST_ITERATIONS:
        raise InputError(source, "loops", f"more than {MOST_ITERATIONS:.0e} iterations; lower the bounds")
    loops = tuple(document.loops)
    statements = tuple(
        parse_statement(text, loops, source, f"statements.{place}")
        for place, text in enumerate(document.statements)
    )
    found = Recurrence(document.name, tuple(document.loops.items()), statements, frozenset(document.local))
    _check(found, source)
    return found


def recurrence_to_document(recurrence: Recurrence) -> dict[str, Any]:
    """The document that reads back as ``recurrence``."""
    return {
        "schema": RECURRENCE_SCHEMA,
        "name": recurrence.name,
        "loops": recurrence.trip_counts,
        "statements": [str(statement) for statement in recurrence.statements],
        "local": sorted(recurrence.local),
    }


def carries_values(nest: LoopNest) -> bool:
    """Whether iterations of ``nest`` read what others have written, other than in a sum."""
    target = next(operand for operand in nest.operands if operand.writes)
    names = [operand.tensor or operand.name for operand in nest.operands]
    return bool(nest.dependences) or names.count(target.tensor or target.name) > 1


def recurrence_of_nest(nest: LoopNest, source: str) -> Recurrence:
    """A nest of one statement that carries values from iteration to iteration, as a recurrence.

    Raises: InputError if its dependences are not uniform.
    """
    target = next(operand for operand in nest.operands if operand.writes)
    if target.access != "write":
        remedy = "is summed and read elsewhere too; write the nest as statements, schema mapper.recurrence/1"
        raise InputError(source, f"operands.{target.name}", remedy)
    operator: Operator = "*" if nest.operation == "multiply_add" else "+"
    value: Term | None = None
    for operand in nest.operands:
        if operand is not target:
            access = Access(operand.tensor or operand.name, operand.index)
            value = access if value is None else Operation(operator, value, access)
    statement = Statement(Access(target.tensor or target.name, target.index), 0 if value is None else value)
    found = Recurrence(nest.name, nest.bounds, (statement,))
    _check(found, source, "operands")
    return found


def _check(recurrence: Recurrence, source: str, field: str = "statements") -> None:
    unknown = sorted(recurrence.local - set(recurrence.alternatives))
    if unknown:
        raise InputError(source, "local", f"{unknown[0]} is not written; remove it")
    if not recurrence.results:
        raise InputError(source, "local", "no tensor leaves the array; leave one out of the list")
    ranks: dict[str, int] = {}
    for statement in recurrence.statements:
        for access in (statement.target, *statement.reads):
            rank = ranks.setdefault(access.tensor, len(access.index))
            if rank != len(access.index):
                raise InputError(
                    source, field, f"{access.tensor} has different numbers of dimensions; name them apart"
                )
    order = list(recurrence.alternatives)
    read = {access.tensor for statement in recurrence.statements for access in statement.reads}
    for place, statement in enumerate(recurrence.statements):
        where = f"{field}.{place}" if field == "statements" else field
        _check_target(recurrence, statement, statement.target.tensor in read, source, where)
        if recurrence.region(statement).last() is None:
            raise InputError(source, where, "no iteration keeps its conditions; correct or remove it")
    for place, statement in enumerate(recurrence.statements):
        where = f"{field}.{place}" if field == "statements" else field
        for access in statement.reads:
            if access.tensor in recurrence.alternatives:
                _check_read(recurrence, statement, access, order, source, where)


def _check_target(
    recurrence: Recurrence, statement: Statement, is_read: bool, source: str, where: str
) -> None:
    target = statement.target
    if target.index != recurrence.alternatives[target.tensor][0].target.index:
        raise InputError(source, where, f"{target.tensor} is written through two indexes; use one of them")
    named = [loop for dimension in target.index for loop, _ in dimension.coefficients]
    plain = all(len(one.coefficients) == 1 and one.coefficients[0][1] == 1 for one in target.index)
    if not plain or len(set(named)) < len(named):
        remedy = f"{target} must have one loop, plus or minus a number, in each dimension"
        raise InputError(source, where, remedy)
    missing = [loop for loop in recurrence.loops if loop not in named]
    if not missing:
        return
    if is_read or target.tensor in recurrence.local:
        remedy = f"{target.tensor} is read, so that its index needs {missing[0]} too: every iteration has its own value"
        raise InputError(source, where, remedy)
    for loop in missing:
        if not _says_which(recurrence, statement, loop, named):
            remedy = f"every iteration of {loop} writes {target.tensor}; say which one, as in: if {loop} == 0"
            raise InputError(source, where, remedy)


def _says_which(recurrence: Recurrence, statement: Statement, loop: str, named: list[str]) -> bool:
    """Whether a statement's conditions leave one iteration of ``loop``, perhaps for each of a loop that is
    ``named``."""
    low, high = recurrence.region(statement).sides[loop]
    if low == high:
        return True
    differences = {(limit.loop, limit.other): limit.most for limit in statement.limits}
    return any(
        (loop, other) in differences
        and (other, loop) in differences
        and differences[loop, other] == -differences[other, loop]
        for other in named
    )


def _check_read(
    recurrence: Recurrence, statement: Statement, access: Access, order: list[str], source: str, where: str
) -> None:
    target = recurrence.alternatives[access.tensor][0].target
    for ours, theirs in zip(target.index, access.index, strict=True):
        if ours.coefficients != theirs.coefficients:
            remedy = (
                f"{access} differs from {target} by more than numbers, so that its distance is not constant"
            )
            raise InputError(source, where, f"{remedy}; read it from its neighbours")
    distance = recurrence.distance(access)
    assert distance is not None
    leading = next((step for step in distance if step), 0)
    later = order.index(access.tensor) >= order.index(statement.target.tensor)
    if leading < 0 or (leading == 0 and later):
        remedy = f"{access} is read before an iteration has written it; write an earlier value, or change the loops"
        raise InputError(source, where, remedy)
