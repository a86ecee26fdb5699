"""What somebody may have meant who wrote a name that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

CLOSE = 0.6
"""How alike a name must be to be meant; 1 is the same."""
LONGEST = 80
SHORTEST_BEGINNING = 3


def meant(given: str, names: Iterable[str], most: int = 1) -> str:
    """``did you mean NAME? ``, to stand before what else there is to say; nothing where no name is close."""
    near = nearest(given, names, most)
    return f"did you mean {' or '.join(near)}? " if near else ""


def nearest(given: str, names: Iterable[str], most: int = 3, close: float = CLOSE) -> list[str]:
    """The ``names`` that are most like what was given, the closest first, each once: what has the same words between
    its dots the other way round; where none is close, those that begin with it, the shortest first."""
    by_form = {name.lower(): name for name in names}
    form = given[:LONGEST].lower()
    turned = ".".join(reversed(form.split(".")))
    if turned != form and turned in by_form:
        return [by_form[turned]]
    found = difflib.get_close_matches(form, by_form, most, close)
    begun = (name for name in by_form if len(form) >= SHORTEST_BEGINNING and name.startswith(form))
    return [by_form[one] for one in found or sorted(begun, key=len)[:most]]
