"""Every field of every class of machine: what it is, its unit, and whose its meaning and published values are.

Types, limits and defaults are those of the definitions; the words stand in ``field.yaml``, by class and field.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mapper.workloads.text.structured_text import load_yaml

OURS = "this project"
"""Whose choice a value is that no publication gives."""


@dataclass(frozen=True)
class Told:
    """What people are told of a field; ``unit``: None if it has none."""

    meaning: str
    unit: str | None
    source: str


@dataclass(frozen=True)
class MachineField:
    """A field at its ``path`` in the document of a machine, with dots; ``owner`` is the class that defines it."""

    path: str
    owner: type[BaseModel]
    name: str
    info: FieldInfo

    @property
    def has_fields(self) -> bool:
        """Whether it is an object with fields of its own, or a list of such."""
        return any(True for _ in _parts(self.info.annotation))

    @property
    def told(self) -> Told | None:
        """None if ``field.yaml`` does not know the field."""
        return _words().get((self.owner.__module__.rpartition(".")[2], self.owner.__name__, self.name))


def machine_fields(machine: type[BaseModel], before: str = "") -> Iterator[MachineField]:
    """The fields of a machine, each followed by those inside it; entries of a list are written ``[]``."""
    for name, info in machine.model_fields.items():
        path = f"{before}{info.alias or name}"
        yield MachineField(path, machine, name, info)
        for inner, is_list in dict.fromkeys(_parts(info.annotation)):
            yield from machine_fields(inner, f"{path}{'[]' if is_list else ''}.")


def all_told() -> frozenset[tuple[str, str, str]]:
    """Module, class and name of every field that ``field.yaml`` knows."""
    return frozenset(_words())


def _parts(annotation: Any, is_list: bool = False) -> Iterator[tuple[type[BaseModel], bool]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, is_list
    for inner in get_args(annotation):
        yield from _parts(inner, is_list or getattr(annotation, "__origin__", None) in (list, tuple))


@cache
def _words() -> dict[tuple[str, str, str], Told]:
    text = files("mapper.arch").joinpath("field.yaml").read_text("utf-8")
    found = {}
    for place, fields in load_yaml(text).items():
        module, _, owner = place.partition(".")
        for name, (meaning, *rest) in fields.items():
            unit, source = (*rest, None, None)[:2]
            found[module, owner, name] = Told(meaning, unit, source or OURS)
    return found
