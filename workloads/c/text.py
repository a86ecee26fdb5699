"""C text before it is parsed: comments, line continuations, and constants named by #define."""

from __future__ import annotations

import re

from mapper.workloads.document import InputError

LONGEST_CONSTANT = 200
MOST_CONSTANTS = 1000
LONGEST_TEXT = 1 << 19
MOST_TOKENS = 100_000
MOST_REPEATED = 64
"""Brackets, parentheses and stars right after each other: what the parser makes of them grows with their square."""
OWN_NAMES = {"__restrict__": "restrict", "__restrict": "restrict"}

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_DEFINE = re.compile(r"#\s*define\s+([A-Za-z_]\w*)(\(?)[ \t]*(.*)")
_IGNORED = re.compile(r"#\s*pragma\b|#\s*$")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_REPEATED = re.compile(rf"(?:(?:\[[^\[\]]*\]|\([^()]*\)|\*)\s*){{{MOST_REPEATED + 1}}}")
_CONSTANT = re.compile(r"[\w.+\-*/%<>&|^~() ]+")


class DirectiveError(InputError):
    """A directive that only a whole preprocessor can follow."""


def preprocessed(text: str, source: str) -> str:
    """``text`` without comments and directives, its object-like constants replaced, its lines in place.

    Raises: DirectiveError for any but ``#pragma`` and ``#define`` of numbers or arithmetic of numbers; InputError if
    the text becomes too long.
    """
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n") + " ", text)
    text = re.sub(r"\\[ \t]*\n", " ", text)
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
