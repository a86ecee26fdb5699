"""Tables that fit the terminal: columns go, the least important first, and never digits."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

from mapper.cli.terminal import say
from mapper.kind.text_table import within
from mapper.workloads.text.plain_text import plain

WIDEST_CELL = 160
GAP, CLOSE_GAP = 3, 2
"""Spaces between columns, and where a terminal has no room for all of these."""
FIRST_TO_GO = ("CPU s", "evaluations", "seconds", "bound", "node", "method", "kind", "model", "max error")
"""What tells least about an answer, the least of all first; after these go figures from right to left."""
LAST_TO_GO = ("gap", "to optimum", "proof", "outputs", "value")
"""What an answer is worth little without, and goes in this order where there is no room for that; the first column
stays as well."""


def import_tables() -> None:
    """Import what prints tables, which takes a third of a second: against the clock there is no time for it later."""
    import_module("rich.table")


def print_table(
    heading: Sequence[str], lines: Iterable[Sequence[str]], sought: str | None = None, wide: bool = False
) -> None:
    """A table on stdout, as wide as the terminal unless it shall be ``wide``, and a line on what was left out of it;
    ``sought``: the objective, whose figures stay. As wide as it needs to be where no terminal
    limits it. Where there is no room for all, columns stand closer, so that fewer go."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    titles = [plain(title, WIDEST_CELL) for title in heading]
    cells = [[plain(cell, WIDEST_CELL) for cell in line] for line in lines]
    columns = room(wide)
    shown, gap = list(range(len(titles))), GAP
    if columns is not None and needed_width(titles, cells, shown) > columns:
        gap = CLOSE_GAP
        shown = fitting(titles, cells, columns, sought, gap)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1) if gap == GAP else (0, 1, 0, 0), show_edge=gap == GAP)
    for place in shown:
        justify = "left" if place == 0 else "right"
        table.add_column(Text(titles[place]), justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for line in cells:
        table.add_row(*[Text(line[place]) for place in shown])
    Console(width=needed_width(titles, cells, shown, gap), highlight=False).print(table)
    gone = [title for place, title in enumerate(titles) if place not in shown]
    if gone:
        with within(columns):
            say(f"left out at {columns} columns: {', '.join(gone)}; --wide shows all")


def room(wide: bool = False) -> int | None:
    """Characters that a line has room for: those of the terminal, unless it shall be ``wide`` or there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() and not wide else None


def fitting(
    heading: Sequence[str], lines: Sequence[Sequence[str]], columns: int, sought: str | None, gap: int = GAP
) -> list[int]:
    """The places of the columns that a terminal of so many ``columns`` of characters has room for."""
    shown = list(range(len(heading)))
    for place in _order_of_going(heading, sought):
        if needed_width(heading, lines, shown, gap) <= columns:
            break
        shown.remove(place)
    return shown


def needed_width(
    heading: Sequence[str], lines: Sequence[Sequence[str]], shown: Sequence[int], gap: int = GAP
) -> int:
    """Characters that a table of these columns takes, with ``gap`` spaces between any two, and two at either
    end; close columns end with one."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, (heading[place], *(line[place] for line in lines)))) for place in shown]
    return sum(widths) + gap * len(widths) + (1 if gap == GAP else -1)


def _order_of_going(heading: Sequence[str], sought: str | None) -> list[int]:
    """All columns but those that stay, the least important first, at the end what an answer is worth little without."""
    last = sorted(
        (place for place, title in enumerate(heading) if place and title in LAST_TO_GO),
        key=lambda place: LAST_TO_GO.index(heading[place]),
    )[:-1]
    staying = {0} | {place for place, title in enumerate(heading) if title in LAST_TO_GO}
    staying |= {place for place, title in enumerate(heading) if sought and _is_figure_of(title, sought)}
    known = [heading.index(title) for title in FIRST_TO_GO if title in heading]
    others = [place for place in reversed(range(len(heading))) if place not in known]
    return [*(place for place in (*known, *others) if place not in staying), *last]


def _is_figure_of(title: str, objective: str) -> bool:
    """Whether a column holds what the objective counts: ``energy_pj`` is energy, ``dram_bytes`` traffic."""
    return title.partition("_")[0] == objective or (title, objective) == ("dram_bytes", "traffic")
