"""``mapper warm-up``: compile ahead what commands need."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from mapper.cli.option import Quiet


def warm_up(
    kinds: Annotated[
        list[str] | None, typer.Argument(metavar="KIND", help="Kinds of problem: tiling, ... Default: all.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Compile ahead what commands would compile when they first need it: once per machine and version."""
    from mapper.api.warming import steps
    from mapper.cli import terminal

    began = time.monotonic()
    named = list(steps(kinds or ()))
    for place, (name, step) in enumerate(named, 1):
        since = time.monotonic()
        step()
        if not quiet:
            terminal.complain(f"{place}/{len(named)} {name}: {time.monotonic() - since:.1f} s")
    terminal.say(f"ready after {time.monotonic() - began:.1f} s")
