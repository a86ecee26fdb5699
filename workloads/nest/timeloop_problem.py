"""Timeloop's problem files: a shape (dimensions, data spaces with projections) and an instance of it."""

from __future__ import annotations

import re
from typing import Any

from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import NEST_SCHEMA, nest_from_document
from mapper.workloads.nest.timeloop_base import problem_fields
from mapper.workloads.network.network import InputFile

_ROOT = re.compile(r"^[\"']?problem[\"']?[ \t]*:", re.MULTILINE)
_SCHEMA = re.compile(r"^\s*[\"']?schema[\"']?[ \t]*:", re.MULTILINE)
SHAPE_KEYS = {"name", "dimensions", "coefficients", "data_spaces", "dataspaces", "version"}
SPACE_KEYS = {"name", "projection", "read_write"}


def is_timeloop_problem(text: str) -> bool:
    """Whether a text is a problem file of Timeloop's: its root, and no ``schema``."""
    return _ROOT.search(text) is not None and _SCHEMA.search(text) is None


def timeloop_nest(text: str, source: str) -> tuple[LoopNest, tuple[InputFile, ...]]:
    """The loop nest of a problem file, and the files that it includes.

    Raises: InputError if it is none, or says what cannot be represented.
    """
    fields, files = problem_fields(text, source)
    return _problem_nest(fields, source), files


def _problem_nest(fields: Any, source: str) -> LoopNest:
    problem = _object(fields, "problem", source)
    shape = problem.get("shape", problem)
    if isinstance(shape, str):
        raise InputError(source, "problem.shape", f"{shape[:40]!r} is a name; write out its data spaces")
    shape = _object(shape, "problem.shape", source)
    instance = _object(problem.get("instance", problem), "problem.instance", source)
    if shape is not problem and set(shape) - SHAPE_KEYS:
        key = min(map(str, set(shape) - SHAPE_KEYS))
        raise InputError(source, f"problem.shape.{key[:40]}", "cannot be represented here; remove it")
    _dense(instance, source)
    return _nest(shape, instance, source)


def _object(value: Any, field: str, source: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(source, field, "must be an object")
    return value


def _dense(instance: dict[str, Any], source: str) -> None:
    densities = instance.get("densities", instance.get("commonDensities"))
    if densities and any(
        value not in (1, 1.0) for value in _object(densities, "problem.instance", source).values()
    ):
        raise InputError(
            source, "problem.instance.densities", "sparse tensors cannot be represented; remove it"
        )


def _nest(shape: dict[str, Any], instance: dict[str, Any], source: str) -> LoopNest:
    dimensions = shape.get("dimensions")
    if isinstance(dimensions, str):
        dimensions = re.split(r"[\s,]+", dimensions.strip())
    if not isinstance(dimensions, list) or not dimensions:
        raise InputError(source, "problem.shape.dimensions", "must list the loops")
    coefficients = _coefficients(shape, instance, source)
    _spelled([*map(str, dimensions), *coefficients], instance, source)
    spaces = shape.get("data_spaces", shape.get("dataspaces"))
    if not isinstance(spaces, list) or not spaces:
        raise InputError(source, "problem.shape.data_spaces", "must list the tensors")
    operands = [
        _operand(_object(one, "problem.shape.data_spaces", source), coefficients, source) for one in spaces
    ]
    used = set(re.findall(r"[A-Za-z_]\w*", " ".join(text for one in operands for text in one["index"])))
    loops = {}
    for name in dimensions:
        bound = instance.get(name)
        if type(bound) is not int or bound < 1:
            raise InputError(source, f"problem.instance.{str(name)[:40]}", "must be a positive integer")
        if bound > 1 or name in used:
            loops[name] = bound
    name = shape.get("name") or "problem"
    return nest_from_document(
        {"schema": NEST_SCHEMA, "name": str(name)[:64], "loops": loops, "operands": operands}, source
    )


def _spelled(names: list[str], instance: dict[str, Any], source: str) -> None:
    """Refuse what is meant for a loop or coefficient and is none: Timeloop would take the default for it."""
    for key in map(str, instance):
        for name in names:
            if key != name and key.lower() == name.lower() and key not in names:
                raise InputError(
                    source, f"problem.instance.{key[:40]}", f"is no name of the shape; write {name}"
                )


def _coefficients(shape: dict[str, Any], instance: dict[str, Any], source: str) -> dict[str, int]:
    found = {}
    for entry in shape.get("coefficients") or []:
        name = str(_object(entry, "problem.shape.coefficients", source).get("name"))
        value = instance.get(name, entry.get("default"))
        if type(value) is not int:
            raise InputError(source, f"problem.instance.{name[:40]}", "must be an integer")
        found[name] = value
    return found


def _operand(space: dict[str, Any], coefficients: dict[str, int], source: str) -> dict[str, Any]:
    name = str(space.get("name", ""))
    field = f"problem.shape.data_spaces.{name[:40]}"
    if set(space) - SPACE_KEYS:
        key = min(map(str, set(space) - SPACE_KEYS))
        raise InputError(source, f"{field}.{key[:40]}", "cannot be represented here; remove it")
    projection = space.get("projection")
    if not isinstance(projection, list) or not projection:
        raise InputError(source, f"{field}.projection", "must list the loops of each dimension")
    index = [_index(one, coefficients, f"{field}.projection", source) for one in projection]
    return {"tensor": name, "index": index, "access": "read_write" if space.get("read_write") else "read"}


def _index(dimension: Any, coefficients: dict[str, int], field: str, source: str) -> str:
    """``[[R, Wdilation], [P, Wstride]]`` as ``1*R + 2*P``."""
    terms = []
    for term in dimension if isinstance(dimension, list) else [dimension]:
        loop, *factors = term if isinstance(term, list) else [term]
        value = 1
        for factor in factors:
            if factor not in coefficients:
                raise InputError(source, field, f"{str(factor)[:40]!r} is no coefficient of the shape")
            value *= coefficients[factor]
        if not isinstance(loop, str):
            raise InputError(source, field, "must name loops")
        terms.append(f"{value}*{loop}")
    return " + ".join(terms)
