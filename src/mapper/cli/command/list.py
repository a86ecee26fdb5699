"""``mapper list``: names that the other commands take."""

from __future__ import annotations

from typing import Annotated

import typer

from mapper.cli.listing import Listing, listed_names
from mapper.cli.option import AsJson, dumped


def list_names(
    what: Annotated[Listing, typer.Argument(help="What to list.")],
    as_json: AsJson = False,
) -> None:
    """List the names that the other commands take."""
    from mapper.cli import terminal
    from mapper.kind.text_table import text_table

    names = listed_names(what)
    if as_json:
        print(dumped([{"name": name, "description": text} for name, text in names]), end="")
        return
    terminal.say(*text_table(("name", "description"), names, words={"description"}))
