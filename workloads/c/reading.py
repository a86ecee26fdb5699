"""How C and LLVM IR are read: what the user says beside the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mapper.workloads.document import InputError
from mapper.workloads.loop.passes import ALL, PASSES, PUBLISHED, USUAL

MOST_GIVEN = 64
LONGEST = 1000


@dataclass(frozen=True)
class SourceReading:
    """``include``: folders of headers; ``define``: macros as NAME or NAME=VALUE; ``without``: passes that are left
    out; ``added``: passes that usually are.

    Raises: InputError if a macro is none, there are too many, or there is no such pass.
    """

    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given = (*self.include, *self.define)
        if len(given) > MOST_GIVEN or any(len(one) > LONGEST or "\0" in one or "\n" in one for one in given):
            raise InputError("--define", "", f"more than {MOST_GIVEN} values, or a long one; give fewer")
        for one in self.define:
            if not one.partition("=")[0].isidentifier():
                raise InputError("--define", one[:60], "is no macro; write NAME or NAME=VALUE")
        for option, names in (("--without-pass", self.without), ("--with-pass", self.added)):
            for one in names:
                if one not in PASSES:
                    raise InputError(option, one[:60], f"is no pass; give one of {', '.join(PASSES)}")

    @property
    def passes(self) -> frozenset[str]:
        """The passes that run."""
        return (USUAL | set(self.added)) - set(self.without)

    def to_json(self) -> dict[str, Any]:
        """What documents hold, without what is not given."""
        fields = {
            "include": self.include,
            "define": self.define,
            "without": self.without,
            "added": self.added,
        }
        return {key: list(values) for key, values in fields.items() if values}


AS_WRITTEN = SourceReading()


def reading_from_json(fields: Any, source: str) -> SourceReading:
    """The reading that a document holds.

    Raises: InputError if it is none.
    """
    wrong = InputError(
        source, "problem.options.source", "must hold lists of texts named include, define, without, added"
    )
    if not isinstance(fields, Mapping) or set(fields) - {"include", "define", "without", "added"}:
        raise wrong
    if not all(
        isinstance(one, list) and all(isinstance(item, str) for item in one) for one in fields.values()
    ):
        raise wrong
    return SourceReading(**{key: tuple(values) for key, values in fields.items()})


AS_PUBLISHED = SourceReading(without=tuple(sorted(ALL - PUBLISHED)))
"""With no more than [Bae2018] describes."""
