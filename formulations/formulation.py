"""What a formulation is: sets, variables, constraint families and an objective, built and explained from the
same methods.

A formulation is a class whose marked methods are its mathematics. Each does one thing to the model, its
docstring says that in a sentence and the TeX attached to it says it in symbols. ``build`` calls them in the
order in which they are written and counts what each adds, so that what is explained is what is solved. The
methods work straight on the modelling layer of the library that solves the problem.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

from mapper.workloads.document import InputError

Kind = Literal["set", "variables", "family", "objective"]
Step = TypeVar("Step", bound=Callable[[Any], Any])


@dataclass(frozen=True)
class Part:
    """One marked method: what it is, its name, its sentence and its symbols (TeX, without delimiters)."""

    kind: Kind
    name: str
    sentence: str
    tex: str


@dataclass(frozen=True)
class BuiltPart:
    """A part with this instance's counts: members of a set, or variables and constraints it added."""

    part: Part
    members: int
    variables: int
    constraints: int


def index_set(tex: str) -> Callable[[Step], Step]:
    """Marks a method that returns how many members a set of this instance has."""
    return _marked("set", tex)


def variables(tex: str) -> Callable[[Step], Step]:
    """Marks a method that adds variables."""
    return _marked("variables", tex)


def family(tex: str) -> Callable[[Step], Step]:
    """Marks a method that adds one family of constraints, and the auxiliary variables it needs."""
    return _marked("family", tex)


def objective(tex: str) -> Callable[[Step], Step]:
    """Marks the method that states what is minimised or maximised."""
    return _marked("objective", tex)


def _marked(kind: Kind, tex: str) -> Callable[[Step], Step]:
    def mark(step: Step) -> Step:
        sentence = inspect.getdoc(step)
        if not sentence:
            raise TypeError(
                f"{step.__name__}: a {kind} of a formulation needs a docstring that says it in words"
            )
        step.formulation_part = Part(kind, step.__name__, " ".join(sentence.split()), tex)  # type: ignore[attr-defined]
        return step

    return mark


class Formulation(ABC):
    """Base of all formulations. A subclass sets ``title`` and the forms ``exports`` in which its library can
    write a model, takes its instance in ``__init__``, and is built once by ``build``."""

    title: ClassVar[str]
    exports: ClassVar[tuple[str, ...]]
    built: tuple[BuiltPart, ...] = ()

    @abstractmethod
    def size(self) -> tuple[int, int]:
        """Variables and constraints the library's model has now."""

    @abstractmethod
    def instance(self) -> str:
        """Which instance this is, in a few words."""

    @classmethod
    def parts(cls) -> tuple[Part, ...]:
        """The marked methods in the order in which they are written, those of base classes first."""
        found: dict[str, Part] = {}
        for owner in reversed(cls.__mro__):
            for name, member in vars(owner).items():
                part = getattr(member, "formulation_part", None)
                if isinstance(part, Part):
                    found[name] = part
        return tuple(found.values())

    def build(self) -> tuple[BuiltPart, ...]:
        """Call every part once, in order; the counts are what the model itself grew by."""
        built = []
        for part in self.parts():
            before = self.size()
            members = getattr(self, part.name)()
            after = self.size()
            count = members if part.kind == "set" else 0
            built.append(BuiltPart(part, count, after[0] - before[0], after[1] - before[1]))
        self.built = tuple(built)
        return self.built

    @abstractmethod
    def exported(self, form: str) -> str:
        """The model as text in a form of ``exports``."""

    def export(self, form: str) -> str:
        """The model as text.

        Raises: InputError if the library cannot write this form.
        """
        if form not in self.exports:
            remedy = f"the formulation has no such form; it can be written as {' or '.join(self.exports)}"
            raise InputError("--export", form, remedy)
        return self.exported(form)
