"""Published values from a paper's tables and figures, next to those that this project computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal
from xml.etree.ElementTree import Element

Value = Decimal | int | float | str
Verdict = Literal["agrees", "fitted", "differs", "not published", "not computed"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "fitted", "differs", "not published", "not computed")


def agree(published: Value, computed: Value) -> bool:
    """Whether the computed value is printed like the published one: rounded, or cut off, after its last digit."""
    if isinstance(published, str) or isinstance(computed, str):
        return published == computed
    printed, found = Decimal(str(published)), Decimal(str(computed))
    exponent = printed.as_tuple().exponent
    assert isinstance(exponent, int), "not a number"
    last = Decimal(1).scaleb(exponent)
    return -last / 2 <= found - printed < last


@dataclass(frozen=True)
class Row:
    """One quantity at its place in the paper, with the published and the computed value in ``unit``.

    ``published`` is None where the text of the paper has no value, ``computed`` where there is nothing to compute it
    from. Its digits say how exactly a number is printed: ``Decimal("9.02e3")`` stands for 9020 known to three.
    ``clocked`` are seconds of the machine this runs on, which agree with nothing but by chance. ``fitted`` says which
    parameter was taken from the published value itself: that the two are then equal says nothing.

    Raises: ValueError if the row does not agree and gives no reason, or agrees and gives one.
    """

    place: str
    quantity: str
    published: Value | None
    unit: str
    computed: Value | None
    reason: str = ""
    clocked: bool = False
    fitted: str = ""

    def __post_init__(self) -> None:
        said = f"{self.place}, {self.quantity}: {self.computed} beside {self.published}"
        if self.published is None and self.computed is None:
            raise ValueError(f"{said}: neither is known")
        if self.verdict == "agrees" and self.reason:
            raise ValueError(f"{said} agrees, and yet a reason for a difference is given")
        if self.verdict not in ("agrees", "fitted") and not self.reason:
            raise ValueError(f"{said}: {self.verdict}, and no reason is given")

    @property
    def verdict(self) -> Verdict:
        if self.published is None:
            return "not published"
        if self.computed is None:
            return "not computed"
        if self.clocked or not agree(self.published, self.computed):
            return "differs"
        return "fitted" if self.fitted else "agrees"


def beside(
    place: str,
    quantity: str,
    published: Value | None,
    unit: str,
    computed: Value | None,
    why: str,
    fitted: str = "",
) -> Row:
    """A row of a family that has one reason wherever its values differ: given if they do, left out if they agree."""
    same = published is not None and computed is not None and agree(published, computed)
    return Row(place, quantity, published, unit, computed, "" if same else why, fitted=fitted)


@dataclass(frozen=True)
class Drawing:
    """A figure drawn anew: an SVG, and what it shows."""

    picture: Element
    caption: str


@dataclass(frozen=True)
class Found:
    """What an item computed."""

    rows: tuple[Row, ...]
    drawings: tuple[Drawing, ...] = ()


@dataclass(frozen=True)
class Item:
    """Tables and figures that are computed together: their place in the paper, what is computed and under which
    limits, and the item's time limit in seconds."""

    place: str
    about: str
    seconds: int
    compute: Callable[[], Found]


@dataclass(frozen=True)
class Paper:
    """One paper: authors, title and year; a sentence about the tables and figures that are left out; its items."""

    name: str
    title: str
    aside: str
    items: tuple[Item, ...]
