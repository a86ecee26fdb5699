"""C text before it is parsed: comments, line continuations, and constants named by #define."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from mapper.workloads.document import InputError

LONGEST_CONSTANT = 200
MOST_CONSTANTS = 1000
LONGEST_TEXT = 1 << 19
MOST_TOKENS = 100_000
MOST_REPEATED = 64
"""Brackets, parentheses and stars right after each other: what the parser makes of them grows with their square."""
OWN_NAMES = {"__restrict__": "restrict", "__restrict": "restrict"}

MOST_ALIGNED = 500
"""Words and signs of a line in which a place is looked for."""

_COMMENT = re.compile(
    r'"(?:[^"\\\n]|\\.)*+"?|\'(?:[^\'\\\n]|\\.)*+\'?|(?P<comment>/\*.*?(?P<end>\*/|\Z)|//[^\n]*)', re.DOTALL
)
"""A comment, or what holds none."""
_MARK = re.compile(r'#\s*(\d+)(?:\s*"(\d*)")?')
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_DEFINE = re.compile(r"#\s*define\s+([A-Za-z_]\w*)(\(?)[ \t]*(.*)")
_IGNORED = re.compile(r"#\s*pragma\b|#\s*$")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_REPEATED = re.compile(rf"(?:(?:\[[^\[\]]*\]|\([^()]*\)|\*)\s*){{{MOST_REPEATED + 1}}}")
_CONSTANT = re.compile(r"[\w.+\-*/%<>&|^~() ]+")


@dataclass(frozen=True)
class Origin:
    """Where the text that is parsed comes from: ``files`` are the names by the numbers in its line marks, ``read`` the
    text itself, ``written`` the user's own texts by the same numbers."""

    source: str
    files: tuple[str, ...] = ()
    read: str = ""
    written: Mapping[int, str] = field(default_factory=dict)

    def place(self, file: str, line: int, column: int | None) -> str:
        """``FILE:LINE:COLUMN`` as the user has it, without the column if the preprocessor's doings hide it."""
        number = int(file) if file.isdecimal() and int(file) < len(self.files) else None
        name = self.source if number is None else self.files[number]
        if number is None or column is None or number not in self.written:
            return f"{name}:{line}"
        lines = _COMMENT.sub(_blank, self.written[number]).split("\n")
        if not 0 < line <= len(lines):
            return f"{name}:{line}"
        found = _column(self._line(number, line), column, lines[line - 1])
        return f"{name}:{line}" if found is None else f"{name}:{line}:{found}"

    def _line(self, number: int, line: int) -> str:
        """The line of the text that is parsed; where several stand for one of the user's, the last."""
        file, at, found = 0, 0, ""
        for one in self.read.split("\n"):
            at += 1
            mark = _MARK.match(one)
            if mark is not None:
                at, file = int(mark[1]) - 1, int(mark[2]) if mark[2] else file
            elif (file, at) == (number, line):
                found = one
        return found


def _blank(found: re.Match[str]) -> str:
    if found["comment"] is None:
        return found[0]
    return re.sub(r"[^\n]", " ", found[0])


def _column(read: str, column: int, written: str) -> int | None:
    """The column, from 1, in the user's line ``written`` of what stands in ``column`` of the line ``read`` that the
    preprocessor has made of it: of the same word, or of the macro that the word comes from."""
    ours, own = list(_TOKEN.finditer(read)), list(_TOKEN.finditer(written))
    at = next((at for at, one in enumerate(ours) if one.start() < column <= one.end()), None)
    if at is None or not own or max(len(ours), len(own)) > MOST_ALIGNED:
        return None
    matcher = SequenceMatcher(None, [one[0] for one in ours], [one[0] for one in own], autojunk=False)
    for what, begin, end, there, _ in matcher.get_opcodes():
        if what == "equal" and begin <= at < end:
            return own[there + at - begin].start() + 1
        if begin <= at < end:
            known = {one[0] for one in ours}
            last = min(there, len(own) - 1)
            macro = next((one for one in own[last::-1] if one[0] not in known), own[last])
            return macro.start() + 1
    return None


class DirectiveError(InputError):
    """A directive that only a whole preprocessor can follow."""


def preprocessed(text: str, source: str) -> str:
    """``text`` without comments and directives, its object-like constants replaced, its lines in place.

    Raises: DirectiveError for any but ``#pragma`` and ``#define`` of numbers or arithmetic of numbers; InputError if
    the text becomes too long.
    """
    _refuse_open_comment(text, source)
    text = _COMMENT.sub(_emptied, text)
    text = _joined(text)
    constants = dict(OWN_NAMES)
    lines: list[str] = []
    length = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.lstrip().startswith("#"):
            lines.append(_NAME.sub(lambda found: constants.get(found[0], found[0]), line))
            length += len(lines[-1])
            if length > LONGEST_TEXT:
                raise InputError(
                    source, f"line {number}", "its constants make the text too long; give a smaller one"
                )
            continue
        lines.append("")
        if _IGNORED.match(line.lstrip()):
            continue
        define = _DEFINE.match(line.lstrip())
        if define is None:
            raise DirectiveError(source, f"line {number}", "only a preprocessor can follow this; install one")
        constants[define[1]] = _constant(define, constants, f"{source}:{number}")
        if len(constants) > MOST_CONSTANTS:
            raise InputError(source, f"line {number}", f"more than {MOST_CONSTANTS} #defines; give fewer")
    return "\n".join(lines)


def _emptied(found: re.Match[str]) -> str:
    if found["comment"] is None:
        return found[0]
    return "\n" * found[0].count("\n") + " "


def _joined(text: str) -> str:
    """``text`` with lines that go on in the next in one; empty ones after it keep the others where they are."""
    found: list[str] = []
    parts: list[str] = []
    for line in text.split("\n"):
        end = line.rstrip(" \t")
        if end.endswith("\\"):
            parts.append(end[:-1])
            continue
        found += [" ".join([*parts, line]), *[""] * len(parts)]
        parts = []
    return "\n".join([*found, *parts])


def _refuse_open_comment(text: str, source: str) -> None:
    for found in _COMMENT.finditer(text):
        if found["end"] == "":
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            raise InputError(f"{source}:{line}:{column}", "", "a comment is not closed; end it with */")


def checked(found: str, source: str) -> str:
    """Preprocessed text, if the parser can be given it.

    Raises: InputError if it is too large, or brackets follow each other without end.
    """
    if len(found) > LONGEST_TEXT or sum(1 for _ in _TOKEN.finditer(found)) > MOST_TOKENS:
        raise InputError(source, "", f"more than {MOST_TOKENS} words and signs; give a smaller file")
    repeated = _REPEATED.search(found)
    if repeated is not None:
        raise InputError(source, "", f"more than {MOST_REPEATED} brackets or stars in a row; give fewer")
    return found


def _constant(define: re.Match[str], known: dict[str, str], place: str) -> str:
    if define[2]:
        raise DirectiveError(place, define[1], "is a macro with parameters; write it out where it is used")
    value = _NAME.sub(lambda found: known.get(found[0], found[0]), define[3].strip())
    if len(value) > LONGEST_CONSTANT or not _CONSTANT.fullmatch(value) or _NAME.search(value):
        raise DirectiveError(
            place, define[1], "is not a constant; #define it as a number or arithmetic of numbers"
        )
    return f"({value})"
