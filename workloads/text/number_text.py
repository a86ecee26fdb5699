"""Whole numbers as text: digits 0 to 9 and nothing else, however long the text is."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"[0-9]{1,30}")


def whole_number(text: str, least: int, most: int) -> int | None:
    """The number that ``text`` is, None if it is none from ``least`` to ``most`` (neither below 0)."""
    if not _DIGITS.fullmatch(text):
        return None
    number = int(text)
    return number if least <= number <= most else None
