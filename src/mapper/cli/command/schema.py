"""``mapper schema``: what documents look like, for editors."""

from __future__ import annotations

from typing import Annotated

import typer

from mapper.cli.option import dumped


def schema(
    name: Annotated[
        str | None,
        typer.Argument(help="A document: dataflow, nest, solution, ... Without one, all are listed."),
    ] = None,
) -> None:
    """Print the JSON Schema of a document that is read or written."""
    from mapper.cli import terminal
    from mapper.schema import schema as api
    from mapper.schema import schema_names

    if name is None:
        terminal.say(*schema_names())
    else:
        print(dumped(api(name)), end="")
