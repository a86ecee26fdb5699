"""Texts of a language with tokens dropped, repeated, swapped and replaced by hostile ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from tests.fuzz.mutation.byte import LARGEST_BYTES

HOSTILE = (
    "0", "-1", "1e999", "nan", "inf", "0x7fffffff", "2147483648", "9" * 30, "9" * 5000, "0.1", "1.", ".5", "٣",
    "", " ", "\n", "\t", "\0", "\ufeff", "\u202e", "é", "名前", "\U0001f600", "<script>alert(1)</script>",
    "'", '"', "\\", "/*", "*/", "//", "#", "%s", "{}", "x" * 10000, "_", "None", "true", "../../etc/passwd",
)  # fmt: skip
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


def mutated_text(data: bytes, words: Sequence[str], random: Random) -> bytes:
    """``data`` as UTF-8 text with one change; ``words`` are what means something in the language."""
    tokens = _TOKEN.findall(data.decode("utf-8", "replace")) or [""]
    at = random.randrange(len(tokens))
    match random.randrange(9):
        case 0:
            del tokens[at : at + random.choice((1, 2, 5))]
        case 1:
            tokens[at:at] = tokens[at : at + random.choice((1, 3, 10))] * random.choice((1, 2, 50))
        case 2:
            other = random.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3 | 4:
            tokens[at] = random.choice(words)
        case 5:
            tokens[at] = random.choice(HOSTILE)
        case 6:
            tokens.insert(at, random.choice(words))
        case 7:
            opening, closing = random.choice((("(", ")"), ("[", "]"), ("{", "}"), ("<a>", "</a>"), ("-", "")))
            depth = random.choice((3, 100, 5000))
            tokens[at] = opening * depth + tokens[at] + closing * depth
        case _:
            tokens[at] = _nudged(tokens[at], random)
    return "".join(tokens).encode("utf-8", "replace")[:LARGEST_BYTES]


def _nudged(token: str, random: Random) -> str:
    """A number a little or much larger, a word a little different."""
    if token.isascii() and token.isdecimal() and len(token) < 100:
        number = int(token)
        return str(random.choice((number + 1, number - 1, -number, number * 1000, 1 << 31, number // 2)))
    return token + random.choice(("_", "0", token))
