"""``mapper list``: names that the other commands take."""

from __future__ import annotations

from typing import Annotated

import typer

from mapper.cli.listing import Listing, listed
from mapper.cli.option import AsJson, dumped


def list_names(
    what: Annotated[Listing, typer.Argument(help="What to list.")],
    kind: Annotated[
        str | None, typer.Option(help="Only names of this kind of problem (tiling, modulo_schedule, ...).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the names that the other commands take."""
    from mapper.cli import terminal
    from mapper.cli.table import room
    from mapper.kind.text_table import text_table, within

    rows = listed(what, kind)
    if as_json:
        print(dumped([vars(row) for row in rows]), end="")
        return
    with within(room()):
        if any(row.kind is not None for row in rows):
            cells = [(row.name, row.kind or "", row.description) for row in rows]
            terminal.say(*text_table(("name", "kind", "description"), cells, words={"kind", "description"}))
        else:
            cells_alone = [(row.name, row.description) for row in rows]
            terminal.say(*text_table(("name", "description"), cells_alone, words={"description"}))
