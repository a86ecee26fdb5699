"""What answers are at a prompt and in a notebook: a few lines, and the report's page."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from mapper.kind.text_table import text_table
from mapper.workloads.text.plain_text import plain

MOST_LINES = 12
"""Rows of a table at a prompt; how many more there are is said."""


class Shown(ABC):
    """An answer of several rows: at a prompt the problem and a line for each row, in a notebook a page."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The answer as a document."""

    @abstractmethod
    def in_rows(self) -> tuple[str, Sequence[str], Sequence[Sequence[str]]]:
        """What the answer is of, the heading of its table, and the rows."""

    def __repr__(self) -> str:
        title, heading, rows = self.in_rows()
        kept = [[plain(cell) for cell in row] for row in rows[:MOST_LINES]]
        lines = text_table(heading, kept) if kept else ["nothing"]
        if len(rows) > MOST_LINES:
            lines.append(f"and {len(rows) - MOST_LINES:,} more")
        return "\n ".join((f"<{type(self).__name__} of {plain(title)}", *lines)) + ">"

    def _repr_html_(self) -> str:
        return page_in_frame(self.to_json())


def page_in_frame(document: Mapping[str, Any]) -> str:
    """What a notebook shows of a document: the report's page, in a frame of its own."""
    # The public function: pages are made of answers, which know of none.
    from mapper import report

    page = html.escape(report(document))
    return (
        f'<iframe sandbox="allow-scripts" style="width:100%;height:40em;border:0" srcdoc="{page}"></iframe>'
    )
