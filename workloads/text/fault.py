"""What is wrong with a validated document, in words for whoever wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, get_args

from pydantic import BaseModel

from mapper.workloads.text.nearest import meant

WORDS = {
    "missing": "is missing; add it",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text; put it in quotes",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "frozen_set_type": "must be a list",
    "set_type": "must be a list",
    "dict_type": "must be an object of named fields (key: value)",
    "mapping_type": "must be an object of named fields (key: value)",
    "model_type": "must be an object of named fields (key: value)",
    "model_attributes_type": "must be an object of named fields (key: value)",
    "none_required": "must be left empty",
}
"""By the kind of fault; others have their own limits in the message, which is reworded."""
REWORDED = (
    (r"^(Value error|Assertion failed), ", ""),
    (r"greater than or equal to", "at least"),
    (r"less than or equal to", "at most"),
    (r"greater than", "more than"),
    (r"^(Input|String|Value|Tuple|List|Dictionary) should", "must"),
    (r"\bvalid integer\b", "whole number"),
    (r" after validation, not (\d+)", r", not \1"),
    (r"\bitems?\b", "entries"),
    (r"\b1 entries", "1 entry"),
    (r"^Input tag .* does not match any of the expected tags: ", "must be one of "),
    (r"^Unable to extract tag .*", "does not say which sort it is; see `mapper show` for an example"),
)


NAMED = ("literal_error", "enum")
"""Faults of a value that is none of those with a name."""
CHOICES = re.compile(r"'([^']*)'")
"""The values that Pydantic offers, in the message of a value that is none of them."""


def in_words(fault: str, message: str, field: str, known: Iterable[str], given: object) -> str:
    """The fault of a kind that Pydantic names, with its message, at a ``field``; ``known`` are the keys that there are
    beside it, ``given`` is the value."""
    if fault == "extra_forbidden":
        return f"unknown key; {meant(field, known)}remove or correct it"
    if fault in WORDS:
        return WORDS[fault]
    for pattern, instead in REWORDED:
        message = re.sub(pattern, instead, message)
    if fault in NAMED and isinstance(given, str):
        message = meant(given, CHOICES.findall(message)) + message
    return message[:300]


def steps(kind: type[BaseModel], place: Iterable[int | str]) -> list[int | str]:
    """The steps of a place in a document without the names that Pydantic gives to the ways one value may be written."""
    ways = {model.__name__ for model in _all_models(kind, set())} | {"int", "float", "str", "bool"}
    return [step for step in place if isinstance(step, int) or not (step in ways or "[" in step)]


def keys_at(kind: type[BaseModel], place: Iterable[int | str]) -> list[str]:
    """The keys that a document of this kind may have at a place. Steps that name no field (entries of a list, keys of
    a table, the sort of one of several) lead to where they came from."""
    models = {kind}
    for step in place:
        fields = [
            field
            for model in models
            for name, field in model.model_fields.items()
            if step in (name, field.alias)
        ]
        models = {model for field in fields for model in _models(field.annotation)} if fields else models
    return [field.alias or name for model in models for name, field in model.model_fields.items()]


def _all_models(kind: type[BaseModel], seen: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """The kind and all that it is made of."""
    if kind not in seen:
        seen.add(kind)
        for field in kind.model_fields.values():
            for model in _models(field.annotation):
                _all_models(model, seen)
    return seen


def _models(annotation: Any) -> set[type[BaseModel]]:
    """The kinds of documents that an annotation mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    return {model for inner in get_args(annotation) for model in _models(inner)}
