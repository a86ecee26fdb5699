"""C files: from the text to one innermost loop of one function."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pycparser import c_ast, c_parser
from pycparser.c_parser import ParseError

from mapper.workloads.c.name import is_volatile, names_in, volatile_names
from mapper.workloads.c.preprocessor import LARGEST_HEADER_BYTES, preprocessed_by_system
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.c.text import DirectiveError, Origin, checked, preprocessed
from mapper.workloads.c.unit import Unit, cut
from mapper.workloads.document import InputError, decoded, read_bytes
from mapper.workloads.network.network import InputFile

REFUSED = {
    "Goto": "goto is outside the subset; use for and if",
    "Label": "labels are outside the subset; use for and if",
    "Struct": "structures are declared outside the loop; move it there",
    "Union": "unions are outside the subset; use numbers and arrays of them",
}
"""Per node type of the parser why it is refused inside a loop."""
VOLATILE = (
    "volatile words are outside the subset, as every access would be kept as written; leave volatile out"
)
_PARSERS_WORDS = re.compile(r"(?P<file>\d+):(?P<line>\d+):(?:(?P<column>\d+):)? *(?P<what>.*)", re.DOTALL)
Loop: TypeAlias = Any
"""A node of one of ``LOOPS``: the parser has no types."""
LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


@dataclass(frozen=True)
class LoopPlace:
    """One innermost loop: the file's global declarations and types, the functions that may be called, the function,
    and the loop. ``others``: how many more innermost loops the function has; ``files``: names by the number that
    coordinates give; ``inputs``: the headers that were read; ``structures``: those that are declared, by their tags;
    ``text``: the function with what it names, preprocessed; ``written``: the user's files, by their numbers."""

    source: str
    declarations: tuple[c_ast.Decl, ...]
    function: c_ast.FuncDef
    loop: Loop
    others: int
    types: Mapping[str, c_ast.Node] = field(default_factory=dict)
    callees: Mapping[str, c_ast.FuncDef] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    inputs: tuple[InputFile, ...] = ()
    structures: Mapping[str, c_ast.Struct] = field(default_factory=dict)
    text: str = ""
    written: Mapping[int, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The function's name."""
        return str(self.function.decl.name)

    def fault(self, node: c_ast.Node, remedy: str) -> InputError:
        """What is wrong at ``node``, in the user's own file, line and column."""
        origin = Origin(self.source, self.files, self.text, self.written)
        return fault(origin, node, self.name, remedy)


def fault(origin: Origin, node: c_ast.Node, name: str, remedy: str) -> InputError:
    """What is wrong at ``node`` in function ``name``."""
    at = node.coord
    place = origin.source if at is None else origin.place(str(at.file), at.line, at.column)
    return InputError(place, name, remedy)


def find_loop(
    text: str, source: str, function: str | None, number: int | None, reading: SourceReading
) -> LoopPlace:
    """The innermost loop ``number`` (from 0; None: the first) of ``function`` (None: the only one that loops).

    Raises: InputError if the text is not C, holds no such loop, or the loop is outside the subset.
    """
    places = find_loops(text, source, function, reading)
    first = places[0]
    if number is not None and number >= len(places):
        remedy = f"has {len(places)} innermost loops, counted from 0; give one of them"
        raise first.fault(first.function, remedy)
    check_subset(places[number or 0])
    return places[number or 0]


def find_loops(text: str, source: str, function: str | None, reading: SourceReading) -> tuple[LoopPlace, ...]:
    """All innermost loops of ``function`` (None: the only one that loops), in the order of the text.

    Raises: InputError if the text is not C, or holds no such function with a loop.
    """
    plain, inputs = expanded(text, source, reading)
    unit = cut(plain, source)
    written = {0: text, **_headers(unit, inputs)}
    chosen_name = _function(unit, function)
    parsed, own_text = _parsed(unit, chosen_name, written)
    defined = {str(one.decl.name): one for one in parsed.ext if isinstance(one, c_ast.FuncDef)}
    # In broken text the parser takes arrays, too, for functions with a body.
    if chosen_name not in defined or not isinstance(defined[chosen_name].decl.type, c_ast.FuncDecl):
        raise InputError(source, chosen_name[:80], "is no function that can be read; correct it")
    chosen = defined.pop(chosen_name)
    files = tuple(unit.files)
    loops = innermost(chosen.body)
    if not loops:
        origin = Origin(source, files, own_text, written)
        raise fault(origin, chosen, chosen_name, "has no loop; give a function with one")
    declarations = tuple(item for item in parsed.ext if isinstance(item, c_ast.Decl))
    types = {str(item.name): item.type for item in parsed.ext if isinstance(item, c_ast.Typedef)}
    structures = {str(one.name): one for one in _structures(parsed)}
    return tuple(
        LoopPlace(
            source, declarations, chosen, loop, len(loops) - 1, types, defined, files, inputs, structures, own_text,
            written,
        )
        for loop in loops
    )  # fmt: skip


def expanded(text: str, source: str, reading: SourceReading) -> tuple[str, tuple[InputFile, ...]]:
    """The text without directives. The system's preprocessor is asked only where the text needs one."""
    if not reading.define and not reading.include:
        try:
            return preprocessed(text, source), ()
        except DirectiveError:
            pass
    found = preprocessed_by_system(text, source, reading)
    return found.text, found.files


def _headers(unit: Unit, inputs: tuple[InputFile, ...]) -> dict[int, str]:
    """The texts of the user's headers, by their numbers."""
    found = {}
    for one in inputs:
        if one.path in unit.files:
            found[unit.files.index(one.path)] = decoded(
                read_bytes(Path(one.path), LARGEST_HEADER_BYTES), one.path
            )
    return found


def _parsed(unit: Unit, function: str, written: Mapping[int, str]) -> tuple[c_ast.FileAST, str]:
    """The chosen function with what it names, parsed and as text; without the functions that it calls where those
    cannot be read."""
    try:
        text = unit.around(function)
        return _parse(text, unit, written), text
    except InputError:
        text = unit.around(function, callees=False)
        return _parse(text, unit, written), text


def _parse(text: str, unit: Unit, written: Mapping[int, str]) -> c_ast.FileAST:
    source, parser = unit.source, c_parser.CParser()
    try:
        return parser.parse(checked(text, source), "0")
    except ParseError as error:
        number, line, column, what = _said(str(error), parser)
        origin = Origin(source, tuple(unit.files), text, written)
        place = origin.place(number, line, column) if line else source
        raise InputError(place, "", f"is not C that this reader understands ({what}); correct it") from None
    except RecursionError:
        raise InputError(source, "", "nested too deeply; flatten it") from None
    except (AssertionError, AttributeError, ValueError, IndexError, KeyError, TypeError) as error:
        # What the parser does not foresee in broken text it answers with one of these.
        raise InputError(source, "", f"is not C ({type(error).__name__} in the parser); correct it") from None


def _said(error: str, parser: Any) -> tuple[str, int, int | None, str]:
    """File, line (0: not known), column and fault of what the parser says; where it names no line, it is that of the
    word that it has come to."""
    found = _PARSERS_WORDS.match(error)
    if found is not None:
        column = None if found["column"] is None else int(found["column"])
        return found["file"], int(found["line"]), column, found["what"][:200]
    ahead = getattr(parser, "_tokens", None)
    word = None if ahead is None else ahead.peek(1)
    what = error.lstrip("0123456789: ")[:200]
    if word is None:
        return "", 0, None, what
    return str(word.filename), word.lineno, word.column, f"{what.lower()} at {word.value[:40]}"


def _function(unit: Unit, name: str | None) -> str:
    source, looping = unit.source, list(dict.fromkeys(unit.looping))
    if name is None:
        if len(looping) == 1:
            return looping[0]
        if not looping:
            raise InputError(source, "", "no function has a loop, or it is not C; give a file with one")
        raise InputError(
            source, "", f"several functions have loops; write {source}:NAME with one of {looping[:8]}"
        )
    if name not in {one.function for one in unit.chunks}:
        raise InputError(source, name[:80], f"is not a function in this file; give one of {looping[:8]}")
    return name


def _structures(node: c_ast.Node) -> list[c_ast.Struct]:
    """The structures that are declared with their members under ``node``."""
    own = [node] if isinstance(node, c_ast.Struct) and node.decls else []
    return own + [one for _, child in node.children() for one in _structures(child)]


def innermost(node: c_ast.Node) -> list[Loop]:
    """The loops under ``node`` that hold no other, in the order of the text."""
    found = [loop for _, child in node.children() for loop in innermost(child)]
    return [node] if isinstance(node, LOOPS) and not found else found


def check_subset(place: LoopPlace) -> None:
    """Raises InputError for what no loop may hold."""
    waiting: list[c_ast.Node] = [place.loop]
    volatile = _volatile(place)
    while waiting:
        node = waiting.pop()
        remedy = REFUSED.get(type(node).__name__)
        if remedy is not None and not (isinstance(node, c_ast.Struct) and node.decls is None):
            raise place.fault(node, remedy)
        if isinstance(node, c_ast.Cast | c_ast.Decl) and is_volatile(node):
            raise place.fault(node, VOLATILE)
        if isinstance(node, c_ast.ID) and node.name in volatile:
            raise place.fault(node, VOLATILE)
        waiting += [child for _, child in reversed(node.children())]


def _volatile(place: LoopPlace) -> frozenset[str]:
    """What is volatile of the names that a loop may use: variables, members, and functions that touch such."""
    types = frozenset(name for name, node in place.types.items() if is_volatile(node))
    known = volatile_names((place.function, *place.declarations, *place.structures.values()), types)
    touching = {
        name
        for name, one in place.callees.items()
        if is_volatile(one, types) or not known.isdisjoint(names_in(one))
    }
    return known | touching
